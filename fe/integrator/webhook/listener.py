"""A small HTTP server that hands each POST to a function and answers what it says: for trying webhooks out."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import partial

import h11
import trio

#: Above any call of the service's: a document and what is around it, escaped.
MAX_BODY = 8 * 1024 * 1024
#: How long a caller may take to send a request, in seconds.
PATIENCE = 30.0

_READ = 64 * 1024


@dataclass(frozen=True, slots=True)
class ReceivedCall:
    """A call as it came. `headers` by their names in lower case."""

    path: str
    headers: Mapping[str, str]
    body: bytes


#: Gets a call and gives the status it is answered with.
Handler = Callable[[ReceivedCall], Awaitable[int]]


def _never_mind() -> None:
    pass


async def listen(
    handler: Handler,
    host: str,
    port: int,
    answered: Callable[[], None] = _never_mind,
    *,
    task_status: trio.TaskStatus[int] = trio.TASK_STATUS_IGNORED,
) -> None:
    """Serve until cancelled; tells the port. `answered` is called after each answer has left.

    Raises OSError when it cannot listen there.
    """
    listeners = await trio.open_tcp_listeners(port, host=host)
    bound: int = listeners[0].socket.getsockname()[1]
    serve = partial(trio.serve_listeners, partial(_converse, handler, answered), listeners)
    async with trio.open_nursery() as nursery:
        await nursery.start(serve)
        task_status.started(bound)


async def _converse(handler: Handler, answered: Callable[[], None], stream: trio.SocketStream) -> None:
    """Answer the requests of one connection until it ends, or breaks the rules."""
    connection = h11.Connection(h11.SERVER)
    async with stream:
        try:
            while True:
                with trio.move_on_after(PATIENCE) as patience:
                    received = await _read(connection, stream)
                if patience.cancelled_caught or received is None:
                    return
                status = 405 if isinstance(received, h11.Request) else await handler(received)
                await _answer(connection, stream, status)
                answered()
                if connection.our_state is not h11.DONE or connection.their_state is not h11.DONE:
                    return
                connection.start_next_cycle()
        except (h11.ProtocolError, trio.BrokenResourceError, trio.ClosedResourceError):
            return  # the client's fault: serve the next connection


async def _read(connection: h11.Connection, stream: trio.SocketStream) -> ReceivedCall | h11.Request | None:
    """Read one request: whole when it is a POST, its head alone when it is not, None when none comes any more."""
    request: h11.Request | None = None
    body = b""
    while True:
        event = connection.next_event()
        if event is h11.NEED_DATA:
            if connection.they_are_waiting_for_100_continue:
                go_on = h11.InformationalResponse(status_code=100, headers=[])
                await stream.send_all(connection.send(go_on) or b"")
            connection.receive_data(await stream.receive_some(_READ))
        elif isinstance(event, h11.Request):
            request = event
            if event.method != b"POST":
                return event
        elif isinstance(event, h11.Data):
            body += event.data
            if len(body) > MAX_BODY:
                raise h11.RemoteProtocolError("the body is too large", error_status_hint=413)
        elif isinstance(event, h11.EndOfMessage) and request is not None:
            headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in request.headers}
            return ReceivedCall(request.target.decode("latin-1"), headers, body)
        else:  # the connection ended
            return None


async def _answer(connection: h11.Connection, stream: trio.SocketStream, status: int) -> None:
    headers = [("Content-Length", "0")]
    if connection.their_state is not h11.DONE:
        headers.append(("Connection", "close"))
    said = connection.send(h11.Response(status_code=status, headers=headers)) or b""
    await stream.send_all(said + (connection.send(h11.EndOfMessage()) or b""))
