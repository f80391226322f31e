"""The search for inputs on which two versions differ: known calls, inputs for the lines that differ, many drawn."""

import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice

from difftrust_core.base.literals import read_literal
from difftrust_core.base.records import Kind, Outcome
from difftrust_core.checks.duel import Duel, Shows
from difftrust_core.checks.inputs import Draws, draws_of
from difftrust_core.checks.predicate import Inside
from difftrust_core.checks.programs import Executor
from difftrust_core.checks.source.conditions import conditions_of
from difftrust_core.checks.source.function import Loading
from difftrust_core.checks.source.mentions import columns_in, words_in
from difftrust_core.checks.versions.compare import Compare, Weight, is_not_built, name_of, plain
from difftrust_core.checks.versions.directed import directed_inputs, named_constants
from difftrust_core.checks.versions.expected import Expectations
from difftrust_core.checks.versions.kinds import settle
from difftrust_core.checks.versions.known import Pair, load
from difftrust_core.checks.versions.records import Change, DiffOptions
from difftrust_core.checks.versions.signatures import Signature, signatures
from difftrust_core.exceptions import WrongUsage
from difftrust_core.languages.language import language_of
from difftrust_core.languages.python.argument_types import Annotations, ArgumentTypes
from difftrust_core.languages.python.shrink import simplicity

Row = tuple[Outcome, Outcome]
Accepts = Callable[[str], bool]
_MAX_CHANGES = 2
_DIRECTED = 450
_BATCH = 500
_HUGE = re.compile(r"\d{11,}")
"""A whole number that nobody counts to: what Python alone raises for it says little."""
_SECONDS, _SECONDS_MORE = 4.0, 2.0
"""That shrinking the input of the first change may take, and that of each further one."""


@dataclass(kw_only=True)
class Found:
    """What was run, and what it shows."""

    rows: dict[str, Row] = field(default_factory=dict)
    """What both versions did on each input."""
    changes: list[Change] = field(default_factory=list)
    doubtful: list[Change] = field(default_factory=list)
    """Differences on inputs that the function may not allow."""
    n_differing: int = 0
    n_witnesses: int = 0
    unstable: bool = False
    """A version differed from itself."""
    unanswered: int = 0
    """Inputs on which only one version answered in time."""
    load_errors: tuple[str, ...] = ()
    notes: list[str] = field(default_factory=list)
    unreached: tuple[str, ...] = ()
    """Lines that differ and that no input reaches, in either version."""
    failed: tuple[str, ...] = ()
    """Expectations that do not hold."""

    @property
    def returned(self) -> int:
        """On so many inputs a version returned something."""
        return sum(
            any(kind in (Kind.VALUE, Kind.UNSUPPORTED) and not is_not_built((kind, text)) for kind, text in row)
            for row in self.rows.values()
        )

    @property
    def ran(self) -> int:
        """So many inputs could be made and were run on both versions."""
        return sum(not any(is_not_built(outcome) for outcome in row) for row in self.rows.values())


