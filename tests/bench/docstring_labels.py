"""What a reader found that 300 docstrings allow, and how what a program reads there compares with it.

The head of docstring_labels.toml defines the notation of the labels. `compare` takes what was read in the same
notation, `read_sample` and `summary` do so for the whole sample.
"""

import ast
import tomllib
import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.bench.docstring_sample import Docstring, read_docstring

LABELS = Path(__file__).with_suffix(".toml")
MEASURES = ("len", "ndim", "shape")
PARTS = ("each", "keys", "values")
PREDICATES = ("sorted", "falling", "strictly", "distinct", "alike", "finite", "integral", "square", "nonempty")
PREDICATES_WITH_TEXT = ("chars", "matches", "starts", "ends", "contains", "has")
SIGNS: dict[type[ast.cmpop], str] = {
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.In: "in",
    ast.NotIn: "not in",
}
TURNED = {">": "<", ">=": "<=", "<": ">", "<=": ">=", "==": "==", "!=": "!="}
OPPOSITE = {">": "<=", ">=": "<", "<": ">=", "<=": ">", "==": "!=", "!=": "==", "in": "not in", "not in": "in"}


class BadNotation(ValueError):
    """A condition that is none of the notation."""


@dataclass(frozen=True, kw_only=True)
class Label:
    """What a docstring allows: conditions in canonical form, and parameters with a condition beyond the notation.

    ``whole``: parameters that take whole numbers, so that `n > 0` and `n >= 1` say the same.
    """

    name: str
    group: str
    digest: str
    conditions: frozenset[str]
    whole: frozenset[str] = frozenset()
    hard: frozenset[str] = frozenset()


@dataclass(frozen=True, kw_only=True)
class Reading:
    """What a program read in a docstring: conditions of the notation, and parameters with an unread sentence."""

    conditions: Iterable[str] = ()
    unread: frozenset[str] = frozenset()


@dataclass(frozen=True, kw_only=True)
class Counts:
    """How readings compare with labels; each entry is the name of a docstring and a condition or a hard parameter.

    ``unjudged``: a condition found about a hard parameter and in no label, for a person to judge. ``missed`` holds
    what was not read, hard parameters included; ``named`` is the part of it that an unread sentence speaks of.
    """

    right: tuple[tuple[str, str], ...] = ()
    wrong: tuple[tuple[str, str], ...] = ()
    unjudged: tuple[tuple[str, str], ...] = ()
    missed: tuple[tuple[str, str], ...] = ()
    named: tuple[tuple[str, str], ...] = ()
    hard: int = 0

    @property
    def precision(self) -> float | None:
        """The share of conditions found that a label holds; None where none was found."""
        return _share(len(self.right), len(self.right) + len(self.wrong))

    @property
    def recall(self) -> float | None:
        """The share of the labels' conditions that were found; None where there is none. Hard ones do not count."""
        return _share(len(self.right), len(self.right) + len(self.missed) - self.hard)

    @property
    def unread_named(self) -> float | None:
        """The share of what was missed that an unread sentence speaks of; None where nothing was missed."""
        return _share(len(self.named), len(self.missed))


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None


def canonical(condition: str, whole: Iterable[str] = ()) -> frozenset[str]:
    """Return the simple conditions that a condition of the notation states, each in the one form it is compared in.

    Raises BadNotation if it is none. `whole` as in `Label`.
    """
    try:
        tree = ast.parse(condition, mode="eval").body
    except SyntaxError as error:
        raise BadNotation(f"expected a condition of the notation, got {condition!r}") from error
    return frozenset(_simple(tree, frozenset(whole), negated=False))


def parameters(condition: str) -> frozenset[str]:
    """Return the names of the parameters that a condition speaks of."""
    tree = ast.parse(condition, mode="eval")
    functions = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    return frozenset(node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and id(node) not in functions)


def _simple(tree: ast.expr, whole: frozenset[str], *, negated: bool) -> list[str]:
    match tree:
        case ast.UnaryOp(op=ast.Not(), operand=inner):
            return _simple(inner, whole, negated=not negated)
        case ast.BoolOp(op=op, values=values):
            parts = [_simple(value, whole, negated=negated) for value in values]
            if isinstance(op, ast.Or) is negated:
                return [one for part in parts for one in part]
            return [" or ".join(sorted(" and ".join(sorted(part)) for part in parts))]
        case ast.Compare(left=left, ops=signs, comparators=rights):
            pairs = zip([left, *rights[:-1]], signs, rights, strict=True)
            each = [_comparison(one, SIGNS.get(type(sign), "is"), other, whole, negated) for one, sign, other in pairs]
            if negated and len(each) > 1:
                return [" or ".join(sorted(one for part in each for one in part))]
            return [one for part in each for one in part]
        case ast.Call(func=ast.Name(id=name), args=[target], keywords=[]) if name in PREDICATES:
            return _predicate(name, target, [], negated=negated)
        case ast.Call(func=ast.Name(id=name), args=[target, text], keywords=[]) if name in PREDICATES_WITH_TEXT:
            return _predicate(name, target, [text], negated=negated)
    raise BadNotation(f"expected a comparison, a predicate, not, and, or; got {ast.unparse(tree)!r}")


