"""What an attack is: a program's text, the outcomes that it must come to, and the time it may take."""

from dataclasses import dataclass
from pathlib import Path

from difftrust_core.base.records import Kind
from difftrust_core.sandbox.host import Limits

N = 20
INPUTS = [f"({i}, [{i}, [{i}]])" for i in range(N)]
LIMITS = Limits(
    memory_bytes=512 << 20,
    call_cpu=0.25,
    repeat_cpu=0.05,
    call_wall=6.0,
    load_cpu=1.5,
    program_cpu=2.0,
    program_wall=30.0,
    max_timeouts=3,
    max_crashes=4,
)

Outcome = tuple[Kind, str]
Outcomes = tuple[Outcome, ...]

PROLOGUE = Path(__file__).with_name("prologue.txt").read_text()
"""What every program finds defined: where to aim, and how to try things. It is run inside the sandbox only."""


@dataclass(frozen=True, kw_only=True)
class Attack:
    """One hostile program of two arguments ``x`` and ``items``, called on ``(i, [i, [i]])`` for i below N."""

    name: str
    source: str
    expected: tuple[Outcomes, ...]
    """The outcomes on the N inputs; one of these."""
    seconds: float
    """At most so long, from sending the program to its last outcome; generous, for a busy machine."""
    bites: bool
    """It is harmless enough to show, without any layer, that the attack works where nothing stops it."""


def attack(name: str, source: str, *expected: Outcomes, seconds: float = 60.0, bites: bool = False) -> Attack:
    """Return an attack whose outcomes must be one of ``expected``."""
    return Attack(name=name, source=source.strip(), expected=expected, seconds=seconds, bites=bites)


def everywhere(kind: Kind, text: str = "") -> Outcomes:
    """Return the same outcome on each input."""
    return ((kind, text),) * N


def refused(count: int) -> Outcomes:
    """Return what a program gives whose ``count`` attempts, tried with ``tries``, are all refused."""
    return everywhere(Kind.VALUE, repr(["refused"] * count))


def on_seven(kind: Kind, text: str = "") -> Outcomes:
    """Return x on each input but 7, as of a program that misbehaves there only."""
    return tuple((kind, text) if i == 7 else (Kind.VALUE, str(i)) for i in range(N))


def given_up(kind: Kind, times: int, text: str = "") -> Outcomes:
    """Return ``times`` equal outcomes, and the rest skipped."""
    return ((kind, text),) * times + ((Kind.SKIPPED, ""),) * (N - times)


def numbers() -> Outcomes:
    """Return x on each input: the attack came to nothing."""
    return tuple((Kind.VALUE, str(i)) for i in range(N))


def untouched() -> Outcomes:
    """Return the arguments on each input, as they were given."""
    return tuple((Kind.VALUE, f"({i}, [{i}, [{i}]])") for i in range(N))


DONE = everywhere(Kind.VALUE, "'done'")
GIVEN_UP = given_up(Kind.TIMEOUT, LIMITS.max_timeouts)
FORGED = everywhere(Kind.FORGED)
CRASHED = given_up(Kind.CRASH, LIMITS.max_crashes, "exit")
