"""`--tasks` as a user meets it: files that are none are refused in one line, and nothing is written."""

import gzip
import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from difftrust_core.store.store import Store
from tests.support.command import Capture, typed
from tests.support.llm_server import Server

GOOD: dict[str, Any] = {
    "task_id": "mine/f",
    "signature": "(x: int) -> int",
    "description": "Return x.",
    "reference": "def f(x):\n    return x\n",
    "seed_inputs": ["(1,)"],
}
MODULE = 'def f(x: int) -> int:\n    """Return x."""\n    return x\n'


def module(more: str) -> bytes:
    return f"{MODULE}{more}\n".encode()


def line(**changed: Any) -> bytes:
    fields = GOOD | changed
    return json.dumps({name: value for name, value in fields.items() if value is not ...}).encode() + b"\n"


def refused(said: str, **changed: Any) -> tuple[str, bytes, str]:
    """Return the file of a task that is good but for what is changed, and what is said of it."""
    return "own.jsonl", line(**changed), said


BAD: dict[str, tuple[str, bytes, str]] = {
    "nothing": ("own.jsonl", b"", "found none"),
    "a cut gzip file": ("own.jsonl.gz", gzip.compress(line() * 50)[:40], "a whole gzip file"),
    "a gzip bomb": ("own.jsonl.gz", gzip.compress(bytes(2**20), 9) * 300, "at most"),
    "a list": ("own.jsonl", b"[" + line().strip() + b"]\n", "found list"),
    "depth": ("own.jsonl", b"[" * 100_000 + b"\n", "recursion"),
    "a second line that is none": ("own.jsonl", line() + b"{\n", "line 2"),
    "no task_id": refused("'task_id'", task_id=...),
    "a number as task_id": refused("found int", task_id=3),
    "a task_id of several lines": refused("a plain id", task_id="a\nb"),
    "no description": refused("'description'", description=...),
    "an empty description": refused("what the function shall do", description=" "),
    "a text that is no UTF-8": refused("lone surrogates", description="\ud800"),
    "an empty reference": refused("reference", reference=""),
    "a reference of pass": refused("does nothing", reference="def f(x):\n    pass\n"),
    "another function": refused("must define f", reference="def g(x):\n    return x\n"),
    "a broken reference": ("own.jsonl", line(reference="def f(x:\n"), "must define f"),
    "seeds that are no literals": refused("literals", seed_inputs=["(x,)"]),
    "a seed that is no tuple": refused("a tuple of arguments", seed_inputs=["[1]"]),
    "seeds as one text": refused("a list of texts", seed_inputs="(1,)"),
    "a broken signature": ("own.jsonl", line(signature="(x:"), "expected"),
    "no signature": refused("'signature'", signature=..., reference=...),
    "a keyword as entry point": refused("a function name", entry_point="class", reference=...),
    "a relation nobody knows": refused("'relation'", relation="same"),
    "a negative tolerance": refused("'atol'", atol=-1),
    "a tolerance that is NaN": refused("'rtol'", rtol=float("nan")),
    "a broken checker": ("own.jsonl", line(accept="def accept("), "'accept'"),
    "a checker of one parameter": refused("two parameters", accept="def accept(x): return True"),
    "a checker of another name": refused("'accept'", accept="def ok(a, b): return True"),
    "an empty checker": refused("an empty text", accept=" "),
    "checker and normal form": (
        "own.jsonl",
        line(accept="def accept(a, b): return True", normal="def normal(a, b): return b"),
        "found both",
    ),
    "a domain as a text": refused("found str", domain="x > 0"),
    "a field of a domain": refused("typs", domain={"typs": "x: int"}),
    "types of other parameters": refused("its signature x", domain={"types": "y: int"}),
    "a broken condition": refused("requires", domain={"requires": "x >"}),
    "a generator that is none": refused("generate", domain={"generate": "x = 3"}),
    "an example that is no pair": refused("example 1", examples=["(1,)"]),
    "an expected value that is no literal": refused("test 1", tests=[["(1,)", "y z"]]),
    "a misspelt field": refused("refrence", refrence="x"),
    "a language nobody knows": refused("'cobol'", language="cobol"),
    "a task twice": ("own.jsonl", line() * 2, "found again: mine/f"),
    "a known benchmark": ("mbpp.jsonl", line(), "MBPP is another benchmark"),
    "a benchmark that is no name": refused("plain name", benchmark="a/b"),
    "a broken module": ("own.py", b"def f(:\n", "SyntaxError"),
    "no docstring": ("own.py", b"def f(x):\n    return x\n", "functions with docstrings"),
    "a function of pass": ("own.py", MODULE.replace("return x\n", "pass\n").encode(), "found a body of `pass`"),
    "a coroutine": ("own.py", b"async " + MODULE.encode(), "an async one"),
    "a checker of one parameter in a module": ("own.py", module("def accept_f(x): return x"), "two parameters"),
    "a seed of two arguments for one": refused("takes by position", seed_inputs=["(1, 2)"]),
    "a test of no argument": refused("takes by position", tests=[["()", "1"]]),
    "a reference of two parameters": refused("the reference f", reference="def f(x, y):\n    return x\n"),
    "a parameter by name alone": ("own.py", MODULE.replace("x: int", "*, x: int").encode(), "takes by position"),
    "a condition of two parameters": (
        "own.py",
        module("def requires_f(x, y): return x"),
        "`requires` of its domain must take 1",
    ),
    "a generator without random": (
        "own.py",
        module("def generate_f(): return (1,)"),
        "`generate` of its domain must take 1",
    ),
    "a checker for nothing": ("own.py", module("def accept_g(a, b): return True"), "a task g"),
    "a checker that is no function": ("own.py", module("accept_f = len"), "write `def`"),
    "a module of great depth": ("own.py", MODULE.replace("x\n", "+" * 9000 + "x\n").encode(), "a Python module"),
    "a field beside the tables": ("own.toml", b'benchmrk = "x"\n[[task]]\n', "found benchmrk"),
    "seeds of null": refused("a list of texts", seed_inputs=[None]),
    "a huge number": ("own.jsonl", b'{"atol": 1' + b"0" * 5000 + b"}\n", "a JSON object"),
    "a number beyond floats": refused("'atol'", atol=10**400),
    "a tolerance of 5,000 hexadecimal digits": ("own.toml", b"[[task]]\natol = 0x" + b"f" * 5000, "4300 digits"),
    "broken TOML": ("own.toml", b"[[task]\n", "TOML in UTF-8"),
    "a task that is no table": ("own.toml", b'task = "x"\n', "[[task]]"),
    "bytes in another file": ("own.txt", bytes(range(256)), "line 1: expected a JSON object"),
}


