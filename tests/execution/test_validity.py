"""Who judges which inputs are kept: a quorum counts those candidates only that load; a reference is never dropped."""

import math
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from difftrust.export import export_results
from difftrust.tables.readings import make_draws
from difftrust.tables.request import TableRequest
from difftrust.verify.rows import check_tables
from difftrust_core.base.literals import read_literal
from difftrust_core.base.records import Program, Reading
from difftrust_core.base.task import Domain
from difftrust_core.estimates.pool import load_pool
from difftrust_core.estimates.queries import query_sql
from difftrust_core.exceptions import BadTask
from difftrust_core.execution.jobs import ChunkJob
from difftrust_core.execution.validity import PATIENCE, Drawn, Jury, Redraws, Verdict, sample_valid_inputs
from difftrust_core.languages.language import MAX_ATTEMPTS
from difftrust_core.sandbox.host import Limits, Sandbox
from difftrust_core.store.settings import Settings
from difftrust_core.store.store import Store
from tests.support.tasks import chunk_job, small_task
from tests.support.tiny import RIGHT, TASKS, add, filled, run_on

HALF = small_task("half")
GENERATES_SQUARES = "def generate(random):\n    return (random.randrange(100) ** 2,)"
HALVES = Program(tree_id="a", code="def half(x):\n    return 12 / x\n", n_candidates=1)
RAISES = Program(tree_id="b", code="def half(x):\n    raise ValueError\n", n_candidates=1)
BROKEN = Program(tree_id="c", code="def half(x:\n", n_candidates=3)
HANGS = Program(tree_id="d", code="def half(x):\n    while True:\n        pass\n", n_candidates=2)


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    with Sandbox(Limits(call_cpu=0.05, program_cpu=0.1)) as started:
        yield started


@pytest.mark.parametrize(
    ("programs", "valid"),
    [
        ((), [True, True]),  # nobody judges
        ((HALVES,), [True, False]),
        ((HALVES, RAISES), [True, False]),  # half of the candidates
        ((HALVES, BROKEN), [True, False]),  # one of one, for three do not load
        ((HALVES, HANGS), [False, False]),  # one of three
        ((BROKEN,), [True, True]),  # nobody is left to judge
    ],
)
def test_half_of_the_candidates_that_load_decide(
    sandbox: Sandbox, programs: tuple[Program, ...], valid: list[bool]
) -> None:
    jury = Jury(HALF, programs, sandbox)
    for _ in range(2):  # those that were dropped stay so
        assert jury.judge(["(4,)", "(0,)"]).valid.tolist() == valid


def test_a_reference_that_does_not_load_accepts_nothing(sandbox: Sandbox) -> None:
    assert Jury(HALF, (BROKEN,), sandbox, must_load=False).judge(["(4,)"]).valid.tolist() == [False]


def job(domain: Domain, *, start: int = 0, stop: int = 200, seeds: tuple[str, ...] = ("(8,)",)) -> ChunkJob:
    return chunk_job(replace(HALF, domain=domain, seed_inputs=seeds), "domain", start=start, stop=stop)


EVEN = Domain(types="x: int", requires="x % 2 == 0 and x >= 0")
SQUARES = Domain(types="x: int", requires="math.isqrt(x) ** 2 == x", generate=GENERATES_SQUARES)


@pytest.mark.quick(1)
@pytest.mark.parametrize("domain", [EVEN, SQUARES, Domain(types="x: int")])
def test_inputs_lie_inside_the_domain_and_are_prefix_stable(sandbox: Sandbox, domain: Domain) -> None:
    drawn = sample_valid_inputs(job(domain, seeds=("(16,)",)), sandbox)
    values = [read_literal(text)[0] for text in drawn.texts]
    assert all(type(value) is int for value in values)
    assert all(eval(domain.requires or "True", {"x": value, "math": math}) for value in values)
    assert max(drawn.attempts) <= MAX_ATTEMPTS
    assert len(set(values)) > 10
    for start, stop in ((50, 70), (199, 200)):
        part = sample_valid_inputs(job(domain, start=start, stop=stop, seeds=("(16,)",)), sandbox)
        assert part == Drawn(**{name: values[start:stop] for name, values in vars(drawn).items()})


