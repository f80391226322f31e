"""Types of parameters without annotation, by how code uses them; it is parsed, never executed."""

import ast
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from difftrust.source.closure import dotted_name
from difftrust.source.scopes import tree_of
from difftrust.types.own import Function, Parameter, parameters_in
from difftrust_core.languages.python.syntax import expression


def by_word(table: Mapping[str, str]) -> dict[str, str]:
    """Return a table from each word to what it stands for; ``table``: the words of each."""
    return {word: kind for kind, words in table.items() for word in words.split()}


BY_METHOD: Final = by_word(
    {
        "str": "split strip lower upper startswith endswith splitlines lstrip rstrip isdigit isalpha isalnum isupper "
        "islower isspace isnumeric isdecimal isidentifier title capitalize casefold swapcase encode format zfill "
        "ljust rjust center partition rpartition rsplit removeprefix removesuffix translate expandtabs find rfind "
        "istitle join",
        "dict": "items keys values get setdefault",
        "list": "append extend sort insert reverse",
        "set": "union intersection difference issubset issuperset symmetric_difference discard",
        "date": "isoformat weekday isoweekday toordinal isocalendar year month day",
        "datetime": "astimezone timestamp utcoffset date hour minute second tzinfo",
        "timedelta": "total_seconds",
        "pd.DataFrame": "groupby iloc loc columns iterrows itertuples sort_values drop_duplicates reset_index merge "
        "assign fillna dropna pivot_table set_index",
        "pl.DataFrame": "group_by with_columns",
        "np.ndarray": "shape ndim reshape dtype astype ravel flatten",
        "bytes": "decode",
        "Decimal": "quantize as_tuple is_nan",
        "float": "is_integer",
        "int": "bit_length bit_count",
        "Fraction": "numerator denominator",
        "Path": "read_text stem suffix joinpath",
    }
)
"""By a method or an attribute of the value."""
BY_CALL: Final = by_word(
    {
        "str": "ord int.fromhex json.loads date.fromisoformat datetime.fromisoformat datetime.strptime Path Decimal "
        "datetime.datetime.strptime datetime.date.fromisoformat",
        "int": "range chr bin hex oct math.factorial math.gcd math.isqrt math.comb math.lcm",
        "number": "abs round divmod pow math.sqrt math.floor math.ceil math.log math.sin math.cos math.isclose "
        "math.isnan math.exp math.log10 math.log2 math.radians math.degrees",
        "iterable": "len sorted reversed enumerate set list tuple any all zip Counter max min iter frozenset "
        "collections.Counter itertools.groupby itertools.accumulate",
        "numbers": "sum statistics.mean statistics.median statistics.stdev math.prod math.fsum statistics.pstdev "
        "statistics.variance statistics.mode np.array np.asarray np.mean np.sum np.std np.median",
    }
)
"""By a function that takes the value."""
BY_NAME: Final = by_word(
    {
        "str": "text s string name word line sentence phrase title message msg url path filename email pattern key "
        "code token prefix suffix separator sep delimiter char html markdown raw body",
        "int": "n k i j m count size length limit year month day age index width height depth start stop end number "
        "num step position steps total seconds minutes hours",
        "float": "x y z amount price rate ratio value weight percent temperature celsius fahrenheit radius distance "
        "tolerance principal",
        "list[int]": "numbers nums values items data array arr xs ys seq sequence elements lst scores",
        "list[str]": "words lines names strings texts tokens keys",
        "list[list[int]]": "matrix grid board",
        "list[tuple[int, int]]": "intervals ranges pairs edges points",
        "dict[str, int]": "mapping counts d dictionary config record",
        "bool": "flag strict verbose reverse inclusive",
    }
)
"""By the usual name of a parameter."""
TEXT_IS_SECOND: Final = frozenset(("re.match", "re.search", "re.findall", "re.fullmatch", "re.split", "re.finditer"))


_RANKS: Final = (
    "pd.DataFrame", "pl.DataFrame", "np.ndarray", "datetime", "date", "timedelta", "Decimal", "Fraction", "Path",
    "bytes", "callable", "dict", "str", "set", "numbers", "list", "iterable", "int", "float", "number", "bool",
)  # fmt: skip
"""Which of several uses counts, the most telling first."""
COLUMN: Final = "Column"
"""The type of a name of a column."""
_ELEMENT = "[]"
_KEY = "{k}"
_VALUE = "{v}"
_SPREAD: Final = {"sorted", "reversed", "list", "set", "tuple", "iter", "frozenset"}
_CONSTANTS: Final[Mapping[type, str]] = {
    str: "str", int: "number", float: "float", bool: "bool", bytes: "bytes", type(None): "None"
}  # fmt: skip
"""What a value is that is compared with a constant."""
Path = tuple[str, ...]


