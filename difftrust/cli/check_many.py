"""`difftrust check` of several functions: one after the other, those that were judged before from what was kept."""

import os
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from difftrust.check.check import check
from difftrust.check.options import PreparedCheck
from difftrust.check.prepare import prepare
from difftrust.check.verdict_cache import digest_of_check
from difftrust.cli.judgement import CheckRequest, say, undecided_on_failure
from difftrust.cli.printing import echo
from difftrust.cli.several import Case, Several, Tell, say_skipped
from difftrust.diff.changed_functions import changed_functions
from difftrust.diff.revisions import top_of
from difftrust.outputs.findings import Finding, exit_status_of, finding_of_check, refuse
from difftrust.outputs.formats import render
from difftrust.source.target import Skipped, Targets, find_targets
from difftrust_core.exceptions import TooFewCandidates, WrongUsage


def candidate_folders(root: Path, functions: Sequence[str]) -> dict[str, Path | None]:
    """Return the folder below ``root`` with the candidates of each function; None where it has none.

    ``DIR/area/*.py`` for ``area`` and ``DIR/Box.add/*.py`` for a method; ``DIR/shapes.area/*.py``, or the path itself,
    ``DIR/pkg/shapes.py/area/*.py``, where several files have a function of that name.
    Raises WrongUsage if all lack one.
    """
    if not root.is_dir():
        raise WrongUsage(f"expected a folder of candidates, {root} cannot be read; change --candidates")
    counts = Counter(name for where in functions for name in _names_of(where))

    def find(where: str) -> Path | None:
        places = (root / name for name in _names_of(where) if counts[name] == 1)
        return next((place for place in places if place.is_dir()), None)

    found = {where: find(where) for where in functions}
    if not any(found.values()):
        one = functions[0].rpartition("::")[2]
        direct = f", found {root}/*.py" if any(root.glob("*.py")) else ", found none"
        raise WrongUsage(
            f"expected a folder of candidates for each function, such as {root / one}/*.py{direct}; "
            "name one function, or make such folders"
        )
    return found


def _names_of(where: str) -> list[str]:
    """Return the names that a function's folder may have, the most exact first."""
    path, _, function = where.rpartition("::")
    exact = [] if Path(path).is_absolute() or ".." in Path(path).parts else [f"{Path(path)}/{function}"]
    return [*exact, f"{Path(path).stem}.{function}", function]


def _without_candidates(targets: Targets, what: Sequence[str], root: Path) -> Targets:
    """Return the functions without those of the candidates in their folders below ``root``; named ones stay."""
    places = [*targets.found, *(skipped.where for skipped in targets.skipped)]
    names = {name for where in places if "::" in where for name in _names_of(where)}
    folders = {(root / name).resolve() for name in names if (root / name).is_dir()}

    def is_candidate(where: str) -> bool:
        return where not in what and Path(where.partition("::")[0]).resolve().parent in folders

    return Targets(
        found=tuple(where for where in targets.found if not is_candidate(where)),
        skipped=tuple(skipped for skipped in targets.skipped if not is_candidate(skipped.where)),
    )


def check_many(what: Sequence[str], request: CheckRequest, *, since: str = "", again: bool = False) -> int:
    """Check every function that ``what`` names, print one summary and return the exit status.

    ``since``: a git revision; only functions that changed since then. ``again``: what is kept is judged anew. Raises
    WrongUsage for options of one function, and where nothing is there to check.
    """
    _refuse_options_of_one(request)
    with undecided_on_failure():
        targets = choose_targets(what, since)
        if request.candidates is not None:
            targets = _without_candidates(targets, what, request.candidates)
        checking, several = _Checking(what, targets.found, request), Several("checking", "check", again=again)
        faults = [refuse(skipped.where, skipped.why) for skipped in targets.skipped if skipped.is_fault]
        found = [*several.judge(checking.cases), *faults]
        say_skipped([*targets.skipped, *checking.skipped])
        if several.n_kept:
            say(f"{several.n_kept} of {len(found)} were checked before and are unchanged; --again checks all")
        if since and not found:
            say(f"no function changed since {since}")
        echo(render(found, request.style))
    return exit_status_of(found)


