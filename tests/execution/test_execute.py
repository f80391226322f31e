"""Execution of real programs in the real sandbox: exact, incremental, repeatable."""

import shutil
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from difftrust.findings_in_store import query_disagreement, query_nondeterministic
from difftrust_core.base.task import Domain
from difftrust_core.datasets.recorded import Recorded, Selection, selection_of
from difftrust_core.estimates.queries import query_estimates, query_sql
from difftrust_core.estimates.refresh import refresh_estimates
from difftrust_core.exceptions import BadStore, NoStore, StoreInUse, WrongUsage
from difftrust_core.execution.jobs import Plan, programs_of, usual_validity
from difftrust_core.execution.resumable import attempt
from difftrust_core.execution.worker import run_chunk
from difftrust_core.languages.language import program_id
from difftrust_core.metrics.equality import EQUALITIES
from difftrust_core.sandbox.host import Limits
from difftrust_core.store.imports import add_candidates
from difftrust_core.store.store import SCHEMAS, Store, chunk_starts
from tests.support.estimates import compute_estimates
from tests.support.tiny import (
    OTHER,
    RIGHT,
    TASKS,
    WRONG,
    add,
    candidates,
    contents,
    executed,
    filled,
    measure,
    run_on,
    simulated,
)


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Store:
    """Return a store that was executed and estimated; who changes it copies it."""
    return executed(tmp_path_factory.mktemp("done") / "store", n=20, coder=(RIGHT, WRONG))


RAN = ("inputs", "outcomes", "behaviours", "executions")


@pytest.mark.parametrize(("n", "n_jobs"), [(0, 1), (1, 0)])
def test_without_an_input_or_a_process_nothing_is_begun(n: int, n_jobs: int, tmp_path: Path) -> None:
    with pytest.raises(WrongUsage, match=f"n and jobs are at least 1, got n = {n}, jobs = {n_jobs}"):
        run_on(filled(tmp_path / "store", RIGHT), n, n_jobs=n_jobs)


@pytest.mark.parametrize(
    ("spans", "n", "needed"),
    [
        ([(0, 20)], 10, [(0, 20)]),
        ([(0, 20), (20, 50)], 20, [(0, 20)]),
        ([(0, 20), (30, 50)], 40, [(0, 20), (20, 30), (30, 50)]),
        ([(5, 10)], 12, [(0, 5), (5, 10), (10, 12)]),
    ],
)
def test_chunks_at_hand_are_taken_whole_and_gaps_are_filled(
    spans: list[tuple[int, int]], n: int, needed: list[tuple[int, int]]
) -> None:
    assert chunk_starts(spans, n) == needed


def test_a_program_is_executed_once_however_many_candidates_share_its_tree(tmp_path: Path) -> None:
    commented = {task_id: f"# the same\n{code}" for task_id, code in RIGHT.items()}
    store = filled(tmp_path / "store", RIGHT, RIGHT, commented)
    with store.writing():
        with pytest.raises(StoreInUse, match="another difftrust command writes"):
            run_on(Store.open(store.root), 20)
        plan = Plan(store, store.settings(), 20, selection=Selection(), limits=Limits(), allow_weak=False, is_here=True)
        jobs = list(plan.jobs())
    began = time.monotonic()
    done = run_on(store, 20)
    assert (done.n_programs, done.n_executions) == (3, 60)
    assert 0 < done.seconds <= time.monotonic() - began
    assert refresh_estimates(store)
    estimates = query_estimates(store)
    assert estimates["m"].to_list() == [3, 3, 3]
    assert estimates["error"].to_list() == [0.0] * 3
    assert estimates["incoherence"].to_list() == [0.0] * 3
    assert query_disagreement(store) is None
    before = contents(store, *RAN, "estimates")
    again = run_on(store, 20)
    assert (again.n_tasks, again.n_tasks_at_hand, again.n_programs, again.n_executions) == (0, 3, 0, 0)
    assert not refresh_estimates(store)
    assert [run_on(store, n).n_tasks for n in (1, 10)] == [0, 0]
    assert [attempt(run_chunk, job).failure for job in jobs] == ["", "", ""]  # as a lost worker that had written
    assert contents(store, *RAN, "estimates") == before


