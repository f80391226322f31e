"""What a page is about: one setting of a store, its estimates, and when and by what they were made."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cached_property

import polars as pl

from difftrust import __version__
from difftrust.explorer.cube import EQUALITIES_IN_WORDS, INPUTS_IN_WORDS, executed_on, readings
from difftrust.shipped import PAPER_SETTING, in_published_set, usual_temperature
from difftrust.tables.request import (
    TableRequest,
    benchmarks_of,
    executed_up_to,
    is_shipped,
    programs_of,
    require_known,
    require_reached,
    require_sizes,
)
from difftrust.tables.sentences import compare
from difftrust_core.base.records import Coder, References, Validity
from difftrust_core.estimates.measures import whole_rows
from difftrust_core.estimates.pool import Pool, load_pool
from difftrust_core.exceptions import NoStore, WrongUsage
from difftrust_core.store.store import Store


@dataclass(frozen=True, kw_only=True, eq=False)
class Subject:
    """One benchmark of a store at one setting."""

    store: Store
    benchmark: str
    temperature: float
    m: int
    n: int
    pool: Pool
    tasks: pl.DataFrame
    """A row a (model, task): ``measures.TASK_SCHEMA``."""
    left_out: tuple[str, ...]
    """Models without m programs that were executed on n inputs of every task."""

    @property
    def models(self) -> list[str]:
        """Return the models that have estimates."""
        return self.tasks["model"].unique(maintain_order=True).to_list()

    @cached_property
    def table(self) -> pl.DataFrame:
        """Return a row a model, with intervals: ``sentences.compare``."""
        return compare(self.tasks)

    @property
    def has_reference(self) -> bool:
        """Tell whether any error is known."""
        return self.tasks["error"].count() > 0

    @cached_property
    def in_domain(self) -> frozenset[tuple[str, str]]:
        """Return the (model, task) pairs with an error on inputs inside the task's domain; none where none is known."""
        if self.store.settings().validity == Validity.DOMAIN:
            return self._wrong(self.tasks)
        if not self.knows_domain:
            return frozenset()
        inside = self.store.read_as(replace(self.store.reading, inputs=Validity.DOMAIN))
        try:
            pool = load_pool(inside, self.benchmark, equality=self.pool.equality)
        except NoStore:
            return frozenset()
        found = _estimated(inside, pool, [(model, self.temperature) for model in self.models], m=self.m, n=self.n)
        return frozenset() if found is None else self._wrong(found)

    @property
    def knows_domain(self) -> bool:
        """Tell whether the store has results on inputs inside the tasks' domains."""
        return Validity.DOMAIN in readings(self.store)

    def facts(self) -> list[tuple[str, str]]:
        """Return where the numbers come from and what they rest on: (what, value)."""
        settings = self.store.settings()
        is_audited = self.store.reading.references == References.AUDITED
        return [
            ("Programs executed", executed_on(self.store)),
            ("Report written", f"{datetime.now(tz=UTC):%Y-%m-%d %H:%M} UTC"),
            ("Store", self.store.root.name),
            ("difftrust", __version__),
            ("Benchmark", self.benchmark),
            ("Tasks", f"{self.tasks['task_id'].n_unique():,}{', without faulty references' if is_audited else ''}"),
            ("Models", f"{len(self.models)}"),
            ("Temperature", f"{self.temperature:g}"),
            ("Programs per task (m)", f"{self.m}"),
            ("Inputs per task (n)", f"{self.n:,}"),
            ("Inputs counted", INPUTS_IN_WORDS.get(settings.validity, settings.validity)),
            ("Outcome comparison", EQUALITIES_IN_WORDS.get(self.pool.equality, self.pool.equality)),
            ("Seed", f"{settings.seed}"),
        ]

    @staticmethod
    def _wrong(tasks: pl.DataFrame) -> frozenset[tuple[str, str]]:
        return frozenset(tasks.filter(pl.col("error") > 0).select("model", "task_id").iter_rows())


def make_subject(
    store: Store,
    *,
    benchmark: str | None = None,
    temperature: float | None = None,
    m: int | None = None,
    n: int | None = None,
    equality: str = "paper",
) -> Subject:
    """Return one setting of a store; what is None is the paper's as far as the store goes.

    Raises WrongUsage for a benchmark, a temperature or sizes that are not there.
    """
    require_sizes(m=m, n=n)
    names = benchmarks_of(store)
    name = require_known("benchmark", benchmark, names) or names[0]
    pool = load_pool(store, name, equality=equality)
    temperatures = sorted({t for _, t in pool.members})
    at = usual_temperature(temperatures) if temperature is None else temperature
    if at not in temperatures:
        raise WrongUsage(
            f"{name} has no candidates at temperature {at:g}; it has: {', '.join(f'{t:g}' for t in temperatures)}"
        )
    coders = sorted(coder for coder in pool.members if coder[1] == at)
    most_m = max(programs_of(pool, coder) for coder in coders)
    most_n = max(pool.reach(coder) for coder in coders)
    m, n = m or min(PAPER_SETTING.m, most_m), n or min(PAPER_SETTING.n, most_n)
    waiting = {
        model for (of, (model, t)), up_to in executed_up_to(store).items() if (of, t) == (name, at) and up_to < m
    }
    execution = f"run {TableRequest(store=store.root, reading=store.reading).execution(n)}"
    require_reached("-m", m, most_m, execution if waiting else "generate more")
    tasks = _estimated(store, pool, coders, m=m, n=n) if n <= most_n else None
    if tasks is None:
        raise WrongUsage(f"no model of {name} was executed on {n:,} inputs; all there are: -n {most_n}")
    missing = ({model for model, _ in coders} | waiting) - set(tasks["model"])
    return Subject(
        store=store, benchmark=name, temperature=at, m=m, n=n, pool=pool, tasks=tasks, left_out=tuple(sorted(missing))
    )


def _estimated(store: Store, pool: Pool, coders: Sequence[Coder], *, m: int, n: int) -> pl.DataFrame | None:
    """Return the rows of all coders that have m programs executed on so many inputs; None if there is none."""
    counted = in_published_set if is_shipped(store.root) else pl.DataFrame.clone
    there = [coder for coder in coders if coder in pool.members and programs_of(pool, coder) >= m]
    found = (whole_rows(pool, [coder], m=m, n=n, fewer=True, tasks=counted) for coder in there)
    parts = [rows for rows in found if rows is not None]
    return pl.concat(parts) if parts else None
