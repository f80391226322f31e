"""What ARCHITECTURE.md and docstrings name in backticks exists; each question of ARCHITECTURE.md has one path."""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TEXT = (ROOT / "ARCHITECTURE.md").read_text()
ANSWERS = re.findall(r"^\| ([^|`]+\?) \| `([^`|]+)` \|$", TEXT, re.MULTILINE)
PATHS = re.findall(r"`((?:difftrust_core|difftrust|dashboard|tests|docs|data|notebooks)/[^`\s*<>{}…]*)`", TEXT)


def test_each_question_has_one_path_and_all_paths_exist() -> None:
    assert len(ANSWERS) >= 20
    assert len({question for question, _ in ANSWERS}) == len(ANSWERS)
    assert {path for path in (*PATHS, *(path for _, path in ANSWERS)) if not (ROOT / path).exists()} == set()


def test_docstrings_name_what_exists() -> None:
    """``module.name`` and ``room.module.name`` in docstrings lead to a module that holds the name."""
    texts = {
        path.relative_to(ROOT).with_suffix("").as_posix().replace("/", "."): path.read_text()
        for room in ("difftrust_core", "difftrust", "dashboard")
        for path in (ROOT / room).rglob("*.py")
    }
    found = {(name, module) for module, text in texts.items() for name in re.findall(_DOTTED, text)}
    assert len(found) > 40
    wrong = {
        (name, module)
        for name, module in found
        for head, _, last in [name.rpartition(".")]
        if not any(f".{each}".endswith(f".{name}") for each in texts)
        and not any(f".{each}".endswith(f".{head}") and re.search(rf"\b{last}\b", texts[each]) for each in texts)
        and not re.search(rf"(?<!`)\b{head}\b(?!\.{last}``)", texts[module])
        and name.partition(".")[0] not in sys.stdlib_module_names
    }
    assert {name for name, _ in wrong} == {"pytest.mark.parametrize", "utils.text.strip", "models.Line"}, (
        wrong
    )  # examples


_DOTTED = r"``([a-z_]{3,}(?:\.[a-z_]\w{2,})*\.(?!toml\b|json\b|parquet\b|py\b)[a-zA-Z_]\w{2,})(?:\(.*?\))?``"
"""Modules, variables and packages, not files and classes."""
