"""The columns that tell some of a benchmark's behaviours apart: alike ones are one; and nothing else.

A benchmark's patterns tell all of its coders apart. For one coder most of them are alike, and counting needs each once.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from difftrust_core.ablation.compact import CompactTask, Ints


@dataclass(frozen=True, kw_only=True, eq=False)
class Columns:
    """Columns that stand for all; numbered through the benchmark, like those they stand for."""

    first: NDArray[np.int32]
    """Of each, the first of the columns that it stands for; ascending."""
    stands_in: NDArray[np.int32]
    """Of each column of the benchmark, which of these stands for it."""


def find_columns(tasks: Sequence[CompactTask], rows: Sequence[Ints], equality: str) -> Columns:
    """Return the columns that tell ``rows[task]`` and the task's reference apart, by label or kind."""
    first: list[int] = []
    stands_in: list[int] = []
    for task, own in zip(tasks, rows, strict=True):
        begin, spelled = len(stands_in), _spelled(task, own, equality)
        numbers: dict[bytes, int] = {}
        for place, column in enumerate(spelled, begin):
            number = numbers.setdefault(column, len(first))
            if number == len(first):
                first.append(place)
            stands_in.append(number)
    return Columns(first=np.array(first, dtype=np.int32), stands_in=np.array(stands_in, dtype=np.int32))


def _spelled(task: CompactTask, rows: Ints, equality: str) -> list[bytes]:
    """Return what each column of a task holds of these rows and the reference."""
    if task.reference is not None:
        rows = np.append(rows, task.reference)
    both = np.concatenate([task.labels[equality][rows], task.kinds[rows].astype(np.uint16)])
    written, width = np.ascontiguousarray(both.T).tobytes(), 2 * both.dtype.itemsize * len(rows)
    return [written[at * width : (at + 1) * width] for at in range(both.shape[1])]
