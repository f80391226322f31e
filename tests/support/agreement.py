"""Write docs/agreement.md: what agreement is worth, and how often its bound is kept; run by make agreement.

python -m tests.support.agreement [--inputs reference domain tests] [--references audited] [--alpha 0.3]
"""

import argparse
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import difftrust as dt
from difftrust.research.selective import NONE, THRESHOLDS, counts_at, loosest, share_broken
from difftrust.tables.names import display_name
from difftrust_core.metrics.estimates import behaviour_clusters, incoherence
from tests.support.markdown import percent, table
from tests.support.simulated import CODERS

TARGET = Path(__file__).parents[2] / "docs" / "agreement.md"
ALPHAS = (0.05, 0.1, 0.2, 0.3, 0.4)
ALPHA = 0.3
"""The bound of the first table of a section."""
DELTA = 0.05
REPETITIONS = 1000
HEAD = """# How often programs that agree are wrong

Ten programs of one model agree on a task: is their answer right? This page counts how often it is, and which bound on
the share of wrong answers can be guaranteed. Written by `make agreement`; `tests/research/test_selective_risk.py`
repeats a small part of the simulation.

- **Answer**: the behaviour of most of the programs (the largest cluster; of equally large ones the one sampled
  first). A task is *answered* where a signal is at a threshold or stricter: incoherence, the share of the
  largest cluster, or the number of clusters.
- **Wrong**: the answer differs from the reference on any of the n inputs. Each section says which inputs: those that
  the reference accepts (`reference`), those inside the task's domain (`domain`), or the benchmark's own tests
  (`tests`). They and the reference may be faulty.
- **Coverage**: answered tasks of all. **Risk**: wrong answers of the answered. Intervals are exact (Clopper-Pearson).

`difftrust table agreement` and `difftrust table guarantee` print this for any store (`--model`, `--signal`, `--alpha`,
`--delta`, `--inputs`, `--references`); `difftrust figure risk-coverage` draws risk against coverage.

## The guarantee

With probability at least 1 - delta, the risk at the chosen threshold is at most alpha. Thresholds are fixed in
advance and are tested on calibration tasks from strict to loose, each at level delta, by the exact binomial
test of "the risk is above alpha"; the last one before a test fails is chosen, and if the first one fails nothing is
answered (Learn then Test with fixed-sequence testing, Angelopoulos, Bates, Candes, Jordan & Lei 2021). It holds
for tasks drawn like the calibration tasks: the same benchmark, model, temperature and m.

## Simulated tasks, whose true risk is known

{repetitions:,} repetitions with delta = {delta}: calibration tasks are drawn independently from a population.
*Answering*: share of repetitions that find a threshold. *Broken*: share whose threshold has a risk above alpha in the
population, at most {delta:.0%} by the guarantee (binomial error {error:.1%}). *Just above*: at every threshold the risk
is alpha + 0.1 points, the hardest case. *Coders*: 2,000 tasks of the {kinds} kinds of simulated coders of
[calibration.md](calibration.md), ten programs each, by incoherence.

"""
RECORDED = """## Recorded tasks: inputs `{inputs}`, references `{references}`

16 models at t = 0.6, m = 10, n = 1,000, the published task set.

### Where all ten programs agree, and a threshold from half of the tasks

Bound: risk at most {alpha:.0%} with probability {sure:.0%}, by incoherence. *Threshold*: from a random half of the
tasks, another one for each row (none: no threshold has the guarantee, so nothing is answered). *Held out*: the other
half. *Transfer*: all tasks of the other benchmark, at the same threshold.

"""
SPLITS = """
### Over 1,000 random halves

Each half gives a threshold, which is tested on the other half; a row is over the models of a benchmark. **Of no
model did more than {largest:.1%} of the halves break the bound, where {delta:.0%} are allowed.**

- *Answering*: share of halves with a threshold. *Coverage*, *risk*: on the other halves.
- *Broken*: share of halves whose threshold has a risk above alpha on the whole benchmark, which is here the population.
  The guarantee is for every model, so the largest is shown beside the mean. All halves count, also those without a
  threshold, which answer nothing: where few halves have one, a larger part of these breaks the bound.
- *Held out above*: share of halves whose other half has more than alpha wrong. This alone does not break the bound: the
  share wrong of a few dozen answered tasks scatters around their risk, so where the risk is just below alpha, nearly
  half of such samples lie above it; and a half with few wrong answers leaves many to the other half.
- *Rejected*: share of halves whose other half is so bad that an exact test at 5 % rejects a risk of at most alpha: with
  this tolerance at most {rejected:.0%} are expected, on average over benchmarks drawn like this one.
- *Broken elsewhere*: of the halves with a threshold, those at whose threshold the other benchmark has a risk above
  alpha. The guarantee does not cover another benchmark, and it does not hold from the easier to the harder one.

"""
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
    """Write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--inputs", nargs="+", default=["reference"], help="a section for each")
    parser.add_argument("--references", default="published")
    parser.add_argument("--alpha", type=float, default=ALPHA, help="the bound of the first table of a section")
    options = parser.parse_args()
    text = HEAD.format(
        repetitions=REPETITIONS, delta=DELTA, error=np.sqrt(DELTA * (1 - DELTA) / REPETITIONS), kinds=len(CODERS)
    )
    text += _simulated()
    for inputs in options.inputs:
        text += "\n" + RECORDED.format(
            inputs=inputs, references=options.references, alpha=options.alpha, sure=1 - DELTA
        )
        text += _recorded(dt.open(inputs=inputs, references=options.references), options.alpha)
    TARGET.write_text(text)


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


def _recorded(study: dt.Study, alpha: float) -> str:
    text = agreement_table(study, alpha)
    rows, largest = [], 0.0
    for signal in THRESHOLDS:
        for bound in ALPHAS:
            found = study.table("guarantee", signal=signal, alpha=bound, delta=DELTA).frame
            largest = max(largest, *found["broken"])
            rows += guarantee_rows(found, signal, bound)
    rows.sort(key=lambda row: row[:2])
    head = ["benchmark", "signal", "alpha", "answering", "coverage", "risk", "broken, mean", "broken, largest"]
    head += ["held out above, mean", "rejected, mean", "broken elsewhere"]
    text += SPLITS.format(delta=DELTA, largest=largest, rejected=DELTA + 0.05)
    return text + table(head, rows, texts=2)


def agreement_table(study: dt.Study, alpha: float = ALPHA) -> str:
    """Return the first table of a section: a row a model."""
    shown = study.table("agreement", alpha=alpha, delta=DELTA).frame
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
