"""Structural similarity: properties, and every measure by a plain computation."""

import itertools
import math
import sys
from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from difftrust.structure.pairwise import MEASURES, Programs, compare_two, stability
from difftrust.structure.similarity import (
    Ngrams,
    cross_entropy_similarity,
    frequencies,
    jsd_distance,
)
from difftrust.structure.trees import MAX_BYTES, Options, load_grammar
from difftrust_core.exceptions import MissingPackage, WrongUsage

EPSILON = 1e-10
counts = st.integers(2, 6).flatmap(
    lambda width: st.lists(
        st.lists(st.integers(0, 40), min_size=width, max_size=width).filter(any), min_size=2, max_size=4
    )
)
"""Programs as counts of the same symbols."""


def distributions(rows: list[list[int]]) -> Any:
    return frequencies(np.array(rows, dtype=np.int64))


def scores(first: str, second: str, **options: Any) -> dict[str, tuple[float, float]]:
    frame = compare_two(first, second, Options(**options)).frame
    return {name: (there, back) for name, there, back in frame.iter_rows()}


@given(counts)
@settings(max_examples=100, deadline=None)
def test_jsd_is_a_symmetric_distance_and_gibbs_a_similarity_both_in_0_1(rows: list[list[int]]) -> None:
    """The distance is 0 and the similarity 1 for equal distributions only."""
    shares = distributions(rows)
    distance = jsd_distance(shares)
    assert (distance == distance.T).all()
    assert ((distance >= 0) & (distance <= 1)).all()
    equal = (shares[:, None] == shares[None]).all(axis=2)
    assert ((distance == 0) == equal).all()
    assert jsd_distance(shares, base="e") == pytest.approx(distance * math.log(2), abs=1e-15)
    similarity = cross_entropy_similarity(shares, epsilon=EPSILON, variant="gibbs")
    assert ((similarity >= 0) & (similarity <= 1)).all()
    assert ((similarity == 1) == equal).all()


def test_distances_and_both_variants_of_entropy_by_hand() -> None:
    shares = distributions([[1, 1, 0, 0], [0, 0, 1, 1]])
    assert jsd_distance(shares)[0, 1] == 1
    # H(P) = ln 2, every symbol of P counts epsilon in Q.
    want = math.log(2) / -math.log(EPSILON)
    assert cross_entropy_similarity(shares, epsilon=EPSILON, variant="gibbs")[0, 1] == pytest.approx(want)
    # The published variant exceeds 1.
    shares = distributions([[4, 0, 0], [2, 1, 1]])
    paper = cross_entropy_similarity(shares, epsilon=EPSILON, variant="paper")
    assert paper[0, 1] == pytest.approx(1.5)  # H(Q) = 1.5 bits, H(P, Q) = 1 bit
    assert cross_entropy_similarity(shares, epsilon=EPSILON, variant="gibbs")[0, 1] == 0  # H(P) = 0
    there, _ = scores("a,a,a", "a,a,b")["sce"]
    assert there == pytest.approx(1.068, abs=5e-4)
    assert scores("a,a,a", "a,a,b")["gibbs"][0] < 1
    # A symbol that Q lacks, of share 1/1000, costs too little where epsilon is larger than that.
    shares = distributions([[1, 999], [0, 999]])
    assert cross_entropy_similarity(shares, epsilon=0.5, variant="gibbs")[0, 1] > 1
    assert cross_entropy_similarity(shares, epsilon=1 / 3000, variant="gibbs")[0, 1] < 1


def test_identical_programs_of_one_symbol_are_alike() -> None:
    for name, pair in scores("", "").items():
        assert pair == ((0.0, 0.0) if name == "bleu" else (1.0, 1.0)), name  # no word, no BLEU


BEFORE = "def f(total, step):\n    return total + step\n"
AFTER = "def f(x, y):\n    return x + y\n"
TEXTS = [
    *(BEFORE, AFTER, "x = 1\n", "", "for i in range(3):\n    print(i)\n", 'x = f"{y} é"\nz = "one\\n"  # two\n'),
    "def f(a):\n    if a:\n        return [b for b in a if b]\n    return None\n",
    "class A:\n    def f(self):\n        return {1: (2, 3)}\n\n\nprint(A().f())\n",
]


def test_renaming_changes_values_and_not_structure() -> None:
    found = scores(BEFORE, AFTER)
    for name in ("jsd_structural", "sce_structural", "gibbs_structural", "tsed"):
        assert found[name] == (1.0, 1.0)
    for name in ("jsd", "gibbs", "bleu"):
        assert max(found[name]) < 1


def test_a_leaf_is_not_taken_for_a_kind_and_text_beside_escapes_counts() -> None:
    one, other = 'x = "one\\n"\n', 'x = "two\\n"\n'
    assert scores(one, other)["jsd"][0] < 1
    assert scores(one, other, value_gaps=False)["jsd"] == (1.0, 1.0)
    assert scores(one, other)["jsd_structural"] == (1.0, 1.0)
    assert scores('x = "identifier"\n', "x = identifier\n")["jsd"][0] < 1


