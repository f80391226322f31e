"""Notebooks executed in place, so that their bytes depend on nothing but the code and the data.

    python -m tests.notebooks [STEM ...]

Kept are outputs and the order of execution; left out what tells of the machine: times, paths, the kernel's version.
"""

import base64
import html
import os
import re
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from difftrust.figures.chart_file import packed_png
from difftrust.tables.page_table import MEASURES, explained

FOLDER = Path(__file__).resolve().parents[2] / "notebooks"
CELL_SECONDS = 120
_OFFLINE = """
import socket
def _refuse(self, address, *rest):
    if self.family in (socket.AF_INET, socket.AF_INET6) and address[0] not in ("127.0.0.1", "::1", "localhost"):
        raise OSError(f"a notebook must not use the network: {address}")
    return _connect(self, address, *rest)
_connect, socket.socket.connect = socket.socket.connect, _refuse
del socket
"""
_MEASURES = "measures"
"""Tag of the cell that explains the measures."""
_ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "DIFFTRUST_DATA"}
"""Without the benchmarks' and candidates' texts: none of them belongs into an output."""
_METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}


def read(path: Path) -> Any:
    """Return a notebook; what reads one takes a second to import."""
    import nbformat

    return nbformat.read(path, as_version=4)


def written(notebook: Any) -> str:
    """Return the text of a notebook's file."""
    import nbformat

    return f"{nbformat.writes(notebook, version=4)}\n"


def execute(path: Path, *, environment: dict[str, str] | None = None) -> Any:
    """Return the notebook with fresh outputs; the kernel cannot reach the network. Raises CellExecutionError."""
    from nbclient import NotebookClient

    notebook = read(path)
    with TemporaryDirectory(prefix="difftrust-") as sockets:
        client = NotebookClient(
            notebook,
            timeout=CELL_SECONDS,
            startup_timeout=CELL_SECONDS,
            kernel_name="python3",
            extra_arguments=["--HistoryManager.enabled=False", f"--IPKernelApp.exec_lines={_OFFLINE}"],
            resources={"metadata": {"path": str(path.parent)}},
        )
        kernel = client.create_kernel_manager()
        kernel.transport, kernel.ip = "ipc", f"{sockets}/kernel"  # no port is open
        client.execute(env=_ENVIRONMENT | (environment or {}))
    return tidy(notebook)


def tidy(notebook: Any) -> Any:
    """Return the notebook without what differs from run to run, its pictures packed."""
    import nbformat

    explain(notebook)
    notebook.metadata = nbformat.from_dict(_METADATA)
    notebook.nbformat, notebook.nbformat_minor = 4, 5
    for number, cell in enumerate(notebook.cells):
        cell.id = f"cell-{number:02}"
        cell.metadata = nbformat.from_dict({"tags": cell.metadata["tags"]} if "tags" in cell.metadata else {})
        for output in cell.get("outputs", []):
            data = output.get("data", {})
            data.pop("application/vnd.jupyter.widget-view+json", None)  # a live widget; its picture stands beside it
            if "image/png" in data:
                packed = packed_png(base64.b64decode(data["image/png"]))
                data["image/png"] = base64.b64encode(packed).decode()
    return notebook


def explain(notebook: Any) -> None:
    """Write what the measures of the tables mean into the cell after the first, as the code says it."""
    import nbformat

    notebook.cells = [cell for cell in notebook.cells if _MEASURES not in cell.metadata.get("tags", [])]
    shown = [
        output.get("data", {}).get("text/html", "") for cell in notebook.cells for output in cell.get("outputs", [])
    ]
    heads = [html.unescape(head) for text in shown for head in re.findall(r"<th[^>]*>([^<]*)</th>", text)]
    column_of = {measure.heading: column for column, measure in reversed(MEASURES.items())}
    if said := explained(column_of[head] for head in heads if head in column_of):
        cell = nbformat.v4.new_markdown_cell(said)
        cell.metadata = nbformat.from_dict({"tags": [_MEASURES]})
        notebook.cells.insert(1, cell)


def main(stems: list[str]) -> None:
    """Execute the notebooks of these names, or all."""
    for path in sorted(FOLDER.glob("*.ipynb")):
        if not stems or path.stem in stems:
            made = execute(path)
            path.write_text(written(made), encoding="utf-8")
            print(f"{path.name}: {path.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main(sys.argv[1:])
