"""Labels of docstrings are compared with what was read in one form, however a condition is spelled."""

import pytest

from tests.bench.condition_labels import parts
from tests.bench.docstring_labels import BadNotation, Label, Reading, canonical, compare, load_labels
from tests.support.markdown import ROOT

LABEL = Label(
    name="shop.discount",
    group="shop",
    digest="",
    conditions=frozenset((*canonical("0 <= share <= 1"), *canonical("kind in ['a', 'b']"))),
    hard=frozenset({"codes"}),
)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("0 < n", "n >= 1"),
        ("not n <= 0", "n > 0"),
        ("n in [1, 2, 3]", "1 <= n <= 3"),
        ("nonempty(n)", "len(n) > 0"),
        ("len(n) != 0", "nonempty(n)"),
        ("each(n) > 2", "n >= 3"),
    ],
)
def test_one_condition_has_one_form(one: str, other: str) -> None:
    assert canonical(one, {"n"}) == canonical(other, {"n"})


def test_what_is_no_condition_is_refused() -> None:
    for text in ("n +", "n", "n in x", "f(n)", "n > 'a'"):
        with pytest.raises(BadNotation):
            canonical(text)


def test_right_wrong_missed_and_named_are_counted() -> None:
    reading = Reading(
        conditions=("share >= 0", "share < 1", "codes > 0"), unread=frozenset({"kind"})
    )  # right, wrong, of a hard parameter
    counts = compare([LABEL], {"shop.discount": reading})
    assert counts.right == (("shop.discount", "share >= 0"),)
    assert counts.wrong == (("shop.discount", "share < 1"),)
    assert counts.unjudged == (("shop.discount", "codes > 0"),)
    assert {one for _, one in counts.missed} == {"share <= 1", "kind in ['a', 'b']"}
    assert counts.named == (("shop.discount", "kind in ['a', 'b']"),)
    assert (counts.precision, counts.recall, counts.unread_named) == (1 / 2, 1 / 3, 1 / 2)
    assert compare([LABEL], {}).precision is None  # nothing was read


def test_the_labels_are_of_the_notation() -> None:
    labels = load_labels()
    assert len(labels) == 300
    assert any(label.conditions for label in labels.values())


@pytest.mark.slow
def test_the_page_says_how_much_is_read_of_docstrings_of_packages() -> None:
    compared = parts()
    if compared is None:
        pytest.skip("not all of the labelled docstrings are installed with the text that was labelled")
    page = (ROOT / "docs" / "check_bench.md").read_text()
    for title, counts in zip(("looked at", "held out"), compared, strict=True):
        assert not counts.wrong
        conditions = len(counts.right) + len(counts.missed) - counts.hard
        said = f"{len(counts.right)} of {conditions} | {len(counts.named)} of {len(counts.missed)}"
        assert f"| {title} | {said} |" in page
