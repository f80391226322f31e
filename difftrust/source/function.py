"""A function in a user's file as a task: its file is parsed, never executed."""

import ast
import builtins
import copy
import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from difftrust.conditions.reading import order_is_free
from difftrust.search.columns import columns_in
from difftrust.search.drawing import sample_seeds
from difftrust.source.closure import LIBRARIES, Preamble, packages_of, preamble_of
from difftrust.source.conditions import Conditions, conditions_of
from difftrust.source.docstring import IS_EXCEPTION, exceptions_in, types_in
from difftrust.source.doctests import Example, example_of, examples_in
from difftrust.source.literal_calls import Caller, mine_calls
from difftrust.source.package import ALONE, Package, surroundings_of
from difftrust.source.scopes import bound_names, free_names, names_in_prose, tree_of
from difftrust.source.target import Target, find_target, refuse_deep_nesting
from difftrust.source.usage import COLUMN, asked_kinds, candidate_types, named_type, usage_types
from difftrust.source.values import PRELUDE, Scope
from difftrust.types.argument_types import Annotations, ArgumentTypes, NotResolved, Parameter, split_arguments
from difftrust.types.classes import base_names
from difftrust.types.infer import literal_of
from difftrust.types.own import Function, classes_in, parameters_in
from difftrust.types.value_types import type_of_values
from difftrust_core.base.literals import BadText, read_literal
from difftrust_core.base.task import Domain, Task
from difftrust_core.datasets.entries import signature_of
from difftrust_core.datasets.seeds import NotFolded
from difftrust_core.exceptions import BadStub, WrongUsage
from difftrust_core.languages.python.syntax import expression, parsed

BENCHMARK = "check"
ENOUGH = 10
"""With fewer seeds from the user's own files, some are drawn from the types too."""
MORE = 20
"""So many, at most."""


@dataclass(frozen=True, kw_only=True)
class Stub:
    """A function to check: a task without a reference, the types of its arguments, and what has to be said."""

    task: Task
    types: ArgumentTypes | None
    """None where types are not to be checked."""
    examples: tuple[Example, ...] = ()
    """Of the docstring, then those that the user added."""
    documented_exceptions: frozenset[str] = frozenset()
    """Names of the exceptions that docstring and examples say are raised."""
    columns: Mapping[str, str] = field(default_factory=dict)
    """Columns of frames, and what each holds: int, float, str, date or bool."""
    libraries: tuple[str, ...] = ()
    """Packages beside the standard library that candidates may import."""
    conditions: Conditions = field(default_factory=Conditions)
    """What must hold of the arguments, and what of the docstring could not be read."""
    allowed_calls: tuple[Mapping[str, Any], ...] = ()
    """The arguments, by name, of examples and calls that are taken as allowed."""
    stated_calls: frozenset[str] = frozenset()
    """Argument tuples of which an example says what is right."""
    package: Package = ALONE
    """What the candidates' file has around it of its own package."""
    left_out: tuple[str, ...] = ()
    """Imports of the file that candidates do not have."""
    any_order: str = ""
    """The sentence that leaves the order of results open, if one does."""
    notes: tuple[str, ...] = ()


