"""The inputs that a task's page lists, on the shipped results, and what is copied as a test."""

import pytest

import difftrust as dt
from difftrust.shipped import find_results
from difftrust.tasks.details import DISAGREEING, WRONG
from difftrust.tasks.task_inputs import Answer, ReadInput, as_test, read_inputs
from difftrust.tasks.task_view import REFERENCE_CLUSTER, TaskView


@pytest.fixture(scope="module")
def agreeing() -> TaskView:
    return dt.open(find_results()).task("HumanEval/122", model="gpt_4o")


@pytest.fixture(scope="module")
def many() -> TaskView:
    study = dt.open(find_results())
    return study.task("HumanEval/1", model=study.models)


def answer_of(one: ReadInput, cluster: int) -> Answer:
    return next(answer for answer in one.answers if cluster in answer.clusters)


def test_wrong_inputs_are_listed_also_where_all_programs_agree(agreeing: TaskView) -> None:
    assert read_inputs(agreeing, DISAGREEING) == []
    first, *others = read_inputs(agreeing, WRONG)
    assert (first.place, first.is_smallest, first.first, first.second) == ("domain", True, 1, REFERENCE_CLUSTER)
    assert {one.is_smallest for one in others} == {None}
    mine, right = answer_of(first, 1), next(answer for answer in first.answers if answer.is_right)
    assert mine.text != right.text
    assert right.clusters == (REFERENCE_CLUSTER,)


def test_an_input_is_listed_once_and_the_domain_comes_first(many: TaskView) -> None:
    for kind in (WRONG, DISAGREEING):
        found = read_inputs(many, kind)
        assert len({one.arguments for one in found}) == len(found) > 2
        places = [["domain", "None", "types", "outside"].index(str(one.place)) for one in found]
        assert places == sorted(places)
        for one in found:
            assert one.first != one.second
            numbers = [number for answer in one.answers for number in answer.clusters]
            assert len(numbers) == len(set(numbers))
            assert one.first in numbers


def test_clusters_that_disagree_have_different_answers(many: TaskView) -> None:
    for one in read_inputs(many, DISAGREEING):
        left, right = answer_of(one, one.first), answer_of(one, one.second)
        assert (left.kind, left.text) != (right.kind, right.text) or "…" in left.text


def wrong_on(arguments: str, right: str, kind: str = "value", place: str | None = "domain") -> ReadInput:
    answers = (
        Answer(clusters=(1,), kind="value", text="0", is_right=False),
        Answer(clusters=(REFERENCE_CLUSTER,), kind=kind, text=right, is_right=True),
    )
    return ReadInput(
        kind=WRONG, arguments=arguments, first=1, second=0, answers=answers, place=place, is_smallest=True,
        n_inputs=None,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("one", "line"),
    [
        (wrong_on("([1], 2)", "[3]"), "    assert f([1], 2) == [3]"),
        (wrong_on("('a',)", "None"), "    assert f('a') is None"),
        (wrong_on("()", "0.5"), "    assert f() == pytest.approx(0.5)"),
        (wrong_on("(1,)", "ValueError: no", "exception"), "        f(1)"),
        (wrong_on("(1,)", "2", place="types"), "    assert f(1) == 2"),
    ],
)
def test_a_test_holds_what_the_reference_answers_and_says_where_the_input_lies(one: ReadInput, line: str) -> None:
    written = as_test("f", one)
    assert written.splitlines()[-1] == line
    assert written.startswith("# This input lies outside the declared types.") == (one.place == "types")
    compile(written, "test", "exec")
    assert ("import pytest" in written) == ("pytest." in written)


def test_a_copied_test_fails_on_a_wrong_program_and_passes_on_a_right_one() -> None:
    written = as_test("f", wrong_on("([1], 2)", "[3]"))
    space = {"f": lambda xs, k: [3]}
    exec(written, space)
    space["test_f"]()  # type: ignore[call-arg]
    space["f"] = lambda xs, k: [4]
    with pytest.raises(AssertionError):
        space["test_f"]()  # type: ignore[call-arg]


@pytest.mark.parametrize(
    ("name", "one"),
    [
        ("f", wrong_on("([1, 2…", "3")),
        ("f", wrong_on("(1,)", "[1, 2…")),
        ("f", wrong_on("(1,)", "Point(x=1)")),
        ("f", wrong_on("(1,)", "__import__('os'): x", "exception")),
        ("f(); evil", wrong_on("(1,)", "1")),
        ("f", wrong_on("(1,)", "1", "timeout")),
    ],
)
def test_what_cannot_be_written_is_not_offered(name: str, one: ReadInput) -> None:
    assert as_test(name, one) is None
