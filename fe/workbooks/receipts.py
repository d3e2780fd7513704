"""From the rows of a table to receipts: each a payload of POST /invoices, with the rows it came from and its faults."""

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from decimal import Decimal
from difflib import get_close_matches
from typing import Any

from fe.ecf.catalogue import EcfType
from fe.ecf.identity import CHECK_DIGIT, TaxId, tax_id
from fe.ecf.json_text import write_canonical_json
from fe.ecf.parse import Malformed, parse_json
from fe.ecf.problems import Problem
from fe.ecf.schema.model import ValueForm
from fe.ecf.texts import Language, Text
from fe.workbooks.cells import BadCell, Style, code_of, day_of, fold, number_of, style_of, text_of
from fe.workbooks.columns import (
    BESIDE,
    COLUMNS,
    IGNORED,
    KEY,
    LINE,
    PAID,
    SEQUENCE,
    TYPE,
    any_field,
    by_heading,
    fields_of,
)
from fe.workbooks.tables import BOUNDS, Bounds, Cell, ReadSheet, ReadTable, UnreadableWorkbook, read_table

#: Rows in which the headings are looked for, and how many of them there must be.
_HEAD_ROWS = 15
_FEWEST = 3
#: Keys of the template's example, which is never issued.
EXAMPLES = ("EJEMPLO", "EXAMPLE")
MAX_KEY = 100
_TYPES = {one.value: one for one in EcfType}
_BUYER = "Encabezado.Comprador.RNCComprador"
_TAX_ID = re.compile(r"[0-9][0-9 -]*[0-9]", re.ASCII)
_ITEM = re.compile(r"DetallesItems\.Item(?:\[([0-9]+)\])?\.?")
_INDEX = re.compile(r"\[[0-9]+\]")
#: Headings by the name of the element, and such names in a message, with or without their path.
_HEADINGS = {column.code: column.heading for path, column in COLUMNS.items() if path not in BESIDE}
_NAMED = re.compile(r"\b(?:[A-Z][A-Za-z]+(?:\[[0-9]+\])?\.)*([A-Z][A-Za-z]+)\b", re.ASCII)
_EXPECTED = Text("{said} (expected: {expected})", "{said} (se espera: {expected})")
_SUB_TABLES = {"TablaSubDescuento": "DescuentoMonto"}


@dataclass(frozen=True, slots=True)
class RowFault:
    """A fault, with its row of the file and its column; None: the row as a whole."""

    row: int
    column: str | None
    text: Text


@dataclass(frozen=True, slots=True)
class ReadReceipt:
    """A receipt of a file, to be numbered by a sequence of `prefix`: that of the name `sequence`, if it says one.

    `key` is the user's own, or made from the digest and the row.
    """

    key: str
    is_own_key: bool
    rows: tuple[int, ...]
    prefix: str | None
    payload: bytes
    faults: tuple[RowFault, ...]
    sequence: str | None = None


@dataclass(frozen=True, slots=True)
class ReadImport:
    """A file that was read: its receipts, and notes about the whole."""

    receipts: tuple[ReadReceipt, ...]
    notes: tuple[Text, ...]
    digest: bytes


def read_receipts(content: bytes, bounds: Bounds = BOUNDS) -> ReadImport:
    """Read a file; CPU work only. Raises UnreadableWorkbook."""
    digest = hashlib.sha256(content).digest()
    headed = find_head(read_table(content, bounds))
    notes: list[Text] = []
    groups = _grouped(headed, digest, notes)
    if not groups:
        raise UnreadableWorkbook(400, Text("The workbook has no receipts.", "El archivo no tiene comprobantes."))
    style = _style(headed)
    merged = _merged(headed)
    receipts = tuple(_receipt(headed, group, style, merged) for group in groups)
    if any(not group.is_own_key for group in groups):
        notes.append(
            Text(
                "Some receipts have no key: this very file is issued once, a changed copy of it again.",
                "Hay comprobantes sin clave: este mismo archivo se emite una sola vez, una copia modificada otra vez.",
            )
        )
    if repeated := _repeated(receipts):
        notes.append(_REPEATED.fill(rows=repeated))
    if doubtful := _doubtful(headed, groups):
        notes.append(_DOUBTFUL.fill(doubt=CHECK_DIGIT.fill(number=_NUMBER.fill(rows=doubtful))))
    return ReadImport(receipts, tuple(notes), digest)


