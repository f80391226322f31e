"""Every task and model of a benchmark as a cell, to find the tasks to look at and the model for a kind of task."""

from collections.abc import Callable
from functools import partial
from typing import Any

import polars as pl
import streamlit as st

from dashboard import data, downloads, frame, navigation, state, text
from dashboard.components import task_filters
from dashboard.components.task_filters import Filters
from dashboard.data import Choice
from dashboard.elements import heading, in_row, pick_row, show_table
from difftrust.figures.error_incoherence import Scale, Selection, draw_error_incoherence, place_points
from difftrust.figures.heat_maps import SAID, SAID_BLIND, draw_matrix
from difftrust.tables.names import rewrite
from difftrust.tasks.model_matrix import KEY, RANKED, count_cells, rank_models

TITLE = "Tasks"
_ABOUT = (
    "Each cell is one task, solved by one model. Its colour says what happened with the model's programs. "
    "Click a cell to open its task."
)
_MOST_PICKED = 60
_MOST_LINKS = 8
_CELL, _PICKED, _GO = "cell", "picked", "tasks:go"
_SELECTIONS = {"box": Selection(name=_PICKED), "click": Selection(name=_PICKED, fields=("task_id", "model"))}


def draw() -> None:
    """Draw the page."""
    chosen = frame.open_page(TITLE, _ABOUT, can_hide_reference=True)
    if not chosen.models:
        st.info("No model was sampled at this temperature; choose another one.")
        return
    with in_row("scope"):
        names = data.benchmarks(chosen.source)
        everything = len(names) > 1 and state.choose_one(
            "Show", ("one", "all"), name="tasks", format_func=partial(_scope, chosen, len(names)), width=220,
            help="The tasks of the chosen benchmark, or of every benchmark of the store.",
        ) == "all"  # fmt: skip
        model = state.choose_one(
            "Model", chosen.models, name="model", default=chosen.usual_model, format_func=text.model_name, width=220,
            help="The model of the chart and the table below, and of the order by its numbers.",
        )  # fmt: skip
    _show(chosen, everything, model)


def _scope(chosen: Choice, n_benchmarks: int, option: str) -> str:
    if option == "one":
        return text.one_line(chosen.benchmark, most=40)
    return "both benchmarks" if n_benchmarks == 2 else f"all {n_benchmarks} benchmarks"


@st.fragment
def _show(chosen: Choice, everything: bool, model: str) -> None:
    """Draw what the filters change: they run this part again and leave the rest of the page as it is."""
    if cell := st.session_state.pop(_GO, None):
        navigation.go("task", **cell)
    filters = task_filters.choose(chosen)
    tasks = task_filters.find(chosen, everything, model, filters)
    if tasks.is_empty():
        st.info("No task matches; change the search or the filters.")
        return
    picked = state.read_several(_PICKED, tasks["task_id"].to_list(), [])
    seen = tasks.filter(pl.col("task_id").is_in(picked)) if picked else tasks
    cells = _of(seen, task_filters.cells(chosen, everything))
    text.show_sentence(_in_words(cells, seen, chosen))
    if picked:
        st.button("Clear selection", on_click=partial(state.put, _PICKED, None), icon=":material/close:")
        _show_links(seen, model)
    _show_matrix(cells, seen, chosen, filters)
    left, right = st.columns((1, 1), gap="medium")
    with left:
        _show_cloud(tasks, chosen, everything, model)
    with right:
        _show_ranking(chosen, cells, len(seen))
    _show_table(seen, cells, chosen, model)


def _show_links(tasks: pl.DataFrame, model: str) -> None:
    for benchmark, name in tasks.select(KEY).head(_MOST_LINKS).rows():
        with in_row(align="center"):
            navigation.show_link("task", "Open", benchmark=benchmark, task=name, model=model)
            text.show_line(name)


def _of(tasks: pl.DataFrame, cells: pl.DataFrame) -> pl.DataFrame:
    return cells.join(tasks.select(KEY), on=KEY, how="semi", maintain_order="left")


def _named(rows: pl.DataFrame) -> pl.DataFrame:
    """Return rows with the names of tasks and benchmarks as they may be shown."""
    return rewrite(rows, [name for name in KEY if name in rows.columns], text.one_line)


def _for_file(cells: pl.DataFrame, chosen: Choice) -> pl.DataFrame:
    return cells.drop("happened", "error") if chosen.blind else cells


