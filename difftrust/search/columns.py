"""The columns of frames that code and docstrings mention, and what each holds."""

import ast
import re
from collections.abc import Iterator, Sequence
from typing import Any, Final

from difftrust.search.dictionary import nodes_in
from difftrust_core.base.literals import Instance

MAX_COLUMNS = 20
_UNTOLD = "float"
"""What a column holds of which nothing is said."""
_BY_COLUMNS: Final = frozenset(
    ("groupby", "group_by", "sort_values", "sort", "drop_duplicates", "unique", "set_index", "pivot", "explode")
) | {"nlargest", "dropna", "select", "drop_nulls", "partition_by"}
"""Methods whose first arguments are names of columns."""
_KEYWORDS: Final = frozenset(("by", "on", "subset", "index", "columns", "values", "left_on", "right_on", "group_by"))
_NUMERIC: Final = frozenset(
    ("sum", "mean", "std", "var", "median", "cumsum", "diff", "rolling", "round", "quantile", "pct_change", "clip")
)
_SAID: Final = (
    ("int", r"\bwhole\b|\binteger|\bints?\b|\bcents\b|dtype\.kind == .[iu]\W"),
    ("float", r"\bfloats?\b|\bdecimals?\b|dtype\.kind == .f\W"),
    ("bool", r"\bbool|\btrue\b|dtype\.kind == .b\W"),
    ("date", r"\bdates?\b|\btimestamps?\b|dtype\.kind == .M\W"),
    ("str", r"\btexts?\b|\bstrings?\b|\bstr\b"),
)
"""What a docstring says right behind a column's name."""
_WORD: Final = re.compile(r"""["'`]+([^"'`\n]{1,100}?)["'`]+""")
_NO_COLUMNS: Final = frozenset(("and", "or", "the", "a", "an", "of", "in", "to", "with", "as", "is", "are", "for"))


def columns_in(docstring: str, codes: Sequence[str], values: Sequence[Any]) -> dict[str, str]:
    """Return the columns of frames and what each holds: int, float, str, date or bool.

    They come from frames among ``values``, from the docstring and from programs; empty where no frame is mentioned.
    """
    found: dict[str, str] = {}
    for name, kind in (pair for value in values for pair in _of_value(value)):
        found.setdefault(name, kind or _UNTOLD)
    nodes = [node for code in codes for node in nodes_in(code)]
    named = [pair for node in nodes for pair in _used_by(node)]
    made = {name for node in nodes for name in _made_by(node)}
    used = {name: kind for name, kind in reversed(named) if kind}
    for name in _of_docstring(docstring):
        found.setdefault(name, used.get(name) or _kind_said(name, docstring) or _UNTOLD)
    if not found:
        for name, _ in named:
            if name not in made:
                found.setdefault(name, used.get(name) or _UNTOLD)
    return dict(list(found.items())[:MAX_COLUMNS])


def _kind_said(name: str, docstring: str) -> str:
    for match in re.finditer(rf"""["'`]+{re.escape(name)}["'`]+([^,;\n"`]{{0,40}}.{{0,4}})""", docstring):
        for kind, pattern in _SAID:
            if re.search(pattern, match[1], re.IGNORECASE):
                return kind
    return ""


def _of_value(value: Any) -> Iterator[tuple[str, str]]:
    if isinstance(value, Instance) and value.type_name.endswith("DataFrame") and value.args:
        data = value.args[0]
        if isinstance(data, dict):
            for name, column in data.items():
                if isinstance(name, str):
                    yield name, _kind_of(column)
        elif isinstance(data, list) and data and isinstance(data[0], dict):
            yield from ((name, _kind_of([entry])) for name, entry in data[0].items() if isinstance(name, str))


def _kind_of(column: Any) -> str:
    kinds = {type(entry) for entry in column if entry is not None} if isinstance(column, list | tuple) else set()
    for kind in (str, float, int, bool):
        if kind in kinds:
            return "float" if kind is int and float in kinds else kind.__name__
    dates = any(isinstance(e, Instance) and e.type_name.rpartition(".")[2] in ("date", "datetime") for e in column)
    return "date" if kinds and dates else ""


