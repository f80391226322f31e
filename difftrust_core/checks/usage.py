"""Types of parameters without annotation: how code uses them, and the values that they are given."""

import ast
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, Final

from difftrust_core.base.literals import Code, Instance
from difftrust_core.checks.target import Function
from difftrust_core.languages.python.syntax import parsed

_BY_METHOD: Final = {
    **dict.fromkeys(
        ["split", "strip", "lower", "upper", "startswith", "endswith", "join", "splitlines", "lstrip", "rstrip", "isdigit", "isalpha", "isalnum", "isupper", "islower", "isspace", "isnumeric", "isdecimal", "isidentifier", "title", "capitalize", "casefold", "swapcase", "encode", "format", "zfill", "ljust", "rjust", "center", "partition", "rpartition", "rsplit", "removeprefix", "removesuffix", "translate", "expandtabs", "find", "rfind", "istitle"],
        "str",
    ),
    **dict.fromkeys(["items", "keys", "values", "get", "setdefault"], "dict"),
    **dict.fromkeys(["append", "extend", "sort", "insert", "reverse"], "list"),
    **dict.fromkeys(["union", "intersection", "difference", "issubset", "issuperset", "symmetric_difference", "discard"], "set"),
    **dict.fromkeys(["isoformat", "weekday", "isoweekday", "toordinal", "isocalendar"], "date"),
    **dict.fromkeys(["astimezone", "timestamp", "utcoffset", "date"], "datetime"),
    **dict.fromkeys(["groupby", "iloc", "loc", "columns", "iterrows", "itertuples", "sort_values", "drop_duplicates", "reset_index", "merge", "assign", "fillna", "dropna", "pivot_table", "set_index"], "pd.DataFrame"),
    **dict.fromkeys(["group_by", "with_columns"], "pl.DataFrame"),
    **dict.fromkeys(["shape", "ndim", "reshape", "dtype", "astype", "ravel", "flatten"], "np.ndarray"),
    **dict.fromkeys(["total_seconds"], "timedelta"),
    **dict.fromkeys(["decode"], "bytes"),
    **dict.fromkeys(["quantize", "as_tuple", "is_nan"], "Decimal"),
    **dict.fromkeys(["is_integer"], "float"),
    **dict.fromkeys(["bit_length", "bit_count"], "int"),
    **dict.fromkeys(["numerator", "denominator"], "Fraction"),
    **dict.fromkeys(["read_text", "stem", "suffix", "name", "parent", "joinpath"], "Path"),
}  # fmt: skip
_BY_ATTRIBUTE: Final = dict.fromkeys(("year", "month", "day"), "date") | dict.fromkeys(
    ("hour", "minute", "second", "tzinfo"), "datetime"
)
_OF_CALL: Final = {
    **dict.fromkeys(["ord", "int.fromhex", "json.loads", "date.fromisoformat", "datetime.fromisoformat", "datetime.strptime", "Path", "datetime.datetime.strptime", "datetime.date.fromisoformat", "Decimal"], "str"),
    **dict.fromkeys(["range", "chr", "bin", "hex", "oct", "math.factorial", "math.gcd", "math.isqrt", "math.comb", "math.lcm"], "int"),
    **dict.fromkeys(["abs", "round", "divmod", "pow", "math.sqrt", "math.floor", "math.ceil", "math.log", "math.sin", "math.cos", "math.isclose", "math.isnan", "math.exp", "math.log10", "math.log2", "math.radians", "math.degrees"], "number"),
    **dict.fromkeys(["len", "sorted", "reversed", "enumerate", "set", "list", "tuple", "any", "all", "zip", "Counter", "max", "min", "iter", "map", "filter", "collections.Counter", "frozenset", "itertools.groupby", "itertools.accumulate"], "iterable"),
    **dict.fromkeys(["sum", "statistics.mean", "statistics.median", "statistics.stdev", "math.prod", "math.fsum", "statistics.pstdev", "statistics.variance", "statistics.mode"], "numbers"),
    **dict.fromkeys(["np.array", "np.asarray", "np.mean", "np.sum", "np.std", "np.median"], "numbers"),
}  # fmt: skip
_TEXT_SECOND: Final = {"re.match", "re.search", "re.findall", "re.fullmatch", "re.split", "re.finditer"}
_RANKS: Final = (
    "pd.DataFrame", "pl.DataFrame", "np.ndarray", "datetime", "date", "timedelta", "Decimal", "Fraction", "Path",
    "bytes", "callable", "dict", "str", "set", "numbers", "list", "iterable", "int", "float", "number", "bool",
)  # fmt: skip
"""Which of several uses counts, the most telling first."""
_BY_NAME: Final = {
    **dict.fromkeys(["text", "s", "string", "name", "word", "line", "sentence", "phrase", "title", "message", "msg", "url", "path", "filename", "email", "pattern", "key", "code", "token", "prefix", "suffix", "separator", "sep", "delimiter", "char", "html", "markdown", "csv_text", "raw", "body"],
                    "str"),
    **dict.fromkeys(["n", "k", "i", "j", "m", "count", "size", "length", "limit", "year", "month", "day", "age", "index", "width", "height", "depth", "start", "stop", "end", "number", "num", "step", "position", "steps", "total", "amount_cents", "seconds", "minutes", "hours"], "int"),
    **dict.fromkeys(["x", "y", "z", "amount", "price", "rate", "ratio", "value", "weight", "percent", "temperature", "celsius", "fahrenheit", "radius", "distance", "tolerance", "principal"], "float"),
    **dict.fromkeys(["numbers", "nums", "values", "items", "data", "array", "arr", "xs", "ys", "seq", "sequence", "elements", "lst", "scores"],
                    "list[int]"),
    **dict.fromkeys(["words", "lines", "names", "strings", "texts", "tokens", "keys"], "list[str]"),
    **dict.fromkeys(["matrix", "grid", "board"], "list[list[int]]"),
    **dict.fromkeys(["intervals", "ranges", "pairs", "edges", "points"], "list[tuple[int, int]]"),
    **dict.fromkeys(["mapping", "counts", "d", "dictionary", "config", "record"], "dict[str, int]"),
    **dict.fromkeys(["flag", "strict", "verbose", "reverse", "inclusive"], "bool"),
}  # fmt: skip
_ELEMENT = "[]"
_KEY = "{k}"
_VALUE = "{v}"
_SPREAD: Final = {"sorted", "reversed", "list", "set", "tuple", "iter", "frozenset"}
Path = tuple[str, ...]