def _with_error(cells: pl.DataFrame, chosen: Choice) -> bool:
    """Tell whether cells are shown by their error: some is known, and the reference is not hidden."""
    return not chosen.blind and cells["error"].null_count() < cells.height


def _in_words(cells: pl.DataFrame, tasks: pl.DataFrame, chosen: Choice) -> str:
    shows_error = _with_error(cells, chosen)
    counted = count_cells(cells, "happened" if shows_error else "agreement")
    n_models = cells["model"].n_unique()
    size = f"{tasks.height:,} task{'s'[tasks.height == 1 :]} x {n_models} model{'s'[n_models == 1 :]}"
    undefined = f", {counted['undefined']:,} undefined" if "undefined" in counted else ""
    if not shows_error:
        return (
            f"{size}: of {cells.height:,} cells, programs disagree in {counted.get('disagree', 0):,} and all agree in "
            f"{counted.get('agree', 0):,}{undefined}. Programs that agree may still share an error."
        )
    said = [f"{counted.get(name, 0):,} {_COUNTED[name]}" for name in ("undetected", "detected", "right")]
    return f"{size}: of {cells.height:,} cells {', '.join(said)}{undefined}."


_COUNTED = {"undetected": "wrong though all agree", "detected": "wrong and detected", "right": SAID["right"]}


def _show_matrix(cells: pl.DataFrame, tasks: pl.DataFrame, chosen: Choice, filters: Filters) -> None:
    shows_error = _with_error(cells, chosen)
    means = cells.group_by("model").agg(pl.col("error" if shows_error else "incoherence").mean().alias("mean"))
    models = means.sort("mean", "model", nulls_last=True)["model"].to_list()
    shown = _named(cells)
    chart = draw_matrix(
        shown,
        tasks=_named(tasks.select(KEY)),
        models=models,
        with_reference=shows_error,
        selection=_CELL,
        order=filters.order_in_words,
    )
    names = dict(zip(shown.select(KEY).rows(), cells.select(KEY).rows(), strict=True))
    downloads.show_chart(
        chart, _for_file(cells, chosen), name="matrix", selection=_CELL, on_select=partial(_open_cell, names)
    )


def _open_cell(names: dict[tuple[str, ...], tuple[str, ...]], picked: Any) -> None:
    """Remember the task of the clicked cell: only what is drawn next may open another page."""
    for point in picked or []:
        key = names.get((point.get("benchmark", ""), point.get("task_id", "")))
        if key is not None:
            st.session_state[_GO] = {"benchmark": key[0], "task": key[1], "model": point.get("id")}


def _show_cloud(tasks: pl.DataFrame, chosen: Choice, everything: bool, model: str) -> None:
    heading("Error and incoherence" if not chosen.blind else "Incoherence")
    points = _of(tasks, task_filters.cells(chosen, everything).filter(model=model))
    with_error = _with_error(points, chosen)
    drawn = points.drop_nulls(["incoherence", "error"] if with_error else "incoherence")
    if drawn.is_empty():
        text.show_line(f"{text.model_name(model)} has no measured task among these.")
        return
    scales: tuple[Scale, ...] = ("log", "linear")
    with in_row("cloud"):
        scale = state.choose_one("Scale", scales, name="scale", show=st.radio, horizontal=True)
        how = state.choose_one("Select by", tuple(_SELECTIONS), name="select", show=st.radio, horizontal=True)
    title = f"{text.model_name(model)}: {drawn.height:,} tasks"
    shown = _named(drawn).with_columns(panel=pl.lit(title))
    drawn_by: dict[str, Any] = {"scale": scale, "by": "panel", "with_error": with_error}
    chart = draw_error_incoherence(shown, **drawn_by, selection=_SELECTIONS[how], width=480, height=330)
    placed = partial(place_points, shown, **drawn_by)
    names = dict(zip(shown["task_id"], drawn["task_id"], strict=True))
    table = _for_file(drawn, chosen)
    downloads.show_chart(chart, table, name=f"tasks-{how}", selection=_PICKED, on_select=partial(_pick, placed, names))
    text.show_small(
        "Draw a box to see only its tasks in the matrix and the table."
        if how == "box"
        else "Click points (more with Shift) to see only their tasks in the matrix and the table."
    )
    if left_out := points.height - drawn.height:
        text.show_small(f"{left_out:,} tasks are not drawn, for a measure is unknown.")


