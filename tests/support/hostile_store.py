"""A store whose every text attacks who shows it, made by the real import and execution."""

from pathlib import Path

import polars as pl

from difftrust_core.base.task import Task
from difftrust_core.estimates.refresh import refresh_estimates
from difftrust_core.execution.execute import execute
from difftrust_core.store.store import Store
from tests.support.tasks import add_programs

SCRIPT = "<script>window.owned = 1</script>"
IMAGE = '<img src="x" onerror="window.owned = 1">'
MARKED = '<b data-hostile="1">fat</b> **bold** [link](javascript:window.owned=1) $\\frac{1}{2}$ :red[red] :smile:'
RIGHT_TO_LEFT = "abc\u202egpj.exe\u2066"
CONTROL = "\x00\x07\x1b[2J\x7f\u200b\ufeff"
LONG = 1_000_000
NAME = f"hostile/{IMAGE}{MARKED}{RIGHT_TO_LEFT}"
"""What the task is called after ``rename``; an import refuses such a name, so a stranger's store may hold it."""
BENCHMARK = f"{MARKED}{IMAGE}"
MODEL = f"{SCRIPT}{MARKED}"

_PLAIN = "hostile/one"
_COMMENT = f"# {SCRIPT}{IMAGE}{MARKED} {RIGHT_TO_LEFT}"
_TASK = Task(
    benchmark=BENCHMARK,
    task_id=_PLAIN,
    entry_point="f",
    signature=f"(x: int) -> str  # {MARKED}{IMAGE}",
    description=f"{MARKED}{SCRIPT}{IMAGE}{RIGHT_TO_LEFT}{CONTROL}\n" + "d" * LONG,
    seed_inputs=("(1,)", "(5,)"),
    reference="def f(x):\n    return 'right'\n",
)


def _returning(text: str) -> str:
    return f"{_COMMENT}\ndef f(x):\n    return {text!a}\n"


PROGRAMS = (
    _returning("right"),
    _returning(IMAGE),
    _returning(MARKED),
    _returning(RIGHT_TO_LEFT + CONTROL),
    f"{_COMMENT}\ndef f(x):\n    return 'L' * {LONG}\n",
    _returning("x") + f"#{'c' * LONG}\n",
    f"class Script(Exception): pass\nScript.__name__ = {SCRIPT!a}\ndef f(x):\n    raise Script({IMAGE!a})\n",
    "\x00" + RIGHT_TO_LEFT,
)


def make_hostile_store(root: Path) -> Store:
    """Return an executed store with one task and eight programs."""
    store = Store.create(root)
    add_programs(store, (_TASK, MODEL, PROGRAMS))
    execute(store, n=20, say=lambda line: None)
    refresh_estimates(store)
    _rename(store)
    return store


def _rename(store: Store) -> None:
    """Give the task its hostile name, as whoever hands a store on may do."""
    for path in sorted(store.root.rglob("*.parquet")):
        rows = pl.read_parquet(path, hive_partitioning=False)
        if "task_id" in rows.columns:
            rows.with_columns(pl.lit(NAME).alias("task_id")).write_parquet(path)
