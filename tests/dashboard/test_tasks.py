"""The page Tasks without a browser: its filters, its order, its ranking, and what it hides."""

import json
import re
from typing import Any

import pytest

from tests.support.pages import opened, shown


def names(at: Any) -> list[str]:
    return list(at.dataframe[1].value["task_id"])


def cells(at: Any) -> str:
    found = re.search(r"[\d,]+ tasks? x .* cells [^<]*", shown(at))
    assert found
    return found[0]


@pytest.mark.slow
def test_all_cells_of_a_store_are_on_one_page() -> None:
    at = opened("tasks", tasks="all", inputs="reference")
    assert cells(at).startswith("562 tasks x 16 models: of 8,992 cells ")
    assert set(at.dataframe[1].value["benchmark"]) == {"HumanEval", "MBPP"}


@pytest.mark.slow
def test_tasks_are_filtered_by_the_types_of_their_arguments() -> None:
    strings = opened("tasks", args="strings")
    assert all("strings" in kinds for kinds in strings.dataframe[1].value["arguments"])
    assert 10 < len(names(strings)) < len(names(opened("tasks")))
    ranking = strings.dataframe[0].value
    assert list(ranking.columns) == ["model", "right", "error", "incoherence"]
    assert len(ranking) == 16
    assert re.fullmatch(r"\d+\.\d % \[\d+\.\d, \d+\.\d\]", ranking["right"][0])
    shares = [float(each.split()[0]) for each in ranking["right"]]
    assert shares == sorted(shares, reverse=True)


def test_tasks_are_filtered_by_what_happened_and_sorted() -> None:
    hard = opened("tasks", difficulty="hard").dataframe[1].value
    assert (hard["wrong"] > 0.5).all()
    easy = opened("tasks", difficulty="easy").dataframe[1].value
    assert (easy["error"] == 0).all()
    assert names(opened("tasks", sort="name"))[:3] == ["HumanEval/0", "HumanEval/1", "HumanEval/2"]
    by_model = opened("tasks", sort="model", model="gpt_4o").dataframe[1].value["error"].to_list()
    assert by_model == sorted(by_model, reverse=True)
    only = cells(opened("tasks", only="undetected"))
    assert int(only.split()[0]) < 150


def test_picked_tasks_are_shown_alone_everywhere() -> None:
    at = opened("tasks", picked=["HumanEval/0", "HumanEval/1"])
    assert sorted(names(at)) == ["HumanEval/0", "HumanEval/1"]
    assert cells(at).startswith("2 tasks x 16 models: of 32 cells ")


@pytest.mark.parametrize("more", [{}, {"sort": "model"}, {"sort": "hard", "only": "undetected", "difficulty": "hard"}])
def test_hidden_the_reference_shows_in_nothing(more: dict[str, str]) -> None:
    at = opened("tasks", blind="yes", **more)
    assert len(names(at)) == 150  # filters that need the reference are not believed
    shares = at.dataframe[1].value["incoherence"].to_list()
    if more.get("sort") == "model":
        assert shares == sorted(shares, reverse=True)
    for table in at.dataframe:
        assert not {"error", "happened", "wrong", "right"} & set(table.value.columns)
    said = [json.loads(chart.proto.spec) for chart in at.get("vega_lite_chart")]
    assert said
    assert "error" not in json.dumps(said)
    assert "wrong" not in json.dumps(said) + shown(at).split("· executed")[1]
    ranking = [float(each.split()[0]) for each in at.dataframe[0].value["incoherence"]]
    assert ranking == sorted(ranking)
