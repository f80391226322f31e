"""The behaviours of a benchmark: compact tasks, who has which behaviour, and all of it as flat arrays.

Estimates need no more of an input than which behaviours agree on it. Inputs on which the same behaviours agree (under
both equalities) with outcomes of the same kinds are one *pattern*: a thousand inputs come to a few dozen. In the flat
arrays a *cell* is one behaviour's label on one pattern, a *column* one pattern of one task. Both, and rows, are
numbered through the benchmark, so that one pass counts them.
"""

import hashlib
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache, partial
from pathlib import Path
from threading import Lock
from typing import Any, Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from difftrust_core.base.files import FileState, file_state
from difftrust_core.base.records import AS_STORED, Coder, Kind, Load, Reading
from difftrust_core.datasets.audits import tasks_left_out
from difftrust_core.exceptions import BadStore, NoStore, WrongUsage
from difftrust_core.generation.prices import (
    Price,
    can_count_tokens,
    count_tokens,
    recorded_prices,
    recorded_prompt_tokens,
)
from difftrust_core.metrics.equality import EQUALITIES, Equality, numbered
from difftrust_core.store.store import SCHEMAS, Store

Labels = NDArray[np.uint16]
Ints = NDArray[np.int64]
Numbers = NDArray[np.int64] | NDArray[np.int32]
Kinds = NDArray[np.uint8]

_NUMBERS = ("task", "sample_index", "row", "prompt_tokens", "completion_tokens", "cost_nanodollars", "trimmed")
_LOADING: Final = Lock()  # who asks while another thread loads waits for what that one finds
MISSING: Final = 65_535
"""The label of a behaviour on an input that it was not executed on."""
NO_KIND: Final = 255
"""The kind of an outcome that is not there."""


@dataclass(frozen=True, kw_only=True, eq=False)
class CompactTask:
    """Behaviours of one task. Rows: behaviours. Columns: patterns, numbered as they appear among the inputs."""

    task_id: str
    pattern_of_input: NDArray[np.uint16]
    """(n,): so the first inputs use the first patterns."""
    labels: Mapping[str, Labels]
    """Equality -> (n_rows, n_patterns): equal in a column if the outcomes are; 0, 1, ... as they appear in it."""
    kinds: Kinds
    """(n_rows, n_patterns): ``records.Kind``."""
    reach: Ints
    """(n_rows,): each behaviour is known on the inputs 0..reach-1; beyond, labels are MISSING and kinds NO_KIND."""
    reference: int | None
    """The row of the reference's behaviour."""


def compress(
    task_id: str, labels: Mapping[str, Labels], kinds: Kinds, *, reach: Ints, reference: int | None
) -> CompactTask:
    """Return the compact form of (n_rows, n) matrices. Raises ValueError if their shapes differ."""
    if any(matrix.shape != kinds.shape for matrix in labels.values()) or reach.shape != kinds.shape[:1]:
        raise ValueError(f"labels and kinds must have one shape and reach its rows, got {kinds.shape}, {reach.shape}")
    stack = [*labels.values(), kinds.astype(np.uint16)]
    firsts, pattern_of_input = _distinct_columns(stack)
    canonical = [*(_by_appearance(matrix[:, firsts]) for matrix in stack[:-1]), stack[-1][:, firsts]]
    again, pattern_of_column = _distinct_columns(canonical)
    return CompactTask(
        task_id=task_id,
        pattern_of_input=pattern_of_column[pattern_of_input].astype(np.uint16),
        labels={equality: matrix[:, again] for equality, matrix in zip(labels, canonical, strict=False)},
        kinds=canonical[-1][:, again].astype(np.uint8),
        reach=reach,
        reference=reference,
    )


def _distinct_columns(matrices: list[Labels]) -> tuple[Ints, Ints]:
    """Return where each distinct column of the stacked matrices first appears, and which of them stands where."""
    columns = np.ascontiguousarray(np.concatenate(matrices).T)
    return _by_first(column.tobytes() for column in columns)


