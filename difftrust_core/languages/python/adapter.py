"""Python as a language of programs: functions on argument tuples."""

import ast
from contextlib import suppress

from difftrust_core.base.files import read_packaged
from difftrust_core.base.task import Task
from difftrust_core.exceptions import MissingPackage
from difftrust_core.languages.language import Around, Draw, InDomain, Language, load_domains
from difftrust_core.languages.python.fuzz import sample_input
from difftrust_core.languages.python.identity import tree_id
from difftrust_core.languages.python.simpler import neighbours
from difftrust_core.languages.python.syntax import defines, parsed
from difftrust_core.sandbox.host import Limits
from difftrust_core.sandbox.runner import Runner


class Python(Language):
    """Python programs, which define the entry point."""

    name = grammar = "python"
    limits = Limits()
    runner = Runner()

    prompt = read_packaged(__package__, "prompt.txt")
    method_prompt = read_packaged(__package__, "prompt_method.txt")
    class_prompt = read_packaged(__package__, "prompt_class.txt")
    tree_id = staticmethod(tree_id)

    def check(self, task: Task) -> None:
        """Check that the reference, if there is one, defines the entry point, and the domain if it can be read."""
        if task.reference is not None and not self.defines(task.reference, task.entry_point):
            raise task.refusal(f"the reference must define {task.entry_point} at its top level")
        with suppress(MissingPackage):
            _ = self.domain(task)

    def is_program(self, text: str) -> bool:
        """Tell whether a text parses and holds more than bare expressions, as ``Sorry`` does."""
        tree = parsed(text)
        return tree is not None and any(not isinstance(statement, ast.Expr) for statement in tree.body)

    def defines(self, text: str, entry_point: str) -> bool:
        """Tell whether a text defines a function, or a method ``Class.method``."""
        tree = parsed(text)
        return tree is not None and defines(tree.body, entry_point)

    def fuzz(self, task: Task, seed: int) -> Draw:
        """Return what mutates the seed inputs by their types."""
        seeds = task.arguments()
        return lambda position, attempt: sample_input(
            task.task_id, seeds, seed=seed, position=position, attempt=attempt
        )

    def domain(self, task: Task) -> InDomain | None:
        """Return the domain: types, kept while inputs are drawn, and a predicate."""
        if task.domain is None:
            return None
        return load_domains(self.name).read(task, task.domain)

    def around(self, task: Task) -> Around:
        """Return the neighbours of an argument tuple."""
        return neighbours


LANGUAGE: Language = Python()
