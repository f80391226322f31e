"""A check as a user meets it: what it finds on ambiguous stubs, that it is silent on others, what it says."""

import ast
import json
import math
import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import binomtest

from difftrust.check.check import check
from difftrust.check.inputs.input_filter import TOO_LARGE, Drawn, InputFilter
from difftrust.check.options import CheckOptions, PreparedCheck
from difftrust.check.outcomes import Measured
from difftrust.check.prepare import candidates_of, read_folder
from difftrust.check.programs import Executor, Ran, open_sandbox
from difftrust.check.report import CheckReport
from difftrust.check.verdict import input_interval
from difftrust.source.function import Stub, load_stub
from difftrust_core.base.records import Candidate, Kind
from difftrust_core.base.task import Task
from difftrust_core.languages.python.adapter import Python
from difftrust_core.sandbox.host import Limits
from difftrust_core.sandbox.runner import file_of
from tests.support import tiny
from tests.support.command import run
from tests.support.stubs import report_of, returning, run_check, write_stub

Capture = pytest.CaptureFixture[str]
Check = Callable[..., tuple[int, str]]


@pytest.fixture
def checked(tmp_path: Path, capsys: Capture) -> Check:
    """Return what checks candidates for a stub by the command."""
    return lambda stub, codes, *words: run_check(capsys, tmp_path, stub, codes, *words)


HALVED = (  # which way a half is rounded
    'def halved(n: int) -> int:\n    """Return half of n, rounded to the nearest whole number."""\n',
    returning("halved(n)", "round(n / 2)", "(n + 1) // 2", "n // 2"),
)
TOTAL = (  # whether the end belongs to the range
    'def total_between(low: int, high: int) -> int:\n    """Add up the whole numbers from low to high."""\n',
    returning(
        "total_between(low, high)",
        "(low + high) * (high - low + 1) // 2 if low <= high else 0",
        "(low + high - 1) * (high - low) // 2 if low <= high else 0",
        "(high * (high + 1) - low * (low - 1)) // 2 if low <= high else 0",
    ),
)


@pytest.mark.parametrize(("stub", "codes"), [HALVED, TOTAL], ids=["halved", "total"])
def test_disagreements_are_found_and_the_inputs_shown_are_minimal(
    stub: str, codes: tuple[str, ...], tmp_path: Path
) -> None:
    report = report_of(tmp_path, stub, codes, n=1000)
    where, _ = write_stub(tmp_path, stub, codes)
    types, name = load_stub(where).types, where.partition("::")[2]
    assert report.verdict == "incoherent"
    assert report.incoherence > 0
    assert len(report.disagreements) == len(report.clusters) * (len(report.clusters) - 1) / 2
    for found in report.disagreements:
        pair = (report.clusters[found.first - 1].code, report.clusters[found.second - 1].code)
        assert found.minimal
        values = [tiny.outcome(code, name, found.arguments)[1] for code in pair]
        assert found.outcomes == tuple((Kind.VALUE, value) for value in values)
        assert types.accepts(found.arguments)


def test_the_report_in_words(tmp_path: Path, capsys: Capture) -> None:
    """Incoherence by hand: on an odd number one of three differs or all do; on even ones all agree."""
    where, folder = write_stub(tmp_path, *HALVED)
    status, out, err = run(capsys, "check", where, "--candidates", folder, "--out", tmp_path / "best.py")
    assert status == 1
    assert f"{where}: incoherent" in out
    assert "3 candidates, 3 distinct programs; 1000 inputs" in out
    assert re.search(
        r"on each of these that has one answer, a program is wrong\. At least [\d.]+ % of the results of these 3 ",
        out,
    )
    assert "over the choice of inputs, given these programs" in out
    assert "1 and 2 differ on " in out
    assert "of 1000 inputs; the smallest input:\n  halved(1)\n    1: 0\n    2: 1\n" in out
    assert "Next best step: more " in out
    assert (tmp_path / "best.py").read_text() == HALVED[1][2]  # all clusters are of one; it is the shortest
    assert "consensus written to" in err
    pins = re.findall(r'--pin "(halved\(\d+\) == \d+)"', out)
    assert {"halved(1) == 0", "halved(1) == 1"} <= {*pins}


