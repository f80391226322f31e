"""Whether the rows of a store are what they must be: each chunk of a task, then every table as a whole."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path

import numpy as np
import polars as pl

from difftrust_core.base.records import Kind
from difftrust_core.exceptions import BadStore, NoStore
from difftrust_core.languages.language import MAX_ATTEMPTS, program_id
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
from difftrust_core.store.store import Store, file_name
from difftrust_core.store.tree_ids import wrong_tree_ids

_ROUNDING = 1e-9
_MAY_BE_NULL = {
    **{table: set(names) for table, names in MAY_BE_MISSING.items()},
    "tasks": {"reference"},
    "executions": set(MEASURED),
    "estimates": {"detected", *SHARES, *MAY_BE_MISSING["estimates"]},
    "smallest": {"second", "second_kind", "second_text", "place"},
    "members": {"prompt_tokens", "completion_tokens", "cost_nanodollars", *MAY_BE_MISSING["members"]},
}
_TASK = ["benchmark", "task_id"]
_WHERE = ["benchmark", "validity", "task_id"]
_CODER = ["benchmark", "validity", "model", "temperature", "task_id"]
_Flaws = Iterator[str]
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


def check_chunk(root: Path, partition: dict[str, object], task_id: str) -> list[Finding]:
    """Return what is wrong with one task's rows of one chunk."""
    store = Store(root)
    frames: _Frames = {}
    for table in CHUNK_TABLES:
        try:
            frame = store.read_task(table, partition, task_id)
        except BadStore:
            return []  # the file itself was found to be damaged
        if frame is not None:
            frames[table] = frame
    return [
        Finding(path=_path(store, table, partition, task_id), what=f"{task_id}: {what}", table=table, task_id=task_id)
        for table, what in _wrong(frames, int(str(partition["start"])))
    ]


def _path(store: Store, table: str, partition: dict[str, object], task_id: str) -> str:
    folder = store.folder(table, partition)
    own = folder / f"{file_name(task_id)}.parquet"
    return (own if own.is_file() else folder).relative_to(store.root).as_posix()


def _wrong(frames: _Frames, start: int) -> Iterator[tuple[str, str]]:
    """Yield (table, what is wrong), of each table the first thing; those after a table that is wrong are not judged."""
    # An interrupted task has the first tables and not the last, never the other way round.
    last = max(CHUNK_TABLES.index(table) for table in frames)
    for table in CHUNK_TABLES[: last + 1]:
        frame = frames.get(table)
        if frame is None:
            yield table, f"expected rows, for {CHUNK_TABLES[last]} has some; found none"
            return
        what = _flaw(table, frames, start)
        if what:
            yield table, what
            return


def _flaw(table: str, frames: _Frames, start: int) -> str:
    frame = frames[table]
    if sum(frame.drop(_MAY_BE_NULL.get(table, ())).null_count().row(0)):
        return "expected a value in every column, found nulls"
    if frame.select(pl.struct(KEYS[table]).is_duplicated().any()).item():
        return f"expected every ({', '.join(KEYS[table][1:])}) once, found one twice"
    checks = {"inputs": _inputs, "outcomes": _outcomes, "behaviours": _behaviours, "executions": _chunk_executions}
    return checks[table](frames, start)


def _inputs(frames: _Frames, start: int) -> str:
    inputs = frames["inputs"]
    if sorted(inputs["input_index"]) != list(range(start, start + len(inputs))):
        return f"expected the inputs from {start} on without a gap, found others"
    if not inputs["attempts"].is_between(1, MAX_ATTEMPTS + 1).all():
        return f"expected 1 to {MAX_ATTEMPTS + 1} attempts, found others"
    if not (inputs["repeats"] < inputs["attempts"]).all():
        return "expected fewer repeats than attempts, found others"
    return ""


