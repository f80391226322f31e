"""The tables of what agreement is worth: coverage, risk, whether a bound on it is kept, and what other models tell."""

from dataclasses import replace
from functools import lru_cache
from threading import Lock
from typing import Final

import polars as pl

from difftrust.research.coders import with_ends, with_exact_share
from difftrust.research.other_models import model_pairs, with_other_models
from difftrust.results import Table
from difftrust.tables.interval_columns import share_table, shares_over_tasks
from difftrust.tables.names import family_of
from difftrust.tables.readings import ALL, OVER, by_model, interleave, require_one_setting
from difftrust.tables.render import in_percent
from difftrust.tables.request import TableRequest, chosen_coders, estimates_for, range_of, settle
from difftrust_core.base.records import Validity
from difftrust_core.estimates.pool import Pool
from difftrust_core.estimates.refresh import estimates_of_pools
from difftrust_core.exceptions import NoStore

SAME_FAMILY: Final = "same family"
OTHER_FAMILIES: Final = "other families"
"""In the column of other models, in the rows of all models."""
_PAIR: Final = ("benchmark", "model", "other")


def answers_for(request: TableRequest) -> tuple[pl.DataFrame, list[str]]:
    """Return the rows of ``selective.answers`` that the agreement tables and Figure risk-coverage show, with notes.

    The models that are not shown count as other models, where they have as many programs and inputs.
    """
    from difftrust.research.selective import answers

    request, notes = settle(request)
    store, pools = request.open(), replace(request, only=()).shown_pools()
    if not pools:
        inputs = store.settings().validity
        raise NoStore(f"the store {request.store} holds no results on inputs {inputs}; run {request.execution()}")
    rows = pl.concat(
        answers(pool, temperature=temperature, m=request.m, n=request.n)
        for pool in pools.values()
        for temperature in sorted({temperature for _, temperature in pool.members})
    )
    rows = request.counted(rows)
    n_others = rows["model"].n_unique() - 1
    rows = rows.filter(pl.col("model").is_in(request.only)) if request.only else rows
    if rows["wrong"].is_not_null().sum() == 0:
        raise NoStore(f"the store {request.store} holds no task with a reference; agreement is judged by one")
    numbers = range_of(rows.drop_nulls("incoherence")["m"])
    return rows, [
        f"answer: the behaviour of most of the programs, of equally many the first; m = {numbers}; {n_others} other "
        "models have as many programs and inputs",
        f"wrong: unlike the reference on any input; n = {range_of(rows['n'])}, inputs: {store.settings().validity}, "
        f"references: {request.reading.references}, equality {request.equality}; the benchmark's tests are not run",
        *notes,
    ]


def make_agreement(request: TableRequest) -> Table:
    """Return what the agreement of each model's programs is worth: share answered, share wrong, and a guarantee."""
    from difftrust.research.selective import agreement_table

    rows, notes = answers_for(request)
    frame = agreement_table(rows, signal=request.signal, alpha=request.alpha, delta=request.delta, seed=request.seed)
    frame = _with_tests(frame, rows, request)
    said = (
        "agree_risk_by_tests: of the tasks where all programs agree, the share with a program that differs from the "
        "reference on a test input of the benchmark; undefined without `execute --inputs tests`",
        "agree: where all programs agree; in brackets: exact 95 % intervals over tasks",
        f"threshold of {request.signal}: risk at most {request.alpha:g} with probability {1 - request.delta:g} (Learn "
        f"then Test, fixed sequence), from a random half of the tasks, another one a row (seed {request.seed}); empty: "
        "no threshold has the guarantee",
        "held_out: at this threshold on the other half, whose share wrong may lie above the bound by chance; `table "
        "guarantee` counts how often the bound is broken",
        "transfer: at this threshold on the other benchmarks, for which the guarantee says nothing",
    )
    return Table(frame, notes=(*said, *notes))


def _with_tests(frame: pl.DataFrame, rows: pl.DataFrame, request: TableRequest) -> pl.DataFrame:
    """Add what the benchmark's tests say of the tasks where all programs agree, with its exact interval."""
    share = "agree_risk_by_tests"
    reading = replace(request.reading, inputs=Validity.TESTS.value)
    try:
        tested, _ = estimates_for(replace(request, reading=reading, n=None))
    except NoStore:
        return frame.with_columns(pl.lit(None, pl.Float64).alias(name) for name in with_ends(share))
    key = ["benchmark", "model", "task_id"]
    agreeing = rows.filter(pl.col("incoherence") == 0).select(*key, "incoherence")
    judged = agreeing.join(tested.select(*key, "error"), on=key).drop_nulls("error")
    counts = judged.group_by("benchmark", "model").agg(whole=pl.len(), part=(pl.col("error") > 0).sum())
    found = with_exact_share(counts, share, "part", "whole").drop("part", "whole")
    return frame.join(found, on=["benchmark", "model"], how="left", maintain_order="left")


