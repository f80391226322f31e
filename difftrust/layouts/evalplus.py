"""Load HumanEval+ and MBPP+ as EvalPlus releases them: one JSON object a line, plain or gzip."""

import ast
import copy
import textwrap
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from itertools import chain, repeat
from pathlib import Path
from typing import Any, Final

from difftrust.types.domain import PythonDomain
from difftrust_core.base.literals import BadText, write_literal
from difftrust_core.base.task import Domain, Relation, Task, TaskTest
from difftrust_core.datasets.benchmarks import docstring_of, load_humaneval, text_before
from difftrust_core.datasets.entries import Entry, load_lines, signature_of
from difftrust_core.datasets.own_tasks import REMEDY, Layout, checked
from difftrust_core.datasets.seeds import seeds_in_text
from difftrust_core.exceptions import BadTask, NoBenchmark
from difftrust_core.languages.python.syntax import is_docstring, parsed

_Reader = Callable[[Any], Any]


def _as_tuple(value: Any) -> Any:
    return tuple(value) if type(value) is list else value


def _tuple_of_tuples(value: Any) -> Any:
    return tuple(map(_as_tuple, value))


def _tuples_in(value: Any) -> Any:
    return list(map(_as_tuple, value))


def _deep(value: Any) -> Any:
    return tuple(map(_deep, value)) if type(value) is list else value


def _sets_in(value: Any) -> Any:
    return [set(entry) if type(entry) is list and entry else {} for entry in value]  # {}: as released, no empty set


def _tuples_by_key(value: Any) -> Any:
    return {key: _as_tuple(entry) for key, entry in value.items()}


_SHAPES: dict[_Reader | tuple[_Reader | None, ...], tuple[int, ...]] = {
    _as_tuple: (
        *(2, 116, 132, 143, 222, 261, 273, 394, 399, 421, 424, 429, 470, 560, 579, 596, 616, 630, 726, 740, 744, 809),
    ),
    _tuples_in: (63, 64, 70, 94, 120, 237, 272, 299, 400, 409, 417, 438, 473, 614, 780),
    _tuple_of_tuples: (259, 278, 401, 445),
    _deep: (580, 615, 791),
    complex: (252,),
    (_tuples_in,): (75, 413, 444, 753),
    (None, _as_tuple): (106, 750),
    (_sets_in,): (115,),
    (float, complex): (124,),
    (_as_tuple,): (250, 307, 405, 446, 617, 720, 763, 808),
    (_tuples_by_key,): (722,),
}
"""How each argument is read, or the first ones (None: as they are) -> numbers of the tasks."""
_READERS = {number: reader for reader, numbers in _SHAPES.items() for number in numbers}


def released_arguments(task_id: str, arguments: list[Any]) -> list[Any]:
    """Return the arguments that a list of a release stands for; only tasks of MBPP+ have others than it spells.

    Raises ValueError or TypeError where they are not of the form that EvalPlus writes for the task.
    """
    benchmark, _, number = task_id.partition("/")
    if benchmark != "Mbpp" or not number.isdecimal():
        return arguments
    found = _READERS.get(int(number), ())
    readers = chain(found, repeat(None)) if isinstance(found, tuple) else repeat(found)
    return [read(argument) if read else argument for read, argument in zip(readers, arguments, strict=False)]


