"""Sets of test cases made here, with other values than the authority's, as sheets or as a workbook."""

import io
import zipfile
from collections.abc import Mapping, Sequence
from datetime import date
from functools import cache
from typing import Any
from xml.sax.saxutils import escape

from fe.certification.approval_set import APPROVALS, COLUMNS, SHEET
from fe.certification.columns import ECF, NUMBER, RFCE, columns
from fe.ecf.autofill import autofill
from fe.ecf.build import write
from fe.ecf.catalogue import EcfType
from fe.ecf.document import Document, read_payload, read_xml
from fe.ecf.summary import summarise
from tests.ecf.receipts import EXPIRY, ISSUER, NOW, USUAL_INDICATOR, line, payload

#: The authority's set as it was disclosed (tests/shared.py).
DISCLOSED = "samples/test-set-disclosed.xlsx"
DISCLOSED_ISSUER = "133470616"
RNC = ISSUER["RNCEmisor"]
#: Issuer of the receipts that the second workbook approves.
DEMO_ISSUER = "131880681"
_ISSUER = {name: said for name, said in ISSUER.items() if name != "ZonaVenta"}
TODAY = date(2026, 11, 20)

Sheets = dict[str, list[list[Any]]]

#: How many of each type the authority draws; small consumer invoices are those with a summary.
COUNTS = {"31": 4, "32": 2, "33": 1, "34": 2, "41": 2, "43": 2, "44": 2, "45": 2, "46": 2, "47": 2}
SMALL = 4


def document(ecf_type: EcfType, place: int, price: str, modified: str | None = None) -> Document:
    """A receipt with its number and amounts, as the authority would write it."""
    lines = [
        line(price, "2.00", USUAL_INDICATOR[ecf_type], UnidadMedida="43"),
        line("1.2345", "100.00", USUAL_INDICATOR[ecf_type], NombreItem="Café & té"),
    ]
    made = payload(ecf_type, lines, issued="01-04-2026")
    made["Encabezado"]["IdDoc"]["eNCF"] = f"{ecf_type.prefix}{place:010}"
    if modified is not None:
        made["InformacionReferencia"]["NCFModificado"] = modified
    if ecf_type is EcfType.CREDIT_FISCAL and place == 1:
        made["Encabezado"]["IdDoc"]["TablaFormasPago"] = {"FormaDePago": [{"FormaPago": "1", "MontoPago": "384.62"}]}
        made["Encabezado"]["Emisor"]["TablaTelefonoEmisor"] = {"TelefonoEmisor": ["809-472-7676", "809-491-1918"]}
    made["Encabezado"]["Emisor"] = {**_ISSUER, **made["Encabezado"]["Emisor"]}
    return _written(autofill(read_payload(made), issuer=_ISSUER, expiry=EXPIRY, now=NOW))


def _written(made: Document) -> Document:
    """The document with its values as texts."""
    return read_xml(write(made).element)


def _cells(sheet: str, made: Document) -> list[str]:
    """The row of a document: the text of each element, `#e` where there is none."""
    name = f"{made.issuer_rnc}{made.e_ncf}"
    texts = [None if path is None else made.get(path) for path in columns(sheet).values()]
    return [name, *["#e" if text is None else text for text in texts[1:]]]


@cache
def _rows() -> tuple[tuple[tuple[str, ...], ...], tuple[tuple[str, ...], ...]]:
    ecf, rfce = [], []
    for written, number in COUNTS.items():
        ecf_type = EcfType(written)
        for place in range(1, number + 1):
            base = f"E31{place:010}" if ecf_type in (EcfType.DEBIT_NOTE, EcfType.CREDIT_NOTE) else None
            price = "150000.00" if ecf_type is EcfType.CONSUMER else "35.50" if base else f"{100 + place}.25"
            ecf.append(tuple(_cells(ECF, document(ecf_type, place, price, base))))
    for place in range(11, 11 + SMALL):
        invoice = document(EcfType.CONSUMER, place, f"{place}.10")
        ecf.insert(0, tuple(_cells(ECF, invoice)))  # the authority's rows are in no order
        rfce.append(tuple(_cells(RFCE, _written(summarise(invoice, "#e")))))
    return tuple(ecf), tuple(rfce)


