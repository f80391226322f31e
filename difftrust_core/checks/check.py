"""Candidates of one task, compared with each other, without a reference."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from difftrust_core.base.records import Candidate, Kind, Outcome, Validity
from difftrust_core.base.task import Task
from difftrust_core.base.text import unified_diff
from difftrust_core.checks.report import (
    CheckReport,
    Cluster,
    Disagreement,
    Interval,
    Verdict,
    input_interval,
    of_the_coder,
    statement,
    witness_statement,
)
from difftrust_core.exceptions import TooFewCandidates, WrongUsage
from difftrust_core.execution.plan import Program
from difftrust_core.execution.validity import Accepts, Jury, sample_inputs
from difftrust_core.execution.witnesses import N_WITNESSES, draw_witnesses
from difftrust_core.languages.language import Language, language_of
from difftrust_core.languages.python.shrink import Shrunk, shrink
from difftrust_core.metrics.consensus import behaviour_clusters
from difftrust_core.metrics.equality import Equality, Forms, classify
from difftrust_core.metrics.estimators import disagreement_per_input, incoherence
from difftrust_core.sandbox.host import Sandbox
from difftrust_core.sandbox.outcomes import OutcomeTable

VALIDITIES = (Validity.QUORUM, Validity.ALL)
_MAX_PAIRS = 10
"""Pairs of clusters shown, those of the largest first; more tell nobody anything."""
_STARTS = 5
"""So many inputs are tried as a start, shortest first: one may disagree by chance alone."""
_CPU = 2.0
"""CPU seconds that a pair may take; what is left untried then is not known to agree."""


@dataclass(frozen=True, kw_only=True)
class CheckOptions:
    """How candidates are compared."""

    subject: str = ""
    """Whose error the statements are about; by default the models of the candidates."""
    n: int = 1000
    seed: int = 0
    witnesses: int = N_WITNESSES
    """So many inputs that seek a disagreement are run beside the n, at most; 0: none."""
    equality: Equality = Equality.PAPER
    validity: str = "quorum"
    accepts: Accepts | None = None
    """Tells whether an input is within the function's types; None takes all."""
    allow_weak: bool = False
    say: Callable[[str], None] = lambda line: None
    """Is told of progress."""


def check(task: Task, candidates: Sequence[Candidate], options: CheckOptions | None = None) -> CheckReport:
    """Run the candidates on n fuzzed inputs and report how they disagree. Never raises for what candidates do.

    Raises TooFewCandidates without any, WrongUsage without seed inputs or for another validity.
    """
    options = options or CheckOptions()
    if not candidates:
        raise TooFewCandidates("a check needs m >= 2 candidates, got 0; generate some with -m, or give --candidates")
    if not task.seed_inputs or options.validity not in VALIDITIES:
        wanted = f"seed inputs and a validity of {', '.join(VALIDITIES)}"
        raise WrongUsage(f"expected {wanted}, got {len(task.seed_inputs)} and {options.validity!r}; give examples")
    language = language_of(task)
    with Sandbox(language.limits, runner=language.runner, allow_weak=options.allow_weak) as sandbox:
        return _Check(task, candidates, sandbox, options).report()


def _models(candidates: Sequence[Candidate]) -> str:
    counts = Counter(candidate.model for candidate in candidates)
    if len(counts) == 1:
        return next(iter(counts))
    shares = ", ".join(f"{count} of {model}" for model, count in counts.items())
    return f"the mixture of {len(counts)} models ({shares})"


