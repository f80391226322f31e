"""Read recorded candidates from a Parquet file."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl

from difftrust_core.base.records import BadRow
from difftrust_core.base.task import MOST_NAME
from difftrust_core.datasets.recorded.selection import KEY, SCHEMA, Recorded, Selection
from difftrust_core.datasets.unpacking import MAX_CODE, ROW, most_unpacked
from difftrust_core.exceptions import BadSource

_NAMED_ROWS = 5
"""Rows with the same flaw share one BadRow, which names this many of them and counts the rest."""

_TEXTS = [name for name, kind in SCHEMA.items() if kind is pl.String]


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
            bad.append(_bad_row(path, rows.filter(flawed)["row"], why))
            rows = rows.filter(~flawed)
    return Recorded(candidates=rows.select(list(SCHEMA)), bad_rows=tuple(bad))


def _check_schema(path: Path) -> None:
    found = pl.read_parquet_schema(path)
    for column, expected in SCHEMA.items():
        if found.get(column) != expected:
            kind = found.get(column, "no such column")
            raise BadSource(
                f"{path}: expected column {column!r} of type {expected.__name__}, found {kind}; "
                f"write it with the columns {', '.join(f'{n} {t.__name__}' for n, t in SCHEMA.items())}"
            )


def _check_size(path: Path) -> None:
    """Refuse a file whose pages or rows unpack to too much, before any is unpacked."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        found = pq.read_metadata(path)
    except pa.ArrowException as e:
        raise OSError(e) from None
    groups = [found.row_group(at) for at in range(found.num_row_groups)]
    columns = [group.column(at) for group in groups for at in range(group.num_columns)]
    pages = sum(column.total_uncompressed_size for column in columns if column.path_in_schema in SCHEMA)
    _check_unpacked(path, pages + ROW * found.num_rows)


def _check_unpacked(path: Path, n_bytes: int) -> None:
    if n_bytes > most_unpacked(path):
        raise BadSource(
            f"{path}: expected at most {most_unpacked(path):,} bytes unpacked, {ROW} for each row included, found "
            f"{n_bytes:,}; write it in parts, or as JSON lines"
        )


def _scan(path: Path, selection: Selection) -> pl.DataFrame:
    """Return the wanted rows with their number; a null that makes "wanted" unknown keeps its row."""
    wanted = selection.predicate().fill_null(value=True)
    lazy = pl.scan_parquet(path, row_index_name="row", glob=False).with_columns(broken=pl.lit(value=False))
    try:
        lengths = lazy.select(pl.col(_TEXTS).str.len_bytes().cast(pl.Int64).sum()).collect()
        _check_unpacked(path, sum(lengths.row(0)))  # a dictionary stands for each of its texts in many rows
        return lazy.filter(wanted).select("row", *SCHEMA, "broken").collect()
    except pl.exceptions.ComputeError as e:
        if "utf-8" not in str(e).lower():
            raise
    return _decoded(path).with_row_index("row").filter(wanted | pl.col("broken"))


def _decoded(path: Path) -> pl.DataFrame:
    """Read a file with broken text: polars refuses it as a whole; here the rows concerned are marked."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        table = pq.read_table(path, columns=list(SCHEMA), read_dictionary=_TEXTS)
    except pa.ArrowException as e:
        raise OSError(e) from None
    texts = {name: _texts(table[name]) for name in _TEXTS}
    _check_unpacked(path, sum(len(text or "") for column in texts.values() for text in column))
    broken = pl.repeat(value=False, n=table.num_rows, eager=True)
    columns: dict[str, pl.Series] = {}
    for name, kind in SCHEMA.items():
        if name in texts:
            is_null = pl.Series(table[name].is_null().to_pylist(), dtype=pl.Boolean)
            columns[name] = pl.Series(texts[name], dtype=pl.String)
            broken |= columns[name].is_null() & ~is_null
        else:
            columns[name] = pl.Series(table[name].to_pylist(), dtype=kind())
    return pl.DataFrame(columns).with_columns(broken=broken)


def _texts(column: Any) -> list[str | None]:
    """Return the texts of a column with a dictionary, each decoded once; None where there is none in UTF-8."""
    found: list[str | None] = []
    for chunk in column.chunks:
        texts = [_text(value) for value in chunk.dictionary.cast("large_binary").to_pylist()]
        found += [None if at is None else texts[at] for at in chunk.indices.to_pylist()]
    return found


def _text(value: bytes) -> str | None:
    try:
        return value.decode()
    except UnicodeDecodeError:
        return None


def _flaws() -> Iterator[tuple[pl.Expr, str]]:
    yield pl.col("broken"), "expected text in UTF-8, found other bytes"
    for column in SCHEMA:
        yield pl.col(column).is_null(), f"expected a value in column {column!r}, found null"
    longest = pl.col("code").str.len_bytes() > MAX_CODE
    yield longest, f"expected at most {MAX_CODE:,} bytes of code, found more"
    for column in _TEXTS[:-1]:
        is_long = pl.col(column).str.len_chars() > MOST_NAME
        yield is_long, f"expected at most {MOST_NAME} characters in column {column!r}, found more"
        yield pl.col(column) == "", f"expected a name in column {column!r}, found an empty text"
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
