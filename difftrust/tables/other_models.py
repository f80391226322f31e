"""Tables of models side by side: what agreement is worth by what other models do, and how alike their errors are."""

from typing import Final

import polars as pl

from difftrust.research.other_models import model_pairs
from difftrust.results import Table
from difftrust.tables.agreement import answers_for
from difftrust.tables.intervals import shares_over_tasks
from difftrust.tables.names import family_of
from difftrust.tables.readings import ALL, OVER, by_model, require_one_setting
from difftrust.tables.request import TableRequest

SAME_FAMILY: Final = "same family"
OTHER_FAMILIES: Final = "other families"
"""In the column of other models, in the rows of all models."""
_PAIR: Final = ("benchmark", "model", "other")


def make_dissent(request: TableRequest) -> Table:
    """Return how often answers are wrong by how many other models dissent, which needs no reference: ``_by_others``."""
    said = "dissent: the other model's answer, the behaviour of most of its programs, is another"
    return _by_others(request, "dissent", said)


def make_difficulty(request: TableRequest) -> Table:
    """Return how often answers are wrong by how many other models err on the task: ``_by_others``."""
    return _by_others(request, "others_err", "others: of the other models, those with an error above 0 on the task")


def _by_others(request: TableRequest, column: str, said: str) -> Table:
    """Return a row a benchmark, model, ``own`` (do its programs agree?) and ``others`` (how many other models do so).

    ``tasks``, of these ``wrong`` answers, and the share ``risk`` with its interval over tasks; ``on_tasks``: distinct
    ones, for the rows of all models count a task once a model.
    """
    rows, notes = answers_for(request)
    known = rows.drop_nulls(["incoherence", "wrong", column])
    share, agrees = pl.col(column), pl.col("incoherence") == 0
    strata = {
        ("all agree", "any"): agrees,
        ("all agree", "none"): agrees & (share == 0),
        ("all agree", "fewer than half"): agrees & share.is_between(0, 0.5, closed="none"),
        ("all agree", "half or more"): agrees & (share >= 0.5),
        ("some disagree", "any"): ~agrees,
    }
    parts = []
    for number, ((own, others), chosen) in enumerate(strata.items()):
        counted = known.with_columns(tasks=chosen, wrong=chosen & pl.col("wrong"))
        made = by_model(counted, ("tasks", "wrong"), {"risk": ("wrong", "tasks")}, known, request)
        parts.append(made.with_columns(own=pl.lit(own), others=pl.lit(others), number=pl.lit(number)))
    frame = pl.concat(parts).sort("benchmark", pl.col("model") == ALL, "model", "number").drop("number")
    first = ("benchmark", "model", "own", "others")
    return Table(frame.select(*first, pl.exclude(first)), notes=(said, *notes, OVER))


def make_correlated(request: TableRequest) -> Table:
    """Return how alike models err: a row a benchmark and pair of models, of a model with itself, of all pairs.

    ``incoherence``: how often a program of the one and a program of the other differ; ``both_wrong``: how often both
    are wrong, and of these pairs the share ``wrong_alike`` that behave alike on all inputs, with its interval over
    tasks; ``error_r``: Pearson's r between the shares of their programs that are wrong, over tasks.
    """
    _, m, n = require_one_setting(request, "correlated errors")
    pools = request.shown_pools()
    pairs = request.counted(pl.concat(model_pairs(pool, sorted(pool.members), m=m, n=n) for pool in pools.values()))
    pairs = pairs.with_columns(error_r=pl.corr("error", "other_error").over(_PAIR))
    families = {model: family_of(model) for model in pairs["model"].unique()}
    family, other = (pl.col(name).replace_strict(families, return_dtype=pl.String) for name in ("model", "other"))
    apart = pairs.filter(pl.col("model") != pl.col("other")).with_columns(
        model=pl.lit(ALL), other=pl.when(family == other).then(pl.lit(SAME_FAMILY)).otherwise(pl.lit(OTHER_FAMILIES))
    )
    rows = []
    for key, own in pl.concat([pairs, apart, apart.with_columns(other=pl.lit(ALL))]).group_by(_PAIR):
        means = own.select(pl.col("incoherence", "both_wrong", "error_r").mean()).row(0, named=True)
        tasks = pairs.filter(benchmark=key[0])["task_id"]
        shares = shares_over_tasks(own, {"wrong_alike": ("wrong_alike", "both_wrong")}, tasks, request)
        counts = {"tasks": own["task_id"].n_unique()}
        rows.append(dict(zip(_PAIR, key, strict=True)) | counts | means | shares)
    schema = dict.fromkeys(_PAIR, pl.String) | {"tasks": pl.Int64}
    values = ("incoherence", "both_wrong", "error_r", "wrong_alike", "wrong_alike_low", "wrong_alike_high")
    frame = pl.DataFrame(rows, schema=schema | dict.fromkeys(values, pl.Float64)).fill_nan(None)
    return Table(frame.sort("benchmark", pl.col("model") == ALL, "model", "other"), notes=(*_OF_PAIRS, OVER))


_OF_PAIRS: Final = (
    "over all pairs of a program of the one and a program of the other model, two distinct ones of a model with itself",
    "wrong: unlike the reference on some input; wrong alike: and like each other on all inputs; a program that does "
    "not load is wrong, and alike with none",
    f"{ALL}: all pairs of different models; of these {SAME_FAMILY}, {OTHER_FAMILIES}",
)
