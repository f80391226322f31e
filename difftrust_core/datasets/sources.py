"""Read recorded candidates from a path, whatever it holds: folders of EvalPlus, Parquet, JSONL, the artifact."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from glob import escape
from pathlib import Path
from typing import Any

import polars as pl

from difftrust_core.base.plugins import require
from difftrust_core.base.records import BadRow
from difftrust_core.base.task import MOST_ID, MOST_NAME, Task
from difftrust_core.datasets.artifact import read_artifact
from difftrust_core.datasets.entries import MAX_CODE, ROW, Unreadable, most_unpacked, plain_id, read_json, read_lines
from difftrust_core.datasets.recorded import (
    KEY,
    SCHEMA,
    Found,
    Recorded,
    Selection,
    check_coder,
    flaw_of,
)
from difftrust_core.exceptions import BadSource, WrongUsage

JSONL = (".jsonl", ".jsonl.gz")
_ACCEPTED = "a folder of the published artifact or of EvalPlus, a .parquet file, or a .jsonl or .jsonl.gz file"


def names_no_coder(path: Path) -> bool:
    """Tell whether a source leaves it to the user to say whose its samples are: JSONL, and folders of EvalPlus."""
    return path.name.endswith(JSONL) or is_sample_folder(path)


def read_source(
    path: Path,
    selection: Selection | None = None,
    *,
    tasks: Mapping[str, Task] | None = None,
    model: str | None = None,
    temperature: float | None = None,
) -> Recorded:
    """Return the candidates in ``path``: a folder by its layout, EvalPlus' or the artifact's, a file by its name's end.

    ``tasks`` (by task id), ``model`` and ``temperature`` are for what does not say them itself (``names_no_coder``).
    Raises BadSource if the path is none of these, WrongUsage if JSONL or a folder of EvalPlus comes without its coder.
    """
    selection = selection or Selection()
    if not path.exists():
        raise BadSource(f"{path}: expected {_ACCEPTED}, found nothing there; check the path")
    if path.is_file() and path.name.endswith(".parquet"):
        return read_parquet(path, selection)
    if not names_no_coder(path):
        if path.is_dir():
            return read_artifact(path, selection)
        raise BadSource(f"{path}: expected {_ACCEPTED}, found a file of another name; rename or convert it")
    if tasks is None or model is None or temperature is None:
        raise WrongUsage(f"{path} does not name its coder; give --model and --temperature")
    read = read_sample_folder if path.is_dir() else read_jsonl
    named = selection.benchmarks
    asked = {task_id: task for task_id, task in tasks.items() if named is None or task.benchmark in named}
    return read(path, asked, model=model, temperature=temperature, m=selection.m)


_NUMBERED = re.compile(r"([0-9]{1,18})\.py")


def is_sample_folder(path: Path) -> bool:
    """Tell whether ``path`` holds folders with programs ``<n>.py``."""
    return path.is_dir() and any(_NUMBERED.fullmatch(file.name) for file in path.glob("*/*.py"))


def read_sample_folder(
    root: Path, tasks: Mapping[str, Task], *, model: str, temperature: float, m: int | None = None
) -> Recorded:
    """Return the candidates in ``<root>/<task>/<n>.py``, all of one coder: n is the ``sample_index``.

    A folder is named as its task, with ``_`` for ``/``: ``HumanEval_0``. What cannot be used becomes a bad row, as does
    a second file of the same number: ``01.py`` beside ``1.py``. Raises BadSource if there is no such file, WrongUsage
    if the coder or m is none.
    """
    check_coder(model, temperature, m)
    if not is_sample_folder(root):
        raise BadSource(f"{root}: expected folders of tasks with programs 0.py, 1.py, ... in them; check the path")
    by_folder = defaultdict[str, list[Task]](list)
    for task_id, one in tasks.items():
        by_folder[task_id.replace("/", "_")].append(one)
    found, taken = Found(), set[tuple[str, int]]()
    for folder in sorted(path for path in root.iterdir() if path.is_dir()):
        files = [(named, path) for path in folder.iterdir() if (named := _NUMBERED.fullmatch(path.name))]
        found.skipped["other files"] += sum(1 for _ in folder.iterdir()) - len(files)
        named_so = by_folder.get(folder.name, [])
        task = named_so[0] if len(named_so) == 1 else None
        if files and task is None:
            several = ", ".join(one.task_id for one in named_so) or "another name"
            found.refuse(folder, f"expected a folder named as one task loaded, found {several}")
        for number, path in sorted((int(named[1]), path) for named, path in files):
            if task is None or (m is not None and number >= m):
                continue
            code = _text(path)
            if code is None:
                found.refuse(path, f"expected text in UTF-8 of at most {MAX_CODE:,} bytes")
            elif (task.task_id, number) in taken:
                found.refuse(f"{root}, {task.task_id}", f"expected one program {number}, found a further one")
            else:
                taken.add((task.task_id, number))
                found.add(task.benchmark, task.task_id, model, float(temperature), number, code)
    return found.recorded()


def _text(path: Path) -> str | None:
    if not path.is_file():  # a pipe would be waited for
        return None
    try:
        with path.open("rb") as file:
            text = file.read(MAX_CODE + 1).decode()
    except (OSError, UnicodeDecodeError):
        return None
    return None if flaw_of(text) else text


MAX_LINE = 4 * 2**20
"""Bytes of one line: a character of a text may take twelve."""
MOST_NAMED = 1_000
"""Lines that hold no candidate and are named; more are counted."""


class _Refused(Exception):
    """The line holds no candidate."""


def read_jsonl(
    path: Path, tasks: Mapping[str, Task], *, model: str, temperature: float, m: int | None = None
) -> Recorded:
    """Return the candidates in ``path``, gzip or plain, all of one coder.

    Each line is an object with ``task_id`` (a key of ``tasks``) and ``solution``, a whole program, or
    ``completion``, which continues the task's prompt, else its signature; with both, the solution counts.
    ``sample_index`` is the order of a task's lines; a bad line keeps its place, so that it does not change the
    others' numbers.
    Raises BadSource if the file cannot be read to its end, WrongUsage if the coder or m is none.
    """
    check_coder(model, temperature, m)
    found, seen, n_unnamed = Found(), Counter[str](), 0
    for number, line in _lines(path):
        try:
            value = _object(line)
            task = _task(value, tasks)
            index = seen[task.task_id]
            seen[task.task_id] += 1
            if m is None or index < m:
                found.add(task.benchmark, task.task_id, model, float(temperature), index, _code(value, task))
        except _Refused as e:
            if len(found.bad) < MOST_NAMED:
                found.refuse(f"{path}, line {number}", str(e))
            else:
                n_unnamed += 1
    if n_unnamed:
        found.refuse(path, f"{n_unnamed:,} more lines that hold no candidate")
    return found.recorded()


def _lines(path: Path) -> Iterator[tuple[int, bytes | Unreadable]]:
    try:
        lines = read_lines(path, longest=MAX_LINE)
        yield from ((number, line) for number, line in lines if isinstance(line, Unreadable) or line.strip())
    except Unreadable as e:
        raise BadSource(f"{path}: {e}; copy or export it again") from None


def _object(line: bytes | Unreadable) -> dict[str, object]:
    if isinstance(line, Unreadable):
        raise _Refused(str(line))
    try:
        value = read_json(line)
    except (ValueError, RecursionError) as e:
        raise _Refused(f"expected a JSON object, found: {str(e)[:120]}") from None
    if not isinstance(value, dict):
        raise _Refused(f"expected a JSON object, found {type(value).__name__}")
    return value


def _task(value: dict[str, object], tasks: Mapping[str, Task]) -> Task:
    task_id = value.get("task_id")
    if type(task_id) is int and str(task_id) in tasks:  # as in APPS
        task_id = str(task_id)
    if not isinstance(task_id, str):
        raise _Refused(f"expected a text in field 'task_id', found {_found(value, 'task_id')}")
    found = tasks.get(task_id) or tasks.get(plain_id(task_id))
    if found is None:
        first = f", the first is {next(iter(tasks))!r}" if tasks else ""
        raise _Refused(f"expected a task of the benchmarks loaded, found {task_id[:80]!r}{first}")
    return found


def _code(value: dict[str, object], task: Task) -> str:
    name = "solution" if "solution" in value else "completion"
    text = value.get(name)
    if not isinstance(text, str):
        raise _Refused(f"expected a text in field 'solution' or 'completion', found {_found(value, name)}")
    is_body = task.language == "python" and text.lstrip("\n")[:1].isspace()
    begun = task.prompt or f"def {task.entry_point}{task.signature}:\n" * is_body
    code = text if name == "solution" else begun + text
    if flaw := flaw_of(code):
        raise _Refused(f"{flaw} in field {name!r}")
    return code


def _found(value: dict[str, object], name: str) -> str:
    return type(value[name]).__name__ if name in value else "no such field"


_NAMED_ROWS = 5
"""Rows with the same flaw share one BadRow, which names this many of them and counts the rest."""

_ROW = "number of the row"
_TEXTS = [name for name, kind in SCHEMA.items() if kind is pl.String]
_HIDDEN = r"[[\p{C}\p{Z}]--[ ]]"
"""What ``str.isprintable`` refuses."""


def read_parquet(path: Path, selection: Selection | None = None) -> Recorded:
    """Return the candidates of ``selection`` in ``path``, whose columns must be those of SCHEMA.

    Other columns are ignored. Raises BadSource if the file is damaged, unpacks to more than ``most_unpacked``, or a
    column is missing or of another type; a row that cannot be used becomes part of a bad row. Rows are numbered from 0.
    """
    selection = selection or Selection()
    try:
        _check_schema(path)
        _check_size(path)
        rows = _scan(path, selection)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as e:
        why = " ".join(str(e).split())[:120]
        raise BadSource(f"{path}: expected a whole Parquet file, found damage ({why}); copy it again") from None
    bad = []
    for flaw, why in _flaws():
        flawed = rows.select(flaw.fill_null(value=False)).to_series()
        if flawed.any():
            bad.append(_bad_row(path, rows.filter(flawed)[_ROW], why))
            rows = rows.filter(~flawed)
    return Recorded(candidates=rows.select(list(SCHEMA)), bad_rows=tuple(bad))


def _check_schema(path: Path) -> None:
    found = pl.scan_parquet(path, glob=False).collect_schema()
    for column, expected in SCHEMA.items():
        if found.get(column) != expected:
            kind = found.get(column, "no such column")
            raise BadSource(
                f"{path}: expected column {column!r} of type {expected.__name__}, found {kind}; "
                f"write it with the columns {', '.join(f'{n} {t.__name__}' for n, t in SCHEMA.items())}"
            )


def _check_size(path: Path) -> None:
    """Refuse a file whose pages or rows unpack to too much, before any is unpacked."""
    import duckdb

    pages = "SELECT sum(total_uncompressed_size) FROM parquet_metadata($1) WHERE path_in_schema IN (SELECT unnest($2))"
    name = escape(str(path))
    try:
        with duckdb.connect() as connection:
            (unpacked,) = connection.execute(pages, [name, list(SCHEMA)]).fetchall()[0]
            (n_rows,) = connection.execute("SELECT num_rows FROM parquet_file_metadata($1)", [name]).fetchall()[0]
    except duckdb.Error as e:
        raise OSError(e) from None
    _check_unpacked(path, int(unpacked or 0) + ROW * int(n_rows))  # null: no row, so no page


def _check_unpacked(path: Path, n_bytes: int) -> None:
    if n_bytes > most_unpacked(path):
        raise BadSource(
            f"{path}: expected at most {most_unpacked(path):,} bytes unpacked, {ROW} for each row included, found "
            f"{n_bytes:,}; write it in parts, or as JSON lines"
        )


def _scan(path: Path, selection: Selection) -> pl.DataFrame:
    """Return the wanted rows with their number; a null that makes "wanted" unknown keeps its row."""
    wanted = selection.predicate().fill_null(value=True)
    lazy = pl.scan_parquet(path, row_index_name=_ROW, glob=False).with_columns(broken=pl.lit(value=False))
    try:
        lengths = lazy.select(pl.col(_TEXTS).str.len_bytes().cast(pl.Int64).sum()).collect()
        _check_unpacked(path, sum(lengths.row(0)))  # a dictionary stands for each of its texts in many rows
        return lazy.filter(wanted).select(_ROW, *SCHEMA, "broken").collect()
    except pl.exceptions.ComputeError as e:
        if "utf-8" not in str(e).lower():
            raise
    return _decoded(path).with_row_index(_ROW).filter(wanted | pl.col("broken"))


def _decoded(path: Path) -> pl.DataFrame:
    """Read a file with broken text: polars refuses it as a whole; here the rows concerned are marked."""
    purpose = f"{path}: expected text in UTF-8, found other bytes; naming the rows concerned"
    pq: Any = require("pyarrow.parquet", extra="arrow", purpose=purpose)
    try:
        table = pq.read_table(path, columns=list(SCHEMA), read_dictionary=_TEXTS)
    except pq.lib.ArrowException as e:
        raise OSError(e) from None
    texts = {name: _texts(table[name]) for name in _TEXTS}
    _check_unpacked(path, sum(len(text or "") for column in texts.values() for text in column))
    broken = pl.repeat(value=False, n=table.num_rows, eager=True)
    columns: dict[str, pl.Series] = {}
    for name, kind in SCHEMA.items():
        is_null = pl.Series(table[name].is_null().to_pylist(), dtype=pl.Boolean)
        columns[name] = pl.Series(texts[name] if name in texts else table[name].to_pylist(), dtype=kind())
        broken |= columns[name].is_null() & ~is_null
    return pl.DataFrame(columns).with_columns(broken=broken)


def _texts(column: Any) -> list[str | None]:
    """Return the texts of a column with a dictionary, each decoded once; None where there is none in UTF-8."""
    found: list[str | None] = []
    for chunk in column.chunks:
        values = chunk.dictionary.cast("large_binary").to_pylist()
        texts = [text if (text := value.decode(errors="replace")).encode() == value else None for value in values]
        found += [None if at is None else texts[at] for at in chunk.indices.to_pylist()]
    return found


def _flaws() -> Iterator[tuple[pl.Expr, str]]:
    yield pl.col("broken"), "expected text in UTF-8, found other bytes"
    for column in SCHEMA:
        yield pl.col(column).is_null(), f"expected a value in column {column!r}, found null"
    longest = pl.col("code").str.len_bytes() > MAX_CODE
    yield longest, f"expected at most {MAX_CODE:,} bytes of code, found more"
    for column in _TEXTS[:-1]:
        most = MOST_ID if column == "task_id" else MOST_NAME
        is_long = pl.col(column).str.len_chars() > most
        yield is_long, f"expected at most {most} characters in column {column!r}, found more"
        yield pl.col(column) == "", f"expected a name in column {column!r}, found an empty text"
        yield pl.col(column).str.contains(_HIDDEN), f"expected printable characters in column {column!r}, found others"
    temperature = pl.col("temperature")
    yield ~temperature.is_finite() | (temperature < 0), "expected a finite temperature >= 0, found another"
    yield pl.col("sample_index") < 0, "expected a sample_index >= 0, found a negative one"
    yield (
        ~pl.struct(KEY).is_first_distinct(),
        f"expected one row for each ({', '.join(KEY)}), found a further one",
    )


def _bad_row(path: Path, numbers: pl.Series, why: str) -> BadRow:
    named = ", ".join(map(str, numbers.head(_NAMED_ROWS)))
    more = f" and {len(numbers) - _NAMED_ROWS} more" if len(numbers) > _NAMED_ROWS else ""
    return BadRow(where=f"{path}, row {named}{more}", why=f"{why} ({len(numbers)} rows)")
