"""What programs compare leads to inputs on which they differ, and into a narrow domain; what they say is bounded."""

import ast
import json
import random
import re
from pathlib import Path

import pytest

from difftrust.check.spelling import spelled_method
from difftrust.search.drawing import TypedInputs
from difftrust.search.feedback import Met, aims_of, instead, read_met, with_nodes
from difftrust.types.argument_types import Annotations, ArgumentTypes
from difftrust.types.base import Draws, Part, Type
from difftrust.types.choices import Either, Nothing
from difftrust.types.containers import Entries, Items
from difftrust.types.known import known_type
from difftrust.types.numbers import Whole
from difftrust.types.own import Parameter
from difftrust.types.texts import Octets, Text
from difftrust_core.base.literals import read_literal
from difftrust_core.base.records import Kind
from tests.support.stubs import report_of

GUARD = 'import re\ndef fits(text: str) -> bool:\n    """Tell whether it is a hyphen between groups of digits."""\n'
GUARDS = (
    "import re\ndef fits(text):\n    return re.fullmatch('[0-9]{3}-[0-9]{4}', text) is not None\n",
    "import re\ndef fits(text):\n    return re.match('^[0-9]{3}-[0-9]{4}$', text) is not None\n",
)
COMPUTED = 'def code(number: int) -> int:\n    """Return the code of a number."""\n'
CODES = (
    "def code(number):\n    return 0\n",
    "def code(number):\n    return 1 if number * 7 - 11 == 5291 * 7 - 11 + len(str(number)) - 4 else 0\n",
)
TESTED = (
    "def code(number):\n    return 0\n",
    """
def code(number):
    left = number - len(str(number)) - 5287
    return 0 if left else 1
""",
)

TOTAL = 'def over(parts: list[int]) -> int:\n    """Return what six parts have over 90. Requires: len(parts) == 6"""\n'
TOTALS = (
    "def over(parts):\n    return max(sum(parts[:5]) - 90, 0)\n",
    "def over(parts):\n    return sum(parts[:5]) - 90 if sum(parts[:5]) > 91 else 0\n",
)

LATE = (
    "from datetime import datetime, time\n"
    'def late(at: datetime) -> bool:\n    """Tell whether it is past three. Requires: at.tzinfo is None"""\n'
)
CENTS = 'from decimal import Decimal\ndef cents(text: str) -> str:\n    """Round an amount to cents."""\n'
ROUNDED = tuple(
    f"from decimal import *\ndef cents(text):\n    return str(Decimal(text).quantize(Decimal('.01'), {how}))\n"
    for how in ("ROUND_HALF_UP", "ROUND_HALF_EVEN")
)
TENTHS = 'def tenths(text: str) -> int:\n    """Round a share to tenths."""\n'
TO_TENTHS = tuple(
    f"def tenths(text):\n    return {made}\n"
    for made in (
        "round(float(text), 1) if float(text) < 1e9 else 0",
        "int(float(text) * 10 + (0.5 if float(text) > 0 else -0.5)) / 10 if float(text) < 1e9 else 0",
    )
)


def _seldom(parameters: str, condition: str) -> tuple[str, tuple[str, str]]:
    """Return a function and two candidates that differ where arguments are made of each other."""
    codes = ("", f"    if {condition}:\n        return 0\n")
    return f'def f({parameters}) -> int:\n    """Return a number."""\n', tuple(
        f"def f({parameters}):\n{code}    return 1\n" for code in codes
    )


LATES = tuple(f"def late(at):\n    return at.time() {sign} time(15)\n" for sign in (">=", ">"))


@pytest.mark.parametrize(
    ("stub", "codes"),
    [
        (GUARD, GUARDS),
        (COMPUTED, CODES),
        (COMPUTED, TESTED),
        (TOTAL, TOTALS),
        (LATE, LATES),
        (CENTS, ROUNDED),
        (TENTHS, TO_TENTHS),
        _seldom("a: list[int], b: list[int]", "a == b and len(a) > 2"),
        _seldom("a: list[int], b: list[int]", "len(a) > 12 and a == b"),
        _seldom("a: list[int], b: list[int]", "len(a) > 2 and a != b and sorted(a) == sorted(b)"),
        _seldom("a: str, b: str", "len(a) > 2 and a != b and sorted(a) == sorted(b)"),
        _seldom("a: str, b: str", "len(a) > 2 and a != b and b[::-1] == a"),
        _seldom("a: set[int], b: set[int]", "len(a) > 1 and a < b"),
        _seldom("a: str, b: str", "a == b and len(a) == 17"),
    ],
    ids=[
        *("line feed", "computed", "tested alone", "met outside the domain too", "time of day", "quantize", "round"),
        *("equal", "equal and long", "permuted", "anagram", "reversed", "subset", "of one length"),
    ],
)
def test_a_difference_that_no_draw_meets_is_found_by_what_the_programs_compare(
    stub: str, codes: tuple[str, str], tmp_path: Path
) -> None:
    report = report_of(tmp_path, stub, codes, n=200)
    assert report.verdict in ("incoherent", "disagreement found")
    assert report_of(tmp_path, stub, codes, n=200, witnesses=0).n_witnesses == 0


