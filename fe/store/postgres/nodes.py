"""Cluster nodes: what one holds, and which do not answer, as far as this process knows.

Rows on such a node cannot be served, and everything else must go on without waiting for it. A failed call raises a
doubt; then all nodes are asked, and silent ones again until they answer. Meanwhile calls for their rows fail at once,
and searches skip them.
"""

import logging
from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

import psycopg
import trio

from fe.store.postgres.errors import ANY_OF_THE_DATABASE, words

_log = logging.getLogger(__name__)

Conn = psycopg.AsyncConnection[Any]

#: Interval of questions to silent nodes; a call that takes longer counts as slow.
_SECONDS = 1.0
#: For how long it is waited until all were.
_LONGEST = 5.0
#: For how long the coordinator may take to be asked, and then to tell of each: longer than a node is given to answer.
ASKING_SECONDS = 5.0

_NONE: frozenset[int] = frozenset()
_TELL = "SELECT set_config('fe.nodes_away', %s || ' ' || (clock_timestamp() + interval '5 s'), false)"
#: A good deal sooner than it ends.
_TOLD_AGAIN = 2.0

#: Of connections to a coordinator.
_OF: WeakKeyDictionary[Conn, "AwayNodes"] = WeakKeyDictionary()


@dataclass(frozen=True, slots=True)
class Node:
    """A node. One that did not answer has nothing, as far as we know."""

    name: str
    answers: bool
    #: Of our database there.
    bytes: float = 0.0
    #: Tenants' shards: parts of the table of submissions.
    shards: float = 0.0
    #: By table, all its shards of that node together: bytes with indexes, live and dead rows by its server's estimate.
    tables: Mapping[str, tuple[float, float, float]] | None = None


class AwayNodes:
    """The nodes that do not answer, by their groups. One for each pool of connections."""

    def __init__(self) -> None:
        self.groups = _NONE
        self._doubt = trio.Event()
        self._looked = trio.lowlevel.ParkingLot()
        #: The calls that are under way, the oldest first, and since when.
        self._calls: dict[trio.CancelScope, float] = {}
        #: The setting of each session, and when it was made.
        self._told: WeakKeyDictionary[Conn, tuple[frozenset[int], float]] = WeakKeyDictionary()

    def doubt(self) -> None:
        """A node was found to be away: have all of them asked."""
        self._doubt.set()

    @contextmanager
    def call(self) -> Iterator[trio.CancelScope]:
        """A call whose scope is cancelled when a node that it may wait for turns out to be down.

        A statement that waits for a silent node returns late or never: a server that cancels a statement waits without
        limit to tell the node.
        """
        with trio.CancelScope() as scope:
            self._calls[scope] = trio.current_time()
            try:
                yield scope
            finally:
                del self._calls[scope]

    async def settled(self) -> None:
        """Have all of them asked, and wait until they were: for as long as one that is silent is given to answer."""
        self.doubt()
        with trio.move_on_after(_LONGEST):
            await self._looked.park()

    async def watch(self, ask: Callable[[], Awaitable[Collection[int]]]) -> None:
        """Look, when there is a doubt or a call takes long, until cancelled; `ask` names those that do not answer.

        Never more often than once a second, and until all answer.
        """
        while True:
            while not (self._doubt.is_set() or self.groups or self._slow_calls()):
                with trio.move_on_after(_SECONDS):
                    await self._doubt.wait()
            has_failed, self._doubt = self._doubt.is_set(), trio.Event()
            await self._look(ask, has_failed)
            await trio.sleep(_SECONDS)

    def _slow_calls(self) -> list[trio.CancelScope]:
        until = trio.current_time() - _SECONDS
        return [scope for scope, began in self._calls.items() if began < until]

    async def _look(self, ask: Callable[[], Awaitable[Collection[int]]], has_failed: bool) -> None:
        try:
            found = frozenset(await ask())
            if not (found <= self.groups or has_failed):
                # Nothing failed, a call is slow: a busy node may miss its time once, and be well with who is there.
                found &= frozenset(await ask())
        except ANY_OF_THE_DATABASE as error:  # the coordinator is away, say: of the others nothing new is known
            _log.warning("the nodes could not be asked: %s", words(error))
            return
        finally:
            self._looked.unpark_all()
        if found != self.groups:
            groups = ", ".join(map(str, sorted(found))) or "none any more"
            _log.warning("nodes of the cluster that do not answer, by their groups: %s", groups)
        are_more = not found <= self.groups
        self.groups = found
        if are_more:
            for scope in self._slow_calls():
                scope.cancel()

    async def tell(self, conn: Conn) -> None:
        """Make the searches of a session skip the nodes that are down (away_nodes.sql).

        Behind a pooler another client uses the session next, so the setting expires by itself and is renewed.
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
