"""Texts: drawn from few characters or from known texts, changed by pieces that keep them like texts that occur."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from difftrust.types.base import Draws, Sized

_PIECES = re.compile(r"\d+|[^\W\d_]+|\s+|.", re.DOTALL)
_ODD = " \t\n_-.,:;/'\"()[]{}<>@#$%&*+=!?|\\~^`0aZé€ßİ中😀\u00a0\r\x00\u200b\u0301ẞıﬁÅσς²½٣"
_MAX_LENGTH = 1_000


def pieces_of(text: str) -> list[str]:
    """Return the numbers, words, spaces and other characters of a text, in their order."""
    return _PIECES.findall(text)


def changed_text(text: str, draws: Draws) -> str:
    """Return a text changed in one step: a character, a piece, a known word, its case, its spaces."""
    way = draws.below(len(_WAYS) + 4)
    if way >= len(_WAYS):
        return _with_a_word(text, draws) if draws.words and way % 2 else _character(text, draws)
    return _WAYS[way](text, draws)


def _some_character(text: str, draws: Draws) -> str:
    way = draws.below(4)
    if way == 0 and text:
        return draws.one_of(text)
    if way == 1:
        return draws.one_of(_ODD)
    return draws.one_of(draws.alphabet()) if way == 2 else chr(0x20 + draws.below(0x5F))


def _character(text: str, draws: Draws) -> str:
    """Insert, delete or replace a character."""
    way = draws.below(3) if text else 0
    at = draws.below(len(text) + (way == 0))
    return text[:at] + ("" if way == 1 else _some_character(text, draws)) + text[at + (way > 0) :]


def _cut(text: str, draws: Draws) -> str:
    start, end = sorted((draws.below(len(text) + 1), draws.below(len(text) + 1)))
    way = draws.below(4)
    return (text[:start] + text[end:], text[:end] + text[start:], text[:end], text[start:])[way]


def _piece(text: str, draws: Draws) -> str:
    """Delete, repeat, swap or replace a piece."""
    pieces = pieces_of(text)
    if not pieces:
        return _character(text, draws)
    at, other = draws.below(len(pieces)), draws.below(len(pieces))
    way = draws.below(4)
    if way == 0:
        del pieces[at]
    elif way == 1:
        pieces.insert(at, pieces[at])
    elif way == 2:
        pieces[at], pieces[other] = pieces[other], pieces[at]
    else:
        pieces[at] = pieces[other]
    return "".join(pieces)


def _number(text: str, draws: Draws) -> str:
    """Change a number within the text, its width kept now and then."""
    found = list(re.finditer(r"[0-9]+", text))
    if not found:
        return _piece(text, draws)
    match = draws.one_of(found)
    digits = match.group()
    way = draws.below(5)
    if way < 2 and len(digits) < 19:
        changed = str(max(int(digits) + draws.one_of((-10, -1, 1, 10)), 0))
        changed = changed.zfill(len(digits)) if way else changed
    elif way == 2:
        at = draws.below(len(digits))
        changed = digits[:at] + str(draws.below(10)) + digits[at + 1 :]
    elif way == 3:
        changed = draws.one_of(("0", "00", "1", "9" * len(digits), "0" + digits, "-" + digits, digits + "0"))
    else:
        changed = str(draws.below(10 ** min(len(digits), 18)))
    return text[: match.start()] + changed + text[match.end() :]


def _whole(text: str, draws: Draws) -> str:
    """Change the text as a whole: its case, its blanks, its order, or double it."""
    space = draws.one_of((" ", " ", "  ", "\n", "\t"))
    cases = (text.upper(), text.lower(), text.title(), text.swapcase())
    blanks = (space + text, text + space, space + text + space, text.strip())
    others = (text + text, text[::-1], text[:1] * len(text), "".join(draws.generator.sample(text, len(text))))
    return draws.one_of((*cases, *blanks, *others))


def _edge(text: str, draws: Draws) -> str:
    """Change an end of the text: once more what is there, without it, a blank or a short known word beside it."""
    short = [word for word in draws.words if len(word) <= 2] if draws.chance(0.6) else []
    if short:
        word = draws.one_of(short)
        return word + text if draws.chance(0.5) else text + word
    doubled = (text[:1] + text, text + text[-1:], " " + text, text + " ", text + "\n", "0" + text)
    return draws.one_of((*doubled, text[1:], text[:-1]))


def _repeated(text: str, draws: Draws) -> str:
    """Repeat one character, or give the text a length."""
    if text and draws.chance(0.5):
        at = draws.below(len(text))
        return text[:at] + text[at] * (1 + draws.below(12)) + text[at + 1 :]
    length = draws.other_length()
    return (text * (length // max(len(text), 1) + 1))[:length]


def _with_a_word(text: str, draws: Draws) -> str:
    """Put a known word in the place of the text, at its ends, within it, or in the place of a piece."""
    if not draws.words:
        return _repeated(text, draws)
    word, pieces = draws.one_of(draws.words), pieces_of(text)
    at, way = draws.below(len(pieces) + 1), draws.below(6)
    if way < 3:
        return (word, text + word, word + text)[way]
    return "".join([*pieces[:at], word, *pieces[at + (way == 3) :]])


_WAYS: tuple[Callable[[str, Draws], str], ...] = (
    *(_character, _character, _character, _cut, _cut, _piece, _piece, _number, _number, _whole, _whole),
    *(_repeated, _with_a_word, _with_a_word, _with_a_word, _edge, _edge),
)


@dataclass(eq=False)
class Text(Sized):
    """Texts, of a length between two bounds."""

    pattern: str = ""
    """A regular expression that texts match somewhere; empty: none."""

    def fits(self, value: Any) -> bool:
        return type(value) is str and self._inside(value)

    def _inside(self, value: str) -> bool:
        return self.allows(len(value)) and (not self.pattern or _matches(self.pattern, value))

    def draw(self, draws: Draws) -> str:
        for _ in range(20):
            drawn = self._any(draws)
            if self._inside(drawn):
                return drawn
        return (self._any(draws) + "a" * self.least)[: self.most]

    def _any(self, draws: Draws) -> str:
        known = draws.texts(draws.name)
        if draws.is_eager and draws.words:
            return draws.one_of(draws.words)
        if known and draws.chance(0.7):
            text = draws.one_of(known)
            return changed_text(text, draws) if draws.varies and draws.chance(0.5) else text
        if draws.words and draws.chance(0.2):
            return _with_a_word(_random(self.least, draws) if draws.chance(0.5) else "", draws)
        return _random(self.least, draws)

    def change(self, value: str, draws: Draws) -> str:
        for _ in range(4):
            eager = draws.is_eager and bool(draws.words)
            changed = (_with_a_word if eager else changed_text)(value, draws)[:_MAX_LENGTH]
            if self._inside(changed) and changed != value:
                return changed
        return value


def _random(least: int, draws: Draws) -> str:
    """Return a text of this input's characters, every fourth one repeats a part or reads the same backwards."""
    alphabet = draws.alphabet()
    if draws.chance(0.25):
        unit = "".join([draws.one_of(alphabet) for _ in range(1 + draws.below(4))])
        if draws.chance(0.3):
            return unit + unit[::-1][draws.below(2) :] + "".join(unit[:least])
        return (unit * (draws.length(least) // len(unit) + 1))[: max(least, draws.length(least))]
    return "".join([draws.one_of(alphabet) for _ in range(draws.length(least))])


def _matches(pattern: str, text: str) -> bool:
    try:
        return re.search(pattern, text) is not None
    except (re.error, RecursionError, OverflowError):
        return True


@dataclass(eq=False)
class Octets(Sized):
    """Bytes or byte arrays."""

    kind: type[bytes] | type[bytearray] = bytes

    def fits(self, value: Any) -> bool:
        return isinstance(value, bytes | bytearray) and type(value) is self.kind and self.allows(len(value))

    def draw(self, draws: Draws) -> Any:
        text = Text(least=self.least, most=self.most).draw(draws)
        raw = bytes([draws.below(256) for _ in text]) if draws.chance(0.3) else text.encode("utf-8", "replace")
        return self.kind(raw[: self.most])

    def change(self, value: Any, draws: Draws) -> Any:
        changed = changed_text(bytes(value).decode("latin-1"), draws).encode("latin-1", "replace")[: self.most]
        return self.kind(changed) if len(changed) >= self.least else value
