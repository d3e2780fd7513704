"""The values printed of a signed e-CF: words for its codes, and the taxes of each line."""

from decimal import Decimal
from pathlib import Path

import pytest

from fe.ecf.build import build
from fe.ecf.catalogue import EcfType
from fe.ecf.parse import MAX_SIGNED_BYTES, parse_xml
from fe.printing import NotPrintable
from fe.printing.read import PrintedReceipt, page_sums, read
from tests.ecf.receipts import line, receipt
from tests.printing.documents import GOLDEN, sign, signed

COFFEE, LUNCH, BAG = (next(path for path in GOLDEN if name in path.stem) for name in ("coffee", "lunch", "bag"))


def respelled(path: Path) -> PrintedReceipt:
    """The receipt with the whole numbers of its codes written with a zero before."""
    root = parse_xml(path.read_bytes())
    for name in (
        "TipoPago",
        "FormaPago",
        "IndicadorMontoGravado",
        "IndicadorEnvioDiferido",
        "UnidadMedida",
        "CodigoModificacion",
    ):
        for element in root.iter(name):
            element.text = f"0{element.text}"
    return read(sign(root))


@pytest.mark.parametrize("path", [COFFEE, LUNCH, BAG], ids=lambda path: path.stem)
def test_code_with_a_leading_zero_is_the_same_code(path: Path) -> None:
    usual, zeros = read(signed(path)), respelled(path)

    assert (zeros.facts, zeros.modified) == (usual.facts, usual.modified)
    assert [(one.unit, one.vat, one.net) for one in zeros.items] == [
        (one.unit, one.vat, one.net) for one in usual.items
    ]


def test_deferred_sending_with_a_leading_zero_is_deferred() -> None:
    root = parse_xml(COFFEE.read_bytes())
    expiry = next(root.iter("FechaVencimientoSecuencia"))
    expiry.addnext(root.makeelement("IndicadorEnvioDiferido"))
    next(root.iter("IndicadorEnvioDiferido")).text = "01"

    assert read(sign(root)).deferred


def test_page_sums_have_the_tip() -> None:
    given = read(signed(LUNCH))

    sums = {one.name: one.amount for one in page_sums(given.items)}

    assert (sums["page_additional"], sums["page_total"]) == (Decimal(100), given.total)


def test_line_under_rule_1007_has_the_tax_of_the_totals() -> None:
    taxes = {"ImpuestoAdicional": [{"TipoImpuesto": "002"}, {"TipoImpuesto": "004"}]}
    discount = {
        "NumeroLinea": "1",
        "TipoAjuste": "D",
        "IndicadorNorma1007": "1",
        "TipoValor": "$",
        "MontoDescuentooRecargo": "100.00",
        "IndicadorFacturacionDescuentooRecargo": "1",
    }
    document = receipt(
        EcfType.CREDIT_FISCAL,
        [line("1300.00", TablaImpuestoAdicional=taxes)],
        included=True,
        DescuentosORecargos={"DescuentoORecargo": [discount]},
    )

    given = read(sign(build(document)))
    sums = {one.name: one.amount for one in page_sums(given.items)}
    totals = {one.name: one.amount for one in given.totals}

    assert given.items[0].vat == totals["total_vat"] == Decimal(180)
    assert (sums["page_taxed"], sums["page_total"]) == (Decimal(1000), given.total)


def test_document_beyond_the_bounds_of_signed_documents_is_refused() -> None:
    long = signed(COFFEE).replace(b"</ECF>", b" " * MAX_SIGNED_BYTES + b"</ECF>")

    with pytest.raises(NotPrintable):
        read(long)
