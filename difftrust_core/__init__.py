"""See where LLM-written programs are wrong, without an oracle: ``import difftrust_core as dt``.

``dt.open()`` opens the shipped results, or a store of yours, and answers with tables and figures that show themselves.
Each name is loaded when it is first used. ``docs/api.md`` shows all of them.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from difftrust_core.datasets.published import load_published as published
    from difftrust_core.exceptions import DifftrustError
    from difftrust_core.metrics.estimators import error, incoherence
    from difftrust_core.report.asked import Settled
    from difftrust_core.report.shown import Benchmark, Check, Diff, Figure, Table
    from difftrust_core.report.signals import Signals
    from difftrust_core.report.steps import check, diff, execute, generate, import_candidates, load_benchmark
    from difftrust_core.report.study import Study
    from difftrust_core.report.study import open_study as open
    from difftrust_core.report.task_view import TaskView

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
    "load_benchmark",
    "open",
    "published",
]

_MODULES = {
    "datasets.published": {"published": "load_published"},
    "exceptions": {"DifftrustError": "DifftrustError"},
    "metrics.estimators": {"error": "error", "incoherence": "incoherence"},
    "report.asked": {"Settled": "Settled"},
    "report.shown": {name: name for name in ("Benchmark", "Check", "Diff", "Figure", "Table")},
    "report.signals": {"Signals": "Signals"},
    "report.steps": {
        name: name for name in ("check", "diff", "execute", "generate", "import_candidates", "load_benchmark")
    },
    "report.study": {"Study": "Study", "open": "open_study"},
    "report.task_view": {"TaskView": "TaskView"},
}
_PLACES = {public: (module, name) for module, names in _MODULES.items() for public, name in names.items()}


def __getattr__(name: str) -> Any:
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module, own = _PLACES[name]
    found = getattr(import_module(f"{__name__}.{module}"), own)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
