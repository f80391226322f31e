"""Recorded candidates are read from four kinds of source; what cannot be used is listed, nothing is run."""

import gzip
import json
import os
import pickle
import sys
import types
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from polars.testing import assert_frame_equal

from difftrust.layouts.evalplus import load_evalplus
from difftrust_core.base.records import BadRow
from difftrust_core.datasets import artifact as inert_pickle
from difftrust_core.datasets import sources
from difftrust_core.datasets.artifact import read_artifact
from difftrust_core.datasets.entries import MAX_CODE, MOST_UNPACKED
from difftrust_core.datasets.recorded import SCHEMA, Recorded, Selection, as_table, split_unknown
from difftrust_core.datasets.sources import is_sample_folder, read_jsonl, read_parquet, read_sample_folder, read_source
from difftrust_core.exceptions import BadSource, WrongUsage
from tests.support.evalplus import RIGHT, WRONG, write_folder, write_release
from tests.support.tasks import small_task

ROWS = [
    ("HumanEval", "HumanEval/0", "a", 0.6, 0, "def f(): 1"),
    ("HumanEval", "HumanEval/0", "a", 0.6, 1, ""),
    ("HumanEval", "HumanEval/0", "b", 1.0, 0, "def f(): 2"),
    ("MBPP", "Mbpp/2", "a", 0.6, 0, "x"),
]
TASKS = {
    task_id: small_task("f", benchmark=benchmark, task_id=task_id, prompt=prompt)
    for benchmark, task_id, prompt in [("HumanEval", "HumanEval/0", "def f():\n"), ("MBPP", "Mbpp/2", "")]
}


read_of_a = partial(read_jsonl, model="a", temperature=0.6)
"""Read a file of samples by the model ``a``."""


def rows_of(recorded: Recorded) -> list[tuple[Any, ...]]:
    assert dict(recorded.candidates.schema) == {name: kind() for name, kind in SCHEMA.items()}
    return recorded.candidates.rows()


# --- artifact ---------------------------------------------------------------------------------------------


