"""pass@1 by tests beside the measures on fuzzed inputs: numbers that can be computed by hand."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import difftrust as dt
from difftrust.export import export_results
from difftrust.tables.registry import make_table
from difftrust.tables.request import TableRequest
from difftrust_core.base.records import Reading
from difftrust_core.exceptions import NoStore
from difftrust_core.store.store import Store
from tests.support.command import succeed
from tests.support.evalplus import DOUBLE, RIGHT, THIRD, WRONG, WRONG_ON_PLUS, write_folder, write_release


def imported(folder: Path, *programs: dict[str, str], tasks: Sequence[dict[str, Any]] = (), store: Path) -> None:
    """Import programs of a coder that is called like the folder which is made."""
    release = write_release(folder.parent / "plus.jsonl", *tasks)
    words = ("--model", folder.name, "--temperature", "0.6", "--store", store)
    succeed("import", write_folder(folder, *programs), "--tasks", release, *words)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a store with two coders on the two tasks, executed by the command line."""
    root = tmp_path_factory.mktemp("tests")
    imported(root / "good", RIGHT, RIGHT, store=root / "store")
    alone = {"HumanEval/901": RIGHT["HumanEval/901"]}
    imported(root / "mixed", WRONG_ON_PLUS, WRONG, RIGHT, alone, store=root / "store")
    said = succeed("execute", "--store", root / "store", "-n", "20", "--jobs", "1")
    assert "tests: executed those of 2 tasks" in said
    return root / "store"


def row(frame: pl.DataFrame, model: str) -> dict[str, object]:
    """Return one model's row."""
    return frame.filter(model=model).row(0, named=True)


def test_each_group_of_tests_has_its_pass_at_1(made: Path) -> None:
    table = make_table("tests", TableRequest(store=made))
    assert table.notes[0] == "tests of HumanEval+: base 3 in 2 tasks, plus 5 in 2 tasks"
    assert "inputs domain: n = 20" in table.notes
    assert any(note.startswith("no bound links the error by tests") for note in table.notes)
    frame = table.frame.drop("temperature", "m", "n")
    assert frame.columns == [
        *("benchmark", "model", "tasks", "pass_at_1_base", "pass_at_1_plus", "pass_at_1_all_tests"),
        *("pass_at_1_domain", "error_domain", "incoherence_domain"),
    ]
    good, mixed, mean = (frame.filter(model=model).row(0) for model in ("good", "mixed", "mean"))
    assert good == ("HumanEval+", "good", 2, 1.0, 1.0, 1.0, 1.0, 0.0, 0.0)
    # All have two candidates, so two are counted: of mixed one passes the base tests, none the others.
    assert (mixed[3:6], mean[3:6]) == ((0.5, 0.0, 0.0), (0.75, 0.5, 0.5))
    theirs = row(dt.open(made).table("4").frame, "mixed")
    assert mixed[7:] == (theirs["mean_error"], theirs["mean_incoherence"])


def test_a_model_alone_is_judged_by_all_its_candidates(made: Path) -> None:
    mixed = row(make_table("tests", TableRequest(store=made, only=("mixed",))).frame, "mixed")
    # Of three programs two pass the base tests, one all; of four, three and two.
    assert mixed["pass_at_1_base"] == pytest.approx((2 / 3 + 3 / 4) / 2)
    assert mixed["pass_at_1_plus"] == mixed["pass_at_1_all_tests"] == pytest.approx((1 / 3 + 2 / 4) / 2)


def test_fewer_candidates_and_intervals(made: Path) -> None:
    frame = make_table("tests", TableRequest(store=made, m=2, intervals=True, resamples=200)).frame
    mixed = row(frame, "mixed")
    assert mixed["pass_at_1_base"] == pytest.approx(1 / 2)
    assert mixed["pass_at_1_plus"] == 0.0
    assert {"pass_at_1_base_low", "error_domain_high"} <= set(frame.columns)


def test_a_results_store_knows_the_groups(made: Path, tmp_path: Path) -> None:
    export_results(Store.open(made), tmp_path / "results")
    for reading in (Reading(), Reading(inputs="domain")):
        here = make_table("tests", TableRequest(store=tmp_path / "results", reading=reading)).frame
        assert here.equals(make_table("tests", TableRequest(store=made, reading=reading)).frame)


def test_a_task_without_tests_is_left_out_and_counted(tmp_path: Path) -> None:
    typed = {**THIRD, "prompt": 'def third(x: float) -> float:\n    """Return a third of x."""\n', "plus_input": []}
    imported(tmp_path / "good", RIGHT, WRONG, tasks=(DOUBLE, typed), store=tmp_path / "store")
    succeed("execute", "--store", tmp_path / "store", "-n", "5", "--jobs", "1")
    table = make_table("tests", TableRequest(store=tmp_path / "store"))
    # The second task has base tests alone: it counts there, and among all tests.
    assert row(table.frame, "good")["pass_at_1_plus"] == pytest.approx(1 / 2)
    assert "tests of HumanEval+: base 3 in 2 tasks, plus 3 in 1 tasks" in table.notes


@pytest.mark.slow
def test_no_tests_leaves_them_out(tmp_path: Path) -> None:
    imported(tmp_path / "good", RIGHT, store=tmp_path / "store")
    said = succeed("execute", "--store", tmp_path / "store", "-n", "5", "--jobs", "1", "--no-tests")
    assert "tests:" not in said
    with pytest.raises(NoStore, match="holds no results on tests; run `difftrust execute"):
        make_table("tests", TableRequest(store=tmp_path / "store"))
    notes = dt.execute(tmp_path / "store", n=5, n_jobs=1).notes
    assert "tests of 2 tasks executed, 0 needed nothing" in notes


def test_candidates_of_humaneval_are_taken_as_those_of_humaneval_plus(tmp_path: Path) -> None:
    rows = [("HumanEval", task_id, "some", 0.6, 0, code) for task_id, code in RIGHT.items()]
    columns = ["benchmark", "task_id", "model", "temperature", "sample_index", "code"]
    pl.DataFrame(rows, schema=columns, orient="row").write_parquet(tmp_path / "candidates.parquet")
    tasks, root = write_release(tmp_path / "plus.jsonl"), tmp_path / "store"
    succeed("import", tmp_path / "candidates.parquet", "--tasks", tasks, "--benchmark", "HumanEval", "--store", root)
    assert set(Store.open(root).read("candidates")["benchmark"]) == {"HumanEval+"}
