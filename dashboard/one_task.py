"""One task as chosen: its clusters and all that the store says of it, read once and kept; and nothing else."""

import re
from dataclasses import dataclass

import polars as pl
import streamlit as st

from dashboard.data import Choice, Version
from difftrust_core.ablation import Coder
from difftrust_core.clusters import Clustering, Split, cluster_candidates, splits
from difftrust_core.estimators import disagreement_per_input
from difftrust_core.evidence import (
    Description,
    Programs,
    TellingInput,
    read_answers,
    read_arguments,
    read_description,
    read_programs,
    telling_inputs,
)
from difftrust_core.pipeline.certainty import input_interval, of_the_coder, statement
from difftrust_core.store import Store


@dataclass(frozen=True, kw_only=True)
class OneTask:
    """What the page of a task shows."""

    clustering: Clustering
    splits: list[Split]
    telling: list[TellingInput]
    """Those of ``splits`` of which an input is known."""
    answers: pl.DataFrame
    programs: Programs
    description: Description | None
    statements: tuple[str, ...]

    @property
    def language(self) -> str:
        """Return the language of the programs."""
        return "python" if self.description is None else self.description.language


def task_names(chosen: Choice) -> list[str]:
    """Return the tasks of the benchmark, 2 before 10."""
    return sorted((task.task_id for task in chosen.pool.tasks), key=_in_order)


def _in_order(name: str) -> list[tuple[int, str]]:
    return [(int(part), "") if part.isdecimal() and part.isascii() else (-1, part) for part in re.split(r"(\d+)", name)]


def read_task(chosen: Choice, task_id: str, models: tuple[str, ...]) -> OneTask:
    """Return what there is to show. Raises WrongUsage or TooFewCandidates where nothing is, saying what to choose."""
    where = (chosen.benchmark, chosen.equality, task_id, chosen.temperature, models, chosen.m, chosen.n)
    return _read(chosen.store, chosen, chosen.version, str(chosen.store.root), where)


@st.cache_resource(max_entries=32, show_spinner=False)
def _read(_store: Store, _chosen: Choice, version: Version, root: str, where: tuple[object, ...]) -> OneTask:
    del version, root
    task_id, models = str(where[2]), where[4]
    assert isinstance(models, tuple)
    coders: list[Coder] = [(model, _chosen.temperature) for model in models]
    pool = _chosen.pool
    clustering = cluster_candidates(pool, task_id, coders, m=_chosen.m, n=_chosen.n)
    programs = read_programs(_store, pool.benchmark, task_id, coders)
    found = splits(clustering)
    arguments = read_arguments(_store, pool.benchmark, task_id, equality=pool.equality)
    telling = telling_inputs(found, arguments)
    answers = read_answers(_store, pool, clustering, programs)
    return OneTask(
        clustering=clustering,
        splits=found,
        telling=telling,
        answers=answers.filter(pl.col("input_index").is_in([one.index for one in telling])),
        programs=programs,
        description=read_description(_store, pool.benchmark, task_id),
        statements=_statements(clustering),
    )


def _statements(clustering: Clustering) -> tuple[str, ...]:
    """Return what the inputs prove about these programs, and what that says of others by the same models."""
    m = int(clustering.counts.sum())
    if m < 2:
        return ("It takes two programs to disagree; choose more of them, or more models.",)
    disagreement = disagreement_per_input(clustering.on_inputs, clustering.counts)
    subject = f"these {m} programs"
    own = statement(disagreement, input_interval(disagreement, m), subject)
    return own, _capital(of_the_coder(clustering.on_inputs, clustering.counts, subject))


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