def _outcomes(frames: _Frames, start: int) -> str:
    outcomes = frames["outcomes"]
    counts = _counts(frames)
    if counts["input_index"].to_list() != sorted(frames["inputs"]["input_index"]):
        return "expected outcomes on each of its inputs and on no other, found otherwise"
    if not (counts["last"] == counts["len"] - 1).all():
        return "expected outcome_id 0, 1, ... on each input, found others"
    if not set(outcomes["kind"].unique()) <= _KINDS:
        return f"expected the kinds {', '.join(sorted(_KINDS))}, found others"
    if not (counts["classes"] < counts["len"]).all():
        return "expected classes below the number of outcomes, found others"
    return ""


def _counts(frames: _Frames) -> pl.DataFrame:
    """Return the outcomes on each input, by input: how many, the last id, the last class."""
    return (
        frames["outcomes"]
        .group_by("input_index")
        .agg(
            pl.len(),
            last=pl.max("outcome_id"),
            classes=pl.max_horizontal(pl.max("paper_class"), pl.max("strict_class")),
        )
        .sort("input_index")
    )


def _behaviours(frames: _Frames, start: int) -> str:
    behaviours, n = frames["behaviours"], len(frames["inputs"])
    if sorted(behaviours["behaviour_id"]) != list(range(len(behaviours))):
        return "expected behaviour_id 0, 1, ..., found others"
    if not (behaviours["outcome_ids"].list.len() == n).all():
        return f"expected outcome_ids of {n} inputs, found another number"
    ids = behaviours["outcome_ids"].explode().to_numpy().reshape(-1, n)
    if (ids >= _counts(frames)["len"].to_numpy()[None, :]).any():
        return "expected outcome_ids of outcomes, found ids that no outcome has"
    if len(np.unique(ids, axis=0)) != len(ids):
        return "expected behaviours that differ, found two alike"
    return ""


def _chunk_executions(frames: _Frames, start: int) -> str:
    executions = frames["executions"]
    if not executions["behaviour_id"].is_in(frames["behaviours"]["behaviour_id"].implode()).all():
        return "expected behaviour_ids of behaviours, found ids that no behaviour has"
    if not (executions["cpu_seconds"] >= 0).all():
        return "expected cpu_seconds of 0 or more, found others"
    return ""


def check_tables(store: Store) -> list[Finding]:
    """Return what is wrong with the tables that are not made of chunks, and with what chunks say of them."""
    read = cache(store.read)
    found: list[Finding] = []
    for table, checks in _CHECKS.items():
        every: list[Callable[[_Read], _Flaws]] = [partial(_common, table), *checks]
        for check in every:
            with suppress(BadStore, NoStore):  # a table that it needs is damaged, which was found before, or not here
                found.extend(Finding(path=table, what=what, table=table) for what in check(read))
    return found


def _common(table: str, read: _Read) -> _Flaws:
    if table in CHUNK_TABLES:
        return
    frame, key = read(table), [*PARTITIONS[table], *KEYS[table]]
    nulls = [c.name for c in frame.null_count() if c.item() and c.name not in _MAY_BE_NULL.get(table, ())]
    if nulls:
        yield f"expected a value in every row, found nulls in {', '.join(nulls)}"
    if table not in ("programs", "tokens"):  # the same text may have come twice
        yield from _some(frame.filter(pl.struct(key).is_duplicated()), key, "expected each row once, found twice")


def _some(frame: pl.DataFrame, columns: list[str], what: str) -> _Flaws:
    """Yield one line about these rows, if there are any, with the first of them."""
    if not frame.is_empty():
        first = " ".join(str(value) for value in frame.select(columns).sort(columns).row(0))
        yield f"{what}: {first}" + (f" and {len(frame) - 1} more" if len(frame) > 1 else "")


def _candidates(read: _Read) -> _Flaws:
    candidates = read("candidates")
    where = ["benchmark", "task_id", "model", "temperature", "sample_index"]
    yield from _some(candidates.filter(pl.col("sample_index") < 0), where, "expected sample_index of 0 or more, found")
    orphans = candidates.join(read("tasks"), on=_TASK, how="anti")
    yield from _some(orphans, where, "expected a task in `tasks` for every candidate, found none for")
    orphans = candidates.join(read("programs"), on=[*_TASK, "program_id"], how="anti")
    yield from _some(orphans, where, "expected a text in `programs` for every candidate, found none for")


