"""Arguments made from each other: a substring, an element, a key, a prefix, a length, an overlapping repetition.

Random arguments of a search, a split or a lookup hardly ever meet; faults of such functions show where they do.
"""

from collections.abc import Callable, Sequence
from typing import Any

from difftrust.types.base import Draws, NoValue, Part, change_somewhere, first_nodes, nodes_of, with_node

_MAX_TEXT, _MAX_ITEMS, _MAX_NODES = 300, 60, 40
_NUMBERS = (int, float)
_PLAIN = (int, float, str, bytes)
_RECALLED = 0.75


def related(parts: Sequence[Part], draws: Draws) -> list[Any]:
    """Return the values of ``parts``, one of them made from another one where the types allow it. Raises NoValue."""
    values = [part.value for part in parts]
    one = draws.below(len(parts))
    other = (one + 1 + draws.below(len(parts) - 1)) % len(parts)
    for _ in range(3):
        source, target = _pair(values[one], values[other], draws)
        if parts[one].type.fits(source) and parts[other].type.fits(target):
            values[one], values[other] = source, target
            return values
    if parts[other].type.fits(values[one]):
        values[other] = _same_or_near(parts[other], values[one], draws)
    return values


def shared(parts: Sequence[Part], draws: Draws) -> list[Any]:
    """Return the values of ``parts`` with a node of one in the place of another of its type: an end that is a start."""
    values = [part.value for part in parts]
    nodes = [node.value for part in parts for _, node in first_nodes([part], _MAX_NODES)[1:]]
    at = draws.below(len(parts))
    below = nodes_of(parts[at])[1:]
    if below:
        path, node = draws.one_of(below)
        fitting = [n for n in nodes if type(n) is type(node.value) and n != node.value and node.type.fits(n)]
        values[at] = with_node(parts[at], path, draws.one_of(fitting)) if fitting else values[at]
    return values


def recalled(parts: Sequence[Part], draws: Draws) -> list[Any]:
    """Return the values of ``parts``, the first an object that was used before, most plain ones in calls from a few.

    So a key that an earlier call put is looked up, and what the object was made for is soon full.
    """
    current, few = list(parts), dict[type, list[Any]]()
    plain = [(path, n) for path, n in first_nodes(current, _MAX_NODES) if type(n.value) in _PLAIN]
    for (first, *below), node in plain if draws.chance(_RECALLED) else ():
        kind = type(node.value)
        if kind not in few:
            own = [n.value for path, n in plain if type(n.value) is kind and path[:2] != (0, 0)]
            few[kind] = draws.generator.sample(own, min(2 + draws.below(4), len(own)))
            few[kind] += [_slice(text, draws) for text in few[kind][:1] if kind is str and text]
        if first == 0 and below[:1] == [0]:  # it was made with this
            values = [draws.below(2 + len(parts[0].value.args[1]))] if kind is int else []
        else:
            values = few[kind]
        new = draws.one_of(values or [node.value])
        if draws.chance(_RECALLED) and node.type.fits(new):
            current[first] = current[first]._replace(value=with_node(current[first], tuple(below), new))
    return [part.value for part in current]


def _pair(source: Any, target: Any, draws: Draws) -> tuple[Any, Any]:
    """Return the source, now and then changed, and a new target that is made from it."""
    kinds = type(source), type(target)
    if kinds == (str, str):
        return _texts(source, target, draws)
    if kinds == (list, list):
        return source, draws.one_of(_OF_LISTS)(list(source), list(target), draws)[:_MAX_ITEMS]
    if kinds == (dict, dict):
        return source, _entries(source, target, draws)
    if kinds[0] in (list, tuple, set, frozenset, dict, str) and kinds[1] is int and draws.chance(0.5):
        return source, _place(len(source), draws)
    if kinds[0] in _NUMBERS and kinds[1] in _NUMBERS:
        return source, _number(source, draws)
    if kinds[0] in (list, tuple, set, frozenset, dict) and source:
        return _with_member(source, draws)
    return source, source


def _slice(text: Any, draws: Draws) -> Any:
    start, end = sorted((draws.below(len(text) + 1), draws.below(len(text) + 1)))
    return text[start : max(end, start + 1)]


