"""What a check or a comparison found: as JSON for machines, and in words for a terminal and the dashboard."""

import ast
import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import Any

from difftrust.check.pin import parse_pin
from difftrust.check.report import CheckReport
from difftrust.check.spelling import EFFECTS, field_orders, parts_of, spelled_in, spelled_outcome, typed, value_alone
from difftrust.diff.comparison import DiffReport
from difftrust.diff.revisions import split_where
from difftrust.source.scopes import expression_in
from difftrust.source.values import Names, NotSpelled
from difftrust.text import json_value, printable, quote_word, shorten
from difftrust_core.base.literals import BadText, read_literal
from difftrust_core.base.records import Kind, Outcome
from difftrust_core.exceptions import DifftrustError
from difftrust_core.metrics.equality import Equality

MAX_SHOWN = 300
"""Characters of a pin on the screen; JSON holds all."""
MAX_DIFF_LINES = 40
_MAX_REASONS = 5
Report = Mapping[str, Any]
"""A ``CheckReport`` or ``DiffReport`` as JSON has it."""


def json_of(report: CheckReport | DiffReport, **more: Mapping[str, Any]) -> str:
    """Return the report and ``more`` as one JSON object: kinds by name, NaN as null, hostile characters escaped."""
    return json.dumps({**as_json(report), **more}, indent=1)


def as_json(report: CheckReport | DiffReport) -> Report:
    """Return what ``json_of`` writes as a mapping; all words about a report are made from it."""
    return dict(json_value(asdict(report)))


def call_of(task: Mapping[str, Any], arguments: str) -> str:
    """Return the call of a task's function with an argument tuple, as one types it."""
    return spelled_in(task["preamble"], task["entry_point"], arguments)


def text_of(report: CheckReport | DiffReport, where: str | None = None) -> str:
    """Return the report as lines; what could steer a terminal is escaped.

    ``where``: the function of a check as ``module.py::function``; None where it is not in a file.
    """
    whole = as_json(report)
    lines = _lines_of_check(whole, where) if isinstance(report, CheckReport) else _lines_of_diff(whole)
    return "\n".join(printable(line.expandtabs(4)) for line in lines)


def _lines_of_check(report: Report, where: str | None) -> Iterator[str]:
    yield f"{where or report['task']['entry_point']}: {report['verdict']}"
    yield from map(shorten, standing_of(report))
    yield from facts(report)
    yield report["statement"]
    yield from _contradiction_lines(report)
    yield ""
    yield "Behaviours (candidates that did the same on every input):"
    for cluster in report["clusters"]:
        names = ", ".join(cluster["candidates"])
        yield shorten(f"  {cluster['number']}: {len(cluster['candidates'])} ({names}); {outcomes_of(cluster)}")
    for found in shown_disagreements(report):
        yield from _disagreement_lines(found, report, where)
    yield from _validation_lines(report)
    yield from _excluded_lines(report)
    yield ""
    if report["consensus"] is not None:
        first = report["clusters"][0]["candidates"]
        where_sure = " where nothing is in doubt" if any(not each["stated"] for each in report["validation"]) else ""
        yield f"Consensus: {first[0]}; {len(first)} of {report['m']} candidates do the same{where_sure}"
    elif report["contradictions"]:
        yield "No consensus: every candidate that works contradicts an example"
    yield from map(shorten, closing(report))


def standing_of(report: Report) -> list[str]:
    """Return where the user's own code stands, and the input on which it differs from most others; a line each."""
    own = report["standing"]
    if own is None:
        return []
    name, most = own["name"], report["clusters"][own["against"] - 1]["candidates"] if own["against"] else []
    who = f"{most[0]} and {len(most) - 1} more" if len(most) > 2 else " and ".join(most)
    said = {
        "consensus": f"is in the consensus: {own['n_same']} of {report['m']} candidates do what it does",
        "minority": f"is in the minority: {own['n_same']} of {report['m']} candidates do what it does, and "
        f"{own['n_against']} agree on something else",
        "tied": f"differs from {who}: {own['n_same']} of {report['m']} candidates stand on each side",
        "contradicts": "contradicts an example that says what is right",
        "fails": f"does not work here: {outcomes_of(report['clusters'][own['cluster'] - 1])}",
    }[own["place"]]
    return [
        f"{name[:1].upper()}{name[1:]} {said}",
        *([] if own["place"] == "consensus" else _against(own, who, report)),
    ]


