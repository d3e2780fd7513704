"""Behaviour behind a transaction pooler (docs/scaling.md).

The service refuses such a pooler today. It would take this: the login carries role, timeouts and way of
planning (`ALTER ROLE ... SET`), statements are not prepared or the pooler follows them, and everything that belongs to
a session goes to Postgres itself.
"""

import secrets
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from datetime import timedelta
from functools import partial
from typing import Any

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from fe.ecf.catalogue import Environment
from fe.identifiers import SubmissionId, TenantId, TrackId
from fe.lifecycle import Stage
from fe.store.postgres.db import Conn, Database
from fe.store.postgres.engine import note_engine
from fe.store.postgres.migrate import migrate
from fe.store.postgres.roles import FRONT, WORKER
from fe.store.postgres.session import settings_of
from fe.store.postgres.trio_connection import TrioDriver
from fe.store.queue import outbox
from fe.store.records import history, submissions
from tests import citus
from tests.factories import bookings
from tests.factories.tenants import (
    ACCEPTED_AT,
    DOCUMENT,
    LEASE,
    SIGNED,
    digest_of,
    make_submission,
    make_tenant,
    new_submission,
    submission,
    take,
)
from tests.store.race import plain
from tests.system.pooler import needs_pgbouncer, pgbouncer, pooler_version

pytestmark = needs_pgbouncer

#: Setting for PgBouncer to follow statements prepared by the protocol between servers.
_FOLLOWS = {"max_prepared_statements": 200} if pooler_version() >= (1, 21) else {}


@pytest.fixture
def logins(dsn: str) -> Iterator[dict[str, str]]:
    """A login for each kind of process that brings its settings along, as docs/scaling.md says; DSNs by role."""
    made = {role: f"login_{secrets.token_hex(4)}" for role in (FRONT, WORKER)}
    with plain(dsn) as conn:
        for role, name in made.items():
            conn.execute(f"CREATE ROLE {name} LOGIN".encode())
            conn.execute(f"GRANT {role} TO {name}".encode())
            for setting, value in settings_of(role, citus.engine()).items():
                conn.execute(f"ALTER ROLE {name} SET {setting} = '{value}'".encode())
        yield {role: make_conninfo(dsn, user=name) for role, name in made.items()}
        for name in made.values():
            conn.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = %s", (name,))
            conn.execute(f"DROP ROLE {name}".encode())


@asynccontextmanager
async def opened(dsn: str, role: str, *, prepare: bool = False) -> AsyncIterator[Database]:
    """A database whose sessions are looked at and told nothing."""

    async def look(conn: psycopg.AsyncConnection[Any]) -> None:
        conn.prepare_threshold = 0 if prepare else None
        note_engine(conn, citus.engine())

    async with TrioDriver.opened(dsn, 2, 5.0, {}, look, lambda _: None) as driver:
        yield Database(driver, role, citus.engine())


async def settings_there(conn: Conn) -> dict[str, str]:
    names = list(settings_of(None, citus.engine()))
    cursor = await conn.execute("SELECT n, current_setting(n) FROM unnest(%s::text[]) AS names (n)", (names,))
    return dict(await cursor.fetchall())


async def whole_road(front: Database, worker: Database, tenant: TenantId) -> SubmissionId:
    """The hot statements, in their order: accept, claim, book what was signed, sent and judged, read."""
    new = new_submission(tenant)
    accepted = await front.run(submissions.accept, new, ACCEPTED_AT)
    assert accepted.outcome == "accepted"
    lane = outbox.OutboxLane(Environment.ECF)
    claim = partial(
        outbox.claim, stage=Stage.SIGN, lane=lane, scope=[tenant], shares=[10], lease=LEASE, holder="pooled"
    )
    (work,) = await worker.run(claim)
    await worker.run(bookings.signed, work, DOCUMENT, at=ACCEPTED_AT)
    work = await take(worker, new.submission_id)
    await worker.run(bookings.intend_to_send, work, at=ACCEPTED_AT, lease=LEASE, digest=digest_of(SIGNED))
    await worker.run(bookings.received, work, at=ACCEPTED_AT, track_id=TrackId("t"), after=timedelta(0), reply={})
    work = await take(worker, new.submission_id)
    await worker.run(partial(bookings.verdict, work=work, at=ACCEPTED_AT, track_id=TrackId("t")))
    assert await front.run_for(tenant, history.count, history.HistoryFilter()) == 1
    return new.submission_id


