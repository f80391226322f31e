"""One store read in three ways: as published, inside the domains, and there without faulty references."""

from dataclasses import replace
from typing import Final

import polars as pl

from difftrust.research import suspects as suspicion
from difftrust.research.coders import MEAN
from difftrust.results import Table
from difftrust.shipped import PAPER_SETTING
from difftrust.tables.intervals import requested_table_4
from difftrust.tables.request import TableRequest, estimates_for, paper_sizes
from difftrust_core.base.records import Detection, Reading, References, Validity
from difftrust_core.datasets.audits import FAULTS, audit_frame
from difftrust_core.metrics.intervals import false_trust

READINGS: Final = {
    "as published": Reading(inputs=Validity.REFERENCE),
    "in the domain": Reading(inputs=Validity.DOMAIN),
    "in the domain, audited": Reading(inputs=Validity.DOMAIN, references=References.AUDITED),
}
"""What they are called -> how a store is read."""
_MEASURES: Final = ("mean_error", "mean_incoherence", "detection_rate", "pass_at_1")


def make_readings(request: TableRequest) -> Table:
    """Return the measures of each model in the three readings, one below the other.

    Of `docs/measures.md`, by all pairs: ``erroneous`` and ``detected`` count tasks; ``wrong_although_agreeing`` is the
    share of erroneous tasks among those on which all programs agree, with its exact 95 % interval over tasks.
    """
    parts, notes = [], []
    for number, (name, reading) in enumerate(READINGS.items()):
        wanted = replace(request, reading=reading, detection=Detection.ALL_PAIRS)
        estimates, _ = estimates_for(wanted)
        parts.append(_measured(estimates, wanted).with_columns(reading=pl.lit(name), number=pl.lit(number)))
        notes.append(f"{name}: {estimates.select('benchmark', 'task_id').n_unique()} tasks")
    frame = pl.concat(parts).sort("benchmark", pl.col("model") == MEAN, "model", "number").drop("number")
    first = ("benchmark", "model", "reading")
    return Table(frame.select(*first, pl.exclude(first)), notes=tuple(notes))


def _measured(estimates: pl.DataFrame, request: TableRequest) -> pl.DataFrame:
    table = requested_table_4(estimates, request, measures=_MEASURES)
    counts = estimates.group_by("benchmark", "model").agg(
        erroneous=(pl.col("error") > 0).sum(), detected=((pl.col("error") > 0) & pl.col("detected")).sum()
    )
    ends = {f"wrong_although_agreeing{end}": f"p_erroneous{end}" for end in ("", "_low", "_high")}
    trust = false_trust(estimates).select("benchmark", "model", **ends)
    found = table.join(counts, on=["benchmark", "model"], how="left").join(trust, on=["benchmark", "model"], how="left")
    means = found.group_by("benchmark").agg(pl.col("wrong_although_agreeing").fill_nan(None).mean().alias("mean"))
    found = found.join(means, on="benchmark", how="left")
    of_mean = pl.when(pl.col("model") == MEAN).then("mean").otherwise("wrong_although_agreeing")
    return found.with_columns(wrong_although_agreeing=of_mean).drop("mean")


KINDS: Final = (
    "outside the domain",
    "detected in the domain",
    "reference or description at fault",
    "error of the programs",
)
"""What becomes of an error that incoherence missed."""