def test_a_condition_that_no_draw_keeps_leads_into_its_domain(tmp_path: Path) -> None:
    condition = 'len(board) == 7\n        all(field in ("X", "O", "_") for field in board)'
    stub = f'def moves(board: list[str]) -> int:\n    """Count.\n\n    Requires:\n        {condition}\n    """\n'
    codes = ("7 - board.count('_')", "sum(field != '_' for field in board)")
    codes = tuple(f"def moves(board):\n    return {code}\n" for code in codes)
    report = report_of(tmp_path, stub, codes, n=200)
    assert report.verdict == "coherent"
    assert report.n == 200


def test_a_domain_without_inputs_ends_drawing_and_says_so(tmp_path: Path) -> None:
    stub = 'def odd(n: int) -> int:\n    """Return n.\n\n    Requires: n * n == 2\n    """\n'
    report = report_of(tmp_path, stub, ("def odd(n):\n    return n\n", "def odd(n):\n    return +n\n"), n=200)
    assert report.verdict == "undecided"
    assert report.n_draws == 600
    assert any("0 of 600 were" in note for note in report.notes)


COUNTER = """
class Counter:
    \"\"\"Counts.\"\"\"

    def __init__(self) -> None:
        self.seen: list[str] = []

    def add(self, word: str) -> None:
        \"\"\"Note a word.\"\"\"
        self.seen.append(word)

    def drop(self, n: int) -> int:
        \"\"\"Forget the last n words and return how many were left. Requires: n > 0\"\"\"
"""
DROPS = (
    "def drop(self, n: int) -> int:\n    del self.seen[-n:]\n    return len(self.seen)\n",
    "def drop(self, n):\n    self.seen = self.seen[:-n]\n    return len(self.seen)\n",
    "def drop(self, n):\n    self.seen = self.seen[n:]\n    return len(self.seen)\n",
)


def test_a_method_is_called_after_others_and_what_came_before_is_shown(tmp_path: Path) -> None:
    report = report_of(tmp_path, COUNTER, DROPS, "Counter.drop", n=200)
    assert report.verdict == "incoherent"
    assert [len(cluster.candidates) for cluster in report.clusters] == [2, 1]
    shown = report.disagreements[0].arguments
    assert shown in (
        "(AfterCalls(Counter(), [add(''), add('a')]), 1)",
        "(AfterCalls(Counter(), [add('a'), add('')]), 1)",
    )
    spelled = spelled_method("Counter.drop", "(AfterCalls(Counter(), [add('a'), add('')]), 1)")
    assert spelled == "x = Counter(); x.add('a'); x.add(''); x.drop(1)"


BANK = """
class Bank:
    def __init__(self, most: int): ...
    def put(self, key: int, name: str): ...
    def get(self, key: int): ...
"""


def test_what_earlier_calls_put_is_asked_for_and_fills_the_object() -> None:
    kinds = {"self": "Bank", "key": "int"}
    of = [Parameter(name=name, annotation=ast.Name(kind), required=True) for name, kind in kinds.items()]
    draw = TypedInputs(ArgumentTypes(of, Annotations(ast.parse(BANK))), (), task_id="t", seed=0)
    used = [text for text in (draw(position, 0) for position in range(2_000)) if text.count("put(") > 2]
    known = [text for text in used if re.search(r"put\((-?\d+), .*]\), \1\)$", text)]
    full = [t for t in used if 0 < int(re.findall(r"Bank\((-?\d+)", t)[0]) < t.count("put(")]
    assert len(known) > 0.4 * len(used)
    assert len(full) > 0.15 * len(used)


