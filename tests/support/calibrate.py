"""Write docs/calibration.md: how often every interval holds the true value, by kind of coder; run by make calibrate."""

import argparse
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from tqdm import tqdm

from difftrust.shipped import find_results
from difftrust_core.estimates.pool import load_pool, pool_names
from difftrust_core.store.store import Store
from tests.support.coverage import TASK_MEASURES, biases, over_inputs, over_programs, over_tasks
from tests.support.markdown import percent, table
from tests.support.simulated import CODERS, RARE, Coder, few_of

TARGET = Path(__file__).parents[2] / "docs" / "calibration.md"
SIZES = (5, 10, 50)
N = 1000
"""Inputs that recorded coders are simulated on."""
PER_KIND = 40
"""Coders drawn of each kind; each takes part in as many experiments."""
SHOWN = ("I", "I naive", "I chernoff", "E at least")

HEAD = """# Calibration

Simulated coders whose true error E and incoherence I are known, 95 % intervals; {experiments:,} experiments unless
stated otherwise (binomial error of a coverage of 95 %: {error:.1%}), {draws:,} draws an interval. Written by
`make calibrate`; `tests/metrics/intervals/test_calibration.py` repeats a small part.
[uncertainty.md](uncertainty.md) explains the intervals.

"""


OVER_PROGRAMS = """## Over programs: intervals for the LLM itself, n = 1,000 inputs

Coverage; `naive` is the interval over inputs, misused for the LLM; `chernoff` and `E at least` (one-sided)
are guaranteed. Recorded: coders that draw from the behaviours of real LLMs' programs, where they disagree.
"""


def main() -> None:
    """Write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--experiments", type=int, default=2000)
    parser.add_argument("--store", type=Path, default=find_results(), help="whose coders are simulated too")
    parser.add_argument("--draws", type=int, default=200)
    options = parser.parse_args()
    kinds = _kinds(options.store)
    text = HEAD.format(
        experiments=options.experiments, error=np.sqrt(0.95 * 0.05 / options.experiments), draws=options.draws
    )
    text += _programs(kinds, options.experiments, options.draws)
    text += _inputs(kinds["all simulated kinds together"], options.experiments)
    text += _tasks(options.experiments)
    text += _biases(options.experiments)
    TARGET.write_text(text)


def _kinds(store: Path) -> dict[str, list[Coder]]:
    rng = np.random.default_rng(0)
    kinds = {name: [make(rng) for _ in range(PER_KIND)] for name, make in CODERS.items()}
    together = [kind[i] for i in range(PER_KIND) for kind in kinds.values()]
    kinds = {"all simulated kinds together": together} | kinds
    kinds |= {name: [coder] for name, coder in RARE.items()}
    matrices = list(_matrices(Store.open(store)))
    for n_models in (1, 2, 5, 15):
        kinds[f"recorded: {n_models} LLM{'s' * (n_models > 1)} as one coder"] = _recorded(matrices, n_models, rng)
    return kinds


Recorded = tuple[np.ndarray, np.ndarray, int]
"""(labels, counts of each model (n_models, n_behaviours), row of the reference) of one task."""


def _matrices(store: Store) -> Iterator[Recorded]:
    for name in pool_names(store):
        pool = load_pool(store, name)
        for index, task in enumerate(pool.tasks):
            if task.reference is None:
                continue
            known = np.flatnonzero(task.reach >= N)  # the others were not executed that far
            row_of = {row: i for i, row in enumerate(known.tolist())}
            counts = []
            for members in pool.members.values():
                rows = [row_of[row] for row in members.row[members.task == index].tolist() if row in row_of]
                if rows:
                    counts.append(np.bincount(rows, minlength=len(known)))
            labels = task.labels["paper"][known][:, task.pattern_of_input[:N]].astype(np.int64)
            yield labels, np.array(counts), row_of[task.reference]


def _recorded(matrices: list[Recorded], n_models: int, rng: np.random.Generator) -> list[Coder]:
    """Return coders that draw from all recorded programs of ``n_models`` LLMs, of tasks where these disagree."""
    coders: list[Coder] = []
    while len(coders) < 10 * PER_KIND:
        labels, counts, reference = matrices[rng.integers(len(matrices))]
        if len(counts) < n_models:
            continue
        k = counts[rng.choice(len(counts), n_models, replace=False)].sum(axis=0)
        if (k > 0).sum() < 2:
            continue
        rows = np.concatenate([[reference], np.flatnonzero((k > 0) & (np.arange(len(k)) != reference))])
        coder = Coder(shares=k[rows] / k.sum(), labels=labels[rows])
        if coder.incoherence() > 0:
            coders.append(coder)
    return coders


def _programs(kinds: dict[str, list[Coder]], experiments: int, draws: int) -> str:
    text = OVER_PROGRAMS
    for m in SIZES:
        rows = []
        for kind, coders in tqdm(kinds.items(), desc=f"m = {m}"):
            n_experiments = _experiments(kind, experiments)
            found = over_programs(coders, m=m, n=1000, experiments=n_experiments, seed=m, draws=draws, names=SHOWN)
            shown = [percent(found[name].coverage) for name in SHOWN]
            rows.append([kind, f"{n_experiments:,}", *shown, f"{found['I'].width:.2f}"])
        text += f"\n### m = {m}\n\n" + table(["coder", "experiments", *SHOWN, "width of I"], rows)
    return text + "\n"


def _experiments(kind: str, experiments: int) -> int:
    """Return how many experiments a row rests on: all for what is claimed, fewer for what only shows the spread."""
    if kind.startswith("all"):
        return experiments
    return experiments // 2 if kind.startswith("recorded") else experiments // 10


def _inputs(coders: list[Coder], experiments: int) -> str:
    names = ("I calibrated", "I chernoff", "I hoeffding")
    rows = []
    for n in (50, 100, 1000):
        found = over_inputs(coders, m=10, n=n, experiments=experiments, seed=n)
        rows.append([str(n), *[f"{percent(found[name].coverage)} ({found[name].width:.3f})" for name in names]])
    text = "## Over inputs: intervals for ten given programs that disagree somewhere\n\nCoverage (mean width).\n\n"
    return text + table(["n", *names], rows) + "\n"


def _tasks(experiments: int) -> str:
    rows = []
    for n_tasks in (50, 150, 400):
        found = over_tasks(TASK_MEASURES, n_tasks=n_tasks, experiments=experiments, seed=n_tasks, resamples=1000)
        rows.append([str(n_tasks), *[f"{percent(tally.coverage)} ({tally.width:.3f})" for tally in found.values()]])
    text = "## Over tasks: cells of a table\n\nCoverage (mean width).\n\n"
    return text + table(["tasks", *[" ".join(key) for key in TASK_MEASURES]], rows) + "\n"


def _biases(experiments: int) -> str:
    coder = few_of(6, 1)(np.random.default_rng(7))
    text = "## Bias of the estimators\n\nSix behaviours with shares like 1/rank; mean estimate minus true value\n"
    text += "(standard error). V is I (m-1)/m by definition. No experiment had I > 2E, or E = 0 < I.\n\n"
    rows: dict[str, list[str]] = {}
    for m, n in ((5, 50), (10, 200), (50, 1000)):
        for name, (truth, mean, error) in biases(coder, m=m, n=n, experiments=experiments, seed=m).items():
            rows.setdefault(name, [name]).append(f"{mean - truth:+.4f} ({error:.4f})")
    return text + table(["estimator", "m = 5, n = 50", "m = 10, n = 200", "m = 50, n = 1,000"], list(rows.values()))


if __name__ == "__main__":
    main()
