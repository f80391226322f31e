"""Prompts, programs in replies, prices and secrets: all by hand."""

import re
import tomllib
from collections import Counter
from dataclasses import replace
from datetime import date
from importlib import resources

import pytest

from difftrust.tables.names import FAMILIES
from difftrust_core.datasets.benchmarks import load_benchmark
from difftrust_core.generation.extraction import program_of
from difftrust_core.generation.prices import FREE, Price, list_price, price_of, recorded_prices
from difftrust_core.generation.prompt import method_header, prompt_hash, prompt_of
from difftrust_core.generation.providers import known_secrets, short_reason, without_secrets
from difftrust_core.languages.registry import load_language
from tests.support.tiny import TASKS

FIRST = next(task for task in TASKS if task.entry_point == "first")
F = "def f(x):\n    return x\n"
G = "def g(x):\n    return x\n"

REPLIES = [
    ("one block", f"Sure:\n\n```python\n{F}```\nDone.", F, "block with the entry point"),
    ("no language", f"```\n{F}```", F, "block with the entry point"),
    ("tildes", f"~~~py\n{F}~~~", F, "block with the entry point"),
    ("the second block defines it", f"```\n{G}```\nand\n```\n{F}```", F, "block with the entry point"),
    ("usage after it", f"```\n{F}```\n```\nprint(f(1))\n```", F, "block with the entry point"),
    ("the first of two", f"```\n{F}```\n```\n{F}{G}```", F, "block with the entry point"),
    ("in a list", "1. So:\n\n   ```python\n   def f(x):\n       return x\n   ```\n", F, "block with the entry point"),
    ("never closed", f"```python\n{F}", F, "block with the entry point"),
    ("a fence in a longer one", f"````\n'''\n```\n'''\n{F}````", f"'''\n```\n'''\n{F}", "block with the entry point"),
    ("a name for a lambda", "```\nf = lambda x: x\n```", "f = lambda x: x\n", "block with the entry point"),
    ("nested only", f"```\nclass A:\n    def f(self): pass\n```\n```\n{G}```", "class A:\n    def f(self): pass\n",
     "first block that parses"),
    ("the first does not parse", f"```\ndef f(x)\n```\n```\n{G}```", G, "first block that parses"),
    ("no fence", F, F, "whole reply"),
    ("cut in the middle", "```python\ndef f(x):\n    return (x +", "", "no program"),
    ("prose", "I am sorry, but I cannot help with that.", "", "no program"),
    ("empty", "", "", "no program"),
    ("a shell command", "```\npip install numpy\n```", "", "no program"),
    ("nul", "def f(x): return '\0'", "", "no program"),
    ("a lone surrogate", "def f(x): return '\ud800'", "", "no program"),
    ("deep", "f = " + "(" * 5000 + ")" * 5000, "", "no program"),
]  # fmt: skip


def test_the_program_in_a_reply() -> None:
    found = {name: program_of(reply, "f", load_language("python")) for name, reply, _, _ in REPLIES}
    assert {name: (program.code, program.how) for name, program in found.items()} == {
        name: (code, how) for name, _, code, how in REPLIES
    }


def test_the_prompt_holds_what_the_task_says_and_nothing_of_the_answer() -> None:
    task = replace(FIRST, description="Return the first.\n\nIt costs $5 or ${x}.\n")
    prompt = prompt_of(task)
    assert "def first(items: list) -> object\n" in prompt
    assert "Return the first.\n\nIt costs $5 or ${x}.\n" in prompt
    assert "items[0]" not in prompt
    assert "runs before yours" not in prompt
    assert "version" not in prompt
    with_preamble = prompt_of(replace(task, preamble="import math\n\n\nLIMIT = 3\n"))
    assert "runs before yours, so what it defines is at hand and need not be repeated:\n```python\nimport math\n\n\nLIMIT = 3\n```\n" in with_preamble  # noqa: E501  # fmt: skip
    assert re.fullmatch("[0-9a-f]{16}", prompt_hash(FIRST))


def test_every_starter_task_has_a_prompt_of_its_own() -> None:
    prompts = [prompt_of(task) for task in load_benchmark("starter")]
    assert len(set(prompts)) == 60
    assert not [p for p in prompts if re.search(r"\$(entry_point|signature|description|preamble)", p)]


def test_prices() -> None:
    gpt = price_of("gpt-4o", api_base=None, environment={})
    assert gpt is not None
    assert (gpt.prompt, gpt.completion, gpt.date, gpt.reasoning) == (2.5, 10.0, "2024-10-02", False)
    assert gpt.of(1_000_000, 2_000_000) == 22.5
    assert gpt.of(120, 40) == pytest.approx(0.0007, abs=1e-15)
    assert gpt.of(None, 40) is None
    assert price_of("openai/gpt-4o", api_base=None, environment={}) == gpt


def test_every_row_of_the_price_table_has_a_price_a_day_and_a_source() -> None:
    rows = tomllib.loads(resources.files("difftrust_core.generation").joinpath("prices.toml").read_text())["price"]
    assert all(0 < row["prompt"] <= row["completion"] for row in rows)
    assert all(date(2023, 1, 1) < date.fromisoformat(row["date"]) for row in rows)
    assert all(row["source"].startswith("https://") for row in rows)
    assert [name for name, n in Counter(row["model"] for row in rows).items() if n > 1] == []


