"""Tables to Altair charts, for the documentation, the notebooks and the dashboard alike; and nothing else."""

from difftrust_core.charts.correlations import draw_correlations
from difftrust_core.charts.ranking import draw_ranking
from difftrust_core.charts.signals import draw_auroc, draw_roc

__all__ = ["draw_auroc", "draw_correlations", "draw_ranking", "draw_roc"]
