"""The page Check: what a check of pasted programs shows, and that nothing of them is more than text."""

import json
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from dashboard.background import JOBS, Job
from dashboard.components.check_result import _for_page
from dashboard.components.model_choice import OTHER
from dashboard.components.pasted import candidate_files, functions_of, simulated_files, with_example, with_names
from difftrust.outputs.report_text import excluded_of
from difftrust.text import quote_word
from difftrust_core.exceptions import BadStub
from tests.support.command import Capture
from tests.support.llm_server import Server
from tests.support.pages import click, opened, shown
from tests.support.waiting import until

STUB = (
    'def middle(numbers: list[int]) -> float:\n    """Return the middle.\n\n    >>> middle([3, 1, 2])\n    2\n    """\n'
)
SORTED = "def middle(numbers):\n    return sorted(numbers)[len(numbers) // 2]\n"
HOSTILE = (
    "def middle(numbers):\n    # <img src=x onerror=alert(1)> $\\alpha$ **bold**\n"
    "    return '<script>alert(1)</script>' if len(numbers) > 1 else sorted(numbers)[0]\n"
)


def checked(stub: str, *codes: str, n: str = "100", **typed: str) -> AppTest:
    """Return the page on which programs were pasted and checked; ``typed``: into the other fields."""
    at = opened("check", check_n=n)
    at.text_area(key="check:stub").set_value(stub)
    for _ in codes[2:]:
        click(at, "Add a program")
    for number, code in enumerate(codes):
        at.text_area(key=f"check:box:{number}").set_value(code)
    for field, text in typed.items():
        at.text_area(key=f"check:{field}").set_value(text)
    at.run()
    click(at, "Check")
    return ended(at)


def job_of(at: AppTest) -> Job:
    """Return the check that a page started or shows."""
    name = at.query_params["check"]
    job = JOBS.find(f"check:{name if isinstance(name, str) else name[0]}")
    assert job is not None
    return job


def ended(at: AppTest) -> AppTest:
    """Return the page once the check that it started has ended."""
    until(lambda: not job_of(at).is_running, 120)
    at.run()
    assert not at.exception
    return at


def raw_of(at: AppTest) -> list[str]:
    """Return everything that a browser would take for HTML or Markdown."""
    return [element.proto.body for element in at.get("html")] + [str(each.value) for each in at.markdown]


@pytest.mark.slow
def test_two_readings_of_a_docstring_are_told_apart_and_hostile_text_is_text() -> None:
    at = checked(STUB, SORTED, HOSTILE)
    folder = Path(job_of(at).steps[0].words[1].partition("::")[0]).parent
    at = opened("check", check=at.query_params["check"])  # as a page loaded anew
    assert at.text_area(key="check:box:0").value == SORTED
    words = shown(at)
    assert "The programs disagree" in words
    assert "**Clusters 1 and 2 differ** on" in words
    assert "cluster 1: program 1; cluster 2: program 2." in words
    assert "2 candidates, 2 distinct" in words
    (cards,) = [element.proto.body for element in at.get("html") if "Cluster 1 · program 1: " in element.proto.body]
    assert "Cluster 2 · program 2: &#x27;&lt;script&gt;alert(1)&lt;/script&gt;&#x27;" in cards
    assert "<mark>" in cards
    assert not any("<script" in body or "<img" in body for body in raw_of(at))
    assert not folder.exists()


GAP = 'def gap(a: int, b: int) -> int:\n    """Return how far a is from b."""\n'
BODIES = ("abs(b - a)", "b - a")


@pytest.mark.slow
def test_what_a_model_s_conditions_leave_out_is_shown_as_on_the_command_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    monkeypatch.setattr("dashboard.components.check_form.STORE", tmp_path / "store")

    def reply(serial: int) -> str:
        if serial == 2:  # the question for calls and conditions
            return "```python\ngap(1, 2)\nassert a <= b\n```\n"
        return f"```python\ndef gap(a, b):\n    return {BODIES[serial]}\n```\n"

    with Server(text=reply) as server:
        at = opened("check", check_n="100", programs="sampled", ask=OTHER, ask_m="2")
        at.text_area(key="check:stub").set_value(GAP)
        at.text_input(key="ask:typed").set_value("openai/local")
        at.text_input(key="ask:base").set_value(server.url)
        at.checkbox(key="check:agreed").set_value(True)
        at.run()
        click(at, "Check")
        ended(at)
    report = json.loads(job_of(at).output)
    excluded = report["excluded"]
    assert excluded["conditions"] == ["a <= b"]
    assert excluded["n_differing"] > 0
    at = opened("check", check=at.query_params["check"])
    assert "**Left out by conditions that the model suggests**" in shown(at)
    (said,) = [str(code.value) for code in at.code if "suggests" in str(code.value)]
    assert said.splitlines() == excluded_of(report)
    assert f"the candidates differ on {excluded['n_differing']}" in said


