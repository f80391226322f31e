"""Model names as their makers write them, for people to read; data, links and commands keep the ids."""

import re
from collections.abc import Callable, Iterable
from typing import Any, Final

import polars as pl

FAMILIES: Final = {
    "Claude": {"claude_opus_4": "Claude Opus 4", "claude_sonnet_4": "Claude Sonnet 4"},
    "DeepSeek": {"deepseek_r1": "DeepSeek R1", "deepseek_v3_0324": "DeepSeek V3"},
    "Gemini": {
        "gemini_2_0_flash_lite": "Gemini 2.0 Flash-Lite",
        "gemini_2_5_flash": "Gemini 2.5 Flash",
        "gemini_2_5_pro": "Gemini 2.5 Pro",
    },
    "GPT": {
        "gpt_3_5": "GPT-3.5 Turbo",
        "gpt_4": "GPT-4",
        "gpt_4_turbo": "GPT-4 Turbo",
        "gpt_4o": "GPT-4o",
        "gpt_o4_mini": "o4-mini",
    },
    "Llama": {
        "llama_3_1_8b_instruct": "Llama 3.1 8B",
        "llama_3_3_70b_instruct": "Llama 3.3 70B",
        "llama_4_maverick_17b": "Llama 4 Maverick",
    },
    "Mistral": {"ministral_8b": "Ministral 8B"},
    "Simulated": {f"simulated/{level}": f"Simulated ({level})" for level in ("strong", "medium", "weak")},
}
"""Family -> id -> name."""
OTHER: Final = ""
"""The family of a model that is not listed."""
_MAKERS: Final = {
    **{family.lower(): family for family in FAMILIES},
    **dict.fromkeys(("o1", "o3", "o4"), "GPT"),
    "ministral": "Mistral",
}
"""How ids of models begin -> family, for models that are not listed."""
_FAMILY_OF: Final = {model: family for family, models in FAMILIES.items() for model in models}
_NAMES: Final = {model: name for family in FAMILIES.values() for model, name in family.items()}


def display_name(model: str) -> str:
    """Return what to call a model on screen: ``gpt_4o`` is GPT-4o; an id that is not listed is shown as it is.

    A mixture, ``gpt_4+gpt_4o``, is GPT-4 + GPT-4o.
    """
    parts = model.split("+")
    return " + ".join(_NAMES[part] for part in parts) if _NAMES.keys() >= set(parts) else model


def family_of(model: str) -> str:
    """Return the family of a model's id or name, GPT of ``gpt_4o``, ``openai/gpt-5`` and GPT-4o; OTHER of others.

    A mixture has a family where all its models have the same.
    """
    families = {_family(part) for part in model.split("+")}
    return families.pop() if len(families) == 1 else OTHER


def _family(model: str) -> str:
    if model in _FAMILY_OF:
        return _FAMILY_OF[model]
    words = [word for word in re.split(r"[^a-z0-9]+", model.lower()) if word]
    return next((_MAKERS[word] for word in words if word in _MAKERS), OTHER)


def with_display_names(frame: pl.DataFrame) -> pl.DataFrame:
    """Return ``frame`` with models' names for their ids; called last, so that what is computed and kept has the ids."""
    return rewrite(frame, ["model"], display_name)


def rewrite(frame: pl.DataFrame, names: Iterable[str], spell: Callable[[Any], str]) -> pl.DataFrame:
    """Return ``frame`` with each value of these columns as the text that ``spell`` makes of it; None stays.

    Not by ``map_elements``: there threads of polars call Python, and if meanwhile another thread turns a frame into
    pandas', as Streamlit does, the process stands still for ever (polars issue 26821).
    """
    spelled = {name: [None if value is None else spell(value) for value in frame[name].to_list()] for name in names}
    return frame.with_columns(pl.Series(name, texts, dtype=pl.String) for name, texts in spelled.items())
