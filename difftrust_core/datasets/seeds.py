"""Read seed inputs from a benchmark's own tests: the literal arguments of its calls, off the syntax tree.

An argument may need bounded arithmetic (``[0] * 3``, ``-2 ** 4``), which is done here; nothing is evaluated as Python.
"""

import ast
import operator
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

from difftrust_core.base.literals import BadText, write_literal

_EXAMPLE = re.compile(r"^[ \t]*>>>[ \t]?(.*)$", re.MULTILINE)
_LONGEST_CALL = 1_000
"""Characters of a call in a text at most."""
_COMPOUND = (ast.For, ast.While, ast.If, ast.With, ast.Try)
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


def seeds_in_tests(body: Sequence[ast.stmt], called: str, reference: ast.FunctionDef) -> tuple[str, ...]:
    """Return the argument tuples with which ``body`` calls the name ``called``, as literal texts, in order.

    Calls whose arguments are not literals after folding are left out. Names that the body binds to literals
    are followed. Keyword arguments are put in the order of ``reference``'s parameters.
    """
    calls = _calls(body, called, {})
    return _distinct(_seed(call, names, reference.args) for call, names in calls)


def seeds_in_examples(docstring: str, called: str, reference: ast.FunctionDef) -> tuple[str, ...]:
    """Return the argument tuples in the ``>>>`` lines of ``docstring``."""
    body: list[ast.stmt] = []
    for line in _EXAMPLE.findall(docstring):
        try:
            body += ast.parse(line).body
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue  # prose after the prompt sign, or an example over several lines
    return seeds_in_tests(body, called, reference)


def seeds_in_text(text: str, called: str, reference: ast.FunctionDef) -> tuple[str, ...]:
    """Return the argument tuples of the calls of ``called`` that stand anywhere in ``text``, also amid prose."""
    body: list[ast.stmt] = []
    for found in re.finditer(rf"\b{re.escape(called)}\(", text):
        rest = text[found.start() : found.start() + _LONGEST_CALL]
        for closing in re.finditer(r"\)", rest):
            with suppress(SyntaxError, ValueError, RecursionError, MemoryError):
                body += ast.parse(rest[: closing.end()]).body
                break
    return seeds_in_tests(body, called, reference)


def _calls(
    body: Sequence[ast.stmt], called: str, names: Mapping[str, Any]
) -> Iterator[tuple[ast.Call, dict[str, Any]]]:
    known = dict(names)
    for statement in body:
        if isinstance(statement, _COMPOUND):
            # What the block binds may change from round to round, so nothing is known of it inside or after.
            known = {name: v for name, v in known.items() if name not in _touched(statement)}
            yield from _calls(_block(statement), called, known)
            continue
        for node in ast.walk(statement):
            match node:
                case ast.Call(func=ast.Name(id=name)) if name == called:
                    yield node, dict(known)
        known = _after(statement, known)


def _block(compound: ast.stmt) -> list[ast.stmt]:
    children = ast.iter_child_nodes(compound)
    parts = [ast.Expr(value=c) if isinstance(c, ast.expr) else c for c in children]
    return [part for part in parts if isinstance(part, ast.stmt)]


def _after(statement: ast.stmt, known: dict[str, Any]) -> dict[str, Any]:
    left = {name: v for name, v in known.items() if name not in _touched(statement)}
    match statement:
        case ast.Assign(targets=[ast.Name(id=name)], value=value):
            with suppress(NotFolded):
                left[name] = fold(value, known)
    return left


def _touched(statement: ast.stmt) -> set[str]:
    """Names that the statement binds, or may change in place by a method call or an item."""
    touched = set()
    for node in ast.walk(statement):
        match node:
            case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
                touched.add(name)
            case ast.Attribute(value=ast.Name(id=name)) | ast.Subscript(value=ast.Name(id=name)):
                touched.add(name)
    return touched


def _seed(call: ast.Call, names: Mapping[str, Any], parameters: ast.arguments) -> str | None:
    try:
        arguments = [fold(argument, names) for argument in call.args]
        arguments += _by_position(call.keywords, len(arguments), names, parameters)
        return write_literal(tuple(arguments))
    except (NotFolded, BadText):
        return None


def _by_position(
    keywords: list[ast.keyword], taken: int, names: Mapping[str, Any], parameters: ast.arguments
) -> list[Any]:
    given = {k.arg: fold(k.value, names) for k in keywords if k.arg}
    positional = [*parameters.posonlyargs, *parameters.args]
    defaults = dict(zip([p.arg for p in positional][::-1], parameters.defaults[::-1], strict=False))
    arguments = []
    for parameter in positional[taken:]:
        if not given:
            break
        if parameter.arg in given:
            arguments.append(given.pop(parameter.arg))
        elif parameter.arg in defaults:
            arguments.append(fold(defaults[parameter.arg], {}))
        else:
            raise NotFolded(f"no value for {parameter.arg}")
    if given or any(k.arg is None for k in keywords):
        raise NotFolded("keyword arguments without a position")
    return arguments


def _distinct(seeds: Iterator[str | None]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(seed for seed in seeds if seed is not None))


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
