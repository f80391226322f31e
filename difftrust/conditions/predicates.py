"""Predicates over arguments: Python expressions of a closed set of operations, evaluated here without running code.

Whoever writes one (the grammar, a user, a model), the same interpreter reads it. What it does not know it refuses.
"""

import ast
import builtins
import math
import operator
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

from difftrust_core.base.literals import Instance
from difftrust_core.languages.python.syntax import expression

Values = Mapping[str, Any]
_MOST_STEPS = 20_000
"""Operations of one evaluation."""
_LARGEST = 10**9
"""Operand of a product or power, and items of a range."""
_ON_TWO: Final[dict[type[ast.AST], Callable[[Any, Any], Any]]] = {
    ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt, ast.GtE: operator.ge, ast.Eq: operator.eq,
    ast.NotEq: operator.ne, ast.In: lambda a, b: a in b, ast.NotIn: lambda a, b: a not in b,
    ast.Is: operator.is_, ast.IsNot: operator.is_not, ast.Add: operator.add, ast.Sub: operator.sub,
    ast.Mult: operator.mul, ast.Div: operator.truediv, ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod,
    ast.Pow: operator.pow, ast.BitAnd: operator.and_, ast.BitOr: operator.or_,
    ast.Not: lambda _, b: not b, ast.USub: lambda _, b: -b, ast.UAdd: lambda _, b: +b,
}  # fmt: skip
BUILTINS: Final = (
    "abs all any bool dict enumerate float int len list max min range reversed round set sorted str sum tuple zip"
)
_CALLS: Final[dict[str, Callable[..., Any]]] = {name: getattr(builtins, name) for name in BUILTINS.split()} | {
    f"math.{name}": getattr(math, name) for name in ("isfinite", "isinf", "isnan", "isclose", "gcd")
}
_CONSTANTS: Final = {"math.inf": math.inf, "math.pi": math.pi, "math.e": math.e, "math.nan": math.nan}
_KINDS: Final = {"int": int, "float": float, "str": str, "bool": bool, "list": list, "dict": dict, "tuple": tuple}
_OF_VALUES: Final = """
    count endswith get index isalnum isalpha isascii isdecimal isdigit isidentifier islower isnumeric isprintable
    isspace istitle isupper items keys lower lstrip rstrip split splitlines startswith strip upper values"""
_METHODS: Final = frozenset(_OF_VALUES.split())
_IN_ORDER = ("date", "datetime", "time", "timedelta", "datetime.date", "datetime.datetime", "Decimal", "Fraction")


class NotKnown(Exception):
    """The interpreter cannot say what an expression is: an operation outside its set, or too many steps."""


@dataclass(frozen=True, kw_only=True)
class Predicate:
    """A condition on arguments that a user can read, and where it comes from."""

    text: str
    """A Python expression over the parameters."""
    sentence: str = ""
    """What it was read from."""
    origin: str = "docstring"
    """``docstring``, ``requires``, ``raises``, ``body``, ``type``, ``assume``, ``name`` or ``model``."""

    @cached_property
    def tree(self) -> ast.expr:
        """The expression as it is parsed."""
        found = expression(self.text)
        assert found is not None
        return found

    @cached_property
    def names(self) -> frozenset[str]:
        """The names that it uses, without those that it binds."""
        found = [node for node in ast.walk(self.tree) if isinstance(node, ast.Name)]
        bound = {node.id for node in found if isinstance(node.ctx, ast.Store)}
        return frozenset({node.id for node in found} - bound - _CALLS.keys() - {"math", "re", "isinstance"})

    def holds(self, values: Values) -> bool | None:
        """Tell whether it holds of arguments, by name; None where that is not known.

        An argument that is left out is not known, and neither is what has the wrong type.
        """
        try:
            return bool(_Evaluation(values).value(self.tree))
        except (NotKnown, TypeError, ValueError, ArithmeticError, LookupError, AttributeError, RecursionError):
            return None


