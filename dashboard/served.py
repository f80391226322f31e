"""The dashboard as a web application: no other site may show it in a frame, or read it under a name of its own.

Streamlit's own files, some hundred for each page that is opened, are read once: they were half of a session's time.
"""

from functools import cache
from mimetypes import guess_type
from pathlib import Path
from typing import Any

import streamlit as st
from starlette.datastructures import Headers
from starlette.middleware import Middleware
from starlette.responses import PlainTextResponse, Response
from streamlit.starlette import App
from streamlit.web.server.starlette.starlette_websocket import is_host_allowed

from dashboard import first_page, handed_out

HEADERS = ((b"x-frame-options", b"SAMEORIGIN"), (b"content-security-policy", b"frame-ancestors 'self'"))
_FOLDER = Path(st.__file__).with_name("static")
_KEPT = {"Cache-Control": "public, immutable, max-age=31536000"}
"""As Streamlit has it: a file of another content has another name."""


class _Outermost:
    """Adds the headers to every answer, and answers for Streamlit's files."""

    def __init__(self, app: Any):
        self._app = app
        self._files = {
            f"{first_page.base_path()}/{path.relative_to(_FOLDER).as_posix()}": path
            for path in _FOLDER.glob("static/*/*")
        }
        self._read = cache(Path.read_bytes)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        async def sent(message: Any) -> None:
            if message["type"] == "http.response.start":
                message = {**message, "headers": [*message.get("headers", ()), *HEADERS]}
            await send(message)

        file = self._files.get(scope["path"]) if scope.get("method") == "GET" else None
        app = Response(self._read(file), media_type=guess_type(file)[0], headers=_KEPT) if file else self._app
        # Streamlit asks this of sockets alone: a site whose name was made to lead here could read all the rest.
        if scope["type"] == "http" and not is_host_allowed(Headers(scope=scope).get("host")):
            app = PlainTextResponse("expected a name of this machine in the address, such as localhost", 403)
        await app(scope, receive, sent)


app = App(
    Path(__file__).with_name("app.py"),
    middleware=[Middleware(_Outermost)],
    routes=[*first_page.routes(), *handed_out.routes(first_page.base_path())],
)