def usage_types(function: Function, codes: Sequence[str]) -> dict[str, ast.expr]:
    """Return the types of parameters that ``function`` and the programs ``codes`` use in a telling way.

    Of a program, the function of the same name counts. Nothing is executed.
    """
    names = [a.arg for a in [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]]
    uses = _Uses(function, names)
    for code in codes:
        for other in _functions(code, function.name):
            own = [a.arg for a in [*other.args.posonlyargs, *other.args.args, *other.args.kwonlyargs]]
            uses.add(other, dict(zip(own, names, strict=False)) | {name: name for name in own if name in names})
    found = {name: uses.type_of((name,)) for name in names}
    return {name: _annotation(text) for name, text in found.items() if text}


def named_type(name: str) -> ast.expr | None:
    """Return the type that a parameter of this name usually has; None where that is not known."""
    text = _BY_NAME.get(name.lower().strip("_")) or _BY_NAME.get(name.lower().rpartition("_")[2])
    return _annotation(text) if text else None


def type_of_values(values: Sequence[Any]) -> ast.expr | None:
    """Return the type of some values, as ``literals`` reads them; None where they say nothing (no values, all None)."""
    texts = dict.fromkeys(text for text in map(_value_text, values) if text)
    merged = re.sub(r"\b_\b", "int", _merged(list(texts)))
    return _annotation(merged) if merged not in ("", "None") else None


