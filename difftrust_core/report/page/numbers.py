"""The three numbers and the table of a page."""

from dataclasses import dataclass

import polars as pl

from difftrust_core.metrics.intervals.over_tasks import false_trust
from difftrust_core.report.names import display_name
from difftrust_core.report.page.subject import Subject
from difftrust_core.report.render import in_dollars
from difftrust_core.report.sentences import LOWER_BOUND


@dataclass(frozen=True, kw_only=True)
class Number:
    """One number in large letters, and what it says."""

    value: str
    interval: str
    about: str
    more: str = ""


@dataclass(frozen=True, kw_only=True)
class Shown:
    """A table as texts: the first column names the row, the others are numbers."""

    columns: tuple[tuple[str, str], ...]
    """(title, what it means)."""
    rows: tuple[tuple[str, ...], ...]
    note: str = ""


def percent(share: float | None) -> str:
    """Return a share as people compare it: 7.2 %, 41 %; undefined where it is not known."""
    if share is None or share != share:
        return "undefined"
    return f"{100 * share:.1f} %" if share < 0.0995 else f"{100 * share:.0f} %"


def interval(low: float | None, high: float | None) -> str:
    """Return the ends of an interval in percent: [1.2, 4.0]; nothing where it is not known."""
    if low is None or high is None:
        return ""
    digits = 1 if high < 0.0995 else 0
    return f"[{100 * low:.{digits}f}, {100 * high:.{digits}f}]"


def headlines(subject: Subject) -> list[Number]:
    """Return the three numbers that say most: of the model with the lowest error, else of the lowest incoherence."""
    table = subject.table
    known = table.drop_nulls("mean_error")
    if known.is_empty():
        return _without_reference(subject)
    best = known.row(0, named=True)
    name, one = display_name(best["model"]), known.height == 1
    error = Number(
        value=percent(best["mean_error"]),
        interval=interval(best["mean_error_low"], best["mean_error_high"]),
        about="error" if one else "lowest error of a model",
        more=name,
    )
    return [error, _detected(known, name), _silent(subject, best["model"], name)]


def _detected(known: pl.DataFrame, name: str) -> Number:
    best = known.row(0, named=True)
    rates = known.drop_nulls("detection_rate").sort("detection_rate")
    more = name
    if rates.height > 1:
        most = rates.row(-1, named=True)
        more = f"{name}; {percent(most['detection_rate'])} for {display_name(most['model'])}"
    return Number(
        value=percent(best["detection_rate"]),
        interval=interval(best["detection_rate_low"], best["detection_rate_high"]),
        about="of the tasks with an error show it as disagreement",
        more=more,
    )


def _silent(subject: Subject, model: str, name: str) -> Number:
    trust = false_trust(subject.tasks.filter(model=model)).row(0, named=True)
    share, low, high = (trust[column] for column in list(trust)[-3:])
    return Number(
        value=percent(share),
        interval=interval(low, high) if share is not None else "",
        about="of the tasks on which all programs agree are wrong",
        more=f"{name}; {trust['n_erroneous']:,} of {trust['n_coherent']:,} tasks",
    )


def _without_reference(subject: Subject) -> list[Number]:
    table = subject.table.drop_nulls("mean_incoherence").sort("mean_incoherence", "model")
    found = []
    for place, about in ((0, "lowest incoherence of a model"), (-1, "highest incoherence of a model")):
        if not table.is_empty():
            row = table.row(place, named=True)
            ends = interval(row["mean_incoherence_low"], row["mean_incoherence_high"])
            found.append(
                Number(
                    value=percent(row["mean_incoherence"]), interval=ends, about=about, more=display_name(row["model"])
                )
            )
    defined = subject.tasks.drop_nulls("incoherence")
    if not defined.is_empty():
        share = (defined["incoherence"] > 0).mean()
        said = "of the pairs of a model and a task show a disagreement"
        found.append(Number(value=percent(float(share)), interval="", about=said))  # type: ignore[arg-type]
    return found


_COLUMNS = {
    "mean_error": ("error", "how often a program's result differs from the reference's"),
    "mean_incoherence": ("incoherence", "how often two programs of the model disagree; needs no reference"),
    "detection_rate": ("detected", "of the tasks with an error, the share on which programs disagree"),
    "undetected_mean_error": ("undetected", "mean error of the tasks that disagreement does not detect"),
}


def model_table(subject: Subject) -> Shown:
    """Return the models side by side, the lowest error first; columns without a value are left out."""
    table = subject.table
    columns = {name: said for name, said in _COLUMNS.items() if table[name].null_count() < table.height}
    has_pass = table["pass_at_1"].null_count() < table.height
    has_cost = table["cost_usd"].null_count() < table.height and bool((table["cost_usd"].fill_null(0) > 0).any())
    rows = []
    for row in table.iter_rows(named=True):
        cells = [_with_ends(row, name) for name in columns]
        cells += [percent(row["pass_at_1"])] if has_pass else []
        cells += [in_dollars(row["cost_usd"], row["cost_usd_is_lower_bound"])] if has_cost else []
        rows.append((display_name(row["model"]), *cells, f"{row['tasks']:,}"))
    titles = [("model", ""), *columns.values()]
    titles += [("pass@1", "share of programs that are right on every input")] if has_pass else []
    titles += [("cost", "US dollars for all these programs at list prices")] if has_cost else []
    note = f"{LOWER_BOUND}." if has_cost and table["cost_usd_is_lower_bound"].any() else ""
    return Shown(columns=(*titles, ("tasks", "tasks measured")), rows=tuple(rows), note=note)


def _with_ends(row: dict[str, object], name: str) -> str:
    value: float | None = row[name]  # type: ignore[assignment]
    ends = interval(row[f"{name}_low"], row[f"{name}_high"])  # type: ignore[arg-type]
    return f"{percent(value)} {ends}".strip() if value is not None else ""
