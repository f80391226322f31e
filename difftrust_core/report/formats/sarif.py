"""Findings as SARIF 2.1.0 (OASIS), which code scanning shows beside the lines of a function."""

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from difftrust_core import __version__
from difftrust_core.base.text import printable
from difftrust_core.report.formats.findings import Finding, lines_of

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
