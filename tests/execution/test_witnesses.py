"""Witnesses of a store: they find planted faults that random inputs miss, and change no measured number."""

import shutil
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import polars as pl
import pytest

from difftrust_core.analysis.estimates import refresh_estimates
from difftrust_core.analysis.export import export_results
from difftrust_core.analysis.queries import query_estimates, query_sql
from difftrust_core.analysis.witnesses import UNTELLING, witnessed_tasks
from difftrust_core.base.literals import read_literal
from difftrust_core.base.task import Domain, Task
from difftrust_core.cli import main
from difftrust_core.datasets.recorded.selection import selection_of
from difftrust_core.datasets.recorded.source import Recorded
from difftrust_core.exceptions import NoStore, WrongUsage
from difftrust_core.execution.execute import execute
from difftrust_core.execution.witnesses import execute_witnesses
from difftrust_core.generation.simulated import sample_simulated
from difftrust_core.report.every_table import make_table
from difftrust_core.report.tables import TableRequest
from difftrust_core.store.imports import add_candidates
from difftrust_core.store.store import Store
from difftrust_core.store.verify.verification import verify
from tests.support import tiny
from tests.support.tiny import OTHER, RIGHT, TASKS, WRONG, candidates, contents, filled, silent

MEASURED = ("inputs", "outcomes", "behaviours", "patterns", "classes", "members", "disagreements", "estimates")
FAULTS = {  # a rare number, text and list
    "tiny/double": "def double(x):\n    return 2 * x if x != 7919 else 0\n",
    "tiny/first": "def first(items):\n    return items[0] if items and 'needle' not in items else None\n",
    "tiny/total": "def total(items):\n    return 0 if items == [5, 77, 901] else sum(items)\n",
}


def executed(root: Path, *programs: dict[str, str], witnesses: int = 100, n: int = 100) -> Store:
    store = filled(root, *programs)
    execute(store, n=n, say=silent)
    refresh_estimates(store)
    if witnesses:
        execute_witnesses(store, n=witnesses)
    return store


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    return executed(tmp_path_factory.mktemp("witnesses") / "store", RIGHT, FAULTS, OTHER, n=300)


def plainly_witnessed(store: Store, task: Task, programs: list[str]) -> bool:
    """Tell whether two programs differ on a witness, by running them here and now."""
    of_task = store.read("witnesses").filter(pl.col("task_id") == task.task_id)
    inputs = of_task["arguments"].unique(maintain_order=True).to_list()
    outcomes = [[tiny.outcome(program, task.entry_point, arguments) for arguments in inputs] for program in programs]
    return any(one != other for one, other in combinations(outcomes, 2))


def test_planted_faults_are_witnessed_and_not_detected(tmp_path: Path) -> None:
    store = executed(tmp_path / "store", RIGHT, FAULTS, RIGHT, n=1000)
    estimates = query_estimates(store)
    assert estimates["detected"].to_list() == [False] * 3
    assert estimates["incoherence"].to_list() == [0.0] * 3
    found = witnessed_tasks(store, estimates, equality="paper").sort("task_id")
    assert found["witnessed"].to_list() == [True] * 3
    (row,) = make_table("witnesses", TableRequest(store=store.root)).frame.iter_rows(named=True)
    assert (row["tasks"], row["detected"], row["witnessed"], row["witnessed_only"], row["either"]) == (3, 0, 1, 1, 1)
    assert (row["silent"], row["silent_witnessed"]) == (0, 0)  # E speaks of the measured inputs alone


@pytest.mark.parametrize("m", [1, 2, 3])
@pytest.mark.parametrize("equality", ["paper", "strict"])
def test_witnessed_as_by_running_every_pair(store: Store, m: int, equality: str) -> None:
    sizes = query_estimates(store).with_columns(m=pl.lit(m))
    found = dict(witnessed_tasks(store, sizes, equality=equality).select("task_id", "witnessed").iter_rows())
    programs = [RIGHT, FAULTS, OTHER][:m]
    wanted = {task.task_id: plainly_witnessed(store, task, [p[task.task_id] for p in programs]) for task in TASKS}
    assert found == (wanted if m > 1 else {})


