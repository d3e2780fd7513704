"""Read a form: its body as it arrives, then its fields.

A body in transit takes no place in the process, so a slow sender does not block other requests. The number of bodies is
limited per address, and their size per page.
"""

from collections.abc import AsyncIterator, Hashable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from io import BytesIO
from typing import Any

import trio
from hypercorn.typing import HTTPScope
from quart import request
from werkzeug.exceptions import RequestEntityTooLarge
from werkzeug.formparser import FormDataParser
from werkzeug.http import parse_options_header

from fe.config import Network
from fe.http.server.addresses import holder_of_request
from fe.http.server.pipeline import anonymous_limit
from fe.limits import ConcurrencyLimit
from fe.monitoring.metrics import Metrics
from fe.portal.page_types import Page
from fe.portal.replies import TOO_LARGE, Refused, too_slow
from fe.portal.visit import Form, Upload

#: The most that any page reads, and how long it may take to arrive, in seconds.
MAX_BODY_BYTES = 1024 * 1024
BODY_SECONDS = 10.0
#: Bytes of bodies that arrive or are in work: of one address, and of all.
BODY_BYTES_OF_ONE = 8 * MAX_BODY_BYTES
BODY_BYTES = 64 * MAX_BODY_BYTES
#: Larger bodies are parsed in one of these threads. The worst form of this size takes the loop a few milliseconds; one
#: of a megabyte would take a quarter of a second.
_READ_HERE = 16 * 1024
_THREADS = 2
_LONGEST_FILE_NAME = 200
_URLENCODED = "application/x-www-form-urlencoded"


class FormReader:
    """Reads forms. One per process."""

    def __init__(self, admission: ConcurrencyLimit[bytes | None], metrics: Metrics, trusted: Sequence[Network]) -> None:
        """Take the process's admission and the trusted proxies."""
        self._admission = admission
        self._trusted = trusted
        self._turns = anonymous_limit()
        self._bytes: ConcurrencyLimit[Hashable] = ConcurrencyLimit(
            "body_bytes", metrics, each=BODY_BYTES_OF_ONE, together=BODY_BYTES, crowded=MAX_BODY_BYTES
        )
        self._threads = trio.CapacityLimiter(_THREADS)

    @asynccontextmanager
    async def turn(self, scope: HTTPScope) -> AsyncIterator[None]:
        """Wait for the turn of the request's address and hold it for the block.

        Raises TurnTimeout, or Overloaded.
        """
        async with AsyncExitStack() as held:
            with self._admission.paused(None):
                await held.enter_async_context(self._turns.turn(holder_of_request(scope, self._trusted)))
            yield

    @asynccontextmanager
    async def read(self, page: Page, scope: HTTPScope) -> AsyncIterator[Form]:
        """Read the form that was sent to a page, and have its address's turn for the block.

        Raises Refused: 408 when it does not arrive, 413 when it is more than the page takes; and Limited.
        """
        async with self.body(page.max_body_bytes, scope) as body:
            yield await self._form(body, page.max_fields)

    @asynccontextmanager
    async def body(self, most: int, scope: HTTPScope) -> AsyncIterator[bytes]:
        """Read a body of at most `most` bytes; otherwise as `read`."""
        if (request.content_length or 0) > most:
            raise Refused(413, TOO_LARGE)
        said = most if request.content_length is None else request.content_length
        with self._bytes.held(holder_of_request(scope, self._trusted), said):
            with self._admission.paused(None):
                body = await _body(most)
            async with self.turn(scope):
                yield body

    async def _form(self, body: bytes, most: int) -> Form:
        read = partial(read_form, body, request.headers.get("Content-Type", ""), most)
        return read() if len(body) <= _READ_HERE else await trio.to_thread.run_sync(read, limiter=self._threads)


async def _body(most: int) -> bytes:
    """Read the body. Raises Refused."""
    got = bytearray()
    try:
        with trio.fail_after(BODY_SECONDS):
            async for part in request.body:
                got += part
                if len(got) > most:
                    raise Refused(413, TOO_LARGE)
    except trio.TooSlowError:
        raise Refused(408, too_slow(BODY_SECONDS)) from None
    except RequestEntityTooLarge:
        raise Refused(413, TOO_LARGE) from None
    return bytes(got)


def read_form(body: bytes, content_type: str, most: int) -> Form:
    """Parse a form with at most `most` fields and files; an unknown content type has none.

    NULs, which PostgreSQL stores in no text, are taken out of values and of the names of files.

    Raises Refused (413) for more, before they are parsed.
    """
    kind, options = parse_options_header(content_type)
    if kind == _URLENCODED and body.count(b"&") >= most:
        raise Refused(413, TOO_LARGE)
    parser = FormDataParser(stream_factory=_in_memory, max_form_parts=most)
    try:
        _, fields, files = parser.parse(BytesIO(body), kind, len(body), options)
    except RequestEntityTooLarge:
        raise Refused(413, TOO_LARGE) from None
    uploads = {
        name: Upload(_plain(file.filename)[:_LONGEST_FILE_NAME], file.read())
        for name, file in files.items()
        if file.filename is not None
    }
    return Form({name: [_plain(value) for value in fields.getlist(name)] for name in fields}, uploads)


def _plain(text: str) -> str:
    return text.replace("\0", "")


def _in_memory(*_: Any, **__: Any) -> BytesIO:
    """Where a file goes: it was in memory before, and a temporary file for each of hundreds is dear."""
    return BytesIO()
