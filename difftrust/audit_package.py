"""The audits as a data set of its own: `python -m difftrust.audit_package [build | inputs | check FILE]`.

``build`` writes ``data/audits`` anew from domains, descriptions, audits and the shipped results: the tables, and their
sizes and checksums in ``datapackage.json`` (Frictionless), the same bytes each time. ``inputs`` first draws the
published inputs again, which needs the benchmarks and takes seven minutes. ``check`` judges rows that somebody
proposes.
"""

import csv
import hashlib
import io
import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import polars as pl

from difftrust.audit_evidence import deciding_outcomes, recorded_inputs
from difftrust.shipped import find_results
from difftrust.tables.readings import KINDS, alarm_pairs, undetected_pairs
from difftrust.tables.request import TableRequest
from difftrust.tasks.descriptions import load_descriptions
from difftrust.tasks.find_texts import RECORDED
from difftrust.tasks.shrinking import Place, Places
from difftrust_core.base.files import find_shipped, write_whole
from difftrust_core.base.literals import read_literal
from difftrust_core.base.task import Task
from difftrust_core.datasets.audits import FAULTS, Audit, Finding, load_audits, read_audits
from difftrust_core.datasets.benchmarks import find_file
from difftrust_core.datasets.entries import shipped_domains
from difftrust_core.exceptions import DifftrustError, WrongUsage
from difftrust_core.sandbox.host import Limits, Sandbox

DESCRIPTION: Final = "datapackage.json"
"""Of its version the last number grows with a corrected cell, the second with new rows, the first with columns."""
MOST_WORDS: Final = 30
"""Of a reason."""
Row = Mapping[str, Any]


def build(folder: Path, *, run: bool = False) -> None:
    """Write all tables of the data set but the audits, and its description.

    ``run``: find the inputs of undetected errors again, and run the programs on the inputs that decide audits; else
    what is at hand stays. Raises NoBenchmark if the benchmarks that this needs are not on this machine.
    """
    for name in (*map(str.lower, RECORDED), "difftrust") if run else ():
        _ = find_file(name)
    request = TableRequest(store=find_results(), paper_setting=True)
    target = folder / "undetected.csv"
    found = list(recorded_inputs(request)) if run else pl.read_csv(target, infer_schema=False).select(_PLACES.keys())
    places = pl.DataFrame(found, schema=_PLACES)
    if run:
        _write(target, places.with_columns(kind=pl.lit(KINDS[0])).rows(named=True))
    _, pairs = undetected_pairs(request)
    keys = ["benchmark", "task_id", "model"]
    judged = pairs.select(*keys, "kind").join(places, on=keys, how="left").sort(keys)
    _write(target, judged.rows(named=True))
    if run:
        coders = pairs.select("model", "temperature").unique().sort("model").rows()
        _write(folder / "outcomes.csv", deciding_outcomes(load_audits(), coders))
    _write(folder / "alarms.csv", _alarms(request))
    _write(folder / "tasks.csv", _tasks())
    _write(folder / "domains.csv", _domains())
    write_whole(folder / DESCRIPTION, json.dumps(describe(folder), indent=1, ensure_ascii=False) + "\n")


_PLACES: Final = dict.fromkeys(("benchmark", "task_id", "model", "place", "arguments"), pl.String)


def _alarms(request: TableRequest) -> Iterator[Row]:
    pairs = alarm_pairs(request)["as published"].filter("detected").sort("benchmark", "task_id", "model")
    for row in pairs.rows(named=True):
        kind = next(name for name in ("right", "no_error", "admits_both") if row[name])
        yield {name: row[name] for name in ("benchmark", "task_id", "model")} | {"kind": kind.replace("_", " ")}


def _tasks() -> Iterator[Row]:
    for benchmark, tasks in load_descriptions().items():
        for task_id, one in tasks.items():
            yield {"benchmark": benchmark, "task_id": task_id, **vars(one)}


def _domains() -> Iterator[Row]:
    for benchmark, tasks in load_descriptions().items():
        domains = shipped_domains(benchmark)
        for task_id in tasks:
            yield {"benchmark": benchmark, "task_id": task_id, **vars(domains[task_id])}


