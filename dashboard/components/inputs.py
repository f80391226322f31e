"""Part of a task's page: one input, what each cluster does on it, and the two programs that differ there."""

from collections.abc import Sequence
from functools import partial

import streamlit as st

from dashboard import state, text
from dashboard.components.programs import show_pair
from dashboard.data import Choice
from dashboard.elements import in_row, show_steps
from difftrust.tasks.details import DISAGREEING, WRONG
from difftrust.tasks.task_inputs import (
    Answer,
    ReadInput,
    as_test,
    count_inputs,
    read_inputs,
    spelled_answer,
    whose,
)
from difftrust.tasks.task_sentences import PLACES, UNKNOWN_PLACE, count_of, spelled_database, spelled_text, verdict
from difftrust.tasks.task_view import REFERENCE_CLUSTER, TaskView
from difftrust.text import marked_difference
from difftrust_core.store.schemas import REMEDIES

_LISTED = 200
_GROUPS = 12
_HIGH = 175
"""Pixels of the box that many outcomes scroll in."""
_TEXT = 2_000
_SHORT = 50
_LINE = 90
"""Characters of an input in the list."""
_BESIDE = ("input", "left", "right")
"""Parameters that belong to one input."""


@st.fragment
def show_inputs(chosen: Choice, task: TaskView) -> None:
    """Write one input of a list, its outcomes by cluster and the programs; what is chosen here reruns only this."""
    with in_row(align="center", gap="medium"):
        kind = _choose_list(task, blind=chosen.blind)
        found = read_inputs(task, kind)[:_LISTED]
        if any(one.place for one in found) and state.choose_switch(
            "only inside the domain", name="inside", help="Leave out inputs that the task does not allow, or may not."
        ):
            found = [one for one in found if one.place == "domain"]
    one = _choose_input(task, found, blind=chosen.blind) if found else None
    if one is None:
        _say_nothing(task, kind)
    else:
        _show_input(task, one.arguments)
        _say_marks(one, has_checker=task.has_checker)
        _show_answers(task, one, blind=chosen.blind)
    show_pair(chosen, task, one, blind=chosen.blind)


def forget_input() -> None:
    """Take the choice of an input and of two programs out of the URL: another task has others."""
    for name in _BESIDE:
        state.put(name, None)


def _choose_list(task: TaskView, *, blind: bool) -> str:
    has_reference = not blind and task.clustering.reference_labels is not None
    kinds = [WRONG, DISAGREEING] if has_reference else [DISAGREEING]
    usual = next((kind for kind in kinds if count_inputs(task, kind)), kinds[0])
    is_unseen = not count_inputs(task, DISAGREEING) and int(task.clustering.counts.sum()) > 1
    words = {WRONG: "wrong, all agree" if is_unseen else "wrong", DISAGREEING: "disagreeing"}
    return state.choose_one(
        "Inputs",
        kinds,
        name="list",
        default=usual,
        show=st.radio,
        horizontal=True,
        label_visibility="collapsed",
        format_func=lambda kind: f"{words[kind]}: {count_inputs(task, kind):,} of {task.clustering.n:,} inputs",
    )


def _say_nothing(task: TaskView, kind: str) -> None:
    n_inputs = count_inputs(task, kind)
    if not n_inputs and kind == DISAGREEING:
        n_loading = sum(cluster.n_candidates for cluster in task.clustering.clusters if cluster.loads)
        one = "No program loads." if not n_loading else "There is one program; at least two are needed."
        st.markdown("None: all programs agree on every input." if n_loading > 1 else one)
    elif not n_inputs:
        st.markdown("None: no program differs from what is right on any input.")
    else:
        st.markdown("No such input is listed here.")
        text.show_small(f"The inputs of this task are missing; {REMEDIES['inputs'].replace('`', '')}.")


