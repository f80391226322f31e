"""Compute TSED: the exact tree edit distance of all pairs of programs, as a similarity.

Song et al., "Revisiting Code Similarity Evaluation with Abstract Syntax Tree Edit Distance": 1 - distance / size of the
larger tree, at least 0, with the costs 1 (delete), 0.8 (insert), 1 (rename). Trees are those of the named nodes.

The distance is what Zhang and Shasha 1989 compute, turned around: with k pairs matched, r of them renamed, it is
size P + 0.8 size Q - (1.8 k - r), so the largest 1.8 k - r serves both directions. It is kept in fifths, as whole
numbers. One tree meets all others at once, a row of the tables at a time; a pair costs a few ms, where apted takes 60.
"""

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from difftrust.structure.trees import Syntax
from difftrust_core.metrics.estimates import Floats, Ints

Cells = NDArray[np.int32]
DELETE: Final = 1.0
INSERT: Final = 0.8
_SAME: Final = 9
"""Fifths that a matched pair of one kind saves: 1 + 0.8."""
_RENAMED: Final = 4
MAX_WORK: Final = 1 << 25
"""Cells beyond which a pair is left undefined: two programs of about 1,000 named nodes each, some seconds."""
MAX_NODES: Final = 4000
"""Named nodes of a program beyond which its pairs are left undefined."""
_CELLS: Final = 1 << 22
"""Cells of a table, unless one pair needs more."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Ordered:
    """A tree in postorder, nodes numbered from 0."""

    kinds: Ints
    leftmost: Ints
    """The first node of each node's subtree."""
    keyroots: Ints
    """Nodes that are no first child, ascending: the roots of the forests to solve."""

    @property
    def work(self) -> int:
        """Return the nodes of all forests to solve."""
        return int((self.keyroots - self.leftmost[self.keyroots] + 1).sum())


def ordered(tree: Syntax, anonymous: frozenset[int]) -> Ordered:
    """Return the tree of the nodes that are not ``anonymous``, in postorder."""
    order = []
    below: list[list[int]] = [[] for _ in tree.kinds]
    for node, parent in enumerate(tree.parents):
        if parent >= 0 and tree.kinds[node] not in anonymous:
            below[parent].append(node)
    pending = [0]
    while pending:  # node, then its children from the last one: postorder backwards
        node = pending.pop()
        order.append(node)
        pending += below[node]
    order.reverse()
    place = {node: i for i, node in enumerate(order)}
    leftmost = [place[below[node][0]] if below[node] else i for i, node in enumerate(order)]
    for i in range(len(order)):
        leftmost[i] = leftmost[leftmost[i]] if leftmost[i] != i else i
    ends = {first: i for i, first in enumerate(leftmost)}
    return Ordered(
        kinds=np.array([tree.kinds[node] for node in order], dtype=np.int64),
        leftmost=np.array(leftmost, dtype=np.int64),
        keyroots=np.array(sorted(ends.values()), dtype=np.int64),
    )


def tsed(trees: Sequence[Ordered], pairs: Iterable[tuple[int, int]]) -> Floats:
    """Return TSED of the ordered pairs, in [0, 1]: (from, to); NaN where a pair would take too long.

    ``pairs``: the pairs wanted, each for both of its directions; the others are NaN.
    """
    n, sizes = len(trees), np.array([len(tree.kinds) for tree in trees], dtype=np.float64)
    wanted = np.zeros((n, n), dtype=bool)
    for i, j in pairs:
        wanted[min(i, j), max(i, j)] = sizes[[i, j]].max() <= MAX_NODES and trees[i].work * trees[j].work <= MAX_WORK
    saved = np.full((n, n), np.nan)
    for i, tree in enumerate(trees):
        saved[i, i] = _SAME * sizes[i]
        for others in _batches(tree, trees, np.flatnonzero(wanted[i, i + 1 :]) + i + 1):
            saved[i, others] = saved[others, i] = _Forests([trees[j] for j in others]).against(tree)
    distance = DELETE * sizes[:, np.newaxis] + INSERT * sizes[np.newaxis, :] - saved / 5
    similarity: Floats = np.maximum(1 - distance / np.maximum(sizes[:, np.newaxis], sizes[np.newaxis, :]), 0.0)
    return similarity


def _batches(tree: Ordered, trees: Sequence[Ordered], others: Ints) -> Iterator[list[int]]:
    """Split ``others`` so that the table of ``tree`` and each batch fits into memory."""
    batch: list[int] = []
    cells = 0
    for j in others.tolist():
        of_this = len(tree.kinds) * trees[j].work
        if batch and cells + of_this > _CELLS:
            yield batch
            batch, cells = [], 0
        batch.append(j)
        cells += of_this
    if batch:
        yield batch


