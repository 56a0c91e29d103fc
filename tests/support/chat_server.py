"""A real local HTTP server that answers like chat completions, or as badly as it is told to.

    with ChatServer() as server:
        server.will(completion("hello"), Answer(status=429, headers={"retry-after": "1"}))
        ...  # talk to server.base_url; see server.requests

Answers are used in order; once they are used up, `server.otherwise` answers each request.
"""

from __future__ import annotations

import json
import threading
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True)
class Answer:
    """What one request gets."""

    body: Any = ""
    """A dict is sent as JSON, a string as HTML."""
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    cut: bool = False
    """Close the connection in the middle of the body."""
    drip: bool = False
    """Send a byte now and then, for as long as the client listens."""
    hang: bool = False
    """Do not answer until the server is closed or released."""


@dataclass(frozen=True)
class Request:
    """One request as it arrived."""

    method: str
    path: str
    headers: dict[str, str]
    body: dict[str, Any]

    @property
    def messages(self) -> list[dict[str, str]]:
        return self.body["messages"]


Respond = Callable[[Request], Answer]


def completion(
    text: str | None = "ok", *, finish_reason: str = "stop", usage: Any = ..., **fields: Any
) -> Answer:
    """Return an ordinary completion; `usage=None` leaves the usage out."""
    if usage is ...:
        usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
    message = {"role": "assistant", "content": text}
    choice = {"index": 0, "message": message, "finish_reason": finish_reason}
    return Answer(
        {
            "id": "chatcmpl-1",
            "object": "chat.completion",
            "created": 0,
            "model": "served-model",
            "choices": [choice],
            "usage": usage,
            **fields,
        }
    )


def refusal(status: int, message: str, *, headers: dict[str, str] | None = None, **error: Any):
    """Return an error in OpenAI's form."""
    return Answer({"error": {"message": message, **error}}, status, headers or {})


class ChatServer:
    """Use as a context manager; `base_url` is what a models.toml would hold."""

    def __init__(self, otherwise: Respond | None = None) -> None:
        self.otherwise: Respond = otherwise or (lambda request: completion())
        self.requests: list[Request] = []
        self.most_in_flight = 0
        self._answers: deque[Answer | Respond] = deque()
        self._in_flight = 0
        self._lock = threading.Lock()
        self.released = threading.Event()
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._thread = threading.Thread(
            target=self._http.serve_forever, kwargs={"poll_interval": 0.01}
        )

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self._http.server_port}/v1"

    @property
    def completions(self) -> list[Request]:
        """Requests for completions, without those for the list of models."""
        return [request for request in self.requests if request.path.endswith("/chat/completions")]

    @property
    def in_flight(self) -> int:
        return self._in_flight

    def will(self, *answers: Answer | Respond) -> None:
        """Add answers to be used in order."""
        self._answers.extend(answers)

    def release(self) -> None:
        """Let hanging requests go on."""
        self.released.set()

    def __enter__(self) -> ChatServer:
        self._thread.start()
        return self

    def __exit__(self, *exc: object) -> None:
        self.release()
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()

    def answer(self, request: Request) -> Answer:
        """Note a request and choose its answer; waits where the answer hangs."""
        with self._lock:
            self.requests.append(request)
            self._in_flight += 1
            self.most_in_flight = max(self.most_in_flight, self._in_flight)
            is_completion = request.path.endswith("/chat/completions")
            chosen = self._answers.popleft() if self._answers and is_completion else self.otherwise
        answer = chosen if isinstance(chosen, Answer) else chosen(request)
        if answer.hang:
            self.released.wait()
        return answer

    def left(self) -> None:
        """Note that a request is answered."""
        with self._lock:
            self._in_flight -= 1


def _handler(server: ChatServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self._serve()

        def do_GET(self) -> None:
            self._serve()

        def _serve(self) -> None:
            length = int(self.headers.get("content-length") or 0)
            body = json.loads(self.rfile.read(length) or b"{}")
            headers = {name.lower(): value for name, value in self.headers.items()}
            answer = server.answer(Request(self.command, self.path, headers, body))
            server.left()  # before the bytes go out: the client's next request may come at once
            # The client may have given up waiting, which is what some tests are about.
            with suppress(BrokenPipeError, ConnectionResetError):
                self._send(answer)

        def _send(self, answer: Answer) -> None:
            is_json = isinstance(answer.body, dict | list)
            body = (json.dumps(answer.body) if is_json else str(answer.body)).encode()
            self.send_response(answer.status)
            kind = "application/json" if is_json else "text/html"
            for name, value in {"content-type": kind, **answer.headers}.items():
                self.send_header(name, value)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            if answer.drip:
                self._drip()
            self.wfile.write(body[: len(body) // 2] if answer.cut else body)

        def _drip(self) -> None:
            while not server.released.wait(0.02):
                self.wfile.write(b" ")

        def log_message(self, *args: object) -> None:
            """Keep test output clean."""

    return Handler
