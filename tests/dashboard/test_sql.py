"""The task page on a text-to-SQL task: its tables, databases and queries."""

import html
import re
from pathlib import Path

import pytest

from difftrust.tasks.task_sentences import spelled_database
from tests.support.command import executed_samples
from tests.support.pages import opened, shown

TASK, OTHER = "starter-sql/long_books", "SELECT count(*) FROM book"


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The reference and another query for a starter task, executed on a few databases."""
    codes = {TASK: (f"{OTHER} WHERE pages > 300", OTHER)}
    return executed_samples(tmp_path_factory.mktemp("sql"), codes, n=20, tasks=("--benchmark", "starter-sql"))


def test_a_database_has_a_line_a_row() -> None:
    assert spelled_database("({'author': [(1, 'Joe', None), (2, 'a\\nb', 0.5)], 'book': []},)").splitlines() == [
        "author: 2 rows",
        "    (1, 'Joe', None)",
        "    (2, 'a\\nb', 0.5)",
        "book: 0 rows",
    ]
    for other in ("({'author': [(1, 'Jo…", "(1,)", "(1, 2)", "({'a': 3},)"):
        assert spelled_database(other) == other


@pytest.mark.slow
def test_a_sql_task_shows_its_tables_its_databases_and_its_queries(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DIFFTRUST_STORE", str(store))
    at = opened("task", benchmark="starter-sql", task=TASK)
    words = shown(at)
    assert "CREATE TABLE book" in words
    assert "How many books have more than 300 pages?" in words
    assert "def " not in words
    right = f"{OTHER} WHERE pages > 300"
    (sides,) = [line for line in words.split("\n") if "difftrust-side" in line and "<section" in line]
    assert sides.count("<section") == 2
    assert OTHER in re.sub("<[^>]*>", "", sides)
    assert html.escape(right) in re.sub("<[^>]*>", "", sides)
    assert any(code.value.startswith("author: ") for code in at.code)
    assert not any(code.language == "python" for code in at.code)
