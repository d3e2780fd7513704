"""From what a client sent to the bytes that are sent. CPU only: in the loop for short documents, else in a thread."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from functools import partial
from typing import TypeVar

from lxml import etree

from fe.ecf.build import Written, write
from fe.ecf.catalogue import EcfType, Environment, Host, Root
from fe.ecf.dates import last_day, local, read_day, read_moment
from fe.ecf.document import Document, NotADocument
from fe.ecf.modified import read_receipt
from fe.ecf.parse import Malformed, parse_xml
from fe.ecf.payments import payment_amounts
from fe.ecf.problems import Problem, serialize_problem
from fe.ecf.qr_address import Printed
from fe.ecf.reading import text_at
from fe.ecf.receipt_facts import facts_signed
from fe.ecf.rules import ASSUMPTIONS
from fe.ecf.signature import Canonical, SignedXml, Signer, verify
from fe.ecf.summary import summarise, takes_summary, with_security_code
from fe.ecf.tax_amounts import tax_amounts
from fe.ecf.taxes import RATES, Rates
from fe.ecf.texts import LocalizedError, Text
from fe.identifiers import SubmissionId
from fe.issuing.prepare import Prepared, prepare, read
from fe.store.queue.inputs import Candidate, SigningInput
from fe.store.queue.steps import SignedDocument

T = TypeVar("T")

#: Problems of a document that go from process to process; the rest are counted.
_CARRIED = 100


@dataclass(frozen=True, slots=True)
class QrHosts:
    """Where QR codes point: the host of whole documents and the host of summaries."""

    ecf: str
    fc: str


class CannotIssue(LocalizedError):
    """The document would certainly be refused: it is neither signed nor sent. Permanent; its number is free again."""

    def __init__(self, problems: tuple[Problem, ...], unnamed: int = 0) -> None:
        """Take what is wrong, one thing at least, and how many more there are."""
        first = problems[0]
        more = len(problems) - 1 + unnamed
        counted = Text(f" (and {more} more)", f" (y {more} más)") if more else Text("", "")
        super().__init__(Text(f"{first.text.en}{counted.en}", f"{first.text.es}{counted.es}"))
        self.problems = problems
        self.unnamed = unnamed

    def __reduce__(self) -> tuple[type["CannotIssue"], tuple[tuple[Problem, ...], int]]:
        """Go from process to process: the first problems, and how many more there are."""
        return CannotIssue, (self.problems[:_CARRIED], self.unnamed + max(len(self.problems) - _CARRIED, 0))


class NumberTaken(LocalizedError):
    """Its number is accepted, or on its way, under another submission: this one is not sent. Permanent."""

    def __init__(self, holder: SubmissionId) -> None:
        super().__init__(
            Text(
                f"the number is that of another submission already, taxLogId {holder}: nothing was sent",
                f"el número ya es de otro envío, taxLogId {holder}: no se envió nada",
            )
        )
        self.holder = holder

    def __reduce__(self) -> tuple[type["NumberTaken"], tuple[SubmissionId]]:
        """Go from process to process whole."""
        return NumberTaken, (self.holder,)


@dataclass(frozen=True, slots=True)
class Unsigned:
    """A document that is ready to be signed: bytes and values, made without a key, perhaps in another process."""

    canonical: Canonical
    root: Root
    ecf_type: EcfType | None
    issuer_rnc: str | None
    buyer_rnc: str | None
    #: The summary that is sent in its place, without the security code.
    summary: Document | None
    #: Values of its QR code without the security code; of a submitted summary, the security code too.
    printed: Printed
    security_code: str | None
    ncf_expiration: date | None
    remarks: Sequence[Mapping[str, object]]
    amounts: Mapping[str, str] | None
    #: The document with the signature that it came with, and its FechaHoraFirma.
    kept: tuple[SignedXml, datetime] | None = None


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
    unsigned = make_unsigned(signing_input, chosen, now=now, rates=rates)
    return sign_unsigned(unsigned, environment, chosen, signer, now=now, hosts=hosts)


@dataclass(frozen=True, slots=True)
class ToSign:
    """A document on its way to its signature, as two steps: what can be made without a key, and what the key is for."""

    make: Callable[[], Unsigned]
    sign: Callable[[Unsigned], SignedDocument]


def sign_all(documents: Sequence[ToSign]) -> Sequence[SignedDocument | Exception]:
    """Sign each document, or give the error that it met, which is its own.

    First all are made, then all are signed: the two share neither code nor data, so a processor's caches hold what one
    needs or what the other does. In turn, document by document, both take a tenth more of it.
    """
    made = [_came_to(document.make) for document in documents]
    return [
        one if isinstance(one, Exception) else _came_to(partial(document.sign, one))
        for document, one in zip(documents, made, strict=True)
    ]


def _came_to(step: Callable[[], T]) -> T | Exception:
    try:
        return step()
    except Exception as error:  # this document's: the others go on
        return error


def make_unsigned(signing_input: SigningInput, chosen: Candidate, *, now: datetime, rates: Rates = RATES) -> Unsigned:
    """Make the document of a submission as far as it can be made without a key: nearly all of the work.

    Raises as `make_signed` does.
    """
    kept_at = _signing_time(signing_input.original) if signing_input.format == "signed" else None
    if kept_at is not None:
        now, signing_input = kept_at, replace(signing_input, modified=None)
    prepared = _prepare(signing_input, chosen, now, rates)
    if prepared.holder is not None:
        raise NumberTaken(prepared.holder)
    document, written = prepared.document, prepared.written
    if prepared.fatal or written is None:
        raise CannotIssue(prepared.fatal)
    code = document.get("Encabezado.CodigoSeguridadeCF") if document.root is Root.RFCE else None
    canonical = _canonical(written)
    return Unsigned(
        canonical=canonical,
        root=document.root,
        ecf_type=document.type,
        issuer_rnc=document.issuer_rnc,
        buyer_rnc=document.buyer_rnc,
        summary=_summary_of(document, signing_input, local(now).date()),
        printed=Printed.of(written.element),
        security_code=None if code is None else str(code),
        ncf_expiration=_expiration(document, signing_input),
        remarks=[serialize_problem(problem) for problem in prepared.problems if problem.code in ASSUMPTIONS],
        amounts=_amounts(written.element) if document.root in (Root.ECF, Root.RFCE) else None,
        kept=None if kept_at is None else (_kept(signing_input.original, canonical), kept_at),
    )


def make_unsigned_at(signing_input: SigningInput, chosen: Candidate, now: datetime, rates: Rates) -> Unsigned:
    """Do the same with all it takes in order, as another process is told it."""
    return make_unsigned(signing_input, chosen, now=now, rates=rates)


def sign_unsigned(
    unsigned: Unsigned, environment: Environment, chosen: Candidate, signer: Signer, *, now: datetime, hosts: QrHosts
) -> SignedDocument:
    """Sign what was made ready at the same `now`, and its summary where one is sent instead."""
    signed, now = unsigned.kept or (signer.sign_canonical(unsigned.canonical), now)
    # The code that is printed: of the invoice itself, also where its summary is what was handed in.
    code = signed.security_code if unsigned.root is Root.ECF else unsigned.security_code
    summary = None if unsigned.summary is None else write(with_security_code(unsigned.summary, signed.security_code))
    printed = unsigned.printed if summary is None else Printed.of(summary.element)
    return SignedDocument(
        certificate_id=chosen.certificate_id,
        signed=signed.xml,
        sent=None if summary is None else signer.sign_canonical(_canonical(summary)).xml,
        host=Host.FC if summary is not None or unsigned.root is Root.RFCE else Host.ECF,
        ecf_type=unsigned.ecf_type,
        issuer_rnc=unsigned.issuer_rnc,
        buyer_rnc=unsigned.buyer_rnc,
        security_code=code,
        qr_code_url=_qr(printed, environment, hosts, code),
        ncf_expiration=unsigned.ncf_expiration,
        signed_at=now,
        remarks=unsigned.remarks,
        facts=facts_signed(unsigned.printed),
        amounts=unsigned.amounts,
    )


def _signing_time(original: bytes) -> datetime:
    """Return FechaHoraFirma of a document that keeps its signature: it is checked as of then. Raises CannotIssue."""
    at = read_moment(text_at(parse_xml(original), "FechaHoraFirma") or "")
    if at is None:
        raise CannotIssue((_NO_TIME,))
    return at


def _kept(original: bytes, canonical: Canonical) -> SignedXml:
    """Return a document as it was signed. Raises CannotIssue where completing it would change what was signed."""
    verified = verify(original)
    if Canonical.of(verified.root).content != canonical.content:
        raise CannotIssue((_INCOMPLETE,))
    return SignedXml(original, verified.signature_value, verified.security_code)


_NO_TIME = Problem(
    "signature-time",
    "FechaHoraFirma",
    "a signed document has FechaHoraFirma",
    "un documento firmado trae FechaHoraFirma",
)
_INCOMPLETE = Problem(
    "signed-incomplete",
    "",
    "the signed document leaves out what the service would fill in, and nothing is added after signing",
    "al documento firmado le falta lo que el servicio completaría, y después de firmar no se agrega nada",
)


def _amounts(element: etree._Element) -> dict[str, str]:
    return {**tax_amounts(element), **payment_amounts(element)}


def _canonical(written: Written) -> Canonical:
    return Canonical.of_plain(written.text) if written.is_plain else Canonical.of(written.element)


def _prepare(signing_input: SigningInput, chosen: Candidate, now: datetime, rates: Rates) -> Prepared:
    try:
        document = signing_input.document or read(signing_input.format, signing_input.original)
    except NotADocument as error:
        raise CannotIssue(error.problems) from error
    except Malformed as error:  # taken in by a release before, which let more pass
        wrong = Problem("unreadable", "", error.message.en, error.message.es, error.line, column=error.column)
        raise CannotIssue((wrong,)) from error
    return prepare(
        document,
        number=signing_input.e_ncf,
        issuer={**signing_input.issuer, **(chosen.issuer_override or {})},
        last_day=last_day(signing_input.sequence_expires) if signing_input.sequence_expires is not None else None,
        holders=signing_input.holders,
        modified=None if signing_input.modified is None else read_receipt(signing_input.modified),
        now=now,
        rates=rates,
    )


def _summary_of(document: Document, signing_input: SigningInput, today: date) -> Document | None:
    if (
        document.root is not Root.ECF
        or signing_input.consumer_summary != "automatic"
        or not takes_summary(document, on=today)
    ):
        return None
    return summarise(document, "")


def _qr(printed: Printed, environment: Environment, hosts: QrHosts, code: str | None) -> str | None:
    """The address for the printed QR code, from the very texts of the XML that the authority gets."""
    return None if code is None else printed.address(environment, code, ecf=hosts.ecf, fc=hosts.fc)


def _expiration(document: Document, signing_input: SigningInput) -> date | None:
    """Return when the sequence expires: by the document, else by the tenant's sequence.

    An approval refers to a number of another taxpayer's sequence, which is not known here.
    """
    if document.root not in (Root.ECF, Root.RFCE):
        return None
    written = document.get("Encabezado.IdDoc.FechaVencimientoSecuencia")
    if isinstance(written, str):
        return read_day(written)
    return last_day(signing_input.sequence_expires) if signing_input.sequence_expires is not None else None
