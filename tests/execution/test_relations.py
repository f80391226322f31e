"""Tasks with several right answers in the real sandbox: right ones agree, wrong ones do not, I <= 2E."""

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from difftrust_core.base.records import ACCEPTED, Kind, Outcome
from difftrust_core.base.task import Relation, Task
from difftrust_core.estimates.behaviours import candidate_trees, load_matrix
from difftrust_core.estimates.queries import query_estimates
from difftrust_core.exceptions import BadTask
from difftrust_core.execution import answers
from difftrust_core.execution.answers import CHECKER_LIMITS, Checker, check_reference, rebuilt
from difftrust_core.execution.worker import checker_for, classes_of
from difftrust_core.metrics.equality import EQUALITIES, Equality
from difftrust_core.sandbox.host import Sandbox
from difftrust_core.store.store import REFERENCE, Store
from tests.support.right_answers import BENCHMARK, CASES, CHECKED, Case, without_reference
from tests.support.tasks import add_programs, chunk_job, small_task
from tests.support.tiny import measure

N = 60


def store_of(root: Path, task: Task, *coders: tuple[str, tuple[str, ...]]) -> Store:
    """Return a store with one task and the programs of some coders."""
    store = Store.create(root)
    add_programs(store, *((task, model, programs) for model, programs in coders))
    return store


def assert_bound(store: Store, task: Task, model: str, equality: Equality) -> None:
    """Assert I <= 2E on every single input, in whole numbers: m(m-1) - sum k(k-1) <= 2 (m - k_ref) (m - 1)."""
    matrix = load_matrix(store, {"benchmark": BENCHMARK, "validity": "domain"}, task.task_id, [0])
    trees = candidate_trees(store, BENCHMARK).filter(model=model)["tree_id"].to_list()
    m, labels = len(trees), matrix.labels[equality]
    right = labels[matrix.row_of[REFERENCE]]
    for column, truth in zip(labels[[matrix.row_of[tree] for tree in trees]].T.tolist(), right.tolist(), strict=True):
        counts = Counter(column)
        assert m * (m - 1) - sum(k * (k - 1) for k in counts.values()) <= 2 * (m - counts[truth]) * (m - 1)


@pytest.mark.quick(1)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_right_programs_agree_and_wrong_ones_do_not(tmp_path: Path, case: Case) -> None:
    coders = [("right", case.right)]
    coders += [(f"wrong{i}", (case.right[1], code)) for i, code in enumerate(case.wrong)]
    coders += [("all", (*case.right, *case.wrong))]
    store = store_of(tmp_path / "store", case.task, *coders)
    done = measure(store, N, validity="domain")
    assert [failure.why for failure in done.failures] == []
    for equality in EQUALITIES:
        found = query_estimates(store, equality=equality)
        assert len(found) == len(coders)
        for row in found.iter_rows(named=True):
            assert_bound(store, case.task, row["model"], equality)
            assert (row["error"] == 0) == (row["model"] == "right"), row
            assert (row["incoherence"] == 0) == (row["model"] == "right"), row


@pytest.mark.quick(1)
@pytest.mark.parametrize("case", CHECKED, ids=lambda case: case.name)
def test_a_checker_needs_no_reference(tmp_path: Path, case: Case) -> None:
    bare = without_reference(case)
    store = store_of(tmp_path / "store", bare.task, ("right", case.right), ("all", (*case.right, *case.wrong)))
    assert measure(store, N, validity="domain").failures == ()
    found = {row["model"]: row for row in query_estimates(store).iter_rows(named=True)}
    assert (found["right"]["error"], found["right"]["incoherence"]) == (0.0, 0.0)
    assert 0 < found["all"]["incoherence"] <= 2 * found["all"]["error"]


@pytest.mark.slow
def test_a_later_program_finds_the_classes_that_a_run_from_scratch_finds(tmp_path: Path) -> None:
    case = CHECKED[0]
    both = [("right", case.right), ("wrong", case.wrong)]
    store = store_of(tmp_path / "store", case.task, both[0])
    measure(store, N, validity="domain")
    add_programs(store, (case.task, *both[1]))
    measure(store, N, validity="domain")
    whole = store_of(tmp_path / "whole", case.task, *both)
    measure(whole, N, validity="domain")
    assert query_estimates(store).equals(query_estimates(whole))


