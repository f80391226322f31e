"""Whether the rows of a store are what they must be: each chunk of a task, then every table as a whole."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
import polars as pl

from difftrust_core.base.records import Kind
from difftrust_core.exceptions import BadStore, NoStore, WrongUsage
from difftrust_core.languages.language import MAX_ATTEMPTS, program_id
from difftrust_core.languages.registry import load_language
from difftrust_core.store.schemas import (
    CHUNK_TABLES,
    KEYS,
    KIND_COUNTS,
    MAY_BE_MISSING,
    MEASURED,
    PARTITIONS,
    REFERENCE,
    SHARES,
)  # fmt: skip
from difftrust_core.store.store import Store, partition_of
from difftrust_core.store.tree_ids import FORMER, with_language

_ROUNDING = 1e-9
_CHECKED = 1_000
_MAY_BE_NULL = {
    **{table: set(names) for table, names in MAY_BE_MISSING.items()},
    "tasks": {"reference", *MAY_BE_MISSING["tasks"]},
    "executions": set(MEASURED),
    "estimates": {"detected", *SHARES, *MAY_BE_MISSING["estimates"]},
    "smallest": {"second", "second_kind", "second_text", "place"},
    "members": {"prompt_tokens", "completion_tokens", "cost_nanodollars", *MAY_BE_MISSING["members"]},
}
_TASK = ["benchmark", "task_id"]
_WHERE = ["benchmark", "validity", "task_id"]
_CODER = ["benchmark", "validity", "model", "temperature", "task_id"]
_Flaws = Iterator[str]
_Holds = Iterator[tuple[str, bool]]
"""What is expected and found otherwise, and whether it holds; those after one that does not hold are not asked."""
_Read = Callable[[str], pl.DataFrame]
_KINDS = {kind.name.lower() for kind in Kind}
_Frames = dict[str, pl.DataFrame]


@dataclass(frozen=True, kw_only=True)
class Finding:
    """One thing that is not as it must be."""

    path: str
    """The file, or the folder of a partition, below the store's root."""
    what: str
    """What was expected, and what was found."""
    table: str = ""
    """The table that it belongs to; empty: none."""
    task_id: str = ""
    """The task whose rows are wrong, where it is one task's."""
    remedy: str = ""
    """The command that brings back what `--repair` moves aside."""


def check_chunk(root: Path, job: tuple[str, str]) -> list[Finding]:
    """Return what is wrong with one task's rows of one chunk: the first thing of the first table that is wrong.

    ``job``: the folder of the chunk below that of a table, and the task's id.
    """
    store, partition, task_id = Store(root), partition_of(Path(job[0]), CHUNK_TABLES[0]), job[1]
    frames: _Frames = {}
    for table in CHUNK_TABLES:
        try:
            frame = store.read_task(table, partition, task_id)
        except BadStore:
            return []  # the file itself was found to be damaged
        if frame is not None:
            frames[table] = frame
    for table in CHUNK_TABLES:
        if what := _flaw(table, frames, partition["start"]):
            # Rows in files of the task alone can be moved alone; of merged ones the whole chunk has to go.
            is_alone = all(store.task_file(each, partition, task_id).is_file() for each in frames)
            place = store.task_file(table, partition, task_id) if is_alone else store.folder(table, partition)
            path = place.relative_to(root).as_posix()
            return [Finding(path=path, what=f"{task_id}: {what}", table=table, task_id=task_id)]
    return []


def _flaw(table: str, frames: _Frames, start: int) -> str:
    """Return the first thing that is wrong with a table, empty if nothing is; those before it are as they must be."""
    # An interrupted task has the first tables and not the last, never the other way round.
    if table not in frames:
        last = max(frames, key=CHUNK_TABLES.index, default=table)
        is_due = CHUNK_TABLES.index(last) > CHUNK_TABLES.index(table)
        return f"expected rows, for {last} has some; found none" if is_due else ""
    frame = frames[table]
    if sum(frame.drop(_MAY_BE_NULL.get(table, ())).null_count().row(0)):
        return "expected a value in every column, found nulls"
    if frame.select(pl.struct(KEYS[table]).is_duplicated().any()).item():
        return f"expected every ({', '.join(KEYS[table][1:])}) once, found one twice"
    held = _CHUNK_CHECKS[table](frames, start)
    return next((f"expected {what}" for what, holds in held if not holds), "")


