"""Simulated coders: each operator by hand, then determinism, recurrence, strength and refusals."""

import ast
import functools
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from difftrust.demo import paraphrase
from difftrust.demo.bugs import OPERATORS, mistakes
from difftrust.demo.paraphrase import VARIATIONS
from difftrust.demo.rewrite import program_text
from difftrust.demo.simulated import SIMULATED, beliefs, sample_simulated, tempered
from difftrust_core.base.records import Candidate
from difftrust_core.base.task import Task
from difftrust_core.exceptions import WrongUsage
from tests.support.tasks import small_task

_, MEDIUM, WEAK = SIMULATED
beliefs_once = functools.cache(beliefs)

REFERENCES = {
    "count_even": """
def count_even(numbers: list[int], limit: int) -> int:
    '''Count the even numbers below the limit.'''
    total = 0
    for number in numbers:
        if number >= limit:
            continue
        if number % 2 == 0:
            total += 1
    return total
""",
    "grade": """
def grade(points):
    if points > 90:
        label = 'high'
    else:
        label = 'low'
    if points < 0:
        return 'bad'
    else:
        return label.upper()
""",
    "longest": """
from math import inf

def size(text):
    return len(text.strip())

def longest(words):
    best, best_size = None, -inf
    for word in sorted(words):
        if size(word) > best_size:
            best, best_size = word, size(word)
    return best
""",
}
INPUTS = {
    "count_even": [([], 3), ([2, 4, 5, 8], 6), ([0, -2, 7], 1)],
    "grade": [(95,), (90,), (-1,), (12,)],
    "longest": [([],), (["b", "a "],), (["x", " yy ", "zz", "   "],)],
}


def task_of(name: str, *, task_id: str | None = None, reference: str | None = None) -> Task:
    reference = reference or REFERENCES[name]
    return small_task(name, "(...)", benchmark="tests", task_id=task_id or name, seed_inputs=(), reference=reference)


TASKS = [task_of(name) for name in REFERENCES]
MANY_TASKS = [task_of("count_even", task_id=f"count_even/{k}") for k in range(150)]


def in_function(*lines: str) -> str:
    return "def f(a, b):\n" + "".join(f"    {line}\n" for line in lines)


def mutants(operator: str, source: str) -> set[str]:
    tree = ast.parse(source)
    return {program_text(broken()) for broken in mistakes(tree).get(operator, [])}


