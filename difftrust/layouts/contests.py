"""What the layouts of programming contests share: stubs, tolerances, the domain that tests show, and their tasks."""

import ast
import re
import string
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, combinations, permutations, product
from pathlib import Path
from typing import Any, Final

from difftrust.contests.adapter import trimmed
from difftrust_core.base.literals import write_literal
from difftrust_core.base.task import Domain, Relation, Task, TaskTest
from difftrust_core.datasets import entries as unpacking
from difftrust_core.datasets.entries import MAX_RELEASE, Entry, load_lines, plain_id, relation_of, signature_of
from difftrust_core.datasets.own_tasks import checked_name, completed, domain_of

OWNER = "Solution"
IMPORTS = """\
import bisect, collections, copy, functools, heapq, itertools, math, operator, random, re, string, sys
from bisect import *
from collections import *
from functools import *
from heapq import *
from itertools import *
from math import *
from typing import *
from builtins import *
"""
"""What the judges of these benchmarks put before a program that is called; builtins last, so that ``pow`` is theirs."""


@dataclass(frozen=True, kw_only=True)
class Stub:
    """The function that is asked for."""

    entry_point: str
    """``name`` or ``Solution.name``."""
    signature: str
    """Without ``self``."""

    @property
    def parameters(self) -> list[str]:
        """The names of the parameters."""
        (function,) = ast.parse(f"def f{self.signature}: ...").body
        assert isinstance(function, ast.FunctionDef)
        return [parameter.arg for parameter in (*function.args.posonlyargs, *function.args.args)]

    @property
    def returns_list(self) -> bool:
        """The return annotation is a list."""
        return self.signature.partition("->")[2].strip().lower().startswith(("list", "typing.list"))


def stub_in(text: str, name: str = "") -> Stub | None:
    """Return the function ``name`` (empty: the last one) that a program or a stub defines; None if it defines none.

    A method of ``Solution`` comes before a function of the same name.
    """
    tree = _tree(text)
    if tree is None:
        return None
    owners = [
        statement.body for statement in tree.body if isinstance(statement, ast.ClassDef) and statement.name == OWNER
    ]
    methods = [method for body in owners for method in _functions(body, name)]
    function = next(reversed(methods or _functions(tree.body, name)), None)
    if function is None:
        return None
    if methods and not any(isinstance(d, ast.Name) and d.id == "staticmethod" for d in function.decorator_list):
        del (function.args.posonlyargs or function.args.args)[:1]  # self
    return Stub(entry_point=f"{OWNER}.{function.name}" if methods else function.name, signature=signature_of(function))


def stub_for(name: str, inputs: Sequence[Sequence[object]]) -> Stub:
    """Return the stub of a function of which no text is known, by its inputs."""
    least = min((len(arguments) for arguments in inputs), default=0)
    names = [f"argument_{i}" for i in range(1, least + 1)]
    is_open = any(len(arguments) > least for arguments in inputs) or not inputs
    return Stub(entry_point=name, signature=f"({', '.join([*names, *(['*others'] if is_open else [])])})")


def _tree(text: str) -> ast.Module | None:
    """Return the tree of a text whose last body may be missing."""
    for program in (text, f"{text.rstrip()} ...", f"{text.rstrip()}\n..."):
        try:
            return ast.parse(program.replace("\t", "    "))
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue
    return None


def _functions(body: list[ast.stmt], name: str) -> list[ast.FunctionDef]:
    found = [s for s in body if isinstance(s, ast.FunctionDef) and not s.name.startswith("__")]
    return [function for function in found if not name or function.name == name]


LARGEST = 0.05
"""A larger one is no tolerance of an answer: a scale of the story may be off by 0.1 kg."""


def _words(pattern: str) -> re.Pattern[str]:
    return re.compile(rf"\b{pattern}\b", re.IGNORECASE)


