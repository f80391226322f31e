"""The domain of a function as its file and its user state it: conditions over the parameters, as text."""

import ast
import builtins
import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass

from difftrust.source.closure import bound_names, expression_in, free_names, imported_by
from difftrust.source.docstring import section, without_bullet
from difftrust.source.target import Target
from difftrust_core.exceptions import WrongUsage

_SECTIONS = ("requires", "assumes", "assumptions", "assumption", "preconditions", "precondition", "pre", "require")
_FIELD = re.compile(r"^\s*:(?:requires|assumes|pre|precondition)s?:\s*(.+)$", re.MULTILINE)
_PRELUDE = {"math", "re", "copy"}
"""Modules that a condition may use without an import."""


@dataclass(frozen=True, kw_only=True)
class Conditions:
    """What must hold of the arguments."""

    texts: tuple[str, ...]
    notes: tuple[str, ...]

    @property
    def requires(self) -> str:
        """All of them as one expression; empty where there is none."""
        return " and ".join(f"({text})" for text in self.texts)

    @property
    def names(self) -> set[str]:
        """The names that they use."""
        return {name for text in self.texts for name in free_names(ast.parse(text, mode="eval"))}


def conditions_of(target: Target, assume: Sequence[str], names: Sequence[str]) -> Conditions:
    """Return the user's conditions, those of the docstring's ``Requires:`` section, and the body's first asserts.

    ``names``: the parameters. Raises WrongUsage where one of ``assume`` is no expression over them.
    """
    known = set(names) | set(dir(builtins)) | _PRELUDE | bound_names(target.module) | imported_by(target.module.body)
    texts = [_assumed(text, known, names) for text in assume]
    notes = []
    for line in _lines(target.docstring):
        for part in _parts(line):
            expression = _condition(part, known, names)
            if expression:
                texts.append(expression)
            else:
                notes.append(f"not understood as a condition: {part!r}; write it as Python, or with --assume")
    texts += _asserted(target, known, names)
    return Conditions(texts=tuple(dict.fromkeys(texts)), notes=tuple(dict.fromkeys(notes)))


def _assumed(text: str, known: set[str], names: Sequence[str]) -> str:
    try:
        node = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as e:
        found = e.msg if isinstance(e, SyntaxError) else type(e).__name__
        raise WrongUsage(
            f'expected a condition in Python after --assume, got {text!r}: {found}; write e.g. "{names[0]} != 0"'
        ) from None
    unknown = sorted(free_names(node) - known)
    if unknown:
        raise WrongUsage(
            f"expected a condition over {', '.join(names)}, got {text!r}: {', '.join(unknown)} is not known; "
            "use the parameters' names"
        )
    if not free_names(node) & set(names):
        raise WrongUsage(f"expected a condition over {', '.join(names)}, got {text!r}, which names none of them")
    if _has_effects(node):
        raise WrongUsage(f"expected a condition without await, yield and :=, got {text!r}; compare the arguments")
    return ast.unparse(node)


def _has_effects(node: ast.expr) -> bool:
    return any(isinstance(n, ast.Await | ast.Yield | ast.YieldFrom | ast.NamedExpr) for n in ast.walk(node))


def _lines(docstring: str) -> list[str]:
    """Return the conditions of a docstring as they are written; a line that goes on further in is one."""
    joined: list[str] = []
    for line in section(docstring, _SECTIONS):
        text = without_bullet(line)
        if joined and _is_open(joined[-1]):
            joined[-1] += f" {text}"
        elif text:
            joined.append(text)
    return joined + [text.strip() for text in _FIELD.findall(docstring)]


def _is_open(text: str) -> bool:
    return text.count("(") > text.count(")") or text.rstrip().endswith((" and", " or", ",", "\\"))


def _parts(line: str) -> list[str]:
    """Return a line as conditions: ``a > 0, b > 0`` are two; a comment or an explanation after it goes."""
    plain = re.sub(r"``?", "", line).strip().rstrip(".;,").strip()
    node = expression_in(plain)
    if node is None and ":" in plain:  # start <= end: the interval is not empty
        for part in (plain.partition(": ")[0].strip(), plain.rpartition(": ")[2].strip()):
            if isinstance(expression_in(part), ast.Compare | ast.BoolOp):
                return [part]
    if isinstance(node, ast.Tuple) and not any(isinstance(part, ast.Name) for part in node.elts):
        return [ast.unparse(part) for part in node.elts]
    return [plain] if plain else []


def _condition(text: str, known: set[str], names: Sequence[str]) -> str:
    """Return the condition in one spelling, "" if it is none."""
    node = expression_in(text)
    is_one = isinstance(node, ast.Compare | ast.BoolOp | ast.Call | ast.Attribute | ast.Subscript | ast.Name) or (
        isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not)
    )
    if node is None or not is_one:
        return ""
    return ast.unparse(node) if _is_over(node, known, names) else ""


def _is_over(node: ast.expr, known: set[str], names: Sequence[str]) -> bool:
    """Tell whether an expression without effects is about the parameters, and names nothing unknown."""
    free = free_names(node)
    return free <= known and bool(free & set(names)) and not _has_effects(node)


def _asserted(target: Target, known: set[str], names: Sequence[str]) -> list[str]:
    """Return what the body asserts before it does anything else."""
    first = itertools.takewhile(lambda statement: isinstance(statement, ast.Assert), target.body)
    tests = [statement.test for statement in first if isinstance(statement, ast.Assert)]
    return [ast.unparse(test) for test in tests if _is_over(test, known, names)]
