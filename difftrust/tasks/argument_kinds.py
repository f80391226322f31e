"""Sort the tasks of a benchmark by the kinds of their arguments: from types, else from inputs; nothing is evaluated."""

import ast
from collections.abc import Iterable
from contextlib import suppress
from itertools import islice
from typing import Any, Final

from difftrust_core.base.literals import BadText, read_literal
from difftrust_core.base.standard_types import names_of
from difftrust_core.datasets.benchmarks import benchmark_names
from difftrust_core.datasets.entries import shipped_domains
from difftrust_core.exceptions import BadTask
from difftrust_core.store.store import Store

KINDS: Final = ("strings", "numbers", "lists", "dicts", "nested", "other")
"""What an argument may be. A list of strings counts under lists and strings, a list of mixed elements under lists."""
_NAMES: Final = {
    **dict.fromkeys(("str", "Text", "LiteralString"), "strings"),
    **dict.fromkeys(("int", "float", "complex", "Number", *names_of("number")), "numbers"),
    **dict.fromkeys(("list", "List", "tuple", "Tuple", "set", "Set", "frozenset", "FrozenSet", "Sequence"), "lists"),
    **dict.fromkeys(("Iterable", "Iterator", "Collection", "MutableSequence", "AbstractSet", "deque"), "lists"),
    **dict.fromkeys(("dict", "Dict", "Mapping", "MutableMapping", *names_of("content")), "dicts"),
}
_CONTAINERS: Final = ("lists", "dicts")
_INPUTS_READ: Final = 10
"""Of a task's inputs, where only they tell."""


def kinds_of(store: Store, benchmark: str) -> dict[str, frozenset[str]]:
    """Return task id -> those of KINDS that its arguments are of; a task of which nothing is known is left out.

    Sources, the first that tells: types of the task's domain or signature in the store; the types that this project
    wrote for the benchmark; seed inputs; the inputs that the store holds.
    """
    found: dict[str, frozenset[str]] = {}
    try:
        tasks = store.read_tasks(benchmark) if store.holds("tasks") else []
    except BadTask:  # a stranger's store may say anything
        tasks = []
    _add(found, ((task.task_id, kinds_of_types(task.domain.types)) for task in tasks if task.domain))
    _add(found, ((task.task_id, kinds_of_signature(task.signature)) for task in tasks))
    shipped = shipped_domains(benchmark) if benchmark in benchmark_names() else {}
    _add(found, ((task_id, kinds_of_types(domain.types)) for task_id, domain in shipped.items()))
    _add(found, ((task.task_id, kinds_of_inputs(task.seed_inputs)) for task in tasks))
    for table in ("disagreements", "inputs"):
        texts = _arguments(store, benchmark, table)
        _add(found, ((task_id, kinds_of_inputs(texts[task_id])) for task_id in texts.keys() - found.keys()))
    return found


def kinds_of_types(types: str) -> frozenset[str]:
    """Return the kinds of parameters such as ``numbers: list[float], k: int``; none where a type is not stated."""
    return kinds_of_signature(f"({types})") if types else frozenset()


def kinds_of_signature(signature: str) -> frozenset[str]:
    """Return the kinds of the parameters of ``(numbers: list[int]) -> int``; none where a type is not stated."""
    try:
        (made,) = ast.parse(f"def f{signature.strip().removesuffix(':')}: ...").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return frozenset()
    if not isinstance(made, ast.FunctionDef):
        return frozenset()
    own = made.args
    parameters = [*own.posonlyargs, *own.args, *own.kwonlyargs]
    stated = [each.annotation for each in parameters if each.annotation is not None]
    return frozenset().union(*map(_kinds_of_type, stated)) if len(stated) == len(parameters) else frozenset()


def kinds_of_inputs(texts: Iterable[str]) -> frozenset[str]:
    """Return the kinds of the arguments of inputs, argument tuples in the text form of ``literals``.

    Texts that cannot be read, such as those that were cut, are left out.
    """
    found: set[str] = set()
    for text in texts:
        with suppress(BadText):
            value = read_literal(text)
            if isinstance(value, tuple):
                found.update(*map(_kinds_of_value, value))
    return frozenset(found)


def _add(found: dict[str, frozenset[str]], more: Iterable[tuple[str, frozenset[str]]]) -> None:
    for task_id, kinds in more:
        if kinds:
            found.setdefault(task_id, kinds)


def _arguments(store: Store, benchmark: str, table: str) -> dict[str, list[str]]:
    if not store.holds(table) or not store.files(table, {"benchmark": benchmark}):
        return {}
    rows = store.read(table, {"benchmark": benchmark}, columns=["task_id", "arguments"])
    groups = rows.unique(["task_id", "arguments"], maintain_order=True).group_by("task_id", maintain_order=True)
    return {str(task_id): own["arguments"].head(_INPUTS_READ).to_list() for (task_id,), own in groups}


def _kinds_of_type(node: ast.expr) -> frozenset[str]:
    """Return the kinds of one type; of a union those of its members, of which None is none."""
    match node:
        case ast.BinOp(left=left, op=ast.BitOr(), right=right):
            return _kinds_of_type(left) | _kinds_of_type(right)
        case ast.Constant(value=str() as quoted):
            with suppress(SyntaxError, ValueError, RecursionError, MemoryError):
                return _kinds_of_type(ast.parse(quoted, mode="eval").body)
            return frozenset()
        case ast.Constant(value=value) if value is None or value is ...:
            return frozenset()
        case ast.Subscript(value=base, slice=inner):
            own, parts = _name(base), inner.elts if isinstance(inner, ast.Tuple) else [inner]
            if own == "Literal":
                return frozenset().union(*(_kinds_of_value(p.value) for p in parts if isinstance(p, ast.Constant)))
            inside = list(map(_kinds_of_type, parts))
            if own in ("Union", "Optional"):
                return frozenset().union(*inside)
            kind = _NAMES.get(own, "other")
            return _container(kind, inside) if kind in _CONTAINERS else frozenset([kind])
    return frozenset([_NAMES.get(_name(node), "other")])


def _name(node: ast.expr) -> str:
    """Return the last part of a dotted name: List of typing.List."""
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def _container(own: str, parts: Iterable[frozenset[str]]) -> frozenset[str]:
    """Return the kinds of a container: its own, its elements' where all are of one, and whether it is nested."""
    inside = frozenset().union(*parts)
    nested = {"nested"} if inside & {*_CONTAINERS, "nested"} else set()
    return frozenset({own, *nested, *(inside if len(inside) == 1 and inside <= {"strings", "numbers"} else ())})


def _kinds_of_value(value: Any) -> frozenset[str]:
    if isinstance(value, dict):
        return _container("dicts", map(_kinds_of_value, islice((*value.keys(), *value.values()), 1_000)))
    if isinstance(value, list | tuple | set | frozenset | range):
        return _container("lists", map(_kinds_of_value, islice(value, 1_000)))
    if isinstance(value, str):
        return frozenset(["strings"])
    is_number = isinstance(value, int | float | complex) and not isinstance(value, bool)
    return frozenset(["numbers" if is_number else "other"])
