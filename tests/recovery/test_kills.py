"""Kills at random moments, drawn from a seed: each store ends as if nothing had happened, and no process is left.

DIFFTRUST_KILLS says how often an import, an execution and a merge are killed (`make test-recovery`: 25); the others
come half as often. Only what hit a run counts. Each function disturbs a command in one way and returns the store that
the next run made of it.
"""

import os
import random
import shutil
import signal
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import polars as pl
import pytest

from difftrust_core.datasets.benchmarks import load_benchmark
from tests.recovery.world import Ended, Server, kill, may_mount, snapshot, workers, zygotes
from tests.support.proc import is_running
from tests.support.waiting import until

N, MORE = 60, 90
N_TASKS = 4
DIE_AT_A_RENAME = """
import os, signal
left = {count}
def dying(call):
    def called(*words, **more):
        global left
        left -= 1
        if left == 0 and {before}: os.kill(os.getpid(), signal.SIGKILL)
        found = call(*words, **more)
        if left == 0: os.kill(os.getpid(), signal.SIGKILL)
        return found
    return called
os.replace, os.unlink = dying(os.replace), dying(os.unlink)
"""


JUMPING_CLOCK = """
import random, time
real, real_ns = time.time, time.time_ns
def jump(): return random.Random(int(real() * 10) + {seed}).uniform(-1e9, 1e9)
time.time = lambda: real() + jump()
time.time_ns = lambda: real_ns() + int(jump() * 1e9)
"""


def write_candidates(path: Path) -> None:
    """Write candidates of two models, right and wrong ones, none that hangs: a busy machine changes no outcome."""
    rows = []
    for task in load_benchmark("starter")[:N_TASKS]:
        name = task.entry_point
        wrong = f"def {name}(*args):\n    return 'wrong'\n"
        other = f"""{task.reference}
_right = {name}
def {name}(*args):
    return _right(*args) if len(repr(args)) % 3 else None
"""
        rows += [("starter", task.task_id, "a", 0.6, i, code) for i, code in enumerate([task.reference, wrong, other])]
        rows += [("starter", task.task_id, "b", 0.6, i, code) for i, code in enumerate([other, task.reference])]
    columns = ["benchmark", "task_id", "model", "temperature", "sample_index", "code"]
    pl.DataFrame(rows, schema=columns, orient="row").write_parquet(path)


@dataclass
class Stage:
    """A command on a store: what it begins with, what it comes to undisturbed, and how long it takes."""

    before: Path | None
    words: tuple[str, ...]
    after: dict[str, str]
    seconds: float


@dataclass
class World:
    """The servers, and the undisturbed runs to compare with."""

    folder: Path
    server: Server
    second: Server
    stages: dict[str, Stage] = field(default_factory=dict)

    @classmethod
    def make(cls, folder: Path) -> "World":
        world = cls(folder, Server(folder), Server(folder))
        write_candidates(folder / "candidates.parquet")
        source = str(folder / "candidates.parquet")
        world._stage("import", None, ("import", source))
        world._stage("execute", "import", ("execute", "-n", str(N), "--jobs", "1"))
        world._stage("workers", "import", ("execute", "-n", str(N), "--jobs", "2"))
        world._stage("compact", "execute", ("compact",))
        world._stage("extend", "compact", ("execute", "-n", str(MORE), "--jobs", "1"))
        return world

    def _stage(self, name: str, before: str | None, words: tuple[str, ...]) -> None:
        store = self.folder / f"undisturbed-{name}"
        start = self.folder / f"undisturbed-{before}" if before else None
        if start:
            shutil.copytree(start, store)
        began = time.monotonic()
        ended = self.server.run(*words, "--store", store)
        assert ended.status == 0, ended.said
        self.stages[name] = Stage(start, words, snapshot(store), time.monotonic() - began)

    def fresh(self, name: str) -> tuple[Stage, Path]:
        """Return a stage with a store in which it can begin."""
        stage, store = self.stages[name], self.folder / "store"
        shutil.rmtree(store, ignore_errors=True)
        if stage.before:
            shutil.copytree(stage.before, store)
        return stage, store

    def finish(self, stage: Stage, store: Path, first: Ended, *, hit: bool, prelude: str = "") -> "Result":
        """Run the stage's command once more, and compare what it made of the store with the undisturbed one."""
        return self.compare(
            stage, store, first, self.server.run(*stage.words, "--store", store, prelude=prelude), hit=hit
        )

    def compare(self, stage: Stage, store: Path, first: Ended, again: Ended, *, hit: bool) -> "Result":
        found = snapshot(self.server.seen(store))
        differs = sorted(name for name in found.keys() | stage.after if found.get(name) != stage.after.get(name))
        if again.status != 0:
            differs.append(f"exit status {again.status}")
        return Result(hit, differs, first.n_left + again.n_left, again.said)

    def close(self) -> None:
        for server in (self.server, self.second):
            server.close()


