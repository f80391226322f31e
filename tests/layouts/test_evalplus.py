"""HumanEval+ and MBPP+ as released: tests, seeds, contracts, relations, and files that are not as they should be."""

from pathlib import Path
from typing import Any

import pytest

from difftrust.layouts.evalplus import LONGEST_SEED, is_evalplus, load_evalplus, released_arguments
from difftrust_core.base.task import Domain, Relation, Task, TaskTest
from difftrust_core.datasets.own_tasks import load_tasks
from difftrust_core.exceptions import BadBenchmark
from tests.support.evalplus import DOUBLE, THIRD, write_release


@pytest.fixture(autouse=True)
def _without_humaneval(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DIFFTRUST_DATA", str(tmp_path / "none"))
    monkeypatch.setenv("DIFFTRUST_CACHE", str(tmp_path / "none"))


@pytest.mark.parametrize("name", ["HumanEvalPlus.jsonl", "HumanEvalPlus.jsonl.gz"])
def test_a_release_is_read_as_what_it_is(tmp_path: Path, name: str) -> None:
    double, third = load_tasks(write_release(tmp_path / name))
    assert double == Task(
        benchmark="HumanEval+",
        task_id="HumanEval/900",
        entry_point="double_up",
        signature="(x: int) -> int",
        description="Return twice x.\n    >>> double_up(3)\n    6",
        seed_inputs=("(3,)", "(1,)", "(100,)", "(7,)", "(40,)"),
        reference=DOUBLE["prompt"] + DOUBLE["canonical_solution"],
        preamble="import math\n",
        prompt=DOUBLE["prompt"],
        domain=Domain(
            requires='def requires(x):\n    assert type(x) == int, "invalid inputs" # $_CONTRACT_$\n'
            "    assert x > 0 # $_CONTRACT_$\n    return True\n"
        ),
        public_inputs=("(3,)",),
        tests=tuple(
            TaskTest(arguments=f"({x},)", group=group)
            for x, group in ((3, "base"), (1, "base"), (100, "plus"), (7, "plus"), (40, "plus"))
        ),
    )
    assert (third.relation, third.signature) == (Relation(atol=1e-6, rtol=1e-7), "(x)")
    assert third.domain == Domain(requires="def requires(x):\n    assert x >= 0\n    return True\n")
    assert is_evalplus(DOUBLE)
    assert not is_evalplus({name: value for name, value in DOUBLE.items() if name != "plus_input"})


MBPP: dict[str, Any] = {
    "task_id": "Mbpp/2",
    "entry_point": "similar_elements",
    "prompt": '"""\nReturn the shared elements.\nassert similar_elements((3, 4), (4,)) == (4,)\n"""\n',
    "canonical_solution": "\nimport re\ndef similar_elements(a, b):\n  return tuple(set(a) & set(b))\n",
    "contract": "\n  assert isinstance(a, tuple) and re\n  assert isinstance(b, tuple)\n",
    "base_input": [[[3, 4], [4]]],
    "plus_input": [[[1], []]],
    "atol": 0,
}


def test_a_task_of_mbpp_is_a_whole_program(tmp_path: Path) -> None:
    (task,) = load_evalplus(write_release(tmp_path / "m.jsonl", MBPP))
    assert (task.benchmark, task.signature) == ("MBPP+", "(a, b)")
    assert task.description == "Return the shared elements.\nassert similar_elements((3, 4), (4,)) == (4,)"
    assert [test.arguments for test in task.tests] == ["((3, 4), (4,))", "((1,), ())"]
    assert task.public_inputs == ("((3, 4), (4,))",)
    assert task.domain.requires.startswith("import re\ndef requires(a, b):\n")
    assert "set(output)" in task.relation.normal


@pytest.mark.parametrize(
    ("task_id", "released", "read"),
    [
        ("HumanEval/2", [[1], [2]], [[1], [2]]),
        ("Mbpp/999", [[1]], [[1]]),
        ("Mbpp/2", [[1], [2]], [(1,), (2,)]),
        ("Mbpp/63", [[[1, 2]]], [[(1, 2)]]),
        ("Mbpp/75", [[[1, 2], [3]], 4], [[(1, 2), (3,)], 4]),
        ("Mbpp/106", [[1], [2]], [[1], (2,)]),
        ("Mbpp/115", [[[1, 1], []]], [[{1}, {}]]),
        ("Mbpp/124", ["0", "1j"], [0.0, 1j]),
        ("Mbpp/252", ["(1+2j)"], [1 + 2j]),
        ("Mbpp/259", [[[1], [2]], [[3]]], [((1,), (2,)), ((3,),)]),
        ("Mbpp/278", [[1, [2]]], [(1, (2,))]),
        ("Mbpp/307", [[1, []], 2, 3], [(1, []), 2, 3]),
        ("Mbpp/580", [[1, [2, [3]]]], [(1, (2, (3,)))]),
        ("Mbpp/722", [{"a": [1, 2]}, 6, 7], [{"a": (1, 2)}, 6, 7]),
    ],
)
def test_arguments_that_json_lacks_are_read_back(task_id: str, released: list[Any], read: list[Any]) -> None:
    assert repr(released_arguments(task_id, released)) == repr(read)


def test_a_long_input_is_a_test_and_no_seed(tmp_path: Path) -> None:
    long = "a" * LONGEST_SEED
    word = {**DOUBLE, "prompt": 'def double_up(x: str):\n    """Double."""\n', "plus_input": [[long], ["b"], ["b"]]}
    (task,) = load_evalplus(write_release(tmp_path / "x.jsonl", {**word, "base_input": []}))
    assert task.seed_inputs == ("('b',)",)
    assert len(task.tests) == 3
    (only,) = load_evalplus(write_release(tmp_path / "y.jsonl", {**word, "base_input": [], "plus_input": [[long]]}))
    assert only.seed_inputs == (f"({long!r},)",)


@pytest.mark.parametrize(
    ("change", "domain"),
    [
        ({"base_input": [], "plus_input": [["a"]], "contract": "\n"}, Domain(types="x")),
        ({"contract": "\n"}, Domain()),
    ],
    ids=["types that no input fits", "an empty contract"],
)
def test_what_no_domain_says(change: dict[str, Any], domain: Domain, tmp_path: Path) -> None:
    (task,) = load_evalplus(write_release(tmp_path / "x.jsonl", {**DOUBLE, **change}))
    assert task.domain == domain


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"task_id": "Other/1"}, "expected a task_id that begins with HumanEval/ or Mbpp/, found 'Other/1'"),
        ({"entry_point": "other"}, "expected a function 'other' in prompt and canonical_solution"),
        ({"canonical_solution": "    return (\n"}, "expected Python source in prompt and canonical_solution"),
        ({"canonical_solution": "    pass\n"}, "expected a reference that computes double_up"),
        ({"base_input": {"x": 1}}, "expected a list of argument lists in field 'base_input', found dict"),
        ({"plus_input": [3]}, "expected a list of argument lists in field 'plus_input'"),
        ({"atol": "much"}, "expected a number from 0 to 1 in field 'atol', found 'much'"),
        ({"contract": "\n    assert (\n"}, "expected Python source in field 'contract'"),
        ({"prompt": 3}, "expected a text in field 'prompt', found int"),
        (
            {**MBPP, "task_id": "Mbpp/252", "base_input": [["one"]]},
            "expected arguments as EvalPlus writes them in base_input, input 1",
        ),
    ],
)
def test_a_flaw_is_named_with_its_line(tmp_path: Path, change: dict[str, Any], said: str) -> None:
    path = write_release(tmp_path / "x.jsonl", THIRD, {**DOUBLE, **change})
    with pytest.raises(BadBenchmark) as e:
        load_tasks(path)
    assert f"{path}, line 2: {said}" in str(e.value)
    assert "\n" not in str(e.value)


def test_a_file_without_base_inputs_takes_those_of_humaneval(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write_release(tmp_path / "x.jsonl", {**DOUBLE, "base_input": []})
    assert [test.group for test in load_evalplus(path)[0].tests] == ["plus"] * 3
    own = {**DOUBLE, "test": "def check(candidate):\n    assert candidate(5) == 10\n"}
    (tmp_path / "data" / "humaneval").mkdir(parents=True)
    write_release(tmp_path / "data" / "humaneval" / "HumanEval.jsonl.gz", own)
    monkeypatch.setenv("DIFFTRUST_DATA", str(tmp_path / "data"))
    (task,) = load_evalplus(path)
    assert [(test.group, test.arguments) for test in task.tests][:2] == [("base", "(5,)"), ("plus", "(100,)")]
    assert task.seed_inputs[0] == "(5,)"
