"""Assess the bytes that a supplier sent. Pure CPU work: run it in a thread.

The order is the protocol's (authority.md#receivers): specification 1, signature 2, then duplicate 3, which the store
knows, and not our RNC 4. Lenient about the envelope, strict about the signature, which is verified on the bytes as they
came; values are read from the verified tree.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal, InvalidOperation
from enum import IntEnum

from cryptography import x509
from lxml import etree

from fe.ecf.build import build
from fe.ecf.catalogue import EcfType, Root
from fe.ecf.certificate import holder_id
from fe.ecf.dates import read_day, read_moment, show_moment
from fe.ecf.document import Document
from fe.ecf.identity import e_ncf, tax_id
from fe.ecf.parse import ForeignMarkup, parse_xml
from fe.ecf.problems import Severity
from fe.ecf.reading import as_whole
from fe.ecf.rules.ancillary import WITHOUT_APPROVAL
from fe.ecf.schema import validate
from fe.ecf.signature import BadSignature, Verified, verify
from fe.ecf.trust import check_certificate
from fe.ecf.xml_positions import without_other_markup
from fe.month.received_facts import received_facts
from fe.store.records.buyer_approvals import Approval
from fe.store.records.received import ReceivedFacts

#: The types that are sent to a receiver at all.
SENT_TO_RECEIVERS = frozenset({EcfType.CREDIT_FISCAL, EcfType.DEBIT_NOTE, EcfType.CREDIT_NOTE, EcfType.SPECIAL_REGIME})

_NUMBER_OF_AN_ARECF = re.compile(r"[A-Za-z0-9]{13}|[A-Za-z0-9]{11}|[A-Za-z0-9]{9}")


class AckReason(IntEnum):
    """Why a document is not received: CodigoMotivoNoRecibido. 0 is ours and says that it is."""

    RECEIVED = 0
    SPECIFICATION = 1
    SIGNATURE = 2
    DUPLICATE = 3
    NOT_OURS = 4


class NothingToAnswer(ValueError):
    """There is no document to speak about, so no acknowledgement can be written; the message says what is missing."""


@dataclass(frozen=True, slots=True)
class Heading:
    """Values that an acknowledgement repeats from its document."""

    issuer_rnc: str
    buyer_rnc: str | None
    e_ncf: str


@dataclass(frozen=True, slots=True)
class Assessment:
    """Assessment of a document alone. `why` is for our log, in fixed words.

    With SPECIFICATION and SIGNATURE no valid signature covers its values. With RECEIVED and NOT_OURS the signature is
    valid and `facts` is set; a duplicate number is not checked yet.
    """

    heading: Heading
    reason: AckReason
    why: str
    signer: str | None = None
    facts: ReceivedFacts | None = None


@dataclass(frozen=True, slots=True)
class Trust:
    """Signatures that count: those of certificates that one of `roots` issued."""

    roots: Sequence[x509.Certificate]


def assess(raw: bytes, *, rnc: str, trust: Trust, now: datetime) -> Assessment:
    """Assess a document that was sent to the receiver with this tax id.

    Raises MalformedXml when it is no XML we read, and NothingToAnswer when it does not name issuer and number.
    """
    try:
        root = parse_xml(raw)
    except ForeignMarkup as refused:
        # There is a document to answer to, only none that is looked at any further.
        bare = parse_xml(without_other_markup(raw.decode("utf-8-sig")).encode())
        return Assessment(_heading(bare), AckReason.SPECIFICATION, refused.message.en)
    heading = _heading(root)
    objection = _structure(root, heading)
    if objection is not None:
        return Assessment(heading, AckReason.SPECIFICATION, objection)
    verified = _verified(raw, trust, root.findtext("FechaHoraFirma"), now)
    if isinstance(verified, str):
        return Assessment(heading, AckReason.SIGNATURE, verified)
    signer = holder_id(verified.certificate)
    facts = _facts(verified.root)
    if facts is None:
        return Assessment(heading, AckReason.SPECIFICATION, "a date or an amount cannot be read", signer)
    if heading.buyer_rnc != rnc:
        return Assessment(heading, AckReason.NOT_OURS, "the buyer is somebody else", signer, facts)
    return Assessment(heading, AckReason.RECEIVED, "", signer, facts)


def _heading(root: etree._Element) -> Heading:
    issuer = _text(root, "Encabezado/Emisor/RNCEmisor")
    number = _text(root, "Encabezado/IdDoc/eNCF")
    buyer = _text(root, "Encabezado/Comprador/RNCComprador")
    if tax_id(issuer) is None:
        raise NothingToAnswer("there is no RNCEmisor to answer to")
    if not _NUMBER_OF_AN_ARECF.fullmatch(number):
        raise NothingToAnswer("there is no eNCF to answer to")
    return Heading(issuer, buyer if tax_id(buyer) is not None else None, number)


def _text(root: etree._Element, path: str) -> str:
    return (root.findtext(path) or "").strip(" \t\r\n")


def _structure(root: etree._Element, heading: Heading) -> str | None:
    if root.tag != Root.ECF:
        return "the root is not ECF"
    problems = [problem for problem in validate(root) if problem.severity is Severity.REJECTED]
    if problems:
        return f"{len(problems)} problem(s) with the format, first {problems[0].code}"
    number = e_ncf(heading.e_ncf)
    if number is None or number.type != root.findtext("Encabezado/IdDoc/TipoeCF"):
        return "the e-NCF is not one of its type"
    if number.type not in SENT_TO_RECEIVERS:
        return f"type {number.type} is never sent to a receiver"
    return None


def _verified(raw: bytes, trust: Trust, signed_at: str | None, now: datetime) -> Verified | str:
    try:
        verified = verify(raw)
    except BadSignature as bad:
        return bad.message
    # The certificate must have been valid when it signed; a time of signing after now is false.
    moment = read_moment(signed_at or "") or now
    objections = check_certificate(verified.certificate, roots=trust.roots, at=min(moment, now))
    return objections[0].message if objections else verified


def _facts(root: etree._Element) -> ReceivedFacts | None:
    issued_on = read_day(_text(root, "Encabezado/Emisor/FechaEmision"))
    try:
        total = Decimal(_text(root, "Encabezado/Totales/MontoTotal")).quantize(Decimal("0.01"))
    except InvalidOperation:
        return None
    if issued_on is None:
        return None
    return ReceivedFacts(
        ecf_type=_text(root, "Encabezado/IdDoc/TipoeCF"),
        issuer_name=_text(root, "Encabezado/Emisor/RazonSocialEmisor"),
        buyer_rnc=_text(root, "Encabezado/Comprador/RNCComprador"),
        issued_on=issued_on,
        total=total,
        kept=received_facts(root),
    )


# --- approvals ------------------------------------------------------------------------------------------------------


class ApprovalRefused(ValueError):
    """An approval that cannot be taken; the message is for who sent it."""


@dataclass(frozen=True, slots=True)
class ApprovalAssessment:
    """A buyer's word, signed by a certificate that is trusted, on a number of the receiver's."""

    e_ncf: str
    buyer_rnc: str
    approval: Approval
    signer: str | None


_DETAIL = "DetalleAprobacionComercial"
#: The XSD takes an empty reason, which says nothing.
_LEFT_EMPTY = ("empty-element", f"{_DETAIL}.DetalleMotivoRechazo")


def assess_approval(raw: bytes, *, rnc: str, trust: Trust, now: datetime) -> ApprovalAssessment:
    """Assess an ACECF that was sent to the issuer with this tax id.

    Raises MalformedXml, or ApprovalRefused. An amount without decimals passes: the authority's own simulator writes it
    so, which its schema refuses; and so does a reason that is there and empty, which its schema takes.
    """
    root = parse_xml(raw)
    if root.tag != Root.ACECF:
        raise ApprovalRefused("the root element should be ACECF")
    for problem in validate(root):
        as_sent = (problem.code, problem.path) == _LEFT_EMPTY or (
            problem.path == f"{_DETAIL}.MontoTotal" and _is_amount(root)
        )
        if problem.severity is Severity.REJECTED and not as_sent:
            raise ApprovalRefused(f"the format is not that of an ACECF: {problem.path}: {problem.message}")
    verified = _verified(raw, trust, root.findtext(f"{_DETAIL}/FechaHoraAprobacionComercial"), now)
    if isinstance(verified, str):
        raise ApprovalRefused(f"the signature is not accepted: {verified}")
    text = {name: _text(verified.root, f"{_DETAIL}/{name}") for name in ("RNCEmisor", "eNCF", "RNCComprador", "Estado")}
    if text["RNCEmisor"] != rnc:
        raise ApprovalRefused("RNCEmisor is somebody else's")
    number = e_ncf(text["eNCF"])
    if number is not None and number.type in WITHOUT_APPROVAL:
        raise ApprovalRefused(f"a receipt of type {number.type} takes no commercial approval")
    approved = as_whole(text["Estado"]) == "1"
    reason = _text(verified.root, f"{_DETAIL}/DetalleMotivoRechazo") or None
    return ApprovalAssessment(
        text["eNCF"], text["RNCComprador"], Approval(approved, reason), holder_id(verified.certificate)
    )


def _is_amount(root: etree._Element) -> bool:
    return re.fullmatch(r"[0-9]{1,16}(\.[0-9]{1,2})?", _text(root, f"{_DETAIL}/MontoTotal")) is not None


def acknowledgement(heading: Heading, reason: AckReason, *, rnc: str, at: datetime) -> etree._Element:
    """Write the acknowledgement (ARECF) of the receiver `rnc`, ready to be signed; RECEIVED has no reason."""
    detail = {
        "Version": "1.0",
        "RNCEmisor": heading.issuer_rnc,
        "RNCComprador": heading.buyer_rnc or rnc,
        "eNCF": heading.e_ncf,
        "Estado": "0" if reason is AckReason.RECEIVED else "1",
    }
    if reason is not AckReason.RECEIVED:
        detail["CodigoMotivoNoRecibido"] = str(int(reason))
    detail["FechaHoraAcuseRecibo"] = show_moment(at)
    return build(Document(Root.ARECF, None, {"DetalleAcusedeRecibo": detail}))
