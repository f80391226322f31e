"""Read the functions of a Python module as tasks; the module is parsed, never imported."""

import ast
import copy
import doctest
import functools
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from difftrust.source.closure import Definitions
from difftrust.source.scopes import IMPORTS, bound_by, expression_in, names_of
from difftrust.types.own import Function
from difftrust_core.base.literals import BadText, read_literal, write_literal
from difftrust_core.base.task import Domain, Task, TaskTest
from difftrust_core.datasets.entries import MAX_WRITTEN, Entry, load_bytes, relation_of, signature_of
from difftrust_core.datasets.own_tasks import EXAMPLES, REMEDY, callable_by_position, completed
from difftrust_core.datasets.seeds import seeds_in_examples
from difftrust_core.exceptions import BadBenchmark
from difftrust_core.languages.python.syntax import is_written

_OF_A_TASK = ("accept", "normal", "requires", "generate")
"""``accept_f`` belongs to the task ``f``: a function that is no task of its own."""


def load_module(path: Path, *, benchmark: str) -> Iterator[Task]:
    """Iterate over the top-level functions with docstrings of a module as tasks, named as the functions.

    A function without a body (its docstring alone, ``...``, ``raise NotImplementedError``) is a task without a
    reference. Candidates get the module's imports and what its signature names; what only the body needs belongs to
    the reference. Raises BadBenchmark naming file, line and function.
    """
    text = load_bytes(path, remedy=REMEDY, most=MAX_WRITTEN)
    try:
        module = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as e:
        raise BadBenchmark(f"{path}: expected a Python module, found {type(e).__name__}: {e}; {REMEDY}") from None
    found = _Module(path, module)
    functions = found.functions()
    if not functions:
        raise BadBenchmark(f"{path}: expected functions with docstrings, found none; {REMEDY}")
    yield from (found.task(function, benchmark) for function in functions)


class _Module(Definitions):
    """The top-level statements of a module by the names that they bind or change."""

    def __init__(self, path: Path, module: ast.Module):
        super().__init__(module.body)
        self._path = path
        last = {name: statement for statement in module.body for name in bound_by(statement)}
        self._functions = {name: s for name, s in last.items() if isinstance(s, Function) and s.name == name}
        """Each name's last definition."""
        described = {n for n, s in self._functions.items() if ast.get_docstring(s) and not n.startswith("_")}
        self._tasks = [self._functions[name] for name in described if _owner(name) not in described]
        self._names_of = functools.cache(names_of)

    def functions(self) -> list[Function]:
        """Return the functions that are tasks. Raises BadBenchmark for a function of a task that is not there."""
        names = {task.name for task in self._tasks}
        for name, function in self._functions.items():
            owner = _owner(name)
            if owner and not {owner, name} & names and not self._is_used(function):
                raise self._entry(function).refusal(f"a task {owner}, for {name} to belong to", "none of that name")
        return sorted(self._tasks, key=lambda function: function.lineno)

    def task(self, function: Function, benchmark: str) -> Task:
        """Return the task that a function is."""
        name, described = function.name, ast.get_docstring(function) or ""
        entry = self._entry(function)
        if isinstance(function, ast.AsyncFunctionDef):
            raise entry.refusal("a function that returns its value", "an async one; `difftrust check` takes those")
        if any(isinstance(statement, ast.Pass) for statement in function.body) and not is_written(function.body):
            raise entry.refusal("a reference, or `...` for a task without one", "a body of `pass`")
        examples = _examples(described, function)
        told = [test.arguments for test in examples] or seeds_in_examples(described, name, function)
        signature = names_of(function.args, function.returns)
        asked = [s for s in self._rests_on(signature) if s not in self._tasks] + self._constants(described)
        preamble = [s for s in self.body if isinstance(s, IMPORTS) or s in asked]
        used = [*self._rests_on(self._names_of(function)), function]
        needed = [s for s in self.body if s in used]
        task = entry.task(
            benchmark=benchmark,
            task_id=name,
            entry_point=name,
            signature=signature_of(function),
            description=described,
            seed_inputs=tuple(dict.fromkeys(told)),
            reference=_unparsed([s for s in needed if s not in preamble]) if is_written(function.body) else None,
            preamble=_unparsed(preamble),
            domain=self._domain(entry),
            public_inputs=tuple(dict.fromkeys(told)),
            relation=relation_of(entry),
            tests=examples,
        )
        return callable_by_position(completed(task, entry), entry)

    def _entry(self, function: Function) -> Entry:
        where = f"{self._path}, line {function.lineno}, {function.name}"
        entry, fields = Entry(where=where, remedy=REMEDY, fields={}), {}
        for kind in _OF_A_TASK:
            name = f"{kind}_{function.name}"
            if found := self._functions.get(name):
                fields[kind] = self._renamed(found, kind)
            elif name in self.binders:
                raise entry.refusal(f"a function {name}", "something else of that name; write `def`")
        return replace(entry, fields=fields)

    def _domain(self, entry: Entry) -> Domain | None:
        said = {kind: str(entry.fields[kind]) for kind in ("requires", "generate") if kind in entry.fields}
        return Domain(**said) if said else None

    def _is_used(self, function: Function) -> bool:
        return any(s is not function and function.name in self._names_of(s) for s in self.body)

    def _constants(self, description: str) -> list[ast.stmt]:
        """Return the assignments that the description speaks of, with what they need; none that needs a task."""
        said = set(re.findall(r"\w+", description))
        assigned = [bound_by(s) for s in self.body if isinstance(s, ast.Assign | ast.AnnAssign)]
        found = [self._rests_on(bound) for bound in assigned if bound & said]
        return [s for needed in found if not any(s in self._tasks for s in needed) for s in needed]

    def _renamed(self, function: Function, name: str) -> str:
        """Return a function under another name, behind what it needs of the module."""
        moved = copy.deepcopy(function)
        moved.name = name
        return _unparsed([*(s for s in self._rests_on(names_of(function)) if s is not function), moved])

    def _rests_on(self, names: set[str]) -> list[ast.stmt]:
        return self.needed(names, reads=self._names_of)


def _owner(name: str) -> str:
    """Return the task that a function called ``accept_f`` belongs to; empty for any other name."""
    kind, _, owner = name.partition("_")
    return owner if kind in _OF_A_TASK else ""


def _examples(docstring: str, function: ast.FunctionDef) -> tuple[TaskTest, ...]:
    """Return the doctest examples that call the function with literals and show a literal."""
    try:
        parsed = doctest.DocTestParser().get_examples(docstring)
    except ValueError:
        return ()
    found = []
    for example in parsed:
        told = seeds_in_examples(f">>> {example.source}", function.name, function)
        call = expression_in(example.source)
        is_call = isinstance(call, ast.Call) and ast.unparse(call.func) == function.name
        if is_call and len(told) == 1 and not example.options and not example.exc_msg:
            with suppress(BadText):
                expected = write_literal(read_literal(example.want.strip()))
                found.append(TaskTest(arguments=told[0], expected=expected, group=EXAMPLES))
    return tuple(found)


def _unparsed(body: Sequence[ast.stmt]) -> str:
    return "\n\n".join(ast.unparse(statement) for statement in body) + "\n" if body else ""
