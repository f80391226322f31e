"""Part of the page Tasks: which tasks are shown, and in what order."""

from dataclasses import dataclass, replace
from typing import Any

import polars as pl

from dashboard import data, state
from dashboard.data import Choice, Source, kept
from dashboard.elements import in_row
from difftrust.tasks.argument_kinds import KINDS, kinds_of
from difftrust.tasks.find_texts import find_task
from difftrust.tasks.model_matrix import DIFFICULTIES, cells_of, tasks_of_cells

ANY = "any"
_ORDERS = {
    "hard": "hardest first",
    "incoherence": "most incoherent first",
    "name": "by name",
    "model": "by the chosen model",
}
_ONLY = {
    ANY: "all tasks",
    "undetected": "wrong though all agree",
    "detected": "wrong and detected",
    "disagree": "programs disagree",
}
_DIFFICULTIES = {
    ANY: "any",
    "easy": "easy: no model wrong",
    "medium": "medium: up to half wrong",
    "hard": "hard: more than half wrong",
}


@dataclass(frozen=True, kw_only=True)
class Filters:
    """What the widgets say."""

    order: str
    argument: str
    only: str
    difficulty: str
    words: str

    @property
    def order_in_words(self) -> str:
        """Return how tasks are sorted."""
        return _ORDERS[self.order]


def choose(chosen: Choice) -> Filters:
    """Write the widgets; without the reference those that need none."""
    orders = [name for name in _ORDERS if not (chosen.blind and name == "hard")]
    only = [name for name in _ONLY if name in (ANY, "disagree") or not chosen.blind]
    with in_row("filters"):
        argument = _choose(
            "Type of arguments", {ANY: "any", **{kind: kind for kind in KINDS}}, name="args", width=150,
            help="By the types of the arguments. A list of strings is under lists and under strings; nested are lists "
            "and dicts that hold others.",
        )  # fmt: skip
        shown = _choose(
            "Only", {name: _ONLY[name] for name in only}, name="only", width=210,
            help="Tasks on which this happened with some model.",
        )  # fmt: skip
        difficulty = ANY
        if not chosen.blind:
            difficulty = _choose("Difficulty", _DIFFICULTIES, name="difficulty", width=230, help="By the models shown.")
        order = _choose("Sort", {name: _ORDERS[name] for name in orders}, name="sort", width=210)
        words = state.type_text("Search names and descriptions", name="search", width=240)
    return Filters(order=order, argument=argument, only=shown, difficulty=difficulty, words=words)


def _choose(label: str, options: dict[str, str], **drawn: Any) -> str:
    return str(state.choose_one(label, list(options), format_func=options.__getitem__, **drawn))


def everywhere(chosen: Choice) -> list[Choice]:
    """Return this choice in each benchmark of the store that holds results at its temperature."""
    there = [replace(chosen, benchmark=name) for name in data.benchmarks(chosen.source)]
    return [each for each in there if chosen.temperature in each.held.models]


@kept()
def cells(chosen: Choice, everything: bool) -> pl.DataFrame:
    """Return the cells of the benchmark, or of all of the store: ``tasks.model_matrix.cells_of``."""
    choices = everywhere(chosen) if everything else [chosen]
    return cells_of(pl.concat([each.estimates() for each in choices]))


@kept()
def _tasks(chosen: Choice, everything: bool) -> pl.DataFrame:
    found = tasks_of_cells(cells(chosen, everything))
    names = sorted(found.select("benchmark", "task_id").rows(), key=lambda own: (own[0], data.in_order(own[1])))
    by_benchmark = {name: _kinds(chosen.source, name) for name in found["benchmark"].unique()}
    rows = found.select("benchmark", "task_id").rows()
    kinds = [", ".join(kind for kind in KINDS if kind in by_benchmark[name].get(task, ())) for name, task in rows]
    places = pl.DataFrame(names, schema=["benchmark", "task_id"], orient="row").with_row_index("by_name")
    return found.with_columns(arguments=pl.Series(kinds, dtype=pl.String)).join(places, on=["benchmark", "task_id"])


@kept()
def _kinds(source: Source, benchmark: str) -> dict[str, frozenset[str]]:
    return kinds_of(source.store, benchmark)


@kept()
def _descriptions(source: Source, benchmark: str) -> dict[str, str]:
    """Return task id -> description in small letters, of the store or of what is on this machine."""
    if source.store.holds("tasks"):
        return {task.task_id: task.description.lower() for task in source.store.read_tasks(benchmark)}
    names = [task.task_id for task in source.pool(benchmark).tasks]
    found = {name: find_task(benchmark, name) for name in names}
    return {name: task.description.lower() for name, task in found.items() if task}


def find(chosen: Choice, everything: bool, model: str, filters: Filters) -> pl.DataFrame:
    """Return the tasks that the filters leave, in their order: a row each, ``tasks_of_cells`` and arguments.

    Without the reference neither the tasks nor their order depend on it.
    """
    tasks = _tasks(chosen, everything)
    if filters.argument != ANY:
        tasks = tasks.filter(pl.col("arguments").str.split(", ").list.contains(filters.argument))
    if filters.only != ANY:
        tasks = tasks.filter(pl.col(f"n_{filters.only}") > 0)
    if filters.difficulty in DIFFICULTIES:
        tasks = tasks.filter(difficulty=filters.difficulty)
    if filters.words:
        tasks = _search(chosen.source, tasks, filters.words.lower())
    return _sorted(tasks, chosen, everything, model, filters.order)


def _search(source: Source, tasks: pl.DataFrame, words: str) -> pl.DataFrame:
    texts = {name: _descriptions(source, name) for name in tasks["benchmark"].unique()}
    rows = tasks.select("benchmark", "task_id").rows()
    holds = [words in task.lower() or words in texts[name].get(task, "") for name, task in rows]
    return tasks.filter(pl.Series(holds, dtype=pl.Boolean))


def _sorted(tasks: pl.DataFrame, chosen: Choice, everything: bool, model: str, order: str) -> pl.DataFrame:
    if order == "name":
        return tasks.sort("by_name")
    measures = ["incoherence"] if chosen.blind else ["error", "incoherence"]
    if order == "model":
        own = cells(chosen, everything).filter(model=model)
        own = own.select("benchmark", "task_id", *[pl.col(name).alias(f"own_{name}") for name in measures])
        joined = tasks.join(own, on=["benchmark", "task_id"], how="left", maintain_order="left")
        by = [f"own_{name}" for name in measures]
    else:
        joined = tasks
        by = ["mean_incoherence"] if order == "incoherence" else [f"mean_{name}" for name in measures]
    sorted_rows = joined.sort([*by, "by_name"], descending=[*(True for _ in by), False], nulls_last=True)
    return sorted_rows.select(tasks.columns)
