"""Conversion of a request into the `Call` of a handler, for the fast path and for Quart."""

from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any
from urllib.parse import unquote

from hypercorn.typing import HTTPScope

from fe.http.calls import Call
from fe.http.errors import ApiError
from fe.http.messages import say

RawHeader = tuple[bytes, bytes]

#: Headers that must not be repeated, since a proxy may use another one of the two than we do. (h11 refuses a second
#: Host and a second, different Content-Length.)
SINGLE_HEADERS = frozenset({b"authorization", b"content-length", b"host"})


def refuse_repeated(headers: Iterable[RawHeader]) -> None:
    """Raise ApiError (400) when a header that may come only once comes again. Names are in lower case."""
    seen = set()
    for name, _ in headers:
        if name in SINGLE_HEADERS:
            if name in seen:
                raise ApiError(400, say("only-one-header", name=name.decode("ascii").title()))
            seen.add(name)


def make_scope(
    method: bytes, target: bytes, version: bytes, headers: list[RawHeader], client: tuple[str, int] | None
) -> Any:
    """The ASGI scope of a request."""
    path, _, query = target.partition(b"?")
    return {
        "type": "http",
        "http_version": version.decode(),
        "method": method.decode("ascii").upper(),
        "path": unquote(path.decode("ascii")),
        "raw_path": path,
        "query_string": query,
        "headers": headers,
        "client": client,
        "state": {},
    }


def make_call(scope: HTTPScope, params: Mapping[str, str], read_body: Callable[[], Awaitable[bytes]]) -> Call:
    """Make the call of a request; `params` are those in its path."""
    return Call(
        headers=_join(scope["headers"]),
        query_string=scope["query_string"],
        params=params,
        peer=(scope["client"] or ("",))[0],
        request_id=scope["state"]["request_id"],
        read_body=read_body,
    )


def note_trace(scope: HTTPScope, call: Call) -> None:
    """Put the trace id of a call into the scope, for the metrics."""
    if call.span.context is not None:
        scope["state"]["trace_id"] = call.span.trace_id


def _join(headers: Iterable[RawHeader]) -> dict[str, str]:
    """Headers by name; one that is repeated is a list, in its order (RFC 9110, section 5.3)."""
    joined: dict[str, str] = {}
    for name, value in headers:
        key, text = name.decode("latin-1"), value.decode("latin-1")
        joined[key] = f"{joined[key]}, {text}" if key in joined else text
    return joined
