"""What programs compare with and descriptions quote: the texts and numbers that inputs of a check are made of."""

import ast
import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TypeVar

from difftrust_core.base.literals import write_literal
from difftrust_core.languages.python.syntax import parsed

_MAX_BITS = 64
"""Numbers of more bits are not taken from programs."""
_LARGE = 2**_MAX_BITS
_MAX_TEXT = 1_000
"""Characters of a constant; longer ones are not taken from programs."""
_MOST = 100
"""Constants of one kind that are taken from one program."""
_MAX_PROGRAM = 1 << 20
_MAX_WORDS = 400
_Constant = TypeVar("_Constant", bound=int | float | str | bytes)
_QUOTED = re.compile(r"""'([^'\n]{1,60})'|"([^"\n]{1,60})"|`([^`\n]{1,60})`""")
_NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?![\w])")


_NAN, _INFINITE = r"nans?", r"inf(?:init(?:y|ies))?"
_OF_NAN = "_to_num argmax argmin cumprod cumsum max mean median min percentile prod quantile std sum var"
_ASKS_NAN = re.compile(rf"\b(?:isnan|isfinite|nan(?:{_OF_NAN.replace(' ', '|')}))\b")
_ASKS_INFINITE = re.compile(r"\b(?:isinf|isposinf|isneginf|isfinite)\b")


@dataclass(frozen=True, kw_only=True)
class Constants:
    """What programs compare with: distinct constants of their texts, sorted by how they are written."""

    numbers: tuple[int | float, ...]
    texts: tuple[str | bytes, ...]


def mine_constants(programs: Iterable[str]) -> Constants:
    """Return the constants in the syntax trees of programs, docstrings left out; of what does not parse, none."""
    numbers: dict[str, int | float] = {}
    texts: dict[str, str | bytes] = {}
    for nodes in map(nodes_in, programs):
        alone = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
        found = [node.value for node in nodes if isinstance(node, ast.Constant) and id(node) not in alone]
        numbers |= _first_of(value for value in found if isinstance(value, int | float) and _is_usable(value))
        texts |= _first_of(value for value in found if isinstance(value, str | bytes) and len(value) <= _MAX_TEXT)
    return Constants(
        numbers=tuple(numbers[text] for text in sorted(numbers)), texts=tuple(texts[text] for text in sorted(texts))
    )


def nodes_in(program: str) -> list[ast.AST]:
    """Return the nodes in the syntax tree of a program; none where it does not parse or is too long."""
    tree = parsed(program) if len(program) <= _MAX_PROGRAM else None
    return list(ast.walk(tree)) if tree is not None else []


def _first_of(values: Iterable[_Constant]) -> dict[str, _Constant]:
    """Return the first distinct values by how they are written."""
    return dict(islice({write_literal(value): value for value in values}.items(), _MOST))


def _is_usable(number: int | float) -> bool:
    if isinstance(number, float):
        return math.isfinite(number) and abs(number) < _LARGE
    return type(number) is int and number.bit_length() <= _MAX_BITS


def dictionary_of(programs: Iterable[str], description: str = "") -> list[str]:
    """Return texts and numbers (as texts) that programs compare with and a description quotes: for ``TypedInputs``."""
    codes = list(programs)
    mined = mine_constants(codes)
    found = [text for text in mined.texts if isinstance(text, str) and text]
    found += [write_literal(number) for number in mined.numbers]
    found += quoted(description)
    found += _NUMBER.findall(description)
    return list(dict.fromkeys(found))[:_MAX_WORDS]


def quoted(description: str) -> list[str]:
    """Return the texts that a description has in quotes."""
    return [next(filter(None, groups)) for groups in _QUOTED.findall(description)]


def special_floats(programs: Iterable[str], description: str = "") -> list[float]:
    """Return NaN and the infinities, as far as programs ask whether a value is one or a description names them.

    ``float("inf")`` that a program only starts from, as the least so far, asks for nothing.
    """
    codes = list(programs)
    asked = [text for code in codes for text in _compared(nodes_in(code))]
    found: list[float] = []
    for word, asks, values in ((_NAN, _ASKS_NAN, [math.nan]), (_INFINITE, _ASKS_INFINITE, [math.inf, -math.inf])):
        named = re.compile(rf"\b{word}\b", re.IGNORECASE)
        if any(map(named.search, [description, *asked])) or any(map(asks.search, codes)):
            found += values
    return found


def _compared(nodes: Iterable[ast.AST]) -> Iterator[str]:
    """Iterate over what a program compares, each as code; ``nan`` where it compares a value with itself."""
    for node in nodes:
        if isinstance(node, ast.Compare):
            texts = [ast.unparse(part) for part in (node.left, *node.comparators)]
            yield from texts
            yield "nan" if len(set(texts)) < len(texts) else ""


def numbers_in(dictionary: Sequence[str]) -> list[int | float]:
    """Return the numbers among texts."""
    found: list[int | float] = []
    for text in dictionary:
        try:
            value = ast.literal_eval(text) if len(text) < 30 else None
        except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
            continue
        if isinstance(value, int | float) and type(value) is not bool and math.isfinite(value) and abs(value) < 2**64:
            found.append(value)
    return found