_REPEATED = Text(
    "Rows without a key that repeat an earlier row exactly: {rows}. Each is issued: delete those that are one sale.",
    "Filas sin clave que repiten otra exactamente: {rows}. Cada una se emite: elimine las que sean la misma venta.",
)
_DOUBTFUL = Text("{doubt}.", "{doubt}.")
_NUMBER = Text("The RNC or cédula of these rows ({rows})", "El RNC o la cédula de estas filas ({rows})")
#: Rows that a note names.
_MOST_NAMED = 20


def _repeated(receipts: Sequence[ReadReceipt]) -> str:
    """Name the rows without a key whose receipt an earlier row has, too."""
    seen: set[tuple[bytes, str | None]] = set()
    rows = []
    for one in receipts:
        if one.is_own_key or one.faults:
            continue
        if (one.payload, one.sequence) in seen:
            rows.append(one.rows[0])
        seen.add((one.payload, one.sequence))
    return _named(rows)


def _doubtful(headed: "HeadedSheet", groups: Sequence["_Group"]) -> str:
    """Name the first rows of receipts whose buyer's number has a wrong check digit."""
    place = headed.places.get(_BUYER)
    rows = []
    for group in groups if place is not None else ():
        with suppress(BadCell):
            found = tax_id(_tax_id(headed.sheet.rows[group.at[0]][place or 0]))
            if found is not None and not found.checks:
                rows.append(group.at[0] + 1)
    return _named(rows)


def _named(rows: Sequence[int]) -> str:
    more = ", …" if len(rows) > _MOST_NAMED else ""
    return ", ".join(map(str, rows[:_MOST_NAMED])) + more


@dataclass(frozen=True, slots=True)
class HeadedSheet:
    """A sheet, where its headings are, and the place of each column by its path."""

    sheet: ReadSheet
    #: The index of the first row below the headings.
    first: int
    head: int
    places: Mapping[str, int]


def find_head(table: ReadTable) -> HeadedSheet:
    """Find the sheet and row that have the headings. Raises UnreadableWorkbook."""
    for sheet in table.sheets:
        for at, row in enumerate(sheet.rows[:_HEAD_ROWS]):
            if _recognized(row) >= _FEWEST:
                first = at + 1
                while first < len(sheet.rows) and _recognized(sheet.rows[first]) >= _FEWEST:
                    first += 1  # the names of the elements below the words
                return HeadedSheet(sheet, first, at, _places(sheet, at, first))
    raise UnreadableWorkbook(
        400,
        Text(
            "No row has the headings of a template. Download the template and copy your rows into it.",
            "Ninguna fila tiene los encabezados de una plantilla. Descargue la plantilla y copie en ella sus filas.",
        ),
    )


def _recognized(row: Sequence[Cell]) -> int:
    return len({fold(cell) for cell in row if isinstance(cell, str)} & by_heading().keys())


def _places(sheet: ReadSheet, head: int, first: int) -> Mapping[str, int]:
    places: dict[str, int] = {}
    unknown = []
    for place, cell in enumerate(sheet.rows[head]):
        said = str(cell).strip()
        path = by_heading().get(fold(said))
        if path is not None and path in places:
            raise UnreadableWorkbook(
                400, Text(f"Two columns are headed “{said}”.", f"Hay dos columnas con el encabezado «{said}».")
            )
        if path is not None:
            places[path] = place
        elif not (said.startswith("#") or fold(said) in IGNORED) and any(
            row[place] != "" for row in sheet.rows[first:]
        ):
            unknown.append(said or letter(place))
    if unknown:
        named = ", ".join(f"«{one[:40]}»" for one in unknown[:5])
        near = get_close_matches(fold(unknown[0]), by_heading(), n=1)
        heading = COLUMNS[by_heading()[near[0]]].heading if near else None
        meant = Text(f" Do you mean “{heading.en}”?", f" ¿Quiere decir «{heading.es}»?") if heading else Text("", "")
        raise UnreadableWorkbook(
            400,
            Text(
                f"Unknown columns: {named}.{meant.en} Put # before a heading that is to be ignored.",
                f"Columnas desconocidas: {named}.{meant.es} Ponga # delante del encabezado que no se deba leer.",
            ),
        )
    return places


