"""What may tell where an error is without a reference: AUROC of signals, ROC curves, what one adds to another."""

import math
from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

import numpy as np
import polars as pl
from scipy.special import expit
from scipy.stats import rankdata

from difftrust.research.other_models import with_other_models
from difftrust.research.per_candidate import KEY, KEY_SCHEMA, Bools, Schema
from difftrust.structure.trees import DEFAULT
from difftrust_core.estimates.measures import TaskCount, ablation, count
from difftrust_core.estimates.pool import Pool, load_pool, pool_names
from difftrust_core.exceptions import NoStore, WrongUsage
from difftrust_core.metrics.equality import Equality
from difftrust_core.metrics.estimates import Floats, Interval, Ints, quotients
from difftrust_core.metrics.intervals import bootstrap_tasks
from difftrust_core.store.store import Store


def auroc(score: Floats, erroneous: Bools) -> float:
    """Return how often a random erroneous row scores above a random right one, ties counting half; NaN without both.

    Rows whose score is NaN are left out. Mann and Whitney's U over n1 n0.
    """
    kept = ~np.isnan(score)
    ranks, positive = rankdata(score[kept]), erroneous[kept]
    n1, n0 = int(positive.sum()), int((~positive).sum())
    return float((ranks[positive].sum() - n1 * (n1 + 1) / 2) / (n1 * n0)) if n1 and n0 else math.nan


def roc(score: Floats, erroneous: Bools) -> pl.DataFrame:
    """Return the ROC curve: a row for each threshold, from none found to all.

    Columns: false_positive_rate, true_positive_rate. Rows of one score come together, so ties are a straight line.
    """
    kept = ~np.isnan(score)
    order = np.argsort(-score[kept], kind="stable")
    sorted_score, positive = score[kept][order], erroneous[kept][order]
    ends = np.flatnonzero(np.diff(sorted_score, append=np.nan) != 0)
    found, false = (np.concatenate([[0], np.cumsum(side)[ends]]) for side in (positive, ~positive))
    if not (found[-1] and false[-1]):
        return pl.DataFrame(schema={"false_positive_rate": pl.Float64, "true_positive_rate": pl.Float64})
    return pl.DataFrame({"false_positive_rate": false / false[-1], "true_positive_rate": found / found[-1]})


class Contest:
    """A score's wins, task against task: what its AUROC is under any weights of the tasks."""

    def __init__(self, score: Floats, erroneous: Bools, task: Ints, n_tasks: int):
        kept = ~np.isnan(score)
        score, erroneous, task = score[kept], erroneous[kept], task[kept]
        self.positives = np.bincount(task[erroneous], minlength=n_tasks).astype(np.float64)
        self.negatives = np.bincount(task[~erroneous], minlength=n_tasks).astype(np.float64)
        self.wins = np.zeros((n_tasks, n_tasks))
        """(task of the erroneous row, task of the right one)."""
        for other in np.flatnonzero(self.negatives).tolist():
            right = np.sort(score[~erroneous & (task == other)])
            below = np.searchsorted(right, score[erroneous], "left") + np.searchsorted(right, score[erroneous], "right")
            self.wins[:, other] = np.bincount(task[erroneous], below / 2, minlength=n_tasks)

    def auroc(self, weights: Floats) -> Floats:
        """Return AUROC under each row of ``weights`` (resamples, n_tasks), how often each task is drawn."""
        won = ((weights @ self.wins) * weights).sum(axis=1)
        pairs = (weights @ self.positives) * (weights @ self.negatives)
        return quotients(won, pairs, pairs > 0)


def task_numbers(rows: pl.DataFrame) -> tuple[Ints, int]:
    """Return each row's task as a number, and how many there are."""
    numbers = rows.select(pl.struct("benchmark", "task_id").rank("dense").cast(pl.Int64) - 1).to_series().to_numpy()
    return numbers, int(numbers.max()) + 1 if len(numbers) else 0


def auroc_interval(rows: pl.DataFrame, score: Floats, **options: Any) -> Interval:
    """Return AUROC of ``score`` for error > 0 with its interval over tasks; NaN where it is undefined.

    ``rows``: columns benchmark, task_id, error. ``options``: resamples, seed, confidence of ``bootstrap_tasks``.
    """
    task, n_tasks = task_numbers(rows)
    return _over_tasks(Contest(score, _erroneous(rows), task, n_tasks).auroc, n_tasks, **options)


