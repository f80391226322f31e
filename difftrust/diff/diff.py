"""Compare two versions of a function on inputs made for both, and say whether its behaviour changed."""

import hashlib
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial

from difftrust.check.programs import Executor, open_sandbox
from difftrust.check.report import Undecided
from difftrust.check.verdict import MIN_DISTINCT, one_object
from difftrust.diff.changed_behaviour import Compare, raised_in
from difftrust.diff.comparison import DiffOptions, DiffReport, DiffVerdict
from difftrust.diff.directed import changed_statements, functions_text
from difftrust.diff.pair import Pair, parameters_of, renamed, target_of
from difftrust.diff.reached_places import look_at_places
from difftrust.diff.search import Expectations, Found, Search
from difftrust.diff.version import CALL, Version, bundle_of, load_version, with_class_called
from difftrust.source.closure import Extent
from difftrust.source.conditions import conditions_of
from difftrust.source.target import refuse_deep_nesting
from difftrust.text import unified_diff
from difftrust_core.base.task import Task
from difftrust_core.datasets.entries import signature_of

__all__ = ["DiffOptions", "DiffReport", "Version", "diff", "load_version"]
_NAME = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)*")
_MAX_WHOLE = 100_000
"""Characters of both programs up to which all statements of their modules are tried where those chosen do not load."""


def diff(old: Version, new: Version, options: DiffOptions | None = None) -> DiffReport:
    """Run both versions on inputs that seek a difference and report the smallest on which their behaviour differs.

    Never raises for what the versions do. Raises WrongUsage for an ``expect`` that is no call of the function, and for
    a package of ``allow_imports`` that is not installed.
    """
    options = options or DiffOptions()
    options.phase("reading both versions")
    pair = _pair(old, new, options, extent="reached")
    before, after = (functions_text(bundle.definitions) for bundle in pair.bundles)
    if before == after:
        return judged(pair, options, _pinned(pair, options), difference="")
    found = _searched(pair, options)
    extents: tuple[Extent, ...] = ("whole", "named") if found.load_errors else ("whole",) if found.left_out else ()
    for extent in extents if sum(len(bundle.code) for bundle in pair.bundles) < _MAX_WHOLE else ():
        other = _pair(old, new, options, extent=extent)
        again = _searched(other, options)
        if not again.load_errors:
            found, pair = again, other
            break
    return judged(pair, options, found, difference=_difference(pair))


@refuse_deep_nesting()
def _pair(old: Version, new: Version, options: DiffOptions, *, extent: Extent) -> Pair:
    """Return both versions as programs; both files are known to themselves by one name, that of the new one."""
    old = with_class_called(old, new.target.owner.name) if new.target.owner is not None else old
    awaitable = type(old.target.function) is not type(new.target.function)
    conditions = conditions_of(new.target, options.assume, [p.name for p in parameters_of(new.target)])
    bundle = partial(
        bundle_of,
        allowed=options.allow_imports,
        name=new.module_name,
        extent=extent,
        awaitable=awaitable,
        sets=old.sets | new.sets,
        also=(*_NAME.findall(" ".join((*options.examples, *options.expect))), *conditions.names),
    )
    bundles = (bundle(old), bundle(new))
    targets = (target_of(old, bundles[0]), target_of(new, bundles[1]))
    return Pair(old=old, new=new, bundles=bundles, targets=targets)


def _difference(pair: Pair) -> str:
    """Return the diff of the functions; where these are the same, of what they rest on."""
    old, new = pair.old.text, pair.new.text
    if old == new:
        old, new = (functions_text(bundle.definitions) for bundle in pair.bundles)
    return unified_diff(old, new, ("old", "new"))


def _pinned(pair: Pair, options: DiffOptions) -> Found:
    """Return what running the pins of ``--expect`` alone shows."""
    if not options.expect:
        return Found()
    with _opened(pair, options) as (executor, codes):
        return Found(failed=Expectations(pair.targets[1], options.expect, executor, codes[1]).failed())


