"""Every task of the published task set is described in words of our own, and by its signature."""

import ast
import re
from pathlib import Path

import pytest

from difftrust.shipped import load_published
from difftrust.tasks.descriptions import load_descriptions
from difftrust_core.base.task import Task
from difftrust_core.datasets.benchmarks import load_benchmark

RUN = 7
"""Words in a row that no sentence shares with a benchmark's description."""


def test_all_562_tasks_have_a_sentence_and_a_signature() -> None:
    found = load_descriptions()
    assert {benchmark: len(tasks) for benchmark, tasks in found.items()} == {"HumanEval": 150, "MBPP": 412}
    excluded = load_published("excluded_tasks")
    for benchmark, tasks in found.items():
        assert tasks.keys().isdisjoint(excluded.filter(benchmark=benchmark)["task_id"])
        for one in tasks.values():
            ast.parse(f"def {one.signature}: ...")
            assert 5 < len(one.sentence) < 160
            assert one.sentence[-1] in ".?"
            assert "\n" not in one.sentence


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())


@pytest.mark.parametrize("benchmark", ["HumanEval", "MBPP"])
def test_no_sentence_repeats_a_description(benchmark: str, shared_data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DIFFTRUST_DATA", str(shared_data))
    tasks: dict[str, Task] = {task.task_id: task for task in load_benchmark(benchmark)}
    theirs = {tuple(run) for task in tasks.values() for run in _runs(_words(task.description))}
    for task_id, one in load_descriptions()[benchmark].items():
        assert theirs.isdisjoint(map(tuple, _runs(_words(one.sentence)))), task_id
        assert one.signature.startswith(f"{tasks[task_id].entry_point}(")


def _runs(words: list[str]) -> list[list[str]]:
    return [words[at : at + RUN] for at in range(len(words) - RUN + 1)]
