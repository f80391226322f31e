"""Settings that are not recorded, and the run of a new setting on the page Plan, to its end and cancelled."""

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from dashboard.background import JOBS, Job, Jobs, State, Step
from difftrust_core.datasets.benchmarks import load_benchmark
from difftrust_core.exceptions import WrongUsage
from tests.support.command import executed_samples
from tests.support.pages import click, opened, shown
from tests.support.waiting import until

ASK = "Estimate requests and cost"


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """One right and one wrong solution of one starter task, executed."""
    (task, *_) = load_benchmark("starter")
    wrong = f"def {task.entry_point}(*args):\n    return 'wrong'\n"
    folder = executed_samples(tmp_path, {task.task_id: (task.reference, wrong)}, n=10)
    monkeypatch.setenv("DIFFTRUST_STORE", str(folder))
    return folder


def test_shipped_results_are_never_written_but_the_commands_are_said() -> None:
    at = opened("plan", ask="simulated/weak", ask_m="20")
    words = shown(at)
    assert "difftrust generate --benchmark=HumanEval --model=simulated/weak -m20 --temperature=0.6 --store=DIR" in words
    assert ASK not in {button.label for button in at.button}


@pytest.mark.slow
def test_the_shipped_starter_store_is_never_written_though_it_holds_programs() -> None:
    at = opened("plan", store="starter")
    assert "it comes with difftrust" in shown(at)
    assert ASK not in {button.label for button in at.button}


@pytest.mark.slow
def test_where_it_only_reads_there_is_no_run(monkeypatch: pytest.MonkeyPatch, store: Path) -> None:
    monkeypatch.setenv("DIFFTRUST_READONLY", "1")
    at = opened("plan", benchmark="starter")
    assert "This dashboard is read-only" in shown(at)
    assert [button.label for button in at.button] == []


@pytest.mark.slow
def test_a_link_names_no_model_that_is_not_in_the_list(store: Path) -> None:
    at = opened("plan", benchmark="starter", ask="openai/http://evil.example")
    assert at.selectbox(key="url:ask").value == "simulated/strong"


@pytest.mark.slow
def test_what_is_missing_is_priced_run_cancelled_and_run_to_its_end(store: Path) -> None:
    at = opened("plan", benchmark="starter", ask="simulated/weak", ask_m="2", ask_n="10")
    click(at, ASK)
    assert "**120 requests** for 60 tasks (0 programs are in the store): about **\\$0.00**" in shown(at)
    job = run(at, store)
    until(lambda: job.done > 0 or not job.is_running, 240)
    again = opened("plan", benchmark="starter")  # the page loaded anew finds the run
    assert "Simulated (weak) on starter" in shown(again)
    again.button(key="cancel:missing").click().run()
    until(lambda: not job.is_running, 240)
    assert job.state is State.CANCELLED
    assert not list(store.rglob("*.tmp"))
    warnings = [str(element.value) for element in opened("plan", benchmark="starter").warning]
    assert "Cancelled. Finished work is kept." in "\n".join(warnings)
    at = opened("plan", benchmark="starter", ask="simulated/weak", ask_m="2", ask_n="10")
    click(at, ASK)
    job = run(at, store)
    until(lambda: not job.is_running, 240)
    assert job.state is State.DONE, list(job.lines)
    table = opened("overview", benchmark="starter", m="2", n="10").dataframe[0].value
    assert 0 < table[table["model"] == "Simulated (weak)"].iloc[0]["mean_error"] < 1


def run(at: AppTest, store: Path) -> Job:
    click(at, "Run")
    job = JOBS.find(f"run:{store.resolve()}")
    assert job is not None
    return job


def test_a_job_that_takes_too_long_is_ended_and_a_second_of_its_name_refused() -> None:
    jobs = Jobs()
    words = ("dashboard", "--port", "1", "--host", "127.0.0.1")  # serves, or fails to, for longer than a moment
    job = Job(steps=[Step(label="serve", words=words)], limit=0.3, grace=2.0)
    jobs.start("one", job)
    with pytest.raises(WrongUsage, match="jobs run already"):
        jobs.start("one", Job(steps=[Step(label="serve", words=words)]))
    until(lambda: not job.is_running, 240)
    assert job.state is State.LATE


def test_a_job_that_fails_says_why() -> None:
    job = Job(steps=[Step(label="nothing", words=("execute", "--store", "/nowhere"))])
    Jobs().start("fails", job)
    until(lambda: not job.is_running, 240)
    assert job.state is State.FAILED
    assert "/nowhere" in "\n".join(job.lines)
