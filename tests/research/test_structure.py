"""`difftrust structure` and `compare`: a row each coder and task, resumed, renewed, queried; anyone's samples."""

import io
import json
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

from difftrust.research.structure import Compared, StabilityRequest, compare_store
from difftrust.structure.pairwise import Programs, stability
from difftrust.structure.trees import Options
from difftrust_core.datasets.recorded import Selection
from difftrust_core.estimates.queries import query_sql
from difftrust_core.exceptions import NoStore, StoreInUse
from difftrust_core.store.imports import add_candidates
from difftrust_core.store.store import Store
from tests.support.command import Capture, run, succeed
from tests.support.evalplus import write_bigcodebench
from tests.support.tiny import OTHER, RIGHT, TASKS, WRONG, candidates, contents, filled


@pytest.fixture
def store(tmp_path: Path) -> Store:
    opened = filled(tmp_path / "store", RIGHT, RIGHT, WRONG, OTHER, model="a")
    add_candidates(opened, candidates("b", RIGHT, RIGHT), {"tiny": TASKS}, n_jobs=1)
    return opened


def test_a_row_each_coder_and_task(store: Store) -> None:
    done = compare_store(store, StabilityRequest())
    assert (done.n_rows, done.n_at_hand) == (6, 0)
    rows = query_sql(store, "select * from stability order by model, task_id")
    want = stability(Programs([made["tiny/double"] for made in (RIGHT, WRONG, OTHER)]), [0, 0, 1, 2])
    first = rows.row(0, named=True)
    assert (first["model"], first["task_id"], first["m"], first["n_programs"]) == ("a", "tiny/double", 4, 3)
    for name, value in want.scores.items():
        assert first[name] == (None if name == "tsed" else pytest.approx(value, abs=1e-9))
    assert rows["jsd"].to_list()[3:] == [1.0, 1.0, 1.0]
    assert (first["options"], first["first"], first["language"], first["epsilon"]) == ("default", 0, "python", 1e-10)


def test_new_candidates_and_a_score_that_rows_lack_renew_them(store: Store) -> None:
    compare_store(store, StabilityRequest())
    add_candidates(store, candidates("b", RIGHT, RIGHT, WRONG), {"tiny": TASKS}, n_jobs=1)
    done = compare_store(store, StabilityRequest())
    assert (done.n_rows, done.n_at_hand) == (3, 3)
    rows = query_sql(store, "select model, m from stability order by 1, 2")
    assert rows.rows() == [("a", 4)] * 3 + [("b", 3)] * 3
    assert compare_store(store, StabilityRequest(with_tsed=True)).n_rows == 6
    for with_tsed in (True, False):
        assert compare_store(store, StabilityRequest(with_tsed=with_tsed)).n_rows == 0
        assert query_sql(store, "select count(tsed) from stability").item() == 6


def test_the_same_bytes_again_and_nothing_twice(store: Store) -> None:
    first = compare_store(store, StabilityRequest())
    assert first.seconds > 0
    stored = store.read("stability")
    assert (first.n_parse_errors, first.n_left_out) == stored.select(pl.sum("n_parse_errors", "n_left_out")).row(0)
    assert stored["jsd"].round(9).equals(stored["jsd"])  # machines differ in the last bits
    before = contents(store, "stability")
    again = compare_store(store, StabilityRequest(n_jobs=2))
    assert replace(again, seconds=0) == Compared(n_rows=0, n_at_hand=6, n_parse_errors=0, n_left_out=0)
    assert contents(store, "stability") == before
    for path in store.files("stability"):
        path.unlink()
    compare_store(store, StabilityRequest(n_jobs=2))
    assert contents(store, "stability") == before


def test_other_options_and_other_m_stand_beside(store: Store) -> None:
    for options in (Options(), Options(base="e", subtree_depth=2)):
        compare_store(store, StabilityRequest(options=options))
    compare_store(store, StabilityRequest(selection=Selection(m=2, models=frozenset({"a"}))))
    found = query_sql(store, "select options, first, count(*), max(m) from stability group by 1, 2 order by 1, 2")
    assert found.rows() == [("base=e,subtree_depth=2", 0, 6, 4), ("default", 0, 6, 4), ("default", 2, 3, 2)]


