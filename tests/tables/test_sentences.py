"""How models, numbers and tables are shown and said: names, percent, few columns, sentences that a hand can check."""

import math
import re
import subprocess
import sys

import polars as pl
import pytest

import difftrust as dt
from difftrust.demo.simulated import SIMULATED
from difftrust.shipped import load_published
from difftrust.tables.names import FAMILIES, OTHER, display_name, family_of, rewrite, with_display_names
from difftrust.tables.page_table import MEASURES, explained, page_table, shown_value
from difftrust.tables.render import in_percent
from difftrust.tables.sentences import compare, headlines, in_words
from difftrust_core.estimates.measures import TASK_SCHEMA


def tasks(**models: list[tuple[float, float]]) -> pl.DataFrame:
    """Return a row a task: (error, incoherence) of each; detected for certain where incoherence is above 0."""
    same = {"benchmark": "x", "temperature": 0.6, "m": 2, "n": 10, "completion_tokens": 5, "n_load_failures": 0}
    rows = [
        dict.fromkeys(TASK_SCHEMA, 0)
        | same
        | {"model": model, "task_id": f"t{i}", "error": error, "functional_error": error, "incoherence": incoherence}
        | {"p_detected": float(incoherence > 0), "detected": incoherence > 0, "p_erroneous": float(error > 0)}
        | {"cost_usd": None if model == "b" else 0.5}
        for model, values in models.items()
        for i, (error, incoherence) in enumerate(values)
    ]
    return pl.DataFrame(rows, schema=TASK_SCHEMA)


BOTH = tasks(a=[(0.0, 0.0), (0.5, 0.4), (0.1, 0.0)], b=[(0.5, 0.5), (0.5, 0.5), (0.5, 0.0)])


def test_a_row_a_model_sorted_by_error() -> None:
    table = compare(BOTH, resamples=200)
    first, second = table.iter_rows(named=True)
    assert (first["model"], second["model"]) == ("a", "b")
    expected = {
        **{"mean_error": 0.2, "mean_incoherence": 0.4 / 3, "detection_rate": 0.5, "undetected_mean_error": 0.05},
        **{"pass_at_1": 0.8, "cost_usd": 1.5, "completion_tokens": 15, "cost_per_1000_tasks": 500},
        "silent_rate": 1 / 3,  # of the tasks one is wrong where all agree
    }
    assert {name: first[name] for name in expected} == pytest.approx(expected)
    assert first["mean_error_low"] < 0.2 < first["mean_error_high"]
    assert second["silent_rate"] == pytest.approx(1 / 3)
    assert second["cost_usd"] is second["cost_per_1000_tasks"] is None
    unknown = compare(BOTH.with_columns(error=pl.lit(None, pl.Float64)), resamples=200)
    assert unknown["silent_rate"].null_count() == 2


def test_the_sentences_say_the_numbers() -> None:
    assert in_words(BOTH) == [
        "A program of a is wrong on 20% of the inputs, the fewest of these 2 models; one of b on 50%, the most.",
        "Disagreement alone detects 58% of the tasks on which a model errs, on average, from 50% (a) to 67% (b); the "
        "others are wrong despite agreement.",
    ]
    assert in_words(BOTH, table=compare(BOTH, resamples=200)) == in_words(BOTH)
    assert in_words(BOTH, with_reference=False) == [
        "Two programs of a disagree on 13% of the inputs, two of b on 33%. Where two disagree, at least one of them is "
        "wrong if the task allows the input."
    ]
    unknown = tasks(a=[(math.nan, 0.25), (math.nan, 0.0)])
    assert in_words(unknown) == ["Two programs of a disagree on 12% of the inputs."]


def test_the_ranking_is_told_from_three_models_on_by_their_names() -> None:
    three = {"gpt_4o": [(0.1, 0.1)], "b": [(0.2, 0.2)], "c": [(0.3, 0.3)]}
    errors, ranking, *_ = in_words(tasks(**three))
    assert errors.startswith("A program of GPT-4o is wrong on 10% of the inputs")
    assert "ranking them by error is one that 3 models may have by chance (Spearman's rho 1.00)" in ranking
    _, ranking, *_ = in_words(tasks(**three, d=[(0.4, 0.4)], e=[(0.5, 0.5)]))
    assert "ranking them by error is very strong (Spearman's rho 1.00)" in ranking


def test_headlines_are_error_detection_and_what_agreement_hides() -> None:
    error, detected, silent = headlines(compare(BOTH, resamples=200))
    assert error.value.startswith("20.0 % [")
    assert error.detail.startswith("a · highest: b, 50.0 %")
    assert detected.value.startswith("50.0 %")
    assert silent.value == "33.3 % [0.8, 90.6]"  # 1 of 3 tasks, Clopper and Pearson
    said = headlines(compare(BOTH, resamples=200), with_reference=False)
    assert [(number.detail, number.value[:6]) for number in said] == [("a", "13.3 %"), ("b", "33.3 %")]
    assert not any("wrong" in number.words or "error" in number.words for number in said)


