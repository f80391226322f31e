"""Query a store with SQL: its tables as DuckDB views."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import duckdb
import duckdb.func
import polars as pl

from difftrust_core.base.records import References
from difftrust_core.datasets.audits import FAULTS, audit_frame
from difftrust_core.estimates.measures import SUBSET_SCHEMA, TASK_SCHEMA, ablation, summary, whole_rows
from difftrust_core.estimates.pool import load_pool
from difftrust_core.exceptions import NoStore, WrongUsage
from difftrust_core.metrics.equality import Equality
from difftrust_core.store.checksums import is_whole
from difftrust_core.store.schemas import KEYS, REMEDIES
from difftrust_core.store.store import MAY_BE_MISSING, PARTITIONS, REFERENCE, SCHEMAS, Store

_SQL_TYPES = {
    pl.String: "VARCHAR",
    pl.Float64: "DOUBLE",
    pl.Int64: "BIGINT",
    pl.UInt32: "UINTEGER",
    pl.UInt64: "UBIGINT",
    pl.Boolean: "BOOLEAN",
}
_BASE_TABLES = ("tasks", "candidates", "inputs", "outcomes", "behaviours", "executions")
_RESULTS = ("draws", "patterns", "classes", "members", "disagreements", "smallest", "stability")
VIEWS = (*_BASE_TABLES, "programs", "task_counts", *_RESULTS, "estimates", "all_estimates", "audits")
MACROS = ("ablation", "ablation_summary")
_NULLS = duckdb.func.SPECIAL  # NULL is an answer to "how many?": all
_IN_MACRO = "while executing the UDF: "
_OF_STATEMENTS = (duckdb.BinderException, duckdb.CatalogException, duckdb.ParserException, duckdb.DataError)


def _stream(source: Any) -> SimpleNamespace:
    """Return what DuckDB and polars read of each other without pyarrow: a stream of Arrow, and no more.

    Polars keeps the type that it is given for good, and with DuckDB's own all of DuckDB, which then reports leaks.
    """
    return SimpleNamespace(__arrow_c_stream__=source.__arrow_c_stream__)


def connect(store: Store, *, equality: str = Equality.PAPER) -> duckdb.DuckDBPyConnection:
    """Return an in-memory database with the store's tables as views.

    All but ``all_estimates`` show the inputs and the tasks of the store's reading, ``estimates`` one equality.
    ``ablation(model, benchmark, temperature, m, n)`` is ``ablation.ablation`` as a table, ``ablation_summary(...)`` its
    aggregate in one row: the same numbers; NULL is undefined; 'a+b' is the mixture of two models. An m or n that is
    not recorded and executed on every task is refused. Tables that a results store does not hold are left out.
    """
    connection = duckdb.connect(":memory:")
    with suppress(duckdb.InvalidInputException):  # a notebook without ipywidgets: there is no bar to put off
        connection.execute("SET enable_progress_bar = false")
    connection.register("audits", _stream(audit_frame()))
    chosen = {"validity": store.settings().validity, "equality": equality}
    for table in (*_BASE_TABLES, *_RESULTS, "estimates"):
        if store.holds(table):
            _create_view(connection, store, table, chosen)
    _create_view(connection, store, "estimates", {}, name="all_estimates")
    _create_ablations(connection, store, chosen)
    if store.holds("programs"):
        _create_programs(connection, store)
    _confine(connection, store)
    return connection


def _confine(connection: duckdb.DuckDBPyConnection, store: Store) -> None:
    """Leave statements the files of the store's tables: no other file, variable, extension or setting."""
    folders = ", ".join(_quoted(str(store.root / table)) for table in PARTITIONS if store.holds(table))
    for setting in (
        f"allowed_directories = [{folders}]",
        "enable_external_access = false",
        "python_enable_replacements = false",
        "autoload_known_extensions = false",
        "lock_configuration = true",
    ):
        connection.execute(f"SET {setting}")


def _create_programs(connection: duckdb.DuckDBPyConnection, store: Store) -> None:
    _create_view(connection, store, "programs", {}, name="program_texts")
    connection.execute(_PROGRAMS)
    connection.execute(_TASK_COUNTS)


