"""The store that the app shows, and the answers it gave, kept while its files stay the same."""

import os
import threading
from collections.abc import Callable
from contextlib import nullcontext, suppress
from dataclasses import dataclass, replace
from functools import cache, cached_property, lru_cache, partial, wraps
from pathlib import Path
from typing import Generic, TypeVar, TypeVarTuple

import polars as pl
import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from dashboard import permissions, state
from difftrust.explorer.cube import readings
from difftrust.research.passed_tests import PASSED_SCHEMA, shares_passed, told_of_tests
from difftrust.shipped import PAPER_SETTING, find_results, find_starter_results, load_published
from difftrust.tables.request import benchmarks_of, is_shipped, programs_of
from difftrust_core.base.records import AS_STORED, Reading, Validity
from difftrust_core.estimates.measures import TASK_SCHEMA, whole_rows
from difftrust_core.estimates.pool import Pool, load_pool
from difftrust_core.exceptions import DifftrustError, NoBenchmark
from difftrust_core.store.mirror import folder_of
from difftrust_core.store.store import SETTINGS_FILE, Store

Ts = TypeVarTuple("Ts")
T = TypeVar("T")


class _Answer(Generic[T]):
    """What a function returns, computed once: who asks while it is computed waits."""

    def __init__(self, compute: Callable[[], T], saying: str) -> None:
        self._compute, self._saying, self._lock = compute, saying, threading.Lock()
        self._found: list[T] = []

    def value(self) -> T:
        with self._lock:
            if not self._found:  # after an error it is computed again
                is_page = bool(self._saying) and get_script_run_ctx(suppress_warning=True) is not None
                with st.spinner(self._saying) if is_page else nullcontext():
                    self._found.append(self._compute())
            return self._found[0]


def _counted(key: tuple[*Ts]) -> tuple[*Ts]:
    """Return arguments, a ``Choice`` among them without what no number depends on."""
    return tuple(replace(each, blind=False) if isinstance(each, Choice) and each.blind else each for each in key)  # type: ignore[return-value]


def kept(*, most: int = 64, saying: str = "") -> Callable[[Callable[[*Ts], T]], Callable[[*Ts], T]]:
    """Keep the last answers of a function of a ``Source`` or ``Choice``, whose version says which files they rest on.

    What a ``Choice`` hides does not count: no number depends on it. For all sessions of the process. Not Streamlit's
    cache: a page asks dozens of times, and that one takes longer to find a kept answer than the page takes to draw it.
    ``saying``: shown while a page waits for one.
    """

    def decorate(function: Callable[[*Ts], T]) -> Callable[[*Ts], T]:
        @lru_cache(maxsize=most)
        def answer(*key: *Ts) -> _Answer[T]:
            return _Answer(partial(function, *key), saying)

        @wraps(function)
        def find(*key: *Ts) -> T:
            return answer(*_counted(key)).value()

        return find

    return decorate


@dataclass(frozen=True)
class Source:
    """A store at one version."""

    root: Path
    version: tuple[int, ...]
    """When its results were written, in nanoseconds."""
    reading: Reading = AS_STORED

    @property
    def store(self) -> Store:
        """Return the store, as it is read."""
        return Store(self.root, self.reading)

    def pool(self, benchmark: str, equality: str = "paper") -> Pool:
        """Return the behaviours of a benchmark; kept while the files are the same."""
        found = load_pool(self.store, benchmark, equality=equality)
        return _published(found) if is_shipped(self.root) else found


@lru_cache(maxsize=8)
def _published(pool: Pool) -> Pool:
    """Return the published tasks: the shipped results hold more of one model, and all pages count the same ones."""
    return pool.without(set(load_published("excluded_tasks").filter(benchmark=pool.benchmark)["task_id"]))


def stores() -> dict[str, Path]:
    """Return the stores that pages can show: name in the URL -> folder, the one that opens first.

    ``own``: DIFFTRUST_STORE; of a URL it is its mirror, brought up to date once, when the dashboard starts. ``paper``
    and ``starter``: those that come with difftrust. Raises NoBenchmark if there is none; StoreUnreachable.
    """
    return _stores(os.environ.get("DIFFTRUST_STORE") or None)


@cache
def _stores(named: str | None) -> dict[str, Path]:
    found = {"own": folder_of(named)} if named else {}
    own = {folder.resolve() for folder in found.values()}
    found |= {name: folder for name, folder in shipped_stores().items() if folder.resolve() not in own}
    return found or {"paper": find_results()}


def why(error: Exception) -> str:
    """Return what an error says; where others may read it, with the names of the stores in place of their paths."""
    said = str(error)
    if not permissions.may_execute():
        with suppress(DifftrustError):
            for root in stores().values():
                for folder in (root.absolute(), root.resolve()):
                    said = said.replace(str(folder), folder.name)
    return said


def shipped_stores() -> dict[str, Path]:
    """Return the stores that come with difftrust: others read them, and an update replaces them."""
    found = {}
    for name, find in (("paper", find_results), ("starter", find_starter_results)):
        with suppress(NoBenchmark):
            found[name] = find()
    return found


def open_source(root: Path | None = None) -> Source:
    """Return the store, that of the URL unless named, at its version of now.

    Raises NoStore or BadStore, saying what to do.
    """
    names = stores()
    store = Store.open(root or names[state.read_one("store", list(names), next(iter(names)))])
    files = [store.root / SETTINGS_FILE]
    for table in ("classes", "members"):
        files += store.files(table)
    return Source(store.root, tuple(path.stat().st_mtime_ns for path in files))


