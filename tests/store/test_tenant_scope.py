"""The tenant scope: what a query that forgot its WHERE sees, and what the next user of a connection sees."""

from collections.abc import AsyncIterator
from contextlib import nullcontext
from datetime import date
from decimal import Decimal
from typing import Any
from uuid import uuid4

import pytest
import trio
from psycopg import errors
from psycopg.rows import scalar_row

from fe.ecf.catalogue import Environment
from fe.identifiers import ApiKeyId, SequenceId, TenantId, UserId
from fe.store.citus.engine import CITUS
from fe.store.postgres import trio_connection
from fe.store.postgres.db import Conn, Database, DriverName, open_database
from fe.store.postgres.errors import DatabaseUnavailable, NoNumber
from fe.store.postgres.roles import FRONT, OPERATOR, READONLY, WORKER
from fe.store.postgres.tenant_scope import Asked, fetch_together, tenant_scope
from fe.store.queue import outbox
from fe.store.records import billing, history, keys, request_counts, sequences, submissions, tenants
from fe.store.records.request_counts import RequestCount
from tests.factories.tenants import ACCEPTED_AT, make_submission, make_tenant, new_submission, rows
from tests.waiting import PATIENCE

#: Tables that the front may read, and the number of rows that each of the two tenants has there.
OF_TENANTS = {
    "tenants": 1,
    "users": 1,
    "sequences": 1,
    "submissions": 2,
    "client_requests": 1,
    "submission_documents": 2,
    "submission_events": 2,
    "request_counts": 1,
    "api_key_uses": 1,
    "billing_accounts": 1,
}
DAY = date(2026, 11, 6)


@pytest.fixture(params=["trio", "trio-asyncio"])
def driver(request: pytest.FixtureRequest) -> DriverName:
    name: DriverName = request.param
    return name


@pytest.fixture
async def front(dsn: str, driver: DriverName) -> AsyncIterator[Database]:
    """One connection with the rights of the front: whatever its last user left behind, the next one has."""
    async with open_database(dsn, max_size=1, patience=PATIENCE, driver=driver, role=FRONT) as database:
        yield database


@pytest.fixture
async def two(db: Database) -> tuple[TenantId, TenantId]:
    """Two tenants with something in every table."""
    return await furnished(db), await furnished(db)


async def furnished(db: Database) -> TenantId:
    tenant = await make_tenant(db)
    key = ApiKeyId(f"fak_{uuid4().hex[:12]}")
    await db.run(tenants.create_user, tenant, UserId(uuid4()), "ana@example.org", None)
    await db.run(keys.create, key, tenant, Environment.ECF, bytes(32), ["invoices:read"])
    await db.run(
        sequences.put,
        tenant,
        Environment.ECF,
        "E31",
        new_id=SequenceId(uuid4()),
        minimum=1,
        maximum=9,
        expire_at=None,
        is_active=True,
        at=ACCEPTED_AT,
    )
    await db.run(billing.enable, tenant, subscription_id="s", unit_price=Decimal(1))
    counts = {(tenant, Environment.ECF, DAY): RequestCount(succeeded=1)}
    await db.run(request_counts.flush, uuid4(), 1, counts, [(tenant, key, ACCEPTED_AT)])
    await make_submission(db, tenant)
    await make_submission(db, tenant, client_request_id="the same for both")
    return tenant


async def whose(conn: Conn, tenant_id: TenantId, table: str) -> list[int]:
    """Rows found by a query without its WHERE."""
    cursor = conn.cursor(row_factory=scalar_row)
    await cursor.execute(f"SELECT tenant_id FROM {table}".encode())
    return await cursor.fetchall()


async def nobodys(conn: Conn, table: str = "submissions") -> list[int]:
    return await whose(conn, TenantId(0), table)


async def test_without_a_where_the_front_sees_its_tenants_rows_alone(
    front: Database, two: tuple[TenantId, TenantId]
) -> None:
    mine, theirs = two
    for table, count in OF_TENANTS.items():
        assert await front.run_for(mine, whose, table) == [mine] * count, table
        assert await front.run_for(theirs, whose, table) == [theirs] * count, table


