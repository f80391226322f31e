"""The domain of a function as its file and its user state it: conditions over the parameters."""

import ast
import builtins
import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from difftrust.conditions.predicates import Predicate, negated
from difftrust.conditions.reading import Reading, UnreadSentence, contradicted, read_docstring
from difftrust.conditions.sections import Sections
from difftrust.conditions.shapes import Shape, shape_of
from difftrust.conditions.tokens import is_expression
from difftrust.source.docstring import types_in
from difftrust.source.scopes import bound_names, expression_in, free_names
from difftrust.source.target import Target
from difftrust.types.own import Parameter, parameters_in
from difftrust_core.exceptions import WrongUsage
from difftrust_core.languages.python.syntax import expression

_PRELUDE = {"math", "re", "copy"}
"""Modules that a condition may use without an import."""
_IN_ARRAYS = re.compile(r"ndarray|ArrayLike|Series|Frame")


@dataclass(frozen=True, kw_only=True)
class Conditions:
    """What must hold of the arguments."""

    stated: tuple[Predicate, ...] = ()
    """Of the user, of ``Requires:``, of asserts and of the docstring's sentences: other inputs are outside."""
    doubts: tuple[Predicate, ...] = ()
    """What holds of inputs inside for sure; of the others it is not known."""
    reading: Reading = field(default_factory=Reading)
    notes: tuple[str, ...] = ()

    @property
    def texts(self) -> tuple[str, ...]:
        """Those that every input keeps, as expressions."""
        return tuple(each.text for each in self.stated)

    @property
    def requires(self) -> str:
        """All of them as one expression; empty where there is none."""
        return " and ".join(f"({text})" for text in self.texts)

    @property
    def names(self) -> set[str]:
        """The names that they use."""
        return {name for text in self.texts for name in free_names(expression(text))}

    def with_docstring(
        self, parameters: Sequence[Parameter], calls: Sequence[Mapping[str, Any]], *, raises: bool
    ) -> "Conditions":
        """Return these and what the docstring's sentences say, as far as no call breaks it.

        ``raises``: exceptions are documented, so that an input outside may be there to be refused; it stays in doubt
        unless a sentence says which inputs are. What cannot be judged as a whole, an array, filters nothing either.
        """
        of_arrays = {
            p.name for p in parameters if p.annotation is not None and _IN_ARRAYS.search(ast.unparse(p.annotation))
        }
        refused = {each.text for each in self.reading.of("raises", "body")}
        said = [p for p in self.reading.predicates if p.text not in {*refused, *self.texts}]
        read = [each for each in said if not contradicted(each, calls)]
        is_open = raises and not refused
        sure = [
            p
            for p in read
            if not is_open and p.origin != "perhaps" and not (p.names & of_arrays and not p.text.startswith("set("))
        ]
        wrong = [p for p in said if p not in read]
        broken = [f"left out, for an example breaks it: {p.text} ({p.sentence!r})" for p in wrong]
        misread = [
            UnreadSentence(text=p.sentence, names=frozenset(p.names), origin=p.origin)
            for p in wrong
            if p.origin == "docstring" and p.sentence not in {u.text for u in self.reading.unread}
        ]
        reading = replace(self.reading, unread=(*self.reading.unread, *misread))
        notes = [
            f'condition {"perhaps meant" if p.origin == "perhaps" else "read"}: {p.text} ("{p.sentence}")' for p in read
        ]
        notes += [
            f'condition read, refused by an exception: {p.text} ("{p.sentence}")' for p in self.reading.of("raises")
        ]
        notes += [u.told for u in reading.unread if u.origin != "raises"]
        of_body = [p for p in self.reading.of("body") if not raises]
        return replace(
            self,
            stated=(*self.stated, *sure),
            doubts=(*[p for p in read if p not in sure], *of_body),
            reading=reading,
            notes=(*self.notes, *broken, *notes),
        )


def conditions_of(
    target: Target, assume: Sequence[str], names: Sequence[str], *, sentences: bool = False
) -> Conditions:
    """Return the user's conditions, those of the docstring's ``Requires:`` section, and the body's first asserts.

    ``names``: the parameters. ``sentences``: what else the docstring says is read too, for ``with_docstring``. Raises
    WrongUsage where one of ``assume`` is no expression over them.
    """
    terms = _Terms(names, set(names) | set(dir(builtins)) | _PRELUDE | bound_names(target.module))
    found = [Predicate(text=terms.assumed(text), origin="assume") for text in assume]
    lines, notes = Sections(target.docstring).requires, []
    is_read = sentences or not all(map(is_expression, lines))
    reading = read_docstring(target.docstring, shapes_of(target, names)) if is_read else Reading()
    for line in lines:
        for part in _parts(line):
            by_grammar = [p.text for p in reading.predicates if p.sentence.rstrip(". ") == line.rstrip(". ")]
            texts = [text] if (text := terms.condition(part)) else by_grammar
            found += [Predicate(text=text, sentence=line, origin="requires") for text in texts]
            if not texts:
                notes.append(f"not understood as a condition: {part!r}; write it as Python, or with --assume")
    found += [Predicate(text=text, origin="body") for text in _asserted(target, terms)]
    refused = [Predicate(text=text, origin="body") for text in _refused(target, terms)]
    unread = tuple(
        u for u in reading.unread if not (u.origin == "requires" and any(p.sentence == u.text for p in found))
    )
    return Conditions(
        stated=tuple({each.text: each for each in found}.values()),
        reading=Reading(predicates=(*reading.predicates, *refused), unread=unread),
        notes=tuple(dict.fromkeys(notes)),
    )


