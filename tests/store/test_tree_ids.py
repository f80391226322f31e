"""Stores that an earlier version wrote, under Python 3.11 and 3.13: read, and continued without counting twice.

Each holds five candidates a task (`tests.support.tiny`), executed on 12 inputs: right, wrong, another wrong one, the
right one with a docstring, and the right one with an annotation that does not compile. These last two had the id of
the first. The one of 3.13 has merged files, and ids that 3.11 did not write.
"""

import tarfile
from pathlib import Path

import polars as pl
import pytest

from difftrust.verify.rows import wrong_tree_ids
from difftrust.verify.verification import verify
from difftrust_core.estimates.queries import query_estimates
from difftrust_core.estimates.refresh import refresh_estimates
from difftrust_core.exceptions import BadStore
from difftrust_core.store.store import Store
from difftrust_core.store.tree_ids import count_former_ids, renew_tree_ids
from tests.support.tiny import OTHER, RIGHT, WRONG, add, contents, filled, measure, run_on

KEPT = Path(__file__).parent / "kept"
DOCUMENTED = {task: code.replace(":\n", ':\n    """Say it."""\n', 1) for task, code in RIGHT.items()}
YIELDING = {
    task: code.replace("(items)", "(items: (yield))", 1).replace("(x)", "(x: int)", 1) for task, code in RIGHT.items()
}
SHOWN = ["task_id", "m", "n", "error", "incoherence", "n_load_failures", "n_load_errors"]
RAN = ("inputs", "outcomes", "behaviours", "executions")


@pytest.fixture(params=["python-3.11", "python-3.13"])
def kept(request: pytest.FixtureRequest, tmp_path: Path) -> Store:
    with tarfile.open(KEPT / f"{request.param}.tar.gz") as packed:
        packed.extractall(tmp_path / "kept", filter="data")
    return Store.open(tmp_path / "kept")


def test_it_is_read_as_it_was_written_and_verify_says_that_its_ids_are_old(kept: Store) -> None:
    found = verify(kept)
    assert found.findings == ()
    assert [note for note in found.notes if "15 programs have ids of an earlier version" in note]
    # What the annotation that does not compile made of two right candidates: load errors on every input.
    estimates = query_estimates(kept).sort("task_id")
    assert estimates["n_load_failures"].to_list() == [0, 0, 3]


@pytest.mark.quick(1)
def test_continued_it_is_a_store_made_today(kept: Store, tmp_path: Path) -> None:
    today = filled(tmp_path / "today", RIGHT, WRONG, OTHER, DOCUMENTED, YIELDING)
    measure(today, 12)
    done = run_on(kept, 12)
    assert (done.n_tasks, done.n_programs) == (2, 4)  # of tiny/double nothing is due
    assert refresh_estimates(kept)
    assert query_estimates(kept).select(SHOWN).equals(query_estimates(today).select(SHOWN))
    for table in ("programs", "executions"):
        ids = [sorted(store.read(table).select("task_id", "tree_id").rows()) for store in (kept, today)]
        assert ids[0] == ids[1]
    assert count_former_ids(kept) == 0
    assert verify(kept).findings == verify(today).findings == ()
    assert run_on(kept, 12).n_programs == 0


@pytest.mark.quick(1)
def test_a_candidate_that_is_added_joins_the_program_that_is_there(kept: Store) -> None:
    add(kept, "second", DOCUMENTED, WRONG)
    done = run_on(kept, 12)
    assert done.n_programs == 4  # of the two groups that came apart, nothing that was added
    assert kept.read("programs")["tree_id"].n_unique() == 11


@pytest.mark.quick(1)
def test_stopped_at_any_file_it_goes_on(kept: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    n_files = len(contents(kept, "executions", "programs"))
    real, left = Store.write, [0]

    def write(self: Store, *arguments: object) -> Path:
        if not left[0]:
            raise BadStore("the disk is full")
        left[0] -= 1
        return real(self, *arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(Store, "write", write)
    for allowed in range(n_files):
        left[0] = allowed
        with kept.writing(), pytest.raises(BadStore):
            renew_tree_ids(kept)
        assert count_former_ids(kept)
    monkeypatch.undo()
    with kept.writing():
        renew_tree_ids(kept)
    assert run_on(kept, 12).n_programs == 4
    assert verify(kept).findings == ()


def test_verify_names_a_program_that_has_the_id_of_another(tmp_path: Path) -> None:
    store = filled(tmp_path / "store", RIGHT, WRONG)
    (path,) = store.files("programs")
    frame = store.read_file("programs", path)
    assert frame is not None
    where = {"benchmark": "tiny"}
    store.write("programs", frame.with_columns(tree_id=pl.lit(frame["tree_id"][0])), where, path.stem)
    (found,) = verify(store).findings
    assert "expected the tree_id of its text for every program" in found.what


def test_of_few_programs_every_id_is_looked_at(tmp_path: Path) -> None:
    store = filled(tmp_path / "store", RIGHT, WRONG, OTHER)
    programs, tasks = store.read("programs"), store.read("tasks")
    assert wrong_tree_ids(programs, tasks) == []
    for name in programs["program_id"].unique():
        damaged = pl.when(program_id=name).then(pl.lit("0" * 16)).otherwise("tree_id").alias("tree_id")
        assert set(wrong_tree_ids(programs.with_columns(damaged), tasks)) == {name}
