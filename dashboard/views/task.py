"""One task in one pane: how its programs behave, and on one input why they disagree or are wrong."""

from functools import partial

import polars as pl
import streamlit as st

from dashboard import frame, navigation, prefetch, state, text
from dashboard.components.clusters import show_bars, show_clusters, show_heat_map
from dashboard.components.inputs import forget_input, show_inputs
from dashboard.components.programs import show_all_programs, show_description
from dashboard.data import Choice, passed_tests, read_task, task_names
from dashboard.elements import heading, in_row, show_steps
from difftrust.research.passed_tests import ALL
from difftrust.tasks.clusters import Cluster
from difftrust.tasks.task_sentences import headline
from difftrust.tasks.task_view import TaskView
from difftrust_core.exceptions import TooFewCandidates, WrongUsage

TITLE = "Task"


def draw() -> None:
    """Draw the page: one pane with the task and one input, below it all that the pane leaves out."""
    chosen = frame.open_page(TITLE, "", can_hide_reference=True, settings="folded")
    names = task_names(chosen)
    task_id, models = _choose(chosen, names)
    try:
        task = read_task(chosen, task_id, models)
    except (WrongUsage, TooFewCandidates) as e:
        st.info("Nothing to show for these choices.")
        text.show_sentence(str(e))
        return
    heading(headline(task.clustering, blind=chosen.blind, has_checker=task.has_checker))
    left, right = st.columns((1, 2), gap="medium")
    with left, st.container(gap="xsmall"):
        show_description(chosen, task)
        show_clusters(task, blind=chosen.blind)
    with right, st.container(gap="xsmall"):
        show_inputs(chosen, task)
    _show_statements(chosen, task, models)
    show_bars(task, blind=chosen.blind)
    show_heat_map(task)
    show_all_programs(task)
    here = names.index(task_id)
    beside = [*names[here + 1 : here + 2], *names[max(here - 1, 0) : here]]
    prefetch.STEPS.expect([partial(read_task, chosen, name, models) for name in beside])


def _choose(chosen: Choice, names: list[str]) -> tuple[str, tuple[str, ...]]:
    with in_row("choose-task"):
        task_id = state.choose_one(
            "Task", names, name="task", format_func=text.one_line, width=230, label_visibility="collapsed"
        )
        show_steps("task", names, names.index(task_id), _open_task, shortcuts="pn", noun="task", about=False)
        models = state.choose_several(
            "Models",
            chosen.models,
            name="model",
            format_func=text.model_name,
            placeholder="all models",
            width=330,
            label_visibility="collapsed",
        )
        navigation.show_link("tasks", "All tasks", model=models or None)
    return task_id, tuple(models) or chosen.models


def _open_task(task_id: str) -> None:
    forget_input()
    state.put("task", task_id)


def _show_statements(chosen: Choice, task: TaskView, models: tuple[str, ...]) -> None:
    heading("What this shows")
    for sentence in task.statements:
        text.show_sentence(sentence)
    if chosen.validity == "domain" and task.domain is None:
        kept = "its reference returns a value or, without one, half of the programs do"
        text.show_small(f"This task has no domain: its inputs are those on which {kept}.")
    if not chosen.blind:
        _say_error(task.clustering.clusters, task.clustering.n, by="checker" if task.has_checker else "reference")
        _say_tests(passed_tests(chosen).filter(pl.col("model").is_in(models), task_id=task.task_id))


def _say_error(clusters: tuple[Cluster, ...], n: int, *, by: str) -> None:
    """Say how wrong the programs are, where the reference or the checker tells."""
    wrong = [(cluster.n_wrong, cluster.n_candidates) for cluster in clusters]
    m = sum(count for _, count in wrong)
    if any(inputs is None for inputs, _ in wrong):
        st.markdown("The reference is missing, so the error is unknown.")
        return
    error = sum((inputs or 0) * count for inputs, count in wrong) / (m * n)
    right = sum(count for inputs, count in wrong if inputs == 0)
    how = "Compared with the reference" if by == "reference" else "By the task's checker"
    st.markdown(f"{how}: error {error:.2%}; {right} of {m} programs are right on every input.")


def _say_tests(passed: pl.DataFrame) -> None:
    """Say how many programs pass the task's tests, where the store holds results on them."""
    known = passed.drop_nulls("passed")
    if known.is_empty():
        return
    right = (pl.col("passed") * pl.col("m")).sum().round().cast(pl.Int64)
    counted = known.group_by("tests", maintain_order=True).agg(right, pl.sum("m"), pl.first("n_tests"))
    groups = [row for row in counted.iter_rows() if row[0] != ALL] or counted.rows()
    said = [
        f"{f'{name} ({n_tests})' if n_tests else 'seed inputs'}: {count} of {m}" for name, count, m, n_tests in groups
    ]
    st.markdown(f"Programs that pass the task's tests: {'; '.join(said)}.")
