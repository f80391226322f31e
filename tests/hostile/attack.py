"""What an attack is: a program's text, the outcomes that it must come to, and the words in which these are said."""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
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
SECONDS = 60.0
"""At most so long, from sending an attack to its last outcome; generous, for a busy machine."""

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
    bites: bool = False
    """It is harmless enough to show, without any layer, that the attack works where nothing stops it."""


def each(outcome: Callable[[int], Outcome]) -> Outcomes:
    """Return the outcome on each input, as its number says."""
    return tuple(map(outcome, range(N)))


def everywhere(kind: Kind, text: str = "") -> Outcomes:
    """Return the same outcome on each input."""
    return ((kind, text),) * N


value = partial(everywhere, Kind.VALUE)
raised = partial(everywhere, Kind.EXCEPTION)
unsupported = partial(everywhere, Kind.UNSUPPORTED)
not_loaded = partial(everywhere, Kind.LOAD_ERROR)


def refused(count: int) -> Outcomes:
    """Return what a program gives whose ``count`` attempts, tried with ``tries``, are all refused."""
    return value(repr(["refused"] * count))


def on(where: int, kind: Kind, text: str = "") -> Outcomes:
    """Return x on each input but one, as of a program that misbehaves there only."""
    return each(lambda i: (kind, text) if i == where else (Kind.VALUE, str(i)))


on_seven = partial(on, 7)


def given_up(kind: Kind, times: int, text: str = "") -> Outcomes:
    """Return ``times`` equal outcomes, and the rest skipped."""
    return ((kind, text),) * times + ((Kind.SKIPPED, ""),) * (N - times)


def numbers() -> Outcomes:
    """Return x on each input: the attack came to nothing."""
    return each(lambda i: (Kind.VALUE, str(i)))


def untouched() -> Outcomes:
    """Return the arguments on each input, as they were given."""
    return each(lambda i: (Kind.VALUE, INPUTS[i]))


def cut(text: str) -> str:
    """Return what is kept of a text that is too long."""
    return f"{text[:200]}…#{hashlib.blake2b(text.encode(), digest_size=16).hexdigest()}"


GIVEN_UP = given_up(Kind.TIMEOUT, LIMITS.max_timeouts)
FORGED = everywhere(Kind.FORGED)
CRASHED = given_up(Kind.CRASH, LIMITS.max_crashes, "exit")
HANGS_ON_SEVEN = on_seven(Kind.TIMEOUT)