@kept()
def inputs_there(source: Source) -> list[str]:
    """Return the validity policies that the store holds results of, its own first."""
    return readings(Store(source.root))


@kept()
def benchmarks(source: Source) -> list[str]:
    """Return the benchmarks that the store holds results of. Raises NoStore if there are none."""
    return benchmarks_of(source.store)


@dataclass(frozen=True, kw_only=True)
class Held:
    """What a store holds of one benchmark."""

    temperatures: tuple[float, ...]
    models: dict[float, tuple[str, ...]]
    """Temperature -> models sampled at it."""
    most_candidates: dict[float, int]
    """Temperature -> candidates of the coder with most per task."""
    most_inputs: int
    """Inputs that some program was executed on."""


@kept(saying="Reading the store …")
def held(source: Source, benchmark: str) -> Held:
    """Return what the store holds of one benchmark."""
    found = source.pool(benchmark)
    temperatures = tuple(sorted({temperature for _, temperature in found.members}))
    return Held(
        temperatures=temperatures,
        models={t: tuple(sorted(model for model, own in found.members if own == t)) for t in temperatures},
        most_candidates={
            t: max(programs_of(found, coder) for coder in found.members if coder[1] == t) for t in temperatures
        },
        most_inputs=max(found.reach(coder) for coder in found.members),
    )


@dataclass(frozen=True, kw_only=True)
class Choice:
    """What all pages choose: the store, the benchmark, how much of it, and how outcomes are compared."""

    source: Source
    benchmark: str
    temperature: float
    m: int
    n: int
    equality: str
    blind: bool
    """Whether everything that needs the reference is hidden."""

    @property
    def store(self) -> Store:
        """Return the store."""
        return self.source.store

    @cached_property
    def held(self) -> Held:
        """Return what the store holds of the benchmark."""
        return held(self.source, self.benchmark)

    @cached_property
    def validity(self) -> str:
        """Return which inputs count."""
        return str(self.store.settings().validity)

    @property
    def models(self) -> tuple[str, ...]:
        """Return the models sampled at the temperature."""
        return self.held.models[self.temperature]

    @property
    def is_simulated(self) -> bool:
        """Tell whether no program is an LLM's."""
        return all(model.startswith("simulated/") for models in self.held.models.values() for model in models)

    @property
    def usual_model(self) -> str:
        """Return the model that pages start with: the paper's, else the first."""
        return PAPER_SETTING.model if PAPER_SETTING.model in self.models else self.models[0]

    @cached_property
    def pool(self) -> Pool:
        """Return the behaviours of the benchmark."""
        return self.source.pool(self.benchmark, self.equality)

    def estimates(self) -> pl.DataFrame:
        """Return one row per (model, task): the columns of ``measures.TASK_SCHEMA``.

        Models are left out if they have fewer than m programs, or one that was not executed on n inputs, because a mean
        over fewer programs or tasks would mislead; ``left_out`` names them.
        """
        return _of_all(self)[0]

    def left_out(self) -> tuple[str, ...]:
        """Return the models that ``estimates`` leaves out."""
        return _of_all(self)[1]

    def on(self, inputs: str) -> "Choice | None":
        """Return the same on other inputs; None where none are recorded, or tests are chosen."""
        if self.validity == Validity.TESTS or inputs not in inputs_there(self.source):
            return None
        source = replace(self.source, reading=replace(self.source.reading, inputs=inputs))
        there = self.benchmark in benchmarks(source) and self.temperature in held(source, self.benchmark).models
        return replace(self, source=source) if there else None


@kept()
def _of_all(chosen: Choice) -> tuple[pl.DataFrame, tuple[str, ...]]:
    found = {model: _of_one(chosen, model) for model in chosen.models}
    return pl.concat(found.values()), tuple(model for model, rows in found.items() if rows.is_empty())


def _of_one(chosen: Choice, model: str) -> pl.DataFrame:
    """Return the estimates of one model, no row where some are missing."""
    coder = (model, chosen.temperature)
    has_all = programs_of(chosen.pool, coder) >= chosen.m
    rows = whole_rows(chosen.pool, [coder], m=chosen.m, n=chosen.n, fewer=True) if has_all else None
    return pl.DataFrame(schema=TASK_SCHEMA) if rows is None else rows


def passed_tests(chosen: Choice) -> pl.DataFrame:
    """Return which share of each model's first m candidates passes the tests of a task: ``research.passed_tests``.

    No row where these are the inputs already, or the store holds no results on tests.
    """
    return _passed_tests(replace(chosen, n=0))  # whatever n: it counts other inputs


@kept()
def _passed_tests(chosen: Choice) -> pl.DataFrame:
    tested = chosen.on(Validity.TESTS)
    if tested is None:
        return pl.DataFrame(schema=PASSED_SCHEMA)
    own = {coder: members for coder, members in tested.pool.members.items() if coder[1] == chosen.temperature}
    groups = {chosen.benchmark: told_of_tests(tested.store, chosen.benchmark, "groups")}
    return shares_passed({chosen.benchmark: replace(tested.pool, members=own)}, groups, m=chosen.m)