def test_rows_say_what_each_program_does(store: Store) -> None:
    rows = store.read("witnesses").filter(pl.col("task_id") == "tiny/double")
    seven = rows.filter(pl.col("arguments") == "(7919,)").select("text", n=pl.col("trees").list.len())
    assert dict(seven.iter_rows()) == {"15838": 2, "0": 1, str(7919**2): 1}  # the reference, and a candidate like it
    seeds = rows.unique("witness_index").sort("witness_index").filter(pl.col("origin") == "seed")
    assert seeds["arguments"].to_list() == list(TASKS[0].seed_inputs)
    assert seeds["witness_index"].to_list() == [0, 1, 2]
    assert query_sql(store, "SELECT count(DISTINCT witness_index) FROM witnesses WHERE task_id = 'tiny/double'").item()


def test_measured_tables_have_the_same_bytes_with_witnesses_and_without(tmp_path: Path) -> None:
    one, other = executed(tmp_path / "one", RIGHT, WRONG), executed(tmp_path / "other", RIGHT, WRONG, witnesses=0)
    assert contents(one, *MEASURED) == contents(other, *MEASURED)
    assert contents(one, "witnesses")
    assert not refresh_estimates(one)
    exported = [export_results(each, tmp_path / f"to-{each.root.name}") for each in (one, other)]
    assert contents(exported[0], *MEASURED[3:]) == contents(exported[1], *MEASURED[3:])
    with pytest.raises(NoStore, match=r"no witnesses; make it with .*--witnesses 100"):
        make_table("witnesses", TableRequest(store=exported[0].root))
    with pytest.raises(NoStore, match=r"holds no witnesses; run .*--witnesses 100"):
        make_table("witnesses", TableRequest(store=other.root))


@pytest.mark.slow
def test_the_same_bytes_whatever_the_order_of_coders_and_the_workers(tmp_path: Path) -> None:
    made = []
    for name, order, n_jobs in (("a", ("one", "two"), 1), ("b", ("two", "one"), 2)):
        store = Store.create(tmp_path / name)
        for model, programs in {"one": (RIGHT, FAULTS), "two": (OTHER, WRONG)}.items():
            add_candidates(store, candidates(model, *programs), {"tiny": TASKS}, n_jobs=1)
        for model in order:
            done = execute_witnesses(store, n=50, selection=selection_of(models=[model]), n_jobs=n_jobs)
            assert done.n_tasks == 3
        made.append(contents(store, "witnesses"))
        again = execute_witnesses(store, n=40)
        assert (again.n_tasks, again.n_tasks_at_hand) == (0, 3)
        assert contents(store, "witnesses") == made[-1]
    assert made[0] == made[1]


def test_more_witnesses_begin_with_the_fewer(store: Store, tmp_path: Path) -> None:
    fewer = executed(tmp_path / "fewer", RIGHT, FAULTS, OTHER, witnesses=10, n=20)
    columns = ["task_id", "witness_index", "arguments", "origin", "text"]
    few, many = (each.read("witnesses").select(columns) for each in (fewer, store))
    assert few.equals(many.filter(pl.col("witness_index") < 10))
    assert few["witness_index"].max() == 9
    assert execute_witnesses(fewer, n=100).n_tasks == 3
    assert fewer.read("witnesses").select(columns).equals(many)
    with pytest.raises(WrongUsage, match="1 witness or more"):
        execute_witnesses(fewer, n=0)


def test_they_are_valid_as_other_inputs_are(tmp_path: Path) -> None:
    """The reference refuses odd numbers; a domain asks for positive ones: both hold."""
    task = replace(
        TASKS[0],
        reference="def double(x):\n    assert x % 2 == 0\n    return 2 * x\n",
        domain=Domain(types="x: int", requires="x > 0"),
        seed_inputs=("(1,)", "(4,)", "(-8,)"),
    )
    store = Store.create(tmp_path / "store")
    add_candidates(store, candidates("one", FAULTS, RIGHT), {"tiny": [task, *TASKS[1:]]}, n_jobs=1)
    _ = execute_witnesses(store, n=100)

    def values(validity: str) -> list[int]:
        rows = store.read("witnesses", {"benchmark": "tiny", "validity": validity})
        rows = rows.filter(pl.col("task_id") == task.task_id).unique("witness_index").sort("witness_index")
        return [read_literal(text)[0] for text in rows["arguments"]]

    assert values("reference")[0] == 4
    assert all(x > 0 and x % 2 == 0 for x in values("reference"))
    assert {7918, 7920} <= set(values("reference"))
    store.write_settings(replace(store.settings(), validity="quorum"))
    _ = execute_witnesses(store, n=100)
    assert values("quorum")[:2] == [1, 4]
    assert all(x > 0 for x in values("quorum"))
    assert 7919 in values("quorum")


