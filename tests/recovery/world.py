"""Commands to kill, disks that fill up, clocks that jump, and what a store is in the end."""

import hashlib
import io
import json
import os
import shutil
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from tests.support.proc import below, command_line, is_running, name, parent

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
    """Commands in fresh processes, one at a time, in a mount namespace of their own; see ``preloaded_cli``."""

    def __init__(self, folder: Path, kind: str = "execute", environment: dict[str, str] | None = None):
        self.log = folder / f"log-{id(self)}"
        self.process = subprocess.Popen(
            [
                *(("unshare", "--mount", "--") if may_mount() else ()),
                sys.executable,
                "-m",
                "tests.support.preloaded_cli",
                kind,
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=Path(__file__).resolve().parents[2],
            env=environment,
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

    def run(self, *words: str | Path, prelude: str = "") -> Ended:
        self.start(*words, prelude=prelude)
        return self.ended()

    def ended(self) -> Ended:
        """Wait for the command and all that it started."""
        status, n_left = int(self._read()), int(self._read())
        return Ended(status, self.log.read_text(), n_left)

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


def may_mount() -> bool:
    if os.geteuid() != 0 or shutil.which("unshare") is None or shutil.which("nsenter") is None:
        return False
    return subprocess.run(["unshare", "--mount", "true"], capture_output=True, check=False).returncode == 0


def workers(host: int) -> list[int]:
    return [pid for pid in below(host) if "popen_loky" in command_line(pid)]


def zygotes(host: int) -> list[int]:
    """Return bubblewrap if there is one, the zygotes, and their forks that hold a task; candidates are none of them."""
    parents = {pid: parent(pid) for pid in below(host)}
    wraps = {pid for pid in parents if name(pid) in ("bwrap", "unshare")}
    inside = {pid for pid in parents if pid not in wraps and "zygote.py" in command_line(pid)}
    first = {pid for pid in inside if parents[pid] not in inside}
    return sorted(wraps | first | {pid for pid, above in parents.items() if above in first})


def kill(pid: int, how: signal.Signals = signal.SIGKILL) -> bool:
    """Kill or interrupt a process; tell whether it was still running."""
    was_running = is_running(pid)
    try:
        os.kill(pid, how)
    except ProcessLookupError:
        return False
    return was_running
