"""The plainest requests, read at a glance: what arrived is one whole request that can be read in one way only.

h11 takes a request apart as a machine of states that is ready for everything; for a request that came in one piece that
costs more than all else the connection does with it. So such a request is recognised by its form. Whatever is not of
that form is not touched, and h11 reads and checks it: nothing is refused here, and tests/http/test_whole_requests.py
holds what is recognised to what h11 makes of the same bytes.
"""

import re
from typing import NamedTuple

from fe.http.server.plain_errors import RawHeaders

#: A longer head is h11's to read.
_MAX_HEAD = 8 * 1024
_HEAD = re.compile(
    rb"(?P<method>GET|POST) (?P<target>/[!-~]*+) HTTP/1\.1\r\n"
    rb"(?P<headers>(?:[!#$%&'*+.^_`|~0-9A-Za-z-]++:[ -~\t]*+\r\n){1,64}+)\r\n"
)
#: What changes how a message is framed, what comes back before the answer, or what becomes of the connection.
_NEVER = frozenset({b"connection", b"expect", b"keep-alive", b"te", b"trailer", b"transfer-encoding", b"upgrade"})
_KEPT_ALIVE = (b"connection", b"keep-alive")


class PlainHead(NamedTuple):
    """The head of a request. Header names are in lower case."""

    method: bytes
    target: bytes
    headers: RawHeaders
    #: Where the body begins.
    end: int


class WholeRequest(NamedTuple):
    """A request and its body. Header names are in lower case."""

    method: bytes
    target: bytes
    headers: RawHeaders
    body: bytes


def read_head(data: bytes) -> PlainHead | None:
    """Read the head that bytes begin with, where it is of the plain form; what it means is not looked at."""
    head = _HEAD.match(data, 0, _MAX_HEAD)
    if head is None:
        return None
    headers: RawHeaders = []
    for line in head["headers"].split(b"\r\n"):
        name, colon, value = line.partition(b":")
        if colon:  # there is none after the last line
            headers.append((name.lower(), value.strip(b" \t")))
    return PlainHead(head["method"], head["target"], headers, head.end())


def read_whole(data: bytes) -> WholeRequest | None:
    """Read bytes that are exactly one request of HTTP/1.1, to be kept alive after; None for all else."""
    head = read_head(data)
    if head is None:
        return None
    hosts = 0
    length: bytes | None = None
    for name, value in head.headers:
        if name in _NEVER and (name, value.lower()) != _KEPT_ALIVE:
            return None
        if name == b"content-length":
            if length is not None or not value.isdigit() or len(value) > 7:
                return None
            length = value
        hosts += name == b"host"
    body = data[head.end :]
    if hosts != 1 or int(length or b"0") != len(body):
        return None
    return WholeRequest(head.method, head.target, head.headers, body)
