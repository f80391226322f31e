"""A package that is not installed is named with the command that installs it."""

import sys

import pytest

from difftrust_core.base.plugins import require
from difftrust_core.exceptions import MissingPackage


def test_what_is_missing_is_named_with_its_install_command() -> None:
    with pytest.raises(MissingPackage) as told:
        require("no_such_package.part", extra="url", purpose="a store at a URL")
    assert str(told.value) == (
        "a store at a URL needs no_such_package, which is not installed; run `pip install 'difftrust[url]'`"
    )
    assert told.value.exit_status == 2


def test_a_package_that_lacks_another_one_names_that_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "platformdirs", None)
    monkeypatch.delitem(sys.modules, "difftrust_core.store.mirror", raising=False)
    with pytest.raises(MissingPackage, match="needs platformdirs, which"):
        require("difftrust_core.store.mirror", extra="url", purpose="this")
