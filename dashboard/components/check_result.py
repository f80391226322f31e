"""Part of the page Check: the verdict, the clusters, where they differ, and buttons for what a check advises."""

import re
import shlex
from collections.abc import Mapping
from typing import Any

import polars as pl
import streamlit as st

from dashboard import text
from dashboard.components.check_form import ASSUMPTIONS, EXAMPLES, INPUTS, add_line, ask_for, say_right
from dashboard.elements import heading, in_row, show_table
from difftrust.outputs.report_text import (
    Report,
    call_of,
    closing,
    contradictions_of,
    effects_alone,
    excluded_of,
    facts,
    outcomes_of,
    outcomes_shown,
    pins_of,
    shown_disagreements,
    validation_of,
)

_TITLES = {
    "incoherent": ":material/error: The programs disagree",
    "disagreement found": ":material/error: The programs disagree on a seed input",
    "coherent": ":material/check: The programs agree",
    "undecided": ":material/help: Undecided",
}
_OPTION = re.compile(r"--(example|assume) ((?:\"[^\"]*\"|'[^']*')+|\S+)")
_SIZE = re.compile(r" \(-[mn] (\d+)\)")
_FIELDS = {"example": "the example", "assume": "the assumption"}


def show_verdict(report: Report) -> None:
    """Write the verdict and what it says; programs as ``with_names``."""
    heading(_TITLES[report["verdict"]])
    text.show_sentence(_in_words(report))
    text.show_sentence(report["statement"])


def show_result(report: Report, n: int) -> None:
    """Write all else that a check found; programs as ``with_names``. ``n``: the inputs that were asked for."""
    for call, want, who in contradictions_of(report):
        st.markdown("**An example says what is right**, and programs contradict it")
        text.show_code("\n".join([call, f"expected: {want}", *who]), language=None)
    for number, found in enumerate(shown_disagreements(report)):
        _show_disagreement(report, found, number)
    _show_clusters(report)
    _show_left_out(report)
    _show_advice(report, n)
    with st.expander("How this was checked"):
        for line in facts(report):
            text.show_sentence(line)
    if report["consensus"] is not None:
        with st.expander("Consensus program: of the largest cluster that contradicts no example"):
            text.show_code(report["consensus"])


def _in_words(report: Report) -> str:
    """Return which programs behave alike, in one sentence."""
    clusters = report["clusters"]
    if len(clusters) == 1:
        return f"All {report['m']} programs behave alike on {report['n']:,} inputs."
    said = "; ".join(f"cluster {cluster['number']}: {_members(cluster)}" for cluster in clusters)
    return f"{report['m']} programs in {len(clusters)} clusters on {report['n']:,} inputs: {said}."


def _members(cluster: Mapping[str, Any]) -> str:
    """Return the programs of a cluster: "programs 1 and 3", or their names."""
    names = list(cluster["candidates"])
    numbers = [name.removeprefix("program ") for name in names if name.startswith("program ")]
    if len(numbers) == len(names):
        last = f" and {numbers[-1]}" if len(numbers) > 1 else numbers[-1]
        return f"program{'s' if len(numbers) > 1 else ''} {', '.join(numbers[:-1])}{last}"
    return ", ".join(names)


def _show_clusters(report: Report) -> None:
    st.markdown("**Clusters**: programs with the same outcome on every input.")
    rows = [
        {
            "cluster": cluster["number"],
            "programs": len(cluster["candidates"]),
            "which": text.one_line(_members(cluster), most=300),
            "outcomes": outcomes_of(cluster),
        }
        for cluster in report["clusters"]
    ]
    show_table(pl.DataFrame(rows))


def _show_disagreement(report: Report, found: Mapping[str, Any], number: int) -> None:
    """Write one input, and side by side what the two clusters do there, their difference marked."""
    sides = [report["clusters"][found[side] - 1] for side in ("first", "second")]
    with st.container(border=True, key=f"disagreement-{number}"):
        st.markdown(_where(found, report))
        text.show_code(call_of(report["task"], found["arguments"]))
        titles = [
            f"Cluster {side['number']} · {text.one_line(_members(side), most=60)}: {text.one_line(outcome)}"
            for side, outcome in zip(sides, outcomes_shown(found, report), strict=True)
        ]
        text.show_programs([(title, side["code"]) for title, side in zip(titles, sides, strict=True)])
        if effects := effects_alone(found, report):
            text.show_small(effects)
        pins = [(side, pin) for side, pin in zip(sides, pins_of(found, report), strict=True) if pin is not None]
        with in_row():
            for side, pin in pins:
                st.button(
                    f"Cluster {side['number']} is right", key=f"pin:{number}:{side['number']}", on_click=say_right,
                    args=(pin,), help="Writes this outcome into the docstring as an example, and checks again.",
                )  # fmt: skip


def _where(found: Mapping[str, Any], report: Report) -> str:
    kind = "the smallest" if found["minimal"] else "the smallest one found"
    on = f"{found['n_inputs']:,} of {report['n']:,} inputs"
    if not found["n_inputs"]:
        on += f" and {found['n_witnesses']:,} of {report['n_witnesses']:,} seed inputs"
    return f"**Clusters {found['first']} and {found['second']} differ** on {on}; {kind}:"


def _show_left_out(report: Report) -> None:
    """Write inputs that the docstring may not allow and on which programs differ, with what would settle them."""
    for number, ((call, doing), each) in enumerate(zip(validation_of(report), report["validation"], strict=True)):
        st.markdown("**Candidates differ** on an input that was left out: the docstring may not allow it")
        text.show_code("\n".join([call, *doing]), language=None)
        if each["condition"]:
            _show_assumption(each["condition"], key=f"validation:{number}")
        raised = next((d["outcome"][1] for d in each["doing"] if d["outcome"][0] == "exception"), "")
        if raised:
            right = f"{call_of(report['task'], each['arguments'])} raises {raised}"
            _show_suggestion(right, "An exception is right there: check again", EXAMPLES, f"raises:{number}")
    if excluded := excluded_of(report):
        st.markdown("**Left out by conditions that the model suggests**")
        text.show_code("\n".join(excluded), language=None)
        for number, condition in enumerate(report["excluded"]["conditions"]):
            _show_assumption(condition, key=f"excluded:{number}")


def _show_assumption(condition: str, *, key: str) -> None:
    _show_suggestion(condition, "Leave such inputs out: check again", ASSUMPTIONS, key)


def _show_suggestion(line: str, label: str, field: str, key: str) -> None:
    """Write a line for a field, and a button that adds it and checks again."""
    with in_row(align="center"):
        text.show_code(line)
        st.button(label, key=key, on_click=add_line, args=(field, line), width="content")


def _show_advice(report: Report, n: int) -> None:
    next_step, *notes = closing(report)
    text.show_sentence(_for_page(next_step))
    more = next((step for step in INPUTS if step > n), None)
    if more is not None and "more inputs (-n" in next_step:
        st.button(f"Check on {more:,} inputs", key="more-inputs", on_click=ask_for, args=(more,))
    for note in notes:
        text.show_small(note)


def _for_page(advice: str) -> str:
    """Return advice that names options of the command line as the page names them."""
    return _SIZE.sub(r" (\1)", _OPTION.sub(_without_shell, advice))


def _without_shell(found: re.Match[str]) -> str:
    """Return an option's name as the page has it, and its text in double quotes, whatever a shell takes."""
    said = f'"{"".join(shlex.split(found[2]))}"' if found[2][0] in "\"'" else found[2]
    return f"{_FIELDS[found[1]]} {said}"
