"""Candidates of one task, checked against each other without a reference; and nothing else."""

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from difftrust_core.equality import PAPER, Forms, Policy, classify
from difftrust_core.estimators import disagreement_per_input, incoherence
from difftrust_core.exceptions import TooFewCandidates, WrongUsage
from difftrust_core.pipeline.certainty import input_interval, of_the_coder, statement
from difftrust_core.pipeline.check_inputs import Accepts, Jury, sample_inputs
from difftrust_core.pipeline.check_records import CheckReport, Cluster, Disagreement, Interval, Verdict
from difftrust_core.pipeline.disagreeing import Duel, unified_diff
from difftrust_core.pipeline.jobs import Program
from difftrust_core.programs import tree_id
from difftrust_core.records import Candidate, Kind
from difftrust_core.sandbox import Limits, OutcomeTable, Sandbox
from difftrust_core.selection import behaviour_clusters
from difftrust_core.tasks import Task

MAX_PAIRS = 10
"""Pairs of clusters shown, those of the largest first; more tell nobody anything."""
VALIDITIES = ("quorum", "all")
Say = Callable[[str], None]


def check(
    task: Task,
    candidates: Sequence[Candidate],
    *,
    subject: str = "",
    n: int = 1000,
    seed: int = 0,
    equality: Policy = PAPER,
    validity: str = "quorum",
    accepts: Accepts | None = None,
    limits: Limits | None = None,
    allow_weak: bool = False,
    max_pairs: int = MAX_PAIRS,
    say: Say = lambda line: None,
) -> CheckReport:
    """Run the candidates on n fuzzed inputs and report how they disagree.

    ``subject``: whose error the statements are about; by default the models of the candidates. ``accepts`` tells
    whether an input is within the function's types; None takes all. ``say`` is told of progress. Never raises for
    what candidates do. Raises TooFewCandidates without any, WrongUsage without seed inputs or for another validity.
    """
    if not candidates:
        raise TooFewCandidates("a check needs m >= 2 candidates, got 0; generate some with -m, or give --candidates")
    if not task.seed_inputs or validity not in VALIDITIES:
        wanted = f"seed inputs and a validity of {', '.join(VALIDITIES)}"
        raise WrongUsage(f"expected {wanted}, got {len(task.seed_inputs)} and {validity!r}; give examples")
    options = _Options(
        subject=subject or _models(candidates),
        subject_given=bool(subject),
        n=n,
        seed=seed,
        equality=equality,
        validity=validity,
        typed=accepts is not None,
        accepts=accepts or (lambda text: True),
        max_pairs=max_pairs,
        say=say,
    )
    with Sandbox(limits or Limits(), allow_weak=allow_weak) as sandbox:
        return _Check(task, candidates, sandbox, options).report()


@dataclass(frozen=True, kw_only=True)
class _Options:
    subject: str
    subject_given: bool
    n: int
    seed: int
    equality: Policy
    validity: str
    typed: bool
    accepts: Accepts
    max_pairs: int
    say: Say


def _models(candidates: Sequence[Candidate]) -> str:
    counts = Counter(candidate.model for candidate in candidates)
    if len(counts) == 1:
        return next(iter(counts))
    shares = ", ".join(f"{count} of {model}" for model, count in counts.items())
    return f"the mixture of {len(counts)} models ({shares})"