def letter(place: int) -> str:
    """The letters of a column, by its place from 0."""
    said = ""
    place += 1
    while place:
        place, rest = divmod(place - 1, 26)
        said = chr(65 + rest) + said
    return said


@dataclass(slots=True)
class _Group:
    """The rows of one receipt, by their index."""

    key: str
    is_own_key: bool
    at: list[int] = field(default_factory=list)


def _grouped(headed: HeadedSheet, digest: bytes, notes: list[Text]) -> list[_Group]:
    groups: dict[str, _Group] = {}
    examples = 0
    place = headed.places.get(KEY)
    columns = list(headed.places.values())
    key = ""
    merged_keys = {
        row: top
        for (top, left), (bottom, right) in headed.sheet.merges
        if place is not None and left <= place <= right
        for row in range(top + 1, min(bottom, len(headed.sheet.rows) - 1) + 1)
    }
    for at in range(headed.first, len(headed.sheet.rows)):
        row = headed.sheet.rows[at]
        if all(row[column] == "" for column in columns):
            continue
        source = headed.sheet.rows[merged_keys.get(at, at)]
        try:
            key = "" if place is None else text_of(source[place])
        except BadCell:
            key = str(source[place or 0])
        if key.upper().startswith(EXAMPLES):
            examples += 1
            continue
        group = groups.setdefault(
            f"k{key}" if key else f"r{at}", _Group(key or f"{digest.hex()[:24]}-{at + 1}", bool(key))
        )
        group.at.append(at)
    if examples:
        notes.append(Text("The rows of the example are left out.", "Las filas del ejemplo no se toman en cuenta."))
    return list(groups.values())


def _style(headed: HeadedSheet) -> Style | None:
    places = [at for path, at in headed.places.items() if path not in BESIDE and _is_number(path)]
    cells = (row[at] for row in headed.sheet.rows[headed.first :] for at in places)
    return style_of(cell for cell in cells if isinstance(cell, str) and cell)


def _is_number(path: str) -> bool:
    simple = any_field(path).simple
    return simple is not None and simple.form is ValueForm.NUMBER and not any_field(path).codes


def _merged(headed: HeadedSheet) -> Mapping[tuple[int, int], int]:
    """The first row of each cell that is covered by a merged one above; -1 where it is merged with one beside it."""
    covered: dict[tuple[int, int], int] = {}
    last = len(headed.sheet.rows) - 1
    for (top, left), (bottom, right) in headed.sheet.merges:
        for row in range(max(top, headed.first), min(bottom, last) + 1):
            for column in range(left, min(right, left + BOUNDS.columns) + 1):
                if (row, column) != (top, left):
                    covered[row, column] = top if column == left else -1
            if len(covered) > BOUNDS.rows:
                return covered
    return covered


@dataclass(slots=True)
class _Made:
    """A receipt while it is put together."""

    payload: dict[str, Any] = field(default_factory=dict)
    faults: list[RowFault] = field(default_factory=list)


_UNMERGE = Text("is part of a merged cell: unmerge it", "es parte de una celda combinada: sepárela")
_DIFFERS = Text("differs from the first row of this receipt", "no es igual a la primera fila de este comprobante")
_MISSING = Text("is missing", "falta")
_LONG_KEY = Text(f"has more than {MAX_KEY} characters", f"tiene más de {MAX_KEY} caracteres")


