"""The grammar of conditions: a part of a sentence, as tokens, becomes an expression over the parameters."""

import ast
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache, partial
from importlib import resources
from typing import Any, Final

from difftrust.conditions.parser import Grammar, Node
from difftrust.conditions.predicates import negated
from difftrust.conditions.shapes import Field, Shape, records_in
from difftrust.conditions.tokens import WORDS, Spelled, Tokens, forms_of
from difftrust_core.languages.python.syntax import expression

Phrase = Callable[[str, Shape], str]
"""What is said of a value: from its text and shape to a condition, "" where nothing is said."""
Aim = Callable[[Phrase], str]
"""What it is said of: from a phrase to a condition over the parameters."""
STARTS: Final = ("statement", "field", "given", "raised", "loose")
_FITS: Final = {relation: {*kinds.split()} for relation, kinds in WORDS["fits"].items()}
"""Of what kinds of values a relation can be said as a whole; of a list it is said of each item otherwise."""
_NOUNS: Final = {noun: {*kinds.split()} for noun, kinds in WORDS["nouns"].items()}
_MADE: Final = WORDS["made"]
_DISTINCT: Final = "all((a not in _[:i] for i, a in enumerate(_)))"
_VARIABLES: Final = ("x", "y", "z", "item", "each")
_IS_OF_ITEMS = re.compile(r"all\(\((?!.*\benumerate\b)")
_TIMES = re.compile(r"(?:\b|_)(?:date|day|hour|minute|month|second|stamp|time|timestamp|year)s?(?:\b|_)")
"""In the name of numbers that are times."""
_PART: Final = "PART_OF_RECORD_"
"""Before the name of a part that another one of the same record is compared with."""


class Unread(Exception):
    """A part of a sentence is none of the grammar's, or says nothing that can be."""


class Guess(str):
    """A condition of which it is not sure what it is said of."""

    __slots__ = ()


class _OfWhole(Unread):
    """A relation is said of items that only their list can have: "distinct integers"."""


@dataclass(frozen=True, kw_only=True)
class Names:
    """The parameters of a function by name, and the one that a section is about."""

    shapes: dict[str, Shape]
    subject: str = ""
    group: tuple[str, ...] = ()
    """The parameters that the section is about, where they are several."""


@dataclass(frozen=True)
class _Relation:
    kind: str
    meaning: str


@cache
def grammar() -> tuple[Grammar, list[_Relation]]:
    """Return the parser, and the relations by their numbers in it."""
    folder = resources.files(__package__ or "")
    text = (folder / "grammar.txt").read_text(encoding="utf-8")
    relations, rules = list[_Relation](), dict[str, list[str]]()
    for line in (folder / "relations.txt").read_text(encoding="utf-8").splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        place, kind, rest = map(str.strip, line.split("|", 2))
        words, meaning = map(str.strip, rest.rsplit("|", 1))
        rule = "compare" if place == "post" and kind in ("order", "place") else "related" if place == "post" else place
        rules.setdefault(rule, []).append(f"r{len(relations)}")
        text += f"\nr{len(relations)}: {words}"
        relations.append(_Relation(kind, meaning))
    text += "".join(f"\n{rule}: {' | '.join(parts)}" for rule, parts in rules.items())
    return Grammar(text), relations


def read(tokens: Tokens, start: str, names: Names) -> str:
    """Return the condition that some tokens are, "" where they say nothing of values. Raises Unread."""
    tree = grammar()[0].parse(tokens.words, start)
    if tree is None:
        raise Unread("no rule")
    try:
        reader = _Reader(tokens, names)
        found = str(reader.meaning(tree))
        if _PART in found:
            raise Unread("a part of nothing")
        return Guess(found) if reader.guesses else found
    except (SyntaxError, ValueError, TypeError, LookupError, AttributeError, StopIteration, RecursionError) as e:
        raise Unread(type(e).__name__) from None


