"""Make a task of the fields that a user's own entry gives, and complete it by its types."""

import ast
from dataclasses import replace
from typing import Final

from difftrust_core.base.literals import BadText, read_literal, write_literal
from difftrust_core.base.task import MOST_NAME, Domain, Task, TaskTest
from difftrust_core.datasets.entries import Entry, as_entry, signature_of
from difftrust_core.datasets.relations import RELATION_FIELDS, relation_of
from difftrust_core.exceptions import BadBenchmark, BadTask
from difftrust_core.languages.language import language_names
from difftrust_core.languages.python.argument_types import ArgumentTypes
from difftrust_core.languages.python.domain import PythonDomain, seeds_from_types
from difftrust_core.languages.python.drawing import values_by_name
from difftrust_core.languages.python.syntax import is_empty_function, parsed, takes
from difftrust_core.languages.python.value_types import type_of_values

REMEDY: Final = "correct the file (docs/own_tasks.md shows one)"
FIELDS: Final = (
    *("task_id", "entry_point", "signature", "description", "reference", "preamble", "seed_inputs", "examples"),
    *("tests", "domain", "language", "ambiguous", "ambiguity", "benchmark", *RELATION_FIELDS),
)
"""What an own task may say, in TOML and JSONL."""
_DOMAIN_FIELDS = ("types", "requires", "generate")
EXAMPLES, TESTS = "examples", "tests"
ENOUGH: Final = 100
"""Seed inputs that a task gets from its types where it names none itself."""


def checked_name(name: str, where: str) -> str:
    """Return the name of an own benchmark. Raises BadBenchmark where it is that of a known one, or none."""
    from difftrust_core.datasets.benchmarks import BENCHMARKS

    taken = [known for known in BENCHMARKS if known.lower() == name.lower()]
    if taken:
        raise BadBenchmark(f'{where}: {taken[0]} is another benchmark; say `benchmark = "..."` or rename the file')
    if len(name) > MOST_NAME:
        raise BadBenchmark(f"{where}: expected at most {MOST_NAME} characters, found {len(name):,}; {REMEDY}")
    if not name.strip() or not name.isprintable() or "/" in name:
        raise BadBenchmark(f"{where}: expected a plain name of a benchmark, found {name[:80]!r}; {REMEDY}")
    return name


def own_task(entry: Entry, *, benchmark: str) -> Task:
    """Return the task that the fields of FIELDS make."""
    task_id = entry.text("task_id")
    if not entry.text("description").strip():
        raise entry.refusal("what the function shall do in field 'description'", "an empty text")
    name = entry.text("entry_point", default="main" if _is_stdin(entry) else task_id.rpartition("/")[2])
    reference = entry.text("reference") if "reference" in entry.fields else None
    examples, tests = tests_of(entry, EXAMPLES), tests_of(entry, TESTS)
    given = entry.texts("seed_inputs") if "seed_inputs" in entry.fields else []
    seeds = tuple(dict.fromkeys([*given, *(test.arguments for test in (*examples, *tests))]))
    task = entry.task(
        benchmark=benchmark,
        task_id=task_id,
        entry_point=name,
        signature=_signature(entry, name, reference),
        description=entry.text("description"),
        seed_inputs=seeds,
        reference=reference,
        preamble=entry.text("preamble", default=""),
        language=_language(entry),
        ambiguous=entry.flag("ambiguous"),
        domain=domain_of(entry),
        public_inputs=tuple(dict.fromkeys(test.arguments for test in examples)),
        relation=relation_of(entry),
        tests=(*examples, *tests),
    )
    return callable_by_position(completed(task, entry), entry)


def callable_by_position(task: Task, entry: Entry) -> Task:
    """Return the task. Raises BadBenchmark where its function or reference cannot be called with its seed inputs."""
    if task.language != "python" or "." in task.entry_point:
        return task
    name = task.entry_point
    declared, reference = parsed(f"def {name}{task.signature}: ..."), parsed(task.reference or "")
    for what, tree in ((f"{name}{task.signature}", declared), (f"the reference {name}", reference)):
        found = [s for s in tree.body if isinstance(s, ast.FunctionDef) and s.name == name] if tree else []
        for seed, values in zip(task.seed_inputs, task.arguments(), strict=True) if found else ():
            if not takes(found[-1].args, len(values)):
                raise entry.refusal(f"arguments that {what} takes by position", seed[:80])
    return task