@refuse_deep_nesting()
def load_stub(
    where: str,
    *,
    examples: Sequence[str] = (),
    assume: Sequence[str] = (),
    typed: bool = True,
    seed: int = 0,
    allow_imports: Sequence[str] = (),
    candidates: Sequence[str] = (),
    needs_docstring: bool = True,
) -> Stub:
    """Return the function ``module.py::function`` or ``module.py::Class.method`` as a task.

    Its seed inputs are the calls in its docstring, in ``examples``, in its file, its tests and its package; few of
    them, or none, are added to from the types. ``candidates``: the texts of programs, which tell what no annotation
    says. ``assume``: conditions on the arguments. Raises WrongUsage where nothing is known to start from, BadStub
    where the function cannot be checked.
    """
    plain = find_target(where)
    if needs_docstring and not plain.docstring:
        raise BadStub(f"expected a docstring that says what {plain.entry_point} shall do, found none; write one")
    around = surroundings_of(plain, (*candidates, *examples), allowed=allow_imports)
    target, package = with_method_types(around.target), around.package
    loading = Loading(target, candidates)
    conditions = conditions_of(target, assume, [parameter.name for parameter in loading.parameters], sentences=True)
    loading.take_examples(examples)
    loading.take_calls()
    types = loading.types(typed=typed, keys=conditions.reading.keys)
    conditions = conditions.with_docstring(
        loading.parameters, loading.allowed_calls, raises=bool(loading.exceptions - {"TypeError"})
    )
    columns = loading.columns
    seeds = loading.seeds(types, typed=typed, seed=seed, columns=columns)
    any_order = order_is_free(target.docstring)
    said = [f'the order of results does not count: "{any_order}" (it does with --equality strict)'] if any_order else []
    names = loading.names | conditions.names | classes_in(types.types) | around.names
    preamble = preamble_of(plain, also=names, allowed=allow_imports, available_import=around.available_import)
    packages = {
        *preamble.libraries,
        *package.libraries,
        *(p for p in packages_of(*map(tree_of, candidates)) if p in LIBRARIES),
    }
    packages |= {p for p in LIBRARIES if loading.names_package(p, seeds)}
    return Stub(
        task=_task(plain, seeds, preamble, conditions),
        types=types if typed else None,
        examples=tuple(loading.examples),
        documented_exceptions=loading.exceptions,
        columns=columns,
        libraries=tuple(dict.fromkeys([*sorted(packages), *allow_imports])),
        conditions=conditions,
        allowed_calls=tuple(loading.allowed_calls),
        stated_calls=frozenset(text for each in loading.examples if each.stated for text in loading.calls_in(each)),
        package=package,
        left_out=preamble.left_out,
        any_order=any_order,
        notes=(*loading.notes, *conditions.notes, *said, *preamble.notes, *around.notes),
    )


def refused_examples(where: str, texts: Sequence[str]) -> dict[str, str]:
    """Return those of ``texts`` that ``load_stub`` would not take as examples, each with why."""
    loading, found = Loading(surroundings_of(find_target(where), texts, allowed=()).target, ()), {}
    for text in texts:
        try:
            loading.read_example(text)
        except WrongUsage as e:
            found[text] = str(e)
    return found


def _task(target: Target, seeds: Sequence[str], preamble: Preamble, conditions: Conditions) -> Task:
    name, signature = target.entry_point, signature_of(target.function)
    asked = "\0".join((name, signature, target.docstring, preamble.text))
    digest = hashlib.blake2b(asked.encode("utf-8", "surrogatepass"), digest_size=4).hexdigest()
    stem, plain = (re.sub(r"[^A-Za-z0-9_.\-]", "_", text) for text in (target.path.stem, name))
    return Task(
        benchmark=BENCHMARK,
        # What is asked for is part of the name, so that samples for an older text are not taken for this one's.
        task_id=f"{stem or '_'}/{plain}/{digest}",
        entry_point=name,
        signature=signature,
        description=target.docstring,
        seed_inputs=tuple(seeds),
        preamble=preamble.text,
        domain=Domain(requires=conditions.requires) if conditions.texts else None,
    )


def with_method_types(target: Target) -> Target:
    """Return a function in its file, the methods of whose classes have annotations, guessed where they have none."""
    made = {id(s): _with_types(s) for s in target.module.body if isinstance(s, ast.ClassDef)}
    body = [made.get(id(s), s) for s in target.module.body]
    owner = target.owner
    if owner is not None:
        same = [each for each in made.values() if each.name == owner.name]
        owner = made.get(id(owner), same[-1] if same else owner)
    return replace(target, module=ast.Module(body=body, type_ignores=[]), owner=owner)


def _with_types(owner: ast.ClassDef) -> ast.ClassDef:
    made = copy.copy(owner)
    made.body = [_typed(s) if isinstance(s, Function) else s for s in owner.body]
    return made


def _typed(method: Function) -> Function:
    """Return a method with the types of its parameters, by their use, default or name where it says none."""
    missing = {p.name: p.default for p in [*parameters_in(method.args)][1:] if not (p.annotation or p.variadic)}
    if not missing:
        return method
    typed, used = copy.deepcopy(method), usage_types(method, ())
    for argument in [*typed.args.posonlyargs, *typed.args.args, *typed.args.kwonlyargs]:
        if argument.arg in missing:
            default = missing[argument.arg]
            found = used.get(argument.arg) or type_of_values([literal_of(default)]) or named_type(argument.arg)
            is_none = isinstance(default, ast.Constant) and default.value is None
            argument.annotation = or_none(found) if found is not None and is_none else found
    return typed


