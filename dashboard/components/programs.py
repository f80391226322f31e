"""Part of a task's page: its description, two programs side by side, and all programs."""

import polars as pl
import streamlit as st

from dashboard import side_by_side, state, text
from dashboard.data import Choice
from dashboard.elements import heading, in_row
from difftrust.tables.names import display_name
from difftrust.tasks.find_texts import commands_for_texts
from difftrust.tasks.task_inputs import ReadInput, spelled_answer
from difftrust.tasks.task_sentences import count_of, domain_in_words
from difftrust.tasks.task_view import REFERENCE_CLUSTER, TaskView
from difftrust.text import without_docstrings
from difftrust_core.store.schemas import REMEDIES

_HIGH = 190
"""Pixels of the box that a description scrolls in."""
_ALL = 60
"""Programs that are listed at the foot of the page."""


def show_description(chosen: Choice, task: TaskView) -> None:
    """Write what was asked for and what the arguments may be, as far as it is known here."""
    described = task.task
    with st.container(height=_HIGH if described else "content", border=described is not None):
        if described is None:
            show_how_to_get_texts(chosen, "The description", table="tasks")
        else:
            if described.language not in ("sql", "stdin"):
                text.show_code(f"def {described.entry_point}{described.signature}:", language="python")
            text.show_code(described.description, language=None)
            if described.language == "sql":
                text.show_small("Tables of the database:")
                text.show_code(described.preamble, language="sql")
    allowed = domain_in_words(task.domain)
    if allowed:
        text.show_small("Domain: the inputs that the task allows")
        with st.container(height=110 if allowed.count("\n") > 2 else "content", border=False):
            text.show_code(allowed, language=None)


def show_how_to_get_texts(chosen: Choice, what: str, *, table: str) -> None:
    """Write in one line that a text is missing, and the command that brings it."""
    commands = commands_for_texts(chosen.benchmark)
    if commands:
        text.show_small(f"{what} is not part of this store. To see it here, run:")
        text.show_code("\n".join(commands), language=None)
    else:
        text.show_small(f"{what} is missing in this store; {REMEDIES[table].replace('`', '')}.")


def show_pair(chosen: Choice, task: TaskView, one: ReadInput | None, *, blind: bool) -> None:
    """Write the programs of two clusters side by side: the two that the input speaks of, unless others are chosen."""
    if task.texts.frame.is_empty():
        if task.task is None and commands_for_texts(chosen.benchmark):
            text.show_small("The programs themselves are not part of this store: the same commands bring them.")
        else:
            show_how_to_get_texts(chosen, "The text of the programs", table="programs")
        return
    numbers = [cluster.number for cluster in task.clustering.clusters]
    has_reference = not blind and task.task is not None and bool(task.task.reference)
    options = [*numbers, *([REFERENCE_CLUSTER] if has_reference else [])]
    usual = (one.first, one.second) if one else (options[0], options[-1])
    sides = []
    with in_row():
        for name, default in zip(("left", "right"), usual, strict=True):
            number = state.choose_one(
                f"{name.capitalize()} program",
                options,
                name=name,
                default=default if default in options else options[min(1, len(options) - 1)],
                format_func=lambda i: _named(task, i),
                label_visibility="collapsed",
                width="stretch",
            )
            sides.append(side_by_side.Side(title=_title(task, number, one), code=_shown(task, number)))
    side_by_side.show_side_by_side(*sides)
    if sides[0].code == sides[1].code:
        text.show_small("The two programs are identical.")
    elif task.language == "python":
        text.show_small("Docstrings are left out; the programs are listed whole below.")


def _title(task: TaskView, number: int, one: ReadInput | None) -> str:
    """Return the name of a program and what it answers on the input."""
    if number == REFERENCE_CLUSTER:
        name = "Reference"
        answer = next((each for each in one.answers if each.is_right), None) if one else None
    else:
        name = f"Cluster {number} ({count_of(task.clustering.clusters[number - 1].n_candidates)})"
        answer = one.answer_of(number) if one else None
    return f"{name} → {spelled_answer(task, answer)}" if answer and answer.kind else name


def _named(task: TaskView, number: int) -> str:
    if number == REFERENCE_CLUSTER:
        return "the reference"
    found = task.texts.smallest(task.clustering.clusters[number - 1].members)
    whose = f": {text.one_line(display_name(found[0][0]), most=40)} {found[1]}" if found else ""
    return f"cluster {number}{whose}"


def _shown(task: TaskView, number: int) -> str:
    code = task.code_of(number) or "# the text of this program is missing"
    return without_docstrings(code) if task.language == "python" else code


def show_all_programs(task: TaskView) -> None:
    """Write the programs of all clusters, each text once."""
    rows = task.programs.frame
    if rows.is_empty():
        return
    heading("Programs")
    texts = rows.group_by("cluster", "code", maintain_order=True).agg(
        pl.len(), pl.col("model").first(), pl.col("sample_index").first()
    )
    with st.expander(
        f"All programs ({texts.height:,} different texts)", key="all-programs", on_change="rerun"
    ) as opened:
        if not opened.open:
            return
        for number, code, count, model, index in texts.head(_ALL).iter_rows():
            more = f" and {count - 1} more" if count > 1 else ""
            text.show_small(f"cluster {number}: {display_name(model)} {index}{more}")
            text.show_code(code, language="python" if task.language == "stdin" else task.language)
        if texts.height > _ALL:
            text.show_small(f"{texts.height - _ALL:,} more are not shown.")
