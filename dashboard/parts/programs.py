"""Part of a task's page: what was asked for, the programs of two clusters, and how they differ."""

import streamlit as st

from dashboard import state, text
from dashboard.one_task import OneTask
from difftrust_core.clusters import Cluster
from difftrust_core.pipeline.disagreeing import unified_diff
from difftrust_core.schemas import REMEDIES

_REFERENCE = 0


def show_description(task: OneTask, *, blind: bool) -> None:
    """Write what was asked for, where the store has it."""
    described = task.description
    if described is None:
        text.show_small(f"This store holds no description of its tasks; {_plain(REMEDIES['tasks'])}.")
        return
    if described.language == "sql":
        with st.expander("The tables"):
            text.show_code(described.preamble, language="sql")
    else:
        text.show_code(f"def {described.entry_point}{described.signature}:", language="python")
    text.show_code(described.text, language=None)
    if described.reference and not blind:
        with st.expander("The reference"):
            text.show_code(described.reference, language=described.language)


def show_programs(task: OneTask, *, blind: bool) -> None:
    """Write the smallest program of two clusters and what differs between them."""
    st.subheader("Their programs", anchor=False)
    if task.programs.frame.is_empty():
        st.markdown("This store holds no program texts.")
        text.show_small(f"To see them, {_plain(REMEDIES['programs'])}.")
        return
    numbers = [cluster.number for cluster in task.clustering.clusters]
    has_reference = not blind and task.description is not None and bool(task.description.reference)
    options = [*numbers, *([_REFERENCE] if has_reference else [])]
    sides = st.columns(2)
    texts = []
    for side, name, default in zip(
        sides, ("left", "right"), (options[0], options[min(1, len(options) - 1)]), strict=True
    ):
        with side:
            number = state.choose_one(
                f"Program on the {name}", options, name=name, default=default, format_func=lambda i: _named(task, i)
            )
            texts.append(_text(task, number))
            text.show_code(texts[-1], language=task.language)
    _show_difference(texts[0], texts[1])


def _show_difference(left: str, right: str) -> None:
    if left == right:
        st.markdown("The two texts are the same.")
        return
    with st.expander("What differs, line by line", expanded=True):
        text.show_code(unified_diff(text.plain(left), text.plain(right), ("left", "right")), language="diff")


def _named(task: OneTask, number: int) -> str:
    if number == _REFERENCE:
        return "the reference"
    found = _smallest(task, task.clustering.clusters[number - 1])
    whose = f": {text.one_line(found[0][0], most=40)} {found[1]}" if found else ""
    return f"cluster {number}{whose}"


def _text(task: OneTask, number: int) -> str:
    if number == _REFERENCE:
        return (task.description and task.description.reference) or ""
    found = _smallest(task, task.clustering.clusters[number - 1])
    code = task.programs.code(*found) if found else None
    return "the text is not in the store" if code is None else code


def _smallest(task: OneTask, cluster: Cluster) -> tuple[tuple[str, float], int] | None:
    return task.programs.smallest(cluster.members)


def _plain(remedy: str) -> str:
    return remedy.replace("`", "")
