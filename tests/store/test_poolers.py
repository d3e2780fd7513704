"""Behind PgBouncer: pooling sessions it serves us fully; pooling transactions it is refused by name."""

import secrets
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
import trio
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg.rows import scalar_row

from fe.identifiers import TenantId
from fe.store.postgres import pooled as sessions
from fe.store.postgres.db import Conn, Database, DriverName, open_database
from fe.store.postgres.errors import DatabaseUnavailable, SessionRefused
from fe.store.postgres.migrate import migrate, verify
from fe.store.postgres.roles import FRONT, OPERATOR, WORKER
from fe.store.postgres.session import settings_of
from fe.store.queue.wakeups import Wakeups
from tests import citus
from tests.cli.running import Fe
from tests.cli.test_run import running
from tests.factories.tenants import make_submission, make_tenant
from tests.store.race import plain
from tests.system.pooler import needs_pgbouncer, pgbouncer, pooler
from tests.waiting import PATIENCE


@pytest.fixture(params=["trio", "trio-asyncio"])
def driver(request: pytest.FixtureRequest) -> DriverName:
    name: DriverName = request.param
    return name


@pytest.fixture
def fe(tmp_path: Path, dsn: str) -> Fe:
    """The command, with a database of this test's own."""
    return Fe(tmp_path, dsn)


@pytest.fixture
def one_login(dsn: str) -> Iterator[str]:
    """The weakest way to run the service: one login, no superuser, that may take every role."""
    name = f"login_{secrets.token_hex(4)}"
    with plain(dsn) as conn:
        conn.execute(f"CREATE ROLE {name} LOGIN".encode())
        conn.execute(f"GRANT {FRONT}, {WORKER}, {OPERATOR} TO {name}".encode())
        yield make_conninfo(dsn, user=name)
        conn.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = %s", (name,))
        conn.execute(f"DROP ROLE {name}".encode())


async def settings_there(conn: Conn) -> dict[str, str]:
    names = list(settings_of(None, citus.engine()))
    cursor = await conn.execute("SELECT n, current_setting(n) FROM unnest(%s::text[]) AS names (n)", (names,))
    return dict(await cursor.fetchall())


async def whose(conn: Conn, tenant_id: TenantId = TenantId(0)) -> list[int]:
    """Rows found by a query without its WHERE."""
    cursor = conn.cursor(row_factory=scalar_row)
    await cursor.execute("SELECT tenant_id FROM submissions")
    return await cursor.fetchall()


# --- pooling sessions ----------------------------------------------------------------------------------------------


@needs_pgbouncer
async def test_pooling_sessions_it_lets_role_and_settings_through(dsn: str, driver: DriverName) -> None:
    with pgbouncer(dsn, "session") as pooled:
        verify(pooled, FRONT, WORKER)
        for role in (FRONT, WORKER, None):
            async with open_database(pooled, max_size=2, driver=driver, role=role) as db:
                assert await db.run(settings_there) == settings_of(role, citus.engine())


@needs_pgbouncer
async def test_pooling_sessions_with_one_login_the_wall_stands(one_login: str, db: Database) -> None:
    mine, theirs = await make_tenant(db), await make_tenant(db)
    await make_submission(db, mine)
    await make_submission(db, theirs)
    with pgbouncer(one_login, "session") as pooled:
        async with (
            open_database(pooled, max_size=1, role=FRONT) as front,
            open_database(pooled, max_size=1, role=WORKER) as worker,
        ):
            assert await front.run_for(mine, whose) == [mine]
            assert await front.run(whose) == []
            assert sorted(await worker.run(whose)) == sorted([mine, theirs])


@needs_pgbouncer
async def test_a_session_that_somebody_else_used_before_is_as_good_as_new(dsn: str) -> None:
    """Told not to clean up behind its clients, the pooler hands their role on: to a login in no role, too."""
    with pgbouncer(dsn, "session", server_reset_query="", default_pool_size=1) as pooled:
        async with open_database(pooled, max_size=1, role=FRONT) as front:
            await front.run(settings_there)
        async with open_database(pooled, max_size=1) as owner:
            assert await owner.run(settings_there) == settings_of(None, citus.engine())