def test_every_recorded_model_has_its_list_price_of_when_it_was_recorded() -> None:
    recorded = {model for family, models in FAMILIES.items() if family != "Simulated" for model in models}
    prices = recorded_prices()
    assert prices.keys() == recorded
    assert max(price.date for price in prices.values()) == "2025-06-17"
    assert {model for model, price in prices.items() if price.reasoning} == {
        "deepseek_r1", "gemini_2_5_flash", "gemini_2_5_pro", "gpt_o4_mini",
    }  # fmt: skip
    gpt = prices["gpt_4o"]
    assert (gpt.prompt, gpt.completion) == (5.0, 15.0)  # the paper counts with the price of its first version
    assert list_price("gpt_4o") == gpt == price_of("gpt-4o-2024-05-13", api_base=None, environment={})
    assert list_price("simulated/weak") == FREE
    assert list_price("claude-3-haiku-20240307") is not None  # what a user's own store holds
    assert list_price("nobody/knows") is None


WITHOUT_PRICE = [
    ("gpt-99", None, {}),
    ("ollama/llama3.1", None, {}),
    ("openai/gpt-4o", "http://127.0.0.1:8000/v1", {}),
    ("gpt-4o", None, {"OPENAI_BASE_URL": "http://127.0.0.1:8000/v1"}),
    ("anthropic/claude-3-haiku-20240307", None, {"ANTHROPIC_API_BASE": "https://proxy.example"}),
]


def test_a_price_that_is_not_known_is_none() -> None:
    for model, api_base, environment in WITHOUT_PRICE:
        assert price_of(model, api_base=api_base, environment=environment) is None, (model, api_base)


def test_simulated_coders_are_free_whatever_their_tokens() -> None:
    price = price_of("simulated/weak", api_base=None, environment={})
    assert price is not None
    assert price.of(None, None) == 0.0
    assert not price.reasoning
    assert Price(prompt=0.0, completion=1.0).of(None, 1) is None


SECRET = "sk-planted-0123456789abcdef"


def test_secrets_are_found_by_the_name_of_their_variable() -> None:
    environment = {
        "OPENAI_API_KEY": SECRET,
        "GH_TOKEN": "t" * 20,
        "KEYMAP": "us",
        "GIT_AUTHOR_NAME": "n" * 20,
        "HOME": "/somewhere/long/enough",
    }
    assert known_secrets(environment) == (SECRET, "t" * 20)


@pytest.mark.parametrize(
    ("message", "secret"),
    [
        (f"bad key {SECRET}", SECRET),
        (f"bad key {SECRET[:14]}...", SECRET),
        (f"bad key ...{SECRET[-9:]}", SECRET),
        ("bad key sk-someoneelse", "sk-someoneelse"),
        ("Authorization: Bearer abc", "Bearer abc"),
        ("GET /v1?api_key=abc&x=1", "api_key=abc"),
        *[("0123456789abcdefghijklmnopqrstuvwxyzABCDEFGH",) * 2],
    ],
)
def test_reasons_hold_no_key_and_no_piece_of_one(message: str, secret: str) -> None:
    reason = short_reason(message, [SECRET])
    assert not any(secret[i : i + 8] in reason for i in range(len(secret) - 7))


def test_reasons_are_one_short_printable_line() -> None:
    assert short_reason("no\nmodel \x1b[2J gpt", []) == "no model ?[2J gpt"
    assert len(short_reason("word " * 1000, [])) == 160
    assert without_secrets(f"x = '{SECRET}'  # {SECRET[:8]}", [SECRET]) == "x = '[hidden]'  # sk-plant"


METHOD = replace(
    FIRST,
    entry_point="Basket.add",
    signature="(self, item: str, *, count: int = 1) -> None",
    preamble="import math\n\n\nclass Basket:\n\n    def add(self, item: str, *, count: int=1) -> None:\n        ...\n",
    reference=None,
)


def test_a_method_is_asked_for_as_one_of_its_class() -> None:
    prompt = prompt_of(METHOD)
    assert prompt.startswith("Write one complete method of the Python 3 class Basket.\n\nName: add\n")
    assert "Signature: def add(self, item: str, *, count: int=1) -> None\n" in prompt
    assert "```python\nimport math\n\n\nclass Basket:\n" in prompt
    assert "$" not in prompt
    assert prompt_hash(METHOD) != prompt_hash(FIRST)


HEADERS = [
    ("(item: str) -> int", "", "def add(self, item: str) -> int"),
    ("()", "", "def add(self)"),
    ("(*items)", "", "def add(self, *items)"),
    ("(self)", "", "def add(self)"),
    ("(cls, item)", "class Other:\n    def add(self, x): ...\n", "def add(cls, item)"),
    ("(item)", "class Basket:\n    @staticmethod\n    def add(item): ...\n", "def add(item)"),
    ("(item)", "class Basket:\n    async def add(self, item) -> 'x': ...\n", "async def add(self, item) -> 'x'"),
    ("(selfish)", "class Basket(", "def add(self, selfish)"),
]


def test_the_first_line_of_a_method_is_as_its_class_has_it() -> None:
    for signature, preamble, header in HEADERS:
        assert method_header(replace(METHOD, signature=signature, preamble=preamble)) == header


def test_a_coroutine_function_is_asked_for_as_such() -> None:
    plain = prompt_of(FIRST)
    asked = prompt_of(replace(FIRST, prompt="async def first(items: list) -> object: ..."))
    assert asked == plain.replace("Signature: def first(", "Signature: async def first(")
    assert asked != plain
