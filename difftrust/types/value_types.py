"""The type that values of a parameter have, as an annotation."""

import ast
import re
from collections.abc import Sequence
from typing import Any

from difftrust_core.base.literals import Code, Instance
from difftrust_core.languages.python.syntax import expression


def type_of_values(values: Sequence[Any]) -> ast.expr | None:
    """Return the type of some values, as ``literals`` reads them; None where they say nothing (no values, all None)."""
    texts = dict.fromkeys(text for text in map(_value_text, values) if text)
    merged = re.sub(r"\b_\b", "int", _merged(list(texts)))
    if merged in ("", "None"):
        return None
    try:
        return expression(merged)
    except (SyntaxError, RecursionError, MemoryError):  # nested more deeply than Python reads
        return None


def _value_text(value: Any) -> str:
    kind = type(value)
    if value is None:
        return "None"
    if kind in (bool, int, float, str, bytes, complex, bytearray):
        return kind.__name__
    if kind in (list, set, frozenset):
        return f"{kind.__name__}[{_merged([_value_text(v) for v in value]) or '_'}]"
    if kind is tuple:
        return f"tuple[{', '.join(_value_text(v) or 'int' for v in value)}]" if value else "tuple[_, ...]"
    if kind is dict:
        key = _merged([_value_text(k) for k in value]) or "_"
        return f"dict[{key}, {_merged([_value_text(v) for v in value.values()]) or '_'}]"
    if kind is Instance:
        spelled = {"iter": "Iterator[int]", "re.compile": "re.Pattern", "np.array": "np.ndarray"}
        return spelled.get(value.type_name, str(value.type_name))
    if isinstance(value, Code):
        head, _, member = value.text.partition(".")
        if value.text.startswith("lambda") or not member or head[:1].islower():
            return f"Callable[[{', '.join(['int'] * _arity(value.text))}], int]"
        return str(head)
    return ""


def _arity(code: str) -> int:
    match expression(code):
        case ast.Lambda(args=args):
            return len(args.args)
        case ast.Attribute(value=ast.Name(id="operator")):
            return 2
    return 1


def _merged(texts: list[str]) -> str:
    """Return one type for all: ``float`` for whole and real numbers, else a union."""
    distinct = list(dict.fromkeys(text for text in texts if text))
    if len(distinct) > 1 and "_" in distinct:
        distinct.remove("_")  # of an empty container
    if {"int", "float"} <= set(distinct):
        distinct.remove("int")
    for outer in ("list", "set", "dict", "tuple"):
        same = [text for text in distinct if text.startswith(f"{outer}[")]
        if len(same) > 1:
            distinct = [text for text in distinct if text not in same] + [_merged_containers(outer, same)]
    return " | ".join(sorted(distinct, key=lambda text: text == "None"))


def _merged_containers(outer: str, texts: list[str]) -> str:
    parts = [_arguments(text) for text in texts]
    if outer == "tuple" and (len({len(part) for part in parts}) > 1 or "..." in parts[0]):
        return f"tuple[{_merged([p for part in parts for p in part if p != '...'])}, ...]"
    return f"{outer}[{', '.join(_merged(list(column)) for column in zip(*parts, strict=True))}]"


def _arguments(text: str) -> list[str]:
    match expression(text):
        case ast.Subscript(slice=ast.Tuple(elts=elts)):
            return [ast.unparse(part) for part in elts]
        case ast.Subscript(slice=inside):
            return [ast.unparse(inside)]
    return []
