"""Read the functions of a Python module as tasks; the module is parsed, never imported."""

import ast
import copy
import doctest
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from difftrust_core.base.literals import BadText, read_literal, write_literal
from difftrust_core.base.task import Domain, Task, TaskTest
from difftrust_core.datasets.entries import MAX_WRITTEN, Entry, load_bytes, signature_of
from difftrust_core.datasets.own_fields import EXAMPLES, REMEDY, callable_by_position, completed
from difftrust_core.datasets.relations import relation_of
from difftrust_core.datasets.seeds import seeds_in_examples
from difftrust_core.exceptions import BadBenchmark
from difftrust_core.languages.python.syntax import is_written, own_statements

_OF_A_TASK = ("accept", "normal", "requires", "generate")
"""``accept_f`` belongs to the task ``f``: a function that is no task of its own."""
_Function = ast.FunctionDef | ast.AsyncFunctionDef


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


class _Module:
    """The top-level statements of a module by the names that they bind."""

    def __init__(self, path: Path, module: ast.Module):
        self._path, self._body = path, module.body
        self._place = {id(statement): place for place, statement in enumerate(module.body)}
        self._of: dict[str, list[ast.stmt]] = {}
        """What binds or changes each name."""
        bound: dict[str, ast.stmt] = {}
        for statement in module.body:
            bound |= dict.fromkeys(_bound(statement), statement)
            for name in _bound(statement) | _changed(statement):
                self._of.setdefault(name, []).append(statement)
        self._functions = {name: s for name, s in bound.items() if isinstance(s, _Function) and s.name == name}
        """Each name's last definition."""
        described = {n for n, s in self._functions.items() if ast.get_docstring(s) and not n.startswith("_")}
        self._tasks = [self._functions[name] for name in described if _owner(name) not in described]
        self._task_ids = set(map(id, self._tasks))
        self._imports = [s for s in module.body if isinstance(s, ast.Import | ast.ImportFrom)]
        self._assigned = [_bound(s) for s in module.body if isinstance(s, ast.Assign | ast.AnnAssign)]
        self._spoken: dict[int, set[str]] = {}
        """Statement -> the names that it speaks of."""
        self._speaking: Counter[str] = Counter()
        """How many statements speak of each name; counted when it is first asked for."""

    def functions(self) -> list[_Function]:
        """Return the functions that are tasks. Raises BadBenchmark for a function of a task that is not there."""
        names = {task.name for task in self._tasks}
        for name, function in self._functions.items():
            owner = _owner(name)
            if owner and not {owner, name} & names and not self._is_used(function):
                raise self._entry(function).refusal(f"a task {owner}, for {name} to belong to", "none of that name")
        return sorted(self._tasks, key=lambda function: function.lineno)

    def task(self, function: _Function, benchmark: str) -> Task:
        """Return the task that a function is."""
        name, described = function.name, ast.get_docstring(function) or ""
        entry = self._entry(function)
        if isinstance(function, ast.AsyncFunctionDef):
            raise entry.refusal("a function that returns its value", "an async one; `difftrust check` takes those")
        if any(isinstance(statement, ast.Pass) for statement in function.body) and not is_written(function.body):
            raise entry.refusal("a reference, or `...` for a task without one", "a body of `pass`")
        examples = _examples(described, function)
        told = [test.arguments for test in examples] or seeds_in_examples(described, name, function)
        asked = self._needed(_names([function.args, *([function.returns] if function.returns else [])]))
        asked = [s for s in asked if id(s) not in self._task_ids] + self._constants(described)
        preamble = self._in_order([*self._imports, *asked])
        task = entry.task(
            benchmark=benchmark,
            task_id=name,
            entry_point=name,
            signature=signature_of(function),
            description=described,
            seed_inputs=tuple(dict.fromkeys(told)),
            reference=self._reference(function, preamble) if is_written(function.body) else None,
            preamble=_unparsed(preamble),
            domain=self._domain(entry),
            public_inputs=tuple(dict.fromkeys(told)),
            relation=relation_of(entry),
            tests=examples,
        )
        return callable_by_position(completed(task, entry), entry)

    def _entry(self, function: _Function) -> Entry:
        where = f"{self._path}, line {function.lineno}, {function.name}"
        entry, fields = Entry(where=where, remedy=REMEDY, fields={}), {}
        for name in [f"{kind}_{function.name}" for kind in _OF_A_TASK]:
            if found := self._functions.get(name):
                fields[name.partition("_")[0]] = self._renamed(found, name.partition("_")[0])
            elif name in self._of:
                raise entry.refusal(f"a function {name}", "something else of that name; write `def`")
        return replace(entry, fields=fields)

    def _domain(self, entry: Entry) -> Domain | None:
        said = {kind: str(entry.fields[kind]) for kind in ("requires", "generate") if kind in entry.fields}
        return Domain(**said) if said else None

    def _is_used(self, function: _Function) -> bool:
        if not self._speaking:
            self._speaking.update(name for statement in self._body for name in self._names_of(statement))
        return self._speaking[function.name] > (function.name in self._names_of(function))

    def _constants(self, description: str) -> list[ast.stmt]:
        """Return the assignments that the description speaks of, with what they need; none that needs a task."""
        said = set(re.findall(r"\w+", description))
        found = [self._needed(bound) for bound in self._assigned if bound & said]
        return [s for needed in found if self._task_ids.isdisjoint(map(id, needed)) for s in needed]

    def _renamed(self, statement: _Function, name: str) -> str:
        """Return a function under another name, behind what it needs of the module."""
        moved: Any = copy.deepcopy(statement)
        moved.name = name
        before = [s for s in self._needed(_names([statement])) if s is not statement]
        return _unparsed([*before, moved])

    def _reference(self, function: _Function, preamble: list[ast.stmt]) -> str:
        known = set(map(id, preamble))
        needed = [*self._needed(self._names_of(function)), function]
        return _unparsed([s for s in self._in_order(needed) if id(s) not in known])

    def _needed(self, names: set[str]) -> list[ast.stmt]:
        """Return the statements that bind these names and what those need, in the module's order."""
        wanted, kept = set(names), dict[int, ast.stmt]()
        waiting = list(names)
        while waiting:
            for statement in self._of.get(waiting.pop(), ()):
                if id(statement) not in kept:
                    kept[id(statement)] = statement
                    new = self._names_of(statement) - wanted
                    wanted |= new
                    waiting += new
        return self._in_order(kept.values())

    def _in_order(self, statements: Iterable[ast.stmt]) -> list[ast.stmt]:
        """Return statements of the top level, each once, in the module's order."""
        return [self._body[place] for place in sorted({self._place[id(statement)] for statement in statements})]

    def _names_of(self, statement: ast.stmt) -> set[str]:
        if id(statement) not in self._spoken:
            self._spoken[id(statement)] = _names([statement])
        return self._spoken[id(statement)]