class _Check:
    """One check on its way: programs, inputs, the matrix of outcome classes, clusters."""

    def __init__(self, task: Task, candidates: Sequence[Candidate], sandbox: Sandbox, options: CheckOptions):
        self.task, self.sandbox, self.options = task, sandbox, options
        self.accepts = options.accepts or (lambda text: True)
        self.subject = options.subject or _models(candidates)
        self.m = len(candidates)
        self.language = language_of(task)
        self.programs, self.names = _programs(candidates, self.language)
        self.counts = np.array([program.n_candidates for program in self.programs])
        self.notes: list[str] = []
        if not options.subject and len({candidate.model for candidate in candidates}) > 1:
            self.notes.append("in a mixture, a disagreement says that one of the models is wrong, not which")

    def report(self) -> CheckReport:
        """Execute and report."""
        options = self.options
        options.say(f"{self.m} candidates, {len(self.programs)} distinct programs, {options.n} inputs")
        self._execute()
        loading = int(self.counts[self.loads].sum())
        self._run_witnesses()
        self._cluster_programs()
        verdict = self._verdict(loading)
        clusters = tuple(self._cluster(number, rows) for number, rows in enumerate(self.rows, 1))
        interval = input_interval(disagreement_per_input(self.labels, self.counts), self.m) if self.m > 1 else None
        disagreements = () if verdict == "undecided" else self._disagreements()
        if self.m > 1:
            self.notes.append(of_the_coder(self.labels, self.counts, self.subject))
        return CheckReport(
            task=self.task,
            subject=self.subject,
            verdict=verdict,
            m=self.m,
            n_loading=loading,
            n_programs=len(self.programs),
            n=options.n,
            n_distinct=len(self.distinct),
            n_witnesses=len(self.witnesses),
            n_witnessed=self._n_witnessed,
            seed=options.seed,
            equality=options.equality,
            validity=options.validity,
            typed=options.accepts is not None,
            incoherence=incoherence(self.labels, self.counts) if self.m > 1 else None,
            interval=interval,
            error_at_least=interval.low / 2 if interval else 0.0,
            statement=self._statement(verdict, interval, loading),
            next_step=self._next_step(verdict),
            clusters=clusters,
            disagreements=disagreements,
            consensus=next((c.code for c in clusters if c.works), None),
            notes=tuple(self.notes),
        )

    def _execute(self) -> None:
        """Draw the inputs and run every program on each distinct one, once."""
        options = self.options
        self.jury = Jury(self.task, self.programs if options.validity == "quorum" else (), self.sandbox)
        inputs, n_seeds = sample_inputs(self.task, n=options.n, seed=options.seed, accepts=self.accepts, jury=self.jury)
        if n_seeds:
            self.notes.append(f"{n_seeds} of {options.n} inputs are unchanged seed inputs: no valid mutation was found")
        self.distinct = list(dict.fromkeys(inputs))
        table = OutcomeTable.empty(len(self.distinct))
        self.sandbox.load(self.language.preamble(self.task), self.distinct, table)
        sources = [self.language.source(self.task, program.code) for program in self.programs]
        self.runs = [self.sandbox.run(source, self.task.entry_point) for source in sources]
        position = {text: i for i, text in enumerate(self.distinct)}
        which = [position[text] for text in inputs]
        ids = np.array([run.outcome_ids for run in self.runs])
        forms = Forms()
        classes = [np.array(classify(row, equality=options.equality, forms=forms)) for row in table.rows]
        by_input = np.array([classes[i][ids[:, i]] for i in range(len(self.distinct))]).T
        kinds = np.array([[int(table.rows[i][j][0]) for i, j in enumerate(run)] for run in ids.tolist()])
        self.labels: NDArray[np.int64] = np.ascontiguousarray(by_input[:, which])
        self.labels_of_distinct: NDArray[np.int64] = by_input
        self.kinds_of_distinct: NDArray[np.int64] = kinds
        self.kinds: NDArray[np.int64] = kinds[:, which]
        self.loads: NDArray[np.bool_] = (self.kinds != Kind.LOAD_ERROR).any(axis=1)
        self.given_up: NDArray[np.bool_] = (self.kinds == Kind.SKIPPED).any(axis=1)
        self.works: NDArray[np.bool_] = (self.kinds == Kind.VALUE).any(axis=1) & ~self.given_up
        self._note_programs([table.rows[0][ids[row, 0]][1] for row in range(len(self.programs))])

    def _run_witnesses(self) -> None:
        """Run the programs that work on inputs that seek a disagreement; nothing that is measured looks at them.

        A witness on which one of them runs out of time or memory says nothing and is left out.
        """
        working = np.flatnonzero(self.works).tolist()
        self.witnesses: list[str] = []
        self.labels_of_witnesses: NDArray[np.int64] = np.zeros((len(self.programs), 0), dtype=np.int64)
        if len(working) < 2 or not self.options.witnesses:
            return
        codes = [self.programs[row].code for row in working]
        drawn = draw_witnesses(
            self.task, codes, self.sandbox, n=self.options.witnesses, seed=self.options.seed, judge=self._judge
        )
        texts = [witness.arguments for witness in drawn]
        table = OutcomeTable.empty(len(texts))
        self.sandbox.load(self.language.preamble(self.task), texts, table)
        runs = [self.sandbox.run(self.language.source(self.task, code), self.task.entry_point) for code in codes]
        forms, columns = Forms(), []
        for i, (text, row) in enumerate(zip(texts, table.rows, strict=True)):
            if not any(kind in (Kind.TIMEOUT, Kind.SKIPPED, Kind.MEMORY) for kind, _ in row):
                classes = classify(row, equality=self.options.equality, forms=forms)
                self.witnesses.append(text)
                columns.append([classes[run.outcome_ids[i]] for run in runs])
        self.labels_of_witnesses = np.full((len(self.programs), len(columns)), -1, dtype=np.int64)
        self.labels_of_witnesses[working] = np.array(columns, dtype=np.int64).reshape(-1, len(working)).T

    def _judge(self, inputs: Sequence[str]) -> NDArray[np.bool_]:
        """Tell which inputs fit the annotated types and are valid; by a jury of its own, which may lose members."""
        jury = Jury(self.task, self.programs if self.options.validity == "quorum" else (), self.sandbox)
        valid: NDArray[np.bool_] = np.array([self.accepts(text) for text in inputs], dtype=bool)
        valid[valid] = jury.valid([text for text, fits in zip(inputs, valid.tolist(), strict=True) if fits])
        return valid

    @property
    def _n_witnessed(self) -> int:
        known = self.labels_of_witnesses[self.works]
        return int((known != known[:1]).any(axis=0).sum())

    def _cluster_programs(self) -> None:
        """Sort the programs by what they did on the inputs and the witnesses; those that do not work come last."""
        labels = np.ascontiguousarray(np.hstack([self.labels, self.labels_of_witnesses]))
        clusters = behaviour_clusters(labels, self.counts, [program.code for program in self.programs])
        self.rows = sorted(clusters, key=lambda rows: not self.works[rows[0]])

    def _note_programs(self, first_texts: list[str]) -> None:
        """Say what is odd about single programs."""
        for row, run in enumerate(self.runs):
            whose = ", ".join(self.names[self.programs[row].tree_id])
            if not self.loads[row]:
                why = f"does not load ({first_texts[row]})"
                self.notes.append(f"{whose}: {why}, so it is wrong on every input and differs from all")
            if run.nondeterministic:
                self.notes.append(f"{whose}: differs from itself when run twice, so it may disagree by chance")
            if run.trimmed:
                self.notes.append(f"{whose}: statements after the function were left out, for they failed")
            if self.given_up[row]:
                self.notes.append(f"{whose}: given up after too many timeouts or crashes; the rest counts as timeouts")
        left = self.counts * self.loads
        if 2 <= left.sum() < self.m:
            self.notes.append(f"among the {left.sum()} that load: incoherence {incoherence(self.labels, left):.4f}")

    def _verdict(self, loading: int) -> Verdict:
        if loading < 2 or not (self.kinds == Kind.VALUE).any():
            return "undecided"
        if len(np.unique(self.labels, axis=0)) > 1:
            return "incoherent"
        return "disagreement found" if self._n_witnessed else "coherent"

    def _statement(self, verdict: Verdict, interval: Interval | None, loading: int) -> str:
        if verdict == "undecided" or interval is None:
            why = f"{loading} of {self.m} candidates load" if loading < 2 else "no candidate returned a plain value"
            return f"Could not decide: {why}; two that return values on some input are the least to compare."
        measured = statement(disagreement_per_input(self.labels, self.counts), interval, self.subject)
        if verdict == "disagreement found":
            return f"{witness_statement(self._n_witnessed, len(self.witnesses))} {measured}"
        return measured

    def _cluster(self, number: int, rows: list[int]) -> Cluster:
        kinds = Counter(Kind(kind).name.lower() for kind in self.kinds[rows[0]].tolist())
        return Cluster(
            number=number,
            candidates=tuple(name for row in rows for name in self.names[self.programs[row].tree_id]),
            code=self.programs[rows[0]].code,
            outcomes=tuple(kinds.most_common()),
            loads=bool(self.loads[rows[0]]),
            works=bool(self.works[rows[0]]),
            nondeterministic=any(self.runs[row].nondeterministic for row in rows),
        )

    def _disagreements(self) -> tuple[Disagreement, ...]:
        pairs = sorted(combinations(range(len(self.rows)), 2), key=sum)
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

    def _disagreement(self, a: int, b: int, known: list[str]) -> Disagreement:
        one, other = self.rows[a][0], self.rows[b][0]
        codes = (self.programs[one].code, self.programs[other].code)
        comparable = bool(self.loads[one] and self.loads[other])
        shrunk, outcomes = None, None
        if comparable:
            duel = Duel(self.task, codes, self.sandbox, equality=self.options.equality, jury=self.jury)
            shrunk = duel.smallest(self._split(one, other), known, self.accepts)
            outcomes = duel.outcomes([shrunk.arguments])[0] if shrunk else None
        return Disagreement(
            first=a + 1,
            second=b + 1,
            n_inputs=int((self.labels[one] != self.labels[other]).sum()),
            n_witnesses=int(self._witnessed(one, other).sum()),
            arguments=shrunk.arguments if shrunk else None,
            outcomes=outcomes,
            minimal=shrunk is not None and shrunk.minimal,
            difference=unified_diff(*codes, (f"cluster {a + 1}", f"cluster {b + 1}")) if comparable else "",
        )

    def _witnessed(self, one: int, other: int) -> NDArray[np.bool_]:
        """Return on which witnesses two programs, both of which were run, differ."""
        first, second = self.labels_of_witnesses[[one, other]]
        differ: NDArray[np.bool_] = (first != second) & (first >= 0) & (second >= 0)
        return differ

    def _split(self, one: int, other: int) -> list[str]:
        """Return the distinct inputs on which two programs were run and differ; the witnesses, if they alone do so."""
        if (self.labels[one] == self.labels[other]).all():
            return [self.witnesses[i] for i in np.flatnonzero(self._witnessed(one, other)).tolist()]
        tried = (self.kinds_of_distinct[[one, other]] != Kind.SKIPPED).all(axis=0)
        labels = self.labels_of_distinct
        return [self.distinct[i] for i in np.flatnonzero((labels[one] != labels[other]) & tried).tolist()]

    def _next_step(self, verdict: Verdict) -> str:
        """Say which would tell more, programs or inputs: inputs while their second half still splits clusters."""
        options = self.options
        if verdict == "undecided":
            return "more programs: at least two that load and return a value"
        half, whole = (len(np.unique(self.labels[:, :n], axis=0)) for n in (options.n // 2, options.n))
        if half < whole:
            return f"more inputs (-n {2 * options.n}): the second half of them still split behaviours that looked equal"
        return (
            f"more programs (-m {2 * self.m}), best from another model: twice the inputs would split little, "
            "for the second half of these split nothing"
        )


def _programs(candidates: Sequence[Candidate], language: Language) -> tuple[list[Program], dict[str, list[str]]]:
    """Return the distinct programs in the order of their first candidate, and whose each is, by tree."""
    codes: dict[str, str] = {}
    names: dict[str, list[str]] = {}
    single = Counter(candidate.model for candidate in candidates)
    for candidate in candidates:
        tree = language.tree_id(candidate.code)
        codes[tree] = min(codes.get(tree, candidate.code), candidate.code, key=lambda code: (len(code), code))
        name = candidate.model if single[candidate.model] == 1 else f"{candidate.model} #{candidate.sample_index}"
        names.setdefault(tree, []).append(name)
    programs = [Program(tree_id=tree, code=code, n_candidates=len(names[tree])) for tree, code in codes.items()]
    return programs, names


class Duel:
    """Two programs of one task on any inputs: where they differ when compared with each other alone."""

    def __init__(self, task: Task, programs: tuple[str, str], sandbox: Sandbox, *, equality: Equality, jury: Jury):
        self._task, self._sandbox, self._language = task, sandbox, language_of(task)
        self._sources = tuple(self._language.source(task, code) for code in programs)
        self._equality, self._jury, self._forms = equality, jury, Forms()
        self._cpu = 0.0

    def outcomes(self, inputs: Sequence[str]) -> list[tuple[Outcome, Outcome]]:
        """Return what the two do on each input."""
        table = OutcomeTable.empty(len(inputs))
        self._sandbox.load(self._language.preamble(self._task), inputs, table)
        runs = [self._sandbox.run(source, self._task.entry_point) for source in self._sources]
        self._cpu += sum(run.cpu for run in runs)
        ids = [run.outcome_ids.tolist() for run in runs]
        return [(row[a], row[b]) for row, a, b in zip(table.rows, *ids, strict=True)]

    def differ(self, inputs: Sequence[str]) -> list[bool | None]:
        """Return where the two differ on a valid input; None where that was not found out in the time there is."""
        if self._cpu > _CPU:
            return [None] * len(inputs)
        found = [self._differ(*pair) for pair in self.outcomes(inputs)]
        split = [i for i, differs in enumerate(found) if differs]
        if split:
            for i, valid in zip(split, self._jury.valid([inputs[i] for i in split]).tolist(), strict=True):
                found[i] = valid
        return found

    def _differ(self, one: Outcome, other: Outcome) -> bool | None:
        if Kind.SKIPPED in (one[0], other[0]):
            return None
        first, second = classify([one, other], equality=self._equality, forms=self._forms)
        return first != second

    def smallest(self, starts: Sequence[str], known: Sequence[str], accepts: Accepts) -> Shrunk | None:
        """Return the smallest input found on which the two differ; None if none does when it is tried again.

        ``starts``: inputs on which they differed. ``known``: small ones on which others differ, which may do as well.
        """
        few = sorted([*sorted(starts, key=_length)[:_STARTS], *known], key=_length)
        for start, differs in zip(few, self.differ(few), strict=True):
            if differs:
                return shrink(start, self.differ, accepts=accepts, around=self._language.around(self._task))
        return None


def _length(arguments: str) -> tuple[int, str]:
    return len(arguments), arguments
