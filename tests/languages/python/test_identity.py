"""When two program texts are one program: pairs by hand, and texts that no parser likes."""

import ast
import builtins
import json
import re
import runpy
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from difftrust_core.languages.language import program_id
from difftrust_core.languages.python import identity
from difftrust_core.languages.python.identity import MAX_ANNOTATION, MAX_PARSED, tree_id

PROGRAMS = Path(__file__).parent / "programs.json"
PLAIN = "def f(a, b=1):\n    return a + b\n"


ALIKE = [
    "def f(a, b=1): return a + b",
    "def f(a,b = 1):\n\n  # adds\n  return (a+b)   # done",
    'def f(a, b=1):\n    """Add."""\n    return a + b',
    '"""A module that adds."""\ndef f(a, b=1):\n    return a + b',
    "def f(a: int, b: float = 1) -> float:\n    return a + b",
    "def f(\n    a: 'whatever',\n    b: undefined[1] = 1,\n):\n\treturn a + b\n",
    "def f(a, b=0x1): return a + b",
    "\r\ndef f(a, b=1):\r\n    return a + b\r\n",
]


def test_texts_that_differ_in_nothing_a_call_can_see():
    for text in ALIKE:
        assert tree_id(text) == tree_id(PLAIN), text
        assert program_id(text) != program_id(PLAIN), text


UNLIKE = [
    "def f(a, b=2):\n    return a + b\n",
    "def f(a, b=1):\n    return b + a\n",
    "def f(a, b=True):\n    return a + b\n",
    "def f(a, b=1.0):\n    return a + b\n",
    "def f(a, *, b=1):\n    return a + b\n",
    "def g(a, b=1):\n    return a + b\n",
    "async def f(a, b=1):\n    return a + b\n",
    "import math\ndef f(a, b=1):\n    return a + b\n",
    "def f(a, b=1):\n    return a + b\nprint(f(1))\n",
    "@cache\ndef f(a, b=1):\n    return a + b\n",
]


def test_texts_that_behave_differently():
    assert [text for text in UNLIKE if tree_id(text) == tree_id(PLAIN)] == []


def test_nested_functions_lose_their_docstrings_and_annotations():
    documented = 'def f(x):\n    "F."\n    def g(*k: int, **m: str):\n        "G."\n    return g(x)'
    assert tree_id(documented) == tree_id("def f(x):\n    def g(*k, **m): pass\n    return g(x)")


def test_a_string_that_is_not_a_docstring_stays():
    assert tree_id("def f():\n    x = 1\n    'text'\n    return x") != tree_id("def f():\n    x = 1\n    return x")
    assert tree_id("def f():\n    return 'text'") != tree_id("def f():\n    return 'test'")


def test_texts_beside_each_other_are_one_in_an_f_string_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    assert tree_id("def f(a):\n    return 'a' or 'b' or a\n") != tree_id("def f(a):\n    return 'ab' or a\n")
    text = "def f(a):\n    return f'{a}bc{a}'\n"
    whole = tree_id(text)
    tree: Any = ast.parse(text)
    tree.body[0].body[0].value.values[1:2] = [ast.Constant("b"), ast.Constant(""), ast.Constant("c")]
    monkeypatch.setattr(identity, "parsed", lambda text: tree)  # as some Pythons part it
    assert tree_id(text) == whole


SEEING = {
    "docstring": "f.__doc__",
    "annotations": "f.__annotations__",
    "signature": "inspect.signature(f)",
    "eval": "eval('f')",
    "eval in other letters": "ｅval('f')",
    "eval under another name": "[e('f') for e in (eval,)]",
    "a builtin of a name that is bound later": "open",
    "locals": "locals()",
    "a class made by a call": "type('C', (), {})",
    "a template": "'{0.gi_frame.f_locals}'.format(f)",
    "a template within a template": "'{:{0.gi_frame}}'.format(f)",
    "a template from elsewhere": "a.format(f)",
    "a frame of a generator": "(x for x in a).gi_frame.f_locals",
    "an attribute by its name": "operator.attrgetter(a)(f)",
    "a module of a module": "collections.abc.sys._getframe()",
    "type hints": "typing.get_type_hints(f)",
    "a formatter": "string.Formatter().vformat(a, f, {})",
    "names that another gives": "helper(f)",
    "names given by a dictionary": "f(**a)",
    "a private name": "collections._sys",
    "a name that the module site adds": "exit(a)",
}
"""An expression that may see how its text is written."""
MODULES = "import collections, operator, string, typing\n"
STATEMENTS = {
    "a name as Python gives them": "__doc__ = 1",
    "a named exception": "try: 1\n    except E as e: pass",
    "a class": "class A: 'a'",
    "an attribute of a pattern": "match f:\n        case list(__doc__=d): return d",
    "a module that sees": "from pydoc import render_doc",
    "a module beside it": "from . import x",
    "all of a module": "from math import floor as eval, nothing",
    "dispatch on annotations": "from functools import singledispatch",
    "nonlocal": "def g():\n        nonlocal x",
    "global": "global x",
    "a coroutine": "async def g(): pass",
    "another syntax": "try: 1\n    except* E: pass",
}


