"""Write the tables of docs/agreement.md: what agreement is worth, and how often its bound is kept; for make agreement.

python -m tests.support.agreement [--inputs reference domain tests]
"""

import argparse
import textwrap
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
import polars as pl

import difftrust as dt
from difftrust.research.selective import NONE, THRESHOLDS, Population, answers, counts_at, loosest
from difftrust.research.signals import signal_of
from difftrust.shipped import PAPER_SETTING, in_published_set
from difftrust.tables.names import display_name
from difftrust_core.metrics.estimates import behaviour_clusters, incoherence
from difftrust_core.metrics.intervals import clopper_pearson
from tests.support.markdown import ROOT, Part, percent, table
from tests.support.simulated import CODERS

PAGE = "docs/agreement.md"
TARGET = ROOT / PAGE
ALPHAS = (0.05, 0.1, 0.2, 0.3, 0.4)
ALPHA = 0.3
"""The bound of the first table of a section."""
DELTA = 0.05
REPETITIONS = 10_000
N_TASKS = (75, 200, 1000)
"""To calibrate on: half of HumanEval's, half of MBPP's, many."""
DRAWS = 2000
"""Repetitions in which all models share their tasks."""
FLAT = 0.2
"""The bound of independent populations."""
ABOVE = 0.0001
"""What a risk just above alpha is more than alpha."""


def of_risks(coverage: Sequence[float], risk: Sequence[float]) -> Population:
    """Return the population with these shares of tasks answered, and of these wrong, at thresholds strict to loose."""
    covered, wrong = np.array(coverage), np.array(coverage) * np.array(risk)
    own, own_wrong = np.diff(covered, prepend=0), np.diff(wrong, prepend=0)
    score = np.repeat(np.arange(len(covered)), 2)
    is_wrong = np.tile([True, False], len(covered))
    share = np.stack([own_wrong, own - own_wrong], axis=1).ravel()
    return Population.of(score, is_wrong, range(len(covered)), share)


def just_above(alpha: float) -> Population:
    """Return the hardest case: at each of ten thresholds, the strictest of half of the tasks, risk is above alpha."""
    return of_risks(np.linspace(0.55, 1, 10), [alpha + ABOVE] * 10)


def step(alpha: float) -> Population:
    """Return half of the tasks at half of the risk that is allowed, and with the others a risk just above it."""
    return of_risks([0.5, 1], [alpha / 2, alpha + ABOVE])


def logistic(alpha: float) -> Population:
    """Return tasks of ten scores, whose risk rises with the score and is alpha at the fourth."""
    risk = 1 / (1 + (1 / alpha - 1) * np.exp(-0.7 * (np.arange(10) - 3)))
    coverage = np.linspace(0.1, 1, 10)
    return of_risks(coverage, np.cumsum(0.1 * risk) / coverage)


def coders(*, n_tasks: int, seed: int) -> Population:
    """Return tasks of simulated coders of every kind: incoherence of ten programs, and whether the answer is wrong."""
    rng = np.random.default_rng(seed)
    kinds, score, wrong = list(CODERS.values()), [], []
    for task in range(n_tasks):
        labels, counts = kinds[task % len(kinds)](rng).sample(10, 200, rng)
        answer = behaviour_clusters(labels, counts, [f"{i:03}" for i in rng.permutation(len(labels))])[0][0]
        score.append(incoherence(labels, counts))
        wrong.append(bool((labels[answer] != labels[0]).any()))
    return Population.of(np.array(score), np.array(wrong), THRESHOLDS["incoherence"])


def kept_on(
    population: Population, *, n_tasks: int, alpha: float, delta: float, repetitions: int, seed: int
) -> tuple[Any, Any]:
    """Return of each repetition whether tasks drawn independently give a threshold, and whether it breaks the bound."""
    counts = population.counts(n_tasks, repetitions=repetitions, rng=np.random.default_rng(seed))
    chosen = loosest(*counts, alpha=alpha, delta=delta)
    return chosen != NONE, population.breaks(chosen, alpha=alpha)