def _refuse_options_of_one(request: CheckRequest) -> None:
    given = {
        "--out": request.output,
        "--pin": request.pins,
        "--example": request.examples,
        "--assume": request.assume,
    }
    for option, value in given.items():
        if value:
            raise WrongUsage(f"expected one function with {option}, got several; name it as module.py::function")
    if request.candidates is None and not request.models:
        raise WrongUsage("expected --model or --candidates, got neither; name an LLM, or a folder of programs")


class _Checking:
    """Several functions on their way: where their candidates are, and what is left to spend."""

    def __init__(self, what: Sequence[str], functions: Sequence[str], request: CheckRequest):
        self._request, self._left, folder = request, request.max_usd, request.candidates
        self._folders = candidate_folders(folder, functions) if folder is not None and functions else {}
        lacking = [where for where, found in self._folders.items() if found is None and where not in what]
        self.skipped = [Skipped(where=where, why=f"no candidates in {folder}") for where in lacking]
        """Functions without candidates that no one named by themselves."""
        self.cases = [
            Case(where=where, path=where.rpartition("::")[0], prepare=partial(self._prepare, where))
            for where in functions
            if where not in lacking
        ]

    def _prepare(self, where: str, tell: Tell) -> tuple[str, Callable[[], Finding]]:
        prepared = self._prepared(where, tell)
        return digest_of_check(where, prepared), lambda: finding_of_check(check(prepared), where)

    def _prepared(self, where: str, tell: Tell) -> PreparedCheck:
        root, folder = self._request.candidates, self._folders.get(where)
        if root is not None and folder is None:
            missing = root / _names_of(where)[-1]
            raise WrongUsage(f"expected candidates in {missing}, found none; make that folder")
        try:
            prepared = prepare(where, replace(self._request, candidates=folder, max_usd=self._left, say=tell))
        except TooFewCandidates as e:
            if self._left is not None and self._left <= 0:
                raise WrongUsage(f"not sampled: --max-usd {self._request.max_usd} is spent; allow more") from None
            raise e from None
        if self._left is not None:
            self._left = max(0.0, self._left - prepared.usd)
        return replace(prepared, options=replace(prepared.options, say=lambda line: None))


def choose_targets(what: Sequence[str], since: str = "") -> Targets:
    """Return the functions that ``what`` names, with ``since`` those that changed after that revision.

    With ``since``, nothing named is the whole repository, and what is left out is only named where it changed. Raises
    WrongUsage where nothing is there to check, but not for want of a change.
    """
    if since:
        return _changed(what, since)
    targets = find_targets(what)
    if not targets.found and not any(skipped.is_fault for skipped in targets.skipped):
        why = f" ({len(targets.skipped)} left out: {targets.skipped[0].why})" if targets.skipped else ""
        raise WrongUsage(f"expected functions in {', '.join(what)}, found none{why}; name one as module.py::function")
    return targets


def _changed(what: Sequence[str], since: str) -> Targets:
    here = Path.cwd()
    changes = changed_functions(since, None, [text.rpartition("::")[0] or text for text in what])
    top = top_of(here)
    there = [change for change in changes.functions if change.kind != "removed"]
    changed = {((top / change.path).resolve(), change.entry_point) for change in there}
    files = dict.fromkeys(os.path.relpath((top / change.path).resolve(), here.resolve()) for change in there)
    targets = find_targets(what or list(files)) if there else Targets(found=(), skipped=())
    unreadable = [
        Skipped(
            where=os.path.relpath(top / path, here), why=f"cannot be read as Python here or at {since}", is_fault=True
        )
        for path in changes.unreadable
    ]
    return Targets(
        found=tuple(where for where in targets.found if _place_of(where) in changed),
        skipped=(*(s for s in targets.skipped if _place_of(s.where) in changed), *unreadable),
    )


def _place_of(where: str) -> tuple[Path, str]:
    path, _, name = where.rpartition("::")
    return Path(path).resolve(), name
