"""Parse words by an ambiguous grammar: earlier alternatives first, repetition greedy, one tree for each end."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

_SIGNS = re.compile(r'"(?P<word>[^"]+)"|->\s*(?P<name>\w+)|(?P<rule>!?[A-Za-z_]\w*)|(?P<sign>[()|?*+])')
_RULE = re.compile(r"^([!?]*)(\w+)\s*:(.*(?:\n\s+\|.*)*)", re.MULTILINE)

Ends = dict[int, tuple[Any, ...]]
"""Where what was parsed may end, and the values of its parts."""
Part = Callable[["_Parse", int], Ends]
"""Parses at a place; nothing where it does not fit."""


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
        self.rules: dict[str, list[tuple[str, Part]]] = {}
        self.plain: set[str] = set()
        for flags, name, body in _RULE.findall(text):
            self.plain |= {name} if "?" in flags else set()
            self.rules[name] = list(self._alternatives(name, body, keeps="!" in flags))

    def parse(self, words: Sequence[str], start: str) -> Node | None:
        """Return the tree of all the words as one rule, None where they are none."""
        found = _Parse(self, words).at(start, 0).get(len(words))
        return found[0] if found else None

    def _alternatives(self, rule: str, body: str, *, keeps: bool) -> Iterator[tuple[str, Part]]:
        signs = [(str(m.lastgroup), m[m.lastgroup or 0]) for m in _SIGNS.finditer(body)]
        while signs:
            part, name = _sequence(signs, keeps=keeps), rule
            if signs and signs[0][0] == "name":
                name = signs.pop(0)[1]
            del signs[:1]
            yield name, part


class _Parse:
    """The words of one parse, and what each rule is at each place."""

    def __init__(self, grammar: Grammar, words: Sequence[str]):
        self.grammar, self.words = grammar, words
        self._known: dict[tuple[str, int], Ends] = {}

    def at(self, rule: str, place: int) -> Ends:
        found = self._known.get((rule, place))
        if found is None:
            found = self._known[rule, place] = {}
            for name, part in self.grammar.rules[rule]:
                for end, parts in part(self, place).items():
                    is_inner = rule[0] == "_" or (rule in self.grammar.plain and len(parts) == 1)
                    found.setdefault(end, parts if is_inner else (Node(name, parts),))
        return found


def _sequence(signs: list[tuple[str, str]], *, keeps: bool) -> Part:
    """Take parts up to the end of an alternative off the signs."""
    parts = list[Part]()
    while signs and signs[0] not in (("sign", "|"), ("sign", ")")) and signs[0][0] != "name":
        kind, text = signs.pop(0)
        part = _group(signs, keeps=keeps) if text == "(" and kind == "sign" else _single(kind, text, keeps=keeps)
        while signs and signs[0][0] == "sign" and signs[0][1] in "?*+":
            part = _repeated(part, signs.pop(0)[1])
        parts.append(part)
    return parts[0] if len(parts) == 1 else lambda parse, place: _in_turn(parts, parse, place)


def _group(signs: list[tuple[str, str]], *, keeps: bool) -> Part:
    options = [_sequence(signs, keeps=keeps)]
    while signs.pop(0) == ("sign", "|"):
        options.append(_sequence(signs, keeps=keeps))

    def parsed(parse: _Parse, place: int) -> Ends:
        found = Ends()
        for option in options:
            for end, parts in option(parse, place).items():
                found.setdefault(end, parts)
        return found

    return parsed


def _single(kind: str, text: str, *, keeps: bool) -> Part:
    def word(parse: _Parse, place: int) -> Ends:
        fits = place < len(parse.words) and parse.words[place] == text
        return {place + 1: (text,) if keeps else ()} if fits else {}

    def value(parse: _Parse, place: int) -> Ends:
        found = parse.words[place] if place < len(parse.words) else ""
        return {place + 1: (found,)} if found[:1] == text and found[1:].isdigit() else {}

    return (
        word
        if kind == "word"
        else value
        if len(text) == 1 and text.isupper()
        else lambda parse, place: parse.at(text, place)
    )


def _repeated(part: Part, sign: str) -> Part:
    def parsed(parse: _Parse, place: int) -> Ends:
        once = part(parse, place)
        if sign == "?":
            return {**once, place: once.get(place, ())}
        found, fresh = dict(once), once
        while fresh:
            further = _on(fresh, part, parse)
            fresh = {end: parts for end, parts in further.items() if end not in found}
            found |= fresh
        return found if sign == "+" else {**found, place: ()}

    return parsed


def _in_turn(parts: Sequence[Part], parse: _Parse, place: int) -> Ends:
    found: Ends = {place: ()}
    for part in parts:
        found = _on(found, part, parse)
    return found


def _on(before: Mapping[int, tuple[Any, ...]], part: Part, parse: _Parse) -> Ends:
    """Return a part behind others; where two ways lead to one end, that whose first part is longer."""
    found = Ends()
    for place, parts in sorted(before.items(), reverse=True):
        for end, more in part(parse, place).items():
            found.setdefault(end, parts + more)
    return found
