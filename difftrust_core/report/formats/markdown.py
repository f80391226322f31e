"""Findings as Markdown, for the summary of a pipeline or a comment on a change."""

import html
import re
from collections.abc import Iterator, Sequence

from difftrust_core.base.text import printable
from difftrust_core.report.formats.findings import Finding, summary_of

_SIGNS = {"failed": "❌", "undecided": "❔", "refused": "➖", "ok": "✅"}
_MOST = 200
"""Characters of an input or an outcome."""
_INPUTS = 5
"""Inputs of a function."""


def markdown_of(findings: Sequence[Finding]) -> str:
    """Return a heading, a section a function that is not ok with its inputs, and the names of those that are."""
    return "\n".join(["### difftrust", "", _words(summary_of(findings)), *_sections(findings)]) + "\n"


def _sections(findings: Sequence[Finding]) -> Iterator[str]:
    for finding in findings:
        if finding.status != "ok":
            yield from ("", f"#### {_SIGNS[finding.status]} {code_span(finding.name)}: {finding.verdict}", "")
            yield _words(finding.message)
            if finding.inputs:
                yield ""
            for each in finding.inputs[:_INPUTS]:
                yield f"- {code_span(each.call)}"
                yield from (f"  - {_words(who)}: {code_span(what)}" for who, what in each.outcomes)
            if len(finding.inputs) > _INPUTS:
                yield f"- and {len(finding.inputs) - _INPUTS} more inputs"
    fine = [finding for finding in findings if finding.status == "ok"]
    if fine:
        yield from ("", "<details><summary>" + f"{_SIGNS['ok']} {len(fine)} without a finding</summary>", "")
        yield from (f"- {code_span(finding.name)}: {finding.verdict}" for finding in fine)
        yield from ("", "</details>")


def code_span(text: str) -> str:
    """Return a text as code on one line, whatever it holds."""
    shown = printable(text) if len(text) <= _MOST else f"{printable(text[: _MOST - 1])}…"
    ticks = "`" * (1 + max((len(run) for run in re.findall("`+", shown)), default=0))
    return f"{ticks} {shown} {ticks}" if shown.strip() != shown or "`" in shown else f"{ticks}{shown or ' '}{ticks}"


def _words(text: str) -> str:
    """Return a text of ours with names of others in it: nothing of it is Markdown, HTML, a mention or a link."""
    escaped = re.sub(r"([\\`*_{}\[\]()#+!|~<>@:-])", r"\\\1", printable(text))
    return re.sub(r"\\([<>])", lambda found: html.escape(found[1]), escaped)
