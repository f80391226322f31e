"""What the arguments of two versions are: what both take, what the files say of them, and what is tried."""

import ast
import copy
import random
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from difftrust.diff.version import Bundle, Version
from difftrust.search.drawing import sample_seeds
from difftrust.source.doctests import examples_in
from difftrust.source.function import Loading, widened, with_method_types
from difftrust.source.literal_calls import mine_calls
from difftrust.source.package import with_modules
from difftrust.source.target import DEFINED, Target
from difftrust.source.usage import alternatives
from difftrust.types.argument_types import Annotations, ArgumentTypes, Parameter, arguments_of
from difftrust.types.own import Function
from difftrust_core.exceptions import BadStub
from difftrust_core.languages.python.syntax import expression


@dataclass(frozen=True, kw_only=True)
class Signature:
    """Parameters that inputs are drawn for; ``note``: what sets such inputs apart, "" for those that both take."""

    parameters: tuple[Parameter, ...]
    note: str = ""


def parameters_of(target: Target) -> tuple[Parameter, ...]:
    """Return what a call takes, nothing for a function without parameters."""
    with suppress(BadStub):
        return tuple(target.parameters())
    return ()


def signatures(old: Target, new: Target) -> list[Signature]:
    """Return the parameters that both versions have, calls that only the old one allows, then what each has besides."""
    before, after = parameters_of(old), parameters_of(new)
    common = _common(before, after)
    found, names = [Signature(parameters=common), *_lost(old, new, common)], renamed(old, new)
    for own, other, which in ((after, before, "old"), (before, after, "new")):
        known = {parameter.name for parameter in (*common, *other)} | {name for pair in names for name in pair}
        extra = [parameter.name for parameter in own if parameter.name not in known]
        if extra:
            note = f"it gives {', '.join(extra)}, which the {which} version does not take"
            found.append(Signature(parameters=own, note=note))
    return found


def _lost(old: Target, new: Target, common: Sequence[Parameter]) -> Iterator[Signature]:
    """Yield the ways to give parameters of both versions that the old one allows and the new one may not."""
    before, after = parameters_of(old), parameters_of(new)
    names, there = {p.name: p for p in after}, {p.name for p in common if not p.keyword}
    moved = [p.name for p in before if not p.keyword and p.name in names and p.name not in there]
    if moved:
        yield Signature(parameters=before, note=f"it gives {', '.join(moved)} by position, as the old version takes it")
    needed = [
        p.name for p in before if not p.required and not p.variadic and p.name in names and names[p.name].required
    ]
    if needed:
        yield Signature(parameters=before, note=f"it may leave out {', '.join(needed)}, as the old version allows")
    unnamed = [{p.arg for p in target.function.args.posonlyargs} for target in (old, new)]
    by_name = [
        p.name
        for p in before[old.owner is not None and old.kind in ("method", "property") :]
        if p.name in unnamed[1] - unnamed[0]
    ]
    if by_name:
        behind = before[[p.name for p in before].index(by_name[0]) :]
        given = [replace(p, keyword=True) for p in behind if p.keyword or not p.variadic]
        parameters = (*before[: -len(behind)], *given)
        yield Signature(parameters=parameters, note=f"it gives {', '.join(by_name)} by name, as the old version allows")


def _common(before: Sequence[Parameter], after: Sequence[Parameter]) -> tuple[Parameter, ...]:
    old_places, new_places = _positional(before), _positional(after)
    old_names, new_names = {p.name: p for p in before}, {p.name: p for p in after}
    found: list[Parameter] = []
    for one, other in zip(old_places, new_places, strict=False):
        if one.name != other.name and (one.name in new_names or other.name in old_names):
            break
        found.append(_both(one, other))
    aligned = len(found)
    if aligned == len(old_places) == len(new_places):
        found += _variadic(before, after, keyword=False)
    taken = {p.name for p in (*old_places[:aligned], *new_places[:aligned])}
    for name, parameter in new_names.items():
        partner = old_names.get(name)
        if name not in taken and partner is not None and not parameter.variadic and not partner.variadic:
            found.append(replace(_both(partner, parameter), keyword=True))
    return (*found, *_variadic(before, after, keyword=True))


def _variadic(before: Sequence[Parameter], after: Sequence[Parameter], *, keyword: bool) -> list[Parameter]:
    """Return the parameter that takes all arguments left, by position or by name, where both versions have one."""
    old, new = ([p for p in own if p.variadic and p.keyword == keyword] for own in (before, after))
    return new if old else []


def _positional(parameters: Sequence[Parameter]) -> list[Parameter]:
    return [p for p in parameters if not p.keyword and not p.variadic]


