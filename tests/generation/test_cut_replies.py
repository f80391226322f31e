"""A reply that was cut off is no program: asked for once more with more room, paid for twice, counted and named."""

from dataclasses import dataclass, replace

import pytest

from difftrust.text import incomplete_lines
from difftrust_core.exceptions import WrongUsage
from difftrust_core.generation.extraction import CUT_OFF, Extracted, fenced_blocks, program_in, program_of
from difftrust_core.generation.missing import Generation, GenerationOptions, Incomplete
from difftrust_core.languages.registry import load_language
from difftrust_core.store.replies import ReplyFile
from difftrust_core.store.store import Store
from tests.generation.asking import MODEL, ask
from tests.support.llm_server import COMPLETION_TOKENS, PROMPT_TOKENS, Server, kept_lines
from tests.support.tiny import TASKS

pytestmark = pytest.mark.filterwarnings("ignore:.*ReadOnly:UserWarning")
EACH = (PROMPT_TOKENS * 5 + COMPLETION_TOKENS * 15) / 1e6
TASK = replace(TASKS[0], task_id="tiny/f", entry_point="f", signature="(x)", reference=None)
F = "def f(x):\n    return x\n"
G = "def g(x):\n    return x\n"
METHOD = replace(TASK, entry_point="Box.add", preamble="class Box:\n    def add(self, x): ...\n")


def ask_one(store: Store, server: Server, **changed: object) -> Generation:
    return ask(store, [TASK], server, concurrency=1, **changed)  # type: ignore[arg-type]


@dataclass(frozen=True)
class Said:
    text: str
    finish_reason: str | None = "stop"
    completion_tokens: int | None = 40
    max_tokens: int = 100


CASES = [
    ("stopped", Said(f"```\n{F}```"), "block with the entry point", True),
    ("cut by the provider, though it parses", Said(f"```\n{F}```", finish_reason="length"), CUT_OFF, False),
    ("cut in thoughts", Said(f"<think>\n```\n{F}```\nbut", finish_reason="length"), CUT_OFF, False),
    ("never closed, and full", Said(f"```\n{F}", completion_tokens=100), CUT_OFF, False),
    ("never closed, of unknown length", Said(f"```\n{F}", completion_tokens=None), CUT_OFF, False),
    ("never closed, no reason", Said(f"```\n{F}", finish_reason=None), CUT_OFF, False),
    ("closed, and full", Said(f"```\n{F}```", completion_tokens=100), "block with the entry point", True),
    ("never closed, and a token to spare", Said(f"```\n{F}", completion_tokens=99), "block with the entry point", True),
    ("no block, with a token to spare", Said(F, completion_tokens=99), "whole reply", True),
    ("no block, and just full", Said(F, completion_tokens=100), CUT_OFF, False),
    ("a word, with a token to spare", Said("Sorry.", completion_tokens=99), "no program", False),
    ("a word, and full", Said("Sorry.", completion_tokens=100), CUT_OFF, False),
    ("another function", Said(f"```\n{G}```"), "first block that parses", False),
    ("no block, another function", Said(G), "whole reply", False),
    ("announced only", Said('```\ndef f(x):\n    """Do it."""\n    ...\n```'), "first block that parses", False),
    ("imported under its name", Said("```\nfrom math import gcd as f\n```"), "block with the entry point", True),
    ("in two ways", Said("```\ntry:\n    import a\nexcept ImportError:\n    def f(x): pass\n```"),
     "block with the entry point", True),
    ("async", Said("```\nasync def f(x):\n    return x\n```"), "block with the entry point", True),
    ("filtered", Said("", finish_reason="content_filter"), "no program", False),
    ("a block that only begins", Said("So:\n```", finish_reason=None), CUT_OFF, False),
    ("an empty block", Said("```\n```", finish_reason=None), "no program", False),
]  # fmt: skip


def test_what_is_a_program_and_what_was_cut_off() -> None:
    for name, said, how, is_whole in CASES:
        found = program_in(said, TASK)
        assert (found.how, found.is_whole) == (how, is_whole), name
        assert bool(found.code) == (how not in (CUT_OFF, "no program")), name


METHODS = [
    ("def add(self, x):\n    return x\n", True),
    ("class Box:\n    def add(self, x):\n        return x\n", True),
    ("class Box:\n    def add(self, x): ...\n", False),
    ("class Box:\n    pass\n", False),
    ("class Other:\n    def add(self, x):\n        return x\n", False),
    ("def Box(x):\n    return x\n", False),
]


