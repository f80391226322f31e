"""The host's side of the sandbox: starts zygotes, sends programs, reads outcomes, and believes no reply unchecked."""

import contextlib
import hashlib
import json
import os
import platform
import secrets
import socket
import struct
import tempfile
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Self

from difftrust_core.base.files import scratch_folder
from difftrust_core.base.records import ACCEPTED, Kind, Outcome
from difftrust_core.exceptions import SandboxFailed, WeakSandbox
from difftrust_core.sandbox import layers
from difftrust_core.sandbox.runner import Runner

_KINDS = {
    "V": Kind.VALUE, "E": Kind.EXCEPTION, "U": Kind.UNSUPPORTED, "T": Kind.TIMEOUT, "M": Kind.MEMORY,
    "C": Kind.CRASH, "S": Kind.SKIPPED, "L": Kind.LOAD_ERROR, "F": Kind.FORGED,
}  # fmt: skip
_LETTERS = {kind: letter for letter, kind in _KINDS.items()}
MAX_LINE = 16_384 + 64
"""Characters: the longest canonical text, or a cut one with its digest."""
_SAID_BY_CHILD = (b"V", b"E", b"U")
_MARKS = ("T", "M", "C")  # what the zygote says of one call
SAID_OF_THE_REST = ("", "T", "M", "S", "L", "F")
"""What the zygote says of all calls that are left, if any are."""


class OutcomeTable:
    """The distinct outcomes seen on each input, numbered per input in the order of their first appearance."""

    def __init__(self, known: Sequence[Sequence[Outcome]]):
        self.rows: list[list[Outcome]] = [list(outcomes) for outcomes in known]
        self._ids = [{line_of(outcome): i for i, outcome in enumerate(row)} for row in self.rows]

    @classmethod
    def empty(cls, n: int) -> Self:
        """Return a table for n inputs on which nothing has run."""
        return cls([[] for _ in range(n)])

    def chosen(self, outcome_ids: "array[int]") -> list[Outcome]:
        """Return the outcome on each input that has this number there."""
        return [row[number] for row, number in zip(self.rows, outcome_ids, strict=True)]

    def ids_of(self, lines: Sequence[str]) -> "array[int]":
        """Return the id of the outcome that each input's line says: (n,); a new id where it was not seen there before.

        Raises ValueError or KeyError if a line says none, or if there are not n; the table is then as before.
        """
        found = [ids.get(line, -1) for ids, line in zip(self._ids, lines, strict=True)]
        new = [i for i, number in enumerate(found) if number < 0]
        said = {line: _outcome(line) for line in {lines[i] for i in new}}
        for i in new:
            line, row = lines[i], self.rows[i]
            found[i] = self._ids[i][line] = len(row)
            row.append(said[line])
        return array("H", found)


def line_of(outcome: Outcome) -> str:
    """Return the line that says an outcome: the letter of its kind, and its text."""
    return _LETTERS[outcome[0]] + outcome[1]


def _outcome(line: str) -> Outcome:
    """Return the outcome that a line of the zygote's reply says. Raises KeyError or ValueError if it is none."""
    if not line.isprintable() or len(line) > MAX_LINE:
        raise ValueError("not an outcome")
    return _KINDS[line[:1]], line[1:]


_RESERVED = f"\n{line_of(ACCEPTED)}\n".encode()


def read_lines(text: bytes, marks: list[int], n: int) -> list[str]:
    """Return the lines of a reply, at most ``n``.

    Raises ValueError if the child said in one of them what only the zygote may say, or only the host: ACCEPTED.
    """
    if text.count(b"\n") > n:  # before there is a string for each
        raise ValueError("more lines than inputs")
    if _RESERVED in text or text.startswith(_RESERVED[1:]):
        raise ValueError("a line that is not a program's to say")
    lines = [line.decode() for line in text.split(b"\n")]  # one by one: one odd character makes all of a text wide
    said_by_child = sum(text.count(b"\n" + letter) + text.startswith(letter) for letter in _SAID_BY_CHILD)
    if lines.pop() or said_by_child != len(lines) - len(marks) or any(lines[i][:1] not in _MARKS for i in marks):
        raise ValueError("not a program's lines")
    return lines


