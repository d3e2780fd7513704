"""Tenants, submissions and claimed rows, made through the real store and the real booking functions."""

import hashlib
import secrets
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

from psycopg.rows import dict_row

from fe.ecf.catalogue import EcfType, Environment, Host, Root
from fe.ecf.ids import new_id
from fe.ecf.receipt_facts import FactsToPrint
from fe.identifiers import ApiKeyId, CertificateId, SubmissionId, TenantId, TrackId
from fe.lifecycle import Stage
from fe.store.postgres.db import Conn, Database
from fe.store.queue import outbox
from fe.store.queue.outbox import OutboxLane, Work
from fe.store.queue.steps import SignedDocument
from fe.store.records import submissions, tenants
from fe.store.records.submissions import NewSubmission
from tests.factories import bookings

ISSUER = {
    "RNCEmisor": "131880738",
    "RazonSocialEmisor": "DOCUMENTOS ELECTRONICOS DE 02",
    "DireccionEmisor": "AVE. ISABEL AGUIAR NO. 269",
}

#: The moment at which made submissions were accepted, unless another is given.
ACCEPTED_AT = datetime(2026, 11, 6, 14, 15, 30, tzinfo=UTC)
LEASE = timedelta(seconds=60)
SIGNED = b'<?xml version="1.0" encoding="utf-8"?><ECF>signed</ECF>'

#: A signed credit fiscal invoice.
DOCUMENT = SignedDocument(
    certificate_id=CertificateId(UUID(int=7)),
    signed=SIGNED,
    sent=None,
    host=Host.ECF,
    ecf_type=EcfType.CREDIT_FISCAL,
    issuer_rnc="131880738",
    buyer_rnc="2",
    security_code="AbC1+/",
    qr_code_url=None,
    ncf_expiration=None,
    signed_at=datetime(2026, 11, 6, 15, 0, 0, tzinfo=UTC),
)
SECURITY_CODE = "AbC1+/"
FACTS = FactsToPrint(Decimal("118.00"), Decimal("18.00"), "Cliente SRL", date(2026, 11, 6))


async def make_tenant(
    db: Database, *, issuer: dict[str, str] | None = None, consumer_summary: str = "automatic", weight: int = 1
) -> TenantId:
    """Create a tenant with a name of its own; return its id."""
    tenant = await db.run(
        tenants.create, f"tenant {secrets.token_hex(6)}", issuer or ISSUER, consumer_summary=consumer_summary
    )
    assert tenant is not None
    if weight != 1:
        await rows(
            db, "UPDATE tenants SET weight = %(weight)s WHERE tenant_id = %(id)s", weight=weight, id=tenant.tenant_id
        )
    return tenant.tenant_id


def new_submission(tenant_id: TenantId, at: datetime = ACCEPTED_AT, **changes: Any) -> NewSubmission:
    """A new small credit invoice, as POST /invoices stores it."""
    plain = NewSubmission(
        tenant_id=tenant_id,
        submission_id=SubmissionId(new_id(at)),
        environment=Environment.ECF,
        api_key_id=ApiKeyId("fak_000000000001"),
        client_request_id=None,
        body_digest=hashlib.sha256(b"body").digest(),
        format="structured",
        root=Root.ECF,
        ecf_type=EcfType.CREDIT_FISCAL,
        e_ncf="E310000000001",
        issuer_rnc="131880738",
        buyer_rnc="131880681",
        as_user=None,
        as_user_id=None,
        original=b"{}",
    )
    return replace(plain, **changes)


