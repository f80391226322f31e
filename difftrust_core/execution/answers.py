"""What a task's right outcomes are on its inputs: the row REFERENCE of its matrix, with which candidates are compared.

With a checker every accepted outcome is right; among its tests an expected value is; else what the reference ends in.
"""

import ast
import hashlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from difftrust_core.base.literals import BadText, Instance, read_literal, write_literal
from difftrust_core.base.records import ACCEPTED, Kind, Outcome, Validity
from difftrust_core.base.standard_types import STANDARD_TYPES, STORED
from difftrust_core.base.task import Task, TaskTest
from difftrust_core.languages.python.syntax import parsed
from difftrust_core.metrics.forms import DIGEST, is_subclass
from difftrust_core.metrics.relation import Said, has_checker
from difftrust_core.sandbox.host import Limits, OutcomeTable, ProgramRun, Sandbox, line_of

LONGEST: Final = 16_384
SHOWN_OF_CUT: Final = 200
"""Longer texts are cut to so many characters, with a digest, as the sandbox cuts them."""


def has_answers(task: Task, validity: str) -> bool:
    """Tell whether the right outcomes of a task are known on the inputs of a validity policy."""
    if task.reference is not None or (task.relation is not None and task.relation.accept):
        return True
    return validity == Validity.TESTS and bool(task.tests) and all(test.expected is not None for test in task.tests)


def inputs_of_tests(task: Task) -> list[str]:
    """Return the inputs of a task's tests in their order; without tests its seed inputs."""
    return [write_literal(read_literal(test.arguments)) for test in task.tests] or [
        write_literal(seed) for seed in task.arguments()
    ]


def run_answers(
    task: Task, validity: str, inputs: Sequence[str], table: OutcomeTable, run: Callable[[], ProgramRun]
) -> ProgramRun:
    """Return the right outcomes on ``inputs`` as those of a program, entered into ``table``.

    ``run``: runs the reference program; asked only where an input has no other answer.
    """
    known = _known(task, validity, inputs)
    given = [known.get(text) for text in inputs]
    if None not in given:
        ids = table.ids_of([line_of(outcome) for outcome in given if outcome is not None])
        return ProgramRun(outcome_ids=ids)
    done = run()
    own = table.chosen(done.outcome_ids)
    right = [line_of(outcome or said) for outcome, said in zip(given, own, strict=True)]
    return replace(done, outcome_ids=table.ids_of(right))


def _known(task: Task, validity: str, inputs: Sequence[str]) -> dict[str, Outcome]:
    """Return input -> its right outcome, where no program has to be asked."""
    if task.relation is not None and task.relation.accept:
        return dict.fromkeys(inputs, ACCEPTED)
    if validity != Validity.TESTS:
        return {}
    pairs = zip(inputs_of_tests(task), task.tests, strict=False)
    return {text: (Kind.VALUE, _said(test)) for text, test in reversed([*pairs]) if test.expected is not None}


def _said(test: TaskTest) -> str:
    """Return an expected value as the sandbox writes one that is returned (``sandbox/child/canonical.py``)."""
    text = write_literal(_canonical(read_literal(test.expected or "")))
    if len(text) <= LONGEST:
        return text
    digest = hashlib.blake2b(text.encode("utf-8", "backslashreplace"), digest_size=16).hexdigest()
    return f"{text[:SHOWN_OF_CUT]}…#{digest}"


def _canonical(value: Any) -> Any:
    """Return a value with 0.0 for -0.0 and the entries of dicts sorted by their text."""
    kind = type(value)
    if kind in (float, complex):
        return value + 0.0
    if kind in (list, tuple):
        return kind(map(_canonical, value))
    if kind is dict:
        entries = [(_canonical(key), _canonical(entry)) for key, entry in value.items()]
        return dict(sorted(entries, key=lambda entry: (write_literal(entry[0]), write_literal(entry[1]))))
    return value


