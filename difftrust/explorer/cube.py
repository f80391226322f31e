"""Pack one benchmark's behaviours in whole numbers, small enough for a page that computes each setting by itself.

A task's *columns* are its patterns of inputs under one equality, its *rows* the behaviours; row 0 is the reference's
where there is one. An outcome is labelled by the first row that shows it, so that the reference's has the label 0 in
every column. A row is spelled as the row above that is most alike, and, a character a column: 0 where it has that one's
label, else its own label plus 1. Of what this holds error, incoherence and both detection probabilities follow for any
m, any recorded n, model and temperature, as ``estimates.measures`` defines them.
"""

import gzip
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, Final

import numpy as np
import polars as pl

from difftrust.shipped import PAPER_SETTING, load_published
from difftrust.tables.names import display_name
from difftrust.tables.request import is_shipped
from difftrust.tasks.argument_kinds import KINDS, kinds_of
from difftrust.tasks.descriptions import Description, load_descriptions
from difftrust.tasks.details import WRONG
from difftrust.tasks.find_texts import commands_for_texts
from difftrust.tasks.task_sentences import domain_in_words, spelled_database, spelled_text
from difftrust.text import cut, visible
from difftrust_core.base.records import Kind, Validity
from difftrust_core.base.task import Task
from difftrust_core.datasets.entries import shipped_domains
from difftrust_core.estimates.pool import MISSING, CompactTask, Ints, Labels, Pool, load_pool
from difftrust_core.metrics.equality import Equality
from difftrust_core.store.store import Store, partition_of

FIRST: Final = 48
"""The character of the number 0 in a packed text; 1 is the next one, and so on."""
ABSENT: Final = "!"
"""Stands where a behaviour was not executed, or a candidate is missing."""
INPUTS_IN_WORDS: Final[dict[str, str]] = {
    Validity.REFERENCE: "reference accepts",
    Validity.DOMAIN: "in the domain",
    Validity.TESTS: "the benchmark's tests",
    Validity.QUORUM: "half of the programs return",
    Validity.ALL: "all that were drawn",
}
EQUALITIES_IN_WORDS: Final[dict[str, str]] = {Equality.PAPER: "tolerant (0.1 %)", Equality.STRICT: "strict"}
_LINE, _LINES = 400, 60


def readings(store: Store) -> list[str]:
    """Return the input filters that a store holds results of, its own first."""
    found = {partition_of(path, "classes")["validity"] for path in store.files("classes")}
    own = store.settings().validity
    return sorted(map(str, found), key=lambda validity: (validity != own, validity))


def executed_on(store: Store) -> str:
    """Return the day on which the programs ran: as the store says, else when its newest results were written."""
    newest = max((path.stat().st_mtime for path in store.files("classes")), default=0.0)
    return store.settings().executed or f"{datetime.fromtimestamp(newest, tz=UTC):%Y-%m-%d}"


def make_cube(store: Store, benchmark: str, *, equality: str = Equality.PAPER, blind: bool = False) -> bytes:
    """Return one benchmark, as the store is read, as gzipped JSON: the same bytes for the same results.

    ``blind``: without what the reference says. Raises NoStore if there are no results of it.
    """
    said = json.dumps(
        cube_of(store, benchmark, equality=equality, blind=blind), ensure_ascii=False, separators=(",", ":")
    )
    return gzip.compress(said.encode("utf-8", "backslashreplace"), 9, mtime=0)


