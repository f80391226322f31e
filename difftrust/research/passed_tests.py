"""Which candidates pass the tests of their tasks: one group at a time, all together, and the public examples.

Public examples are the tests that everyone may know. On HumanEval these are the test inputs that stand in the
description as calls, on MBPP, whose descriptions hold none, the first test. A candidate passes if it agrees with the
reference on all of them. The results on the tests (``--inputs tests``) say so; the table ``draws`` says which of the
tests are public, and which group each is of.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
import polars as pl

from difftrust.research.per_candidate import KEY_SCHEMA, Candidates, candidates_of
from difftrust_core.base.records import Coder, Validity
from difftrust_core.estimates.behaviours import count_draws
from difftrust_core.estimates.pool import CompactTask, Ints, Pool
from difftrust_core.estimates.refresh import open_pools, policies_executed
from difftrust_core.store.store import Store

ALL: Final = "all"
"""In the column ``tests``: the tests of all groups."""
PASSED_SCHEMA: Final = {**KEY_SCHEMA, "m": pl.Int64, "tests": pl.String, "n_tests": pl.Int64, "passed": pl.Float64}
FAILS: Final = 0
PASSES: Final = 1
UNKNOWN: Final = -1


def told_of_tests(store: Store, benchmark: str, column: str) -> dict[str, Any]:
    """Return what a column of ``draws`` says of each task's tests, by task id; not of tasks that it says nothing of.

    ``store``: as it is read on tests. ``groups``: the group of each executed test, in their order; ``public``: which
    tests are.
    """
    if store.holds("inputs"):  # what `draws` says may be older
        draws = count_draws(store, benchmark)
    else:
        draws = store.read("draws", {"benchmark": benchmark, "validity": Validity.TESTS})
    return dict(draws.drop_nulls(column).select("task_id", column).iter_rows())


def shares_passed(
    pools: Mapping[str, Pool], groups: Mapping[str, Mapping[str, Sequence[str]]], *, m: int | None
) -> pl.DataFrame:
    """Return one row per coder, task and group of tests, and one for ALL: the columns of PASSED_SCHEMA.

    ``passed``: the share of the coder's first m candidates that agree with what is right on every test of the group;
    null where that is not known, or a candidate was not executed on all of them. ``pools``: on the inputs of the tests,
    by benchmark; ``groups``: by benchmark as ``told_of_tests`` gives them. A task without is judged on all its inputs;
    it has no ``n_tests``.
    """
    rows = [
        row
        for benchmark, pool in pools.items()
        for coder in pool.members
        for one in candidates_of(pool, coder, m=m)
        for row in _of_groups(one, groups.get(benchmark, {}).get(one.task.task_id))
    ]
    return pl.DataFrame(rows, schema=PASSED_SCHEMA).sort("benchmark", "model", "temperature", "task_id", "tests")


def _of_groups(one: Candidates, groups: Sequence[str] | None) -> Iterator[dict[str, Any]]:
    places = {ALL: np.arange(len(one.task.pattern_of_input if groups is None else groups))}
    names = np.array(groups or [])
    for name, at in ({name: np.flatnonzero(names == name) for name in dict.fromkeys(groups or ())} | places).items():
        is_known = one.task.reach[one.rows].min() > at.max()
        right = _right_on(one.task, one.pool.equality, at) if is_known else None
        yield one.key | {
            "m": len(one.rows),
            "tests": name,
            "n_tests": None if groups is None else len(at),
            "passed": None if right is None else float(right[one.rows].mean()),
        }


def _right_on(task: CompactTask, equality: str, places: Ints) -> Ints | None:
    """Tell of each behaviour of a task whether it is the reference's on these inputs; None if that one is not known."""
    if task.reference is None or task.reach[task.reference] <= places.max():
        return None
    labels = task.labels[equality][:, task.pattern_of_input[places]]
    return np.asarray((labels == labels[task.reference]).all(axis=1), dtype=np.int64)


@dataclass(frozen=True, kw_only=True, eq=False)
class PublicExamples:
    """What the public examples of one benchmark say of its candidates."""

    positions: Mapping[str, Sequence[int]]
    """Task id -> which tests are public; a task without one is not there."""
    passes: Mapping[Coder, Mapping[tuple[str, int], int]]
    """Coder -> task id and sample index -> PASSES or FAILS."""

    def verdicts(self, pool: Pool, coder: Coder) -> Ints:
        """Return FAILS, PASSES or UNKNOWN for each of a coder's candidates in a pool: (n_members,)."""
        return np.concatenate([self.verdicts_on(one) for one in candidates_of(pool, coder)])

    def verdicts_on(self, candidates: Candidates) -> Ints:
        """Return FAILS, PASSES or UNKNOWN for each; where the task has no public example, all pass."""
        task_id, known = candidates.task.task_id, self.passes.get(candidates.coder, {})
        if task_id not in self.positions:
            return np.full(len(candidates.rows), PASSES)
        return np.array([known.get((task_id, sample), UNKNOWN) for sample in candidates.samples.tolist()])


def open_examples(store: Store, *, equality: str, n_jobs: int = 1) -> dict[str, PublicExamples]:
    """Return what the public examples say, by benchmark; nothing of one whose tests were not executed."""
    if Validity.TESTS not in policies_executed(store):
        return {}
    on_tests = store.read_as(replace(store.reading, inputs=Validity.TESTS))
    pools = open_pools(on_tests, equality=equality, n_jobs=n_jobs)
    public = {name: told_of_tests(on_tests, name, "public") for name in pools}
    return {name: _of_pool(pool, public[name]) for name, pool in pools.items() if public[name]}


def _of_pool(pool: Pool, positions: Mapping[str, Sequence[int]]) -> PublicExamples:
    places = {task_id: np.array(public, dtype=np.int64) for task_id, public in positions.items() if public}
    right = {
        task.task_id: found
        for task in pool.tasks
        if task.task_id in places and (found := _right_on(task, pool.equality, places[task.task_id])) is not None
    }
    passes = {
        coder: {
            (one.task.task_id, sample): verdict
            for one in candidates_of(pool, coder)
            if one.task.task_id in right
            for sample, verdict in zip(one.samples.tolist(), right[one.task.task_id][one.rows].tolist(), strict=True)
        }
        for coder in pool.members
    }
    return PublicExamples(positions=positions, passes=passes)
