"""Customers and products of the catalogue offered in the form, and the fields that choosing one fills in."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal

from fe.catalogue.entries import NAME_OF_CUSTOMER, Customer, Product, Stored
from fe.catalogue.remembered import SALES
from fe.catalogue.search import fold_words
from fe.catalogue.taxpayers import RegisteredTaxpayer
from fe.ecf.money import HUNDRED, ONE, exact, number
from fe.ecf.taxes import VAT_PERCENT
from fe.portal.receipt.copies import NOTES
from fe.portal.receipt.entry import ReceiptEntry, amount_typed, tax_id_typed
from fe.portal.receipt.layout import PRICES_INCLUDE_VAT
from fe.portal.visit import Visit
from fe.store.records import taxpayers
from fe.store.records.catalogue import CUSTOMERS, PRODUCTS

#: Types that the catalogue is offered for.
OFFERED = (*SALES, *NOTES)
#: Products as buttons, entries of a search, and entries in a list without script.
BUTTONS, FOUND, LISTED = 8, 8, 50
#: Lines without a price that one check looks up.
_MOST_LOOKUPS = 20
_RNC, _NAME = "Encabezado.Comprador.RNCComprador", "Encabezado.Comprador.RazonSocialComprador"
_RATES = {"18": "1", "16": "2", "0": "3", "exempt": "4"}
_KINDS = {"good": "1", "service": "2"}
_PRICE_DECIMALS = Decimal("0.0001")


@dataclass(frozen=True, slots=True)
class Choice:
    """An entry to choose. `fills` has values by field; of a product also `included`: whether ITBIS is in its price."""

    id: str
    name: str
    about: str
    fills: Mapping[str, str]

    @property
    def data(self) -> str:
        """The values as the script reads them."""
        return json.dumps(self.fills)


def of_customer(found: Stored[Customer]) -> Choice:
    """A customer as a choice."""
    one = found.entry
    rnc = "" if one.rnc is None else one.rnc.digits
    fills = {
        _RNC: rnc,
        _NAME: one.name,
        "Encabezado.Comprador.CorreoComprador": one.email or "",
        "Encabezado.Comprador.DireccionComprador": one.address or "",
    }
    return Choice(found.id, one.name, rnc, fills)


def of_taxpayer(found: RegisteredTaxpayer) -> Choice:
    """A taxpayer of the authority's register as a choice."""
    return Choice("", found.name, found.rnc, {_RNC: found.rnc, _NAME: found.name[:NAME_OF_CUSTOMER]})


def of_product(found: Stored[Product]) -> Choice:
    """A product as a choice."""
    one = found.entry
    taxes = (
        f"TablaImpuestoAdicional.ImpuestoAdicional[{place}].TipoImpuesto={code}"
        for place, code in enumerate(one.additional_taxes, 1)
    )
    fills = {
        "item.NombreItem": one.name,
        "item.PrecioUnitarioItem": one.price_text or "",
        "item.UnidadMedida": one.unit or "",
        "item.IndicadorFacturacion": _RATES[one.itbis] if one.itbis else "",
        "item.IndicadorBienoServicio": _KINDS[one.kind] if one.kind else "",
        "item.more": "\n".join(taxes),
        "included": "" if one.price_has_itbis is None else str(int(one.price_has_itbis)),
    }
    price = "" if one.price is None else f"RD$ {one.price:,.2f}"
    return Choice(found.id, one.name, price, {name: value for name, value in fills.items() if value})


async def customers(visit: Visit, text: str, limit: int) -> list[Choice]:
    """Find customers; without a text those of the last receipts."""
    digits = tax_id_typed(text)
    if digits.isdigit():
        found = await visit.read(CUSTOMERS.by_key, digits, limit=limit)
        if found:
            return [of_customer(one) for one in found]
        taxpayer = await visit.portal.db.run(taxpayers.find, digits)
        if taxpayer is not None:
            return [of_taxpayer(taxpayer)]
    return [of_customer(one) for one in await visit.read(CUSTOMERS.suggested, text, limit=limit)]


