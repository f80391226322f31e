"""A sentence as tokens: words by their stem, nouns by what they name, and parameters, numbers and texts by value."""

import ast
import re
import tomllib
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from importlib import resources
from typing import Any, Final

from difftrust.conditions.predicates import BUILTINS
from difftrust.conditions.text_forms import with_forms
from difftrust_core.languages.python.syntax import expression

_SCAN = re.compile(
    r"\x02(?P<parts>[^\x03]+)\x03|``(?P<code2>[^`]+)``|`(?P<code>[^`]+)`"
    r"|(?<![\w'\"])(?P<quote>'(?:[^'\\\n]|\\.){0,40}'|\"(?:[^\"\\\n]|\\.){0,40}\")(?!\w)"
    r"|(?P<braces>\{[^{}]{1,200}\})"
    r"|(?P<chain>[\w.()\[\]*+-]+(?:\s*[-+*%/]+\s*[\w.()\[\]]+)*(?:\s*(?:<=|>=|==|!=|<|>|≤|≥)\s*[\w.()\[\]*+-]+)+)"
    r"|(?P<call>len\([A-Za-z_]\w*\))"
    r"|(?P<form>\b(?:YYYY|yyyy|HH|hh|MM|DD|dd)(?:[-:/.T ]?(?:YYYY|MM|mm|DD|dd|HH|hh|SS|ss))+\b)"
    r"|(?P<fields>[\[(][A-Za-z_]\w*(?:, ?[A-Za-z_]\w*)+[\])])"
    r"|(?P<letters>\b(?:[A-Z](?: ?[-–] ?| to | through )[A-Z]|[a-z](?: ?[-–] ?| to | through )[a-z])\b)"
    r"|(?P<sum>\b[A-Za-z_]\w*(?:[-*/+]\d+| [-*/+] \d+)+\b|\b\d+ ?\*\* ?[A-Za-z_]\w*\b)"
    r"|(?P<based>\b0[xXoObB][0-9a-fA-F]+\b)"
    r"|(?P<number>(?:(?<![\w.])|(?<=\.\.))-?\d[\d_]*(?:,\d{3})*(?:\.\d+)?(?:[eE]-?\d+)?(?:\s*(?:\*\*|\^)\s*\d+(?:\s*-\s*1\b)?)?)"
    r"|(?P<word>[^\W\d]\w*(?:['’-][^\W\d]\w*)*)|(?P<symbol><=|>=|!=|==|\.\.+|≤|≥|\S)",
)

WORDS: Final[dict[str, Any]] = tomllib.loads(
    (resources.files(__package__ or "") / "words.toml").read_text(encoding="utf-8")
)


def words_of(key: str) -> frozenset[str]:
    """Return the words of one kind in ``words.toml``."""
    return frozenset(WORDS[key].split())


def _with_quotes(match: re.Match[str]) -> str:
    """Return names of keys as texts, unless they are words of conditions."""
    names = [name for name in re.findall(r"\w+", match[2]) if name != "and"]
    is_plain = {*names} & (_STEM.keys() | words_of("limits") | words_of("duties") | words_of("particles"))
    return match[0] if is_plain else f"{match[1]} {', '.join(map(repr, names))}"