def test_a_method_comes_in_its_class_or_by_itself() -> None:
    for code, is_whole in METHODS:
        assert program_in(Said(f"```\n{code}```"), METHOD).is_whole is is_whole, code


THOUGHTS = [
    ("one", f"<think>\n```\n{F}# draft\n```\n</think>\n```\n{F}```"),
    ("two", f"<think>\n```\n{F}# a\n```\n</think>\n\n<think>\n```\n{F}# b\n```\n</think>\n```\n{F}```"),
    ("two with words between them", f"<thinking>{G}</thinking>\nHm.\n<think>\n```\n{F}# b\n```\n</think>\n```\n{F}```"),
    ("on one line", f"<think>a</think><think>b</think>\n```\n{F}```"),
    ("after the program", f"```\n{F}```\n<think>\n```\n{F}# b\n```\n</think>"),
    ("that never began", f"First\n```\n{F}# a\n```\nso it is.\n</think>\n\n```\n{F}```"),
    ("that never began, in a line", f"```\n{F}# a\n```\nso it is.</think>\n```\n{F}```"),
]


def test_thoughts_hold_no_program() -> None:
    whole = Extracted(code=F, how="block with the entry point", is_whole=True)
    for name, reply in THOUGHTS:
        assert program_of(reply, "f", load_language("python")) == whole, name


def test_thoughts_that_never_end_hold_no_program_and_tags_in_a_program_stay() -> None:
    python = load_language("python")
    assert program_of(f"<think>\nSo:\n```\n{F}```\n", "f", python).how == "no program"
    code = "def f(x):\n    return '''\n<think>\n'''\n"
    assert program_of(f"```\n{code}```", "f", python).code == code


@pytest.mark.slow
def test_a_cut_reply_is_asked_for_once_more_with_more_room_and_both_are_paid(store: Store) -> None:
    with Server(behaviour=lambda serial, prompt: "length" if serial == 1 else "good") as server:
        done = ask_one(store, server, m=3, max_tokens=500)
        assert [asked.body["max_tokens"] for asked in server.asked] == [500, 500, 2000, 500]
        again = ask_one(store, server, m=3, max_tokens=500)
        assert (again.n_requests, len(server.asked)) == (0, 4)
    assert (done.n_replies, done.n_requests, done.n_asked_again, done.n_missing) == (3, 4, 1, 0)
    assert (done.n_retries, done.incomplete, done.failures) == (0, [], [])
    assert done.usd == pytest.approx(4 * EACH)
    found = store.read("candidates").sort("sample_index")
    assert found["cost_usd"].to_list() == pytest.approx([EACH, 2 * EACH, EACH])
    assert found["completion_tokens"].to_list() == [40, 80, 40]
    assert found["extraction"].unique().to_list() == ["block with the entry point"]
    assert [(line["sample_index"], line["number"], line["max_tokens"]) for line in kept_lines(store.root)] == [
        (0, 1, 500), (1, 1, 500), (1, 2, 2000), (2, 1, 500)]  # fmt: skip
    codes = store.read("programs")["code"].to_list()
    assert not [code for code in codes if "return 1\n" in code]


def test_where_more_room_is_refused_the_first_reply_stays_and_is_not_asked_for_again(store: Store) -> None:
    with Server(
        behaviour=lambda serial, prompt: "400" if serial == 1 else "length" if serial == 0 else "good"
    ) as server:
        done = ask_one(store, server, m=2)
        assert ask_one(store, server, m=2).n_requests == 0
    assert (len(server.asked), done.n_replies, done.failures) == (3, 2, [])
    assert incomplete_lines(done.incomplete) == [f"1 reply was cut off: sample 0 of {MODEL}"]


def test_what_failed_the_second_time_is_missing_and_asked_for_by_the_next_command(store: Store) -> None:
    with Server(behaviour=lambda serial, prompt: ("length", "500", "500", "good")[serial]) as server:
        done = ask_one(store, server, attempts=2, max_tokens=500)
        assert (done.n_replies, done.n_missing, store.read("candidates").is_empty()) == (0, 1, True)
        (failure,) = done.failures
        assert failure.reason.startswith("cut off, and asked for once more: InternalServerError")
        assert ask_one(store, server, max_tokens=500).n_replies == 1
        assert [asked.body["max_tokens"] for asked in server.asked] == [500, 2000, 2000, 2000]
    assert store.read("candidates")["cost_usd"].to_list() == pytest.approx([2 * EACH])


