"""Where sqlglot is not installed, what is in SQL is refused in one line, and Python goes on."""

import sys

import pytest

from difftrust_core.datasets.benchmarks import load_benchmark
from difftrust_core.exceptions import MissingPackage
from difftrust_core.languages import registry as language


@pytest.mark.parametrize("asked_for", ["Spider", "starter-sql"])
def test_queries_without_sqlglot(
    asked_for: str, monkeypatch: pytest.MonkeyPatch, tmp_path: pytest.TempPathFactory
) -> None:
    monkeypatch.setattr(language, "_loaded", {})
    monkeypatch.setitem(sys.modules, "sqlglot", None)
    for name in [name for name in sys.modules if name.startswith("difftrust.sql.")]:
        monkeypatch.delitem(sys.modules, name)
    with pytest.raises(MissingPackage) as refused:
        load_benchmark(asked_for, path=tmp_path if asked_for == "Spider" else None)
    assert str(refused.value) == (
        f"the benchmark {asked_for} needs sqlglot, which is not installed; run `pip install 'difftrust[sql]'`"
    )
    assert load_benchmark("starter")
