"""Inputs on which validation differs: some candidates return a value, most raise what is not documented."""

from collections.abc import Mapping, Sequence

from difftrust_core.base.records import Kind, Outcome, Program
from difftrust_core.checks.answers import Answers
from difftrust_core.checks.duel import Duel
from difftrust_core.checks.inputs import Draws, Judge, Judged
from difftrust_core.checks.programs import Executor
from difftrust_core.checks.report import Doing, Validation

MAX_SHOWN = 5


def find_validation(
    executor: Executor,
    programs: Sequence[Program],
    names: Mapping[str, Sequence[str]],
    differing: Sequence[Judged],
    *,
    judge: Judge,
    answers: Answers,
    draws: Draws,
) -> tuple[Validation, ...]:
    """Return up to five such inputs, shrunken: one for each way in which the candidates differ."""
    groups: dict[tuple[str, ...], list[Judged]] = {}
    for judged in differing:
        groups.setdefault(tuple(map(_way, judged.outcomes)), []).append(judged)
    found = []
    for members in sorted(groups.values(), key=len, reverse=True)[:MAX_SHOWN]:
        arguments, minimal = _smallest(executor, programs, members, judge=judge, answers=answers, draws=draws)
        row = executor.run([program.code for program in programs], [arguments]).rows[0]
        found.append(Validation(arguments=arguments, minimal=minimal, doing=doing_of(row, programs, names, answers)))
    return tuple({each.arguments: each for each in found}.values())


def _way(outcome: Outcome) -> str:
    return outcome[1] if outcome[0] == Kind.EXCEPTION else outcome[0].name


def _smallest(
    executor: Executor,
    programs: Sequence[Program],
    members: Sequence[Judged],
    *,
    judge: Judge,
    answers: Answers,
    draws: Draws,
) -> tuple[str, bool]:
    row = members[0].outcomes
    returns = next(p for p, outcome in enumerate(row) if answers.is_answer(outcome))
    raises = next(p for p, o in enumerate(row) if o[0] == Kind.EXCEPTION and not answers.is_answer(o))
    name = row[raises][1]

    def shows(one: Outcome, other: Outcome) -> bool:
        return answers.is_answer(one) and other == (Kind.EXCEPTION, name)

    def keeps(texts: Sequence[str]) -> list[bool]:
        return [judged.differs for judged in judge.judge(texts)]

    duel = Duel(executor, (programs[returns].code, programs[raises].code), shows, keeps)
    shrunk = duel.smallest([judged.text for judged in members], (), draws.accepts)
    if shrunk is None:
        return min((judged.text for judged in members), key=len), False
    return shrunk.arguments, shrunk.minimal


def doing_of(
    row: Sequence[Outcome], programs: Sequence[Program], names: Mapping[str, Sequence[str]], answers: Answers
) -> tuple[Doing, ...]:
    """Return who does what on one input, those that return first."""
    shown = [p for p, outcome in enumerate(row) if outcome[0] != Kind.LOAD_ERROR]
    labels = answers.classify([row[p] for p in shown])
    groups: dict[int, list[int]] = {}
    for p, label in zip(shown, labels, strict=True):
        groups.setdefault(label, []).append(p)
    made = [
        Doing(candidates=tuple(n for p in members for n in names[programs[p].tree_id]), outcome=row[members[0]])
        for members in groups.values()
    ]
    return tuple(sorted(made, key=lambda doing: not answers.is_answer(doing.outcome)))
