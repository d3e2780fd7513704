"""One answer off a stream whose other end may mean us harm: bounded in all but time, which the caller bounds.

Bodies are taken as they come: no coding is asked for and none is undone, so nothing grows here.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import h11
import trio

from fe.egress.errors import CallBroken

_CHUNK: Final = 16 * 1024
_MAX_HEAD: Final = 16 * 1024
#: All heads of an answer together, interim ones (1xx) and trailers too.
_MAX_HEADS: Final = 48 * 1024


@dataclass(frozen=True, slots=True)
class HostReply:
    """An answer. `headers` by lower-case names; of a repeated one the first counts."""

    status: int
    headers: Mapping[str, str]
    #: As much of it as was to be kept.
    body: bytes
    #: There was more of it, which was not read.
    is_cut: bool


async def read_answer(connection: h11.Connection, stream: trio.abc.ReceiveStream, keep: int) -> HostReply:
    """Read an answer: its head, and its body to the end or up to `keep` bytes. Raises CallBroken."""
    head: h11.Response | None = None
    body = bytearray()
    outside = 0
    while True:
        try:
            event = connection.next_event()
        except h11.RemoteProtocolError as error:
            raise CallBroken("answer", f"the answer is not HTTP: {error}") from error
        match event:
            case h11.Response():
                head = event
            case h11.Data():
                body += event.data
                outside -= len(event.data)
                if len(body) > keep and head is not None:
                    return _reply(head, bytes(body[:keep]), is_cut=True)
            case h11.EndOfMessage():
                if head is None:  # pragma: no cover  (h11 tells of no end before a head)
                    raise CallBroken("answer", "the answer has no head")
                return _reply(head, bytes(body), is_cut=False)
            case h11.InformationalResponse():
                if event.status_code == 101:
                    raise CallBroken("answer", "the answer changes the protocol")
            case h11.ConnectionClosed() | h11.PAUSED:
                raise CallBroken("answer", "the answer is none")
            case h11.NEED_DATA:
                try:
                    data = await stream.receive_some(_CHUNK)
                except (trio.BrokenResourceError, trio.ClosedResourceError) as error:
                    raise CallBroken("closed", "the connection was closed before the answer was complete") from error
                outside += len(data)
                if outside > _MAX_HEADS:
                    raise CallBroken("answer", "the answer never comes to its point")
                if not data and head is None:
                    raise CallBroken("closed", "the connection was closed without an answer")
                connection.receive_data(bytes(data))


def _reply(head: h11.Response, body: bytes, *, is_cut: bool) -> HostReply:
    headers: dict[str, str] = {}
    for name, value in head.headers:
        headers.setdefault(name.decode("latin-1"), value.decode("latin-1"))
    return HostReply(head.status_code, headers, body, is_cut)


def new_connection() -> h11.Connection:
    """A connection's state, that bounds the head of an answer."""
    return h11.Connection(h11.CLIENT, max_incomplete_event_size=_MAX_HEAD)