def _predicate(name: str, target: ast.expr, texts: list[ast.expr], *, negated: bool) -> list[str]:
    if name == "nonempty":
        return [f"len({_target(target)}) {'<= 0' if negated else '>= 1'}"]
    given = [_value(text) for text in texts]
    if not all(isinstance(text, str) for text in given):
        raise BadNotation(f"expected a text as second argument of {name}, got {ast.unparse(texts[0])!r}")
    call = f"{name}({', '.join([_target(target), *map(repr, given)])})"
    return [f"not {call}" if negated else call]


def _comparison(left: ast.expr, sign: str, right: ast.expr, whole: frozenset[str], negated: bool) -> list[str]:
    if sign in ("in", "not in"):
        if not isinstance(right, ast.List | ast.Tuple | ast.Set) or not right.elts:
            raise BadNotation(f"expected a list of values after in, got {ast.unparse(right)!r}")
        listed = [_value(value) for value in right.elts]
        return _membership(left, OPPOSITE[sign] if negated else sign, listed, whole)
    if sign not in TURNED:
        raise BadNotation(f"expected one of {', '.join(SIGNS.values())}, got {sign!r}")
    sign = OPPOSITE[sign] if negated else sign
    if _is_value(left):
        left, sign, right = right, TURNED[sign], left
    if not _is_value(right):
        one, other = _target(left), _target(right)
        if one > other:
            one, sign, other = other, TURNED[sign], one
        return [f"{one} {sign} {other}"]
    value = _value(right)
    if sign in ("==", "!="):
        if value == "" and sign == "!=":
            return [f"len({_target(left)}) >= 1"]
        return _membership(left, "in" if sign == "==" else "not in", [value], whole)
    if isinstance(value, str | bool) or value is None:
        raise BadNotation(f"expected a number beside {sign}, got {value!r}")
    if _is_whole(left, whole) and isinstance(value, int):
        value += {">": 1, "<": -1}.get(sign, 0)
        sign = {">": ">=", "<": "<="}.get(sign, sign)
    return [f"{_target(left)} {sign} {value!r}"]


def _membership(left: ast.expr, sign: str, listed: list[object], whole: frozenset[str]) -> list[str]:
    """A list without None, and without booleans beside texts; a run of whole numbers becomes its bounds."""
    target = _target(left)
    values = [value for value in listed if value is not None]
    if any(isinstance(value, str) for value in values):
        values = [value for value in values if not isinstance(value, bool)]
    if not values:
        raise BadNotation(f"expected a value other than None for {target}")
    numbers = sorted(value for value in values if isinstance(value, int) and not isinstance(value, bool))
    if _is_whole(left, whole) and len(numbers) == len(values):
        if sign == "not in" and numbers == [0] and target.startswith("len("):
            return [f"{target} >= 1"]
        if sign == "in" and len(numbers) > 1 and numbers == list(range(numbers[0], numbers[-1] + 1)):
            return [f"{target} >= {numbers[0]}", f"{target} <= {numbers[-1]}"]
    return [f"{target} {sign} [{', '.join(sorted({repr(value) for value in values}))}]"]


def _is_whole(target: ast.expr, whole: frozenset[str]) -> bool:
    match target:
        case ast.Call(func=ast.Name(id="each"), args=[inner]):
            return _is_whole(inner, whole)
        case ast.Call(func=ast.Name(id=name)):
            return name in ("len", "ndim")
        case ast.Name(id=name):
            return name in whole
    return False


def _is_value(tree: ast.expr) -> bool:
    return isinstance(tree, ast.Constant) or (isinstance(tree, ast.UnaryOp) and isinstance(tree.operand, ast.Constant))


def _value(tree: ast.expr) -> object:
    """Return the text, number, boolean or None that stands there; a whole number as int, however it is written."""
    try:
        value = ast.literal_eval(tree)
    except ValueError as error:
        raise BadNotation(f"expected a number or a text, got {ast.unparse(tree)!r}") from error
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if not isinstance(value, str | int | float | None):
        raise BadNotation(f"expected a number or a text, got {value!r}")
    return value


