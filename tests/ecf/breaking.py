"""Documents in order, and ways to break one rule of each."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest

from fe.ecf.catalogue import EcfType, Root
from fe.ecf.document import Document
from fe.ecf.problems import Problem
from fe.ecf.rules import RULES, apply_rules
from tests.ecf.receipts import NOW, changed, fill, line, receipt

CREDIT, CONSUMER, NOTE = EcfType.CREDIT_FISCAL, EcfType.CONSUMER, EcfType.CREDIT_NOTE
ID = "Encabezado.IdDoc"
TOTALS = "Encabezado.Totales"
TAXES = f"{TOTALS}.ImpuestosAdicionales.ImpuestoAdicional"
ITEM = "DetallesItems.Item[1]"
ADJUSTMENT = "DescuentosORecargos.DescuentoORecargo[1]"
REFERENCE = "InformacionReferencia"
ISSUED = "15-10-2025"


def adjusting(**fields: Any) -> dict[str, Any]:
    row = {"TipoAjuste": "D", "TipoValor": "$", "MontoDescuentooRecargo": "10.00", **fields}
    return {"DescuentoORecargo": [row]}


def taxed(*codes: str, **more: Any) -> dict[str, Any]:
    table = {"ImpuestoAdicional": [{"TipoImpuesto": code} for code in codes]}
    return line("100.00", TablaImpuestoAdicional=table, **more)


BEER = {
    "CantidadReferencia": "24",
    "UnidadReferencia": "5",
    "TablaSubcantidad": {"SubcantidadItem": [{"Subcantidad": "0.355", "CodigoSubcantidad": "24"}]},
    "GradosAlcohol": "5.00",
    "PrecioUnitarioReferencia": "65.00",
}
DOLLARS = {"TipoMoneda": "USD", "TipoCambio": "50.0000"}
DISCOUNTED = {"SubDescuento": [{"TipoSubDescuento": "%", "SubDescuentoPorcentaje": "10"}]}
SURCHARGED = {"SubRecargo": [{"TipoSubRecargo": "$", "MontoSubRecargo": "5.00"}]}


def sale() -> Document:
    return receipt(CREDIT)


def consumer() -> Document:
    return receipt(CONSUMER)


def note() -> Document:
    return receipt(NOTE)


def with_tax(*codes: str, more: dict[str, Any] | None = None) -> Document:
    return receipt(CREDIT, [taxed(*codes, **(more or {}))])


def adjusted(fields: dict[str, Any], lines: list[dict[str, Any]] | None = None) -> Document:
    return receipt(CREDIT, lines, DescuentosORecargos=adjusting(**fields))


def in_dollars() -> Document:
    lines = [line("100.00", OtraMonedaDetalle={"PrecioOtraMoneda": "2.0000"})]
    return receipt(CREDIT, lines, OtraMoneda=DOLLARS)


def paged() -> Document:
    pages = {
        "Pagina": [
            {"PaginaNo": "1", "NoLineaDesde": "1", "NoLineaHasta": "1", "MontoSubtotalPagina": "118.00"},
            {"PaginaNo": "2", "NoLineaDesde": "2", "NoLineaHasta": "2", "MontoSubtotalPagina": "118.00"},
        ]
    }
    document = receipt(CREDIT, [line("100.00"), line("100.00")], Paginacion=pages)
    return changed(document, f"{ID}.TotalPaginas", "2")


def summary() -> Document:
    header = {
        "IdDoc": {"eNCF": "E320000000001", "TipoIngresos": "01", "TipoPago": "1"},
        "Comprador": {},
        "Totales": {
            "MontoGravadoTotal": "100.00",
            "MontoGravadoI1": "100.00",
            "TotalITBIS": "18.00",
            "TotalITBIS1": "18.00",
            "MontoTotal": "118.00",
        },
        "CodigoSeguridadeCF": "abcdef",
    }
    return _companion(Root.RFCE, {"Encabezado": header})


def approval() -> Document:
    fields = {
        "RNCEmisor": "131880738",
        "eNCF": "E310000000001",
        "FechaEmision": ISSUED,
        "MontoTotal": "118.00",
        "RNCComprador": "131880681",
        "Estado": "1",
    }
    return _companion(Root.ACECF, {"DetalleAprobacionComercial": fields})


def acknowledgement() -> Document:
    fields = {"RNCEmisor": "131880738", "RNCComprador": "131880681", "eNCF": "E310000000001", "Estado": "0"}
    return _companion(Root.ARECF, {"DetalleAcusedeRecibo": fields})


RANGES = "DetalleAnulacion.Anulacion[1].TablaRangoSecuenciasAnuladaseNCF.Secuencias"


def voided() -> Document:
    block = {
        "NoLinea": "1",
        "TipoeCF": "31",
        "TablaRangoSecuenciasAnuladaseNCF": {
            "Secuencias": [
                {"SecuenciaeNCFDesde": "E310000000001", "SecuenciaeNCFHasta": "E310000000010"},
                {"SecuenciaeNCFDesde": "E310000000021", "SecuenciaeNCFHasta": "E310000000021"},
            ]
        },
        "CantidadeNCFAnulados": "11",
    }
    content = {
        "Encabezado": {"RncEmisor": "131880738", "CantidadeNCFAnulados": "11"},
        "DetalleAnulacion": {"Anulacion": [block]},
    }
    return _companion(Root.ANECF, content)


def _companion(root: Root, content: dict[str, Any]) -> Document:
    the_type = CONSUMER if root is Root.RFCE else None
    return fill(Document(root, the_type, content))


def changed_all(document: Document, changes: Mapping[str, Any]) -> Document:
    for path, value in changes.items():
        document = changed(document, path, value)
    return document


@dataclass(frozen=True)
class Broken:
    """A document in order, the changes that break it, and the problem it must then be told of."""

    code: str
    path: str
    make: Callable[[], Document]
    changes: Mapping[str, Any] = field(default_factory=dict)

    def document(self) -> Document:
        return changed_all(self.make(), self.changes)


def at(code: str, path: str, make: Callable[[], Document], value: Any) -> Any:
    """The rule broken by another value at the very place that is reported; None takes the element away."""
    return by(code, path, make, {path: value})


def by(code: str, path: str, make: Callable[[], Document], changes: Mapping[str, Any] | None = None) -> Any:
    """The rule broken by changes elsewhere, or by the document as it is made."""
    return pytest.param(Broken(code, path, make, changes or {}), id=f"{code} {path.rpartition('.')[2]}")


def codes_of(cases: list[Any]) -> set[str]:
    return {case.values[0].code for case in cases}


def assert_reported(case: Broken) -> None:
    problems = apply_rules(case.document(), now=NOW)

    found = [problem for problem in problems if (problem.code, problem.path) == (case.code, case.path)]
    assert len(found) == 1, [(problem.code, problem.path) for problem in problems]
    _assert_well_told(found[0])


def _assert_well_told(problem: Problem) -> None:
    assert problem.severity is RULES[problem.code].severity
    messages = (problem.message, problem.message_es, problem.fix, problem.fix_es)
    assert all(messages)
    assert not any("{" in text for text in messages if text)
