"""Compare signals of errors: AUROC, ROC curves, correlations, and what one adds to another."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.special import expit
from scipy.stats import rankdata

from difftrust_core.analysis.ablation.counting import TaskCount, count
from difftrust_core.analysis.ablation.measures import ablation
from difftrust_core.analysis.ablation.pool import Pool
from difftrust_core.analysis.pools import load_pool, pool_names
from difftrust_core.exceptions import NoStore, WrongUsage
from difftrust_core.metrics.auroc import auroc, auroc_difference, auroc_interval, roc, task_numbers
from difftrust_core.metrics.equality import Equality
from difftrust_core.metrics.estimators import cluster_entropy, largest_share, pass_at_k
from difftrust_core.store.store import Store


@dataclass(frozen=True, kw_only=True)
class Signal:
    """Something that may tell where an error is, without a reference."""

    column: str
    title: str
    family: str
    """``behaviour`` (programs executed), ``structure`` (programs parsed), ``text``, or ``length``."""
    sign: int = -1
    """1 where more of it means an error is more likely, -1 where less does."""
    meaning: str
    """What it measures, in one line."""
    source: str = ""
    """The publication that it comes from; empty: a count that needs none."""


_INCOHERENCE: Final = "Valentin et al., Incoherence as Oracle-less Measure of Error in LLM-Based Code Generation"
_ENTROPY: Final = "Song et al., Measuring LLM Code Generation Stability via Structural Entropy"
_EDITS: Final = "Song et al., Revisiting Code Similarity Evaluation with Abstract Syntax Tree Edit Distance"
_BLEU: Final = "Papineni et al., BLEU: a Method for Automatic Evaluation of Machine Translation"
SIGNALS: Final = (
    Signal(
        column="incoherence", title="incoherence", family="behaviour", sign=1, source=_INCOHERENCE,
        meaning="how often two of the programs differ on an input",
    ),
    Signal(
        column="n_clusters", title="behaviour clusters", family="behaviour", sign=1,
        meaning="number of groups of programs that have the same outcome on every input",
    ),
    Signal(
        column="cluster_entropy", title="cluster entropy", family="behaviour", sign=1,
        meaning="how evenly the programs spread over the behaviour clusters, in bits",
    ),
    Signal(
        column="largest_share", title="largest cluster", family="behaviour",
        meaning="share of the programs that are in the largest behaviour cluster",
    ),
    Signal(
        column="jsd_structural", title="JSD (structural)", family="structure", source=_ENTROPY,
        meaning="how alike two programs' syntax trees are without names and values: 1 - Jensen-Shannon divergence",
    ),
    Signal(
        column="jsd", title="JSD", family="structure", source=_ENTROPY,
        meaning="JSD (structural) with names and values",
    ),
    Signal(
        column="sce_structural", title="SCE (structural)", family="structure", source=_ENTROPY,
        meaning="how well one syntax tree predicts another, without names and values: structural cross-entropy",
    ),
    Signal(
        column="sce", title="SCE", family="structure", source=_ENTROPY,
        meaning="SCE (structural) with names and values",
    ),
    Signal(
        column="gibbs_structural", title="SCE, Gibbs (structural)", family="structure", source=_ENTROPY,
        meaning="SCE (structural) in a form that lies between 0 and 1, and is 1 only for equal trees",
    ),
    Signal(
        column="gibbs", title="SCE, Gibbs", family="structure", source=_ENTROPY,
        meaning="SCE in a form that lies between 0 and 1, and is 1 only for equal trees",
    ),
    Signal(
        column="tsed", title="TSED", family="structure", source=_EDITS,
        meaning="how few edits turn one program's syntax tree into another's, 1 for none",
    ),
    Signal(
        column="bleu", title="BLEU", family="text", source=_BLEU,
        meaning="share of short word sequences that two programs' texts have in common",
    ),
    Signal(
        column="exact_match", title="exact match", family="text",
        meaning="share of pairs of programs with the same text",
    ),
    Signal(
        column="mean_length", title="mean program length", family="length", sign=1,
        meaning="characters of a program, on average: the control, for it compares nothing",
    ),
)  # fmt: skip
"""Every signal, the ones of behaviour first."""
KEY: Final = ("benchmark", "task_id", "model", "temperature")
_BEHAVIOUR: Final[dict[str, Any]] = {
    "m": pl.UInt32,
    "n": pl.UInt32,
    "error": pl.Float64,
    "incoherence": pl.Float64,
    "n_clusters": pl.Float64,
    "cluster_entropy": pl.Float64,
    "largest_share": pl.Float64,
    "pass_at_1": pl.Float64,
    "pass_at_5": pl.Float64,
}
_STABILITY: Final = tuple(s.column for s in SIGNALS if s.family != "behaviour")


def signals(
    store: Store,
    *,
    temperature: float = 0.6,
    m: int | None = 10,
    n: int | None = 1000,
    equality: str = Equality.PAPER,
    options: str = "default",
    benchmark: str | None = None,
) -> pl.DataFrame:
    """Return a row for each (benchmark, task, model, temperature) that was both executed and compared.

    Columns: KEY; m, n; error; the columns of SIGNALS, as measured (similarities and all); pass_at_1, pass_at_5. The
    first ``m`` candidates on the first ``n`` inputs, None: all; ``options``: of `difftrust structure`, as its label;
    ``benchmark``: of this one only.
    Raises NoStore if the store holds no such comparison, saying which command makes it.
    """
    stability = _stability(store, m=m, options=options).filter(pl.col("temperature") == temperature)
    if stability.is_empty():
        first = "" if m is None else f" -m {m}"
        raise NoStore(
            f"{store.root} holds no structural comparison at temperature {temperature} of {m or 'all'} candidates with "
            f"options {options!r}; run `difftrust structure --temperature {temperature}{first} --store DIR`"
        )
    found = [
        behaviour_signals(load_pool(store, name, equality=equality), temperature=temperature, m=m, n=n)
        for name in pool_names(store)
        if benchmark in (None, name)
    ]
    found.append(pl.DataFrame(schema={**_KEY_SCHEMA, **_BEHAVIOUR}))
    joined = pl.concat(found).join(stability, on=list(KEY), how="inner")
    return joined.select(*KEY, *_BEHAVIOUR, *_STABILITY).sort(KEY)


def _stability(store: Store, *, m: int | None, options: str) -> pl.DataFrame:
    where = (pl.col("first") == (m or 0)) & (pl.col("options") == options)
    return store.read("stability").filter(where).select(*KEY, *_STABILITY)


def behaviour_signals(pool: Pool, *, temperature: float, m: int | None, n: int | None) -> pl.DataFrame:
    """Return what executing says of each coder and task at one temperature.

    Columns: KEY, m, n, error, incoherence; of the clusters of equal behaviour their number, entropy in bits and largest
    share. As a signal, a candidate that does not load agrees with no other: it is a cluster of its own. pass_at_1 and
    pass_at_5, null without a reference.
    """
    found = [pl.DataFrame(schema={**_KEY_SCHEMA, **_BEHAVIOUR})]
    for coder in sorted(pool.members):
        if coder[1] == temperature:
            measured = ablation(pool, [coder], m=m, n=n, subsets=False)
            counts = count(pool, [coder], m=[m], n=n)
            tasks = counts.tasks()
            sizes = [_clusters(task) for task in tasks]
            apart = pl.Series([_agreeing_failures(task) for task in tasks], dtype=pl.Float64)
            tallies = counts.tallies
            right = [
                (m, right) if known else None
                for m, right, known in zip(
                    *(a.tolist() for a in (tallies.m, tallies.right, tallies.has_reference)), strict=True
                )
            ]
            columns: dict[str, list[float]] = {
                "n_clusters": [float(len(each)) for each in sizes],
                "cluster_entropy": [cluster_entropy(each) for each in sizes],
                "largest_share": [largest_share(each) for each in sizes],
                **{f"pass_at_{k}": [float("nan") if r is None else pass_at_k(*r, k) for r in right] for k in (1, 5)},
            }
            made = measured.with_columns([pl.Series(name, values) for name, values in columns.items()])
            made = made.with_columns(incoherence=pl.col("incoherence") + apart)
            found.append(made.select([pl.col(c).cast(kind) for c, kind in (_KEY_SCHEMA | _BEHAVIOUR).items()]))
    return pl.concat(found).fill_nan(None)


def _clusters(task: TaskCount) -> list[int]:
    """Return the sizes of the clusters, the largest first; each candidate that does not load is one."""
    loading = sorted((c.sizes[0] for c in task.classes if c.loads), reverse=True)
    return loading + [1] * (task.m - sum(loading))


def _agreeing_failures(task: TaskCount) -> float:
    """Return the share of the pairs of candidates that fail to load alike, which incoherence counts as agreeing."""
    pairs = sum(c.sizes[0] * (c.sizes[0] - 1) for c in task.classes if not c.loads)
    return pairs / (task.m * (task.m - 1)) if pairs else 0.0


_KEY_SCHEMA: Final[dict[str, Any]] = {
    "benchmark": pl.String,
    "task_id": pl.String,
    "model": pl.String,
    "temperature": pl.Float64,
}


Floats = NDArray[np.float64]
FOLDS: Final = 10
_RIDGE: Final = 1e-3
_STEPS: Final = 25
_STEPS_DRAWN: Final = 100


def score_of(rows: pl.DataFrame, signal: Signal) -> Floats:
    """Return the signal turned so that more of it means an error is more likely."""
    score: Floats = signal.sign * rows[signal.column].cast(pl.Float64).to_numpy()
    return score


def measured(rows: pl.DataFrame) -> list[Signal]:
    """Return the signals that have a value on some row."""
    return [s for s in SIGNALS if not np.isnan(score_of(rows, s)).all()]


def by_title() -> dict[str, Signal]:
    """Return every signal by its title."""
    return {signal.title: signal for signal in SIGNALS}


def auroc_table(rows: pl.DataFrame, **options: Any) -> pl.DataFrame:
    """Return one row a signal: signal, title, family, auroc, low, high, n_rows; of ``rows`` of ``signals``.

    AUROC for error > 0, the interval over tasks; rows whose error is not known do not count. ``options``: resamples,
    seed, confidence.
    """
    rows = rows.drop_nulls("error")
    made = []
    for signal in measured(rows):
        score = score_of(rows, signal)
        interval = auroc_interval(rows, score, **options)
        made.append(
            {
                "signal": signal.column,
                "title": signal.title,
                "family": signal.family,
                "auroc": interval.estimate,
                "low": interval.low,
                "high": interval.high,
                "n_rows": int((~np.isnan(score)).sum()),
            }
        )
    return pl.DataFrame(made).fill_nan(None)


def roc_table(rows: pl.DataFrame) -> pl.DataFrame:
    """Return the ROC curves of all signals: signal, title, family, false_positive_rate, true_positive_rate.

    To be drawn: points within a hundredth of one another are thinned out, ends of longer lines stay.
    """
    rows = rows.drop_nulls("error")
    erroneous = (rows["error"] > 0).to_numpy()
    found = [
        _thinned(roc(score_of(rows, s), erroneous)).select(
            pl.lit(s.column).alias("signal"), pl.lit(s.title).alias("title"), pl.lit(s.family).alias("family"), "*"
        )
        for s in measured(rows)
    ]
    return pl.concat(found)


def _thinned(curve: pl.DataFrame) -> pl.DataFrame:
    step = ((pl.col("false_positive_rate") + pl.col("true_positive_rate")) * _STEPS_DRAWN).floor()
    is_kept = (step != step.shift(1)) | (step != step.shift(-1))
    return curve.filter(is_kept.fill_null(value=True))


def correlation_table(rows: pl.DataFrame, columns: Sequence[str] | None = None) -> pl.DataFrame:
    """Return Pearson's r of every ordered pair: a, b (titles), r; over the rows where both have a value.

    ``columns``: which, and in which order; None: error and every signal measured. null where one side is constant.
    """
    titles = {"error": "error", "pass_at_1": "pass@1", "pass_at_5": "pass@5"} | {s.column: s.title for s in SIGNALS}
    chosen = columns if columns is not None else ["error", *(s.column for s in measured(rows))]
    floats = rows.select(pl.col(list(chosen)).cast(pl.Float64))
    made = [
        {"a": titles[a], "b": titles[b], "r": 1.0 if a == b else _pearson(floats, a, b)} for a in chosen for b in chosen
    ]
    return pl.DataFrame(made, schema={"a": pl.String, "b": pl.String, "r": pl.Float64}).fill_nan(None)


def _pearson(floats: pl.DataFrame, a: str, b: str) -> float:
    r = floats.select(a, b).drop_nulls().select(pl.corr(a, b)).item()
    return math.nan if r is None else float(r)


def added_table(rows: pl.DataFrame, base: Sequence[str], added: Sequence[str], **options: Any) -> pl.DataFrame:
    """Return what each signal of ``added`` brings beside those of ``base``: base, added, auroc, gain, low, high.

    Signals are joined by a logistic regression on their ranks, fitted on nine tenths of the tasks and applied to the
    rest, in turn. ``gain`` is AUROC with the added signal less that without it, over the same tasks.
    """
    rows = rows.filter(pl.all_horizontal(pl.col(["error", *base, *added]).cast(pl.Float64).is_finite()))
    without = joined_score(rows, base)
    made = []
    for name in added:
        score = joined_score(rows, [*base, name])
        gain = auroc_difference(rows, score, without, **options)
        of_score = auroc(score, (rows["error"] > 0).to_numpy())
        made.append(
            {
                **{"base": " + ".join(_title(b) for b in base), "added": _title(name), "auroc": of_score},
                **{"gain": gain.estimate, "low": gain.low, "high": gain.high},
            }
        )
    return pl.DataFrame(made).fill_nan(None)


def _title(column: str) -> str:
    return next(s.title for s in SIGNALS if s.column == column)


def joined_score(rows: pl.DataFrame, columns: Sequence[str]) -> Floats:
    """Return one score of several signals for each row, from a regression that has not seen the row's task.

    Raises WrongUsage if there are fewer tasks than FOLDS.
    """
    task, n_tasks = task_numbers(rows)
    if n_tasks < FOLDS:
        raise WrongUsage(f"joining signals needs at least {FOLDS} tasks, got {n_tasks}; take more of them")
    erroneous = (rows["error"] > 0).to_numpy().astype(np.float64)
    signed = [score_of(rows, next(s for s in SIGNALS if s.column == name)) for name in columns]
    ranks = np.column_stack([np.ones(len(rows)), *(rankdata(score) / len(rows) - 0.5 for score in signed)])
    fold = np.random.default_rng(0).permutation(n_tasks)[task] % FOLDS
    score = np.zeros(len(rows))
    for held_out in range(FOLDS):
        seen = fold != held_out
        slopes = _fit(ranks[seen], erroneous[seen])[1:]
        # Without intercept and scale, which differ from fold to fold: ties of one signal alone stay ties.
        score[~seen] = ranks[~seen, 1:] @ (slopes / max(float(np.linalg.norm(slopes)), 1e-300))
    return score


def _fit(design: Floats, outcome: Floats) -> Floats:
    """Return the coefficients of a logistic regression, by Newton's method; a touch of ridge keeps them finite."""
    coefficients = np.zeros(design.shape[1])
    ridge = _RIDGE * np.eye(design.shape[1])
    for _ in range(_STEPS):
        p = expit(design @ coefficients)
        gradient = design.T @ (outcome - p) - ridge @ coefficients
        hessian = (design * (p * (1 - p))[:, np.newaxis]).T @ design + ridge
        coefficients += np.linalg.solve(hessian, gradient)
    return coefficients
