"""What a program compares: operands of comparisons, look-ups, remainders, methods and tests; standard library only.

A program is instrumented in the sandbox's child, in runs of their own. What it says of a call is one line of JSON,
bounded in every part; the host takes it only for a hint of which inputs to try.
"""

import ast
import json
import re
import sys
from collections.abc import Callable
from typing import Any

import typed_repr
from canonical import UnsupportedValue, text_within

NOTE = "_difftrust_note"
MAX_NOTES = 20_000
"""Operands of one call, after which it is ended: by count, so that a slow machine notes the same."""
_MAX_MET, _MAX_TEXT, _FIRST, _NODES, _OPERANDS = 60, 200, 12, 40, 3
_dumps, _getattr, _len, _type = json.dumps, getattr, len, type
_COLLECTIONS = (list, tuple, set, frozenset, dict)
_TESTS = (ast.If, ast.While, ast.IfExp, ast.Assert, ast.BoolOp, ast.comprehension)
_FALSE: dict[type, Any] = {kind: kind() for kind in (int, float, str, bytes, *_COLLECTIONS)} | {_type(None): 0}
"""What a value that is tested alone meets: "if count", "name or default"."""
_pattern: Any = re.Pattern.__dict__["pattern"].__get__


class Enough(BaseException):
    """The call has compared as much as is noted of one."""


class Instrument(ast.NodeTransformer):
    """Hands every operand through ``NOTE``; what the program computes with them stays its own."""

    def __init__(self) -> None:
        self._n = 0

    def _noted(self, how: str, *operands: ast.expr) -> list[ast.expr]:
        self._n += 1
        told = [[ast.Constant(self._n), ast.Constant(side), ast.Constant(how)] for side in range(len(operands))]
        name = ast.Name(NOTE, ast.Load())
        return [ast.Call(name, [*first, operand], []) for first, operand in zip(told, operands, strict=True)]

    def visit(self, node: Any) -> Any:
        """Note, beside what the methods below do, what a statement, "and", "or" or "not" tests alone."""
        node = super().visit(node)
        if isinstance(node, _TESTS) or (isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not)):
            for name in ("test", "operand", "values", "ifs"):
                inside = _getattr(node, name, None)
                if isinstance(inside, list):
                    inside[:] = map(self._tested, inside)
                elif inside is not None:
                    setattr(node, name, self._tested(inside))
        return node

    def _tested(self, value: ast.expr) -> ast.expr:
        """Note a value that is tested alone, the result of a call too."""
        is_plain = isinstance(value, ast.Name | ast.Attribute | ast.Subscript | ast.Call)
        return self._noted("bool", value)[0] if is_plain else value

    def visit_arg(self, node: ast.arg) -> ast.AST:
        """Leave the annotation of a parameter."""
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        """Leave the annotation of a variable."""
        node.value = self.visit(node.value) if node.value is not None else None
        return node

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        """Note what is compared, in a chain each with the next."""
        self.generic_visit(node)
        node.left, *node.comparators = self._noted("", node.left, *node.comparators)
        return node

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        """Note what is divided by what for a remainder."""
        self.generic_visit(node)
        if isinstance(node.op, ast.Mod | ast.FloorDiv):
            node.left, node.right = self._noted("%", node.left, node.right)
        return node

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        """Note which key is looked up in what."""
        self.generic_visit(node)
        if isinstance(node.ctx, ast.Load) and not isinstance(node.slice, ast.Slice | ast.Tuple):
            node.value, node.slice = self._noted("", node.value, node.slice)
        return node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """Note the object of a method and its first arguments, and what is rounded to how many digits."""
        self.generic_visit(node)
        first = node.args[:_OPERANDS]
        if any(isinstance(argument, ast.Starred) for argument in first):
            return node
        if isinstance(node.func, ast.Attribute) and node.func.attr in ("sub", "subn") and len(first) > 1:
            self._substituted(node, node.func)
        elif isinstance(node.func, ast.Attribute) and first:
            node.func.value, *node.args[: len(first)] = self._noted(node.func.attr, node.func.value, *first)
        elif isinstance(node.func, ast.Name) and node.func.id == "round":
            node.args[: len(first)] = self._noted("round", *first)
        return node

    def _substituted(self, node: ast.Call, called: ast.Attribute) -> None:
        """Note the pattern of a substitution and the text: what takes the place of a match meets neither."""
        is_module = isinstance(called.value, ast.Name) and called.value.id == "re"
        if not is_module:
            called.value, node.args[1] = self._noted("re", called.value, node.args[1])
        elif len(node.args) > 2:
            node.args[0], node.args[2] = self._noted("re", node.args[0], node.args[2])


class Notes:
    """What one call at a time compares, its arguments as they are made too; while a program loads, nothing."""

    def __init__(self) -> None:
        self._left = 0

    def begin(self) -> None:
        """Forget what the call before compared."""
        self._before, self._times, self._latest = dict[int, Any](), dict[int, int](), dict[int, Any]()
        self._first, self._matching = list[Any](), set[int]()
        self._left = MAX_NOTES

    def note(self, place: int, side: int, how: str, value: Any) -> Any:
        """Note an operand, together with the one before it at the same place; return it."""
        if self._left > 0:
            self._left -= 1
            if not self._left:
                raise Enough
            if side:
                self._meet(place, how, self._before.get(place), value)
            elif how == "bool" and _type(value) in _FALSE:
                self._meet(place, how, _FALSE[_type(value)], value)
            elif how == "bool" and _type(value) is _getattr(sys.modules.get("decimal"), "Decimal", None):
                self._meet(place, how, 0, value)
            elif how == "round":
                self._meet(place, how, value, 0)
            self._before[place] = value
        return value

    def _meet(self, place: int, how: str, one: Any, other: Any) -> None:
        if one is re:  # of re.match(pattern, text) the next two are what meets
            self._matching.add(place)
        elif _type(one) is re.Pattern or place in self._matching:
            how = "re"
        n = self._times[place] = self._times.get(place, 0) + 1
        if n < _OPERANDS:
            self._first.append((place, how, _text(one), _text(other)))
        self._latest[place] = how, one, other

    def of_call(self, make: Callable[[], object]) -> str:
        """Return as JSON what was compared since ``begin``: place, how often, how, and the texts of two operands."""
        try:
            make()
        except MemoryError:
            raise
        except BaseException:
            pass  # what it raises, the run of the program as it was written says
        self._left = 0
        met = [*self._first, *((p, how, _text(a), _text(b)) for p, (how, a, b) in self._latest.items())]
        said = [(p, self._times[p], how, a, b) for p, how, a, b in dict.fromkeys(met) if a and b]
        return _dumps(said[:_MAX_MET])


def _text(value: Any) -> str:
    """Return the text of an operand; of a long collection that of its first members; empty where there is none.

    Of a dict with values that have none, or a long one, it is that of the keys.
    """
    kind = _type(value)
    if kind is re.Pattern:
        return _text(_pattern(value))
    if kind is range:
        return _text([value.start, value.stop - 1, value.stop])
    if kind in _COLLECTIONS and _len(value) > _FIRST:
        return _text([member for member, _ in zip(value, range(_FIRST), strict=False)])
    try:
        text = text_within(value, 0, typed_repr.Glance([_NODES])) if kind is not str or _len(value) < _MAX_TEXT else ""
    except (UnsupportedValue, ValueError):
        text = ""
    if kind is dict and not 0 < _len(text) <= 2 * _MAX_TEXT:
        return _text(list(value))
    return text if _len(text) <= 2 * _MAX_TEXT else ""
