"""Finding submissions again: by id, by trackId, newest first, between two moments, in every month."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fe.ecf.ids import new_id
from fe.identifiers import ActionId, ClientRequestId, SubmissionId, TenantId, TrackId
from fe.lifecycle import Place, Status
from fe.store.postgres.db import Conn, Database
from fe.store.queue import dead_letters
from fe.store.queue.audit import OperatorAction
from fe.store.records import history, submissions
from tests.factories import bookings
from tests.factories.tenants import ACCEPTED_AT, make_submission, make_tenant, new_submission, row, rows, take
from tests.store.race import race

MONTHS = (
    datetime(2024, 2, 29, 23, 59, 59, 999999, UTC),  # no partition: the default one
    datetime(2026, 11, 6, tzinfo=UTC),
    datetime(2026, 12, 31, 23, 59, 59, 999000, UTC),
    datetime(2027, 1, 1, tzinfo=UTC),
    datetime(2027, 1, 15, tzinfo=UTC),
    datetime(2031, 7, 1, tzinfo=UTC),
)

moments = st.datetimes(datetime(1990, 1, 1), datetime(2200, 1, 1), timezones=st.just(UTC))


async def partitions(db: Database, table: str = "submissions") -> dict[SubmissionId, str]:
    found = await rows(db, f"SELECT submission_id, tableoid::regclass::text AS home FROM {table}")
    return {each["submission_id"]: each["home"] for each in found}


NOW = datetime(2026, 11, 20, tzinfo=UTC)


def act() -> OperatorAction:
    return OperatorAction(ActionId(new_id(NOW)), NOW, "eva", "the authority is back")


async def listed(
    db: Database,
    tenant: TenantId,
    since: datetime | None = None,
    until: datetime | None = None,
    limit: int = 50,
    offset: int = 0,
) -> tuple[list[SubmissionId], int]:
    """One page, and how many there are in all."""
    chosen = history.HistoryFilter(since=since, until=until)
    totals = history.Totals()
    page = await db.run(history.page, tenant, chosen, limit=limit, offset=offset, totals=totals, now=NOW)
    return [record.submission_id for record in page.records], page.total


async def list_ids(
    db: Database, tenant: TenantId, since: datetime | None = None, until: datetime | None = None
) -> list[SubmissionId]:
    ids, total = await listed(db, tenant, since, until)
    assert total == len(ids)
    return ids


async def test_submissions_of_all_months_are_found_listed_and_told_wherever_they_lie(db: Database) -> None:
    tenant = await make_tenant(db)
    for at in MONTHS[1:4]:  # whatever the month in which the database was made
        await rows(db, "SELECT ensure_month(%(at)s)", at=at)
    made = [await make_submission(db, tenant, at=at) for at in MONTHS]

    homes = await partitions(db)
    assert [homes[submission_id].removeprefix("submissions_") for submission_id in made] == [
        "default",
        "2026_11",
        "2026_12",
        "2027_01",
        "2027_01",
        "default",
    ]
    for submission_id, at in zip(made, MONTHS, strict=True):
        record = await db.run(submissions.find, tenant, submission_id)
        assert record is not None
        assert record.submitted_at == at
        assert await db.run(submissions.xml, tenant, submission_id) == ("original", b"{}")
        assert [event.at for event in await db.run(submissions.timeline, tenant, submission_id)] == [at]
    assert await list_ids(db, tenant) == made[::-1]


async def test_a_month_whose_rows_had_to_go_to_the_default_partition_gets_its_own_later(db: Database) -> None:
    """A process whose clock was far ahead must not keep a month from being made when it comes."""
    tenant = await make_tenant(db)
    at = MONTHS[-1]
    early = await make_submission(db, tenant, at=at, client_request_id="early")
    elsewhere = await make_submission(db, tenant, at=MONTHS[0])

    await rows(db, "SELECT ensure_month(%(at)s)", at=at)

    late = await make_submission(db, tenant, at=at + timedelta(days=3))
    homes = await partitions(db)
    assert (homes[early], homes[late]) == ("submissions_2031_07", "submissions_2031_07")
    assert homes[elsewhere] == "submissions_default"
    assert (await partitions(db, "submission_documents"))[early] == "submission_documents_2031_07"
    assert (await partitions(db, "submission_events"))[early] == "submission_events_2031_07"
    assert await list_ids(db, tenant) == [late, early, elsewhere]
    assert await db.run(submissions.xml, tenant, early) == ("original", b"{}")
    assert [event.kind for event in await db.run(submissions.timeline, tenant, early)] == ["accepted"]


async def test_a_new_month_has_the_keys_indexes_and_storage_of_its_parents(db: Database) -> None:
    await make_submission(db, await make_tenant(db), at=MONTHS[-1])
    for at in (MONTHS[-1], datetime(2031, 8, 1, tzinfo=UTC)):  # one that had rows waiting, and one that had not
        await rows(db, "SELECT ensure_month(%(at)s)", at=at)

    async def shape(month: str) -> list[object]:
        found = await rows(
            db,
            """SELECT c.relname AS name, i.indisprimary AS is_key, pg_get_indexdef(i.indexrelid) AS definition,
                      EXISTS (SELECT 1 FROM pg_inherits AS h WHERE h.inhrelid = i.indexrelid) AS attached
                 FROM pg_class AS c JOIN pg_index AS i ON i.indrelid = c.oid
                WHERE c.relname LIKE '%%' || %(month)s ORDER BY 1, 3""",
            month=month,
        )
        storage = await rows(
            db,
            """SELECT c.relname AS name, a.attname, a.attstorage, a.attnotnull
                 FROM pg_class AS c JOIN pg_attribute AS a ON a.attrelid = c.oid
                WHERE c.relname LIKE '%%' || %(month)s AND c.relkind = 'r' AND a.attnum > 0 ORDER BY 1, 2""",
            month=month,
        )
        return [[str(value).replace(month, "MONTH") for value in each.values()] for each in found + storage]

    assert await shape("2031_07") == await shape("2031_08") == await shape("2027_01")


async def test_making_a_month_twice_and_at_once_is_harmless(db: Database, dsn: str) -> None:
    async def act(conn: Conn, number: int) -> str:
        await conn.execute("SELECT ensure_month(%s)", (datetime(2033, 1 + number % 2, 5, tzinfo=UTC),))
        return "made"

    assert await race(dsn, 8, act) == ["made"] * 8
    assert await race(dsn, 2, act) == ["made"] * 2


async def test_pages_cut_the_list_without_loss_or_repetition_and_tell_the_total(db: Database) -> None:
    tenant, other = await make_tenant(db), await make_tenant(db)
    made = [await make_submission(db, tenant, at=ACCEPTED_AT + timedelta(hours=36 * n)) for n in range(45)]
    await make_submission(db, other)

    pages = [await listed(db, tenant, limit=10, offset=offset) for offset in range(0, 60, 10)]

    assert [submission_id for ids, _ in pages for submission_id in ids] == made[::-1]
    assert [len(ids) for ids, _ in pages] == [10, 10, 10, 10, 5, 0]
    assert {total for _, total in pages} == {45}


@pytest.mark.parametrize("microsecond", [0, 1, 999, 1000, 1999, 499_999, 999_999])
async def test_both_bounds_are_inclusive_to_the_millisecond(db: Database, microsecond: int) -> None:
    tenant = await make_tenant(db)
    at = datetime(2026, 11, 6, 10, 0, 0, microsecond, UTC)
    step = timedelta(milliseconds=1)
    made = await make_submission(db, tenant, at=at)

    assert await list_ids(db, tenant, since=at, until=at) == [made]
    assert await list_ids(db, tenant, since=at - step, until=at + step) == [made]
    assert await list_ids(db, tenant, since=at + step) == []
    assert await list_ids(db, tenant, until=at - step) == []


@pytest.mark.parametrize(
    ("since", "until"),
    [
        (datetime(2024, 1, 1, tzinfo=UTC), None),
        (None, datetime(2026, 12, 31, 23, 59, 59, 999999, UTC)),
        (datetime(2026, 11, 6, tzinfo=UTC), datetime(2027, 1, 1, tzinfo=UTC)),
        (datetime(2026, 11, 6, 0, 0, 1, tzinfo=UTC), datetime(2027, 1, 14, tzinfo=UTC)),
        (datetime(2027, 1, 1, tzinfo=UTC), datetime(2026, 1, 1, tzinfo=UTC)),
    ],
)
async def test_whole_months_that_are_remembered_are_counted_like_others(
    db: Database, since: datetime | None, until: datetime | None
) -> None:
    tenant = await make_tenant(db)
    for at in MONTHS:
        await make_submission(db, tenant, at=at)
    chosen, totals = history.HistoryFilter(since=since, until=until), history.Totals()
    fits = sum(1 for at in MONTHS if (since or MONTHS[0]) <= at <= (until or MONTHS[-1]))

    for now in (NOW, datetime(2027, 2, 1, 2, tzinfo=UTC), datetime(2032, 1, 1, tzinfo=UTC)):
        for _ in range(2):
            assert await db.run(totals.count, tenant, chosen, now) == fits
    assert await db.run(history.count, tenant, chosen) == fits


async def test_months_that_are_evicted_while_others_are_counted_are_counted_all_the_same(
    db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    tenant, totals = await make_tenant(db), history.Totals()
    for at in MONTHS:
        await make_submission(db, tenant, at=at)
    now, later = datetime(2027, 2, 1, 2, tzinfo=UTC), datetime(2032, 1, 1, tzinfo=UTC)
    assert await db.run(totals.count, tenant, history.HistoryFilter(), now) == len(MONTHS)
    count_months = history._count_months

    async def count_while_others_evict(*args: Any) -> list[int]:
        totals._months = history.Totals()._months
        return await count_months(*args)

    monkeypatch.setattr(history, "_count_months", count_while_others_evict)

    assert await db.run(totals.count, tenant, history.HistoryFilter(), later) == len(MONTHS)


@pytest.mark.parametrize(
    "asked",
    [
        {},
        {"since": ACCEPTED_AT + timedelta(hours=5)},
        {"until": ACCEPTED_AT + timedelta(hours=5)},
        {"since": ACCEPTED_AT + timedelta(hours=2), "until": ACCEPTED_AT + timedelta(hours=7)},
        {"buyer_rnc": "101010632"},
        {"e_ncf": "E310000000004"},
        {"e_ncf": "E310000000005"},
        {"client_request_id": ClientRequestId("order 3")},
        {"client_request_id": ClientRequestId("order 4")},
    ],
    ids=str,
)
async def test_dead_letters_are_listed_out_of_their_own_table_as_the_submissions_say(
    db: Database, front_db: Database, asked: dict[str, Any]
) -> None:
    tenant, other = await make_tenant(db), await make_tenant(db)
    for number in range(10):
        name, at = ClientRequestId(f"order {number}"), ACCEPTED_AT + timedelta(hours=number)
        for of in (tenant, other):
            made = await make_submission(db, of, at=at, client_request_id=name, buyer_rnc=f"{101010632 + number % 2}")
            if number % 3 == 0:
                await db.run(bookings.dead_letter, await take(db, made), at=at, error="nobody answers")
    (again, *_) = await dead_among(db, tenant, {})
    await db.transact(dead_letters.replay, act(), tenant, again)
    expected = await dead_among(db, tenant, asked)
    chosen = history.HistoryFilter(state=Place.DEAD_LETTER, **asked)

    found = await front_db.run_for(tenant, history.page, chosen, limit=50, offset=0, totals=history.Totals(), now=NOW)
    walked, cursor = [], SubmissionId(UUID(int=2**128 - 1))
    while part := (await front_db.run_for(tenant, history.after, chosen, limit=1, cursor=cursor)).records:
        walked += [record.submission_id for record in part]
        cursor = walked[-1]

    assert [record.submission_id for record in found.records] == walked == expected
    assert found.total == len(expected)
    assert {record.status for record in found.records} <= {Status.QUEUED}


async def dead_among(db: Database, tenant: TenantId, asked: dict[str, Any]) -> list[SubmissionId]:
    """The dead letters by their submissions, newest first."""
    conditions = {
        "since": "submitted_at >= %(since)s",
        "until": "submitted_at <= %(until)s",
        **{name: f"{name} = %({name})s" for name in ("buyer_rnc", "e_ncf", "client_request_id")},
    }
    chosen = " AND ".join(["response ->> 'status' = 'dead_letter'", *(conditions[name] for name in asked)])
    found = await rows(
        db,
        f"SELECT submission_id FROM submissions WHERE tenant_id = %(tenant)s AND {chosen} ORDER BY submission_id DESC",
        tenant=tenant,
        **asked,
    )
    return [each["submission_id"] for each in found]


async def test_bounds_at_the_ends_of_time_are_bounds_like_others(db: Database) -> None:
    tenant = await make_tenant(db)
    made = await make_submission(db, tenant)
    first, last = datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)

    assert await list_ids(db, tenant, since=first, until=last) == [made]
    assert await list_ids(db, tenant, since=last) == []
    assert await list_ids(db, tenant, until=first) == []
    assert await list_ids(db, tenant, since=last, until=first) == []


async def test_another_tenants_submission_is_not_found_by_anything(db: Database) -> None:
    tenant, other = await make_tenant(db), await make_tenant(db)
    theirs = await make_submission(db, other, track_id=TrackId("shared"))
    await rows(db, "UPDATE submissions SET track_id = 'shared'")

    assert await db.run(submissions.find, tenant, theirs) is None
    assert await db.run(submissions.find, tenant, TrackId("shared")) is None
    assert await db.run(submissions.timeline, tenant, theirs) == []
    assert await list_ids(db, tenant) == []


@pytest.mark.parametrize(
    "track_id", ["track-1", "d2b6e27c-3908-46f3-afaa-2207b9501b4b", "D2B6E27C-3908-46F3-AFAA-2207B9501B4B"]
)
async def test_a_track_id_is_found_as_it_was_given_though_it_looks_like_one_of_our_ids(
    db: Database, track_id: TrackId
) -> None:
    tenant = await make_tenant(db)
    made = await make_submission(db, tenant)
    await make_submission(db, tenant)
    await rows(db, "UPDATE submissions SET track_id = %(t)s WHERE submission_id = %(id)s", t=track_id, id=made)
    asked = TrackId(track_id) if track_id == "track-1" else SubmissionId(UUID(track_id))

    record = await db.run(submissions.find, tenant, asked)

    assert record is not None
    assert (record.submission_id, record.track_id) == (made, track_id)


async def test_of_two_with_one_track_id_the_newer_is_found(db: Database) -> None:
    tenant = await make_tenant(db)
    await make_submission(db, tenant)
    newer = await make_submission(db, tenant, at=ACCEPTED_AT + timedelta(days=60))
    await rows(db, "UPDATE submissions SET track_id = 'same'")

    record = await db.run(submissions.find, tenant, TrackId("same"))

    assert record is not None
    assert record.submission_id == newer


@given(moments, moments)
def test_ids_are_ordered_by_the_millisecond_they_were_made_in(one: datetime, other: datetime) -> None:
    millisecond = timedelta(milliseconds=1)
    epoch = datetime(1970, 1, 1, tzinfo=UTC)
    first, second = new_id(one), new_id(other)

    assert first.int >> 80 == (one - epoch) // millisecond
    assert first.version == 7
    assert first.variant == "specified in RFC 4122"
    if (one - epoch) // millisecond != (other - epoch) // millisecond:
        assert (first < second) == (one < other)


async def test_the_floor_of_a_moment_is_below_its_ids_and_above_the_ids_of_the_millisecond_before(
    db: Database,
) -> None:
    """Otherwise a bound of the history, or of a month, would cut off what belongs inside."""
    tried: list[datetime] = []

    @settings(max_examples=300, database=None)
    @given(moments)
    def collect(moment: datetime) -> None:
        tried.append(moment)

    collect()
    floors = await row(
        db, "SELECT array_agg(uuid_floor(m) ORDER BY n) AS f FROM unnest(%(m)s) WITH ORDINALITY AS t (m, n)", m=tried
    )

    for moment, floor in zip(tried, floors["f"], strict=True):
        assert floor < new_id(moment)
        assert floor > new_id(moment - timedelta(milliseconds=1))


async def test_an_id_lies_in_the_partition_of_the_month_it_was_made_in(db: Database) -> None:
    tenant = await make_tenant(db)
    last, first = datetime(2026, 11, 30, 23, 59, 59, 999999, UTC), datetime(2026, 12, 1, tzinfo=UTC)
    made = [new_submission(tenant, at) for at in (last, first)]
    for new, at in zip(made, (last, first), strict=True):
        await rows(db, "SELECT ensure_month(%(at)s)", at=at)
        await db.run(submissions.accept, new, at)

    homes = await partitions(db)

    assert [homes[new.submission_id] for new in made] == ["submissions_2026_11", "submissions_2026_12"]


@pytest.mark.parametrize("at", [datetime(2033, 5, 5, tzinfo=UTC), MONTHS[1]], ids=["a new month", "one of the first"])
@pytest.mark.new_database
async def test_a_signed_document_is_compressed_in_its_row(db: Database, at: datetime) -> None:
    content = b"".join(b"<Item><Number>%d</Number><Name>%x</Name></Item>" % (n, n * 7919) for n in range(100))
    await rows(db, "SELECT ensure_month(%(at)s)", at=at)
    await rows(
        db,
        """INSERT INTO submission_documents (tenant_id, submission_id, kind, content)
           VALUES (7, uuid_floor(%(at)s), 'signed', %(content)s)""",
        at=at,
        content=content,
    )

    (kept,) = await rows(
        db,
        """SELECT d.content, d.tableoid::regclass::text AS month, pg_column_size(d.content) AS size,
                  pg_relation_size(c.reltoastrelid) AS beside
             FROM submission_documents AS d
             JOIN pg_class AS c ON c.oid = d.tableoid""",
    )

    assert kept["month"] != "submission_documents_default"
    assert kept["content"] == content
    assert kept["size"] < len(content) / 2
    assert kept["beside"] == 0
