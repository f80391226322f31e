"""The examples of a function as an oracle: they run on every candidate before anything else."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from difftrust_core.base.literals import BadText, Instance, read_literal
from difftrust_core.base.records import Kind, Outcome, Program
from difftrust_core.checks.programs import Executor
from difftrust_core.checks.source.example import Example

_CANNOT_RUN = frozenset(("NameError", "ModuleNotFoundError", "ImportError", "FileNotFoundError"))
"""Where all candidates raise one of these, the example rests on something that is not here."""


@dataclass(frozen=True, kw_only=True)
class Contradiction:
    """An example that says what is right, and candidates that do something else."""

    call: str
    """As its author wrote it."""
    want: str
    origin: str
    candidates: tuple[str, ...]
    got: str
    """What these gave instead, as it prints."""


@dataclass(frozen=True, kw_only=True)
class ExamplesRun:
    """What the examples show: ``labels[p]`` is 1 for each of them that program p contradicts, else 0."""

    n: int
    contradictions: tuple[Contradiction, ...] = ()
    contradicting: frozenset[int] = frozenset()
    """Programs that contradict one."""
    labels: tuple[tuple[int, ...], ...] = ()
    notes: tuple[str, ...] = ()


def run_examples(
    executor: Executor, programs: Sequence[Program], names: Mapping[str, Sequence[str]], examples: Sequence[Example]
) -> ExamplesRun:
    """Run every example on every program. A program that does not load contradicts none."""
    if not examples or not programs:
        return ExamplesRun(n=0, labels=tuple(() for _ in programs))
    codes = [program.code for program in programs]
    rows = executor.run(codes, [example.text for example in examples]).rows
    found: list[Contradiction] = []
    wrong: set[int] = set()
    notes: list[str] = []
    contradicted: list[list[int]] = []
    n = 0
    for example, row in zip(examples, rows, strict=True):
        failing = [p for p, outcome in enumerate(row) if _fails(outcome)]
        ran = [p for p, (kind, _) in enumerate(row) if kind != Kind.LOAD_ERROR]
        n += example.stated
        if cannot := _cannot_run(row, ran):
            notes.append(f"the example {example.shown} was not run: {cannot}")
            n -= example.stated
        elif example.stated:
            wrong |= set(failing)
            contradicted.append(failing)
            found += _contradictions(example, row, failing, programs, names)
        elif failing:
            notes += _notes(example, row, failing, programs, names)
    return ExamplesRun(
        n=n,
        contradictions=tuple(found),
        contradicting=frozenset(wrong),
        labels=tuple(tuple(int(p in failing) for failing in contradicted) for p in range(len(programs))),
        notes=tuple(notes),
    )


def _fails(outcome: Outcome) -> bool:
    kind, text = outcome
    return kind not in (Kind.LOAD_ERROR, Kind.UNSUPPORTED) and (kind, text) != (Kind.VALUE, "True")


def _cannot_run(row: Sequence[Outcome], ran: Sequence[int]) -> str:
    """Return why an example says nothing about any candidate, "" where it does."""
    said = {got(row[p]) for p in ran}
    if len(said) == 1 and said <= _CANNOT_RUN:
        return f"{said.pop()} in all candidates"
    if ran and all(row[p][0] == Kind.UNSUPPORTED for p in ran):
        return row[ran[0]][1]
    return ""


def _contradictions(
    example: Example,
    row: Sequence[Outcome],
    failing: Sequence[int],
    programs: Sequence[Program],
    names: Mapping[str, Sequence[str]],
) -> list[Contradiction]:
    return [
        Contradiction(call=example.shown, want=example.want, origin=example.origin, candidates=tuple(whose), got=said)
        for said, whose in _by_result(row, failing, programs, names).items()
    ]


def _notes(
    example: Example,
    row: Sequence[Outcome],
    failing: Sequence[int],
    programs: Sequence[Program],
    names: Mapping[str, Sequence[str]],
) -> list[str]:
    return [
        f"the example {example.shown} ends with {said} in {', '.join(whose)}"
        for said, whose in _by_result(row, failing, programs, names).items()
    ]


def _by_result(
    row: Sequence[Outcome], failing: Sequence[int], programs: Sequence[Program], names: Mapping[str, Sequence[str]]
) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for p in failing:
        found.setdefault(got(row[p]), []).extend(names[programs[p].tree_id])
    return found


def got(outcome: Outcome) -> str:
    """Return what a candidate gave on an example, as it prints: the text within ``Got('...')``."""
    kind, text = outcome
    if kind != Kind.VALUE:
        return text if kind == Kind.EXCEPTION else f"{kind.name.lower().replace('_', ' ')} {text}".strip()
    try:
        value: Any = read_literal(text)
    except BadText:
        return text
    if isinstance(value, Instance) and value.type_name == "Got" and len(value.args) == 1:
        return str(value.args[0]).rstrip("\n") or "nothing"
    return text
