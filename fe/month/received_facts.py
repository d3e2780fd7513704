"""Facts of a received receipt that lists, months and the 606 show: read off its document once, then kept."""

from lxml import etree

from fe.ecf.reading import text_at
from fe.ecf.signature.profile import NAMESPACE, security_code
from fe.month.report_606 import purchase_facts

_SIGNATURE = f"{{{NAMESPACE}}}Signature/{{{NAMESPACE}}}SignatureValue"


def received_facts(document: etree._Element) -> dict[str, str]:
    """Read `purchase_facts`, `securityCode` and `signedAt` of a document that was verified."""
    value = "".join((document.findtext(_SIGNATURE) or "").split())
    signed = (text_at(document, "FechaHoraFirma") or "").strip()
    found = {"securityCode": security_code(value) if value else "", "signedAt": signed}
    return {**purchase_facts(document), **{name: text for name, text in found.items() if text}}
