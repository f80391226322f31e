"""Parse words by an ambiguous grammar: earlier alternatives first, repetition greedy, one tree for each end."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

_SIGNS = re.compile(r'"(?P<word>[^"]+)"|->\s*(?P<name>\w+)|(?P<rule>!?[A-Za-z_]\w*)|(?P<sign>[()|?*+])')
_RULE = re.compile(r"^([!?]*)(\w+)\s*:(.*(?:\n\s+\|.*)*)", re.MULTILINE)

Ends = dict[int, tuple[Any, ...]]
"""Where what was parsed may end, and the values of its parts."""
_NOTHING = ""
"""Among the words that a part begins with: it may be empty."""


@dataclass(frozen=True)
class Node:
    """A rule, or the name of the alternative of it, and its parts: nodes, and the words that stand for values."""

    name: str
    parts: tuple[Any, ...]


class Grammar:
    """Rules in the notation of lark: words in quotes, ``( ) | ? * +``, ``-> name`` behind an alternative.

    A capital alone stands for a word of this letter and digits. Words are dropped, but in a rule with ``!``; a rule
    with ``_`` gives its parts to the one that it stands in, and so does one with ``?`` that has one part.
    """

    def __init__(self, text: str):
        self.words = frozenset(re.findall(r'"([^"]+)"', text))
        self.plain: set[str] = set()
        rules: dict[str, list[tuple[str, _Part]]] = {}
        for flags, name, body in _RULE.findall(text):
            self.plain |= {name} if "?" in flags else set()
            rules[name] = list(_alternatives(name, body, keeps="!" in flags))
        before: dict[str, frozenset[str]] = {}
        self.begin = dict.fromkeys(rules, frozenset[str]())
        while before != self.begin:
            before = self.begin
            self.begin = {name: frozenset().union(*(part.first(before) for _, part in rules[name])) for name in rules}
        self.rules = {
            name: [(alternative, part, part.first(self.begin)) for alternative, part in parts]
            for name, parts in rules.items()
        }
        """By name the alternatives, each with what it may begin with."""

    def parse(self, words: Sequence[str], start: str) -> Node | None:
        """Return the tree of all the words as one rule, None where they are none."""
        found = _Parse(self, words).at(start, 0).get(len(words))
        return found[0] if found else None


class _Parse:
    """The words of one parse, and what each rule is at each place."""

    def __init__(self, grammar: Grammar, words: Sequence[str]):
        self.grammar, self.words = grammar, words
        letters = (word[0] if word[:1].isupper() and word[1:].isdigit() else _NOTHING for word in words)
        self.keys = [*({word, letter, _NOTHING} for word, letter in zip(words, letters, strict=True)), {_NOTHING}]
        """What a part that stands at each place may begin with; behind the last word only one that may be empty."""
        self._known: dict[tuple[str, int], Ends] = {}

    def at(self, rule: str, place: int) -> Ends:
        keys = self.keys[place]
        if keys.isdisjoint(self.grammar.begin[rule]):
            return {}
        found = self._known.get((rule, place))
        if found is None:
            found = self._known[rule, place] = {}
            for name, part, begin in self.grammar.rules[rule]:
                for end, parts in () if keys.isdisjoint(begin) else part.at(self, place).items():
                    is_inner = rule[0] == "_" or (rule in self.grammar.plain and len(parts) == 1)
                    found.setdefault(end, parts if is_inner else (Node(name, parts),))
        return found


class _Part(Protocol):
    def at(self, parse: _Parse, place: int) -> Ends:
        """Parse at a place; nothing where it does not fit."""

    def first(self, begin: Mapping[str, frozenset[str]]) -> frozenset[str]:
        """Return the words, and letters of values, that it may begin with; ``begin``: what rules may."""


@dataclass(frozen=True)
class _Word:
    key: str
    """The word itself, or the letter of a value."""
    keeps: bool

    def at(self, parse: _Parse, place: int) -> Ends:
        return {place + 1: (parse.words[place],) if self.keeps else ()} if self.key in parse.keys[place] else {}

    def first(self, begin: Mapping[str, frozenset[str]]) -> frozenset[str]:
        return frozenset([self.key])


@dataclass(frozen=True)
class _Rule:
    name: str

    def at(self, parse: _Parse, place: int) -> Ends:
        return parse.at(self.name, place)

    def first(self, begin: Mapping[str, frozenset[str]]) -> frozenset[str]:
        return begin[self.name]


@dataclass(frozen=True)
class _Sequence:
    parts: Sequence[_Part]

    def at(self, parse: _Parse, place: int) -> Ends:
        found: Ends = {place: ()}
        for part in self.parts:
            found = _on(found, part, parse)
            if not found:
                break
        return found

    def first(self, begin: Mapping[str, frozenset[str]]) -> frozenset[str]:
        found = frozenset([_NOTHING])
        for part in self.parts:
            found = found - {_NOTHING} | part.first(begin)
            if _NOTHING not in found:
                break
        return found


@dataclass(frozen=True)
class _Choice:
    options: Sequence[_Part]

    def at(self, parse: _Parse, place: int) -> Ends:
        found = Ends()
        for option in self.options:
            for end, parts in option.at(parse, place).items():
                found.setdefault(end, parts)
        return found

    def first(self, begin: Mapping[str, frozenset[str]]) -> frozenset[str]:
        return frozenset().union(*(option.first(begin) for option in self.options))


@dataclass(frozen=True)
class _Repeated:
    part: _Part
    sign: str

    def at(self, parse: _Parse, place: int) -> Ends:
        once = self.part.at(parse, place)
        if self.sign == "?":
            return {**once, place: once.get(place, ())}
        found, fresh = dict(once), once
        while fresh:
            further = _on(fresh, self.part, parse)
            fresh = {end: parts for end, parts in further.items() if end not in found}
            found |= fresh
        return found if self.sign == "+" else {**found, place: ()}

    def first(self, begin: Mapping[str, frozenset[str]]) -> frozenset[str]:
        return self.part.first(begin) | ({_NOTHING} if self.sign in "?*" else set())


def _alternatives(rule: str, body: str, *, keeps: bool) -> Iterator[tuple[str, _Part]]:
    signs = [(str(m.lastgroup), m[m.lastgroup or 0]) for m in _SIGNS.finditer(body)]
    while signs:
        part, name = _sequence(signs, keeps=keeps), rule
        if signs and signs[0][0] == "name":
            name = signs.pop(0)[1]
        del signs[:1]
        yield name, part


def _sequence(signs: list[tuple[str, str]], *, keeps: bool) -> _Part:
    """Take parts up to the end of an alternative off the signs."""
    parts = list[_Part]()
    while signs and signs[0] not in (("sign", "|"), ("sign", ")")) and signs[0][0] != "name":
        kind, text = signs.pop(0)
        if (kind, text) == ("sign", "("):
            part = _group(signs, keeps=keeps)
        elif kind == "word":
            part = _Word(text, keeps)
        else:
            part = _Word(text, keeps=True) if len(text) == 1 and text.isupper() else _Rule(text)
        while signs and signs[0][0] == "sign" and signs[0][1] in "?*+":
            part = _Repeated(part, signs.pop(0)[1])
        parts.append(part)
    return parts[0] if len(parts) == 1 else _Sequence(parts)


def _group(signs: list[tuple[str, str]], *, keeps: bool) -> _Part:
    options = [_sequence(signs, keeps=keeps)]
    while signs.pop(0) == ("sign", "|"):
        options.append(_sequence(signs, keeps=keeps))
    return _Choice(options)


def _on(before: Ends, part: _Part, parse: _Parse) -> Ends:
    """Return a part behind others; where two ways lead to one end, that whose first part is longer."""
    found = Ends()
    for place, parts in sorted(before.items(), reverse=True) if len(before) > 1 else before.items():
        for end, more in part.at(parse, place).items():
            found.setdefault(end, parts + more)
    return found
