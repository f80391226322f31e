"""A table as a page shows it: headings in words, shares in percent, the main numbers first, published values below."""

import html
import math
from collections.abc import Iterable
from typing import Any, Final, NamedTuple

import polars as pl

from difftrust.tables.render import cell, in_brackets, in_dollars, in_percent


class Measure(NamedTuple):
    """One column: its heading, what it means in a line (empty: the heading says it), and whether it is a share."""

    heading: str
    meaning: str = ""
    is_share: bool = True


_ERROR = Measure("error", "how often a program differs from the reference, over all inputs")
_INCOHERENCE = Measure("incoherence", "how often two programs differ from each other, which needs no reference")
_DETECTED = Measure("detected", "of the erroneous tasks, the share on which programs disagree")
_AGREEING: Final = Measure(
    "wrong although agreeing", "of the tasks on which all programs agree, the share that is wrong"
)
_OF_TABLE_3: Final = {
    "detection_rate": _DETECTED,
    "expenses_usd": Measure("$", is_share=False),
    "over_subsets": Measure("over subsets", "detected, expected over every choice of m of the recorded programs"),
}
"""What Table 3 has of each benchmark."""
MEASURES: Final[dict[str, Measure]] = {
    "mean_error": _ERROR,
    "error": _ERROR,
    "mean_incoherence": _INCOHERENCE,
    "incoherence": _INCOHERENCE,
    "detection_rate": _DETECTED,
    **{
        f"{name.lower()}_{column}": measure._replace(heading=f"{name}: {measure.heading}")
        for name in ("MBPP", "HumanEval")
        for column, measure in _OF_TABLE_3.items()
    },
    "undetected_mean_error": Measure(
        "error of undetected", "mean error of the tasks on which no two programs disagree"
    ),
    "spearman": Measure(
        "Spearman's rho",
        "how well incoherence orders the tasks by their error: 1 is the same order, 0 none",
        is_share=False,
    ),
    "pass_at_1": Measure("pass@1", "the share of programs that are right on every input"),
    "pass_at_5": Measure("pass@5", "the chance that one of five programs is right on every input"),
    "failure": Measure("1 - pass@1", "the share of programs that are wrong on some input"),
    "found": Measure("flagged", "the share of tasks on which programs disagree"),
    "erroneous": Measure("erroneous", "the share of tasks on which a program is wrong"),
    "wrong_although_agreeing": _AGREEING,
    "p_erroneous": _AGREEING,
    "agree_risk": Measure("wrong where all agree", "of the tasks on which all agree, the share wrong"),
    "agree_coverage": Measure("all agree", "the share of tasks on which all programs agree"),
    "agree_risk_by_tests": Measure(
        "wrong by tests where all agree", "the same, where the benchmark's tests say what is wrong"
    ),
    "held_out_coverage": Measure("held out: answered", "answered tasks of the other half"),
    "held_out_risk": Measure("held out: wrong", "wrong answers among those of the other half"),
    "transfer_coverage": Measure("elsewhere: answered", "answered tasks of the other benchmark"),
    "transfer_risk": Measure("elsewhere: wrong", "wrong answers among those of the other benchmark"),
    "detection": Measure("detection", "of the wrong programs, the share with an alarm"),
    "false_alarms": Measure("false alarms", "of the right programs, the share with an alarm"),
    "check_detection": Measure(
        "detected for the model checked",
        "of the tasks on which the model checked errs, the share found",
    ),
    "check_alarms": Measure(
        "alarms in vain", "of the tasks that the model checked solves, the share with a disagreement"
    ),
    "prototype": Measure("prototype", "an earlier measurement of the share detected"),
    "random": Measure("random", "pass@1 of one program taken at random"),
    "consensus": Measure("consensus", "pass@1 of the largest cluster"),
    "after_1": Measure("after 1 answer", "pass@1 of the largest cluster that contradicts no answer of the user"),
    **{f"after_{k}": Measure(f"after {k} answers") for k in range(2, 6)},
    "some_right": Measure("some right", "the share of tasks with a program that is right"),
    "none_left": Measure("none left", "the share of tasks on which every program contradicts an answer"),
    "questions": Measure("questions", "asked per task, at most five", is_share=False),
    "gain_1": Measure("gain of 1 answer", "over the consensus"),
    "gain_5": Measure("gain of 5 answers", "over the consensus"),
    "gain_1_over_random": Measure("gain over a random input", "of the best input, after one answer"),
    "filtered": Measure("filtered", "pass@1 of the largest cluster that passes the public examples"),
    "right_share": Measure("right", "of the pairs, the share judged rightly: not false, missed or undecided"),
    "with_a_threshold": Measure("repetitions with a threshold"),
    "mean_coverage": Measure("answered"),
    "largest_broken": Measure("broken (largest)"),
    "broken_elsewhere": Measure("broken elsewhere"),
    "bound": Measure("bound"),
    "auroc": Measure(
        "AUROC",
        "how often the signal is higher on an erroneous task than on a right one: 0.5 is chance, 1 perfect",
        is_share=False,
    ),
    "gain": Measure("gain", "what the added signal adds to the AUROC", is_share=False),
    "usd_per_1000": Measure("$ per 1,000 tasks", is_share=False),
    "usd_per_task": Measure("$ per task", is_share=False),
    "share outside the domain": Measure("outside the domain"),
    "share detected in the domain": Measure("detected in the domain"),
    "share reference or description at fault": Measure("reference or description at fault"),
    "share error of the programs": Measure("error of the programs"),
}
"""Column -> what it is called and means; what is not here keeps its name, and its number four digits."""
PUBLISHED: Final = "published_"
"""Before the name of a column: its published value."""


