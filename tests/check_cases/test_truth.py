"""What the cases say of their candidates is true, as far as plain Python can tell."""

from collections import Counter

import pytest

from tests.check_cases.case import Case, load_cases
from tests.check_cases.plain import falsehoods

CASES = load_cases()


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_what_a_case_says_is_true(case: Case) -> None:
    if case.missing:
        pytest.skip(f"{', '.join(case.missing)} is not installed")
    assert falsehoods(case, 200) == []