def _against(own: Mapping[str, Any], who: str, report: Report) -> Iterator[str]:
    for found in shown_disagreements(report):
        numbers = [found["first"], found["second"]]
        if sorted(numbers) == sorted([own["cluster"], own["against"]]):
            shown = dict(zip(numbers, outcomes_shown(found, report), strict=True))
            yield f"  {call_of(report['task'], found['arguments'])}"
            yield f"    {own['name']}: {shown[own['cluster']]}"
            yield f"    {who}: {shown[own['against']]}"


def facts(report: Report) -> list[str]:
    """Return what was run, by which rules, and the incoherence with its interval, a line each."""
    loading = "" if report["n_loading"] == report["m"] else f", {report['n_loading']} of them load"
    types = "within the argument types" if report["typed"] else "types not checked"
    is_quorum = report["validity"] == "quorum"
    valid = "on which half of the candidates return" if is_quorum else "whatever candidates do"
    of = "all that are allowed" if report["exhausted"] else f"{report['n_distinct']} distinct"
    lines = [
        f"{report['m']} candidates{loading}, {report['n_programs']} distinct programs; {report['n']} inputs "
        f"({of}) from {len(report['task']['seed_inputs'])} seed inputs",
        f"inputs {types}, {valid}; {compared_by(report)}; seed {report['seed']}",
        *draws_of(report),
    ]
    if report["n_examples"]:
        wrong = len({each["call"] for each in report["contradictions"]})
        several = "1 example says" if report["n_examples"] == 1 else f"{report['n_examples']} examples say"
        lines.append(f"{several} what is right: {wrong or 'none'} contradicted")
    interval = report["interval"]
    if interval is not None:
        lines.append(
            f"incoherence {report['incoherence']:.4f}, {interval['level']:.0%} interval "
            f"[{interval['low']:.4f}, {interval['high']:.4f}] over {interval['covers']}"
        )
    if report["n_witnesses"]:
        lines.append(
            f"{report['n_witnesses']} witnesses in addition (seed inputs as they are, inputs sought): "
            f"{report['n_witnessed']} show a disagreement"
        )
    return lines


def compared_by(report: Report) -> str:
    """Return the rule by which outcomes are equal."""
    if report["equality"] == Equality.VALUE:
        return f"outcomes are compared by value, floats within {report['tolerance']:g} relative"
    return f"outcomes agree by the {report['equality']} rule"


def draws_of(report: Report) -> list[str]:
    """Return how many draws were kept, and why the others were not; nothing where all were."""
    left_out = report["left_out"]
    if not left_out:
        return []
    shown = [f"{count:,} {why}" for why, count in left_out[:_MAX_REASONS]]
    more = sum(count for _, count in left_out[_MAX_REASONS:])
    shown += [f"{more:,} for other reasons"] if more else []
    kept = report["n_draws"] - sum(count for _, count in left_out)
    return [f"kept {kept:,} of {report['n_draws']:,} draws: {', '.join(shown)}"]


def contradictions_of(report: Report) -> list[tuple[str, str, list[str]]]:
    """Return for each contradicted example the call, what is right, and who does what instead, a line each."""
    found: dict[tuple[str, str], list[str]] = {}
    for each in report["contradictions"]:
        want = _one_line(each["want"].strip().removeprefix("Traceback (most recent call last):\n    ...\n")) or "None"
        found.setdefault((each["call"], want), []).append(f"{', '.join(each['candidates'])}: {_one_line(each['got'])}")
    return [(call, want, who) for (call, want), who in found.items()]


def _contradiction_lines(report: Report) -> Iterator[str]:
    for call, want, who in contradictions_of(report):
        yield ""
        yield shorten(f"Contradicts an example: {_one_line(call)}")
        yield shorten(f"    expected: {want}")
        yield from (shorten(f"    {line}") for line in who)


def _one_line(text: str) -> str:
    return " | ".join(text.splitlines())


def validation_of(report: Report) -> list[tuple[str, list[str]]]:
    """Return for each input that was left out while candidates differ the call, why, and who does what, a line each."""
    return [
        (
            call_of(report["task"], each["arguments"]) + (f"  ({each['doubt']})" if each["doubt"] else ""),
            [f"{', '.join(doing['candidates'])}: {_outcome(report, *doing['outcome'])}" for doing in each["doing"]],
        )
        for each in report["validation"]
    ]


