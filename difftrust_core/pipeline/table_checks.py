"""Whether the tables of a store, each as a whole, are what they must be and speak only of what is there."""

from collections.abc import Callable, Iterator

import polars as pl

from difftrust_core.exceptions import BadStore, NoStore
from difftrust_core.pipeline.findings import Finding
from difftrust_core.programs import program_id
from difftrust_core.schemas import CHUNK_TABLES, KEYS, MAY_BE_MISSING, PARTITIONS, REFERENCE
from difftrust_core.store import Store

_ROUNDING = 1e-9
_SHARES = (
    "error", "incoherence", "incoherence_v", "p_detected", "p_erroneous", "functional_incoherence", "functional_error",
)  # fmt: skip
_MAY_BE_NULL = {
    **{table: set(names) for table, names in MAY_BE_MISSING.items()},
    "tasks": {"reference"},
    "estimates": {"detected"},
    "members": {"prompt_tokens", "completion_tokens", "cost_nanodollars"},
}
_TASK = ["benchmark", "task_id"]
_WHERE = ["benchmark", "validity", "task_id"]
_CODER = ["benchmark", "validity", "model", "temperature", "task_id"]
_Flaws = Iterator[str]
_Read = Callable[[str], pl.DataFrame]


def check_tables(store: Store) -> list[Finding]:
    """Return what is wrong with the tables that are not made of chunks, and with what chunks say of them."""
    read_before: dict[str, pl.DataFrame | None] = {}

    def read(table: str) -> pl.DataFrame:
        if table not in read_before:
            try:
                read_before[table] = store.read(table)
            except (BadStore, NoStore):  # damaged, which was found before, or not here at all
                read_before[table] = None
        found = read_before[table]
        if found is None:
            raise _CannotTell
        return found

    found = []
    for table, check in _CHECKS.items():
        try:
            wrong = [*_common(table, read), *check(read)]
        except _CannotTell:
            continue
        found += [Finding(path=table, what=what, table=table) for what in wrong]
    return found


class _CannotTell(Exception):
    """A table that a check needs is not here or damaged."""


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


def _tasks(read: _Read) -> _Flaws:
    yield from ()


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


def _executions(read: _Read) -> _Flaws:
    executions = read("executions").filter(pl.col("tree_id") != REFERENCE)
    orphans = executions.join(read("programs"), on=[*_TASK, "tree_id"], how="anti")
    yield from _some(orphans, [*_TASK, "tree_id"], "expected a program in `programs` for every execution, found none")


def _patterns(read: _Read) -> _Flaws:
    ids = pl.col("pattern_of_input").list
    wrong = read("patterns").filter((ids.len() == 0) | (ids.max() + 1 != ids.n_unique()))
    yield from _some(wrong, _WHERE, "expected patterns 0, 1, ... of one input at least, found others for")


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
    known = error.is_not_nan() & incoherence.is_not_nan()
    total = pl.sum_horizontal(pl.col(name) for name in estimates.columns if name in _KIND_COUNTS)
    outside = [pl.col(name).is_not_nan() & ~pl.col(name).is_between(0, 1 + _ROUNDING) for name in _SHARES]
    for rule, wrong in {
        "m and n of 1 or more": (m < 1) | (n < 1),
        "incoherence where m >= 2, and only there": incoherence.is_nan() != (m < 2),
        "shares between 0 and 1": pl.any_horizontal(outside),
        "I <= 2E": known & (incoherence > 2 * error + _ROUNDING),
        "I = 0 where E = 0": known & (error == 0) & (incoherence > 0),
        "counts of kinds that sum to m n": total != m.cast(pl.UInt64) * n,
        "at most m classes": pl.col("n_classes") > m,
    }.items():
        yield from _some(estimates.filter(wrong), where, f"expected {rule}, found otherwise for")
    counted = read("members").group_by(_CODER).agg(n_members=pl.len())
    wrong_m = estimates.join(counted, on=_CODER, how="left").filter(pl.col("n_members").fill_null(0) != m)
    yield from _some(wrong_m, where, "expected m to be the number of members, found otherwise for")
    too_far = estimates.join(_sizes(read).rename({"n": "n_patterns"}), on=_WHERE).filter(n > pl.col("n_patterns"))
    yield from _some(too_far, where, "expected n to be at most the inputs in `patterns`, found otherwise for")


_KIND_COUNTS = {
    "n_values", "n_exceptions", "n_timeouts", "n_skipped", "n_memory", "n_crashes", "n_load_errors", "n_unsupported",
    "n_forged",
}  # fmt: skip
_CHECKS: dict[str, Callable[[_Read], _Flaws]] = {
    "tasks": _tasks,
    "programs": _programs,
    "candidates": lambda read: _both(_candidates(read), _members_and_candidates, read),
    "executions": _executions,
    "patterns": _patterns,
    "classes": _classes,
    "members": _members,
    "disagreements": _disagreements,
    "estimates": _estimates,
    "tokens": _tasks,
}


def _both(first: _Flaws, second: Callable[[_Read], _Flaws], read: _Read) -> _Flaws:
    yield from first
    try:
        yield from second(read)
    except _CannotTell:  # no results yet
        return
