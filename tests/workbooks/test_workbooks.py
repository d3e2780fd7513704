"""Reading workbooks: what a cell means, which rows are one receipt, what is refused; templates, and the copy."""

from datetime import date
from decimal import Decimal
from typing import Any

import pytest

from fe.ecf.catalogue import EcfType
from fe.ecf.parse import parse_json
from fe.ecf.problems import Problem
from fe.workbooks.cells import BadCell, Style, day_of, number_of, style_of
from fe.workbooks.receipts import ReadReceipt, place_problems, read_receipts
from fe.workbooks.report import RowNote, report
from fe.workbooks.tables import Bounds, UnreadableWorkbook, read_table
from fe.workbooks.template import columns_of, template
from tests.workbooks.books import HEAD, csv, ods, ods_table, row, sparse, with_parts, xlsx


def faults(receipt: ReadReceipt) -> list[tuple[int, str | None]]:
    return [(fault.row, fault.column and fault.column.rpartition(".")[2]) for fault in receipt.faults]


def payload(receipt: ReadReceipt) -> Any:
    return parse_json(receipt.payload)


def lines(receipt: ReadReceipt) -> Any:
    return payload(receipt)["DetallesItems"]["Item"]


@pytest.mark.parametrize(
    ("cell", "style", "means"),
    [
        (1234.5, None, "1234.5"),
        (0.1 + 0.2, None, "0.3"),
        ("1,234.50", None, "1234.50"),
        ("1.234,50", None, "1234.50"),
        ("RD$ 1,234.50", None, "1234.50"),
        ("12,5", None, "12.5"),
        ("1,234,567", None, "1234567"),
        ("1.234", Style.POINT, "1.234"),
        ("1.234", Style.COMMA, "1234"),
        ("1,234", Style.POINT, "1234"),
        ("0.125", None, "0.125"),
    ],
)
def test_number_with_one_reading_is_read(cell: Any, style: Style | None, means: str) -> None:
    assert number_of(cell, style) == Decimal(means)


@pytest.mark.parametrize("cell", ["1,234", "1.234", "12.345", True])
def test_number_with_two_readings_is_a_fault(cell: Any) -> None:
    with pytest.raises(BadCell):
        number_of(cell, None)


def test_style_is_known_only_where_the_file_agrees() -> None:
    assert style_of(["1.234", "12.50"]) is Style.POINT
    assert style_of(["1.234,50", "7"]) is Style.COMMA
    assert style_of(["12.50", "12,50"]) is None


@pytest.mark.parametrize("cell", [date(2026, 11, 27), 46353, "27-11-2026", "27/11/2026", "2026-11-27"])
def test_day_is_read_in_each_form(cell: Any) -> None:
    assert day_of(cell) == "27-11-2026"


@pytest.mark.parametrize("cell", ["11/27/2026", "mañana", 7, 46000.5])
def test_what_is_no_day_is_a_fault(cell: Any) -> None:
    with pytest.raises(BadCell):
        day_of(cell)


def test_rows_with_one_key_are_one_receipt_and_its_head_must_agree() -> None:
    head = (*HEAD, "Nombre o razón social del comprador")
    rows = [[*row(), "Ana"], [*row("B", 5), ""], [*row(price=7), ""], [*row(price=8), "Eva"]]

    first, second = read_receipts(xlsx(rows, head)).receipts

    assert (first.rows, second.rows) == ((2, 4, 5), (3,))
    assert [item["PrecioUnitarioItem"] for item in lines(first)] == [100, 7, 8]
    assert faults(first) == [(5, "RazonSocialComprador")]
    assert first.prefix == "E32"


def test_each_row_may_say_a_form_of_payment() -> None:
    head = [*HEAD, "Forma de pago", "MontoPago"]
    rows = [[*row("A"), "1", 60], [*row("A"), "tarjeta de débito o crédito", "58.00"], [*row("B"), "", ""]]

    first, second = read_receipts(csv(rows, head)).receipts

    paid = parse_json(first.payload)["Encabezado"]["IdDoc"]["TablaFormasPago"]["FormaDePago"]
    assert not first.faults
    assert [(one["FormaPago"], str(one["MontoPago"])) for one in paid] == [("1", "60"), ("3", "58.00")]
    assert "TablaFormasPago" not in parse_json(second.payload)["Encabezado"]["IdDoc"]


def test_row_without_key_is_a_receipt_by_the_digest_and_its_row() -> None:
    content = csv([row("", 1), row("", 1)])

    read = read_receipts(content)

    assert [one.key for one in read.receipts] == [f"{read.digest.hex()[:24]}-{at}" for at in (2, 3)]
    assert not any(one.is_own_key for one in read.receipts)
    assert any("no key" in note.en for note in read.notes)
    assert any("repeat an earlier row exactly: 3." in note.en for note in read.notes)


