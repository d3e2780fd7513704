"""Everyday labels of the form's fields. `fe.ecf.field_help` explains the elements."""

import re

from fe.ecf.data_files import csv_rows
from fe.ecf.texts import Text

#: By the element's name; an element without one here is called by its name.
LABELS = {row["element"]: Text(row["en"], row["es"]) for row in csv_rows("portal/receipt/labels.csv")}

#: Meaning of an empty field, if it has one.
BLANKS = {
    "IndicadorMontoGravado": Text("It is added to the prices", "Se suma a los precios"),
    "TipoMoneda": Text("Pesos alone", "Solo pesos"),
    "UnidadMedida": Text("None", "Ninguna"),
    "IndicadorFacturacionDescuentooRecargo": Text("All, where they are of one kind", "Todas, si son de una sola clase"),
}


def label(name: str) -> Text:
    """Return the label of an element."""
    return LABELS.get(name) or Text(name, name)


_SUPPLIERS = (("comprador", "suplidor"), ("Comprador", "Suplidor"))
_SUPPLIERS_EN = (("buyer", "supplier"), ("Buyer", "Supplier"))


def of_supplier(said: Text) -> Text:
    """Say of the supplier what the format says of the buyer: in purchases and payments abroad the other side sells."""
    en, es = said.en, said.es
    for old, new in _SUPPLIERS_EN:
        en = en.replace(old, new)
    for old, new in _SUPPLIERS:
        es = es.replace(old, new)
    return Text(en, es)


_NAME = re.compile(r"\b[A-Z][A-Za-z]+\b", re.ASCII)


def plainly(text: str, *, spanish: bool) -> str:
    """A text with the names that fields have here, in place of the elements'."""

    def named(found: re.Match[str]) -> str:
        known = LABELS.get(found[0])
        return found[0] if known is None else f"«{known.es if spanish else known.en}»"

    return _NAME.sub(named, text)