class _Reader:
    """Makes a condition of a tree, from the leaves up: phrases of what is said, aims of what it is said of."""

    def __init__(self, tokens: Tokens, names: Names):
        self._values, self._names = tokens.values, names
        records = (record for shape in names.shapes.values() for _, record in records_in(shape, ""))
        self._fields = {each.name for record in records for each in record.fields}
        self.guesses = self._compares_it = False
        """Whether a noun that names no parameter was taken for one."""

    def meaning(self, node: Node) -> Any:
        """Return what a node says: the method of its name makes it of what its parts say."""
        parts = [self.meaning(p) if isinstance(p, Node) else self._values.get(p, p) for p in node.parts]
        made = getattr(self, node.name, None)
        if made is not None:
            return made(*parts)
        if re.fullmatch(r"r\d+", node.name):
            found = grammar()[1][int(node.name[1:])]
            text = found.meaning
            for n, part in enumerate(p for p in parts if isinstance(p, str) and p not in ("not", "never")):
                is_sized = part in self._names.shapes and self._names.shapes[part].kind in _FITS["size"]
                is_sized &= found.kind in ("size", "longer") and f"len(${n})" not in text
                text = text.replace(f"${n}", f"len({part})" if is_sized else part)
            text = text.replace(" 1 * ", " ")
            if found.meaning == "c in $0" and text.startswith("c in '") and len(ast.literal_eval(text[5:])) > 1:
                text = f"c == {text[5:]}"  # a text of several characters
            if any(isinstance(part, Spelled) for part in parts) and re.fullmatch(r"_ [<>]=? \d+", text):
                return partial(self._order_or_count, text)
            if "not any((" in text or text.startswith("any(("):  # of what is forbidden the larger class
                text = text.replace("c == ' '", "c.isspace()")
            return text if found.kind == "" else partial(self._relation, found.kind, text)
        return parts[0] if len(parts) == 1 else None

    # What is said.

    def _relation(self, kind: str, meaning: str, of: str, shape: Shape) -> str:
        fits = _FITS[kind]
        if set(re.findall(r"\w+", of)) & set(re.findall(r"\w+", meaning)) & self._names.shapes.keys():
            raise Unread("compared with itself")
        compared_with = [self._names.shapes[n] for n in re.findall(r"\w+", meaning) if n in self._names.shapes]
        if kind == "longer" and shape.kind == "number":
            if any(other.fields for other in compared_with):
                raise Unread("as long as what")
            return _put(meaning.replace("len(_)", "_"), of)
        if "sorted(_" in meaning and (len(shape.items.fields) > 1 or (kind == "times" and shape.items.kind == "list")):
            raise Unread("the order of records")
        if meaning == "_ is None" and not shape.may_be_none:
            raise Unread("none of them")
        if several := re.search(r"\bc == ('(?:[^'\\]|\\.){2,}'|\"[^\"]{2,}\")", meaning):
            if meaning != f"{'not ' * meaning.startswith('not')}any(({several[0]} for c in _))":
                raise Unread("characters of several")
            meaning = f"{several[1]}{' not' * meaning.startswith('not')} in _"
        if "sum(_)" in meaning and of in _VARIABLES:
            raise Unread("sum of one of several")
        if kind == "times" and shape.items.kind in ("number", "text") and not _TIMES.search(of):
            return ""  # when each was measured
        if kind == "pairs" and len(shape.items.fields) != 2:
            raise Unread("no pairs")
        if kind == "row" and shape.kind == "dict" and shape.value and shape.value.kind == "list":
            return self._all(f"{of}.values()", partial(self._relation, kind, meaning), shape.value)
        if kind == "row" and shape.kind == "dict" and (meaning == _DISTINCT or "sum(_)" in meaning):
            return _put(meaning, f"list({of}.values())" if meaning == _DISTINCT else f"{of}.values()")
        if kind == "row" and shape.kind in ("number", "text", "moment", "item"):
            raise _OfWhole(f"{kind} of {shape.kind}")
        if shape.kind == "text" and re.fullmatch(r"_ [!=]= -?[\d.]+", meaning):
            raise Unread("a number for a text")
        if shape.kind == "number" and " in ('" in meaning:
            raise Unread("texts of numbers")
        compared = {other.kind for other in compared_with}
        if kind == "order" and shape.kind == "number" and compared & _FITS["size"] and not re.search(r"[(\[]", meaning):
            raise Unread("a number and a list")
        if kind == "order" and shape.kind == "text" and compared == {"text"}:
            return _put(meaning, of)  # dates as texts
        if shape.kind in fits and not (kind == "rows" and shape.items.kind not in ("list", "any", "text")):
            return _put(meaning, of)
        if shape.others and " in ('" in meaning:
            return f"not isinstance({of}, str) or {_put(meaning, of)}"
        if (
            kind in ("number", "order")
            and "number" in shape.others
            and shape.others <= {"number", "text", "flag", "any"}
        ):
            return f"isinstance({of}, str) or {_put(meaning, of)}"
        if shape.kind in ("any", "item") and kind not in ("rows", "place"):
            return _put(meaning, of)
        if shape.kind == "list" and kind not in ("keys", "rows"):
            return self._all(of, partial(self._relation, kind, meaning), shape.items)
        if shape.kind == "dict" and kind in ("number", "order", "text") and shape.value and not shape.fields:
            return self._all(f"{of}.values()", partial(self._relation, kind, meaning), shape.value)
        raise Unread(f"{kind} of {shape.kind}")

    def _order_or_count(self, meaning: str, of: str, shape: Shape) -> str:
        """Say "at least two" of a number, of how many items a list has; "one to five" may be said of each item."""
        phrase = partial(self._relation, "order", meaning)
        is_counted = shape.kind in ("list", "dict") and of.isidentifier()
        return self._of_size(phrase, "size")(of, shape) if is_counted else phrase(of, shape)

    def _all(self, of: str, phrase: Phrase, item: Shape, name: str = "all") -> str:
        if parts := getattr(phrase, "parts", ()) if name == "all" else ():
            return _joined("and", [self._all(of, part, item) for part in parts])
        variable = self._variable(of)
        try:
            inner = phrase(variable, Shape("item") if item.kind == "any" else item)
        except _OfWhole:
            return phrase(f"list({of})" if of.endswith(")") else of, Shape("list", item))
        return f"{name}(({inner} for {variable} in {of}))" if inner else ""

    def _variable(self, of: str) -> str:
        free = {n.id for n in ast.walk(expression(of)) if isinstance(n, ast.Name)} | set(self._names.shapes)
        return next(v for v in _VARIABLES if v not in free)

    def both(self, *parts: Any) -> Phrase:
        phrases = [part for part in parts if callable(part)]
        if len(phrases) == 1:
            return phrases[0]  # type: ignore[no-any-return]

        def said(of: str, shape: Shape) -> str:
            found = [phrase(of, shape) for phrase in phrases]
            if shape.kind == "list" and shape.items.kind == "text" and any(map(_IS_OF_ITEMS.match, found)):
                pairs = zip(found, phrases, strict=True)
                found = [self._all(of, p, shape.items) if text == f"len({of}) > 0" else text for text, p in pairs]
            if len({size for text in found for size in re.findall(r"^len\(\w+\) == \d+", text)}) > 1:
                raise Unread("several sizes")  # "two letters, four digits": one after the other
            return _joined("and", found)

        said.parts = phrases  # type: ignore[attr-defined]
        return said

    def either(self, *parts: Any) -> Phrase:
        phrases = [part for part in parts if callable(part)]
        if len(phrases) == 1:
            return phrases[0]  # type: ignore[no-any-return]

        def said(of: str, shape: Shape) -> str:
            found = [phrase(of, shape) for phrase in phrases]
            if shape.kind == "list" and all(map(_IS_OF_ITEMS.match, found)):
                return self._all(of, said, shape.items)  # each is one or the other
            return _joined("or", found) if all(found) else ""

        return said

    def maybe_not(self, *parts: Any) -> Phrase:
        return self.denies(parts[-1]) if len(parts) > 1 else parts[-1]

    said = maybe_not

    def denies(self, phrase: Phrase) -> Phrase:
        def said(of: str, shape: Shape) -> str:
            found = phrase(of, shape)
            if not found:
                raise Unread("nothing is denied")
            return opposite(found)

        return said

    def np(self, *parts: Any) -> Phrase:
        """Say something of a value that a noun with words before and behind it names."""
        noun = next(p for p in parts if not callable(p))
        phrases = [p for p in parts if callable(p)]

        def said(of: str, shape: Shape) -> str:
            if noun in self._names.shapes and noun != of and self._names.shapes[noun].items is not shape:
                raise Unread(f"{noun} beside {of}")
            return _joined("and", [phrase(of, _named(shape, noun)) for phrase in phrases])

        return said

    def np_of(self, *parts: Any) -> Phrase:
        """The same of a noun whose items are named too: "sorted list of positive integers"."""
        place = next(i for i, p in enumerate(parts) if not callable(p))
        noun, before = parts[place], [p for p in parts[:place] if callable(p)]
        inner, *after = [p for p in parts[place + 1 :] if callable(p)]
        if noun == "NUMBER":  # "a positive number of items"
            one, many = self.np(*before, noun, *after), self._of_size(self.both(*before), "size") if before else None
            return lambda of, shape: (many if many and shape.kind in ("list", "dict") else one)(of, shape)
        if noun not in ("LIST", "DICT", "MATRIX", "TEXT", "ROW"):
            raise Unread(f"{noun} of something")

        def said(of: str, shape: Shape) -> str:
            shape = _named(shape, noun)
            item = shape.items if shape.kind != "dict" else Shape()
            found = [phrase(of, shape) for phrase in before]
            each = self._all(of, inner, item)
            return _joined("and", [*found, each, *(phrase(of, shape) for phrase in after)])

        return said

    inner = np
    inner_of = np_of

    def said_code(self, code: str) -> Phrase:
        return lambda of, shape: code

    def same_rows(self, *_: Any) -> str:
        phrase = partial(self._relation, "rows", "all((len(row) == len(_[0]) for row in _))")
        return self.by_kind("MATRIX")(phrase)

    def only_items(self, inner: Phrase) -> Phrase:
        return lambda of, shape: self._all(of, inner, _listed(shape).items)

    def some_items(self, inner: Phrase) -> Phrase:
        return lambda of, shape: self._all(of, inner, _listed(shape).items, "any")

    def no_items(self, *inner: Phrase) -> Phrase:
        return self.denies(self.some_items(inner[-1]))

    # Sizes.

    def sizing(self, *parts: Any) -> Phrase:
        phrase = next(p for p in parts if callable(p))
        return self._of_size(phrase, "size")

    def sizes(self, *parts: Any) -> Phrase:
        return self._of_size(partial(self._relation, "any", f"_ in {parts[-1]}"), "size")

    def counted(self, phrase: Phrase, unit: str) -> Phrase:
        if unit in self._names.shapes and self._names.shapes[unit].kind == "number":
            raise Unread(f"so many {unit}")
        kind = "size" if unit == "long" else "chars" if unit == "CHAR" else "items"
        size = self._of_size(phrase, kind)
        return size if unit != "column" else lambda of, shape: self._all(of, size, _listed(shape).items)

    def _of_size(self, phrase: Phrase, kind: str) -> Phrase:
        return lambda of, shape: self._relation(kind, phrase("len(_)", Shape("number")), of, shape)

    def exact(self, *value: str) -> Phrase:
        return partial(self._relation, "any", f"_ == {value[-1] if value else 1}")

    def sized(self, *parts: Any) -> Phrase:
        return next(part for part in parts if callable(part))  # type: ignore[no-any-return]

    # Values.

    def it_value(self) -> str:
        if self._names.shapes.get(self._names.subject, Shape()).kind not in ("number", "moment"):
            raise Unread("it")
        self._compares_it = True
        return self._names.subject

    def length_value(self, *parts: str) -> str:
        shape = self._names.shapes.get(parts[-1])
        return parts[-1] if shape is not None and shape.kind == "number" else f"len({parts[-1]})"

    def nought(self) -> str:
        return "0"

    def only_size(self, *_: Any) -> str:
        sized = [name for noun in ("LIST", "DICT") for name in of_noun(self._names.shapes, noun)]
        sized = sized or [name for name in of_noun(self._names.shapes, "TEXT") if name != self._names.subject]
        if len(sized) != 1:
            raise Unread("the length of what")
        return f"len({sized[0]})"

    def the_one(self) -> str:
        """Return the one parameter that has items or is a text, "longer than the list", beside the subject."""
        sized = [n for n, each in self._names.shapes.items() if each.kind in ("list", "dict", "text")]
        if len(sized) != 1 or sized[0] == self._names.subject:
            raise Unread("which one")
        return sized[0]

    def members(self, *values: str) -> str:
        return values[0] if values[0].startswith("(") else f"({', '.join(values)},)"

    def charset(self, *chars: str) -> str:
        return _joined("or", list(chars))

    def size(self, *parts: Any) -> None: ...

    ascending = descending = within = more = less = minimum = maximum = pattern = format = shape = things = letter = (
        size
    )

    # What it is said of.

    def whole(self, *parts: Any) -> Aim:
        name = str(next(p for p in parts if p is not None))
        return self._aim(name, self._names.shapes[name])

    def expression(self, text: str) -> Aim:
        return self._aim(text, Shape())

    def exact_chars(self, phrase: Phrase, chars: str) -> Phrase:
        return self.both(self.counted(phrase, "CHAR"), partial(self._relation, "text", f"all(({chars} for c in _))"))

    def so_many_chars(self, phrase: Phrase, chars: str) -> Phrase:
        if re.fullmatch(r"c == '.'", chars):  # "at most one hyphen", among others
            return partial(self._relation, "text", phrase(f"len([c for c in _ if {chars}])", Shape("number")))
        return self.exact_chars(phrase, chars)

    def _aim(self, text: str, shape: Shape) -> Aim:
        aim: Any = lambda phrase: phrase(text, shape)  # noqa: E731
        aim.text, aim.shape = text, shape
        return aim  # type: ignore[no-any-return]

    def number_of(self, name: str) -> Aim:
        is_number = self._names.shapes[name].kind == "number"
        return self.whole(name) if is_number else self.length(self.whole(name))

    def several(self, *names: str) -> Aim:
        aims = [self.whole(name) for name in names]
        return lambda phrase: _joined("and", [aim(phrase) for aim in aims])

    def kind(self, *word: str) -> str:
        return str(word[-1])

    noun = unit = kind

    def by_kind(self, kind: str) -> Aim:
        own = self._names.shapes.get(self._names.subject, Shape())
        if (
            kind in ("NUMBER", "TEXT", "TIME")
            and own.kind in ("list", "dict")
            and (own.value or own.items).kind in _NOUNS.get(kind, ())
        ):
            return self._each(self.subject())
        found = self._of_kind(kind)
        if len(found) == 1:
            return self.whole(found[0])
        raise Unread(f"{len(found)} parameters are meant by {kind}")

    def _of_kind(self, kind: str) -> list[str]:
        """Return the parameters that a noun may name; the subject of the section first of all."""
        shapes, subject = self._names.shapes, self._names.subject
        if subject:
            if kind in ("INPUT", "ITEM") or shapes[subject].kind in ("any", *_NOUNS.get(kind, ())):
                return [subject]
            raise Unread(f"{subject} is no {kind}")
        if kind == "INPUT":
            return list(shapes)
        if kind == "ITEM":
            return [name for name, shape in shapes.items() if shape.kind in ("list", "dict")]
        return of_noun(shapes, kind)

    def each_item(self, name: str) -> Aim:
        return self._each(self.whole(name))

    def each_of(self, *parts: Any) -> Aim:
        owner = parts[-1] if callable(parts[-1]) else self.subject()
        return self._each(owner)

    def _each(self, aim: Any) -> Aim:
        if aim.shape.kind == "dict":
            return self.values_of(aim)
        listed = _listed(aim.shape)
        return lambda phrase: self._all(aim.text, phrase, listed.items)

    def keys_of(self, owner: Any = None) -> Aim:
        owner = owner or self.by_kind("DICT")
        key = owner.shape.item if owner.shape.kind == "dict" else None
        return lambda phrase: self._all(owner.text, phrase, key or Shape())

    def each_kind(self, *parts: Any) -> Aim:
        """Aim at every item of the one list whose items a noun names, or at all parameters of a kind."""
        kind = str(parts[-1])
        fits, shapes = _NOUNS.get(kind, set()), self._names.shapes
        named = [self._names.subject] if self._names.subject else list(shapes)
        lists = [n for n in named if shapes[n].kind == "list" and shapes[n].items.kind in {*fits, "any"}]
        lists = lists if fits else [n for n in named if shapes[n].kind == "list"]
        dicts = [n for n in named if shapes[n].kind == "dict"]
        if kind in ("INPUT", "NUMBER") and not lists and len(dicts) == 1:
            return self.values_of(self.whole(dicts[0]))
        if kind == "CHAR":
            lists = [n for n in named if shapes[n].kind == "text"]
        if len(lists) == 1:
            return self._each(self.whole(lists[0]))
        several = [n for n in named if shapes[n].kind in fits]
        if lists or kind in ("ITEM", "INPUT") or len(several) < 2:
            raise Unread(f"each {kind}")
        return lambda phrase: _joined("and", [phrase(n, shapes[n]) for n in several])

    def length(self, *parts: Any) -> Aim:
        owner: Any = next(filter(callable, parts), None)
        if owner is None and not self._names.subject:
            return lambda phrase: self._given(self._of_size(phrase, "items"), 1)
        whole: Any = owner or self.subject()
        return lambda phrase: (
            self._given(self._of_size(phrase, "items"), 1)
            if self._compares_it and owner is None
            else self._of_size(phrase, "size")(whole.text, whole.shape)
        )

    def number_of_them(self) -> Aim:
        owner: Any = self.subject()
        return self.length(owner) if owner.shape.kind in ("list", "dict") else self.each_of()

    def total(self, owner: Any = None) -> Aim:
        owner = owner or self.subject()
        return lambda phrase: phrase(f"sum({_of_values(owner)})", Shape("number"))

    def size_of(self, *parts: Any) -> str:
        if self._names.shapes[parts[-1]].items.kind == "list":
            raise Unread(f"so many {parts[-1]}")
        return self.amount_of(*parts[-2:])

    def subject(self) -> Aim:
        if not self._names.subject:
            raise Unread("it")
        return self.whole(self._names.subject)

    def values_of(self, owner: Any) -> Aim:
        return lambda phrase: self._all(f"{owner.text}.values()", phrase, owner.shape.value or Shape())

    # Parts of records.

    def _record(self, name: str) -> tuple[str, str, tuple[Field, ...]]:
        """Return the one parameter with records that have a part of this name, where they are, and all their parts."""
        shapes, subject = self._names.shapes, self._names.subject
        named = [subject] if subject and shapes[subject].kind not in ("number", "text") else list(shapes)
        found = [
            (owner, where, record.fields)
            for owner in named
            for where, record in records_in(shapes[owner], owner)
            if name in {each.name for each in record.fields}
        ]
        if len(found) != 1:
            raise Unread(f"{name} of {len(found)} records")
        return found[0]

    def part(self, *parts: Any) -> Aim:
        name = next(p for p in parts if p in self._fields)
        owner, where, fields = self._record(name)
        of = next(each for each in fields if each.name == name)

        def said(phrase: Phrase) -> str:
            if inner := getattr(phrase, "parts", ()):
                return _joined("and", [said(each) for each in inner])
            if not where:
                return _with_parts(phrase(owner + of.access, of.shape), owner, fields)
            one = self._variable(where)
            try:
                text = _with_parts(phrase(one + of.access, of.shape), one, fields)
            except _OfWhole:
                return phrase(f"[{one}{of.access} for {one} in {where}]", Shape("list", of.shape))
            return f"all(({text} for {one} in {where}))" if text else ""

        return said

    def part_value(self, name: str) -> str:
        return f"{_PART}{name}"

    def _of_parts(self, name: str, meaning: str) -> str:
        """Return a relation of the list of one part of all records."""
        _, where, fields = self._record(name)
        if not where:
            raise Unread(f"{name} of one record")
        of = next(each for each in fields if each.name == name)
        one = self._variable(where)
        return _put(meaning, f"[{one}{of.access} for {one} in {where}]")

    def no_parts_alike(self, *parts: Any) -> str:
        return self._of_parts(parts[-1], _DISTINCT)

    def parts_same(self, *parts: str) -> str:
        return self._of_parts(parts[-1], "len(set(_)) <= 1")

    def sorted_by(self, *parts: str) -> Phrase:
        return lambda of, shape: self._of_parts(parts[-1], "list(_) == sorted(_)")

    def strictly_by(self, *parts: str) -> Phrase:
        return lambda of, shape: self._of_parts(parts[-1], "all((a < b for a, b in zip(_, _[1:])))")

    def distinct_by(self, *parts: str) -> Phrase:
        return lambda of, shape: self._of_parts(parts[-1], _DISTINCT)

    def part_of_date(self, part: str, owner: Any = None) -> Aim:
        owner = owner or self.subject()
        if owner.shape.kind != "moment":
            raise Unread(f"{part} of {owner.shape.kind}")
        return self._aim(f"{owner.text}.weekday()" if part == "weekday" else f"{owner.text}.{part}", Shape("number"))

    date_part = kind

    def keys_subset(self, *parts: Any) -> str:
        *own, other = [part for part in parts if part in self._names.shapes]
        one: Any = self.whole(own[0]) if own else self.subject()
        if one.shape.kind != "dict":
            raise Unread(f"keys of {one.shape.kind}")
        return f"set({one.text}) <= set({other})"

    def apart(self, *parts: Any) -> str:
        """Return what holds of the distance of two parameters."""
        names = [part for part in parts if part in self._names.shapes] or list(self._names.shapes)
        kinds = {self._names.shapes[name].kind for name in names}
        if len(names) != 2 or kinds not in ({"moment"}, {"number"}):
            raise Unread("distance of what")
        distance = f"{names[0]} - {names[1]}"
        of = f"abs(({distance}).days)" if kinds == {"moment"} else f"abs({distance})"
        return next(part for part in parts if callable(part))(of, Shape("number"))  # type: ignore[no-any-return]

    def first_of(self, *parts: Any) -> str:
        return self._at(parts, 0)

    def last_of(self, *parts: Any) -> str:
        return self._at(parts, -1)

    def _at(self, parts: Sequence[Any], index: int) -> str:
        """Return an item of a list, or a part of it where the list holds records."""
        name = parts[-1]
        items, part = self._names.shapes[name].items, next((p for p in parts if p in self._fields), "")
        if self._names.shapes[name].kind != "list" or bool(items.fields) != bool(part):
            raise Unread(f"an item of {name}")
        access = next((field.access for field in items.fields if field.name == part), "")
        return f"{name}[{index}]{access}"

    def part_of_each(self, *parts: Any) -> str:
        """Say something of parts that records have: "each has a name and an amount above 0"."""
        return _joined("and", [text for text in parts if " " in text])

    def part_said(self, *parts: Any) -> str:
        phrases = [part for part in parts if callable(part)]
        return self.part(*parts)(self.both(*phrases)) if phrases else ""

    def part_before(self, *parts: Any) -> str:
        return self._ordered(parts, "<")

    def part_after(self, *parts: Any) -> str:
        return self._ordered(parts, ">")

    def never_before(self, *parts: Any) -> str:
        return self._ordered(parts, ">=")

    def _ordered(self, parts: Sequence[Any], sign: str) -> str:
        first, second = [part for part in parts if isinstance(part, str)][-2:]
        return self.part(first)(partial(self._relation, "order", f"_ {sign} {_PART}{second}"))

    # Whole sentences.

    def stated(self, aim: Aim, *phrases: Phrase) -> str:
        return aim(self.both(*phrases))

    def bare(self, *parts: Any) -> str:
        return self.whole(next(p for p in parts if not callable(p)))(self.both(*parts))

    def not_all(self, *parts: Any) -> str:
        """Say that something does not hold of all items: "the weights must not all be zero"."""
        aim = parts[0] if parts[1:] else self.subject()
        return ast.unparse(negated(expression(self._each(aim)(parts[-1]))))

    def not_both(self, *parts: Any) -> str:
        """Say that something does not hold of all parameters: "two integers that are not both zero"."""
        named = [part for part in parts if part in self._names.shapes] or self._of_kind(str(parts[1]))
        if len(named) < 2 or (parts[0].isdigit() and len(named) != int(parts[0])):
            raise Unread("of whom")
        return _joined("or", [opposite(parts[-1](name, self._names.shapes[name])) for name in named])

    def keyed_of(self, *parts: Any) -> str:
        """Say which keys the one dict has, whatever it is called: "the record has the keys 'a' and 'b'"."""
        named = [part for part in parts if part in self._names.shapes]
        return (self.whole(named[0]) if named else self.by_kind("DICT"))(parts[-1])

    def parts_compared(self, *parts: Any) -> str:
        pairs = zip(parts[::2], parts[1::2], strict=True)
        return _joined("and", [self.part(name)(phrase) for name, phrase in pairs])

    def nothing(self, phrase: Phrase) -> str:
        return self.by_kind("INPUT")(self.denies(phrase))

    def none_of(self, *parts: Any) -> str:
        return self.each_kind(parts[0])(self.denies(parts[-1]))

    def member(self, values: str, *_: Any) -> str:
        return self.phrased(partial(self._relation, "any", f"_ in {values}"))

    def none_numbered(self, *parts: Any) -> str:
        return self.none_of(parts[-2], parts[-1])

    def only_these(self, *parts: Any) -> str:
        chars, *named = [part for part in parts if part is not None]
        aim: Any = self.whole(named[0]) if named else self.by_kind("TEXT")
        return str(aim(partial(self._relation, "text", f"all(({chars} for c in _))")))

    def ends_said(self, phrase: Phrase) -> str:
        """Say something of both ends of each pair."""
        aim: Any = self.subject()
        if len(aim.shape.items.fields) != 2:
            raise Unread("no pairs")
        return self._all(aim.text, lambda of, shape: self._all(of, phrase, shape.items), aim.shape.items)

    def rows_of(self, *parts: Any) -> str:
        name = next(part for part in parts if part in self._names.shapes)
        return self.whole(name)(partial(self._relation, "rows", "all((len(row) == len(_[0]) for row in _))"))

    def no_one_of(self, *parts: Any) -> str:
        names, phrases = [p for p in parts if isinstance(p, str)], [p for p in parts if callable(p)]
        aims = [self.whole(name) for name in names]
        denied = [self.denies(phrase) for phrase in phrases]
        return _joined("and", [(aim if names[1:] else self._each(aim))(phrase) for aim in aims for phrase in denied])

    def no_item(self, name: str, *phrases: Phrase) -> str:
        return _joined("and", [self.each_item(name)(self.denies(phrase)) for phrase in phrases])

    def bare_not(self, *parts: Any) -> str:
        name = next(p for p in parts if not callable(p))
        return self.whole(name)(self.denies(self.both(*parts)))

    def given_size(self, phrase: Phrase, *_: Any) -> str:
        subject = self._names.shapes.get(self._names.subject)
        if subject is not None and subject.kind == "number":
            return self.phrased(phrase)  # "number of tills; there must be at least one"
        size = self._of_size(phrase, "items")
        return self.phrased(size) if subject else self._given(size, 1)

    def size_of_some(self, *parts: Any) -> str:
        self.guesses = True
        return self.given_size(next(part for part in parts if callable(part)))

    def none_twice(self, *_: Any) -> str:
        phrase = partial(self._relation, "row", _DISTINCT)
        return self.phrased(phrase) if self._names.subject else self._given(phrase, 1)

    def distinct_names(self, *_: Any) -> str:
        return self.phrased(partial(self._relation, "row", _DISTINCT))

    def none_alike(self, *nouns: Any) -> str:
        """Say that items differ, or values of a dict: "no two players have the same score"."""
        meant = [
            name for noun in nouns if isinstance(noun, str) for name in forms_of(noun) if name in self._names.shapes
        ]
        self.guesses = not meant
        aim: Any = self.whole(meant[0]) if meant else self.subject() if self._names.subject else self.by_kind("ITEM")
        return self._relation("row", _DISTINCT, _of_values(aim), Shape("list"))

    def none_phrased(self, *parts: Any) -> str:
        return self.each_phrased(self.denies(parts[-1]))

    def each_phrased(self, *parts: Any) -> str:
        return self._not_sized(self._each(self.subject())(parts[-1]), self._names.subject)

    def some_of_them(self, *parts: Any) -> str:
        """Say something of so many items: "at least one of which is positive"."""
        count = next(part for part in parts if isinstance(part, str) and part.isdigit())
        aim: Any = self.subject() if self._names.subject else self.by_kind("LIST")
        listed, one = _listed(aim.shape), self._variable(aim.text)
        said = parts[-1](one, listed.items)
        text = f"any(({said} for {one} in {aim.text}))"
        return text if count == "1" else f"len([{one} for {one} in {aim.text} if {said}]) >= {count}"

    def all_of_them(self, *parts: Any) -> str:
        """Say something of the parameters named before, of the items of one alone, or of the characters of a text."""
        named = [self._names.subject] if self._names.subject else self._named()
        *_, said = parts
        if isinstance(said, str):
            said = partial(self._relation, "text", f"all(({said} for c in _))")
        alone = self._names.shapes[named[0]].kind in ("list", "dict") and len(named) == 1
        aim = self._each(self.whole(named[0])) if alone else self.several(*named)
        return self._not_sized(aim(said), named[0])

    def _not_sized(self, text: str, name: str) -> str:
        """Raise Unread where characters of a text have a size: "1.10, each of them one or more digits"."""
        if self._names.shapes[name].kind == "text" and "len(" in text:
            raise Unread("of parts")
        return text

    def _named(self) -> list[str]:
        found = [text for key, text in self._values.items() if key[0] == "P"]
        if not found:
            raise Unread("of whom")
        return found

    def phrased_size(self, phrase: Phrase, *_: Any) -> str:
        return self.phrased(self._of_size(phrase, "size"))

    def must_be(self, *parts: Any) -> Phrase:
        return partial(self._relation, "text", f"_ == {parts[-1]}")

    def one_or_more(self, least: str, *_: Any) -> str:
        """Say that a parameter that takes one or several is given: "one or more column names"."""
        name, kind = self._names.subject, self._names.shapes[self._names.subject].kind
        if int(least) != 1 or kind in ("number", "list", "dict"):
            raise Unread("so many")
        return f"len({name}) >= 1" if kind == "text" else f"not isinstance({name}, list | tuple) or len({name}) >= 1"

    def phrased(self, *parts: Any) -> str:
        return self.subject()(parts[-1])

    def coded(self, *parts: Any) -> str:
        return str(parts[-1])

    def all_same_size(self, *parts: Any) -> str:
        many = next((int(part) for part in parts if isinstance(part, str) and part.isdecimal()), 2)
        found = [f"len({n})" for n, shape in self._names.shapes.items() if shape.kind in ("list", "text")]
        if len(found) != many or many < 2:
            raise Unread("both")
        return " == ".join(found)

    def disjoint(self, *parts: Any) -> str:
        """Say that two collections share nothing, of dicts no key: the two that are named, else the only two."""
        named = [part for part in parts if isinstance(part, str) and part in self._names.shapes]
        found = named or [n for n, shape in self._names.shapes.items() if shape.kind in ("list", "dict")]
        if len(found) != 2 or not all(self._names.shapes[name].kind in ("list", "dict") for name in found):
            raise Unread("both")
        one = self._variable(found[0])
        return f"all(({one} not in {found[1]} for {one} in {found[0]}))"

    def same_group(self, *alike: str) -> str:
        first, *others = self._names.group or (self._names.subject,)
        if not others and alike[-1] == "shape":
            raise Unread("one alone")
        if not others:
            return self.rows_of(first)
        form = "{}.shape == {}.shape" if alike[-1] == "shape" else "len({}) == len({})"
        return _joined("and", [form.format(first, other) for other in others])

    def denied(self, phrase: Any, *_: Any) -> str:
        return self._allowance(self.denies(lambda of, shape: _quantified(phrase(of, shape), "any")))

    def allowed(self, phrase: Any) -> str:
        return self._allowance(lambda of, shape: _quantified(phrase(of, shape), "all"))

    def phrased_not(self, *parts: Any) -> str:
        return self.phrased(self.denies(next(p for p in reversed(parts) if callable(p))))

    def _allowance(self, phrase: Phrase) -> str:
        """Return what holds where something is allowed or not, of the one parameter of which it can be said."""
        named = [self._names.subject] if self._names.subject else list(self._names.shapes)
        found = []
        for name in named:
            try:
                found.append(phrase(name, self._names.shapes[name]))
            except Unread:
                continue
        if len(found) != 1:
            raise Unread("of several")
        return found[0]

    def chosen(self, name: str | None, members: str) -> str:
        aim = self.whole(name) if name in self._names.shapes else self.subject()
        return aim(partial(self._relation, "any", f"_ in {members}"))

    def named_before(self) -> Aim:
        """Aim at the two parameters that the sentence names, at all where it names none and they are two."""
        named = [text for key, text in self._values.items() if key[0] == "P"] or list(self._names.shapes)
        own = self._names.shapes.get(self._names.subject, Shape())
        if own.kind == "list" and own.items.kind == "list" and len(named) != 2:
            return self.subject()  # of pairs
        if len(named) != 2:
            raise Unread("both")
        return self.several(*named)

    def neither(self, phrase: Phrase) -> str:
        return (self._each(self.subject()) if self._names.subject else self.named_before())(self.denies(phrase))

    def names_of(self, name: str) -> Aim:
        is_texts = self._names.shapes[name].kind == "list" and self._names.shapes[name].items.kind == "text"
        return self.each_item(name) if is_texts else self.whole(name)

    def guessed(self, *nouns: str) -> Aim:
        """Aim at the parameters with a noun in their names, else at those not named beside a noun that names none."""
        forms = {form for noun in nouns for form in (noun, noun.removesuffix("s"), *forms_of(noun))}
        if meant := [name for name in self._names.shapes if forms & {*name.split("_")}]:
            return self.several(*meant)
        subject = self._names.shapes.get(self._names.subject)
        if subject is not None and subject.kind in ("list", "dict") and nouns[-1].endswith("s"):
            return self.each_of()
        named = {text for key, text in self._values.items() if key[0] in "PI"}
        others = [name for name in self._names.shapes if name not in named]

        def said(phrase: Phrase) -> str:
            found = []
            for name in others:
                with suppress(Unread):
                    found.append(phrase(name, self._names.shapes[name]))
            is_form = any("re." in text for text in found)
            self.guesses = not is_form
            if not found or (is_form and not 1 < len(found) == len(self._names.shapes)):
                raise Unread("of none, or of some and not known to be of others")
            return _joined("and", found)

        return said

    def noted(self, *_: Any) -> bool:
        return True

    someone = no_one = noted

    def number_of_rows(self) -> str:
        rows = [n for n, shape in self._names.shapes.items() if shape.kind == "list" and shape.items.kind == "list"]
        if len(rows) != 1:
            raise Unread("rows of what")
        return f"len({rows[0]})"

    def amount_of(self, phrase: Phrase, name: str) -> str:
        shape = self._names.shapes[name]
        return phrase(name, shape) if shape.kind == "number" else self.counts(phrase, name)

    def counts(self, phrase: Phrase, name: str) -> str:
        return self._of_size(phrase, "size")(name, self._names.shapes[name])

    def loose(self, *_: Any) -> str:
        return "order"

    def given(self, phrase: Phrase) -> str:
        """Return what holds of the one parameter that a noun with words around it may name."""
        return self._given(phrase, 1)

    def given_many(self, *parts: Any) -> str:
        n = int(parts[0]) if len(parts) > 1 and parts[0].isdecimal() else 2
        if n < 2:
            raise Unread("one")
        return self._given(parts[-1], n)

    def _given(self, phrase: Any, n: int) -> str:
        found = []
        for name, shape in self._names.shapes.items():
            try:
                if shape.kind != "any":
                    found.append(phrase(name, shape))
            except Unread:
                continue
        if len(found) != n:
            raise Unread(f"{n} parameters")
        return _joined("and", found)

    def any_of(self, *conditions: Any) -> str:
        return _joined("or", [c for c in conditions if isinstance(c, str)])


