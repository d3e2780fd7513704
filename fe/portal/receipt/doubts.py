"""Warnings about valid but unusual values in a receipt. They do not prevent issuing."""

from collections.abc import Iterator
from datetime import date, timedelta

from fe.ecf.dates import local, read_day
from fe.ecf.money import number
from fe.ecf.texts import Text
from fe.portal.receipt.currency import CURRENCY, OTHER_PRICE
from fe.portal.receipt.entry import ReceiptEntry
from fe.portal.visit import Visit
from fe.store.portal import receipt

_OLD = timedelta(days=30)
_DATE = "Encabezado.Emisor.FechaEmision"
_MODIFIED = "InformacionReferencia.NCFModificado"

_FREE = Text("A line has the price 0: is that meant?", "Una línea tiene precio 0: ¿es correcto?")
_NOT_HERE = Text(
    "The modified receipt was not issued here: compare its number.",
    "El comprobante que modifica no se emitió aquí: compare su número.",
)


_PESOS = Text(
    "Prices are in pesos, and the other currency only converts the total: if you typed them in that currency, press "
    "«Convert the prices to pesos».",
    "Los precios van en pesos; la otra moneda solo convierte el total. Si los escribió en esa moneda, presione "
    "«Convertir los precios a pesos».",
)


async def doubts(visit: Visit, entry: ReceiptEntry) -> list[Text]:
    """List what a person should look at twice."""
    found = [*_dated(entry, local(visit.now).date()), *_free(entry), *_priced(entry)]
    modified = entry.values.get(_MODIFIED, "")
    if modified and not await visit.read(receipt.of_number, visit.environment, modified):
        found.append(_NOT_HERE)
    return found


def _dated(entry: ReceiptEntry, today: date) -> Iterator[Text]:
    day = _day(entry.values.get(_DATE, ""))
    if day is not None and today - day > _OLD:
        yield Text(
            f"The date of issue is {(today - day).days} days ago: is that meant?",
            f"La fecha de emisión es de hace {(today - day).days} días: ¿es correcta?",
        )


def _day(typed: str) -> date | None:
    """Read a day as browsers write it, or as the authority does."""
    try:
        return date.fromisoformat(typed)
    except ValueError:
        return read_day(typed)


def _free(entry: ReceiptEntry) -> Iterator[Text]:
    prices = (row.get("item.PrecioUnitarioItem", "") for row in entry.rows.get("item", ()))
    if any(number(price) == 0 for price in prices if price):
        yield _FREE


def _priced(entry: ReceiptEntry) -> Iterator[Text]:
    if entry.values.get(CURRENCY) and not any(row.get(OTHER_PRICE) for row in entry.rows.get("item", ())):
        yield _PESOS
