"""Requests to models, many at once: tried again where that helps, paced, paid for, and each reply kept."""

import asyncio
import contextlib
import threading
import time
from collections.abc import AsyncIterator, Callable, Coroutine
from dataclasses import replace
from typing import Any, TypeVar

import tenacity

from difftrust_core.generation.missing import Failure, Generation, GenerationOptions, ModelQueue, PlanRequest, Wanted
from difftrust_core.generation.prompt import prompt_hash
from difftrust_core.generation.providers import Ask, NoReply, Reply, close_connections, most_completion, sample_reply
from difftrust_core.store.replies import Record

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


T = TypeVar("T")
_IN_A_ROW = 10
"""Samples given up one after the other, after which a model's others are not asked for."""
_MORE_ROOM = 4
"""Times as many tokens for a reply that is asked for once more."""
_GLANCE = 0.1
"""Seconds after which Ctrl-C is noticed."""


class _Stopped(Exception):
    """The user asked to stop."""


class Sampling:
    """One run over all models. ``changed`` is called after every event that changes ``done``."""

    def __init__(
        self,
        request: PlanRequest,
        options: GenerationOptions,
        *,
        budget: Budget,
        done: Generation,
        say: Callable[[str], None],
        changed: Callable[[], None],
    ):
        self.request, self.options, self.budget = request, options, budget
        self.done, self.say, self.changed = done, say, changed
        self._stop = asyncio.Event()

    def stop(self) -> None:
        """Ask for nothing more; what is under way is awaited."""
        self._stop.set()

    async def run(self, queues: list[ModelQueue]) -> None:
        """Ask for everything in the queues. Raises BadStore if a reply cannot be kept."""
        try:
            async with asyncio.TaskGroup() as group:
                for queue in queues:
                    group.create_task(_ModelRun(self, queue).run())
        finally:
            await close_connections()

    async def unless_stopped(self, waiting: Coroutine[Any, Any, T]) -> T:
        """Return what ``waiting`` gives. Raises _Stopped as soon as the user asks to stop."""
        task, stopped = asyncio.ensure_future(waiting), asyncio.ensure_future(self._stop.wait())
        try:
            await asyncio.wait((task, stopped), return_when=asyncio.FIRST_COMPLETED)
            if self.is_stopping:  # also if both came at once
                raise _Stopped
            return task.result()
        finally:
            for future in (task, stopped):
                future.cancel()

    @property
    def is_stopping(self) -> bool:
        """Nothing more is to be asked for."""
        return self._stop.is_set()


