"""How commands grow with the tasks of a store: `make bench-scaling` (or `python -m tests.bench.scaling --help`).

A few starter tasks are executed, then copied under other names until there are as many as wanted: what is measured is
all that a command does but running programs. CPU time is that of all processes of the command, memory the most that
its first one held.
"""

import argparse
import os
import shlex
import shutil
import sys
import tempfile
from pathlib import Path

import numpy as np
import polars as pl

from difftrust_core.datasets.benchmarks import load_benchmark
from difftrust_core.estimates.refresh import refresh_estimates
from difftrust_core.store.imports import add_candidates
from difftrust_core.store.schemas import CHUNK_TABLES
from difftrust_core.store.store import Settings, Store, file_names, partition_of
from tests.bench.processes import Took, run_well
from tests.support.s3_server import BUCKET, S3, put_all
from tests.support.tiny import simulated

M, N = 10, 1000
N_EXECUTED = 20


def run(words: str) -> Took:
    """Run a command of difftrust and return what it took."""
    return run_well([Path(sys.executable).with_name("difftrust"), *shlex.split(words)])


def executed(root: Path) -> Store:
    """Make a store of a few tasks and execute it; say what a task takes."""
    tasks = load_benchmark("starter")[:N_EXECUTED]
    store = Store.create(root, Settings())
    add_candidates(store, simulated(tasks, "simulated/medium", m=M), {"starter": tasks}, n_jobs=1)
    command = f"execute --store {root} -n {N} --jobs 1"
    cpu = run(command).cpu - run(command).cpu  # the second one only looks
    programs = store.read("executions")
    print(
        f"{N_EXECUTED} tasks executed, m = {M}, n = {N:,}: {cpu / N_EXECUTED:.2f} s CPU a task with "
        f"{len(programs) / N_EXECUTED:.1f} programs, which took {programs['cpu_seconds'].sum() / N_EXECUTED:.2f}",
        flush=True,
    )
    return store


def grown(store: Store, root: Path, n_tasks: int) -> Store:
    """Make a store of ``n_tasks`` tasks, copies of those of ``store``."""
    made = Store.create(root, store.settings())
    times = -(-n_tasks // N_EXECUTED)
    for table in ("tasks", "programs", "candidates", *CHUNK_TABLES):
        for path in store.files(table):
            frame, where = store.read_file(table, path), partition_of(path, table)
            assert frame is not None
            copies = [frame.with_columns(pl.col("task_id") + f"-{i}") for i in range(times)]
            if table not in CHUNK_TABLES:
                made.write(table, pl.concat(copies), where, path.stem)
                continue
            for copy in copies:
                made.write(table, copy, {**where, "start": 0}, file_names(copy["task_id"][0])[0])
    with made.writing():
        refresh_estimates(made)
    return made


def size(root: Path, tables: tuple[str, ...] = ()) -> tuple[int, int]:
    """Return files and bytes of a store, or of some of its tables."""
    paths = [p for p in root.rglob("*") if p.is_file() and (not tables or p.relative_to(root).parts[0] in tables)]
    return len(paths), sum(p.stat().st_size for p in paths)


def measure(root: Path) -> dict[str, Took]:
    """Run each command on a store that is up to date and needs nothing."""
    execute, verify = f"execute --store {root} -n {N} --jobs 1", f"verify --store {root} --jobs 1"
    found = {"execute, nothing to do": run(execute)}
    (root / "estimates" / "reference.fingerprint").unlink()
    found["execute, estimates anew"] = run(execute)
    found["table 4"] = run(f"table 4 --store {root} --jobs 1")
    found["sql on disagreements"] = run(f"sql 'select count(*) from disagreements' --store {root}")
    found["verify"] = run(verify)
    found["compact"] = run(f"compact --store {root}")
    found["execute, nothing to do, after compact"] = run(execute)
    found["verify, after compact"] = run(verify)
    return found


def measure_url(root: Path, cache: Path) -> dict[str, Took]:
    """Run commands on the store at a real S3 of this machine: its mirror is made, found up to date, and sent to."""
    with S3() as server:
        os.environ.update({**server.environment, "DIFFTRUST_CACHE": str(cache)})
        import s3fs

        s3fs.S3FileSystem(skip_instance_cache=True).mkdir(BUCKET)
        put_all(root, "store")
        url = f"s3://{BUCKET}/store"
        question = f"sql 'select count(*) from estimates' --store {url}"
        found = {"sql at a URL, the first time": run(question)}
        found["sql at a URL, again"] = run(question)
        found["compact at a URL"] = run(f"compact --store {url}")
    shutil.rmtree(cache)
    return found


def main() -> None:
    """Measure stores of several sizes and print the slope a task of each command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tasks", type=int, nargs="+", default=[250, 1000, 4000])
    parser.add_argument("--url-tasks", type=int, nargs="+", default=[60, 250, 1000])
    parser.add_argument("--folder", type=Path, help="where to make the stores; else a temporary folder")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=given.folder) as folder:
        few = executed(Path(folder) / "few")
        found: list[dict[str, Took]] = []
        root = Path(folder) / "store"
        for n_tasks in given.tasks:
            grown(few, root, n_tasks)
            files, size_of_all = size(root)
            chunks = size(root, CHUNK_TABLES)[1]
            found.append(measure(root))
            after = size(root)
            print(
                f"{n_tasks:,} tasks: {files:,} files, {size_of_all / n_tasks / 1e3:.1f} kB a task "
                f"({chunks / n_tasks / 1e3:.1f} of them executed); after compact {after[0]:,} files, "
                f"{after[1] / n_tasks / 1e3:.1f} kB a task",
                flush=True,
            )
            shutil.rmtree(root)
        report(given.tasks, found)
        found = []
        for n_tasks in given.url_tasks:
            found.append(measure_url(grown(few, root, n_tasks).root, Path(folder) / "cache"))
            shutil.rmtree(root)
        report(given.url_tasks, found)


def report(sizes: list[int], found: list[dict[str, Took]]) -> None:
    """Print what each command took, and the slopes."""
    heads = "".join(f"{size:>9,}" for size in sizes)
    print(f"{'CPU seconds and MB at tasks:':<40}{heads}{'a task':>12}{heads}{'a task':>10}")
    for name in found[0]:
        cpu, memory = [one[name].cpu for one in found], [one[name].largest_mb for one in found]
        slope, growth = (float(np.polyfit(sizes, values, 1)[0]) for values in (cpu, memory))
        seconds, megabytes = "".join(f"{v:9.1f}" for v in cpu), "".join(f"{v:9.0f}" for v in memory)
        print(f"{name:<40}{seconds}{slope * 1e3:9.2f} ms{megabytes}{growth * 1e3:7.1f} kB")


if __name__ == "__main__":
    main()