DOOR = """
class Door:
    \"\"\"Opens to a code.\"\"\"

    def __init__(self) -> None:
        self.is_open = False

    def dial(self, code: int) -> None:
        \"\"\"Dial a code.\"\"\"
        self.is_open = code == int("b4864", 16)

    def enter(self, n: int) -> int:
        \"\"\"Let n people in and return how many came in.\"\"\"
"""
ENTERS = (
    "def enter(self, n: int) -> int:\n    return n if self.is_open else 0\n",
    "def enter(self, n: int) -> int:\n    return n + 1 if self.is_open else 0\n",
)


def test_what_earlier_calls_compare_is_followed_too(tmp_path: Path) -> None:
    report = report_of(tmp_path, DOOR, ENTERS, "Door.enter", n=200)
    assert report.verdict == "disagreement found"
    assert "dial(739428)" in report.disagreements[0].arguments


@pytest.mark.parametrize(
    "said",
    [
        "",
        "[",
        "7",
        "[1, 2]",
        "[[1, 1, 2, 3, 4]]",
        '[["x", 1, "", "1", "2"]]',
        '[[1, 1, "", "lambda: 1", "2"]]',
        "[" * 9999,
    ],
)
def test_what_is_no_note_is_left_out(said: str) -> None:
    assert read_met((Kind.VALUE, said)) == []
    assert read_met((Kind.EXCEPTION, said)) == []


def test_notes_are_bounded() -> None:
    note = [1, 1, "", "1", "2"]
    assert len(read_met((Kind.VALUE, json.dumps([note] * 5_000)))) < 100
    assert read_met((Kind.VALUE, json.dumps([[1, 1, "", "1" * 5_000, "2"]]))) == []


@pytest.mark.parametrize(
    ("kind", "value", "one", "other", "first"),
    [
        (Whole(), 5, 5, 9, 9),
        (Whole(), 7, 5, 9, 11),  # what was compared is two less than it
        (Text(), "a=1", "a", "key", "key=1"),
        (Text(), "08:30", 8, 12, "12:30"),
        (Items(kinds=(list,), element=Whole()), [1, 2], 2, 3, [1, 2, 1]),
        (Entries(key=Text(), value=Nothing()), {"a": None}, {"a": None}, "b", {"a": None, "b": None}),
        (Octets(), b"\x02\x07", 7, 9, b"\x02\x09"),
        (Text(), "a 02.50", 2.5, 2.505, "a 2.505"),
        (Text(), "+.01", 0.01, 0.015, "+0.015"),
        (Either([Whole(), Nothing()]), None, None, 0, 0),
    ],
)
def test_the_other_operand_takes_the_place_of_one(
    kind: Type, value: object, one: object, other: object, first: object
) -> None:
    made = instead(Part(value=value, type=kind), one, other, Draws(generator=random.Random(0)))
    assert (type(made[0]), made[0]) == (type(first), first)
    assert all(kind.fits(each) for each in made)


def test_a_fraction_that_met_a_float_goes_nowhere() -> None:
    kind = known_type("fractions.Fraction")
    assert kind is not None
    assert instead(Part(read_literal("Fraction(1, 3)"), kind), 0.5, 0.25, Draws(generator=random.Random(0))) == []


def test_what_is_equal_becomes_another_value_all_at_once_and_a_key_what_was_looked_up() -> None:
    parts = [Part(value=[1, 2, 1], type=Items(kinds=(list,), element=Whole()))]
    assert with_nodes(parts, [(0, 0), (0, 2)], 7) == [[7, 2, 7]]
    assert with_nodes([Part(value={1: 2}, type=Entries(key=Whole(), value=Whole()))], [(0, 0), (0, 1)], 7) == [{7: 7}]
    met = Met(place=1, times=1, how="get", values=({3: "a"}, 5))
    assert (3, 5) in aims_of(met, random.Random(0))


def test_a_program_that_tampers_with_its_notes_is_judged_as_it_is_written(tmp_path: Path) -> None:
    stub = 'def doubled(n: int) -> int:\n    """Return twice n."""\n'
    codes = (
        "_difftrust_note = None\ndef doubled(n):\n    return n * 2 if n != 4 else 8\n",
        "def doubled(n):\n    while n == n + 1:\n        pass\n    return n + n\n",
        'import json\njson.dumps = lambda *a: \'[[1, 1, "re", "((a{50}){50}){50}", "b"]]\'\n'
        "def doubled(n):\n    return n << 1 if n > 2 else n * 2\n",
    )
    assert report_of(tmp_path, stub, codes, n=200).verdict == "coherent"
