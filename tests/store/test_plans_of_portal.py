"""As in test_plans.py: whatever people ask the portal for, a page reads its own rows and nothing that grows.

One tenant has nearly all there is, so that an index that is only good for small tenants shows.
"""

import uuid
from collections.abc import Awaitable, Callable
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest

from fe.ecf.catalogue import EcfType, Environment
from fe.ecf.ids import period_of_ids
from fe.identifiers import SubmissionId, TenantId, UserId
from fe.lifecycle import NumberFate, Place, Status
from fe.store.portal import inbox, receipt, receipts, standing
from fe.store.portal.receipts import ReceiptFilter
from fe.store.postgres.db import Conn, open_database
from fe.store.postgres.roles import PORTAL
from fe.store.records import submissions, usage
from fe.store.records.received import ApprovalStatus, ReceivedFilter
from tests.store.grown import counting, make_grown

ROWS, WAITING = 40_000, 5000
NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)
DAY = date(2026, 11, 10)
TENANT = TenantId(1)
USER = UserId(uuid.UUID(int=77))

_ID = """(lpad(to_hex((extract(EPOCH FROM t.at) * 1000)::bigint), 12, '0') || '7'
          || substr(md5(n::text), 1, 3) || '8' || substr(md5(n::text), 4, 15))::uuid"""
_FILL = (
    "INSERT INTO tenants (tenant_id, name, issuer) SELECT n, 't' || n, '{}' FROM generate_series(1, 3) AS n",
    # Of a thousand: fifty rejected, one failed, two by a user, one of a rare type, one in another environment.
    f"""INSERT INTO submissions (tenant_id, submission_id, environment, api_key_id, body_digest, format, root, ecf_type,
                                 e_ncf, issuer_rnc, buyer_rnc, as_user, as_user_id, status, track_id, submitted_at,
                                 updated_at, verdict_at, number_fate, issued_on, total, buyer_name)
        SELECT CASE WHEN n %% 50 = 0 THEN 2 ELSE 1 END, {_ID},
               CASE WHEN n %% 1000 = 17 THEN 'testecf' ELSE 'ecf' END, 'fak_000000000000', '\\x00', 'xml', 'ECF',
               CASE WHEN n %% 1000 = 3 THEN '46' ELSE '31' END,
               'E31' || lpad(n::text, 10, '0'), '131880738', lpad((n %% 400)::text, 9, '1'),
               CASE WHEN n %% 1000 IN (7, 8) THEN 'ana@example.do' END,
               CASE WHEN n %% 1000 = 9 THEN %(user)s::uuid END,
               CASE WHEN n %% 20 = 5 THEN 'Rechazado' WHEN n %% 1000 = 6 THEN 'error' ELSE 'Aceptado' END,
               'track-' || n, t.at, t.at, CASE WHEN n %% 1000 <> 6 THEN t.at END, 'used',
               t.at::date, 118, CASE WHEN n %% 4 = 0 THEN 'Cafetería ' || n END
          FROM generate_series(1, %(rows)s) AS n
         CROSS JOIN LATERAL (SELECT %(now)s - (n * interval '1 day' * 90 / %(rows)s) AS at) AS t""",
    f"""INSERT INTO submissions (tenant_id, submission_id, environment, api_key_id, body_digest, format, root, ecf_type,
                                 e_ncf, submitted_at, updated_at)
        SELECT 1, {_ID}, 'ecf', 'fak_000000000000', '\\x00', 'xml', 'ECF', '32', 'E32' || lpad(n::text, 10, '0'),
               t.at, t.at
          FROM generate_series(1, %(waiting)s) AS n
         CROSS JOIN LATERAL (SELECT %(now)s + n * interval '1 millisecond' AS at) AS t""",
    """INSERT INTO outbox (tenant_id, subject, stage, environment, run_at)
       SELECT s.tenant_id, s.submission_id, 'sign', 'ecf', now() FROM submissions AS s WHERE s.status = 'queued'""",
    """INSERT INTO dead_letters (tenant_id, subject, stage, environment, host, attempt, epoch, deaths, entered_at,
                                 died_at, error)
       SELECT s.tenant_id, s.submission_id, 'send', 'ecf', '', 1, 1, 0, now(), now(), 'x'
         FROM submissions AS s WHERE s.status = 'error'""",
    """INSERT INTO client_requests (tenant_id, environment, client_request_id, submission_id)
       SELECT s.tenant_id, 'ecf', 'request-' || s.e_ncf, s.submission_id FROM submissions AS s""",
    """INSERT INTO submission_documents (tenant_id, submission_id, kind, content)
       SELECT s.tenant_id, s.submission_id, 'signed', '\\x00' FROM submissions AS s""",
    """INSERT INTO usage_days (tenant_id, utc_day, environment, submitted, settled, accepted, conditional, rejected,
                               answered, latency_us)
       SELECT 1, d.day, 'ecf', 1, 1, 1, 0, 0, 0, 0
         FROM generate_series(%(now)s::date - 600, %(now)s::date, interval '1 day') AS d (day)""",
    f"""INSERT INTO received (tenant_id, received_id, environment, issuer_rnc, e_ncf, ecf_type, issuer_name, buyer_rnc,
                              issued_on, total, digest, received_at)
        SELECT 1, {_ID}, CASE WHEN n %% 1000 = 17 THEN 'testecf' ELSE 'ecf' END, lpad((n %% 400)::text, 9, '1'),
               'E31' || lpad(n::text, 10, '0'), '31', 'A', '131880681', t.at::date, 118, sha256(n::text::bytea), t.at
          FROM generate_series(1, %(rows)s / 2) AS n
         CROSS JOIN LATERAL (SELECT %(now)s - (n * interval '1 day' * 90 / %(rows)s) AS at) AS t""",
    """INSERT INTO received_waiting (tenant_id, environment, received_id)
       SELECT r.tenant_id, r.environment, r.received_id FROM received AS r""",
    "VACUUM ANALYZE",
)

