"""The audits of references: read whole, refused by name where they are not what they must be."""

from pathlib import Path

import pytest

from difftrust_core.base.literals import read_literal
from difftrust_core.base.records import References
from difftrust_core.datasets.audits import FAULTS, Finding, audit_frame, load_audits, read_audits, tasks_left_out
from difftrust_core.datasets.benchmarks import load_benchmark
from difftrust_core.exceptions import BadBenchmark
from difftrust_core.languages.registry import language_of


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
def test_deciding_inputs_fit_the_types_of_the_domain(
    benchmark: str, shared_data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the task never allowed decides nothing."""
    monkeypatch.setenv("DIFFTRUST_DATA", str(shared_data))
    tasks = {task.task_id: task for task in load_benchmark(benchmark)}
    for audit in load_audits():
        if audit.benchmark == benchmark and audit.arguments:
            domain = language_of(tasks[audit.task_id]).domain(tasks[audit.task_id])
            assert domain is not None
            assert domain.fits(audit.arguments), audit.task_id


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('["MBPP"."Mbpp/1"]\nfinding = "odd"\nwhy = "-"', "Mbpp/1: expected a finding of"),
        ('["MBPP"."Mbpp/1"]\nfinding = "nothing found"', "Mbpp/1: expected a text in field 'why'"),
        ("[[x]", "expected TOML"),
    ],
)
def test_a_bad_audit_is_refused_by_name(tmp_path: Path, text: str, said: str) -> None:
    """The error names file, task and field."""
    path = tmp_path / "references.toml"
    path.write_text(text)
    with pytest.raises(BadBenchmark, match=said):
        read_audits(path)