def _create_ablations(connection: duckdb.DuckDBPyConnection, store: Store, chosen: Mapping[str, str]) -> None:
    """Create the table macros: each asks the one definition of every measure, so that both give the same numbers."""

    def found(model: str, benchmark: str, temperature: float, m: int | None, n: int | None) -> pl.DataFrame:
        pool = load_pool(store, benchmark, equality=chosen["equality"])
        coders = [(name, temperature) for name in model.split("+")]
        rows = ablation(pool, coders, m=m, n=n)
        if whole_rows(pool, coders, m=m, n=n, fewer=m is None) is None:
            most = max(rows["m"], default=0)
            remedy = f", or run `difftrust execute --store {store.root}`" if store.holds("candidates") else ""
            raise WrongUsage(
                f"expected an m and n that {model} has on {benchmark}, got m = {m or 'NULL'} and n = {n or 'NULL'}; "
                f"at most m = {most} were executed so far, on {rows.height} tasks; choose fewer{remedy}"
            )
        return rows

    def rows(model: str, benchmark: str, temperature: float, m: int | None, n: int | None) -> list[Any]:
        return found(model, benchmark, temperature, m, n).to_dicts()

    def total(model: str, benchmark: str, temperature: float, m: int | None, n: int | None) -> dict[Any, Any]:
        return dict(summary(found(model, benchmark, temperature, m, n)))

    columns = ", ".join(f"{name} {_SQL_TYPES[kind]}" for name, kind in (TASK_SCHEMA | SUBSET_SCHEMA).items())
    measures = summary(pl.DataFrame(schema=TASK_SCHEMA | SUBSET_SCHEMA)).items()
    names = ", ".join(f"{name} {'BOOLEAN' if isinstance(value, bool) else 'DOUBLE'}" for name, value in measures)
    asked: list[Any] = ["VARCHAR", "VARCHAR", "DOUBLE", "BIGINT", "BIGINT"]
    connection.create_function("ablation_rows", rows, asked, f"STRUCT({columns})[]", null_handling=_NULLS)
    connection.create_function("ablation_total", total, asked, f"STRUCT({names})", null_handling=_NULLS)
    given = "(model, benchmark, temperature, m, n)"
    connection.execute(
        f"CREATE MACRO ablation{given} AS TABLE SELECT r.* FROM (SELECT unnest(ablation_rows{given}) AS r)"
    )
    connection.execute(
        f"CREATE MACRO ablation_summary{given} AS TABLE SELECT r.* FROM (SELECT ablation_total{given} AS r)"
    )


_PROGRAMS = """
    CREATE VIEW programs AS
    SELECT t.*, e.behaviour_ids, e.trimmed, e.nondeterministic, e.cpu_seconds
    FROM (SELECT DISTINCT * FROM program_texts) t
    LEFT JOIN (
        SELECT benchmark, task_id, tree_id, list(behaviour_id ORDER BY start) AS behaviour_ids,
               bool_or(trimmed) AS trimmed, bool_or(nondeterministic) AS nondeterministic,
               sum(cpu_seconds) AS cpu_seconds
        FROM executions GROUP BY ALL
    ) e USING (benchmark, task_id, tree_id)
"""

_TASK_COUNTS = f"""
    CREATE VIEW task_counts AS
    SELECT benchmark, task_id, count(*) AS n_programs, count(*) FILTER (trimmed) AS n_trimmed,
           count(*) FILTER (nondeterministic) AS n_nondeterministic,
           bool_or(nondeterministic AND tree_id = '{REFERENCE}') AS reference_nondeterministic
    FROM (
        SELECT benchmark, task_id, tree_id, bool_or(trimmed) AS trimmed, bool_or(nondeterministic) AS nondeterministic
        FROM executions GROUP BY ALL
    ) GROUP BY ALL
"""


def _create_view(
    connection: duckdb.DuckDBPyConnection, store: Store, table: str, chosen: Mapping[str, str], *, name: str = ""
) -> None:
    """Create the view of one table, restricted to the partitions ``chosen``, whose columns it then leaves out."""
    keys = {key: value for key, value in chosen.items() if key in PARTITIONS[table]}
    files = [str(path) for path in store.files(table) if table != "estimates" or _is_of_this_version(path)]
    source = empty = f"no_{name or table}"
    if not files or table in MAY_BE_MISSING:
        connection.register(empty, _stream(pl.DataFrame(schema={**PARTITIONS[table], **SCHEMAS[table]})))
    if files:
        spelled = ", ".join(_quoted(path) for path in files)
        options = f"hive_partitioning = false, filename = true, union_by_name = {table in MAY_BE_MISSING}"
        of_folders = ", ".join(_of_folder(key, _SQL_TYPES[kind]) for key, kind in PARTITIONS[table].items())
        source = f"(SELECT *, {of_folders} FROM read_parquet([{spelled}], {options}))"
    if files and table in MAY_BE_MISSING:  # no file may have a column, the empty table has all
        source = f"(SELECT * FROM {source} UNION ALL BY NAME SELECT * FROM {empty})"
    conditions = [f"{key} = {_quoted(value)}" for key, value in keys.items()]
    if "validity" in keys and store.reading.references == References.AUDITED:
        faults = ", ".join(_quoted(fault) for fault in FAULTS)
        left_out = f"SELECT benchmark, task_id FROM audits WHERE finding IN ({faults})"
        conditions.append(f"(benchmark, task_id) NOT IN ({left_out})")
    where = " AND ".join(conditions) or "true"
    columns = ", ".join([c for c in PARTITIONS[table] if c not in keys] + [_defined(table, c) for c in SCHEMAS[table]])
    connection.execute(f"CREATE VIEW {name or table} AS SELECT {columns} FROM {source} WHERE {where}")


