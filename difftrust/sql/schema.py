"""The tables of a text-to-SQL task: columns, kinds of value, keys; read from and written as CREATE TABLE statements.

Types are SQLite's in the text and one of five kinds here; a table without a declared key may hold a row twice.
"""

import functools
import json
from collections.abc import Iterator
from dataclasses import dataclass

import sqlglot
from sqlglot import exp

from difftrust_core.exceptions import BadTask

DUCKDB_TYPES = {"number": "BIGINT", "real": "DOUBLE", "text": "VARCHAR", "time": "VARCHAR", "boolean": "BIGINT"}
"""Kind of a column -> its type in DuckDB. Times are ISO texts, truth values 0 and 1, as in SQLite."""
_SQLITE_TYPES = {"number": "INTEGER", "real": "REAL", "text": "TEXT", "time": "DATE", "boolean": "BOOLEAN"}
_REALS = {exp.DataType.Type.FLOAT, exp.DataType.Type.DOUBLE, exp.DataType.Type.DECIMAL}


@dataclass(frozen=True, kw_only=True)
class Column:
    """One column; ``kind`` is a key of DUCKDB_TYPES."""

    name: str
    kind: str
    not_null: bool = False


@dataclass(frozen=True, kw_only=True)
class ForeignKey:
    """Values of ``column`` are values of ``to`` in ``table``, or NULL."""

    column: str
    table: str
    to: str


@dataclass(frozen=True, kw_only=True)
class Table:
    """One table; the values of ``key`` are unique and not NULL (no columns: there is no key)."""

    name: str
    columns: tuple[Column, ...]
    key: tuple[str, ...] = ()
    foreign: tuple[ForeignKey, ...] = ()

    def position(self, column: str) -> int:
        """Return the place of a column, whose case does not count."""
        return [c.name.lower() for c in self.columns].index(column.lower())

    def reference_of(self, column: str) -> ForeignKey | None:
        """Return the foreign key of a column, if it has one."""
        return next((f for f in self.foreign if f.column.lower() == column.lower()), None)


@dataclass(frozen=True, kw_only=True)
class Schema:
    """The tables of one database."""

    tables: tuple[Table, ...]

    def table(self, name: str) -> Table | None:
        """Return a table by its name, whose case does not count."""
        return next((t for t in self.tables if t.name.lower() == name.lower()), None)

    def shape(self) -> str:
        """Return what the sandbox needs to know: JSON, table -> list of [column, DuckDB type]."""
        return json.dumps({t.name: [(c.name, DUCKDB_TYPES[c.kind]) for c in t.columns] for t in self.tables})

    def parents_first(self) -> tuple[Table, ...]:
        """Return the tables so that what a foreign key points to comes before it, as far as there are no cycles."""
        found: dict[str, Table] = {}

        def visit(table: Table, above: frozenset[str]) -> None:
            if table.name in found or table.name in above:
                return
            for key in table.foreign:
                parent = self.table(key.table)
                if parent is not None:
                    visit(parent, above | {table.name})
            found[table.name] = table

        for table in self.tables:
            visit(table, frozenset())
        return tuple(found.values())


def write_schema(schema: Schema) -> str:
    """Return the CREATE TABLE statements of ``schema``; ``read_schema`` reads them back."""
    return "\n\n".join(_create(table) for table in schema.tables) + "\n"


def _create(table: Table) -> str:
    lines = []
    for c in table.columns:
        alone = " PRIMARY KEY" if table.key == (c.name,) else " NOT NULL" if c.not_null else ""
        lines.append(f"{_quoted(c.name)} {_SQLITE_TYPES[c.kind]}{alone}")
    if len(table.key) > 1:
        lines.append(f"PRIMARY KEY ({', '.join(map(_quoted, table.key))})")
    for f in table.foreign:
        lines.append(f"FOREIGN KEY ({_quoted(f.column)}) REFERENCES {_quoted(f.table)} ({_quoted(f.to)})")
    return f"CREATE TABLE {_quoted(table.name)} (\n  " + ",\n  ".join(lines) + "\n);"


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"' if not name.isidentifier() or name.lower() in _WORDS else name


_RESERVED = (
    "all and as by case check column create cross default desc distinct drop else end except exists from full group"
    " having in index inner insert intersect into is join key left like limit natural not null on or order outer"
    " primary references right select set share table then to union unique update values when where"
)
_WORDS = frozenset(_RESERVED.split())


@functools.lru_cache(maxsize=64)
def read_schema(text: str) -> Schema:
    """Return the schema that CREATE TABLE statements in SQLite's dialect spell. Raises BadTask if they are none."""
    try:
        statements = sqlglot.parse(text, read="sqlite")
    except (sqlglot.errors.SqlglotError, RecursionError) as e:
        raise BadTask(f"a schema is CREATE TABLE statements, which sqlglot cannot read here: {str(e)[:200]}") from None
    tables = [s for s in statements if s is not None]
    if not tables or not all(isinstance(s, exp.Create) and isinstance(s.this, exp.Schema) for s in tables):
        raise BadTask(f"a schema is made of CREATE TABLE statements only, got {text[:80]!r}")
    return Schema(tables=tuple(_table(s.this) for s in tables))


def _table(made: exp.Schema) -> Table:
    columns, key, foreign = [], [], []
    for part in made.expressions:
        if isinstance(part, exp.ColumnDef):
            kinds = {type(c.kind) for c in part.args.get("constraints") or ()}
            columns.append(
                Column(name=part.name, kind=_kind(part.args.get("kind")), not_null=exp.NotNullColumnConstraint in kinds)
            )
            if exp.PrimaryKeyColumnConstraint in kinds:
                key.append(part.name)
    for part in made.find_all(exp.PrimaryKey):
        key += [e.name for e in part.expressions]
    for part in made.find_all(exp.ForeignKey):
        foreign += list(_foreign(part))
    return Table(name=made.this.name, columns=tuple(columns), key=tuple(key), foreign=tuple(foreign))


def _foreign(part: exp.ForeignKey) -> Iterator[ForeignKey]:
    target = part.args["reference"].this
    for column, to in zip(part.expressions, target.expressions, strict=True):
        yield ForeignKey(column=column.name, table=target.this.name, to=to.name)


def _kind(given: exp.DataType | None) -> str:
    kind = given.this if given is not None else None
    if kind == exp.DataType.Type.BOOLEAN:
        return "boolean"
    if kind in (exp.DataType.Type.DATE, exp.DataType.Type.DATETIME, exp.DataType.Type.TIMESTAMP):
        return "time"
    if kind in _REALS:
        return "real"
    return "number" if kind in exp.DataType.INTEGER_TYPES else "text"
