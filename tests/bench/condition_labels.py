"""Precision and recall of conditions on labelled docstrings: `python -m tests.bench.condition_labels`.

Prints what `docstring_labels.summary` says of two parts, by seed, of the 300 docstrings: the rules may be made from
three quarters of them, of the last one only figures are looked at.
"""

import ast
import inspect
import random
import re
import sys
import warnings
from collections.abc import Iterator

from difftrust.conditions.reading import read_docstring
from difftrust.conditions.shapes import Shape, shape_of
from difftrust.source.docstring import types_in
from tests.bench.docstring_labels import (
    BadNotation,
    Counts,
    Reading,
    canonical,
    compare,
    load_labels,
    read_sample,
    summary,
)
from tests.bench.docstring_sample import Docstring

_FORMS = (
    (r"list\((?P<t>.+)\) == sorted\((?P=t)\)", r"sorted(\g<t>)"),
    (r"list\((?P<t>.+)\) == sorted\((?P=t), reverse=True\)", r"falling(\g<t>)"),
    (r"all\(\(a < b for a, b in zip\((?P<t>.+), (?P=t)\[1:\]\)\)\)", r"strictly(\g<t>)"),
    (r"all\(\(a not in (?P<t>.+)\[:i\] for i, a in enumerate\((?P=t)\)\)\)", r"distinct(\g<t>)"),
    (r"all\(\(len\(row\) == len\((?P<t>.+)\) for row in (?P=t)\)\)", r"square(\g<t>)"),
    (r"(?P<a>\w+)\.shape == (?P<b>\w+)\.shape", r"shape(\g<a>) == shape(\g<b>)"),
    (r"math\.isfinite\((?P<t>.+)\)", r"finite(\g<t>)"),
    (r"(?P<t>.+)\.isascii\(\)", r"chars(\g<t>, 'ascii')"),
    (r"(?P<not>not )?(?P<t>.+)\.(?P<end>start|end)swith\((?P<q>.+)\)", r"\g<not>\g<end>s(\g<t>, \g<q>)"),
    (r"re\.fullmatch\((?P<q>.+), (?P<t>\w+)\) is not None", r"matches(\g<t>, \g<q>)"),
    (r"(?P<t>.+) in \((?P<m>.+?),?\)", r"\g<t> in [\g<m>]"),
    (r"(?P<t>.+) not in \((?P<m>.+?),?\)", r"\g<t> not in [\g<m>]"),
)


def notation(node: ast.expr) -> Iterator[str]:
    """Yield a condition in the notation of the labels, a part at a time."""
    match node:
        case ast.Compare(ops=[ast.Is()]):
            return  # None stands for "not given"
        case ast.BoolOp(
            op=ast.Or(),
            values=[
                ast.Compare(ops=[ast.Is()])
                | ast.Call(func=ast.Name(id="isinstance"))
                | ast.UnaryOp(op=ast.Not(), operand=ast.Call(func=ast.Name(id="isinstance"))),
                *rest,
            ],
        ):
            yield from notation(rest[0] if len(rest) == 1 else ast.BoolOp(op=ast.Or(), values=rest))
        case ast.BoolOp(op=ast.And(), values=parts):
            for part in parts:
                yield from notation(part)
        case ast.BoolOp(op=ast.Or(), values=parts):
            yield " or ".join(f"({' and '.join(notation(part))})" for part in parts)
        case _:
            text = ast.unparse(node)
            for form, to in _FORMS:
                if re.fullmatch(form, text):
                    yield re.sub(form, to, text)
                    return
            match node:
                case ast.Call(
                    func=ast.Name(id="all"),
                    args=[
                        ast.GeneratorExp(elt=inner, generators=[ast.comprehension(target=ast.Name(id=name), iter=over)])
                    ],
                ):
                    over_text = re.sub(r"(.+)\.values\(\)", r"values(\1)", ast.unparse(over))
                    for part in notation(inner):
                        yield re.sub(rf"\b{name}\b", f"each({over_text})", part)
                case _:
                    yield text


def shapes_of(docstring: Docstring) -> dict[str, Shape]:
    """Return what signature and docstring say of the parameters."""
    said = types_in(docstring.text, list(docstring.signature.parameters))
    found = {}
    for name, parameter in docstring.signature.parameters.items():
        annotation = None
        if parameter.annotation is not inspect.Parameter.empty:
            written = parameter.annotation
            text = written if isinstance(written, str) else inspect.formatannotation(written)
            try:
                annotation = ast.parse(text, mode="eval").body
            except SyntaxError:
                annotation = None
        default = ast.Constant(value=None) if parameter.default is None else None
        found[name] = shape_of(annotation or said.get(name), default)
    return {name: shape for name, shape in found.items() if name not in ("self", "cls")}


def read(docstring: Docstring) -> Reading:
    """Return what the grammar reads, in the notation of the labels."""
    reading = read_docstring(docstring.text, shapes_of(docstring))
    conditions = []
    for each in reading.predicates:
        for text in notation(each.tree):
            try:
                canonical(text)
            except BadNotation:
                print(f"no notation    {docstring.name}: {text}")
                continue
            conditions.append(text)
    unread = frozenset[str]().union(*(sentence.names for sentence in reading.unread))
    return Reading(conditions=conditions, unread=unread)


def figures(counts: Counts) -> str:
    """Return the figures of a summary without its cases."""
    return "\n".join(summary(counts).splitlines()[:3])


def parts() -> tuple[Counts, Counts] | None:
    """Compare the three quarters looked at, and the quarter held out; None where not all are installed as labelled."""
    labels = load_labels()
    found = read_sample(labels, read)
    if len(found) < len(labels):
        return None
    names = sorted(labels)
    for seed in (0, 1):  # the second one moved half of what was held out to what may be looked at
        names = names[: 150 * seed] + random.Random(seed).sample(names[150 * seed :], len(names) - 150 * seed)
    looked_at, held_out = ([labels[name] for name in part] for part in (names[:225], names[225:]))
    return compare(looked_at, found), compare(held_out, found)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    compared = parts()
    if compared is None:
        sys.exit("not all of the docstrings are installed with the text that was labelled")
    print(f"looked at: 225 docstrings\n{summary(compared[0])}\n\nheld out: 75 docstrings\n{figures(compared[1])}")
