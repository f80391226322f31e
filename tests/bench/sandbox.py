"""What the sandbox costs over a bare loop: `make bench-sandbox` (or `python -m tests.bench.sandbox --help`).

Ordinary programs are those that load as they are, neither hang nor crash, and take at most 50 us a call. CPU time is
that of all processes: host, zygote and children; the start of the sandbox is part of it.
"""

import argparse
import os
import random
import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import polars as pl

from difftrust.demo.simulated import SIMULATED, sample_simulated
from difftrust_core.base.records import Kind
from difftrust_core.base.task import Task
from difftrust_core.datasets.benchmarks import load_benchmark
from difftrust_core.languages.python.fuzz import sample_input
from difftrust_core.languages.python.identity import tree_id
from difftrust_core.sandbox.host import Limits, OutcomeTable, Sandbox
from tests.bench.processes import own_cpu

FLOOR = (Path(__file__).parent / "floor.py").read_text()
PATIENT = Limits(call_cpu=3600, call_wall=3600, program_cpu=3600, program_wall=3600, memory_bytes=8 << 30)
ORDINARY_KINDS = {Kind.VALUE, Kind.EXCEPTION, Kind.UNSUPPORTED}
ORDINARY_CALL = 50e-6
"""CPU seconds."""
STACKS = {"all layers": frozenset({"bubblewrap", "landlock", "seccomp"}), "no layer": frozenset()}


@dataclass(frozen=True, kw_only=True)
class Work:
    """One task's ordinary programs and inputs."""

    task: Task
    inputs: list[str]
    sources: list[str]


def _candidates(rng: random.Random) -> dict[tuple[str, str], list[str]]:
    """Return texts of recorded candidates by task; of simulated ones where no recorded ones are at hand."""
    path = Path(os.environ.get("DIFFTRUST_DATA", "../shared/data")) / "difftrust" / "candidates.parquet"
    if not path.is_file():
        tasks = [t for t in load_benchmark("starter") if t.reference is not None]
        return {
            (t.benchmark, t.task_id): [
                c.code for model in SIMULATED for c in sample_simulated(t, model, temperature=1.0, m=20)
            ]
            for t in tasks
        }
    os.environ.setdefault("DIFFTRUST_DATA", str(path.parent.parent))
    chosen = pl.scan_parquet(path).filter(temperature=0.6).filter(pl.col("sample_index") < 10)
    keys = chosen.select("benchmark", "task_id").unique().sort("benchmark", "task_id").collect().rows()
    picked = rng.sample(keys, min(len(keys), 60))
    rows = chosen.filter(pl.struct("benchmark", "task_id").is_in([{"benchmark": b, "task_id": t} for b, t in picked]))
    found: dict[tuple[str, str], list[str]] = {}
    for benchmark, task_id, code in rows.select("benchmark", "task_id", "code").collect().iter_rows():
        found.setdefault((benchmark, task_id), []).append(code)
    return {key: sorted(found[key]) for key in picked}


