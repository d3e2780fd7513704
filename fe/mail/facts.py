"""The facts of a receipt that a mail shows, read from its signed XML. CPU work: safe in a thread."""

from dataclasses import dataclass

from fe.ecf.mail_address import BadAddress, MailAddress, parse_address
from fe.ecf.parse import MAX_SIGNED_BYTES, MAX_SIGNED_ELEMENTS, parse_xml
from fe.ecf.reading import text_at


@dataclass(frozen=True, slots=True)
class ReceiptFacts:
    """Names and amounts as the document has them; '' where it has none. `buyer_address` only if it is a plain one."""

    e_ncf: str
    issuer_rnc: str
    issuer_name: str
    buyer_name: str
    issued_on: str
    total: str
    buyer_address: MailAddress | None


def read_facts(signed: bytes) -> ReceiptFacts:
    """Read them. Raises Malformed for bytes that are no XML; the authority has accepted these."""
    root = parse_xml(signed, max_bytes=MAX_SIGNED_BYTES, max_elements=MAX_SIGNED_ELEMENTS)

    def of(*steps: str) -> str:
        return (text_at(root, "Encabezado", *steps) or "").strip()

    try:
        address = parse_address(of("Comprador", "CorreoComprador"))
    except BadAddress:
        address = None
    return ReceiptFacts(
        e_ncf=of("IdDoc", "eNCF"),
        issuer_rnc=of("Emisor", "RNCEmisor"),
        issuer_name=of("Emisor", "RazonSocialEmisor"),
        buyer_name=of("Comprador", "RazonSocialComprador"),
        issued_on=of("Emisor", "FechaEmision"),
        total=of("Totales", "MontoTotal"),
        buyer_address=address,
    )
