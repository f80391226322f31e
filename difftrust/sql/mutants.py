"""The mistakes that break a query, as SQL coders make them: operators on its syntax tree.

An operator gets one node of a copy of the query and returns the changes that would be mistakes there. Those that need
the schema ask ``Names``.
"""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from sqlglot import exp

from difftrust.sql.parse import Names, NotAQuery, parse_query, read_query
from difftrust.sql.schema import Schema

Change = Callable[[Any], None]
"""Makes the mistake at the same node of another copy."""
Operator = Callable[[Any, Names], Iterator[Change]]

_COMPARISONS: dict[type, tuple[type, ...]] = {
    exp.GT: (exp.GTE, exp.LT),
    exp.GTE: (exp.GT, exp.LTE),
    exp.LT: (exp.LTE, exp.GT),
    exp.LTE: (exp.LT, exp.GTE),
    exp.EQ: (exp.NEQ,),
    exp.NEQ: (exp.EQ,),
}
_AGGREGATES: dict[type, type] = {exp.Sum: exp.Avg, exp.Avg: exp.Sum, exp.Min: exp.Max, exp.Max: exp.Min}
_COMBINATIONS: dict[type, type] = {exp.Intersect: exp.Union, exp.Except: exp.Intersect, exp.Union: exp.Intersect}


def _put(node: Any, wrong: type) -> None:
    node.replace(wrong(this=node.this, expression=node.expression))


def _rename(column: Any, other: str) -> None:
    column.set("this", exp.to_identifier(other))


def _join_on(join: Any, other: str) -> None:
    _rename(join.args["on"].expression, other)


def _is_in_join(node: exp.Expr) -> bool:
    return isinstance(node.find_ancestor(exp.Join, exp.Select), exp.Join)


def _alike(column: exp.Column, names: Names) -> list[str]:
    """Return the other columns of its table that are of its kind."""
    found = names.resolve(column)
    return [c.name for c in found[0].columns if c.kind == found[1].kind and c != found[1]] if found else []


def wrong_comparison(node: exp.Expr, names: Names) -> Iterator[Change]:
    """``a > 1`` becomes ``a >= 1`` or ``a < 1``; not in the conditions of joins."""
    if not _is_in_join(node):
        for wrong in _COMPARISONS.get(type(node), ()):
            yield partial(_put, wrong=wrong)


def missing_predicate(node: exp.Expr, names: Names) -> Iterator[Change]:
    """``a AND b`` becomes ``a`` or ``b``; a WHERE or HAVING with one condition goes."""
    if isinstance(node, exp.And | exp.Or):
        yield lambda n: n.replace(n.this)
        yield lambda n: n.replace(n.expression)
    elif isinstance(node, exp.Where | exp.Having):
        yield lambda n: n.pop()


def and_or(node: exp.Expr, names: Names) -> Iterator[Change]:
    """``a AND b`` becomes ``a OR b``, and back."""
    if isinstance(node, exp.And | exp.Or):
        yield partial(_put, wrong=exp.Or if isinstance(node, exp.And) else exp.And)


def wrong_aggregate(node: exp.Expr, names: Names) -> Iterator[Change]:
    """``SUM`` becomes ``AVG``, ``MIN`` becomes ``MAX``, and back."""
    wrong = _AGGREGATES.get(type(node))
    if wrong is not None:
        yield partial(_put, wrong=wrong)


def toggled_distinct(node: exp.Expr, names: Names) -> Iterator[Change]:
    """``SELECT DISTINCT`` becomes ``SELECT``, and back; likewise ``COUNT(DISTINCT a)``."""
    if isinstance(node, exp.Select):
        has = node.args.get("distinct") is not None
        yield lambda n: n.set("distinct", None if has else exp.Distinct())
    elif isinstance(node, exp.Count) and isinstance(node.this, exp.Distinct):
        yield lambda n: n.set("this", n.this.expressions[0])
    elif isinstance(node, exp.Count) and isinstance(node.this, exp.Column) and not node.is_star:
        yield lambda n: n.set("this", exp.Distinct(expressions=[n.this]))


def wrong_order(node: exp.Expr, names: Names) -> Iterator[Change]:
    """Descending becomes ascending, and back; an ORDER BY is forgotten."""
    if isinstance(node, exp.Ordered):
        yield lambda n: n.set("desc", not n.args.get("desc"))
        yield lambda n: n.set("nulls_first", None)
    elif isinstance(node, exp.Order) and node.parent is not None and node.parent.args.get("limit") is None:
        yield lambda n: n.pop()


def wrong_limit(node: exp.Expr, names: Names) -> Iterator[Change]:
    """``LIMIT 3`` becomes ``LIMIT 4``, or is forgotten."""
    if isinstance(node, exp.Limit):
        if isinstance(node.expression, exp.Literal) and node.expression.is_int:
            yield lambda n: n.set("expression", exp.Literal.number(int(n.expression.this) + 1))
        yield lambda n: n.pop()


