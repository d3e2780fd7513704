"""Read a receiver's acknowledgement (ARECF) and decide whether to trust it. Pure CPU work: for a thread."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from cryptography import x509

from fe.ecf.catalogue import Root
from fe.ecf.dates import read_moment
from fe.ecf.parse import MalformedXml
from fe.ecf.problems import Severity
from fe.ecf.reading import as_whole
from fe.ecf.schema import validate
from fe.ecf.signature import BadSignature, verify
from fe.ecf.trust import check_certificate

_DUPLICATE = "3"
#: Element that receivers leave empty, after published examples, where they received a document; the XSD wants it
#: omitted.
_LEFT_EMPTY = ("empty-element", "DetalleAcusedeRecibo.CodigoMotivoNoRecibido")
#: CodigoMotivoNoRecibido.
_REASONS = {
    "1": "1: specification error",
    "2": "2: digital signature error",
    _DUPLICATE: "3: duplicate",
    "4": "4: the buyer is not theirs",
}


class NotBelieved(ValueError):
    """Not an acknowledgement of that document, or its signature is not trusted; the message says why."""


@dataclass(frozen=True, slots=True)
class SentDocument:
    """Values that an acknowledgement must repeat from its document."""

    issuer_rnc: str
    buyer_rnc: str
    e_ncf: str


@dataclass(frozen=True, slots=True)
class Acknowledged:
    """Received, or not, and then why. `has_one`: because they have a document of this number already."""

    received: bool
    reason: str | None
    has_one: bool = False


def read_acknowledgement(
    raw: bytes, about: SentDocument, *, roots: Sequence[x509.Certificate] | None, now: datetime
) -> Acknowledged:
    """Read an acknowledgement: verified on its bytes, by a certificate that one of `roots` issued (None: any issuer).

    Raises NotBelieved.
    """
    try:
        verified = verify(raw)
    except MalformedXml as wrong:
        raise NotBelieved(f"it is no XML: {wrong}") from wrong
    except BadSignature as bad:
        raise NotBelieved(f"its signature is not accepted: {bad.message}") from bad
    root = verified.root
    if root.tag != Root.ARECF:
        raise NotBelieved("it is another document")
    for problem in validate(root):
        if problem.severity is Severity.REJECTED and (problem.code, problem.path) != _LEFT_EMPTY:
            raise NotBelieved(f"its format is not that of an ARECF: {problem.path}")
    said = {str(child.tag): (child.text or "").strip() for child in root[0]}
    signed_at = read_moment(said.get("FechaHoraAcuseRecibo", "")) or now
    objections = check_certificate(verified.certificate, roots=roots, at=min(signed_at, now))
    if objections:
        raise NotBelieved(f"its signature is not accepted: {objections[0].message}")
    if (said["RNCEmisor"], said["eNCF"]) != (about.issuer_rnc, about.e_ncf):
        raise NotBelieved("it is about another document")
    if said["RNCComprador"] != about.buyer_rnc:
        raise NotBelieved("it is another buyer's")
    if as_whole(said["Estado"]) == "0":
        return Acknowledged(True, None)
    code = as_whole(said.get("CodigoMotivoNoRecibido")) or ""
    return Acknowledged(False, _REASONS.get(code, "it does not say why"), has_one=code == _DUPLICATE)
