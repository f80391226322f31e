"""What a reply costs, from a dated table of list prices; unknown is None, never 0."""

import functools
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources

from difftrust_core.coders.simulated import SIMULATED

_PER = 1_000_000


@dataclass(frozen=True, kw_only=True)
class Price:
    """US dollars per million tokens of the prompt and of the completion."""

    prompt: float
    completion: float
    date: str = ""
    """Day of the list price, ISO; empty if the user named the price."""

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
    if model in SIMULATED:
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
    text = resources.files("difftrust_core.coders").joinpath("prices.toml").read_text(encoding="utf-8")
    return {
        _full_name(row["model"]): Price(prompt=row["prompt"], completion=row["completion"], date=row["date"])
        for row in tomllib.loads(text)["price"]
    }
