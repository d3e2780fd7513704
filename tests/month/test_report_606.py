"""The 606 of a made-up month, field by field, and what its rows lack."""

from datetime import date
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from fe.month.period import YearMonth
from fe.month.report_606 import Expense, Itbis, Missing, Purchase, file_606, missing, name_606, read_purchase, row

NOVEMBER = YearMonth(2026, 11)
OWN = "131880681"


def document(
    code: str,
    number: str,
    totals: str,
    *,
    id_doc: str = "",
    parties: str = "<Emisor><RNCEmisor>131880738</RNCEmisor></Emisor>",
    lines: tuple[tuple[int, str], ...] = ((1, "100"),),
    after: str = "",
) -> etree._Element:
    items = "".join(
        f"<Item><IndicadorBienoServicio>{kind}</IndicadorBienoServicio><MontoItem>{amount}</MontoItem></Item>"
        for kind, amount in lines
    )
    return etree.fromstring(
        f"<ECF><Encabezado><IdDoc><TipoeCF>{code}</TipoeCF><eNCF>{number}</eNCF>{id_doc}</IdDoc>{parties}"
        f"<Totales>{totals}</Totales></Encabezado><DetallesItems>{items}</DetallesItems>{after}</ECF>"
    )


def purchase(element: etree._Element, day: int, *, is_own: bool = False) -> Purchase:
    return read_purchase(element, own_rnc=OWN, is_own=is_own, issued_on=date(2026, 11, day))


MIXED = document(
    "31",
    "E310000000001",
    "<TotalITBIS>180.00</TotalITBIS><ImpuestosAdicionales><ImpuestoAdicional><TipoImpuesto>001</TipoImpuesto>"
    "<OtrosImpuestosAdicionales>100.00</OtrosImpuestosAdicionales></ImpuestoAdicional></ImpuestosAdicionales>"
    "<MontoTotal>1280.00</MontoTotal>",
    id_doc="<TablaFormasPago><FormaDePago><FormaPago>3</FormaPago></FormaDePago></TablaFormasPago>",
    lines=((1, "250.00"), (2, "750.00")),
)
CREDIT_NOTE = document(
    "34",
    "E340000000002",
    "<TotalITBIS>18.00</TotalITBIS><MontoTotal>118.00</MontoTotal>",
    after="<InformacionReferencia><NCFModificado>E310000000001</NCFModificado></InformacionReferencia>",
)
OWN_41 = document(
    "41",
    "E410000000003",
    "<TotalITBIS>36.00</TotalITBIS><MontoTotal>236.00</MontoTotal><TotalITBISRetenido>36.00</TotalITBISRetenido>"
    "<TotalISRRetencion>20.00</TotalISRRetencion>",
    id_doc="<TipoPago>2</TipoPago>",
    parties="<Emisor><RNCEmisor>131880681</RNCEmisor></Emisor><Comprador><RNCComprador>00100000018</RNCComprador>"
    "<RazonSocialComprador>Juan</RazonSocialComprador></Comprador>",
    lines=((2, "200"),),
)
OWN_43 = document("43", "E430000000004", "<MontoTotal>50.00</MontoTotal>", id_doc="<TipoPago>1</TipoPago>")


def test_606_of_a_month_is_written_field_by_field() -> None:
    rows = [
        row(purchase(MIXED, 3), Expense("02", paid_after=10), NOVEMBER),
        row(purchase(CREDIT_NOTE, 5), Expense("09", paid_after=0, itbis=Itbis.COST), NOVEMBER),
        row(
            purchase(OWN_41, 20, is_own=True),
            Expense("02", isr_type="02", paid_on=date(2026, 11, 30), itbis=Itbis.PROPORTIONAL),
            NOVEMBER,
        ),
        row(purchase(OWN_43, 30, is_own=True), Expense("06", payment="01", paid_after=1), NOVEMBER),
    ]
    # RNC, kind of id, expense, NCF, modified, issued, paid, services, goods, total, ITBIS, withheld, proportional,
    # to cost, to advance, perceived, ISR type, ISR, ISR perceived, excise, other taxes, tip, payment
    assert ["|".join(fields) for fields in rows] == [
        "131880738|1|02|E310000000001||20261103|20261113|750.00|250.00|1000.00|180.00||||180.00|||||||100.00|03",
        "131880738|1|09|E340000000002|E310000000001|20261105|||100.00|100.00|18.00|||18.00|||||||||06",
        "00100000018|2|02|E410000000003||20261120|20261130|200.00||200.00|36.00|36.00|36.00||36.00||02|20.00|||||04",
        "131880681|1|06|E430000000004||20261130|||50.00|50.00|0.00||||||||||||01",
    ]
    lines = file_606(OWN, NOVEMBER, rows).split(b"\r\n")
    assert (lines[0], len(lines), lines[-1].count(b"|")) == (b"606|131880681|202611|4", 5, 22)
    assert name_606(OWN, NOVEMBER) == "DGII_F_606_131880681_202611.TXT"
    assert file_606(OWN, NOVEMBER, []) == b"606|131880681|202611|0"


@pytest.mark.parametrize(
    ("element", "expense", "lacks"),
    [
        (MIXED, None, [Missing.KIND]),
        (MIXED, Expense("02"), []),
        (OWN_43, None, [Missing.KIND, Missing.PAYMENT]),
        (OWN_43, Expense("02", payment="01"), []),
        (OWN_41, Expense("02"), [Missing.ISR_TYPE, Missing.PAID_ON]),
        (OWN_41, Expense("02", isr_type="02", paid_on=date(2026, 12, 1)), [Missing.PAID_ON]),
        (OWN_41, Expense("02", isr_type="02", paid_after=0), []),
        (CREDIT_NOTE, Expense("02"), []),
    ],
)
def test_a_row_says_what_it_lacks(element: etree._Element, expense: Expense | None, lacks: list[Missing]) -> None:
    assert missing(purchase(element, 20, is_own=element in (OWN_41, OWN_43)), expense, NOVEMBER) == lacks


_CENTS = st.integers(0, 10**12).map(lambda cents: Decimal(cents) / 100)


@given(_CENTS, _CENTS, _CENTS)
def test_services_and_goods_always_add_up(total: Decimal, goods: Decimal, services: Decimal) -> None:
    element = document(
        "31", "E310000000001", f"<MontoTotal>{total:.2f}</MontoTotal>", lines=((1, f"{goods:f}"), (2, f"{services:f}"))
    )

    found = purchase(element, 1)

    assert found.services + found.goods == total
    assert found.services >= 0
    assert found.goods >= 0
