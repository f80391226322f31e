"""What the doctor says of a machine: with layers really taken away, it names them, why, and what is open then."""

import contextlib
import json
import os
import platform
import re
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import difftrust
import difftrust_core
from difftrust.cli.stores import _doctor_as_text
from difftrust.doctor import REACH, Diagnosis, Layer, aged, diagnose
from difftrust_core.base.files import PREFIX
from difftrust_core.base.records import Kind
from difftrust_core.exceptions import WeakSandbox
from difftrust_core.sandbox import host as baits
from difftrust_core.sandbox import layers
from difftrust_core.sandbox.host import Limits, Sandbox
from difftrust_core.sandbox.runner import CHILD, library_places
from tests.sandbox.test_host import run, values
from tests.support.command import run as command
from tests.support.needs import needs_bubblewrap
from tests.support.proc import below

LIMITS = Limits(call_cpu=0.2, call_wall=1.0, load_cpu=0.5, program_cpu=3.0, program_wall=6.0, max_timeouts=2)
NO_NAMESPACES = frozenset({"landlock", "seccomp"})
IS_ROOT = os.geteuid() == 0
BWRAP = shutil.which("bwrap")
ENOSYS, EOPNOTSUPP, EPERM = 38, 95, 1
LANDLOCK_CREATE, LANDLOCK_RESTRICT, PIDFD_OPEN = 444, 446, 434

WITHOUT_CALL = """
import ctypes, os, struct, sys
number, error = int(sys.argv[1]), int(sys.argv[2])
code = [(0x20, 0, 0, 0), (0x15, 0, 1, number), (0x06, 0, 0, 0x50000 | error), (0x06, 0, 0, 0x7FFF0000)]
program = b"".join(struct.pack("=HBBI", *line) for line in code)
kept = ctypes.create_string_buffer(program, len(program))
libc = ctypes.CDLL(None)
assert libc.prctl(38, 1, 0, 0, 0) == 0
assert libc.prctl(22, 2, struct.pack("=H6xQ", len(code), ctypes.addressof(kept)), 0, 0) == 0
os.execv(sys.executable, [sys.executable, *sys.argv[3:]])
"""
"""Become another Python on whose kernel one system call fails with an error of our choice."""
CLI = ["-c", "from difftrust.cli import main; main()"]


def doctor(
    *, path: str | None = None, without: tuple[int, int] | None = None
) -> tuple[int, dict[str, Any], dict[str, dict[str, Any]]]:
    """Run `difftrust doctor` on a machine with something taken away; return its status, report and layers by name."""
    environment = os.environ | ({"PATH": path} if path is not None else {})
    prefix = ["-c", WITHOUT_CALL, *map(str, without)] if without else []
    command = [sys.executable, *prefix, *CLI, "doctor", "--format=json"]
    ended = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert ended.stderr == ""
    found = json.loads(ended.stdout)
    return ended.returncode, found, {one["name"]: one for one in found["layers"]}


def outcomes_of(sandbox: Sandbox, source: str, inputs: tuple[str, ...] = ("(0,)",)) -> list[tuple[Kind, str]]:
    return list(run(sandbox, source, inputs)[0])


def script(folder: Path, text: str) -> str:
    """Make a `bwrap` of our own; return the folder as a PATH."""
    (folder / "bwrap").write_text(f"#!/bin/sh\n{text}\n")
    (folder / "bwrap").chmod(0o755)
    return str(folder)


OPEN = {
    (): {"files", "writing", "TCP", "UDP", "local sockets", "processes", "signals"},
    ("seccomp",): {"files"},
    ("landlock",): {"UDP", "local sockets", "processes"},
    ("landlock", "seccomp"): set(),
    ("bubblewrap",): {"processes", "signals"},
    ("bubblewrap", "seccomp"): set(),
    ("bubblewrap", "landlock"): {"processes"},
    ("bubblewrap", "landlock", "seccomp"): set(),
}


