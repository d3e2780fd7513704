"""As in test_plans.py: a page of received documents, or of deliveries, reads that page and nothing that grows."""

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import pairwise
from typing import Any

import psycopg
import pytest

from fe.ecf.catalogue import Environment
from fe.ecf.ids import period_of_ids
from fe.identifiers import TenantId
from fe.lifecycle import WebhookEvent
from fe.store.postgres.db import Conn, open_database
from fe.store.postgres.roles import FRONT, WORKER
from fe.store.queue import webhooks
from fe.store.queue.capacity import LaneCapacity, LaneClaim, Terms
from fe.store.queue.host_lanes import ALL_HOSTS
from fe.store.queue.webhooks import OldPart, WebhookWork
from fe.store.records import received
from fe.store.records.received import ReceivedFilter
from fe.store.webhooks import deliveries
from fe.store.webhooks.deliveries import DeliveryFilter, DeliveryRecord, DeliveryState
from tests.store.grown import count_reads, counting, fill

TENANTS, EACH = 10, 1000
NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)
AGES_AGO = NOW - timedelta(days=1000)
#: Of tenant 1 there is something every minute before now.
_AT = "%(now)s::timestamptz - n / %(tenants)s * interval '1 minute'"
_ID = f"webhook_id({_AT}, n::text)"

_FILL = (
    "INSERT INTO tenants (tenant_id, name, issuer) SELECT n, 't' || n, '{}' FROM generate_series(1, %(tenants)s) AS n",
    f"""INSERT INTO webhook_endpoints (tenant_id, endpoint_id, environment, url, created_at, updated_at)
        SELECT n, {_ID}, 'ecf', 'https://erp.example.com/', now(), now() FROM generate_series(1, %(tenants)s) AS n""",
    f"""INSERT INTO webhook_events (tenant_id, event_id, environment, kind, about, body, created_at)
        SELECT 1 + n %% %(tenants)s, {_ID}, 'ecf', 'received_ecf', 'a' || n, '\\x7b7d', {_AT}
          FROM generate_series(1, %(rows)s) AS n""",
    """INSERT INTO webhook_deliveries (tenant_id, subject, stage, environment, host, run_at, event_id, endpoint_id,
                                       created_at, finished_at)
       SELECT v.tenant_id, v.event_id, 'delivered', 'ecf', e.endpoint_id::text, v.created_at, v.event_id, e.endpoint_id,
              v.created_at, v.created_at
         FROM webhook_events AS v
         JOIN webhook_endpoints AS e ON e.tenant_id = v.tenant_id""",
    """INSERT INTO webhook_attempts (tenant_id, delivery_id, epoch, attempt, at, duration_ms)
       SELECT d.tenant_id, d.subject, 1, 1, d.created_at, 1 FROM webhook_deliveries AS d""",
    """INSERT INTO received (tenant_id, received_id, environment, issuer_rnc, e_ncf, ecf_type, issuer_name, buyer_rnc,
                             issued_on, total, digest, received_at)
       SELECT v.tenant_id, v.event_id, 'ecf', '131880738', 'E31' || lpad(row_number() OVER ()::text, 10, '0'), '31',
              'A', '131880681', '2026-11-06', 118, sha256(v.about::bytea), v.created_at
         FROM webhook_events AS v""",
    "ANALYZE",
)

_TABLES = "^(received|webhook_events|webhook_deliveries|webhook_attempts)$"


@pytest.fixture
def grown(dsn: str) -> str:
    values = {"tenants": TENANTS, "rows": TENANTS * EACH, "now": NOW}
    with psycopg.connect(dsn, autocommit=True) as conn:
        fill(conn, _FILL, values)
    return dsn


async def rows_read(
    dsn: str, work: Callable[[Conn, TenantId], Awaitable[Any]], *, role: str = FRONT
) -> tuple[Any, int, int]:
    """Return the result of a piece of work of tenant 1, and the rows it read by scan and by index."""
    measured = counting(work, _TABLES)
    async with open_database(dsn, role=role) as db:
        return await (db.run_for(TenantId(1), measured) if role == FRONT else db.run(measured, TenantId(1)))


