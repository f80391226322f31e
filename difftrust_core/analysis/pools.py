"""Read and write compact matrices as tables of a store, with what each candidate cost."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from difftrust_core.analysis.ablation.compact import CompactTask
from difftrust_core.analysis.ablation.loading import strictly_loaded
from difftrust_core.analysis.ablation.pool import Members, Pool
from difftrust_core.base.files import FileState, file_state
from difftrust_core.base.records import AS_STORED, Load, Reading
from difftrust_core.datasets.audits import tasks_left_out
from difftrust_core.datasets.published import PAPER_SETTING
from difftrust_core.exceptions import NoStore
from difftrust_core.generation.prices import Price, count_tokens, recorded_prices, recorded_prompt_tokens
from difftrust_core.metrics.equality import EQUALITIES, Equality
from difftrust_core.store.store import SCHEMAS, Store

_PUBLISHED = PAPER_SETTING.model
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
    counted = pl.Series(count_tokens(missing["code"].to_list()), dtype=pl.UInt32)
    return missing.select("program_id", n_tokens=counted)


def _prompt_tokens(store: Store, benchmark: str) -> pl.DataFrame:
    counted = [(task.task_id, recorded_prompt_tokens(task)) for task in store.read_tasks(benchmark)]
    return pl.DataFrame(counted, schema={"task_id": pl.String, "counted_prompt": pl.Int64}, orient="row")


_NUMBERS = ("task", "sample_index", "row", "prompt_tokens", "completion_tokens", "cost_nanodollars")


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


def pool_of(frames: Mapping[str, pl.DataFrame], benchmark: str, equality: str, *, reading: Reading = AS_STORED) -> Pool:
    """Return the pool that the tables ``patterns``, ``classes`` and ``members`` of one benchmark hold.

    ``reading``: which of its tasks count, and which programs load. Raises WrongUsage if that is not known.
    """
    left_out = tasks_left_out(benchmark, reading.references)
    classes = _Classes.of(frames["classes"])
    tasks = [
        classes.task(str(task_id), np.array(patterns, dtype=np.uint16))
        for task_id, patterns in frames["patterns"].select("task_id", "pattern_of_input").iter_rows()
        if task_id not in left_out
    ]
    numbers = pl.DataFrame({"task_id": [t.task_id for t in tasks], "task": range(len(tasks))})
    members = frames["members"].join(numbers, on="task_id").sort("model", "temperature", "task", "sample_index")
    pool = Pool(
        benchmark=benchmark,
        equality=equality,
        tasks=tuple(tasks),
        members={
            (str(model), float(temperature)): _members(part, recorded_prices().get(str(model)))
            for (model, temperature), part in members.group_by("model", "temperature", maintain_order=True)
        },
    )
    return strictly_loaded(pool) if reading.load == Load.STRICT else pool


@dataclass(frozen=True, kw_only=True)
class _Classes:
    """The table ``classes`` as arrays, the rows of each task below one another: hundreds of tasks are cut from it."""

    rows: Mapping[str, tuple[int, int]]
    """Task -> its first row and the row after its last."""
    cells: NDArray[np.int64]
    """Row -> where its cells begin in ``flat``; one more, the end of all."""
    flat: Mapping[str, NDArray[Any]]
    """Column of lists -> the cells of all rows."""
    reference: NDArray[np.bool_]
    number: NDArray[np.int64]
    """Row -> its number in its task."""
    reach: NDArray[np.int64]

    @classmethod
    def of(cls, classes: pl.DataFrame) -> "_Classes":
        rows = classes.sort("task_id", "row")
        sizes = rows.group_by("task_id", maintain_order=True).len()
        ends = sizes["len"].cum_sum().to_list()
        widths = rows[EQUALITIES[0]].list.len().to_numpy().astype(np.int64)
        return cls(
            rows=dict(zip(sizes["task_id"], zip([0, *ends[:-1]], ends, strict=True), strict=True)),
            cells=np.concatenate([[0], np.cumsum(widths)]),
            flat={name: rows[name].explode().to_numpy() for name in (*EQUALITIES, "kinds")},
            reference=rows["reference"].to_numpy(),
            number=rows["row"].to_numpy().astype(np.int64),
            reach=rows["reach"].to_numpy().astype(np.int64),
        )

    def task(self, task_id: str, pattern_of_input: NDArray[np.uint16]) -> CompactTask:
        first, end = self.rows[task_id]
        width = int(pattern_of_input.max()) + 1

        def matrix(name: str) -> NDArray[np.uint16]:
            return self.flat[name][self.cells[first] : self.cells[end]].reshape(end - first, width)

        references = self.number[first:end][self.reference[first:end]].tolist()
        return CompactTask(
            task_id=task_id,
            pattern_of_input=pattern_of_input,
            labels={equality: matrix(equality) for equality in EQUALITIES},
            kinds=matrix("kinds").astype(np.uint8),
            reach=self.reach[first:end],
            reference=references[0] if references else None,
        )


def _members(rows: pl.DataFrame, price: Price | None) -> Members:
    """Return one coder's candidates; what is not known of their costs follows from their tokens at ``price``."""
    numbers = {name: rows[name].cast(pl.Int64).fill_null(-1).to_numpy() for name in _NUMBERS}
    numbers["trimmed"] = rows["trimmed"].cast(pl.Int64).fill_null(-1).to_numpy()
    cost, prompt, completion = (numbers[name] for name in ("cost_nanodollars", "prompt_tokens", "completion_tokens"))
    listed = (cost < 0) & (prompt >= 0) & (completion >= 0) & (price is not None)
    if price is not None:
        at_price = np.rint(_NANO_A_TOKEN * (price.prompt * prompt + price.completion * completion)).astype(np.int64)
        numbers["cost_nanodollars"] = np.where(listed, at_price, cost)
    is_lower_bound = listed & (price is not None and price.reasoning)
    nondeterministic = rows["nondeterministic"].to_numpy()
    return Members(**numbers, cost_is_lower_bound=is_lower_bound, nondeterministic=nondeterministic)


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
    return _load_pools(store.root, benchmark, validity, store.reading, state)[equality]


@lru_cache(maxsize=8)
def _load_pools(
    root: Path, benchmark: str, validity: str, reading: Reading, written: tuple[FileState, ...]
) -> dict[str, Pool]:
    """Return equality -> pool: they share all that is read, so another equality is there at once."""
    store, where = Store(root), {"benchmark": benchmark, "validity": validity}
    read = {t: store.read(t, where) for t in ("patterns", "classes", "members")}
    first = pool_of(read, benchmark, EQUALITIES[0], reading=reading)
    return {equality: replace(first, equality=equality) for equality in EQUALITIES}


def pool_names(store: Store) -> list[str]:
    """Return the benchmarks that the store holds compact matrices of."""
    found = store.read("patterns", columns=["task_id"]).filter(validity=store.settings().validity)
    return sorted(found["benchmark"].unique())