OF_ANOTHER_FORM = [
    *(f"{MODULES}def f(a):\n    x = 1\n    return {one}" for one in SEEING.values()),
    *(f"def f(a):\n    x = 1\n    {one}" for one in STATEMENTS.values()),
    "from __future__ import annotations\ndef f(a):\n    return a\n",
]  # fmt: skip


def test_a_text_of_another_form_is_a_program_of_its_own() -> None:
    assert [text for text in OF_ANOTHER_FORM if tree_id(text) != f"x{program_id(text)}"] == []


def test_what_a_prompt_adds_to_pythons_own_names_is_none_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(builtins, "_", 1, raising=False)
    text = "def f(a):\n    return _ + a\n"
    assert runpy.run_path(identity.__file__)["tree_id"](text) == f"x{program_id(text)}"


OF_PLAIN_FORM = [
    "from typing import List\nLIMIT: int = -5\ndef f(a: List[int]):\n    return a\n",
    "import math\ndef g(a):\n    return math.sqrt(a)\ndef f(a):\n    return '{:.2f} {x!r}'.format(g(a), x=[])\n",
    "from collections import Counter\ndef f(a):\n    return Counter(a).most_common(1)[0][0]\n",
    "from functools import lru_cache\n@lru_cache(None)\ndef f(a=[i for i in 'ab']):\n    return a or f(a)\n",
    "def f(a):\n    try:\n        return int(a)\n    except (ValueError, TypeError):\n        raise\n",
    "def f(a):\n    return a\nif __name__ == '__main__':\n    print(f(1))\n",
    "def f(a):\n    return a\nfor x in (1, 2):\n    print(f(x))\nassert f(1) == 1\n",
]


def test_texts_of_the_plain_form_are_joined() -> None:
    for text in OF_PLAIN_FORM:
        assert tree_id(text) == tree_id(f"# as others\n{text}") != f"x{program_id(text)}", text


@pytest.mark.parametrize(
    "text",
    [
        "def f(:",
        "",
        " return 1",
        "\x00",
        "def f():\n    return '\x00'",
        "x = '\ud800'",
        "'\\d'",
        "(" * 5_000 + ")" * 5_000,
        "x = " + "-" * 20_000 + "1",
        "x = 1" + " + 1" * 30_000,
        "x = a" + ".b" * 30_000,
        "#" * (MAX_PARSED + 1),
        "if 1:\n" * 200,
        "10" * 4_000,
        "x = 0x" + "f" * 20_000,
        "lambda: (" * 90 + ")" * 90,
    ],
    ids=lambda text: ascii(text[:12]),
)
def test_any_text_has_an_id_of_its_own(text):
    assert tree_id(text) != tree_id(PLAIN)
    assert tree_id(text)[1:] != tree_id(text + "\nx = 1")[1:]


def test_texts_that_cannot_be_parsed_are_one_only_where_they_are_equal():
    assert tree_id("def f(:  # a") != tree_id("def f(:  # b")
    assert tree_id("def f(:").startswith("x")
    long = "x = 1  #" + "y" * MAX_PARSED
    assert tree_id(long) == f"x{program_id(long)}"
    assert tree_id(long[:MAX_PARSED]) == tree_id("x = 1")


def test_ids_do_not_change():
    assert program_id("") == "e4a6a0577479b2b4"
    assert tree_id("def f(:") == f"x{program_id('def f(:')}"
    spelled = "Assign( targets=[Name( id='x' ctx=Store())] value=Constant( value=0x1))"
    assert tree_id("x = 1") == f"f{program_id(spelled)}"


def test_texts_are_parsed_up_to_a_length_and_a_number_of_braces_that_do_not_change():
    braces = "#" + "{" * 2**13
    for most, more in (
        ("#" * 2**18, "#" * (2**18 + 1)),
        (braces.ljust(2**15), braces.ljust(2**15 + 1)),
    ):
        assert tree_id(most) == tree_id("")
        assert tree_id(more) == f"x{program_id(more)}"


@given(st.text(alphabet=st.characters(codec=None), max_size=40))
def test_no_text_raises(text):
    assert len(program_id(text)) == 16
    assert tree_id(text)[0] in "fx"