def _receipt(
    headed: HeadedSheet, group: _Group, style: Style | None, merged: Mapping[tuple[int, int], int]
) -> ReadReceipt:
    made = _Made()
    rows = tuple(at + 1 for at in group.at)
    if len(group.key) > MAX_KEY or not group.key.isprintable():
        made.faults.append(RowFault(rows[0], KEY, _LONG_KEY))
    ecf_type = _TYPES.get(str(_value(headed, TYPE, group.at[0], None, style, merged, made, rows[0]) or ""))
    for path in COLUMNS:
        if path not in (*BESIDE, TYPE) and not COLUMNS[path].of_line and COLUMNS[path].group != PAID:
            _put_of_head(headed, group, path, ecf_type, style, merged, made)
    _put(made.payload, TYPE, ecf_type.value if ecf_type else None)
    forms = [_form_of_payment(headed, at, ecf_type, style, merged, made) for at in group.at]
    if forms := [form for form in forms if form]:
        *groups, name = PAID.split(".")
        tree = made.payload
        for one in groups:
            tree = tree.setdefault(one, {})
        tree[name] = forms
    items = [_item(headed, at, ecf_type, style, merged, made) for at in group.at]
    made.payload["DetallesItems"] = {"Item": items}
    if ecf_type is None and not any(fault.column == TYPE for fault in made.faults):
        made.faults.append(
            RowFault(
                rows[0],
                TYPE,
                Text("must be a type such as 31 or 32", "debe ser un tipo de comprobante, como 31 o 32"),
            )
        )
    raw = write_canonical_json(made.payload)
    try:
        parse_json(raw)
    except Malformed as wrong:
        made.faults.append(RowFault(rows[0], None, wrong.text))
        raw = b"{}"
    prefix = ecf_type.prefix if ecf_type else None
    sequence = _of_head(headed, group, SEQUENCE, ecf_type, style, merged, made)
    return ReadReceipt(group.key, group.is_own_key, rows, prefix, raw, tuple(made.faults), sequence)


def _put_of_head(
    headed: HeadedSheet,
    group: _Group,
    path: str,
    ecf_type: EcfType | None,
    style: Style | None,
    merged: Mapping[tuple[int, int], int],
    made: _Made,
) -> None:
    first = _of_head(headed, group, path, ecf_type, style, merged, made)
    column = COLUMNS[path]
    if first is None and column.initial and ecf_type is not None and path in fields_of(ecf_type):
        first = column.initial
    _put(made.payload, path, first)


def _of_head(
    headed: HeadedSheet,
    group: _Group,
    path: str,
    ecf_type: EcfType | None,
    style: Style | None,
    merged: Mapping[tuple[int, int], int],
    made: _Made,
) -> Any:
    """Read a value of the receipt as a whole: its rows may repeat it."""
    first: Any = None
    for at in group.at:
        value = _value(headed, path, at, ecf_type, style, merged, made, at + 1)
        if first is None:
            first = value
        elif value is not None and value != first:
            made.faults.append(RowFault(at + 1, path, _DIFFERS))
    return first


def _form_of_payment(
    headed: HeadedSheet,
    at: int,
    ecf_type: EcfType | None,
    style: Style | None,
    merged: Mapping[tuple[int, int], int],
    made: _Made,
) -> dict[str, Any]:
    form: dict[str, Any] = {}
    for column in COLUMNS.values():
        if column.group == PAID:
            _put(form, column.code, _value(headed, column.path, at, ecf_type, style, merged, made, at + 1))
    return form


def _item(
    headed: HeadedSheet,
    at: int,
    ecf_type: EcfType | None,
    style: Style | None,
    merged: Mapping[tuple[int, int], int],
    made: _Made,
) -> dict[str, Any]:
    item: dict[str, Any] = {}
    for path, column in COLUMNS.items():
        if not column.of_line:
            continue
        before = len(made.faults)
        value = _value(headed, path, at, ecf_type, style, merged, made, at + 1)
        if value is None and column.required and len(made.faults) == before:
            made.faults.append(RowFault(at + 1, path, _MISSING))
        _put(item, path.removeprefix(f"{LINE}."), value)
    for path, column in COLUMNS.items():
        inner = path.removeprefix(f"{LINE}.")
        if column.of_line and column.initial and inner.partition(".")[0] in item and "." in inner:
            item[inner.partition(".")[0]].setdefault(column.code, column.initial)
    return item