def _write(path: Path, rows: Iterable[Row]) -> None:
    """Write a table as CSV with the columns that the data set's description names."""
    (own,) = (one for one in _description(path.parent)["resources"] if one["path"] == path.name)
    made = io.StringIO(newline="")
    writer = csv.DictWriter(made, [field["name"] for field in own["schema"]["fields"]], lineterminator="\n")
    writer.writeheader()
    for row in rows:
        writer.writerow({name: _spelled(value) for name, value in row.items()})
    write_whole(path, made.getvalue())


def _spelled(value: object) -> str:
    return "" if value is None else str(value).lower() if isinstance(value, bool) else str(value)


def describe(folder: Path) -> dict[str, Any]:
    """Return the Frictionless description in ``folder`` with the sizes and checksums of the tables as they are now.

    What its columns mean and hold, title and version stand in the file itself.
    """
    said = _description(folder)
    for resource in said["resources"]:
        content = (folder / resource["path"]).read_bytes()
        resource |= {"bytes": len(content), "hash": f"sha256:{hashlib.sha256(content).hexdigest()}"}
    return said


def _description(folder: Path) -> dict[str, Any]:
    said: dict[str, Any] = json.loads((folder / DESCRIPTION).read_text(encoding="utf-8"))
    return said


def complaints(path: Path) -> list[str]:
    """Return what is wrong with the audits that somebody proposes: a CSV file with the columns of ``audits.csv``.

    Benchmark, task_id, finding, arguments and why suffice. Raises BadBenchmark if it cannot be read.
    """
    found = list(read_audits(path))
    said = [] if found else [f"{path}: expected a row below the header, found none; add one"]
    with Sandbox(Limits()) as sandbox:
        for audit in found:
            said += [f"{audit.task_id}: {what}" for what in _wrong_with(audit, sandbox)]
    return said


def _wrong_with(audit: Audit, sandbox: Sandbox) -> Iterator[str]:
    known = load_descriptions().get(audit.benchmark, {})
    if audit.task_id not in known:
        yield f"expected a task of HumanEval or MBPP in tasks.csv, found none of this id in {audit.benchmark!r}"
        return
    n_words = len(audit.why.split())
    if not 3 <= n_words <= MOST_WORDS or not audit.why.endswith("."):
        yield f"expected a reason of 3 to {MOST_WORDS} words with a full stop, found {n_words} words; say what decides"
    if not audit.arguments and audit.finding in (*FAULTS, Finding.PROGRAMS_WRONG):
        yield "expected the input that decides in column arguments, found none; write it as a tuple, (x,) for one"
    if audit.arguments:
        yield from _wrong_with_input(audit, sandbox)


def _wrong_with_input(audit: Audit, sandbox: Sandbox) -> Iterator[str]:
    try:
        is_tuple = type(read_literal(audit.arguments)) is tuple
    except DifftrustError:
        is_tuple = False
    if not is_tuple:
        yield f"expected a tuple of literals in column arguments, found {audit.arguments[:60]}; write (x,) for one"
        return
    place = Places(domain_task(audit.benchmark, audit.task_id), sandbox).of([audit.arguments])[0]
    if place != Place.DOMAIN:
        why = "by its types" if place == Place.TYPES else "by its condition"
        yield f"expected an input inside the domain, found one outside {why}; choose another, or propose a wider domain"


def domain_task(benchmark: str, task_id: str) -> Task:
    """Return a task as far as it is known without its benchmark: signature and domain."""
    one = load_descriptions()[benchmark][task_id]
    name, _, parameters = one.signature.partition("(")
    return Task(
        benchmark=benchmark,
        task_id=task_id,
        entry_point=name,
        signature=f"({parameters}",
        description=one.sentence,
        seed_inputs=(),
        domain=shipped_domains(benchmark).get(task_id),
    )


def main(words: Sequence[str]) -> int:
    """Do what the command line says; return the exit status."""
    folder = find_shipped("data/audits")
    match words:
        case [] | ["build"] | ["inputs"]:
            build(folder, run=words == ["inputs"])
        case ["check", name]:
            said = complaints(Path(name))
            print("\n".join(said) or "nothing to mend")
            return int(bool(said))
        case _:
            raise WrongUsage(f"expected build, inputs or check FILE, got {' '.join(words)!r}")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except DifftrustError as e:
        sys.exit(f"audit_package: {e}")
