"""Hot queries must not read tables that grow: with a long history and a long queue, they touch what they need by index.

`FE_PLAN_HISTORY` and `FE_PLAN_DUE` set how long (the full size is 5,000,000 and 100,000; the default keeps CI short).
Plans inside PL/pgSQL functions cannot be asked for, so the tests look at what was really done: Postgres counts, per
transaction, how often a table was read from end to end and how many of its rows were fetched.
"""

import os
import uuid
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from functools import partial
from typing import Any

import psycopg
import pytest

from fe.ecf.catalogue import EcfType, Environment, Root
from fe.ecf.ids import new_id
from fe.identifiers import ApiKeyId, ClientRequestId, SubmissionId, TenantId, TrackId
from fe.lifecycle import NumberFate, Place, Stage, Status
from fe.store.postgres.db import Conn, Database, open_database
from fe.store.postgres.roles import FRONT, OPERATOR, WORKER
from fe.store.queue import diagnosis, outbox, steps, tables
from fe.store.queue.capacity import LaneCapacity, Terms
from fe.store.queue.claim import claim_together
from fe.store.queue.outbox import OutboxLane, Work
from fe.store.records import history, submissions
from fe.store.records import label_lookup as named
from fe.store.records.submissions import NewSubmission
from tests.factories import bookings
from tests.factories.tenants import rows
from tests.store.grown import counting, make_grown

HISTORY = int(os.environ.get("FE_PLAN_HISTORY", "60000"))
DUE = int(os.environ.get("FE_PLAN_DUE", "10000"))
TENANTS = 20
NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)
LANE = OutboxLane(Environment.ECF)
LEASE = timedelta(seconds=60)

_ID = """(lpad(to_hex((extract(EPOCH FROM t.at) * 1000)::bigint), 12, '0') || '7'
          || substr(md5(n::text), 1, 3) || '8' || substr(md5(n::text), 4, 15))::uuid"""

_FILL = (
    "INSERT INTO tenants (tenant_id, name, issuer) SELECT n, 't' || n, '{}' FROM generate_series(1, %(tenants)s) AS n",
    f"""INSERT INTO submissions (tenant_id, submission_id, environment, api_key_id, body_digest, format, root, ecf_type,
                                 e_ncf, issuer_rnc, status, track_id, submitted_at, updated_at, verdict_at, number_fate)
        SELECT 1 + n %% %(tenants)s, {_ID}, 'ecf', 'fak_000000000000', '\\x00', 'xml', 'ECF', '31',
               'E31' || lpad(n::text, 10, '0'), '131880738', 'Aceptado', 'track-' || n, t.at, t.at, t.at, 'used'
          FROM generate_series(1, %(history)s) AS n
         CROSS JOIN LATERAL (SELECT %(now)s - (n * interval '1 day' * 90 / %(history)s) AS at) AS t""",
    f"""INSERT INTO submissions (tenant_id, submission_id, environment, api_key_id, body_digest, format, root,
                                 e_ncf, submitted_at, updated_at)
        SELECT 1 + n %% %(tenants)s, {_ID}, 'ecf', 'fak_000000000000', '\\x00', 'xml', 'ECF',
               'E32' || lpad(n::text, 10, '0'), t.at, t.at
          FROM generate_series(1, %(due)s) AS n
         CROSS JOIN LATERAL (SELECT %(now)s + n * interval '1 millisecond' AS at) AS t""",
    """INSERT INTO outbox (tenant_id, subject, stage, environment, run_at)
       SELECT s.tenant_id, s.submission_id, 'sign', 'ecf', now() - interval '1 s'
         FROM submissions AS s WHERE s.status = 'queued'""",
    """INSERT INTO dead_letters (tenant_id, subject, stage, environment, host, attempt, epoch, deaths, entered_at,
                                 died_at, error)
       SELECT s.tenant_id, s.submission_id, 'send', 'ecf', '', 1, 1, 0, now(), now(), 'x'
         FROM submissions AS s WHERE s.e_ncf LIKE 'E31%%000' AND s.status = 'Aceptado'""",
    """INSERT INTO client_requests (tenant_id, environment, client_request_id, submission_id)
       SELECT s.tenant_id, 'ecf', 'request-' || s.e_ncf, s.submission_id FROM submissions AS s""",
    """INSERT INTO submission_events (tenant_id, submission_id, seq, at, kind, detail, hash)
       SELECT s.tenant_id, s.submission_id, 1, s.submitted_at, 'accepted', '{}', '\\x00' FROM submissions AS s""",
    """INSERT INTO submission_documents (tenant_id, submission_id, kind, content)
       SELECT s.tenant_id, s.submission_id, 'original', '\\x00' FROM submissions AS s""",
    """INSERT INTO sends (tenant_id, submission_id, epoch, digest, intended_at, outcome)
       SELECT s.tenant_id, s.submission_id, 1, sha256(''), s.submitted_at, 'received' FROM submissions AS s""",
    "VACUUM ANALYZE",
)


