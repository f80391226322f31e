"""Seeded, prefix-stable, type-aware fuzzing of a task's seed inputs, and nothing else.

``Gen(d)`` of Valentin et al.: pick a seed input, mutate each argument 1, 10 or 30 times; a mutation picks one node
of the nested value uniformly and changes it by its type (Table 6). Every input is a function of (task, seed,
position, attempt) alone, so the first 1,000 of 10,000 inputs are the 1,000.
"""

import hashlib
import random
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from difftrust_core.literals import Instance, write_literal

MUTATIONS_PER_ARGUMENT = (1, 10, 30)
MAX_ATTEMPTS = 100
"""So many inputs are tried at one position; then an unchanged seed input takes it."""

_CONTROL, _PRINTABLE, _EXTENDED = range(0x20), range(0x20, 0x7F), range(0x80, 0x100)
_CHARACTERS = (_CONTROL, _PRINTABLE, _EXTENDED)
_CHARACTER_WEIGHTS = (2, 4, 1)
_HASHABLE_DUMMIES: tuple[Callable[[], Any], ...] = (lambda: None, bool, int, float, str)
_DUMMIES = (*_HASHABLE_DUMMIES, list, dict, set)
_CONTAINERS = (list, tuple, dict, set, frozenset, Instance)


def sample_input(task_id: str, seeds: Sequence[tuple[Any, ...]], *, seed: int, position: int, attempt: int) -> str:
    """Return the input of one position and attempt, an argument tuple in the text form of ``literals``.

    ``seeds`` must not be empty. Attempt MAX_ATTEMPTS and beyond give an unchanged seed input.
    """
    key = f"{seed}/{task_id}/{position}/{attempt}".encode()
    generator = random.Random(int.from_bytes(hashlib.blake2b(key, digest_size=8).digest(), "big"))
    chosen = seeds[generator.randrange(len(seeds))]
    if attempt >= MAX_ATTEMPTS:
        return write_literal(chosen)
    return write_literal(tuple([_mutate_argument(argument, generator) for argument in chosen]))


def _mutate_argument(argument: Any, generator: random.Random) -> Any:
    for _ in range(generator.choice(MUTATIONS_PER_ARGUMENT)):
        argument = _mutate_node(argument, generator.randrange(_size(argument)), generator)
    return argument


def _children(value: Any) -> Iterator[Any]:
    """Iterate over the nodes right below ``value``; sets in the order of their elements' text."""
    kind = type(value)
    if kind in (list, tuple):
        yield from value
    elif kind is dict:
        for key, entry in value.items():
            yield key
            yield entry
    elif kind in (set, frozenset):
        yield from sorted(value, key=write_literal)
    elif kind is Instance:
        yield from value.args
        yield from value.fields.values()


def _size(value: Any) -> int:
    kind = type(value)
    if kind not in _CONTAINERS:
        return 1
    if kind in (set, frozenset):
        return 1 + sum([_size(child) for child in value])
    return 1 + sum([_size(child) for child in _children(value)])


def _mutate_node(value: Any, target: int, generator: random.Random) -> Any:
    """Return ``value`` with its node number ``target`` (in preorder) mutated; unchanged where that breaks a hash."""
    if target == 0:
        return _mutate_value(value, generator)
    target -= 1
    parts = list(_children(value))
    for position, child in enumerate(parts):
        size = _size(child)
        if target < size:
            parts[position] = _mutate_node(child, target, generator)
            return _rebuild(value, parts)
        target -= size
    raise AssertionError("a node number within the value's size")


def _rebuild(value: Any, parts: list[Any]) -> Any:
    """Return a value of the same kind with other children; the old one where they cannot be keys or elements."""
    kind = type(value)
    try:
        if kind is dict:
            return dict(zip(parts[::2], parts[1::2], strict=True))
        if kind is Instance:
            args, fields = parts[: len(value.args)], parts[len(value.args) :]
            return Instance(value.type_name, tuple(args), dict(zip(value.fields, fields, strict=True)))
        return kind(parts)
    except TypeError:
        return value


