"""Files and functions of git revisions; nothing that a repository brings is run: no hook, filter or monitor."""

import io
import os
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from difftrust.source.literal_calls import PROJECT
from difftrust_core.base.files import scratch_folder
from difftrust_core.exceptions import BadStub, WrongUsage

_SETTINGS = (
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "core.untrackedCache=false",
    "protocol.allow=never",
    "submodule.recurse=false",
)
"""What a repository's own configuration could run, or fetch, switched off; its filters only run for a checkout."""
_KEPT = ("GIT_CEILING_DIRECTORIES", "GIT_DISCOVERY_ACROSS_FILESYSTEM")
_PLAIN = (b"100644", b"100755", b"100664")


@dataclass(frozen=True, kw_only=True)
class Blob:
    """A plain file of a revision."""

    path: str
    """From the top of the repository, with "/"."""
    object_id: str
    size: int
    """Bytes; -1 where git does not have the file."""


def top_of(folder: Path) -> Path:
    """Return the top of the working tree that ``folder`` is in. Raises WrongUsage where it is in none."""
    said = run_git(folder, "rev-parse", "--show-toplevel", asked=f"a folder in a git repository, {folder} is in none")
    return Path(os.fsdecode(said.removesuffix(b"\n")))


def commit_of(folder: Path, revision: str) -> str:
    """Return the id of the commit that ``revision`` names in the repository of ``folder``.

    Raises WrongUsage for a name that begins with "-", or names no commit.
    """
    if not revision.strip() or revision.startswith("-") or not revision.isprintable():
        raise WrongUsage(f"expected a git revision such as HEAD~1 or main, got {revision!r}; name a commit")
    top_of(folder)
    asked = f"a git revision such as HEAD~1 or main, {revision!r} names no commit here"
    said = run_git(folder, "rev-parse", "--verify", "--end-of-options", f"{revision}^{{commit}}", asked=asked)
    return said.decode("ascii", "replace").strip()


def has_path(folder: Path, revision: str, path: str) -> bool:
    """Tell whether a revision has a file or folder ``path``, from ``folder``."""
    try:
        run_git(folder, "cat-file", "-e", f"{commit_of(folder, revision)}:./{path}", asked=path)
    except WrongUsage:
        return False
    return True


def list_blobs(folder: Path, commit: str) -> list[Blob]:
    """Return the plain files of a commit, of the whole repository; links and submodules are left out.

    Raises BadStub where a name could lead out of a folder that the files are written to.
    """
    said = run_git(folder, "ls-tree", "-r", "-l", "-z", "--full-tree", commit, asked=f"the files of {commit}")
    found = []
    for line in said.split(b"\0"):
        head, _, name = line.partition(b"\t")
        fields = head.split()
        if len(fields) == 4 and fields[0] in _PLAIN and fields[1] == b"blob":
            path = os.fsdecode(name)
            if any(part in ("", ".", "..") or part.lower() == ".git" for part in path.split("/")):
                raise BadStub(f"expected files below the top of the repository, {commit[:12]} has {path!r}; not read")
            size = int(fields[3]) if fields[3].isdigit() else -1
            found.append(Blob(path=path, object_id=fields[2].decode("ascii"), size=size))
    return found


def read_blobs(folder: Path, blobs: Sequence[Blob]) -> Iterator[tuple[Blob, bytes]]:
    """Iterate over files and their contents, as committed. Raises BadStub where git does not have one."""
    asked = "".join(f"{blob.object_id}\n" for blob in blobs).encode("ascii")
    said = io.BytesIO(run_git(folder, "cat-file", "--batch", "--buffer", asked="contents of files", given=asked))
    for blob in blobs:
        head = said.readline().split()
        if len(head) != 3 or head[1] != b"blob" or head[2] != b"%d" % blob.size:
            raise BadStub(f"expected {blob.path} in the repository, git does not have it; fetch it")
        yield blob, said.read(blob.size)
        said.read(1)


def list_worktree(folder: Path) -> list[str]:
    """Return the paths of the working tree that git knows or would add, from its top; ignored ones are left out."""
    said = run_git(
        top_of(folder), "ls-files", "-z", "--cached", "--others", "--exclude-standard", asked=f"files in {folder}"
    )
    return sorted({os.fsdecode(name) for name in said.split(b"\0") if name})


def run_git(folder: Path, *arguments: str, asked: str, given: bytes = b"") -> bytes:
    """Return what a git command prints that reads what is ``given``.

    Raises WrongUsage, with what was ``asked`` for, where it fails.
    """
    settings = [word for setting in _SETTINGS for word in ("-c", setting)]
    try:
        ended = subprocess.run(
            ["git", "--no-pager", "--literal-pathspecs", *settings, "-C", str(folder), *arguments],
            input=given,
            capture_output=True,
            env=_environment(),
            check=False,
        )
    except FileNotFoundError:
        raise WrongUsage("expected the command git, found none; install git, or name files") from None
    if ended.returncode:
        lines = ended.stderr.decode("utf-8", "replace").strip().splitlines()
        said = lines[0].removeprefix("fatal: ") if lines else f"git ended with status {ended.returncode}"
        raise WrongUsage(f"expected {asked}: {said}")
    return ended.stdout


def _environment() -> dict[str, str]:
    """Return the environment without what a hook or a user set for another repository."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("GIT_") or name.startswith("GIT_CONFIG") or name in _KEPT
    }
    return kept | {"GIT_NO_LAZY_FETCH": "1", "GIT_TERMINAL_PROMPT": "0", "GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C"}


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
    blobs = (blob for blob in list_blobs(folder, commit) if blob.size <= MAX_FILE)
    wanted = [blob for blob in blobs if blob.path.endswith(_KINDS) or blob.path.rpartition("/")[2] in PROJECT]
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
