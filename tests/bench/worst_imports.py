"""What `difftrust import` takes for the worst files under 1 MB: `python -m tests.bench.worst_imports [NAME ...]`."""

import base64
import json
import sys
import tempfile
import zlib
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Final

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from tests.bench.processes import Took, run

MOST_BYTES: Final = 1_000_000
SECONDS: Final = 5.0
MEGABYTES: Final = 500.0
"""Of all processes of the import together."""
_TASKS = (
    '{"task_id": "t", "entry_point": "f", "signature": "(x: int) -> int", "description": "d", "benchmark": "own"}\n'
)
_CODER = ("--model", "m", "--temperature", "0")
_CHUNK = 2**20


def _line(code: str, task_id: str = "t") -> str:
    return json.dumps({"task_id": task_id, "solution": code}) + "\n"


def _repeated(path: Path, text: Callable[[int], bytes]) -> Path:
    """Write text(0), text(1), ..., packed if the name ends so, until the file is nearly MOST_BYTES long."""
    is_packed = path.suffix == ".gz"
    with path.open("wb") as raw:
        packer, written = zlib.compressobj(6, zlib.DEFLATED, 31), 0
        for number in range(1_000):
            before, block = packer.copy() if is_packed else packer, text(number)
            made = packer.compress(block) + packer.flush(zlib.Z_SYNC_FLUSH) if is_packed else block
            if written + len(made) > MOST_BYTES - 100:
                packer = before
                break
            written += raw.write(made)
        if is_packed:
            raw.write(packer.flush())
    return path


def _hundred(line: Callable[[int], str]) -> Callable[[int], bytes]:
    """Return blocks of a hundred lines, all different."""
    return lambda i: "".join(line(100 * i + j) for j in range(100)).encode()


def _parquet(path: Path, **columns: object) -> Path:
    row = {"benchmark": "own", "task_id": "t", "model": "m", "temperature": 0.0, "sample_index": 0, "code": "x = 1"}
    n = max((len(v) for v in columns.values() if isinstance(v, pl.Series)), default=1)
    kinds = {"temperature": pl.Float64, "sample_index": pl.Int64}
    frame = pl.DataFrame({"n": pl.int_range(n, eager=True)}).select(
        (columns[name] if isinstance(columns.get(name), pl.Series) else pl.lit(columns.get(name, value)))
        .cast(kinds.get(name, pl.String))
        .alias(name)
        for name, value in row.items()
    )
    frame.write_parquet(path, compression="zstd", compression_level=9, statistics=False)
    return path