BASE: Final = "base"
PLUS: Final = "plus"
"""The groups of tests: those of the benchmark itself, and those that EvalPlus added."""
LONGEST_SEED: Final = 1_000
"""Characters of an input that is mutated; longer ones are tests only, unless a task has no shorter one."""
RTOL: Final = 1e-7
"""Of EvalPlus' comparison, beside a task's ``atol``."""
_FIELDS = frozenset({"task_id", "prompt", "entry_point", "canonical_solution", "base_input", "plus_input"})
_NAMES = {"HumanEval": "HumanEval+", "Mbpp": "MBPP+"}
_NORMAL = {
    "HumanEval+ find_zero": """\
def normal(arguments, output):
    if not isinstance(output, (int, float)):
        return output
    value = sum(factor * output**power for power, factor in enumerate(arguments[0]))
    return "a zero" if abs(value) <= 1e-4 else output
""",
    "MBPP+ are_equivalent": """\
def normal(arguments, output):
    return "any value"
""",
    **dict.fromkeys(
        ("MBPP+ check_str", "MBPP+ text_match_three", "MBPP+ text_starta_endb"),
        """\
def normal(arguments, output):
    return output if isinstance(output, bool) else output is not None
""",
    ),
    **dict.fromkeys(
        (
            *("MBPP+ similar_elements", "MBPP+ find_char_long", "MBPP+ common_in_nested_lists", "MBPP+ extract_singly"),
            *("MBPP+ larg_nnum", "MBPP+ intersection_array", "MBPP+ find_dissimilar", "MBPP+ Diff"),
        ),
        """\
def normal(arguments, output):
    try:
        return set(output)
    except TypeError:
        return output
""",
    ),
}
"""Benchmark and function -> the form in which EvalPlus compares its values, where it is not the value itself."""
_SEVERAL = frozenset({"are_equivalent", "sum_div", "surface_Area", "digit_distance_nums"})
"""Functions of MBPP+ whose description admits several answers: EvalPlus accepts further ones beside the reference's."""


def is_evalplus(fields: Mapping[str, Any]) -> bool:
    """Tell whether an object of a JSONL file is a task in the layout of EvalPlus."""
    return fields.keys() >= _FIELDS


def load_evalplus(path: Path) -> list[Task]:
    """Return the tasks of ``path`` in their order. Raises BadBenchmark naming file, line and field.

    In the file of April 2023 ``base_input`` is empty everywhere; its tasks take the inputs of HumanEval's own tests,
    where HumanEval is on this machine.
    """
    tasks = [_task(entry) for entry in load_lines(path, remedy=REMEDY)]
    if any(test.group == BASE for task in tasks for test in task.tests):
        return tasks
    own = _inputs_of_humaneval() if all(task.benchmark == _NAMES["HumanEval"] for task in tasks) else {}
    return [_with_inputs(task, own.get(task.task_id, ()), task.tests) for task in tasks]


def _inputs_of_humaneval() -> dict[str, tuple[TaskTest, ...]]:
    from difftrust_core.datasets.benchmarks import find_benchmark

    with suppress(NoBenchmark):
        return {
            task.task_id: tuple(TaskTest(arguments=text, group=BASE) for text in task.seed_inputs)
            for task in load_humaneval(find_benchmark("HumanEval"))
        }
    return {}


def _task(entry: Entry) -> Task:
    if not is_evalplus(entry.fields):
        missing = ", ".join(sorted(_FIELDS - entry.fields.keys()))
        raise entry.refusal("the fields of EvalPlus, as in the first line", f"no {missing}")
    task_id, name, prompt = entry.text("task_id"), entry.text("entry_point"), entry.text("prompt")
    benchmark = _NAMES.get(task_id.partition("/")[0])
    if benchmark is None:
        raise entry.refusal(f"a task_id that begins with {'/ or '.join(_NAMES)}/", repr(task_id[:80]))
    program = prompt + entry.text("canonical_solution")
    place = "prompt and canonical_solution"
    tree = entry.tree(program, place)
    reference = entry.function(tree, name, place)
    prompts = parsed(prompt)  # None where only the solution completes it
    asked = [s for s in (prompts.body if prompts else []) if isinstance(s, ast.FunctionDef) and s.name == name]
    description = docstring_of(asked[-1]) if asked else _first_text(tree)
    tests = (*_tests(entry, BASE), *_tests(entry, PLUS))
    task = entry.task(
        benchmark=benchmark,
        task_id=task_id,
        entry_point=name,
        signature=signature_of(asked[-1] if asked else reference),
        description=description,
        seed_inputs=(),
        reference=program,
        preamble=text_before(prompt, asked[-1]) if asked else "",
        prompt=prompt,
        ambiguous=benchmark == "MBPP+" and name in _SEVERAL,
        relation=_relation(entry, f"{benchmark} {name}"),
        domain=Domain(requires=_requires(entry, tree, reference)),
    )
    told = set(seeds_in_text(description, name, reference))
    task = replace(task, public_inputs=tuple(dict.fromkeys(t.arguments for t in tests if t.arguments in told)))
    return _with_inputs(checked(task, entry), (), tests)


