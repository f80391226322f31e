"""Asking the tests' own server for samples, as all the tests of replies do."""

from collections.abc import Sequence

from difftrust_core.base.task import Task
from difftrust_core.generation.generate import generate
from difftrust_core.generation.missing import Generation, GenerationOptions
from difftrust_core.generation.prices import Price
from difftrust_core.store.store import Store
from tests.support.llm_server import Server
from tests.support.tiny import silent

MODEL = "openai/local"
KEY = "planted-0123456789-abcdefghij-key"
PRICE = Price(prompt=5.0, completion=15.0)


def ask(
    store: Store, tasks: Sequence[Task], server: Server, *, m: int = 1, say=silent, **changed: object
) -> Generation:  # type: ignore[no-untyped-def]
    """Sample ``m`` programs a task, with short waits unless ``changed`` says more."""
    quick = {"api_base": server.url, "price": PRICE, "first_wait": 0.05, "n_jobs": 1}
    options = GenerationOptions(**{**quick, **changed})  # type: ignore[arg-type]
    return generate(store, tasks, models=[MODEL], temperature=0.6, m=m, options=options, say=say)
