"""Texts that are mutated: seeded, with true counts, in formats that were never seen; and simpler ones for shrinking."""

import statistics
from dataclasses import replace

import pytest

from difftrust.contests.mutate_texts import MAX_TEXT, draw_text, simpler_texts, structures_of
from difftrust.search.shrink import shrink
from difftrust_core.base.literals import read_literal, write_literal
from difftrust_core.base.task import Task
from difftrust_core.exceptions import BadTask
from difftrust_core.languages.language import MAX_ATTEMPTS
from difftrust_core.languages.registry import load_language
from tests.bench.stdin_formats import Measured, measure
from tests.contests.formats import FORMATS
from tests.support.tasks import small_task

STDIN = load_language("stdin")


@pytest.fixture(scope="module")
def measured() -> dict[str, Measured]:
    return {one.name: measure(one, n=80, sets=1) for one in FORMATS}


def test_drawn_texts_fit_their_formats(measured: dict[str, Measured]) -> None:
    accepted = {name: m.accepted for name, m in measured.items()}
    assert statistics.median(accepted.values()) >= 0.98
    assert min(accepted.values()) >= 0.85, accepted


def test_drawn_texts_differ_and_find_planted_faults(measured: dict[str, Measured]) -> None:
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
    around = simpler_texts(["3\n5 2 9\n"])
    assert {("x\n",), ("y z",)} <= {*around(("x\ny z",))} | {("x\n",)}
    assert all(len(text) < len("x\ny z") for (text,) in around(("x\ny z",)))


def test_tasks_that_are_none_are_refused_by_name() -> None:
    with pytest.raises(BadTask, match=r"own/x of own: an input of a program that reads stdin is one text, got \(3,\)"):
        STDIN.check(replace(task(), seed_inputs=("(3,)",)))
    with pytest.raises(BadTask, match="the reference must be a Python program"):
        STDIN.check(replace(task("1\n"), reference="print("))
    with pytest.raises(BadTask, match="it has none"):
        STDIN.fuzz(task(), 0)
    STDIN.check(replace(task("1\n"), reference="print(2 * int(input()))"))
