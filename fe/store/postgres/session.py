"""Session settings, and the check that the server applied them.

They are set by a statement after connecting, because poolers refuse or drop startup parameters. Then they are read
back, in one round trip: a session without a timeout may hang, and one without its role has no tenant scope.
"""

import select
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

import psycopg

from fe.store.postgres.engine import POSTGRES, Engine
from fe.store.postgres.errors import DatabaseUnavailable, SessionRefused

#: How values are written and read, and what a transaction sees of others. A server, a database or a login may have been
#: set otherwise (ALTER DATABASE ... SET) for other programs; what reads dates here, and functions there, know these.
FORMS = {
    "client_encoding": "UTF8",
    "datestyle": "ISO, MDY",
    "default_transaction_isolation": "read committed",
    "intervalstyle": "postgres",
    "standard_conforming_strings": "on",
    "timezone": "UTC",
}

#: Kept by the server, so that it gives up before we do and no lock outlives a worker that vanished. And plans are made
#: once, for any values: what tests/store/test_plans.py proves is what runs, and no call waits for its planning, nor for
#: the compiling of a plan that is guessed to be dear because it might read every month.
SERVER_SETTINGS = {
    "statement_timeout": "8s",
    "lock_timeout": "5s",
    "idle_in_transaction_session_timeout": "10s",
    "client_connection_check_interval": "5s",
    "plan_cache_mode": "force_generic_plan",
    "jit": "off",
    # A wait for the synchronous standby that was cancelled shows as a warning and as nothing else (db.py).
    "client_min_messages": "warning",
    **FORMS,
}

#: No role: the rights of the login. Set explicitly, because a pooler may pass on a role that another client set.
NO_ROLE = "none"

#: How long each query to a pooler may wait for a server; see `require_session_pooling`.
_POOLER_SECONDS = 5.0
_ROUNDS = 3

_SET = b"SELECT set_config(name, value, false) FROM unnest(%s::text[], %s::text[]) AS wanted (name, value)"
_LOOK = b"SELECT name, current_setting(name) FROM unnest(%s::text[]) AS wanted (name)"


def settings_of(role: str | None, engine: Engine = POSTGRES) -> dict[str, str]:
    """Return the settings of a session with `role`; None is the login itself."""
    return {**SERVER_SETTINGS, **engine.session, "role": role or NO_ROLE}


async def apply_settings(conn: psycopg.AsyncConnection[object], settings: Mapping[str, str]) -> None:
    """Set a new connection up, and see that it is. Raises psycopg.OperationalError saying what is not so."""
    try:
        await conn.execute(_SET, _columns(settings), prepare=False)
        looked = await conn.execute(_LOOK, [list(settings)], prepare=False)
        found: Sequence[tuple[str, str]] = await looked.fetchall()  # type: ignore[assignment]  # rows are tuples here
    except psycopg.Error as error:
        if error.sqlstate is None:
            raise
        raise psycopg.OperationalError(f"a session cannot be set up: {error.diag.message_primary}") from error
    if wrong := _disagreement(settings, found):
        raise psycopg.OperationalError(wrong)


@contextmanager
def connected_once(dsn: str) -> Iterator[psycopg.Connection]:
    """Connect with a connection of the plain kind, in autocommit mode, for the block: for a look, or a migration.

    It has the login's rights and knows no timeout of ours. Raises psycopg.OperationalError.
    """
    with psycopg.connect(dsn, autocommit=True, connect_timeout=5) as conn:
        conn.execute(_SET, _columns(FORMS))
        yield conn


def apply_settings_once(conn: psycopg.Connection, role: str | None, engine: Engine = POSTGRES) -> None:
    """Do the same at start, for a connection of the plain kind. Raises SessionRefused."""
    settings = settings_of(role, engine)
    conn.execute(_SET, _columns(settings))
    if wrong := _disagreement(settings, conn.execute(_LOOK, [list(settings)]).fetchall()):
        raise SessionRefused(wrong)


def _columns(settings: Mapping[str, str]) -> list[list[str]]:
    return [list(settings), list(settings.values())]


def _disagreement(wanted: Mapping[str, str], found: Sequence[tuple[str, str]]) -> str | None:
    for name, value in found:
        if value != wanted[name]:
            return (
                f"the setting {name} was set to {wanted[name]} and is {value or 'empty'}: what stands between "
                "us and Postgres does not keep it. Let PgBouncer pool sessions (pool_mode = session), or do without"
            )
    return None


def require_session_pooling(conn: psycopg.Connection, dsn: str) -> None:
    """See that this connection keeps its server process, as it does unless a pooler hands it out by transaction.

    Role, timeouts, prepared statements and notifications belong to that process. Raises SessionRefused, or
    DatabaseUnavailable when the pooler has no second connection to find it out with.
    """
    ours = _server_process(conn, b"SELECT pg_backend_pid()")
    if ours == conn.info.backend_pid:
        return  # no pooler in between
    with psycopg.connect(dsn, autocommit=True, connect_timeout=5) as other:
        for _ in range(_ROUNDS):
            # While our connection is idle another one begins a transaction. With transaction pooling it gets the server
            # process used last, which is ours; if another client was quicker, we get a different one.
            theirs = _server_process(other, b"BEGIN; SELECT pg_backend_pid()")
            if theirs is None:
                raise DatabaseUnavailable(
                    "the pooler in front of it has no second connection free: raise its default_pool_size"
                )
            again = _server_process(conn, b"SELECT pg_backend_pid()")
            if theirs == ours or again != ours:
                raise SessionRefused(
                    "the pooler in front of the database pools transactions: there our role, the timeouts and prepared "
                    "statements would be anybody's. Let PgBouncer pool sessions (pool_mode = session) for this "
                    "database, or name Postgres itself in FE_DATABASE_URL"
                )
            _server_process(other, b"ROLLBACK; SELECT pg_backend_pid()")


def _server_process(conn: psycopg.Connection, statements: bytes) -> int | None:
    """Ask which process of the server works for us; None when there was none within our patience.

    Behind psycopg's back, which would wait for ever: a pooler lets a statement wait until a server is free.
    """
    link, until = conn.pgconn, time.monotonic() + _POOLER_SECONDS
    link.send_query(statements)
    process: int | None = None
    while True:
        while link.is_busy():
            if not select.select([link.socket], [], [], max(0.0, until - time.monotonic()))[0]:
                return None
            link.consume_input()
        result = link.get_result()
        if result is None:
            return process
        if result.error_message:
            raise psycopg.OperationalError(result.get_error_message())
        if (value := result.get_value(0, 0)) is not None:
            process = int(value)
