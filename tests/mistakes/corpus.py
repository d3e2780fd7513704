"""Two hundred single mistakes of beginners, made by named changes to valid documents.

Each names its cause: the path of the first problem. The test checks the repair.
"""

from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

from fe.ecf.catalogue import EcfType
from tests.ecf.receipts import USUAL_INDICATOR, line, payload
from tests.mistakes.repairing import _holder, steps

Payload = dict[str, Any]
ID, BUYER, ITEM = "Encabezado.IdDoc", "Encabezado.Comprador", "DetallesItems.Item[1]"


@dataclass(frozen=True)
class Mistake:
    """The change, the document it was made to, and the path of its cause."""

    name: str
    given: Payload
    path: str

    def __str__(self) -> str:
        return self.name


def good(ecf_type: EcfType) -> Payload:
    """A document of the type that is in order, of two lines."""
    lines = [line(indicator=USUAL_INDICATOR[ecf_type], UnidadMedida="43") for _ in range(2)]
    for each in lines:
        each["MontoItem"] = "100.00"
    more: Payload = {}
    made = payload(ecf_type, lines, **more)
    made["Encabezado"]["IdDoc"]["TipoeCF"] = str(ecf_type)
    if "Comprador" in made["Encabezado"] and ecf_type is not EcfType.PAYMENTS_ABROAD:
        made["Encabezado"]["Comprador"] |= {"CorreoComprador": "compras@example.com", "DireccionComprador": "Calle 1"}
    return made


def renamed(of: Payload, path: str, name: str) -> Payload:
    made = deepcopy(of)
    holder, last = _holder(made, steps(path))
    entries = {name if key == last else key: value for key, value in holder.items()}
    holder.clear()
    holder.update(entries)
    return made


def changed(of: Payload, path: str, value: Any) -> Payload:
    made = deepcopy(of)
    holder, last = _holder(made, steps(path), make=True)
    holder[last] = value
    return made


def without(of: Payload, path: str) -> Payload:
    made = deepcopy(of)
    holder, last = _holder(made, steps(path))
    del holder[last]
    return made


def beside(path: str, name: str) -> str:
    above, _, _ = path.rpartition(".")
    return f"{above}.{name}" if above else name


