"""From a query's text to its tree and its id, and which column of which table a name in it means."""

import logging

import sqlglot
from sqlglot import exp

from difftrust.sql.schema import Column, Schema, Table
from difftrust_core.languages.language import program_id

MAX_QUERY = 20_000
"""Longer texts, in characters, are not parsed."""
logging.getLogger("sqlglot").setLevel(logging.CRITICAL)  # it warns of statements that are refused here anyway


class NotAQuery(ValueError):
    """The text is not one SELECT (or several combined) in SQLite's dialect."""


def parse_query(text: str) -> exp.Query:
    """Return the tree of a query. Raises NotAQuery."""
    if len(text) > MAX_QUERY:
        raise NotAQuery(f"a query is at most {MAX_QUERY} characters long, got {len(text)}")
    try:
        found = [tree for tree in sqlglot.parse(text, read="sqlite") if tree is not None]
    except (sqlglot.errors.SqlglotError, RecursionError, ValueError, AttributeError, TypeError) as e:
        raise NotAQuery(f"sqlglot cannot read it: {str(e)[:200]}") from None
    if len(found) != 1 or not isinstance(found[0], exp.Select | exp.SetOperation | exp.Subquery):
        raise NotAQuery("expected one SELECT")
    return found[0]


def read_query(text: str, schema: Schema) -> tuple[exp.Query, "Names"]:
    """Return the tree of a query and what its names mean; ``"France"`` is a text where no column is called so.

    Raises NotAQuery.
    """
    query = parse_query(text)
    names = Names(query, schema)
    for column in list(query.find_all(exp.Column)):
        is_quoted = isinstance(column.this, exp.Identifier) and column.this.args.get("quoted") and not column.table
        if is_quoted and column.name.lower() not in names.aliases and names.resolve(column) is None:
            column.replace(exp.Literal.string(column.name))
    return query, names


def tree_id(text: str) -> str:
    """Return the id of a query, whatever its layout, comments, and capitals of unquoted names.

    A text that is no query is a program of its own.
    """
    try:
        query = parse_query(text)
    except NotAQuery:
        return f"x{program_id(text)}"
    for name in query.find_all(exp.Identifier):
        if not name.args.get("quoted"):
            name.set("this", name.this.lower())
    return f"q{program_id(query.sql(dialect='sqlite', comments=False))}"


def is_ordered(query: exp.Query) -> bool:
    """Tell whether the query has an ORDER BY of its own, outside all subqueries."""
    while isinstance(query, exp.Subquery) and not query.args.get("order"):
        query = query.this
    return bool(query.args.get("order"))


class Names:
    """What the names in one query mean, scope by scope."""

    def __init__(self, query: exp.Query, schema: Schema):
        self._schema = schema
        self._sources: dict[int, dict[str, Table | None]] = {}
        self.aliases = {a.alias.lower() for a in query.find_all(exp.Alias)}

    def sources(self, select: exp.Select) -> dict[str, Table | None]:
        """Return the tables of a SELECT's own FROM and JOINs by alias; None for what is no table of the schema."""
        if id(select) not in self._sources:
            clause = select.args.get("from_") or select.args.get("from")
            items = [clause.this] if clause else []
            items += [join.this for join in select.args.get("joins") or ()]
            self._sources[id(select)] = {
                item.alias_or_name.lower(): self._schema.table(item.name) if isinstance(item, exp.Table) else None
                for item in items
            }
        return self._sources[id(select)]

    def resolve(self, column: exp.Column) -> tuple[Table, Column] | None:
        """Return what a column name means, None where that is not a column of the schema."""
        name, qualifier = column.name.lower(), column.table.lower()
        select = column.find_ancestor(exp.Select)
        while select is not None:
            sources = self.sources(select)
            for table in [sources.get(qualifier)] if qualifier else sources.values():
                for known in table.columns if table else ():
                    if table and known.name.lower() == name:
                        return table, known
            select = select.find_ancestor(exp.Select)
        return None

    def width(self, query: exp.Expr) -> int | None:
        """Return how many columns a query gives; None where a star hides it."""
        while not isinstance(query, exp.Select):
            query = query.this
        total = 0
        for item in query.expressions:
            if not item.is_star:
                total += 1
                continue
            if any(join.args.get("using") or join.args.get("method") for join in query.args.get("joins") or ()):
                return None
            tables = list(self.sources(query).values())
            if isinstance(item, exp.Column):
                tables = [self.sources(query).get(item.table.lower())]
            for table in tables:
                if table is None:
                    return None
                total += len(table.columns)
        return total
