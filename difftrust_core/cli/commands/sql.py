"""`difftrust sql`: ask a store in SQL."""

from typing import Annotated

import typer

from difftrust_core.base.records import References
from difftrust_core.cli.echo import echo
from difftrust_core.cli.options import (
    EqualityOption,
    Format,
    FormatOption,
    InputsOption,
    ReferencesOption,
    StoreOption,
    reading_of,
)
from difftrust_core.metrics.equality import Equality

commands = typer.Typer()


@commands.command(epilog="""Example: difftrust sql "select model, avg(error) from estimates group by 1" --store DIR""")
def sql(
    query: Annotated[str, typer.Argument(help="A SELECT on the views of the store.")],
    store: StoreOption,
    format_: FormatOption = Format.TABLE,
    equality: EqualityOption = Equality.PAPER,
    inputs: InputsOption = None,
    references: ReferencesOption = References.PUBLISHED,
) -> None:
    """Ask a store anything.

    Views: tasks, candidates, programs, inputs, outcomes, behaviours, executions, estimates, audits,
    witnesses.
    """
    from difftrust_core.analysis.queries import query_sql
    from difftrust_core.report.render import render
    from difftrust_core.store.store import Store

    answer = query_sql(Store.open(store, reading_of(inputs, references)), query, equality=equality)
    echo(render(answer, format_.value))
