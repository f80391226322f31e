"""The data set of audits: what comes with the project, and how rows are read, checked, settled and used."""

import csv
import hashlib
import json
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

import difftrust as dt
from difftrust.audit_package import complaints, describe
from difftrust.tables.audit_table import cohens_kappa
from difftrust.tables.readings import KINDS
from difftrust.tasks.shrinking import Place
from difftrust_core.base.files import find_shipped
from difftrust_core.base.literals import read_literal
from difftrust_core.base.records import References
from difftrust_core.datasets import audits
from difftrust_core.datasets.audits import (
    FAULTS,
    SETTLED_BY,
    Audit,
    Finding,
    audit_frame,
    load_audits,
    read_audits,
    tasks_left_out,
)
from difftrust_core.datasets.benchmarks import load_benchmark
from difftrust_core.exceptions import BadBenchmark
from difftrust_core.languages.registry import language_of
from tests.tasks.test_descriptions import RUN, _runs, _words

FOLDER = find_shipped("data/audits")
GOOD = {
    **{"benchmark": "HumanEval", "task_id": "HumanEval/13", "finding": "reference wrong", "arguments": "(3, -5)"},
    "why": "Of the common divisors the greatest is positive.",
}


def written(folder: Path, row: dict[str, str]) -> Path:
    path = folder / "rows.csv"
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([row, row.values()])
    return path


def test_every_fault_names_an_input_and_a_reason() -> None:
    """A finding of a fault rests on an argument tuple; nothing found rests on none."""
    assert len(load_audits()) == audit_frame().height > 100
    for audit in load_audits():
        assert audit.why.endswith(".")
        if audit.finding in FAULTS:
            assert type(read_literal(audit.arguments)) is tuple, audit.task_id
        if audit.finding == Finding.NOTHING_FOUND:
            assert audit.arguments == ""


def test_only_faults_are_left_out_and_only_when_asked() -> None:
    """Programs that are all wrong are no fault of the reference."""
    left_out = tasks_left_out("MBPP", References.AUDITED)
    findings = {audit.task_id: audit.finding for audit in load_audits() if audit.benchmark == "MBPP"}
    assert left_out == {name for name, finding in findings.items() if finding in FAULTS}
    assert tasks_left_out("MBPP", References.PUBLISHED) == frozenset()


