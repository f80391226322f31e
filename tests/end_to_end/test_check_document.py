"""docs/check.md: each console block prints what it shows."""

from pathlib import Path

import pytest

from tests.support.console import Command, read_blocks, run_command

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "check.md"
BLOCKS = read_blocks(DOCUMENT)
QUICK = 5
"""So many blocks run in the quick suite, the others in `make test-all`."""


@pytest.mark.parametrize(
    "block",
    [pytest.param(b, marks=pytest.mark.slow) if i >= QUICK else b for i, b in enumerate(BLOCKS)],
    ids=[next(command.words for command in b if not command.shown_file) for b in BLOCKS],
)
def test_a_block_prints_what_it_shows(block: list[Command], tmp_path: Path) -> None:
    """Each stands for itself, in a folder of its own."""
    wrong = [found for command in block if (found := run_command(command, tmp_path))]
    assert not wrong, "\n".join(wrong)
