"""Any number of candidates, of inputs, any mixture of models: measures from behaviours alone, and nothing else.

``compact`` holds one task's behaviours, ``pool`` those of a benchmark and who has which; ``columns`` finds what tells a
coder's apart, ``counting`` counts all tasks in one pass, ``subsets`` every choice of candidates at once, ``measures``
turns counts into tables.
"""

from difftrust_core.ablation.compact import MISSING, NO_KIND, CompactTask, compress, expand
from difftrust_core.ablation.counting import Class, Counts, TaskCount, count
from difftrust_core.ablation.curves import curves
from difftrust_core.ablation.measures import KIND_COLUMNS, SUBSET_SCHEMA, TASK_SCHEMA, ablation, shares, summary
from difftrust_core.ablation.mixtures import MIXTURE_SCHEMA, mixture_summary, mixtures
from difftrust_core.ablation.pool import Coder, Members, Pool
from difftrust_core.ablation.prices import SAME_PRICE_SCHEMA, same_price
from difftrust_core.ablation.settings import SETTING_SCHEMA, recorded, settings_frame, whole_rows
from difftrust_core.ablation.subsets import OverSubsets, over_models, over_subsets

__all__ = [
    "KIND_COLUMNS",
    "MISSING",
    "MIXTURE_SCHEMA",
    "NO_KIND",
    "SAME_PRICE_SCHEMA",
    "SETTING_SCHEMA",
    "SUBSET_SCHEMA",
    "TASK_SCHEMA",
    "Class",
    "Coder",
    "CompactTask",
    "Counts",
    "Members",
    "OverSubsets",
    "Pool",
    "TaskCount",
    "ablation",
    "compress",
    "count",
    "curves",
    "expand",
    "mixture_summary",
    "mixtures",
    "over_models",
    "over_subsets",
    "recorded",
    "same_price",
    "settings_frame",
    "shares",
    "summary",
    "whole_rows",
]
