"""Every kind of damage is found and named, and what `--repair` moves aside comes back with the same bytes."""

import json
import os
import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path

import polars as pl
import pytest

from difftrust.export import export_results
from difftrust.shipped import find_results
from difftrust.tables.request import TableRequest, estimates_for
from difftrust.verify.verification import verify
from difftrust_core.base.files import is_plain
from difftrust_core.base.records import Kind
from difftrust_core.datasets.recorded import selection_of
from difftrust_core.estimates.queries import query_estimates
from difftrust_core.estimates.refresh import estimates_are_stale, refresh_estimates
from difftrust_core.exceptions import BadStore, NoStore
from difftrust_core.execution.execute import execute
from difftrust_core.store.checksums import LIST_FILE, ROOM_FILE, is_whole, read_list, write_list
from difftrust_core.store.imports import add_candidates
from difftrust_core.store.replies import Record, ReplyFile
from difftrust_core.store.schemas import PARTITIONS, RESULT_TABLES
from difftrust_core.store.store import SETTINGS_FILE, Store, merge_files, partition_of
from tests.recovery.world import snapshot
from tests.support.command import Capture, run
from tests.support.tiny import OTHER, RIGHT, TASKS, WRONG, candidates, silent

BENCHMARK = {"tiny": TASKS}
CHUNK = "benchmark=tiny/validity=reference/start=000000"
LATER = "benchmark=tiny/validity=reference/start=000020"
ESTIMATES = "estimates/benchmark=tiny/validity=reference/equality=paper/estimates.parquet"


def fill(store: Store) -> None:
    """Import, execute on 20 and then on 40 inputs, estimate: what is there already is left as it is."""
    add_candidates(store, candidates("one", RIGHT, WRONG), BENCHMARK, n_jobs=1)
    add_candidates(store, candidates("two", WRONG, OTHER, RIGHT), BENCHMARK, n_jobs=1)
    for n in (20, 40):
        execute(store, n=n, say=silent)
    refresh_estimates(store)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Store:
    store = Store.create(tmp_path_factory.mktemp("whole") / "store")
    fill(store)
    return store


@pytest.fixture
def store(whole: Store, tmp_path: Path) -> Store:
    shutil.copytree(whole.root, tmp_path / "store")
    return Store.open(tmp_path / "store")


