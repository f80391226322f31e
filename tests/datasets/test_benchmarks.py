"""Benchmarks are read from their files as tasks, their seed inputs without running anything."""

import ast
import csv
import gc
import gzip
import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from difftrust_core.base.task import Task
from difftrust_core.datasets.benchmarks import canonical_name, find_benchmark, load_benchmark
from difftrust_core.datasets.seeds import NotFolded, fold, seeds_in_examples, seeds_in_tests
from difftrust_core.exceptions import BadBenchmark, NoBenchmark

PROMPT = '''from math import sqrt

def half(x):
    return x / 2


def both(a: int, b: list[int] = [0], *, deep: bool = False) -> int:
    """ Add a to the half of b.

    >>> both(4, [2])
    5
    """
'''
TESTS = """
def check(candidate):
    assert candidate(-3, [1] * 2) == 0
    assert candidate(b=[7], a=2 ** 3) == 0
    assert candidate(-3, [1, 1]) == 0
    assert candidate(open("/etc/passwd").read()) == 0
"""


def humaneval_row(**changes: Any) -> dict[str, Any]:
    row = {
        "task_id": "HumanEval/2",
        "prompt": PROMPT,
        "entry_point": "both",
        "canonical_solution": "    return a + half(sum(b))\n",
        "test": TESTS,
    }
    return {name: value for name, value in (row | changes).items() if value is not None}


def mbpp_row(**changes: Any) -> dict[str, Any]:
    row = {
        "task_id": 7,
        "prompt": "Count x in y.",
        "code": "import re\ndef aid(y):\n    return y\ndef count(x, y):\n    return aid(y).count(x)",
        "test_imports": [],
        "test_list": ["assert set([count('a', 'banana')]) == {3}", "assert count(y='b' + 'c', x='c') == 1"],
    }
    return {name: value for name, value in (row | changes).items() if value is not None}


def write_humaneval(folder: Path, *rows: Any) -> Path:
    path = folder / "HumanEval.jsonl.gz"
    path.write_bytes(gzip.compress("\n".join(map(json.dumps, rows)).encode()))
    return path


def write_mbpp(folder: Path, *rows: Any) -> Path:
    path = folder / "sanitized-mbpp.json"
    path.write_text(json.dumps(rows))
    return path


def seeds(source: str) -> tuple[str, ...]:
    reference = ast.parse("def f(a, b=2, c=3): pass").body[0]
    assert isinstance(reference, ast.FunctionDef)
    return seeds_in_tests(ast.parse(source).body, "f", reference)


def test_humaneval_task_has_every_part_of_its_row(tmp_path: Path) -> None:
    (task,) = load_benchmark("humaneval", path=write_humaneval(tmp_path, humaneval_row()))
    assert task == Task(
        benchmark="HumanEval",
        task_id="HumanEval/2",
        entry_point="both",
        signature="(a: int, b: list[int]=[0], *, deep: bool=False) -> int",
        description="Add a to the half of b.\n\n    >>> both(4, [2])\n    5",
        seed_inputs=("(-3, [1, 1])", "(8, [7])"),
        reference=PROMPT + "    return a + half(sum(b))\n",
        preamble="from math import sqrt\n\ndef half(x):\n    return x / 2\n",
        prompt=PROMPT,
    )


@pytest.mark.parametrize(
    ("said", "public"),
    [
        (">>> both(8, [7])\n    11", ["(8, [7])"]),
        ("For example, both(-3, [1, 1]) == -2, and both(8,\n [7]) returns 11.", ["(-3, [1, 1])", "(8, [7])"]),
        ("both(8, [7]) both(8, [7])", ["(8, [7])"]),
        ("not both(1, [2]), which is no test; nor abboth(8, [7])", []),
        ("both(a) => False; both(8, [7", []),
        ("both('(', x)", []),
    ],
)
def test_the_tests_that_stand_in_the_description_are_public(tmp_path: Path, said: str, public: list[str]) -> None:
    row = humaneval_row(prompt=PROMPT.replace(">>> both(4, [2])\n    5", said))
    (task,) = load_benchmark("HumanEval", path=write_humaneval(tmp_path, row))
    assert task.description.endswith(said)
    assert list(task.public_inputs) == public


def test_humaneval_takes_the_examples_where_no_test_is_literal(tmp_path: Path) -> None:
    row = humaneval_row(test="def check(candidate):\n    candidate(random())")
    (task,) = load_benchmark("HumanEval", path=write_humaneval(tmp_path, row))
    assert task.seed_inputs == ("(4, [2])",)


