"""One task: from its matrix of outcome classes to error, incoherence and detection, and nothing else.

``matrix`` counts, in whole numbers; ``tally`` holds what was counted, and every formula from there to a float.
"""

from difftrust_core.estimators.matrix import (
    Counts,
    Floats,
    Labels,
    class_counts,
    detected,
    disagreement_per_input,
    error,
    error_per_input,
    estimate,
    functional_classes,
    functional_error,
    functional_incoherence,
    incoherence,
    incoherence_v,
    p_detected,
    p_erroneous,
    pass_at_1_candidates,
)
from difftrust_core.estimators.tally import Estimates, Histograms, Tallies, detection_at, estimates_of

__all__ = [
    "Counts",
    "Estimates",
    "Floats",
    "Histograms",
    "Labels",
    "Tallies",
    "class_counts",
    "detected",
    "detection_at",
    "disagreement_per_input",
    "error",
    "error_per_input",
    "estimate",
    "estimates_of",
    "functional_classes",
    "functional_error",
    "functional_incoherence",
    "incoherence",
    "incoherence_v",
    "p_detected",
    "p_erroneous",
    "pass_at_1_candidates",
]
