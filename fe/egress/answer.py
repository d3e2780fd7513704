"""Incremental reader of one HTTP/1.1 answer, by llhttp (httptools).

A reader serves one answer and is thrown away, so nothing of one exchange can reach the next. Strict: what llhttp lets
pass and RFC 9112 does not (another version, an invalid status, a coding that was not requested) is refused here too.
"""

from dataclasses import dataclass
from typing import Final

import httptools

from fe.egress.errors import CallBroken

#: A verdict may remark on each of a thousand lines, and several times (authority.md#messages): some 160 bytes each.
MAX_BODY: Final = 1024 * 1024
#: Of all bytes: heads, chunk sizes and 1xx answers too.
MAX_ANSWER: Final = 3 * MAX_BODY
_MAX_HEAD: Final = 16 * 1024
_VERSIONS: Final = ("1.1", "1.0")


@dataclass(frozen=True, slots=True)
class HttpReply:
    """An answer. Its end was seen, unless `is_cut`: then its body was longer than the caller keeps."""

    status: int
    content_type: str
    retry_after: str | None
    body: bytes
    is_cut: bool = False


class AnswerReader:
    """Builds one answer from the bytes fed to it; interim answers (1xx) are skipped.

    `whole` means that its end was seen: then `reply` returns it, and `serves_again` whether the connection may carry
    another exchange. Bytes after the end are not read, but they forbid reusing the connection.

    A body longer than `MAX_BODY` is refused; with `keep`, one longer than that is cut there.
    """

    def __init__(self, keep: int | None = None) -> None:
        self._keep = keep
        self.whole = False
        self.serves_again = False
        #: The status and the headers are complete.
        self.head_ended = False
        self.status = 0
        #: There was more of the body than is kept.
        self.is_cut = False
        self._version = ""
        self._headers: dict[bytes, bytes] = {}
        self._head_size = 0
        self._body: list[bytes] = []
        self._size = 0
        self._read = 0
        self._parser: httptools.HttpResponseParser | None = httptools.HttpResponseParser(self)

    def feed(self, data: bytes) -> None:
        """Read on. Raises CallBroken for what is no answer, or too much of one."""
        assert self._parser is not None
        self._read += len(data)
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserUpgrade:
            raise _not_http("it changes the protocol") from None
        except httptools.HttpParserError as error:
            if not self.whole:
                raise _not_http(str(error)) from error
            self.serves_again = False
        self._check()
        if self.whole:
            self._parser = None  # it holds our methods: together they would be garbage that only the collector finds
        elif self._read > (MAX_ANSWER if self._keep is None else 3 * self._keep + _MAX_HEAD):
            raise CallBroken("answer", "the answer does not end")

    def end(self) -> None:
        """Take note that no more will come. Raises CallBroken, unless that is how the answer says its end."""
        if not self.head_ended:
            raise CallBroken("closed", "the connection was closed without an answer")
        if b"content-length" in self._headers or b"transfer-encoding" in self._headers:
            raise _not_http("the connection was closed in its body")
        self.whole, self._parser = True, None

    @property
    def reply(self) -> HttpReply:
        """The answer, once it is whole."""
        retry_after = self._headers.get(b"retry-after")
        body = b"".join(self._body)
        return HttpReply(
            self.status,
            self._headers.get(b"content-type", b"").decode("latin-1"),
            None if retry_after is None else retry_after.decode("latin-1"),
            body[: self._keep] if self.is_cut else body,
            self.is_cut,
        )

    def _check(self) -> None:
        """Refuse what llhttp lets pass, and bound the body."""
        if self._head_size > _MAX_HEAD:
            raise _not_http(f"its head is larger than {_MAX_HEAD} bytes")
        if not self.head_ended:
            return
        if self._version not in _VERSIONS or self.status < 200:
            raise _not_http(f"version {self._version}, status {self.status}")
        if self._headers.get(b"transfer-encoding", b"chunked").lower() != b"chunked":
            raise _not_http("a transfer coding that nobody asked for")
        if self._keep is None:
            if self._size > MAX_BODY:
                raise CallBroken("answer", f"the answer is larger than {MAX_BODY} bytes")
        elif self._size > self._keep:
            self.whole, self.serves_again, self.is_cut = True, False, True

    # Callbacks of llhttp. They must not raise.

    def on_message_begin(self) -> None:
        """Note that something begins; after the answer that is one too many."""
        if self.whole:
            self.serves_again = False

    def on_header(self, name: bytes, value: bytes) -> None:
        """Keep a header; of a repeated name the first counts. Trailers do not count."""
        self._head_size += len(name) + len(value)
        if not self.head_ended:
            self._headers.setdefault(name.lower(), value)

    def on_headers_complete(self) -> None:
        """Tell an interim answer from the one that is waited for."""
        if self.whole or self._parser is None:
            return
        self.status = self._parser.get_status_code()
        self._version = self._parser.get_http_version()
        if 100 <= self.status < 200:
            self._headers.clear()
        else:
            self.head_ended = True

    def on_body(self, data: bytes) -> None:
        """Keep a part of the body."""
        if not self.whole:
            self._size += len(data)
            self._body.append(data)

    def on_message_complete(self) -> None:
        """Note the end, unless it is that of an interim answer."""
        if self.head_ended and not self.whole and self._parser is not None:
            self.whole = True
            self.serves_again = self._parser.should_keep_alive()


def _not_http(why: str) -> CallBroken:
    return CallBroken("answer", f"the answer is not HTTP, or breaks off: {why}")