def test_what_cannot_be_checked_is_said() -> None:
    at = opened("check")
    at.text_area(key="check:stub").set_value("def f(:")
    click(at, "Check")
    assert "expected Python, found SyntaxError" in shown(at)
    at.text_area(key="check:stub").set_value(STUB)
    click(at, "Check")
    assert "at least two programs" in shown(at)


def test_where_it_only_reads_nothing_can_be_pasted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DIFFTRUST_READONLY", "1")
    at = opened("check")
    assert "This dashboard is read-only" in shown(at)
    assert list(at.text_area) == []
    assert list(at.button) == []


def test_a_link_to_a_check_that_is_gone_says_so() -> None:
    assert "is no longer kept" in shown(opened("check", check="gone"))


def test_pasted_programs_become_files_with_plain_names() -> None:
    assert candidate_files([("../../evil\n<b>.py", "x"), ("pasted", "y")]) == {"1-evilb.py": "x", "2-pasted.py": "y"}


def test_functions_are_found_without_executing() -> None:
    assert functions_of("raise SystemExit\ndef a(): ...\ndef b(): ...") == ["a", "b"]
    methods = "class C:\n    def __init__(self): ...\n    async def m(self): ..."
    assert functions_of(f"async def a(): ...\n{methods}") == ["a", "C.m"]
    with pytest.raises(BadStub, match="found none"):
        functions_of("x = 1")


def test_a_simulated_coder_breaks_the_pasted_function() -> None:
    made = simulated_files(SORTED, "simulated/weak", m=5, temperature=1.0, seed=0)
    assert len(made) == 5
    assert simulated_files("x = 1", "simulated/weak", m=5, temperature=1.0, seed=0) == {}


def test_the_example_runs_at_one_click_and_what_is_right_is_settled_by_another() -> None:
    at = opened("check", check_n="100")
    click(at, "Run the example")
    at = ended(at)
    assert "def middle" in at.text_area(key="check:stub").value
    assert "The programs disagree" in shown(at)
    assert "cluster 1: program 1; cluster 2: program 2." in shown(at)
    click(at, "Cluster 2 is right")
    at = ended(at)
    pinned = at.text_area(key="check:stub").value
    assert pinned.count(">>> middle(") == 2  # the example's own, and the pinned one
    words = shown(at)
    assert "**An example says what is right**, and programs contradict it" in words
    (said,) = [str(code.value) for code in at.code if "expected: " in str(code.value)]
    assert said.splitlines()[2].startswith("program 1: ")


@pytest.mark.parametrize("example", ["part([], -1) raises ValueError", """split('"') == ['"']"""])
def test_advice_names_fields_and_no_quotes_of_a_shell(example: str) -> None:
    said = _for_page(
        f'say it: --example {quote_word(example)}; or leave it out: --assume "x > 1"; more inputs (-n 100)'
    )
    assert said == f'say it: the example "{example}"; or leave it out: the assumption "x > 1"; more inputs (100)'


@pytest.mark.slow
def test_the_condition_that_a_check_advises_is_added_at_one_click() -> None:
    stub = 'def part(values: list[int], size: int) -> list[int]:\n    """Return the first size values."""\n'
    cut = "    return values[:size]\n"
    raising = f"def part(values, size):\n    if size < 0:\n        raise ValueError(size)\n{cut}"
    at = checked(stub, raising, f"def part(values, size):\n{cut}")
    assert "say what is right there: the example &quot;part([], -1) raises ValueError&quot;" in shown(at)
    click(at, "Leave such inputs out: check again")
    at = ended(at)
    assert at.text_area(key="check:assumptions").value == "size >= 0"
    assert "--assume=size >= 0" in job_of(at).steps[0].words
    assert "The programs agree" in shown(at)
    at.text_area(key="check:assumptions").set_value("")
    click(at, "Check")
    at = ended(at)
    click(at, "An exception is right there: check again")
    assert at.text_area(key="check:examples").value == "part([], -1) raises ValueError"
    assert "**An example says what is right**, and programs contradict it" in shown(ended(at))


