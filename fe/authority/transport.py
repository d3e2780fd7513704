"""Connections to the authority that are kept for the next exchange.

A connection belongs to one exchange at a time and lies on a stack in between. Nothing else is shared, and nothing is
searched. The first byte of a request is the point of no return: before it nothing was sent (CallNotSent), from it on
the authority may have the document (CallBroken).
"""

import ssl
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

import trio

from fe.egress.answer import HttpReply
from fe.egress.client import Egress
from fe.egress.connection import Connection, HttpRequest, LastLook
from fe.egress.errors import CallBroken, CallNotSent
from fe.egress.target import CONFIGURED, Origin

#: Awaited when all is ready and nothing is sent: the place to commit the intent and to see that the lease still holds.
#: It may return what is to be looked at once more, after everything that takes time.
BeforeSend = Callable[[], Awaitable[LastLook | None]]


@dataclass(frozen=True, slots=True)
class Timeouts:
    """How long each phase may last, in seconds; each has its own clock, so that a slow one cannot eat up the next.

    `session` bounds getting a token (two exchanges), `queue` waiting for a free connection, `connect` the name, TCP and
    TLS, `answer` everything from the first byte sent to the last byte read. `idle` is how long an unused connection is
    kept: well below the minute or two after which servers close it, perhaps just as a document goes out.
    """

    session: float = 15.0
    queue: float = 5.0
    connect: float = 5.0
    answer: float = 20.0
    idle: float = 15.0

    @property
    def call(self) -> float:
        """The longest an operation can last: once with an old token, once more after a 401."""
        return 2 * (self.session + self.queue + self.connect + self.answer)


@dataclass(slots=True)
class _Lane:
    slots: trio.Semaphore
    idle: deque[Connection] = field(default_factory=deque)


class Transport:
    """Connections to the authority, by lane: a host and an environment, so that test traffic never holds up production.

    At most `connections` exchanges are under way in a lane; the others wait their turn.
    """

    def __init__(self, *, tls: ssl.SSLContext, timeouts: Timeouts, connections: int) -> None:
        self._egress = Egress(CONFIGURED, tls=tls)
        self._timeouts = timeouts
        self._connections = connections
        self._lanes: dict[tuple[Origin, str], _Lane] = {}
        self._closed = False

    def close(self) -> None:
        """Close what is idle, and let nothing be kept from now on."""
        self._closed = True
        for lane in self._lanes.values():
            while lane.idle:
                lane.idle.pop().close()

    @property
    def idle(self) -> int:
        """How many connections are kept for the next exchange."""
        return sum(len(lane.idle) for lane in self._lanes.values())

    async def exchange(
        self,
        origin: Origin,
        lane_name: str,
        request: HttpRequest,
        before_send: BeforeSend | None = None,
    ) -> HttpReply:
        """Make one exchange.

        `before_send` is awaited when a connection is ready and nothing has been sent; what it raises comes out as it
        is, and nothing is sent. So does what the look that it may return raises: that is called when the first byte is
        about to leave, and once more before each further piece, where calling off leaves a CallBroken.

        Raises CallNotSent or CallBroken. If the caller is cancelled: waiting for a slot or connecting, nothing was
        sent; in `before_send`, neither; later, the outcome is unknown. In every case the slot is free again, and the
        connection is closed unless it stands between two exchanges.
        """
        lane = self._lanes.get((origin, lane_name))
        if lane is None:
            lane = self._lanes[origin, lane_name] = _Lane(trio.Semaphore(self._connections))
        await self._take_slot(lane)
        try:
            connection = self._take_idle(lane) or await self._connect(origin)
            try:
                last_look = await before_send() if before_send is not None else None
                with trio.move_on_after(self._timeouts.answer):
                    return await connection.exchange(origin, request, last_look)
                raise CallBroken("timeout", f"no complete answer within {self._timeouts.answer:g} s")
            finally:
                self._release(lane, connection)
        finally:
            lane.slots.release()

    async def _take_slot(self, lane: _Lane) -> None:
        try:
            lane.slots.acquire_nowait()
        except trio.WouldBlock:
            pass
        else:
            return
        with trio.move_on_after(self._timeouts.queue):
            await lane.slots.acquire()
            return
        raise CallNotSent("timeout", f"no connection became free within {self._timeouts.queue:g} s")

    def _take_idle(self, lane: _Lane) -> Connection | None:
        expired = trio.current_time() - self._timeouts.idle
        while lane.idle and lane.idle[0].idle_since < expired:
            lane.idle.popleft().close()
        while lane.idle:
            connection = lane.idle.pop()
            if connection.silent:
                return connection
            connection.close()
        return None

    def _release(self, lane: _Lane, connection: Connection) -> None:
        if connection.idle and not self._closed:
            connection.idle_since = trio.current_time()
            lane.idle.append(connection)
        else:
            connection.close()

    async def _connect(self, origin: Origin) -> Connection:
        with trio.move_on_after(self._timeouts.connect):
            return await self._egress.connect(origin)
        raise CallNotSent("timeout", f"cannot connect to {origin.authority} within {self._timeouts.connect:g} s")
