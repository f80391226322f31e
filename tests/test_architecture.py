"""ARCHITECTURE.md leads to what is there: every path in backticks exists, and 20 questions have one path each."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
TEXT = (ROOT / "ARCHITECTURE.md").read_text()
ANSWERS = re.findall(r"^\| ([^|`]+\?) \| `([^`|]+)` \|$", TEXT, re.MULTILINE)
PATHS = re.findall(r"`((?:difftrust_core|dashboard|tests|docs|data|notebooks)/[^`\s*<>{}…]*)`", TEXT)


def test_twenty_questions_have_one_path_each() -> None:
    assert len(ANSWERS) == 20
    assert len({question for question, _ in ANSWERS}) == 20


@pytest.mark.parametrize("path", sorted({*PATHS, *(path for _, path in ANSWERS)}))
def test_the_path_exists(path: str) -> None:
    assert (ROOT / path).exists()
