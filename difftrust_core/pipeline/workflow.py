"""The stages of one coder's run with their counts, for the diagram of the pipeline; and nothing else."""

import polars as pl

from difftrust_core.benchmark import mean_error, mean_incoherence
from difftrust_core.exceptions import WrongUsage

STAGES = {"stage": pl.String, "title": pl.String, "count": pl.String, "detail": pl.String}
"""Columns of ``workflow_stages``."""


def workflow_stages(estimates: pl.DataFrame) -> pl.DataFrame:
    """Return one row a stage of ``charts.draw_workflow``: what it is, how many, and one or two lines more.

    ``estimates``: of one coder on one benchmark. Counts by all pairs. Without a reference the stages that need one are
    left out. Raises WrongUsage if there are none, or of several coders.
    """
    coders = estimates.select("benchmark", "model", "temperature").unique()
    if coders.height != 1:
        raise WrongUsage(f"a workflow is that of one coder on one benchmark, got {coders.height}; choose with --model")
    benchmark, model, temperature = coders.row(0)
    m, n = int(estimates["m"].max()), int(estimates["n"].max())  # type: ignore[arg-type]
    runs = estimates.select((pl.col("m").cast(pl.Int64) * pl.col("n")).sum()).item()
    disagreeing = estimates.filter(pl.col("incoherence") > 0).height
    rows = [
        ("tasks", "Tasks", f"{estimates.height:,}", f"{benchmark}: signature,\ndescription, seed inputs"),
        (
            "programs",
            "Sample programs",
            f"{estimates['m'].sum():,}",
            f"{model}, t = {temperature:g}, m = {m}\n{estimates['n_classes'].sum():,} distinct behaviours",
        ),
        ("inputs", "Fuzz inputs", f"{estimates['n'].sum():,}", f"n = {n:,} a task,\nthe same for all programs"),
        ("outcomes", "Run each on each", f"{runs:,}", "outcomes, in a sandbox"),
        (
            "disagreeing",
            "Compare with each other",
            f"{disagreeing:,} tasks",
            f"two programs disagree;\nmean incoherence {mean_incoherence(estimates):.3f}",
        ),
    ]
    return pl.DataFrame([*rows, *_judged(estimates, disagreeing)], schema=STAGES, orient="row")


def _judged(estimates: pl.DataFrame, disagreeing: int) -> list[tuple[str, str, str, str]]:
    wrong = estimates.filter(pl.col("error").is_not_nan() & (pl.col("error") > 0))
    if estimates["error"].is_nan().all():
        return []
    found = wrong.filter(pl.col("incoherence") > 0).height
    rate = f"{found / wrong.height:.2f}" if wrong.height else "undefined"
    return [
        (
            "reference",
            "Compare with the reference",
            f"{wrong.height:,} tasks",
            f"a program is wrong;\nmean error {mean_error(estimates):.3f}",
        ),
        (
            "found",
            "Wrong and found",
            f"{found:,} tasks",
            f"{rate} of those wrong;\nfalse alarms: {disagreeing - found}",
        ),
    ]