@pytest.fixture
def samples(tmp_path: Path) -> Path:
    path = tmp_path / "samples.jsonl"
    path.write_text('{"task_id": "mine/f", "solution": "def f(x):\\n    return x\\n"}\n')
    return path


@pytest.mark.quick(20)
@pytest.mark.parametrize(("name", "content", "said"), BAD.values(), ids=BAD)
def test_what_is_no_file_of_tasks_is_one_line_and_writes_nothing(
    capsys: Capture, tmp_path: Path, samples: Path, name: str, content: bytes, said: str
) -> None:
    (tmp_path / name).write_bytes(content)
    words = f"import {samples} --model m --temperature 0.6 --store {tmp_path}/store --tasks {tmp_path / name}"
    status, out, err = typed(capsys, words)
    assert (status, out, err.count("\n")) == (1, "", 1)
    assert err.startswith("difftrust: ")
    assert name in err
    assert said in err
    assert not (tmp_path / "store").exists()


def test_a_bad_file_changes_nothing_in_a_store(capsys: Capture, tmp_path: Path, samples: Path) -> None:
    store, bad = tmp_path / "store", tmp_path / "bad.jsonl"
    (tmp_path / "own.jsonl").write_bytes(line())
    words = f"import {samples} --model m --temperature 0.6 --store {store} --tasks"
    assert typed(capsys, f"{words} {tmp_path}/own.jsonl").status == 0
    before = _state(store)
    bad.write_bytes(line(atol=-1))
    assert typed(capsys, f"{words} {bad}").status == 1
    assert typed(capsys, f"execute --store {store} --tasks {bad}")[0] == 1
    assert _state(store) == before


def _state(store: Path) -> dict[str, str]:
    return {str(p): hashlib.sha256(p.read_bytes()).hexdigest() for p in sorted(store.rglob("*")) if p.is_file()}


