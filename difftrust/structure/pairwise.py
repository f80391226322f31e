"""Compare the programs of one task in pairs, by every measure of structure."""

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from difftrust.structure.edit_distance import Ordered, ordered, tsed
from difftrust.structure.similarity import (
    Alphabet,
    Ngrams,
    Variant,
    cross_entropy_similarity,
    frequencies,
    jsd_distance,
    symbols_of,
)
from difftrust.structure.trees import DEFAULT, Options, Syntax, load_grammar, parse_program
from difftrust_core.exceptions import WrongUsage
from difftrust_core.metrics.estimates import Floats, Ints

TREE_MEASURES: Final = ("jsd_structural", "jsd", "sce_structural", "sce", "gibbs_structural", "gibbs")
"""Of structure only, and of structure with values, as in Table II of Song et al."""
MEASURES: Final = ("exact_match", "bleu", *TREE_MEASURES, "tsed")
_VARIANTS: Final[dict[str, Variant]] = {"sce": "paper", "gibbs": "gibbs"}


class Programs:
    """The distinct programs of a task, parsed and counted once, whoever wrote them."""

    def __init__(self, texts: Sequence[str], options: Options = DEFAULT):
        self.texts, self.options = texts, options
        self.trees = [parse_program(text, options) for text in texts]
        self._counts = {name: self._count(with_values=value) for name, value in (("_structural", False), ("", True))}
        self._tsed: Floats | None = None

    @property
    def comparable(self) -> NDArray[np.bool_]:
        """Return which programs can be compared: short enough, and without errors where those are to be skipped."""
        return np.array([t is not None and not (self.options.skip_parse_errors and t.has_error) for t in self.trees])

    def _count(self, *, with_values: bool) -> list[Ints]:
        alphabet = Alphabet(with_values=with_values)
        none = np.zeros(0, dtype=np.int64)
        return [none if tree is None else symbols_of(tree, alphabet, self.options) for tree in self.trees]

    @cached_property
    def _ngrams(self) -> Ngrams:
        return Ngrams(self.texts)

    def scores(self, rows: Sequence[int]) -> dict[str, Floats]:
        """Return each measure among the comparable programs ``rows``: (from, to); no tsed before ``edit``."""
        at = np.array(rows, dtype=np.int64)
        found = {"exact_match": np.eye(len(at)), "bleu": self._ngrams.bleu(at), **self.tree_scores(rows)}
        if self._tsed is not None:
            found["tsed"] = self._tsed[np.ix_(at, at)]
        return found

    def tree_scores(self, rows: Sequence[int]) -> dict[str, Floats]:
        """Return each of TREE_MEASURES among the comparable programs ``rows``: (from, to)."""
        found = {}
        for suffix, symbols in self._counts.items():
            shares = frequencies(_counted([symbols[row] for row in rows]))
            found[f"jsd{suffix}"] = 1 - jsd_distance(shares, base=self.options.base)
            for name, variant in _VARIANTS.items():
                found[name + suffix] = cross_entropy_similarity(shares, epsilon=self.options.epsilon, variant=variant)
        return found

    def edit(self, groups: Iterable[Sequence[int]]) -> None:
        """Compute the tree edit distances within each group of programs: by far the slowest measure."""
        anonymous = load_grammar(self.options.language).anonymous
        shapes: dict[tuple[bytes, bytes], int] = {}
        trees: list[Ordered] = []
        shape_of = np.zeros(len(self.texts), dtype=np.int64)
        for row, tree in enumerate(self.trees):
            if tree is not None:
                made = ordered(tree, anonymous)
                shape_of[row] = shapes.setdefault((made.kinds.tobytes(), made.leftmost.tobytes()), len(shapes))
                if len(shapes) > len(trees):
                    trees.append(made)
        pairs = {
            (min(a, b), max(a, b))
            for rows in groups
            for a, b in itertools.combinations(sorted(set(shape_of[list(rows)].tolist())), 2)
        }
        self._tsed = tsed(trees, pairs)[np.ix_(shape_of, shape_of)]


def _counted(symbols: Sequence[Ints]) -> Ints:
    """Return how often each symbol that occurs at all occurs in each program: (program, symbol)."""
    together = np.unique(np.concatenate(symbols), return_inverse=True)
    columns = together[1]
    n_columns = len(together[0])
    program = np.repeat(np.arange(len(symbols)), [len(s) for s in symbols])
    counts = np.bincount(program * n_columns + columns, minlength=len(symbols) * n_columns)
    return counts.reshape(len(symbols), n_columns)


@dataclass(frozen=True, kw_only=True)
class Stability:
    """How alike m programs are: means over the m (m - 1) ordered pairs of them, NaN with fewer than two."""

    m: int
    n_programs: int
    """Distinct texts."""
    n_parse_errors: int
    n_left_out: int
    """Programs too long to parse, and those with errors where they are to be skipped; not among the m."""
    mean_length: float
    """Characters."""
    mean_nodes: float
    """Nodes of the syntax tree."""
    scores: dict[str, float] = field(default_factory=dict)
    """One of each of MEASURES; NaN where it was not asked for."""


def stability(programs: Programs, rows: Sequence[int]) -> Stability:
    """Return how alike the candidates are whose programs are ``rows``, one row a candidate, repeats and all."""
    comparable = programs.comparable
    kept = [row for row in rows if comparable[row]]
    distinct, counts = np.unique(np.array(kept, dtype=np.int64), return_counts=True)
    trees: list[Syntax] = [tree for row in kept if (tree := programs.trees[row]) is not None]
    scores = dict.fromkeys(MEASURES, float("nan"))
    if len(kept) > 1:
        pairs = np.outer(counts, counts) - np.diag(counts)
        scores |= {name: _mean(matrix, pairs) for name, matrix in programs.scores(distinct.tolist()).items()}
    return Stability(
        m=len(kept),
        n_programs=len(distinct),
        n_parse_errors=sum(tree.has_error for tree in trees),
        n_left_out=len(rows) - len(kept),
        mean_length=float(np.mean([len(programs.texts[row]) for row in kept])) if kept else float("nan"),
        mean_nodes=float(np.mean([len(tree.kinds) for tree in trees])) if kept else float("nan"),
        scores=scores,
    )


def _mean(matrix: Floats, pairs: Ints) -> float:
    """Return the mean over pairs of candidates; a pair of one program with itself counts as often as it occurs."""
    used = pairs > 0
    return float((matrix[used] * pairs[used]).sum() / pairs[used].sum())


@dataclass(frozen=True, kw_only=True, eq=False)
class TwoCompared:
    """``frame``: score, first_to_second, second_to_first, one row for each of MEASURES."""

    frame: pl.DataFrame
    has_error: tuple[bool, bool]
    """Whether each of the two does not parse whole."""


def compare_two(first: str, second: str, options: Options = DEFAULT) -> TwoCompared:
    """Return every score of two programs. Raises WrongUsage if one is too long to parse."""
    programs = Programs([first, second], options)
    errors = [tree.has_error for tree in programs.trees if tree is not None]
    if len(errors) < 2:
        raise WrongUsage("a program longer than 1 MiB is not parsed; compare shorter ones")
    programs.edit([[0, 1]])
    scores = programs.scores([0, 1])
    scores["exact_match"] += float(first == second) * (1 - scores["exact_match"])
    rows = [(name, float(scores[name][0, 1]), float(scores[name][1, 0])) for name in MEASURES]
    frame = pl.DataFrame(rows, schema=["score", "first_to_second", "second_to_first"], orient="row").fill_nan(None)
    return TwoCompared(frame=frame, has_error=(errors[0], errors[1]))
