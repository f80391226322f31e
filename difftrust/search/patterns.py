"""Texts that a regular expression or a format describes; nothing of either is run."""

import random
import re
from collections.abc import Iterator
from re import _constants as codes
from re import _parser
from typing import Any

_MAX_LENGTH = 200
_ANY = "aZ5 _-.x1"
_CATEGORIES = {
    codes.CATEGORY_DIGIT: "0123456789",
    codes.CATEGORY_SPACE: " \t\n",
    codes.CATEGORY_WORD: "abzAZ059_",
    codes.CATEGORY_NOT_DIGIT: "aZ -.",
    codes.CATEGORY_NOT_SPACE: "aZ5-.",
    codes.CATEGORY_NOT_WORD: " -.,:/@",
}


_FIELDS = {
    "Y": (1, 9999, 4), "m": (1, 12, 2), "d": (1, 31, 2), "H": (0, 23, 2), "M": (0, 59, 2), "S": (0, 59, 2),
    "I": (1, 12, 2), "j": (1, 366, 3), "y": (0, 99, 2), "f": (0, 999_999, 6),
}  # fmt: skip
_NUMBERS = ("0", "1", "-1", "7", "12", "100", "007", "+3", " 5 ", "1.5", "-0.5", "1e3", "1_000", "0.005", "2.675")


def matching_texts(pattern: str, n: int, generator: random.Random) -> list[str]:
    """Return up to n texts that a regular expression matches, as far as its parts alone decide that."""
    try:
        tree = _parser.parse(pattern)
        made = ["".join(_pieces(tree, generator, {}))[:_MAX_LENGTH] for _ in range(n)]
    except (re.error, RecursionError, OverflowError, ValueError):
        return []
    return list(dict.fromkeys(made))


def formatted_texts(form: str, n: int, generator: random.Random) -> list[str]:
    """Return n texts of a format of ``strptime``."""

    def written(match: re.Match[str]) -> str:
        if match[1] not in _FIELDS:
            return {"p": generator.choice(("AM", "PM")), "b": "Jan", "B": "May", "a": "Mon", "A": "Monday"}.get(
                match[1], match[1]
            )
        low, high, width = _FIELDS[match[1]]
        edges = (low, high, generator.randint(low, high), generator.randint(low, high))
        number = (
            generator.randint(1990, 2030) if match[1] == "Y" and generator.random() < 0.8 else generator.choice(edges)
        )
        return str(number).zfill(width)

    return [re.sub(r"%([A-Za-z%])", written, form)[:_MAX_LENGTH] for _ in range(n)]


def number_texts(n: int, generator: random.Random) -> list[str]:
    """Return n texts of numbers, as they are written and as they are now and then."""
    return generator.sample(_NUMBERS, min(n, len(_NUMBERS)))


def _pieces(tree: Any, generator: random.Random, groups: dict[int, str]) -> Iterator[str]:
    for code, argument in tree:
        if code is codes.LITERAL:
            yield chr(argument)
        elif code in (codes.ANY, codes.NOT_LITERAL):
            yield generator.choice(_ANY)
        elif code is codes.IN:
            yield _one_of_set(argument, generator)
        elif code is codes.BRANCH:
            yield from _pieces(generator.choice(argument[1]), generator, groups)
        elif code is codes.SUBPATTERN:
            inside = "".join(_pieces(argument[-1], generator, groups))
            groups[argument[0]] = inside
            yield inside
        elif code in (codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT):
            least, most, inside = argument
            for _ in range(generator.randint(least, min(int(most), least + 3)) if least < 50 else 50):
                yield from _pieces(inside, generator, groups)
        elif code is codes.ATOMIC_GROUP:
            yield from _pieces(argument, generator, groups)
        elif code is codes.GROUPREF:
            yield groups.get(argument, "")


def _one_of_set(items: list[tuple[Any, Any]], generator: random.Random) -> str:
    """Return a character of a set; of a set that leaves some out, one that it does not."""
    is_negated = items[0][0] is codes.NEGATE
    characters = [_character(item, generator) for item in items if item[0] is not codes.NEGATE]
    if not is_negated:
        return str(generator.choice(characters))
    left = [one for one in _ANY if one not in characters]
    return str(generator.choice(left or [*_ANY]))


def _character(item: tuple[Any, Any], generator: random.Random) -> str:
    code, argument = item
    if code is codes.LITERAL:
        return chr(int(argument))
    if code is codes.RANGE:
        return chr(generator.randint(*argument))
    characters: str = _CATEGORIES.get(argument, _ANY)
    return generator.choice(characters)
