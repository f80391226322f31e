"""How plain an input is, and that the plainest is shown where a sentence was not read."""

import json
from pathlib import Path

import pytest

from difftrust.check.inputs.plainness import oddity
from difftrust_core.base.literals import read_literal
from tests.support.stubs import run_check

PLAINER = (
    ("(3,)", "(0,)"),
    ("(0,)", "(-3,)"),
    ("(3,)", "(1000000000,)"),
    ("('ab',)", "('a\\nb',)"),
    ("([2, 5],)", "([],)"),
    ("([2, 5],)", "([2, 2],)"),
    ("([2, 5],)", "([2, None],)"),
    ("([(1, 2), (3, 4)],)", "([(2, 1), (3, 4)],)"),
    ("([[1, 2], [3, 4]],)", "([[1, 2], [3]],)"),
    ("({'a': 1},)", "({'a': -1},)"),
    ("(date(2024, 1, 2), date(2024, 1, 3))", "(date(2024, 1, 3), date(2024, 1, 2))"),
    ("(date(2024, 1, 2),)", "(date(3, 1, 2),)"),
    ("([Lot('a', 1), Lot('b', 2)],)", "([Lot('b', 1), Lot('b', 2)],)"),
    ("(1, 2)", "(2, 1)"),
)


@pytest.mark.parametrize(("plain", "odd"), PLAINER)
def test_what_docstrings_often_rule_out_is_less_plain(plain: str, odd: str) -> None:
    one, other = (dict(zip("ab", read_literal(text), strict=False)) for text in (plain, odd))
    assert oddity(one) < oddity(other)


def test_nan_and_infinity_are_less_plain_than_a_number() -> None:
    assert all(oddity({"a": 2.5}) < oddity({"a": float(odd)}) for odd in ("nan", "inf"))


STUB = '''def plan(stock: dict[str, int], wanted: int) -> list[str]:
    """Plan from which shelves to take what is wanted, in the order of the shelves.

    A number less than none is nothing that a shelf could hold or anybody would want.
    """
'''
TAKES = """def plan(stock, wanted):
    taken = []
    for shelf, n in stock.items():
        if wanted {} 0 and n {} 0:
            taken.append(shelf)
            wanted -= n
    return taken
"""


def test_the_plainest_input_is_shown_where_a_sentence_was_not_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    codes = (TAKES.format(">", ">"), TAKES.format(">", "!="), TAKES.format(">=", ">"))
    status, out = run_check(capsys, tmp_path, STUB, codes, "--format=json")
    found = json.loads(out)
    assert (status, found["verdict"]) == (3, "undecided")
    shown = found["validation"][0]
    assert "A number less than none" in shown["doubt"]
    stock, wanted = read_literal(shown["arguments"])
    assert wanted >= 0
    assert stock
    assert all(shelf.isalnum() and n > 0 for shelf, n in stock.items())
    assert len(shown["doing"]) == 2, "the third program takes one shelf too many, though nothing is negative"
    assert ") == ..." in found["next_step"]


REFUSES = "def plan(stock, wanted):\n    if wanted < 0:\n        raise ValueError\n    return []\n"


@pytest.mark.parametrize(("n_refusing", "proposed"), [(1, ") == ..."), (2, ") raises ValueError")])
def test_the_proposed_example_is_what_most_candidates_do(
    n_refusing: int, proposed: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    stub = STUB.replace("dict[str, int]", "list[int]")
    codes = [REFUSES.replace("[]", "[]" + " + []" * i) for i in range(n_refusing)]
    codes += [f"def plan(stock, wanted):\n    return []{' + []' * i}\n" for i in range(3 - n_refusing)]
    status, out = run_check(capsys, tmp_path, stub, codes)
    assert status == 3
    assert proposed in out.partition("Next best step: ")[2]
    assert "3 of 3 candidates do the same where nothing is in doubt" in out


def test_times_of_one_input_all_have_a_zone_or_none_has(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    stub = 'from datetime import datetime\n\ndef last(times: list[datetime]) -> int:\n    """Number of the latest."""\n'
    by_sorting = "def last(times):\n    return max(range(len(times)), key=lambda i: (times[i], -i), default=-1)\n"
    one_by_one = """
def last(times):
    best = -1
    for i, time in enumerate(times):
        if best < 0 or (time - times[best]).total_seconds() > 0:
            best = i
    return best
"""
    guarded = by_sorting.replace("return", "assert len({time.tzinfo is None for time in times}) < 2\n    return")
    status, out = run_check(capsys, tmp_path, stub, (by_sorting, one_by_one, guarded), "--format=json")
    assert (status, [why for why, _ in json.loads(out)["left_out"]]) == (0, ["outside the types"])