def make_guarantee(request: TableRequest) -> Table:
    """Return how often the bound of ``make_agreement`` is kept on tasks drawn from each model's own, 1,000 times."""
    from difftrust.research.selective import guarantee_table

    rows, notes = answers_for(request)
    frame = guarantee_table(rows, signal=request.signal, alpha=request.alpha, delta=request.delta, seed=request.seed)
    said = (
        f"1,000 repetitions (seed {request.seed}): half as many tasks as the row has, drawn from them independently, "
        f"with replacement, give a threshold of {request.signal}: risk at most {request.alpha:g} with probability "
        f"{1 - request.delta:g}; answering: share of repetitions that have one",
        "broken: share of repetitions whose threshold has a larger risk on the tasks drawn from, at most "
        f"{request.delta:g} by the guarantee, with its exact 95 % interval; model, signal and alpha are chosen before",
        "coverage, risk: on as many fresh tasks; held_out_above: share of repetitions whose fresh tasks have a larger "
        "share of wrong answers, which chance makes it half of the time where the risk is at the bound; "
        "held_out_rejected: so large that an exact test at 5 % rejects the bound",
        "transfer_broken: as broken, on the other benchmarks, for which the guarantee says nothing",
    )
    return Table(frame, notes=(*said, *notes))


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
    parts = {
        stratum: by_model(
            known.with_columns(tasks=chosen, wrong=chosen & pl.col("wrong")),
            ("tasks", "wrong"),
            {"risk": ("wrong", "tasks")},
            known,
            request,
        )
        for stratum, chosen in _strata(column).items()
    }
    return Table(interleave(parts, ("own", "others")), notes=(said, *notes, OVER))


def _strata(column: str) -> dict[tuple[str, str], pl.Expr]:
    """Return which answers are in each stratum of ``column``: (own, others) -> condition."""
    share, agrees = pl.col(column), pl.col("incoherence") == 0
    return {
        ("all agree", "any"): agrees,
        ("all agree", "none"): agrees & (share == 0),
        ("all agree", "fewer than half"): agrees & share.is_between(0, 0.5, closed="none"),
        ("all agree", "half or more"): agrees & (share >= 0.5),
        ("some disagree", "any"): ~agrees,
    }


def others_in_words(pool: Pool, task_id: str, model: str, request: TableRequest) -> str:
    """Return in words how many other models dissent from a model's answer, and how often such answers are wrong.

    As the rows of all models of ``make_dissent`` have it; ``request``: of one temperature, one m and one n. Empty where
    no other model has as many programs and inputs; nothing of wrong answers where no reference is known.
    """
    with _ANSWERING:
        rows = _answers(pool, request)
    own = rows.filter(task_id=task_id, model=model).drop_nulls(["incoherence", "dissent"])
    if own.is_empty():
        return ""
    n_others = rows.filter(task_id=task_id).height - 1
    dissent = round(own["dissent"].item() * n_others)
    said = f"Other models: {dissent} of {n_others} give another answer (the behaviour of most of their programs)."
    known = rows.drop_nulls(["incoherence", "dissent", "wrong"])
    (agrees, others), chosen = [one for one in _strata("dissent").items() if own.filter(one[1]).height][-1]
    counted = known.filter(chosen).with_columns(answers=pl.lit(value=True))
    if counted.is_empty():
        return said
    risk = shares_over_tasks(counted, {"risk": ("wrong", "answers")}, known["task_id"], request)
    where = "all programs of a model agree" if agrees == "all agree" else "programs of a model disagree"
    do = "" if others == "any" else f" and {others} of the other models {'does' if others == 'none' else 'do'} so"
    share = f"{in_percent(*risk.values())} of {counted.height:,} answers to tasks of {pool.benchmark}"
    return f"{said} Where {where}{do}, {share} are wrong."


_ANSWERING: Final = Lock()
"""A reader who clicks on several tasks asks several times before the first answer is there."""


@lru_cache(maxsize=8)
def _answers(pool: Pool, request: TableRequest) -> pl.DataFrame:
    """Return what ``_strata`` needs of the answers; incoherence is 1 where programs differ or do not load."""
    chosen = chosen_coders(pool, request)
    rows = estimates_of_pools(request.open(), {pool.benchmark: chosen}, m=request.m, n=request.n)
    rows = with_other_models(chosen, request.counted(rows), m=request.m)
    return rows.with_columns(incoherence=pl.col("detected").cast(pl.Float64))


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
    measures = (
        pl.col("task_id").n_unique().cast(pl.Int64).alias("tasks"),
        pl.col("incoherence", "both_wrong", "error_r").mean(),
    )
    shares = {"wrong_alike": ("wrong_alike", "both_wrong")}
    rows = pl.concat([pairs, apart, apart.with_columns(other=pl.lit(ALL))])
    frame = share_table(rows, _PAIR, measures, shares, pairs, request)
    return Table(frame.sort("benchmark", pl.col("model") == ALL, "model", "other"), notes=(*_OF_PAIRS, OVER))


_OF_PAIRS: Final = (
    "over all pairs of a program of the one and a program of the other model, two distinct ones of a model with itself",
    "wrong: unlike the reference on some input; wrong alike: and like each other on all inputs; a program that does "
    "not load is wrong, and alike with none",
    f"{ALL}: all pairs of different models; of these {SAME_FAMILY}, {OTHER_FAMILIES}",
)
