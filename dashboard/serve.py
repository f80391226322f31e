"""Start Streamlit, and load while it starts what the first page needs: `python dashboard/serve.py run app.py ...`."""

import atexit
import contextlib
import gc
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
    """Load the libraries and what the first page hands out; then take it all out of the sweeps for garbage.

    One follows each run, and would visit all libraries again: 160 ms.
    """
    from dashboard import handed_out
    from difftrust_core.exceptions import DifftrustError

    with contextlib.suppress(DifftrustError, OSError):  # the page says so
        handed_out.usual_cube()
    gc.collect()
    gc.freeze()
    atexit.register(gc.unfreeze)  # else libraries find leaks when the process ends


if __name__ == "__main__":
    main()
