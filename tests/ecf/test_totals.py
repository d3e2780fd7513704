from decimal import Decimal
from typing import Any

import pytest

from fe.ecf.catalogue import EcfType, Root
from fe.ecf.document import Document, read_xml
from fe.ecf.parse import parse_xml
from fe.ecf.rules import check
from fe.ecf.schema.kinds import kind
from fe.ecf.taxes import RATES
from fe.ecf.totals import SHAPES, totals
from tests.ecf.receipts import NOW, USUAL_INDICATOR, changed, draft, fill, line, receipt, withheld
from tests.shared import needs_shared, shared

DISCOUNT_18 = {"TipoAjuste": "D", "TipoValor": "$", "IndicadorFacturacionDescuentooRecargo": "1"}


def written(amounts: Any) -> Any:
    """Amounts as text, to compare to the cent and to the zero."""
    if isinstance(amounts, dict):
        return {name: written(value) for name, value in amounts.items()}
    if isinstance(amounts, list):
        return [written(one) for one in amounts]
    return str(amounts)


def adjusting(*adjustments: dict[str, Any]) -> dict[str, Any]:
    return {"DescuentoORecargo": [{"NumeroLinea": place, **one} for place, one in enumerate(adjustments, 1)]}


def taxed_with(*codes: str) -> dict[str, Any]:
    return {"TablaImpuestoAdicional": {"ImpuestoAdicional": [{"TipoImpuesto": code} for code in codes]}}


BEER = line(
    "1615.00",
    "2.00",
    UnidadMedida="6",
    CantidadReferencia="24",
    UnidadReferencia="5",
    TablaSubcantidad={"SubcantidadItem": [{"Subcantidad": "0.355", "CodigoSubcantidad": "24"}]},
    GradosAlcohol="5.00",
    PrecioUnitarioReferencia="65.00",
    **taxed_with("006", "023"),
)


# --- the authority's own documents ----------------------------------------------------------------------------------


@needs_shared
@pytest.mark.parametrize(
    ("name", "exceptions"),
    [
        ("ecf31-itbis-included-global-discounts", {}),
        # The formula gives 4674.36; the test set prints a cent less, within the tolerance of one peso a line.
        ("ecf31-beer-selective-tax", {"MontoTotal": ("4674.36", "4674.35")}),
        ("ecf32-under-250k-full", {}),
        ("ecf34-text-correction-zero-total", {}),
        ("ecf41-withholding", {}),
    ],
)
def test_the_samples_totals_come_out_to_the_cent_with_the_same_elements(
    name: str, exceptions: dict[str, tuple[str, str]]
) -> None:
    sample = read_xml(parse_xml(shared(f"samples/{name}.xml").read_bytes()))
    printed = dict(sample.content["Encabezado"]["Totales"])

    computed = written(totals(changed(sample, "Encabezado.Totales", None)))

    for element, (ours, theirs) in exceptions.items():
        assert computed.pop(element) == ours
        assert printed.pop(element) == theirs
    assert computed == printed


def test_each_type_has_the_amounts_of_its_schema() -> None:
    for ecf_type, shape in SHAPES.items():
        fields = kind(Root.ECF, ecf_type).root.by_name["Encabezado"].by_name["Totales"].by_name
        adjustable = "DescuentosORecargos" in kind(Root.ECF, ecf_type).root.by_name

        assert {k for k in (1, 2, 3) if f"MontoGravadoI{k}" in fields} == set(shape.vat)
        assert ("MontoExento" in fields) is shape.exempt
        assert ("MontoNoFacturable" in fields) is shape.not_billable
        assert {name for name in fields if name.endswith(("Retenido", "Retencion", "Percepcion"))} == shape.withholdings
        assert adjustable is shape.adjustments
        rows = fields.get("ImpuestosAdicionales")
        elements = set(rows.by_name["ImpuestoAdicional"].by_name) if rows else set()
        assert {tax.element for tax in shape.additional} == elements - {"TipoImpuesto", "TasaImpuestoAdicional"}
        id_doc = kind(Root.ECF, ecf_type).root.by_name["Encabezado"].by_name["IdDoc"].by_name
        assert shape.says_whether_included is ("IndicadorMontoGravado" in id_doc)


# --- VAT ------------------------------------------------------------------------------------------------------------


def test_lines_without_vat_inside_are_the_base_themselves() -> None:
    document = draft(EcfType.CREDIT_FISCAL, [line("100.00"), line("50.00", "3.00"), line("10.00", indicator="2")])

    assert written(totals(document)) == {
        "MontoGravadoTotal": "260.00",
        "MontoGravadoI1": "250.00",
        "MontoGravadoI2": "10.00",
        "ITBIS1": "18",
        "ITBIS2": "16",
        "TotalITBIS": "46.60",
        "TotalITBIS1": "45.00",
        "TotalITBIS2": "1.60",
        "MontoTotal": "306.60",
    }