async def test_a_page_is_read_by_its_key_and_nothing_else(grown: str) -> None:
    since = NOW - timedelta(minutes=500)
    below, _ = period_of_ids(since, None)
    pages: list[tuple[Callable[[Conn, TenantId], Awaitable[Any]], int]] = [
        (lambda conn, tenant: deliveries.listed(conn, tenant, DeliveryFilter(Environment.ECF), limit=50), 2),
        (
            lambda conn, tenant: deliveries.listed(
                conn, tenant, DeliveryFilter(Environment.ECF), limit=50, below=below
            ),
            2,
        ),
        (lambda conn, tenant: received.listed(conn, tenant, ReceivedFilter(), limit=50), 1),
        (lambda conn, tenant: received.listed(conn, tenant, ReceivedFilter(), limit=50, below=below), 1),
    ]

    for work, tables in pages:
        found, scanned, fetched = await rows_read(grown, work)

        assert len(found) == 50
        assert scanned == 0
        assert fetched <= 50 * tables + 10


async def test_the_few_that_are_looked_for_are_found_without_the_others(grown: str) -> None:
    """However many there are: what failed or is held, what tells of one thing, and what is of a rare kind."""
    with psycopg.connect(grown, autocommit=True) as conn:
        for statement in (
            "UPDATE webhook_events SET kind = 'submission.accepted' WHERE about NOT IN ('a20', 'a40')",
            "UPDATE webhook_deliveries SET stage = 'failed' WHERE subject IN (SELECT subject FROM webhook_deliveries"
            " WHERE tenant_id = 1 ORDER BY subject LIMIT 3)",
            "VACUUM ANALYZE",
        ):
            conn.execute(statement.encode())
    for chosen, many in (
        (DeliveryFilter(Environment.ECF, state=DeliveryState.FAILED), 3),
        (DeliveryFilter(Environment.ECF, state=DeliveryState.HELD), 0),
        (DeliveryFilter(Environment.ECF, about="a30"), 1),
        (DeliveryFilter(Environment.ECF, about="a31"), 0),
        (DeliveryFilter(Environment.ECF, kind=WebhookEvent.RECEIVED_ECF), 2),
        (DeliveryFilter(Environment.ECF, kind=WebhookEvent.SEQUENCE_LOW), 0),
    ):
        found, scanned, fetched = await rows_read(grown, partial(_page_of, chosen=chosen))

        assert (len(found), scanned) == (many, 0), chosen
        assert fetched <= 20, chosen


async def _page_of(conn: Conn, tenant_id: TenantId, chosen: DeliveryFilter) -> list[DeliveryRecord]:
    return await deliveries.listed(conn, tenant_id, chosen, limit=50)


async def test_counting_reads_the_tenant_s_own_and_no_others(grown: str) -> None:
    counted, scanned, fetched = await rows_read(
        grown, lambda conn, tenant: deliveries.count(conn, tenant, DeliveryFilter(Environment.ECF))
    )

    assert counted == EACH
    assert scanned <= EACH
    assert fetched <= 2 * EACH + 10


async def forget_all(conn: Conn, tenant: TenantId, *, before: datetime, limit: int = webhooks.PART) -> list[OldPart]:
    """Forget what is old of a tenant; gives the parts that it took."""
    parts = [OldPart()]
    while (
        following := await webhooks.forget(
            conn, tenant, parts[-1], before=before, held_before=AGES_AGO, at=NOW, limit=limit
        )
    ) is not None:
        parts.append(following)
    return parts


async def test_what_is_forgotten_is_found_by_key_and_nothing_else_is_read(grown: str) -> None:
    """Of each tenant in turn: what is old lies together in the primary keys, whose ids begin with their moment."""
    old = 100

    async def forget(conn: Conn, tenant: TenantId) -> None:
        await forget_all(conn, tenant, before=NOW - timedelta(minutes=EACH - old))

    _, scanned, fetched = await rows_read(grown, forget, role=WORKER)

    assert scanned == 0
    assert 0 < fetched <= 6 * old + 10  # each is looked at, and then forgotten


