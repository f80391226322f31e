"""Whether a sentence limits what may be passed, told from its words alone by weights that were learned.

The weights (limiting.txt) are those of a logistic regression on sentences of which readers said whether they limit
something: `python -m tests.bench.limiting_sentences --write` learns them, and without `--write` measures them on
authors that they have not seen.
"""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Final

WEIGHTS: Final = Path(__file__).with_name("limiting.txt")
OF_ALL: Final = "@"
"""Stands for every sentence."""
BAR, _BAR_OF_REST = 0.0, 1.0
"""Log-odds above which a sentence limits something; higher for what is left of one: the weights are of whole ones."""


def marks(words: Sequence[str], origin: str, *, is_first: bool) -> frozenset[str]:
    """Return what is weighed: words and pairs of them, values and parameters as such, and where the sentence stands."""
    plain = ["^", *(re.sub(r"(?<=^[A-Z])\d+$", "", word) for word in words)]
    return frozenset([*plain, *(f"{a} {b}" for a, b in pairwise(plain)), f"@{origin} {is_first}"])


def may_limit(words: Sequence[str], origin: str, *, is_first: bool, is_rest: bool = False) -> bool:
    """Tell whether a sentence of these words may limit what may be passed; ``is_rest``: another part of it was read."""
    found = marks(words, origin, is_first=is_first)
    return weight(found, _weights()) > (_BAR_OF_REST if is_rest else BAR)


def weight(found: Iterable[str], weights: Mapping[str, float]) -> float:
    """Return the log-odds that a sentence of these marks limits something."""
    return math.fsum(weights.get(mark, 0.0) for mark in (OF_ALL, *found))


@cache
def _weights() -> dict[str, float]:
    lines = (line.partition(" ") for line in WEIGHTS.read_text(encoding="utf-8").splitlines())
    return {mark: float(weight) for weight, _, mark in lines}
