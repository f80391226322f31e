"""Sort programs into clusters of one behaviour.

``labels`` is a (n_programs, n) integer array: equal labels on an input (a column) mean equal outcomes on it.
``counts`` is (n_programs,): how many of the m candidates are that program. ``texts`` are the programs' sources.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from difftrust_core.metrics.estimators import Counts, Labels


def behaviour_clusters(labels: Labels, counts: Counts, texts: Sequence[str]) -> list[list[int]]:
    """Return the programs (rows) of each behaviour: largest cluster first, the smallest program first in each.

    A cluster's size is its number of candidates. Of equally large clusters the one with the smaller program comes
    first; a program is smaller by its text's length, then by the text. Programs without a candidate are left out.
    """
    return clusters_by_size(labels, counts, [(len(text), text) for text in texts])


def clusters_by_size(labels: Labels, counts: Counts, sizes: Sequence[Any] | Counts) -> list[list[int]]:
    """Return the programs of each behaviour as ``behaviour_clusters`` does, a program being smaller by its size."""
    clusters: dict[bytes, list[int]] = {}
    for row in sorted(np.flatnonzero(counts > 0).tolist(), key=lambda row: sizes[row]):
        clusters.setdefault(labels[row].tobytes(), []).append(row)
    return sorted(clusters.values(), key=lambda rows: -int(counts[rows].sum()))  # stable: smaller programs stay first
