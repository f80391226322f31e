"""One task as the page shows it: read once and kept."""

import re

from dashboard.data import Choice, kept
from difftrust_core.report.task_view import TaskView, view_task


def task_names(chosen: Choice) -> list[str]:
    """Return the tasks of the benchmark, 2 before 10."""
    return sorted((task.task_id for task in chosen.pool.tasks), key=_in_order)


def _in_order(name: str) -> list[tuple[int, str]]:
    return [(int(part), "") if part.isdecimal() and part.isascii() else (-1, part) for part in re.split(r"(\d+)", name)]


def read_task(chosen: Choice, task_id: str, models: tuple[str, ...]) -> TaskView:
    """Return all about a task. Raises WrongUsage or TooFewCandidates where there is nothing, saying what to choose."""
    return _read(chosen.counted, task_id, models)


@kept(most=32)
def _read(chosen: Choice, task_id: str, models: tuple[str, ...]) -> TaskView:
    coders = [(model, chosen.temperature) for model in models]
    return view_task(chosen.store, chosen.pool, task_id, coders, m=chosen.m, n=chosen.n)
