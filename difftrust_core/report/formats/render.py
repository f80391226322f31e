"""Findings in the format that is asked for."""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, replace
from typing import Final

from difftrust_core.base.text import printable
from difftrust_core.exceptions import WrongUsage
from difftrust_core.report.check_text import MAX_SHOWN
from difftrust_core.report.formats.findings import Finding, lines_of, summary_of
from difftrust_core.report.formats.github import github_of
from difftrust_core.report.formats.junit import junit_of
from difftrust_core.report.formats.markdown import markdown_of
from difftrust_core.report.formats.sarif import sarif_of


def _text_of(findings: Sequence[Finding]) -> str:
    return "\n".join(_lines(findings))


def _lines(findings: Sequence[Finding]) -> Iterator[str]:
    for finding in findings:
        yield printable(f"{finding.name}: {finding.verdict}")
        if finding.status != "ok":  # one input a function, the rest is a check of its own
            yield from (_cut(f"  {line}") for line in lines_of(replace(finding, inputs=finding.inputs[:1])))
    yield summary_of(findings)


def _cut(text: str) -> str:
    return text if len(text) <= MAX_SHOWN else f"{text[: MAX_SHOWN - 1]}…"


def _json_of(findings: Sequence[Finding]) -> str:
    return json.dumps([asdict(finding) for finding in findings], indent=1)


FORMATS: Final[dict[str, Callable[[Sequence[Finding]], str]]] = {
    "text": _text_of,
    "json": _json_of,
    "junit": junit_of,
    "sarif": sarif_of,
    "github": github_of,
    "markdown": markdown_of,
}


def render(findings: Sequence[Finding], style: str) -> str:
    """Return what was found of several functions in the format ``style``. Raises WrongUsage for another."""
    if style not in FORMATS:
        raise WrongUsage(f"expected a format of {', '.join(FORMATS)}, got {style!r}; choose one of these")
    return FORMATS[style](findings)
