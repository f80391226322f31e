"""The type that values of a parameter have, as an annotation."""

import ast
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from difftrust_core.base.literals import Code, Instance
from difftrust_core.languages.python.syntax import expression

_CALLS = {"iter": "Iterator[int]", "re.compile": "re.Pattern", "np.array": "np.ndarray"}
"""Types that are not called as their values are written."""


def type_of_values(values: Sequence[Any]) -> ast.expr | None:
    """Return the type of some values, as ``literals`` reads them; None where they say nothing (no values, all None)."""
    try:
        text = _union(values)
        return expression(text) if text not in ("", "None") else None
    except (SyntaxError, RecursionError, MemoryError):  # nested more deeply than Python reads
        return None


def _union(values: Iterable[Any]) -> str:
    """Return one type for all: ``float`` for whole and real numbers, else a union, None last; empty for no values."""
    found: dict[type, list[Any]] = {}
    for value in values:
        found.setdefault(type(value), []).append(value)
    if float in found:
        found.pop(int, None)
    texts = dict.fromkeys(text for kind, same in found.items() for text in _spelled(kind, same))
    return " | ".join(sorted(texts, key=lambda text: text == "None"))


def _spelled(kind: type, values: Sequence[Any]) -> Iterator[str]:
    """Iterate over the types of values of one kind, what they hold taken together."""
    if kind in (list, set, frozenset):
        yield f"{kind.__name__}[{_held(part for value in values for part in value)}]"
    elif kind is tuple and values[0] and len(set(map(len, values))) == 1:
        yield f"tuple[{', '.join(map(_held, zip(*values, strict=True)))}]"
    elif kind is tuple:
        yield f"tuple[{_held(part for value in values for part in value)}, ...]"
    elif kind is dict:
        held = (part for value in values for part in value.values())
        yield f"dict[{_held(key for value in values for key in value)}, {_held(held)}]"
    elif kind is Instance:
        yield from (_CALLS.get(value.type_name, value.type_name) for value in values)
    elif kind is Code:
        yield from (_of_code(value.text) for value in values)
    else:
        yield "None" if kind is type(None) else kind.__name__


def _held(values: Iterable[Any]) -> str:
    return _union(values) or "int"


def _of_code(text: str) -> str:
    head, _, member = text.partition(".")
    is_member = member and not text.startswith("lambda") and not head[:1].islower()
    return head if is_member else f"Callable[[{', '.join(['int'] * _arity(text))}], int]"


def _arity(code: str) -> int:
    match expression(code):
        case ast.Lambda(args=args):
            return len(args.args)
        case ast.Attribute(value=ast.Name(id="operator")):
            return 2
    return 1
