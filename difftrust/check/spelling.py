"""Calls, outcomes and pinned examples as one would type them."""

import ast
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from difftrust.source.target import targets_in
from difftrust.types.argument_types import joined_arguments, split_arguments
from difftrust.types.own import AFTER_CALLS
from difftrust_core.base.literals import BadText, Instance, read_literal, write_literal
from difftrust_core.base.records import Kind
from difftrust_core.languages.python.syntax import parsed

EFFECTS = "Effects"
Orders = Mapping[str, Sequence[str]]
"""The fields of each class in the order in which a call takes them."""


def field_orders(preamble: str) -> dict[str, tuple[str, ...]]:
    """Return the fields of each dataclass in ``preamble``, in the order in which a call takes them."""
    tree, found = parsed(preamble), dict[str, tuple[str, ...]]()
    for own in tree.body if tree is not None else ():
        if isinstance(own, ast.ClassDef) and any("dataclass" in ast.unparse(d) for d in own.decorator_list):
            inherited = [name for base in own.bases for name in found.get(ast.unparse(base), ())]
            named = [s.target.id for s in own.body if isinstance(s, ast.AnnAssign) and isinstance(s.target, ast.Name)]
            found[own.name] = tuple(dict.fromkeys([*inherited, *named]))
            if "kw_only" in ast.unparse(own) or "init=False" in ast.unparse(own):
                del found[own.name]
    return found


def typed(text: str, orders: Orders) -> str:
    """Return a value's text as one would type it: ``Point(0.0, 1.0)`` for ``Point(x=0.0, y=1.0)``."""
    if not orders or "(" not in text:
        return text
    try:
        return write_literal(_ordered(read_literal(text), orders))
    except BadText:
        return text


def _ordered(value: Any, orders: Orders) -> Any:
    if isinstance(value, list | tuple | set | frozenset):
        return type(value)([_ordered(part, orders) for part in value])
    if isinstance(value, dict):
        return {_ordered(k, orders): _ordered(v, orders) for k, v in value.items()}
    if not isinstance(value, Instance):
        return value
    args = tuple(_ordered(arg, orders) for arg in value.args)
    fields = {name: _ordered(field, orders) for name, field in value.fields.items()}
    order = orders.get(value.type_name, ())
    if not args and order and set(order) == set(fields):
        return Instance(value.type_name, tuple(fields[name] for name in order))
    return Instance(value.type_name, args, fields)


def spelled_call(function: str, arguments: str) -> str:
    """Return ``f(1, key=[2])`` for the argument tuple ``(1, Keywords(key=[2]))``."""
    positional, named = split_arguments(read_literal(arguments))
    parts = [*map(write_literal, positional), *(f"{name}={write_literal(v)}" for name, v in named.items())]
    return f"{function}({', '.join(parts)})"


@lru_cache(maxsize=8)
def kind_in(preamble: str, entry_point: str) -> str:
    """Return what kind of method ``preamble`` has by this name, as ``Target.kind`` calls it."""
    tree = parsed(preamble)
    found = targets_in(Path(), tree) if tree is not None else ()
    return next((target.kind for target in found if target.entry_point == entry_point), "method")


def spelled_in(preamble: str, entry_point: str, arguments: str) -> str:
    """Return a call as ``spelled_method`` does, of a method of the kind that ``preamble`` says."""
    return spelled_method(entry_point, arguments, kind_in(preamble, entry_point))


def spelled_method(name: str, arguments: str, kind: str = "method") -> str:
    """Return ``Point(1, 2).scaled(3)`` for ``Point.scaled`` and the arguments ``(Point(1, 2), 3)``.

    An object on which methods were called before is made, and they are called, in statements before it. A property is
    not called, and a class or static method not of its first argument.
    """
    positional, named = split_arguments(read_literal(arguments))
    owner, _, method = name.rpartition(".")
    is_bound = kind in ("method", "property") and positional and isinstance(positional[0], Instance)
    if not owner or not is_bound:
        return spelled_call(name, arguments)
    rest = write_literal(joined_arguments(positional[1:], named))
    made, before = positional[0], ""
    if made.type_name == AFTER_CALLS:
        made, calls = made.args
        before = "; ".join([f"x = {write_literal(made)}", *(f"x.{write_literal(call)}" for call in calls), ""])
    reached = f"{'x' if before else write_literal(made)}.{method}"
    return before + (reached if kind == "property" else spelled_call(reached, rest))


def spelled_outcome(kind: str, text: str, arguments: str = "") -> str:
    """Return a value as it is, effects named, another outcome with its kind in front.

    ``arguments``: the tuple that it was called with.
    """
    return "; ".join(parts_of(text, arguments)) if kind == "value" else spell_kind(Kind[kind.upper()], text)


def spell_kind(kind: Kind, text: str) -> str:
    """Return a value as it is, another outcome with its kind in front."""
    return text if kind == Kind.VALUE else f"{kind.name.lower().replace('_', ' ')} {text}".strip()


def parts_of(text: str, before: str = "") -> list[str]:
    """Return the value that a call returned, and what else it did, each in words.

    ``text``: of the outcome. ``before``: the argument tuple that it was called with.
    """
    effects = effects_of(text)
    if effects is None:
        return [text]
    said = [write_literal(effects.fields.get("value"))]
    if isinstance(effects.fields.get("arguments"), tuple):
        said.append(_changes(before, effects.fields["arguments"]))
    if "printed" in effects.fields:
        said.append(f"prints {write_literal(effects.fields['printed'])}")
    return said


def effects_of(text: str) -> Instance | None:
    """Return the effects that an outcome's text holds, None where it is a plain value."""
    if not text.startswith(f"{EFFECTS}("):
        return None
    try:
        value = read_literal(text)
    except BadText:
        return None
    return value if isinstance(value, Instance) and value.type_name == EFFECTS else None


def value_alone(text: str, *, listed: bool) -> str:
    """Return the value of an outcome's text, without effects; ``listed``: of an iterator the list of its items."""
    effects = effects_of(text)
    if effects is not None:
        text = write_literal(effects.fields.get("value"))
    try:
        value = read_literal(text) if listed and text.startswith("iterator(") else None
    except (BadText, RecursionError):
        return text
    return write_literal(value.args[0]) if isinstance(value, Instance) and len(value.args) == 1 else text


def _changes(before: str, after: tuple[Any, ...]) -> str:
    """Return which arguments changed, ``changes its argument: [3, 1] -> [1, 3]``.

    An object on which methods were called before is ``x``, as in ``spelled_method``.
    """
    try:
        values = read_literal(before) if before else ()
    except BadText:
        values = ()
    (old, old_named), (new, new_named) = split_arguments(values), split_arguments(tuple(after))
    pairs = [*zip(old, new, strict=False), *((old_named.get(name), new_named[name]) for name in new_named)]
    changed = [[_named(value) for value in pair] for pair in pairs if pair[1] is not None]
    if len(old) != len(new):
        told = [write_literal(value) for value in (*new, *new_named.values()) if value is not None]
        return f"changes its arguments: {', '.join(told)}"
    said = ", ".join(f"{before} -> {now}" for before, now in changed)
    return f"changes its argument{'s' if len(changed) > 1 else ''}: {said}"


def _named(value: Any) -> str:
    is_used = type(value) is Instance and value.type_name == AFTER_CALLS
    return "x" if is_used else write_literal(value)