_SUPERSCRIPTS = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")
_MARKUP = re.compile(
    r"\$+|\\[()\[\],;!]|\\(?:left|right|text|mathrm|rm|displaystyle)\b|</?(?:sup|var|i|b|em|code|span)>|[`{}~]"
)
_TIMES = r"(?:\*|·|×|⋅|\\times|\\cdot|x)"
_POWER = rf"(?:(?P<factor>\d+(?:\.\d+)?)\s*{_TIMES}\s*)?10\s*(?:\^|\*\*|\\\^)?\s*\(?\s*-\s*(?P<power>\d{{1,2}})\b"
_SCIENTIFIC = r"(?P<scientific>\d+(?:\.\d+)?[eE]\s*-\s*\d{1,2})\b"
_DECIMAL = r"(?P<decimal>0?\.0\d*[1-9]\d*)(?![\d.]*\d)"
_NUMBER = re.compile(rf"(?<![\w.]){_POWER}|(?<![\w.]){_SCIENTIFIC}|(?<![\w.]){_DECIMAL}")
_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[^\s\d])|\n\s*\n")
_ABSOLUTE, _RELATIVE = _words(r"absolute"), _words(r"relative")
_EITHER = _words(r"(?:absolute\s*(?:or|and|/|and/or)\s*relative|relative\s*(?:or|and|/|and/or)\s*absolute)")
_ERROR = _words(r"(?:errors?(?! (?:messages?|codes?|logs?)\b)|precision|accuracy|accurate|toleran\w+)")
_DISTANCE = _words(r"(?:differs?|difference|deviat\w+|within|off by|distance)")
_ANSWER = _words(
    r"(?:answers?|results?|solutions?|your|jury\w*|judges?|expected|checker|(?:the|your|printed) (?:output|value)s?)"
)
_TO_PRINT = _words(r"(?:print\w*|outputs?|report\w*|write)")
_NORM = _words(
    r"(?:accept\w*|correct\w*|allow\w*|tolerated|ignored?|must|should|can|may|considered|judged|at most|no more than|"
    r"exceed\w*|less than|smaller than|below|up to|within|of|is)"
)
_ELSEWHERE = _words(r"(?:guarantee\w*|no two|inputs? (?:is|are|values?|numbers?|data)|(?:is|are) given|you are given)")
"""What is said of an input, or of the story."""


def stated_tolerance(description: str, *, tokens: bool) -> Relation | None:
    """Return the relation that a description states for numbers, None where it states none.

    An absolute error, a relative one, or either; one that is called neither is absolute. ``tokens``: of the words of a
    text, else of values. Of several statements the first counts.
    """
    for sentence in _sentences(description):
        size = _size(sentence)
        if size is not None and _is_of_answers(sentence):
            relative, absolute = bool(_RELATIVE.search(sentence)), bool(_ABSOLUTE.search(sentence))
            return Relation(
                atol=size if absolute or not relative else 0.0, rtol=size if relative else 0.0, tokens=tokens
            )
    return None


def _is_of_answers(sentence: str) -> bool:
    """Tell whether a sentence with a small number says how far answers may be off."""
    if _ELSEWHERE.search(sentence) or not _NORM.search(sentence):
        return False
    if _ERROR.search(sentence):
        return bool(_EITHER.search(sentence) or _ANSWER.search(sentence) or _TO_PRINT.search(sentence))
    return bool(_DISTANCE.search(sentence) and _ANSWER.search(sentence))


def _sentences(description: str) -> Iterator[str]:
    plain = re.sub(r"(?<=10)([⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+)", lambda found: "^" + found[0].translate(_SUPERSCRIPTS), description)
    plain = re.sub(r"[−–‐‑]", "-", re.sub(r"(?<=10)<sup>", "^", plain))
    for sentence in _SENTENCE.split(_MARKUP.sub("", plain)):
        yield " ".join(sentence.split())


def _size(sentence: str) -> float | None:
    """Return the first number of a sentence that is small enough for a tolerance."""
    for found in _NUMBER.finditer(sentence):
        if found["power"] is not None:
            size = float(f"{found['factor'] or 1}e-{found['power']}")
        else:
            size = float(re.sub(r"\s", "", found["scientific"] or found["decimal"]))
        if 0 < size <= LARGEST:
            return size
    return None