def test_zero_rated_and_exempt_lines_are_shown_apart() -> None:
    document = draft(EcfType.CREDIT_FISCAL, [line("100.00", indicator="3"), line("7.25", indicator="4")])

    assert written(totals(document)) == {
        "MontoGravadoTotal": "100.00",
        "MontoGravadoI3": "100.00",
        "ITBIS3": "0",
        "TotalITBIS": "0.00",
        "TotalITBIS3": "0.00",
        "MontoExento": "7.25",
        "MontoTotal": "107.25",
    }


def test_a_line_without_indicator_is_exempt() -> None:
    assert written(totals(draft(EcfType.CONSUMER, [line("9.00", indicator=None)]))) == {
        "MontoExento": "9.00",
        "MontoTotal": "9.00",
    }


def test_vat_inside_is_taken_out_of_the_sum_and_not_of_each_line() -> None:
    # 3 x 0.10 / 1.18 = 0.2542 -> 0.25; taken out line by line it would be 3 x 0.08 = 0.24.
    document = draft(EcfType.CONSUMER, [line("0.10")] * 3, included=True)

    assert totals(document)["MontoGravadoI1"] == Decimal("0.25")


def test_half_a_cent_is_rounded_up() -> None:
    assert totals(draft(EcfType.CONSUMER, [line("0.25")]))["TotalITBIS1"] == Decimal("0.05")  # 0.045


def test_a_line_without_amount_counts_with_price_times_quantity_less_discounts() -> None:
    lines = [
        line("10.00", "3.00", DescuentoMonto="5.00"),
        line(
            "10.00",
            "3.00",
            TablaSubDescuento={"SubDescuento": [{"TipoSubDescuento": "%", "SubDescuentoPorcentaje": "10"}]},
            TablaSubRecargo={"SubRecargo": [{"TipoSubRecargo": "$", "MontoSubRecargo": "1.50"}]},
        ),
        line("10.00", "3.00", MontoItem="29.00"),
    ]

    assert totals(draft(EcfType.CONSUMER, lines))["MontoGravadoI1"] == Decimal("25.00") + Decimal("28.50") + 29


# --- global adjustments ---------------------------------------------------------------------------------------------


def test_a_global_discount_is_taken_off_after_vat_is_taken_out() -> None:
    document = draft(
        EcfType.CREDIT_FISCAL,
        [line("14825.00"), line("3752.00", indicator="2")],
        included=True,
        DescuentosORecargos=adjusting(
            {**DISCOUNT_18, "MontoDescuentooRecargo": "200.00"},
            {
                "TipoAjuste": "D",
                "TipoValor": "$",
                "MontoDescuentooRecargo": "50.00",
                "IndicadorFacturacionDescuentooRecargo": "2",
            },
        ),
    )

    made = totals(document)

    assert (made["MontoGravadoI1"], made["MontoGravadoI2"]) == (Decimal("12363.56"), Decimal("3184.48"))
    assert (made["TotalITBIS1"], made["TotalITBIS2"]) == (Decimal("2225.44"), Decimal("509.52"))
    assert made["MontoTotal"] == Decimal("18283.00")


def test_a_surcharge_adds_to_the_base_of_its_rate() -> None:
    document = draft(
        EcfType.CREDIT_FISCAL,
        [line("100.00"), line("50.00", indicator="4")],
        DescuentosORecargos=adjusting(
            {**DISCOUNT_18, "TipoAjuste": "R", "MontoDescuentooRecargo": "10.00"},
            {
                "TipoAjuste": "R",
                "TipoValor": "$",
                "MontoDescuentooRecargo": "5.00",
                "IndicadorFacturacionDescuentooRecargo": "4",
            },
        ),
    )

    made = totals(document)

    assert made["MontoGravadoI1"] == Decimal("110.00")
    assert made["MontoExento"] == Decimal("55.00")
    assert made["MontoTotal"] == Decimal("184.80")


@pytest.mark.parametrize(("included", "discount"), [(False, "11.80"), (True, "10.00")])
def test_a_percentage_is_of_the_lines_sum_without_vat(included: bool, discount: str) -> None:
    document = draft(
        EcfType.CREDIT_FISCAL,
        [line("118.00")],
        included=included,
        DescuentosORecargos=adjusting({**DISCOUNT_18, "TipoValor": "%", "ValorDescuentooRecargo": "10.00"}),
    )
    net = Decimal("100.00") if included else Decimal("118.00")

    assert totals(document)["MontoGravadoI1"] == net - Decimal(discount)


