"""Tasks whose ids nearly are one: each has files of its own, and what is said of it is said of it alone."""

import json
import shutil
import unicodedata
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

import difftrust as dt
from difftrust_core.base.task import MOST_ID, MOST_NAME
from difftrust_core.datasets.recorded import Recorded
from difftrust_core.estimates.queries import query_estimates, query_sql
from difftrust_core.exceptions import BadTask, WrongUsage
from difftrust_core.store.checksums import read_list
from difftrust_core.store.imports import add_candidates
from difftrust_core.store.store import Store, file_names
from tests.support.command import run, succeed, write_samples
from tests.support.tiny import RIGHT, TASKS, WRONG, candidates, measure

IDS = (
    *("a/b", "a_b", "a.b", "a%2Fb", "a~b", "a b", "/a/b", "A/B", "a/b_c", "a_b/c"),
    *(unicodedata.normalize("NFC", "é"), unicodedata.normalize("NFD", "é"), "日本", "x" * 300, "x" * 299 + "y"),
    *("tasks", "+merged", ".lock", "..", "../../etc", "difftrust-store.json", "a_b~3d2f0e0c0b0a0908", "damaged"),
    *("-rf", "'; --", "*", "\\"),
)
NAMED = (
    *IDS,
    *("a%b", "a//b", "A_B", "a_b_c", "e", "_", "日木", "x" * 299 + "/", "/" * 300, "x" * MOST_ID),
    *("candidates", "+merged.txt", ".scratch", ".", "-", "nul", "con", "{}", '"', "[0]", "$HOME"),
)
"""Further ones, which only get their names."""


def test_no_two_ids_have_one_name() -> None:
    names = [file_names(task_id)[0] for task_id in NAMED]
    assert len(set(names)) == len(NAMED)
    assert all(len(f"{name}.parquet") < 255 and not name.startswith((".", "+")) and "/" not in name for name in names)
    assert file_names("HumanEval/0") == ("HumanEval_0",)  # as in every store that was written before
    assert file_names("starter/split_bill") == ("starter_split_bill",)
    assert file_names("x" * 300)[0].partition("~")[0] == "x" * 80
    longest = "x/" + "y" * (MOST_NAME - 2)
    assert file_names(longest) == (longest.replace("/", "_"),)
    assert file_names(longest + "y")[0].partition("~")[0] == "x_" + "y" * 78
    own, former = file_names("a_b")
    assert former == "a_b" != own != file_names(own)[0]  # nor has an id that is written like a name with a digest


