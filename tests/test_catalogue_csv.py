"""Customers and products from a CSV: no column is dropped without a word, and faults name the file's own headings."""

from decimal import Decimal

import pytest

from fe.catalogue.csv_file import CUSTOMER_COLUMNS, PRODUCT_COLUMNS, customers_in, products_in
from tests.workbooks.books import row, xlsx


@pytest.mark.parametrize("head", ["Cliente,direcion", "Cliente,"])
def test_unknown_column_with_values_is_named_and_nothing_read(head: str) -> None:
    found = customers_in(f"{head}\nAna,Calle 1\n".encode())

    assert not found.entries
    (fault,) = found.faults
    assert fault.text.es.startswith("Columnas desconocidas: " + ("«direcion»" if "dir" in head else "2"))


def test_marked_and_empty_columns_are_ignored() -> None:
    found = customers_in(b"Cliente,# nota,otra,\nAna,x,,\n")

    assert not found.faults
    assert len(found.entries) == 1


def test_two_columns_of_one_field_are_refused() -> None:
    (fault,) = customers_in("RNC,Cédula,Nombre\n,00113918254,Ana\n".encode()).faults

    assert "«RNC», «Cédula»" in fault.text.es


@pytest.mark.parametrize("head", ["RNC/Cedula", "RNC o cédula", "Cédula/RNC"])
def test_obvious_headings_are_read(head: str) -> None:
    (ana,) = customers_in(f"Cliente,{head},teléfono móvil\nAna,131880657,8095550142\n".encode()).entries.values()

    assert (ana.rnc and ana.rnc.digits, ana.phone) == ("131880657", "809-555-0142")


def test_price_with_itbis_is_the_price_where_no_other_is() -> None:
    (bread,) = products_in(b"producto,precio con itbis\nPan,118\n").entries.values()
    (fault,) = products_in(b"producto,precio,precio con itbis\nPan,100,118\n").faults
    (wrong,) = products_in(b"producto,precio con itbis\nPan,mucho\n").faults

    assert (bread.price, bread.price_has_itbis) == (Decimal(118), True)
    assert fault.text.es == "precio con itbis: debe ser sí o no"
    assert wrong.text.es.startswith("precio con itbis: debe ser un número")


def test_every_shown_heading_is_read() -> None:
    for columns, read in ((CUSTOMER_COLUMNS, customers_in), (PRODUCT_COLUMNS, products_in)):
        for language in ("es", "en"):
            head = [column.heading.es if language == "es" else column.heading.en for column in columns.values()]
            values = ["Ana" if name == "name" else "" for name in columns]
            assert not read(f"{','.join(head)}\n{','.join(values)}\n".encode()).faults


def test_fault_has_the_heading_of_the_file_and_spanish_values() -> None:
    (mail,) = customers_in(b"nombre,correo\nAna,x\n").faults
    (rate,) = products_in(b"nombre,tasa\nPan,17\n").faults
    (kind,) = products_in(b"nombre,clase\nPan,z\n").faults

    assert mail.text.es.startswith("correo: ")
    assert rate.text.es == "tasa: debe ser uno de: 18, 16, 0, exento"
    assert kind.text.es == "clase: debe ser uno de: bien, servicio"


def test_wrong_check_digit_and_lost_zeros_are_doubts_of_their_line() -> None:
    found = customers_in(b"nombre,rnc\nAna,131880682\nEva,113918254\nSol,131880657\n")

    assert (len(found.entries), found.faults) == (3, [])
    assert [one.line for one in found.doubts] == [2, 3]
    assert found.doubts[0].text.es.startswith("131880682 no pasa la verificación: revise los dígitos.")
    assert "la cédula 00113918254 sin los ceros" in found.doubts[1].text.es


@pytest.mark.parametrize(
    ("content", "said"),
    [(b"", "está vacío"), (xlsx([row()]), "es un libro de Excel"), (b"\x81\x8d", "no es un CSV")],
)
def test_file_that_is_no_csv_is_named_for_what_it_is(content: bytes, said: str) -> None:
    (fault,) = customers_in(content).faults

    assert fault.text.es.startswith(said)
