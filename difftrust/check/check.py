"""Candidates of one task, compared with each other and with the examples, without a reference."""

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from difftrust.check.options import VALIDITIES, PreparedCheck
from difftrust.check.programs import open_sandbox
from difftrust_core.exceptions import TooFewCandidates, WrongUsage

if TYPE_CHECKING:
    from difftrust.check.course import Course
    from difftrust.check.report import CheckReport
    from difftrust.questions.board import Board

_Then = TypeVar("_Then")


def check(prepared: PreparedCheck) -> "CheckReport":
    """Run the candidates on the examples and on n fuzzed inputs and report how they disagree.

    Never raises for what candidates do. Raises TooFewCandidates without any, WrongUsage without seed inputs, for
    another validity, or for a domain whose condition does not load.
    """
    return _run(prepared, lambda checked: None)[0]


def check_to_ask(prepared: PreparedCheck) -> "tuple[CheckReport, Board]":
    """Return what ``check`` returns, and the inputs that may be asked about to settle which candidates are right."""

    def made(checked: "Course") -> "Board":
        from difftrust.questions.board import board_of

        checked.options.phase("making the inputs to ask about smaller")
        return board_of(checked.evidence, checked.judge, checked.inputs)

    return _run(prepared, made)


def _run(prepared: PreparedCheck, then: "Callable[[Course], _Then]") -> "tuple[CheckReport, _Then]":
    """Return the report, and what ``then`` makes of the check while its sandbox is open."""
    task, candidates, options = prepared.function.task, prepared.candidates, prepared.options
    if not candidates:
        raise TooFewCandidates("a check needs m >= 2 candidates, got 0; generate some with -m, or give --candidates")
    if not task.seed_inputs or options.validity not in VALIDITIES:
        wanted = f"seed inputs and a validity of {', '.join(VALIDITIES)}"
        raise WrongUsage(f"expected {wanted}, got {len(task.seed_inputs)} and {options.validity!r}; give examples")
    codes = [candidate.code for candidate in candidates]
    with open_sandbox(task, codes, prepared.function.libraries, options) as sandbox:
        from difftrust.check.course import Course  # NumPy loads while the sandbox starts

        checked = Course(prepared, sandbox)
        return checked.report(), then(checked)
