"""Part of the page Check: what a check found, all of it as plain text; and nothing else."""

from collections.abc import Mapping
from typing import Any

import polars as pl
import streamlit as st

from dashboard import text
from difftrust_core.cli.check_text import spelled_call, spelled_pin
from difftrust_core.literals import BadText
from difftrust_core.records import Kind

Report = Mapping[str, Any]
"""A ``CheckReport`` as `difftrust check --json` writes it."""
_TITLES = {
    "incoherent": ":material/error: They disagree",
    "coherent": ":material/check: They agree",
    "undecided": ":material/help: It could not be decided",
}
_VALID = {"quorum": "on which half of the candidates return", "all": "whatever candidates do"}


def show_verdict(report: Report) -> None:
    """Write the verdict, the certified statement, the behaviours, and the smallest inputs that part them."""
    st.subheader(_TITLES[report["verdict"]], anchor=False)
    text.show_sentence(report["statement"])
    for line in _facts(report):
        text.show_small(line)
    _show_clusters(report)
    for number, found in enumerate(report["disagreements"]):
        if found["arguments"] is not None and found["outcomes"] is not None:
            _show_disagreement(report, found, number)
    if report["consensus"] is not None:
        first = report["clusters"][0]
        with st.expander(f"Consensus: what {len(first['candidates'])} of {report['m']} candidates do"):
            text.show_code(report["consensus"])
    text.show_sentence(f"Next best step: {report['next_step']}")
    for note in report["notes"]:
        text.show_small(f"Note: {note}")


def _facts(report: Report) -> list[str]:
    loading = "" if report["n_loading"] == report["m"] else f", {report['n_loading']} of them load"
    types = "within the annotated types" if report["typed"] else "types not checked"
    facts = [
        f"{report['m']} candidates{loading}, {report['n_programs']} distinct programs; {report['n']:,} inputs "
        f"({report['n_distinct']:,} distinct), {types}, {_VALID[report['validity']]}; outcomes agree by the "
        f"{report['equality']} rule; seed {report['seed']}"
    ]
    if report["interval"] is not None and report["incoherence"] is not None:
        interval = report["interval"]
        facts.append(
            f"incoherence {report['incoherence']:.4f}, {interval['level']:.0%} interval "
            f"[{interval['low']:.4f}, {interval['high']:.4f}] over {interval['covers']}"
        )
    return facts


def _show_clusters(report: Report) -> None:
    st.markdown("**Behaviours**: candidates that did the same on every input.")
    rows = [
        {
            "behaviour": cluster["number"],
            "candidates": len(cluster["candidates"]),
            "which": text.one_line(", ".join(cluster["candidates"]), most=300),
            "outcomes": ", ".join(f"{kind} {count:,}" for kind, count in cluster["outcomes"]),
        }
        for cluster in report["clusters"]
    ]
    st.dataframe(pl.DataFrame(rows), hide_index=True)
    with st.expander("The smallest program of each"):
        for cluster in report["clusters"]:
            st.markdown(f"Behaviour {cluster['number']}")
            text.show_code(cluster["code"])


def _show_disagreement(report: Report, found: Mapping[str, Any], number: int) -> None:
    kind = "smallest input" if found["minimal"] else "smallest input found"
    numbers = (found["first"], found["second"])
    with st.container(border=True, key=f"disagreement-{number}"):
        st.markdown(
            f"**{numbers[0]} and {numbers[1]}** differ on {found['n_inputs']:,} of {report['n']:,} inputs; the {kind}:"
        )
        text.show_code(_call(report, found["arguments"]))
        for side, of, (outcome, what) in zip(st.columns(2), numbers, found["outcomes"], strict=True):
            with side:
                st.markdown(f"Behaviour {of}")
                text.show_code(what if outcome == "value" else f"{outcome.replace('_', ' ')} {what}", language=None)
                _show_pin(report, found["arguments"], outcome, what)
        with st.expander("How their programs differ"):
            text.show_code(found["difference"], language="diff")


def _call(report: Report, arguments: str) -> str:
    try:
        return spelled_call(report["task"]["entry_point"], arguments)
    except BadText:
        return arguments


def _show_pin(report: Report, arguments: str, outcome: str, what: str) -> None:
    try:
        pin = spelled_pin(report["task"]["entry_point"], arguments, (Kind[outcome.upper()], what))
    except BadText:
        return
    if pin is not None:
        text.show_small(f"If this is right, say so in the command line: --pin {pin}")
