"""The domains that come with the project: every task has one, and it holds what it must."""

from dataclasses import replace
from pathlib import Path

import pytest

from difftrust_core.base.task import Domain, Task
from difftrust_core.datasets.benchmarks import load_benchmark
from difftrust_core.datasets.domains import load_domains, with_domains
from difftrust_core.exceptions import BadBenchmark, BadTask
from difftrust_core.languages.language import language_of

HALF = Task(
    benchmark="tiny", task_id="tiny/half", entry_point="half", signature="(n)", description="", seed_inputs=("(1,)",)
)


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