def test_a_store_in_use_or_empty_is_refused(store: Store, tmp_path: Path) -> None:
    with Store.open(store.root).writing(), pytest.raises(StoreInUse):
        compare_store(store, StabilityRequest())
    with pytest.raises(NoStore, match="no candidates of this selection"):
        compare_store(store, StabilityRequest(selection=Selection(models=frozenset({"c"}))))
    with pytest.raises(NoStore, match="no candidates"):
        compare_store(Store.create(tmp_path / "empty"), StabilityRequest())


def test_compare_prints_every_score_of_two_files(tmp_path: Path, capsys: Capture) -> None:
    one, other = tmp_path / "a.py", tmp_path / "b.py"
    one.write_text("def f(total):\n    return total\n")
    other.write_text("def f(x):\n    return x\n")
    status, out, err = run(capsys, "compare", one, other, "--format", "csv")
    frame = pl.read_csv(io.StringIO(out))
    assert (status, err) == (0, "")
    assert frame["score"].to_list()[:3] == ["exact_match", "bleu", "jsd_structural"]
    of = {name: (there, back) for name, there, back in frame.iter_rows()}
    assert of["jsd_structural"] == of["tsed"] == (1.0, 1.0)
    assert of["exact_match"] == (0.0, 0.0)
    assert of["jsd"][0] < 1
    assert run(capsys, "compare", one, one, "--format", "csv")[1].count("1.0") == 2 * frame.height
    other.write_text("def f(:\n")
    assert f"{other} does not parse whole as python" in run(capsys, "compare", one, other)[2]


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["a.py", "none.py"], "is none"),
        (["a.py", "big.py"], "at most 1,048,576 bytes"),
        (["a.py", "a.py", "--language", "klingon"], "installed tree-sitter grammar"),
        (["a.py", "a.py", "--smoothing", "2"], "smoothing (epsilon) lies between 0 and 1"),
    ],
)
def test_compare_of_what_cannot_be_read_gives_one_line(
    words: list[str], why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.py").write_text("x\n")
    Path("big.py").write_text("#" * (1 << 20) + "\n")
    status, _, err = run(capsys, "compare", *words)
    assert (status, len(err.splitlines())) == (2, 1)
    assert why in err


def test_anyones_samples_for_bigcodebench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    write_bigcodebench(tmp_path / "data")
    monkeypatch.setenv("DIFFTRUST_DATA", str(tmp_path / "data"))
    path, store = tmp_path / "s.jsonl", tmp_path / "store"
    programs = [{"solution": "def task_func(numbers):\n    return 1\n"}, {"completion": "    return 2\n"}]
    path.write_text("".join(json.dumps({"task_id": "BigCodeBench/0"} | one) + "\n" for one in programs))
    words = ("structure", path, "--model", "m", "--temperature", "0.2", "--store", store, "-j", "1", "--base", "e")
    status, out, err = run(capsys, *words)
    assert status == 0, err
    assert "compared the programs of 1 (coder, task) pair" in out
    assert "(options: base=e)" in out
    rows = query_sql(Store.open(store), "select * from stability")
    told = rows.select("benchmark", "task_id", "m", "language").row(0)
    assert told == ("BigCodeBench", "BigCodeBench/0", 2, "python")
    assert 0 < rows["jsd"].item() < 1
    assert run(capsys, "structure", "--store", store, "--base", "e")[1].startswith("nothing to do")
    assert run(capsys, "structure", path, "--store", store)[0] == 2


@pytest.mark.slow
def test_queries_are_compared_as_queries_whatever_their_benchmark_is_called(tmp_path: Path) -> None:
    folder = tmp_path / "store"
    words = ("--benchmark", "starter-sql", "--model", "simulated/medium", "-m", "3", "--store", folder)
    succeed("generate", *words)
    succeed("structure", "--store", folder, "-j", "1")
    rows = query_sql(Store.open(folder), "select * from stability")
    assert rows.select("language", "options").unique().rows() == [("sql", "default")]
    assert rows["n_parse_errors"].sum() == 0
    path = next(folder.glob("stability/**/*.parquet"))
    pl.read_parquet(path, hive_partitioning=False).with_columns(language=pl.lit("python")).write_parquet(path)
    assert "0 needed nothing" in succeed("structure", "--store", folder, "-j", "1")  # made by another grammar
    assert query_sql(Store.open(folder), "select * from stability").equals(rows)