@pytest.mark.parametrize("benchmark", ["HumanEval", "MBPP"])
def test_deciding_inputs_are_allowed_and_reasons_quote_nothing(
    benchmark: str, shared_data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the task never allowed decides nothing, and no reason repeats seven words of a description."""
    monkeypatch.setenv("DIFFTRUST_DATA", str(shared_data))
    tasks = {task.task_id: task for task in load_benchmark(benchmark)}
    for audit in load_audits():
        if audit.benchmark == benchmark:
            domain = language_of(tasks[audit.task_id]).domain(tasks[audit.task_id])
            assert domain is not None
            assert not audit.arguments or domain.fits(audit.arguments), audit.task_id
            theirs = set(map(tuple, _runs(_words(tasks[audit.task_id].description))))
            for why in (audit.why, audit.why_a, audit.why_b):
                assert theirs.isdisjoint(map(tuple, _runs(_words(why)))), (audit.task_id, RUN)


@pytest.mark.parametrize("change", [{"finding": "odd"}, {"author": "me"}])
def test_a_row_that_cannot_be_read_is_refused_by_line(tmp_path: Path, change: dict[str, str]) -> None:
    with pytest.raises(BadBenchmark, match=r"line 2: expected (one of reference wrong|columns among benchmark)"):
        list(read_audits(written(tmp_path, GOOD | change)))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"task_id": "HumanEval/999"}, "found none of this id"),
        ({"why": "No."}, "found 1 words"),
        ({"why": "word " * 31 + "end."}, "found 32 words"),
        ({"arguments": ""}, "expected the input that decides"),
        ({"arguments": "3"}, "expected a tuple of literals"),
        ({"arguments": "print(3)"}, "expected a tuple of literals"),
        ({"arguments": "('3', 5)"}, "outside by its types"),
        ({"task_id": "HumanEval/41", "arguments": "(-1,)"}, "outside by its condition"),
    ],
)
def test_a_proposed_row_is_checked(tmp_path: Path, change: dict[str, str], said: str) -> None:
    """Without a benchmark on the machine: by its id, its words, and the domain's own condition."""
    for good in (GOOD, GOOD | {"finding": "nothing found", "arguments": ""}):
        assert complaints(written(tmp_path, good)) == []
    (found,) = complaints(written(tmp_path, GOOD | change))
    assert said in found


def test_the_table_counts_what_both_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of four rows three are alike, half of them by chance; one word for everything leaves nothing to measure."""
    assert cohens_kappa("aa", "aa") is cohens_kappa("", "") is None

    def audit(number: int, a: str, b: str, former: str = "") -> Audit:
        finding = Finding(a if a == b else "description admits both")
        own = {"benchmark": "MBPP", "task_id": f"Mbpp/{number}", "arguments": "(1,)", "why": "-", "drawn": False}
        return Audit(**own, finding=finding, former=former, reader_a=a, reader_b=b)  # type: ignore[arg-type]

    wrong, right = "reference wrong", "programs wrong"
    said = [(wrong, wrong, wrong), (wrong, right, wrong), (right, right), (right, right)]
    made = tuple(audit(number, *each) for number, each in enumerate(said))
    monkeypatch.setattr(audits, "load_audits", lambda: made)
    rows = {row["finding"]: row for row in dt.open().table("audits").frame.filter(benchmark="MBPP").to_dicts()}
    assert [rows[wrong][name] for name in ("settled", "reader_a", "reader_b", "both", "changed")] == [1, 2, 1, 1, 1]
    assert rows[wrong]["agreement"] == pytest.approx(2 / 3)
    assert (rows["all"]["agreement"], rows["all"]["kappa"]) == (0.75, 0.5)
    assert rows["nothing found"]["agreement"] is None


def test_the_package_says_what_its_files_hold() -> None:
    """Columns, sizes and checksums of the description are those of the files, and what it is made from is in them."""
    said = json.loads((FOLDER / "datapackage.json").read_text())
    assert said == describe(FOLDER)
    tables = {}
    for resource in said["resources"]:
        content = (FOLDER / resource["path"]).read_bytes()
        assert resource["hash"] == f"sha256:{hashlib.sha256(content).hexdigest()}"
        tables[resource["name"]] = pl.read_csv(FOLDER / resource["path"], infer_schema=False)
        assert tables[resource["name"]].columns == [field["name"] for field in resource["schema"]["fields"]]
    assert list(tables) == ["audits", "domains", "tasks", "outcomes", "undetected", "alarms"]
    allowed = {
        (resource["name"], field["name"]): field["constraints"]["enum"]
        for resource in said["resources"]
        for field in resource["schema"]["fields"]
        if "enum" in field["constraints"]
    }
    assert {name for table, name in allowed if table == "audits" and allowed[table, name] == list(Finding)} == {
        *("finding", "former", "reader_a", "reader_b")
    }
    assert allowed["audits", "settled_by"] == list(SETTLED_BY)
    assert allowed["undetected", "kind"] == list(KINDS)
    assert allowed["undetected", "place"] == list(Place)
    assert tables["tasks"].height == tables["domains"].height == 562
    keys = ["benchmark", "task_id", "arguments"]
    with_input = audit_frame().drop_nulls("arguments").filter(pl.col("arguments") != "").select(keys).unique()
    assert tables["outcomes"].select(keys).unique().sort(keys).equals(with_input.sort(keys))
    assert dt.load_audits().frame.height == tables["audits"].height


@pytest.mark.slow
def test_the_splits_are_those_of_the_tables() -> None:
    study = dt.open()
    for name in ("undetected", "alarms"):
        own = pl.read_csv(FOLDER / f"{name}.csv", infer_schema=False)
        frame = study.table(name).frame.filter(model="all")
        frame = frame.filter(reading="as published") if name == "alarms" else frame
        for row in frame.to_dicts():
            kinds = own.filter(benchmark=row["benchmark"])["kind"].value_counts().rows()
            assert sum(n for _, n in kinds) == row[name]
            assert all(row[kind if kind in row else kind.replace(" ", "_")] == n for kind, n in kinds)


def test_a_recorded_input_inside_the_domain_makes_the_error_one_of_the_domain() -> None:
    """HumanEval/134: no input drawn inside shows it, a recorded one does, and the domain's condition holds there."""
    own = pl.read_csv(FOLDER / "undetected.csv", infer_schema=False)
    row = own.filter(task_id="HumanEval/134", model="gemini_2_5_pro").row(0, named=True)
    assert (row["place"], row["arguments"]) == ("domain", "('Í',)")
    assert row["kind"] == "error of the programs"
    assert own.filter(kind="outside the domain", place="domain").is_empty()


def test_a_stranger_can_read_it_without_difftrust() -> None:
    """The script of the page, by a Python that has nothing installed."""
    page = (FOLDER.parents[1] / "docs" / "audits.md").read_text()
    script = page.split("```python\n")[1].split("```")[0]
    words = [sys.executable, "-I", "-S", "-W", "ignore::ResourceWarning", "-c", script]
    run = subprocess.run(words, cwd=FOLDER.parents[1], capture_output=True, text=True, check=True)
    faulty = sum(audit.finding == Finding.REFERENCE_WRONG for audit in load_audits())
    assert run.stdout.split()[1:] == [str(len(load_audits())), str(faulty)]
