"""Which values matter to a task: literals of its reference by column, words and numbers of its question."""

import functools
import re
from collections import defaultdict
from dataclasses import dataclass, field

from sqlglot import exp

from difftrust_core.sqltasks.parsing import Names, NotAQuery, parse_query
from difftrust_core.sqltasks.schema import read_schema
from difftrust_core.tasks import Task

_QUOTED = re.compile(r"""["']([^"']{1,60})["']""")
_NUMBER = re.compile(r"(?<![\w.])\d{1,9}(?:\.\d+)?(?![\w.])")
_NAME = re.compile(r"(?<=[a-z,] )[A-Z][\w-]*(?: [A-Z][\w-]*)*")
_COMPARISONS = (exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.Between, exp.In, exp.Like)

Value = str | int | float


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
        query = parse_query(task.reference or "")
    except NotAQuery:
        return Hints(anywhere=anywhere)
    names = Names(query, read_schema(task.preamble))
    found: dict[tuple[str, str], list[Value]] = defaultdict(list)
    numeric: set[tuple[str, str]] = set()
    counts = [int(e.this) for limit in query.find_all(exp.Limit, exp.Offset) for e in limit.find_all(exp.Literal)]
    for node in query.find_all(*_COMPARISONS):
        values = [v for v in map(_value, _operands(node, names)) if v is not None]
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


def _operands(node: exp.Expr, names: Names) -> list[exp.Expr]:
    """Return the literals on either side of a comparison, texts in double quotes among them."""
    if isinstance(node, exp.Between):
        sides = [node.args["low"], node.args["high"]]
    else:
        sides = node.expressions if isinstance(node, exp.In) else [node.this, node.expression]
    literals: list[exp.Expr] = []
    for side in sides:
        if isinstance(side, exp.Column) and side.this.args.get("quoted") and names.resolve(side) is None:
            side = exp.Literal.string(side.name)
        if isinstance(side, exp.Literal | exp.Neg):
            literals.append(side)
    return literals


def _columns(node: exp.Expr, names: Names) -> list[tuple[str, str]]:
    """Return the columns on either side, not those of subqueries."""
    sides = [side for side in (node.this, node.args.get("expression")) if isinstance(side, exp.Expr)]
    columns = [c for side in sides if not isinstance(side, exp.Subquery) for c in side.find_all(exp.Column)]
    resolved = [found for column in columns if (found := names.resolve(column)) is not None]
    return [(table.name.lower(), column.name.lower()) for table, column in resolved]


def _value(node: exp.Expr) -> Value | None:
    if isinstance(node, exp.Neg):
        inner = _value(node.this)
        return -inner if isinstance(inner, int | float) else None
    if not isinstance(node, exp.Literal):
        return None
    if node.is_string:
        return str(node.this)
    return int(node.this) if node.this.isdigit() else float(node.this)
