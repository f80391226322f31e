"""What agreement is worth: answer only where a model's programs agree enough, and count how often that is wrong.

The *answer* to a task is the behaviour of most of the candidates (the largest cluster); of equally large clusters the
one of the candidate that was sampled first, for results may hold no texts to choose by; not of candidates that do not
load. It is wrong if it differs from the reference on any of the n inputs.
"""

from collections import Counter
from collections.abc import Iterator
from typing import Any, Final
from zlib import crc32

import numpy as np
import polars as pl

from difftrust_core.analysis.ablation.compact import CompactTask, Ints
from difftrust_core.analysis.ablation.pool import Pool
from difftrust_core.analysis.signals import KEY, SIGNALS, Signal, behaviour_signals, score_of
from difftrust_core.base.records import Kind
from difftrust_core.exceptions import WrongUsage
from difftrust_core.metrics.selective import (
    ANSWERED,
    NONE,
    SPLITS,
    Bools,
    Floats,
    Splits,
    answered,
    guaranteed_threshold,
    over_splits,
    risk_coverage,
    share_broken,
    share_rejected,
)

THRESHOLDS: Final[dict[str, tuple[float, ...]]] = {
    "incoherence": (0, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1),
    "largest_share": tuple(k / 10 for k in range(10, 0, -1)),
    "n_clusters": (*range(1, 11), 15, 20, 50),
}
"""The signals that can be answered by, and their thresholds, strict to loose: fixed, so that no task chooses them."""
CODER: Final = ("benchmark", "model", "temperature")
_CODER_SCHEMA: Final = {"benchmark": pl.String, "model": pl.String, "temperature": pl.Float64}
_SHOWN: Final = ("coverage", "risk", "risk_low", "risk_high")
_KEPT: Final = ("answering", "coverage", "risk", "broken", "held_out_above", "held_out_rejected", "transfer_broken")


def answers(pool: Pool, *, temperature: float, m: int | None, n: int | None) -> pl.DataFrame:
    """Return the signals of each coder and task at one temperature, and whether the answer is wrong.

    Columns: KEY, m, n, incoherence, largest_share, n_clusters, null of a single candidate; wrong, null without a
    reference. The first ``m`` candidates on the first ``n`` inputs, None: all.
    """
    found = behaviour_signals(pool, temperature=temperature, m=m, n=n).select(*KEY, "m", "n", *THRESHOLDS)
    numbers = {task.task_id: i for i, task in enumerate(pool.tasks)}
    wrong: list[bool | None] = []
    for (model,), part in found.group_by("model", maintain_order=True):
        own = pool.of((str(model), temperature)).first(m)
        for task_id, n_inputs in part.select("task_id", "n").iter_rows():
            index = numbers[task_id]
            wrong.append(is_answer_wrong(pool.tasks[index], pool.equality, own.row[own.task == index], n_inputs))
    defined = pl.when(pl.col("m") > 1).then(pl.col(*THRESHOLDS))  # one candidate agrees with nobody
    return found.with_columns(defined, pl.Series("wrong", wrong, dtype=pl.Boolean))


def is_answer_wrong(task: CompactTask, equality: str, rows: Ints, n: int) -> bool | None:
    """Return whether the answer of candidates with the behaviours ``rows``, in sampled order, is wrong; None: unknown.

    On the first n inputs. A candidate that does not load is no answer; where none loads, that is wrong.
    """
    if task.reference is None:
        return None
    width = int(task.pattern_of_input[:n].max()) + 1  # patterns are numbered as they appear
    labels = task.labels[equality][:, :width]
    loading = rows[task.kinds[rows, 0] != Kind.LOAD_ERROR]
    sizes = Counter(labels[row].tobytes() for row in loading.tolist())
    answer = max(sizes, key=sizes.__getitem__, default=None)  # of equally large ones the first
    return bool(answer != labels[task.reference].tobytes())


def signal_named(column: str) -> Signal:
    """Return the signal of a column of THRESHOLDS. Raises WrongUsage for another."""
    if column not in THRESHOLDS:
        raise WrongUsage(f"a signal to answer by is one of {', '.join(THRESHOLDS)}, got {column!r}")
    return next(signal for signal in SIGNALS if signal.column == column)


def curve_table(rows: pl.DataFrame, *, signal: str = "incoherence", confidence: float = 0.95) -> pl.DataFrame:
    """Return ``selective.risk_coverage`` of each coder: CODER, threshold and ANSWERED; of ``rows`` of ``answers``."""
    chosen = signal_named(signal)
    found = [
        risk_coverage(score, wrong, confidence=confidence).select(
            *[pl.lit(value).alias(name) for name, value in coder.items()],
            pl.col("threshold") * chosen.sign,
            *ANSWERED,
        )
        for coder, score, wrong in _coders(rows, chosen)
    ]
    return pl.concat([pl.DataFrame(schema={**_CODER_SCHEMA, "threshold": pl.Float64, **ANSWERED}), *found])


