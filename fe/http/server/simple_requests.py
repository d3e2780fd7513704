"""Requests of the simplest form, read by one regular expression.

h11 is a state machine for every form of a request. For one that arrives in one piece it costs more than all other work
of the connection. Any other form is left to h11, which alone refuses requests; tests/http/test_simple_requests.py
compares the two on the same bytes.
"""

import re
from typing import NamedTuple

from fe.http.server.answers import RawHeaders

#: A longer head is left to h11.
_MAX_HEAD = 8 * 1024
_HEAD = re.compile(
    rb"(?P<method>GET|POST) (?P<target>/[!-~]*+) HTTP/1\.1\r\n"
    rb"(?P<headers>(?:[!#$%&'*+.^_`|~0-9A-Za-z-]++:[ -~\t]*+\r\n){1,64}+)\r\n"
)
#: Headers that change the framing of the message, ask for an interim answer, or change the connection.
_NEVER = frozenset({b"connection", b"expect", b"keep-alive", b"te", b"trailer", b"transfer-encoding", b"upgrade"})


class SimpleRequest(NamedTuple):
    """A request and its body. Header names are in lower case."""

    method: bytes
    target: bytes
    headers: RawHeaders
    body: bytes
    #: The client closes the connection after the answer.
    is_last: bool = False


def read_simple_request(data: bytes) -> SimpleRequest | None:
    """Read bytes that are exactly one request of HTTP/1.1; None for all else."""
    head = _HEAD.match(data, 0, _MAX_HEAD)
    if head is None:
        return None
    headers: RawHeaders = []
    hosts = 0
    length: bytes | None = None
    is_last = False
    for line in head["headers"].split(b"\r\n"):
        name, colon, value = line.partition(b":")
        if not colon:  # after the last line
            break
        name, value = name.lower(), value.strip(b" \t")
        headers.append((name, value))
        if name == b"connection" and value.lower() in (b"keep-alive", b"close"):
            is_last = is_last or value.lower() == b"close"
        elif name in _NEVER:
            return None
        elif name == b"content-length":
            if length is not None or not value.isdigit() or len(value) > 7:
                return None
            length = value
        hosts += name == b"host"
    body = data[head.end() :]
    if hosts != 1 or int(length or b"0") != len(body):
        return None
    return SimpleRequest(head["method"], head["target"], headers, body, is_last)
