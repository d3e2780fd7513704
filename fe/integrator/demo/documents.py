"""Receipts of the demonstration, as files beside this one, for fictitious companies."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from importlib.resources import files
from string import Template
from typing import Any

from fe.catalogue.taxpayers import RegisteredTaxpayer, read_line
from fe.ecf.autofill import autofill
from fe.ecf.build import build
from fe.ecf.dates import local, show_day
from fe.ecf.document import read_xml
from fe.ecf.parse import parse_xml
from fe.ecf.signature import Signer

ISSUER_RNC = "131880738"
ISSUER = {
    "RNCEmisor": ISSUER_RNC,
    "RazonSocialEmisor": "Comercial Río Ozama SRL",
    "NombreComercial": "Río Ozama",
    "DireccionEmisor": "Calle El Conde 12, Ciudad Colonial",
    "Municipio": "010101",
    "Provincia": "010000",
    "TablaTelefonoEmisor": {"TelefonoEmisor": ["809-555-0142"]},
    "CorreoEmisor": "cuentas@rio-ozama.example",
}

#: The buyer of the furniture is another tenant here, so that both sides are shown.
BUYER_RNC = "131880681"
BUYER = {
    "RNCEmisor": BUYER_RNC,
    "RazonSocialEmisor": "Hotel Brisas del Yaque SRL",
    "DireccionEmisor": "Avenida Las Carreras 77, Santiago",
}

#: Granted numbers for each of the ten types, so that a visitor can issue any of them.
GRANTED = 10_000_000

#: Receipts that bring their own number take multiples of this. One that lets the service draw gets the number after
#: the highest so far, so the two never meet, in whatever order they arrive.
_OWN_NUMBERS = 1000


@dataclass(frozen=True, slots=True)
class DemoReceipt:
    """One receipt to submit: its purpose, its file, and its number, if it brings one."""

    title: str
    file: str
    e_ncf: str | None = None

    @property
    def format(self) -> str:
        """The `format` of POST /invoices."""
        return "xml" if self.file.endswith(".xml") else "structured"

    @property
    def summarised(self) -> bool:
        """Whether the authority gets the summary that the service makes of it."""
        return self.file.startswith("32")


def _own(ecf_type: int, nth: int) -> str:
    return f"E{ecf_type}{_OWN_NUMBERS * nth:010d}"


FURNITURE = DemoReceipt("31, VAT included, global discounts", "31-furniture.json")
COUNTER_SALE = DemoReceipt("32 under 250,000, sent as its summary", "32-counter-sale.json")

#: Handed in together. Of the summaries (RFCE) the client keeps the whole invoice, signed, itself.
SAMPLES = (
    FURNITURE,
    DemoReceipt("31, VAT included, global discounts", "31-furniture.xml", _own(31, 1)),
    DemoReceipt("31, beer with selective taxes", "31-beer.json", _own(31, 2)),
    DemoReceipt("31, beer with selective taxes", "31-beer.xml", _own(31, 3)),
    COUNTER_SALE,
    DemoReceipt("32 under 250,000, sent as its summary", "32-counter-sale.xml", _own(32, 1)),
    DemoReceipt("RFCE, a summary the client made", "rfce-counter-sale.json", _own(32, 2)),
    DemoReceipt("RFCE, a summary the client made", "rfce-counter-sale.xml", _own(32, 3)),
    DemoReceipt("41, purchase with withholdings", "41-advertising.json"),
    DemoReceipt("41, purchase with withholdings", "41-advertising.xml", _own(41, 1)),
)

#: Handed in once the receipt it corrects was accepted. As XML only: a text correction needs a line that is not
#: billable (IndicadorFacturacion 0), and the structured form takes 1 to 4.
CORRECTION = DemoReceipt("34, corrects the text of the first", "34-text-correction.xml", _own(34, 1))

#: Submitted once its buyer can receive it.
DELIVERED = DemoReceipt("31, sent on to its buyer", "31-furniture.json")

#: A short document for the visitor to submit, with an id so that it can be pasted again.
FIRST: dict[str, Any] = {
    "format": "structured",
    "clientRequestId": "my-first-receipt",
    "payload": {
        "Encabezado": {"IdDoc": {"TipoeCF": "32", "TipoIngresos": "01", "TipoPago": "1"}},
        "DetallesItems": {
            "Item": [
                {
                    "NumeroLinea": 1,
                    "IndicadorFacturacion": "1",
                    "NombreItem": "Café",
                    "IndicadorBienoServicio": "1",
                    "CantidadItem": 1,
                    "PrecioUnitarioItem": 100,
                    "MontoItem": 100,
                }
            ]
        },
    },
}

#: A number outside the granted ranges: only the authority can detect it, so it is sent and rejected.
BEYOND = DemoReceipt("31 with a number that was never granted", "31-furniture.xml", f"E31{GRANTED + 1:010d}")


def expiry_of(today: date) -> date:
    """Numbers granted today are good until the 31st of December of next year (authority.md#e-ncf)."""
    return date(today.year + 1, 12, 31)


def body_of(sample: DemoReceipt, now: datetime, signer: Signer, *, modified: str = "") -> dict[str, Any]:
    """Make the body of POST /invoices, but for the clientRequestId. `modified` is the number a note corrects."""
    today = local(now).date()
    values = {
        "e_ncf": sample.e_ncf or "",
        "today": show_day(today),
        "in_a_month": show_day(today + timedelta(days=30)),
        "expires": show_day(expiry_of(today)),
        "modified": modified,
    }
    if sample.file.startswith("rfce"):
        values["security_code"] = _code_of_the_whole(values, now, signer)
    text = _filled(sample.file, values)
    if sample.format == "xml":
        return {"format": "xml", "xml": text}
    return {"format": "structured", "payload": json.loads(text)}


def _code_of_the_whole(values: Mapping[str, str], now: datetime, signer: Signer) -> str:
    """Sign the invoice that a summary stands for, as a client that sends summaries does, and give its security code."""
    whole = read_xml(parse_xml(_filled("32-counter-sale.xml", values).encode()))
    return signer.sign(build(autofill(whole, issuer=None, expiry=None, now=now))).security_code


def register() -> list[RegisteredTaxpayer]:
    """Return a made-up register of taxpayers: both companies, their customers, and one that is suspended."""
    return [read_line(line.encode("cp1252")) for line in _read("register.txt").splitlines()]


def _filled(file: str, values: Mapping[str, str]) -> str:
    return Template(_read(file)).substitute(values)


def _read(file: str) -> str:
    return files("fe.integrator.demo").joinpath("documents", file).read_text(encoding="utf-8")