def _both(old: Parameter, new: Parameter) -> Parameter:
    """Return a parameter as calls give it that suit both: left out only where both have a default."""
    required = old.required or new.required
    return replace(new, annotation=new.annotation or old.annotation, required=required)


def renamed(old: Target, new: Target) -> list[tuple[str, str]]:
    """Return the positional parameters that changed their names only."""
    before, after = parameters_of(old), parameters_of(new)
    names = {p.name for p in before} & {p.name for p in after}
    pairs = zip(_positional(before), _positional(after), strict=False)
    return [(a.name, b.name) for a, b in pairs if not {a.name, b.name} & names]


@dataclass(frozen=True, kw_only=True)
class Pair:
    """Two versions with their programs, and the functions as their arguments are read from them."""

    old: Version
    new: Version
    bundles: tuple[Bundle, Bundle]
    targets: tuple[Target, Target]


def target_of(version: Version, bundle: Bundle) -> Target:
    """Return the function in its file, beside it the classes and constants of other modules that it rests on.

    A class's ``__init__`` becomes a function of the class's name.
    """
    others = {name: body for name, body in bundle.modules.items() if name}
    target = with_method_types(with_modules(version.target, version.root, others))
    owner = target.owner
    if owner is None or not version.makes:
        return target
    made = copy.copy(target.function)
    made.name, made.args = owner.name, copy.copy(made.args)
    first = "posonlyargs" if made.args.posonlyargs else "args"
    setattr(made.args, first, getattr(made.args, first)[1:])
    made.decorator_list = []
    return replace(target, owner=None, function=made)


def load(pair: Pair, parameters: Sequence[Parameter], examples: Sequence[str]) -> Loading:
    """Return what the files say of the arguments ``parameters``: annotations, docstrings, calls in both trees."""
    old, new = pair.targets
    loading = Loading(new, (pair.old.text, pair.new.text), parameters)
    loading.take_examples(examples)
    loading.take_calls()
    if pair.old.path.resolve() != pair.new.path.resolve():
        loading.add_calls(mine_calls(old).seeds)
    shown = (e for version in (pair.new, pair.old) for text in _docstrings(version) for e in examples_in(text, new))
    loading.add_calls([call for example in shown for call in loading.calls_in(example)])
    return loading


def _docstrings(version: Version) -> Iterator[str]:
    """Iterate over the docstrings of a file that name the function."""
    for node in ast.walk(version.target.module):
        text = ast.get_docstring(node) if isinstance(node, ast.Module | DEFINED) else None
        if text and version.target.function.name in text:
            yield text


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
class _Guess:
    """What a parameter may be."""

    options: list[str]
    """Likely ones first."""
    said: list[str]
    """Those that a version asks for."""
    is_sound: bool
    """The first rests on something."""


@dataclass(frozen=True, kw_only=True)
class Kinds:
    """Types for all parameters, and of which parameters they are only guesses."""

    parameters: tuple[Parameter, ...]
    guessed: frozenset[str]
    unknown: frozenset[str]
    """Those of which nothing tells what they are."""
    notes: tuple[str, ...]


def settle(loading: Loading, functions: Sequence[Function], answers: Answers, *, seed: int) -> Kinds:
    """Return types for the parameters of ``loading``, those without annotation by what is known, used and answered.

    ``functions``: both versions. ``answers`` runs inputs.
    """
    known: dict[str, ast.expr] = {}
    guesses: dict[str, _Guess] = {}
    notes: list[str] = []
    for parameter in loading.parameters:
        said = loading.asked(parameter.name, functions)
        if parameter.annotation is not None and loading.is_known(parameter.annotation):
            known[parameter.name] = widened(parameter.annotation, said)
            continue
        found, how = loading.guess(replace(parameter, annotation=None))
        if found is not None and how in _DOCUMENTED and loading.is_known(found):
            known[parameter.name] = _union([ast.unparse(found), *said])
            notes.append(f"{parameter.name}: {ast.unparse(known[parameter.name])}, {how}")
            continue
        first = loading.known(classes_like(parameter.name, functions, loading))
        first += [_open(ast.unparse(found), how)] if found is not None and loading.is_known(found) else []
        likely = ["int", "str"] if parameter.variadic and not first else first
        options = list(dict.fromkeys([*likely, *said, *loading.known(MIX)]))
        guesses[parameter.name] = _Guess(options=options, said=said, is_sound=bool(first))
    chosen = _tried(loading, known, guesses, answers, seed=seed) if guesses else {}
    for name, kinds in chosen.items():
        how = "by its use or name" if guesses[name].is_sound else "unknown, so several kinds were tried"
        unknown = next(p.annotation for p in loading.parameters if p.name == name)
        why = f"; its annotation {ast.unparse(unknown)} is not understood" if unknown is not None else ""
        known[name] = _union(kinds)
        notes.append(f"{name}: {ast.unparse(known[name])}, {how}{why}")
    return Kinds(
        parameters=tuple(replace(p, annotation=known.get(p.name, p.annotation)) for p in loading.parameters),
        guessed=frozenset(chosen),
        unknown=frozenset(name for name in chosen if not guesses[name].is_sound),
        notes=tuple(notes),
    )