@pytest.fixture(scope="module")
def grown(postgres: str, template: str) -> str:
    """DSN of a database with a long history and a long queue; made once, because it takes long."""
    return make_grown(postgres, template, _FILL, NOW, tenants=TENANTS, history=HISTORY, due=DUE)


_OLD_MONTHS = f"""
    INSERT INTO submissions (tenant_id, submission_id, environment, api_key_id, body_digest, format, root, ecf_type,
                             e_ncf, issuer_rnc, status, track_id, submitted_at, updated_at, verdict_at, number_fate)
    SELECT 1 + n %% %(tenants)s, {_ID}, 'ecf', 'fak_000000000000', '\\x00', 'xml', 'ECF', '31',
           'E34' || lpad(n::text, 10, '0'), '131880738', 'Aceptado', 'old-' || n, t.at, t.at, t.at, 'used'
      FROM generate_series(1, 23 * 1000) AS n
     CROSS JOIN LATERAL (SELECT %(now)s - make_interval(months => 4 + n %% 23) AS at) AS t
    ON CONFLICT DO NOTHING
"""

_LOOKED_INTO = """
    SELECT count(*)
      FROM pg_stat_xact_user_tables
     WHERE relname ~ '^submissions_' AND coalesce(seq_scan + idx_scan, 0) > 0
"""

_TABLES = "^(submissions|submission_|sends|outbox|client_requests)"


async def rows_read(db: Database, work: Callable[[Conn], Awaitable[Any]]) -> tuple[int, int]:
    """How many rows of the growing tables a piece of work read by scanning, and by index, when its plan is settled.

    The tenant, where the role sees one only, is number 1.
    """
    _, scanned, fetched = await db.run_for(TenantId(1), counting(lambda conn, _: work(conn), _TABLES))
    return scanned, fetched


async def some_work(conn: Conn) -> Work:
    works = await outbox.claim(conn, Stage.SIGN, LANE, [TenantId(1)], [1], lease=LEASE, holder="plans")
    return works[0]


async def test_a_claim_reads_what_it_claims(grown: str) -> None:
    async with open_database(grown, role=WORKER) as db:
        claim = partial(
            outbox.claim,
            stage=Stage.SIGN,
            lane=LANE,
            scope=[TenantId(1), TenantId(2), TenantId(3)],
            shares=[10, 10, 10],
            lease=LEASE,
            holder="plans",
        )
        scanned, fetched = await rows_read(db, claim)

    assert scanned == 0
    assert fetched <= 30 * 4


async def test_the_search_for_due_tenants_reads_a_few_rows_of_each_tenant(grown: str) -> None:
    async with open_database(grown, role=WORKER) as db:
        scanned, fetched = await rows_read(
            db, lambda conn: outbox.due_tenants(conn, Stage.SIGN, [(LANE, TenantId(3))], limit=64)
        )

    assert scanned == 0
    assert fetched <= 6 * TENANTS


async def test_a_claim_with_its_inputs_reads_a_few_rows_for_each_it_claims(grown: str) -> None:
    """Nine lanes, of which one has work. Signing also asks who else has the number, in the months that may have it."""
    capacities = [
        LaneCapacity(OutboxLane(environment, host), TenantId(3), tables.ALWAYS, 40, 0)
        for environment in Environment
        for host in ("", "ecf", "fc")
    ]
    terms = Terms(LEASE, "plans", 40, 40, 64, 40, {})

    async def claim(conn: Conn) -> None:
        claims = await claim_together(conn, Stage.SIGN, capacities, terms)
        assert sum(len(of.works) for of in claims) == 40

    async with open_database(grown, role=WORKER) as db:
        scanned, fetched = await rows_read(db, claim)

    assert scanned == 0
    assert fetched <= 6 * TENANTS + 40 * 8


