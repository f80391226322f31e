"""A program's syntax tree with calls that note what it compares and which way it goes; standard library only.

The host numbers the sites of a program with it, the sandbox's child makes the tree: a site has the same number in both.
"""

import ast
from collections.abc import Callable, Iterator
from typing import Any

PREFIX = "_difftrust_"
HOOKS = ("line", "test", "compare", "kept", "method", "function", "modulo", "item", "piece", "subject")
"""What notes something, as the program's names know it, behind ``PREFIX``."""
MAX_SITES = 20_000
METHODS = frozenset((
    "startswith", "endswith", "split", "rsplit", "partition", "rpartition", "find", "rfind", "index", "rindex", "count",
    "replace", "strip", "lstrip", "rstrip", "removeprefix", "removesuffix", "get", "pop", "setdefault", "match",
    "fullmatch", "search", "findall", "finditer", "sub", "compile", "strptime", "fromisoformat", "quantize",
))  # fmt: skip
"""Methods of which the object and the first arguments are noted."""
_TRUTHS = frozenset(("startswith", "endswith", "match", "fullmatch", "search"))
"""Those whose answer is a test by itself, wherever it goes."""
FUNCTIONS = frozenset(("int", "float", "round", "Decimal", "Fraction", "match", "fullmatch", "search", "sub", "split"))
_OPERATORS: dict[type[ast.cmpop], str] = {
    ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=",
    ast.In: "in", ast.NotIn: "not in",
}  # fmt: skip
_DEFINES = (ast.FunctionDef, ast.AsyncFunctionDef)
_BLOCKS = ("body", "orelse", "finalbody")
Key = tuple[str, int, int, int, int]


class Site:
    """A place that is noted: a line that runs, or a test with two sides, whose second has the next number."""

    __slots__ = ("is_test", "line", "number")

    def __init__(self, number: int, line: int, *, is_test: bool):
        self.number, self.line, self.is_test = number, line, is_test


def sites_of(tree: ast.AST, first: int = 0) -> dict[Key, Site]:
    """Return the sites of a program in the order of its text, numbered from ``first``; a test takes two numbers."""
    found: dict[Key, Site] = {}
    for node, is_test in _places(tree):
        key = _key(node)
        if key not in found and len(found) < MAX_SITES:
            found[key] = Site(first, getattr(node, "lineno", 0), is_test=is_test)
            first += 1 + is_test
    return found


def _key(node: Any) -> Key:
    kind = "line" if isinstance(node, ast.stmt) else "test"
    return kind, node.lineno, node.col_offset, node.end_lineno, node.end_col_offset


def _places(tree: ast.AST) -> Iterator[tuple[ast.AST, bool]]:
    """Iterate over the statements of functions, and over all tests."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare):
            yield from ((part, True) for part in (node.left, *node.comparators[:-1]))
        yield from ((test, True) for test in _tests(node))
        if isinstance(node, _DEFINES):
            yield from ((inner, False) for inner in _statements(node.body))


def _tests(node: ast.AST) -> list[ast.expr]:
    """Return the expressions whose truth a node decides by, or is; comparisons are noted by themselves."""
    found: list[ast.expr] = []
    if isinstance(node, ast.If | ast.While | ast.IfExp | ast.Assert):
        found = [node.test]
    elif isinstance(node, ast.BoolOp):
        found = node.values[:-1]
    elif isinstance(node, ast.comprehension):
        found = node.ifs
    elif isinstance(node, ast.match_case) and node.guard is not None:
        found = [node.guard]
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _TRUTHS:
        return [node]
    return [test for test in map(_without_not, found) if not isinstance(test, ast.Compare | ast.BoolOp)]


def _without_not(test: ast.expr) -> ast.expr:
    while isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        test = test.operand
    return test


def _statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Iterate over the statements of a function, those of its blocks included, not those of functions within."""
    for at, statement in enumerate(body):
        if at or not _is_text(statement):
            yield statement
        for block in () if isinstance(statement, (*_DEFINES, ast.ClassDef)) else blocks_of(statement):
            yield from _statements(block)


