"""Candidates and suggestions from a real server: what is cut off is named, what is suggested is read as data."""

import tomllib
from dataclasses import replace
from pathlib import Path

import pytest

from difftrust.check import ask_models
from difftrust.check.ask_models import (
    MAX_TOKENS,
    MOST,
    Suggested,
    ask_about,
    question_about,
    read_reply,
    sample_candidates,
    suggestion_path,
)
from difftrust.check.options import CheckOptions
from difftrust.verify.verification import verify
from difftrust_core.base.task import Task
from difftrust_core.exceptions import TooFewCandidates, WrongUsage
from difftrust_core.generation.prices import Price
from difftrust_core.store.store import Store
from tests.support.llm_server import Server
from tests.support.tasks import small_task
from tests.support.tiny import silent

pytestmark = pytest.mark.filterwarnings("ignore:.*ReadOnly:UserWarning")
MODEL = "openai/local"
PRICE = Price(prompt=5.0, completion=15.0)
KEY = "planted-0123456789-abcdefghij-key"
TASK = small_task(
    "clamp",
    "(x: int, low: int = 0, *, high: int = 5) -> int",
    task_id="module/clamp/12345678",
    description="Return x, at least low and at most high.",
    preamble="import math\n\nLIMIT = 3\n",
)
METHOD = small_task(
    "Box.add",
    "(self, x: int) -> int",
    preamble="class Box:\n\n    def __init__(self, size: int):\n        self.size = size\n\n"
    "    def add(self, x: int) -> int:\n        ...\n",
)
REPLY = """Such as these:

```python
clamp(2)
clamp(-3, 1, high=9)
clamp(x)
assert low <= high
assert all(value < 10 ** 6 for value in (x, low, high)), "small"
```
"""


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)


def ask(root: Path, server: Server, *, task: Task = TASK, max_usd: float | None = None) -> tuple[Suggested, list[str]]:
    said: list[str] = []
    options = CheckOptions(models=(MODEL,), store=root, api_base=server.url, say=said.append, max_usd=max_usd)
    return ask_about(task, options), said


def sample(
    root: Path, server: Server, m: int, notes: list[str] | None = None, max_usd: float | None = None
) -> list[int]:
    options = CheckOptions(models=(MODEL,), m=m, store=root, api_base=server.url, max_usd=max_usd)
    found = sample_candidates(TASK, options, note=silent if notes is None else notes.append)
    return [candidate.sample_index for candidate in found]


def program(serial: int) -> str:
    return f"```python\ndef clamp(x, low=0, *, high=5):\n    return {serial}\n```\n"


# Candidates


@pytest.mark.slow
def test_replies_that_were_cut_off_are_no_candidates_and_named_in_every_run(tmp_path: Path) -> None:
    how = ["good", "length", "length", "good", "good", "length", "length"]
    with Server(behaviour=lambda serial, prompt: how[serial % 7], text=program) as server:
        for asked in (7, 7):  # the second time from the store
            notes: list[str] = []
            kept = sample(tmp_path / "store", server, 5, notes)
            assert len(kept) == 3
            (line,) = notes
            assert line.startswith("2 replies were cut off: samples ")
            assert line.endswith(f" of {MODEL}")
            assert len(server.asked) == asked


def test_a_reply_without_the_function_is_no_candidate(tmp_path: Path) -> None:
    notes: list[str] = []
    with Server(text=lambda serial: program(serial) if serial != 1 else "def other(x): return x") as server:
        assert len(sample(tmp_path / "store", server, 2, notes)) == 2
        assert (len(server.asked), notes) == (3, [])
    with Server(text=lambda serial: "def other(x): return x") as server, pytest.raises(TooFewCandidates) as refusal:
        sample(tmp_path / "other", server, 2, notes)
    assert "got 0 of 2 (2 replies held no complete function: samples 0, 1 of openai/local)" in str(refusal.value)


def test_a_store_with_replies_stays_where_the_next_are_refused(tmp_path: Path) -> None:
    with Server(behaviour=lambda serial, prompt: "good" if serial == 0 else "401", text=program) as server:
        with pytest.raises(TooFewCandidates):
            sample(tmp_path / "store", server, 1)
        with pytest.raises(WrongUsage):
            sample(tmp_path / "store", server, 2)
    assert len(Store.open(tmp_path / "store").read("candidates")) == 1


# Suggestions


