"""Docstrings that people wrote who knew no rule: nothing that they allow is ruled out."""

from pathlib import Path

import pytest

from tests.bench.condition_sentences import FOLDER, judge, load_sentences


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.toml")), ids=lambda path: path.stem)
def test_no_input_is_ruled_out_that_a_docstring_allows(path: Path) -> None:
    judged = [judge(entry) for entry in load_sentences(path)]
    wrong = {
        each.entry["docstring"]: [p.text for p in each.reading.predicates] for each in judged if each.how == "wrong"
    }
    assert not wrong


def test_those_that_rules_were_made_for_are_read() -> None:
    judged = [judge(entry) for entry in load_sentences(FOLDER / "known.toml")]
    stated = [each.how for each in judged if "outside" in each.entry]
    assert stated.count("read") >= 45
    assert {each.how for each in judged if "outside" not in each.entry} == {"read"}