def test_mbpp_task_has_every_part_of_its_row(tmp_path: Path) -> None:
    (task,) = load_benchmark("mbpp", path=write_mbpp(tmp_path, mbpp_row()))
    assert task == Task(
        benchmark="MBPP",
        task_id="Mbpp/7",
        entry_point="count",
        signature="(x, y)",
        description="Count x in y.",
        seed_inputs=("('a', 'banana')", "('c', 'bc')"),
        reference=mbpp_row()["code"],
        public_inputs=("('a', 'banana')",),
    )


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"prompt": None}, "expected a text in field 'prompt', found no such field"),
        ({"entry_point": 3}, "expected a text in field 'entry_point', found int"),
        ({"entry_point": "other"}, "expected a function 'other' in field 'prompt'"),
        ({"canonical_solution": "    return ("}, "expected Python source in prompt and canonical"),
        ({"test": "x = 1"}, "expected a function 'check' in field 'test'"),
        ({"test": "def check(): pass"}, "expected check(candidate) in field 'test'"),
        ({"task_id": "no id "}, "expected a valid task, found a task needs"),
        ({"task_id": "7"}, "expected a whole number in field 'task_id', found str"),
        ({"task_id": True}, "expected a whole number in field 'task_id', found bool"),
        ({"test_list": "assert"}, "expected a list of texts in field 'test_list', found str"),
        ({"test_list": ["assert", 1]}, "expected a list of texts in field 'test_list', found list"),
        ({"test_list": ["assert len('')"]}, "expected tests that call a function of field 'code'"),
        ({"code": "def count(:"}, "expected Python source in field 'code'"),
        ({"code": "def count(x): '\x00'"}, "expected Python source in field 'code'"),
    ],
)
def test_a_damaged_row_is_named(tmp_path: Path, change: dict[str, Any], message: str) -> None:
    if {"test_list", "code"} & change.keys() or change.get("task_id") in ("7", True):
        name, where, path = "mbpp", "entry 1", write_mbpp(tmp_path, mbpp_row(**change))
    else:
        changed = humaneval_row(**{"task_id": "HumanEval/3", **change})
        name, where, path = "humaneval", "line 2", write_humaneval(tmp_path, humaneval_row(), changed)
    with pytest.raises(BadBenchmark) as refused:
        load_benchmark(name, path=path)
    assert str(refused.value).startswith(f"{path}, {where}: {message}")
    assert f"difftrust fetch {name}" in str(refused.value)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("HumanEval", gzip.compress(b"x" * 1000, mtime=0)[:-9], "expected a whole gzip file"),
        ("HumanEval", b"{", "line 1: expected a JSON object"),
        ("HumanEval", b"[1]", "line 1: expected an object with named fields, found list"),
        ("HumanEval", b"\n\n", "expected at least one task"),
        ("HumanEval", b"\xff\xff\xff", "line 1: expected a JSON object"),
        ("MBPP", b'{"a": 1}', "expected a JSON list, found dict"),
        ("MBPP", b"[1]", "entry 1: expected an object with named fields, found int"),
        ("MBPP", b"[" * 100_000, "expected a JSON list"),
        ("starter", b"task = 3", "expected [[task]] tables"),
        ("starter", b"[[task", "expected TOML in UTF-8"),
        ("starter", b"[[task]]\ntask_id = 'starter/f'", "task 1: expected a text in field 'entry_point'"),
    ],
)
def test_a_damaged_file_is_refused(tmp_path: Path, name: str, content: bytes, message: str) -> None:
    path = tmp_path / "file"
    path.write_bytes(content)
    with pytest.raises(BadBenchmark) as refused:
        load_benchmark(name, path=path)
    assert str(path) in str(refused.value)
    assert message in str(refused.value)


def test_a_task_given_twice_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadBenchmark, match=r"found again: HumanEval/2;"):
        load_benchmark("HumanEval", path=write_humaneval(tmp_path, humaneval_row(), humaneval_row()))


def test_the_folder_of_the_user_comes_before_the_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own, cache = tmp_path / "own" / "mbpp", tmp_path / "cache" / "benchmarks" / "mbpp"
    monkeypatch.setenv("DIFFTRUST_DATA", str(own.parent))
    monkeypatch.setenv("DIFFTRUST_CACHE", str(tmp_path / "cache"))
    with pytest.raises(NoBenchmark) as refused:
        find_benchmark("MBPP")
    assert "run `difftrust fetch mbpp`, or set DIFFTRUST_DATA to a folder that holds mbpp/sanitized" in str(
        refused.value
    )
    cache.mkdir(parents=True)
    in_cache = write_mbpp(cache, mbpp_row())
    assert find_benchmark("mbpp") == in_cache
    own.mkdir(parents=True)
    assert write_mbpp(own, mbpp_row()) == find_benchmark("mbpp")


def test_an_unknown_name_is_refused_with_the_known_ones() -> None:
    assert [canonical_name(name) for name in ("HUMANEVAL", "mbpp", "Starter")] == ["HumanEval", "MBPP", "starter"]
    with pytest.raises(NoBenchmark, match=r"'apps'; the known ones are HumanEval, MBPP, starter"):
        load_benchmark("apps")


def test_a_path_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(NoBenchmark, match="does not exist"):
        load_benchmark("HumanEval", path=tmp_path / "absent")


