"""The mistakes that break a query, as SQL coders make them: operators on its syntax tree.

An operator gets one node of the query and returns what would be mistakes in its place. Those that need the schema ask
``Names``.
"""

import itertools
from collections.abc import Callable, Iterator
from copy import deepcopy
from typing import Any

from sqlglot import exp

from difftrust.sql.parse import Names, NotAQuery, parse_query, read_query
from difftrust.sql.schema import Schema

Wrong = Iterator[exp.Expr | None]
"""What could wrongly stand in the place of a node; None: nothing does."""
Operator = Callable[[Any, Names], Wrong]

_COMPARISONS: dict[type, tuple[type[exp.Expr], ...]] = {
    exp.GT: (exp.GTE, exp.LT),
    exp.GTE: (exp.GT, exp.LTE),
    exp.LT: (exp.LTE, exp.GT),
    exp.LTE: (exp.LT, exp.GTE),
    exp.EQ: (exp.NEQ,),
    exp.NEQ: (exp.EQ,),
}
_AGGREGATES: dict[type, type[exp.Expr]] = {exp.Sum: exp.Avg, exp.Avg: exp.Sum, exp.Min: exp.Max, exp.Max: exp.Min}
_COMBINATIONS: dict[type, type[exp.Expr]] = {
    exp.Intersect: exp.Union,
    exp.Except: exp.Intersect,
    exp.Union: exp.Intersect,
}


def _with(node: exp.Expr, **changes: Any) -> exp.Expr:
    """Return a copy of the node that has these parts instead."""
    made = node.copy()
    for name, value in changes.items():
        made.set(name, deepcopy(value))
    return made


def _as(node: exp.Expr, wrong: type[exp.Expr], **more: Any) -> exp.Expr:
    """Return another operation on the same operands."""
    made = node.copy()
    return wrong(this=made.this, expression=made.expression, **more)


def _is_in_join(node: exp.Expr) -> bool:
    return isinstance(node.find_ancestor(exp.Join, exp.Select), exp.Join)


def _alike(column: exp.Column, names: Names) -> list[str]:
    """Return the other columns of its table that are of its kind."""
    found = names.resolve(column)
    return [c.name for c in found[0].columns if c.kind == found[1].kind and c != found[1]] if found else []


def wrong_comparison(node: exp.Expr, names: Names) -> Wrong:
    """``a > 1`` becomes ``a >= 1`` or ``a < 1``; not in the conditions of joins."""
    if not _is_in_join(node):
        for wrong in _COMPARISONS.get(type(node), ()):
            yield _as(node, wrong)


def missing_predicate(node: exp.Expr, names: Names) -> Wrong:
    """``a AND b`` becomes ``a`` or ``b``; a WHERE or HAVING with one condition goes."""
    if isinstance(node, exp.And | exp.Or):
        yield node.this
        yield node.expression
    elif isinstance(node, exp.Where | exp.Having):
        yield None


def and_or(node: exp.Expr, names: Names) -> Wrong:
    """``a AND b`` becomes ``a OR b``, and back."""
    if isinstance(node, exp.And | exp.Or):
        yield _as(node, exp.Or if isinstance(node, exp.And) else exp.And)


def wrong_aggregate(node: exp.Expr, names: Names) -> Wrong:
    """``SUM`` becomes ``AVG``, ``MIN`` becomes ``MAX``, and back."""
    if wrong := _AGGREGATES.get(type(node)):
        yield _as(node, wrong)


def toggled_distinct(node: exp.Expr, names: Names) -> Wrong:
    """``SELECT DISTINCT`` becomes ``SELECT``, and back; likewise ``COUNT(DISTINCT a)``."""
    if isinstance(node, exp.Select):
        yield _with(node, distinct=None if node.args.get("distinct") else exp.Distinct())
    elif isinstance(node, exp.Count) and isinstance(node.this, exp.Distinct):
        yield _with(node, this=node.this.expressions[0])
    elif isinstance(node, exp.Count) and isinstance(node.this, exp.Column) and not node.is_star:
        yield _with(node, this=exp.Distinct(expressions=[node.this.copy()]))


