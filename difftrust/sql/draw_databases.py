"""Small databases drawn from a schema so that different queries give different rows, and smaller ones for shrinking.

Every database is a function of (task, seed, position, attempt) alone. Keys are unique, foreign keys point at rows that
are there (or are NULL), types are respected. Within one database a column takes few values, so that ties and
duplicates are common; among them are the values that the task speaks of (literals of its reference by column, words
and numbers of its question) and their neighbours.
"""

import functools
import random
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from sqlglot import exp

from difftrust.sql.parse import Names, NotAQuery, read_query
from difftrust.sql.schema import Column, Schema, Table, read_schema
from difftrust_core.base.literals import write_literal
from difftrust_core.base.task import Task
from difftrust_core.languages.language import MAX_ATTEMPTS, Around, key_of

Value = str | int | float
Row = tuple[Any, ...]
Database = dict[str, list[Row]]

_SIZES = (0, 1, 2, 2, 3, 3, 4, 4, 5, 6, 8)
_UNUSED_SIZES = (0, 1, 2, 3)
_NULL_SHARES = (0.0, 0.0, 0.1, 0.4)
_WORDS = ("a", "b", "c", "A", "ab", "Ba", "d e", "", "z9", "10", "9")
_DATES = ("2010-01-01", "2012-02-29", "2014-07-04", "2014-12-31", "2015-01-01", "2020-06-15 10:30:00")
_YEAR = re.compile(r"%?\d{4}")
_MOST_ROWS = 14
_QUOTED = re.compile(r"""["']([^"']{1,60})["']""")
_NUMBER = re.compile(r"(?<![\w.])\d{1,9}(?:\.\d+)?(?![\w.])")
_NAME = re.compile(r"(?<=[a-z,] )[A-Z][\w-]*(?: [A-Z][\w-]*)*")
_COMPARISONS = (exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.Between, exp.In, exp.Like)


@dataclass(frozen=True, kw_only=True)
class Hints:
    """``of_column``: (table, column) in lower case -> values; ``anywhere``: values that may be of any column.

    ``counts``: how many rows or groups a LIMIT or a HAVING speaks of. ``used``: tables of the reference, in lower case.
    ``as_numbers``: columns of text that are used as numbers.
    """

    of_column: dict[tuple[str, str], tuple[Value, ...]] = field(default_factory=dict)
    anywhere: tuple[Value, ...] = ()
    counts: tuple[int, ...] = ()
    used: frozenset[str] = frozenset()
    as_numbers: frozenset[tuple[str, str]] = frozenset()


@functools.lru_cache(maxsize=64)
def hints_of(task: Task) -> Hints:
    """Return what the question and, where there is one, the reference speak of."""
    anywhere = _spoken(task.description)
    try:
        query, names = read_query(task.reference or "", read_schema(task.preamble))
    except NotAQuery:
        return Hints(anywhere=anywhere)
    found: dict[tuple[str, str], list[Value]] = defaultdict(list)
    numeric: set[tuple[str, str]] = set()
    counts = [int(e.this) for limit in query.find_all(exp.Limit, exp.Offset) for e in limit.find_all(exp.Literal)]
    for node in query.find_all(*_COMPARISONS):
        values = _literals(node)
        if node.find(exp.AggFunc) and not isinstance(node, exp.In):
            counts += [int(v) for v in values if isinstance(v, int | float)]
        for column in _columns(node, names):
            found[column] += values
            if any(isinstance(v, int | float) for v in values):
                numeric.add(column)
    for call in query.find_all(exp.Sum, exp.Avg):
        numeric.update(_columns(call, names))
    return Hints(
        of_column={column: tuple(dict.fromkeys(values)) for column, values in found.items()},
        anywhere=anywhere,
        counts=tuple(sorted({c for c in counts if 0 <= c <= 12})),
        used=frozenset(table.name.lower() for table in query.find_all(exp.Table)),
        as_numbers=frozenset(numeric),
    )


def _spoken(text: str) -> tuple[Value, ...]:
    words: list[Value] = [*_QUOTED.findall(text), *_NAME.findall(text)]
    words += [float(n) if "." in n else int(n) for n in _NUMBER.findall(text)]
    return tuple(dict.fromkeys(words))


