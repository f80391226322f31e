"""The small mistakes that break a program: mutation operators on its syntax tree.

An operator looks at one node and returns what could wrongly stand in its place, none where it does not apply.
It neither changes the node nor runs anything. The operators follow the classic ones of mutation testing
(Offutt et al., "An experimental determination of sufficient mutant operators", TOSEM 1996) plus mistakes
that LLMs make: forgotten edge cases, filters, copies and normalisations.
"""

import ast
from collections.abc import Callable
from functools import partial

from difftrust_core.languages.python.syntax import (
    Replacement,
    called_method,
    called_name,
    code_nodes,
    expression,
    is_text,
    negated,
    own_statements,
    replaced,
    shifted,
    with_fields,
)

Operator = Callable[[ast.AST], list[Replacement]]

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
_LEAVING = (ast.Return, ast.Continue, ast.Raise, ast.Break)
_NORMALISING_METHODS = frozenset({"copy", "strip", "lstrip", "rstrip", "lower", "upper", "casefold"})
_NORMALISING_FUNCTIONS = frozenset({"abs", "list", "sorted", "set", "int"})
_ORDERLESS_FUNCTIONS = frozenset({"min", "max", "gcd", "lcm", "set", "print"})


def off_by_one(node: ast.AST) -> list[Replacement]:
    """``3`` becomes ``4`` or ``2``."""
    if isinstance(node, ast.Constant) and type(node.value) is int:
        return [expression(str(node.value + 1)), expression(str(node.value - 1))]
    return []


def shifted_bound(node: ast.AST) -> list[Replacement]:
    """``range(n)`` becomes ``range(n - 1)`` or ``range(n + 1)``; likewise slices."""
    if called_name(node) == "range" and isinstance(node, ast.Call):
        end = 1 if len(node.args) > 1 else 0
        shifts = [(end, -1), (end, 1)] + ([(0, 1)] if end else [])
        bounds = [(place, shifted(node.args[place], by)) for place, by in shifts if place < len(node.args)]
        return [with_fields(node, args=[*node.args[:i], bound, *node.args[i + 1 :]]) for i, bound in bounds]
    alternatives: list[Replacement] = []
    if isinstance(node, ast.Slice) and node.upper:
        alternatives += [with_fields(node, upper=shifted(node.upper, by)) for by in (-1, 1)]
    if isinstance(node, ast.Slice) and node.lower:
        alternatives.append(with_fields(node, lower=shifted(node.lower, 1)))
    return alternatives


def flipped_comparison(node: ast.AST) -> list[Replacement]:
    """``a < b`` becomes ``a <= b`` or ``a > b``; likewise ``==``, ``in`` and ``is``."""
    if not isinstance(node, ast.Compare):
        return []
    return [
        with_fields(node, ops=[*node.ops[:i], wrong(), *node.ops[i + 1 :]])
        for i, right in enumerate(node.ops)
        for wrong in _COMPARISONS[type(right)]
    ]


def dropped_edge_case(node: ast.AST) -> list[Replacement]:
    """An ``if`` that returns, raises, continues or breaks goes; its else branch, if any, always runs."""
    return [node.orelse] if isinstance(node, ast.If) and isinstance(node.body[-1], _LEAVING) else []


def dropped_else(node: ast.AST) -> list[Replacement]:
    """An ``if`` loses its else branch."""
    return [with_fields(node, orelse=[])] if isinstance(node, ast.If) and node.orelse else []


def dropped_filter(node: ast.AST) -> list[Replacement]:
    """``[x for x in xs if x > 0]`` becomes ``[x for x in xs]``."""
    return [with_fields(node, ifs=[])] if isinstance(node, ast.comprehension) and node.ifs else []


def wrong_initial_value(node: ast.AST) -> list[Replacement]:
    """``total = 0`` becomes ``total = 1``, ``''`` becomes ``' '``, ``None`` becomes ``0``."""
    if not isinstance(node, ast.Assign | ast.AnnAssign) or node.value is None:
        return []
    wrong = _INITIAL_VALUES.get(ast.unparse(node.value))
    return [with_fields(node, value=expression(wrong))] if wrong else []


def wrong_arithmetic(node: ast.AST) -> list[Replacement]:
    """``a + b`` becomes ``a - b``, ``a // b`` becomes ``a / b`` or ``a % b``; also in ``a += b``."""
    if isinstance(node, ast.AugAssign):
        operands = [node.value]
    elif isinstance(node, ast.BinOp):
        operands = [node.left, node.right]
    else:
        return []
    # Minus between texts or lists is no mistake that a coder makes: it fails on every input.
    if any(isinstance(operand, ast.JoinedStr | ast.List | ast.ListComp) or is_text(operand) for operand in operands):
        return []
    return [with_fields(node, op=wrong()) for wrong in _ARITHMETIC.get(type(node.op), [])]


