from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings

from fe.ecf.autofill import autofill
from fe.ecf.catalogue import EcfType, Root
from fe.ecf.document import Document, read_payload, read_xml
from fe.ecf.parse import parse_xml
from fe.ecf.rules import check
from fe.ecf.taxes import RATES, Period
from tests.ecf.drafts import any_draft
from tests.ecf.receipts import BUYER, EXPIRY, ISSUER, NOW, RATED_DAY, changed, draft, fill, line, payload, receipt
from tests.shared import needs_shared, shared


def test_a_draft_becomes_a_complete_document() -> None:
    content = fill(read_payload(_example())).content

    assert content["Encabezado"]["Version"] == "1.0"
    assert content["Encabezado"]["IdDoc"] == {
        "eNCF": "E310000000001",
        "TipoIngresos": "01",
        "TipoPago": "1",
        "TipoeCF": "31",
        "FechaVencimientoSecuencia": "31-12-2028",
        "IndicadorMontoGravado": "0",
    }
    assert content["Encabezado"]["Emisor"] == {**ISSUER, "FechaEmision": "20-11-2026"}
    assert content["Encabezado"]["Totales"]["MontoTotal"] == Decimal("236.00")
    first = content["DetallesItems"]["Item"][0]
    assert (first["NumeroLinea"], first["MontoItem"]) == ("1", Decimal("200.00"))
    assert content["FechaHoraFirma"] == "20-11-2026 10:00:00"


def _example() -> dict[str, Any]:
    return {
        "Encabezado": {
            "IdDoc": {"eNCF": "E310000000001", "TipoIngresos": "01", "TipoPago": "1"},
            "Comprador": BUYER,
        },
        "DetallesItems": {"Item": [line("100.00", "2.00")]},
    }


def test_autofill_does_not_change_its_input() -> None:
    given = _example()
    document = read_payload(given)

    fill(document)

    assert document.content == given


@given(any_draft)
@settings(max_examples=75, deadline=None)
def test_filling_a_filled_document_changes_nothing(document: Document) -> None:
    filled = fill(document)

    assert fill(filled) == filled


@given(any_draft)
@settings(max_examples=75, deadline=None)
def test_autofill_keeps_every_sent_value(document: Document) -> None:
    _assert_within(document.content, fill(document).content, "")


def _assert_within(sent: Any, filled: Any, path: str) -> None:
    if isinstance(sent, dict):
        for name, value in sent.items():
            _assert_within(value, filled[name], f"{path}.{name}")
    elif isinstance(sent, list):
        assert len(sent) == len(filled), path
        for place, value in enumerate(sent):
            _assert_within(value, filled[place], f"{path}[{place}]")
    else:
        assert filled is sent or filled == sent, path


@needs_shared
@pytest.mark.parametrize("sample", ["ecf31-beer-selective-tax", "ecf31-itbis-included-global-discounts"])
def test_a_complete_document_keeps_every_value_but_the_time_of_signing(sample: str) -> None:
    document = read_xml(parse_xml(shared(f"samples/{sample}.xml").read_bytes()))

    filled = fill(document)

    assert filled.content == {**document.content, "FechaHoraFirma": "20-11-2026 10:00:00"}


def test_wrong_totals_that_were_sent_stay_as_they_are() -> None:
    sent = {"MontoTotal": "1.00"}

    made = receipt(EcfType.CREDIT_FISCAL, Totales=sent).content["Encabezado"]["Totales"]
    several = receipt(EcfType.CREDIT_FISCAL, Totales=sent | {"TotalITBIS": "2.00"}).content["Encabezado"]["Totales"]

    assert made["MontoTotal"] == "1.00"
    assert made["TotalITBIS"] == Decimal("18.00")  # a total alone says nothing of the rest
    assert several == sent | {"TotalITBIS": "2.00"}


def test_partial_totals_are_completed_around_the_sent_values() -> None:
    totals = receipt(EcfType.CREDIT_FISCAL, Totales={"SaldoAnterior": "5.00", "MontoExento": ""}).content["Encabezado"][
        "Totales"
    ]

    assert totals["SaldoAnterior"] == "5.00"
    assert totals["ValorPagar"] == Decimal("123.00")
    assert "MontoExento" not in totals


@pytest.mark.parametrize("ecf_type", EcfType)
def test_the_expiry_is_written_only_where_the_type_has_it(ecf_type: EcfType) -> None:
    id_doc = receipt(ecf_type).content["Encabezado"]["IdDoc"]

    if ecf_type in (EcfType.CONSUMER, EcfType.CREDIT_NOTE):
        assert "FechaVencimientoSecuencia" not in id_doc
    else:
        assert id_doc["FechaVencimientoSecuencia"] == "31-12-2028"


