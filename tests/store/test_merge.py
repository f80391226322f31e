"""A merged store: the same rows for every reader, the same results when it goes on, and never a row twice or lost."""

import os
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from difftrust.findings_in_store import query_disagreement
from difftrust.verify.verification import verify
from difftrust_core.estimates.queries import query_estimates, query_sql
from difftrust_core.estimates.refresh import refresh_estimates
from difftrust_core.exceptions import BadStore, DifftrustError
from difftrust_core.store import store as merging
from difftrust_core.store.schemas import CHUNK_TABLES, KEYS, PARTITIONS
from difftrust_core.store.settings import while_the_same
from difftrust_core.store.store import Store, merge_files
from tests.recovery.world import snapshot
from tests.support.estimates import compute_estimates
from tests.support.tiny import OTHER, RIGHT, TASKS, WRONG, add, executed, measure, run_on
from tests.support.waiting import until

CHUNK: dict[str, object] = {"benchmark": "tiny", "validity": "reference", "start": 0}
RESULTS = ("patterns", "classes", "members", "disagreements", "estimates")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Store:
    return executed(tmp_path_factory.mktemp("made") / "plain", n=20, one=(RIGHT, WRONG))


@pytest.fixture
def plain(made: Store, tmp_path: Path) -> Store:
    return Store.open(shutil.copytree(made.root, tmp_path / "plain"))


@pytest.fixture
def merged(made: Store, tmp_path: Path) -> Store:
    store = Store.open(shutil.copytree(made.root, tmp_path / "merged"))
    merge_files(store)
    return store


def rows(store: Store, table: str) -> pl.DataFrame:
    return store.read(table).drop("cpu_seconds", "peak_kb", strict=False).sort(*PARTITIONS[table], *KEYS[table])


def check_same_rows(one: Store, other: Store) -> None:
    for table in (*CHUNK_TABLES, *RESULTS, "programs", "candidates"):
        assert rows(one, table).equals(rows(other, table)), table
    counted = (
        "SELECT (SELECT count(*) FROM outcomes) o, (SELECT count(*) FROM executions) e, (SELECT count(*) FROM inputs)"
    )
    assert query_sql(one, counted).equals(query_sql(other, counted))
    assert query_estimates(one).equals(query_estimates(other))
    assert query_disagreement(one) == query_disagreement(other)


def test_a_partition_becomes_one_file_with_the_same_rows(plain: Store, merged: Store) -> None:
    for table in CHUNK_TABLES:
        assert len(plain.files(table)) == 3
        assert len(merged.files(table)) == 1
    check_same_rows(plain, merged)
    assert verify(merged).findings == ()
    for task in TASKS:
        for table in CHUNK_TABLES:
            one, other = (s.read_task(table, CHUNK, task.task_id) for s in (plain, merged))
            assert one is not None
            assert other is not None
            assert one.sort(KEYS[table]).equals(other.sort(KEYS[table]))
    assert merged.read_task("inputs", CHUNK, "tiny/none") is None


def test_a_merged_store_is_not_stale_and_has_nothing_to_do(merged: Store) -> None:
    before = snapshot(merged.root)
    assert not refresh_estimates(merged)
    assert run_on(merged, 20).n_tasks == 0
    before_merge, after_merge = merge_files(merged)
    assert before_merge == after_merge
    assert snapshot(merged.root) == before


def test_two_files_of_a_folder_are_merged(plain: Store) -> None:
    for path in plain.files("inputs")[2:]:
        path.unlink()
    merge_files(plain)
    (merged,) = plain.files("inputs")
    assert merged.name.startswith("+")


@pytest.mark.slow
def test_it_goes_on_with_more_candidates_and_more_inputs(plain: Store, merged: Store) -> None:
    for store in (plain, merged):
        add(store, "two", OTHER, WRONG)
        done = run_on(store, 50)
        assert (done.n_programs, done.n_executions) == (9, 3 * 20 + 9 * 30)
        refresh_estimates(store)
        assert verify(store).findings == ()
    check_same_rows(plain, merged)
    later = merged.files("executions", CHUNK)
    assert [len(pl.read_parquet(path, hive_partitioning=False)) for path in later] == [9, 1, 1, 1]
    merge_files(merged)
    check_same_rows(plain, merged)
    assert verify(merged).findings == ()
    assert compute_estimates(plain, n=20)["paper"].equals(compute_estimates(merged, n=20)["paper"])


@pytest.mark.slow
def test_merging_depends_on_the_rows_alone(plain: Store, tmp_path: Path) -> None:
    """Merged twice with a run between, or once after it: the same rows in the same order."""
    twice = Store(Path(shutil.copytree(plain.root, tmp_path / "twice")))
    merge_files(twice)
    for store in (plain, twice):
        add(store, "two", OTHER)
        run_on(store, 20)
        merge_files(store)
    for table in CHUNK_TABLES:
        one, other = (s.read(table).drop("cpu_seconds", "peak_kb", strict=False) for s in (plain, twice))
        assert one.equals(other)  # in the same order


@pytest.mark.slow
def test_damage_in_a_merged_file_costs_its_partition_and_comes_back(plain: Store, merged: Store) -> None:
    (path,) = merged.files("behaviours")
    content = bytearray(path.read_bytes())
    content[60] ^= 4
    path.write_bytes(content)
    found = verify(merged, repair=True)
    assert [f.table for f in found.findings] == ["behaviours"]
    assert {name.split("/")[0] for name in found.moved} == {"behaviours", "executions"}
    measure(merged, 20)
    check_same_rows(plain, merged)
    assert verify(merged).findings == ()


