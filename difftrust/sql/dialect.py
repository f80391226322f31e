"""SQLite's queries for DuckDB: what sqlglot's transpiling leaves, because it knows neither schema nor SQLite's laxness.

Texts in double quotes that name no column; LIKE without regard to case; comparisons of texts with numbers; sums of
texts; whole-number division; columns that a grouped query neither groups nor aggregates. And where a query leaves
rows' order open among ties, or takes the first of them, the order is fixed: by the columns of the result, from left to
right. That is one of the orders it allows, and the same one for every query.
"""

import re

from sqlglot import exp

from difftrust.sql.parse import Names, is_ordered, read_query
from difftrust.sql.schema import Schema

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)")
_NUMERIC = frozenset({"number", "real", "boolean"})
_TEXTUAL = frozenset({"text", "time"})
_COMPARISONS = (exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.Is, exp.NullSafeEQ)
_ARITHMETIC = (exp.Add, exp.Sub, exp.Mul, exp.Div, exp.Mod)
_AS_NUMBER = "CASE WHEN {0} IS NULL THEN NULL ELSE COALESCE(TRY_CAST({0} AS DOUBLE), 0) END"


def for_duckdb(text: str, schema: Schema) -> tuple[str, bool]:
    """Return DuckDB's spelling of a query and whether it orders its rows. Raises NotAQuery."""
    query, names = read_query(text, schema)
    for node in list(query.walk()):
        _adapt(node, names)
    for select in list(query.find_all(exp.Select)):
        _aggregate_bare_columns(select, names)
    ordered = is_ordered(query)
    for part in list(query.find_all(exp.Select, exp.SetOperation)):
        _break_ties(part, names)
    return query.sql(dialect="duckdb", comments=False), ordered


def kind_of(node: exp.Expr | None, names: Names) -> str | None:
    """Return the kind of a value, None where it is not known."""
    match node:
        case exp.Column():
            found = names.resolve(node)
            return found[1].kind if found else None
        case exp.Literal():
            return "text" if node.is_string else "number" if node.this.isdigit() else "real"
        case exp.Paren() | exp.Neg() | exp.Min() | exp.Max() | exp.Sum() | exp.Distinct():
            return kind_of(node.this, names)
        case exp.Subquery() | exp.Select():
            inner = node.unnest()
            chosen = inner.selects if isinstance(inner, exp.Query) else []
            return kind_of(chosen[0].unalias(), names) if chosen else None
        case exp.Count() | exp.Length():
            return "number"
        case exp.Avg():
            return "real"
        case exp.Add() | exp.Sub() | exp.Mul() | exp.Div() | exp.Mod():
            kinds = {kind_of(node.this, names), kind_of(node.expression, names)}
            return "number" if kinds == {"number"} else "real" if kinds <= _NUMERIC else None
    return None


def _adapt(node: exp.Expr, names: Names) -> None:
    if isinstance(node, exp.Like):
        node.replace(exp.ILike(this=node.this, expression=node.expression))
    elif isinstance(node, _COMPARISONS):
        _alike(node.this, [node.expression], names)
    elif isinstance(node, exp.Between):
        _alike(node.this, [node.args["low"], node.args["high"]], names)
    elif isinstance(node, exp.In):
        _alike(node.this, node.expressions, names)
    elif isinstance(node, (exp.Sum, exp.Avg)):
        inner = node.this.expressions[0] if isinstance(node.this, exp.Distinct) else node.this
        _to_number(inner, names)
    elif isinstance(node, _ARITHMETIC):
        for side in (node.this, node.expression):
            _to_number(side, names)
        if isinstance(node, exp.Div) and kind_of(node.this, names) == kind_of(node.expression, names) == "number":
            zero_is_null = exp.Nullif(this=node.expression.copy(), expression=exp.Literal.number(0))
            node.replace(exp.IntDiv(this=node.this.copy(), expression=zero_is_null))


def _alike(one: exp.Expr, others: list[exp.Expr], names: Names) -> None:
    """Give both sides of a comparison one type, by SQLite's rules of affinity."""
    for other in others:
        for here, there in ((one, other), (other, one)):
            kind = kind_of(here, names)
            if isinstance(here, exp.Literal):
                continue
            if isinstance(there, exp.Literal):
                if kind in _TEXTUAL and not there.is_string:
                    there.replace(exp.Literal.string(there.this))
                elif kind in _NUMERIC and there.is_string and _NUMBER.fullmatch(there.this):
                    there.replace(exp.Literal.number(there.this))
            elif kind in _TEXTUAL and kind_of(there, names) in _NUMERIC:
                here.replace(exp.TryCast(this=here.copy(), to=exp.DataType.build("DOUBLE")))
                return


def _to_number(node: exp.Expr, names: Names) -> None:
    if isinstance(node, exp.Column) and kind_of(node, names) in _TEXTUAL:
        node.replace(exp.maybe_parse(_AS_NUMBER.format(node.sql(dialect="duckdb")), dialect="duckdb"))


def _aggregate_bare_columns(select: exp.Select, names: Names) -> None:
    """Take the least value where a grouped query names a column that SQLite would take from any row of the group.

    Beside a single MIN or MAX it is the value of that row, as SQLite has it.
    """
    clauses = [*select.expressions, select.args.get("having"), select.args.get("order")]
    nodes = [
        n for clause in clauses if clause is not None for n in clause.walk() if n.find_ancestor(exp.Select) is select
    ]
    calls = [n for n in nodes if isinstance(n, exp.AggFunc)]
    group = select.args.get("group")
    if not calls and group is None:
        return
    grouped = group.expressions if group else []
    places = [int(e.this) for e in grouped if isinstance(e, exp.Literal) and e.is_int]
    kept = {_key(e, names) for e in grouped}
    kept |= {_key(select.expressions[place - 1], names) for place in places if 1 <= place <= len(select.expressions)}
    aliases = {e.alias.lower() for e in select.expressions if e.alias}
    for node in nodes:
        if not isinstance(node, exp.Column) or node.is_star or _key(node, names) in kept:
            continue
        is_alias = not node.table and node.name.lower() in aliases and names.resolve(node) is None
        if is_alias or isinstance(node.find_ancestor(exp.AggFunc, exp.Select), exp.AggFunc):
            continue
        if len(calls) == 1 and isinstance(calls[0], exp.Min | exp.Max):
            which = "arg_min" if isinstance(calls[0], exp.Min) else "arg_max"
            node.replace(exp.Anonymous(this=which, expressions=[node.copy(), calls[0].this.copy()]))
        else:
            node.replace(exp.Min(this=node.copy()))


def _key(node: exp.Expr, names: Names) -> str:
    if isinstance(node, exp.Alias):
        node = node.this
    if isinstance(node, exp.Column):
        found = names.resolve(node)
        if found is not None:
            return f"{node.table.lower()}|{found[0].name}.{found[1].name}"
    return node.sql().lower()


def _break_ties(part: exp.Query, names: Names) -> None:
    """Order what is tied by the columns of the result."""
    order = part.args.get("order")
    if order is None and part.args.get("limit") is None:
        return
    width = names.width(part)
    if width is None:
        return
    more = [exp.Ordered(this=exp.Literal.number(place)) for place in range(1, width + 1)]
    part.set("order", exp.Order(expressions=[*(order.expressions if order else ()), *more]))
