"""Values spelled with the names of a module: arguments as they are, results only where == tells they are equal."""

import ast
from contextlib import nullcontext

import pytest

from difftrust.check.pin import parse_pin
from difftrust.source.values import Names, NotSpelled

MODULE = Names(
    ast.parse(
        "import collections\nimport datetime\nimport numpy as np\nimport pandas\nimport types\n"
        "class Account:\n    def __init__(self, balance): ...\n"
        "class Coin:\n    def __eq__(self, other): ...\n"
    )
)


@pytest.mark.parametrize(
    ("text", "spelled"),
    [
        ("date(2020, 1, 1)", "datetime.date(2020, 1, 1)"),
        ("[Coin(1)]", "[Coin(1)]"),
        ("np.float64(1.5)", "np.float64(1.5)"),
        ("{'a': (1,)}", "{'a': (1,)}"),
        *((text, None) for text in ("Account(1)", "[{'a': Account(1)}]", "np.array([1])")),
        ("Counter({'a': 1})", "collections.Counter({'a': 1})"),
        *((text, None) for text in ("SimpleNamespace(a=1)", "MappingProxyType({})", "ChainMap({})", "defaultdict({})")),
        *((text, None) for text in ("pd.DataFrame({'a': [1]})", "Decimal('1')", "(nan,)")),
    ],
)
def test_a_result_is_spelled_if_it_has_a_name_and_equals_something(text: str, spelled: str | None) -> None:
    with pytest.raises(NotSpelled) if spelled is None else nullcontext():
        assert MODULE.spelled_result(text) == spelled


def test_an_argument_needs_no_equality() -> None:
    assert MODULE.spelled("(Account(1), np.array([1]))") == "(Account(1), np.array([1]))"
    assert MODULE.spelled("pd.Series([1])") == "pandas.Series([1])"
    pin = parse_pin("Account(1).take(np.array([2])) == 3", "Account.take").named(MODULE)
    assert pin.lines == [">>> Account(1).take(np.array([2]))", "3"]
