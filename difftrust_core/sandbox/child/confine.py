"""What a child gives up before it reads a candidate's source; runs inside the sandbox, standard library only.

Three layers, each independent of the others: resource limits, Landlock (files, TCP, signals) and a seccomp
allow-list of system calls (everything not listed fails with EPERM). ``prepare`` does in the zygote whatever
can be shared; ``confine`` is a handful of system calls in each child. ``self_test`` proves that they bite.
"""

import ctypes
import errno
import os
import platform
import resource
import signal
import socket
import struct
from collections.abc import Callable
from typing import Any

_LINUX = platform.system() == "Linux"
_HIGHEST_DESCRIPTOR = 1 << 20 if _LINUX else 1 << 10  # elsewhere they are closed one by one
_libc = ctypes.CDLL(None, use_errno=True)
_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE, _PR_SET_NO_NEW_PRIVS, _PR_SET_SECCOMP = 1, 4, 38, 22
_LANDLOCK_CREATE, _LANDLOCK_ADD, _LANDLOCK_RESTRICT = 444, 445, 446
_READ_ONLY = 0b1101  # execute (to map shared libraries), read file, read directory
_READ_FILE, _READ_FOLDER = 0b0100, 0b1000
_CAPABILITIES_V3 = 0x20080522
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND | 0o20000000  # the last: O_TMPFILE

# name: (x86_64, aarch64); None where the architecture has no such call.
_ALLOWED: dict[str, tuple[int | None, int | None]] = {
    "read": (0, 63), "write": (1, 64), "close": (3, 57), "stat": (4, None), "fstat": (5, 80),
    "lstat": (6, None), "poll": (7, None), "lseek": (8, 62), "mmap": (9, 222), "mprotect": (10, 226),
    "munmap": (11, 215), "brk": (12, 214), "rt_sigaction": (13, 134), "rt_sigprocmask": (14, 135),
    "rt_sigreturn": (15, 139), "pread64": (17, 67), "readv": (19, 65), "writev": (20, 66),
    "access": (21, None), "select": (23, None), "sched_yield": (24, 124), "mremap": (25, 216),
    "dup": (32, 23), "nanosleep": (35, 101), "getitimer": (36, 102),
    "alarm": (37, None), "setitimer": (38, 103), "getpid": (39, 172), "exit": (60, 93), "uname": (63, 160),
    "getcwd": (79, 17), "readlink": (89, None), "gettimeofday": (96, 169), "getrusage": (98, 165),
    "sysinfo": (99, 179), "times": (100, 153), "getuid": (102, 174), "getgid": (104, 176),
    "geteuid": (107, 175), "getegid": (108, 177), "getppid": (110, 173), "sigaltstack": (131, 132),
    "gettid": (186, 178), "time": (201, None), "futex": (202, 98), "sched_getaffinity": (204, 123),
    "getdents64": (217, 61), "restart_syscall": (219, 128), "clock_gettime": (228, 113),
    "clock_getres": (229, 114), "clock_nanosleep": (230, 115), "exit_group": (231, 94),
    "newfstatat": (262, 79), "readlinkat": (267, 78), "pselect6": (270, 72), "ppoll": (271, 73),
    "getrandom": (318, 278), "statx": (332, 291), "rseq": (334, 293), "faccessat": (269, 48),
    "faccessat2": (439, 439),
}  # fmt: skip
_Instruction = tuple[int, int, int, int]
_ALLOW, _REFUSE, _KILL = ((0x06, 0, 0, value) for value in (0x7FFF0000, 0x00050001, 0x80000000))  # 1: EPERM
_BY_ARGUMENT: dict[tuple[int, int], list[_Instruction]] = {
    (257, 56): [(0x20, 0, 0, 32), (0x45, 0, 1, _WRITING), _REFUSE, _ALLOW],  # openat, by its flags
    (28, 233): [(0x20, 0, 0, 32), (0x15, 1, 0, 100), (0x15, 0, 1, 101), _REFUSE, _ALLOW],  # madvise: not pages from all
}
"""Allowed unless the third argument asks for too much: to write, or that the machine does without a page."""
_NOT_THERE = (0x06, 0, 0, 0x00050000 | errno.ENOSYS)
_CLONE_THREAD = 0x00010000
_THREADS: dict[tuple[int, int], list[_Instruction]] = {
    (56, 220): [(0x20, 0, 0, 16), (0x45, 1, 0, _CLONE_THREAD), _REFUSE, _ALLOW],  # clone, by its flags
    (435, 435): [_NOT_THERE],  # clone3, whose flags a filter cannot read: the C library then takes clone
    (273, 99): [_ALLOW],  # set_robust_list, for the thread itself
    (290, 19): [_ALLOW],  # eventfd2, and what waits for it: polars' own scheduler
    (291, 20): [_ALLOW],  # epoll_create1
    (233, 21): [_ALLOW],  # epoll_ctl
    (232, 22): [_ALLOW],  # epoll_wait; epoll_pwait
    (281, 22): [_ALLOW],  # epoll_pwait
    (72, 25): [(0x20, 0, 0, 24), (0x15, 0, 1, 1030), _ALLOW, _REFUSE],  # fcntl, to duplicate a descriptor
}
"""What a library with threads needs: the kernel tells a new thread from a new process by one flag."""
_MACHINES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}