@pytest.mark.parametrize(("delimiter", "encoding"), [(";", "cp1252"), ("\t", "utf-16"), (",", "utf-8-sig")])
def test_csv_is_recognized_by_delimiter_and_encoding(delimiter: str, encoding: str) -> None:
    (receipt,) = read_receipts(csv([row(price="1234.50")], delimiter=delimiter, encoding=encoding)).receipts

    assert lines(receipt) == [
        {
            "NombreItem": "Café",
            "IndicadorBienoServicio": "1",
            "CantidadItem": 1,
            "PrecioUnitarioItem": Decimal("1234.50"),
            "IndicadorFacturacion": "1",
        }
    ]


def test_codes_are_taken_by_words_lists_and_percentages() -> None:
    rows = [
        row("A", TipoeCF="32 - Consumer invoice", IndicadorBienoServicio="Bien", IndicadorFacturacion=0.18),
        row("B", TipoeCF=32, IndicadorBienoServicio="service", IndicadorFacturacion="exento"),
        row("C", IndicadorFacturacion="4 - exempt"),
        row("D", IndicadorFacturacion=None),
    ]

    receipts = read_receipts(xlsx(rows)).receipts

    assert [lines(one)[0].get("IndicadorFacturacion") for one in receipts] == ["1", "4", "4", None]
    assert [lines(one)[0]["IndicadorBienoServicio"] for one in receipts] == ["1", "2", "1", "1"]
    assert faults(receipts[3]) == [(5, "IndicadorFacturacion")]


def test_formula_counts_by_its_value_and_its_error_is_a_fault() -> None:
    rows = [row("A", ("=1+1", 2)), row("B", ("=1/0", "#DIV/0!"))]

    good, bad = read_receipts(xlsx(rows)).receipts

    assert lines(good)[0]["PrecioUnitarioItem"] == 2
    assert faults(bad) == [(3, "PrecioUnitarioItem")]


def test_merged_key_joins_rows_and_a_merged_price_is_a_fault() -> None:
    joined = xlsx([row("A", 1), row("", 2)], merge="A2:A3")
    head = (HEAD[5], *HEAD[:5], HEAD[6])
    rows = [[100, *row()[:5], "1"], ["", *row()[:5], "1"]]
    priced = xlsx(rows, head, merge="A2:A3")

    (receipt,) = read_receipts(joined).receipts
    (merged,) = read_receipts(priced).receipts

    assert receipt.rows == (2, 3)
    assert faults(merged) == [(3, "PrecioUnitarioItem")]


def test_cedula_that_lost_its_zeros_is_a_fault() -> None:
    head = (*HEAD, "RNC o cédula del comprador")
    rows = [[*row("A"), "131-88073-8"], [*row("B"), 131880738], [*row("C"), 1131880738]]

    receipts = read_receipts(xlsx(rows, head)).receipts

    assert payload(receipts[0])["Encabezado"]["Comprador"]["RNCComprador"] == "131880738"
    assert [bool(one.faults) for one in receipts] == [False, False, True]


def test_wrong_check_digit_is_a_note_that_names_its_rows() -> None:
    head = (*HEAD, "RNC o cédula del comprador")
    read = read_receipts(csv([[*row("A"), "131-88073-8"], [*row("B"), "131880682"], [*row("C"), ""]], head))

    assert not any(one.faults for one in read.receipts)
    (note,) = [one.es for one in read.notes if "verificación" in one.es]
    assert note.startswith("El RNC o la cédula de estas filas (3) no pasa la verificación: revise los dígitos.")


def test_columns_unknown_or_twice_are_refused_and_marked_ones_ignored() -> None:
    for head in ((*HEAD, "Decuento"), (*HEAD, "Cantidad")):
        with pytest.raises(UnreadableWorkbook) as refused:
            read_receipts(csv([[*row(), "1"]], head))
        assert refused.value.status == 400
    assert len(read_receipts(csv([[*row(), "1"]], (*HEAD, "# nota"))).receipts) == 1


#: A row that is read as one cell in each of 16,384 columns, a million times.
BOMB = (
    '<table:table-row table:number-rows-repeated="1048576"><table:table-cell table:number-columns-repeated="16384" '
    'office:value-type="float" office:value="1"/></table:table-row>'
)
REFUSED = {
    "empty": (b"", 400),
    "too large": (b"a" * (8 * 1024 * 1024 + 1), 413),
    "encrypted or xls": (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(512), 415),
    "pdf": (b"%PDF-1.7", 415),
    "binary": (b"\x00\x01\x02", 415),
    "word": (with_parts(xlsx([]), {}).replace(b"xl/workbook.xml", b"wd/workbook.xml"), 415),
    "broken zip": (xlsx([row()])[:-200], 400),
    "macros": (with_parts(xlsx([row()]), {"xl/vbaProject.bin": b"x"}), 400),
    "external links": (with_parts(xlsx([row()]), {"xl/externalLinks/externalLink1.xml": b"x"}), 400),
    "zip bomb": (with_parts(xlsx([row()]), {"xl/media/a.bin": bytes(80 * 1024 * 1024)}), 413),
    "a cell too far right": (sparse("XFD40000"), 413),
    "an ods bomb": (ods(ods_table(BOMB)), 400),
    "no headings": (csv([["a", "b"]], ["x", "y"]), 400),
    "no receipts": (csv([]), 400),
    "html": (b"<html><table>", 415),
    "encrypted ods": (ods(ods_table(""), more="<manifest:encryption-data/>"), 415),
}