class _ModelRun:
    """The part of a run that is about one model."""

    def __init__(self, run: Sampling, queue: ModelQueue):
        self.whole, self.queue, self.options = run, queue, run.options
        self.gate = Gate(self.options.concurrency, lambda line: run.say(f"{queue.model}: {line}"))
        self.requests = Pace(self.options.requests_per_minute, time.monotonic)
        self.tokens = Pace(self.options.tokens_per_minute, time.monotonic)
        self.failed_in_a_row = 0
        self.given_up = ""
        self.has_answered = False
        """The server was there in this run, so that it may come back."""

    async def run(self) -> None:
        async with asyncio.TaskGroup() as group:
            for _ in range(min(self.options.concurrency, len(self.queue.wanted))):
                group.create_task(self._work())
        while self.given_up and self.queue.wanted and not self.whole.is_stopping:
            self._failed(self.queue.wanted.popleft(), self.given_up, attempts=0)

    async def _work(self) -> None:
        while self.queue.wanted and not self.given_up and not self.whole.is_stopping:
            wanted = self.queue.wanted.popleft()
            try:
                await self._sample(wanted)
            except _Stopped:
                self.queue.wanted.appendleft(wanted)
            except Spent:
                self.queue.wanted.appendleft(wanted)
                self.whole.done.is_spent = True
                self.whole.stop()

    async def _sample(self, wanted: Wanted) -> None:
        retrying = tenacity.AsyncRetrying(
            stop=tenacity.stop_after_attempt(self.options.attempts),
            wait=self._wait,
            retry=tenacity.retry_if_exception(self._can_be_retried),
            sleep=self._sleep,
            reraise=True,
        )
        try:
            await retrying(self._attempt, wanted, retrying)
            self.failed_in_a_row = 0
        except NoReply as e:
            self._gave_up(wanted, e, retrying.statistics["attempt_number"])

    async def _attempt(self, wanted: Wanted, retrying: tenacity.AsyncRetrying) -> None:
        bound = self._bound(wanted)
        async with self.gate.passing() as began:
            await self.whole.unless_stopped(self._admission(wanted, bound))
            is_first = retrying.statistics["attempt_number"] == 1
            self.whole.done.n_requests += 1
            self.whole.done.n_asked_again += wanted.number == 2 and is_first
            try:
                reply = await sample_reply(self._ask(wanted))
            except NoReply as e:
                self.has_answered |= e.answered and not e.is_unreachable
                if e.is_pushback:
                    self._pushed_back(began, e)
                await self.whole.budget.settle(bound, 0.0, is_doubtful=not e.answered)
                self.tokens.give_back(self._most_tokens(wanted) if e.answered else 0)
                raise
            # Nothing is awaited between the reply and its line on disk.
            cost = self._keep(wanted, reply, retrying.statistics["attempt_number"])
            self.gate.went_well()
            await self.whole.budget.settle(bound, cost)

    async def _admission(self, wanted: Wanted, bound: float | None) -> None:
        await self.requests.turn()
        await self.tokens.turn(self._most_tokens(wanted))
        await self.whole.budget.set_aside(bound)

    def _ask(self, wanted: Wanted) -> Ask:
        return Ask(
            model=self.queue.model,
            prompt=wanted.prompt,
            temperature=self.whole.request.temperature,
            max_tokens=self._room(wanted),
            timeout=self.options.timeout,
            api_base=self.options.api_base,
            task=wanted.task,
            sample_index=wanted.sample_index,
            m=self.whole.request.m,
            seed=self.options.seed,
        )

    def _keep(self, wanted: Wanted, reply: Reply, attempts: int) -> float | None:
        price = self.queue.price
        cost = price.of(reply.prompt_tokens, reply.completion_tokens) if price else None
        self.queue.files[wanted.task.benchmark].append(
            Record(
                task_id=wanted.task.task_id,
                sample_index=wanted.sample_index,
                **vars(reply),
                cost_usd=cost,
                price_usd_per_million=[price.prompt, price.completion] if price else None,
                price_date=price.date or None if price else None,
                prompt_hash=prompt_hash(wanted.task),
                request_hash=wanted.request_hash,
                max_tokens=self._room(wanted),
                attempts=attempts,
                number=wanted.number,
            )
        )
        self.has_answered = True
        self._count(wanted, reply, cost)
        return cost

    def _count(self, wanted: Wanted, reply: Reply, cost: float | None) -> None:
        done = self.whole.done
        record = self.queue.files[wanted.task.benchmark].records[wanted.task.task_id, wanted.sample_index]
        if self.queue.is_pending(record, wanted.task):
            self.queue.wanted.appendleft(replace(wanted, number=2))
        else:
            done.n_replies += 1
        done.usd += cost or 0.0
        done.n_unpriced += cost is None
        if reply.prompt_tokens is not None and reply.completion_tokens is not None:
            self.tokens.give_back(self._most_tokens(wanted) - reply.prompt_tokens - reply.completion_tokens)
        self.whole.changed()

    def _room(self, wanted: Wanted) -> int:
        """Return the most tokens of a completion: more where the first reply was cut off, as far as the model goes."""
        given = self.options.max_tokens
        if wanted.number == 1:
            return given
        return max(given, min(_MORE_ROOM * given, most_completion(self.queue.model) or _MORE_ROOM * given))

    def _most_tokens(self, wanted: Wanted) -> int:
        return wanted.prompt_bound + self._room(wanted)

    def _bound(self, wanted: Wanted) -> float | None:
        return self.queue.price.of(wanted.prompt_bound, self._room(wanted)) if self.queue.price else None

    def _pushed_back(self, began: int, why: NoReply) -> None:
        self.gate.pushed_back(began, str(why.status))
        known = self.whole.done.lowest_concurrency
        self.whole.done.lowest_concurrency = min(self.gate.lowest, known or self.gate.lowest)

    def _can_be_retried(self, error: BaseException) -> bool:
        return (
            isinstance(error, NoReply)
            and error.can_be_retried
            and (self.has_answered or not error.is_unreachable)
            and (error.retry_after or 0) <= self.options.longest_wait
        )

    def _wait(self, state: tenacity.RetryCallState) -> float:
        """Return the seconds to the next attempt: doubled each time, with jitter, and never less than was asked for."""
        first, longest = self.options.first_wait, self.options.longest_wait
        doubled = tenacity.wait_exponential(multiplier=first, max=longest) + tenacity.wait_random(0, first)
        error = state.outcome.exception() if state.outcome else None
        return max(min(doubled(state), longest), (error.retry_after or 0.0) if isinstance(error, NoReply) else 0.0)

    async def _sleep(self, seconds: float) -> None:
        self.whole.done.n_retries += 1
        self.whole.changed()
        await self.whole.unless_stopped(asyncio.sleep(seconds))

    def _gave_up(self, wanted: Wanted, error: NoReply, attempts: int) -> None:
        if wanted.number == 2 and error.answered and not (error.can_be_retried or error.is_lasting):
            self._settle(wanted)  # more room than the model has, most often
            return
        reason = error.reason if wanted.number == 1 else f"cut off, and asked for once more: {error.reason}"
        if (error.retry_after or 0) > self.options.longest_wait:
            reason = f"{reason} (asks to wait {error.retry_after:.0f} s, longer than {self.options.longest_wait:.0f} s)"
        self.failed_in_a_row += 1
        if error.is_lasting or (error.is_unreachable and not self.has_answered):
            self.given_up = self.whole.done.refusal = reason = error.reason
        elif self.failed_in_a_row >= _IN_A_ROW:
            self.given_up = f"not asked: {_IN_A_ROW} samples in a row failed, the last: {error.reason}"
        self._failed(wanted, reason, attempts=attempts)

    def _settle(self, wanted: Wanted) -> None:
        """Let the first reply count, which holds no whole program."""
        self.queue.settled.add((wanted.task.benchmark, wanted.task.task_id, wanted.sample_index))
        self.whole.done.n_replies += 1
        self.whole.changed()

    def _failed(self, wanted: Wanted, reason: str, *, attempts: int) -> None:
        self.whole.done.failures.append(
            Failure(
                benchmark=wanted.task.benchmark,
                model=self.queue.model,
                task_id=wanted.task.task_id,
                sample_index=wanted.sample_index,
                reason=reason,
                attempts=attempts,
            )
        )
        self.whole.changed()


def run_in_thread(
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