@needs_pgbouncer
async def test_pooling_sessions_it_lets_notifications_through(dsn: str, driver: DriverName) -> None:
    with pgbouncer(dsn, "session") as pooled:
        async with open_database(pooled, max_size=2, driver=driver) as db, trio.open_nursery() as nursery:
            wakeups = Wakeups(db)
            nursery.start_soon(wakeups.run)
            with trio.fail_after(60):
                while wakeups.heard is None:  # noqa: ASYNC110  (what is waited for has no event)
                    await trio.sleep(0.02)
            nursery.cancel_scope.cancel()

    assert wakeups.heard is True


_SLEEPING = "SELECT FROM pg_stat_activity WHERE state = 'active' AND query = 'SELECT pg_sleep(30)'"


@needs_pgbouncer
async def test_pooling_sessions_a_statement_that_is_cancelled_ends_on_the_server(dsn: str, driver: DriverName) -> None:
    async def sleep(conn: Conn) -> None:
        await conn.execute("SELECT pg_sleep(30)")

    with pgbouncer(dsn, "session") as pooled:
        async with open_database(pooled, max_size=1, driver=driver) as db:
            with trio.move_on_after(0.5):
                await db.run(sleep)
            with plain(dsn) as conn, trio.fail_after(60):
                while conn.execute(_SLEEPING).fetchone() is not None:  # noqa: ASYNC110
                    await trio.sleep(0.02)


@needs_pgbouncer
def test_the_service_and_its_commands_work_behind_a_pooler_of_sessions(fe: Fe) -> None:
    with pgbouncer(fe.dsn, "session") as pooled:
        assert fe("migrate", database_url=pooled).out == "the database is up to date\n"
        assert fe("tenant", "list", database_url=pooled).code == 0
        with running(fe, database_url=pooled, database_connections="3") as (process, url):
            assert httpx.get(f"{url}/readyz", timeout=PATIENCE).json() == {"status": "ready"}
            process.terminate()
            process.wait(timeout=120)
    assert process.returncode == 0


@needs_pgbouncer
def test_a_pooler_without_a_second_connection_is_told_to_have_more(dsn: str) -> None:
    with (
        pgbouncer(dsn, "session", default_pool_size=1) as pooled,
        pytest.raises(DatabaseUnavailable, match="raise its default_pool_size"),
    ):
        verify(pooled, FRONT)


# --- pooling transactions ------------------------------------------------------------------------------------------


@needs_pgbouncer
@pytest.mark.parametrize("size", [1, 20])
def test_pooling_transactions_it_is_refused_by_name(dsn: str, size: int) -> None:
    with pgbouncer(dsn, "transaction", default_pool_size=size) as pooled:
        for _ in range(3):
            with pytest.raises(SessionRefused, match=r"pools transactions.*pool_mode = session"):
                verify(pooled, FRONT)
        with pytest.raises(SessionRefused, match="pools transactions"):
            migrate(pooled)


@needs_pgbouncer
def test_pooling_statements_it_is_refused_in_the_poolers_words(dsn: str) -> None:
    with pgbouncer(dsn, "statement") as pooled, pytest.raises(DatabaseUnavailable, match="statement pooling"):
        verify(pooled, FRONT)


@needs_pgbouncer
def test_behind_a_pooler_of_transactions_nothing_says_that_it_serves(fe: Fe) -> None:
    with pgbouncer(fe.dsn, "transaction") as pooled:
        for command in (("run",), ("run", "--role", "actors"), ("migrate",), ("tenant", "list")):
            assert "pool_mode = session" in fe.refused(*command, database_url=pooled), command


