"""HTTP/1.1 on one connection: bytes become requests, and an answer becomes one write.

A request of the simple form that the fast path knows is answered here. h11 reads all others, for the framework. Why
parts of Hypercorn's protocol are replaced, connection.py says.
"""

from collections.abc import Awaitable, Callable
from itertools import count
from typing import Any, cast

import h11
import trio
from hypercorn.events import Closed, Event, RawData, Updated
from hypercorn.protocol.events import Body, EndBody
from hypercorn.protocol.events import Request as RequestEvent
from hypercorn.protocol.h11 import STREAM_ID, H11Protocol
from hypercorn.protocol.http_stream import HTTPStream
from hypercorn.typing import AppWrapper

from fe.ecf.texts import Text
from fe.http.messages import say
from fe.http.server.answers import HttpAnswer, accepted_in, accepted_of, plain_error, write_answer
from fe.http.server.fast_path import FastRoute
from fe.http.server.pipeline import Pipeline
from fe.http.server.private_names import require_private_names
from fe.http.server.requests import make_scope
from fe.http.server.simple_requests import SimpleRequest, read_simple_request

#: An answer is collected up to this size before it is written.
COLLECT_BYTES = 64 * 1024

#: Parts of requests that arrived together are handled before other tasks have a turn.
_EVENTS_AT_ONCE = 16

#: A body may come in this many pieces, and one more for this many bytes. A piece costs more than a hundred bytes do.
_PIECES = 4096
_BYTES_OF_A_PIECE = 64

#: `trailing_data` of h11 with an empty buffer.
_NOTHING_BEFORE = (b"", False)

_LAST = (b"connection", b"close")

require_private_names(
    H11Protocol,
    "handle",
    "_handle_events",
    "_maybe_recycle",
    "_create_stream",
    "_send_error_response",
    "_send_h11_event",
)


if not hasattr(h11.Connection(h11.SERVER), "_receive_buffer"):
    raise ImportError("this release of h11 has no Connection._receive_buffer: see docs/dependencies.md")


