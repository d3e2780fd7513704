"""Answers made outside the application, by the guard and by the connection itself; they look like all others."""

import json
import secrets
from http import HTTPStatus

RawHeaders = list[tuple[bytes, bytes]]

_PHRASES = {
    400: "Bad Request",
    408: "Request Timeout",
    413: "Payload Too Large",
    431: "Request Header Fields Too Large",
}


def new_request_id() -> str:
    """Make an id for a request that brought none."""
    return secrets.token_hex(8)


def plain_error(status: int, message: str | None = None, request_id: str | None = None) -> tuple[RawHeaders, bytes]:
    """Make headers and body of an error after which the connection is closed."""
    phrase = message or _PHRASES.get(status) or HTTPStatus(status).phrase
    body = json.dumps({"message": phrase, "statusCode": status}, separators=(",", ":")).encode()
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode()),
        (b"connection", b"close"),
        (b"x-request-id", (request_id or new_request_id()).encode()),
    ]
    return headers, body