_SPELT: dict[str, Callable[[str], str]] = {
    "in small letters": str.lower,
    "in capitals": str.upper,
    "with a small first letter": lambda name: name[0].lower() + name[1:],
    "with underscores": lambda name: "".join(f"_{c}" if c.isupper() and at else c for at, c in enumerate(name)),
    "with a letter missing": lambda name: name[: len(name) // 2] + name[len(name) // 2 + 1 :],
    "with a letter doubled": lambda name: name[: len(name) // 2] + name[len(name) // 2 - 1 :],
    "with an s at its end": lambda name: f"{name}s",
}
_NAMES = (
    *("Encabezado", ID, f"{ID}.eNCF", f"{ID}.TipoPago", f"{ID}.TipoIngresos", BUYER, f"{BUYER}.RNCComprador"),
    *(f"{BUYER}.RazonSocialComprador", "DetallesItems", "DetallesItems.Item", f"{ITEM}.NombreItem"),
    *(f"{ITEM}.IndicadorBienoServicio", f"{ITEM}.CantidadItem", f"{ITEM}.PrecioUnitarioItem", f"{ITEM}.MontoItem"),
)


def misspelt() -> Iterator[Mistake]:
    """Names in another case or spelling."""
    of = good(EcfType.CREDIT_FISCAL)
    for path in _NAMES:
        name = path.rpartition(".")[2].partition("[")[0]
        for how, change in _SPELT.items():
            wrong = change(name)
            if wrong != name:
                yield Mistake(f"{name} {how}", renamed(of, path, wrong), beside(path, wrong))


def of_other_types() -> Iterator[Mistake]:
    """Elements that only other types have."""
    for ecf_type, path, value in (
        (EcfType.PURCHASES, f"{ID}.TipoIngresos", "01"),
        (EcfType.MINOR_EXPENSES, f"{ID}.TipoIngresos", "01"),
        (EcfType.PAYMENTS_ABROAD, f"{ID}.TipoIngresos", "01"),
        (EcfType.CREDIT_FISCAL, f"{ID}.IndicadorNotaCredito", "0"),
        (EcfType.CONSUMER, f"{ID}.FechaVencimientoSecuencia", "31-12-2028"),
        (EcfType.CREDIT_NOTE, f"{ID}.FechaVencimientoSecuencia", "31-12-2028"),
        (EcfType.MINOR_EXPENSES, BUYER, {"RNCComprador": "131880681"}),
        (EcfType.CREDIT_FISCAL, f"{ITEM}.Mineria", {"PesoNetoKilogramo": "1.00"}),
    ):
        yield Mistake(f"{path} in a {ecf_type}", changed(good(ecf_type), path, value), path)
        name = path.rpartition(".")[2]
        for how in ("in small letters", "with a small first letter", "with a letter doubled", "with an s at its end"):
            wrong = beside(path, _SPELT[how](name))
            yield Mistake(f"{path} {how} in a {ecf_type}", changed(good(ecf_type), wrong, value), wrong)


def misplaced() -> Iterator[Mistake]:
    """Elements that stand in the wrong group, of this type or of others; and a list where its group should be."""
    yield Mistake(
        "TipoIngresos beside IdDoc in a 41",
        changed(good(EcfType.PURCHASES), "Encabezado.TipoIngresos", "01"),
        "Encabezado.TipoIngresos",
    )
    of = good(EcfType.CREDIT_FISCAL)
    nowhere = f"{ITEM}.Retencion.MontoOtraRetencion"
    yield Mistake("an element of no type", changed(of, nowhere, "1.00"), nowhere)
    items = changed(without(of, "DetallesItems"), "Items", of["DetallesItems"]["Item"])
    yield Mistake("Items in place of DetallesItems", items, "Items")
    for path, there in (
        (f"{ID}.TipoPago", "Encabezado.TipoPago"),
        (f"{ID}.TipoIngresos", "TipoIngresos"),
        (f"{BUYER}.RNCComprador", f"{ID}.RNCComprador"),
        (f"{BUYER}.RazonSocialComprador", "Encabezado.RazonSocialComprador"),
        (f"{BUYER}.CorreoComprador", "Encabezado.Emisor.CorreoComprador"),
    ):
        holder, last = _holder(deepcopy(of), steps(path))
        yield Mistake(f"{path} at {there}", changed(without(of, path), there, holder[last]), there)


def missing() -> Iterator[Mistake]:
    """Omitted elements that cannot be filled in."""
    for ecf_type, path in (
        (EcfType.CREDIT_FISCAL, f"{ID}.TipoPago"),
        (EcfType.CREDIT_FISCAL, f"{ID}.TipoIngresos"),
        (EcfType.CREDIT_FISCAL, f"{BUYER}.RNCComprador"),
        (EcfType.CREDIT_FISCAL, f"{BUYER}.RazonSocialComprador"),
        (EcfType.CREDIT_FISCAL, BUYER),
        (EcfType.CREDIT_FISCAL, f"{ITEM}.NombreItem"),
        (EcfType.CREDIT_FISCAL, f"{ITEM}.IndicadorBienoServicio"),
        (EcfType.CREDIT_FISCAL, f"{ITEM}.CantidadItem"),
        (EcfType.CREDIT_FISCAL, f"{ITEM}.PrecioUnitarioItem"),
        (EcfType.CONSUMER, f"{ID}.TipoIngresos"),
        (EcfType.CREDIT_NOTE, "InformacionReferencia.NCFModificado"),
        (EcfType.CREDIT_NOTE, "InformacionReferencia.CodigoModificacion"),
        (EcfType.PURCHASES, f"{ITEM}.Retencion"),
        (EcfType.DEBIT_NOTE, f"{ITEM}.NombreItem"),
    ):
        yield Mistake(f"{path} left out of a {ecf_type}", without(good(ecf_type), path), path)


_NUMBERS = {
    f"{ITEM}.PrecioUnitarioItem": ("RD$100.00", "$ 100", "100,00", "100.00 DOP", "100.000000", "cien", "RD$ 100.0000"),
    f"{ITEM}.CantidadItem": ("1,00", "1 ", "uno", "1.000"),
    f"{ITEM}.MontoItem": ("100,00", "RD$100", "100.000", " 100.00", "100.00\n"),
}
_DATES = {
    "Encabezado.Emisor.FechaEmision": (
        *("15/10/2025", "15.10.2025", "2025/10/15", "20251015", "10/15/2025", "15-10-25", "15 oct 2025"),
        *("15 de octubre de 2025", "2025-10-15T10:00:00Z", "15-10-2025 10:00:00", "15-Oct-2025", "hoy", " 15-10-2025"),
    ),
    f"{ID}.FechaVencimientoSecuencia": ("31/12/2028", "2028/12/31", "12/31/2028", "31 dic 2028"),
}
_CODES = {
    f"{ID}.TipoPago": ("contado", "Crédito", "9", "cash", True, ["1"], {"valor": "1"}),
    f"{ID}.TipoIngresos": ("1", "Ingresos financieros", "99", "financial"),
    f"{ID}.TipoeCF": ("E31", "31.5", "factura", "35"),
    f"{ID}.IndicadorMontoGravado": (False, "no"),
    f"{ITEM}.IndicadorBienoServicio": ("bien", "servicio", "B", "goods"),
    f"{ITEM}.IndicadorFacturacion": ("18%", 18, "0.18", "exento", "ITBIS 18%", "01", 9),
    f"{ITEM}.UnidadMedida": ("999", "x"),
}
_TEXTS = {
    f"{BUYER}.RNCComprador": ("131-88068-1", "131 880 681", "RNC 131880681", "13188068", " 131880681"),
    f"{BUYER}.RazonSocialComprador": ("", "x" * 151, True, ["Cliente SRL"]),
    f"{BUYER}.CorreoComprador": ("mailto:compras@example.com", "compras @example.com", "compras"),
    f"{ID}.eNCF": ("e310000000007", "E31-0000000007", "E31 0000000007", "E317", "310000000007", "E31000000007"),
    f"{ITEM}.NombreItem": (True, {"es": "Cosa"}, ["Cosa"]),
}


#: Values without a recognisable meaning: no proposal is made.
UNREADABLE = {
    f"{path} = {value!r}"
    for path, value in (
        (f"{ITEM}.PrecioUnitarioItem", "cien"),
        (f"{ITEM}.CantidadItem", "uno"),
        ("Encabezado.Emisor.FechaEmision", "hoy"),
        (f"{ID}.TipoPago", "9"),
        (f"{ID}.TipoIngresos", "99"),
        (f"{ITEM}.IndicadorBienoServicio", "B"),
        (f"{ITEM}.IndicadorFacturacion", "9"),
        (f"{ITEM}.UnidadMedida", "999"),
        (f"{ITEM}.UnidadMedida", "x"),
        (f"{BUYER}.RNCComprador", "13188068"),
        (f"{BUYER}.RazonSocialComprador", "True"),
        (f"{BUYER}.CorreoComprador", "compras"),
        (f"{ITEM}.NombreItem", "True"),
    )
}


def of_wrong_values() -> Iterator[Mistake]:
    """Values of another form, type or list."""
    of = good(EcfType.CREDIT_FISCAL)
    for table in (_NUMBERS, _DATES, _CODES, _TEXTS):
        for path, values in table.items():
            for value in values:
                yield Mistake(f"{path} = {str(value)[:20]!r}", changed(of, path, value), path)


def wrapped() -> Iterator[Mistake]:
    """Groups in lists of one, or a root in another case."""
    of = good(EcfType.CREDIT_FISCAL)
    for path in ("Encabezado", ID, BUYER):
        holder, last = _holder(deepcopy(of), steps(path))
        yield Mistake(f"{path} as a list", changed(of, path, [holder[last]]), path)
    yield Mistake("the root in small letters", {"ecf": of}, "ecf")


def mistakes() -> list[Mistake]:
    """All of them."""
    return [
        mistake
        for kind in (misspelt, of_other_types, misplaced, missing, of_wrong_values, wrapped)
        for mistake in kind()
    ]
