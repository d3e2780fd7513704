"""Commands when the service uses all its connections, and when the server has none left."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from fe.store.postgres.connection_limit import COMMAND_CONNECTIONS
from fe.store.postgres.pools import ASKING
from fe.store.postgres.roles import FRONT, OPERATOR
from tests import citus
from tests.cli.running import Fe
from tests.factories.logins import login
from tests.store.race import plain


@pytest.fixture
def service(fe: Fe) -> Iterator[str]:
    """A login of the service: an ordinary one, to which no reserved slot is given."""
    with login(fe.dsn) as name:
        yield name


@pytest.fixture
def cli(fe: Fe) -> Iterator[str]:
    """DSN of a command's login."""
    with login(fe.dsn) as name, plain(fe.dsn) as conn:
        conn.execute(f"GRANT {OPERATOR} TO {name}".encode())
        yield make_conninfo(fe.dsn, user=name)


@contextmanager
def all_taken(fe: Fe, name: str) -> Iterator[tuple[int, str]]:
    """Let a login take connections until it gets no more; how many it got, and the server's words."""
    with ExitStack() as taken:
        for count in range(1000):
            try:
                taken.enter_context(plain(make_conninfo(fe.dsn, user=name)))
            except psycopg.OperationalError as full:
                yield count, str(full)
                return
    raise AssertionError("a server without end")


def no_session_of(fe: Fe, name: str) -> None:
    """Wait until the server has noticed that a login's connections are closed."""
    with plain(fe.dsn) as conn:
        while conn.execute("SELECT FROM pg_stat_activity WHERE usename = %s LIMIT 1", (name,)).fetchone() is not None:
            conn.execute("SELECT pg_stat_clear_snapshot()")


def test_a_service_with_all_that_it_may_have_leaves_commands_their_connections(fe: Fe, service: str, cli: str) -> None:
    with all_taken(fe, service) as (count, _):
        pass
    no_session_of(fe, service)
    with plain(fe.dsn) as conn:
        conn.execute(f"ALTER ROLE {service} CONNECTION LIMIT {count - COMMAND_CONNECTIONS}".encode())

    with all_taken(fe, service) as (_, words):
        assert "too many connections for role" in words
        assert fe("tenant", "list", "--json", database_url=cli).json == []
        assert "too many connections for role" in fe.refused(
            "tenant", "list", code=4, database_url=make_conninfo(fe.dsn, user=service)
        )
    no_session_of(fe, service)


def test_a_command_that_gets_no_connection_says_so_and_where_to_read(fe: Fe, service: str, cli: str) -> None:
    with all_taken(fe, service):
        told = fe.refused("tenant", "list", code=4, database_url=cli)
    no_session_of(fe, service)

    assert "remaining connection slots are reserved" in told
    assert told.endswith("(all its connections are taken: docs/operations.md keeps some for commands)")


def test_a_service_that_would_take_every_connection_does_not_start(fe: Fe) -> None:
    with plain(fe.dsn) as conn:
        names = ("max_connections", "superuser_reserved_connections")
        every, kept = (int(conn.execute("SELECT current_setting(%s)", (name,)).fetchall()[0][0]) for name in names)
    there = every - kept
    each = min(there // 2 + 10, 200)
    # Front and actors have as many each, with one to ask a cluster's nodes; and three more to listen with.
    wanted = 2 * (each + asking()) + 3

    told = fe.refused("run", database_connections=str(each), metrics_bind="127.0.0.1:0")

    assert told == (
        f"the service would take up to {wanted} connections, and the server has {there} in all, of which "
        "commands need 2: fewer FE_DATABASE_CONNECTIONS or processes, or more max_connections"
    )


def test_a_service_that_would_take_more_than_its_login_may_does_not_start(fe: Fe, service: str) -> None:
    with plain(fe.dsn) as conn:
        conn.execute(f"ALTER ROLE {service} CONNECTION LIMIT 10".encode())
        conn.execute(f"GRANT {FRONT} TO {service}".encode())

    told = fe.refused("run", "--role", "http", database_url=make_conninfo(fe.dsn, user=service))

    wanted = 11 + asking()
    assert told == (
        f"the service would take up to {wanted} connections, and the login {service} may have 10: fewer "
        f"FE_DATABASE_CONNECTIONS or processes, or ALTER ROLE {service} CONNECTION LIMIT {wanted}"
    )


def asking() -> int:
    return ASKING if citus.engine().distributed else 0
