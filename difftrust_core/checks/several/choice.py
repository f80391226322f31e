"""Which functions are checked together: those that files and folders name, or those of them that changed."""

import os
from collections.abc import Sequence
from pathlib import Path

from difftrust_core.checks.source.changed import changed_functions
from difftrust_core.checks.source.git import top_of
from difftrust_core.checks.source.targets import Skipped, Targets, find_targets
from difftrust_core.exceptions import WrongUsage


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
        found=tuple(where for where in targets.found if _key(where) in changed),
        skipped=(*(s for s in targets.skipped if _key(s.where) in changed), *unreadable),
    )


def _key(where: str) -> tuple[Path, str]:
    path, _, name = where.rpartition("::")
    return Path(path).resolve(), name
