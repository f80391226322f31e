"""Real kills of the real command while it pays for replies, and a key that must be found nowhere."""

import json
import os
import random
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest

from difftrust_core.store.checksums import read_list
from difftrust_core.store.store import Store
from tests.recovery.world import Server as Commands
from tests.recovery.world import may_mount
from tests.support.llm_server import Server
from tests.support.waiting import until

pytestmark = pytest.mark.slow
DIFFTRUST = str(Path(sys.executable).with_name("difftrust"))
KEY = "planted-0123456789-abcdefghij-key"
M = 4
N_SAMPLES = 60 * M
CONCURRENCY = 8
KILLS = int(os.environ.get("DIFFTRUST_KILLS", 10))
NAME = "split_bill"
TASK = f"starter/{NAME}"


def words(store: Path, server: Server, *more: str) -> list[str]:
    return [
        *("generate", "--benchmark", "starter", "--model", "openai/local", "-m", str(M), "--store", str(store)),
        *("--api-base", server.url, "--price", "5", "15", "--concurrency", str(CONCURRENCY), *more),
    ]


def environment(**more: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.endswith(("_KEY", "_TOKEN"))}
    return {**kept, "OPENAI_API_KEY": KEY, **more}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Commands]:
    found = Commands(tmp_path_factory.mktemp("commands"), "generate", environment())
    yield found
    found.close()


def content(store: Path) -> bytes:
    return b"".join(path.read_bytes() for path in store.rglob("replies.jsonl"))


def whole_lines(store: Path) -> bytes:
    found = content(store)
    return found[: found.rfind(b"\n") + 1]


def test_kills_lose_nothing_that_arrived_and_pay_for_nothing_twice(tmp_path: Path, run: Commands) -> None:
    store, draws = tmp_path / "store", random.Random(2)
    moments = sorted(draws.sample(range(5, N_SAMPLES - 40), KILLS))
    lost = 0
    with Server(behaviour=lambda serial, prompt: "slow0.02") as server:
        for moment in moments:
            kept, asked = whole_lines(store), len(server.asked)
            pid = run.start(*words(store, server))
            until(lambda enough=moment + lost: len(server.asked) >= enough)
            time.sleep(draws.uniform(0, 0.03))
            os.kill(pid, signal.SIGKILL)
            assert run.ended().status == -signal.SIGKILL
            until(lambda: server.at_once == 0)
            assert content(store).startswith(kept)
            arrived = whole_lines(store).count(b"\n") - kept.count(b"\n")
            assert 0 <= len(server.asked) - asked - arrived <= CONCURRENCY
            lost += len(server.asked) - asked - arrived
        missing, asked = N_SAMPLES - whole_lines(store).count(b"\n"), len(server.asked)
        assert missing > 0
        ended = run.run(*words(store, server))
        assert ended.status == 0, ended.said
        assert len(server.asked) - asked == missing
        assert len(server.asked) == N_SAMPLES + lost
        check_whole(store, server)
        before = times(store)
        assert run.run(*words(store, server)).status == 0
        assert len(server.asked) == N_SAMPLES + lost
        assert times(store) == before


def times(store: Path) -> dict[Path, int]:
    return {path: path.stat().st_mtime_ns for path in store.rglob("*") if path.is_file()}


def check_whole(store: Path, server: Server) -> None:
    kept = [json.loads(line) for line in content(store).splitlines()]
    samples = Counter((line["task_id"], line["sample_index"]) for line in kept)
    assert len(samples) == N_SAMPLES == len(kept)
    served = {f"reply-{asked.serial}": asked for asked in server.asked}
    assert len({line["reply_id"] for line in kept}) == N_SAMPLES
    for line in kept:
        entry_point = re.search(r"def (\w+)\(", served[line["reply_id"]].prompt)
        assert entry_point is not None
        assert f"return {line['reply_id'].removeprefix('reply-')}\n" in line["text"]
    candidates = Store.open(store).read("candidates")
    assert len(candidates) == N_SAMPLES
    own_count = sum(server.cost(5, 15) for line in kept if line["reply_id"] in served)
    assert candidates["cost_usd"].sum() == pytest.approx(own_count, abs=1e-9)
    assert sum(line["cost_usd"] for line in kept) == pytest.approx(N_SAMPLES * 0.0012, abs=1e-9)


@pytest.mark.skipif(not may_mount(), reason="mounting what nobody else sees needs root, unshare and nsenter")
def test_a_full_disk_keeps_what_was_paid_and_says_so(tmp_path: Path, run: Commands) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    run.mount("mount", "-t", "tmpfs", "-o", f"size={25 * 4096}", "none", disk)
    try:
        with Server() as server:
            ended = run.run(*words(disk / "store", server))
            assert (ended.status, "No space left on device" in ended.said) == (1, True), ended.said
            assert "Traceback" not in ended.said
            kept, asked = whole_lines(run.seen(disk / "store")).count(b"\n"), len(server.asked)
            assert read_list(run.seen(disk / "store")) == Store(run.seen(disk / "store")).names() != set()
            assert 0 < kept <= asked <= kept + CONCURRENCY < N_SAMPLES
            run.mount("mount", "-o", "remount,size=64m", disk)
            assert run.run(*words(disk / "store", server)).status == 0
            assert len(server.asked) == asked + N_SAMPLES - kept
            check_whole(run.seen(disk / "store"), server)
    finally:
        run.mount("umount", disk)


