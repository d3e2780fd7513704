"""Lines, totals and payment of a signed receipt, for pages."""

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal

from fe.ecf.texts import Language, Text
from fe.portal.document_facts import name_shown
from fe.portal.document_view import MAX_SHOWN_BYTES
from fe.printing.labels import label
from fe.printing.read import Amount, NotPrintable, PrintedReceipt, read, show, show_quantity

#: Printed with the authority's Spanish words in both languages; a page says them in the reader's.
_TOTALS = {
    "taxed": Text("Taxed subtotal", "Subtotal gravado"),
    "exempt": Text("Exempt subtotal", "Subtotal exento"),
    "excise": Text("Selective tax", "Total ISC"),
    "total_vat": Text("ITBIS", "Total ITBIS"),
}


def words_of(amount: Amount) -> Text:
    """Return the label of a row of totals."""
    if amount.words:
        return Text(amount.words, amount.words)
    known = _TOTALS.get(amount.name)
    if known is not None:
        return known
    return Text(label(amount.name, "en", percent=amount.percent), label(amount.name, "es", percent=amount.percent))


@dataclass(frozen=True, slots=True)
class ContentFormat:
    """How the template writes the content of a document."""

    #: Lines of a receipt in its table.
    most: int = 200
    name: Callable[[str | None], str] = name_shown
    price: Callable[[Decimal], str] = show
    quantity: Callable[[Decimal], str] = show_quantity
    words_of: Callable[[Amount], Text] = words_of


READING = ContentFormat()


def content_of(signed: bytes, language: Language) -> PrintedReceipt | None:
    """Read lines, totals and payment; None for what is no receipt, or is too large to be shown."""
    if len(signed) > MAX_SHOWN_BYTES:
        return None
    try:
        return read(signed, language)
    except NotPrintable:
        return None
