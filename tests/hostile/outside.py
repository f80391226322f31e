"""The world around a sandbox, with something to steal, to break and to reach; and whether it is as it was."""

import hashlib
import os
import shutil
import socket
import subprocess
import tempfile
import time
from contextlib import suppress
from pathlib import Path

from difftrust_core.sandbox import layers
from difftrust_core.sandbox.child import confine
from tests.hostile.attack import PROLOGUE
from tests.support.proc import below

KEY_NAME = "DIFFTRUST_HOSTILE_API_KEY"
MARKER = "difftrust-hostile"
"""What every attack that writes calls its file."""
_REPOSITORY = Path(__file__).parents[2]
_PLACES = ("/", "/tmp", "/var/tmp", "/dev/shm", "/etc", "/run", "/usr/lib", str(layers.CHILD), ".")


class Outside:
    """Files with a secret, a process to kill, four servers to reach. Use it in ``with``."""

    def __init__(self) -> None:
        self.secret = f"sk-{os.urandom(12).hex()}"
        self.folder = Path(tempfile.mkdtemp(prefix="difftrust-outside-"))
        self.home = self.folder / "home"
        for folder in (self.home, self.folder / "kept"):
            (folder / ".ssh").mkdir(parents=True)
            for name in ("kept.txt", ".env", ".ssh/id_rsa", "planted_module.py"):
                (folder / name).write_text(f"secret = '{self.secret}'\n")
        self._environment = {name: os.environ.get(name) for name in (KEY_NAME, "HOME")}
        os.environ.update({KEY_NAME: self.secret, "HOME": str(self.home)})
        self._listen()
        self.sentinel = subprocess.Popen(["cat"], stdin=subprocess.PIPE)  # it ends when its input does
        self._files = self._look()

    def _listen(self) -> None:
        self.abstract = f"{MARKER}-{self.secret[:12]}"
        stream = socket.SOCK_STREAM
        where: dict[str, tuple[int, int, object]] = {
            "TCP": (socket.AF_INET, stream, ("127.0.0.1", 0)),
            "UDP": (socket.AF_INET, socket.SOCK_DGRAM, ("127.0.0.1", 0)),
            "local socket": (socket.AF_UNIX, stream, str(self.folder / "socket")),
            "abstract socket": (socket.AF_UNIX, stream, f"\0{self.abstract}"),
        }
        self._servers = {name: socket.socket(family, kind) for name, (family, kind, _) in where.items()}
        for name, server in self._servers.items():
            server.bind(where[name][2])
            server.setblocking(False)
            if server.type == socket.SOCK_STREAM:
                server.listen()

    def __enter__(self) -> "Outside":
        return self

    def __exit__(self, *_: object) -> None:
        for server in self._servers.values():
            server.close()
        assert self.sentinel.stdin is not None
        self.sentinel.stdin.close()
        self.sentinel.wait()
        for name, value in self._environment.items():
            os.environ.pop(name, None)
            os.environ.update({name: value} if value is not None else {})
        shutil.rmtree(self.folder)

    def preamble(self) -> str:
        """Return what programs are told: the attacks' tools and where everything is."""
        facts = {
            "HOME": str(self.home),
            "OUTSIDE": str(self.folder / "kept"),
            "REPOSITORY": str(_REPOSITORY),
            "CHILD": str(layers.CHILD),
            "UNIX": str(self.folder / "socket"),
            "ABSTRACT": self.abstract,
            "TCP": self._servers["TCP"].getsockname()[1],
            "UDP": self._servers["UDP"].getsockname()[1],
            "HOST": os.getpid(),
            "SENTINEL": self.sentinel.pid,
            "ENVIRONMENT": [*layers._ENVIRONMENT, "PWD"],
            "ALLOWED_CALLS": confine.allowed_calls(os.uname().machine),
        }
        return PROLOGUE + "".join(f"{name} = {value!r}\n" for name, value in facts.items())

    def changes(self) -> list[str]:
        """Return what is not as it was, in words; empty if nobody got out."""
        found = [name for name, seen in self._look().items() if self._files.get(name) != seen]
        found += [f"{name} is gone" for name in self._files if not (self.folder / name).exists()]
        found += [str(path) for place in _PLACES for path in Path(place).glob(f"{MARKER}*")]
        state = Path(f"/proc/{self.sentinel.pid}/stat").read_text().rpartition(")")[2].split()[0]
        if state != "S":
            found.append(f"the process to kill is in state {state}")
        return [*found, *[f"{name} was reached" for name, server in self._servers.items() if _reached(server)]]

    def _look(self) -> dict[str, tuple[object, ...]]:
        seen: dict[str, tuple[object, ...]] = {}
        for path in sorted(self.folder.rglob("*")):
            status = path.lstat()
            digest = hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""
            name = str(path.relative_to(self.folder))
            seen[name] = (status.st_mode, status.st_uid, status.st_nlink, status.st_size, status.st_mtime_ns, digest)
        return seen


def _reached(server: socket.socket) -> bool:
    try:
        if server.type == socket.SOCK_STREAM:
            server.accept()[0].close()
        else:
            server.recv(99)
    except BlockingIOError:
        return False
    return True


def open_files() -> set[tuple[str, str]]:
    """Return the descriptors of this process with what each leads to; what is closed while one looks is left out."""
    found = set()
    for name in os.listdir("/proc/self/fd"):
        with suppress(FileNotFoundError):
            found.add((name, os.readlink(f"/proc/self/fd/{name}")))
    return {(name, target) for name, target in found if not target.startswith(f"/proc/{os.getpid()}/fd")}


def family(pid: int) -> list[int]:
    """Return the process and all below it."""
    return [pid, *below(pid)]


def settled(zygote: int, size: int, *, within: float = 10.0) -> tuple[list[int], set[int]]:
    """Wait until a sandbox is ``size`` processes, and return them and the others that are below this one.

    What served a program is about to end when its answer comes, and another one to begin: a look takes two.
    """
    deadline = time.monotonic() + within
    while True:
        inside, everything = family(zygote), {*family(os.getpid())}
        if len(inside) == size and inside == family(zygote) and everything == {*family(os.getpid())}:
            return inside, everything - {*inside}
        if time.monotonic() > deadline:
            raise AssertionError(f"the sandbox is {family(zygote)} instead of {size} processes")
        time.sleep(0.002)
