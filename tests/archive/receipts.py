"""Evidence of small receipts, with real signatures and real hash chains."""

import io
import json
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from functools import cache
from hashlib import sha256
from typing import Any
from uuid import UUID

from cryptography.hazmat.primitives.serialization import Encoding

from fe.archive.evidence import (
    ArchivedEvent,
    Evidence,
    IssuedReceipt,
    ReceivedReceipt,
    SignerEvidence,
    VoidingEvidence,
)
from fe.archive.keys import MemoryKey
from fe.archive.package import PackageHeading, PackageWriter, Sealed, order_of
from fe.ecf.catalogue import Environment, Root
from fe.ecf.certificate import Credential
from fe.ecf.parse import parse_own
from fe.ecf.signature import Signer
from fe.identifiers import SubmissionId, TenantId
from fe.lifecycle import Status
from fe.operations.evidence import link_hash
from tests.factories import certificates as made

TENANT = TenantId(7)
ISSUER, BUYER = "131880738", "131880681"
SIGNED_AT = datetime(2026, 11, 26, 13, 0, 0, tzinfo=UTC)
DAY = date(2026, 11, 26)
MADE_AT = datetime(2026, 11, 27, 4, 10, 0, tzinfo=UTC)


@cache
def archive_key(name: str = "installation") -> MemoryKey:
    return MemoryKey(made.rsa_key(f"archive {name}", 3072))


@cache
def signer_of(credential: Credential) -> Signer:
    return Signer(credential)


def sign(text: str, credential: Credential | None = None) -> bytes:
    return signer_of(credential or made.default_credential()).sign(parse_own(text)).xml


def ecf(e_ncf: str, total: str = "118.00", issuer: str = ISSUER, note: str = "Café Ñandú & Cía ®") -> str:
    """The elements that an archive looks at; the rest of an e-CF is the validator's matter."""
    note = note.replace("&", "&amp;").replace("<", "&lt;")
    return (
        f"<ECF><Encabezado><Version>1.0</Version><IdDoc><TipoeCF>{e_ncf[1:3]}</TipoeCF><eNCF>{e_ncf}</eNCF></IdDoc>"
        f"<Emisor><RNCEmisor>{issuer}</RNCEmisor><RazonSocialEmisor>{note}</RazonSocialEmisor></Emisor>"
        f"<Totales><MontoTotal>{total}</MontoTotal></Totales></Encabezado>"
        "<FechaHoraFirma>26-11-2026 09:00:00</FechaHoraFirma></ECF>"
    )


def rfce(e_ncf: str, total: str = "118.00") -> str:
    return (
        f"<RFCE><Encabezado><Version>1.0</Version><IdDoc><TipoeCF>32</TipoeCF><eNCF>{e_ncf}</eNCF></IdDoc>"
        f"<Emisor><RNCEmisor>{ISSUER}</RNCEmisor></Emisor><Totales><MontoTotal>{total}</MontoTotal></Totales>"
        "</Encabezado></RFCE>"
    )


def arecf(e_ncf: str, issuer: str = ISSUER) -> str:
    return (
        f"<ARECF><DetalleAcusedeRecibo><Version>1.0</Version><RNCEmisor>{issuer}</RNCEmisor>"
        f"<RNCComprador>{BUYER}</RNCComprador><eNCF>{e_ncf}</eNCF><Estado>0</Estado>"
        "<FechaHoraAcuseRecibo>26-11-2026 09:05:00</FechaHoraAcuseRecibo></DetalleAcusedeRecibo></ARECF>"
    )


def acecf(e_ncf: str, issuer: str = ISSUER) -> str:
    return (
        f"<ACECF><DetalleAprobacionComercial><Version>1.0</Version><RNCEmisor>{issuer}</RNCEmisor><eNCF>{e_ncf}</eNCF>"
        f"<FechaEmision>26-11-2026</FechaEmision><MontoTotal>118.00</MontoTotal><RNCComprador>{BUYER}</RNCComprador>"
        "<Estado>1</Estado><FechaHoraAprobacionComercial>26-11-2026 10:00:00</FechaHoraAprobacionComercial>"
        "</DetalleAprobacionComercial></ACECF>"
    )


def events(submission: SubmissionId, steps: Iterable[tuple[str, dict[str, Any]]]) -> tuple[ArchivedEvent, ...]:
    found, previous = list[ArchivedEvent](), b""
    for seq, (kind, detail) in enumerate(steps, 1):
        at, text = SIGNED_AT + timedelta(seconds=seq), json.dumps(detail, ensure_ascii=False)
        previous = link_hash(previous, TENANT, submission, seq, at, kind, text)
        found.append(ArchivedEvent(seq, at, kind, text, previous))
    return tuple(found)