OPERATOR_EXAMPLES = [
    ("off_by_one", ["return a + 3"], [["return a + 2"], ["return a + 4"]]),
    ("off_by_one", ["return a if True else 'x'"], []),
    ("shifted_bound", ["return range(a)"], [["return range(a - 1)"], ["return range(a + 1)"]]),
    (
        "shifted_bound",
        ["return range(0, a + 1)"],
        [["return range(0, a)"], ["return range(0, a + 2)"], ["return range(1, a + 1)"]],
    ),
    ("shifted_bound", ["return a[:b]"], [["return a[:b - 1]"], ["return a[:b + 1]"]]),
    ("shifted_bound", ["return a[b - 1:]"], [["return a[b:]"]]),
    ("flipped_comparison", ["return a < b"], [["return a <= b"], ["return a > b"]]),
    ("flipped_comparison", ["return a is None is b"], [["return a is not None is b"], ["return a is None is not b"]]),
    ("dropped_edge_case", ["if not a:", "    return 0", "return b"], [["return b"]]),
    ("dropped_edge_case", ["if a:", "    return 0", "else:", "    return b"], [["return b"]]),
    ("dropped_edge_case", ["for x in a:", "    if x:", "        break"], [["for x in a:", "    pass"]]),
    ("dropped_edge_case", ["if a:", "    b = 1", "return b"], []),
    ("dropped_else", ["if a:", "    b = 1", "else:", "    b = 2"], [["if a:", "    b = 1"]]),
    ("dropped_filter", ["return [x for x in a if x]"], [["return [x for x in a]"]]),
    ("wrong_initial_value", ["total = 0"], [["total = 1"]]),
    ("wrong_initial_value", ["best: int = None"], [["best: int = 0"]]),
    ("wrong_initial_value", ["found = []"], []),
    ("wrong_arithmetic", ["return a + b"], [["return a - b"]]),
    ("wrong_arithmetic", ["return a // b"], [["return a / b"], ["return a % b"]]),
    ("wrong_arithmetic", ["a += b"], [["a -= b"]]),
    ("wrong_arithmetic", ["return a + 'x'"], []),
    ("and_or", ["return a and b"], [["return a or b"]]),
    ("negated_condition", ["return 1 if a else 2"], [["return 1 if not a else 2"]]),
    ("negated_condition", ["if not a:", "    b = 1"], [["if a:", "    b = 1"]]),
    ("negated_condition", ["return [x for x in a if x]"], [["return [x for x in a if not x]"]]),
    ("negated_condition", ["while a:", "    a -= 1"], []),
    ("min_max", ["return min(a, b)"], [["return max(a, b)"]]),
    ("min_max", ["return a.min()"], []),
    ("any_all", ["return all(a)"], [["return any(a)"]]),
    ("toggled_order", ["return sorted(a)"], [["return sorted(a, reverse=True)"]]),
    ("toggled_order", ["a.sort(key=len, reverse=True)"], [["a.sort(key=len)"]]),
    ("dropped_statement", ["a += 1", "return a"], [["return a"]]),
    ("dropped_statement", ["a.append(b)", "return a"], [["return a"]]),
    ("dropped_statement", ["a = b", "return a"], []),
    ("swapped_arguments", ["return pow(a, b, 7)"], [["return pow(b, a, 7)"]]),
    ("swapped_arguments", ["return max(a, b)"], []),
    ("swapped_arguments", ["return f(*a, b)"], []),
    ("dropped_call", ["return a.strip()"], [["return a"]]),
    ("dropped_call", ["return a[:]"], [["return a"]]),
    ("dropped_call", ["return abs(a)"], [["return a"]]),
    ("dropped_call", ["return a.strip('x')"], []),
    ("wrong_returned_variable", ["c = a", "return c"], [["c = a", "return a"], ["c = a", "return b"]]),
    ("wrong_returned_variable", ["return a + b"], []),
    ("break_continue", ["for x in a:", "    break"], [["for x in a:", "    continue"]]),
]


def test_operator_makes_exactly_its_mistakes() -> None:
    for operator, before, after in OPERATOR_EXAMPLES:
        assert mutants(operator, in_function(*before)) == {in_function(*lines) for lines in after}, (operator, before)
    assert {operator for operator, _, after in OPERATOR_EXAMPLES if after} == set(OPERATORS)


def test_annotations_docstrings_defaults_imports_and_scripts_are_left_alone() -> None:
    source = "import os\ndef f(a: 'x[1:2]'=3) -> 4:\n    '''5'''\n    return a\nif __name__ == '__main__':\n    f(1)\n"
    assert mistakes(ast.parse(source)) == {}


@pytest.mark.parametrize("source", REFERENCES.values())
def test_operators_and_variations_leave_their_input_as_it_was(source: str) -> None:
    tree = ast.parse(source)
    for offered in mistakes(tree).values():
        for broken in offered:
            broken()
    for variation in VARIATIONS:
        variation(tree, "")
    assert ast.dump(tree) == ast.dump(ast.parse(source))


VARIATION_EXAMPLES = [
    ("renamed_locals", ["total = a", "return total"], ["running_total = a", "return running_total"]),
    ("renamed_locals", ["a = b", "return a"], ["a = b", "return a"]),
    ("renamed_locals", ["sum = a", "return sum"], ["sum = a", "return sum"]),
    ("renamed_locals", ["x = a", "return eval('x')"], ["x = a", "return eval('x')"]),
    ("added_docstring", ["return a"], ["'''Implement f as described.'''", "return a"]),
    ("added_docstring", ["'''Mine.'''", "return a"], ["'''Mine.'''", "return a"]),
    (
        "swapped_branches",
        ["if a:", "    b = 1", "else:", "    b = 2"],
        ["if not a:", "    b = 2", "else:", "    b = 1"],
    ),
    ("swapped_branches", ["if a:", "    b = 1"], ["if a:", "    b = 1"]),
    (
        "flattened_else",
        ["if a:", "    return 1", "elif b:", "    return 2", "else:", "    return 3"],
        ["if a:", "    return 1", "if b:", "    return 2", "return 3"],
    ),
    ("flattened_else", ["if a:", "    b = 1", "else:", "    b = 2"], ["if a:", "    b = 1", "else:", "    b = 2"]),
    ("temporary_return", ["return a + b"], ["to_return = a + b", "return to_return"]),
    ("temporary_return", ["return a"], ["return a"]),
]