def test_an_adjustment_that_names_no_rate_touches_the_only_one_there_is() -> None:
    unnamed = {"TipoAjuste": "D", "TipoValor": "$", "MontoDescuentooRecargo": "10.00"}
    alone = draft(EcfType.CREDIT_FISCAL, [line("100.00")], DescuentosORecargos=adjusting(unnamed))
    mixed = draft(
        EcfType.CREDIT_FISCAL, [line("100.00"), line("1.00", indicator="4")], DescuentosORecargos=adjusting(unnamed)
    )

    assert totals(alone)["MontoGravadoI1"] == Decimal("90.00")
    assert totals(mixed)["MontoTotal"] == Decimal("119.00")


def test_an_adjustment_of_a_rate_no_line_has_is_not_lost() -> None:
    document = draft(
        EcfType.CREDIT_FISCAL,
        [line("100.00", indicator="4")],
        DescuentosORecargos=adjusting({**DISCOUNT_18, "TipoAjuste": "R", "MontoDescuentooRecargo": "10.00"}),
    )

    assert totals(document)["MontoTotal"] == Decimal("111.80")


# --- additional taxes -----------------------------------------------------------------------------------------------


def test_beer_pays_a_specific_and_an_ad_valorem_tax_and_vat_on_both() -> None:
    made = written(totals(draft(EcfType.CREDIT_FISCAL, [BEER], issued="01-04-2020")))

    assert made["ImpuestosAdicionales"]["ImpuestoAdicional"] == [
        {
            "TipoImpuesto": "006",
            "TasaImpuestoAdicional": "633.85",
            "MontoImpuestoSelectivoConsumoEspecifico": "540.04",
        },
        {
            "TipoImpuesto": "023",
            "TasaImpuestoAdicional": "10",
            "MontoImpuestoSelectivoConsumoAdvalorem": "191.28",
        },
    ]
    assert (made["MontoImpuestoAdicional"], made["TotalITBIS1"]) == ("731.32", "713.04")


def test_the_rate_of_alcohol_is_that_of_the_day_of_issue() -> None:
    def rate(issued: str) -> Any:
        made = totals(draft(EcfType.CREDIT_FISCAL, [BEER], issued=issued))
        return made["ImpuestosAdicionales"]["ImpuestoAdicional"][0]["TasaImpuestoAdicional"]

    assert rate("01-04-2020") == Decimal("633.85")
    assert rate("15-10-2025") == Decimal("745.60")


def test_rates_can_be_given() -> None:
    made = totals(
        draft(EcfType.CREDIT_FISCAL, [BEER], issued="01-04-2020"), rates=RATES.stating({"006": Decimal("1000.00")})
    )

    specific = made["ImpuestosAdicionales"]["ImpuestoAdicional"][0]["MontoImpuestoSelectivoConsumoEspecifico"]
    assert specific == Decimal("852.00")  # 1000 x 5% x 24 x 0.355 x 2


@pytest.mark.parametrize("unit", ["18", "018", 18], ids=repr)  # the same unit to the schema
def test_alcohol_in_bulk_pays_no_specific_tax_and_another_ad_valorem(unit: object) -> None:
    bulk = {**BEER, "UnidadMedida": unit}

    made = written(totals(draft(EcfType.CREDIT_FISCAL, [bulk], issued="01-04-2020")))

    assert made["ImpuestosAdicionales"]["ImpuestoAdicional"] == [
        {
            "TipoImpuesto": "023",
            "TasaImpuestoAdicional": "10",
            "MontoImpuestoSelectivoConsumoAdvalorem": "419.90",  # 1615.00 x 1.30 x 2 x 10%
        }
    ]


def test_cigarettes_pay_by_the_packet_and_on_the_retail_price() -> None:
    cigarettes = line(
        "2000.00",
        "3.00",
        CantidadReferencia="10",
        UnidadReferencia="43",
        PrecioUnitarioReferencia="300.00",
        **taxed_with("019", "036"),
    )

    made = written(totals(draft(EcfType.CREDIT_FISCAL, [cigarettes], issued="15-10-2025")))

    rows = made["ImpuestosAdicionales"]["ImpuestoAdicional"]
    assert rows[0]["MontoImpuestoSelectivoConsumoEspecifico"] == "1892.10"  # 63.07 x 10 x 3
    # (300/1.18 - 63.07) / 1.20 x 30 x 20% = 955.836...
    assert rows[1]["MontoImpuestoSelectivoConsumoAdvalorem"] == "955.84"
    assert made["TotalITBIS1"] == "1592.63"  # (6000 + 1892.10 + 955.84) x 18%


