"""ARCHITECTURE.md leads to what is there: every path in backticks exists, and each question has one path."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
TEXT = (ROOT / "ARCHITECTURE.md").read_text()
ANSWERS = re.findall(r"^\| ([^|`]+\?) \| `([^`|]+)` \|$", TEXT, re.MULTILINE)
PATHS = re.findall(r"`((?:difftrust_core|difftrust|dashboard|tests|docs|data|notebooks)/[^`\s*<>{}…]*)`", TEXT)


def test_each_question_has_one_path() -> None:
    assert len(ANSWERS) >= 20
    assert len({question for question, _ in ANSWERS}) == len(ANSWERS)


@pytest.mark.parametrize("path", sorted({*PATHS, *(path for _, path in ANSWERS)}))
def test_the_path_exists(path: str) -> None:
    assert (ROOT / path).exists()
