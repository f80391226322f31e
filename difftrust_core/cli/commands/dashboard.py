"""`difftrust dashboard`: open a store in the browser."""

import os
import sys
from typing import Annotated

import typer

from difftrust_core.cli.options import StoreOrResultsOption

commands = typer.Typer()


@commands.command(epilog="Example: difftrust dashboard --store DIR")
def dashboard(
    store: StoreOrResultsOption = None,
    host: Annotated[str, typer.Option(help="Where to listen; beyond this machine it only reads.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=1, max=65535, help="Which port.")] = 8501,
) -> None:
    """Open a store in the browser: which models err, on which tasks, and on which inputs they disagree."""
    from difftrust_core.base.files import find_shipped
    from difftrust_core.exceptions import NoBenchmark

    app = find_shipped("dashboard/app.py", in_wheel="share/dashboard/app.py")
    if not app.is_file():
        raise NoBenchmark("the dashboard's files are not there; install difftrust again")
    if store is not None:
        os.environ["DIFFTRUST_STORE"] = str(store.absolute())
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # many small products, which threads only slow down
    local = ["localhost", "127.0.0.1", "[::1]"] if host in ("localhost", "127.0.0.1", "::1") else []
    words = ["run", str(app), f"--server.address={host}", f"--server.port={port}"]
    words += [f"--server.allowedHosts={name}" for name in local]
    sys.stdout.flush()
    os.execv(sys.executable, [sys.executable, "-m", "streamlit", *words])
