"""Write docs/table_4.md's figures and the README's first table anew, from the shipped results; run by make docs."""

from pathlib import Path

import polars as pl

import difftrust_core as dt
from difftrust_core.datasets.published import find_results
from difftrust_core.report.names import with_display_names

ROOT = Path(__file__).parents[2]
TARGET, README = ROOT / "docs" / "table_4.md", ROOT / "README.md"
SHOWN = (
    *("claude_sonnet_4", "claude_opus_4", "deepseek_r1", "gemini_2_5_pro"),
    *("gpt_4o", "gpt_4", "gpt_3_5", "llama_3_1_8b_instruct"),
)
"""The models of the README's table."""


def main() -> None:
    """Write the table and its notes between the first line that begins with | and the causes of differences."""
    text = TARGET.read_text()
    begin, end = text.index("| benchmark |"), text.index("\nDifferences: ")
    TARGET.write_text(text[:begin] + table_4() + text[end:])
    text = README.read_text()
    begin, end = text.index("| HumanEval, 10 programs"), text.index("\nFrom `difftrust table 4")
    README.write_text(text[:begin] + readme_table() + text[end:])


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


def readme_table() -> str:
    """Return the README's table of some models on HumanEval, in Markdown."""
    frame = dt.open(find_results()).table(4, published=True).frame.filter(benchmark="HumanEval")
    chosen = with_display_names(frame.filter(pl.col("model").is_in(SHOWN)).sort("mean_error"))
    lines = [
        "| HumanEval, 10 programs and 1,000 inputs per task | mean error | mean incoherence | "
        "erroneous tasks found without a reference |",
        "|---|---:|---:|---:|",
        *(
            f"| {model} | {error:.1%} | {incoherence:.1%} | {rate:.0%} |".replace("%", " %")
            for model, error, incoherence, rate in chosen.select(
                "model", "mean_error", "mean_incoherence", "detection_rate"
            ).iter_rows()
        ),
    ]
    return "\n".join([*lines, ""])


def _cell(value: object) -> str:
    return "" if value is None else f"{value:.4f}" if isinstance(value, float) else str(value)


if __name__ == "__main__":
    main()
