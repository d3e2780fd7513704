"""Names and amounts that only the document holds, for lists and searches."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from html import unescape
from typing import Any
from urllib.parse import parse_qs, urlsplit

from lxml import etree

from fe.ecf.parse import Malformed, excerpt, parse_json, parse_xml
from fe.ecf.reading import section, text, text_at
from fe.portal.document_view import MAX_SHOWN_BYTES

#: Longest name shown; control characters are shown as codes.
_LONGEST = 120
_AMOUNT = re.compile(r"[0-9]{1,18}(\.[0-9]{1,4})?")
_MODIFIED = re.compile(rb"<NCFModificado>([A-Z0-9]{1,19})</")
_BUYER = re.compile(rb"<Comprador>.{0,2000}?<RazonSocialComprador>([^<]{1,1500})</", re.DOTALL)

_SELLER = re.compile(rb"<CodigoVendedor>([^<]{1,600})</")


@dataclass(frozen=True, slots=True)
class Facts:
    """Receiver and amount of a document; None if it has none. `modified` is the number that a note changes."""

    buyer_name: str | None = None
    issued_on: str | None = None
    total: str | None = None
    modified: str | None = None
    modified_why: str | None = None
    buyer_mail: str | None = None

    @property
    def amount(self) -> Decimal | None:
        """The total, where it is an amount."""
        return _amount(self.total or "")


def name_shown(name: str | None) -> str:
    """Return a name for display: shortened, without control characters."""
    return excerpt(name, _LONGEST) if name else ""


def buyer_name_in(head: bytes) -> str | None:
    """Read the buyer's name off the first bytes of a signed document."""
    return _text_in(_BUYER, head)


def seller_in(head: bytes) -> str | None:
    """Read the issuer's code of the seller off them."""
    return _text_in(_SELLER, head)


def _text_in(pattern: re.Pattern[bytes], head: bytes) -> str | None:
    found = pattern.search(head)
    return None if found is None else unescape(found[1].decode(errors="replace"))


def modified_in(tail: bytes) -> str | None:
    """Read the number that a note modifies off the last bytes of its signed document."""
    found = _MODIFIED.search(tail)
    return None if found is None else found[1].decode()


def total_in(qr_code_url: str | None) -> Decimal | None:
    """Read the total off the address in the QR code, which repeats it."""
    if qr_code_url is None:
        return None
    return _amount("".join(parse_qs(urlsplit(qr_code_url).query).get("MontoTotal", ())))


def _amount(written: str) -> Decimal | None:
    return Decimal(written) if _AMOUNT.fullmatch(written) else None


def facts_of(content: bytes, *, is_xml: bool) -> Facts:
    """Read a document; one that is too large, or cannot be read, says nothing."""
    if len(content) > MAX_SHOWN_BYTES:
        return Facts()
    try:
        return _of_xml(parse_xml(content)) if is_xml else _of_payload(parse_json(content))
    except Malformed:
        return Facts()


def _of_xml(root: etree._Element) -> Facts:
    head = "Encabezado"
    return Facts(
        text_at(root, head, "Comprador", "RazonSocialComprador"),
        text_at(root, head, "Emisor", "FechaEmision"),
        text_at(root, head, "Totales", "MontoTotal"),
        text_at(root, "InformacionReferencia", "NCFModificado"),
        text_at(root, "InformacionReferencia", "RazonModificacion"),
        text_at(root, head, "Comprador", "CorreoComprador"),
    )


def _of_payload(payload: Any) -> Facts:
    fields: Mapping[str, Any] = payload if isinstance(payload, dict) else {}
    fields = section(fields, "ECF") or fields
    head, reference = section(fields, "Encabezado"), section(fields, "InformacionReferencia")
    return Facts(
        text(section(head, "Comprador"), "RazonSocialComprador"),
        text(section(head, "Emisor"), "FechaEmision"),
        text(section(head, "Totales"), "MontoTotal"),
        text(reference, "NCFModificado"),
        text(reference, "RazonModificacion"),
    )
