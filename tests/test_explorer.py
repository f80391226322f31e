"""Sliders of a notebook: what is shown is the setting's own."""

from typing import Any

import pytest

import difftrust as dt
from difftrust.explorer import Explorer


@pytest.fixture(scope="module")
def explorer() -> Explorer:
    return dt.open().explore(benchmark="HumanEval")


def values(slider: Any) -> list[Any]:
    if not hasattr(slider, "options"):
        return list(range(slider.min, slider.max + 1))
    return [option[1] if isinstance(option, tuple) else option for option in slider.options]


def test_the_numbers_are_those_of_the_ablation(explorer: Explorer) -> None:
    explorer.model.value, explorer.temperature.value, explorer.m.value, explorer.n.value = "gpt_4o", 1.0, 5, 500
    expected = dt.open().ablation(m=5, n=500, temperature=1.0, benchmark="HumanEval").frame
    assert explorer.frame.height == 8
    shared = [name for name in expected.columns if name in explorer.frame.columns]
    assert explorer.frame.select(shared).to_dicts() == expected.select(shared).to_dicts()
    assert "not recorded at this setting: DeepSeek R1" in explorer.notes[0]


@pytest.mark.slow
def test_title_and_picture_follow_each_slider(explorer: Explorer) -> None:
    for slider in (explorer.model, explorer.temperature, explorer.m, explorer.n):
        before = bytes(explorer._chart.value)
        slider.value = next(value for value in values(slider) if value != slider.value)
        assert bytes(explorer._chart.value) != before
        assert bytes(explorer._chart.value).startswith(b"<svg")
    told = explorer._title()
    assert f"m = {explorer.m.value}, n = {explorer.n.value:,}, temperature {explorer.temperature.value:g}" in told
    assert "HumanEval" in told


@pytest.mark.slow
def test_a_model_that_is_not_recorded_is_said_and_nothing_else_lost(explorer: Explorer) -> None:
    explorer.temperature.value, explorer.m.value, explorer.n.value = 0.6, 50, 10_000
    explorer.model.value = "gpt_4"
    assert explorer.frame["model"].to_list() == ["gpt_4o"]
    assert "GPT-4 is not recorded at this setting" in explorer._says()


def test_a_reader_who_runs_nothing_sees_a_picture(explorer: Explorer) -> None:
    data, metadata = explorer._repr_mimebundle_()
    assert data["image/png"].startswith(b"\x89PNG")
    assert metadata["image/png"]["width"] <= 900
    assert "application/vnd.jupyter.widget-view+json" in data
