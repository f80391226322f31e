"""An OpenAI-compatible server on 127.0.0.1 that answers as told: well, slowly, or as broken providers do."""

import json
import re
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType
from typing import Any, Self

_ASKED_FOR = re.compile(r"^Name: (\w+)$", re.MULTILINE)
PROMPT_TOKENS, COMPLETION_TOKENS = 120, 40
BAD = ("429", "500", "503", "html", "broken", "no_choices", "cut", "hang up")
"""Ways to answer that are no reply."""


@dataclass(frozen=True, kw_only=True)
class Asked:
    """One request as it reached the server, and how it was answered."""

    serial: int
    how: str
    at: float
    prompt: str
    body: dict[str, Any]
    authorization: str


@dataclass
class Server:
    """The server; ``behaviour`` maps the number of a request, from 0, and its prompt to how it is answered."""

    behaviour: Callable[[int, str], str] = lambda serial, prompt: "good"
    retry_after: str = "0.2"
    text: Callable[[int], str] | None = None
    """The reply to the request of a number; None: the function asked for, which returns that number."""
    asked: list[Asked] = field(default_factory=list)
    most_at_once: int = 0
    is_alive: bool = True
    at_once: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _http: Any = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.stop()

    def start(self, port: int = 0) -> None:
        """Listen, on a free port unless it is named."""
        self._http = _Http(("127.0.0.1", port), _handler(self))
        threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()

    def die_and_come_back(self, seconds: float) -> None:
        """Refuse every request for a while: connections that are open are hung up, new ones are refused."""
        port, self.is_alive = self.port, False
        self.stop()
        time.sleep(seconds)
        self.is_alive = True
        self.start(port)

    def stop(self) -> None:
        """Stop listening; what is asked after that is refused."""
        self._http.shutdown()
        self._http.server_close()

    @property
    def port(self) -> int:
        return int(self._http.server_address[1])

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def said(self, asked: Asked) -> str:
        """Return the text of the reply."""
        if self.text is not None:
            return self.text(asked.serial)
        name = _ASKED_FOR.search(asked.prompt)
        code = f"def {name[1] if name else 'f'}(x):\n    return {asked.serial}\n"
        return f"Here it is:\n\n```python\n{code}```\n"

    def answered(self) -> Counter[str]:
        return Counter(asked.how for asked in self.asked)

    def cost(self, prompt: float, completion: float) -> float:
        """Return the dollars of one reply at these prices per million tokens."""
        return (PROMPT_TOKENS * prompt + COMPLETION_TOKENS * completion) / 1e6

    def arrive(self, body: dict[str, Any], authorization: str) -> Asked:
        prompt = body["messages"][0]["content"]
        with self._lock:
            serial = len(self.asked)
            how = self.behaviour(serial, prompt) if self.is_alive else "hang up"
            said = {"prompt": prompt, "body": body, "authorization": authorization}
            asked = Asked(serial=serial, how=how, at=time.monotonic(), **said)
            self.asked.append(asked)
            self.at_once += 1
            self.most_at_once = max(self.most_at_once, self.at_once)
        return asked

    def leave(self) -> None:
        with self._lock:
            self.at_once -= 1


def kept_lines(root: Path) -> list[dict[str, Any]]:
    """Return the replies that a store keeps, as they are written."""
    return [json.loads(line) for path in root.rglob("replies.jsonl") for line in path.read_text().splitlines()]


class _Http(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing: clients are killed here on purpose."""


def _handler(server: Server) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            asked = server.arrive(body, self.headers.get("Authorization", ""))
            try:
                self.reply(asked)
            finally:
                server.leave()

        def reply(self, asked: Asked) -> None:
            how = asked.how
            if how == "hang up":
                self.close_connection = True
                return
            if how.startswith("slow"):
                time.sleep(float(how.removeprefix("slow") or 0.3))
            if how.isdigit():
                headers = {"Retry-After": server.retry_after} if how in ("429", "503") else {}
                shown = {"error": {"message": f"no: {how}, your key was {asked.authorization}", "code": None}}
                self.send(int(how), json.dumps(shown).encode(), headers)
            elif how == "html":
                self.send(200, b"<html><body>Bad gateway</body></html>", {"Content-Type": "text/html"})
            elif how == "broken":
                self.send(200, b'{"id": "x", "choices": [{"mess', {})
            elif how == "cut":
                whole = json.dumps(completion(server, asked)).encode()
                self.send(200, whole[: len(whole) // 2], {"Content-Length": str(len(whole))})
                self.close_connection = True
            else:
                self.send(200, json.dumps(completion(server, asked)).encode(), {})

        def send(self, status: int, body: bytes, headers: dict[str, str]) -> None:
            self.send_response(status)
            plain = {"Content-Type": "application/json", "Content-Length": str(len(body))}
            for name, value in (plain | headers).items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None:
            """Say nothing."""

    return Handler


def completion(server: Server, asked: Asked) -> dict[str, Any]:
    """Return a whole good reply, or one that lacks what ``how`` says."""
    message = {"role": "assistant", "content": server.said(asked)}
    choice = {"index": 0, "message": message, "finish_reason": "length" if asked.how == "length" else "stop"}
    spent = {"prompt_tokens": PROMPT_TOKENS, "completion_tokens": COMPLETION_TOKENS}
    whole = {
        "id": f"reply-{asked.serial}",
        "object": "chat.completion",
        "created": 1_700_000_000,
        "model": f"{asked.body['model']}-served",
        "choices": [] if asked.how == "no_choices" else [choice],
    }
    usage = {"usage": {**spent, "total_tokens": sum(spent.values())}}
    return whole if asked.how == "no_usage" else whole | usage