def test_accepted_values_are_one_class_and_the_rest_is_compared_by_value(tmp_path: Path) -> None:
    case = CHECKED[0]
    store = store_of(tmp_path / "store", case.task, ("all", (*case.right, *case.wrong)))
    measure(store, 1, validity="tests")
    outcomes = store.read("outcomes")
    assert store.read("inputs")["arguments"].to_list() == ["([1, 2, 3, 4], 5)"]
    known = {(kind, text): label for kind, text, label in outcomes.select("kind", "text", "paper_class").iter_rows()}
    right = known["value", "<accepted>"]
    assert {text for (_, text), label in known.items() if label == right} == {"<accepted>", "(1, 4)", "[4, 1]"}
    assert known["value", "(5, 0)"] != known["value", "(0, 5)"]
    assert known["exception", "ValueError"] not in (right, known["value", "(5, 0)"])


PAIR = CHECKED[0]


def failure_of(tmp_path: Path, programs: tuple[str, ...] = PAIR.right, **changes: str) -> str:
    """Return why the first task of CHECKED fails with these fields of its relation; nothing is written then."""
    task = replace(PAIR.task, relation=Relation(**changes))
    store = store_of(tmp_path / "store", task, ("coder", programs))
    (failed,) = measure(store, 20, validity="domain").failures
    assert "\n" not in failed.why
    assert failed.why.startswith("task several/pair of several: ")
    assert all(store.read(table).is_empty() for table in ("outcomes", "behaviours", "executions"))
    return failed.why.removeprefix("task several/pair of several: ")


@pytest.mark.quick(1)
@pytest.mark.parametrize(
    ("does", "why"),
    [
        ("return True\n1 / 0", "its `accept` does not load (ZeroDivisionError); mend it"),
        (
            "while True: pass",
            "its `accept` does not end within 2 s on input ([3, 2], 3) and output None; let it",
        ),
        ("return len([0] * 10 ** 10)", "its `accept` runs out of memory on"),
        ("import os; os._exit(3)", "its `accept` ends with crash on"),
        ("return nmae(output)", "its `accept` raises NameError on"),
        ("import no_such_module", "its `accept` raises ModuleNotFoundError on"),
        ("return output == (1, 2, 3)", "its checker rejects the reference's answer on"),
        ("raise ValueError", "its checker rejects the reference's answer on"),
        ("SEEN.append(1); return len(SEEN) < 2", "answers differently when asked again"),
    ],
)
def test_a_checker_that_is_broken_fails_its_task_by_name(tmp_path: Path, does: str, why: str) -> None:
    assert why in failure_of(tmp_path, accept=f"SEEN = []\ndef accept(arguments, output):\n    {does}\n")


@pytest.mark.slow
def test_a_normal_form_that_hangs_fails_its_task_by_name(tmp_path: Path) -> None:
    why = failure_of(tmp_path, normal="def normal(arguments, output):\n    while True: pass\n")
    assert why.startswith("its `normal` does not end within 2 s on")


@pytest.mark.slow
def test_a_value_on_which_the_checker_hangs_is_not_accepted_and_fails_no_task(tmp_path: Path) -> None:
    accept = PAIR.task.relation.accept.replace("def accept", "def judge")
    hanging = (
        f"{accept}\ndef accept(arguments, output):\n    while output == 77: pass\n    return judge(arguments, output)\n"
    )
    odd = f"def {PAIR.task.entry_point}(*arguments):\n    return 77\n"
    task = replace(PAIR.task, relation=Relation(accept=hanging))
    store = store_of(tmp_path / "store", task, ("right", PAIR.right), ("odd", (odd, odd)))
    assert measure(store, 2, validity="domain").failures == ()
    errors = dict(store.read("estimates").filter(equality="paper").select("model", "error").iter_rows())
    assert errors == {"right": 0.0, "odd": 1.0}


