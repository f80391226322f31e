"""The search for inputs on which two versions differ: known calls, inputs for the lines that differ, many drawn."""

import ast
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from difftrust.check.examples import got
from difftrust.check.inputs.in_domain import InDomain
from difftrust.check.inputs.witnesses import feedback_of
from difftrust.check.programs import Duel, Executor
from difftrust.check.spelling import spelled_method
from difftrust.diff.changed_behaviour import Compare, Weight, is_no_answer, is_not_built, name_of, opaque_in, plain
from difftrust.diff.comparison import Change, DiffOptions
from difftrust.diff.directed import boundary_inputs, dicts_of, named_constants, odd_inputs, texts_in
from difftrust.diff.pair import Kinds, Pair, Signature, load, parameters_of, settle, signatures
from difftrust.search.drawing import TypedInputs
from difftrust.search.inputs import InputSource, check_inputs
from difftrust.source.conditions import conditions_of
from difftrust.source.function import Loading
from difftrust.source.operators import OPERATORS
from difftrust.source.sandbox_imports import LEFT_OUT
from difftrust.source.target import Target
from difftrust.source.usage import asked_keys, asked_kinds
from difftrust.text import by_length
from difftrust.types.argument_types import Annotations, ArgumentTypes, arguments_of
from difftrust_core.base.literals import read_literal
from difftrust_core.base.records import Kind, Outcome
from difftrust_core.exceptions import WrongUsage
from difftrust_core.languages.python.simpler import simplicity


class Expectations:
    """Pins of ``--expect``; ``inputs`` are the argument tuples that they are about."""

    def __init__(self, target: Target, texts: Sequence[str], executor: Executor, code: str):
        """Read the pins. Raises WrongUsage for one that is no call of the function."""
        self._executor, self._code = executor, code
        loading = Loading(target, (), parameters_of(target))
        examples = [example for text in texts for example in loading.read_example(text)]
        self._examples = [(example, list(loading.calls_in(example))) for example in examples]
        self.inputs = frozenset(text for _, inputs in self._examples for text in inputs)
        self._holding: set[str] = set()

    def failed(self) -> tuple[str, ...]:
        """Run the pins on the new version and return those that do not hold, in words."""
        said: list[str] = []
        if not self._examples:
            return ()
        rows = self._executor.run([self._code], [example.text for example, _ in self._examples]).rows
        for (example, inputs), (outcome,) in zip(self._examples, rows, strict=True):
            if outcome == (Kind.VALUE, "True"):
                self._holding.update(inputs)
            else:
                want = example.want.strip().splitlines()[-1:] or ["it to run"]
                said.append(f"{example.shown}: expected {want[0]}, the new version gives {got(outcome)}")
        return tuple(said)

    def holds(self, arguments: str) -> bool:
        """Tell whether an input is pinned and the new version does there what it should."""
        return arguments in self._holding


Row = tuple[Outcome, Outcome]
Accepts = Callable[[str], bool]
_MAX_CHANGES = 2
_DIRECTED, _KEPT, _BESIDE = 300, 300, 200
_HANGS = (Kind.TIMEOUT, Kind.SKIPPED)
_RETURNED = (Kind.VALUE, Kind.UNSUPPORTED)
_BATCH = 500
_ALONE = 10
_AGAIN, _MORE_BATCHES = 50, 10
"""Inputs that were skipped since others of their batch took too long are run again in so many batches of so many."""
_ANY: tuple[Any, ...] = ({"b": 1, "a": [2]}, {}, (1, "a"), (), None, 0.5, b"a", {1})
"""Values of further kinds, for a parameter of which nothing is known."""
_TOLD_APART: tuple[Any, ...] = (0, 1, True, False, 0.0, "a", None)
"""Values of kinds that code may tell apart."""
_WORDS = re.compile(r"\w+")
_HUGE = re.compile(r"\d{11,}")
"""A whole number that nobody counts to: what Python alone raises for it says little."""


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
    """Inputs on which a version gave no answer; of many others, without those on which both run out of time, and those
    that could not be made."""
    load_errors: tuple[str, ...] = ()
    not_read: tuple[str, ...] = ()
    """Examples of the user whose arguments are not known here."""
    exhausted: bool = False
    """All inputs that the annotations allow were run."""
    notes: list[str] = field(default_factory=list)
    unreached: tuple[str, ...] = ()
    """Lines that differ and that no input reaches, in either version."""
    failed: tuple[str, ...] = ()
    """Expectations that do not hold."""

    @property
    def compared(self) -> int:
        """On so many inputs both versions gave answers that can be compared."""
        return len(self._answered) - len(self.opaque)

    @property
    def opaque(self) -> list[str]:
        """Of each input on which both gave an object that cannot be compared, its type, or why it cannot."""
        return [what for row in self._answered if (what := opaque_in(*row))]

    @property
    def returned(self) -> int:
        """On so many of those that were compared a version returned something."""
        return sum(_has_kind(row, *_RETURNED) for row in self._answered) - len(self.opaque)

    @property
    def silent(self) -> str:
        """Name the version that returns on no input while the other one does, "" where there is none."""
        n = [sum(row[which][0] in _RETURNED for row in self._answered) for which in (0, 1)]
        return ("old", "new")[n.index(0)] if 0 in n and any(n) else ""

    @property
    def _answered(self) -> list[Row]:
        return [row for row in self.rows.values() if not any(is_no_answer(outcome) for outcome in row)]

    @property
    def ran(self) -> int:
        """So many inputs could be made and were run on both versions."""
        return len(self.rows) - self.not_built

    @property
    def left_out(self) -> int:
        """On so many a version used what is in its package and was not taken into its program."""
        return sum((Kind.EXCEPTION, LEFT_OUT) in row for row in self.rows.values())

    @property
    def not_built(self) -> int:
        """So many could not be made in a version."""
        return sum(any(is_not_built(outcome) for outcome in row) for row in self.rows.values())