def _programs(read: _Read) -> _Flaws:
    programs = read("programs")
    texts = programs.select("program_id", "code").unique()
    wrong = [name for name, code in texts.iter_rows() if program_id(code) != name]
    if wrong:
        yield f"expected the id of its text for every program, found another for {wrong[0]} and {len(wrong) - 1} more"
    wrong = wrong_tree_ids(programs, read("tasks"))
    if wrong:
        yield f"expected the tree_id of its text for every program, found another for {wrong[0]}"


def _executions(read: _Read) -> _Flaws:
    executions = read("executions").filter(pl.col("tree_id") != REFERENCE)
    orphans = executions.join(read("programs"), on=[*_TASK, "tree_id"], how="anti")
    yield from _some(orphans, [*_TASK, "tree_id"], "expected a program in `programs` for every execution, found none")


def _patterns(read: _Read) -> _Flaws:
    ids = pl.col("pattern_of_input").list
    wrong = read("patterns").filter((ids.len() == 0) | (ids.max() + 1 != ids.n_unique()))
    yield from _some(wrong, _WHERE, "expected patterns 0, 1, ... of one input at least, found others for")


def _draws(read: _Read) -> _Flaws:
    n, distinct, draws, unchanged = (pl.col(name) for name in ("n", "n_distinct", "n_draws", "n_unchanged"))
    wrong = read("draws").filter((distinct < 1) | (distinct > n) | (draws + unchanged < n) | (unchanged > n))
    yield from _some(wrong, _WHERE, "expected at most n distinct inputs of at least n draws, found otherwise for")


def _classes(read: _Read) -> _Flaws:
    classes = read("classes").join(_sizes(read), on=_WHERE, how="left")
    width = pl.col("width")
    widths = [pl.col(name).list.len() != width for name in ("paper", "strict", "kinds")]
    wrong = classes.filter(width.is_null() | pl.any_horizontal(widths))
    yield from _some(wrong, [*_WHERE, "row"], "expected a class on each of the task's patterns, found otherwise for")
    wrong = classes.filter((pl.col("reach") > pl.col("n")) | (pl.col("reach") == 0))
    yield from _some(wrong, [*_WHERE, "row"], "expected a reach of 1 to n inputs, found others for")
    rows = classes.group_by(_WHERE).agg(pl.len(), pl.max("row"), pl.sum("reference"))
    wrong = rows.filter((pl.col("row") + 1 != pl.col("len")) | (pl.col("reference") > 1))
    yield from _some(wrong, _WHERE, "expected rows 0, 1, ... with at most one reference, found others for")


def _sizes(read: _Read) -> pl.DataFrame:
    ids = pl.col("pattern_of_input").list
    return read("patterns").select(*_WHERE, n=ids.len(), width=ids.max().cast(pl.UInt32) + 1)


def _members(read: _Read) -> _Flaws:
    members = read("members")
    where = [*_CODER, "sample_index"]
    orphans = members.join(read("classes"), on=[*_WHERE, "row"], how="anti")
    yield from _some(orphans, where, "expected a row in `classes` for every member, found none for")


def _members_and_candidates(read: _Read) -> _Flaws:
    where = ["benchmark", "model", "temperature", "task_id", "sample_index"]
    lost = read("members").join(read("candidates"), on=where, how="anti")
    yield from _some(lost, where, "expected every candidate that `members` has, found none for")


def _disagreements(read: _Read) -> _Flaws:
    shown = read("disagreements").join(_sizes(read), on=_WHERE, how="left")
    wrong = shown.filter(pl.col("n").is_null() | (pl.col("input_index") >= pl.col("n")) | (pl.col("rank") < 1))
    yield from _some(wrong, [*_WHERE, "rank"], "expected inputs of the task, found others for")