@pytest.mark.parametrize("wanted", OPEN, ids=lambda wanted: "+".join(wanted) or "rlimits")
def test_what_each_set_of_layers_leaves_open(wanted: tuple[str, ...]) -> None:
    found = diagnose(wanted=frozenset(wanted))
    states = {one.name: one for one in found.layers}
    for name in wanted:
        if not states[name].active:
            pytest.skip(f"{name} is missing here: {states[name].detail}")
    assert all(one.remedy and one.leaves_open for one in found.layers[:3] if one.detail == "not wanted")
    expected = OPEN[wanted] if IS_ROOT else OPEN[wanted] - {"processes"}
    assert set(found.still_open) == expected
    assert found.is_sound == (expected <= {"processes", "signals"})
    assert found.verdict.startswith(
        "execution starts" if found.is_sound else "execution refuses to start unless --allow"
    )
    if found.is_sound:
        Sandbox(LIMITS, wanted=frozenset(wanted)).close()
    else:
        with pytest.raises(WeakSandbox, match=f"reach {found.verdict.partition('could reach ')[2]}"):
            Sandbox(LIMITS, wanted=frozenset(wanted))


def test_kernel_filters_alone_leave_names_and_sizes_open() -> None:
    seen = f"""
import os
def f(x):
    return (
        os.path.exists('/proc/{os.getpid()}'), os.sched_getaffinity({os.getpid()}) != set(),
        os.readlink('/proc/self/exe') != '', os.uname().nodename,
    )
"""
    with Sandbox(LIMITS, wanted=NO_NAMESPACES, allow_weak=True) as sandbox:
        if sandbox.missing.keys() != {"bubblewrap"}:
            pytest.skip(f"a layer is missing here: {sandbox.missing}")
        assert outcomes_of(sandbox, seen) == [(Kind.VALUE, repr((True, True, True, platform.node())))]
        assert outcomes_of(sandbox, "import os\ndef f(x): return os.stat('/etc/passwd').st_size > 0") == [
            (Kind.VALUE, "True")
        ]
        opened = outcomes_of(sandbox, "def f(x): return open('/etc/passwd')")
    assert opened == [(Kind.EXCEPTION, "PermissionError")]
    leaves_open = {one.name: one.leaves_open for one in diagnose(wanted=frozenset()).layers}["bubblewrap"]
    for word in ("names, sizes and dates of files", "where links lead", "process numbers", "the name of this machine"):
        assert word in leaves_open


@needs_bubblewrap
def test_behind_bubblewrap_the_machine_has_another_name() -> None:
    with Sandbox(LIMITS) as sandbox:
        source = f"import os\ndef f(x): return os.uname().nodename, os.path.exists('/proc/{os.getpid()}')"
        assert outcomes_of(sandbox, source) == [(Kind.VALUE, "('sandbox', False)")]


def test_root_has_no_privilege_inside() -> None:
    with Sandbox(LIMITS, wanted=NO_NAMESPACES, allow_weak=True) as sandbox:
        outcomes_of(sandbox, "def f(x): return x")
        for pid in (sandbox.pid, *below(sandbox.pid)):
            status = Path(f"/proc/{pid}/status").read_text()
            assert re.findall(r"^Cap(?:Inh|Prm|Eff|Amb):\t(.*)$", status, re.MULTILINE) == ["0" * 16] * 4


def test_landlock_leaves_the_libraries_and_no_package_beside_them() -> None:
    left = layers.files_left(layers.PYTHON)
    libraries = {str(path) for path in library_places(layers.PYTHON)}
    assert libraries <= {*left["readable"]}
    for path in {*left["readable"]} - libraries:
        assert not any((Path(path) / name).exists() for name in ("site-packages", "dist-packages", "difftrust_core"))
        assert not CHILD.is_relative_to(os.path.realpath(path))


def test_the_standard_library_is_imported_without_its_packages() -> None:
    names = ["zoneinfo", "ctypes.util", "xml.dom.minidom", "email.mime.text", "sqlite3", "lzma", "numpy.linalg"]
    source = f"import importlib\ndef f(x): return [importlib.import_module(n).__name__ for n in {names}]"
    with Sandbox(Limits(), wanted=NO_NAMESPACES, allow_weak=True) as sandbox:
        assert outcomes_of(sandbox, source) == [(Kind.VALUE, repr(names))]