def _choose_input(task: TaskView, found: Sequence[ReadInput], *, blind: bool) -> ReadInput:
    """Return the input that is shown; keys and buttons step through the list."""
    keys = [one.key for one in found]
    of_key = dict(zip(keys, found, strict=True))
    here = keys.index(state.read_one("input", keys, keys[0]))
    with in_row(gap="small"):
        key = state.choose_one(
            "Input",
            keys,
            name="input",
            format_func=lambda key: f"{keys.index(key) + 1} of {len(keys)}: {_in_a_line(task, of_key[key])}",
            label_visibility="collapsed",
            width="stretch",
        )
        show_steps("input", keys, here, partial(_step, keys[0]), shortcuts="kj", noun="input", about=True)
        if not blind:
            _offer_test(task, of_key[key])
    return of_key[key]


def _step(first: str, key: str) -> None:
    forget_input()
    state.put("input", key, first)


def _in_a_line(task: TaskView, one: ReadInput) -> str:
    spelled = spelled_text(one.arguments) if task.language == "stdin" else one.arguments
    return text.one_line(spelled, most=_LINE)


def _say_marks(one: ReadInput, *, has_checker: bool) -> None:
    """Write where the input lies, whether it is the smallest, how many are like it, and what it shows."""
    marks = [PLACES.get(one.place or "", UNKNOWN_PLACE)]
    if one.is_smallest is not None:
        marks.append("smallest found" if one.is_smallest else "shortened, a smaller one may exist")
    if one.n_inputs is not None and one.n_inputs > 1:
        marks.append(f"stands for {count_of(one.n_inputs, 'input')}")
    said = " · ".join(marks)
    shows = verdict(one.kind, one.place, has_checker=has_checker)
    text.show_small(f"{said[:1].upper()}{said[1:]}. {shows}".rstrip())


def _show_answers(task: TaskView, one: ReadInput, *, blind: bool) -> None:
    """Write the outcomes by cluster, and the reference's where no cluster has it."""
    shown = [each for each in one.answers if not blind or REFERENCE_CLUSTER not in each.clusters][:_GROUPS]
    if not shown or _are_said_above_the_programs(task, shown):
        return
    rest = len(one.answers) - len(shown)
    base = _spelled(task, shown[0])
    with st.container(height=_HIGH if len(shown) > 3 else "content", border=False):
        text.show_cards(
            _card(task, each, marked_difference(_spelled(task, each), base), is_right=each.is_right and not blind)
            for each in shown
        )
        if rest > 0 and len(shown) == _GROUPS:
            text.show_small(f"and {count_of(rest, 'more outcome')}, each of fewer programs")
    if task.has_checker and not blind and not any(each.is_right for each in one.answers):
        st.markdown("The checker accepts none of these outcomes.")


def _are_said_above_the_programs(task: TaskView, shown: Sequence[Answer]) -> bool:
    """Tell whether both answers are short and stand above the two programs anyway: these come into view then."""
    is_usual = not {"left", "right"} & set(st.query_params)
    is_short = all(len(_spelled(task, each)) <= _SHORT for each in shown)
    return len(shown) == 2 and is_usual and is_short and not task.texts.frame.is_empty() and not task.has_checker


def _offer_test(task: TaskView, one: ReadInput) -> None:
    if task.language != "python" or task.has_checker:
        return
    written = as_test(task.task.entry_point if task.task else "candidate", one)
    if written is not None:
        with st.popover("Copy as test"):
            text.show_code(written)


def _show_input(task: TaskView, arguments: str) -> None:
    if task.language == "sql":
        with st.container(height=_HIGH):
            text.show_code(spelled_database(arguments), language=None)
        return
    if task.language == "stdin":
        text.show_code(spelled_text(arguments), language=None)
        return
    if len(arguments) <= _LINE:
        return  # the list shows it whole
    name = task.task.entry_point if task.task else "f"
    text.show_code(f"{name}{arguments}" if arguments.startswith("(") else arguments)


def _card(task: TaskView, answer: Answer, pieces: Sequence[tuple[str, bool]], *, is_right: bool) -> text.Card:
    programs, clusters = whose(task, answer)
    if not clusters:
        return text.Card(title="Reference", about="", pieces=pieces)
    note = "" if not is_right else "✓ accepted by the checker" if task.has_checker else "✓ same as the reference"
    return text.Card(title=programs, about=f", {clusters}", pieces=pieces, note=note)


def _spelled(task: TaskView, answer: Answer) -> str:
    return text.cut(spelled_answer(task, answer), line=_TEXT)