def _is_text(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def blocks_of(statement: ast.stmt) -> list[list[ast.stmt]]:
    """Return the blocks of a statement, those of its handlers and cases included."""
    parts = [statement, *getattr(statement, "handlers", []), *getattr(statement, "cases", [])]
    return [getattr(part, name) for part in parts for name in _BLOCKS if hasattr(part, name)]


def instrumented(tree: ast.Module, sites: dict[Key, Site]) -> ast.Module:
    """Return the tree, changed in place, with a call at each of the sites; annotations stay as they are."""
    made: ast.Module = _Instrument(sites).visit(tree)
    return ast.fix_missing_locations(made)


class _Instrument(ast.NodeTransformer):
    def __init__(self, sites: dict[Key, Site]):
        self._sites = sites
        self._tested: dict[int, int] = {}
        """Numbers of the expressions that are tested, by identity."""

    def visit(self, node: ast.AST) -> Any:
        for test in _tests(node):
            site = self._sites.get(_key(test))
            if site is not None:
                self._tested[id(test)] = site.number
        number = self._tested.pop(id(node), None)
        made = super().visit(node)
        return made if number is None else _hook("test", number, made)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        return self._function(node)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> ast.AST:
        return self._function(node)

    def _function(self, node: Any) -> ast.AST:
        node.decorator_list = [self.visit(one) for one in node.decorator_list]
        arguments = node.args
        arguments.defaults = [self.visit(one) for one in arguments.defaults]
        arguments.kw_defaults = [self.visit(one) if one is not None else None for one in arguments.kw_defaults]
        node.body = self._block(node.body)
        made: ast.AST = node
        return made

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        if node.value is not None:
            node.value = self.visit(node.value)
        return node

    def _block(self, body: list[ast.stmt]) -> list[ast.stmt]:
        """Return a block in which every statement is noted before it runs."""
        made: list[ast.stmt] = []
        for statement in body:
            site = self._sites.get(_key(statement))
            if site is not None:
                made.append(ast.copy_location(ast.Expr(_hook("line", site.number)), statement))
            made.append(self._statement(statement))
        return made

    def _statement(self, statement: ast.stmt) -> ast.stmt:
        if isinstance(statement, (*_DEFINES, ast.ClassDef)):
            defined: ast.stmt = self.visit(statement)
            return defined
        parts = [statement, *getattr(statement, "handlers", []), *getattr(statement, "cases", [])]
        held = [(part, name, getattr(part, name)) for part in parts for name in _BLOCKS if hasattr(part, name)]
        for part, name, _ in held:
            setattr(part, name, [])
        made: ast.stmt = self.visit(statement)
        for part, name, block in held:
            setattr(part, name, self._block(block))
        return made

    def visit_Match(self, node: ast.Match) -> ast.AST:
        values = [v.value for case in node.cases for v in ast.walk(case.pattern) if isinstance(v, ast.MatchValue)]
        constants: list[ast.expr] = [value for value in values if isinstance(value, ast.Constant)]
        self.generic_visit(node)
        node.subject = _hook("subject", 0, node.subject, ast.Tuple(constants, ast.Load()))
        return node

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        numbers = [self._sites.get(_key(part)) for part in (node.left, *node.comparators[:-1])]
        operands = [self.visit(part) for part in (node.left, *node.comparators)]
        names = [_OPERATORS.get(type(op)) for op in node.ops]
        if None in names or None in numbers:
            node.left, node.comparators = operands[0], operands[1:]
            return node
        made: list[ast.expr] = []
        for at, (site, name) in enumerate(zip(numbers, names, strict=True)):
            left = operands[0] if not at else _hook("kept")
            keeps = ast.Constant(at < len(names) - 1)
            made.append(_hook("compare", site.number if site else 0, ast.Constant(name), left, operands[at + 1], keeps))
        return made[0] if len(made) == 1 else ast.BoolOp(ast.And(), made)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        func = node.func
        if isinstance(func, ast.Attribute) and func.attr in METHODS:
            node.args = [ast.Constant(func.attr), func.value, *node.args]
            node.func = _name("method")
        elif isinstance(func, ast.Name) and func.id in FUNCTIONS:
            node.args = [ast.Constant(func.id), func, *node.args]
            node.func = _name("function")
        return node

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.op, ast.Mod | ast.FloorDiv):
            return _hook("modulo", int(isinstance(node.op, ast.Mod)), node.left, node.right)
        return node

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        self.generic_visit(node)
        if not isinstance(node.ctx, ast.Load):
            return node
        match node.slice:
            case ast.Slice(lower=lower, upper=upper, step=step):
                bounds = [part if part is not None else ast.Constant(None) for part in (lower, upper, step)]
                return _hook("piece", 0, node.value, *bounds)
            case ast.Tuple() | ast.Starred():
                return node
        return _hook("item", 0, node.value, node.slice)


def _name(hook: str) -> ast.Name:
    return ast.Name(PREFIX + hook, ast.Load())


def _hook(hook: str, number: int = 0, *arguments: ast.expr) -> ast.expr:
    return ast.Call(_name(hook), [ast.Constant(number), *arguments], [])


def names_with(hooks: dict[str, Callable[..., Any]]) -> dict[str, Callable[..., Any]]:
    """Return the names under which an instrumented program finds its hooks."""
    return {PREFIX + hook: hooks[hook] for hook in HOOKS}
