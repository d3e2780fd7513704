"""Read the authority's workbook of step 2 into cases, and put them into the order in which they are sent.

The reader takes the workbook only as it was downloaded: every cell is a text, `#e` leaves the element out. Whatever a
program or a person changed is refused with its sheet, row and column, because one wrong document resets the counters.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import cache
from typing import Any

from fe.certification.columns import CASE, CODE, ECF, ENDS, ISSUER, NUMBER, RFCE, TYPE, columns
from fe.ecf.catalogue import EcfType, Root
from fe.ecf.dates import read_day
from fe.ecf.document import Document
from fe.ecf.identity import e_ncf
from fe.ecf.modified import NOTES, number_modified_by
from fe.ecf.money import number
from fe.ecf.texts import LocalizedError, Text
from fe.ecf.thresholds import consumer_in_full

#: The cell of an element that is left out.
OMITTED = "#e"
#: Cases of the authority's set, and those of them whose summary is sent.
CASES, SUMMARIES = 25, 4
#: Faults that are reported.
_MOST = 50

_AGAIN = Text("Download the set again and load it unopened.", "Descargue el set otra vez y cárguelo sin abrirlo.")
_STEP_3 = "ACEECF_Generadas"
_STEP = re.compile(r"(\w+)(?:\[(\d+)\])?")
#: Official order of the types: e-CF, then notes; small consumer invoices, whose summary is sent, come last.
_ORDER = ("31", "32", "41", "43", "44", "45", "46", "47", "33", "34")


@dataclass(frozen=True, slots=True)
class SetFault:
    """A reason not to send the set, and where: sheet, row and column as the workbook names them."""

    sheet: str
    row: int | None
    column: str | None
    text: Text
    #: Whether the authority certainly rejects the document; else a person decides.
    is_certain: bool = True

    @property
    def place(self) -> Text:
        """Where it is, for people."""
        en, es = [f"sheet {self.sheet}"], [f"hoja {self.sheet}"]
        if self.row is not None:
            en.append(f"row {self.row}")
            es.append(f"fila {self.row}")
        if self.column is not None:
            en.append(f"column {self.column}")
            es.append(f"columna {self.column}")
        return Text(", ".join(en), ", ".join(es))

    @property
    def said(self) -> Text:
        """Place and reason."""
        return Text(f"{self.place.en}: {self.text.en}", f"{self.place.es}: {self.text.es}")


class BadSet(LocalizedError):
    """A workbook that is not sent; `faults` are the reasons, at least one."""

    def __init__(self, faults: Sequence[SetFault]) -> None:
        super().__init__(faults[0].said)
        self.faults = tuple(faults)

    def __reduce__(self) -> tuple[type["BadSet"], tuple[tuple[SetFault, ...]]]:
        """Go from process to process whole."""
        return BadSet, (self.faults,)


@dataclass(frozen=True, slots=True)
class Case:
    """One document of the set, with its values as the workbook has them."""

    #: `CasoPrueba`.
    name: str
    row: int
    type: EcfType
    e_ncf: str
    content: Mapping[str, Any]
    #: Path of each element that is there, with its column.
    places: Mapping[str, str]
    #: Row of the summary and its values by column, where the summary is sent and the invoice is uploaded by hand.
    summary_row: int | None = None
    #: Empty where there is none to compare with.
    summary: Mapping[str, str] | None = None
    sheet: str = ECF
    root: Root = Root.ECF

    @property
    def document(self) -> Document:
        """The document, without the moment of its signature."""
        return Document(self.root, self.type if self.root is Root.ECF else None, self.content)

    @property
    def modified(self) -> str | None:
        """The number of the receipt that it refers to."""
        return number_modified_by(self.document)

    def column_of(self, path: str) -> str | None:
        """Return the column of a path, also of an element that is left out."""
        return self.places.get(path) or (_column_by_path().get(path) if self.sheet == ECF else None)


@dataclass(frozen=True, slots=True)
class CaseSet:
    """A set in the order in which it is sent, and remarks that do not stop it."""

    issuer: str
    cases: tuple[Case, ...]
    remarks: tuple[Text, ...] = ()


def read_set(sheets: Mapping[str, Sequence[Sequence[object]]], *, issuer: str, today: date) -> CaseSet:
    """Read the sheets of a workbook for the taxpayer `issuer`. Raises BadSet with every fault that was found."""
    if missing := [name for name in (ECF, RFCE) if name not in sheets]:
        raise BadSet([_missing_sheet(name, _STEP_3 in sheets) for name in missing])
    faults: list[SetFault] = []
    rows: dict[str, dict[str, tuple[int, dict[str, str]]]] = {}
    for sheet in (ECF, RFCE):
        heads = heads_of(sheet, sheets[sheet], columns(sheet), faults)
        if faults:
            continue
        rows[sheet] = {}
        for place, cells in enumerate(sheets[sheet][1:], 2):
            if any(cell not in (None, "") for cell in cells):
                _row(sheet, place, heads, cells, issuer, rows[sheet], faults)
    if not faults:
        if not rows[ECF]:
            faults.append(fault_at(ECF, None, None, "there is no case", "no hay casos"))
        cases = [_case(place, values, today, faults) for place, values in rows[ECF].values()]
        cases = _with_summaries(cases, rows[RFCE], today, faults)
    if faults:
        raise BadSet(faults[:_MOST])
    return CaseSet(issuer, in_order(cases), tuple(_remarks(cases)))


def fault_at(sheet: str, row: int | None, column: str | None, en: str, es: str, *, again: bool = True) -> SetFault:
    """Make a fault of a place; `again` adds that the set has to be downloaded again."""
    text = Text(f"{en}. {_AGAIN.en}", f"{es}. {_AGAIN.es}") if again else Text(f"{en}.", f"{es}.")
    return SetFault(sheet, row, column, text)


def _missing_sheet(name: str, is_step_3: bool) -> SetFault:
    if not is_step_3:
        return fault_at(name, None, None, "the sheet is missing", "falta la hoja")
    return fault_at(
        name,
        None,
        None,
        "the sheet is missing, as this is the workbook of step 3: load that of step 2",
        "falta la hoja, pues este es el archivo del paso 3: cargue el del paso 2",
        again=False,
    )


def heads_of(sheet: str, rows: Sequence[Sequence[object]], wanted: Iterable[str], faults: list[SetFault]) -> list[str]:
    """Return the names of the columns; report those that are missing, or stand there twice."""
    heads = [str(cell).strip() for cell in rows[0]] if rows else []
    found = set(heads)
    missing = [name for name in wanted if name not in found]
    if missing:
        more = len(missing) - 1
        en = f"this column and {more} more are missing" if more else "this column is missing"
        es = f"faltan esta columna y {more} más" if more else "falta esta columna"
        faults.append(fault_at(sheet, 1, missing[0], en, es))
    seen: set[str] = set()
    for name in filter(None, heads):
        if name in seen:
            faults.append(fault_at(sheet, 1, name, "this column is there twice", "esta columna está dos veces"))
        seen.add(name)
    return heads


def _row(
    sheet: str,
    place: int,
    heads: Sequence[str],
    cells: Sequence[object],
    issuer: str,
    found: dict[str, tuple[int, dict[str, str]]],
    faults: list[SetFault],
) -> None:
    """Read the values of a row, and see that it is whole and of this taxpayer."""
    values: dict[str, str] = {}
    changed: list[SetFault] = []
    for name, cell in zip(heads, cells, strict=False):
        if cell != OMITTED and (name or cell != ""):
            fault = _unreadable(sheet, place, name, cell)
            if fault is None:
                values[name] = str(cell)
            else:
                changed.append(fault)
    if changed:
        faults += changed
        return
    name, the_issuer, the_type = values.get(CASE, ""), values.get(ISSUER), values.get(TYPE)
    the_number = e_ncf(values.get(NUMBER, ""))
    if the_issuer != issuer:
        faults.append(
            fault_at(
                sheet,
                place,
                ISSUER,
                f"the set is of taxpayer {the_issuer}, not of {issuer}: load the set of this company",
                f"el set es del contribuyente {the_issuer}, no de {issuer}: cargue el set de esta empresa",
                again=False,
            )
        )
    if the_number is None or the_type != the_number.type.value:
        said = values.get(NUMBER)
        en, es = f"{said} is no number of type {the_type}", f"{said} no es un número del tipo {the_type}"
        faults.append(fault_at(sheet, place, NUMBER, en, es))
    if name != f"{the_issuer}{values.get(NUMBER)}":
        en = f"{name} does not fit the issuer and number of its row"
        faults.append(fault_at(sheet, place, CASE, en, f"{name} no corresponde al emisor y al número de su fila"))
    if name in found:
        before = found[name][0]
        en, es = f"{name} is in row {before} already", f"{name} ya está en la fila {before}"
        faults.append(fault_at(sheet, place, CASE, en, es))
    found[name] = place, values


def _unreadable(sheet: str, place: int, name: str, cell: object) -> SetFault | None:
    """Return the fault of a cell that is not as the authority wrote it, or that has no element."""
    known = columns(sheet)
    if not isinstance(cell, str):
        en, es = "the cell was changed: it is no text any more", "la celda fue cambiada: ya no es texto"
    elif not cell.strip():
        en = f"the cell was emptied; the authority writes {OMITTED}"
        es = f"la celda está vacía; la DGII escribe {OMITTED}"
    elif name not in known or (known[name] is None and name != CASE):
        en = "this service does not know the column and would leave its value out: report it"
        es = "este servicio no conoce la columna y dejaría fuera su valor: repórtelo"
        return fault_at(sheet, place, name, en, es, again=False)
    else:
        return None
    return fault_at(sheet, place, name, en, es)


def _case(place: int, values: Mapping[str, str], today: date, faults: list[SetFault]) -> Case:
    ends = read_day(values[ENDS]) if ENDS in values else None
    if ends is not None and ends < today:
        faults.append(
            fault_at(
                ECF,
                place,
                ENDS,
                f"the set is of another year, its numbers expired on {values[ENDS]}: generate a new one in the portal",
                f"el set es de otro año, sus números vencieron el {values[ENDS]}: genere uno nuevo en el portal",
                again=False,
            )
        )
    content, places = _tree(values)
    return Case(values[CASE], place, EcfType(values[TYPE]), values[NUMBER], content, places)


def _tree(values: Mapping[str, str]) -> tuple[dict[str, Any], dict[str, str]]:
    """Nest values by the paths of their columns. A group that is left out whole leaves no gap in its list."""
    known = columns(ECF)
    nested: dict[Any, Any] = {}
    for column, value in values.items():
        path = known[column]
        if path is None:
            continue
        steps = [step for name, place in _STEP.findall(path) for step in ((name, int(place)) if place else (name,))]
        group = nested
        for step in steps[:-1]:
            group = group.setdefault(step, {})
        group[steps[-1]] = (value, column)
    places: dict[str, str] = {}
    content: dict[str, Any] = _plain(nested, "", places)
    return content, places


def _plain(node: Any, path: str, places: dict[str, str]) -> Any:
    if isinstance(node, tuple):
        value, places[path] = node
        return value
    if all(isinstance(step, int) for step in node):
        return [_plain(node[step], f"{path}[{at}]", places) for at, step in enumerate(sorted(node), 1)]
    return {step: _plain(below, f"{path}.{step}" if path else step, places) for step, below in node.items()}


@cache
def _column_by_path() -> Mapping[str, str]:
    return {path: column for column, path in columns(ECF).items() if path is not None}


def _with_summaries(
    cases: Sequence[Case], summaries: Mapping[str, tuple[int, dict[str, str]]], today: date, faults: list[SetFault]
) -> list[Case]:
    """Give each consumer invoice below the threshold its summary, and report those that have none or need none."""
    left = dict(summaries)
    joined = []
    for case in cases:
        total = number(case.document.get("Encabezado.Totales.MontoTotal"))
        is_small = case.type is EcfType.CONSUMER and total is not None and total < consumer_in_full(today)
        row = left.pop(case.name, None)
        if is_small and row is None:
            en, es = (
                f"sheet RFCE lacks the summary of {case.e_ncf}",
                f"la hoja RFCE no tiene el resumen de {case.e_ncf}",
            )
            faults.append(fault_at(ECF, case.row, CASE, en, es))
        elif row is not None and not is_small:
            en, es = f"{case.e_ncf} is sent whole, without a summary", f"{case.e_ncf} se envía completo, sin resumen"
            faults.append(fault_at(RFCE, row[0], CASE, en, es))
        joined.append(case if row is None else replace(case, summary_row=row[0], summary=row[1]))
    for name, (place, _) in left.items():
        en, es = f"sheet ECF lacks the invoice of {name}", f"la hoja ECF no tiene la factura de {name}"
        faults.append(fault_at(RFCE, place, CASE, en, es))
    return joined


def in_order(cases: Sequence[Case]) -> tuple[Case, ...]:
    """Order e-CF, notes and summaries as the authority does; the receipt that a case refers to comes before it."""
    by_number = {case.e_ncf: case for case in cases}
    ordered: dict[str, Case] = {}

    def add(case: Case, waiting: frozenset[str]) -> None:
        base = by_number.get(case.modified or "")
        if base is not None and base.e_ncf not in waiting:
            add(base, waiting | {case.e_ncf})
        ordered.setdefault(case.name, case)

    for case in sorted(cases, key=lambda one: (one.summary is not None, _ORDER.index(one.type), one.e_ncf)):
        add(case, frozenset())
    return tuple(ordered.values())


def _remarks(cases: Sequence[Case]) -> Iterator[Text]:
    small = sum(case.summary is not None for case in cases)
    if (len(cases), small) != (CASES, SUMMARIES):
        yield Text(
            f"The set has {len(cases)} cases, {small} of them with a summary; the authority's has {CASES} and "
            f"{SUMMARIES}. Compare it with the portal before you send it.",
            f"El set tiene {len(cases)} casos, {small} de ellos con resumen; el de la DGII tiene {CASES} y "
            f"{SUMMARIES}. Compárelo con el portal antes de enviarlo.",
        )
    numbers = {case.e_ncf for case in cases}
    for case in cases:
        if case.type in NOTES and case.modified not in numbers:
            yield Text(
                f"{case.e_ncf} refers to {case.modified}, which is not in the set: it must have been accepted before.",
                f"{case.e_ncf} se refiere a {case.modified}, que no está en el set: debe haber sido aceptado antes.",
            )


def differences(case: Case, summary: Document) -> list[SetFault]:
    """Compare the summary made of an invoice with that of sheet RFCE; amounts may be written in another way."""
    given = case.summary or {}
    faults = []
    for column, path in columns(RFCE).items():
        if path is None or (column == CODE and column not in given):
            continue
        ours, theirs = summary.get(path), given.get(column)
        if ours != theirs and (number(ours) is None or number(ours) != number(theirs)):
            en = f"the summary says {theirs or 'nothing'}, its invoice in row {case.row} {ours or 'nothing'}"
            es = f"el resumen dice {theirs or 'nada'}, su factura en la fila {case.row} {ours or 'nada'}"
            faults.append(fault_at(RFCE, case.summary_row, column, en, es))
    return faults
