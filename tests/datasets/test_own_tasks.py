"""Own tasks: modules, TOML, JSONL and folders, read without running anything of them."""

import gzip
import json
import tomllib
from pathlib import Path
from typing import Any

import pytest

from difftrust_core.base.task import Domain, Order, Task, TaskTest
from difftrust_core.datasets import own_tasks
from difftrust_core.datasets.own_tasks import load_tasks
from difftrust_core.exceptions import BadBenchmark

MODULE = '''
"""A shop."""
import math
from dataclasses import dataclass

open("/tmp/never", "w")
RATE = 3
LIMIT = 9


@dataclass
class Item:
    price: int


def total(items: list[Item], rate: "int") -> int:
    """Return what the items cost, at most LIMIT."""
    return min(LIMIT, sum(_price(item) for item in items) * rate * RATE)


def _price(item):
    return helper(item.price)


def helper(x):
    return math.floor(x)


def twice(x):
    """Return the double.

    >>> twice(2)
    4
    >>> twice("a")  # doctest: +ELLIPSIS
    'a...'
    >>> print(twice(3))
    6
    """
    ...


def accept_twice(arguments, output):
    return helper(output) == 2 * arguments[0]


def requires_total(items, rate):
    return rate > 0


def quiet(x):
    return x
'''


def write(tmp_path: Path, name: str, text: str) -> Path:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return path


def entry(**fields: Any) -> dict[str, Any]:
    known = {"task_id": "mine/f", "signature": "(x: int) -> int", "description": "Return x."}
    return {name: value for name, value in (known | fields).items() if value is not None}


def load_entry(tmp_path: Path, **fields: Any) -> Task:
    (task,) = load_tasks(write(tmp_path, "own.jsonl", json.dumps(entry(**fields)) + "\n"))
    return task


@pytest.fixture
def shop(tmp_path: Path) -> list[Task]:
    """Return the tasks of MODULE: total and twice."""
    return load_tasks(write(tmp_path, "shop.py", MODULE))


def test_functions_with_docstrings_are_tasks(shop: list[Task]) -> None:
    total, twice = shop
    assert (total.benchmark, total.task_id, total.entry_point) == ("shop", "total", "total")
    assert total.signature == "(items: list[Item], rate: 'int') -> int"
    assert total.description == "Return what the items cost, at most LIMIT."
    assert twice.reference is None
    assert not Path("/tmp/never").exists()


def test_candidates_get_what_signature_and_docstring_name_and_references_the_rest(shop: list[Task]) -> None:
    total, twice = shop
    reference = total.reference or ""
    for text in ("class Item", "LIMIT = 9"):
        assert text in total.preamble
    for text in ("RATE = 3", "def helper", "def _price"):
        assert (text in reference, text in total.preamble) == (True, False)
    assert "import math" in twice.preamble
    assert "class Item" not in reference
    assert "open(" not in reference + total.preamble + twice.preamble


HELPED = """
try:
    from math import isqrt
except ImportError:
    isqrt = None

SQUARES = {}
for i in range(9):
    SQUARES[i] = i * i
if SQUARES:
    BASE = 2
else:
    BASE = 3
ROOTS = [root(4)]


def root(n: int) -> int:
    "Return the root of n, one of ROOTS; at least BASE."
    return max(BASE, later(n) or isqrt(n))


def later(n):
    return SQUARES.get(n)


def other(x: int) -> int:
    "Return x."
    return root(x)


later.cache = {}
if __name__ == "__main__":
    print(root(3))
"""


def test_what_blocks_bind_and_change_is_known_and_no_task_is_given_away(tmp_path: Path) -> None:
    root, other = load_tasks(write(tmp_path, "own.py", HELPED))
    reference = root.reference or ""
    assert "SQUARES[i] = i * i" in reference
    assert "isqrt = None" in reference
    assert reference.index("def later") < reference.index("later.cache")
    assert "def root" not in root.preamble + other.preamble
    assert "ROOTS" not in root.preamble
    assert "print" not in reference
    names: dict[str, Any] = {}
    exec(root.preamble + reference, names)  # a module of this test's own
    assert (names["root"](3), names["root"](81)) == (9, 9)
    exec(other.preamble + (other.reference or ""), names)
    assert names["other"](4) == 16


def test_null_is_as_if_it_were_not_there(tmp_path: Path) -> None:
    path = write(tmp_path, "own.jsonl", json.dumps(entry() | {"reference": None, "examples": None, "domain": None}))
    assert load_tasks(path) == load_tasks(write(tmp_path, "own.jsonl", json.dumps(entry())))


def test_doctests_with_literals_are_examples_and_seeds(shop: list[Task]) -> None:
    twice = shop[1]
    assert twice.tests == (TaskTest(arguments="(2,)", expected="4", group="examples"),)
    assert twice.public_inputs == ("(2,)",)
    assert twice.domain == Domain(types="x: int")
    assert twice.seed_inputs[0] == "(2,)"
    assert 50 < len(set(twice.seed_inputs)) == len(twice.seed_inputs) <= 100


def test_functions_named_for_a_task_are_its_relation_and_domain(shop: list[Task]) -> None:
    total, twice = shop
    assert twice.relation is not None
    assert "def helper" in twice.relation.accept
    assert "def accept(arguments, output):" in twice.relation.accept
    assert total.domain is not None
    assert "def requires(items, rate):" in total.domain.requires


