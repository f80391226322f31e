"""The examples of a function as an oracle: they run on every candidate before anything else."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from difftrust.check.programs import Executor
from difftrust.check.spelling import spell_kind
from difftrust.source.doctests import Example
from difftrust_core.base.literals import BadText, Instance, read_literal
from difftrust_core.base.records import Kind, Outcome, Program

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
    executor: Executor, programs: Sequence[Program], names: Sequence[Sequence[str]], examples: Sequence[Example]
) -> ExamplesRun:
    """Run every example on every program; one that does not load contradicts none. ``names``: each one's candidates."""
    if not examples or not programs:
        return ExamplesRun(n=0, labels=tuple(() for _ in programs))
    found: list[Contradiction] = []
    notes: list[str] = []
    contradicted: list[dict[int, str]] = []
    rows = executor.run([program.code for program in programs], [example.text for example in examples]).rows
    for example, row in zip(examples, rows, strict=True):
        failing = {p: got(outcome) for p, outcome in enumerate(row) if _fails(outcome)}
        whose: dict[str, list[str]] = {}
        for p, said in failing.items():
            whose.setdefault(said, []).extend(names[p])
        if cannot := _cannot_run(row):
            notes.append(f"the example {example.shown} was not run: {cannot}")
        elif example.stated:
            contradicted.append(failing)
            found += [
                Contradiction(
                    call=example.shown, want=example.want, origin=example.origin, candidates=tuple(who), got=said
                )
                for said, who in whose.items()
            ]
        else:
            notes += [f"the example {example.shown} ends with {end} in {', '.join(who)}" for end, who in whose.items()]
    return ExamplesRun(
        n=len(contradicted),
        contradictions=tuple(found),
        contradicting=frozenset().union(*contradicted),
        labels=tuple(tuple(int(p in failing) for failing in contradicted) for p in range(len(programs))),
        notes=tuple(notes),
    )


def _fails(outcome: Outcome) -> bool:
    kind, text = outcome
    return kind not in (Kind.LOAD_ERROR, Kind.UNSUPPORTED) and (kind, text) != (Kind.VALUE, "True")


def _cannot_run(row: Sequence[Outcome]) -> str:
    """Return why an example says nothing about any candidate, "" where it does."""
    ran = [outcome for outcome in row if outcome[0] != Kind.LOAD_ERROR]
    said = set(map(got, ran))
    if len(said) == 1 and said <= _CANNOT_RUN:
        return f"{said.pop()} in all candidates"
    return ran[0][1] if ran and all(kind == Kind.UNSUPPORTED for kind, _ in ran) else ""


def got(outcome: Outcome) -> str:
    """Return what a candidate gave on an example, as it prints: the text within ``Got('...')``."""
    kind, text = outcome
    if kind != Kind.VALUE:
        return text if kind == Kind.EXCEPTION else spell_kind(kind, text)
    try:
        value: Any = read_literal(text)
    except BadText:
        return text
    if isinstance(value, Instance) and value.type_name == "Got" and len(value.args) == 1:
        return str(value.args[0]).rstrip("\n") or "nothing"
    return text