def _why_no_seccomp() -> str:
    """Return why no filter of system calls can be set here, empty if one can."""
    if not _LINUX:
        return "seccomp is there on Linux only"
    if platform.machine() not in _MACHINES or ctypes.sizeof(ctypes.c_void_p) != 8:
        return f"no table of system calls for {platform.machine()}, {8 * ctypes.sizeof(ctypes.c_void_p)} bit"
    _libc.prctl(_PR_SET_SECCOMP, 2, None, 0, 0)  # a kernel with filters looks for one, finds none, and says EFAULT
    error = ctypes.get_errno()
    return "" if error == errno.EFAULT else f"the kernel refuses filters of system calls ({os.strerror(error)})"


def _seccomp_program(threads: bool) -> bytes:
    """Return the BPF bytes of the allow-list for this architecture; with ``threads``, of clone(2) for a thread too."""
    column, audit_arch = _MACHINES[platform.machine()]
    by_argument = {**_BY_ARGUMENT, **(_THREADS if threads else {})}
    verdicts = {pair[column]: verdict for pair, verdict in by_argument.items()}
    verdicts = {**{number: [_ALLOW] for number in allowed_calls(platform.machine())}, **verdicts}
    refused = {number + 1: [_REFUSE] for number in (-1, *verdicts)}  # up to the next number that is not
    steps = sorted({**refused, **verdicts}.items())
    changes = [step for before, step in zip([(0, None), *steps], steps, strict=False) if before[1] != step[1]]
    code = [(0x20, 0, 0, 4), (0x15, 1, 0, audit_arch), _KILL, (0x20, 0, 0, 0), *_search(changes)]
    return b"".join(struct.pack("=HBBI", *instruction) for instruction in code)


def allowed_calls(machine: str) -> set[int]:
    """Return the numbers of the system calls that candidates may make; of some, as ``_BY_ARGUMENT`` says."""
    column, _ = _MACHINES[machine]
    return {number for pair in (*_ALLOWED.values(), *_BY_ARGUMENT) if (number := pair[column]) is not None}


def _search(steps: list[tuple[int, list[_Instruction]]]) -> list[_Instruction]:
    """Return a binary search for the last step whose number is not above the call's.

    The kernel tries a new filter on every number there is, so a long chain of comparisons costs every child a tenth
    of a millisecond.
    """
    if len(steps) == 1:
        return steps[0][1]
    middle = len(steps) // 2
    below, above = _search(steps[:middle]), _search(steps[middle:])
    return [(0x35, len(below), 0, steps[middle][0]), *below, *above]


