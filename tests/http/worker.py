"""The worker's part of a submission's life, done by hand through the same store functions."""

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID, uuid4

from fe.ecf.catalogue import EcfType, Host
from fe.ecf.receipt_facts import FactsToPrint
from fe.identifiers import CertificateId, SubmissionId, TrackId
from fe.lifecycle import NumberFate, Status
from fe.store.postgres.db import Database
from fe.store.queue import steps
from tests.factories import bookings
from tests.factories.tenants import take

SIGNED = b"<ECF><Encabezado/><Signature/></ECF>"


def reply(status: Status, *messages: tuple[str, str]) -> dict[str, Any]:
    return {
        "trackStatus": {"estado": status},
        "mensajes": [{"codigo": codigo, "valor": valor} for codigo, valor in messages],
    }


async def sign(db: Database, tax_log_id: str, *, at: datetime | None = None, signed: bytes = SIGNED) -> None:
    now = at or datetime.now(UTC)
    work = await take(db, SubmissionId(UUID(tax_log_id)))
    document = steps.SignedDocument(
        certificate_id=CertificateId(uuid4()),
        signed=signed,
        sent=None,
        host=Host.ECF,
        ecf_type=EcfType.CREDIT_FISCAL,
        issuer_rnc="131880681",
        buyer_rnc="131880657",
        security_code="aB3+/x",
        qr_code_url="https://ecf.dgii.gov.do/testecf/ConsultaTimbre?rncemisor=131880681",
        ncf_expiration=date(2027, 12, 31),
        signed_at=now,
        facts=FactsToPrint(Decimal("1063.18"), Decimal("162.18"), "Ñandú & Cía", date(2026, 11, 5)),
        amounts={"itbis": "162.18", "base18": "901.00", "itbis18": "162.18"},
    )
    await db.run(bookings.signed, work, document, at=now)


async def receive(db: Database, tax_log_id: str, track_id: TrackId, *, at: datetime | None = None) -> None:
    work = await take(db, SubmissionId(UUID(tax_log_id)))
    await db.run(
        bookings.received,
        work,
        at=at or datetime.now(UTC),
        track_id=track_id,
        after=timedelta(0),
        reply={"trackId": track_id},
    )


async def still_processing(db: Database, tax_log_id: str) -> None:
    work = await take(db, SubmissionId(UUID(tax_log_id)))
    await db.run(
        bookings.processing,
        work,
        at=datetime.now(UTC),
        after=timedelta(seconds=2),
        response=reply(Status.PROCESSING),
    )


async def give_verdict(
    db: Database,
    tax_log_id: str,
    status: Status,
    *messages: tuple[str, str],
    track_id: TrackId | None = None,
    at: datetime | None = None,
) -> None:
    work = await take(db, SubmissionId(UUID(tax_log_id)))
    await db.run(
        bookings.verdict,
        work,
        at=at or datetime.now(UTC),
        status=status,
        track_id=track_id,
        response=reply(status, *messages),
        fate=NumberFate.REUSABLE if status is Status.REJECTED else NumberFate.USED,
    )


async def fail(db: Database, tax_log_id: str, error: str) -> None:
    work = await take(db, SubmissionId(UUID(tax_log_id)))
    await db.run(
        bookings.failure,
        work,
        at=datetime.now(UTC),
        response={"status": "error", "error": error, "dgiiResponse": None},
        fate=NumberFate.REUSABLE,
    )


async def give_up(db: Database, tax_log_id: str, error: str) -> None:
    work = await take(db, SubmissionId(UUID(tax_log_id)))
    await db.run(bookings.dead_letter, work, at=datetime.now(UTC), error=error)


async def carry_through(
    db: Database,
    tax_log_id: str,
    status: Status = Status.ACCEPTED,
    *messages: tuple[str, str],
    track_id: TrackId = TrackId("d2b6e27c-3908-46f3-afaa-2207b9501b4b"),
    at: datetime | None = None,
) -> None:
    """From the 202 to the verdict."""
    await sign(db, tax_log_id, at=at)
    await receive(db, tax_log_id, track_id, at=at)
    await give_verdict(db, tax_log_id, status, *messages, at=at)
