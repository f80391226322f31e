"""Three readings of one store: what is an error as published and none inside the domain, and who is suspected."""

import shutil
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

import difftrust as dt
from difftrust.explorer.home import task_details
from difftrust.research.other_models import suspects
from difftrust.tables.readings import KINDS, judge_alarms
from difftrust.tables.registry import make_table
from difftrust.tables.render import in_percent
from difftrust.tables.request import TableRequest
from difftrust_core.base.records import Reading
from difftrust_core.base.task import Domain
from difftrust_core.datasets import audits
from difftrust_core.datasets.audits import Audit, Finding
from difftrust_core.estimates import behaviours, pool
from difftrust_core.estimates.behaviours import compact as whole
from difftrust_core.estimates.pool import load_pool
from difftrust_core.estimates.refresh import estimates_are_stale, refresh_estimates
from difftrust_core.exceptions import NoStore
from difftrust_core.execution.execute import execute
from difftrust_core.store.imports import add_candidates
from difftrust_core.store.store import Store
from tests.support.tiny import OTHER, RIGHT, TASKS, WRONG, candidates, filled, measure, silent

N = 24
DOMAINS = {
    "tiny/double": Domain(types="x: int", requires="x >= 0"),  # WRONG is right there
    "tiny/first": Domain(types="items: list[int | str]", requires="len(items) > 0"),  # and there
    "tiny/total": Domain(types="items: list[int]"),
}


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    made = Store.create(tmp_path_factory.mktemp("readings") / "store")
    tasks = [replace(task, domain=DOMAINS[task.task_id]) for task in TASKS]
    for model, programs in {"a": (WRONG, WRONG), "b": (WRONG, WRONG), "c": (WRONG, OTHER), "d": (RIGHT, RIGHT)}.items():
        add_candidates(made, candidates(model, *programs), {"tiny": tasks}, n_jobs=1)
    for validity in ("domain", "tests", "reference"):
        execute(made, n=N, validity=validity, say=silent)
        refresh_estimates(made)
    return made


@pytest.fixture(autouse=True)
def read_anew() -> None:
    """Forget what was read with other audits; but for a test they never change."""
    pool._load_pools.cache_clear()


