"""Uncertainty of three kinds, never mixed up: over inputs, over programs, over tasks."""

from difftrust_core.intervals.inputs import (
    at_most_after_no_disagreement,
    error_interval_over_inputs,
    error_lower_bound_over_inputs,
    incoherence_interval_over_inputs,
    inputs_for,
    inputs_for_no_disagreement,
    proportion_interval,
)
from difftrust_core.intervals.programs import (
    error_interval_over_programs,
    error_lower_bound_over_programs,
    incoherence_interval_over_programs,
)
from difftrust_core.intervals.record import Covers, Interval

__all__ = [
    "Covers",
    "Interval",
    "at_most_after_no_disagreement",
    "error_interval_over_inputs",
    "error_interval_over_programs",
    "error_lower_bound_over_inputs",
    "error_lower_bound_over_programs",
    "incoherence_interval_over_inputs",
    "incoherence_interval_over_programs",
    "inputs_for",
    "inputs_for_no_disagreement",
    "proportion_interval",
]