def test_comments_and_punctuation_can_be_left_out() -> None:
    bare, commented = "x = 1\n", "# one\nx = 1  # it is\n"
    assert scores(bare, commented)["jsd_structural"][0] < 1
    assert scores(bare, commented, drop_comments=True)["jsd"] == (1.0, 1.0)
    assert scores("x = (1)\n", "x = (1,)\n", named_only=True)["jsd_structural"][0] < 1
    assert scores("f(a, b)\n", "f(a, b,)\n", named_only=True)["jsd"] == (1.0, 1.0)
    assert scores("SELECT 1 -- one\n", "SELECT 1\n", language="sql", drop_comments=True)["jsd"] == (1.0, 1.0)


def test_deeper_symbols_see_more_and_a_bound_on_depth_less() -> None:
    one, other = "f(1)\ng(x)\n", "f(x)\ng(1)\n"  # the same nodes, other leaves below the calls
    shallow, deep = (scores(one, other, subtree_depth=d)["jsd_structural"][0] for d in (1, 2))
    assert shallow == 1
    nested = [scores("f(1) + g(x)\n", "f(x) - h(1, 2)\n", subtree_depth=d)["jsd_structural"][0] for d in (1, 2, 3)]
    assert nested == sorted(nested, reverse=True)
    assert len(set(nested)) == 3
    assert scores("if x:\n    y = 1\n", "if x:\n    z()\n", max_depth=1)["jsd_structural"] == (1.0, 1.0)
    assert deep <= shallow


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("(" * 10_000 + ")" * 10_000, id="10,000 nested parentheses"),
        pytest.param("(" * 10_000, id="10,000 open ones"),
        pytest.param('x = f(1, "a\\n")\n' * 60_000, id="a megabyte", marks=pytest.mark.slow),
        pytest.param("[" * (1 << 20), id="a megabyte of brackets", marks=pytest.mark.slow),
        pytest.param("[ " * 5_000 + "\x00\ud800 \u202e" * 100, id="no text at all"),
    ],
)
def test_deep_and_huge_programs_are_compared(text: str) -> None:
    options = Options(subtree_depth=2, drop_comments=True)
    programs = Programs([text, "x = 1\n"], options)
    programs.edit([[0, 1]])
    found = stability(programs, [0, 1])
    assert found.m == 2
    assert math.isnan(found.scores["tsed"]) or 0 <= found.scores["tsed"] < 1  # undefined rather than minutes
    assert 0 <= found.scores["jsd"] < 1
    assert 0 <= found.scores["gibbs_structural"] < 1


@pytest.mark.slow
def test_what_is_too_long_is_left_out_and_counted() -> None:
    found = stability(Programs(["#" * (MAX_BYTES + 1), "x = 1\n"]), [0, 1, 1])
    assert (found.m, found.n_left_out, found.n_programs) == (2, 1, 1)
    assert found.scores["jsd"] == 1


def test_parse_errors_are_counted_or_left_out() -> None:
    texts = ["x = = 1\n", "x = 1\n", "y = 2\n"]
    kept = stability(Programs(texts), [0, 1, 2])
    assert (kept.m, kept.n_parse_errors, kept.n_left_out) == (3, 1, 0)
    left = stability(Programs(texts, Options(skip_parse_errors=True)), [0, 1, 2])
    assert (left.m, left.n_parse_errors, left.n_left_out) == (2, 0, 1)
    assert left.scores["jsd_structural"] == 1


def test_means_are_over_ordered_pairs_of_candidates() -> None:
    programs = Programs(["a = 1\n", "def f():\n    pass\n"])
    matrix = programs.scores([0, 1])
    found = stability(programs, [0, 0, 1])  # 2 of 6 ordered pairs are of equal programs
    for name in ("bleu", "jsd", "sce", "gibbs_structural"):
        want = (2 * 1 + 2 * matrix[name][0, 1] + 2 * matrix[name][1, 0]) / 6
        assert found.scores[name] == pytest.approx(want)
    assert found.scores["exact_match"] == pytest.approx(1 / 3)
    assert math.isnan(found.scores["tsed"])  # not asked for
    assert (found.mean_length, found.m) == (pytest.approx((6 + 6 + 18) / 3), 3)
    alone = stability(programs, [0])
    assert all(math.isnan(alone.scores[name]) for name in MEASURES)


def test_bleu_is_sacrebleus() -> None:
    from sacrebleu.metrics.bleu import BLEU

    metric = BLEU(smooth_method="floor", smooth_value=0.1, effective_order=True)
    texts = [*TEXTS, "a", "a b", "a a a a", "x &quot;y&quot; 3.14", "é -\n b"]
    found = Ngrams(texts).bleu(np.arange(len(texts)))
    for (i, hypothesis), (j, reference) in itertools.product(enumerate(texts), repeat=2):
        assert found[i, j] == pytest.approx(metric.sentence_score(hypothesis, [reference]).score / 100, abs=1e-12)


