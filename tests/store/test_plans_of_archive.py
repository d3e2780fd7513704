"""Looks of the archive over a company's whole history: each transaction reads a page, however long the history is."""

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg
import pytest

from fe.archive.evidence import Evidence, IssuedReceipt, ReceivedReceipt
from fe.archiving import months
from fe.archiving.checking import find_missing
from fe.ecf.catalogue import Environment
from fe.ecf.ids import moment_of
from fe.identifiers import TenantId
from fe.month.period import YearMonth
from fe.store.postgres.db import Conn, Database, open_database
from fe.store.postgres.roles import OPERATOR, WORKER
from fe.store.records import archive, archive_checks, archive_places, archive_planning
from fe.store.records.archive import PackageChain
from fe.store.records.archive_checks import MissingEvidence
from fe.store.records.archive_evidence import Position, read_page
from fe.store.records.archive_places import IdSpan
from fe.store.records.archive_planning import Planned
from tests import citus
from tests.store.grown import count_reads, fill, make_grown

pytestmark = pytest.mark.skipif(citus.wanted(), reason="a server of its own, without Citus")

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)
#: Receipts of each kind, in 3,653 packages, and the rows that a look may take together.
HISTORY, PAGE = 2000, 50
CHAIN = PackageChain(TenantId(1), Environment.ECF)
#: Rows that a transaction may read: a few statements look at each row of a page.
MOST_READ = 12 * PAGE
_TABLES = "^(submission|archive_|received|counterparty_|acknowledgements)"