def _names(nodes: Iterable[ast.AST]) -> set[str]:
    """Return the names that nodes speak of, those within annotations written as texts included."""
    found = set[str]()
    for node in [inner for outer in nodes for inner in ast.walk(outer)]:
        if isinstance(node, ast.Name):
            found.add(node.id)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and len(node.value) < 200:
            with suppress(SyntaxError, ValueError, RecursionError, MemoryError):
                found |= {n.id for n in ast.walk(ast.parse(node.value, mode="eval")) if isinstance(n, ast.Name)}
    return found


def _owner(name: str) -> str:
    """Return the task that a function called ``accept_f`` belongs to; empty for any other name."""
    kind, _, owner = name.partition("_")
    return owner if kind in _OF_A_TASK else ""


def _bound(statement: ast.stmt) -> set[str]:
    """Return what a statement of the top level binds, those below ``if``, ``try``, ``for`` and ``with`` included."""
    found = set[str]()
    for inner in own_statements([statement]):
        match inner:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                found.add(inner.name)
            case ast.Import() | ast.ImportFrom():
                found |= {alias.asname or alias.name.partition(".")[0] for alias in inner.names}
            case _:
                found |= {n.id for n in _expressions(inner) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    return found


def _changed(statement: ast.stmt) -> set[str]:
    """Return what a statement of the top level changes in place: ``TABLE[3] = 4``, ``TABLE.update(...)``."""
    places: list[ast.expr] = []
    for inner in own_statements([statement]):
        if isinstance(inner, ast.Expr) and isinstance(inner.value, ast.Call):
            places.append(inner.value.func)
        elif not isinstance(inner, _Function | ast.ClassDef):
            stored = (n for n in _expressions(inner) if isinstance(n, ast.Attribute | ast.Subscript))
            places += [n for n in stored if isinstance(n.ctx, ast.Store)]
    found = set[str]()
    for place in places:
        root = place
        while isinstance(root, ast.Attribute | ast.Subscript):
            root = root.value
        if isinstance(root, ast.Name) and root is not place:
            found.add(root.id)
    return found


def _expressions(statement: ast.stmt) -> Iterator[ast.AST]:
    """Yield the nodes of a statement's own expressions, without those of the statements below it."""
    for child in ast.iter_child_nodes(statement):
        if not isinstance(child, ast.stmt | ast.ExceptHandler | ast.match_case):
            yield from ast.walk(child)


def _examples(docstring: str, function: ast.FunctionDef | ast.AsyncFunctionDef) -> tuple[TaskTest, ...]:
    """Return the doctest examples that call the function with literals and show a literal."""
    if ">>>" not in docstring or isinstance(function, ast.AsyncFunctionDef):
        return ()
    try:
        parsed = doctest.DocTestParser().get_examples(docstring)
    except ValueError:
        return ()
    found = []
    for example in parsed:
        if example.options or example.exc_msg:
            continue
        told = seeds_in_examples(f">>> {example.source}", function.name, function)
        with suppress(BadText, SyntaxError, ValueError, RecursionError, MemoryError):
            call = ast.parse(example.source.strip(), mode="eval").body
            if len(told) == 1 and isinstance(call, ast.Call) and ast.unparse(call.func) == function.name:
                expected = write_literal(read_literal(example.want.strip()))
                found.append(TaskTest(arguments=told[0], expected=expected, group=EXAMPLES))
    return tuple(found)


def _unparsed(body: Iterable[ast.stmt]) -> str:
    return "\n\n".join(ast.unparse(statement) for statement in body) + "\n" if body else ""
