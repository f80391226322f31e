"""A packed store: few files, all rows, the same bytes every time; and the one that comes with the project."""

from pathlib import Path

import polars as pl
import pytest

from difftrust.demo.simulated import SIMULATED
from difftrust.export import pack_store
from difftrust.shipped import find_starter_results
from difftrust.verify.verification import verify
from difftrust_core.estimates.queries import query_estimates
from difftrust_core.estimates.refresh import estimates_are_stale
from difftrust_core.exceptions import NoStore
from difftrust_core.store.schemas import CHUNK_TABLES, MEASURED
from difftrust_core.store.store import Store
from tests.support.tiny import OTHER, RIGHT, WRONG, executed


@pytest.fixture(scope="module")
def full(tmp_path_factory: pytest.TempPathFactory) -> Store:
    return executed(tmp_path_factory.mktemp("full") / "store", n=20, one=(RIGHT, WRONG, OTHER))


def test_a_packed_store_holds_every_row_but_what_was_measured(full: Store, tmp_path: Path) -> None:
    packed = pack_store(full, tmp_path / "packed", replaceable=())
    for table in ("tasks", "candidates", "programs", *CHUNK_TABLES, "classes", "members", "estimates"):
        keys = full.read(table).columns[:4]
        one, other = (store.read(table).drop(MEASURED, strict=False).unique().sort(keys) for store in (full, packed))
        assert one.sort(one.columns[:6]).equals(other.sort(other.columns[:6])), table
    assert packed.read("executions").select(pl.col(MEASURED).is_null().all()).row(0) == (True, True)
    assert not estimates_are_stale(packed)
    assert query_estimates(packed).equals(query_estimates(full))
    where = {"benchmark": "tiny", "validity": "reference", "start": 0}
    rows = [store.read_task("outcomes", where, "tiny/total") for store in (full, packed)]
    assert rows[0] is not None
    assert rows[1] is not None
    assert rows[0].equals(rows[1])
    assert verify(packed).findings == ()
    assert all(len(list(path.parent.glob("*.parquet"))) == 1 for path in packed.root.rglob("*.parquet"))


def test_packing_again_gives_the_same_bytes_and_replaces_no_store_of_others(full: Store, tmp_path: Path) -> None:
    def content(root: Path) -> dict[str, bytes]:
        return {str(path.relative_to(root)): path.read_bytes() for path in root.rglob("*") if path.is_file()}

    first = content(pack_store(full, tmp_path / "packed", replaceable=["one"]).root)
    assert content(pack_store(full, tmp_path / "packed", replaceable=["one"]).root) == first
    with pytest.raises(NoStore, match="holds what would be lost; name a new or an empty folder"):
        pack_store(full, tmp_path / "packed", replaceable=SIMULATED)
    assert content(tmp_path / "packed") == first


@pytest.mark.slow
def test_the_shipped_store_of_simulated_coders_is_whole_and_small() -> None:
    store = Store.open(find_starter_results())
    assert verify(store).findings == ()
    assert not estimates_are_stale(store)
    members = store.read("members", {"benchmark": "starter"})
    assert set(members["model"]) == set(SIMULATED)
    assert set(members["validity"]) == {"reference", "domain"}
    assert len(members) == 2 * 2 * 3 * 60 * 10  # inputs, temperatures, coders, tasks, candidates
    assert len(store.read_tasks("starter")) == 60
    sizes = [path.stat().st_size for path in store.root.rglob("*.parquet")]
    assert max(sizes) < 2e6
    assert sum(sizes) < 5e6
