"""Text-to-SQL tasks: schema, dialect, fuzzing, mistakes, what the sandbox answers, and the whole way to estimates."""

import json
import os
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from difftrust.demo.simulated import sample_simulated
from difftrust.sql.dialect import for_duckdb
from difftrust.sql.draw_databases import sample_database, smaller_databases
from difftrust.sql.mutants import mutants
from difftrust.sql.parse import NotAQuery, parse_query, tree_id
from difftrust.sql.schema import read_schema, write_schema
from difftrust_core.base.literals import read_literal
from difftrust_core.base.records import Kind
from difftrust_core.base.task import Task
from difftrust_core.datasets.benchmarks import load_benchmark
from difftrust_core.datasets.recorded import Recorded
from difftrust_core.exceptions import BadTask
from difftrust_core.execution.execute import execute
from difftrust_core.generation.extraction import program_of
from difftrust_core.languages.registry import load_language
from difftrust_core.sandbox.host import Limits, OutcomeTable, Sandbox
from difftrust_core.store.imports import add_candidates
from difftrust_core.store.store import Store
from tests.support.distinguish import distinguish, most_rows
from tests.support.estimates import compute_estimates

SQL = load_language("sql")
TASKS = load_benchmark("starter-sql")
BY_ID = {task.task_id.split("/")[1]: task for task in TASKS}
SCHEMA = read_schema(TASKS[0].preamble)
SHAPE = json.dumps({"s": [["a", "BIGINT"], ["b", "VARCHAR"]]})


def test_a_schema_is_read_back_from_its_own_text() -> None:
    assert read_schema(write_schema(SCHEMA)) == SCHEMA
    author, book, _ = SCHEMA.tables
    assert author.key == ("author_id",)
    assert [c.kind for c in book.columns] == ["number", "text", "number", "number", "real"]
    assert book.foreign[0].table == "author"
    with pytest.raises(BadTask, match="CREATE TABLE"):
        read_schema("DROP TABLE author")


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ('SELECT name FROM author WHERE country = "Peru"', "SELECT name FROM author WHERE country = 'Peru'"),
        ("SELECT name FROM author WHERE country = 7", "SELECT name FROM author WHERE country = '7'"),
        ("SELECT name FROM author WHERE born = '7'", "SELECT name FROM author WHERE born = 7"),
        ("SELECT name FROM author WHERE name LIKE 'a%'", "SELECT name FROM author WHERE name ILIKE 'a%'"),
        ("SELECT name, count(*) FROM author GROUP BY born", "SELECT MIN(name), COUNT(*) FROM author GROUP BY born"),
        ("SELECT name, max(born) FROM author", "SELECT ARG_MAX(name, born), MAX(born) FROM author"),
        ("SELECT pages / 2 FROM book", "SELECT pages // NULLIF(2, 0) FROM book"),
        ("SELECT name FROM author LIMIT 1", "SELECT name FROM author ORDER BY 1 LIMIT 1"),
    ],
)
def test_what_sqlite_allows_is_spelled_out_for_duckdb(query: str, expected: str) -> None:
    assert for_duckdb(query, SCHEMA) == (expected, False)


@pytest.mark.parametrize("text", ["", "DROP TABLE author", "SELECT 1; SELECT 2", "SELEC name", "PRAGMA x", "(" * 9000])
def test_what_is_not_one_query_is_refused(text: str) -> None:
    with pytest.raises(NotAQuery):
        parse_query(text)
    assert json.loads(SQL.source(TASKS[0], text))["sql"] == ""


def test_queries_equal_up_to_layout_are_one_program() -> None:
    assert tree_id("SELECT Name FROM author") == tree_id("select name\n from AUTHOR -- all\n")
    assert tree_id("SELECT name FROM author; SELECT 1") != tree_id("SELECT name FROM author")  # it does not load
    assert tree_id("SELECT name FROM author") != tree_id("SELECT country FROM author")
    assert tree_id("SELECT a FROM t WHERE b = 'X'") != tree_id("SELECT a FROM t WHERE b = 'x'")
    assert tree_id('SELECT a FROM t WHERE b = "X"') != tree_id('SELECT a FROM t WHERE b = "x"')


def test_a_database_respects_keys_and_does_not_depend_on_how_many_are_drawn() -> None:
    task = BY_ID["never_lent"]
    texts = [sample_database(task, seed=0, position=i, attempt=0) for i in range(200)]
    assert texts[7] == sample_database(task, seed=0, position=7, attempt=0)
    assert len(set(texts)) > 150
    for text in texts:
        (database,) = read_literal(text)
        assert list(database) == ["author", "book", "loan"]
        for table in SCHEMA.tables:
            keys = [row[0] for row in database[table.name]]
            assert None not in keys
            assert len(set(keys)) == len(keys)
        authors = {row[0] for row in database["author"]}
        assert {row[2] for row in database["book"]} <= authors | {None}
    assert sample_database(task, seed=0, position=0, attempt=100) == "({},)"


