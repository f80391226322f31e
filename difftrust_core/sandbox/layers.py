"""Which layers of isolation this machine offers, and how a zygote is started behind them and ended."""

import contextlib
import functools
import glob
import importlib.machinery
import importlib.util
import itertools
import json
import os
import platform
import re
import shutil
import signal
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from difftrust_core.base import literals, standard_types
from difftrust_core.sandbox.runner import CHILD, Runner, library_files, library_places

NO_BWRAP = "no bwrap in PATH"
_HARNESS = "/harness"
_ENVIRONMENT = {"OPENBLAS_NUM_THREADS": "1", "PYTHONHASHSEED": "0", "PYTHONUTF8": "1", "LC_ALL": "C.UTF-8"}
_FOR_THREADS = {"POLARS_MAX_THREADS": "1", "TOKIO_WORKER_THREADS": "1", "RAYON_NUM_THREADS": "1"}
PYTHON = Runner()
_MAY_HOLD_PACKAGES = re.compile(r"(site|dist)-packages|python[\d.]+")
"""Folders in Python's own or the system's in which a candidate may read nothing that is not named by itself."""
_PYTHON_FLAGS = ("-s", "-P", "-S", "-B")
_NAMESPACES = (
    "--unshare-user",
    "--unshare-all",
    "--as-pid-1",
    "--cap-drop",
    "ALL",
    "--clearenv",
    "--hostname",
    "sandbox",
)
_ENDS_WITH_ALL = ("--user", "--map-current-user", "--pid", "--fork", "--kill-child", "--")
"""Options of unshare(1): bubblewrap is the first process of a namespace; the kernel ends with it all that it started.

Killed between the start of its inner process and the word that this one waits for, it would leave it waiting for ever;
``--die-with-parent`` takes hold later still.
"""


def python_binary() -> str:
    """Return the interpreter behind this process, not a virtual environment's link to it."""
    return os.path.realpath(getattr(sys, "_base_executable", "") or sys.executable)


def readable_paths(runner: Runner) -> list[str]:
    """Return where all that a candidate may read lies: Python, the runner's libraries, the system's libraries."""
    names = ("base", "installed_base", "platbase", "installed_platbase")
    base = {name: sys.base_exec_prefix if "plat" in name else sys.base_prefix for name in names}
    stdlib = [sysconfig.get_path(name, vars=base) for name in ("stdlib", "platstdlib")]
    python_libraries = glob.glob(os.path.join(sys.base_prefix, "lib", "libpython*"))
    system = ["/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/share/zoneinfo"]
    wanted = [python_binary(), *stdlib, *python_libraries, *system, *map(str, library_places(runner))]
    return [path for path in dict.fromkeys(wanted) if os.path.exists(path)]


def files_left(runner: Runner) -> dict[str, list[str]]:
    """Return what Landlock leaves a candidate: ``readable`` files and folders, and what may be ``listed`` besides.

    Where packages lie in Python's own folder or in the system's, the rest of that folder is named one by one: a rule
    for a folder holds for all in it. To import from it, its names have to be read.
    """
    libraries = [*map(str, library_places(runner))]
    readable, listed = [*libraries, "/dev/null", "/dev/urandom"], []
    once = {os.path.realpath(path): path for path in reversed(readable_paths(runner)) if path not in libraries}
    for path in once.values():
        inside = os.listdir(path) if os.path.isdir(path) else []
        ours = [os.path.join(path, name) for name in inside if not _MAY_HOLD_PACKAGES.fullmatch(name)]
        listed += [path] if len(ours) < len(inside) else []
        readable += ours if len(ours) < len(inside) else [path]
    return {"readable": readable, "listed": listed}


class Probe(NamedTuple):
    """How a command that starts something else begins here, or why it does not work."""

    command: tuple[str, ...]
    """Empty where there is none."""
    why_not: str = ""
    """The reason, in the program's own words where it has any; empty where it works."""


def bubblewrap(runner: Runner = PYTHON) -> tuple[str, ...]:
    """Return the working start of a bubblewrap command, empty where there is none."""
    return probe_bubblewrap(runner).command


@functools.cache
def probe_bubblewrap(runner: Runner = PYTHON) -> Probe:
    """Start a Python behind bubblewrap; one too old for ``--disable-userns`` is used without it, so is ``unshare``."""
    why_not = NO_BWRAP
    if platform.system() != "Linux":
        return Probe((), "namespaces are there on Linux only")
    for command in _bubblewrap_commands(runner):
        why_not = _why_it_fails((*command, "--", python_binary(), *_PYTHON_FLAGS, "-c", ""))
        if not why_not:
            return Probe(command)
    return Probe((), why_not)


def _bubblewrap_commands(runner: Runner) -> Iterator[tuple[str, ...]]:
    """Yield the ways to start bubblewrap, the best one first; none where it is not installed."""
    binary, unshare = shutil.which("bwrap"), shutil.which("unshare")
    before = ((unshare, *_ENDS_WITH_ALL), ()) if unshare else ((),)
    for more, first in itertools.product((("--disable-userns",), ()), before) if binary else ():
        yield (*first, str(binary), *_NAMESPACES, *more, *_binds(runner))


