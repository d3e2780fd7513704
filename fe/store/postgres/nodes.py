"""Which nodes of a cluster do not answer, as far as this process has noticed.

What lies on such a node cannot be served, and everything else has to go on without waiting for it. Whoever finds a node
away says so; then all nodes are asked, and those that do not answer again and again, until they do. Meanwhile what is
theirs is refused at once, and searches leave them out.
"""

import logging
from collections.abc import Awaitable, Callable, Collection
from typing import Any
from weakref import WeakKeyDictionary

import psycopg
import trio

from fe.store.postgres.errors import DatabaseUnavailable

_log = logging.getLogger(__name__)

Conn = psycopg.AsyncConnection[Any]

#: How often those that are away are asked.
_SECONDS = 1.0
#: For how long it is waited until all were.
_LONGEST = 5.0

_NONE: frozenset[int] = frozenset()
_TELL = "SELECT set_config('fe.nodes_away', %s || ' ' || (clock_timestamp() + interval '5 s'), false)"
#: A good deal sooner than it ends.
_TOLD_AGAIN = 2.0

#: Of connections to a coordinator.
_OF: WeakKeyDictionary[Conn, "AwayNodes"] = WeakKeyDictionary()


class AwayNodes:
    """The nodes that do not answer, by their groups (pg_dist_node.groupid). One for each pool of connections."""

    def __init__(self) -> None:
        self.groups = _NONE
        self._doubt = trio.Event()
        self._looked = trio.lowlevel.ParkingLot()
        #: What a session was told, and when.
        self._told: WeakKeyDictionary[Conn, tuple[frozenset[int], float]] = WeakKeyDictionary()

    def doubt(self) -> None:
        """A node was found to be away: have all of them asked."""
        self._doubt.set()

    async def settled(self) -> None:
        """Have all of them asked, and wait until they were: for as long as one that is silent is given to answer."""
        self.doubt()
        with trio.move_on_after(_LONGEST):
            await self._looked.park()

    async def watch(self, ask: Callable[[], Awaitable[Collection[int]]]) -> None:
        """Look after whatever is doubted, until cancelled; `ask` names those that do not answer."""
        while True:
            await self._doubt.wait()
            self._doubt = trio.Event()
            await self._look(ask)
            while self.groups:
                await trio.sleep(_SECONDS)
                await self._look(ask)

    async def _look(self, ask: Callable[[], Awaitable[Collection[int]]]) -> None:
        try:
            found = frozenset(await ask())
        except DatabaseUnavailable:
            return  # the coordinator is away: of the others nothing new is known
        finally:
            self._looked.unpark_all()
        if found != self.groups:
            groups = ", ".join(map(str, sorted(found))) or "none any more"
            _log.warning("nodes of the cluster that do not answer, by their groups: %s", groups)
        self.groups = found

    async def tell(self, conn: Conn) -> None:
        """Have the searches of a session leave out those that are away (away_nodes in fe/store/citus/due.sql).

        Behind a pooler the session is somebody else's next, so what it was told ends by itself, and is said again.
        """
        groups, now = self.groups, trio.current_time()
        told, told_at = self._told.get(conn, (_NONE, 0.0))
        if told != groups or (groups and now > told_at + _TOLD_AGAIN):
            await conn.execute(_TELL, (f"{{{','.join(map(str, sorted(groups)))}}}",))
            self._told[conn] = groups, now

    def of(self, conn: Conn) -> None:
        """Remember that these are the nodes behind a connection."""
        _OF[conn] = self


def doubt_nodes(conn: Conn) -> None:
    """A statement of this connection found a node away."""
    if (nodes := _OF.get(conn)) is not None:
        nodes.doubt()
