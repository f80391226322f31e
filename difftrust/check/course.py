"""The course of one check, in an open sandbox: examples, inputs, classes of outcomes, clusters, disagreements."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations

import numpy as np

from difftrust.check.examples import run_examples
from difftrust.check.inputs.implied_conditions import ImpliedConditions
from difftrust.check.inputs.input_filter import (
    TOO_LARGE,
    Drawn,
    InputFilter,
    Judged,
    draw_inputs,
    favour_answered,
    keep_seeds,
)
from difftrust.check.inputs.plainness import oddity
from difftrust.check.inputs.witnesses import enter_domain, seek_witnesses
from difftrust.check.options import PreparedCheck
from difftrust.check.outcomes import Answers, Measured
from difftrust.check.programs import Duel, Executor, Shows, distinct_programs, subject_of, why_not_loaded
from difftrust.check.report import (
    CheckReport,
    Cluster,
    Disagreement,
    Doing,
    Excluded,
    Validation,
    standing_of,
)
from difftrust.check.verdict import Evidence, doubts_of, next_step, of_the_coder, statement_of, verdict_of
from difftrust.search.inputs import InputSource, check_inputs
from difftrust.text import by_length, unified_diff
from difftrust_core.base.records import Kind, Outcome
from difftrust_core.languages.registry import language_of
from difftrust_core.metrics.equality import Comparison
from difftrust_core.metrics.estimates import behaviour_clusters, incoherence
from difftrust_core.sandbox.host import Sandbox

_MAX_PAIRS = 10
"""Pairs of clusters shown, those of the largest first; more tell nobody anything."""


class Course:
    """One check on its way: programs, examples, inputs, classes of outcomes, clusters."""

    def __init__(self, prepared: PreparedCheck, sandbox: Sandbox):
        self.prepared, self.options, self.function = prepared, prepared.options, prepared.function
        options, function, task = self.options, self.function, self.function.task
        self.task = task
        self.programs, self.names = distinct_programs(prepared.candidates, language_of(task), by_text=options.messages)
        self.codes = [program.code for program in self.programs]
        self.executor = Executor(task, sandbox, function.package)
        documented = {*function.documented_exceptions, *(e.exception for e in function.examples if e.exception)}
        self.inputs = check_inputs(
            task,
            function.types,
            self.codes,
            seed=options.seed,
            columns=function.columns,
            named=function.package.codes,
        )
        self.judge = InputFilter(
            executor=self.executor,
            programs=self.programs,
            answers=Answers(
                Comparison(options.equality, tolerance=options.tolerance),
                documented,
                any_order=bool(function.any_order),
            ),
            validity=options.validity,
            implied=ImpliedConditions(
                function.types.parameters if function.types is not None else (),
                task.description,
                conditions=function.conditions,
                calls=function.allowed_calls,
            ),
            suggestion=prepared.suggestion,
        )
        self.notes = [*function.notes, *prepared.notes]
        if not prepared.subject and len({candidate.model for candidate in prepared.candidates}) > 1:
            self.notes.append("in a mixture, a disagreement says that one of the models is wrong, not which")

    def report(self) -> CheckReport:
        """Execute and report."""
        found = self.evidence
        self._note_programs()
        doubts = doubts_of(found)
        verdict = verdict_of(found, doubts)
        disagreements = self._disagreements() if found.is_comparable else ()
        if found.interval is not None:
            source = "from the same source" if self.prepared.subject else f"by {found.subject}"
            self.notes.append(of_the_coder(found.labels, found.weights, source))
        clusters = tuple(self._cluster(number, rows) for number, rows in enumerate(self.rows, 1))
        return CheckReport(
            task=self.task,
            subject=found.subject,
            verdict=verdict,
            m=len(self.prepared.candidates),
            n_loading=int(found.loading.sum()),
            n_programs=len(self.programs),
            n=len(found.drawn.inputs),
            n_distinct=len(found.measured.distinct.inputs),
            n_draws=found.drawn.n_draws,
            left_out=tuple(found.drawn.left_out.most_common()),
            exhausted=found.drawn.exhausted,
            n_examples=found.examples.n,
            contradictions=found.examples.contradictions,
            validation=found.validation,
            excluded=found.excluded,
            undecided=doubts if verdict == "undecided" else (),
            n_witnesses=len(found.seeds.inputs),
            n_witnessed=len(found.seeds.splitting),
            seed=self.options.seed,
            equality=self.options.equality,
            tolerance=self.options.tolerance,
            validity=self.options.validity,
            typed=self.function.types is not None,
            incoherence=found.incoherence,
            interval=found.interval,
            error_at_least=found.interval.low / 2 if found.interval else 0.0,
            statement=statement_of(verdict, doubts, found),
            next_step=next_step(verdict, doubts, found, self.options.n),
            clusters=clusters,
            disagreements=disagreements,
            consensus=next((c.code for c in clusters if c.works and not c.contradicts), None),
            notes=tuple(self.notes),
            standing=standing_of(self.prepared.own, clusters) if self.prepared.own else None,
        )

    @cached_property
    def evidence(self) -> Evidence:
        """What running the candidates shows."""
        options, judge = self.options, self.judge
        options.say(
            f"{len(self.prepared.candidates)} candidates, {len(self.programs)} distinct programs, {options.n} inputs"
        )
        options.phase("running the examples")
        examples = run_examples(self.executor, self.programs, self.names, self.function.examples)
        self.notes += examples.notes
        favour_answered(self.inputs, judge)
        options.phase("drawing inputs on which the candidates answer")
        drawn = draw_inputs(self.task, self.inputs, judge, n=options.n, enter=self._enter)
        judge.counts = False
        options.phase("running the candidates on the inputs")
        measured = judge.measure(drawn)
        options.phase("seeking inputs on which the candidates differ")
        working, fresh = np.flatnonzero(measured.works).tolist(), judge.fresh()
        seeds = keep_seeds(self.task, self.inputs, fresh, drawn, n=options.witnesses) if len(working) > 1 else []
        seeds += self._sought(measured, fresh, drawn, seeds)
        unchanged = fresh.classify(working, seeds)
        if drawn.differing:
            options.say("looking for the smallest inputs on which validation differs")
        left_out = LeftOut(
            names=self.names,
            judge=judge.fresh(),
            inputs=self.inputs,
            stated=self.function.stated_calls,
            contradicting=examples.contradicting,
        )
        return Evidence(
            task=self.task,
            subject=self.prepared.subject or subject_of(self.prepared.candidates),
            names=self.names,
            examples=examples,
            drawn=drawn,
            measured=measured,
            seeds=unchanged,
            validation=left_out.find_validation(list(drawn.differing.values())),
            excluded=left_out.find_excluded(drawn, measured),
        )

    def _enter(self, outside: Sequence[str]) -> list[str]:
        return enter_domain(self.inputs, self.judge, outside, key=str(self.options.seed))

    def _sought(self, measured: Measured, judge: InputFilter, drawn: Drawn, seeds: Sequence[str]) -> list[str]:
        """Return inputs on which programs differ that agree on all that was drawn; none where these are all inputs."""
        working = np.flatnonzero(measured.works).tolist()
        pairs = [pair for pair in combinations(working, 2) if not measured.distinct.differ(*pair).any()]
        if not pairs or drawn.exhausted or not self.options.witnesses:
            return []
        key = str(self.options.seed)
        parting, tried = seek_witnesses(self.inputs, judge, pairs, measured.distinct, seeds, key=key)
        for judged in tried:
            drawn.note(judged)
        return parting

    @cached_property
    def rows(self) -> list[list[int]]:
        """The clusters; those that contradict an example come late, those that fail last."""
        found = self.evidence
        passed = np.array(found.examples.labels, dtype=np.int64).reshape(len(self.programs), -1)
        labels = np.ascontiguousarray(np.hstack([found.labels, found.seeds.labels, passed]))
        clusters = behaviour_clusters(labels, found.counts, self.codes)
        return sorted(clusters, key=lambda rows: (not found.measured.works[rows[0]], self._contradicts(rows)))

    def _contradicts(self, rows: Sequence[int]) -> bool:
        return rows[0] in self.evidence.examples.contradicting

    def _note_programs(self) -> None:
        """Say what is odd about the draws and about single programs."""
        found, measured, drawn = self.evidence, self.evidence.measured, self.evidence.drawn
        if drawn.n_seeds:
            n = len(drawn.inputs)
            self.notes.append(f"{drawn.n_seeds} of {n} inputs are unchanged seed inputs: no valid mutation was found")
        if drawn.is_rare:
            kept = f"{len(drawn.inputs) - drawn.n_seeds} of {drawn.n_draws}"
            self.notes.append(
                f"no more inputs were drawn, for hardly any is allowed: {kept} were; --example gives more"
            )
        for row, run in enumerate(measured.runs):
            whose = ", ".join(self.names[row])
            if measured.load_errors[row] is not None:
                self.notes.append(f"{whose}: {self._why_not_loaded(row)}")
            if run.nondeterministic:
                self.notes.append(f"{whose}: differs from itself when run twice, so it may disagree by chance")
            if run.trimmed:
                self.notes.append(f"{whose}: statements after the function were left out, for they failed")
            if row in measured.spent:
                self.notes.append(
                    f"{whose}: used up its processor time; the inputs it did not come to are left out for all"
                )
            if measured.given_up[row]:
                self.notes.append(f"{whose}: given up after too many timeouts or crashes; the rest counts as timeouts")
        if 2 <= found.loading.sum() < found.counts.sum() and found.labels.shape[1]:
            among = incoherence(found.labels, found.loading)
            self.notes.append(f"among the {found.loading.sum()} that load: incoherence {among:.4f}")

    def _why_not_loaded(self, row: int) -> str:
        said, libraries = self.evidence.measured.load_errors[row] or "", self.function.libraries
        why = why_not_loaded(self.codes[row], said, entry_point=self.task.entry_point, libraries=libraries)
        if self.evidence.measured.lacks_package[row]:
            return f"does not load ({why}), so it was not compared"
        return f"does not load ({why}), so it is wrong on every input and differs from all"

    def _cluster(self, number: int, rows: list[int]) -> Cluster:
        measured, one = self.evidence.measured, rows[0]
        kinds = Counter(Kind(kind).name.lower() for kind in measured.distinct.kinds[one, measured.which].tolist())
        return Cluster(
            number=number,
            candidates=tuple(name for row in rows for name in self.names[row]),
            code=self.codes[one],
            outcomes=tuple(kinds.most_common()),
            loads=measured.load_errors[one] is None,
            works=bool(measured.works[one]),
            nondeterministic=any(measured.runs[row].nondeterministic for row in rows),
            contradicts=self._contradicts(rows),
        )

    def _disagreements(self) -> tuple[Disagreement, ...]:
        first = (0, self._own)  # what tells the user's own code from most of the others
        pairs = sorted(combinations(range(len(self.rows)), 2), key=lambda pair: (pair != first, sum(pair)))
        pairs = [(a, b) for a, b in pairs if self._differ(self.rows[a][0], self.rows[b][0])]
        left_out = len(pairs) - _MAX_PAIRS
        if left_out > 0:
            self.notes.append(f"{left_out} more pairs of clusters disagree; those of the largest clusters are shown")
        found: list[Disagreement] = []
        known: list[str] = []
        for a, b in pairs[:_MAX_PAIRS]:
            self.options.say(f"looking for the smallest input on which clusters {a + 1} and {b + 1} differ")
            found.append(self._disagreement(a, b, known))
            known += [arguments for arguments in [found[-1].arguments] if arguments is not None]
        return tuple(found)

    @property
    def _own(self) -> int:
        """The cluster of the user's own code; 0 where that is no candidate."""
        name = self.prepared.own
        return next((i for i, rows in enumerate(self.rows) if any(name in self.names[row] for row in rows)), 0)

    def _differ(self, one: int, other: int) -> bool:
        found = self.evidence
        is_known = not found.measured.lacks_package[[one, other]].any()
        return is_known and bool(
            found.measured.distinct.differ(one, other).any() or found.seeds.differ(one, other).any()
        )

    def _disagreement(self, a: int, b: int, known: list[str]) -> Disagreement:
        one, other = self.rows[a][0], self.rows[b][0]
        measured, seeds = self.evidence.measured, self.evidence.seeds
        codes = (self.codes[one], self.codes[other])
        comparable = bool(measured.loads[[one, other]].all())
        witnesses = [seeds.inputs[i] for i in np.flatnonzero(seeds.differ(one, other)).tolist()]
        shrunk, outcomes = None, None
        if comparable:
            # What was given up while inputs were drawn is tried again on each small one.
            duel = Duel(self.executor, codes, self.judge.answers.differ, lambda texts: self.judge.fresh().keeps(texts))
            on_measured = measured.distinct.differ(one, other).any()
            starts = measured.inputs_that_split(one, other) if on_measured else witnesses
            shrunk = duel.smallest(starts, known, self.inputs.accepts)
            outcomes = duel.outcomes(shrunk.arguments) if shrunk else None
        return Disagreement(
            first=a + 1,
            second=b + 1,
            n_inputs=int(measured.distinct.differ(one, other)[measured.which].sum()),
            n_witnesses=len(witnesses),
            arguments=shrunk.arguments if shrunk else None,
            outcomes=outcomes,
            minimal=shrunk is not None and shrunk.minimal,
            difference=unified_diff(*codes, (f"cluster {a + 1}", f"cluster {b + 1}")) if comparable else "",
        )