def _digest(content: bytes | None) -> str | None:
    return None if content is None else sha256(content).hexdigest()


def life(
    submission: SubmissionId, original: bytes | None, signed: bytes, summary: bytes | None, status: str
) -> list[tuple[str, dict[str, Any]]]:
    answer = {"codigo": "1", "mensajes": [{"valor": "Número Ñ €", "codigo": 0}]}
    return [
        ("accepted", {"format": "structured", "sha256": _digest(original)}),
        ("signed", {"sha256": _digest(signed), "summarySha256": _digest(summary)}),
        ("sending", {"epoch": 1, "sha256": _digest(summary or signed)}),
        ("received", {"trackId": "t-1"}),
        ("verdict", {"status": status, "response": answer, "numberFate": "used"}),
    ]


def with_chain() -> SignerEvidence:
    return SignerEvidence(chain=(made.default_root().certificate.public_bytes(Encoding.DER),))


def issued(number: int = 1, *, ecf_type: str = "31", total: str = "118.00", **changes: Any) -> IssuedReceipt:
    """An accepted receipt; type 32 goes with a summary."""
    submission, e_ncf = SubmissionId(UUID(int=(7 << 76) | (2 << 62) | number)), f"E{ecf_type}{number:010d}"
    original, signed = json.dumps({"eNCF": e_ncf}).encode(), sign(ecf(e_ncf, total))
    summary = sign(rfce(e_ncf, total)) if ecf_type == "32" else None
    plain = IssuedReceipt(
        id=submission,
        root=Root.ECF,
        issuer_rnc=ISSUER,
        status=Status.ACCEPTED,
        signed=signed,
        events=events(submission, life(submission, original, signed, summary, "Aceptado")),
        e_ncf=e_ncf,
        total=Decimal(total),
        summary=summary,
        original=original,
        signer=with_chain(),
    )
    return replace(plain, **changes)


def received(number: int = 1, total: str = "59.00") -> ReceivedReceipt:
    e_ncf = f"E31{number:010d}"
    return ReceivedReceipt(
        id=UUID(int=(9 << 100) | number),
        issuer_rnc=BUYER,
        e_ncf=e_ncf,
        total=Decimal(total),
        signed=sign(ecf(e_ncf, total, BUYER)),
        acknowledgement=sign(arecf(e_ncf, BUYER)),
    )


def pack(
    evidence: Sequence[Evidence],
    *,
    before: Sealed | None = None,
    sequence: int = 1,
    **changes: Any,
) -> tuple[bytes, Sealed]:
    """Write a package in memory."""
    heading = PackageHeading(TENANT, Environment.ECF, sequence, DAY, MADE_AT, before.digest if before else None)
    sink = io.BytesIO()
    writer = PackageWriter(sink, replace(heading, **changes), archive_key())
    for one in sorted(evidence, key=order_of):
        writer.add(one)
    sealed = writer.seal()
    writer.close()
    return sink.getvalue(), sealed


def approval_of_ours(number: int) -> IssuedReceipt:
    """The tenant's approval of a supplier's receipt: a submission of its own."""
    plain = issued(number)
    signed = sign(acecf(f"E31{number:010d}", BUYER))
    return replace(
        plain,
        root=Root.ACECF,
        issuer_rnc=BUYER,
        total=None,
        signed=signed,
        original=None,
        events=events(plain.id, life(plain.id, None, signed, None, "Aceptado")),
        signer=SignerEvidence(),
    )


def anecf() -> bytes:
    return sign(
        f"<ANECF><Encabezado><Version>1.0</Version><RncEmisor>{ISSUER}</RncEmisor>"
        "<CantidadeNCFAnulados>1</CantidadeNCFAnulados>"
        "<FechaHoraAnulacioneNCF>26-11-2026 09:00:00</FechaHoraAnulacioneNCF></Encabezado></ANECF>"
    )


def voiding(number: int) -> VoidingEvidence:
    return VoidingEvidence(
        UUID(int=(8 << 100) | number), ISSUER, "voided", anecf(), SIGNED_AT, SIGNED_AT, 8, '{"estado":"Aceptado"}'
    )


def anecf_of_client(number: int) -> IssuedReceipt:
    """An ANECF that a client submitted itself."""
    plain, signed = issued(number), anecf()
    timeline = events(plain.id, life(plain.id, plain.original, signed, None, "Aceptado"))
    return replace(plain, root=Root.ANECF, e_ncf=None, total=None, signed=signed, events=timeline)