def auroc_difference(rows: pl.DataFrame, score: Floats, other: Floats, **options: Any) -> Interval:
    """Return AUROC of ``score`` less that of ``other``, on the same resamples of tasks."""
    task, n_tasks = task_numbers(rows)
    one, two = (Contest(s, _erroneous(rows), task, n_tasks) for s in (score, other))
    return _over_tasks(lambda weights: one.auroc(weights) - two.auroc(weights), n_tasks, **options)


def _erroneous(rows: pl.DataFrame) -> Bools:
    return (rows["error"] > 0).to_numpy()


def _over_tasks(statistic: Callable[[Floats], Floats], n_tasks: int, **options: Any) -> Interval:
    one_row_a_task = pl.DataFrame({"task": range(n_tasks)})
    return bootstrap_tasks(one_row_a_task, lambda _, weights: statistic(weights), **options)


class Signal(NamedTuple):
    """Something that may tell where an error is, without a reference."""

    column: str
    title: str
    family: str
    """``behaviour`` (programs executed), ``structure`` (programs parsed), ``text``, or ``length``."""
    sign: int
    """1 where more of it means an error is more likely, -1 where less does."""
    meaning: str
    """What it measures, in one line."""
    source: str = ""
    """The publication that it comes from; empty: a count that needs none."""

    def score(self, rows: pl.DataFrame) -> Floats:
        """Return the signal turned so that more of it means an error is more likely."""
        score: Floats = self.sign * rows[self.column].cast(pl.Float64).to_numpy()
        return score


_INCOHERENCE: Final = "Valentin et al., Incoherence as Oracle-less Measure of Error in LLM-Based Code Generation"
_ENTROPY: Final = "Song et al., Measuring LLM Code Generation Stability via Structural Entropy"
_EDITS: Final = "Song et al., Revisiting Code Similarity Evaluation with Abstract Syntax Tree Edit Distance"
_BLEU: Final = "Papineni et al., BLEU: a Method for Automatic Evaluation of Machine Translation"
SIGNALS: Final = (
    Signal(
        "incoherence", "incoherence", "behaviour", 1,
        "how often two of the programs differ on an input", _INCOHERENCE,
    ),
    Signal(
        "n_clusters", "behaviour clusters", "behaviour", 1,
        "number of groups of programs that have the same outcome on every input",
    ),
    Signal(
        "cluster_entropy", "cluster entropy", "behaviour", 1,
        "how evenly the programs spread over the behaviour clusters, in bits",
    ),
    Signal(
        "largest_share", "largest cluster", "behaviour", -1,
        "share of the programs that are in the largest behaviour cluster",
    ),
    Signal(
        "dissent", "dissent of other models", "behaviour", 1,
        "share of the other models whose answer, the behaviour of most of their programs, is another",
    ),
    Signal(
        "jsd_structural", "JSD (structural)", "structure", -1,
        "how alike two programs' syntax trees are without names and values: 1 - Jensen-Shannon divergence", _ENTROPY,
    ),
    Signal(
        "jsd", "JSD", "structure", -1,
        "JSD (structural) with names and values", _ENTROPY,
    ),
    Signal(
        "sce_structural", "SCE (structural)", "structure", -1,
        "how well one syntax tree predicts another, without names and values: structural cross-entropy", _ENTROPY,
    ),
    Signal(
        "sce", "SCE", "structure", -1,
        "SCE (structural) with names and values", _ENTROPY,
    ),
    Signal(
        "gibbs_structural", "SCE, Gibbs (structural)", "structure", -1,
        "SCE (structural) in a form that lies between 0 and 1, and is 1 only for equal trees", _ENTROPY,
    ),
    Signal(
        "gibbs", "SCE, Gibbs", "structure", -1,
        "SCE in a form that lies between 0 and 1, and is 1 only for equal trees", _ENTROPY,
    ),
    Signal(
        "tsed", "TSED", "structure", -1,
        "how few edits turn one program's syntax tree into another's, 1 for none", _EDITS,
    ),
    Signal(
        "bleu", "BLEU", "text", -1,
        "share of short word sequences that two programs' texts have in common", _BLEU,
    ),
    Signal(
        "exact_match", "exact match", "text", -1,
        "share of pairs of programs with the same text",
    ),
    Signal(
        "mean_length", "mean program length", "length", 1,
        "characters of a program, on average: the control, for it compares nothing",
    ),
)  # fmt: skip
"""Every signal, the ones of behaviour first."""
_OF_CLUSTERS: Final = ("n_clusters", "cluster_entropy", "largest_share", "pass_at_1", "pass_at_5")
_BEHAVIOUR: Final[Schema] = {
    **{"m": pl.UInt32, "n": pl.UInt32},
    **dict.fromkeys(("error", "incoherence", *_OF_CLUSTERS), pl.Float64),
    **{"wrong": pl.Boolean, "dissent": pl.Float64, "others_err": pl.Float64},
}
_STABILITY: Final = tuple(s.column for s in SIGNALS if s.family != "behaviour")


