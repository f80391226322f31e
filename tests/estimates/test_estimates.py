"""Estimates of an executed store: their columns, their definition, and when they are computed anew."""

import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

from difftrust.findings_in_store import query_disagreement
from difftrust.verify.rows import check_tables
from difftrust_core.base.records import Kind
from difftrust_core.base.task import TaskTest
from difftrust_core.estimates.behaviours import count_draws
from difftrust_core.estimates.queries import query_estimates, query_sql
from difftrust_core.estimates.refresh import refresh_estimates
from difftrust_core.exceptions import WrongUsage
from difftrust_core.execution.execute import execute
from difftrust_core.languages.language import MAX_ATTEMPTS
from difftrust_core.metrics.equality import EQUALITIES
from difftrust_core.store.imports import add_tasks
from difftrust_core.store.settings import Settings
from difftrust_core.store.store import SCHEMAS, Store
from tests.support.tasks import small_task
from tests.support.tiny import OTHER, RIGHT, TASKS, WRONG, executed, silent


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    nearly = {**RIGHT, "tiny/double": "def double(x):\n    return 2.0001 * x\n"}
    coders = {"several": (RIGHT, RIGHT, WRONG, OTHER), "one": (WRONG,), "near": (RIGHT, nearly)}
    return executed(tmp_path_factory.mktemp("estimates") / "store", n=60, **coders)


def test_switching_equality_needs_no_execution(store: Store) -> None:
    near = {equality: query_estimates(store, equality=equality) for equality in EQUALITIES}
    errors = {name: frame.filter(model="near", task_id="tiny/double")["error"].item() for name, frame in near.items()}
    assert errors == {"paper": 0.0, "strict": 0.5}


def test_every_column_of_the_estimates_is_documented() -> None:
    text = (Path(__file__).resolve().parents[2] / "docs" / "measures.md").read_text()
    assert [name for name in SCHEMAS["estimates"] if f"`{name}`" not in text] == []
    assert [kind.name.lower() for kind in Kind if f"| `{kind.name.lower()}` |" not in text] == []


@pytest.mark.slow
def test_estimates_of_another_version_are_written_anew(tmp_path: Path) -> None:
    store = executed(tmp_path / "store", n=20, coder=[RIGHT, WRONG])
    before = query_estimates(store)
    for path in store.files("estimates"):
        pl.read_parquet(path, hive_partitioning=False).drop("n_values").write_parquet(path)
    (store.root / "estimates" / "reference.fingerprint").write_text("made when there was no such column")
    assert query_estimates(store).is_empty()
    assert refresh_estimates(store)
    assert query_estimates(store).equals(before)


@pytest.mark.slow
def test_what_is_undefined_is_null_whatever_the_file_holds(tmp_path: Path) -> None:
    store = executed(tmp_path / "store", n=10, coder=[WRONG])
    for path in store.files("estimates"):  # as written before
        before = pl.read_parquet(path, hive_partitioning=False)
        assert before["incoherence"].null_count() == before.height
        before.with_columns(pl.col("incoherence", "p_detected").fill_null(math.nan)).write_parquet(path)
    for frame in (store.read("estimates"), query_estimates(store), query_sql(store, "SELECT * FROM all_estimates")):
        assert frame.select("incoherence", "p_detected").null_count().row(0) == (frame.height,) * 2
    assert query_sql(store, "SELECT avg(incoherence) FROM estimates").item() is None
    assert query_sql(store, "SELECT count(incoherence) FROM ablation('coder', 'tiny', 0.6, 1, 10)").item() == 0
    assert check_tables(store) == []


def test_without_a_reference_incoherence_is_defined_and_error_is_not(tmp_path: Path) -> None:
    tasks = [replace(task, reference=None) for task in TASKS]
    store = executed(tmp_path / "store", n=40, tasks=tasks, validity="all", coder=(RIGHT, WRONG))
    with pytest.raises(WrongUsage, match="tiny/double has none; use --inputs quorum or all"):
        execute(store, n=20, validity="reference", say=silent)
    estimates = query_estimates(store)
    assert all(i > 0 for i in estimates["incoherence"])
    assert estimates["error"].is_null().all()


def test_the_shortest_disagreeing_input_is_found(store: Store) -> None:
    found = query_disagreement(store, task_id="tiny/first", model="several")
    assert found is not None
    assert found.arguments == "([],)"
    assert found.outcomes == ((3, "value", "None"), (1, "exception", "IndexError"))


def write_inputs(store: Store, rows: Sequence[tuple[object, ...]], validity: str) -> None:
    inputs = pl.DataFrame(rows, schema=SCHEMAS["inputs"], orient="row")
    store.write("inputs", inputs, {"benchmark": "tiny", "validity": validity, "start": 0}, "t")


def test_attempts_beyond_the_last_are_unchanged_seeds_taken_after_as_many_draws(tmp_path: Path) -> None:
    store = Store.create(tmp_path / "store")
    rows = [("t", 0, "(1,)", 1, 0), ("t", 1, "(2,)", MAX_ATTEMPTS, 0), ("t", 2, "(2,)", MAX_ATTEMPTS + 1, 1)]
    write_inputs(store, rows, store.settings().validity)
    (counted,) = count_draws(store, "tiny").iter_rows(named=True)
    assert (counted["n"], counted["n_distinct"], counted["n_repeats"]) == (3, 2, 1)
    assert (counted["n_unchanged"], counted["n_draws"]) == (1, 1 + MAX_ATTEMPTS + MAX_ATTEMPTS)


def test_groups_of_tests_are_known_where_all_of_a_task_were_executed(tmp_path: Path) -> None:
    store = Store.create(tmp_path / "store", Settings(validity="tests"))
    tests = tuple(TaskTest(arguments=f"({at},)", expected="1", group=group) for at, group in enumerate("aab"))
    given = {"all": tests, "one": tests[:1], "some": tests, "without": ()}
    add_tasks(store, {"tiny": [small_task(name, task_id=name, tests=own) for name, own in given.items()]})
    executed_on = {"all": 3, "one": 1, "some": 2, "without": 1}
    write_inputs(store, [(name, at, f"({at},)", 1, 0) for name, n in executed_on.items() for at in range(n)], "tests")
    groups = dict(count_draws(store, "tiny").select("task_id", "groups").iter_rows())
    assert groups == {"all": ["a", "a", "b"], "one": ["a"], "some": None, "without": None}
