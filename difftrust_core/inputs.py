"""Seeded, prefix-stable, type-aware fuzzing of a task's seed inputs, and nothing else.

``Gen(d)`` of Valentin et al.: pick a seed input, mutate each argument 1, 10 or 30 times; a mutation picks one node
of the nested value uniformly and changes it by its type (Table 6). Every input is a function of (task, seed,
position, attempt) alone, so the first 1,000 of 10,000 inputs are the 1,000.
"""

import hashlib
import random
from collections.abc import Callable, Collection, Sequence
from typing import Any

from difftrust_core.literals import write_literal
from difftrust_core.mutations import CONTAINERS, DUMMIES, below, dummy_of, mutate_node, mutate_value, size_of

MUTATIONS_PER_ARGUMENT = (1, 10, 30)
MAX_ATTEMPTS = 100
"""So many inputs are tried at one position; then an unchanged seed input takes it."""


def sample_input(task_id: str, seeds: Sequence[tuple[Any, ...]], *, seed: int, position: int, attempt: int) -> str:
    """Return the input of one position and attempt, an argument tuple in the text form of ``literals``.

    ``seeds`` must not be empty. Attempt MAX_ATTEMPTS and beyond give an unchanged seed input.
    """
    key = f"{seed}/{task_id}/{position}/{attempt}".encode()
    generator = random.Random(int.from_bytes(hashlib.blake2b(key, digest_size=8).digest(), "big"))
    chosen = seeds[below(len(seeds), generator)]
    if attempt >= MAX_ATTEMPTS:
        return write_literal(chosen)
    return write_literal(tuple([_mutate_argument(argument, generator) for argument in chosen]))


def _mutate_argument(argument: Any, generator: random.Random) -> Any:
    n_mutations = MUTATIONS_PER_ARGUMENT[below(len(MUTATIONS_PER_ARGUMENT), generator)]
    if type(argument) not in CONTAINERS:  # one node, whose type stays: the short way to the same result
        for _ in range(n_mutations):
            argument = mutate_value(argument, generator)
        return argument
    if type(argument) in (list, tuple):
        sequence = _Sequence(argument)
        for _ in range(n_mutations):
            sequence.mutate(below(sequence.size, generator) if sequence.size > 1 else 0, generator)
        return sequence.value()
    for _ in range(n_mutations):
        size = size_of(argument)
        argument = mutate_node(argument, below(size, generator) if size > 1 else 0, generator)
    return argument


class _Sequence:
    """A list or tuple that counts its nodes as it changes: ``mutate`` is ``mutate_node`` in place.

    Lists and tuples in it are sequences too, all else is a value; nothing in them is a key or an element of a set.
    """

    __slots__ = ("kind", "parts", "size")

    def __init__(self, value: Collection[Any]):
        self.kind: Callable[[list[Any]], Any] = type(value)
        self.parts = [_Sequence(part) if type(part) in (list, tuple) else part for part in value]
        self.size = 1 + sum([_size_of_part(part) for part in self.parts])

    def value(self) -> Any:
        """Return the list or tuple as it is now."""
        return self.kind([part.value() if type(part) is _Sequence else part for part in self.parts])

    def mutate(self, target: int, generator: random.Random) -> int:
        """Mutate the node number ``target`` (in preorder); return by how many nodes this grew."""
        grown = self._mutate_parts(generator) if target == 0 else self._mutate_below(target - 1, generator)
        self.size += grown
        return grown

    def _mutate_below(self, target: int, generator: random.Random) -> int:
        parts = self.parts
        if self.size == 1 + len(parts) and type(parts[target]) is not _Sequence:
            return self._replace(target, mutate_value(parts[target], generator))
        for position, part in enumerate(parts):
            size = _size_of_part(part)
            if target < size:
                if type(part) is _Sequence:
                    return part.mutate(target, generator)
                return self._replace(position, mutate_node(part, target, generator))
            target -= size
        raise AssertionError("a node number within the value's size")

    def _replace(self, position: int, part: Any) -> int:
        before, self.parts[position] = self.parts[position], part
        return _size_of_part(part) - _size_of_part(before)

    def _mutate_parts(self, generator: random.Random) -> int:
        """Do to the parts what ``_mutate_sequence`` does to a value's."""
        parts = self.parts
        operation = below(4, generator) if parts else 0
        at = below(len(parts) + (operation == 0), generator)
        if operation == 0:
            dummy = dummy_of(DUMMIES, generator)
            parts.insert(at, _Sequence(dummy) if type(dummy) is list else dummy)
            return 1
        if operation == 1:
            other = below(len(parts), generator)
            parts[at], parts[other] = parts[other], parts[at]
            return 0
        part = parts[at]
        if operation == 2:
            parts.insert(at, _Sequence(part.value()) if type(part) is _Sequence else part)
            return _size_of_part(part)
        del parts[at]
        return -_size_of_part(part)


def _size_of_part(part: Any) -> int:
    kind = type(part)
    if kind is _Sequence:
        return int(part.size)
    return size_of(part) if kind in CONTAINERS else 1
