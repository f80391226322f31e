"""A notebook of one cell in JupyterLab, as a user opens it."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.support.dashboard_server import answers, free_port
from tests.support.waiting import until


@contextmanager
def lab(place: Path, code: str) -> Iterator[tuple[str, Callable[[Any], None]]]:
    """Serve a notebook with ``code`` from a folder; yield its address, and what runs the cell on its page."""
    import nbformat  # takes a second, which every process that collects the tests would spend

    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(code)])
    notebook.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
    nbformat.write(notebook, place / "explore.ipynb")
    port = free_port()
    words = f"--no-browser --allow-root --port={port} --IdentityProvider.token= --ServerApp.root_dir={place}".split()
    words += ["--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate", "--LabApp.news_url="]
    own = {name: value for name, value in os.environ.items() if not name.startswith("DIFFTRUST_")}
    served = subprocess.Popen(
        [sys.executable, "-m", "jupyterlab", *words], env=own | {"HOME": str(place)}, stderr=subprocess.DEVNULL
    )
    try:
        until(lambda: answers(f"http://127.0.0.1:{port}/api"), 120, every=0.25)
        yield f"http://127.0.0.1:{port}/lab/tree/explore.ipynb", _run
    finally:
        served.terminate()
        served.wait(30)


def _run(page: Any) -> None:
    page.get_by_text("| Idle").first.wait_for()  # before that, a cell that is run may be forgotten
    page.locator(".jp-Notebook .cm-content").first.click()
    page.keyboard.press("Shift+Enter")
    page.get_by_test_id("explorer").wait_for()
