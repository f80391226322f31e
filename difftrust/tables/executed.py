"""How many programs of each coder count: those up to the first that was not executed."""

from functools import lru_cache
from pathlib import Path

from difftrust_core.base.files import FileState
from difftrust_core.base.records import Coder
from difftrust_core.estimates.behaviours import candidate_trees, first_missing
from difftrust_core.estimates.refresh import deciding_files
from difftrust_core.store.store import Store


def executed_up_to(store: Store) -> dict[tuple[str, Coder], int]:
    """Return, by benchmark and coder, how many programs count of those that have more that were not executed.

    That is the lowest index of such a program, on any task that was executed. Empty for a results store.
    """
    if not store.holds("candidates"):
        return {}
    return dict(_executed_up_to(store.root, store.settings().validity, deciding_files(store)))


@lru_cache(maxsize=8)
def _executed_up_to(
    root: Path, validity: str, _written: tuple[FileState, ...]
) -> tuple[tuple[tuple[str, Coder], int], ...]:
    store, ids = Store(root), ["task_id", "tree_id"]
    found = []
    for name in sorted(store.read("candidates")["benchmark"].unique()):
        executed = store.read("executions", {"benchmark": name, "validity": validity}, columns=ids)
        missing = first_missing(candidate_trees(store, name), executed).sort("model", "temperature")
        found += [((name, (model, temperature)), first) for model, temperature, first in missing.iter_rows()]
    return tuple(found)
