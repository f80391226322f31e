"""Check the domains in data/domains: `python -m tests.domains [check BENCHMARK | contracts | between BENCHMARK A B]`.

``check``: seed inputs inside, the reference's outcomes on 1,000 inputs inside, how they were drawn, seconds a task.
``contracts``: on 1,000 fuzzed inputs a task, how often the domain and the HumanEval+ contract judge alike.
``between``: the same for two files of domains of one benchmark, written independently, and Cohen's kappa.
"""

import gzip
import json
import os
import sys
import textwrap
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
from joblib import Parallel, delayed
from numpy.typing import NDArray

from difftrust_core.base.literals import read_literal
from difftrust_core.base.records import Kind
from difftrust_core.base.task import Task
from difftrust_core.datasets.benchmarks import load_benchmark
from difftrust_core.datasets.entries import load_domains
from difftrust_core.exceptions import DifftrustError
from difftrust_core.execution.jobs import ChunkJob
from difftrust_core.execution.validity import DomainDraws, sample_valid_inputs
from difftrust_core.languages.language import MAX_ATTEMPTS
from difftrust_core.languages.registry import language_of
from difftrust_core.sandbox.host import Limits, OutcomeTable, Sandbox
from difftrust_core.store.settings import Settings

N = 1000
_RETURNED = (Kind.VALUE, Kind.UNSUPPORTED)
Judgements = NDArray[np.bool_]


def fuzzed(task: Task, *, typed: bool, n: int = N) -> list[str]:
    """Return mutated seed inputs as they come (Table 6 of the paper), or in steps that keep the domain's types."""
    domain = language_of(task).domain(task)
    assert domain is not None
    seeds = [read_literal(text) for text in task.seed_inputs if domain.fits(text)]
    draw = domain.draw(seeds, 0) if typed else language_of(task).fuzz(task, 0)
    return [draw(position, 0) for position in range(n)]


def kinds_of(sandbox: Sandbox, task: Task, source: str, name: str, inputs: Sequence[str]) -> list[Kind]:
    """Return what a program does on the inputs."""
    table = OutcomeTable.empty(len(inputs))
    sandbox.load(language_of(task).preamble(task), inputs, table)
    run = sandbox.run(source, name)
    return [table.rows[i][code][0] for i, code in enumerate(run.outcome_ids.tolist())]


def by_domain(sandbox: Sandbox, task: Task, inputs: Sequence[str]) -> Judgements:
    """Return which inputs lie inside the task's domain."""
    draws = DomainDraws(task, sandbox, seed=0)
    domain = language_of(task).domain(task)
    assert domain is not None
    return draws.judge([text if domain.fits(text) else "" for text in inputs]).valid


def by_contract(sandbox: Sandbox, task: Task, contract: str, inputs: Sequence[str]) -> Judgements:
    """Return which inputs keep a contract: assertions on the arguments, as HumanEval+ has them."""
    parameters = task.signature.rpartition("->")[0].strip() or task.signature
    body = textwrap.indent(textwrap.dedent(contract).strip("\n"), "    ")
    source = f"from typing import *\nimport math\n\ndef keeps{parameters}:\n{body}\n    return True\n"
    return np.array([kind == Kind.VALUE for kind in kinds_of(sandbox, task, source, "keeps", inputs)])


def kappa(one: Judgements, other: Judgements) -> float:
    """Return Cohen's kappa: agreement beyond what two judges reach by chance."""
    alike = float((one == other).mean())
    chance = float(one.mean() * other.mean() + (1 - one.mean()) * (1 - other.mean()))
    return (alike - chance) / (1 - chance) if chance < 1 else 1.0


def spread(
    job: Callable[[Sandbox, Task], dict[str, object]], tasks: Iterable[Task], *, n_jobs: int = 2
) -> pl.DataFrame:
    """Run a job on every task, in processes with a sandbox each."""

    def some(part: Sequence[Task]) -> list[dict[str, object]]:
        with Sandbox(Limits()) as sandbox:
            return [{"task_id": task.task_id, **job(sandbox, task)} for task in part]

    listed = list(tasks)
    if n_jobs == 1:
        return pl.DataFrame(some(listed))
    parts = Parallel(n_jobs=n_jobs)(delayed(some)(listed[i : i + 8]) for i in range(0, len(listed), 8))
    return pl.DataFrame([row for part in parts for row in part])


def check_one(sandbox: Sandbox, task: Task, *, n: int = N) -> dict[str, object]:
    """Draw n inputs inside and run the reference on them."""
    began = time.monotonic()
    row: dict[str, object] = {"refused": "", "seeds_outside": 0, "distinct": 0, "draws": 0, "unjudged": 0, "raised": ""}
    try:
        row["seeds_outside"] = len(task.seed_inputs) - len(DomainDraws(task, sandbox, seed=0).seeds)
        job = ChunkJob(
            root=Path(), task=task, settings=Settings(validity="domain"), jury=(), limits=Limits(), allow_weak=False,
            holding=None, is_here=True, stop=n,
        )  # fmt: skip
        drawn = sample_valid_inputs(job, sandbox)
    except DifftrustError as e:
        return {**row, "refused": str(e), "seconds": time.monotonic() - began}
    texts, attempts = drawn.texts, drawn.attempts
    row |= {"distinct": len(set(texts)), "draws": sum(attempts), "unjudged": sum(a > MAX_ATTEMPTS for a in attempts)}
    row["seconds"] = time.monotonic() - began
    kinds = kinds_of(sandbox, task, task.reference or "", task.entry_point, texts)
    bad = [(kind.name.lower(), text) for kind, text in zip(kinds, texts, strict=True) if kind not in _RETURNED]
    if bad:
        row["raised"] = f"{len(bad)}: {bad[0][0]} on {min((text for _, text in bad), key=len)[:150]}"
    return row


