"""The table of tasks detected on measured inputs, and of those that witness inputs show."""

from difftrust_core.analysis.witnesses import witness_table, witnessed_tasks
from difftrust_core.exceptions import NoStore
from difftrust_core.report.shown import Table
from difftrust_core.report.tables import TableRequest, estimates_for, range_of


def make_witnesses(request: TableRequest) -> Table:
    """Return the share of tasks whose candidates differ on a measured input, and on a witness, side by side."""
    estimates, notes = estimates_for(request)
    store = request.open()
    frame = witness_table(estimates, witnessed_tasks(store, estimates, equality=request.equality))
    if frame.is_empty():
        raise NoStore(f"{store.root} holds no witnesses; run `difftrust execute --store {store.root} --witnesses 100`")
    notes += [
        f"detected: some two of the candidates differ on a measured input, all pairs; witnessed: on a witness; "
        f"m = {range_of(estimates['m'])}, n = {range_of(estimates['n'])}, equality {request.equality}",
        "witnesses are sought, not drawn: no error, incoherence or interval counts them",
    ]
    return Table(frame, notes=tuple(notes))
