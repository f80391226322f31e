"""What a reply costs: tokens, counted offline, and a dated table of list prices; unknown is None, never 0."""

import functools
import importlib.util
import math
import os
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from difftrust_core.base.files import read_packaged
from difftrust_core.base.plugins import CODERS, plugin_names, require
from difftrust_core.base.task import Task
from difftrust_core.exceptions import DifftrustError, WrongUsage

_PER = 1_000_000


@dataclass(frozen=True, kw_only=True)
class Price:
    """US dollars per million tokens of the prompt and of the completion."""

    prompt: float
    completion: float
    date: str = ""
    """Day of the list price, ISO; empty if the user named the price."""
    reasoning: bool = False
    """Whether tokens of reasoning are billed too: without them the price of a program is a lower bound."""

    def __post_init__(self) -> None:
        if not (0 <= self.prompt < math.inf and 0 <= self.completion < math.inf):  # no budget would hold
            raise WrongUsage(f"a price is a finite number >= 0, got {self.prompt}, {self.completion}; correct --price")

    def of(self, prompt_tokens: int | None, completion_tokens: int | None) -> float | None:
        """Return the dollars of one reply, None if its tokens are unknown (and not free)."""
        if self.prompt == 0 and self.completion == 0:
            return 0.0
        if prompt_tokens is None or completion_tokens is None:
            return None
        return (prompt_tokens * self.prompt + completion_tokens * self.completion) / _PER


FREE = Price(prompt=0.0, completion=0.0)


def price_of(model: str, *, api_base: str | None, environment: Mapping[str, str]) -> Price | None:
    """Return the list price of a litellm model name, None where it is not known.

    It is unknown wherever the request goes to an address of the user's (``api_base``, or the environment variables
    that litellm reads for it): a local server, or a reseller with prices of its own. Simulated coders are free.
    """
    if is_offline(model):
        return FREE
    provider, _, _ = _full_name(model).partition("/")
    moved = [f"{provider.upper()}_{name}" for name in ("API_BASE", "BASE_URL")]
    if api_base or any(environment.get(name) for name in moved):
        return None
    return _table().get(_full_name(model))


def models_with_key(environment: Mapping[str, str]) -> list[str]:
    """Return the models with a list price whose provider's key is in the environment, as litellm names them."""
    return [name for name in _table() if environment.get(f"{name.partition('/')[0].upper()}_API_KEY")]


def _full_name(model: str) -> str:
    """Return the name with its provider: litellm takes a few bare names for OpenAI's and Anthropic's."""
    if "/" in model:
        return model
    return f"{'anthropic' if model.startswith('claude') else 'openai'}/{model}"


@functools.cache
def _table() -> dict[str, Price]:
    return {_full_name(row["model"]): _price(row) for row in _rows()}


@functools.cache
def recorded_prices() -> dict[str, Price]:
    """Return the list prices of the recorded models by their names, as they were when these were sampled.

    GPT-4o's is the one at which the paper counts its expenses.
    """
    return {row["recorded_as"]: _price(row) for row in _rows() if "recorded_as" in row}


def list_price(model: str) -> Price | None:
    """Return the list price of a model of a store, None where it is not known.

    ``model``: the name of a recorded model, or one that litellm knows.
    """
    return recorded_prices().get(model) or price_of(model, api_base=None, environment={})


def is_offline(model: str) -> bool:
    """Tell whether a model is one of a plugin's coders, which answer without a network and cost nothing."""
    return model.partition("/")[0] in plugin_names(CODERS)


def _price(row: dict[str, Any]) -> Price:
    return Price(**{name: row[name] for name in ("prompt", "completion", "date", "reasoning") if name in row})


@functools.cache
def _rows() -> list[dict[str, Any]]:
    text = read_packaged(__package__, "prices.toml")
    rows: list[dict[str, Any]] = tomllib.loads(text)["price"]
    return rows


ENCODING = "o200k_base"
"""GPT-4o's. Every model's tokens are counted with it, so that one recorded program has one number."""
PUBLISHED_WORDING_TOKENS = 90
"""What the published prompt says around a task's signature and description.

The prompt itself is not recorded; its length is what the published expenses leave after the programs and the tasks'
own text: 92 tokens on HumanEval, 90 on MBPP, at each of the three temperatures.
"""
_FOLDER = "TIKTOKEN_CACHE_DIR"


def can_count_tokens() -> bool:
    """Tell whether the tokenizer is installed; where it is not, numbers of tokens are unknown."""
    return all(importlib.util.find_spec(name) for name in ("tiktoken", "litellm"))


def count_tokens(texts: Sequence[str]) -> list[int]:
    """Return the number of tokens of each text. Raises DifftrustError if the tokenizer's file is not installed."""
    encoding = _encoding() if texts else None
    return [len(encoding.encode_ordinary(text)) for text in texts] if encoding else []


def recorded_prompt_tokens(task: Task) -> int:
    """Return the prompt tokens of a recorded candidate: its task's own text, and the wording around it."""
    own = f"def {task.entry_point}{task.signature}:\n{task.description}"
    return count_tokens([own])[0] + PUBLISHED_WORDING_TOKENS


def _encoding() -> Any:
    tiktoken: Any = require("tiktoken", extra="llm", purpose="counting tokens")
    # litellm brings the files along; tiktoken alone would fetch them. It remembers an encoding once it has it.
    found = importlib.util.find_spec("litellm")
    places = found.submodule_search_locations if found else None
    folder = Path(places[0]) / "litellm_core_utils" / "tokenizers" if places else Path()
    if not (folder / "fb374d419588a4632f3f557e76b4b70aebbca790").is_file():
        raise DifftrustError(f"no tokenizer {ENCODING} in {folder}; install the litellm version of requirements.lock")
    before = {_FOLDER: os.environ[_FOLDER]} if _FOLDER in os.environ else {}
    os.environ[_FOLDER] = str(folder)
    try:
        return tiktoken.get_encoding(ENCODING)
    finally:
        del os.environ[_FOLDER]
        os.environ.update(before)
