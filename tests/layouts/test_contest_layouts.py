"""LiveCodeBench, APPS and CodeContests as tasks: what is taken from fields, texts and tests, and what is refused."""

import base64
import gzip
import json
import pickle
import zlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from difftrust.layouts import contests
from difftrust.layouts import livecodebench as packed_texts
from difftrust.layouts.contests import seen_domain, stated_tolerance
from difftrust.types.domain import PythonDomain
from difftrust_core.base.task import Domain, Relation, Task, TaskTest
from difftrust_core.datasets.own_tasks import load_tasks
from difftrust_core.exceptions import BadBenchmark
from difftrust_core.generation.prompt import prompt_of
from tests.contests.layouts import NAMES, load_cases, packed, task_id, write_apps_folder, write_layout
from tests.support.command import run, write_samples
from tests.support.tasks import small_task

CASES = load_cases()
STARTER = "class Solution:\n    def smallest(self, numbers: List[int], k: int) -> List[int]:\n        "


def lcb(**changed: Any) -> dict[str, Any]:
    fields = {
        "question_content": "Print twice the number that you read.",
        "platform": "atcoder",
        "question_id": "own_a",
        "starter_code": "",
        "public_test_cases": json.dumps([{"input": "2\n", "output": "4\n", "testtype": "stdin"}]),
        "private_test_cases": packed([{"input": "-5\n", "output": "-10 \n\n", "testtype": "stdin"}]),
        "metadata": "{}",
    }
    return fields | changed


def functional(**changed: Any) -> dict[str, Any]:
    test = {"input": "[3, 1, 2]\n2", "output": "[1, 2]", "testtype": "functional"}
    fields: dict[str, Any] = {
        "platform": "leetcode",
        "starter_code": STARTER,
        "public_test_cases": json.dumps([test]),
        "private_test_cases": packed([{"input": "[9]\n1", "output": "[9]", "testtype": "functional"}]),
        "metadata": json.dumps({"func_name": "smallest"}),
    }
    return lcb(**(fields | changed))


def apps(**changed: Any) -> dict[str, Any]:
    fields = {
        "problem_id": 7,
        "question": "Print twice the number that you read.\n\nInput\n2\n\nOutput\n4\n",
        "solutions": json.dumps(["print 2 * input()", "print(2 * int(input()))"]),
        "input_output": json.dumps({"inputs": ["5\n", "2\n"], "outputs": ["10\n", "4\n"]}),
        "starter_code": "",
    }
    return fields | changed


def called(inputs: Any, outputs: Any, **changed: Any) -> dict[str, Any]:
    tests = json.dumps({"fn_name": "f", "inputs": inputs, "outputs": outputs})
    return apps(input_output=tests, **{"solutions": "", **changed})


def contest(**changed: Any) -> dict[str, Any]:
    fields = {
        "name": "12_B. Twice, or Not?",
        "description": "Print twice the number.",
        "public_tests": {"input": ["2\n"], "output": ["4\n"]},
        "private_tests": {"input": [], "output": []},
        "generated_tests": {"input": ["5\n"], "output": ["10\n"]},
        "solutions": {"language": [2, 1, 3], "solution": ["int main(){}", "print input()", "print(2 * int(input()))"]},
    }
    return fields | changed


def loaded(tmp_path: Path, fields: dict[str, Any]) -> Task:
    path = tmp_path / "tasks.jsonl"
    path.write_text(json.dumps(fields) + "\n")
    (task,) = load_tasks(path)
    return task


def test_livecodebench_reads_stdin(tmp_path: Path) -> None:
    assert loaded(tmp_path, lcb()) == Task(
        benchmark="LiveCodeBench",
        task_id="own_a",
        entry_point="main",
        signature="(text: str) -> str",
        description="Print twice the number that you read.",
        seed_inputs=("('2\\n',)", "('-5\\n',)"),
        public_inputs=("('2\\n',)",),
        language="stdin",
        relation=Relation(tokens=True),
        tests=(
            TaskTest(arguments="('2\\n',)", expected="'4'", group="public"),
            TaskTest(arguments="('-5\\n',)", expected="'-10'", group="private"),
        ),
    )


