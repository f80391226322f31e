"""Import, generate, execute, estimate: long steps that resume; the only place that spreads work over processes.

Each step is loaded when it is first asked for, so that a worker, or a table, starts without what the others need.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from difftrust_core.pipeline.estimation import (
        compute_estimates,
        estimates_are_stale,
        open_pools,
        refresh_estimates,
    )
    from difftrust_core.pipeline.execution import Execution, execute
    from difftrust_core.pipeline.export import export_results
    from difftrust_core.pipeline.generation import (
        Estimate,
        Generation,
        GenerationOptions,
        estimate_generation,
        generate,
    )
    from difftrust_core.pipeline.recorded import Import, add_candidates, import_source, selection_of
    from difftrust_core.pipeline.reproduction import reproduce

__all__ = [
    "Estimate",
    "Execution",
    "Generation",
    "GenerationOptions",
    "Import",
    "add_candidates",
    "compute_estimates",
    "estimate_generation",
    "estimates_are_stale",
    "execute",
    "export_results",
    "generate",
    "import_source",
    "open_pools",
    "refresh_estimates",
    "reproduce",
    "selection_of",
]

_NAMES = {
    "estimation": ("compute_estimates", "estimates_are_stale", "open_pools", "refresh_estimates"),
    "execution": ("Execution", "execute"),
    "export": ("export_results",),
    "generation": ("Estimate", "Generation", "GenerationOptions", "estimate_generation", "generate"),
    "recorded": ("Import", "add_candidates", "import_source", "selection_of"),
    "reproduction": ("reproduce",),
}
_MODULE_OF = {name: module for module, names in _NAMES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULE_OF[name]}"), name)
