"""A user without any privilege, whom root becomes to run a command as."""

import functools
import os
import shlex
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from difftrust_core.sandbox import layers
from difftrust_core.sandbox.runner import library_places

NOBODY = 65534
REPOSITORY = Path(__file__).parents[2]


def _needed() -> list[str]:
    """Return the folders that a run of the tests reads."""
    packages = Path(pytest.__file__).parents[1]
    wanted = [sys.base_prefix, sys.prefix, packages, str(library_places(layers.PYTHON)[0].parent), REPOSITORY]
    return [*dict.fromkeys(os.path.realpath(path) for path in wanted)]


def _opened(paths: list[str]) -> str:
    """Return shell commands that give a mount namespace a view in which everyone may go where ``paths`` lie.

    Over the outermost folder that is closed to others (such as /root) lies an empty one, open to them, and in it
    nothing but these paths. The machine itself stays as it is.
    """
    covers: dict[Path, list[str]] = {}
    for path in paths:
        shut = [p for p in [*reversed(Path(path).parents), Path(path)] if not p.stat().st_mode & stat.S_IXOTH]
        if shut:
            covers.setdefault(shut[0], []).append(path)
    lines = ["set -e", "umask 022"]
    for cover, inside in covers.items():
        lines += ["new=$(mktemp -d)", 'mount -t tmpfs -o mode=755 none "$new"']
        for path in inside:
            there = f'"$new"/{shlex.quote(os.path.relpath(path, cover))}'
            lines += [f"mkdir -p {there}", f"mount --bind {shlex.quote(path)} {there}"]
            lines += [f"mount -o remount,bind,ro {there}"]
        lines += [f'mount --move "$new" {shlex.quote(str(cover))}', 'rmdir "$new"']
    return "\n".join([*lines, 'exec "$@"'])


def as_nobody(*command: str) -> list[str]:
    """Return the command line that starts ``command`` as an ordinary user. Nothing of root's is left to it."""
    become = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}"]
    become += ["--clear-groups", "--inh-caps=-all", "--no-new-privs"]
    return ["unshare", "--mount", "sh", "-c", _opened(_needed()), "sh", *become, *command]


@functools.cache
def why_not() -> str:
    """Return why no ordinary user can be had here; empty if Python starts as one."""
    if os.geteuid() != 0:
        return "these tests run as an ordinary user already"
    missing = [name for name in ("setpriv", "unshare", "mount") if not shutil.which(name)]
    if missing:
        return f"becoming an ordinary user needs {', '.join(missing)}"
    command = as_nobody(sys.executable, "-c", "import numpy, pytest, difftrust_core")
    ended = subprocess.run(command, capture_output=True, text=True, cwd=REPOSITORY, check=False)
    said = ended.stderr.strip() or f"exit status {ended.returncode}"
    return "" if ended.returncode == 0 else f"an ordinary user cannot start this Python: {said.splitlines()[-1]}"
