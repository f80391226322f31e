"""Model names as their makers write them, for people to read; data, links and commands keep the ids."""

from typing import Final

import polars as pl

from difftrust_core.store.schemas import rewrite

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
_NAMES: Final = {model: name for family in FAMILIES.values() for model, name in family.items()}


def display_name(model: str) -> str:
    """Return what to call a model on screen: ``gpt_4o`` is GPT-4o; an id that is not listed is shown as it is.

    A mixture, ``gpt_4+gpt_4o``, is GPT-4 + GPT-4o.
    """
    parts = model.split("+")
    return " + ".join(_NAMES[part] for part in parts) if _NAMES.keys() >= set(parts) else model


def with_display_names(frame: pl.DataFrame, column: str = "model") -> pl.DataFrame:
    """Return ``frame`` with names in a column of ids; called last, so that what is computed and kept has the ids."""
    return rewrite(frame, [column], display_name)