def test_goods_whose_retail_price_is_below_the_specific_tax_pay_no_ad_valorem() -> None:
    cheap = {**BEER, "PrecioUnitarioReferencia": "1.00"}

    rows = totals(draft(EcfType.CREDIT_FISCAL, [cheap]))["ImpuestosAdicionales"]["ImpuestoAdicional"]

    assert [row["TipoImpuesto"] for row in rows] == ["006"]


def test_excise_on_exempt_lines_bears_no_vat() -> None:
    lines = [{**BEER, "IndicadorFacturacion": "4"}, line("100.00")]

    made = totals(draft(EcfType.CREDIT_FISCAL, lines, issued="01-04-2020"))

    assert made["TotalITBIS1"] == Decimal("18.00")
    assert made["MontoTotal"] == Decimal("100.00") + 18 + 3230 + Decimal("731.32")


@pytest.mark.parametrize(
    ("code", "included", "indicator", "amount"),
    [
        ("001", False, "1", "11.80"),
        ("002", False, "1", "2.36"),
        ("003", False, "1", "18.88"),
        ("004", False, "1", "11.80"),
        ("005", False, "1", "20.06"),
        ("001", True, "1", "10.00"),
        ("004", True, "1", "10.00"),
        ("005", True, "1", "20.06"),
        ("001", True, "4", "11.80"),
    ],
)
def test_other_taxes_are_of_the_amount_without_vat_and_outside_its_base(
    code: str, included: bool, indicator: str, amount: str
) -> None:
    document = draft(
        EcfType.CREDIT_FISCAL, [line("118.00", indicator=indicator, **taxed_with(code))], included=included
    )

    made = totals(document)

    assert made["ImpuestosAdicionales"]["ImpuestoAdicional"][0]["OtrosImpuestosAdicionales"] == Decimal(amount)
    if indicator == "1":
        assert made["TotalITBIS1"] == (Decimal("18.00") if included else Decimal("21.24"))


@pytest.mark.parametrize(
    ("code", "kind_of_change", "amount"),
    [
        ("001", "D", "7.50"),  # (100 - 100/400 x 100) x 10%
        ("001", "R", "12.50"),
        ("003", "D", "12.00"),
        ("003", "R", "16.00"),
        ("005", "D", "17.00"),
        ("005", "R", "17.00"),
    ],
)
def test_a_global_adjustment_is_spread_over_the_lines_before_other_taxes(
    code: str, kind_of_change: str, amount: str
) -> None:
    document = draft(
        EcfType.CREDIT_FISCAL,
        [line("100.00", **taxed_with(code)), line("300.00")],
        DescuentosORecargos=adjusting(
            {**DISCOUNT_18, "TipoAjuste": kind_of_change, "MontoDescuentooRecargo": "100.00"}
        ),
    )

    rows = totals(document)["ImpuestosAdicionales"]["ImpuestoAdicional"]

    assert rows[0]["OtrosImpuestosAdicionales"] == Decimal(amount)


def test_lines_that_make_up_for_each_other_have_no_share_in_a_global_adjustment() -> None:
    """Amounts below zero are refused by the schema, which is asked once the totals are there."""
    document = draft(
        EcfType.CREDIT_FISCAL,
        [line(MontoItem="100.00", **taxed_with("001")), line(MontoItem="-100.00")],
        DescuentosORecargos=adjusting({**DISCOUNT_18, "MontoDescuentooRecargo": "10.00"}),
    )

    assert totals(document)["MontoImpuestoAdicional"] == Decimal("10.00")
    assert ("pattern", "DetallesItems.Item[2].MontoItem") in [
        (problem.code, problem.path) for problem in check(fill(document), now=NOW)
    ]


def test_special_regime_receipts_carry_only_the_other_taxes() -> None:
    lines = [{**BEER, "IndicadorFacturacion": "4", **taxed_with("001", "006")}]
    document = Document(Root.ECF, EcfType.SPECIAL_REGIME, draft(EcfType.CREDIT_FISCAL, lines).content)

    rows = totals(document)["ImpuestosAdicionales"]["ImpuestoAdicional"]

    assert [row["TipoImpuesto"] for row in rows] == ["001"]


