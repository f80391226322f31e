"""The dashboard as a web application: no other site may show it in a frame, where clicks could be stolen."""

from pathlib import Path
from typing import Any

import streamlit as st
from starlette.middleware import Middleware
from streamlit.starlette import App

from dashboard.handed_out import routes

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


_BASE = st.get_option("server.baseUrlPath").strip("/")
app = App(
    Path(__file__).with_name("app.py"),
    middleware=[Middleware(_Unframed)],
    routes=routes(f"/{_BASE}" if _BASE else ""),
)