def _validation_lines(report: Report) -> Iterator[str]:
    shown = validation_of(report)
    if not shown:
        return
    yield ""
    yield "Candidates differ on inputs that were left out, for the docstring does not say whether they are allowed:"
    for call, doing in shown:
        yield shorten(f"  {call}")
        yield from (shorten(f"    {line}") for line in doing)


def excluded_of(report: Report) -> list[str]:
    """Return what a model's conditions leave out and who does what there, a line each; nothing without conditions."""
    found = report["excluded"]
    if found is None:
        return []
    conditions = " and ".join(found["conditions"])
    lines = [
        f"{found['by']} suggests, and the inputs drawn obey: {conditions} (edit {found['where']})",
        f"of what only that leaves out {found['n_tried']} inputs were run all the same: "
        + (f"the candidates differ on {found['n_differing']}" if found["n_differing"] else "no disagreement"),
    ]
    if found["arguments"] is None:
        return lines
    who = [f"{', '.join(each['candidates'])}: {_outcome(report, *each['outcome'])}" for each in found["doing"]]
    call = call_of(report["task"], found["arguments"])
    return [*lines, f"  {call}", *(f"    {line}" for line in who)]


def _excluded_lines(report: Report) -> Iterator[str]:
    lines = excluded_of(report)
    yield from ["", *map(shorten, lines)] if lines else []


def outcomes_of(cluster: Mapping[str, Any]) -> str:
    """Return on how many inputs a cluster returned a value, raised and so on."""
    return ", ".join(f"{kind} {count}" for kind, count in cluster["outcomes"]) or "no input was kept"


def shown_disagreements(report: Report) -> list[Mapping[str, Any]]:
    """Return the disagreements of which an input is known."""
    return [each for each in report["disagreements"] if each["arguments"] is not None and each["outcomes"] is not None]


def difference_of(found: Mapping[str, Any], report: Report) -> str:
    """Return which two behaviours differ, and on how many inputs; what follows is the smallest of them."""
    kind = "the smallest input" if found["minimal"] else "the smallest input found"
    where = f"{found['n_inputs']} of {report['n']} inputs"
    if not found["n_inputs"]:
        where += f" and {found['n_witnesses']} of {report['n_witnesses']} witnesses"
    return f"{found['first']} and {found['second']} differ on {where}; {kind}:"


def closing(report: Report) -> list[str]:
    """Return what to do next, and the notes."""
    return [f"Next best step: {report['next_step']}", *(f"Note: {note}" for note in report["notes"])]


def _disagreement_lines(found: Mapping[str, Any], report: Report, where: str | None) -> Iterator[str]:
    yield ""
    yield difference_of(found, report)
    yield f"  {shorten(call_of(report['task'], found['arguments']))}"
    numbers = (found["first"], found["second"])
    for number, outcome in zip(numbers, outcomes_shown(found, report), strict=True):
        yield f"    {number}: {shorten(outcome)}"
    if effects := effects_alone(found, report):
        yield f"    {effects}"
    is_file = where is not None and not split_where(where)[0]  # no example is written into a git revision
    for number, pin in zip(numbers, pins_of(found, report), strict=True):
        if where is not None and is_file and pin is not None and len(pin) <= MAX_SHOWN:
            yield f"  if {number} is right: difftrust check {quote_word(where)} --pin {quote_word(pin)}"
    yield from _difference_lines(found["difference"])


def outcomes_shown(found: Mapping[str, Any], report: Report) -> list[str]:
    """Return what each of the two does on the input shown, effects in words."""
    return [_outcome(report, kind, text, found["arguments"]) for kind, text in found["outcomes"]]


def _outcome(report: Report, kind: str, text: str, arguments: str = "") -> str:
    if kind == "value":
        orders = field_orders(report["task"]["preamble"])
        text, arguments = typed(text, orders), typed(arguments, orders)
    return spelled_outcome(kind, text, arguments)


def effects_alone(found: Mapping[str, Any], report: Report) -> str:
    """Return "same result, but b.py changes its argument: [3, 1] -> [1, 3]"; "" where the results differ."""
    (first, one), (second, other) = found["outcomes"]
    if first != "value" or second != "value":
        return ""
    orders = field_orders(report["task"]["preamble"])
    parts = [parts_of(typed(text, orders), typed(found["arguments"], orders)) for text in (one, other)]
    if parts[0][0] != parts[1][0]:
        return ""
    names = [report["clusters"][found[side] - 1]["candidates"][0] for side in ("first", "second")]
    said = [f"{name} {' and '.join(effects)}" for name, (_, *effects) in zip(names, parts, strict=True) if effects]
    return f"same result, but {', '.join(said)}" if said else ""


