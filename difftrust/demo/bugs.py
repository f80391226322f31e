"""The small mistakes that break a program: mutation operators on its syntax tree.

An operator looks at one node and yields what could wrongly stand in its place, nothing where it does not apply.
It neither changes the node nor runs anything. The operators follow the classic ones of mutation testing
(Offutt et al., "An experimental determination of sufficient mutant operators", TOSEM 1996) plus mistakes
that LLMs make: forgotten edge cases, filters, copies and normalisations.
"""

import ast
from collections.abc import Callable, Iterator
from functools import partial

from difftrust.demo.rewrite import (
    Replacement,
    called_method,
    called_name,
    code_nodes,
    negated,
    replaced,
    shifted,
    with_fields,
)
from difftrust_core.languages.python.syntax import expression, is_text, own_statements

Wrong = Iterator[Replacement]
"""What could wrongly stand in the place of a node."""
Operator = Callable[[ast.AST], Wrong]

_COMPARISONS: dict[type[ast.cmpop], list[type[ast.cmpop]]] = {
    ast.Lt: [ast.LtE, ast.Gt],
    ast.LtE: [ast.Lt, ast.GtE],
    ast.Gt: [ast.GtE, ast.Lt],
    ast.GtE: [ast.Gt, ast.LtE],
    ast.Eq: [ast.NotEq],
    ast.NotEq: [ast.Eq],
    ast.In: [ast.NotIn],
    ast.NotIn: [ast.In],
    ast.Is: [ast.IsNot],
    ast.IsNot: [ast.Is],
}
_ARITHMETIC: dict[type[ast.operator], list[type[ast.operator]]] = {
    ast.Add: [ast.Sub],
    ast.Sub: [ast.Add],
    ast.Mult: [ast.Add],
    ast.Div: [ast.FloorDiv],
    ast.FloorDiv: [ast.Div, ast.Mod],
    ast.Mod: [ast.FloorDiv],
    ast.Pow: [ast.Mult],
    ast.BitAnd: [ast.BitOr],
    ast.BitOr: [ast.BitAnd],
    ast.BitXor: [ast.BitOr],
    ast.LShift: [ast.RShift],
    ast.RShift: [ast.LShift],
}
_INITIAL_VALUES = {"0": "1", "1": "0", "-1": "0", "0.0": "1.0", "1.0": "0.0", "''": "' '"} | {
    "True": "False",
    "False": "True",
    "None": "0",
}
LEAVING = (ast.Return, ast.Continue, ast.Raise, ast.Break)
_NORMALISING_METHODS = frozenset({"copy", "strip", "lstrip", "rstrip", "lower", "upper", "casefold"})
_NORMALISING_FUNCTIONS = frozenset({"abs", "list", "sorted", "set", "int"})
_ORDERLESS_FUNCTIONS = frozenset({"min", "max", "gcd", "lcm", "set", "print"})


def off_by_one(node: ast.AST) -> Wrong:
    """``3`` becomes ``4`` or ``2``."""
    if isinstance(node, ast.Constant) and type(node.value) is int:
        yield from (expression(str(node.value + by)) for by in (1, -1))


def shifted_bound(node: ast.AST) -> Wrong:
    """``range(n)`` becomes ``range(n - 1)`` or ``range(n + 1)``; likewise slices."""
    match node:
        case ast.Call(args=[_, *more] as args) if called_name(node) == "range":
            for at, by in ((1, -1), (1, 1), (0, 1)) if more else ((0, -1), (0, 1)):
                yield with_fields(node, args=[*args[:at], shifted(args[at], by), *args[at + 1 :]])
        case ast.Slice(lower=lower, upper=upper):
            if upper:
                yield from (with_fields(node, upper=shifted(upper, by)) for by in (-1, 1))
            if lower:
                yield with_fields(node, lower=shifted(lower, 1))


def flipped_comparison(node: ast.AST) -> Wrong:
    """``a < b`` becomes ``a <= b`` or ``a > b``; likewise ``==``, ``in`` and ``is``."""
    for i, right in enumerate(node.ops if isinstance(node, ast.Compare) else ()):
        for wrong in _COMPARISONS[type(right)]:
            yield with_fields(node, ops=[*node.ops[:i], wrong(), *node.ops[i + 1 :]])  # type: ignore[attr-defined]


def dropped_edge_case(node: ast.AST) -> Wrong:
    """An ``if`` that returns, raises, continues or breaks goes; its else branch, if any, always runs."""
    if isinstance(node, ast.If) and isinstance(node.body[-1], LEAVING):
        yield node.orelse


def dropped_else(node: ast.AST) -> Wrong:
    """An ``if`` loses its else branch."""
    if isinstance(node, ast.If) and node.orelse:
        yield with_fields(node, orelse=[])


def dropped_filter(node: ast.AST) -> Wrong:
    """``[x for x in xs if x > 0]`` becomes ``[x for x in xs]``."""
    if isinstance(node, ast.comprehension) and node.ifs:
        yield with_fields(node, ifs=[])


def wrong_initial_value(node: ast.AST) -> Wrong:
    """``total = 0`` becomes ``total = 1``, ``''`` becomes ``' '``, ``None`` becomes ``0``."""
    value = node.value if isinstance(node, ast.Assign | ast.AnnAssign) else None
    if value is not None and (wrong := _INITIAL_VALUES.get(ast.unparse(value))):
        yield with_fields(node, value=expression(wrong))


