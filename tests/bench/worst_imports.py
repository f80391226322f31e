"""The worst files under 1 MB for `difftrust import`, of recorded programs and of tasks."""

import base64
import json
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Final

import polars as pl

from tests.bench.processes import DIFFTRUST, Took, run

MOST_BYTES: Final = 1_000_000
_CHUNK = 2**20
_TASK = (
    '{"task_id": "%s", "entry_point": "f", "signature": "(x: int) -> int", "description": "d", "benchmark": "own"}\n'
)
_EVALPLUS = b"""{"task_id": "HumanEval/0", "prompt": "def f(x):\\n    \\"\\"\\"d\\"\\"\\"\\n", "entry_point": "f",
 "canonical_solution": "    return x\\n", "base_input": [[1]], "plus_input": [""".replace(b"\n", b"")


def _line(code: str) -> bytes:
    return json.dumps({"task_id": "t", "solution": code}).encode() + b"\n"


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


def _lines(path: Path, *codes: str) -> Path:
    path.write_bytes(b"".join(map(_line, codes)))
    return path


def _parquet(path: Path, codes: pl.Series, sample_index: pl.Expr) -> Path:
    where = {"benchmark": "own", "task_id": "t", "model": "m", "temperature": 0.0}
    constants = {name: pl.lit(value) for name, value in where.items()}
    frame = pl.DataFrame({"code": codes}).with_columns(sample_index.cast(pl.Int64).alias("sample_index"), **constants)
    frame.write_parquet(path, compression="zstd", compression_level=9, statistics=False)
    return path


def _pickle_keys(folder: Path) -> Path:
    nested = b")" + b"\x94" + b"".join(b"h%c" % i + b"h%c" % i + b"\x86\x94" for i in range(100))
    file = folder / "clone/HumanEval/.experiments/a_temp0.6/cache/candidates_HumanEval_0"
    file.parent.mkdir(parents=True)
    file.write_bytes(b"\x80\x04](" + b"}(" + nested + b"Nu" + b"e.")
    return folder / "clone"


def _livecodebench(path: Path) -> Path:
    with path.open("wb") as handle:
        for block, times in ((b" " * _CHUNK, 200), (b"[]," * (_CHUNK // 3), 200)):
            packer = zlib.compressobj(9)
            packed = packer.compress(b"\x80\x04\x8d" + (2 + len(block) * times).to_bytes(8, "little") + b"[")
            packed += b"".join(packer.compress(block) for _ in range(times)) + packer.compress(b"].") + packer.flush()
            tests = {"public_test_cases": "[]", "private_test_cases": base64.b64encode(packed).decode()}
            handle.write(json.dumps({"question_content": "q", "question_id": "t", **tests}).encode() + b"\n")
    return path


SOURCES: Final[dict[str, Callable[[Path], Path]]] = {
    "millions of equal candidates, packed": lambda folder: _repeated(
        folder / "candidates.jsonl.gz", lambda i: _line("def f(x): return x") * (_CHUNK // 60)
    ),
    "1 GB of blank lines, packed": lambda folder: _repeated(folder / "blank.jsonl.gz", lambda i: b"\n" * _CHUNK),
    "f-strings of 300 KB, and ten of 65": lambda folder: _lines(
        folder / "f_string.jsonl",
        *(f'x{i} = f"' + "{x}" * (n // 3) + '"' for i, n in enumerate((300_000, *[65_000] * 10))),
    ),
    "20,000 functions of one line, and six times 2,700": lambda folder: _lines(
        folder / "functions.jsonl",
        *("".join(f"def f{i}():return {i}\n" for i in range(n)) for n in (20_000, *range(2_700, 2_706))),
    ),
    "five texts of 10 MB in Parquet": lambda folder: _parquet(
        folder / "text.parquet", pl.Series([f"x{i} = '" + "a" * 10_000_000 + "'" for i in range(5)]), pl.int_range(5)
    ),
    "20 million rows of Parquet": lambda folder: _parquet(
        folder / "rows.parquet", pl.repeat("x = 1", 20_000_000, eager=True), pl.lit(0)
    ),
    "tuples that double as keys of a pickle, 100 times": _pickle_keys,
}
TASKS: Final[dict[str, Callable[[Path], Path]]] = {
    "LiveCodeBench: 200 MB of packed tests, and 70 million lists": lambda folder: _livecodebench(
        folder / "packed.jsonl"
    ),
    "EvalPlus: 200 million inputs, packed": lambda folder: _repeated(
        folder / "evalplus.jsonl.gz", lambda i: b"[[]]," * (_CHUNK // 5) if i else _EVALPLUS
    ),
    "as many own tasks as fit": lambda folder: _repeated(
        folder / "own.jsonl", lambda i: "".join(_TASK % f"t{100 * i + j}" for j in range(100)).encode()
    ),
}


def import_worst(name: str, folder: Path) -> Took:
    """Make one of the files and import it by the command line."""
    path = (SOURCES | TASKS)[name](folder)
    assert path.is_dir() or path.stat().st_size <= MOST_BYTES
    source, tasks = (path, folder / "tasks.jsonl") if name in SOURCES else (folder / "one.jsonl", path)
    if name in SOURCES:
        tasks.write_text(_TASK % "t")
    else:
        _lines(source, "def f(x): return x")
    coder = () if path.is_dir() or path.suffix == ".parquet" else ("--model", "m", "--temperature", "0")
    words = ["import", source, *coder, "--tasks", tasks, "--store", folder / "store"]
    return run([*DIFFTRUST, *words], look_every=0.02)