def _mutate_value(value: Any, generator: random.Random) -> Any:
    mutate = _BY_TYPE.get(type(value))
    return value if mutate is None else mutate(value, generator)


def _mutate_int(value: int, generator: random.Random) -> int:
    return value + generator.choice((-10, -1, 1, 10))


def _mutate_float(value: float, generator: random.Random) -> float:
    spread = 1.0 if generator.randrange(3) < 2 else 10.0
    return value + generator.uniform(-spread, spread)


def _mutate_bool(value: bool, generator: random.Random) -> bool:
    return generator.random() < 0.5


def _character(generator: random.Random) -> str:
    (characters,) = generator.choices(_CHARACTERS, _CHARACTER_WEIGHTS)
    return chr(generator.choice(characters))


def _cut(value: str, generator: random.Random) -> tuple[int, int]:
    start, end = sorted((generator.randint(0, len(value)), generator.randint(0, len(value))))
    return start, end


def _mutate_str(value: str, generator: random.Random) -> str:
    at = generator.randrange(len(value) + 1)
    match generator.randrange(7):
        case 0:
            return value[:at] + _character(generator) + value[at:]
        case 1:
            return value[: max(0, at - 1)] + value[at:]
        case 2:
            return value[: max(0, at - 1)] + (_character(generator) if value else "") + value[max(1, at) :]
        case 3:
            start, end = _cut(value, generator)
            return value[:start] + value[end:]
        case 4:
            start, end = _cut(value, generator)
            return value[:end] + value[start:]
        case 5:
            return value + "".join([_character(generator) for _ in range(generator.randint(1, 10))])
        case _:
            return value[: generator.randint(1, len(value))] if value else value


def _mutate_bytes(value: bytes, generator: random.Random) -> bytes:
    return _mutate_str(value.decode("latin-1"), generator).encode("latin-1")


def _mutate_sequence(value: Any, generator: random.Random) -> Any:
    parts = list(value)
    operation = generator.randrange(4) if parts else 0
    at = generator.randrange(len(parts) + (operation == 0))
    if operation == 0:
        parts.insert(at, generator.choice(_DUMMIES)())
    elif operation == 1:
        other = generator.randrange(len(parts))
        parts[at], parts[other] = parts[other], parts[at]
    elif operation == 2:
        parts.insert(at, parts[at])
    else:
        del parts[at]
    return type(value)(parts)


def _mutate_set(value: Any, generator: random.Random) -> Any:
    parts = sorted(value, key=write_literal)
    if parts and generator.random() < 0.5:
        del parts[generator.randrange(len(parts))]
    else:
        parts.append(generator.choice(_HASHABLE_DUMMIES)())
    return type(value)(parts)


def _mutate_dict(value: dict[Any, Any], generator: random.Random) -> dict[Any, Any]:
    """Insert a dummy entry, swap two values, give one key's value to another (duplicate), or delete an entry."""
    operation = generator.randrange(4) if value else 0
    mutated = dict(value)
    if operation == 0:
        mutated[generator.choice(_HASHABLE_DUMMIES)()] = generator.choice(_DUMMIES)()
        return mutated
    keys = list(mutated)
    one, other = generator.choice(keys), generator.choice(keys)
    if operation == 1:
        mutated[one], mutated[other] = mutated[other], mutated[one]
    elif operation == 2:
        mutated[other] = mutated[one]
    else:
        del mutated[one]
    return mutated


_BY_TYPE: dict[type, Callable[[Any, random.Random], Any]] = {
    int: _mutate_int,
    float: _mutate_float,
    bool: _mutate_bool,
    str: _mutate_str,
    bytes: _mutate_bytes,
    list: _mutate_sequence,
    tuple: _mutate_sequence,
    dict: _mutate_dict,
    set: _mutate_set,
    frozenset: _mutate_set,
}
