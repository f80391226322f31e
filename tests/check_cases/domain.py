"""What a case says of its domain: the conditions, and whether an input inside it shows a difference."""

import ast
import datetime
import re
import textwrap
from collections.abc import Iterable

from tests.check_cases.case import Case
from tests.check_cases.plain import equal, namespace, outcome

_SECTION = re.compile(r"^( *)(?:Requires|Assumes|Preconditions):[ ]*(.*)$")


def function_of(case: Case) -> ast.FunctionDef | ast.AsyncFunctionDef:
    """Return the function that a case is about, from its parsed module."""
    body = ast.parse(case.module).body
    owner, _, name = case.target.rpartition(".")
    if owner:
        body = next(each for each in body if isinstance(each, ast.ClassDef) and each.name == owner).body
    functions = (each for each in body if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef))
    return next(each for each in functions if each.name == name)


def conditions(case: Case) -> list[str]:
    """Return the conditions of the domain as Python expressions over the parameters."""
    function = function_of(case)
    lines = (ast.get_docstring(function) or "").splitlines()
    found = [word for option, word in zip(case.options, case.options[1:], strict=False) if option == "--assume"]
    for i, line in enumerate(lines):
        if section := _SECTION.match(line):
            inside = [section[2]] if section[2] else []
            for below in lines[i + 1 :]:
                if not below.strip() or len(below) - len(below.lstrip()) <= len(section[1]):
                    break
                inside.append(below.strip())
            found += [text for text in inside if _is_expression(text)]
    found += [ast.unparse(each.test) for each in function.body if isinstance(each, ast.Assert)]
    return [*found, case.allows] if case.allows else found


def wrapped(case: Case, candidate: str) -> str:
    """Return a module of one candidate that rests on a module ``common``, with the domain as asserts.

    The function has the case's own signature; only for plain functions.
    """
    function = function_of(case)
    arguments = function.args
    given = [each.arg for each in (*arguments.posonlyargs, *arguments.args)]
    given += [f"*{arguments.vararg.arg}"] if arguments.vararg else []
    given += [f"{each.arg}={each.arg}" for each in arguments.kwonlyargs]
    given += [f"**{arguments.kwarg.arg}"] if arguments.kwarg else []
    returns = f" -> {ast.unparse(function.returns)}" if function.returns else ""
    checks = "".join(f"    assert {condition}\n" for condition in conditions(case))
    code = case.candidates[candidate]
    names = [f"from common import {name}\n" for name in _private_names(case)]
    header = "from __future__ import annotations\n" if "from __future__" in case.module else ""
    return (
        f"{header}from common import *\n{''.join(names)}{textwrap.dedent(code)}\n_inner = {case.target}\n\n"
        f"def {case.target}({ast.unparse(arguments)}){returns}:\n{checks}    return _inner({', '.join(given)})\n"
    )


def shows_difference(case: Case, pair: tuple[str, str], arguments: str) -> bool | None:
    """Tell whether a call with these arguments is inside the domain and two candidates differ on it.

    ``arguments``: as between the parentheses of a call. None where they cannot be evaluated here.
    """
    arguments = re.sub(r"\bdatetime\.(datetime|date|timedelta|timezone|time)\b", r"\1", arguments)
    if not _is_expression(f"f({arguments})"):
        return None
    seen = []
    for candidate in pair:
        names = {**vars(datetime), **namespace(case, candidate)}
        exec(wrapped_conditions(case), names)
        how, value = outcome(names, f"(lambda *a, **k: _inside(*a, **k))({arguments})")
        if how == "raises":
            return False if value in ("AssertionError", "TypeError") else None
        seen.append(outcome(names, f"(lambda *a, **k: ({case.target}(*a, **k), a, k))({arguments})"))
    return not equal(*seen)


def wrapped_conditions(case: Case) -> str:
    """Return a function ``_inside`` that asserts the conditions."""
    function = function_of(case)
    checks = "".join(f"    assert {condition}\n" for condition in conditions(case)) or "    pass\n"
    arguments = ast.parse(f"def f({ast.unparse(function.args)}): pass").body[0]
    assert isinstance(arguments, ast.FunctionDef)
    for each in ast.walk(arguments.args):
        if isinstance(each, ast.arg):
            each.annotation = None
    return f"def _inside({ast.unparse(arguments.args)}):\n{checks}"


def outside(case: Case, calls: Iterable[str]) -> list[str]:
    """Return those of the calls of a plain function that are not inside the domain."""
    names = namespace(case, next(iter(case.candidates)))
    exec(wrapped_conditions(case), names)
    found = []
    for call in calls:
        node = ast.parse(call, mode="eval").body
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == case.target:
            node.func.id = "_inside"
            if outcome(names, ast.unparse(node))[0] == "raises":
                found.append(call)
    return found


def as_arguments(shown: str) -> str:
    """Write an argument tuple, which may end with ``Keywords(...)``, as between the parentheses of a call."""
    parsed = ast.parse(shown, mode="eval").body
    assert isinstance(parsed, ast.Tuple)
    words = []
    for each in parsed.elts:
        is_keywords = isinstance(each, ast.Call) and isinstance(each.func, ast.Name) and each.func.id == "Keywords"
        words += [ast.unparse(k) for k in each.keywords] if is_keywords else [ast.unparse(each)]
    return ", ".join(words)


def _is_expression(text: str) -> bool:
    try:
        ast.parse(text, mode="eval")
    except SyntaxError:
        return False
    return True


def _private_names(case: Case) -> list[str]:
    names = namespace(case, next(iter(case.candidates)))
    return [name for name in names if name.startswith("_") and not name.startswith("__")]
