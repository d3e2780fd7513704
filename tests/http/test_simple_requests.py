"""The regular expression reads what h11 reads, and leaves to h11 what could be read in two ways."""

import h11
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from fe.http.server.http11 import _NOTHING_BEFORE
from fe.http.server.simple_requests import SimpleRequest, read_simple_request
from tests.http.test_connections import AMBIGUOUS

PLAIN = b"POST /a?b=c HTTP/1.1\r\nHost: a\r\nX-Y:  some text \t\r\nContent-Length: 2\r\n\r\n{}"


def by_h11(data: bytes) -> SimpleRequest | None:
    """The one whole request that h11 finds; None for anything else."""
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
    if connection.their_state not in (h11.DONE, h11.MUST_CLOSE):
        return None
    headers = [(bytes(n), bytes(v)) for n, v in request.headers]
    return SimpleRequest(request.method, request.target, headers, body, connection.their_state is h11.MUST_CLOSE)


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
        b"Connection: te",
        b"Connection: te: keep-alive",
        b"TE: trailers",
        b"Trailer: X",
        b"Keep-Alive: timeout=5",
        b"Expect: 100-continue",
        b"Upgrade: h2c",
        b"X: y",
        b"X:\ty\t",
        b"X: a\x00b",
        b"X: a\rb",
        b"X: a\nb",
        b"X: \x7f",
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
_PLAIN_LINES = st.sampled_from([b"X: y", b"X:\ty\t", b"Connection: keep-alive", b"Connection: Keep-Alive", b"x-y:"])
_PLAIN_FIRST = st.sampled_from([b"POST / HTTP/1.1", b"GET /x HTTP/1.1"])
_BODIES = st.sampled_from([b"", b"{}", b"{} ", b"2\r\n{}\r\n0\r\n\r\n", b"{}GET / HTTP/1.1\r\n\r\n"])


@st.composite
def _requests(draw: st.DrawFn) -> tuple[bytes, list[bytes], bytes, bytes]:
    """A request with its host, and mostly with the length of its body: without them it is h11's, whatever else it says.

    What is odd in most is a line or two among plain ones; the rest is drawn as it comes.
    """
    usual = draw(st.integers(0, 3)) > 0
    first = draw(_PLAIN_FIRST if usual else _FIRST)
    body = draw(st.sampled_from([b"", b"{}"]) if usual else _BODIES)
    lines = draw(st.lists(_PLAIN_LINES | _LINES, max_size=2) if usual else st.lists(_LINES, max_size=5))
    if draw(st.integers(0, 7)):
        lines.insert(draw(st.integers(0, len(lines))), b"Content-Length: %d" % len(body))
    return first, [b"Host: a", *lines], body, b"\r\n" if usual else draw(st.sampled_from([b"\r\n", b"\n"]))


def test_what_is_recognised_is_what_h11_finds() -> None:
    seen = recognised = 0

    @given(_requests())
    @settings(max_examples=800, deadline=None)
    @example((b"POST / HTTP/1.1", [b"Host: a", b"Content-Length: 2"], b"{}", b"\r\n"))
    @example((b"GET / HTTP/1.1", [b"Host: a"], b"", b"\r\n"))
    @example((b"POST / HTTP/1.1", [b"Host: a", b"Content-Length: 3", b"Content-Length: 2"], b"{}", b"\r\n"))
    def compare(request: tuple[bytes, list[bytes], bytes, bytes]) -> None:
        nonlocal seen, recognised
        first, lines, body, end = request
        data = end.join([first, *lines, b"", b""]) + body
        found = read_simple_request(data)
        seen += 1
        recognised += found is not None

        assert found is None or found == by_h11(data)

    compare()
    assert recognised * 10 >= seen, f"{recognised} of {seen} were recognised: the others say nothing"


@given(st.integers(0, len(PLAIN)), st.integers(0, 6), st.binary(max_size=6))
@settings(max_examples=800)
def test_however_a_plain_request_is_bent_h11_agrees(at: int, gone: int, put: bytes) -> None:
    data = PLAIN[:at] + put + PLAIN[at + gone :]

    found = read_simple_request(data)

    assert found is None or found == by_h11(data)


@pytest.mark.parametrize("data", [PLAIN, b"GET /a HTTP/1.1\r\nhost:a\r\n\r\n"])
def test_plain_requests_are_recognised(data: bytes) -> None:
    found = read_simple_request(data)

    assert found is not None
    assert found == by_h11(data)


@pytest.mark.parametrize("name", AMBIGUOUS)
def test_nothing_ambiguous_is_recognised(name: str) -> None:
    if name != "no path":
        assert read_simple_request(AMBIGUOUS[name]) is None


@pytest.mark.parametrize(
    "line",
    [
        b"Connection: close, te",
        b"Connection: te",
        b"Connection: te: keep-alive",
        b"Connection: keep-alive, te",
        b"Expect: 100-continue",
        b"Keep-Alive: timeout=5",
        b"TE: trailers",
        b"Trailer: X",
        b"Transfer-Encoding: identity",
        b"Upgrade: h2c",
        b"X: \x7f",
        b"X: \xf1",
    ],
)
def test_what_concerns_the_connection_or_is_no_plain_text_is_left_to_h11(line: bytes) -> None:
    """Some of it h11 passes over, so that the comparison above would not tell. It is h11's all the same."""
    plain = b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nX-Y: z\r\n\r\n{}"

    assert read_simple_request(plain) is not None
    assert read_simple_request(plain.replace(b"X-Y: z", line)) is None


@pytest.mark.parametrize("length", range(len(PLAIN)))
def test_part_of_a_request_is_not_recognised(length: int) -> None:
    assert read_simple_request(PLAIN[:length]) is None


def test_a_second_request_behind_the_first_is_not_recognised() -> None:
    assert read_simple_request(PLAIN + PLAIN) is None