MAX_SHOWN = 5
_LONG = 80
"""Characters; the plainest input is made smaller only where it is longer: a small one may be what is not allowed."""
Holds = Callable[[Judged], bool]


@dataclass(frozen=True, kw_only=True)
class LeftOut:
    """What it takes to shrink an input that was left out, and to say who does what on it."""

    names: Sequence[tuple[str, ...]]
    """Of each program, its candidates."""
    judge: InputFilter
    inputs: InputSource
    stated: frozenset[str] = frozenset()
    """Inputs of which an example says what is right."""
    contradicting: frozenset[int] = frozenset()
    """Programs that contradict one."""

    def find_validation(self, differing: Sequence[Judged]) -> tuple[Validation, ...]:
        """Return up to five such inputs, the plainest first: one for each doubt, or for each way to differ."""
        groups: dict[tuple[str, ...], list[Judged]] = {}
        for judged in differing:
            if self._is_settled(judged):
                continue
            way = (judged.doubt,) if judged.doubt else tuple(map(_way, judged.outcomes))
            groups.setdefault(way, []).append(judged)
        first = sorted(groups.values(), key=lambda group: -len(group))[:MAX_SHOWN]
        found = {each.arguments: each for each in map(self._shown, first)}
        return tuple(sorted(found.values(), key=lambda each: self._oddity(each.arguments)))

    def find_excluded(self, drawn: Drawn, measured: Measured) -> Excluded | None:
        """Return what the candidates do on draws that only suggested conditions leave out; None without conditions.

        Programs that do not load or were given up have no part in it.
        """
        suggestion, judge = self.judge.suggestion, replace(self.judge, suggestion=None)
        if suggestion is None:
            return None
        working = np.flatnonzero(measured.loads & ~measured.given_up).tolist()
        texts = list(drawn.excluded) if working else []
        kept = [text for text, keeps in zip(texts, judge.keeps(texts), strict=True) if keeps]
        ran = judge.classify(working, kept)
        arguments = None
        if ran.splitting:
            one, first = working[0], ran.splitting[0]
            other = next(p for p in working if ran.labels[p, first] != ran.labels[one, first])
            starts = [ran.inputs[i] for i in np.flatnonzero(ran.differ(one, other)).tolist()]
            arguments, _ = self._smallest((one, other), judge.answers.differ, starts, judge, lambda each: not each.why)
        return Excluded(
            by=suggestion.by,
            where=suggestion.where,
            conditions=suggestion.conditions,
            n_tried=len(ran.inputs),
            n_differing=len(ran.splitting),
            arguments=arguments,
            doing=self.doing(arguments) if arguments is not None else (),
        )

    def _shown(self, members: Sequence[Judged]) -> Validation:
        """Return the plainest input of a doubt, or the smallest on which one program answers and another raises so."""
        answers, first = self.judge.answers, members[0]
        if first.doubt:
            is_quoted = first.doubt.endswith('"')  # a sentence of which it is not known what it rules out

            def odd(judged: Judged) -> float:
                return self._oddity(judged.text) if is_quoted else 0

            first = min(members, key=lambda judged: (odd(judged), by_length(judged.text)))
            loaded = [p for p, (kind, _) in enumerate(first.outcomes) if kind != Kind.LOAD_ERROR]
            labels = answers.classify([first.outcomes[p] for p in loaded])
            pair = loaded[0], next(p for p, label in zip(loaded, labels, strict=True) if label != labels[0])
            found, most = (first.text, False), odd(first)

            def holds(judged: Judged) -> bool:
                return judged.doubt == first.doubt and odd(judged) <= most

            # A step on a large number takes all the time that there is; a short input that is plain stays as it is.
            if first.doubt != TOO_LARGE and not (is_quoted and len(first.text) <= _LONG):
                found = self._smallest(pair, answers.differ, [first.text], self.judge, holds)
        else:
            row = first.outcomes
            pair = (
                next(p for p, outcome in enumerate(row) if answers.is_answer(outcome)),
                next(p for p, o in enumerate(row) if o[0] == Kind.EXCEPTION and not answers.is_answer(o)),
            )

            def shows(one: Outcome, other: Outcome) -> bool:
                return answers.is_answer(one) and other == (Kind.EXCEPTION, row[pair[1]][1])

            texts = [judged.text for judged in members]
            found = self._smallest(pair, shows, texts, self.judge, lambda judged: judged.differs)
        return Validation(
            arguments=found[0],
            minimal=found[1],
            doing=self.doing(found[0]),
            doubt=first.doubt,
            condition=first.condition,
        )

    def _is_settled(self, judged: Judged) -> bool:
        """Tell whether an example says what is right there, and all programs agree that contradict none."""
        if judged.text not in self.stated or not self.contradicting:
            return False
        rest = [o for p, o in enumerate(judged.outcomes) if p not in self.contradicting and o[0] != Kind.LOAD_ERROR]
        return len(set(self.judge.answers.classify(rest))) <= 1

    def _oddity(self, arguments: str) -> float:
        return oddity(self.judge.implied.values(arguments))

    def _smallest(
        self, pair: tuple[int, int], shows: Shows, starts: Sequence[str], judge: InputFilter, holds: Holds
    ) -> tuple[str, bool]:
        """Return the smallest input on which a pair of programs shows it and ``holds``, and whether it is minimal."""

        def keeps(texts: Sequence[str]) -> list[bool]:
            return [holds(judged) and not self._is_settled(judged) for judged in judge.judge(texts)]

        codes = [judge.programs[p].code for p in pair]
        shrunk = Duel(judge.executor, codes, shows, keeps).smallest(starts, (), self.inputs.accepts)
        return (shrunk.arguments, shrunk.minimal) if shrunk else (min(starts, key=len), False)

    def doing(self, arguments: str) -> tuple[Doing, ...]:
        """Return who does what on one input, those that answer first."""
        judge = self.judge
        row = judge.executor.run([program.code for program in judge.programs], [arguments]).rows[0]
        shown = [p for p, outcome in enumerate(row) if outcome[0] != Kind.LOAD_ERROR]
        groups: dict[int, list[int]] = {}
        for p, label in zip(shown, judge.answers.classify([row[p] for p in shown]), strict=True):
            groups.setdefault(label, []).append(p)
        made = [
            Doing(candidates=tuple(name for p in members for name in self.names[p]), outcome=row[members[0]])
            for members in groups.values()
        ]
        return tuple(sorted(made, key=lambda doing: not judge.answers.is_answer(doing.outcome)))


def _way(outcome: Outcome) -> str:
    return outcome[1] if outcome[0] == Kind.EXCEPTION else outcome[0].name
