"""Results that show themselves: a table or a figure with its frame, in a notebook, in a terminal, in a file."""

import html
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

import polars as pl

from difftrust.tables.names import display_name
from difftrust.tables.page_table import page_table
from difftrust.tables.render import for_reading, render
from difftrust_core.base.task import Task
from difftrust_core.exceptions import WrongUsage

MAX_ROWS: Final = 40
"""Rows of a table that are shown; ``frame`` holds all of them."""
PAGE_WIDTH: Final = 900
"""Pixels of a notebook's page; a wider picture is shown smaller."""


@dataclass(frozen=True, eq=False, repr=False)
class Table:
    """A table: ``frame`` holds it exactly, model ids and undefined values included; ``notes`` what has to be said.

    Shown, x, x_low and x_high are one column ``0.123 [0.101, 0.145]``, models have the names their makers give them,
    and of a long table the first 40 rows are printed. In a notebook shares are percent and headings are words.
    """

    frame: pl.DataFrame
    notes: tuple[str, ...] = field(default=(), kw_only=True)

    def filter(self, *predicates: Any, **equal: Any) -> "Table":
        """Return the table with fewer rows: arguments as of ``polars.DataFrame.filter``."""
        return replace(self, frame=self.frame.filter(*predicates, **equal))

    def differences(self) -> "Table":
        """Return each cell of a table made with ``published`` and ``intervals`` beside the published value.

        Columns: those that name the cell, measure, ours with its interval, published, difference, and whether that is
        more than half the interval; the largest first.
        """
        from difftrust.tables.interval_columns import differences

        return Table(differences(self.frame))

    def __len__(self) -> int:
        """Return the number of rows."""
        return self.frame.height

    def __repr__(self) -> str:
        """Return the table as text, its notes below it."""
        return "\n".join(
            (render(self._named(for_reading(self.frame.head(MAX_ROWS))), "text"), *self._left_out, *self.notes)
        )

    def _repr_html_(self) -> str:
        made = page_table(self._named(self.frame.head(MAX_ROWS)))
        return made + "".join(f"\n<p>{html.escape(line)}</p>" for line in self._left_out)

    @staticmethod
    def _named(shown: pl.DataFrame) -> pl.DataFrame:
        """Return ``shown`` with the names that makers give their models."""
        for column in (name for name in ("model", "models") if shown.schema.get(name) == pl.String):
            names = {ids: " + ".join(map(display_name, ids.split("+"))) for ids in shown[column].unique() if ids}
            shown = shown.with_columns(pl.col(column).replace(names))
        return shown

    @property
    def _left_out(self) -> tuple[str, ...]:
        more = self.frame.height - MAX_ROWS
        return (f"... {more:,} more rows in .frame",) if more > 0 else ()


@dataclass(frozen=True, eq=False, repr=False)
class Benchmark(Table):
    """The tasks of a benchmark; ``frame`` has a row a task."""

    tasks: tuple[Task, ...] = field(default=(), kw_only=True)

    def __iter__(self) -> Iterator[Task]:
        """Iterate over the tasks."""
        return iter(self.tasks)

    def __getitem__(self, task_id: str) -> Task:
        """Return a task by its id. Raises WrongUsage for another."""
        for task in self.tasks:
            if task.task_id == task_id:
                return task
        raise WrongUsage(
            f"expected a task of these {len(self.tasks)}, such as {self.tasks[0].task_id}, got {task_id!r}"
        )


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Figure:
    """A chart (``chart``, of Altair), the table that it draws (``frame``), and what has to be said with them.

    In a notebook it shows itself as a picture that needs no network; ``chart`` alone shows it with tooltips.
    """

    chart: Any
    frame: pl.DataFrame
    notes: tuple[str, ...] = ()

    def save(self, path: str | Path) -> None:
        """Write the figure as .svg, .png, or .html, which opens offline with tooltips."""
        from difftrust.figures.chart_file import save_chart

        save_chart(self.chart, Path(path))

    @property
    def table(self) -> Table:
        """Return what is drawn, as a table."""
        return Table(self.frame, notes=self.notes)

    def __repr__(self) -> str:
        """Return what a terminal can show of a figure: its table."""
        return f"figure of this table; .save('figure.svg') draws it\n{self.table!r}"

    def _repr_mimebundle_(self, **_: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        from difftrust.figures.chart_file import PIXELS_PER_POINT, chart_bytes

        png = chart_bytes(self.chart, ".png")
        sides = [side // PIXELS_PER_POINT for side in struct.unpack(">II", png[16:24])]
        width, height = (round(side * min(1.0, PAGE_WIDTH / sides[0])) for side in sides)
        return {"image/png": png, "text/plain": "a picture"}, {"image/png": {"width": width, "height": height}}


def counted(*notes: str, **counts: Any) -> Table:
    """Return a table of one row: what a step did."""
    return Table(pl.DataFrame([counts]), notes=notes)


def listed(tasks: Sequence[Task]) -> Benchmark:
    """Return tasks as a benchmark that shows itself."""
    rows = [
        {
            "task_id": task.task_id,
            "entry_point": task.entry_point,
            "signature": task.signature,
            "n_seed_inputs": len(task.seed_inputs),
            "has_reference": bool(task.reference),
        }
        for task in tasks
    ]
    return Benchmark(pl.DataFrame(rows), tasks=tuple(tasks))
