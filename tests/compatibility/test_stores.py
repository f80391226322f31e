"""Stores that earlier code wrote are resumed, are whole, and show what they showed then."""

import json
import shutil
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.compatibility.golden import DATA, assert_golden, digest
from tests.support.command import Capture, run, succeed

STORES = DATA / "stores"
TABLES = (
    *("2", "3a", "3b", "3c", "4", "selection", "questions", "rankings", "readings", "undetected", "suspects"),
    *("draws", "guarantee", "policies", "tests"),
)
GENERATE = (
    *("generate", "--benchmark", "starter", "--task", "starter/split_bill", "-j", 1),
    *("--model", "simulated/strong", "--model", "simulated/weak"),
)
FIRST_TEXT = "min(program_id) over (partition by benchmark, task_id, tree_id) as first_text"
"""What tells programs apart, whatever their ids."""
ROWS = {
    "tasks": "select * from tasks order by all",
    "candidates": "select * from candidates order by all",
    "programs": f"select * exclude (behaviour_ids, cpu_seconds, tree_id), {FIRST_TEXT} from programs order by all",
    "inputs": "select * from inputs order by all",
    "executions": f"""
        select * exclude (behaviour_id, restarts, cpu_seconds, peak_kb, tree_id), {FIRST_TEXT}
        from executions left join program_texts using (benchmark, task_id, tree_id) order by all""",
    "estimates": "select * from estimates order by all",
    "outcomes": f"""
        select executions.task_id, {FIRST_TEXT}, input_index, kind, text
        from executions
        left join (select distinct benchmark, task_id, tree_id, program_id from program_texts)
            using (benchmark, task_id, tree_id)
        join behaviours using (benchmark, start, task_id, behaviour_id)
        join outcomes using (benchmark, start, task_id)
        where outcome_ids[input_index - start + 1] = outcome_id
        order by all""",
}
"""Of every view what it says; how behaviours are numbered, the ids of programs and how long a run took are left out."""


@pytest.fixture
def copied(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    """Return a copy of the store that the test names."""
    return Path(shutil.copytree(STORES / request.param, tmp_path / request.param))


def columns_and_rows(store: Path, query: str) -> dict[str, Any]:
    """Return what a query says: columns, how many rows, the first, and the sha256 of all."""
    rows = json.loads(succeed("sql", query, "--store", store, "--format", "json"))
    return {"columns": list(rows[0]) if rows else [], "n": len(rows), "first": rows[:1], "sha256": digest(rows)}


def shown(capsys: Capture, store: Path, tables: tuple[str, ...] = TABLES) -> dict[str, Any]:
    """Return what a store shows: its rows, and its tables or why there is none."""
    model = columns_and_rows(store, "select min(model) as model from candidates")["first"][0]["model"]
    found: dict[str, Any] = {name: columns_and_rows(store, query) for name, query in ROWS.items()}
    capsys.readouterr()  # what the queries and commands before them wrote to standard error
    for name in tables:
        chosen = ("--model", model) if name in ("3a", "3b", "3c", "policies") else ()
        chosen = ("--delta", "0.1") if name == "guarantee" else chosen
        said = run(capsys, "table", name, "--store", store, "--format", "json", *chosen)
        found[f"table {name}"] = json.loads(said.out) if said.status == 0 else said.err.replace(str(store), "STORE")
    return found


def verify(store: Path) -> None:
    """Assert that nothing is wrong with a store."""
    assert json.loads(succeed("verify", "--store", store, "--json", "-j", 1))["findings"] == []


@pytest.mark.quick(1)
@pytest.mark.parametrize("copied", ["tests", "contest", "half", "replies", "sql", "domain"], indirect=True)
def test_a_store_is_whole_and_shows_what_it_showed(copied: Path, capsys: Capture) -> None:
    verify(copied)
    assert_golden(f"store_{copied.name}", shown(capsys, copied, TABLES if copied.name == "contest" else ("4",)))


@pytest.mark.quick(1)
@pytest.mark.parametrize("copied", ["tests", "half", "sql", "domain"], indirect=True)
def test_a_store_is_resumed(copied: Path, capsys: Capture) -> None:
    succeed("execute", "--store", copied, "-n", 30, "-j", 1)
    verify(copied)
    tables = TABLES if copied.name in ("half", "domain") else ("4", "selection", "tests")
    assert_golden(f"store_{copied.name}_resumed", shown(capsys, copied, tables))


@pytest.mark.parametrize("copied", ["half"], indirect=True)
def test_a_resumed_store_keeps_what_was_executed(copied: Path) -> None:
    query = "select task_id, input_index, arguments from inputs where start = 0 and task_id like '%bill' order by all"
    before = columns_and_rows(copied, query)
    assert before["n"] == 12
    programs = "select cpu_seconds from executions where start = 0 and task_id like '%bill' order by all"
    read_seconds = partial(succeed, "sql", programs, "--store", copied, "--format", "json")
    seconds = json.loads(read_seconds())
    succeed("execute", "--store", copied, "-n", 12, "-j", 1)
    assert columns_and_rows(copied, query) == before
    now = json.loads(read_seconds())
    assert [row for row in seconds if row in now] == seconds


@pytest.mark.slow
@pytest.mark.parametrize("copied", ["replies"], indirect=True)
def test_replies_are_not_asked_for_again(copied: Path, capsys: Capture) -> None:
    kept = {path: path.read_text() for path in sorted(copied.rglob("replies.jsonl"))}
    assert "2 replies (0 without a program) by 2 requests" in succeed(*GENERATE, "-m", 3, "--store", copied)
    assert len(kept) == 2
    assert all(path.read_text().startswith(text) for path, text in kept.items())
    succeed("execute", "--store", copied, "-n", 12, "-j", 1)
    verify(copied)
    assert_golden("store_replies_resumed", shown(capsys, copied, ("4", "selection")))


@pytest.mark.parametrize("copied", ["replies"], indirect=True)
def test_candidates_come_back_from_replies(copied: Path) -> None:
    query = ROWS["candidates"]
    before = columns_and_rows(copied, query)
    for name in ("candidates", "programs"):
        shutil.rmtree(copied / name)
    succeed(*GENERATE, "-m", 2, "--store", copied)
    assert columns_and_rows(copied, query) == before