def test_livecodebench_calls_a_method(tmp_path: Path) -> None:
    task = loaded(tmp_path, functional())
    assert (task.entry_point, task.signature) == ("Solution.smallest", "(numbers: List[int], k: int) -> List[int]")
    assert (task.language, task.relation, task.reference) == ("python", None, None)
    tests = [(test.arguments, test.expected) for test in task.tests]
    assert tests == [("([3, 1, 2], 2)", "[1, 2]"), ("([9], 1)", "[9]")]
    assert task.domain == Domain(
        types="numbers: list[int], k: int",
        requires="1 <= len(numbers) <= 3\nand all(1 <= a <= 9 for a in numbers)\nand 1 <= k <= 2",
    )
    prompt = prompt_of(task)
    assert "class Solution:\n    def smallest(self, numbers: List[int], k: int) -> List[int]:" in prompt
    assert "from typing import *" in prompt


@pytest.mark.parametrize(
    ("starter", "entry_point", "signature"),
    [
        ("def smallest(numbers, k):\n", "smallest", "(numbers, k)"),
        ("class Solution:\n\tdef smallest(self, numbers: list[int], k: int):\n\t\tpass", "Solution.smallest", None),
        ("class Solution:\n    @staticmethod\n    def smallest(numbers, k):", "Solution.smallest", "(numbers, k)"),
        ("from typing import List\n\nclass Solution:\n    def helper(self): ...\n    def smallest(self, a, k=1): ...",
         "Solution.smallest", "(a, k=1)"),
    ],
)  # fmt: skip
def test_starter_code(tmp_path: Path, starter: str, entry_point: str, signature: str | None) -> None:
    task = loaded(tmp_path, functional(starter_code=starter))
    assert task.entry_point == entry_point
    assert task.signature == (signature or "(numbers: list[int], k: int)")


def test_fields_may_be_decoded_already(tmp_path: Path) -> None:
    tests = [{"input": "2\n", "output": "4\n", "testtype": "stdin"}]
    plain = lcb(public_test_cases=tests, private_test_cases=json.dumps(tests), metadata={})
    assert loaded(tmp_path, plain).tests == (TaskTest(arguments="('2\\n',)", expected="'4'", group="public"),)
    given = [{"input": [[3, 1], 1], "output": [1], "testtype": "functional"}]
    task = loaded(tmp_path, functional(public_test_cases=given, private_test_cases=[], metadata=None))
    assert task.tests == (TaskTest(arguments="([3, 1], 1)", expected="[1]", group="public"),)
    decoded = apps(solutions=["print(1)"], input_output={"inputs": [["5", "6"]], "outputs": [["10", ""]]})
    assert loaded(tmp_path, decoded).tests == (TaskTest(arguments="('5\\n6',)", expected="'10'", group="private"),)
    pairs = contest(
        public_tests=[{"input": "2", "output": "4"}], solutions=[{"language": "PYTHON3", "solution": "print(1)"}]
    )
    assert loaded(tmp_path, pairs).reference == "print(1)"


def test_apps_reads_stdin_or_calls_a_function(tmp_path: Path) -> None:
    task = loaded(tmp_path, apps())
    assert (task.benchmark, task.task_id, task.language) == ("APPS", "7", "stdin")
    assert task.reference == "print(2 * int(input()))", "the first one is Python 2"
    assert [(test.arguments, test.group) for test in task.tests] == [("('2\\n',)", "public"), ("('5\\n',)", "private")]
    task = loaded(tmp_path, called([[1, [2]], [3, []]], [[3], [3]], starter_code="def f(a, b):\n\t"))
    assert (task.entry_point, task.signature, task.reference) == ("f", "(a, b)", None)
    assert [(test.arguments, test.expected) for test in task.tests] == [("(1, [2])", "3"), ("(3, [])", "3")]


@pytest.mark.parametrize(
    ("starter", "outputs", "expected"),
    [
        ("def f(a):", [[1], [2]], ["1", "2"]),
        ("def f(a):", [[1], [2, 3]], ["[1]", "[2, 3]"]),
        ("def f(a) -> List[int]:", [[1], [2]], ["[1]", "[2]"]),
        ("def f(a) -> List[int]:", [[[1]], [[2]]], ["[1]", "[2]"]),
        ("def f(a):", ["x", "y"], ["'x'", "'y'"]),
        ("def f(a):", [[{"1": 2}], [{}]], ["{1: 2}", "{}"]),
    ],
)
def test_outputs_of_apps_may_stand_in_lists(tmp_path: Path, starter: str, outputs: Any, expected: list[str]) -> None:
    task = loaded(tmp_path, called([[4], [5]], outputs, starter_code=starter))
    assert [test.expected for test in task.tests] == expected


