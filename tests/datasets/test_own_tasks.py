"""Own tasks: modules, TOML, JSONL and folders, read without running anything of them."""

import gzip
import json
import tomllib
from pathlib import Path
from typing import Any

import pytest

from difftrust.pipeline import refuse_without_inputs
from difftrust_core.base.task import Domain, Order, Task, TaskTest
from difftrust_core.datasets import own_tasks
from difftrust_core.datasets.own_tasks import load_tasks
from difftrust_core.exceptions import BadBenchmark, NoBenchmark

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


def test_functions_with_docstrings_are_tasks(tmp_path: Path) -> None:
    total, twice = load_tasks(write(tmp_path, "shop.py", MODULE))
    assert (total.benchmark, total.task_id, total.entry_point) == ("shop", "total", "total")
    assert total.signature == "(items: list[Item], rate: 'int') -> int"
    assert total.description == "Return what the items cost, at most LIMIT."
    assert twice.reference is None
    assert not Path("/tmp/never").exists()


def test_candidates_get_what_signature_and_docstring_name_and_references_the_rest(tmp_path: Path) -> None:
    total, twice = load_tasks(write(tmp_path, "shop.py", MODULE))
    assert "class Item" in total.preamble
    assert "LIMIT = 9" in total.preamble
    assert "RATE = 3" not in total.preamble
    assert "def helper" not in total.preamble
    assert "import math" in twice.preamble
    reference = total.reference or ""
    assert "RATE = 3" in reference
    assert "def helper" in reference
    assert "def _price" in reference
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


def test_seeds_of_great_depth_say_no_type(tmp_path: Path) -> None:
    deep = load_entry(tmp_path, signature="(x)", seed_inputs=[f"({'[' * 150}{']' * 150},)"])
    assert deep.domain is None


def test_doctests_with_literals_are_examples_and_seeds(tmp_path: Path) -> None:
    twice = load_tasks(write(tmp_path, "shop.py", MODULE))[1]
    assert twice.tests == (TaskTest(arguments="(2,)", expected="4", group="examples"),)
    assert twice.public_inputs == ("(2,)",)
    assert twice.domain == Domain(types="x: int")
    assert twice.seed_inputs[0] == "(2,)"
    assert 50 < len(set(twice.seed_inputs)) == len(twice.seed_inputs) <= 100


def test_functions_named_for_a_task_are_its_relation_and_domain(tmp_path: Path) -> None:
    total, twice = load_tasks(write(tmp_path, "shop.py", MODULE))
    assert twice.relation is not None
    assert "def helper" in twice.relation.accept
    assert "def accept(arguments, output):" in twice.relation.accept
    assert total.domain is not None
    assert "def requires(items, rate):" in total.domain.requires


def test_a_body_of_pass_is_no_reference(tmp_path: Path) -> None:
    path = write(tmp_path, "own.py", 'def f(x: int) -> int:\n    """Doc."""\n    pass\n')
    with pytest.raises(BadBenchmark, match=r"own.py, line 1, f: expected a reference, or `...` for a task without one"):
        load_tasks(path)


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


def test_given_seed_inputs_are_the_only_ones(tmp_path: Path) -> None:
    assert load_entry(tmp_path, seed_inputs=["(1,)"]).seed_inputs == ("(1,)",)


def test_types_give_the_same_seeds_every_time(tmp_path: Path) -> None:
    one, other = load_entry(tmp_path), load_entry(tmp_path)
    assert one == other
    assert len(one.seed_inputs) == 100
    assert one.domain == Domain()


def test_a_task_without_seeds_and_types_is_named(tmp_path: Path) -> None:
    task = load_entry(tmp_path, signature="(x)")
    assert (task.seed_inputs, task.domain) == ((), None)
    with pytest.raises(BadBenchmark, match="found none for mine/f; annotate the parameters"):
        refuse_without_inputs([task])


def test_types_of_seeds_stand_in_for_annotations(tmp_path: Path) -> None:
    task = load_entry(tmp_path, signature="(x, y=3)", examples=[["([1, 2],)", "3"], ["([], 4)", "0"]])
    assert task.domain == Domain(types="x: list[int], y: int")


def test_a_folder_is_all_its_files_under_one_name(tmp_path: Path) -> None:
    folder = tmp_path / "both"
    folder.mkdir()
    write(folder, "a.py", 'def f(x: int) -> int:\n    """Doc."""\n')
    (folder / "b.jsonl.gz").write_bytes(gzip.compress(json.dumps(entry()).encode()))
    assert [(t.benchmark, t.task_id) for t in load_tasks(folder)] == [("both", "f"), ("both", "mine/f")]


def test_the_name_of_a_known_benchmark_is_taken(tmp_path: Path) -> None:
    with pytest.raises(BadBenchmark, match="HumanEval is another benchmark"):
        load_tasks(write(tmp_path, "humaneval.jsonl", json.dumps(entry())))


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(NoBenchmark, match=r"none.py does not exist"):
        load_tasks(tmp_path / "none.py")


def test_a_name_of_more_than_200_characters_is_refused_in_one_line(tmp_path: Path) -> None:
    path = tmp_path / "tasks.jsonl"
    path.write_text(json.dumps(entry(task_id="t" * 200, entry_point="f", reference=None)))
    assert len(load_tasks(path)[0].task_id) == 200
    for changed in ({"task_id": "t" * 900_000}, {"entry_point": "f" * 201}, {"benchmark": "b" * 201}):
        path.write_text(json.dumps(entry(**changed)))
        with pytest.raises(BadBenchmark, match=r"^[^\n]{,300}at most 200 characters[^\n]{,200}$"):
            load_tasks(path)


@pytest.mark.parametrize("name", ["tasks.jsonl", "tasks.toml", "tasks.py"])
def test_a_short_file_cannot_ask_for_hours_of_drawing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    fields = 'task_id = "f{0}"\nsignature = "(x: int)"\ndescription = "d"\n'
    texts = {
        "tasks.py": 'def f{0}(x: int):\n    """d"""\n    ...\n',
        "tasks.toml": "[[task]]\n" + fields,
        "tasks.jsonl": '{{"task_id": "f{0}", "signature": "(x: int)", "description": "d"}}\n',
    }
    path = tmp_path / name
    path.write_text("".join(texts[name].format(i) for i in range(4)))
    assert len(load_tasks(path)) == 4
    monkeypatch.setattr(own_tasks, "MOST_WORK", 20_000)
    with pytest.raises(BadBenchmark, match=r"expected fewer tasks in one file, .* at task [34]; divide it into files"):
        load_tasks(path)


@pytest.mark.parametrize("text", ["[a.{0}]\n", "a.{0} = 1\n", "a = {{b.{0} = 1}}\n"])
def test_names_of_too_many_parts_are_refused_before_they_are_read(tmp_path: Path, text: str) -> None:
    path = write(tmp_path, "own.toml", text.format(".".join("1" * 1_000)))
    with pytest.raises(BadBenchmark, match="too many names of tables and keys, or too many parts in them"):
        load_tasks(path)
