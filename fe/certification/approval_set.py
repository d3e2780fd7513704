"""Read the authority's workbook of step 3: commercial approvals, each a row.

Unlike that of step 2 its cells may be empty, and the total and the answer are numbers.
"""

from collections.abc import Mapping, Sequence
from decimal import Decimal

from fe.certification.case_set import BadSet, Case, CaseSet, SetFault, fault_at, heads_of
from fe.ecf.catalogue import Root
from fe.ecf.identity import e_ncf
from fe.ecf.money import number
from fe.ecf.texts import Text

SHEET = "ACEECF_Generadas"
DETAIL = "DetalleAprobacionComercial"
#: Approvals of the authority's set.
APPROVALS = 11
_NUMBER, _ISSUER, _BUYER, _TOTAL, _REASON = "eNCF", "RNCEmisor", "RNCComprador", "MontoTotal", "DetalleMotivoRechazo"
MOMENT = "FechaHoraAprobacionComercial"
COLUMNS = ("Version", _ISSUER, _NUMBER, "FechaEmision", _TOTAL, _BUYER, "Estado", _REASON, MOMENT)
_MAY_BE_NUMBERS = frozenset({"Version", _TOTAL, "Estado"})


def read_approvals(sheets: Mapping[str, Sequence[Sequence[object]]], *, buyer: str) -> CaseSet:
    """Read the sheet for the taxpayer `buyer`, who answers. Raises BadSet with every fault that was found."""
    rows, faults = sheets[SHEET], list[SetFault]()
    heads = heads_of(SHEET, rows, COLUMNS, faults)
    cases: dict[str, Case] = {}
    for place, cells in enumerate(rows[1:] if not faults else (), 2):
        if any(cell not in (None, "") for cell in cells):
            _row(place, heads, cells, buyer, cases, faults)
    if not cases and not faults:
        faults.append(fault_at(SHEET, None, None, "there is no approval", "no hay aprobaciones"))
    if faults:
        raise BadSet(faults)
    return CaseSet(buyer, tuple(cases.values()), _remarks(cases))


def _row(
    place: int,
    heads: Sequence[str],
    cells: Sequence[object],
    buyer: str,
    cases: dict[str, Case],
    faults: list[SetFault],
) -> None:
    before = len(faults)
    values: dict[str, str] = {}
    for name, cell in zip(heads, cells, strict=False):
        if cell == "" and (name == _REASON or name not in COLUMNS):
            continue
        if name not in COLUMNS:
            en, es = "this service does not know the column: report it", "este servicio no conoce la columna: repórtelo"
            faults.append(fault_at(SHEET, place, name, en, es, again=False))
        elif (text := _text(name, cell)) is None:
            en, es = "the cell was changed or emptied", "la celda fue cambiada o vaciada"
            faults.append(fault_at(SHEET, place, name, en, es))
        else:
            values[name] = text
    if len(faults) > before:
        return
    if values[_BUYER] != buyer:
        en = f"the set is of taxpayer {values[_BUYER]}, not of {buyer}: load the set of this company"
        es = f"el set es del contribuyente {values[_BUYER]}, no de {buyer}: cargue el set de esta empresa"
        faults.append(fault_at(SHEET, place, _BUYER, en, es, again=False))
    approved = e_ncf(values[_NUMBER])
    if approved is None:
        said = values[_NUMBER]
        faults.append(fault_at(SHEET, place, _NUMBER, f"{said} is no e-NCF", f"{said} no es un e-NCF"))
        return
    name = f"{values[_ISSUER]}{approved}"
    if name in cases:
        en, es = f"{name} is in row {cases[name].row} already", f"{name} ya está en la fila {cases[name].row}"
        faults.append(fault_at(SHEET, place, _NUMBER, en, es))
    content = {DETAIL: {column: values[column] for column in COLUMNS if column in values}}
    places = {f"{DETAIL}.{column}": column for column in COLUMNS}
    cases[name] = Case(name, place, approved.type, str(approved), content, places, sheet=SHEET, root=Root.ACECF)


def _text(name: str, cell: object) -> str | None:
    """Return the text of a cell as the approval says it; None for one that is not as the authority writes it."""
    if isinstance(cell, str):
        if name == _TOTAL and (amount := number(cell)) is not None:
            return _cents(amount)
        return cell if cell.strip() else None
    if name not in _MAY_BE_NUMBERS or isinstance(cell, bool) or not isinstance(cell, (int, float)):
        return None
    amount = Decimal(format(cell, ".15g"))
    if name == _TOTAL:
        return _cents(amount)
    if name == "Version":
        return f"{amount:.1f}"
    return f"{amount:f}"


def _cents(amount: Decimal) -> str | None:
    """Return an amount with two decimals; None where it has more."""
    return f"{amount:.2f}" if amount == round(amount, 2) else None


def _remarks(cases: Mapping[str, Case]) -> tuple[Text, ...]:
    if len(cases) == APPROVALS:
        return ()
    return (
        Text(
            f"The set has {len(cases)} approvals; the authority's has {APPROVALS}. Compare it with the portal before "
            "you send it.",
            f"El set tiene {len(cases)} aprobaciones; el de la DGII tiene {APPROVALS}. Compárelo con el portal antes "
            "de enviarlo.",
        ),
    )