@pytest.mark.parametrize(
    ("part", "longest"), [("benchmark", "b" * MOST_NAME), ("entry_point", "C." + "f" * 10), ("task_id", "x" * MOST_ID)]
)
def test_a_name_is_as_long_as_it_may_be_and_no_longer(part: str, longest: str) -> None:
    assert getattr(replace(TASKS[0], **{part: longest}), part) == longest  # type: ignore[arg-type]
    with pytest.raises(BadTask):
        replace(TASKS[0], **{part: longest + (".g" if part == "entry_point" else "x")})  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a store of a task for each id, whose programs are wrong on the first inputs as often as its place says."""
    folder = tmp_path_factory.mktemp("names")
    tasks = [
        {"task_id": task_id, "entry_point": "f", "signature": "(n: int) -> int", "description": f"Return n. {task_id}",
         "reference": "def f(n):\n    return n\n", "domain": {"types": "n: int"}}
        for task_id in IDS
    ]  # fmt: skip
    (folder / "tasks.jsonl").write_text("".join(json.dumps(task) + "\n" for task in tasks))
    codes = {task_id: [f"def f(n):\n    return {at}\n"] for at, task_id in enumerate(IDS)}
    samples = write_samples(folder / "samples.jsonl", codes)
    store = folder / "benchmark=other" / "validity=none [a]*?" / "store"  # folders that are called like the store's
    coder = ("--model", "m", "--temperature", 0.6)
    succeed("import", samples, "--tasks", folder / "tasks.jsonl", *coder, "--store", store)
    assert f"executed {len(IDS)} tasks" in succeed("execute", "-n", 5, "--jobs", 1, "--store", store)
    return store


def test_each_task_has_its_own_rows(made: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = run(capsys, "execute", "-n", 5, "--jobs", 1, "--store", made)
    assert (status, f"nothing to do: all {len(IDS)} tasks" in out) == (0, True), out
    assert "nothing is wrong" in succeed("verify", "--store", made)
    rows = query_sql(Store.open(made), "SELECT task_id, text FROM outcomes WHERE text != 'n' ORDER BY ALL")
    returned = {task_id: {text for _, text in part.iter_rows()} for (task_id,), part in rows.group_by("task_id")}
    assert set(returned) == set(IDS)
    assert all(str(at) in returned[task_id] for at, task_id in enumerate(IDS))


def test_a_task_of_two_benchmarks_is_refused_until_one_is_named(tmp_path: Path) -> None:
    store = Store.create(tmp_path / "store")
    for benchmark in ("tiny", "other"):
        tasks = [replace(task, benchmark=benchmark) for task in TASKS]
        recorded = candidates("one", RIGHT, WRONG)
        named = Recorded(candidates=recorded.candidates.with_columns(benchmark=pl.lit(benchmark)))
        add_candidates(store, named, {benchmark: tasks}, n_jobs=1)
    measure(store, 5)
    study = dt.open(store.root)
    with pytest.raises(WrongUsage, match="other and tiny have a task 'tiny/first'; name one of them"):
        study.task("tiny/first", model="one")
    with pytest.raises(WrongUsage, match="no results of a task 'first'; its benchmarks with results: other, tiny"):
        study.report(task_id="first")
    assert study.task("tiny/first", model="one", benchmark="other").task_id == "tiny/first"


def test_what_tables_read_is_said_where_it_changes(
    made: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(made, tmp_path / "store")
    words = ("execute", "-n", 5, "--jobs", 1, "--store", tmp_path / "store")
    notice = "tables now read inputs all by default; --inputs domain reads those before"
    assert [notice in run(capsys, *words, "--inputs", "all")[1] for _ in range(2)] == [True, False]


@pytest.mark.slow
def test_results_and_merged_files_tell_them_apart(made: Path, tmp_path: Path) -> None:
    succeed("export", "--store", made, "--out", tmp_path / "results")
    store, results = Store.open(made), Store.open(tmp_path / "results")
    for each in (store, results):
        assert sorted(query_estimates(each)["task_id"].unique()) == sorted(IDS)
    before = query_estimates(store)
    assert "nothing is wrong" in succeed("verify", "--store", results.root)
    succeed("compact", "--store", store.root)
    succeed("execute", "-n", 8, "--jobs", 1, "--store", store.root)
    assert "nothing is wrong" in succeed("verify", "--store", store.root)
    after = query_estimates(store)
    assert after["task_id"].to_list() == before["task_id"].to_list()
    assert after["n"].unique().to_list() == [8]


def test_a_file_of_a_former_name_is_its_task_s_and_stays(tmp_path: Path) -> None:
    store = Store.create(tmp_path / "store")
    partition = {"benchmark": "b", "validity": "all", "start": 0}
    rows = {"input_index": [0], "arguments": ["(1,)"], "attempts": [1], "repeats": [0]}
    frame = pl.DataFrame({"task_id": ["a_b"], **rows})
    former = store.write("inputs", frame, partition, "a_b")
    assert store.read_task("inputs", partition, "a_b") is not None
    assert store.read_task("inputs", partition, "a/b") is None or former.stem == file_names("a/b")[0]
    store.write_task("inputs", frame.with_columns(arguments=pl.lit("(2,)")), partition, "a_b")
    assert [path.name for path in store.files("inputs")] == ["a_b.parquet"]


def test_what_was_written_before_a_failure_is_listed(tmp_path: Path) -> None:
    store = Store.create(tmp_path / "store")
    frame = pl.DataFrame({"program_id": ["x"], "n_tokens": [1]})
    written: list[Path] = []

    def write_until_full() -> None:
        with store.writing():
            written.append(store.write("tokens", frame, {"benchmark": "b"}, "tokens-1"))
            raise OSError("the disk is full")

    with pytest.raises(OSError, match="full"):
        write_until_full()
    assert read_list(store.root) == {path.relative_to(store.root).as_posix() for path in written}
