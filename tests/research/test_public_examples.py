"""Who passes the public examples, and what they are worth: as a filter before the majority, and as a policy."""

import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from difftrust.export import export_results
from difftrust.research.passed_tests import FAILS, PASSES, UNKNOWN, open_examples
from difftrust.research.per_candidate import judged_candidates
from difftrust.research.policies import Policy, score
from difftrust.research.price_list import EXAMPLE, open_market, price_list
from difftrust.research.selection import compute_passes
from difftrust_core.base.records import Reading
from difftrust_core.estimates.refresh import open_pools
from difftrust_core.exceptions import WrongUsage
from difftrust_core.execution.execute import execute
from difftrust_core.metrics.equality import Equality
from difftrust_core.store.imports import add_candidates
from difftrust_core.store.store import Store
from tests.support.tiny import OTHER, RIGHT, TASKS, WRONG, candidates, executed, silent

PUBLIC = {"tiny/double": ("(-7,)",), "tiny/first": ("([1, 2],)", "([],)")}
"""WRONG fails both. OTHER, x ** 2 and the last item, fails both as well; RIGHT passes."""
CODER = ("coder", 0.6)


@pytest.fixture(scope="module")
def without_tests(tmp_path_factory: pytest.TempPathFactory) -> Store:
    """Return a store that was executed on drawn inputs only."""
    tasks = [replace(task, public_inputs=PUBLIC.get(task.task_id, ())) for task in TASKS]
    programs = (WRONG, RIGHT, WRONG, OTHER)
    return opened(executed(tmp_path_factory.mktemp("examples") / "store", n=30, tasks=tasks, coder=programs).root)


def opened(root: Path) -> Store:
    return Store.open(root, Reading(inputs="reference"))


@pytest.fixture(scope="module")
def store(without_tests: Store, tmp_path_factory: pytest.TempPathFactory) -> Store:
    """Return the same store, executed on the tests of its tasks, too; who changes it copies it."""
    root = shutil.copytree(without_tests.root, tmp_path_factory.mktemp("tested") / "store")
    assert execute(Store.open(root), n=7, validity="tests", say=silent).failures == ()
    return opened(root)


def test_the_verdicts_are_those_of_running_each_on_its_examples(store: Store, tmp_path: Path) -> None:
    results = export_results(store, tmp_path / "results")
    draws = results.read("draws").sort("task_id")
    assert draws.filter(validity="tests")["public"].to_list() == [[2], [0, 1], None]
    assert draws.filter(validity="reference")["public"].null_count() == 3
    for one in (store, opened(results.root)):
        examples = open_examples(one, equality=Equality.PAPER)["tiny"]
        assert examples.positions == {"tiny/double": [2], "tiny/first": [0, 1]}
        expected = [FAILS, PASSES, FAILS, FAILS] * 2 + [PASSES] * 4  # the last task has no example
        assert examples.verdicts(open_pools(one)["tiny"], CODER).tolist() == expected
    for path in results.files("draws"):  # as written before the column
        pl.read_parquet(path, hive_partitioning=False).drop("public", "n_repeats", "exhausted").write_parquet(path)
    assert open_examples(Store.open(results.root), equality=Equality.PAPER) == {}


def test_without_results_on_the_tests_nothing_is_known(without_tests: Store) -> None:
    assert open_examples(without_tests, equality=Equality.PAPER) == {}
    passes = compute_passes(judged_candidates(open_pools(without_tests), temperature=None, m=None, n=None), {})
    assert passes["filtered"].null_count() == passes.height == 3
    assert passes["consensus"].to_list() == [0.0, 0.0, 0.0]


@pytest.mark.slow
def test_a_candidate_that_was_not_executed_on_the_tests_is_unknown(store: Store, tmp_path: Path) -> None:
    examples = open_examples(store, equality=Equality.PAPER)["tiny"]
    later = opened(shutil.copytree(store.root, tmp_path / "store"))
    _ = add_candidates(later, candidates("late", RIGHT), {"tiny": TASKS}, n_jobs=1)
    assert execute(Store.open(later.root), n=30, validity="reference", say=silent).failures == ()
    pool = open_pools(later)["tiny"]
    assert examples.verdicts(pool, ("late", 0.6)).tolist() == [UNKNOWN, UNKNOWN, PASSES]
    market = open_market(pool, ("late", 0.6), n=30, examples=examples)
    assert EXAMPLE not in {line.family for line in price_list(market)}
    with pytest.raises(WrongUsage, match="--inputs tests"):
        score(market.evidence, [Policy(examples=True)])


def test_the_consensus_of_those_that_pass_is_right_where_the_majority_is_not(store: Store) -> None:
    examples = open_examples(store, equality=Equality.PAPER)
    passes = compute_passes(judged_candidates(open_pools(store), temperature=None, m=None, n=None), examples)
    columns = ("task_id", "random", "consensus", "filtered", "has_example")
    assert passes.select(columns).rows() == [
        ("tiny/double", 0.25, 0.0, 1.0, True),
        ("tiny/first", 0.25, 0.0, 1.0, True),
        ("tiny/total", 0.25, 0.0, 0.0, False),
    ]
    first = compute_passes(judged_candidates(open_pools(store), temperature=None, m=1, n=None), examples)
    assert first["filtered"].to_list() == [0.0, 0.0, 0.0]  # the only one fails: it is taken all the same


def test_a_program_that_fails_its_example_is_an_alarm_for_which_nothing_is_bought(store: Store) -> None:
    pool = open_pools(store)["tiny"]
    market = open_market(pool, CODER, n=30, examples=open_examples(store, equality=Equality.PAPER)["tiny"])
    assert market.n_examples == 2
    alone, bought, plain = score(market.evidence, [Policy(examples=True), Policy(own=1, examples=True), Policy(own=1)])
    assert alone.erroneous == pytest.approx(np.array([0.75, 0.75, 0.75]))
    assert alone.detected == pytest.approx(np.array([0.75, 0.75, 0.0]))
    assert alone.false_alarm.tolist() == [0.0, 0.0, 0.0]
    assert alone.programs.tolist() == [1.0, 1.0, 1.0]
    assert bought.detected == pytest.approx(np.array([0.75, 0.75, plain.detected[2]]))
    assert bought.programs == pytest.approx(np.array([1.25, 1.25, 2.0]))  # one more for the right program alone
    assert bought.false_alarm == pytest.approx(plain.false_alarm)
    assert EXAMPLE in {line.family for line in price_list(market)}


def test_programs_of_one_behaviour_may_differ_on_the_example(store: Store) -> None:
    """On the first input both are right; the example, -7, tells them apart."""
    pool = open_pools(store)["tiny"]
    examples = open_examples(store, equality=Equality.PAPER)["tiny"]
    alike = tuple(
        replace(
            task,
            labels={name: np.zeros_like(values) for name, values in task.labels.items()},
            kinds=np.zeros_like(task.kinds),
        )
        for task in pool.tasks
    )
    evidence = open_market(replace(pool, tasks=alike), CODER, n=30, examples=examples).evidence
    assert not evidence.wrong.any()
    assert evidence.fails.tolist() == [0.75, 0.75, 0.0]
    (alone,) = score(evidence, [Policy(examples=True)])
    assert alone.false_alarm.tolist() == [0.75, 0.75, 0.0]
