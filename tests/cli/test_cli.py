"""The command as a user meets it: what it prints, and with which exit status it ends."""

import ast
import io
import json
import os
import shlex
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import typer

import difftrust.cli
from difftrust.cli.commands import COMMANDS as BY_MODULE
from difftrust.cli.printing import echo, echo_line
from difftrust.shipped import find_starter_results
from difftrust.tasks.find_texts import commands_for_texts
from difftrust_core.datasets.benchmarks import load_benchmark
from tests.support.command import Capture, executed_samples, run, succeed, typed, write_samples
from tests.support.stubs import write_stub
from tests.support.tiny import WRONG, executed

COMMANDS = [command for commands in BY_MODULE.values() for command in commands]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two right and one wrong solution of two starter tasks, executed on 30 inputs, made once."""
    codes = {
        task.task_id: (task.reference, task.reference, f"def {task.entry_point}(*args):\n    return 'wrong'\n")
        for task in load_benchmark("starter")[:2]
    }
    return executed_samples(tmp_path_factory.mktemp("made"), codes, n=30)


@pytest.fixture
def samples(made: Path) -> Path:
    return made.with_name("samples.jsonl")


@pytest.fixture
def store(made: Path, capsys: Capture) -> Path:
    """Return the store, which no test changes, after what making it said."""
    capsys.readouterr()
    return made


@pytest.mark.parametrize("command", COMMANDS)
def test_help_has_an_example(capsys: Capture, command: str) -> None:
    status, out, _ = run(capsys, command, "--help")
    assert status == 0
    assert f"Example: difftrust {command}" in " ".join(out.split())


def test_the_help_has_the_commands_of_each_module_in_their_order_a_whole_line_each_and_none_prints_it(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module, commands in BY_MODULE.items():
        group = typer.main.get_group(import_module(f"difftrust.cli.{module}").commands)
        assert list(group.commands) == list(commands)
    monkeypatch.setenv("COLUMNS", "80")
    said = run(capsys, "--help")
    assert run(capsys) == said
    listed = said.out.partition("Commands:")[2]
    assert "..." not in listed
    assert sorted(line.split()[0] for line in listed.splitlines()[1:] if line[2:3].strip()) == sorted(COMMANDS)


def test_import_execute_and_table(capsys: Capture, store: Path) -> None:
    out = typed(capsys, f"table 4 --store {store} --format csv --detection all-pairs").out
    row = pl.read_csv(io.StringIO(out)).row(0, named=True)
    assert (row["benchmark"], row["model"], row["tasks"]) == ("starter", "m1", 2)
    assert row["mean_error"] == pytest.approx(1 / 3)
    assert row["mean_incoherence"] == pytest.approx(2 / 3)
    assert row["detection_rate"] == 1.0
    status, out, _ = typed(capsys, f"execute --store {store} -n 30")
    assert (status, out.startswith("nothing to do")) == (0, True)


def test_the_other_formats(capsys: Capture, store: Path) -> None:
    _, markdown, _ = typed(capsys, f"table 4 --store {store} --format markdown")
    assert markdown.splitlines()[0].startswith("| benchmark")
    assert "0.3333" in markdown
    query = "SELECT '![a](http://x.example) <img src=x> \\|&' AS hostile"
    _, markdown, _ = run(capsys, "sql", query, "--store", store, "--format", "markdown")
    assert "| ![a]\\(http://x.example) &lt;img src=x> \\\\\\|&amp; |" in markdown
    _, latex, _ = typed(capsys, f"table 4 --store {store} --format latex")
    assert r"\toprule" in latex
    assert r"mean\_error" in latex
    _, table, _ = typed(capsys, f"table 4 --store {store}")
    assert "with I > 2E: 0; with E = 0 < I: 0" in table


def test_table_with_intervals(capsys: Capture, store: Path) -> None:
    _, out, err = typed(capsys, f"table 4 --store {store} --format csv --intervals --seed 3")
    row = pl.read_csv(io.StringIO(out)).row(0, named=True)
    # Both tasks have the same error: no resample differs.
    assert (row["mean_error_low"], row["mean_error_high"]) == (pytest.approx(1 / 3), pytest.approx(1 / 3))
    assert "95 % intervals over tasks (BCa, 2000 resamples, seed 3)" in err
    for style in ("text", "markdown", "latex"):
        _, out, _ = typed(capsys, f"table 4 --store {store} --format {style} --intervals")
        assert "0.333 [0.333, 0.333]" in out
        assert "mean_error_low" not in out.replace("\\", "")


def test_what_agreement_is_worth(capsys: Capture, store: Path) -> None:
    def row_of(words: str) -> tuple[dict[str, Any], str]:
        _, out, err = typed(capsys, f"table {words} --store {store} --format json")
        (row,) = json.loads(out)
        return row, err

    row, err = row_of("agreement -m 2 --alpha 0.4 --delta 0.45")
    # The first two programs of both tasks agree and are right; half of two tasks is one: 0.6 of it being right by luck.
    assert (row["agree_coverage"], row["agree_risk"], row["agree_risk_low"]) == (1, 0, 0)
    assert row["agree_risk_high"] == pytest.approx(1 - 0.025**0.5)
    assert (row["threshold"], row["held_out_risk"], row["transfer_coverage"]) == (None, None, None)
    assert "risk at most 0.4 with probability 0.55" in err
    row, _ = row_of("agreement -m 2 --alpha 0.4 --delta 0.65")
    assert (row["threshold"], row["held_out_coverage"], row["held_out_risk"]) == (1, 1, 0)
    row, _ = row_of("agreement")
    # Of three programs one is wrong: no task on which all agree, and nothing to answer by.
    assert (row["agree_coverage"], row["agree_risk"], row["threshold"]) == (0, None, None)
    row, err = row_of("guarantee -m 2 --alpha 0.4 --delta 0.65")
    assert (row["answering"], row["coverage"], row["risk"], row["broken"], row["transfer_broken"]) == (1, 1, 0, 0, None)
    assert "1,000 repetitions" in err
    _, out, _ = typed(capsys, f"table agreement --store {store}")
    assert "None" not in out


@pytest.mark.parametrize("is_named_by_option", [True, False])
def test_a_dashboard_is_not_started_on_a_store_without_results(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch, samples: Path, tmp_path: Path, is_named_by_option: bool
) -> None:
    monkeypatch.setattr("os.execv", lambda *_: pytest.fail("a server is started"))
    succeed(*f"import {samples} --store {tmp_path}/there --model m1 --temperature 0.6".split())
    for name, said in (("nowhere", "no difftrust store in"), ("there", "holds no results yet; run `difftrust execute")):
        monkeypatch.setenv("DIFFTRUST_STORE", "" if is_named_by_option else str(tmp_path / name))
        named = ("--store", tmp_path / name) if is_named_by_option else ()
        status, _, err = run(capsys, "dashboard", *named)
        assert (status, err.count("\n"), said in err) == (1, 1, True), err


def test_a_verdict_that_nobody_reads_is_undecided_without_a_trace(tmp_path: Path) -> None:
    stub = 'def f(x: int) -> int:\n    """Return x."""\n'
    where, programs = write_stub(tmp_path, stub, ["def f(x):\n    return x", "def f(x):\n    return x + 0"])
    words = [Path(sys.executable).with_name("difftrust"), "check", where, "--candidates", programs, "-n", "20"]
    reads, writes = os.pipe()
    os.close(reads)
    done = subprocess.run(words, stdout=writes, stderr=subprocess.PIPE, text=True, check=False)
    os.close(writes)
    assert (done.returncode, "Traceback" in done.stderr, "itself failed" in done.stderr) == (3, False, False)


def test_completion_knows_commands_and_options_but_no_former_names() -> None:
    for line, position, completed in (("difftrust ta", 1, "table"), ("difftrust check --in", 2, "--inputs")):
        told = {"COMP_WORDS": line, "COMP_CWORD": str(position), "_DIFFTRUST_COMPLETE": "complete_bash"}
        done = subprocess.run(
            [Path(sys.executable).with_name("difftrust")], env=os.environ | told, capture_output=True, text=True
        )
        assert (done.returncode, done.stdout.split()) == (0, [completed])


def test_shipped_results_are_read_without_a_store(capsys: Capture) -> None:
    status, out, _ = typed(capsys, 'sql "select count(distinct model) as n from estimates" --format csv')
    assert (status, out.split()) == (0, ["n", "16"])


def test_plan(capsys: Capture) -> None:
    _, out, _ = typed(capsys, "plan --epsilon 0.05 --delta 0.05")
    assert out.startswith("738 inputs: E and I, each within 0.05")  # ln(40) / 0.005 = 737.8
    assert "59 inputs without a disagreement" in out  # 0.95^59 = 0.0485


def test_policies(capsys: Capture, store: Path) -> None:
    _, out, err = typed(capsys, f"table policies --store {store} --jobs 1 --model m1 --format csv")
    found = pl.read_csv(io.StringIO(out))
    # Two programs are right and one is wrong on every input: what is bought differs from the wrong one always, and
    # from a right one every second time.
    assert found["policy"].to_list() == ["2 own: that one differs", "3 own: any differ", "3 own: any differ, stopping"]
    assert found["usd_per_1000"].null_count() == 3
    assert "without a known price: m1" in err


@pytest.mark.quick(3)
@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("1", "rho = undefined"),
        ("ablation --vary n", "m1; m = 3"),
        ("ablation --vary temperature", "m1; m = 3"),
        ("2", "drew"),
        ("3", "drew"),
        ("ranking", "with I > 2E: 0"),
        ("ablation", "m1; n = 30"),
        ("mixtures", "m = 3 programs a task, n = 30"),
        ("questions", "the user is the reference"),
        ("risk-coverage", "answer: the behaviour of most of the programs"),
    ],
)
def test_figures_of_any_store(capsys: Capture, store: Path, tmp_path: Path, name: str, said: str) -> None:
    m = "" if name.startswith("ablation") else "-m 3"  # an ablation of few programs takes those there are
    words = f"figure {name} --store {store} --jobs 1 {m} --out {tmp_path}/figure.svg"
    status, out, err = typed(capsys, words)
    assert (status, err) == (0, "")
    assert said in out
    assert (tmp_path / "figure.svg").read_text().startswith("<svg")


def test_answers_of_any_store(capsys: Capture, store: Path, tmp_path: Path) -> None:
    words = f"table questions --store {store} --format csv --jobs 1"
    _, out, err = typed(capsys, words)
    table = pl.read_csv(io.StringIO(out))
    # Two of three candidates are right: the consensus is, and the one question leaves it.
    assert table["model"].to_list() == ["m1", "m1", "mean", "mean"]
    assert table["pass_at_1"].to_list() == pytest.approx([2 / 3] * 4)
    assert table.select("consensus", "after_1", "after_5", "some_right", "questions").rows() == [(1, 1, 1, 1, 1)] * 4
    assert table["none_left"].to_list() == table["gain_1"].to_list() == [0] * 4
    assert "the user is the reference; tasks without a reference, left out: 0" in err
    assert "published for another model and setting: pass@1 0.482 to 0.707 on MBPP" in err
    _, out, _ = typed(capsys, f"{words} --intervals")
    assert {"after_1_low", "after_1_high", "questions_low"} <= set(pl.read_csv(io.StringIO(out)).columns)
    words = f"figure questions --store {store} --model m1 --benchmark starter --jobs 1 --out {tmp_path}/one.svg"
    assert typed(capsys, words).status == 0
    assert "starter, m = 3" in (tmp_path / "one.svg").read_text()


def test_models_that_err_on_no_two_programs_cannot_be_compared(capsys: Capture, tmp_path: Path) -> None:
    made = executed(tmp_path / "store", n=5, alone=[WRONG])
    status, _, err = typed(capsys, f"figure correlated --store {made.root} --out {tmp_path}/figure.svg")
    assert (status, err.count("\n")) == (1, 1)
    assert "there is nothing to draw" in err


def execution(folder: Path, codes: dict[str, tuple[str | None, ...]], *, n: int) -> tuple[str, Path]:
    """Return what executing these programs of a model m prints, and the store."""
    samples, store = write_samples(folder / "s.jsonl", codes), folder / "store"
    succeed(*f"import {samples} --model m --temperature 0.6 --store {store}".split())
    return succeed(*f"execute --store {store} -n {n} --jobs 1".split()), store


@pytest.mark.slow
def test_pairs_with_a_timeout_can_be_left_out(capsys: Capture, tmp_path: Path) -> None:
    one, other = load_benchmark("starter")[:2]
    loop = f"def {one.entry_point}(*args):\n    while True:\n        pass\n"
    codes = {one.task_id: (one.reference, loop), other.task_id: (other.reference, other.reference)}
    out, store = execution(tmp_path, codes, n=10)
    assert f"1 tasks have a timeout; on another machine they may not: {one.task_id}" in out
    words = f"table 4 --store {store} --format csv"
    assert pl.read_csv(io.StringIO(typed(capsys, words).out))["mean_error"].to_list() == [0.25, 0.25]
    _, out, err = typed(capsys, f"{words} --drop-timeouts")
    assert pl.read_csv(io.StringIO(out))["mean_error"].to_list() == [0.0, 0.0]
    assert "left out for a timeout: 1 (coder, task) pairs" in err


def test_sql(capsys: Capture, store: Path) -> None:
    question = "select kind, count(*) as n from outcomes group by 1 order by 1"
    status, out, _ = run(capsys, "sql", question, "--store", store, "--format", "json")
    assert status == 0
    assert [row["kind"] for row in json.loads(out)] == ["value"]
    for question in ("with x as (select 1 as n) select n from x", "from (select 1 as n)", "describe tasks"):
        assert run(capsys, "sql", question, "--store", store)[0] == 0


@pytest.mark.parametrize(
    "question",
    [
        *("select 1; select 2", "", "copy estimates to 'x.csv'", "set lock_configuration = false", "explain select 1"),
        "call pragma_version()",
    ],
)
def test_sql_takes_one_select(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, store: Path, question: str
) -> None:
    monkeypatch.chdir(tmp_path)
    status, out, err = run(capsys, "sql", question, "--store", store)
    assert (status, out) == (2, "")
    assert "expected one SELECT, found" in err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "source",
    [
        *("read_csv('{other}')", "glob('/etc/*')", "'{other}'", "read_parquet('https://example.org/x.parquet')"),
        *("read_text('{store}/tasks/../difftrust-store.json')", "SECRET"),
        "query('select * from read_text(''{other}'')')",
    ],
)
def test_sql_reads_the_tables_of_the_store_and_nothing_else(
    capsys: Capture, tmp_path: Path, store: Path, source: str
) -> None:
    other = tmp_path / "other.csv"
    other.write_text("secret\n1\n")
    status, out, err = run(capsys, "sql", f"select * from {source.format(other=other, store=store)}", "--store", store)
    assert (status, out) == (2, "")
    assert "secret\n" not in err
    assert len(err.splitlines()) == 1


SECRET = pl.DataFrame({"secret": [1]})
"""What a statement would find if it looked among the variables of whoever asks."""


@pytest.mark.parametrize(
    ("question", "shown"),
    [
        ("select 1 as a, 2 as a;", "a,a_1\n1,2\n"),
        ("select 'abc'::blob as a", "a\n"),
        *(
            (f"select {value} as a", "cast it to VARCHAR")
            for value in (
                *("union_value(a := 1)", "[interval 1 day]", "timestamp 'infinity'", "date '0044-01-01 (BC)'"),
                *("{'a': [date '290000-01-01']}", "map {'a': date '290000-01-01'}"),
            )
        ),
    ],
)
def test_sql_shows_what_polars_cannot_hold_or_says_so_in_one_line(
    capsys: Capture, store: Path, question: str, shown: str
) -> None:
    _, out, err = run(capsys, "sql", question, "--store", store, "--format", "csv")
    assert shown in out + err
    assert len(err.splitlines()) <= 1


def test_formulas_in_csv_are_texts(capsys: Capture, store: Path) -> None:
    texts = ["=1+1", "+a", "-a", "@a", "\ta", "-1.5e3", "+2", "a=1"]
    asked = " union all ".join(f"select {n} as n, '{text}' as x" for n, text in enumerate(texts))
    _, out, _ = run(capsys, "sql", f"{asked} order by n", "--store", store, "--format", "csv")
    assert out.splitlines()[1:] == ["0,'=1+1", "1,'+a", "2,'-a", "3,'@a", "4,'\ta", "5,-1.5e3", "6,+2", "7,a=1"]
    _, out, _ = run(capsys, "sql", 'select 1 as "=cmd()"', "--store", store, "--format", "csv")
    assert out.splitlines()[0] == "'=cmd()"


@pytest.mark.parametrize("style", ["text", "markdown", "latex", "csv", "json"])
def test_names_of_columns_and_texts_of_candidates_cannot_steer_the_terminal(
    capsys: Capture, store: Path, style: str
) -> None:
    question = "select chr(27) || '[2J' as code, 1 as \"a\x1b[2J\u202e\""
    _, out, _ = run(capsys, "sql", question, "--store", store, "--format", style)
    assert not {"\x1b", "\u202e"} & set(out)


BAD_WORDS = [
    ("table 5 --store {store}", 2, "table is one of 2, 3, 3a, 3b, 3c, 4, selection, "),
    ("table 4 --store {store} -m 1", 2, "m"),
    ("table 4 --store {store} --temperature 9", 2, "no candidates at temperature 9; it has "),
    ("table agreement --store {store} --model m2", 2, "the store has no model 'm2'; there are: m1"),
    ("table agreement --store {store} --signal length", 2, "largest_share, n_clusters, dissent, got 'length'"),
    ("table agreement --store {store} --alpha 0", 2, "alpha lies between 0 and 1, got 0.0"),
    ("figure 3 --store {store} --out f.svg --model m2", 2, "no model 'm2'; there are: m1"),
    ("figure 3 --store {store} --out f.svg --benchmark b", 2, "no benchmark 'b'; there are: starter"),
    ("figure ablation --store {store} --out f.svg --vary k", 2, "one of m, temperature, n, got 'k'"),
    ("figure ablation --store {store} --out f.svg -m 4", 2, "expected -m of at most 3"),
    ("figure ablation --store {store} --out f.svg --vary n -n 31", 2, "expected -n of at most 30"),
    ("plan --epsilon 0", 2, "epsilon lies between 0 and 1, got 0.0"),
    ("plan --false-alarms 0.05 --store {store} --model m1", 2, "not known of m1; choose another --model"),
    ("plan --find 0.5 --store {store} --model m1 --benchmark none", 1, "holds no behaviours of m1 there"),
    ('sql "select nonsense from estimates" --store {store}', 2, "nonsense"),
    ("verify --repair", 2, "--store"),
    ("export --out results", 2, "--store"),
    ("execute --store {store} -n 0", 2, "n"),
    ("import {samples} --store {store}", 2, "give one --model and one --temperature"),
    ("import nothing.parquet --store {store}/tasks", 1, "is there and is no difftrust store"),
    ("verify --store {store}" + "a" * 300, 2, "expected a path that can be used, found"),
    ("verify --store {store}\udcff", 2, "expected a path in UTF-8, found"),
    ("import {samples}\udcff.parquet --store {store}", 2, "expected a path in UTF-8, found"),
]


@pytest.mark.parametrize(("words", "status", "message"), BAD_WORDS, ids=lambda v: str(v)[:60])
def test_wrong_words_give_one_line(
    capsys: Capture, store: Path, samples: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    words: str, status: int, message: str,
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    before = {p: p.read_bytes() for p in store.rglob("*") if p.is_file()}
    ended, out, err = run(capsys, *(word.format(store=store, samples=samples) for word in shlex.split(words)))
    assert (ended, out) == (status, "")
    assert message in err
    assert len(err.splitlines()) == 1
    assert {p: p.read_bytes() for p in store.rglob("*") if p.is_file()} == before
    assert not list(tmp_path.iterdir())


def test_bad_lines_are_named_and_the_rest_is_imported(capsys: Capture, tmp_path: Path) -> None:
    task = load_benchmark("starter")[0]
    good = json.dumps({"task_id": task.task_id, "solution": task.reference})
    path = tmp_path / "s.jsonl"
    path.write_text(f"{good}\nnot json\n" + json.dumps({"task_id": "starter/unknown", "solution": "x"}) + f"\n{good}\n")
    status, out, err = typed(capsys, f"import {path} --model m --temperature 0 --store {tmp_path}/store")
    assert status == 0
    assert "imported 2 candidates" in out
    assert "2 bad rows" in out
    assert "2" in err
    assert "starter/unknown" in err


NO_SOURCES = {
    "missing": (["nothing.parquet"], "nothing.parquet"),
    "unreadable": (["broken.parquet"], "broken.parquet"),
    "nothing known in it": (["unknown.jsonl", "--model", "m", "--temperature", "0"], "nothing in the source"),
}


@pytest.mark.parametrize(("words", "message"), NO_SOURCES.values(), ids=NO_SOURCES)
def test_an_import_that_brings_nothing_leaves_no_store(
    capsys: Capture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[str], message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("broken.parquet").write_bytes(b"PAR1 and no more")
    Path("unknown.jsonl").write_text(json.dumps({"task_id": "starter/unknown", "solution": "x"}) + "\n")
    before = sorted(tmp_path.rglob("*"))
    status, _, err = run(capsys, "import", *words, "--store", "new/store")
    assert status == 1
    assert message in err
    assert sorted(tmp_path.rglob("*")) == before


def test_one_candidate_and_programs_that_differ_from_themselves_are_counted_and_named(tmp_path: Path) -> None:
    one, other = load_benchmark("starter")[:2]
    moody = f"import os\ndef {one.entry_point}(*args):\n    return os.urandom(8)\n"
    codes = {one.task_id: (moody, one.reference), other.task_id: (other.reference,)}
    out, store = execution(tmp_path, codes, n=5)
    assert "1 programs of 1 tasks differed from themselves when 2 % of the inputs ran twice" in out
    assert f": {one.task_id} (1)\n" in out
    assert f"incoherence needs m >= 2 candidates, got 1 in 1 (coder, task) pairs, the first m on {other.task_id}" in out
    question = ("sql", f"select error, incoherence from estimates where task_id = '{other.task_id}'")
    (row, *_) = json.loads(succeed(*question, "--store", store, "--format", "json"))
    assert row == {"error": 0.0, "incoherence": None}


def test_a_statement_ends_without_a_word_of_duckdb() -> None:
    """It counts what is alive when a process ends: a type of its own that polars keeps is reported as a leak."""
    command = [Path(sys.executable).with_name("difftrust"), "sql", "SELECT 1"]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stderr == ""


STOPPED = """
import os, signal, threading
from difftrust.cli import main
from difftrust_core.estimates import queries

