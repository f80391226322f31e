"""What a task's page says in words, by hand: few programs, few inputs."""

import numpy as np
import pytest

from difftrust.tasks.clusters import Cluster, Clustering
from difftrust.tasks.task_sentences import domain_in_words, headline, percent, statements_of
from difftrust.text import count_of
from difftrust_core.base.task import Domain

A = ("a", 0.6)


def clustering(
    *groups: tuple[int, list[int]], truth: list[int] | None = None, loads: tuple[bool, ...] = ()
) -> Clustering:
    """Return clusters: how many programs, and which class on each of the inputs."""
    labels = np.array([own for _, own in groups], dtype=np.uint16)
    right = None if truth is None else np.array(truth, dtype=np.uint16)
    starts = np.cumsum([0, *(size for size, _ in groups)]).tolist()
    wrong = [None if right is None else int((own != right).sum()) for own in labels]
    return Clustering(
        task_id="t",
        n=labels.shape[1],
        clusters=tuple(
            Cluster(
                number=i + 1,
                members={A: tuple(range(starts[i], starts[i + 1]))},
                n_wrong=wrong[i],
                loads=loads[i] if loads else True,
            )
            for i in range(len(groups))
        ),
        labels=labels,
        reference_labels=right,
        pattern_of_input=np.arange(labels.shape[1], dtype=np.uint16),
    )


ALIKE = clustering((10, [0, 0, 0, 0]), truth=[0, 0, 1, 1])
TWO = clustering((3, [0, 0, 0, 0]), (1, [0, 0, 0, 1]), truth=[0, 0, 0, 0])


@pytest.mark.parametrize(
    ("found", "said"),
    [
        (ALIKE, "10 programs behave alike, and differ from the reference on 50 % of inputs"),
        (clustering((9, [0, 0]), truth=[0, 0]), "9 programs behave alike, and agree with the reference on every input"),
        (clustering((10, [0, 0])), "10 programs behave alike"),
        (clustering((1, [0, 0]), truth=[0, 1]), "1 program differs from the reference on 50 % of inputs"),
        (clustering((1, [0, 0]), truth=[0, 0]), "1 program agrees with the reference on every input"),
        (TWO, "4 programs show 2 behaviours and disagree on 25 % of inputs; 3 of them are right on every input"),
        (
            clustering((2, [0, 0]), (1, [1, 1]), truth=[0, 0], loads=(True, False)),
            "2 programs behave alike, and agree with the reference on every input; 1 more does not load",
        ),
        (clustering((2, [1, 1]), loads=(False,)), "2 programs do not load"),
        (clustering((1, [1, 1]), loads=(False,)), "1 program does not load"),
    ],
)
def test_the_headline_says_how_programs_behave(found: Clustering, said: str) -> None:
    assert headline(found) == said


def test_a_checker_refuses() -> None:
    assert headline(ALIKE, has_checker=True).endswith("and are refused by the checker on 50 % of inputs")


def test_one_is_not_spelled_as_many_and_no_share_rounded_to_nothing_or_all() -> None:
    counts = [count_of(number) for number in (0, 1, 2, 1000)]
    assert counts == ["0 programs", "1 program", "2 programs", "1,000 programs"]
    one = clustering((1, [0, 0]), (2, [1, 0]), (1, [3, 3]), truth=[0, 0], loads=(True, True, False))
    said = " ".join((headline(one), *statements_of(one)))
    assert "1 programs" not in said
    assert "1 of these 4 programs does not load" in said
    assert [percent(share) for share in (0.0, 0.0001, 0.003, 0.51, 0.999, 1.0)] == [
        "0 %", "less than 0.1 %", "0.3 %", "51 %", "more than 99 %", "100 %",
    ]  # fmt: skip


def test_a_disagreement_proves_an_error_inside_the_domain_only() -> None:
    inside, elsewhere = (" ".join(statements_of(TWO, is_inside=is_inside)) for is_inside in (True, False))
    assert "on each of these that has one answer, a program is wrong" in inside
    assert "a program is wrong" not in elsewhere
    assert "The programs differ on 1 of 4 inputs. At least " in elsewhere
    assert "wrong (95% confidence, over the choice of inputs, given these programs; E >= I/2), if the task" in elsewhere


def test_a_domain_is_said_as_it_was_written() -> None:
    assert domain_in_words(Domain(types="x: int", requires="x > 0")) == "x: int\nx > 0"
    assert domain_in_words(None) == domain_in_words(Domain()) == ""
