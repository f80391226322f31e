"""Revisions as sources: read from real repositories, some of them hostile, without running anything of theirs."""

import os
import re
import shutil
import stat
from pathlib import Path

import pytest

from difftrust.diff.changed_functions import changed_functions
from difftrust.diff.revisions import resolve_where, unpacked
from difftrust.source.target import find_target
from difftrust_core.base.files import PREFIX
from difftrust_core.exceptions import BadStub, DifftrustError, WrongUsage
from tests.support.repository import commit, git, repository

OLD, NEW = "def f(x):\n    return x\n", "def f(x):\n    return x + 1\n"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository of two versions."""
    folder = tmp_path_factory.mktemp("git") / "repo"
    return repository(folder, {"pkg/mod.py": OLD, "data.bin": "x"}, {"pkg/mod.py": NEW})


@pytest.fixture
def there(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the repository, whose sub folder ``pkg`` is the current one."""
    folder = shutil.copytree(made, tmp_path / "repo")
    monkeypatch.chdir(folder / "pkg")
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    return folder


def test_a_function_of_a_revision_is_a_function_in_a_file(there: Path, tmp_path: Path) -> None:
    for text in ("HEAD~1:pkg/mod.py::f", "HEAD~1:./mod.py::f", "HEAD~1:mod.py::f", "main^{/a version}~1:mod.py::f"):
        with resolve_where(text) as where:
            target = find_target(where)
            assert target.path.read_text() == OLD
            assert target.path.parts[-2:] == ("pkg", "mod.py")
    assert not list(tmp_path.glob(f"{PREFIX}*"))


def test_plain_files_stay_as_they_are(there: Path) -> None:
    (there / "pkg" / "odd:name.py").write_text(OLD)
    for text in ("mod.py::f", "odd:name.py::f", "other.py::Class.method"):
        with resolve_where(text) as where:
            assert where == text


def test_only_python_files_and_the_mark_of_a_top_are_copied(there: Path) -> None:
    commit(there, {"pyproject.toml": "", "pkg/big.py": "#" * (4 * 2**20 + 1), "sub dir/ü.py": ""})
    os.symlink("/etc/passwd", there / "link.py")
    os.symlink("/etc", there / "linked")
    commit(there, {})
    with unpacked("HEAD", folder=there) as top:
        found = {str(path.relative_to(top)) for path in top.rglob("*") if path.is_file() or path.is_symlink()}
    assert found == {"pyproject.toml", "pkg/mod.py", "sub dir/ü.py"}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("--output=x:mod.py::f", "expected REV:path.py::function"),
        ("HEAD:-x.py::f", "expected REV:path.py::function"),
        (":mod.py::f", "expected REV:path.py::function"),
        ("nowhere:mod.py::f", "'nowhere' names no commit here"),
        ("HEAD:other.py::f", "it has no other.py"),
        ("HEAD:../../etc/passwd::f", "it has no ../../etc/passwd"),
        ("HEAD:/etc/passwd::f", "it has no /etc/passwd"),
        ("HEAD:data.bin::f", "it has no data.bin"),
        ("HEAD\n:mod.py::f", "name a commit"),
        ("HEAD^{tree}:mod.py::f", "names no commit here"),
    ],
)
def test_what_is_no_revision_is_refused(there: Path, text: str, said: str) -> None:
    with pytest.raises(WrongUsage, match=re.escape(said)), resolve_where(text):
        pass


def test_outside_of_a_repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    with pytest.raises(WrongUsage, match="in a git repository"), resolve_where("HEAD:mod.py::f"):
        pass


@pytest.mark.parametrize("name", ["..", ".git", ".GIT"])
def test_a_tree_that_leads_out_is_refused(there: Path, name: str) -> None:
    blob = git(there, "hash-object", "-w", "--stdin", content=b"x = 1").strip()
    entry = f"100644 {'x.py'}\0".encode() + bytes.fromhex(blob)
    inner = git(there, "hash-object", "-w", "-t", "tree", "--literally", "--stdin", content=entry).strip()
    outer = f"40000 {name}\0".encode() + bytes.fromhex(inner)
    tree = git(there, "hash-object", "-w", "-t", "tree", "--literally", "--stdin", content=outer).strip()
    made = git(there, "commit-tree", "-m", "x", tree).strip()
    with pytest.raises(BadStub, match="below the top"), unpacked(made, folder=there):
        pass


def test_nothing_of_the_repository_runs(there: Path, tmp_path: Path) -> None:
    bait, marker = tmp_path / "bait", tmp_path / "it-ran"
    bait.write_text(f"#!/bin/sh\ntouch {marker}\nexit 1\n")
    bait.chmod(bait.stat().st_mode | stat.S_IXUSR)
    (there / ".gitattributes").write_text("*.py filter=bait diff=bait merge=bait working-tree-encoding=UTF-16 ident\n")
    git(there, "add", ".gitattributes")
    git(there, "commit", "-q", "-m", "attributes")
    hooks = there / ".git" / "hooks"
    for hook in ("post-checkout", "post-index-change", "reference-transaction", "fsmonitor-watchman", "pre-commit"):
        (hooks / hook).write_bytes(bait.read_bytes())
        (hooks / hook).chmod(0o755)
    for key in (
        "filter.bait.smudge", "filter.bait.clean", "filter.bait.process", "diff.bait.textconv", "diff.bait.command",
        "diff.external", "core.fsmonitor", "core.pager", "core.editor", "core.sshCommand", "core.askPass",
        "core.alternateRefsCommand", "uploadpack.packObjectsHook", "tar.tar.command", "alias.cat-file",
        "alias.ls-tree", "credential.helper", "gpg.program", "remote.origin.uploadpack",
    ):  # fmt: skip
        git(there, "config", key, f"!{bait}" if key.startswith("alias") else str(bait))
    git(there, "config", "remote.origin.url", str(tmp_path))
    git(there, "config", "core.repositoryformatversion", "1")
    git(there, "config", "remote.origin.promisor", "true")
    git(there, "config", "extensions.partialClone", "origin")
    (there / "pkg" / "mod.py").write_text(NEW + "\n\ndef g(x):\n    return x\n")
    with resolve_where("HEAD~2:pkg/mod.py::f") as where:
        assert Path(where.partition("::")[0]).read_text() == OLD
    assert len(changed_functions("HEAD~2", "HEAD", folder=there).functions) == 1
    assert len(changed_functions("HEAD~2", None, folder=there).functions) == 2
    blob = git(there, "rev-parse", "HEAD:pkg/mod.py").strip()
    (there / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
    with pytest.raises(DifftrustError), unpacked("HEAD", folder=there):  # git would ask the remote for it
        pass
    assert not marker.exists()


def test_a_hook_may_call_it(there: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_DIR", "/nowhere")
    monkeypatch.setenv("GIT_INDEX_FILE", "/nowhere/index")
    with resolve_where("HEAD:mod.py::f") as where:
        assert Path(where.partition("::")[0]).read_text() == NEW