def classes_like(name: str, functions: Sequence[Function], loading: Loading) -> list[str]:
    """Return the classes of the files that have all attributes that the versions ask a parameter for."""
    asked = {
        node.attr
        for function in functions
        for node in ast.walk(function)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == name
    }
    classes = [s for s in loading.target.module.body if isinstance(s, ast.ClassDef)] if asked else []
    return [owner.name for owner in classes if asked <= _attributes(owner)][:2]


def _attributes(owner: ast.ClassDef) -> set[str]:
    """Return the names that a class gives its objects: methods, fields, what its methods assign to ``self``."""
    found: set[str] = set()
    for node in ast.walk(owner):
        match node:
            case (
                ast.FunctionDef(name=name)
                | ast.AsyncFunctionDef(name=name)
                | ast.Attribute(value=ast.Name(id="self"), attr=name, ctx=ast.Store())
                | ast.AnnAssign(target=ast.Name(id=name))
            ):
                found.add(name)
    return found


def _tried(
    loading: Loading, known: Mapping[str, ast.expr], guesses: Mapping[str, _Guess], answers: Answers, *, seed: int
) -> dict[str, list[str]]:
    """Return the kinds of each parameter in ``guesses`` on which a version returns; the first guess if it does."""
    generator = random.Random(f"{seed}/kinds")
    tries: list[tuple[dict[str, str], str]] = []
    longest = max(len(guess.options) for guess in guesses.values())
    n = min(_MOST_TRIES, max(_TRIES, longest * 4 * len(guesses)))
    for number in range(n):
        kinds = {name: _pick(number, guess.options, generator) for name, guess in guesses.items()}
        tries += [(kinds, text) for text in _inputs(loading, known, kinds, seed=number)]
    returned = answers([text for _, text in tries])
    tried, good = Counter[tuple[str, str]](), Counter[tuple[str, str]]()
    for (kinds, text), answered in zip(tries, returned, strict=True):
        if not _is_empty(text):  # nothing is done with an empty list, whatever it might hold
            tried.update(kinds.items())
            good.update(kinds.items() if answered else ())
    return {
        name: _kept(guess, {k: good[name, k] / tried[name, k] for k in guess.options if good[name, k]})
        for name, guess in guesses.items()
    }


def _pick(number: int, options: Sequence[str], generator: random.Random) -> str:
    if number < len(options):
        return options[number]
    return options[0] if generator.random() < 0.4 else generator.choice(options)


def _kept(guess: _Guess, rates: Mapping[str, float]) -> list[str]:
    """Return the kinds that stay; ``rates``: the share of the inputs of each that is answered, of those with any."""
    first = guess.options[0]
    if guess.is_sound and rates.get(first, 0.0) >= _ENOUGH:
        return list(dict.fromkeys([first, *(kind for kind in guess.said if kind in rates)]))
    best = max(rates.values(), default=0.0)
    return [kind for kind in guess.options if rates.get(kind, 0.0) >= best / 3][:_KEPT]


def _inputs(loading: Loading, known: Mapping[str, ast.expr], kinds: Mapping[str, str], *, seed: int) -> tuple[str, ...]:
    annotated = {**known, **{name: expression(kind) for name, kind in kinds.items()}}
    parameters = [replace(p, annotation=annotated.get(p.name, p.annotation)) for p in loading.parameters]
    types = ArgumentTypes(parameters, Annotations(loading.known_module))
    return sample_seeds(types, seed=seed, n_seeds=3)


def _open(kind: str, how: str) -> str:
    """Return a guess, wider where all that is known is that the value is asked whether it is true."""
    return kind.replace("bool", "bool | str") if how == "by its use" and kind in ("bool", "bool | None") else kind


def _is_empty(text: str) -> bool:
    """Tell whether an argument holds nothing, so that an answer says nothing of what it may hold."""
    values = arguments_of(text)
    empty = (type(value) in (list, dict, tuple, set, str, bytes) and not value for value in values or ())
    return values is None or any(empty)


def _union(kinds: Sequence[str]) -> ast.expr:
    """Return the annotation of all kinds; without what another already says."""
    distinct = dict.fromkeys(ast.unparse(part) for kind in kinds for part in alternatives(expression(kind)))
    if "int" in distinct and "float" in distinct and "bool" in distinct:
        del distinct["bool"]
    return expression(" | ".join(distinct))
