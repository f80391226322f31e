"""The value of an expression that needs no evaluation beyond bounded arithmetic, and nothing else."""

import ast
import operator
from collections.abc import Callable, Mapping
from typing import Any

MAX_SIZE = 100_000
"""Elements and characters of one value, nested ones included."""
MAX_BITS = 4_096
"""Bits of one whole number."""

_NUMBERS = (bool, int, float, complex)
_SEQUENCES = (str, bytes, list, tuple)
_ARITHMETIC: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
}
_MAKERS: dict[str, Callable[..., Any]] = {
    "float": float,
    "complex": complex,
    "list": list,
    "tuple": tuple,
    "set": set,
    "frozenset": frozenset,
    "dict": dict,
    "range": range,
}


class NotFolded(ValueError):
    """The expression is no literal, nor arithmetic on literals within the bounds."""


def fold(node: ast.expr, names: Mapping[str, Any]) -> Any:
    """Return the value of ``node``; ``names`` gives the values of variables. Raises NotFolded.

    Admitted are constants, displays, signs, ``+ - * / // % **`` on numbers, ``+`` and ``*`` on sequences,
    and calls of the builtin containers and number types. No name is looked up anywhere but in ``names``.
    """
    try:
        value = _fold(node, names)
        if _size(value) > MAX_SIZE:
            raise NotFolded("too large")
        return value
    except NotFolded:
        raise
    except (ArithmeticError, TypeError, ValueError, RecursionError, MemoryError) as e:
        raise NotFolded(f"{type(e).__name__}: {e}") from None


def _fold(node: ast.expr, names: Mapping[str, Any]) -> Any:
    match node:
        case ast.Constant(value=value):
            return value
        case ast.List(elts=elts) | ast.Tuple(elts=elts) | ast.Set(elts=elts):
            make = {ast.List: list, ast.Tuple: tuple, ast.Set: set}[type(node)]
            return make([fold(e, names) for e in elts])
        case ast.Dict(keys=keys, values=values) if all(keys):
            return {fold(k, names): fold(v, names) for k, v in zip(keys, values, strict=True) if k}
        case ast.UnaryOp(op=ast.USub() | ast.UAdd() as op, operand=operand):
            return _signed(op, fold(operand, names))
        case ast.BinOp(left=left, op=op, right=right):
            return _binary(op, fold(left, names), fold(right, names))
        case ast.Name(id=name) if name in names:
            return names[name]
        case ast.Call(func=ast.Name(id=name), args=args, keywords=keywords) if name not in names:
            fields = {k.arg: fold(k.value, names) for k in keywords if k.arg}
            if len(fields) == len(keywords) and name in _MAKERS:
                return _made(name, [fold(a, names) for a in args], fields)
    raise NotFolded(f"{type(node).__name__} is not folded")


def _made(name: str, args: list[Any], fields: dict[str, Any]) -> Any:
    # A range is small however many numbers it stands for: its size counts before a container unrolls it.
    if any(_size(a) > MAX_SIZE for a in args):
        raise NotFolded("a range too long")
    return _MAKERS[name](*args, **fields)


def _signed(op: ast.unaryop, value: Any) -> Any:
    if type(value) not in _NUMBERS:
        raise NotFolded(f"a sign before {type(value).__name__}")
    return -value if isinstance(op, ast.USub) else +value


def _binary(op: ast.operator, left: Any, right: Any) -> Any:
    if type(op) not in _ARITHMETIC:
        raise NotFolded(f"{type(op).__name__} is not folded")
    if type(left) in _NUMBERS and type(right) in _NUMBERS:
        if isinstance(op, ast.Pow):
            _check_power(left, right)
        value = _ARITHMETIC[type(op)](left, right)
        if type(value) is int and value.bit_length() > MAX_BITS:
            raise NotFolded("a number too long")
        return value
    if isinstance(op, ast.Add) and type(left) is type(right) and type(left) in _SEQUENCES:
        return left + right
    if isinstance(op, ast.Mult):
        return _repeated(*((right, left) if type(left) is int else (left, right)))
    raise NotFolded(f"{type(op).__name__} on {type(left).__name__} and {type(right).__name__}")


def _check_power(base: Any, exponent: Any) -> None:
    # Checked beforehand: 10 ** 10 ** 8 would not come back to be checked.
    whole = type(base) in (bool, int) and type(exponent) is int
    if whole and int(base).bit_length() * max(exponent, 1) > MAX_BITS:
        raise NotFolded("a power too large")


def _repeated(sequence: Any, times: Any) -> Any:
    if type(sequence) not in _SEQUENCES or type(times) is not int:
        raise NotFolded(f"{type(sequence).__name__} times {type(times).__name__}")
    if _size(sequence) * max(times, 0) > MAX_SIZE:
        raise NotFolded("a repetition too long")
    return sequence * times


def _size(value: Any) -> int:
    if isinstance(value, (str, bytes, range)):
        return max(len(value), 1)
    if isinstance(value, dict):
        return 1 + sum(_size(k) + _size(v) for k, v in value.items())
    if isinstance(value, (list, tuple, set, frozenset)):
        return 1 + sum(_size(v) for v in value)
    return 1
