"""The records that pass between the packages: candidates, coders, outcomes, readings, bad rows."""

from dataclasses import dataclass
from enum import IntEnum, StrEnum
from typing import Final

from difftrust_core.exceptions import WrongUsage


class Kind(IntEnum):
    """What happened when one program met one input. The numbers are stored; never renumber them."""

    VALUE = 0
    """The call returned; the text is the canonical form of what it returned."""
    EXCEPTION = 1
    """The call raised; the text is the exception's type name."""
    TIMEOUT = 2
    """The call used up its time and was killed."""
    MEMORY = 3
    """The call ran out of its memory (a MemoryError, raised or swallowed by a kill)."""
    CRASH = 4
    """The process died: a signal or an exit; the text says which."""
    SKIPPED = 5
    """Not tried: the program was given up after too many timeouts or crashes; counts as a timeout."""
    LOAD_ERROR = 6
    """The program never became callable: syntax error, name missing, exception or timeout at load."""
    UNSUPPORTED = 7
    """The call returned something without a plain form (a function, a socket); the text is its type."""
    FORGED = 8
    """The program tampered with its reply, so nothing it said is believed."""


Outcome = tuple[Kind, str]
"""Kind and text: what one program does on one input."""
ACCEPTED: Final[Outcome] = (Kind.VALUE, "<accepted>")
"""Stands for every value that a task's checker accepts; no canonical text begins with ``<``, and no reply may."""
Coder = tuple[str, float]
"""Model and temperature."""


class Validity(StrEnum):
    """Which inputs of a task are kept."""

    REFERENCE = "reference"
    """Those on which the reference returns a value, as published."""
    QUORUM = "quorum"
    """Those on which at least half of the candidates that load return a value; needs no reference."""
    DOMAIN = "domain"
    """Those that the task allows (``Task.domain``); needs no program. A task without a domain has those on which its
    reference returns a value, else a quorum of its candidates."""
    TESTS = "tests"
    """The inputs of the task's tests as they are, over and over; its seed inputs where it has no tests."""
    ALL = "all"


class Equality(StrEnum):
    """When two outcomes are equal."""

    PAPER = "paper"
    STRICT = "strict"
    VALUE = "value"


EQUALITIES: Final = (Equality.PAPER, Equality.STRICT)
"""Those of stores, for which every result is kept."""


class References(StrEnum):
    """Which tasks count, by what is known of their references."""

    PUBLISHED = "published"
    """All, as published."""
    AUDITED = "audited"
    """Without tasks whose reference was judged wrong, or whose description admits several answers."""


class Load(StrEnum):
    """What counts as a program that loads."""

    TRIMMED = "trimmed"
    """Also one that loads only without what follows its entry point."""
    STRICT = "strict"
    """One that loads as it is."""


@dataclass(frozen=True, kw_only=True)
class Reading:
    """How a store's results are read: on which inputs, and on which tasks."""

    inputs: str | None = None
    """A validity policy that the store was executed with; None: the store's own."""
    references: str = References.PUBLISHED
    load: str = Load.TRIMMED

    def __post_init__(self) -> None:
        """Check the words. Raises WrongUsage."""
        for said, wanted in ((self.inputs, (None, *Validity)), (self.references, References), (self.load, Load)):
            if said not in tuple(wanted):
                known = ", ".join(str(word) for word in wanted if word)
                raise WrongUsage(f"expected one of {known}, got {said!r}")


AS_STORED: Final = Reading()


@dataclass(frozen=True, kw_only=True)
class Candidate:
    """One sampled program of one coder (``model`` at ``temperature``) for one task."""

    benchmark: str
    task_id: str
    model: str
    temperature: float
    sample_index: int
    """0..m-1, the order in which the coder's programs were sampled."""
    code: str
    """The program text as recorded; possibly empty, possibly not Python."""


@dataclass(frozen=True, kw_only=True)
class Program:
    """A program to execute: its tree, one of its texts, and how many candidates (of any coder) share it."""

    tree_id: str
    code: str
    n_candidates: int = 1


@dataclass(frozen=True, kw_only=True)
class BadRow:
    """Something in a source that was left out, and why; never dropped silently."""

    where: str
    """File, and row or line within it."""
    why: str
    """Expectation and value found."""


class Detection(StrEnum):
    """When a task counts as detected (§6.3 of Valentin et al.)."""

    AS_PUBLISHED = "as-published"
    """Expected value of the published sampling: one random pair of candidates an input; load errors may agree."""
    ALL_PAIRS = "all-pairs"
    """Any two of its candidates disagree on any of its inputs, or one of them does not load."""