_ID = "(lpad(to_hex((extract(EPOCH FROM t.at) * 1000)::bigint), 12, '0') || '7%s' || lpad(to_hex(n), 17, '8'))::uuid"
_AT = "CROSS JOIN LATERAL (SELECT %(now)s - interval '2 days' - (n * interval '1 day' * 40 / %(history)s) AS at) AS t"
_EVIDENCE = (
    "INSERT INTO tenants (tenant_id, name, issuer) VALUES (1, 't1', '{}')",
    f"""INSERT INTO submissions (tenant_id, submission_id, environment, api_key_id, body_digest, format, root, e_ncf,
                                 status, submitted_at, updated_at, verdict_at, signed_at, number_fate)
        SELECT 1, {_ID % "01"}, 'ecf', 'fak_000000000000', '\\x00', 'xml', 'ECF', 'E31' || lpad(n::text, 10, '0'),
               CASE WHEN n %% 2 = 0 THEN 'Aceptado' ELSE 'error' END::submission_status, t.at, t.at,
               CASE WHEN n %% 2 = 0 THEN t.at END, t.at, 'used'
          FROM generate_series(1, 2 * %(history)s) AS n {_AT}""",
    f"""INSERT INTO received (tenant_id, received_id, environment, issuer_rnc, e_ncf, ecf_type, issuer_name, buyer_rnc,
                              issued_on, total, digest, received_at)
        SELECT 1, {_ID % "02"}, 'ecf', '101000003', 'E31' || lpad(n::text, 10, '0'), '31', 'S', '101000001',
               t.at::date, 10, sha256(n::text::bytea), t.at
          FROM generate_series(1, %(history)s) AS n {_AT}""",
    """INSERT INTO counterparty_deliveries (tenant_id, submission_id, kind, environment, counterparty_rnc, state,
                                            answer, since, changed_at, epoch)
       SELECT 1, submission_id, 'receipt', 'ecf', '101000002', 'delivered', '<ARECF/>', verdict_at, verdict_at, 1
         FROM submissions WHERE verdict_at IS NOT NULL""",
    """INSERT INTO submission_documents (tenant_id, submission_id, kind, content)
       SELECT 1, submission_id, 'signed', decode(repeat('00', 900), 'hex') FROM submissions""",
    """INSERT INTO archive_chains (tenant_id, environment, planned_until, issued_until)
       VALUES (1, 'ecf', '2000-01-01Z', '2000-01-01Z')""",
    """INSERT INTO submission_events (tenant_id, submission_id, seq, at, kind, detail, hash)
       SELECT 1, submission_id, 1, submitted_at, 'signed', '{}', sha256('e') FROM submissions""",
    """INSERT INTO acknowledgements (tenant_id, environment, digest, reason, issuer_rnc, e_ncf, document,
                                     acknowledgement, said_at)
       SELECT 1, 'ecf', r.digest, 0, r.issuer_rnc, r.e_ncf, '<ECF/>', '<ARECF/>', r.received_at FROM received AS r""",
)
_FILL = (
    *_EVIDENCE,
    """INSERT INTO archive_packages (tenant_id, environment, number, previous, day, planned_at, receipts, additions,
                                     manifest, digest, bytes, location, made_at, stored_at, stamped_at)
       SELECT 1, 'ecf', n, CASE WHEN n > 1 THEN sha256((n - 1)::text::bytea) END, '2026-11-18', %(now)s, 100, 0,
              sha256(n::text::bytea), sha256('p'), 900, n || '.zip', %(now)s, %(now)s,
              CASE WHEN n <= 3650 THEN %(now)s END
         FROM generate_series(1, 3653) AS n""",
    """INSERT INTO archive_items (tenant_id, evidence_id, part, environment, number, events)
       SELECT 1, submission_id, 'issued', 'ecf', 1 + row_number() OVER () % 60, 0 FROM submissions
        UNION ALL SELECT 1, submission_id, 'acknowledgement', 'ecf', 1, 0 FROM counterparty_deliveries
        UNION ALL SELECT 1, received_id, 'received', 'ecf', 2, 0 FROM received""",
    """INSERT INTO archive_places (tenant_id, submission_id, environment, number, start, length, digest)
       SELECT 1, submission_id, 'ecf', 1, 0, 1, sha256('x') FROM submissions WHERE verdict_at IS NOT NULL""",
    "VACUUM ANALYZE",
)
#: Planning begins in the middle of the history: the first month is small, and read as a whole.
_MIDDLE = "UPDATE archive_chains SET planned_until = '2026-10-20Z', issued_until = '2026-10-20Z'"
#: One package is stored, and planning goes on with what has no verdict.
_GO_ON = (
    """UPDATE archive_packages SET manifest = sha256('m'), digest = sha256('d'), bytes = 9, location = '1.zip',
                                   made_at = now(), stored_at = now()""",
    "UPDATE archive_chains SET issued_until = %(until)s",
)
#: One evidence of each kind that no package has.
_LOST = """
    DELETE FROM archive_items
     WHERE (evidence_id, part) IN (SELECT submission_id, 'issued' FROM submissions WHERE verdict_at IS NOT NULL LIMIT 1)
        OR (evidence_id, part) IN (SELECT submission_id, 'issued' FROM submissions WHERE status = 'error' LIMIT 1)
        OR (evidence_id, part) IN (SELECT received_id, 'received' FROM received LIMIT 1)
    RETURNING evidence_id
"""