def _target(tree: ast.expr, *, outer: bool = True) -> str:
    """Write a target; an `each` around all of it goes, as a relation to a list can only mean its elements."""
    match tree:
        case ast.Name(id=name):
            return name
        case ast.Call(func=ast.Name(id="each"), args=[inner], keywords=[]) if outer:
            return _target(inner)
        case ast.Call(func=ast.Name(id=name), args=[inner], keywords=[]) if name in (*MEASURES, *PARTS):
            return f"{name}({_target(inner, outer=False)})"
        case ast.Attribute(value=inner, attr=name):
            return f"{_target(inner, outer=False)}.{name}"
        case ast.Subscript(value=inner, slice=key) if _is_value(key):
            return f"{_target(inner, outer=False)}[{_value(key)!r}]"
        case ast.BinOp(left=left, op=op, right=right) if isinstance(op, ast.Add | ast.Sub | ast.Mult | ast.Div):
            return ast.unparse(ast.parse(f"({_operand(left)}){_sign(op)}({_operand(right)})", mode="eval"))
        case ast.BinOp(left=left, op=ast.Mod(), right=right):
            return f"{_target(left)} % {_operand(right)}"
    raise BadNotation(f"expected a parameter or a part of one, got {ast.unparse(tree)!r}")


def _operand(tree: ast.expr) -> str:
    return repr(_value(tree)) if _is_value(tree) else _target(tree, outer=False)


def _sign(op: ast.operator) -> str:
    return {ast.Add: "+", ast.Sub: "-", ast.Mult: "*"}.get(type(op), "/")


def load_labels(path: Path = LABELS) -> dict[str, Label]:
    """Return the labels by name of function. Raises BadNotation for a condition or a parameter that is none."""
    labels = {}
    for group, entries in tomllib.loads(path.read_text())["docstrings"].items():
        for name, entry in entries.items():
            whole = frozenset(entry.get("whole", ()))
            conditions = frozenset[str]().union(*(canonical(one, whole) for one in entry["conditions"]))
            hard = frozenset(entry.get("hard", ()))
            for parameter in hard | whole:
                if not parameter.isidentifier():
                    raise BadNotation(f"{name}: expected the name of a parameter, got {parameter!r}")
            labels[name] = Label(
                name=name,
                group=group,
                digest=entry["digest"],
                conditions=conditions,
                whole=whole,
                hard=hard,
            )
    return labels


def compare(labels: Iterable[Label], found: Mapping[str, Reading]) -> Counts:
    """Compare what was read, by name of function, with its labels; a label without a reading is left out."""
    held: dict[str, list[tuple[str, str]]] = {}
    n_hard = 0
    for label in labels:
        reading = found.get(label.name)
        if reading is None:
            continue
        read = frozenset[str]().union(*(canonical(one, label.whole) for one in reading.conditions))
        extra = {one: bool(parameters(one) & label.hard) for one in read - label.conditions}
        covered = frozenset[str]().union(*(parameters(one) for one, on_hard in extra.items() if on_hard))
        missed = {one: parameters(one) for one in label.conditions - read}
        hard = {one: frozenset({one}) for one in label.hard - covered}
        n_hard += len(hard)
        for kind, entries in {
            "right": read & label.conditions,
            "wrong": [one for one, on_hard in extra.items() if not on_hard],
            "unjudged": [one for one, on_hard in extra.items() if on_hard],
            "missed": [*missed, *hard],
            "named": [one for part in (missed, hard) for one, names in part.items() if names & reading.unread],
        }.items():
            held.setdefault(kind, []).extend((label.name, one) for one in sorted(entries))
    return Counts(**{kind: tuple(entries) for kind, entries in held.items()}, hard=n_hard)


def read_sample(labels: Mapping[str, Label], read: Callable[[Docstring], Reading]) -> dict[str, Reading]:
    """Read the docstrings of the labels as they are installed; one that is absent or has another text is left out."""
    found = {}
    for name, label in labels.items():
        docstring = installed(label)
        if docstring is not None:
            found[name] = read(docstring)
    return found


def installed(label: Label) -> Docstring | None:
    """Return the docstring that a label is about, None if it is not installed or has another text."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            docstring = read_docstring(label.name, label.group)
        except ImportError:
            return None
    return docstring if docstring is not None and docstring.digest == label.digest else None


def summary(counts: Counts) -> str:
    """Say in lines how readings compare with labels."""

    def percent(share: float | None) -> str:
        return "undefined" if share is None else f"{100 * share:.1f} %"

    conditions = len(counts.right) + len(counts.missed) - counts.hard
    lines = [
        f"precision     {percent(counts.precision)}: {len(counts.right)} right, {len(counts.wrong)} wrong, "
        f"{len(counts.unjudged)} for a person to judge",
        f"recall        {percent(counts.recall)}: {len(counts.right)} of {conditions} conditions",
        f"unread named  {percent(counts.unread_named)}: {len(counts.named)} of {len(counts.missed)} missed or hard",
    ]
    lines += [f"wrong         {name}: {condition}" for name, condition in counts.wrong]
    lines += [f"to judge      {name}: {condition}" for name, condition in counts.unjudged]
    return "\n".join(lines)