def completed(task: Task, entry: Entry) -> Task:
    """Return a task with what its types give: a domain, and ENOUGH seed inputs where it has none.

    Raises BadBenchmark as ``checked`` does.
    """
    return _with_types(checked(task, entry), entry) if task.language == "python" else checked(task, entry)


def checked(task: Task, entry: Entry) -> Task:
    """Return the task. Raises BadBenchmark for a reference that does nothing, or a text that is no UTF-8."""
    for name in ("description", "preamble", "signature", "reference"):
        text = getattr(task, name) or ""
        if not text.isascii() and any("\ud800" <= c <= "\udfff" for c in text):
            raise entry.refusal(f"text in UTF-8 in field {name!r}", "lone surrogates")
    if task.language != "python" or task.reference is None:
        return task
    if is_empty_function(task.reference, task.entry_point):
        raise entry.refusal(
            f"a reference that computes {task.entry_point}, or none", "a function whose body does nothing"
        )
    return task


def _with_types(task: Task, entry: Entry) -> Task:
    domain = task.domain or Domain()
    found = _read_domain(task, domain, entry)
    if found.types.unchecked and not domain.types:
        types = _types_of_seeds(found.types, task)
        if not types:
            return task
        domain = replace(domain, types=types)
        try:
            found = PythonDomain(task, domain)
        except BadTask:  # the types are not the user's words
            return task
    n_drawn = 0 if entry.fields.get("seed_inputs") else ENOUGH - len(task.seed_inputs)
    drawn = seeds_from_types(found, task, n=n_drawn) if n_drawn > 0 else []
    return replace(task, domain=domain, seed_inputs=tuple(dict.fromkeys([*task.seed_inputs, *drawn])))


def _read_domain(task: Task, domain: Domain, entry: Entry) -> PythonDomain:
    try:
        return PythonDomain(task, domain)
    except BadTask as e:
        raise entry.refusal("a signature and a domain that can be read", str(e)) from None


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


def _is_stdin(entry: Entry) -> bool:
    return entry.fields.get("language") == "stdin"


def _language(entry: Entry) -> str:
    name = entry.text("language", default=Task.language)
    if name not in language_names():
        raise entry.refusal(f"a language of {', '.join(language_names())}", repr(name[:80]))
    return name


def _signature(entry: Entry, name: str, reference: str | None) -> str:
    if "signature" in entry.fields or reference is None:
        return entry.text("signature", default="(text: str) -> str" if _is_stdin(entry) else None)
    if _is_stdin(entry):
        return "(text: str) -> str"
    return signature_of(entry.function(entry.tree(reference, "field 'reference'"), name, "the reference"))


def domain_of(entry: Entry) -> Domain | None:
    """Return the domain that the field ``domain`` spells, None where it is missing."""
    if "domain" not in entry.fields:
        return None
    table = as_entry(entry.fields["domain"], where=f"{entry.where}, domain", remedy=entry.remedy)
    if unknown := sorted(str(field) for field in table.fields.keys() - set(_DOMAIN_FIELDS)):
        raise table.refusal(f"only {', '.join(_DOMAIN_FIELDS)}", ", ".join(unknown))
    return Domain(**{name: table.text(name, default="") for name in _DOMAIN_FIELDS})


def tests_of(entry: Entry, name: str) -> tuple[TaskTest, ...]:
    """Return the tests that a list of pairs (arguments, expected value) spells, both in the form of ``literals``."""
    pairs = entry.fields.get(name, [])
    if type(pairs) is not list:
        raise entry.refusal(f"a list of [arguments, expected value] in field {name!r}", type(pairs).__name__)
    found = []
    for number, pair in enumerate(pairs, 1):
        where = f"{name[:-1]} {number}"
        if type(pair) is not list or len(pair) != 2 or any(type(text) is not str for text in pair):
            raise entry.refusal(f"{where} as two texts [arguments, expected value]", repr(pair)[:80])
        found.append(TaskTest(arguments=pair[0], expected=_canonical(entry, pair[1], where), group=name))
    return tuple(found)


def _canonical(entry: Entry, text: str, where: str) -> str:
    try:
        return write_literal(read_literal(text))
    except BadText as e:
        raise entry.refusal(f"a literal as expected value of {where}", str(e)) from None
