"""What the arguments of a function may be where no annotation says it: guessed, then tried on both versions."""

import ast
import random
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from difftrust_core.base.literals import BadText, read_literal
from difftrust_core.checks.source.function import Loading
from difftrust_core.checks.source.hints import sample_seeds
from difftrust_core.checks.source.target import Function
from difftrust_core.languages.python.argument_types import Annotations, ArgumentTypes, Parameter
from difftrust_core.languages.python.syntax import parsed

MIX = (
    "str", "int", "list[int]", "list[str]", "dict[str, int]", "float", "None", "bytes", "tuple[int, int]", "bool",
    "list[tuple[str, int]]", "dict[str, str]", "list[list[int]]", "set[int]", "Callable[[int], int]", "date",
    "datetime", "Path", "TextIO", "Iterator[int]", "dict[str, list[int]]", "list[dict[str, int]]", "re.Pattern[str]",
)  # fmt: skip
"""Kinds that are tried for a parameter of which nothing is known, likely ones first."""
_DOCUMENTED = ("by the docstring", "as a candidate has it", "by the calls found", "by its default")
_TRIES, _MOST_TRIES, _KEPT = 60, 240, 4
_ENOUGH = 0.15
"""A guess stays alone if so large a share of the inputs made of it is answered."""

Answers = Callable[[Sequence[str]], Sequence[bool]]
"""Whether at least one version returns on each input."""


@dataclass(frozen=True, kw_only=True)
class Kinds:
    """Types for all parameters, and of which parameters they are only guesses."""

    parameters: tuple[Parameter, ...]
    guessed: frozenset[str]
    notes: tuple[str, ...]


def settle(loading: Loading, functions: Sequence[Function], answers: Answers, *, seed: int) -> Kinds:
    """Return types for the parameters of ``loading``, those without annotation by what is known, used and answered.

    ``functions``: both versions. ``answers`` runs inputs.
    """
    known: dict[str, ast.expr] = {}
    guesses: dict[str, list[str]] = {}
    notes: list[str] = []
    for parameter in loading.parameters:
        said = evidence(parameter.name, functions, loading)
        if parameter.annotation is not None and loading.is_known(parameter.annotation):
            known[parameter.name] = parameter.annotation
            continue
        found, how = loading.guess(replace(parameter, annotation=None))
        if found is not None and how in _DOCUMENTED and loading.is_known(found):
            known[parameter.name] = _union([ast.unparse(found), *said])
            notes.append(f"{parameter.name}: {ast.unparse(known[parameter.name])}, {how}")
            continue
        first = [kind for kind in classes_like(parameter.name, functions, loading) if loading.is_known(_expr(kind))]
        first += [ast.unparse(found)] if found is not None and loading.is_known(found) else []
        guesses[parameter.name] = list(dict.fromkeys([*first, *said, *(k for k in MIX if loading.is_known(_expr(k)))]))
        if parameter.variadic and not first:
            guesses[parameter.name] = ["int", "str", *guesses[parameter.name]]
    chosen = _tried(loading, known, guesses, functions, answers, seed=seed) if guesses else {}
    for name, kinds in chosen.items():
        notes.append(f"{name}: {' | '.join(kinds)}, tried, for nothing says what it is")
    annotated = {**known, **{name: _union(kinds) for name, kinds in chosen.items()}}
    return Kinds(
        parameters=tuple(replace(p, annotation=annotated.get(p.name, p.annotation)) for p in loading.parameters),
        guessed=frozenset(chosen),
        notes=tuple(notes),
    )


def evidence(name: str, functions: Sequence[Function], loading: Loading) -> list[str]:
    """Return the kinds of a parameter that a version asks for: ``isinstance``, ``is None``; as annotations."""
    found: dict[str, None] = {}
    for function in functions:
        for node in ast.walk(function):
            match node:
                case ast.Call(func=ast.Name(id="isinstance"), args=[ast.Name(id=asked), kinds]) if asked == name:
                    parts = kinds.elts if isinstance(kinds, ast.Tuple) else _alternatives(kinds)
                    found |= dict.fromkeys(ast.unparse(part) for part in parts)
                case ast.Compare(
                    left=ast.Name(id=asked), ops=[ast.Is() | ast.IsNot()], comparators=[ast.Constant(value=None)]
                ):
                    found |= {"None": None} if asked == name else {}
    return [kind for kind in found if kind not in ("object", "type") and loading.is_known(_expr(kind))]


