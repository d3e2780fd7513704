"""Plan the receipts of the simulation (step 4): the counts of a path, made of the catalogue or of examples.

A plan has numbers and payloads, and is kept. Its documents get the issuer's data and the day of sending when the run is
checked. Receipts that the tenant does not sell (purchases, exports, payments abroad) are always examples.
"""

from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import ROUND_CEILING, Decimal
from functools import cache
from typing import Any

from fe.catalogue.entries import Customer, ItbisRate, Product, ProductKind
from fe.certification.case_set import Case, in_order
from fe.ecf.autofill import autofill
from fe.ecf.build import write
from fe.ecf.catalogue import EcfType
from fe.ecf.data_files import data_text
from fe.ecf.dates import local, show_day
from fe.ecf.document import read_payload, read_xml
from fe.ecf.finished_xml import read_finished
from fe.ecf.json_text import write_canonical_json
from fe.ecf.modified import NOTES
from fe.ecf.parse import parse_json
from fe.ecf.taxes import Rates
from fe.ecf.thresholds import consumer_in_full

#: Stands for the sheet in faults.
SHEET = "simulation"
#: Consumer invoices below the threshold: their summary is sent, and they are uploaded by hand.
SMALL = "RFCE"
#: Receipts of each type that the authority counts, by path; in the order of `COUNTS[path]` they are planned.
COUNTS: Mapping[str, Mapping[str, int]] = {
    "own": {
        **{"31": 4, "32": 2, "41": 2, "43": 2, "44": 2, "45": 2, "46": 2, "47": 2},
        **{"33": 1, "34": 2, SMALL: 4},
    },
    "provider": dict.fromkeys(("31", "32", "41", "43", "44", "45", "46", "47", "33", "34", SMALL), 1),
}
#: Numbers of a type that the authority takes in the simulation.
LAST_NUMBER = 10_000_000
_EXAMPLES: Mapping[str, tuple[str, ...]] = {
    "31": ("31-several-rates", "31-cash", "31-exempt", "31-credit"),
    "32": ("32-from-250000",),
    "33": ("33-more",),
    "34": ("34-part",),
    "41": ("41-withholdings",),
    "43": ("43-minor",),
    "44": ("44-special",),
    "45": ("45-government",),
    "46": ("46-export",),
    "47": ("47-abroad",),
    SMALL: ("32-below-250000",),
}
_OF_THE_CATALOGUE = frozenset({"31", "32", "44", "45", SMALL})
#: Examples of which each gets another quantity: no amount in them hangs on it.
_VARIED = frozenset({"32", "43", "44", "45", SMALL})
_BILLED = {ItbisRate.R18: "1", ItbisRate.R16: "2", ItbisRate.R0: "3", ItbisRate.EXEMPT: "4"}
_PERCENT = {ItbisRate.R18: 18, ItbisRate.R16: 16, ItbisRate.R0: 0, ItbisRate.EXEMPT: 0}
_CREDIT = timedelta(days=30)


@dataclass(frozen=True, slots=True)
class PlannedReceipt:
    """A receipt of the plan: its number, and its payload without day and issuer."""

    e_ncf: str
    is_small: bool
    payload: Mapping[str, Any]


def type_of(kind: str) -> EcfType:
    """Return the type of a key of COUNTS."""
    return EcfType.CONSUMER if kind == SMALL else EcfType(kind)


def plan(
    path: str,
    numbers: Mapping[EcfType, Sequence[str]],
    expiries: Mapping[EcfType, str | None],
    *,
    customers: Sequence[Customer],
    products: Sequence[Product],
    today: date,
) -> list[PlannedReceipt]:
    """Plan the receipts of a path. `numbers` has one for each, `expiries` the last day of their range."""
    threshold = consumer_in_full(today)
    left = {one: list(given) for one, given in numbers.items()}
    made: list[PlannedReceipt] = []
    sold = [one for one in products if _net(one) and not one.additional_taxes]
    for kind, count in COUNTS[path].items():
        ecf_type = type_of(kind)
        for place in range(count):
            examples = _EXAMPLES[kind]
            payload = _example(examples[place % len(examples)])
            if kind in _VARIED:
                payload["DetallesItems"]["Item"][0]["CantidadItem"] += place
            if kind in _OF_THE_CATALOGUE:
                _sell(payload, kind, place, customers, sold, threshold)
            elif ecf_type in NOTES:
                bases = [one for one in made if one.e_ncf.startswith("E31")]
                _refer(payload, ecf_type, bases[place % len(bases)])
            id_doc = payload["Encabezado"]["IdDoc"]
            id_doc["eNCF"] = left[ecf_type].pop(0)
            if (ends := expiries[ecf_type]) is not None:
                id_doc["FechaVencimientoSecuencia"] = ends
            made.append(PlannedReceipt(id_doc["eNCF"], kind == SMALL, payload))
    return made


