"""Candidates of one task, compared with each other and with the examples, without a reference."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import combinations
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from difftrust_core.base.records import Candidate, Kind
from difftrust_core.base.task import Task
from difftrust_core.base.text import unified_diff
from difftrust_core.checks.answers import Answers
from difftrust_core.checks.duel import Duel
from difftrust_core.checks.examples import run_examples
from difftrust_core.checks.excluded import find_excluded
from difftrust_core.checks.inputs import draw_inputs, draw_witnesses, draws_of, favour_answered
from difftrust_core.checks.judge import ALL, QUORUM, Judge
from difftrust_core.checks.likely import Expected
from difftrust_core.checks.matrix import Witnesses, measure, run_witnesses
from difftrust_core.checks.options import CheckOptions
from difftrust_core.checks.programs import Executor, distinct_programs, runner_of, subject_of, why_not_loaded
from difftrust_core.checks.questions.board import Board, Parts
from difftrust_core.checks.report import (
    CheckReport,
    Cluster,
    Disagreement,
    Interval,
    Validation,
    exact_interval,
    input_interval,
    of_the_coder,
    standing_of,
)
from difftrust_core.checks.validation import LeftOut
from difftrust_core.checks.verdict import doubts_about, doubts_of, next_step, statement_of, verdict_of
from difftrust_core.exceptions import TooFewCandidates, WrongUsage
from difftrust_core.languages.language import language_of
from difftrust_core.metrics.behaviour_clusters import behaviour_clusters
from difftrust_core.metrics.equality import Comparison
from difftrust_core.metrics.estimators import disagreement_per_input, incoherence
from difftrust_core.sandbox.host import Sandbox

_Then = TypeVar("_Then")
VALIDITIES = (QUORUM, ALL)
_CALL, _REPEAT, _LOAD = 2.0, 0.5, 3.0
"""Seconds that somebody waits for a program that waits itself; computing is limited by CPU time."""
_MAX_PAIRS = 10
"""Pairs of clusters shown, those of the largest first; more tell nobody anything."""


def check(task: Task, candidates: Sequence[Candidate], options: CheckOptions | None = None) -> CheckReport:
    """Run the candidates on the examples and on n fuzzed inputs and report how they disagree.

    Never raises for what candidates do. Raises TooFewCandidates without any, WrongUsage without seed inputs, for
    another validity, or for a domain whose condition does not load.
    """
    return _run(task, candidates, options or CheckOptions(), lambda checked: None)[0]


def check_to_ask(
    task: Task, candidates: Sequence[Candidate], options: CheckOptions | None = None
) -> tuple[CheckReport, Board]:
    """Return what ``check`` returns, and the inputs that may be asked about to settle which candidates are right."""

    def made(checked: "_Check") -> Board:
        checked.options.phase("making the inputs to ask about smaller")
        return checked.parts().board()

    return _run(task, candidates, options or CheckOptions(), made)


def _run(
    task: Task, candidates: Sequence[Candidate], options: CheckOptions, then: "Callable[[_Check], _Then]"
) -> tuple[CheckReport, _Then]:
    """Return the report, and what ``then`` makes of the check while its sandbox is open."""
    if not candidates:
        raise TooFewCandidates("a check needs m >= 2 candidates, got 0; generate some with -m, or give --candidates")
    if not task.seed_inputs or options.validity not in VALIDITIES:
        wanted = f"seed inputs and a validity of {', '.join(VALIDITIES)}"
        raise WrongUsage(f"expected {wanted}, got {len(task.seed_inputs)} and {options.validity!r}; give examples")
    runner = runner_of(task, [c.code for c in candidates], options.libraries, messages=options.messages)
    limits = replace(language_of(task).limits, call_wall=_CALL, repeat_wall=_REPEAT, load_wall=_LOAD)
    with Sandbox(limits, runner=runner, allow_weak=options.allow_weak, wait=False) as sandbox:
        checked = _Check(task, candidates, sandbox, options)
        return checked.report(), then(checked)


class _Check:
    """One check on its way: programs, examples, inputs, the matrix of outcome classes, clusters."""

    def __init__(self, task: Task, candidates: Sequence[Candidate], sandbox: Sandbox, options: CheckOptions):
        self.task, self.options = task, options
        self.subject = options.subject or subject_of(candidates)
        self.m = len(candidates)
        self.programs, self.names = distinct_programs(candidates, language_of(task), by_text=options.messages)
        self.codes = [program.code for program in self.programs]
        self.counts = np.array([program.n_candidates for program in self.programs])
        self.executor = Executor(task, sandbox, self.programs)
        documented = {*options.documented, *(e.exception for e in options.examples if e.exception)}
        self.answers = Answers(Comparison(options.equality, tolerance=options.tolerance), documented)
        self.draws = draws_of(
            task,
            options.types,
            self.codes,
            seed=options.seed,
            dictionary=options.dictionary,
            columns=options.columns,
        )
        expected = Expected(
            options.types.parameters if options.types is not None else (),
            task.description,
            examples=options.examples,
            requires=task.domain.requires if task.domain is not None else "",
        )
        self.judge = Judge(
            self.executor,
            self.programs,
            self.answers,
            validity=options.validity,
            expected=expected,
            suggestion=options.suggestion,
        )
        self.notes: list[str] = []
        if not options.subject and len({candidate.model for candidate in candidates}) > 1:
            self.notes.append("in a mixture, a disagreement says that one of the models is wrong, not which")

    def report(self) -> CheckReport:
        """Execute and report."""
        options = self.options
        options.say(f"{self.m} candidates, {len(self.programs)} distinct programs, {options.n} inputs")
        options.phase("running the examples")
        self.examples = run_examples(self.executor, self.programs, self.names, options.examples)
        self.notes += self.examples.notes
        favour_answered(self.draws, self.judge)
        options.phase("drawing inputs on which the candidates answer")
        self.drawn = draw_inputs(self.task, self.draws, self.judge, n=options.n)
        self.judge.counts = False
        options.phase("running the candidates on the inputs")
        self.matrix = measure(self.executor, self.codes, self.drawn.inputs, self.answers, judged=self.judge.ran)
        options.phase("seeking inputs on which the candidates differ")
        self.witnesses = self._witnesses()
        self.validation = self._validation()
        self.excluded = find_excluded(self._left_out(self.judge), self.drawn, self.matrix)
        self._note_programs()
        self._cluster_programs()
        return self._made()

    def _made(self) -> CheckReport:
        options, matrix, drawn = self.options, self.matrix, self.drawn
        n, loading = len(drawn.inputs), int(self.counts[matrix.loads].sum())
        share, interval = self._incoherence()
        left_out = tuple(drawn.left_out.most_common())
        doubts = doubts_of(
            self.task,
            self.m,
            loading,
            matrix,
            self.witnesses,
            drawn,
            self.validation,
            self.absent,
            self.examples.n,
        )
        if loading >= 2:
            doubts = (*doubts_about(self.excluded, self.task, len(matrix.inputs)), *doubts)
        is_comparable = loading >= 2 and matrix.returns_values
        verdict = verdict_of(
            contradicted=bool(self.examples.contradictions),
            comparable=is_comparable,
            disagree=is_comparable and len(np.unique(matrix.labels[self.present], axis=0)) > 1,
            witnessed=self.witnesses.n_differing > 0,
            doubts=doubts,
        )
        disagreements = self._disagreements() if is_comparable else ()
        if interval is not None:
            self.notes.append(of_the_coder(matrix.labels, self.weights, self.subject))
        clusters = tuple(self._cluster(number, rows) for number, rows in enumerate(self.rows, 1))
        return CheckReport(
            task=self.task,
            subject=self.subject,
            verdict=verdict,
            m=self.m,
            n_loading=loading,
            n_programs=len(self.programs),
            n=n,
            n_distinct=len(matrix.inputs),
            n_draws=drawn.n_draws,
            left_out=left_out,
            exhausted=drawn.exhausted,
            n_examples=self.examples.n,
            contradictions=self.examples.contradictions,
            validation=self.validation,
            excluded=self.excluded,
            undecided=doubts if verdict == "undecided" else (),
            n_witnesses=len(self.witnesses.inputs),
            n_witnessed=self.witnesses.n_differing,
            seed=options.seed,
            equality=options.equality,
            tolerance=options.tolerance,
            validity=options.validity,
            typed=options.types is not None,
            incoherence=share,
            interval=interval,
            error_at_least=interval.low / 2 if interval else 0.0,
            statement=statement_of(
                verdict,
                doubts,
                self.examples.contradictions,
                disagreement_per_input(matrix.labels, self.weights) if interval is not None else None,
                interval,
                self.witnesses,
                self.subject,
            ),
            next_step=next_step(verdict, doubts, matrix.labels, self.m, options.n),
            clusters=clusters,
            disagreements=disagreements,
            consensus=next((c.code for c in clusters if c.works and not c.contradicts), None),
            notes=tuple(self.notes),
            standing=standing_of(options.own, clusters) if options.own else None,
        )

    def _incoherence(self) -> tuple[float | None, Interval | None]:
        labels, weights = self.matrix.labels, self.weights
        if weights.sum() < 2 or not labels.shape[1]:
            return None, None
        share = incoherence(labels, weights)
        if self.drawn.exhausted:
            return share, exact_interval(share)
        return share, input_interval(disagreement_per_input(labels, weights), int(weights.sum()))

    @property
    def absent(self) -> list[str]:
        """Candidates that do not load for want of a package that is not allowed: the check knows nothing of them."""
        return [name for row in np.flatnonzero(~self.present) for name in self.names[self.programs[row].tree_id]]

    @property
    def present(self) -> NDArray[np.bool_]:
        """Which programs count."""
        return ~self.matrix.lacks_package

    @property
    def weights(self) -> NDArray[np.int64]:
        """How many candidates each program that counts stands for."""
        return self.counts * self.present

    def _witnesses(self) -> Witnesses:
        """Run the programs that work on inputs that seek a disagreement; nothing that is measured looks at them."""
        working = np.flatnonzero(self.matrix.works).tolist()
        if len(working) < 2:
            return Witnesses.none(len(self.programs))
        codes, judge = [self.codes[row] for row in working], self.judge.fresh()
        texts = draw_witnesses(
            self.task,
            codes,
            self.draws,
            judge,
            self.drawn,
            n=self.options.witnesses,
            seed=self.options.seed,
        )
        return run_witnesses(self.executor, codes, working, len(self.programs), texts, self.answers, judged=judge.ran)

    def _validation(self) -> tuple[Validation, ...]:
        if not self.drawn.differing:
            return ()
        self.options.say("looking for the smallest inputs on which validation differs")
        return self._left_out(self.judge.fresh()).find_validation(list(self.drawn.differing.values()))

    def parts(self) -> Parts:
        """Return what questions are made of, after the report."""
        return Parts(
            executor=self.executor,
            programs=self.programs,
            names=[self.names[program.tree_id] for program in self.programs],
            answers=self.answers,
            judge=self.judge,
            draws=self.draws,
            matrix=self.matrix,
            witnesses=self.witnesses,
            validation=self.validation,
            contradicting=self.examples.contradicting,
        )

    def _left_out(self, judge: Judge) -> LeftOut:
        return LeftOut(executor=self.executor, programs=self.programs, names=self.names, judge=judge, draws=self.draws)

    def _cluster_programs(self) -> None:
        """Sort the programs by what they did; those that contradict an example come late, those that fail last."""
        passed = np.array(self.examples.labels, dtype=np.int64).reshape(len(self.programs), -1)
        labels = np.ascontiguousarray(np.hstack([self.matrix.labels, self.witnesses.labels, passed]))
        clusters = behaviour_clusters(labels, self.counts, self.codes)
        self.rows = sorted(clusters, key=lambda rows: (not self.matrix.works[rows[0]], self._contradicts(rows)))

    def _contradicts(self, rows: Sequence[int]) -> bool:
        return rows[0] in self.examples.contradicting

    def _note_programs(self) -> None:
        """Say what is odd about the draws and about single programs."""
        matrix, drawn = self.matrix, self.drawn
        if drawn.n_seeds:
            n = len(drawn.inputs)
            self.notes.append(f"{drawn.n_seeds} of {n} inputs are unchanged seed inputs: no valid mutation was found")
        for row, run in enumerate(matrix.runs):
            whose = ", ".join(self.names[self.programs[row].tree_id])
            if not matrix.loads[row]:
                self.notes.append(f"{whose}: {self._why_not_loaded(row)}")
            if run.nondeterministic:
                self.notes.append(f"{whose}: differs from itself when run twice, so it may disagree by chance")
            if run.trimmed:
                self.notes.append(f"{whose}: statements after the function were left out, for they failed")
            if matrix.given_up[row]:
                self.notes.append(f"{whose}: given up after too many timeouts or crashes; the rest counts as timeouts")
        left = self.counts * matrix.loads
        if 2 <= left.sum() < self.m and matrix.labels.shape[1]:
            self.notes.append(f"among the {left.sum()} that load: incoherence {incoherence(matrix.labels, left):.4f}")

    def _why_not_loaded(self, row: int) -> str:
        said = self.matrix.load_errors[row]
        why = why_not_loaded(self.codes[row], said, entry_point=self.task.entry_point, libraries=self.options.libraries)
        if self.matrix.lacks_package[row]:
            return f"does not load ({why}), so it was not compared"
        return f"does not load ({why}), so it is wrong on every input and differs from all"

    def _cluster(self, number: int, rows: list[int]) -> Cluster:
        kinds = Counter(Kind(kind).name.lower() for kind in self.matrix.kinds[rows[0]].tolist())
        return Cluster(
            number=number,
            candidates=tuple(name for row in rows for name in self.names[self.programs[row].tree_id]),
            code=self.codes[rows[0]],
            outcomes=tuple(kinds.most_common()),
            loads=bool(self.matrix.loads[rows[0]]),
            works=bool(self.matrix.works[rows[0]]),
            nondeterministic=any(self.matrix.runs[row].nondeterministic for row in rows),
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
        name = self.options.own
        own = (i for i, rows in enumerate(self.rows) if any(name in self.names[self.programs[r].tree_id] for r in rows))
        return next(own, 0)

    def _differ(self, one: int, other: int) -> bool:
        if self.matrix.lacks_package[[one, other]].any():
            return False
        return bool((self.matrix.labels[one] != self.matrix.labels[other]).any() or self._witnessed(one, other).any())

    def _disagreement(self, a: int, b: int, known: list[str]) -> Disagreement:
        one, other = self.rows[a][0], self.rows[b][0]
        codes = (self.codes[one], self.codes[other])
        comparable = bool(self.matrix.loads[one] and self.matrix.loads[other])
        shrunk, outcomes = None, None
        if comparable:
            # What was given up while inputs were drawn is tried again on each small one.
            duel = Duel(self.executor, codes, self.answers.differ, lambda texts: self.judge.fresh().keeps(texts))
            shrunk = duel.smallest(self._split(one, other), known, self.draws.accepts)
            outcomes = duel.outcomes(shrunk.arguments) if shrunk else None
        return Disagreement(
            first=a + 1,
            second=b + 1,
            n_inputs=int((self.matrix.labels[one] != self.matrix.labels[other]).sum()),
            n_witnesses=int(self._witnessed(one, other).sum()),
            arguments=shrunk.arguments if shrunk else None,
            outcomes=outcomes,
            minimal=shrunk is not None and shrunk.minimal,
            difference=unified_diff(*codes, (f"cluster {a + 1}", f"cluster {b + 1}")) if comparable else "",
        )

    def _witnessed(self, one: int, other: int) -> NDArray[np.bool_]:
        """Return on which witnesses two programs, both of which were run, differ."""
        first, second = self.witnesses.labels[[one, other]]
        differ: NDArray[np.bool_] = (first != second) & (first >= 0) & (second >= 0)
        return differ

    def _split(self, one: int, other: int) -> list[str]:
        """Return the distinct inputs on which two programs were run and differ; the witnesses, if they alone do so."""
        differ = self.matrix.inputs_that_split(one, other)
        if differ or (self.matrix.labels[one] != self.matrix.labels[other]).any():
            return differ
        return [self.witnesses.inputs[i] for i in np.flatnonzero(self._witnessed(one, other)).tolist()]