def test_expiry_stays_absent_when_unknown() -> None:
    document = autofill(draft(EcfType.CREDIT_FISCAL, [line()]), issuer=ISSUER, expiry=None, now=NOW)

    assert "FechaVencimientoSecuencia" not in document.content["Encabezado"]["IdDoc"]


@pytest.mark.parametrize(
    ("ecf_type", "indicator", "written"),
    [
        (EcfType.CREDIT_FISCAL, "1", "0"),
        (EcfType.CREDIT_FISCAL, "2", "0"),
        (EcfType.CREDIT_FISCAL, "3", "0"),
        (EcfType.CREDIT_FISCAL, "4", None),
        (EcfType.EXPORTS, "3", None),
        (EcfType.MINOR_EXPENSES, "4", None),
    ],
)
def test_amount_indicator_is_filled_in_only_for_taxed_lines(
    ecf_type: EcfType, indicator: str, written: str | None
) -> None:
    id_doc = receipt(ecf_type, [line(indicator=indicator)]).content["Encabezado"]["IdDoc"]

    assert id_doc.get("IndicadorMontoGravado") == written


def test_an_issuer_that_was_sent_gets_nothing_of_the_tenants_but_a_missing_day() -> None:
    document = changed(
        draft(EcfType.CREDIT_FISCAL, [line()]),
        "Encabezado.Emisor",
        {"RNCEmisor": "131880681", "RazonSocialEmisor": "OTRA", "DireccionEmisor": "AQUI"},
    )

    assert fill(document).content["Encabezado"]["Emisor"] == {
        "RNCEmisor": "131880681",
        "RazonSocialEmisor": "OTRA",
        "DireccionEmisor": "AQUI",
        "FechaEmision": "20-11-2026",
    }


def test_a_day_of_issue_alone_is_completed_with_the_tenants_data() -> None:
    issuer = receipt(EcfType.CREDIT_FISCAL, issued="01-04-2020").content["Encabezado"]["Emisor"]

    assert issuer == {**ISSUER, "FechaEmision": "01-04-2020"}


@pytest.mark.parametrize("ecf_type", [EcfType.PURCHASES, EcfType.MINOR_EXPENSES, EcfType.PAYMENTS_ABROAD])
def test_fiscal_data_a_type_has_no_place_for_is_left_out(ecf_type: EcfType) -> None:
    assert "ZonaVenta" not in receipt(ecf_type).content["Encabezado"]["Emisor"]


def test_today_is_the_day_in_santo_domingo() -> None:
    night = datetime(2026, 11, 21, 3, 30, tzinfo=UTC)

    document = autofill(read_payload(_example()), issuer=ISSUER, expiry=EXPIRY, now=night)

    assert document.content["Encabezado"]["Emisor"]["FechaEmision"] == "20-11-2026"
    assert document.content["FechaHoraFirma"] == "20-11-2026 23:30:00"


def test_a_moment_without_zone_is_refused() -> None:
    with pytest.raises(ValueError, match="time zone"):
        autofill(read_payload(_example()), issuer=ISSUER, expiry=EXPIRY, now=datetime(2026, 11, 20))


def test_the_time_of_signing_is_always_ours_and_last() -> None:
    content = receipt(EcfType.CREDIT_FISCAL, FechaHoraFirma="01-01-2000 00:00:00", DescuentosORecargos=None).content

    assert content["FechaHoraFirma"] == "20-11-2026 10:00:00"
    assert list(content)[-1] == "FechaHoraFirma"


def test_lines_get_their_number_their_indicator_and_their_amounts() -> None:
    lines = [
        line("10.00", "3.00", indicator=None, MontoItem="29.50"),
        line("10.00", "3.00", DescuentoMonto="2.00"),
        line(
            "10.00",
            "3.00",
            TablaSubDescuento={"SubDescuento": [{"TipoSubDescuento": "%", "SubDescuentoPorcentaje": "10"}]},
            RecargoMonto="0.00",
        ),
    ]

    first, second, third = receipt(EcfType.CREDIT_FISCAL, lines).content["DetallesItems"]["Item"]

    assert (first["NumeroLinea"], first["IndicadorFacturacion"], first["MontoItem"]) == ("1", "4", "29.50")
    assert second["TablaSubDescuento"]["SubDescuento"] == [
        {"TipoSubDescuento": "$", "MontoSubDescuento": Decimal("2.00")}
    ]
    assert second["MontoItem"] == Decimal("28.00")
    assert third["TablaSubDescuento"]["SubDescuento"][0]["MontoSubDescuento"] == Decimal("3.00")
    assert (third["DescuentoMonto"], third["MontoItem"]) == (Decimal("3.00"), Decimal("27.00"))
    assert "TablaSubRecargo" not in third


