"""The receipt of its issuer that a document refers to (authority.md#types, "Notes and references").

`complete_note` fills in what a note leaves out and the receipt says.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal
from typing import Any

from fe.ecf.catalogue import EcfType, Root
from fe.ecf.dates import read_day, show_day
from fe.ecf.document import Document, NotADocument, read_xml
from fe.ecf.identity import E_NCF_FORM, e_ncf
from fe.ecf.money import ZERO, number
from fe.ecf.paper import is_ncf
from fe.ecf.parse import Malformed, parse_xml
from fe.ecf.reading import section, text, whole

#: Debit and credit notes.
NOTES = frozenset({EcfType.DEBIT_NOTE, EcfType.CREDIT_NOTE})
_IDS = ("RNCComprador", "IdentificadorExtranjero")
_NAME = "RazonSocialComprador"

# In canonical form a tag stands in a document as an element and nowhere else: in texts `<` is written `&lt;`.
_MODIFIED = b"<NCFModificado>"
_NUMBER = re.compile(rb"\s*(" + E_NCF_FORM.encode() + rb")\s*<")
_OF_ANOTHER = b"<RNCOtroContribuyente>"
#: In XML and in JSON.
_HANDED_IN = re.compile(rb'NCFModificado(?:>|"\s*:\s*")\s*(' + E_NCF_FORM.encode() + rb")")
_TOTAL = re.compile(rb"<MontoTotal>([0-9.]+)</MontoTotal>")


def number_modified_by(document: Document) -> str | None:
    """The e-NCF of the receipt of the same issuer that a document refers to (NCFModificado).

    None where it refers to nothing, to a receipt on paper, or to another taxpayer's.
    """
    reference = section(document.content, "InformacionReferencia") if document.root is Root.ECF else {}
    written = text(reference, "NCFModificado")
    if written is None or "RNCOtroContribuyente" in reference:
        return None
    return written if e_ncf(written) is not None else None


def number_modified_in(signed: bytes) -> str | None:
    """Return the number that a signed document modifies, without reading the whole document."""
    start = signed.rfind(_MODIFIED)
    if start < 0 or _OF_ANOTHER in signed[start:]:
        return None
    found = _NUMBER.match(signed, start + len(_MODIFIED))
    written = found[1].decode() if found is not None else ""
    return written if e_ncf(written) is not None else None


def number_left_open(original: bytes) -> str | None:
    """Name the receipt that a note as it was handed in modifies and leaves something to be filled in from.

    None where it says the receipt's date and a buyer itself, or refers to another taxpayer's receipt.
    """
    has_buyer = b"RazonSocialComprador" in original and any(name.encode() in original for name in _IDS)
    if b"RNCOtroContribuyente" in original or (has_buyer and b"FechaNCFModificado" in original):
        return None
    found = _HANDED_IN.search(original)
    return found[1].decode() if found is not None else None


def paper_number_replaced(document: Document) -> str | None:
    """Return the number on paper of the same issuer that a document replaces (CodigoModificacion 4)."""
    reference = section(document.content, "InformacionReferencia") if document.root is Root.ECF else {}
    written = text(reference, "NCFModificado")
    if written is None or not is_ncf(written) or whole(reference, "CodigoModificacion") != "4":
        return None
    return written if text(reference, "RNCOtroContribuyente") in (None, document.issuer_rnc) else None


def total_in(signed: bytes) -> Decimal:
    """Return MontoTotal of a signed document, without reading it."""
    found = _TOTAL.search(signed)
    return ZERO if found is None else number(found[1].decode()) or ZERO


@dataclass(frozen=True, slots=True)
class ModifiedReceipt:
    """A receipt as it was issued here. `buyer` has its id and its name, as far as it says them."""

    issued: date | None
    total: Decimal | None
    buyer: Mapping[str, str]

    @property
    def buyer_id(self) -> str | None:
        """The buyer's RNC, or foreign id."""
        return next((self.buyer[name] for name in _IDS if name in self.buyer), None)


def read_receipt(signed: bytes) -> ModifiedReceipt | None:
    """Read a signed receipt; None where it cannot be read, as nothing in the store should be."""
    try:
        document = read_xml(parse_xml(signed))
    except (Malformed, NotADocument):
        return None
    header = section(document.content, "Encabezado")
    buyer = section(header, "Comprador")
    issued = text(section(header, "Emisor"), "FechaEmision")
    said = {name: text(buyer, name) for name in (*_IDS, _NAME)}
    return ModifiedReceipt(
        issued=read_day(issued) if issued else None,
        total=number(section(header, "Totales").get("MontoTotal")),
        buyer={name: value for name, value in said.items() if value is not None},
    )


def complete_note(document: Document, receipt: ModifiedReceipt) -> Document:
    """Fill in FechaNCFModificado and the buyer of a note from the receipt; what was sent stays as it is."""
    if document.root is not Root.ECF or document.type not in NOTES:
        return document
    content: dict[str, Any] = dict(document.content)
    reference = dict(section(content, "InformacionReferencia"))
    if receipt.issued is not None and text(reference, "FechaNCFModificado") is None:
        content["InformacionReferencia"] = {**reference, "FechaNCFModificado": show_day(receipt.issued)}
    header = section(content, "Encabezado")
    buyer = section(header, "Comprador")
    sent_id = next((said for name in _IDS if (said := text(buyer, name)) is not None), None)
    if sent_id in (None, receipt.buyer_id):
        left_out = {name: value for name, value in receipt.buyer.items() if text(buyer, name) is None}
        same_name = text(buyer, _NAME) in (None, receipt.buyer.get(_NAME))
        if left_out and (same_name or sent_id is not None):
            content["Encabezado"] = {**header, "Comprador": {**buyer, **left_out}}
    return replace(document, content=content)
