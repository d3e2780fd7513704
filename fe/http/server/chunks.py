"""Bodies in chunks: those that are whole and plain are read at a glance and joined, h11 reads and checks all others.

h11 makes an event of every chunk, some 15 us of its own and more for whoever hears of it. A body in chunks of one byte
is tens of thousands of them in one read of the socket, and some encoders send a body token by token. Nothing is refused
here: tests/http/test_chunks.py holds what is joined to what h11 makes of the same bytes.
"""

import re

import h11
from h11._readers import ChunkedReader
from h11._receivebuffer import ReceiveBuffer

#: So many at most make one event, so that others get their turns.
AT_ONCE = 64
#: The size of one, without an extension and without many noughts; the last chunk, of size 0, is h11's.
_SIZE = re.compile(rb"(0{0,8}[1-9a-fA-F][0-9a-fA-F]{0,5})\r\n")
_END = b"\r\n"

if not hasattr(h11.Connection(h11.SERVER), "_reader"):
    raise ImportError("this release of h11 has no Connection._reader: see docs/dependencies.md")


class JoinedChunks(ChunkedReader):
    """Reads the body of one request; `joined` tells of how many chunks the last event was made."""

    def __init__(self) -> None:
        super().__init__()
        self.joined = 1

    def __call__(self, buf: ReceiveBuffer) -> h11.Data | h11.EndOfMessage | None:
        """Read one event, as h11 does."""
        if (data := self._whole_chunks(buf)) is not None:
            return data
        self.joined = 1
        return super().__call__(buf)

    def _whole_chunks(self, buf: ReceiveBuffer) -> h11.Data | None:
        """Take the chunks that are here to their ends; None, and nothing is taken, when there is none."""
        if self._bytes_in_chunk or self._reading_trailer:
            return None
        begin = at = len(self._bytes_to_discard)  # the end of the chunk before may still be there
        arrived = bytes(buf)
        if not arrived.startswith(self._bytes_to_discard):
            return None
        parts: list[bytes] = []
        while len(parts) < AT_ONCE and (size := _SIZE.match(arrived, at)) is not None:
            end = size.end() + int(size[1], 16)
            if arrived[end : end + 2] != _END:
                break
            parts.append(arrived[size.end() : end])
            at = end + 2
        if at == begin:
            return None
        buf.maybe_extract_at_most(at)
        self._bytes_to_discard = b""
        self.joined = len(parts)
        return h11.Data(data=b"".join(parts), chunk_start=True, chunk_end=True)


def join_chunks(connection: h11.Connection) -> JoinedChunks | None:
    """Have a connection, whose request was read a moment ago, join the chunks of its body; None when it has none."""
    if not isinstance(connection._reader, ChunkedReader):
        return None
    connection._reader = joined = JoinedChunks()
    return joined
