"""What keeps a model from being asked is said at once, in one line that names what mends it; keys are never in it.

Tasks whose programs cannot be executed are named before anything is paid for.
"""

import re
import socket
import time
from dataclasses import replace
from pathlib import Path

import pytest

import difftrust as dt
from difftrust.pipeline import not_executable
from difftrust_core.datasets.benchmarks import load_benchmark
from difftrust_core.exceptions import WrongUsage
from difftrust_core.generation.generate import generate
from difftrust_core.generation.missing import Generation, GenerationOptions
from difftrust_core.generation.providers import (
    address_of,
    check_address,
    check_model,
    key_variable,
    no_connection,
    refused,
)
from difftrust_core.store.store import Store
from tests.generation.asking import KEY, MODEL
from tests.support.command import Capture, run
from tests.support.evalplus import write_bigcodebench
from tests.support.llm_server import Server
from tests.support.tiny import TASKS, silent

pytestmark = pytest.mark.filterwarnings("ignore:.*ReadOnly:UserWarning")
AGAIN = "then run the same command again"


@pytest.fixture
def closed() -> str:
    """Return an address at which nobody listens."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{listening.getsockname()[1]}/v1"


def ask_for_twenty(store: Store, *, model: str = MODEL, api_base: str | None) -> Generation:
    options = GenerationOptions(api_base=api_base, n_jobs=1)  # with the waits of real commands
    return generate(store, TASKS[:1], models=[model], temperature=0.6, m=20, options=options, say=silent)


@pytest.mark.parametrize(
    ("status", "with_key", "line"),
    [
        ("401", True, f"expected OPENAI_API_KEY to hold a valid key, the server answered 401; set it, {AGAIN}"),
        ("401", False, "expected OPENAI_API_KEY to hold a valid key, it is not set and the server answered 401; "),
        ("403", True, "expected a key in OPENAI_API_KEY that may use openai/local, the server answered 403: "),
        ("404", True, "expected a model that the server knows, it answered 404 to openai/local: "),
    ],
)  # fmt: skip
def test_an_answer_that_will_not_change_ends_the_run_at_once_in_one_line(
    store: Store, monkeypatch: pytest.MonkeyPatch, status: str, with_key: bool, line: str
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY) if with_key else monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with Server(behaviour=lambda serial, prompt: status) as server:
        done = ask_for_twenty(store, api_base=server.url)
        assert len(server.asked) <= 8
    assert done.refusal.startswith(line)
    assert done.refusal.endswith("correct --model, or the path in --api-base (most end with /v1)") == (status == "404")
    assert {failure.reason for failure in done.failures} == {done.refusal}
    assert {failure.attempts for failure in done.failures} == {0, 1}
    assert (len(done.failures), done.n_retries) == (20, 0)
    assert "\n" not in done.refusal
    assert not any(KEY[i : i + 8] in done.refusal for i in range(len(KEY) - 7))


def test_a_server_that_is_not_there_is_said_before_anything_is_loaded(store: Store, closed: str) -> None:
    began = time.monotonic()
    with pytest.raises(WrongUsage) as refusal:
        ask_for_twenty(store, api_base=closed)
    assert time.monotonic() - began < 10
    assert str(refusal.value) == (
        f"expected a server at {closed}, the connection was refused; start it or correct --api-base, {AGAIN}"
    )
    assert not list(store.root.rglob("*.jsonl"))


def test_a_server_of_the_environment_that_is_not_there_is_asked_once(
    store: Store, closed: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("OPENAI_BASE_URL", closed)
    done = ask_for_twenty(store, model="gpt-4o", api_base=None)
    assert done.refusal == (
        f"expected a server at {closed}, the connection was refused; start it or correct OPENAI_BASE_URL, {AGAIN}"
    )
    assert (done.n_retries, len(done.failures)) == (0, 20)


def test_a_name_that_nobody_knows(store: Store) -> None:
    with pytest.raises(
        WrongUsage, match=r"at http://no-such-host\.invalid/v1, its name is not known; start it or corr"
    ):
        ask_for_twenty(store, api_base="http://no-such-host.invalid/v1")


@pytest.mark.parametrize(
    ("address", "line"),
    [
        ("127.0.0.1:8000/v1", "got '127.0.0.1:8000/v1'; write http://127.0.0.1:8000/v1"),
        ("ftp://localhost/v1", "write http://localhost/v1"),
        ("http://localhost:port/v1", "expected an address such as http://127.0.0.1:8000/v1 in --api-base; correct it"),
        ("http://me:planted-0123456789-abcdefghij-key@localhost", "keys come from the environment; take them out"),
        ("http://localhost?api_key=planted-0123456789-abcdefghij-key", "keys come from the environment"),
        ("planted-0123456789-abcdefghij-key", "begins with http:// in --api-base, got "),
    ],
)  # fmt: skip
def test_an_address_that_is_none(address: str, line: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with pytest.raises(WrongUsage, match=re.escape(line)) as refusal:
        check_model(MODEL, api_base=address, tasks=[])
    assert not any(KEY[i : i + 8] in str(refusal.value) for i in range(len(KEY) - 7))


def test_a_server_behind_a_proxy_is_left_to_the_first_request(closed: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:3128")
    monkeypatch.delenv("no_proxy", raising=False)
    check_address(closed, "--api-base")
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    with pytest.raises(WrongUsage, match="the connection was refused"):
        check_address(closed, "--api-base")


def test_the_variables_that_hold_keys_and_addresses() -> None:
    assert [key_variable(p) for p in ("openai", "anthropic", "gemini", "together_ai", "xai", "hosted-vllm")] == [
        "OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY", "TOGETHERAI_API_KEY", "XAI_API_KEY",
        "HOSTED_VLLM_API_KEY"]  # fmt: skip
    there = {"OPENAI_API_BASE": "http://a", "OLLAMA_API_BASE": "http://b"}
    assert address_of("openai", "http://c", there) == ("http://c", "--api-base")
    assert address_of("openai", None, there) == ("http://a", "OPENAI_API_BASE")
    assert address_of("ollama", None, there) == ("http://b", "OLLAMA_API_BASE")
    assert address_of("anthropic", None, there) == ("", "")


def test_other_answers_that_will_not_change() -> None:
    def said(status: int, message: str) -> str | None:
        return refused(status, message, "gemini/x", "gemini", None)

    assert "GEMINI_API_KEY to hold a valid key" in str(said(400, "API key not valid. Please pass a valid API key."))
    assert "credit on the account of GEMINI_API_KEY" in str(said(429, "insufficient_quota"))
    assert "credit" in str(said(402, "pay"))
    assert str(said(404, "no")).endswith("correct --model")
    assert [said(*other) for other in ((400, "bad"), (429, "slow down"), (500, "oops"), (408, ""))] == [None] * 4


def test_the_cause_of_a_lost_connection_is_found_below_what_wraps_it() -> None:
    wrapped = ValueError("wrapped")
    wrapped.__cause__ = OSError("outer")
    wrapped.__cause__.__context__ = ConnectionRefusedError("refused")
    assert isinstance(no_connection(wrapped), ConnectionRefusedError)
    assert no_connection(ValueError("no")) is None
    loop = ValueError("a")
    loop.__context__ = loop.__cause__ = RuntimeError("b")
    loop.__cause__.__context__ = loop
    assert no_connection(loop) is None


@pytest.mark.quick(1)
@pytest.mark.parametrize("status", ["401", "404", "gone"])
def test_the_command_says_it_in_one_line_and_leaves_no_store(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture, closed: str, status: str
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    words = ["generate", "--benchmark", "starter", "--model", MODEL, "-m", 2, "--store", tmp_path / "store"]
    with Server(behaviour=lambda serial, prompt: status) as server:
        ended, _, said = run(capsys, *words, "--api-base", closed if status == "gone" else server.url)
    assert ended == 2
    (line,) = [line for line in said.splitlines() if line.startswith("difftrust: expected ")]
    assert "failed:" not in said
    assert ("the connection was refused" if status == "gone" else f"answered {status}") in line
    assert not (tmp_path / "store").exists()


def test_a_budget_that_is_reached_is_said_with_what_was_spent_each_time(tmp_path: Path, capsys: Capture) -> None:
    words = ["generate", "--benchmark", "starter", "--model", MODEL, "-m", 1, "--store", tmp_path / "store"]
    with Server(behaviour=lambda serial, prompt: "length") as server:
        given = ["--api-base", server.url, "--price", 2, 8, "--max-usd", 0.02]  # the second asking might cost 0.06
        for _ in range(2):
            ended, out, said = run(capsys, *words, *given)
            assert ended == 1
            n_asked, spent = len(server.asked), len(server.asked) * server.cost(2.0, 8.0)
            assert f"the next request might pass --max-usd 0.02 (${spent:.4f} are spent); raise it for them" in said
            assert "run the command again" not in said
            assert "0 asked once more" in out or not out.count("replies")
    assert n_asked == len(server.asked) > 0


@pytest.mark.parametrize("model", ["openai/a\x01", "openai/a\udcff", "simulated/a\u202e"])
def test_a_model_whose_name_cannot_be_printed_is_refused_before_anything_is_asked(model: str) -> None:
    with pytest.raises(
        WrongUsage, match=r"^expected printable characters in the name of a model, found .*; correct --m"
    ):
        check_model(model, api_base=None, tasks=[])


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
