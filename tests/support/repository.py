"""A git repository made in a folder, for tests of what reads one."""

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

_AS = {"GIT_AUTHOR_NAME": "A", "GIT_AUTHOR_EMAIL": "a@b", "GIT_COMMITTER_NAME": "A", "GIT_COMMITTER_EMAIL": "a@b"}
_ALONE = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}


def git(folder: Path, *arguments: str, content: bytes = b"") -> str:
    """Return what a git command prints that runs in ``folder``, with nobody's own configuration."""
    plain = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    done = subprocess.run(
        ["git", *arguments], cwd=folder, env=plain | _AS | _ALONE, input=content, capture_output=True, check=True
    )
    return done.stdout.decode()


def repository(folder: Path, *versions: Mapping[str, str]) -> Path:
    """Return a repository with a commit of each of the versions: paths and texts, added to those before."""
    folder.mkdir(parents=True, exist_ok=True)
    git(folder, "init", "-q", "-b", "main")
    for files in versions:
        commit(folder, files)
    return folder


def commit(folder: Path, files: Mapping[str, str]) -> None:
    """Write files and commit all that is there."""
    write(folder, files)
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "--allow-empty", "-m", "a version")


def write(folder: Path, files: Mapping[str, str]) -> None:
    """Write texts by their path below ``folder``."""
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
