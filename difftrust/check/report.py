"""What a check found: its records."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from difftrust.check.examples import Contradiction
from difftrust_core.base.records import Outcome
from difftrust_core.base.task import Task

Verdict = Literal["coherent", "incoherent", "disagreement found", "undecided"]
"""``disagreement found``: all agree on the measured inputs, not on a witness."""


@dataclass(frozen=True, kw_only=True)
class Interval:
    """What is known of a quantity, at which level, and which of the sources of chance that covers."""

    low: float
    high: float
    level: float
    covers: str


@dataclass(frozen=True, kw_only=True)
class Cluster:
    """Candidates that did the same on every input, witnesses included."""

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
    contradicts: bool = False
    """It contradicts an example that says what is right."""


@dataclass(frozen=True, kw_only=True)
class Disagreement:
    """Two clusters, and the smallest input found on which their smallest programs differ."""

    first: int
    second: int
    n_inputs: int
    """On how many of the n inputs the two differ."""
    n_witnesses: int
    """On how many of the witnesses they differ."""
    arguments: str | None
    """An argument tuple; None where none was confirmed: a program does not load, hangs, or differs by chance."""
    outcomes: tuple[Outcome, Outcome] | None
    minimal: bool
    """No single mutation makes ``arguments`` smaller while the two still differ."""
    difference: str
    """Unified diff from the first's program to the second's."""


@dataclass(frozen=True, kw_only=True)
class Doing:
    """What some candidates do on an input."""

    candidates: tuple[str, ...]
    outcome: Outcome


@dataclass(frozen=True, kw_only=True)
class Validation:
    """An input that is left out, for the docstring may not allow it, and on which candidates differ."""

    arguments: str
    minimal: bool
    doing: tuple[Doing, ...]
    """Those that return come first."""
    doubt: str = ""
    """Why the docstring may not allow it; empty: most candidates raise an exception that is not documented."""
    condition: str = ""
    """What --assume takes to leave such inputs out; empty where it is not known."""
    stated: bool = False
    """The docstring says in words that it does not allow it, so nothing is left to settle."""


@dataclass(frozen=True, kw_only=True)
class Excluded:
    """What only conditions of a model leave out: they are a guess, so a disagreement there is said."""

    by: str
    where: str
    conditions: tuple[str, ...]
    n_tried: int
    """Distinct inputs that were left out and run all the same; on them enough candidates answer."""
    n_differing: int
    """Inputs of these on which some two candidates differ."""
    arguments: str | None
    """The smallest input found on which they differ."""
    doing: tuple[Doing, ...]


@dataclass(frozen=True, kw_only=True)
class Standing:
    """Where one candidate, the user's own code, stands among the others."""

    name: str
    place: Literal["consensus", "tied", "minority", "contradicts", "fails"]
    """tied: as many do what it does as do what most others do; contradicts: an example says otherwise."""
    cluster: int
    n_same: int
    """Candidates that do the same, itself included."""
    against: int | None
    """The largest other cluster that works and contradicts no example; None where there is none."""
    n_against: int


@dataclass(frozen=True, kw_only=True)
class Undecided:
    """Why a check could not decide, and what would help."""

    why: str
    remedy: str


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
    """Inputs that were kept, of those that were wanted."""
    n_distinct: int
    """Distinct ones among the n inputs."""
    n_draws: int
    """Draws, of which n were kept."""
    left_out: tuple[tuple[str, int], ...]
    """Why draws were left out, and how many, the most frequent first."""
    exhausted: bool
    """The inputs are all that types and conditions allow: none of them was left out."""
    n_examples: int
    """Examples that say what is right; each ran on every candidate."""
    contradictions: tuple[Contradiction, ...]
    validation: tuple[Validation, ...]
    """Inputs that are left out, but on which some candidates return and others raise."""
    excluded: Excluded | None
    """None where no model suggests a condition."""
    undecided: tuple[Undecided, ...]
    """What keeps the check from saying coherent."""
    n_witnesses: int
    """Seed inputs that run unchanged, and inputs sought to show a difference, in addition to the n: what is measured
    counts the n only."""
    n_witnessed: int
    """Seed inputs on which some two candidates differ."""
    seed: int
    equality: str
    tolerance: float
    """Of the equality "value": the share by which floats may differ."""
    validity: str
    typed: bool
    incoherence: float | None
    """I over two distinct candidates, Eq. 8; None of a single one."""
    interval: Interval | None
    error_at_least: float
    """E is at least this, at the interval's level; 0 where nothing disagrees."""
    statement: str
    next_step: str
    clusters: tuple[Cluster, ...]
    disagreements: tuple[Disagreement, ...]
    consensus: str | None
    """The program of the largest cluster that works and contradicts no example, ties by the smaller program."""
    notes: tuple[str, ...]
    standing: Standing | None = None
    """Of the user's own code, where that is a candidate."""


def standing_of(name: str, clusters: Sequence[Cluster]) -> Standing:
    """Return where the candidate ``name`` stands among the clusters, which are in order."""
    own = next(cluster for cluster in clusters if name in cluster.candidates)
    others = [c for c in clusters if c is not own and c.works and not c.contradicts]
    against = max(others, key=lambda c: len(c.candidates), default=None)
    size, most = len(own.candidates), len(against.candidates) if against else 0
    place: Literal["consensus", "tied", "minority", "contradicts", "fails"] = (
        "contradicts"
        if own.contradicts
        else "fails"
        if not own.works
        else "minority"
        if size < most
        else "tied"
        if size == most
        else "consensus"
    )
    return Standing(
        name=name,
        place=place,
        cluster=own.number,
        n_same=size,
        against=against.number if against else None,
        n_against=most,
    )