def usage_types(function: Function, codes: Sequence[str]) -> dict[str, ast.expr]:
    """Return the types of parameters that ``function`` and the programs ``codes`` use in a telling way.

    Of a program, the function of the same name counts. Of ``*args`` it is the type of one of them, of ``**kwargs`` that
    of a value. Nothing is executed.
    """
    parameters = list(parameters_in(function.args))
    names = [parameter.name for parameter in _single(function)]
    uses = _Uses(function, [parameter.name for parameter in parameters])
    for other in _functions(codes, function.name):
        own = [parameter.name for parameter in _single(other)]
        uses.add(other, dict(zip(own, names, strict=False)) | {name: name for name in own if name in names})
    found = {}
    for one in parameters:
        several = (_VALUE if one.keyword else _ELEMENT,) if one.variadic else ()
        found[one.name] = uses.type_of((one.name, *several))
    return {name: expression(text) for name, text in found.items() if text}


def candidate_types(function: Function, codes: Sequence[str]) -> dict[str, ast.expr]:
    """Return the annotations that programs give to the parameters of ``function``, by position; the first counts."""
    found: dict[str, ast.expr] = {}
    for other in _functions(codes, function.name):
        for own, argument in zip(_single(function), _single(other), strict=False):
            if argument.annotation is not None:
                found.setdefault(own.name, argument.annotation)
    return found


def _single(function: Function) -> list[Parameter]:
    return [parameter for parameter in parameters_in(function.args) if not parameter.variadic]


def named_type(name: str) -> ast.expr | None:
    """Return the type that a parameter of this name usually has; None where that is not known."""
    text = BY_NAME.get(name.lower().strip("_")) or BY_NAME.get(name.lower().rpartition("_")[2])
    return expression(text) if text else None


def _functions(codes: Sequence[str], name: str) -> list[Function]:
    nodes = (node for code in codes for node in ast.walk(tree_of(code)))
    return [node for node in nodes if isinstance(node, Function) and node.name == name]