def test_the_method_of_a_solution_where_there_is_no_starter(tmp_path: Path) -> None:
    code = "class Solution:\n    def f(self, a: int) -> int:\n        return a\n"
    task = loaded(tmp_path, called([[1]], [[1]], solutions=json.dumps(["def g(): 1", code])))
    assert (task.entry_point, task.signature, task.reference) == ("Solution.f", "(a: int) -> int", code)
    bare = loaded(tmp_path, called([[1], [2, 3]], [1, 2]))
    assert bare.signature == "(argument_1, *others)"


def test_codecontests(tmp_path: Path) -> None:
    task = loaded(tmp_path, contest())
    assert (task.benchmark, task.task_id) == ("CodeContests", "12_B._Twice_or_Not")
    assert task.reference == "print(2 * int(input()))"
    assert [test.group for test in task.tests] == ["public", "generated"]
    assert loaded(tmp_path, contest(input_file="input.txt")).tests == ()


@pytest.mark.parametrize("make", [lcb, apps, contest])
def test_own_fields_say_more(tmp_path: Path, make: Any) -> None:
    accept = "def accept(arguments, output):\n    return True\n"
    task = loaded(tmp_path, make(accept=accept, reference="print(3)", benchmark="mine"))
    assert (task.benchmark, task.reference, task.relation) == ("mine", "print(3)", Relation(accept=accept))
    assert loaded(tmp_path, make(preamble="import math\n")).preamble == "import math\n"
    assert loaded(tmp_path, make(atol=0.1, tokens=True)).relation == Relation(atol=0.1, tokens=True)


def test_what_the_description_says_of_right_answers(tmp_path: Path) -> None:
    near = "Print the root. Your answer may have an absolute error of at most $10^{-4}$."
    assert loaded(tmp_path, lcb(question_content=near)).relation == Relation(atol=1e-4, tokens=True)
    assert loaded(tmp_path, functional(question_content=near)).relation == Relation(atol=1e-4)
    many = "Print a divisor. If there are multiple answers, print any of them."
    assert loaded(tmp_path, contest(description=many)).ambiguous
    accept = "def accept(arguments, output): return True"
    assert not loaded(tmp_path, contest(description=many, accept=accept)).ambiguous


def test_a_long_test_is_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(contests, "LONGEST_TEST", 20)
    tests = {"input": ["2\n", "1" * 30], "output": ["4", "2" * 30]}
    taken = [test.arguments for test in loaded(tmp_path, contest(private_tests=tests)).tests]
    assert taken == ["('2\\n',)", "('5\\n',)"]


def test_apps_as_folders(tmp_path: Path) -> None:
    in_file = load_tasks(write_layout(tmp_path / "apps.jsonl", "apps", CASES))
    root = write_apps_folder(tmp_path / "test", CASES)
    assert load_tasks(root) == in_file
    assert load_tasks(root / "0000") == in_file[:1]


@pytest.mark.parametrize("layout", NAMES)
def test_every_case_is_read(tmp_path: Path, layout: str) -> None:
    path = write_layout(tmp_path / "own.jsonl", layout, CASES)
    tasks = load_tasks(path)
    packed_file = tmp_path / "own.jsonl.gz"
    packed_file.write_bytes(gzip.compress(path.read_bytes()))
    assert load_tasks(packed_file) == tasks
    chosen = [case for case in CASES if case.layout == layout]
    assert [task.task_id for task in tasks] == [task_id(case) for case in chosen]
    for task, case in zip(tasks, chosen, strict=True):
        assert task.benchmark == NAMES[layout]
        assert len(task.tests) == len(case.inputs)
        assert (task.reference is None) == (layout == "livecodebench")


class Trap:
    def __reduce__(self) -> tuple[Any, ...]:
        return exec, ("raise SystemExit('the pickle was run')",)


def squeezed(data: bytes) -> str:
    return base64.b64encode(zlib.compress(data)).decode()


