"""The record of a confidence interval: its ends, its confidence, and what varies."""

from dataclasses import dataclass
from typing import Literal

from difftrust_core.exceptions import WrongUsage

Covers = Literal["inputs", "programs", "tasks"]
"""What was drawn at random: inputs (these programs, other inputs), programs (the LLM itself), tasks (a benchmark)."""


@dataclass(frozen=True, kw_only=True)
class Interval:
    """A confidence interval. The three kinds answer three questions; the ends of one are no answer to another."""

    estimate: float
    """The value measured; NaN where it is undefined, and then so are both ends."""
    low: float
    high: float
    confidence: float
    """The share of repetitions in which an interval made like this holds the true value, in (0, 1)."""
    method: str
    """``exact``, ``hoeffding`` and ``chernoff`` are guaranteed; the others are tested by simulation."""
    covers: Covers
    statement: str
    """One sentence: of what, and over which repetitions."""

    def __str__(self) -> str:
        return f"{self.estimate:.3f} [{self.low:.3f}, {self.high:.3f}]"


def checked_confidence(confidence: float) -> float:
    """Return ``confidence``. Raises WrongUsage unless it lies between 0 and 1."""
    if not 0 < confidence < 1:
        raise WrongUsage(f"confidence lies between 0 and 1, got {confidence}; 0.95 is usual")
    return confidence