def test_a_model_is_asked_once_and_its_answer_kept_shown_and_read_again(tmp_path: Path) -> None:
    root = tmp_path / "store"
    with Server(text=lambda serial: REPLY) as server:
        first, said = ask(root, server)
        again, said_again = ask(root, server)
        assert len(server.asked) == 1
    assert server.asked[0].prompt == question_about(TASK)
    assert first.calls == ("clamp(2)", "clamp(-3, 1, high=9)")
    assert first.conditions == ("low <= high", "all((value < 10 ** 6 for value in (x, low, high)))")
    assert (first.is_new, first.usd, first.path) == (True, None, suggestion_path(root, TASK))
    assert again == replace(first, is_new=False, usd=0.0)
    assert said == [
        f"suggestions by {MODEL}, kept in {first.path}: 2 calls, 2 conditions; edit it to change them",
        "  calls: clamp(2); clamp(-3, 1, high=9)",
        "  conditions: low <= high; all((value < 10 ** 6 for value in (x, low, high)))",
        "  1 line of the reply left out: no call with literal arguments, no condition",
    ]
    taken = f"suggestions taken from {first.path}: 2 calls, 2 conditions; edit it to change them, delete it to ask anew"
    assert said_again == [taken, *said[1:3]]
    kept = tomllib.loads(first.path.read_text())
    assert kept["asked"] == {"model": MODEL, "left_out": ["clamp(x)"], "reply": REPLY}
    assert verify(Store.open(root)).findings == ()


def test_the_file_may_be_edited_and_what_is_wrong_in_it_is_named(tmp_path: Path) -> None:
    path = suggestion_path(tmp_path / "store", TASK)
    path.parent.mkdir(parents=True)
    refusals = {
        'calls = ["clamp(y)"]': "expected a call with literal arguments of clamp in .*, got 'clamp\\(y\\)'",
        'calls = ["clamp(1); clamp(2)"]': "expected a call with literal arguments",
        'conditions = ["y > 1"]': "expected an expression over the parameters of clamp in .*, got 'y > 1'",
        'conditions = ["x > 1\\nimport os"]': "expected an expression over the parameters",
        "conditions = [\"open('x') and x\"]": "expected an expression over the parameters",
        'calls = "clamp(1)"': "expected a list of texts for calls",
        "calls = [1]": "expected a list of texts for calls",
        "calls = [": "expected TOML in",
        f"conditions = {['x > 0'] * (MOST + 1)}": "expected at most 10 conditions in .*, got 11",
    }
    with Server() as server:
        for text, message in refusals.items():
            path.write_text(text)
            with pytest.raises(WrongUsage, match=message):
                ask(tmp_path / "store", server)
        path.write_text('calls = ["clamp( 7 )"]\n')
        assert ask(tmp_path / "store", server)[0].calls == ("clamp(7)",)
        path.write_text("")
        assert ask(tmp_path / "store", server)[0] == Suggested(path=path)
    assert not server.asked


def test_what_a_file_holds_comes_back_whatever_is_in_a_reply(tmp_path: Path) -> None:
    odd = '\'"\\\\ \\n \\x00 \\x7f é 😀 \\ud800 {x} """\''
    reply = f'```python\nclamp({odd})\n```\n\x00 \x7f \r\n """ \\ \\u12 😀\t'
    with Server(text=lambda serial: reply) as server:
        first, _ = ask(tmp_path / "store", server)
        again, _ = ask(tmp_path / "store", server)
    assert first.calls == again.calls != ()
    assert tomllib.loads(first.path.read_text())["asked"]["reply"] == reply


def test_an_answer_that_was_cut_off_is_asked_for_once_more(tmp_path: Path) -> None:
    with Server(behaviour=lambda serial, prompt: "length" if serial == 0 else "good", text=lambda s: REPLY) as server:
        assert len(ask(tmp_path / "store", server)[0].calls) == 2
    assert [asked.body["max_tokens"] for asked in server.asked] == [MAX_TOKENS, 4 * MAX_TOKENS]


def test_a_server_that_breaks_is_asked_again_and_then_the_check_goes_on_without(tmp_path: Path) -> None:
    with Server(behaviour=lambda serial, prompt: "500" if serial == 0 else "good", text=lambda s: REPLY) as server:
        assert len(ask(tmp_path / "store", server)[0].calls) == 2
    with Server(behaviour=lambda serial, prompt: "400") as server:
        found, said = ask(tmp_path / "other", server)
        assert len(server.asked) == 1
    assert found == Suggested(path=suggestion_path(tmp_path / "other", TASK))
    assert said[0].startswith("openai/local was not asked for calls and preconditions: BadRequestError 400")
    assert not (tmp_path / "other" / "suggestions").exists()
    assert KEY not in "".join(said)


def test_a_budget_without_a_price_is_refused(tmp_path: Path) -> None:
    with Server() as server, pytest.raises(WrongUsage, match="--max-usd needs a price"):
        ask(tmp_path / "store", server, max_usd=1.0)
    assert not server.asked