def wrong_order(node: exp.Expr, names: Names) -> Wrong:
    """Descending becomes ascending, and back; an ORDER BY is forgotten."""
    if isinstance(node, exp.Ordered):
        yield _with(node, desc=not node.args.get("desc"))
        yield _with(node, nulls_first=None)
    elif isinstance(node, exp.Order) and node.parent is not None and node.parent.args.get("limit") is None:
        yield None


def wrong_limit(node: exp.Expr, names: Names) -> Wrong:
    """``LIMIT 3`` becomes ``LIMIT 4``, or is forgotten."""
    if isinstance(node, exp.Limit):
        if isinstance(node.expression, exp.Literal) and node.expression.is_int:
            yield _with(node, expression=exp.Literal.number(int(node.expression.this) + 1))
        yield None


def wrong_literal(node: exp.Expr, names: Names) -> Wrong:
    """``5`` becomes ``6``; a text loses its capitals; a pattern loses its wildcards."""
    if not isinstance(node, exp.Literal) or isinstance(node.parent, exp.Limit):
        return
    if isinstance(node.parent, exp.Like):
        yield exp.Literal.string(node.this.strip("%"))
    elif not node.is_string and node.is_int:
        yield exp.Literal.number(int(node.this) + 1)
    elif node.is_string:
        yield exp.Literal.string(node.this.lower())


def wrong_column(node: exp.Expr, names: Names) -> Wrong:
    """Another column of the same table and kind; not in the conditions of joins."""
    if isinstance(node, exp.Column) and not _is_in_join(node):
        yield from (_with(node, this=exp.to_identifier(other)) for other in _alike(node, names)[:2])


def wrong_join(node: exp.Expr, names: Names) -> Wrong:
    """An inner join becomes a left one; its condition takes another column of the same kind."""
    if not isinstance(node, exp.Join) or node.args.get("on") is None:
        return
    if not node.args.get("side"):
        yield _with(node, side="LEFT")
    condition = node.args["on"]
    if isinstance(condition, exp.EQ) and isinstance(condition.expression, exp.Column):
        for other in _alike(condition.expression, names)[:1]:
            right = _with(condition.expression, this=exp.to_identifier(other))
            yield _with(node, on=_with(condition, expression=right))


def wrong_group(node: exp.Expr, names: Names) -> Wrong:
    """A GROUP BY is forgotten, or loses all but its first column."""
    if isinstance(node, exp.Group):
        yield None
        if len(node.expressions) > 1:
            yield _with(node, expressions=node.expressions[:1])


def wrong_combination(node: exp.Expr, names: Names) -> Wrong:
    """``INTERSECT`` becomes ``UNION``, ``EXCEPT`` ``INTERSECT``; a UNION keeps duplicates, or the left side only."""
    if wrong := _COMBINATIONS.get(type(node)):
        yield _as(node, wrong, distinct=True)
        yield node.this
    if isinstance(node, exp.Union) and node.args.get("distinct"):
        yield _with(node, distinct=False)


def negated_membership(node: exp.Expr, names: Names) -> Wrong:
    """``NOT IN`` becomes ``IN``, and back."""
    if isinstance(node, exp.Not):
        yield node.this
    elif isinstance(node, exp.In) and not isinstance(node.parent, exp.Not):
        yield exp.Not(this=node.copy())


def wrong_projection(node: exp.Expr, names: Names) -> Wrong:
    """Two columns of the answer change places, or the last one is forgotten."""
    if isinstance(node, exp.Select) and len(node.expressions) > 1:
        first, second, *others = node.expressions
        yield _with(node, expressions=[second, first, *others])
        yield _with(node, expressions=node.expressions[:-1])


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
            for wrong in operator(node, names):
                broken = _broken(query, place, wrong)
                if broken is not None and broken not in seen:
                    seen.add(broken)
                    found.setdefault(name, []).append(broken)
    return found


def _broken(query: exp.Query, place: int, wrong: exp.Expr | None) -> str | None:
    """Return the text with ``wrong`` in this place of the walk, None if that is no query any more."""
    holder = exp.Subquery(this=query.copy())  # so that the query's own top can be replaced
    next(itertools.islice(holder.this.walk(), place, None)).replace(wrong and wrong.copy())
    text = str(holder.this.sql(dialect="sqlite"))
    try:
        return text if parse_query(text) else None
    except NotAQuery:
        return None