@pytest.mark.parametrize("drawn", [False, True])
async def test_taking_a_submission_in_reads_no_history(drawn: bool, grown: str) -> None:
    new = NewSubmission(
        tenant_id=TenantId(1),
        submission_id=SubmissionId(new_id(NOW + timedelta(hours=1))),
        environment=Environment.ECF,
        api_key_id=ApiKeyId("fak_000000000000"),
        client_request_id=ClientRequestId(f"plan-{drawn}"),
        body_digest=b"\0" * 32,
        format="xml",
        root=Root.ECF,
        ecf_type=EcfType.CREDIT_FISCAL,
        e_ncf="E310009999999",
        issuer_rnc="131880738",
        buyer_rnc=None,
        as_user=None,
        as_user_id=None,
        original=b"<ECF/>",
    )
    async with open_database(grown, role=FRONT) as db:
        scanned, fetched = await rows_read(db, lambda conn: submissions.accept(conn, new, NOW))

    assert scanned == 0
    assert fetched <= 5


@pytest.mark.parametrize("stage", [Stage.SEND, Stage.TRACK])
async def test_a_document_that_was_signed_is_claimed_with_its_input_by_key(stage: Stage, grown: str) -> None:
    async def claim(conn: Conn) -> None:
        claims = await claim_together(
            conn,
            stage,
            [LaneCapacity(OutboxLane(Environment.ECF, "fc"), TenantId(0), tables.ALWAYS, 9, 0)],
            Terms(LEASE, "plans", 9, 9, 64, 9, {}),
        )
        assert [len(of.works) for of in claims] == [5]

    async with open_database(grown) as db, open_database(grown, role=WORKER) as worker:
        wait = """UPDATE outbox SET stage = %(stage)s, host = 'fc', run_at = now() - interval '1 s'
                   WHERE subject IN (SELECT subject FROM outbox WHERE tenant_id = 9 AND stage = 'sign' LIMIT 5)"""
        await rows(db, wait, stage=stage)
        scanned, fetched = await rows_read(worker, claim)

    assert scanned == 0
    assert fetched <= 5 * 8


async def test_taking_many_submissions_in_reads_no_history(grown: str) -> None:
    one = NewSubmission(
        tenant_id=TenantId(1),
        submission_id=SubmissionId(new_id(NOW)),
        environment=Environment.ECF,
        api_key_id=ApiKeyId("fak_000000000000"),
        client_request_id=None,
        body_digest=b"\0" * 32,
        format="xml",
        root=Root.ECF,
        ecf_type=EcfType.CREDIT_FISCAL,
        e_ncf="E310009999998",
        issuer_rnc="131880738",
        buyer_rnc=None,
        as_user=None,
        as_user_id=None,
        original=b"<ECF/>",
    )
    many = [
        replace(
            one,
            tenant_id=TenantId(1 + n % TENANTS),
            submission_id=SubmissionId(new_id(NOW)),
            client_request_id=ClientRequestId(f"many-{n}"),
        )
        for n in range(50)
    ]
    async with open_database(grown, role=FRONT) as db:
        scanned, fetched = await rows_read(db, lambda conn: submissions.accept_many(conn, [(new, NOW) for new in many]))

    assert scanned == 0
    assert fetched <= 5 * 50


async def test_booking_a_verdict_reads_its_own_rows(grown: str) -> None:
    async def book(conn: Conn) -> None:
        await bookings.verdict(
            conn,
            await some_work(conn),
            at=NOW,
            status=Status.ACCEPTED,
            track_id=TrackId("plan-track"),
            response={},
            fate=NumberFate.USED,
        )

    async with open_database(grown, role=WORKER) as db:
        scanned, fetched = await rows_read(db, book)

    assert scanned == 0
    assert fetched <= 20


async def test_what_sending_and_asking_need_is_read_by_key(grown: str) -> None:
    async def ask(conn: Conn) -> None:
        await steps.reconcile_facts(conn, await some_work(conn))

    async with open_database(grown, role=WORKER) as db:
        scanned, fetched = await rows_read(db, ask)

    assert scanned == 0
    assert fetched <= 20


