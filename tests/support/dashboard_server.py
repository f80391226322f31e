"""The dashboard as a user starts it, on a port of its own."""

import os
import shutil
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

from tests.bench.processes import DIFFTRUST
from tests.support.waiting import until


def free_port() -> int:
    """Return a port of this machine that nobody listens on."""
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return int(s.getsockname()[1])


@contextmanager
def dashboard(
    store: Path | None, log: Path, *, words: Sequence[str] = (), **environment: str
) -> Iterator[tuple[str, int]]:
    """Run `difftrust dashboard` with ``words`` until the block ends; yield its address and process id."""
    port = free_port()
    command = [*DIFFTRUST, "dashboard", f"--port={port}", *words, *([] if store is None else ["--store", str(store)])]
    below = next((f"/{path.strip('/')}" for word, path in pairwise(words) if word == "--base-path"), "")
    with _running(command, f"http://127.0.0.1:{port}{below}", log, environment) as started:
        yield started


@contextmanager
def bare_page(folder: Path) -> Iterator[tuple[str, int]]:
    """Run Streamlit with a page that holds a title alone; yield its address and process id."""
    port, script = free_port(), folder / "bare.py"
    script.write_text('import streamlit as st\n\nst.title("bare")\n')
    options = ["--server.headless=true", "--browser.gatherUsageStats=false", f"--server.port={port}"]
    command = [sys.executable, "-m", "streamlit", "run", str(script), *options]
    with _running(command, f"http://127.0.0.1:{port}", folder / "bare.log", {}) as started:
        yield started


@contextmanager
def _running(command: list[str], url: str, log: Path, environment: dict[str, str]) -> Iterator[tuple[str, int]]:
    own = {name: value for name, value in os.environ.items() if not name.startswith(("DIFFTRUST_", "STREAMLIT_"))}
    with log.open("wb") as handle:
        process = subprocess.Popen(command, stdout=handle, stderr=handle, env=own | environment, cwd=log.parent)
        try:
            _wait(url, process, log)
            yield url, process.pid
        finally:
            process.terminate()
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:  # it waits for browsers that still listen
                process.kill()
                process.wait(10)


def _wait(url: str, process: "subprocess.Popen[bytes]", log: Path) -> None:
    until(lambda: process.poll() is not None or answers(f"{url}/_stcore/health"), 120, every=0.2)
    assert process.poll() is None, f"the dashboard did not start: {log.read_text()}"


def answers(url: str) -> bool:
    """Tell whether somebody listens there and says that all is well."""
    try:
        with urllib.request.urlopen(url, timeout=5) as reply:
            return int(reply.status) == 200
    except (urllib.error.URLError, OSError):
        return False


def launched(driver: Any) -> Any:
    """Return the machine's Chromium, started by Playwright."""
    chromium = shutil.which("chromium") or "/usr/bin/chromium"
    return driver.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
