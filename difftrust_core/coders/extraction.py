"""From the text of a reply to a program, by a fixed rule; and nothing else."""

import ast
import re
import warnings
from dataclasses import dataclass

from markdown_it import MarkdownIt

from difftrust_core.programs import MAX_PARSED

_QUERY = re.compile(r"\s*\(*\s*(select|with)\b", re.IGNORECASE)
ENTRY_POINT_BLOCK = "block with the entry point"
FIRST_BLOCK = "first block that parses"
WHOLE_REPLY = "whole reply"
NO_PROGRAM = "no program"

_THOUGHTS = re.compile(r"\A\s*<think(?:ing)?>.*?</think(?:ing)?>", re.DOTALL)
"""What some local models say to themselves first; it may hold drafts."""


@dataclass(frozen=True, kw_only=True)
class Extracted:
    """The program in a reply and the rule that found it."""

    code: str
    """Empty if there is none."""
    how: str
    """One of the four labels of this module."""


def program_of(reply: str, entry_point: str) -> Extracted:
    """Return the fenced block that defines ``entry_point``, else the first that is a program, else the whole reply.

    To be a program is to parse, and to hold more than bare expressions (as ``Sorry`` does). If nothing is, the code
    is empty. Blocks are those of CommonMark, so one that is never closed ends with the reply.
    """
    said = _THOUGHTS.sub("", reply, count=1)
    if len(said) > MAX_PARSED:
        return Extracted(code="", how=NO_PROGRAM)
    parsed = [(block, tree) for block in _blocks(said) if (tree := _program(block)) is not None]
    for block, tree in parsed:
        if entry_point in _defined(tree):
            return Extracted(code=block, how=ENTRY_POINT_BLOCK)
    if parsed:
        return Extracted(code=parsed[0][0], how=FIRST_BLOCK)
    if _program(said) is not None:
        return Extracted(code=said, how=WHOLE_REPLY)
    return Extracted(code="", how=NO_PROGRAM)


def query_of(reply: str) -> Extracted:
    """Return the first fenced block that opens with SELECT or WITH, else the whole reply if it does so."""
    said = _THOUGHTS.sub("", reply, count=1)
    if len(said) <= MAX_PARSED:
        for block in _blocks(said):
            if _QUERY.match(block):
                return Extracted(code=block, how=FIRST_BLOCK)
        if _QUERY.match(said):
            return Extracted(code=said, how=WHOLE_REPLY)
    return Extracted(code="", how=NO_PROGRAM)


def _blocks(text: str) -> list[str]:
    # Only the rules that decide where a block begins and ends; lists and quotes may hold some.
    reader = MarkdownIt("zero").enable(["fence", "list", "blockquote"])
    return [token.content for token in reader.parse(text) if token.type == "fence"]


def _program(text: str) -> ast.Module | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about what the text contains, e.g. an invalid escape
            tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    return tree if any(not isinstance(statement, ast.Expr) for statement in tree.body) else None


def _defined(tree: ast.Module) -> set[str]:
    found = {s.name for s in tree.body if isinstance(s, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)}
    assigned = [t for s in tree.body if isinstance(s, ast.Assign) for t in s.targets]
    return found | {target.id for target in assigned if isinstance(target, ast.Name)}
