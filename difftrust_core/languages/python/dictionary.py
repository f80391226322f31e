"""What programs compare with and descriptions quote: the texts and numbers that inputs of a check are made of."""

import ast
import math
import re
from collections.abc import Iterable, Sequence

from difftrust_core.base.literals import write_literal
from difftrust_core.languages.python.syntax import parsed
from difftrust_core.languages.python.witnesses import mine_constants

_LARGE = 2**64
_MAX_PROGRAM = 1 << 20
_MAX_WORDS = 400
_QUOTED = re.compile(r"""'([^'\n]{1,60})'|"([^"\n]{1,60})"|`([^`\n]{1,60})`""")
_NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?![\w])")


def dictionary_of(programs: Iterable[str], description: str = "") -> list[str]:
    """Return texts and numbers (as texts) that programs compare with and a description quotes: for ``CheckDraws``."""
    codes = list(programs)
    mined = mine_constants(codes)
    found = [str(number) for number in folded_numbers(codes)]
    found += [text for text in mined.texts if isinstance(text, str) and text]
    found += [write_literal(number) for number in mined.numbers]
    found += quoted(description)
    found += _NUMBER.findall(description)
    return list(dict.fromkeys(found))[:_MAX_WORDS]


def quoted(description: str) -> list[str]:
    """Return the texts that a description has in quotes."""
    return [next(filter(None, groups)) for groups in _QUOTED.findall(description)]


def folded_numbers(programs: Iterable[str]) -> list[int]:
    """Return what programs compute of whole numbers alone: 86400 of ``60 * 60 * 24``."""
    found: dict[int, None] = {}
    for program in programs:
        tree = parsed(program) if len(program) < _MAX_PROGRAM else None
        for node in ast.walk(tree) if tree is not None else ():
            number = _folded(node) if isinstance(node, ast.BinOp) else None
            if number is not None and abs(number) < _LARGE:
                found[number] = None
    return list(found)


def _folded(node: ast.AST) -> int | None:
    match node:
        case ast.Constant(value=int(number)) if abs(number) < _LARGE and type(number) is int:
            return number
        case ast.BinOp(left=left, op=op, right=right):
            one, other = _folded(left), _folded(right)
            if one is None or other is None or max(abs(one), abs(other)) >= _LARGE:
                return None
            match op:
                case ast.Add():
                    return one + other
                case ast.Sub():
                    return one - other
                case ast.Mult():
                    return one * other
                case ast.Pow() if 0 <= other < 64 and abs(one) <= 16:
                    return int(one**other)
                case ast.LShift() if 0 <= other < 64:
                    return one << other
    return None


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