def and_or(node: ast.AST) -> list[Replacement]:
    """``a and b`` becomes ``a or b``, and back."""
    if not isinstance(node, ast.BoolOp):
        return []
    return [with_fields(node, op=ast.Or() if isinstance(node.op, ast.And) else ast.And())]


def negated_condition(node: ast.AST) -> list[Replacement]:
    """The condition of an ``if`` or of a filter becomes its opposite; a ``while`` would not end."""
    if isinstance(node, ast.If | ast.IfExp):
        return [with_fields(node, test=negated(node.test))]
    if isinstance(node, ast.comprehension) and node.ifs:
        return [with_fields(node, ifs=[negated(node.ifs[0]), *node.ifs[1:]])]
    return []


def min_max(node: ast.AST) -> list[Replacement]:
    """``min(...)`` becomes ``max(...)``, and back."""
    return _renamed_call(node, {"min": "max", "max": "min"})


def any_all(node: ast.AST) -> list[Replacement]:
    """``any(...)`` becomes ``all(...)``, and back."""
    return _renamed_call(node, {"any": "all", "all": "any"})


def toggled_order(node: ast.AST) -> list[Replacement]:
    """``sorted(x)`` becomes ``sorted(x, reverse=True)``, and back; likewise ``x.sort()``."""
    if not isinstance(node, ast.Call) or (called_name(node) != "sorted" and called_method(node) != "sort"):
        return []
    others = [keyword for keyword in node.keywords if keyword.arg != "reverse"]
    if len(others) == len(node.keywords):
        others.append(ast.keyword(arg="reverse", value=ast.Constant(value=True)))
    return [with_fields(node, keywords=others)]


def dropped_statement(node: ast.AST) -> list[Replacement]:
    """``count += 1`` or ``found.append(x)`` goes."""
    is_call = isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)
    return [[]] if is_call or isinstance(node, ast.AugAssign) else []


def swapped_arguments(node: ast.AST) -> list[Replacement]:
    """``f(a, b)`` becomes ``f(b, a)``; not where order cannot matter, as in ``max(a, b)``."""
    if not isinstance(node, ast.Call) or len(node.args) < 2 or called_name(node) in _ORDERLESS_FUNCTIONS:
        return []
    first, second, *rest = node.args
    if isinstance(first, ast.Starred) or isinstance(second, ast.Starred) or called_method(node) in ("gcd", "lcm"):
        return []
    return [with_fields(node, args=[second, first, *rest])]


def dropped_call(node: ast.AST) -> list[Replacement]:
    """``x.strip()``, ``x.lower()``, ``x.copy()``, ``x[:]``, ``abs(x)``, ``sorted(x)`` become ``x``."""
    if isinstance(node, ast.Subscript) and ast.unparse(node.slice) == ":" and isinstance(node.ctx, ast.Load):
        return [node.value]
    if not isinstance(node, ast.Call):
        return []
    if isinstance(node.func, ast.Attribute) and node.func.attr in _NORMALISING_METHODS and not node.args:
        return [node.func.value]
    is_plain = len(node.args) == 1 and isinstance(node.args[0], ast.Name)
    return [node.args[0]] if called_name(node) in _NORMALISING_FUNCTIONS and is_plain else []


def wrong_returned_variable(node: ast.AST) -> list[Replacement]:
    """``return total`` becomes ``return count``, another parameter or local."""
    if not isinstance(node, ast.FunctionDef):
        return []
    names = [arg.arg for arg in node.args.args if arg.arg not in ("self", "cls")]
    returns = []
    for statement in own_statements(node.body):
        if isinstance(statement, ast.Assign):
            names += [target.id for target in statement.targets if isinstance(target, ast.Name)]
        if isinstance(statement, ast.Return) and isinstance(statement.value, ast.Name):
            returns.append((statement.value, statement.value.id))
    return [
        replaced(node, value, ast.Name(id=wrong, ctx=ast.Load()))
        for value, right in returns
        for wrong in dict.fromkeys(names)
        if wrong != right
    ]


def break_continue(node: ast.AST) -> list[Replacement]:
    """``break`` becomes ``continue``, and back."""
    return [ast.Continue()] if isinstance(node, ast.Break) else [ast.Break()] if isinstance(node, ast.Continue) else []


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


def _renamed_call(node: ast.AST, names: dict[str, str]) -> list[Replacement]:
    wrong = names.get(called_name(node))
    return [with_fields(node, func=ast.Name(id=wrong, ctx=ast.Load()))] if wrong else []
