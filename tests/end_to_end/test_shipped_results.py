"""The results that come with the project: whole, small, without texts of others, and what the paper's tables say."""

import hashlib
import re
from pathlib import Path

import pytest

from difftrust.shipped import find_results
from difftrust.tables.registry import make_table
from difftrust.tables.request import TableRequest
from difftrust_core.estimates.queries import query_sql
from difftrust_core.store.store import Store

DATA = Path(__file__).parents[2] / "data"


@pytest.fixture(scope="module")
def store() -> Store:
    return Store.open(find_results())


def test_every_file_is_in_the_readme_with_its_sha256() -> None:
    listed = dict(re.findall(r"\| `(results/[^`]+)` \| `([0-9a-f]{64})` \|", (DATA / "README.md").read_text()))
    there = {
        str(path.relative_to(DATA)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in (DATA / "results").rglob("*")
        if path.is_file() and path.name != ".lock"
    }
    assert listed == there


def test_they_are_small_and_hold_all_that_was_recorded_but_no_text_of_programs_or_benchmarks(store: Store) -> None:
    assert sum(path.stat().st_size for path in store.root.rglob("*") if path.is_file()) < 25e6
    assert {path.name for path in store.root.iterdir() if path.is_dir()} == {
        "classes", "disagreements", "draws", "estimates", "members", "patterns", "smallest", "stability",
    }  # fmt: skip
    longest = query_sql(store, "select max(length(arguments)) a, max(length(text)) b from disagreements")
    assert max(longest.row(0)) <= 201  # 200 characters and the sign that more was there
    texts = [f"max(length({name}))" for name in ("arguments", "first_text", "second_text")]
    assert max(query_sql(store, f"select {', '.join(texts)} from smallest").row(0)) <= 201
    counted = query_sql(store, "select count(*) n, count(distinct model) models from members").row(0)
    assert counted == (565_676, 16)


@pytest.mark.parametrize("name", ["2", "4"])
def test_they_repeat_the_published_tables(name: str) -> None:
    limits = {"mean_error": 0.010, "mean_incoherence": 0.006, "detection_rate": 0.015}
    made = make_table(name, TableRequest(store=find_results(), published=True))
    said = next(note for note in made.notes if note.startswith("mean absolute difference"))
    differences = {measure: float(value) for measure, value in re.findall(r"(\w+) (\d\.\d+)", said)}
    assert {measure: differences[measure] < limit for measure, limit in limits.items()} == dict.fromkeys(limits, True)
    assert any("with I > 2E: 0; with E = 0 < I: 0" in note for note in made.notes)


@pytest.mark.slow
def test_they_know_what_every_recorded_coder_cost_at_least(store: Store) -> None:
    prices = {"gpt_o4_mini": (1.10, 4.40), "claude_opus_4": (15.0, 75.0), "gpt_4o": (5.0, 15.0)}
    coders = query_sql(store, "select distinct benchmark, model, temperature from members").rows()
    assert len({model for _, model, _ in coders}) == 16
    for benchmark, model, temperature in coders:
        asked = f"from ablation_summary('{model}', '{benchmark}', {temperature}, 10, NULL)"
        cost, is_least = query_sql(store, f"select cost_usd, cost_usd_is_lower_bound {asked}").row(0)
        assert cost > 0
        assert is_least == (model in ("deepseek_r1", "gemini_2_5_flash", "gemini_2_5_pro", "gpt_o4_mini"))
        if model in prices:
            where = f"(benchmark, model, temperature) = ('{benchmark}', '{model}', {temperature})"
            sums = "sum(prompt_tokens)::double, sum(completion_tokens)::double"
            tokens = query_sql(store, f"select {sums} from members where {where} and sample_index < 10")
            by_hand = sum(n * price for n, price in zip(tokens.row(0), prices[model], strict=True)) / 1e6
            assert cost == pytest.approx(by_hand, rel=1e-9)


def test_table_3_of_a_model_that_bills_reasoning_says_at_least() -> None:
    made = make_table("3a", TableRequest(store=find_results(), model="gpt_o4_mini", paper_setting=True))
    row = made.frame.filter(value=10).row(0, named=True)
    assert row["humaneval_expenses_usd_is_lower_bound"] is True
    assert f"≥ {row['humaneval_expenses_usd']:.4f}" in repr(made)
    assert "at the list price of 2025-04-16: 1.1 and 4.4 US dollars per million" in repr(made)
    gpt = make_table("3a", TableRequest(store=find_results(), paper_setting=True))
    assert "≥" not in repr(gpt)
    assert gpt.frame["humaneval_expenses_usd_is_lower_bound"].any() is False


def test_they_repeat_table_3_with_its_expenses() -> None:
    made = make_table("3", TableRequest(store=find_results(), published=True))
    said = next(note for note in made.notes if note.startswith("difference to the published table"))
    detection, most, expenses, most_expenses = map(float, re.findall(r"\d\.\d+", said))
    assert detection < 0.03
    assert most < 0.05
    assert expenses < most_expenses < 0.15
    assert not any(note.startswith("not in the store") for note in made.notes)