async def test_what_is_forgotten_is_what_is_older_of_this_tenant_alone(grown: str) -> None:
    async with open_database(grown, role=WORKER) as db:
        await db.run(forget_all, TenantId(1), before=NOW - timedelta(minutes=EACH - 100))
    left = "SELECT {}.tenant_id, count(*)::int FROM {} WHERE tenant_id IN (1, 2) GROUP BY tenant_id ORDER BY tenant_id"

    with psycopg.connect(grown) as conn:
        for table in ("webhook_events", "webhook_deliveries", "webhook_attempts"):
            counted: dict[int, int] = dict(conn.execute(left.format(table, table).encode()).fetchall())
            assert EACH - 101 <= counted[1] <= EACH - 99
            assert counted[2] == EACH


async def test_what_is_forgotten_goes_part_by_part_past_what_stays(grown: str) -> None:
    """However many rows there are and remain, a statement reads a part."""
    with psycopg.connect(grown, autocommit=True) as conn:
        conn.execute(
            "UPDATE webhook_deliveries SET stage = 'held', finished_at = NULL WHERE event_id IN (SELECT event_id"
            " FROM webhook_events WHERE tenant_id = 1 ORDER BY event_id LIMIT 300)"
        )
    fetched = []

    async def forget(conn: Conn, tenant: TenantId) -> list[OldPart]:
        parts = [OldPart()]
        while True:
            async with conn.transaction():
                following = await webhooks.forget(
                    conn,
                    tenant,
                    parts[-1],
                    before=NOW - timedelta(minutes=EACH - 500),
                    held_before=AGES_AGO,
                    at=NOW,
                    limit=100,
                )
                fetched.append((await count_reads(conn, _TABLES))[1])
            if following is None:
                return parts
            parts.append(following)

    async with open_database(grown, role=WORKER) as db:
        parts = await db.run(forget, TenantId(1))

    assert len(parts) > 10
    # The server adds them up, and begins anew now and then.
    assert max(now - before for before, now in pairwise(fetched)) <= 3 * 100 + 10
    with psycopg.connect(grown) as conn:
        for table in ("webhook_events", "webhook_deliveries", "webhook_attempts"):
            (left,) = conn.execute(f"SELECT count(*) FROM {table} WHERE tenant_id = 1".encode()).fetchone() or (0,)
            assert EACH - 201 <= left <= EACH - 199, table


async def test_endpoints_whose_next_try_is_later_cost_a_claim_nothing(dsn: str) -> None:
    """One row is due while many endpoints wait for a later one: none of theirs is read."""
    waiting, finished, looked = 500, 5000, []
    with psycopg.connect(dsn, autocommit=True) as conn:
        for statement in _FILL[:3]:
            conn.execute(statement.encode(), {"tenants": waiting, "rows": waiting + finished, "now": NOW})
        conn.execute(
            "INSERT INTO webhook_deliveries (tenant_id, subject, stage, environment, host, run_at, event_id,"
            " endpoint_id, created_at)"
            " SELECT v.tenant_id, v.event_id, CASE WHEN v.nth = 1 THEN 'webhook' ELSE 'delivered' END, 'ecf',"
            " e.endpoint_id::text, now() + CASE WHEN v.tenant_id = 1 THEN interval '-1 s' ELSE interval '1 hour' END,"
            " v.event_id, e.endpoint_id, v.created_at"
            " FROM (SELECT w.*, row_number() OVER (PARTITION BY w.tenant_id ORDER BY w.event_id) AS nth"
            "         FROM webhook_events AS w) AS v"
            " JOIN webhook_endpoints AS e ON e.tenant_id = v.tenant_id"
        )
        conn.execute("ANALYZE")
    lane = LaneCapacity(ALL_HOSTS, TenantId(0), NOW - timedelta(days=1), 128, 0)
    terms = Terms(timedelta(minutes=1), "me", 128, 128, 64, 64, {})
    read = "SELECT idx_tup_fetch::int, seq_tup_read::int FROM pg_stat_xact_user_tables WHERE relname = %s"

    async def claim(conn: Conn) -> list[LaneClaim[WebhookWork]]:
        async with conn.transaction():
            claims = await webhooks.deliveries_table(128).together(conn, webhooks.DELIVER, [lane], terms)
            looked.extend(await (await conn.execute(read, ("webhook_deliveries",))).fetchall())
        return claims

    async with open_database(dsn, role=WORKER) as db:
        claims = await db.run(claim)

    assert [work.tenant_id for one in claims for work in one.works] == [1]
    ((fetched, scanned),) = looked
    assert scanned == 0
    assert fetched <= 10
