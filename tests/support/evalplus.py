"""Two small tasks of our own in the layout in which EvalPlus releases its benchmarks, and programs for them."""

import gzip
import json
from pathlib import Path
from typing import Any

DOUBLE: dict[str, Any] = {
    "task_id": "HumanEval/900",
    "entry_point": "double_up",
    "prompt": (
        'import math\n\n\ndef double_up(x: int) -> int:\n    """Return twice x.\n    >>> double_up(3)\n    6\n    """\n'
    ),
    "canonical_solution": "    return 2 * x\n",
    "contract": '\n    assert type(x) == int, "invalid inputs" # $_CONTRACT_$\n    assert x > 0 # $_CONTRACT_$\n',
    "base_input": [[3], [1]],
    "plus_input": [[100], [7], [40]],
    "atol": 0.0,
}
THIRD: dict[str, Any] = {
    "task_id": "HumanEval/901",
    "entry_point": "third",
    "prompt": 'def third(x):\n    """Return a third of x."""\n',
    "canonical_solution": "\n    return x / 3\n",
    "contract": "\n  assert x >= 0\n",
    "base_input": [[3.0]],
    "plus_input": [[1.0], [2.0]],
    "atol": 1e-6,
}
RIGHT = {"HumanEval/900": "def double_up(x):\n    return x + x\n", "HumanEval/901": "def third(x):\n    return x / 3\n"}
WRONG_ON_PLUS = {
    "HumanEval/900": "def double_up(x):\n    return 2 * x if x < 50 else 0\n",
    "HumanEval/901": "def third(x):\n    return x / 3 + (1e-3 if x == 2 else 1e-9)\n",
}
WRONG = {"HumanEval/900": "def double_up(x):\n    return x\n", "HumanEval/901": "def third(x):\n    return x / 3 + 1\n"}


def write_release(path: Path, *tasks: dict[str, Any]) -> Path:
    """Write tasks as a release, packed if the name ends so; without tasks DOUBLE and THIRD."""
    text = "".join(json.dumps(task) + "\n" for task in tasks or (DOUBLE, THIRD))
    path.write_bytes(gzip.compress(text.encode()) if path.suffix == ".gz" else text.encode())
    return path


def write_folder(root: Path, *programs: dict[str, str]) -> Path:
    """Write programs as EvalPlus' folders: ``<root>/HumanEval_900/0.py``, one number for each table of programs."""
    for number, by_task in enumerate(programs):
        for task_id, code in by_task.items():
            folder = root / task_id.replace("/", "_")
            folder.mkdir(parents=True, exist_ok=True)
            (folder / f"{number}.py").write_text(code)
    return root


def write_bigcodebench(data: Path) -> None:
    """Write two tasks of our own in the layout of BigCodeBench, where `difftrust fetch` puts them below ``data``."""
    lines = [
        {
            "task_id": f"BigCodeBench/{i}",
            "entry_point": "task_func",
            "prompt": f"import os\n\ndef task_func(path):\n    '''Count {i} files.'''\n",
            "canonical_solution": "    return len(os.listdir(path))\n",
        }
        for i in range(2)
    ]
    path = data / "bigcodebench" / "BigCodeBench.jsonl.gz"
    path.parent.mkdir(parents=True)
    path.write_bytes(gzip.compress("".join(json.dumps(line) + "\n" for line in lines).encode()))
