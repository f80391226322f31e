"""Candidates and tasks that come into a store: samples that are there already, and files of earlier versions."""

import json
import os
import shutil
from dataclasses import replace
from functools import partial
from pathlib import Path

import polars as pl
import pytest

from difftrust.verify.verification import verify
from difftrust_core.datasets.benchmarks import load_benchmark
from difftrust_core.datasets.recorded import Recorded, Selection, as_table
from difftrust_core.estimates.queries import query_estimates
from difftrust_core.exceptions import BadSource, BadStore, NoBenchmark, NoStore, StoreInUse, WrongUsage
from difftrust_core.store import imports
from difftrust_core.store.checksums import LIST_FILE
from difftrust_core.store.imports import add_candidates
from difftrust_core.store.settings import SETTINGS_FILE, Settings, has_checksums
from difftrust_core.store.store import Store
from tests.support.command import write_samples
from tests.support.tiny import OTHER, RIGHT, TASKS, WRONG, add, candidates, filled, measure, run_on

TASK = load_benchmark("starter")[0]
import_one = partial(imports.import_source, n_jobs=1)
CODER = Selection(models=frozenset(("m",)), temperatures=frozenset((0.6,)))


@pytest.mark.slow
def test_tasks_written_before_there_was_another_language_are_in_python(tmp_path: Path) -> None:
    stores = [filled(tmp_path / name, RIGHT, WRONG) for name in ("new", "earlier")]
    for path in stores[1].files("tasks"):
        pl.read_parquet(path, hive_partitioning=False).drop("language").write_parquet(path)
    for store in stores:
        measure(store, 20)
    assert query_estimates(stores[1]).equals(query_estimates(stores[0]))


def test_settings_have_a_checksum_where_every_file_has_one(tmp_path: Path) -> None:
    """A store begun before there were checksums stays one; so do results, whose files may be older than settings."""
    store = Store.create(tmp_path / "store")
    path = store.root / SETTINGS_FILE
    store.write_settings(replace(store.settings(), seed=3))
    written = json.loads(path.read_text())
    assert (store.settings().seed, "sha256" in written, has_checksums(store.root)) == (3, True, True)
    path.write_text(json.dumps({name: value for name, value in written.items() if name != "sha256"}))
    assert not has_checksums(store.root)
    store.write_settings(replace(store.settings(), seed=4))
    assert (store.settings().seed, "sha256" in json.loads(path.read_text())) == (4, False)
    results = Store.create(tmp_path / "results", Settings(tables=("estimates",)))
    assert "sha256" in json.loads((results.root / SETTINGS_FILE).read_text())
    path.write_text("[")
    assert not any(map(has_checksums, (results.root, store.root, tmp_path)))


def test_a_sample_that_is_there_with_another_text_is_kept_and_reported(tmp_path: Path) -> None:
    store = filled(tmp_path / "store", RIGHT)
    again = add(store, "coder", WRONG, OTHER)
    assert (again.n_candidates, again.n_known, len(again.bad_rows)) == (3, 0, 3)
    assert "holds this sample with another text" in again.bad_rows[0].why
    same = add(store, "coder", RIGHT, OTHER)
    assert (same.n_candidates, same.n_known, same.n_programs, same.bad_rows) == (0, 6, 0, ())


def test_a_task_that_was_executed_may_not_change(tmp_path: Path) -> None:
    store = filled(tmp_path / "store", RIGHT)
    changed = [replace(TASKS[0], reference=WRONG["tiny/double"]), *TASKS[1:]]
    assert add(store, "other", RIGHT, tasks=changed).n_candidates == 3
    run_on(store, 2)
    with pytest.raises(WrongUsage, match="tiny/double of tiny was executed, and its reference changed since"):
        add(store, "third", RIGHT)


@pytest.mark.parametrize(("models", "temperatures"), [("m", [0.6]), ("m", []), ("", [0.6]), ("mo", [0.6])])
def test_samples_that_name_no_coder_are_those_of_the_one_that_is_named(
    tmp_path: Path, models: str, temperatures: list[float]
) -> None:
    samples, root = write_samples(tmp_path / "samples.jsonl", {TASK.task_id: (TASK.reference,)}), tmp_path / "store"
    selection = Selection(models=frozenset(models) or None, temperatures=frozenset(temperatures) or None)
    if selection == CODER:
        assert import_one(root, samples, selection).n_candidates == 1
        assert Store.open(root).read("candidates").select("model", "temperature").rows() == [("m", 0.6)]
    else:
        with pytest.raises(WrongUsage, match="give one --model and one --temperature"):
            import_one(root, samples, selection)