def of_noun(shapes: Mapping[str, Shape], noun: str, *, items: bool = False) -> list[str]:
    """Return the parameters of the kind that a noun names; ``items``: and those with items or values of the kind."""
    kinds = _NOUNS.get(noun, set())
    inner = {
        name for name, shape in shapes.items() if items and {shape.items.kind, (shape.value or shape).kind} & kinds
    }
    return [name for name, shape in shapes.items() if shape.kind in kinds or name in inner]


def opposite(condition: str) -> str:
    """Return what is denied of a value; of a list whose items were meant, of each of them."""
    node = expression(condition)
    if isinstance(node, ast.BoolOp) and isinstance(node.op, ast.Or):
        return _joined("and", [opposite(ast.unparse(each)) for each in node.values])
    is_of_items = re.match(rf"all\(\(.* for (?:{'|'.join(_VARIABLES)}) in [\w.()]+\)\)$", condition)
    return ast.unparse(negated(expression(_quantified(condition, "any") if is_of_items else condition)))


def _quantified(text: str, name: str) -> str:
    """Return a condition on items, and on the items of these, that is said of all of them, or of any."""
    match expression(text or "None"):
        case ast.Call(
            func=ast.Name(id="any" | "all"),
            args=[ast.GeneratorExp(elt=elt, generators=[ast.comprehension(target=ast.Name(id=one))] as over)],
        ) if "enumerate" not in text:
            inner = ast.unparse(elt)
            inner = _quantified(inner, name) if re.search(rf" in {one}(?:\.values\(\))?\)\)$", inner) else inner
            return f"{name}({ast.unparse(ast.GeneratorExp(elt=expression(inner), generators=over))})"
    return text