async def test_settings_that_the_login_carries_hold_in_whatever_server_it_is_given(logins: dict[str, str]) -> None:
    for role in (FRONT, WORKER):
        with pgbouncer(logins[role], "transaction", **_FOLLOWS) as pooled:
            async with opened(pooled, role) as db:
                assert await db.run(settings_there) == settings_of(role, citus.engine())


async def test_the_hot_statements_run_unprepared(logins: dict[str, str], db: Database) -> None:
    """One server process for all clients of a login: statements of different clients mix."""
    tenant = await make_tenant(db)
    with (
        pgbouncer(logins[FRONT], "transaction", default_pool_size=1) as to_front,
        pgbouncer(logins[WORKER], "transaction", default_pool_size=1) as to_worker,
    ):
        async with opened(to_front, FRONT) as front, opened(to_worker, WORKER) as worker:
            subject = await whole_road(front, worker, tenant)

    assert (await submission(db, subject))["status"] == "Aceptado"


async def test_the_wall_between_tenants_stands(logins: dict[str, str], db: Database) -> None:
    mine, theirs = await make_tenant(db), await make_tenant(db)
    for tenant in (mine, theirs):
        await make_submission(db, tenant)

    async def whose(conn: Conn, tenant_id: TenantId = TenantId(0)) -> list[TenantId]:
        cursor = await conn.execute("SELECT tenant_id FROM submissions")
        return [tenant for (tenant,) in await cursor.fetchall()]

    with pgbouncer(logins[FRONT], "transaction", default_pool_size=1, query_wait_timeout=60) as pooled:
        async with opened(pooled, FRONT) as one, opened(pooled, FRONT) as other:
            # Often, for one answer in hundreds crosses with what the client still sends: whatever comes after it takes
            # the only server, for ever if nothing answers to it (a Flush).
            for _ in range(200):
                assert await one.run_for(mine, whose) == [mine]
                assert await other.run(whose) == []
                assert await other.run_for(theirs, whose) == [theirs]
                assert await one.run_for(mine, whose) == [mine]


@pytest.mark.skipif(not _FOLLOWS, reason="NOT PROVED HERE: prepared statements take PgBouncer 1.21 or newer")
async def test_the_hot_statements_run_prepared_where_the_pooler_follows_them(
    logins: dict[str, str], db: Database
) -> None:
    with (
        pgbouncer(logins[FRONT], "transaction", default_pool_size=2, **_FOLLOWS) as to_front,
        pgbouncer(logins[WORKER], "transaction", default_pool_size=2, **_FOLLOWS) as to_worker,
    ):
        async with opened(to_front, FRONT, prepare=True) as front, opened(to_worker, WORKER, prepare=True) as worker:
            for _ in range(3):
                await whole_road(front, worker, await make_tenant(db))


@pytest.mark.skipif(bool(_FOLLOWS), reason="this PgBouncer follows prepared statements")
async def test_prepared_statements_are_lost_by_a_pooler_that_does_not_follow_them(logins: dict[str, str]) -> None:
    """Why they must be off with Debian 12's: a server that did not hear the Parse does not know the name."""

    async def ask(conn: Conn) -> None:
        await conn.execute("SELECT %s::int", (1,))

    async def on_both_servers(conn: Conn) -> None:
        async with conn.transaction():  # keeps one server busy
            await ask(conn)
            async with opened(pooled, FRONT, prepare=True) as other:
                for _ in range(3):
                    await other.run(ask)

    async def until_it_breaks(db: Database) -> None:
        for _ in range(3):
            await db.run(ask)
            await db.run(on_both_servers)

    with pgbouncer(logins[FRONT], "transaction", default_pool_size=2) as pooled:
        async with opened(pooled, FRONT, prepare=True) as db:
            with pytest.raises(psycopg.errors.DatabaseError, match="prepared statement"):
                await until_it_breaks(db)


def test_migrations_go_to_postgres_itself(empty: str) -> None:
    """Their lock is the session's. Through the pooler `migrate` refuses by name: tests/store/test_poolers.py."""
    assert migrate(empty)

    with pgbouncer(empty, "transaction") as pooled, plain(pooled) as through:
        done = through.execute("SELECT count(*) FROM applied_migrations", prepare=False).fetchone()
        assert done is not None
        assert done[0] > 0


def test_a_lock_of_the_session_stays_behind_with_the_server(dsn: str) -> None:
    """The lock of `fe migrate` would outlive its holder, in a server process given to others."""
    with pgbouncer(dsn, "transaction", default_pool_size=1) as pooled:
        with plain(pooled) as first:
            first.execute("SELECT pg_advisory_lock(77)", prepare=False)
        with plain(dsn) as outside:
            free = outside.execute("SELECT pg_try_advisory_lock(77)").fetchone()

    assert free == (False,)
