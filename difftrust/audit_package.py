"""The audits as a data set of its own: `python -m difftrust.audit_package [build | inputs | check FILE]`.

``build`` writes ``data/audits`` anew from domains, descriptions, audits and the shipped results: tables and
``datapackage.json`` (Frictionless), the same bytes each time. ``inputs`` first draws the published inputs again, which
needs the benchmarks and takes seven minutes. ``check`` judges rows that somebody proposes.
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

from difftrust.audit_evidence import LONGEST, deciding_outcomes, recorded_inputs
from difftrust.shipped import find_results
from difftrust.tables.readings import KINDS, alarm_pairs, undetected_pairs
from difftrust.tables.request import TableRequest
from difftrust.tasks.descriptions import load_descriptions
from difftrust.tasks.find_texts import RECORDED
from difftrust.tasks.shrinking import Place, Places
from difftrust_core.base.files import find_shipped, write_whole
from difftrust_core.base.literals import read_literal
from difftrust_core.base.task import Task
from difftrust_core.datasets.audits import FAULTS, SETTLED_BY, Audit, Finding, load_audits, read_audits
from difftrust_core.datasets.benchmarks import find_file
from difftrust_core.datasets.entries import load_domains
from difftrust_core.exceptions import DifftrustError, WrongUsage
from difftrust_core.sandbox.host import Limits, Sandbox

VERSION: Final = "1.0.0"
"""Of the data set: the last number grows with a corrected cell, the second with new rows, the first with columns."""
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
    write_whole(folder / "datapackage.json", json.dumps(describe(folder), indent=1, ensure_ascii=False) + "\n")


_PLACES: Final = dict.fromkeys(("benchmark", "task_id", "model", "place", "arguments"), pl.String)


def _alarms(request: TableRequest) -> Iterator[Row]:
    pairs = alarm_pairs(request)["as published"].filter("detected").sort("benchmark", "task_id", "model")
    for row in pairs.rows(named=True):
        kind = next(name for name in ("right", "no_error", "admits_both") if row[name])
        yield {name: row[name] for name in ("benchmark", "task_id", "model")} | {"kind": kind.replace("_", " ")}


def _tasks() -> Iterator[Row]:
    for benchmark, tasks in load_descriptions().items():
        for task_id, one in tasks.items():
            yield {"benchmark": benchmark, "task_id": task_id, "signature": one.signature, "sentence": one.sentence}


def _domains() -> Iterator[Row]:
    for benchmark, tasks in load_descriptions().items():
        domains = load_domains(find_shipped(f"data/domains/{benchmark.lower()}.toml"))
        for task_id in tasks:
            own = domains[task_id]
            yield {"benchmark": benchmark, "task_id": task_id, **vars(own)}


def _write(path: Path, rows: Iterable[Row]) -> None:
    """Write a table as CSV with the columns that the data set's description names."""
    made = io.StringIO(newline="")
    writer = csv.DictWriter(made, [name for name, *_ in FIELDS[path.stem]], lineterminator="\n")
    writer.writeheader()
    for row in rows:
        writer.writerow({name: _spelled(value) for name, value in row.items()})
    write_whole(path, made.getvalue())


def _spelled(value: object) -> str:
    return "" if value is None else str(value).lower() if isinstance(value, bool) else str(value)