def test_rule_1007_takes_three_taxes_out_of_the_price_and_the_discount_off_the_payable_amount() -> None:
    document = draft(
        EcfType.CREDIT_FISCAL,
        [line("1300.00", **taxed_with("002", "004"))],
        included=True,
        DescuentosORecargos=adjusting({**DISCOUNT_18, "IndicadorNorma1007": "1", "MontoDescuentooRecargo": "100.00"}),
    )

    made = written(totals(document))

    assert made["MontoGravadoI1"] == "1000.00"
    assert made["TotalITBIS1"] == "180.00"
    assert made["MontoImpuestoAdicional"] == "120.00"
    assert made["MontoTotal"] == "1300.00"
    assert made["ValorPagar"] == "1200.00"


# --- what is not billed, what is withheld, what is due --------------------------------------------------------------


def test_not_billable_lines_stay_outside_the_total_and_make_the_period() -> None:
    document = changed(
        draft(EcfType.CREDIT_FISCAL, [line("100.00"), line("40.00")]), "DetallesItems.Item[2].IndicadorFacturacion", "0"
    )

    made = totals(document)

    assert (made["MontoTotal"], made["MontoNoFacturable"], made["MontoPeriodo"]) == (118, 40, 158)


def test_withholdings_are_summed_without_reducing_total_or_payable_amount() -> None:
    lines = [
        withheld(EcfType.PURCHASES, line("100.00"), vat="18.00", income="10.00"),
        withheld(EcfType.PURCHASES, line("100.00"), vat="18.00", income="2.50"),
    ]

    made = totals(draft(EcfType.PURCHASES, lines))

    assert (made["TotalITBISRetenido"], made["TotalISRRetencion"]) == (Decimal("36.00"), Decimal("12.50"))
    assert made["MontoTotal"] == made["ValorPagar"] == Decimal("236.00")


def test_payments_abroad_withhold_income_tax_only() -> None:
    made = written(totals(draft(EcfType.PAYMENTS_ABROAD, [line("1000.00", indicator="4")])))

    assert made == {
        "MontoExento": "1000.00",
        "MontoTotal": "1000.00",
        "ValorPagar": "1000.00",
        "TotalISRRetencion": "10.00",
    }


def test_payable_amount_includes_balance_and_advance() -> None:
    document = draft(
        EcfType.CREDIT_FISCAL, [line("100.00")], Totales={"SaldoAnterior": "-20.00", "MontoAvancePago": "30.00"}
    )

    assert totals(document)["ValorPagar"] == Decimal("68.00")


@pytest.mark.parametrize("ecf_type", EcfType)
def test_every_type_has_only_elements_of_its_own(ecf_type: EcfType) -> None:
    fields = kind(Root.ECF, ecf_type).root.by_name["Encabezado"].by_name["Totales"].by_name

    made = totals(receipt(ecf_type, [line("10.00", indicator=USUAL_INDICATOR[ecf_type])]))

    assert set(made) <= set(fields)
    assert made["MontoTotal"] == (Decimal("11.80") if USUAL_INDICATOR[ecf_type] == "1" else Decimal("10.00"))


def test_only_an_ecf_has_totals() -> None:
    with pytest.raises(ValueError, match="only an e-CF"):
        totals(Document(Root.ACECF, None, {}))


def test_numbers_of_json_count_like_text() -> None:
    as_text = draft(EcfType.CREDIT_FISCAL, [line("100.10", "2.00")])
    as_numbers = draft(
        EcfType.CREDIT_FISCAL,
        [{**line(), "PrecioUnitarioItem": Decimal("100.1"), "CantidadItem": 2, "IndicadorFacturacion": 1}],
    )

    assert totals(as_text) == totals(as_numbers)


def test_hostile_values_are_passed_over() -> None:
    content: dict[str, Any] = {
        "Encabezado": {"Emisor": "x", "Totales": ["y"], "IdDoc": {"IndicadorMontoGravado": {}}},
        "DetallesItems": {
            "Item": [
                {"IndicadorFacturacion": {}, "MontoItem": "1e999999"},
                {"IndicadorFacturacion": "0", "PrecioUnitarioItem": "9" * 24, "CantidadItem": "9" * 24},
                {"IndicadorFacturacion": "7", "Retencion": "no", "TablaImpuestoAdicional": {"ImpuestoAdicional": "x"}},
                "not an item",
                {"TablaImpuestoAdicional": {"ImpuestoAdicional": [{"TipoImpuesto": "999"}, {"TipoImpuesto": 6}, 3]}},
            ]
        },
        "DescuentosORecargos": {"DescuentoORecargo": [{}, 1, {"TipoValor": "%", "ValorDescuentooRecargo": "x"}]},
    }

    made = totals(Document(Root.ECF, EcfType.CREDIT_FISCAL, content))

    assert made["MontoTotal"] == Decimal("0.00")