def _literals(node: exp.Expr) -> list[Value]:
    """Return the literals on either side of a comparison."""
    named = (node.this, *(node.args.get(key) for key in ("expression", "low", "high")), *node.expressions)
    found = [side.to_py() for side in named if isinstance(side, exp.Expr) and (side.is_string or side.is_number)]
    return [float(value) if isinstance(value, Decimal) else value for value in found]


def _columns(node: exp.Expr, names: Names) -> list[tuple[str, str]]:
    """Return the columns on either side, not those of subqueries."""
    sides = [side for side in (node.this, node.args.get("expression")) if isinstance(side, exp.Expr)]
    columns = [c for side in sides if not isinstance(side, exp.Subquery) for c in side.find_all(exp.Column)]
    resolved = [found for column in columns if (found := names.resolve(column)) is not None]
    return [(table.name.lower(), column.name.lower()) for table, column in resolved]


def sample_database(task: Task, *, seed: int, position: int, attempt: int) -> str:
    """Return the input of one position and attempt: a tuple of one dict, table -> list of rows, as literal text.

    Attempt MAX_ATTEMPTS and beyond give a seed input, unchanged.
    """
    draws = random.Random(key_of(task.task_id, seed=seed, position=position, attempt=attempt))
    if attempt >= MAX_ATTEMPTS:
        return draws.choice(task.seed_inputs)
    return write_literal((_Drawing(read_schema(task.preamble), hints_of(task), draws).database(),))


class _Drawing:
    """One database in the making."""

    def __init__(self, schema: Schema, hints: Hints, draws: random.Random):
        self._schema, self._hints, self._draws = schema, hints, draws
        self._null_share = draws.choice(_NULL_SHARES)
        self._hinted = draws.choice((0.3, 0.6, 0.9))  # how often a hinted column takes a value that was spoken of
        self._made: Database = {}

    def database(self) -> Database:
        for table in self._schema.parents_first():
            self._made[table.name] = self._rows(table)
        return {table.name: self._made[table.name] for table in self._schema.tables}

    def _size(self, table: Table) -> int:
        if self._hints.used and table.name.lower() not in self._hints.used:
            return self._draws.choice(_UNUSED_SIZES)
        if self._hints.counts and self._draws.random() < 0.4:
            return min(_MOST_ROWS, self._draws.choice(self._hints.counts) + self._draws.choice((0, 1, 2, 3)))
        return self._draws.choice(_SIZES)

    def _rows(self, table: Table) -> list[Row]:
        pools = [self._pool(table, column) for column in table.columns]
        keys = [i for i, c in enumerate(table.columns) if c.name in table.key]
        taken, rows = set[Row](), list[Row]()
        for _ in range(self._size(table)):
            for _ in range(10):
                row = tuple([self._value(table, c, pool) for c, pool in zip(table.columns, pools, strict=True)])
                key = tuple([row[i] for i in keys])
                if None not in key and (not keys or key not in taken):
                    taken.add(key)
                    rows.append(row)
                    break
        if not keys and len(rows) > 1 and self._draws.random() < 0.2:
            rows.append(self._draws.choice(rows))
        return rows

    def _pool(self, table: Table, column: Column) -> Sequence[Any]:
        """Return the values that a column takes in this database."""
        foreign = table.reference_of(column.name)
        if foreign is not None:
            parent = self._schema.table(foreign.table)
            if parent is not None and parent.name in self._made:
                place = parent.position(foreign.to)
                values = [row[place] for row in self._made[parent.name] if row[place] is not None]
                return values + values[:1] * self._draws.choice((0, 0, 2))  # some have more children than others
        is_key = column.name in table.key
        size = 2 * _MOST_ROWS if is_key else self._draws.choice((1, 2, 2, 3, 4, 6))
        return [self._draw(table, column) for _ in range(size)]

    def _value(self, table: Table, column: Column, pool: Sequence[Any]) -> Any:
        may_be_null = column.name not in table.key and not column.not_null
        if may_be_null and (not pool or self._draws.random() < self._null_share):
            return None
        return self._draws.choice(pool) if pool else None

    def _draw(self, table: Table, column: Column) -> Value:
        where = (table.name.lower(), column.name.lower())
        spoken = self._hints.of_column.get(where, ())
        if spoken and self._draws.random() < self._hinted:
            return self._fitting(self._draws.choice(spoken), column)
        if self._hints.anywhere and self._draws.random() < 0.1:
            return self._fitting(self._draws.choice(self._hints.anywhere), column)
        if column.kind == "text" and where in self._hints.as_numbers:
            return str(self._draws.randint(0, 12))
        return self._plain(column, column.name in table.key)

    def _plain(self, column: Column, is_key: bool) -> Value:
        match column.kind:
            case "boolean":
                return self._draws.randint(0, 1)
            case "real":
                return self._draws.randint(-4, 40) / 4
            case "time":
                return self._draws.choice(_DATES)
            case "text":
                word = self._draws.choice(_WORDS)
                return f"{word}{self._draws.randint(1, 30)}" if is_key else word
        return self._draws.randint(1, 40) if is_key else self._draws.choice((-1, 0, 1, 2, 3, 5, 10, 99, 1000))

    def _fitting(self, value: Value, column: Column) -> Value:
        """Return a spoken value or a neighbour of it, as this column's kind of value."""
        if column.kind in ("number", "real", "boolean"):
            return self._near_number(value, column)
        if column.kind == "time" and not _YEAR.match(str(value)):
            return self._draws.choice(_DATES)
        if isinstance(value, str):
            return self._near_text(value)
        return str(self._near_number(value, column))

    def _near_number(self, value: Value, column: Column) -> int | float:
        try:
            number = float(value)
        except ValueError:
            return self._draws.randint(0, 10)
        step = self._draws.choice((0, 0, 0, 0, 1, -1, 1, -1, 10, -10))
        if column.kind == "boolean":
            return int(number != 0)
        near = number + (step / 4 if column.kind == "real" and self._draws.random() < 0.3 else step)
        return near if column.kind == "real" else int(near)

    def _near_text(self, value: str) -> str:
        """Return the text, with other letters at its wildcards; now and then another case, longer, or shorter."""
        text = "".join(self._draws.choice(("", "x", "b c")) if c == "%" else c for c in value)
        text = "".join(self._draws.choice("xyz") if c == "_" and "%" in value else c for c in text)
        change, changed = self._draws.randrange(12), (text.swapcase(), text + "x", "x" + text, text[:-1])
        if change < len(changed):
            return changed[change]
        return str(int(text) + self._draws.choice((-1, 1))) if change == 4 and text.isdigit() else text