@dataclass
class Result:
    """What a disturbance came to. ``differs``: names of files, none where the store is that of the undisturbed run."""

    hit: bool
    differs: list[str]
    n_left: int
    said: str = ""


def check_words(ended: Ended) -> None:
    """A command that fails says why in a line."""
    assert "Traceback" not in ended.said, ended.said


def killed_host(
    world: World,
    draws: random.Random,
    name: str,
    prelude: str = "",
    change: Callable[[Path], None] = lambda store: None,
) -> Result:
    """Change something before and after it."""
    stage, store = world.fresh(name)
    change(store)
    pid = world.server.start(*stage.words, "--store", store, prelude=prelude)
    time.sleep(draws.uniform(0, stage.seconds))
    hit = kill(pid)
    first = world.server.ended()
    change(store)
    return world.finish(stage, store, first, hit=hit, prelude=prelude)


def killed_at_a_rename(world: World, draws: random.Random, name: str) -> Result:
    stage, store = world.fresh(name)
    prelude = DIE_AT_A_RENAME.format(count=draws.randint(1, 40), before=draws.random() < 0.5)
    first = world.server.run(*stage.words, "--store", store, prelude=prelude)
    return world.finish(stage, store, first, hit=first.status == -9)


def killed_and_followed_at_once(world: World, draws: random.Random) -> Result:
    """The next run begins while workers of the killed one may still be there."""
    stage, store = world.fresh("workers")
    pid = world.server.start(*stage.words, "--store", store)
    time.sleep(stage.seconds * draws.uniform(0.3, 1))
    hit = kill(pid)
    again = world.second.run(*stage.words, "--store", store)
    return world.compare(stage, store, world.server.ended(), again, hit=hit)


def killed_below(world: World, draws: random.Random, *, name: str, find: Callable[[int], list[int]]) -> Result:
    """A worker or a zygote; the run may end with a line that says so, or go on."""
    stage, store = world.fresh(name)
    pid = world.server.start(*stage.words, "--store", store)
    time.sleep(draws.uniform(0, stage.seconds))
    end, hit = time.monotonic() + 20, False
    while not hit and time.monotonic() < end and is_running(pid):
        targets = find(pid)
        hit = bool(targets) and kill(draws.choice(targets))
        time.sleep(0.01)
    first = world.server.ended()
    check_words(first)
    assert first.status in (0, 1)
    assert first.status == 0 or find is not workers or "a worker process was killed" in first.said, first.said
    return world.finish(stage, store, first, hit=hit)


def interrupted(world: World, draws: random.Random) -> Result:
    """What is finished by then is kept as it is."""
    stage, store = world.fresh(draws.choice(["execute", "workers"]))

    def finished() -> dict[Path, int]:
        return {path: path.stat().st_mtime_ns for path in store.glob("executions/**/*.parquet")}

    pid = world.server.start(*stage.words, "--store", store)
    until(lambda: finished() or not is_running(pid))
    time.sleep(draws.uniform(0, stage.seconds / 4))
    for each in (pid, *workers(pid)):  # as a terminal does
        kill(each, signal.SIGINT)
    first = world.server.ended()
    check_words(first)
    assert first.status in (0, 130)
    assert first.status == 0 or "the same command goes on from there" in first.said, first.said
    before = finished()
    result = world.finish(stage, store, first, hit=first.status == 130)
    assert before.items() <= finished().items()
    return result


