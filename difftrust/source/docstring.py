"""What a docstring says beside its examples and conditions: types of parameters, exceptions."""

import ast
import builtins
import re
from collections.abc import Iterator, Sequence

from difftrust.conditions.sections import Sections
from difftrust.source.scopes import expression_in
from difftrust.source.usage import by_word

_EXCEPTION = re.compile(r"\b((?:\w+\.)*[A-Z]\w*)\b")
IS_EXCEPTION = re.compile(r"(?:Error|Exception|Warning)$").search
"""Whether a name is one that exceptions have."""
_NEGATED = re.compile(r"\b(?:never|not|no|without|instead of|rather than|n't|don't|doesn't)\b[^.;]*$", re.IGNORECASE)
_RAISING = re.compile(r"\b(?:rais(?:e|es|ed|ing)|throw(?:s|n|ing)?|exception)\b", re.IGNORECASE)
_WHEN = re.compile(r"^[`*'\"]*\s*(?:exception\s+|error\s+)?(?:if|when|unless|for|on|(?:is|will be) raised)\b")
_PLAIN = by_word(
    {
        "str": "string strings str text character characters",
        "int": "integer integers int ints",
        "float": "number numbers float floats double numeric scalar real",
        "bool": "boolean booleans bool bools flag",
        "bytes": "bytes",
        "dict": "dict dictionary mapping dictionaries dicts",
        "list": "list lists array sequence iterable collection",
        "list[float]": "array_like array-like",
        "tuple": "tuple tuples",
        "set": "set sets",
        "date": "date dates",
        "datetime": "datetime datetimes",
        "timedelta": "timedelta",
        "Decimal": "decimal",
        "Path": "path",
        "None": "none",
        "np.ndarray": "ndarray",
        "DataFrame": "dataframe frame",
        "Series": "series",
    }
)
"""Types as docstrings name them, one or many."""
_TYPE_NAMES = frozenset(
    {"str", "int", "float", "bool", "bytes", "list", "dict", "set", "tuple", "complex", "frozenset"}
)


def types_in(docstring: str, names: Sequence[str]) -> dict[str, ast.expr]:
    """Return the types that a docstring gives to parameters, in the style of Google, numpy or Sphinx."""
    found: dict[str, ast.expr] = {}
    for name, text in _typed(docstring):
        if name in names and name not in found and (spelled := type_of(text)) is not None:
            found[name] = spelled
    return found


def _typed(docstring: str) -> Iterator[tuple[str, str]]:
    """Iterate over (parameter, type as it is written or as its text begins)."""
    for name, said, text, _ in Sections(docstring).parameters:
        begins = re.match(r"((?:an?\s+)?[\w\[\], |]+?)(?:\s+(?:to|that|which|with)\b.*|[.;-].*)?$", text, re.DOTALL)
        yield name, said or (begins[1] if begins else "")


def type_of(text: str) -> ast.expr | None:
    """Return the annotation that a type in words stands for: ``list of int, optional`` is ``list[int]``."""
    text = re.sub(r"[`*]", "", text).strip().rstrip(".")
    text = re.sub(r"(?:,?\s*(?:optional|default\b.*|keyword.only|positional.only))+$", "", text, flags=re.I).strip()
    if re.fullmatch(r"\{[^{}:]+\}", text):
        text = f"Literal[{text[1:-1]}]"
    parsed = expression_in(text)
    if parsed is not None and _is_annotation(parsed):
        return parsed
    if re.search(r"\s(?:or|\|)\s", text):
        parts = [type_of(part) for part in re.split(r"\s(?:or|\|)\s|,\s*", text) if part.strip()]
        return expression_in(" | ".join(ast.unparse(part) for part in parts if part)) if all(parts) else None
    spelled = _in_words(text)
    return expression_in(spelled) if spelled else None


def _in_words(text: str) -> str:
    text = re.sub(
        r"^(?:an?|the|any|non-?empty|sorted|positive|non-?negative|unsorted)\s+", "", text.strip(), flags=re.I
    )
    outer, of, inner = text.partition(" of ")
    plain = _PLAIN.get(outer.strip().lower(), "")
    if of and plain:
        base = plain.partition("[")[0]
        if base == "dict":
            return "dict"
        items = [_in_words(part) for part in inner.strip("() ").split(",")]
        if base in ("list", "set", "tuple") and all(items):
            return f"{base}[{', '.join(items)}{', ...' if base == 'tuple' and len(items) == 1 else ''}]"
    if of:
        return ""
    return plain


def _is_annotation(node: ast.expr) -> bool:
    """Tell whether an expression reads as a type: ``list[int]``, ``pd.DataFrame``, ``int | None``; no plain word."""
    match node:
        case ast.Constant(value=None):
            return True
        case ast.Name(id=name):
            return name in _TYPE_NAMES or (name[:1].isupper() and not name.isupper() and name not in ("A", "The"))
        case ast.Attribute(value=ast.Name()):
            return True
        case ast.Subscript(value=value):
            return _is_annotation(value)
        case ast.BinOp(left=left, op=ast.BitOr(), right=right):
            return _is_annotation(left) and _is_annotation(right)
    return False


def exceptions_in(docstring: str, own: set[str]) -> frozenset[str]:
    """Return the names of the exceptions that a docstring says are raised; ``own``: classes of the file."""
    found = set()
    for said, _ in Sections(docstring).raises:
        found |= set(_EXCEPTION.findall(said))
    prose = re.split(r"(?<=[.;!?])\s+|\n\s*\n", docstring)
    for sentence in prose:
        for match in _EXCEPTION.finditer(sentence):
            before, after = sentence[: match.start()], sentence[match.end() :]
            raising = _RAISING.search(before) or _RAISING.search(after[:30])
            if (raising or _WHEN.match(after.lstrip())) and not _NEGATED.search(_last_words(before)):
                found.add(match[1])
    return frozenset(name for name in (each.rpartition(".")[2] for each in found) if _is_exception(name, own))


def _last_words(text: str) -> str:
    """Return what stands shortly before a place, from the last comma on."""
    return re.split(r"[,;:(]", text)[-1][-60:]


def _is_exception(name: str, own: set[str]) -> bool:
    made = getattr(builtins, name, None)
    if isinstance(made, type):
        return issubclass(made, BaseException)
    return bool(IS_EXCEPTION(name)) or name in own