def test_incoherence_and_clusters_as_json(checked: Check) -> None:
    status, out = checked(*TOTAL, "-n", 200, "--format=json")
    found = json.loads(out)
    assert status == 1
    assert (found["verdict"], found["m"], found["n"]) == ("incoherent", 3, 200)
    assert [cluster["candidates"] for cluster in found["clusters"]] == [["0.py", "2.py"], ["1.py"]]
    (disagreement,) = found["disagreements"]
    # Two of the three pairs disagree wherever the two behaviours do.
    assert found["incoherence"] == pytest.approx(disagreement["n_inputs"] / 200 * 2 / 3)
    assert disagreement["outcomes"] == [["value", "1"], ["value", "0"]]
    assert disagreement["arguments"] == "(0, 1)"
    assert found["consensus"] == TOTAL[1][0]


MEDIAN = (
    'def median(xs: list[float]) -> float:\n    """Return the median.\n\n    >>> median([0, 1])\n    0.5\n    """\n'
)
UPPER = "def median(xs):\n    return sorted(xs)[len(xs) // 2] if xs else 0.0\n"
ALIKE = "def median(xs):\n    s = sorted(xs)\n    return s[len(s) // 2] if s else 0.0\n"
SOUND = "import statistics\ndef median(xs):\n    return statistics.median(xs) if xs else 0.0\n"


def test_candidates_that_agree_on_what_an_example_denies_are_incoherent_and_no_consensus(checked: Check) -> None:
    status, out = checked(MEDIAN, (UPPER, ALIKE))
    assert status == 1
    assert "Contradicts an example: median([0, 1])\n    expected: 0.5\n    0.py, 1.py: 1\n" in out
    assert "No consensus" in out
    found = json.loads(checked(MEDIAN, (UPPER, ALIKE), "--format=json")[1])
    assert found["consensus"] is None
    assert found["contradictions"] == [
        {"call": "median([0, 1])", "want": "0.5\n", "origin": "docstring", "candidates": ["0.py", "1.py"], "got": "1"}
    ]
    status, out = checked(MEDIAN, (UPPER, ALIKE, SOUND), "--format=json")
    found = json.loads(out)
    assert (status, found["verdict"], found["consensus"]) == (1, "incoherent", SOUND)
    assert [cluster["contradicts"] for cluster in found["clusters"]] == [False, True]
    _, out = checked(MEDIAN, (UPPER, ALIKE, SOUND))
    assert "if 1 is right" in out  # what contradicts the docstring is not offered as a pin
    assert "if 2 is right" not in out


def test_a_documented_exception_is_an_answer(checked: Check) -> None:
    stub = (
        'def root(x: int) -> int:\n    """Return the whole root.\n\n    Raises ValueError if x is negative.\n    """\n'
    )
    one = "import math\ndef root(x):\n    return math.isqrt(x)\n"
    same = "import math\ndef root(x):\n    if x < 0:\n        raise ValueError(x)\n    return math.isqrt(x)\n"
    silent = "import math\ndef root(x):\n    return math.isqrt(max(x, 0))\n"
    status, out = checked(stub, (one, same), "--format=json")
    assert (status, json.loads(out)["left_out"]) == (0, [])
    status, out = checked(stub, (one, same, silent))
    assert status == 1
    assert "  root(-1)\n    1: exception ValueError\n    2: 0\n" in out
    assert '--pin "root(-1) raises ValueError"' in out


def test_an_input_of_which_an_example_says_what_is_right_is_not_left_to_settle(checked: Check) -> None:
    stub = 'def head(xs: list[int], n: int) -> list[int]:\n    """Return the first n items."""\n'
    refuses = "def head(xs, n):\n    if n < 0:\n        raise ValueError(n)\n    return xs[:n]\n"
    codes = (*returning("head(xs, n)", "xs[:n]", "xs[:n]"), refuses)
    said = json.loads(checked(stub, codes, "--format=json")[1])["validation"]
    (shown,) = [each["arguments"] for each in said]
    example = f"head{shown} == {eval(f'(lambda xs, n: xs[:n]){shown}')}"
    status, out = checked(stub, codes, "--example", example, "--format=json")
    found = json.loads(out)
    assert (status, found["contradictions"][0]["candidates"]) == (1, ["2.py"])
    assert shown not in [each["arguments"] for each in found["validation"]]
    status, out = checked(stub, codes, "--example", f"head{shown}", "--format=json")  # which says nothing
    assert shown in [each["arguments"] for each in json.loads(out)["validation"]]