def _value(
    headed: HeadedSheet,
    path: str,
    at: int,
    ecf_type: EcfType | None,
    style: Style | None,
    merged: Mapping[tuple[int, int], int],
    made: _Made,
    row: int,
) -> Any:
    """Read a cell; None where it is empty or cannot be read, which is a fault then."""
    place = headed.places.get(path)
    if place is None:
        return None
    cell = headed.sheet.rows[at][place]
    top = merged.get((at, place))
    if top is not None and cell == "":
        if top < headed.first or COLUMNS[path].of_line:
            made.faults.append(RowFault(row, path, _UNMERGE))
            return None
        cell = headed.sheet.rows[top][place]
    if cell == "" or (isinstance(cell, str) and not cell.strip()):
        return None
    try:
        if path == SEQUENCE:
            return text_of(cell)
        described = fields_of(ecf_type).get(path) if ecf_type is not None else None
        described = described or any_field(path)
        if described.codes:
            return code_of(cell, described.codes)
        assert described.simple is not None
        if path == _BUYER:
            return _tax_id(cell)
        if described.simple.form is ValueForm.NUMBER:
            return number_of(cell, style)
        if described.simple.form is ValueForm.DATE:
            return day_of(cell)
        return text_of(cell)
    except BadCell as bad:
        made.faults.append(RowFault(row, path, bad.text))
        return None


def _tax_id(cell: Cell) -> str:
    """Read an RNC or cédula; dashes go. Raises BadCell for a number that may have lost the zeros of a cédula."""
    said = text_of(cell)
    if _TAX_ID.fullmatch(said):
        said = said.replace("-", "").replace(" ", "")
    if (
        not isinstance(cell, str)
        and said.isdigit()
        and (len(said) in (8, 10) or (len(said) == 9 and not TaxId(said).checks and TaxId(said.zfill(11)).checks))
    ):
        raise BadCell(
            Text(
                "may have lost zeros: format the cell as text and write all digits",
                "pudo perder ceros: dé a la celda formato de texto y escriba todos los dígitos",
            )
        )
    return said


def _put(tree: dict[str, Any], path: str, value: str | Decimal | None) -> None:
    if value is None:
        return
    *groups, name = path.split(".")
    for group in groups:
        tree = tree.setdefault(group, {})
    tree[name] = value


def place_problems(problems: Iterable[Problem], receipt_rows: Sequence[int]) -> Iterator[RowFault]:
    """Place each problem of a document at its row and column."""
    for problem in problems:
        path, row = problem.path, receipt_rows[0]
        found = _ITEM.match(path)
        if found is not None and found[1] and int(found[1]) <= len(receipt_rows):
            row = receipt_rows[int(found[1]) - 1]
        bare = _INDEX.sub("", path)
        for table, column in _SUB_TABLES.items():
            if table in bare.split("."):
                bare = bare[: bare.index(table)] + column
        known = bare if bare in COLUMNS else None
        text = _with_headings(Text(problem.message, problem.message_es))
        if problem.expected is not None:
            expected = Text(problem.expected, problem.expected_es or problem.expected)
            text = _EXPECTED.fill(said=text, expected=expected)
        yield RowFault(row, known, text if known or not bare else text.after(bare))


def _with_headings(text: Text) -> Text:
    """Return a message with the headings of columns in place of the names of their elements."""

    def in_language(said: str, language: Language) -> str:
        return _NAMED.sub(
            lambda found: f"«{_HEADINGS[found[1]].said(language)}»" if found[1] in _HEADINGS else found[0], said
        )

    return Text(in_language(text.en, "en"), in_language(text.es, "es"))