BAD: dict[str, tuple[dict[str, Any], str]] = {
    "packed tests that run": (lcb(private_test_cases=squeezed(pickle.dumps(Trap()))), "STACK_GLOBAL"),
    "packed tests of protocol 0": (lcb(private_test_cases=squeezed(pickle.dumps(Trap(), 0))), "GLOBAL"),
    "a packed list": (lcb(private_test_cases=squeezed(pickle.dumps(["[]"]))), "more than a text"),
    "two packed texts": (lcb(private_test_cases=squeezed(b"\x8c\x01a\x8c\x01b.")), "2 texts"),
    "a packed pickle that is cut": (lcb(private_test_cases=squeezed(pickle.dumps("[]" * 9)[:9])), "damaged pickle"),
    "a packed text that is no JSON": (lcb(private_test_cases=squeezed(pickle.dumps("[1,"))), "the packed text"),
    "tests in no base64": (lcb(private_test_cases="%%%"), "neither JSON nor base64"),
    "tests in base64 alone": (lcb(private_test_cases=base64.b64encode(b"[]").decode()), "zlib"),
    "tests that stop": (lcb(private_test_cases=base64.b64encode(zlib.compress(b"x" * 99)[:-6]).decode()), "its end"),
    "public tests in no JSON": (lcb(public_test_cases="[{"), "JSON in field 'public_test_cases'"),
    "public tests in no list": (lcb(public_test_cases="3"), "a list of tests"),
    "a test without output": (lcb(public_test_cases=[{"input": "1"}]), "input and output in"),
    "a test of a number": (lcb(public_test_cases=[{"input": 1, "output": "2"}]), "found int"),
    "an unknown testtype": (lcb(public_test_cases=[{"input": "", "output": "", "testtype": "file"}]), "'file'"),
    "two testtypes": (functional(private_test_cases=[{"input": "", "output": "", "testtype": "stdin"}]), "and stdin"),
    "no question_id": (lcb(question_id=None), "'question_id', found nothing"),
    "another function": (functional(metadata={"func_name": "largest"}), "'starter_code', found none"),
    "an argument that is no JSON": (functional(public_test_cases=[{"input": "[1", "output": "1"}]), "the input"),
    "an output that is no JSON": (functional(public_test_cases=[{"input": "[1]", "output": ""}]), "the output of"),
    "metadata of a list": (lcb(metadata="[1]"), "metadata: expected an object"),
    "a lone surrogate": (lcb(public_test_cases=[{"input": "\ud800", "output": ""}]), "lone surrogates"),
    "a benchmark that is taken": (lcb(benchmark="HumanEval"), "HumanEval is another benchmark"),
    "a checker that is none": (lcb(accept="def check(x): ..."), "accept"),
    "fewer outputs": (apps(input_output={"inputs": ["1", "2"], "outputs": ["1"]}), "2 inputs and 1 outputs"),
    "inputs without outputs": (apps(input_output={"inputs": ["1"]}), "list and nothing"),
    "solutions of a number": (apps(solutions="5"), "a list of programs in field 'solutions'"),
    "a question of a number": (apps(question=5), "a text in field 'question'"),
    "arguments in no list": (called([{"a": 1}], [1]), "a list of arguments as input"),
    "fn_name of a number": (apps(input_output={"fn_name": 3, "inputs": [[1]], "outputs": [1]}), "'fn_name'"),
    "a name of blanks": (contest(name="  "), "a plain id"),
    "tests of a text": (contest(private_tests="x"), "JSON in field 'private_tests'"),
    "languages without solutions": (contest(solutions={"language": [3]}), "as many languages as solutions"),
    "an output that is missing": (contest(private_tests={"input": ["1"], "output": [None]}), "output of field"),
}  # fmt: skip


