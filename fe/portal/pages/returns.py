"""A credit note on lines of a receipt: tick them, and see the note's form checked."""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from fe.ecf.catalogue import EcfType
from fe.ecf.document import Document
from fe.ecf.money import ZERO, number
from fe.ecf.reading import rows, text
from fe.ecf.texts import Text
from fe.portal.credited import Credited, credited_of
from fe.portal.page_types import Needs, Page
from fe.portal.pages.new_receipt import (
    BASE,
    MAX_FIELDS,
    MAX_FORM_BYTES,
    copied,
    new_form,
    source_of,
    to_draft,
    who_issued,
)
from fe.portal.receipt.copies import NOTES, returned
from fe.portal.receipt.drafts import OpenDraft
from fe.portal.receipt.entry import ReceiptEntry, amount_typed
from fe.portal.receipt.layout import layout
from fe.portal.receipt.paths import put
from fe.portal.replies import Reply, not_found
from fe.portal.visit import Visit
from fe.store.portal.receipt import ReceiptRecord

_CANCELS, _CORRECTS = "1", "3"
_NOTHING = Text("Tick what comes back.", "Marque lo que se devuelve.")
_QUANTITY = Text(
    "What comes back is more than 0 and at most what is left: {name}.",
    "Lo que se devuelve es más de 0 y no más de lo que queda: {name}.",
)
_NOTHING_LEFT = Text("Everything was credited already.", "Ya se acreditó todo.")


@dataclass(frozen=True, slots=True)
class _Item:
    name: str
    price: str
    quantity: str
    #: The quantity that earlier notes did not credit; None where the line has no quantity.
    left: Decimal | None


async def show(visit: Visit) -> Reply:
    """Show the lines of a receipt; a single one is ticked."""
    record, source = await _returnable(visit, visit.query.get("from", ""))
    credited = await credited_of(visit, record)
    items = _items(source, credited)
    return _page(visit, record, credited, items, {"1"} if len(items) == 1 else set())


async def take(visit: Visit) -> Reply:
    """Make the draft of a credit note on the ticked lines, or on the whole, and lead to it."""
    record, source = await _returnable(visit, visit.form.get("from"))
    credited = await credited_of(visit, record)
    items = _items(source, credited)
    ticked = {str(place) for place, _ in enumerate(items, 1)}
    typed: dict[int, str] = {}
    quantities: dict[int, Decimal] = {}
    is_whole = visit.form.get("do") == "all"
    if not is_whole:
        ticked &= set(visit.form.every("line"))
        typed = {place: visit.form.get(f"quantity-{place}") for place, _ in enumerate(items, 1)}
        for place in sorted(map(int, ticked)):
            item = items[place - 1]
            wanted = number(amount_typed(typed[place]))
            if item.left is None or wanted is None or not ZERO < wanted <= item.left:
                return _page(visit, record, credited, items, ticked, typed, _QUANTITY.fill(name=item.name))
            quantities[place] = wanted
        if not quantities:
            return _page(visit, record, credited, items, ticked, typed, _NOTHING)
        is_whole = quantities == {place: number(item.quantity) for place, item in enumerate(items, 1)}
    elif credited.notes:  # what is left of it is a note on lines like any other
        is_whole = False
        quantities = {place: item.left for place, item in enumerate(items, 1) if item.left}
        if not quantities:
            return _page(visit, record, credited, items, set(), message=_NOTHING_LEFT)
    note = copied(visit, EcfType.CREDIT_NOTE, record, source)
    if not is_whole:
        returned(note, quantities)
    put(note, "InformacionReferencia.CodigoModificacion", _CANCELS if is_whole else _CORRECTS)
    if reason := visit.form.get("reason"):
        put(note, "InformacionReferencia.RazonModificacion", reason)
    entry = ReceiptEntry.of(layout(EcfType.CREDIT_NOTE), note, await who_issued(visit, record) or "")
    return await to_draft(visit, new_form(visit), OpenDraft(entry, is_checked=True))


async def _returnable(visit: Visit, submission: str) -> tuple[ReceiptRecord, Document]:
    record, source = await source_of(visit, submission)
    if (
        source.type is None
        or source.type in NOTES
        or record.e_ncf is None
        or not rows(source.content, "DetallesItems", "Item")
    ):
        raise not_found()
    return record, source


def _items(source: Document, credited: Credited) -> list[_Item]:
    """Read the lines. A line of a note counts against the line of this name and price, as the portal makes notes."""
    items = []
    before = [
        (*_line_of(item), number(item.get("CantidadItem")) or ZERO) for one in credited.notes for item in one.items
    ]
    for item in rows(source.content, "DetallesItems", "Item"):
        left = number(item.get("CantidadItem"))
        for n, (name, price, quantity) in enumerate(before):
            if left is not None and (name, price) == _line_of(item):
                taken = min(quantity, left)
                left, before[n] = left - taken, (name, price, quantity - taken)
        said = [text(item, one) or "" for one in ("NombreItem", "PrecioUnitarioItem", "CantidadItem")]
        items.append(_Item(said[0], said[1], said[2], left))
    return items


def _line_of(item: Mapping[str, Any]) -> tuple[str | None, Decimal | None]:
    return text(item, "NombreItem"), number(item.get("PrecioUnitarioItem"))


def _page(
    visit: Visit,
    record: ReceiptRecord,
    credited: Credited,
    items: list[_Item],
    ticked: set[str],
    typed: Mapping[int, str] | None = None,
    message: Text | None = None,
) -> Reply:
    return visit.page(
        "receipt/return.html",
        200 if message is None else 400,
        record=record,
        credited=credited,
        items=items,
        ticked=ticked,
        typed=typed or {},
        reason=visit.form.get("reason"),
        message=message,
    )


PAGES = (
    Page("GET", f"{BASE}/return", Needs.WRITE, show),
    Page("POST", f"{BASE}/return", Needs.WRITE, take, max_body_bytes=MAX_FORM_BYTES, max_fields=MAX_FIELDS),
)
