"""Answers that the pipeline and the connection make outside the application; they have the form of all others."""

import json
import re
import secrets
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

from fe.ecf.texts import Text
from fe.http.languages import HEADERS, choose
from fe.http.messages import of_status

RawHeaders = list[tuple[bytes, bytes]]
#: Writes an error as a page for people, with its headers, from the message and the bytes of Accept-Language, where they
#: are known.
ErrorPage = Callable[[Text, bytes | None], tuple[Sequence[tuple[str, str]], bytes]]

_ACCEPT_LANGUAGE = re.compile(rb"\naccept-language:[ \t]*([^\r\n]{0,200})", re.IGNORECASE)
#: The header is searched for in as many bytes.
_HEAD = 16 * 1024


class HttpAnswer(NamedTuple):
    """A whole answer."""

    status: int
    headers: RawHeaders
    body: bytes


def write_answer(answer: HttpAnswer) -> bytes:
    """The bytes of an answer."""
    lines = [
        b"HTTP/1.1 %d \r\n" % answer.status,
        *(b"%b: %b\r\n" % header for header in answer.headers),
        b"\r\n",
        answer.body,
    ]
    return b"".join(lines)


def new_request_id() -> str:
    """Make an id for a request without one."""
    return secrets.token_hex(8)


def accepted_of(headers: Iterable[tuple[bytes, bytes]]) -> bytes | None:
    """Return Accept-Language of a request whose head was read."""
    return next((value for name, value in headers if name == b"accept-language"), None)


def accepted_in(arrived: bytes) -> bytes | None:
    """Return Accept-Language of a request whose head is not valid, from the line that names it."""
    found = _ACCEPT_LANGUAGE.search(arrived, 0, _HEAD)
    return found[1] if found else None


def plain_error(
    status: int,
    message: Text | None = None,
    request_id: str | None = None,
    accepted: bytes | None = None,
    page: ErrorPage | None = None,
) -> tuple[RawHeaders, bytes]:
    """Make headers and body of an error after which the connection is closed, as a page where `page` writes one."""
    text = message or of_status(status)
    if page is not None:
        more, body = page(text, accepted)
    else:
        language = choose((accepted or b"").decode("latin-1"))
        more, body = (("Content-Type", "application/json"), *HEADERS[language]), _body(status, text.said(language))
    headers = [
        *((name.lower().encode(), value.encode()) for name, value in more),
        (b"content-length", str(len(body)).encode()),
        (b"connection", b"close"),
        (b"x-request-id", (request_id or new_request_id()).encode()),
    ]
    return headers, body


@lru_cache(maxsize=1000)
def _body(status: int, words: str) -> bytes:
    return json.dumps({"message": words, "statusCode": status}, separators=(",", ":"), ensure_ascii=False).encode()
