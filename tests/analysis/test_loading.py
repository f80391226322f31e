"""Programs that load only without what follows their entry point, counted as loading or not."""

from pathlib import Path

import numpy as np
import pytest

import difftrust_core as dt
from difftrust_core.analysis.ablation.compact import compress
from difftrust_core.analysis.ablation.loading import strictly_loaded
from difftrust_core.analysis.ablation.measures import ablation
from difftrust_core.analysis.ablation.pool import Pool
from difftrust_core.analysis.estimates import refresh_estimates
from difftrust_core.analysis.queries import query_sql
from difftrust_core.base.records import Load, Reading
from difftrust_core.datasets.published import find_results
from difftrust_core.exceptions import WrongUsage
from difftrust_core.execution.execute import execute
from difftrust_core.report.tables import TableRequest, estimates_for
from tests.analysis.test_ablation import members
from tests.support.tiny import RIGHT, filled, silent

CODER = ("a", 0.6)
LABELS = np.array([[0, 0], [0, 1]], dtype=np.uint16)


def pool(trimmed: list[int]) -> Pool:
    kinds = np.zeros((2, 2), dtype=np.uint8)
    task = compress("t", {"paper": LABELS, "strict": LABELS}, kinds, reach=np.full(2, 2), reference=0)
    own = members([[0, 0, 1, 1]], trimmed=trimmed)
    return Pool(benchmark="b", equality="paper", tasks=(task,), members={CODER: own})


def test_a_trimmed_program_fails_on_every_input_and_differs_from_all_that_load() -> None:
    row = ablation(strictly_loaded(pool([0, 1, 0, 1])), [CODER], m=4, n=2).row(0, named=True)
    assert (row["n_load_failures"], row["n_load_errors"], row["n_classes"]) == (2, 4, 3)
    assert row["error"] == (2 + 3) / 8  # of four programs two do not load, and one is wrong on the second input
    assert row["incoherence"] == pytest.approx(1 - (4 + 2) / 24)  # alike: 2 + 2 ordered pairs of 12, then 2
    plain = ablation(pool([0, 1, 0, 1]), [CODER], m=4, n=2).row(0, named=True)
    assert ablation(strictly_loaded(pool([0] * 4)), [CODER], m=4, n=2).row(0, named=True) == plain


def test_what_is_not_known_is_refused() -> None:
    with pytest.raises(WrongUsage, match="needs to know which programs were trimmed, and these results of b do not"):
        strictly_loaded(pool([0, -1, 0, 0]))


def test_a_store_knows_it_from_its_executions(tmp_path: Path) -> None:
    examples = {task_id: f"{code}\nassert False\n" for task_id, code in RIGHT.items()}
    store = filled(tmp_path / "store", RIGHT, examples)
    execute(store, n=10, say=silent)
    refresh_estimates(store)
    assert query_sql(store, "SELECT sample_index, trimmed FROM members").unique().sort("sample_index").rows() == [
        (0, False),
        (1, True),
    ]
    trimmed, _ = estimates_for(TableRequest(store=store.root))
    assert trimmed["error"].unique().to_list() == [0]
    strict, _ = estimates_for(TableRequest(store=store.root, reading=Reading(load=Load.STRICT)))
    assert strict["error"].unique().to_list() == [0.5]
    assert strict["n_load_failures"].unique().to_list() == [1]


def test_the_shipped_results_may_not_know() -> None:
    unknown = query_sql(dt.open(find_results()).store, "SELECT count(*) FILTER (trimmed IS NULL) FROM members").item()
    if unknown:
        with pytest.raises(WrongUsage, match="use a store that was executed"):
            estimates_for(TableRequest(store=find_results(), reading=Reading(load=Load.STRICT)))
