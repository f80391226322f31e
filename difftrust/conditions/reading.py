"""The conditions of a function as its docstring states them: what was read, and the sentences that could not be."""

import ast
import builtins
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Final

from difftrust.conditions.clauses import (
    BEHAVIOUR,
    DUTIES,
    ENDS,
    LIMITS,
    OF_THEM,
    PRONOUNS,
    THINGS,
    Words,
    clauses,
    has_value,
    is_aside,
    is_done,
    is_strict,
    limits,
    statements,
    subject_of,
)
from difftrust.conditions.grammar import Guess, Names, Unread, grammar, of_noun, opposite, read
from difftrust.conditions.limiting import may_limit
from difftrust.conditions.predicates import Predicate
from difftrust.conditions.sections import CHOICES, Passage, Sections
from difftrust.conditions.shapes import Shape, named_parts, records_in
from difftrust.conditions.tokens import Tokens, is_expression, tokens_of, words_of
from difftrust_core.languages.python.syntax import expression

_BARE: Final = frozenset(",;():.-")
_CUTS: Final = _BARE | {"and", "which", "that", "but"}
_LONGEST, _MOST_CUTS = 40, 5
"""Tokens of a part that is parsed; pieces between cuts that are tried together."""
_ALTERS: Final = words_of("alters")
_RESULTS: Final = words_of("results")
_QUALITIES: Final = words_of("qualities")
_QUESTIONS: Final = words_of("questions")
_MEASURED: Final = words_of("measured")
_NO_NOUNS: Final = _MEASURED | _ALTERS | BEHAVIOUR | words_of("particles")
_MEASURES: Final = words_of("measures")
_COMPARES: Final = words_of("compares")
_OF_A_CASE = ("with", "for", "at", "on")
"""Before a noun that a sentence begins with: what is done in one case, "with 0 days it is the start"."""
_HANDLED = re.compile(r"\( [^()]* \) be [a-z]+ed ")
"""Behind a noun that is no parameter: "negative values (debts) are handled as 0"."""
_GOES_ON: Final = words_of("goes_on")
"""First words of a part that is about the parameter named before."""
_EACH: Final = words_of("each")
_CHARACTERS: Final = words_of("characters")
_LIMITED: Final = words_of("limited")
_UNKNOWN = re.compile(r"(?!.+[^e]ed$)[a-z][a-z'-]+")
"""A word that the grammar has not: where it takes any, it says nothing; but none of what is done, "compared"."""
_BEGINS: Final = {"in", "as", "at", "from", "between", "above", "below", "within", "without", "exactly"}
"""First words of what is said of a value, behind what it is."""
_NEUTRAL: Final = {"the", "a", "an", "of", "and", "lower", "upper", "first", "last", "end", "TIME"}
"""Words of what a parameter is, beside those that the grammar has not."""
_VALUES = re.compile(r"V\d+(?: ,| or| and| V\d+)+")
_PLURAL = re.compile(r"(?!this$)[a-z-]{3,}s")
_PERMITS: Final = words_of("permits")
_NEED_NOT = re.compile(r"\bneed (?:not|no(?= [a-z]))\b|\bnot (?:have to|need(?: to)?)\b|\bnot necessarily\b")
_DENIES: Final = words_of("denies")
_RANGE = re.compile(r"\bV\d+ (?:to|through|-|\.\.) [VP]\d+")
_ORDERS = re.compile(
    r"^an? [a-z-]+ have (?:at least|at most|V\d+ or more) |\bhave (?:.* )?V\d+ [PI]\d+"
    r"|^(?:there be )?(?:exactly )?V\d+ I\d+ (?:for|per) (?:(?:each|every) )?I\d+$"
    r"|\b(?:less|fewer|more) P\d+ than (?:the )?(?:[PI]\d+|CHAR)"
    r"|[PK]\d+ (?:before|after) (?:it|they) [PK]\d+"
    r"|^(?!.*\b(?:for|from|by|if)\b)(?:[a-z-]+ ){2,4}(?:[a-z]+ of )?"
    r"(?:(?:no \w+ than|at (?:least|most)|up to|V\d+ to|between V\d+ and) (?:.* )?V\d+|V\d+ or \w+) [PI]\d+(?: ,|$)"
)
"""One thing happens before another, or there are so many of some: said of arguments whatever the subject is."""
_IS_GIVEN: Final = ("given", "for", "take", "takes", "accept", "accepts", "expects", "over", ",", ";", "(", ":")
"""Before a parameter that is not what something is made of."""
_COUNTING: Final = words_of("counting")
_OF_RESULTS: Final = words_of("of_results")
_BEFORE_GIVEN: Final = words_of("before_given")
_JUDGES = re.compile(
    r"^\s*(?:Is|Are|Does|Do|Can|Has)\b[^.]*\?"
    r"|(?<!matter )(?<!regardless of )\bwhether\b"
    r"|\b(?:[Tt]rue|[Ff]alse|[Vv]alid(?:ate|ates|ity))\b|\b(?:is|are) (?:not )?(?:in)?valid\b"
)
"""A text about what is valid: its plain statements are not on what is allowed."""
_VALIDITY = re.compile(r"(?i)\b(?:(?:in)?valid|well-formed|acceptable|legal|allowed|strong|correct)\b")
_OPTIONAL = re.compile(
    r"\b(?:if|when) (?:it is |they are )?(?:given|provided|specified|present|passed|set|not none|not `*None`*)\b,?"
    r"|\((?:optional|default[^()]*|keyword[- ]only)\)|,?\s*\boptional\b"
    r"|,\s*(?:if|when) (?:supplied|given|present),(?= must| should| has to| may not| cannot)"
    r"|,?\s*\bdefaults? (?:to|is|=|:)?\s*(?:`+[^`]*`+|\w+\([^()]*\)|[^\s,;)]+)",
    re.IGNORECASE,
)
_UNITS: Final = {"ms": 1, "millisecond": 1, "second": 1000, "minute": 60_000, "hour": 3_600_000, "day": 86_400_000}
"""Times in milliseconds."""
_OWN_UNIT = re.compile(rf"(?:\bin |^(?:\w+ )?)({'|'.join(_UNITS)})s?\b")
_TIME = re.compile(rf"(?<![\w.-])(\d+(?:,\d{{3}})*(?:\.\d+)?) ({'|'.join(_UNITS)})s?\b")
_MEANING = re.compile(
    r"\W*(?:(?:negative|positive) (?:in|for|to|towards?) |(?:[VQ]\d+|zero|none) "
    r"(?:mean|make|give|stand|turn|switche|select|denote|stop|keep|leave|disable|enable|show|ask)s\b"
    r"|(?:zero|negative|positive)(?: or (?:zero|negative|positive))? (?:means|if|when) "
    r"|we not [a-z]+\W*$|[VQ]\d+ (?:be|mean|counts as) [VQ]\d+(?: \w+)?\W*$)"
)
"""What a sign or a value means: "negative in the south", "250 is 2.50 Euro"."""
_ISO = re.compile(
    r"\b(?:an? )?(?:valid )?ISO(?:[- ]?8601)?(?:[- ]formatted)? dates?(?: strings?)?(?: \(\W*YYYY-MM-DD\W*\))?"
)
"""What the text of a parameter says of it; in prose it may be what is made of it."""
_THE = re.compile(r"\bthe ", re.IGNORECASE)
_ASIDE = re.compile(
    r"((?:^|[;:] )(?:\w+ ){0,3}(?:results?|outputs?|returned|answers?)(?: \w+){0,2}), (?:[^\s,;]+ ?){1,5},"
    r"(?= (?:has|have|is|are|must|may|can|should|will|contains?|holds?|lies?|comes?)\b)",
    re.IGNORECASE,
)
"""A few words between a result and its verb, "the result, marker included, has": the verb is not theirs."""
_LIKEWISE = re.compile(
    r"\b(?:[Ll]ikewise|[Dd]itto|[Ss]imilarly|[Aa]s above)\b"
    r"|\b[Tt]he same (?:for|as for|holds|applies|form|format|notation|way|rules?|kind|limits?|range)\b",
)
_LEAVES_OPEN = re.compile(
    r"^(?!.*\b(?:if|when|where)\b).*"
    r"(?:\b(?:(?:go|goes|rounded) either way|(?:is|are|be) (?:left open|unspecified))\b"
    r"|\b(?:accurate|precise|correct) (?:to|within)\b"
    r"|\b(?:is|are) (?:not|nowhere) (?:specified|guaranteed|defined|promised)\b)",
    re.IGNORECASE,
)
"""What of a result may differ: how it is rounded, which of several it is."""
_ELSE = re.compile(
    r"\b(?:[Oo]therwise(?! (?:contain|consist|have|has|only)\b)|or else|unless|(?:[Aa]nything|everything) else"
    r"|(?:[Oo]thers?|the rest) (?:means?|are|is|counts?)"
    r"|[Ii]f (?:not\b|(?:it|they|this|that) (?:is|are|does|do|has|have)(?: not|n't))"
    r"|(?:values?|numbers?|anything|everything|ones?|those|lists?|entries)"
    r" (?:above|below|outside|beyond|over|under|longer|shorter|larger|smaller|greater|less)\b[^.;]* (?:is|are) (?!not )"
    r"|(?:is|are) (?:clipped|clamped|capped|wrapped|truncated))",
)
"""What is done with inputs that are not as a sentence says: it is no condition then."""
_REFUSES = re.compile(
    r"(?i)rais|error|exception|not allowed|rejected|refused|invalid|undefined|forbidden|not supported"
)
_REASON = re.compile(r"([^,;.:()]+), (?:so|hence|thus|therefore) (?!that\b)(?=\w)([^;]+)$")
_OF_EMPTY = re.compile(
    r"(?i)(?<!non-)(?<!not )\b(?:(?:for|if|when|with|of|on|given)\b[^.;:]{0,40}\bempty\b"
    r"[^.;:]*\b(?:return|result|is|gives?|0|none)"
    r"|(?:returns?|gives?|yields?|result is) [^.;:]{1,30} (?:for|if|when|of|on) [^.;:]{0,30}\bempty\b)"
)
_FILLED = re.compile(r"(?i)non-?empty|(?:not|never|n't)(?: be)? empty")
_ONE_MORE = re.compile(r", (?:an?|V\d+) [\w-]+")
"""The next of several pieces: ", four digits"."""
_OF_CHARACTERS = re.compile(r"all\(\(c\b|all\(\('")
_OF_PARTS = (r"(?:^|and )len\(\w+\) == \d+", r"^all\(\(-?[\d.]+ <=? \w+ <=? -?[\d.]+ for")
"""Conditions on all of an argument that cannot both be meant of it: each is said of a part."""
_OF_EACH = re.compile(r"all\(\((?!len\(|a [<>n])")
"""Said of the items of an argument, not of it: "the diagonal is zero" is not."""
_NOT_EMPTY = re.compile(r"len\(\w+\) (?:> 0|>= 1)")
_BOTH_OF = re.compile(r"^P\d+ and P\d+ (?!.*\bP\d)")
_TWO_NOUNS = re.compile(r"(?:the |both )?(?![PIA]\d)[\w-]+ and (?:the )?(?![PIA]\d)[\w-]+ be\b")
_RESPECTIVE = re.compile(r"\([^()]*\) and [^()]*\([^()]*\)")
_QUOTED = re.compile(r"(?<!\w)'[^']+'|\"[^\"]+\"")
_ON_ERROR = re.compile(r"^(?:is |are )?(?:raised |thrown )?(?:if|when|in case|where)\s+(?:the given )?", re.IGNORECASE)


