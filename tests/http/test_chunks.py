"""Chunks that are joined are what h11 makes of the same bytes, however these are cut on their way."""

import itertools
from collections.abc import Sequence

import h11
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from fe.http.server import chunks
from fe.http.server.chunks import AT_ONCE, join_chunks

HEAD = b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
Outcome = tuple[bytes, str, bytes, list[tuple[bytes, bytes]]]


def read(parts: Sequence[bytes], *, joined: bool) -> tuple[Outcome, int]:
    """The body, how it ended, what is left and the trailers; and how many events with data there were."""
    connection = h11.Connection(h11.SERVER)
    connection.receive_data(HEAD)
    assert isinstance(connection.next_event(), h11.Request)
    if joined:
        assert join_chunks(connection) is not None
    body, events = b"", 0
    for part in parts:
        connection.receive_data(part)
        while True:
            try:
                event = connection.next_event()
            except h11.RemoteProtocolError as error:
                return (body, f"refused with {error.error_status_hint}", b"", []), events
            if isinstance(event, h11.Data):
                body += bytes(event.data)
                events += 1
            elif isinstance(event, h11.EndOfMessage):
                return (body, "whole", connection.trailing_data[0], list(event.headers)), events
            else:
                break
    return (body, "not at its end", b"", []), events


_SIZES = st.sampled_from(
    b"1|2|a|A|0a|00000000a|0000000000a|000000000000000000001|1;x=y|1 |f|10|-1|+1|0x1|1_0|| 1|g|ffffffff|1\t|0".split(
        b"|"
    )
)
_PIECES = st.one_of(
    st.binary(min_size=1, max_size=20).map(lambda data: b"%x\r\n%b\r\n" % (len(data), data)),
    st.tuples(_SIZES, st.sampled_from([b"\r\n", b"\n", b"\r", b""]), st.binary(max_size=17)).map(b"".join),
    st.sampled_from(
        [b"\r\n", b"\n", b"0\r\n\r\n", b"0\r\nX: y\r\n\r\n", b"0\r\nX y\r\n\r\n", b"1\r\nx\r\r", b"2\r\nx\r\n"]
    ),
)


@settings(max_examples=1000, deadline=None)
@given(st.lists(_PIECES, max_size=8), st.lists(st.integers(0, 200), max_size=4))
@example([b"1\r\nx\r\n"] * 3 + [b"0\r\n\r\nGET /"], [])
@example([b"1\r\nx\r\n", b"0\r\nX: y\r\n\r\n"], [4, 5])
@example([b"5\r\nab\r\nc\r\n", b"0\r\n\r\n"], [6])
@example([b"0" * 15 + b"1\r\nx\r\n0\r\n\r\n"], [])
def test_joined_chunks_are_those_that_h11_reads(pieces: list[bytes], cuts: list[int]) -> None:
    sent = b"".join(pieces)
    at = [0, *sorted(min(cut, len(sent)) for cut in cuts), len(sent)]
    parts = [sent[begin:end] for begin, end in itertools.pairwise(at) if end > begin]  # none would be the end

    assert read(parts, joined=True)[0] == read(parts, joined=False)[0]


@pytest.mark.parametrize("cut", [0, 1, 2, 3, 4, 5, 6])
def test_many_chunks_make_few_events(cut: int) -> None:
    sent = b"1\r\nx\r\n" * 10 * AT_ONCE + b"0\r\n\r\n"

    outcome, events = read([part for part in (sent[:cut], sent[cut:]) if part], joined=True)

    assert outcome == (b"x" * 10 * AT_ONCE, "whole", b"", [])
    assert events <= 12


def test_of_how_many_chunks_an_event_was_made_is_told() -> None:
    connection = h11.Connection(h11.SERVER)
    connection.receive_data(HEAD)
    connection.next_event()
    joined = join_chunks(connection)
    assert joined is not None
    connection.receive_data(b"1\r\nx\r\n" * (AT_ONCE + 3) + b"1;a=b\r\ny\r\n" + b"1\r\nz\r\n" * 2 + b"5\r\nab")

    told = []
    while isinstance(event := connection.next_event(), h11.Data):
        told.append((bytes(event.data), joined.joined))

    assert told == [(b"x" * AT_ONCE, AT_ONCE), (b"xxx", 3), (b"y", 1), (b"zz", 2), (b"ab", 1)]


def test_a_body_without_chunks_is_h11_s() -> None:
    for framing in (b"Content-Length: 2\r\n", b""):
        connection = h11.Connection(h11.SERVER)
        connection.receive_data(b"POST / HTTP/1.1\r\nHost: a\r\n" + framing + b"\r\n{}")
        connection.next_event()
        reader = connection._reader

        assert chunks.join_chunks(connection) is None
        assert connection._reader is reader