def _searched(pair: Pair, options: DiffOptions) -> Found:
    """Return what running both versions shows."""
    with _opened(pair, options) as (executor, _):
        texts = [functions_text(bundle.definitions, idle=bundle.idle) for bundle in pair.bundles]
        raised = raised_in([s for bundle in pair.bundles for s in bundle.definitions if s not in bundle.idle])
        compare = Compare(options.equality, tolerance=options.tolerance, raised=raised)
        search = Search(pair, executor, compare, options, lines=changed_statements(*texts))
        found = search.run()
        if not found.changes and not found.load_errors:
            options.phase("looking whether the lines that differ were reached")
            found.unreached, reaching = look_at_places(pair, executor, found.rows)
            search.run_beside(reaching)
        return found


@contextmanager
def _opened(pair: Pair, options: DiffOptions) -> Iterator[tuple[Executor, list[str]]]:
    """Yield what runs the programs of both versions, and these."""
    codes = [bundle.code for bundle in pair.bundles]
    libraries = dict.fromkeys([*(p for b in pair.bundles for p in b.libraries), *options.allow_imports])
    target = pair.targets[1]
    texts = "|".join(functions_text(bundle.definitions) for bundle in pair.bundles)
    task = Task(
        benchmark="diff",
        task_id=f"diff/{hashlib.blake2b(texts.encode('utf-8', 'replace'), digest_size=6).hexdigest()}",
        entry_point=CALL,
        signature=signature_of(target.function),
        description=target.docstring,
        seed_inputs=(),
    )
    with open_sandbox(task, codes, tuple(libraries), options) as sandbox:
        yield Executor(task, sandbox), codes


_NAMED = 6
"""Lines that no input reached, and that are named."""
_FEW = 5
"""With fewer distinct inputs on which a version returns, nothing is decided, unless the function takes no more."""


_FEW_OPAQUE = 0.02
"""Up to this share of the results that were compared, those that cannot be are only noted."""

_LOADING = {
    "timeout": "run it again where the machine is less busy, or compare a function whose file loads faster",
    "FileNotFoundError": "compare a function whose file reads no other file: the sandbox holds none",
}
"""What helps where a version does not load, by what is said of it."""
_UNANSWERED = {
    False: (
        "gave no answer in time, or used a package that is not here",
        "allow the package with --allow-import, or give smaller calls with --example",
    ),
    True: (
        "could not make the arguments",
        "compare what makes them, or give calls that both versions take with --example",
    ),
}
"""Why an input has no answer, and what helps; whether most could not be made."""


def judged(pair: Pair, options: DiffOptions, found: Found, *, difference: str) -> DiffReport:
    """Return the report of what was found; ``difference`` is empty where both are the same program."""
    doubts = () if not difference else tuple(Undecided(why=why, remedy=remedy) for why, remedy in _doubts(pair, found))
    unexpected = [change for change in found.changes if not change.expected]
    is_open = bool(doubts) and not found.changes
    verdict: DiffVerdict = "changed" if unexpected or found.failed else "undecided" if is_open else "unchanged"
    n = len(found.rows)
    target = pair.targets[1]
    return DiffReport(
        old=pair.old.where,
        new=pair.new.where,
        entry_point=target.entry_point,
        path=str(pair.new.path),
        line=pair.new.target.function.lineno,
        verdict=verdict,
        n=n,
        n_distinct=n,
        n_witnesses=min(found.n_witnesses, n),
        n_differing=found.n_differing,
        seed=options.seed,
        changes=tuple(found.changes),
        difference=difference,
        undecided=doubts if verdict == "undecided" else (),
        statement=_statement(verdict, found, doubts, same=not difference),
        next_step=_next_step(verdict, found, doubts),
        notes=tuple(_notes(pair, found)),
        failed_expectations=found.failed,
    )