def _annotation(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body


def _functions(code: str, name: str) -> Iterator[Function]:
    tree = parsed(code)
    for node in ast.walk(tree) if tree is not None else ():
        if isinstance(node, Function) and node.name == name:
            yield node


class _Uses:
    """Counts the uses of values, each a path: ``("p",)`` is a parameter, ``("p", "[]")`` an element of it."""

    def __init__(self, function: Function, names: Sequence[str]):
        self.votes: dict[Path, Counter[str]] = {}
        self.add(function, {name: name for name in names})

    def add(self, function: Function, names: dict[str, str]) -> None:
        """Count what the body of ``function`` does; ``names``: its parameters and what they are called here."""
        self._paths: dict[str, Path] = {own: (name,) for own, name in names.items()}
        for _ in range(2):  # what is bound late in a loop is used before
            for statement in function.body:
                for node in ast.walk(statement):
                    self._bind(node)
        for statement in function.body:
            for node in ast.walk(statement):
                self._count(node)

    def _vote(self, node: ast.expr, kind: str) -> None:
        path = self._path(node)
        if path is not None:
            self.votes.setdefault(path, Counter())[kind] += 1

    def _path(self, node: ast.expr | None) -> Path | None:
        match node:
            case ast.Name(id=name):
                return self._paths.get(name)
            case ast.Subscript(value=value, slice=ast.Slice()):
                return self._path(value)
            case ast.Subscript(value=value, slice=inside):
                path = self._path(value)
                is_key = isinstance(inside, ast.Constant) and isinstance(inside.value, str)
                return None if path is None else (*path, _VALUE if is_key else _ELEMENT)
            case ast.Call(func=ast.Name(id=name), args=[value, *_]) if name in _SPREAD:
                return self._path(value)
            case ast.Call(func=ast.Name(id="max" | "min" | "next"), args=[value]):
                path = self._path(value)
                return None if path is None else (*path, _ELEMENT)
        return None

    def _bind(self, node: ast.AST) -> None:
        match node:
            case (
                ast.For(target=target, iter=over)
                | ast.comprehension(target=target, iter=over)
                | ast.AsyncFor(target=target, iter=over)
            ):
                self._bind_items(target, over)
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if name not in self._paths:
                path = self._path(value)
                if path is not None:
                    self._paths[name] = path
            case ast.Assign(targets=[ast.Tuple(elts=elts)], value=value):
                self._bind_parts(elts, self._path(value))

    def _bind_items(self, target: ast.expr, over: ast.expr) -> None:
        match over, target:
            case ast.Call(func=ast.Name(id="enumerate"), args=[inner, *_]), ast.Tuple(elts=[_, second]):
                self._bind_items(second, inner)
            case ast.Call(func=ast.Name(id="zip"), args=inners), ast.Tuple(elts=elts):
                for part, inner in zip(elts, inners, strict=False):
                    self._bind_items(part, inner)
            case ast.Call(func=ast.Attribute(value=of, attr="items"), args=[]), ast.Tuple(elts=[key, value]):
                path = self._path(of)
                if path is not None:
                    self._bind_one(key, (*path, _KEY))
                    self._bind_one(value, (*path, _VALUE))
            case ast.Call(func=ast.Attribute(value=of, attr="values"), args=[]), _:
                path = self._path(of)
                self._bind_one(target, None if path is None else (*path, _VALUE))
            case _:
                path = self._path(over)
                self._bind_one(target, None if path is None else (*path, _ELEMENT))

    def _bind_one(self, target: ast.expr, path: Path | None) -> None:
        if path is None:
            return
        if isinstance(target, ast.Name):
            self._paths.setdefault(target.id, path)
        elif isinstance(target, ast.Tuple | ast.List):
            self._bind_parts(target.elts, path)

    def _bind_parts(self, elts: Sequence[ast.expr], path: Path | None) -> None:
        if path is None:
            return
        self.votes.setdefault(path, Counter())[f"tuple{len(elts)}"] += 1
        for number, part in enumerate(elts):
            self._bind_one(part, (*path, f"#{number}"))

    def _count(self, node: ast.AST) -> None:
        match node:
            case ast.Call():
                self._count_call(node)
            case ast.Attribute(value=value, attr=attr):
                kind = _BY_METHOD.get(attr) or _BY_ATTRIBUTE.get(attr)
                if kind:
                    self._vote(value, kind)
            case ast.Subscript(value=value, slice=ast.Constant(value=str())):
                self._vote(value, "dict")
            case ast.Subscript(value=value, slice=inside):
                self._vote(value, "iterable")
                if not isinstance(inside, ast.Slice):
                    self._vote(inside, "index")
            case ast.For(iter=over) | ast.comprehension(iter=over):
                self._vote(over, "iterable")
            case ast.BinOp() | ast.AugAssign():
                self._count_arithmetic(node)
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                self._vote(operand, "number")
            case ast.Compare():
                self._count_comparison(node)
            case ast.If(test=test) | ast.IfExp(test=test) | ast.UnaryOp(op=ast.Not(), operand=test):
                self._vote(test, "bool")

    def _count_call(self, node: ast.Call) -> None:
        called = ast.unparse(node.func) if isinstance(node.func, ast.Name | ast.Attribute) else ""
        self._vote(node.func, "callable")
        if called in ("isinstance",) and len(node.args) == 2:
            kinds = node.args[1].elts if isinstance(node.args[1], ast.Tuple) else [node.args[1]]
            for kind in kinds[:1]:
                self._vote(node.args[0], ast.unparse(kind))
                self._vote(node.args[0], "isinstance")
        if called in _TEXT_SECOND:
            for argument in node.args[1:2]:
                self._vote(argument, "str")
        elif called in ("max", "min") and len(node.args) > 1:
            for argument in node.args:
                self._vote(argument, "number")
        elif called in ("map", "filter"):
            for argument in node.args[1:]:
                self._vote(argument, "iterable")
        elif called in _OF_CALL:
            for argument in node.args[: 3 if _OF_CALL[called] in ("int", "iterable") else 1]:
                self._vote(argument, _OF_CALL[called])
        match node.func:
            case ast.Attribute(attr="join") if len(node.args) == 1:
                self._vote(node.args[0], "texts")

    def _count_arithmetic(self, node: ast.BinOp | ast.AugAssign) -> None:
        left, right = (node.left, node.right) if isinstance(node, ast.BinOp) else (node.target, node.value)
        for one, other in ((left, right), (right, left)):
            kind = self._operand(node.op, other)
            if kind:
                for part in _terms(one) if kind == "float" else [one]:
                    self._vote(part, kind)

    @staticmethod
    def _operand(op: ast.operator, other: ast.expr) -> str:
        is_text = isinstance(other, ast.JoinedStr) or (isinstance(other, ast.Constant) and isinstance(other.value, str))
        if is_text:
            return "str" if isinstance(op, ast.Add) else ""
        if isinstance(other, ast.List | ast.ListComp):
            return "list" if isinstance(op, ast.Add) else ""
        if isinstance(op, ast.FloorDiv | ast.Mod):
            return "int"
        if isinstance(op, ast.BitAnd | ast.BitOr | ast.BitXor | ast.LShift | ast.RShift):
            return "int" if isinstance(other, ast.Constant) else ""
        if isinstance(op, ast.Div):
            return "float"
        if isinstance(other, ast.Constant) and isinstance(other.value, float):
            return "float"
        return "number" if not isinstance(op, ast.MatMult) else "np.ndarray"

    def _count_comparison(self, node: ast.Compare) -> None:
        sides = [node.left, *node.comparators]
        for op, left, right in zip(node.ops, sides, sides[1:], strict=False):
            if isinstance(op, ast.In | ast.NotIn):
                self._vote(right, "iterable")
                if isinstance(right, ast.Constant) and isinstance(right.value, str):
                    self._vote(left, "str")
                continue
            for one, other in ((left, right), (right, left)):
                if isinstance(other, ast.Constant):
                    kind = {str: "str", int: "number", float: "float", bool: "bool", bytes: "bytes"}
                    if other.value is None:
                        self._vote(one, "None")
                    elif type(other.value) in kind:
                        self._vote(one, kind[type(other.value)])
                elif isinstance(op, ast.Lt | ast.LtE | ast.Gt | ast.GtE):
                    self._vote(one, "number")

    def type_of(self, path: Path, depth: int = 0) -> str:
        """Return the type of the value at ``path`` as text; "" where nothing is known."""
        votes = self.votes.get(path, Counter())
        below = {p[len(path)] for p in self.votes if len(p) > len(path) and p[: len(path)] == path}
        kind = self._kind(votes, below)
        if not kind or depth > 4:
            return ""
        text = self._text(kind, path, below, depth)
        if depth and votes["isinstance"] and kind in ("list", "dict"):  # some elements are, others are not
            return f"{text} | int"
        return f"{text} | None" if votes["None"] and depth == 0 else text

    def _kind(self, votes: Counter[str], below: set[str]) -> str:
        tuples = [kind for kind in votes if kind.startswith("tuple")]
        for kind in _RANKS:
            if votes[kind] and not (kind == "bool" and len(votes) > 1):
                if kind == "str" and votes["list"] + votes["dict"] > votes["str"]:
                    continue
                return tuples[0] if tuples and kind in ("iterable", "list", "number") else kind
        if tuples:
            return tuples[0]
        if votes["texts"]:
            return "texts"
        if votes["index"]:
            return "int"
        others = [kind for kind in votes if kind not in ("None", "bool", "index", "tuple") and kind[:1].isupper()]
        if others:
            return others[0]  # of isinstance
        return next(
            (kind for kind in votes if kind in ("str", "int", "float", "list", "dict", "tuple", "set")), ""
        ) or ("iterable" if _ELEMENT in below else "dict" if below & {_KEY, _VALUE} else "")

    def _text(self, kind: str, path: Path, below: set[str], depth: int) -> str:
        votes = self.votes.get(path, Counter())
        element = self.type_of((*path, _ELEMENT), depth + 1)
        match kind:
            case "iterable" | "list" | "numbers" | "texts":
                if kind == "iterable" and element == "str" and self._are_characters((*path, _ELEMENT)):
                    return "str"
                fallback = {"numbers": "int", "texts": "str"}.get(kind, "str" if votes["texts"] else "int")
                return f"list[{element or fallback}]"
            case "set":
                return f"set[{element or 'int'}]"
            case "dict":
                key = self.type_of((*path, _KEY), depth + 1) or "str"
                return f"dict[{key}, {self.type_of((*path, _VALUE), depth + 1) or element or 'int'}]"
            case "number":
                return "float" if votes["float"] else "int"
            case "int":
                return "int"
            case "callable":
                return "Callable[[int], int]"
        if kind.startswith("tuple") and kind != "tuple":
            parts = [self.type_of((*path, f"#{i}"), depth + 1) or "int" for i in range(int(kind[5:]))]
            return f"tuple[{', '.join(parts)}]"
        return kind

    def _are_characters(self, path: Path) -> bool:
        """Tell whether elements of a text are single characters, going by what is done with them."""
        votes = self.votes.get(path, Counter())
        below = any(len(p) > len(path) and p[: len(path)] == path for p in self.votes)
        return not below and votes["iterable"] == 0


def _value_text(value: Any) -> str:
    kind = type(value)
    if value is None:
        return "None"
    if kind in (bool, int, float, str, bytes, complex, bytearray):
        return kind.__name__
    if kind in (list, set, frozenset):
        return f"{kind.__name__}[{_merged([_value_text(v) for v in value]) or '_'}]"
    if kind is tuple:
        return f"tuple[{', '.join(_value_text(v) or 'int' for v in value)}]" if value else "tuple[_, ...]"
    if kind is dict:
        key = _merged([_value_text(k) for k in value]) or "_"
        return f"dict[{key}, {_merged([_value_text(v) for v in value.values()]) or '_'}]"
    if kind is Instance:
        return {"iter": "Iterator[int]", "re.compile": "re.Pattern", "np.array": "np.ndarray"}.get(
            value.type_name, value.type_name
        )
    if kind is Code:
        head, _, member = value.text.partition(".")
        if value.text.startswith("lambda") or not member or head[:1].islower():
            return f"Callable[[{', '.join(['int'] * _arity(value.text))}], int]"
        return str(head)
    return ""


def _terms(node: ast.expr) -> Iterator[ast.expr]:
    """Iterate over what an arithmetic expression is made of."""
    if isinstance(node, ast.BinOp):
        yield from _terms(node.left)
        if not isinstance(node.op, ast.Pow):
            yield from _terms(node.right)
    else:
        yield node


def _arity(code: str) -> int:
    match _annotation(code):
        case ast.Lambda(args=args):
            return len(args.args)
        case ast.Attribute(value=ast.Name(id="operator")):
            return 2
    return 1


def _merged(texts: list[str]) -> str:
    """Return one type for all: ``float`` for whole and real numbers, else a union."""
    distinct = list(dict.fromkeys(text for text in texts if text))
    if len(distinct) > 1 and "_" in distinct:
        distinct.remove("_")  # of an empty container
    if {"int", "float"} <= set(distinct):
        distinct.remove("int")
    for outer in ("list", "set", "dict", "tuple"):
        same = [text for text in distinct if text.startswith(f"{outer}[")]
        if len(same) > 1:
            distinct = [text for text in distinct if text not in same] + [_merged_containers(outer, same)]
    return " | ".join(sorted(distinct, key=lambda text: text == "None"))


def _merged_containers(outer: str, texts: list[str]) -> str:
    parts = [_arguments(text) for text in texts]
    if outer == "tuple":
        if len({len(part) for part in parts}) == 1 and "..." not in parts[0]:
            columns = [_merged([part[i] for part in parts]) for i in range(len(parts[0]))]
            return f"tuple[{', '.join(columns)}]"
        return f"tuple[{_merged([p for part in parts for p in part if p != '...'])}, ...]"
    columns = [_merged([part[i] for part in parts]) for i in range(len(parts[0]))]
    return f"{outer}[{', '.join(columns)}]"


def _arguments(text: str) -> list[str]:
    match _annotation(text):
        case ast.Subscript(slice=ast.Tuple(elts=elts)):
            return [ast.unparse(part) for part in elts]
        case ast.Subscript(slice=inside):
            return [ast.unparse(inside)]
    return []