class _Evaluation:
    """One evaluation of an expression, by its syntax tree."""

    def __init__(self, values: Values):
        self._names, self._steps = dict(values), 0

    def value(self, node: ast.expr | None) -> Any:
        """Return what an expression is worth. Raises NotKnown, and what its operations raise."""
        self._steps += 1
        if self._steps > _MOST_STEPS:
            raise NotKnown("too many steps")
        match node:
            case ast.Constant(value=value):
                return value
            case ast.Name(id=name) if name in self._names:
                return in_order(self._names[name])
            case ast.Attribute() if (path := ast.unparse(node)) in _CONSTANTS:
                return _CONSTANTS[path]
            case ast.List(elts=elts) | ast.Tuple(elts=elts) | ast.Set(elts=elts):
                made = {ast.List: list, ast.Tuple: tuple, ast.Set: set}[type(node)]
                return made(map(self.value, elts))
            case ast.UnaryOp(op=op, operand=operand):
                return self._on_two(op, None, self.value(operand))
            case ast.BinOp(left=left, op=op, right=right):
                return self._on_two(op, self.value(left), self.value(right))
            case ast.BoolOp(op=op, values=parts):
                stops = isinstance(op, ast.Or)
                return next((True for part in parts if bool(self.value(part)) is stops), False) is stops
            case ast.Compare(left=left, ops=ops, comparators=others):
                return self._compared(left, ops, others)
            case ast.IfExp(test=test, body=body, orelse=other):
                return self.value(body if self.value(test) else other)
            case ast.Subscript(value=of, slice=ast.Slice(lower=lower, upper=upper, step=step)):
                ends = [None if end is None else self.value(end) for end in (lower, upper, step)]
                return self.value(of)[slice(*ends)]
            case ast.Subscript(value=of, slice=index):
                return in_order(self.value(of)[self.value(index)])
            case ast.GeneratorExp() | ast.ListComp() | ast.SetComp():
                return list(self._items(node.elt, node.generators))
            case ast.Call(func=func, args=args, keywords=keywords):
                return self._called(func, args, keywords)
        raise NotKnown(type(node).__name__)

    def _on_two(self, op: ast.AST, left: Any, right: Any) -> Any:
        if isinstance(op, ast.Pow | ast.Mult) and not all(type(v) in (int, float) for v in (left, right)):
            raise NotKnown("a product of others than numbers")
        if isinstance(op, ast.Pow) and (abs(left) > _LARGEST or abs(right) > 64):
            raise NotKnown("a large power")
        if isinstance(op, ast.Mod) and isinstance(left, str):
            raise NotKnown("a text is formatted")
        if type(op) not in _ON_TWO:
            raise NotKnown(type(op).__name__)
        return _ON_TWO[type(op)](left, right)

    def _compared(self, left: ast.expr, ops: list[ast.cmpop], others: list[ast.expr]) -> bool:
        one = self.value(left)
        for op, node in zip(ops, others, strict=True):
            other = self.value(node)
            if not self._on_two(op, one, other):
                return False
            one = other
        return True

    def _items(self, wanted: ast.expr, generators: list[ast.comprehension]) -> Iterable[Any]:
        if not generators:
            yield self.value(wanted)
            return
        first, *rest = generators
        for item in list(self.value(first.iter)):
            self._bind(first.target, item)
            if all(self.value(test) for test in first.ifs):
                yield from self._items(wanted, rest)

    def _bind(self, target: ast.expr, item: Any) -> None:
        match target:
            case ast.Name(id=name):
                self._names[name] = item
            case ast.Tuple(elts=elts):
                for part, value in zip(elts, item, strict=True):
                    self._bind(part, value)

    def _called(self, func: ast.expr, args: list[ast.expr], keywords: list[ast.keyword]) -> Any:
        match func, args:
            case ast.Name(id="isinstance"), [value, ast.Name(id=kind)] if kind in _KINDS:
                return isinstance(self.value(value), _KINDS[kind])
            case ast.Attribute(value=of, attr=name), _ if name in _METHODS:
                owner = self.value(of)
                if type(owner) not in (str, bytes, list, tuple, dict):
                    raise NotKnown(f"a method of {type(owner).__name__}")
                return getattr(owner, name)(*map(self.value, args))
        called = _CALLS.get(ast.unparse(func))
        given = [self.value(arg) for arg in args]
        named = {k.arg: self.value(k.value) for k in keywords if k.arg in ("reverse", "start", "strict", "rel_tol")}
        if called is None or len(named) < len(keywords) or (called is range and abs(max(given, default=0)) > _LARGEST):
            raise NotKnown(ast.unparse(func))
        if called is range and len(range(*given)) > _MOST_STEPS:
            raise NotKnown("a long range")
        return called(*given, **named)


def in_order(value: Any) -> Any:
    """Return what a date is compared by: its literal form has year, month, day and so on in this order."""
    if isinstance(value, Instance):
        if value.fields or value.type_name not in _IN_ORDER:
            raise NotKnown(value.type_name)
        return tuple(value.args)
    return value


def negated(node: ast.expr) -> ast.expr:
    """Return the opposite of a condition, in the plainest form."""
    opposite: dict[type[ast.cmpop], type[ast.cmpop]] = {
        ast.Lt: ast.GtE, ast.GtE: ast.Lt, ast.Gt: ast.LtE, ast.LtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
        ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
    }  # fmt: skip
    match node:
        case ast.Compare(left=ast.Call(func=ast.Name(id="len")), ops=[ast.Eq()], comparators=[ast.Constant(value=0)]):
            return ast.Compare(left=node.left, ops=[ast.Gt()], comparators=node.comparators)
        case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in opposite:
            return ast.Compare(left=left, ops=[opposite[type(op)]()], comparators=[right])
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return operand
        case ast.BoolOp(op=op, values=parts):
            return ast.BoolOp(op=ast.And() if isinstance(op, ast.Or) else ast.Or(), values=[negated(p) for p in parts])
        case ast.Call(func=ast.Name(id="any" | "all" as name), args=[ast.GeneratorExp(elt=elt, generators=over)]):
            other = ast.Name(id="all" if name == "any" else "any", ctx=ast.Load())
            return ast.Call(func=other, args=[ast.GeneratorExp(elt=negated(elt), generators=over)], keywords=[])
    return ast.UnaryOp(op=ast.Not(), operand=node)
