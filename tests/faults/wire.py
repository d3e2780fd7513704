"""As much of Postgres's wire protocol as it takes to know which statement is being asked for, and when it is done."""

import struct

#: Codes in place of a protocol version: they are answered with one bare byte, and nothing is known of the rest yet.
_CANCEL = 80877102


class Requests:
    """Reads what a client sends. Feed it the bytes as they come."""

    def __init__(self) -> None:
        self._rest = b""
        self._started = False
        self._prepared: dict[bytes, str] = {}

    def feed(self, data: bytes) -> list[str]:
        """The texts of the statements that these bytes bring to execution, prepared ones by their text too."""
        self._rest += data
        asked: list[str] = []
        while True:
            if not self._started:
                if len(self._rest) < 8:
                    return asked
                length, code = struct.unpack("!ii", self._rest[:8])
                if len(self._rest) < length:
                    return asked
                self._started = code != _CANCEL
                self._rest = self._rest[length:]
                continue
            message = _take(self._rest)
            if message is None:
                return asked
            kind, body, self._rest = message
            if kind == b"Q":
                asked.append(_text(body))
            elif kind == b"P":
                name, _, statement = body.partition(b"\0")
                self._prepared[name] = _text(statement)
            elif kind == b"B":
                name = body.split(b"\0", 2)[1]
                asked.append(self._prepared.get(name, ""))


class Replies:
    """Reads what the server sends, to see it become ready for the next query."""

    def __init__(self) -> None:
        self._rest = b""

    def feed(self, data: bytes) -> bool:
        """Whether a ReadyForQuery ends in these bytes: what was asked has been done, and committed."""
        self._rest += data
        ready = False
        while message := _take(self._rest):
            kind, _, self._rest = message
            ready = ready or kind == b"Z"
        return ready


def _take(data: bytes) -> tuple[bytes, bytes, bytes] | None:
    """Split off the first message: its kind, its body, and what follows."""
    if len(data) < 5:
        return None
    length = int(struct.unpack("!i", data[1:5])[0])
    if len(data) < 1 + length:
        return None
    return data[:1], data[5 : 1 + length], data[1 + length :]


def _text(raw: bytes) -> str:
    return raw.partition(b"\0")[0].decode("utf-8", "replace")