class _Uses:
    """Counts the uses of values, each a path: ``("p",)`` is a parameter, ``("p", "[]")`` an element of it."""

    def __init__(self, function: Function, names: Sequence[str]):
        self.votes: defaultdict[Path, Counter[str]] = defaultdict(Counter)
        self.add(function, {name: name for name in names})

    def add(self, function: Function, names: dict[str, str]) -> None:
        """Count what the body of ``function`` does; ``names``: its parameters and what they are called here."""
        self._paths: dict[str, Path] = {own: (name,) for own, name in names.items()}
        nodes = [node for statement in function.body for node in ast.walk(statement)]
        for node in (*nodes, *nodes):  # what is bound late in a loop is used before
            self._bind(node)
        for node in nodes:
            self._count(node)

    def _vote(self, node: ast.expr, kind: str) -> None:
        if path := self._path(node):
            self.votes[path][kind] += 1

    def _path(self, node: ast.expr, *steps: str) -> Path | None:
        """Return the path of what lies some steps below a value; None where it comes from no parameter."""
        match node:
            case ast.Name(id=name) if name in self._paths:
                return (*self._paths[name], *steps)
            case ast.Subscript(value=value, slice=ast.Slice()):
                return self._path(value, *steps)
            case ast.Subscript(value=value, slice=ast.Constant(value=str())):
                return self._path(value, _VALUE, *steps)
            case ast.Subscript(value=value):
                return self._path(value, _ELEMENT, *steps)
            case ast.Call(func=ast.Name(id=name), args=[value, *_]) if name in _SPREAD:
                return self._path(value, *steps)
            case ast.Call(func=ast.Name(id="max" | "min" | "next"), args=[value]):
                return self._path(value, _ELEMENT, *steps)
        return None

    def _bind(self, node: ast.AST) -> None:
        match node:
            case ast.For() | ast.AsyncFor() | ast.comprehension():
                self._bind_items(node.target, node.iter)
            case ast.Assign(targets=[ast.Name() | ast.Tuple() as target], value=value):
                self._bind_one(target, self._path(value))

    def _bind_items(self, target: ast.expr, over: ast.expr) -> None:
        match over, target:
            case ast.Call(func=ast.Name(id="enumerate"), args=[inner, *_]), ast.Tuple(elts=[_, second]):
                self._bind_items(second, inner)
            case ast.Call(func=ast.Name(id="zip"), args=inners), ast.Tuple(elts=elts):
                for part, inner in zip(elts, inners, strict=False):
                    self._bind_items(part, inner)
            case ast.Call(func=ast.Attribute(value=of, attr="items"), args=[]), ast.Tuple(elts=[key, value]):
                self._bind_one(key, self._path(of, _KEY))
                self._bind_one(value, self._path(of, _VALUE))
            case ast.Call(func=ast.Attribute(value=of, attr="values"), args=[]), _:
                self._bind_one(target, self._path(of, _VALUE))
            case _:
                self._bind_one(target, self._path(over, _ELEMENT))

    def _bind_one(self, target: ast.expr, path: Path | None) -> None:
        if path is None:
            return
        if isinstance(target, ast.Name):
            self._paths.setdefault(target.id, path)
        elif isinstance(target, ast.Tuple | ast.List):
            self.votes[path][f"tuple{len(target.elts)}"] += 1
            for number, part in enumerate(target.elts):
                self._bind_one(part, (*path, f"#{number}"))

    def _count(self, node: ast.AST) -> None:
        match node:
            case ast.Call():
                self._count_call(node)
            case ast.Attribute(value=value, attr=attr) if attr in BY_METHOD:
                self._vote(value, BY_METHOD[attr])
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
        called = dotted_name(node.func)
        self._vote(node.func, "callable")
        kind = BY_CALL.get(called, "")
        voted = node.args[: 3 if kind in ("int", "iterable") else 1]
        if called in TEXT_IS_SECOND:
            kind, voted = "str", node.args[1:2]
        elif called in ("max", "min") and len(node.args) > 1:
            kind, voted = "number", node.args
        elif called in ("map", "filter"):
            kind, voted = "iterable", node.args[1:]
        for argument in voted if kind else ():
            self._vote(argument, kind)
        match node:
            case ast.Call(func=ast.Name(id="isinstance"), args=[of, ast.Tuple(elts=[first, *_]) | first]):
                self._vote(of, ast.unparse(first))
                self._vote(of, "isinstance")
        match node.func:
            case ast.Attribute(attr="groupby" | "group_by" | "sort_values" | "set_index") if node.args:
                self._vote(node.args[0], COLUMN)
            case ast.Attribute(attr="join") if len(node.args) == 1:
                self._vote(node.args[0], "texts")

    def _count_arithmetic(self, node: ast.BinOp | ast.AugAssign) -> None:
        left, right = (node.left, node.right) if isinstance(node, ast.BinOp) else (node.target, node.value)
        for one, other in ((left, right), (right, left)):
            if kind := _vote_of_operand(node.op, other):
                for part in _terms(one) if kind == "float" else [one]:
                    self._vote(part, kind)

    def _count_comparison(self, node: ast.Compare) -> None:
        sides = [node.left, *node.comparators]
        for op, left, right in zip(node.ops, sides, sides[1:], strict=False):
            if isinstance(op, ast.In | ast.NotIn):
                self._vote(right, "iterable")
                if isinstance(right, ast.Constant) and isinstance(right.value, str):
                    self._vote(left, "str")
                continue
            for one, other in ((left, right), (right, left)):
                if isinstance(other, ast.Constant) and type(other.value) in _CONSTANTS:
                    self._vote(one, _CONSTANTS[type(other.value)])
                elif isinstance(op, ast.Lt | ast.LtE | ast.Gt | ast.GtE) and not isinstance(other, ast.Constant):
                    self._vote(one, "number")

    def type_of(self, path: Path, depth: int = 0) -> str:
        """Return the type of the value at ``path`` as text; "" where nothing is known."""
        votes, below = self._known(path)
        kind = self._kind(votes, below)
        if not kind or depth > 4:
            return ""
        text = self._text(kind, path, depth)
        if depth and votes["isinstance"] and kind in ("list", "dict"):  # some elements are, others are not
            return f"{text} | int"
        return f"{text} | None" if votes["None"] and depth == 0 else text

    def _known(self, path: Path) -> tuple[Counter[str], set[str]]:
        """Return the votes for a value, and the steps to what is known below it."""
        n = len(path)
        return self.votes.get(path, Counter()), {p[n] for p in self.votes if len(p) > n and p[:n] == path}

    def _kind(self, votes: Counter[str], below: set[str]) -> str:
        tuples = [kind for kind in votes if kind.startswith("tuple")]
        for kind in _RANKS:
            if votes[kind] and not (kind == "bool" and len(votes) > 1):
                if kind == "str" and votes["list"] + votes["dict"] > votes["str"]:
                    continue
                return tuples[0] if tuples and kind in ("iterable", "list", "number") else kind
        if tuples:
            return tuples[0]
        if votes["texts"] or votes[COLUMN]:
            return "texts" if votes["texts"] else COLUMN
        if votes["index"]:
            return "int"
        others = [kind for kind in votes if kind not in ("None", "bool", "index", "tuple") and kind[:1].isupper()]
        if others:
            return others[0]  # of isinstance
        if votes["tuple"]:
            return "tuple"
        return "iterable" if _ELEMENT in below else "dict" if below & {_KEY, _VALUE} else ""

    def _text(self, kind: str, path: Path, depth: int) -> str:
        votes, _ = self._known(path)
        element = self.type_of((*path, _ELEMENT), depth + 1)
        match kind:
            case "iterable" | "list" | "numbers" | "texts":
                inner, below = self._known((*path, _ELEMENT))
                if kind == "iterable" and element == "str" and not below and not inner["iterable"]:
                    return "str"  # its elements are single characters
                fallback = {"numbers": "int", "texts": "str"}.get(kind, "str" if votes["texts"] else "int")
                return f"list[{element or fallback}]"
            case "set":
                return f"set[{element or 'int'}]"
            case "dict":
                key = self.type_of((*path, _KEY), depth + 1) or "str"
                return f"dict[{key}, {self.type_of((*path, _VALUE), depth + 1) or element or 'int'}]"
            case "number":
                return "float" if votes["float"] else "int"
            case "callable":
                return "Callable[[int], int]"
        if kind.startswith("tuple") and kind != "tuple":
            parts = [self.type_of((*path, f"#{i}"), depth + 1) or "int" for i in range(int(kind[5:]))]
            return f"tuple[{', '.join(parts)}]"
        return kind


