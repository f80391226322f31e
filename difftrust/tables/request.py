"""What a table is asked for, and the estimates that it rests on."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import polars as pl

from difftrust.shipped import PAPER_SETTING, find_results, in_published_set
from difftrust_core.base.records import AS_STORED, Detection, Load, Reading
from difftrust_core.estimates.pool import Pool
from difftrust_core.estimates.refresh import estimates_are_stale, estimates_of_pools, open_pools
from difftrust_core.exceptions import NoBenchmark, NoStore, WrongUsage
from difftrust_core.metrics.equality import Equality
from difftrust_core.store.store import Store

T = TypeVar("T", int, float)


@dataclass(frozen=True, kw_only=True)
class TableRequest:
    """Which data a table shows."""

    store: Path
    reading: Reading = AS_STORED
    published: bool = False
    """Whether published values stand beside; with ``paper_setting``."""
    paper_setting: bool = False
    """Whether what is left out is as in the paper: its tasks, t = 0.6, m = 10, n = 1,000."""
    detection: Detection = Detection.AS_PUBLISHED
    equality: str = Equality.PAPER
    temperature: float | None = None
    drop_timeouts: bool = False
    m: int | None = None
    n: int | None = None
    model: str = PAPER_SETTING.model
    """For Table 3 and the policies."""
    only: tuple[str, ...] = ()
    """The models that other tables show; none: all."""
    benchmark: str | None = None
    """For figures and what is bought as a check; None: all, for Figure 2 the first."""
    intervals: bool = False
    """Over tasks."""
    resamples: int = 2000
    seed: int = 0
    n_jobs: int = 1
    signal: str = "incoherence"
    """For agreement: what is answered by."""
    alpha: float = 0.1
    """For agreement: what the risk is to be at most."""
    delta: float = 0.05
    """For agreement: with which probability it may be more."""

    def open(self) -> Store:
        """Open the store, read as asked. Raises WrongUsage for a temperature at which it has no candidates."""
        store = Store.open(self.store, self.reading)
        if self.temperature is not None:
            _require_sampled(store, self.temperature)
        return store

    def pools(self) -> dict[str, Pool]:
        """Return the behaviours of each benchmark of the store, as asked."""
        return open_pools(self.open(), equality=self.equality, n_jobs=self.n_jobs)

    def counted(self, frame: pl.DataFrame) -> pl.DataFrame:
        """Return the rows of the tasks that count: the published ones, where these are meant."""
        return in_published_set(frame) if self.as_in_paper and not frame.is_empty() else frame

    def judged(self, compute: Callable[..., pl.DataFrame], *, missing: str) -> tuple[pl.DataFrame, str]:
        """Return the rows of ``compute`` that are shown, and in words the m and n that they rest on.

        ``compute`` takes temperature, m and n. Raises NoStore saying what is ``missing`` if there is none.
        """
        usual = PAPER_SETTING if self.as_in_paper else None
        sizes = {name: getattr(self, name) or getattr(usual, name, None) for name in ("m", "n")}
        found = compute(temperature=self.wanted_temperature, **sizes)
        rows = found if found.is_empty() else self.counted(shown(found, self))
        if rows.is_empty():
            raise NoStore(f"the store {self.store} holds no executed task {missing}, and run `difftrust execute` on it")
        return rows, f"m = {range_of(rows['m'])}, n = {range_of(rows['n'])}, equality {self.equality}"

    @property
    def as_in_paper(self) -> bool:
        """Tell whether the paper's tasks and sizes are meant where others are not named."""
        return self.published or self.paper_setting

    @property
    def wanted_temperature(self) -> float | None:
        """Return the temperature asked for; without one the paper's, where its sizes are meant; None for all."""
        return PAPER_SETTING.temperature if self.temperature is None and self.as_in_paper else self.temperature


def _require_sampled(store: Store, temperature: float) -> None:
    table, columns = ("candidates", []) if store.holds("candidates") else ("members", ["temperature"])
    there = store.read(table, columns=columns)["temperature"].unique().sort()
    if not there.is_empty() and temperature not in there:
        raise WrongUsage(
            f"the store has no candidates at temperature {temperature:g}; it has {', '.join(f'{t:g}' for t in there)}. "
            "Choose one of these, or bring candidates first: `difftrust generate` or `difftrust import`"
        )


