"""Receipts that are due for the archive, brought there by the booking functions of production."""

from datetime import UTC, datetime, timedelta
from typing import Any

from fe.ecf.ids import new_id
from fe.identifiers import SubmissionId, TenantId
from fe.lifecycle import NumberFate, Stage
from fe.store.postgres.db import Database
from tests.factories import bookings
from tests.factories.tenants import make_submission, rows, take

#: Two hours before midnight in Santo Domingo, and the next morning.
EVENING, MORNING = datetime(2026, 11, 7, 2, tzinfo=UTC), datetime(2026, 11, 7, 12, tzinfo=UTC)
SIGNED = b"<ECF><MontoTotal>118.00</MontoTotal></ECF>"
#: A stored package of each tenant, of which the store has nothing.
STORED_PACKAGE = """
    INSERT INTO archive_packages (tenant_id, environment, number, day, planned_at, receipts, additions, manifest,
                                  digest, bytes, location, made_at, stored_at)
    SELECT t.tenant_id, 'testecf', 1, current_date, now(), 3, 1, sha256('m'), sha256('p'), 900, '1/x.zip', now(), now()
      FROM tenants AS t
    RETURNING number
"""


async def finished(
    db: Database, tenant: TenantId, *, at: datetime = EVENING, signed: bytes = SIGNED, **changes: Any
) -> SubmissionId:
    """Bring a receipt to its verdict."""
    subject = await make_submission(db, tenant, stage=Stage.SEND, at=at, signed=signed, **changes)
    await db.run(bookings.verdict, await take(db, subject), at=at + timedelta(seconds=2))
    return subject


async def given_up(db: Database, tenant: TenantId, *, at: datetime) -> SubmissionId:
    """Bring a signed receipt to an outright refusal."""
    subject = await make_submission(db, tenant, stage=Stage.SEND, at=at, signed=SIGNED)
    work = await take(db, subject)
    await db.run(bookings.failure, work, at=at, response={"error": "no"}, fate=NumberFate.REUSABLE)
    return subject


async def acknowledged(db: Database, tenant: TenantId, subject: SubmissionId, at: datetime) -> None:
    """Store a receiver's acknowledgement of a receipt."""
    await rows(
        db,
        """INSERT INTO counterparty_deliveries (tenant_id, submission_id, kind, environment, counterparty_rnc, state,
                                                answer, since, changed_at, epoch)
           VALUES (%(tenant)s, %(subject)s, 'receipt', 'ecf', '101000002', 'delivered', '<ARECF/>', %(at)s, %(at)s, 1)
           ON CONFLICT (tenant_id, submission_id) DO UPDATE
              SET answer = EXCLUDED.answer, changed_at = EXCLUDED.changed_at
           RETURNING 1""",
        tenant=tenant,
        subject=subject,
        at=at,
    )


async def approved(db: Database, tenant: TenantId, subject: SubmissionId, at: datetime) -> None:
    """Store a buyer's approval of a receipt."""
    await rows(
        db,
        """INSERT INTO received_approvals (tenant_id, submission_id, approved, document, received_at)
           VALUES (%(tenant)s, %(subject)s, true, '<ACECF/>', %(at)s) RETURNING 1""",
        tenant=tenant,
        subject=subject,
        at=at,
    )


async def voided(db: Database, tenant: TenantId, at: datetime) -> None:
    """Store a voiding that the authority accepted."""
    await rows(
        db,
        """INSERT INTO voidings (tenant_id, subject, stage, environment, run_at, requested_at, requested_by, issuer_rnc,
                                  reason, ranges, numbers, document, signed_at, answer, finished_at)
           VALUES (%(tenant)s, %(id)s, 'voided', 'ecf', 'infinity', %(at)s, 'ana@example.do', '101000001', 8,
                   '[{"prefix": "E31", "first": 5, "last": 6}]', 2, '<ANECF/>', %(at)s, '{}', %(at)s)
           RETURNING 1""",
        tenant=tenant,
        id=new_id(at),
        at=at,
    )


async def received(db: Database, tenant: TenantId, at: datetime) -> None:
    """Store a supplier's receipt and our acknowledgement."""
    await rows(
        db,
        """WITH said AS (
               INSERT INTO acknowledgements (tenant_id, environment, digest, reason, issuer_rnc, e_ncf, document,
                                             acknowledgement, said_at)
               VALUES (%(tenant)s, 'ecf', sha256('r'), 0, '101000003', 'E310000000009', '<ECF>theirs</ECF>',
                       '<ARECF>ours</ARECF>', %(at)s))
           INSERT INTO received (tenant_id, received_id, environment, issuer_rnc, e_ncf, ecf_type, issuer_name,
                                 buyer_rnc, issued_on, total, digest, received_at)
           VALUES (%(tenant)s, %(id)s, 'ecf', '101000003', 'E310000000009', '31', 'Suplidor', '101000001',
                   '2026-11-06', 10, sha256('r'), %(at)s)
           RETURNING 1""",
        tenant=tenant,
        id=new_id(at),
        at=at,
    )
