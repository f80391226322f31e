"""Programs that read stdin: prompt, replies, one program in several texts; input texts that are mutated and shrunk."""

import statistics
from dataclasses import replace
from typing import Any

import pytest

from difftrust.contests.mutate_texts import MAX_TEXT, draw_text, simpler_texts, structures_of
from difftrust.demo.simulated import sample_simulated
from difftrust.search.shrink import shrink
from difftrust_core.base.literals import read_literal, write_literal
from difftrust_core.base.records import Kind, Validity
from difftrust_core.base.task import Domain, Task
from difftrust_core.exceptions import BadTask
from difftrust_core.execution.jobs import limits_of
from difftrust_core.generation.extraction import FIRST_BLOCK, program_of
from difftrust_core.generation.prompt import prompt_of
from difftrust_core.languages.language import MAX_ATTEMPTS
from difftrust_core.languages.registry import language_of, load_language
from difftrust_core.sandbox.host import Sandbox
from tests.bench.stdin_formats import measure
from tests.contests.formats import FORMATS
from tests.sandbox.test_host import run
from tests.support.tasks import small_task

STDIN = load_language("stdin")


def test_drawn_texts_fit_their_formats_differ_and_find_planted_faults() -> None:
    measured = {one.name: measure(one, n=80, sets=1) for one in FORMATS}
    accepted = {name: m.accepted for name, m in measured.items()}
    assert statistics.median(accepted.values()) >= 0.98
    assert min(accepted.values()) >= 0.85, accepted
    assert statistics.median(m.distinct for m in measured.values()) >= 0.75
    assert statistics.mean(m.found for m in measured.values()) >= 0.95


def task(*texts: str) -> Task:
    seeds = tuple(write_literal((text,)) for text in texts)
    return small_task("x", "(text: str) -> str", benchmark="own", seed_inputs=seeds, language="stdin")


def test_draws_are_a_function_of_task_seed_position_and_attempt() -> None:
    one = task("3\n1 2 3\n", "2\n7 7\n")
    draw = STDIN.fuzz(one, 5)
    first = [draw(position, 0) for position in range(50)]
    structures_of.cache_clear()
    again = STDIN.fuzz(one, 5)
    assert [again(position, 0) for position in reversed(range(50))] == first[::-1]
    assert len({*first}) > 25
    assert first != [STDIN.fuzz(one, 6)(position, 0) for position in range(50)]
    assert {draw(position, MAX_ATTEMPTS) for position in range(20)} == {*one.seed_inputs}


def test_numbers_stay_within_what_was_seen_and_counts_are_true() -> None:
    for i in range(200):
        n, values = (list(map(int, line.split())) for line in draw_text(["3\n5 2 9\n", "4\n3 2 8 7\n"], i).splitlines())
        assert n == [len(values)]
        assert 1 <= min(values) <= max(values) <= 9


def test_edges_that_a_single_example_shows_may_have_too_few_numbers() -> None:
    example = "5 3\n31 27 30 48 9\n1 4\n3 4\n2 3\n"  # read as lines of n - 1 numbers, by chance those of a tree
    assert len({draw_text([example], key) for key in range(20)}) > 5


@pytest.mark.slow
def test_long_examples_and_strange_ones_give_texts() -> None:
    long = "2000\n" + " ".join(map(str, range(2000))) + "\n"
    assert all(len(draw_text([long], i)) < 2 * len(long) for i in range(3))
    assert max(len(draw_text([long, "2\n5 6\n"], i)) for i in range(50)) <= MAX_TEXT
    for text in ("", "\n", " ", "\t\n\n", "a" * 5000, "\ud800 1", "1\r\n2\r\n", "-0 +5 007\n", "é ß\n", "(((\n"):
        assert [isinstance(draw_text([text], i), str) for i in range(20)] == [True] * 20


def test_a_text_shrinks_within_its_structure() -> None:
    around = simpler_texts(["3\n5 2 9\n", "5\n1 2 8 7 7\n"])
    tried: list[str] = []

    def shows(inputs: object) -> list[bool]:
        found = []
        for arguments in inputs:  # type: ignore[attr-defined]
            n, values = (list(map(int, line.split())) for line in read_literal(arguments)[0].split("\n")[:2])
            tried.append(arguments)
            assert n == [len(values)]
            found.append(len({*values}) < len(values) and max(values) > 6)
        return found

    small = shrink(write_literal(("9\n7 11 12 5 5 3 7 7 8\n",)), shows, accepts=lambda text: True, around=around)
    assert (small.arguments, small.minimal) == ("('2\\n7 7\\n',)", True)
    assert len(tried) < 500