def _by_first(keys: Iterable[bytes]) -> tuple[Ints, Ints]:
    """Return where each distinct key first appears, and of each key its number in that order."""
    which = np.array(numbered(keys), dtype=np.int64)
    return np.unique(which, return_index=True)[1], which


def _by_appearance(labels: Labels) -> Labels:
    """Return the labels renumbered 0, 1, ... as they appear down each column; MISSING stays."""
    numbered = np.full(labels.shape, MISSING, dtype=np.uint16)
    for old, new in zip(labels.T, numbered.T, strict=True):
        known = old != MISSING
        _, first, which = np.unique(old[known], return_index=True, return_inverse=True)
        new[known] = first.argsort().argsort()[which]
    return numbered


@dataclass(frozen=True, kw_only=True, eq=False)
class Members:
    """Candidates, sorted by task and sample: arrays of one length. -1 stands for a number that is not known."""

    task: Numbers
    """Index of the task."""
    sample_index: Numbers
    row: Numbers
    """Row of its behaviour within its task."""
    prompt_tokens: Numbers
    completion_tokens: Numbers
    cost_nanodollars: Numbers
    cost_is_lower_bound: NDArray[np.bool_]
    """Whether the cost is that of the program's own tokens, of a model that bills its reasoning too."""
    nondeterministic: NDArray[np.bool_]
    trimmed: Numbers
    """1 where the program loads only without what follows its entry point, else 0."""

    def where(self, chosen: NDArray[np.bool_]) -> "Members":
        """Return the members ``chosen``."""
        return Members(**{name: values[chosen] for name, values in vars(self).items()})

    def first(self, m: int | None) -> "Members":
        """Return those with a sample index below m; no later one makes up for a missing one. None: all."""
        return self if m is None else self.where(self.sample_index < m)


@dataclass(frozen=True, kw_only=True, eq=False)
class Pool:
    """All behaviours recorded for one benchmark, under one equality, and which candidates have which."""

    benchmark: str
    equality: str
    tasks: tuple[CompactTask, ...]
    members: Mapping[Coder, Members]

    def of(self, coder: Coder) -> Members:
        """Return a coder's candidates. Raises WrongUsage naming the coders there are."""
        if coder not in self.members:
            known = ", ".join(f"{model} at {temperature}" for model, temperature in sorted(self.members))
            raise WrongUsage(f"{self.benchmark} has no candidates of {coder[0]} at {coder[1]}; there are: {known}")
        return self.members[coder]

    def without(self, task_ids: Collection[str]) -> "Pool":
        """Return the pool without these tasks."""
        kept = np.array([task.task_id not in task_ids for task in self.tasks], dtype=bool)
        if kept.all():
            return self
        number = np.cumsum(kept) - 1
        left = {coder: members.where(kept[members.task]) for coder, members in self.members.items()}
        return replace(
            self,
            tasks=tuple(task for task in self.tasks if task.task_id not in task_ids),
            members={coder: replace(own, task=number[own.task]) for coder, own in left.items()},
        )

    def tasks_of(self, coder: Coder, *, m: int | None = None) -> list[str]:
        """Return the tasks of which the first m candidates of a coder, or any, are here."""
        return [self.tasks[task].task_id for task in np.unique(self.of(coder).first(m).task).tolist()]

    def reach(self, coder: Coder) -> int:
        """Return on how many inputs all of a coder's programs were executed, on every one of its tasks."""
        members = self.of(coder)
        rows = self.flat.reach[self.flat.first_row[members.task] + members.row]
        return int(rows.min(initial=MISSING))

    @cached_property
    def flat(self) -> "Flat":
        """Return the tasks laid end to end."""
        return Flat(self.tasks, self.equality)


