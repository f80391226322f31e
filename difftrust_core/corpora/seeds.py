"""Seed inputs from a benchmark's own tests, read off the syntax tree, and nothing else."""

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

from difftrust_core.corpora.folding import NotFolded, fold
from difftrust_core.literals import BadText, write_literal

_EXAMPLE = re.compile(r"^[ \t]*>>>[ \t]?(.*)$", re.MULTILINE)
_COMPOUND = (ast.For, ast.While, ast.If, ast.With, ast.Try)


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
