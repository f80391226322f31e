"""Tables to Altair charts, for the documentation, the notebooks and the dashboard alike; and nothing else."""

from difftrust_core.charts.ranking import draw_ranking

__all__ = ["draw_ranking"]
