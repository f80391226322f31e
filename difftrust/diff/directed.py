"""Inputs made for the lines in which two versions differ: what these name, its neighbours and its spellings."""

import ast
import copy
import difflib
import itertools
import math
import random
import re
from collections.abc import Iterator, Sequence
from typing import Any

from difftrust.search.drawing import arguments_of
from difftrust.types.constants import mine_constants
from difftrust_core.base.literals import BadText, write_literal
from difftrust_core.languages.python.fuzz import CONTAINERS, children, rebuild
from difftrust_core.languages.python.syntax import parsed

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
    "a\nb",
    "a\r\nb",
    "\x0b",
    "\u00a0",
)
_INTS = (0, 1, -1, 2, 3, 7, 10, 12, 100, 255, 256, 1000, -100, 2**31, 2**63, 10**20)
_FLOATS = (0.0, 1.0, -1.0, 0.5, -0.5, 1.5, 2.5, 0.1, 1e-9, 1e16, 100.0)
_SEEDS = 12
_MAX_CONSTANT = 2_000
_REPLACED = 0.8
_WORD = re.compile(r"[A-Za-z_]\w*")
_MAX_NODES = 12


def changed_statements(old: str, new: str) -> list[str]:
    """Return the lines that only one of two programs has, each version's as one text of simple statements."""
    before, after = old.splitlines(), new.splitlines()
    found: list[str] = []
    for tag, i, j, k, m in difflib.SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if tag != "equal":
            found += [*before[i:j], *after[k:m]]
    return [line.strip() for line in found if line.strip()]


def constants_in(lines: Sequence[str]) -> tuple[list[str], list[int | float]]:
    """Return the texts and numbers that single lines name, each with what lies next to it."""
    texts: dict[str, None] = {}
    numbers: dict[int | float, None] = {}
    mined = mine_constants([_whole(line) for line in lines])
    for text in mined.texts:
        if isinstance(text, str):
            texts |= dict.fromkeys(_around_text(text))
    for number in mined.numbers:
        if math.isfinite(number):
            numbers |= dict.fromkeys((number, number + 1, number - 1, -number))
    return list(texts)[:80], list(numbers)[:40]


def _whole(line: str) -> str:
    """Return a line as something that parses: the head of a block gets a body."""
    for text in (
        line,
        f"{line}\n    pass",
        f"if 1:\n    pass\n{line}\n    pass",
        f"try:\n    pass\n{line}\n    pass",
        f"({line}",
    ):
        if parsed(text) is not None:
            return text
    for end in range(len(line), 0, -1):
        if parsed(line[:end]) is not None:
            return line[:end]
    return ""


def _around_text(text: str) -> Iterator[str]:
    yield from (text, text.upper(), text.lower(), text.title(), f"a{text}b", f"a {text} b", f" {text}", f"{text} ")
    yield from (text + text, f"{text}a", f"a{text}", f"a{text}{text}b", f"a{text}b{text}c", text[:-1], text[1:])
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
    for made in itertools.chain.from_iterable(itertools.zip_longest(*streams)):
        if made is None:
            continue
        try:
            found[write_literal(made)] = None
        except (BadText, RecursionError):
            continue
        if len(found) >= most:
            break
    return list(found)


def _replaced(
    seeds: Sequence[tuple[Any, ...]], texts: Sequence[str], numbers: Sequence[int | float]
) -> Iterator[tuple[Any, ...]]:
    """Iterate over seeds with each node in turn replaced, the first few values at every place first."""
    options = [(seed, at) for seed in seeds for at in range(len(seed))]
    for turn in range(max(len(texts), len(numbers), 1)):
        for seed, at in options:
            for new in itertools.islice(_variants(seed[at], texts, numbers, turn), _MAX_NODES):
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
            variants = list(itertools.islice(_variants(value, texts, numbers, generator.randrange(1000)), _MAX_NODES))
            made.append(generator.choice(variants) if variants and generator.random() < _REPLACED else value)
        yield tuple(made)


def _variants(value: Any, texts: Sequence[str], numbers: Sequence[int | float], turn: int) -> Iterator[Any]:
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
    """Return the texts of the module's constants that lines name, short ones."""
    named = {word for line in lines for word in _WORD.findall(line)}
    found: dict[str, None] = {}
    for statement in definitions:
        if isinstance(statement, ast.Assign | ast.AnnAssign):
            targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
            if any(isinstance(target, ast.Name) and target.id in named for target in targets):
                text = ast.unparse(statement)
                found |= {text: None} if len(text) < _MAX_CONSTANT else {}
    return list(found)


def functions_text(statements: Sequence[ast.stmt]) -> str:
    """Return the text of statements, docstrings left out, a line a statement."""
    return "\n".join(ast.unparse(bare) for statement in statements if (bare := _bare(statement)) is not None)


def _bare(statement: ast.stmt) -> ast.stmt | None:
    class Bare(ast.NodeTransformer):
        def visit_Expr(self, node: ast.Expr) -> ast.AST | None:
            is_text = isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
            return None if is_text else node

    made: ast.stmt | None = Bare().visit(copy.deepcopy(statement))
    return None if made is None else ast.fix_missing_locations(made)
