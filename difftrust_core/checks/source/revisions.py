"""Functions in git revisions: ``REV:path.py::function``, and a revision's Python files in a scratch folder."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from difftrust_core.base.files import scratch_folder
from difftrust_core.checks.source.calls import PROJECT
from difftrust_core.checks.source.git import Blob, commit_of, list_blobs, read_blobs, top_of
from difftrust_core.exceptions import BadStub, WrongUsage

MAX_FILE = 4 * 2**20
"""Bytes of a file; larger ones are left out."""
MAX_ALL = 256 * 2**20
_KINDS = (".py", ".pyi")


@contextmanager
def unpacked(revision: str, *, folder: Path) -> Iterator[Path]:
    """Yield a scratch folder with the Python files of a revision of the repository that ``folder`` is in.

    Contents are as committed; links and submodules are left out, and nothing of the repository is run: no hook, no
    filter. The folder looks like the top of a repository, so that nobody looks above it. Raises WrongUsage where the
    revision names no commit, BadStub where its files cannot be taken.
    """
    commit = commit_of(folder, revision)
    wanted = [blob for blob in list_blobs(folder, commit) if _is_wanted(blob)]
    total = sum(blob.size for blob in wanted)
    if total > MAX_ALL:
        raise BadStub(
            f"expected at most {MAX_ALL // 2**20} MB of Python files, {revision} has {total // 2**20}; name plain files"
        )
    with scratch_folder() as scratch:
        (scratch / ".git").mkdir()
        for blob, content in read_blobs(folder, wanted):
            path = scratch / blob.path
            try:
                path.parent.mkdir(parents=True, exist_ok=True)
                with path.open("xb") as file:
                    file.write(content)
            except OSError as e:
                why = e.strerror or e
                raise BadStub(f"expected to copy {blob.path!r} of {revision}, it cannot be written: {why}") from None
        yield scratch


def _is_wanted(blob: Blob) -> bool:
    return (blob.path.endswith(_KINDS) or blob.path.rpartition("/")[2] in PROJECT) and blob.size <= MAX_FILE


@contextmanager
def resolve_where(text: str) -> Iterator[str]:
    """Yield ``REV:path.py::function`` as a function in a scratch folder that holds the revision; others unchanged.

    The path stands from the top of the repository of the current folder, as git has it; one from the current folder is
    understood where there is no such file. Raises WrongUsage where there is no such revision or file.
    """
    revision, path, function = split_where(text)
    if not revision:
        yield text
        return
    here = Path.cwd()
    with unpacked(revision, folder=here) as top:
        yield f"{top / find_in(top, path, here, revision)}{function}"


def split_where(text: str) -> tuple[str, str, str]:
    """Return revision, path and ``::function`` of ``REV:path.py::function``; revision and function may be empty.

    A path of a file that is there has no revision. Raises WrongUsage where one of them begins with "-".
    """
    place, colons, function = text.rpartition("::") if "::" in text else (text, "", "")
    at = _first_colon(place)
    if at < 0 or place[at : at + 2] == "::" or os.path.exists(place):
        return "", place, colons + function
    revision, path = place[:at], place[at + 1 :]
    if not revision or not path or revision.startswith("-") or path.startswith("-"):
        raise WrongUsage(f"expected REV:path.py::function, such as HEAD~1:shapes.py::area, got {text!r}")
    return revision, path, colons + function


def _first_colon(place: str) -> int:
    """Return where the revision ends, as git has it: at the first colon outside of braces; -1 if there is none."""
    depth = 0
    for at, character in enumerate(place):
        depth += {"{": 1, "}": -1}.get(character, 0)
        if character == ":" and depth <= 0:
            return at
    return -1


def find_in(top: Path, path: str, here: Path, revision: str) -> str:
    """Return ``path`` from the ``top`` of an unpacked revision, whether it stands from there or from ``here``.

    Raises WrongUsage where the revision has no such file or folder.
    """
    from_here = os.path.normpath(os.path.join(os.path.relpath(here.resolve(), top_of(here).resolve()), path))
    from_top = os.path.normpath(path)
    for found in [from_here] if path.startswith((".", "/")) else [from_top, from_here]:
        is_inside = not os.path.isabs(found) and found.split(os.sep)[0] not in ("..", ".git")
        if is_inside and (top / found).exists():
            return found
    raise WrongUsage(f"expected a Python file of {revision}, it has no {path}; name it from the top of the repository")