def test_a_path_that_holds_no_tasks_is_named(capsys: Capture, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "loop.toml").symlink_to("loop.toml")
    (tmp_path / "bytes.toml").write_bytes(bytes(range(256)))
    said = {"empty": "expected files of tasks", "loop.toml": "does not exist", "bytes.toml": "TOML in UTF-8"}
    for name, what in said.items():
        words = f"generate --model simulated/weak --store {tmp_path}/store --tasks {tmp_path / name}"
        status, out, err = typed(capsys, words)
        assert (status, out, err.count("\n")) == (1, "", 1)
        assert what in err
        assert name in err
    assert not (tmp_path / "store").exists()


def test_a_store_knows_its_own_tasks(capsys: Capture, tmp_path: Path, samples: Path) -> None:
    (tmp_path / "own.jsonl").write_bytes(line())
    words = f"import {samples} --temperature 0.6 --store {tmp_path}/store --model"
    assert typed(capsys, f"{words} a --tasks {tmp_path}/own.jsonl").status == 0
    status, out, _ = typed(capsys, f"{words} b")
    assert (status, "imported 1 candidates" in out) == (0, True)
    assert [task.task_id for task in Store.open(tmp_path / "store").read_tasks("own")] == ["mine/f"]
    words = f"generate --benchmark own --model simulated/weak --store {tmp_path}/store -m 2"
    status, out, _ = typed(capsys, words)
    assert (status, "2 replies" in out) == (0, True)


@pytest.mark.quick(1)
@pytest.mark.parametrize(
    ("first", "policy"),
    [
        (line(), "domain"),
        (line(signature="(x)", seed_inputs=["(1,)", "(None,)"]), "domain"),
        (line(signature="(x)", seed_inputs=["(None,)"]), "reference"),
        (line(signature="(x)", seed_inputs=["(None,)"], reference=...), "quorum"),
    ],
)
def test_the_policy_is_one_that_the_tasks_allow(
    capsys: Capture, tmp_path: Path, samples: Path, first: bytes, policy: str
) -> None:
    (tmp_path / "own.jsonl").write_bytes(first)
    store = tmp_path / "store"
    words = f"import {samples} --tasks {tmp_path}/own.jsonl --model m --temperature 0.6 --store {store}"
    assert typed(capsys, words).status == 0
    assert typed(capsys, f"execute --store {store} -n 5 --jobs 1")[0] == 0
    assert Store.open(store).settings().validity == policy


@pytest.mark.slow
def test_a_task_that_was_executed_may_not_change(capsys: Capture, tmp_path: Path, samples: Path) -> None:
    store, own = tmp_path / "store", tmp_path / "own.jsonl"
    own.write_bytes(line())
    words = f"import {samples} --tasks {own} --model m --temperature 0.6 --store {store}"
    assert typed(capsys, words).status == 0
    own.write_bytes(line(reference="def f(x):\n    return x + 0\n"))
    assert typed(capsys, f"execute --tasks {own} --store {store} -n 5 --jobs 1")[0] == 0
    own.write_bytes(line(description="Return it.", reference="def f(x):\n    return x + 0\n"))
    assert typed(capsys, f"execute --tasks {own} --store {store} -n 5 --jobs 1")[0] == 0
    own.write_bytes(line(relation="set"))
    before = _state(store)
    status, _, err = typed(capsys, f"execute --tasks {own} --store {store} -n 5")
    assert status == 2
    assert "task mine/f of own was executed, and its reference, relation changed since; use a new store" in err
    with Server() as server:
        words = f"generate --tasks {own} --model openai/x --api-base {server.url} --store {store}"
        status, _, err = typed(capsys, words)
        assert (status, "task mine/f of own was executed" in err, server.asked) == (2, True, [])
    assert _state(store) == before


def test_a_task_without_inputs_is_named_before_anything_is_asked(capsys: Capture, tmp_path: Path) -> None:
    (tmp_path / "own.jsonl").write_bytes(line(signature="(x)", seed_inputs=..., reference=...))
    with Server() as server:
        words = f"generate --tasks {tmp_path}/own.jsonl --model openai/x --api-base {server.url}"
        status, _, err = typed(capsys, f"{words} --store {tmp_path}/store")
    assert status == 1
    assert "found none for mine/f; annotate the parameters with types of the standard library, or" in err
    assert server.asked == []
    assert not (tmp_path / "store").exists()


def test_benchmark_and_tasks_exclude_each_other(capsys: Capture, tmp_path: Path) -> None:
    for words in ("", f"--benchmark starter --tasks {tmp_path}"):
        status, _, err = typed(capsys, f"generate {words} --model simulated/weak --store {tmp_path}/store")
        assert status == 2
        assert "expected --benchmark NAME or --tasks FILE, one of them" in err