def test_nothing_is_said_of_the_incoherence_of_programs_of_which_none_loads(checked: Check) -> None:
    stub = 'def f(x: int) -> int:\n    """Return x."""\n'
    for codes, n in ((("def f(x: return x", "y = 1"), 0), (("def f(x: return x", "def f(x):\n    return x"), 1)):
        status, out = checked(stub, codes)
        assert (status, f"Could not decide: {n} of 2 candidates load; " in out) == (3, True)
        assert ": SyntaxError: " in out
        assert "No disagreement" not in out
        assert ("incoherence 0.0000" in out, "incoherence 1.0000" in out) == (False, n == 1)


def test_effects_are_shown_as_such(checked: Check) -> None:
    stub = 'def top(xs: list[int]) -> int:\n    """Return the largest, 0 for none."""\n'
    quiet = "def top(xs):\n    return max(xs, default=0)\n"
    sorts = "def top(xs):\n    xs.sort()\n    return xs[-1] if xs else 0\n"
    prints = "def top(xs):\n    print(len(xs))\n    return max(xs, default=0)\n"
    status, out = checked(stub, (quiet, sorts, prints))
    assert status == 1
    assert re.search(r"same result, but 1.py changes its argument: \[(\S+), (\S+)\] -> \[\2, \1\]", out)  # two elements
    assert "same result, but 2.py prints '0\\n'" in out
    assert "is right: difftrust check" not in out  # the value is the same, so no pin decides


def test_a_pin_of_none_or_of_items_decides(checked: Check, tmp_path: Path) -> None:
    found = 'def found(n: int) -> int | None:\n    """Return the digit n, if it is one."""\n'
    evens = 'def evens(n: int) -> "Iterator[int]":\n    """Yield the even numbers below n."""\n'
    for stub, codes in (
        (found, returning("found(n)", "n if 0 <= n < 10 else None", "n if 0 <= n < 9 else None")),
        (evens, returning("evens(n)", "iter(range(0, min(n, 9), 2))", "iter(range(0, min(n, 9) - 1, 2))")),
    ):
        _, out = checked(stub, codes)
        pin = re.search(r'if (\d) is right: .* --pin "(.* == (?:None|\[\]))"', out)
        assert pin is not None, out
        (wrong,) = [line for line in out.splitlines() if re.match(rf"  {3 - int(pin[1])}: 1 \(", line)]
        assert checked(stub, codes, "--pin", pin[2])[0] == 1
        out = checked((tmp_path / "stub.py").read_text(), codes)[1]
        assert f"Wrong by an example that says what is right: {wrong[8:12]}." in out


SEASON = 'def season(n: int) -> int:\n    """Return the season.\n\n    Args:\n        n: The month, 1 to 12.\n    """\n'


def test_all_inputs_that_types_or_a_docstring_leave_are_enough_unless_candidates_refuse_some(checked: Check) -> None:
    both = 'def both(a: bool, b: bool) -> bool:\n    """Tell whether both hold."""\n'
    status, out = checked(both, returning("both(a, b)", "a and b", "a & b"))
    assert (status, "4 inputs (all that are allowed)" in out) == (0, True)
    status, out = checked(SEASON, returning("season(n)", "n % 12 // 3", "n // 3 if n < 12 else 0"))
    assert status == 0, out
    assert "12 inputs (all that are allowed)" in out
    status, out = checked(SEASON, returning("season(n)", "{12: 0, 1: 0}[n]", "{1: 0, 12: 0}[n]"))
    assert status == 3
    assert "2 distinct inputs ran, 30 are needed" in out
    status, out = checked(SEASON, returning("season(n)", "n % 12 // 3", "n // 3 if n < 11 else 0"))
    assert status == 1
    assert "season(11)" in out


FIRST = 'def first(items: list[int]) -> int:\n    """Return the first item."""\n'
RIGHT = "def first(items):\n    return items[0]\n"


