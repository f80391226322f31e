"""Stores at URLs, at a real S3 and at file://: the same bytes as in a folder, whatever breaks, and who holds them."""

import json
import os
import re
import shlex
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from dashboard import data
from difftrust.verify.verification import verify
from difftrust_core.datasets.benchmarks import load_benchmark
from difftrust_core.estimates.refresh import refresh_estimates
from difftrust_core.exceptions import BadStore, NoStore, StoreInUse, StoreUnreachable, WrongUsage
from difftrust_core.execution.execute import execute
from difftrust_core.store import mirror as mirrors
from difftrust_core.store.mirror import folder_of
from difftrust_core.store.settings import SETTINGS_FILE
from difftrust_core.store.store import Store, merge_files
from difftrust_core.store.url import LOCK_FILE, Remote, parse_url
from tests.recovery.world import snapshot
from tests.support import tiny
from tests.support.command import Capture, run, succeed, write_samples
from tests.support.holding import Holder
from tests.support.s3_server import BUCKET, S3, SECRET, fetch_all, put_all
from tests.support.tiny import RIGHT, WRONG

pytestmark = pytest.mark.filterwarnings("default")  # moto's and botocore's own


@pytest.fixture(scope="module")
def server() -> Iterator[S3]:
    with S3() as started:
        os.environ.update(started.environment)
        import s3fs

        s3fs.S3FileSystem.retries = 2
        s3fs.S3FileSystem().mkdir(BUCKET)
        yield started
        for name in started.environment:
            del os.environ[name]


@pytest.fixture
def s3(server: S3) -> Iterator[S3]:
    yield server
    server.left = None


@pytest.fixture
def place(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Return a new prefix of the bucket; what is mirrored lies in a cache of the test's own."""
    at_machine(monkeypatch, tmp_path, "first")
    monkeypatch.setattr(mirrors, "_GRACE", 0.0)
    return "".join(c if c.isalnum() else "-" for c in request.node.name)


@pytest.fixture
def url(place: str) -> str:
    return f"s3://{BUCKET}/{place}"


@pytest.fixture
def far(place: str, tmp_path: Path) -> str:
    """Return the URL of a folder ``far``."""
    return f"file://{tmp_path}/far"


def at_machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str) -> None:
    monkeypatch.setenv("DIFFTRUST_CACHE", str(tmp_path / name))


def filled(root: Path) -> Store:
    return tiny.filled(root, RIGHT, WRONG, RIGHT, model="m")


def executed(root: Path) -> Store:
    store = filled(root)
    with store.writing():
        execute(store, n=20, say=lambda line: None)
        refresh_estimates(store)
    return store


@pytest.fixture(scope="module")
def local(tmp_path_factory: pytest.TempPathFactory) -> Store:
    return executed(tmp_path_factory.mktemp("local") / "folder")