def landlock_abi() -> int:
    """Return the kernel's Landlock version, 0 where there is none (``errno`` then says why)."""
    if not _LINUX:
        return 0
    version: int = _libc.syscall(_LANDLOCK_CREATE, None, ctypes.c_size_t(0), 1)
    return max(0, version)


def _why_no_landlock() -> str:
    """Return why there is no Landlock here, empty if there is."""
    if not _LINUX:
        return "Landlock is there on Linux only"
    if landlock_abi() > 0:
        return ""
    error = ctypes.get_errno()
    known = {
        errno.ENOSYS: f"not in this kernel, {platform.release()}; it came with 5.13",
        errno.EOPNOTSUPP: "in the kernel, but switched off at its start",
        errno.EPERM: "the call is refused, by the filter of a container, it seems",
    }
    return known.get(error, os.strerror(error))


def _landlock_ruleset(readable: list[str], listed: list[str]) -> int:
    """Return a ruleset descriptor: ``readable`` paths are left, and names in ``listed``. Raises OSError."""
    abi = landlock_abi()
    rights = 0x1FFF | (abi >= 2) << 13 | (abi >= 3) << 14 | (abi >= 5) << 15
    attributes = struct.pack("=QQQ", rights, 3 if abi >= 4 else 0, 3 if abi >= 6 else 0)
    size = 24 if abi >= 6 else 16 if abi >= 4 else 8
    ruleset: int = _libc.syscall(_LANDLOCK_CREATE, attributes, ctypes.c_size_t(size), 0)
    if ruleset < 0:
        raise OSError(ctypes.get_errno(), "Landlock refused its rules")
    for path in readable:
        rights = _READ_ONLY if os.path.isdir(path) else _READ_FILE | 1
        _allow(ruleset, path, _READ_FILE | 2 if path.startswith("/dev/") else rights)  # write to /dev/null
    for path in listed:
        _allow(ruleset, path, _READ_FOLDER)
    return ruleset


def _allow(ruleset: int, path: str, rights: int) -> None:
    try:
        descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return
    rule = struct.pack("=Qi", rights, descriptor)
    if _libc.syscall(_LANDLOCK_ADD, ruleset, 1, rule, 0) != 0:
        raise OSError(ctypes.get_errno(), f"Landlock refused a rule for {path}")
    os.close(descriptor)


_WHY_NOT = {"landlock": _why_no_landlock, "seccomp": _why_no_seccomp}


def end_with(parent: int) -> None:
    """Let this process be killed when its parent, whose id it had before the fork, ends in whatever way.

    Where namespaces are, the kernel ends all in them with the zygote; elsewhere nobody else would.
    """
    if _LINUX:
        _check(_libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0), "end with the parent")
        if os.getppid() != parent:  # it had ended before
            os._exit(1)


