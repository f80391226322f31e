"""What a docstring and the names of parameters take for granted: conditions that no one wrote as such.

They filter no input. An input on which candidates differ and one of them does not hold shows nothing for sure: it is
reported apart, for the user to settle.
"""

import ast
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import date
from typing import Any

from difftrust.search.realistic_texts import kinds_of
from difftrust.source.doctests import Example
from difftrust.types.argument_types import Parameter, split_arguments
from difftrust_core.base.literals import BadText, Instance, read_literal

Holds = Callable[[Mapping[str, Any]], bool]
_COUNTS = re.compile(
    r"(?:n|num|number|count|total)_\w+|\w+_(?:count|size|length|limit)|count|counts|total|times|size|length|limit"
    r"|attempts|retries|seconds|minutes|hours|capacity|width|height|depth|repeat|repeats|top_n|page|per_page|window"
)
_FROM_ONE = re.compile(r"per_page|page|page_size|window|window_size|batch_size|chunk_size")
_PAIRS = (
    ("start", "end"), ("start", "stop"), ("begin", "end"), ("first", "last"), ("low", "high"), ("lo", "hi"),
    ("lower", "upper"), ("min", "max"), ("minimum", "maximum"), ("since", "until"), ("from", "to"), ("left", "right"),
)  # fmt: skip
_ANY_ORDER = re.compile(
    r"(?:either|any) order|revers|swap|absolute|regardless|wrap|midnight"
    r"|\b(?:start|first|low|begin|lower|min|left)\w* (?:is )?(?:>|greater|later|after|beyond|exceeds)",
    re.IGNORECASE,
)
_JUDGES_TEXT = re.compile(
    r"\bvalid|\binvalid|malformed|\bwhether\b|\braise|otherwise|None (?:if|for)|\belse\b|check|ignor", re.IGNORECASE
)
_EMPTY = re.compile(
    r"\bempty\b|\bno (?:items?|values?|elements?|numbers?|words?)\b|there (?:is|are) none", re.IGNORECASE
)
_ON_EMPTY = ("ValueError", "ZeroDivisionError", "IndexError", "KeyError", "StopIteration")
_ZERO = re.compile(r"\bzero\b|(?<![\d.])0(?![\d.])", re.IGNORECASE)
_OCTET = r"(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)"
_FORMS = {
    r"\bHH:MM:SS\b": (r"(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d", "is a time of the form HH:MM:SS"),
    r"\bHH:MM\b(?!:)": (r"(?:[01]\d|2[0-3]):[0-5]\d", "is a time of the form HH:MM"),
    r"\bmajor\.minor\.patch\b|\b1\.2\.3\b": (r"\d+\.\d+\.\d+", "is a version of the form 1.2.3"),
}
_KINDS = {
    "e-mail": (r"[^@\s]+@[^@\s]+", "is an e-mail address"),
    "IP address": (rf"{_OCTET}(?:\.{_OCTET}){{3}}|[0-9a-fA-F:]*:[0-9a-fA-F:.]*", "is an IP address"),
}


@dataclass(frozen=True, kw_only=True)
class ImpliedCondition:
    """A condition that likely belongs to the domain; ``text`` is an expression for --assume where it is ``code``."""

    text: str
    names: tuple[str, ...]
    holds: Holds
    code: bool = True
    stated: bool = False
    """The docstring says so in words; otherwise names alone suggest it."""