async def make_submission(
    db: Database,
    tenant_id: TenantId,
    *,
    stage: Stage = Stage.SIGN,
    at: datetime = ACCEPTED_AT,
    summary: bool = False,
    track_id: TrackId = TrackId("track-1"),
    certificate_id: CertificateId | None = None,
    signed: bytes = SIGNED,
    security_code: str | None = SECURITY_CODE,
    qr_code_url: str | None = None,
    **changes: Any,
) -> SubmissionId:
    """Create a submission whose outbox row is due in `stage`, brought there by the booking functions of production."""
    if "e_ncf" not in changes:
        # A number is one submission's: each of a tenant gets the next.
        made = await row(db, "SELECT count(*) FROM submissions WHERE tenant_id = %(tenant)s", tenant=tenant_id)
        changes["e_ncf"] = f"E31{made['count'] + 1:010}"
    new = new_submission(tenant_id, at, **changes)
    await db.run(submissions.accept, new, at)
    if stage is Stage.SIGN:
        return new.submission_id
    document = SignedDocument(
        certificate_id=CertificateId(certificate_id or UUID(int=1)),
        signed=signed,
        sent=b"<RFCE>signed</RFCE>" if summary else None,
        host=Host.FC if summary or new.root == "RFCE" else Host.ECF,
        ecf_type=new.ecf_type,
        issuer_rnc=new.issuer_rnc,
        buyer_rnc=new.buyer_rnc,
        security_code=security_code,
        qr_code_url=qr_code_url,
        ncf_expiration=None,
        signed_at=at,
        facts=FACTS,
    )
    await db.run(bookings.signed, await take(db, new.submission_id), document, at=at)
    if stage is Stage.SEND:
        return new.submission_id
    work = await take(db, new.submission_id)
    await db.run(bookings.intend_to_send, work, at=at, lease=LEASE, digest=digest_of(signed))
    if stage is Stage.TRACK:
        await db.run(bookings.received, work, at=at, track_id=track_id, after=timedelta(0), reply={"trackId": track_id})
    else:
        await db.run(bookings.doubt, work, at=at, after=timedelta(0), error="timeout")
    return new.submission_id


def digest_of(content: bytes) -> bytes:
    return hashlib.sha256(content).digest()


_TAKE = """
    UPDATE outbox
       SET attempt = attempt + 1, epoch = epoch + 1, deaths = deaths + (holder IS NOT NULL)::int, holder = 'test',
           run_at = now() + interval '60 s'
     WHERE subject = %s
    RETURNING stage, environment, host, tenant_id, subject, attempt, epoch, deaths, entered_at, last_error
"""


async def take(db: Database, subject: SubmissionId) -> Work:
    """Claim this row, due or not, held or not."""

    async def claim(conn: Conn) -> Work:
        cursor = await conn.execute(_TAKE, (subject,))
        taken = await cursor.fetchone()
        assert taken is not None, "nothing waits"
        stage, environment, host, tenant_id, its_subject, attempt, epoch, deaths, entered_at, last_error = taken
        lane, waited = OutboxLane(Environment(environment), host), datetime.now(UTC) - entered_at
        return Work(Stage(stage), lane, tenant_id, its_subject, attempt, epoch, deaths, waited, last_error)

    return await db.run(claim)


async def claim_all(
    db: Database,
    stage: Stage,
    scope: Sequence[TenantId],
    lane: OutboxLane = OutboxLane(Environment.ECF),  # noqa: B008  (frozen)
    *,
    share: int = 1000,
    lease: timedelta = LEASE,
    holder: str = "test",
) -> list[Work]:
    """The real claim, of all that is due."""
    shares = [share] * len(scope)
    return await db.run(outbox.claim, stage, lane, scope, shares, lease=lease, holder=holder)


async def rows(db: Database, statement: str, **values: Any) -> list[dict[str, Any]]:
    """Run a statement and return its rows."""

    async def look(conn: Conn) -> list[dict[str, Any]]:
        cursor = conn.cursor(row_factory=dict_row)
        await cursor.execute(statement.encode(), values)
        return await cursor.fetchall() if cursor.description else []

    return await db.run(look)


async def row(db: Database, statement: str, **values: Any) -> dict[str, Any]:
    """The one row that a statement gives back."""
    (only,) = await rows(db, statement, **values)
    return only


async def waiting(db: Database, subject: SubmissionId) -> dict[str, Any]:
    """The outbox row of a submission, with `due_in`: seconds from now."""
    return await row(
        db,
        "SELECT *, extract(EPOCH FROM run_at - clock_timestamp())::float8 AS due_in FROM outbox WHERE subject = %(id)s",
        id=subject,
    )


async def submission(db: Database, subject: SubmissionId) -> dict[str, Any]:
    """The row of a submission."""
    return await row(db, "SELECT * FROM submissions WHERE submission_id = %(id)s", id=subject)


async def sends_of(db: Database, subject: SubmissionId) -> list[tuple[int, str]]:
    """Epoch and outcome of each send of a submission."""
    found = await rows(db, "SELECT epoch, outcome FROM sends WHERE submission_id = %(id)s ORDER BY epoch", id=subject)
    return [(each["epoch"], each["outcome"]) for each in found]


async def story(db: Database, subject: SubmissionId) -> list[str]:
    """The kinds of a submission's events, oldest first."""
    found = await rows(db, "SELECT kind FROM submission_events WHERE submission_id = %(id)s ORDER BY seq", id=subject)
    return [each["kind"] for each in found]
