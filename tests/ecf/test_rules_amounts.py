"""Lines, global adjustments, totals, currencies, pages: each rule on a document that breaks it and little else."""

from functools import partial
from typing import Any

import pytest

from fe.ecf.catalogue import EcfType
from fe.ecf.rules import apply_rules, check
from fe.ecf.rules.rule import AMOUNT_RULES
from tests.ecf.breaking import (
    ADJUSTMENT,
    BEER,
    CREDIT,
    DISCOUNTED,
    DOLLARS,
    ID,
    ITEM,
    SURCHARGED,
    TAXES,
    TOTALS,
    Broken,
    adjusted,
    adjusting,
    assert_reported,
    at,
    by,
    codes_of,
    in_dollars,
    paged,
    sale,
    taxed,
    voided,
    with_tax,
)
from tests.ecf.receipts import NOW, changed, line, receipt

#: Ten packets of twenty cigarettes in each unit that is sold.
PACKETS = {
    "CantidadReferencia": "10",
    "UnidadReferencia": "43",
    "PrecioUnitarioReferencia": "300.00",
    "TablaSubcantidad": {"SubcantidadItem": [{"Subcantidad": "20", "CodigoSubcantidad": "43"}]},
}

CASES: list[Any] = [
    # The lines.
    at("line-number", f"{ITEM}.NumeroLinea", sale, "2"),
    at("line-number", f"{ADJUSTMENT}.NumeroLinea", partial(adjusted, {}), "2"),
    at("line-number", "DetalleAnulacion.Anulacion[1].NoLinea", voided, "2"),
    by("billing-indicator", f"{ITEM}.IndicadorFacturacion", partial(receipt, EcfType.MINOR_EXPENSES, [line()])),
    by(
        "billing-indicator",
        f"{ITEM}.IndicadorFacturacion",
        partial(receipt, EcfType.SPECIAL_REGIME, [line(indicator="3")]),
    ),
    by("billing-indicator", f"{ITEM}.IndicadorFacturacion", partial(receipt, EcfType.EXPORTS, [line(indicator="4")])),
    by("billing-indicator", f"{ITEM}.IndicadorFacturacion", partial(receipt, EcfType.PAYMENTS_ABROAD, [line()])),
    at("billing-indicator", f"{ITEM}.IndicadorFacturacion", partial(receipt, EcfType.PURCHASES), "0"),
    at("service-only", f"{ITEM}.IndicadorBienoServicio", partial(receipt, EcfType.PAYMENTS_ABROAD), "1"),
    at("line-amount", f"{ITEM}.MontoItem", sale, "98.99"),
    by("line-amount", f"{ITEM}.MontoItem", sale, {f"{ITEM}.CantidadItem": "2.00"}),
    at(
        "discount-sum",
        f"{ITEM}.DescuentoMonto",
        partial(receipt, CREDIT, [line(TablaSubDescuento=DISCOUNTED)]),
        "10.01",
    ),
    at("discount-sum", f"{ITEM}.DescuentoMonto", sale, "0.50"),
    by("discount-too-high", f"{ITEM}.DescuentoMonto", partial(receipt, CREDIT, [line(DescuentoMonto="100.01")])),
    by(
        "discount-too-high",
        f"{ADJUSTMENT}.MontoDescuentooRecargo",
        partial(receipt, CREDIT, DescuentosORecargos=adjusting(MontoDescuentooRecargo="100.01")),
    ),
    at("discount-sum", f"{ITEM}.DescuentoMonto", partial(receipt, CREDIT, [line(TablaSubDescuento=DISCOUNTED)]), None),
    at("surcharge-sum", f"{ITEM}.RecargoMonto", partial(receipt, CREDIT, [line(TablaSubRecargo=SURCHARGED)]), "4.99"),
    at(
        "sub-percentage",
        f"{ITEM}.TablaSubDescuento.SubDescuento[1].MontoSubDescuento",
        partial(receipt, CREDIT, [line(TablaSubDescuento=DISCOUNTED)]),
        "11.01",
    ),
    at("withholding-amount-missing", f"{ITEM}.Retencion", sale, {"IndicadorAgenteRetencionoPercepcion": "1"}),
    at(
        "withholding-amount-missing",
        f"{ITEM}.Retencion",
        sale,
        {"IndicadorAgenteRetencionoPercepcion": "1", "MontoISRRetenido": ""},
    ),
    at("withholding-vat-missing", f"{ITEM}.Retencion.MontoITBISRetenido", partial(receipt, EcfType.PURCHASES), None),
    by(
        "withholding-between-companies",
        f"{ITEM}.Retencion.MontoITBISRetenido",
        partial(
            receipt,
            CREDIT,
            [line(Retencion={"IndicadorAgenteRetencionoPercepcion": "1", "MontoITBISRetenido": "5.40"})],
            issued="16-09-2026",
        ),
    ),
    by(
        "perception",
        f"{ITEM}.Retencion.IndicadorAgenteRetencionoPercepcion",
        partial(
            receipt,
            CREDIT,
            [{**line(), "Retencion": {"IndicadorAgenteRetencionoPercepcion": "2", "MontoITBISRetenido": "5.00"}}],
        ),
    ),
    by(
        "tax-not-in-type",
        f"{ITEM}.TablaImpuestoAdicional.ImpuestoAdicional[1].TipoImpuesto",
        partial(receipt, EcfType.SPECIAL_REGIME, [{**taxed("006"), "IndicadorFacturacion": "4"}]),
    ),
    by(
        "tax-repeated",
        f"{ITEM}.TablaImpuestoAdicional.ImpuestoAdicional[2].TipoImpuesto",
        partial(with_tax, "001", "001"),
    ),
    *(
        by(
            "tax-data-missing",
            f"{ITEM}.{name}",
            partial(with_tax, "006", "023", more={k: v for k, v in BEER.items() if k != name}),
        )
        for name in BEER
        if name != "UnidadReferencia"
    ),
    by("tax-data-missing", f"{ITEM}.CantidadReferencia", partial(with_tax, "019")),
    by(
        "tax-data-missing",
        f"{ITEM}.PrecioUnitarioReferencia",
        partial(with_tax, "019", "036", more={"CantidadReferencia": "10", "UnidadReferencia": "43"}),
    ),
    by(
        "tax-pair",
        f"{ITEM}.TablaImpuestoAdicional.ImpuestoAdicional[1].TipoImpuesto",
        partial(with_tax, "023", more=BEER),
    ),
    at("reference-unit-missing", f"{ITEM}.UnidadReferencia", partial(with_tax, "006", more=BEER), None),
    at(
        "pack-size-missing",
        f"{ITEM}.TablaSubcantidad",
        partial(with_tax, "019", "036", more=PACKETS),
        None,
    ),
    # Global discounts and surcharges.
    by(
        "adjustment-indicator",
        f"{ADJUSTMENT}.IndicadorFacturacionDescuentooRecargo",
        partial(adjusted, {}, [line(), line(indicator="4")]),
    ),
    by(
        "adjustment-without-lines",
        f"{ADJUSTMENT}.IndicadorFacturacionDescuentooRecargo",
        partial(adjusted, {"IndicadorFacturacionDescuentooRecargo": "2", "TipoAjuste": "R"}),
    ),
    at("adjustment-amount-missing", f"{ADJUSTMENT}.MontoDescuentooRecargo", partial(adjusted, {}), None),
    by(
        "adjustment-percentage",
        f"{ADJUSTMENT}.MontoDescuentooRecargo",
        partial(adjusted, {"TipoValor": "%", "ValorDescuentooRecargo": "12.00"}),
    ),
    by("rule-1007", f"{ADJUSTMENT}.IndicadorNorma1007", partial(adjusted, {"IndicadorNorma1007": "1"})),
    at(
        "rule-1007",
        f"{ADJUSTMENT}.IndicadorNorma1007",
        partial(receipt, CREDIT, included=True, DescuentosORecargos=adjusting(TipoAjuste="R")),
        "1",
    ),
    # The totals.
    at(
        "total-not-prices",
        f"{TOTALS}.MontoTotal",
        partial(receipt, CREDIT, [line("3200.00")], included=True),
        "3199.99",
    ),
    at("amount-indicator-missing", f"{ID}.IndicadorMontoGravado", sale, None),
    at("amount-indicator-missing", f"{ID}.IndicadorMontoGravado", sale, ""),
    at("base-mismatch", f"{TOTALS}.MontoGravadoI1", sale, "98.99"),
    at("base-mismatch", f"{TOTALS}.MontoGravadoI1", sale, None),
    at("base-mismatch", f"{TOTALS}.MontoGravadoI2", sale, "2.00"),
    at("base-mismatch", f"{TOTALS}.MontoGravadoTotal", sale, "101.01"),
    at("base-mismatch", f"{TOTALS}.MontoExento", partial(receipt, CREDIT, [line(indicator="4")]), "0.00"),
    at("vat-mismatch", f"{TOTALS}.TotalITBIS1", sale, "16.00"),
    at("vat-mismatch", f"{TOTALS}.TotalITBIS", sale, None),
    at("vat-rate", f"{TOTALS}.ITBIS1", sale, "16"),
    at("vat-rate", f"{TOTALS}.ITBIS1", sale, None),
    at("tax-amount", f"{TAXES}[1].OtrosImpuestosAdicionales", partial(with_tax, "001"), "12.00"),
    at("tax-amount", f"{TAXES}[1].MontoImpuestoSelectivoConsumoEspecifico", partial(with_tax, "006", more=BEER), None),
    at("tax-amount", f"{TOTALS}.ImpuestosAdicionales", partial(with_tax, "001"), None),
    by(
        "tax-amount",
        f"{TAXES}[1].OtrosImpuestosAdicionales",
        partial(with_tax, "001"),
        {f"{TAXES}[1].TipoImpuesto": "002", f"{TAXES}[1].TasaImpuestoAdicional": "2"},
    ),
    at("tax-rate", f"{TAXES}[1].TasaImpuestoAdicional", partial(with_tax, "001"), "11"),
    at("tax-rate", f"{TAXES}[1].TasaImpuestoAdicional", partial(with_tax, "006", more=BEER), "633.85"),
    by(
        "tax-rate-assumed",
        f"{TAXES}[1].TasaImpuestoAdicional",
        partial(receipt, CREDIT, [taxed("006", **BEER)], issued="20-11-2026"),
    ),
    at("tax-total-mismatch", f"{TOTALS}.MontoImpuestoAdicional", partial(with_tax, "001"), "12.00"),
    at("total-mismatch", f"{TOTALS}.MontoTotal", sale, "119.01"),
    at("not-billable-mismatch", f"{TOTALS}.MontoNoFacturable", sale, "5.00"),
    at("period-total-mismatch", f"{TOTALS}.MontoPeriodo", sale, "100.00"),
    at("payable-mismatch", f"{TOTALS}.ValorPagar", sale, "100.00"),
    by(
        "payable-mismatch",
        f"{TOTALS}.ValorPagar",
        sale,
        {f"{TOTALS}.ValorPagar": "118.00", f"{TOTALS}.MontoAvancePago": "18.00"},
    ),
    at("withholding-mismatch", f"{TOTALS}.TotalISRRetencion", partial(receipt, EcfType.PAYMENTS_ABROAD), None),
    at("withholding-mismatch", f"{TOTALS}.TotalITBISRetenido", partial(receipt, EcfType.PURCHASES), "9.00"),
    # Another currency, pages.
    by(
        "currency-incomplete",
        "Encabezado.OtraMoneda.TipoCambio",
        sale,
        {"Encabezado.OtraMoneda": {"TipoMoneda": "USD"}},
    ),
    at("currency-incomplete", "Encabezado.OtraMoneda.TipoMoneda", in_dollars, None),
    at("currency-incomplete", "Encabezado.OtraMoneda.TipoCambio", in_dollars, ""),
    at("currency-header-missing", f"{ITEM}.OtraMonedaDetalle", sale, {"PrecioOtraMoneda": "2.00"}),
    at("currency-amount", "Encabezado.OtraMoneda.MontoTotalOtraMoneda", in_dollars, "9.00"),
    at("currency-amount", f"{ITEM}.OtraMonedaDetalle.MontoItemOtraMoneda", in_dollars, "9.00"),
    at(
        "currency-amount",
        "Encabezado.OtraMoneda.ImpuestosAdicionalesOtraMoneda.ImpuestoAdicionalOtraMoneda[1].OtrosImpuestosAdicionalesOtraMoneda",
        partial(receipt, CREDIT, [taxed("001")], OtraMoneda=DOLLARS),
        "9.00",
    ),
    at("page-count", f"{ID}.TotalPaginas", paged, "3"),
    at("page-lines", "Paginacion.Pagina[2].PaginaNo", paged, "3"),
    at("page-lines", "Paginacion.Pagina[2].NoLineaHasta", paged, "1"),
    by("page-total", "Paginacion", paged, {"Paginacion.Pagina[1].MontoSubtotalPagina": "100.00"}),
]


