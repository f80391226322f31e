"""The store that the app shows, opened once a process, and what was asked of it, kept; and nothing else.

What is kept is kept under the time at which the store's files were written, so a store that grows is read again.
"""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cache, cached_property, lru_cache
from pathlib import Path

import polars as pl
import streamlit as st

from difftrust_core.ablation import Pool, ablation
from difftrust_core.corpora.published import find_results
from difftrust_core.exceptions import NoStore
from difftrust_core.mirrors import folder_of
from difftrust_core.results import EQUALITIES, load_pool, pool_names
from difftrust_core.store import SETTINGS_FILE, Store

Version = tuple[int, ...]
"""When the store's results were written, in nanoseconds."""
READ_AHEAD = 4
"""Benchmarks that are read before they are asked for."""
_KEPT = 64
"""Answers of each kind that are kept at most."""


def store_path() -> Path:
    """Return the folder of the store: DIFFTRUST_STORE, else the results that come with difftrust.

    Of a URL it is that of the mirror, brought up to date once, when the dashboard starts. Raises NoBenchmark if it is
    not set and there are none; StoreUnreachable.
    """
    named = os.environ.get("DIFFTRUST_STORE")
    return _named(named) if named else _shipped()


_named, _shipped = cache(folder_of), cache(find_results)


def open_store() -> tuple[Store, Version]:
    """Return the store and its version. Raises NoStore or BadStore, saying what to do."""
    store = Store.open(store_path())
    return store, _version(store)


def _version(store: Store) -> Version:
    files = [store.root / SETTINGS_FILE]
    for table in ("classes", "members"):
        files += store.files(table)
    return tuple(path.stat().st_mtime_ns for path in files)


def written(version: Version) -> datetime:
    """Return when the newest file of the results was written."""
    return datetime.fromtimestamp(max(version) / 1e9, tz=UTC)


@st.cache_resource(max_entries=_KEPT, show_spinner=False)
def benchmarks(_store: Store, version: Version, root: str) -> list[str]:
    """Return the benchmarks that the store holds results of. Raises NoStore if there are none."""
    del version
    names = pool_names(_store)
    if not names:
        raise NoStore(f"{root} holds no results yet; run `difftrust execute --store {root}`")
    return names


def pool(store: Store, benchmark: str, equality: str = "paper") -> Pool:
    """Return the behaviours of a benchmark; kept while the files are the same, for every session of the process."""
    return load_pool(store, benchmark, equality=equality)


@dataclass(frozen=True, kw_only=True)
class Held:
    """What a store holds of one benchmark."""

    temperatures: tuple[float, ...]
    models: dict[float, tuple[str, ...]]
    """Temperature -> models sampled at it."""
    most_candidates: dict[float, int]
    """Temperature -> candidates of the coder with most a task."""
    most_inputs: int
    """Inputs that some program was executed on."""


@st.cache_resource(max_entries=_KEPT, show_spinner="Reading the store …")
def held(_store: Store, version: Version, root: str, benchmark: str) -> Held:
    """Return what the store holds of one benchmark; say meanwhile that it is read."""
    del root
    return _held(_store.root, version, benchmark)


@lru_cache(maxsize=_KEPT)
def _held(root: Path, version: Version, benchmark: str) -> Held:
    del version
    found = pool(Store(root), benchmark)
    temperatures = tuple(sorted({temperature for _, temperature in found.members}))
    return Held(
        temperatures=temperatures,
        models={t: tuple(sorted(model for model, own in found.members if own == t)) for t in temperatures},
        most_candidates={
            t: max(int(members.sample_index.max()) + 1 for (_, own), members in found.members.items() if own == t)
            for t in temperatures
        },
        most_inputs=max(found.reach(coder) for coder in found.members),
    )


@dataclass(frozen=True, kw_only=True)
class Choice:
    """What every page shows a part of: which store, which benchmark, how much of it, under which policy."""

    store: Store
    version: Version
    benchmark: str
    temperature: float
    m: int
    n: int
    equality: str
    validity: str
    blind: bool
    """Whether everything that needs the reference is hidden."""

    @cached_property
    def held(self) -> Held:
        """Return what the store holds of the benchmark."""
        return _held(self.store.root, self.version, self.benchmark)

    @property
    def models(self) -> tuple[str, ...]:
        """Return the models sampled at the temperature."""
        return self.held.models[self.temperature]

    @cached_property
    def pool(self) -> Pool:
        """Return the behaviours of the benchmark."""
        return pool(self.store, self.benchmark, self.equality)

    def one_step_away(self) -> list["Choice"]:
        """Return what one key or click makes of this: a program more or fewer, the other equality."""
        counts = [m for m in (self.m + 1, self.m - 1) if 2 <= m <= self.held.most_candidates[self.temperature]]
        others = [equality for equality in EQUALITIES if equality != self.equality]
        return [*(replace(self, m=m) for m in counts), *(replace(self, equality=other) for other in others)]

    def in_other_benchmarks(self) -> Iterator["Choice"]:
        """Yield what a click on another of the first benchmarks makes of this, where nothing else changes with it."""
        for name in benchmarks(self.store, self.version, str(self.store.root))[:READ_AHEAD]:
            there = replace(self, benchmark=name)
            most = 0 if name == self.benchmark else there.held.most_candidates.get(self.temperature, 0)
            if self.m <= most and self.n <= there.held.most_inputs:
                yield there

    def estimates(self, models: Sequence[str] | None = None) -> pl.DataFrame:
        """Return a row a (model, task), all models unless named: the columns of ``ablation.TASK_SCHEMA``.

        Models of which a program was not executed on n inputs are left out, for a mean over some of their tasks would
        mislead; ``left_out`` names them.
        """
        return self._everybody[0] if models is None else pl.concat([self.of(model) for model in models])

    def left_out(self) -> tuple[str, ...]:
        """Return the models that ``estimates`` leaves out."""
        return self._everybody[1]

    @cached_property
    def _everybody(self) -> tuple[pl.DataFrame, tuple[str, ...]]:
        where = (self.benchmark, self.temperature, self.m, self.n, self.equality)
        return _of_all(self, self.version, str(self.store.root), where)

    def of(self, model: str) -> pl.DataFrame:
        """Return the estimates of one model, no row where some are missing."""
        where = (self.benchmark, model, self.temperature, self.m, self.n, self.equality)
        return _estimates(self.store.root, self.version, where)


@st.cache_resource(max_entries=_KEPT, show_spinner=False)
def _of_all(
    _chosen: Choice, version: Version, root: str, where: tuple[str, float, int, int, str]
) -> tuple[pl.DataFrame, tuple[str, ...]]:
    del version, root, where
    found = {model: _chosen.of(model) for model in _chosen.models}
    return pl.concat(found.values()), tuple(model for model, rows in found.items() if rows.is_empty())


@lru_cache(maxsize=_KEPT * 16)
def _estimates(root: Path, version: Version, where: tuple[str, str, float, int, int, str]) -> pl.DataFrame:
    del version
    benchmark, model, temperature, m, n, equality = where
    found = pool(Store(root), benchmark, equality)
    rows = ablation(found, [(model, temperature)], m=m, n=n, subsets=False)
    whole = rows.height == len(found.tasks_of((model, temperature), m=m))
    return rows if whole else rows.clear()