def _inputs(frames: _Frames, start: int) -> _Holds:
    inputs, most = frames["inputs"], MAX_ATTEMPTS + 1
    places = list(range(start, start + len(inputs)))
    yield f"the inputs from {start} on without a gap, found others", sorted(inputs["input_index"]) == places
    yield f"1 to {most} attempts, found others", inputs["attempts"].is_between(1, most).all()
    yield "fewer repeats than attempts, found others", (inputs["repeats"] < inputs["attempts"]).all()


def _outcomes(frames: _Frames, start: int) -> _Holds:
    indices, counts = sorted(frames["inputs"]["input_index"]), _counts(frames)
    yield "outcomes on each of its inputs and on no other, found otherwise", counts["input_index"].to_list() == indices
    yield "outcome_id 0, 1, ... on each input, found others", (counts["last"] == counts["len"] - 1).all()
    kinds = f"the kinds {', '.join(sorted(_KINDS))}, found others"
    yield kinds, set(frames["outcomes"]["kind"].unique()) <= _KINDS
    yield "classes below the number of outcomes, found others", (counts["classes"] < counts["len"]).all()


def _counts(frames: _Frames) -> pl.DataFrame:
    """Return the outcomes on each input, by input: how many, the last id, the last class."""
    classes = pl.max_horizontal(pl.max("paper_class"), pl.max("strict_class"))
    by_input = frames["outcomes"].group_by("input_index")
    return by_input.agg(pl.len(), last=pl.max("outcome_id"), classes=classes).sort("input_index")


def _behaviours(frames: _Frames, start: int) -> _Holds:
    behaviours, n = frames["behaviours"], len(frames["inputs"])
    numbers = list(range(len(behaviours)))
    yield "behaviour_id 0, 1, ..., found others", sorted(behaviours["behaviour_id"]) == numbers
    yield f"outcome_ids of {n} inputs, found another number", (behaviours["outcome_ids"].list.len() == n).all()
    ids = behaviours["outcome_ids"].explode().to_numpy().reshape(-1, n)
    known = (ids < _counts(frames)["len"].to_numpy()[None, :]).all()
    yield "outcome_ids of outcomes, found ids that no outcome has", bool(known)
    yield "behaviours that differ, found two alike", len(np.unique(ids, axis=0)) == len(ids)


def _executions(frames: _Frames, start: int) -> _Holds:
    executions, ids = frames["executions"], frames["behaviours"]["behaviour_id"]
    known = executions["behaviour_id"].is_in(ids.implode()).all()
    yield "behaviour_ids of behaviours, found ids that no behaviour has", known
    yield "cpu_seconds of 0 or more, found others", (executions["cpu_seconds"] >= 0).all()


_CHUNK_CHECKS = dict(zip(CHUNK_TABLES, (_inputs, _outcomes, _behaviours, _executions), strict=True))


def check_tables(store: Store) -> list[Finding]:
    """Return what is wrong with the tables that are not made of chunks, and with what chunks say of them."""
    read = cache(store.read)
    found: list[Finding] = []
    for table in _TABLES:
        for broken in (*_COMMON, *(rule.broken for rule in _RULES if rule.table == table)):
            try:
                found.extend(Finding(path=table, what=f"expected {what}", table=table) for what in broken(table, read))
            except (BadStore, NoStore):  # a table that it needs is damaged, which was found before, or not here
                pass
            except WrongUsage as e:  # a language that is not known here
                found.append(Finding(path=table, what=str(e), table=table))
    return found


_TABLES = tuple(table for table in KEYS if table not in ("stability", *CHUNK_TABLES[:-1]))


