"""Commands of difftrust in processes of their own: started, watched, cancelled, ended in time.

A job belongs to the server, not to a session: it goes on while nobody looks, and a page that is loaded again finds it
by its name.
"""

import atexit
import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import partial
from typing import IO, Any

from difftrust_core.base.parallel import DESCRIPTOR
from difftrust_core.exceptions import WrongUsage

MOST_AT_ONCE = 4
"""Jobs that run at a time; each is a process with workers of its own."""
_KEPT = 40
"""Ended jobs that pages find again."""
_LINES, _LINE = 200, 2_000
_MOST_OUTPUT = 16_000_000
_GLANCE = 0.1
# A shell that started the server in the background has it ignore Ctrl-C, and children inherit that: take it back.
_ENTRY = (
    "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler); "
    "from difftrust.cli import main; main(sys.argv[1:])"
)


class State(StrEnum):
    """The state of a job."""

    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"
    LATE = "late"
    """Stopped at its time limit."""


@dataclass(frozen=True, kw_only=True)
class Step:
    """One command."""

    label: str
    words: tuple[str, ...]
    """The command line after ``difftrust``."""
    good: tuple[int, ...] = (0,)
    """Exit statuses that mean success."""
    goes_on: tuple[int, ...] = (0,)
    """Exit statuses after which the next step is taken."""


@dataclass(kw_only=True)
class Job:
    """Steps one after the other; all but ``steps`` and ``about`` changes while it runs."""

    steps: Sequence[Step]
    limit: float | None = None
    """Seconds for all steps together."""
    grace: float = 5.0
    """Seconds between asking a command to stop and killing it."""
    about: Mapping[str, Any] = field(default_factory=dict)
    """Notes of the page that started it."""
    at_end: Callable[[], None] = lambda: None
    state: State = State.RUNNING
    step: int = 0
    done: int = 0
    total: int = 0
    """Of the step's progress; 0 before it is known."""
    detail: str = ""
    lines: deque[str] = field(default_factory=lambda: deque(maxlen=_LINES))
    output: str = ""
    """Standard output of the last step."""
    seconds: float = 0.0
    _asked_to_stop: float | None = None
    _process: "subprocess.Popen[bytes] | None" = None
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def is_running(self) -> bool:
        """Tell whether it has not ended."""
        return self.state is State.RUNNING

    @property
    def is_stopping(self) -> bool:
        """Tell whether it was asked to stop and has not ended yet."""
        return self.is_running and self._asked_to_stop is not None

    @property
    def share(self) -> float:
        """Return how much of all steps is done, in [0, 1]."""
        return min((self.step + (self.done / self.total if self.total else 0.0)) / len(self.steps), 1.0)

    def cancel(self) -> None:
        """Ask the command to stop, as Ctrl-C does; it keeps what is finished. Asked again, it leaves at once."""
        with self._lock:
            if self._asked_to_stop is None:
                self._asked_to_stop = time.monotonic()
            self._signal(signal.SIGINT)

    def _signal(self, number: signal.Signals) -> None:
        if self._process is not None and self._process.poll() is None:
            os.killpg(self._process.pid, number)

    def run(self) -> None:
        """Take the steps; called once, in a thread."""
        began = time.monotonic()
        state = State.FAILED
        try:
            state = self._steps(began)
        except OSError as e:
            self.lines.append(f"could not be run: {e.strerror or e}")
        finally:
            self.seconds = time.monotonic() - began
            self.at_end()
            self.state = state

    def _steps(self, began: float) -> State:
        is_good = True
        for position, step in enumerate(self.steps):
            self.step, self.done, self.total = position, 0, 0
            self.detail = ""
            status = self._take(step, None if self.limit is None else began + self.limit)
            if self._asked_to_stop is not None:
                is_late = self.limit is not None and self._asked_to_stop >= began + self.limit
                return State.LATE if is_late else State.CANCELLED
            is_good = is_good and status in step.good
            if status not in step.goes_on:
                break
        return State.DONE if is_good else State.FAILED

    def _take(self, step: Step, deadline: float | None) -> int:
        """Run one command to its end; return its exit status."""
        with tempfile.TemporaryFile() as output:
            with self._lock:
                if self._asked_to_stop is not None:
                    return -1
                self._process, progress = _start(step.words, output)
            readers = [
                threading.Thread(target=_read, args=(progress, self._heed_progress), daemon=True),
                threading.Thread(target=_read, args=(self._process.stderr, self._heed), daemon=True),
            ]
            for reader in readers:
                reader.start()
            while self._process.poll() is None:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    self._process.wait(_GLANCE)
                self._end_in_time(deadline)
            for reader in readers:
                reader.join(self.grace)  # an orphan may hold the pipe for a moment
            output.seek(0)
            self.output = output.read(_MOST_OUTPUT).decode("utf-8", "replace")
            return self._process.returncode

    def _heed(self, line: str) -> None:
        if line.strip():
            self.lines.append(line.rstrip())

    def _heed_progress(self, line: str) -> None:
        with contextlib.suppress(ValueError):  # the last line of a command that was killed
            told = json.loads(line)
            self.done, self.total = told["done"], told["total"] or 0
            if 0 < self.done < self.total:
                left = told["seconds"] * (self.total - self.done) / self.done
                self.detail = (
                    f"{self.done / max(told['seconds'], 1e-3):,.1f} {told['unit']}/s, about {left:,.0f} s left"
                )

    def _end_in_time(self, deadline: float | None) -> None:
        now = time.monotonic()
        if deadline is not None and now > deadline and self._asked_to_stop is None:
            self.cancel()
        if self._asked_to_stop is not None and now > self._asked_to_stop + self.grace:
            self._signal(signal.SIGKILL)


