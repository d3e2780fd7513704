"""From what a client sent to the bytes that are sent: fill in, check, build, sign. CPU only; run it in a thread."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta, timezone
from typing import Any

from lxml import etree

from fe.ecf import qr
from fe.ecf.autofill import autofill
from fe.ecf.build import build
from fe.ecf.catalogue import Environment, Host, Root
from fe.ecf.dates import read_day
from fe.ecf.document import Document, NotADocument, read_payload
from fe.ecf.finished import read_finished
from fe.ecf.load import load_json
from fe.ecf.problems import Problem, Severity
from fe.ecf.rules import ASSUMPTIONS, check
from fe.ecf.seal import Sealed, Signer
from fe.ecf.summary import summarise, takes_summary
from fe.ecf.taxes import RATES, Rates
from fe.store.submissions import Candidate, SignedDocument, SigningSheet

#: America/Santo_Domingo: no daylight saving since 2000 (PROTOCOL.md section 7, FechaHoraFirma).
SANTO_DOMINGO = timezone(timedelta(hours=-4))

_QR_FIELDS = (
    "Encabezado/IdDoc/eNCF",
    "Encabezado/Emisor/RNCEmisor",
    "Encabezado/Emisor/FechaEmision",
    "Encabezado/Comprador/RNCComprador",
    "Encabezado/Totales/MontoTotal",
    "FechaHoraFirma",
)


@dataclass(frozen=True, slots=True)
class QrHosts:
    """Where QR codes point: the host of whole documents and the host of summaries."""

    ecf: str
    fc: str


class CannotIssue(Exception):
    """The document would certainly be refused: it is neither signed nor sent. Permanent; its number is free again."""

    def __init__(self, problems: tuple[Problem, ...]) -> None:
        first = problems[0]
        more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
        super().__init__(f"{first.path}: {first.message}{more}")
        self.problems = problems


def make_signed(
    sheet: SigningSheet,
    environment: Environment,
    chosen: Candidate,
    signer: Signer,
    *,
    now: datetime,
    hosts: QrHosts,
    rates: Rates = RATES,
) -> SignedDocument:
    """Make the document of a submission and sign it with the chosen certificate.

    `rates` are those of the additional taxes, as far as they are known.

    Raises CannotIssue with everything that is wrong. Nothing is kept here: until the result is committed, doing it
    again is harmless, because nothing was sent.
    """
    local = now.astimezone(SANTO_DOMINGO)
    try:
        document = _complete(sheet, chosen, local, rates)
        element = build(document)
    except NotADocument as error:
        raise CannotIssue(error.problems) from error
    found = check(document, now=local, element=element, rates=rates)
    fatal = tuple(p for p in found if p.severity is Severity.REJECTED)
    if fatal:
        raise CannotIssue(fatal)
    sealed = signer.sign(element)
    summary = _summary_of(document, sealed, sheet, local.date())
    code = _security_code(document, sealed)
    return SignedDocument(
        certificate_id=chosen.certificate_id,
        signed=sealed.xml,
        sent=None if summary is None else signer.sign(summary).xml,
        host=Host.FC if summary is not None or document.root is Root.RFCE else Host.ECF,
        ecf_type=document.type,
        issuer_rnc=document.issuer_rnc,
        buyer_rnc=document.buyer_rnc,
        security_code=code,
        qr_code_url=_qr(element if summary is None else summary, environment, hosts, code),
        ncf_expiration=_expiration(document, sheet),
        signed_at=now,
        remarks=[problem.told() for problem in found if problem.code in ASSUMPTIONS],
    )


def _complete(sheet: SigningSheet, chosen: Candidate, now: datetime, rates: Rates) -> Document:
    is_xml = sheet.format == "xml"
    document = read_finished(sheet.original) if is_xml else read_payload(load_json(sheet.original))
    if document.e_ncf is None and sheet.e_ncf is not None:
        document = _with_number(document, sheet.e_ncf)
    issuer: Mapping[str, Any] = {**sheet.issuer, **(chosen.issuer_override or {})}
    return autofill(document, issuer=issuer, expiry=expiry_day(sheet.sequence_expires), now=now, rates=rates)


def expiry_day(moment: datetime | None) -> date | None:
    """The last day of a sequence, as FechaVencimientoSecuencia names it: the day it is in Santo Domingo.

    But midnight UTC is how programs write a day without meaning a time (`2028-12-31T00:00:00.000Z`). At its word it
    would be the evening before, and the authority refuses a document whose date is not the one it authorised.
    """
    if moment is None:
        return None
    utc = moment.astimezone(UTC)
    return utc.date() if utc.time() == time(0) else moment.astimezone(SANTO_DOMINGO).date()


def _with_number(document: Document, e_ncf: str) -> Document:
    """Write the number that was drawn at acceptance into the document."""
    head = dict(document.content["Encabezado"])
    head["IdDoc"] = {**head["IdDoc"], "eNCF": e_ncf}
    return replace(document, content={**document.content, "Encabezado": head})


def _summary_of(document: Document, sealed: Sealed, sheet: SigningSheet, today: date) -> etree._Element | None:
    if document.root is not Root.ECF or sheet.consumer_summary != "automatic" or not takes_summary(document, on=today):
        return None
    return build(summarise(document, sealed.security_code))


def _security_code(document: Document, sealed: Sealed) -> str | None:
    """The code that is printed: of the invoice itself, also where its summary is what was handed in."""
    if document.root is Root.ECF:
        return sealed.security_code
    if document.root is Root.RFCE:
        code = document.get("Encabezado.CodigoSeguridadeCF")
        return None if code is None else str(code)
    return None


def _qr(sent: etree._Element, environment: Environment, hosts: QrHosts, code: str | None) -> str | None:
    """The address for the printed QR code, from the very texts of the XML that the authority gets."""
    if code is None:
        return None
    text = {path.rpartition("/")[2]: sent.findtext(path) for path in _QR_FIELDS}
    issuer, e_ncf, total = text["RNCEmisor"] or "", text["eNCF"] or "", text["MontoTotal"] or ""
    if sent.tag == Root.RFCE:
        return qr.qr_url_summary(hosts.fc, environment, issuer_rnc=issuer, e_ncf=e_ncf, total=total, security_code=code)
    return qr.qr_url(
        hosts.ecf,
        environment,
        issuer_rnc=issuer,
        buyer_rnc=text["RNCComprador"],
        e_ncf=e_ncf,
        issued=text["FechaEmision"] or "",
        total=total,
        signed=text["FechaHoraFirma"] or "",
        security_code=code,
    )


def _expiration(document: Document, sheet: SigningSheet) -> date | None:
    """When the sequence expires: what the document says, else what the tenant's sequence says."""
    written = document.get("Encabezado.IdDoc.FechaVencimientoSecuencia")
    if isinstance(written, str):
        return read_day(written)
    return expiry_day(sheet.sequence_expires)
