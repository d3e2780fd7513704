"""The format in plain terms, for the API description and the pages about fields.

Elements, how often they stand and their codes come from the tables (`schema`). This module adds which elements are
filled in where a structured payload leaves them out; a test compares it with `autofill`.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache

from fe.ecf.catalogue import EcfType, Root
from fe.ecf.currency import HEADER
from fe.ecf.schema.kinds import kind
from fe.ecf.schema.model import Code, Element, Simple
from fe.ecf.schema.simple import simple_type
from fe.ecf.taxes import AMOUNT_ELEMENTS


@dataclass(frozen=True, slots=True)
class Filled:
    """Value that an omitted element gets. `always`: it also replaces a value that was sent."""

    words: str
    words_es: str
    always: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Described:
    """An element of one kind of document, as a structured payload has it.

    `path` is that of problems, without numbers: `DetallesItems.Item.MontoItem`. `required` is the format's word about
    its group, `needed` what it means for who sends the group. A group has `children` and no `simple`.
    """

    name: str
    path: str
    required: bool
    many: int
    filled: Filled | None
    simple: Simple | None = field(repr=False)
    children: "tuple[Described, ...]" = field(repr=False)

    @property
    def needed(self) -> bool:
        """Whether it has to be sent with its group: the format requires it, and it is not filled in."""
        return self.required and self.filled is None

    @property
    def codes(self) -> tuple[Code, ...]:
        """The values it may have, where they are a list."""
        return self.simple.codes if self.simple is not None else ()

    @property
    def how_often(self) -> tuple[str, str]:
        """How often it stands in its group, in English and in Spanish."""
        if self.many == 1:
            return ("once", "una vez") if self.required else ("at most once", "a lo sumo una vez")
        minimum = 1 if self.required else 0
        return f"{minimum} to {self.many} times", f"de {minimum} a {self.many} veces"


_COMPUTED = Filled("computed from the lines", "se calcula de las líneas")
_CONVERTED = Filled("the amount in pesos divided by TipoCambio", "el monto en pesos dividido entre TipoCambio")
_COMPANY = Filled(
    "your company's fiscal data, where RNCEmisor is left out too",
    "los datos fiscales de su empresa, si también falta RNCEmisor",
)
_VERSION = Filled("1.0", "1.0")
_TYPE = Filled("the type that eNCF names", "el tipo que dice el eNCF")
_PLACE = Filled("its place in the list, from 1", "su lugar en la lista, desde 1")
_TODAY = Filled("today in Santo Domingo", "la fecha de hoy en Santo Domingo")
_NOW = Filled("the moment it is made", "el momento en que se hace")
_OF_PERCENTAGE = Filled("computed from the percentage", "se calcula del porcentaje")
_EMPTY = Filled("an empty element", "un elemento vacío")

_TAXES = "ImpuestosAdicionales.ImpuestoAdicional"
_TOTALS = (
    *("MontoGravadoTotal", "MontoGravadoI1", "MontoGravadoI2", "MontoGravadoI3", "MontoExento"),
    *("ITBIS1", "ITBIS2", "ITBIS3", "TotalITBIS", "TotalITBIS1", "TotalITBIS2", "TotalITBIS3"),
    *("MontoImpuestoAdicional", "ImpuestosAdicionales"),
    *(f"{_TAXES}.{name}" for name in ("TasaImpuestoAdicional", *AMOUNT_ELEMENTS)),
    *("MontoTotal", "MontoNoFacturable", "MontoPeriodo", "ValorPagar"),
    *("TotalITBISRetenido", "TotalISRRetencion", "TotalITBISPercepcion", "TotalISRPercepcion"),
)


def _of_line(sub_table: str, row: str, total: str) -> Mapping[str, Filled]:
    """Elements of a line that are filled in from its discounts, or from its surcharges."""
    return {
        total: Filled(f"the sum of {sub_table}", f"la suma de {sub_table}"),
        sub_table: Filled(f"one row with {total}", f"una fila con {total}"),
        f"{sub_table}.{row}.Monto{row}": _OF_PERCENTAGE,
    }


def _below(group: str, filled: Mapping[str, Filled]) -> dict[str, Filled]:
    return {f"{group}.{path}": how for path, how in filled.items()}


#: Elements that are filled in, by root and path; `Emisor.*` are all of its children without a line of their own.
_FILLED: dict[Root, dict[str, Filled]] = {
    Root.ECF: {
        "Encabezado.Version": _VERSION,
        "Encabezado.IdDoc.TipoeCF": _TYPE,
        "Encabezado.IdDoc.eNCF": Filled(
            "the next number of your sequence for TipoeCF", "el próximo número de su secuencia para TipoeCF"
        ),
        "Encabezado.IdDoc.FechaVencimientoSecuencia": Filled(
            "the last day of your sequence", "el último día de su secuencia"
        ),
        "Encabezado.IdDoc.IndicadorMontoGravado": Filled("0, where a line is taxed", "0, si alguna línea está gravada"),
        "Encabezado.IdDoc.TablaFormasPago.FormaDePago.MontoPago": Filled(
            "what is due, where there is one form", "lo que se debe pagar, si hay una sola forma"
        ),
        "Encabezado.Emisor": _COMPANY,
        "Encabezado.Emisor.*": _COMPANY,
        "Encabezado.Emisor.FechaEmision": _TODAY,
        "Encabezado.Totales": _COMPUTED,
        **_below("Encabezado.Totales", dict.fromkeys(_TOTALS, _COMPUTED)),
        **_below("Encabezado.OtraMoneda", dict.fromkeys((*HEADER, "ImpuestosAdicionalesOtraMoneda"), _CONVERTED)),
        **_below(
            "DetallesItems.Item",
            {
                "NumeroLinea": _PLACE,
                "IndicadorFacturacion": Filled("4 (exempt)", "4 (exento)"),
                **_of_line("TablaSubDescuento", "SubDescuento", "DescuentoMonto"),
                **_of_line("TablaSubRecargo", "SubRecargo", "RecargoMonto"),
                "OtraMonedaDetalle.MontoItemOtraMoneda": _CONVERTED,
                "MontoItem": Filled(
                    "price by quantity, less discounts, plus surcharges",
                    "precio por cantidad, menos descuentos, más recargos",
                ),
            },
        ),
        **_below(
            "DescuentosORecargos.DescuentoORecargo",
            {
                "NumeroLinea": _PLACE,
                "MontoDescuentooRecargo": _OF_PERCENTAGE,
                "IndicadorFacturacionDescuentooRecargo": Filled(
                    "that of the lines, where all have the same", "el de las líneas, si todas tienen el mismo"
                ),
            },
        ),
        "FechaHoraFirma": Filled("the moment of signing", "el momento de la firma", always=True),
    },
    Root.RFCE: {
        "Encabezado.Version": _VERSION,
        "Encabezado.IdDoc.TipoeCF": Filled("32", "32"),
        "Encabezado.Emisor": _COMPANY,
        "Encabezado.Emisor.*": _COMPANY,
        "Encabezado.Emisor.FechaEmision": _TODAY,
        "Encabezado.Comprador": _EMPTY,
    },
    Root.ACECF: {
        "DetalleAprobacionComercial.Version": _VERSION,
        "DetalleAprobacionComercial.FechaHoraAprobacionComercial": _NOW,
    },
    Root.ANECF: {"Encabezado.Version": _VERSION, "Encabezado.FechaHoraAnulacioneNCF": _NOW},
    Root.ARECF: {"DetalleAcusedeRecibo.Version": _VERSION, "DetalleAcusedeRecibo.FechaHoraAcuseRecibo": _NOW},
}

#: Where a structured payload may say less than the format (interface.md#structured).
_IN_PAYLOADS = {"DetallesItems.Item.IndicadorFacturacion": simple_type("billable-indicator")}
_RECEIPT = Filled("that of the receipt, if it was issued here", "el del comprobante, si se emitió aquí")
#: Elements that a note takes from the receipt it modifies.
_OF_NOTES = {
    "InformacionReferencia.FechaNCFModificado": _RECEIPT,
    "Encabezado.Comprador.RNCComprador": _RECEIPT,
    "Encabezado.Comprador.IdentificadorExtranjero": _RECEIPT,
    "Encabezado.Comprador.RazonSocialComprador": _RECEIPT,
}


#: The same, of one type of ECF alone.
_FILLED_OF: dict[EcfType, dict[str, Filled]] = {
    EcfType.CONSUMER: {"Encabezado.Comprador": _EMPTY},
    EcfType.DEBIT_NOTE: _OF_NOTES,
    EcfType.CREDIT_NOTE: {
        **_OF_NOTES,
        "Encabezado.IdDoc.IndicadorNotaCredito": Filled("from the two dates", "de las dos fechas"),
    },
}


@cache
def described(root: Root, ecf_type: EcfType | None = None) -> Described:
    """The kind of document in plain terms; `ecf_type` for an ECF. Its `path` is empty, its children begin the paths."""
    the_type = EcfType.CONSUMER if root is Root.RFCE else ecf_type
    of_type = _FILLED_OF.get(ecf_type, {}) if ecf_type is not None else {}
    # A note that corrects a text has a line that is not billable.
    in_payloads = {} if the_type in (EcfType.DEBIT_NOTE, EcfType.CREDIT_NOTE) else _IN_PAYLOADS
    return _describe(kind(root, the_type).root, "", _FILLED[root] | of_type, in_payloads)


def every(of: Described) -> Iterator[Described]:
    """All elements below, each before its children, in the order of the format."""
    for child in of.children:
        yield child
        yield from every(child)


def _describe(of: Element, path: str, filled: Mapping[str, Filled], in_payloads: Mapping[str, Simple]) -> Described:
    group, _, _ = path.rpartition(".")
    prefix = f"{path}." if path else ""
    return Described(
        name=of.name,
        path=path,
        required=of.required,
        many=of.many,
        filled=filled.get(path, filled.get(f"{group}.*")),
        simple=in_payloads.get(path, of.simple),
        children=tuple(_describe(child, f"{prefix}{child.name}", filled, in_payloads) for child in of.children),
    )