def test_a_text_of_another_structure_loses_lines_and_words() -> None:
    simpler = {*simpler_texts(["3\n5 2 9\n"])(("x\ny z",))}
    assert ("y z",) in simpler
    assert all(len(text) < len("x\ny z") for (text,) in simpler)


REFERENCE = """
def solve(values):
    best = values[0]
    for value in values[1:]:
        if value > best:
            best = value
    return best

n = int(input())
values = [int(word) for word in input().split()]
print(solve(values), len(values) * 2)
"""
TASK = small_task(
    "main",
    "(text: str) -> str",
    description="Print the largest of n numbers, and 2n. It costs $5.\n\nInput: n, then n numbers.",
    seed_inputs=("('3\\n1 -2 3\\n',)", "('5\\n7 7 7 -8 1\\n',)"),
    reference=REFERENCE,
    language="stdin",
)


def test_the_prompt_asks_for_a_whole_program() -> None:
    said = prompt_of(TASK)
    assert said.startswith("Write one complete Python 3 program. It reads its input from standard input")
    assert TASK.description in said
    assert not [words for words in ("main", "This code runs before yours") if words in said]


def test_the_block_that_reads_input_is_the_program() -> None:
    blocks = ("3\n1 2 3", "import math\nprint(math.pi)", "print(int(input()))")
    found = program_of("".join(f"So:\n```python\n{block}\n```\n" for block in blocks), "main", STDIN)
    assert (found.code, found.is_whole) == ("print(int(input()))\n", True)
    found = program_of("```python\nimport math\nprint(7)\n```", "main", STDIN)
    assert (found.code, found.how, found.is_whole) == ("import math\nprint(7)\n", FIRST_BLOCK, True)
    assert program_of("Sorry.", "main", STDIN).code == ""
    assert not STDIN.is_program("3")


def test_texts_that_differ_in_layout_and_local_names_are_one_program() -> None:
    renamed = REFERENCE.replace("best", "top").replace("value in values", "value  in values") + "# done\n"
    assert STDIN.tree_id(renamed) == STDIN.tree_id(REFERENCE)
    assert STDIN.tree_id(REFERENCE.replace("* 2", "* 3")) != STDIN.tree_id(REFERENCE)


def test_simulated_coders_write_scripts() -> None:
    coders = [("simulated/weak", 1.2), ("simulated/strong", 0.4)]
    codes = {c.code for name, t in coders for c in sample_simulated(TASK, name, temperature=t, m=20)}
    assert len(codes) > 3
    with Sandbox(STDIN.limits, runner=STDIN.runner) as sandbox:
        right, _ = run(sandbox, REFERENCE, TASK.seed_inputs, entry_point="main")
        assert right == [(Kind.VALUE, "'3 6'"), (Kind.VALUE, "'7 10'")]
        said = {tuple(run(sandbox, code, TASK.seed_inputs, entry_point="main")[0]) for code in codes}
    assert tuple(right) in said
    assert len(said) > 1


def test_tests_may_take_longer_than_what_is_drawn() -> None:
    assert language_of(TASK) is STDIN
    assert limits_of(STDIN, Validity.TESTS).call_cpu == 4 * limits_of(STDIN, Validity.QUORUM).call_cpu
    python = load_language("python")
    assert limits_of(python, Validity.TESTS) == python.limits


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"domain": Domain(types="text: str")}, "programs that read stdin have no domain yet; leave it out"),
        ({"seed_inputs": ("(3,)",)}, r"own/x of own: an input of a program that reads stdin is one text, got \(3,\)"),
        ({"reference": "print("}, "the reference must be a Python program"),
    ],
)
def test_tasks_that_are_none_are_refused_by_name(change: dict[str, Any], said: str) -> None:
    with pytest.raises(BadTask, match=said):
        STDIN.check(replace(task("1\n"), **change))
    with pytest.raises(BadTask, match="it has none"):
        STDIN.fuzz(task(), 0)
    STDIN.check(TASK)
    assert STDIN.domain(TASK) is None