@needs_pgbouncer
async def test_pooler_switched_to_transactions_under_open_connections_is_refused_until_it_is_switched_back(
    dsn: str, driver: DriverName, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sessions, "REFUSED_SECONDS", 1.0)

    async def use_until(result: str) -> None:
        """Use both pools in turn until each is served in its own session, or one is refused."""
        with trio.fail_after(PATIENCE):
            while True:
                served = 0
                for role, db in both:
                    try:
                        served += await db.run(settings_there) == settings_of(role, citus.engine())
                    except DatabaseUnavailable as refused:
                        assert "pool_mode = session" in str(refused)  # noqa: PT017  (whichever of the two it is)
                        if result == "refused":
                            return
                if result == "served" and served == len(both):
                    return
                await trio.sleep(0.2)

    with pooler(dsn, "session") as pooled:
        async with (
            open_database(pooled.dsn, max_size=1, driver=driver, role=FRONT) as front,
            open_database(pooled.dsn, max_size=1, driver=driver, role=WORKER) as worker,
        ):
            both = ((FRONT, front), (WORKER, worker))
            await use_until("served")

            pooled.switch("transaction")
            await use_until("refused")
            assert "a session was lost" in caplog.text

            pooled.switch("session")
            await use_until("served")


@needs_pgbouncer
async def test_a_pooler_that_begins_to_pool_transactions_opens_no_hole_in_the_wall(
    one_login: str, db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One server process for all: what the front asks in it runs after the actors have set their role there."""
    monkeypatch.setattr(sessions, "LOOK_SECONDS", PATIENCE)  # as in the second before the switch is noticed
    mine, theirs = await make_tenant(db), await make_tenant(db)
    await make_submission(db, mine)
    await make_submission(db, theirs)
    with pgbouncer(one_login, "transaction", default_pool_size=1) as pooled:
        async with (
            open_database(pooled, max_size=1, role=FRONT) as front,
            open_database(pooled, max_size=1, role=WORKER) as worker,
        ):
            assert await front.run_for(mine, whose) == [mine]
            assert sorted(await worker.run(whose)) == sorted([mine, theirs])

            assert await front.run_for(mine, whose) == [mine]


# --- whatever stands in between ------------------------------------------------------------------------------------


@pytest.fixture
def deaf(dsn: str) -> str:
    """DSN of a server that accepts every setting and applies none."""
    with plain(dsn) as conn:
        conn.execute("CREATE FUNCTION public.set_config(text, text, boolean) RETURNS text LANGUAGE sql AS 'SELECT $2'")
        conn.execute("GRANT EXECUTE ON FUNCTION public.set_config TO PUBLIC")
        name = sql.Identifier(str(conninfo_to_dict(dsn)["dbname"]))
        conn.execute(sql.SQL("ALTER DATABASE {} SET search_path = public, pg_catalog").format(name))
    return dsn


async def test_a_setting_that_does_not_hold_is_named_and_nothing_is_asked(deaf: str, driver: DriverName) -> None:
    with pytest.raises(SessionRefused, match=r"the setting statement_timeout was set to 8s and is 0: .*session"):
        verify(deaf)
    async with open_database(deaf, max_size=1, patience=1, driver=driver) as db:
        with pytest.raises(DatabaseUnavailable):
            await db.run(settings_there)


async def test_a_role_that_was_taken_away_is_said_in_the_servers_words(one_login: str, dsn: str) -> None:
    login = conninfo_to_dict(one_login)["user"]
    with plain(dsn) as conn:
        conn.execute(f"REVOKE {FRONT} FROM {login}".encode())
    async with open_database(one_login, max_size=1, patience=PATIENCE, role=FRONT) as db:
        with pytest.raises(DatabaseUnavailable, match='permission denied to set role "fe_front"'):
            await db.run(settings_there)


def test_without_a_pooler_one_connection_is_enough(dsn: str) -> None:
    with plain(dsn) as conn:
        login = f"login_{secrets.token_hex(4)}"
        conn.execute(f"CREATE ROLE {login} LOGIN CONNECTION LIMIT 1 IN ROLE {FRONT}".encode())
        try:
            verify(make_conninfo(dsn, user=login), FRONT)
        finally:
            conn.execute(f"DROP ROLE {login}".encode())