def test_percentages_of_the_whole_get_their_amount_and_their_rate() -> None:
    filled = receipt(
        EcfType.CREDIT_FISCAL,
        DescuentosORecargos={
            "DescuentoORecargo": [{"TipoAjuste": "D", "TipoValor": "%", "ValorDescuentooRecargo": "10"}]
        },
    )

    assert filled.content["DescuentosORecargos"]["DescuentoORecargo"] == [
        {
            "TipoAjuste": "D",
            "TipoValor": "%",
            "ValorDescuentooRecargo": "10",
            "NumeroLinea": "1",
            "IndicadorFacturacionDescuentooRecargo": "1",
            "MontoDescuentooRecargo": Decimal("10.00"),
        }
    ]
    assert check(filled, now=NOW) == []


def test_another_currency_is_the_amount_in_pesos_divided_by_the_rate() -> None:
    lines = [line("59.00", "2.00", OtraMonedaDetalle={"PrecioOtraMoneda": "1.0000"})]

    filled = receipt(EcfType.CREDIT_FISCAL, lines, OtraMoneda={"TipoMoneda": "USD", "TipoCambio": "59.0000"})

    assert filled.content["Encabezado"]["OtraMoneda"] == {
        "TipoMoneda": "USD",
        "TipoCambio": "59.0000",
        "MontoGravadoTotalOtraMoneda": Decimal("2.00"),
        "MontoGravado1OtraMoneda": Decimal("2.00"),
        "TotalITBISOtraMoneda": Decimal("0.36"),
        "TotalITBIS1OtraMoneda": Decimal("0.36"),
        "MontoTotalOtraMoneda": Decimal("2.36"),
    }
    assert filled.content["DetallesItems"]["Item"][0]["OtraMonedaDetalle"]["MontoItemOtraMoneda"] == Decimal("2.00")


def test_amounts_in_another_currency_that_were_sent_stay() -> None:
    sent = {"TipoMoneda": "USD", "TipoCambio": "59.0000", "MontoTotalOtraMoneda": "1.00"}

    assert receipt(EcfType.CREDIT_FISCAL, OtraMoneda=sent).content["Encabezado"]["OtraMoneda"] == sent


def test_rates_of_additional_taxes_can_be_given() -> None:
    beer = line(
        "100.00",
        CantidadReferencia="1.00",
        UnidadReferencia="5",
        TablaSubcantidad={"SubcantidadItem": [{"Subcantidad": "1.000", "CodigoSubcantidad": "24"}]},
        GradosAlcohol="10.00",
        TablaImpuestoAdicional={"ImpuestoAdicional": [{"TipoImpuesto": "006"}]},
    )

    filled = autofill(
        draft(EcfType.CREDIT_FISCAL, [beer]),
        issuer=ISSUER,
        expiry=EXPIRY,
        now=NOW,
        rates=RATES.stating({"006": Decimal("100.00")}),
    )

    assert filled.content["Encabezado"]["Totales"]["MontoImpuestoAdicional"] == Decimal("10.00")


def test_a_summary_gets_version_type_and_issuer() -> None:
    summary = read_payload(
        {
            "RFCE": {
                "Encabezado": {
                    "IdDoc": {"eNCF": "E320000000001", "TipoIngresos": "01", "TipoPago": "1"},
                    "Totales": {"MontoTotal": "100.00"},
                    "CodigoSeguridadeCF": "abcdef",
                }
            }
        }
    )

    header = fill(summary).content["Encabezado"]

    assert (header["Version"], header["IdDoc"]["TipoeCF"]) == ("1.0", "32")
    assert header["Emisor"] == {
        "RNCEmisor": "131880738",
        "RazonSocialEmisor": "DOCUMENTOS ELECTRONICOS DE 02",
        "FechaEmision": "20-11-2026",
    }
    assert "FechaHoraFirma" not in fill(summary).content


@pytest.mark.parametrize(
    ("root", "place", "stamp"),
    [
        (Root.ACECF, "DetalleAprobacionComercial", "FechaHoraAprobacionComercial"),
        (Root.ANECF, "Encabezado", "FechaHoraAnulacioneNCF"),
        (Root.ARECF, "DetalleAcusedeRecibo", "FechaHoraAcuseRecibo"),
    ],
)
def test_ancillary_documents_get_version_and_their_moment_unless_they_say_them(
    root: Root, place: str, stamp: str
) -> None:
    bare = fill(Document(root, None, {place: {}}))
    stated = fill(Document(root, None, {place: {stamp: "01-01-2026 00:00:00", "Version": "1.0"}}))

    assert bare.content[place] == {"Version": "1.0", stamp: "20-11-2026 10:00:00"}
    assert stated.content[place][stamp] == "01-01-2026 00:00:00"