_ALSO = re.compile(r"\b(?:also|special|besides)\b")
"""Before values that are listed: others are allowed, too."""
_WITH_ITSELF = re.compile(r"(?<![\w.])(\w+(?:\[\w+\]|\.\w+)) [<>]=? \1(?![\w.\[])")

LEFT_OPEN = "the docstring leaves the result open"
"""Said of a sentence that is about what comes back, not about what is allowed."""


@dataclass(frozen=True, kw_only=True)
class UnreadSentence:
    """A sentence in the language of conditions that yields no predicate."""

    text: str
    names: frozenset[str]
    """The parameters that it may speak of."""
    origin: str

    @property
    def told(self) -> str:
        """What is said of it to the user."""
        return f'{LEFT_OPEN if self.origin == "returns" else "not read as a condition"}: "{self.text}"'


@dataclass(frozen=True, kw_only=True)
class Reading:
    """What a docstring allows."""

    predicates: tuple[Predicate, ...] = ()
    unread: tuple[UnreadSentence, ...] = ()

    def of(self, *origins: str) -> tuple[Predicate, ...]:
        """Return the predicates of some origins."""
        return tuple(each for each in self.predicates if each.origin in origins)

    @property
    def keys(self) -> dict[str, Words]:
        """Of parameters that are dicts, the keys that they have."""
        found = (re.fullmatch(r"set\((\('.*\))\) <= set\((\w+)\)", each.text) for each in self.predicates)
        return {match[2]: ast.literal_eval(match[1]) for match in found if match}