RENAMED = [
    ("def f(a):\n    n = 0\n    for i in a:\n        n += i\n    return n\n",
     "def f(a):\n    total = 0\n    for item in a:\n        total += item\n    return total\n"),
    ("def f(a):\n    return [x for x in a if x]\n", "def f(a):\n    return [y for y in a if y]\n"),
    ("def f(a):\n    return sorted(a, key=lambda p: p[0])\n",
     "def f(a):\n    return sorted(a, key=lambda q: q[0])\n"),
    ("def f(a):\n    max = a\n    return [max for x in a]\n", "def f(a):\n    m = a\n    return [m for y in a]\n"),
    ("def f(a):\n    return (n := a) + n\n", "def f(a):\n    return (k := a) + k\n"),
]  # fmt: skip


def test_names_of_local_variables_do_not_count():
    assert [(one, other) for one, other in RENAMED if tree_id(one) != tree_id(other)] == []


OTHER_NAMES = [
    # its own parameters: a caller may give them by name
    ("def f(a, b=1):\n    return a + b\n", "def f(x, y=1):\n    return x + y\n"),
    # one that is given by name elsewhere, or by a dictionary
    ("def f():\n    return lambda x: x\nh = f()(x=1)", "def f():\n    return lambda y: y\nh = f()(x=1)"),
    ("def f(a):\n    return (lambda x: x)(**a)\n", "def f(a):\n    return (lambda y: y)(**a)\n"),
    # an attribute and a field that are called as a variable is
    ("def f(a):\n    x = a\n    return x.x\n", "def f(a):\n    y = a\n    return y.y\n"),
    # a name that a comprehension binds, and outside it a global one: here it is math of a preamble
    ("def f(a):\n    return [math for math in a] + [math.pi]\n", "def f(a):\n    return [q for q in a] + [q.pi]\n"),
    # the first loop of a comprehension is evaluated outside it
    ("def f(a):\n    return [x for x in x]\n", "def f(a):\n    return [y for y in y]\n"),
    ("def f(a):\n    return lambda x=x: x\n", "def f(a):\n    return lambda y=y: y\n"),
    # a class body, nonlocal
    ("def f(a):\n    x = a\n    class B:\n        x = x\n    return B.x\n",
     "def f(a):\n    y = a\n    class B:\n        y = y\n    return B.x\n"),
    ("def f(a):\n    x = a\n    def g():\n        nonlocal x\n        x += 1\n    g()\n    return x\n",
     "def f(a):\n    y = a\n    def g():\n        nonlocal y\n        y += 1\n    g()\n    return y\n"),
    # a message that quotes a variable
    ("class C:\n    def __exit__(self, t, v, tb):\n        self.v = str(v)\ndef f(a):\n    b = a\n",
     "class C:\n    def __exit__(self, t, v, tb):\n        self.v = str(v)\ndef f(a):\n    c = a\n"),
    # another variable at one place
    ("def f(a, b):\n    return a - b\n", "def f(a, b):\n    return b - a\n"),
    # a global, a builtin, a helper are not local
    ("def f(a):\n    return abs(a)\n", "def f(a):\n    return len(a)\n"),
    ("n = 1\ndef f(a):\n    return n\n", "m = 1\ndef f(a):\n    return n\n"),
    ("def g(a): return 1\ndef f(a):\n    return g(a)\n", "def h(a): return 1\ndef f(a):\n    return g(a)\n"),
    # a local name that hides a builtin, and the builtin
    ("def f(a):\n    max = a\n    return max\n", "def f(a):\n    m = a\n    return max\n"),
    # a parameter that is called by its name
    ("def f(a, b=1):\n    return f(a, b=2) if a else b\n", "def f(a, c=1):\n    return f(a, b=2) if a else c\n"),
    # names that a statement spells as text
    ("def f(a):\n    global n\n    n = a\n    return n\n", "def f(a):\n    global m\n    n = a\n    return n\n"),
    ("def f(a):\n    import math as m\n    return m\n", "def f(a):\n    import math as k\n    return m\n"),
    # what shows its names
    ("def f(a):\n    b = 1\n    return locals()\n", "def f(a):\n    c = 1\n    return locals()\n"),
    ("def f(a):\n    b = 1\n    return f'{b=}'\n", "def f(a):\n    c = 1\n    return f'{c=}'\n"),
    ("def f(a):\n    try:\n        b\n    except NameError as e:\n        return str(e)\n    b = 1\n",
     "def f(a):\n    try:\n        c\n    except NameError as e:\n        return str(e)\n    c = 1\n"),
    # attributes and fields
    ("class P:\n    x = 1\ndef f(a):\n    return P.x\n", "class P:\n    y = 1\ndef f(a):\n    return P.x\n"),
]  # fmt: skip


def test_every_other_name_counts():
    assert [(one, other) for one, other in OTHER_NAMES if tree_id(one) == tree_id(other)] == []


