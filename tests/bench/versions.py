"""What `difftrust diff` says of recorded programs whose behaviour is known: `make bench-versions` writes data/versions.

Two recorded programs of one task stand for two versions of a function. What they did on the recorded inputs says
whether they differ. Needs the recorded candidates and the benchmarks on this machine.
"""

import argparse
import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations_with_replacement
from pathlib import Path
from typing import Final

import numpy as np
import polars as pl

import difftrust as dt
from difftrust.diff.comparison import DiffReport
from difftrust.shipped import PAPER_SETTING, find_results, in_published_set
from difftrust.tables.versions import SCHEMA, SHIPPED, Judgement, Stratum
from difftrust.tasks.find_texts import find_programs, find_task
from difftrust.tasks.shrinking import UNTELLING, Places
from difftrust_core.base.records import Coder, Kind
from difftrust_core.base.task import Task
from difftrust_core.estimates.pool import CompactTask, Pool
from difftrust_core.metrics.equality import Equality
from difftrust_core.metrics.relation import Classes
from difftrust_core.sandbox.host import Limits, Sandbox
from tests.bench.processes import in_turn
from tests.support.markdown import ROOT

FEW: Final = 0.01
"""Of the recorded inputs of the domain: programs that differ on no more differ on few."""
Named = tuple[str, int]
"""A recorded candidate: model and sample index."""
_NO_RUN: Final = (*UNTELLING, Kind.UNSUPPORTED)


@dataclass(frozen=True, kw_only=True)
class Recorded:
    """What two behaviours do on the recorded inputs of one reading."""

    n: int
    differing: int
    """Inputs on which they differ by more than the tolerance, both ending by themselves."""
    values: int
    """Of these, those on which both return."""
    is_equal: bool
    """They are alike on all inputs, types and all."""


@dataclass(frozen=True, kw_only=True)
class BehaviourPair:
    """Two behaviours of one task: the candidates of each, and what is recorded of the two."""

    sides: tuple[list[Named], list[Named]]
    published: Recorded
    domain: Recorded


@dataclass(frozen=True, kw_only=True)
class Pair:
    """Two recorded programs of one task as versions, the old one first."""

    task: Task
    stratum: Stratum
    names: tuple[Named, Named]
    codes: tuple[str, str]
    recorded: BehaviourPair


def recorded(task: CompactTask, rows: tuple[int, int]) -> Recorded:
    """Return what the behaviours in two rows of a task do on its first n = 1,000 inputs."""
    weights = np.bincount(task.pattern_of_input[: PAPER_SETTING.n])
    used = slice(len(weights))
    kinds = task.kinds[list(rows), used]
    paper, strict = (task.labels[name][list(rows), used] for name in (Equality.PAPER, Equality.STRICT))
    differs = (paper[0] != paper[1]) & ~np.isin(kinds, _NO_RUN).any(axis=0)
    both_return = (kinds == Kind.VALUE).all(axis=0)
    return Recorded(
        n=int(weights.sum()),
        differing=int(weights[differs].sum()),
        values=int(weights[differs & both_return].sum()),
        is_equal=bool((strict[0] == strict[1]).all()),
    )


def stratum_of(published: Recorded, domain: Recorded) -> Stratum | None:
    """Return the stratum of a pair; None where it differs only by the tolerance, or where a program was ended."""
    if published.is_equal and domain.is_equal:
        return Stratum.EQUAL
    if domain.differing:
        return Stratum.FEW if domain.differing <= FEW * domain.n else Stratum.MANY
    return Stratum.OUTSIDE if published.differing else None


