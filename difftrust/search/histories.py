"""Histories: calls on an object before the one in question, whose arguments are made of a few values."""

from collections.abc import Sequence
from typing import Any

from difftrust.types.base import Draws, Part, first_nodes, with_node

_MAX_NODES = 40
_PLAIN = (int, float, str, bytes)
_RECALLED = 0.75


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


def _slice(text: Any, draws: Draws) -> Any:
    start, end = sorted((draws.below(len(text) + 1), draws.below(len(text) + 1)))
    return text[start : max(end, start + 1)]