_FRAME = struct.Struct("=IB16s")
_CONFIG, _TASK, _RUN, _READY, _LOADED, _RESULT, _END, _ERROR = range(1, 9)
_MAX_FRAME = 1 << 28
_REPLY_BYTES = 256 << 20
_HEADER_BYTES = 64
"""Words with which a child tells the zygote how far it is."""
MAX_SOURCE = 1 << 20
"""Longer program texts are not loaded; in characters."""
ALL_LAYERS = frozenset({"bubblewrap", "landlock", "seccomp"})
MAY_STAY_OPEN = frozenset({"processes", "signals"})
"""What candidates may still do where execution starts: neither reaches the user's files or network."""


@dataclass(frozen=True, kw_only=True)
class Limits:
    """What one candidate may use. Times are seconds; calls are limited by CPU time, so load changes no outcome."""

    memory_bytes: int = 1 << 30
    call_cpu: float = 0.25
    repeat_cpu: float = 0.04
    """For each call of a program that has run into ``call_cpu`` once: most that do hang, and do so again."""
    call_wall: float = 10.0
    repeat_wall: float = 10.0
    """As ``call_wall``, for each call of a program that has run out of time once."""
    load_wall: float = 10.0
    load_cpu: float = 2.0
    program_cpu: float = 2.0
    """For all its calls; grows with n beyond 1,000 inputs."""
    program_wall: float = 30.0
    max_timeouts: int = 5
    """The program is given up after so many calls out of time or memory; the rest of its inputs are ``skipped``."""
    max_crashes: int = 50


@dataclass(frozen=True, kw_only=True, eq=False)
class ProgramRun:
    """One program on all inputs: ``outcome_ids`` (n,) index each input's list in the OutcomeTable."""

    outcome_ids: "array[int]"
    restarts: int = 0
    cpu: float = 0.0
    wall: float = 0.0
    peak_kb: int = 0
    trimmed: bool = False
    """Top-level statements after the entry point were left out, because executing all of it failed."""
    nondeterministic: bool = False
    """It differed from itself when 2 % of the inputs were run a second time."""

    def and_then(self, other: Self) -> Self:
        """Return this run with what was seen of the program in another one, on other inputs."""
        return replace(self, trimmed=other.trimmed, nondeterministic=self.nondeterministic or other.nondeterministic)


class _Pages:
    """The request and the reply of the program at hand, in two nameless files; ``request``, ``reply``: descriptors.

    The host writes a program's text into one, and the child that is to run it reads it there; the child writes its
    lines into the other, and the host reads them. So the zygote, whose memory every later child inherits, never holds
    either.
    """

    def __init__(self) -> None:
        self.request, self.reply = _nameless_file(), _nameless_file()

    def write(self, request: bytes) -> None:
        """Put a request in place of the last one, and zeros in place of its reply."""
        os.ftruncate(self.reply, 0)
        os.ftruncate(self.reply, _REPLY_BYTES)
        os.ftruncate(self.request, 0)
        written = 0
        while written < len(request):
            written += os.pwrite(self.request, request[written:], written)

    def read(self, end: int) -> bytes:
        """Return the reply up to ``end``, without its header. Raises ValueError if that is not within it."""
        if not _HEADER_BYTES <= end <= _REPLY_BYTES:
            raise ValueError(f"a reply ends between {_HEADER_BYTES} and {_REPLY_BYTES}, got {end}")
        return os.pread(self.reply, end - _HEADER_BYTES, _HEADER_BYTES)

    def close(self) -> None:
        """Give both files back."""
        os.close(self.request)
        os.close(self.reply)


def _nameless_file() -> int:
    if hasattr(os, "memfd_create"):
        return os.memfd_create("difftrust")
    with tempfile.TemporaryFile() as file:  # macOS
        return os.dup(file.fileno())


