"""Preview of a document: what signing would make of it now. CPU work only, and nothing is stored."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from fe.ecf.build import DECLARATION, write
from fe.ecf.catalogue import EcfType, Root
from fe.ecf.document import Document, NotADocument, read_xml
from fe.ecf.receipt_facts import UNKNOWN, FactsToPrint, facts_before_signing


@dataclass(frozen=True, slots=True)
class ReceiptPreview:
    """A completed document: its facts, and its content as a payload and as XML without a signature.

    `payload` and `xml` are None where the document cannot be read or written.
    """

    ecf_type: EcfType | None = None
    e_ncf: str | None = None
    buyer_rnc: str | None = None
    facts: FactsToPrint = UNKNOWN
    payload: Mapping[str, Any] | None = None
    xml: str | None = None


UNREADABLE = ReceiptPreview()


def preview_of(completed: Document) -> ReceiptPreview:
    """Show a document that was numbered and completed; its values are texts, exactly as the XML has them."""
    facts = facts_before_signing(completed)
    payload, xml = None, None
    try:
        written = write(completed)
    except NotADocument:
        pass  # its problems say why
    else:
        content = read_xml(written.element).content
        payload = content if completed.root is Root.ECF else {completed.root.value: content}
        xml = DECLARATION.decode() + written.text
    return ReceiptPreview(completed.type, completed.issued_number, completed.buyer_rnc, facts, payload, xml)
