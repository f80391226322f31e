"""What may tell where an error is without a reference, and how well each does."""

from difftrust_core.signals.auroc import auroc, auroc_difference, auroc_interval, roc
from difftrust_core.signals.comparing import added_table, auroc_table, correlation_table, joined_score, roc_table
from difftrust_core.signals.table import SIGNALS, Signal, behaviour_signals, signals

__all__ = [
    "SIGNALS",
    "Signal",
    "added_table",
    "auroc",
    "auroc_difference",
    "auroc_interval",
    "auroc_table",
    "behaviour_signals",
    "correlation_table",
    "joined_score",
    "roc",
    "roc_table",
    "signals",
]