def cube_of(store: Store, benchmark: str, *, equality: str = Equality.PAPER, blind: bool = False) -> dict[str, Any]:
    """Return what ``make_cube`` packs; the shipped results with the published tasks alone, as every table has them."""
    pool = load_pool(store, benchmark, equality=equality)
    if is_shipped(store.root):
        pool = pool.without(set(load_published("excluded_tasks").filter(benchmark=benchmark)["task_id"]))
    models = sorted({model for model, _ in pool.members}, key=display_name)
    stops = input_stops(max(len(task.pattern_of_input) for task in pool.tasks))
    kinds = kinds_of(store, benchmark)
    validity = str(store.settings().validity)
    described = _by_task(store, "tasks", {"benchmark": benchmark})
    where = {"benchmark": benchmark, "validity": validity}
    in_words = load_descriptions().get(benchmark, {})
    telling = _by_task(store, "disagreements", {**where, "equality": equality})
    smallest = _by_task(store, "smallest", where)

    def pack(task: CompactTask) -> tuple[dict[int, int], dict[str, Any]]:
        """Return the place of each row, and the task: its matrices are let go before the next one's are made."""
        one, task_id = _Packed(task, pool.equality, next(iter(described(task.task_id)), {}), stops), task.task_id
        return one.place, {
            "id": task_id,
            **_in_words(in_words.get(task_id)),
            **one.matrix(),
            "weights": one.weights(stops),
            "domain": visible(domain_in_words(shipped_domains(benchmark).get(task_id))),
            "kinds": [kind for kind in KINDS if kind in kinds.get(task_id, ())],
            "telling": one.telling(telling(task_id)),
            "smallest": one.smallest(smallest(task_id), equality),
        }

    places, tasks = zip(*(pack(replace(task, reference=None) if blind else task) for task in pool.tasks), strict=True)
    return {
        "benchmark": benchmark,
        "inputs": validity,
        "inputs_in_words": INPUTS_IN_WORDS.get(validity, validity),
        "is_inside": validity in (Validity.DOMAIN, Validity.TESTS),
        "usual": {"model": PAPER_SETTING.model, **{k: getattr(PAPER_SETTING, k) for k in ("m", "n", "temperature")}},
        "models": [{"id": model, "name": visible(display_name(model))} for model in models],
        "stops": stops,
        "kinds": list(KINDS),
        "missing": list(commands_for_texts(benchmark)) if not store.holds("programs") else [],
        "coders": [
            {"model": models.index(model), "temperature": at, "rows": _samples(pool, (model, at), places)}
            for model, at in sorted(pool.members)
        ],
        "tasks": list(tasks),
    }  # fmt: skip


def _in_words(description: Description | None) -> dict[str, str]:
    if description is None:
        return {}
    return {"signature": visible(description.signature), "sentence": visible(description.sentence)}


def input_stops(most: int) -> list[int]:
    """Return the stops of the slider of inputs: 1, 2, 5, 10, ... and all of them."""
    stops = [a * 10**k for k in range(len(str(most))) for a in (1, 2, 5)]
    return sorted({*(stop for stop in stops if stop <= most), most})


def _by_task(store: Store, table: str, where: dict[str, str]) -> Callable[[str], list[dict[str, Any]]]:
    """Return what returns a task's rows of a table; they are kept as columns, which take less memory."""
    read = store.read(table, where) if store.holds(table) else pl.DataFrame(schema={"task_id": pl.String})
    found = read.partition_by("task_id", as_dict=True, maintain_order=True)
    return lambda task_id: found.get((task_id,), read.clear()).rows(named=True)


def _samples(pool: Pool, coder: tuple[str, float], places: Sequence[Mapping[int, int]]) -> list[str]:
    """Return of each task the row of each of a coder's candidates, by its sample index; ``places``: row -> place."""
    own = pool.of(coder)
    found: list[dict[int, int]] = [{} for _ in places]
    for task, index, row in zip(own.task.tolist(), own.sample_index.tolist(), own.row.tolist(), strict=True):
        found[task][index] = row
    return [
        "".join(chr(FIRST + place[rows[i]]) if i in rows else ABSENT for i in range(max(rows, default=-1) + 1))
        for place, rows in zip(places, found, strict=True)
    ]


