"""The file of replies: what was written before still counts, what is no reply is named, and no half line stays."""

import errno
import json
import os
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from difftrust_core.exceptions import BadStore
from difftrust_core.store.replies import Record, ReplyFile
from difftrust_core.store.store import Store

WHERE: dict[str, object] = {"benchmark": "tiny", "model": "one", "temperature": 0.6}
RECORD = Record(
    task_id="tiny/first", sample_index=0, text="return 1", finish_reason=None, reply_id=None, served_model=None,
    prompt_tokens=1, completion_tokens=1, cost_usd=None, price_usd_per_million=None, price_date=None, prompt_hash="a",
    request_hash="b", max_tokens=9, attempts=1,
)  # fmt: skip


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store.create(tmp_path / "store")


def add(store: Store, *records: Record) -> Path:
    kept = ReplyFile(store, WHERE)
    with kept.appending():
        for record in records:
            kept.append(record)
    return kept.path


def test_of_two_replies_the_second_counts_and_one_without_a_number_is_the_first(store: Store) -> None:
    again = replace(RECORD, text="return 2", number=2)
    path = add(store, again)
    unnumbered = {name: value for name, value in asdict(RECORD).items() if name != "number"}
    path.write_bytes(path.read_bytes() + json.dumps(unnumbered).encode() + b"\n")
    add(store, replace(RECORD, text="too late"), replace(again, text="too late"))
    found = ReplyFile(store, WHERE)
    assert found.records == {("tiny/first", 0): again}
    assert found.earlier == {("tiny/first", 0): RECORD}
    assert list(found.paid()) == [RECORD, again]


@pytest.mark.parametrize(
    "odd",
    [{"text": 1}, {"text": None}, {"sample_index": "0"}, {"sample_index": 0.0}, {"number": 0}, {"number": 3},
     {"task_id": ["tiny/first"]}, {"prompt_tokens": [1]}, {"completion_tokens": "1"},
     {"cost_usd": "1"}, {"cost_usd": float("nan")}, {"cost_usd": -1.0}],
)  # fmt: skip
def test_a_line_that_holds_something_else_is_named(store: Store, odd: dict[str, object]) -> None:
    path = add(store, RECORD)
    path.write_bytes(path.read_bytes() + json.dumps({**asdict(RECORD), **odd}).encode() + b"\n")
    with pytest.raises(BadStore, match=r"replies\.jsonl line 2 is damaged: expected one reply as JSON"):
        ReplyFile(store, WHERE)


def test_a_line_of_a_hundred_thousand_brackets_is_named(store: Store) -> None:
    path = add(store, RECORD)
    path.write_bytes(path.read_bytes() + b"[" * 100_000 + b"\n")
    with pytest.raises(BadStore, match=r"replies\.jsonl line 2 is damaged: expected one reply as JSON"):
        ReplyFile(store, WHERE)


def test_where_a_reply_cannot_be_kept_the_file_is_as_before(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    before = add(store, RECORD).read_bytes()
    kept = ReplyFile(store, WHERE)
    with kept.appending():
        monkeypatch.setattr(os, "fsync", full)
        with pytest.raises(BadStore, match="No space left on device; make room"):
            kept.append(replace(RECORD, sample_index=1))
        monkeypatch.undo()
        assert kept.path.read_bytes() == before
        assert set(kept.records) == {("tiny/first", 0)}
        kept.append(replace(RECORD, sample_index=1))
    assert set(ReplyFile(store, WHERE).records) == {("tiny/first", 0), ("tiny/first", 1)}
