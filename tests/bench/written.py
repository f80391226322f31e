"""The bench's tables in docs/check_bench.md, each between two marks of its own."""

from collections.abc import Sequence
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "check_bench.md"


def write_table(name: str, lines: Sequence[str]) -> None:
    """Put lines, as they are printed, in place of what stands between the marks of ``name``."""
    begins, ends = f"<!-- {name}: written by tests/bench -->\n", f"<!-- end of {name} -->\n"
    before, _, rest = PAGE.read_text().partition(begins)
    _, _, after = rest.partition(ends)
    block = "\n".join(line.rstrip() for line in lines).strip("\n")
    PAGE.write_text(f"{before}{begins}```text\n{block}\n```\n{ends}{after}")