class _Packed:
    """One task with rows and columns in an order in which they shrink well, and columns that are equal merged.

    Columns stand by the stop at which an input first needs them, so that the first n inputs need the first columns.
    """

    def __init__(self, task: CompactTask, equality: str, described: Mapping[str, Any], stops: Sequence[int]):
        self.task, self._described, self._raw = task, described, task.labels[equality]
        rows = sorted(range(len(self._raw)), key=lambda row: (row != task.reference, self._raw[row].tolist(), row))
        self.place = {row: place for place, row in enumerate(rows)}
        self._rows, self._renamed = rows, _by_first(self._raw[rows]).T
        spelled = _spelled(self._renamed)
        patterns, firsts = np.unique(task.pattern_of_input, return_index=True)
        stop = np.full(len(spelled), len(stops))
        stop[patterns] = np.searchsorted(stops, firsts, side="right")
        order = sorted(range(len(spelled)), key=lambda pattern: (stop[pattern], spelled[pattern]))
        number = {column: at for at, column in enumerate(dict.fromkeys(spelled[pattern] for pattern in order))}
        self._column_of = np.array([number[column] for column in spelled])
        self._labels = self._renamed[np.unique(self._column_of, return_index=True)[1]].T

    def matrix(self) -> dict[str, Any]:
        """Return the rows, and what else counts of them: how far each was executed, and which do not load."""
        n = len(self.task.pattern_of_input)
        reach = [int(self.task.reach[row]) for row in self._rows]
        return {
            "rows": _by_likeness(self._labels),
            "reach": reach[0] if len(set(reach)) == 1 else reach,
            "n": n,
            "has_reference": self.task.reference is not None,
            "checker": bool(json.loads(self._described.get("relation") or "{}").get("accept")),
            "failed": [place for place, row in enumerate(self._rows) if self.task.kinds[row, 0] == Kind.LOAD_ERROR],
        }

    def weights(self, stops: Sequence[int]) -> list[list[int]]:
        """Return how many of the inputs since the stop before are of each column; shorter where no later one is met."""
        columns = self._column_of[self.task.pattern_of_input]
        ends = [stop for stop in stops if stop <= len(columns)]
        return [np.bincount(some).tolist() for some in np.split(columns, ends)[: len(ends)]]

    def _spell(self, arguments: str) -> str:
        """Return an input as people read it: a script's text, a database a line a row, else as it is."""
        spell = {"sql": spelled_database, "stdin": spelled_text}.get(self._language, str)
        return _safe(spell(arguments))

    def _outcome(self, kind: str | None, text: str | None) -> str:
        is_text = self._language == "stdin" and kind == "value"
        return _safe(spelled_text(text or "") if is_text else text or "")

    @property
    def _language(self) -> str:
        return self._described.get("language") or Task.language

    def telling(self, rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
        """Return the inputs of which the store knows what was done on them: index, column, arguments, outcomes."""
        found: dict[int, dict[str, Any]] = {}
        for row in rows:
            index = row["input_index"]
            pattern = int(self.task.pattern_of_input[index])
            labels = self._new_labels(pattern)
            if index not in found:
                column, arguments = int(self._column_of[pattern]), self._spell(row["arguments"])
                found[index] = {"index": index, "column": column, "arguments": arguments, "outcomes": []}
            if row["label"] in labels:
                found[index]["outcomes"].append(
                    [labels[row["label"]], row["kind"], self._outcome(row["kind"], row["text"])]
                )
        return list(found.values())

    def _new_labels(self, pattern: int) -> dict[int, int]:
        """Return the label as stored -> the label here, of one pattern."""
        stored = self._raw[self._rows, pattern].tolist()
        here = self._renamed[pattern].tolist()
        return {old: new for old, new in zip(stored, here, strict=True) if new >= 0}

    def smallest(self, rows: Sequence[dict[str, Any]], equality: str) -> list[dict[str, Any]]:
        """Return the smallest inputs found: which two rows differ on each (-1: the reference), and what both do."""
        return [
            {
                "kind": row["kind"],
                "rows": [self.place[row["first"]], -1 if row["second"] is None else self.place[row["second"]]],
                "arguments": self._spell(row["arguments"]),
                "outcomes": [
                    [row[f"{side}_kind"], self._outcome(row[f"{side}_kind"], row[f"{side}_text"])]
                    for side in ("first", "second")
                ],
                "place": row["place"],
                "is_smallest": row["is_smallest"],
            }
            for row in rows
            if row["equality"] in (equality, Equality.PAPER)
            and not (row["kind"] == WRONG and self.task.reference is None)
        ]


def _spelled(labels: Ints) -> list[str]:
    """Return each row of a matrix as a text, a character a label."""
    characters = np.where(labels < 0, ord(ABSENT), labels + FIRST).astype("<u4")
    text, width = characters.tobytes().decode("utf-32-le"), labels.shape[1]
    return [text[start : start + width] for start in range(0, labels.size, width)]


def _by_likeness(labels: Ints) -> list[str]:
    """Return each row as a text: the row above that is most alike, and what is not as there."""
    alike = [int((labels[:row] != own).sum(axis=1).argmin()) if row else 0 for row, own in enumerate(labels)]
    changes = np.where(labels < 0, labels, np.where(labels == labels[alike], 0, labels + 1))
    return [chr(FIRST + row) + text for row, text in zip(alike, _spelled(changes), strict=True)]


def _by_first(labels: Labels) -> Ints:
    """Return each outcome of a column as the first row that has it; -1 where it is unknown."""
    found = np.empty(labels.shape, np.int64)
    for column in range(labels.shape[1]):
        _, first, which = np.unique(labels[:, column], return_index=True, return_inverse=True)
        found[:, column] = first[which]
    return np.where(labels == MISSING, -1, found)


def _safe(text: str) -> str:
    return visible(cut(text, line=_LINE, lines=_LINES))
