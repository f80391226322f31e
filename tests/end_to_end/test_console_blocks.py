"""The pages whose console blocks are run: each block prints what it shows."""

from pathlib import Path

import pytest

from tests.support.console import Command, matches, read_blocks, run_command

DOCS = Path(__file__).resolve().parents[2] / "docs"
QUICK = {
    **{"../README.md": 1, "check.md": 5, "own_tasks.md": 9, "contests.md": 1},
    **{"report.md": 3, "diff.md": 2, "ci.md": 1},
}
"""So many blocks of a page run in the quick suite, the others in `make test-all`."""
BLOCKS = [
    pytest.param(
        block,
        id=f"{page}: {next(command.words for command in block if not command.shown_file)}",
        marks=pytest.mark.slow if number >= quick else (),
    )
    for page, quick in QUICK.items()
    for number, block in enumerate(read_blocks(DOCS / page))
]


@pytest.mark.slow
@pytest.mark.parametrize("block", BLOCKS)
def test_a_block_prints_what_it_shows(block: list[Command], tmp_path: Path) -> None:
    """Each stands for itself, in a folder of its own."""
    wrong = [found for command in block if (found := run_command(command, tmp_path))]
    assert not wrong, "\n".join(wrong)


def test_three_dots_stand_for_anything_but_not_for_other_lines() -> None:
    assert matches("a ... c\n...\nend\n", "a b c\nx\ny\nend\n")
    assert matches("...\n", "")
    assert not matches("a\n", "a\nb\n")
    assert not matches("a ...\n", "b\n")
