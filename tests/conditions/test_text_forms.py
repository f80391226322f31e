"""Texts that are said by their parts, as patterns."""

import re

import pytest

from difftrust.conditions.text_forms import with_forms

HEX_PAIR = "[0-9a-f]{2}"
ROWS = [
    ("A hash sign and exactly six hexadecimal digits.", "#[0-9a-fA-F]{6}", "#00fF00", "#00ff0"),
    ("Two letters followed by a number from 1 to 12.", "[A-Za-z]{2}(?:[1-9]|1[0-2])", "ab12", "ab13"),
    ("Code made of two capital letters A-Z, a hyphen and one or more digits.", "[A-Z]{2}-[0-9]{1,}", "AB-1", "AB1"),
    ("Six groups of two lower-case hex digits, separated by colons", f"{HEX_PAIR}(?::{HEX_PAIR}){{5}}", "", ""),
    ("Six pairs of lowercase hexadecimal digits joined by colons", f"{HEX_PAIR}(?::{HEX_PAIR}){{5}}", "", ""),
    ("Three numbers separated by dots, e.g. 2.14.0", r"[0-9]+(?:\.[0-9]+){2}", "2.14.0", "2.14"),
    ("The square, a file from a to h followed by a rank from 1 to 8", "[a-h](?:[1-8])", "e4", "i4"),
    ("The aisle, a capital letter then a three-digit number", "[A-Z][0-9]{3}", "A017", "A17"),
    ("Nine digits and then a digit or a capital X.", "[0-9]{9}(?:[0-9]|X)", "000000000X", "X"),
    ('A "#" followed by six hexadecimal digits in upper or lower case.', r"\#[0-9a-fA-F]{6}", "#00fF00", "00ff00"),
    ("Words of small letters, separated by single spaces", "[a-z]+(?: [a-z]+)*", "a bc", "a  b"),
    ("up to three letters and a dot", r"[A-Za-z]{0,3}\.", "ab.", "abcd."),
]  # fmt: skip
NO_FORM = [
    "Letters, digits and a hyphen.",
    "The password has a digit and a letter.",
    "must contain a capital letter and a digit",
    "Letters, a comma and a hyphen.",
    "either 'r' and 'w'",
    "Two letters.",
    "Six groups of digits.",
    "a letter from h to a followed by a digit",
    "a letter followed by a digit and whatever is known of it",
]


@pytest.mark.parametrize(("sentence", "pattern", "fits", "fits_not"), ROWS, ids=[row[0][:30] for row in ROWS])
def test_parts_in_a_row_are_one_pattern(sentence: str, pattern: str, fits: str, fits_not: str) -> None:
    """The whole of a list of parts, wherever it stands behind words that say what is made of it."""
    found = re.search("\x02(.+)\x03", with_forms(sentence))
    assert found is not None
    assert found[1] == pattern
    assert not fits or (re.fullmatch(pattern, fits) and not re.fullmatch(pattern, fits_not))


@pytest.mark.parametrize("sentence", NO_FORM)
def test_what_names_characters_in_any_order_is_no_form(sentence: str) -> None:
    """Nor is what goes on with words that are not known."""
    assert with_forms(sentence) == sentence


@pytest.mark.parametrize(("low", "high"), [(0, 255), (1, 12), (0, 59), (10, 100), (7, 7000), (1900, 2100), (3, 4)])
def test_numbers_of_a_range_are_those_without_leading_zeros(low: int, high: int) -> None:
    """Each number of it matches, and no other text of digits."""
    text = with_forms(f"A letter and a number from {low} to {high}")
    pattern = text.strip("\x02\x03").removeprefix("[A-Za-z]")
    texts = [*map(str, range(high + 200)), "00", "01", "010", ""]
    assert [each for each in texts if re.fullmatch(pattern, each)] == [str(n) for n in range(low, high + 1)]