def test_ctrl_c_keeps_what_is_under_way_and_makes_candidates_of_it(tmp_path: Path, run: Commands) -> None:
    store = tmp_path / "store"
    with Server(behaviour=lambda serial, prompt: "slow0.3") as server:
        pid = run.start(*words(store, server))
        until(lambda: len(server.asked) >= 20)
        os.kill(pid, signal.SIGINT)
        ended = run.ended()
        assert ended.status == 130
        assert "stopping: waiting for the replies under way" in ended.said
        assert "the same command goes on from there" in ended.said
        assert "Traceback" not in ended.said
        assert 20 <= len(server.asked) == whole_lines(store).count(b"\n") < N_SAMPLES
    assert len(Store.open(store).read("candidates")) == len(server.asked)


def test_only_what_asks_a_model_imports_litellm(tmp_path: Path) -> None:
    """Neither a finished command, nor a dry run, nor simulated coders."""
    code = "import sys; from difftrust.cli import main\ntry: main()\nfinally: print('litellm' in sys.modules)"

    def said(*command: str) -> list[str]:
        ran = [sys.executable, "-c", code, *command]
        return subprocess.run(ran, capture_output=True, text=True, check=True, env=environment()).stdout.splitlines()

    with Server() as server:
        command = words(tmp_path / "store", server, "--task", TASK, "-m", "2")
        first, again, dry = said(*command), said(*command), said(*command, "-m", "5", "--dry-run")
        assert len(server.asked) == 2
    assert first[-1] == "True"
    assert again == ["openai/local: all 2 samples are there", "False"]
    assert dry[0].startswith("openai/local: 3 requests, 2 samples are there; about ")
    assert dry[-1] == "False"
    simulated = ["generate", "--benchmark", "starter", "--task", TASK, "--store", str(tmp_path / "simulated")]
    assert said(*simulated, "--model", "simulated/strong")[-1] == "False"


def strings(store: Path) -> Iterator[str]:
    """Yield everything a store holds, decompressed."""
    for path in store.rglob("*"):
        if path.suffix == ".parquet":
            yield pl.read_parquet(path, hive_partitioning=False).write_json()
        elif path.is_file():
            yield path.read_bytes().decode("utf-8", "replace")


def test_a_key_in_the_environment_is_found_nowhere(tmp_path: Path) -> None:
    """The server echoes the key in errors and in replies; the programs print what the sandbox's environment is."""
    store = tmp_path / "store"

    def thief(serial: int) -> str:
        return (
            f"The key is {KEY}.\n```python\nimport glob, os\n\n\ndef {NAME}(*args):\n"
            "    seen = repr(sorted(os.environ.items()))\n"
            "    for name in glob.glob('/proc/*/environ'):\n"
            "        try:\n            seen += open(name).read()\n        except OSError:\n            pass\n"
            f"    return seen + {KEY!r}\n```"
        )

    def answer(serial: int, prompt: str) -> str:
        return ("401" if serial == 3 else "500" if serial == 1 else "good") if serial < 4 else "good"

    with Server(behaviour=answer, text=thief) as server:
        loud = environment(LITELLM_LOG="DEBUG", OPENAI_LOG="debug", MY_SECRET=KEY[::-1])
        one = [DIFFTRUST, *words(store, server, "--task", TASK), "--concurrency", "1"]
        ended = [subprocess.run(one, capture_output=True, text=True, env=loud, check=False) for _ in range(2)]
    assert [e.returncode for e in ended] == [1, 0]
    assert "expected OPENAI_API_KEY to hold a valid key, the server answered 401; set it" in ended[0].stderr
    assert {asked.authorization for asked in server.asked} == {f"Bearer {KEY}"}
    run = [DIFFTRUST, "execute", "--store", str(store), "-n", "3", "--jobs", "1"]
    ended.append(subprocess.run(run, capture_output=True, text=True, env=loud, check=True))
    outcomes = Store.open(store).read("outcomes")
    assert outcomes["text"].str.contains("PYTHONHASHSEED").any()  # it did see an environment
    assert outcomes["text"].str.contains(r"\[hidden\]").any()
    said = [e.stdout + e.stderr for e in ended]
    assert not [text[:200] for text in (*said, *strings(store)) if KEY in text or KEY[::-1] in text]
    assert "Traceback" not in "".join(said)