def test_a_budget_that_ends_before_the_second_asking_leaves_the_sample_missing(store: Store) -> None:
    with Server(behaviour=lambda serial, prompt: "length" if serial == 0 else "good") as server:
        done = ask_one(store, server, max_tokens=100, max_usd=0.009)  # 400 tokens are 0.006, the prompt 0.002
        assert (done.is_spent, done.n_missing, len(server.asked)) == (True, 1, 1)
        assert (done.n_asked_again, done.spent, done.doubtful) == (0, pytest.approx(EACH), 0)
        assert store.read("candidates").is_empty()
        done = ask_one(store, server, max_tokens=100, max_usd=1.0)
        assert (done.n_replies, done.n_asked_again, done.usd) == (1, 1, pytest.approx(EACH))
    assert store.read("candidates")["cost_usd"].to_list() == pytest.approx([2 * EACH])


def test_the_reply_that_counts_is_the_second_wherever_it_stands(store: Store) -> None:
    with Server(behaviour=lambda serial, prompt: "length" if serial == 0 else "good") as server:
        ask_one(store, server)
    kept = ReplyFile(store, {"benchmark": TASK.benchmark, "model": MODEL, "temperature": 0.6})
    kept.path.write_text("".join(reversed(kept.path.read_text().splitlines(keepends=True))))
    again = ReplyFile(store, {"benchmark": TASK.benchmark, "model": MODEL, "temperature": 0.6})
    assert (again.records, len(list(again.paid()))) == (kept.records, 2)


def test_the_lines_that_name_cut_replies() -> None:
    def one(index: int, task_id: str = "t/a", model: str = "gpt-4o") -> Incomplete:
        return Incomplete(benchmark="b", model=model, task_id=task_id, sample_index=index, extraction=CUT_OFF)

    assert incomplete_lines([]) == []
    assert incomplete_lines([one(0), one(1, "t/b")]) == ["2 replies were cut off: samples 0 of t/a, 1 of t/b, gpt-4o"]
    assert incomplete_lines([one(i) for i in range(12)], most=2) == ["12 replies were cut off: samples 0, 1 and 10 more of gpt-4o"]  # noqa: E501  # fmt: skip
    assert len(incomplete_lines([one(0), one(1, model="other")])) == 2


def test_no_attempts_are_refused() -> None:
    with pytest.raises(WrongUsage, match="attempts must be positive, got 0"):
        GenerationOptions(attempts=0)
    assert GenerationOptions(attempts=1).attempts == 1


@pytest.mark.parametrize("extra", [0, 1])
def test_replies_are_looked_through_up_to_a_limit(extra: int) -> None:
    block = f"```\n{F}```\n"
    reply = " " * ((1 << 20) - len(block) - 1 + extra) + "\n" + block
    python = load_language("python")
    assert len(reply) == (1 << 20) + extra
    assert program_of(reply, "f", python).code == ("" if extra else F)
    assert fenced_blocks(reply) == ([""] if extra else [F])


def test_two_thoughts_around_a_word_leave_what_is_said_between_and_after() -> None:
    assert fenced_blocks("<think>a</think>One.\n<reasoning>\nb\n</reasoning> Two.") == ["One.\n Two."]
    assert fenced_blocks("One</think>Two") == ["One</think>Two"]  # no tag where a line goes on
    assert fenced_blocks("A\nB</thought>\nC") == ["\nC"]


def test_a_line_that_opens_no_block_hides_no_thoughts() -> None:
    thought = "<think>\n```\nhidden\n```\n</think>\n"
    assert fenced_blocks(f"```a`b\n{thought}```\nx\n```\n") == ["x\n"]
    assert fenced_blocks(f"~~~a`b\n{thought}~~~\n") == [thought]


@pytest.mark.parametrize(("fence", "line"), [("```", "```python"), ("```", "~~~"), ("````", "```")])
def test_a_line_that_closes_no_block_lets_its_thoughts_stand(fence: str, line: str) -> None:
    content = f"{line}\n<think>\na\n</think>\n"
    assert fenced_blocks(f"{fence}\n{content}{fence}\n") == [content]
