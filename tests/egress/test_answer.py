"""One answer out of the bytes of a connection, however they are cut."""

import contextlib
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fe.egress.answer import MAX_ANSWER, MAX_BODY, AnswerReader, HttpReply
from fe.egress.errors import CallBroken

PLAIN = b"HTTP/1.1 200 \xc3\xb3\r\nContent-Type: application/json\r\nContent-Length: 2\r\nRetry-After: 7\r\n\r\n{}"
LAST = PLAIN.replace(b"Retry-After: 7", b"Connection: close")
CHUNKED = b"HTTP/1.1 400 Bad\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n{\r\n1;x=y\r\n}\r\n0\r\nRetry-After: 9\r\n\r\n"
INTERIM = b"HTTP/1.1 100 Continue\r\nContent-Type: text/html\r\n\r\nHTTP/1.1 103 Hints\r\n\r\n"
UNTIL_CLOSED = b"HTTP/1.0 502 Bad Gateway\r\nContent-Type: text/html\r\n\r\n<html>"


def read(raw: bytes, cuts: list[int]) -> AnswerReader:
    reader = AnswerReader()
    places = [0, *sorted(cut % (len(raw) + 1) for cut in cuts), len(raw)]
    for start, end in pairwise(places):
        if start < end and not reader.whole:
            reader.feed(raw[start:end])
    if not reader.whole:
        reader.end()
    return reader


@pytest.mark.parametrize(
    ("raw", "reply", "serves_again"),
    [
        (PLAIN, HttpReply(200, "application/json", "7", b"{}"), True),
        (CHUNKED, HttpReply(400, "", None, b"{}"), True),
        (INTERIM + PLAIN, HttpReply(200, "application/json", "7", b"{}"), True),
        (UNTIL_CLOSED, HttpReply(502, "text/html", None, b"<html>"), False),
        (b"HTTP/1.1 204 No\r\n\r\n", HttpReply(204, "", None, b""), True),
        (LAST, HttpReply(200, "application/json", None, b"{}"), False),
        (PLAIN.replace(b"HTTP/1.1", b"HTTP/1.0"), HttpReply(200, "application/json", "7", b"{}"), False),
    ],
    ids=["plain", "chunked", "after interim answers", "until closed", "without a body", "the last one", "HTTP/1.0"],
)
@given(cuts=st.lists(st.integers(0, 300), max_size=6))
def test_an_answer_is_the_same_however_its_bytes_come(
    raw: bytes, reply: HttpReply, serves_again: bool, cuts: list[int]
) -> None:
    reader = read(raw, cuts)

    assert (reader.reply, reader.serves_again) == (reply, serves_again)


@pytest.mark.parametrize("surplus", [PLAIN, b"HTTP/1.1 2", b"\x00", b"x" * 100])
def test_bytes_after_an_answer_end_the_connection_unread(surplus: bytes) -> None:
    reader = AnswerReader()

    reader.feed(PLAIN + surplus)

    assert (reader.whole, reader.serves_again) == (True, False)
    assert reader.reply == HttpReply(200, "application/json", "7", b"{}")


@pytest.mark.parametrize(
    "raw",
    [
        b"HTTP/2.0 200 OK\r\nContent-Length: 0\r\n\r\n",
        b"HTTP/1.1 099 OK\r\nContent-Length: 0\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\nabc",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n0\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabcd",
        b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}XX0\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nA: b\r\n folded\r\nContent-Length: 0\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nA b\r\nContent-Length: 0\r\n\r\n",
        b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nab",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab",
        b"HTTP/1.1 200 OK\r\nContent-Le",
        b"SSH-2.0-OpenSSH_9.6\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % (MAX_BODY + 1) + bytes(MAX_BODY + 1),
        b"HTTP/1.1 200 OK\r\n" + b"X-Filler: 1234567890\r\n" * 1000 + b"Content-Length: 0\r\n\r\n",
        b"HTTP/1.1 100 Continue\r\n\r\n" * (MAX_ANSWER // 20),
        b"",
    ],
)
def test_incomplete_answer_is_broken(raw: bytes) -> None:
    with pytest.raises(CallBroken):
        read(raw, [])


@given(st.binary(max_size=200), st.lists(st.integers(0, 200), max_size=4))
def test_no_bytes_do_more_than_break(noise: bytes, cuts: list[int]) -> None:
    for raw in (noise, PLAIN[:40] + noise, CHUNKED[:60] + noise):
        with contextlib.suppress(CallBroken):
            assert read(raw, cuts).reply.status >= 200