_TABLES = "^(submissions|submission_|outbox|client_requests|received|usage_days)"


@pytest.fixture(scope="module")
def grown(postgres: str, template: str) -> str:
    """DSN of a database in which one tenant has a long history; made once, because it takes long."""
    return make_grown(postgres, template, _FILL, NOW, rows=ROWS, waiting=WAITING, user=USER)


async def rows_read(dsn: str, work: Callable[[Conn, TenantId], Awaitable[Any]]) -> tuple[Any, int, int]:
    """Return the result of a piece of work, and the rows it read by scan and by index, with the portal's rights.

    Except dead letters: these are few.
    """
    async with open_database(dsn, role=PORTAL) as db:
        return await db.run_for(TENANT, counting(work, _TABLES))


def chosen(environment: Environment = Environment.ECF, **more: Any) -> ReceiptFilter:
    return ReceiptFilter(environment, **more)


#: Planning looks at the ends of an index, at rows there that are gone, and at those that two pages share.
SLACK = 30
#: For each row of a page one, where nothing but an index is asked; else what may be looked through, twice at the end.
PAGE = receipts.PAGE + 1 + SLACK
#: A page of all types reads that much of each.
OF_EACH = 4 * receipts.PAGE + SLACK
LOOKED = 2 * receipts.LOOK + SLACK


