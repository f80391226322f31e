"""The page of a task: its pane, its lists of inputs, what the URL says, and what a hidden reference hides."""

import re
from typing import Any

import pytest

from tests.support.pages import opened, shown

AGREEING = {"task": "HumanEval/122", "model": "gpt_4o"}
SIMULATED = {"store": "starter", "task": "starter/accept_requests"}


def in_url(at: Any, name: str) -> str | None:
    found = at.query_params.get(name)
    return found[0] if isinstance(found, list) else found


def pressed(at: Any, key: str) -> Any:
    (button,) = [button for button in at.button if button.key == key]
    return button.click().run()


def test_the_headline_says_that_all_agree_and_are_wrong() -> None:
    words = shown(opened("task", **AGREEING))
    assert "10 programs behave alike, and differ from the reference on 51 % of inputs" in words
    assert "In the domain · smallest found." in words
    assert "def test_candidate():" in words
    assert not re.search(r"\b1 programs\b|The 1 ", words)


def test_one_program_is_called_one() -> None:
    words = shown(opened("task", store="starter", m="2"))
    assert not re.search(r"\b1 programs\b", words)


def test_keys_step_through_the_inputs_and_the_url_follows() -> None:
    at = opened("task", **AGREEING)
    (before,) = [box.value for box in at.selectbox if box.label == "Input"]
    at = pressed(at, "input:next")
    (after,) = [box.value for box in at.selectbox if box.label == "Input"]
    assert before != after
    assert in_url(at, "input") == after
    at = pressed(at, "input:previous")
    assert "input" not in at.query_params


def test_the_next_task_forgets_the_input_and_keeps_the_model() -> None:
    at = opened("task", **AGREEING, input="266", left="1")
    at = pressed(at, "task:next")
    assert in_url(at, "task") == "HumanEval/123"
    assert in_url(at, "model") == "gpt_4o"
    assert not {"input", "left"} & set(at.query_params)


def test_only_inputs_inside_the_domain_are_left() -> None:
    def listed(**more: str) -> int:
        (box,) = [box for box in opened("task", **AGREEING, **more).selectbox if box.label == "Input"]
        return len(box.options)

    assert listed(inside="yes") == 1 < listed()


def test_two_programs_stand_side_by_side_with_their_answers() -> None:
    words = shown(opened("task", **SIMULATED))
    (sides,) = [line for line in words.split("\n") if line.count('difftrust-side"') == 2]
    titles = re.findall(r"<h4>(.*?)</h4>", sides)
    assert titles == ["Cluster 2 (10 programs) → [True]", "Reference → [False]"]
    assert "<mark>" in sides
    assert 'class="differs"' in sides


def test_two_other_programs_are_chosen_in_the_url() -> None:
    words = shown(opened("task", **SIMULATED, left="1", right="2"))
    titles = re.findall(r"<h4>(.*?)</h4>", words)
    assert [title.partition(" (")[0] for title in titles] == ["Cluster 1", "Cluster 2"]


@pytest.mark.quick(1)
@pytest.mark.parametrize("which", [AGREEING, SIMULATED, {"task": "HumanEval/1"}])
def test_a_hidden_reference_leaves_no_trace(which: dict[str, str]) -> None:
    at = opened("task", **which, blind="yes", list="wrong", right="0")
    words = shown(at).partition("· executed")[2].lower()
    for telling in ("reference", "wrong:", "right on", "differs from", "def test_", "pass the task", "accepts"):
        assert telling not in words, telling
    programs = [box for box in at.selectbox if box.label.endswith("program")]
    assert not any("reference" in str(option) for box in programs for option in box.options)
    (lists,) = [radio for radio in at.radio if radio.label == "Inputs"]
    assert len(lists.options) == 1
    assert all("wrong inputs" not in table.value.columns for table in at.dataframe)


def test_missing_texts_are_one_line_and_a_command() -> None:
    at = opened("task", **AGREEING)
    assert sum("difftrust fetch humaneval" in code.value for code in at.code) == 1
    assert "1 <= len(arr) <= 100 and 1 <= k <= len(arr)" in shown(at)