async def test_without_a_tenant_the_front_sees_nobodys_rows(front: Database, two: tuple[TenantId, TenantId]) -> None:
    for table in OF_TENANTS:
        assert await front.run(nobodys, table) == [], table


async def test_of_what_waits_the_front_may_count_rows_and_not_ask_whose_they_are(
    front: Database, two: tuple[TenantId, TenantId]
) -> None:
    async def ask(conn: Conn, tenant_id: TenantId, column: str) -> None:
        await conn.execute(f"SELECT {column} FROM outbox".encode())

    ((stage, environment, count, _),) = await front.run(outbox.depth_for_front)
    assert (stage, environment, count) == ("sign", "ecf", 4)
    for column in ("tenant_id", "subject", "last_error"):
        with pytest.raises(errors.InsufficientPrivilege):
            await front.run_for(two[0], ask, column)


WRITES = {
    "a submission": "INSERT INTO client_requests VALUES (%(to)s, 'ecf', 'x', %(id)s)",
    "work": "INSERT INTO outbox (tenant_id, subject, stage, environment, run_at)"
    " VALUES (%(to)s, %(id)s, 'sign', 'ecf', now())",
    "an event": "INSERT INTO submission_events VALUES (%(to)s, %(id)s, 9, now(), 'x', '{}', '')",
    "a row that changes hands": "UPDATE sequences SET tenant_id = %(to)s",
    "a count": "INSERT INTO request_counts VALUES (%(to)s, 'ecf', '2026-11-06', 1, 1, 1, 1)"
    " ON CONFLICT (tenant_id, environment, utc_day) DO UPDATE SET failed = 1",
}


@pytest.mark.parametrize("statement", WRITES.values(), ids=WRITES.keys())
async def test_nothing_is_written_for_another_tenant(
    front: Database, two: tuple[TenantId, TenantId], statement: str
) -> None:
    mine, theirs = two

    async def write(conn: Conn, tenant_id: TenantId) -> None:
        await conn.execute(statement.encode(), {"to": theirs, "id": uuid4()})

    with pytest.raises(errors.InsufficientPrivilege) as refused:
        await front.run_for(mine, write)
    assert refused.value.sqlstate == "42501"


async def test_a_change_without_a_where_changes_its_tenants_rows_alone(
    front: Database, db: Database, two: tuple[TenantId, TenantId]
) -> None:
    async def change(conn: Conn, tenant_id: TenantId, statement: str) -> int:
        return (await conn.execute(statement.encode())).rowcount

    assert await front.run_for(two[0], change, "UPDATE sequences SET is_active = false") == 1
    assert await front.run_for(two[0], change, "DELETE FROM sequences") == 1
    assert await rows(db, "SELECT tenant_id, is_active FROM sequences") == [{"tenant_id": two[1], "is_active": True}]


async def test_the_functions_of_the_front_name_their_tenant_themselves(
    front: Database, db: Database, two: tuple[TenantId, TenantId]
) -> None:
    mine, theirs = two
    new = new_submission(mine, client_request_id="the same for both")

    assert (await front.run(submissions.accept, new, ACCEPTED_AT)).outcome == "deduped"
    drawn = await front.run(submissions.accept, new_submission(theirs, e_ncf=None, draw_prefix="E31"), ACCEPTED_AT)
    assert drawn.e_ncf == "E310000000003"
    counts = {(tenant, Environment.ECF, DAY): RequestCount(failed=tenant) for tenant in (mine, theirs)}
    await front.run(request_counts.flush, uuid4(), 1, counts, [])
    found = await rows(db, "SELECT tenant_id, succeeded, failed FROM request_counts ORDER BY tenant_id")
    assert [(row["tenant_id"], row["succeeded"], row["failed"]) for row in found] == [
        (mine, 1, mine),
        (theirs, 1, theirs),
    ]


