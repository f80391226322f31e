"""How many requests go at once when a provider pushes back."""

import asyncio

from difftrust_core.generation.pacing import Gate


def test_concurrency_falls_by_halves_to_one_and_not_below() -> None:
    said: list[str] = []

    async def work() -> tuple[list[int], int]:
        gate, limits = Gate(8, said.append), []
        for _ in range(5):
            async with gate.passing() as began:
                gate.pushed_back(began, "429")
            limits.append(gate.limit)
        return limits, gate.lowest

    assert asyncio.run(work()) == ([4, 2, 1, 1, 1], 1)
    assert said == [f"the provider pushes back (429): now {n} requests at a time" for n in (4, 2, 1)]


def test_an_odd_limit_of_three_falls_to_one() -> None:
    async def work() -> int:
        gate = Gate(3, lambda line: None)
        async with gate.passing() as began:
            gate.pushed_back(began, "503")
        return gate.limit

    assert asyncio.run(work()) == 1


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
        for _ in range(20):
            gate.went_well()
        await asyncio.gather(*(one() for _ in range(4)))
        return alone, gate.limit

    assert asyncio.run(work()) == (1, 2)
    assert most == 2


def test_a_push_back_of_an_earlier_round_changes_nothing() -> None:
    async def work() -> int:
        gate = Gate(8, lambda line: None)
        async with gate.passing() as first, gate.passing() as second:
            gate.pushed_back(first, "429")
            gate.pushed_back(second, "429")
        return gate.limit

    assert asyncio.run(work()) == 4