class Confinement:
    """The layers as prepared in the zygote: ``active`` names them, ``missing`` says why the others are not."""

    def __init__(self, wanted: list[str], files: dict[str, list[str]], *, threads: bool, stack_bytes: int):
        self._stack_bytes = stack_bytes
        self.missing = {name: why() if name in wanted else "not wanted" for name, why in _WHY_NOT.items()}
        self.missing = {name: why for name, why in self.missing.items() if why}
        self._landlock = None if "landlock" in self.missing else _landlock_ruleset(**files)
        self._seccomp = None
        self._threads = threads and "seccomp" not in self.missing
        if "seccomp" not in self.missing:
            program = _seccomp_program(threads)
            self._bytes = ctypes.create_string_buffer(program, len(program))
            header = struct.pack("=H6xQ", len(program) // 8, ctypes.addressof(self._bytes))
            self._seccomp = ctypes.create_string_buffer(header, len(header))
        self.active = ["rlimits", *(name for name in _WHY_NOT if name not in self.missing)]

    def zygote(self) -> None:
        """Give up, in the zygote, what no child may have: privileges, being looked into, files, large stacks."""
        if _LINUX:
            _check(_libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "no_new_privs")
            _check(_libc.prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0), "not dumpable")
            _drop_capabilities()
        _limit(resource.RLIMIT_FSIZE, 0)
        _limit(resource.RLIMIT_NOFILE, 64)
        _limit(resource.RLIMIT_CORE, 0)
        if _LINUX:
            _limit(resource.RLIMIT_MEMLOCK, 0)
        most = resource.getrlimit(resource.RLIMIT_STACK)[1]
        unlimited = most == resource.RLIM_INFINITY
        _limit(resource.RLIMIT_STACK, self._stack_bytes if unlimited else min(self._stack_bytes, most))

    def limit_memory(self, memory_bytes: int) -> None:
        """Give up, in the process that serves a task, more memory than its children may have."""
        _limit(resource.RLIMIT_AS, memory_bytes)

    def confine(self) -> None:
        """Give up, in a child, everything else that a candidate does not need. Raises OSError if a layer fails."""
        if not self._threads:  # they count as processes; the filter tells them apart
            _limit(resource.RLIMIT_NPROC, 0)
        if self._landlock is not None:
            _check(_libc.syscall(_LANDLOCK_RESTRICT, self._landlock, 0), "Landlock")
        os.dup2(1, 2)  # /dev/null
        os.closerange(3, _HIGHEST_DESCRIPTOR)
        if self._seccomp is not None:
            _check(_libc.prctl(_PR_SET_SECCOMP, 2, self._seccomp, 0, 0), "seccomp")


def _drop_capabilities() -> None:
    """Give up whatever lets root pass by the kernel's checks, for good: no child can take it up again."""
    header, none = struct.pack("=Ii", _CAPABILITIES_V3, 0), bytes(24)
    _check(_libc.capset(header, none), "no capabilities")


def _limit(what: int, limit: int) -> None:
    try:
        resource.setrlimit(what, (limit, limit))
    except (ValueError, OSError):
        if _LINUX:  # elsewhere some limits are there by name only
            raise


def _check(returned: int, what: str) -> None:
    if returned != 0:
        raise OSError(ctypes.get_errno(), f"the layer {what} could not be set up")


def _holds(attempt: Callable[[], object]) -> bool:
    """Tell whether ``attempt`` is refused."""
    try:
        attempt()
    except OSError:
        return True
    return False


def _fork() -> None:
    pid = os.fork()
    if pid == 0:
        os._exit(0)
    os.waitpid(pid, 0)


def _read(bait: str) -> None:
    try:
        os.listdir("/etc")
    except OSError:
        os.close(os.open(bait, os.O_RDONLY))


def _connect(family: int, address: Any) -> None:
    with socket.socket(family) as stream:
        stream.connect(address)


def _send_datagrams(port: int) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as datagrams:
        datagrams.connect(("127.0.0.1", port))
        datagrams.settimeout(0.2)
        datagrams.send(b"?")
        try:
            datagrams.recv(1)  # where nobody is, the kernel says so at once
        except TimeoutError:
            return


def _connect_locally(baits: dict[str, Any]) -> None:
    try:
        _connect(socket.AF_UNIX, f"\0{baits['abstract']}" if "abstract" in baits else "/nowhere")
    except OSError:
        _connect(socket.AF_UNIX, baits.get("path", "/nowhere"))


def self_test(baits: dict[str, Any]) -> list[str]:
    """Return what a confined child is still able to do, as a list of words; empty where all is shut.

    ``baits``: what really is there on the host's side, see ``host.laid_out``.
    """
    trials = {
        "files": lambda: _read(baits.get("file", "/etc/passwd")),
        "writing": lambda: os.close(os.open(baits.get("file", "/etc/passwd"), os.O_WRONLY)),
        "TCP": lambda: _connect(socket.AF_INET, ("127.0.0.1", baits.get("TCP", 0))),
        "UDP": lambda: _send_datagrams(baits.get("UDP", 9)),
        "local sockets": lambda: _connect_locally(baits),
        "processes": _fork,
        "signals": lambda: os.kill(os.getppid(), 0),
    }
    return [name for name, attempt in trials.items() if not _holds(attempt)]
