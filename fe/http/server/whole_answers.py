"""Whole answers, and how one is written past h11."""

from collections.abc import Iterable
from typing import NamedTuple

from fe.http.server.plain_errors import RawHeaders


class Whole(NamedTuple):
    """A whole answer."""

    status: int
    headers: RawHeaders
    body: bytes


def write_whole(whole: Whole, more: Iterable[tuple[bytes, bytes]] = ()) -> bytes:
    """The bytes of an answer, with `more` headers."""
    lines = [
        b"HTTP/1.1 %d \r\n" % whole.status,
        *(b"%b: %b\r\n" % header for header in (*whole.headers, *more)),
        b"\r\n",
        whole.body,
    ]
    return b"".join(lines)
