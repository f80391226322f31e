"""Texts that programs match or parse: what random texts hardly are."""

import ast
import importlib
import random
import re
import tomllib
import warnings
from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import cache
from typing import Any

from difftrust.search.dictionary import nodes_in
from difftrust_core.base.files import read_packaged

codes: Any = importlib.import_module("re._constants")  # what stubs name depends on their version
_parser: Any = importlib.import_module("re._parser")
_MATCHING = ("fullmatch", "match", "search", "compile", "findall", "finditer")
_OF_EACH, _MAX_PATTERNS, _MAX_LENGTH, _MAX_PIECES = 40, 20, 200, 1_000
_ANY = "aZ5 _-.x1"
_NO_PATTERN = (re.error, RecursionError, OverflowError, ValueError)
_CATEGORIES = {
    codes.CATEGORY_DIGIT: "0123456789",
    codes.CATEGORY_SPACE: " \t\n",
    codes.CATEGORY_WORD: "abzAZ059_",
    codes.CATEGORY_NOT_DIGIT: "aZ -.",
    codes.CATEGORY_NOT_SPACE: "aZ5-.",
    codes.CATEGORY_NOT_WORD: " -.,:/@",
}


def pattern_texts(programs: Iterable[str], *, seed: int) -> list[str]:
    """Return texts that programs match by ``re`` or parse by functions of the standard library.

    Nothing of a program or a pattern is run.
    """
    generator = random.Random(f"{seed}/patterns")
    patterns = dict.fromkeys(text for program in programs for text in _patterns(program))
    return list(dict.fromkeys(text for pattern in patterns for text in texts_of(pattern, _OF_EACH, generator)))


def texts_for(text: str) -> list[str]:
    """Return texts that a text matches if it is a pattern that says more than its own characters; else none."""
    with suppress(*_NO_PATTERN):
        if any(code is not codes.LITERAL for code, _ in _tree_of(text)):
            return list(dict.fromkeys(texts_of(text, _OF_EACH, random.Random(text))))
    return []


def texts_of(pattern: str, n: int, generator: random.Random) -> list[str]:
    """Return n texts that a pattern matches; none where it is no pattern. It is read, not run."""
    with suppress(*_NO_PATTERN):
        tree = _tree_of(pattern)
        return ["".join(_pieces(tree, generator, {}, [_MAX_PIECES]))[:_MAX_LENGTH] for _ in range(n)]
    return []


def _tree_of(pattern: str) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about what the pattern contains, e.g. a set in a set
        return _parser.parse(pattern)


def _patterns(program: str) -> list[str]:
    found = []
    for node in nodes_in(program):
        match node:
            case ast.Call(func=ast.Attribute(attr=name), args=[ast.Constant(value=str(text)), *_]) if (
                name in _MATCHING and 1 < len(text) < _MAX_LENGTH
            ):
                found.append(text)
            case ast.Call(func=ast.Attribute(attr="strptime"), args=[_, ast.Constant(value=str(text))]):
                found.append(re.sub("%-?(.)|(.)", _of_directive, text))
            case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name) as called):
                full = ast.unparse(called) if name == "split" else name
                found += [pattern for names, pattern in _parsed()["parsers"].items() if full in names.split("|")]
    return found[:_MAX_PATTERNS]


@cache
def _parsed() -> dict[str, dict[str, str]]:
    return tomllib.loads(read_packaged(__package__, "parsed_texts.toml"))


def _of_directive(part: re.Match[str]) -> str:
    """Return the pattern of a directive or a character of a time format."""
    return f"({_parsed()['directives'].get(part[1], '')})" if part[1] else re.escape(part[2])


_LONG = 0.1
"""So many repetitions may be long: digits of a number that no code point has."""


def _pieces(tree: Any, generator: random.Random, groups: dict[int, str], left: list[int]) -> Iterator[str]:
    """Iterate over the pieces of a text; ``left``: so many, for a pattern may repeat what repeats."""
    for code, argument in tree:
        left[0] -= 1
        if left[0] < 0:
            return
        if code is codes.LITERAL:
            yield chr(argument)
        elif code in (codes.ANY, codes.NOT_LITERAL):
            yield generator.choice(_ANY)
        elif code is codes.IN:
            yield _one_of_set(argument, generator)
        elif code is codes.BRANCH:
            yield from _pieces(generator.choice(argument[1]), generator, groups, left)
        elif code is codes.SUBPATTERN:
            inside = "".join(_pieces(argument[-1], generator, groups, left))
            groups[argument[0]] = inside
            yield inside
        elif code in (codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT):
            least, most, inside = argument
            more = 20 if generator.random() < _LONG else 3
            for _ in range(generator.randint(least, min(int(most), least + more)) if least < 50 else 50):
                yield from _pieces(inside, generator, groups, left)
        elif code is codes.ATOMIC_GROUP:
            yield from _pieces(argument, generator, groups, left)
        elif code is codes.GROUPREF:
            yield groups.get(argument, "")


def _one_of_set(items: list[tuple[Any, Any]], generator: random.Random) -> str:
    """Return a character of a set; of a set that leaves some out, one that it does not."""
    characters = [_character(item, generator) for item in items if item[0] is not codes.NEGATE]
    if len(characters) < len(items):
        characters = [one for one in _ANY if one not in characters] or [*_ANY]
    return generator.choice(characters)


def _character(item: tuple[Any, Any], generator: random.Random) -> str:
    code, argument = item
    if code is codes.LITERAL:
        return chr(int(argument))
    if code is codes.RANGE:
        return chr(generator.choice((*argument, generator.randint(*argument))))  # its ends are what limits are set at
    characters: str = _CATEGORIES.get(argument, _ANY)
    return generator.choice(characters)
