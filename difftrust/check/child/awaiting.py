"""Coroutines brought to their end in a confined child: an event loop whose clock is its own; standard library only.

It asks the kernel for nothing: where nothing but time is waited for, the clock is put forward. ``asyncio`` is
imported when a program first needs it.
"""

import sys
from typing import Any, Never


def run(awaitable: Any, until: int = 0) -> Any:
    """Return the result of an awaitable; of an asynchronous iterator a list of its first ``until`` items."""
    asyncio: Any = __import__("asyncio")
    _set_up(asyncio)

    async def result() -> Any:
        return await awaitable

    async def items() -> list[Any]:
        taken: list[Any] = []
        async for item in awaitable:
            taken.append(item)
            if len(taken) == until:
                break
        return taken

    with asyncio.Runner(loop_factory=_loops[0]) as runner:
        return runner.run(items() if until else result())


_loops: list[Any] = []


def _set_up(asyncio: Any) -> None:
    """Let every new event loop be one of ours."""
    if _loops:
        return

    class Loop(asyncio.BaseEventLoop):  # type: ignore[misc]
        """An event loop with a clock of its own and no file to watch."""

        def __init__(self) -> None:
            super().__init__()
            self._selector = self
            self._now = 0.0

        def time(self) -> float:
            return self._now

        def select(self, timeout: float | None) -> tuple[()]:
            if timeout is None:
                _wait_for_ever()
            self._now += max(timeout or 0.0, 0.0)
            return ()

        def _process_events(self, events: object) -> None:
            pass

        def _write_to_self(self) -> None:
            pass

        def run_in_executor(self, executor: object, function: Any, *args: Any) -> Any:
            done = self.create_future()
            try:
                done.set_result(function(*args))
            except Exception as e:
                done.set_exception(e)
            return done

        async def shutdown_default_executor(self, timeout: float | None = None) -> None:
            pass

    class Policy(asyncio.DefaultEventLoopPolicy):  # type: ignore[misc]
        _loop_factory = Loop

    _loops.append(Loop)
    asyncio.set_event_loop_policy(Policy())


def prepare() -> None:
    """Make ready for a program that may call ``asyncio.run`` for itself."""
    _set_up(sys.modules.get("asyncio") or __import__("asyncio"))


def _wait_for_ever() -> Never:
    while True:  # the watchdog ends it, as it would outside
        pass
