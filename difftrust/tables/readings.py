"""One store read in three ways: as published, inside the domains, and there without faulty references.

Its errors that nobody sees, and its alarms, are told apart by the second and the third.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

import polars as pl

from difftrust.research.coders import MEAN, with_ends
from difftrust.research.other_models import count_findings, suspects
from difftrust.research.per_candidate import KEY, KEY_SCHEMA
from difftrust.results import Table
from difftrust.shipped import PAPER_SETTING
from difftrust.tables.interval_columns import requested_table_4, share_table
from difftrust.tables.request import TableRequest, estimates_for, is_shipped
from difftrust_core.base.files import find_shipped
from difftrust_core.base.records import Detection, Reading, References, Validity
from difftrust_core.datasets.audits import FAULTS, Finding, audit_frame
from difftrust_core.exceptions import WrongUsage
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
    share of erroneous tasks among those on which all programs agree, with its exact 95 % interval over tasks;
    ``error_removed``: of the mean error as published, the share that is gone.
    """
    parts, notes = {}, []
    for name, reading in READINGS.items():
        wanted = replace(request, reading=reading, detection=Detection.ALL_PAIRS)
        estimates, _ = estimates_for(wanted)
        parts[name,] = _measured(estimates, wanted)
        notes.append(f"{name}: {estimates.select('benchmark', 'task_id').n_unique()} tasks")
    share = pl.col("mean_error") / pl.col("mean_error").first().over("benchmark", "model")
    frame = interleave(parts, ["reading"], last=MEAN).with_columns(error_removed=(1 - share).fill_nan(None))
    return Table(frame, notes=(*notes, "error_removed: of the mean error as published, the share that is gone"))


def _measured(estimates: pl.DataFrame, request: TableRequest) -> pl.DataFrame:
    table = requested_table_4(estimates, request, measures=_MEASURES)
    counts = estimates.group_by("benchmark", "model").agg(
        erroneous=(pl.col("error") > 0).sum(), detected=((pl.col("error") > 0) & pl.col("detected")).sum()
    )
    ends = dict(zip(with_ends("wrong_although_agreeing"), with_ends("p_erroneous"), strict=True))
    trust = false_trust(estimates).select("benchmark", "model", **ends)
    found = table.join(counts, on=["benchmark", "model"], how="left").join(trust, on=["benchmark", "model"], how="left")
    own = pl.col("wrong_although_agreeing")
    mean = own.fill_nan(None).mean().over("benchmark")
    return found.with_columns(wrong_although_agreeing=pl.when(pl.col("model") == MEAN).then(mean).otherwise(own))


KINDS: Final = (
    "outside the domain",
    "detected in the domain",
    "reference or description at fault",
    "error of the programs",
)
"""What becomes of an error that incoherence missed."""
ALL: Final = "all"
"""The model in the rows of all models together."""


def make_undetected(request: TableRequest) -> Table:
    """Return what the undetected errors of the first reading are: a row for each benchmark and model, counting tasks.

    The pairs are those of ``undetected_pairs``. ``unread``: errors of the programs on tasks that nobody has audited;
    ``on_tasks``: distinct tasks among all; ``share <kind>`` with its interval over tasks.
    """
    published, pairs = undetected_pairs(request)
    n_missed = published.filter((pl.col("error") > 0) & ~pl.col("detected")).height
    shares = {f"share {name}": (name, "undetected") for name in KINDS}
    read = pairs.join(_audited(*Finding), on=["benchmark", "task_id"], how="left", maintain_order="left")
    unread = (pl.col("kind") == KINDS[3]) & read["audited_right"].is_null()
    counted = pairs.with_columns(undetected=True, unread=unread, **{name: pl.col("kind") == name for name in KINDS})
    frame = by_model(counted, ("undetected", *KINDS, "unread"), shares, published, request)
    said = f"(coder, task) pairs with E > 0 and nothing detected as published: {n_missed}"
    notes = [f"{said}; with results in the domain: {pairs.height}", *_tasks_of_kinds(counted)]
    moved = pairs.filter(pl.col("in_domain") & (pl.col("error") == 0)).height
    if moved:
        notes.append(
            f"E = 0 on the inputs drawn in the domain, yet a recorded input inside it shows the error: {moved}"
        )
    return Table(frame, notes=(*notes, OVER))