class Search:
    """One search, for one pair of versions."""

    def __init__(self, pair: Pair, executor: Executor, compare: Compare, options: DiffOptions, *, lines: Sequence[str]):
        self.pair, self.executor, self.compare, self.options = pair, executor, compare, options
        self.codes = (pair.bundles[0].code, pair.bundles[1].code)
        self.texts = (pair.old.text, pair.new.text)
        self.lines = list(lines)
        self.constants = named_constants(self.lines, [s for bundle in pair.bundles for s in bundle.definitions])
        self.found = Found()
        self._more_batches = _MORE_BATCHES
        self.inside = InDomain(executor, conditions=())
        self.calls: frozenset[str] = frozenset()
        """Argument tuples of the calls that were found."""
        self.sure: frozenset[str] = frozenset()
        """Inputs that the function is known to take."""
        self._noted: set[str] = set()
        """Inputs of which it is known whether they are among these."""
        self.accepts: Accepts = lambda text: True
        """Whether an input fits the types."""
        self.earlier: frozenset[str] = frozenset()
        """Inputs of the signatures before this one."""
        self._last: tuple[Loading, ArgumentTypes, Kinds, InputSource] | None = None
        """What the inputs of the last signature were drawn from."""
        self.note = ""
        """What sets the inputs apart, "" for those that both versions take."""
        self.expectations = Expectations(pair.targets[1], options.expect, executor, self.codes[1])

    def run(self) -> Found:
        """Search; stop once calls that both versions take show a change."""
        found = self.found
        found.failed = self.expectations.failed()
        known = Loading(self.pair.targets[1], (), parameters_of(self.pair.targets[1]))
        found.not_read = tuple(text for text in self.options.examples if not known.reads(text))
        found.notes += [
            f"the arguments of {text} are not known here, so a difference there is not expected; "
            "write them out, of literals and classes"
            for text in self.options.expect
            if not known.reads(text)
        ]
        for signature in signatures(*self.pair.targets):
            self._search(signature)
            if found.load_errors or any(not change.expected for change in found.changes):
                break
        return found

    def _search(self, signature: Signature) -> None:
        options, found = self.options, self.found
        self.note, self.sure, self.accepts = signature.note, frozenset(), lambda text: True
        self._noted, self._last = set(), None
        self.earlier = frozenset(found.rows)
        loading = load(self.pair, signature.parameters, (*options.examples, *options.expect))
        target = self.pair.targets[1]
        conditions = conditions_of(target, options.assume, [p.name for p in signature.parameters])
        code = self.codes[1] if conditions.names - {p.name for p in signature.parameters} else ""
        self.inside = InDomain(self.executor, conditions=conditions.texts, module=code)
        if not signature.parameters:
            self._run(["()"])
            self._conclude()
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
        self.calls = frozenset(loading.calls)
        draws = self._draws(loading, types, seeds)
        everything = None if kinds.guessed else draws.exhaustive("")
        found.exhausted |= everything is not None
        favoured = self._run(list(dict.fromkeys((*loading.calls, *seeds, *(everything or ())))))
        draws.favour([_has_kind(favoured.get(text, ()), Kind.VALUE) for text in draws.seeds])
        best = self._best(seeds)
        made = self._made_for(best, draws, most=_DIRECTED)
        found.n_witnesses += len({*made, *loading.calls})
        self._run(made)
        self._run([text for position in range(options.n) if draws.accepts(text := draws(position, 0))])
        self._follow(draws, loading, types, kinds)
        values = [self._others(p.name, kinds) if p.name in kinds.guessed else [] for p in kinds.parameters]
        odd = self._run(odd_inputs(sorted(best, key=by_length), values))
        self.accepts = lambda text: text in odd or draws.accepts(text)
        self._note_sure(draws, types, kinds)
        self._conclude()
        self._last = loading, types, kinds, draws

    def run_beside(self, reaching: Sequence[str]) -> None:
        """Run inputs beside those that reach the lines that differ, where no other shows a change."""
        if self._last is None or self.found.exhausted:
            return
        loading, types, kinds, draws = self._last
        starts = [text for text in reaching if draws.accepts(text)]
        if starts:
            self.options.phase("running both versions beside inputs that reach what differs")
            beside = self._draws(loading, types, starts)
            made = [
                *self._made_for(starts, beside, most=_BESIDE),
                *(beside(position, 0) for position in range(_BESIDE)),
            ]
            self._run([text for text in made if draws.accepts(text)])
            self._note_sure(draws, types, kinds)
            doubtful = list(self.found.doubtful)
            self.found.doubtful.clear()
            self._conclude()
            self.found.doubtful[:] = doubtful or self.found.doubtful

    def _made_for(self, starts: Sequence[str], draws: InputSource, *, most: int) -> list[str]:
        """Return inputs for the lines that differ that fit the types."""
        texts = texts_in([*self.lines, *self.constants])
        made = boundary_inputs(draws, starts, texts, most=most) if isinstance(draws, TypedInputs) else ()
        return [text for text in made if draws.accepts(text)]

    def _note_sure(self, draws: InputSource, types: ArgumentTypes, kinds: Kinds) -> None:
        """Note what the function is known to take: known calls, and what leaves out all whose types are guessed."""
        guessed, new = {*kinds.guessed}, self.found.rows.keys() - self._noted
        given = {text: {name for name, _ in types.named_values(arguments_of(text) or ())} for text in new}
        known = {text for text, names in given.items() if not guessed & names and draws.accepts(text)}
        self._noted |= new
        self.sure |= self.calls | known

    def _follow(self, draws: InputSource, loading: Loading, types: ArgumentTypes, kinds: Kinds) -> None:
        """Run inputs made of what the versions compare, until one shows a difference or nothing new is compared.

        Then those beside all on which something new was compared.
        """
        if not isinstance(draws, TypedInputs):
            return

        def run(made: list[str]) -> list[str] | None:
            rows = self._run(made)
            self._note_sure(draws, types, kinds)
            shows = any(self._weigh(text, row) == "counts" for text, row in rows.items())
            answered = [text for text, row in rows.items() if _has_kind(row, Kind.VALUE)]
            return None if shows else answered or list(rows)

        starts, feedback = run(list(self.found.rows)), feedback_of(draws, self.executor, self.codes, key="diff")
        if starts and feedback.search(starts, run):
            beside = self._draws(loading, types, feedback.kept)
            self._run([text for position in range(_KEPT) if draws.accepts(text := beside(position, 0))])

    def _others(self, name: str, kinds: Kinds) -> list[Any]:
        """Return values of other types for a parameter of which nothing is known.

        Also where code looks texts up in it, or tells types apart.
        """
        functions = [target.function for target in self.pair.targets]
        tells = {*asked_kinds(name, functions)} - {"None"} or any(f.name in OPERATORS for f in functions)
        told, unknown = _TOLD_APART if tells else (), _ANY if name in kinds.unknown else ()
        return [*dicts_of(asked_keys(name, functions)), *told, *unknown]

    def _best(self, seeds: Sequence[str]) -> list[str]:
        """Return the seeds on which a version returns first: far from them all raise."""
        good = [text for text in seeds if _has_kind(self.found.rows.get(text, ()), Kind.VALUE)]
        return list(dict.fromkeys([*good, *seeds])) if len(good) < 5 else good

    def _seeds(self, loading: Loading, types: ArgumentTypes) -> list[str]:
        try:
            return list(loading.seeds(types, typed=True, seed=self.options.seed, columns=loading.columns))
        except WrongUsage as e:
            self.found.notes.append(str(e))
            return []

    def _draws(self, loading: Loading, types: ArgumentTypes, seeds: Sequence[str]) -> InputSource:
        task = replace(self.executor.task, seed_inputs=tuple(seeds))
        differing = [*self.lines, *self.constants]
        codes = [*self.texts, *loading.codes, *differing]
        own = [ast.unparse(statement) for bundle in self.pair.bundles for statement in bundle.own]
        return check_inputs(
            task, types, codes, seed=self.options.seed, columns=loading.columns, beside=own, texts=texts_in(differing)
        )

    def _answered(self, texts: Sequence[str]) -> list[bool]:
        rows = self._run(texts)
        return [_has_kind(rows.get(text, ()), *_RETURNED) for text in texts]

    def _run(self, texts: Sequence[str]) -> dict[str, Row]:
        """Run both versions on those inputs inside the domain that are new; return what is known of all."""
        rows = self.found.rows
        new = [text for text in dict.fromkeys(texts) if text not in rows]
        new = [text for text, inside in zip(new, self.inside(new), strict=True) if inside]
        for start in range(0, len(new), _BATCH):
            self._note_loading(self._run_batch(new[start : start + _BATCH]))
        slow = {_shape(text) for text in new if _has_kind(rows[text], Kind.TIMEOUT)}
        skipped = [text for text in new if _has_kind(rows[text], Kind.SKIPPED)]
        skipped = [text for text in skipped if _shape(text) not in slow] or skipped
        starts = range(0, len(skipped), _AGAIN)[: self._more_batches]
        self._more_batches -= len(starts)
        for start in starts:
            self._run_batch(skipped[start : start + _AGAIN])
        return {text: rows[text] for text in texts if text in rows}

    def _run_batch(self, batch: Sequence[str]) -> Sequence[Row]:
        found = [(row[0], row[1]) for row in self.executor.run(self.codes, batch).rows]
        self.found.rows.update(zip(batch, found, strict=True))
        return found

    def _note_loading(self, rows: Sequence[tuple[Outcome, ...]]) -> None:
        errors = tuple(
            f"the {name} version does not load: {own[0][1]}"
            for name, own in zip(("old", "new"), zip(*rows, strict=True), strict=False)
            if all(kind == Kind.LOAD_ERROR for kind, _ in own)
        )
        self.found.load_errors = errors or self.found.load_errors

    def _weigh(self, text: str, row: Row) -> Weight:
        if self.note and text not in self.earlier and {kind for kind, _ in row} == {Kind.VALUE, Kind.EXCEPTION}:
            refused = next(outcome for outcome in row if outcome[0] == Kind.EXCEPTION)
            if name_of(refused) == "TypeError":  # the version does not take the parameter
                return "counts"
        weight = self.compare.weigh(*row, sure=text in self.sure)
        raised = [name_of(outcome) for outcome in row if outcome[0] == Kind.EXCEPTION]
        is_huge = _HUGE.search(text) is not None and not self.compare.raised.issuperset(raised)
        return "doubtful" if weight == "counts" and is_huge and text not in self.calls else weight

    def _conclude(self) -> None:
        """Confirm the differences and shrink the input of each kind."""
        found = self.found
        weights = {
            text: self._weigh(text, row)
            for text, row in found.rows.items()
            if text in self.sure or self.accepts(text)  # not those of kinds that were tried and dropped
        }
        left_out = {text for text in weights if _says_nothing(found.rows[text])}
        few = found.compared < _BATCH // 5
        found.unanswered = sum(
            weight == "nothing" and (few or text not in left_out) for text, weight in weights.items()
        )
        sorts: tuple[tuple[Weight, list[Change]], ...] = (("counts", found.changes), ("doubtful", found.doubtful))
        for weight, into in sorts:
            texts = [text for text, each in weights.items() if each == weight]
            confirmed = self._confirmed(texts)
            if confirmed and (weight == "counts" or not found.changes):
                self.options.phase("seeking the smallest input that shows the change")
                into += self._smallest(confirmed, weight)
            if weight == "counts":
                found.n_differing = len(texts) if found.changes else 0

    def _confirmed(self, texts: Sequence[str]) -> list[str]:
        """Return the inputs on which both versions do what they did when they are run again; if none, all."""
        few = sorted(texts, key=by_length)[:_BATCH]
        if not few:
            return []
        ran = self.executor.run(self.codes, few)
        same = [
            text
            for text, row in zip(few, ran.rows, strict=True)
            if all(not self.compare.differ(a, b) for a, b in zip(row, self.found.rows[text], strict=True))
        ]
        self.found.unstable |= len(same) < len(few)
        return same or few

    def _smallest(self, texts: Sequence[str], weight: Weight) -> list[Change]:
        """Return the smallest input of each kind of difference."""
        groups: dict[object, list[str]] = {}
        for text in texts:
            groups.setdefault(_sort_of(self.found.rows[text]), []).append(text)
        changes: dict[str, Change] = {}
        ordered = sorted(groups.values(), key=lambda group: (self._rank(group[0]), min(map(len, group)), -len(group)))
        for group in ordered:
            text = self._first_call(group, weight) if len(changes) < _MAX_CHANGES else ""
            if text:
                change = self._shrunk(text, group, weight)
                changes.setdefault(change.arguments, change)
        return list(changes.values())

    def _first_call(self, group: Sequence[str], weight: Weight) -> str:
        """Return an input on which the versions differ at the first call, twice, or "".

        What earlier calls leave in a module, in a cache or a counter, is not in an input that is shown.
        """
        pinned = self.expectations.inputs
        ordered = sorted(group, key=lambda text: (text in pinned, by_length(text)))
        for text in ordered[:: len(ordered) // _ALONE + 1]:
            old, new, *again = self.executor.run([*self.codes, *self.codes], [text]).rows[0]
            row = (old, new)
            if any(self.compare.differ(a, b) for a, b in zip(row, again, strict=True)):
                break
            if _sort_of(row) == _sort_of(self.found.rows[text]) and self._weigh(text, row) == weight:
                self.found.rows[text] = row
                return text
        self.found.unstable = True
        return ""

    def _rank(self, text: str) -> int:
        """Return 0 where a difference speaks for itself: values, and exceptions that a version raises by name."""
        row = self.found.rows[text]
        raised = [name_of(outcome) for outcome in row if outcome[0] == Kind.EXCEPTION]
        return int(any(name not in self.compare.raised for name in raised))

    def _shrunk(self, text: str, group: Sequence[str], weight: Weight) -> Change:
        """Return the change on the smallest input that shows it; ``text`` does, at the first call."""
        sort = _sort_of(self.found.rows[text])
        typed = self.sure.issuperset(group)

        def shows(one: Outcome, other: Outcome) -> bool:
            if _sort_of((one, other)) != sort:
                return False
            if self.note and weight == "counts":
                return self.compare.differ(one, other)
            return self.compare.weigh(one, other, sure=typed) == weight

        duel = Duel(self.executor, self.codes, shows, self.inside)
        pinned = self.expectations.inputs
        left = [text for text in group if text not in pinned]
        shrunk = duel.smallest(left, (), lambda text: self.accepts(text) and text not in pinned) if left else None
        row, minimal, expected = self.found.rows[text], False, not left and self.expectations.holds(text)
        if shrunk is not None and shows(*duel.outcomes(shrunk.arguments)):
            text, minimal, row = shrunk.arguments, shrunk.minimal, duel.outcomes(shrunk.arguments)
        target = self.pair.targets[1]
        return Change(
            arguments=text,
            call=spelled_method(target.entry_point, text, target.kind),
            outcomes=(plain(row[0]), plain(row[1])),
            n_nodes=simplicity(read_literal(text))[0] - 1,
            minimal=minimal,
            expected=expected,
            note=self.note,
        )


def _has_kind(row: Iterable[Outcome], *kinds: Kind) -> bool:
    """Tell whether the outcome of a version is of one of these kinds."""
    return any(kind in kinds for kind, _ in row)


def _says_nothing(row: Row) -> bool:
    """Tell whether both versions run out of time, or the arguments could not be made though their classes are there."""
    is_unnamed = any(is_not_built(outcome) and outcome[1].endswith("NameError") for outcome in row)
    return all(kind in _HANGS for kind, _ in row) or (any(map(is_not_built, row)) and not is_unnamed)


def _shape(text: str) -> str:
    """Return an input without its numbers and words: signs, brackets and separators."""
    return _WORDS.sub("a", text)


def _sort_of(row: Row) -> tuple[object, ...]:
    """Return what kind of difference it is: values, or which exception on which side."""
    return tuple(text.partition("(")[0] if kind == Kind.EXCEPTION else kind for kind, text in row)