@pytest.mark.slow
def test_the_same_commands_leave_the_same_bytes_at_a_bucket(
    s3: S3, place: str, url: str, local: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    executed(folder_of(url))
    found = fetch_all(place, tmp_path / "found")
    assert snapshot(found) == snapshot(local.root)
    assert not [path for path in found.rglob("*") if path.is_file() and SECRET.encode() in path.read_bytes()]
    at_machine(monkeypatch, tmp_path, "second")
    elsewhere = folder_of(url)
    assert snapshot(elsewhere) == snapshot(local.root)
    assert not verify(Store.open(elsewhere)).findings


def test_settings_are_at_the_url_before_what_rests_on_them(far: str, tmp_path: Path) -> None:
    """So that a command that is killed goes on as it began."""
    found: list[str] = []
    execute(
        filled(folder_of(far)),
        n=5,
        validity="quorum",
        say=lambda line: found.append((tmp_path / "far" / SETTINGS_FILE).read_text()),
    )
    assert ["quorum" in text for text in found] == [True]


@pytest.mark.slow
@pytest.mark.usefixtures("place")
def test_a_folder_that_was_copied_to_a_url_is_a_store_there(local: Store, tmp_path: Path) -> None:
    shutil.copytree(local.root, tmp_path / "far")
    url = f"file://{tmp_path}/far/"
    words = ["sql", "select count(*) as n from candidates", "--format", "csv", "--store", url]
    for command, said in ((words, "n\n9\n"), (["execute", "--store", url, "-n", 30, "--jobs", 2], "executed 3")):
        assert succeed(*command).startswith(said)
    assert not [path for path in (tmp_path / "far").rglob(".*") if path.suffix == ".tmp"]
    here = Store.open(shutil.copytree(local.root, tmp_path / "near"))
    execute(here, n=30, say=lambda line: None)
    refresh_estimates(here)
    assert snapshot(tmp_path / "far") == snapshot(here.root)


@pytest.mark.slow
def test_results_are_exported_to_a_bucket_and_shown_from_there(
    s3: S3, place: str, local: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, url: str
) -> None:
    here = str(shutil.copytree(local.root, tmp_path / "here"))
    for to in (str(tmp_path / "near"), url, url):  # the second time it is replaced
        succeed("export", "--store", here, "--out", to)
    assert snapshot(fetch_all(place, tmp_path / "found")) == snapshot(tmp_path / "near")
    at_machine(monkeypatch, tmp_path, "second")
    monkeypatch.setenv("DIFFTRUST_STORE", url)
    assert snapshot(data.open_source().store.root) == snapshot(tmp_path / "near")


def test_a_file_is_never_seen_half(tmp_path: Path) -> None:
    (tmp_path / "here").mkdir()
    (tmp_path / "here" / "name").write_bytes(b"old" * 1000)
    remote = Remote(url=f"file://{tmp_path}/far")
    remote.put(["name"], tmp_path / "here")
    with (tmp_path / "far" / "name").open("rb") as reader:
        (tmp_path / "here" / "name").write_bytes(b"new")
        remote.put(["name"], tmp_path / "here")
        assert reader.read() == b"old" * 1000  # what was opened stays whole: the new file came by a rename
    assert remote.read("name") == b"new"
    assert remote.get(["name", "other"], tmp_path / "fetched") == {"other"}
    assert [path.read_bytes() for path in (tmp_path / "fetched").iterdir()] == [b"new"]
    assert sorted(path.name for path in (tmp_path / "far").iterdir()) == ["name"]


@pytest.mark.slow
@pytest.mark.parametrize("left", [1, 8])
def test_a_server_that_goes_in_the_middle_costs_nothing(
    s3: S3, place: str, local: Store, tmp_path: Path, left: int, url: str
) -> None:
    store = filled(folder_of(url))
    s3.left = left
    with pytest.raises(StoreUnreachable, match=rf"{url} cannot be reached: .*; what is finished is kept") as told:
        executed(store.root)
    assert "\n" not in str(told.value)
    assert SECRET not in str(told.value)
    s3.left = None
    executed(folder_of(url))
    assert snapshot(fetch_all(place, tmp_path / "found")) == snapshot(local.root)


@pytest.mark.slow
@pytest.mark.parametrize("left", [2, 8, 13])
def test_a_merge_that_breaks_off_is_never_seen_half_and_is_ended(
    s3: S3, place: str, local: Store, tmp_path: Path, left: int, monkeypatch: pytest.MonkeyPatch, url: str
) -> None:
    put_all(local.root, place)
    merged = Store.open(shutil.copytree(local.root, tmp_path / "merged"))
    merge_files(merged)
    store = Store.open(folder_of(url))
    s3.left = left
    with pytest.raises(StoreUnreachable):
        merge_files(store)
    s3.left = None
    at_machine(monkeypatch, tmp_path, "reader")
    reader = Store.open(folder_of(url))
    assert len(reader.read("executions")) == len(local.read("executions"))
    assert not verify(reader).findings
    at_machine(monkeypatch, tmp_path, "first")
    merge_files(Store.open(folder_of(url)))
    assert snapshot(fetch_all(place, tmp_path / "found")) == snapshot(merged.root)


def test_the_second_writer_is_told_who_holds_it(
    local: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, far: str
) -> None:
    shutil.copytree(local.root, tmp_path / "far")
    before = "from difftrust_core.store.mirror import folder_of\nfrom difftrust_core.store.store import Store"
    first = Holder(before, f"Store.open(folder_of({far!r})).writing()")
    with pytest.raises(StoreInUse, match="another difftrust command writes to"):  # this machine's own lock
        filled(folder_of(far))
    at_machine(monkeypatch, tmp_path, "second")
    pid = first.process.pid
    refusal = rf"process {pid} writes to {far}; .* if it was killed, run it there again, or delete {far}/{LOCK_FILE}"
    with pytest.raises(StoreInUse, match=refusal):
        filled(folder_of(far))
    assert len(Store.open(folder_of(far)).read("candidates")) == 9  # readers need no lock
    first.process.kill()
    first.end()
    with pytest.raises(StoreInUse, match=refusal):  # nobody can tell from here
        filled(folder_of(far))
    at_machine(monkeypatch, tmp_path, "first")
    filled(folder_of(far))  # here one can
    assert not (tmp_path / "far" / LOCK_FILE).exists()
    assert snapshot(tmp_path / "far") == snapshot(local.root)


def test_a_worker_of_a_command_that_has_ended_sends_nothing(tmp_path: Path, far: str) -> None:
    store = filled(folder_of(far))
    with store.writing():
        assert store.mirror is not None
        holding = store.mirror.holding
        assert holding is not None
    before = snapshot(tmp_path / "far")
    with pytest.raises(StoreInUse, match="no longer held by the command that began this"):
        holding.send(["difftrust-files.txt"], store.root)
    assert snapshot(tmp_path / "far") == before


def test_what_was_not_sent_is_made_again_but_replies_are_kept(tmp_path: Path, far: str) -> None:
    store = filled(folder_of(far))
    folder = store.folder("replies", {"benchmark": "tiny", "model": "m", "temperature": 0.6})
    folder.mkdir(parents=True)
    (folder / "replies.jsonl").write_text("one\n")
    unsent = store.root / "inputs" / "benchmark=tiny" / "x.parquet"
    unsent.parent.mkdir(parents=True)
    unsent.write_bytes(b"")
    folder_of(far)
    assert not unsent.exists()
    assert (folder / "replies.jsonl").read_text() == "one\n"
    with store.writing():
        pass
    there = tmp_path / "far" / (folder / "replies.jsonl").relative_to(store.root)
    assert there.read_text() == "one\n"
    there.write_text("one\ntwo\n")
    folder_of(far)
    assert (folder / "replies.jsonl").read_text() == "one\ntwo\n"
    (folder / "replies.jsonl").write_text("one\ntwo\nmine\n")
    there.write_text("one\ntwo\ntheirs\n")
    with pytest.raises(BadStore, match="add the lines of the one to the other"):
        folder_of(far)


def test_what_is_no_store_is_refused(place: str, tmp_path: Path) -> None:
    (tmp_path / "far").mkdir()
    (tmp_path / "far" / "photo.jpg").write_bytes(b"")
    with pytest.raises(NoStore, match=r"far is there and is no difftrust store"):
        folder_of(f"file://{tmp_path}/far")


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("sftp://me:pass-word@host/store", "holds no password, query or fragment, got one for sftp://host"),
        ("abfs://box/store?sig=pass-word", "holds no password, query or fragment, got one for abfs://box"),
        ("simplecache::s3://bucket/pass-word", "a store is a folder or a URL such as s3://bucket/prefix"),
        ("s3://", "a store is a folder or a URL such as"),
        ("gs://bucket/store", "gs:// needs gcsfs, which is not installed; run `pip install gcsfs`"),
        (
            "gopher://host/store",
            "expected a protocol that fsspec knows, such as s3, gs, abfs, sftp or file, got gopher",
        ),
    ],
)
def test_urls_that_cannot_be_are_refused_in_a_line_without_their_secret(
    url: str, said: str, tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    at_machine(monkeypatch, tmp_path, "first")
    status, _, err = run(capsys, "verify", "--store", url)
    assert status == WrongUsage.exit_status == 2
    assert said in err
    assert err.count("\n") == 1
    assert "pass-word" not in err


def test_without_fsspec_a_url_is_refused_with_the_command_that_installs_it(
    place: str, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "fsspec", None)
    status, _, err = run(capsys, "verify", "--store", "s3://bucket/never-asked-for")
    said = "difftrust: a store at a URL needs fsspec, which is not installed; run `pip install 'difftrust[url]'`\n"
    assert (status, err) == (2, said)


@pytest.mark.slow
@pytest.mark.usefixtures("s3", "place")
@pytest.mark.parametrize("page", ["stores", "scaling"])
def test_the_commands_in_the_docs_are_as_written(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = (Path(__file__).parents[2] / "docs" / f"{page}.md").read_text()
    commands = [shlex.split(line)[1:] for line in re.findall(rf"^    (difftrust .*{BUCKET}.*)$", text, re.MULTILINE)]
    assert len(commands) >= 3
    task = load_benchmark("starter")[0]
    wrong = f"def {task.entry_point}(*args):\n    return None\n"
    for name in ("samples", "part-07"):
        write_samples(tmp_path / f"{name}.jsonl", {task.task_id: (task.reference, wrong, task.reference)})
    monkeypatch.chdir(tmp_path)
    for words in commands:
        if "--scheduler" in words:  # tests/execution/test_dask_backend.py has one
            words = words[: words.index("--backend")]
        assert succeed(*words)


def test_a_message_names_the_url_not_its_mirror(place: str, tmp_path: Path, capsys: Capture) -> None:
    url = f"file://{tmp_path}/none"
    _, _, err = run(capsys, "execute", "--store", url)
    assert err == f"difftrust: no difftrust store in {url}; make one with `difftrust import ... --store {url}`\n"
    assert parse_url(url + "/") == url
    assert json.loads(next((tmp_path / "first" / "mirrors").rglob("url.json")).read_text())["url"] == url