class ImpliedConditions:
    """The likely conditions of a function, and what its candidates may refuse."""

    def __init__(
        self,
        parameters: Sequence[Parameter] = (),
        docstring: str = "",
        *,
        examples: Sequence[Example] = (),
        requires: str = "",
    ):
        self.parameters, self.docstring = tuple(parameters), docstring
        said = set(re.findall(r"\w+", requires))
        known = [self._named(args, named) for args, named in _calls(examples)]
        self.conditions = [
            each
            for each in _conditions_of(self.parameters, docstring)
            if not said & set(each.names) and all(_holds(each, values) for values in known)
        ]

    def broken(self, arguments: str) -> ImpliedCondition | None:
        """Return the first condition that does not hold on an argument tuple."""
        if not self.conditions:
            return None
        values = self.values(arguments)
        return next((each for each in self.conditions if not _holds(each, values)), None)

    def values(self, arguments: str) -> dict[str, Any]:
        """Return an argument tuple by the names of its parameters."""
        try:
            values, named = split_arguments(read_literal(arguments))
        except BadText:
            return {}
        return self._named(values, named)

    def _named(self, values: Sequence[Any], named: Mapping[str, Any]) -> dict[str, Any]:
        names = [p.name for p in self.parameters if not p.keyword and not p.variadic]
        return dict(zip(names, values, strict=False)) | dict(named)

    def may_refuse(self, arguments: str, exception: str) -> str:
        """Return why a candidate may raise this on an input that the docstring does not speak of; "" if it may not.

        ``exception``: the builtin that it is or derives from.
        """
        values = list(self.values(arguments).values())
        is_empty = any(type(v) in (list, tuple, dict, set, str) and not v for v in values)
        if is_empty and exception in _ON_EMPTY and not _EMPTY.search(self.docstring):
            return "an argument is empty"
        is_zero = any(type(v) in (int, float) and not v for v in values)
        if is_zero and exception == "ZeroDivisionError" and not _ZERO.search(self.docstring):
            return "an argument is 0"
        is_text = exception == "ValueError" and any(type(v) is str for v in values)
        return "a candidate refuses the text" if is_text else ""


def _holds(condition: ImpliedCondition, values: Mapping[str, Any]) -> bool:
    if any(name not in values for name in condition.names):
        return True
    with suppress(TypeError, ValueError, AttributeError, ArithmeticError, RecursionError):
        return condition.holds(values)
    return True


def _calls(examples: Sequence[Example]) -> Iterator[tuple[list[Any], dict[str, Any]]]:
    """Iterate over the calls of examples whose arguments are plain literals."""
    for example in examples:
        with suppress(SyntaxError, ValueError, RecursionError, MemoryError):
            for node in ast.walk(ast.parse(example.source)):
                if isinstance(node, ast.Call):
                    with suppress(ValueError, TypeError):
                        named = {k.arg: ast.literal_eval(k.value) for k in node.keywords if k.arg}
                        yield [ast.literal_eval(arg) for arg in node.args], named


def _conditions_of(parameters: Sequence[Parameter], docstring: str) -> Iterator[ImpliedCondition]:
    typed = {p.name: ast.unparse(p.annotation) if p.annotation is not None else "" for p in parameters}
    yield from _of_numbers(typed, docstring)
    yield from _of_pairs(typed, docstring)
    yield from _of_lists(typed, docstring)
    if not _JUDGES_TEXT.search(docstring):
        yield from _of_texts(typed, docstring)


def _at_least(name: str, least: int, *, stated: bool) -> ImpliedCondition:
    return ImpliedCondition(
        text=f"{name} >= {least}",
        names=(name,),
        holds=lambda v: v[name] is None or v[name] >= least,
        stated=stated,
    )


def _of_numbers(typed: Mapping[str, str], docstring: str) -> Iterator[ImpliedCondition]:
    numbers = [name for name, said in typed.items() if re.match(r"(?:int|float|Decimal)\b", said)]
    sign = re.search(
        r"\b(?:an?|of|for|any|two) (non-?negative|positive) (?:whole )?(?:numbers?|integers?|ints?)\b", docstring, re.I
    )
    within = re.search(r"\beach(?: \w+)? (?:is|from|between) (\d+) (?:to|and) (\d+)\b", docstring)
    for name in numbers:
        least = re.search(rf"\b{name}`*,?(?: is| must be|:)? \(?(?:at least|>=) (-?\d+)", docstring)
        least = least or re.search(rf"\b{name} \(at least (-?\d+)\)", docstring)
        if least:
            yield _at_least(name, int(least[1]), stated=True)
        elif sign and len(numbers) == 1:
            yield _at_least(name, 0 if sign[1].lower().startswith("non") else 1, stated=True)
        elif "int" in typed[name] and _COUNTS.fullmatch(name) and not re.search(r"\bnegative\b", docstring):
            yield _at_least(name, int(bool(_FROM_ONE.fullmatch(name))), stated=False)
        if within and "int" in typed[name]:
            yield _within(name, int(within[1]), int(within[2]))


def _within(name: str, low: int, high: int) -> ImpliedCondition:
    return ImpliedCondition(
        text=f"{low} <= {name} <= {high}", names=(name,), holds=lambda v: low <= v[name] <= high, stated=True
    )


