"""Every access to an entry of a benchmark file gives the value, or names place, expectation, value and remedy."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from difftrust_core.base.task import Order, Relation
from difftrust_core.datasets.entries import (
    MAX_WRITTEN,
    Entry,
    as_entry,
    load_bytes,
    load_lines,
    load_list,
    load_tables,
    load_toml,
    natural_order,
    plain_id,
    relation_of,
    signature_of,
)
from difftrust_core.datasets.own_tasks import load_tasks
from difftrust_core.exceptions import BadBenchmark
from tests.support.tasks import small_task

ENTRY = Entry(where="file, line 3", remedy="mend it", fields={})


def test_of_several_definitions_the_last_counts() -> None:
    tree = ENTRY.tree("def f(): return 1\ndef g(): pass\ndef f(a: int, *, b=2) -> str: return 2\n", "it")
    function = ENTRY.function(tree, "f", "it")
    assert function.lineno == 3
    assert signature_of(function) == "(a: int, *, b=2) -> str"
    assert signature_of(ENTRY.function(tree, "g", "it")) == "()"


def test_lines_are_numbered_with_blank_ones_and_lists_from_one(tmp_path: Path) -> None:
    path = tmp_path / "tasks"
    path.write_text('\n{"a": 1}\n   \n{"a": 2}')
    assert [(e.where, e.fields) for e in load_lines(path, remedy="r")] == [
        (f"{path}, line 2", {"a": 1}),
        (f"{path}, line 4", {"a": 2}),
    ]
    path.write_text(json.dumps([{"a": 1}, {"a": 2}]))
    assert [e.where for e in load_list(path, remedy="r")] == [f"{path}, entry 1", f"{path}, entry 2"]


def test_what_stands_above_the_tables_holds_for_each_unless_it_says_otherwise(tmp_path: Path) -> None:
    path = tmp_path / "tasks.toml"
    path.write_text('a = 1\nb = 2\n[[task]]\nb = 3\n[[task]]\nc = "x"\n')
    found = [(e.where, e.fields) for e in load_tables(path, remedy="r")]
    assert found == [(f"{path}, task 1", {"a": 1, "b": 3}), (f"{path}, task 2", {"a": 1, "b": 2, "c": "x"})]
    path.write_text("#" * (MAX_WRITTEN + 1))
    with pytest.raises(BadBenchmark, match="expected at most 4,194,304 bytes, found more; r"):
        list(load_tables(path, remedy="r"))


def test_a_mark_of_utf_8_before_toml_is_no_part_of_it(tmp_path: Path) -> None:
    (tmp_path / "tasks.toml").write_text("a = 1\n", encoding="utf-8-sig")
    assert load_toml(tmp_path / "tasks.toml", remedy="r") == {"a": 1}


@pytest.mark.parametrize(("parts", "is_read"), [((700, 100), True), ((700, 100, 1), False), ((708,), False)])
def test_the_squares_of_the_parts_of_names_in_toml_are_half_a_million_at_most(
    tmp_path: Path, parts: tuple[int, ...], is_read: bool
) -> None:
    path = tmp_path / "tasks.toml"
    path.write_text("".join(f"[{'.'.join(letter * n)}]\n" for letter, n in zip("abc", parts, strict=False)))
    if is_read:
        assert list(load_toml(path, remedy="r")) == ["a", "b"]
        return
    with pytest.raises(BadBenchmark, match="too many names of tables and keys"):
        load_toml(path, remedy="r")


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    for read in (load_bytes, lambda path, remedy: list(load_lines(path, remedy=remedy))):
        with pytest.raises(BadBenchmark, match=r"none: expected a readable file, found: No such file or directory; r$"):
            read(tmp_path / "none", remedy="r")


def test_names_become_ids_and_stand_in_their_natural_order() -> None:
    assert plain_id("12_A. Two  Sums!") == "12_A._Two_Sums"
    assert plain_id(7) == "7"
    assert plain_id("  a/b-c.d ") == "a/b-c.d"
    tasks = [small_task("f", task_id=name) for name in ("x/10", "x/9", "a/2/1", "x/10a", "a/2/0")]
    assert [task.task_id for task in sorted(tasks, key=natural_order)] == ["a/2/0", "a/2/1", "x/9", "x/10", "x/10a"]


ACCEPT = "def accept(arguments, output):\n    return True\n"
NORMAL = "def normal(arguments, output):\n    return output\n"


def read(**fields: Any) -> Relation | None:
    return relation_of(as_entry(fields, where="tasks.toml, task 1", remedy="correct it"))


RELATIONS = [
    ({"task_id": "a/b"}, None),
    ({"relation": "equality"}, Relation()),
    ({"relation": "strict"}, Relation(equality="strict")),
    ({"relation": "unordered", "atol": 1}, Relation(order=Order.UNORDERED, atol=1.0)),
    ({"relation": "set", "rtol": 0}, Relation(order=Order.SET)),
    ({"rtol": 0.5, "tokens": True}, Relation(rtol=0.5, tokens=True)),
    ({"accept": ACCEPT}, Relation(accept=ACCEPT)),
    ({"normal": NORMAL, "atol": 0.1}, Relation(normal=NORMAL, atol=0.1)),
]


def test_the_fields() -> None:
    assert [read(**fields) for fields, _ in RELATIONS] == [relation for _, relation in RELATIONS]


NO_RELATIONS = [
    {"relation": "any"},
    {"relation": 1},
    {"accept": ""},
    {"accept": ACCEPT, "normal": NORMAL},
    {"atol": "0.1"},
    {"rtol": True},
    {"tokens": "yes"},
    {"accept": "def accept(arguments, output, *, more): return True"},
    {"accept": "def accept(arguments, output, *more): return True"},
    {"normal": "normal = sorted"},
]
"""Beside those that tests/cli/test_own_tasks.py has in files."""


def test_what_says_no_relation_is_refused_in_one_line() -> None:
    for fields in NO_RELATIONS:
        with pytest.raises(BadBenchmark, match=r"tasks\.toml, task 1: expected") as refused:
            read(**fields)
        assert "\n" not in str(refused.value)


def test_the_example_of_the_document_is_a_task(tmp_path: Path) -> None:
    document = Path(__file__).parents[2] / "docs" / "relations.md"
    (example,) = re.findall(r"```toml\n(.*?)```", document.read_text(), flags=re.DOTALL)
    path = tmp_path / "shop.toml"
    path.write_text(example)
    (task,) = load_tasks(path)
    assert (task.task_id, task.entry_point, task.reference) == ("shop/two_items", "two_items", None)
    assert task.relation is not None
    namespace: dict[str, Any] = {}
    exec(task.relation.accept, namespace)
    accept = namespace["accept"]
    assert accept(([1, 2, 4], 5), (2, 0))
    assert accept(([1, 2, 4], 7), None)
    assert not accept(([1, 2, 4], 5), None)
    assert not accept(([1, 2, 4], 5), (0, 1))