class Flat:
    """Many compact tasks as flat arrays."""

    def __init__(self, tasks: Sequence[CompactTask], equality: str):
        labels = [task.labels[equality] for task in tasks]
        rows = np.array([matrix.shape[0] for matrix in labels], dtype=np.int64)
        self.n_tasks = len(tasks)
        self.width: Ints = np.array([matrix.shape[1] for matrix in labels], dtype=np.int64)
        self.first_row, self.first_column = starts(rows), starts(self.width)
        self.cells = _joined([matrix.ravel() for matrix in labels], np.uint16)
        self.kinds = _joined([task.kinds.ravel() for task in tasks], np.uint8)
        self.reach = _joined([task.reach for task in tasks], np.int64)
        self.task_of_row = np.repeat(np.arange(len(tasks)), rows)
        self.task_of_column = np.repeat(np.arange(len(tasks)), self.width)
        within = np.arange(len(self.reach)) - self.first_row[self.task_of_row]
        self.first_cell = starts(rows * self.width)[self.task_of_row] + within * self.width[self.task_of_row]
        self.loads = self.kinds[self.first_cell] != Kind.LOAD_ERROR
        """Of each row, whether its program loads: what its outcome on the first input says."""
        self.n_labels = _joined(
            [np.where(m == MISSING, 0, m).max(axis=0).astype(np.int64) + 1 for m in labels], np.int64
        )
        self.has_reference = np.array([task.reference is not None for task in tasks])
        self.reference_label = _joined(
            [m[task.reference or 0 :][:1].ravel() for task, m in zip(tasks, labels, strict=True)], np.uint16
        )
        self.reference_reach = np.array(
            [0 if task.reference is None else task.reach[task.reference] for task in tasks], dtype=np.int64
        )
        self.n_inputs = np.array([len(task.pattern_of_input) for task in tasks], dtype=np.int64)
        self._patterns = [task.pattern_of_input for task in tasks]
        self._weights = lru_cache(maxsize=64)(self._count_inputs)
        self._alike = lru_cache(maxsize=None)(self._find_alike)
        self._classes = lru_cache(maxsize=64)(self._join_classes)

    def weights(self, n: Ints) -> tuple[Ints, Ints]:
        """Return, for the first ``n[task]`` inputs: the inputs of each column, and how many columns a task uses."""
        return self._weights(n.tobytes())

    def classes(self, width: Ints) -> Ints:
        """Return the first row that behaves as each row does on the first ``width[task]`` columns of its task."""
        return self._classes(width.tobytes())

    def _join_classes(self, spelled: bytes) -> Ints:
        width = np.frombuffer(spelled, dtype=np.int64)
        return _joined([self._alike(task, columns) for task, columns in enumerate(width.tolist())], np.int64)

    def _find_alike(self, task: int, width: int) -> Ints:
        begins = self.first_cell[self.task_of_row == task].tolist()
        firsts, which = _by_first(self.cells[start : start + width].tobytes() for start in begins)
        alike: Ints = self.first_row[task] + firsts[which]
        return alike

    def _count_inputs(self, spelled: bytes) -> tuple[Ints, Ints]:
        n = np.frombuffer(spelled, dtype=np.int64).tolist()
        own = [
            np.bincount(of[:k], minlength=w) for of, k, w in zip(self._patterns, n, self.width.tolist(), strict=True)
        ]
        weights = _joined(own, np.int64)
        return weights, np.bincount(self.task_of_column[weights > 0], minlength=self.n_tasks)


def ranges(begins: Ints, lengths: Ints) -> Ints:
    """Return begin, begin + 1, ... for each begin, as many as its length, one after the other."""
    ends = np.cumsum(lengths)
    return np.repeat(begins - ends + lengths, lengths) + np.arange(ends[-1] if len(ends) else 0)


def starts(lengths: Ints) -> Ints:
    """Return where each of several parts laid end to end begins."""
    return np.cumsum(lengths) - lengths


def _joined(arrays: Sequence[NDArray[Any]], kind: type[np.generic]) -> NDArray[Any]:
    return np.concatenate([np.zeros(0, dtype=kind), *arrays]).astype(kind, copy=False)


def strictly_loaded(pool: Pool) -> Pool:
    """Return the pool in which trimmed programs do not load: on every input they have one outcome of their own.

    Raises WrongUsage if it is not known which programs were trimmed.
    """
    if any((members.trimmed < 0).any() for members in pool.members.values()):
        raise WrongUsage(
            f"--load strict needs to know which programs were trimmed, and these results of {pool.benchmark} do not "
            "hold it; use a store that was executed, or --load trimmed"
        )
    concerned = {task for members in pool.members.values() for task in members.task[members.trimmed > 0].tolist()}
    tasks = tuple(_with_failure(task) if i in concerned else task for i, task in enumerate(pool.tasks))
    failure = np.array([len(task.kinds) for task in pool.tasks], dtype=np.int64)
    return replace(pool, tasks=tasks, members={coder: _moved(own, failure) for coder, own in pool.members.items()})


