"""Number, dates, payment, parties, references, ancillary documents: each rule on a document that breaks little else."""

from functools import partial
from typing import Any

import pytest

from fe.ecf.catalogue import EcfType
from fe.ecf.rules.rule import DOCUMENT_RULES
from tests.ecf.breaking import (
    CONSUMER,
    ID,
    ISSUED,
    ITEM,
    NOTE,
    RANGES,
    REFERENCE,
    TOTALS,
    Broken,
    acknowledgement,
    approval,
    assert_reported,
    at,
    by,
    codes_of,
    consumer,
    note,
    sale,
    summary,
    voided,
)
from tests.ecf.receipts import line, receipt

CASES: list[Any] = [
    # The number, the dates, the payment.
    at("e-ncf-form", f"{ID}.eNCF", sale, "B310000000001"),
    at("e-ncf-form", f"{ID}.eNCF", sale, "E310000000000"),
    at("e-ncf-form", f"{ID}.eNCF", sale, "E420000000001"),
    at("e-ncf-type", f"{ID}.eNCF", sale, "E320000000001"),
    at("e-ncf-type", f"{ID}.TipoeCF", sale, "32"),
    at("not-a-date", f"{ID}.FechaLimitePago", sale, "31-02-2027"),
    at("not-a-date", "Encabezado.Emisor.FechaEmision", sale, "31-09-2025"),
    at("not-a-date", "Encabezado.Comprador.FechaEntrega", sale, "30-02-2025"),
    at("not-a-date", f"{ITEM}.FechaElaboracion", sale, "29-02-2025"),
    at("not-a-date", "FechaHoraFirma", sale, "31-11-2026 10:00:00"),
    at("sequence-expired", f"{ID}.FechaVencimientoSecuencia", sale, "19-11-2026"),
    at("signed-in-future", "FechaHoraFirma", sale, "20-11-2026 10:00:01"),
    at("issue-date-future", "Encabezado.Emisor.FechaEmision", sale, "21-11-2026"),
    at("issue-date-old", "Encabezado.Emisor.FechaEmision", sale, "31-12-2017"),
    at("issue-date-past", "Encabezado.Emisor.FechaEmision", sale, "31-12-2024"),
    by(
        "payments-differ",
        f"{ID}.TablaFormasPago",
        sale,
        {f"{ID}.TablaFormasPago": {"FormaDePago": [{"FormaPago": "1", "MontoPago": "100.00"}]}},
    ),
    by("due-date-missing", f"{ID}.FechaLimitePago", sale, {f"{ID}.TipoPago": "2"}),
    by("due-date-missing", f"{ID}.FechaLimitePago", sale, {f"{ID}.TipoPago": "2", f"{ID}.FechaLimitePago": ""}),
    by("due-date-early", f"{ID}.FechaLimitePago", sale, {f"{ID}.TipoPago": "2", f"{ID}.FechaLimitePago": "14-10-2025"}),
    at("free-credit-fiscal", f"{ID}.TipoPago", sale, "3"),
    by(
        "vouchers-only-consumer",
        f"{ID}.TablaFormasPago.FormaDePago[2].FormaPago",
        sale,
        {
            f"{ID}.TablaFormasPago": {
                "FormaDePago": [{"FormaPago": "1", "MontoPago": "18.00"}, {"FormaPago": "5", "MontoPago": "100.00"}]
            }
        },
    ),
    by("period-order", f"{ID}.FechaHasta", sale, {f"{ID}.FechaDesde": "02-10-2025", f"{ID}.FechaHasta": "01-10-2025"}),
    # The parties.
    at("check-digit", "Encabezado.Comprador.RNCComprador", sale, "00113918204"),
    at("check-digit", f"{REFERENCE}.RNCOtroContribuyente", note, "131880739"),
    at("check-digit", "DetalleAprobacionComercial.RNCComprador", approval, "131880682"),
    at("check-digit", "Encabezado.RncEmisor", voided, "131880739"),
    by(
        "buyer-missing",
        "Encabezado.Comprador.RNCComprador",
        partial(receipt, CONSUMER, [line("250000.00", indicator="4")]),
        {"Encabezado.Comprador": {"RazonSocialComprador": "A"}},
    ),
    by(
        "buyer-missing",
        "Encabezado.Comprador.RazonSocialComprador",
        partial(receipt, CONSUMER, [line("250000.00", indicator="4")]),
        {"Encabezado.Comprador": {"IdentificadorExtranjero": "A"}},
    ),
    by(
        "buyer-missing",
        "Encabezado.Comprador.RNCComprador",
        partial(receipt, NOTE, [line("250000.00", indicator="4")]),
        {f"{REFERENCE}.NCFModificado": "E320000000001", "Encabezado.Comprador": None},
    ),
    at("buyer-id-missing", "Encabezado.Comprador.RNCComprador", partial(receipt, EcfType.SPECIAL_REGIME), None),
    at("buyer-two-ids", "Encabezado.Comprador.IdentificadorExtranjero", consumer, "X1"),
    # References.
    at("reference-form", f"{REFERENCE}.NCFModificado", note, "E99000000000"),
    by(
        "reference-incomplete",
        f"{REFERENCE}.NCFModificado",
        sale,
        {REFERENCE: {"FechaNCFModificado": ISSUED, "CodigoModificacion": "4"}},
    ),
    by(
        "reference-incomplete",
        f"{REFERENCE}.CodigoModificacion",
        sale,
        {REFERENCE: {"NCFModificado": "E310000000002", "FechaNCFModificado": ISSUED, "CodigoModificacion": ""}},
    ),
    by(
        "reference-incomplete",
        f"{REFERENCE}.CodigoModificacion",
        sale,
        {REFERENCE: {"FechaNCFModificado": ISSUED, "NCFModificado": "B0100000001"}},
    ),
    at("reference-code", f"{REFERENCE}.CodigoModificacion", note, "5"),
    by(
        "reference-code",
        f"{REFERENCE}.CodigoModificacion",
        sale,
        {REFERENCE: {"FechaNCFModificado": ISSUED, "NCFModificado": "B0100000001", "CodigoModificacion": "1"}},
    ),
    at("reference-self", f"{REFERENCE}.NCFModificado", note, "E340000000007"),
    at("reference-date", f"{REFERENCE}.FechaNCFModificado", note, "16-10-2025"),
    by("credit-note-age", f"{ID}.IndicadorNotaCredito", note, {f"{REFERENCE}.FechaNCFModificado": "14-09-2025"}),
    at("credit-note-age", f"{ID}.IndicadorNotaCredito", note, "1"),
    by(
        "debit-note-cancels",
        f"{REFERENCE}.CodigoModificacion",
        partial(receipt, EcfType.DEBIT_NOTE),
        {f"{REFERENCE}.CodigoModificacion": "1"},
    ),
    at("note-on-note", f"{REFERENCE}.NCFModificado", note, "E340000000003"),
    by("text-correction-total", f"{TOTALS}.MontoTotal", note, {f"{REFERENCE}.CodigoModificacion": "2"}),
    by(
        "contingency-type",
        f"{REFERENCE}.NCFModificado",
        sale,
        {REFERENCE: {"FechaNCFModificado": ISSUED, "NCFModificado": "B0200000001", "CodigoModificacion": "4"}},
    ),
    by(
        "contingency-type",
        f"{REFERENCE}.NCFModificado",
        sale,
        {REFERENCE: {"FechaNCFModificado": ISSUED, "NCFModificado": "E310000000001", "CodigoModificacion": "4"}},
    ),
    by(
        "consumer-reference",
        f"{REFERENCE}.NCFModificado",
        sale,
        {REFERENCE: {"FechaNCFModificado": ISSUED, "NCFModificado": "E310000000001", "CodigoModificacion": "5"}},
    ),
    # Companions.
    by(
        "summary-too-large",
        f"{TOTALS}.MontoTotal",
        summary,
        {TOTALS: {"MontoExento": "250000.00", "MontoTotal": "250000.00"}},
    ),
    at("base-mismatch", f"{TOTALS}.MontoGravadoTotal", summary, None),
    at("vat-mismatch", f"{TOTALS}.TotalITBIS", summary, "20.00"),
    at("total-mismatch", f"{TOTALS}.MontoTotal", summary, "120.00"),
    at("e-ncf-type", f"{ID}.eNCF", summary, "E310000000001"),
    at("e-ncf-form", "DetalleAprobacionComercial.eNCF", approval, "B310000000001"),
    at("approval-not-taken", "DetalleAprobacionComercial.eNCF", approval, "E320000000001"),
    by(
        "approval-reason",
        "DetalleAprobacionComercial.DetalleMotivoRechazo",
        approval,
        {"DetalleAprobacionComercial.Estado": "2"},
    ),
    at("approval-reason", "DetalleAprobacionComercial.DetalleMotivoRechazo", approval, "no"),
    at("signed-in-future", "DetalleAprobacionComercial.FechaHoraAprobacionComercial", approval, "20-11-2027 10:00:00"),
    at("not-a-date", "DetalleAprobacionComercial.FechaEmision", approval, "31-02-2025"),
    by("void-range", f"{RANGES}[1].SecuenciaeNCFHasta", voided, {f"{RANGES}[1].SecuenciaeNCFDesde": "E310000000011"}),
    at("void-range", f"{RANGES}[1].SecuenciaeNCFDesde", voided, "E320000000001"),
    at("void-range", f"{RANGES}[2].SecuenciaeNCFHasta", voided, "E330000000021"),
    at("e-ncf-form", f"{RANGES}[2].SecuenciaeNCFHasta", voided, "X310000000021"),
    at("void-count", "DetalleAnulacion.Anulacion[1].CantidadeNCFAnulados", voided, "12"),
    at("void-count", "Encabezado.CantidadeNCFAnulados", voided, "1"),
    by("void-overlap", f"{RANGES}[2]", voided, {f"{RANGES}[2].SecuenciaeNCFDesde": "E310000000010"}),
    by(
        "acknowledgement-reason",
        "DetalleAcusedeRecibo.CodigoMotivoNoRecibido",
        acknowledgement,
        {"DetalleAcusedeRecibo.Estado": "1"},
    ),
    at("acknowledgement-reason", "DetalleAcusedeRecibo.CodigoMotivoNoRecibido", acknowledgement, "1"),
]


@pytest.mark.parametrize("case", CASES)
def test_a_broken_rule_is_reported_at_its_place(case: Broken) -> None:
    assert_reported(case)


def test_every_rule_of_the_table_has_a_document_that_breaks_it() -> None:
    assert codes_of(CASES) >= DOCUMENT_RULES.keys()
