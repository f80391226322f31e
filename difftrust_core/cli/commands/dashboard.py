"""`difftrust dashboard`: open a store in the browser."""

import os
import re
import sys
from typing import Annotated

import typer

from difftrust_core.cli.options import StoreOrResultsOption

commands = typer.Typer()


@commands.command(epilog="Example: difftrust dashboard --store DIR --read-only --base-path /difftrust")
def dashboard(
    store: StoreOrResultsOption = None,
    host: Annotated[str, typer.Option(help="Where to listen; beyond this machine it only reads.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=1, max=65535, help="Which port.")] = 8501,
    read_only: Annotated[bool, typer.Option(help="Execute nothing, ask no model, name no folder.")] = False,
    base_path: Annotated[str, typer.Option(help="Path below which a proxy serves it, such as /difftrust.")] = "",
) -> None:
    """Open a store in the browser: which models err, on which tasks, and on which inputs they disagree."""
    from difftrust_core.base.files import find_shipped
    from difftrust_core.exceptions import NoBenchmark

    app = find_shipped("dashboard/served.py", in_wheel="share/dashboard/served.py")
    if not app.is_file():
        raise NoBenchmark("the dashboard's files are not there; install difftrust again")
    if store is not None:
        os.environ["DIFFTRUST_STORE"] = str(store.absolute())
    if read_only:
        os.environ["DIFFTRUST_READONLY"] = "1"
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # many small products, which threads only slow down
    local = ["localhost", "127.0.0.1", "[::1]"] if host in ("localhost", "127.0.0.1", "::1") else []
    words = ["run", str(app), f"--server.address={host}", f"--server.port={port}"]
    words += [f"--server.allowedHosts={name}" for name in local]
    if base_path:
        words.append(f"--server.baseUrlPath={_base_path(base_path)}")
    sys.stdout.flush()
    os.execv(sys.executable, [sys.executable, str(app.with_name("serve.py")), *words])


def _base_path(path: str) -> str:
    """Return the path without slashes around it. Raises WrongUsage for what no path of a URL looks like."""
    from difftrust_core.exceptions import WrongUsage

    if not re.fullmatch(r"/?\w[\w.~-]*(/\w[\w.~-]*)*/?", path, re.ASCII):
        raise WrongUsage(f"--base-path is a path such as /difftrust, got {path!r}; use letters, digits, - and /")
    return path.strip("/")