def _texts(source: str, target: str, draws: Draws) -> tuple[str, str]:
    """Return a text, and one that it begins with, ends with or holds, repeated and overlapping every other time."""
    if draws.chance(0.4):
        unit = (_slice(target, draws) if target and draws.chance(0.5) else _slice(source, draws))[:4] or draws.one_of(
            "ab"
        )
        unit = unit[:1] if draws.chance(0.3) else unit
        run = (unit * (3 + draws.below(4)))[: len(unit) * 2 + 1 + draws.below(8)]
        looked_for = (unit * 3)[: 1 + draws.below(2 * len(unit))] if draws.chance(0.6) else unit * 2
        at = draws.below(len(source) + 1) if draws.chance(0.4) else 0
        return (source[:at] + run + source[at:] if at else run)[:_MAX_TEXT], looked_for
    made = draws.one_of(_OF_TEXTS)(source, draws)
    if draws.chance(0.2):  # once more within the text
        at = draws.below(len(source) + 1)
        source = source[:at] + made + source[at:]
    return source[:_MAX_TEXT], made[:_MAX_TEXT]


_OF_TEXTS: tuple[Callable[[str, Draws], str], ...] = (
    lambda text, draws: _slice(text, draws),
    lambda text, draws: _slice(text, draws),
    lambda text, draws: text[: draws.below(len(text) + 1)],
    lambda text, draws: text[draws.below(len(text) + 1) :],
    lambda text, draws: text[draws.below(len(text)) :][:1] if text else "",
    lambda text, draws: text,
    lambda text, draws: text.swapcase() if draws.chance(0.5) else text.upper(),
    lambda text, draws: "".join(draws.generator.sample(text, len(text))),
    lambda text, draws: text[::-1],
    lambda text, draws: text + (text[:1] or "a"),
    lambda text, draws: text * 2,
    lambda text, draws: text[:-1] + draws.one_of(draws.alphabet()),
    lambda text, draws: draws.one_of(text.split() or [text]),
)
_OF_LISTS: tuple[Callable[[list[Any], list[Any], Draws], list[Any]], ...] = (
    lambda one, other, draws: one,
    lambda one, other, draws: one[: draws.below(len(one) + 1)],
    lambda one, other, draws: one[draws.below(len(one) + 1) :],
    lambda one, other, draws: one + other,
    lambda one, other, draws: one[::-1],
    lambda one, other, draws: draws.generator.sample(one, len(one)),
    lambda one, other, draws: [part for part in one if draws.chance(0.5)],
    lambda one, other, draws: one[: len(other)] + other[len(one) :],
    lambda one, other, draws: (other * (len(one) + 1))[: len(one)],
    lambda one, other, draws: other[: draws.below(len(other) + 1)] + one,
    lambda one, other, draws: one + one[:1],
)


def _entries(source: dict[Any, Any], target: dict[Any, Any], draws: Draws) -> dict[Any, Any]:
    """Return a dict with keys of another one, with its values or others."""
    way = draws.below(4)
    if way == 0:
        return dict(source)
    if way == 1:
        return {key: value for key, value in source.items() if draws.chance(0.5)}
    values = list(target.values()) or list(source.values())
    same = {key: draws.one_of(values) if draws.chance(0.6) else value for key, value in source.items()}
    return same if way == 2 else target | same


def _place(length: int, draws: Draws) -> int:
    """Return a number that means something beside a length: an index, the length, one behind it."""
    return draws.one_of((length, length - 1, length + 1, -length, -length - 1, length // 2, draws.below(length + 1)))


def _number(source: float, draws: Draws) -> Any:
    if source != source or abs(source) > 10**12:
        return source
    numbers = (source, source, source + 1, source - 1, -source, source * 2, source * (1 + draws.below(10)))
    return draws.one_of((*numbers, source // 2 if type(source) is int else source / 2))


def _with_member(source: Any, draws: Draws) -> tuple[Any, Any]:
    """Return a collection and an element or key of it; a list has it twice now and then."""
    members = list(source)
    at = draws.one_of((0, len(members) - 1, draws.below(len(members))))
    if type(source) is list and draws.chance(0.4):
        copies = [members[at]] * (1 + draws.below(3))
        where = draws.below(len(members) + 1)
        return members[:where] + copies + members[where:], members[at]
    if type(source) is dict and draws.chance(0.25):
        return source, source[members[at]]
    return source, members[at]


def _same_or_near(part: Part, value: Any, draws: Draws) -> Any:
    """Return a value, half of the times in another order or changed in one place."""
    if draws.chance(0.5):
        return value
    if type(value) in (list, str) and draws.chance(0.5):
        mixed = draws.generator.sample(value, len(value))
        changed: Any = mixed if type(value) is list else "".join(mixed)
    else:
        try:
            changed = change_somewhere(part.type, value, draws)
        except NoValue:
            return value
    return changed if part.type.fits(changed) else value
