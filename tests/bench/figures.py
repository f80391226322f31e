"""The figures of `make bench`: rows of one table, as Parquet and as Markdown."""

import math
import platform
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, fields
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

import polars as pl

NAN = float("nan")
LIBRARIES = ("difftrust", "numpy", "polars", "duckdb", "joblib")


@dataclass(frozen=True, kw_only=True)
class Figure:
    """One figure: the middle of ``runs`` values, and the lowest and highest or an interval (NaN where it is one)."""

    part: str
    what: str
    value: float
    unit: str = ""
    low: float = NAN
    high: float = NAN
    runs: int = 1


def figure_of(part: str, what: str, values: Sequence[float], unit: str = "") -> Figure:
    """Return the median of what was measured several times, with the lowest and the highest."""
    spread = {"low": min(values), "high": max(values)} if len(values) > 1 else {}
    return Figure(part=part, what=what, value=statistics.median(values), unit=unit, runs=len(values), **spread)


def machine() -> dict[str, str]:
    """Return what the figures depend on besides the code."""
    lines = Path("/proc/cpuinfo").read_text().splitlines() if Path("/proc/cpuinfo").exists() else []
    processors = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    named = f"{len(processors)} x {processors[0]}" if processors else platform.processor()
    return {
        "day": datetime.now(UTC).date().isoformat(),
        "processors": named,
        "system": platform.platform(),
        "Python": platform.python_version(),
        **{name: version(name) for name in LIBRARIES},
    }


def spelled(value: float) -> str:
    """Return three significant digits, thousands marked."""
    if math.isnan(value):
        return ""
    if value == round(value):
        return f"{value:,.0f}"
    if abs(value) < 1:
        return f"{value:.3g}"
    digits = max(0, 2 - math.floor(math.log10(abs(value))))
    return f"{value:,.{digits}f}"


def in_markdown(figures: Sequence[Figure]) -> str:
    """Return a table of the figures."""
    lines = ["| what | value | lowest to highest | runs |", "|---|---:|---:|---:|"]
    for row in figures:
        spread = "" if math.isnan(row.low) else f"{spelled(row.low)} to {spelled(row.high)}"
        lines.append(f"| {row.what} | {spelled(row.value)}{row.unit and ' ' + row.unit} | {spread} | {row.runs} |")
    return "\n".join(lines) + "\n"


def write_figures(figures: Sequence[Figure], path: Path) -> None:
    """Write the figures and the machine as Parquet."""
    path.parent.mkdir(parents=True, exist_ok=True)
    on = {name: pl.lit(value) for name, value in machine().items()}
    pl.DataFrame([asdict(row) for row in figures]).with_columns(**on).write_parquet(path)


def read_figures(path: Path) -> tuple[list[Figure], dict[str, str]]:
    """Return the figures that were written, and the machine that they were measured on."""
    rows = pl.read_parquet(path).to_dicts()
    names = [field.name for field in fields(Figure)]
    on = {name: value for name, value in rows[0].items() if name not in names}
    return [Figure(**{name: row[name] for name in names}) for row in rows], on


def timed(work: Callable[[], object], runs: int) -> list[float]:
    """Return the seconds of each of several runs of ``work``."""
    seconds = []
    for _ in range(runs):
        began = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - began)
    return seconds