ENOUGH_TESTS = 5
"""So many tests must be able to break a rule before their keeping it says something; one if the description says it."""
_SCALARS = {bool: "bool", int: "int", float: "float", str: "str"}
_CLASSES = (string.ascii_lowercase, string.ascii_uppercase, string.digits)
_ENOUGH_CHARACTERS = 6
"""So many different characters of a class stand for all of it."""
_SORTED = re.compile(r"\b(?:sorted|ascending|increasing|non-?decreasing|in order)\b", re.IGNORECASE)
_DISTINCT = re.compile(r"\b(?:distinct|different|unique|permutation|duplicates?)\b", re.IGNORECASE)
Rule = tuple[str, str, re.Pattern[str] | None]
"""An expression of a, and of b; when values could break it; how a description says it."""
_OF_LISTS: tuple[Rule, ...] = (
    ("len(set({a})) == len({a})", "len(a) > 2", _DISTINCT),
    ("{a} == sorted({a})", "len(a) > 2", _SORTED),
)
_OF_ROWS: tuple[Rule, ...] = (("len(set(map(len, {a}))) <= 1", "len(a) > 1", None),)
_OF_TWO_LISTS: tuple[Rule, ...] = (("len({a}) == len({b})", "len(a) > 1", None),)
_OF_NUMBER_AND_LIST: tuple[Rule, ...] = (("{a} < len({b})", "True", None), ("{a} <= len({b})", "True", None))
_OF_TWO_NUMBERS: tuple[Rule, ...] = (("{a} < {b}", "True", None), ("{a} <= {b}", "True", None))


def seen_domain(names: Sequence[str], calls: Sequence[Sequence[Any]], description: str = "") -> Domain | None:
    """Return the domain that the arguments of ``calls`` span; None where their number or types differ."""
    if not calls or any(len(arguments) != len(names) for arguments in calls):
        return None
    columns = dict(zip(names, map(list, zip(*calls, strict=True)), strict=True))
    types = {name: _type(values) for name, values in columns.items()}
    if not all(types.values()):
        return None
    sizes = chain.from_iterable(_sizes(name, values) for name, values in columns.items())
    rules = [*sizes, *_between(columns, types, description)]
    return Domain(types=", ".join(f"{n}: {t}" for n, t in types.items()), requires="\nand ".join(rules))


def _type(values: Sequence[Any]) -> str:
    """Return the type of some values, empty where there is none that all have."""
    kinds = {type(value) for value in values}
    if len(kinds) == 1 and (kind := kinds.pop()) in _SCALARS:
        return _SCALARS[kind]
    if kinds or any(type(value) is not list for value in values):
        return ""
    elements = [element for value in values for element in value]
    inner = _type(elements) if elements else "int"
    return f"list[{inner}]" if inner else ""


def _sizes(name: str, values: Sequence[Any], *, depth: int = 0) -> Iterator[str]:
    """Yield expressions of ``name`` that hold the sizes of some values."""
    kind = type(values[0])
    if kind in (int, float):
        yield f"{min(values)!r} <= {name} <= {max(values)!r}"
    elif kind is str:
        yield _lengths(name, values)
        yield f"set({name}) <= set({_alphabet(values)!r})"
    elif kind is list:
        yield _lengths(name, values)
        elements = [element for value in values for element in value]
        if elements:
            one = "abcdefgh"[depth]
            inner = " and ".join(_sizes(one, elements, depth=depth + 1))
            if inner:
                yield f"all({inner} for {one} in {name})"
        if elements and type(elements[0]) is list:
            yield from _kept(_OF_ROWS, (name,), [(value,) for value in values])


def _lengths(name: str, values: Sequence[Any]) -> str:
    sizes = [len(value) for value in values]
    return f"{min(sizes)} <= len({name}) <= {max(sizes)}"


def _alphabet(values: Sequence[str]) -> str:
    found = set("".join(values))
    for characters in _CLASSES:
        if len(found & set(characters)) >= _ENOUGH_CHARACTERS:
            found |= set(characters)
    return "".join(sorted(found))


def _between(columns: dict[str, list[Any]], types: dict[str, str], said: str) -> Iterator[str]:
    """Yield what holds of lists, and between arguments, in every test."""
    lists = [name for name, kind in types.items() if kind.startswith("list")]
    numbers = [name for name, kind in types.items() if kind == "int"]
    flat = [name for name in lists if not types[name].startswith("list[list")]
    asked: Iterator[tuple[tuple[Rule, ...], tuple[str, ...]]] = chain(
        (((rule,), (name,)) for name in flat for rule in _OF_LISTS),
        ((_OF_TWO_LISTS, pair) for pair in combinations(lists, 2)),
        ((_OF_NUMBER_AND_LIST, pair) for pair in product(numbers, lists)),
        ((_OF_TWO_NUMBERS, pair) for pair in permutations(numbers, 2)),
    )
    for rules, names in asked:
        yield from _kept(rules, names, list(zip(*(columns[name] for name in names), strict=True)), said)