_STEM: Final = {form: stem for stem, forms in WORDS["stems"].items() for form in forms.split()}
_FILLERS: Final = words_of("fillers")
_PARTICLES: Final = words_of("particles")
_GENERAL: Final = frozenset(_STEM.keys() - words_of("quantities")).union(
    *map(words_of, ("general", "limits", "duties", "measures", "measured"))
)
"""Words that name no parameter whose name ends so."""
_TENS: Final = {"thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90}
_SCALES: Final = {"hundred": 100, "thousand": 1000, "million": 10**6, "billion": 10**9}
_NUMBERS: Final = {word: n for n, word in enumerate(WORDS["numbers"].split(), 1)} | _TENS | _SCALES
_WORD = "|".join(_NUMBERS)
_SCALED = re.compile(
    rf"\b(\d+(?:\.\d+)?|an?|{_WORD})[ -]({'|'.join(_SCALES)})\b"
    rf"(?: and ((?:{_WORD}|\d+)(?:-(?:{_WORD}))?)\b(?! (?:{'|'.join(_SCALES)})))?",
    re.IGNORECASE,
)
_JOINED: Final = [(re.compile(pattern, re.IGNORECASE), to) for pattern, to in WORDS["joined"]]
_NAMED_KEYS = re.compile(r"\b(keys|columns|fields) ((?:\w+, )*\w+,? and \w+)\b", re.IGNORECASE)
_LISTS = re.compile(
    r"(?:Q\d+|none)(?: ?(?:,|/|or|and|, or|, and) (?:Q\d+|none)\b)+"
    r"|V\d+(?: , V\d+)+(?: ,)? (?:or|and) V\d+(?= [,;.]| \)| be\b|$)|\S+"
)
"""Texts that are listed, and three numbers or more at the end of a clause."""
_BEFORE_CODE: Final = {"where", "for", "that", "assume", "require", "and", "or", "need", "if", "when", "must", "of"}
_BEFORE_FIELDS: Final = ["pair", "triple", "form", "format", "of", "LIST", ":"]
_FORMS: Final = {
    "YYYY": r"\d{4}", "HH": r"(?:[01]\d|2[0-3])", "SS": r"[0-5]\d", "DD": r"(?:0[1-9]|[12]\d|3[01])",
}  # fmt: skip
_CODE = r"(?:`[a-z][\w-]*`|``[a-z][\w-]*``)"
_LISTED = re.compile(
    r"(?i)(?:^|(?<=one-of )|(?<=either )|(?<= be )|(?<= is )|(?<=keys )|(?<=fields )|(?<=columns ))"
    rf"{_CODE}(?:,? (?:or |and )?{_CODE})+"
)
"""Names in backticks where choices or keys are listed."""
_BARE_WORDS = re.compile(r"(?<=one-of )the words ([^.;]+)|(?<=letters )([A-Z](?:, [A-Z])*,? (?:and|or) [A-Z]\b)")
"""Words and letters that are listed without quotes."""


def _as_texts(text: str, names: Sequence[str]) -> str:
    """Return words in a row, in backticks or not, as texts, where none of them is a parameter."""
    words = [word for word in re.findall(r"[\w-]+", text) if word not in ("and", "or")]
    return text if {*words} & {*names} else ", ".join(map(repr, words))


class Spelled(str):
    """A number that is written as a word: of a list it counts the items, where a numeral may be said of each."""

    __slots__ = ()


@dataclass(frozen=True)
class Tokens:
    """A sentence in the words of the grammar, and the values that its placeholders stand for."""

    words: tuple[str, ...]
    values: Mapping[str, str] = field(default_factory=dict)
    """Of each placeholder (``P0``, ``V1``, ``Q2``, ...) the Python text; of ``P`` and ``I`` the parameter's name."""

    def part(self, start: int, end: int) -> "Tokens":
        """Return some of the words."""
        return Tokens(self.words[start:end], self.values)

    @property
    def names(self) -> frozenset[str]:
        """The parameters that are named."""
        found = {re.match(r"\w*", self.values[word])[0] for word in self.words if re.fullmatch(r"[PIA]\d+", word)}  # type: ignore[index]
        return frozenset(found)


@dataclass(frozen=True)
class _Known:
    """The names of a function: its parameters, and the fields of records by the forms in which words name them."""

    names: tuple[str, ...]
    fields: Mapping[str, str]

    @cached_property
    def nouns(self) -> dict[str, str]:
        """The last parts of names that are several words, where one alone ends so: "the date" of ``due_date``."""
        last = [name.rpartition("_")[2] for name in self.names]
        found = [(part, name) for part, name in zip(last, self.names, strict=True) if last.count(part) == 1]
        return {form: name for part, name in found if part != name and part not in _GENERAL for form in forms_of(part)}

    def shortened(self, noun: str) -> str:
        """Return the parameter whose name is a noun cut short, ``lat`` of "latitude"; "" where none is."""
        found = [
            name
            for name in self.names
            if len(name) > 2 and noun != name and noun.startswith(name) and noun not in _GENERAL
        ]
        return found[0] if len(found) == 1 else ""

    @cached_property
    def shared(self) -> set[str]:
        """Plurals of parts that several names have: "rates" of ``low_rate`` and ``high_rate``."""
        parts = [part for name in self.names for part in {*name.split("_")} - _GENERAL]
        return {forms_of(part)[1] for part in parts if parts.count(part) > 1}


def tokens_of(sentence: str, names: Sequence[str], fields: Collection[str] = ()) -> Tokens:
    """Return a sentence as tokens; ``names``: the parameters; ``fields``: of the records that they hold."""
    sentence = with_forms(_in_python(sentence, names))
    for pattern, to in _JOINED:
        sentence = pattern.sub(to, sentence)
    sentence = _SCALED.sub(_multiplied, sentence)
    sentence = _BARE_WORDS.sub(lambda found: _as_texts(found[1] or found[2], names), sentence)
    sentence = _LISTED.sub(lambda found: _as_texts(found[0], names), sentence)
    sentence = _NAMED_KEYS.sub(_with_quotes, sentence)
    values: dict[str, str] = {}
    words: list[str] = []
    known = _Known(tuple(names), {form: name for name in fields for form in forms_of(name)})
    for kind, text in _tokens(sentence, known, words):
        if len(kind) > 1:
            words.append(text)
            continue
        key = next((k for k, v in values.items() if k[0] == kind and v == text), f"{kind}{len(values)}")
        values[key] = text
        words.append(key)
    return Tokens(tuple(_joined_lists(words, values)), values)


def _in_python(sentence: str, names: Sequence[str]) -> str:
    """Return a sentence with bounds as in mathematics written as Python has them: "1 <= n, m <= 10^4", "xs.length"."""
    sentence = re.sub(r"(?<=\d) ?(?:\^|\*\*) ?(\d+)(?: ?- ?(1)\b)?", lambda m: f"**{m[1]}{'-1' * bool(m[2])}", sentence)
    one = rf"(?:{'|'.join(map(re.escape, names))})" if names else r"(?!)"
    sentence = re.sub(rf"\b({one}(?:\[[a-z]\])*)\.(?:length|size)\b(?!\()", r"len(\1)", sentence)
    one = rf"(?:{one}|len\({one}\))"
    bounds = rf"([^\s`]+ ?(?:<=?|≤) ?)({one}(?:, ?{one})+)( ?(?:<=?|≤) ?[-\w*]+)"
    return re.sub(bounds, lambda m: " and ".join(f"{m[1]}{name}{m[3]}" for name in re.split(", ?", m[2])), sentence)


def _multiplied(match: re.Match[str]) -> str:
    """Return "two hundred and fifty" in digits; what stands behind "between" are two numbers."""
    many, scale, more = (part.lower() for part in match.groups(default=""))
    number = (float(many) if many[0].isdigit() else _NUMBERS.get(many, 1)) * _SCALES[scale]
    added = sum(int(word) if word.isdigit() else _NUMBERS[word] for word in more.split("-") if word)
    if match.string[: match.start()].lower().endswith("between "):
        return f"{number:.0f}{f' and {added}' if more else ''}"
    return f"{number + added:.0f}"


def _joined_lists(words: Sequence[str], values: dict[str, str]) -> Iterator[str]:
    """Yield words, a list of texts as one of them, and a noun once that stands on both sides of "or"."""
    text = re.sub(r"\b([A-Z]+) or \1\b", r"\1", " ".join(words))
    for match in _LISTS.finditer(text):
        if " " not in match[0]:
            yield match[0]
            continue
        listed = dict.fromkeys(values[word] for word in re.findall(r"[QV]\d+", match[0]))
        key = f"L{len(values)}"
        values[key] = f"({', '.join(listed)},)"
        yield key


def _tokens(sentence: str, known: _Known, before: list[str]) -> Iterator[tuple[str, str]]:
    names = known.names
    for match in _SCAN.finditer(sentence):
        kind, text = match.lastgroup or "", match[match.lastgroup or 0]
        if kind in ("code", "code2", "call"):
            token = _of_code(text.strip(), names)
            is_sign = (
                len(text) < 4
                and not re.search(r"\w", text)
                and re.search(
                    r"(?:^| )(?:contain|without|one-of|V\d+|Q\d+ (?:,|or|and|, or|, and))$", " ".join(before[-3:])
                )
            )
            token = ("Q", repr(text)) if token == ("word", "code") and is_sign else token
            is_quoted = before[-1:] in (["match"], ["regex"]) or (
                before[-1:] == ["with"] and before[-2:-1] in (["start"], ["begin"], ["end"])
            )
            yield ("Q", repr(text)) if token == ("word", "code") and is_quoted else token
        elif kind == "quote" and not before and text[1:-1] in names:
            yield "P", text[1:-1]
        elif kind == "quote":
            yield from _of_quote(text)
        elif kind == "braces":
            yield _of_braces(text)
        elif kind == "chain":
            code = text.replace("≤", "<=").replace("≥", ">=").rstrip(".,")
            more = code.count("(") - code.count(")")
            found = _condition(code[max(0, more) : len(code) + min(0, more)], names)
            if found and before[-1:] != ["if"] and text[:2] != "()":
                last = before[-1] if before else ","
                is_aside = re.match(r"\([^()]", text) and last[-1].isalnum() and last not in _BEFORE_CODE | _PARTICLES
                yield from [("symbol", "(")] if is_aside else []
                yield "C", found
                yield from [("symbol", ")")] if (is_aside and more <= 0) or more < 0 else []
            else:
                inner = re.split(r"(<=|>=|==|!=|<|>|≤|≥)", text)
                for part in inner:
                    yield from ([("symbol", part)] if part in "<=>=!=≤≥" and part else _tokens(part, known, before))
        elif kind in ("fields", "letters", "sum"):
            special = _of_special(kind, text, names, before)
            for part in () if special else re.findall(r"\w+|\W", text):
                yield from _tokens(part, known, before)
            yield from special
        elif kind in ("form", "parts"):
            yield "F", repr(form_of(text) if kind == "form" else match["parts"])
        elif kind == "based":
            yield "V", str(int(text, 0))
        elif kind == "number":
            yield "V", text.replace(",", "").replace("^", "**").replace("_", "")
        elif kind == "word":
            yield from _of_word(text, known, before, sentence[match.end() :].lstrip())
        elif text not in "*\"'":
            yield "symbol", {"–": "-", "—": ";", "..": ".."}.get(text, text)


def _of_special(kind: str, text: str, names: Sequence[str], before: list[str]) -> list[tuple[str, str]]:
    """Return "n - 1" as a value, "(name, age)" behind "of the form" as so many parts, "A to Z" as characters."""
    named = {*re.findall(r"[A-Za-z_]\w*", text)} & {*names}
    if kind == "sum" and named:
        return [("V", text)]
    if kind == "fields" and not named and before[-1:] and before[-1] in _BEFORE_FIELDS:
        return [("N", str(text.count(",") + 1))]
    return [("Z", f"{text[0]!r} <= c <= {text[-1]!r}")] if kind == "letters" and not named else []


def _of_code(text: str, names: Sequence[str]) -> tuple[str, str]:
    """Return what stands between backticks: a parameter, a condition, a value, or a word."""
    if text.strip("*") in names:
        return "P", text.strip("*")
    node = _parsed(text)
    if condition := _condition(text, names):
        return "C", condition
    if isinstance(node, ast.Compare | ast.BoolOp) and (found := _names_in(node)) & {*names}:
        return ("C", ast.unparse(node)) if found <= {*names, *BUILTINS.split()} else ("word", "code")
    if isinstance(node, ast.Constant) and node.value is None:
        return "word", "none"
    if isinstance(node, ast.Constant | ast.UnaryOp) and not isinstance(getattr(node, "value", ""), bool):
        return ("Q" if isinstance(getattr(node, "value", None), str | bytes) else "V"), ast.unparse(node)
    if re.fullmatch(r"(?:YYYY|yyyy|HH|hh|MM|mm|SS|ss|DD|dd|[-:/. T])+", text) and len(text) > 4:
        return "F", repr(form_of(text))
    if isinstance(node, ast.Attribute | ast.Subscript) and _names_in(node) & {*names}:
        return "A", ast.unparse(node)
    if node is not None and not isinstance(node, ast.Name) and _names_in(node) & {*names}:
        return "V", ast.unparse(node)
    return "word", "code"


def _of_quote(text: str) -> Iterator[tuple[str, str]]:
    value = ast.literal_eval(text) if _parsed(text) is not None else text[1:-1]
    if re.fullmatch(r"(?:YYYY|HH|MM|DD|SS|[-:/.T ])+", value) and re.search("[A-Z]{2}", value):
        yield "F", repr(form_of(value))
    else:
        yield "Q", repr(value)


def _of_braces(text: str) -> tuple[str, str]:
    node = _parsed(text.replace("`", ""))
    if isinstance(node, ast.Set) and all(isinstance(e, ast.Constant | ast.UnaryOp) for e in node.elts):
        return "L", f"({', '.join(map(ast.unparse, node.elts))},)"
    return "word", "code"


def _of_word(word: str, known: _Known, before: list[str], rest: str) -> Iterator[tuple[str, str]]:
    plain, names = word.lower().replace("’", "'"), known.names
    if word in names and not (
        len(word) == 1 and word in "aI" and re.match(r"[a-z]{3,}", rest) and not _MODAL.match(rest)
    ):
        yield "P", word
    elif plain in names and (
        (not before and len(word) > 1 and (plain not in _PLACES or _MODAL.match(rest)))
        or (word == plain.upper() and _MODAL.match(rest))
    ):
        yield "P", plain
    elif (
        before[-1:] and re.fullmatch(r"an?|each|every|any|no|per|V\d+", before[-1]) and (owner := _owner(plain, names))
    ):
        yield "I", owner
    elif (not before or before[-1] in ("the", "each", "every", "and")) and (
        named := known.nouns.get(plain) or (known.shortened(plain) if len(before) < 2 or before[-1] == "and" else "")
    ):
        yield "P", named
    elif plain in known.fields:
        yield "K", known.fields[plain]
    elif plain.endswith("s") and len(plain) > 3 and plain[:-1] in names:
        yield "P", plain[:-1]
    elif plain in known.shared:
        yield "word", plain
    elif plain in _NUMBERS and not (plain == "one" and before[-1:] == ["any"]):
        yield "V", Spelled(_NUMBERS[plain])
    elif plain == "single" and before[-1:] != ["of"]:
        yield "V", "1"
    elif plain.endswith("s") and before[-2:] == ["NUMBER", "of"] and plain not in _STEM:
        yield "word", "ITEM"
    elif plain == "zero":
        yield "word", "zero"
    elif plain not in _FILLERS:
        yield "word", _STEM.get(plain, plain)


_PLACES: Final = ("first", "last")
"""Names that a sentence begins with before a noun: "First day of the month"."""
_MODAL = re.compile(r"(?:is|are|must|should|shall|may|can|cannot|has|have|needs?|and|or|in|not)\b")


def _owner(word: str, names: Sequence[str]) -> str:
    """Return the parameter whose plural name a word is the singular of."""
    return next((n for n in names if n.lower() in forms_of(word) and n != word), "")


def forms_of(word: str) -> tuple[str, ...]:
    """Return a word and its plural, which is its third person too."""
    many = (
        f"{word[:-1]}ies"
        if word.endswith("y")
        else f"{word}es"
        if word.endswith(("s", "x", "ch", "sh"))
        else f"{word}s"
    )
    return word, many


def _parsed(text: str) -> ast.expr | None:
    try:
        return expression(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def is_expression(text: str) -> bool:
    """Tell whether a text is Python rather than a sentence."""
    return isinstance(_parsed(text.strip("`. ")), ast.Compare | ast.BoolOp | ast.Call)


def _names_in(node: ast.expr) -> set[str]:
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}


def _condition(text: str, names: Sequence[str]) -> str:
    """Return a comparison over parameters, "" if it is none; "xs[i]" is each item of ``xs``."""
    node = _parsed(text)
    if node is None or not isinstance(node, ast.Compare):
        return ""
    text, found = ast.unparse(node), _names_in(node)
    if (item := re.search(r"\b(\w+)\[([a-z])\]", text)) and item[1] in names and item[2] not in names:
        each = next(letter for letter in "xyz" if letter not in {*found, *names})
        inner = _condition(text.replace(item[0], each), (*(n for n in names if n in found - {item[1]}), each))
        return f"all(({inner} for {each} in {item[1]}))" if inner else ""
    return text if found & {*names} and found <= {*names, *BUILTINS.split()} else ""


def form_of(text: str) -> str:
    """Return the pattern of a form that is written in letters: ``YYYY-MM-DD``, ``HH:MM``."""
    is_time, made, rest = False, "", text.upper() if text.islower() else text.replace("dd", "DD").replace("mm", "MM")
    rest = rest.replace("hh", "HH").replace("ss", "SS").replace("yyyy", "YYYY")
    while rest:
        key = next((k for k in ("YYYY", "HH", "MM", "DD", "SS") if rest.startswith(k)), rest[0])
        is_time = is_time or key == "HH"
        made += r"[0-5]\d" if key == "MM" and is_time else r"(?:0[1-9]|1[0-2])" if key == "MM" else _FORMS.get(key, "")
        made += "" if len(key) > 1 else re.escape(key)
        rest = rest[len(key) :]
    return made
