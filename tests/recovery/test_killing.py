"""Whoever is killed, at whatever moment: bubblewrap, a zygote, what serves a task, the host, any of them at once.

DIFFTRUST_SANDBOX_KILLS says how many kills of each kind (`make test-recovery`: 200); by default a few.
"""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from difftrust_core.sandbox import layers
from tests.support.needs import needs_bubblewrap
from tests.support.ordinary_user import as_nobody, why_not
from tests.support.proc import below, end, name

KILLS = os.environ.get("DIFFTRUST_SANDBOX_KILLS", "30")
ALL_LAYERS = ("bubblewrap", "landlock", "seccomp")
NO_NAMESPACES = ("landlock", "seccomp")
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="orphans are found by the means of Linux")


def kills(*words: str, prefix: tuple[str, ...] = ()) -> tuple[int, list[object]]:
    command = [*prefix, sys.executable, "-m", "tests.support.killing", *words]
    root = Path(__file__).parents[2]
    ran = subprocess.run(command, capture_output=True, text=True, cwd=root, check=False)
    assert ran.returncode == 0, ran.stderr
    found = json.loads(ran.stdout)
    return found["killed"], found["left"]


@pytest.mark.slow
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("how", ["random", "birth"])
@needs_bubblewrap
def test_nothing_is_left_of_a_sandbox(how: str) -> None:
    n_killed, left = kills(how, KILLS, *ALL_LAYERS)
    assert left == []
    assert n_killed >= int(KILLS)


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_nothing_is_left_without_bubblewrap() -> None:
    n_killed, left = kills("random", KILLS, *NO_NAMESPACES)
    assert left == []
    assert n_killed >= int(KILLS)


@pytest.mark.slow
@needs_bubblewrap
def test_nothing_is_left_of_an_ordinary_users_sandbox() -> None:
    if why_not():
        pytest.skip(why_not())
    assert kills("birth", "10", *ALL_LAYERS, prefix=tuple(as_nobody()))[1] == []


@contextlib.contextmanager
def waiting(command: tuple[str, ...]) -> "Iterator[tuple[subprocess.Popen[bytes], int, int]]":
    """Start a bubblewrap that gives its inner process no word to go on; yield the start, its process, the inner one."""
    words = [word for word in command if word != "--disable-userns"]  # which does not go with what makes it wait
    options = words.index(str(shutil.which("bwrap"))) + 1
    (word, kept), (said, says) = os.pipe(), os.pipe()
    told = ["--userns-block-fd", str(word), "--info-fd", str(says)]
    process = subprocess.Popen(
        [*words[:options], *told, *words[options:], "--", layers.python_binary(), "-c", ""],
        pass_fds=(word, says),
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    assert os.read(said, 100)  # by now there is an inner one
    *_, outer, inner = [process.pid, *below(process.pid)]
    assert (name(outer), name(inner)) == ("bwrap", "bwrap")
    try:
        yield process, outer, inner
    finally:
        process.kill()
        process.communicate()
        for descriptor in (word, kept, said, says):
            os.close(descriptor)
        with contextlib.suppress(ProcessLookupError):
            os.kill(inner, signal.SIGKILL)


@needs_bubblewrap
def test_bubblewrap_takes_with_it_what_waits_for_its_word_though_nobody_looks_after_it() -> None:
    if "--kill-child" not in layers.bubblewrap():
        pytest.skip("unshare is missing, or makes no namespaces")
    with waiting(layers.bubblewrap()) as (_, outer, inner):
        os.kill(outer, signal.SIGKILL)
        assert end([inner])
    with waiting(layers.bubblewrap()) as (process, outer, inner):
        process.kill()
        assert end([outer])
        assert end([inner])


@needs_bubblewrap
def test_where_nothing_takes_it_along_the_host_ends_what_waits() -> None:
    plain = layers.bubblewrap()
    plain = plain[plain.index(str(shutil.which("bwrap"))) :]
    with waiting(plain) as (process, outer, inner):
        os.kill(outer, signal.SIGKILL)
        assert not end([inner], within=0.2)
        assert layers.end_zygote(process, patience=0.2) == "it did not come to an end"
        assert end([inner])
        assert process.returncode == -signal.SIGKILL


def test_a_preamble_that_hangs_ends_with_its_host() -> None:
    code = """
from difftrust_core.sandbox.host import Limits, Sandbox
from difftrust_core.sandbox.host import OutcomeTable
s = Sandbox(Limits(), wanted=frozenset({"landlock", "seccomp"})); print(s.pid, flush=True)
while True:  # each ends when its time is over, on a busy machine before anybody looks
    s.load("while True: pass", ["(0,)"], OutcomeTable.empty(1))
"""
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as host:
        assert host.stdout is not None
        zygote = int(host.stdout.readline())
        while not (tasks := below(zygote)):
            time.sleep(0.005)
        host.kill()
    assert end([zygote, *tasks])