def read_docstring(docstring: str, shapes: Mapping[str, Shape]) -> Reading:
    """Return what a docstring allows its arguments; ``shapes``: of the parameters, in their order."""
    predicates: dict[tuple[str, str], Predicate] = {}
    unread: dict[str, UnreadSentence] = {}
    shapes = {name: named_parts(shape, docstring, shapes) for name, shape in shapes.items()}
    fields = set[str]()  # as they stand in prose, "n: at least 1"
    before, own = "", ""  # the parameters of the last two fields
    sections = Sections(docstring)
    sentences: list[str] = []
    for passage in sections.passages() if shapes else ():
        if passage.origin == "requires" and is_expression(passage.text):
            continue
        sentences += passage.sentences if passage.origin != "raises" else []
        topic = ""
        if passage.origin == "field" and passage.subject != own:
            before, own = own, passage.subject
        for sentence in passage.sentences:
            if sentence in fields:
                continue
            fields |= {f"{passage.subject}: {sentence}"} if passage.origin == "field" else set()
            said = _Sentence(sentence, passage, shapes, topic, is_first=sentence == passage.sentences[0])
            topic, (found, left) = said.topic, said.read()
            if passage.origin == "field" and before and own in shapes and not found and _LIKEWISE.search(sentence):
                of_before = [p for p in predicates.values() if p.names == {before} and p.origin == "docstring"]
                is_alike = shapes.get(before) == shapes[own]
                found = [re.sub(rf"\b{before}\b", own, p.text) for p in of_before if is_alike]
                is_whole = found and not any(before in u.names for u in unread.values())
                left = None if is_whole else frozenset([own])
            for text in found:
                if re.fullmatch(r"\w+ is None|all\(\(\w+ is None for \w+ in \w+\)\)", text):
                    continue
                made = _guarded(text, shapes)
                origin = "raises" if passage.origin == "raises" else "docstring"
                origin = "perhaps" if isinstance(text, Guess) else origin
                predicates.setdefault((made, origin), Predicate(text=made, sentence=sentence, origin=origin))
            if left is not None:
                unread.setdefault(sentence, UnreadSentence(text=sentence, names=left, origin=passage.origin))
    for sentence in (sentence for passage in sections.results() for sentence in passage.sentences):
        if shapes and _LEAVES_OPEN.search(sentence) and not order_is_free(sentence):
            unread.setdefault(sentence, UnreadSentence(text=sentence, names=frozenset(shapes), origin="returns"))
    whole = [p for p in _with_all_choices(predicates.values()) if _lists_all(p, unread.values(), shapes)]
    said_of = dict(pairwise([*sentences, ""]))
    is_of_empty = any(_OF_EMPTY.search(_FILLED.sub("", each)) and not _REFUSES.search(each) for each in sentences)
    sure = [
        replace(p, origin="perhaps")
        if p.origin == "docstring"
        and (_is_default(p.sentence, said_of.get(p.sentence, "")) or (is_of_empty and _NOT_EMPTY.search(p.text)))
        else p
        for p in whole
    ]
    return Reading(predicates=tuple(sure), unread=tuple(unread.values()))


def _lists_all(choices: Predicate, unread: Iterable[UnreadSentence], names: Collection[str]) -> bool:
    """Tell whether no sentence that was not read quotes, among some of the choices, a text that is none of them."""
    if " in ('" not in choices.text:
        return True
    known = _quoted(choices.text)
    quoted = [_quoted(each.text) - {*names} for each in unread if each.text != choices.sentence]
    return not any(some & known and some - known for some in quoted)


def _quoted(text: str) -> set[str]:
    return {one[1:-1] for one in _QUOTED.findall(text)}


def _is_default(sentence: str, after: str) -> bool:
    """Tell whether a sentence, or the one after it, says what comes back where it does not hold."""
    goes_on = _ELSE.match(after)
    return any(_ELSE.search(each) and not _REFUSES.search(each) for each in (sentence, after if goes_on else ""))


def _with_all_choices(predicates: Iterable[Predicate]) -> Iterator[Predicate]:
    """Yield conditions, those that list what one parameter may be as one: choices may be listed in groups."""
    listed: dict[tuple[str, str], tuple[Predicate, list[Any]]] = {}
    for each in predicates:
        match = re.fullmatch(r"(.*?)\b(\w+) in (\('[^()]*\))\)*", each.text)
        members = ast.literal_eval(match[3]) if match else ()
        if not match or not all(isinstance(member, str) for member in members):
            yield each
            continue
        _, known = listed.setdefault((match[2], each.origin), (each, []))
        known += [member for member in members if member not in known]
    for (name, _), (each, known) in listed.items():
        head, _, tail = re.split(rf"\b{name} in (\('[^()]*\))(?=\)*$)", each.text)
        yield replace(each, text=f"{head}{name} in {tuple(known)}{tail}")


def order_is_free(docstring: str) -> str:
    """Return the sentence that leaves the order of the results open, "" where none does."""
    for passage in Sections(docstring).results():
        for sentence in passage.sentences:
            found = _Sentence(sentence, passage, {})
            if found.leaves_order_open():
                return sentence
    return ""


def _guarded(text: str, shapes: Mapping[str, Shape]) -> str:
    """Return a condition, or several, each of which lets None through where a parameter takes it."""
    node = expression(text)
    if isinstance(node, ast.BoolOp) and isinstance(node.op, ast.And):
        return ast.unparse(ast.BoolOp(node.op, [expression(_guarded(ast.unparse(p), shapes)) for p in node.values]))
    names = {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}
    for name in (n for n in shapes if n in names and shapes[n].may_be_none and f"{n} is " not in text):
        is_open = " or " in text and " is None or " not in text
        text = f"{name} is None or ({text})" if is_open else f"{name} is None or {text}"
    return text


def _in_own_unit(text: str, passage: Passage) -> str:
    """Return a sentence with times in the unit of its parameter: "in seconds, at most 2 hours" is at most 7200."""
    own = _OWN_UNIT.search(f"{passage.subject.replace('_', ' ')} {passage.text}")
    if own is None:
        return text
    return _TIME.sub(lambda found: f"{float(found[1].replace(',', '')) * _UNITS[found[2]] / _UNITS[own[1]]:.15g}", text)