class _Check:
    """One check on its way: programs, inputs, the matrix of outcome classes, clusters."""

    def __init__(self, task: Task, candidates: Sequence[Candidate], sandbox: Sandbox, options: _Options):
        self.task, self.sandbox, self.options = task, sandbox, options
        self.m = len(candidates)
        self.programs, self.names = _programs(candidates)
        self.counts = np.array([program.n_candidates for program in self.programs])
        self.notes: list[str] = []
        if not options.subject_given and len({candidate.model for candidate in candidates}) > 1:
            self.notes.append("in a mixture, a disagreement says that one of the models is wrong, not which")

    def report(self) -> CheckReport:
        """Execute and report."""
        options = self.options
        options.say(f"{self.m} candidates, {len(self.programs)} distinct programs, {options.n} inputs")
        self._execute()
        loading = int(self.counts[self.loads].sum())
        verdict = self._verdict(loading)
        clusters = self._clusters()
        interval = input_interval(disagreement_per_input(self.labels, self.counts), self.m) if self.m > 1 else None
        disagreements = () if verdict == "undecided" else self._disagreements()
        if self.m > 1:
            self.notes.append(of_the_coder(self.labels, self.counts, options.subject))
        return CheckReport(
            task=self.task,
            subject=options.subject,
            verdict=verdict,
            m=self.m,
            n_loading=loading,
            n_programs=len(self.programs),
            n=options.n,
            n_distinct=len(self.distinct),
            seed=options.seed,
            equality=options.equality,
            validity=options.validity,
            typed=options.typed,
            incoherence=incoherence(self.labels, self.counts) if self.m > 1 else math.nan,
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
        inputs, n_seeds = sample_inputs(
            self.task, n=options.n, seed=options.seed, accepts=options.accepts, jury=self.jury
        )
        if n_seeds:
            self.notes.append(f"{n_seeds} of {options.n} inputs are unchanged seed inputs: no valid mutation was found")
        self.distinct = list(dict.fromkeys(inputs))
        table = OutcomeTable.empty(len(self.distinct))
        self.sandbox.load(self.task.preamble, self.distinct, table)
        self.runs = [self.sandbox.run(program.code, self.task.entry_point) for program in self.programs]
        position = {text: i for i, text in enumerate(self.distinct)}
        which = [position[text] for text in inputs]
        ids = np.array([run.outcome_ids for run in self.runs])
        forms = Forms()
        classes = [np.array(classify(row, policy=options.equality, forms=forms)) for row in table.rows]
        by_input = np.array([classes[i][ids[:, i]] for i in range(len(self.distinct))]).T
        kinds = np.array([[int(table.rows[i][j][0]) for i, j in enumerate(run)] for run in ids.tolist()])
        self.labels: NDArray[np.int64] = np.ascontiguousarray(by_input[:, which])
        self.labels_of_distinct: NDArray[np.int64] = by_input
        self.kinds_of_distinct: NDArray[np.int64] = kinds
        self.kinds: NDArray[np.int64] = kinds[:, which]
        self.loads: NDArray[np.bool_] = (self.kinds != Kind.LOAD_ERROR).any(axis=1)
        self.given_up: NDArray[np.bool_] = (self.kinds == Kind.SKIPPED).any(axis=1)
        self.works: NDArray[np.bool_] = (self.kinds == Kind.VALUE).any(axis=1) & ~self.given_up
        clusters = behaviour_clusters(self.labels, self.counts, [program.code for program in self.programs])
        self.rows = sorted(clusters, key=lambda rows: not self.works[rows[0]])
        self._note_programs([[table.rows[0][ids[row, 0]][1]] for row in range(len(self.programs))])

    def _note_programs(self, first_texts: list[list[str]]) -> None:
        """Say what is odd about single programs."""
        for row, run in enumerate(self.runs):
            whose = ", ".join(self.names[self.programs[row].tree_id])
            if not self.loads[row]:
                why = " ".join(first_texts[row])
                self.notes.append(f"{whose}: does not load ({why}), so it is wrong on every input and differs from all")
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
        return "incoherent" if len(self.rows) > 1 else "coherent"

    def _statement(self, verdict: Verdict, interval: Interval | None, loading: int) -> str:
        if verdict == "undecided" or interval is None:
            why = f"{loading} of {self.m} candidates load" if loading < 2 else "no candidate returned a plain value"
            return f"Could not decide: {why}; two that return values on some input are the least to compare."
        return statement(disagreement_per_input(self.labels, self.counts), interval, self.options.subject)

    def _clusters(self) -> tuple[Cluster, ...]:
        return tuple(self._cluster(number, rows) for number, rows in enumerate(self.rows, 1))

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
        left_out = len(pairs) - self.options.max_pairs
        if left_out > 0:
            self.notes.append(f"{left_out} more pairs of clusters disagree; those of the largest clusters are shown")
        found: list[Disagreement] = []
        known: list[str] = []
        for a, b in pairs[: self.options.max_pairs]:
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
            shrunk = duel.smallest(self._split(one, other), known, self.options.accepts)
            outcomes = duel.outcomes([shrunk.arguments])[0] if shrunk else None
        return Disagreement(
            first=a + 1,
            second=b + 1,
            n_inputs=int((self.labels[one] != self.labels[other]).sum()),
            arguments=shrunk.arguments if shrunk else None,
            outcomes=outcomes,
            minimal=shrunk is not None and shrunk.minimal,
            difference=unified_diff(*codes, (f"cluster {a + 1}", f"cluster {b + 1}")) if comparable else "",
        )

    def _split(self, one: int, other: int) -> list[str]:
        """Return the distinct inputs on which two programs were run and differ."""
        tried = (self.kinds_of_distinct[[one, other]] != Kind.SKIPPED).all(axis=0)
        labels = self.labels_of_distinct
        return [self.distinct[i] for i in np.flatnonzero((labels[one] != labels[other]) & tried).tolist()]

    def _next_step(self, verdict: Verdict) -> str:
        """Say which would tell more, programs or inputs: inputs while their second half still splits clusters."""
        options = self.options
        if verdict == "undecided":
            return "more programs: at least two that load and return a value"
        half = len({row.tobytes() for row in self.labels[:, : options.n // 2].copy()})
        if half < len(self.rows):
            return f"more inputs (-n {2 * options.n}): the second half of them still split behaviours that looked equal"
        return (
            f"more programs (-m {2 * self.m}), best from another model: twice the inputs would split little, "
            "for the second half of these split nothing"
        )


def _programs(candidates: Sequence[Candidate]) -> tuple[list[Program], dict[str, list[str]]]:
    """Return the distinct programs in the order of their first candidate, and whose each is, by tree."""
    codes: dict[str, str] = {}
    names: dict[str, list[str]] = {}
    single = Counter(candidate.model for candidate in candidates)
    for candidate in candidates:
        tree = tree_id(candidate.code)
        codes[tree] = min(codes.get(tree, candidate.code), candidate.code, key=lambda code: (len(code), code))
        name = candidate.model if single[candidate.model] == 1 else f"{candidate.model} #{candidate.sample_index}"
        names.setdefault(tree, []).append(name)
    programs = [Program(tree_id=tree, code=code, n_candidates=len(names[tree])) for tree, code in codes.items()]
    return programs, names
