"""Every table by its name: those of the paper and this project's own."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Final

import polars as pl

from difftrust.results import Table
from difftrust.tables.agreement import make_agreement, make_correlated, make_difficulty, make_dissent, make_guarantee
from difftrust.tables.audit_table import make_audits
from difftrust.tables.by_tests import make_tests
from difftrust.tables.grid import PARTS
from difftrust.tables.paper_tables import make_rankings, make_table_2, make_table_3, make_table_4
from difftrust.tables.readings import READINGS, make_alarms, make_draws, make_readings, make_suspects, make_undetected
from difftrust.tables.request import TableRequest, settle
from difftrust.tables.value_of_choosing import make_questions, make_selection
from difftrust.tables.versions import make_versions
from difftrust.tables.what_to_buy import make_policies
from difftrust_core.base.records import AS_STORED, Reading
from difftrust_core.exceptions import WrongUsage

Maker = Callable[[TableRequest], Table]


def _settled(make: Maker, *readings: Reading) -> Maker:
    """Return the table with one m, one n and one temperature a row, in columns; ``readings``: which it compares."""

    def make_settled(request: TableRequest) -> Table:
        found, notes = settle(request, readings)
        models = _models(found, readings)
        if make is make_rankings or not models:  # it ranks all temperatures together too, and says so in a row
            made = make(request if make is make_rankings else found)  # which has the notes of its own settling
            return replace(made, frame=_with_setting(made.frame, found, None))
        parts = {t: make(replace(found, temperature=t, only=tuple(sorted(own)))) for t, own in sorted(models.items())}
        frame = pl.concat([_with_setting(part.frame, found, t) for t, part in parts.items()], how="vertical_relaxed")
        frame = frame.sort("benchmark", maintain_order=True) if len(parts) > 1 else frame
        return Table(frame, notes=tuple(dict.fromkeys([*_together(parts), *notes])))

    return make_settled


def _models(request: TableRequest, readings: Sequence[Reading]) -> dict[float, set[str]]:
    """Return temperature -> the models shown that have m programs and n inputs in every reading."""
    of_reading = [
        {coder for pool in replace(request, reading=reading).shown_pools().values() for coder in pool.members}
        for reading in readings or (request.reading,)
    ]
    found: dict[float, set[str]] = {}
    held = [coders for coders in of_reading if coders]
    for model, temperature in set.intersection(*held) if held else ():
        found.setdefault(temperature, set()).add(model)
    return found


def _with_setting(frame: pl.DataFrame, request: TableRequest, temperature: float | None) -> pl.DataFrame:
    """Return the frame with temperature, m and n right of its models; a column that it has stays."""
    setting = {
        "temperature": pl.lit(temperature, pl.Float64),
        "m": pl.lit(request.m, pl.Int64),
        "n": pl.lit(request.n, pl.Int64),
    }
    added = [value.alias(name) for name, value in setting.items() if name not in frame.columns]
    place = 1 + max((frame.columns.index(name) for name in ("benchmark", "model") if name in frame.columns), default=-1)
    return frame.select(*frame.columns[:place], *added, *frame.columns[place:])


def _together(parts: Mapping[float, Table]) -> list[str]:
    """Return the notes of all parts, those that not all have with the temperature that they are of."""
    shared = set.intersection(*(set(part.notes) for part in parts.values()))
    return [
        note if note in shared or "t = " in note else f"t = {t:g}: {note}"
        for t, part in parts.items()
        for note in part.notes
    ]


TABLES: Final[dict[str, Maker]] = {
    "2": _settled(make_table_2),
    "3": make_table_3,
    **{part: partial(make_table_3, part=part) for part in PARTS},
    "4": _settled(make_table_4),
    "selection": _settled(make_selection),
    "questions": _settled(make_questions),
    "rankings": _settled(make_rankings),
    "readings": _settled(make_readings, *READINGS.values()),
    "undetected": _settled(make_undetected, *READINGS.values()),
    "alarms": _settled(make_alarms, *READINGS.values()),
    "suspects": _settled(make_suspects),
    "draws": make_draws,
    "audits": make_audits,
    "versions": make_versions,
    "agreement": _settled(make_agreement),
    "guarantee": _settled(make_guarantee),
    "dissent": _settled(make_dissent),
    "difficulty": _settled(make_difficulty),
    "correlated": _settled(make_correlated),
    "policies": make_policies,
    "tests": _settled(make_tests, AS_STORED, READINGS["in the domain"]),
}
"""Own rules: Table 3 varies m, n and temperature, ``policies`` buys programs, ``draws`` and ``audits`` are of tasks,
``versions`` of pairs."""


def make_table(name: str, request: TableRequest) -> Table:
    """Return a table by its name. Raises WrongUsage for another name, NoStore if there is no data."""
    if name not in TABLES:
        raise WrongUsage(f"table is one of {', '.join(TABLES)}, got {name!r}")
    return TABLES[name](request)
