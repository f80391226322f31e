"""Decide when a task counts as detected (§6.3 of Valentin et al.).

Apart from the measures by it in ``aggregate``: the command line needs the names, and none of the arrays.
"""

from enum import StrEnum


class Detection(StrEnum):
    """When a task counts as detected."""

    AS_PUBLISHED = "as-published"
    """Expected value of the published sampling: one random pair of candidates an input; load errors may agree."""
    ALL_PAIRS = "all-pairs"
    """Any two of its candidates disagree on any of its inputs, or one of them does not load."""
