"""What each candidate cost: recorded where it was sampled, else counted from its text and priced."""

import hashlib

import polars as pl

from difftrust_core.coders.tokens import count_tokens, recorded_prompt_tokens
from difftrust_core.corpora.published import load_published
from difftrust_core.pipeline.stored_tasks import load_tasks
from difftrust_core.store import SCHEMAS, Store

RECORDED = {"prompt_tokens": pl.Int64, "completion_tokens": pl.Int64, "cost_usd": pl.Float64}
"""What a candidate may bring along from where it was sampled; null where it does not."""


def member_costs(store: Store, benchmark: str, candidates: pl.DataFrame) -> pl.DataFrame:
    """Return the candidates with ``prompt_tokens``, ``completion_tokens`` and ``cost_nanodollars``.

    Tokens are those recorded, else those of the program text alone and of the task's prompt (``coders.tokens``).
    The cost is the one recorded, else the tokens at the published price of the model, null where it has none.
    """
    absent = [pl.lit(None, dtype=kind).alias(name) for name, kind in RECORDED.items() if name not in candidates.columns]
    prices = load_published("prices").rename(
        {"prompt_usd_per_million_tokens": "prompt_price", "completion_usd_per_million_tokens": "completion_price"}
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
    # A dollar a million tokens is a thousand billionths of a dollar a token: whole numbers, exact sums.
    at_price = 1000 * (
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
    counted = [(task.task_id, recorded_prompt_tokens(task)) for task in load_tasks(store, benchmark)]
    return pl.DataFrame(counted, schema={"task_id": pl.String, "counted_prompt": pl.Int64}, orient="row")