class _Sentence:
    """One sentence on its way to conditions."""

    def __init__(
        self, text: str, passage: Passage, shapes: Mapping[str, Shape], topic: str = "", *, is_first: bool = False
    ):
        """``topic``: the parameter that the sentence before is about; ``is_first``: of its passage."""
        self._text, self.is_first = text, is_first
        self._topic, self._passage, self._shapes = topic, passage, dict(shapes)
        judging = [each for each in passage.sentences if passage.origin == "prose" and _JUDGES.search(each)]
        is_field = passage.origin in ("field", "type") and passage.subject in shapes
        self._names = Names(shapes=self._shapes, subject=passage.subject if is_field else "", group=passage.group)
        plain = _ASIDE.sub(r"\1", _OPTIONAL.sub("", text.replace("...", "…")).strip().rstrip("."))
        name = rf"(?:the )?`*(?:{'|'.join(map(re.escape, shapes))})\b`*"
        plain = re.sub(rf"(?i)\b{name}(?:(?:, and|,| and) {name})+", lambda named: _THE.sub("", named[0]), plain)
        plain = _ISO.sub("YYYY-MM-DD", plain) if passage.origin in ("field", "type") else plain
        if passage.origin in ("field", "type"):
            plain = re.sub(r",? or None (?:if|when|where|for|to)\b[^,;.]*", "", plain)
            plain = _in_own_unit(plain, passage)
        plain = _without_reason(plain, list(shapes))
        if passage.origin == "raises":
            plain = _ON_ERROR.sub("if ", plain)
        fields = {f.name for each in shapes.values() for _, one in records_in(each, "") for f in one.fields}
        self._tokens = tokens_of(plain, list(shapes), fields - {"", *shapes})
        named, judged = self._tokens.names, [tokens_of(each, list(shapes)).names for each in judging]
        is_of_judged = len(shapes) == 1 or bool(named and named <= frozenset().union(*judged))
        self._is_of_validity = any(map(_VALIDITY.search, judging))
        self._judges = bool(judging) and (text in judging or is_of_judged)
        """Whether it may say what is valid rather than what is allowed: its parameters are those that are judged."""
        self._words = Words(_counted_things(self._tokens.words))
        if is_field and shapes[passage.subject].kind == "number":
            self._words = tuple("arranged" if word == "sorted" else word for word in self._words)
        if passage.origin == "field":
            self._words = self._without_modifiers(self._words)

    def _without_modifiers(self, words: Words) -> Words:
        """Leave out unknown words before the parameter that a field begins with: "bin edges in rising order"."""
        own = {key for key, value in self._tokens.values.items() if key[0] == "P" and value == self._passage.subject}
        at = next((i for i, word in enumerate(words[:4]) if word in own), 0)
        before = [word for word in words[:at] if word not in ("the", "a", "an")]
        is_strange = all(word not in grammar()[0].words and _UNKNOWN.fullmatch(word) for word in before)
        return words[at:] if is_strange else words

    def _without_units(self, words: Words, subject: str) -> Words:
        """Leave out the name of a number behind its values, "from 10 ohms to 99 ohms"; () where units differ."""
        own = {key for key, value in self._tokens.values.items() if key[0] == "P" and value == subject}
        known = grammar()[0].words
        named = {unit for value, unit in pairwise(self._words) if has_value((value,), "V")}
        if len({unit for unit in named if unit in own or (unit not in known and unit.islower())}) > 1:
            return ()
        is_own = (has_value((value,), "V") and unit in own for value, unit in pairwise(("-", *words)))
        return tuple(word for word, leaves_out in zip(words, is_own, strict=True) if not leaves_out)

    def read(self) -> tuple[list[str], frozenset[str] | None]:
        """Return the conditions, and the parameters that a part speaks of that was not read; None where none was."""
        if self._names.group[1:] and self._tokens.names and self._names.subject not in self._tokens.names:
            return [], None  # of another one of the group
        if self._passage.origin == "raises":
            return self._of_exception()
        found, pieces = self._read()
        found = [text for text in found if self._makes_sense(text)]
        is_criterion = self._passage.origin == "prose" and _JUDGES.search(self._text)
        if is_criterion or (self._judges and self._is_of_validity):
            found = [*map(Guess, found)]  # what makes something valid, or what is allowed
        if self._passage.origin == "prose" and _TWO_NOUNS.match(" ".join(self._words)):
            found = [text if text[:4] == "all(" else Guess(text) for text in found]  # "field and value": parts of it
        more = any(map(self._names_more_characters, pieces))
        certain = [text for text in found if not (more and re.search(r"all\(\((?!not ).* for c in ", text))]
        is_dropped, found = certain != found, certain
        pieces = [piece for piece in pieces if _may_be_more(piece) and not {*_trimmed(piece)} <= ENDS]
        rest = tuple(word for piece in pieces for word in piece)
        words = rest if found else tokens_of(self._text, list(self._shapes)).words
        is_rest = bool(found) and not any(piece[:1] == ("and",) for piece in pieces)
        is_left = bool(words) and may_limit(words, self._passage.origin, is_first=self.is_first, is_rest=is_rest)
        is_left |= is_dropped
        is_left |= bool(found) and any(piece[:1] == ("and",) and {*piece} & _COMPARES for piece in pieces)
        return found, (self._mentioned() or frozenset(self._shapes)) if is_left else None

    def _names_more_characters(self, piece: Words) -> bool:
        """Tell whether what was not read goes on with characters that are not known: "letters and apostrophes"."""
        places = [i for i in range(1, len(self._words)) if self._words[i : i + len(piece)] == piece]
        before = {self._words[i - 1] for i in places}
        is_noun = len(piece) == 2 and piece[0] in ("and", "or") and piece[1] not in grammar()[0].words
        return is_noun and any(word in _CHARACTERS or re.fullmatch(r"[ZQL]\d+", word) for word in before)

    def _makes_sense(self, text: str) -> bool:
        """Tell whether a condition can be meant: of lists nobody asks one item, of "six classes" not the sixth."""
        if one := re.fullmatch(r"len\((\w+)\) == 1|all\(\(len\(x\) == 1 for x in (\w+)\)\)", text):
            shape = self._shapes[one[1]] if one[1] else self._shapes[one[2]].items
            return shape.kind in ("text", "any")
        if two := re.fullmatch(r"(\w+) ([<>!=]=?) (\w+)", text):
            kinds = {self._shapes[name].kind for name in two.group(1, 3) if name in self._shapes}
            is_count = self._words[:2] == ("there", "be") and two[2] == "==" and two[3].isdecimal()
            return len(kinds - {"any", "mixed"}) < 2 and not is_count
        return not _WITH_ITSELF.search(text)

    def _read(self) -> tuple[list[str], list[Words]]:
        """Return the conditions, and the parts that were not read."""
        origin = self._passage.origin
        whole = [self._words]
        if origin == "prose" and (
            "ones" in self._words[:3] or self._words[:1] == ("raises",) or self._text.endswith("?")
        ):
            return [], whole  # "longer ones cost 2 an hour"
        if origin in ("field", "type") and not self._names.subject:
            return [], whole
        if origin == "type" and (listed := [word for word in self._words if re.fullmatch(r"[LQ]\d+", word)]):
            return self._choices(listed), []
        if origin == "field" and (listed_below := self._of_values()):
            return listed_below, []
        if origin == "prose" and (is_done(self._words) or not self._speaks(self._words)):
            return self._of_clauses()
        starts = ("statement",) if origin in ("prose", "requires") else ("statement", "field")
        found, left = self._cover(self._words, starts, self._near(()) if {*self._words[:2]} & PRONOUNS else None)
        left = [part for part in left if not (_is_permission(part) or _MEANING.match(" ".join(part)))]
        if any(set(part) & _ALTERS and not (_is_kind(part) or _is_of_others(part)) for part in left) and (
            found or self._speaks(self._words)
        ):
            if sure := self._strictly(starts):
                return sure
            is_but = any(set(part) & {"except", "unless"} for part in left)
            return [*map(Guess, found)] if is_but else [], whole
        if any(part[0] in ("and", "or") and is_done(part) for part in left):
            found = [*map(Guess, found)]  # "of which only letters and digits are kept"
        if self._names.group[1:] and _RESPECTIVE.search(self._text):
            return [], whole  # "amount (above zero) and rate (not negative)": one of each
        n_ranges = len(_RANGE.findall(" ".join(self._words)))
        parts = [{each for text in found for each in re.findall(form, text)} for form in _OF_PARTS]
        is_piece = any("len(" in text and _OF_CHARACTERS.search(text) for text in found)
        goes_on = is_piece and any(_ONE_MORE.fullmatch(" ".join(part)) for part in left)
        if any(len(each) > 1 for each in parts) or (parts[1] and n_ranges > 1) or goes_on:
            return [], whole  # "two letters, four digits": one after the other
        if any("len([c for c" in text for text in found) and any(_OF_CHARACTERS.search(text) for text in found):
            return [], whole  # "only letters, and at most one hyphen", which is none
        return found, [part for part in left if part[:1] != ("(",)]  # what is in brackets explains what was read

    def _strictly(self, starts: Sequence[str]) -> tuple[list[str], list[Words]] | None:
        """Read each clause that says what has to be alone; None where none is read as a whole."""
        found, unread, before = list[str](), list[Words](), Words()
        for clause in statements(self._words):
            if {*clause} & {"if", "when", "unless"}:
                break  # what follows holds in a case
            if is_strict(clause) and not is_done(clause):
                names = self._near(before) if {*clause[:3]} & PRONOUNS else None
                texts, left = self._cover(clause, starts, names)
                found += texts if not left else []
                unread += left or ([] if texts else [clause])
            else:
                unread.append(clause)
            before += clause
        return (found, unread) if found else None

    def _of_clauses(self) -> tuple[list[str], list[Words]]:
        """Read a sentence on what is done: nouns of its clauses, and clauses that state something beside."""
        found, unread, before = list[str](), list[Words](), Words()
        for clause in clauses(self._words):
            is_result = bool(set(clause) & _OF_RESULTS)
            is_about = (
                bool(self._near(before) or has_value(clause, "C") or {clause[1:3], clause[-2:]} & OF_THEM)
                and not self._judges
            )
            is_told = self._states(clause) or (is_about and is_aside(clause, before))
            if is_done(clause) or not is_told:
                nouns, is_left = self._of_nouns(clause, is_first=not before)
                found += nouns
                is_more = clause[:1] == ("and",) and {*clause} & _COMPARES and has_value(clause, "V")
                unread += [clause] if is_left or is_more or (is_told and is_strict(clause)) else []
            elif not is_result:
                names = self._near(before) or self._names
                texts, pieces = self._cover(clause, ("statement", "field") if names.subject else ("statement",), names)
                is_sure = self._states(clause) or not _is_of_more(clause, before)
                if before[-1:] == ("(",) and "be" in clause and not is_strict(clause) and {*before} & _OF_RESULTS:
                    is_sure = False  # "return when it is paid (the balance is zero)"
                found += [t if is_sure or (clause[0] in _EACH and t[:4] == "all(") else Guess(t) for t in texts]
                unread += [piece for piece in pieces if _trimmed(piece)[:1] != ("to",)]
            before += clause
        return found, unread

    def _states(self, clause: Words) -> bool:
        """Tell whether a clause states something of an argument."""
        if _ORDERS.search(" ".join(clause)):
            return True
        is_passed = {*clause[:1]} & {"pass", "give", "supply", "provide"} and clause[1:3] == ("at", "least")
        if is_passed or (clause[:1] == ("only",) and {*clause} & _PERMITS and {*clause} & _CHARACTERS):
            return not self._judges
        subject = subject_of(clause) or (
            clause[:1] if {*clause[:1]} & {"undefined-for", "only"} or clause[-2:] == ("not", "allowed") else ()
        )
        if not subject and len(clause) > 2 and has_value(clause[:1], "P") and {*clause[1:3]} & (_MEASURES | {":"}):
            return not self._judges and not {*clause} & _OF_RESULTS
        said = {*subject}
        if not subject or said & _OF_RESULTS:
            return False
        if is_strict(clause) or (clause[:1] == ("no",) and clause[1][0] == "V") or "undefined-for" in clause:
            return not self._judges or bool(set(clause) & {"must", "should"})
        if self._judges:
            return False
        if len(subject) == 1 and re.fullmatch("[a-z]+s", subject[0]) and {*clause} & {"NUMBER", "CHAR", "DIGIT"}:
            return not has_value(clause, "QL")
        is_a = subject[0] in ("a", "an")
        is_named = has_value(subject[:5] if subject[0] not in _EACH else clause[:9], "PIA" if is_a else "PIAK") and (
            not is_a or len(subject) == 2
        )
        is_meant = not is_a and any(of_noun(self._shapes, word) for word in subject[:3])
        is_items = subject in (("ITEM",), ("key",), ("the", "INPUT"), ("both",), ("neither",), ("nothing",)) or (
            subject[0] in (*_EACH, "no", "both") and said & THINGS
        )
        is_of_both = subject == ("they",) and _BOTH_OF.search(" ".join(self._words))
        is_pronoun = (self._topic or is_of_both) and said & PRONOUNS and "others" not in said
        is_limited = subject[0] in ("the", "there") and set(clause[len(subject) :][:4]) & _LIMITED
        return bool(
            is_named
            or is_meant
            or is_items
            or is_pronoun
            or is_limited
            or ({*clause[len(subject) :]} & LIMITS and not is_a and subject[0] != "the")
        )

    def _near(self, before: Words) -> Names | None:
        """Return the parameters, with the one as subject that is named last before a place, by name or by a noun."""
        for word in reversed(before):
            nouns = of_noun(self._shapes, word) if not self._names.subject else []
            named = [self._tokens.values[word]] if re.fullmatch(r"P\d+", word) else nouns
            if len(named) == 1:
                return replace(self._names, subject=named[0])
        return replace(self._names, subject=self._topic) if self._topic and not before else None

    @property
    def topic(self) -> str:
        """The parameter that "it" means in the next sentence; "" where that may be a result."""
        words = self._words[:3] if self._passage.origin == "field" else self._words
        near = None if set(words) & _OF_RESULTS else self._near(words) or self._near(())
        return near.subject if near else ""

    def leaves_order_open(self) -> bool:
        """Tell whether a sentence on results says that their order does not matter."""
        words = self._words
        is_result = self._passage.origin == "returns" or set(words) & _OF_RESULTS
        if "order" not in words or not is_result or set(words) & {"not"} & {*words[:1]}:
            return False
        starts = [i for i, word in enumerate(words) if word in ("in", "any", "order", "arbitrary")]
        spans = (words[i:end] for i in starts for end in range(i + 2, min(len(words), i + 8) + 1))
        return any("order" in span and self._attempt(span, ("loose",)) for span in spans)

    def _speaks(self, words: Words) -> bool:
        """Tell whether words are in the language of conditions, and of an argument."""
        said = set(words)
        if self._passage.origin in ("field", "type", "requires"):
            if said & (_OF_RESULTS - {"whether"}) and not said & DUTIES:
                return False
            return bool(
                said & (DUTIES | LIMITS | {"only", "separated", "without"})
                or (said & _MEASURES and (has_value(words) or "code" in said))
                or (said & _CHARACTERS and (has_value(words) or "then" in said))
                or _RANGE.search(" ".join(words))
            )
        if said & _OF_RESULTS or not limits(words):
            return False
        has_code = has_value(words, "C") and len(words) < 6
        return bool(has_code or (said & DUTIES and has_value(words, "L")) or self._states(words))

    def _mentioned(self) -> frozenset[str]:
        said = {*re.findall(r"\w+", self._text)}
        named = self._tokens.names | {name for name in self._shapes if said & {name, name.removesuffix("s")}}
        if self._names.subject:
            return named | {self._names.subject}
        found = [name for word in self._words for name in of_noun(self._shapes, word, items=True)]
        everything = set(self._shapes) if {"INPUT", "ITEM", "duplicate"} & set(self._words) else set()
        return named or frozenset(found or everything)

    def _attempt(self, words: Words, starts: Sequence[str], names: Names | None = None) -> str | None:
        """Return the condition that some words are, "" where they say nothing, None where they are not read."""
        names = names or (self._near(()) if {*words} & PRONOUNS else None) or self._names
        is_of_one = {*words} & {"first", "last"} and any(pair in OF_THEM for pair in pairwise(words))
        if "ones" in words or words[:1] == ("code",) or is_of_one:
            return None  # "northern ones positive": some of them; "`net` is positive": a part of it
        words, is_part = words[:-1] if words[-1:] == ("each",) else words, False
        if names.subject and self._shapes[names.subject].kind == "number":
            words = self._without_units(words, names.subject)
            if not words:
                return None
        if self._names.group[1:] and words[:1] in (("each",), ("all",), ("both",)) and words[1:2] != ("of",):
            words = words[1:]
        if names.subject:
            shape = self._shapes[names.subject]
            if shape.kind == "number" and not self.is_first and words[1:2] == ("be",) and _PLURAL.fullmatch(words[0]):
                return None  # "blueshifts are negative": some of them
            noun = " ".join(words[1:2])
            is_strange = _UNKNOWN.fullmatch(noun) is not None and noun not in grammar()[0].words and noun[-1] != "s"
            is_part = not self.is_first and words[0] == "the" and is_strange
            words = _plain_nouns(words, shape)
        known, words = grammar()[0].words, tuple(w for w in words if w != "always")
        nouns = {w: f"U{i}" for i, w in enumerate(words) if w not in known and _UNKNOWN.fullmatch(w)}
        words, values = tuple(nouns.get(w, w) for w in words), {key: w for w, key in nouns.items()}
        strange = any(w not in known and not re.fullmatch(r"[A-Z]\d+", w) for w in words)
        if not 0 < len(words) <= _LONGEST or strange:
            return None
        if words[0] in _GOES_ON and "field" not in starts:
            at = self._words.index(words[0]) if words[0] in self._words else 0
            names = names if names.subject else self._near(self._words[:at]) or names
            starts = ("field",) if names.subject else starts
        elif words[1:3] in OF_THEM and not names.subject and len({w for w in self._words if w[0] == "P"}) == 1:
            names = self._near(self._words) or names
        for start in starts:
            try:
                text = read(Tokens(words, {**self._tokens.values, **values}), start, names)
            except Unread:
                continue
            return None if is_part and _OF_EACH.match(text) else text
        is_start = "field" in starts and self.is_first and words[:1] == self._words[:1]
        begins = next((i for i, word in enumerate(words) if i and word in _BEGINS), 0) if is_start else 0
        if begins and all(w in _NEUTRAL or (w not in known | _MEASURED and w.islower()) for w in self._words[:begins]):
            return self._attempt(words[begins:], ("field",), names)  # "lower ends in ascending order"
        return None

    def _cover(self, words: Words, starts: Sequence[str], names: Names | None = None) -> tuple[list[str], list[Words]]:
        """Return the conditions of the longest parts that are read, and the pieces that are not."""
        trails = {i for i in range(len(words)) if self._trails(words, i)}
        cuts = [-1, *(i for i, word in enumerate(words) if word in _CUTS or i in trails), len(words)]
        found, left, at = list[str](), list[Words](), 0
        before: Words = ()
        while at < len(cuts) - 1:
            for end in range(min(len(cuts) - 1, at + _MOST_CUTS), at, -1):
                part = _trimmed(words[cuts[at] + 1 : cuts[end]])
                goes_on = part[:1] and (part[0] in _GOES_ON or part[0] == "be") and before[:1] and before[0] in _EACH
                is_aside = at and _is_aside(part, words[: cuts[at] + 1])
                is_rest = bool(left and part) and words[cuts[at]] in (",", "and") and _is_of_list(part, left[-1])
                is_rest &= not at or cuts[at - 1] not in trails
                one_of = words[max(0, cuts[at] - 2) : cuts[at] + 1]
                is_of_which = one_of[1:] == ("of", "which") and has_value(one_of[:1], "V")
                is_second = at and words[cuts[at]] == "," and has_value(words[cuts[at] - 1 : cuts[at]], "V")
                is_list = is_second and _VALUES.match(" ".join(part))  # "25, 81 or 100 places": from 25 on
                is_open = words[cuts[end] : cuts[end] + 2] == ("and", "so")
                is_of_it = at and ({*part} & {"its", "their"} or part[-1:] == ("it",))
                near = names or (self._near(words[: cuts[at] + 1]) if is_of_it else None)
                is_cut = _VALUES.fullmatch(" ".join(part)) and has_value(words[cuts[end] + 1 : cuts[end] + 2], "V")
                is_case = _HANDLED.match(" ".join(words[cuts[end] :]))
                is_end = at and words[cuts[at]] == "and" and "between" in words[cuts[at] - 2 : cuts[at]]
                is_none = (
                    is_cut or is_end or goes_on or is_aside or is_rest or is_of_which or is_open or is_list or is_case
                ) or cuts[at] in trails
                text = "" if not part else None if is_none else self._attempt(part, starts, near)
                if text is not None:
                    found += [text] if text else []
                    at, before = end, part or before
                    break
            else:
                left.append(words[max(0, cuts[at]) : cuts[at + 1]])
                at += 1
        return found, left

    def _of_values(self) -> list[str]:
        """Return that a parameter is one of the values that end its text: "what to do: 'add' or 'cut'"."""
        listed = re.search(r"(?:^|: )(L\d+)(?: ;|$)", " ".join(self._words))
        if not listed or _ALSO.search(self._text):
            return []
        name, kind = self._names.subject, self._shapes[self._names.subject].kind
        if kind == "text":
            return [f"{name} in {self._tokens.values[listed[1]]}"]
        are_types = {*ast.literal_eval(self._tokens.values[listed[1]])} & {*dir(builtins)}
        is_below = kind in ("any", "mixed") and CHOICES.search(self._passage.text) and not are_types
        return self._choices([listed[1]]) if is_below else []

    def _choices(self, listed: Sequence[str]) -> list[str]:
        """Return that a text is one of those in a type; values of other types may be named beside them."""
        members = [ast.literal_eval(self._tokens.values[word]) for word in listed]
        values = tuple(dict.fromkeys(v for each in members for v in (each if isinstance(each, tuple) else (each,))))
        text = f"{self._names.subject} in {values}"
        if not set(self._words) - {*listed, ",", "or", "none", "TEXT"}:
            return [text]
        is_text = all(isinstance(value, str) for value in values) and "TEXT" not in self._words
        return [f"not isinstance({self._names.subject}, str) or {text}"] if is_text else []

    def _trails(self, words: Words, at: int) -> bool:
        """Tell whether words go on with what something is for: "a positive number specifying ...", "... to use"."""
        word, known = words[at], grammar()[0].words
        if self._passage.origin != "field" or not at:
            return False
        after = words[at + 1] if at + 1 < len(words) else ""
        is_strange = after.isalpha() and after.islower() and (after not in known or after == "use")
        is_rate = word == "per" and self._shapes[self._names.subject].kind == "number"
        return ((word in ("to", "for", "used", "as") or is_rate) and is_strange) or (
            (word == "used" and after in ("for", "as", "to", "in", "by"))
            or (word.endswith("ing") and word[-5:] != "thing" and word not in known and words[at - 1][-1] not in "<>=")
        )

    def _of_exception(self) -> tuple[list[str], frozenset[str] | None]:
        if not self._words or self._words[0] != "if" or self._passage.subject == "TypeError":
            return [], None
        text = self._attempt(_trimmed(self._words[1:]), ("raised",))
        if text:
            return [opposite(text)], None
        return [], self._mentioned() or frozenset(self._shapes)

    def _of_nouns(self, words: Words, *, is_first: bool) -> tuple[list[str], bool]:
        """Return what words around nouns say, "the median of a non-empty list", and whether some is not read."""
        found, is_left = list[str](), False
        if not self.is_first and {*words[:1]} & {"the", "a", "an", *_EACH}:
            return [], False  # "the middle of a list with an even number of items is ...": of some of them
        for at, word in enumerate(words):
            before = words[at - 1] if at else "return"
            if words[:1] == ("a",) and is_done(words):
                break  # "a number of four digits is hidden": in one case
            if before == "of" and (at == 1 or words[at - 2 : at - 1] == (",",)):
                break  # "the middle one; of an even number of items the mean": of some of them
            is_form = word[0] == "F" and before not in _RESULTS
            is_object = is_first and at == 1 and before not in {*_RESULTS, *_OF_A_CASE, *BEHAVIOUR} and before.isalpha()
            if is_form and not set(self._words) & _QUESTIONS:
                found += filter(None, [self._attempt((word,), ("given",))])
            elif (before in _BEFORE_GIVEN or is_object) and (
                word in ("a", "an", "both", "exactly", "at")
                or (before == "in" and word == "the")
                or (re.fullmatch(r"V\d+", word) and before != "from")
            ):
                text = self._given_at(words, at)
                is_count = word[0] == "V" and re.match(r"len\(\w+\) == \d", text or "")  # "between two of the times"
                found += [Guess(text) if is_count else text] if text else []
                is_left |= text is None or (
                    words[at + 2 : at + 3] == ("that",) and word[0] == "V" and limits(words[at:]) and " or " not in text
                )
        return found, is_left

    def _given_at(self, words: Words, at: int) -> str | None:
        """Return what a noun with words around it says, None where they are in the language of conditions, unread."""
        known = grammar()[0].words
        end = at
        while (
            end < min(len(words), at + 16)
            and (words[end] not in ("that", "which") or words[end + 1 : end + 3] == ("be", "not"))
            and words[end : end + 2] != (",", "in")
            and (words[end] in known or re.fullmatch(r"[A-Z]\d+", words[end]))
        ):
            end += 1
        has_limits = bool(set(words[at : at + 2]) & LIMITS)
        for stop in (
            range(end, at + 1, -1) if set(words[at:end]) & LIMITS or has_value(words[at : at + 2], "VP") else ()
        ):
            if {*words[stop : stop + 1]} & (_ALTERS | {"for", "per"}):
                continue
            if text := self._attempt(words[at:stop], ("given",)):
                return text
        return None if has_limits else ""


