"""A task of scripts from the command line to the explorer: texts are shown as they are."""

import json
from pathlib import Path
from typing import Any

import pytest

from difftrust.explorer.cube import cube_of
from difftrust.tasks.task_sentences import spelled_text
from difftrust_core.store.store import Store
from tests.support.command import executed_samples, succeed

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


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("stdin")
    (folder / "own.jsonl").write_text(json.dumps({**TASK, "reference": RIGHT}) + "\n")
    codes = {TASK["task_id"]: (RIGHT, OTHER, WRONG, RAISES)}
    store = executed_samples(folder, codes, n=50, tasks=("--tasks", folder / "own.jsonl"))
    succeed("execute", "--store", store, "-n", 50, "--jobs", 1, "--inputs", "domain")
    return store


def test_texts_are_shown_as_they_are(store: Path) -> None:
    (task,) = cube_of(Store.open(store), "own")["tasks"]
    shown = [one["arguments"] for one in (*task["telling"], *task["smallest"])]
    assert any(len(text.split("\n")) >= 2 and text.split("\n")[0].isdigit() for text in shown), shown
    assert "('" not in "".join(shown)


def test_texts_are_spelled_and_what_is_none_is_left() -> None:
    assert spelled_text("('3\\n1 2\\n',)") == "3\n1 2\n"
    assert spelled_text("'<b>6</b>\\n7'") == "<b>6</b>\n7"
    assert spelled_text("''") == "(empty)"
    for other in ("('3\\n1 2…", "(1,)", "('a', 'b')", "'aaa…#0123"):
        assert spelled_text(other) == other