class Origins:
    """The two classes of the published artifact, under their published names, and another one."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        for name in ("difftrust", "difftrust.core", "difftrust.core.function", "difftrust.core.specification"):
            monkeypatch.setitem(sys.modules, name, types.ModuleType(name))
        self.function, self.specification, self.other = (
            type(name, (), {"__module__": f"difftrust.core.{module}"})
            for module, name in (("function", "Function"), ("specification", "Specification"), ("function", "Other"))
        )
        for made in (self.function, self.specification, self.other):
            setattr(sys.modules[made.__module__], made.__name__, made)

    def pickled(self, *codes: object, kind: type | None = None) -> bytes:
        functions = []
        for code in codes:
            function = (kind or self.function)()
            function.spec = self.specification()
            function.spec.name = "f"
            function.code = code
            functions.append(function)
        return pickle.dumps(functions)


@pytest.fixture
def origins(monkeypatch: pytest.MonkeyPatch) -> Origins:
    return Origins(monkeypatch)


def put(root: Path, place: str, content: bytes) -> Path:
    path = root / place
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


HE = "HumanEval/.experiments/a_temp0.6/cache/candidates_HumanEval_0"
MB = "MBPP/.experiments/a_temp1/cache/candidates_2"


def test_artifact_gives_every_candidate_of_both_benchmarks(tmp_path: Path, origins: Origins) -> None:
    put(tmp_path, HE, origins.pickled("def f(): 1", ""))
    put(tmp_path, MB, origins.pickled("x"))
    put(tmp_path, "MBPP/.experiments/a_temp1/cache/refined_spec_2", b"")
    put(tmp_path, "MBPP/.experiments/a_temp1/cache/notes", b"")
    put(tmp_path, "MBPP/.experiments/plots/p", b"")
    recorded = read_artifact(tmp_path)
    assert rows_of(recorded) == [
        ("HumanEval", "HumanEval/0", "a", 0.6, 0, "def f(): 1"),
        ("HumanEval", "HumanEval/0", "a", 0.6, 1, ""),
        ("MBPP", "Mbpp/2", "a", 1.0, 0, "x"),
    ]
    assert recorded.bad_rows == ()
    assert recorded.skipped == {"refined_* files": 1, "other files in cache": 1, "folders not named <model>_temp<t>": 1}


@pytest.mark.parametrize("root", ["..", ".", "HumanEval", "HumanEval/.experiments"])
def test_artifact_may_be_named_at_any_height(tmp_path: Path, origins: Origins, root: str) -> None:
    put(tmp_path / "clone", HE, origins.pickled("x"))
    assert len(rows_of(read_artifact(tmp_path / "clone" / root))) == 1


@pytest.mark.parametrize(
    ("selection", "expected"),
    [
        (Selection(benchmarks=frozenset({"MBPP"})), [("Mbpp/2", 0)]),
        (Selection(models=frozenset({"b"})), []),
        (Selection(temperatures=frozenset({0.6})), [("HumanEval/0", 0), ("HumanEval/0", 1)]),
        (Selection(m=1), [("HumanEval/0", 0), ("Mbpp/2", 0)]),
    ],
)
def test_artifact_keeps_to_the_selection(
    tmp_path: Path, origins: Origins, selection: Selection, expected: list[tuple[str, int]]
) -> None:
    put(tmp_path, HE, origins.pickled("p", "q"))
    put(tmp_path, MB, origins.pickled("x"))
    assert [(row[1], row[4]) for row in rows_of(read_artifact(tmp_path, selection))] == expected


class Shell:
    """Pickles to a call of os.system, as an attack would."""

    def __init__(self, command: str) -> None:
        self.command = command

    def __reduce__(self) -> tuple[Any, ...]:
        return os.system, (self.command,)


def refused(tmp_path: Path, content: bytes) -> str:
    """Read a tree with one good and this file; return why this one was refused."""
    bad = put(tmp_path, MB, content)
    recorded = read_artifact(tmp_path)
    (row,) = recorded.bad_rows
    assert row.where.startswith(str(bad))
    return row.why


def test_a_pickle_with_keys_that_are_no_texts_is_refused(tmp_path: Path, origins: Origins) -> None:
    # Each tuple holds the one before twice: to hash it takes 2 ** 100 steps.
    doubled = b")\x94" + b"".join(b"h%c" % i + b"h%c" % i + b"\x86\x94" for i in range(100))
    for content in (b"}(" + doubled + b"Nu", b"}" + doubled + b"Ns"):
        assert refused(tmp_path, b"\x80\x04](" + content + b"e.") == "expected texts as keys, found tuple; not run"
    why = refused(tmp_path, pickle.dumps([{1: 2}]))
    assert why == "expected texts as keys, found int; not run"


@pytest.mark.parametrize("n", [100, 101])
def test_an_object_has_few_attributes(tmp_path: Path, origins: Origins, n: int) -> None:
    function = origins.function()
    function.code = "x"
    vars(function).update({f"a{i}": i for i in range(n - 1)})
    path = put(tmp_path, MB, pickle.dumps([function]))
    recorded = read_artifact(tmp_path)
    if n == 100:
        assert [row[5] for row in rows_of(recorded)] == ["x"]
    else:
        (bad,) = recorded.bad_rows
        assert (bad.where, bad.why) == (str(path), "expected at most 100 attributes of an object, found 101; not run")


@pytest.mark.parametrize("nested", [False, True])
@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_a_malicious_pickle_is_named_and_not_run(tmp_path: Path, origins: Origins, nested: bool, protocol: int) -> None:
    put(tmp_path, HE, origins.pickled("good"))
    mark = tmp_path / "mark"
    attack: object = Shell(f"touch {mark}")
    if nested:
        function = origins.function()
        function.code = {"k": [attack]}
        attack = [function]
    why = refused(tmp_path, pickle.dumps(attack, protocol=protocol))
    if nested and protocol == 0:
        assert "found opcode or memo entry" in why
    elif nested and protocol == 1:
        assert "asks for copy_reg._reconstructor; not run" in why
    else:
        assert f"asks for {os.system.__module__}.system; not run" in why
    assert not mark.exists()
    assert [row[5] for row in rows_of(read_artifact(tmp_path))] == ["good"]


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"", "damage (EOFError"),
        (b"hello", "damage (UnpicklingError"),
        (b"\x80\x04N.", "expected a list of candidates, found NoneType"),
        (b"\x80\x04cbuiltins\neval\n.", "asks for builtins.eval"),
        (b"\x80\x04cdifftrust.core.function\nFunction.__init__\n.", "asks for difftrust.core.function.Function."),
        (b"\x80\x04]Pid\n.", "opcode or memo entry 80"),
        (b"\x80\x05\x96\xff\xff\xff\xff\xff\xff\xff\x0f.", "opcode or memo entry 150"),
        (b"\x80\x04Nr\xff\xff\xff\xff.", "expected a list of candidates, found NoneType"),
        (b"\x80\x04X\xff\xff\xff\x7fabc.", "damage"),
        (b"\x80\x04cdifftrust.core.function\nFunction\nN}X\x04\x00\x00\x00codeX\x01\x00\x00\x00xs\x86b.", "of a class"),
        (b"\x80\x04cdifftrust.core.function\nFunction\n)R.", "opcode or memo entry 82"),
        (b"\x80\x04" + b"]" * 200_000 + b"." * 2, "expected"),
    ],
)
def test_a_broken_pickle_is_refused(tmp_path: Path, content: bytes, why: str) -> None:
    put(tmp_path, HE, pickle.dumps([]))
    if content.startswith(b"\x80\x04]]"):
        assert read_artifact(put(tmp_path, MB, content).parents[2]).candidates.is_empty()
    else:
        assert why in refused(tmp_path, content)


def test_a_truncated_pickle_is_refused_at_every_length(tmp_path: Path, origins: Origins) -> None:
    whole = origins.pickled("one", "two")
    for length in range(len(whole)):
        assert "expected" in refused(tmp_path, whole[:length])
        assert read_artifact(tmp_path).candidates.is_empty()


def test_a_pickle_cannot_change_what_the_next_file_meets(tmp_path: Path, origins: Origins) -> None:
    function = origins.function()
    setattr(function, "__setstate__", origins.function)  # noqa: B010  # an instance's own attribute
    function.code = "x"
    put(tmp_path, HE, pickle.dumps([function]))
    put(tmp_path, MB, origins.pickled("y"))
    assert [row[5] for row in rows_of(read_artifact(tmp_path))] == ["x", "y"]
    own = set(vars(inert_pickle._Function)) - {"__firstlineno__", "__static_attributes__"}  # of Python 3.13
    assert own == {"__module__", "__doc__", "__dict__", "__weakref__"}


@pytest.mark.parametrize(("code", "found"), [(3, "something else"), ("a\ud800", "lone surrogates")])
def test_an_element_without_a_text_is_set_aside_alone(
    tmp_path: Path, origins: Origins, code: object, found: str
) -> None:
    path = put(tmp_path, HE, origins.pickled("p", code, "q"))
    recorded = read_artifact(tmp_path)
    assert [(row[4], row[5]) for row in rows_of(recorded)] == [(0, "p"), (2, "q")]
    (bad,) = recorded.bad_rows
    assert bad.where == f"{path}, candidate 1"
    assert found in bad.why


def test_what_stands_at_a_wrong_place_or_is_no_candidate_is_a_bad_row(tmp_path: Path, origins: Origins) -> None:
    def named(model: str) -> str:
        return HE.replace("a_temp", f"{model}_temp")

    put(tmp_path / "1", HE, origins.pickled("p"))
    listed = {
        "expected one file for this task and coder": put(tmp_path / "2", HE, origins.pickled("q")),
        "found something else": put(tmp_path, named("b"), origins.pickled("p", kind=origins.specification)),
        "asks for difftrust.core.function.Other": put(tmp_path, named("c"), origins.pickled("p", kind=origins.other)),
        "expected a file of MBPP, found a name of HumanEval": put(
            tmp_path, "MBPP/.experiments/a_temp0.6/cache/candidates_HumanEval_0", origins.pickled("p")
        ),
        "expected printable characters in the name of a model, found 'd\\x01'": put(
            tmp_path, named("d\x01"), origins.pickled("x")
        ).parents[1],
    }
    recorded = read_artifact(tmp_path)
    assert [row[5] for row in rows_of(recorded)] == ["p"]
    assert len(recorded.bad_rows) == len(listed)
    for why, path in listed.items():
        assert [bad.why for bad in recorded.bad_rows if bad.where.startswith(str(path)) and why in bad.why], why


def test_a_pickle_that_is_too_large_is_refused(
    tmp_path: Path, origins: Origins, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inert_pickle, "MAX_BYTES", 10)
    assert "expected at most 10 bytes" in refused(tmp_path, origins.pickled("x" * 100))


def test_a_folder_without_experiments_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadSource, match=r"expected a folder \.experiments"):
        read_artifact(tmp_path)


@pytest.mark.slow
def test_the_published_sample_equals_the_published_table(shared_data: Path) -> None:
    sample = read_artifact(shared_data / "artifact_sample")
    assert sample.bad_rows == ()
    assert sample.skipped == {"refined_* files": 1}
    assert sample.candidates.height == 2050
    table = read_parquet(shared_data / "difftrust" / "candidates.parquet").candidates
    both = sample.candidates.join(table, on=list(SCHEMA), how="semi", maintain_order="left")
    assert_frame_equal(both, sample.candidates)


# --- Parquet ----------------------------------------------------------------------------------------------


def write_table(folder: Path, rows: list[Any] = ROWS, **changes: Any) -> Path:
    path = folder / "candidates.parquet"
    pl.DataFrame(rows, schema=SCHEMA, orient="row").with_columns(**changes).write_parquet(path)
    return path


@pytest.mark.parametrize("folder", [".", "benchmark=other [a]*?"])
def test_parquet_gives_every_row_in_order(tmp_path: Path, folder: str) -> None:
    (tmp_path / folder).mkdir(exist_ok=True)
    recorded = read_parquet(write_table(tmp_path / folder, extra=pl.lit(1)))
    assert rows_of(recorded) == ROWS
    assert (recorded.bad_rows, recorded.skipped) == ((), {})


@pytest.mark.parametrize(
    ("selection", "kept"),
    [
        (Selection(benchmarks=frozenset({"MBPP"})), [3]),
        (Selection(models=frozenset({"a", "c"})), [0, 1, 3]),
        (Selection(temperatures=frozenset({0.6}), m=1), [0, 3]),
        (Selection(models=frozenset()), []),
    ],
)
def test_parquet_keeps_to_the_selection(tmp_path: Path, selection: Selection, kept: list[int]) -> None:
    assert rows_of(read_parquet(write_table(tmp_path), selection)) == [ROWS[i] for i in kept]


@pytest.mark.parametrize(
    ("change", "found"),
    [
        ({"code": None}, "'code', found null"),
        ({"sample_index": -1}, "sample_index >= 0"),
        ({"temperature": float("nan")}, "finite temperature"),
        ({"temperature": -0.5}, "finite temperature"),
        ({"task_id": ""}, "'task_id', found an empty text"),
        ({"model": "a\x01"}, "printable characters in column 'model'"),
        ({"task_id": "\ufffe"}, "printable characters in column 'task_id'"),
        ({"sample_index": 0}, "found a further one"),
    ],
)
@pytest.mark.parametrize("selection", [Selection(), Selection(benchmarks=frozenset({"HumanEval"}), m=10)])
def test_a_bad_parquet_row_is_set_aside(
    tmp_path: Path, change: dict[str, Any], found: str, selection: Selection
) -> None:
    bad = tuple(change.get(name, value) for name, value in zip(SCHEMA, ROWS[1], strict=True))
    path = write_table(tmp_path, [ROWS[0], bad, ROWS[2]])
    recorded = read_parquet(path, selection)
    assert rows_of(recorded) == [ROWS[0], ROWS[2]]
    (row,) = recorded.bad_rows
    assert row.where == f"{path}, row 1"
    assert found in row.why
    assert row.why.endswith("(1 rows)")


@pytest.mark.parametrize(("n", "more"), [(7, " and 2 more"), (5, "")])
def test_equal_flaws_are_counted_together(tmp_path: Path, n: int, more: str) -> None:
    path = write_table(tmp_path, [ROWS[0]] * (n + 1))
    assert read_parquet(path).bad_rows == (
        BadRow(
            where=f"{path}, row 1, 2, 3, 4, 5{more}",
            why="expected one row for each (benchmark, task_id, model, temperature, sample_index), "
            f"found a further one ({n} rows)",
        ),
    )


def test_a_row_that_is_no_utf8_is_set_aside(tmp_path: Path) -> None:
    raw = pa.array([b"p", b"\xff\xfe", b"\xed\xa0\x80", b"q"], pa.binary())
    columns = {name: pa.array([row[i] for row in ROWS]) for i, name in enumerate(SCHEMA)}
    columns["code"] = pa.Array.from_buffers(pa.string(), 4, raw.buffers())
    pq.write_table(pa.table(columns), tmp_path / "c.parquet")
    recorded = read_parquet(tmp_path / "c.parquet", Selection(m=5))
    assert [row[5] for row in rows_of(recorded)] == ["p", "q"]
    assert recorded.bad_rows == (
        BadRow(where=f"{tmp_path / 'c.parquet'}, row 1, 2", why="expected text in UTF-8, found other bytes (2 rows)"),
    )


@pytest.mark.parametrize("name", ["row", "broken", "index"])
def test_a_further_column_of_whatever_name_is_ignored(tmp_path: Path, name: str) -> None:
    path = write_table(tmp_path)
    pl.read_parquet(path).with_columns(pl.lit(value=True).alias(name)).write_parquet(path)
    assert rows_of(read_parquet(path)) == ROWS


def test_a_column_missing_or_of_another_type_is_named(tmp_path: Path) -> None:
    path = write_table(tmp_path, temperature=pl.lit("0.6"))
    with pytest.raises(BadSource, match=r"column 'temperature' of type Float64, found String; write it with"):
        read_parquet(path)
    pl.read_parquet(path).drop("code", "temperature").write_parquet(path)
    with pytest.raises(BadSource, match="column 'temperature' of type Float64, found no such column"):
        read_parquet(path)


@pytest.mark.parametrize("length", [0, 1, 4, 12, -1, -200, None])
def test_a_damaged_parquet_file_is_refused(tmp_path: Path, length: int | None) -> None:
    path = write_table(tmp_path)
    whole = path.read_bytes()
    # None: the length is right, the pages are not.
    path.write_bytes(b"PAR1" + b"\xaa" * 150 + whole[154:] if length is None else whole[:length])
    with pytest.raises(BadSource) as refused:
        read_parquet(path)
    assert str(refused.value).startswith(f"{path}: expected a whole Parquet file, found damage")


def test_parquet_that_unpacks_to_too_much_is_refused_before(tmp_path: Path) -> None:
    row = pl.DataFrame([ROWS[0]], schema=SCHEMA, orient="row")
    rows = pl.concat([row] * 200_000)
    rows.write_parquet(tmp_path / "rows.parquet", compression="zstd")
    text = row.with_columns(code=pl.lit("x" * (MOST_UNPACKED + 1)))
    text.write_parquet(tmp_path / "text.parquet", compression="zstd")
    # One text of a dictionary stands in 600 rows.
    codes = pa.DictionaryArray.from_arrays(pa.array([0] * 600, pa.int32()), pa.array(["x" * 60_000], pa.large_utf8()))
    table = rows.head(600).drop("code").to_arrow().append_column("code", codes)
    pq.write_table(table, tmp_path / "dictionary.parquet", store_schema=False, compression="zstd")
    for name in ("rows", "text", "dictionary"):
        with pytest.raises(BadSource, match=r"expected at most 33,554,432 bytes unpacked, 256 for each row .*, found"):
            read_parquet(tmp_path / f"{name}.parquet")


def test_parquet_that_unpacks_to_as_much_as_may_be_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write_table(tmp_path)
    monkeypatch.setattr(sources, "most_unpacked", lambda path: 0)
    with pytest.raises(BadSource, match=r"found [\d,]+; write it in parts") as refused:
        read_parquet(path)
    needed = int(str(refused.value).rpartition("found ")[2].partition(";")[0].replace(",", ""))
    monkeypatch.setattr(sources, "most_unpacked", lambda path: needed)
    assert rows_of(read_parquet(path)) == ROWS


@pytest.mark.parametrize("length", [500, 501])
def test_parquet_at_temperature_zero_may_have_ids_of_500_characters(tmp_path: Path, length: int) -> None:
    row = ("HumanEval", "t" * length, "a", 0.0, 0, "x")
    found = read_parquet(write_table(tmp_path, [row]))
    assert rows_of(found) == ([row] if length == 500 else [])
    assert len(found.bad_rows) == length - 500


def test_parquet_with_long_names_or_long_code_is_told_apart(tmp_path: Path) -> None:
    rows = [
        (*ROWS[0][:2], name, 0.6, 0, code)
        for name, code in [("a" * 200, "x" * 65_536), ("a" * 201, "x"), ("b", "x" * 65_537)]
    ]
    path = tmp_path / "c.parquet"
    pl.DataFrame(rows, schema=SCHEMA, orient="row").write_parquet(path)
    found = read_parquet(path)
    assert [row[2] for row in rows_of(found)] == ["a" * 200]
    assert [bad.why for bad in found.bad_rows] == [
        "expected at most 65,536 bytes of code, found more (1 rows)",
        "expected at most 200 characters in column 'model', found more (1 rows)",
    ]


# --- JSONL ------------------------------------------------------------------------------------------------


def write_lines(path: Path, *lines: object) -> Path:
    data = b"\n".join(line if isinstance(line, bytes) else json.dumps(line).encode() for line in lines)
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return path


@pytest.mark.parametrize("name", ["s.jsonl", "s.jsonl.gz"])
def test_jsonl_gives_completions_and_solutions(tmp_path: Path, name: str) -> None:
    path = write_lines(
        tmp_path / name,
        {"task_id": "HumanEval/0", "completion": "    return 1"},
        {"task_id": "Mbpp/2", "solution": "whole", "extra": 1},
        b"  ",
        {"task_id": "HumanEval/0", "completion": "half", "solution": "whole"},
        {"task_id": "Mbpp/2", "completion": ""},
    )
    recorded = read_of_a(path, TASKS, temperature=1)
    assert recorded.bad_rows == ()
    assert rows_of(recorded) == [
        ("HumanEval", "HumanEval/0", "a", 1.0, 0, "def f():\n    return 1"),
        ("MBPP", "Mbpp/2", "a", 1.0, 0, "whole"),
        ("HumanEval", "HumanEval/0", "a", 1.0, 1, "whole"),
        ("MBPP", "Mbpp/2", "a", 1.0, 1, ""),
    ]


def test_a_body_continues_the_signature_of_a_task_without_a_prompt(tmp_path: Path) -> None:
    tasks = {"t": small_task("f", task_id="t")}
    whole = "import math\n\n\ndef f(n):\n    return 1"
    path = write_lines(tmp_path / "s.jsonl", *({"task_id": "t", "completion": c} for c in ("\n    return 1", whole)))
    header = f"def f{tasks['t'].signature}:\n"
    assert [row[-1] for row in rows_of(read_of_a(path, tasks))] == [f"{header}\n    return 1", whole]


def test_a_task_may_be_named_with_signs_that_no_id_has(tmp_path: Path) -> None:
    tasks = {"12_A._Two_Sums": small_task("f", task_id="12_A._Two_Sums")}
    path = write_lines(tmp_path / "s.jsonl", {"task_id": "12_A. Two Sums", "solution": "x"})
    assert read_of_a(path, tasks).candidates["task_id"].to_list() == ["12_A._Two_Sums"]


def test_a_task_may_be_named_by_its_number(tmp_path: Path) -> None:
    lines = [{"task_id": task_id, "solution": "x"} for task_id in (7, "7", 8, True)]
    tasks = {"7": small_task("f", benchmark="APPS", task_id="7"), "True": small_task("f", task_id="True")}
    recorded = read_of_a(write_lines(tmp_path / "s.jsonl", *lines), tasks)
    assert [row[1] for row in rows_of(recorded)] == ["7", "7"]
    assert [bad.why.rpartition(" ")[2] for bad in recorded.bad_rows] == ["int", "bool"]


@pytest.mark.parametrize(
    ("line", "why"),
    [
        (b"{", "expected a JSON object, found: "),
        (b"[" * 100_000, "expected a JSON object, found: "),
        (b"\xff", "expected a JSON object, found: "),
        ([1], "expected a JSON object, found list"),
        ({"solution": "x"}, "field 'task_id', found no such field"),
        ({"task_id": 0, "solution": "x"}, "field 'task_id', found int"),
        ({"task_id": "HumanEval/999", "solution": "x"}, "found 'HumanEval/999'"),
        ({"task_id": "Mbpp/2"}, "field 'solution' or 'completion', found no such field"),
        ({"task_id": "Mbpp/2", "solution": 3, "completion": "x"}, "found int"),
        ({"task_id": "Mbpp/2", "solution": "\ud800"}, "lone surrogates"),
    ],
)
def test_a_bad_line_is_set_aside_by_its_number(tmp_path: Path, line: object, why: str) -> None:
    good = {"task_id": "Mbpp/2", "solution": "x"}
    path = write_lines(tmp_path / "s.jsonl", good, b"", line, good)
    recorded = read_of_a(path, TASKS)
    (bad,) = recorded.bad_rows
    assert bad.where == f"{path}, line 3"
    assert why in bad.why
    # A line that names its task keeps its place among the samples.
    known = isinstance(line, dict) and line.get("task_id") == "Mbpp/2"
    assert [row[4] for row in rows_of(recorded)] == ([0, 2] if known else [0, 1])


def test_jsonl_takes_the_first_m_of_each_task_at_any_temperature(tmp_path: Path) -> None:
    lines = [{"task_id": t, "solution": str(i)} for i in range(3) for t in TASKS]
    path = write_lines(tmp_path / "s.jsonl", *lines)
    recorded = read_of_a(path, TASKS, temperature=0.0, m=2)
    assert [(row[3], row[5]) for row in rows_of(recorded)] == [(0.0, "0"), (0.0, "0"), (0.0, "1"), (0.0, "1")]


@pytest.mark.parametrize(
    ("model", "temperature"),
    [("", 0.6), ("a" * 201, 0.6), ("a\x1b[2J", 0.6), ("a\udcff", 0.6), ("a", -1.0), ("a", float("nan"))],
)
def test_a_coder_that_is_none_is_refused(tmp_path: Path, model: str, temperature: float) -> None:
    with pytest.raises(WrongUsage):
        read_jsonl(write_lines(tmp_path / "s.jsonl"), TASKS, model=model, temperature=temperature)


# --- any source -------------------------------------------------------------------------------------------


def test_a_source_is_read_by_what_it_is(tmp_path: Path, origins: Origins) -> None:
    put(tmp_path / "tree", HE, origins.pickled("p"))
    lines = write_lines(
        tmp_path / "s.jsonl", {"task_id": "Mbpp/2", "solution": "x"}, {"task_id": "HumanEval/0", "solution": "y"}
    )
    assert [row[5] for row in rows_of(read_source(tmp_path / "tree"))] == ["p"]
    assert rows_of(read_source(write_table(tmp_path), Selection(m=1))) == [ROWS[0], ROWS[2], ROWS[3]]
    wanted = Selection(benchmarks=frozenset({"MBPP"}))
    recorded = read_source(lines, wanted, tasks=TASKS, model="a", temperature=0.6)
    assert [row[5] for row in rows_of(recorded)] == ["x"]
    with pytest.raises(WrongUsage, match="give --model and --temperature"):
        read_source(lines)
    for told in ({"model": "a"}, {"temperature": 0.6}):
        with pytest.raises(WrongUsage, match="give --model and --temperature"):
            read_source(lines, tasks=TASKS, **told)


def test_a_source_of_another_kind_is_refused(tmp_path: Path) -> None:
    (tmp_path / "s.csv").write_text("")
    with pytest.raises(BadSource, match=r"expected a folder .* or \.jsonl\.gz file, found a file of another name"):
        read_source(tmp_path / "s.csv")
    with pytest.raises(BadSource, match="found nothing there"):
        read_source(tmp_path / "absent.parquet")


def test_selection_refuses_no_candidates_at_all() -> None:
    with pytest.raises(WrongUsage, match="m must be at least 1, got 0"):
        Selection(m=0)


def test_a_line_of_an_unknown_task_is_told_how_an_id_looks(tmp_path: Path) -> None:
    tasks = {"0": next(iter(TASKS.values()))}
    path = write_lines(tmp_path / "s.jsonl", {"task_id": "0000", "solution": "pass"})
    (bad,) = read_of_a(path, tasks).bad_rows
    assert bad.why == "expected a task of the benchmarks loaded, found '0000', the first is '0'"


def test_candidates_of_unknown_tasks_become_bad_rows() -> None:
    recorded = Recorded(candidates=as_table(ROWS), bad_rows=(BadRow(where="w", why="y"),), skipped={"s": 1})
    split = split_unknown(recorded, {("MBPP", "Mbpp/2"), ("MBPP", "HumanEval/0")})
    assert rows_of(split) == [ROWS[3]]
    assert split.bad_rows == (
        BadRow(where="w", why="y"),
        BadRow(
            where="HumanEval HumanEval/0",
            why="expected a task of the benchmarks loaded, found 3 candidates of an unknown one",
        ),
    )
    assert split.skipped == {"s": 1}
    assert split_unknown(split, {("MBPP", "Mbpp/2")}) is split


def test_unknown_tasks_are_named_in_the_order_in_which_they_came() -> None:
    names = [f"t/{(7 * k) % 101}" for k in range(101)]
    split = split_unknown(Recorded(candidates=as_table([("b", name, "m", 0.6, 0, "x") for name in names])), set())
    assert [row.where for row in split.bad_rows] == [f"b {name}" for name in names]


# --- folders of samples -----------------------------------------------------------------------------------


read_of_mine = partial(read_sample_folder, model="mine", temperature=0.6)
"""Read a folder of samples by the model ``mine``."""


@pytest.fixture
def tasks(tmp_path: Path) -> dict[str, object]:
    return {task.task_id: task for task in load_evalplus(write_release(tmp_path / "tasks.jsonl"))}


def test_each_file_is_a_candidate(tmp_path: Path, tasks: dict) -> None:
    root = write_folder(tmp_path / "samples", RIGHT, WRONG)
    (root / "HumanEval_900" / "10.py").write_text("# the last one\n")
    found = read_of_mine(root, tasks)
    columns = ["benchmark", "task_id", "model", "temperature", "sample_index", "code"]
    assert found.candidates.columns == columns
    assert found.candidates.rows() == [
        ("HumanEval+", "HumanEval/900", "mine", 0.6, 0, RIGHT["HumanEval/900"]),
        ("HumanEval+", "HumanEval/900", "mine", 0.6, 1, WRONG["HumanEval/900"]),
        ("HumanEval+", "HumanEval/900", "mine", 0.6, 10, "# the last one\n"),
        ("HumanEval+", "HumanEval/901", "mine", 0.6, 0, RIGHT["HumanEval/901"]),
        ("HumanEval+", "HumanEval/901", "mine", 0.6, 1, WRONG["HumanEval/901"]),
    ]
    assert found.bad_rows == ()
    first = read_of_mine(root, tasks, m=1)
    assert first.candidates["sample_index"].to_list() == [0, 0]


def test_what_cannot_be_used_is_named(tmp_path: Path, tasks: dict) -> None:
    """No UTF-8, a program of too many bytes, a number twice; a file of a number that no table holds is another file."""
    root = write_folder(tmp_path / "samples", RIGHT)
    folder = root / "HumanEval_900"
    (folder / "1.py").write_bytes(b"\xff\xfe")
    (root / "Other_1").mkdir()
    written = {"2.py": "x" * MAX_CODE, "3.py": "x" * (MAX_CODE + 1), "00.py": "x", "notes.txt": "x", f"{2**63}.py": "x"}
    for name, text in {**written, "../Other_1/0.py": "x"}.items():
        (folder / name).write_text(text)
    found = read_of_mine(root, tasks)
    assert found.candidates["sample_index"].to_list() == [0, 2, 0]
    assert found.candidates["code"][1] == written["2.py"]
    assert found.skipped == {"other files": 2}
    assert sorted(row.why.partition(",")[0] for row in found.bad_rows) == [
        "expected a folder named as one task loaded",
        "expected one program 0",
        *["expected text in UTF-8 of at most 65"] * 2,
    ]


def test_a_folder_named_as_two_tasks_is_nobody_s(tmp_path: Path, tasks: dict) -> None:
    root = write_folder(tmp_path / "samples", RIGHT)
    two = {**tasks, "HumanEval_900": replace(tasks["HumanEval/900"], task_id="HumanEval_900")}
    found = read_of_mine(root, two)
    assert found.candidates["task_id"].to_list() == ["HumanEval/901"]
    assert found.bad_rows[0].why == "expected a folder named as one task loaded, found HumanEval/900, HumanEval_900"


def test_a_folder_needs_its_coder(tmp_path: Path, tasks: dict) -> None:
    root = write_folder(tmp_path / "samples", RIGHT)
    assert is_sample_folder(root)
    assert read_source(root, tasks=tasks, model="mine", temperature=0.6).candidates.height == 2
    with pytest.raises(WrongUsage, match="does not name its coder"):
        read_source(root, Selection(), tasks=tasks)
    (tmp_path / "none").mkdir()
    with pytest.raises(BadSource, match="expected folders of tasks with programs"):
        read_of_mine(tmp_path / "none", tasks)