def pins_of(found: Mapping[str, Any], report: Report) -> list[str | None]:
    """Return for each of the two outcomes what --pin takes to say that it is right.

    None where it cannot be said, for a behaviour that contradicts an example, and where both return the same: an
    example says nothing of effects.
    """
    (first, one), (second, other) = found["outcomes"]
    if first == second == "value" and _same_value(one, other):
        return [None, None]
    task, arguments = report["task"], found["arguments"]
    wrong = {cluster["number"] for cluster in report["clusters"] if cluster["contradicts"]}
    return [
        None if number in wrong else spelled_pin(task, arguments, (Kind[kind.upper()], text))
        for number, (kind, text) in zip((found["first"], found["second"]), found["outcomes"], strict=True)
    ]


def _same_value(one: str, other: str) -> bool:
    """Tell whether an example that says the value of one outcome holds of the other too."""
    try:
        first, second = (read_literal(value_alone(text, listed=True)) for text in (one, other))
    except BadText:
        return False
    return bool(first == second)


def spelled_pin(task: Mapping[str, Any], arguments: str, outcome: Outcome) -> str | None:
    """Return what --pin takes to say that this outcome is right; None where an example cannot say it.

    Values are spelled with the names that the function's module has.
    """
    kind, text = outcome
    if kind not in (Kind.VALUE, Kind.EXCEPTION) or text.startswith(f"{EFFECTS}("):
        return None
    call = call_of(task, arguments)
    try:
        if kind is Kind.VALUE:
            text = typed(value_alone(text, listed=True), field_orders(task["preamble"]))
        pin = parse_pin(f"{call} == {text}" if kind is Kind.VALUE else f"{call} raises {text}", task["entry_point"])
        named = pin.named(Names(ast.parse(task["preamble"])))
    except (DifftrustError, NotSpelled, BadText, SyntaxError):
        return None
    return f"{named.call} == {named.value}" if named.value else f"{named.call} raises {text}"


def _difference_lines(difference: str) -> Iterator[str]:
    """Yield a diff of programs, its first lines."""
    lines = difference.splitlines()
    yield from (f"    {shorten(line)}" for line in lines[:MAX_DIFF_LINES])
    if len(lines) > MAX_DIFF_LINES:
        yield f"    ... {len(lines) - MAX_DIFF_LINES} more lines (all of them with --format json)"


def _lines_of_diff(report: Report) -> Iterator[str]:
    yield f"{report['new']}: {report['verdict']}"
    yield f"compared with {report['old']}"
    yield report["statement"]
    if report["n"]:
        yield (
            f"{report['n']} inputs, {report['n_witnesses']} of them known calls and inputs made for the lines that "
            f"differ; seed {report['seed']}"
        )
    for failed in report["failed_expectations"]:
        yield shorten(f"  not as expected: {failed}")
    for change in report["changes"]:
        yield ""
        yield from _change_lines(change)
    if report["difference"] and (report["changes"] or report["verdict"] == "undecided"):
        yield ""
        yield from _difference_lines(report["difference"])
    yield ""
    yield from map(shorten, closing(report))


def _change_lines(change: Mapping[str, Any]) -> Iterator[str]:
    size = "smallest input" if change["minimal"] else "smallest input found"
    said = (size + ", as expected" * change["expected"], change["note"])
    yield shorten(f"  {change['call']}    ({'; '.join(filter(None, said))})")
    for which, (kind, text) in zip(("old", "new"), change["outcomes"], strict=True):
        yield shorten(f"    {which}: {spelled_outcome(kind, text, change['arguments'])}")
    pin = _pin_of(change)
    if pin and not change["expected"] and len(pin) <= MAX_SHOWN:
        yield f"    if that is intended: --expect {quote_word(pin)}"


def _pin_of(change: Mapping[str, Any]) -> str:
    """Return what --expect takes to say that the new version is right there; "" where it cannot be said."""
    kind, text = change["outcomes"][1]
    if expression_in(change["call"]) is None:  # statements: of an object that was used before
        return ""
    if kind == "exception":
        return f"{change['call']} raises {text.partition('(')[0]}"
    before, old = change["outcomes"][0]
    decides = kind == "value" and "(" not in text and not (before == "value" and _same_value(old, text))
    return f"{change['call']} == {text}" if decides else ""
