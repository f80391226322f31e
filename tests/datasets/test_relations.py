"""The fields of a task that say when two outcomes are both right."""

import re
from pathlib import Path
from typing import Any

import pytest

from difftrust_core.base.task import Order, Relation
from difftrust_core.datasets.entries import as_entry, relation_of
from difftrust_core.datasets.own_tasks import load_tasks
from difftrust_core.exceptions import BadBenchmark

DOCUMENT = Path(__file__).parents[2] / "docs" / "relations.md"
ACCEPT = "def accept(arguments, output):\n    return True\n"
NORMAL = "def normal(arguments, output):\n    return output\n"


def read(**fields: Any) -> Relation | None:
    return relation_of(as_entry(fields, where="tasks.toml, task 1", remedy="correct it"))


@pytest.mark.parametrize(
    ("fields", "relation"),
    [
        ({}, None),
        ({"task_id": "a/b"}, None),
        ({"relation": "equality"}, Relation()),
        ({"relation": "strict"}, Relation(equality="strict")),
        ({"relation": "unordered", "atol": 1}, Relation(order=Order.UNORDERED, atol=1.0)),
        ({"relation": "set"}, Relation(order=Order.SET)),
        ({"rtol": 0.5, "tokens": True}, Relation(rtol=0.5, tokens=True)),
        ({"accept": ACCEPT}, Relation(accept=ACCEPT)),
        ({"normal": NORMAL, "atol": 0.1}, Relation(normal=NORMAL, atol=0.1)),
    ],
)
def test_the_fields(fields: dict[str, Any], relation: Relation | None) -> None:
    assert read(**fields) == relation


@pytest.mark.parametrize(
    "fields",
    [
        {"relation": "any"},
        {"relation": 1},
        {"atol": -1},
        {"atol": "0.1"},
        {"rtol": float("nan")},
        {"rtol": True},
        {"tokens": "yes"},
        {"accept": ""},
        {"accept": "def accept("},
        {"accept": "def check(arguments, output): return True"},
        {"accept": "def accept(output): return True"},
        {"accept": "def accept(arguments, output, *, more): return True"},
        {"accept": ACCEPT, "normal": NORMAL},
        {"normal": "normal = sorted"},
    ],
)
def test_what_says_no_relation_is_refused_in_one_line(fields: dict[str, Any]) -> None:
    with pytest.raises(BadBenchmark, match=r"tasks\.toml, task 1: expected") as refused:
        read(**fields)
    assert "\n" not in str(refused.value)


def test_the_example_of_the_document_is_a_task(tmp_path: Path) -> None:
    (example,) = re.findall(r"```toml\n(.*?)```", DOCUMENT.read_text(), flags=re.DOTALL)
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
