"""A published file is installed whole and checked, or not at all; the server here is a real one."""

import hashlib
import json
import pickle
import socket
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar

import polars as pl
import pytest

from difftrust import download as module
from difftrust.download import ORIGINS, Origin, fetch
from difftrust_core.datasets.benchmarks import LAYOUT, find_file
from difftrust_core.datasets.recorded import SCHEMA
from difftrust_core.exceptions import BadBenchmark, BadSource, NoBenchmark, WrongUsage

CONTENT = b"a benchmark of our own " * 20_000
SHA256 = hashlib.sha256(CONTENT).hexdigest()
ROW = ("MBPP", "Mbpp/2", "a", 0.6, 0, "x")


class _Handler(BaseHTTPRequestHandler):
    asked = 0
    bodies: ClassVar[dict[str, bytes]] = {}

    def do_GET(self) -> None:
        type(self).asked += 1
        if self.path == "/absent":
            self.send_error(404)
            return
        body = self.bodies.get(self.path, CONTENT)
        self.send_response(200)
        if self.path != "/unannounced":
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body[: 70_000 if self.path == "/cut" else None])

    def log_message(self, format: str, *args: object) -> None:
        """Keep the test output clean."""


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    monkeypatch.setenv("no_proxy", "*")
    _Handler.asked = 0
    with ThreadingHTTPServer(("127.0.0.1", 0), _Handler) as running:
        thread = threading.Thread(target=running.serve_forever, args=(0.01,))
        thread.start()
        yield f"http://127.0.0.1:{running.server_port}"
        running.shutdown()
        thread.join()


def origin(url: str, *, sha256: str = SHA256, max_bytes: int = 10**6) -> dict[str, Origin]:
    return {"mbpp": Origin(url=url, sha256=sha256, max_bytes=max_bytes)}


UNUSED = origin("http://unused.invalid")


def files(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.rglob("*") if path.is_file())


@pytest.mark.parametrize("place", ["file", "unannounced"])
def test_a_download_is_installed_where_it_is_looked_for(
    tmp_path: Path, server: str, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    monkeypatch.setenv("DIFFTRUST_CACHE", str(tmp_path))
    monkeypatch.delenv("DIFFTRUST_DATA", raising=False)
    path = fetch("MBPP", origins=origin(f"{server}/{place}"))
    assert path == tmp_path / "benchmarks" / LAYOUT["mbpp"]
    assert path.read_bytes() == CONTENT
    assert files(tmp_path) == [path.name]
    assert find_file("mbpp") == path


def test_what_is_there_already_is_not_fetched_again(tmp_path: Path, server: str) -> None:
    for _ in range(2):
        path = fetch("mbpp", destination=tmp_path, origins=origin(f"{server}/file"))
    assert _Handler.asked == 1
    path.write_bytes(b"damaged")
    _ = fetch("mbpp", destination=tmp_path, origins=origin(f"{server}/file"))
    assert _Handler.asked == 2
    assert path.read_bytes() == CONTENT


TRY = "; run `difftrust fetch mbpp --from PATH`, or set DIFFTRUST_DATA to a folder that holds mbpp/sanitized-mbpp.json"


@pytest.mark.parametrize(
    ("place", "wanted", "error", "said"),
    [
        ("cut", {}, BadBenchmark, f"expected {len(CONTENT)} bytes, the connection ended after 70000"),
        ("file", {"max_bytes": 1000}, BadBenchmark, "expected at most 1000 bytes, found more"),
        ("absent", {}, NoBenchmark, f"/absent: the server answered 404 Not Found{TRY}"),
        (
            "file",
            {"sha256": "0" * 64},
            BadBenchmark,
            f"/file: expected sha256 {'0' * 64}, found {SHA256}; nothing was installed{TRY}",
        ),
    ],
    ids=["cut", "too large", "absent", "another"],
)
def test_what_is_not_the_published_file_is_refused_and_what_was_there_stays(
    tmp_path: Path, server: str, place: str, wanted: dict[str, Any], error: type[Exception], said: str
) -> None:
    before = tmp_path / LAYOUT["mbpp"]
    before.parent.mkdir()
    before.write_bytes(b"before")
    with pytest.raises(error) as refused:
        fetch("mbpp", destination=tmp_path, origins=origin(f"{server}/{place}", **wanted))
    assert said in str(refused.value)
    assert files(tmp_path) == [before.name]
    assert before.read_bytes() == b"before"


def test_no_server_and_one_that_says_nothing_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("no_proxy", "*")
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))  # bound, but nobody listens
        url = f"http://127.0.0.1:{closed.getsockname()[1]}/file"
        with pytest.raises(NoBenchmark, match=r"could not be fetched: .*refused; run `difftrust fetch mbpp --from"):
            fetch("mbpp", destination=tmp_path, origins=origin(url))
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}/file"
        with pytest.raises(NoBenchmark, match="could not be fetched: timed out"):
            fetch("mbpp", destination=tmp_path, origins=origin(url), timeout=0.2)
    assert files(tmp_path) == []