def heading_of(column: str) -> str:
    """Return what to call a column at the head of a table."""
    known = MEASURES.get(column)
    return column.replace("_", " ") if known is None else known.heading


def explained(columns: Iterable[str]) -> str:
    """Return the line that explains the measures among ``columns``, each once, in their order; empty without one."""
    known = [measure for name in columns if (measure := MEASURES.get(name)) is not None and measure.meaning]
    said = {measure.heading.split(": ")[-1]: measure.meaning for measure in known}
    return f"Measures: {'; '.join(f'**{name}**: {meaning}' for name, meaning in said.items())}." if said else ""


_BOUND: Final = "_is_lower_bound"
_LAST: Final = ("tasks", "n_tasks", "n_rows", "n_coherent", "n_erroneous", "with_example")
"""Columns that say on how much the others rest."""
_SETTINGS: Final = ("value", "m", "n", "temperature", "bound", "threshold")
"""Columns of settings: as many decimals as they have."""
VARIED: Final = {"query_budget_m": "m", "temperature_t": "temperature", "test_inputs_n": "n"}
"""What a part of Table 3 varies -> what to call it."""
_STYLE: Final = "text-align: {side}; vertical-align: top"


def page_table(frame: pl.DataFrame) -> str:
    """Return ``frame`` as HTML. Columns x_low, x_high, x_is_lower_bound and published_x stand in the cells of x."""
    headings = _headings(frame)
    sides = {name: "right" if frame.schema[name].is_numeric() else "left" for name in headings}
    heads = "".join(_cell("th", sides[name], html.escape(heading)) for name, heading in headings.items())
    rows = [
        "<tr>" + "".join(_cell("td", side, _content(name, row)) for name, side in sides.items()) + "</tr>"
        for row in frame.iter_rows(named=True)
    ]
    return "\n".join(("<table>", f"<thead><tr>{heads}</tr></thead>", "<tbody>", *rows, "</tbody>", "</table>"))


def _cell(tag: str, side: str, text: str) -> str:
    return f'<{tag} style="{_STYLE.format(side=side)}">{text}</{tag}>'


def _content(name: str, row: dict[str, Any]) -> str:
    """Return what stands in the cell of a column, as HTML."""
    text = shown_value(name, row[name], (row.get(f"{name}_low"), row.get(f"{name}_high")))
    text = html.escape(f"≥ {text}" if text and row.get(f"{name}{_BOUND}") else text)
    published = row.get(f"{PUBLISHED}{name}")
    if published is not None and (said := html.escape(shown_value(name, published))):
        text += f'<br><span style="opacity: 0.75">published {said}</span>'
    return text


def _headings(frame: pl.DataFrame) -> dict[str, str]:
    """Return the columns that are columns of the page, in their order there, and what stands at their heads."""
    there = set(frame.columns)
    held = {f"{name}{end}" for name in there for end in ("_low", "_high", _BOUND)}
    held |= {f"{PUBLISHED}{name}" for name in there}
    varied = frame["varied"].unique().to_list() if {"varied", "value"} <= there else []
    left_out = {"varied"} if len(varied) == 1 and varied[0] in VARIED else set()
    names = [name for name in frame.columns if name not in held | left_out]
    return {
        name: VARIED[varied[0]] if name == "value" and left_out else heading_of(name)
        for name in sorted(names, key=_place)
    }


def _place(name: str) -> int:
    """Return where a column stands: what names the row, the measures, dollars, and on how much they rest."""
    if name in _LAST:
        return 3
    return 2 if "usd" in name else 1 if name in MEASURES else 0


def shown_value(
    column: str, value: Any, ends: tuple[float | None, float | None] = (None, None), measure: Measure | None = None
) -> str:
    """Return a value as a page has it: 7.2 % [6.1, 8.4], 0.712, 1,000 or $3.70; what is undefined is empty."""
    if not isinstance(value, float):
        is_count = isinstance(value, int) and not isinstance(value, bool)
        return f"{value:,}" if is_count else cell(value, "html")
    if math.isnan(value):
        return ""
    measure = measure or MEASURES.get(column)
    is_share = column.startswith("share") if measure is None else measure.is_share
    if column in _SETTINGS or column.startswith("median"):
        return f"{value:,g}"
    if "usd" in column:
        return in_dollars(value) if value >= 1 else f"${value:.4g}"
    spelled = in_percent(value, *ends) if is_share else in_brackets(value, *ends)
    return spelled.replace(", ", ",\N{NO-BREAK SPACE}")