@pytest.mark.slow
def test_what_a_checker_does_to_its_arguments_matters_to_nobody(tmp_path: Path) -> None:
    spoiling = "\n".join(
        [
            PAIR.task.relation.accept.replace("def accept", "def judge"),
            "def accept(arguments, output):",
            "    found = judge(arguments, output)",
            "    arguments[0].clear()",
            "    if type(output) is list: output.clear()",
            "    return found",
        ]
    )
    found = []
    for name, accept in (("plain", PAIR.task.relation.accept), ("spoiling", spoiling)):
        task = replace(PAIR.task, relation=Relation(accept=accept))
        store = store_of(tmp_path / name, task, ("all", (*PAIR.right, *PAIR.wrong)))
        assert measure(store, N, validity="domain").failures == ()
        found.append(store.read("outcomes"))
    assert found[0].equals(found[1])


FORGER = """
import ctypes, gc, mmap
from tests.support.tiny import measure

def pair(numbers, total):
    for found in gc.get_objects():
        if type(found) is mmap.mmap:
            place = found.tell()
            found.write(b"V<accepted>\\n")
            return None
    return "<accepted>"
"""


def test_no_program_can_say_that_it_is_accepted(tmp_path: Path) -> None:
    plain = "def pair(numbers, total):\n    return '<accepted>'\n"
    coders = [(name, (code, code + "\n\nx = 1\n")) for name, code in (("forger", FORGER), ("plain", plain))]
    store = store_of(tmp_path / "store", PAIR.task, *coders)
    assert measure(store, N, validity="domain").failures == ()
    assert query_estimates(store)["error"].to_list() == [1.0, 1.0]


def test_values_that_cannot_be_built_again_are_not_accepted() -> None:
    built = frozenset({"Point", "deque"})
    for text in (
        "Other(x=1)",
        "iterator([1])",
        "[1…#0123456789abcdef0123456789abcdef",
        "a.b(x=1)",
        "len",
        "[" * 70 + "]" * 70,
    ):
        assert rebuilt(text, built) is None
    assert rebuilt("Point(x=1, y=[Counted({'a': 1})])", built) == "Point(x=1, y=[{'a': 1}])"
    assert rebuilt("[deque([1]), float64(0.5)]", built) == "[deque([1]), 0.5]"
    assert rebuilt("{Odd([1])}", built) is None  # a list in a set


