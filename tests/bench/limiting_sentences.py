"""Which sentences of docstrings are taken for conditions: `python -m tests.bench.limiting_sentences`.

Five readers who knew no rule said of each sentence of the docstrings in sentences/*.toml and tests/check_cases whether
it limits what may be passed (limiting_sentences.toml). One that does is *read*, *kept* as unread, or *silent*: then a
check may take an input that it rules out for an allowed one. One that limits nothing and is taken for a condition keeps
a check undecided. *Unseen*: the same with weights that were learned from all sources but the one at hand. `--write`
learns them from all, for difftrust/conditions/limiting.py.
"""

import ast
import inspect
import re
import tomllib
from argparse import ArgumentParser
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.optimize import minimize
from scipy.sparse import csr_matrix

from difftrust.conditions.limiting import BAR, OF_ALL, WEIGHTS, marks, weight
from difftrust.conditions.reading import read_docstring
from difftrust.conditions.sections import Sections
from difftrust.conditions.shapes import shape_of
from difftrust.conditions.tokens import tokens_of
from tests.bench.condition_sentences import FOLDER, load_sentences
from tests.check_cases.case import SETS, load_cases

LABELS, MARKED = Path(__file__).with_suffix(".toml"), Path(__file__).with_name("limiting")
_SEEN_OFTEN, _PENALTY, _LEAST_WEIGHT = 3, 0.5, 0.3


@dataclass(frozen=True, kw_only=True)
class Sentence:
    """A sentence, what a reader says of it, and what the rules make of it."""

    source: str
    limits: bool
    how: str
    """``read``, ``kept`` or ``silent``."""
    marks: frozenset[str]
    """What is weighed of it."""


def docstrings() -> Iterator[tuple[str, ast.arguments, str, frozenset[str]]]:
    """Iterate over source, parameters, docstring, and what in it limits something; each docstring once."""
    labels = {source: frozenset(texts) for source, texts in tomllib.loads(LABELS.read_text()).items()}
    for path in sorted(MARKED.glob("*.txt")):
        for text in re.split(r"^=== ", path.read_text(), flags=re.MULTILINE)[1:]:
            signature, _, docstring = text.partition("\n")
            docstring = inspect.cleandoc(docstring)
            marked = frozenset(" ".join(each.split()) for each in re.findall("⟦(.*?)⟧", docstring, re.DOTALL))
            yield path.stem, _arguments(signature), re.sub("[⟦⟧]", "", docstring), marked
    for path in sorted(FOLDER.glob("*.toml")):
        for entry in load_sentences(path):
            yield path.stem, _arguments(entry["signature"]), entry["docstring"], labels.get(path.stem, frozenset())
    for source, folder in SETS.items():
        for case in load_cases(folder):
            function = _functions(case.module).get(case.target.rpartition(".")[2])
            docstring = ast.get_docstring(function) if function else None
            if function is not None and docstring:
                yield source, function.args, docstring, labels.get(source, frozenset())


def _arguments(signature: str) -> ast.arguments:
    return _functions(f"def f({signature}): ...")["f"].args


def _functions(text: str) -> dict[str, ast.FunctionDef | ast.AsyncFunctionDef]:
    return {n.name: n for n in ast.walk(ast.parse(text)) if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)}


def sentences() -> list[Sentence]:
    """Return every sentence in which a condition may stand."""
    found: dict[tuple[str, str, str], Sentence] = {}
    for source, args, docstring, limiting in docstrings():
        given = [a for a in (*args.posonlyargs, *args.args, *args.kwonlyargs) if a.arg not in ("self", "cls")]
        shapes = {a.arg: shape_of(a.annotation, None) for a in given}
        reading = read_docstring(docstring, shapes)
        read, kept = {p.sentence for p in reading.predicates}, {u.text for u in reading.unread}
        for passage in Sections(docstring).passages():
            for at, text in enumerate(passage.sentences if passage.origin in ("prose", "field") else ()):
                found[source, docstring, text] = Sentence(
                    source=source,
                    limits=any(text in each or each in text for each in limiting),
                    how="read" if text in read else "kept" if text in kept else "silent",
                    marks=marks(tokens_of(text, list(shapes)).words, passage.origin, is_first=at == 0),
                )
    return list(found.values())


def learned(known: Sequence[Sentence]) -> dict[str, float]:
    """Return the weights of marks by which sentences limit something, rounded: those of a logistic regression."""
    often = Counter(word for each in known for word in each.marks)
    columns = {word: i for i, word in enumerate(sorted(word for word, n in often.items() if n >= _SEEN_OFTEN))}
    places = [(row, columns[word]) for row, each in enumerate(known) for word in each.marks if word in columns]
    rows = csr_matrix((np.ones(len(places)), [*zip(*places, strict=True)]), shape=(len(known), len(columns)))
    is_limit = np.array([each.limits for each in known])

    def loss(weights: np.ndarray) -> tuple[float, np.ndarray]:
        margin = rows @ weights[1:] + weights[0]
        wrong = 1 / (1 + np.exp(-margin)) - is_limit
        worth = np.logaddexp(0, margin) - is_limit * margin
        slope = np.concatenate([[wrong.sum()], rows.T @ wrong + 2 * _PENALTY * weights[1:]])
        return float(worth.sum() + _PENALTY * (weights[1:] ** 2).sum()), slope

    best = minimize(loss, np.zeros(len(columns) + 1), jac=True, method="L-BFGS-B").x
    weights = zip([OF_ALL, *columns], best.round(1).tolist(), strict=True)
    return {word: weight for word, weight in weights if word == OF_ALL or abs(weight) >= _LEAST_WEIGHT}


def lines() -> Iterator[str]:
    """Iterate over a line for each source that is large enough, and one for all."""
    every = sentences()
    yield "source               limiting  read | the rest: kept unseen |  others: taken unseen"
    total = Counter[str]()
    for source in dict.fromkeys(each.source for each in every):
        own = [each for each in every if each.source == source]
        limiting, others = [e for e in own if e.limits], [e for e in own if not e.limits]
        if len(limiting) < 20:
            continue
        weights = learned([each for each in every if each.source != source])
        left = [each for each in limiting if each.how != "read"]
        of_source = Counter(
            limiting=len(limiting),
            left=len(left),
            kept=sum(each.how == "kept" for each in left),
            found=sum(weight(each.marks, weights) > BAR for each in left),
            others=len(others),
            taken=sum(each.how != "silent" for each in others),
            wrong=sum(each.how == "read" or weight(each.marks, weights) > BAR for each in others),
        )
        total += of_source
        yield _line(source, of_source)
    yield _line("all", total)


def _line(source: str, of: Counter[str]) -> str:
    kept, found = (of[name] / max(of["left"], 1) for name in ("kept", "found"))
    taken, wrong = (of[name] / of["others"] for name in ("taken", "wrong"))
    read = of["limiting"] - of["left"]
    return (
        f"{source:20} {of['limiting']:8} {read:5} | {of['left']:8} {kept:5.0%} {found:6.0%} |"
        f" {of['others']:7} {taken:6.1%} {wrong:6.1%}"
    )


if __name__ == "__main__":
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help=f"write what is learned from all to {WEIGHTS.name}")
    if parser.parse_args().write:
        WEIGHTS.write_text("".join(f"{each} {mark}\n" for mark, each in learned(sentences()).items()))
    else:
        print(*lines(), sep="\n")