def _doubts(pair: Pair, found: Found) -> Iterator[tuple[str, str]]:
    """Yield each reason to decide nothing, and what would mend it."""
    if found.load_errors:
        for error in found.load_errors:
            mend = next((remedy for said, remedy in _LOADING.items() if said in error), "")
            yield (error, mend or "correct the file, or allow what it imports with --allow-import")
        return
    give_calls = f'give calls with --example "{pair.targets[1].entry_point}(...)"'
    if not found.ran:
        yield "no known input is accepted by the function", give_calls
        return
    for text in found.not_read:
        yield (
            f"the arguments of {text} are not known here, so it was not run",
            "write them out, of literals and classes",
        )
    if found.ran < _FEW and parameters_of(pair.targets[1]) and not found.changes and not found.exhausted:
        yield f"only {found.ran} known inputs are accepted by the function", give_calls
    if found.compared and not found.returned and not found.opaque:
        yield (
            f"both versions raise the same on all {found.compared} inputs",
            "give a call on which they return with --example",
        )
    elif found.returned < MIN_DISTINCT <= found.compared and not found.opaque:
        yield (
            f"both versions raise on all but {found.returned} of {found.compared} inputs",
            "give calls on which they return with --example",
        )
    if found.left_out:
        yield (
            f"on {found.left_out} inputs a version looks up a name of its package that was not taken for part of it",
            "compare a function that names what it uses",
        )
    if len(found.opaque) > found.returned * _FEW_OPAQUE:
        yield _opaque(found), "compare a function that calls it and returns what the object holds"
    if found.unanswered and not found.changes:
        share = found.unanswered / max(1, len(found.rows))
        if share > 0.5 or found.returned < _FEW:
            why, remedy = _UNANSWERED[found.not_built > found.unanswered / 2]
            yield f"on {found.unanswered} of {len(found.rows)} inputs a version {why}", remedy
    if found.unreached and found.returned:
        more = len(found.unreached) - _NAMED
        lines = "; ".join(found.unreached[:_NAMED]) + (f"; and {more} more" if more > 0 else "")
        yield f"no input reached what differs: {lines}", "give a call that gets there with --example"
    for doubt in one_object(pair.targets[1].entry_point, pair.bundles[1].code, found.rows):
        yield doubt.why, doubt.remedy
    if found.silent and found.doubtful:
        yield (
            f"the {found.silent} version raises on all inputs, which it may not allow, and the other does not",
            give_calls,
        )
    if found.unstable and not found.changes:
        yield (
            "a version differs from itself when run again on the same input",
            "pass time and random numbers as arguments",
        )


def _opaque(found: Found) -> str:
    kinds = ", ".join(list(dict.fromkeys(found.opaque))[:_FEW])
    return f"on {len(found.opaque)} of {found.ran} inputs both versions give what cannot be compared: {kinds}"


def _statement(verdict: str, found: Found, doubts: Sequence[Undecided], *, same: bool) -> str:
    if found.failed:
        return "The new version does not do what --expect says."
    if same:
        return "Both versions are the same program, up to formatting, comments and docstrings."
    if verdict == "changed":
        return f"Behaviour changed: the versions differ on {found.n_differing} of {len(found.rows)} inputs."
    if verdict == "undecided":
        return f"Undecided: {'; '.join(doubt.why for doubt in doubts)}."
    if found.changes:
        return "Behaviour changed only where it was expected."
    return f"No difference found on {found.compared} inputs; on {found.returned} of them a version returns."


def _next_step(verdict: str, found: Found, doubts: Sequence[Undecided]) -> str:
    if verdict == "undecided":
        return doubts[0].remedy
    if found.failed:
        return "correct the new version, or the expectation"
    if verdict == "changed":
        return "if a change is intended, pin it with --expect; otherwise correct the new version"
    return "nothing to do"


def _notes(pair: Pair, found: Found) -> Iterator[str]:
    for bundle in pair.bundles[1:]:
        if bundle.missing:
            yield f"not installed here, so what uses it is not compared: {', '.join(bundle.missing)}"
        if bundle.without:
            yield f"not installed here, so what is done without it is compared: {', '.join(bundle.without)}"
    owner = pair.old.target.owner
    given, now = (where.rpartition("::")[2].rpartition(".")[0] for where in (pair.old.where, pair.new.where))
    if given and owner is not None and given != now == owner.name:
        yield f"the class {given} is now called {now}: it is compared under that name"
    for one, other in renamed(*pair.targets):
        yield f"the parameter {one} is now called {other}: calls that give it by name need the new name"
    for change in found.doubtful[:1]:
        yield (
            f"the versions also differ on {change.arguments}, which the function may not allow: "
            f"{change.outcomes[0][1]} before, {change.outcomes[1][1]} now"
        )
    if 0 < len(found.opaque) <= found.returned * _FEW_OPAQUE:
        yield _opaque(found)
    if found.unstable:
        yield "a version differs from itself when run again; inputs on which it does are left out"
    yield from found.notes