def _of_docstring(docstring: str) -> Iterator[str]:
    """Iterate over the names after the word "columns": quoted ones, else a list of plain words."""
    for match in re.finditer(r"\bcolumns?\b", docstring, re.IGNORECASE):
        after = re.split(r"[.;]\s|\n\s*\n", docstring[match.end() : match.end() + 300])[0]
        before = docstring[max(0, match.start() - 60) : match.start()]
        quoted = [name for name in _WORD.findall(after) if re.fullmatch(r"[\w ]{1,40}", name)]
        if quoted:
            yield from quoted
        elif re.search(r"""["'`]+(\w+)["'`]+\s*$""", before):  # the "price" column
            yield from _WORD.findall(before)[-1:]
        else:
            listed = re.match(
                r"\s*(?:named|called|are)?\s*[:(]?\s*((?:\w+\s*(?:,\s*(?:and\s+)?|\s+and\s+))+\w+)", after
            )
            words = re.split(r"\s*,\s*(?:and\s+)?|\s+and\s+", listed[1]) if listed else []
            yield from (word for word in words if re.fullmatch(r"[A-Za-z_]\w*", word) and word not in _NO_COLUMNS)


def _used_by(node: ast.AST) -> Iterator[tuple[str, str]]:
    """Iterate over (column, what its use says that it holds) of a node of a program."""
    match node:
        case ast.Attribute(value=ast.Subscript(slice=inside) | ast.Call(args=[inside]), attr=attr):
            use = "float" if attr in _NUMERIC else {"str": "str", "dt": "date"}.get(attr, "")
            yield from ((name, use) for name in _texts(inside) if use and _taken_by(node.value) is not None)
        case ast.Compare(left=left, comparators=[ast.Constant(value=str())]):
            yield from ((name, "str") for name in _texts(_taken_by(left)))
        case ast.Call(func=ast.Attribute(attr=attr), args=args, keywords=keywords):
            named = [*(args if attr in _BY_COLUMNS else ()), *(k.value for k in keywords if k.arg in _KEYWORDS)]
            if attr in ("agg", "aggregate", "astype", "fillna"):
                named += [key for argument in args if isinstance(argument, ast.Dict) for key in argument.keys if key]
            yield from ((name, "") for one in (_taken_by(node), *named) for name in _texts(one))
        case ast.Subscript(ctx=ast.Load() | ast.Del()):
            yield from ((name, "") for name in _texts(_taken_by(node)))


def _taken_by(node: ast.AST) -> ast.expr | None:
    """Return the columns that a node takes: ``df["a"]``, ``df[["a", "b"]]``, ``df.loc[:, "a"]``, ``pl.col("a")``."""
    match node:
        case ast.Subscript(value=ast.Name() | ast.Attribute() | ast.Subscript(), slice=inside):
            return inside
        case ast.Call(func=ast.Attribute(attr="col"), args=[inside, *_]):
            return inside
    return None


def _texts(node: ast.expr | None) -> Iterator[str]:
    match node:
        case ast.Constant(value=str(text)):
            yield text
        case ast.List(elts=elts) | ast.Tuple(elts=elts):
            for part in elts:
                yield from _texts(part)


def _made_by(node: ast.AST) -> Iterator[str]:
    """Iterate over the columns that a node of a program makes."""
    match node:
        case ast.Subscript(slice=inside, ctx=ast.Store()):
            yield from _texts(inside)
        case ast.Call(func=ast.Attribute(attr="alias"), args=[name, *_]):
            yield from _texts(name)
        case ast.Call(func=ast.Attribute(attr="assign" | "with_columns" | "agg"), keywords=keywords):
            yield from (keyword.arg for keyword in keywords if keyword.arg)
        case ast.keyword(arg="columns", value=ast.Dict(values=values)):
            yield from (name for value in values for name in _texts(value))