def sheets(*, only: Sequence[str] | None = None) -> Sheets:
    """The sheets of a whole set, or of the cases with some numbers."""
    ecf, rfce = _rows()
    made: Sheets = {}
    for sheet, rows in ((ECF, ecf), (RFCE, rfce)):
        place = list(columns(sheet)).index(NUMBER)
        made[sheet] = [list(columns(sheet)), *[list(row) for row in rows if only is None or row[place] in only]]
    return made


def change(made: Sheets, sheet: str, row: int, column: str, value: Any) -> Sheets:
    """The sheets with another cell; the row is that of the file."""
    made[sheet][row - 1][list(columns(sheet)).index(column)] = value
    return made


def row_of(made: Mapping[str, list[list[Any]]], sheet: str, number: str) -> int:
    """The row of a number, as the file counts."""
    place = list(columns(sheet)).index(NUMBER)
    return next(at for at, row in enumerate(made[sheet], 1) if row[place] == number)


def approvals(number: int = APPROVALS, *, moment: str = "20-11-2026 09:15:30") -> Sheets:
    """The sheet of the second workbook: empty cells, and numbers where the authority writes numbers."""
    rows: list[list[Any]] = [list(COLUMNS)]
    for place in range(1, number + 1):
        e_ncf = f"E{('31', '33', '34', '44', '45')[place % 5]}{place:010}"
        amount = 1180 if place == 1 else 1000 + place + 0.25
        rows.append(["1.0", DEMO_ISSUER, e_ncf, "19-11-2026", amount, RNC, 1, "", moment])
    return {SHEET: rows}


_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_RELATED = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_WORKBOOK = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"


def xlsx(made: Mapping[str, Sequence[Sequence[Any]]]) -> bytes:
    """Write sheets as a workbook; XlsxWriter takes a second for these 130,000 cells."""
    shared: dict[str, int] = {}

    def cell(value: Any) -> str:
        if value == "":
            return "<c/>"
        if not isinstance(value, str):
            return f"<c><v>{value}</v></c>"
        return f'<c t="s"><v>{shared.setdefault(value, len(shared))}</v></c>'

    parts = {}
    for at, rows in enumerate(made.values(), 1):
        data = "".join(f"<row>{''.join(map(cell, row))}</row>" for row in rows)
        parts[f"xl/worksheets/sheet{at}.xml"] = f'<worksheet xmlns="{_MAIN}"><sheetData>{data}</sheetData></worksheet>'
    names = "".join(f'<sheet name="{name}" sheetId="{at}" r:id="r{at}"/>' for at, name in enumerate(made, 1))
    related = "".join(
        f'<Relationship Id="r{at}" Type="{_RELATED}/worksheet" Target="worksheets/sheet{at}.xml"/>'
        for at in range(1, len(made) + 1)
    )
    texts = "".join(f'<si><t xml:space="preserve">{escape(text)}</t></si>' for text in shared)
    parts |= {
        "[Content_Types].xml": f'<Types xmlns="{_PACKAGE}/content-types"><Default Extension="xml" '
        f'ContentType="application/xml"/><Override PartName="/xl/workbook.xml" ContentType="{_WORKBOOK}"/></Types>',
        "_rels/.rels": f'<Relationships xmlns="{_PACKAGE}/relationships"><Relationship Id="r1" '
        f'Type="{_RELATED}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
        "xl/workbook.xml": f'<workbook xmlns="{_MAIN}" xmlns:r="{_RELATED}"><sheets>{names}</sheets></workbook>',
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{_PACKAGE}/relationships">{related}<Relationship '
        f'Id="t" Type="{_RELATED}/sharedStrings" Target="sharedStrings.xml"/></Relationships>',
        "xl/sharedStrings.xml": f'<sst xmlns="{_MAIN}">{texts}</sst>',
    }
    sink = io.BytesIO()
    with zipfile.ZipFile(sink, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name, part in parts.items():
            archive.writestr(name, part)
    return sink.getvalue()


#: The numbers of `sheets` in the order in which they are sent.
CASES_OF_THE_ORDER = [
    f"E{written}{place:010}"
    for written in ("31", "32", "41", "43", "44", "45", "46", "47", "33", "34")
    for place in range(1, COUNTS[written] + 1)
] + [f"E32{place:010}" for place in range(11, 11 + SMALL)]
