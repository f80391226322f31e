"""How many requests go at once when a provider pushes back."""

import asyncio

import pytest

from difftrust_core.generation.sampling import Budget, Gate, Pace, Spent


@pytest.mark.parametrize(("most", "falls"), [(8, [4, 2, 1]), (3, [1])])
def test_concurrency_falls_by_halves_to_one_once_for_requests_of_one_round(most: int, falls: list[int]) -> None:
    said: list[str] = []

    async def work() -> tuple[list[int], int]:
        gate, limits = Gate(most, said.append), []
        async with gate.passing() as first, gate.passing() as second:
            gate.pushed_back(first, "429")
            gate.pushed_back(second, "429")
        for _ in range(3):
            limits.append(gate.limit)
            async with gate.passing() as began:
                gate.pushed_back(began, "429")
        return limits, gate.lowest

    assert asyncio.run(work()) == ([*falls, 1, 1][:3], 1)
    assert said == [f"the provider pushes back (429): now {n} requests at a time" for n in falls]


def test_at_one_request_at_a_time_the_next_waits_and_four_good_ones_raise_it() -> None:
    inside, most = 0, 0

    async def work() -> tuple[int, int]:
        nonlocal inside, most
        gate = Gate(2, lambda line: None)
        async with gate.passing() as began:
            gate.pushed_back(began, "429")

        async def one() -> None:
            nonlocal inside, most
            async with gate.passing():
                inside += 1
                most = max(most, inside)
                await asyncio.sleep(0.01)
                inside -= 1

        await asyncio.gather(*(one() for _ in range(4)))
        alone = most
        for _ in range(3):
            gate.went_well()
        assert gate.limit == 1
        gate.went_well()
        assert gate.limit == 2
        for _ in range(20):
            gate.went_well()
        await asyncio.gather(*(one() for _ in range(4)))
        return alone, gate.limit

    assert asyncio.run(work()) == (1, 2)
    assert most == 2


def test_each_step_up_takes_four_good_replies_for_each_request_and_a_known_step_down_is_not_said_again() -> None:
    said: list[str] = []

    async def work() -> list[int]:
        gate, limits = Gate(4, said.append), []

        async def push_back() -> None:
            async with gate.passing() as began:
                gate.pushed_back(began, "429")

        await push_back()
        await push_back()
        for _ in range(24):
            gate.went_well()
            limits.append(gate.limit)
        await push_back()
        await push_back()
        return [*limits, gate.limit]

    assert asyncio.run(work()) == [*[1] * 3, *[2] * 8, *[3] * 12, 4, 1]
    assert len(said) == 2


def test_units_are_spaced_and_what_is_given_back_lets_the_next_start_earlier() -> None:
    now = 100.0
    pace = Pace(30, lambda: now)  # two seconds each

    async def starts(units: float) -> bool:
        """Tell whether so many units may start at once."""
        try:
            await asyncio.wait_for(pace.turn(units), 0.001)
        except TimeoutError:
            return False
        return True

    async def work() -> list[bool]:
        nonlocal now
        seen = [await starts(10), await starts(1)]
        now = 119.9
        seen.append(await starts(1))
        now = 120.0
        seen.append(await starts(5))
        pace.give_back(4)
        now = 122.0
        return [*seen, await starts(1), await starts(1)]

    assert asyncio.run(work()) == [True, False, False, True, True, False]
    pace = Pace(None, lambda: 0.0)
    assert asyncio.run(starts(10**9))
    assert asyncio.run(starts(10**9))


def test_a_budget_is_spent_to_the_last_cent_and_no_further() -> None:
    async def work() -> tuple[float, float]:
        budget = Budget(1.0)
        await budget.set_aside(0.5)
        await budget.set_aside(0.5)  # exactly what is left
        waiting = asyncio.ensure_future(budget.set_aside(0.25))
        await asyncio.sleep(0.01)
        assert not waiting.done()
        await budget.settle(0.5, 0.25)
        await asyncio.wait_for(waiting, 1)
        await budget.settle(0.5, None)  # a reply without usage may have cost all of it
        await budget.settle(0.25, 0.0, is_doubtful=True)
        with pytest.raises(Spent):
            await budget.set_aside(0.01)
        return budget.spent, budget.doubtful

    assert asyncio.run(work()) == (0.25, 0.75)