def _estimates(read: _Read) -> _Flaws:
    estimates, where = read("estimates"), [*_CODER, "equality"]
    m, n, error, incoherence = (pl.col(name) for name in ("m", "n", "error", "incoherence"))
    total = pl.sum_horizontal(KIND_COUNTS)
    outside = [~pl.col(name).is_between(0, 1 + _ROUNDING) for name in SHARES]
    for rule, wrong in {
        "m and n of 1 or more": (m < 1) | (n < 1),
        "incoherence where m >= 2, and only there": incoherence.is_null() != (m < 2),
        "shares between 0 and 1": pl.any_horizontal(outside),
        "I <= 2E": incoherence > 2 * error + _ROUNDING,
        "I = 0 where E = 0": (error == 0) & (incoherence > 0),
        "counts of kinds that sum to m n": total != m.cast(pl.UInt64) * n,
        "at most m classes": pl.col("n_classes") > m,
    }.items():
        yield from _some(estimates.filter(wrong), where, f"expected {rule}, found otherwise for")
    counted = read("members").group_by(_CODER).agg(n_members=pl.len())
    wrong_m = estimates.join(counted, on=_CODER, how="left").filter(pl.col("n_members").fill_null(0) != m)
    yield from _some(wrong_m, where, "expected m to be the number of members, found otherwise for")
    too_far = estimates.join(_sizes(read).rename({"n": "n_patterns"}), on=_WHERE).filter(n > pl.col("n_patterns"))
    yield from _some(too_far, where, "expected n to be at most the inputs in `patterns`, found otherwise for")


def _smallest(read: _Read) -> _Flaws:
    smallest, rows = read("smallest"), read("classes").select(*_WHERE, "row")
    for name in ("first", "second"):
        orphans = smallest.drop_nulls(name).join(rows.rename({"row": name}), on=[*_WHERE, name], how="anti")
        yield from _some(orphans, [*_WHERE, name], "expected a row of `classes` for each behaviour, found none for")
    wrong = smallest.filter((pl.col("kind") == "wrong") != pl.col("second").is_null())
    yield from _some(wrong, [*_WHERE, "kind"], "expected a second behaviour where two disagree only, found otherwise")


def _witnesses(read: _Read) -> _Flaws:
    where = [*_WHERE, "witness_index"]
    witnesses = read("witnesses")
    wrong = witnesses.filter(~pl.col("kind").is_in(_KINDS) | (pl.col("trees").list.len() == 0))
    yield from _some(wrong, where, f"expected programs that ended in one of {', '.join(sorted(_KINDS))}, found others")
    counts = witnesses.group_by(where).agg(pl.len(), pl.max("outcome_id"), trees=pl.col("trees").explode())
    wrong = counts.filter(pl.col("outcome_id") + 1 != pl.col("len"))
    yield from _some(wrong, where, "expected outcome_id 0, 1, ... on each witness, found others for")
    wrong = counts.filter(pl.col("trees").list.n_unique() != pl.col("trees").list.len())
    yield from _some(wrong, where, "expected one outcome of each program on each witness, found two for")
    run = witnesses.select(*_TASK, pl.col("trees").alias("tree_id")).explode("tree_id").unique()
    orphans = run.filter(pl.col("tree_id") != REFERENCE).join(read("programs"), on=[*_TASK, "tree_id"], how="anti")
    yield from _some(orphans, [*_TASK, "tree_id"], "expected a program in `programs` for every tree, found none")


_CHECKS: dict[str, tuple[Callable[[_Read], _Flaws], ...]] = {
    "tasks": (),
    "programs": (_programs,),
    "candidates": (_candidates, _members_and_candidates),
    "executions": (_executions,),
    "draws": (_draws,),
    "patterns": (_patterns,),
    "classes": (_classes,),
    "members": (_members,),
    "disagreements": (_disagreements,),
    "smallest": (_smallest,),
    "estimates": (_estimates,),
    "tokens": (),
    "witnesses": (_witnesses,),
}