def _put(meaning: str, of: str) -> str:
    """Return a relation with a value in its place."""
    return ast.unparse(_Put(of).visit(expression(meaning)))


class _Put(ast.NodeTransformer):
    def __init__(self, of: str):
        self._of = of

    def visit_Name(self, node: ast.Name) -> ast.AST:
        return expression(self._of) if node.id == "_" else node


def _with_parts(text: str, record: str, fields: Sequence[Field]) -> str:
    """Return a condition in which other parts of the same record stand where they are named."""
    for each in fields:
        text = re.sub(rf"\b{_PART}{each.name}\b", record + each.access, text)
    return text


def _joined(word: str, parts: Sequence[str]) -> str:
    """Return conditions joined by "and" or "or", one alone as it is; what says nothing is left out."""
    told = list(dict.fromkeys(filter(None, parts)))
    if len(told) < 2:
        return "".join(told)
    op = ast.And() if word == "and" else ast.Or()
    return ast.unparse(ast.BoolOp(op=op, values=[expression(part) for part in told]))


def _named(shape: Shape, noun: str) -> Shape:
    """Return the shape of a value that a noun names too. Raises Unread where they contradict each other."""
    fits = _NOUNS.get(noun, set())
    if not fits or shape.kind in fits:
        return shape
    if shape.kind in ("any", "item"):
        return replace(shape, kind=_MADE.get(noun, "list"), item=Shape("list") if noun == "MATRIX" else shape.item)
    inner = shape.value if shape.kind == "dict" and shape.value else shape.items
    if shape.kind in ("list", "dict") and noun in ("NUMBER", "TEXT") and inner.kind in {*fits, "any"}:
        return shape
    raise Unread(f"{noun} of {shape.kind}")


def _of_values(aim: Any) -> str:
    """Return the items of what is aimed at, of a dict its values."""
    return f"list({aim.text}.values())" if aim.shape.kind == "dict" else str(aim.text)


def _listed(shape: Shape) -> Shape:
    if shape.kind in ("list", "any", "item", "dict", "text"):
        return shape
    raise Unread(f"items of {shape.kind}")
