"""One request and its answer, as values: what ASGI hands over, and what a handler gives back."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl

#: More than any document of the format: 1,000 items of a kilobyte.
MAX_BODY = 10 * 1024 * 1024

#: On every answer of every port, so that nobody takes this for the authority.
SIMULATOR_HEADER = (b"x-authority-simulator", b"not the tax authority")

Receive = Callable[[], Awaitable[Mapping[str, Any]]]
Send = Callable[[dict[str, Any]], Awaitable[None]]


class RequestTooLarge(ValueError):
    """The body is larger than MAX_BODY."""


@dataclass(frozen=True, slots=True)
class RawRequest:
    """A whole request. Header and parameter names are in lower case; of a repeated name the last counts."""

    method: str
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    body: bytes

    @property
    def wants_xml(self) -> bool:
        """Whether `Accept` selects XML: it names XML, and JSON not."""
        accept = self.headers.get("accept", "").lower()
        return "xml" in accept and "json" not in accept

    @property
    def base(self) -> str:
        """The URL this server was called under."""
        return f"http://{self.headers.get('host', 'localhost')}"


@dataclass(frozen=True, slots=True)
class RawAnswer:
    """An HTTP answer, ready to be written."""

    status: int
    body: bytes = b""
    content_type: str = "text/plain; charset=utf-8"
    headers: tuple[tuple[str, str], ...] = ()


async def read_request(scope: Mapping[str, Any], receive: Receive) -> RawRequest | None:
    """Read a request to its end; None when the client left before. Raises RequestTooLarge once the body is read."""
    chunks = []
    size = 0
    while True:
        message = await receive()
        if message["type"] != "http.request":
            return None
        chunk = message.get("body", b"")
        size += len(chunk)
        if size <= MAX_BODY:
            chunks.append(chunk)
        if not message.get("more_body", False):
            break
    if size > MAX_BODY:
        raise RequestTooLarge
    query = scope["query_string"].decode("ascii", "replace")
    return RawRequest(
        method=scope["method"],
        path=scope["path"],
        query={name.lower(): value for name, value in parse_qsl(query, keep_blank_values=True)},
        headers={name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]},
        body=b"".join(chunks),
    )


async def write_answer(answer: RawAnswer, send: Send) -> None:
    """Write `answer`; what became of it on the way to the client cannot be known."""
    headers = [
        (b"content-type", answer.content_type.encode("latin-1")),
        (b"content-length", str(len(answer.body)).encode()),
        SIMULATOR_HEADER,
        *((name.encode("latin-1"), value.encode("latin-1")) for name, value in answer.headers),
    ]
    await send({"type": "http.response.start", "status": answer.status, "headers": headers})
    await send({"type": "http.response.body", "body": answer.body})
