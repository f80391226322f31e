"""Write the tables of docs/agreement.md: what agreement is worth, and how often its bound is kept; for make agreement.

python -m tests.support.agreement [--inputs reference domain tests]
"""

import argparse
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

import difftrust as dt
from difftrust.research.selective import NONE, THRESHOLDS, counts_at, loosest, share_broken
from difftrust.tables.names import display_name
from difftrust_core.metrics.estimates import behaviour_clusters, incoherence
from tests.support.markdown import ROOT, Part, percent, table
from tests.support.simulated import CODERS

PAGE = "docs/agreement.md"
TARGET = ROOT / PAGE
ALPHAS = (0.05, 0.1, 0.2, 0.3, 0.4)
ALPHA = 0.3
"""The bound of the first table of a section."""
DELTA = 0.05
REPETITIONS = 1000
Population = tuple[np.ndarray, np.ndarray, tuple[float, ...]]
"""(score, wrong, thresholds): all tasks there are."""


@dataclass(frozen=True, kw_only=True)
class Kept:
    """Shares of repetitions."""

    answering: float
    broken: float


def worst_case(*, alpha: float) -> Population:
    """Return tasks of ten scores, half of them of the strictest; at each score the share wrong is just above alpha."""
    each = 1000
    wrong = np.arange(each) < round(alpha * each) + 1
    return np.repeat(np.arange(10.0), [9 * each, *[each] * 9]), np.tile(wrong, 18), tuple(range(10))


def population(*, n_tasks: int, seed: int) -> Population:
    """Return tasks of simulated coders of every kind: incoherence of ten programs, and whether the answer is wrong."""
    rng = np.random.default_rng(seed)
    kinds, score, wrong = list(CODERS.values()), [], []
    for task in range(n_tasks):
        labels, counts = kinds[task % len(kinds)](rng).sample(10, 200, rng)
        answer = behaviour_clusters(labels, counts, [f"{i:03}" for i in rng.permutation(len(labels))])[0][0]
        score.append(incoherence(labels, counts))
        wrong.append(bool((labels[answer] != labels[0]).any()))
    return np.array(score), np.array(wrong), THRESHOLDS["incoherence"]


def kept_on(
    score: np.ndarray, wrong: np.ndarray, thresholds: tuple[float, ...], *, n_tasks: int, alpha: float, **options: Any
) -> Kept:
    """Return how often a threshold from ``n_tasks`` drawn independently breaks the bound on the whole population.

    ``options``: delta, repetitions, seed.
    """
    rng = np.random.default_rng(options["seed"])
    drawn = rng.integers(len(score), size=(options["repetitions"], n_tasks))
    counts = [one[drawn].sum(axis=1) for one in counts_at(score, wrong, thresholds)]
    chosen = loosest(*counts, alpha=alpha, delta=options["delta"])
    broken = share_broken(chosen, score, wrong, thresholds, alpha=alpha)
    return Kept(answering=float((chosen != NONE).mean()), broken=broken)


def main() -> None:
    """Write the tables of the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--inputs", nargs="+", default=["reference"], help="the sections to write, besides the first")
    sections = parser.parse_args().inputs
    simulated = Part(document=PAGE, begin="| population |", end="\n## ", make=_simulated)
    for part in (simulated, *(part for inputs in sections for part in _parts(inputs))):
        part.write()


def _parts(inputs: str) -> tuple[Part, Part]:
    """Return the two tables of the section on recorded tasks with these inputs."""
    study = dt.open(inputs=inputs)
    of_section: dict[str, Any] = {"document": PAGE, "heading": f"## Recorded tasks: inputs `{inputs}`"}
    end = "" if inputs == "tests" else "\n## "  # the last section
    return (
        Part(begin="| benchmark | model |", end="\n### ", make=lambda: agreement_table(study), **of_section),
        Part(begin="**Of no model", end=end, make=lambda: _guarantees(study), **of_section),
    )


def _simulated() -> str:
    rows = []
    coders = population(n_tasks=2000, seed=0)
    for alpha in ALPHAS:
        for kind, made in (("just above", worst_case(alpha=alpha)), ("coders", coders)):
            for n_tasks in (75, 200):
                kept = kept_on(*made, n_tasks=n_tasks, alpha=alpha, delta=DELTA, repetitions=REPETITIONS, seed=n_tasks)
                rows.append([kind, f"{alpha:.0%}", str(n_tasks), percent(kept.answering), percent(kept.broken)])
    rows.sort(key=lambda row: row[0] == "coders")
    return table(["population", "alpha", "calibration tasks", "answering", "broken"], rows, texts=1)


def _guarantees(study: dt.Study) -> str:
    rows, largest = [], 0.0
    for signal in THRESHOLDS:
        for bound in ALPHAS:
            found = study.table("guarantee", signal=signal, alpha=bound, delta=DELTA).frame
            largest = max(largest, *found["broken"])
            rows += guarantee_rows(found, signal, bound)
    rows.sort(key=lambda row: row[:2])
    head = ["benchmark", "signal", "alpha", "answering", "coverage", "risk", "broken, mean", "broken, largest"]
    head += ["held out above, mean", "rejected, mean", "broken elsewhere"]
    said = f"**Of no model did more than {largest:.1%} of the halves break the bound, where {DELTA:.0%} are allowed.**"
    return f"{said}\n\n{table(head, rows, texts=2)}"


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
        percent(part["broken"].max()),
        percent(mean("held_out_above")),
        percent(mean("held_out_rejected")),
        percent(mean("transfer_broken") / answering if answering else None),
    ]


if __name__ == "__main__":
    main()
