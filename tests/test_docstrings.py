"""The code's docstrings say what is there, in plain words."""

from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
FILES = sorted(path for folder in ("difftrust_core", "dashboard") for path in (ROOT / folder).rglob("*.py"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_docstring_ends_with_an_empty_phrase(path: Path) -> None:
    assert "nothing else" not in path.read_text(encoding="utf-8")
