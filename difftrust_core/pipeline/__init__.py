"""Import, generate, execute, estimate: long steps that resume; the only place that spreads work over processes."""

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
