"""Parts f and g of `make bench`: what a question to a store takes, and the start of the command line."""

import subprocess
import sys
from pathlib import Path

from difftrust_core.analysis.ablation.grid import table_3
from difftrust_core.analysis.ablation.measures import ablation
from difftrust_core.analysis.pools import load_pool, pool_names
from difftrust_core.analysis.queries import connect
from difftrust_core.store.store import Store
from tests.bench.figures import Figure, figure_of, timed

CODER = ("gpt_4o", 0.6)
_LOAD = """
import sys, time
from pathlib import Path
from difftrust_core.analysis.pools import load_pool
from difftrust_core.store.store import Store
began = time.perf_counter()
load_pool(Store.open(Path(sys.argv[1])), sys.argv[2])
print(time.perf_counter() - began)
"""


def run_latencies(results: Path, runs: int) -> list[Figure]:
    """Ask the shipped results: (f)."""
    store = Store.open(results)
    pools = {name: load_pool(store, name) for name in pool_names(store)}
    name, pool = sorted(pools.items())[0]
    settings = [(m, n) for m in (2, 5, 10, 20, 50) for n in (10, 100, 1_000)]
    points = [seconds for m, n in settings for seconds in timed(lambda m=m, n=n: ablation(pool, [CODER], m=m, n=n), 1)]
    connection = connect(store)
    model, temperature = CODER
    sql = f"SELECT * FROM ablation_summary('{model}', '{name}', {temperature}, 10, 1000)"
    cold = [_said([sys.executable, "-c", _LOAD, str(results), name]) for _ in range(runs)]
    return [
        figure_of("f", f"behaviours of {name} read, in a new process", [1e3 * s for s in cold], "ms"),
        figure_of("f", "one (model, benchmark, m, n), all measures", [1e3 * s for s in points], "ms"),
        figure_of("f", "Table 3 whole", timed(lambda: table_3(pools), runs), "s"),
        figure_of(
            "f", "one setting in SQL", [1e3 * s for s in timed(lambda: connection.execute(sql).fetchall(), runs)], "ms"
        ),
        figure_of("f", "`difftrust table 3`, from its start", _walls("table", "3", "--store", str(results)), "s"),
        figure_of("f", "`difftrust table 4`, from its start", _walls("table", "4", "--store", str(results)), "s"),
    ]


def table_3_seconds(results: Path, runs: int) -> list[float]:
    """Return the seconds of Table 3 from behaviours that were read before."""
    store = Store.open(results)
    pools = {name: load_pool(store, name) for name in pool_names(store)}
    table_3(pools)
    return timed(lambda: table_3(pools), runs)


def run_starts(runs: int) -> list[Figure]:
    """Start the command line: (g)."""
    return [
        figure_of("g", f"`difftrust {option}`", [1e3 * s for s in _walls(option, runs=runs)], "ms")
        for option in ("--help", "--version")
    ]


def _walls(*arguments: str, runs: int = 3) -> list[float]:
    command = [str(Path(sys.executable).with_name("difftrust")), *arguments]
    return timed(lambda: subprocess.run(command, capture_output=True, check=True), runs)


def _said(command: list[str]) -> float:
    return float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