class Search:
    """One search, for one pair of versions."""

    def __init__(self, pair: Pair, executor: Executor, compare: Compare, options: DiffOptions, *, lines: Sequence[str]):
        self.pair, self.executor, self.compare, self.options = pair, executor, compare, options
        self.codes = (pair.bundles[0].code, pair.bundles[1].code)
        self.texts = (pair.old.text, pair.new.text)
        self.lines = list(lines)
        self.constants = named_constants(self.lines, [s for bundle in pair.bundles for s in bundle.definitions])
        self.found = Found()
        self.inside: Inside | None = None
        self.calls: frozenset[str] = frozenset()
        """Argument tuples of the calls that were found."""
        self.expectations = Expectations(pair.targets[1], options.expect, executor, self.codes[1])

    def run(self) -> Found:
        """Search; stop once calls that both versions take show a change."""
        found = self.found
        self.found.failed = self.expectations.failed()
        for signature in signatures(*self.pair.targets):
            self._search(signature)
            if found.load_errors or any(not change.expected for change in found.changes):
                break
        return found

    def _search(self, signature: Signature) -> None:
        options, found = self.options, self.found
        loading = load(self.pair, signature.parameters, (*options.examples, *options.expect))
        target = self.pair.targets[1]
        conditions = conditions_of(target, options.assume, [p.name for p in signature.parameters])
        self.inside = Inside(self.executor, conditions=conditions.texts) if conditions.texts else None
        if not signature.parameters:
            self._run(["()"])
            self._conclude(signature, frozenset(), lambda text: True)
            return
        options.phase("finding out what the arguments may be")
        kinds = settle(loading, [t.function for t in self.pair.targets], self._answered, seed=options.seed)
        if found.load_errors:
            return
        types = ArgumentTypes(kinds.parameters, Annotations(loading.known_module))
        loading.parameters = list(kinds.parameters)
        seeds = self._seeds(loading, types)
        found.notes += [note for note in (*kinds.notes, *conditions.notes) if note not in found.notes]
        if not seeds:
            return
        options.phase("running both versions")
        seen = self.calls = frozenset(loading.calls)
        draws = self._draws(loading, types, seeds)
        favoured = self._run(list(dict.fromkeys((*loading.calls, *seeds))))
        draws.favour([any(kind == Kind.VALUE for kind, _ in favoured.get(text, ())) for text in draws.seeds])
        best = self._best(seeds)
        lines = [*self.lines, *self.constants]
        directed = [text for text in directed_inputs(best, lines, most=_DIRECTED) if draws.accepts(text)]
        task = self.executor.task
        programs = [*self.texts, *self.constants]
        witnesses = islice(language_of(task).witnesses(task, best, programs, options.seed), 3 * options.witnesses)
        sought = [w.arguments for w in witnesses if draws.accepts(w.arguments)][: options.witnesses]
        self.found.n_witnesses += len({*directed, *sought, *loading.calls})
        self._run([*directed, *sought])
        drawn = dict.fromkeys(draws(position, 0) for position in range(options.n))
        self._run([text for text in drawn if draws.accepts(text)])
        sure = seen if kinds.guessed else seen | {text for text in found.rows if draws.accepts(text)}
        self._conclude(signature, sure, draws.accepts)

    def _best(self, seeds: Sequence[str]) -> list[str]:
        """Return the seeds on which a version returns first: far from them all raise."""
        rows = self.found.rows
        good = [text for text in seeds if any(kind == Kind.VALUE for kind, _ in rows.get(text, ()))]
        return list(dict.fromkeys([*good, *seeds])) if len(good) < 5 else good

    def _seeds(self, loading: Loading, types: ArgumentTypes) -> list[str]:
        try:
            return list(loading.seeds(types, typed=True, seed=self.options.seed, columns=self._columns(loading)))
        except WrongUsage as e:
            self.found.notes.append(str(e))
            return []

    def _columns(self, loading: Loading) -> dict[str, str]:
        return dict(columns_in(loading.target.docstring, loading.codes, loading.values)) if loading.has_frames else {}

    def _draws(self, loading: Loading, types: ArgumentTypes, seeds: Sequence[str]) -> Draws:
        task = replace(self.executor.task, seed_inputs=tuple(seeds))
        codes = [*self.texts, *self.lines, *self.constants]
        return draws_of(
            task,
            types,
            codes,
            seed=self.options.seed,
            dictionary=words_in(loading.target.docstring, loading.codes),
            columns=self._columns(loading),
        )

    def _answered(self, texts: Sequence[str]) -> list[bool]:
        rows = self._run(texts)
        return [any(kind in (Kind.VALUE, Kind.UNSUPPORTED) for kind, _ in rows.get(text, ())) for text in texts]

    def _run(self, texts: Sequence[str]) -> dict[str, Row]:
        """Run both versions on those inputs inside the domain that are new; return what is known of all."""
        rows = self.found.rows
        new = [text for text in dict.fromkeys(texts) if text not in rows]
        if self.inside is not None and new:
            new = [text for text, inside in zip(new, self.inside(new), strict=True) if inside]
        for start in range(0, len(new), _BATCH):
            batch = new[start : start + _BATCH]
            ran = self.executor.run(self.codes, batch)
            rows.update({text: (row[0], row[1]) for text, row in zip(batch, ran.rows, strict=True)})
            self._note_loading(ran.rows)
        return {text: rows[text] for text in texts if text in rows}

    def _note_loading(self, rows: Sequence[tuple[Outcome, ...]]) -> None:
        errors = []
        for which, name in enumerate(("old", "new")):
            if rows and all(row[which][0] == Kind.LOAD_ERROR for row in rows):
                errors.append(f"the {name} version does not load: {rows[0][which][1]}")
        self.found.load_errors = tuple(errors) or self.found.load_errors

    def _weigh(self, text: str, row: Row, sure: frozenset[str], signature: Signature) -> Weight:
        if signature.note and {kind for kind, _ in row} == {Kind.VALUE, Kind.EXCEPTION}:
            refused = next(outcome for outcome in row if outcome[0] == Kind.EXCEPTION)
            if name_of(refused) == "TypeError":  # the version does not take the parameter
                return "counts"
        weight = self.compare.weigh(*row, sure=text in sure)
        raised = [name_of(outcome) for outcome in row if outcome[0] == Kind.EXCEPTION]
        is_huge = _HUGE.search(text) is not None and not self.compare.raised.issuperset(raised)
        return "doubtful" if weight == "counts" and is_huge and text not in self.calls else weight

    def _conclude(self, signature: Signature, sure: frozenset[str], accepts: Accepts) -> None:
        """Confirm the differences and shrink the input of each kind."""
        found, options = self.found, self.options
        weights = {
            text: self._weigh(text, row, sure, signature)
            for text, row in found.rows.items()
            if text in sure or accepts(text)  # not those of kinds that were tried and dropped
        }
        found.unanswered = sum(weight == "nothing" for weight in weights.values())
        sorts: tuple[tuple[Weight, list[Change]], ...] = (("counts", found.changes), ("doubtful", found.doubtful))
        for weight, into in sorts:
            texts = [text for text, each in weights.items() if each == weight]
            confirmed = self._confirmed(texts)
            if weight == "counts":
                found.n_differing = len(texts) if confirmed else 0
            if confirmed and (weight == "counts" or not found.changes):
                options.phase("seeking the smallest input that shows the change")
                into += self._smallest(confirmed, weight, signature, sure, accepts)

    def _confirmed(self, texts: Sequence[str]) -> list[str]:
        """Return the inputs on which both versions do what they did when they are run again."""
        few = sorted(texts, key=lambda text: (len(text), text))[:_BATCH]
        if not few:
            return []
        ran = self.executor.run(self.codes, few)
        same = [
            text
            for text, row in zip(few, ran.rows, strict=True)
            if all(not self.compare.differ(a, b) for a, b in zip(row, self.found.rows[text], strict=True))
        ]
        self.found.unstable |= len(same) < len(few)
        return same

    def _smallest(
        self, texts: Sequence[str], weight: Weight, signature: Signature, sure: frozenset[str], accepts: Accepts
    ) -> list[Change]:
        """Return the smallest input of each kind of difference."""
        groups: dict[object, list[str]] = {}
        for text in texts:
            groups.setdefault(_sort_of(self.found.rows[text]), []).append(text)
        known: list[str] = []
        changes: list[Change] = []
        ordered = sorted(groups.values(), key=lambda group: (self._rank(group[0]), min(map(len, group)), -len(group)))
        for group in ordered[:_MAX_CHANGES]:
            seconds = _SECONDS_MORE if changes else _SECONDS
            change = self._shrunk(group, weight, signature, sure, accepts, seconds=seconds)
            if change is not None and change.arguments not in known:
                known.append(change.arguments)
                changes.append(change)
        return changes

    def _rank(self, text: str) -> int:
        """Return 0 where a difference speaks for itself: values, and exceptions that a version raises by name."""
        row = self.found.rows[text]
        raised = [name_of(outcome) for outcome in row if outcome[0] == Kind.EXCEPTION]
        return int(any(name not in self.compare.raised for name in raised))

    def _shrunk(
        self,
        group: Sequence[str],
        weight: Weight,
        signature: Signature,
        sure: frozenset[str],
        accepts: Accepts,
        *,
        seconds: float,
    ) -> Change | None:
        sort = _sort_of(self.found.rows[group[0]])
        typed = all(text in sure for text in group)

        def shows(one: Outcome, other: Outcome) -> bool:
            if signature.note and weight == "counts":
                return _sort_of((one, other)) == sort and self.compare.differ(one, other)
            return _sort_of((one, other)) == sort and self.compare.weigh(one, other, sure=typed) == weight

        def keeps(inputs: Sequence[str]) -> list[bool]:
            return self.inside(inputs) if self.inside is not None else [True] * len(inputs)

        duel = _TimedDuel(self.executor, self.codes, shows, keeps, seconds=seconds)
        pinned = self.expectations.inputs
        left = [text for text in group if text not in pinned]
        if not left:
            text = min(group, key=lambda text: (len(text), text))
            return _change(
                text, self.found.rows[text], minimal=False, expected=self.expectations.holds(text), note=signature.note
            )
        shrunk = duel.smallest(left, (), lambda text: accepts(text) and text not in pinned)
        if shrunk is None:
            return None
        return _change(
            shrunk.arguments,
            duel.outcomes(shrunk.arguments),
            minimal=shrunk.minimal,
            expected=False,
            note=signature.note,
        )


