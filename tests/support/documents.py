"""Write the figures of docs/table_4.md anew, from the shipped results; run by make docs."""

from pathlib import Path

import polars as pl

import difftrust_core as dt
from difftrust_core.datasets.published import find_results
from difftrust_core.report.names import with_display_names

TARGET = Path(__file__).parents[2] / "docs" / "table_4.md"


def main() -> None:
    """Write the table and its notes between the first line that begins with | and the causes of differences."""
    text = TARGET.read_text()
    begin, end = text.index("| benchmark |"), text.index("\nDifferences: ")
    TARGET.write_text(text[:begin] + table_4() + text[end:])


def table_4() -> str:
    """Return Table 4 beside the published one, and its notes, in Markdown."""
    made = dt.open(find_results()).table(4, published=True)
    frame = with_display_names(made.frame)
    head = ["published" if name.startswith("published_") else name.replace("_", " ") for name in frame.columns]
    rule = ["---" if kind == pl.String else "---:" for kind in frame.schema.values()]
    rows = [[_cell(value) for value in row] for row in frame.iter_rows()]
    lines = [f"| {' | '.join(line)} |" for line in (head, *rows)]
    lines.insert(1, f"|{'|'.join(rule)}|")
    return "\n".join([*lines, "", *[f"- {note}" for note in made.notes], ""])


def _cell(value: object) -> str:
    return "" if value is None else f"{value:.4f}" if isinstance(value, float) else str(value)


if __name__ == "__main__":
    main()
