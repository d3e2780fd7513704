"""A server that answers what a test wrote down, one line of the script after the other, over a real socket."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True)
class Said:
    """An answer. A dict is JSON, a text is what a proxy would send; None ends the connection without an answer."""

    status: int
    body: dict[str, Any] | list[Any] | str | None = field(default_factory=dict)
    headers: dict[str, str] = field(default_factory=dict)


def token(name: str = "t1", seconds: int = 3600) -> Said:
    """A login that goes well."""
    return Said(
        200,
        {
            "accessToken": name,
            "tokenType": "Bearer",
            "expiresIn": seconds,
            "environment": "testecf",
            "scopes": ["invoices:read"],
        },
    )


@dataclass(frozen=True)
class Heard:
    method: str
    path: str
    headers: dict[str, str]
    body: Any


@dataclass
class Scripted:
    base_url: str
    heard: list[Heard]
    left: list[Said]

    @property
    def calls(self) -> list[str]:
        return [f"{one.method} {one.path}" for one in self.heard]


@contextmanager
def scripted(*answers: Said) -> Iterator[Scripted]:
    """Serve the script for the block. Requests beyond it get 599, which no client accepts."""
    script: list[Said] = list(answers)
    heard: list[Heard] = []

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _answer(self) -> None:
            raw = self.rfile.read(int(self.headers.get("content-length", "0")))
            said = {name.lower(): value for name, value in self.headers.items()}
            heard.append(Heard(self.command, self.path, said, json.loads(raw) if raw else None))
            one = script.pop(0) if script else Said(599, "the script is at its end")
            if one.body is None:
                self.close_connection = True
                return
            body = (one.body if isinstance(one.body, str) else json.dumps(one.body)).encode()
            kind = "text/html" if isinstance(one.body, str) else "application/json"
            self.send_response(one.status)
            for name, value in {"Content-Type": kind, "Content-Length": str(len(body)), **one.headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        do_GET = do_POST = do_PUT = do_DELETE = _answer

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield Scripted(f"http://127.0.0.1:{server.server_port}/api/v1/fe", heard, script)
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