class Loading:
    """One function on its way to a stub: what was found of it so far; ``candidates``: the texts of programs."""

    def __init__(self, target: Target, candidates: Sequence[str], parameters: Sequence[Parameter] | None = None):
        """``parameters``: what inputs are made for; None: all that the function takes."""
        self.target = target
        self.parameters = target.parameters() if parameters is None else list(parameters)
        self.candidates = tuple(candidates)
        self.codes = [*([ast.unparse(target.function)] if target.is_written else []), *candidates]
        self._trees = [*map(tree_of, self.codes)]
        self.scope = Scope(target)
        self.caller = Caller(target, self.scope)
        self.examples: list[Example] = []
        self.notes: list[str] = []
        self._given: list[str] = []
        self._mined: list[str] = []
        self._calls_note = ""

    def take_examples(self, texts: Sequence[str]) -> None:
        """Take the examples of the docstring, of its class, and those that the user added. Raises WrongUsage."""
        target = self.target
        self.examples = examples_in(target.docstring, target)
        if target.owner:
            name = target.function.name
            said = examples_in(ast.get_docstring(target.owner) or "", target)
            self.examples += [e for e in said if re.search(rf"\.{name}\b", e.source)]
        self.examples += [example for text in texts for example in self.read_example(text)]
        self._given += [call for example in self.examples for call in self.calls_in(example)]
        self._mined += self._prose_calls()

    def read_example(self, text: str) -> list[Example]:
        """Return the examples that the user gives in a text. Raises WrongUsage."""
        return example_of(text, self.target, bound_names(self.target.module) | _BUILTINS)

    def reads(self, text: str) -> bool:
        """Tell whether the arguments of an example that the user gives are known here. Raises WrongUsage."""
        return any(True for example in self.read_example(text) for _ in self.calls_in(example))

    def calls_in(self, example: Example) -> Iterator[str]:
        """Iterate over the argument tuples of an example's calls."""
        return self.caller.seeds(tree_of(example.source).body)

    def take_calls(self) -> None:
        """Take the calls with literal arguments in the function's file, its tests and its package."""
        calls = mine_calls(self.target)
        new = [text for text in calls.seeds if text not in self._given]
        self._mined += new
        if new:
            places = ", ".join(f"{count} in {name}" for name, count in calls.files[:3])
            more = f" and {len(calls.files) - 3} more files" if len(calls.files) > 3 else ""
            self._calls_note = f"calls with literal arguments found: {places}{more}; they are seed inputs"

    def add_calls(self, seeds: Sequence[str]) -> None:
        """Take calls that were found elsewhere, as argument tuples."""
        self._mined += [text for text in seeds if text not in self._given and text not in self._mined]

    @property
    def _known(self) -> list[str]:
        return [*self._given, *self._mined]

    @property
    def calls(self) -> list[str]:
        """The argument tuples of all examples and calls that were found."""
        return list(dict.fromkeys(self._known))

    def _prose_calls(self) -> list[str]:
        """Return the calls that the docstring holds outside of examples, as in ``f("a") -> "b"``."""
        found: list[str] = []
        plain = "\n".join(line for line in self.target.docstring.splitlines() if ">>>" not in line)
        name = re.escape(self.target.function.name)
        for match in list(re.finditer(rf"(?<![\w.]){name}\(", plain))[:20]:
            for end in list(re.finditer(r"\)", plain[match.start() : match.start() + 1000]))[:20]:
                tree = parsed(plain[match.start() : match.start() + end.end()])
                if tree is not None:
                    found += self.caller.seeds(tree.body)
                    break
        return found

    @property
    def allowed_calls(self) -> list[dict[str, Any]]:
        """The arguments of examples that do not state an exception, by name; of other calls where there are none."""
        given = [text for example in self.examples if not example.exception for text in self.calls_in(example)]
        return [self._named(text) for text in dict.fromkeys(given or ([] if self._given else self._mined))]

    @property
    def values(self) -> list[Any]:
        """All arguments that are known."""
        return [value for text in self._known for value in self._named(text).values()]

    @property
    def columns(self) -> dict[str, str]:
        """The columns of frames, and what each holds; none where no frame is among the parameters."""
        said = [ast.unparse(p.annotation) for p in self.parameters if p.annotation is not None]
        has_frames = any(re.search(r"Frame|Series", text) for text in said)
        return columns_in(self.target.docstring, self.codes, self.values) if has_frames else {}

    def names_package(self, package: str, seeds: Sequence[str]) -> bool:
        """Tell whether seeds or examples use a package."""
        short = LIBRARIES[package]
        pattern = re.compile(rf"\b(?:{short}\.|import {package}\b|from {package}\b)")
        return any(pattern.search(text) for text in [*seeds, *[e.code for e in self.examples]])

    @property
    def names(self) -> set[str]:
        """Names of the file that examples, seeds, candidates and the docstring use."""
        texts = [*self._known, *[example.code for example in self.examples], *self.candidates]
        found = {name for text in texts for name in free_names(tree_of(text))}
        return found | names_in_prose(self.target.docstring)

    @property
    def exceptions(self) -> frozenset[str]:
        """Names of exceptions that the docstring or an example says are raised."""
        classes = [s for s in self.target.module.body if isinstance(s, ast.ClassDef)]
        own = {owner.name for owner in classes if any(map(IS_EXCEPTION, base_names(owner)))}
        stated = {example.exception for example in self.examples if example.exception}
        return exceptions_in(self.target.docstring, own) | stated

    def types(self, *, typed: bool, keys: Mapping[str, tuple[str, ...]]) -> ArgumentTypes:
        """Return the types of the arguments; those without annotation as far as they can be found out.

        ``keys``: of a dict, those that it has for sure.
        """
        self.parameters = [replace(self._with_type(p), keys=keys.get(p.name, ())) for p in self.parameters]
        types = ArgumentTypes(self.parameters, Annotations(self.known_module))
        if typed:
            self.notes += [f"argument {name} is not checked: {why}" for name, why in types.unchecked.items()]
        return types

    def _with_type(self, parameter: Parameter) -> Parameter:
        owner, said = self.target.owner, parameter.annotation
        if said is None:
            said, how = self.guess(parameter)
            self.notes += [f"{parameter.name}: {ast.unparse(said)}, {how}"] if said is not None else []
        else:
            said = widened(said, self.asked(parameter.name, self._trees))
            said = _of_owner(said, owner.name) if owner else said
        return replace(parameter, annotation=said)

    def asked(self, name: str, functions: Iterable[ast.AST]) -> list[str]:
        """Return the kinds that functions ask a parameter for and that are known here, as annotations."""
        return self.known(asked_kinds(name, functions))

    def known(self, kinds: Iterable[str]) -> list[str]:
        """Return those annotations that can be resolved among the names of the file."""
        return [kind for kind in kinds if self.is_known(expression(kind))]

    def guess(self, parameter: Parameter) -> tuple[ast.expr | None, str]:
        """Return a type for a parameter without annotation, and where it comes from."""
        name = parameter.name
        used = usage_types(self.target.function, self.codes).get(name)
        if parameter.variadic:
            return used, "by its use"
        documented = types_in(self.target.docstring, [p.name for p in self.parameters]).get(name)
        annotated = candidate_types(self.target.function, self.candidates).get(name)
        for guess, how in ((documented, "by the docstring"), (annotated, "as a candidate has it")):
            if guess is not None and self.is_known(guess):
                return guess, how
        values = [found[name] for found in map(self._named, self._known) if name in found]
        defaults = self._defaults(parameter)
        by_values = type_of_values([*values, *defaults])
        if by_values is not None:
            how = "by the calls found" if values else "by its default"
            return _wider(by_values, used, whole_only=not values), how
        for guess, how in ((used, "by its use"), (named_type(name), "by its name")):
            if guess is not None and ast.unparse(guess) == COLUMN:
                names = ", ".join(map(repr, columns_in(self.target.docstring, self.codes, self.values)))
                guess = expression(f"Literal[{names}]" if names else "str")
            if guess is not None and self.is_known(guess):
                return (or_none(guess) if None in defaults else guess), how
        return None, ""

    def _defaults(self, parameter: Parameter) -> list[Any]:
        """Return the value of a default that is a literal, nothing where there is none."""
        if parameter.default is not None:
            with suppress(NotFolded, BadText):
                return [self.scope.value(parameter.default, {})]
        return []

    def is_known(self, annotation: ast.expr) -> bool:
        """Tell whether an annotation can be resolved among the names of the file."""
        try:
            Annotations(self.known_module).resolve(annotation)
        except (NotResolved, TypeError, RecursionError):
            return False
        return True

    @cached_property
    def known_module(self) -> ast.Module:
        """The file, imports of what guessed types name and it does not bind itself, and ``T`` of ``def f[T]``."""
        bound = bound_names(self.target.module)
        frames = "polars" if "polars" in packages_of(*self._trees) else "pandas"
        lines = PRELUDE | {
            name: f"from typing import {name}" for name in ("Callable", "Iterator", "Literal", "Optional", "TextIO")
        }
        lines |= {name: f"from {frames} import {name}" for name in ("DataFrame", "Series")}
        text = "\n".join(line for name, line in lines.items() if name not in bound)
        variables = ast.parse("\n".join(_type_variables(self.target.function, self.target.owner))).body
        return ast.Module(body=[*ast.parse(text).body, *self.target.module.body, *variables], type_ignores=[])

    def _named(self, text: str) -> dict[str, Any]:
        """Return an argument tuple by the names of its parameters."""
        values, named = split_arguments(read_literal(text))
        positional = [p.name for p in self.parameters if not p.keyword and not p.variadic]
        return dict(zip(positional, values, strict=False)) | named

    def seeds(self, types: ArgumentTypes, *, typed: bool, seed: int, columns: Mapping[str, str]) -> tuple[str, ...]:
        """Return the argument tuples to start from. Raises WrongUsage where nothing is known."""
        accepts: Callable[[str], bool] = types.accepts if typed else lambda text: True
        given, mined = ([t for t in dict.fromkeys(texts) if accepts(t)] for texts in (self._given, self._mined))
        left_out = [t for t in dict.fromkeys(self._given) if t not in given]
        self.notes += [f"left out, for it does not fit the annotations: {text}" for text in left_out]
        found = list(dict.fromkeys([*given, *mined]))
        if len(found) > len(given) and self._calls_note:
            self.notes.append(self._calls_note)
        if len(found) >= ENOUGH:
            return tuple(found)
        drawn = self._drawn(types, seed=seed, columns=columns, needed=not found)
        if drawn and not found:
            self.notes.append(f"no examples given: {len(drawn)} seed inputs from the type hints")
        return tuple(dict.fromkeys([*found, *(drawn[:MORE] if found else drawn)]))

    def _drawn(self, types: ArgumentTypes, *, seed: int, columns: Mapping[str, str], needed: bool) -> tuple[str, ...]:
        """Return seeds from the types. Raises WrongUsage where they are needed and nothing is known."""
        call = self.target.call_with("...", "...")
        remedy = f'give some with --example "{call}" or as >>> lines in the docstring'
        if self.examples and not self._given:
            remedy = "the arguments of its examples are not known here either; write them out, of literals and classes"
        unknown = [p for p in types.parameters if p.name in types.unchecked and p.required]
        if unknown and needed:
            why = types.unchecked[unknown[0].name]
            raise WrongUsage(f"expected example inputs or type hints, parameter {unknown[0].name}: {why}; {remedy}")
        drawn = sample_seeds(types, seed=seed, docstring=self.target.docstring, given=self._known, columns=columns)
        if not drawn and needed:
            raise WrongUsage(f"expected example inputs, and no values of these type hints are known; {remedy}")
        return drawn