def in_sending_order(planned: Sequence[PlannedReceipt]) -> list[PlannedReceipt]:
    """Return the receipts in the order of sending, which is that of `cases_of`."""
    by_number = {one.e_ncf: one for one in planned}
    cases = [
        Case(one.e_ncf, 0, EcfType(one.e_ncf[1:3]), one.e_ncf, one.payload, {}, 0, {} if one.is_small else None)
        for one in planned
    ]
    return [by_number[case.e_ncf] for case in in_order(cases)]


def write_plan(planned: Sequence[PlannedReceipt]) -> bytes:
    """Write a plan as it is kept."""
    return write_canonical_json(
        [{"eNCF": one.e_ncf, "isSmall": one.is_small, "payload": one.payload} for one in planned]
    )


def read_plan(content: bytes) -> list[PlannedReceipt]:
    """Read a plan that was kept."""
    return [PlannedReceipt(one["eNCF"], one["isSmall"], one["payload"]) for one in parse_json(content)]


def cases_of(
    planned: Sequence[PlannedReceipt],
    *,
    issuer: Mapping[str, Any],
    now: datetime,
    rates: Rates,
    sent: Mapping[str, bytes],
) -> tuple[Case, ...]:
    """Make the documents of a plan, of today, in the order of sending. CPU work only.

    `sent` are the documents that were handed in, by number: they stay as they are. Raises NotADocument.
    """
    made: dict[str, Case] = {}
    for place, one in enumerate(planned, 1):
        if (kept := sent.get(one.e_ncf)) is not None:
            document = read_finished(kept)
        else:
            payload = _of_today(one.payload, made, now)
            document = autofill(read_payload(payload), issuer=issuer, expiry=None, now=now, rates=rates)
            document = read_xml(write(document).element)
        content = {name: part for name, part in document.content.items() if name != "FechaHoraFirma"}
        assert document.type is not None
        name = f"{document.issuer_rnc}{one.e_ncf}"
        summary: dict[str, str] | None = {} if one.is_small else None
        made[one.e_ncf] = Case(name, place, document.type, one.e_ncf, content, {}, place, summary, sheet=SHEET)
    return in_order(list(made.values()))


@cache
def _text(code: str) -> str:
    return data_text(f"http/examples/{code}.json")


def _example(code: str) -> dict[str, Any]:
    """Return the payload of an example without its days, which were those of another year."""
    payload: dict[str, Any] = parse_json(_text(code).encode())["payload"]
    payload["Encabezado"].pop("Emisor", None)
    payload["Encabezado"]["IdDoc"].pop("FechaLimitePago", None)
    payload.get("InformacionReferencia", {}).pop("FechaNCFModificado", None)
    return payload


def _sell(
    payload: dict[str, Any],
    kind: str,
    place: int,
    customers: Sequence[Customer],
    products: Sequence[Product],
    threshold: Decimal,
) -> None:
    """Put a customer and products of the catalogue into a receipt, where there are some that fit its type."""
    head = payload["Encabezado"]
    ecf_type = type_of(kind)
    fit = [one for one in customers if one.rnc is not None and not one.remarks and _buys(one, ecf_type)]
    if fit and kind != SMALL:
        head["Comprador"] = _buyer(fit[place % len(fit)])
    if ecf_type is EcfType.SPECIAL_REGIME:
        products = [one for one in products if one.itbis is ItbisRate.EXEMPT]
    if kind == SMALL:
        products = [one for one in products if _net(one) * 2 < threshold]
    if not products:
        return
    first, second = (products[at % len(products)] for at in (place, place + 1))
    chosen = [first, second] if kind in ("31", "45") and second is not first else [first]
    quantity = 1 if kind == SMALL else place + 2
    if kind == "32":
        quantity = max(quantity, int((threshold / _net(first)).to_integral_value(ROUND_CEILING)))
    head["IdDoc"].pop("TablaFormasPago", None)
    payload["DetallesItems"] = {"Item": [_line(one, quantity) for one in chosen]}
    payload.pop("DescuentosORecargos", None)