def test_a_package_that_is_not_there_or_not_allowed_is_named_and_decides_nothing(
    tmp_path: Path, checked: Check, monkeypatch: pytest.MonkeyPatch
) -> None:
    codes = (RIGHT, RIGHT.replace("items[0]", "[*items][0]"), f"import math\nimport tabulate\n{RIGHT}")
    codes = (*codes, f"import pandas\n{RIGHT}")
    with monkeypatch.context() as without:
        without.setitem(sys.modules, "pandas", None)  # as where it is not installed
        file_of.cache_clear()
        status, out = checked(FIRST, codes)
    file_of.cache_clear()
    assert status == 3
    assert report_of(tmp_path, FIRST, codes[:3]).disagreements == ()
    assert "2.py: does not load (line 2: ModuleNotFoundError: tabulate; --allow-import tabulate allows it)" in out
    assert "3.py: does not load (ModuleNotFoundError: pandas, line 1)" in out
    status, out = checked(FIRST, codes, "--allow-import", "tabulate")
    assert status == 0, out
    assert checked(FIRST, codes, "--allow-import", "nowhere")[0] == 2


@pytest.mark.parametrize(
    ("codes", "why", "remedy"),
    [
        ((RIGHT,), "Could not decide: 1 of 1 candidates load", ""),
        (returning("first(items)", "[].pop()", "1 / 0"), "Could not decide: no candidate returned a plain value", ""),
        (returning("first(items)", "None", "[].clear()"), "all candidates return None", '--example "first(...)"'),
        (returning("first(items)", "3", "1 + 2"), "the outcome is 3 on all", '--example "first(...)"'),
    ],
    ids=["one alone", "none returns", "None", "constant"],
)
def test_what_cannot_be_decided_ends_with_3(codes: tuple[str, ...], why: str, remedy: str, checked: Check) -> None:
    status, out = checked(FIRST, codes)
    assert status == 3
    assert why in out
    assert remedy in out


def test_one_that_hangs_and_one_that_does_not_load_are_told_apart_from_the_rest(tmp_path: Path) -> None:
    hang, broken = "def first(items):\n    while True:\n        pass\n", "def first(items)"
    codes = (RIGHT, hang, broken, "def first(items):\n    return items[:1][0]\n")
    report = report_of(tmp_path, FIRST, codes, n=50)
    assert [cluster.candidates for cluster in report.clusters] == [("0.py", "3.py"), ("2.py",), ("1.py",)]
    assert [cluster.works for cluster in report.clusters] == [True, False, False]
    assert report.consensus == RIGHT
    assert any("2.py: does not load (line 1: SyntaxError: expected ':')" in note for note in report.notes)
    assert any("1.py: given up after too many timeouts" in note for note in report.notes)
    assert any(note == "among the 3 that load: incoherence 0.6667" for note in report.notes)
    assert not any("differs from itself" in note for note in report.notes)


