"""The table of pass@1 by the tests that tasks bring along, beside the measures on fuzzed inputs."""

from dataclasses import replace
from typing import Final

import polars as pl

from difftrust.research.passed_tests import ALL, shares_passed, told_of_tests
from difftrust.research.per_candidate import KEY
from difftrust.results import Table
from difftrust.tables.interval_columns import requested_table_4
from difftrust.tables.request import TableRequest, estimates_for, range_of
from difftrust_core.base.records import Validity
from difftrust_core.estimates.refresh import open_pools, policies_executed
from difftrust_core.exceptions import NoStore

_MEAN: Final = "mean_error"
_BEGINNINGS: Final = ("pass_at_1_", "error_", "incoherence_")
NO_BOUND: Final = (
    "no bound links the error by tests with the incoherence on other inputs: I <= 2E is of one set of inputs"
)


def make_tests(request: TableRequest) -> Table:
    """Return pass@1 by each group of tests and by all of them, beside pass@1, error and incoherence on other inputs.

    A row a benchmark and model (and temperature, where some model has several), then the mean over models, over the
    tasks that have both tests and results on the inputs of the store's own policy. ``pass_at_1_<group>``,
    ``pass_at_1_all_tests``; ``pass_at_1_<inputs>``, ``error_<inputs>``, ``incoherence_<inputs>`` for that policy, and
    for ``domain`` where the store holds it. Raises NoStore without results on tests.
    """
    fuzzed = _fuzzed(request)
    own = next(iter(fuzzed.values()), None)
    passed = _passed(request)
    told = ""
    if own is not None:
        told, passed = _left_out(own, passed), passed.join(own, on=KEY, how="semi")
    if passed.is_empty():
        raise NoStore(f"no task of the store {request.store} has results on tests and on other inputs; execute both")
    notes = (
        *_said_of_groups(passed),
        f"m = {range_of(passed['m'])}, equality {request.equality}",
        *(f"inputs {inputs}: n = {range_of(found['n'])}" for inputs, found in fuzzed.items()),
        *([NO_BOUND] if fuzzed else []),
        told,
    )
    return Table(_means(_side_by_side(passed, fuzzed), request), notes=tuple(filter(None, notes)))


def _left_out(fuzzed: pl.DataFrame, passed: pl.DataFrame) -> str:
    tasks = ["benchmark", "task_id"]
    sides = {"tasks without tests": (fuzzed, passed), "tasks without results on other inputs": (passed, fuzzed)}
    counts = {what: one.join(other, on=tasks, how="anti").n_unique(tasks) for what, (one, other) in sides.items()}
    said = ", ".join(f"{count} {what}" for what, count in counts.items() if count)
    return f"left out: {said}" if said else ""


def _said_of_groups(passed: pl.DataFrame) -> list[str]:
    """Say of each benchmark how many tests of each group there are, and in how many tasks."""
    tests = passed.unique(["benchmark", "task_id", "tests"]).sort("benchmark")
    lines = []
    for (benchmark,), own in tests.group_by("benchmark", maintain_order=True):
        counts = {name: own.filter(tests=name)["n_tests"] for name in _in_order(own["tests"])}
        named = [f"{name} {sizes.sum():,} in {len(sizes)} tasks" for name, sizes in counts.items()]
        lines.append(f"tests of {benchmark}: {', '.join(named or ['its seed inputs'])}")
    return lines


def _passed(request: TableRequest) -> pl.DataFrame:
    """Return ``shares_passed`` of the coders asked for."""
    store = request.open()
    if Validity.TESTS not in policies_executed(store):
        raise NoStore(
            f"the store {request.store} holds no results on tests; run `difftrust execute --store {request.store}` "
            "with tasks that have tests, or with --inputs tests for their seed inputs"
        )
    on_tests = store.read_as(replace(request.reading, inputs=Validity.TESTS))
    pools = open_pools(on_tests, equality=request.equality, n_jobs=request.n_jobs)
    groups = {name: told_of_tests(on_tests, name, "groups") for name in pools}
    found = shares_passed(pools, groups, m=request.m)
    found = request.counted(found)
    at = request.wanted_temperature
    found = found if at is None else found.filter(pl.col("temperature") == at)
    return found.filter(pl.col("model").is_in(request.only)) if request.only else found


def _fuzzed(request: TableRequest) -> dict[str, pl.DataFrame]:
    """Return the estimates on other inputs than the tests: those of the store's own policy, and of ``domain``."""
    store = request.open()
    held = policies_executed(store)
    wanted = dict.fromkeys([store.settings().validity, Validity.DOMAIN.value])
    return {
        inputs: estimates_for(replace(request, reading=replace(request.reading, inputs=inputs)))[0]
        for inputs in wanted
        if inputs in held and inputs != Validity.TESTS
    }


def _in_order(names: pl.Series) -> list[str]:
    """Return the groups as tests have them, public and base ones first, then others by name."""
    known = ("examples", "public", "base", "plus", "private", "tests")
    groups = set(names) - {ALL}
    return sorted(groups, key=lambda name: (known.index(name) if name in known else len(known), name))


def _side_by_side(passed: pl.DataFrame, fuzzed: dict[str, pl.DataFrame]) -> pl.DataFrame:
    """Return a row a coder and task with a column for each mean of the table."""
    groups = [f"pass_at_1_{name}" for name in (*_in_order(passed["tests"]), "all_tests")]
    named = passed.with_columns(tests=pl.lit("pass_at_1_") + pl.col("tests").replace(ALL, "all_tests"))
    wide = named.pivot("tests", index=KEY, values="passed").select(*KEY, *groups)
    for inputs, found in fuzzed.items():
        measures = found.select(
            *KEY,
            (1 - pl.col("functional_error")).alias(f"pass_at_1_{inputs}"),
            pl.col("error").alias(f"error_{inputs}"),
            pl.col("incoherence").alias(f"incoherence_{inputs}"),
        )
        wide = wide.join(measures, on=KEY, how="left", maintain_order="left")
    return wide


def _means(wide: pl.DataFrame, request: TableRequest) -> pl.DataFrame:
    """Return the mean of each column over the tasks by coder, with its interval if that is asked for."""
    parts = [_mean(wide, name, request) for name in wide.columns if name not in KEY]
    return pl.concat(
        [parts[0], *(part.select(pl.selectors.starts_with(*_BEGINNINGS)) for part in parts[1:])], how="horizontal"
    )


def _mean(wide: pl.DataFrame, name: str, request: TableRequest) -> pl.DataFrame:
    # A mean over tasks as Table 4 has one, whatever of.
    estimates = wide.with_columns(error=name, incoherence=pl.lit(None, pl.Float64))
    table = requested_table_4(estimates, request, measures=[_MEAN])
    return table.rename({f"{_MEAN}{end}": f"{name}{end}" for end in ("", "_low", "_high")}, strict=False)
