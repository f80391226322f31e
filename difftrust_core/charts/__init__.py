"""Tables to Altair charts, for the documentation, the notebooks and the dashboard alike; and nothing else."""

from difftrust_core.charts.ablation import ablation_drawing, draw_ablation
from difftrust_core.charts.behaviours import clusters_drawing, draw_clusters, draw_heat_map, heat_map_drawing
from difftrust_core.charts.correlations import correlations_drawing, draw_correlations
from difftrust_core.charts.costs import costs_drawing, draw_costs
from difftrust_core.charts.drawing import Drawing
from difftrust_core.charts.error_incoherence import Selection, draw_error_incoherence, error_incoherence_drawing
from difftrust_core.charts.false_trust import draw_false_trust
from difftrust_core.charts.mixtures import draw_mixtures
from difftrust_core.charts.models import draw_models, models_drawing
from difftrust_core.charts.ranking import draw_ranking, ranking_drawing
from difftrust_core.charts.saving import chart_bytes, save_chart
from difftrust_core.charts.signals import auroc_drawing, draw_auroc, draw_roc, roc_drawing
from difftrust_core.charts.workflow import draw_workflow

__all__ = [
    "Drawing",
    "Selection",
    "ablation_drawing",
    "auroc_drawing",
    "chart_bytes",
    "clusters_drawing",
    "correlations_drawing",
    "costs_drawing",
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
    "error_incoherence_drawing",
    "heat_map_drawing",
    "models_drawing",
    "ranking_drawing",
    "roc_drawing",
    "save_chart",
]
