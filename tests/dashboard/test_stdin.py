"""A task of scripts from the command line to its page: both policies, the same verdict, texts shown as they are."""

import json
import shutil
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from dashboard.components.outcomes import spelled_text
from difftrust_core.analysis.queries import query_sql
from difftrust_core.base.literals import read_literal
from difftrust_core.cli import main
from difftrust_core.store.store import Store
from tests.dashboard.test_pages import opened, shown

RIGHT = "n = int(input())\na = list(map(int, input().split()))\nprint(max(a))\nprint(*sorted(a))\n"
OTHER = (
    "import sys\ndef main():\n    _, *a = map(int, sys.stdin.read().split())\n    a.sort()\n"
    "    sys.stdout.write(f'{a[-1]} \\n' + ' '.join(map(str, a)) + '\\n\\n')\nmain()\n"
)
WRONG = RIGHT.replace("max(a)", "max(0, *a)").replace("sorted(a)", "sorted({*a})")
RAISES = RIGHT.replace("\n", "\nif n > 4: raise ValueError\n", 1)
TASK: dict[str, Any] = {
    "task_id": "own/largest",
    "language": "stdin",
    "entry_point": "main",
    "signature": "(text: str) -> str",
    "description": "Print the largest of n <b>numbers</b>, then all of them sorted.",
    "seed_inputs": ["('3\\n1 -2 3\\n',)", "('5\\n7 7 7 -8 1\\n',)", "('2\\n-5 -6\\n',)"],
}


def command(*words: object) -> None:
    with pytest.raises(SystemExit) as ended:
        main([str(word) for word in words])
    assert not ended.value.code


@pytest.fixture(scope="module", params=["reference", "quorum"])
def store(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp(request.param)
    own = {**TASK, "reference": RIGHT} if request.param == "reference" else TASK
    (folder / "own.jsonl").write_text(json.dumps(own) + "\n")
    lines = [{"task_id": TASK["task_id"], "solution": code} for code in (RIGHT, OTHER, WRONG, RAISES)]
    (folder / "samples.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    store = folder / "store"
    samples = ["--tasks", folder / "own.jsonl", "--model", "m1", "--temperature", 0.6]
    command("import", folder / "samples.jsonl", *samples, "--store", store)
    policy = ["-n", 200, "--jobs", 1, "--validity", request.param, "--witnesses", 20]
    command("execute", "--store", store, *policy)
    return store


def test_right_scripts_agree_and_wrong_ones_do_not(store: Path) -> None:
    opened_store = Store.open(store)
    inputs = opened_store.read("inputs")
    texts = [read_literal(arguments)[0] for arguments in inputs["arguments"]]
    assert len({*texts}) > 120
    for text in texts:
        n, values = (list(map(int, line.split())) for line in text.split("\n")[:2])
        assert [len(values)] == n
    rows = query_sql(opened_store, "select * from all_estimates where equality = 'strict'").rows(named=True)
    assert rows
    differ = [max(0, *a) != max(a) or len({*a}) < len(a) for a in (list(map(int, t.split()[1:])) for t in texts)]
    raises = [int(text.split()[0]) > 4 for text in texts]
    assert 0 < sum(differ) < 200
    assert 0 < sum(raises) < 200
    for row in rows:
        pairs = [_disagreeing(d, h) for d, h in zip(differ, raises, strict=True)]
        assert row["incoherence"] == pytest.approx(sum(pairs) / 6 / 200)
    witnesses = opened_store.read("witnesses")
    assert witnesses["origin"].n_unique() >= 3
    assert {*TASK["seed_inputs"]} <= {*witnesses["arguments"]}
    assert witnesses.filter(pl.col("kind") == "value").height > 20


def _disagreeing(differs: bool, raises: bool) -> int:
    """Return how many of the six pairs of RIGHT, OTHER, WRONG and RAISES disagree."""
    said = ["r", "r", "w" if differs else "r", "e" if raises else "r"]
    return sum(said[i] != said[j] for i in range(4) for j in range(i))


def test_the_page_shows_texts_as_they_are(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DIFFTRUST_STORE", str(store))
    at = opened("task", benchmark="own", task=TASK["task_id"])
    words = shown(at)
    assert "Print the largest" in words
    plain = [code.value for code in at.code if code.language is None or code.language == "plaintext"]
    assert any(len(code.split("\n")) >= 2 and code.split("\n")[0].isdigit() for code in plain), plain
    assert "def main" not in words
    assert "(&#x27;" not in words
    assert "('" not in "".join(plain)


def test_texts_are_spelled_and_what_is_none_is_left() -> None:
    assert spelled_text("('3\\n1 2\\n',)") == "3\n1 2\n"
    assert spelled_text("'<b>6</b>\\n7'") == "<b>6</b>\n7"
    assert spelled_text("''") == "(empty)"
    for other in ("('3\\n1 2…", "(1,)", "('a', 'b')", "'aaa…#0123"):
        assert spelled_text(other) == other


def test_the_page_says_that_nobody_has_said_what_a_task_allows(
    store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copied = shutil.copytree(store, tmp_path / "store")
    command("execute", "--store", copied, "-n", 200, "--jobs", 1, "--validity", "domain")
    monkeypatch.setenv("DIFFTRUST_STORE", str(copied))
    assert "Nobody has said what this task allows: its inputs are those on which its reference" in shown(opened("task"))
