"""One question to a model beside the sampling: asked again where that helps, within the budget."""

import asyncio
import os
from collections.abc import Callable
from dataclasses import dataclass

from difftrust_core.base.task import Task
from difftrust_core.exceptions import WrongUsage
from difftrust_core.generation.prices import Price, price_of
from difftrust_core.generation.providers import Ask, NoReply, Reply, check_model, close_connections, sample_reply
from difftrust_core.generation.sampling import run_in_thread

MAX_TOKENS = 2048
_MORE_ROOM = 4
"""Times as many tokens where the reply was cut off."""
_ATTEMPTS = 3
_TIMEOUT = 120.0
_LONGEST_WAIT = 30.0
_OVERHEAD = 64
"""Tokens that a provider may put around a prompt."""


@dataclass(frozen=True, kw_only=True)
class Question:
    """What to ask whom, and for how much at most."""

    prompt: str
    task: Task
    """What it is about."""
    model: str
    temperature: float
    api_base: str | None
    max_usd: float | None


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What came back. None is unknown."""

    text: str
    is_cut: bool
    usd: float | None
    """Of both replies, where the first was cut off."""


class NotAnswered(Exception):
    """The question brought no reply; the message says why, in one line without keys."""


def ask_question(question: Question, *, say: Callable[[str], None]) -> Answer:
    """Ask once, and once more with more room if the reply was cut off.

    Raises NotAnswered if no reply came or it might cost too much, WrongUsage for what has to be mended first: the key,
    the name, the address.
    """
    check_model(question.model, api_base=question.api_base, tasks=[question.task])
    price = price_of(question.model, api_base=question.api_base, environment=os.environ)
    if question.max_usd is not None and price is None:
        raise WrongUsage(f"--max-usd needs a price, and that of {question.model} is not known; leave --max-usd out")
    asking = _Asking(question, price)
    run_in_thread(asking.run, stop=lambda: None, on_interrupt=lambda: say("stopping: waiting for the reply under way"))
    failure = asking.failure
    if asking.answer is not None:
        return asking.answer
    if failure is not None and (failure.is_lasting or failure.is_unreachable):
        raise WrongUsage(failure.reason)
    raise NotAnswered(failure.reason if failure else f"it might cost more than --max-usd {question.max_usd:g}")


class _Asking:
    """One question on its way."""

    def __init__(self, question: Question, price: Price | None):
        self._question, self._price = question, price
        self._n_bytes = len(question.prompt.encode("utf-8", "replace")) + _OVERHEAD
        self._most_paid = 0.0
        self.answer: Answer | None = None
        self.failure: NoReply | None = None

    async def run(self) -> None:
        try:
            for room in (MAX_TOKENS, _MORE_ROOM * MAX_TOKENS):
                if self._is_affordable(room) and (self.answer is None or self.answer.is_cut):
                    self._take(await _with_patience(_ask(self._question, room)), room)
        except NoReply as e:
            self.failure = e
        finally:
            await close_connections()

    def _is_affordable(self, room: int) -> bool:
        most = self._question.max_usd
        return most is None or self._most_paid + self._bound(room) <= most

    def _bound(self, room: int) -> float:
        return (self._price.of(self._n_bytes, room) if self._price else None) or 0.0

    def _take(self, reply: Reply, room: int) -> None:
        cost = self._price.of(reply.prompt_tokens, reply.completion_tokens) if self._price else None
        self._most_paid += self._bound(room) if cost is None else cost
        before = self.answer.usd if self.answer else 0.0
        usd = None if cost is None or before is None else before + cost
        self.answer = Answer(text=reply.text, is_cut=reply.finish_reason == "length", usd=usd)


def _ask(question: Question, room: int) -> Ask:
    return Ask(
        model=question.model,
        prompt=question.prompt,
        temperature=question.temperature,
        max_tokens=room,
        timeout=_TIMEOUT,
        api_base=question.api_base,
        task=question.task,
        sample_index=0,
        m=1,
        seed=0,
    )


async def _with_patience(ask: Ask) -> Reply:
    for attempt in range(1, _ATTEMPTS + 1):
        try:
            return await sample_reply(ask)
        except NoReply as e:
            wait = max(float(2 ** (attempt - 1)), e.retry_after or 0.0)
            if attempt == _ATTEMPTS or not e.can_be_retried or e.is_unreachable or wait > _LONGEST_WAIT:
                raise
        await asyncio.sleep(wait)
    raise AssertionError("the last attempt returns or raises")