def _start(words: Sequence[str], output: IO[bytes]) -> "tuple[subprocess.Popen[bytes], IO[bytes]]":
    """Start a command in a session of its own; return it and the pipe of its progress.

    -P: no module is taken from the working directory.
    """
    progress, theirs = os.pipe()
    try:
        process = subprocess.Popen(
            [sys.executable, "-P", "-c", _ENTRY, *words],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.PIPE,
            start_new_session=True,
            pass_fds=(theirs,),
            env={**os.environ, DESCRIPTOR: str(theirs)},
        )
    except OSError:
        os.close(progress)
        raise
    finally:
        os.close(theirs)
    return process, os.fdopen(progress, "rb")


def _read(pipe: IO[bytes], heed: Callable[[str], None]) -> None:
    """Give each line of a pipe to ``heed``, to its end; a line that is too long in pieces."""
    with pipe:
        for line in iter(partial(pipe.readline, _LINE), b""):
            heed(line.decode("utf-8", "replace"))


class Jobs:
    """The jobs of this server by their names."""

    def __init__(self) -> None:
        self._jobs: dict[str, Job] = {}
        self._lock = threading.Lock()

    def find(self, name: str) -> Job | None:
        """Return the latest job of this name."""
        return self._jobs.get(name)

    def start(self, name: str, job: Job) -> None:
        """Start a job. Raises WrongUsage if one of this name runs, or too many run already."""
        with self._lock:
            running = [each for each, other in self._jobs.items() if other.is_running]
            if name in running or len(running) >= MOST_AT_ONCE:
                job.at_end()
                raise WrongUsage(f"{len(running)} jobs run already, at most {MOST_AT_ONCE} may; wait or cancel one")
            self._jobs.pop(name, None)
            self._jobs[name] = job
            ended = [each for each, other in self._jobs.items() if not other.is_running]
            for old in ended[: max(0, len(ended) - _KEPT)]:
                del self._jobs[old]
        threading.Thread(target=job.run, name=f"job {name}", daemon=True).start()

    def cancel_all(self) -> None:
        """Ask every job to stop."""
        for job in list(self._jobs.values()):
            if job.is_running:
                job.cancel()


JOBS = Jobs()
"""Of this process."""
atexit.register(JOBS.cancel_all)