def test_a_question_that_might_cost_more_than_the_budget_is_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Server(text=lambda serial: REPLY) as server:
        monkeypatch.setattr(ask_models, "price_of", lambda *_, **__: PRICE)
        found, said = ask(tmp_path / "store", server, max_usd=0.01)
        assert said == [
            "openai/local was not asked for calls and preconditions: it might cost more than --max-usd 0.01; "
            "the check goes on without them"
        ]
        assert (found.calls, server.asked) == ((), [])
        assert ask(tmp_path / "store", server, max_usd=1.0)[0].usd == pytest.approx(server.cost(5, 15))


OF_CLASS = replace(METHOD, entry_point="Box.of", signature="(cls, text: str)")
PROPERTY = replace(METHOD, entry_point="Box.area", signature="(self)")
CALLS = {
    "clamp(1, low=2)": TASK,
    "clamp(x=-1, high=True)": TASK,
    "clamp('a', [1.5, None, {'b': (1,)}])": TASK,
    "clamp(Decimal('1.5'), date(2020, 1, 1))": TASK,
    "Box(3).add(2)": METHOD,
    "Box(size=3).add(x=2)": METHOD,
    "Box.add(Box(3), 2)": METHOD,
    "Box.of('a')": OF_CLASS,
    "Box(2).area": PROPERTY,
}
NO_CALLS = {
    "clamp()": TASK,
    "clamp(1, 2, 3)": TASK,
    "clamp(1, x=2)": TASK,
    "clamp(*[1])": TASK,
    "clamp(**{'x': 1})": TASK,
    "clamp(1 + 1)": TASK,
    "clamp(1) == 1": TASK,
    "print(clamp(1))": TASK,
    "other(1)": TASK,
    "clamp(1).real": TASK,
    "Box(3).add()": METHOD,
    "Box(n).add(2)": METHOD,
    "add(2)": METHOD,
    "Bag(3).add(2)": METHOD,
    "Box(3).size": METHOD,
    "Box.add(2)": METHOD,
    "Box.area": PROPERTY,
}


@pytest.mark.parametrize("text", [*CALLS, *NO_CALLS])
def test_a_call_has_literal_arguments_that_fit_the_parameters(text: str) -> None:
    found = read_reply(f"```\n{text}\n```", (CALLS | NO_CALLS)[text])
    assert found.calls == ((text,) if text in CALLS else ())
    assert found.left_out == ((text,) if text in NO_CALLS else ())


CONDITIONS = [
    ("low <= x <= high and math.isfinite(x)", True),
    ("len(str(x)) < LIMIT", True),
    ("any((c > 1 for c in [x, low]))", True),
    ("(lambda value: value > 0)(x)", True),
    ("True", False),
    ("y > 0", False),
    ("(y := x) > 0", False),
    ("(yield x)", False),
    ("getattr(x, 'real')", False),
    ("__import__('os') and x", False),
]


@pytest.mark.parametrize(("text", "is_condition"), CONDITIONS)
def test_a_condition_is_an_expression_over_the_parameters(text: str, is_condition: bool) -> None:
    found = read_reply(f"```\nassert {text}\n```", TASK)
    assert found.conditions == ((text,) if is_condition else ())


def test_at_most_ten_of_each_and_none_twice() -> None:
    calls = "".join(f"clamp({i % 12})\n" for i in range(14))
    conditions = "".join(f"assert x != {i}\n" for i in range(11))
    found = read_reply(f"```\n{calls}{conditions}```", TASK)
    assert (len(found.calls), len(found.conditions)) == (MOST, MOST)
    assert found.left_out == ("clamp(10)", "clamp(11)", "assert x != 10")


def test_a_block_that_does_not_parse_is_read_line_by_line() -> None:
    found = read_reply("```\n>>> clamp(1)\n- clamp(2)\nclamp(3\nassert x > 0  # so\n```", TASK)
    assert (found.calls, found.conditions) == (("clamp(1)",), ("x > 0",))
    assert found.left_out == ("-clamp(2)", "clamp(3")


@pytest.mark.parametrize("text", ["(" * 100_000, "clamp(" + "[" * 5_000 + "]" * 5_000 + ")", "x" * 2_000_000, "\0"])
def test_replies_that_no_parser_can_take(text: str) -> None:
    found = read_reply(f"```\n{text}\n```", TASK)
    assert (found.calls, found.conditions) == ((), ())


def test_the_question_holds_what_is_known_and_takes_no_placeholder_for_one() -> None:
    asked = question_about(replace(TASK, description="It costs $5 or ${x}.\n\nAlways."))
    assert "Signature: def clamp(x: int, low: int = 0, *, high: int = 5) -> int\n" in asked
    assert "It costs $5 or ${x}.\n\nAlways.\n" in asked
    assert "LIMIT = 3" in asked
    assert "`x`, `low`, `high`" in asked
    assert "difftrust" not in asked
    assert "Box(...).add(...)" in question_about(METHOD)
    assert "is at hand" not in question_about(replace(TASK, preamble=""))
