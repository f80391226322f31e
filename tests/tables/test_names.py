"""Model names: every recorded model has one of its own, and what is not listed stays as it is."""

import polars as pl

from difftrust.demo.simulated import SIMULATED
from difftrust.shipped import load_published
from difftrust.tables.names import FAMILIES, OTHER, display_name, family_of, with_display_names


def test_every_published_and_simulated_model_has_a_name_of_its_own() -> None:
    models = [*load_published("table_1")["model"], *SIMULATED]
    names = [display_name(model) for model in models]
    assert len(set(names)) == len(models) == 19
    assert not set(names) & set(models)


def test_names_are_those_of_the_makers() -> None:
    assert display_name("gpt_4o") == "GPT-4o"
    assert display_name("claude_sonnet_4") == "Claude Sonnet 4"
    assert display_name("llama_3_1_8b_instruct") == "Llama 3.1 8B"
    assert display_name("simulated/medium") == "Simulated (medium)"


def test_other_ids_are_shown_as_they_are() -> None:
    assert display_name("openai/my-model") == "openai/my-model"
    assert display_name("") == ""
    assert display_name("gpt_4+gpt_4o") == "GPT-4 + GPT-4o"
    assert display_name("gpt_4+mine") == "gpt_4+mine"
    frame = pl.DataFrame({"model": ["gpt_4", "mean", "mine"], "error": [0.1, 0.2, 0.3]})
    shown = pl.DataFrame({"model": ["GPT-4", "mean", "mine"], "error": [0.1, 0.2, 0.3]})
    assert with_display_names(frame).equals(shown)


def test_a_model_belongs_to_a_family_by_its_id_or_name() -> None:
    for family, models in FAMILIES.items():
        assert {family_of(name) for pair in models.items() for name in pair} == {family}
    assert family_of("openai/gpt-5-mini") == "GPT"
    assert family_of("anthropic/claude-haiku-4-5") == "Claude"
    assert family_of("gpt_4+gpt_4o") == "GPT"
    assert family_of("gpt_4+claude_opus_4") == OTHER
    assert family_of("mine") == family_of("") == OTHER
