"""The clauses of a sentence in prose: which of them state what an argument is, and which say what is done with it."""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final

from difftrust.conditions.grammar import grammar
from difftrust.conditions.tokens import words_of

Words = tuple[str, ...]
BEHAVIOUR: Final = words_of("behaviour")
DUTIES: Final = words_of("duties")
LIMITS: Final = words_of("limits")
_DONE: Final = words_of("done")
_LIMITING: Final = DUTIES | LIMITS | words_of("limiting")
_MEASURES: Final = words_of("measures")
STATIVE: Final = words_of("stative")
_OPENERS: Final = words_of("openers")
_SUBJECTS: Final = words_of("subjects") | _LIMITING
PRONOUNS: Final = words_of("pronouns")
OF_THEM: Final = {("of", "which"), ("of", "them")}
ENDS: Final = words_of("ends")
_KINDS: Final = words_of("kinds")
THINGS: Final = words_of("things")
_EVERY: Final = words_of("every")
_MODALS: Final = words_of("modals")
_EXPLAINS: Final = words_of("explains")
_BESIDE = re.compile(r" \( [^()]* \)|\balways\b")
_PASSIVE = re.compile(r"[a-z]+(?:ed|en)")
_NOUN = re.compile(r"[PIA]\d+|[A-Z]+")


def clauses(words: Words) -> Iterator[Words]:
    """Yield the clauses of a sentence and the signs between them."""
    start = 0
    for i, word in enumerate(words):
        is_cut = (
            word in (";", ":", "(", ")", ".")
            or (word == "," and _opens(words[i + 1 :]))
            or (word in ("which", "whose") and words[i - 1 : i] != ("of",))
            or (word in ("and", "but") and words[i + 1 : i + 2] == ("be",) and any(map(_is_done, words[i + 2 : i + 3])))
        )
        if is_cut:
            yield words[start:i]
            start = i + (word in ";:().,")
            yield words[i:start]
    yield words[start:]


def statements(words: Words) -> Iterator[Words]:
    """Yield the parts of a sentence that have a subject of their own, and what explains them."""
    start = 0
    for i, word in enumerate(words):
        after = words[i + 2 :] if word == "," and words[i + 1 : i + 2] in (("and",), ("but",)) else words[i + 1 :]
        is_new = word in (",", "and", "but") and subject_of(after) and not has_value(after[:1], "VQLFZNC")
        if word in (";", ":", "(", ")", ".") or is_new or (word == "," and {*words[i + 1 : i + 2]} & _EXPLAINS):
            yield words[start:i]
            start = i + 1
    yield words[start:]


def _opens(words: Words) -> bool:
    """Tell whether words behind a comma may begin a clause."""
    first = next((word for word in words if word not in ("and", "but")), "?")
    return bool(first in _OPENERS or _NOUN.fullmatch(first) or has_value((first,)))


def is_done(clause: Sequence[str]) -> bool:
    """Tell whether a clause says what a function does, or when."""
    return bool({*clause} & BEHAVIOUR or {*clause[1:]} & {"where"}) or any(
        a in ("be", "not", "never", "always") and _is_done(b) for a, b in pairwise(clause)
    )


def _is_done(word: str) -> bool:
    is_strange = word not in _LIMITING and word not in grammar()[0].words
    return word in _DONE or bool(is_strange and _PASSIVE.fullmatch(word))


def subject_of(clause: Words) -> Words:
    """Return what stands before the verb of a statement, () where there is no statement."""
    clause = tuple(_BESIDE.sub("", " ".join(clause)).split())
    while clause and clause[0] in ("and", "but", "that", ",", "where", "note", "assume", "require", "so", "thus"):
        clause = clause[1:]
    pairs = zip(("", *clause), clause, strict=False)
    verb = next((i for i, (a, b) in enumerate(pairs) if b in STATIVE and not (b == "never" and a in (",", "but"))), 0)
    subject = clause[:verb]
    opens = verb > 0 and (subject[0] in _SUBJECTS or _NOUN.fullmatch(subject[0]))
    is_many = 0 < verb < 7 and (subject[-1][-1] == "s" or subject[-1] in THINGS or has_value(subject[-1:], "PK"))
    is_one = verb == 1 or is_many or opens or any(a in ("of", "in") and b in PRONOUNS for a, b in pairwise(subject))
    is_permitted = clause[verb : verb + 1] in (("may",), ("can",), ("need",)) and not is_strict(clause)
    return () if not is_one or is_permitted or {*subject} & {"that", "which", "who", ";", ":", "(", "="} else subject


def is_aside(clause: Words, before: Words) -> bool:
    """Tell whether a clause goes on about a parameter that stands right before it: "the amount, never negative"."""
    reach = 8 if clause[:1] in (("which",), ("whose",)) else 3
    far = {",": reach, "(": 2}.get("".join(before[-1:]), 0)
    if {clause[1:3], clause[-2:]} & OF_THEM:
        return before[-1:] in ((",",), ("(",), (";",))
    if has_value(clause, "C") and len(clause) < 6:
        return clause[0] in ("where", "for", "with", "thus", "so", "hence") or clause[0][0] == "C"
    if before[-1:] == (":",):
        return bool(len(clause) > 1 and clause[0] in LIMITS and _NOUN.fullmatch(clause[1]))
    near = before[-far:-1]
    last = max((i for i, word in enumerate(near) if has_value((word,), "PIA")), default=-1) + 1
    is_compound = reach == 3 and any(word.islower() and word.isalpha() for word in near[last:])
    is_near = far and ((last and not is_compound) or before[-2] in _KINDS)
    if clause[:1] and clause[0] in _EVERY and not ({*clause} & (STATIVE | LIMITS | DUTIES) or has_value(clause)):
        return False  # "the first cost 1 each, all further ones 2"
    is_value = has_value(clause[:1]) and not {*clause} & STATIVE
    is_open = is_value or {*clause[:1]} & (_OPENERS | LIMITS)
    is_more = (
        len(clause) > 1
        and not {*clause[1:]} & {"for", "where"}
        and not any(map(_is_done, clause[1:]))
        and not {*clause} <= ENDS
    )
    return bool(is_open and is_more and is_near and before[:1] + before[2:] != ("return", ","))


def has_value(words: Sequence[str], kinds: str = "VQLFZNC") -> bool:
    """Tell whether words hold a placeholder of these kinds."""
    return any(word[0] in kinds and word[1:].isdigit() for word in words)


def limits(words: Sequence[str]) -> bool:
    """Tell whether words are in the language of conditions."""
    return bool({*words} & _LIMITING) or has_value(words) or bool({*words} & _MEASURES and has_value(words, "PA"))


def is_strict(words: Sequence[str]) -> bool:
    """Tell whether words say what has to be, or what is not allowed."""
    pairs = {*pairwise(words)}
    is_modal = any(a in _MODALS and (a, "not") not in pairs - {("must", "not"), ("should", "not")} for a in words)
    return (
        is_modal
        or bool({*words} & DUTIES - _MODALS)
        or bool(pairs & {("can", "not"), ("may", "not"), ("an", "error"), ("a", "mistake")})
        or bool({*words} & {"neither"} and {*words} & {"may", "can"})
    )
