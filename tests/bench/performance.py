"""Everything that the documentation says of speed: `make bench` (or `python -m tests.bench.performance --help`).

Works on recorded candidates (DIFFTRUST_DATA), of 16 models at t = 0.6 the first ten; where they are not at hand, on
simulated coders and the starter benchmark, which says how the figures are made and little of their size.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from difftrust.shipped import find_results
from difftrust.tables.grid import table_3
from difftrust.tables.request import TableRequest
from difftrust_core.estimates.measures import ablation
from difftrust_core.estimates.pool import Pool, load_pool, pool_names
from difftrust_core.estimates.queries import connect
from difftrust_core.store.store import Store
from tests.bench.figures import Figure, figure_of, in_markdown, read_figures, timed, write_figures
from tests.bench.growth import run_growth
from tests.bench.processes import run_well
from tests.bench.table_4 import run_as_published, run_bare_loop, run_grid, run_table_4

TITLES = {
    "a": "Table 4 end to end: every distinct program on 1,000 inputs, once",
    "b": "Against a bare loop over the same programs and inputs in one process, without isolation",
    "c": "Against the sampling of the published pipeline, on a random sample of (model, task) pairs",
    "d": "Table 3's grid of m, temperature and n",
    "e": "Growth",
    "f": "Questions to the shipped results",
    "g": "Start of the command line",
}
DOCUMENT = Path(__file__).parents[2] / "docs" / "performance.md"
FIGURES = DOCUMENT.with_suffix(".parquet")
MODELS_THAT_GROW = ("gpt_4o", "gpt_3_5", "claude_3_haiku", "llama_3_1_8b_instruct")
_RECORDED = ("import", "difftrust", "--temperature", "0.6")
_SIMULATED = ("generate", "--benchmark", "starter", *(f"--model=simulated/{name}" for name in ("strong", "weak")))


_CODER = ("gpt_4o", 0.6)
_LOAD = """
import sys, time
from pathlib import Path
from difftrust_core.estimates.pool import load_pool
from difftrust_core.store.store import Store
began = time.perf_counter()
load_pool(Store.open(Path(sys.argv[1])), sys.argv[2])
print(time.perf_counter() - began)
"""


def _pools(results: Path) -> dict[str, Pool]:
    store = Store.open(results)
    return {name: load_pool(store, name) for name in pool_names(store)}


def run_latencies(results: Path, runs: int) -> list[Figure]:
    """Ask the shipped results: (f)."""
    pools, connection = _pools(results), connect(Store.open(results))
    asked = TableRequest(store=results)
    name, pool = sorted(pools.items())[0]
    settings = [(m, n) for m in (2, 5, 10, 20, 50) for n in (10, 100, 1_000)]
    points = [seconds for m, n in settings for seconds in timed(lambda m=m, n=n: ablation(pool, [_CODER], m=m, n=n), 1)]
    model, temperature = _CODER
    sql = f"SELECT * FROM ablation_summary('{model}', '{name}', {temperature}, 10, 1000)"
    command = [sys.executable, "-c", _LOAD, str(results), name]
    cold = [float(subprocess.run(command, capture_output=True, check=True).stdout) for _ in range(runs)]
    in_sql = timed(lambda: connection.execute(sql).fetchall(), runs)
    return [
        figure_of("f", f"behaviours of {name} read, in a new process", [1e3 * s for s in cold], "ms"),
        figure_of("f", "one (model, benchmark, m, n), all measures", [1e3 * s for s in points], "ms"),
        figure_of("f", "Table 3 whole", timed(lambda: table_3(pools, asked), runs), "s"),
        figure_of("f", "one setting in SQL", [1e3 * s for s in in_sql], "ms"),
        *(
            figure_of("f", f"`difftrust table {number}`, from its start", walls, "s")
            for number in ("3", "4")
            for walls in [_walls("table", number, "--store", str(results), runs=min(runs, 3))]
        ),
    ]


def table_3_seconds(results: Path, runs: int) -> list[float]:
    """Return the seconds of Table 3 from behaviours that were read before."""
    pools, asked = _pools(results), TableRequest(store=results)
    table_3(pools, asked)
    return timed(lambda: table_3(pools, asked), runs)


def run_starts(runs: int) -> list[Figure]:
    """Start the command line: (g)."""
    return [
        figure_of("g", f"`difftrust {option}`", [1e3 * s for s in _walls(option, runs=runs)], "ms")
        for option in ("--help", "--version")
    ]


def _walls(*arguments: str, runs: int) -> list[float]:
    command = [str(Path(sys.executable).with_name("difftrust")), *arguments]
    return timed(lambda: subprocess.run(command, capture_output=True, check=True), runs)


def measure(folder: Path, asked: argparse.Namespace) -> list[Figure]:
    """Measure the parts that were asked for."""
    difftrust = str(Path(sys.executable).with_name("difftrust"))
    recorded = (Path(os.environ.get("DIFFTRUST_DATA", "../shared/data")) / "difftrust").is_dir()
    figures: list[Figure] = []
    if set("abcd") & set(asked.parts):
        fill = (*(_RECORDED if recorded else _SIMULATED), "-m", str(asked.m))
        found, executed = run_table_4(difftrust, folder / "table-4", fill, asked.jobs)
        figures += _said(found)
        store = Store.open(folder / "table-4")
        if "b" in asked.parts:
            figures += _said(run_bare_loop(store, executed, asked.jobs))
        if set("cd") & set(asked.parts):
            found, seconds = run_as_published(
                store, executed, n_pairs=asked.pairs, n_processes=asked.jobs, seed=asked.seed
            )
            figures += _said(found)
            n_tasks = store.read("inputs").select("benchmark", "task_id").unique().height
            figures += _said(run_grid(seconds, n_tasks, asked.jobs, table_3_seconds(find_results(), asked.runs)))
    if "e" in asked.parts:
        models = [f"--model={name}" for name in MODELS_THAT_GROW]
        fill = (*_RECORDED, *models, "-m", "50") if recorded else (*_SIMULATED, "-m", "50")
        source = folder / "growth"
        run_well([difftrust, *fill, "--store", str(source)])
        figures += _said(run_growth(Store.open(source), folder, jobs=asked.jobs, seed=asked.seed))
    if "f" in asked.parts:
        figures += _said(run_latencies(find_results(), asked.runs))
    if "g" in asked.parts:
        figures += _said(run_starts(2 * asked.runs))
    return figures


def _said(figures: list[Figure]) -> list[Figure]:
    print(f"\n{TITLES[figures[0].part]}\n\n{in_markdown(figures)}", flush=True)
    return figures


def document(figures: Sequence[Figure], measured_on: Mapping[str, str]) -> str:
    """Return docs/performance.md."""
    parts = dict.fromkeys(figure.part for figure in figures)
    on = ", ".join(f"{name} {value}" for name, value in measured_on.items())
    sections = [
        f"## {TITLES[part]}\n\n{in_markdown([figure for figure in figures if figure.part == part])}" for part in parts
    ]
    return "\n".join([_HEAD.format(on=on), *sections])


_HEAD = """# Performance