def test_the_values_that_a_task_speaks_of_are_drawn_with_their_neighbours() -> None:
    texts = [sample_database(BY_ID["long_books"], seed=0, position=i, attempt=0) for i in range(100)]
    pages = {row[3] for text in texts for row in read_literal(text)[0]["book"]}
    assert {299, 300, 301} <= pages
    texts = [sample_database(BY_ID["oldest_first"], seed=0, position=i, attempt=0) for i in range(100)]
    assert {"Peru", "Chile"} <= {row[2] for text in texts for row in read_literal(text)[0]["author"]}


def test_smaller_databases_keep_foreign_keys() -> None:
    full = {
        "author": [(1, "a", "b", 3), (2, "c", "d", 4)],
        "book": [(5, "t", 1, 2, 0.5)],
        "loan": [(9, 5, "r", None, 1)],
    }
    around = smaller_databases(SCHEMA, frozenset())
    for (left,) in [*around((full,)), *around((full,), coarse=True)]:
        assert sum(map(len, left.values())) < 4
        assert {row[2] for row in left["book"]} <= {row[0] for row in left["author"]}
        assert {row[1] for row in left["loan"]} <= {row[0] for row in left["book"]}


def test_every_mutant_is_another_query() -> None:
    for task in TASKS:
        offered = mutants(task.reference or "", SCHEMA)
        texts = [text for kind in offered.values() for text in kind]
        assert len(texts) == len(set(texts)) > 3
        assert all(tree_id(text) != tree_id(task.reference or "") for text in texts)
    assert set(mutants("SELECT count(*) FROM book WHERE pages > 300", SCHEMA)["wrong_comparison"]) == {
        "SELECT COUNT(*) FROM book WHERE pages >= 300",
        "SELECT COUNT(*) FROM book WHERE pages < 300",
    }


def test_a_query_is_found_in_a_reply() -> None:
    assert program_of("Sure:\n```sql\nSELECT 1\n```\n", "query", SQL).code == "SELECT 1\n"
    assert program_of("select 2", "query", SQL).code == "select 2"
    assert program_of("I cannot.", "query", SQL).code == ""


def test_simulated_coders_write_queries() -> None:
    task = BY_ID["by_country"]
    ten = sample_simulated(task, "simulated/weak", temperature=1.0, m=10, seed=1)
    assert [c.code for c in ten[:5]] == [
        c.code for c in sample_simulated(task, "simulated/weak", temperature=1.0, m=5, seed=1)
    ]
    assert len({c.code for c in ten}) > 1


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    with Sandbox(SQL.limits, runner=SQL.runner) as started:
        yield started


def answers(sandbox: Sandbox, sql: str, ordered: str, *databases: list[Any]) -> list[tuple[Kind, str]]:
    table = OutcomeTable.empty(len(databases))
    sandbox.load(SHAPE, [repr(({"s": rows},)) for rows in databases], table)
    ran = sandbox.run(json.dumps({"sql": sql, "ordered": ordered}), "query")
    return [row[i] for row, i in zip(table.rows, ran.outcome_ids.tolist(), strict=True)]


def test_each_input_is_a_database_and_rows_are_a_bag_unless_an_order_is_asked_for(sandbox: Sandbox) -> None:
    rows = [(2, "x"), (None, "y"), (1, None)]
    assert answers(sandbox, "SELECT a, b FROM s", "bag", rows) == [(Kind.VALUE, "[(None, 'y'), (1, None), (2, 'x')]")]
    assert answers(sandbox, "SELECT a FROM s ORDER BY a DESC", "list", rows) == [(Kind.VALUE, "[(2,), (1,), (None,)]")]
    assert answers(sandbox, "SELECT a FROM s", "open", rows, rows[:1]) == [
        (Kind.VALUE, "Unordered(rows=[(None,), (1,), (2,)])"),
        (Kind.VALUE, "[(2,)]"),
    ]
    found = answers(sandbox, "SELECT count(*), avg(a), a = 1 FROM s GROUP BY 3", "bag", [], [(1, "x")], [(1, "y")] * 2)
    assert [text for _, text in found] == ["[]", "[(1, 1.0, 1)]", "[(2, 1.0, 1)]"]


def _spider() -> Path:
    path = Path(os.environ.get("DIFFTRUST_DATA", "../shared/data")) / "spider" / "dev_questions.jsonl"
    if not path.is_file():
        pytest.skip(f"no Spider questions at {path}; set DIFFTRUST_DATA")
    return path


def _in_sqlite(task: Task, database: dict[str, list[Any]]) -> list[Any]:
    connection = sqlite3.connect(":memory:")
    connection.executescript(task.preamble)
    for table in read_schema(task.preamble).tables:
        marks = ", ".join("?" * len(table.columns))
        connection.executemany(f'INSERT INTO "{table.name}" VALUES ({marks})', database.get(table.name, []))
    rows = connection.execute(task.reference or "").fetchall()
    connection.close()
    return sorted(map(_rounded, rows))


def _rounded(row: tuple[Any, ...]) -> str:
    return repr([float(f"{v:.6g}") if isinstance(v, int | float) else v for v in row])


