"""Offline checks of a signed document: signature, certificate, format, rules, security code and address.

Pure: the caller passes the bytes and the time.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from cryptography import x509
from lxml import etree

from fe.ecf.build import build
from fe.ecf.catalogue import Environment, Root
from fe.ecf.certificate import holder, holder_id
from fe.ecf.dates import local, read_moment
from fe.ecf.document import Document, NotADocument, read_xml
from fe.ecf.parse import MAX_SIGNED_BYTES, MAX_SIGNED_ELEMENTS, MalformedXml, parse_xml
from fe.ecf.problems import Problem, Severity
from fe.ecf.qr_address import Printed
from fe.ecf.rules import RULES, check
from fe.ecf.signature import BadSignature, Verified, verify
from fe.ecf.summary import summarise, takes_summary
from fe.ecf.trust import check_certificate
from fe.integrator.language import say, terminal_language

#: Where the QR pages are, of whole documents and of summaries.
ECF_HOST, FC_HOST = "https://ecf.dgii.gov.do", "https://fc.dgii.gov.do"

_LIMITS = {"max_bytes": MAX_SIGNED_BYTES, "max_elements": MAX_SIGNED_ELEMENTS}

#: Tolerated lead of another machine's clock.
_AHEAD = timedelta(minutes=5)

#: Where each kind says when it was signed. An RFCE does not.
_SIGNED_AT = {
    Root.ECF: "FechaHoraFirma",
    Root.ACECF: "DetalleAprobacionComercial/FechaHoraAprobacionComercial",
    Root.ANECF: "Encabezado/FechaHoraAnulacioneNCF",
    Root.ARECF: "DetalleAcusedeRecibo/FechaHoraAcuseRecibo",
}

Outcome = Literal["ok", "failed", "skipped"]


@dataclass(frozen=True, slots=True)
class DocumentCheck:
    """Result of one check. `problems` are errors and remarks of the format or the rules."""

    check: str
    state: Outcome
    says: str
    problems: tuple[Problem, ...] = ()


def check_document(
    raw: bytes,
    *,
    now: datetime,
    roots: Sequence[x509.Certificate] | None = None,
    environment: Environment = Environment.ECF,
    printed: str | None = None,
) -> list[DocumentCheck]:
    """Run all checks on a signed document; skip those that an earlier failure makes impossible.

    The certificate must have been valid when it signed. Without `roots` its issuer is not checked. `printed` is the
    address read from a QR code, compared with the document's address in any environment; without it the address for
    `environment` is shown.
    """
    try:
        root = parse_xml(raw, **_LIMITS)
        document = read_xml(root)
    except MalformedXml as wrong:
        return [DocumentCheck("document", "failed", wrong.text.said(terminal_language()))]
    except NotADocument as wrong:
        return [DocumentCheck("document", "failed", str(wrong), wrong.problems)]
    named = [document.root.value, document.type, document.e_ncf, document.issuer_rnc]
    found = [DocumentCheck("document", "ok", " ".join(str(one) for one in named if one is not None))]
    signed_at = read_moment(root.findtext(_SIGNED_AT.get(document.root, "none")) or "")
    try:
        verified = verify(raw, **_LIMITS)
    except BadSignature as bad:
        found.append(DocumentCheck("signature", "failed", bad.message))
        gone = say("not looked at: the signature is not good", "no se revisó: la firma no es válida")
        found += [DocumentCheck(name, "skipped", gone) for name in ("certificate", "chain")]
        found += _format(document, root, signed_at or now)
        return found + [DocumentCheck(name, "skipped", gone) for name in ("security code", "qr")]
    found.append(
        DocumentCheck("signature", "ok", say("of all that the document says", "de todo lo que dice el documento"))
    )
    found += _trust(verified.certificate, roots, signed_at, now)
    # From here on only verified bytes are read.
    found += _format(document, verified.root, signed_at or now)
    return found + _code_and_address(document, verified, environment, printed)


def is_good(found: Sequence[DocumentCheck]) -> bool:
    """Return whether no check failed."""
    return all(one.state != "failed" for one in found)


def address_of(document: Document, root: etree._Element, code: str, environment: Environment) -> str:
    """Return the address for a document's QR code; for a small consumer invoice that of its summary."""
    signed_at = read_moment(root.findtext("FechaHoraFirma") or "")
    if signed_at is not None and takes_summary(document, on=local(signed_at).date()):
        root = build(summarise(document, code))
    return Printed.of(root).address(environment, code, ecf=ECF_HOST, fc=FC_HOST)