def _buys(customer: Customer, ecf_type: EcfType) -> bool:
    """Whether a customer is known to buy with this type; special regimes and the state only if they are said to."""
    if ecf_type in (EcfType.SPECIAL_REGIME, EcfType.GOVERNMENTAL):
        return customer.receipt_type is ecf_type
    return customer.receipt_type in (None, ecf_type)


def _net(product: Product) -> Decimal:
    """The price without ITBIS. With it inside, rounding may leave totals a cent off, which is accepted with remarks."""
    price = product.price or Decimal(0)
    if product.price_has_itbis:
        price = price * 100 / (100 + _PERCENT[product.itbis or ItbisRate.R18])
    return price.quantize(Decimal("0.0001"))


def _buyer(customer: Customer) -> dict[str, Any]:
    assert customer.rnc is not None
    known = {
        "RNCComprador": customer.rnc.digits,
        "RazonSocialComprador": customer.name,
        "CorreoComprador": None if customer.email is None else str(customer.email),
        "DireccionComprador": customer.address,
        "MunicipioComprador": customer.municipality,
        "ProvinciaComprador": customer.province,
    }
    return {name: said for name, said in known.items() if said is not None}


def _line(product: Product, quantity: int) -> dict[str, Any]:
    line = {
        "IndicadorFacturacion": _BILLED[product.itbis or ItbisRate.R18],
        "NombreItem": product.name,
        "IndicadorBienoServicio": "2" if product.kind is ProductKind.SERVICE else "1",
        "CantidadItem": str(quantity),
        "UnidadMedida": product.unit,
        "PrecioUnitarioItem": f"{_net(product):f}",
    }
    return {name: said for name, said in line.items() if said is not None}


def _refer(payload: dict[str, Any], note: EcfType, base: PlannedReceipt) -> None:
    """Let a note modify a receipt of the plan; a credit note takes one of its first line back."""
    reference, lines = payload["InformacionReferencia"], payload["DetallesItems"]
    reference["NCFModificado"] = base.e_ncf
    payload["Encabezado"]["Comprador"] = deepcopy(base.payload["Encabezado"]["Comprador"])
    if note is EcfType.DEBIT_NOTE:
        lines["Item"][0]["NombreItem"] = reference["RazonModificacion"] = "Intereses por financiamiento"
    else:
        lines["Item"] = [{**base.payload["DetallesItems"]["Item"][0], "CantidadItem": "1"}]
        reference["RazonModificacion"] = "Devolución parcial"


def _of_today(payload: Mapping[str, Any], made: Mapping[str, Case], now: datetime) -> dict[str, Any]:
    """Return a payload with its days: a note names that of the receipt that it modifies."""
    today = local(now).date()
    dated = deepcopy(dict(payload))
    head = dated["Encabezado"]
    head["Emisor"] = {"FechaEmision": show_day(today)}
    if head["IdDoc"].get("TipoPago") == "2":
        head["IdDoc"]["FechaLimitePago"] = show_day(today + _CREDIT)
    if (reference := dated.get("InformacionReferencia")) is not None:
        base = made[reference["NCFModificado"]].document
        reference["FechaNCFModificado"] = base.get("Encabezado.Emisor.FechaEmision")
    return dated


def is_of_today(original: bytes, now: datetime) -> bool:
    """Whether a document was made today, as the authority wants it in the simulation."""
    return f"<FechaEmision>{show_day(local(now).date())}</FechaEmision>".encode() in original
