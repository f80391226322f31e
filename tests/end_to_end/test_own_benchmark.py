"""A folder of six functions of one's own, from a model to the dashboard in five commands."""

import os
import re
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from difftrust_core.store.store import Store
from tests.bench.processes import DIFFTRUST, run
from tests.support.llm_server import Asked, Server
from tests.support.pages import opened, shown

pytestmark = pytest.mark.slow

MODULE = '''
"""Functions of ours."""
import math

LIMIT = 1000


def clamp(value: int) -> int:
    """Return the value, but at least 0 and at most LIMIT.

    >>> clamp(-3)
    0
    """
    return max(0, min(LIMIT, value))


def initials(name):
    """Return the first letters of the words of a name, in capitals.

    >>> initials("ada lovelace")
    'AL'
    """
    ...


def root(n: int) -> int:
    """Return the largest whole number whose square is at most n."""
    return _floor(n)


def _floor(n):
    return math.isqrt(n)


def requires_root(n):
    return 0 <= n < 10**6


def pair(numbers: list[int], total: int) -> list[int]:
    """Return the positions of two different numbers that sum to total, in any order; [] if there are none."""


def accept_pair(arguments, output):
    numbers, total = arguments
    if not output:
        return all(a + b != total for i, a in enumerate(numbers) for b in numbers[:i])
    i, j = output
    return i != j and min(i, j) >= 0 and numbers[i] + numbers[j] == total
'''
TABLES = """
benchmark = "folder"

[[task]]
task_id = "letters"
signature = "(word: str) -> list[str]"
description = "Return the distinct letters of a word, in any order."
relation = "unordered"
reference = "def letters(word):\\n    return sorted(set(word))"

[[task]]
task_id = "last"
signature = "(values: list[int]) -> int"
description = "Return the last value, -1 if there is none."
examples = [["([1, 2],)", "2"], ["([],)", "-1"]]
"""
RIGHT = {
    "clamp": ("return sorted([0, value, 1000])[1]", "value"),
    "initials": ('return "".join(word[0].upper() for word in name.split())', "name"),
    "root": ("return int(n ** 0.5)", "n"),
    "pair": (
        "return next(([j, i] for i in range(len(numbers)) for j in range(i) if numbers[i] + numbers[j] == total), [])",
        "numbers, total",
    ),
    "letters": ("return list(dict.fromkeys(word))", "word"),
    "last": ("return values[-1] if values else -1", "values"),
}
OTHER = {
    "pair": "return next(([i, j] for i in range(len(numbers)) for j in range(i) if numbers[i] + numbers[j] == total), [])",  # noqa: E501
    "letters": "return list(dict.fromkeys(reversed(word)))",
}
"""Other right programs, which answer otherwise."""
WRONG = {
    "clamp": "return max(0, value)",
    "pair": "return next(([i, j] for i in range(len(numbers)) for j in range(i) if numbers[i] - numbers[j] == total), [])",  # noqa: E501
    "last": "return values[-1]",
    "letters": "return list(word)",
}


class Model(Server):
    """Three programs of four are right; every fourth is wrong, where there is a wrong one."""

    def said(self, asked: Asked) -> str:
        """Return a program for the function asked for."""
        found = re.search(r"^Name: (\w+)$", asked.prompt, re.MULTILINE)
        assert found
        name = found[1]
        nth = sum(f"Name: {name}\n" in other.prompt for other in self.asked[: asked.serial])
        body, parameters = RIGHT[name]
        body = [body, OTHER.get(name, body), body, WRONG.get(name, body)][nth % 4]
        return f"```python\ndef {name}({parameters}):\n    {body}\n```\n"


def difftrust(words: str, cwd: Path) -> str:
    ended = run([*DIFFTRUST, *words.split()], cwd=cwd, env={**os.environ, "OPENAI_API_KEY": "none"}, limit=300)
    assert ended.status == 0, ended.said
    return ended.stdout


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder in which the first four of five commands have run: the tasks, and the store."""
    folder = tmp_path_factory.mktemp("own")
    (folder / "folder").mkdir()
    (folder / "folder" / "ours.py").write_text(MODULE)
    (folder / "folder" / "more.toml").write_text(TABLES)
    with Model() as server:
        coder = f"--model openai/local --api-base {server.url} -m 4"
        difftrust(f"generate --tasks folder {coder} --store store", folder)
        assert len(server.asked) == 24
    difftrust("execute --store store -n 300", folder)
    return folder


def _estimates(folder: Path) -> dict[str, dict[str, Any]]:
    store = Store.open(folder / "store")
    rows = store.read("estimates").filter(pl.col("validity") == "domain", pl.col("equality") == "paper")
    return {row["task_id"]: row for row in rows.iter_rows(named=True)}


def test_right_programs_that_answer_otherwise_are_not_taken_for_wrong(made: Path) -> None:
    found = _estimates(made)
    assert set(found) == set(RIGHT)
    assert {name for name, row in found.items() if row["incoherence"] > 0} == set(WRONG)


def test_error_is_known_where_a_reference_or_a_checker_is(made: Path) -> None:
    found = _estimates(made)
    assert {name for name, row in found.items() if row["error"] is None} == {"initials", "last"}
    assert {name for name, row in found.items() if row["error"]} == {"clamp", "letters", "pair"}
    for row in found.values():
        assert row["error"] is None or row["incoherence"] <= 2 * row["error"] + 1e-12


def test_the_examples_are_tests_and_some_references_are_named_as_some(made: Path) -> None:
    assert "folder" in difftrust("table tests --store store", made)
    said = difftrust("table 4 --store store", made)
    assert "6 (coder, task) pairs; error known for 4, the others have no reference" in said


SETTING = "folder · temperature 0.6 · m = 4 programs · n = 300 inputs"
SOME_REFERENCES = "These errors are of 4 of the 6 tasks; the others have no reference."


@pytest.mark.parametrize(
    ("page", "said"),
    [("explore", ["Store"]), ("overview", [SETTING, SOME_REFERENCES]), ("signals", [SETTING])],
)
def test_every_page_shows_them(made: Path, page: str, said: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """The settings of Explore are the explorer's own."""
    monkeypatch.setenv("DIFFTRUST_STORE", str(made / "store"))
    words = shown(opened(page))
    assert [each for each in said if each not in words] == []