def _first_text(tree: ast.Module) -> str:
    return next((ast.literal_eval(s.value).strip() for s in tree.body if is_docstring(s)), "")  # type: ignore[attr-defined]


def _tests(entry: Entry, group: str) -> Iterator[TaskTest]:
    name = f"{group}_input"
    listed = entry.fields[name] or []
    if type(listed) is not list or not all(type(arguments) is list for arguments in listed):
        raise entry.refusal(f"a list of argument lists in field {name!r}", type(entry.fields[name]).__name__)
    for number, arguments in enumerate(listed, 1):
        try:
            text = write_literal(tuple(released_arguments(entry.text("task_id"), arguments)))
        except (BadText, ValueError, TypeError, IndexError, AttributeError, RecursionError) as e:
            raise entry.refusal(f"arguments as EvalPlus writes them in {name}, input {number}", str(e)[:80]) from None
        yield TaskTest(arguments=text, group=group)


def _relation(entry: Entry, function: str) -> Relation | None:
    atol = entry.fields.get("atol", 0) or 0
    if type(atol) not in (int, float) or not 0 <= atol < 1:
        raise entry.refusal("a number from 0 to 1 in field 'atol'", repr(atol)[:80])
    normal = _NORMAL.get(function, "")
    return Relation(atol=float(atol), rtol=RTOL if atol else 0.0, normal=normal) if atol or normal else None


def _requires(entry: Entry, tree: ast.Module, function: ast.FunctionDef) -> str:
    """Return a text that defines ``requires``: the contract behind the function's parameters."""
    contract = textwrap.dedent(entry.text("contract", default="").replace("\t", "    ")).strip()
    if not contract:
        return ""
    body = entry.tree(contract, "field 'contract'")
    used = {node.id for node in ast.walk(body) if isinstance(node, ast.Name)}
    imports = [s for s in tree.body if isinstance(s, ast.Import | ast.ImportFrom) and _bound(s) & used]
    header = f"def requires({ast.unparse(_without_annotations(function.args))}):"
    text = "\n".join([*map(ast.unparse, imports), header, *textwrap.indent(contract, "    ").splitlines()])
    return f"{text}\n    return True\n"


def _bound(statement: ast.Import | ast.ImportFrom) -> set[str]:
    return {(alias.asname or alias.name).partition(".")[0] for alias in statement.names}


def _without_annotations(arguments: ast.arguments) -> ast.arguments:
    bare = copy.deepcopy(arguments)
    for argument in ast.walk(bare):
        if isinstance(argument, ast.arg):
            argument.annotation = None
    return bare


def _with_inputs(task: Task, base: tuple[TaskTest, ...], tests: tuple[TaskTest, ...]) -> Task:
    """Return a task with these tests, and their inputs as seeds: the first of each, without very long ones."""
    every = (*base, *tests)
    texts = list(dict.fromkeys(test.arguments for test in every))
    short = [text for text in texts if len(text) <= LONGEST_SEED] or sorted(texts, key=len)[:1]
    return _typed(replace(task, tests=every, seed_inputs=tuple(short)))


def _typed(task: Task) -> Task:
    """Return a task whose domain has no types where none of its own inputs fits those of its signature."""
    assert task.domain is not None
    try:
        domain = PythonDomain(task, task.domain)
    except BadTask:
        return task  # its own complaint, where it is drawn from
    if not task.seed_inputs or any(map(domain.fits, task.seed_inputs)):
        return task
    function = ast.parse(f"def f{task.signature}: ...").body[0]
    assert isinstance(function, ast.FunctionDef)
    return replace(task, domain=replace(task.domain, types=ast.unparse(_without_annotations(function.args))))


FILES = Layout(is_layout_of=is_evalplus, load=load_evalplus)