Made by `make bench`: one machine, one run. Ratios are comparable, seconds depend on the machine.
Measured on: {on}.

tests/bench/yardstick.py implements the published sampling from its description: two executions per input for
incoherence, two for error, in two threads with a time limit, repeated for each m and n, no isolation; a pair that takes
over 60 s is dropped at 60 s. Programs are loaded once per pair, in its favour; the few pairs that hang dominate the
mean, hence the wide interval. Threads of one process share one core in Python, so "as described" leaves the others
idle; the table also has one process per core. Slopes are those of a log-log line: 1 means that twice the work takes
twice the time; tasks grow by copies of the same ten.
"""


def main() -> None:
    """Measure, print, and write the table and docs/performance.md."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--parts", default="abcdefg", help="a subset of abcdefg; only all of them are written")
    parser.add_argument("-m", type=int, default=10, help="programs a task and coder")
    parser.add_argument("--pairs", type=int, default=100)
    parser.add_argument("--runs", type=int, default=5, help="of what is timed again and again")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    beside = Path(__file__).resolve().parents[3] / "shared" / "data"
    if (beside / "difftrust" / "candidates.parquet").exists():
        os.environ.setdefault("DIFFTRUST_DATA", str(beside))
    with tempfile.TemporaryDirectory() as folder:
        figures = measure(Path(folder), asked)
    if set(asked.parts) >= set(TITLES):
        write_figures(figures, FIGURES)
        write_document()


def write_document() -> None:
    """Write docs/performance.md from the figures of the last `make bench`."""
    DOCUMENT.write_text(document(*read_figures(FIGURES)))


if __name__ == "__main__":
    main()