def test_each_mutation_keeps_the_types(sandbox: Sandbox) -> None:
    domain = Domain(types="x: list[float]")
    drawn = sample_valid_inputs(job(domain, seeds=("([1.0, 2.5],)", "([1, 'a'],)")), sandbox)
    values = [read_literal(text)[0] for text in drawn.texts]
    assert all(type(entry) is float for value in values for entry in value)
    assert [a - 1 for a in drawn.attempts] == drawn.repeats  # none was rejected
    assert {len(value) for value in values} >= {0, 1, 2, 3}


def test_where_nothing_else_lies_inside_an_unchanged_seed_does(sandbox: Sandbox) -> None:
    drawn = sample_valid_inputs(job(Domain(requires="x == 8"), stop=3, seeds=("(8,)", "(9,)")), sandbox)
    assert set(drawn.texts) == {"(8,)"}
    assert max(drawn.attempts) <= MAX_ATTEMPTS + 1


@pytest.mark.parametrize(
    ("domain", "said"),
    [
        (Domain(requires="False"), "none of its 1 seed inputs lies inside its domain .*ends with False"),
        (Domain(requires="1 / 0"), "ZeroDivisionError"),
        (Domain(types="x: str"), "do not fit its types"),
        (Domain(requires="def requires(x):\n while True: pass"), "does not end well on an input .timeout"),
        (Domain(requires="def requires(x):\n x.append(1)\n return True"), "changes its arguments"),
        (Domain(requires="import nothing\ndef requires(x): return True"), "does not load .ModuleNotFoundError"),
        (Domain(generate="def generate(random):\n while True: pass"), "`generate` of its domain does not end"),
    ],
)
def test_a_bad_domain_is_one_line_that_names_the_task(sandbox: Sandbox, domain: Domain, said: str) -> None:
    with pytest.raises(BadTask, match=f"tiny/half.*{said}") as caught:
        sample_valid_inputs(job(domain, seeds=("([8],)",) if "append" in domain.requires else ("(8,)",)), sandbox)
    assert "\n" not in str(caught.value)


def test_a_bad_domain_loses_nothing_of_the_other_tasks(tmp_path: Path) -> None:
    """One task's domain does not end; the others are executed, and the mended one is with the next run."""
    endless = Domain(requires="def requires(*a):\n while True: pass")
    tasks = [replace(task, domain=endless if task is TASKS[0] else Domain()) for task in TASKS]
    store = filled(tmp_path / "store", RIGHT, RIGHT, tasks=tasks)
    done = run_on(store, 5, validity="domain")
    assert [failure.task[1] for failure in done.failures] == [TASKS[0].task_id]
    executed = set(store.read("executions")["task_id"])
    assert executed == {task.task_id for task in TASKS} - {TASKS[0].task_id}
    add(store, "coder", RIGHT, RIGHT, tasks=[replace(task, domain=Domain()) for task in TASKS])
    assert run_on(store, 5).failures == ()


def test_a_task_without_a_domain_has_the_inputs_that_its_reference_accepts(tmp_path: Path) -> None:
    """Without a reference too, those that a quorum accepts; `execute` names it."""
    inputs = {}
    for validity in ("domain", "reference", "quorum"):
        bare = [replace(task, reference=None) if validity == "quorum" else task for task in TASKS]
        tasks = {"domain": [TASKS[0], replace(TASKS[1], reference=None)]}.get(validity, bare)[:2]
        store = filled(tmp_path / validity, RIGHT, RIGHT, tasks=[*tasks, *TASKS[2:]])
        store.write_settings(replace(store.settings(), validity=validity))  # as a run that was killed at once
        done = run_on(store, 20)
        assert set(done.without_domain) == ({task.task_id for task in TASKS} if validity == "domain" else set())
        for task in tasks:
            rows = store.read("inputs").filter(task_id=task.task_id)
            inputs[validity, task.task_id] = rows["arguments"].to_list()
    one, other = TASKS[0].task_id, TASKS[1].task_id
    assert inputs["domain", one] == inputs["reference", one]
    assert inputs["domain", other] == inputs["quorum", other]