def test_tsed_is_apteds() -> None:
    for (a, first), (b, second) in itertools.combinations(enumerate(TEXTS), 2):
        there, back = scores(first, second)["tsed"]
        assert there == pytest.approx(slow_tsed(first, second)), (a, b)
        assert back == pytest.approx(slow_tsed(second, first)), (a, b)


def slow_tsed(first: str, second: str) -> float:
    from apted import APTED, Config
    from apted.helpers import Tree

    class Costs(Config):  # type: ignore[misc]
        delete = staticmethod(lambda _: 1.0)
        insert = staticmethod(lambda _: 0.8)
        rename = staticmethod(lambda a, b: float(a.name != b.name))
        children = staticmethod(lambda node: node.children)

    def tree(node: Any) -> Any:
        return Tree(node.type, *[tree(child) for child in node.named_children])

    def size(node: Any) -> int:
        return 1 + sum(map(size, node.children))

    one, two = (tree(load_grammar("python").parse(text.encode()).root_node) for text in (first, second))
    distance = APTED(one, two, Costs()).compute_edit_distance()
    return max(0.0, 1 - distance / max(size(one), size(two)))


def test_options_are_checked_and_named() -> None:
    assert Options().label == "default"
    assert Options(base="e", max_depth=3, named_only=True).label == "base=e,max_depth=3,named_only=true"
    for wrong in ({"epsilon": 0}, {"base": "10"}, {"subtree_depth": 0}, {"max_depth": -1}):
        with pytest.raises(WrongUsage):
            Options(**wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["tree_sitter_nothing", "os", "nonsense", "tree_sitter_sql:no_such_function"])
def test_a_grammar_that_is_not_there_is_refused(name: str) -> None:
    with pytest.raises(WrongUsage, match="expected python, sql or an installed tree-sitter grammar"):
        load_grammar(name)


def test_any_grammar_by_its_module() -> None:
    found = scores("SELECT a FROM t", "SELECT b FROM t", language="tree_sitter_sql")
    assert found == scores("SELECT a FROM t", "SELECT b FROM t", language="sql")
    assert found["jsd_structural"] == (1.0, 1.0)
    assert found["jsd"][0] < 1


def plain_symbols(text: str, *, with_values: bool) -> Counter[object]:
    """Return the symbols of a text by walking nodes, not the cursor; gaps of values by places."""
    found: Counter[object] = Counter()
    source = text.encode()
    pending = [load_grammar("python").parse(source).root_node]
    while pending:
        node = pending.pop()
        pending += node.children
        if node.children:
            found["node", node.type, node.is_named, tuple((c.type, c.is_named) for c in node.children)] += 1
            ends = [node.start_byte, *(c.end_byte for c in node.children)]
            starts = [*(c.start_byte for c in node.children), node.end_byte]
            if with_values:
                found.update(("gap", s) for a, b in zip(ends, starts, strict=True) if (s := source[a:b]).strip())
        else:
            found[
                "leaf", node.type, node.is_named, source[node.start_byte : node.end_byte] if with_values else b""
            ] += 1
    return found


def plain_scores(first: Counter[object], second: Counter[object]) -> dict[str, float]:
    p, q = ({u: n / c.total() for u, n in c.items()} for c in (first, second))
    both = p.keys() | q.keys()

    def entropy(d: dict[Any, float]) -> float:
        return -sum(x * math.log2(x) for x in d.values() if x)

    cross = -sum(x * math.log2(q.get(u, 0) or EPSILON) for u, x in p.items())
    middle = {u: (p.get(u, 0) + q.get(u, 0)) / 2 for u in both}
    return {
        "jsd": 1 - (entropy(middle) - (entropy(p) + entropy(q)) / 2),
        "sce": entropy(q) / cross if cross else 1.0,
        "gibbs": entropy(p) / cross if cross else 1.0,
    }


def test_agreement_with_a_plain_computation_on_every_pair() -> None:
    found = Programs(TEXTS).scores(range(len(TEXTS)))
    for suffix, with_values in (("_structural", False), ("", True)):
        counted = [plain_symbols(text, with_values=with_values) for text in TEXTS]
        for i, j in itertools.permutations(range(len(TEXTS)), 2):
            for name, want in plain_scores(counted[i], counted[j]).items():
                assert found[name + suffix][i, j] == pytest.approx(want, abs=1e-6), (name + suffix, TEXTS[i])


@pytest.mark.parametrize("module", ["tree_sitter", "tree_sitter_python", "sacrebleu"])
def test_a_missing_package_is_named_with_the_command_that_installs_it(monkeypatch, module):
    load_grammar.cache_clear()
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingPackage, match=f"needs {module}.*pip install 'difftrust.structure.'"):
        compare_two("x = 1", "x = 2")
    load_grammar.cache_clear()
