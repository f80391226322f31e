"""Statements of how far an answer may be off, in many wordings, and sentences that only look like one."""

import pytest

from difftrust.layouts.contests import stated_tolerance
from difftrust_core.base.task import Relation

EITHER = [
    "Your answer counts if its absolute or relative error does not exceed $10^{-6}$.",
    "Your answer counts if its relative or absolute error is at most 1e-6.",
    "The checker allows an absolute or relative error of 0.000001.",
    "An absolute or relative error of 10⁻⁶ will be tolerated.",
    "An absolute and/or relative error below 10<sup>-6</sup> is fine.",
    "Absolute or relative error must not exceed 10**-6.",
    "Absolute/relative error must not exceed 10^(-6).",
    "Absolute or relative error must not exceed 10^{ - 6}.",
    "Absolute or relative error must not exceed 10 - 6.",
    "Absolute or relative error must not exceed 10−6.",
    r"Absolute or relative error must not exceed \(10^{−6}\).",
    r"Absolute or relative error must not exceed $1 \times 10^{-6}$.",
    r"The **relative** or **absolute** error may be up to `1e-6`.".replace("*", ""),
    "Find x.\n\nOutput\n\nOne number.\nA relative or absolute error of at\nmost $10^{-6}$ is accepted.\n\nExample",
]
ABSOLUTE = [
    "Answers within 10-5 of the actual answer will be accepted.",
    "Answers within 10^-5 of the right one are accepted.",
    "Print the mean with an error of at most 10^{-5}.",
    "Report the height to an accuracy of 1e-5.",
    "Output the probability. The error of your answer should be less than 1e-5.",
    "Your output may deviate from the jury's by no more than 1.0e-5.",
    "The result is considered correct if it differs from the expected one by less than $10^{-5}$.",
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
    "Print an error message if the code 10-5 is read.",
    "Each bulb fails with probability 0.01. Print the expected number of failures.",
    "Output the number of runners within 10 - 5 metres of the leader.",
    "Your answer may have an error of at most 2 dollars.",
    "The sensor's tolerance is 0.5; your result is a whole number.",
]


STATED = [
    *((text, Relation(atol=1e-6, rtol=1e-6, tokens=True)) for text in EITHER),
    *((text, Relation(atol=1e-5, tokens=True)) for text in ABSOLUTE),
    *((text, Relation(rtol=1e-9, tokens=True)) for text in RELATIVE),
    (r"The answer may be off by an error of $5 \cdot 10^{-3}$.", Relation(atol=0.005, tokens=True)),
    *((text, None) for text in NONE),
]


@pytest.mark.parametrize(("text", "relation"), STATED)
def test_what_is_stated_is_found(text: str, relation: Relation | None) -> None:
    """An error that is called neither absolute nor relative is absolute; other small numbers are none."""
    assert stated_tolerance(text, tokens=True) == relation


def test_the_first_statement_counts() -> None:
    text = "An absolute or relative error of 1e-4 is accepted. Formally, for an answer a the error is |a-b| ≤ 1e-9."
    assert stated_tolerance(text, tokens=False) == Relation(atol=1e-4, rtol=1e-4)
