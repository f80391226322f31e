"""Count the symbols of a syntax tree, with and without values.

A symbol of depth 1 is (kind of the node, kinds of its children), as published; a deeper one shows its children's
symbols.
With values, a leaf is its text beside its kind, so that no text is taken for a kind.
"""

from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from difftrust_core.metrics.structure.options import DEFAULT, Options
from difftrust_core.metrics.structure.trees import Syntax

Ints = NDArray[np.int64]


@dataclass(frozen=True, kw_only=True, eq=False)
class Alphabet:
    """The numbers of the symbols met so far under one encoding: programs that are compared share one."""

    with_values: bool
    numbers: dict[Hashable, int] = field(default_factory=dict)
    inner: dict[Hashable, int] = field(default_factory=dict)
    """Symbols below the one that counts, where it shows more than one level."""

    def __len__(self) -> int:
        return len(self.numbers)


def symbols_of(tree: Syntax, alphabet: Alphabet, options: Options = DEFAULT) -> Ints:
    """Return the numbers of the symbols of a tree's nodes, those within ``max_depth`` of its root."""
    labels = tree.kinds
    for level in range(1, options.subtree_depth):
        labels = _numbered(((level, *symbol) for symbol in _symbols(tree, labels, alphabet)), alphabet.inner)
    symbols = _symbols(tree, labels, alphabet)
    if alphabet.with_values:
        symbols += [("gap", text) for _, text in tree.gaps]
    if options.max_depth is not None:
        depths = tree.depths()
        depths += [depths[node] for node, _ in tree.gaps] if alphabet.with_values else []
        symbols = [s for s, depth in zip(symbols, depths, strict=True) if depth <= options.max_depth]
    return np.array(_numbered(symbols, alphabet.numbers), dtype=np.int64)


def _symbols(tree: Syntax, labels: list[int], alphabet: Alphabet) -> list[tuple[Hashable, ...]]:
    """Return each node's symbol one level deep: its kind, and the labels of its children or a leaf's text."""
    below: list[list[Hashable]] = [[kind] for kind in tree.kinds]
    for label, parent in zip(labels[1:], tree.parents[1:], strict=True):
        below[parent].append(label)
    if alphabet.with_values:
        for leaf, text in tree.texts.items():
            below[leaf].append(text)
    return list(map(tuple, below))


def _numbered(symbols: Iterable[Hashable], numbers: dict[Hashable, int]) -> list[int]:
    return [numbers.setdefault(symbol, len(numbers)) for symbol in symbols]
