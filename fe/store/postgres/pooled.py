"""Sessions behind a pooler: each carries a mark, and a session that has lost it is refused.

Start-up refuses a pooler that hands servers out by transaction (session.py). One that is switched to that while
processes run would give a unit of work the role, timeouts and prepared statements of any other session.
"""

import logging
import secrets
import time
from dataclasses import dataclass
from typing import Any, NoReturn
from weakref import WeakKeyDictionary

import psycopg

from fe.store.postgres.errors import DatabaseUnavailable

#: A connection behind a pooler is looked at again when it is lent and the last look is so old. Seconds.
LOOK_SECONDS = 1.0
#: Seconds without lending after a lost mark.
REFUSED_SECONDS = 10.0

#: A prepared statement that is there although this session has not made it, or is not there although it has.
_OF_ANOTHER_SESSION = (psycopg.errors.DuplicatePreparedStatement, psycopg.errors.InvalidSqlStatementName)

_MARK = "SELECT set_config('fe.session', %s, false), pg_backend_pid()"
_LOOK = "SELECT current_setting('fe.session', true)"
_REFUSED = (
    "the pooler in front of the database does not keep sessions any more: let PgBouncer pool sessions "
    "(pool_mode = session), or name Postgres itself in FE_DATABASE_URL"
)

_log = logging.getLogger(__name__)


@dataclass(slots=True)
class _Mark:
    word: str
    looked_at: float


class PooledSessions:
    """The sessions of one pool that something stands in front of. Without a pooler it asks nothing."""

    def __init__(self) -> None:
        self._marks: WeakKeyDictionary[psycopg.AsyncConnection[Any], _Mark] = WeakKeyDictionary()
        self._refused_until = 0.0

    async def mark(self, conn: psycopg.AsyncConnection[Any]) -> None:
        """Mark the session of a new connection, if a pooler gave it."""
        word = secrets.token_hex(8)
        cursor = await conn.execute(_MARK, (word,), prepare=False)
        (row,) = await cursor.fetchall()
        if row[1] != conn.info.backend_pid:  # not the process that greeted us: there is a pooler
            self._marks[conn] = _Mark(word, time.monotonic())

    async def look(self, conn: psycopg.AsyncConnection[Any]) -> None:
        """Look for the mark before a connection is used.

        Raises DatabaseUnavailable where it is gone, and for REFUSED_SECONDS after that.
        """
        mark = self._marks.get(conn)
        if mark is None:
            return
        now = time.monotonic()
        if now < self._refused_until:
            raise DatabaseUnavailable(_REFUSED)
        if now < mark.looked_at + LOOK_SECONDS:
            return
        cursor = await conn.execute(_LOOK, prepare=False)
        if await cursor.fetchone() != (mark.word,):
            await self._lost(conn)
        mark.looked_at = now

    async def judge(self, conn: psycopg.AsyncConnection[Any], error: psycopg.Error) -> None:
        """Judge an error by its connection: behind a pooler, a statement prepared by another session means a lost one.

        Raises DatabaseUnavailable then.
        """
        if isinstance(error, _OF_ANOTHER_SESSION) and conn in self._marks:
            await self._lost(conn)

    async def _lost(self, conn: psycopg.AsyncConnection[Any]) -> NoReturn:
        self._refused_until = time.monotonic() + REFUSED_SECONDS
        await conn.close()
        _log.error("a session was lost: %s", _REFUSED)
        raise DatabaseUnavailable(_REFUSED)
