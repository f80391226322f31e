"""Every table by its name: those of the paper and this project's own."""

from collections.abc import Callable
from typing import Final

from difftrust_core.exceptions import WrongUsage
from difftrust_core.report.agreement import make_agreement, make_guarantee
from difftrust_core.report.by_tests import make_tests
from difftrust_core.report.policies import make_policies
from difftrust_core.report.questions import make_questions
from difftrust_core.report.rankings import make_rankings, make_selection
from difftrust_core.report.readings import make_draws, make_readings, make_suspects, make_undetected
from difftrust_core.report.shown import Table
from difftrust_core.report.tables import TABLES as OF_THE_PAPER
from difftrust_core.report.tables import TableRequest
from difftrust_core.report.witnesses import make_witnesses

TABLES: Final[dict[str, Callable[[TableRequest], Table]]] = {
    **OF_THE_PAPER,
    "selection": make_selection,
    "questions": make_questions,
    "rankings": make_rankings,
    "readings": make_readings,
    "undetected": make_undetected,
    "suspects": make_suspects,
    "draws": make_draws,
    "agreement": make_agreement,
    "guarantee": make_guarantee,
    "policies": make_policies,
    "tests": make_tests,
    "witnesses": make_witnesses,
}


def make_table(name: str, request: TableRequest) -> Table:
    """Return a table by its name. Raises WrongUsage for another name, NoStore if there is no data."""
    if name not in TABLES:
        raise WrongUsage(f"table is one of {', '.join(TABLES)}, got {name!r}")
    return TABLES[name](request)