def _nulls(table: str, read: _Read) -> _Flaws:
    nulls = [c.name for c in read(table).null_count() if c.item() and c.name not in _MAY_BE_NULL.get(table, ())]
    if nulls and table not in CHUNK_TABLES:
        yield f"a value in every row, found nulls in {', '.join(nulls)}"


def _repeats(table: str, read: _Read) -> _Flaws:
    if table not in ("programs", "tokens", *CHUNK_TABLES):  # the same text may have come twice
        key = [*PARTITIONS[table], *KEYS[table]]
        yield from _some(read(table).filter(pl.struct(key).is_duplicated()), key, "each row once, found twice")


def _wrong_ids(table: str, read: _Read) -> _Flaws:
    if table == "programs":
        texts = read(table).select("program_id", "code").unique()
        wrong = [name for name, code in texts.iter_rows() if program_id(code) != name]
        if wrong:
            yield f"the id of its text for every program, found another for {wrong[0]} and {len(wrong) - 1} more"
        if wrong := wrong_tree_ids(read(table), read("tasks")):
            yield f"the tree_id of its text for every program, found another for {wrong[0]}"


def wrong_tree_ids(programs: pl.DataFrame, tasks: pl.DataFrame) -> list[str]:
    """Return the programs (of some thousand that are looked at) whose id is not that of their text.

    One of its own, ``x``, is never wrong: it joins nothing, even where today's would.
    """
    today = programs.filter(~pl.col("tree_id").str.contains(FORMER)).sort("program_id")
    some = with_language(today.gather_every(max(1, today.height // _CHECKED)), tasks)
    rows = some.select("program_id", "tree_id", "language", "code").iter_rows()
    return [
        name
        for name, found, language, code in rows
        if found not in (f"x{program_id(code)}", load_language(language).tree_id(code))
    ]


_COMMON = (_nulls, _repeats, _wrong_ids)


def _some(frame: pl.DataFrame, columns: Sequence[str], what: str) -> _Flaws:
    """Yield one line about these rows, if there are any, with the first of them."""
    if not frame.is_empty():
        first = " ".join(str(value) for value in frame.select(columns).sort(columns).row(0))
        yield f"{what}: {first}" + (f" and {len(frame) - 1} more" if len(frame) > 1 else "")


class Rule(NamedTuple):
    """What holds for every row of a table: it is not ``wrong``, and has its row in the table that it speaks of."""

    table: str
    names: Sequence[str]
    """The columns that name a row."""
    what: str
    """Expected and found."""
    wrong: str = "TRUE"
    """SQL: which rows break the rule; where they speak of another table, of which rows the rule speaks."""
    of: str = ""
    """The table or view whose rows are looked at; empty: ``table``."""
    lacks: tuple[str, Sequence[str]] = ("", ())
    """The table or view in which a row is looked for, and by which columns."""

    def broken(self, table: str, read: _Read) -> _Flaws:
        """Yield one line about the rows that break the rule."""
        frame = _view(self.of or table, read).filter(pl.sql_expr(self.wrong))
        other, on = self.lacks
        yield from _some(frame.join(_view(other, read), on=on, how="anti") if other else frame, self.names, self.what)


def _view(name: str, read: _Read) -> pl.DataFrame:
    """Return a table, or one of the frames that are made of tables for a rule."""
    ids = pl.col("pattern_of_input").list
    match name:
        case "patterns":
            return read(name).with_columns(inputs=ids.len(), width=ids.max().cast(pl.UInt32) + 1, used=ids.n_unique())
        case "classes" | "disagreements" | "estimates of patterns":
            frame = read(name.partition(" ")[0]).join(_view("patterns", read), on=_WHERE, how="left")
            if name != "classes":
                return frame
            sizes = [pl.col(classes).list.len() for classes in ("paper", "strict", "kinds")]
            return frame.with_columns(narrowest=pl.min_horizontal(sizes), widest=pl.max_horizontal(sizes))
        case "classes of tasks":
            return read("classes").group_by(_WHERE).agg(pl.len(), pl.max("row"), pl.sum("reference"))
        case "estimates":
            shares = pl.all_horizontal(pl.col(share).is_between(0, 1 + _ROUNDING) for share in SHARES)
            return read(name).with_columns(within=shares, outcomes=pl.sum_horizontal(KIND_COUNTS))
        case "estimates of members":
            members = read("members").group_by(_CODER).agg(n_members=pl.len())
            return read("estimates").join(members, on=_CODER, how="left")
        case "first" | "second":
            return read("classes").select(*_WHERE, pl.col("row").alias(name))
    return read(name)


_SAMPLE = ("benchmark", "task_id", "model", "temperature", "sample_index")
_ESTIMATE, _PROGRAM, _TREE, _ROW = (*_CODER, "equality"), (*_TASK, "program_id"), (*_TASK, "tree_id"), (*_WHERE, "row")
_RULES = (
    Rule("candidates", _SAMPLE, "sample_index of 0 or more, found", "sample_index < 0"),
    Rule(
        "candidates", _SAMPLE, "a task in `tasks` for every candidate, found none for",
        lacks=("tasks", _TASK),
    ),
    Rule(
        "candidates", _SAMPLE, "a text in `programs` for every candidate, found none for",
        lacks=("programs", _PROGRAM),
    ),
    Rule(
        "candidates", _SAMPLE, "every candidate that `members` has, found none for",
        of="members", lacks=("candidates", _SAMPLE),
    ),
    Rule(
        "executions", _TREE, "a program in `programs` for every execution, found none", f"tree_id != '{REFERENCE}'",
        lacks=("programs", _TREE),
    ),
    Rule(
        "draws", _WHERE, "at most n distinct inputs of at least n draws, found otherwise for",
        "n_distinct < 1 OR n_distinct > n OR n_draws + n_unchanged < n OR n_unchanged > n",
    ),
    Rule(
        "patterns", _WHERE, "patterns 0, 1, ... of one input at least, found others for",
        "inputs = 0 OR width != used",
    ),
    Rule(
        "classes", _ROW, "a class on each of the task's patterns, found otherwise for",
        "width IS NULL OR narrowest != width OR widest != width",
    ),
    Rule("classes", _ROW, "a reach of 1 to n inputs, found others for", "reach > inputs OR reach = 0"),
    Rule(
        "classes", _WHERE, "rows 0, 1, ... with at most one reference, found others for",
        '"row" + 1 != len OR reference > 1', of="classes of tasks",
    ),
    Rule(
        "members", (*_CODER, "sample_index"), "a row in `classes` for every member, found none for",
        lacks=("classes", _ROW),
    ),
    Rule(
        "disagreements", (*_WHERE, "rank"), "inputs of the task, found others for",
        'inputs IS NULL OR input_index >= inputs OR "rank" < 1',
    ),
    *(
        Rule(
            "smallest", (*_WHERE, name), "a row of `classes` for each behaviour, found none for",
            f'"{name}" IS NOT NULL', lacks=(name, (*_WHERE, name)),
        )
        for name in ("first", "second")
    ),
    Rule(
        "smallest", (*_WHERE, "kind"), "a second behaviour where two disagree only, found otherwise",
        """(kind = 'wrong') != ("second" IS NULL)""",
    ),
    *(
        Rule("estimates", _ESTIMATE, f"{holds}, found otherwise for", wrong, of)
        for of, holds, wrong in (
            ("", "m and n of 1 or more", "m < 1 OR n < 1"),
            ("", "incoherence where m >= 2, and only there", "(incoherence IS NULL) != (m < 2)"),
            ("", "shares between 0 and 1", "NOT within"),
            ("", "I <= 2E", f"incoherence > 2 * error + {_ROUNDING:.9f}"),
            ("", "I = 0 where E = 0", "error = 0 AND incoherence > 0"),
            ("", "counts of kinds that sum to m n", "outcomes != m::BIGINT * n"),
            ("", "at most m classes", "n_classes > m"),
            ("estimates of members", "m to be the number of members", "COALESCE(n_members, 0) != m"),
            ("estimates of patterns", "n to be at most the inputs in `patterns`", "n > inputs"),
        )
    ),
)  # fmt: skip
