"""As in test_plans.py: what pages tell of a sequence reads a stretch of its numbers, however many it has."""

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

import psycopg
import pytest

from fe.ecf.catalogue import Environment
from fe.identifiers import SubmissionId, TenantId
from fe.store.postgres.db import Conn, open_database
from fe.store.postgres.roles import PORTAL
from fe.store.records import billing, charges
from fe.store.records import number_history as fates
from tests.store.grown import counting, fill

NUMBERS = 20_000
NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)
_ID = """(lpad(to_hex((extract(EPOCH FROM t.at) * 1000)::bigint), 12, '0') || '7'
          || substr(md5(n::text), 1, 3) || '8' || substr(md5(n::text), 4, 15))::uuid"""

#: Ninety days of numbers, the last one now.
_FILL = (
    "INSERT INTO tenants (tenant_id, name, issuer) VALUES (1, 't1', '{}')",
    f"""INSERT INTO submissions (tenant_id, submission_id, environment, api_key_id, body_digest, format, root, ecf_type,
                                 e_ncf, issuer_rnc, status, submitted_at, updated_at, verdict_at, number_fate)
        SELECT 1, {_ID}, 'ecf', 'fak_000000000000', '\\x00', 'xml', 'ECF', '31',
               'E31' || lpad((%(numbers)s - n)::text, 10, '0'), '131880738', 'Aceptado', t.at, t.at, t.at, 'used'
          FROM generate_series(0, %(numbers)s - 1) AS n
         CROSS JOIN LATERAL (SELECT %(now)s::timestamptz - (n * interval '1 day' * 90 / %(numbers)s) AS at) AS t""",
    """INSERT INTO held_numbers (tenant_id, environment, e_ncf, issuer_rnc, submission_id)
       SELECT s.tenant_id, s.environment, s.e_ncf, s.issuer_rnc, s.submission_id FROM submissions AS s""",
    """INSERT INTO submission_events (tenant_id, submission_id, seq, at, kind, detail, hash)
       SELECT s.tenant_id, s.submission_id, 1, s.submitted_at, 'accepted', '{"drawn": false}', '\\x00'
         FROM submissions AS s""",
    """INSERT INTO sequences (tenant_id, environment, prefix, sequence_id, min_number, max_number, current_number,
                              created_at)
       VALUES (1, 'ecf', 'E31', gen_random_uuid(), 1, 9999999999, %(numbers)s + 1, '2026-01-01')""",
    "ANALYZE",
)

_TABLES = "^(submissions|submission_events|held_numbers|usage_|billing_)"


@pytest.fixture
def grown(dsn: str) -> str:
    with psycopg.connect(dsn, autocommit=True) as conn:
        for month in range(5):
            conn.execute("SELECT ensure_month(%s)", (NOW - timedelta(days=30 * month),))
        fill(conn, _FILL, {"numbers": NUMBERS, "now": NOW})
    return dsn


async def rows_read(dsn: str, work: Callable[..., Awaitable[Any]]) -> tuple[int, int]:
    """How many rows of the growing tables a piece of work read by scanning, and by index, when its plan is settled."""
    async with open_database(dsn, role=PORTAL) as db:
        _, scanned, fetched = await db.run_for(TenantId(1), counting(work, _TABLES))
    return scanned, fetched


async def test_the_use_of_sequences_reads_a_few_keys(grown: str) -> None:
    found: list[fates.Use] = []

    async def ask(conn: Conn, tenant_id: TenantId) -> None:
        found.extend(await fates.use(conn, tenant_id, Environment.ECF, NOW - timedelta(days=30)))

    scanned, fetched = await rows_read(grown, ask)

    assert scanned == 0
    assert fetched <= 40
    assert found[0].numbers == pytest.approx(NUMBERS / 3, abs=2)


async def test_a_stretch_of_numbers_reads_that_stretch(grown: str) -> None:
    page = partial(fates.taken, environment=Environment.ECF, prefix="E31", first=10_001, last=10_500)

    scanned, fetched = await rows_read(grown, page)

    assert scanned == 0
    assert fetched <= 2 * 500


async def test_the_number_behind_a_gap_is_found_by_its_key(grown: str) -> None:
    scanned, fetched = await rows_read(
        grown, partial(fates.next_taken, environment=Environment.ECF, prefix="E31", after=5000, last=9_999_999_999)
    )

    assert scanned == 0
    assert fetched <= 5


async def test_who_came_with_a_number_is_read_by_key(grown: str) -> None:
    with psycopg.connect(grown) as conn:
        ids = [SubmissionId(row[0]) for row in conn.execute("SELECT submission_id FROM submissions LIMIT 20")]

    scanned, fetched = await rows_read(grown, partial(fates.came_with_their_number, submissions=ids))

    assert scanned == 0
    assert fetched <= 2 * 20


async def test_bills_are_read_without_counting_submissions(grown: str) -> None:
    async def books(conn: Conn, tenant_id: TenantId) -> None:
        await billing.snapshot(conn, tenant_id, NOW.date().replace(day=1))
        await billing.months(conn, tenant_id)
        await charges.of_tenant(conn, tenant_id)

    scanned, fetched = await rows_read(grown, books)

    assert scanned == 0
    assert fetched <= 10
