"""A real S3 on 127.0.0.1 (moto's) that hangs up for good when told to, and comes back with what it has."""

import socket
import threading
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from types import TracebackType
from typing import Any, Self

BUCKET = "bucket"
SECRET = "a-secret-that-no-file-may-hold"


class S3:
    """The server; ``left``: changes (PUT, DELETE) that are still taken before every request is hung up on.

    ``asked``: requests by method.
    """

    def __init__(self) -> None:
        from moto.moto_server.werkzeug_app import DomainDispatcherApplication, MotoRequestHandler, create_backend_app
        from werkzeug.serving import make_server

        self._real: Any = DomainDispatcherApplication(create_backend_app)
        self._quiet = type("Quiet", (MotoRequestHandler,), {"log_request": lambda *_: None})
        self._server = make_server("127.0.0.1", 0, self._app, threaded=True, request_handler=self._quiet)
        self.left: int | None = None
        self.asked: Counter[str] = Counter()
        self._lock = threading.Lock()
        self.environment = {
            "AWS_ENDPOINT_URL": f"http://127.0.0.1:{self._server.server_port}",
            "AWS_ACCESS_KEY_ID": "key",
            "AWS_SECRET_ACCESS_KEY": SECRET,
            "AWS_DEFAULT_REGION": "us-east-1",
            "AWS_MAX_ATTEMPTS": "1",  # of botocore, within those of s3fs
        }

    def __enter__(self) -> Self:
        import s3fs
        from moto.backends import get_backend

        get_backend("s3").reset()  # moto keeps its buckets in the process, whichever server made them
        s3fs.S3FileSystem.clear_instance_cache()  # and s3fs its connections, whatever the environment says since
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._server.shutdown()
        self._server.server_close()

    def _app(self, environ: dict[str, Any], start: Callable[..., Any]) -> Iterable[bytes]:
        with self._lock:
            self.asked[environ["REQUEST_METHOD"]] += 1
            if self.left and environ["REQUEST_METHOD"] in ("PUT", "DELETE"):
                self.left -= 1
            elif self.left == 0:
                environ["werkzeug.socket"].shutdown(socket.SHUT_RDWR)
                raise ConnectionAbortedError
        found: Iterable[bytes] = self._real(environ, start)
        return found


def fetch_all(prefix: str, folder: Path) -> Path:
    """Bring every object below bucket/prefix to a folder, without any of our own code."""
    import s3fs

    system = s3fs.S3FileSystem(skip_instance_cache=True, use_listings_cache=False)
    for path in system.find(f"{BUCKET}/{prefix}"):
        target = folder / path.removeprefix(f"{BUCKET}/{prefix}/")
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(system.cat_file(path))
    return folder


def put_all(folder: Path, prefix: str) -> None:
    """Put every file of a folder below bucket/prefix, without any of our own code."""
    import s3fs

    system = s3fs.S3FileSystem(skip_instance_cache=True, use_listings_cache=False)
    for path in sorted(folder.rglob("*")):
        if path.is_file() and path.name not in (".lock", ".workers"):
            system.pipe_file(f"{BUCKET}/{prefix}/{path.relative_to(folder).as_posix()}", path.read_bytes())
