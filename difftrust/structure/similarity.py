"""Compare programs by the symbols of their trees and the words of their texts, all pairs at once.

Song et al., "Measuring LLM Code Generation Stability via Structural Entropy". P and Q are the relative frequencies of
the symbols of two programs. Matrices are (program, program): row P, column Q. A symbol of depth 1 is (kind of the node,
kinds of its children), as published; a deeper one shows its children's symbols. With values, a leaf is its text beside
its kind, so that no text is taken for a kind.

BLEU is sentence BLEU, equal to sacrebleu's, which counts the n-grams of both texts anew for each pair, 0.5 ms a pair;
counted once a text, matches are the size of an intersection. Its signature: ``eff:yes|tok:13a|smooth:floor[0.10]``;
flooring at 0.1 is smoothing method 1 of Chen and Cherry 2014.
"""

import itertools
import math
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal

import numpy as np

from difftrust.structure.trees import EXTRA, PURPOSE, Options, Syntax
from difftrust_core.base.plugins import require
from difftrust_core.exceptions import WrongUsage
from difftrust_core.metrics.estimates import Floats, Ints


@dataclass(frozen=True, kw_only=True, eq=False)
class Alphabet:
    """The numbers of the symbols met so far under one encoding: programs that are compared share one."""

    with_values: bool
    numbers: dict[Hashable, int] = field(default_factory=dict)
    inner: dict[Hashable, int] = field(default_factory=dict)
    """Symbols below the one that counts, where it shows more than one level."""


def symbols_of(tree: Syntax, alphabet: Alphabet, options: Options) -> Ints:
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


Variant = Literal["paper", "gibbs"]


def frequencies(counts: Ints) -> Floats:
    """Return the relative frequencies of counts (program, symbol). Raises WrongUsage if a program has no symbol."""
    totals = counts.sum(axis=1, keepdims=True)
    if not totals.all():
        raise WrongUsage("a distribution needs a symbol, got a program without any; leave it out")
    shares: Floats = counts / totals
    return shares


def jsd_distance(shares: Floats, *, base: str = "2") -> Floats:
    """Return the Jensen-Shannon divergence of every pair: symmetric, 0 where and only where P = Q.

    At most 1 in base 2, at most ln 2 in base e.
    """
    from scipy.special import rel_entr

    distance = np.empty((len(shares), len(shares)))
    for i, one in enumerate(shares):
        middle = (shares + one) / 2
        distance[i] = (rel_entr(shares, middle) + rel_entr(one, middle)).sum(axis=1) / 2
    limit = math.log(2)
    distance = np.clip(distance, 0, limit)  # rounding only
    return distance / limit if base == "2" else distance


def cross_entropy_similarity(shares: Floats, *, epsilon: float, variant: Variant) -> Floats:
    """Return the structural cross-entropy of every ordered pair; 1 where P = Q.

    ``paper``: H(Q) / H(P, Q), as published: >= 0, and above 1 for some pairs, so it is no similarity.
    ``gibbs``: H(P) / H(P, Q), in [0, 1], and 1 only where P = Q, as long as epsilon is below 1 / (3 symbols of P).
    H(P, Q) = -sum P log Q, with epsilon for Q where Q is 0. The base of the logarithm cancels.
    """
    from scipy.special import xlogy

    entropy = -xlogy(shares, shares).sum(axis=1)
    cross = -shares @ np.log(np.where(shares > 0, shares, epsilon)).T
    above = entropy[np.newaxis, :] if variant == "paper" else entropy[:, np.newaxis]
    which = np.unique(shares, axis=0, return_inverse=True)[1]
    differ = which[:, np.newaxis] != which
    similarity: Floats = np.divide(np.broadcast_to(above, cross.shape), cross, out=np.ones_like(cross), where=differ)
    if variant == "gibbs":
        similarity[(similarity > 1) & (similarity < 1 + 1e-12)] = 1.0  # rounding only
    return similarity


ORDERS: Final = 4
FLOOR: Final = 0.1


class Ngrams:
    """The n-grams of several texts, counted once."""

    def __init__(self, texts: Sequence[str]):
        words = tokens(texts)
        self._lengths = np.array([len(of_text) for of_text in words], dtype=np.int64)
        numbers = defaultdict[Hashable, int](itertools.count().__next__)
        self._there = [[_occurrences(of_text, n, numbers) for of_text in words] for n in range(1, ORDERS + 1)]

    def bleu(self, rows: Ints) -> Floats:
        """Return BLEU in [0, 1] among the texts ``rows``: (hypothesis, reference).

        0 where the two share no word. Equal texts have 1, empty ones aside.
        """
        lengths = self._lengths[rows]
        summed = np.zeros((len(rows), len(rows)))
        anything = np.zeros(summed.shape, dtype=bool)
        for order, of_all in enumerate(self._there, 1):
            chosen = [of_all[row] for row in rows.tolist()]
            matches = np.array([[len(one & other) for other in chosen] for one in chosen])
            totals = (lengths - order + 1)[:, np.newaxis]
            anything |= matches > 0
            precision = np.where(matches > 0, matches, FLOOR) / np.maximum(totals, 1)
            summed += np.where(totals > 0, np.log(precision), 0.0)
        orders = np.clip(lengths, 1, ORDERS)[:, np.newaxis]
        brevity = np.minimum(0.0, 1 - lengths[np.newaxis, :] / np.maximum(lengths, 1)[:, np.newaxis])
        scores: Floats = np.where(anything, np.exp(brevity + summed / orders), 0.0)
        return scores


def tokens(texts: Sequence[str]) -> list[list[str]]:
    """Return the words of each text, as sacrebleu's default tokenizer finds them."""
    _ = require("sacrebleu", extra=EXTRA, purpose=PURPOSE)
    from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a
    from sacrebleu.tokenizers.tokenizer_re import TokenizerRegexp

    tokenizer: Any = Tokenizer13a()  # type: ignore[no-untyped-call]
    words = [str(tokenizer(text.rstrip())).split() for text in texts]
    for cached in (Tokenizer13a, TokenizerRegexp):
        cached.__call__.cache_clear()  # it would keep 65,536 texts, of a megabyte each if need be
    return words


def _occurrences(words: Sequence[str], n: int, numbers: dict[Hashable, int]) -> set[int]:
    """Return the numbers of the n-grams of a text, each occurrence with one of its own.

    So what two texts share are, for each n-gram, the smaller number of occurrences.
    """
    counts = Counter(zip(*(words[at:] for at in range(n)), strict=False))
    return {numbers[gram, nth] for gram, count in counts.items() for nth in range(count)}
