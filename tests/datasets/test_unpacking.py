"""What a packed file may unpack to is bounded by its size, whatever it holds; so is what one JSON text may hold."""

import gzip
import json
import os
from pathlib import Path

import pytest

from difftrust_core.datasets.entries import (
    LONGEST_LINE,
    MAX_CODE,
    MOST_UNPACKED,
    MOST_VALUES,
    RATIO,
    ROW,
    Unreadable,
    load_bytes,
    load_lines,
    most_unpacked,
    read_all,
    read_json,
    read_lines,
)
from difftrust_core.datasets.sources import MAX_LINE, MOST_NAMED
from difftrust_core.exceptions import BadBenchmark, BadSource
from tests.datasets.test_recorded import TASKS, read_of_a


def packed(path: Path, data: bytes) -> Path:
    path.write_bytes(gzip.compress(data))
    return path


def test_a_larger_file_may_unpack_to_more(tmp_path: Path) -> None:
    assert most_unpacked(packed(tmp_path / "a.gz", b"x")) == MOST_UNPACKED
    (tmp_path / "b.gz").write_bytes(b"x" * MOST_UNPACKED)
    assert most_unpacked(tmp_path / "b.gz") == RATIO * MOST_UNPACKED


def test_a_packed_file_is_read_to_its_bound_and_no_further(tmp_path: Path) -> None:
    within = packed(tmp_path / "within.gz", b"x" * MOST_UNPACKED)
    assert len(read_all(within, most=2**40)) == MOST_UNPACKED
    with pytest.raises(Unreadable, match=r"expected at most 33,554,432 bytes unpacked, .*, found more"):
        read_all(packed(tmp_path / "over.gz", b"x" * (MOST_UNPACKED + 1)), most=2**40)


def test_a_plain_file_has_the_bound_that_is_asked_for(tmp_path: Path) -> None:
    (tmp_path / "plain").write_bytes(b"{}  \n{}   ")
    assert len(read_all(tmp_path / "plain", most=10)) == 10
    assert [number for number, _ in read_lines(tmp_path / "plain", longest=5, most=10)] == [1, 2]
    for read in (read_all, lambda path, most: list(read_lines(path, longest=5, most=most))):
        with pytest.raises(Unreadable, match="at most 9 bytes, found more"):
            read(tmp_path / "plain", most=9)
    with pytest.raises(BadBenchmark, match=r"plain: expected at most 9 bytes, found more; r$"):
        list(load_lines(tmp_path / "plain", remedy="r", most=9))


def test_empty_lines_count_as_well(tmp_path: Path) -> None:
    n = MOST_UNPACKED // (ROW + 1)
    assert sum(1 for _ in read_lines(packed(tmp_path / "a.gz", b"\n" * n), longest=100)) == n
    with pytest.raises(Unreadable, match=f"{ROW} for each line included"):
        list(read_lines(packed(tmp_path / "b.gz", b"\n" * (n + 1)), longest=100))


def test_a_line_of_a_packed_file_is_shorter_than_the_file_may_be(tmp_path: Path) -> None:
    path = packed(tmp_path / "a.jsonl.gz", b"{}\n" + b"x" * (LONGEST_LINE + 1) + b"\n{}")
    (_, first), (_, long), (number, last) = read_lines(path, longest=2**40)
    assert (first, str(long)) == (b"{}\n", "expected at most 16,777,216 bytes in line 2, found more")
    assert (number, last) == (3, b"{}")
    with pytest.raises(BadBenchmark, match="expected at most 16,777,216 bytes in line 2, found more; r"):
        list(load_lines(path, remedy="r"))