def code_of(document: Document, verified: Verified) -> str | None:
    """Return the printed security code, or None."""
    if document.root is Root.ECF:
        return verified.security_code
    if document.root is Root.RFCE:
        return str(document.get("Encabezado.CodigoSeguridadeCF") or "") or None
    return None


def _trust(
    certificate: x509.Certificate, roots: Sequence[x509.Certificate] | None, signed_at: datetime | None, now: datetime
) -> list[DocumentCheck]:
    at = signed_at or now
    of_itself = [one.message for one in check_certificate(certificate, roots=None, at=at)]
    if at > now + _AHEAD:
        of_itself.append(say("it was signed in the future", "se firmó en el futuro"))
    name, number = holder(certificate), holder_id(certificate)
    until = certificate.not_valid_after_utc.date()
    when = at.isoformat(sep=" ", timespec="seconds") if signed_at else say("today, as it names no moment", "hoy")
    whose = f"{name}{f' ({number})' if number else ''}, {certificate.serial_number:x}, -> {until}"
    checks = [
        DocumentCheck("certificate", "failed" if of_itself else "ok", "; ".join([*of_itself, f"{whose}; {when}"]))
    ]
    if roots is None:
        who = say("issuer not checked: give --roots", "no se revisó quién lo emitió: indique --roots")
        return [*checks, DocumentCheck("chain", "skipped", who)]
    of_chain = [one.message for one in check_certificate(certificate, roots=roots, at=at)]
    of_chain = [message for message in of_chain if message not in of_itself]
    issuer = certificate.issuer.rfc4514_string()
    return [*checks, DocumentCheck("chain", "failed" if of_chain else "ok", "; ".join([*of_chain, issuer]))]


def _format(document: Document, root: etree._Element, at: datetime) -> list[DocumentCheck]:
    problems = check(document, now=at, element=root)
    of_rules = tuple(one for one in problems if one.code in RULES)
    of_schema = tuple(one for one in problems if one.code not in RULES)
    return [_check_of("schema", of_schema), _check_of("rules", of_rules)]


def _check_of(name: str, problems: tuple[Problem, ...]) -> DocumentCheck:
    bad = sum(one.severity is Severity.REJECTED for one in problems)
    remarks = len(problems) - bad
    said = [say(f"{bad} problem(s)", f"{bad} problema(s)")] if bad else []
    said += [say(f"{remarks} remark(s)", f"{remarks} observación(es)")] if remarks else []
    nothing = say("nothing to object to", "nada que objetar")
    return DocumentCheck(name, "failed" if bad else "ok", ", ".join(said) or nothing, problems)


def _code_and_address(
    document: Document, verified: Verified, environment: Environment, printed: str | None
) -> list[DocumentCheck]:
    code = code_of(document, verified)
    if code is None:
        none = say("a document of this kind has none", "un documento de esta clase no lo lleva")
        return [DocumentCheck(name, "skipped", none) for name in ("security code", "qr")]
    whose = "" if document.root is Root.ECF else say(" (of its invoice)", " (de su factura)")
    checks = [DocumentCheck("security code", "ok", code + whose)]
    if printed is None:
        return [*checks, DocumentCheck("qr", "ok", address_of(document, verified.root, code, environment))]
    every = {address_of(document, verified.root, code, one): one for one in Environment}
    if printed in every:
        return [
            *checks,
            DocumentCheck("qr", "ok", say(f"it is that of {every[printed]}", f"es la de {every[printed]}")),
        ]
    other = address_of(document, verified.root, code, environment)
    return [*checks, DocumentCheck("qr", "failed", say(f"it is not {other}", f"no es {other}"))]
