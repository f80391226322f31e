"""What a table is asked for, and the estimates that it rests on."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import lru_cache
from numbers import Integral
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import polars as pl

from difftrust.research.per_candidate import Candidates, judged_candidates
from difftrust.shipped import PAPER_SETTING, find_results, in_published_set
from difftrust.tables.names import display_name
from difftrust_core.base.files import FileState
from difftrust_core.base.records import AS_STORED, Coder, Detection, Reading, Validity
from difftrust_core.estimates.pool import MISSING, Members, Pool, load_pool, pool_names
from difftrust_core.estimates.refresh import deciding_files, estimates_are_stale, estimates_of_pools, open_pools
from difftrust_core.exceptions import NoBenchmark, NoStore, WrongUsage
from difftrust_core.metrics.equality import Equality
from difftrust_core.store.checksums import read_list
from difftrust_core.store.store import Store

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

T = TypeVar("T", int, float)
_Record = TypeVar("_Record", bound="DataclassInstance")


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

    def __post_init__(self) -> None:
        """Refuse sizes that are none. Raises WrongUsage."""
        require_sizes(m=self.m, n=self.n)

    def open(self) -> Store:
        """Open the store, read as asked. Raises WrongUsage for a temperature at which it has no candidates."""
        store = Store.open(self.store, self.reading)
        if self.temperature is not None:
            _require_sampled(store, self.temperature)
        return store

    def execution(self, n: int | None = None) -> str:
        """Return the command that executes the store on the inputs asked for; results alone need a new store."""
        inputs = f" --inputs {self.reading.inputs}" if self.reading.inputs else ""
        further = inputs if n is None else f"{inputs} -n {n}"
        if self.open().holds("candidates"):
            return f"`difftrust execute --store {self.store}{further}`"
        return (
            f"`difftrust import difftrust --store DIR` and `difftrust execute --store DIR{further}`, DIR a new folder"
        )

    def pools(self) -> dict[str, Pool]:
        """Return the behaviours of each benchmark of the store, as asked."""
        return open_pools(self.open(), equality=self.equality, n_jobs=self.n_jobs)

    def shown_pools(self) -> dict[str, Pool]:
        """Return the behaviours of the coders asked for: their first m programs, where these met n inputs.

        Benchmarks and tasks of which none is left are left out. Raises WrongUsage for a model that is not there.
        """
        pools = self.pools()
        models = {model for pool in pools.values() for model, _ in pool.members}
        if pools and (unknown := sorted(set(self.only) - models)):
            if unknown[0] in {model for _, (model, _) in executed_up_to(self.open())}:
                execution = f"run {self.execution(inputs_of(pools.values()))}"
                raise NoStore(f"no program of {unknown[0]} was executed on every task; {execution}")
            raise WrongUsage(f"the store has no model {unknown[0]!r}; there are: {', '.join(sorted(models))}")
        chosen = {name: chosen_coders(pool, self) for name, pool in pools.items()}
        return {name: pool for name, pool in chosen.items() if pool.members}

    def counted(self, frame: pl.DataFrame) -> pl.DataFrame:
        """Return the rows of the tasks that count: the published ones, where these are meant or shipped."""
        is_published = self.as_in_paper or is_shipped(self.store)
        return in_published_set(frame) if is_published and not frame.is_empty() else frame

    def judged(
        self, compute: Callable[[Iterator[Candidates]], pl.DataFrame], *, missing: str
    ) -> tuple[pl.DataFrame, list[str]]:
        """Return the rows that ``compute`` makes of the candidates asked for, and in words their m and n.

        Raises NoStore saying what is ``missing`` if there is no row.
        """
        request, notes = settle(self)
        at = request.wanted_temperature
        candidates = judged_candidates(request.shown_pools(), temperature=at, m=request.m, n=request.n)
        rows = request.counted(compute(candidates))
        if rows.is_empty():
            raise NoStore(f"the store {self.store} holds no executed task {missing}, and run `difftrust execute` on it")
        return rows, [f"m = {range_of(rows['m'])}, n = {range_of(rows['n'])}, equality {self.equality}", *notes]

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
    """Return the estimates that Tables 2 and 4 and Figures 1 and 3 rest on, for one m and one n, with notes."""
    request, notes = settle(request)
    store = request.open()
    found = estimates_of_pools(store, request.shown_pools(), m=request.m, n=request.n)
    if found.is_empty():
        remedy = f"run {request.execution()}"
        if read_list(store.root) - store.names():
            remedy = f"files of it are gone, `difftrust verify --store {request.store}` says what to do"
        elif request.reading.inputs == Validity.REFERENCE and store.holds("tasks"):
            lacking = store.read("tasks")["reference"].null_count()
            remedy = f"they are what references accept, and {lacking} of its tasks have none" if lacking else remedy
        raise NoStore(f"the store {request.store} holds no estimates of such inputs; {remedy}")
    if request.as_in_paper or is_shipped(request.store):
        notes.append("tasks: the published 150 of HumanEval and 412 of MBPP, as far as the store holds them")
    found = request.counted(found)
    if request.drop_timeouts:
        # The published pipeline dropped what took over 60 s; a timeout is what that comes from.
        kept = found.filter(pl.col("n_timeouts") == 0)
        notes.append(f"left out for a timeout: {found.height - kept.height} (coder, task) pairs")
        found = kept
    return found, notes


def settle(request: TableRequest, readings: Sequence[Reading] = ()) -> tuple[TableRequest, list[str]]:
    """Return the request with one m and one n, and what to say: of these, and of the coders that have fewer.

    They are those asked for; else the paper's, where these are meant, as far as any coder goes; else the largest that
    all coders shown have, those with a single program aside. A coder has m programs if it has them for some task, and n
    inputs if its first m programs met as many on every task of it, in each of the ``readings`` (none: the request's).
    Of tests no n is settled: each task has its own. Raises WrongUsage if no coder has the m or n asked for.
    """
    places = [
        (pool, coder)
        for reading in readings or (request.reading,)
        for pool in replace(request, reading=reading, m=None, n=None).shown_pools().values()
        for coder in sorted(pool.members)
    ]
    waiting = _waiting(request, readings)
    if not places:
        return request, []
    programs = [programs_of(pool, coder) for pool, coder in places]
    m = request.m or _usual_size(request, PAPER_SETTING.m, programs, least=2)
    deepest = inputs_of(pool for pool, _ in places)
    require_reached("-m", m, max(programs), f"run {request.execution(deepest)}" if waiting else "generate more")
    inputs = [
        _reach(pool, pool.of(coder).first(m)) if number >= m else 0
        for (pool, coder), number in zip(places, programs, strict=True)
    ]
    n = request.n or _usual_size(request, PAPER_SETTING.n, inputs, least=1)
    require_reached("-n", n, max(inputs), f"run {request.execution(n)}")
    is_largest = not request.as_in_paper and request.m is request.n is None and (max(programs) > m or max(inputs) > n)
    others = "the largest that all coders shown have, some have more; -m, -n and --model choose others"
    notes = [f"m = {m}, n = {n}: {others}"] if is_largest else []
    absent = sorted(set(request.only) - {coder[0] for _, coder in places})
    if absent:
        notes.append(f"left out, without results at this temperature: {', '.join(map(display_name, absent))}")
    lacking = [(coder, pool.benchmark) for (pool, coder), reach in zip(places, inputs, strict=True) if reach < n]
    notes += _said_of(dict.fromkeys(lacking), m, n)
    is_tests = request.open().settings().validity == Validity.TESTS
    notes += _said_of_waiting(request, waiting, n=None if is_tests else n)
    return replace(request, m=m, n=None if is_tests and request.n is None else n), notes


def _usual_size(request: TableRequest, paper: int, there: Sequence[int], *, least: int) -> int:
    return min(paper, max(there)) if request.as_in_paper else min([x for x in there if x >= least], default=max(there))


def require_reached(option: str, wanted: int, most: int, remedy: str) -> None:
    """Refuse more programs or inputs than are recorded. Raises WrongUsage."""
    if wanted > most:
        raise WrongUsage(
            f"expected {option} of at most {most}, the most that is executed of any coder shown, got {wanted}; choose "
            f"fewer, or {remedy}"
        )


def _said_of(lacking: Iterable[tuple[Coder, str]], m: int, n: int) -> list[str]:
    """Return a line a temperature that names the coders left out."""
    of: dict[float, list[str]] = {}
    for (model, temperature), benchmark in lacking:
        of.setdefault(temperature, []).append(f"{display_name(model)} on {benchmark}")
    return [f"left out at t = {t:g}, without m = {m} or n = {n}: {', '.join(names)}" for t, names in sorted(of.items())]


def executed_up_to(store: Store) -> dict[tuple[str, Coder], int]:
    """Return, by benchmark and coder, how many programs count of those that have more that were not executed.

    That is the lowest index of such a program, on any task that was executed. Empty for a results store.
    """
    if not store.holds("candidates"):
        return {}
    return dict(_executed_up_to(store.root, store.settings().validity, deciding_files(store)))


@lru_cache(maxsize=8)
def _executed_up_to(
    root: Path, validity: str, _written: tuple[FileState, ...]
) -> tuple[tuple[tuple[str, Coder], int], ...]:
    from difftrust_core.estimates.behaviours import candidate_trees, first_missing

    store, ids = Store(root), ["task_id", "tree_id"]
    found = []
    for name in sorted(store.read("candidates")["benchmark"].unique()):
        executed = store.read("executions", {"benchmark": name, "validity": validity}, columns=ids)
        missing = first_missing(candidate_trees(store, name), executed).sort("model", "temperature")
        found += [((name, (model, temperature)), first) for model, temperature, first in missing.iter_rows()]
    return tuple(found)


def _waiting(request: TableRequest, readings: Sequence[Reading]) -> dict[tuple[str, Coder], int]:
    """Return what ``executed_up_to`` says of the coders asked for; the least of several readings."""
    found: dict[tuple[str, Coder], int] = {}
    for reading in readings or (request.reading,):
        for place, up_to in executed_up_to(replace(request, reading=reading).open()).items():
            model, temperature = place[1]
            is_asked = (not request.only or model in request.only) and request.wanted_temperature in (None, temperature)
            if is_asked and (request.m is None or up_to < request.m):
                found[place] = min(up_to, found.get(place, up_to))
    return found


def _said_of_waiting(request: TableRequest, waiting: Mapping[tuple[str, Coder], int], *, n: int | None) -> list[str]:
    """Say which programs do not count because they were not executed, and which command does that."""
    if not executed_up_to(request.open()):
        unfinished = "the store holds candidates that no `difftrust execute` has finished"
        return [f"{unfinished}; run {request.execution(n)}"] if estimates_are_stale(request.open()) else []
    named = [
        f"{display_name(model)} on {benchmark} at t = {temperature:g}{f' from program {up_to + 1} on' if up_to else ''}"
        for (benchmark, (model, temperature)), up_to in waiting.items()
    ]
    return [f"left out, not executed on every task: {', '.join(named)}; run {request.execution(n)}"] if named else []


def inputs_of(pools: Iterable[Pool]) -> int | None:
    """Return on how many inputs the programs of these benchmarks were executed: of some task and program."""
    return max((int(pool.flat.n_inputs.max(initial=0)) for pool in pools), default=None) or None


def programs_of(pool: Pool, coder: Coder) -> int:
    """Return how many programs a coder has for some task."""
    return int(pool.of(coder).sample_index.max(initial=-1)) + 1


def _reach(pool: Pool, members: Members) -> int:
    """Return how many inputs all of these programs, and the references of their tasks, were executed on."""
    flat = pool.flat
    own = flat.reach[flat.first_row[members.task] + members.row].min(initial=MISSING)
    of_references = flat.reference_reach[members.task][flat.has_reference[members.task]].min(initial=MISSING)
    return int(min(own, of_references, flat.n_inputs[members.task].min(initial=MISSING)))


def chosen_coders(pool: Pool, request: TableRequest) -> Pool:
    """Return the pool of the coders asked for: their first m programs, where these met n inputs."""
    members = {}
    for coder, own in pool.members.items():
        is_asked = (not request.only or coder[0] in request.only) and request.wanted_temperature in (None, coder[1])
        if is_asked and (request.m is None or programs_of(pool, coder) >= request.m):
            first = own.first(request.m)
            if request.n is None or _reach(pool, first) >= request.n:
                members[coder] = first
    if len(members) == len(pool.members) and request.m is None:
        return pool
    there = {task for own in members.values() for task in own.task.tolist()}
    return replace(pool, members=members).without({t.task_id for i, t in enumerate(pool.tasks) if i not in there})


def is_shipped(store: Path) -> bool:
    """Tell whether a store is that of the shipped results, whose models are compared on the published tasks."""
    try:
        return store.resolve() == find_results().resolve()
    except NoBenchmark:
        return False


def range_of(values: pl.Series) -> str:
    """Return the values as ``10``, or as ``6 to 10`` where they differ."""
    low, high = values.min(), values.max()
    return str(low) if low == high else f"{low!s} to {high!s}"


def as_sequence(value: T | Sequence[T]) -> Sequence[T]:
    """Return several values as they are, and one as a sequence of one."""
    return value if isinstance(value, Sequence) else (value,)


def require_sizes(**sizes: object) -> None:
    """Refuse what is no number of programs or inputs; None and several numbers are allowed. Raises WrongUsage."""
    for name, value in sizes.items():
        for one in [value] if isinstance(value, str) or not isinstance(value, Sequence) else value:
            if one is not None and (not isinstance(one, Integral) or one < 1):
                raise WrongUsage(f"expected {name} to be a whole number of at least 1, got {one!r}; name another")


def require_known(what: str, name: str | None, there: Sequence[str]) -> str:
    """Return ``name`` if it is there. Raises WrongUsage that lists what is."""
    if name is not None and name not in there:
        raise WrongUsage(f"the store has no {what} {name!r}; it has: {', '.join(there)}")
    return name or ""


def benchmarks_of(store: Store) -> list[str]:
    """Return the benchmarks that a store holds results of. Raises NoStore if there are none."""
    names = pool_names(store)
    if not names:
        raise NoStore(f"{store.root} holds no results yet; run `difftrust execute --store {store.root}`")
    return names


def benchmark_with(store: Store, task_id: str) -> str:
    """Return the benchmark that has results of a task. Raises WrongUsage if none has, or several have."""
    names = benchmarks_of(store)
    holding = [name for name in names if any(task.task_id == task_id for task in load_pool(store, name).tasks)]
    if not holding:
        known = f"its benchmarks with results: {', '.join(names)}"
        raise WrongUsage(f"the store has no results of a task {task_id!r}; {known}; name a task of one, or execute it")
    if len(holding) > 1:
        raise WrongUsage(f"{' and '.join(holding)} have a task {task_id!r}; name one of them as the benchmark")
    return holding[0]


def record_of(kind: type[_Record], given: Mapping[str, Any], **more: Any) -> _Record:
    """Return a record of the values among ``given`` that it has by their names, and of ``more``."""
    named = {field.name for field in fields(kind)}
    return kind(**{name: value for name, value in given.items() if name in named} | more)