def test_an_interrupted_download_leaves_nothing(tmp_path: Path, server: str, monkeypatch: pytest.MonkeyPatch) -> None:
    class Interrupted(module.tqdm):  # type: ignore[misc, type-arg]
        def update(self, n: float | None = 1) -> bool | None:
            raise KeyboardInterrupt

    monkeypatch.setattr(module, "tqdm", Interrupted)
    with pytest.raises(KeyboardInterrupt):
        fetch("mbpp", destination=tmp_path, origins=origin(f"{server}/file"))
    assert files(tmp_path) == []


def test_a_local_copy_is_checked_and_installed_where_that_can_be(tmp_path: Path) -> None:
    copy = tmp_path / "copy.json"
    copy.write_bytes(CONTENT)
    path = fetch("mbpp", source=copy, destination=tmp_path / "d", origins=UNUSED)
    assert path.read_bytes() == CONTENT
    copy.write_bytes(CONTENT[:-1])
    with pytest.raises(BadBenchmark, match=r"copy\.json: expected sha256 .*; take the file from http://unused"):
        fetch("mbpp", source=copy, destination=tmp_path / "d", origins=UNUSED)
    assert path.read_bytes() == CONTENT
    with pytest.raises(NoBenchmark, match="absent: expected a readable file"):
        fetch("mbpp", source=tmp_path / "absent", destination=tmp_path / "d", origins=UNUSED)
    assert files(tmp_path / "d") == [path.name]
    (tmp_path / "file").write_bytes(CONTENT)
    with pytest.raises(NoBenchmark, match=r"expected a place to write to.*set DIFFTRUST_CACHE"):
        fetch("mbpp", source=tmp_path / "file", destination=tmp_path / "file", origins=origin(""))


def test_the_copies_at_hand_have_the_pinned_hashes(tmp_path: Path, shared_data: Path) -> None:
    assert sorted(ORIGINS) == ["bigcodebench", "humaneval", "mbpp", "spider", "spider-tables"]
    for name, its_origin in ORIGINS.items():
        assert its_origin.url.startswith("https://raw.githubusercontent.com/")
        path = fetch(name, source=shared_data / LAYOUT[name], destination=tmp_path)
        assert path.read_bytes() == (shared_data / LAYOUT[name]).read_bytes()


def test_an_unknown_name_is_refused_and_the_candidates_need_a_clone(tmp_path: Path) -> None:
    with pytest.raises(WrongUsage, match="'apps'; the known names are humaneval, mbpp, bigcodebench, spider"):
        fetch("apps")
    with pytest.raises(NoBenchmark, match=r"clone https://github\.com/mpi-softsec/difftrust and run"):
        fetch("difftrust", destination=tmp_path)
    with pytest.raises(NoBenchmark, match="found nothing; check the path"):
        fetch("difftrust", source=tmp_path / "absent", destination=tmp_path)


