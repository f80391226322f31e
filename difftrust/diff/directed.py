"""Inputs made for the lines in which two versions differ: what these name, its neighbours and its spellings."""

import ast
import copy
import difflib
import itertools
import math
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import islice, product
from typing import Any, TypeVar

from difftrust.search.dictionary import mine_constants
from difftrust.search.drawing import TypedInputs
from difftrust.search.feedback import with_nodes
from difftrust.search.pattern_texts import texts_for
from difftrust.source.scopes import bound_by
from difftrust.source.target import without_texts
from difftrust.types.argument_types import arguments_of, with_values
from difftrust.types.base import first_nodes
from difftrust_core.base.literals import BadText, write_literal
from difftrust_core.languages.python.syntax import is_docstring, parsed

_TEXTS = (
    "",
    " ",
    "a",
    "A",
    "\t",
    "\n",
    "a b",
    " a ",
    "0",
    "-1",
    "1.5",
    "é",
    "ß",
    "İ",
    "ﬁ",
    "e\u0301",
    "a\r\nb",
    "\x0b",
)
_INTS = (0, 1, -1, 2, 3, 7, 10, 12, 100, 255, 256, 1000, -100, 2**31, 2**63, 10**20)
_FLOATS = (0.0, 1.0, -1.0, 0.5, -0.5, 1.5, 2.5, 0.1, 1e-9, 1e16, 100.0)
_MOST_TEXTS, _MATCHING = 160, 4
_NOTHING: Any = object()
_Constant = TypeVar("_Constant")
_MAX_CONSTANT = 2_000
_WORD = re.compile(r"[A-Za-z_]\w*")
_FLAGS = re.compile(r"\bre\.(?:[IMSXA]|[A-Z]{5,})\b|\(\?[aimsx]+[-:)]")
_MAX_NODES, _MOST_PAIRS, _FEW_PAIRS = 12, 300, 6
_MOST_KEYS = 8


def changed_statements(old: str, new: str) -> list[str]:
    """Return the lines that only one of two programs has, each version's as one text of simple statements."""
    before, after = old.splitlines(), new.splitlines()
    found: list[str] = []
    for tag, i, j, k, m in difflib.SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if tag != "equal":
            found += [*before[i:j], *after[k:m]]
    return [line.strip() for line in found if line.strip()]


def texts_in(lines: Sequence[str]) -> list[str]:
    """Return the texts that single lines name or match, of each the nearest first, then what lies next."""
    mined = mine_constants([_whole(line) for line in lines])
    has_flags = any(map(_FLAGS.search, lines))
    around = [_around_text(text, has_flags=has_flags) for text in mined.texts if isinstance(text, str)]
    return _in_turn(around)[:_MOST_TEXTS]


def _in_turn(streams: Iterable[Iterable[_Constant]]) -> list[_Constant]:
    """Return the distinct items of streams, the first of each before the second of any."""
    turns = itertools.zip_longest(*streams, fillvalue=_NOTHING)
    return list(dict.fromkeys(item for turn in turns for item in turn if item is not _NOTHING))


def _whole(line: str) -> str:
    """Return a line as something that parses: the head of a block gets a body."""
    heads = ("", "if 1:\n    pass\n", "try:\n    pass\n")
    shorter = (line[:end] for end in range(len(line), 0, -1))
    tries = itertools.chain([line], (f"{head}{line}\n    pass" for head in heads), [f"({line}", f"{{{line}}}"], shorter)
    return next((text for text in tries if parsed(text) is not None), "")


def _around_text(text: str, *, has_flags: bool = False) -> Iterator[str]:
    """Iterate over a text, what matches it as a pattern, and their neighbours.

    ``has_flags``: a line sets flags of a pattern, so that letters in the other case and line ends may match too.
    """
    matching = texts_for(text)[:_MATCHING]
    for each in (matching or [text]) if has_flags else ():
        middle = len(each) // 2
        yield from (each.swapcase(), f"{each}\n{each}", f"a\n{each}", f"{each}\na")
        yield from (f"{each[:middle]}\n{each[middle:]}", f"{each[:middle]}\n{each[middle + 1 :]}")
    yield from (text, *matching, text.upper(), text.lower(), text.title())
    yield from (f"a{text}b", f"a {text} b", f" {text}", f"{text} ", text + text, f"{text}a", f"a{text}")
    yield from (f"a{text}{text}b", f"a{text}b{text}c", text[:-1], text[1:])
    if len(text) > 1 and " " not in text:
        yield from text[:4]


