"""Texts by kind: recognised by names, docstrings and examples."""

import pytest

from difftrust.search.realistic_texts import kinds_of, texts_of_kind


@pytest.mark.parametrize(
    ("name", "docstring", "examples", "first"),
    [
        ("email", "", [], "e-mail"),
        ("userEmail", "", [], "e-mail"),
        ("start_date", "", [], "date"),
        ("when", "", ["2024-01-05"], "date"),
        ("s", "Return True if the IBAN is valid.", [], "IBAN"),
        ("isbn13", "", [], "ISBN"),
        ("s", "", ["XIV"], "Roman numeral"),
        ("value", "", ["1h30m"], "duration"),
        ("expr", "", [], "expression"),
        ("x", "Convert camelCase to snake_case.", [], "identifier"),
    ],
)
def test_kinds_are_recognised(name: str, docstring: str, examples: list[str], first: str) -> None:
    assert kinds_of(name, docstring, examples)[0] == first
    assert len(texts_of_kind(name, docstring, examples)) > 5


def test_where_nothing_speaks_for_a_kind_there_are_plain_texts() -> None:
    assert kinds_of("zz", "", []) == []
    assert "hello world" in texts_of_kind("zz", "", [])


def _luhn(text: str) -> bool:
    digits = [int(c) for c in reversed(text.replace(" ", "").replace("-", ""))]
    return sum(d if i % 2 == 0 else sum(divmod(2 * d, 10)) for i, d in enumerate(digits)) % 10 == 0


def _iban(text: str) -> bool:
    plain = text.replace(" ", "")
    return int("".join(str(int(c, 36)) for c in plain[4:] + plain[:4])) % 97 == 1


def test_there_are_texts_with_right_and_with_wrong_checksums() -> None:
    cards = [t for t in texts_of_kind("credit_card", "", []) if t.replace(" ", "").isdigit() and len(t) > 10]
    assert {_luhn(card) for card in cards} == {True, False}
    ibans = [t for t in texts_of_kind("iban", "", []) if t.replace(" ", "").isalnum() and t.isupper() and len(t) > 15]
    assert {_iban(iban) for iban in ibans} == {True, False}