async def test_several_statements_of_one_piece_of_work_are_all_within_the_scope(
    front: Database, two: tuple[TenantId, TenantId]
) -> None:
    page = await front.run_for(
        two[0], history.page, history.HistoryFilter(), limit=10, offset=0, totals=history.Totals(), now=ACCEPTED_AT
    )
    assert (len(page.records), page.total) == (2, 2)

    async def in_a_transaction(conn: Conn, tenant_id: TenantId) -> list[list[int]]:
        async with conn.transaction():
            return [await whose(conn, tenant_id, "sequences"), await whose(conn, tenant_id, "users")]

    assert await front.run_for(two[1], in_a_transaction) == [[two[1]], [two[1]]]


async def test_statements_that_go_together_are_all_within_the_scope(
    front: Database, two: tuple[TenantId, TenantId]
) -> None:
    async def ask(conn: Conn, tenant_id: TenantId) -> list[list[int]]:
        asked = [Asked(f"SELECT tenant_id FROM {table}".encode(), {}, scalar_row) for table in OF_TENANTS]
        return await fetch_together(conn, *asked)

    for _ in range(8):  # until they are prepared
        for tenant in two:
            assert await front.run_for(tenant, ask) == [[tenant] * count for count in OF_TENANTS.values()]
        assert await front.run(ask, TenantId(0)) == [[] for _ in OF_TENANTS]
        assert await front.run(nobodys) == []


async def test_a_statement_that_fails_among_others_leaves_the_connection_as_it_was(
    front: Database, two: tuple[TenantId, TenantId]
) -> None:
    async def ask(conn: Conn, tenant_id: TenantId, divisor: int) -> list[list[int]]:
        values = {"divisor": divisor}
        return await fetch_together(
            conn,
            Asked(b"SELECT tenant_id FROM tenants", {}, scalar_row),
            Asked(b"SELECT 1 / %(divisor)s::int", values, scalar_row),
            Asked(b"SELECT count(*) FROM submissions", {}, scalar_row),
        )

    for turn in range(8):
        with pytest.raises(errors.DivisionByZero):
            await front.run_for(two[0], ask, 0)
        assert await front.run_for(two[turn % 2], ask, 1) == [[two[turn % 2]], [1], [2]]
    assert await front.run(nobodys) == []


async def test_the_next_user_of_a_connection_sees_nobodys_rows(front: Database, two: tuple[TenantId, TenantId]) -> None:
    async def refused(conn: Conn, tenant_id: TenantId) -> None:
        await conn.execute("SELECT 1 / 0")

    async def broken(conn: Conn, tenant_id: TenantId) -> None:
        await whose(conn, tenant_id, "users")
        raise LookupError

    async def slow(conn: Conn, tenant_id: TenantId) -> None:
        await conn.execute("SELECT pg_sleep(5)")

    async def half_way(conn: Conn, tenant_id: TenantId) -> None:
        async with conn.transaction():
            await whose(conn, tenant_id, "users")
            await conn.execute("SELECT pg_sleep(5)")

    assert await front.run_for(two[0], whose, "submissions") != []
    assert await front.run(nobodys) == []
    for work, error in ((refused, errors.DivisionByZero), (broken, LookupError)):
        with pytest.raises(error):
            await front.run_for(two[0], work)
        assert await front.run(nobodys) == []
    for work in (slow, half_way):
        with trio.move_on_after(0.1) as scope:
            await front.run_for(two[0], work)
        assert scope.cancelled_caught
        assert await front.run(nobodys) == []
        assert await front.run_for(two[1], whose, "users") == [two[1]]