signal.signal(signal.SIGINT, signal.default_int_handler)
answer, stop = queries._answer, threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT))
queries._answer = lambda *given: (stop.start(), answer(*given))[1]
main(["sql", "select count(*) from estimates a, estimates b, estimates c, estimates d, estimates e"])
"""


def test_a_stop_within_duckdb_is_told_as_elsewhere() -> None:
    done = subprocess.run([sys.executable, "-c", STOPPED], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr.count("Traceback")) == (130, 0)
    assert "difftrust: stopped; " in done.stderr


def test_output_that_finds_no_room_is_told_in_one_line() -> None:
    command = [Path(sys.executable).with_name("difftrust"), "--version"]
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr == "difftrust: expected room to write, found: No space left on device; make room\n"


def test_a_report_is_written(capsys: Capture, tmp_path: Path) -> None:
    out = tmp_path / "r.html"
    status, said, err = typed(capsys, f"report --store {find_starter_results()} --out {out} -m 5 -n 100")
    assert (status, err) == (0, "")
    assert said == f"wrote {out}: starter: where programs are wrong ({out.stat().st_size / 1e6:.1f} MB)\n"
    assert b"Programs per task (m): 5" in out.read_bytes()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--out", "r.pdf"), "a report is written as .html, got 'r.pdf'; name it report.html"),
        (("--out", "r.html", "--model", "gpt_4o"), "--model goes with --task"),
        (("--out", "r.html", "--store", "nowhere"), "no difftrust store in"),
        ((), "Missing option '--out'"),
    ],
)
def test_refusals_of_a_report_say_what_to_type(
    capsys: Capture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    status, out, err = run(capsys, "report", *words)
    assert (status, out) == (1 if "nowhere" in words else 2, "")
    assert said in err
    assert not list(tmp_path.iterdir())


def candidates(path: Path) -> None:
    row = {"benchmark": "MBPP", "task_id": "Mbpp/2", "model": "m", "temperature": 0.6, "sample_index": 0, "code": "x"}
    path.parent.mkdir(parents=True)
    pl.DataFrame([row]).write_parquet(path)


def test_the_commands_that_are_named_bring_the_texts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    monkeypatch.delenv("DIFFTRUST_DATA", raising=False)
    monkeypatch.setenv("DIFFTRUST_CACHE", str(tmp_path / "cache"))
    candidates(tmp_path / "clone/candidates.parquet")
    before = commands_for_texts("MBPP")
    assert before == ("difftrust fetch mbpp", "difftrust fetch difftrust --from CLONE")
    status, out, _ = run(capsys, *before[1].replace("CLONE", str(tmp_path / "clone")).split()[1:])
    assert (status, out.startswith("ready: ")) == (0, True)
    assert commands_for_texts("MBPP") == before[:1]


def test_several_names_are_brought_in_their_order_up_to_one_that_is_unknown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    monkeypatch.setenv("DIFFTRUST_CACHE", str(tmp_path / "cache"))
    candidates(tmp_path / "clone/candidates.parquet")
    status, out, err = typed(capsys, f"fetch difftrust nonsense --from {tmp_path}/clone")
    assert (status, out.startswith("ready: ")) == (2, True)
    assert "nothing to fetch is called 'nonsense'" in err


HOSTILE = "a\x1b[2J\u202eb\x9b1m\x07\r\u2028c"


def test_lines_and_tabs_stay_and_the_rest_is_escaped(capsys: Capture) -> None:
    echo(f"one\t漢\n{HOSTILE}\n", err=True)
    found = capsys.readouterr().err
    assert found == "one\t漢\na\\x1b[2J\\u202eb\\x9b1m\\x07\\r\\u2028c\n\n"
    echo("plain\n\ttext")
    assert capsys.readouterr().out == "plain\n\ttext\n"


def test_a_name_cannot_begin_a_line(capsys: Capture) -> None:
    echo_line(f"model x\nnothing is wrong{HOSTILE}")
    found = capsys.readouterr().out
    assert found.startswith("model x\\nnothing is wrong")
    assert found.count("\n") == 1


def test_no_command_prints_by_another_way() -> None:
    for path in Path(difftrust.cli.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and path.name != "printing.py":
                assert ast.unparse(node.func) not in ("typer.echo", "typer.secho", "print", "click.echo"), path
