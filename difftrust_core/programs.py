"""When two program texts are one program, and nothing else.

Texts whose syntax trees are equal but for what cannot change behaviour (comments, layout, docstrings, annotations of
functions, names of local variables) are executed once. Where a text looks at itself, all of that stays part of it.
"""

import ast
import builtins
import hashlib
import itertools
import re
import warnings

MAX_PARSED = 1 << 20
"""Longer texts are not parsed; they are one program only where they are equal."""
MAX_QUERY = 20_000
"""The same for queries, in characters."""
_OPENS_A_QUERY = re.compile(r"[\s(]*(select|with)\b", re.IGNORECASE)
_LOOKS_AT_ITSELF = re.compile(
    r"__doc__|__annotations__|get_type_hints|get_annotations|inspect|doctest|singledispatch|signature|validate|"
    r"dataclass_transform|__code__|__globals__|_getframe|currentframe|traceback|locals|globals|exec|eval|vars|dir\("
)
_SHOWS_NAMES = re.compile(r"except\b.*\bas\b|__name__|__qualname__")  # a message may quote a local name
_BUILTINS = frozenset(vars(builtins))
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_DOCUMENTED = (*_FUNCTIONS, ast.ClassDef, ast.Module)


def program_id(text: str) -> str:
    """Return the id of a program text: equal for equal texts only."""
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def tree_id(text: str) -> str:
    """Return the id of the program behind ``text``: equal ids mean equal behaviour on every input.

    Text that Python cannot parse is a query if it opens as one; else it is a program of its own.
    """
    if len(text) > MAX_PARSED:
        return f"x{program_id(text)}"
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about what the text contains, e.g. an invalid escape
            tree = ast.parse(text)
        if _LOOKS_AT_ITSELF.search(text) is None:
            nodes = [list(ast.walk(statement)) for statement in tree.body]
            _strip(tree, nodes)
            if _SHOWS_NAMES.search(text) is None:
                _rename_locals(nodes)
        spelled = ast.dump(tree, annotate_fields=False)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        query = _plain_query(text) if _OPENS_A_QUERY.match(text) else None
        return f"x{program_id(text)}" if query is None else f"q{program_id(query)}"
    return f"t{program_id(spelled)}"


def _plain_query(text: str) -> str | None:
    """Return a query without layout, comments, and capitals of unquoted names; None for what sqlglot cannot read."""
    import sqlglot  # takes long to load, and most texts are Python
    from sqlglot import exp

    if len(text) > MAX_QUERY:
        return None
    try:
        tree = sqlglot.parse_one(text, read="sqlite")
    except (sqlglot.errors.SqlglotError, RecursionError, ValueError, AttributeError, TypeError):
        return None
    for name in tree.find_all(exp.Identifier):
        if not name.args.get("quoted"):
            name.set("this", name.this.lower())
    return str(tree.sql(dialect="sqlite", comments=False))


_Nodes = list[list[ast.AST]]
"""The nodes below each top-level statement, walked once: walking is what takes the time."""


def _strip(tree: ast.Module, nodes: _Nodes) -> None:
    for node in (tree, *itertools.chain.from_iterable(nodes)):
        if isinstance(node, _DOCUMENTED) and _opens_with_text(node.body):
            node.body = node.body[1:] or [ast.Pass()]
        if isinstance(node, _FUNCTIONS):
            node.returns = None
        elif isinstance(node, ast.arg):
            node.annotation = None


def _opens_with_text(body: list[ast.stmt]) -> bool:
    first = body[0] if body else None
    return isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str)


def _rename_locals(nodes: _Nodes) -> None:
    """Number the local names of each top-level function in the order of their first appearance.

    A name is taken as local throughout the function, nested scopes included; that is sound where it is neither a
    builtin nor bound at the top level, and bound by nothing but parameters and assignments.
    """
    top = set(_BUILTINS)
    for below in nodes:
        statement = below[0]
        if isinstance(statement, (*_FUNCTIONS, ast.ClassDef)):
            top.add(statement.name)
        else:
            top.update(_all_names(below))
    for below in nodes:
        if isinstance(below[0], _FUNCTIONS):
            kept = top.union(*(_spelled(node) for node in below if isinstance(node, _SPELLING)))
            numbers: dict[str, str] = {}
            for node in below:
                bound = _bound_by(node)
                if bound is not None and bound not in kept:
                    numbers.setdefault(bound, str(len(numbers)))
            _apply(below, numbers)


def _all_names(below: list[ast.AST]) -> set[str]:
    names = {node.id for node in below if isinstance(node, ast.Name)}
    return names.union(*(_spelled(node) for node in below if isinstance(node, _SPELLING)))


def _bound_by(node: ast.AST) -> str | None:
    if isinstance(node, ast.arg):
        return node.arg
    return node.id if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) else None


_SPELLING = (
    *(ast.alias, ast.Global, ast.Nonlocal, ast.keyword, ast.ExceptHandler),
    *(ast.MatchAs, ast.MatchStar, ast.MatchMapping, *_FUNCTIONS, ast.ClassDef),
)


def _spelled(node: ast.AST) -> list[str]:
    """Return the names that a node spells outside ``Name`` and ``arg``, and which therefore stay as they are."""
    match node:
        case ast.alias(name=name, asname=asname):
            return [(asname or name).split(".")[0]]
        case ast.Global(names=names) | ast.Nonlocal(names=names):
            return names
        case ast.keyword(arg=str(name)) | ast.ExceptHandler(name=str(name)):
            return [name]
        case ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)) | ast.MatchMapping(rest=str(name)):
            return [name]
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            return [name]
    return []


def _apply(below: list[ast.AST], numbers: dict[str, str]) -> None:
    for node in below:
        if isinstance(node, ast.Name):
            node.id = numbers.get(node.id, node.id)
        elif isinstance(node, ast.arg):
            node.arg = numbers.get(node.arg, node.arg)