def undetected_pairs(request: TableRequest) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return the estimates as published, and what each undetected error of them is: a row a (coder, task).

    Undetected: E > 0, I = 0 and every program loads, as published. ``kind``: no input inside the domain shows the error
    (``outside the domain``: neither one drawn there, ``error``, nor one recorded as published, ``in_domain``);
    programs differ inside the domain, I > 0 (``detected in the domain``); the audit found the reference or the
    description at fault; what is left are errors of the programs, all alike.
    """
    published, domain = (_of_reading(name, request) for name in ("as published", "in the domain"))
    missed = published.filter((pl.col("error") > 0) & ~pl.col("detected"))
    judged = missed.select(*KEY).join(domain, on=KEY)
    judged = judged.join(_audited(*FAULTS), on=["benchmark", "task_id"], how="left")
    judged = judged.join(_recorded_inside(request), on=KEY, how="left").with_columns(
        pl.col("in_domain").fill_null(value=False)
    )
    kind = (
        pl.when((pl.col("error") == 0) & ~pl.col("in_domain")).then(pl.lit(KINDS[0]))
        .when(pl.col("detected")).then(pl.lit(KINDS[1]))
        .when(pl.col("audited").fill_null(value=False)).then(pl.lit(KINDS[2]))
        .otherwise(pl.lit(KINDS[3]))
    )  # fmt: skip
    return published, judged.with_columns(kind=kind)


def _recorded_inside(request: TableRequest) -> pl.DataFrame:
    """Return the pairs of the shipped results of which a recorded input that shows the error lies in the domain."""
    schema = KEY_SCHEMA | {"in_domain": pl.Boolean}
    path = find_shipped("data/audits/undetected.csv")
    if not path.is_file() or not is_shipped(request.store):
        return pl.DataFrame(schema=schema)
    inside = pl.read_csv(path, infer_schema=False).filter(place="domain")
    return inside.with_columns(temperature=PAPER_SETTING.temperature, in_domain=True).select(
        pl.col(name).cast(kind) for name, kind in schema.items()
    )


def make_alarms(request: TableRequest) -> Table:
    """Return how many alarms are right: a row for each benchmark, model and reading, counting tasks.

    An alarm: two of the programs differ on some input of the reading, or one does not load. On inputs inside the domain
    the task then has E = 0 (``no_error``); or E > 0 where the audit found that the description admits both answers
    (``admits_both``); else the alarm is ``right``. ``precision``: right alarms of all; ``no_error_share`` likewise;
    ``recall``: of the ``erroneous`` tasks of the reading, the share ``detected``; each with its interval over tasks.
    """
    parts = {(name,): alarm_rates(pairs, request) for name, pairs in alarm_pairs(request).items()}
    return Table(interleave(parts, ["reading"]), notes=(*_OF_ALARMS, OVER))


def alarm_rates(pairs: pl.DataFrame, request: TableRequest) -> pl.DataFrame:
    """Return counts of alarms, precision and recall of ``judge_alarms``: a row a benchmark and model, then all."""
    counted = pairs.with_columns(alarms=pl.col("detected"), detected=pl.col("detected") & pl.col("erroneous"))
    return by_model(counted, _COUNTED, _RATES, pairs, request)


def alarm_pairs(request: TableRequest) -> dict[str, pl.DataFrame]:
    """Return for each reading the rows of ``judge_alarms``."""
    of_reading = {name: _of_reading(name, request) for name in READINGS}
    return {name: judge_alarms(estimates, of_reading["in the domain"]) for name, estimates in of_reading.items()}


def judge_alarms(estimates: pl.DataFrame, in_domain: pl.DataFrame) -> pl.DataFrame:
    """Return a row a (coder, task) of which it is known whether there is an alarm, ``detected``, and an error.

    ``erroneous`` by ``estimates``; of an alarm ``right``, ``no_error`` or ``admits_both``, by those inside the domain.
    """
    wrong, both, is_alarm = pl.col("truth") > 0, pl.col("audited").fill_null(value=False), pl.col("detected")
    known = estimates.drop_nulls("detected").join(in_domain.select(*KEY, truth="error").drop_nulls("truth"), on=KEY)
    known = known.join(_audited(Finding.SEVERAL_RIGHT), on=["benchmark", "task_id"], how="left")
    return known.with_columns(
        erroneous=pl.col("error") > 0,
        right=is_alarm & wrong & ~both,
        no_error=is_alarm & ~wrong,
        admits_both=is_alarm & wrong & both,
    )


_COUNTED: Final = ("alarms", "right", "no_error", "admits_both", "erroneous", "detected")
_RATES: Final = {
    "precision": ("right", "alarms"),
    "no_error_share": ("no_error", "alarms"),
    "recall": ("detected", "erroneous"),
}
_OF_ALARMS: Final = (
    "alarm: two of the programs differ on some input of the reading, or one does not load; right: some program errs on "
    "an input inside the domain, by the reference as given, and the description does not admit both answers",
    "no_error: no program errs inside the domain, so the alarm rests on inputs that the task does not allow; in the "
    "domain there is none, for programs that differ there cannot all equal the reference",
    "admits_both: the audit found that the description admits the reference's answer and another; counted apart",
    "recall: detection rate of the reading, by all pairs; all: (model, task) pairs of all models together",
)
OVER: Final = (
    "in brackets: 95 % intervals over tasks (BCa), all pairs of one task drawn together; none where every resample "
    "gives the same"
)


def _of_reading(name: str, request: TableRequest) -> pl.DataFrame:
    return estimates_for(replace(request, reading=READINGS[name]))[0].select(*KEY, "error", "detected")


def _audited(*findings: Finding) -> pl.DataFrame:
    """Return the tasks of which the audit found one of these: benchmark, task_id, audited."""
    kept = audit_frame().filter(pl.col("finding").is_in([str(finding) for finding in findings]))
    return kept.select("benchmark", "task_id", audited=pl.lit(value=True))


def interleave(parts: Mapping[Any, pl.DataFrame], named: Sequence[str], *, last: str = ALL) -> pl.DataFrame:
    """Return the rows of several tables by benchmark and model, ``last`` behind the others; of a model in their order.

    ``parts``: the table of each value of the columns ``named``, which stand right of the models.
    """
    rows = pl.concat(
        part.with_columns(pl.lit(text).alias(name) for name, text in zip(named, texts, strict=True))
        for texts, part in parts.items()
    )
    first = ("benchmark", "model", *named)
    return rows.select(*first, pl.exclude(first)).sort(*_order(last), maintain_order=True)


def _order(last: str) -> tuple[str | pl.Expr, ...]:
    return "benchmark", pl.col("model") == last, "model"


def by_model(
    pairs: pl.DataFrame,
    counted: Sequence[str],
    shares: Mapping[str, tuple[str, str]],
    judged: pl.DataFrame,
    request: TableRequest,
) -> pl.DataFrame:
    """Return a row a benchmark and model, then all: ``on_tasks``, the sums of ``counted``, ``shares`` with intervals.

    ``judged``: rows of all tasks that the shares are resampled over; ``on_tasks``: those with the first of ``counted``.
    """
    everyone = pairs.with_columns(model=pl.lit(ALL))
    on_tasks = pl.col("task_id").filter(pl.col(counted[0])).n_unique().alias("on_tasks")
    counts = [count.cast(pl.Int64) for count in (pl.col(counted).sum(), on_tasks)]
    found = share_table(pl.concat([pairs, everyone]), ("benchmark", "model"), counts, shares, judged, request)
    return found.sort(*_order(ALL))


def _tasks_of_kinds(pairs: pl.DataFrame) -> list[str]:
    """Say on how many tasks the pairs of each kind stand."""
    lines = []
    for (benchmark,), own in pairs.group_by("benchmark", maintain_order=True):
        counts = [f"{name} {own[name].sum()} on {own.filter(name)['task_id'].n_unique()}" for name in KINDS]
        lines.append(
            f"{benchmark}, pairs on distinct tasks: {own.height} on {own['task_id'].n_unique()}; {', '.join(counts)}"
        )
    return lines


def make_suspects(request: TableRequest) -> Table:
    """Return the suspects: tasks on which at least 3/4 of the models share one answer unlike the reference."""
    t, m, n = require_one_setting(request, "suspects")
    parts = [suspects(pool, temperature=t, m=m, n=n) for pool in request.shown_pools().values()]
    frame = request.counted(pl.concat(parts))
    return Table(frame, notes=(f"m = {m}, n = {n}, temperature {t:g}", *count_findings(frame)))


def require_one_setting(request: TableRequest, what: str) -> tuple[float, int, int]:
    """Return temperature, m and n of a settled request. Raises WrongUsage if one of them is not settled."""
    t = request.wanted_temperature
    if t is None or request.m is None or request.n is None:
        raise WrongUsage(f"{what} are those of one temperature, one m and one n; take them from `make_table`")
    return t, request.m, request.n


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
