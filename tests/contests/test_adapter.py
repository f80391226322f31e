"""What the adapter of scripts says: prompt, programs in replies, one program in several texts, simulated coders."""

from dataclasses import replace

import pytest

from difftrust.demo.simulated import sample_simulated
from difftrust_core.base.records import Kind, Validity
from difftrust_core.base.task import Domain
from difftrust_core.exceptions import BadTask
from difftrust_core.execution.jobs import limits_of
from difftrust_core.generation.extraction import FIRST_BLOCK, program_of
from difftrust_core.generation.prompt import prompt_of
from difftrust_core.languages.registry import language_of, load_language
from difftrust_core.sandbox.host import Sandbox
from tests.sandbox.test_host import run
from tests.support.tasks import small_task

STDIN = load_language("stdin")
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
    assert "main" not in said
    assert "This code runs before yours" not in said


def test_the_block_that_reads_input_is_the_program() -> None:
    blocks = ("3\n1 2 3", "import math\nprint(math.pi)", "print(int(input()))")
    reply = "".join(f"So:\n```python\n{block}\n```\n" for block in blocks)
    found = program_of(reply, "main", STDIN)
    assert (found.code, found.is_whole) == ("print(int(input()))\n", True)
    found = program_of("```python\nimport math\nprint(7)\n```", "main", STDIN)
    assert (found.code, found.how, found.is_whole) == ("import math\nprint(7)\n", FIRST_BLOCK, True)
    assert program_of("Sorry.", "main", STDIN).code == ""
    assert not STDIN.is_program("3")
    assert STDIN.is_program("print(2 * int(input()))")


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


def test_a_domain_is_refused() -> None:
    with pytest.raises(BadTask, match="programs that read stdin have no domain yet; leave it out"):
        STDIN.check(replace(TASK, domain=Domain(types="text: str")))
    assert STDIN.domain(TASK) is None