def shapes_of(target: Target, names: Sequence[str]) -> dict[str, Shape]:
    """Return what is known of the parameters: by annotations, else by what the docstring says of their types."""
    documented = types_in(target.docstring, names)
    classes = {node.name: node for node in target.module.body if isinstance(node, ast.ClassDef)}
    return {
        p.name: shape_of(p.annotation or documented.get(p.name), p.default, classes)
        for p in parameters_in(target.function.args)
        if p.name in names and p.name not in ("self", "cls") and not p.variadic
    }


@dataclass(frozen=True)
class _Terms:
    """What a condition may name."""

    names: Sequence[str]
    """The parameters."""
    known: set[str]

    def are_of(self, node: ast.expr) -> bool:
        """Tell whether an expression without effects is about the parameters, and names nothing unknown."""
        free = free_names(node)
        return free <= self.known and bool(free & set(self.names)) and not _has_effects(node)

    def condition(self, text: str) -> str:
        """Return the condition in one spelling, "" if it is none."""
        node = expression_in(text)
        is_one = isinstance(node, ast.Compare | ast.BoolOp | ast.Call | ast.Attribute | ast.Subscript | ast.Name) or (
            isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not)
        )
        return ast.unparse(node) if node is not None and is_one and self.are_of(node) else ""

    def assumed(self, text: str) -> str:
        """Return a condition of the user in one spelling. Raises WrongUsage where it is none."""
        said = ", ".join(self.names)
        try:
            node = expression(text.strip())
        except (SyntaxError, ValueError, RecursionError, MemoryError) as e:
            found = e.msg if isinstance(e, SyntaxError) else type(e).__name__
            raise WrongUsage(
                f"expected a condition in Python after --assume, got {text!r}: {found}; "
                f'write e.g. "{self.names[0]} != 0"'
            ) from None
        unknown = sorted(free_names(node) - self.known)
        if unknown:
            raise WrongUsage(
                f"expected a condition over {said}, got {text!r}: {', '.join(unknown)} is not known; "
                "use the parameters' names"
            )
        if not free_names(node) & set(self.names):
            raise WrongUsage(f"expected a condition over {said}, got {text!r}, which names none of them")
        if _has_effects(node):
            raise WrongUsage(f"expected a condition without await, yield and :=, got {text!r}; compare the arguments")
        return ast.unparse(node)


def _has_effects(node: ast.expr) -> bool:
    return any(isinstance(n, ast.Await | ast.Yield | ast.YieldFrom | ast.NamedExpr) for n in ast.walk(node))


def _parts(line: str) -> list[str]:
    """Return a line as conditions: ``a > 0, b > 0`` are two; a comment or an explanation after it goes."""
    plain = re.sub(r"``?", "", line).strip().rstrip(".;,").strip()
    node = expression_in(plain)
    if node is None and ":" in plain:  # start <= end: the interval is not empty
        for part in (plain.partition(": ")[0].strip(), plain.rpartition(": ")[2].strip()):
            if isinstance(expression_in(part), ast.Compare | ast.BoolOp):
                return [part]
    if isinstance(node, ast.Tuple) and not any(isinstance(part, ast.Name) for part in node.elts):
        return [ast.unparse(part) for part in node.elts]
    return [plain] if plain else []


def _asserted(target: Target, terms: _Terms) -> list[str]:
    """Return what the body asserts before it does anything else."""
    first = itertools.takewhile(lambda statement: isinstance(statement, ast.Assert), target.body)
    tests = [statement.test for statement in first if isinstance(statement, ast.Assert)]
    return [ast.unparse(test) for test in tests if terms.are_of(test)]


def _refused(target: Target, terms: _Terms) -> Iterator[str]:
    """Yield what holds where the body raises no exception before it does anything else."""
    for statement in target.body:
        match statement:
            case ast.If(test=test, body=[ast.Raise()], orelse=[]):
                if terms.are_of(test):
                    yield ast.unparse(negated(test))
            case ast.Assert():
                continue
            case _:
                return