class Sandbox(contextlib.AbstractContextManager["Sandbox"]):
    """A zygote at work: ``load`` a task's inputs, then ``run`` its programs one by one. Use it in ``with``.

    ``runner``: what runs the programs' language; by default Python. Without ``wait`` the zygote starts while the caller
    does something else; the first ``load`` waits for it, and raises then what is raised here otherwise.
    Raises WeakSandbox if files or network stay open to candidates and ``allow_weak`` is not set, SandboxFailed if
    it cannot be started.
    """

    def __init__(
        self,
        limits: Limits,
        *,
        runner: Runner = layers.PYTHON,
        allow_weak: bool = False,
        wanted: frozenset[str] = ALL_LAYERS,
        wait: bool = True,
    ):
        self.limits, self.runner, self._allow_weak, self._wanted = limits, runner, allow_weak, wanted
        self.active: frozenset[str] = frozenset()
        self.missing: dict[str, str] = {}
        """Each layer that is not active, and why."""
        self.still_open: tuple[str, ...] = ()
        """What the self-test's confined child could do."""
        self.landlock_abi = 0
        self.has_cpu_clock = True
        """Calls are limited by their CPU time; otherwise by the time on the wall."""
        self._batch: dict[str, Any] | None = None
        self._index = 0
        self._ids_of: dict[tuple[bytes, tuple[int, ...], str], array[int]] = {}
        self._pages = _Pages()
        self._baits = contextlib.ExitStack()
        self._is_ready = False
        self._launch()
        if wait:
            self._become_ready()

    def __exit__(self, *_: object) -> None:
        self.close()

    def _launch(self) -> None:
        ours, theirs = socket.socketpair()
        self._nonce = os.urandom(16)
        self._socket = ours
        ours.settimeout(30)
        try:
            shared = (theirs.fileno(), self._pages.request, self._pages.reply)
            self._pages.write(b"")
            self._process = layers.start_zygote(shared, wanted=self._wanted, runner=self.runner)
        except OSError as e:
            raise SandboxFailed(f"the sandbox could not be started: {e}") from None
        finally:
            theirs.close()
        limits = {**asdict(self.limits), "memory_bytes": self.limits.memory_bytes * self.runner.memory_factor}
        config = {"limits": limits, "layers": sorted(self._wanted), "files": layers.files_left(self.runner)}
        laid = self._baits.enter_context(laid_out())
        told = {"threads": self.runner.threads, "stack_bytes": self.runner.stack_bytes, "baits": laid}
        with contextlib.suppress(OSError):  # a zygote that is gone is met below
            self._send(_CONFIG, {**config, **told})

    def _become_ready(self) -> None:
        try:
            with self._baits:
                ready = self._receive(_READY)
        except (OSError, ValueError):
            said = self._last_words()
            if layers.disprove(self.runner):
                self._launch()
                return self._become_ready()
            raise SandboxFailed(f"the sandbox did not start: {said}") from None
        self._is_ready = True
        if "failed" in ready:
            self.close()
            raise SandboxFailed(f"a confined child could not be started: {ready['failed']}; see `difftrust doctor`")
        self._note_layers(ready)
        self._refuse_if_weak()

    def _note_layers(self, ready: dict[str, Any]) -> None:
        why_not = layers.why_no_bubblewrap(self.runner) if "bubblewrap" in self._wanted else "not wanted"
        self.active = frozenset({*ready["layers"], *(() if why_not else ("bubblewrap",))})
        self.missing = {**({"bubblewrap": why_not} if why_not else {}), **ready["missing"]}
        self.still_open = tuple(ready["open"])
        self.landlock_abi, self.has_cpu_clock = int(ready["landlock_abi"]), bool(ready["cpu_clock"])

    @property
    def pid(self) -> int:
        """The process that runs programs in forks of its own; another one once it was replaced."""
        return self._process.pid

    def _refuse_if_weak(self) -> None:
        reach = ", ".join(word for word in self.still_open if word not in MAY_STAY_OPEN)
        if reach and not self._allow_weak:
            self.close()
            why = "; ".join(f"{name}: {reason}" for name, reason in self.missing.items())
            is_linux = platform.system() == "Linux"
            helps = (
                "`difftrust doctor` says what helps" if is_linux else "run it in a Linux container or virtual machine"
            )
            raise WeakSandbox(
                f"candidates could reach {reach} on this machine (missing: {why}); {helps}, "
                "or accept it with --allow-weak-sandbox"
            )

    def _last_words(self) -> str:
        self._socket.close()  # at which the zygote leaves
        return layers.end_zygote(self._process, patience=10)

    def load(self, preamble: str, inputs: Sequence[str], outcomes: OutcomeTable) -> None:
        """Send the inputs (argument tuples in the text form of ``literals``) that the next programs run on."""
        if not self._is_ready:
            self._become_ready()
        if self._batch is not None:
            with contextlib.suppress(OSError):  # a zygote that is gone is replaced below
                self._send(_END, {})
        self._batch = {"preamble": preamble, "inputs": list(inputs)}
        self._outcomes = outcomes
        self._ids_of.clear()
        try:
            self._send_batch()
        except SandboxFailed:  # killed since the task before
            self._replace_zygote()

    def _send_batch(self) -> None:
        assert self._batch is not None
        try:
            self._send(_TASK, self._batch)
            loaded = self._receive(_LOADED)
        except (OSError, ValueError) as e:
            raise SandboxFailed(f"the sandbox did not take the inputs: {self._last_words()} ({e})") from None
        if loaded["n"] != len(self._batch["inputs"]):
            raise SandboxFailed(f"the sandbox took {loaded['n']} of {len(self._batch['inputs'])} inputs")

    def outcomes(
        self, preamble: str, inputs: Sequence[str], source: str, name: str
    ) -> tuple[list[Outcome], ProgramRun]:
        """Load inputs and run one program on them; return its outcome on each, and what the run took."""
        table = OutcomeTable.empty(len(inputs))
        self.load(preamble, inputs, table)
        run = self.run(source, name)
        return table.chosen(run.outcome_ids), run

    def run(self, source: str, entry_point: str) -> ProgramRun:
        """Run one program on every loaded input, once. Never raises for what the program does."""
        assert self._batch is not None, "load() first"
        n = len(self._batch["inputs"])
        if len(source) > MAX_SOURCE:
            return self._same(n, (Kind.LOAD_ERROR, "TooLong"))
        self._socket.settimeout(4 * self.limits.program_wall * max(1.0, n / 1000) + 60)
        for _ in range(2):
            try:
                self._index += 1
                self._pages.write(json.dumps({"entry_point": entry_point, "source": source}).encode())
                self._send(_RUN, {"index": self._index})
                return self._believe(self._receive(_RESULT), n)
            except ConnectionError:  # the zygote was killed, not by this program unless it happens again
                self._replace_zygote()
            except (OSError, ValueError, KeyError, TypeError, IndexError):
                self._replace_zygote()
                break
        return self._same(n, (Kind.FORGED, ""))

    def _believe(self, facts: dict[str, Any], n: int) -> ProgramRun:
        """Check a reply word by word. Raises ValueError, KeyError or TypeError if it is not the zygote's."""
        if facts["index"] != self._index or facts["rest"][:1] not in SAID_OF_THE_REST:
            raise ValueError("a reply to something else")
        return ProgramRun(
            outcome_ids=self._ids(facts, n),
            restarts=int(facts["restarts"]),
            cpu=float(facts["cpu"]),
            wall=float(facts["wall"]),
            peak_kb=int(facts["peak_kb"]),
            trimmed=bool(facts["trimmed"]),
            nondeterministic=bool(facts["nondeterministic"]),
        )

    def _ids(self, facts: dict[str, Any], n: int) -> "array[int]":
        """Return the ids of the outcomes in a program's lines, followed by the one that the zygote says of the rest."""
        end = int(facts["end"])
        text = self._pages.read(end) if end <= n * MAX_LINE * 4 + _HEADER_BYTES else b""
        key = (hashlib.blake2b(text).digest(), tuple(facts["marks"]), facts["rest"])
        if key not in self._ids_of:  # most programs say what one before them said
            try:
                lines = read_lines(text, facts["marks"], n)
                ids = self._outcomes.ids_of([*lines, *[facts["rest"]] * (n - len(lines) if facts["rest"] else 0)])
            except (ValueError, KeyError):
                ids = self._outcomes.ids_of([line_of((Kind.FORGED, ""))] * n)
            self._ids_of[key] = ids
        return self._ids_of[key]

    def _same(self, n: int, outcome: Outcome) -> ProgramRun:
        """Return a run that had one outcome on every input, without having run."""
        return ProgramRun(outcome_ids=self._outcomes.ids_of([line_of(outcome)] * n))

    def _replace_zygote(self) -> None:
        self._end_zygote()
        self._launch()
        self._become_ready()
        self._send_batch()

    def _send(self, kind: int, payload: dict[str, Any]) -> None:
        body = json.dumps(payload).encode()
        self._socket.sendall(_FRAME.pack(len(body), kind, self._nonce) + body)

    def _receive(self, expected: int) -> dict[str, Any]:
        length, kind, nonce = _FRAME.unpack(self._exactly(_FRAME.size))
        if kind == _ERROR and nonce == self._nonce:
            raise ConnectionError("the task's own process is gone")
        if kind != expected or nonce != self._nonce or length > _MAX_FRAME:
            raise ValueError("a reply that is not the zygote's")
        payload = json.loads(self._exactly(length))
        if not isinstance(payload, dict):
            raise ValueError("a reply that is not an object")
        return payload

    def _exactly(self, count: int) -> bytes:
        parts = bytearray()
        while len(parts) < count:
            part = self._socket.recv(min(count - len(parts), 1 << 20))
            if not part:
                raise ConnectionError("the zygote is gone")
            parts += part
        return bytes(parts)

    def close(self) -> None:
        """End the zygote and, with it, everything it started."""
        self._baits.close()
        self._end_zygote()
        self._pages.close()

    def _end_zygote(self) -> None:
        self._socket.close()
        layers.end_zygote(self._process, patience=2)


