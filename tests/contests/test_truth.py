"""What the cases claim is so: run plainly, programs pass their tests exactly where their case says so."""

from typing import Any

import pytest

from tests.contests.case import ContestCase, Program, load_cases, run_plainly

CASES = load_cases()
PROGRAMS = [(case, program) for case in CASES for program in case.programs]


@pytest.mark.quick(6)
@pytest.mark.parametrize(("case", "program"), PROGRAMS, ids=[f"{case.name}-{p.name}" for case, p in PROGRAMS])
def test_a_program_is_what_its_case_says(case: ContestCase, program: Program) -> None:
    try:
        said = run_plainly(case, program, patience=5)
    except TimeoutError:
        passes = False
    else:
        judged = zip(case.inputs, case.outputs, said, strict=True)
        passes = all(accepted(case, given, wanted, found) for given, wanted, found in judged)
    assert passes == (program.right or program.found == "fuzz")
    assert program.right or program.why


def accepted(case: ContestCase, given: str, wanted: Any, found: Any) -> bool:
    """Judge one output by the case's own words, written anew here."""
    if "accept" in case.relation:
        names: dict[str, Any] = {}
        exec(case.relation["accept"], names)
        return _holds(names["accept"], case.arguments(given), found if case.function else found.strip())
    if "normal" in case.relation:
        names = {}
        exec(case.relation["normal"], names)
        return bool(names["normal"](case.arguments(given), found) == names["normal"](case.arguments(given), wanted))
    if case.relation.get("relation") == "unordered":
        return sorted(found) == sorted(wanted)
    tolerance = case.relation.get("atol", 1e-6 if "10^{-6}" in case.description else 0)
    words = list(zip(found.split(), wanted.split(), strict=False))
    return len(found.split()) == len(wanted.split()) and all(_near(a, b, tolerance) for a, b in words)


def _holds(accept: Any, arguments: tuple[Any, ...], output: Any) -> bool:
    try:
        return bool(accept(arguments, output))
    except (ValueError, TypeError, LookupError):
        return False


def _near(found: str, wanted: str, tolerance: float) -> bool:
    if found == wanted:
        return True
    return tolerance > 0 and abs(float(found) - float(wanted)) <= tolerance * max(1.0, abs(float(wanted)))
