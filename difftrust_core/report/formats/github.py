"""Findings as workflow commands of GitHub Actions, which it shows beside the lines of a change."""

from collections.abc import Sequence

from difftrust_core.base.text import printable
from difftrust_core.report.formats.findings import Finding, lines_of, summary_of

_COMMANDS = {"failed": "error", "undecided": "warning", "refused": "notice"}
_MOST = 4000
"""Characters of a message; GitHub cuts longer ones."""


def github_of(findings: Sequence[Finding]) -> str:
    """Return a command for each function that is not ok, and last a line that counts them."""
    commands = [_command(finding) for finding in findings if finding.status != "ok"]
    return "\n".join([*commands, _data(printable(summary_of(findings)))])


def _command(finding: Finding) -> str:
    title = f"{finding.name.rpartition('::')[2]}: {finding.verdict}"
    named = {"file": finding.path, "line": str(max(1, finding.line)), "title": title}
    properties = ",".join(f"{name}={_property(printable(value))}" for name, value in named.items())
    return f"::{_COMMANDS[finding.status]} {properties}::{_data(chr(10).join(lines_of(finding))[:_MOST])}"


def _data(text: str) -> str:
    """Return a text that ends no command and begins none."""
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