def signals(
    store: Store,
    *,
    temperature: float = 0.6,
    m: int | None = 10,
    n: int | None = 1000,
    equality: str = Equality.PAPER,
    benchmark: str | None = None,
) -> pl.DataFrame:
    """Return a row for each (benchmark, task, model, temperature) that was both executed and compared.

    Columns: KEY; m, n; error; the columns of SIGNALS, as measured (similarities and all); pass_at_1, pass_at_5. The
    first ``m`` candidates on the first ``n`` inputs, None: all; compared with the default options of `difftrust
    structure`; ``benchmark``: of this one only. Raises NoStore if the store holds no such comparison, saying which
    command makes it.
    """
    stability = store.read("stability").filter(first=m or 0, options=DEFAULT.label, temperature=temperature)
    stability = stability.select(*KEY, *_STABILITY)
    if stability.is_empty():
        place = store.root if store.settings().tables is None else "DIR"  # results hold no programs to compare
        words = f"--temperature {temperature}{'' if m is None else f' -m {m}'} --store {place}"
        raise NoStore(
            f"{store.root} holds no structural comparison at temperature {temperature} of {m or 'all'} candidates with "
            f"options {DEFAULT.label!r}; run `difftrust structure {words}`"
        )
    found = [
        behaviour_signals(load_pool(store, name, equality=equality), temperature=temperature, m=m, n=n)
        for name in pool_names(store)
        if benchmark in (None, name)
    ]
    found.append(pl.DataFrame(schema={**KEY_SCHEMA, **_BEHAVIOUR}))
    joined = pl.concat(found).join(stability, on=list(KEY), how="inner")
    return joined.select(*KEY, *_BEHAVIOUR, *_STABILITY).sort(KEY)


def behaviour_signals(pool: Pool, *, temperature: float, m: int | None, n: int | None) -> pl.DataFrame:
    """Return what executing says of each coder and task at one temperature.

    Columns: KEY, m, n, error, incoherence; of the clusters of equal behaviour their number, entropy in bits and largest
    share. As a signal, a candidate that does not load agrees with no other: it is a cluster of its own. pass_at_1 and
    pass_at_5, null without a reference. wrong, dissent and others_err: of ``with_other_models``.
    """
    schema = KEY_SCHEMA | _BEHAVIOUR
    own = [name for name in schema if name not in ("wrong", "dissent", "others_err")]
    found = [pl.DataFrame(schema={name: schema[name] for name in own})]
    for coder in sorted(pool.members):
        if coder[1] == temperature:
            measured = ablation(pool, [coder], m=m, n=n, subsets=False)
            counts = count(pool, [coder], m=[m], n=n)
            tallies = zip(counts.tallies.right.tolist(), counts.tallies.has_reference.tolist(), strict=True)
            told = [_of_clusters(task, *tally) for task, tally in zip(counts.tasks(), tallies, strict=True)]
            clusters = dict.fromkeys((*_OF_CLUSTERS, "apart"), pl.Float64)
            made = measured.hstack(pl.DataFrame(told, schema=clusters, orient="row"))
            made = made.with_columns(incoherence=pl.col("incoherence") + pl.col("apart"))
            found.append(made.select(pl.col(name).cast(schema[name]) for name in own))
    return with_other_models(pool, pl.concat(found).fill_nan(None), m=m).select(*schema)


