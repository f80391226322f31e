"""Files of a git revision, read without running anything that a repository brings: no hook, filter or monitor."""

import os
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

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
_COMMIT_LENGTHS = (40, 64)


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
    commit = said.decode("ascii", "replace").strip()
    if len(commit) not in _COMMIT_LENGTHS:
        raise WrongUsage(f"expected {asked}; name one commit")
    return commit


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
    if not blobs:
        return
    with tempfile.TemporaryFile() as asked:
        asked.write("".join(f"{blob.object_id}\n" for blob in blobs).encode("ascii"))
        asked.seek(0)
        with subprocess.Popen(
            _command(folder, "cat-file", "--batch", "--buffer"),
            stdin=asked,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=_environment(),
        ) as running:
            assert running.stdout is not None
            try:
                for blob in blobs:
                    head = running.stdout.readline().split()
                    if len(head) != 3 or head[1] != b"blob" or head[2] != b"%d" % blob.size:
                        raise BadStub(f"expected {blob.path} in the repository, git does not have it; fetch it")
                    content = running.stdout.read(blob.size)
                    running.stdout.read(1)
                    yield blob, content
            finally:
                running.kill()


def list_worktree(folder: Path) -> list[str]:
    """Return the paths of the working tree that git knows or would add, from its top; ignored ones are left out."""
    said = run_git(
        top_of(folder), "ls-files", "-z", "--cached", "--others", "--exclude-standard", asked=f"files in {folder}"
    )
    return sorted({os.fsdecode(name) for name in said.split(b"\0") if name})


def run_git(folder: Path, *arguments: str, asked: str) -> bytes:
    """Return what a git command prints. Raises WrongUsage, with what was ``asked`` for, where it fails."""
    try:
        ended = subprocess.run(
            _command(folder, *arguments), stdin=subprocess.DEVNULL, capture_output=True, env=_environment(), check=False
        )
    except FileNotFoundError:
        raise WrongUsage("expected the command git, found none; install git, or name files") from None
    if ended.returncode:
        lines = ended.stderr.decode("utf-8", "replace").strip().splitlines()
        said = lines[0].removeprefix("fatal: ") if lines else f"git ended with status {ended.returncode}"
        raise WrongUsage(f"expected {asked}: {said}")
    return ended.stdout


def _command(folder: Path, *arguments: str) -> list[str]:
    settings = [word for setting in _SETTINGS for word in ("-c", setting)]
    return ["git", "--no-pager", "--literal-pathspecs", *settings, "-C", str(folder), *arguments]


def _environment() -> dict[str, str]:
    """Return the environment without what a hook or a user set for another repository."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("GIT_") or name.startswith("GIT_CONFIG") or name in _KEPT
    }
    return kept | {"GIT_NO_LAZY_FETCH": "1", "GIT_TERMINAL_PROMPT": "0", "GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C"}
