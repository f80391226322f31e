"""The starter benchmark is valid, varied and right.

The references are our own, so they run here directly, without the sandbox.
"""

import tomllib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from difftrust_core.base.literals import Instance, read_literal, write_literal
from difftrust_core.base.task import Task
from difftrust_core.datasets.benchmarks import load_benchmark
from difftrust_core.datasets.entries import RELATION_FIELDS

FOLDER = Path(__file__).parents[2] / "data" / "starter"
TABLES: list[dict[str, Any]] = [
    table for file in sorted(FOLDER.glob("*.toml")) for table in tomllib.loads(file.read_text("utf-8"))["task"]
]
LOADED = {task.task_id: task for task in load_benchmark("starter")}
OF_THE_TASK = {"task_id", "entry_point", "signature", "description", "preamble", "reference", "ambiguous"}
OF_THE_FILE = {"seed_inputs", "ambiguity", "examples", *RELATION_FIELDS}

each_task = pytest.mark.parametrize("table", TABLES, ids=[t["task_id"] for t in TABLES])


def task_of(table: dict[str, Any]) -> Task:
    fields = {key: value for key, value in table.items() if key in OF_THE_TASK}
    return Task(benchmark="starter", seed_inputs=tuple(table["seed_inputs"]), **fields)


class Program:
    """The reference of one task, executed in a namespace of its own."""

    def __init__(self, table: dict[str, Any]) -> None:
        self._namespace: dict[str, Any] = {}
        exec(table.get("preamble", ""), self._namespace)
        exec(table["reference"], self._namespace)
        self._function: Callable[..., Any] = self._namespace[table["entry_point"]]

    def arguments(self, seed: str) -> tuple[Any, ...]:
        return read_literal(seed, self._make)

    def __call__(self, arguments: tuple[Any, ...]) -> Any:
        return self._function(*arguments)

    def _make(self, type_name: str, args: tuple[Any, ...], fields: dict[str, Any]) -> Any:
        assert not args
        made = object.__new__(self._namespace[type_name])
        for name, value in fields.items():
            setattr(made, name, value)
        return made


def plain(value: Any) -> Any:
    """``value`` with objects as ``Instance`` and dicts in the order of their keys' text."""
    match value:
        case list() | tuple():
            return type(value)(map(plain, value))
        case dict():
            return {key: plain(value[key]) for key in sorted(value, key=write_literal)}
        case Instance():
            return Instance(value.type_name, value.args, plain(value.fields))
        case None | bool() | int() | float() | str() | set():
            return value
    return Instance(type(value).__name__, (), plain(vars(value)))


def text_of(value: Any) -> str:
    """Equal texts mean equal values of equal types; the order of dict entries and of fields does not count."""
    return write_literal(plain(value))


def results_of(table: dict[str, Any]) -> list[Any]:
    program = Program(table)
    return [plain(program(program.arguments(seed))) for seed in table["seed_inputs"]]


@each_task
def test_the_table_is_a_valid_task_with_different_seeds_and_examples_among_them(table: dict[str, Any]) -> None:
    task = task_of(table)
    assert replace(LOADED[task.task_id], domain=None, relation=None) == task
    assert set(table) <= OF_THE_TASK | OF_THE_FILE
    assert task.task_id == f"starter/{task.entry_point}"
    assert task.reference
    assert task.description.strip()
    seeds = [text_of(arguments) for arguments in task.arguments()]
    assert len(seeds) == len(set(seeds)) >= 5
    assert len(table["examples"]) >= 2
    assert [seed for seed, _ in table["examples"] if seed not in table["seed_inputs"]] == []
    stub: dict[str, Any] = {}
    # The future import keeps annotations as text, so that they may name classes of the preamble.
    exec(f"from __future__ import annotations\ndef stub{table['signature']}: ...", stub)
    names, code = stub["stub"].__code__.co_varnames, Program(table)._function.__code__
    assert names == code.co_varnames[: code.co_argcount]
    assert {len(arguments) for arguments in task.arguments()} == {len(names)}


@each_task
def test_the_reference_is_deterministic_leaves_its_arguments_alone_and_tells_seeds_apart(table: dict[str, Any]) -> None:
    program, again = Program(table), Program(table)
    for seed in table["seed_inputs"]:
        arguments = program.arguments(seed)
        first = text_of(program(arguments))
        assert text_of(arguments) == text_of(read_literal(seed))
        assert text_of(program(arguments)) == first
        assert text_of(again(again.arguments(seed))) == first
    assert len({text_of(result) for result in results_of(table)}) >= 2
    results = {seed: text_of(program(program.arguments(seed))) for seed, _ in table["examples"]}
    assert results == {seed: text_of(read_literal(by_hand)) for seed, by_hand in table["examples"]}


def test_ambiguous_tasks_say_what_is_ambiguous_and_others_do_not() -> None:
    ambiguous = [table for table in TABLES if task_of(table).ambiguous]
    assert len(ambiguous) >= 8
    assert [t["task_id"] for t in ambiguous if not t.get("ambiguity", "").strip().endswith(".")] == []
    assert [t["task_id"] for t in TABLES if "ambiguity" in t and t not in ambiguous] == []


@pytest.mark.parametrize(
    ("name", "arguments", "right", "wrong"),
    [
        (
            "order_steps",
            (["a", "b", "c"], [("c", "a")]),
            [["c", "a", "b"], ["b", "c", "a"], ("c", "b", "a")],
            [["a", "b", "c"], ["c", "a"], ["c", "a", "b", "b"], None, "cab", 3],
        ),
        ("order_steps", (["a", "b"], [("a", "b"), ("b", "a")]), [None], [["a", "b"], []]),
        ("order_steps", ([], []), [[]], [None, ["a"]]),
    ],
)
def test_the_checkers_tell_right_from_wrong(
    name: str, arguments: tuple[Any, ...], right: list[Any], wrong: list[Any]
) -> None:
    (table,) = [table for table in TABLES if table["entry_point"] == name]
    namespace: dict[str, Any] = {}
    exec(table["accept"], namespace)
    assert [bool(namespace["accept"](arguments, output)) for output in right] == [True] * len(right)
    assert [bool(namespace["accept"](arguments, output)) for output in wrong] == [False] * len(wrong)
