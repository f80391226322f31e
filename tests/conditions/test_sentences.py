"""Docstrings that people wrote who knew no rule: nothing that they allow is ruled out."""

import tomllib
from pathlib import Path

import pytest

from difftrust.conditions.limiting import BAR, WEIGHTS, weight
from tests.bench.condition_sentences import FOLDER, judge, load_sentences, row
from tests.bench.limiting_sentences import LABELS, learned, sentences
from tests.support.markdown import ROOT

_PAGE = ROOT / "docs" / "check_bench.md"


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.toml")), ids=lambda path: path.stem)
def test_no_input_is_ruled_out_that_a_docstring_allows_and_the_page_says_how_many_are_that_it_rules_out(
    path: Path,
) -> None:
    judged = [judge(entry) for entry in load_sentences(path)]
    wrong = {
        each.entry["docstring"]: [p.text for p in each.reading.predicates] for each in judged if each.how == "wrong"
    }
    assert not wrong
    if path.stem != "known":
        _, _, of_set = _PAGE.read_text().partition(f"| `{path.stem}`")
        assert row(judged) in of_set.split("\n")[1]


def test_those_that_rules_were_made_for_are_read() -> None:
    judged = [judge(entry) for entry in load_sentences(FOLDER / "known.toml")]
    stated = [each.how for each in judged if "outside" in each.entry]
    assert stated.count("read") >= 51
    assert [each.how for each in judged if "outside" not in each.entry].count("said") <= 1


@pytest.mark.slow
def test_words_tell_which_sentences_limit_something_by_the_weights_that_all_labelled_ones_teach() -> None:
    found = sentences()
    labels = tomllib.loads(LABELS.read_text())
    labelled = {each.source: sum(e.limits for e in found if e.source == each.source) for each in found}
    assert all(labelled[source] >= 0.9 * len(texts) for source, texts in labels.items() if len(texts) > 20)
    for source in ("club", "many_kinds"):
        weights = learned([each for each in found if each.source != source])
        own = [(each.limits, weight(each.marks, weights) > BAR) for each in found if each.source == source]
        limiting, others = ([said for limits, said in own if limits is each] for each in (True, False))
        assert sum(limiting) > 0.7 * len(limiting)
        assert sum(others) < 0.15 * len(others)
    kept = dict(line.split(" ", 1)[::-1] for line in WEIGHTS.read_text().splitlines())
    now = learned(found)
    assert all(abs(now.get(mark, 0.0) - float(kept.get(mark, 0.0))) < 0.5 for mark in {*now, *kept})
