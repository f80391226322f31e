"""docs/check.md: each console block prints what it shows."""

from pathlib import Path

import pytest

from tests.support.console import Command, read_blocks, run_command

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "check.md"
BLOCKS = read_blocks(DOCUMENT)


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: f"line {block[0].line}")
def test_a_block_prints_what_it_shows(block: list[Command], tmp_path: Path) -> None:
    """Each in a folder of its own, after the files that earlier blocks show."""
    earlier = [command for each in BLOCKS[: BLOCKS.index(block)] for command in each if command.shown_file]
    wrong = [found for command in (*earlier, *block) if (found := run_command(command, tmp_path))]
    assert not wrong, "\n".join(wrong)
