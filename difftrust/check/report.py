"""What a check found: its records, and what it says about incoherence and error, in numbers and in words."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from difftrust.check.examples import Contradiction
from difftrust.task_intervals import (
    at_most_after_no_disagreement,
    error_lower_bound_over_programs,
    incoherence_interval_over_inputs,
    incoherence_interval_over_programs,
    proportion_interval,
)
from difftrust_core.base.records import Outcome
from difftrust_core.base.task import Task
from difftrust_core.metrics.estimates import Counts, Floats, Labels

LEVEL = 0.95
COVERS = "the choice of inputs, given these programs"
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


def input_interval(disagreement: Floats, m: int) -> Interval:
    """Return an interval for I, over the draw of inputs, given these m programs.

    ``disagreement``: (n,), D_i of each input. Without any disagreement: Theorem 4.3, I <= 1 - delta^(1/n). Else the
    better of two, each at half the risk: Hoeffding's (Theorem 4.2), and the exact binomial one for the share p of
    inputs with a disagreement, since 2/m <= D_i <= 1 on these, so that 2p/m <= I <= p.
    """
    n, delta = len(disagreement), 1 - LEVEL
    hits = int(np.count_nonzero(disagreement))
    if not hits:
        return Interval(low=0.0, high=at_most_after_no_disagreement(n, delta), level=LEVEL, covers=COVERS)
    mean = incoherence_interval_over_inputs(disagreement, confidence=1 - delta / 2)
    share = proportion_interval(hits, n, confidence=1 - delta / 2)
    low = max(mean.low, 2 / m * share.low)
    return Interval(low=low, high=min(mean.high, share.high), level=LEVEL, covers=COVERS)


def exact_interval(incoherence: float) -> Interval:
    """Return what is known of I where all inputs were run: itself."""
    return Interval(low=incoherence, high=incoherence, level=LEVEL, covers="all inputs that are allowed")


def statement(disagreement: Floats, interval: Interval, subject: str) -> str:
    """Return what is certain, and what is certain at the interval's level."""
    n, hits = len(disagreement), int(np.count_nonzero(disagreement))
    if not hits and interval.high == 0:
        return (
            f"No disagreement on any of the {n} inputs that the types and the domain allow. "
            "This does not show that the programs are right: all may make the same mistake."
        )
    if hits:
        return (
            f"The programs disagree on {hits} of {n} inputs: on each of these that has one answer, a program is wrong. "
            f"{at_least(interval)} of the results of {subject} are wrong if all of them have one "
            f"({interval.level:.0%} confidence, over {interval.covers}; E >= I/2)."
        )
    return (
        f"No disagreement in {n} inputs: the incoherence of {subject} is at most {interval.high:.4f} "
        f"({interval.level:.0%} confidence, over {interval.covers}). "
        "This does not show that the programs are right: all may make the same mistake."
    )


def at_least(interval: Interval) -> str:
    """Return the least share of wrong results, half the incoherence, as ``At least 14.8 %``."""
    return f"At least {50 * interval.low:.3g} %"


def witness_statement(n_differing: int, n_witnesses: int) -> str:
    """Return what a disagreement that only witnesses show is worth."""
    return (
        f"The programs disagree on {n_differing} of {n_witnesses} witnesses, inputs given or sought: if the function "
        "allows these, at least one program is wrong. They are not drawn at random, so the incoherence does not count "
        "them."
    )


def of_the_coder(labels: Labels, counts: Counts, source: str) -> str:
    """Return what these programs say of new ones from the same ``source``: another question, and a wider interval."""
    least = error_lower_bound_over_programs(labels, counts, confidence=LEVEL)
    between = incoherence_interval_over_programs(labels, counts, confidence=LEVEL)
    return (
        f"new programs {source}: incoherence {between}, error at least {least.low:.4f} "
        f"({LEVEL:.0%} confidence, over the choice of programs)"
    )
