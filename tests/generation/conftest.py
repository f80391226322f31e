"""A new store, and what the tests of replies from a server share."""

from pathlib import Path

import pytest

from difftrust_core.store.store import Store


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store.create(tmp_path / "store")
