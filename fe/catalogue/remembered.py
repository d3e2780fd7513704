"""Catalogue entries from a receipt: its buyer as a customer, its lines as products."""

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import fields, replace
from typing import Any, Final, TypeVar

from fe.catalogue.entries import Customer, Product, check_customer, check_product
from fe.catalogue.fields import BadEntry, EntryId
from fe.catalogue.search import fold_words
from fe.ecf.catalogue import EcfType
from fe.ecf.money import number
from fe.ecf.reading import Fields, coded, rows, section, text, whole

E = TypeVar("E", bound=Customer | Product)

#: Types that are sales: their buyer is a customer, and their lines are what the tenant sells.
SALES: Final = frozenset(
    {EcfType.CREDIT_FISCAL, EcfType.CONSUMER, EcfType.SPECIAL_REGIME, EcfType.GOVERNMENTAL, EcfType.EXPORTS}
)
#: Lines of one receipt that are remembered.
MOST_LINES: Final = 50

_RATES = {"1": "18", "2": "16", "3": "0", "4": "exempt"}


def customer_of(receipt: Mapping[str, Any], kind: EcfType) -> Customer | None:
    """Return the buyer of a receipt; None where it has no name, or the receipt is no sale."""
    buyer = section(section(receipt, "Encabezado"), "Comprador")
    name = text(buyer, "RazonSocialComprador")
    if kind not in SALES or name is None:
        return None
    known = {
        "rnc": text(buyer, "RNCComprador"),
        "email": text(buyer, "CorreoComprador"),
        "address": text(buyer, "DireccionComprador"),
        "municipality": coded(buyer, "MunicipioComprador", 6),
        "province": coded(buyer, "ProvinciaComprador", 6),
        "receipt_type": kind.value,
    }
    try:
        return check_customer(name=name, **known)
    except BadEntry:
        return None


def products_of(receipt: Mapping[str, Any], kind: EcfType) -> list[Product]:
    """Return the lines of a receipt as products, each once; lines that say too little are left out."""
    if kind not in SALES:
        return []
    has_itbis = whole(section(section(receipt, "Encabezado"), "IdDoc"), "IndicadorMontoGravado") == "1"
    lines = rows(receipt, "DetallesItems", "Item")[:MOST_LINES]
    found = {remembered_id(one): one for item in lines for one in _product(item, has_itbis=has_itbis)}
    return list(found.values())


def _product(item: Fields, *, has_itbis: bool) -> Iterator[Product]:
    price = number(item.get("PrecioUnitarioItem"))
    codes = [code for row in rows(item, "TablaCodigosItem", "CodigosItem") if (code := text(row, "CodigoItem"))]
    taxes = [coded(row, "TipoImpuesto", 3) or "" for row in rows(item, "TablaImpuestoAdicional", "ImpuestoAdicional")]
    try:
        yield check_product(
            name=text(item, "NombreItem"),
            code=codes[0] if codes else None,
            unit=whole(item, "UnidadMedida"),
            price=None if price is None else f"{price:f}",
            price_has_itbis=has_itbis,
            itbis=_RATES.get(whole(item, "IndicadorFacturacion") or ""),
            kind=whole(item, "IndicadorBienoServicio"),
            additional_taxes=taxes,
        )
    except BadEntry:
        return


def key_of(entry: Customer | Product) -> str | None:
    """Return the RNC or cédula of a customer, the code of a product."""
    if isinstance(entry, Product):
        return entry.code
    return None if entry.rnc is None else entry.rnc.digits


def is_same(one: E, other: E) -> bool:
    """Tell whether two entries are of one customer or product: by key, and by name where one of them has no key."""
    if (key := key_of(one)) is not None and (its := key_of(other)) is not None:
        return key == its
    return fold_words(one.name) == fold_words(other.name)


def merged(old: E, new: E) -> E:
    """Return the newer entry with the fields of the older one that the newer does not know."""
    unknown = {each.name for each in fields(new) if getattr(new, each.name) in (None, ())}
    return replace(new, **{name: getattr(old, name) for name in unknown})


def remembered_id(entry: Customer | Product) -> EntryId:
    """Return the id of a remembered entry, the same each time."""
    if isinstance(entry, Customer) and entry.rnc is not None:
        return EntryId(entry.rnc.digits)
    return EntryId(f"r-{hashlib.sha256((key_of(entry) or entry.search).encode()).hexdigest()[:24]}")