@pytest.mark.parametrize("case", CASES)
def test_a_broken_rule_is_reported_at_its_place(case: Broken) -> None:
    assert_reported(case)


def test_every_rule_of_the_table_has_a_document_that_breaks_it() -> None:
    # Assumptions are remarked on before they are filled in: test_assumed.py.
    assert codes_of(CASES) >= AMOUNT_RULES.keys() - {"exempt-assumed"}


@pytest.mark.parametrize(
    ("group", "said"),
    [("Retencion", {}), ("Retencion", {"MontoISRRetenido": ""}), ("OtraMonedaDetalle", {"PrecioOtraMoneda": ""})],
)
def test_empty_group_demands_nothing(group: str, said: dict[str, str]) -> None:
    document = receipt(EcfType.CREDIT_FISCAL, [line() | {group: said}])

    found = {one.code for one in check(document, now=NOW)}

    assert not found & {"withholding-amount-missing", "currency-header-missing"}


def test_withholding_of_a_person_or_before_the_rule_has_no_remark() -> None:
    held = line(Retencion={"IndicadorAgenteRetencionoPercepcion": "1", "MontoITBISRetenido": "5.40"})
    before = receipt(EcfType.CREDIT_FISCAL, [held], issued="15-09-2026")
    of_a_person = changed(
        receipt(EcfType.CREDIT_FISCAL, [held], issued="16-09-2026"), "Encabezado.Comprador.RNCComprador", "00113918205"
    )
    many = receipt(EcfType.CREDIT_FISCAL, [held] * 3, issued="16-09-2026")

    codes = [[one.code for one in apply_rules(each, now=NOW)] for each in (before, of_a_person, many)]

    assert codes == [[], [], ["withholding-between-companies"]]