def contracts() -> dict[str, str]:
    """Return the HumanEval+ contracts by task."""
    path = Path(os.environ["DIFFTRUST_DATA"]) / "evalplus" / "HumanEvalPlus-2023.jsonl.gz"
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    return {row["task_id"]: row["contract"] for row in rows if row["contract"].strip()}


def against_contracts(*, typed: bool) -> pl.DataFrame:
    """Return, for each HumanEval task with a contract, how often both judge alike, and an input where they do not."""
    by_id = contracts()

    def one(sandbox: Sandbox, task: Task) -> dict[str, object]:
        inputs = fuzzed(task, typed=typed)
        contract = by_contract(sandbox, task, by_id[task.task_id], inputs)
        return _alike(inputs, by_domain(sandbox, task, inputs), contract)

    tasks = [t for t in load_benchmark("HumanEval") if t.task_id in by_id and t.seed_inputs and t.domain]
    return spread(one, tasks).sort("alike")


def between(benchmark: str, first: Path, second: Path) -> pl.DataFrame:
    """Return, for each task, how often two files of domains judge alike."""
    a, b = load_domains(first), load_domains(second)

    def one(sandbox: Sandbox, task: Task) -> dict[str, object]:
        mine, other = (replace(task, domain=domains[task.task_id]) for domains in (a, b))
        inputs = fuzzed(mine, typed=False)
        return _alike(inputs, by_domain(sandbox, mine, inputs), by_domain(sandbox, other, inputs))

    tasks = [t for t in load_benchmark(benchmark) if t.task_id in a and t.task_id in b and t.seed_inputs]
    return spread(one, tasks).sort("alike")


def _alike(inputs: Sequence[str], first: Judgements, second: Judgements) -> dict[str, object]:
    only_first = min((t for t, a, b in zip(inputs, first, second, strict=True) if a and not b), key=len, default="")
    only_second = min((t for t, a, b in zip(inputs, first, second, strict=True) if b and not a), key=len, default="")
    return {
        "alike": float((first == second).mean()),
        "both": int((first & second).sum()), "first": int(first.sum()), "second": int(second.sum()),
        "only_first": only_first[:160], "only_second": only_second[:160],
    }  # fmt: skip


def say_agreement(found: pl.DataFrame) -> None:
    """Print the agreement of two judges over all tasks, and the tasks on which they agree least."""
    n = N * found.height
    first, second, both = (int(found[name].sum()) for name in ("first", "second", "both"))
    alike = (n - first - second + 2 * both) / n
    chance = (first * second + (n - first) * (n - second)) / n**2
    share = (found["alike"] >= 0.95).mean()
    print(f"{found.height} tasks, {n:,} inputs: {alike:.4f} judged alike, kappa {(alike - chance) / (1 - chance):.3f}")
    print(f"a task: median {found['alike'].median():.3f}, {share:.3f} of the tasks at least .95")
    for row in found.filter(pl.col("alike") < 0.95).iter_rows(named=True):
        print(
            f"{row['task_id']}: {row['alike']:.3f} (inside {row['first']} and {row['second']}); "
            f"first only {row['only_first'] or '-'}; second only {row['only_second'] or '-'}"
        )


def say_check(found: pl.DataFrame) -> bool:
    """Print what a check found; tell whether every domain holds what it must."""
    exhausted = found.filter(pl.col("distinct") == N)
    drawn = found.filter(pl.col("refused") == "")
    print(
        f"{found.height} tasks; distinct inputs of {N}: median {found['distinct'].median():.0f}, "
        f"{exhausted.height} tasks have {N}; draws rejected {1 - N * drawn.height / drawn['draws'].sum():.3f}; "
        f"seconds a task: median {found['seconds'].median():.2f}, most {found['seconds'].max():.2f}"
    )
    bad = (
        (pl.col("refused") != "")
        | (pl.col("seeds_outside") > 0)
        | (pl.col("raised") != "")
        | (pl.col("unjudged") > 100)
    )
    for row in found.filter(bad).iter_rows(named=True):
        print(
            f"{row['task_id']}: { ({k: v for k, v in row.items() if v and k not in ('task_id', 'draws', 'seconds')}) }"
        )
    return found.filter(bad).is_empty()


if __name__ == "__main__":
    os.environ.setdefault("DIFFTRUST_DATA", str(Path(__file__).resolve().parents[2] / "shared" / "data"))
    match sys.argv[1:]:
        case ["check", benchmark, *ids]:
            tasks = [t for t in load_benchmark(benchmark) if t.seed_inputs and t.domain]
            sys.exit(0 if say_check(spread(check_one, [t for t in tasks if not ids or t.task_id in ids])) else 1)
        case ["contracts"]:
            for typed in (False, True):
                print("inputs that keep the types:" if typed else "inputs as they are mutated:")
                say_agreement(against_contracts(typed=typed))
        case ["between", benchmark, first, second]:
            say_agreement(between(benchmark, Path(first), Path(second)))
        case _:
            sys.exit(__doc__)
