"""Check that the server has enough connections for the service and for operators' commands."""

import psycopg

from fe.store.postgres.errors import StoreError

#: Most connections of one command, which must connect even when the service uses all of its own.
COMMAND_CONNECTIONS = 2

# Those that are reserved for certain logins came with Postgres 16.
_LIMITS = """
    SELECT current_setting('max_connections')::int
           - current_setting('superuser_reserved_connections')::int
           - coalesce(current_setting('reserved_connections', true), '0')::int,
           r.rolconnlimit,
           r.rolname
      FROM pg_roles AS r
     WHERE r.rolname = session_user
"""


class TooFewConnections(StoreError):
    """The service would take connections that the server does not have, or all; the message says how many there are."""


def require_free_connections(
    conn: psycopg.Connection,
    connections: int,
    *,
    server: str = "the server",
    fewer: str = "FE_DATABASE_CONNECTIONS or ",
) -> None:
    """Check that the server has `connections` for the service and still accepts a command.

    `server` names the server in the message. `fewer` names settings that the operator may lower besides the number of
    processes. Raises TooFewConnections.
    """
    row = conn.execute(_LIMITS).fetchone()
    assert row is not None
    there, of_login, login = row
    if connections + COMMAND_CONNECTIONS > there:
        raise TooFewConnections(
            f"the service would take up to {connections} connections, and {server} has {there} in all, of which "
            f"commands need {COMMAND_CONNECTIONS}: fewer {fewer}processes, or more max_connections"
        )
    if 0 <= of_login < connections:
        raise TooFewConnections(
            f"the service would take up to {connections} connections, and the login {login} may have {of_login}: fewer "
            f"{fewer}processes, or ALTER ROLE {login} CONNECTION LIMIT {connections}"
        )