def _kept(
    rules: Sequence[Rule], names: tuple[str, ...], rows: Sequence[tuple[Any, ...]], said: str = ""
) -> Iterator[str]:
    """Yield the first rule that every row keeps, if enough rows could have broken it."""
    for text, may_break, words in rules:
        own, could = (compile(each.format(a="a", b="b"), "rule", "eval") for each in (text, may_break))
        values = [dict(zip("ab", row, strict=False)) for row in rows]
        able = {repr(value) for value in values if eval(could, value.copy())}
        enough = 1 if words is not None and words.search(said) else ENOUGH_TESTS
        if len(able) >= enough and all(eval(own, value) for value in values):
            yield text.format(**dict(zip("ab", names, strict=False)))
            return


REMEDY: Final = "correct the file, or get the release again"
LONGEST_TEST: Final = 100_000
"""Characters of a test's input and output; longer ones, which try speed alone, are left out."""
LONGEST_TESTS: Final = 1_000_000
"""Characters of a task's tests."""
LONGEST_SEED: Final = 2_000
MOST_SEEDS: Final = 30
PUBLIC, PRIVATE, GENERATED = "public", "private", "generated"
STDIN: Final = "stdin"
_MANY_ANSWERS = re.compile(
    r"\b(?:(?:print|output|return|find|report)\s+any\b|any (?:one )?of (?:them|these|those|the)\b"
    r"|(?:multiple|several|many|more than one)\s+(?:possible |valid |correct |optimal |such )*(?:answers?|solutions?)\b"
    r"|answers? in any order)",
    re.IGNORECASE,
)


@dataclass(frozen=True, kw_only=True)
class Case:
    """One test as its file gives it."""

    input: Any
    output: Any
    group: str
    where: str
    """The field and the number of the test."""
    kind: str = ""
    """How a program gets the input, where the test says it."""


def load_release(path: Path) -> Iterator[Entry]:
    """Yield the objects of a released file, line by line."""
    yield from load_lines(path, remedy=REMEDY, most=MAX_RELEASE)


def json_of(entry: Entry, name: str) -> Any:
    """Return the value of a field that holds JSON, or what JSON would give; None where it is missing or empty."""
    value = entry.fields.get(name)
    if type(value) is not str:
        return value
    if not value.strip():
        return None
    return read_json(entry, value, f"field {name!r}")


def read_json(entry: Entry, text: str, place: str) -> Any:
    """Return the value of a JSON text. Raises BadBenchmark, naming the place, for another text."""
    try:
        return unpacking.read_json(text)
    except (ValueError, RecursionError) as e:
        raise entry.refusal(f"JSON in {place}", f"{str(e)[:80]}") from None


def paired(entry: Entry, tests: Any, *, group: str, place: str) -> list[Case]:
    """Return the tests of a list of objects with ``input`` and ``output``, or of an object with a list of each."""
    if tests is None:
        return []
    if type(tests) is dict:
        inputs, outputs = (tests.get(name) for name in ("input", "output"))
        if type(inputs) is not list or type(outputs) is not list:
            kinds = f"{_kind(inputs)} and {_kind(outputs)}"
            raise entry.refusal(f"a list of inputs and a list of outputs in {place}", kinds)
        if len(inputs) != len(outputs):
            sizes = f"{len(inputs)} inputs and {len(outputs)} outputs"
            raise entry.refusal(f"as many outputs as inputs in {place}", sizes)
        tests = [{"input": given, "output": output} for given, output in zip(inputs, outputs, strict=True)]
    if type(tests) is not list:
        raise entry.refusal(f"a list of tests in {place}", type(tests).__name__)
    found = []
    for number, test in enumerate(tests, 1):
        where = f"{place}, test {number}"
        if type(test) is not dict or not {"input", "output"} <= test.keys():
            raise entry.refusal(f"input and output in {where}", _kind(test))
        kind = str(test.get("testtype") or "")
        found.append(Case(input=test["input"], output=test["output"], group=group, where=where, kind=kind))
    return found


def arguments_in(entry: Entry, case: Case, expectation: str) -> list[Any]:
    """Return the arguments of a test, a list or JSON one a line. Raises BadBenchmark for what is neither."""
    found = case.input
    if type(found) is str:
        lines = [line for line in found.splitlines() if line.strip()]
        found = [read_json(entry, line, f"a line of the input of {case.where}") for line in lines]
    if type(found) is not list:
        raise entry.refusal(f"{expectation} as input of {case.where}", type(found).__name__)
    return found