@pytest.mark.parametrize("offset", [0, 500])
async def test_a_page_of_the_history_reads_no_more_than_the_tenants_rows(offset: int, grown: str) -> None:
    page = partial(
        history.page,
        tenant_id=TenantId(1),
        chosen=history.HistoryFilter(),
        limit=50,
        offset=offset,
        totals=history.Totals(),
        now=NOW + timedelta(days=1),
    )
    async with open_database(grown, role=FRONT) as db:
        scanned, fetched = await rows_read(db, page)

    assert scanned == 0
    assert fetched <= (HISTORY + DUE) / TENANTS + 200


async def test_a_list_of_dead_letters_reads_those_alone(grown: str) -> None:
    dead, limit = HISTORY // 1000, 20
    page = partial(
        history.page,
        tenant_id=TenantId(1),
        chosen=history.HistoryFilter(state=Place.DEAD_LETTER),
        limit=limit,
        offset=0,
        totals=history.Totals(),
        now=NOW + timedelta(days=1),
    )
    async with open_database(grown, role=FRONT) as db:
        scanned, fetched = await rows_read(db, page)
        found = await db.run_for(TenantId(1), lambda conn, _: page(conn))

    assert found.total == dead
    assert scanned == 0
    assert fetched <= dead + limit


async def test_a_cursor_reads_its_page_alone(grown: str) -> None:
    after = partial(
        history.after, tenant_id=TenantId(1), chosen=history.HistoryFilter(), limit=50, cursor=SubmissionId(new_id(NOW))
    )
    async with open_database(grown, role=FRONT) as db:
        scanned, fetched = await rows_read(db, after)

    assert scanned == 0
    assert fetched <= 100


@pytest.mark.parametrize(
    ("chosen", "most"),
    [
        (history.HistoryFilter(client_request_id=ClientRequestId("request-E310000000040")), 4),
        (history.HistoryFilter(client_request_id=ClientRequestId("nobody's")), 0),
        (history.HistoryFilter(e_ncf="E310000000040"), 4),
        (history.HistoryFilter(ecf_type=EcfType.EXPORTS), 0),
        (history.HistoryFilter(state=Status.ERROR), 0),
        (history.HistoryFilter(issued_from=date(2020, 1, 1), issued_to=date(2020, 1, 31)), 0),
        (history.HistoryFilter(issued_from=date(2020, 1, 1), total_to=Decimal(1), text="none"), 0),
        (history.HistoryFilter(user="nobody"), 0),
    ],
)
async def test_a_submission_is_found_in_the_list_by_what_it_is_called(
    chosen: history.HistoryFilter, most: int, grown: str
) -> None:
    page = partial(
        history.page,
        tenant_id=TenantId(1),
        chosen=chosen,
        limit=50,
        offset=0,
        totals=history.Totals(),
        now=NOW + timedelta(days=1),
    )
    async with open_database(grown, role=FRONT) as db:
        scanned, fetched = await rows_read(db, page)

    assert scanned == 0
    assert fetched <= most + 10  # planning looks at the ends of an index, and at rows there that are gone


