"""Seeded, prefix-stable, type-aware fuzzing of a task's seed inputs.

``Gen(d)`` of Valentin et al.: pick a seed input, mutate each argument 1, 10 or 30 times; a mutation picks one node
of the nested value uniformly and changes it by its type (Table 6). Every input is a function of (task, seed,
position, attempt) alone, so the first 1,000 of 10,000 inputs are the 1,000.
"""

import random
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any

from difftrust_core.base.literals import Instance, write_literal
from difftrust_core.languages.language import MAX_ATTEMPTS, key_of

MUTATIONS_PER_ARGUMENT = (1, 10, 30)
_CONTROL, _PRINTABLE, _EXTENDED = ("".join(map(chr, r)) for r in (range(0x20), range(0x20, 0x7F), range(0x80, 0x100)))
_CHARACTERS = (_CONTROL,) * 2 + (_PRINTABLE,) * 4 + (_EXTENDED,)  # control 2/7, printable 4/7, extended 1/7
_INT_STEPS = (-10, -1, 1, 10)
_HASHABLE_DUMMIES: tuple[Callable[[], Any], ...] = (lambda: None, bool, int, float, str)
DUMMIES = (*_HASHABLE_DUMMIES, list, dict, set)
CONTAINERS = frozenset((list, tuple, dict, set, frozenset, Instance))


def children(value: Any) -> Iterator[Any]:
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


def size_of(value: Any) -> int:
    """Return the number of nodes: the value, and all below it."""
    kind = type(value)
    if kind not in CONTAINERS:
        return 1
    if kind in (list, tuple, set, frozenset):
        below: Collection[Any] = value
    else:
        below = list(children(value))
    if CONTAINERS.isdisjoint(map(type, below)):
        return 1 + len(below)
    return 1 + sum([1 if type(child) not in CONTAINERS else size_of(child) for child in below])


def mutate_node(value: Any, target: int, generator: random.Random) -> Any:
    """Return ``value`` with its node number ``target`` (in preorder) mutated; unchanged where that breaks a hash."""
    if target == 0:
        return mutate_value(value, generator)
    target -= 1
    parts = list(children(value))
    if CONTAINERS.isdisjoint(map(type, parts)):
        parts[target] = mutate_value(parts[target], generator)
        return rebuild(value, parts)
    for position, child in enumerate(parts):
        size = size_of(child) if type(child) in CONTAINERS else 1
        if target < size:
            parts[position] = mutate_node(child, target, generator)
            return rebuild(value, parts)
        target -= size
    raise AssertionError("a node number within the value's size")


def rebuild(value: Any, parts: list[Any]) -> Any:
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


def mutate_value(value: Any, generator: random.Random) -> Any:
    """Return ``value`` changed by its type; unchanged where its type has no mutation."""
    mutate = _BY_TYPE.get(type(value))
    return value if mutate is None else mutate(value, generator)


def below(n: int, generator: random.Random) -> int:
    """Return an integer in range(n), uniformly; five times as fast as ``randrange``."""
    return int(generator.random() * n)


def _mutate_int(value: int, generator: random.Random) -> int:
    return value + _INT_STEPS[below(4, generator)]


def _mutate_float(value: float, generator: random.Random) -> float:
    spread = 1.0 if below(3, generator) < 2 else 10.0
    return value + generator.uniform(-spread, spread)


def _mutate_bool(value: bool, generator: random.Random) -> bool:
    return generator.random() < 0.5


def _character(generator: random.Random) -> str:
    characters = _CHARACTERS[below(len(_CHARACTERS), generator)]
    return characters[below(len(characters), generator)]


def _cut(value: str, generator: random.Random) -> tuple[int, int]:
    one, other = below(len(value) + 1, generator), below(len(value) + 1, generator)
    return (one, other) if one <= other else (other, one)


def _mutate_str(value: str, generator: random.Random) -> str:
    """Insert, delete or replace a character, cut or duplicate a substring, append, or drop at the end."""
    operation = below(7, generator)
    if operation == 0:
        at = below(len(value) + 1, generator)
        return value[:at] + _character(generator) + value[at:]
    if operation == 5:
        return value + "".join([_character(generator) for _ in range(1 + below(10, generator))])
    if not value:
        return value
    if operation in (1, 2):
        at = below(len(value), generator)
        return value[:at] + (_character(generator) if operation == 2 else "") + value[at + 1 :]
    if operation == 6:
        return value[: 1 + below(len(value), generator)]
    start, end = _cut(value, generator)
    return value[:start] + value[end:] if operation == 3 else value[:end] + value[start:]


def _mutate_bytes(value: bytes, generator: random.Random) -> bytes:
    return _mutate_str(value.decode("latin-1"), generator).encode("latin-1")


def dummy_of(choices: tuple[Callable[[], Any], ...], generator: random.Random) -> Any:
    """Return an empty value of a type chosen uniformly."""
    return choices[below(len(choices), generator)]()


def _mutate_sequence(value: Any, generator: random.Random) -> Any:
    parts = list(value)
    operation = below(4, generator) if parts else 0
    at = below(len(parts) + (operation == 0), generator)
    if operation == 0:
        parts.insert(at, dummy_of(DUMMIES, generator))
    elif operation == 1:
        other = below(len(parts), generator)
        parts[at], parts[other] = parts[other], parts[at]
    elif operation == 2:
        parts.insert(at, parts[at])
    else:
        del parts[at]
    return type(value)(parts)


def _mutate_set(value: Any, generator: random.Random) -> Any:
    parts = sorted(value, key=write_literal)
    if parts and generator.random() < 0.5:
        del parts[below(len(parts), generator)]
    else:
        parts.append(dummy_of(_HASHABLE_DUMMIES, generator))
    return type(value)(parts)


def _mutate_dict(value: dict[Any, Any], generator: random.Random) -> dict[Any, Any]:
    """Insert a dummy entry, swap two values, give one key's value to another (duplicate), or delete an entry."""
    operation = below(4, generator) if value else 0
    mutated = dict(value)
    if operation == 0:
        mutated[dummy_of(_HASHABLE_DUMMIES, generator)] = dummy_of(DUMMIES, generator)
        return mutated
    keys = list(mutated)
    one, other = keys[below(len(keys), generator)], keys[below(len(keys), generator)]
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


def generator_of(task_id: str, *, seed: int, position: int, attempt: int) -> random.Random:
    """Return what the input of one position and attempt is drawn from."""
    return random.Random(key_of(task_id, seed=seed, position=position, attempt=attempt))


def sample_input(task_id: str, seeds: Sequence[tuple[Any, ...]], *, seed: int, position: int, attempt: int) -> str:
    """Return the input of one position and attempt, an argument tuple in the text form of ``literals``.

    ``seeds`` must not be empty. Attempt MAX_ATTEMPTS and beyond give an unchanged seed input.
    """
    generator = generator_of(task_id, seed=seed, position=position, attempt=attempt)
    chosen = seeds[below(len(seeds), generator)]
    if attempt >= MAX_ATTEMPTS:
        return write_literal(chosen)
    return write_literal(tuple([_mutate_argument(argument, generator) for argument in chosen]))


def _mutate_argument(argument: Any, generator: random.Random) -> Any:
    for _ in range(MUTATIONS_PER_ARGUMENT[below(len(MUTATIONS_PER_ARGUMENT), generator)]):
        size = size_of(argument)
        argument = mutate_node(argument, below(size, generator) if size > 1 else 0, generator)
    return argument
