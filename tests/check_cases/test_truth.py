"""What the cases say of their candidates is true, as far as plain Python can tell."""

import pytest

from tests.check_cases.case import SETS, Case, load_cases
from tests.check_cases.domain import outside
from tests.check_cases.plain import draws, falsehoods

CASES = [case for folder in SETS.values() for case in load_cases(folder)]


@pytest.mark.quick(8)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_what_a_case_says_is_true(case: Case) -> None:
    if case.missing:
        pytest.skip(f"{', '.join(case.missing)} is not installed")
    assert falsehoods(case, 100) == []
    assert outside(case, [*draws(case, 20), *case.differs.values()]) == []
    if case.allows and case.ruled_out:
        assert outside(case, [case.ruled_out]) == [case.ruled_out]