def test_shares_are_percent_and_intervals_stand_beside_them() -> None:
    assert in_percent(0.0723, 0.051, 0.103) == "7.2 % [5.1, 10.3]"
    assert in_percent(None, 0.1, 0.2) == in_percent(float("nan")) == "undefined"
    assert shown_value("mean_error", 0.07234, (0.052, 0.1049)) == "7.2 % [5.2,\u00a010.5]"
    assert shown_value("mean_error", float("nan")) == ""
    assert shown_value("spearman", 0.7121) == "0.712"
    assert shown_value("usd_per_1000", 3.7) == "$3.70"
    assert shown_value("usd_per_task", 0.0295) == "$0.0295"
    assert shown_value("tasks", 1500) == "1,500"


def parts(made: str, tag: str) -> list[str]:
    """Return what stands in the cells of a table."""
    return re.findall(rf"<{tag}[^>]*>([^<]*)</{tag}>", made)


def test_a_part_of_table_3_is_by_whole_m_in_order() -> None:
    frame = pl.DataFrame({"varied": ["query_budget_m"] * 2, "value": [2.0, 10.0], "mbpp_detection_rate": [0.4, 0.7]})
    assert parts(page_table(frame), "th") == ["m", "MBPP: detected"]
    assert parts(page_table(frame), "td") == ["2", "40.0 %", "10", "70.0 %"]


def test_published_values_and_bounds_need_no_column_and_dollars_and_counts_come_last() -> None:
    dollars = {"usd_per_1000": [2.5], "usd_per_1000_is_lower_bound": [True]}
    ends = {"mean_error_low": [0.05], "mean_error_high": [0.2], "published_mean_error": [0.11]}
    made = page_table(pl.DataFrame({"model": ["<b>"], "tasks": [3], **dollars, "mean_error": [0.1], **ends}))
    assert parts(made, "th") == ["model", "error", "$ per 1,000 tasks", "tasks"]
    assert "10.0 % [5.0,\u00a020.0]<br>" in made
    assert "published 11.0 %" in made
    assert "≥ $2.50" in made
    assert "<b>" not in made


def test_the_frame_stays_exact() -> None:
    table = dt.Table(pl.DataFrame({"model": ["gpt_4o"], "mean_error": [0.123456]}))
    assert {"12.3 %", "GPT-4o"} <= {*parts(table._repr_html_(), "td")}
    assert table.frame.row(0) == ("gpt_4o", 0.123456)


def test_each_measure_is_explained_once() -> None:
    error, incoherence = (MEASURES[name].meaning for name in ("error", "incoherence"))
    line = explained(["model", "mean_error", "error", "mean_incoherence"])
    assert line == f"Measures: **error**: {error}; **incoherence**: {incoherence}."
    assert explained(["model", "tasks"]) == ""


def test_every_published_and_simulated_model_has_a_name_of_its_own() -> None:
    models = [*load_published("table_1")["model"], *SIMULATED]
    names = [display_name(model) for model in models]
    assert len(set(names)) == len(models) == 19
    assert not set(names) & set(models)


def test_names_are_those_of_the_makers_and_other_ids_are_shown_as_they_are() -> None:
    names = {
        **{"gpt_4o": "GPT-4o", "claude_sonnet_4": "Claude Sonnet 4", "llama_3_1_8b_instruct": "Llama 3.1 8B"},
        **{"simulated/medium": "Simulated (medium)", "gpt_4+gpt_4o": "GPT-4 + GPT-4o"},
        **{name: name for name in ("openai/my-model", "mean", "gpt_4+mine", "")},
    }
    shown = with_display_names(pl.DataFrame({"model": list(names), "m": 1}))
    assert shown.to_dict(as_series=False) == {"model": list(names.values()), "m": [1] * len(names)}


def test_a_model_belongs_to_a_family_by_its_id_or_name() -> None:
    for family, models in FAMILIES.items():
        assert {family_of(name) for pair in models.items() for name in pair} == {family}
    others = {"openai/gpt-5-mini": "GPT", "anthropic/claude-haiku-4-5": "Claude", "gpt_4+gpt_4o": "GPT"}
    others |= dict.fromkeys(("gpt_4+claude_opus_4", "mine", ""), OTHER)
    assert {name: family_of(name) for name in others} == others


def test_values_are_spelled_and_none_stays() -> None:
    frame = pl.DataFrame({"name": ["a", None], "list": [[1, 2], []], "n": [1, 2]})
    found = rewrite(frame, ["name", "list"], lambda value: f"<{value}>")
    assert found.to_dict(as_series=False) == {"name": ["<a>", None], "list": ["<[1, 2]>", "<[]>"], "n": [1, 2]}
    assert found.schema == {"name": pl.String, "list": pl.String, "n": pl.Int64}
    assert rewrite(frame.clear(), ["name"], str).schema == frame.schema


MEANWHILE = """
import threading, time
import polars as pl
from difftrust.tables.names import rewrite

frame = pl.concat([pl.DataFrame({name: [str(i) for i in range(200)] for name in "abcdefg"})] * 5, rechunk=False)
end = time.monotonic() + 2

def repeat(act):
    while time.monotonic() < end:
        act()

acts = [frame.to_pandas, lambda: rewrite(frame, ["a", "b", "c"], str.upper)]
threads = [threading.Thread(target=repeat, args=[act], daemon=True) for act in acts * 4]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print("ended")
"""


@pytest.mark.slow
def test_frames_of_pandas_may_be_made_meanwhile() -> None:
    ended = subprocess.run([sys.executable, "-c", MEANWHILE], capture_output=True, text=True, timeout=120)
    assert ended.stdout == "ended\n", ended.stderr