CHECKER_LIMITS: Final = Limits(
    call_cpu=2.0,
    repeat_cpu=2.0,
    call_wall=30.0,
    repeat_wall=30.0,
    load_cpu=5.0,
    program_cpu=120.0,
    program_wall=480.0,
    max_timeouts=3,
    max_crashes=3,
)
"""What a checker may use, for each 1,000 pairs of an input and a value."""
_AT_A_TIME = 1_000
_MAX_DEPTH = 64
"""No canonical text is nested more deeply."""
_SHOWN = 80
_ALWAYS_BUILT = STORED | {name for name, row in STANDARD_TYPES.items() if row.home == "collections" and row.is_rebuilt}
"""Types of the standard library that a checker gets as they are; Counter and OrderedDict are dicts with a content."""
_BROKEN = frozenset(("NameError", "UnboundLocalError", "ImportError", "ModuleNotFoundError"))
"""What a checker raises only if it is at fault itself, whatever it is given."""
_PROGRAM = """\
from collections import Counter, OrderedDict, deque

range = range


{text}


def difftrust_says(arguments, output):
    return {call}
"""
_CALLS = {"accept": "True if accept(arguments, output) else False", "normal": "normal(arguments, output)"}


@dataclass(frozen=True, kw_only=True)
class _Pair:
    """A value on an input, and where they stand: row and place within it."""

    arguments: str
    output: str
    row: int
    place: int

    @property
    def text(self) -> str:
        """The argument tuple of the checker's call."""
        return f"({self.arguments}, {self.output})"

    def __str__(self) -> str:
        """Return the input and the output, cut."""
        return f"input {_cut(self.arguments)} and output {_cut(self.output)}"


class Checker:
    """The checker or normal form of a task, at work in ``sandbox``, which meanwhile runs it alone.

    Both are Python functions of the task's author, and run like a candidate: what they say is data. Each call gets its
    own copy of the arguments and of the value, built again from its canonical text.

    Raises BadTask, in one line, where it does not load, lacks a name, answers differently when asked again, ends well
    on no value, or fails to end on three of a thousand. A value on which it raises or does not end is not accepted, or
    has no normal form: one program's odd value fails no task.
    """

    def __init__(self, task: Task, sandbox: Sandbox):
        relation = task.relation
        assert relation is not None
        assert has_checker(relation)
        self._task, self._sandbox = task, sandbox
        self.is_accept = bool(relation.accept)
        self._name = "accept" if relation.accept else "normal"
        self._program = _PROGRAM.format(text=relation.accept or relation.normal, call=_CALLS[self._name])
        self._preamble = task.preamble if task.language == "python" else ""
        self._built = _ALWAYS_BUILT | _classes_of(self._preamble)

    def says(self, inputs: Sequence[str], rows: Sequence[Sequence[Outcome]]) -> list[list[Said]]:
        """Return what is said of each outcome in ``rows``, those on each of the ``inputs``: see ``Classes.classify``.

        Under ``accept``, True or False, and False of what is no value or cannot be built again; else the canonical text
        of the normal form, None where it has none.
        """
        said: list[list[Said]] = [
            [outcome == ACCEPTED if self.is_accept else None for outcome in outcomes] for outcomes in rows
        ]
        pairs = list(self._pairs(inputs, rows))
        for first in range(0, len(pairs), _AT_A_TIME):
            batch = pairs[first : first + _AT_A_TIME]
            for pair, (kind, text) in zip(batch, self._run(batch), strict=True):
                if kind == Kind.VALUE:
                    said[pair.row][pair.place] = text == "True" if self.is_accept else text
        return said

    def _pairs(self, inputs: Sequence[str], rows: Sequence[Sequence[Outcome]]) -> Iterable[_Pair]:
        for row, (arguments, outcomes) in enumerate(zip(inputs, rows, strict=True)):
            for place, outcome in enumerate(outcomes):
                if outcome[0] == Kind.VALUE and outcome != ACCEPTED:
                    output = rebuilt(outcome[1], self._built)
                    if output is not None:
                        yield _Pair(arguments=arguments, output=output, row=row, place=place)

    def _run(self, batch: Sequence[_Pair]) -> list[Outcome]:
        texts = [pair.text for pair in batch]
        outcomes, run = self._sandbox.outcomes(self._preamble, texts, self._program, "difftrust_says")
        ends_somewhere = any(kind in _SAID for kind, _ in outcomes)
        for pair, outcome in zip(batch, outcomes, strict=True):
            self._refuse_what_is_broken(pair, outcome, ends_somewhere=ends_somewhere)
        if run.nondeterministic:
            raise self._task.refusal(f"its `{self._name}` answers differently when asked again; take the chance out")
        return outcomes

    def _refuse_what_is_broken(self, pair: _Pair, outcome: Outcome, *, ends_somewhere: bool) -> None:
        kind, text = outcome
        if kind == Kind.LOAD_ERROR:
            raise self._task.refusal(f"its `{self._name}` does not load ({text}); mend it")
        if kind == Kind.EXCEPTION and text in _BROKEN:
            raise self._task.refusal(f"its `{self._name}` raises {text} on {pair}; mend it")
        if kind == Kind.SKIPPED or not (ends_somewhere or kind in _SAID):
            why = _ENDS.get(kind, f"ends with {kind.name.lower()}")
            raise self._task.refusal(f"its `{self._name}` {why} on {pair}; let it refuse such values at once")


