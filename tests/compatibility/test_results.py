"""The sha256 of the data of every table and figure of the shipped results, floats to ten digits."""

import json

import pytest

import difftrust as dt
from difftrust_core.base.records import Reading
from difftrust_core.estimates.refresh import estimates_are_stale, policies_executed
from difftrust_core.store.store import Store
from tests.compatibility.golden import REPOSITORY, assert_golden_entry, digest
from tests.support.command import Capture, run

STORES = {"paper": "results", "starter": "starter-results"}
TABLES = (
    *("2", "3", "3a", "3b", "3c", "4", "selection", "questions", "rankings", "readings", "undetected", "alarms"),
    *("suspects", "draws", "audits", "versions", "agreement", "guarantee", "policies", "tests"),
    *("dissent", "difficulty", "correlated"),
)
FIGURES = (
    *("1", "2", "3", "ranking", "ablation", "mixtures", "readings", "risk-coverage", "questions", "policies"),
    "correlated",
)
VARIANTS = {
    "published": ("--published",),
    "strict": ("--equality", "strict"),
    "domain": ("--inputs", "domain"),
    "tests": ("--inputs", "tests"),
    "audited": ("--references", "audited"),
    "temperature": ("--temperature", "1.0"),
    "all pairs": ("--detection", "all-pairs"),
    "m and n": ("-m", "5", "-n", "200"),
    "intervals": ("--intervals", "--resamples", "200"),
    "load strictly": ("--load", "strict"),
}
SLOW_TABLES = (
    *("paper questions", "paper selection", "paper 2", "paper rankings", "paper readings", "paper guarantee"),
    *("paper suspects", "paper tests", "paper agreement", "paper 3", "paper undetected", "paper alarms"),
    *("paper correlated", "paper dissent", "paper difficulty", "paper policies", "starter agreement"),
)
SLOW_FIGURES = tuple(
    f"paper {name}"
    for name in ("1", "ranking", "questions", "mixtures", "readings", "risk-coverage", "correlated", "policies")
)
MODELS = {"paper": "gpt_4o", "starter": "simulated/strong"}


def cases(names: tuple[str, ...], slow: tuple[str, ...]) -> list[object]:
    """Return a case for each store and name; slow ones are marked."""
    return [
        pytest.param(store, name, marks=pytest.mark.slow if f"{store} {name}" in slow else ())
        for store in STORES
        for name in names
    ]


@pytest.fixture(autouse=True)
def _without_texts_of_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DIFFTRUST_DATA", raising=False)
    monkeypatch.chdir(REPOSITORY)


def compare_table(capsys: Capture, key: str, *words: str) -> None:
    said = run(capsys, "table", *words, "--format", "json", "-j", 1)
    if said.status:
        assert_golden_entry("tables", key, [said.status, said.err.splitlines()[-1]])
        return
    rows = json.loads(said.out)
    found = {"columns": list(rows[0]) if rows else [], "n": len(rows), "sha256": digest(rows)}
    assert_golden_entry("tables", key, found)


def test_the_starter_results_are_up_to_date_for_each_reading() -> None:
    root = REPOSITORY / "data" / "starter-results"
    for each in policies_executed(Store(root)):
        assert not estimates_are_stale(Store(root, Reading(inputs=each)))


@pytest.mark.parametrize(("store", "name"), cases(TABLES, SLOW_TABLES))
def test_a_table(store: str, name: str, capsys: Capture) -> None:
    chosen = ("--model", MODELS[store]) if name in ("3", "3a", "3b", "3c", "policies") else ()
    chosen = ("--delta", "0.1") if name in ("agreement", "guarantee") else chosen
    compare_table(capsys, f"{store} {name}", name, "--store", f"data/{STORES[store]}", *chosen)


@pytest.mark.slow
@pytest.mark.parametrize("variant", VARIANTS)
def test_table_4_otherwise(variant: str, capsys: Capture) -> None:
    compare_table(capsys, f"4 {variant}", "4", *VARIANTS[variant])


@pytest.mark.slow
@pytest.mark.parametrize("name", ["2", "3"])
def test_a_table_beside_the_published_one(name: str, capsys: Capture) -> None:
    compare_table(capsys, f"{name} published", name, "--published")


@pytest.mark.parametrize(("store", "name"), cases(FIGURES, SLOW_FIGURES))
def test_a_figure(store: str, name: str) -> None:
    asked = int(name) if name.isdigit() else name
    study = dt.open() if store == "paper" else dt.open(REPOSITORY / "data" / STORES[store])
    try:
        frame = study.figure(asked).frame
    except dt.DifftrustError as e:
        assert_golden_entry("figures", f"{store} {name}", [type(e).__name__, str(e)])
        return
    rows = frame.to_dicts()
    found = {"columns": frame.columns, "n": len(rows), "sha256": digest(json.loads(json.dumps(rows, default=str)))}
    assert_golden_entry("figures", f"{store} {name}", found)
