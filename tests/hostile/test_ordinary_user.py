"""The same attacks once more, started by root as a user without any privilege."""

import functools
import os
import shutil
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from difftrust_core.sandbox import layers

NOBODY = 65534
_REPOSITORY = Path(__file__).parents[2]
_EVERYTHING = "DIFFTRUST_HOSTILE_ROUNDS" in os.environ
GROUPS = "" if _EVERYTHING else "processes or kernel or files or network or weaker"
"""By default those where it matters who asks."""


def _needed() -> list[str]:
    """Return the folders that a run of the tests reads."""
    packages = Path(pytest.__file__).parents[1]
    wanted = [sys.base_prefix, sys.prefix, packages, layers.library_folder(), _REPOSITORY]
    return [*dict.fromkeys(os.path.realpath(path) for path in wanted)]


def _opened(paths: list[str]) -> list[str]:
    """Return bubblewrap's options for a view of the machine in which everyone may go where ``paths`` lie.

    Over the outermost folder that is closed to others (such as /root) lies an empty one, open to them, and in it
    nothing but these paths. The machine itself stays as it is.
    """
    covers: dict[Path, list[str]] = {}
    for path in paths:
        shut = [p for p in [*reversed(Path(path).parents), Path(path)] if not p.stat().st_mode & stat.S_IXOTH]
        if shut:
            covers.setdefault(shut[0], []).append(path)
    options: list[str] = []
    for cover, inside in covers.items():
        options += ["--perms", "0755", "--tmpfs", str(cover)]
        between = {p for path in inside for p in Path(path).parents if cover in p.parents}
        for folder in sorted(between):
            options += ["--perms", "0755", "--dir", str(folder)]
        for path in inside:
            options += ["--ro-bind", path, path]
    return options


def _as_nobody(*command: str) -> list[str]:
    """Return the command line that starts ``command`` as an ordinary user. Nothing of root's is left to it."""
    become = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", "--inh-caps=-all"]
    return ["bwrap", "--dev-bind", "/", "/", *_opened(_needed()), "--", *become, *command]


@functools.cache
def _failure() -> str:
    """Return the words of a failed attempt to start Python as nobody; empty if it works."""
    command = _as_nobody(sys.executable, "-c", "import numpy, pytest, difftrust_core")
    ended = subprocess.run(command, capture_output=True, text=True, cwd=_REPOSITORY, check=False)
    return "" if ended.returncode == 0 else ended.stderr.strip() or f"exit status {ended.returncode}"


@pytest.mark.timeout(7200 if _EVERYTHING else 600)
def test_contained_for_an_ordinary_user():
    if os.geteuid() != 0:
        pytest.skip("these tests run as an ordinary user already")
    if not shutil.which("setpriv") or not layers.bubblewrap():
        pytest.skip("setpriv and bubblewrap are needed to become an ordinary user")
    if why := _failure():
        pytest.skip(f"an ordinary user cannot start this Python: {why.splitlines()[-1]}")
    with tempfile.TemporaryDirectory(prefix="difftrust-nobody-") as home:
        os.chown(home, NOBODY, NOBODY)
        environment = {**os.environ, "HOME": home, "TMPDIR": home, "PYTHONDONTWRITEBYTECODE": "1"}
        for name in [name for name in environment if name.startswith("PYTEST_")]:
            del environment[name]
        tests = [str(Path(__file__).with_name("test_contained.py")), "-n", "0", "-p", "no:randomly", "--tb=short"]
        command = _as_nobody(sys.executable, "-m", "pytest", *tests, *(["-k", GROUPS] if GROUPS else []))
        ran = subprocess.run(command, capture_output=True, text=True, cwd=_REPOSITORY, env=environment, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert " passed" in ran.stdout
    assert "skipped" not in ran.stdout
    assert "failed" not in ran.stdout


def test_an_ordinary_user_is_one():
    if os.geteuid() != 0 or not shutil.which("setpriv") or _failure():
        pytest.skip("no ordinary user can be had here")
    code = "import os; print(os.getresuid(), os.getgroups(), os.access('/etc/shadow', os.R_OK))"
    status = "print([l.split()[1] for l in open('/proc/self/status') if l.startswith(('CapEff', 'CapPrm', 'CapInh'))])"
    ran = subprocess.run(
        _as_nobody(sys.executable, "-c", f"{code}; {status}"), capture_output=True, text=True, check=True
    )
    assert ran.stdout.split("\n")[0] == f"({NOBODY}, {NOBODY}, {NOBODY}) [] False"
    assert ran.stdout.split("\n")[1] == str(["0" * 16] * 3)