def boundary_inputs(source: TypedInputs, seeds: Sequence[str], texts: Sequence[str], *, most: int) -> list[str]:
    """Return seed inputs, in turn, with one text or number each replaced by one of these, or by a boundary value."""
    arguments = [value for value in map(arguments_of, seeds) if value is not None]
    found: dict[str, None] = {}
    turns = itertools.zip_longest([*texts, *_TEXTS], (*_INTS, *_FLOATS), _TEXTS, fillvalue=_NOTHING)
    for turn, value in enumerate(itertools.chain.from_iterable(turns) if arguments else ()):
        own = arguments[turn % len(arguments)]
        parts = source.parts(own)
        for path, node in first_nodes(parts, _MAX_NODES):
            if len(found) < most and type(node.value) is type(value) and node.type.fits(value):
                with suppress(BadText, RecursionError):
                    found[write_literal(with_values(own, with_nodes(parts, [path], value)))] = None
    return list(found)


def odd_inputs(seeds: Sequence[str], values: Sequence[Sequence[Any]]) -> list[str]:
    """Return seed inputs with other values in place of an argument, or two; ``values``: those of each argument."""
    found: list[str] = []
    arguments = [value for value in map(arguments_of, seeds) if value is not None]
    most = _MOST_PAIRS // max(_FEW_PAIRS, math.comb(sum(map(bool, values)), 2))
    for at, tried in enumerate(values):
        host = next((seed for seed in arguments if len(seed) > at), None)
        if host is None:
            continue
        alone = ((at, value, at, value) for value in tried)
        pairs = ((one, a, at, b) for one in range(at) for a, b in islice(product(values[one], tried), most))
        for one, a, other, b in (*alone, *pairs):
            with suppress(BadText, RecursionError):
                made = [*host]
                made[one], made[other] = a, b
                found.append(write_literal(tuple(made)))
    return found


def dicts_of(keys: Sequence[str]) -> list[Any]:
    """Return dicts with these keys, also one in another."""
    inner = [{key: [1, 2]} for key in keys[:_MOST_KEYS]]
    plain: list[Any] = [{key: value} for key in keys[:_MOST_KEYS] for value in (1, "a")]
    nested = [{key: value} for key in keys[:_MOST_KEYS] for each in inner for value in (each, [each])]
    return [*inner, *plain, *nested, dict.fromkeys(keys, 1)] if keys else []


def named_constants(lines: Sequence[str], definitions: Sequence[ast.stmt]) -> list[str]:
    """Return the texts of the module's constants that lines name, and under what their definitions are added."""
    named = {word for line in lines for word in _WORD.findall(line)}
    changed = {*lines}
    found: dict[str, None] = {}
    for statement in definitions:
        text, parts = ast.unparse(statement), list[str]()
        match statement:
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name) if changed & {*map(str.strip, text.split("\n"))}:
                named.add(name)
                is_heir = isinstance(statement, ast.ClassDef) and bool(statement.bases)
                parts = [*[f"[{name!r}]"] * is_heir, *map(ast.unparse, statement.decorator_list)]
            case ast.Assign(targets=[ast.Subscript()], value=ast.Name(id=name)) if name in named:
                parts = [text]
            case ast.Assign() | ast.AnnAssign() if named & bound_by(statement):
                parts = [text]
        found |= dict.fromkeys(part for part in parts if len(part) < _MAX_CONSTANT)
    return list(found)


def functions_text(statements: Sequence[ast.stmt], *, idle: Collection[ast.AST] = ()) -> str:
    """Return the text of statements, docstrings left out, a line a statement or an item of a module's table.

    ``idle``: statements and methods that are left out.
    """
    kept = [statement for statement in _without(statements, idle) if not is_docstring(statement)]
    return "\n".join(_by_item(without_texts(statement)) for statement in kept)


def _without(statements: Sequence[ast.stmt], idle: Collection[ast.AST]) -> list[ast.stmt]:
    """Return copies of statements but for these, of classes without these methods."""
    found = []
    for statement in statements:
        made = copy.copy(statement)
        if isinstance(made, ast.ClassDef):
            made.body = _without(made.body, idle) or [ast.Pass()]
        found += [] if statement in idle else [made]
    return found


def _by_item(statement: ast.stmt) -> str:
    """Return the text of a statement, the items of a list, a set, a tuple or a dict that it binds a line each."""
    text = ast.unparse(statement)
    value = statement.value if isinstance(statement, ast.Assign | ast.AnnAssign) else None
    while isinstance(value, ast.Call) and len(value.args) == 1:
        value = value.args[0]
    match value:
        case ast.Dict(keys=keys, values=values):
            pairs = zip(keys, map(ast.unparse, values), strict=True)
            items = [f"{ast.unparse(key)}: {held}" if key else f"**{held}" for key, held in pairs]
        case ast.List(elts=parts) | ast.Tuple(elts=parts) | ast.Set(elts=parts):
            items = [ast.unparse(part) for part in parts]
        case _:
            return text
    whole = ast.unparse(value)
    head, _, tail = text.rpartition(whole)
    return "\n".join((head + whole[0], *(f"{item}," for item in items), whole[-1] + tail)) if items else text
