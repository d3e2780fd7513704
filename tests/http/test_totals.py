"""How many submissions there are, without counting the history anew each time."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from fe.clock import system_clock
from fe.ecf.catalogue import EcfType
from fe.ecf.ids import new_id
from fe.identifiers import TenantId
from fe.store.postgres.db import Conn, Database
from fe.store.records import history
from fe.store.records.history import HistoryFilter, Totals
from tests.http.front import Key

NOW = datetime(2026, 7, 10, 12, tzinfo=UTC)


async def put(db: Database, key: Key, at: datetime, buyer: str = "131880657") -> None:
    async def work(conn: Conn) -> None:
        await conn.execute("SELECT ensure_month(%s)", (at,))
        await conn.execute(
            """INSERT INTO submissions (tenant_id, submission_id, environment, api_key_id, body_digest, format, root,
                                        ecf_type, buyer_rnc, submitted_at, updated_at)
               VALUES (%s, %s, 'testecf', %s, %s, 'structured', 'ECF', %s, %s, %s, %s)""",
            (key.tenant_id, new_id(at), key.api_key_id, b"\0" * 32, "31" if at.microsecond else "32", buyer, at, at),
        )

    await db.run(work)


async def test_every_period_counts_the_same_with_and_without_memory(db: Database, key: Key) -> None:
    month_ends = [datetime(2026, month, 1, tzinfo=UTC) for month in range(1, 8)]
    moments = [
        end + step for end in month_ends for step in (timedelta(0), -timedelta(milliseconds=1), timedelta(days=9))
    ]
    for at in moments:
        await put(db, key, at)
    totals = Totals()
    far = [datetime(1, 1, 1, tzinfo=UTC), datetime(9999, 12, 31, tzinfo=UTC)]
    edges = [
        None,
        *far,
        *month_ends,
        *(end - timedelta(milliseconds=1) for end in month_ends),
        NOW,
        NOW - timedelta(days=40),
    ]

    for _ in range(2):  # the second time from memory
        for since in edges:
            for until in edges:
                chosen = HistoryFilter(since=since, until=until)
                expected = await db.run(history.count, key.tenant_id, chosen)
                assert await db.run(totals.count, key.tenant_id, chosen, NOW) == expected, (since, until)
                if None in (since, until):
                    for code in (EcfType.CONSUMER, EcfType.CREDIT_FISCAL):
                        of_type = replace(chosen, ecf_type=code)
                        expected = await db.run(history.count, key.tenant_id, of_type)
                        assert await db.run(totals.count, key.tenant_id, of_type, NOW) == expected, of_type
    assert await db.run(totals.count, key.tenant_id, HistoryFilter(ecf_type=EcfType.CREDIT_FISCAL), NOW) > 0
    assert await db.run(totals.count, key.tenant_id, HistoryFilter(buyer_rnc="131880657"), NOW) == len(moments)
    assert await db.run(totals.count, TenantId(key.tenant_id + 1), HistoryFilter(), NOW) == 0


async def test_what_is_submitted_now_is_counted_at_once(db: Database, key: Key) -> None:
    totals = Totals()
    for number, at in enumerate([datetime(2026, 3, 5, tzinfo=UTC), datetime(2026, 4, 5, tzinfo=UTC), NOW, NOW], 1):
        await put(db, key, at)
        if number > 2:
            assert await db.run(totals.count, key.tenant_id, HistoryFilter(), NOW) == number


async def test_a_clock_that_was_ahead_for_a_moment_leaves_no_total_behind(db: Database, key: Key) -> None:
    """It caches the current month as if it were over, and would return the old total until the process ends."""
    totals, now = Totals(), system_clock()
    await put(db, key, now - timedelta(days=40))
    await put(db, key, now)
    assert await db.run(totals.count, key.tenant_id, HistoryFilter(), now + timedelta(days=40)) == 2

    await put(db, key, now)

    assert await db.run(totals.count, key.tenant_id, HistoryFilter(), now) == 3
    later = now + timedelta(days=40)
    assert await db.run(totals.count, key.tenant_id, HistoryFilter(until=later), later) == 3


@pytest.mark.parametrize("now", [datetime(2026, 7, 1, 0, 30, tzinfo=UTC), datetime(2026, 7, 1, 2, tzinfo=UTC)])
async def test_a_month_that_has_just_ended_is_not_yet_taken_as_over(db: Database, key: Key, now: datetime) -> None:
    totals = Totals()
    await put(db, key, datetime(2026, 6, 5, tzinfo=UTC))
    assert await db.run(totals.count, key.tenant_id, HistoryFilter(), now) == 1
    await put(db, key, datetime(2026, 6, 30, 23, 59, 59, tzinfo=UTC))  # committed late

    late = 2 if now.hour < 1 else 1
    assert await db.run(totals.count, key.tenant_id, HistoryFilter(), now) == late
