"""A check is right about the cases: one of some classes, all of them in `make test-all`; planted faults are found."""

from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.bench.check import Answer, Question, ask, ask_all, finds, judge, questions, summary, table, wrong_ones
from tests.bench.commands import Checked
from tests.bench.warm import run_warm_check
from tests.check_cases.case import FOLDER as CASES
from tests.check_cases.case import load_case, load_cases
from tests.check_cases.planted import PLANTED, Planted

QUESTIONS = questions([case for case in load_cases() if not case.missing])
QUICK = {q.case.kind: q for q in reversed(QUESTIONS)}
"""The first question of each class."""


def answer(
    verdict: str, *groups: str, contradicting: str = "", shown: tuple[str, ...] = (), doubted: str = ""
) -> Checked:
    return Checked(
        verdict=verdict,
        behaviours=frozenset(map(frozenset, groups)),
        contradicting=frozenset(contradicting),
        shown=shown,
        doubted=doubted,
        seconds=1.0,
        cpu=1.0,
        said="",
    )


@pytest.mark.parametrize("kind", sorted(QUICK)[:3])
def test_a_case_is_answered_rightly(kind: str) -> None:
    given = ask(QUICK[kind], check=run_warm_check)
    assert given.judgement == "right", given.checked.said


@pytest.mark.long
@pytest.mark.timeout(1800)  # 231 checks
@pytest.mark.slow
def test_checks_are_right_about_95_percent_of_the_cases_and_never_falsely_green() -> None:
    answers = ask_all(QUESTIONS, jobs=2, check=run_warm_check)
    counts = Counter(given.judgement for given in answers)
    said = "\n".join([*table(answers), *wrong_ones(answers)])
    assert counts["false green"] == counts["false alarm"] == 0, said
    assert counts["right"] >= 0.95 * len(answers), said


@pytest.mark.parametrize("planted", [PLANTED[0], PLANTED[8]], ids=lambda planted: planted.kind)
def test_a_planted_fault_is_found(planted: Planted) -> None:
    assert finds(planted, check=run_warm_check)


@pytest.mark.long
@pytest.mark.slow
def test_nine_of_ten_planted_faults_are_found() -> None:
    with ThreadPoolExecutor(2) as pool:
        hits = list(pool.map(lambda planted: finds(planted, check=run_warm_check), PLANTED))
    missed = [(planted.kind, planted.condition) for planted, hit in zip(PLANTED, hits, strict=True) if not hit]
    assert len(missed) <= 0.1 * len(PLANTED), missed


def test_what_an_answer_is() -> None:
    case = load_case(CASES / "slugify.toml")
    whole, alike = questions([case])
    assert (whole.title, alike.title) == ("slugify", "slugify[a,b]")
    assert (whole.expected, alike.expected) == ("incoherent", "coherent")
    assert judge(whole, answer("incoherent", "ab", "c")) == "right"
    assert judge(whole, answer("disagreement found", "ab", "c")) == "right"
    assert judge(whole, answer("incoherent", "a", "bc")) == "blurred"
    assert judge(whole, answer("coherent", "abc")) == "false green"
    assert judge(whole, answer("undecided", "abc")) == "undecided"
    assert judge(whole, answer("incoherent", "ab", "c", shown=("('_',)",))) == "right"
    assert judge(whole, answer("incoherent", "ab", "c", shown=("('a',)",))) == "blurred"
    assert judge(alike, answer("coherent", "ab")) == "right"
    assert judge(alike, answer("incoherent", "a", "b")) == "false alarm"
    assert judge(alike, answer("refused")) == "refused"


def test_an_undecided_check_may_show_the_fault_nonetheless() -> None:
    whole, alike = questions([load_case(CASES / "slugify.toml")])
    undecided = [answer("undecided", doubted=text) for text in ("('_',)", "('a',)", "")]
    answers = [Answer(question=whole, checked=each, judgement="undecided") for each in undecided]
    answers.append(Answer(question=alike, checked=answer("undecided", doubted="('_',)"), judgement="undecided"))
    assert "of 3 undecided ones whose candidates differ 1 show first an input" in summary(answers)


def test_candidates_that_contradict_an_example_are_to_be_named() -> None:
    (question,) = questions([load_case(CASES / "median_agreed_wrong.toml")])
    assert isinstance(question, Question)
    assert judge(question, answer("incoherent", "ab", contradicting="ab")) == "right"
    assert judge(question, answer("incoherent", "ab", contradicting="a")) == "blurred"
    assert judge(question, answer("coherent", "ab")) == "false green"


def test_an_input_shown_must_be_inside_the_domain() -> None:
    whole, _ = questions([load_case(CASES / "email_domain.toml")])
    assert judge(whole, answer("incoherent", "ab", "c", shown=("('@@a',)",))) == "right"
    assert judge(whole, answer("incoherent", "ab", "c", shown=("('',)",))) == "blurred"
    by_name, _ = questions([load_case(CASES / "keyword_only.toml")])
    assert judge(by_name, answer("incoherent", "ab", "c", shown=("('aaaa', Keywords(limit=3))",))) == "right"
    assert judge(by_name, answer("incoherent", "ab", "c", shown=("('aaaa', Keywords(limit=2))",))) == "blurred"