def test_duckdb_answers_as_sqlite_does(sandbox: Sandbox) -> None:
    n = 20
    for task in TASKS:
        draw = SQL.fuzz(task, 0)
        inputs = [draw(position, 0) for position in range(n)]
        table = OutcomeTable.empty(n)
        sandbox.load(SCHEMA.shape(), inputs, table)
        sql = for_duckdb(task.reference or "", SCHEMA)[0]
        ran = sandbox.run(json.dumps({"sql": sql, "ordered": "bag"}), "query")
        for i, text in enumerate(inputs):
            kind, said = table.rows[i][ran.outcome_ids[i]]
            assert kind is Kind.VALUE
            assert sorted(map(_rounded, read_literal(said))) == _in_sqlite(task, read_literal(text)[0])


def test_every_gold_query_of_spider_can_be_translated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DIFFTRUST_DATA", str(_spider().parents[1]))
    tasks = load_benchmark("Spider")
    assert len(tasks) == 1034
    for task in tasks[::10]:
        assert for_duckdb(task.reference or "", read_schema(task.preamble))[0]


def test_a_distinguishing_database_is_small_and_shows_the_boundary(sandbox: Sandbox) -> None:
    task = BY_ID["long_books"]
    wrong = "SELECT count(*) FROM book WHERE pages >= 300"
    (found,) = distinguish(task, [wrong], sandbox, steps=(30, 60), seed=0)
    (database,) = read_literal(found.smallest.arguments)
    assert most_rows(database) == 1
    assert database["book"][0][3] == 300
    assert found.smallest.minimal


def test_sql_tasks_go_all_the_way_to_estimates(tmp_path: Path) -> None:
    right = [task.reference or "" for task in TASKS]
    wrong = [next(iter(mutants(text, SCHEMA).values()))[0] for text in right]
    rows = [
        (t.benchmark, t.task_id, "m", 0.6, i, code)
        for t, *codes in zip(TASKS, right, right, wrong, ["nonsense"] * len(TASKS), strict=True)
        for i, code in enumerate(codes)
    ]
    columns = ["benchmark", "task_id", "model", "temperature", "sample_index", "code"]
    store = Store.create(tmp_path / "store")
    frame = pl.DataFrame(rows, schema=columns, orient="row")
    add_candidates(store, Recorded(candidates=frame), {"starter-sql": TASKS}, n_jobs=1)
    done = execute(store, n=20, n_jobs=1, say=lambda line: None)
    assert not done.failures
    estimates = compute_estimates(store)["paper"].sort("task_id")
    assert estimates["n_load_errors"].to_list() == [20] * len(TASKS)
    assert (estimates["error"] >= 0.25).all()  # one of four does not load
    assert (estimates["incoherence"] <= 2 * estimates["error"]).all()
    assert (estimates["error"] > 0.25).sum() >= 4  # the mutants differ from the reference somewhere
    inputs = store.read("inputs")["arguments"]
    assert inputs[0].startswith("({'author': [")


HOSTILE = {
    "SELECT * FROM read_csv('/etc/passwd')": {Kind.EXCEPTION},
    "SELECT content FROM read_text('/etc/passwd')": {Kind.EXCEPTION},
    "SELECT * FROM glob('/*')": {Kind.EXCEPTION},
    "SELECT * FROM read_csv('http://127.0.0.1/x.csv')": {Kind.EXCEPTION},
    "SELECT * FROM sys": {Kind.EXCEPTION},  # a variable of the Python around it
    "COPY s TO '/tmp/x'": {Kind.LOAD_ERROR},
    "ATTACH '/tmp/x.db'": {Kind.LOAD_ERROR},
    "INSTALL httpfs": {Kind.LOAD_ERROR},
    "SET memory_limit = '10GB'": {Kind.LOAD_ERROR},
    "SELECT 1; DROP VIEW s": {Kind.LOAD_ERROR},
    "SELECT sum(a.range) FROM range(100000) a, range(100000) b": {Kind.TIMEOUT},
    "WITH RECURSIVE r(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM r) SELECT max(x) FROM r": {Kind.TIMEOUT, Kind.MEMORY},
    "SELECT list(range) FROM range(1000000000)": {Kind.TIMEOUT, Kind.MEMORY},
    "SELECT repeat('x', 1000000000)": {Kind.MEMORY},
    "SELECT * FROM range(1000000000)": {Kind.UNSUPPORTED},
}


@pytest.mark.parametrize("sql", HOSTILE)
def test_a_hostile_query_is_contained(sandbox: Sandbox, sql: str) -> None:
    ((kind, _),) = answers(sandbox, sql, "bag", [(1, "x")])
    assert kind in HOSTILE[sql]
    assert answers(sandbox, "SELECT a FROM s", "bag", [(1, "x")]) == [(Kind.VALUE, "[(1,)]")]


def test_python_candidates_do_not_meet_duckdb() -> None:
    with Sandbox(Limits()) as python:
        table = OutcomeTable.empty(1)
        python.load("", ["()"], table)
        ran = python.run("def f():\n    import _duckdb\n", "f")
    assert table.rows[0][ran.outcome_ids[0]] == (Kind.EXCEPTION, "ModuleNotFoundError")
