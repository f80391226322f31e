"""Inputs that repeat an earlier one are drawn again, as a slow version does it that looks at one draw after another."""

import random
from collections.abc import Callable, Sequence

import pytest

from difftrust_core.execution.validity import PATIENCE, Drawn, Redraws
from difftrust_core.languages.language import MAX_ATTEMPTS

Draw = Callable[[int, int], str]


def drawing(spread: float, seed: int = 0) -> Draw:
    """Return draws of small numbers more often than of large ones; "-" stands for what no domain holds."""

    def draw(position: int, attempt: int) -> str:
        own = random.Random(f"{seed}/{position}/{attempt}")
        return "-" if own.random() < 0.2 else str(int(own.expovariate(1 / spread)))

    return draw


def is_valid(text: str) -> bool:
    return text != "-" and int(text) % 7 != 3


def first_valid(draw: Draw, n: int) -> Drawn:
    first = Drawn(texts=[], attempts=[], repeats=[0] * n)
    for position in range(n):
        attempt = next((a for a in range(MAX_ATTEMPTS) if is_valid(draw(position, a))), MAX_ATTEMPTS)
        first.texts.append(draw(position, attempt) if attempt < MAX_ATTEMPTS else "unchanged")
        first.attempts.append(attempt + 1)
    return first


def slowly(draw: Draw, n: int) -> Drawn:
    """Draw position after position, attempt after attempt."""
    drawn, seen, idle = first_valid(draw, n), set[str](), 0
    for position in range(n):
        used = drawn.attempts[position]
        while drawn.texts[position] in seen and idle < PATIENCE and used < MAX_ATTEMPTS:
            text = draw(position, MAX_ATTEMPTS + used)
            used += 1
            drawn.repeats[position] += is_valid(text)
            if is_valid(text) and text not in seen:
                drawn.texts[position] = text
        drawn.attempts[position] = used
        idle = idle + 1 if drawn.texts[position] in seen else 0
        seen.add(drawn.texts[position])
    return drawn


def quickly(draw: Draw, n: int) -> Drawn:
    def judge(texts: Sequence[str]) -> list[bool]:
        return [is_valid(text) for text in texts]

    return Redraws(first_valid(draw, n), lambda places: [draw(*place) for place in places], judge).distinct()


@pytest.mark.parametrize("spread", [0.5, 3, 20, 100, 1e4])
@pytest.mark.parametrize("seed", range(3))
def test_it_is_what_one_draw_after_another_gives(spread: float, seed: int) -> None:
    draw = drawing(spread, seed)
    assert quickly(draw, 400) == slowly(draw, 400)


@pytest.mark.parametrize("spread", [3, 100])
def test_the_first_are_the_same_however_many_follow(spread: float) -> None:
    draw = drawing(spread)
    many, few = quickly(draw, 500), quickly(draw, 120)
    assert few == Drawn(**{name: values[:120] for name, values in vars(many).items()})


def test_all_are_distinct_where_the_domain_has_enough() -> None:
    draw = drawing(1e4)
    assert len(set(first_valid(draw, 1000).texts)) < 1000
    assert len(set(quickly(draw, 1000).texts)) == 1000


def test_where_the_domain_is_exhausted_all_of_it_is_there_and_drawing_ends() -> None:
    drawn = quickly(lambda position, attempt: str(random.Random(f"{position}/{attempt}").randrange(3)), 500)
    assert set(drawn.texts) == {"0", "1", "2"}
    assert sum(a == MAX_ATTEMPTS for a in drawn.attempts) == PATIENCE
    assert sum(drawn.attempts[-400:]) == 400


def test_what_repeats_without_end_stays_as_it_was_drawn_first() -> None:
    drawn = quickly(lambda position, attempt: str(position % 2), 5)
    assert drawn.texts == ["0", "1", "0", "1", "0"]
    assert drawn.attempts == [1, 1, *[MAX_ATTEMPTS] * 3]
    assert drawn.repeats == [0, 0, *[MAX_ATTEMPTS - 1] * 3]


def test_each_input_is_judged_once() -> None:
    judged: list[str] = []

    def judge(texts: Sequence[str]) -> list[bool]:
        judged.extend(texts)
        return [is_valid(text) for text in texts]

    draw = drawing(20)
    first = first_valid(draw, 300)
    _ = Redraws(first, lambda places: [draw(*place) for place in places], judge).distinct()
    assert len(judged) == len(set(judged))
    assert not set(judged) & set(first.texts)
