"""Tasks whose programs cannot be executed are named before anything is paid for."""

from dataclasses import replace
from pathlib import Path

import pytest

import difftrust as dt
from difftrust.pipeline import not_executable
from difftrust_core.datasets.benchmarks import load_benchmark
from tests.support.command import run
from tests.support.evalplus import write_bigcodebench
from tests.support.llm_server import Server
from tests.support.tiny import TASKS

pytestmark = pytest.mark.filterwarnings("ignore:.*ReadOnly:UserWarning")
Capture = pytest.CaptureFixture[str]
SAID = "BigCodeBench: programs of its 2 tasks cannot be executed, for there are no inputs; only `difftrust structure` "


@pytest.fixture
def bigcodebench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_bigcodebench(tmp_path / "data")
    monkeypatch.setenv("DIFFTRUST_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("OPENAI_API_KEY", "none")


@pytest.mark.usefixtures("bigcodebench")
def test_before_the_first_request_it_is_said_what_can_be_compared_only(tmp_path: Path, capsys: Capture) -> None:
    said: list[str] = []

    def note(serial: int, prompt: str) -> str:
        said.append(capsys.readouterr().err)
        return "good"

    store = tmp_path / "store"
    with Server(behaviour=note) as server:
        made = dt.generate("bigcodebench", store=tmp_path / "api", models="openai/local", m=1, api_base=server.url)
        assert made.notes[0].startswith(SAID)
        assert said[0].startswith(SAID)
        server.asked.clear()
        said.clear()
        words = ("generate", "--benchmark", "bigcodebench", "--model", "openai/local", "-m", 1, "--store", store)
        words = (*words, "--api-base", server.url, "--concurrency", 1)
        status, _, err = run(capsys, *words, "--dry-run")
        assert (status, server.asked) == (0, []), err
        assert err.startswith(SAID)
        assert not store.exists()
        status, _, err = run(capsys, *words)
        assert (status, len(server.asked)) == (0, 2)
    assert said[0].startswith(SAID)
    status, out, _ = run(capsys, "structure", "--store", store, "--jobs", 1)  # the command that was named
    assert status == 0
    assert "compared the programs of 2 (coder, task) pairs" in out
    err = run(capsys, "execute", "--store", store, "-n", 5, "--jobs", 1)[2]
    assert "left out, no seed input: BigCodeBench/0, BigCodeBench/1" in err


def test_of_a_benchmark_that_has_inputs_only_the_tasks_without_are_named() -> None:
    some = [*TASKS, *(replace(TASKS[0], task_id=f"tiny/no{i}", seed_inputs=()) for i in range(7))]
    (line,) = not_executable(some)
    assert line.startswith("tiny: programs of tiny/no0, tiny/no1, tiny/no2, tiny/no3, tiny/no4 and 2 more cannot be ")
    assert not_executable(TASKS) == []


@pytest.mark.parametrize("is_there", [False, True])
def test_a_dry_run_needs_no_store_and_makes_none(tmp_path: Path, capsys: Capture, is_there: bool) -> None:
    store = tmp_path / "store"
    if is_there:
        store.mkdir()
    words = ("generate", "--benchmark", "starter", "--model", "gpt-5.4", "-m", 1, "--store", store, "--dry-run")
    status, out, err = run(capsys, *words)
    assert (status, err) == (0, "")
    assert out.startswith(f"gpt-5.4: {len(load_benchmark('starter'))} requests, 0 samples are there; ")
    assert "(300 tokens a reply, its reasoning left out)" in out
    assert store.exists() == is_there
    other = tmp_path / "other"
    other.mkdir()
    (other / "mine.txt").write_text("mine")
    status, _, err = run(capsys, *words[:-2], other, "--dry-run")
    assert (status, err) == (
        2,
        f"difftrust: {other} is there and is no difftrust store; name a new or an empty folder\n",
    )