_KEY: Final = (
    ("benchmark", "HumanEval or MBPP", {"required": True, "enum": list(RECORDED)}),
    ("task_id", "the benchmark's own id", {"required": True}),
)
_MODEL: Final = ("model", "as in data/published/table_1.csv; ten programs at temperature 0.6", {"required": True})
_FINDINGS: Final = {"enum": list(Finding)}
FIELDS: Final[dict[str, tuple[tuple[str, str, dict[str, Any]], ...]]] = {
    "audits": (
        *_KEY,
        ("finding", "what stands: see docs/audits.md", {"required": True, **_FINDINGS}),
        ("arguments", "the input that decides, a tuple as a Python literal", {}),
        ("why", "the reason, in words of this project", {"required": True}),
        ("drawn", "drawn at random, not read for a suspicion", {"required": True}),
        ("settled_by", "one reader before there were two; two who agree; a third", {"enum": list(SETTLED_BY)}),
        ("former", "finding of the first reading, where two have read since", _FINDINGS),
        ("reader_a", "finding of the first of two readers; empty: not read by two", _FINDINGS),
        ("arguments_a", "the input that decided for this reader", {}),
        ("why_a", "this reader's reason", {}),
        ("reader_b", "finding of the second of two readers", _FINDINGS),
        ("arguments_b", "the input that decided for this reader", {}),
        ("why_b", "this reader's reason", {}),
    ),
    "domains": (
        *_KEY,
        ("types", "the parameters with their types: docs/domains.md", {}),
        ("requires", "Python: an expression over the parameters, or a function `requires`", {}),
        ("generate", "Python: a function that draws an input, where mutation rarely meets the domain", {}),
    ),
    "tasks": (
        *_KEY,
        ("signature", "of the function", {"required": True}),
        ("sentence", "what is asked for, in words of this project", {"required": True}),
    ),
    "outcomes": (
        *_KEY,
        ("arguments", "the input that decides the audit of the task", {"required": True}),
        ("reference", "whether the reference does this", {"required": True}),
        ("n_programs", "of the 160 recorded programs, ten of each of 16 models, so many do", {"required": True}),
        ("kind", "of the outcome: value, exception, timeout ...", {"required": True}),
        ("text", "the value or the exception, cut after 200 characters", {}),
    ),
    "undetected": (
        *_KEY,
        _MODEL,
        ("kind", "what the error is that ten agreeing programs do not show", {"required": True, "enum": list(KINDS)}),
        ("place", "of the recorded input: in the domain, or outside it (types: by its types)", {"enum": list(Place)}),
        ("arguments", f"the shortest recorded input that shows the error; none over {LONGEST} characters", {}),
    ),
    "alarms": (
        *_KEY,
        _MODEL,
        ("kind", "whether the alarm is right", {"required": True, "enum": ["right", "no error", "admits both"]}),
    ),
}
"""Table -> (column, meaning, constraints)."""
_TITLES: Final = {
    "audits": "What readers found of references: a row a task",
    "domains": "Which inputs a task allows: a row a task",
    "tasks": "What a task asks for: a row a task",
    "outcomes": "What reference and programs do on the input that decides an audit: a row an outcome",
    "undetected": "Errors that ten agreeing programs do not show, as published: a row a (model, task)",
    "alarms": "Tasks on which two of ten programs differ, as published: a row a (model, task)",
}


def describe(folder: Path) -> dict[str, Any]:
    """Return the Frictionless description of the tables in ``folder``: schemas, keys, sizes and checksums."""
    return {
        "profile": "tabular-data-package",
        "name": "difftrust-audits",
        "title": "Domains and audits of HumanEval and MBPP",
        "description": "Which inputs the tasks allow, what readers found of the references, and what the errors and "
        "alarms of 16 models rest on. No text of a benchmark. docs/audits.md explains it.",
        "version": VERSION,
        "licenses": [{"name": "MIT", "path": "https://opensource.org/license/mit", "title": "MIT License"}],
        "resources": [_resource(folder / f"{name}.csv") for name in FIELDS],
    }


def _resource(path: Path) -> dict[str, Any]:
    content = path.read_bytes()
    keys = [name for name, *_ in FIELDS[path.stem] if name in ("benchmark", "task_id", "model")]
    kinds = {"drawn": "boolean", "reference": "boolean", "n_programs": "integer"}
    fields = [
        {"name": name, "type": kinds.get(name, "string"), "description": said, "constraints": limits}
        for name, said, limits in FIELDS[path.stem]
    ]
    schema: dict[str, Any] = {"fields": fields} | ({} if path.stem == "outcomes" else {"primaryKey": keys})
    if path.stem != "tasks":
        reference = {"resource": "tasks", "fields": keys[:2]}
        schema["foreignKeys"] = [{"fields": keys[:2], "reference": reference}]
    return {
        "profile": "tabular-data-resource",
        "name": path.stem,
        "title": _TITLES[path.stem],
        "path": path.name,
        "format": "csv",
        "mediatype": "text/csv",
        "encoding": "utf-8",
        "bytes": len(content),
        "hash": f"sha256:{hashlib.sha256(content).hexdigest()}",
        "schema": schema,
    }


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
    domains = load_domains(find_shipped(f"data/domains/{benchmark.lower()}.toml"))
    return Task(
        benchmark=benchmark,
        task_id=task_id,
        entry_point=name,
        signature=f"({parameters}",
        description=one.sentence,
        seed_inputs=(),
        domain=domains[task_id],
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
