"""The domain of a Python task: its types kept while inputs are drawn, its predicate as a program for the sandbox."""

import ast
import random
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from difftrust.search.dictionary import dictionary_of, numbers_in
from difftrust.search.drawing import FreshDraws, values_by_name
from difftrust.types.argument_types import Annotations, ArgumentTypes, Parameter
from difftrust.types.base import Draws
from difftrust.types.own import parameters_in
from difftrust.types.value_types import type_of_values
from difftrust_core.base.literals import write_literal
from difftrust_core.base.task import Domain, Task
from difftrust_core.exceptions import BadTask
from difftrust_core.languages.language import MAX_ATTEMPTS, Domains, Draw
from difftrust_core.languages.python.fuzz import MUTATIONS_PER_ARGUMENT, below, generator_of, mutate_node, size_of
from difftrust_core.languages.python.syntax import expression, parsed, takes

_TRIES = 8
"""So many mutations are tried at one step before the argument is left as it is."""
_PATIENCE = 8
"""After so many rejected draws of one input, each further one mutates half as often, and so stays nearer to a seed."""
_PREDICATE = """\
import copy, math, re


{requires}


class OutsideTheDomain(Exception): ...


class ChangesItsArguments(Exception): ...


def inside(*arguments):
    if not requires(*arguments):
        raise OutsideTheDomain
    return True


def plain(value):
    if isinstance(value, (list, tuple)):
        return [plain(entry) for entry in value]
    if isinstance(value, dict):
        return [(key, plain(entry)) for key, entry in value.items()]
    return (type(value).__name__, plain(vars(value))) if hasattr(value, "__dict__") else value


def inside_and_kept(*arguments):
    before = plain(copy.deepcopy(arguments))
    inside(*arguments)
    if plain(arguments) != before:
        raise ChangesItsArguments
"""
_GENERATOR = """\
import random


{generate}


def draw(key):
    return generate(random.Random(key))
"""


class PythonDomain:
    """How a task's domain is read. Raises BadTask if its texts are no types, no predicate or no generator."""

    def __init__(self, task: Task, domain: Domain):
        self._task = task
        parameters = _parameters(task, domain.types or task.signature.partition("->")[0].strip().strip("()"))
        # A list of floats holds floats.
        self.types = ArgumentTypes(parameters, Annotations(ast.Module([], []), strict_floats=True))
        if domain.types and self.types.unchecked:
            raise task.refusal(f"types of its domain are not understood: {'; '.join(self.types.unchecked.values())}")
        self.predicate = _predicate(task, domain.requires, parameters) if domain.requires.strip() else ""
        self.generator = ""
        if domain.generate.strip():
            _check_defines(task, domain.generate, "generate", 1)
            self.generator = _GENERATOR.format(generate=domain.generate)

    def fits(self, arguments: str) -> bool:
        """Tell whether an argument tuple in the text form of ``literals`` fits the types."""
        return self.types.accepts(arguments)

    def draw(self, seeds: Sequence[tuple[Any, ...]], seed: int) -> Draw:
        """Return what mutates ``seeds`` as ``fuzz`` does, in steps that each keep the types.

        Attempt MAX_ATTEMPTS gives an unchanged seed input; those above it mutate as often as the first ones.
        """

        def draw(position: int, attempt: int) -> str:
            generator = generator_of(self._task.task_id, seed=seed, position=position, attempt=attempt)
            chosen = seeds[below(len(seeds), generator)]
            if attempt != MAX_ATTEMPTS:
                halved = attempt // _PATIENCE if attempt < MAX_ATTEMPTS else 0
                chosen = tuple([self._mutated(i, value, generator, halved) for i, value in enumerate(chosen)])
            return write_literal(chosen)

        return draw

    def _mutated(self, position: int, argument: Any, generator: random.Random, halved: int) -> Any:
        steps = MUTATIONS_PER_ARGUMENT[below(len(MUTATIONS_PER_ARGUMENT), generator)]
        for _ in range(max(1, steps >> halved)):
            size = size_of(argument)
            for _ in range(_TRIES):
                changed = mutate_node(argument, below(size, generator) if size > 1 else 0, generator)
                if self.types.fits(position, changed):
                    argument = changed
                    break
        return argument


