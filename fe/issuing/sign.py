"""From what a client sent to the bytes that are sent. CPU only; run it in a thread."""

from dataclasses import dataclass
from datetime import date, datetime

from lxml import etree

from fe.ecf import qr
from fe.ecf.build import build
from fe.ecf.catalogue import Environment, Host, Root
from fe.ecf.dates import last_day, local, read_day
from fe.ecf.document import Document, NotADocument
from fe.ecf.problems import Problem, serialize_problem
from fe.ecf.reading import text_at
from fe.ecf.rules import ASSUMPTIONS
from fe.ecf.signature import SignedXml, Signer
from fe.ecf.summary import summarise, takes_summary
from fe.ecf.taxes import RATES, Rates
from fe.identifiers import SubmissionId
from fe.issuing.prepare import Prepared, prepare, read
from fe.store.queue.inputs import Candidate, SigningInput
from fe.store.queue.steps import SignedDocument


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


class NumberTaken(Exception):
    """Its number is accepted, or on its way, under another submission: this one is not sent. Permanent."""

    def __init__(self, holder: SubmissionId) -> None:
        super().__init__(f"the number is that of another submission already, taxLogId {holder}: nothing was sent")
        self.holder = holder


def make_signed(
    signing_input: SigningInput,
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

    Raises CannotIssue with everything that is wrong, or NumberTaken. Nothing is kept here: until the result is
    committed, doing it again is harmless, because nothing was sent.
    """
    prepared = _prepare(signing_input, chosen, now, rates)
    if prepared.holder is not None:
        raise NumberTaken(prepared.holder)
    document, element = prepared.document, prepared.element
    if prepared.fatal or element is None:
        raise CannotIssue(prepared.fatal)
    signed = signer.sign(element)
    summary = _summary_of(document, signed, signing_input, local(now).date())
    code = _security_code(document, signed)
    return SignedDocument(
        certificate_id=chosen.certificate_id,
        signed=signed.xml,
        sent=None if summary is None else signer.sign(summary).xml,
        host=Host.FC if summary is not None or document.root is Root.RFCE else Host.ECF,
        ecf_type=document.type,
        issuer_rnc=document.issuer_rnc,
        buyer_rnc=document.buyer_rnc,
        security_code=code,
        qr_code_url=_qr(element if summary is None else summary, environment, hosts, code),
        ncf_expiration=_expiration(document, signing_input),
        signed_at=now,
        remarks=[serialize_problem(problem) for problem in prepared.problems if problem.code in ASSUMPTIONS],
    )


def _prepare(signing_input: SigningInput, chosen: Candidate, now: datetime, rates: Rates) -> Prepared:
    try:
        document = read(signing_input.format, signing_input.original)
    except NotADocument as error:
        raise CannotIssue(error.problems) from error
    return prepare(
        document,
        number=signing_input.e_ncf,
        issuer={**signing_input.issuer, **(chosen.issuer_override or {})},
        last_day=last_day(signing_input.sequence_expires) if signing_input.sequence_expires is not None else None,
        holders=signing_input.holders,
        now=now,
        rates=rates,
    )


def _summary_of(
    document: Document, signed: SignedXml, signing_input: SigningInput, today: date
) -> etree._Element | None:
    if (
        document.root is not Root.ECF
        or signing_input.consumer_summary != "automatic"
        or not takes_summary(document, on=today)
    ):
        return None
    return build(summarise(document, signed.security_code))


def _security_code(document: Document, signed: SignedXml) -> str | None:
    """The code that is printed: of the invoice itself, also where its summary is what was handed in."""
    if document.root is Root.ECF:
        return signed.security_code
    if document.root is Root.RFCE:
        code = document.get("Encabezado.CodigoSeguridadeCF")
        return None if code is None else str(code)
    return None


def _qr(sent: etree._Element, environment: Environment, hosts: QrHosts, code: str | None) -> str | None:
    """The address for the printed QR code, from the very texts of the XML that the authority gets."""
    if code is None:
        return None
    issuer = text_at(sent, "Encabezado", "Emisor", "RNCEmisor") or ""
    e_ncf = text_at(sent, "Encabezado", "IdDoc", "eNCF") or ""
    total = text_at(sent, "Encabezado", "Totales", "MontoTotal") or ""
    if sent.tag == Root.RFCE:
        return qr.qr_url_summary(hosts.fc, environment, issuer_rnc=issuer, e_ncf=e_ncf, total=total, security_code=code)
    return qr.qr_url(
        hosts.ecf,
        environment,
        issuer_rnc=issuer,
        buyer_rnc=text_at(sent, "Encabezado", "Comprador", "RNCComprador"),
        e_ncf=e_ncf,
        issued=text_at(sent, "Encabezado", "Emisor", "FechaEmision") or "",
        total=total,
        signed=text_at(sent, "FechaHoraFirma") or "",
        security_code=code,
    )


def _expiration(document: Document, signing_input: SigningInput) -> date | None:
    """When the sequence expires: what the document says, else what the tenant's sequence says."""
    written = document.get("Encabezado.IdDoc.FechaVencimientoSecuencia")
    if isinstance(written, str):
        return read_day(written)
    return last_day(signing_input.sequence_expires) if signing_input.sequence_expires is not None else None
