"""Whether arguments are like those of examples and calls: the same shapes, characters, ranges, orders and relations."""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from graphlib import CycleError, TopologicalSorter
from itertools import permutations
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
    own, *known = [dict(_relations(each)) for each in (values, *calls)]
    return all(
        _is_known({own[at]}, {each[at] for each in known if at in each}) for at in own if at[0] in told or at[1] in told
    )


def _relations(values: Mapping[str, Any]) -> Iterator[tuple[tuple[Any, ...], int | None]]:
    """Yield how arguments compare: the least and the greatest of their parts, and what of one is all in the other."""
    columns = [(name, *column) for name, value in values.items() for column in _columns(value)]
    for (one, at, left), (other, there, right) in permutations(columns, 2):
        is_measure = bool({at, there} & {"size", "word"})
        if is_measure and not ("whole" in (at, there) or at == there == "size"):
            continue
        if one == other and not (isinstance(at, int) and isinstance(there, int)):
            continue  # within an argument: columns only
        if one < other:
            for measure in (min, max):
                yield (one, other, at, there, measure), _sign(measure, (left, right))
        if not is_measure:
            yield (one, other, at, there), 0 if all(part in right for part in left if part is not None) else None


def _columns(value: Any) -> Iterator[tuple[Any, list[Any]]]:
    """Yield what can be compared of a value: itself, its size, the lengths of its words, its items, their columns."""
    match value:
        case str() | bytes():
            yield "whole", [value]
            yield "size", [len(value)]
            yield "word", [len(word) for word in value.split()]
        case list() | tuple() | set() | frozenset() | dict():
            yield "size", [len(value)]
            yield "item", list(value)
            yield from enumerate(zip(*map(_parts, value.items() if isinstance(value, dict) else value), strict=False))
        case _:
            yield "whole", [value]


def _parts(row: Any) -> tuple[Any, ...]:
    """Return what stands side by side in a tuple or an object; nothing of other values."""
    if isinstance(row, Instance):
        return (*row.args, *(row.fields[name] for name in sorted(row.fields)))
    return row if isinstance(row, tuple) else ()


def _sign(measure: Callable[[Any], Any], pair: tuple[Any, Any]) -> int | None:
    try:
        one, other = map(measure, pair)
        return int(one > other) - int(one < other)
    except (TypeError, ValueError):
        return None


def _is_known(signs: set[int | None], known: set[int | None]) -> bool:
    """Tell whether comparisons came out as they do elsewhere, where they do so in one way."""
    return not known or None in known or {1, -1} <= known or signs <= known


def _is_like(value: Any, seen: Sequence[Any]) -> bool:
    alike = [other for other in seen if type(other) is type(value)]
    if not alike:
        return False
    match value:
        case bool() | None:
            return value in alike
        case int() | float():
            return bool(min(alike) <= value <= max(alike))
        case str():
            return _is_like_text(value, alike)
        case bytes() | list() | tuple() | set() | frozenset():
            return _is_like_list(list(value), [list(other) for other in alike])
        case dict():
            keys = {tuple(other) for other in alike}
            is_fixed = len(alike) > 1 and len(keys) == 1
            if _goes_round(value) and not any(map(_goes_round, alike)):
                return False
            return (tuple(value) in keys if is_fixed else _are_items_like(value, alike)) and _is_like_list(
                list(value.values()), [list(other.values()) for other in alike]
            )
        case Instance():
            same = [other for other in alike if other.type_name == value.type_name]
            own, *rows = [list(zip(_parts(each), strict=True)) for each in (value, *same)]
            rows = [row for row in rows if len(row) == len(own)]
            return (
                bool(rows)
                and all(_is_like(part, [row[at][0] for row in rows]) for at, (part,) in enumerate(own))
                and _are_rows_like(own, rows)
            )
    return value in alike


def _goes_round(graph: Mapping[Any, Any]) -> bool:
    """Tell whether keys lead back to themselves by way of the lists that they stand for."""
    try:
        TopologicalSorter({k: v for k, v in graph.items() if isinstance(v, list | tuple | set)}).prepare()
    except CycleError:
        return True
    except TypeError:
        return False  # lists of what is no key
    return False


def _are_items_like(items: Iterable[Any], seen: Sequence[Iterable[Any]]) -> bool:
    known = [item for other in seen for item in other]
    return all(_is_like(item, known) for item in items)


def _is_like_list(items: list[Any], seen: list[list[Any]]) -> bool:
    lengths = [len(other) for other in seen]
    if not min(lengths) <= len(items) <= max(lengths) or not _are_items_like(items, seen):
        return False
    ends = [(items[at], [other[at] for other in seen if other]) for at in (0, -1) if items]
    if not all(type(end) in {*map(type, known)} for end, known in ends):  # "the first reading is not missing"
        return False
    if not all(_holds(fact, items) for fact in _FACTS if all(_holds(fact, other) for other in seen)):
        return False
    own, *others = [list(zip(*map(_parts, rows), strict=False)) for rows in (items, *seen)]
    return _are_rows_like(own, [other for other in others if len(other) == len(own)])


def _are_rows_like(own: list[tuple[Any, ...]], seen: list[list[tuple[Any, ...]]]) -> bool:
    """Compare how columns are ordered, each with the others in a row, and with the row before."""
    for at, column in enumerate(own):
        if not all(_holds(f, list(column)) for f in _FACTS if all(_holds(f, list(each[at])) for each in seen)):
            return False
    for (at, one), (there, other) in permutations(enumerate(own), 2):
        for step in (0, 1):
            known = {_sign(_itself, pair) for each in seen for pair in zip(each[at], each[there][step:], strict=False)}
            if not _is_known({_sign(_itself, pair) for pair in zip(one, other[step:], strict=False)}, known):
                return False
    return True


def _itself(value: Any) -> Any:
    return value


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
    if (not _is_spaced(text) and all(map(_is_spaced, seen))) or not _are_numbers_like(text, seen):
        return False
    is_plain = all(other.replace(" ", "").isalpha() for other in seen if other)
    return is_plain or _skeleton(text, is_own_alphabet) in {_skeleton(other, is_own_alphabet) for other in seen}


def _are_numbers_like(text: str, seen: Sequence[str]) -> bool:
    """Compare the numbers in a text: how great they are, and whether they begin with a zero."""
    own, *others = [re.findall(r"[0-9]+", each) for each in (text, *seen)]
    known = [number for each in others for number in each]
    if any(number[0] == "0" != number for number in own) and not any(number[0] == "0" != number for number in known):
        return False
    return _are_items_like(map(float, own), [map(float, known)])  # an int of so many digits cannot be read


def _is_spaced(text: str) -> bool:
    """Tell whether single spaces stand between words alone."""
    return text == " ".join(text.split())


def _skeleton(text: str, is_own_alphabet: bool) -> str:
    text = re.sub(r"\d+", "0", text)
    return text if is_own_alphabet else re.sub(r"[^\W\d_]+", "a", text)


def _classes(text: Iterable[str]) -> set[str]:
    return {"a" if c.islower() else "A" if c.isupper() else "0" if c.isdigit() else c for c in text}