async def test_within_the_scope_a_cancelled_statement_ends_on_the_server_and_its_connection_is_kept(
    front: Database,
    db: Database,
    two: tuple[TenantId, TenantId],
    driver: DriverName,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # A busy server may notice it late; unnoticed, it would sleep for longer.
    monkeypatch.setattr(trio_connection, "_CANCEL_SECONDS", PATIENCE)

    async def pid(conn: Conn) -> int:
        return conn.info.backend_pid

    async def slow(conn: Conn, tenant_id: TenantId) -> None:
        await conn.execute("SET statement_timeout = 0")
        await conn.execute("SELECT pg_sleep(3600)")

    async def until_asleep(how_many: int) -> None:
        sleeping = "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'PgSleep'"
        with trio.fail_after(PATIENCE):
            while len(await rows(db, sleeping)) != how_many:  # noqa: ASYNC110  (another's session)
                await trio.sleep(0.01)

    before = await front.run(pid)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(front.run_for, two[0], slow)
        await until_asleep(1)
        nursery.cancel_scope.cancel()

    await until_asleep(0)
    if driver == "trio":
        assert await front.run(pid) == before


async def test_errors_within_the_scope_are_those_outside_it(front: Database, two: tuple[TenantId, TenantId]) -> None:
    async def ask(conn: Conn, tenant_id: TenantId, statement: str, *values: Any) -> None:
        await conn.execute(statement.encode(), values)

    with pytest.raises(errors.UniqueViolation):
        await front.run_for(two[0], ask, "INSERT INTO sequences SELECT * FROM sequences")
    with pytest.raises(errors.UndefinedColumn):
        await front.run_for(two[0], ask, "SELECT nonsense FROM users")
    with pytest.raises(errors.DataError):
        await front.run_for(two[0], ask, "SELECT %s::text", "\0")
    with pytest.raises(NoNumber, match="E33"):
        await front.run_for(two[0], ask, "SELECT refuse_to_draw(%s, 'ecf', 'E33', now())", two[0])
    with pytest.raises(DatabaseUnavailable, match="QueryCanceled"):
        await front.run_for(two[0], ask, "DO $$ BEGIN RAISE EXCEPTION '' USING ERRCODE = '57014'; END $$")
    assert await front.run_for(two[0], whose, "users") == [two[0]]


async def test_a_statement_that_was_skipped_before_it_was_prepared_is_prepared_the_next_time(
    dsn: str, two: tuple[TenantId, TenantId]
) -> None:
    # On an engine of several nodes a pipeline may fail before its statement: a node is away.
    async def ask(conn: Conn, role: str) -> None:
        with tenant_scope(conn, two[0], role, CITUS):
            await conn.execute("SELECT count(*) FROM submissions WHERE tenant_id = %s", (two[0],))

    async def use(conn: Conn) -> None:
        for nth in range(1, 20):
            with pytest.raises(errors.InvalidParameterValue) if nth % 3 == 0 else nullcontext():
                await ask(conn, "nobody_of_this_name" if nth % 3 == 0 else FRONT)
        for _ in range(20):
            await ask(conn, FRONT)

    async with open_database(dsn, role=FRONT, engine=CITUS) as front:
        await front.run(use)


async def test_what_is_large_passes_in_pieces(front: Database, two: tuple[TenantId, TenantId]) -> None:
    async def echo(conn: Conn, tenant_id: TenantId, content: bytes) -> bytes:
        row = await (await conn.execute("SELECT %b", (content,))).fetchone()
        assert row is not None
        return bytes(row[0])

    content = bytes(range(256)) * 40_000  # ten megabytes: more than any buffer on the way takes at once
    assert await front.run_for(two[0], echo, content) == content


@pytest.mark.parametrize("role", [WORKER, OPERATOR, READONLY])
async def test_who_serves_all_tenants_sees_all_rows(dsn: str, two: tuple[TenantId, TenantId], role: str) -> None:
    async with open_database(dsn, max_size=1, role=role) as database:
        assert sorted(await database.run(nobodys)) == sorted([*two, *two])


async def test_a_connection_apart_from_the_pool_has_the_role_too(front: Database) -> None:
    async def user(conn: Conn) -> str:
        cursor = conn.cursor(row_factory=scalar_row)
        await cursor.execute("SELECT current_user")
        return str(await cursor.fetchone())

    assert await front._driver.apart(user) == await front.run(user) == FRONT