def test_iso_dates_decide_the_rates_like_the_authoritys_form() -> None:
    iso = payload(EcfType.CREDIT_FISCAL, [line()], issued=date(2025, 10, 15).isoformat())

    assert check(fill(read_payload(iso)), now=NOW) == []


# --- additional taxes whose rate the document states ------------------------------------------------------------------

#: No rate of alcohol is known here for this day.
UNRATED_DAY = "15-03-2026"
BEER: dict[str, Any] = {
    "TablaImpuestoAdicional": {"ImpuestoAdicional": [{"TipoImpuesto": "006"}, {"TipoImpuesto": "023"}]},
    "UnidadMedida": "6",
    "CantidadReferencia": "24.00",
    "UnidadReferencia": "5",
    "PrecioUnitarioReferencia": "65.00",
    "GradosAlcohol": "5.00",
    "TablaSubcantidad": {"SubcantidadItem": [{"Subcantidad": "0.355", "CodigoSubcantidad": "24"}]},
}


def beer(*taxes: dict[str, str], issued: str = UNRATED_DAY) -> Document:
    stated = {"Totales": {"ImpuestosAdicionales": {"ImpuestoAdicional": list(taxes)}}} if taxes else {}
    return draft(EcfType.CREDIT_FISCAL, [line("1615.00", "2.00", **BEER)], issued=issued, **stated)


def test_amounts_filled_in_from_a_stated_rate_pass_the_check() -> None:
    """The specific tax at 633.85 a litre: 633.85 x 5% x 24 x 0.355 x 2 = 540.04 (authority.md#arithmetic)."""
    filled = fill(
        beer(
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
        )
    )

    assert filled.get("Encabezado.Totales.MontoImpuestoAdicional") == Decimal("731.32")
    assert [(one.code, one.severity) for one in check(filled, now=NOW)] == [("tax-rate-assumed", "conditional")]


def test_a_row_that_states_the_rate_alone_gets_its_amount() -> None:
    stated = ({"TipoImpuesto": "006", "TasaImpuestoAdicional": "633.85"}, {"TipoImpuesto": "023"})

    filled = fill(beer(*stated))

    rows = filled.get("Encabezado.Totales.ImpuestosAdicionales.ImpuestoAdicional")
    assert [row.get("MontoImpuestoSelectivoConsumoEspecifico") for row in rows] == [Decimal("540.04"), None]
    assert [row.get("MontoImpuestoSelectivoConsumoAdvalorem") for row in rows] == [None, Decimal("191.28")]
    assert rows[0]["TasaImpuestoAdicional"] == "633.85"
    assert [one.code for one in check(filled, now=NOW)] == ["tax-rate-assumed"]


def test_a_stated_rate_does_not_stand_against_one_that_is_known() -> None:
    filled = fill(
        beer({"TipoImpuesto": "006", "TasaImpuestoAdicional": "633.85"}, {"TipoImpuesto": "023"}, issued=RATED_DAY)
    )

    assert {one.code for one in check(filled, now=NOW)} == {"tax-rate"}


def test_rates_that_an_operator_set_are_known_like_any_other() -> None:
    rates = RATES.knowing({"006": (Period(Decimal("633.85"), date(2026, 1, 1), date(2026, 3, 31)),)})

    filled = autofill(beer(), issuer=ISSUER, expiry=EXPIRY, now=NOW, rates=rates)

    assert filled.get("Encabezado.Totales.MontoImpuestoAdicional") == Decimal("731.32")
    assert check(filled, now=NOW, rates=rates) == []


@pytest.mark.parametrize(
    ("forms", "amounts"),
    [([{}], ["118.00"]), ([{"MontoPago": "100"}], ["100"]), ([{}, {"MontoPago": "18"}], [None, "18"])],
)
def test_single_form_of_payment_without_amount_gets_what_is_due(
    forms: list[dict[str, str]], amounts: list[str | None]
) -> None:
    written = draft(EcfType.CONSUMER, [line("100.00")])
    table = {"FormaDePago": [{"FormaPago": "3"} | form for form in forms]}
    paid = fill(changed(written, "Encabezado.IdDoc.TablaFormasPago", table))

    rows = paid.get("Encabezado.IdDoc.TablaFormasPago.FormaDePago")
    assert [None if row.get("MontoPago") is None else str(row["MontoPago"]) for row in rows] == amounts