HOST = "127.0.0.1"


@contextlib.contextmanager
def laid_out() -> Iterator[dict[str, int | str]]:
    """Lay out the baits of the self-test, a file and sockets on the host that a confined child must not reach.

    An attempt at an address where nobody listens fails with or without layers: only something that is really there
    shows whether a layer holds. Yields where they lie: ``file``, ports ``TCP`` and ``UDP``, ``abstract`` and ``path``
    of local sockets. What this machine has no place for (a read-only file system, no loopback interface) is not there.
    """
    found: dict[str, int | str] = {}
    with contextlib.ExitStack() as stack:
        with contextlib.suppress(OSError):
            folder = stack.enter_context(scratch_folder())
            (folder / "file").write_text("nothing that matters")
            found["file"] = str(folder / "file")
            _listen(stack, socket.AF_UNIX, str(folder / "socket"))
            found["path"] = str(folder / "socket")
        with contextlib.suppress(OSError):
            found["TCP"] = _listen(stack, socket.AF_INET, (HOST, 0)).getsockname()[1]
        with contextlib.suppress(OSError):
            datagrams = stack.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
            datagrams.bind((HOST, 0))
            found["UDP"] = datagrams.getsockname()[1]
        with contextlib.suppress(OSError):
            name = f"difftrust-{secrets.token_hex(8)}"
            _listen(stack, socket.AF_UNIX, f"\0{name}")
            found["abstract"] = name
        yield found


def _listen(stack: contextlib.ExitStack, family: int, address: str | tuple[str, int]) -> socket.socket:
    listener = stack.enter_context(socket.socket(family, socket.SOCK_STREAM))
    listener.bind(address)
    listener.listen(1)
    return listener
