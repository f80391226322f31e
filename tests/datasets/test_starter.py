"""The starter benchmark is valid, varied and right.

The references are our own, so they run here directly, without the sandbox.
"""

import tomllib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from difftrust_core.base.literals import read_literal
from difftrust_core.base.task import Task
from difftrust_core.datasets.benchmarks import load_benchmark
from difftrust_core.datasets.entries import RELATION_FIELDS
from tests.sandbox.test_canonical import canonical

FOLDER = Path(__file__).parents[2] / "data" / "starter"
TABLES: list[dict[str, Any]] = [
    table for file in sorted(FOLDER.glob("*.toml")) for table in tomllib.loads(file.read_text("utf-8"))["task"]
]
LOADED = {task.task_id: task for task in load_benchmark("starter")}
OF_THE_TASK = {"task_id", "entry_point", "signature", "description", "preamble", "reference", "ambiguous"}
OF_THE_FILE = {"seed_inputs", "ambiguity", "examples", *RELATION_FIELDS}

each_task = pytest.mark.parametrize("table", TABLES, ids=[t["task_id"] for t in TABLES])


class Program:
    """The reference of one task, executed in a namespace of its own."""

    def __init__(self, table: dict[str, Any]) -> None:
        self._namespace: dict[str, Any] = {}
        exec(table.get("preamble", ""), self._namespace)
        exec(table["reference"], self._namespace)
        self.function: Callable[..., Any] = self._namespace[table["entry_point"]]

    def value(self, text: str) -> Any:
        return read_literal(text, self._make)

    def __call__(self, arguments: tuple[Any, ...]) -> Any:
        return self.function(*arguments)

    def _make(self, type_name: str, args: tuple[Any, ...], fields: dict[str, Any]) -> Any:
        assert not args
        made = object.__new__(self._namespace[type_name])
        for name, value in fields.items():
            setattr(made, name, value)
        return made


@each_task
def test_the_table_is_a_valid_task_with_different_seeds_and_examples_among_them(table: dict[str, Any]) -> None:
    task = replace(LOADED[table["task_id"]], domain=None, relation=None)
    fields = {name: value for name, value in table.items() if name in OF_THE_TASK}
    assert task == Task(benchmark="starter", seed_inputs=tuple(table["seed_inputs"]), **fields)
    assert set(table) <= OF_THE_TASK | OF_THE_FILE
    assert task.task_id == f"starter/{task.entry_point}"
    assert task.reference
    assert task.description.strip()
    seeds = [canonical(Program(table).value(seed)) for seed in table["seed_inputs"]]
    assert len(seeds) == len(set(seeds)) >= 5
    assert len(table["examples"]) >= 2
    assert [seed for seed, _ in table["examples"] if seed not in table["seed_inputs"]] == []
    stub: dict[str, Any] = {}
    # The future import keeps annotations as text, so that they may name classes of the preamble.
    exec(f"from __future__ import annotations\ndef stub{table['signature']}: ...", stub)
    names, code = stub["stub"].__code__.co_varnames, Program(table).function.__code__
    assert names == code.co_varnames[: code.co_argcount]
    assert {len(arguments) for arguments in task.arguments()} == {len(names)}


@each_task
def test_the_reference_is_deterministic_leaves_its_arguments_alone_and_tells_seeds_apart(table: dict[str, Any]) -> None:
    program, again = Program(table), Program(table)
    results = {}
    for seed in table["seed_inputs"]:
        arguments = program.value(seed)
        results[seed] = canonical(program(arguments))
        assert canonical(arguments) == canonical(program.value(seed))
        assert canonical(program(arguments)) == canonical(again(again.value(seed))) == results[seed]
    assert len({*results.values()}) >= 2
    by_hand = {seed: canonical(program.value(result)) for seed, result in table["examples"]}
    assert by_hand == {seed: results[seed] for seed in by_hand}


def test_ambiguous_tasks_say_what_is_ambiguous_and_others_do_not() -> None:
    assert sum(task.ambiguous for task in LOADED.values()) >= 8
    for table in TABLES:
        assert table.get("ambiguity", "").strip().endswith(".") == LOADED[table["task_id"]].ambiguous, table["task_id"]


@pytest.mark.parametrize(
    ("arguments", "right", "wrong"),
    [
        (
            (["a", "b", "c"], [("c", "a")]),
            [["c", "a", "b"], ["b", "c", "a"], ("c", "b", "a")],
            [["a", "b", "c"], ["c", "a"], ["c", "a", "b", "b"], None, "cab", 3],
        ),
        ((["a", "b"], [("a", "b"), ("b", "a")]), [None], [["a", "b"], []]),
        (([], []), [[]], [None, ["a"]]),
    ],
)
def test_the_checker_of_order_steps_tells_right_from_wrong(
    arguments: tuple[Any, ...], right: list[Any], wrong: list[Any]
) -> None:
    relation = LOADED["starter/order_steps"].relation
    assert relation is not None
    namespace: dict[str, Any] = {}
    exec(relation.accept, namespace)
    said = [bool(namespace["accept"](arguments, output)) for output in (*right, *wrong)]
    assert said == [True] * len(right) + [False] * len(wrong)