def _of_pairs(typed: Mapping[str, str], docstring: str) -> Iterator[ImpliedCondition]:
    if _ANY_ORDER.search(docstring):
        return
    names = list(typed)
    for one in names:
        for first, second in _PAIRS:
            other = re.sub(rf"(?:(?<=_)|^){first}(?=_|$)", second, one)
            if other != one and other in typed and typed[one] == typed[other] and not typed[one].startswith("str"):
                yield _in_order(one, other)
                break


def _in_order(one: str, other: str) -> ImpliedCondition:
    return ImpliedCondition(
        text=f"{one} <= {other}", names=(one, other), holds=lambda v: _key(v[one]) <= _key(v[other])
    )


def _key(value: Any) -> Any:
    """Return what a date is ordered by; its text form has year, month, day and so on in this order."""
    if isinstance(value, Instance):
        if value.fields or value.type_name not in ("date", "datetime", "time", "datetime.date", "datetime.datetime"):
            raise TypeError(value.type_name)
        return tuple(value.args)
    return value


def _of_lists(typed: Mapping[str, str], docstring: str) -> Iterator[ImpliedCondition]:
    lists = [name for name, said in typed.items() if re.match(r"(?:list|Sequence|tuple|List)\b", said)]
    in_order = re.search(
        r"\b(?:in|of|from|into|with|merge|search)\b(?: \w+){0,2} sorted (?:list|array|seq|num|val)", docstring, re.I
    )
    few = re.search(
        r"\b(two|2) or more\b|\bat least (?:two|2) (?:val|num|item|elem|point)|\b(non-?empty)\b", docstring, re.I
    )
    square = re.search(r"\bsquare (?:matrix|grid|list)", docstring, re.I)
    for name in lists:
        named = re.search(rf"\b{name}`* (?:is |are |must be )?(?:sorted|ascend|increas)", docstring, re.I)
        if (in_order or named) and not typed[name].startswith("list[list"):
            yield _sorted(name)
        if few and len(lists) == 1:
            yield _long(name, 2 if few[1] or few[2] else 1)
        if "[list[" in typed[name] and (square or re.search(r"\bmatrix\b|rectang|\bgrid\b", docstring, re.I)):
            yield _rows(name, square=bool(square))


def _sorted(name: str) -> ImpliedCondition:
    return ImpliedCondition(
        text=f"{name} == sorted({name})", names=(name,), holds=lambda v: list(v[name]) == sorted(v[name]), stated=True
    )


def _long(name: str, least: int) -> ImpliedCondition:
    return ImpliedCondition(
        text=f"len({name}) >= {least}", names=(name,), holds=lambda v: len(v[name]) >= least, stated=True
    )


def _rows(name: str, *, square: bool) -> ImpliedCondition:
    width = f"len({name})" if square else f"len({name}[0])"
    return ImpliedCondition(
        text=f"all(len(row) == {width} for row in {name})",
        names=(name,),
        holds=lambda v: len({len(row) for row in v[name]} | ({len(v[name])} if square else set())) <= 1,
        stated=True,
    )


def _of_texts(typed: Mapping[str, str], docstring: str) -> Iterator[ImpliedCondition]:
    texts = [name for name, said in typed.items() if said == "str"]
    for name in texts:
        if len(texts) == 1 and re.search(r"\bYYYY-MM-DD\b(?!T)", docstring):
            yield ImpliedCondition(
                text=f"{name} is a date of the form YYYY-MM-DD",
                names=(name,),
                holds=_is_date(name),
                code=False,
                stated=True,
            )
        kinds = kinds_of(name, docstring, [])
        for said, (form, words) in (*_FORMS.items(), *_KINDS.items()):
            stated = said in _FORMS and len(texts) == 1 and re.search(said, docstring) is not None
            if stated or said in kinds:
                yield _formed(name, form, words, stated=stated)


def _formed(name: str, form: str, words: str, *, stated: bool) -> ImpliedCondition:
    pattern = re.compile(form, re.ASCII)
    return ImpliedCondition(
        text=f"{name} {words}",
        names=(name,),
        holds=lambda v: bool(pattern.fullmatch(v[name])),
        code=False,
        stated=stated,
    )


def _is_date(name: str) -> Holds:
    def holds(values: Mapping[str, Any]) -> bool:
        text = values[name]
        if not re.fullmatch(r"\d{4}-\d\d-\d\d", text, re.ASCII):
            return False
        try:
            date.fromisoformat(text)
        except ValueError:
            return False
        return True

    return holds