class _Forests:
    """The forests of several trees laid end to end: a *segment* for each keyroot, its first column the empty forest."""

    def __init__(self, trees: Sequence[Ordered]):
        firsts = np.cumsum([0, *(len(tree.kinds) for tree in trees)])
        self.kinds = np.concatenate([tree.kinds for tree in trees])
        self.roots = firsts[1:] - 1
        segments = sorted(
            (level, first + int(tree.leftmost[root]), first + int(root))
            for first, tree in zip(firsts.tolist(), trees, strict=False)
            for root, level in zip(tree.keyroots, _levels(tree), strict=True)
        )
        lengths = np.array([root - start + 2 for _, start, root in segments])
        begins = np.cumsum(lengths) - lengths
        leftmost = np.concatenate([tree.leftmost + first for first, tree in zip(firsts.tolist(), trees, strict=False)])
        within = np.arange(int(lengths.sum())) - np.repeat(begins, lengths)
        starts = np.repeat([start for _, start, _ in segments], lengths)
        is_empty = within == 0
        self.empty = begins
        self.node = np.where(is_empty, 0, starts + within - 1)
        begin_of = np.repeat(begins, lengths)
        self.before = np.where(is_empty, begin_of, begin_of + leftmost[self.node] - starts)
        """The column of the forest left of this column's subtree."""
        self.offset = np.repeat(_SAME * begins, lengths).astype(np.int32)
        """Makes a segment's values exceed all of the one before, so that one running maximum serves them all."""
        bounds = np.searchsorted([level for level, _, _ in segments], range(segments[-1][0] + 2))
        ends = np.append(begins, len(within))[bounds].tolist()
        on_path = ~is_empty & (leftmost[self.node] == starts)
        self.levels = [
            (slice(begin, end), np.flatnonzero(on_path[begin:end]), np.flatnonzero(is_empty[begin:end]))
            for begin, end in itertools.pairwise(ends)
            if begin < end
        ]
        """Segments that need nothing of each other: their columns, and counted from the first of these the columns of
        nodes whose subtree begins where the segment does, and of empty forests."""

    def against(self, tree: Ordered) -> Ints:
        """Return what the best match of ``tree`` with each tree saves, in fifths."""
        solved = np.zeros((len(tree.kinds), len(self.kinds)), dtype=np.int32)
        for root in tree.keyroots.tolist():
            self._solve(tree, root, solved)
        best: Ints = solved[-1, self.roots].astype(np.int64)
        return best

    def _solve(self, tree: Ordered, root: int, solved: Cells) -> None:
        first = int(tree.leftmost[root])
        table = np.empty((root - first + 2, len(self.node)), dtype=np.int32)
        table[0] = self.offset
        for node in range(first, root + 1):
            row, left = node - first + 1, int(tree.leftmost[node])
            if left == first:
                self._on_path(tree, node, table[row - 1], table[row], solved)
            else:
                match = table[left - first].take(self.before)
                match += solved[node].take(self.node)
                match[self.empty] = table[0][self.empty]
                np.maximum(match, table[row - 1], out=match)
                np.maximum.accumulate(match, out=table[row])

    def _on_path(self, tree: Ordered, node: int, above: Cells, row: Cells, solved: Cells) -> None:
        """Fill the row of a whole subtree, and with it ``solved``: inner segments first, for outer ones need them."""
        gain = np.where(self.kinds == tree.kinds[node], _SAME, _RENAMED).astype(np.int32)
        done = solved[node]
        for part, path, empty in self.levels:
            over, offset, filled, nodes = above[part], self.offset[part], row[part], self.node[part]
            match = offset + done.take(nodes)
            match[empty] = offset[empty]
            match[path] = over.take(path - 1) + gain.take(nodes[path])
            np.maximum(match, over, out=match)
            np.maximum.accumulate(match, out=filled)
            done[nodes[path]] = filled.take(path) - offset.take(path)


def _levels(tree: Ordered) -> list[int]:
    """Return, for each keyroot, how deep keyroots lie nested within its subtree."""
    levels: list[int] = []
    open_ones: list[tuple[int, int]] = []
    for root in tree.keyroots.tolist():
        level = 0
        while open_ones and open_ones[-1][0] >= tree.leftmost[root]:
            level = max(level, open_ones.pop()[1] + 1)
        open_ones.append((root, level))
        levels.append(level)
    return levels
