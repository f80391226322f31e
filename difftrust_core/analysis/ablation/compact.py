"""Compress a task's matrix: equal inputs once.

Estimates need no more of an input than which behaviours agree on it. Inputs on which the same behaviours agree (under
both equalities) with outcomes of the same kinds are one *pattern*: a thousand inputs come to a few dozen.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

Labels = NDArray[np.uint16]
Kinds = NDArray[np.uint8]
Ints = NDArray[np.int64]

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


def _distinct_columns(matrices: list[Labels]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return where each distinct column of the stacked matrices first appears, and which of them stands where."""
    columns = np.ascontiguousarray(np.concatenate(matrices).T)
    numbers: dict[bytes, int] = {}
    which = np.array([numbers.setdefault(column.tobytes(), len(numbers)) for column in columns], dtype=np.intp)
    firsts = np.unique(which, return_index=True)[1]
    return firsts, which


def _by_appearance(labels: Labels) -> Labels:
    """Return the labels renumbered 0, 1, ... as they appear down each column; MISSING stays."""
    order = labels.argsort(axis=0, kind="stable")
    ordered = np.take_along_axis(labels, order, axis=0)
    opens = np.ones(labels.shape, dtype=bool)
    opens[1:] = ordered[1:] != ordered[:-1]
    # The row that opens each group, carried down the group: groups follow each other, so a running maximum carries it.
    positions = np.maximum.accumulate(np.where(opens, np.arange(len(labels))[:, None], 0), axis=0)
    first = np.empty(labels.shape, dtype=np.intp)
    np.put_along_axis(first, order, np.take_along_axis(order, positions, axis=0), axis=0)
    leads = first == np.arange(len(labels))[:, None]
    leads &= labels != MISSING
    numbered: NDArray[Any] = np.take_along_axis(leads.cumsum(axis=0) - 1, first, axis=0)
    return np.where(labels == MISSING, MISSING, numbered).astype(np.uint16)