def _vote_of_operand(op: ast.operator, other: ast.expr) -> str:
    """Return what an operand is, going by the operator and the other operand; "" where they do not tell."""
    match op, other:
        case _, ast.JoinedStr() | ast.Constant(value=str()):
            return "str" if isinstance(op, ast.Add) else ""
        case _, ast.List() | ast.ListComp():
            return "list" if isinstance(op, ast.Add) else ""
        case ast.FloorDiv() | ast.Mod(), _:
            return "int"
        case ast.BitAnd() | ast.BitOr() | ast.BitXor() | ast.LShift() | ast.RShift(), _:
            return "int" if isinstance(other, ast.Constant) else ""
        case (ast.Div(), _) | (_, ast.Constant(value=float())):
            return "float"
    return "np.ndarray" if isinstance(op, ast.MatMult) else "number"


def _terms(node: ast.expr) -> Iterator[ast.expr]:
    """Iterate over what an arithmetic expression is made of."""
    if isinstance(node, ast.BinOp):
        yield from _terms(node.left)
        if not isinstance(node.op, ast.Pow):
            yield from _terms(node.right)
    else:
        yield node


def asked_kinds(name: str, functions: Iterable[ast.AST]) -> list[str]:
    """Return the kinds that code asks a parameter for, by ``isinstance``, ``type``, ``is None`` or ``is True``."""
    found: dict[str, None] = {}
    for node in (node for function in functions for node in ast.walk(function)):
        match node:
            case ast.Call(func=ast.Name(id="isinstance"), args=[ast.Name(id=asked), kinds]) if asked == name:
                parts = kinds.elts if isinstance(kinds, ast.Tuple) else alternatives(kinds)
                found |= dict.fromkeys(ast.unparse(part) for part in parts)
            case ast.Compare(
                left=ast.Name(id=asked),
                ops=[ast.Is() | ast.IsNot()],
                comparators=[ast.Constant(value=None | bool() as of)],
            ) if asked == name:
                found["None" if of is None else "bool"] = None
            case ast.Compare(
                left=ast.Call(func=ast.Name(id="type"), args=[ast.Name(id=asked)]), comparators=[ast.Name(id=kind)]
            ) if asked == name:
                found[kind] = None
    return [kind for kind in found if kind not in ("object", "type")]


def asked_keys(name: str, functions: Iterable[ast.AST]) -> list[str]:
    """Return the texts by which code looks a parameter up: ``p["key"]``, ``p.get("key")``, then also ``"key" in p``."""
    found: dict[str, None] = {}
    is_looked_up = False
    for node in (node for function in functions for node in ast.walk(function)):
        match node:
            case (
                ast.Subscript(value=ast.Name(id=asked), slice=ast.Constant(value=str(key)))
                | ast.Call(
                    func=ast.Attribute(value=ast.Name(id=asked), attr="get"), args=[ast.Constant(value=str(key)), *_]
                )
            ) if asked == name:
                is_looked_up, found[key] = True, None
            case ast.Compare(
                left=ast.Constant(value=str(key)), ops=[ast.In() | ast.NotIn()], comparators=[ast.Name(id=asked)]
            ) if asked == name:
                found[key] = None
    return list(found) if is_looked_up else []


def alternatives(node: ast.expr) -> list[ast.expr]:
    """Return the parts of a union that is written with ``|``."""
    if isinstance(node, ast.BinOp):
        return [*alternatives(node.left), *alternatives(node.right)]
    return [node]
