"""A program's syntax tree with calls that note what it compares and which way it goes; standard library only.

Host and sandbox's child name a place of a program alike, by where it stands in the text.
"""

import ast
from typing import Any

PREFIX = "_difftrust_"
COMPARISONS: dict[type[ast.cmpop], str] = {
    ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=",
    ast.In: "in", ast.NotIn: "not in", ast.Is: "is", ast.IsNot: "is not",
}  # fmt: skip
_REMAINDERS: dict[type[ast.operator], str] = {ast.Mod: "%", ast.FloorDiv: "//"}
NOTED = frozenset((
    "startswith", "endswith", "split", "rsplit", "partition", "rpartition", "find", "rfind", "index", "rindex", "count",
    "replace", "strip", "lstrip", "rstrip", "removeprefix", "removesuffix", "get", "pop", "setdefault", "match",
    "fullmatch", "search", "findall", "finditer", "sub", "strptime", "fromisoformat", "int", "float", "round",
    "Decimal", "Fraction",
))  # fmt: skip
"""Functions and methods whose object and first arguments are noted."""


def tests_of(tree: ast.AST) -> dict[str, int]:
    """Return the places of what decides a branch, each with its line: comparisons, and what else is tested."""
    return {_place(test): test.lineno for node in ast.walk(tree) for test in _tests(node)}


def _tests(node: ast.AST) -> list[Any]:
    found: list[ast.expr] = []
    match node:
        case ast.Compare():
            return [node]
        case ast.If() | ast.While() | ast.IfExp() | ast.Assert():
            found = [node.test]
        case ast.BoolOp():
            found = node.values[:-1]
        case ast.comprehension():
            found = node.ifs
        case ast.match_case(guard=ast.expr() as guard):
            found = [guard]
    return [test for test in found if not isinstance(test, ast.Compare | ast.BoolOp)]


def _place(node: Any) -> str:
    return f"{node.lineno}.{node.col_offset}.{node.end_lineno}.{node.end_col_offset}"


class Instrument(ast.NodeTransformer):
    """Puts a call at each place that is noted, in place; annotations stay as they are."""

    def __init__(self, text: str = ""):
        self._text = text
        """Which text of several a place stands in."""
        self._tested: set[ast.AST] = set()

    def visit(self, node: ast.AST) -> Any:
        """Return what takes the place of a node."""
        self._tested |= set(_tests(node))
        made = super().visit(node)
        is_test = node in self._tested and not isinstance(node, ast.Compare)
        return self._call("test", node, made) if is_test else made

    def visit_arg(self, node: ast.arg) -> ast.AST:
        """Leave the annotation of a parameter."""
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        """Leave the annotation of a variable."""
        node.value = self.visit(node.value) if node.value is not None else None
        return node

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        """Note the operands, those of a chain too, and which way it goes."""
        self.generic_visit(node)
        return self._operate(node, [COMPARISONS[type(op)] for op in node.ops], node.left, *node.comparators)

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        """Note what is divided by what for a remainder."""
        self.generic_visit(node)
        name = _REMAINDERS.get(type(node.op))
        return node if name is None else self._operate(node, [name], node.left, node.right)

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        """Note which key is looked up in what."""
        self.generic_visit(node)
        if not isinstance(node.ctx, ast.Load) or isinstance(node.slice, ast.Slice | ast.Tuple):
            return node
        return self._operate(node, ["item"], node.value, node.slice)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """Note the operands of ``NOTED`` functions and methods."""
        self.generic_visit(node)
        match node.func:
            case ast.Attribute(value=owner, attr=name) if name in NOTED:
                return self._call("method", node, ast.Constant(name), owner, *node.args, keywords=node.keywords)
            case ast.Name(id=name) if name in NOTED:
                return self._call("method", node, ast.Constant(""), node.func, *node.args, keywords=node.keywords)
        return node

    def _operate(self, node: ast.AST, names: list[str], *operands: ast.expr) -> ast.expr:
        return self._call("operate", node, ast.Tuple([*map(ast.Constant, names)], ast.Load()), *operands)

    def _call(self, hook: str, node: ast.AST, *values: ast.expr, keywords: list[ast.keyword] | None = None) -> ast.expr:
        place = ast.Constant(self._text + _place(node))
        made = ast.Call(ast.Name(PREFIX + hook, ast.Load()), [place, *values], keywords or [])
        return ast.fix_missing_locations(ast.copy_location(made, node))
