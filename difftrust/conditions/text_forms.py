"""Texts that are said by their parts, as patterns: "two capital letters, a hyphen and a number from 1 to 31"."""

import re
from typing import Final

_MARKS: Final = {
    "hash sign": "#", "hash": "#", "hyphen": "-", "dash": "-", "colon": ":", "dot": r"\.", "period": r"\.",
    "comma": ",", "decimal point": r"\.", "slash": "/", "space": " ", "blank": " ", "underscore": "_",
    "semicolon": ";", "plus sign": r"\+", "minus sign": "-", "equals sign": "=", "at sign": "@", "percent sign": "%",
}  # fmt: skip
_WORDS: Final = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
_N = rf"(?:\d{{1,2}}|{'|'.join(_WORDS)}|an?(?= ))"
_COUNT = (
    rf"(?:at least (?P<from>{_N})|up to (?P<most>{_N})"
    rf"|(?:exactly )?(?P<few>{_N})(?P<more> or more| (?:to|or) (?P<many>{_N}))?)"
)
_PLAIN = r"(?:(?:decimal|ascii|latin|english|plain) )*"
_KINDS: Final = {
    rf"{_PLAIN}(?:capital|upper-?case) {_PLAIN}letter": "[A-Z]",
    rf"{_PLAIN}(?:small|lower-?case) {_PLAIN}letter": "[a-z]",
    rf"{_PLAIN}letter": "[A-Za-z]",
    r"(?:small |lower-?case )hex(?:adecimal)? digit": "[0-9a-f]",
    r"(?:capital |upper-?case )hex(?:adecimal)? digit": "[0-9A-F]",
    r"hex(?:adecimal)? digit": "[0-9a-fA-F]",
    rf"{_PLAIN}digit": "[0-9]",
    rf"(?:{_N}|single)-digit [a-z]+": "",
    rf"{_PLAIN}number": "[0-9]+",
    **_MARKS,
}
_RANGE = r"\(?(?:from |between )?(?P<low>[A-Za-z]|\d+)(?: ?[-–] ?| to | and | through )(?P<high>[A-Za-z]|\d+)\b\)?"
_PART = re.compile(
    rf"(?:an? )?(?P<quote>[\"']|``?)(?P<text>[^\"'`]{{1,20}})(?P=quote)"
    rf"|{_COUNT} (?:(?P<kind>{'|'.join(_KINDS)})(?:e?s)?\b(?:,? {_RANGE})?"
    r"(?: or (?:an? )?(?:capital |letter )?[\"'`]?(?P<other>[A-Z])\b[\"'`]?)?"
    r"(?:,? (?:\(|in )(?:upper[- ]or lower|upper or lower|either)[- ]?case\)?)?"
    rf"|[a-z]+(?: [a-z]+)?,? (?:from|between) {_RANGE.replace('low', 'first').replace('high', 'last')})",
    re.IGNORECASE,
)
_PAIRS = re.compile(rf"\b({_N}) pairs of (?=\w)", re.IGNORECASE)
_GROUPS = re.compile(rf"({_N}) (?:groups|blocks) of ", re.IGNORECASE)
_JOIN = re.compile(
    r"(?:,| and|, and)?(?: (?:which|that) (?:is|are))? (?:(?:directly |immediately )?followed by|then|and|plus) |, ",
    re.IGNORECASE,
)
_START = re.compile(rf"(?:\b(?:{_N}|exactly|at least|up to|words)|(?<!\w)[\"'`]) ?", re.IGNORECASE)
"""Where a part may begin."""
_IN_ORDER = re.compile(r"\bfollowed by\b|\bthen\b|\bfrom\b|\bseparated by\b", re.IGNORECASE)
_APART = re.compile(rf",? (?:separated|joined) by (?:single |an? )?({'|'.join(_MARKS)})s?\b", re.IGNORECASE)
_LISTED = re.compile(
    rf"(?:one or more |at least one )?words(?: of (?P<kind>{'|'.join(_KINDS)})s?)?,? (?:all )?"
    rf"(?:separated by|with) (?:single|exactly one|one) (?P<mark>{'|'.join(_MARKS)})s?\b"
    r"(?: between (?:them|neighbours|words|any two(?: of them)?))?(?:,? and none at (?:the|either) ends?)?",
    re.IGNORECASE,
)
_BEFORE = re.compile(
    r"(?:^|: | [-–] "
    r"|\b(?:(?:made (?:up )?|consists? |consisting |composed )?of|(?:in|of) the form|that is,?|is|are|be) )$",
    re.IGNORECASE,
)
_APPOSED = re.compile(r"^[^,.:;]{1,40}, $")
_BEHIND = re.compile(
    r"$|[.;]|,? ?\(?(?:e\.g\.|(?:like|such as|as in|for example|for instance|in (?:lower|upper)[ -]?case)\b)",
    re.IGNORECASE,
)


