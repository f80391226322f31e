"""The dashboard as a web application: no other site may show it in a frame, where clicks could be stolen."""

from pathlib import Path
from typing import Any

from starlette.middleware import Middleware
from streamlit.starlette import App

from dashboard import first_page, handed_out

HEADERS = ((b"x-frame-options", b"SAMEORIGIN"), (b"content-security-policy", b"frame-ancestors 'self'"))


class _Unframed:
    """Adds the headers to every answer."""

    def __init__(self, app: Any):
        self._app = app

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        async def sent(message: Any) -> None:
            if message["type"] == "http.response.start":
                message = {**message, "headers": [*message.get("headers", ()), *HEADERS]}
            await send(message)

        await self._app(scope, receive, sent)


app = App(
    Path(__file__).with_name("app.py"),
    middleware=[Middleware(_Unframed)],
    routes=[*first_page.routes(), *handed_out.routes(first_page.base_path())],
)