@pytest.mark.parametrize(
    ("opening", "closing", "levels"),
    [("[", "]", 1), ("(", ",)", 1), ("{1: ", "}", 1), ("{Point(", "): 0}", 2),
     ("Point(", ")", 1), ("Point(x=", ")", 1), ("Odd([", "])", 2)],
)  # fmt: skip
def test_values_are_built_again_as_deep_as_the_sandbox_writes_them(opening: str, closing: str, levels: int) -> None:
    def nested(depth: int) -> str:
        return opening * (depth // levels) + "1" + closing * (depth // levels)

    assert rebuilt(nested(60), frozenset({"Point"})) == nested(60).replace("Odd([", "[").replace("])", "]")
    assert rebuilt(nested(70), frozenset({"Point"})) is None


NEVER = "def accept(arguments, output):\n    return False\n"


NAMED = {
    "deque([1])": "deque", "Counter({1: 2})": "Counter", "OrderedDict({1: 2})": "OrderedDict",
    "Fraction(1, 2)": "Fraction", "date(2024, 2, 29)": "date", "range(0, 3)": "range", "1.5": "float",
    "defaultdict({1: 2})": "dict",
}  # fmt: skip


def test_a_checker_gets_each_value_and_says_so_of_each_input_also_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    accept = "def accept(arguments, output):\n    return type(output).__name__ == arguments[0]\n"
    task = replace(PAIR.task, relation=Relation(accept=accept))
    inputs = [f"({name!r},)" for name in NAMED.values()]
    rest: list[Outcome] = [(Kind.VALUE, "len"), (Kind.EXCEPTION, "nan"), (Kind.EXCEPTION, "ValueError")]
    rows = [[*((Kind.VALUE, text) for text in NAMED), *rest, ACCEPTED] for _ in NAMED]
    expected = [[*(i == j for j in range(len(NAMED))), False, False, False, True] for i in range(len(NAMED))]
    with Sandbox(CHECKER_LIMITS, allow_weak=True) as sandbox:
        assert Checker(task, sandbox).says(inputs, rows) == expected
        monkeypatch.setattr(answers, "_AT_A_TIME", 5)
        assert Checker(task, sandbox).says(inputs, rows) == expected


@pytest.mark.parametrize(
    ("does", "ends"), [("while True: pass", "does not end within 2 s"), ("import os; os._exit(3)", "ends with crash")]
)
def test_a_checker_may_fail_to_end_on_two_values_but_not_on_three_or_on_all(does: str, ends: str) -> None:
    accept = f"def accept(arguments, output):\n    if output > 0:\n        {does}\n    return True\n"
    task = replace(PAIR.task, relation=Relation(accept=accept))
    values: list[Outcome] = [(Kind.VALUE, str(number)) for number in (0, 1, 2, -1, 3, -2)]
    with Sandbox(replace(CHECKER_LIMITS, call_cpu=0.05, repeat_cpu=0.05), allow_weak=True) as sandbox:
        checker = Checker(task, sandbox)
        assert checker.says(["()"], [values[:4]]) == [[True, False, False, True]]
        with pytest.raises(BadTask, match=r"its `accept` uses up its time on input \(\) and output -2; let it refuse"):
            checker.says(["()"], [values])
        with pytest.raises(BadTask, match=rf"its `accept` {ends} on input \(\) and output 1; let it refuse"):
            checker.says(["()"], [values[1:2]])


@pytest.mark.parametrize(("length", "shown"), [(78, "'" + 78 * "a" + "'"), (79, "'" + 79 * "a" + "…")])
def test_an_answer_of_the_reference_that_is_rejected_is_shown_whole_up_to_a_line(length: int, shown: str) -> None:
    task = replace(PAIR.task, relation=Relation(accept=NEVER))
    outcomes: list[Outcome] = [(Kind.EXCEPTION, "ValueError"), (Kind.VALUE, repr(length * "a"))]
    with Sandbox(CHECKER_LIMITS, allow_weak=True) as sandbox:
        checker = Checker(task, sandbox)
        check_reference(task, ["(1,)"], outcomes[:1], checker)
        with pytest.raises(BadTask) as told:
            check_reference(task, ["(1,)", "(2,)"], outcomes, checker)
    assert f"its checker rejects the reference's answer on (2,): {shown}; mend" in str(told.value)


def test_a_checker_gets_objects_of_the_classes_that_the_task_defines(tmp_path: Path) -> None:
    task = small_task(
        "corner",
        "(points: list[Point]) -> Point",
        benchmark=BENCHMARK,
        seed_inputs=("([Point(x=1, y=2), Point(x=3, y=0)],)",),
        preamble="class Point:\n    def __init__(self, x, y):\n        self.x, self.y = x, y\n",
        relation=Relation(
            accept="def accept(arguments, output):\n    return vars(output) in [vars(p) for p in arguments[0]]\n"
        ),
    )
    right = ("def corner(points):\n    return points[0]\n", "def corner(points):\n    return points[-1]\n")
    wrong = "def corner(points):\n    return Point(points[0].x + 1000, 0)\n"
    store = store_of(tmp_path / "store", task, ("right", right), ("wrong", (right[0], wrong)))
    assert measure(store, 2, validity="tests").failures == ()
    found = dict(query_estimates(store).select("model", "error").iter_rows())
    assert found["right"] == 0.0
    assert found["wrong"] == 0.5


def test_tasks_without_a_relation_start_no_second_sandbox() -> None:
    job = chunk_job(replace(PAIR.task, relation=None))
    assert checker_for(job) is None
    assert [*classes_of(job, ["(1,)"], [[(Kind.VALUE, "1"), (Kind.VALUE, "1.0")]]).values()] == [[[0, 0]], [[0, 1]]]