@pytest.mark.parametrize("benchmarks", [None, frozenset(("starter",))])
def test_a_folder_of_samples_is_read_where_its_benchmark_is_named_and_where_not(
    tmp_path: Path, benchmarks: frozenset[str] | None
) -> None:
    folder = tmp_path / "samples" / TASK.task_id.replace("/", "_")
    folder.mkdir(parents=True)
    (folder / "0.py").write_text(TASK.reference or "")
    found = import_one(tmp_path / "store", folder.parent, replace(CODER, benchmarks=benchmarks))
    assert found.n_candidates == 1


def test_a_file_called_like_what_can_be_fetched_is_itself_the_source(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("DIFFTRUST_DATA", "DIFFTRUST_CACHE"):
        monkeypatch.setenv(name, str(tmp_path / "nothing"))
    Path("difftrust").touch()
    with pytest.raises(BadSource, match="found a file of another name"):
        import_one(tmp_path / "store", Path("difftrust"), Selection())


def test_samples_of_own_tasks_are_of_these_alone(tmp_path: Path) -> None:
    codes = {"tiny/double": (RIGHT["tiny/double"],), TASK.task_id: (TASK.reference,)}
    samples = write_samples(tmp_path / "samples.jsonl", codes)
    import_one(tmp_path / "store", samples, CODER, tasks=TASKS)
    assert Store.open(tmp_path / "store").read("candidates")["task_id"].to_list() == ["tiny/double"]


def test_a_sample_whose_task_has_the_id_of_another_benchmark_s_is_of_the_one_that_is_said(tmp_path: Path) -> None:
    root, two = tmp_path / "store", [[replace(task, benchmark=name) for task in TASKS] for name in ("one", "two")]
    samples = write_samples(tmp_path / "samples.jsonl", {"tiny/double": (RIGHT["tiny/double"],)})
    for tasks in (*two, two[0]):  # the last ones are known, and so are those of "two" by now
        import_one(root, samples, CODER, tasks=tasks)
    other = replace(CODER, models=frozenset(("other",)))
    with pytest.raises(WrongUsage, match="tiny/double is a task of one and of two; say which with --benchmark"):
        import_one(root, samples, other)
    import_one(root, samples, replace(other, benchmarks=frozenset(("one",))))
    import_one(root, samples, replace(other, models=frozenset(("new",))), tasks=two[0])
    found = Store.open(root).read("candidates").select("benchmark", "model").rows()
    assert sorted(found) == [("one", "m"), ("one", "new"), ("one", "other"), ("two", "m")]


def test_candidates_under_another_benchmark_are_of_own_tasks_if_each_of_their_ids_is(tmp_path: Path) -> None:
    found = [("whole", "tiny/double"), ("partly", "tiny/double"), ("partly", "tiny/none")]
    rows = [(benchmark, task_id, benchmark, 0.6, 0, RIGHT["tiny/double"]) for benchmark, task_id in found]
    as_table(rows).write_parquet(tmp_path / "candidates.parquet")
    import_one(tmp_path / "store", tmp_path / "candidates.parquet", Selection(), tasks=TASKS)
    assert Store.open(tmp_path / "store").read("candidates").select("benchmark", "model").rows() == [("tiny", "whole")]


def test_a_benchmark_that_nobody_knows_is_refused_though_candidates_name_their_own(tmp_path: Path) -> None:
    candidates("m", RIGHT).candidates.write_parquet(tmp_path / "candidates.parquet")
    selection = Selection(benchmarks=frozenset(("nope",)))
    with pytest.raises(NoBenchmark, match="nope"):
        import_one(tmp_path / "store", tmp_path / "candidates.parquet", selection)


ODD = (
    ("candidates", "sample_index", pl.struct(pl.col("sample_index").alias("a"))),
    ("behaviours", "outcome_ids", pl.lit(None)),
    ("behaviours", "outcome_ids", pl.lit([], pl.List(pl.UInt16))),
    ("behaviours", "outcome_ids", pl.col("outcome_ids").list.eval(pl.element() + 999)),
    ("executions", "behaviour_id", pl.lit(999, pl.UInt16)),
    ("outcomes", "kind", pl.lit("nope")),
    ("programs", "code", pl.lit(None, pl.String)),
    ("tasks", "description", pl.lit(None, pl.String)),
    ("tasks", "seed_inputs", pl.lit([None], pl.List(pl.String))),
    ("tasks", "domain", pl.lit("[" * 100_000)),
    ("tasks", "domain", pl.lit('{"types": "", "requires": 1}')),
    ("tasks", "relation", pl.lit('{"nope": ""}')),
    ("tasks", "tests", pl.lit("7")),
)


def test_records_and_nulls_in_a_file_of_somebody_else_are_refused_in_one_line(tmp_path: Path) -> None:
    store = filled(tmp_path / "store", RIGHT)
    run_on(store, 5)
    for table, column, odd in ODD:
        path = store.files(table)[0]
        whole = path.read_bytes()
        pl.read_parquet(path, hive_partitioning=False).with_columns(odd.alias(column)).write_parquet(path)
        with pytest.raises(BadStore, match=table[:8].rstrip("s")):
            measure(store, 9)
        assert path.relative_to(store.root).as_posix() in {finding.path for finding in verify(store).findings}
        path.write_bytes(whole)
    path = store.files("tasks")[0]
    for change in (lambda tasks: pl.concat([tasks, tasks]), lambda tasks: tasks.with_columns(language=pl.lit("nope"))):
        change(pl.read_parquet(path, hive_partitioning=False)).write_parquet(path)
        with pytest.raises((BadStore, WrongUsage)):
            measure(store, 9)
        assert "tasks" in {finding.path for finding in verify(store).findings}


PLACES = ("candidates", "programs/benchmark=tiny", "tasks/benchmark=tiny/tasks.parquet", "difftrust-files.txt",
          "difftrust-store.json", ".lock", ".scratch", "damaged", "programs/x.parquet")  # fmt: skip


@pytest.mark.parametrize("kind", ["link", "pipe", "nowhere"])
@pytest.mark.parametrize("place", PLACES)
def test_what_leads_out_of_a_store_is_refused_and_left_alone(tmp_path: Path, place: str, kind: str) -> None:
    store = filled(tmp_path / "store", RIGHT)
    path, elsewhere = store.root / place, tmp_path / "elsewhere"
    if path.exists():
        path.rename(elsewhere)
    else:
        elsewhere.mkdir()
    if kind == "pipe":
        os.mkfifo(path)
    else:
        path.symlink_to(elsewhere if kind == "link" else path)
    before = sorted(elsewhere.rglob("*"))
    with pytest.raises((BadStore, NoStore)):
        add(Store.open(store.root), "another", WRONG)
    if place.startswith(("candidates", "programs", "tasks")):
        with pytest.raises(BadStore, match="expected a file or folder of the store, found"):
            store.read(place.partition("/")[0])
    if place != "difftrust-store.json":
        assert place in {finding.path for finding in verify(store).findings}
    assert sorted(elsewhere.rglob("*")) == before


def test_a_file_that_is_being_written_is_not_written_through_a_link(tmp_path: Path) -> None:
    store = filled(tmp_path / "store", RIGHT)
    (tmp_path / "mine").write_text("mine")
    (store.root / ".difftrust-files.txt.tmp").symlink_to(tmp_path / "mine")
    add(store, "another", WRONG)
    assert (tmp_path / "mine").read_text() == "mine"


@pytest.mark.parametrize(
    "folders",
    ["model=one/temperature=0.60", "model=%6Fne/temperature=0.6", "model=one/temperature=nan", "model=one",
     "temperature=1.0", "model=one/temperature=-1.0", "model=one/temperature=-0.0",
     "model=one/temperature=4294967296.0",
     "model=a=b/temperature=0.6"],
)  # fmt: skip
def test_a_folder_of_another_spelling_is_refused_as_its_rows_would_count_twice(tmp_path: Path, folders: str) -> None:
    store = filled(tmp_path / "store", RIGHT, model="one")
    (known,) = store.files("candidates")
    copy = store.root / "candidates/benchmark=tiny" / folders / known.name
    copy.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(known, copy)
    for read in (store.read, store.files):
        with pytest.raises(BadStore, match=r"expected folders benchmark=.../model=.../temperature=... as difftrust"):
            read("candidates")
    assert copy.relative_to(store.root).as_posix() in verify(store, repair=True).moved
    assert len(store.read("candidates")) == 3


def test_a_temperature_of_minus_zero_is_zero(tmp_path: Path) -> None:
    store = Store(tmp_path)
    folders = {store.folder("candidates", {"benchmark": "b", "model": "m", "temperature": t}) for t in (0.0, -0.0)}
    assert [folder.name for folder in folders] == ["temperature=0.0"]


def test_a_file_of_somebody_else_whose_name_no_line_can_hold_is_not_listed(tmp_path: Path) -> None:
    store = filled(tmp_path / "store", RIGHT)
    listed = (store.root / LIST_FILE).read_bytes()
    for name in (b"a\nb.parquet", "a\u2028b.parquet".encode(), b"\xff.parquet"):
        (store.root / "candidates" / os.fsdecode(name)).touch()
    with pytest.raises(BadStore, match="as difftrust spells them"):
        add(store, "another", WRONG)
    assert (store.root / LIST_FILE).read_bytes() == listed
    assert len(verify(store, repair=True).moved) == 3
    assert not verify(store).findings


def test_a_store_may_itself_be_reached_by_a_link(tmp_path: Path) -> None:
    filled(tmp_path / "store", RIGHT)
    (tmp_path / "link").symlink_to(tmp_path / "store")
    assert len(Store.open(tmp_path / "link").read("programs")) == 3


def test_a_store_is_made_where_nothing_else_is(tmp_path: Path) -> None:
    for name, left in (("left", f".{SETTINGS_FILE}.tmp"), ("mine", "notes.txt")):
        (tmp_path / name).mkdir()
        (tmp_path / name / left).touch()
    (tmp_path / "empty").mkdir()
    for name in ("new/below", "empty", "left"):
        assert Store.create(tmp_path / name).root == tmp_path / name
    for name in ("mine", "mine/notes.txt"):
        with pytest.raises(NoStore, match="is there and is no difftrust store"):
            Store.create(tmp_path / name)


def test_who_holds_a_store_may_hold_it_once_more_and_nobody_else(tmp_path: Path) -> None:
    store = Store.create(tmp_path / "store")
    for _ in range(2):
        with store.writing(), store.writing(), pytest.raises(StoreInUse), Store.open(store.root).writing():
            pass
    with Store.open(store.root).writing():
        pass


def test_a_model_whose_name_no_folder_can_have_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadStore, match=r"^model=%C3.*: expected a shorter model, found one that no folder can"):
        filled(tmp_path / "store", RIGHT, model="é" * 42)
    longest = "é" * 41 + "m" * 3
    assert set(filled(tmp_path / "other", RIGHT, model=longest).read("candidates")["model"]) == {longest}


def test_so_many_coders_are_taken_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    both = Recorded(candidates=pl.concat([candidates(name, RIGHT).candidates for name in ("a", "b")]))
    store = Store.create(tmp_path / "store")
    monkeypatch.setattr(imports, "MOST_CODERS", 1)
    with pytest.raises(BadSource, match=r"at most 1 models and temperatures, found 2; name some"):
        add_candidates(store, both, {"tiny": TASKS}, n_jobs=1)
    monkeypatch.setattr(imports, "MOST_CODERS", 2)
    assert add_candidates(store, both, {"tiny": TASKS}, n_jobs=1).n_candidates == 6


def test_where_no_row_can_be_used_nothing_was_imported(tmp_path: Path) -> None:
    nothing = Recorded(candidates=candidates("coder", RIGHT).candidates.clear(), bad_rows=(), skipped={"files": 2})
    done = add_candidates(filled(tmp_path / "store", RIGHT), nothing, {"tiny": TASKS}, n_jobs=1)
    assert (done.n_candidates, done.n_known, done.n_programs, done.skipped) == (0, 0, 0, {"files": 2})
