"""Tasks in other languages in the explorer: the databases of a query, and the texts of a script as they are."""

import json
from pathlib import Path
from typing import Any

import pytest

from difftrust.explorer.cube import cube_of
from difftrust.explorer.home import task_details
from difftrust.tasks.task_sentences import spelled_database, spelled_text
from difftrust_core.estimates.pool import load_pool
from difftrust_core.store.store import Store
from tests.support.command import executed_samples, succeed

QUERY, OTHER_QUERY = "SELECT count(*) FROM book WHERE pages > 300", "SELECT count(*) FROM book"
RIGHT = "n = int(input())\na = list(map(int, input().split()))\nprint(max(a))\nprint(*sorted(a))\n"
OTHER = (
    "import sys\ndef main():\n    _, *a = map(int, sys.stdin.read().split())\n    a.sort()\n"
    "    sys.stdout.write(f'{a[-1]} \\n' + ' '.join(map(str, a)) + '\\n\\n')\nmain()\n"
)
WRONG = RIGHT.replace("max(a)", "max(0, *a)").replace("sorted(a)", "sorted({*a})")
RAISES = RIGHT.replace("\n", "\nif n > 4: raise ValueError\n", 1)
SCRIPT: dict[str, Any] = {
    "task_id": "own/largest",
    "language": "stdin",
    "entry_point": "main",
    "signature": "(text: str) -> str",
    "description": "Print the largest of n <b>numbers</b>, then all of them sorted.",
    "seed_inputs": ["('3\\n1 -2 3\\n',)", "('5\\n7 7 7 -8 1\\n',)", "('2\\n-5 -6\\n',)"],
    "reference": RIGHT,
}


def test_texts_of_a_script_are_shown_as_they_are(tmp_path: Path) -> None:
    (tmp_path / "own.jsonl").write_text(json.dumps(SCRIPT) + "\n")
    codes = {SCRIPT["task_id"]: (RIGHT, OTHER, WRONG, RAISES)}
    store = executed_samples(tmp_path, codes, n=50, tasks=("--tasks", tmp_path / "own.jsonl"))
    succeed(*f"execute --store {store} -n 50 --jobs 1 --inputs domain".split())
    (task,) = cube_of(Store.open(store), "own")["tasks"]
    shown = [one["arguments"] for one in (*task["telling"], *task["smallest"])]
    assert any(len(text.split("\n")) >= 2 and text.split("\n")[0].isdigit() for text in shown), shown
    assert "('" not in "".join(shown)


@pytest.mark.slow
def test_a_query_shows_its_databases_and_its_program(tmp_path: Path) -> None:
    task_id = "starter-sql/long_books"
    folder = executed_samples(tmp_path, {task_id: (QUERY, OTHER_QUERY)}, n=20, tasks=("--benchmark", "starter-sql"))
    store = Store.open(folder)
    pool = load_pool(store, "starter-sql")
    (coder,) = pool.members
    found = task_details(store, pool, task_id, coder, m=2, n=20)
    assert "How many books have more than 300 pages?" in found["description"]
    assert {QUERY, OTHER_QUERY} <= {"".join(piece for piece, _ in pieces) for _, pieces in found["programs"]}
    (task,) = [one for one in cube_of(store, "starter-sql")["tasks"] if one["id"] == task_id]
    assert all(one["arguments"].startswith("author: ") for one in task["telling"])


DATABASE = "author: 2 rows\n    (1, 'Joe', None)\n    (2, 'a\\nb', 0.5)\nbook: 0 rows"


def test_databases_and_texts_are_spelled_and_what_is_none_is_left() -> None:
    assert spelled_database("({'author': [(1, 'Joe', None), (2, 'a\\nb', 0.5)], 'book': []},)") == DATABASE
    assert [spelled_text(text) for text in ("('3\\n1 2\\n',)", "'<b>6</b>\\n7'", "''")] == [
        "3\n1 2\n", "<b>6</b>\n7", "(empty)",
    ]  # fmt: skip
    for other in ("({'author': [(1, 'Jo…", "(1,)", "(1, 2)", "({'a': 3},)"):
        assert spelled_database(other) == other
    for other in ("('3\\n1 2…", "(1,)", "('a', 'b')", "'aaa…#0123"):
        assert spelled_text(other) == other