def test_a_task_whose_programs_are_gone_keeps_no_other_from_being_executed(tmp_path: Path) -> None:
    store = filled(tmp_path / "store", RIGHT)
    for path in store.files("programs"):
        programs = pl.read_parquet(path, hive_partitioning=False)
        programs.filter(pl.col("task_id") != "tiny/double").write_parquet(path)
    assert run_on(store, 5).n_tasks == 2
    assert sorted(store.read("inputs")["task_id"].unique()) == ["tiny/first", "tiny/total"]


@pytest.mark.parametrize("names", ["ab", "ba"])
def test_of_the_texts_of_a_program_the_one_of_the_smallest_id_runs(tmp_path: Path, names: str) -> None:
    texts = [f"def double(x):\n    {name} = 2 * x\n    return {name}\n" for name in names]
    store = filled(tmp_path / "store", *[{**RIGHT, "tiny/double": text} for text in texts])
    programs = programs_of(store, "tiny", ["tiny/double"], selection_of())["tiny/double"]
    assert [program.code for program in programs] == [min(texts, key=program_id)]


def test_another_seed_gives_other_inputs_and_is_refused_on_the_same_store(tmp_path: Path, done: Store) -> None:
    other = filled(tmp_path / "other", RIGHT)
    run_on(other, 20, seed=2)
    assert done.read("inputs")["arguments"].to_list() != other.read("inputs")["arguments"].to_list()
    with pytest.raises(WrongUsage, match="seed 2, got 1; use a new store"):
        run_on(other, 20, seed=1)


def test_new_candidates_execute_only_what_is_new(tmp_path: Path, done: Store) -> None:
    store = Store.open(shutil.copytree(done.root, tmp_path / "store"))
    run_on(store, 30)
    add(store, "second", WRONG, OTHER)
    added = run_on(store, 30)
    assert (added.n_programs, added.n_executions) == (3, 90)
    refresh_estimates(store)
    whole = executed(tmp_path / "whole", n=30, coder=(RIGHT, WRONG), second=(WRONG, OTHER))
    assert query_estimates(store).equals(query_estimates(whole))


@pytest.mark.slow
def test_raising_n_executes_only_the_rest_and_keeps_the_prefix(tmp_path: Path) -> None:
    store = filled(tmp_path / "store", RIGHT, WRONG, OTHER)
    run_on(store, 25)
    before = contents(store, *RAN)
    assert run_on(store, 60).n_executions == 9 * 35
    after = contents(store, *RAN)
    assert {path: after[path] for path in before} == before
    whole = filled(tmp_path / "whole", RIGHT, WRONG, OTHER)
    run_on(whole, 60)
    columns = ["task_id", "input_index", "arguments"]
    mine, other = (one.read("inputs").select(columns).sort(columns[:2]) for one in (store, whole))
    assert mine.equals(other)
    for n in (10, 25, 60):
        assert compute_estimates(store, n=n)["paper"].equals(compute_estimates(whole, n=n)["paper"])
    with pytest.raises(WrongUsage, match="executed on 60 inputs, not 61; run `difftrust execute --store DIR -n 61`"):
        compute_estimates(store, n=61)


DOUBLES = {
    "values": "def double(x):\n    return 2 * x\n",
    "exceptions": "def double(x):\n    raise KeyError(x)\n",
    "memory": "def double(x):\n    raise MemoryError\n",
    "crashes": "import os\ndef double(x):\n    os._exit(3)\n",
    "load_errors": "def double(x) return 2 * x\n",
    "prose": "I am sorry, I cannot write this.",
    "empty": "",
    "unsupported": "def double(x):\n    return double\n",
    "timeouts": "def double(x):\n    while True:\n        pass\n",
    "forged": "import os, sys\ndef double(x):\n    sys._getframe(2).f_locals['head'][0] = 3\n    os._exit(0)\n",
}


