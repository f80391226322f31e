"""What agreement is worth: answer only where programs agree enough, and count how often that is wrong."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final
from zlib import crc32

import numpy as np
import polars as pl
from scipy.special import bdtr, bdtrc

from difftrust.research.coders import exact_share, with_ends
from difftrust.research.per_candidate import CODER_SCHEMA, KEY, Bools, Schema
from difftrust.research.signals import Signal, behaviour_signals, signal_of
from difftrust_core.estimates.pool import Ints, Pool
from difftrust_core.exceptions import WrongUsage
from difftrust_core.metrics.estimates import Floats

REPETITIONS: Final = 1000
NONE: Final = -1
"""Stands for no threshold: nothing is answered."""
ANSWERED: Final[Schema] = {
    **dict.fromkeys(("n_answered", "n_wrong"), pl.Int64),
    **dict.fromkeys(("coverage", *with_ends("risk")), pl.Float64),
}


def answered(score: Floats, wrong: Bools, threshold: float | None) -> dict[str, Any]:
    """Return coverage and risk at one threshold, by the names of ANSWERED; with threshold None nothing is answered.

    ``risk_low`` and ``risk_high`` are exact (Clopper-Pearson, 95 %), over tasks; without an answer risk and its
    interval are None. Raises WrongUsage without a task.
    """
    if not len(score):
        raise WrongUsage("coverage needs a task, got none; choose another benchmark or model")
    chosen = np.zeros(len(score), dtype=bool) if threshold is None else score <= threshold
    n_answered, n_wrong = int(chosen.sum()), int(wrong[chosen].sum())
    counts = {"n_answered": n_answered, "n_wrong": n_wrong, "coverage": n_answered / len(score)}
    return counts | exact_share("risk", n_wrong, n_answered)


def risk_coverage(score: Floats, wrong: Bools) -> pl.DataFrame:
    """Return the curve of risk against coverage: a row for each distinct score, strict to loose.

    Columns: threshold and those of ANSWERED. El-Yaniv & Wiener 2010.
    """
    rows = [{"threshold": t, **answered(score, wrong, t)} for t in np.unique(score).tolist()]
    return pl.DataFrame(rows, schema={"threshold": pl.Float64, **ANSWERED})


def p_values(n_answered: Ints, n_wrong: Ints, alpha: float) -> Floats:
    """Return P(Binomial(n_answered, alpha) <= n_wrong): small where a risk above alpha is unlikely.

    A valid p-value of "the risk is above alpha" for tasks drawn independently; 1 where nothing is answered.
    """
    p: Floats = bdtr(n_wrong.astype(np.float64), n_answered, alpha)
    return p


def loosest(n_answered: Ints, n_wrong: Ints, *, alpha: float, delta: float) -> Ints:
    """Return the index of the last threshold accepted, NONE if even the first is not: (...,).

    ``n_answered``, ``n_wrong``: (..., n_thresholds), counted on calibration tasks, strict to loose. Fixed-sequence
    testing: each threshold is tested at level delta, and the first that fails ends the sequence, so that nothing has to
    be paid for testing many. With thresholds that were fixed beforehand, and calibration tasks drawn independently from
    those to come, the probability that the risk at the returned one is above alpha is at most delta. Angelopoulos,
    Bates, Candes, Jordan & Lei 2021, Learn then Test, section 4.2.
    """
    for name, value in (("alpha", alpha), ("delta", delta)):
        if not 0 < value < 1:
            raise WrongUsage(f"{name} lies between 0 and 1, got {value}; 0.1 is usual")
    passed = p_values(n_answered, n_wrong, alpha) <= delta
    last: Ints = np.logical_and.accumulate(passed, axis=-1).sum(axis=-1) + NONE
    return last


def counts_at(score: Floats, wrong: Bools, thresholds: Sequence[float]) -> tuple[Bools, Bools]:
    """Return which tasks are answered, and which of them wrongly, at each threshold: (n_tasks, n_thresholds) twice."""
    is_answered = score[:, np.newaxis] <= np.asarray(thresholds)
    return is_answered, is_answered & wrong[:, np.newaxis]


def guaranteed_threshold(
    score: Floats, wrong: Bools, thresholds: Sequence[float], *, alpha: float, delta: float
) -> float | None:
    """Return the loosest threshold at which the risk is at most alpha, with probability 1 - delta; None: none is.

    ``thresholds``: ascending, chosen without looking at these tasks. The rest as in ``loosest``.
    """
    is_answered, is_wrong = counts_at(score, wrong, thresholds)
    index = int(loosest(is_answered.sum(axis=0), is_wrong.sum(axis=0), alpha=alpha, delta=delta))
    return None if index == NONE else thresholds[index]


@dataclass(frozen=True, kw_only=True, eq=False)
class Population:
    """Tasks to draw from, again and again: what the risk is at every threshold is known."""

    share: Floats
    """Of each kind of task; sums to 1."""
    is_answered: Bools
    """(n_kinds, n_thresholds)."""
    is_wrong: Bools
    """(n_kinds, n_thresholds): answered, and wrongly."""

    @classmethod
    def of(cls, score: Floats, wrong: Bools, thresholds: Sequence[float], share: Floats | None = None) -> "Population":
        """Return the population in which each of these tasks has its ``share``; None: an equal one."""
        both = np.concatenate(counts_at(score, wrong, thresholds), axis=1)
        kinds, which = np.unique(both, axis=0, return_inverse=True)
        weights = np.full(len(score), 1 / len(score)) if share is None else share
        is_answered, is_wrong = np.split(kinds, 2, axis=1)
        of_kind = np.bincount(which.ravel(), weights).astype(np.float64)
        return cls(share=of_kind, is_answered=is_answered, is_wrong=is_wrong)

    def counts(self, n_tasks: int, *, repetitions: int, rng: np.random.Generator) -> tuple[Ints, Ints]:
        """Draw tasks independently; return how many are answered, and how many wrongly: (repetitions, n_thresholds)."""
        drawn = rng.multinomial(n_tasks, self.share / self.share.sum(), size=repetitions)
        return drawn @ self.is_answered, drawn @ self.is_wrong

    def breaks(self, chosen: Ints, *, alpha: float) -> Bools:
        """Return at which of the ``chosen`` thresholds the risk is above alpha; NONE breaks nothing."""
        above = self.share @ self.is_wrong > alpha * (self.share @ self.is_answered) * (1 + _ROUNDING)
        found: Bools = above[chosen] & (chosen != NONE)
        return found


_ROUNDING: Final = 1e-9
"""Of sums of shares, relative."""


THRESHOLDS: Final[dict[str, tuple[float, ...]]] = {
    "incoherence": (0, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1),
    "largest_share": tuple(k / 10 for k in range(10, 0, -1)),
    "n_clusters": (*range(1, 11), 15, 20, 50),
    "dissent": tuple(k / 10 for k in range(11)),
}
"""The signals that can be answered by, and their thresholds, strict to loose: fixed, so that no task chooses them."""
_LEVEL: Final = 0.05
_SHOWN: Final = ("coverage", *with_ends("risk"))
_KEPT: Final = (
    *("answering", "coverage", "risk", *with_ends("broken")),
    *("held_out_above", "held_out_rejected", "transfer_broken"),
)


def answers(pool: Pool, *, temperature: float, m: int | None, n: int | None) -> pl.DataFrame:
    """Return the signals of each coder and task at one temperature, and whether the answer is wrong.

    Columns: KEY, m, n; those of THRESHOLDS, null of a single candidate; wrong and others_err, null without a reference.
    The first ``m`` candidates on the first ``n`` inputs, None: all.
    """
    found = behaviour_signals(pool, temperature=temperature, m=m, n=n)
    defined = pl.when(pl.col("m") > 1).then(pl.col(*THRESHOLDS))  # one candidate agrees with nobody
    return found.select(*KEY, "m", "n", defined, "wrong", "others_err")


def signal_named(column: str) -> Signal:
    """Return the signal of a column of THRESHOLDS. Raises WrongUsage for another."""
    if column not in THRESHOLDS:
        raise WrongUsage(f"a signal to answer by is one of {', '.join(THRESHOLDS)}, got {column!r}")
    return signal_of(column)


def curve_table(rows: pl.DataFrame, *, signal: str = "incoherence") -> pl.DataFrame:
    """Return ``risk_coverage`` of each coder: CODER_SCHEMA, threshold and ANSWERED; of ``rows`` of ``answers``."""
    chosen = signal_named(signal)
    found = [
        risk_coverage(score, wrong).select(
            *[pl.lit(value).alias(name) for name, value in coder.items()],
            pl.col("threshold") * chosen.sign,
            *ANSWERED,
        )
        for coder, score, wrong in _coders(rows, chosen)
    ]
    return pl.concat([pl.DataFrame(schema={**CODER_SCHEMA, "threshold": pl.Float64, **ANSWERED}), *found])


def agreement_table(
    rows: pl.DataFrame, *, signal: str = "incoherence", alpha: float = 0.1, delta: float = 0.05, seed: int = 0
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
    own = {tuple(coder.values()): (score, wrong) for coder, score, wrong in _coders(rows, signal_of("incoherence"))}
    made = []
    for coder, score, wrong in _coders(rows, chosen):
        half = _half(len(score), seed, coder)
        threshold = guaranteed_threshold(score[half], wrong[half], thresholds, alpha=alpha, delta=delta)
        made.append(
            {
                **coder,
                "n_tasks": len(score),
                **_shown("agree", *own[tuple(coder.values())], 0),
                "threshold": None if threshold is None else chosen.sign * threshold,
                **_shown("held_out", score[~half], wrong[~half], threshold),
                **_shown("transfer", *_elsewhere(rows, chosen, coder), threshold),
            }
        )
    agree, held_out, transfer = (
        {f"{part}_{name}": pl.Float64 for name in _SHOWN} for part in ("agree", "held_out", "transfer")
    )
    schema = {**CODER_SCHEMA, "n_tasks": pl.Int64, **agree, "threshold": pl.Float64, **held_out, **transfer}
    return pl.DataFrame(made, schema=schema)


def guarantee_table(
    rows: pl.DataFrame, *, signal: str = "incoherence", alpha: float = 0.1, delta: float = 0.05, seed: int = 0
) -> pl.DataFrame:
    """Return how often the bound would be kept if each coder's tasks were all there are; of ``rows`` of ``answers``.

    In each repetition half as many tasks as the coder has are drawn from them, independently and with replacement, give
    a threshold, and as many again are answered by it. Columns: CODER_SCHEMA, n_tasks; ``answering``: share of
    repetitions that find a threshold; ``coverage``: mean share of the fresh tasks answered; ``risk``: wrong among all
    their answers, null without one. Shares of all repetitions: ``broken``, whose threshold has a risk above alpha, at
    most delta by the guarantee, with its exact 95 % interval; ``held_out_above``, whose fresh tasks have;
    ``held_out_rejected``, whose fresh answers reject a risk of at most alpha at 5 %; ``transfer_broken``, whose
    threshold has a risk above alpha on the other benchmarks, null without one.
    """
    chosen = signal_named(signal)
    thresholds = _scores_of(chosen)
    made = []
    for coder, score, wrong in _coders(rows, chosen):
        if len(score) < 2:
            continue
        own, rng = Population.of(score, wrong, thresholds), np.random.default_rng(seed)
        drawn, fresh = (own.counts(len(score) // 2, repetitions=REPETITIONS, rng=rng) for _ in range(2))
        index = loosest(*drawn, alpha=alpha, delta=delta)
        tasks = _elsewhere(rows, chosen, coder)
        elsewhere = Population.of(*tasks, thresholds).breaks(index, alpha=alpha).mean() if len(tasks[0]) else None
        broken = exact_share("broken", int(own.breaks(index, alpha=alpha).sum()), REPETITIONS)
        values = broken | _fresh(index, fresh, len(score) // 2, alpha)
        made.append({**coder, "n_tasks": len(score), **values, "transfer_broken": elsewhere})
    return pl.DataFrame(made, schema={**CODER_SCHEMA, "n_tasks": pl.Int64, **dict.fromkeys(_KEPT, pl.Float64)})


def _fresh(index: Ints, counts: tuple[Ints, Ints], n_tasks: int, alpha: float) -> dict[str, float | None]:
    """Return what the thresholds do on tasks that they were not chosen on; ``counts``: of these, at every threshold."""
    answered, wrong = (np.where(index == NONE, 0, each[np.arange(len(index)), index]) for each in counts)
    n_answered = int(answered.sum())
    at_most_alpha = np.where(wrong > 0, bdtrc(np.maximum(wrong - 1, 0).astype(np.float64), answered, alpha), 1.0)
    return {
        "answering": float((index != NONE).mean()),
        "coverage": n_answered / (len(index) * n_tasks),
        "risk": int(wrong.sum()) / n_answered if n_answered else None,
        "held_out_above": float((wrong > alpha * answered).mean()),
        "held_out_rejected": float((at_most_alpha <= _LEVEL).mean()),
    }


def _scores_of(signal: Signal) -> tuple[float, ...]:
    """Return the thresholds as scores: ascending, more means an error is more likely."""
    return tuple(signal.sign * threshold for threshold in THRESHOLDS[signal.column])


def _coders(rows: pl.DataFrame, signal: Signal) -> Iterator[tuple[dict[str, Any], Floats, Bools]]:
    for values, part in rows.sort(KEY).group_by(*CODER_SCHEMA, maintain_order=True):
        score, wrong = _scored(part, signal)
        if len(score):
            yield dict(zip(CODER_SCHEMA, values, strict=True)), score, wrong


def _scored(rows: pl.DataFrame, signal: Signal) -> tuple[Floats, Bools]:
    """Return score and wrong of the rows that have both."""
    score = signal.score(rows)
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
