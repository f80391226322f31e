"""Inputs that were left out, on which candidates differ: most raise, or the docstring may not allow them."""

from collections.abc import Mapping, Sequence

from difftrust_core.base.records import Kind, Outcome, Program
from difftrust_core.checks.answers import Answers
from difftrust_core.checks.duel import Duel
from difftrust_core.checks.inputs import Draws
from difftrust_core.checks.judge import Judge, Judged
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
    """Return up to five such inputs, shrunken: one for each way in which the candidates differ, or for each doubt."""
    groups: dict[tuple[str, ...], list[Judged]] = {}
    for judged in differing:
        way = (judged.doubt,) if judged.doubt else tuple(map(_way, judged.outcomes))
        groups.setdefault(way, []).append(judged)
    found = []
    # What the docstring does not state comes first: it keeps a check undecided.
    for members in sorted(groups.values(), key=lambda group: (group[0].stated, -len(group)))[:MAX_SHOWN]:
        arguments, minimal = _smallest(executor, programs, members, judge=judge, answers=answers, draws=draws)
        row = executor.run([program.code for program in programs], [arguments]).rows[0]
        doing = doing_of(row, programs, names, answers)
        doubt, condition = members[0].doubt, members[0].condition
        found.append(
            Validation(
                arguments=arguments,
                minimal=minimal,
                doing=doing,
                doubt=doubt,
                condition=condition,
                stated=members[0].stated,
            )
        )
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
    row, doubt = members[0].outcomes, members[0].doubt
    if doubt:
        return _smallest_doubted(executor, programs, members, judge=judge, answers=answers, draws=draws)
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


def _smallest_doubted(
    executor: Executor,
    programs: Sequence[Program],
    members: Sequence[Judged],
    *,
    judge: Judge,
    answers: Answers,
    draws: Draws,
) -> tuple[str, bool]:
    shortest = min(members, key=lambda judged: (len(judged.text), judged.text))
    loaded = [p for p, (kind, _) in enumerate(shortest.outcomes) if kind != Kind.LOAD_ERROR]
    labels = answers.classify([shortest.outcomes[p] for p in loaded])
    other = next(p for p, label in zip(loaded, labels, strict=True) if label != labels[0])

    def keeps(texts: Sequence[str]) -> list[bool]:
        return [judged.doubt == shortest.doubt for judged in judge.judge(texts)]

    duel = Duel(executor, (programs[loaded[0]].code, programs[other].code), answers.differ, keeps)
    shrunk = duel.smallest([shortest.text], (), draws.accepts)
    return (shrunk.arguments, shrunk.minimal) if shrunk else (shortest.text, False)


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
