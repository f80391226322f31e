"""Commands that open a page in the browser: dashboard."""

import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from difftrust_core.cli.options import store_folder

commands = typer.Typer()


@commands.command(epilog="Example: difftrust dashboard --store DIR")
def dashboard(
    store: Annotated[
        Path | None,
        typer.Option(
            "--store",
            help="The folder or URL of the store; else the results that come along.",
            metavar="DIR",
            parser=store_folder,
        ),
    ] = None,
    host: Annotated[str, typer.Option(help="Where to listen; beyond this machine it only reads.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=1, max=65535, help="Which port.")] = 8501,
) -> None:
    """Open a store in the browser: which models err, on which tasks, on which inputs they disagree."""
    from difftrust_core.exceptions import NoBenchmark

    app = _find_app()
    if app is None:
        raise NoBenchmark("the dashboard's files are not there; install difftrust again")
    if store is not None:
        os.environ["DIFFTRUST_STORE"] = str(store.absolute())
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # many small products, which threads only slow down
    local = ["localhost", "127.0.0.1", "[::1]"] if host in ("localhost", "127.0.0.1", "::1") else []
    words = ["run", str(app), f"--server.address={host}", f"--server.port={port}"]
    words += [f"--server.allowedHosts={name}" for name in local]
    sys.stdout.flush()
    os.execv(sys.executable, [sys.executable, "-m", "streamlit", *words])


def _find_app() -> Path | None:
    """Return the app: in a wheel inside the package, in a checkout beside it."""
    import difftrust_core

    package = Path(difftrust_core.__file__).parent
    places = (package / "share" / "dashboard" / "app.py", package.parent / "dashboard" / "app.py")
    return next((path for path in places if path.is_file()), None)
