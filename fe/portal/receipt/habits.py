"""Values that a new form takes over from a receipt that the person issued with the portal.

It is the last one of the form's type; of any sale where the form is one, so that an expense between two sales changes
nothing.
"""

from dataclasses import dataclass
from typing import Any

from fe.catalogue.remembered import SALES
from fe.ecf.catalogue import EcfType
from fe.ecf.parse import Malformed, parse_json
from fe.ecf.reading import Fields, rows, section, text
from fe.portal.receipt.entry import ReceiptEntry
from fe.portal.receipt.layout import PAYMENT_TERMS, PRICES_INCLUDE_VAT, SELLER, TAXED
from fe.portal.visit import Visit
from fe.store.portal import receipt

#: Of receipts of the same type.
_OF_TYPE = (PAYMENT_TERMS, "Encabezado.IdDoc.TipoIngresos")


@dataclass(frozen=True, slots=True)
class Habits:
    """A receipt's type, its user ('': the company), its document, and the name of its sequence."""

    type: EcfType
    as_user: str
    payload: dict[str, Any]
    sequence: str = ""


async def habits_of(visit: Visit, of: EcfType = EcfType.CONSUMER) -> Habits | None:
    """Find the last receipt like `of` that this person issued in this environment, else the last of all, or None."""
    alike = SALES if of in SALES else {of}
    who = visit.person.person.person_id
    found = await visit.read(receipt.last_of_person, visit.environment, who, visit.now, alike)
    if found is None:
        return None
    of, as_user, content, sequence = found
    try:
        payload = parse_json(content)
    except Malformed:
        return None
    return Habits(of, "" if as_user is None else str(as_user), payload, sequence or "")


def payment_of(id_doc: Fields) -> str | None:
    """Return how it was paid, as the form has it: terms, and the form of payment if there is one."""
    terms, paid = text(id_doc, "TipoPago"), rows(id_doc, "TablaFormasPago", "FormaDePago")
    return f"{terms}-{text(paid[0], 'FormaPago')}" if len(paid) == 1 else terms


def begun(entry: ReceiptEntry, habits: Habits | None) -> ReceiptEntry:
    """Fill in a new form by habit: user, sequence, and seller and how lines are priced where both are sales."""
    if habits is None:
        return entry
    header = section(habits.payload, "Encabezado")
    of, id_doc = entry.layout.type, section(header, "IdDoc")
    entry.as_user, entry.sequence = habits.as_user, habits.sequence
    if of is not habits.type and not {of, habits.type} <= SALES:
        return entry
    names = (PRICES_INCLUDE_VAT, *(_OF_TYPE if of is habits.type else ()))
    for one in entry.layout.fields:
        value = payment_of(id_doc) if one.kind == "payment" else text(id_doc, one.path.rpartition(".")[2])
        if one.name in names and value in {code.value for code in one.codes}:
            entry.values[one.name] = value
    if SELLER in entry.values and (seller := text(section(header, "Emisor"), "CodigoVendedor")):
        entry.values[SELLER] = seller
    items = rows(habits.payload, "DetallesItems", "Item")
    if items and (of is habits.type or not {of, habits.type} & TAXED.keys()):
        table = next(table for table in entry.layout.tables if table.key == "item")
        for one in table.fields:
            values = {text(item, one.path.rpartition(".")[2]) for item in items}  # of lines that differ none is a habit
            value = values.pop()
            if one.kept and not values and value in {code.value for code in one.codes}:
                entry.rows["item"][0][one.name] = value
    return entry