@pytest.mark.parametrize(("of", "verdict"), [(range(100_000, 10**7), "undecided"), (range(3, 7), "incoherent")])
def test_time_that_runs_out_only_when_measured_is_a_doubt_on_large_numbers_and_a_difference_on_others(
    of: range, verdict: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stub = 'def half(n: int) -> int:\n    """Half of n, rounded down.\n\n    >>> half(1000000)\n    500000\n    """\n'
    measured, run_programs = InputFilter.measure, Executor.run
    measuring, measuring_runs = list[bool](), list[bool]()

    def measure(self: InputFilter, drawn: Drawn) -> Measured:
        measuring.append(True)
        try:
            return measured(self, drawn)
        finally:
            measuring.pop()

    def run_slowly(self: Executor, codes: Sequence[str], inputs: Sequence[str], **how: Any) -> Ran:
        ran = run_programs(self, codes, inputs, **how)
        measuring_runs.extend(measuring)
        late = [measuring and ast.literal_eval(text)[0] in of for text in inputs]
        rows = [
            (*row[:-1], (Kind.TIMEOUT, "")) if is_late else row for row, is_late in zip(ran.rows, late, strict=True)
        ]
        return Ran(rows=rows, runs=ran.runs)

    monkeypatch.setattr(InputFilter, "measure", measure)
    monkeypatch.setattr(InputFilter, "ran", lambda self, texts: None)  # it is as if a program had hung before
    monkeypatch.setattr(Executor, "run", run_slowly)
    report = report_of(tmp_path, stub, returning("half(n)", "n // 2", "n >> 1"), n=300)
    assert report.verdict == verdict
    is_doubted = verdict == "undecided"
    assert [shown.doubt for shown in report.validation] == [TOO_LARGE] * is_doubted
    assert (report.incoherence == 0) == is_doubted
    assert len(measuring_runs) == 1 + is_doubted  # once more without what ran out, and never again


def test_where_only_validation_differs_the_check_is_undecided_and_says_what_settles_it(
    tmp_path: Path, checked: Check
) -> None:
    others = ("next(iter(items)) if items else [][0]", "items[0] if items else None")
    codes = returning("first(items)", "items[0]", *others)
    report = report_of(tmp_path, FIRST, codes, n=200, validity="all")
    assert report.verdict == "incoherent"
    assert [found.arguments for found in report.disagreements] == ["([],)"] * len(report.disagreements)
    status, out = checked(FIRST, codes, "-n", 200)
    assert status == 3
    assert "  first([])\n    2.py: None\n    0.py, 1.py: exception IndexError\n" in out
    assert "candidates differ, but only on inputs of which the docstring does not say" in out
    assert '--example "first([]) raises IndexError"' in out
    assert re.search(r"kept 200 of \d+ draws: .*\d+ IndexError in most candidates, others return", out)
    status, out = checked(FIRST, codes, "-n", 200, "--assume", "items")
    assert status == 0, out
    n_distinct = re.search(r"200 inputs \((\d+) distinct\)", out)
    assert n_distinct is not None
    assert f"at most {1 - 0.05 ** (1 / int(n_distinct[1])):.4f}" in out
    assert "differ on" not in out
    assert "outside the domain" in out


def test_of_each_exception_that_some_raise_the_smallest_input_is_shown(tmp_path: Path) -> None:
    raising = "def first(items):\n    if len(items) > 2:\n        raise ValueError\n    return items[0]\n"
    answering = "def first(items):\n    return items[0] if items else None\n"
    codes = (raising, raising.replace("items[0]", "next(iter(items)) if items else [][0]"), answering)
    report = report_of(tmp_path, FIRST, codes, n=200)
    raised = {found.doing[1].outcome[1]: (found.arguments, found.minimal) for found in report.validation}
    assert raised == {"ValueError": ("([0, 0, 0],)", True), "IndexError": ("([],)", True)}


@pytest.mark.parametrize(("n", "verdict"), [(70, "coherent"), (500, "undecided")])
def test_a_program_that_is_slow_and_right_is_no_other_behaviour_where_its_time_ends(
    n: int, verdict: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Python, "limits", Limits(program_cpu=0.5))
    monkeypatch.setattr(sys.modules["difftrust.check.programs"], "_MOST_CPU", 0.5)
    stub = 'def double(n: int) -> int:\n    """Return twice n."""'
    slow = "import time\ndef double(n):\n    end = time.process_time() + 0.01\n    while time.process_time() < end:\n"
    report = report_of(
        tmp_path, stub, ("def double(n):\n    return 2 * n\n", slow + "        pass\n    return n + n\n"), n=n
    )
    assert (report.verdict, len(report.clusters)) == (verdict, 1)
    assert 30 <= report.n_distinct <= 50
    assert ("a candidate used up its processor time before", n - report.n) in report.left_out
    assert any(note.startswith("1.py: used up its processor time") for note in report.notes)


def test_a_program_that_crashes_on_all_of_some_inputs_runs_on_others_and_one_that_hangs_does_not() -> None:
    crash = "import os\ndef double(x):\n    if x < 9: os._exit(1)\n    return 2 * x\n"
    hang = "def double(x):\n    while True: pass\n"
    batches = [[f"({x},)" for x in range(k, k + 6)] for k in (0, 1, 2, 9)]
    with open_sandbox(tiny.TASKS[0], [crash, hang], (), CheckOptions()) as sandbox:
        executor = Executor(tiny.TASKS[0], sandbox)
        *_, ran = [executor.run([crash, hang], inputs) for inputs in batches]
    assert [row[0] for row in ran.rows] == [(Kind.VALUE, str(2 * x)) for x in range(9, 15)]
    assert {row[1] for row in ran.rows} == {(Kind.SKIPPED, "")}
    assert not ran.runs[1].nondeterministic


def doubled(*codes: str, task: Task = tiny.TASKS[0], **options: object) -> CheckReport:
    """Check programs for the task `double`."""
    where = {"benchmark": "tiny", "task_id": "tiny/double", "model": "m", "temperature": 0.6}
    samples = [Candidate(**where, sample_index=k, code=code) for k, code in enumerate(codes)]  # type: ignore[arg-type]
    function = Stub(task=task, types=None)
    return check(PreparedCheck(function=function, candidates=samples, options=CheckOptions(**options)))  # type: ignore[arg-type]


@pytest.mark.parametrize(("n", "left_out"), [(5, 0), (6, 5)])
def test_pairs_that_are_not_shown_are_counted(n: int, left_out: int) -> None:
    """Five clusters are ten pairs, all shown; six are fifteen."""
    report = doubled(*returning("double(x)", *(f"2 * x + {k}" for k in range(n))), n=20)
    assert len(report.disagreements) == min(10, n * (n - 1) // 2)
    noted = [note for note in report.notes if "more pairs" in note]
    assert noted == ([f"{left_out} more pairs of clusters disagree; those of the largest clusters are shown"] * (n > 5))
    assert not any("in a mixture" in note for note in report.notes)


def test_thirty_distinct_inputs_are_enough_and_one_less_is_not() -> None:
    """How many of so many draws are distinct is the seed's."""
    reports = [doubled(*returning("double(x)", "2 * x", "x + x"), n=n) for n in (53, 54)]
    assert [(report.n_distinct, report.verdict) for report in reports] == [(29, "undecided"), (30, "coherent")]
    assert [each.why for each in reports[0].undecided] == [
        "on 30 distinct inputs a value came back on 29, 30 are needed"
    ]


@pytest.mark.parametrize("messages", [False, True])
def test_where_messages_count_a_variable_s_name_may_be_in_one(messages: bool) -> None:
    code = "def double(x):\n    return 2 * x if x != 3 else (lambda {0}: {0})()\n"
    task = replace(tiny.TASKS[0], seed_inputs=("(3,)", "(1,)"))
    report = doubled(code.format("one"), code.format("other"), task=task, n=50, messages=messages, validity="all")
    assert (report.verdict == "incoherent", report.n_programs) == (messages, 1 + messages)


@pytest.mark.slow
def test_a_mixture_is_named_with_its_shares(tmp_path: Path) -> None:
    where, folder = write_stub(tmp_path, *TOTAL)
    function = load_stub(where)
    a, b, c = candidates_of(read_folder(folder), function.task)
    sampled = [replace(a, model="one"), replace(b, model="other"), replace(c, model="one", sample_index=1)]
    report = check(PreparedCheck(function=function, candidates=sampled, options=CheckOptions(n=100)))
    assert report.subject == "the mixture of 2 models (2 of one, 1 of other)"
    assert report.subject in report.statement
    assert "in a mixture, a disagreement says that one of the models is wrong, not which" in report.notes
    assert {name for cluster in report.clusters for name in cluster.candidates} == {"one #0", "one #1", "other"}


def test_the_interval_over_inputs_by_hand() -> None:
    none = input_interval(np.zeros(100), 5)
    assert (none.low, none.high) == (0.0, pytest.approx(1 - 0.05**0.01))
    # 30 of 1000 inputs disagree, each with D = 2/5: the binomial one is sharper than Hoeffding's on both sides.
    some = input_interval(np.array([0.4] * 30 + [0.0] * 970), 5)
    low, high = binomtest(30, 1000).proportion_ci(0.975)
    assert some.low == pytest.approx(0.4 * low)
    assert some.high == pytest.approx(min(high, 0.012 + math.sqrt(math.log(80) / 2000)))
    assert some.low < 0.012 < some.high
    # Draws of 25 distinct inputs tell as much as 25 draws.
    repeated = input_interval(np.array([1.0] * 300 + [0.0] * 700), 2, n_distinct=25)
    assert repeated.low == pytest.approx(
        max(binomtest(7, 25).proportion_ci(0.975).low, 0.3 - math.sqrt(math.log(80) / 50))
    )
    assert repeated.high == pytest.approx(
        min(binomtest(8, 25).proportion_ci(0.975).high, 0.3 + math.sqrt(math.log(80) / 50))
    )
    assert input_interval(np.zeros(1000), 2, n_distinct=25).high == pytest.approx(1 - 0.05**0.04)
    all_differ = input_interval(np.ones(1000), 2)
    assert all_differ.high == 1.0
    assert all_differ.low == pytest.approx(0.0125 ** (1 / 1000))


@pytest.mark.parametrize(
    ("models", "m", "shares"),
    [
        ("a", 10, {"a": 10}),
        ("abc", 10, {"a": 4, "b": 3, "c": 3}),
        ("aba", 4, {"a": 2, "b": 2}),
        ("abc", 2, {"a": 1, "b": 1}),
    ],
)
def test_models_share_the_programs(models: str, m: int, shares: dict[str, int]) -> None:
    assert CheckOptions(models=tuple(models), m=m).shares() == shares


JOIN = 'def as_given(a: str, b: str) -> str:\n    """Join.\n\n    >>> as_given("the lazy dog", "jumps high")\n    """\n'
JOINS = "def as_given(a, b):\n    return a + b\n"
WRONG_AS_GIVEN = (
    "def as_given(a, b):\n    def key(text):\n        return sum(i * ord(c) for i, c in enumerate(text, 1))\n"
    "    return a + b if (key(a), key(b)) != (7444, 5417) else ''\n"
)


@pytest.mark.slow
def test_what_random_inputs_miss_a_seed_as_it_is_shows_and_no_measured_number_moves(checked: Check) -> None:
    asked = (JOIN, (JOINS, WRONG_AS_GIVEN, f"{JOINS}# again\n"), "-n", 1000, "--no-types")  # typed draws find them
    status, out = checked(*asked, "--format=json", "--witnesses", "0")
    without = json.loads(out)
    assert (status, without["verdict"], without["n_witnesses"]) == (0, "coherent", 0)
    status, out = checked(*asked, "--format=json")
    found = json.loads(out)
    assert (status, found["verdict"]) == (1, "disagreement found")
    same = ("incoherence", "interval", "error_at_least", "n", "n_distinct", "m", "next_step", "notes", "n_loading")
    assert {name: found[name] for name in same} == {name: without[name] for name in same}
    assert found["statement"].endswith(without["statement"])
    (disagreement,) = found["disagreements"]
    assert (disagreement["arguments"], disagreement["n_inputs"]) == ("('the lazy dog', 'jumps high')", 0)
    assert 1 <= disagreement["n_witnesses"] == found["n_witnessed"] <= found["n_witnesses"] <= 100
    status, text = checked(*asked)
    assert (status, text.splitlines()[0].endswith(": disagreement found")) == (1, True)
    assert f"1 and 2 differ on 0 of 1000 inputs and {found['n_witnessed']} of {found['n_witnesses']} wit" in text
    assert "if the function allows these, at least one program is wrong" in text
    assert "incoherence 0.0000, 95% interval [0.0000, 0.0030]" in text


@pytest.mark.slow
def test_witnesses_on_which_a_program_runs_out_of_time_say_nothing(tmp_path: Path) -> None:
    slow = WRONG_AS_GIVEN.replace("return a + b if", "while not (a + b if").replace(
        "else ''", "else ''):\n        pass"
    )
    slow += "    return a + b\n"
    hang = "def as_given(a, b):\n    while True:\n        pass\n"
    codes = (JOINS, slow, hang, "def as_given(a, b)", "x = " + "[" * 3000)
    report = report_of(tmp_path, JOIN, codes, n=50, validity="all")
    assert [cluster.candidates for cluster in report.clusters] == [("0.py", "1.py"), ("3.py", "4.py"), ("2.py",)]
    seeds = load_stub(f"{tmp_path / 'stub.py'}::as_given", candidates=codes).task.seed_inputs
    assert (report.n_witnesses, report.n_witnessed) == (len(seeds[:100]) - 1, 0)


def test_files_of_the_folder_are_read_as_python_reads_them_and_those_without_code_are_none(
    tmp_path: Path, capsys: Capture
) -> None:
    text = "def f(n: int) -> str:\n    return chr(233) * (n % 2)\n"
    where, folder = write_stub(tmp_path, text, [text, f"# -*- coding: latin-1 -*-\n{text}"])
    (folder / "0.py").write_bytes(b"\xef\xbb\xbf" + text.encode())
    (folder / "1.py").write_bytes("# coding: latin-1\ndef f(n):\n    return '\xe9' * (n % 2)\n".encode("latin-1"))
    for name, code in (("__init__", "from .a import f\n"), ("empty", "# later\n")):
        (folder / f"{name}.py").write_text(code)
    status, out, _ = run(capsys, "check", where, "--candidates", folder, "-n", 100)
    assert status == 0, out
    assert "Note: __init__.py is no candidate, for it does not define f\n" in out
    assert "Note: empty.py is no candidate, for it holds no code\n" in out
