"""Start Streamlit, and load while it starts what the first page needs: `python dashboard/serve.py run app.py ...`."""

import contextlib
import sys
import threading
from pathlib import Path

ROOT = str(Path(__file__).resolve().parents[1])


def main() -> None:
    """Serve until the process is told to end; the arguments are Streamlit's."""
    sys.path[:1] = [ROOT]  # in place of this folder, whose names are not to be importable alone
    threading.Thread(target=_load, name="first page", daemon=True).start()
    from streamlit.web.cli import main as serve

    serve(prog_name="difftrust dashboard")


def _load() -> None:
    """Load the libraries and the first page's code, and compute the numbers that it shows."""
    import pandas  # noqa: F401  (whole, before any page: while another session is loading it, Altair trips over it)

    from dashboard import data
    from dashboard.views import explore
    from difftrust_core.exceptions import DifftrustError

    with contextlib.suppress(DifftrustError, OSError):  # the page says so
        chosen = data.usual_choice(data.open_source(next(iter(data.stores().values()))))
        explore.steps(chosen)


if __name__ == "__main__":
    main()
