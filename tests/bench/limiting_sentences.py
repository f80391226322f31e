"""Which sentences of docstrings are taken for conditions: `python -m tests.bench.limiting_sentences`.

Four readers who knew no rule said of each sentence of the docstrings in sentences/*.toml and tests/check_cases whether
it limits what may be passed (limiting_sentences.toml). One that does is *read*, *kept* as unread, or *silent*: then a
check may take an input that it rules out for an allowed one. One that limits nothing and is taken for a condition keeps
a check undecided. Beside it, what words and pairs of words alone would tell: a logistic regression on the sentences of
all sources but the one at hand, at the share of false ones that the rules have there.
"""

import ast
import re
import tomllib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
from scipy.optimize import minimize
from scipy.sparse import csr_matrix

from difftrust.conditions.reading import read_docstring
from difftrust.conditions.sections import Sections
from difftrust.conditions.shapes import shape_of
from difftrust.conditions.tokens import tokens_of
from tests.bench.condition_sentences import FOLDER, load_sentences
from tests.check_cases.case import SETS, load_cases

LABELS = Path(__file__).with_suffix(".toml")
_SEEN_OFTEN, _PENALTY = 3, 0.5


@dataclass(frozen=True, kw_only=True)
class Sentence:
    """A sentence, what a reader says of it, and what the rules make of it."""

    source: str
    limits: bool
    how: str
    """``read``, ``kept`` or ``silent``."""
    words: frozenset[str]
    """Its words and pairs of words, values and parameters as such."""


def docstrings() -> Iterator[tuple[str, ast.arguments, str]]:
    """Iterate over source, parameters and docstring, each docstring once."""
    functions = [
        (p.stem, f"def f({e['signature']}): ...", e["docstring"])
        for p in sorted(FOLDER.glob("*.toml"))
        for e in load_sentences(p)
    ]
    for source, text, docstring in functions:
        yield source, _functions(text)["f"].args, docstring
    for source, folder in SETS.items():
        for case in load_cases(folder):
            function = _functions(case.module).get(case.target.rpartition(".")[2])
            docstring = ast.get_docstring(function) if function else None
            if function is not None and docstring:
                yield source, function.args, docstring


def _functions(text: str) -> dict[str, ast.FunctionDef | ast.AsyncFunctionDef]:
    return {n.name: n for n in ast.walk(ast.parse(text)) if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)}


def sentences() -> list[Sentence]:
    """Return every sentence in which a condition may stand."""
    labels = {source: {*texts} for source, texts in tomllib.loads(LABELS.read_text()).items()}
    found: dict[tuple[str, str, str], Sentence] = {}
    for source, args, docstring in docstrings():
        given = [a for a in (*args.posonlyargs, *args.args, *args.kwonlyargs) if a.arg not in ("self", "cls")]
        shapes = {a.arg: shape_of(a.annotation, None) for a in given}
        reading = read_docstring(docstring, shapes)
        read, kept = {p.sentence for p in reading.predicates}, {u.text for u in reading.unread}
        for passage in Sections(docstring).passages():
            for at, text in enumerate(passage.sentences if passage.origin in ("prose", "field") else ()):
                plain = ["^", *(re.sub(r"(?<=^[A-Z])\d+$", "", word) for word in tokens_of(text, list(shapes)).words)]
                words = {*plain, *(f"{a} {b}" for a, b in pairwise(plain)), f"{passage.origin} {at == 0}"}
                how = "read" if text in read else "kept" if text in kept else "silent"
                found[source, docstring, text] = Sentence(
                    source=source, limits=text in labels.get(source, ()), how=how, words=frozenset(words)
                )
    return list(found.values())


def learned(known: Sequence[Sentence], asked: Sequence[Sentence]) -> list[float]:
    """Return how likely each sentence limits something, by the words of known ones."""
    often = Counter(word for each in known for word in each.words)
    columns = {word: i for i, word in enumerate(sorted(word for word, n in often.items() if n >= _SEEN_OFTEN))}
    rows = _table(known, columns)
    is_limit = np.array([each.limits for each in known])

    def loss(weights: np.ndarray) -> tuple[float, np.ndarray]:
        margin = rows @ weights[1:] + weights[0]
        wrong = 1 / (1 + np.exp(-margin)) - is_limit
        worth = np.logaddexp(0, margin) - is_limit * margin
        slope = np.concatenate([[wrong.sum()], rows.T @ wrong + 2 * _PENALTY * weights[1:]])
        return float(worth.sum() + _PENALTY * (weights[1:] ** 2).sum()), slope

    best = minimize(loss, np.zeros(len(columns) + 1), jac=True, method="L-BFGS-B").x
    return list(_table(asked, columns) @ best[1:] + best[0])


def _table(of: Sequence[Sentence], columns: dict[str, int]) -> csr_matrix:
    places = [(row, columns[word]) for row, each in enumerate(of) for word in each.words if word in columns]
    at, to = zip(*places, strict=True)
    return csr_matrix((np.ones(len(places)), (at, to)), shape=(len(of), len(columns)))


def lines() -> Iterator[str]:
    """Iterate over a line for each source that is large enough, and one for all."""
    every = sentences()
    yield "source               limiting  read  kept silent | of those not read: kept, by words | others  taken for one"
    total, known = Counter[str](), 0
    for source in dict.fromkeys(each.source for each in every):
        own = [each for each in every if each.source == source]
        limiting, others = [e for e in own if e.limits], [e for e in own if not e.limits]
        if len(limiting) < 20:
            continue
        how = Counter(each.how for each in limiting)
        taken = sum(each.how != "silent" for each in others)
        scores = dict(zip(own, learned([e for e in every if e.source != source], own), strict=True))
        left = [each for each in limiting if each.how != "read"]
        bar = sorted((scores[each] for each in others if each.how != "read"), reverse=True)[taken]
        by_words = sum(scores[each] > bar for each in left)
        of_source = Counter({**how, "left": len(left), "words": by_words, "others": len(others), "taken": taken})
        total, known = total + of_source, known + len(limiting)
        yield _line(source, len(limiting), of_source)
    yield _line("all", known, total)


def _line(source: str, n: int, of: Counter[str]) -> str:
    kept, words = (of[name] / max(of["left"], 1) for name in ("kept", "words"))
    return (
        f"{source:20} {n:8} {of['read']:5} {of['kept']:5} {of['silent']:6} | {of['left']:9}: {kept:15.0%} {words:8.0%}"
        f" | {of['others']:6} {of['taken'] / of['others']:14.1%}"
    )


if __name__ == "__main__":
    print(*lines(), sep="\n")
