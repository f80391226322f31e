"""Load sanitized MBPP (one JSON list) as tasks."""

import ast
from pathlib import Path

from difftrust_core.base.task import Task
from difftrust_core.datasets.entries import Entry, load_list, natural_order, signature_of
from difftrust_core.datasets.seeds import seeds_in_tests

_REMEDY = "get the file again with `difftrust fetch mbpp`"


def load_mbpp(path: Path) -> list[Task]:
    """Return the tasks of ``path`` in natural order. Raises BadBenchmark naming file, position and field."""
    return sorted(map(_task, load_list(path, remedy=_REMEDY)), key=natural_order)


def _task(entry: Entry) -> Task:
    code = entry.text("code")
    program = entry.tree(code, "field 'code'")
    per_test = [entry.tree(test, "field 'test_list'").body for test in entry.texts("test_list")]
    tests = [statement for body in per_test for statement in body]
    name = _entry_point(entry, program, tests)
    reference = entry.function(program, name, "field 'code'")
    return entry.task(
        benchmark="MBPP",
        task_id=f"Mbpp/{entry.whole('task_id')}",
        entry_point=name,
        signature=signature_of(reference),
        description=entry.text("prompt"),
        seed_inputs=seeds_in_tests(tests, name, reference),
        public_inputs=seeds_in_tests(per_test[0], name, reference),  # descriptions hold no examples
        reference=code,
    )


def _entry_point(entry: Entry, program: ast.Module, tests: list[ast.stmt]) -> str:
    """Return the first function that the tests call and the code defines: MBPP does not name it itself."""
    defined = {s.name for s in program.body if isinstance(s, ast.FunctionDef)}
    for node in (node for test in tests for node in ast.walk(test)):
        match node:
            case ast.Call(func=ast.Name(id=name)) if name in defined:
                return name
    raise entry.refusal("tests that call a function of field 'code'", f"calls of none of {sorted(defined)}")
