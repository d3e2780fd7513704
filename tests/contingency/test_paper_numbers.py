"""Numbers of series B that the service draws from a range, of which people took some by hand."""

from datetime import UTC, date, datetime, timedelta
from uuid import uuid4

from fe.ecf.catalogue import Environment
from fe.identifiers import TenantId
from fe.store.postgres.db import Conn, Database
from fe.store.records import paper, paper_ranges
from fe.store.records.paper_ranges import PaperRange
from tests.factories.tenants import make_tenant, rows

AT = datetime(2026, 11, 20, 15, tzinfo=UTC)
TODAY = date(2026, 11, 20)
TEST = Environment.TESTECF


async def with_range(db: Database, last: int, entered: int) -> TenantId:
    """Record B0200000001 to `last`, and enter receipts with the first `entered` numbers of it."""
    tenant, range_id, period_id = await make_tenant(db), uuid4(), uuid4()
    await db.run(paper_ranges.add, tenant, PaperRange(range_id, TEST, "B02", 1, last, 1, date(2028, 12, 31), AT, "eva"))
    await rows(
        db,
        "INSERT INTO mode_periods (tenant_id, environment, period_id, mode, number, began_at, begun_by, reason)"
        " VALUES (%(tenant)s, 'testecf', %(period)s, 'contingency', 'C-1', now(), 'eva', 'no system') RETURNING 1",
        tenant=tenant,
        period=period_id,
    )
    await rows(
        db,
        "INSERT INTO paper_receipts (tenant_id, environment, ncf, range_id, period_id, issued_on, payload, total,"
        " itbis, entered_at, entered_by)"
        " SELECT %(tenant)s, 'testecf', 'B02' || lpad(n::text, 8, '0'), %(range)s, %(period)s, '2026-11-20', '', 1, 0,"
        " now(), 'eva' FROM generate_series(1, %(entered)s::int) AS n RETURNING 1",
        tenant=tenant,
        range=range_id,
        period=period_id,
        entered=entered,
    )
    return tenant


async def drawn(db: Database, tenant: TenantId) -> int | None:
    async def draw(conn: Conn) -> int | None:
        found = await paper_ranges.draw(conn, tenant, TEST, "B02", TODAY)
        return None if found is None else found[1]

    return await db.transact(draw)


async def test_draw_from_the_largest_range_passes_numbers_that_were_entered_by_hand(db: Database) -> None:
    tenant = await with_range(db, 99_999_999, entered=2500)

    assert [await drawn(db, tenant) for _ in range(2)] == [2501, 2502]


async def test_draw_from_a_range_that_was_entered_whole_returns_none(db: Database) -> None:
    tenant = await with_range(db, 1000, entered=1000)

    assert await drawn(db, tenant) is None


async def test_request_id_of_a_try_is_none_that_a_client_may_have_used(db: Database) -> None:
    tenant = await with_range(db, 1000, entered=1)

    async def begun(conn: Conn) -> str:
        record = await paper.locked(conn, tenant, TEST, "B0200000001")
        assert record is not None
        return await paper.begin_try(conn, tenant, record, at=AT, by="eva")

    request_id = await db.transact(begun)
    assert request_id.startswith("paper:B0200000001:1:")
    record = await db.run(paper.find, tenant, TEST, "B0200000001")
    assert record is not None
    assert record.request_id == request_id


async def test_try_without_a_submission_is_free_an_hour_after_it_was_last_begun(db: Database) -> None:
    tenant = await with_range(db, 1000, entered=1)
    later = AT + timedelta(minutes=61)

    async def step(conn: Conn) -> list[bool]:
        record = await paper.locked(conn, tenant, TEST, "B0200000001")
        assert record is not None
        await paper.begin_try(conn, tenant, record, at=AT, by="eva")
        await paper.resume_try(conn, tenant, record, at=later)
        freed = [await paper.free_lost_try(conn, tenant, record, at=at) for at in (later, later + timedelta(hours=2))]
        record = await paper.locked(conn, tenant, TEST, "B0200000001")
        assert record is not None
        assert record.request_id is None
        assert ":2:" in await paper.begin_try(conn, tenant, record, at=later, by="eva")
        return freed

    assert await db.transact(step) == [False, True]
