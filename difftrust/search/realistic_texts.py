"""Realistic texts for a parameter, by the kind of text that its name, the docstring or examples speak of.

It stays for what it brings: `make bench-check` finds fewer differences without it.
"""

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from difftrust_core.base.files import read_packaged

_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
PLAIN = "sentence"
"""The kind where nothing speaks for another one."""
_MAX_KINDS = 3
_MAX_TEXTS = 60


@dataclass(frozen=True, kw_only=True)
class _Kind:
    """Texts of one kind, and what tells that a parameter holds such (``realistic_texts.toml``)."""

    name: str
    called: str
    texts: Sequence[str]
    said: str = ""
    like: str = ""


@cache
def _kinds() -> tuple[_Kind, ...]:
    text = read_packaged(__package__, "realistic_texts.toml")
    return tuple(_Kind(name=name, **row) for name, row in tomllib.loads(text).items())


class KnownTexts:
    """Texts for parameters and fields by name: of the kinds that speak for them, those given, and the ``sure`` ones.

    ``examples``: texts that are given for a name. ``sure``: texts that every second one is to be of, for any name.
    """

    def __init__(self, docstring: str, examples: Mapping[str, Sequence[str]], sure: Sequence[str] = ()):
        self._docstring, self._examples, self._sure = docstring, examples, list(sure)
        self._found: dict[str, list[str]] = {}

    def __call__(self, name: str) -> Sequence[str]:
        """Return texts for a name; plain sentences where nothing speaks for a kind."""
        if name not in self._found:
            given = list(self._examples.get(name, ()))
            found = texts_of_kind(name, self._docstring, given) + given
            self._found[name] = found + self._sure * (1 + len(found) // max(1, len(self._sure)))
        return self._found[name]


def texts_of_kind(name: str, docstring: str, examples: Sequence[str]) -> list[str]:
    """Return texts of the kinds that the parameter ``name`` seems to hold, valid ones and near misses.

    Of at most three kinds: those that its examples look like, then those that its name says, then those that the
    docstring speaks of; plain words and sentences where nothing does.
    """
    wanted = set(kinds_of(name, docstring, examples)) or {PLAIN}
    lists = [kind.texts for kind in _kinds() if kind.name in wanted]
    share = _MAX_TEXTS // len(lists)
    return list(dict.fromkeys(text for texts in lists for text in texts[:share]))


def kinds_of(name: str, docstring: str, examples: Sequence[str]) -> list[str]:
    """Return the names of the kinds of text that a parameter seems to hold, three at most, the surest first.

    Texts in general (``text: str``) are no kind where anything says more.
    """
    found = list(dict.fromkeys(_recognised(name, docstring, examples)))[:_MAX_KINDS]
    return [kind for kind in found if kind != PLAIN or len(found) == 1]


def _recognised(name: str, docstring: str, examples: Sequence[str]) -> Iterator[str]:
    long = [example.strip()[:200] for example in examples if len(example) > 2]
    for kind in _kinds():
        if kind.like and any(re.fullmatch(kind.like, example) for example in long):
            yield kind.name
    words = [word.lower() for word in _WORDS.findall(name)]
    for n in range(len(words)):  # the whole name, then what is left without its first words
        ending = " ".join(words[n:])
        for kind in _kinds():
            if not {ending, ending.removesuffix("s")}.isdisjoint(kind.called.split("|")):
                yield kind.name
    for text in (docstring.partition("\n\n")[0], docstring) if docstring else ():
        for kind in _kinds():
            if kind.said and re.search(kind.said, text, re.IGNORECASE):
                yield kind.name
