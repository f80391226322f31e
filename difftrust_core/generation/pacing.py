"""Limits of a run: requests at once, requests and tokens a minute, dollars."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable

_GROW_AFTER = 4
"""Good replies for each request at once before one more is tried again."""
_LOOK_AGAIN = 0.2
"""Seconds after which a wait is looked at again, for tokens that were set aside may have come back."""


class Gate:
    """Lets at most ``limit`` requests through at once; the limit halves when the provider pushes back, and recovers."""

    def __init__(self, limit: int, say: Callable[[str], None]):
        self.limit = self._most = limit
        self.lowest = limit
        self._say = say
        self._inside = 0
        self._good = 0
        self._round = 0
        self._changed = asyncio.Condition()

    @contextlib.asynccontextmanager
    async def passing(self) -> AsyncIterator[int]:
        """Wait for room, and hold it. Yields the round of the request, to be handed to ``pushed_back``."""
        async with self._changed:
            await self._changed.wait_for(lambda: self._inside < self.limit)
            self._inside += 1
        try:
            yield self._round
        finally:
            self._inside -= 1  # at once, whatever was cancelled; who waits is told as soon as possible
            async with self._changed:
                self._changed.notify_all()

    def pushed_back(self, began: int, why: str) -> None:
        """Halve the limit, once for all the requests that were under way together."""
        self._good = 0
        if began != self._round or self.limit == 1:
            return
        self._round += 1
        self.limit = max(1, self.limit // 2)
        if self.limit < self.lowest:  # said once for each step down: it goes up and down from there
            self.lowest = self.limit
            self._say(f"the provider pushes back ({why}): now {self.limit} requests at a time")

    def went_well(self) -> None:
        """Count a good reply; enough of them raise the limit by one."""
        self._good += 1
        if self.limit < self._most and self._good >= _GROW_AFTER * self.limit:
            self.limit, self._good = self.limit + 1, 0


class Pace:
    """Spaces starts evenly so that no minute holds more than ``per_minute`` units (and one start); None is no limit."""

    def __init__(self, per_minute: float | None, clock: Callable[[], float]):
        self._seconds_each = 60 / per_minute if per_minute else 0.0
        self._clock = clock
        self._free_at = 0.0
        self._turn = asyncio.Lock()

    async def turn(self, units: float = 1) -> None:
        """Wait until ``units`` may start."""
        async with self._turn:  # first come, first served
            while (wait := self._free_at - self._clock()) > 0:
                await asyncio.sleep(min(wait, _LOOK_AGAIN))
            self._free_at = max(self._free_at, self._clock()) + units * self._seconds_each

    def give_back(self, units: float) -> None:
        """Return units that were set aside and not used."""
        self._free_at -= units * self._seconds_each


class Spent(Exception):
    """The next request might pass the budget."""


class Budget:
    """Dollars: spent, perhaps spent on what was never read, and set aside for what is under way."""

    def __init__(self, most: float | None):
        self._most = most
        self.spent = 0.0
        self.doubtful = 0.0
        """Upper bound of what requests without a readable reply, or without usage, may have cost."""
        self._aside = 0.0
        self._changed = asyncio.Condition()

    async def set_aside(self, bound: float | None) -> None:
        """Wait until ``bound`` dollars fit in, and set them aside. Raises Spent if they never will."""
        if self._most is None:
            return
        if bound is None:
            raise ValueError("a budget needs a price")
        async with self._changed:
            while self.spent + self.doubtful + self._aside + bound > self._most:
                if not self._aside:
                    raise Spent
                await self._changed.wait()  # what is under way mostly costs less than was set aside
            self._aside += bound

    async def settle(self, bound: float | None, cost: float | None, *, is_doubtful: bool = False) -> None:
        """Book the cost of a request for which ``bound`` was set aside."""
        self.spent += cost or 0.0
        if is_doubtful or cost is None:
            self.doubtful += bound or 0.0
        if self._most is None:
            return
        async with self._changed:
            self._aside -= bound or 0.0
            if self._aside < 1e-12:  # sums of fractions of a cent
                self._aside = 0.0
            self._changed.notify_all()