@pytest.mark.parametrize("what", BAD)
def test_a_malformed_entry_is_refused_in_one_line_and_nothing_is_written(
    what: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fields, said = BAD[what]
    tasks, store = tmp_path / "tasks.jsonl", tmp_path / "store"
    good = {"public_test_cases": lcb(question_id="ok"), "input_output": apps(problem_id=1)}
    first = next((entry for field, entry in good.items() if field in fields), contest(name="ok"))
    tasks.write_text(json.dumps(first) + "\n" + json.dumps(fields) + "\n")
    samples = write_samples(tmp_path / "samples.jsonl", {"own_a": ["print(1)"]})
    words = ("import", samples, "--tasks", tasks, "--model", "own", "--temperature", 0, "--store", store)
    status, out, err = run(capsys, *words)
    assert (status, out, err.count("\n")) == (1, "", 1)
    assert err.startswith(f"difftrust: {tasks}, line 2")
    assert said in err
    assert sorted(tmp_path.iterdir()) == [samples, tasks]


def test_a_text_of_every_protocol_is_unpacked_and_a_bomb_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for protocol in (2, 3, 4, 5):
        assert packed_texts.unpacked(squeezed(pickle.dumps("ä" * 300, protocol))) == "ä" * 300
    monkeypatch.setattr(packed_texts, "MAX_BYTES", 1000)
    with pytest.raises(BadBenchmark, match="more than 1,000 bytes"):
        loaded(tmp_path, lcb(private_test_cases=squeezed(pickle.dumps("[" + " " * 5000 + "]"))))


def test_a_release_is_read_line_by_line(tmp_path: Path) -> None:
    path = tmp_path / "many.jsonl"
    path.write_text("".join(json.dumps(lcb(question_id=f"q{i}")) + "\n\n" for i in range(300)))
    tasks = load_tasks(path)
    assert [task.task_id for task in tasks] == [f"q{i}" for i in range(300)]
    assert replace(tasks[0], task_id="q1") == tasks[1]


EITHER = [
    "Your answer counts if its absolute or relative error does not exceed $10^{-6}$.",
    "Your answer counts if its relative or absolute error is at most 1e-6.",
    "The checker allows an absolute or relative error of 0.000001.",
    "An absolute or relative error of 10⁻⁶ will be tolerated.",
    "An absolute and/or relative error below 10<sup>-6</sup> is fine.",
    "Absolute or relative error must not exceed 10**-6.",
    "Absolute/relative error must not exceed 10^(-6).",
    "Absolute or relative error must not exceed 10^{ - 6}.",
    "Absolute or relative error must not exceed 10 - 6.",
    "Absolute or relative error must not exceed 10−6.",
    r"Absolute or relative error must not exceed \(10^{−6}\).",
    r"Absolute or relative error must not exceed $1 \times 10^{-6}$.",
    r"The **relative** or **absolute** error may be up to `1e-6`.".replace("*", ""),
    "Find x.\n\nOutput\n\nOne number.\nA relative or absolute error of at\nmost $10^{-6}$ is accepted.\n\nExample",
]
ABSOLUTE = [
    "Answers within 10-5 of the actual answer will be accepted.",
    "Answers within 10^-5 of the right one are accepted.",
    "Print the mean with an error of at most 10^{-5}.",
    "Report the height to an accuracy of 1e-5.",
    "Output the probability. The error of your answer should be less than 1e-5.",
    "Your output may deviate from the jury's by no more than 1.0e-5.",
    "The result is considered correct if it differs from the expected one by less than $10^{-5}$.",
    r"A difference of up to $10^{-5}$ between your answer and ours is ignored.",
]
RELATIVE = [
    "The relative error of the printed value should be at most 10^{-9}.",
    "Print the sum; a relative error of 1e-9 is allowed.",
]
NONE = [
    "",
    "Print the number of pairs. 1 ≤ n ≤ 10^6, and |a_i| ≤ 10^{9}.",
    "Print the answer modulo 10^9 + 7.",
    "Print YES if the two lengths differ by at most 0.001, and NO otherwise.",
    "A scale has an error of at most 0.1 kg. Print the number of bags that may be too light.",
    "It is guaranteed that no two answers are within 10^{-6} of each other.",
    "It is guaranteed that the absolute or relative error of the input is below 10^-6.",
    "You are given readings, each with an absolute error of 10^{-3}. Print their number.",
    "The input values are reals with precision 0.001. Print the largest.",
    "Print the price rounded to 2 decimals, such as 0.05.",
    "Print the answer with exactly 6 digits after the decimal point.",
    "Print an error message if the code 10-5 is read.",
    "Each bulb fails with probability 0.01. Print the expected number of failures.",
    "Output the number of runners within 10 - 5 metres of the leader.",
    "Your answer may have an error of at most 2 dollars.",
    "The sensor's tolerance is 0.5; your result is a whole number.",
]


STATED = [
    *((text, Relation(atol=1e-6, rtol=1e-6, tokens=True)) for text in EITHER),
    *((text, Relation(atol=1e-5, tokens=True)) for text in ABSOLUTE),
    *((text, Relation(rtol=1e-9, tokens=True)) for text in RELATIVE),
    (r"The answer may be off by an error of $5 \cdot 10^{-3}$.", Relation(atol=0.005, tokens=True)),
    *((text, None) for text in NONE),
]


@pytest.mark.parametrize(("text", "relation"), STATED)
def test_what_is_stated_is_found(text: str, relation: Relation | None) -> None:
    """An error that is called neither absolute nor relative is absolute; other small numbers are none."""
    assert stated_tolerance(text, tokens=True) == relation


def test_the_first_statement_counts() -> None:
    text = "An absolute or relative error of 1e-4 is accepted. Formally, for an answer a the error is |a-b| ≤ 1e-9."
    assert stated_tolerance(text, tokens=False) == Relation(atol=1e-4, rtol=1e-4)


def requires(names: str, *calls: tuple[Any, ...], said: str = "") -> tuple[str, list[str]]:
    found = seen_domain(names.split(), calls, said)
    return found.types, found.requires.split("\nand ")


def test_numbers_lists_texts_and_tables() -> None:
    types, rules = requires("n xs word", (3, [4, -2], "ab"), (1, [], "zzz"))
    assert types == "n: int, xs: list[int], word: str"
    assert rules == [
        "1 <= n <= 3",
        "0 <= len(xs) <= 2",
        "all(-2 <= a <= 4 for a in xs)",
        "2 <= len(word) <= 3",
        "set(word) <= set('abz')",
    ]
    # Six letters stand for all.
    _, rules = requires("word", ("abcdef",), ("A-1",))
    assert rules[1] == "set(word) <= set('-1Aabcdefghijklmnopqrstuvwxyz')"
    grids = [[[1, 0], [0, 1]], [[1], [1]], [[0, 0, 1], [1, 1, 1]], [[0], [1]], [[1, 1], [0, 0]]]
    types, rules = requires("grid", *[(grid,) for grid in grids])
    assert types == "grid: list[list[int]]"
    assert rules == [
        "2 <= len(grid) <= 2",
        "all(1 <= len(a) <= 3 and all(0 <= b <= 1 for b in a) for a in grid)",
        "len(set(map(len, grid))) <= 1",
    ]


def test_what_holds_in_every_test_unless_these_are_two_and_the_description_says_nothing() -> None:
    _, rules = requires(
        "xs ys k",
        *[([1, 2, 5], [3, 3, 3], 1), ([0, 4, 9], [1, 5, 2], 2), ([2, 3, 4, 8], [7, 7, 1, 0], 3)],
        *[([1, 2, 6], [3, 0, 3], 1), ([0, 4, 8], [1, 6, 2], 2)],
    )
    assert rules[-5:] == [
        "len(set(xs)) == len(xs)",
        "xs == sorted(xs)",
        "len(xs) == len(ys)",
        "k < len(xs)",
        "k < len(ys)",
    ]
    calls = [([1, 2, 5], 1), ([0, 4, 9], 2)]
    assert len(requires("xs k", *calls)[1]) == 3
    assert requires("xs k", *calls, said="The list is in non-decreasing order.")[1][3:] == ["xs == sorted(xs)"]
    assert requires("xs k", *calls, said="All numbers are distinct.")[1][3:] == ["len(set(xs)) == len(xs)"]


@pytest.mark.parametrize(
    "calls", [[], [(1, 2)], [(1,), ("a",)], [(None,)], [({"a": 1},)], [([1, "a"],)], [(True,), (1,)]]
)
def test_no_domain_where_the_types_differ(calls: list[tuple[Any, ...]]) -> None:
    assert seen_domain(["x"], calls) is None


def test_the_language_reads_it() -> None:
    domain = seen_domain(["xs", "k"], [([1, 2], 1), ([3], 0)])
    task = small_task("Solution.f", "(xs: List[int], k: int) -> int", seed_inputs=("([1, 2], 1)",), domain=domain)
    found = PythonDomain(task, domain)
    assert found.fits("([1, 2], 1)")
    assert not found.fits("([1, 'a'], 1)")
    names: dict[str, Any] = {}
    exec(found.predicate, names)
    assert names["inside"]([3, 1], 0)
    with pytest.raises(names["OutsideTheDomain"]):
        names["inside"]([], 0)