def test_variation_rewrites_as_it_says() -> None:
    for variation, before, after in VARIATION_EXAMPLES:
        varied = getattr(paraphrase, variation)(ast.parse(in_function(*before)), "")
        assert program_text(varied) == program_text(ast.parse(in_function(*after))), (variation, before)


def test_renaming_keeps_away_from_the_names_of_the_preamble() -> None:
    tree = ast.parse(in_function("result = a", "return result"))
    renamed = paraphrase.renamed_locals
    assert program_text(renamed(tree, "")) == in_function("answer = a", "return answer")
    assert program_text(renamed(tree, "answer = 42")) == in_function("result = a", "return result")


def outcomes(code: str, name: str, inputs: Sequence[tuple[object, ...]]) -> str:
    """Run a program on inputs in a process of its own and return what it printed."""
    calls = f"\nfor arguments in {inputs!r}:\n    print(repr({name}(*arguments)))\n"
    command = [sys.executable, "-I", "-c", code + calls]
    return subprocess.run(command, capture_output=True, text=True, timeout=30, check=True).stdout


@pytest.mark.parametrize("name", REFERENCES)
def test_variations_together_change_the_text_but_not_the_behaviour(name: str) -> None:
    tree = ast.parse(REFERENCES[name])
    varied = tree
    for variation in VARIATIONS:
        varied = variation(varied, "")
    assert ast.dump(varied) != ast.dump(tree)
    assert outcomes(program_text(varied), name, INPUTS[name]) == outcomes(REFERENCES[name], name, INPUTS[name])


@pytest.mark.slow
def test_same_programs_in_every_process() -> None:
    script = (
        "import hashlib, tests.generation.test_coders as t\n"
        "drawn = [t.sample_simulated(x, m, temperature=1.0, m=8, seed=3) for x in t.TASKS for m in t.SIMULATED]\n"
        "print(hashlib.sha256(repr(drawn).encode()).hexdigest())\n"
    )
    prints = []
    for salt in ("0", "1", "4711"):
        environment = {**os.environ, "PYTHONHASHSEED": salt, "PYTHONPATH": str(Path(__file__).parents[2])}
        command = [sys.executable, "-c", script]
        run = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True, env=environment)
        prints.append(run.stdout)
    assert len(prints[0]) == 65
    assert prints == [prints[0]] * 3


@pytest.mark.parametrize(("model", "temperature"), [*zip(SIMULATED, (0, 0.6, 1.5), strict=True)])
def test_first_programs_do_not_depend_on_m(model: str, temperature: float) -> None:
    for task in TASKS:
        ten = sample_simulated(task, model, temperature=temperature, m=10, seed=1)
        assert ten[:5] == sample_simulated(task, model, temperature=temperature, m=5, seed=1)


def test_seed_task_id_and_model_each_change_what_is_drawn() -> None:
    def codes(task: Task, model: str, seed: int) -> list[str]:
        return [c.code for c in sample_simulated(task, model, temperature=1.0, m=20, seed=seed)]

    drawn = [codes(TASKS[0], WEAK, 0), codes(TASKS[0], WEAK, 1), codes(TASKS[0], MEDIUM, 0)]
    drawn.append(codes(task_of("count_even", task_id="other"), WEAK, 0))
    assert len({tuple(of_one) for of_one in drawn}) == 4


def parses(candidate: Candidate) -> bool:
    try:
        ast.parse(candidate.code)
    except SyntaxError:
        return False
    return True


