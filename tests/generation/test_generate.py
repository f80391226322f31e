"""Sampling from a real server that breaks in every way: what arrives is kept once, what does not is named."""

import asyncio
import itertools
import re
import threading
import time
from collections import defaultdict

import polars as pl
import pytest

from difftrust.demo.simulated import SIMULATED, sample_simulated
from difftrust.text import incomplete_lines
from difftrust_core.base.task import Task
from difftrust_core.estimates.queries import query_estimates, query_sql
from difftrust_core.exceptions import BadStore, StoreInUse, WrongUsage
from difftrust_core.generation.extraction import CUT_OFF
from difftrust_core.generation.generate import Estimate, estimate_generation, generate
from difftrust_core.generation.missing import GenerationOptions
from difftrust_core.generation.prices import Price
from difftrust_core.generation.providers import seconds_asked_to_wait
from difftrust_core.generation.sampling import Budget, Gate, Pace, Spent
from difftrust_core.store import settings
from difftrust_core.store.store import Store
from tests.generation.asking import MODEL, PRICE, ask
from tests.support.holding import Holder
from tests.support.llm_server import BAD, Asked, Server, kept_lines
from tests.support.tasks import small_task
from tests.support.tiny import RIGHT, TASKS, WRONG, add, measure, silent
from tests.support.waiting import until

pytestmark = pytest.mark.filterwarnings("ignore:.*ReadOnly:UserWarning")


def tasks_named(n: int) -> list[Task]:
    """Return n tasks whose prompts differ, so that the server can tell which is asked for."""
    return [
        small_task("f", "(x: int) -> int", benchmark="many", task_id=f"many/{i}", description=f"Return number {i}.")
        for i in range(n)
    ]


def number_in(prompt: str) -> int:
    return int(prompt.partition("number ")[2].partition(".")[0])


def bound(store: Store) -> Estimate:
    """Return what one request may take at most."""
    given = GenerationOptions(price=PRICE)
    return estimate_generation(store, tasks_named(1), models=[MODEL], temperature=0.6, m=1, options=given)[0]


def serial_of(text: object) -> int:
    return int(str(text).partition("return ")[2].split()[0])


def a_bit_of_everything(serial: int, prompt: str) -> str:
    """Answer four of five well; refuse number 7 of every 100 for good, break on number 13 for ever.

    Bad answers are apart: were they many in a row, a sample could meet nothing else on a slow machine.
    """
    number = number_in(prompt)
    if number % 100 in (7, 13):
        return "400" if number % 100 == 7 else "500"
    mix = ("slow", "no_usage", *BAD, *BAD)
    return mix[serial * 53 % 90] if serial * 53 % 90 < len(mix) else "good"