def draw_pairs(benchmark: str, pools: tuple[Pool, Pool], n_pairs: int, *, seed: int) -> Iterator[Pair]:
    """Yield ``n_pairs`` pairs of each stratum, or as many as there are, of each task at most one a stratum."""
    wanted = dict.fromkeys(Stratum, n_pairs)
    names = pl.DataFrame({"benchmark": benchmark, "task_id": [task.task_id for task in pools[0].tasks]})
    task_ids = in_published_set(names)["task_id"].to_list()
    generator = random.Random(f"{seed}/{benchmark}")
    generator.shuffle(task_ids)
    for task_id in task_ids:
        strata = _behaviour_pairs(task_id, pools) if any(wanted.values()) else {}
        for stratum in [each for each in Stratum if wanted[each] and each in strata]:
            pair = _drawn(benchmark, task_id, stratum, strata[stratum], generator)
            if pair is not None:
                wanted[stratum] -= 1
                yield pair


_TRIES: Final = 20
"""Draws of two candidates until they are not the same program."""


def _behaviour_pairs(task_id: str, pools: tuple[Pool, Pool]) -> dict[Stratum, list[BehaviourPair]]:
    """Return the pairs of behaviours of a task by their stratum."""
    candidates = _candidates(task_id, pools)
    tasks = [_task(pool, task_id)[1] for pool in pools]
    found: dict[Stratum, list[BehaviourPair]] = {}
    for one, other in combinations_with_replacement(sorted(candidates), 2):
        published, domain = (recorded(task, (one[i], other[i])) for i, task in enumerate(tasks))
        stratum = stratum_of(published, domain)
        if stratum is not None:
            sides = (candidates[one], candidates[other])
            found.setdefault(stratum, []).append(BehaviourPair(sides=sides, published=published, domain=domain))
    return found


def _candidates(task_id: str, pools: tuple[Pool, Pool]) -> dict[tuple[int, int], list[Named]]:
    """Return behaviour, as published and in the domain -> its candidates, of the first ten of each model.

    Those that load, whole, and are deterministic.
    """
    coders = [coder for coder in pools[0].members if coder[1] == PAPER_SETTING.temperature]
    published, domain = (_rows(task_id, pool, coders) for pool in pools)
    found: dict[tuple[int, int], list[Named]] = {}
    for name in sorted(published.keys() & domain.keys()):
        found.setdefault((published[name], domain[name]), []).append(name)
    return found


def _rows(task_id: str, pool: Pool, coders: Sequence[Coder]) -> dict[Named, int]:
    number, task = _task(pool, task_id)
    found = {}
    for coder in coders:
        members = pool.of(coder).first(PAPER_SETTING.m)
        own = members.where((members.task == number) & ~members.nondeterministic & (members.trimmed == 0))
        for sample, row in zip(own.sample_index.tolist(), own.row.tolist(), strict=True):
            if task.kinds[row, 0] != Kind.LOAD_ERROR:
                found[coder[0], sample] = row
    return found


def _task(pool: Pool, task_id: str) -> tuple[int, CompactTask]:
    return next((number, task) for number, task in enumerate(pool.tasks) if task.task_id == task_id)


def _drawn(
    benchmark: str, task_id: str, stratum: Stratum, pairs: Sequence[BehaviourPair], generator: random.Random
) -> Pair | None:
    """Return two programs, drawn among all pairs of candidates of the stratum; None where they are always the same."""
    task = find_task(benchmark, task_id)
    if task is None:
        raise SystemExit(f"the benchmark {benchmark} is not here; run `difftrust fetch`, or set DIFFTRUST_DATA")
    sizes = [len(pair.sides[0]) * len(pair.sides[1]) for pair in pairs]
    for _ in range(_TRIES):
        (chosen,) = generator.choices(pairs, sizes)
        names = [generator.choice(side) for side in generator.sample(chosen.sides, 2)]
        programs = find_programs(benchmark, task_id, [(name, PAPER_SETTING.temperature) for name, _ in names])
        rows = [programs.filter(model=model, sample_index=sample) for model, sample in names]
        if rows[0]["tree_id"].item() != rows[1]["tree_id"].item():
            codes = (rows[0]["code"].item(), rows[1]["code"].item())
            return Pair(task=task, stratum=stratum, names=(names[0], names[1]), codes=codes, recorded=chosen)
    return None