FEW = Domain(requires="def requires(x): return x in (1, 0, -7, 2)")


def test_rejected_draws_and_repeated_inputs_are_counted_and_exhausted_domains_named(tmp_path: Path) -> None:
    tasks = [replace(task, domain=FEW if task.entry_point == "double" else Domain()) for task in TASKS]
    store = filled(tmp_path / "store", RIGHT, RIGHT, tasks=tasks)
    _ = run_on(store, 30, validity="domain")
    _ = run_on(store, 30, validity="reference")
    assert run_on(store, 30).n_executions == 0  # by the policy that it was last executed by
    made = export_results(store, tmp_path / "results")
    draws, inputs = made.read("draws"), store.read("inputs")
    assert set(draws["validity"]) == {"domain", "reference"}
    for row in draws.iter_rows(named=True):
        own = inputs.filter(validity=row["validity"], task_id=row["task_id"])
        is_few = row["task_id"] == "tiny/double"
        assert row["n"] == 30
        assert row["n_distinct"] == len(set(own["arguments"]))
        assert row["n_draws"] + row["n_unchanged"] == sum(own["attempts"])
        assert row["n_repeats"] == sum(own["repeats"])
        assert row["exhausted"] is (is_few if row["validity"] == "domain" else None)
        assert (row["n_repeats"] > 0) <= (row["validity"] == "domain")
        if is_few and row["validity"] == "domain":
            assert row["n_distinct"] == 4
            assert row["n_repeats"] > row["n"]
    assert check_tables(store) == []
    read = Store.open(made.root, Reading(inputs="domain"))
    assert load_pool(read, "tiny").tasks[0].task_id == tasks[0].task_id
    assert set(query_sql(read, "SELECT DISTINCT task_id FROM estimates")["task_id"]) == {t.task_id for t in tasks}
    table = make_draws(TableRequest(store=tmp_path / "results"))
    assert table.notes[-1] == "exhausted in tiny (distinct inputs): tiny/double (4)"
    inside = store.read("inputs").filter(validity="domain")
    (shown,) = table.frame.filter(inputs="domain").iter_rows(named=True)
    assert (shown["tasks"], shown["all_distinct"], shown["exhausted"]) == (3, 2, 1)
    assert shown["share_redrawn"] == pytest.approx(inside["repeats"].sum() / inside["attempts"].sum())
    assert shown["share_repeated"] == pytest.approx(26 / 90)


@pytest.mark.parametrize(("n", "judged"), [(10, 4), (1_000, 4), (2_000, 7)])
def test_a_slow_reference_is_asked_for_its_cpu_time_and_no_longer(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch, n: int, judged: int
) -> None:
    """That of one program on 1,000 inputs; below, no less, for the time of a call is the same."""
    asked: list[int] = []

    def judge(self: Jury, inputs: Sequence[str]) -> Verdict:
        asked.append(len(inputs))
        return Verdict(valid=np.zeros(len(inputs), dtype=bool), cpu=0.03)

    monkeypatch.setattr(Jury, "judge", judge)
    drawn = sample_valid_inputs(
        replace(job(EVEN, stop=n), settings=Settings(), limits=Limits(program_cpu=0.1)), sandbox
    )
    assert asked == [n] * judged
    assert drawn.attempts == [MAX_ATTEMPTS + 1] * n


