"""How well fuzzed databases tell wrong queries from right ones: `make bench-sql` (`python -m tests.bench.sql --help`).

For each Spider question: queries with one mistake each (all that the operators offer, or a seeded choice of them), and
for each a database on which it differs from the gold query, shrunk. The truth about the others: ten times as many
databases of another seed. CPU time is that of all processes.
"""

import argparse
import os
import random
import statistics
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from difftrust.sql.mutants import mutants
from difftrust.sql.schema import read_schema
from difftrust.sql.spider import load_spider
from difftrust_core.base.literals import read_literal
from difftrust_core.base.task import Task
from difftrust_core.languages.registry import load_language
from difftrust_core.sandbox.host import Sandbox
from tests.bench.processes import own_cpu
from tests.support.distinguish import differing, distinguish, most_rows

SQL = load_language("sql")
STEPS = (10, 20, 50)
"""Databases that all mutants meet, and how many more those that are left."""
TRUTH_SEED = 1_000_003


@dataclass(kw_only=True)
class Figures:
    """What a run saw; one entry a mutant, or a question."""

    rows: list[int] = field(default_factory=list)
    missed: list[tuple[str, str]] = field(default_factory=list)
    same: list[tuple[str, str]] = field(default_factory=list)
    wall: list[float] = field(default_factory=list)
    cpu: float = 0.0

    @property
    def share(self) -> float:
        """Of the mutants that differ somewhere, the share with a database that shows it."""
        return len(self.rows) / (len(self.rows) + len(self.missed))


def questions(n: int, seed: int) -> list[Task]:
    """Return a seeded choice of Spider's dev questions."""
    folder = Path(os.environ.get("DIFFTRUST_DATA", "../shared/data")) / "spider"
    return random.Random(seed).sample(load_spider(folder / "dev_questions.jsonl"), n)


def chosen_mutants(task: Task, most: int, rng: random.Random) -> list[str]:
    """Return up to ``most`` mutants: one of each kind first, so that no kind of mistake is crowded out."""
    offered = mutants(task.reference or "", read_schema(task.preamble))
    for kind in offered.values():
        rng.shuffle(kind)
    rounds = [kind[place] for place in range(20) for kind in offered.values() if place < len(kind)]
    return rounds[:most]


def measure(tasks: Sequence[Task], *, most: int, seed: int, truth: int = 10) -> Figures:
    """Return the figures for these questions."""
    figures, rng = Figures(), random.Random(seed)
    asked = [(task, chosen_mutants(task, most, rng)) for task in tasks]
    before, left = own_cpu(), list[tuple[Task, list[str]]]()
    with Sandbox(SQL.limits, runner=SQL.runner) as sandbox:
        for task, made in asked:
            began = time.perf_counter()
            found = distinguish(task, made, sandbox, steps=STEPS, seed=seed)
            figures.wall.append(time.perf_counter() - began)
            figures.rows += [most_rows(read_literal(f.smallest.arguments)[0]) for f in found]
            told = {f.query for f in found}
            left.append((task, [m for m in made if m not in told]))
    figures.cpu = own_cpu() - before
    _tell_the_truth(figures, left, truth * sum(STEPS))
    return figures


def _tell_the_truth(figures: Figures, left: Sequence[tuple[Task, list[str]]], n: int) -> None:
    with Sandbox(SQL.limits, runner=SQL.runner) as sandbox:
        for task, made in left:
            if made:
                draw = SQL.fuzz(task, TRUTH_SEED)
                inputs = [draw(position, 0) for position in range(n)]
                shown = differing(task, made, sandbox, inputs=inputs)
                for m in made:
                    (figures.missed if shown[m] else figures.same).append((task.task_id, m))


def report(figures: Figures) -> None:
    """Print what was seen."""
    n, missed = len(figures.wall), len(figures.missed)
    within = sum(rows <= 5 for rows in figures.rows)
    print(f"{n} questions, {len(figures.rows) + missed + len(figures.same)} mutants, {sum(STEPS)} databases a question")
    print(f"  differ from the gold query on some database: {len(figures.rows) + missed}")
    print(f"  of these, a distinguishing database found: {len(figures.rows)} ({100 * figures.share:.1f} %)")
    share = 100 * within / (len(figures.rows) + missed)
    print(f"  of at most 5 rows a table after shrinking: {within} ({share:.1f} %)")
    print(f"  rows of the longest table: {dict(sorted(Counter(figures.rows).items()))}")
    print(f"  CPU a question (all processes, shrinking included): {figures.cpu / n:.2f} s on average")
    worst = sorted(figures.wall)
    print(f"  wall a question: median {statistics.median(worst):.2f} s, 95th percentile {worst[int(0.95 * n)]:.2f} s")
    for task_id, query in figures.missed:
        print(f"    missed {task_id}: {query[:160]}")


def main() -> None:
    """Choose questions, measure, report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--questions", type=int, default=200)
    parser.add_argument("--mutants", type=int, default=10, help="at most, a question")
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    report(measure(questions(asked.questions, asked.seed), most=asked.mutants, seed=asked.seed))


if __name__ == "__main__":
    main()