def _ordinary(task: Task, codes: Sequence[str], n: int, sandbox: Sandbox, rng: random.Random, most: int) -> Work | None:
    """Return up to ``most`` distinct programs that load and neither hang nor crash, and n inputs with a value."""
    seeds = task.arguments()
    drawn = [sample_input(task.task_id, seeds, seed=0, position=i, attempt=a) for a in range(2) for i in range(n)]
    right, _ = sandbox.outcomes(task.preamble, drawn, task.reference or "", task.entry_point)
    valid = [text for text, (kind, _) in zip(drawn, right, strict=True) if kind is Kind.VALUE]
    inputs = (valid * (n // max(1, len(valid)) + 1))[:n] if valid else []
    if not inputs:
        return None
    table = OutcomeTable.empty(n)
    sandbox.load(task.preamble, inputs, table)
    distinct = list({tree_id(code): code for code in codes}.values())
    kept = []
    for code in rng.sample(distinct, len(distinct)):
        if len(kept) == most:
            break
        ran = sandbox.run(code, task.entry_point)
        kinds = {kind for kind, _ in table.chosen(ran.outcome_ids)}
        if ran.restarts == 0 and not ran.trimmed and kinds <= ORDINARY_KINDS and ran.cpu < n * ORDINARY_CALL:
            kept.append(code)
    return Work(task=task, inputs=inputs, sources=kept) if kept else None


def gather(n_programs: int, n: int, *, seed: int, per_task: int = 50) -> list[Work]:
    """Return the work: about ``n_programs`` ordinary programs, ``per_task`` a task."""
    rng, work, left = random.Random(seed), [], n_programs
    candidates = _candidates(rng)
    tasks = {(t.benchmark, t.task_id): t for b in {b for b, _ in candidates} for t in load_benchmark(b)}
    with Sandbox(Limits(program_cpu=0.5)) as sandbox:
        for key, codes in candidates.items():
            if left <= 0:
                break
            if key not in tasks or not tasks[key].seed_inputs or tasks[key].reference is None:
                continue
            found = _ordinary(tasks[key], codes, n, sandbox, rng, min(per_task, left))
            if found:
                work.append(found)
                left -= len(found.sources)
    return work


def run_floor(work: Sequence[Work]) -> float:
    """Run the bare loop over all work; return the seconds of its own CPU clock, not what starting it takes."""
    seconds = 0.0
    with Sandbox(PATIENT) as sandbox:
        for w in work:
            arguments = (w.task.preamble, tuple(w.inputs), w.task.entry_point, tuple(w.sources))
            ((kind, text),), _ = sandbox.outcomes("", [repr(arguments)], FLOOR, "floor")
            if kind is not Kind.VALUE:
                raise SystemExit(f"the bare loop failed on {w.task.task_id}: {kind.name} {text}")
            seconds += float(text)
    return seconds


def run_sandbox(work: Sequence[Work], layers: frozenset[str]) -> tuple[float, float]:
    """Run all work as ``difftrust execute`` does: one zygote, a fork a task, a child a program; return CPU and wall."""
    cpu, wall = own_cpu(), time.perf_counter()
    with Sandbox(Limits(), allow_weak=True, wanted=layers) as sandbox:
        for w in work:
            sandbox.load(w.task.preamble, w.inputs, OutcomeTable.empty(len(w.inputs)))
            for source in w.sources:
                sandbox.run(source, w.task.entry_point)
    return own_cpu() - cpu, time.perf_counter() - wall


def report(work: Sequence[Work], n: int, rounds: int) -> None:
    """Print the comparison at n inputs, the smallest CPU time of ``rounds`` interleaved rounds each."""
    work = [replace(w, inputs=(w.inputs * (n // len(w.inputs) + 1))[:n]) for w in work]
    programs = sum(len(w.sources) for w in work)
    calls = programs * n
    floors, runs = [], {name: list[tuple[float, float]]() for name in STACKS}
    for _ in range(rounds):
        floors.append(run_floor(work))
        for name, layers in STACKS.items():
            runs[name].append(run_sandbox(work, layers))
    floor = min(floors)
    print(f"\n{programs} programs of {len(work)} tasks, n = {n}: {calls:,} calls; smallest of {rounds} rounds")
    print(f"  bare loop   {floor:7.2f} s CPU, {1e6 * floor / calls:6.2f} us a call")
    for name, spent in runs.items():
        cpu, wall = (min(values) for values in zip(*spent, strict=True))
        more = cpu - floor
        fixed = 1e3 * (more - 0.5e-6 * calls) / programs
        print(f"  {name:11s} {cpu:7.2f} s CPU, {wall:.2f} s wall: {cpu / floor:.2f} times the loop")
        print(f"              on top: {1e3 * more / programs:.2f} ms a program, {1e6 * more / calls:.2f} us a call;")
        print(f"              of that beyond 0.5 us a call: {fixed:.2f} ms a program")
    paired = [a[0] / b[0] for a, b in zip(*runs.values(), strict=True)]
    low, high = 100 * (min(paired) - 1), 100 * (max(paired) - 1)
    print(f"  all layers cost {100 * (statistics.median(paired) - 1):+.1f} % ({low:+.1f} to {high:+.1f} by round)")


def main() -> None:
    """Gather the work and report on it at each n."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--programs", type=int, default=500)
    parser.add_argument("--inputs", type=int, nargs="+", default=[1000, 10000])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    work = gather(asked.programs, 1000, seed=asked.seed)
    for n in asked.inputs:
        report(work, n, asked.rounds)


if __name__ == "__main__":
    main()
