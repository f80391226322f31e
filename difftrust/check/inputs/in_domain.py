"""The condition of a task's domain as a program, and which inputs lie inside by it."""

import ast
from collections.abc import Sequence
from dataclasses import replace

from difftrust.check.programs import Executor
from difftrust_core.base.records import Kind
from difftrust_core.base.task import Domain, Task
from difftrust_core.exceptions import WrongUsage
from difftrust_core.languages.registry import language_of

INSIDE = "inside"
_PREDICATE = """\
import copy, datetime, functools, itertools, math, operator, re, string
{module}

class OutsideTheDomain(Exception): ...


def {name}{signature}:
    if not (
{requires}
    ):
        raise OutsideTheDomain
    return True
"""


class InDomain:
    """Tells which argument tuples lie inside a task's domain; the condition runs in the sandbox."""

    def __init__(self, executor: Executor, *, conditions: Sequence[str] | None = None, module: str = ""):
        """``conditions``: these instead of the task's own. ``module``: a program that binds what they name."""
        self._executor, task = executor, executor.task
        if conditions is not None:
            task = replace(task, domain=Domain(requires=" and ".join(f"({text})" for text in conditions)))
        self.program = predicate_program(task, module)
        """Empty where there is no condition."""

    def __call__(self, inputs: Sequence[str]) -> list[bool]:
        """Return which of the inputs lie inside; one on which the condition raises or takes too long does not.

        Raises WrongUsage where the condition does not load.
        """
        if not self.program or not inputs:
            return [True] * len(inputs)
        rows = self._executor.run([self.program], inputs, entry_point=INSIDE).rows
        if all(kind == Kind.LOAD_ERROR for ((kind, _),) in rows):
            said = rows[0][0][1]
            mend = "that part of the module" if "preamble" in said else "--assume or the docstring"
            raise WrongUsage(f"the condition of the domain does not load in the sandbox ({said}); mend {mend}")
        return [kind in (Kind.VALUE, Kind.UNSUPPORTED) for ((kind, _),) in rows]


def predicate_program(task: Task, module: str = "") -> str:
    """Return a program whose ``inside`` raises outside the domain of ``task``; empty where it has no condition.

    ``module``: what comes before it.
    """
    requires = task.domain.requires.strip() if task.domain is not None else ""
    if not requires:
        return ""
    try:
        _ = ast.parse(f"(\n{requires}\n)", mode="eval")
        (function,) = ast.parse(f"def f{task.signature or '(*arguments)'}: ...").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        found = language_of(task).domain(task)
        return found.predicate if found is not None else ""
    assert isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef)
    return _PREDICATE.format(name=INSIDE, signature=f"({_names(function.args)})", requires=requires, module=module)


def _names(arguments: ast.arguments) -> str:
    """Return the parameters without their annotations."""
    for argument in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg):
        if argument is not None:
            argument.annotation = None
    return ast.unparse(arguments)