@pytest.mark.parametrize("kind", [str, bytes])
def test_values_are_counted_and_the_marks_within_texts_are_not(kind: type) -> None:
    def made(text: str) -> str | bytes:
        return text if kind is str else text.encode()

    assert len(read_json(made("[" + "1," * (MOST_VALUES - 1) + "1]"))) == MOST_VALUES
    with pytest.raises(ValueError, match="more than 1,000,000 values"):
        read_json(made("[" + "[]," * (MOST_VALUES // 2) + "1]"))
    said = '[,:{\\"' * MOST_VALUES
    assert read_json(made(f'["{said}", "\\\\"]')) == [said.replace("\\", ""), "\\"]


def test_bombs_are_refused_in_one_line_by_both_readers(tmp_path: Path) -> None:
    bomb = packed(tmp_path / "bomb.jsonl.gz", b"\n" * MOST_UNPACKED)
    for refused, read in (
        (BadSource, lambda: read_of_a(bomb, TASKS)),
        (BadBenchmark, lambda: list(load_lines(bomb, remedy="r"))),
    ):
        with pytest.raises(refused, match=f"^{bomb}: expected at most [^\n]*, found more[^\n]*$"):
            read()
    with pytest.raises(BadBenchmark, match="found more; r"):
        load_bytes(packed(tmp_path / "toml", b" " * (MOST_UNPACKED + 1)), remedy="r")


def test_code_up_to_the_limit_is_taken_and_longer_code_is_a_bad_row(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    codes = ["é" * (MAX_CODE // 2), "é" * (MAX_CODE // 2) + "x"]
    path.write_text("".join(json.dumps({"task_id": "Mbpp/2", "solution": code}) + "\n" for code in codes))
    found = read_of_a(path, TASKS)
    assert found.candidates["code"].to_list() == codes[:1]
    (bad,) = found.bad_rows
    assert bad.why == "expected at most 65,536 bytes of code, found 65,537 in field 'solution'"


def test_what_a_completion_continues_counts(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.write_text(json.dumps({"task_id": "HumanEval/0", "completion": "x" * MAX_CODE}))
    assert "bytes of code" in read_of_a(path, TASKS).bad_rows[0].why


def test_so_many_bad_lines_are_named_and_the_others_counted(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.write_text("0\n" * (MOST_NAMED + 7))
    bad = read_of_a(path, TASKS).bad_rows
    assert len(bad) == MOST_NAMED + 1
    assert bad[-2].where == f"{path}, line {MOST_NAMED}"
    assert (bad[-1].where, bad[-1].why) == (str(path), "7 more lines that hold no candidate")


@pytest.mark.parametrize("name", ["s.jsonl", "s.jsonl.gz"])
def test_a_line_beyond_the_limit_is_a_bad_row_and_the_others_are_taken(tmp_path: Path, name: str) -> None:
    path, line = tmp_path / name, json.dumps({"task_id": "Mbpp/2", "solution": "x"}).encode()
    pack = gzip.compress if name.endswith(".gz") else bytes
    path.write_bytes(pack(b" " * (MAX_LINE - 1) + b"\n" + line))
    assert read_of_a(path, TASKS).bad_rows == ()
    ends = (MAX_LINE, MAX_LINE + 1, 2 * MAX_LINE)
    path.write_bytes(pack(b"".join(line + b"\n" + b"[" * n + b"\n" for n in ends) + line + b"\n" + b"[" * 2 * MAX_LINE))
    found = read_of_a(path, TASKS)
    assert found.candidates["sample_index"].to_list() == [0, 1, 2, 3]
    assert [(bad.where, bad.why) for bad in found.bad_rows] == [
        (f"{path}, line {number}", f"expected at most 4,194,304 bytes in line {number}, found more")
        for number in (2, 4, 6, 8)
    ]


def test_texts_of_many_megabytes_come_in_their_order(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    codes = [f"{i} = {'x' * 60_000}" for i in range(200)]  # more than waits to become a table
    path.write_text("".join(json.dumps({"task_id": "Mbpp/2", "solution": code}) + "\n" for code in codes))
    found = read_of_a(path, TASKS).candidates
    assert found["code"].to_list() == codes
    assert found["sample_index"].to_list() == list(range(200))


def test_a_pipe_is_refused_and_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "s.jsonl")
    with pytest.raises(BadSource, match="expected a file, found a folder, a pipe or a device"):
        read_of_a(tmp_path / "s.jsonl", TASKS)