@pytest.mark.parametrize(
    ("asked", "many", "most"),
    [
        (chosen(), 50, OF_EACH),
        (chosen(Environment.TESTECF), 40, OF_EACH),
        (chosen(Environment.CERTECF), 0, OF_EACH),
        (chosen(until=NOW - timedelta(days=40)), 50, OF_EACH),
        (chosen(since=NOW - timedelta(days=40), until=NOW - timedelta(days=39)), 50, OF_EACH),
        (chosen(state=Status.ACCEPTED, until=NOW), 50, 1200),
        (chosen(state=Status.REJECTED), 50, PAGE),
        (chosen(state=Status.ERROR), 40, PAGE + 40),
        (chosen(Environment.TESTECF, state=Status.REJECTED), 0, SLACK),
        (chosen(state=Status.QUEUED), 50, 2 * LOOKED),
        (chosen(state=Status.PROCESSING), 0, 4 * LOOKED),
        (chosen(state=Place.DEAD_LETTER), 40, 2 * 50 + SLACK),
        (chosen(ecf_type=EcfType.EXPORTS), 40, PAGE),
        (chosen(ecf_type=EcfType.PURCHASES), 0, SLACK),
        (chosen(ecf_type=EcfType.CREDIT_FISCAL, state=Status.REJECTED), 50, PAGE),
        (chosen(ecf_type=EcfType.EXPORTS, state=Status.REJECTED), 0, LOOKED),
        (chosen(ecf_type=EcfType.CREDIT_FISCAL, state=Status.ACCEPTED), 50, 200),
        (chosen(buyer_rnc="111111399"), 50, 200),
        (chosen(Environment.TESTECF, buyer_rnc="111111399"), 0, LOOKED),
        (chosen(buyer_rnc="nobody"), 0, SLACK),
        (chosen(user="ana@example.do"), 50, 200),
        (chosen(user=USER), 40, 200),
        (chosen(user="nobody"), 0, SLACK),
        (chosen(issued_from=DAY, issued_to=DAY), 50, PAGE + 20),
        (chosen(issued_from=DAY, issued_to=DAY, ecf_type=EcfType.EXPORTS), 0, LOOKED),
        (chosen(issued_to=date(2020, 1, 1)), 0, SLACK),
        (chosen(issued_from=DAY, issued_to=DAY, since=NOW - timedelta(days=12), until=NOW), 50, LOOKED),
        (chosen(issued_from=DAY, buyer_rnc="111111399"), 11, LOOKED),
        (chosen(total_from=Decimal(999999)), 0, 3 * receipts.LOOK),
        (chosen(text="cafe", until=NOW), 50, 3 * receipts.LOOK),
        (chosen(total_to=Decimal(200), ecf_type=EcfType.EXPORTS), 40, LOOKED),
        (chosen(text="cafetería_"), 0, 3 * receipts.LOOK),
        (chosen(text="cafe"), 0, 3 * receipts.LOOK),
        (chosen(number_fate=NumberFate.VOID), 0, 3 * receipts.LOOK),
    ],
)
async def test_a_page_of_receipts_reads_its_own(asked: ReceiptFilter, many: int, most: int, grown: str) -> None:
    found, scanned, fetched = await rows_read(grown, lambda conn, tenant: receipts.page(conn, tenant, asked))

    assert len(found.rows) == many
    assert scanned == 0
    assert fetched <= most


@pytest.mark.parametrize("asked", [chosen(), chosen(ecf_type=EcfType.CREDIT_FISCAL), chosen(state=Status.REJECTED)])
async def test_a_page_far_down_costs_what_the_first_does(asked: ReceiptFilter, grown: str) -> None:
    below, _ = period_of_ids(NOW - timedelta(days=60), None)

    found, scanned, fetched = await rows_read(
        grown, lambda conn, tenant: receipts.page(conn, tenant, asked, below=SubmissionId(below))
    )

    assert len(found.rows) == receipts.PAGE
    assert scanned == 0
    assert fetched <= OF_EACH


@pytest.mark.parametrize(
    "name", ["E310000000041", "track-41", "request-E310000000041", str(uuid.UUID(int=41)), "nobody"]
)
async def test_a_search_reads_what_it_finds(name: str, grown: str) -> None:
    found, scanned, fetched = await rows_read(grown, lambda conn, tenant: receipts.search(conn, tenant, name))

    assert len(found) == (1 if "41" in name[-3:] and name[0] in "Etr" else 0)
    assert scanned == 0
    assert fetched <= SLACK


async def test_what_belongs_to_one_receipt_is_read_by_key(grown: str) -> None:
    rows, _, _ = await rows_read(grown, lambda conn, tenant: receipts.search(conn, tenant, "E310000000041"))
    one = rows[0].submission_id

    async def all_of_it(conn: Conn, tenant: TenantId) -> None:
        assert await receipt.one(conn, tenant, one) is not None
        assert set(await submissions.documents(conn, tenant, one)) == {"signed"}
        assert len(await receipt.of_number(conn, tenant, Environment.ECF, "E310000000041")) == 1
        assert len(await receipts.heads(conn, tenant, [one])) == 1

    _, scanned, fetched = await rows_read(grown, all_of_it)

    assert scanned == 0
    assert fetched <= SLACK


