"""The domains that come with the project: they are there, and hold what they must."""

from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from difftrust_core.base.task import Domain
from difftrust_core.datasets.benchmarks import load_benchmark
from difftrust_core.datasets.entries import load_domains, with_domains
from difftrust_core.exceptions import BadBenchmark, BadTask
from difftrust_core.execution.validity import DomainDraws
from difftrust_core.languages.registry import language_of
from difftrust_core.sandbox.host import Limits, Sandbox
from tests.domains import check_one, say_check, spread
from tests.support.tasks import small_task

HALF = small_task("half", "(n)")


def test_the_starter_tasks_have_domains_that_can_be_read() -> None:
    """Every starter task has a domain whose types and predicate can be read."""
    tasks = load_benchmark("starter")
    assert [task.task_id for task in tasks if task.domain is None] == []
    for task in tasks:
        assert language_of(task).domain(task) is not None


@pytest.mark.parametrize("text", ["[[x]", '["A/1"]\nrequired = "n > 0"', '"A/1" = 3'])
def test_a_damaged_file_is_refused_by_name(tmp_path: Path, text: str) -> None:
    """The error names the file."""
    path = tmp_path / "domains.toml"
    path.write_text(text)
    with pytest.raises(BadBenchmark, match=r"domains\.toml"):
        load_domains(path)


def test_tasks_of_other_benchmarks_are_left_alone() -> None:
    """A benchmark without a file of domains has none."""
    task = replace(HALF, benchmark="nobody's")
    assert with_domains("nobody's", [task]) == [task]


@pytest.mark.parametrize(
    ("field", "text", "said"),
    [
        ("requires", "n >", "not Python"),
        ("requires", "import math", "must define requires"),
        ("types", "m: int", "name m, its signature"),
        ("types", "n: Foo", "not understood"),
        ("types", "n: int) or (", "expected parameters"),
        ("generate", "x = 1", "must define generate"),
    ],
)
def test_a_domain_that_cannot_be_read_is_refused_with_its_task(field: str, text: str, said: str) -> None:
    """The error names the task and what was found."""
    with pytest.raises(BadTask, match=f"tiny/half.*{said}"):
        language_of(HALF).check(replace(HALF, domain=Domain(**{field: text})))


@pytest.mark.slow
def test_the_starter_references_return_inside_their_domains() -> None:
    """A few tasks: no seed input lies outside, and the reference returns on what is drawn."""
    tasks = load_benchmark("starter")[::7]
    assert say_check(spread(partial(check_one, n=200), tasks, n_jobs=1))


@pytest.mark.slow
@pytest.mark.parametrize("benchmark", ["HumanEval", "MBPP"])
def test_every_benchmark_input_lies_inside(benchmark: str, shared_data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every task with a seed input has a domain, which holds all of them."""
    monkeypatch.setenv("DIFFTRUST_DATA", str(shared_data))
    tasks = [task for task in load_benchmark(benchmark) if task.seed_inputs]
    assert [task.task_id for task in tasks if task.domain is None] == []
    with Sandbox(Limits()) as sandbox:
        for task in tasks:
            assert DomainDraws(task, sandbox, seed=0).seeds == list(task.seed_inputs), task.task_id


@pytest.mark.slow
def test_the_references_return_inside_the_domains(shared_data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On every tenth task; the reference of HumanEval/75 takes a third of a second on any input."""
    monkeypatch.setenv("DIFFTRUST_DATA", str(shared_data))
    tasks = [task for name in ("HumanEval", "MBPP") for task in load_benchmark(name) if task.seed_inputs][::10]
    tasks = [task for task in tasks if task.task_id != "HumanEval/75"]
    assert say_check(spread(partial(check_one, n=300), tasks, n_jobs=1))
