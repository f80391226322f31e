"""Statements of how far an answer may be off, in many wordings, and sentences that only look like one."""

import pytest

from difftrust.layouts.contests import stated_tolerance
from difftrust_core.base.task import Relation

EITHER = [
    "Your answer counts if its absolute or relative error does not exceed $10^{-6}$.",
    "Your answer counts if its absolute or relative error does not exceed 10^-6.",
    "Your answer counts if its relative or absolute error is at most 1e-6.",
    "Your answer counts if its absolute or relative error is at most 1E-6!",
    "The checker allows an absolute or relative error of 0.000001.",
    "An absolute or relative error of 10⁻⁶ will be tolerated.",
    "An absolute and/or relative error below 10<sup>-6</sup> is fine.",
    "Absolute or relative error must not exceed 10**-6.",
    "Absolute/relative error must not exceed 10^(-6).",
    "Absolute or relative error must not exceed 10^{ - 6}.",
    "Absolute or relative error must not exceed 10 - 6.",
    "Absolute or relative error must not exceed 10−6.",
    "Absolute or relative error must not exceed $$$10^{-6}$$$, as usual.",
    r"Absolute or relative error must not exceed \(10^{−6}\).",
    r"Absolute or relative error must not exceed $1 \times 10^{-6}$.",
    r"The **relative** or **absolute** error may be up to `1e-6`.".replace("*", ""),
    "Find x.\n\nOutput\n\nOne number.\nA relative or absolute error of at\nmost $10^{-6}$ is accepted.\n\nExample",
]
ABSOLUTE = [
    "Answers within 10-5 of the actual answer will be accepted.",
    "Answers within 10^-5 of the right one are accepted.",
    "Print the mean with an error of at most 10^{-5}.",
    "Print the mean with an absolute error of at most 0.00001.",
    "Report the height to an accuracy of 1e-5.",
    "Output the probability. The error of your answer should be less than 1e-5.",
    "Your output may deviate from the jury's by no more than 1.0e-5.",
    "The result is considered correct if it differs from the expected one by less than $10^{-5}$.",
    "Print the area with precision of 0.00001 or better.",
    r"A difference of up to $10^{-5}$ between your answer and ours is ignored.",
]
RELATIVE = [
    "The relative error of the printed value should be at most 10^{-9}.",
    "Print the sum; a relative error of 1e-9 is allowed.",
]
NONE = [
    "",
    "Print the number of pairs. 1 ≤ n ≤ 10^6, and |a_i| ≤ 10^{9}.",
    "Print the answer modulo 10^9 + 7.",
    "Print YES if the two lengths differ by at most 0.001, and NO otherwise.",
    "A scale has an error of at most 0.1 kg. Print the number of bags that may be too light.",
    "It is guaranteed that no two answers are within 10^{-6} of each other.",
    "It is guaranteed that the absolute or relative error of the input is below 10^-6.",
    "You are given readings, each with an absolute error of 10^{-3}. Print their number.",
    "The input values are reals with precision 0.001. Print the largest.",
    "Print the price rounded to 2 decimals, such as 0.05.",
    "Print the answer with exactly 6 digits after the decimal point.",
    "A step costs 0.001 coins. Print the cost of all steps.",
    "Print an error message if the code 10-5 is read.",
    "Each bulb fails with probability 0.01. Print the expected number of failures.",
    "Count the readings 0.01 apart.",
    "Output the number of runners within 10 - 5 metres of the leader.",
    "Your answer may have an error of at most 2 dollars.",
    "The sensor's tolerance is 0.5; your result is a whole number.",
    "Two students made an error. The first of them wrote 1e-6.",
]


@pytest.mark.parametrize("text", EITHER)
def test_either_error(text: str) -> None:
    assert stated_tolerance(text, tokens=True) == Relation(atol=1e-6, rtol=1e-6, tokens=True)


@pytest.mark.parametrize("text", ABSOLUTE)
def test_an_error_called_neither_is_absolute(text: str) -> None:
    assert stated_tolerance(text, tokens=True) == Relation(atol=1e-5, tokens=True)


@pytest.mark.parametrize("text", RELATIVE)
def test_a_relative_error(text: str) -> None:
    assert stated_tolerance(text, tokens=False) == Relation(rtol=1e-9)


@pytest.mark.parametrize("text", NONE)
def test_other_small_numbers_are_none(text: str) -> None:
    assert stated_tolerance(text, tokens=True) is None


def test_a_factor_before_the_power() -> None:
    assert stated_tolerance(r"The answer may be off by an error of $5 \cdot 10^{-3}$.", tokens=True) == Relation(
        atol=0.005, tokens=True
    )


def test_the_first_statement_counts() -> None:
    text = (
        "An absolute or relative error of 1e-4 is accepted. Formally, let your answer be a: the error is |a-b| ≤ 1e-9."
    )
    found = stated_tolerance(text, tokens=True)
    assert found is not None
    assert found.atol == 1e-4