@pytest.mark.parametrize("name", REFUSED)
def test_file_that_is_no_plain_workbook_is_refused_with_its_reason(name: str) -> None:
    content, status = REFUSED[name]

    with pytest.raises(UnreadableWorkbook) as refused:
        read_receipts(content)

    assert refused.value.status == status
    assert refused.value.text.en != refused.value.text.es


def test_workbook_beyond_the_rows_or_columns_is_refused() -> None:
    few = Bounds(rows=10, columns=9)
    many = [row(str(at)) for at in range(200)]
    for content in (xlsx(many), csv(many), xlsx([[*row(), *range(9)]])):
        with pytest.raises(UnreadableWorkbook) as refused:
            read_table(content, few)
        assert refused.value.status == 413


def test_ods_is_read() -> None:
    cells = "".join(
        f'<table:table-cell office:value-type="string"><text:p>{cell}</text:p></table:table-cell>' for cell in HEAD
    )
    values = "".join(
        f'<table:table-cell office:value-type="float" office:value="{cell}"/>'
        if isinstance(cell, int)
        else f'<table:table-cell office:value-type="string"><text:p>{cell}</text:p></table:table-cell>'
        for cell in row()
    )
    content = ods(ods_table(f"<table:table-row>{cells}</table:table-row><table:table-row>{values}</table:table-row>"))

    (receipt,) = read_receipts(content).receipts

    assert lines(receipt)[0]["PrecioUnitarioItem"] == 100
    assert not receipt.faults


@pytest.mark.parametrize("ecf_type", EcfType)
def test_template_of_each_type_is_read_and_its_example_left_out(ecf_type: EcfType) -> None:
    content = template(ecf_type, "es")
    table = read_table(content)
    example = [cell.replace("EJEMPLO", "FAC") if isinstance(cell, str) else cell for cell in table.sheets[0].rows[2]]

    with pytest.raises(UnreadableWorkbook, match="no receipts"):
        read_receipts(content)
    (receipt,) = read_receipts(xlsx([example], [str(cell) for cell in table.sheets[0].rows[0]])).receipts

    assert not receipt.faults
    assert receipt.prefix == ecf_type.prefix
    assert len(table.sheets[0].rows[0]) == len(columns_of(ecf_type))


def test_problem_is_placed_at_its_row_and_column() -> None:
    paths = ("DetallesItems.Item[2].PrecioUnitarioItem", "Encabezado.IdDoc.TipoPago", "Encabezado.Totales.MontoTotal")
    problems = [Problem("x", path, "wrong", "mal") for path in paths]

    placed = list(place_problems(problems, (7, 9)))

    assert [(one.row, one.column) for one in placed] == [
        (9, "DetallesItems.Item.PrecioUnitarioItem"),
        (7, "Encabezado.IdDoc.TipoPago"),
        (7, None),
    ]
    assert placed[2].text.es == "Encabezado.Totales.MontoTotal: mal"


def test_problem_names_the_column_and_not_its_element() -> None:
    path = "DetallesItems.Item[1].CantidadItem"
    problem = Problem("x", path, f"{path} and MontoTotal", "falta MontoPago, CantidadItem no es un número")

    (placed,) = place_problems([problem], (7,))

    assert placed.text.en == "«Quantity» and MontoTotal"
    assert placed.text.es == "falta «Monto pagado», «Cantidad» no es un número"


@pytest.mark.parametrize("make", [xlsx, csv])
def test_copy_has_errors_state_and_keys_and_is_read_again(make: Any) -> None:
    content = make([row("", 1), row("B", "1.234")])
    read = read_receipts(content)
    notes = {one.rows[0]: RowNote(one.key, one.faults, "emitido", "E320000000001") for one in read.receipts}

    copy, _, ending = report(content, notes, "es")
    again = read_receipts(copy)
    (sheet,) = read_table(copy).sheets

    assert ending == ("csv" if make is csv else "xlsx")
    assert sheet.rows[0][-3:] == ["Errores", "Estado", "e-NCF emitido"]
    assert str(sheet.rows[2][-3]).startswith("Precio unitario: «1.234»")
    assert [one.key for one in again.receipts] == [one.key for one in read.receipts]
    assert all(one.is_own_key for one in again.receipts)
