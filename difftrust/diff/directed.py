"""Inputs made for the lines in which two versions differ: what these name, its neighbours and its spellings."""

import ast
import copy
import difflib
import itertools
import math
import random
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import islice, product
from typing import Any, TypeVar

from difftrust.search.dictionary import mine_constants
from difftrust.search.pattern_texts import texts_for
from difftrust.source.scopes import bound_by
from difftrust.source.target import without_texts
from difftrust.types.argument_types import arguments_of
from difftrust_core.base.literals import BadText, write_literal
from difftrust_core.languages.python.fuzz import CONTAINERS, children, rebuild
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
    "a\nb",
    "a\r\nb",
    "\x0b",
    "\u00a0",
)
_INTS = (0, 1, -1, 2, 3, 7, 10, 12, 100, 255, 256, 1000, -100, 2**31, 2**63, 10**20)
_FLOATS = (0.0, 1.0, -1.0, 0.5, -0.5, 1.5, 2.5, 0.1, 1e-9, 1e16, 100.0)
_SEEDS = 12
_MOST_TEXTS, _MOST_NUMBERS, _MATCHING = 160, 60, 4
_NOTHING: Any = object()
_Constant = TypeVar("_Constant")
_MAX_CONSTANT = 2_000
_REPLACED = 0.8
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


def constants_in(lines: Sequence[str]) -> tuple[list[str], list[int | float]]:
    """Return the texts and numbers that single lines name or match, of each the nearest first, then what lies next."""
    mined = mine_constants([_whole(line) for line in lines])
    has_flags = any(map(_FLAGS.search, lines))
    around = [_around_text(text, has_flags=has_flags) for text in mined.texts if isinstance(text, str)]
    beside = [(number, number + 1, number - 1, -number) for number in mined.numbers if math.isfinite(number)]
    return _in_turn(around)[:_MOST_TEXTS], _in_turn(beside)[:_MOST_NUMBERS]


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


def directed_inputs(seeds: Sequence[str], lines: Sequence[str], *, most: int) -> list[str]:
    """Return seed inputs with one value, or two, replaced by what differing lines name, and by boundary values."""
    texts, numbers = constants_in(lines)
    arguments = [value for value in map(arguments_of, seeds) if value is not None][:_SEEDS]
    streams = [
        _replaced(arguments, texts, numbers),
        _replaced(arguments, _TEXTS, [*_INTS, *_FLOATS]),
        _combined(arguments, [*texts, *_TEXTS], [*numbers, *_INTS, *_FLOATS], most=most),
    ]
    found: dict[str, None] = {}
    turns = itertools.chain.from_iterable(itertools.zip_longest(*streams))
    for made in (each for each in turns if each is not None):
        with suppress(BadText, RecursionError):
            found[write_literal(made)] = None
        if len(found) >= most:
            break
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


def _replaced(
    seeds: Sequence[tuple[Any, ...]], texts: Sequence[str], numbers: Sequence[int | float]
) -> Iterator[tuple[Any, ...]]:
    """Iterate over seeds with each node in turn replaced: each value at every place of one seed, then of its next."""
    places = range(max(map(len, seeds), default=0))
    given: tuple[tuple[Sequence[str], Sequence[int | float]], ...] = ((texts, ()), ((), numbers))
    hosts = [
        (own, at, [seed for seed in seeds if any(True for part in seed[at : at + 1] for _ in _variants(part, *own, 0))])
        for own in given
        for at in places
    ]
    for shift in range(len(seeds)):
        for turn in range(max(len(texts), len(numbers))):
            for own, at, hosting in hosts:
                for seed in hosting[(turn + shift) % max(1, len(hosting)) :][:1]:
                    for new in islice(_variants(seed[at], *own, turn), _MAX_NODES):
                        yield (*seed[:at], new, *seed[at + 1 :])


def _combined(
    seeds: Sequence[tuple[Any, ...]], texts: Sequence[str], numbers: Sequence[int | float], *, most: int
) -> Iterator[tuple[Any, ...]]:
    """Iterate over seeds of which every argument has one node replaced, each by a value drawn for itself."""
    generator = random.Random(len(texts))
    for _ in range(most if any(len(seed) > 1 for seed in seeds) else 0):
        seed = generator.choice(seeds)
        made = []
        for value in seed:
            variants = list(islice(_variants(value, texts, numbers, generator.randrange(1000)), _MAX_NODES))
            made.append(generator.choice(variants) if variants and generator.random() < _REPLACED else value)
        yield tuple(made)


def _variants(value: Any, texts: Sequence[str], numbers: Sequence[int | float], turn: int) -> Iterator[Any]:
    """Iterate over a value with one node each replaced by the text or number whose turn it is, or holding the text."""
    kind = type(value)
    if kind is str and texts:
        text = texts[turn % len(texts)]
        yield text
        if turn < len(texts) and value:
            yield value + text
            yield value[: len(value) // 2] + text + value[len(value) // 2 :]
    elif kind is bytes and texts:
        yield texts[turn % len(texts)].encode("utf-8", "surrogatepass")
    elif kind is int and numbers:
        yield math.floor(numbers[turn % len(numbers)])
    elif kind is float and numbers:
        yield float(numbers[turn % len(numbers)])
    elif kind in CONTAINERS:
        parts = list(children(value))
        for position, part in enumerate(parts[:_MAX_NODES]):
            for new in _variants(part, texts, numbers, turn):
                yield rebuild(value, [*parts[:position], new, *parts[position + 1 :]])


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