async def test_the_overview_counts_no_history(grown: str) -> None:
    async def all_of_it(conn: Conn, tenant: TenantId) -> None:
        assert len(await receipts.newest(conn, tenant, 8)) == 8
        assert (await standing.verdicts(conn, tenant, NOW.date().replace(day=1)))[0].accepted == 20
        (ecf, *_) = await standing.trouble(conn, tenant, NOW - timedelta(days=7))
        assert ecf.on_its_way == standing.MAX_COUNTED
        assert 0 < ecf.rejected < standing.MAX_COUNTED

    _, scanned, fetched = await rows_read(grown, all_of_it)

    assert scanned <= 3 * (standing.MAX_COUNTED + 100)  # a queue and a list of dead letters, cut off at MAX_COUNTED
    assert fetched <= 6 * standing.MAX_COUNTED + 500


async def test_usage_of_today_reads_no_more_than_it_counts(grown: str) -> None:
    async def of_a_month(conn: Conn, tenant: TenantId) -> list[usage.UsageSoFar]:
        return await usage.so_far(conn, tenant, NOW - timedelta(days=30), at_most=200)

    found, scanned, fetched = await rows_read(grown, of_a_month)

    assert [each.is_complete for each in found] == [False] * len(found) != []
    assert scanned == 0
    assert fetched <= 4 * 201 + SLACK


@pytest.mark.parametrize(
    ("asked", "many", "most"),
    [
        ({}, 50, 51),
        ({"environment": Environment.TESTECF}, 20, 51),
        ({"environment": Environment.CERTECF}, 0, 0),
        ({"issuer_rnc": "111111399"}, 50, 51),
        ({"issuer_rnc": "nobody"}, 0, 0),
        ({"e_ncf": "E310000000041"}, 1, 1),
        ({"until": NOW - timedelta(days=20)}, 50, 51),
        ({"status": ApprovalStatus.PENDING}, 50, inbox.LOOK_AT_DECISIONS),
        ({"status": ApprovalStatus.APPROVED}, 0, 2 * inbox.LOOK_AT_DECISIONS),
        ({"issued_from": DAY, "issued_to": DAY}, 50, 51),
        ({"issued_from": DAY, "issued_to": DAY, "ecf_type": EcfType.DEBIT_NOTE}, 0, inbox.LOOK),
        ({"total_from": Decimal(999999)}, 0, inbox.LOOK),
        ({"text": "A"}, 50, inbox.LOOK),
    ],
)
async def test_a_page_of_what_was_received_reads_its_own(
    asked: dict[str, Any], many: int, most: int, grown: str
) -> None:
    wanted = ReceivedFilter(**{"environment": Environment.ECF, **asked})
    found, scanned, fetched = await rows_read(grown, lambda conn, tenant: inbox.page(conn, tenant, wanted))

    assert len(found.rows) == many
    assert scanned == 0
    # Each row has its number looked up among what was issued, where an approval would be.
    assert fetched <= 2 * most + SLACK


@pytest.mark.parametrize("asked", [{"issued_from": DAY, "issued_to": DAY}, {"issued_to": DAY, "text": "cafe"}])
async def test_pages_by_day_of_issue_follow_each_other(asked: dict[str, Any], grown: str) -> None:
    async def two(conn: Conn, tenant: TenantId) -> None:
        first = await receipts.page(conn, tenant, chosen(**asked))
        second = await receipts.page(conn, tenant, chosen(**asked), below=first.older)
        ids = [row.submission_id for row in (*first.rows, *second.rows)]
        assert len(set(ids)) == 2 * receipts.PAGE
        assert ids == sorted(ids, reverse=True)
        inbox_asked = ReceivedFilter(environment=Environment.ECF, issued_to=DAY)
        one = await inbox.page(conn, tenant, inbox_asked)
        other = await inbox.page(conn, tenant, inbox_asked, below=one.older)
        assert one.rows[-1].received_id > other.rows[0].received_id

    _, scanned, fetched = await rows_read(grown, two)

    assert scanned == 0
    assert fetched <= 4 * LOOKED
