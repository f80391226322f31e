"""The pages whose console blocks are run: each block prints what it shows."""

from pathlib import Path

import pytest

from tests.support.console import Command, matches, read_blocks, run_command

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGES = ("../README.md", "check.md", "own_tasks.md", "contests.md", "report.md", "diff.md", "ci.md")
BLOCKS = {
    f"{page}: {next(command.words for command in block if not command.shown_file)}": block
    for page in PAGES
    for block in read_blocks(DOCS / page)
}


@pytest.mark.slow
@pytest.mark.parametrize("block", BLOCKS.values(), ids=BLOCKS)
def test_a_block_prints_what_it_shows(block: list[Command], tmp_path: Path) -> None:
    """Each stands for itself, in a folder of its own."""
    wrong = [found for command in block if (found := run_command(command, tmp_path))]
    assert not wrong, "\n".join(wrong)


def test_three_dots_stand_for_anything_but_not_for_other_lines() -> None:
    assert matches("a ... c\n...\nend\n", "a b c\nx\ny\nend\n")
    assert matches("...\n", "")
    assert not matches("a\n", "a\nb\n")
    assert not matches("a ...\n", "b\n")