_SAID = (Kind.VALUE, Kind.EXCEPTION, Kind.UNSUPPORTED)
_ENDS = {
    Kind.TIMEOUT: f"does not end within {CHECKER_LIMITS.call_cpu:g} s",
    Kind.SKIPPED: "uses up its time",
    Kind.MEMORY: "runs out of memory",
}


def check_reference(task: Task, inputs: Sequence[str], outcomes: Sequence[Outcome], checker: Checker) -> None:
    """Raise BadTask where the checker does not accept a value of the task's reference; ``outcomes``: one an input."""
    for arguments, outcome, (accepted,) in zip(
        inputs, outcomes, checker.says(inputs, [[outcome] for outcome in outcomes]), strict=True
    ):
        if outcome[0] == Kind.VALUE and not accepted:
            why = f"its checker rejects the reference's answer on {_cut(arguments)}: {_cut(outcome[1])}"
            raise task.refusal(f"{why}; mend one of them, or narrow the domain")


def rebuilt(text: str, built: frozenset[str]) -> str | None:
    """Return the text from which the sandbox builds a value again, from its canonical text; None if it cannot.

    ``built``: types that are there by name. Others that are subclasses of a builtin become their content; objects,
    iterators, and values too long to be kept whole have no such text.
    """
    if DIGEST.search(text):
        return None
    try:
        return write_literal(_plain(read_literal(text), built, 0))
    except (BadText, RecursionError, TypeError):  # a TypeError: of a set whose member became a list
        return None


def _plain(value: Any, built: frozenset[str], depth: int) -> Any:
    kind = type(value)
    if depth > _MAX_DEPTH:
        raise BadText("nested too deeply")
    if kind in (list, tuple, set, frozenset):
        return kind([_plain(entry, built, depth + 1) for entry in value])
    if kind is dict:
        return {_plain(key, built, depth + 1): _plain(entry, built, depth + 1) for key, entry in value.items()}
    if kind is not Instance:
        if kind not in _PLAIN:
            raise BadText("code")
        return value
    if value.type_name in built:
        parts = tuple(_plain(arg, built, depth + 1) for arg in value.args)
        fields = {name: _plain(field, built, depth + 1) for name, field in value.fields.items()}
        return Instance(value.type_name, parts, fields)
    if is_subclass(value):
        return _plain(value.args[0], built, depth + 1)
    raise BadText(f"{value.type_name} is not known to the checker")


_PLAIN = frozenset((int, float, bool, complex, str, bytes, bytearray, type(None), type(...)))


def _classes_of(preamble: str) -> frozenset[str]:
    """Return the names of the classes that a task defines for its programs."""
    tree = parsed(preamble)  # of one that cannot be parsed the sandbox will say so
    return frozenset(statement.name for statement in (tree.body if tree else []) if isinstance(statement, ast.ClassDef))


def _cut(text: str) -> str:
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