def _without_reason(text: str, names: Sequence[str]) -> str:
    """Leave out what explains what has to be and names no argument: "a week has seven days, so n must be at most 7"."""
    match = _REASON.match(text)
    if match is None:
        return text
    reason, rest = tokens_of(match[1], names).words, tokens_of(match[2], names).words
    is_of_argument = has_value(reason, "PIAKCQLFZN") or {*reason[:1]} & (PRONOUNS | _EACH | _DENIES | {"there", "both"})
    is_of_kind = reason[:1] not in (("a",), ("an",)) and any(map(str.isupper, reason[:3]))
    is_nothing = reason[:3] == ("there", "be", "no") and "nothing" in reason
    is_meant = is_strict(rest) or {*rest} & {"need"} or rest[:1] == ("pass",)
    is_told = (is_of_argument and not is_nothing) or is_of_kind or is_strict(reason)
    return match[2] if is_meant and not is_told else text


def _is_aside(part: Words, before: Words) -> bool:
    """Tell whether a part is a list of values alone that the words before do not lead to."""
    is_list = bool(part) and re.fullmatch(r"[LQ]\d+", part[0]) is not None
    return is_list and before[-1] != "(" and not any(word.isalpha() and len(word) > 1 for word in part)


def _is_of_list(part: Words, before: Words) -> bool:
    """Tell whether a part goes on with a list whose beginning is not read: "some digits, a point and two digits"."""
    is_of_characters = {*part} & _CHARACTERS and ({*before} & _CHARACTERS or has_value(before, "Q") or "then" in part)
    return part[:1] != ("consist",) and (part[-1:] == ("only",) or bool(is_of_characters))