@pytest.mark.slow
def test_readers_see_old_or_new_while_files_are_merged(plain: Store, tmp_path: Path) -> None:
    """Another process merges and unmerges all the time; each read finds every row once."""
    expected, forms = rows(plain, "outcomes"), Counter[int]()
    own = expected.filter(task_id="tiny/total").select(*KEYS["outcomes"], "text")
    shutil.copytree(plain.root / "outcomes", tmp_path / "outcomes")
    script = f"""
import shutil
from pathlib import Path
from difftrust_core.store.store import Store, exchange_folders, merge_files
root = Path({str(plain.root)!r})
while True:
    merge_files(Store(root))
    shutil.copytree({str(tmp_path / "outcomes")!r}, root / "back")
    exchange_folders(root / "back", root / "outcomes")
    shutil.rmtree(root / "back")
"""

    def both_forms_were_read() -> bool:
        assert rows(plain, "outcomes").equals(expected)
        found = plain.read_task("outcomes", CHUNK, "tiny/total")
        assert found is not None
        assert found.sort(KEYS["outcomes"]).select(own.columns).equals(own)
        forms[len(plain.files("outcomes"))] += 1
        assert forms.keys() <= {1, 3}
        return min(forms[1], forms[3]) > 5

    writer = subprocess.Popen([sys.executable, "-c", script], stderr=subprocess.DEVNULL)
    try:
        until(both_forms_were_read, 120)
        assert writer.poll() is None
    finally:
        writer.kill()
        writer.wait()


def test_a_folder_exchanged_twice_is_read_again_though_the_last_has_the_number_of_the_first(tmp_path: Path) -> None:
    """A file system gives a new folder the number of one just deleted: rows were read from both forms, twice."""
    folder, readings = tmp_path / "benchmark=tiny", list[int]()
    folder.mkdir()

    def read() -> int:
        readings.append(len(readings))
        if len(readings) == 1:
            folder.rmdir()
            folder.mkdir()
        return readings[-1]

    assert while_the_same(folder, read) == 1


@pytest.mark.quick(1)
@pytest.mark.parametrize("table", ["outcomes", "executions"])
def test_a_folder_that_is_merged_while_it_is_listed_is_listed_again(
    plain: Store, monkeypatch: pytest.MonkeyPatch, table: str
) -> None:
    """The merge runs after the folder was opened and before its names are read: it is empty by then."""
    expected = rows(plain, table)
    folder = plain.folder(table, CHUNK)
    number, scandir, merges = folder.stat().st_ino, os.scandir, 0

    def scandir_while_merged(path: Any = ".") -> Any:
        nonlocal merges
        listing = scandir(path)
        if (os.fstat(path) if isinstance(path, int) else os.stat(path)).st_ino == number and not merges:
            merges += 1
            merge_files(Store(plain.root))
        return listing

    monkeypatch.setattr(os, "scandir", scandir_while_merged)
    found = rows(plain, table)
    assert merges == 1
    assert found.equals(expected)


def test_a_folder_that_is_merged_before_it_is_opened_is_not_passed_over(
    plain: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The merge runs between the look at the folder's number and its opening, which then is another folder's."""
    expected = rows(plain, "outcomes")
    folder = plain.folder("outcomes", CHUNK)
    opened, merges = os.open, 0

    def open_after_a_merge(path: Any, *words: Any, **options: Any) -> int:
        nonlocal merges
        if str(path) == folder.name and not merges:
            merges += 1
            merge_files(Store(plain.root))
        return opened(path, *words, **options)

    monkeypatch.setattr(os, "open", open_after_a_merge)
    found = rows(plain, "outcomes")
    assert merges == 1
    assert found.equals(expected)


def test_a_file_system_that_cannot_exchange_folders_is_said(plain: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    before = snapshot(plain.root)
    monkeypatch.setattr(merging, "_RENAME_EXCHANGE", 1 << 20)  # a flag that the kernel does not know: EINVAL
    with pytest.raises(DifftrustError, match="the store is as before, copy it to a local disk"):
        merge_files(plain)
    assert snapshot(plain.root) == before
    assert verify(plain).findings == ()


def test_where_no_scratch_folder_can_be_made_the_store_is_as_before(plain: Store) -> None:
    (plain.root / merging.SCRATCH).touch()
    before = snapshot(plain.root)
    with pytest.raises(BadStore, match=r"could not be merged: .*; it is as before"):
        merge_files(plain)
    assert snapshot(plain.root) == before


@pytest.mark.parametrize("is_absolute", [True, False])
def test_a_note_that_leads_out_of_its_folder_is_refused_and_named(merged: Store, is_absolute: bool) -> None:
    note = next((merged.root / "inputs").rglob(merging.MERGED_NAME))
    own = note.parent / note.read_text()
    outside = own.rename(merged.root.parent / own.name)
    note.write_text(str(outside) if is_absolute else os.path.relpath(outside, note.parent))
    with pytest.raises(BadStore, match=r"^[^\n]*merged.txt: expected a merged file of its folder, found [^\n]*$"):
        merging.merged_file(note.parent)
    assert note.relative_to(merged.root).as_posix() in [finding.path for finding in verify(merged).findings]


def test_settings_of_brackets_without_end_are_refused_in_one_line(plain: Store) -> None:
    (plain.root / merging.SETTINGS_FILE).write_text("[" * 100_000)
    with pytest.raises(BadStore, match=r"^[^\n]* is not a store of format 1 [^\n]*$"):
        plain.settings()
