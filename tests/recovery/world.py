"""Commands to kill, disks that fill up, clocks that jump, and what a store is in the end."""

import hashlib
import io
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import polars as pl

MEASURED = ("cpu_seconds", "peak_kb")
"""Columns in which two undisturbed runs differ, too."""


def snapshot(store: Path) -> dict[str, str]:
    """Return the SHA-256 of every file by its name; executions without what is measured of a run."""
    found = {}
    for path in sorted(store.rglob("*")):
        name = path.relative_to(store).as_posix()
        if path.is_file() and name not in (".lock", ".workers"):
            content = path.read_bytes()
            if name.startswith("executions/") and name.endswith(".parquet"):
                content = without_measurements(content)
            found[name] = hashlib.sha256(content).hexdigest()
    return found


def without_measurements(content: bytes) -> bytes:
    frame = pl.read_parquet(io.BytesIO(content)).with_columns([pl.lit(0).alias(name) for name in MEASURED])
    written = io.BytesIO()
    frame.write_parquet(written)
    return written.getvalue()


@dataclass
class Ended:
    status: int
    said: str
    n_left: int
    """Processes that did not end by themselves."""


class Server:
    """Commands in fresh processes, one at a time, in a mount namespace of their own; see ``server``."""

    def __init__(self, folder: Path):
        self.log = folder / f"log-{id(self)}"
        self.process = subprocess.Popen(
            [*namespace(), sys.executable, "-m", "tests.recovery.server"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=Path(__file__).resolve().parents[2],
        )
        assert self._read() == "ready"

    def _read(self) -> str:
        assert self.process.stdout is not None
        return self.process.stdout.readline().strip()

    def start(self, *words: str | Path, prelude: str = "") -> int:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps([[str(word) for word in words], str(self.log), prelude]) + "\n")
        self.process.stdin.flush()
        return int(self._read())

    def status(self) -> int:
        """Wait for the command itself."""
        return int(self._read())

    def alone(self, status: int) -> Ended:
        """Wait for all that it started."""
        n_left = int(self._read())
        return Ended(status, self.log.read_text(), n_left)

    def run(self, *words: str | Path, prelude: str = "") -> Ended:
        self.start(*words, prelude=prelude)
        return self.alone(self.status())

    def mount(self, *words: str | Path) -> None:
        """Call mount or umount where only this server's commands see it."""
        command = ["nsenter", "--target", str(self.process.pid), "--mount", "--", *map(str, words)]
        subprocess.run(command, check=True, capture_output=True)

    def seen(self, path: Path) -> Path:
        """Return how a path that this server's commands see is reached from outside."""
        return Path(f"/proc/{self.process.pid}/root{path}")

    def close(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait(timeout=30)
        assert self.process.stdout is not None
        self.process.stdout.close()


def namespace() -> list[str]:
    """Return what starts a command in a mount namespace of its own, nothing where that is not allowed."""
    return ["unshare", "--mount", "--"] if may_mount() else []


def may_mount() -> bool:
    if os.geteuid() != 0 or shutil.which("unshare") is None or shutil.which("nsenter") is None:
        return False
    return subprocess.run(["unshare", "--mount", "true"], capture_output=True, check=False).returncode == 0


def descendants(pid: int) -> list[tuple[int, int, str]]:
    """Return (process id, parent, name) of all processes below one, parents first."""
    found = []
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        return []
    for child in map(int, children):
        try:
            name = Path(f"/proc/{child}/comm").read_text().strip()
        except OSError:
            continue
        found += [(child, pid, name), *descendants(child)]
    return found


def workers(host: int) -> list[int]:
    return [pid for pid, _, _ in descendants(host) if b"popen_loky" in command_line(pid)]


def zygotes(host: int) -> list[int]:
    """Return bubblewrap if there is one, the zygotes, and their forks that hold a task; candidates are none of them."""
    below = descendants(host)
    wraps = {pid for pid, _, name in below if name in ("bwrap", "unshare")}
    inside = {pid for pid, _, _ in below if pid not in wraps and b"zygote.py" in command_line(pid)}
    first = {pid for pid, parent, _ in below if pid in inside and parent not in inside}
    return sorted(wraps | first | {pid for pid, parent, _ in below if parent in first})


def command_line(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


def is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def kill(pid: int) -> bool:
    """Kill a process; tell whether it was still running."""
    was_running = is_running(pid)
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return False
    return was_running


def nap(seconds: float) -> None:
    time.sleep(max(0.0, seconds))