_BUILTINS = set(dir(builtins))


def _of_owner(annotation: ast.expr, owner: str) -> ast.expr:
    """Return an annotation of a method with the class's name in the place of ``Self``."""
    return expression(re.sub(r"[\w.]*\bSelf\b", owner, ast.unparse(annotation)))


def _type_variables(*nodes: ast.AST | None) -> Iterator[str]:
    """Iterate over the type parameters of definitions, since Python 3.12, each as ``T = TypeVar('T')``."""
    for one in (one for node in nodes for one in getattr(node, "type_params", ())):
        if type(one).__name__ == "TypeVar":
            limits = one.bound.elts if isinstance(one.bound, ast.Tuple) else []
            said = [repr(one.name), *map(ast.unparse, limits)]
            said += [f"bound={ast.unparse(one.bound)}"] if one.bound is not None and not limits else []
            yield f"{one.name} = TypeVar({', '.join(said)})"


def widened(annotation: ast.expr, kinds: Sequence[str]) -> ast.expr:
    """Return an annotation by which any object is taken with kinds that code asks for; another one as it is."""
    return expression(" | ".join([*kinds, "object"])) if ast.unparse(annotation) == "object" else annotation


def or_none(annotation: ast.expr) -> ast.expr:
    """Return an annotation that None fits too."""
    if ast.unparse(annotation).endswith("None"):
        return annotation
    return ast.BinOp(left=annotation, op=ast.BitOr(), right=ast.Constant(value=None))


def _wider(found: ast.expr, used: ast.expr | None, *, whole_only: bool) -> ast.expr:
    """Return a type that values have, wider where the use says more: a real number for a whole one, say."""
    if used is None:
        return found
    one, other = ast.unparse(found), ast.unparse(used)
    is_open = whole_only and one in ("list[int]", "dict[int, int]", "set[int]", "tuple[int, ...]")
    return used if is_open or (one, other) == ("int", "float") else found