def smaller_databases(schema: Schema, used: frozenset[str]) -> Around:
    """Return ``around(arguments, *, coarse)`` for ``shrink``: databases without some of the rows.

    Rows that point at one that is left out go with it. ``coarse``: all tables but ``used`` ones (names in lower case),
    whole tables, halves, quarters; else single rows.
    """

    def around(arguments: tuple[Any, ...], *, coarse: bool = False) -> Iterator[tuple[Any, ...]]:
        database: Database = arguments[0]
        if coarse and any(rows and name.lower() not in used for name, rows in database.items()):
            yield (_consistent({t: rows if t.lower() in used else [] for t, rows in database.items()}, schema),)
        for name, rows in database.items():
            size = len(rows) if coarse else min(len(rows), 1)
            while size:
                for start in range(0, len(rows), size):
                    left = {**database, name: rows[:start] + rows[start + size :]}
                    yield (_consistent(left, schema),)
                size = size // 2 if coarse else 0

    return around


def _consistent(database: Database, schema: Schema) -> Database:
    """Return the database without the rows whose foreign keys point at nothing."""
    found = dict(database)
    for _ in schema.tables:  # what goes may take others with it, at most once through all tables
        before = sum(map(len, found.values()))
        for table in schema.parents_first():
            for key in table.foreign:
                parent = schema.table(key.table)
                if parent is not None:
                    place, to = table.position(key.column), parent.position(key.to)
                    there = {None, *(row[to] for row in found.get(parent.name, ()))}
                    found[table.name] = [row for row in found.get(table.name, ()) if row[place] in there]
        if sum(map(len, found.values())) == before:
            break
    return found