def test_every_kind_of_outcome_is_counted_apart(tmp_path: Path) -> None:
    store = Store.create(tmp_path / "store")
    programs = [{**RIGHT, "tiny/double": code} for code in DOUBLES.values()]
    double = candidates("coder", *programs).candidates.filter(pl.col("task_id") == "tiny/double")
    add_candidates(store, Recorded(candidates=double), {"tiny": TASKS}, n_jobs=1)
    n, limits = 12, Limits(max_timeouts=3, max_crashes=5)
    measure(store, n, limits=limits)
    (row,) = query_estimates(store).iter_rows(named=True)
    counted = {name.removeprefix("n_"): row[name] for name in SCHEMAS["estimates"] if name.startswith("n_")}
    arguments = store.read("inputs").sort("input_index")["arguments"].to_list()
    tried = list(dict.fromkeys(arguments))  # an input that is drawn twice is executed once
    until_given_up, until_crashed = (sum(tried.index(a) < limit for a in arguments) for limit in (3, 5))
    assert (row["m"], row["n"]) == (len(DOUBLES), n)
    assert len(tried) > 5
    assert {k: v for k, v in counted.items() if k not in ("classes", "nondeterministic", "load_failures")} == {
        "values": n,
        "exceptions": n,
        "timeouts": until_given_up,
        "skipped": 3 * n - 2 * until_given_up - until_crashed,
        "memory": until_given_up,
        "crashes": until_crashed,
        "load_errors": 3 * n,
        "unsupported": n,
        "forged": n,
    }


@pytest.mark.slow
def test_programs_that_differ_from_themselves_are_counted_per_task(tmp_path: Path) -> None:
    moody = {**RIGHT, "tiny/double": "import time\ndef double(x):\n    return time.perf_counter()\n"}
    seen = {**RIGHT, "tiny/double": "seen = []\ndef double(x):\n    seen.append(x)\n    return len(seen)\n"}
    store = filled(tmp_path / "store", RIGHT, moody, moody, seen)
    run_on(store, 20)
    run_on(store, 30)  # a second chunk counts nothing twice
    refresh_estimates(store)
    assert dict(query_estimates(store).select("task_id", "n_nondeterministic").iter_rows()) == {
        "tiny/double": 3,
        "tiny/first": 0,
        "tiny/total": 0,
    }
    (row,) = query_nondeterministic(store).iter_rows(named=True)
    assert row == {
        "benchmark": "tiny",
        "task_id": "tiny/double",
        "n_programs": 4,  # the reference among them
        "n_trimmed": 0,
        "n_nondeterministic": 2,
        "reference_nondeterministic": False,
    }


@pytest.mark.parametrize("validity", ["reference", "quorum", "all"])
def test_validity_decides_which_inputs_are_kept(tmp_path: Path, validity: str) -> None:
    store = filled(tmp_path / "store", WRONG, WRONG, RIGHT)
    run_on(store, 40, validity=validity)
    sql = """SELECT o.kind, count(*)
             FROM executions e JOIN behaviours b USING (benchmark, task_id, start, behaviour_id),
             unnest(outcome_ids) WITH ORDINALITY AS u(id, i)
             JOIN outcomes o ON o.task_id = e.task_id AND o.input_index = i - 1 AND o.outcome_id = id
             WHERE e.task_id = 'tiny/first' AND e.tree_id {} 'reference' GROUP BY 1"""
    by_reference = dict(query_sql(store, sql.format("=")).rows())
    by_candidates = dict(query_sql(store, sql.format("<>")).rows())
    assert by_reference == {"value": 40}  # this reference returns on every list
    if validity == "quorum":  # two of three candidates raise on [], so no input but the last resort is []
        assert "exception" not in by_candidates
    else:
        assert by_candidates["exception"] > 0


@pytest.mark.parametrize("table", [*RAN, "candidates", "programs"])
def test_a_damaged_file_is_named(tmp_path: Path, done: Store, table: str) -> None:
    store = Store.open(shutil.copytree(done.root, tmp_path / "store"))
    path = store.files(table)[0]
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    with pytest.raises(BadStore, match=path.name):
        _ = run_on(store, 21), compute_estimates(store)


def test_an_empty_store_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(NoStore, match="difftrust import"):
        run_on(Store.create(tmp_path / "store"), 5)


@pytest.mark.slow
def test_more_workers_give_the_same_bytes_where_outcomes_were_known_before(tmp_path: Path) -> None:
    def rows(store: Store) -> pl.DataFrame:
        return store.read("executions").drop("cpu_seconds", "peak_kb")

    def grown(root: Path) -> Store:
        """Executed with one set of programs and then with more, so that outcomes are known before."""
        store = filled(root, WRONG, OTHER)
        run_on(store, 40)
        for model in ("simulated/weak", "simulated/medium"):
            add_candidates(store, simulated(TASKS, model, m=8, temperature=1.0), {"tiny": TASKS}, n_jobs=1)
        return store

    whole, spread = grown(tmp_path / "whole"), grown(tmp_path / "spread")
    run_on(whole, 60)
    assert run_on(spread, 60, n_jobs=3).n_tasks == len(TASKS)
    tables = ("inputs", "outcomes", "behaviours")
    assert contents(spread, *tables) == contents(whole, *tables)
    assert rows(spread).equals(rows(whole))
    assert run_on(spread, 60).n_tasks == 0


