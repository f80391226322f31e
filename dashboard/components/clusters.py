"""Part of a task's page: its behaviour clusters, and their outcomes on disagreeing inputs."""

import polars as pl
import streamlit as st

from dashboard import downloads, text
from dashboard.elements import heading, show_table
from difftrust.figures.heat_maps import draw_clusters, draw_heat_map
from difftrust.tables.names import display_name, rewrite
from difftrust.tasks.clusters import Cluster, cells
from difftrust.tasks.task_sentences import count_of, models_in_words
from difftrust.tasks.task_view import TaskView

_SHOWN = 20
_ACROSS = 60
_ROWS = 4
"""Clusters that are seen at once in the pane."""


def show_clusters(task: TaskView, *, blind: bool) -> None:
    """Write the clusters as a small table: number, size, models, and on which share of inputs they are wrong."""
    clusters, n = task.clustering.clusters, task.clustering.n
    rows = [
        {
            "cluster": cluster.number,
            "programs": cluster.n_candidates,
            "wrong inputs": None if cluster.n_wrong is None else cluster.n_wrong / n,
            "models": text.one_line(_models(cluster)),
        }
        for cluster in clusters
    ]
    schema = {"cluster": pl.Int64, "programs": pl.Int64, "wrong inputs": pl.Float64, "models": pl.String}
    table = pl.DataFrame(rows, schema=schema)
    if blind or task.clustering.reference_labels is None:
        table = table.drop("wrong inputs")
    show_table(table, _COLUMNS, rows=_ROWS, key="clusters")


def _models(cluster: Cluster) -> str:
    names = [display_name(model) for model, _ in cluster.members]
    return models_in_words(names) if cluster.loads else f"does not load: {models_in_words(names)}"


def show_bars(task: TaskView, *, blind: bool) -> None:
    """Draw the clusters as bars by size and model, and list their samples."""
    clusters = task.clustering.clusters
    heading("Clusters by size and model")
    st.markdown("All programs of a cluster have the same outcome on every input.")
    with_reference = not blind and task.clustering.reference_labels is not None
    if with_reference:
        _say_reference(clusters, has_checker=task.has_checker)
    bars = _bars(clusters[:_SHOWN])
    downloads.show_chart(
        draw_clusters(
            rewrite(bars, ["model"], text.one_line), with_reference=with_reference, has_checker=task.has_checker
        ),
        bars.drop("is_reference") if blind else bars,
        name="clusters",
    )
    table = pl.DataFrame([_row(cluster) for cluster in clusters])
    show_table(table, _COLUMNS, rows=8, key="samples")
    if len(clusters) > _SHOWN:
        text.show_small(f"The bars show the {_SHOWN} largest clusters; the table lists all {len(clusters)}.")


def _say_reference(clusters: tuple[Cluster, ...], *, has_checker: bool) -> None:
    right = next((cluster for cluster in clusters if cluster.is_reference), None)
    if has_checker:
        whose = "no program" if right is None else f"**cluster {right.number}**"
        st.markdown(f"The checker accepts every value of {whose}.")
    elif right is None:
        st.markdown("No program agrees with the reference on every input.")
    else:
        st.markdown(f"The reference behaves like **cluster {right.number}**.")


def _bars(clusters: tuple[Cluster, ...]) -> pl.DataFrame:
    rows = [
        (cluster.number, model, len(indices), cluster.is_reference)
        for cluster in clusters
        for (model, _), indices in cluster.members.items()
    ]
    return pl.DataFrame(rows, schema=["cluster", "model", "n_candidates", "is_reference"], orient="row")


def _row(cluster: Cluster) -> dict[str, object]:
    members = "; ".join(
        f"{text.model_name(model)}: {', '.join(map(str, indices))}" for (model, _), indices in cluster.members.items()
    )
    return {
        "cluster": cluster.number,
        "programs": cluster.n_candidates,
        "model and samples": text.one_line(members, most=600),
    }


_COLUMNS = {
    "cluster": st.column_config.NumberColumn(width=60, help="Programs with the same outcome on every input."),
    "programs": st.column_config.NumberColumn(width=70, help="How many programs behave so."),
    "wrong inputs": st.column_config.NumberColumn(
        format="percent", width=90, help="Share of inputs with another outcome than the reference's."
    ),
    "model and samples": st.column_config.TextColumn(help="Sample numbers of its programs, by model.", width="large"),
}


def show_heat_map(task: TaskView) -> None:
    """Draw the outcome of each program on each group of inputs."""
    if not task.splits:
        return
    heading("Outcomes by cluster and input")
    shown = task.splits[:_ACROSS]
    rest = len(task.splits) - len(shown)
    more = f" {count_of(rest, 'more group')} of inputs {'is' if rest == 1 else 'are'} not shown." if rest else ""
    st.markdown(
        "Each row is a program, each column a group of inputs on which the programs divide in the same way. Pale: the "
        "most common outcome on these inputs." + more
    )
    table = _with_texts(task, cells(task.clustering, shown))
    n_programs = int(task.clustering.counts.sum())
    drawn = draw_heat_map(table, height=max(120, min(420, 12 * n_programs)))
    downloads.show_chart(drawn, table, name="heat-map")


def _with_texts(task: TaskView, table: pl.DataFrame) -> pl.DataFrame:
    """Return the cells with the input that stands for the group, one whose text is known, and the outcomes there."""
    index_of = {split.inputs[0]: index for index, split in task.telling.items()}
    said = {(cluster, index): (kind, what) for cluster, index, kind, what in task.answers.iter_rows()}
    places = [index_of.get(index, index) for index in table["input_index"].to_list()]
    arguments = [task.arguments.get(index) for index in places]
    outcomes = []
    for cluster, index in zip(table["cluster"].to_list(), places, strict=True):
        kind, what = said.get((cluster, index), (None, ""))
        outcomes.append(None if kind is None else what if kind == "value" else f"{kind.replace('_', ' ')} {what}")
    return table.with_columns(
        pl.Series("input_index", places, dtype=pl.Int64),
        pl.Series("arguments", [each and text.one_line(each) for each in arguments], dtype=pl.String),
        pl.Series("outcome_text", [each and text.one_line(each) for each in outcomes], dtype=pl.String),
    )
