"""Every table by its name: those of the paper and this project's own."""

from collections.abc import Callable
from functools import partial
from typing import Final

from difftrust.results import Table
from difftrust.tables.agreement import make_agreement, make_guarantee
from difftrust.tables.by_tests import make_tests
from difftrust.tables.grid import PARTS
from difftrust.tables.paper_tables import make_table_2, make_table_3, make_table_4
from difftrust.tables.policies import make_policies
from difftrust.tables.questions import make_questions
from difftrust.tables.rankings import make_rankings, make_selection
from difftrust.tables.readings import make_alarms, make_draws, make_readings, make_suspects, make_undetected
from difftrust.tables.request import TableRequest
from difftrust_core.exceptions import WrongUsage

TABLES: Final[dict[str, Callable[[TableRequest], Table]]] = {
    "2": make_table_2,
    "3": make_table_3,
    **{part: partial(make_table_3, part=part) for part in PARTS},
    "4": make_table_4,
    "selection": make_selection,
    "questions": make_questions,
    "rankings": make_rankings,
    "readings": make_readings,
    "undetected": make_undetected,
    "alarms": make_alarms,
    "suspects": make_suspects,
    "draws": make_draws,
    "agreement": make_agreement,
    "guarantee": make_guarantee,
    "policies": make_policies,
    "tests": make_tests,
}


def make_table(name: str, request: TableRequest) -> Table:
    """Return a table by its name. Raises WrongUsage for another name, NoStore if there is no data."""
    if name not in TABLES:
        raise WrongUsage(f"table is one of {', '.join(TABLES)}, got {name!r}")
    return TABLES[name](request)
