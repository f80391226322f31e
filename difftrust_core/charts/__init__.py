"""Tables to Altair charts, for the documentation, the notebooks and the dashboard alike; and nothing else."""

from difftrust_core.charts.ablation import draw_ablation
from difftrust_core.charts.behaviours import draw_clusters, draw_heat_map
from difftrust_core.charts.correlations import draw_correlations
from difftrust_core.charts.costs import draw_costs
from difftrust_core.charts.error_incoherence import draw_error_incoherence
from difftrust_core.charts.false_trust import draw_false_trust
from difftrust_core.charts.mixtures import draw_mixtures
from difftrust_core.charts.models import draw_models
from difftrust_core.charts.ranking import draw_ranking
from difftrust_core.charts.saving import chart_bytes, save_chart
from difftrust_core.charts.signals import draw_auroc, draw_roc
from difftrust_core.charts.workflow import draw_workflow

__all__ = [
    "chart_bytes",
    "draw_ablation",
    "draw_auroc",
    "draw_clusters",
    "draw_correlations",
    "draw_costs",
    "draw_error_incoherence",
    "draw_false_trust",
    "draw_heat_map",
    "draw_mixtures",
    "draw_models",
    "draw_ranking",
    "draw_roc",
    "draw_workflow",
    "save_chart",
]