def classes_like(name: str, functions: Sequence[Function], loading: Loading) -> list[str]:
    """Return the classes of the files that have all attributes that the versions ask a parameter for."""
    asked = {
        node.attr
        for function in functions
        for node in ast.walk(function)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == name
    }
    found = []
    for statement in loading.target.module.body:
        if isinstance(statement, ast.ClassDef) and asked and asked <= _attributes(statement):
            found.append(statement.name)
    return found[:2]


def _attributes(owner: ast.ClassDef) -> set[str]:
    """Return the names that a class gives its objects: methods, fields, what its methods assign to ``self``."""
    found: set[str] = set()
    for node in ast.walk(owner):
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                found.add(name)
            case ast.Attribute(value=ast.Name(id="self"), attr=attr, ctx=ast.Store()):
                found.add(attr)
            case ast.AnnAssign(target=ast.Name(id=name)):
                found.add(name)
    return found


def _alternatives(node: ast.expr) -> list[ast.expr]:
    if isinstance(node, ast.BinOp):
        return [*_alternatives(node.left), *_alternatives(node.right)]
    return [node]


def _tried(
    loading: Loading,
    known: Mapping[str, ast.expr],
    guesses: Mapping[str, list[str]],
    functions: Sequence[Function],
    answers: Answers,
    *,
    seed: int,
) -> dict[str, list[str]]:
    """Return the kinds of each parameter in ``guesses`` on which a version returns; the first guess if it does."""
    generator = random.Random(f"{seed}/kinds")
    tries: list[tuple[dict[str, str], str]] = []
    longest = max(map(len, guesses.values()))
    n = min(_MOST_TRIES, max(_TRIES, longest * 4 * len(guesses)))
    for number in range(n):
        kinds = {name: _pick(number, options, generator) for name, options in guesses.items()}
        tries += [(kinds, text) for text in _inputs(loading, known, kinds, seed=number)]
    returned = answers([text for _, text in tries])
    good: dict[str, Counter[str]] = {name: Counter() for name in guesses}
    all_of: dict[str, Counter[str]] = {name: Counter() for name in guesses}
    for (kinds, text), answered in zip(tries, returned, strict=True):
        if _is_empty(text):  # nothing is done with an empty list, whatever it might hold
            continue
        for name, kind in kinds.items():
            all_of[name][kind] += 1
            good[name][kind] += answered
    return {
        name: _kept(options, good[name], all_of[name], evidence(name, functions, loading))
        for name, options in guesses.items()
    }


def _pick(number: int, options: Sequence[str], generator: random.Random) -> str:
    if number < len(options):
        return options[number]
    return options[0] if generator.random() < 0.4 else generator.choice(options)


def _kept(options: Sequence[str], good: Counter[str], tried: Counter[str], said: Sequence[str]) -> list[str]:
    first = options[0]
    if tried[first] and good[first] / tried[first] >= _ENOUGH:
        return list(dict.fromkeys([first, *(kind for kind in said if good[kind])]))
    rates = {kind: good[kind] / tried[kind] for kind in options if tried[kind] and good[kind]}
    if not rates:
        return list(options[:_KEPT])
    best = max(rates.values())
    return [kind for kind in options if rates.get(kind, 0.0) >= best / 3][:_KEPT]


def _inputs(loading: Loading, known: Mapping[str, ast.expr], kinds: Mapping[str, str], *, seed: int) -> tuple[str, ...]:
    annotated = {**known, **{name: _expr(kind) for name, kind in kinds.items()}}
    parameters = [replace(p, annotation=annotated.get(p.name, p.annotation)) for p in loading.parameters]
    types = ArgumentTypes(parameters, Annotations(loading.known_module))
    return sample_seeds(types, seed=seed, n_seeds=3, codes=loading.codes)


def _is_empty(text: str) -> bool:
    """Tell whether an argument holds nothing, so that an answer says nothing of what it may hold."""
    try:
        values = read_literal(text)
    except BadText:
        return True
    return any(type(value) in (list, dict, tuple, set, str, bytes) and not value for value in values)


def _expr(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body


def _union(kinds: Sequence[str]) -> ast.expr:
    """Return the annotation of all kinds; without what another already says."""
    distinct = dict.fromkeys(part.strip() for kind in kinds for part in _parts(kind))
    if "int" in distinct and "float" in distinct and "bool" in distinct:
        del distinct["bool"]
    return _expr(" | ".join(distinct))


def _parts(kind: str) -> list[str]:
    tree = parsed(kind)
    if tree is None or not isinstance(tree.body[0], ast.Expr):
        return [kind]
    return [ast.unparse(part) for part in _alternatives(tree.body[0].value)]