def full_disk(world: World, draws: random.Random, name: str) -> Result:
    stage = world.stages[name]
    server, disk = world.server, world.folder / "disk"
    disk.mkdir(exist_ok=True)
    held = stage.before.rglob("*") if stage.before else ()
    used = sum(-(-path.stat().st_size // 4096) for path in held if path.is_file())
    pages = used + draws.randint(2, 40 if name in ("execute", "extend") else 6)
    server.mount("mount", "-t", "tmpfs", "-o", f"size={pages * 4096}", "none", disk)
    try:
        store = disk / "store"
        if stage.before:
            shutil.copytree(stage.before, server.seen(store))
        first = server.run(*stage.words, "--store", store)
        check_words(first)
        hit = first.status == 1
        assert not hit or "No space left on device" in first.said, first.said
        server.mount("mount", "-o", "remount,size=64m", disk)
        return world.finish(stage, store, first, hit=hit)
    finally:
        server.mount("umount", disk)


def read_only(world: World, draws: random.Random) -> Result:
    stage, store = world.fresh(draws.choice(["execute", "extend", "compact"]))
    server, before = world.server, snapshot(store)
    server.mount("mount", "--bind", store, store)
    try:
        server.mount("mount", "-o", "remount,ro,bind", store)
        first = server.run(*stage.words, "--store", store)
        check_words(first)
        assert first.said.count("\n") == 1, first.said
        assert "cannot be written: Read-only file system" in first.said
        assert snapshot(store) == before
        checked = server.run("verify", "--store", store)
        assert checked.status == 0, checked.said
    finally:
        server.mount("umount", store)
    return world.finish(stage, store, first, hit=first.status == 1)


def jumping_clock(world: World, draws: random.Random) -> Result:
    """The clock jumps by years ten times a second, and every file's times lie anywhere, before and after a kill."""

    def set_times(store: Path) -> None:
        for path in sorted(store.rglob("*")):
            os.utime(path, (draws.uniform(0, 4e9), draws.uniform(0, 4e9)))

    prelude = JUMPING_CLOCK.format(seed=draws.randint(0, 9999))
    return killed_host(world, draws, draws.choice(["execute", "extend", "compact"]), prelude, set_times)


def two_at_once(world: World, draws: random.Random) -> Result:
    stage, store = world.fresh(draws.choice(["execute", "workers", "extend", "compact"]))
    world.server.start(*stage.words, "--store", store)
    time.sleep(draws.uniform(0, stage.seconds))
    other = world.second.run(*stage.words, "--store", store)
    first = world.server.ended()
    told = [ended for ended in (other, first) if ended.status != 0]
    assert len(told) < 2
    for ended in told:
        assert ended.status == 1
        assert "another difftrust command writes to" in ended.said, ended.said
    result = world.finish(stage, store, first, hit=bool(told))
    result.n_left += other.n_left
    return result


Kill = Callable[[World, random.Random], Result]
KINDS: dict[str, Kill] = {
    "kill -9 of an import": lambda w, d: killed_host(w, d, "import"),
    "kill -9 of an execution": lambda w, d: killed_host(w, d, d.choice(["execute", "extend", "workers"])),
    "kill -9 of a merge": lambda w, d: killed_host(w, d, "compact"),
    "kill -9 of the host at a rename": lambda w, d: killed_at_a_rename(w, d, d.choice([*w.stages])),
    "kill -9 of the host, the next run at once": killed_and_followed_at_once,
    "kill -9 of a worker": lambda w, d: killed_below(w, d, name="workers", find=workers),
    "kill -9 of a zygote": lambda w, d: killed_below(w, d, name=d.choice(["execute", "extend"]), find=zygotes),
    "an interrupt": interrupted,
    "two runs at once": two_at_once,
    "clock jumps": jumping_clock,
    "disk full in an import": lambda w, d: full_disk(w, d, "import"),
    "disk full in an execution": lambda w, d: full_disk(w, d, d.choice(["execute", "extend"])),
    "disk full in a merge": lambda w, d: full_disk(w, d, "compact"),
    "read-only store": read_only,
}
OFTEN = tuple(KINDS)[:3]
MOUNTS = tuple(KINDS)[-4:]
"""Those that mount what nobody else sees: only where ``may_mount``."""


def disturb(world: World, kind: str, seed: int) -> Result:
    """Disturb a run until the disturbance hits it; moments are drawn anew where it had ended before."""
    for attempt in range(8):
        result = KINDS[kind](world, random.Random(f"{kind} {seed} {attempt}"))
        if result.hit or result.differs:
            break
        for stage in world.stages.values():  # the machine has less to do than when they were timed
            stage.seconds *= 0.8
    return result


KILLS = int(os.environ.get("DIFFTRUST_KILLS", 1))
POSSIBLE = [kind for kind in KINDS if kind not in MOUNTS or may_mount()]
"""Mounting what nobody else sees needs root, unshare and nsenter."""
DRAWN = [(i, kind) for kind in POSSIBLE for i in range(KILLS if kind in OFTEN else -(-KILLS // 2))]
counted: Counter[str] = Counter()


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    made = World.make(tmp_path_factory.mktemp("recovery"))
    yield made
    made.close()
    print(f"\n{sum(counted.values())} disturbances, each hit a run: {dict(counted)}")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("number", "kind"),
    [pytest.param(number, kind, id=f"{number}: {kind}") for number, kind in DRAWN],
)
def test_the_next_run_ends_with_the_same_bytes(world: World, number: int, kind: str) -> None:
    result = disturb(world, kind, number)
    assert result.differs == [], result.said
    assert result.n_left == 0
    assert result.hit
    counted[kind] += 1
