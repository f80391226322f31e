"""Findings as JUnit XML, a test case a function, as test reports of pipelines read it."""

from collections.abc import Sequence
from xml.etree import ElementTree

from difftrust_core.base.text import printable
from difftrust_core.report.formats.findings import Finding, lines_of

_CHILD = {"failed": "failure", "undecided": "skipped", "refused": "error"}
"""Of a test case: undecided is no failure, and not a success."""


def junit_of(findings: Sequence[Finding]) -> str:
    """Return one ``testsuite``: failed is a failure, undecided is skipped, refused is an error; seconds as time."""
    suite = ElementTree.Element("testsuite", _counts(findings))
    for finding in findings:
        path, _, name = printable(finding.name).rpartition("::")
        where = {"classname": path.removesuffix(".py").replace("/", "."), "name": name}
        place = {"file": printable(finding.path), "line": str(finding.line), "time": _seconds(finding.seconds)}
        made = ElementTree.SubElement(suite, "testcase", where | place)
        if finding.status != "ok":
            said = {"message": printable(f"{finding.verdict}: {finding.message}"), "type": finding.verdict}
            ElementTree.SubElement(made, _CHILD[finding.status], said).text = "\n".join(lines_of(finding))
    root = ElementTree.Element("testsuites", _counts(findings))
    root.append(suite)
    ElementTree.indent(root)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + ElementTree.tostring(root, encoding="unicode")


def _counts(findings: Sequence[Finding]) -> dict[str, str]:
    statuses = [finding.status for finding in findings]
    numbers = {"failures": "failed", "errors": "refused", "skipped": "undecided"}
    counts = {name: str(statuses.count(status)) for name, status in numbers.items()}  # type: ignore[arg-type]
    total = sum(finding.seconds or 0.0 for finding in findings)
    return {"name": "difftrust", "tests": str(len(findings)), **counts, "time": _seconds(total)}


def _seconds(value: float | None) -> str:
    return f"{value or 0.0:.3f}"