def test_a_table_of_candidates_is_checked_and_installed(tmp_path: Path) -> None:
    table = tmp_path / "candidates.parquet"
    pl.DataFrame([ROW], schema=SCHEMA, orient="row").write_parquet(table)
    for source in (table, tmp_path):
        path = fetch("difftrust", source=source, destination=tmp_path / "d")
        assert path.read_bytes() == table.read_bytes()
    table.write_bytes(table.read_bytes()[:-1])
    with pytest.raises(BadSource, match="expected a whole Parquet file"):
        fetch("difftrust", source=table, destination=tmp_path / "d")
    assert pl.read_parquet(path).rows() == [ROW]


def test_a_clone_of_the_artifact_is_converted(tmp_path: Path, shared_data: Path) -> None:
    path = fetch("difftrust", source=shared_data / "artifact_sample", destination=tmp_path)
    assert pl.read_parquet(path).height == 2050
    assert files(tmp_path) == ["candidates.parquet"]


def test_a_clone_that_cannot_be_used_whole_is_refused(tmp_path: Path) -> None:
    cache = tmp_path / "MBPP" / ".experiments" / "a_temp0.6" / "cache"
    cache.mkdir(parents=True)
    with pytest.raises(BadSource, match=r"found 0 and 0 that cannot be used \(no file to read\)"):
        fetch("difftrust", source=tmp_path, destination=tmp_path / "d")
    (cache / "candidates_2").write_bytes(pickle.dumps(print))
    with pytest.raises(BadSource, match=r"found 0 and 1 that .*print; not run\); `difftrust import"):
        fetch("difftrust", source=tmp_path, destination=tmp_path / "d")
    assert files(tmp_path / "d") == []


SPIDER = [
    {"db_id": "pets", "question": "Who’s first?", "query": "SELECT 1", "sql": {"select": []}},
    {"db_id": "pets", "question": "All?", "query": "SELECT * FROM t", "sql": {}},
]
KEPT = (
    '{"db_id": "pets", "question": "Who’s first?", "query": "SELECT 1"}\n'
    '{"db_id": "pets", "question": "All?", "query": "SELECT * FROM t"}\n'
).encode()


def spider_origins(url: str) -> dict[str, Origin]:
    return {
        "spider": Origin(
            url=f"{url}/dev.json",
            sha256=hashlib.sha256(KEPT).hexdigest(),
            convert=ORIGINS["spider"].convert,
            also="spider-tables",
        ),
        "spider-tables": Origin(url=f"{url}/tables.json", sha256=hashlib.sha256(b"[]").hexdigest()),
    }


def test_spider_is_two_files_the_questions_without_their_parses(
    tmp_path: Path, server: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_Handler, "bodies", {"/dev.json": json.dumps(SPIDER).encode(), "/tables.json": b"[]"})
    for _ in range(2):
        path = fetch("spider", destination=tmp_path, origins=spider_origins(server))
        assert path.read_bytes() == KEPT
    assert _Handler.asked == 2
    assert files(tmp_path) == ["dev_questions.jsonl", "tables.json"]


def test_spider_comes_from_a_folder_too_published_or_converted(tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.mkdir()
    (source / "tables.json").write_bytes(b"[]")
    for name, content in (("dev.json", json.dumps(SPIDER).encode()), ("dev_questions.jsonl", KEPT)):
        (source / name).write_bytes(content)
        path = fetch("spider", source=source, destination=tmp_path / "d", origins=spider_origins("unused"))
        assert path.read_bytes() == KEPT
        (source / name).unlink()
    with pytest.raises(NoBenchmark, match=r"dev_questions\.jsonl: expected a readable file"):
        fetch("spider", source=source, destination=tmp_path / "d", origins=spider_origins("unused"))


def test_another_file_in_spiders_place_is_refused(tmp_path: Path, server: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_Handler, "bodies", {"/dev.json": b"<html>", "/tables.json": b"[]"})
    with pytest.raises(BadBenchmark, match="expected the published file, found another"):
        fetch("spider", destination=tmp_path, origins=spider_origins(server))
    assert files(tmp_path) == ["tables.json"]