@pytest.mark.slow
def test_replies_from_a_server_that_breaks_in_every_way(store: Store) -> None:
    count = 250
    said: list[str] = []
    with Server(behaviour=a_bit_of_everything, retry_after="0.3") as server:
        watcher = threading.Thread(
            target=lambda: (until(lambda: len(server.asked) > count // 2, 300), server.die_and_come_back(0.4))
        )
        watcher.start()
        given = {"concurrency": 24, "attempts": 12, "longest_wait": 1.5}
        done = ask(store, tasks_named(count), server, say=said.append, **given)
        watcher.join()
        check_every_sample_once(store, server, done, count)
        assert set(server.answered()) == {"good", "slow", "no_usage", "400", *BAD}
        others = [task for task in tasks_named(count) if number_in(task.description) % 100 not in (7, 13)]
        again = ask(store, others, server, **given)
        assert (again.n_requests, again.n_missing) == (0, 0)
    check_attempts_and_waits(server, count)
    assert len(server.asked) <= done.n_requests  # the others met a closed door; nobody else asked again
    assert done.n_requests == done.n_replies + done.n_retries + len(done.failures)
    assert done.lowest_concurrency is not None
    steps = [re.fullmatch(r"openai/local: the provider pushes back \((429|503)\): now (\d+) .*", line) for line in said]
    lows = [int(step[2]) for step in steps if step]
    assert len(lows) == len(said) > 0
    assert lows == sorted(set(lows), reverse=True)


def check_every_sample_once(store: Store, server: Server, done, count: int) -> None:  # type: ignore[no-untyped-def]
    kept = kept_lines(store.root)
    failed = {failure.task_id: failure for failure in done.failures}
    assert sorted([*(str(line["task_id"]) for line in kept), *failed]) == sorted(t.task_id for t in tasks_named(count))
    assert {int(name.rpartition("/")[2]) % 100 for name in failed} == {7, 13}
    answers = defaultdict[str, list[str]](list)
    for asked in server.asked:
        answers[f"many/{number_in(asked.prompt)}"].append(asked.how)
    for name, failure in failed.items():
        if int(name.rpartition("/")[2]) % 100 == 7:  # 400 is final, whatever the dying server did before
            assert answers[name][-1] == "400"
            assert answers[name].count("400") == 1
            assert failure.reason.startswith("BadRequestError 400: no: 400, your key was [hidden]")
        else:
            assert failure.attempts == 12
            assert failure.reason.startswith("InternalServerError")
    by_serial = {asked.serial: asked for asked in server.asked}
    for line in kept:
        asked = by_serial[serial_of(line["text"])]
        assert asked.how in ("good", "slow", "no_usage")
        assert f"many/{number_in(asked.prompt)}" == line["task_id"]
        assert line["reply_id"] == f"reply-{asked.serial}"
    found = store.read("candidates")
    assert sorted(found["task_id"]) == sorted(str(line["task_id"]) for line in kept)
    assert found["extraction"].unique().to_list() == ["block with the entry point"]
    counted = server.answered()
    paid = (counted["good"] + counted["slow"]) * server.cost(PRICE.prompt, PRICE.completion)
    assert done.usd == pytest.approx(found["cost_usd"].sum(), abs=1e-9) == pytest.approx(paid, abs=1e-9)
    assert found["cost_usd"].null_count() == counted["no_usage"] == done.n_unpriced


def check_attempts_and_waits(server: Server, count: int) -> None:
    """A sample is asked for again after a failure only, 0.05 s or more later, or what the server asked for."""
    attempts = defaultdict[str, list[Asked]](list)
    for asked in server.asked:
        attempts[asked.prompt].append(asked)
    assert len(attempts) == count
    for listed in attempts.values():
        assert all(asked.how in (*BAD, "400") for asked in listed[:-1])
        for before, after in itertools.pairwise(listed):
            assert after.at - before.at >= (0.3 if before.how in ("429", "503") else 0.05)


@pytest.mark.slow
def test_waits_double_with_jitter_and_stop_growing_at_the_cap(store: Store) -> None:
    with Server(behaviour=lambda serial, prompt: "500" if serial < 7 else "good") as server:
        done = ask(store, tasks_named(1), server, first_wait=0.1, longest_wait=0.4, concurrency=1, attempts=8)
    assert (done.n_requests, done.n_retries, done.n_replies) == (8, 7, 1)
    gaps = [after.at - before.at for before, after in itertools.pairwise(server.asked)]
    for gap, least in zip(gaps, (0.1, 0.2, 0.4, 0.4, 0.4, 0.4, 0.4), strict=True):
        assert least <= gap < least + 3.0  # the last would be 6.4 without the cap
    assert kept_lines(store.root)[0]["attempts"] == 8


def test_a_wait_that_is_too_long_is_not_begun(store: Store) -> None:
    with Server(behaviour=lambda serial, prompt: "429", retry_after="3600") as server:
        done = ask(store, tasks_named(1), server)
    assert len(server.asked) == 1
    assert done.failures[0].reason.endswith("(asks to wait 3600 s, longer than 120 s)")


RETRY_AFTER = [
    ({"Retry-After": "2"}, 2.0),
    ({"retry-after-ms": "1500", "retry-after": "9"}, 1.5),
    ({"Retry-After": "Wed, 21 Oct 2015 07:28:30 GMT", "Date": "Wed, 21 Oct 2015 07:28:00 GMT"}, 30.0),
    ({"Retry-After": "Wed, 21 Oct 2015 07:28:00 GMT", "Date": "Wed, 21 Oct 2015 07:28:30 GMT"}, 0.0),
    ({"Retry-After": "soon"}, None),
    ({"Retry-After": "1e999"}, None),
    ({}, None),
]


def test_retry_after_in_all_its_forms() -> None:
    assert [seconds_asked_to_wait(headers) for headers, _ in RETRY_AFTER] == [seconds for _, seconds in RETRY_AFTER]


@pytest.mark.parametrize(("good", "n_asked"), [(10, 10), (9, 20)])
def test_after_ten_failures_in_a_row_a_model_is_asked_no_more(store: Store, good: int, n_asked: int) -> None:
    """The requests are numbered from 0: one that is good comes too late, or after nine."""
    with Server(behaviour=lambda serial, prompt: "good" if serial == good else "400") as server:
        done = ask(store, tasks_named(25), server, attempts=1, concurrency=1)
    assert (len(server.asked), done.n_replies) == (n_asked, n_asked // 20)
    assert [failure.attempts for failure in done.failures].count(0) == 25 - n_asked
    if n_asked < 25:
        assert done.failures[-1].reason.startswith("not asked: 10 samples in a row failed, the last: ")
    assert done.refusal == ""


def test_no_more_requests_at_once_than_allowed(store: Store) -> None:
    with Server(behaviour=lambda serial, prompt: "slow0.3") as server:
        ask(store, tasks_named(16), server, concurrency=4)
    assert server.most_at_once == 4


def test_concurrency_is_halved_once_for_requests_that_were_under_way_together(store: Store) -> None:
    said: list[str] = []
    seen = set[str]()

    def busy_at_first(serial: int, prompt: str) -> str:
        is_new = prompt not in seen
        seen.add(prompt)
        return "429" if is_new and number_in(prompt) < 8 else "good"

    with Server(behaviour=busy_at_first, retry_after="0.1") as server:
        done = ask(store, tasks_named(40), server, concurrency=8, say=said.append)
    assert said == [f"{MODEL}: the provider pushes back (429): now 4 requests at a time"]
    assert (done.lowest_concurrency, done.n_retries, done.n_replies) == (4, 8, 40)


def test_requests_a_minute_are_spaced_and_tokens_count_what_was_used_once_it_is_known(store: Store) -> None:
    tasks, most = tasks_named(18), bound(store).most_tokens
    with Server() as server:
        ask(store, tasks[:1], server)  # imports what takes time
        began = time.monotonic()
        ask(store, tasks[:12], server, requests_per_minute=600)
        assert max(asked.at for asked in server.asked) - began >= 10 * 0.1  # the last is never early
        began = time.monotonic()  # 160 tokens used of some 2,700 set aside: 0.16 s and not 2.7 s each
        ask(store, tasks[12:], server, tokens_per_minute=60_000, concurrency=1)
    assert most > 2048
    assert 5 * 0.16 <= server.asked[-1].at - began < 5 * most / 1000  # the first may come late, the last not early


def test_the_budget_stops_before_the_request_that_might_pass_it(store: Store) -> None:
    tasks, most = tasks_named(20), bound(store).most_usd or 0
    with Server() as server:
        each = server.cost(PRICE.prompt, PRICE.completion)
        max_usd = most + 4.5 * each
        done = ask(store, tasks, server, max_usd=max_usd)
        assert (done.n_replies, done.is_spent, done.n_missing, done.failures) == (5, True, 15, [])
        assert done.usd == pytest.approx(5 * each)
        again = ask(store, tasks, server, max_usd=max_usd)  # what was paid before counts
        assert (again.n_requests, again.is_spent) == (0, True)
        assert again.spent == pytest.approx(5 * each)
        rest = ask(store, tasks, server, max_usd=1.0)
        assert (rest.n_replies, rest.is_spent, rest.n_missing) == (15, False, 0)
    assert len(server.asked) == 20


def test_a_budget_counts_what_may_have_been_paid_for_nothing(store: Store) -> None:
    most = bound(store).most_usd or 0
    with Server(behaviour=lambda serial, prompt: "no_choices") as server:
        done = ask(store, tasks_named(1), server, max_usd=2.5 * most)
    assert (done.n_requests, done.is_spent, done.failures) == (2, True, [])
    assert (done.spent, done.doubtful) == (0, pytest.approx(2 * most))


def test_a_budget_without_a_price_is_refused(store: Store) -> None:
    with Server() as server, pytest.raises(WrongUsage, match="--max-usd needs a price, and that of openai/local"):
        ask(store, tasks_named(1), server, price=None, max_usd=1.0)
    assert not server.asked


@pytest.mark.parametrize("dollars", [float("nan"), float("inf"), -1.0])
def test_a_price_under_which_no_budget_would_end_is_refused(dollars: float) -> None:
    for prompt, completion in ((dollars, 1.0), (1.0, dollars)):
        with pytest.raises(WrongUsage, match="a price is a finite number >= 0, got"):
            Price(prompt=prompt, completion=completion)


def test_tasks_are_sampled_evenly_and_only_what_is_missing_is_asked(store: Store) -> None:
    tasks = tasks_named(5)
    with Server() as server:
        ask(store, tasks[:2], server, concurrency=1, m=2)
        done = ask(store, tasks, server, concurrency=1, m=3)
    assert (done.n_wanted, done.n_at_hand, done.n_replies) == (15, 4, 11)
    assert [number_in(asked.prompt) for asked in server.asked] == [0, 1, 0, 1, 2, 3, 4, 2, 3, 4, 0, 1, 2, 3, 4]
    sizes = store.read("candidates").group_by("task_id").agg(pl.col("sample_index").sort())
    assert sizes["sample_index"].to_list() == [[0, 1, 2]] * 5
    assert len(store.read("tasks")) == 5


def test_a_reply_without_a_program_or_cut_twice_is_a_candidate_that_does_not_load(store: Store) -> None:
    """Samples 1 and 3 are asked for once more, and are cut off or refused again."""
    with Server(
        behaviour=lambda serial, prompt: "length" if serial in (1, 2) else "good",
        text=lambda serial: "I will not." if serial in (4, 5) else "```\ndef double(x):\n    return 2 * x\n```",
    ) as server:
        done = ask(store, TASKS[:1], server, m=4, concurrency=1)
    assert (done.n_replies, done.n_no_program, done.n_asked_again, done.n_requests) == (4, 2, 2, 6)
    assert sorted(incomplete_lines(done.incomplete)) == [
        f"1 reply held no complete function: sample 3 of {MODEL}",
        f"1 reply was cut off: sample 1 of {MODEL}",
    ]
    found = store.read("candidates").join(store.read("programs"), on=["task_id", "program_id"]).sort("sample_index")
    whole = "block with the entry point"
    assert found["extraction"].to_list() == [whole, CUT_OFF, whole, "no program"]
    assert [bool(code) for code in found["code"]] == [True, False, True, False]
    measure(store, 10)
    row = query_estimates(store).row(0, named=True)
    assert (row["m"], row["n_load_errors"]) == (4, 20)
    assert row["error"] == pytest.approx(0.5)
    shown = query_sql(store, "SELECT extraction, sum(cost_usd) AS usd, any_value(prompt_hash) AS h FROM candidates GROUP BY 1 ORDER BY 1")  # noqa: E501  # fmt: skip
    assert shown["usd"].to_list() == pytest.approx([0.0024] * 3)
    assert len(set(shown["h"])) == 1


def test_candidates_without_a_sampling_have_no_cost_and_earlier_files_are_read(store: Store) -> None:
    add(store, "recorded", RIGHT, WRONG)
    path = store.files("candidates")[0]
    pl.read_parquet(path, hive_partitioning=False)["task_id", "sample_index", "program_id"].write_parquet(path)
    count = "SELECT count(*) AS n, count(cost_usd) AS priced, count(extraction) AS read FROM candidates"
    assert query_sql(store, count).row(0) == (6, 0, 0)
    with Server() as server:
        ask(store, TASKS[:1], server)
    assert query_sql(store, count).row(0) == (7, 1, 1)
    assert store.read("candidates")["cost_usd"].null_count() == 6
    add(store, "recorded", RIGHT, WRONG, RIGHT)
    assert len(store.read("candidates")) == 10
    assert {task.task_id for task in TASKS} == set(store.read("tasks")["task_id"])


def test_samples_that_were_imported_are_not_asked_for(store: Store) -> None:
    add(store, MODEL, RIGHT, WRONG)
    with Server() as server:
        done = ask(store, TASKS, server, m=3)
    assert (done.n_at_hand, done.n_replies, len(server.asked)) == (6, 3, 3)


def test_a_torn_last_line_is_asked_for_again_and_the_rest_is_kept(store: Store) -> None:
    with Server() as server:
        ask(store, tasks_named(3), server, concurrency=1)
        path = next(store.root.rglob("replies.jsonl"))
        whole = path.read_bytes()
        last = whole.splitlines(keepends=True)[-1]
        for left in (1, len(last) // 2, len(last) - 1):
            path.write_bytes(whole[: len(whole) - len(last) + left])
            path.parent.parent.parent.parent.parent.joinpath("candidates").rename(store.root / f"before-{left}")
            done = ask(store, tasks_named(3), server, concurrency=1)
            assert (done.n_at_hand, done.n_requests, done.n_missing) == (2, 1, 0)
            assert path.read_bytes().startswith(whole[: -len(last)])
            assert [line["sample_index"] for line in kept_lines(store.root)] == [0, 0, 0]
            assert len(store.read("candidates")) == 3


def test_replies_to_another_prompt_are_not_mixed_and_a_damaged_line_is_named(store: Store) -> None:
    with Server() as server:
        ask(store, tasks_named(1), server)
        other = [Task(**{**vars(tasks_named(1)[0]), "description": "Return number 1."})]
        with pytest.raises(BadStore, match="to another prompt"):
            ask(store, other, server, m=2)
        path = next(store.root.rglob("replies.jsonl"))
        path.write_bytes(path.read_bytes().replace(b'"sample_index"', b'"simple_index"', 1))
        with pytest.raises(BadStore, match=r"replies\.jsonl line 1 is damaged"):
            ask(store, tasks_named(2), server)
    assert len(server.asked) == 1


def test_two_commands_do_not_ask_for_the_same(store: Store) -> None:
    with Server(behaviour=lambda serial, prompt: "slow0.5") as server:
        first = threading.Thread(target=lambda: ask(store, tasks_named(2), server))
        first.start()
        until(lambda: server.asked)
        with pytest.raises(StoreInUse, match="another difftrust command adds to"):
            ask(store, tasks_named(2), server)
        first.join()
    assert len(server.asked) == 2


@pytest.mark.parametrize("ends", [True, False])
def test_who_has_all_replies_waits_for_another_command_that_writes(
    store: Store, monkeypatch: pytest.MonkeyPatch, ends: bool
) -> None:
    monkeypatch.setattr(settings, "WAIT", 60.0 if ends else 0.2)
    other = Holder(
        "from pathlib import Path\nfrom difftrust_core.store.settings import hold", f"hold(Path({str(store.root)!r}))"
    )
    with Server() as server:
        if ends:
            threading.Thread(target=lambda: (until(lambda: len(kept_lines(store.root)) == 3), other.end())).start()
        else:
            with pytest.raises(StoreInUse, match=r"then run the command again \(3 replies are kept and will not be "):
                ask(store, tasks_named(3), server)
            other.end()
        ask(store, tasks_named(3), server)
        assert len(server.asked) == 3
    assert len(store.read("candidates")) == 3


def test_a_running_event_loop_is_no_hindrance(store: Store) -> None:
    import asyncio

    with Server() as server:

        async def in_a_notebook() -> int:
            return int(ask(store, tasks_named(2), server).n_replies)

        assert asyncio.run(in_a_notebook()) == 2


def test_simulated_coders_come_by_the_same_path(store: Store) -> None:
    done = generate(
        store, TASKS, models=SIMULATED, temperature=0.6, m=3, options=GenerationOptions(n_jobs=1), say=silent
    )
    assert (done.n_replies, done.usd, done.n_unpriced, done.failures) == (27, 0.0, 0, [])
    programs = store.read("programs").unique(["task_id", "program_id"])
    found = (
        store.read("candidates").join(programs, on=["task_id", "program_id"]).sort("model", "task_id", "sample_index")
    )
    direct = [
        sample.code.rstrip()
        for model in sorted(SIMULATED)
        for task in TASKS
        for sample in sample_simulated(task, model, temperature=0.6, m=3)
    ]
    assert [code.rstrip() for code in found["code"]] == direct
    assert found["cost_usd"].to_list() == [0.0] * 27


def test_what_cannot_work_is_refused_before_anything_is_asked(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    without = [Task(**{**vars(TASKS[0]), "reference": None})]
    refusals = [
        (["simulated/strong"], without, "needs a reference to break"),
        (["simulated/best"], TASKS, "a simulated coder is one of"),
        (["nonsense"], TASKS, "litellm knows no provider for 'nonsense'"),
        (["gpt-4o"], TASKS, "OPENAI_API_KEY; it is not set"),
        ([MODEL], [*TASKS, TASKS[0]], "distinct tasks"),
        ([], TASKS, "at least one model"),
    ]
    for models, tasks, message in refusals:
        with pytest.raises(WrongUsage, match=message):
            generate(store, tasks, models=models, temperature=0.6, m=1, say=silent)
    assert not list(store.root.rglob("*.jsonl"))


@pytest.mark.parametrize(("most", "falls"), [(8, [4, 2, 1]), (3, [1])])
def test_concurrency_falls_by_halves_to_one_once_for_requests_of_one_round(most: int, falls: list[int]) -> None:
    said: list[str] = []

    async def work() -> tuple[list[int], int]:
        gate, limits = Gate(most, said.append), []
        async with gate.passing() as first, gate.passing() as second:
            gate.pushed_back(first, "429")
            gate.pushed_back(second, "429")
        for _ in range(3):
            limits.append(gate.limit)
            async with gate.passing() as began:
                gate.pushed_back(began, "429")
        return limits, gate.lowest

    assert asyncio.run(work()) == ([*falls, 1, 1][:3], 1)
    assert said == [f"the provider pushes back (429): now {n} requests at a time" for n in falls]


def test_at_one_request_at_a_time_the_next_waits() -> None:
    inside = [0]

    async def work() -> None:
        gate = Gate(2, lambda line: None)
        async with gate.passing() as began:
            gate.pushed_back(began, "429")

        async def one() -> None:
            async with gate.passing():
                inside.append(inside[-1] + 1)
                await asyncio.sleep(0.01)
                inside.append(inside[-1] - 1)

        await asyncio.gather(*(one() for _ in range(4)))

    asyncio.run(work())
    assert inside == [0] + [1, 0] * 4


def test_each_step_up_takes_four_good_replies_for_each_request_and_a_known_step_down_is_not_said_again() -> None:
    said: list[str] = []

    async def work() -> list[int]:
        gate, limits = Gate(4, said.append), []

        async def push_back() -> None:
            async with gate.passing() as began:
                gate.pushed_back(began, "429")

        await push_back()
        await push_back()
        for _ in range(24):
            gate.went_well()
            limits.append(gate.limit)
        await push_back()
        await push_back()
        return [*limits, gate.limit]

    assert asyncio.run(work()) == [*[1] * 3, *[2] * 8, *[3] * 12, 4, 1]
    assert len(said) == 2


def test_units_are_spaced_and_what_is_given_back_lets_the_next_start_earlier() -> None:
    now = 100.0
    pace = Pace(30, lambda: now)  # two seconds each

    async def starts(units: float) -> bool:
        """Tell whether so many units may start at once."""
        try:
            await asyncio.wait_for(pace.turn(units), 0.001)
        except TimeoutError:
            return False
        return True

    async def work() -> list[bool]:
        nonlocal now
        seen = [await starts(10), await starts(1)]
        now = 119.9
        seen.append(await starts(1))
        now = 120.0
        seen.append(await starts(5))
        pace.give_back(4)
        now = 122.0
        return [*seen, await starts(1), await starts(1)]

    assert asyncio.run(work()) == [True, False, False, True, True, False]
    pace = Pace(None, lambda: 0.0)
    assert asyncio.run(starts(10**9))
    assert asyncio.run(starts(10**9))


def test_a_budget_is_spent_to_the_last_cent_and_no_further() -> None:
    async def work() -> tuple[float, float]:
        budget = Budget(1.0)
        await budget.set_aside(0.5)
        await budget.set_aside(0.5)  # exactly what is left
        waiting = asyncio.ensure_future(budget.set_aside(0.25))
        await asyncio.sleep(0.01)
        assert not waiting.done()
        await budget.settle(0.5, 0.25)
        await asyncio.wait_for(waiting, 1)
        await budget.settle(0.5, None)  # a reply without usage may have cost all of it
        await budget.settle(0.25, 0.0, is_doubtful=True)
        with pytest.raises(Spent):
            await budget.set_aside(0.01)
        return budget.spent, budget.doubtful

    assert asyncio.run(work()) == (0.25, 0.75)