async def products(visit: Visit, text: str, limit: int) -> list[Choice]:
    """Find products; without a text those of the last receipts."""
    return [of_product(one) for one in await visit.read(PRODUCTS.suggested, text, limit=limit)]


async def complete(visit: Visit, entry: ReceiptEntry) -> None:
    """Fill in what the catalogue knows of a customer or product that was typed by name, RNC or code alone."""
    if entry.layout.type not in OFFERED:
        return
    await _complete_customer(visit, entry)
    missing = [row for row in entry.rows["item"] if row["item.NombreItem"] and not row["item.PrecioUnitarioItem"]]
    for row in missing[:_MOST_LOOKUPS]:
        typed = row["item.NombreItem"]
        found = [
            one
            for one in await visit.read(PRODUCTS.suggested, typed)
            if fold_words(typed) in (fold_words(one.entry.name), fold_words(one.entry.code or ""))
        ]
        if len(found) == 1:
            fill_line(entry, row, of_product(found[0]))


async def _complete_customer(visit: Visit, entry: ReceiptEntry) -> None:
    typed = {name: entry.values.get(name, "") for name in (_RNC, _NAME)}
    if all(typed.values()) or not any(typed.values()):
        return
    found = [
        one
        for one in await customers(visit, typed[_RNC] or typed[_NAME], FOUND)
        if (tax_id_typed(typed[_RNC]) == one.fills[_RNC])
        or (not typed[_RNC] and fold_words(one.name) == fold_words(typed[_NAME]))
    ]
    if found and len({one.fills[_RNC] for one in found}) == 1:
        choose_customer(entry, found[0])


def choose_customer(entry: ReceiptEntry, choice: Choice) -> None:
    """Fill a customer in."""
    entry.values |= {name: value for name, value in choice.fills.items() if name in entry.values and value}


def choose_product(entry: ReceiptEntry, choice: Choice) -> None:
    """Add a product: one more of the last line if that is the same, else in the first blank line or a new one."""
    table = next(table for table in entry.layout.tables if table.key == "item")
    rows = entry.rows["item"]
    last = rows[-1]
    quantity = number(amount_typed(last["item.CantidadItem"]))
    if last["item.NombreItem"] == choice.name and quantity is not None:
        last["item.CantidadItem"] = f"{quantity + ONE:f}"
        return
    blank = next((row for row in rows if table.is_blank(row)), None)
    if blank is None:
        if len(rows) >= table.most:
            return
        blank = table.blank_row()
        rows.append(blank)
    fill_line(entry, blank, choice)


def fill_line(entry: ReceiptEntry, row: dict[str, str], choice: Choice) -> None:
    """Fill a product in a line, with its price as the form has prices: with ITBIS in them or not."""
    others = any(one["item.PrecioUnitarioItem"] for one in entry.rows["item"] if one is not row)
    allowed = {one.name: {code.value for code in one.codes} for table in entry.layout.tables for one in table.fields}
    for name, value in choice.fills.items():
        if name in row and (not allowed.get(name) or value in allowed[name]):
            row[name] = value
    is_included, wanted = choice.fills.get("included"), entry.values.get(PRICES_INCLUDE_VAT)
    if is_included is None or wanted is None or (is_included == "1") == (wanted == "1"):
        return
    if not others:
        entry.values[PRICES_INCLUDE_VAT] = is_included
        return
    price, percent = number(choice.fills["item.PrecioUnitarioItem"]), _percent(row["item.IndicadorFacturacion"])
    if price is not None and percent:
        with exact():
            part = ONE + percent / HUNDRED
            found = (price / part if is_included == "1" else price * part).quantize(_PRICE_DECIMALS)
        row["item.PrecioUnitarioItem"] = f"{found:f}"


def _percent(rate: str) -> Decimal | None:
    return VAT_PERCENT.get(int(rate)) if rate.isascii() and rate.isdigit() and len(rate) == 1 else None
