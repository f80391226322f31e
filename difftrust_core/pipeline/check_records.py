"""What a check found, as the command line and the dashboard show it; and nothing else."""

from dataclasses import dataclass
from typing import Literal

from difftrust_core.records import Kind
from difftrust_core.tasks import Task

Verdict = Literal["coherent", "incoherent", "undecided"]
Outcome = tuple[Kind, str]
"""What happened, and the canonical text of the value, the exception's type, or why it ended."""


@dataclass(frozen=True, kw_only=True)
class Interval:
    """What is known of a quantity, at which level, and which of the sources of chance that covers."""

    low: float
    high: float
    level: float
    covers: str


@dataclass(frozen=True, kw_only=True)
class Cluster:
    """Candidates that did the same on every input."""

    number: int
    """From 1, by size; those that do not work come last."""
    candidates: tuple[str, ...]
    code: str
    """The smallest of its programs."""
    outcomes: tuple[tuple[str, int], ...]
    """On how many of the inputs it returned a value, raised, timed out, ..."""
    loads: bool
    """Whether its programs became callable at all."""
    works: bool
    """It returned a value on some input, and was not given up for timeouts or crashes."""
    nondeterministic: bool
    """One of its programs differed from itself when it was run twice on the same input."""


@dataclass(frozen=True, kw_only=True)
class Disagreement:
    """Two clusters, and the smallest input found on which their smallest programs differ."""

    first: int
    second: int
    n_inputs: int
    """On how many of the n inputs the two differ."""
    arguments: str | None
    """An argument tuple; None where none was confirmed: a program does not load, hangs, or differs by chance."""
    outcomes: tuple[Outcome, Outcome] | None
    minimal: bool
    """No single mutation makes ``arguments`` smaller while the two still differ."""
    difference: str
    """Unified diff from the first's program to the second's."""


@dataclass(frozen=True, kw_only=True)
class CheckReport:
    """All that a check has to say."""

    task: Task
    subject: str
    """Whose error the statements are about."""
    verdict: Verdict
    m: int
    n_loading: int
    n_programs: int
    n: int
    n_distinct: int
    """Distinct ones among the n inputs."""
    seed: int
    equality: str
    validity: str
    typed: bool
    incoherence: float
    """I over two distinct candidates, Eq. 8; NaN if undecided for lack of programs."""
    interval: Interval | None
    error_at_least: float
    """E is at least this, at the interval's level; 0 where nothing disagrees."""
    statement: str
    next_step: str
    clusters: tuple[Cluster, ...]
    disagreements: tuple[Disagreement, ...]
    consensus: str | None
    """The program of the largest cluster that works, ties by the smaller program."""
    notes: tuple[str, ...]