LYING = (
    "class bytearray(int): pass\ndef double(x):\n    return bytearray(10**30)\n",
    "class bytearray(int): pass\ndef double(x):\n    return bytearray(8 * 10**9)\n",
    "class complex(Exception): pass\ndef double(x):\n    return complex(10**400, 1)\n",
    "class frozenset(tuple): pass\ndef double(x):\n    return frozenset(([], []))\n",
    "class Fraction(Exception): pass\ndef double(x):\n    return Fraction(float('inf'), 1)\n",
    "class Decimal(Exception): pass\ndef double(x):\n    return Decimal(10**6000)\n",
    "class set: pass\ndef double(x):\n    return {set(): set()}\n",
    "class inf(float): pass\ndef double(x):\n    return inf(2 * x + 7)\n",
    "def double(x):\n    return {(((x,),),): {1: [float('nan')] * 999}}\n",
)
"""What these return is written as something else would be, or is nothing that can be made."""


def test_what_lies_about_its_type_is_wrong_and_costs_nobody_else_anything(tmp_path: Path) -> None:
    programs = [{**RIGHT, "tiny/double": code} for code in LYING]
    store = filled(tmp_path / "store", RIGHT, *programs, RIGHT)
    assert run_on(store, 10).failures == ()
    refresh_estimates(store)
    m = len(LYING) + 2
    for equality in EQUALITIES:
        found = query_estimates(store, equality=equality).filter(task_id="tiny/double").row(0, named=True)
        assert found["m"] == m
        assert found["error"] == pytest.approx(len(LYING) / m)
        assert found["functional_error"] == pytest.approx(len(LYING) / m)


@pytest.mark.parametrize(
    ("changes", "policy"),
    [
        ({}, "reference"),
        ({"reference": None}, "quorum"),
        ({"domain": Domain()}, "domain"),
        ({"domain": Domain(), "reference": None}, "domain"),
    ],
)
def test_inputs_of_own_tasks_are_judged_by_what_these_have(
    tmp_path: Path, changes: dict[str, Any], policy: str
) -> None:
    store = filled(tmp_path / "store", RIGHT, tasks=[replace(TASKS[0], **changes), *TASKS[1:]])
    assert usual_validity(store, Selection()) == policy
    if "reference" in changes:
        with pytest.raises(WrongUsage, match="`reference` needs a reference program, tiny/double has none"):
            run_on(store, 2, validity="reference")
        assert usual_validity(store, Selection()) == policy  # what is refused leaves the store as it is
    store.write_settings(replace(store.settings(), validity="all"))
    assert usual_validity(store, Selection()) == "all"


def test_what_takes_longest_is_begun_first(tmp_path: Path) -> None:
    store = filled(tmp_path / "store", RIGHT)
    run_on(store, 20)
    nothing = {**RIGHT, "tiny/total": "def total(items):\n    return 0\n"}
    more = ({**WRONG, "tiny/first": RIGHT["tiny/first"]}, {**RIGHT, "tiny/total": OTHER["tiny/total"]}, nothing)
    add(store, "second", *more)
    plan = Plan(store, store.settings(), 26, selection=Selection(), limits=None, allow_weak=False, is_here=True)
    assert [(due.task[1], due.start, due.stop, due.n_programs) for due in plan.dues] == [
        ("tiny/total", 0, 20, 3),
        ("tiny/total", 20, 26, 4),
        ("tiny/double", 0, 20, 1),
        ("tiny/double", 20, 26, 2),
        ("tiny/first", 20, 26, 1),
    ]
    assert [(job.key, job.start, job.n) for job in plan.jobs()] == [
        (due.task, due.start, due.stop - due.start) for due in plan.dues
    ]


def test_a_task_without_inputs_keeps_no_other_from_being_executed(tmp_path: Path) -> None:
    bare = [replace(task, seed_inputs=()) if task.entry_point == "double" else task for task in TASKS]
    done = run_on(filled(tmp_path / "store", RIGHT, tasks=bare), 5)
    assert (done.n_tasks, done.n_tasks_at_hand, done.without_seeds) == (2, 0, ("tiny/double",))