def _with_failure(task: CompactTask) -> CompactTask:
    """Return the task with one more row, the last: a program that does not load."""
    labels = {}
    for equality, matrix in task.labels.items():
        highest = np.where(matrix == MISSING, 0, matrix).max(axis=0, keepdims=True)
        labels[equality] = np.concatenate([matrix, highest + 1]).astype(matrix.dtype)
    kinds = np.concatenate([task.kinds, np.full((1, task.kinds.shape[1]), Kind.LOAD_ERROR, dtype=task.kinds.dtype)])
    return replace(task, labels=labels, kinds=kinds, reach=np.append(task.reach, len(task.pattern_of_input)))


def _moved(members: Members, failure: Ints) -> Members:
    """Return the members, those trimmed with the row of the failure."""
    return replace(members, row=np.where(members.trimmed > 0, failure[members.task], members.row))


_PUBLISHED = "gpt_4o"
RECORDED = {"prompt_tokens": pl.Int64, "completion_tokens": pl.Int64, "cost_usd": pl.Float64}
"""What a candidate may bring along from where it was sampled; null where it does not."""
_NANO_A_TOKEN = 1000
"""A dollar a million tokens is a thousand billionths of a dollar a token: whole numbers, exact sums."""


def member_costs(store: Store, benchmark: str, candidates: pl.DataFrame) -> pl.DataFrame:
    """Return the candidates with ``prompt_tokens``, ``completion_tokens`` and ``cost_nanodollars``.

    Tokens are those recorded, else those of the program text alone and of the task's prompt (``generation.prices``).
    The cost is the one recorded, else, of the model whose expenses are published, the tokens at the price of these,
    else null. What the others cost at list prices is computed where members are read, so that no store has to be made
    again when a price is added.
    """
    absent = [pl.lit(None, dtype=kind).alias(name) for name, kind in RECORDED.items() if name not in candidates.columns]
    prices = pl.DataFrame(
        [(name, price.prompt, price.completion) for name, price in recorded_prices().items() if name == _PUBLISHED],
        schema={"model": pl.String, "prompt_price": pl.Float64, "completion_price": pl.Float64},
        orient="row",
    )
    counted = (
        candidates.with_columns(absent)
        .join(_program_tokens(store, benchmark), on="program_id", how="left", maintain_order="left")
        .join(_prompt_tokens(store, benchmark), on="task_id", how="left", maintain_order="left")
        .join(prices, on="model", how="left", maintain_order="left")
        .with_columns(
            prompt_tokens=pl.coalesce("prompt_tokens", "counted_prompt"),
            completion_tokens=pl.coalesce("completion_tokens", pl.col("n_tokens").cast(pl.Int64)),
        )
    )
    at_price = _NANO_A_TOKEN * (
        pl.col("prompt_price") * pl.col("prompt_tokens") + pl.col("completion_price") * pl.col("completion_tokens")
    )
    recorded = (pl.col("cost_usd") * 1e9).round().cast(pl.Int64)
    return counted.with_columns(cost_nanodollars=pl.coalesce(recorded, at_price.round().cast(pl.Int64)))


def write_tokens(store: Store, benchmark: str) -> None:
    """Add to the table ``tokens`` the programs that are not in it yet: counting them takes a while."""
    new = _counted(store, benchmark, _known_tokens(store, benchmark))
    if not new.is_empty():
        digest = hashlib.blake2b("".join(new["program_id"]).encode(), digest_size=8).hexdigest()
        store.write("tokens", new, {"benchmark": benchmark}, f"tokens-{digest}")


def _program_tokens(store: Store, benchmark: str) -> pl.DataFrame:
    """Return (program_id, n_tokens): those of the table ``tokens``, and what is missing in it."""
    known = _known_tokens(store, benchmark)
    return pl.concat([known, _counted(store, benchmark, known)])