class PythonDomains:
    """The domains of Python tasks: ``languages.language.Domains``."""

    def read(self, task: Task, domain: Domain) -> PythonDomain:
        """Return the domain as it is read."""
        return PythonDomain(task, domain)

    def completed(self, task: Task, *, n_seeds: int) -> Task:
        """Return the task with the domain that its annotations or seed inputs give, and seed inputs drawn from it."""
        domain = task.domain or Domain()
        found = PythonDomain(task, domain)
        if found.types.unchecked and not domain.types:
            types = _types_of_seeds(found.types, task)
            if not types:
                return task
            domain = replace(domain, types=types)
            try:
                found = PythonDomain(task, domain)
            except BadTask:  # the types are not the user's words
                return task
        drawn = seeds_from_types(found, task, n=n_seeds) if n_seeds > 0 else ()
        return replace(task, domain=domain, seed_inputs=tuple(dict.fromkeys([*task.seed_inputs, *drawn])))


DOMAINS: Domains = PythonDomains()


def _types_of_seeds(types: ArgumentTypes, task: Task) -> str:
    """Return the parameters with their types, those without one as the seed inputs show it; empty where they do not."""
    values = values_by_name(types, task.arguments())
    spelled = []
    for parameter in types.parameters:
        kind = parameter.annotation if parameter.name not in types.unchecked else None
        kind = kind or type_of_values(values.get(parameter.name, ()))
        if kind is None:
            return ""
        spelled.append(f"{'*' if parameter.variadic else ''}{parameter.name}: {ast.unparse(kind)}")
    return ", ".join(spelled)


def seeds_from_types(domain: PythonDomain, task: Task, *, n: int) -> tuple[str, ...]:
    """Return up to n distinct argument tuples drawn from the types of a domain; none where a type is not known.

    Numbers and texts that the task's description, preamble and reference name come up. Always the same ones for a task.
    """
    words = dictionary_of((task.preamble, task.reference or ""), task.description)
    generator = generator_of(task.task_id, seed=0, position=0, attempt=MAX_ATTEMPTS)
    draws = partial(Draws, generator=generator, words=words, numbers=numbers_in(words))
    return FreshDraws(domain.types).distinct(draws, n, n_tries=_TRIES * n)


def _parameters(task: Task, types: str) -> list[Parameter]:
    found, asked = _parsed(task, types), _parsed(task, task.signature.partition("->")[0].strip()[1:-1])
    names, wanted = [parameter.name for parameter in found], [parameter.name for parameter in asked]
    left_out = asked[len(found) :]
    if names != wanted[: len(found)] or any(parameter.required for parameter in left_out):
        raise task.refusal(f"the types of its domain name {', '.join(names)}, its signature {', '.join(wanted)}")
    return [
        Parameter(name=own.name, annotation=own.annotation, required=of.required, variadic=of.variadic)
        for own, of in zip(found, asked, strict=False)
    ]


def _parsed(task: Task, parameters: str) -> list[Parameter]:
    match parsed(f"def f({parameters}): ..."):
        case ast.Module(body=[ast.FunctionDef(args=arguments)]):
            return [parameter for parameter in parameters_in(arguments) if not parameter.keyword]
    raise task.refusal(f"expected parameters with types in its domain, got {parameters[:80]!r}")


def _predicate(task: Task, requires: str, parameters: Sequence[Parameter]) -> str:
    try:
        _ = expression(f"(\n{requires.strip()}\n)")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        n = None if any(p.variadic for p in parameters) else len(parameters)
        _check_defines(task, requires, "requires", n)
        return _PREDICATE.format(requires=requires)
    names = ", ".join(
        ("*" if p.variadic else "") + p.name + ("" if p.required or p.variadic else "=None") for p in parameters
    )
    return _PREDICATE.format(requires=f"def requires({names}):\n    return (\n{requires.strip()}\n)")


def _check_defines(task: Task, text: str, name: str, n: int | None) -> None:
    """Refuse a text that does not define a function of n parameters (None: of any number)."""
    try:
        body = ast.parse(text).body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as e:
        raise task.refusal(f"`{name}` of its domain is not Python ({e}), got {text.strip()[:80]!r}") from None
    found = [statement for statement in body if isinstance(statement, ast.FunctionDef) and statement.name == name]
    if not found:
        raise task.refusal(f"its domain must define {name}, or give an expression, got {text.strip()[:80]!r}")
    if n is not None and not takes(found[-1].args, n):
        raise task.refusal(
            f"`{name}` of its domain must take {n} by position, it takes ({ast.unparse(found[-1].args)})"
        )
