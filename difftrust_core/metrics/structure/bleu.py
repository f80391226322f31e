"""Compute sentence BLEU of all ordered pairs at once, equal to sacrebleu's.

sacrebleu counts the n-grams of both texts anew for each pair, 0.5 ms a pair; counted once a text, matches are a product
of matrices. Its signature: ``eff:yes|tok:13a|smooth:floor[0.10]``; flooring at 0.1 is smoothing method 1 of Chen and
Cherry 2014.
"""

from collections.abc import Iterator, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from difftrust_core.base.extras import require
from difftrust_core.metrics.structure.grammars import EXTRA, PURPOSE

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
ORDERS: Final = 4
FLOOR: Final = 0.1


class Ngrams:
    """The n-grams of several texts, counted once."""

    def __init__(self, texts: Sequence[str]):
        words = tokens(texts)
        numbers: dict[str, int] = {}
        spelled = [numbers.setdefault(word, len(numbers)) for of_text in words for word in of_text]
        self.lengths = np.array([len(of_text) for of_text in words], dtype=np.int64)
        self._there = list(_occurrences(np.array(spelled, dtype=np.int64), self.lengths))

    def bleu(self, rows: Ints) -> Floats:
        """Return BLEU in [0, 1] among the texts ``rows``: (hypothesis, reference).

        0 where the two share no word. Equal texts have 1, empty ones aside.
        """
        lengths = self.lengths[rows]
        summed = np.zeros((len(rows), len(rows)))
        anything = np.zeros(summed.shape, dtype=bool)
        for order, of_all in enumerate(self._there, 1):
            matches = _matches([of_all[row] for row in rows.tolist()])
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


def _occurrences(words: Ints, lengths: Ints) -> Iterator[list[Ints]]:
    """Yield, for n = 1 to ORDERS, each text's n-grams as numbers, none twice.

    The k-th occurrence of an n-gram in a text has a number of its own, so what two texts share are, for each n-gram,
    the smaller number of occurrences.
    """
    n_texts = len(lengths)
    text = np.repeat(np.arange(n_texts), lengths)
    left = np.repeat(np.cumsum(lengths), lengths) - np.arange(len(words))  # words from here to the end of the text
    n_words = int(words.max(initial=0)) + 1
    grams = words
    for order in range(1, ORDERS + 1):
        if order > 1:
            kept = left[: len(words) - order + 1] >= order
            at = np.flatnonzero(kept)
            longer = np.full(len(words), -1, dtype=np.int64)
            longer[at] = np.unique(grams[at] * n_words + words[at + order - 1], return_inverse=True)[1]
            grams = longer
        at = np.flatnonzero(left >= order)
        ranked = at[np.lexsort((text[at], grams[at]))]
        key = grams[ranked] * n_texts + text[ranked]
        first = np.flatnonzero(np.diff(key, prepend=-1))
        nth = np.arange(len(key)) - np.repeat(first, np.diff(first, append=len(key)))
        numbers = grams[ranked] * (len(words) + 1) + nth
        of_text = text[ranked]
        ends = np.cumsum(np.bincount(of_text, minlength=n_texts))
        yield np.split(numbers[np.argsort(of_text, kind="stable")], ends[:-1])


def _matches(grams: Sequence[Ints]) -> Floats:
    """Return how many n-grams every two texts share: a product of matrices of 0 and 1."""
    columns = np.unique(np.concatenate(grams), return_inverse=True)[1]
    there = np.zeros((len(grams), int(columns.max(initial=0)) + 1))
    there[np.repeat(np.arange(len(grams)), [len(of_text) for of_text in grams]), columns] = 1
    both: Floats = there @ there.T
    return both