def estimates_for(request: TableRequest) -> tuple[pl.DataFrame, list[str]]:
    """Return the estimates that Tables 2 and 4 and Figures 1 and 3 rest on, with notes."""
    store = request.open()
    wanted = request.wanted_temperature
    found, notes = _sized(store, request)
    if found.is_empty():
        asked = f" --inputs {request.reading.inputs}" if request.reading.inputs else ""
        remedy = f"run `difftrust execute --store {request.store}{asked}`"
        raise NoStore(f"the store {request.store} holds no estimates of such inputs; {remedy}")
    found = shown(found, request)
    if request.as_in_paper or is_shipped(request.store):
        found = in_published_set(found)
        notes.append("tasks: the published 150 of HumanEval and 412 of MBPP, as far as the store holds them")
    if not (request.as_in_paper or request.m or request.n or found.is_empty()):
        found, more = _alike(store, request, found)
        notes += more
    if request.drop_timeouts:
        # The published pipeline dropped what took over 60 s; a timeout is what that comes from.
        kept = found.filter(pl.col("n_timeouts") == 0)
        notes.append(f"left out for a timeout: {found.height - kept.height} (coder, task) pairs")
        found = kept
    if found.is_empty():
        raise NoStore(f"the store {request.store} holds no estimate at temperature {wanted}; leave --temperature out")
    return found, notes


def shown(estimates: pl.DataFrame, request: TableRequest) -> pl.DataFrame:
    """Return those of the temperature and the models asked for. Raises WrongUsage for a model that is not there."""
    if unknown := sorted(set(request.only) - set(estimates["model"])):
        there = ", ".join(estimates["model"].unique().sort())
        raise WrongUsage(f"the store has no model {unknown[0]!r}; there are: {there}")
    at = request.wanted_temperature
    found = estimates if at is None else estimates.filter(pl.col("temperature") == at)
    return found.filter(pl.col("model").is_in(request.only)) if request.only else found


def _alike(store: Store, request: TableRequest, found: pl.DataFrame) -> tuple[pl.DataFrame, list[str]]:
    """Return the estimates for one m and one n: the largest that all coders shown have; and what to say of it."""
    most = found.group_by("benchmark", "model", "temperature").agg(pl.max("m"))["m"]
    m, n = _least(most), _least(found["n"])
    if most.n_unique() == 1 and found["n"].n_unique() == 1:
        return found, []
    pools = request.pools()
    alike = estimates_of_pools(store, pools, m=m, n=n, temperature=request.wanted_temperature)
    said = f"m = {m}, n = {n}: the largest that all coders shown have, some have more; -m, -n and --model choose others"
    return alike.join(found, on=["benchmark", "model", "temperature", "task_id"], how="semi"), [said]


def _least(values: pl.Series) -> int:
    return int(values.min())  # type: ignore[arg-type]


def is_shipped(store: Path) -> bool:
    """Tell whether a store is that of the shipped results, whose models are compared on the published tasks."""
    try:
        return store.resolve() == find_results().resolve()
    except NoBenchmark:
        return False


def _sized(store: Store, request: TableRequest) -> tuple[pl.DataFrame, list[str]]:
    """Return the estimates for the m and n asked for; those at hand if these are all there are."""
    m, n, temperature = request.m, request.n, request.wanted_temperature
    if m is None and n is None and not request.as_in_paper and request.reading.load == Load.TRIMMED:
        from difftrust_core.estimates.queries import query_estimates

        stale = estimates_are_stale(store)
        notes = ["the store holds candidates that are not executed yet; run `difftrust execute`"] if stale else []
        found = query_estimates(store, equality=request.equality)
        return found, notes if not found.is_empty() else []
    pools = request.pools()
    if request.as_in_paper and pools:
        m, n = paper_sizes(request, pools)
    found = estimates_of_pools(store, pools, m=m, n=n, temperature=temperature)
    wanted = {coder for pool in pools.values() for coder in pool.members if temperature in (None, coder[1])}
    wanted = {coder for coder in wanted if not request.only or coder[0] in request.only}
    left_out = len(wanted - set(found.select("model", "temperature").unique().iter_rows()))
    return found, [f"left out: {left_out} coders not executed on {n} inputs everywhere"] if left_out else []


def paper_sizes(request: TableRequest, pools: Mapping[str, Pool]) -> tuple[int, int]:
    """Return the m and n asked for, else the paper's as far as the store goes."""
    reached = min(len(task.pattern_of_input) for pool in pools.values() for task in pool.tasks)
    return request.m or PAPER_SETTING.m, request.n or min(PAPER_SETTING.n, reached)


def range_of(values: pl.Series) -> str:
    """Return the values as ``10``, or as ``6 to 10`` where they differ."""
    low, high = values.min(), values.max()
    return str(low) if low == high else f"{low!s} to {high!s}"


def as_sequence(value: T | Sequence[T]) -> Sequence[T]:
    """Return several values as they are, and one as a sequence of one."""
    return value if isinstance(value, Sequence) else (value,)


def require_known(what: str, name: str | None, there: Sequence[str]) -> str:
    """Return ``name`` if it is there. Raises WrongUsage that lists what is."""
    if name is not None and name not in there:
        raise WrongUsage(f"the store has no {what} {name!r}; it has: {', '.join(there)}")
    return name or ""
