"""How two versions are compared, and what was found."""

from dataclasses import dataclass
from typing import Literal

from difftrust.check.options import RunOptions
from difftrust.check.report import Undecided
from difftrust_core.base.records import Outcome

DiffVerdict = Literal["unchanged", "changed", "undecided"]


@dataclass(frozen=True, kw_only=True)
class DiffOptions(RunOptions):
    """How two versions of a function are compared."""

    n: int = 600
    """Random inputs, in addition to those made for the changed lines."""
    expect: tuple[str, ...] = ()
    """What the new version is meant to do: ``f(1) == 2``, ``f([]) raises ValueError``."""


@dataclass(frozen=True, kw_only=True)
class Change:
    """An input on which the versions differ."""

    arguments: str
    """An argument tuple in the text form of ``literals``."""
    outcomes: tuple[Outcome, Outcome]
    """Of the old version and of the new one."""
    n_nodes: int
    """Size of the input: values and characters, each counting as one, the tuple itself left out."""
    minimal: bool
    """No simpler input next to it shows the change."""
    expected: bool = False
    """It is pinned as intended."""
    call: str
    """The arguments in a call, as one types it."""
    note: str = ""
    """What has to be known of it, such as that it gives a parameter that the old version lacks."""


@dataclass(frozen=True, kw_only=True)
class DiffReport:
    """What a comparison of two versions found."""

    old: str
    """As the user named it, ``old.py::f``."""
    new: str
    entry_point: str
    """``f`` or ``Class.f``."""
    path: str
    """The file of the new version."""
    line: int
    """Of the function in that file, from 1."""
    verdict: DiffVerdict
    n: int
    """Inputs that were run."""
    n_distinct: int
    n_witnesses: int
    """How many of them were made of what the versions name and of known calls."""
    n_differing: int
    """Inputs on which the versions differ."""
    seed: int
    changes: tuple[Change, ...]
    """The smallest input found of each kind of change, the most telling first."""
    difference: str
    """Unified diff of the two functions."""
    undecided: tuple[Undecided, ...]
    statement: str
    next_step: str
    notes: tuple[str, ...]
    failed_expectations: tuple[str, ...] = ()
    """What is expected of the new version and does not hold, in words."""

    @property
    def unexpected(self) -> tuple[Change, ...]:
        """Return the changes that nobody has pinned."""
        return tuple(change for change in self.changes if not change.expected)