@pytest.mark.slow
def test_examples_and_assumptions_are_handed_to_the_check_and_kept_with_it() -> None:
    typed = {"examples": "middle([5]) == 5\n\n", "assumptions": "len(numbers) > 0\nlen(numbers) < 50"}
    at = checked(STUB, SORTED, SORTED, n="10", **typed)
    given = [word for word in job_of(at).steps[0].words if word.startswith(("--example", "--assume"))]
    assert given == ["--example=middle([5]) == 5", "--assume=len(numbers) > 0", "--assume=len(numbers) < 50"]
    again = opened("check", check=at.query_params["check"])
    assert again.text_area(key="check:assumptions").value == "len(numbers) > 0\nlen(numbers) < 50"
    assert "All 2 programs behave alike on" in shown(again)


def report_of(*clusters: tuple[int, list[str]]) -> dict[str, Any]:
    made = [{"number": number, "candidates": names, "code": names[0]} for number, names in clusters]
    found = {"first": 1, "second": 2, "outcomes": [["value", "1"], ["value", "2"]], "arguments": "('1-pasted.py',)"}
    return {"clusters": made, "disagreements": [found], "statement": "Wrong: 3-pasted.py.", "consensus": "1-pasted.py"}


def test_pasted_programs_are_named_by_number_and_no_input_or_code_is_changed() -> None:
    found = with_names(report_of((1, ["02-pasted.py", "a.py"]), (2, ["1-pasted.py"])))
    assert [c["candidates"] for c in found["clusters"]] == [["program 2", "a.py"], ["program 1"]]
    assert found["statement"] == "Wrong: program 3."
    assert found["consensus"] == "1-pasted.py"
    assert found["clusters"][1]["code"] == "1-pasted.py"
    assert found["disagreements"][0]["arguments"] == "('1-pasted.py',)"


def test_what_is_right_is_written_into_the_docstring_without_executing() -> None:
    stub = 'raise SystemExit\ndef f(x: int) -> int:\n    """Return x."""\n'
    assert ">>> f(1)\n    2\n" in with_example(stub, "f(1) == 2")
    with pytest.raises(BadStub):
        with_example("def f(x): return x", "f(1) == 2")


THREE = [f"def low(values):\n    return sorted(values)[{place}]\n" for place in ("0", "-1", "len(values) // 2")]
LOW = (
    'def low(values: list[int]) -> int:\n    """Return the least.\n\n    Requires:\n        len(values) > 0\n    """\n'
)


@pytest.mark.slow
def test_questions_settle_and_answers_survive_a_page_loaded_anew() -> None:
    at = checked(LOW, *THREE)
    name = at.query_params["check"]
    assert "**Question 1 of at most 5**, 3 programs left" in shown(at)
    at.text_input(key="check:typed").set_value("[1").run()
    assert not at.exception
    assert "expected a letter, a value such as [1, 2]" in shown(at)
    assert "answer" not in at.query_params
    at.text_input(key="check:typed").set_value("either").run()
    assert at.query_params["answer"] in ("either", ["either"])
    click(at, "Not allowed")
    at = opened("check", check=name, answer=["either", "not allowed", "<b>", "either"])  # the rest is no answer
    assert "**Question 3 of at most 5**, 3 programs left" in shown(at)
    assert "not allowed" in shown(at)
    at = opened("check", check=name, answer="987654321")
    assert "**none of them is right**" in shown(at)
    click(at, "Start over")
    while any(button.label == "Either" for button in at.button):
        call = next(str(code.value) for code in at.code if str(code.value).startswith("low("))
        at.text_input(key="check:typed").set_value(str(min(eval(call.removeprefix("low"))))).run()
    assert "1 program left: program 1" in shown(at)
    click(at, "Keep the answers: check again")
    assert ">>> low([" in at.text_area(key="check:stub").value
    assert "answer" not in at.query_params
    ended(at)


@pytest.mark.slow
def test_outcomes_of_candidates_are_text_in_questions() -> None:
    stub = STUB.replace(">>> middle([3, 1, 2])\n    2\n", "")
    at = checked(stub, SORTED, HOSTILE, HOSTILE.replace("script", "iframe"))
    assert "**Question 1 of at most 5**" in shown(at)
    assert not any("<script" in body or "<iframe" in body for body in raw_of(at))
    assert not any("<" in button.label for button in at.button)
