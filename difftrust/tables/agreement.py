"""The tables of what agreement is worth, from a store: coverage, risk, and how often a bound on it is kept."""

from dataclasses import replace

import polars as pl

from difftrust.results import Table
from difftrust.tables.request import TableRequest, estimates_for, range_of, settle
from difftrust_core.base.records import Validity
from difftrust_core.exceptions import NoStore
from difftrust_core.metrics.intervals import clopper_pearson


def answers_for(request: TableRequest) -> tuple[pl.DataFrame, list[str]]:
    """Return the rows of ``selective.answers`` that the agreement tables and Figure risk-coverage show, with notes.

    The models that are not shown count as other models, where they have as many programs and inputs.
    """
    from difftrust.research.selective import answers

    request, notes = settle(request)
    store, pools = request.open(), replace(request, only=()).shown_pools()
    if not pools:
        inputs = store.settings().validity
        raise NoStore(
            f"the store {request.store} holds no results on inputs {inputs}; run `difftrust execute` on it first"
        )
    rows = pl.concat(
        answers(pool, temperature=temperature, m=request.m, n=request.n)
        for pool in pools.values()
        for temperature in sorted({temperature for _, temperature in pool.members})
    )
    rows = request.counted(rows)
    rows = rows.filter(pl.col("model").is_in(request.only)) if request.only else rows
    if rows["wrong"].is_not_null().sum() == 0:
        raise NoStore(f"the store {request.store} holds no task with a reference; agreement is judged by one")
    numbers = range_of(rows.drop_nulls("incoherence")["m"])
    return rows, [
        f"answer: the behaviour of most of the programs, of equally many the first; m = {numbers}",
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
    name = "agree_risk_by_tests"
    reading = replace(request.reading, inputs=Validity.TESTS.value)
    try:
        tested, _ = estimates_for(replace(request, reading=reading, n=None))
    except NoStore:
        absent = [pl.lit(None, dtype=pl.Float64).alias(f"{name}{end}") for end in ("", "_low", "_high")]
        return frame.with_columns(absent)
    key = ["benchmark", "model", "task_id"]
    agreeing = rows.filter(pl.col("incoherence") == 0).select(*key, "incoherence")
    judged = agreeing.join(tested.select(*key, "error"), on=key).drop_nulls("error")
    counts = judged.group_by("benchmark", "model").agg(whole=pl.len(), part=(pl.col("error") > 0).sum())
    limits = [
        (b, m, part / whole, *clopper_pearson(part, whole, alpha=0.025)) for b, m, whole, part in counts.iter_rows()
    ]
    texts, shares = dict.fromkeys(("benchmark", "model"), pl.String), (name, f"{name}_low", f"{name}_high")
    found = pl.DataFrame(limits, schema={**texts, **dict.fromkeys(shares, pl.Float64)}, orient="row")
    return frame.join(found, on=["benchmark", "model"], how="left", maintain_order="left")


def make_guarantee(request: TableRequest) -> Table:
    """Return how often the bound of ``make_agreement`` is kept over 1,000 random halves of the tasks."""
    from difftrust.research.selective import guarantee_table

    rows, notes = answers_for(request)
    frame = guarantee_table(rows, signal=request.signal, alpha=request.alpha, delta=request.delta, seed=request.seed)
    said = (
        f"1,000 random halves (seed {request.seed}); a threshold of {request.signal} from the one: risk at most "
        f"{request.alpha:g} with probability {1 - request.delta:g}; answering: share of halves that have one",
        "coverage, risk: on the other halves; broken: share of halves whose threshold has a larger risk on the whole "
        f"benchmark, at most {request.delta:g} by the guarantee",
        "transfer_broken: the same on the other benchmarks, for which the guarantee says nothing",
        "held_out_above: share of halves whose other half has a larger share of wrong answers, which chance makes it "
        "half of the time where the risk is at the bound; held_out_rejected: so large that an exact test at 5 % "
        "rejects the bound",
    )
    return Table(frame, notes=(*said, *notes))