class Http11(H11Protocol):
    """HTTP/1.1 and nothing else."""

    def __init__(self, pipeline: Pipeline, left: Callable[[], Awaitable[bool]], *args: Any) -> None:
        """Take a function that waits until the peer has closed its side, and the arguments of Hypercorn's protocol."""
        super().__init__(cast(AppWrapper, pipeline), *args)  # called with http scopes only
        self._pipeline = pipeline
        self._left = left
        self._ended = False
        #: Pieces of the body that is being read, and their bytes.
        self._pieces = self._piece_bytes = 0
        #: Of the request that was read last. For a head that cannot be read, `_arrived` has the bytes.
        self._accepted: bytes | None = None
        self._is_head = False
        self._arrived = b""
        self._collected = bytearray()

    async def handle(self, event: Event) -> None:
        """Take what has arrived."""
        if (
            isinstance(event, RawData)
            and self.connection.our_state is h11.IDLE
            and self.connection.trailing_data == _NOTHING_BEFORE
            and (request := read_simple_request(event.data)) is not None
            and await self._answer_simple(request)
        ):
            return
        if isinstance(event, Closed):
            self._ended = True
        elif isinstance(event, RawData):
            self._arrived = event.data
        await super().handle(event)

    async def _answer_simple(self, request: SimpleRequest) -> bool:
        """Answer a request that the fast path knows. False: leave it to h11."""
        scope = make_scope(request.method, request.target, b"1.1", request.headers, self.client)
        matched = self._pipeline.match(scope)
        if matched is None or len(request.body) > self._pipeline.max_body_bytes:
            return False
        await self.send(Updated(idle=False))
        answer = await self._answer(matched, scope, request.body)
        if answer is None:
            await self.send(Closed())
            return True
        self.keep_alive_requests += 1
        headers = [*answer.headers, *self.config.response_headers("h11")]
        if (request.is_last or self._asked_enough()) and _LAST not in headers:
            headers.append(_LAST)
        await self.send(RawData(data=write_answer(HttpAnswer(answer.status, headers, answer.body))))
        if self.context.terminated.is_set() or _LAST in headers:
            await self.send(Closed())
        else:
            await self.send(Updated(idle=True))
        return True

    async def _answer(self, matched: FastRoute, scope: Any, body: bytes) -> HttpAnswer | None:
        """Answer on the fast path; None when a client left while it waited.

        This task reads the socket, so during a wait another one watches for the client's end. A client that has closed
        its side may still read: its wait ends, and it is answered as if it had not asked to wait.
        """
        if scope["method"] != "GET" or not scope["query_string"]:  # the one parameter there is here is `wait`
            return await self._pipeline.answer(matched, scope, body)
        answers: list[HttpAnswer] = []
        may_read = [False]
        async with trio.open_nursery() as nursery:

            async def end_when_left() -> None:
                may_read[0] = await self._left()
                nursery.cancel_scope.cancel()

            nursery.start_soon(end_when_left)
            answers.append(await self._pipeline.answer(matched, scope, body))
            nursery.cancel_scope.cancel()
        if answers:
            return answers[0]
        at_once: Any = {**scope, "query_string": b""}
        return await self._pipeline.answer(matched, at_once, body) if may_read[0] else None

    async def _handle_events(self) -> None:
        """Handle the bytes that have arrived."""
        for taken in count(1):
            if self._ended:  # the peer reads no more answers
                break
            if taken % _EVENTS_AT_ONCE == 0:
                await trio.lowlevel.checkpoint()
            if self.connection.they_are_waiting_for_100_continue:
                await self._send_h11_event(h11.InformationalResponse(status_code=100, headers=[]))
            event = await self._next_event()
            if isinstance(event, h11.Request):
                await self.send(Updated(idle=False))
                await self._create_stream(event)
            elif event is h11.PAUSED:
                await self.can_read.clear()
                await self.can_read.wait()
            elif isinstance(event, h11.ConnectionClosed) or event is h11.NEED_DATA or self.stream is None:
                break
            elif isinstance(event, h11.Data):
                await self.stream.handle(Body(stream_id=STREAM_ID, data=bytes(event.data)))
            elif isinstance(event, h11.EndOfMessage):
                await self.stream.handle(EndBody(stream_id=STREAM_ID))

    async def _next_event(self) -> Any:
        """The next event. Bytes that are not HTTP, or a body in too many pieces, end the connection: NEED_DATA."""
        if self.connection.their_state is h11.IDLE:
            self._pass_over_empty_line()
        try:
            event = self.connection.next_event()
        except h11.RemoteProtocolError as error:
            return await self._break_off(error.error_status_hint)
        if isinstance(event, h11.Request):
            self._pieces = self._piece_bytes = 0
            self._accepted = accepted_of(event.headers)
            self._is_head = event.method == b"HEAD"
        elif isinstance(event, h11.Data):
            self._pieces += 1
            self._piece_bytes += len(event.data)
            if self._pieces > _PIECES + self._piece_bytes // _BYTES_OF_A_PIECE:
                return await self._break_off(400, say("crumbs"))
        return event

    def _pass_over_empty_line(self) -> None:
        """Skip an empty line before a request (RFC 9112, section 2.2).

        Some clients send one after a body. They would take the 400 for the answer to their next request.
        """
        if self.connection.trailing_data[0].startswith(b"\r\n"):
            cast(h11.Connection, self.connection)._receive_buffer.maybe_extract_at_most(2)

    async def _break_off(self, status: int, message: Text | None = None) -> Any:
        if self.connection.our_state in {h11.IDLE, h11.SEND_RESPONSE}:
            read = self.connection.our_state is h11.SEND_RESPONSE
            accepted = self._accepted if read else accepted_in(self._arrived)
            self._is_head = read and self._is_head
            await self._send_error(status, message, accepted)
        await self.send(Closed())
        return h11.NEED_DATA

    def _asked_enough(self) -> bool:
        return self.keep_alive_requests >= self.config.keep_alive_max_requests

    async def _send_answer(self, answer: HttpAnswer) -> None:
        headers = [*answer.headers, *self.config.response_headers("h11")]
        await self._send_h11_event(h11.Response(status_code=answer.status, headers=headers))
        if not self._is_head:
            await self._send_h11_event(h11.Data(data=answer.body))
        await self._send_h11_event(h11.EndOfMessage())

    async def _create_stream(self, request: h11.Request) -> None:
        """Pass a request to the framework, unless the pipeline refuses it."""
        scope = make_scope(request.method, request.target, request.http_version, list(request.headers), self.client)
        if (refused := self._pipeline.refuse(scope)) is not None:
            await self._send_answer(refused)
            await self.send(Closed())
            return
        self.stream = HTTPStream(
            self.app,
            self.config,
            self.context,
            self.task_group,
            self.ssl,
            self.client,
            self.server,
            self.stream_send,
            STREAM_ID,
        )
        await self.stream.handle(
            RequestEvent(
                stream_id=STREAM_ID,
                headers=list(request.headers),
                http_version=request.http_version.decode(),
                method=request.method.decode("ascii").upper(),
                raw_path=request.target,
                state=self.connection_state,
            )
        )
        self.keep_alive_requests += 1

    async def _send_error_response(self, status_code: int) -> None:
        await self._send_error(status_code, None, self._accepted)

    async def _send_error(self, status: int, message: Text | None, accepted: bytes | None) -> None:
        answer = plain_error(status, message, accepted=accepted, page=self._pipeline.page)
        await self._send_answer(HttpAnswer(status, *answer))

    async def _send_h11_event(self, event: Any) -> None:
        if isinstance(event, h11.Response) and self._is_last(event):
            event = h11.Response(status_code=event.status_code, headers=[*event.headers, _LAST])
        try:
            data = self.connection.send(event)
        except h11.LocalProtocolError:
            if self.connection.their_state != h11.ERROR:
                raise
            return
        self._collected += data or b""
        is_whole = isinstance(event, h11.EndOfMessage | h11.InformationalResponse)
        if is_whole or len(self._collected) > COLLECT_BYTES:
            collected, self._collected = bytes(self._collected), bytearray()
            await self.send(RawData(data=collected))

    def _is_last(self, answer: h11.Response) -> bool:
        """Whether an answer without `Connection: close` ends the connection, and so needs that header.

        An answer before the end of its request does: the rest is not read.
        """
        unread = self.connection.their_state is h11.SEND_BODY
        return (unread or self._asked_enough()) and _LAST not in answer.headers