class _TimedDuel(Duel):
    """A duel that knows nothing any more after some seconds."""

    def __init__(
        self,
        executor: Executor,
        codes: tuple[str, str],
        shows: Shows,
        keeps: Callable[[Sequence[str]], list[bool]],
        *,
        seconds: float,
    ):
        super().__init__(executor, codes, shows, keeps)
        self._until = time.monotonic() + seconds

    def show(self, inputs: Sequence[str]) -> list[bool | None]:
        """Return on which inputs it is seen; None where that was not found out in the time there is."""
        return [None] * len(inputs) if time.monotonic() > self._until else super().show(inputs)


def _change(text: str, row: Row, *, minimal: bool, expected: bool, note: str) -> Change:
    return Change(
        arguments=text,
        outcomes=(plain(row[0]), plain(row[1])),
        n_nodes=nodes_of(text),
        minimal=minimal,
        expected=expected,
        note=note,
    )


def nodes_of(arguments: str) -> int:
    """Return the size of an input: values and characters, each counting as one, the tuple itself left out."""
    return simplicity(read_literal(arguments))[0] - 1


def _sort_of(row: Row) -> tuple[object, ...]:
    """Return what kind of difference it is: values, or which exception on which side."""
    return tuple(text.partition("(")[0] if kind == Kind.EXCEPTION else kind for kind, text in row)
