"""Findings in the formats that people and pipelines read: Markdown, JUnit, SARIF and GitHub's workflow commands."""

import hashlib
import html
import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote
from xml.etree import ElementTree

from difftrust import __version__
from difftrust.outputs.findings import Finding, lines_of, summary_of
from difftrust.text import printable, shorten
from difftrust_core.exceptions import WrongUsage

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
    statuses = Counter(finding.status for finding in findings)
    counts = {"failures": statuses["failed"], "errors": statuses["refused"], "skipped": statuses["undecided"]}
    total = sum(finding.seconds or 0.0 for finding in findings)
    numbers = {"tests": len(findings), **counts}
    return {"name": "difftrust", **{name: str(count) for name, count in numbers.items()}, "time": _seconds(total)}


def _seconds(value: float | None) -> str:
    return f"{value or 0.0:.3f}"


_SIGNS = {"failed": "❌", "undecided": "❔", "refused": "➖", "ok": "✅"}
_MARKDOWN_MOST = 200
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
    shown = printable(shorten(text, _MARKDOWN_MOST))
    ticks = "`" * (1 + max((len(run) for run in re.findall("`+", shown)), default=0))
    return f"{ticks} {shown} {ticks}" if shown.strip() != shown or "`" in shown else f"{ticks}{shown or ' '}{ticks}"


def _words(text: str) -> str:
    """Return a text of ours with names of others in it: nothing of it is Markdown, HTML, a mention or a link."""
    escaped = re.sub(r"([\\`*_{}\[\]()#+!|~<>@:-])", r"\\\1", printable(text))
    return re.sub(r"\\([<>])", lambda found: html.escape(found[1]), escaped)


SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_RULES = {
    "incoherent": "Implementations of one function disagree, so at least one of them is wrong.",
    "disagreement found": "Implementations disagree on an input that was made to find a disagreement.",
    "changed": "Two versions of a function behave differently.",
    "undecided": "What ran does not tell; the message says what would.",
    "refused": "The function could not be run.",
}
_LEVELS = {"failed": "error", "undecided": "warning", "refused": "note"}


def sarif_of(findings: Sequence[Finding]) -> str:
    """Return one run: a rule a verdict, a result for each function that is not ok; paths relative to the project."""
    shown = [finding for finding in findings if finding.status != "ok"]
    rules = [
        {"id": _rule(verdict), "name": verdict.title().replace(" ", ""), "shortDescription": {"text": text}}
        for verdict, text in _RULES.items()
    ]
    run = {
        "tool": {"driver": {"name": "difftrust", "version": __version__, "rules": rules}},
        "columnKind": "unicodeCodePoints",
        "results": [_result(finding) for finding in shown],
    }
    return json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=1)


def _rule(verdict: str) -> str:
    return f"difftrust/{verdict.replace(' ', '-')}"


def _result(finding: Finding) -> dict[str, Any]:
    name = printable(finding.name)
    text = "\n".join([f"{name.rpartition('::')[2]}: {finding.verdict}", *lines_of(finding)])
    place = {
        "physicalLocation": {
            "artifactLocation": {"uri": _uri(finding.path)},
            "region": {"startLine": max(1, finding.line)},
        },
        "logicalLocations": [{"fullyQualifiedName": name, "kind": "function"}],
    }
    # The same function with the same verdict is the same result, though its lines move.
    digest = hashlib.sha256(f"{name}\0{finding.verdict}".encode()).hexdigest()
    return {
        "ruleId": _rule(finding.verdict),
        "ruleIndex": list(_RULES).index(finding.verdict),
        "level": _LEVELS[finding.status],
        "message": {"text": text},
        "locations": [place],
        "partialFingerprints": {"difftrustFunction/v1": digest},
    }


def _uri(path: str) -> str:
    """Return a path as a relative reference; an absolute one as a file's address."""
    plain = Path(path)
    if plain.is_absolute():
        return plain.as_uri()
    spelled = quote(plain.as_posix(), errors="surrogateescape")
    return f"./{spelled}" if ":" in spelled.partition("/")[0] else spelled


def _text_of(findings: Sequence[Finding]) -> str:
    lines = []
    for finding in findings:
        lines.append(printable(f"{finding.name}: {finding.verdict}"))
        if finding.status != "ok":  # one input a function, the rest is a check of its own
            lines += [shorten(f"  {line}") for line in lines_of(replace(finding, inputs=finding.inputs[:1]))]
    return "\n".join([*lines, summary_of(findings)])


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