def main() -> None:
    """Write the tables of the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--inputs", nargs="+", default=["reference"], help="the sections to write, besides the first")
    sections = parser.parse_args().inputs
    for part in (*SIMULATIONS, *(part for inputs in sections for part in _parts(inputs))):
        part.write()


def _parts(inputs: str) -> tuple[Part, Part]:
    """Return the two tables of the section on recorded tasks with these inputs."""
    study = dt.open(inputs=inputs)
    of_section: dict[str, Any] = {"document": PAGE, "heading": f"## Recorded tasks: inputs `{inputs}`"}
    end = "" if inputs == "tests" else "\n## "  # the last section
    return (
        Part(begin="| benchmark | model |", end="\n### ", make=lambda: agreement_table(study), **of_section),
        Part(begin="**The largest share", end=end, make=lambda: _guarantees(study), **of_section),
    )


def simulated() -> str:
    """Return how often the bound is broken on populations whose risk is known."""
    own = coders(n_tasks=2000, seed=0)
    shapes = {"just above": just_above, "step": step, "logistic": logistic, "coders": lambda _: own}
    rows = []
    for name, make in shapes.items():
        for alpha in ALPHAS:
            kept = [
                kept_on(make(alpha), n_tasks=n, alpha=alpha, delta=DELTA, repetitions=REPETITIONS, seed=n)
                for n in N_TASKS
            ]
            rows.append([name, f"{alpha:.0%}", percent(kept[1][0].mean()), *(_share(broken) for _, broken in kept)])
    head = ["population", "alpha", f"answering, {N_TASKS[1]} tasks"]
    return table([*head, *(f"broken, {n:,} tasks" for n in N_TASKS)], rows, texts=1)


def afterwards() -> str:
    """Return how often the bound is broken if what it is for is chosen on the calibration tasks."""
    study = dt.open(inputs="domain")
    rows = []
    for benchmark in study.benchmarks:
        setting = {"temperature": PAPER_SETTING.temperature, "m": PAPER_SETTING.m, "n": PAPER_SETTING.n}
        bounds = Bounds(in_published_set(answers(study.pool(benchmark), **setting)))
        rows += [(benchmark, *_worst(bounds, said, groups)) for said, groups in choices(bounds.models).items()]
    independent = (
        "16 independent populations",
        ANY,
        16,
        f"{FLAT:.0%}",
        *any_of_independent(16, repetitions=REPETITIONS),
    )
    one, several = ([row for row in rows if (row[1] == ANY) == is_any] for is_any in (False, True))
    most = [_share(max((row[4] for row in each), key=np.mean)) for each in (one, several, [independent])]
    text = (
        f"Chosen afterwards, a bound breaks in at most {most[0]} of the repetitions, one of the bounds of all models "
        f"in {most[1]}: models err on the same tasks, and few are at the bound. Were 16 models independent and just "
        f"above it, one would break in {most[2]}."
    )
    cells = [[*row[:2], str(row[2]), row[3], *map(_share, row[4:])] for row in (*rows, independent)]
    head = ["tasks of", "chosen afterwards", "of k", "alpha", "broken", "broken at delta / k"]
    return textwrap.fill(text, 120) + "\n\n" + table(head, cells, texts=2)


def _worst(bounds: "Bounds", said: str, groups: "list[list[Bound]]") -> tuple[Any, ...]:
    """Return of the group that breaks its bound most: k, alpha, and each repetition at delta and at delta / k."""
    judge = bounds.any_broken if said == ANY else bounds.chosen_broken
    worst = max(groups, key=lambda group: judge(group, DELTA).mean())
    alphas = {f"{alpha:.0%}" for _, _, alpha in worst}
    shown = alphas.pop() if len(alphas) == 1 else ""
    return said, len(worst), shown, judge(worst, DELTA), judge(worst, DELTA / len(worst))


Bound = tuple[str, str, float]
"""Model, signal and alpha."""


def choices(models: Sequence[str]) -> dict[str, list[list[Bound]]]:
    """Return what is chosen -> the groups of bounds of which one is chosen."""
    fixed = "incoherence"
    return {
        "nothing": [[(model, fixed, alpha)] for model in models for alpha in ALPHAS],
        "the model": [[(model, fixed, alpha) for model in models] for alpha in ALPHAS],
        "the signal": [[(model, name, alpha) for name in THRESHOLDS] for model in models for alpha in ALPHAS],
        "model and signal": [[(model, name, alpha) for model in models for name in THRESHOLDS] for alpha in ALPHAS],
        "alpha": [[(model, fixed, alpha) for alpha in ALPHAS] for model in models],
        ANY: [[(model, fixed, alpha) for model in models] for alpha in ALPHAS],
    }


ANY = "any of the models' bounds"


class Bounds:
    """The bounds of all models, signals and alphas on the same calibration tasks, drawn from those of all models."""

    def __init__(self, rows: pl.DataFrame):
        rows = rows.drop_nulls(["wrong", *THRESHOLDS])
        shared = rows.filter(pl.len().over("task_id") == rows["model"].n_unique()).sort("model", "task_id")
        self.models = sorted(shared["model"].unique())
        n_tasks = shared["task_id"].n_unique()
        even = np.full(n_tasks, 1 / n_tasks)
        drawn = np.random.default_rng(0).multinomial(N_TASKS[1], even, size=DRAWS).astype(np.float64)
        self._one = cache(self._judge)
        self._counts = {
            (model, name): (above, [(drawn @ each).astype(np.int64) for each in above])
            for model in self.models
            for name in THRESHOLDS
            for above in [_counted(shared.filter(model=model), name)]
        }

    def any_broken(self, group: Sequence[Bound], delta: float) -> Any:
        """Return of each repetition whether any bound of the group breaks."""
        return np.any([self._one(*bound, delta)[1] for bound in group], axis=0)

    def chosen_broken(self, group: Sequence[Bound], delta: float) -> Any:
        """Return whether the chosen one breaks: of the smallest alpha, with most answers, with the fewest wrong."""
        found = [self._one(*bound, delta) for bound in group]
        best = np.argmax([rank for rank, _ in found], axis=0)
        return np.array([broken for _, broken in found])[best, np.arange(len(best))]

    def _judge(self, model: str, signal: str, alpha: float, delta: float) -> tuple[Any, Any]:
        (is_answered, is_wrong), (answered, wrong) = self._counts[model, signal]
        chosen = loosest(answered, wrong, alpha=alpha, delta=delta)
        above = is_wrong.sum(axis=0) > alpha * is_answered.sum(axis=0)
        n, n_wrong = (each[np.arange(len(chosen)), chosen] for each in (answered, wrong))
        most = n - n_wrong / np.maximum(n, 1) - 1e6 * alpha
        return np.where(chosen == NONE, -np.inf, most), above[chosen] & (chosen != NONE)


def _counted(rows: pl.DataFrame, name: str) -> tuple[Any, Any]:
    signal = signal_of(name)
    thresholds = [signal.sign * threshold for threshold in THRESHOLDS[name]]
    return counts_at(signal.score(rows), rows["wrong"].to_numpy(), thresholds)


def any_of_independent(k: int, *, repetitions: int) -> list[Any]:
    """Return of each repetition whether any of k bounds breaks: at delta, and at delta / k."""
    found = []
    for delta in (DELTA, DELTA / k):
        one = {"n_tasks": N_TASKS[1], "alpha": FLAT, "delta": delta, "repetitions": repetitions}
        found.append(np.any([kept_on(just_above(FLAT), seed=seed, **one)[1] for seed in range(k)], axis=0))
    return found


def _share(broken: Any) -> str:
    return _with_ends(broken.mean(), *clopper_pearson(int(broken.sum()), len(broken), alpha=0.025))


def _with_ends(share: float, low: float, high: float) -> str:
    return f"{percent(share)} [{100 * low:.1f}, {100 * high:.1f}]"


def _guarantees(study: dt.Study) -> str:
    rows, most, n_rows = [], {"broken": -1.0}, 0
    for signal in THRESHOLDS:
        for bound in ALPHAS:
            found = study.table("guarantee", signal=signal, alpha=bound, delta=DELTA).frame
            most = max(most, found.sort("broken").row(-1, named=True), key=lambda row: row["broken"])
            rows += guarantee_rows(found, signal, bound)
            n_rows += found.height
    rows.sort(key=lambda row: row[:2])
    head = ["benchmark", "signal", "alpha", "answering", "coverage", "risk", "broken, mean", "broken, largest"]
    said = (
        f"The largest share that breaks the bound, of {n_rows} rows (a model, signal and alpha), is {_limits(most)}, "
        f"where {DELTA:.0%} are allowed."
    )
    return f"**{said}**\n\n{table([*head, 'broken elsewhere'], rows, texts=2)}"


def _limits(row: dict[str, Any]) -> str:
    return _with_ends(*(row[f"broken{end}"] for end in ("", "_low", "_high")))


def agreement_table(study: dt.Study) -> str:
    """Return the first table of a section: a row a model."""
    shown = study.table("agreement", alpha=ALPHA, delta=DELTA).frame
    head = ["benchmark", "model", "all agree", "wrong of these", "threshold", "held out: answered", "wrong of these"]
    head += ["transfer: answered", "wrong of these"]
    return table(head, [_agreement_row(row) for row in shown.iter_rows(named=True)], texts=2)


def guarantee_rows(found: pl.DataFrame, signal: str, bound: float) -> list[list[str]]:
    """Return the rows of the second table of a section that one signal and bound have: one a benchmark."""
    parts = found.group_by("benchmark", maintain_order=True)
    return [[str(name), signal, f"{bound:.0%}", *_guarantee_cells(part)] for (name,), part in parts]


def _agreement_row(row: dict[str, Any]) -> list[str]:
    threshold = "none" if row["threshold"] is None else f"{row['threshold']:g}"
    cells = [f(row, part) for part in ("agree", "held_out", "transfer") for f in (_coverage, _risk)]
    return [row["benchmark"], display_name(row["model"]), *cells[:2], threshold, *cells[2:]]


def _coverage(row: dict[str, Any], part: str) -> str:
    return percent(row[f"{part}_coverage"])


def _risk(row: dict[str, Any], part: str) -> str:
    if row[f"{part}_risk"] is None:
        return ""
    low, high = (100 * row[f"{part}_risk_{end}"] for end in ("low", "high"))
    return f"{percent(row[f'{part}_risk'])} [{low:.1f}, {high:.1f}]"


def _guarantee_cells(part: pl.DataFrame) -> list[str]:
    def mean(column: str) -> float:
        return float(part[column].mean())  # type: ignore[arg-type]

    answering, covered = mean("answering"), mean("coverage")
    wrong = (part["coverage"] * part["risk"].fill_null(0.0)).mean()
    return [
        percent(answering),
        percent(covered),
        percent(wrong / covered if covered else None),
        percent(mean("broken")),
        _limits(part.sort("broken").row(-1, named=True)),
        percent(mean("transfer_broken") / answering if answering else None),
    ]


SIMULATIONS = (
    Part(document=PAGE, begin="| population |", end="\n## ", make=simulated),
    Part(document=PAGE, begin="Chosen afterwards, a", end="\n## ", make=afterwards),
)


if __name__ == "__main__":
    main()