def test_a_bad_domain_is_said_and_loses_nothing_of_the_others(tmp_path: Path) -> None:
    tasks = [replace(TASKS[0], domain=Domain(requires="False")), *TASKS[1:]]
    store = Store.create(tmp_path / "store")
    add_candidates(store, candidates("one", FAULTS, RIGHT), {"tiny": tasks}, n_jobs=1)
    done = execute_witnesses(store, n=20)
    assert ["lies inside its domain" in report.failure for report in done.failures] == [True]
    assert set(store.read("witnesses")["task_id"]) == {task.task_id for task in TASKS[1:]}


SLOW = "def double(x):\n    while x == 7919:\n        pass\n    return 2 * x\n"


def test_out_of_time_is_no_disagreement_and_hostile_texts_are_harmless(tmp_path: Path) -> None:
    broken = {task.task_id: "def f(:" for task in TASKS}
    deep = {task.task_id: f"x = {'[' * 3000}" for task in TASKS}
    loud = {task.task_id: f"import os\nx = 'a\\x1b[2J{'b' * 3000}'\nos._exit(9)\n" for task in TASKS}
    store = executed(tmp_path / "store", RIGHT, {**RIGHT, "tiny/double": SLOW}, n=20)
    sizes = query_estimates(store)
    assert not witnessed_tasks(store, sizes, equality="paper")["witnessed"].any()
    kinds = store.read("witnesses").filter(pl.col("arguments") == "(7919,)")["kind"].to_list()
    assert kinds == ["value", "timeout"]
    assert set(UNTELLING) == {"timeout", "skipped", "memory"}
    add_candidates(store, candidates("hostile", broken, deep, loud, FAULTS), {"tiny": TASKS}, n_jobs=1)
    assert execute_witnesses(store, n=50).failures == ()
    assert verify(store).findings == ()


def test_sql_tasks_have_none(tmp_path: Path) -> None:
    pytest.importorskip("sqlglot")
    from difftrust_core.datasets.benchmarks import load_benchmark

    task = load_benchmark("starter-sql")[0]
    found = sample_simulated(task, "simulated/weak", temperature=0.6, m=3, seed=0)
    store = Store.create(tmp_path / "store")
    add_candidates(store, Recorded(candidates=pl.DataFrame([vars(one) for one in found])), {"starter-sql": [task]})
    before = execute(store, n=10, say=silent).n_executions
    done = execute_witnesses(store, n=20)
    assert before > 0
    assert (done.n_tasks, done.failures, store.files("witnesses")) == (0, (), [])


def test_damaged_witnesses_are_found_and_come_back(store: Store, tmp_path: Path) -> None:
    shutil.copytree(store.root, tmp_path / "store")
    copy = Store.open(tmp_path / "store")
    assert verify(copy).findings == ()
    (path,) = [path for path in copy.files("witnesses") if "double" in path.name]
    where = {"benchmark": "tiny", "validity": "reference"}
    frame = copy.read_file("witnesses", path)
    assert frame is not None
    wrong = frame.with_columns(trees=pl.lit(["0" * 16]), kind=pl.lit("nothing"))
    copy.write("witnesses", wrong, where, path.stem)
    said = " ".join(finding.what for finding in verify(copy).findings)
    assert "expected programs that ended in one of" in said
    assert "expected one outcome of each program" in said
    assert "a program in `programs` for every tree" in said
    assert {"--witnesses 100" in finding.remedy for finding in verify(copy).findings} == {True}


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store = filled(tmp_path / "store", RIGHT, FAULTS)
    for words, wanted in [
        (["execute", "--store", str(store.root), "-n", "50", "-j", "1", "--witnesses", "60"], "witnesses: "),
        (["execute", "--store", str(store.root), "-n", "50", "-j", "1", "--witnesses", "60"], "3 tasks have theirs"),
        (["table", "witnesses", "--store", str(store.root)], "witnessed_only"),
    ]:
        with pytest.raises(SystemExit) as ended:
            main(words)
        assert not ended.value.code
        assert wanted in capsys.readouterr().out
