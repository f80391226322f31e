"""The explorer on a text-to-SQL task: its databases and queries."""

from pathlib import Path

import pytest

from difftrust.explorer.cube import cube_of
from difftrust.explorer.home import task_details
from difftrust.tasks.task_sentences import spelled_database
from difftrust_core.estimates.pool import load_pool
from difftrust_core.store.store import Store
from tests.support.command import executed_samples

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
def test_a_sql_task_shows_its_databases_and_its_queries(store: Path) -> None:
    read = Store.open(store)
    pool = load_pool(read, "starter-sql")
    ((model, temperature),) = pool.members
    found = task_details(read, pool, TASK, (model, temperature), m=2, n=20)
    assert "How many books have more than 300 pages?" in found["description"]
    codes = ["".join(piece for piece, _ in pieces) for _, pieces in found["programs"]]
    assert {OTHER, f"{OTHER} WHERE pages > 300"} <= set(codes)
    (task,) = [one for one in cube_of(read, "starter-sql")["tasks"] if one["id"] == TASK]
    assert all(one["arguments"].startswith("author: ") for one in task["telling"])
