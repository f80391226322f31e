"""A store as DuckDB views, and questions to them; the only place that imports duckdb."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import duckdb
import polars as pl

from difftrust_core.exceptions import BadStore, WrongUsage
from difftrust_core.store import MAY_BE_MISSING, PARTITIONS, SCHEMAS, Store

_SQL_TYPES = {pl.String: "VARCHAR", pl.Float64: "DOUBLE", pl.Int64: "BIGINT"}
_BASE_TABLES = ("tasks", "candidates", "inputs", "outcomes", "behaviours", "executions")
VIEWS = (*_BASE_TABLES, "programs", "estimates", "all_estimates")


def connect(store: Store, *, equality: str = "paper", validity: str | None = None) -> duckdb.DuckDBPyConnection:
    """Return an in-memory database with the store's tables as views.

    All but ``all_estimates`` show one validity policy (the store's own unless named), ``estimates`` one equality.
    """
    connection = duckdb.connect(":memory:")
    connection.execute("SET enable_progress_bar = false")
    chosen = {"validity": validity or store.settings().validity, "equality": equality}
    for table in (*_BASE_TABLES, "estimates"):
        _create_view(connection, store, table, chosen)
    _create_view(connection, store, "estimates", {}, name="all_estimates")
    _create_view(connection, store, "programs", {}, name="program_texts")
    connection.execute("""
        CREATE VIEW programs AS
        SELECT t.*, e.behaviour_ids, e.trimmed, e.nondeterministic, e.cpu_seconds
        FROM (SELECT DISTINCT * FROM program_texts) t
        LEFT JOIN (
            SELECT benchmark, task_id, tree_id, list(behaviour_id ORDER BY start) AS behaviour_ids,
                   bool_or(trimmed) AS trimmed, bool_or(nondeterministic) AS nondeterministic,
                   sum(cpu_seconds) AS cpu_seconds
            FROM executions GROUP BY ALL
        ) e USING (benchmark, task_id, tree_id)
    """)
    return connection


def _create_view(
    connection: duckdb.DuckDBPyConnection,
    store: Store,
    table: str,
    chosen: Mapping[str, str],
    *,
    name: str | None = None,
) -> None:
    """Create the view of one table, restricted to the partitions ``chosen``, whose columns it then leaves out."""
    keys = {key: value for key, value in chosen.items() if key in PARTITIONS[table]}
    files = [str(path) for path in store.files(table)]
    source = empty = f"no_{name or table}"
    if not files or table in MAY_BE_MISSING:
        connection.register(empty, pl.DataFrame(schema={**PARTITIONS[table], **SCHEMAS[table]}).to_arrow())
    if files:
        types = ", ".join(f"'{key}': {_SQL_TYPES[kind]}" for key, kind in PARTITIONS[table].items())
        spelled = ", ".join(_quoted(path) for path in files)
        source = f"read_parquet([{spelled}], hive_partitioning = true, hive_types = {{{types}}}"
        source += ", union_by_name = true)" if table in MAY_BE_MISSING else ")"
    if files and table in MAY_BE_MISSING:  # no file may have a column, the empty table has all
        source = f"(SELECT * FROM {source} UNION ALL BY NAME SELECT * FROM {empty})"
    where = " AND ".join([f"{key} = {_quoted(value)}" for key, value in keys.items()]) or "true"
    columns = ", ".join([c for c in (*PARTITIONS[table], *SCHEMAS[table]) if c not in keys])
    connection.execute(f"CREATE VIEW {name or table} AS SELECT {columns} FROM {source} WHERE {where}")


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def query_sql(
    store: Store, sql: str, parameters: Sequence[Any] = (), *, equality: str = "paper", validity: str | None = None
) -> pl.DataFrame:
    """Return the answer to one SELECT. Raises WrongUsage with DuckDB's own words if the statement is wrong."""
    try:
        relation = connect(store, equality=equality, validity=validity).sql(sql, params=list(parameters))
        if relation is None:
            raise WrongUsage("the statement returns no rows; ask with a SELECT")
        answer: pl.DataFrame = relation.pl()
        return answer
    except duckdb.IOException as e:
        raise BadStore(f"{_first_line(e)}; delete the damaged file and run `difftrust execute` again") from None
    except duckdb.Error as e:
        raise WrongUsage(f"{_first_line(e)} (views: {', '.join(VIEWS)})") from None


def _first_line(error: Exception) -> str:
    return str(error).splitlines()[0]


def query_estimates(store: Store, *, equality: str = "paper", validity: str | None = None) -> pl.DataFrame:
    """Return the stored estimates, one row per (benchmark, model, temperature, task_id)."""
    return query_sql(
        store,
        "SELECT * FROM estimates ORDER BY benchmark, model, temperature, task_id",
        equality=equality,
        validity=validity,
    )


@dataclass(frozen=True, kw_only=True)
class Disagreement:
    """An input on which candidates of one coder for one task disagree."""

    benchmark: str
    task_id: str
    model: str
    arguments: str
    """The argument tuple, in the text form of ``literals``."""
    outcomes: tuple[tuple[int, str, str], ...]
    """(candidates, kind, text) of each distinct outcome under the chosen equality, the most frequent first."""


_DISAGREEMENTS = """
    WITH votes AS (
        SELECT c.benchmark, c.task_id, c.model, c.temperature, e.start, e.behaviour_id, count(*) AS n_candidates
        FROM candidates c JOIN program_texts p USING (benchmark, task_id, program_id)
        JOIN executions e USING (benchmark, task_id, tree_id)
        WHERE ($model IS NULL OR c.model = $model) AND ($task_id IS NULL OR c.task_id = $task_id)
        GROUP BY ALL
    ), cells AS (
        SELECT v.*, v.start + unnest(range(len(outcome_ids))) AS input_index, unnest(outcome_ids) AS outcome_id
        FROM votes v JOIN behaviours b USING (benchmark, task_id, start, behaviour_id)
    ), classes AS (
        SELECT c.benchmark, c.task_id, c.model, c.temperature, c.input_index, o.{equality}_class AS class,
               sum(n_candidates) AS n_candidates, any_value(o.kind ORDER BY outcome_id) AS kind,
               any_value(o.text ORDER BY outcome_id) AS text
        FROM cells c JOIN outcomes o USING (benchmark, task_id, input_index, outcome_id)
        GROUP BY ALL
    ), splits AS (
        SELECT benchmark, task_id, model, temperature, input_index,
               list({{'n': n_candidates::INT, 'kind': kind, 'text': text}}
                    ORDER BY n_candidates DESC, kind, text) AS found
        FROM classes GROUP BY ALL HAVING count(*) > 1 AND bool_and(kind IN ('value', 'exception'))
    )
    SELECT s.benchmark, s.task_id, s.model, i.arguments, s.found
    FROM splits s JOIN inputs i USING (benchmark, task_id, input_index)
    ORDER BY len(i.arguments), s.task_id, s.model, i.arguments LIMIT 1
"""


def query_disagreement(
    store: Store, *, model: str | None = None, task_id: str | None = None, equality: str = "paper"
) -> Disagreement | None:
    """Return the shortest executed input on which candidates of one coder disagree, None where there is none."""
    statement = _DISAGREEMENTS.format(equality={"paper": "paper", "strict": "strict"}[equality])
    found = connect(store).execute(statement, {"model": model, "task_id": task_id}).fetchone()
    if found is None:
        return None
    benchmark, task, whose, arguments, outcomes = found
    return Disagreement(
        benchmark=benchmark,
        task_id=task,
        model=whose,
        arguments=arguments,
        outcomes=tuple((o["n"], o["kind"], o["text"]) for o in outcomes),
    )