@pytest.mark.parametrize(
    "annotation",
    ["(yield)", "(yield from x)", "(n := 1)", "[i for i in b]", "f(b)", "lambda: 1", "'\\ud800'", "x if y else z",
     "await b", "f'{x}'", "~x", "x + y", "not x", "*x", "A" + "[B" * 30 + "]" * 30],
)  # fmt: skip
def test_an_annotation_that_is_not_plain_counts(annotation):
    """Some do not compile, and none of them may decide whether the plain program does."""
    for text in (
        f"def f(a: {annotation}, b=1):\n    return a + b\n",
        f"def f(a, b=1) -> {annotation}:\n    return a + b\n",
    ):
        assert tree_id(text) != tree_id(PLAIN)


def test_a_plain_annotation_is_small():
    def annotated(n: int) -> str:
        return f"def f(a: {'A | ' * n}A, b=1):\n    return a + b\n"

    n_nodes = [len(list(ast.walk(ast.parse(annotated(n)).body[0].args.args[0].annotation))) for n in (12, 13)]
    assert n_nodes[0] == MAX_ANNOTATION < n_nodes[1]
    assert tree_id(annotated(12)) == tree_id(PLAIN) != tree_id(annotated(13))
    least, most = (f"def f(a: {2**64 - 1 + more}, b=1):\n    return a + b\n" for more in (0, 1))
    assert tree_id(least) == tree_id(PLAIN) != tree_id(most)


SCOPES = st.deferred(lambda: st.one_of(
    st.sampled_from(["a", "b", "c"]),
    st.tuples(SCOPES, SCOPES).map(lambda of: f"({of[0]}, {of[1]})"),
    st.tuples(st.sampled_from("abc"), SCOPES).map(lambda of: f"({of[0]} := {of[1]})"),
    st.tuples(SCOPES, st.sampled_from("abc"), SCOPES).map(lambda of: f"[{of[0]} for {of[1]} in {of[2]}]"),
    st.tuples(st.sampled_from("abc"), SCOPES, SCOPES).map(lambda of: f"(lambda {of[0]}={of[1]}: {of[2]})()"),
))  # fmt: skip
"""Expressions over three names, in scopes within scopes; some do not compile."""


@pytest.mark.slow
@given(
    SCOPES, st.permutations("abc"), st.permutations("abcdef").map(lambda names: dict(zip("abc", names, strict=False)))
)
@settings(max_examples=300, deadline=None)
def test_programs_that_are_merged_do_the_same(expression, statements, renamed):
    """Two spellings of one function, run beside the same globals: where their ids are equal, so are their outcomes."""
    body = "".join(f"    {name} = {expression}\n" for name in statements[:1]) + f"    return {expression}\n"
    one = f"def f(p):\n{body}"
    other = re.sub(r"\b[abc]\b", lambda found: renamed[found[0]], one)
    if tree_id(one) == tree_id(other):
        assert outcome_of(one) == outcome_of(other)


def outcome_of(text: str) -> str:
    names: dict[str, object] = {name: [number] for number, name in enumerate("abcdef")}
    try:
        exec(text, names)
        return repr(names["f"](None))
    except Exception as e:
        return type(e).__name__


def test_ids_are_the_same_under_every_python():
    """Of 350 programs, as Python 3.11, 3.12 and 3.13 gave them; f-strings, `match`, async, long and odd constants."""
    texts = json.loads(PROGRAMS.read_text())
    assert {text: tree_id(text) for text in texts} == texts


def test_a_tree_with_more_nodes_than_any_candidate_s_is_not_looked_at():
    # a function, its arguments and the one of them; a statement, a name and its context each
    least, most = (f"def f(x):\n    {'x;' * 6_665}{'pass;' * n}" for n in (2, 3))
    assert tree_id(least) == tree_id(least + " # a") != tree_id(most)
    assert tree_id(most) == f"x{program_id(most)}"


@pytest.mark.slow
def test_time_grows_as_the_text_does():
    worst = {
        "f-string in one line": "def f():\n    return f'" + "{x}" * 80_000 + "'\n",
        "f-string in lines": "def f():\n    return f'''" + "{x}\n" * 60_000 + "'''\n",
        "functions in a line each": "".join(f"def f{i}(a): return a\n" for i in range(10_000)),
        "except": "except " * 35_000,
        "names": "def f(p):\n" + "".join(f"    a{i} = p\n" for i in range(15_000)),
        "lambdas": "def f(p):\n    return " + "lambda a: (" * 80 + "a" + ")" * 80,
        "nested lists": "x = " + "[" * 90 + "y, " * 50_000 + "]" * 90,
        "numbers": "x = " + "1, " * 80_000,
    }
    for name, text in worst.items():
        began = time.process_time()
        tree_id(text)
        assert time.process_time() - began < 5, name