def make_undetected(request: TableRequest) -> Table:
    """Return what the undetected errors of the first reading are: a row for each benchmark and model, counting tasks.

    Undetected: E > 0, I = 0 and every program loads, as published. Of these tasks, on inputs inside the domain: E = 0
    (``outside the domain``); I > 0 (``detected in the domain``); the audit found the reference or the description at
    fault; what is left are errors of the programs, all alike.
    """
    key = ["benchmark", "model", "temperature", "task_id"]
    published, domain = (
        estimates_for(replace(request, reading=READINGS[name]))[0].select(*key, "error", "detected")
        for name in ("as published", "in the domain")
    )
    missed = published.filter((pl.col("error") > 0) & ~pl.col("detected")).select(key)
    faults = audit_frame().filter(pl.col("finding").is_in([str(fault) for fault in FAULTS]))
    joined = missed.join(domain, on=key).join(
        faults.select("benchmark", "task_id", fault=pl.lit(True)), on=["benchmark", "task_id"], how="left"
    )
    kind = (
        pl.when(pl.col("error") == 0).then(pl.lit(KINDS[0]))
        .when(pl.col("detected")).then(pl.lit(KINDS[1]))
        .when(pl.col("fault").fill_null(value=False)).then(pl.lit(KINDS[2]))
        .otherwise(pl.lit(KINDS[3]))
    )  # fmt: skip
    classed = joined.with_columns(kind=kind)
    everyone = classed.with_columns(model=pl.lit("all"))
    both = pl.concat([classed, everyone])
    counted = both.group_by("benchmark", "model").agg(
        undetected=pl.len(), **{name: (pl.col("kind") == name).sum() for name in KINDS}
    )
    shares = [(pl.col(name) / pl.col("undetected")).alias(f"share {name}") for name in KINDS]
    frame = counted.with_columns(shares).sort("benchmark", pl.col("model") == "all", "model")
    pairs = f"(coder, task) pairs with E > 0 and nothing detected as published: {missed.height}"
    return Table(frame, notes=(f"{pairs}; with results in the domain: {joined.height}",))


def make_suspects(request: TableRequest) -> Table:
    """Return the suspects: tasks on which at least 3/4 of the models share one modal behaviour unlike the reference."""
    pools = request.pools()
    m, n = paper_sizes(request, pools)
    temperature = PAPER_SETTING.temperature if request.temperature is None else request.temperature
    parts = [suspicion.suspects(pool, temperature=temperature, m=m, n=n) for pool in pools.values()]
    frame = pl.concat([pl.DataFrame(schema=parts[0].schema), *parts])
    frame = request.counted(frame)
    return Table(frame, notes=(f"m = {m}, n = {n}, temperature {temperature:g}", *suspicion.count_findings(frame)))


def make_draws(request: TableRequest) -> Table:
    """Return how the inputs of each benchmark were drawn, for every validity policy that the store holds."""
    drawn = request.open().read("draws")
    drawn = request.counted(drawn)
    n, distinct, draws = pl.col("n"), pl.col("n_distinct"), pl.col("n_draws")
    repeats = pl.col("n_repeats").fill_null(0)
    frame = drawn.group_by("benchmark", inputs="validity").agg(
        tasks=pl.len(),
        median_distinct=distinct.median(),
        all_distinct=(distinct == n).sum(),
        exhausted=pl.when(pl.col("exhausted").is_not_null().any()).then(pl.col("exhausted").sum()),
        share_repeated=1 - distinct.sum() / n.sum(),
        share_redrawn=repeats.sum() / draws.sum(),
        share_rejected=1 - (n.sum() - pl.col("n_unchanged").sum() + repeats.sum()) / draws.sum(),
        share_unchanged=pl.col("n_unchanged").sum() / n.sum(),
    )
    notes = (
        "all_distinct, exhausted: tasks; exhausted: the last inputs all repeat earlier ones, after a thousand draws in "
        "a row that brought none that is new",
        "redrawn: of all draws, those that were valid and not kept, as they repeat an earlier input; rejected: those "
        "that were not valid",
        "unchanged: no draw of a hundred was valid, so a seed input stands as it is",
    )
    return Table(frame.sort("benchmark", "inputs"), notes=(*notes, *_exhausted(drawn)))


def _exhausted(drawn: pl.DataFrame) -> list[str]:
    """Return a line a benchmark that names the tasks whose domain is exhausted, with their distinct inputs."""
    found = drawn.filter("exhausted").sort("benchmark", "n_distinct", "task_id")
    named = found.with_columns(said=pl.format("{} ({})", "task_id", "n_distinct"))
    return [
        f"exhausted in {benchmark} (distinct inputs): {', '.join(own['said'])}"
        for (benchmark,), own in named.group_by("benchmark", maintain_order=True)
    ]
