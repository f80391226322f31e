"""The verdict on two versions, in words: unchanged, changed or undecided, and what would decide it."""

from collections.abc import Iterator, Sequence

from difftrust_core.checks.versions.known import Pair
from difftrust_core.checks.versions.records import DiffOptions, DiffReport, DiffVerdict, Undecided
from difftrust_core.checks.versions.search import Found
from difftrust_core.checks.versions.signatures import parameters_of, renamed

_FEW = 5
"""With fewer distinct inputs on which a version returns, nothing is decided, unless the function takes no more."""


def judged(pair: Pair, options: DiffOptions, found: Found, *, difference: str) -> DiffReport:
    """Return the report of what was found; ``difference`` is empty where both are the same program."""
    doubts = () if not difference else tuple(_doubts(pair, found))
    unexpected = [change for change in found.changes if not change.expected]
    verdict: DiffVerdict = "unchanged"
    if unexpected or found.failed:
        verdict = "changed"
    elif doubts and not found.changes:
        verdict = "undecided"
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


def _doubts(pair: Pair, found: Found) -> Iterator[Undecided]:
    if found.load_errors:
        for error in found.load_errors:
            yield Undecided(why=error, remedy="mend the file, or allow what it imports with --allow-import")
        return
    if not found.ran:
        yield Undecided(
            why="no input is known that the function takes",
            remedy=f'give calls with --example "{pair.targets[1].entry_point}(...)"',
        )
        return
    if found.ran < _FEW and parameters_of(pair.targets[1]) and not found.changes:
        yield Undecided(
            why=f"only {found.ran} inputs are known that the function takes",
            remedy=f'give calls with --example "{pair.targets[1].entry_point}(...)"',
        )
    if not found.returned:
        yield Undecided(
            why=f"both versions raise the same on all {found.ran} inputs",
            remedy="give a call on which they return with --example",
        )
    if found.unanswered and not found.changes:
        share = found.unanswered / max(1, len(found.rows))
        if share > 0.5 or found.returned < _FEW:
            yield Undecided(
                why=f"on {found.unanswered} of {len(found.rows)} inputs a version gave no answer in time, or used a "
                "package that is not here",
                remedy="allow the package with --allow-import, or give smaller calls with --example",
            )
    if found.unreached and found.returned:
        yield Undecided(
            why=f"no input reached what differs: {'; '.join(found.unreached)}",
            remedy="give a call that gets there with --example",
        )
    if found.unstable and not found.changes:
        yield Undecided(
            why="a version differs from itself when run again on the same input",
            remedy="make time and chance arguments of the function",
        )


def _statement(verdict: str, found: Found, doubts: Sequence[Undecided], *, same: bool) -> str:
    if same:
        return "Both versions are the same program, up to formatting, comments and docstrings."
    if found.failed:
        return "The new version does not do what is expected of it."
    if verdict == "changed":
        return f"Behaviour changed: the versions differ on {found.n_differing} of {len(found.rows)} inputs."
    if verdict == "undecided":
        return f"Undecided: {'; '.join(doubt.why for doubt in doubts)}."
    if found.changes:
        return "Behaviour changed only where it was expected."
    return f"No difference found on {found.ran} inputs, {found.returned} of which a version returns on."


def _next_step(verdict: str, found: Found, doubts: Sequence[Undecided]) -> str:
    if doubts and verdict == "undecided":
        return doubts[0].remedy
    if found.failed:
        return "mend the new version, or the expectation"
    if verdict == "changed":
        return "if a change is intended, pin it with --expect; otherwise mend the new version"
    return "nothing to do"


def _notes(pair: Pair, found: Found) -> Iterator[str]:
    for bundle in pair.bundles[1:]:
        if bundle.missing:
            yield f"not installed here, so what uses it is not compared: {', '.join(bundle.missing)}"
    for one, other in renamed(*pair.targets):
        yield f"the parameter {one} is now called {other}: calls that give it by name need the new name"
    for change in found.doubtful[:1]:
        yield (
            f"the versions also differ on {change.arguments}, which the function may not allow: "
            f"{change.outcomes[0][1]} before, {change.outcomes[1][1]} now"
        )
    if found.unstable:
        yield "a version differs from itself when run again; inputs on which it does are left out"
    yield from found.notes