def wrong_literal(node: exp.Expr, names: Names) -> Iterator[Change]:
    """``5`` becomes ``6``; a text loses its capitals; a pattern loses its wildcards."""
    if not isinstance(node, exp.Literal) or isinstance(node.parent, exp.Limit):
        return
    if isinstance(node.parent, exp.Like):
        yield lambda n: n.replace(exp.Literal.string(n.this.strip("%")))
    elif not node.is_string and node.is_int:
        yield lambda n: n.replace(exp.Literal.number(int(n.this) + 1))
    elif node.is_string:
        yield lambda n: n.replace(exp.Literal.string(n.this.lower()))


def wrong_column(node: exp.Expr, names: Names) -> Iterator[Change]:
    """Another column of the same table and kind; not in the conditions of joins."""
    if isinstance(node, exp.Column) and not _is_in_join(node):
        yield from (partial(_rename, other=other) for other in _alike(node, names)[:2])


def wrong_join(node: exp.Expr, names: Names) -> Iterator[Change]:
    """An inner join becomes a left one; its condition takes another column of the same kind."""
    if not isinstance(node, exp.Join) or node.args.get("on") is None:
        return
    if not node.args.get("side"):
        yield lambda n: n.set("side", "LEFT")
    condition = node.args["on"]
    if isinstance(condition, exp.EQ) and isinstance(condition.expression, exp.Column):
        yield from (partial(_join_on, other=other) for other in _alike(condition.expression, names)[:1])


def wrong_group(node: exp.Expr, names: Names) -> Iterator[Change]:
    """A GROUP BY is forgotten, or loses all but its first column."""
    if isinstance(node, exp.Group):
        yield lambda n: n.pop()
        if len(node.expressions) > 1:
            yield lambda n: n.set("expressions", n.expressions[:1])


def wrong_combination(node: exp.Expr, names: Names) -> Iterator[Change]:
    """``INTERSECT`` becomes ``UNION``, ``EXCEPT`` ``INTERSECT``; a UNION keeps duplicates, or the left side only."""
    wrong = _COMBINATIONS.get(type(node))
    if wrong is not None:
        yield lambda n: n.replace(wrong(this=n.this, expression=n.expression, distinct=True))
        yield lambda n: n.replace(n.this)
    if isinstance(node, exp.Union) and node.args.get("distinct"):
        yield lambda n: n.set("distinct", False)


def negated_membership(node: exp.Expr, names: Names) -> Iterator[Change]:
    """``NOT IN`` becomes ``IN``, and back."""
    if isinstance(node, exp.Not):
        yield lambda n: n.replace(n.this)
    elif isinstance(node, exp.In) and not isinstance(node.parent, exp.Not):
        yield lambda n: n.replace(exp.Not(this=n.copy()))


def wrong_projection(node: exp.Expr, names: Names) -> Iterator[Change]:
    """Two columns of the answer change places, or the last one is forgotten."""
    if isinstance(node, exp.Select) and len(node.expressions) > 1:
        yield lambda n: n.set("expressions", [n.expressions[1], n.expressions[0], *n.expressions[2:]])
        yield lambda n: n.set("expressions", n.expressions[:-1])


OPERATORS: dict[str, Operator] = {
    operator.__name__: operator
    for operator in (
        wrong_comparison,
        missing_predicate,
        and_or,
        wrong_aggregate,
        toggled_distinct,
        wrong_order,
        wrong_limit,
        wrong_literal,
        wrong_column,
        wrong_join,
        wrong_group,
        wrong_combination,
        negated_membership,
        wrong_projection,
    )
}
"""Every operator by its name; the order is part of what a seed means, so add new ones at the end."""


def mutants(text: str, schema: Schema) -> dict[str, list[str]]:
    """Return the queries with one mistake in them, by operator; distinct texts. Raises NotAQuery."""
    query, names = read_query(text, schema)
    seen, found = {query.sql(dialect="sqlite")}, dict[str, list[str]]()
    nodes = list(query.walk())
    for name, operator in OPERATORS.items():
        for place, node in enumerate(nodes):
            for change in operator(node, names):
                broken = _broken(query, place, change)
                if broken is not None and broken not in seen:
                    seen.add(broken)
                    found.setdefault(name, []).append(broken)
    return found


def _broken(query: exp.Query, place: int, change: Change) -> str | None:
    """Return the text with the change made, None if that is no query any more."""
    holder = exp.Subquery(this=query.copy())  # so that the query's own top can be replaced
    node = next(n for at, n in enumerate(holder.this.walk()) if at == place)
    change(node)
    text = str(holder.this.sql(dialect="sqlite"))
    try:
        return text if parse_query(text) else None
    except NotAQuery:
        return None