def _of_folder(key: str, kind: str) -> str:
    """Return a column that a file's own folders spell: its store may lie below folders that are called alike."""
    return f"url_decode(string_split(string_split(filename, '/{key}=')[-1], '/')[1])::{kind} AS {key}"


_OF_LOAD_ERRORS = {
    "n_load_failures": "coalesce(n_load_failures, n_load_errors // n)",
    "detected": "detected OR (detected IS NOT NULL AND n_load_errors > 0)",
}
"""Columns of estimates as they follow from the others: a program that does not load fails on all its inputs."""


def _defined(table: str, column: str) -> str:
    """Return a column of a table as a view has it: NaN, as files before had it, is NULL, which avg() leaves out."""
    if table == "estimates" and column in _OF_LOAD_ERRORS:
        return f"CAST({_OF_LOAD_ERRORS[column]} AS {_SQL_TYPES[SCHEMAS[table][column]]}) AS {column}"
    is_share = SCHEMAS[table][column] == pl.Float64 and column not in KEYS[table]
    return f"nullif({column}, 'NaN'::DOUBLE) AS {column}" if is_share else column


def _is_of_this_version(path: Path) -> bool:
    """Tell whether estimates hold every column; others are as good as missing, for `execute` writes them anew."""
    try:
        known = {*pl.scan_parquet(path, glob=False).collect_schema(), *MAY_BE_MISSING["estimates"]}
        return SCHEMAS["estimates"].keys() <= known
    except (pl.exceptions.PolarsError, OSError):
        return True  # damaged: DuckDB says so


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def query_sql(
    store: Store, sql: str, parameters: Sequence[Any] = (), *, equality: str = Equality.PAPER
) -> pl.DataFrame:
    """Return the answer to one SELECT, which can read the store's tables only.

    Raises WrongUsage with DuckDB's own words if the statement is wrong, or if it is another or more than one.
    """
    try:
        with suppress(duckdb.IOException):  # files that were merged after they had been listed
            return _answer(connect(store, equality=equality), sql, parameters)
        return _answer(connect(store, equality=equality), sql, parameters)
    except (duckdb.Error, RuntimeError) as e:
        raise _refused(store, e) from None


def _answer(connection: duckdb.DuckDBPyConnection, sql: str, parameters: Sequence[Any]) -> pl.DataFrame:
    statements = connection.extract_statements(sql)
    kinds = [statement.type for statement in statements]
    if kinds != [duckdb.StatementType.SELECT]:
        found = ", ".join(kind.name for kind in kinds) or "none"
        raise WrongUsage(f"expected one SELECT, found {found[:100]}; ask for rows, `WITH ... SELECT` included")
    answer = connection.sql(statements[0].query, params=list(parameters))
    for name, kind in zip(answer.columns, answer.types, strict=True):
        if "INTERVAL" in str(kind) or "UNION(" in str(kind):  # over which polars panics
            raise WrongUsage(f"column {name} is of type {kind}, which a table cannot hold; cast it to VARCHAR")
    return pl.DataFrame(_stream(answer if len(answer.columns) == len({*answer.columns}) else answer.project("*")))


def _refused(store: Store, error: duckdb.Error | RuntimeError) -> BaseException:
    """Return what to tell the user: which file is damaged, what a results store lacks, else DuckDB's own words."""
    told = str(error)
    if not isinstance(error, duckdb.Error) or isinstance(error, duckdb.InterruptException):
        return KeyboardInterrupt() if "interrupted" in told.lower() else error
    if not isinstance(error, _OF_STATEMENTS):
        for name in sorted(store.names()):
            if _is_damaged(store.root / name, name):
                return store.damaged(store.root / name, error)
    for table in REMEDIES:
        absent = not store.holds(table.replace("program_texts", "programs"))
        if absent and isinstance(error, duckdb.CatalogException) and f"Table with name {table} " in told:
            return NoStore(f"{store.root} holds results only, no {table}; {REMEDIES[table]}")
    if _IN_MACRO in told:  # an ablation refused; its own words are behind the name of the exception
        return WrongUsage(told.split(_IN_MACRO)[1].split(": ", 1)[-1])
    return WrongUsage(f"{told.splitlines()[0]} (views: {', '.join(VIEWS)}; macros: {', '.join(MACROS)})")


def _is_damaged(path: Path, name: str) -> bool:
    with suppress(ValueError, OSError):
        return path.suffix == ".parquet" and is_whole(path.read_bytes(), name) is False
    return True


def query_estimates(store: Store, *, equality: str = Equality.PAPER) -> pl.DataFrame:
    """Return the stored estimates, one row per (benchmark, model, temperature, task_id)."""
    ordered = "SELECT * FROM estimates ORDER BY benchmark, model, temperature, task_id"
    return query_sql(store, ordered, equality=equality)