def stdin_task(entry: Entry, cases: Sequence[Case], **said: Any) -> Task:
    """Return the task of a program that reads its standard input; ``said``: layout, task_id, description, reference."""
    tests = [
        TaskTest(
            arguments=write_literal((_text(entry, case.input, f"input of {case.where}"),)),
            expected=write_literal(trimmed(_text(entry, case.output, f"output of {case.where}"))),
            group=case.group,
        )
        for case in cases
    ]
    return _task(
        entry,
        tests,
        entry_point="main",
        signature="(text: str) -> str",
        preamble=entry.text("preamble", default=""),
        language=STDIN,
        **said,
    )


def function_task(entry: Entry, cases: Sequence[Case], *, stub: Stub, **said: Any) -> Task:
    """Return the task of a program that is called; the inputs of ``cases`` are lists of arguments."""
    tests = [
        TaskTest(arguments=write_literal(tuple(case.input)), expected=write_literal(case.output), group=case.group)
        for case in cases
    ]
    return _task(
        entry,
        tests,
        entry_point=stub.entry_point,
        signature=stub.signature,
        preamble=entry.text("preamble", default=IMPORTS),
        domain=domain_of(entry) or seen_domain(stub.parameters, [case.input for case in cases], said["description"]),
        **said,
    )


def id_in(entry: Entry, name: str) -> str:
    """Return the id of the task, from a text or a number in field ``name``."""
    value = entry.fields.get(name)
    if type(value) not in (str, int):
        raise entry.refusal(f"a text or a number in field {name!r}", _kind(value))
    return plain_id(str(value))


def first_program(entry: Entry, programs: Iterable[str] = ()) -> str | None:
    """Return the field ``reference``, or else the first of some programs; None where there is neither."""
    return entry.text("reference") if "reference" in entry.fields else next(iter(programs), None)


def _task(entry: Entry, tests: list[TaskTest], *, layout: str, description: str, **more: Any) -> Task:
    kept = _short_enough(tests)
    own = relation_of(entry)
    is_stdin = more.get("language") == STDIN
    stated = stated_tolerance(description, tokens=is_stdin)
    task = entry.task(
        benchmark=checked_name(entry.text("benchmark", default=layout), entry.where),
        description=description,
        seed_inputs=_seeds(kept),
        public_inputs=tuple(dict.fromkeys(test.arguments for test in kept if test.group == PUBLIC)),
        tests=tuple(kept),
        relation=own or stated or (Relation(tokens=True) if is_stdin else None),
        ambiguous=own is None and bool(_MANY_ANSWERS.search(description)),
        **more,
    )
    if not task.seed_inputs:
        return completed(task, entry)
    # No further inputs drawn from the types: a list that must not be empty has the same type as one that may.
    return completed(task, replace(entry, fields={**entry.fields, "seed_inputs": list(task.seed_inputs)}))


def _short_enough(tests: list[TaskTest]) -> list[TaskTest]:
    """Return the tests, each once, that are short enough."""
    kept, length, distinct = [], 0, dict[tuple[str, str | None], TaskTest]()
    for test in tests:
        distinct.setdefault((test.arguments, test.expected), test)
    for test in distinct.values():
        size = len(test.arguments) + len(test.expected or "")
        if size <= LONGEST_TEST and length + size <= LONGEST_TESTS:
            kept.append(test)
            length += size
    return kept


def _seeds(tests: list[TaskTest]) -> tuple[str, ...]:
    """Return the inputs of public tests, then the shortest other ones."""
    public = [test.arguments for test in tests if test.group == PUBLIC]
    others = sorted((test.arguments for test in tests if len(test.arguments) <= LONGEST_SEED), key=len)
    return tuple(dict.fromkeys([*public, *others]))[: max(MOST_SEEDS, len(set(public)))]


def _text(entry: Entry, value: Any, place: str) -> str:
    """Return the text of a test, which may be given as a list of lines."""
    lines = value if type(value) is list else [value]
    if any(type(line) is not str for line in lines):
        raise entry.refusal(f"a text as {place}", _kind(next(line for line in lines if type(line) is not str)))
    text = "\n".join(lines)
    if not text.isascii() and any("\ud800" <= c <= "\udfff" for c in text):
        raise entry.refusal(f"text in UTF-8 as {place}", "lone surrogates")
    return text


def _kind(value: Any) -> str:
    return "nothing" if value is None else type(value).__name__