def _known_tokens(store: Store, benchmark: str) -> pl.DataFrame:
    return store.read("tokens", {"benchmark": benchmark}).select(SCHEMAS["tokens"].keys()).unique("program_id")


def _counted(store: Store, benchmark: str, known: pl.DataFrame) -> pl.DataFrame:
    programs = store.read("programs", {"benchmark": benchmark}).select("program_id", "code").unique("program_id")
    missing = programs.join(known, on="program_id", how="anti").sort("program_id")
    missing = missing if can_count_tokens() else missing.clear()
    counted = pl.Series(count_tokens(missing["code"].to_list()), dtype=pl.UInt32)
    return missing.select("program_id", n_tokens=counted)


def _prompt_tokens(store: Store, benchmark: str) -> pl.DataFrame:
    tasks = store.read_tasks(benchmark) if can_count_tokens() else ()
    counted = [(task.task_id, recorded_prompt_tokens(task)) for task in tasks]
    return pl.DataFrame(counted, schema={"task_id": pl.String, "counted_prompt": pl.Int64}, orient="row")


def compact_frames(tasks: Sequence[CompactTask]) -> dict[str, pl.DataFrame]:
    """Return the tables ``patterns`` and ``classes`` of these tasks, in their order."""
    patterns = [{"task_id": t.task_id, "pattern_of_input": t.pattern_of_input.tolist()} for t in tasks]
    classes = [
        {
            "task_id": t.task_id,
            "row": row,
            "reference": row == t.reference,
            "reach": int(t.reach[row]),
            **{equality: t.labels[equality][row].tolist() for equality in EQUALITIES},
            "kinds": t.kinds[row].tolist(),
        }
        for t in tasks
        for row in range(len(t.kinds))
    ]
    return {
        "patterns": pl.DataFrame(patterns, schema=SCHEMAS["patterns"]),
        "classes": pl.DataFrame(classes, schema=SCHEMAS["classes"]),
    }


def pool_of(
    read: Callable[[str], pl.DataFrame], benchmark: str, equality: str, *, reading: Reading = AS_STORED
) -> Pool:
    """Return the pool that the tables ``patterns``, ``classes`` and ``members`` of one benchmark hold.

    ``read``: returns one of them; none is held longer than it is needed. ``reading``: which of its tasks count, and
    which programs load. Raises WrongUsage if that is not known, BadStore if a task is there twice.
    """
    patterns = read("patterns").filter(~pl.col("task_id").is_in(tasks_left_out(benchmark, reading.references)))
    if twice := patterns["task_id"].filter(patterns["task_id"].is_duplicated()).to_list():
        raise BadStore(f"patterns of {benchmark}: expected each task once, found {twice[0]} twice; export them anew")
    members = _members_of(read("members"), patterns["task_id"])
    pool = Pool(benchmark=benchmark, equality=equality, tasks=_tasks(patterns, read("classes")), members=members)
    return strictly_loaded(pool) if reading.load == Load.STRICT else pool


def _tasks(patterns: pl.DataFrame, classes: pl.DataFrame) -> tuple[CompactTask, ...]:
    of = classes.sort("task_id", "row").partition_by("task_id", as_dict=True)
    named = zip(patterns["task_id"], patterns["pattern_of_input"], strict=True)
    return tuple(_task(task_id, pattern_of_input, of[task_id,]) for task_id, pattern_of_input in named)