@functools.cache
def _best_commands(runner: Runner) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return how setarch and bubblewrap begin where they work as they should; nothing of it has been tried."""
    harness = (CHILD / f"{name}.py" for name in ("canonical", "confine", "program", "channel", "watchdog"))
    # Compiled here, if they are not yet: the zygote may write nothing.
    for file in (*harness, *runner.parts, runner.module):
        importlib.machinery.SourceFileLoader(file.stem, str(file)).get_code(file.stem)
    binary = shutil.which("setarch")
    commands = _bubblewrap_commands(runner) if platform.system() == "Linux" else iter(())
    return (binary, "-R") if binary else (), next(commands, ())


_disproved: set[Runner] = set()


def disprove(runner: Runner) -> bool:
    """Note that a zygote did not start the best way; return False if that was known. From now on each way is probed.

    Where it does start, nothing is probed: two processes less, and its own self-test says what holds.
    """
    known = runner in _disproved
    _disproved.add(runner)
    return not known


def why_no_bubblewrap(runner: Runner) -> str:
    """Return why zygotes are not behind bubblewrap, empty if they are."""
    return "" if _commands(runner)[1] else probe_bubblewrap(runner).why_not or "it was not there at first"


def _commands(runner: Runner) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return how setarch and bubblewrap begin, as zygotes are started with them; empty where one is not used."""
    if runner in _disproved:
        return probe_fixed_addresses().command, bubblewrap(runner)
    return _best_commands(runner)


@functools.cache
def probe_fixed_addresses() -> Probe:
    """Start a Python under ``setarch -R``: without address randomisation, for programs may order by ``id``."""
    binary = shutil.which("setarch")
    if binary is None:
        return Probe((), "no setarch in PATH")
    why_not = _why_it_fails((binary, "-R", python_binary(), *_PYTHON_FLAGS, "-c", ""))
    return Probe((), why_not) if why_not else Probe((binary, "-R"))


def _why_it_fails(command: tuple[str, ...]) -> str:
    """Return the first thing that the command says when it fails, empty if it succeeds."""
    name = os.path.basename(command[0])
    try:
        ended = subprocess.run(
            command,
            env=_ENVIRONMENT,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=20,
            check=False,
            start_new_session=True,
        )
    except subprocess.TimeoutExpired:
        return f"{name} did not come back within 20 s"
    except OSError as e:
        return f"{name} cannot be started: {e.strerror}"
    if ended.returncode == 0:
        return ""
    said = ended.stderr.decode(errors="replace").strip().splitlines()
    return said[0] if said else f"{name} ended with status {ended.returncode} and no word"


def _environment(runner: Runner) -> dict[str, str]:
    return {**_ENVIRONMENT, **_FOR_THREADS} if runner.threads else _ENVIRONMENT


def _binds(runner: Runner) -> tuple[str, ...]:
    parts: list[str] = []
    for path in readable_paths(runner):
        parts += ["--symlink", os.readlink(path), path] if os.path.islink(path) else ["--ro-bind", path, path]
    shared = map(Path, (literals.__file__, standard_types.__file__))
    for file in dict.fromkeys((*CHILD.glob("*.py"), *shared, *runner.parts, runner.module)):
        parts += ["--ro-bind", str(file), f"{_HARNESS}/{file.name}"]
        cached = Path(importlib.util.cache_from_source(str(file)))
        if cached.is_file():  # Python itself sees whether it is of this text
            parts += ["--ro-bind", str(cached), f"{_HARNESS}/{cached.parent.name}/{cached.name}"]
    for name, value in _environment(runner).items():
        parts += ["--setenv", name, value]
    return (*parts, "--remount-ro", "/")


def start_zygote(shared: tuple[int, int, int], *, wanted: frozenset[str], runner: Runner) -> "subprocess.Popen[bytes]":
    """Start a zygote behind the ``wanted`` layers; it inherits its control socket, requests and replies."""
    descriptors = [str(descriptor) for descriptor in shared]
    fixed, prefix = _commands(runner)
    prefix = (*prefix, "--") if prefix and "bubblewrap" in wanted else ()
    files = [CHILD / "zygote.py", Path(literals.__file__), runner.module, *runner.parts]
    if prefix:
        files = [Path(_HARNESS, file.name) for file in files]
    zygote, grammar, module, *parts = map(str, files)
    libraries = {name: str(path) for name, path in library_files(runner).items()}
    told = {"libraries": libraries, "parts": parts, "preload": runner.preload}
    harness = [zygote, grammar, module, runner.inputs, json.dumps(told)]
    command = [*fixed, *prefix, python_binary(), *_PYTHON_FLAGS, *harness, *descriptors]
    return subprocess.Popen(
        command,
        pass_fds=shared,
        env=_environment(runner),
        cwd="/",
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        # No terminal inside; Ctrl-C reaches the host only, which then closes the control socket; one group to kill.
        start_new_session=True,
    )


def end_zygote(process: "subprocess.Popen[bytes]", *, patience: float) -> str:
    """Wait until a zygote whose control socket is closed has left, with all that it started; return its last line.

    What is still there after ``patience`` seconds is killed: its process group. This is told by standard error, which
    ends with the last process that holds it. So the first of them is not waited for before, and its number, which is
    the group's, can be nobody else's.
    """
    try:
        _, said = process.communicate(timeout=patience)
    except subprocess.TimeoutExpired:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        assert process.stderr is not None
        process.stderr.close()
        return "it did not come to an end"
    # What unshare says is but that it was surprised by the end of bubblewrap.
    lines = [line for line in said.decode(errors="replace").splitlines() if line and not line.startswith("unshare: ")]
    return lines[-1] if lines else f"no message, exit status {process.returncode}"


def describe_layers(active: frozenset[str], still_open: tuple[str, ...]) -> str:
    """Return one line: the layers that are active, and what candidates could still do."""
    names = ", ".join(sorted(active))
    if not still_open:
        return f"sandbox: {names}; files, network, processes and signals are shut"
    return f"sandbox: {names}; candidates can still reach: {', '.join(still_open)}"