@pytest.mark.parametrize("asked", [{"total_to": Decimal(-1), "text": "none"}, {"number_fate": NumberFate.VOID}])
@pytest.mark.parametrize(
    "period",
    [
        {"since": NOW - timedelta(days=4000), "until": NOW + timedelta(days=4000)},
        {"issued_from": date(2000, 1, 1), "issued_to": date(2100, 1, 1)},
    ],
)
async def test_a_list_with_a_filter_without_an_index_reads_no_more_rows_than_its_bound(
    asked: dict[str, Any], period: dict[str, Any], grown: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(history, "LOOK", 50)
    page = partial(
        history.page,
        tenant_id=TenantId(1),
        chosen=history.HistoryFilter(**period, **asked),
        limit=50,
        offset=0,
        totals=history.Totals(),
        now=NOW + timedelta(days=1),
    )
    async with open_database(grown, role=FRONT) as db:
        scanned, fetched = await rows_read(db, page)

    assert scanned == 0
    assert fetched <= 50 + 30  # planning looks at the ends of an index of each month


async def test_a_look_up_by_id_and_by_track_id_reads_one_row_and_its_story(grown: str) -> None:
    async with open_database(grown, role=FRONT) as db:
        for key in (TrackId("track-40"), TrackId("no-such-track")):
            scanned, fetched = await rows_read(db, partial(submissions.find, tenant_id=TenantId(1), track_or_id=key))
            assert scanned == 0
            assert fetched <= 1 + 5


async def test_to_look_after_those_who_wait_reads_their_rows(grown: str) -> None:
    async with open_database(grown, role=FRONT) as db:
        cursor = SubmissionId(new_id(NOW))
        newest = await db.run_for(TenantId(1), history.after, history.HistoryFilter(), limit=5, cursor=cursor)
        ids = [item.submission_id for item in newest.records]
        assert len(ids) == 5
        scanned, fetched = await rows_read(db, partial(submissions.ended, tenant_id=TenantId(1), submission_ids=ids))
        assert scanned == 0
        assert 0 < fetched <= 4 * len(ids)  # of many partitions, entries that are dead by now


async def test_why_reads_one_submission_of_whichever_tenant(grown: str) -> None:
    async with open_database(grown, role=WORKER) as workers, open_database(grown, role=OPERATOR) as db:
        work = await workers.run(some_work)
        scanned, fetched = await rows_read(db, partial(diagnosis.why, subject=work.subject))

    assert scanned == 0
    assert fetched <= 10


@pytest.mark.parametrize("name", ["E320000000007", "track-70", "request-E310000000007", str(uuid.UUID(int=1)), "none"])
async def test_a_submission_is_named_to_an_operator_by_indexes_alone(grown: str, name: str) -> None:
    """Each tenant is asked by its keys: a test of all of them, and of no table from end to end."""
    async with open_database(grown, role=OPERATOR) as db:
        scanned, fetched = await rows_read(db, partial(named.named, name=name))
        found = await db.run(named.named, name)

    assert scanned == 0
    assert fetched <= 10
    assert len(found) == (1 if name[0] in "Etr" else 0)
    assert [f"t{one.tenant_id}" for one in found] == [one.tenant for one in found]


@pytest.mark.parametrize("n", [HISTORY // 2, HISTORY + 1])
async def test_a_track_id_is_not_looked_for_from_the_newest_receipt_on(n: int, grown: str) -> None:
    """Of many receipts one is expected to be met soon on the way back through them, and is not."""
    with psycopg.connect(grown, autocommit=True) as conn:
        conn.execute("SELECT ensure_month(%s - make_interval(months => n)) FROM generate_series(4, 26) AS n", (NOW,))
        # To look into a month that is known to be empty costs nothing on paper.
        conn.execute(_OLD_MONTHS.encode(), {"now": NOW, "tenants": TENANTS})
        conn.execute("UPDATE submissions SET track_id = 'again-' || e_ncf WHERE tenant_id = 1 AND track_id IS NULL")
        conn.execute("ANALYZE submissions")
    async with open_database(grown, role=FRONT) as db:
        key = TrackId(f"track-{n - n % TENANTS}")
        scanned, fetched = await rows_read(db, partial(submissions.find, tenant_id=TenantId(1), track_or_id=key))

    assert scanned == 0
    assert fetched <= 1 + 6


async def test_those_who_wait_are_looked_after_in_their_month_alone(grown: str) -> None:
    """After the test before, of which the months are: twice a second, for each tenant with a long poll."""
    ids = [SubmissionId(new_id(NOW + timedelta(seconds=n))) for n in range(5)]

    async def looked_into(conn: Conn, tenant_id: TenantId) -> int:
        async with conn.transaction():
            await submissions.ended(conn, tenant_id, ids)
            cursor = await conn.execute(_LOOKED_INTO)
            (many,) = await cursor.fetchone() or (0,)
        return int(many)

    async with open_database(grown, role=FRONT) as db:
        assert await db.run_for(TenantId(1), looked_into) == 1


async def test_years_of_partitions_do_not_make_signing_read_all_of_a_tenants_month(grown: str) -> None:
    """Last in this file, for it leaves the partitions: a row read by its key is guessed to be one in each of them."""
    with psycopg.connect(grown, autocommit=True) as conn:
        conn.execute("SELECT ensure_month(%s - make_interval(months => n)) FROM generate_series(4, 26) AS n", (NOW,))

    async def ask(conn: Conn) -> None:
        await steps.signing_input(conn, await some_work(conn))

    async with open_database(grown, role=WORKER) as db:
        scanned, fetched = await rows_read(db, ask)

    assert scanned == 0
    assert fetched <= 30