@pytest.mark.parametrize("reference", ["def f(x):\n    pass\n", 'def f(x):\n    """Doc."""\n', "def f(x): ...\n"])
def test_a_reference_that_does_nothing_is_refused(tmp_path: Path, reference: str) -> None:
    with pytest.raises(BadBenchmark, match="expected a"):
        load_entry(tmp_path, reference=reference)


def test_toml_and_jsonl_say_the_same(tmp_path: Path) -> None:
    text = """
benchmark = "mine"
[[task]]
task_id = "mine/f"
signature = "(x: list[int]) -> list[int]"
description = "Sort."
relation = "unordered"
atol = 0.5
examples = [["([2, 1],)", "[1, 2]"]]
tests = [["([],)", "[]"]]
domain = {requires = "len(x) < 9"}
"""
    (one,) = load_tasks(write(tmp_path, "own.toml", text))
    (fields,) = tomllib.loads(text).pop("task")
    (other,) = load_tasks(write(tmp_path, "own.jsonl", json.dumps({"benchmark": "mine", **fields})))
    assert one == other
    assert one.relation is not None
    assert (one.relation.order, one.relation.atol) == (Order.UNORDERED, 0.5)
    assert [test.group for test in one.tests] == ["examples", "tests"]
    assert one.seed_inputs[:2] == ("([2, 1],)", "([],)")
    assert one.public_inputs == ("([2, 1],)",)


@pytest.mark.parametrize(
    ("fields", "n_seeds", "domain"),
    [
        ({}, 100, Domain()),
        ({"seed_inputs": ["(1,)"]}, 1, Domain()),
        ({"signature": "(x)"}, 0, None),
        ({"signature": "(x)", "seed_inputs": [f"({'[' * 150}{']' * 150},)"]}, 1, None),
        (
            {"signature": "(x, y=3)", "examples": [["([1, 2],)", "3"], ["([], 4)", "0"]]},
            100,
            Domain(types="x: list[int], y: int"),
        ),
    ],
    ids=["types", "seeds", "neither", "seeds of great depth say no type", "types of seeds stand in for annotations"],
)
def test_seeds_that_are_given_are_the_only_ones_and_types_give_the_same_every_time(
    tmp_path: Path, fields: dict[str, Any], n_seeds: int, domain: Domain | None
) -> None:
    task = load_entry(tmp_path, **fields)
    assert (len(task.seed_inputs), task.domain) == (n_seeds, domain)
    assert task == load_entry(tmp_path, **fields)


def test_a_folder_is_all_its_files_under_one_name(tmp_path: Path) -> None:
    folder = tmp_path / "both"
    folder.mkdir()
    write(folder, "a.py", 'def f(x: int) -> int:\n    """Doc."""\n')
    (folder / "b.jsonl.gz").write_bytes(gzip.compress(json.dumps(entry()).encode()))
    assert [(t.benchmark, t.task_id) for t in load_tasks(folder)] == [("both", "f"), ("both", "mine/f")]


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        (
            "own.py",
            'def f(x: int) -> int:\n    """Doc."""\n    pass\n',
            "line 1, f: expected a reference, or `...` for",
        ),
        ("humaneval.jsonl", json.dumps(entry()), "HumanEval is another benchmark"),
    ],
)
def test_a_body_of_pass_and_the_name_of_a_known_benchmark_are_refused(
    tmp_path: Path, name: str, text: str, said: str
) -> None:
    with pytest.raises(BadBenchmark, match=said):
        load_tasks(write(tmp_path, name, text))


def test_a_name_of_more_than_200_characters_is_refused_in_one_line(tmp_path: Path) -> None:
    path = tmp_path / "tasks.jsonl"
    path.write_text(json.dumps(entry(task_id="t" * 200, entry_point="f", reference=None)))
    assert len(load_tasks(path)[0].task_id) == 200
    for changed in ({"task_id": "t" * 900_000}, {"entry_point": "f" * 201}, {"benchmark": "b" * 201}):
        path.write_text(json.dumps(entry(**changed)))
        with pytest.raises(BadBenchmark, match=r"^[^\n]{,300}at most 200 characters[^\n]{,200}$"):
            load_tasks(path)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("tasks.jsonl", '{{"task_id": "f{0}", "signature": "(x: int)", "description": "d"}}\n'),
        ("tasks.toml", '[[task]]\ntask_id = "f{0}"\nsignature = "(x: int)"\ndescription = "d"\n'),
        ("tasks.py", 'def f{0}(x: int):\n    """d"""\n    ...\n'),
    ],
)
def test_a_short_file_cannot_ask_for_hours_of_drawing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, text: str
) -> None:
    path = write(tmp_path, name, "".join(text.format(i) for i in range(4)))
    assert len(load_tasks(path)) == 4
    monkeypatch.setattr(own_tasks, "MOST_WORK", 20_000)
    with pytest.raises(BadBenchmark, match=r"expected fewer tasks in one file, .* at task [34]; divide it into files"):
        load_tasks(path)


@pytest.mark.parametrize("text", ["[a.{0}]\n", "a.{0} = 1\n", "a = {{b.{0} = 1}}\n"])
def test_names_of_too_many_parts_are_refused_before_they_are_read(tmp_path: Path, text: str) -> None:
    path = write(tmp_path, "own.toml", text.format(".".join("1" * 1_000)))
    with pytest.raises(BadBenchmark, match="too many names of tables and keys, or too many parts in them"):
        load_tasks(path)