@pytest.fixture(scope="module")
def grown(postgres: str, template: str) -> str:
    """DSN of a database with a long history that is archived; made once."""
    return make_grown(postgres, template, _FILL, NOW, history=HISTORY)


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Rows that each transaction read."""
    found: list[int] = []
    lent = Database._lent

    async def measured(self: Database, work: Callable[[Conn], Awaitable[Any]]) -> Any:
        async def counted(conn: Conn) -> Any:
            async with conn.transaction():
                # As packing sets it, which may not after the count.
                await conn.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
                before = sum(await count_reads(conn, _TABLES))
                done = await work(conn)
                found.append(sum(await count_reads(conn, _TABLES)) - before)
                return done

        return await lent(self, counted)

    monkeypatch.setattr(Database, "_lent", measured)
    return found


async def test_check_of_a_whole_history_reads_a_page_in_each_transaction(grown: str, reads: list[int]) -> None:
    async with open_database(grown, role=WORKER) as db:
        assert await find_missing(db, CHAIN, None, NOW, page=PAGE) == MissingEvidence()
        assert len(reads) > 3 * HISTORY / PAGE
        assert max(reads) <= MOST_READ

        with psycopg.connect(grown) as conn:
            lost = [one for (one,) in conn.execute(_LOST).fetchall()]
            found = await find_missing(db, CHAIN, None, NOW, page=PAGE)
            assert found == MissingEvidence()
            conn.commit()
            found = await find_missing(db, CHAIN, None, NOW, page=PAGE)
            conn.execute("INSERT INTO archive_items SELECT 1, unnest(%s::uuid[]), 'issued', 'ecf', 1, 0", [lost])
            conn.execute("INSERT INTO archive_items SELECT 1, unnest(%s::uuid[]), 'received', 'ecf', 1, 0", [lost])
        assert len(lost) == found.count == 3
        assert found.unplanned_since is not None
        assert abs(found.unplanned_since - min(map(moment_of, lost))) < timedelta(seconds=1)


async def test_planning_passes_an_archived_history_page_by_page(
    grown: str, reads: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(archive_planning, "_LOOK", PAGE)
    until = NOW - timedelta(days=1)
    async with open_database(grown, role=WORKER) as db:
        await db.run(archive_checks.plan_again, CHAIN, datetime(2000, 1, 1, tzinfo=UTC))
        reads.clear()
        planned = Planned.PASSED
        while planned is Planned.PASSED:
            planned = await db.transact(
                archive_planning.plan, CHAIN, until=until, day=until.date(), at=NOW, most=1, most_bytes=1 << 20
            )
    assert planned is Planned.NOTHING
    assert len(reads) > 2 * HISTORY / PAGE
    # The last call goes through all receipts that ended as `error`, a page in each statement.
    assert max(reads[:-1]) <= MOST_READ


async def test_months_are_looked_at_and_restored_page_by_page(
    grown: str, reads: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(months, "_PAGE", PAGE)
    month, span = YearMonth(2026, 10), IdSpan.of(YearMonth(2026, 10))
    async with open_database(grown, role=OPERATOR) as db:
        count, hindrances = await months.reasons(db, lambda: NOW + timedelta(days=60), month)
        assert (count > HISTORY / 2, hindrances) == (True, [])
        packages = await months._packages(db, TenantId(1), span)
        assert {number for _, number in packages} == set(range(1, 61))
        after, pages = None, 0
        while True:
            places, after = await db.run(archive_places.away, TenantId(1), span, after=after, limit=PAGE)
            if after is None:
                break
            pages += 1
            assert places == []
        assert pages > HISTORY / 4 / PAGE
    assert max(reads) <= MOST_READ


async def test_packages_without_a_time_stamp_are_found_among_those_of_ten_years(grown: str, reads: list[int]) -> None:
    async with open_database(grown, role=WORKER) as db:
        assert await db.run(archive.chains_to_stamp) == [CHAIN]
        assert [one.number for one in await db.run(archive.unstamped, CHAIN)] == [3651, 3652, 3653]
    assert max(reads) <= 3


async def test_planning_and_packing_read_evidence_by_its_key(
    postgres: str, template: str, reads: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each second receipt of the history is packed, so the span of a page's ids is twice as long as the page."""
    monkeypatch.setattr(archive_planning, "_LOOK", PAGE)
    until = NOW - timedelta(days=1)
    dsn = make_grown(postgres, template, (*_EVIDENCE, _MIDDLE, "VACUUM ANALYZE"), NOW, history=HISTORY)
    async with open_database(dsn, role=WORKER) as db:
        for kind in (IssuedReceipt, ReceivedReceipt):
            planned = Planned.PASSED
            while planned is Planned.PASSED:
                planned = await db.transact(
                    archive_planning.plan, CHAIN, until=until, day=until.date(), at=NOW, most=PAGE, most_bytes=1 << 20
                )
            assert planned is Planned.PACKAGE
            package = await db.run(archive.open_package, CHAIN)
            assert package is not None
            position, found = Position(), list[Evidence]()
            while True:
                page, following = await db.transact(read_page, package, position, PAGE)
                found += page
                if following is None:
                    break
                position = following
            assert [type(one) for one in found] == [kind] * PAGE
            with psycopg.connect(dsn) as conn:
                fill(conn, _GO_ON, {"until": until})
    assert max(reads) <= MOST_READ