def compare(pair: Pair, *, seed: int) -> dict[str, object]:
    """Run diff on a pair as a user would, without an example, and judge what it says: a row of SCHEMA."""
    texts = [f"{pair.task.preamble}\n{code}\n" for code in pair.codes]
    report = dt.diff(texts[0], texts[1], entry_point=pair.task.entry_point, seed=seed).report
    arguments = [change.arguments for change in report.changes]
    with Sandbox(Limits()) as sandbox:
        reruns = _differ(pair, arguments, sandbox)
        places = Places(pair.task, sandbox).of(arguments)
    (old_model, old_sample), (new_model, new_sample) = pair.names
    domain, published = pair.recorded.domain, pair.recorded.published
    return {
        **{"benchmark": pair.task.benchmark, "task_id": pair.task.task_id, "stratum": pair.stratum},
        **{"old_model": old_model, "old_sample": old_sample, "new_model": new_model, "new_sample": new_sample},
        **{"domain": domain.differing, "domain_values": domain.values, "domain_n": domain.n},
        **{"published": published.differing, "published_values": published.values},
        **{"verdict": report.verdict, "differing": report.n_differing, "inputs": report.n},
        "judgement": judge(pair, report, reruns),
        "place": next((str(place) for place in places if place), None),
        "why": _why(report),
    }


def judge(pair: Pair, report: DiffReport, reruns: Sequence[bool]) -> Judgement:
    """Judge a report; ``reruns``: whether the programs differ on each named input when they are run on it again."""
    is_recorded = pair.stratum != Stratum.EQUAL
    if report.verdict == "undecided":
        return Judgement.UNDECIDED
    if report.verdict == "unchanged":
        return Judgement.MISSED if is_recorded else Judgement.ALIKE
    if is_recorded:
        return Judgement.FOUND
    if any(reruns):
        return Judgement.NEW_INPUT
    spelled = [text for change in report.changes for _, text in change.outcomes]
    return Judgement.EFFECT if any("Effects(" in text for text in spelled) else Judgement.FALSE


def _differ(pair: Pair, arguments: Sequence[str], sandbox: Sandbox) -> list[bool]:
    """Tell of each input whether the two programs differ on it, run as the recorded ones were."""
    task, classes = pair.task, Classes(Equality.STRICT)
    seen = [sandbox.outcomes(task.preamble, list(arguments), code, task.entry_point)[0] for code in pair.codes]
    return [classes.classify([one, other]) == [0, 1] for one, other in zip(*seen, strict=True)]


def _why(report: DiffReport) -> str | None:
    """Return why nothing was decided, without what it quotes; of "unchanged", whether a doubtful input is noted."""
    if report.undecided:
        return re.sub(r"\d+", "N", report.undecided[0].why.partition(":")[0])
    noted = any(note.startswith("the versions also differ on") for note in report.notes)
    return "noted as doubtful" if noted and report.verdict == "unchanged" else None


def main() -> None:
    """Draw pairs, compare them, and write the table that `difftrust table versions` reads."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=20, help="of each stratum and benchmark")
    parser.add_argument("--seed", type=int, default=0, help="of the pairs and of the inputs drawn")
    parser.add_argument("--jobs", type=int, default=2, help="so many comparisons at a time")
    parser.add_argument("--out", type=Path, default=ROOT / SHIPPED)
    arguments = parser.parse_args()
    studies = [dt.open(find_results(), inputs=inputs) for inputs in ("reference", "domain")]
    pairs = [
        pair
        for benchmark in studies[0].benchmarks
        for pair in draw_pairs(
            benchmark,
            (studies[0].pool(benchmark), studies[1].pool(benchmark)),
            arguments.pairs,
            seed=arguments.seed,
        )
    ]
    rows = [row for _, row in in_turn(partial(compare, seed=arguments.seed), pairs, arguments.jobs)]
    frame = pl.DataFrame(rows, schema=SCHEMA).sort("benchmark", "stratum", "task_id")
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    frame.write_csv(arguments.out)


if __name__ == "__main__":
    main()
