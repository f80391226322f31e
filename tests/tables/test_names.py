"""Model names: every recorded model has one of its own, and what is not listed stays as it is."""

import subprocess
import sys

import polars as pl
import pytest

from difftrust.demo.simulated import SIMULATED
from difftrust.shipped import load_published
from difftrust.tables.names import FAMILIES, OTHER, display_name, family_of, rewrite, with_display_names


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


MEANWHILE = """
import threading, time
import polars as pl
import pytest
from difftrust.tables.names import rewrite

frame = pl.concat([pl.DataFrame({name: [str(i) for i in range(200)] for name in "abcdefg"})] * 5, rechunk=False)
end = time.monotonic() + 2

def make():
    while time.monotonic() < end:
        frame.to_pandas()

def spell():
    while time.monotonic() < end:
        rewrite(frame, ["a", "b", "c"], str.upper)

threads = [threading.Thread(target=each, daemon=True) for each in [make, spell] * 4]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print("ended")
"""


def test_values_are_spelled_and_none_stays() -> None:
    frame = pl.DataFrame({"name": ["a", None], "list": [[1, 2], []], "n": [1, 2]})
    found = rewrite(frame, ["name", "list"], lambda value: f"<{value}>")
    assert found.to_dict(as_series=False) == {"name": ["<a>", None], "list": ["<[1, 2]>", "<[]>"], "n": [1, 2]}
    assert found.schema == {"name": pl.String, "list": pl.String, "n": pl.Int64}
    assert rewrite(frame.clear(), ["name"], str).schema == frame.schema


@pytest.mark.slow
def test_frames_of_pandas_may_be_made_meanwhile() -> None:
    ended = subprocess.run([sys.executable, "-c", MEANWHILE], capture_output=True, text=True, timeout=120)
    assert ended.stdout == "ended\n", ended.stderr
