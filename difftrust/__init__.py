"""See where LLM-written programs are wrong, without an oracle: ``import difftrust as dt``.

``dt.open()`` opens the shipped results, or a store of yours, and answers with tables and figures that show themselves.
Each name is loaded when it is first used. ``docs/api.md`` shows all of them.
"""

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from difftrust.figures.roc_curves import Signals
    from difftrust.pipeline import check, diff, execute, generate, import_candidates, load_benchmark
    from difftrust.questions.ask_in_words import Settled
    from difftrust.results import Benchmark, Figure, Table
    from difftrust.shipped import load_published as published
    from difftrust.study import Study
    from difftrust.study import open_study as open
    from difftrust.tables.audit_table import audit_table as load_audits
    from difftrust.tasks.task_view import TaskView
    from difftrust.verdicts import Check, Diff
    from difftrust_core.exceptions import DifftrustError
    from difftrust_core.metrics.estimates import error, incoherence

__version__ = "0.1.0"
__all__ = [
    "Benchmark",
    "Check",
    "Diff",
    "DifftrustError",
    "Figure",
    "Settled",
    "Signals",
    "Study",
    "Table",
    "TaskView",
    "check",
    "diff",
    "error",
    "execute",
    "generate",
    "import_candidates",
    "incoherence",
    "load_audits",
    "load_benchmark",
    "open",
    "published",
]

_MODULES = {
    "difftrust.figures.roc_curves": ("Signals",),
    "difftrust.pipeline": ("check", "diff", "execute", "generate", "import_candidates", "load_benchmark"),
    "difftrust.questions.ask_in_words": ("Settled",),
    "difftrust.results": ("Benchmark", "Figure", "Table"),
    "difftrust.shipped": ("load_published",),
    "difftrust.study": ("Study", "open_study"),
    "difftrust.tables.audit_table": ("audit_table",),
    "difftrust.tasks.task_view": ("TaskView",),
    "difftrust.verdicts": ("Check", "Diff"),
    "difftrust_core.exceptions": ("DifftrustError",),
    "difftrust_core.metrics.estimates": ("error", "incoherence"),
}
_PUBLIC = {"load_published": "published", "open_study": "open", "audit_table": "load_audits"}
_PLACES = {_PUBLIC.get(name, name): (module, name) for module, names in _MODULES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module, own = _PLACES[name]
    found = getattr(import_module(module), own)
    globals()[name] = found
    return found


class _Api(ModuleType):
    """Keeps ``dt.check`` the function: importing the package of that name would put itself in its place."""

    def __setattr__(self, name: str, value: object) -> None:
        if not (name in _PLACES and isinstance(value, ModuleType)):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Api


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
