"""What is read at a glance is what h11 reads; whatever could be read in two ways is left to h11."""

import h11
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from fe.http.server.http11 import _NOTHING_BEFORE
from fe.http.server.whole_requests import WholeRequest, read_whole
from tests.http.test_connections import AMBIGUOUS

PLAIN = b"POST /a?b=c HTTP/1.1\r\nHost: a\r\nX-Y:  some text \t\r\nContent-Length: 2\r\n\r\n{}"


def by_h11(data: bytes) -> WholeRequest | None:
    """The one request that h11 finds, to its end, after which the connection may go on; None for anything else."""
    connection = h11.Connection(h11.SERVER)
    connection.receive_data(data)
    try:
        request = connection.next_event()
        if not isinstance(request, h11.Request) or request.http_version != b"1.1":
            return None
        if connection.they_are_waiting_for_100_continue:
            return None
        body = b""
        while isinstance(event := connection.next_event(), h11.Data):
            body += bytes(event.data)
    except h11.RemoteProtocolError:
        return None
    if not isinstance(event, h11.EndOfMessage) or connection.trailing_data != _NOTHING_BEFORE:
        return None
    if connection.their_state is not h11.DONE:
        return None
    return WholeRequest(request.method, request.target, [(bytes(n), bytes(v)) for n, v in request.headers], body)


_LINES = st.sampled_from(
    [
        b"Host: a",
        b"Host: b",
        b"host:a",
        b"Content-Length: 2",
        b"content-length:2",
        b"Content-Length: 02",
        b"Content-Length: +2",
        b"Content-Length: 2, 2",
        b"Content-Length: 3",
        b"Content-Length:",
        b"Content-Length : 2",
        b" Content-Length: 2",
        b"Transfer-Encoding: chunked",
        b"transfer-encoding: identity",
        b"Connection: close",
        b"Connection: keep-alive",
        b"Connection: Keep-Alive",
        b"Connection: keep-alive, close",
        b"Expect: 100-continue",
        b"Upgrade: h2c",
        b"X: y",
        b"X:\ty\t",
        b"X: a\x00b",
        b"X: a\rb",
        b"X: a\nb",
        b"X: \xf1",
        b" folded",
        b"\tfolded",
        b"no colon",
        b": no name",
        b"X Y: z",
        b"",
    ]
)
_FIRST = st.sampled_from(
    [
        b"POST / HTTP/1.1",
        b"GET /x HTTP/1.1",
        b"POST /?q HTTP/1.0",
        b"GET  / HTTP/1.1",
        b"get / HTTP/1.1",
        b"GET x HTTP/1.1",
        b"GET /\xc3 HTTP/1.1",
        b"GET / HTTP/1.1 ",
        b"\r\nGET / HTTP/1.1",
        b"PUT / HTTP/1.1",
    ]
)
_BODIES = st.sampled_from([b"", b"{}", b"{} ", b"2\r\n{}\r\n0\r\n\r\n", b"{}GET / HTTP/1.1\r\n\r\n"])


@given(_FIRST, st.lists(_LINES, max_size=5), _BODIES, st.sampled_from([b"\r\n", b"\n"]))
@settings(max_examples=800)
@example(b"POST / HTTP/1.1", [b"Host: a", b"Content-Length: 2"], b"{}", b"\r\n")
@example(b"GET / HTTP/1.1", [b"Host: a"], b"", b"\r\n")
def test_what_is_recognised_is_what_h11_finds(first: bytes, lines: list[bytes], body: bytes, end: bytes) -> None:
    data = end.join([first, *lines, b"", b""]) + body

    found = read_whole(data)

    assert found is None or found == by_h11(data)


@given(st.integers(0, len(PLAIN)), st.integers(0, 6), st.binary(max_size=6))
@settings(max_examples=800)
def test_however_a_plain_request_is_bent_h11_agrees(at: int, gone: int, put: bytes) -> None:
    data = PLAIN[:at] + put + PLAIN[at + gone :]

    found = read_whole(data)

    assert found is None or found == by_h11(data)


@pytest.mark.parametrize("data", [PLAIN, b"GET /a HTTP/1.1\r\nhost:a\r\n\r\n"])
def test_plain_requests_are_recognised(data: bytes) -> None:
    found = read_whole(data)

    assert found is not None
    assert found == by_h11(data)


@pytest.mark.parametrize("name", AMBIGUOUS)
def test_nothing_ambiguous_is_recognised(name: str) -> None:
    if name != "no path":
        assert read_whole(AMBIGUOUS[name]) is None


@pytest.mark.parametrize("length", range(len(PLAIN)))
def test_part_of_a_request_is_not_recognised(length: int) -> None:
    assert read_whole(PLAIN[:length]) is None


def test_a_second_request_behind_the_first_is_not_recognised() -> None:
    assert read_whole(PLAIN + PLAIN) is None