def audit_as(finding: Finding, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the audits say this of one task alone."""
    found = Audit(benchmark="tiny", task_id="tiny/total", finding=finding, arguments="([1],)", why="-", drawn=False)
    monkeypatch.setattr(audits, "load_audits", lambda: (found,))


@pytest.fixture
def audited(monkeypatch: pytest.MonkeyPatch) -> None:
    audit_as(Finding.REFERENCE_WRONG, monkeypatch)


@pytest.mark.parametrize("inputs", ["domain", "tests", "reference"])
def test_an_execution_on_other_inputs_leaves_estimates_as_they_are(store: Store, inputs: str) -> None:
    assert not estimates_are_stale(store.read_as(Reading(inputs=inputs)))


def test_a_store_that_is_not_up_to_date_is_computed_once_a_reading(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = make_table("readings", TableRequest(store=store.root)).frame
    shutil.copytree(store.root, tmp_path / "store")
    for path in (tmp_path / "store").rglob("*.fingerprint"):
        path.unlink()
    computed = []
    monkeypatch.setattr(behaviours, "compact", lambda *a, **k: computed.append(a) or whole(*a, **k))
    assert make_table("readings", TableRequest(store=tmp_path / "store")).frame.equals(expected)
    assert sorted(str(of.settings().validity) for of, _ in computed) == ["domain", "reference"]


def test_what_the_domain_excludes_is_no_error(store: Store) -> None:
    frame = make_table("readings", TableRequest(store=store.root)).frame
    of_a, of_d = frame.filter(model="a"), frame.filter(model="d")
    assert of_a["reading"].to_list() == ["as published", "in the domain", "in the domain, audited"]
    assert of_a["erroneous"].to_list() == [3, 1, 1]
    assert of_a["pass_at_1"].to_list() == pytest.approx([0, 2 / 3, 2 / 3])
    assert of_a["wrong_although_agreeing"].to_list() == pytest.approx([1, 1 / 3, 1 / 3])
    assert of_a["error_removed"].to_list() == pytest.approx([1 - x / of_a["mean_error"][0] for x in of_a["mean_error"]])
    assert of_d.select("erroneous", "error_removed").rows() == [(0, None)] * 3  # no error, so no share of it


@pytest.mark.usefixtures("audited")
def test_tasks_with_a_faulty_reference_are_left_out(store: Store) -> None:
    frame = make_table("readings", TableRequest(store=store.root)).frame
    assert frame.filter(model="a")["tasks"].to_list() == [3, 3, 2]
    study = dt.open(store.root, inputs="domain", references="audited")
    kept = ["tiny/double", "tiny/first"]
    assert [task.task_id for task in study.pool("tiny").tasks] == kept
    assert study.estimates(model="a").frame["task_id"].unique().sort().to_list() == kept
    assert study.sql("SELECT DISTINCT task_id FROM estimates ORDER BY 1").frame["task_id"].to_list() == kept
    assert study.sql("SELECT finding FROM audits").frame.item() == "reference wrong"


@pytest.mark.usefixtures("audited")
def test_undetected_errors_are_told_apart(store: Store) -> None:
    frame = make_table("undetected", TableRequest(store=store.root)).frame
    assert frame.filter(model="a").select("undetected", *KINDS).row(0) == (3, 2, 0, 1, 0)
    everyone = frame.filter(model="all")["undetected"].item()
    assert everyone == sum(frame.filter(pl.col("model") != "all")["undetected"])


@pytest.mark.parametrize(("finding", "counts"), [("reference wrong", (3, 0)), ("description admits both", (2, 1))])
def test_alarms_are_right_in_vain_or_on_tasks_that_admit_both(
    store: Store, monkeypatch: pytest.MonkeyPatch, finding: str, counts: tuple[int, int]
) -> None:
    """On each task OTHER is wrong inside the domain, so that c's three alarms are right, unless both answers are."""
    audit_as(Finding(finding), monkeypatch)
    frame = make_table("alarms", TableRequest(store=store.root)).frame
    rows = frame.filter(model="c").select("right", "admits_both", "no_error").rows()
    assert rows[1] == (*counts, 0)
    # undefined is no 0
    assert frame.filter(model="d").select("alarms", "precision").rows() == [(0, None)] * 3
    whole = frame.filter(model="all", reading="as published").row(0, named=True)
    assert whole["alarms"] == whole["right"] + whole["no_error"] + whole["admits_both"] == 3


def test_suspects_are_what_most_models_do_and_the_reference_does_not(store: Store) -> None:
    sizes = {"temperature": 0.6, "m": 2, "n": N}
    inside = load_pool(Store.open(store.root, Reading(inputs="domain")), "tiny")
    (found,) = suspects(inside, **sizes).iter_rows(named=True)
    assert (found["task_id"], found["n_models"], found["n_sharing"], found["finding"]) == ("tiny/total", 4, 3, None)
    published = load_pool(Store.open(store.root, Reading(inputs="reference")), "tiny")
    everywhere = suspects(published, **sizes)
    assert set(everywhere["task_id"]) == {task.task_id for task in TASKS}
    assert everywhere["unlike_reference"].is_sorted(descending=True)
    for models, n_suspects in (("abc", 3), ("ab", 0)):  # of three models on; c's first of two equals is as a's
        few = {coder: members for coder, members in published.members.items() if coder[0] in models}
        assert suspects(replace(published, members=few), **sizes).height == n_suspects
    unknown = [replace(task, reference=None) if at == 0 else task for at, task in enumerate(published.tasks)]
    assert set(suspects(replace(published, tasks=unknown), **sizes)["task_id"]) == {t.task_id for t in unknown[1:]}


@pytest.mark.parametrize(
    ("task", "model", "dissent", "stratum"),
    [
        ("tiny/total", "a", 1, ("all agree", "fewer than half")),
        ("tiny/total", "d", 3, ("all agree", "half or more")),
        ("tiny/double", "a", 0, ("all agree", "none")),
        ("tiny/total", "c", 1, ("some disagree", "any")),
    ],
)
def test_the_pane_of_a_task_says_what_other_models_tell(
    store: Store, task: str, model: str, dissent: int, stratum: tuple[str, str]
) -> None:
    """Inside the domain a, b and c answer alike, d on tiny/total otherwise; the share is that of the table."""
    read = Store.open(store.root, Reading(inputs="domain"))
    said = task_details(read, load_pool(read, "tiny"), task, (model, 0.6), m=2, n=N)["others"]
    assert f"Other models: {dissent} of 3 give another answer" in said
    frame = make_table("dissent", TableRequest(store=store.root, reading=read.reading)).frame
    row = frame.filter(model="all", own=stratum[0], others=stratum[1]).row(0, named=True)
    share = in_percent(row["risk"], row["risk_low"], row["risk_high"])
    assert f"{share} of {row['tasks']} answers to tasks of tiny" in said


def test_what_agreement_is_worth_is_judged_by_the_tests_too(store: Store) -> None:
    """On every task, a's programs agree and fail a test of the benchmark; c's never agree; d's fail none."""
    frame = make_table("agreement", TableRequest(store=store.root, reading=Reading(inputs="domain"))).frame
    risks = dict(frame.select("model", "agree_risk_by_tests").iter_rows())
    assert [risks[model] for model in "abcd"] == [1.0, 1.0, None, 0.0]


def test_an_unknown_reading_is_refused(store: Store) -> None:
    with pytest.raises(dt.DifftrustError, match="expected one of reference"):
        dt.open(store.root, inputs="mine")
    for m in (None, 2):
        with pytest.raises(dt.DifftrustError, match="quorum"):
            make_table("4", TableRequest(store=store.root, reading=Reading(inputs="quorum"), m=m))


def test_an_alarm_of_which_no_error_can_be_known_is_no_alarm_in_vain() -> None:
    key = {"benchmark": "b", "model": "a", "temperature": 0.6}
    rows = [{**key, "task_id": name, "error": error, "detected": True} for name, error in (("b/1", 0.5), ("b/2", None))]
    estimates = pl.DataFrame(rows)
    found = judge_alarms(estimates, estimates)
    assert found.select("task_id", "right", "no_error").rows() == [("b/1", True, False)]


def test_inputs_that_references_accept_are_not_asked_for_where_a_task_has_none(tmp_path: Path) -> None:
    store = filled(tmp_path / "store", RIGHT, WRONG, tasks=[replace(TASKS[0], reference=None), *TASKS[1:]])
    measure(store, 5, validity="all")
    with pytest.raises(NoStore, match="no estimates of such inputs; they are what references accept, and 1 of its"):
        make_table("readings", TableRequest(store=store.root))
