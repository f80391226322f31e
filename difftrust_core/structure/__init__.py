"""Syntax trees to structural similarity: pure arithmetic on program texts, which are parsed and nothing else."""

from difftrust_core.structure.comparison import MEASURES, TREE_MEASURES, Programs, Stability, stability
from difftrust_core.structure.options import DEFAULT, Options
from difftrust_core.structure.similarity import VARIANTS, cross_entropy_similarity, frequencies, jsd_distance

__all__ = [
    "DEFAULT",
    "MEASURES",
    "TREE_MEASURES",
    "VARIANTS",
    "Options",
    "Programs",
    "Stability",
    "cross_entropy_similarity",
    "frequencies",
    "jsd_distance",
    "stability",
]