FOLDED = [
    ("-3", -3),
    ("[1, (2.5, 'a')] * 2", [1, (2.5, "a"), 1, (2.5, "a")]),
    ("{1: {2, 3}, 'k': None}", {1: {2, 3}, "k": None}),
    ("set([1, 1])", {1}),
    ("list(range(-3, 4, 3))", [-3, 0, 3]),
    ("float('-inf')", float("-inf")),
    ("2 ** 10 // 3 % 100 - 1 / 4", 40.75),
    ("x + [3]", [1, 3]),
    ("dict(a=1)", {"a": 1}),
]


def test_fold_gives_the_value() -> None:
    found = {source: fold(ast.parse(source, mode="eval").body, {"x": [1]}) for source, _ in FOLDED}
    assert found == dict(FOLDED)


NOT_FOLDED = [
    "y",
    "open('f')",
    "[1].copy()",
    "[i for i in range(3)]",
    "9 ** 9999",
    "'a' * 10 ** 9",
    "[[0] * 9999] * 9999",
    "list(range(10 ** 12))",
    "list(range(10 ** 30))",
    "1 / 0",
    "{[1]}",
    "'%s' % 1",
    "-'a'",
    "float('x')",
    "-" * 900 + "1",
]


def test_fold_refuses_what_needs_evaluation_or_is_large() -> None:
    gc.disable()  # what other tests left would end where the stack is full, and fail there
    try:
        for source in NOT_FOLDED:
            with pytest.raises(NotFolded):
                fold(ast.parse(source, mode="eval").body, {})
    finally:
        gc.enable()


CALLS = [
    ("assert f(1) == f(2, c=5)", ("(1,)", "(2, 2, 5)")),
    ("f(c=5, b=1, a=0)", ("(0, 1, 5)",)),
    ("f(b=1)\nf(1, d=2)\nf(*[1])\nf(**{})", ()),
    ("x = [1]\ny = x * 2\nf(x, y)", ("([1], [1, 1])",)),
    ("x = [1]\nx.append(2)\nf(x)", ()),
    ("x = [1]\nx[0] = 2\nf(x)", ()),
    ("x = 1\nx += 1\nf(x)", ()),
    ("x = 1\nx = g()\nf(x)", ()),
    ("for x in range(3):\n    f(x, 7)\n    f(8)", ("(8,)",)),
    ("x = 1\nfor i in range(3):\n    f(x)\n    x = 2\nf(x)", ()),
    ("if f(4):\n    y = 5\n    f(y)\nelse:\n    f(6)", ("(4,)", "(5,)", "(6,)")),
    ("f()", ("()",)),
    ("f(range(3))", ()),
    ("f(1)\ng(f(1))\nf(True)", ("(1,)", "(True,)")),
]


def test_seeds_are_the_literal_calls_in_order() -> None:
    assert {source: seeds(source) for source, _ in CALLS} == dict(CALLS)


def test_examples_give_seeds_and_prose_is_passed_over() -> None:
    reference = ast.parse("def f(a): pass").body[0]
    assert isinstance(reference, ast.FunctionDef)
    text = ">>> round(f([1]), 2)\n  >>> f('x') # why\n>>> and so on\n f(3)"
    assert seeds_in_examples(text, "f", reference) == ("([1],)", "('x',)")


@pytest.fixture(scope="module")
def published(shared_data: Path) -> dict[tuple[str, str], Task]:
    humaneval = load_benchmark("HumanEval", path=shared_data / "humaneval" / "HumanEval.jsonl.gz")
    mbpp = load_benchmark("MBPP", path=shared_data / "mbpp" / "sanitized-mbpp.json")
    assert (len(humaneval), len(mbpp)) == (164, 427)
    return {(t.benchmark, t.task_id): t for t in humaneval + mbpp}


def test_published_prompts_agree_on_names_and_signatures(
    published: dict[tuple[str, str], Task], shared_data: Path
) -> None:
    rows = pl.read_parquet(shared_data / "difftrust" / "prompt_specs.parquet").rows(named=True)
    assert len(rows) == 578
    for row in rows:
        task = published[row["benchmark"], row["task_id"]]
        assert task.entry_point == row["name"], row["task_id"]
        theirs, ours = (ast.dump(ast.parse(f"def f{s}: pass")) for s in (row["signature"], task.signature))
        assert ours == theirs, row["task_id"]


def test_only_two_tasks_have_no_seed_and_none_of_the_task_set(
    published: dict[tuple[str, str], Task], shared_data: Path
) -> None:
    # The tests of these two draw random letters, and their texts hold no example.
    without = [task.task_id for task in published.values() if not task.seed_inputs]
    assert without == ["HumanEval/38", "HumanEval/50"]
    with (shared_data / "difftrust" / "task_set.csv").open() as file:
        task_set = [(row["benchmark"], row["task_id"]) for row in csv.DictReader(file)]
    assert len(task_set) == 562
    assert all(published[key].seed_inputs for key in task_set)