def _is_of_more(clause: Words, before: Words) -> bool:
    """Tell whether an aside may be about what a parameter is part of: "the square of n, at most 100"."""
    is_said_of_it = before[-1:] == ("(",) and has_value(before[-2:-1], "P")
    if is_said_of_it or has_value(clause[:2], "C") or clause[1:3] in OF_THEM:
        return False
    if {*clause} & DUTIES or clause[0] in ("a", "an", "which", "whose", "where", "both"):
        return False
    plain = [word for word in before if word not in ("the", "a", "an")]
    last = next((i for i in range(len(plain) - 1, 0, -1) if has_value(plain[i : i + 1], "PIA")), 0)
    return last > 0 and plain[last - 1] not in _IS_GIVEN


def _counted_things(words: Words) -> Iterator[str]:
    """Yield words, one that is not known behind a number as items: "exactly five cards"."""
    known = grammar()[0].words
    for first, before, word in zip(("", "", *words), ("", *words), words, strict=False):
        is_thing = first in _COUNTING and re.fullmatch(r"V\d+", before) and word not in known
        yield "ITEM" if is_thing and (word[-1] == "s" or first == "least") and _UNKNOWN.fullmatch(word) else word


def _is_permission(part: Words) -> bool:
    """Tell whether words say what may be and need not: "a number may occur more than once"."""
    part = tuple(_NEED_NOT.sub("may", " ".join(part)).split())
    return bool({*part} & _PERMITS) and not {*part} & _DENIES


