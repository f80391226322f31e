"""What each number of programs and of inputs would have found and cost, from what a store holds; and nothing else."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import polars as pl

from difftrust_core.benchmark import AS_PUBLISHED, Detection, detection_rate
from difftrust_core.exceptions import NoStore
from difftrust_core.pipeline.estimation import compute_estimates
from difftrust_core.planning import GRID
from difftrust_core.store import Store

_CHARACTERS_PER_TOKEN: Final = 4


@dataclass(frozen=True, kw_only=True)
class Coder:
    """Whose recorded programs are looked at; None where the store holds only one."""

    benchmark: str | None = None
    model: str | None = None
    temperature: float | None = None

    def of(self, frame: pl.DataFrame) -> pl.DataFrame:
        """Return the rows of this coder. Raises NoStore if there are none, or if it is not one coder."""
        for name in ("benchmark", "model", "temperature"):
            value = getattr(self, name)
            if value is not None:
                frame = frame.filter(pl.col(name) == value)
            found = sorted(frame[name].unique().to_list())
            if len(found) != 1:
                several = ", ".join(map(str, found)) or "none"
                raise NoStore(f"a plan is made from one {name}, the store holds {several}; choose with --{name}")
        return frame


@dataclass(frozen=True, kw_only=True)
class Prices:
    """US dollars per million tokens."""

    prompt: float = 5.0
    completion: float = 15.0


def detection_grid(
    store: Store,
    coder: Coder,
    *,
    ms: Sequence[int],
    ns: Sequence[int],
    prices: Prices,
    equality: str = "paper",
    detection: Detection = AS_PUBLISHED,
    n_jobs: int = 1,
) -> pl.DataFrame:
    """Return the detection rate and the price of one task for each m and n: the columns of ``planning.GRID``.

    Executes nothing. Raises NoStore if the store holds no such coder, WrongUsage if n exceeds what was executed.
    """
    costs = {m: cost_per_task(store, coder, m=m, prices=prices) for m in ms}
    rows = []
    for n in ns:
        for m in ms:
            estimates = coder.of(compute_estimates(store, n=n, m=m, n_jobs=n_jobs)[equality])
            rows.append((m, n, detection_rate(estimates, detection=detection), costs[m]))
    schema = dict(zip(GRID, (pl.Int64(), pl.Int64(), pl.Float64(), pl.Float64()), strict=True))
    return pl.DataFrame(rows, schema=schema, orient="row")


def executed_inputs(store: Store) -> int:
    """Return how many inputs every executed task has: the least over tasks. Raises NoStore if none is executed."""
    inputs = store.read("inputs", {})
    inputs = inputs.filter(pl.col("validity") == store.settings().validity)
    if inputs.is_empty():
        raise NoStore(f"the store {store.root} holds no execution; run `difftrust execute --store {store.root}`")
    return int(inputs.group_by("benchmark", "task_id").len()["len"].min())  # type: ignore[arg-type]


def cost_per_task(store: Store, coder: Coder, *, m: int, prices: Prices) -> float:
    """Return about what m programs for one task cost, in US dollars: a mean over the coder's tasks.

    Every program is asked for by itself. Tokens are counted as characters / 4 of the prompt (or of signature and
    description) and of the program.
    """
    candidates = coder.of(store.read("candidates")).filter(pl.col("sample_index") < m)
    code = store.read("programs").unique(["benchmark", "task_id", "program_id"])
    asked = pl.when(pl.col("prompt").str.len_chars() > 0).then("prompt").otherwise(pl.col("signature") + "description")
    prompts = store.read("tasks").select("benchmark", "task_id", prompt_length=asked.str.len_chars())
    lengths = candidates.join(
        code.select("benchmark", "task_id", "program_id", code_length=pl.col("code").str.len_chars()),
        on=["benchmark", "task_id", "program_id"],
    ).join(prompts, on=["benchmark", "task_id"])
    characters = prices.prompt * pl.col("prompt_length") + prices.completion * pl.col("code_length")
    total = lengths.select(characters.sum()).item() / _CHARACTERS_PER_TOKEN / 1e6
    return float(total) / candidates["task_id"].n_unique()