_WIDE = _line("x = '" + "a" * 250_000 + "\U0001f600'").replace("\\ud83d\\ude00", "\U0001f600").encode()
_EQUAL = (_line("def f(x): return x") * (_CHUNK // 60)).encode()
_F_STRINGS = [(f'x{i} = f"' + "{x}" * (n // 3) + '"') for i, n in enumerate((300_000, *[65_000] * 10))]
_FUNCTIONS = ["".join(f"def f{i}():return {i}\n" for i in range(n)) for n in (20_000, *range(2_700, 2_706))]
_EVALPLUS_TASK = {
    "task_id": "HumanEval/0",
    "prompt": 'def f(x):\n    """d"""\n',
    "entry_point": "f",
    "canonical_solution": "    return x\n",
    "base_input": [[1]],
    "plus_input": 0,
}
_EVALPLUS = json.dumps(_EVALPLUS_TASK)[:-2].encode() + b"["


def _parquet_text(folder: Path) -> Path:
    codes = pl.Series([f"x{i} = '" + "a" * 10_000_000 + "'" for i in range(5)])
    return _parquet(folder / "text.parquet", code=codes, sample_index=pl.int_range(5, eager=True))


def _parquet_dictionary(folder: Path) -> Path:
    n, path = 200_000, folder / "dictionary.parquet"
    rows = pl.read_parquet(_parquet(path, sample_index=pl.int_range(n, eager=True))).drop("code").to_arrow()
    text = pa.array(["x = '" + "a" * 200_000 + "'"], pa.large_utf8())
    codes = pa.DictionaryArray.from_arrays(pa.array([0] * n, pa.int32()), text)
    pq.write_table(rows.append_column("code", codes), path, compression="zstd", store_schema=False)
    return path


def _parquet_rows(folder: Path) -> Path:
    return _parquet(folder / "rows.parquet", code=pl.repeat("x = 1", 20_000_000, eager=True))


def _parquet_coders(folder: Path) -> Path:
    return _parquet(folder / "coders.parquet", model=pl.Series([f"m{i}" for i in range(20_000)]))


def _artifact(folder: Path, content: bytes) -> Path:
    file = folder / "clone/HumanEval/.experiments/a_temp0.6/cache/candidates_HumanEval_0"
    file.parent.mkdir(parents=True)
    file.write_bytes(content)
    return folder / "clone"


def _pickle_keys(folder: Path) -> Path:
    nested = b")" + b"\x94" + b"".join(b"h%c" % i + b"h%c" % i + b"\x86\x94" for i in range(100))
    return _artifact(folder, b"\x80\x04](" + b"}(" + nested + b"Nu" + b"e.")


def _pickle_depth(folder: Path) -> Path:
    return _artifact(folder, b"\x80\x04" + b"]" * 450_000 + b"a" * 449_999 + b".")


def _sample_folder(folder: Path) -> Path:
    (folder / "samples/t").mkdir(parents=True)
    (folder / "samples/t/0.py").write_text("0;" * (MOST_BYTES // 2 - 100))
    return folder / "samples"


def _livecodebench(folder: Path) -> Path:
    def line(block: bytes, times: int) -> bytes:
        packer, packed = zlib.compressobj(9), b""
        length = 2 + len(block) * times
        packed += packer.compress(b"\x80\x04\x8d" + length.to_bytes(8, "little") + b"[")
        for _ in range(times):
            packed += packer.compress(block)
        packed += packer.compress(b"].") + packer.flush()
        task = {"question_content": "q", "question_id": "t", "public_test_cases": "[]"}
        return json.dumps({**task, "private_test_cases": base64.b64encode(packed).decode()}).encode() + b"\n"

    path = folder / "packed.jsonl"
    path.write_bytes(line(b" " * _CHUNK, 200) + line(b"[]," * (_CHUNK // 3), 200))
    return path


def _written(name: str, text: Callable[[], str]) -> Callable[[Path], Path]:
    def make(folder: Path) -> Path:
        (folder / name).write_text(text())
        return folder / name

    return make


def _filled(name: str, text: Callable[[int], bytes]) -> Callable[[Path], Path]:
    return lambda folder: _repeated(folder / name, text)


SOURCES: Final[dict[str, tuple[str, Callable[[Path], Path]]]] = {
    "packed line": (
        "one line of 1 GB, gzip",
        _filled("line.jsonl.gz", lambda i: b"x" * _CHUNK if i else b'{"task_id": "t", "solution": "'),
    ),
    "packed candidates": ("millions of equal candidates, gzip", _filled("candidates.jsonl.gz", lambda i: _EQUAL)),
    "packed bad lines": (
        "millions of lines that are none, gzip",
        _filled("bad.jsonl.gz", lambda i: b"0\n" * (_CHUNK // 2)),
    ),
    "packed blank lines": ("1 GB of blank lines, gzip", _filled("blank.jsonl.gz", lambda i: b"\n" * _CHUNK)),
    "packed structure": (
        "100 million objects in one line, gzip",
        _filled("structure.jsonl.gz", lambda i: b'{"":1},' * (_CHUNK // 7) if i else b"["),
    ),
    "packed wide text": (
        "long texts with one character of four bytes, gzip",
        _filled("wide.jsonl.gz", lambda i: _WIDE.replace(b"x", b"x%d" % i, 1)),
    ),
    "deep JSON": (
        "a million lists in each other",
        _written("deep.jsonl", lambda: '{"task_id": "t", "solution": ' + "[" * (MOST_BYTES - 100) + "\n"),
    ),
    "f-strings": (
        "f-strings of 300 KB, and ten of 65",
        _written("f_string.jsonl", lambda: "".join(map(_line, _F_STRINGS))),
    ),
    "functions": (
        "20,000 functions of one line, and six times 2,700",
        _written("functions.jsonl", lambda: "".join(map(_line, _FUNCTIONS))),
    ),
    "dense": (
        "programs of 64 KB with a statement each two characters",
        _filled("dense.jsonl", lambda i: _line(f"{i};" + "0;" * 32_000).encode()),
    ),
    "small programs": (
        "as many different programs as fit",
        _filled("small.jsonl", _hundred(lambda i: _line(f"x={i}"))),
    ),
    "unknown names": ("as many unknown tasks as fit", _filled("names.jsonl", _hundred(lambda i: _line("", f"u{i}")))),
    "Parquet text": ("five texts of 10 MB", _parquet_text),
    "Parquet dictionary": ("one text of 200 KB in 200,000 rows", _parquet_dictionary),
    "Parquet rows": ("20 million rows", _parquet_rows),
    "Parquet coders": ("20,000 coders", _parquet_coders),
    "pickle keys": ("tuples that double as keys, 100 times", _pickle_keys),
    "pickle depth": ("450,000 lists in each other", _pickle_depth),
    "sample folder": ("a program of 1 MB with a statement each two characters", _sample_folder),
}
TASKS: Final[dict[str, tuple[str, Callable[[Path], Path]]]] = {
    "LiveCodeBench": ("200 MB of packed tests, and 70 million lists", _livecodebench),
    "EvalPlus": (
        "200 million inputs, gzip",
        _filled("evalplus.jsonl.gz", lambda i: b"[[]]," * (_CHUNK // 5) if i else _EVALPLUS),
    ),
    "own tasks": ("as many tasks as fit", _filled("own.jsonl", _hundred(lambda i: _TASKS.replace('"t"', f'"t{i}"')))),
    "module": (
        "20,000 functions",
        _written(
            "module.py", lambda: "".join(f'def f{i}(x: int):\n    """d"""\n    return {i}\n' for i in range(20_000))
        ),
    ),
    "TOML": (
        "400,000 lists in each other",
        _written("deep.toml", lambda: f"[[task]]\nx = {'[' * 400_000}\n{'.'.join(['a'] * 100_000)} = 1\n"),
    ),
    "long name": (
        "a task with a name of 900,000 characters",
        _written("long.jsonl", lambda: _TASKS.replace('"t"', f'"{"t" * 900_000}"')),
    ),
}


def import_worst(name: str, folder: Path) -> tuple[int, Took]:
    """Make one of the files and import it by the command line; return its bytes and what that took."""
    base = folder / "tasks.jsonl"
    base.write_text(_TASKS)
    is_source = name in SOURCES
    path = (SOURCES if is_source else TASKS)[name][1](folder)
    size = (
        sum(file.stat().st_size for file in path.rglob("*") if file.is_file()) if path.is_dir() else path.stat().st_size
    )
    assert size <= MOST_BYTES, f"{name}: {size} bytes"
    source = path
    if not is_source:
        source, base = folder / "one.jsonl", path
        source.write_text(_line("def f(x): return x"))
    coder = () if path.name in ("clone",) or path.suffix == ".parquet" else _CODER
    command = [sys.executable, "-P", "-c", "from difftrust.cli import main; main()", "import", str(source), *coder]
    took = run([*command, "--tasks", str(base), "--store", str(folder / "store")], look_every=0.02)
    return size, took


def main(names: Iterable[str]) -> int:
    """Print a line a file; return how many took more than SECONDS or MEGABYTES."""
    broken = 0
    for name in names or (*SOURCES, *TASKS):
        with tempfile.TemporaryDirectory() as folder:
            size, took = import_worst(name, Path(folder))
        broken += took.wall > SECONDS or took.together_mb > MEGABYTES
        what = (SOURCES | TASKS)[name][0]
        figures = f"{took.wall:5.1f} s  {took.cpu:5.1f} s of processors  {took.together_mb:4,.0f} MB"
        print(f"{name:19} {size / 1e3:4.0f} KB  {figures}  {what}", flush=True)
        if "-v" in sys.argv:
            print("   ", took.status, " ".join(took.said.split())[-400:])
    return broken


if __name__ == "__main__":
    raise SystemExit(bool(main([name for name in sys.argv[1:] if name != "-v"])))