def _pick(placed: Callable[[], tuple[Any, pl.DataFrame]], names: dict[str, str], picked: Any) -> None:
    """Write the tasks of the selected points into the URL.

    An empty selection changes nothing, because a chart that is drawn again reports one; a button clears it.
    """
    if isinstance(picked, dict):
        within = [pl.col(field).is_between(*ends) for field, ends in picked.items() if field in ("at_x", "at_y")]
        found = placed()[1].filter(within)["task_id"].to_list() if within else []
    else:
        found = [point["task_id"] for point in picked or []]
    if selected := sorted({names[name] for name in found if name in names}):
        state.put(_PICKED, selected[:_MOST_PICKED])


def _show_ranking(chosen: Choice, cells: pl.DataFrame, n_tasks: int) -> None:
    heading(f"Models on {'this task' if n_tasks == 1 else f'these {n_tasks:,} tasks'}")
    table = rank_models(cells, resamples=_RESAMPLES)
    shows_error = _with_error(cells, chosen)
    names = list(RANKED) if shows_error else ["incoherence"]
    if not shows_error:
        table = table.sort("incoherence", "model", nulls_last=True)
    spelled = [[_spelled(row, name) for row in table.iter_rows(named=True)] for name in names]
    shown = table.select("model").with_columns(pl.Series(n, v) for n, v in zip(names, spelled, strict=True))
    show_table(
        rewrite(shown, ["model"], text.model_name),
        rows=12,
        columns={
            "model": st.column_config.TextColumn("model", pinned=True, width=140),
            "right": st.column_config.TextColumn("tasks right", help="Share of tasks with all programs right."),
            "error": st.column_config.TextColumn("error", help="Mean over the tasks."),
            "incoherence": st.column_config.TextColumn("incoherence", help="Mean over the tasks."),
        },
    )
    first = "Best" if shows_error else "Least incoherent"
    text.show_small(f"{first} model first; in brackets 95 % confidence intervals over tasks.")


_RESAMPLES = 400


def _spelled(row: dict[str, Any], name: str) -> str:
    value, low, high = (row[f"{name}{end}"] for end in ("", "_low", "_high"))
    if value is None:
        return "unknown"
    ends = "" if low is None or high is None else f" [{100 * low:.1f}, {100 * high:.1f}]"
    return f"{100 * value:.1f} %{ends}"


def _show_table(tasks: pl.DataFrame, cells: pl.DataFrame, chosen: Choice, model: str) -> None:
    heading("Selected tasks" if state.read_text(_PICKED) else "Tasks")
    own = cells.filter(model=model).select(*KEY, "happened", "agreement", "error", "incoherence", "n_classes")
    rows = tasks.join(own, on=KEY, how="left", maintain_order="left").with_columns(
        happened=pl.col("happened").replace_strict(SAID, default=None, return_dtype=pl.String),
        agreement=pl.col("agreement").replace_strict(SAID_BLIND, default=None, return_dtype=pl.String),
    )
    hidden = {"agreement"} if _with_error(cells, chosen) else {"happened", "error", "wrong"}
    if tasks["benchmark"].n_unique() == 1:
        hidden.add("benchmark")
    names = [name for name in _COLUMNS if name not in hidden]
    picked = pick_row(
        _named(rows.select(names)),
        {name: _COLUMNS[name] for name in names},
        key=f"rows:{hash((model, tuple(tasks['task_id'])))}",
    )
    text.show_small(
        f"What happened, error, incoherence and clusters: {text.model_name(model)}. Select a row to open it."
    )
    if picked is not None:
        opened = rows.row(picked, named=True)
        navigation.go("task", benchmark=opened["benchmark"], task=opened["task_id"], model=model)


_COLUMNS: dict[str, Any] = {
    "task_id": st.column_config.TextColumn("task", pinned=True),
    "benchmark": st.column_config.TextColumn("benchmark"),
    "arguments": st.column_config.TextColumn("arguments", help="Kinds of the arguments, by their types."),
    "happened": st.column_config.TextColumn("what happened"),
    "agreement": st.column_config.TextColumn("programs"),
    "error": st.column_config.ProgressColumn("error", format="percent", min_value=0, max_value=1),
    "incoherence": st.column_config.ProgressColumn("incoherence", format="percent", min_value=0, max_value=1),
    "n_classes": st.column_config.NumberColumn(
        "clusters", help="Clusters: programs with the same outcome on every input."
    ),
    "wrong": st.column_config.ProgressColumn(
        "models wrong", format="percent", min_value=0, max_value=1, help="Share of the models that are wrong on it."
    ),
}
