"""An event loop in a thread of its own, which Ctrl-C ends in two steps; and nothing else."""

import asyncio
import contextlib
import threading
from collections.abc import Callable, Coroutine
from typing import Any

_GLANCE = 0.1
"""Seconds after which Ctrl-C is noticed."""


def run_apart(
    work: Callable[[], Coroutine[Any, Any, None]], *, stop: Callable[[], None], on_interrupt: Callable[[], None]
) -> None:
    """Run ``work`` to its end, also where an event loop is running already, as in a notebook.

    At the first Ctrl-C ``on_interrupt`` is called here and ``stop`` in the loop, and the work is awaited; the second
    leaves it. Either ends with KeyboardInterrupt. Of a group of errors the first is raised, without its context.
    """
    errors: list[BaseException] = []
    ended = threading.Event()  # Thread.join takes a thread for dead once Ctrl-C has interrupted it
    loop = asyncio.new_event_loop()
    loop.set_exception_handler(lambda *_: None)  # what libraries leave behind them may hold a request's headers

    def run() -> None:
        try:
            with asyncio.Runner(loop_factory=lambda: loop) as runner:
                runner.run(work())
        except BaseException as e:
            errors.append(e)
        finally:
            ended.set()

    threading.Thread(target=run, daemon=True).start()
    try:
        _wait(ended)
    except KeyboardInterrupt:
        if not ended.is_set():
            on_interrupt()
            with contextlib.suppress(RuntimeError):  # it has ended in this moment
                loop.call_soon_threadsafe(stop)
            _wait(ended)
        raise KeyboardInterrupt from None
    if errors:
        raise _first(errors[0]) from None


def _wait(ended: threading.Event) -> None:
    # With polars loaded, a wait without an end is not interrupted by a signal: its handler restarts system calls.
    while not ended.wait(_GLANCE):
        pass


def _first(error: BaseException) -> BaseException:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error