def cluster_entropy(sizes: Sequence[int]) -> float:
    """Return the entropy of the behaviour of a random candidate, in bits: 0 where all agree, at most log2 m.

    ``sizes``: candidates of each behaviour. NaN without a candidate.
    """
    m = sum(sizes)
    return abs(math.fsum(k / m * math.log2(k / m) for k in sizes if k)) if m else math.nan


def largest_share(sizes: Sequence[int]) -> float:
    """Return the share of candidates in the largest cluster, in (0, 1]; NaN without a candidate."""
    return max(sizes) / sum(sizes) if sum(sizes) else math.nan


def pass_at_k(m: int, right: int, k: int) -> float:
    """Return pass@k: how likely one of k of the m candidates, drawn without replacement, is right; unbiased.

    1 - C(m - right, k) / C(m, k), Chen et al. 2021. NaN if fewer than k candidates were drawn. Raises WrongUsage if
    k < 1 or ``right`` is no number of m candidates.
    """
    if k < 1 or not 0 <= right <= m:
        raise WrongUsage(f"pass@k needs k >= 1 and 0 <= right <= m, got k = {k}, {right} right of m = {m}")
    return 1 - math.comb(m - right, k) / math.comb(m, k) if m >= k else math.nan


def _of_clusters(task: TaskCount, right: int, is_judged: bool) -> tuple[float, ...]:
    """Return _OF_CLUSTERS, and the share of pairs of candidates that fail to load alike, which incoherence forgives.

    ``right``: candidates of the task that are, where that is known.
    """
    sizes = [size for c in task.classes for size in ([c.sizes[0]] if c.loads else [1] * c.sizes[0])]
    passes = [pass_at_k(task.m, right, k) if is_judged else math.nan for k in (1, 5)]
    pairs = sum(c.sizes[0] * (c.sizes[0] - 1) for c in task.classes if not c.loads)
    apart = pairs / (task.m * (task.m - 1)) if pairs else 0.0
    return (float(len(sizes)), cluster_entropy(sizes), largest_share(sizes), *passes, apart)


FOLDS: Final = 10
_RIDGE: Final = 1e-3
_STEPS: Final = 25
_STEPS_DRAWN: Final = 100


def measured(rows: pl.DataFrame) -> list[Signal]:
    """Return the signals that have a value on some row."""
    return [s for s in SIGNALS if not np.isnan(s.score(rows)).all()]


def signal_of(column: str) -> Signal:
    """Return the signal of a column."""
    return next(signal for signal in SIGNALS if signal.column == column)


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
        score = signal.score(rows)
        interval = auroc_interval(rows, score, **options)
        ends = (interval.estimate, interval.low, interval.high)
        made.append((signal.column, signal.title, signal.family, *ends, int((~np.isnan(score)).sum())))
    columns = ["signal", "title", "family", "auroc", "low", "high", "n_rows"]
    return pl.DataFrame(made, schema=columns, orient="row").fill_nan(None)


def roc_table(rows: pl.DataFrame) -> pl.DataFrame:
    """Return the ROC curves of all signals: signal, title, family, false_positive_rate, true_positive_rate.

    To be drawn: points within a hundredth of one another are thinned out, ends of longer lines stay.
    """
    rows = rows.drop_nulls("error")
    found = [
        _thinned(roc(s.score(rows), _erroneous(rows))).select(
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
    without, joined = joined_score(rows, base), " + ".join(signal_of(name).title for name in base)
    made = []
    for name in added:
        score = joined_score(rows, [*base, name])
        gain = auroc_difference(rows, score, without, **options)
        of_score = auroc(score, _erroneous(rows))
        made.append((joined, signal_of(name).title, of_score, gain.estimate, gain.low, gain.high))
    columns = ["base", "added", "auroc", "gain", "low", "high"]
    return pl.DataFrame(made, schema=columns, orient="row").fill_nan(None)


def joined_score(rows: pl.DataFrame, columns: Sequence[str]) -> Floats:
    """Return one score of several signals for each row, from a regression that has not seen the row's task.

    Raises WrongUsage if there are fewer tasks than FOLDS.
    """
    task, n_tasks = task_numbers(rows)
    if n_tasks < FOLDS:
        raise WrongUsage(f"joining signals needs at least {FOLDS} tasks, got {n_tasks}; take more of them")
    erroneous = _erroneous(rows).astype(np.float64)
    signed = [signal_of(name).score(rows) for name in columns]
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