def _may_be_more(part: Words) -> bool:
    """Tell whether words that were left may be one more condition: "..., and below the last limit"."""
    return limits(part) or (part[:1] == ("and",) and bool({*part} & _MEASURES))


def _is_of_others(part: Words) -> bool:
    """Tell whether words say what something else is not: "and no word is longer than that"."""
    part = _trimmed(part)
    return part[:1] == ("no",) and bool(subject_of(part)) and not {*part} & {"if", "when", "unless", "except", "or"}


def _is_kind(part: Words) -> bool:
    """Tell whether words only say what kind of thing something is: "column or literal"."""
    return part[1:2] == ("or",) and len(part) == 3 and not re.search(r"\d", " ".join(part))


def _plain_nouns(words: Words, shape: Shape) -> Words:
    """Return the words of a field, nouns that only name its parameter as one: "probability", "number of samples"."""
    known = grammar()[0].words
    nouns = {w for w in words if w.isalpha() and _UNKNOWN.fullmatch(w) and w not in known and w not in _NO_NOUNS}
    nouns |= {"factor"} if "factor" in words and ("factor", "of") not in pairwise(words) else set()
    text = " ".join(f"_{w}" if w in nouns else w for w in words)
    text = re.sub(rf"\b({'|'.join(_QUALITIES)}) _\w+", r"\1 INPUT", text)
    text = re.sub(r"(?<=\b[A-Z]{4}) of(?: the| a| an)?(?: _\w+)+", "", text)
    if "number" in (shape.kind, shape.items.kind):
        is_of_items = shape.kind != "number" and not re.match(r"(?:the |an? )?_", text)  # "the chip has 12 bits"
        unit = "_\\w+|ITEM(?= P)" if is_of_items else "_\\w+|ITEM"
        text = re.sub(rf"\b(V\d+) (?:(?:{unit})(?! be\b)|P\d+(?=$| [,;)]))", r"\1", text)
    text = re.sub(r"^(the |a |an )?(?:_\w+ )+(?=(?:NUMBER|TEXT|LIST|TIME|DICT|MATRIX)\b)", r"\1", text)
    start = r"^(the |a |an )?(?:P\d+ (?:_\w+ )*(?=of _|of the _)|(?:P\d+ )?(?:_\w+ )+)"
    text = re.sub(start + r"(?:of (?:the |a |an )?(?:_\w+ )+)?(?=\S)", r"\1INPUT ", text)
    return tuple(re.sub(r"\b_", "", text).split())


def _trimmed(words: Words) -> Words:
    """Return words without what stands between parts at their ends; brackets that belong to an interval stay."""
    ends = _BARE | {"and", "but", "that", "which", "where", "it"}
    while words and words[0] in ends | {"assume", "require", "ensure", "note", "such"} and words[0] not in ("(",):
        words = words[1:]
    while words and words[-1] in ends - {")", "it"}:
        words = words[:-1]
    if words and words[0] == "(" and ")" not in words and "]" not in words:
        return _trimmed(words[1:])
    if words and words[-1] == ")" and "(" not in words and "[" not in words:
        return _trimmed(words[:-1])
    return words


def contradicted(predicate: Predicate, calls: Sequence[Mapping[str, Any]]) -> bool:
    """Tell whether a call that is known to be allowed breaks a condition."""
    return any(predicate.holds(values) is False for values in calls)
