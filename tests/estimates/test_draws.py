"""How many draws the inputs of a task took, and which of them are unchanged seed inputs."""

from pathlib import Path

import polars as pl

from difftrust_core.estimates.behaviours import count_draws
from difftrust_core.languages.language import MAX_ATTEMPTS
from difftrust_core.store.store import SCHEMAS, Store


def test_attempts_beyond_the_last_are_unchanged_seeds_taken_after_as_many_draws(tmp_path: Path) -> None:
    store = Store.create(tmp_path / "store")
    rows = [(1, "(1,)", 0), (MAX_ATTEMPTS, "(2,)", 0), (MAX_ATTEMPTS + 1, "(2,)", 1)]
    inputs = pl.DataFrame(
        [("t", i, arguments, attempts, repeats) for i, (attempts, arguments, repeats) in enumerate(rows)],
        schema=SCHEMAS["inputs"],
        orient="row",
    )
    store.write("inputs", inputs, {"benchmark": "b", "validity": store.settings().validity, "start": "000000"}, "t")
    (counted,) = count_draws(store, "b").iter_rows(named=True)
    assert (counted["n"], counted["n_distinct"], counted["n_repeats"]) == (3, 2, 1)
    assert (counted["n_unchanged"], counted["n_draws"]) == (1, 1 + MAX_ATTEMPTS + MAX_ATTEMPTS)