def agreement_table(
    rows: pl.DataFrame, *, signal: str = "incoherence", alpha: float = 0.1, delta: float = 0.1, seed: int = 0
) -> pl.DataFrame:
    """Return what the agreement of each coder's programs is worth, a row a coder; of ``rows`` of ``answers``.

    ``agree_``: where all programs agree. ``threshold``: with probability 1 - delta the risk is at most alpha where
    ``signal`` is at it or stricter; from a random half of the tasks, null if no threshold is. ``held_out_``: at that
    threshold, on the other half, whose own share wrong may lie above alpha by chance. ``transfer_``: at that threshold,
    on all tasks of the other benchmarks. Each: ``_coverage`` and ``_risk`` with its exact 95 % interval; null where
    nothing is answered, or there is no task.
    """
    chosen = signal_named(signal)
    thresholds = _scores_of(chosen)
    made = []
    for coder, score, wrong in _coders(rows, chosen):
        half = _half(len(score), seed, coder)
        threshold = guaranteed_threshold(score[half], wrong[half], thresholds, alpha=alpha, delta=delta)
        made.append(
            {
                **coder,
                "n_tasks": len(score),
                **_shown("agree", score, wrong, thresholds[0]),
                "threshold": None if threshold is None else chosen.sign * threshold,
                **_shown("held_out", score[~half], wrong[~half], threshold),
                **_shown("transfer", *_elsewhere(rows, chosen, coder), threshold),
            }
        )
    shown = [f"{part}_{name}" for part in ("agree", "held_out", "transfer") for name in _SHOWN]
    schema = {**_CODER_SCHEMA, "n_tasks": pl.Int64, **dict.fromkeys(shown[:4], pl.Float64), "threshold": pl.Float64}
    return pl.DataFrame(made, schema={**schema, **dict.fromkeys(shown[4:], pl.Float64)})


def guarantee_table(
    rows: pl.DataFrame,
    *,
    signal: str = "incoherence",
    alpha: float = 0.1,
    delta: float = 0.1,
    splits: int = SPLITS,
    seed: int = 0,
) -> pl.DataFrame:
    """Return how often the bound is kept over random halves of each coder's tasks; of ``rows`` of ``answers``.

    Columns: CODER, n_tasks; ``answering``: share of splits that find a threshold; ``coverage``: mean share of held-out
    tasks answered; ``risk``: wrong among all held-out answers, null without one. Shares of all splits: ``broken``,
    whose threshold has a risk above alpha on the whole benchmark, at most delta by the guarantee; ``held_out_above``,
    whose held-out risk is; ``held_out_rejected``, whose held-out answers reject a risk of at most alpha at 5 %;
    ``transfer_broken``, whose threshold has a risk above alpha on the other benchmarks, null without one.
    """
    chosen = signal_named(signal)
    thresholds = _scores_of(chosen)
    made = []
    for coder, score, wrong in _coders(rows, chosen):
        if len(score) < 2:
            continue
        found = over_splits(score, wrong, thresholds, alpha=alpha, delta=delta, splits=splits, seed=seed)
        broken, transfer_broken = (
            share_broken(found.chosen, *tasks, thresholds, alpha=alpha) if len(tasks[0]) else None
            for tasks in ((score, wrong), _elsewhere(rows, chosen, coder))
        )
        values = {"broken": broken, **_held_out(found, alpha), "transfer_broken": transfer_broken}
        made.append({**coder, "n_tasks": len(score), **values})
    return pl.DataFrame(made, schema={**_CODER_SCHEMA, "n_tasks": pl.Int64, **dict.fromkeys(_KEPT, pl.Float64)})


def _held_out(found: Splits, alpha: float) -> dict[str, float | None]:
    n_answered = int(found.n_answered.sum())
    return {
        "answering": float((found.chosen != NONE).mean()),
        "coverage": n_answered / (len(found.chosen) * found.n_held_out),
        "risk": int(found.n_wrong.sum()) / n_answered if n_answered else None,
        "held_out_above": float((found.n_wrong > alpha * found.n_answered).mean()),
        "held_out_rejected": share_rejected(found.n_answered, found.n_wrong, alpha=alpha),
    }


def _scores_of(signal: Signal) -> tuple[float, ...]:
    """Return the thresholds as scores: ascending, more means an error is more likely."""
    return tuple(signal.sign * threshold for threshold in THRESHOLDS[signal.column])


def _coders(rows: pl.DataFrame, signal: Signal) -> Iterator[tuple[dict[str, Any], Floats, Bools]]:
    for values, part in rows.sort(KEY).group_by(CODER, maintain_order=True):
        score, wrong = _scored(part, signal)
        if len(score):
            yield dict(zip(CODER, values, strict=True)), score, wrong


def _scored(rows: pl.DataFrame, signal: Signal) -> tuple[Floats, Bools]:
    """Return score and wrong of the rows that have both."""
    score = score_of(rows, signal)
    known = ~np.isnan(score) & rows["wrong"].is_not_null().to_numpy()
    return score[known], rows["wrong"].fill_null(value=False).to_numpy()[known]


def _half(n_tasks: int, seed: int, coder: dict[str, Any]) -> Bools:
    """Return a random half of the tasks, another one for each coder, so that an odd one does not colour all rows."""
    rng = np.random.default_rng([seed, crc32(repr(tuple(coder.values())).encode())])
    is_in: Bools = rng.permutation(n_tasks) < n_tasks // 2
    return is_in


def _elsewhere(rows: pl.DataFrame, signal: Signal, coder: dict[str, Any]) -> tuple[Floats, Bools]:
    """Return score and wrong of the same model and temperature on the other benchmarks."""
    same = pl.all_horizontal(pl.col(name) == coder[name] for name in ("model", "temperature"))
    return _scored(rows.filter(same & (pl.col("benchmark") != coder["benchmark"])), signal)


def _shown(part: str, score: Floats, wrong: Bools, threshold: float | None) -> dict[str, float | None]:
    values = answered(score, wrong, threshold) if len(score) else dict.fromkeys(_SHOWN)
    return {f"{part}_{name}": values[name] for name in _SHOWN}