def wrong_arithmetic(node: ast.AST) -> Wrong:
    """``a + b`` becomes ``a - b``, ``a // b`` becomes ``a / b`` or ``a % b``; also in ``a += b``."""
    match node:
        case ast.AugAssign(op=op, value=value):
            operands = [value]
        case ast.BinOp(left=left, op=op, right=right):
            operands = [left, right]
        case _:
            return
    # Minus between texts or lists is no mistake that a coder makes: it fails on every input.
    if not any(isinstance(each, ast.JoinedStr | ast.List | ast.ListComp) or is_text(each) for each in operands):
        yield from (with_fields(node, op=wrong()) for wrong in _ARITHMETIC.get(type(op), ()))


def and_or(node: ast.AST) -> Wrong:
    """``a and b`` becomes ``a or b``, and back."""
    if isinstance(node, ast.BoolOp):
        yield with_fields(node, op=ast.Or() if isinstance(node.op, ast.And) else ast.And())


def negated_condition(node: ast.AST) -> Wrong:
    """The condition of an ``if`` or of a filter becomes its opposite; a ``while`` would not end."""
    match node:
        case ast.If(test=test) | ast.IfExp(test=test):
            yield with_fields(node, test=negated(test))
        case ast.comprehension(ifs=[first, *rest]):
            yield with_fields(node, ifs=[negated(first), *rest])


def min_max(node: ast.AST) -> Wrong:
    """``min(...)`` becomes ``max(...)``, and back."""
    return _renamed_call(node, {"min": "max", "max": "min"})


def any_all(node: ast.AST) -> Wrong:
    """``any(...)`` becomes ``all(...)``, and back."""
    return _renamed_call(node, {"any": "all", "all": "any"})


def toggled_order(node: ast.AST) -> Wrong:
    """``sorted(x)`` becomes ``sorted(x, reverse=True)``, and back; likewise ``x.sort()``."""
    if isinstance(node, ast.Call) and (called_name(node) == "sorted" or called_method(node) == "sort"):
        others = [keyword for keyword in node.keywords if keyword.arg != "reverse"]
        if len(others) == len(node.keywords):
            others.append(ast.keyword(arg="reverse", value=ast.Constant(value=True)))
        yield with_fields(node, keywords=others)


def dropped_statement(node: ast.AST) -> Wrong:
    """``count += 1`` or ``found.append(x)`` goes."""
    match node:
        case ast.Expr(value=ast.Call()) | ast.AugAssign():
            yield []


def swapped_arguments(node: ast.AST) -> Wrong:
    """``f(a, b)`` becomes ``f(b, a)``; not where order cannot matter, as in ``max(a, b)``."""
    match node:
        case ast.Call(args=[ast.Starred(), *_]) | ast.Call(args=[_, ast.Starred(), *_]):
            return
        case ast.Call(args=[first, second, *rest]):
            if called_name(node) not in _ORDERLESS_FUNCTIONS and called_method(node) not in ("gcd", "lcm"):
                yield with_fields(node, args=[second, first, *rest])


def dropped_call(node: ast.AST) -> Wrong:
    """``x.strip()``, ``x.lower()``, ``x.copy()``, ``x[:]``, ``abs(x)``, ``sorted(x)`` become ``x``."""
    match node:
        case ast.Subscript(value=value, slice=ast.Slice(lower=None, upper=None, step=None), ctx=ast.Load()):
            yield value
        case ast.Call(func=ast.Attribute(value=value, attr=name), args=[]) if name in _NORMALISING_METHODS:
            yield value
        case ast.Call(args=[ast.Name() as value]) if called_name(node) in _NORMALISING_FUNCTIONS:
            yield value


def wrong_returned_variable(node: ast.AST) -> Wrong:
    """``return total`` becomes ``return count``, another parameter or local."""
    if not isinstance(node, ast.FunctionDef):
        return
    names = [arg.arg for arg in node.args.args if arg.arg not in ("self", "cls")]
    returned: list[ast.Name] = []
    for statement in own_statements(node.body):
        match statement:
            case ast.Assign(targets=targets):
                names += [target.id for target in targets if isinstance(target, ast.Name)]
            case ast.Return(value=ast.Name() as value):
                returned.append(value)
    for value in returned:
        for wrong in dict.fromkeys(names):
            if wrong != value.id:
                yield replaced(node, value, ast.Name(id=wrong, ctx=ast.Load()))


def break_continue(node: ast.AST) -> Wrong:
    """``break`` becomes ``continue``, and back."""
    if isinstance(node, ast.Break | ast.Continue):
        yield ast.Continue() if isinstance(node, ast.Break) else ast.Break()


OPERATORS: dict[str, Operator] = {
    operator.__name__: operator
    for operator in (
        off_by_one,
        shifted_bound,
        flipped_comparison,
        dropped_edge_case,
        dropped_else,
        dropped_filter,
        wrong_initial_value,
        wrong_arithmetic,
        and_or,
        negated_condition,
        min_max,
        any_all,
        toggled_order,
        dropped_statement,
        swapped_arguments,
        dropped_call,
        wrong_returned_variable,
        break_continue,
    )
}
"""Every operator by its name; the order is part of what a seed means, so add new ones at the end."""


def mistakes(tree: ast.Module) -> dict[str, list[Callable[[], ast.Module]]]:
    """Return every mistake that the operators offer for a program, by operator: what makes the broken program."""
    nodes = list(code_nodes(tree))
    found: dict[str, list[Callable[[], ast.Module]]] = {
        name: [partial(_broken, tree, node, new) for node in nodes for new in operator(node)]
        for name, operator in OPERATORS.items()
    }
    return {name: offered for name, offered in found.items() if offered}


def _broken(tree: ast.Module, old: ast.AST, new: Replacement) -> ast.Module:
    return ast.parse(ast.unparse(ast.fix_missing_locations(replaced(tree, old, new))))


def _renamed_call(node: ast.AST, names: dict[str, str]) -> Wrong:
    if wrong := names.get(called_name(node)):
        yield with_fields(node, func=ast.Name(id=wrong, ctx=ast.Load()))