def test_after_a_disturbed_verdict_attempts_are_judged_one_by_one(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a program that hangs says of several attempts at once depends on the first of them."""
    asked: list[int] = []

    def judge(self: Jury, inputs: Sequence[str]) -> Verdict:
        asked.append(len(inputs))
        several = len(asked) == 2
        valid = {1: [True, True, True, False], 2: [True, True], 3: [False]}.get(len(asked), [True])
        return Verdict(valid=np.array(valid), disturbed=several)

    monkeypatch.setattr(Jury, "judge", judge)
    drawn = sample_valid_inputs(replace(job(EVEN, stop=4), settings=Settings()), sandbox)
    assert asked == [4, 2, 1, 2]
    assert drawn.attempts[:3] == [1, 1, 1]
    assert drawn.attempts[3] == 3


Draw = Callable[[int, int], str]


def drawing(spread: float, seed: int = 0) -> Draw:
    """Return draws of small numbers more often than of large ones; "-" stands for what no domain holds."""

    def draw(position: int, attempt: int) -> str:
        own = random.Random(f"{seed}/{position}/{attempt}")
        return "-" if own.random() < 0.2 else str(int(own.expovariate(1 / spread)))

    return draw


def is_valid(text: str) -> bool:
    return text != "-" and int(text) % 7 != 3


def first_valid(draw: Draw, n: int) -> Drawn:
    first = Drawn(texts=[], attempts=[], repeats=[0] * n)
    for position in range(n):
        attempt = next((a for a in range(MAX_ATTEMPTS) if is_valid(draw(position, a))), MAX_ATTEMPTS)
        first.texts.append(draw(position, attempt) if attempt < MAX_ATTEMPTS else "unchanged")
        first.attempts.append(attempt + 1)
    return first


def slowly(draw: Draw, n: int) -> Drawn:
    """Draw position after position, attempt after attempt."""
    drawn, seen, idle = first_valid(draw, n), set[str](), 0
    for position in range(n):
        used = drawn.attempts[position]
        while drawn.texts[position] in seen and idle < PATIENCE and used < MAX_ATTEMPTS:
            text = draw(position, MAX_ATTEMPTS + used)
            used += 1
            drawn.repeats[position] += is_valid(text)
            if is_valid(text) and text not in seen:
                drawn.texts[position] = text
        drawn.attempts[position] = used
        idle = idle + 1 if drawn.texts[position] in seen else 0
        seen.add(drawn.texts[position])
    return drawn


def quickly(draw: Draw, n: int, judged: list[str]) -> Drawn:
    """Draw all at once; ``judged`` gets the texts in the order in which they are judged."""

    def judge(texts: Sequence[str]) -> list[bool]:
        judged.extend(texts)
        return [is_valid(text) for text in texts]

    return Redraws(first_valid(draw, n), lambda places: [draw(*place) for place in places], judge).distinct()


@pytest.mark.parametrize("spread", [0.5, 3, 20, 100, 1e4])
def test_it_is_what_one_draw_after_another_gives_and_each_input_is_judged_once(spread: float) -> None:
    for seed in range(3):
        draw, judged = drawing(spread, seed), list[str]()
        assert quickly(draw, 400, judged) == slowly(draw, 400)
        assert len(judged) == len(set(judged))
        assert not set(judged) & set(first_valid(draw, 400).texts)


def test_where_the_domain_is_exhausted_drawing_ends() -> None:
    drawn = quickly(lambda position, attempt: str(random.Random(f"{position}/{attempt}").randrange(3)), 500, [])
    assert set(drawn.texts) == {"0", "1", "2"}
    assert sum(a == MAX_ATTEMPTS for a in drawn.attempts) == PATIENCE
    assert sum(drawn.attempts[-400:]) == 400
    drawn = quickly(lambda position, attempt: str(position % 2), 5, [])  # repeats without end: as drawn first
    assert drawn.texts == ["0", "1", "0", "1", "0"]
    assert drawn.attempts == [1, 1, *[MAX_ATTEMPTS] * 3]
    assert drawn.repeats == [0, 0, *[MAX_ATTEMPTS - 1] * 3]