def flip(name: str) -> Callable[[Store], None]:
    def damage(store: Store) -> None:
        content = bytearray((store.root / name).read_bytes())
        content[len(content) // 2] ^= 1
        (store.root / name).write_bytes(content)

    return damage


def cut(name: str) -> Callable[[Store], None]:
    return lambda store: (store.root / name).write_bytes((store.root / name).read_bytes()[:-100]) and None


def lose(name: str) -> Callable[[Store], None]:
    return lambda store: (store.root / name).unlink()


def change(name: str, **columns: pl.Expr) -> Callable[[Store], None]:
    """Write a file anew, whole and sealed, with other values."""
    return rewrite(name, lambda frame: frame.with_columns(**columns))


def rewrite(name: str, to: Callable[[pl.DataFrame], pl.DataFrame]) -> Callable[[Store], None]:
    def damage(store: Store) -> None:
        path = store.root / name
        table = name.split("/")[0]
        where = partition_of(Path(name), table)
        frame = store.read_file(table, path)
        assert frame is not None
        assert store.write(table, to(frame), where, path.stem) == path

    return damage


def first(value: object, column: str) -> pl.Expr:
    """Return ``column`` with another value in its first row."""
    return pl.when(pl.int_range(pl.len()) == 0).then(pl.lit(value)).otherwise(pl.col(column))


ONE = "candidates/benchmark=tiny/model=one/temperature=0.6/candidates.parquet"
RESULTS = "benchmark=tiny/validity=reference"
FIRST, DOUBLE, TOTAL = (f"{CHUNK}/tiny_{name}.parquet" for name in ("first", "double", "total"))


def copy_over(store: Store) -> None:
    shutil.copy(store.root / f"outcomes/{FIRST}", store.root / f"outcomes/{TOTAL}")


def add_a_column(store: Store) -> None:
    frame = pl.read_parquet(store.root / ONE, hive_partitioning=False)
    frame.with_columns(more=1).write_parquet(store.root / ONE)


def add_to_a_text(store: Store) -> None:
    path = next(iter(store.files("programs"))).relative_to(store.root).as_posix()
    change(path, code=pl.col("code") + " ")(store)


def put(name: str, content: bytes) -> Callable[[Store], None]:
    return lambda store: (store.root / name).write_bytes(content) and None


DAMAGES: dict[str, tuple[Callable[[Store], None], str, str]] = {
    "a flipped bit":
        (flip(f"outcomes/{FIRST}"), "outcomes/", "bytes that were written here"),
    "a cut file":
        (cut(f"behaviours/{DOUBLE}"), "behaviours/", "a whole Parquet file"),
    "lost inputs of the first chunk":
        (lose(f"inputs/{TOTAL}"), "inputs/", "found none"),
    "lost candidates":
        (lose(ONE), "candidates/", "found none"),
    "lost estimates":
        (lose(ESTIMATES), "estimates/", "found none"),
    "a file of another task":
        (copy_over, f"outcomes/{TOTAL}", "bytes that were written here"),
    "a foreign file":
        (put(f"inputs/{CHUNK}/notes.txt", b"mine"), f"inputs/{CHUNK}/notes.txt", "files of the store only"),
    "a column too many":
        (add_a_column, "candidates/", "the columns of candidates, found otherwise: more"),
    "too few outcomes":
        (change(f"behaviours/{TOTAL}", outcome_ids=pl.col("outcome_ids").list.head(19)),
         "behaviours/", "outcome_ids of 20 inputs"),
    "two behaviours that are one":
        (change(f"behaviours/{TOTAL}", outcome_ids=pl.col("outcome_ids").first()),
         "behaviours/", "behaviours that differ, found two alike"),
    "a behaviour that is none":
        (change(f"executions/{TOTAL}", behaviour_id=first(77, "behaviour_id")),
         "executions/", "behaviour_ids of behaviours"),
    "a program that is none":
        (change(f"executions/{TOTAL}", tree_id=first("t0", "tree_id")),
         "executions", "a program in `programs` for every execution"),
    "a program twice":
        (rewrite(f"executions/{TOTAL}", lambda f: pl.concat([f, f.head(1)])), "executions/", "every (tree_id) once"),
    "a gap in the inputs":
        (rewrite(f"inputs/{LATER}/tiny_first.parquet", lambda f: f.filter(pl.col("input_index") != 25)),
         "inputs/", "the inputs from 20 on without a gap"),
    "a class that is none":
        (change(f"outcomes/{DOUBLE}", paper_class=pl.col("outcome_id").max().over("input_index") + 1),
         "outcomes/", "classes below the number of outcomes"),
    "an unknown kind":
        (change(f"outcomes/{DOUBLE}", kind=pl.lit("wonder")), "outcomes/", "the kinds crash"),
    "an input without outcomes":
        (rewrite(f"outcomes/{DOUBLE}", lambda f: f.filter(pl.col("input_index") != 3)),
         "outcomes/", "outcomes on each of its inputs"),
    "a candidate without a text":
        (change(ONE, program_id=first("0123", "program_id")), "candidates", "a text in `programs` for every candidate"),
    "a candidate of no task":
        (change(ONE, task_id=first("tiny/none", "task_id")), "candidates", "a task in `tasks` for every candidate"),
    "a candidate twice":
        (rewrite(ONE, lambda f: pl.concat([f, f.head(1)])), "candidates", "each row once"),
    "a candidate less":
        (rewrite(ONE, lambda f: f.tail(-1)), "candidates", "every candidate that `members` has"),
    "a sample before the first":
        (change(ONE, sample_index=first(-1, "sample_index")), "candidates", "of 0 or more"),
    "I > 2E":
        (change(ESTIMATES, incoherence=first(0.9, "incoherence"), error=first(0.1, "error")), "estimates", "I <= 2E"),
    "E = 0 < I":
        (change(ESTIMATES, incoherence=first(1e-10, "incoherence"), error=first(0.0, "error")),
         "estimates", "I = 0 where E = 0"),
    "incoherence of one candidate":
        (change(ESTIMATES, m=first(1, "m")), "estimates", "where m >= 2, and only there"),
    "more candidates than members":
        (change(ESTIMATES, m=first(8, "m")), "estimates", "m to be the number of members"),
    "a lost cell":
        (change(ESTIMATES, n_values=first(1, "n_values")), "estimates", "counts of kinds"),
    "a class less":
        (change(f"classes/{RESULTS}/classes.parquet", paper=pl.col("paper").list.head(1)),
         "classes", "a class on each of the task's patterns"),
    "patterns with a gap":
        (change(f"patterns/{RESULTS}/patterns.parquet", pattern_of_input=pl.col("pattern_of_input") * 2 + 1),
         "patterns", "patterns 0, 1, ..."),
    "an input beyond the last":
        (change(f"disagreements/{RESULTS}/equality=paper/disagreements.parquet", input_index=first(99, "input_index")),
         "disagreements", "inputs of the task"),
    "a changed name in the list":
        (flip(LIST_FILE), LIST_FILE, "the list that was written"),
    "a changed text":
        (add_to_a_text, "programs", "the id of its text"),
}  # fmt: skip


@pytest.mark.quick(1)
@pytest.mark.parametrize("name", DAMAGES)
def test_damage_is_found_and_what_is_moved_aside_comes_back(name: str, store: Store, whole: Store) -> None:
    damage, path, what = DAMAGES[name]
    assert verify(store).findings == ()
    damage(store)
    found = verify(store)
    assert any(f.path.startswith(path) and what in f.what for f in found.findings), found.findings
    assert all(f.remedy for f in found.findings)
    repaired = verify(store, repair=True)
    assert {f.path for f in repaired.findings} == {f.path for f in found.findings}
    for moved in repaired.moved:
        assert (store.root / "damaged" / moved).is_file()
        assert not (store.root / moved).exists() or moved == LIST_FILE  # made anew at once
    shutil.rmtree(store.root / "damaged", ignore_errors=True)
    fill(store)
    assert verify(store).findings == ()
    assert snapshot(store.root) == snapshot(whole.root)


ROWS: dict[str, tuple[str, Callable[[pl.DataFrame], pl.DataFrame], str]] = {
    "another task's":
        (f"inputs/{FIRST}", lambda f: f.with_columns(task_id=pl.lit("tiny/total")),
         "rows of the task that the file is named after, found others"),
    "as many repeats as attempts":
        (f"inputs/{FIRST}", lambda f: f.with_columns(repeats="attempts"), "fewer repeats than attempts, found others"),
    "no attempt":
        (f"inputs/{FIRST}", lambda f: f.with_columns(attempts=first(0, "attempts")), "1 to 101 attempts, found others"),
    "too many attempts":
        (f"inputs/{FIRST}", lambda f: f.with_columns(attempts=first(102, "attempts")),
         "1 to 101 attempts, found others"),
    "one null":
        (f"behaviours/{TOTAL}",
         lambda f: f.with_columns(outcome_ids=pl.when(pl.int_range(pl.len()) > 0).then("outcome_ids")),
         "a value in every column, found nulls"),
    "a gap in the outcomes":
        (f"outcomes/{DOUBLE}", lambda f: f.with_columns(pl.col("outcome_id") * 2),
         "outcome_id 0, 1, ... on each input, found others"),
    "a gap in the behaviours":
        (f"behaviours/{DOUBLE}", lambda f: f.with_columns(pl.col("behaviour_id") * 2),
         "behaviour_id 0, 1, ..., found others"),
    "an outcome beyond the last":
        (f"behaviours/{DOUBLE}", lambda f: f.with_columns(pl.col("outcome_ids") + 1),
         "outcome_ids of outcomes, found ids that no outcome has"),
    "less than no time":
        (f"executions/{FIRST}", lambda f: f.with_columns(cpu_seconds=first(-1e-9, "cpu_seconds")),
         "cpu_seconds of 0 or more, found others"),
    "a share a bit above 1":
        (ESTIMATES, lambda f: f.with_columns(error=first(1.000001, "error")),
         "shares between 0 and 1, found otherwise for: tiny reference one 0.6 tiny/double paper"),
    "two members without a row": (
        f"members/{RESULTS}/members.parquet",
        lambda f: f.with_columns(row=pl.when(pl.int_range(pl.len()) < 2).then(60).otherwise("row")),
        "a row in `classes` for every member, found none for: tiny reference one 0.6 tiny/double 0 and 1 more",
    ),
    "a null": (
        ESTIMATES,
        lambda f: f.with_columns(n_values=first(None, "n_values")),
        "a value in every row, found nulls in n_values",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", ROWS)
def test_what_is_wrong_with_rows_is_said_in_one_line_each(name: str, store: Store) -> None:
    path, to, what = ROWS[name]
    rewrite(path, to)(store)
    assert f"expected {what}" in [f.what.removeprefix(f"{f.task_id}: ") for f in verify(store).findings]


def test_rows_at_the_limits_are_as_they_must_be(store: Store) -> None:
    change(f"inputs/{FIRST}", attempts=pl.lit(101), repeats=pl.lit(100))(store)
    kinds = [kind.name.lower() for kind in Kind] * 9
    rewrite(f"outcomes/{DOUBLE}", lambda f: f.with_columns(kind=pl.Series(kinds[: len(f)])))(store)
    change(ESTIMATES, p_detected=pl.lit(1.0), p_erroneous=pl.lit(1 + 1e-10))(store)
    assert verify(store).findings == ()


def test_every_flipped_byte_of_a_file_is_found(store: Store) -> None:
    path = store.root / f"executions/{CHUNK}/tiny_first.parquet"
    content = path.read_bytes()

    def is_found(damaged: bytes) -> bool:
        try:
            return is_whole(damaged, path.relative_to(store.root).as_posix()) is False
        except ValueError:
            return True

    assert not is_found(content)
    for at in range(len(content)):
        for bit in (1, 128):
            damaged = bytearray(content)
            damaged[at] ^= bit
            assert is_found(bytes(damaged)), at
    assert all(is_found(content[:length]) for length in range(0, len(content), 7))


def test_a_text_that_looks_like_a_checksum_is_none(tmp_path: Path) -> None:
    store = Store.create(tmp_path / "store")
    text = "difftrust-sha256\x18@" + "0" * 64
    frame = pl.DataFrame({"task_id": [text], "program_id": [text], "tree_id": [text], "code": [text]})
    path = store.write("programs", frame, {"benchmark": text}, "programs-0")
    assert is_whole(path.read_bytes(), path.relative_to(store.root).as_posix()) is True


def test_an_interrupted_task_is_not_damaged_and_a_run_may_take_no_measurable_time(store: Store) -> None:
    change(f"executions/{FIRST}", cpu_seconds=pl.lit(0.0))(store)
    for table in ("executions", "behaviours"):
        (store.root / f"{table}/{LATER}/tiny_first.parquet").unlink()
    (store.root / LIST_FILE).unlink()
    assert verify(store).findings == ()


def test_files_from_before_checksums_are_read_and_their_rows_checked(store: Store) -> None:
    for path in store.root.rglob("*.parquet"):
        pl.read_parquet(path, hive_partitioning=False).write_parquet(path)
    n_files = len(list(store.root.rglob("*.parquet")))
    assert sum("expected a checksum" in finding.what for finding in verify(store).findings) == n_files
    settings = json.loads((store.root / SETTINGS_FILE).read_text())
    del settings["sha256"]  # as before there were any
    (store.root / SETTINGS_FILE).write_text(json.dumps(settings))
    store.write_settings(store.settings())
    found = verify(store)
    assert found.findings == ()
    assert found.n_unsealed == len(list(store.root.rglob("*.parquet")))


REMEDIES: dict[str, tuple[list[Callable[[Store], None]], dict[str, str]]] = {
    "each chunk has its own":
        ([flip(f"outcomes/{CHUNK}/tiny_first.parquet"), flip(f"outcomes/{LATER}/tiny_first.parquet"), flip(ESTIMATES)],
         {f"outcomes/{CHUNK}/tiny_first.parquet": "20", f"outcomes/{LATER}/tiny_first.parquet": "40", ESTIMATES: "40"}),
    "nothing tells how far":
        ([flip(ESTIMATES), *(cut(f"inputs/{name}") for name in (FIRST, DOUBLE, TOTAL))],
         {f"inputs/{FIRST}": "N, N as before", ESTIMATES: "1"}),
    "nobody tells who met a chunk":
        ([cut(ONE), flip(f"executions/{FIRST}")], {f"executions/{FIRST}": "N, N as before"}),
    "the list": ([flip(LIST_FILE)], {LIST_FILE: "any command that writes to the store makes it anew"}),
}  # fmt: skip


@pytest.mark.parametrize(("damages", "wanted"), REMEDIES.values(), ids=REMEDIES)
def test_what_is_damaged_has_a_remedy(
    damages: list[Callable[[Store], None]], wanted: dict[str, str], store: Store
) -> None:
    for damage in damages:
        damage(store)
    remedies = {f.path: f.remedy for f in verify(store).findings}
    assert {path: remedies[path].rpartition(" -n ")[2] for path in wanted} == wanted


def test_chunks_of_two_benchmarks_have_remedies_of_their_own(store: Store) -> None:
    other = store.root / f"inputs/{CHUNK}/broken.parquet".replace("tiny", "other")
    other.parent.mkdir(parents=True)
    other.write_bytes(b"")
    flip(f"inputs/{FIRST}")(store)
    remedies = {f.path.split("/")[1]: f.remedy.rpartition(" -n ")[2] for f in verify(store).findings}
    assert remedies == {"benchmark=other": "N, N as before", "benchmark=tiny": "20"}


def test_results_without_any_inputs_come_back_with_the_first(tmp_path: Path) -> None:
    store = Store.create(tmp_path / "store")
    add_candidates(store, candidates("one", RIGHT), BENCHMARK, n_jobs=1)
    (store.root / ESTIMATES).parent.mkdir(parents=True)
    (store.root / ESTIMATES).write_bytes(b"")
    (finding,) = verify(store).findings
    assert finding.remedy == f"difftrust execute --store {store.root} -n 1"


def test_what_is_moved_aside_again_gets_a_number(store: Store) -> None:
    for _ in range(3):
        put(f"inputs/{CHUNK}/notes.txt", b"mine")(store)
        assert verify(store, repair=True).moved == (f"inputs/{CHUNK}/notes.txt",)
    moved = (store.root / f"damaged/inputs/{CHUNK}").iterdir()
    assert sorted(path.name for path in moved) == ["notes.txt", "notes.txt.2", "notes.txt.3"]


def test_results_are_to_be_made_anew_only_where_what_they_come_from_was_moved(store: Store) -> None:
    def are_new() -> bool:
        return any((store.root / "estimates").glob("*.fingerprint"))

    flip(ONE)(store)
    assert verify(store, repair=True).moved == (ONE,)
    assert are_new()
    flip(f"outcomes/{FIRST}")(store)
    moved = {f"{table}/{FIRST}" for table in ("behaviours", "executions", "outcomes")}
    assert {*verify(store, repair=True).moved} == {*moved, ONE.replace("=one", "=two")}  # which lack a member's
    assert not are_new()


def test_with_one_file_of_results_those_of_the_other_tables_go(store: Store) -> None:
    flip(ESTIMATES)(store)
    moved = verify(store, repair=True).moved
    assert [name for name in moved if name.startswith("estimates/")] == [ESTIMATES]
    assert {name.split("/")[0] for name in moved} >= {"classes", "draws", "members", "patterns"}
    assert {name.split("/")[0] for name in store.names()} & {*RESULT_TABLES} == {"estimates"}


def test_of_two_policies_the_results_and_the_reach_of_one_are_its_own(store: Store) -> None:
    execute(store, n=10, validity="domain", say=silent)
    refresh_estimates(store)
    execute(store, n=40, validity="reference", say=silent)
    flip(ESTIMATES)(store)
    domain = ESTIMATES.replace("=reference", "=domain")
    flip(domain)(store)
    remedies = {f.path: f.remedy for f in verify(store).findings}
    command = f"difftrust execute --store {store.root} "
    assert remedies == {ESTIMATES: f"{command}-n 40", domain: f"{command}--inputs domain -n 10"}
    flip(ESTIMATES)(store)  # back as it was
    moved = verify(store, repair=True).moved
    assert domain in moved
    assert all("/validity=domain/" in name for name in moved)
    assert not estimates_are_stale(store)
    execute(store, n=10, validity="domain", say=silent)
    refresh_estimates(store)
    assert verify(store).findings == ()


@pytest.mark.parametrize("table", ["smallest", "stability"])
def test_without_results_that_no_others_speak_of_the_others_stay(store: Store, table: str) -> None:
    where = "/".join(f"{name}=1" for name in PARTITIONS[table])
    write_list(store.root, {*read_list(store.root), name := f"{table}/{where}/{table}.parquet"})
    found = verify(store, repair=True)
    assert [(f.path, f.what) for f in found.findings] == [(name, "expected this file, found none")]
    assert found.moved == ()
    command = {"smallest": "smallest", "stability": "structure"}[table]
    assert found.findings[0].remedy == f"repeat the `difftrust {command} --store {store.root}` that made it"
    assert verify(store).findings == ()
    assert not estimates_are_stale(store)


def test_who_met_a_chunk_is_named_up_to_three(tmp_path: Path) -> None:
    store = Store.create(tmp_path / "store")
    models = ["a", "b", "c", "d", "e"]
    for model in models:
        codes = {task: f"{code}\n{model} = 1\n" for task, code in RIGHT.items()}
        add_candidates(store, candidates(model, codes), BENCHMARK, n_jobs=1)
    execute(store, n=2, say=silent)
    for n, some in ((4, models[:4]), (6, models[:3])):
        execute(store, n=n, selection=selection_of(models=some), say=silent)
    for start in (2, 4):
        cut(f"executions/benchmark=tiny/validity=reference/start={start:06}/tiny_first.parquet")(store)
    four, three = (f.remedy for f in verify(store).findings if f.table == "executions")
    command = f"difftrust execute --store {store.root} -n "
    assert three.split(" ; ") == [f"{command}6 --model {model} --temperature 0.6" for model in models[:3]]
    assert four == f"{command}4"


@pytest.mark.slow
def test_the_shipped_results_are_whole() -> None:
    assert verify(Store(find_results())).findings == ()


def test_a_results_store_is_checked_and_names_the_export(store: Store, tmp_path: Path) -> None:
    made = export_results(store, tmp_path / "results")
    assert verify(made).findings == ()
    flip("members/benchmark=tiny/validity=reference/members.parquet")(made)
    found = verify(made, repair=True)
    assert found.findings[0].remedy.startswith("difftrust export --store FULL --out ")
    again = export_results(store, tmp_path / "results")
    assert verify(again).findings == ()
    other = export_results(store, tmp_path / "other")
    shutil.rmtree(again.root / "damaged")
    assert snapshot(again.root) == snapshot(other.root)


def test_a_lost_file_of_a_task_takes_along_those_of_this_task_alone(store: Store) -> None:
    lose(f"inputs/{TOTAL}")(store)
    moved = verify(store, repair=True).moved
    assert {name for name in moved if name.startswith("executions/")} == {f"executions/{TOTAL}"}


def test_a_damaged_file_of_candidates_takes_no_others_along(store: Store) -> None:
    frame = pl.read_parquet(store.root / ONE, hive_partitioning=False)
    frame.with_columns(task_id=first("tiny/none", "task_id")).write_parquet(store.root / ONE)
    found = verify(store).findings
    assert {"candidates", ONE} <= {finding.path for finding in found}
    moved = [name for name in verify(store, repair=True).moved if name.startswith("candidates/")]
    assert moved == [ONE]


def test_damage_in_a_merged_file_takes_along_what_speaks_of_its_chunk(store: Store) -> None:
    merge_files(store)
    (path,) = (path for path in store.files("behaviours") if CHUNK in path.as_posix())
    flip(path.relative_to(store.root).as_posix())(store)
    moved = verify(store, repair=True).moved
    assert sorted(path.rpartition("/")[0] for path in moved if path.endswith(".parquet")) == [
        f"{table}/{CHUNK}" for table in ("behaviours", "executions")
    ]


RECORD = Record(
    task_id="tiny/first", sample_index=0, text="return 1", finish_reason=None, reply_id=None, served_model=None,
    prompt_tokens=1, completion_tokens=1, cost_usd=None, price_usd_per_million=None, price_date=None, prompt_hash="a",
    request_hash="b", max_tokens=9, attempts=1,
)  # fmt: skip


REPLIES: dict[str, object] = {"benchmark": "tiny", "model": "one", "temperature": 0.6}


def keep_reply(store: Store) -> Path:
    """Keep a reply, and return the file that it stands in."""
    kept = ReplyFile(store, REPLIES)
    with kept.appending():
        kept.append(RECORD)
    return kept.path


def test_a_changed_reply_is_found_and_stays(store: Store) -> None:
    kept = keep_reply(store)
    assert ReplyFile(store, REPLIES).records == {("tiny/first", 0): RECORD}
    assert verify(store).findings == ()
    kept.write_bytes(kept.read_bytes().replace(b"return 1", b"return 2"))
    with pytest.raises(BadStore, match="line 1 is damaged"):
        ReplyFile(store, REPLIES)
    (finding,) = verify(store, repair=True).findings
    assert finding.table == "replies"
    assert finding.what.startswith("line 1 is damaged: expected the reply that was written, found another text or")
    assert kept.is_file()


def test_changed_settings_are_refused(store: Store) -> None:
    path = store.root / "difftrust-store.json"
    path.write_text(path.read_text().replace('"seed": 0', '"seed": 1'))
    with pytest.raises(BadStore, match="its checksum does not fit"):
        Store.open(store.root)


def test_a_statement_names_the_damaged_file_and_verify(store: Store) -> None:
    cut(ESTIMATES)(store)
    with pytest.raises(BadStore, match=f"{ESTIMATES} is damaged .*difftrust verify"):
        query_estimates(store)


def test_a_table_of_a_store_that_lost_files_names_verify(store: Store) -> None:
    lose("members/benchmark=tiny/validity=reference/members.parquet")(store)
    with pytest.raises(NoStore, match=f"files of it are gone, `difftrust verify --store {store.root}` says"):
        estimates_for(TableRequest(store=store.root))


@pytest.mark.slow
def test_the_command(store: Store, capsys: Capture) -> None:
    verifying = partial(run, capsys, "verify", "--store", store.root, "--jobs", 1)
    (store.root / "notes.txt").write_text("mine")
    (store.root / ROOM_FILE).write_text("")  # of a command that writes, or of this one with --repair
    status, out, _ = verifying()
    assert status == 0
    assert out.splitlines()[0] == "note: notes.txt is no file of a store; it is not looked at"
    assert out.endswith("MB: nothing is wrong\n")
    flip(f"outcomes/{LATER}/tiny_first.parquet")(store)
    status, out, _ = verifying()
    assert status == 1
    assert f"outcomes/{LATER}/tiny_first.parquet: expected the bytes that were written here, found others" in out
    assert "1 things are wrong" not in out
    assert f"difftrust execute --store {store.root} -n 40" in out
    status, out, _ = verifying("--format=json")
    assert status == 1
    assert [f["table"] for f in json.loads(out)["findings"]] == ["outcomes"]
    assert verifying("--repair").status == 1
    execute(store, n=40, say=silent)
    refresh_estimates(store)
    assert verifying().status == 0
    kept = keep_reply(store)
    kept.write_bytes(kept.read_bytes().replace(b"return 1", b"return 2"))
    for words in ((), ("--repair",)):
        status, out, _ = verifying(*words)
        assert status == 1
        assert out.splitlines()[-2:] == [
            "replies are never moved; for each that is damaged:",
            "  take the line out and repeat the `difftrust generate` that asked for it, or restore the file",
        ]
        assert "--repair" not in out
        assert ROOM_FILE not in out


@pytest.mark.parametrize("name", ["link.parquet", "link", "folder", "folder.parquet", "tiny_first.parquet", "pipe"])
def test_a_link_is_moved_aside_itself_and_nothing_that_it_leads_to(store: Store, tmp_path: Path, name: str) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "mine.parquet").write_text("mine")
    link = store.root / "executions" / CHUNK / name
    link.unlink(missing_ok=True)
    if name == "pipe":
        os.mkfifo(link)
    else:
        link.symlink_to(elsewhere if "folder" in name else elsewhere / "mine.parquet")
    found = verify(store, repair=True)
    assert link.relative_to(store.root).as_posix() in {finding.path for finding in found.findings}
    assert link.relative_to(store.root).as_posix() in found.moved
    assert not is_plain(store.root / "damaged" / "executions" / CHUNK / name)
    assert (elsewhere / "mine.parquet").read_text() == "mine"
    assert verify(store).findings == ()


def test_what_a_linked_folder_leads_to_is_not_moved(store: Store, tmp_path: Path) -> None:
    chunk = store.root / "executions" / CHUNK
    chunk.rename(tmp_path / "elsewhere")
    chunk.symlink_to(tmp_path / "elsewhere")
    before = sorted(path.name for path in (tmp_path / "elsewhere").iterdir())
    flip(f"inputs/{CHUNK}/tiny_first.parquet")(store)
    assert f"executions/{CHUNK}" in verify(store, repair=True).moved
    assert sorted(path.name for path in (tmp_path / "elsewhere").iterdir()) == before
