"""How often intervals hold the true value in simulated experiments; for the test and for docs/calibration.md."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import polars as pl

from difftrust.task_intervals import error_lower_bound_over_programs, incoherence_interval_over_programs
from difftrust_core.base.records import Detection
from difftrust_core.metrics.estimates import Counts, Interval, Labels, disagreement_per_input
from difftrust_core.metrics.intervals import bootstrap_tasks, statistic_of
from tests.support.plain_estimators import detection_at, estimate, functional_classes
from tests.support.plain_intervals import interval_over_inputs
from tests.support.simulated import Coder

ROUNDING = 1e-9
TASK_MEASURES = (
    ("mean_error", Detection.AS_PUBLISHED),
    ("mean_incoherence", Detection.AS_PUBLISHED),
    ("spearman", Detection.AS_PUBLISHED),
    ("detection_rate", Detection.AS_PUBLISHED),
    ("detection_rate", Detection.ALL_PAIRS),
    ("undetected_mean_error", Detection.AS_PUBLISHED),
)


@dataclass
class Tally:
    """Experiments, and how many intervals lay above or below the true value."""

    above: list[bool] = field(default_factory=list)
    below: list[bool] = field(default_factory=list)
    widths: list[float] = field(default_factory=list)

    def add(self, interval: Interval, truth: float) -> None:
        """Count one experiment."""
        self.above.append(interval.low > truth + ROUNDING)
        self.below.append(interval.high < truth - ROUNDING)
        self.widths.append(interval.high - interval.low)

    @property
    def coverage(self) -> float:
        """Return the share of the intervals that hold the true value."""
        return 1 - (sum(self.above) + sum(self.below)) / len(self.above)

    @property
    def width(self) -> float:
        """Return the mean width."""
        return float(np.mean(self.widths))


PROGRAMS = ("I", "I naive", "I chernoff", "E at least")


def over_programs(
    coders: Sequence[Coder], *, m: int, n: int, experiments: int, seed: int, draws: int, names: Sequence[str] = PROGRAMS
) -> dict[str, Tally]:
    """Return the tallies of ``names``: what is said about the LLM; naive is the interval over inputs, misused."""
    rng, found = np.random.default_rng(seed), {name: Tally() for name in names}
    truths = [(coder.incoherence(), coder.error()) for coder in coders]
    for i in range(experiments):
        labels, counts = coders[i % len(coders)].sample(m, n, rng)
        incoherence, error = truths[i % len(coders)]
        for name, tally in found.items():
            interval = _about_the_llm(name, labels, counts, seed=i, draws=draws)
            tally.add(interval, incoherence if name.startswith("I") else error)
    return found


def _about_the_llm(name: str, labels: Labels, counts: Counts, *, seed: int, draws: int) -> Interval:
    match name:
        case "I":
            return incoherence_interval_over_programs(labels, counts, seed=seed, draws=draws)
        case "I chernoff":
            return incoherence_interval_over_programs(labels, counts, method="chernoff")
        case "I naive":
            return interval_over_inputs(disagreement_per_input(labels, counts))
        case "E at least":
            return error_lower_bound_over_programs(labels, counts)
    raise ValueError(name)


INPUTS = ("I calibrated", "I chernoff", "I hoeffding")


def over_inputs(
    coders: Sequence[Coder], *, m: int, n: int, experiments: int, seed: int, names: Sequence[str] = INPUTS
) -> dict[str, Tally]:
    """Return the tallies of ``names``: what is said about m given programs that disagree somewhere, from n inputs."""
    rng, found = np.random.default_rng(seed), {name: Tally() for name in names}
    for _ in range(experiments):
        d = np.zeros(1)
        while not d.any():  # of programs that agree everywhere every interval is right
            coder = coders[rng.integers(len(coders))]
            counts = rng.multinomial(m, coder.shares)
            rows = np.flatnonzero((counts > 0) | (np.arange(len(counts)) == 0))
            labels, counts = coder.labels[rows], counts[rows]
            d = disagreement_per_input(labels, counts)
        drawn = rng.integers(len(d), size=n)
        for name, tally in found.items():
            method = name.removeprefix("I ")
            tally.add(interval_over_inputs(d[drawn], method=method), d.mean())  # type: ignore[arg-type]
    return found


def simulated_tasks(n_tasks: int, rng: np.random.Generator) -> pl.DataFrame:
    """Return a benchmark: half of the tasks without an error, the rest U-shaped; what is incoherent is erroneous."""
    error = np.where(rng.random(n_tasks) < 0.5, 0.0, rng.beta(0.5, 1.5, n_tasks).round(2))
    incoherence = np.where(rng.random(n_tasks) < 0.3, 0.0, (error * rng.beta(2, 1, n_tasks)).round(2))
    return pl.DataFrame(
        {
            "error": error,
            "incoherence": incoherence,
            "p_erroneous": 1 - (1 - error) ** 20,
            "p_detected": 1 - (1 - incoherence) ** 20,
            "detected": incoherence > 0,
        }
    )


def over_tasks(
    measures: Sequence[tuple[str, str]], *, n_tasks: int, experiments: int, seed: int, resamples: int
) -> dict[tuple[str, str], Tally]:
    """Return the tallies of table cells: what is said of all tasks, from n_tasks of them."""
    rng = np.random.default_rng(seed)
    everything = simulated_tasks(200_000, rng)
    statistics = {key: statistic_of(key[0], detection=key[1]) for key in measures}  # type: ignore[arg-type]
    truths = {key: float(f(everything, np.ones((1, len(everything))))[0]) for key, f in statistics.items()}
    found = {key: Tally() for key in measures}
    for _ in range(experiments):
        tasks = simulated_tasks(n_tasks, rng)
        for key, statistic in statistics.items():
            found[key].add(bootstrap_tasks(tasks, statistic, resamples=resamples), truths[key])
    return found


def biases(coder: Coder, *, m: int, n: int, experiments: int, seed: int) -> dict[str, tuple[float, float, float]]:
    """Return (true value, mean estimate, standard error of that mean) of every estimator, over fresh programs.

    Error and incoherence also over fresh inputs; what speaks of behaviours over n inputs has its inputs fixed.
    Raises AssertionError for an experiment with I > 2E, or with E = 0 < I.
    """
    rng = np.random.default_rng(seed)
    fixed = coder.labels[:, rng.integers(coder.labels.shape[1], size=n)]
    seen: dict[str, list[float]] = {}
    for _ in range(experiments):
        found = estimate(*coder.sample(m, n, rng), 0)
        assert found["incoherence"] <= 2 * found["error"] + ROUNDING
        assert found["error"] > 0 or found["incoherence"] == 0
        counts = rng.multinomial(m, coder.shares)
        functional = estimate(fixed, counts, 0)
        values = {
            **{name: found[name] for name in ("error", "incoherence", "incoherence_v")},
            **{name: functional[name] for name in ("functional_error", "functional_incoherence")},
            "detection_at 3": detection_at(functional_classes(fixed, counts), 3),
            **{name: functional[name] for name in ("p_detected", "p_erroneous")},
        }
        values["p_detected, sampled"], values["p_erroneous, sampled"] = _as_published(fixed, counts, rng)
        for name, value in values.items():
            seen.setdefault(name, []).append(value)
    return {name: (truth, *_mean(seen[name])) for name, truth in _truths(coder, fixed, m, seen).items()}


def _truths(coder: Coder, fixed: Labels, m: int, seen: dict[str, list[float]]) -> dict[str, float]:
    mass: dict[bytes, float] = {}
    for row, share in zip(fixed, coder.shares, strict=True):
        mass[row.tobytes()] = mass.get(row.tobytes(), 0.0) + share
    shares = np.array(list(mass.values()))
    return {
        "error": coder.error(),
        "incoherence": coder.incoherence(),
        "incoherence_v": coder.incoherence() * (m - 1) / m,
        "functional_error": 1 - mass[fixed[0].tobytes()],
        "functional_incoherence": float(1 - (shares**2).sum()),
        "detection_at 3": float(1 - (shares**3).sum()),
        "p_detected, sampled": float(np.mean(seen["p_detected"])),
        "p_erroneous, sampled": float(np.mean(seen["p_erroneous"])),
    }


def _as_published(fixed: Labels, counts: Counts, rng: np.random.Generator) -> tuple[float, float]:
    """Return whether one random pair an input disagrees anywhere, and whether one random candidate an input errs."""
    programs = np.repeat(np.arange(len(counts)), counts)
    m, inputs = len(programs), np.arange(fixed.shape[1])
    first = rng.integers(m, size=len(inputs))
    second = (first + rng.integers(1, m, size=len(inputs))) % m
    one, two = fixed[programs[first], inputs], fixed[programs[second], inputs]
    chosen = fixed[programs[rng.integers(m, size=len(inputs))], inputs]
    return float((one != two).any()), float((chosen != fixed[0]).any())


def _mean(values: list[float]) -> tuple[float, float]:
    return float(np.mean(values)), float(np.std(values, ddof=1) / np.sqrt(len(values)))