def _members_of(rows: pl.DataFrame, task_ids: pl.Series) -> dict[Coder, Members]:
    """Return each coder's candidates for these tasks; joins, or a sort of all columns, take three times the memory."""
    models = rows["model"].unique().sort()
    for name, own, known in (("task", "task_id", task_ids), ("model", "model", models)):
        rows = rows.with_columns(rows[own].cast(pl.Enum(known), strict=False).to_physical().alias(name))
    rows = rows.drop("task_id", "benchmark", "validity", strict=False).drop_nulls("task")
    order = rows.select(pl.arg_sort_by("model", "temperature", "task", "sample_index")).to_series()
    columns: dict[str, Any] = {"nondeterministic": rows["nondeterministic"].gather(order).to_numpy()}
    columns |= {name: _narrow(rows[name].gather(order)) for name in _NUMBERS}
    keys = rows.select("model", "temperature")[order].with_row_index("begin")
    coders = keys.group_by("model", "temperature", maintain_order=True).agg(pl.col("begin").min(), pl.len())
    found, prices = {}, recorded_prices()
    for number, temperature, begin, length in coders.rows():
        part = {name: values[begin : begin + length] for name, values in columns.items()}
        found[models[number], temperature] = _members(part, prices.get(models[number]))
    return found


def _narrow(column: pl.Series) -> Numbers:
    """Return numbers, -1 where null, in half the room where they fit: a server keeps them for as long as it runs."""
    numbers: Ints = column.cast(pl.Int64).fill_null(-1).to_numpy()
    return numbers.astype(np.int32) if numbers.max(initial=0) <= np.iinfo(np.int32).max else numbers


def _task(task_id: str, pattern_of_input: pl.Series, rows: pl.DataFrame) -> CompactTask:
    """Return a task from its rows of ``classes``."""

    def matrix(name: str) -> NDArray[Any]:
        return rows[name].explode().to_numpy().reshape(rows.height, -1)

    references = rows.filter("reference")["row"].to_list()
    return CompactTask(
        task_id=task_id,
        pattern_of_input=pattern_of_input.to_numpy().astype(np.uint16),
        labels={equality: matrix(equality) for equality in EQUALITIES},
        kinds=matrix("kinds").astype(np.uint8),
        reach=rows["reach"].to_numpy().astype(np.int64),
        reference=references[0] if references else None,
    )


def _members(columns: dict[str, Any], price: Price | None) -> Members:
    """Return one coder's candidates; what is not known of their costs follows from their tokens at ``price``."""
    cost, prompt, completion = (columns[name] for name in ("cost_nanodollars", "prompt_tokens", "completion_tokens"))
    listed = (cost < 0) & (prompt >= 0) & (completion >= 0) & (price is not None)
    if price is not None:
        at_price = np.rint(_NANO_A_TOKEN * (price.prompt * prompt + price.completion * completion)).astype(np.int64)
        columns["cost_nanodollars"] = np.where(listed, at_price, cost)
    return Members(**columns, cost_is_lower_bound=listed & (price is not None and price.reasoning))


def load_pool(store: Store, benchmark: str, *, equality: str = Equality.PAPER) -> Pool:
    """Return the behaviours recorded for one benchmark, kept in memory while the store's files are the same.

    Raises NoStore if there are none, saying which command makes them or which benchmarks there are.
    """
    validity = store.settings().validity
    files = store.files("classes", {"benchmark": benchmark, "validity": validity})
    if not files:
        names = sorted(store.read("patterns")["benchmark"].unique())
        found = f"there are: {', '.join(names)}" if names else f"run `difftrust execute --store {store.root}`"
        raise NoStore(f"{store.root} holds no results for {benchmark} with validity {validity}; {found}")
    state = tuple(file_state(path) for path in files)
    with _LOADING:
        reading = replace(store.reading, inputs=validity)  # the same, named or not
        return _load_pools(store.root, benchmark, validity, reading, state)[equality]


@lru_cache(maxsize=8)
def _load_pools(
    root: Path, benchmark: str, validity: str, reading: Reading, written: tuple[FileState, ...]
) -> dict[str, Pool]:
    """Return equality -> pool: they share all that is read, so another equality is there at once."""
    store, where = Store(root), {"benchmark": benchmark, "validity": validity}
    first = pool_of(partial(store.read, partition=where), benchmark, EQUALITIES[0], reading=reading)
    return {equality: replace(first, equality=equality) for equality in EQUALITIES}


def pool_names(store: Store) -> list[str]:
    """Return the benchmarks that the store holds compact matrices of."""
    found = store.read("patterns", columns=["task_id"]).filter(validity=store.settings().validity)
    return sorted(found["benchmark"].unique())
