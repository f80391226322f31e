"""What a candidate does, it does whichever others are there, and in whatever order they came."""

import json
from pathlib import Path

import pytest

from difftrust_core.estimates.queries import query_sql
from difftrust_core.store.store import Store
from tests.support.command import succeed, write_samples

PAIRS = {
    "what follows reads its input": ("def F(n):\n    X = n\n    return X\nx = input()\n", "x", "y"),
    "what follows fails, and names a variable": ("def F(n):\n    X = n\n    return X\nx = F('a' + 1)\n", "x", "y"),
    "an error in flight": (
        "import sys\ndef F(n):\n    try:\n        return X\n    except NameError:\n"
        "        return len(str(sys.exc_info()[1]))\n    X = n\n",
        *("ab", "abc"),
    ),
    "a frame of a generator": (
        "def F(n):\n    def g():\n        X = 1\n        yield X\n    h = g()\n    next(h)\n"
        "    return [*h.gi_frame.f_locals]\n",
        *("x", "y"),
    ),
    "a class that keeps its annotations": (
        "import dataclasses\n@dataclasses.dataclass\nclass P:\n    X: int = 1\ndef F(n):\n    return str(P())\n",
        *("x", "y"),
    ),
    "a docstring": ("def F(n):\n    'X'\n    return F.__doc__\n", "One.", "Another."),
    "a stream that shows lines": (
        "import io, traceback\nX\ndef F(n):\n    s = io.StringIO()\n    traceback.print_stack(file=s)\n"
        "    return s.getvalue()[-40:]\n",
        *("", "\n\n"),
    ),
    "a name that may not be one": ("def F(n):\n    X = n\n    return X\n", "__debug__", "x"),
    "a hint that is not compiled": ("def F(n: X) -> int:\n    return n\n", f"0x{'f' * 5_000}", "int"),
    "a hint that names what follows": ("def F(n: X):\n    return n\nx = input()\n", "x", "int"),
    "a hint within that does": (
        "def F(n):\n    def g(k: X):\n        return k\n    return g(n)\nx = input()\n",
        *("x", "int"),
    ),
    "a module spelled in other letters": (
        "import X\ndef F(n):\n    return X.random()\n",
        *("random", "r\N{FULLWIDTH LATIN SMALL LETTER A}ndom"),
    ),
    "names of another module": (
        "import functools, typing\nget_type_hints = 0\ndef F(n: X):\n"
        "    functools.update_wrapper(F, typing.cast, (), ('__globals__',))\n    return str(get_type_hints(F))\n",
        *("int", "str"),
    ),
    "what Python notes of a warning": (
        "import re\n__warningregistry__ = {}\nX\ndef F(n):\n    re.findall('[[a]', '')\n"
        "    return str(__warningregistry__)\n",
        *("", "\n\n"),
    ),
    "plain programs": (
        "def F(n):\n    X = 0\n    for i in range(n % 9):\n        X += i\n    return X\n",
        "s",
        "total",
    ),
}
"""A program of F, and two texts for X in it."""
NOT_LOADED = ("__debug__", "0xfff")
"""How the texts begin with which a program does not load."""
ORDERS = {"the one": "a", "the other": "b", "both": "ab", "in another order": "ba"}


@pytest.fixture(scope="module")
def did(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[tuple[str, str], object]]:
    """Return what each candidate did in each store, by task and candidate; the last store got them in turn."""
    folder = tmp_path_factory.mktemp("orders")
    tasks = [
        {
            "task_id": f"f{at}",
            "entry_point": f"f{at}",
            "signature": "(n: int) -> int",
            "description": "Return an integer.",
            "domain": {},
        }
        for at, _ in enumerate(PAIRS)
    ]
    (folder / "tasks.jsonl").write_text("".join(json.dumps(task) + "\n" for task in tasks))
    found = {}
    for name, order in ORDERS.items():
        (folder / order).mkdir()
        store = executed(folder / order, order)
        found[name] = kinds_of(store)
    in_turn = executed(folder / "a", "a")
    succeed("import", samples(folder / "b", "b"), "--tasks", folder / "tasks.jsonl", "--model", "b",
            "--temperature", 0.6, "--store", in_turn)  # fmt: skip
    succeed("execute", "-n", 20, "--jobs", 1, "--store", in_turn)
    return found | {"in turn": kinds_of(in_turn)}


def samples(folder: Path, which: str) -> Path:
    codes = {
        f"f{at}": [text.replace("F", f"f{at}").replace("X", words["ab".index(which)])]
        for at, (text, *words) in enumerate(PAIRS.values())
    }
    return write_samples(folder / f"{which}.jsonl", codes)


def executed(folder: Path, order: str) -> Path:
    """Return the store of these candidates, imported in this order, executed on 20 inputs."""
    store = folder / "store"
    for which in order:
        succeed("import", samples(folder, which), "--tasks", folder.parent / "tasks.jsonl", "--model", which,
                "--temperature", 0.6, "--store", store)  # fmt: skip
    succeed("execute", "-n", 20, "--jobs", 1, "--store", store)
    return store


def kinds_of(root: Path) -> dict[tuple[str, str], object]:
    rows = query_sql(
        Store.open(root),
        """
        SELECT c.task_id, c.model, list((o.input_index, o.kind, o.text) ORDER BY o.input_index) AS did
        FROM candidates c JOIN programs p USING (benchmark, task_id, program_id)
        JOIN executions e USING (benchmark, task_id, tree_id)
        JOIN behaviours b ON b.task_id = e.task_id AND b.start = e.start AND b.behaviour_id = e.behaviour_id
        JOIN outcomes o ON o.task_id = b.task_id AND o.start = b.start
          AND o.outcome_id = b.outcome_ids[o.input_index - b.start + 1]
        GROUP BY ALL
        """,
    )
    return {(task, model): did for task, model, did in rows.iter_rows()}


@pytest.mark.slow
@pytest.mark.parametrize("pair", PAIRS)
def test_a_candidate_does_the_same_beside_others(pair: str, did: dict[str, dict[tuple[str, str], object]]) -> None:
    task = f"f{list(PAIRS).index(pair)}"
    for model, text in zip("ab", PAIRS[pair][1:], strict=True):
        seen = {str(found[task, model]) for found in did.values() if (task, model) in found}
        assert len(seen) == 1
        assert ("load_error" in next(iter(seen))) == text.startswith(NOT_LOADED)
