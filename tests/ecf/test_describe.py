"""Descriptions of elements: those described as filled in are filled in, and no others."""

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given

from fe.ecf.catalogue import EcfType, Root
from fe.ecf.describe import Described, described, every
from fe.ecf.document import Document, read_payload
from fe.ecf.schema.simple import simple_type
from tests.ecf.drafts import any_draft
from tests.ecf.receipts import RATED_DAY, draft, fill, line, withheld


def paths(content: Any, path: str = "") -> Iterator[str]:
    """Every element that a document has, by its path without numbers."""
    if isinstance(content, dict):
        for name, value in content.items():
            there = f"{path}.{name}" if path else name
            yield there
            yield from paths(value, there)
    elif isinstance(content, list):
        for value in content:
            yield from paths(value, path)


def fillable(root: Root, ecf_type: EcfType | None) -> set[str]:
    """Elements described as filled in, and all below a group that was not sent."""
    found: set[str] = set()

    def below(of: Described, inside: bool) -> None:
        for child in of.children:
            filled = inside or child.filled is not None
            if filled:
                found.add(child.path)
            below(child, inside=filled and child.simple is None)

    below(described(root, ecf_type), inside=False)
    return found


def added(document: Document) -> set[str]:
    return set(paths(fill(document).content)) - set(paths(document.content))


@given(any_draft)
def test_element_not_described_as_filled_in_stays_absent(document: Document) -> None:
    assert added(document) <= fillable(document.root, document.type)


def _lines() -> list[dict[str, Any]]:
    """As much to fill in as lines have: every rate, discounts said in every way, excise, withholdings."""
    percent = {"TipoSubDescuento": "%", "SubDescuentoPorcentaje": "5"}
    more = {"TipoSubRecargo": "%", "SubRecargoPorcentaje": "5"}
    beer: dict[str, Any] = {
        "TablaImpuestoAdicional": {"ImpuestoAdicional": [{"TipoImpuesto": "006"}, {"TipoImpuesto": "023"}]},
        "UnidadMedida": "6",
        "CantidadReferencia": "24",
        "UnidadReferencia": "5",
        "TablaSubcantidad": {"SubcantidadItem": [{"Subcantidad": "0.355", "CodigoSubcantidad": "24"}]},
        "GradosAlcohol": "5.00",
        "PrecioUnitarioReferencia": "150.00",
    }
    return [
        line(TablaSubDescuento={"SubDescuento": [percent]}, TablaSubRecargo={"SubRecargo": [more]}),
        line(DescuentoMonto="1.00", RecargoMonto="2.00", indicator="2"),
        line(indicator="3"),
        line(indicator=None, OtraMonedaDetalle={"PrecioOtraMoneda": "1.00"}),
        line(**beer),
        line(TablaImpuestoAdicional={"ImpuestoAdicional": [{"TipoImpuesto": "002"}]}),
        line(
            Retencion={
                "IndicadorAgenteRetencionoPercepcion": "1",
                "MontoITBISRetenido": "1.00",
                "MontoISRRetenido": "1.00",
            }
        ),
        line(
            Retencion={
                "IndicadorAgenteRetencionoPercepcion": "2",
                "MontoITBISRetenido": "1.00",
                "MontoISRRetenido": "1.00",
            }
        ),
    ]


def _drafts() -> Iterator[Document]:
    dollars = {"TipoMoneda": "USD", "TipoCambio": "60.0000"}
    for one in _lines():
        yield draft(EcfType.CREDIT_FISCAL, [one])
        yield draft(EcfType.CREDIT_FISCAL, [one], OtraMoneda=dollars)
    adjustment = {"TipoAjuste": "D", "TipoValor": "%", "ValorDescuentooRecargo": "5"}
    yield draft(EcfType.CREDIT_FISCAL, [line()], DescuentosORecargos={"DescuentoORecargo": [adjustment]})
    stated = {"ImpuestosAdicionales": {"ImpuestoAdicional": [{"TipoImpuesto": "006"}]}}
    yield draft(EcfType.CREDIT_FISCAL, _lines()[4:5], Totales=stated)
    yield read_payload(
        {
            "Encabezado": {
                "IdDoc": {
                    **{"TipoeCF": "31", "TipoIngresos": "01", "TipoPago": "1"},
                    "TablaFormasPago": {"FormaDePago": [{"FormaPago": "3"}]},
                }
            },
            "DetallesItems": {"Item": [line()]},
        }
    )


#: Elements that a structured payload never gets: no line is not billable; a number is drawn elsewhere.
_NOT_OF_LINES = {
    "Encabezado.Totales.MontoNoFacturable",
    "Encabezado.Totales.MontoPeriodo",
    "Encabezado.IdDoc.eNCF",
}


def test_element_described_as_filled_in_is_filled_in() -> None:
    told = {one.path for one in every(described(Root.ECF, EcfType.CREDIT_FISCAL)) if one.filled is not None}
    seen = set().union(*(added(document) for document in _drafts()))
    of_issuer = {path for path in told if path.startswith("Encabezado.Emisor.")}

    assert told - seen - of_issuer == _NOT_OF_LINES
    assert {"Encabezado.Emisor.RNCEmisor", "Encabezado.Emisor.FechaEmision"} <= seen


@pytest.mark.parametrize(
    ("root", "content"),
    [
        (Root.RFCE, {"RFCE": {"Encabezado": {"IdDoc": {"eNCF": "E320000000001"}}}}),
        (Root.ACECF, {"ACECF": {"DetalleAprobacionComercial": {}}}),
        (Root.ANECF, {"ANECF": {"Encabezado": {}}}),
    ],
)
def test_other_documents_get_the_described_values(root: Root, content: dict[str, Any]) -> None:
    seen = added(read_payload(content))

    assert seen
    assert seen <= fillable(root, None)


def test_described_element_has_cardinality_and_necessity() -> None:
    by_path = {one.path: one for one in every(described(Root.ECF, EcfType.CREDIT_FISCAL))}

    assert by_path["DetallesItems.Item"].how_often == ("1 to 1000 times", "de 1 a 1000 veces")
    assert by_path["Subtotales"].how_often == ("at most once", "a lo sumo una vez")
    assert by_path["Encabezado.Emisor.TablaTelefonoEmisor.TelefonoEmisor"].how_often[0] == "1 to 3 times"
    assert by_path["DetallesItems.Item.NombreItem"].needed
    assert by_path["DetallesItems.Item.MontoItem"].required
    assert not by_path["DetallesItems.Item.MontoItem"].needed
    assert by_path["FechaHoraFirma"].filled is not None
    assert by_path["FechaHoraFirma"].filled.always
    # 0 is for XML only.
    assert by_path["DetallesItems.Item.IndicadorFacturacion"].codes == simple_type("billable-indicator").codes


@pytest.mark.parametrize("ecf_type", EcfType)
def test_payload_of_needed_elements_is_complete(ecf_type: EcfType) -> None:
    """A draft with nothing but what is needed in the groups that it has is complete once it is filled in."""
    document = draft(ecf_type, [withheld(ecf_type, line(indicator=None))], issued=RATED_DAY)
    sent = set(paths(document.content))
    needed = {
        one.path
        for one in every(described(Root.ECF, ecf_type))
        if one.needed and (one.path.rpartition(".")[0] in sent or "." not in one.path)
    }

    assert needed <= sent
