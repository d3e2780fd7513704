"""A working receipt of every type and of every common case: bodies of POST /invoices, as files beside this one.

Nothing in them is filled in that the service fills in, not even the number. A test hands each of them in and waits for
`Aceptado`. Those that name an earlier receipt name the first of them (`E310000000001`).
"""

import json
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from fe.ecf.field_help import Words


@dataclass(frozen=True, slots=True)
class Example:
    """One of them: the name of its file, the type, and what it shows."""

    name: str
    type: str
    title: Words
    about: Words

    @property
    def text(self) -> str:
        """The body, as it is sent."""
        return _read(self.name)

    @property
    def payload(self) -> Any:
        """The `payload` of the body."""
        return json.loads(self.text)["payload"]


@cache
def _read(name: str) -> str:
    return files("fe.http.examples").joinpath(f"{name}.json").read_text(encoding="utf-8")


_DATED = Words(
    "FechaEmision is only there so that the dates fit each other for good: leave it out, and it is today.",
    "FechaEmision solo está para que las fechas siempre cuadren entre sí: si la omite, es la de hoy.",
)


def _dated(en: str, es: str) -> Words:
    return Words(f"{en} {_DATED.en}", f"{es} {_DATED.es}")


#: In the order in which they can be handed in.
EXAMPLES = (
    Example(
        "31-credit",
        "31",
        Words("On credit", "A crédito"),
        _dated("TipoPago 2 demands the last day to pay.", "TipoPago 2 exige la fecha límite de pago."),
    ),
    Example(
        "31-cash",
        "31",
        Words("Paid at once, in two ways", "Al contado, con dos formas de pago"),
        Words(
            "Ways of payment are optional; where they are listed, cash and card add up to the total.",
            "Las formas de pago son opcionales; si se detallan, efectivo y tarjeta suman el total.",
        ),
    ),
    Example(
        "31-exempt",
        "31",
        Words("Exempt", "Exenta"),
        Words(
            "IndicadorFacturacion 4: books and rice bear no ITBIS.",
            "IndicadorFacturacion 4: los libros y el arroz no llevan ITBIS.",
        ),
    ),
    Example(
        "31-several-rates",
        "31",
        Words("Several rates in one", "Varias tasas en una"),
        Words(
            "Lines at 18%, at 16% and exempt; the totals of each rate are computed.",
            "Líneas al 18 %, al 16 % y exentas; los totales de cada tasa se calculan.",
        ),
    ),
    Example(
        "31-discounts",
        "31",
        Words("ITBIS in the prices, and discounts", "ITBIS incluido y descuentos"),
        Words(
            "IndicadorMontoGravado 1, a discount on a line, and 5% on the whole.",
            "IndicadorMontoGravado 1, un descuento en una línea y un 5 % sobre el total.",
        ),
    ),
    Example(
        "31-isc",
        "31",
        Words("Selective taxes (ISC)", "Impuesto selectivo (ISC)"),
        _dated(
            "Beer, with the tax by quantity (006) and by price (023); both amounts are computed.",
            "Cerveza, con el selectivo específico (006) y el ad valorem (023); ambos montos se calculan.",
        ),
    ),
    Example(
        "31-other-currency",
        "31",
        Words("In another currency", "En otra moneda"),
        Words(
            "Prices in pesos, and beside them dollars; the totals in dollars are computed.",
            "Precios en pesos y, al lado, en dólares; los totales en dólares se calculan.",
        ),
    ),
    Example(
        "32-below-250000",
        "32",
        Words("Below RD$250,000", "Menor de RD$250,000"),
        Words(
            "No buyer. The authority gets the summary; you keep the whole, signed.",
            "Sin comprador. La DGII recibe el resumen; usted conserva la factura completa, firmada.",
        ),
    ),
    Example(
        "32-from-250000",
        "32",
        Words("RD$250,000 and more", "De RD$250,000 o más"),
        Words("The buyer is named, and the whole goes.", "Se identifica al comprador y se envía completa."),
    ),
    Example(
        "33-more",
        "33",
        Words("Interest on a late payment", "Intereses por pago tardío"),
        _dated("Adds to the first invoice.", "Aumenta la primera factura."),
    ),
    Example(
        "34-part",
        "34",
        Words("Part of an invoice", "Parte de una factura"),
        _dated(
            "Three of ten tables come back: only these are in the lines.",
            "Devuelven tres de diez mesas: solo esas van en las líneas.",
        ),
    ),
    Example(
        "34-text",
        "34",
        Words("A correction of text", "Corrección de texto"),
        _dated(
            "CodigoModificacion 2: what was wrong stands in a line whose price is 0.",
            "CodigoModificacion 2: la corrección va en una línea de precio 0.",
        ),
    ),
    Example(
        "41-withholdings",
        "41",
        Words("With withholdings", "Con retenciones"),
        Words(
            "The whole ITBIS and 10% income tax are withheld from somebody without receipts.",
            "A un proveedor informal se le retiene todo el ITBIS y el 10 % de ISR.",
        ),
    ),
    Example(
        "43-minor",
        "43",
        Words("Tolls and parking", "Peaje y parqueo"),
        Words("No buyer, all exempt.", "Sin comprador y todo exento."),
    ),
    Example(
        "44-special",
        "44",
        Words("To a free zone", "A una zona franca"),
        Words("All lines exempt.", "Todas las líneas exentas."),
    ),
    Example(
        "45-government",
        "45",
        Words("To a town hall", "A un ayuntamiento"),
        Words(
            "As a credit fiscal invoice, under a number of its own type.", "Como un crédito fiscal, con número propio."
        ),
    ),
    Example(
        "46-export",
        "46",
        Words("Cocoa by sea, in dollars", "Cacao por mar, en dólares"),
        Words(
            "A buyer without RNC, rate 0, port and terms of delivery.",
            "Comprador sin RNC, tasa cero, puerto y condiciones de entrega.",
        ),
    ),
    Example(
        "47-abroad",
        "47",
        Words("A service from abroad", "Un servicio del exterior"),
        Words("27% income tax is withheld.", "Se retiene el 27 % de ISR."),
    ),
)


@cache
def by_name() -> dict[str, Example]:
    """All of them, by name."""
    return {example.name: example for example in EXAMPLES}
