"""Whether arguments are like those of examples and calls: the same shapes, characters, ranges, orders and relations."""

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import combinations
from typing import Any

from difftrust_core.base.literals import Instance

_FEW = 6
"""With fewer letters in all examples they are an alphabet of their own, such as that of roman numerals."""
_FACTS: tuple[Callable[[list[Any]], bool], ...] = (
    lambda items: items == sorted(items),
    lambda items: items == sorted(items, reverse=True),
    lambda items: all(item not in items[:i] for i, item in enumerate(items)),
    lambda items: len({len(item) for item in items}) <= 1,
)
"""What may hold of all lists that examples show: ascending, descending, distinct, items of one length."""


def are_like(values: Mapping[str, Any], calls: Sequence[Mapping[str, Any]], names: Collection[str]) -> bool:
    """Tell whether the arguments ``names`` are like those of ``calls``; nothing is where there are none."""
    told = [name for name in names if name in values]
    if not all(_is_like(values[name], [call[name] for call in calls if name in call]) for name in told):
        return False
    for one, other in combinations(told, 2):
        pairs = [(call[one], call[other]) for call in calls if one in call and other in call]
        for measure in (lambda v: v, len, min, max):
            known = {_sign(measure, pair) for pair in pairs}
            if known and None not in known and _sign(measure, (values[one], values[other])) not in known:
                return False
    return True


def _sign(measure: Callable[[Any], Any], pair: tuple[Any, Any]) -> int | None:
    try:
        one, other = map(measure, pair)
        return int(one > other) - int(one < other)
    except (TypeError, ValueError):
        return None


def _is_like(value: Any, seen: Sequence[Any]) -> bool:
    alike = [other for other in seen if type(other) is type(value)]
    if not alike:
        return False
    match value:
        case bool() | None:
            return value in alike
        case int() | float():
            return bool(min(alike) <= value <= max(alike))
        case str() | bytes():
            return _is_like_text(str(value), [str(other) for other in alike])
        case list() | tuple() | set() | frozenset():
            return _is_like_list(list(value), [list(other) for other in alike])
        case dict():
            keys = {tuple(other) for other in alike}
            is_fixed = len(alike) > 1 and len(keys) == 1
            return (tuple(value) in keys if is_fixed else _are_items_like(value, alike)) and _are_items_like(
                value.values(), [other.values() for other in alike]
            )
        case Instance():
            same = [
                other for other in alike if other.type_name == value.type_name and len(other.args) == len(value.args)
            ]
            parts = [(value.fields.get(key), [other.fields.get(key) for other in same]) for key in value.fields]
            parts += [(arg, [other.args[i] for other in same]) for i, arg in enumerate(value.args)]
            return bool(same) and all(_is_like(part, others) for part, others in parts)
    return value in alike


def _are_items_like(items: Iterable[Any], seen: Sequence[Iterable[Any]]) -> bool:
    known = [item for other in seen for item in other]
    return all(_is_like(item, known) for item in items)


def _is_like_list(items: list[Any], seen: list[list[Any]]) -> bool:
    lengths = [len(other) for other in seen]
    if not min(lengths) <= len(items) <= max(lengths) or not _are_items_like(items, seen):
        return False
    if not all(_holds(fact, items) for fact in _FACTS if all(_holds(fact, other) for other in seen)):
        return False
    widths = {len(row) if isinstance(row, tuple) else 0 for rows in (items, *seen) for row in rows}
    width = widths.pop() if len(widths) == 1 else 0
    columns = [[[row[at] for row in rows] for rows in (items, *seen)] for at in range(width)]
    return all(_holds(f, own) for own, *others in columns for f in _FACTS if all(_holds(f, each) for each in others))


def _holds(fact: Callable[[list[Any]], bool], items: list[Any]) -> bool:
    try:
        return fact(items)
    except TypeError:
        return False


def _is_like_text(text: str, seen: Sequence[str]) -> bool:
    """Compare lengths and characters; where examples have digits or signs, how runs of characters follow each other."""
    lengths, known = [len(other) for other in seen], set("".join(seen))
    is_own_alphabet = sum(c.isalpha() for c in known) < _FEW
    is_known = set(text) <= known if is_own_alphabet else _classes(text) <= _classes(known)
    if not min(lengths) <= len(text) <= max(lengths) or not is_known:
        return False
    if not _is_spaced(text) and all(map(_is_spaced, seen)):
        return False
    is_plain = all(other.replace(" ", "").isalpha() for other in seen if other)
    return is_plain or _skeleton(text) in {_skeleton(other) for other in seen}


def _is_spaced(text: str) -> bool:
    """Tell whether single spaces stand between words alone."""
    return text == " ".join(text.split())


def _skeleton(text: str) -> str:
    return re.sub(r"[^\W\d_]+", "a", re.sub(r"\d+", "0", text))


def _classes(text: Iterable[str]) -> set[str]:
    return {"a" if c.islower() else "A" if c.isupper() else "0" if c.isdigit() else c for c in text}
