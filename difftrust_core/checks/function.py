"""A function in a user's file as a task: its file is parsed, never executed."""

import ast
import doctest
import hashlib
import re
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from difftrust_core.base.literals import BadText, read_literal, write_literal
from difftrust_core.base.task import Task
from difftrust_core.checks.hints import sample_seeds
from difftrust_core.datasets.entries import signature_of
from difftrust_core.datasets.seeds import seeds_in_examples, seeds_in_tests
from difftrust_core.exceptions import BadStub, WrongUsage
from difftrust_core.languages.python.argument_types import Annotations, ArgumentTypes, Parameter

BENCHMARK = "check"


@dataclass(frozen=True, kw_only=True)
class Stub:
    """A function to check: a task without a reference, the types of its arguments, and what has to be said."""

    task: Task
    types: ArgumentTypes | None
    """None where types are not to be checked."""
    notes: tuple[str, ...]


def parse_file(path: Path) -> ast.Module:
    """Return the syntax tree of the file ``path``. Raises BadStub if it cannot be read as Python."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about what the file contains, e.g. an invalid escape
            return ast.parse(path.read_bytes())
    except OSError as e:
        raise BadStub(f"expected a Python file, {path} cannot be read: {e.strerror or e}; check its path") from None
    except (SyntaxError, ValueError, RecursionError, MemoryError) as e:
        raise BadStub(f"expected Python in {path}, found {type(e).__name__}: {e}; correct the file") from None


def find_function(where: str) -> tuple[Path, ast.Module, ast.FunctionDef]:
    """Return the file, its tree and the function that ``module.py::function`` names.

    Raises WrongUsage for another form of words, BadStub if there is no such file or function.
    """
    path, separator, name = where.rpartition("::")
    if not separator or not path or not name.isidentifier():
        raise WrongUsage(f"expected module.py::function, got {where!r}; name the file, two colons, the function")
    module = parse_file(Path(path))
    found = [s for s in module.body if isinstance(s, ast.FunctionDef) and s.name == name]
    if not found:
        there = ", ".join(s.name for s in module.body if isinstance(s, ast.FunctionDef)) or "none"
        raise BadStub(f"expected a top-level function {name} in {path}, found: {there}; name one of these")
    return Path(path), module, found[-1]


def load_stub(where: str, *, examples: Sequence[str] = (), typed: bool = True, seed: int = 0) -> Stub:
    """Return the function ``module.py::function`` as a task.

    Its seed inputs are the calls in its docstring's examples and in ``examples``, else they come from the type hints.
    Raises WrongUsage where neither is there, BadStub where the function cannot be checked.
    """
    path, module, function = find_function(where)
    parameters = _parameters(function)
    types = ArgumentTypes(parameters, Annotations(module))
    notes = [f"argument {name} is not checked: {why}" for name, why in types.unchecked.items()] if typed else []
    seeds = _seeds_given(function, examples)
    fitting = [text for text in seeds if types.accepts(text)] if typed else seeds
    notes += [f"left out, for it does not fit the annotations: {text}" for text in seeds if text not in fitting]
    if not fitting:
        fitting = list(_seeds_from_hints(function, types, seed))
        notes.append(f"no examples given: {len(fitting)} seed inputs from the type hints")
    return Stub(task=_task(path, module, function, fitting), types=types if typed else None, notes=tuple(notes))


def _task(path: Path, module: ast.Module, function: ast.FunctionDef, seeds: Sequence[str]) -> Task:
    description = (ast.get_docstring(function) or "").strip()
    if not description:
        raise BadStub(f"expected a docstring that says what {function.name} shall do, found none; write one")
    signature, preamble = signature_of(function), _preamble(module, function)
    asked = "\0".join((function.name, signature, description, preamble))
    digest = hashlib.blake2b(asked.encode("utf-8", "surrogatepass"), digest_size=4).hexdigest()
    stem, name = (re.sub(r"[^A-Za-z0-9_.\-]", "_", text) for text in (path.stem, function.name))
    return Task(
        benchmark=BENCHMARK,
        # What is asked for is part of the name, so that samples for an older text are not taken for this one's.
        task_id=f"{stem or '_'}/{name}/{digest}",
        entry_point=function.name,
        signature=signature,
        description=description,
        seed_inputs=tuple(seeds),
        preamble=preamble,
    )


def _parameters(function: ast.FunctionDef) -> list[Parameter]:
    arguments = function.args
    for argument, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        if default is None:
            raise BadStub(
                f"expected positional parameters, {function.name} needs {argument.arg} by keyword; move the * behind it"
            )
    positional = [*arguments.posonlyargs, *arguments.args]
    n_required = len(positional) - len(arguments.defaults)
    found = [
        Parameter(name=argument.arg, annotation=argument.annotation, required=position < n_required)
        for position, argument in enumerate(positional)
    ]
    if arguments.vararg:
        more = arguments.vararg
        found.append(Parameter(name=more.arg, annotation=more.annotation, required=False, variadic=True))
    if not found:
        raise BadStub(f"expected a function with parameters, {function.name} has none; there is nothing to fuzz")
    return found


def _preamble(module: ast.Module, function: ast.FunctionDef) -> str:
    """Return what the signature rests on: imports of the standard library, and the definitions that it names."""
    kept: list[ast.stmt] = [s for s in module.body if _is_standard_import(s)]
    wanted, seen = _names(function.args) | _names(function.returns), set[str]()
    while wanted - seen:
        seen |= wanted
        for statement in module.body:
            if statement not in kept and statement is not function and seen & _bound(statement):
                kept.append(statement)
                wanted = wanted | _names(statement)
    return "".join(f"{ast.unparse(s)}\n" for s in module.body if s in kept)


def _is_standard_import(statement: ast.stmt) -> bool:
    match statement:
        case ast.Import(names=names):
            return all(alias.name.split(".")[0] in sys.stdlib_module_names for alias in names)
        case ast.ImportFrom(module=str(module), level=0):
            return module.split(".")[0] in sys.stdlib_module_names
    return False


def _names(node: ast.AST | None) -> set[str]:
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name)} if node is not None else set()


def _bound(statement: ast.stmt) -> set[str]:
    match statement:
        case ast.ClassDef(name=name) | ast.FunctionDef(name=name):
            return {name}
        case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
            return {name}
    return set()


def _seeds_given(function: ast.FunctionDef, examples: Sequence[str]) -> list[str]:
    found = list(_seeds_in_docstring(function))
    for example in examples:
        seeds = list(_seeds_in(example.strip().removeprefix(">>>").strip(), function))
        if not seeds:
            wanted = f"expected a call of {function.name} with literal arguments"
            raise WrongUsage(f'{wanted}, got {example!r}; write --example "{function.name}(1, [2])"')
        found += seeds
    return list(dict.fromkeys(found))


def _seeds_in_docstring(function: ast.FunctionDef) -> Iterator[str]:
    docstring = ast.get_docstring(function) or ""
    try:
        sources = [example.source for example in doctest.DocTestParser().get_examples(docstring)]
    except ValueError:  # uneven indentation
        yield from seeds_in_examples(docstring, function.name, function)
        return
    for source in sources:
        yield from _seeds_in(source, function)


def _seeds_in(source: str, function: ast.FunctionDef) -> Iterator[str]:
    """Iterate over the argument tuples with which ``source`` calls the function."""
    try:
        body = ast.parse(source).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    folded = seeds_in_tests(body, function.name, function)
    yield from folded
    if not folded:  # arguments beyond arithmetic on builtins, such as Decimal('1.5')
        for node in ast.walk(ast.Module(body=body, type_ignores=[])):
            match node:
                case ast.Call(func=ast.Name(id=function.name), args=args, keywords=[]):
                    with suppress(BadText):
                        value: Any = read_literal(ast.unparse(ast.Tuple(elts=args, ctx=ast.Load())))
                        yield write_literal(value)


def _seeds_from_hints(function: ast.FunctionDef, types: ArgumentTypes, seed: int) -> tuple[str, ...]:
    remedy = f'give some with --example "{function.name}(...)" or as >>> lines in the docstring'
    for parameter in types.parameters:
        if parameter.name in types.unchecked and parameter.required:
            why = types.unchecked[parameter.name]
            raise WrongUsage(f"expected example inputs or type hints, parameter {parameter.name}: {why}; {remedy}")
    seeds = sample_seeds(types, seed=seed, docstring=ast.get_docstring(function) or "")
    if not seeds:
        raise WrongUsage(f"expected example inputs, and no values of these type hints are known; {remedy}")
    return seeds