def test_baits_lie_in_a_scratch_folder_and_are_gone_afterwards(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with baits.laid_out() as laid:
        assert laid.keys() == {"file", "path", "TCP", "UDP", "abstract"}
        folder = Path(str(laid["file"])).parent
        assert (folder.parent, folder.name[: len(PREFIX)]) == (tmp_path, PREFIX)
    assert [*tmp_path.iterdir()] == []
    with socket.socket() as stream, pytest.raises(ConnectionRefusedError):
        stream.connect(("127.0.0.1", laid["TCP"]))


def test_as_text(capsys: pytest.CaptureFixture[str]) -> None:
    status, text, _ = command(capsys, "doctor")
    found = diagnose()
    assert status == (0 if found.is_sound else 1)
    assert text.splitlines()[-1] == f"verdict: {found.verdict}"
    for one in found.layers:
        state = "active" if one.active else "missing"
        assert f"{one.name} {state} {one.detail}" in " ".join(text.split())


REFUSED = "bwrap: No permissions to create new namespace"
NO_BWRAP = {
    "not there": ("", "no bwrap in PATH", "apt-get install bubblewrap"),
    "refused": (f"echo '{REFUSED}' >&2; echo 'and more' >&2; exit 1", REFUSED, "kernel.unprivileged_userns_clone=1"),
    "says nothing": ("exit 3", "bwrap ended with status 3 and no word", ""),
}


@pytest.mark.quick(1)
@pytest.mark.parametrize(("does", "detail", "remedy"), NO_BWRAP.values(), ids=NO_BWRAP)
def test_without_bubblewrap_the_next_weaker_stack_is_used(tmp_path: Path, does: str, detail: str, remedy: str) -> None:
    status, found, layer = doctor(path=script(tmp_path, does) if does else str(tmp_path))
    assert layer["bubblewrap"]["detail"] == detail
    assert remedy in layer["bubblewrap"]["remedy"]
    assert layer["fixed addresses"]["detail"] == "no setarch in PATH"
    if layer["landlock"]["active"] and layer["seccomp"]["active"]:
        assert (status, found["verdict"], found["still_open"]) == (0, "execution starts", [])


@needs_bubblewrap
def test_an_old_bubblewrap_is_used_without_the_option_it_does_not_know(tmp_path: Path) -> None:
    old = f'case "$*" in *--disable-userns*) echo "bwrap: Unknown option" >&2; exit 1;; esac\nexec {BWRAP} "$@"'
    status, _, layer = doctor(path=script(tmp_path, old))
    assert (status, layer["bubblewrap"]["active"]) == (0, True)
    assert "further ones possible inside" in layer["bubblewrap"]["detail"]


LANDLOCK_ERRORS = {
    "not in the kernel": (ENOSYS, "not in this kernel"),
    "switched off": (EOPNOTSUPP, "switched off at its start"),
    "refused": (EPERM, "by the filter of a container"),
}


@pytest.mark.quick(1)
@pytest.mark.parametrize(("error", "why"), LANDLOCK_ERRORS.values(), ids=LANDLOCK_ERRORS)
def test_a_kernel_without_landlock(tmp_path: Path, error: int, why: str) -> None:
    status, found, layer = doctor(path=str(tmp_path), without=(LANDLOCK_CREATE, error))
    assert why in layer["landlock"]["detail"]
    assert found["still_open"] == ["files"]
    assert (status, found["is_sound"]) == (1, False)
    assert found["verdict"].endswith("unless --allow-weak-sandbox is given: candidates could reach files")


@needs_bubblewrap
def test_a_kernel_without_landlock_is_sound_behind_bubblewrap() -> None:
    status, found, _ = doctor(without=(LANDLOCK_CREATE, ENOSYS))
    assert (status, found["still_open"]) == (0, [])


@pytest.mark.slow
def test_a_layer_that_fails_in_the_child_stops_everything(tmp_path: Path) -> None:
    status, found, layer = doctor(path=str(tmp_path), without=(LANDLOCK_RESTRICT, EPERM))
    assert (status, found["is_sound"], found["still_open"]) == (1, False, [])
    assert found["verdict"].startswith("execution cannot start: a confined child could not be started")
    assert "the layer Landlock could not be set up" in found["failure"]
    assert not any(one["active"] for one in layer.values())


def test_an_old_landlock_says_what_it_does_not_cover() -> None:
    now = Layer(name="landlock", active=True, detail="ABI 3")
    assert "TCP (ABI 4), signals and abstract sockets (ABI 6)" in aged(now, 3).leaves_open
    assert "TCP" not in aged(now, 5).leaves_open
    assert aged(now, 6) == now


def test_a_sandbox_that_cannot_start_or_leaves_open_what_nobody_knows_is_no_sound_one() -> None:
    unable = Diagnosis(
        machine="m", python="p", n_cpus=1, is_root=False, layers=(), still_open=(), failure="no such thing"
    )
    assert (unable.is_sound, unable.verdict) == (False, "execution cannot start: no such thing")
    assert "self-test" not in _doctor_as_text(unable)
    assert not replace(unable, still_open=("new",), failure="").is_sound


PATCHED = """#!{python}
import os, platform, runpy, select, sys
{patch}
del sys.argv[:5]
sys.path[:] = [p for p in sys.path if not p.endswith('site-packages')]
runpy.run_path(sys.argv[0], run_name='__main__')
"""
ELSEWHERE = "platform.system = lambda: 'Darwin'; del os.pidfd_open, select.POLLRDHUP"
RISC = "platform.machine = lambda: 'riscv64'"


@contextlib.contextmanager
def interpreter(monkeypatch: pytest.MonkeyPatch, folder: Path, patch: str) -> Iterator[None]:
    """Let zygotes run in a Python that believes to be somewhere else."""
    patched = folder / "python"
    patched.write_text(PATCHED.format(python=layers.python_binary(), patch=patch))
    patched.chmod(0o755)
    monkeypatch.setattr(layers, "python_binary", lambda: str(patched))
    probes = (layers.probe_bubblewrap, layers.probe_fixed_addresses, layers._best_commands)
    monkeypatch.setattr(layers, "_disproved", set())
    for probe in probes:
        probe.cache_clear()
    monkeypatch.setenv("PATH", str(folder))
    yield
    for probe in probes:
        probe.cache_clear()


def test_an_architecture_without_a_table_of_system_calls(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with interpreter(monkeypatch, tmp_path, RISC):
        found = diagnose()
    (seccomp,) = (one for one in found.layers if one.name == "seccomp")
    assert (seccomp.active, seccomp.detail) == (False, "no table of system calls for riscv64, 64 bit")
    assert "UDP" in found.still_open


def test_another_system_refuses_and_names_a_container(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(platform, "system", lambda: "Darwin")
    with interpreter(monkeypatch, tmp_path, ELSEWHERE), pytest.raises(WeakSandbox) as refused:
        Sandbox(LIMITS)
    message = str(refused.value)
    assert "bubblewrap: namespaces are there on Linux only; landlock: Landlock is there on Linux only" in message
    assert "run it in a Linux container or virtual machine, or accept it with --allow-weak-sandbox" in message
    assert "\n" not in message


HANG = (Kind.TIMEOUT, "")
PROGRAMS = {
    "def f(x): return x * x": values("0", "1", "4", "9"),
    "def f(x):\n while x == 1: pass\n return x": [*values("0"), HANG, *values("2", "3")],
    "def f(x):\n while 1: pass": [HANG] * 2 + [(Kind.SKIPPED, "")] * 2,
    "import os\ndef f(x): os._exit(x)": [(Kind.CRASH, "exit")] * 4,
    "import ctypes\ndef f(x): ctypes.string_at(0)": [(Kind.CRASH, "SIGSEGV")] * 4,
    "def f(x): return [0] * 10**9": [(Kind.MEMORY, "")] * 2 + [(Kind.SKIPPED, "")] * 2,
    "while 1: pass\ndef f(x): return x": [(Kind.LOAD_ERROR, "timeout")] * 4,
}


def test_another_system_executes_where_that_is_accepted(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    inputs = tuple(f"({i},)" for i in range(4))
    with (
        interpreter(monkeypatch, tmp_path, ELSEWHERE),
        Sandbox(LIMITS, allow_weak=True, wanted=frozenset({"landlock", "seccomp"})) as sandbox,
    ):
        assert (sandbox.active, sandbox.has_cpu_clock) == ({"rlimits"}, False)
        for source, expected in PROGRAMS.items():
            assert outcomes_of(sandbox, source, inputs) == expected, source


@pytest.mark.slow
def test_a_kernel_that_gives_no_descriptor_of_a_process(tmp_path: Path) -> None:
    status, found, layer = doctor(without=(PIDFD_OPEN, ENOSYS))
    assert not layer["cpu clock"]["active"]
    assert "the time on the wall" in layer["cpu clock"]["leaves_open"]
    assert status == (0 if found["is_sound"] else 1)


def test_every_word_of_the_self_test_is_explained() -> None:
    assert OPEN[()] == REACH.keys()


def test_a_weak_sandbox_is_never_the_default() -> None:
    defaults = []
    for path in [*Path(difftrust_core.__path__[0]).rglob("*.py"), *Path(difftrust.__path__[0]).rglob("*.py")]:
        defaults += re.findall(r"\ballow_weak: bool = (\w+)", path.read_text())
    assert len(defaults) > 5
    assert {*defaults} == {"False"}