@pytest.mark.slow
def test_mistakes_come_from_a_repertoire_of_at_most_four() -> None:
    held = [beliefs_once(task, model) for task in MANY_TASKS for model in SIMULATED]
    assert {len(of_one) for of_one in held} == {1, 2, 3, 4, 5}
    for of_one in held:
        assert sum(belief.weight for belief in of_one) == pytest.approx(1)
        assert len({ast.dump(ast.parse(program_text(belief.program))) for belief in of_one}) == len(of_one)


@pytest.mark.parametrize("model", SIMULATED)
def test_temperature_zero_gives_one_program_only_and_it_loads(model: str) -> None:
    for task in [*TASKS, *MANY_TASKS[:5]]:
        sampled = sample_simulated(task, model, temperature=0, m=12)
        assert len({c.code for c in sampled}) == 1
        assert parses(sampled[0])


def test_temperature_sharpens_and_flattens() -> None:
    assert tempered([0.8, 0.2], 1.0) == pytest.approx([0.8, 0.2])
    assert tempered([0.8, 0.2], 0.5) == pytest.approx([16 / 17, 1 / 17])
    assert tempered([0.8, 0.2], 2.0) == pytest.approx([2 / 3, 1 / 3])
    assert tempered([0.3, 0.7, 0.0], 0) == [0.0, 1.0, 0.0]
    assert tempered([0.3, 0.7, 0.0], 1e-300) == [0.0, 1.0, 0.0]
    assert tempered([0.5, 0.5, 0.0], 0.6) == [0.5, 0.5, 0.0]


@pytest.mark.slow
def test_stronger_coders_err_less_and_about_as_often_as_meant() -> None:
    """The share, over tasks, of samples at t = 0.6 that hold a mistake."""
    held = {
        model: [[belief.weight for belief in beliefs_once(task, model)] for task in MANY_TASKS] for model in SIMULATED
    }
    strong, medium, weak = (sum(sum(tempered(each, 0.6)[1:]) for each in of_one) / 150 for of_one in held.values())
    # 150 tasks with a standard deviation of at most 0.45 each: a standard error of at most 0.037.
    assert strong == pytest.approx(0.12, abs=0.08)
    assert medium == pytest.approx(0.30, abs=0.11)
    assert weak == pytest.approx(0.50, abs=0.11)
    assert strong < medium < weak


def test_some_tasks_are_always_wrong_and_some_always_right() -> None:
    held = [beliefs_once(task, WEAK) for task in MANY_TASKS]
    always_right = sum(len(of_one) == 1 for of_one in held)
    one_wrong_only = [of_one for of_one in held if of_one[0].weight == 0 and len(of_one) == 2]
    assert always_right >= 5
    assert len(one_wrong_only) >= 10


def test_weak_hot_coder_sometimes_stops_in_the_middle() -> None:
    sampled = [c for task in MANY_TASKS[:15] for c in sample_simulated(task, WEAK, temperature=1.0, m=20)]
    broken = [c for c in sampled if not parses(c)]
    # 300 replies, 1.5 % of them truncated: 4.5 expected, standard deviation 2.
    assert 1 <= len(broken) <= 12
    assert all(c.code.startswith("def count_even(") for c in broken)


def test_a_reference_without_anything_to_break_is_always_right() -> None:
    task = task_of("same", reference="def same(x):\n    return x\n")
    for model in SIMULATED:
        assert len(beliefs_once(task, model)) == 1
        (said,) = {c.code for c in sample_simulated(task, model, temperature=0, m=2)}
        assert outcomes(said, "same", [(5,)]) == "5\n"


@pytest.mark.parametrize(
    ("model", "temperature", "m", "message"),
    [
        ("gpt-4o", 0.6, 5, r"one of simulated/strong, .*, got 'gpt-4o'; name one"),
        (WEAK, -0.1, 5, r"finite number >= 0, got -0\.1; typical"),
        (WEAK, float("nan"), 5, r"finite number >= 0, got nan"),
        (WEAK, float("inf"), 5, r"finite number >= 0, got inf"),
        (WEAK, 0.6, 0, r"m >= 1 programs, got 0 for count_even; ask"),
    ],
)
def test_wrong_usage_is_refused(model: str, temperature: float, m: int, message: str) -> None:
    with pytest.raises(WrongUsage, match=message):
        sample_simulated(TASKS[0], model, temperature=temperature, m=m)
