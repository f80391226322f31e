"""Types without annotation: by use, values, names and candidates; columns and words that code mentions."""

import ast
from pathlib import Path

import pytest

from difftrust.search.columns import columns_in
from difftrust.source.function import Stub, load_stub
from difftrust.source.usage import usage_types
from difftrust.types.value_types import type_of_values
from difftrust_core.base.literals import read_literal

USES = [
    ("return sum(1 for c in s if c in 'aeiou')", "s", "str"),
    ("return sum(xs) / len(xs)", "xs", "list[int]"),
    ("return [w.upper() for w in xs[1:]] + xs.copy() if xs[0] == 'a' else sorted(xs, key=len)", "xs", "str"),
    ("xs.append(1); return [len(x.strip()) for x in xs]", "xs", "list[str]"),
    ("return [(k.strip(), v / 2) for k, v in d.items()]", "d", "dict[str, float]"),
    ("return all(n % i for i in range(2, int(n ** 0.5) + 1))", "n", "int"),
    ("return w / h ** 2", "h", "float"),
    ("for start, end in sorted(xs):\n        if start <= 3 < end: return end", "xs", "list[tuple[int, int]]"),
    ("return d.year - 1, d.month", "d", "date"),
    ("return t.hour, t.date()", "t", "datetime"),
    ("return [f(x) for x in (1, 2)]", "f", "Callable[[int], int]"),
    ("return max(lo, min(x, hi))", "lo", "int"),
    ("return sep.join(parts)", "parts", "list[str]"),
    ("for e in x:\n        if isinstance(e, list): return e[0]", "x", "list[list[int] | int]"),
    ("return re.match('a', s)", "s", "str"),
    ("return x if limit is None else x[:limit]", "x", "list[int]"),
    ("return users[0]['name'].title()", "users", "list[dict[str, str]]"),
    ("return a | b.union({1})", "b", "set[int]"),
    ("if strict: return 1", "strict", "bool"),
    ("return other", "x", None),
]


@pytest.mark.parametrize(("body", "name", "wanted"), USES, ids=[u[0][:30] for u in USES])
def test_types_by_use(body: str, name: str, wanted: str | None) -> None:
    (function,) = ast.parse(f"def f({name}, *others):\n    {body}\n").body
    assert isinstance(function, ast.FunctionDef)
    found = usage_types(function, [])
    assert (ast.unparse(found[name]) if name in found else None) == wanted


VALUES = [
    (["1", "2.5"], "float"),
    (["[]"], "list[int]"),
    (["[1, None]"], "list[int | None]"),
    (["(1, 'a')", "(2, 'b')"], "tuple[int, str]"),
    (["(1,)", "(2, 3)"], "tuple[int, ...]"),
    (["{'a': [1]}", "{}"], "dict[str, list[int]]"),
    (["Color.RED"], "Color"),
    (["len", "lambda a: a"], "Callable[[int], int]"),
    (["lambda a, b: a"], "Callable[[int, int], int]"),
    (["None"], None),
]


@pytest.mark.parametrize(("texts", "wanted"), VALUES, ids=[" ".join(v[0])[:30] for v in VALUES])
def test_types_of_values(texts: list[str], wanted: str | None) -> None:
    found = type_of_values([read_literal(text) for text in texts])
    assert (ast.unparse(found) if found is not None else None) == wanted


def loaded(folder: Path, text: str, **options: object) -> Stub:
    (folder / "stub.py").write_text(text)
    return load_stub(f"{folder / 'stub.py'}::f", needs_docstring=False, **options)  # type: ignore[arg-type]


GUESSED = [
    ("def f(a):\n    '''Do.\n\n    >>> f('x')\n    1\n    '''\n", "a: str, by the calls found"),
    ("def f(a):\n    '''Do.\n\n    Args:\n        a (list of int): x\n    '''\n", "a: list[int], by the docstring"),
    ("def f(a=2.5): ...\n", "a: float, by its default"),
    ("def f(a=None):\n    return a.strip()\n", "a: str | None, by its use"),
    ("def f(words): ...\n", "words: list[str], by its name"),
    ("def f(*args):\n    return [a.strip() for a in args]\n", "args: str, by its use"),
    ("def f(**kw):\n    return [v / 2 for k, v in kw.items()]\n", "kw: float, by its use"),
    ("from decimal import Decimal\ndef f(a):\n    return a.quantize(1)\n", "a: Decimal, by its use"),
    ("def f(a):\n    return a.quantize(1)\n", "a: Decimal, by its use"),
]


@pytest.mark.parametrize(("text", "note"), GUESSED, ids=[g[1] for g in GUESSED])
def test_a_type_without_annotation_is_said(text: str, note: str, tmp_path: Path) -> None:
    stub = loaded(tmp_path, text)
    assert note in stub.notes
    assert len(stub.task.seed_inputs) > 1
    assert all(map(stub.types.accepts, stub.task.seed_inputs))


def test_candidates_tell_types(tmp_path: Path) -> None:
    stub = loaded(
        tmp_path,
        "def f(a, b): ...\n",
        candidates=["def f(x: dict[str, int], y):\n    return y\n", "def f(a, b):\n    return b.split()\n", "def ("],
    )
    assert stub.notes[:2] == ("a: dict[str, int], as a candidate has it", "b: str, by its use")


COLUMNS = [
    ("The columns 'price', a float, and 'city' (text).", [], [], {"price": "float", "city": "str"}),
    ("Columns: day, n_items and name.", [], [], dict.fromkeys(("day", "n_items", "name"), "float")),
    ("The `total` column.", [], [], {"total": "float"}),
    ("Do.", ['df["a"].sum() + df[df["b"] == "x"]["c"].str.len()'], [], {"a": "float", "b": "str", "c": "str"}),
    ("Do.", ['df["new"] = df["old"]\ndf.groupby("team")["new"].mean()'], [], {"old": "float", "team": "float"}),
    ("Do.", ['df.group_by("team").agg(pl.col("x").sum().alias("y"))'], [], {"team": "float", "x": "float"}),
    ("Do.", [], ["pd.DataFrame({'q': [1, 2], 'd': [date(2020, 1, 1)]})"], {"q": "int", "d": "date"}),
]


@pytest.mark.parametrize(("docstring", "codes", "values", "wanted"), COLUMNS, ids=[str(i) for i in range(len(COLUMNS))])
def test_columns(docstring: str, codes: list[str], values: list[str], wanted: dict[str, str]) -> None:
    assert columns_in(docstring, codes, [read_literal(text) for text in values]) == wanted


def test_a_frame_by_its_use_has_the_columns_that_code_names(tmp_path: Path) -> None:
    text = "def f(df, by):\n    '''Sum. The columns are 'team', 'price'.'''\n    return df.groupby(by)['price'].sum()\n"
    stub = loaded(tmp_path, text)
    assert stub.notes[:2] == ("df: pd.DataFrame, by its use", "by: Literal['team', 'price'], by its use")
    assert stub.libraries == ("pandas",)
    assert all("'price': [" in seed for seed in stub.task.seed_inputs)
