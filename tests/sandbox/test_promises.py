"""SECURITY.md names a test for each promise: it exists, and the groups of attacks that it names do, too."""

import ast
import re
from pathlib import Path

import pytest

from tests.hostile.attacks import GROUPS

REPOSITORY = Path(__file__).parents[2]
PAGE = (REPOSITORY / "SECURITY.md").read_text()
PROMISES = re.findall(r"^\| ([^|]+) \| `(tests/[^`]+\.py)::(\w+)`(?: \(([^)]+)\))? \|$", PAGE, re.MULTILINE)


def test_each_promise_is_in_the_table() -> None:
    (table,) = re.findall(r"\| promise \| test \|\n\|---\|---\|\n((?:\|.*\n)+)", PAGE)
    assert len(PROMISES) == len(table.splitlines())
    assert len(PROMISES) >= 15


@pytest.mark.parametrize(("file", "name", "groups"), [row[1:] for row in PROMISES], ids=[row[0] for row in PROMISES])
def test_the_test_of_a_promise_is_there(file: str, name: str, groups: str) -> None:
    tree = ast.parse((REPOSITORY / file).read_text())
    assert name in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
    assert {*re.findall(r"`(\w+)`", groups)} <= GROUPS.keys()


def test_every_test_that_the_page_names_is_there() -> None:
    named = set(re.findall(r"`(tests/[\w/.]+)", PAGE))
    assert named == {name for name in named if (REPOSITORY / name).exists()}


def test_the_page_says_how_many_attacks_there_are() -> None:
    (least,) = re.findall(r"holds more than (\d+) programs", PAGE)
    assert int(least) < sum(map(len, GROUPS.values()))