def with_forms(sentence: str) -> str:
    """Return a sentence with what is said by two parts or more as its pattern, between two control characters."""
    text = _PAIRS.sub(r"\1 groups of two ", sentence)
    for match in _START.finditer(text):
        start = match.start()
        is_apposed = _APPOSED.search(text[:start]) is not None
        found = _form_at(text, start) if is_apposed or _BEFORE.search(text[:start]) else None
        said = text[start : found[1]] if found is not None else ""
        if (is_apposed or re.search("[\"'`]", said)) and not _IN_ORDER.search(said):
            continue  # "letters, a comma and a hyphen"; "'r' and 'w'"
        if found is not None and _BEHIND.match(text, found[1]):
            return f"{text[:start]}\x02{found[0]}\x03{text[found[1] :]}"
    return sentence


def _form_at(text: str, at: int) -> tuple[str, int] | None:
    """Return the pattern of what is said from a place on, and where it ends; None where that is not several parts."""
    if listed := _LISTED.match(text, at):
        mark = _MARKS[listed["mark"].lower()]
        one = f"{_plain(listed['kind'])}+" if listed["kind"] else rf"[^{mark}\s]+"
        return f"{one}(?:{mark}{one})*", listed.end()
    if groups := _GROUPS.match(text, at):
        part = _PART.match(text, groups.end())
        return _apart(text, part.end(), _pattern(part), _number(groups[1])) if part else None
    patterns = []
    while part := _PART.match(text, at):
        patterns.append(_pattern(part))
        at = part.end()
        join = _JOIN.match(text, at)
        if join is None or not _PART.match(text, join.end()):
            break
        at = join.end()
    if part and len(patterns) == 1 and part["few"] and not part["more"]:
        return _apart(text, at, _class_of(part), _number(part["few"]))
    return ("".join(patterns), at) if len(patterns) > 1 and all(patterns) else None


def _apart(text: str, at: int, one: str, n: int) -> tuple[str, int] | None:
    """Return the pattern of n times ``one`` with what is said to be between, and where that ends; None if it is not."""
    mark = _APART.match(text, at)
    return (f"{one}(?:{_MARKS[mark[1].lower()]}{one}){{{n - 1}}}", mark.end()) if mark and one and n > 1 else None


def _pattern(part: re.Match[str]) -> str:
    """Return the pattern of one part, "" where it has none."""
    if part["text"]:
        return re.escape(part["text"])
    inner, few = _class_of(part), part["few"] and _number(part["few"])
    if part["from"] or part["most"]:
        return f"{inner}{{{_number(part['from'])},}}" if part["from"] else f"{inner}{{0,{_number(part['most'])}}}"
    if part["more"]:
        return f"{inner}{{{few},{_number(part['many']) if part['many'] else ''}}}"
    return inner if few == 1 or not inner else f"{inner}{{{few}}}"


def _class_of(part: re.Match[str]) -> str:
    """Return the pattern of one of what a part counts, "" where it has none."""
    low, high = part["low"] or part["first"], part["high"] or part["last"]
    plain = _plain(part["kind"] or "")
    if part["other"]:
        return f"(?:{plain}|{part['other']})" if plain and low is None else ""
    if low is None:
        return plain
    if low.isdigit() and high.isdigit() and int(low) < int(high) and plain[-1:] != "]":
        return f"(?:{'|'.join(_numbers(int(low), int(high)))})"
    is_of_kind = plain == "" or (plain[:1] == "[" and re.fullmatch(plain, low) and re.fullmatch(plain, high))
    is_range = len(low + high) == 2 and low < high and low.isalpha() == high.isalpha()
    return f"[{low}-{high}]" if is_of_kind and is_range else ""


def _plain(kind: str) -> str:
    """Return the pattern of a kind of characters as it is said, "" for none."""
    if "-digit " in kind:
        return f"[0-9]{{{_number(kind.partition('-')[0])}}}"
    return next((pattern for form, pattern in _KINDS.items() if re.fullmatch(form, kind, re.IGNORECASE)), "")


def _numbers(low: int, high: int) -> list[str]:
    """Return patterns that together match the numbers between two, without leading zeros."""
    found = []
    for n in range(len(str(low)), len(str(high)) + 1):
        found += _of_length(str(max(low, 10 ** (n - 1) * (n > 1))), str(min(high, 10**n - 1)))
    return found


def _of_length(low: str, high: str) -> list[str]:
    """Return patterns of the numbers between two that have as many digits."""
    if not low or low[0] == high[0]:
        return [low[0] + rest for rest in _of_length(low[1:], high[1:])] if low else [""]
    more, first, last = len(low) - 1, int(low[0]), int(high[0])
    found = []
    if int(low[1:] or 0) > 0:
        found, first = [low[0] + rest for rest in _of_length(low[1:], "9" * more)], first + 1
    ends = []
    if high[1:] != "9" * more:
        ends, last = [high[0] + rest for rest in _of_length("0" * more, high[1:])], last - 1
    start = str(first) if first == last else f"[{first}-{last}]"
    return [*found, *([start + "[0-9]" * more] if first <= last else []), *ends]


def _number(word: str) -> int:
    return int(word) if word.isdigit() else _WORDS.index(word.lower()) + 1 if word.lower() in _WORDS else 1
