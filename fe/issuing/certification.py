"""The authority's set of test cases: read in the pool, and rehearsed whole before a document of it is sent.

A rehearsal takes each case the way of signing, with the certificate that will sign it, and compares the signed bytes
with the cells of the workbook (docs/decisions/certification.md).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any

from fe.certification.approval_set import DETAIL, MOMENT, read_approvals
from fe.certification.approval_set import SHEET as APPROVALS
from fe.certification.case_set import BadSet, Case, CaseSet, SetFault, differences, read_set
from fe.certification.columns import ECF, RFCE
from fe.ecf.build import DECLARATION, write
from fe.ecf.catalogue import Root
from fe.ecf.dates import read_moment
from fe.ecf.document import Document, NotADocument, read_xml
from fe.ecf.lines import line_amount
from fe.ecf.modified import read_receipt
from fe.ecf.money import ZERO, cents, exact, number
from fe.ecf.parse import Malformed
from fe.ecf.problems import Problem, Severity
from fe.ecf.reading import rows, section
from fe.ecf.rules import check
from fe.ecf.signature import BadSignature, Canonical, SignedXml, Signer, verify
from fe.ecf.summary import summarise
from fe.ecf.taxes import Rates
from fe.ecf.texts import Text
from fe.issuing.prepare import prepare, read
from fe.workbooks.tables import Bounds, UnreadableWorkbook, read_table

#: The authority's workbook has 5,215 columns and 26 rows, 162 kB, 8 MB when it is unpacked.
BOUNDS = Bounds(size=4 * 1024 * 1024, unpacked=32 * 1024 * 1024, rows=200, columns=6000)

_SIGNED_AT = "FechaHoraFirma"
#: Remarks that the authority's own sets give rise to: their dates are years old, and amounts paid are not compared.
_USUAL = frozenset({"issue-date-past", "issue-date-old", "payments-differ", "withholding-between-companies"})
#: Totals of a document, and what they are the sum of.
_SUMS = {
    "MontoTotal": ("MontoGravadoTotal", "MontoExento", "TotalITBIS", "MontoImpuestoAdicional"),
    "MontoGravadoTotal": ("MontoGravadoI1", "MontoGravadoI2", "MontoGravadoI3"),
    "TotalITBIS": ("TotalITBIS1", "TotalITBIS2", "TotalITBIS3"),
}
#: A set of approvals is sent while it is as new as this.
_RECENT = timedelta(days=60)
#: Two totals of the authority's own set are a cent off.
_CENTS = Decimal("0.02")
_NOT_XLSX = Text("load the .xlsx file of the portal, as downloaded", "cargue el archivo .xlsx del portal, sin abrirlo")


@dataclass(frozen=True, slots=True)
class Rehearsed:
    """A case after its rehearsal; it may be sent if `faults` is empty."""

    case: Case
    #: The document as it is handed in to be signed.
    original: bytes = b""
    signed: bytes = b""
    #: The signed summary, which is sent instead of the invoice.
    summary: bytes | None = None
    faults: tuple[SetFault, ...] = ()


def read_workbook(content: bytes, issuer: str, today: date) -> CaseSet:
    """Read a workbook of the portal, of step 2 or 3; CPU work only, for a process of the pool.

    Raises UnreadableWorkbook and BadSet.
    """
    table = read_table(content, BOUNDS)
    if table.format != "xlsx":
        raise UnreadableWorkbook(415, _NOT_XLSX)
    sheets = {sheet.name: sheet.rows for sheet in table.sheets}
    if APPROVALS in sheets and ECF not in sheets:
        return read_approvals(sheets, buyer=issuer)
    return read_set(sheets, issuer=issuer, today=today)


def rehearse(
    cases: Sequence[Case], signer: Signer, *, issuer: Mapping[str, Any], now: datetime, rates: Rates
) -> list[Rehearsed]:
    """Make, check, sign and verify every case, in the order of sending; CPU work only, safe in a thread.

    `issuer` is the tenant's own data, with which the signer fills in what is left out.
    """
    done: dict[str, Rehearsed] = {}
    for case in cases:
        base = done.get(case.modified or "")
        done[case.e_ncf] = _rehearse(case, signer, issuer, now, rates, None if base is None else base.signed or None)
    return list(done.values())


def require_sound(
    rehearsed: Sequence[Rehearsed], more: Sequence[SetFault] = (), *, despite_doubts: bool = False
) -> None:
    """Raise BadSet with the faults of all cases and `more`, if there are any; a person may have decided on doubts."""
    found = [*(fault for one in rehearsed for fault in one.faults), *more]
    faults = [fault for fault in found if fault.is_certain or not despite_doubts]
    if faults:
        raise BadSet(faults)


def _rehearse(
    case: Case, signer: Signer, issuer: Mapping[str, Any], now: datetime, rates: Rates, modified: bytes | None
) -> Rehearsed:
    try:
        original = DECLARATION + write(case.document).text.encode()
        document = read("xml", original)
    except NotADocument as error:
        return Rehearsed(case, faults=tuple(_of_problem(case, one) for one in error.problems))
    except Malformed as error:
        return Rehearsed(case, faults=(_fault(case, None, error.message),))
    prepared = prepare(
        document,
        number=None,
        issuer=issuer,
        last_day=None,
        holders=(),
        now=now,
        rates=rates,
        modified=None if modified is None else read_receipt(modified),
    )
    faults = [_of_problem(case, one) for one in prepared.problems if _stops(one)]
    faults += _added(case, prepared.document)
    faults += _of_sums(case)
    faults += _of_age(case, now)
    if prepared.written is None or any(one.is_certain for one in faults):
        return Rehearsed(case, original, faults=tuple(faults))
    signed = signer.sign_canonical(Canonical.of(prepared.written.element))
    faults += _of_signed(case, signed, case.content)
    summary = None
    if case.summary is not None:
        made = summarise(prepared.document, signed.security_code)
        written = write(made)
        faults += differences(case, made) if case.summary else []
        faults += [
            _of_problem(case, one, RFCE)
            for one in check(made, now=now, element=written.element, is_plain=written.is_plain, rates=rates)
            if _stops(one)
        ]
        sent = signer.sign_canonical(Canonical.of(written.element))
        faults += _of_signed(case, sent, read_xml(written.element).content)
        summary = sent.xml
    return Rehearsed(case, original, signed.xml, summary, tuple(faults))


def _stops(problem: Problem) -> bool:
    """Whether a problem makes the verdict uncertain: elsewhere the authority may still accept it with remarks."""
    return problem.severity is Severity.REJECTED or problem.code not in _USUAL


def _fault(
    case: Case, column: str | None, text: Text, sheet: str | None = None, *, is_certain: bool = True
) -> SetFault:
    row = case.summary_row if sheet == RFCE else case.row
    return SetFault(sheet or case.sheet, row, column, text.after(case.e_ncf), is_certain)


def _of_problem(case: Case, problem: Problem, sheet: str | None = None) -> SetFault:
    text = Text(problem.message, problem.message_es)
    column = case.column_of(problem.path)
    is_certain = problem.severity is Severity.REJECTED
    return _fault(case, column, problem.text if column is None else text, sheet, is_certain=is_certain)


def _added(case: Case, document: Document) -> Iterator[SetFault]:
    """Report elements that the service would fill in: the authority compares each with its own."""
    given = dict(_leaves(case.content))
    for path, value in _leaves(document.content):
        if path != _SIGNED_AT and given.get(path) != value:
            text = Text(
                f"the service would write {value} here, the set leaves it out: report it, and do not send the set",
                f"el servicio escribiría {value} aquí y el set lo omite: repórtelo y no envíe el set",
            )
            yield _fault(case, case.column_of(path) or path, text)


def _of_sums(case: Case) -> Iterator[SetFault]:
    """Doubt amounts that are not the sum of their parts: the authority's are exact, its tolerance is for others."""
    totals = section(case.document.get("Encabezado") or {}, "Totales")
    with exact():
        for name, parts in _SUMS.items():
            said = number(totals.get(name))
            amount = sum((number(totals.get(part)) or ZERO for part in parts), ZERO)
            if said is not None and abs(said - amount) > _CENTS:
                yield _doubt(case, f"Encabezado.Totales.{name}", said, amount)
        for place, item in enumerate(rows(case.content, "DetallesItems", "Item"), 1):
            said, made = number(item.get("MontoItem")), line_amount(item)
            if said is not None and made is not None and abs(said - made) > _CENTS:
                yield _doubt(case, f"DetallesItems.Item[{place}].MontoItem", said, made)


def _of_age(case: Case, now: datetime) -> Iterator[SetFault]:
    """Doubt an approval that was written long ago: its set may be of another year, or replaced."""
    moment = read_moment(str(case.document.get(f"{DETAIL}.{MOMENT}"))) if case.root is Root.ACECF else None
    if moment is not None and abs(now - moment) > _RECENT:
        text = Text(
            f"the approval is of {moment:%Y-%m-%d}: if the portal has a newer set, load that",
            f"la aprobación es del {moment:%d-%m-%Y}: si el portal tiene un set más nuevo, cargue ese",
        )
        yield _fault(case, MOMENT, text, is_certain=False)


def _doubt(case: Case, path: str, said: Decimal, amount: Decimal) -> SetFault:
    text = Text(
        f"the cell says {said}, its parts make {cents(amount)}: compare it with a new download",
        f"la celda dice {said} y sus partes suman {cents(amount)}: compárela con una nueva descarga",
    )
    return _fault(case, case.column_of(path), text, is_certain=False)


def _of_signed(case: Case, signed: SignedXml, content: Mapping[str, Any]) -> Iterator[SetFault]:
    """Verify the finished bytes, and compare what they say with what was to be signed."""
    try:
        said = read_xml(verify(signed.xml).root).content
    except (BadSignature, Malformed, NotADocument) as error:
        text = Text(f"the signature does not verify: {error}", f"la firma no se verifica: {error}")
        yield _fault(case, None, text)
        return
    if {**said, _SIGNED_AT: None} != {**content, _SIGNED_AT: None}:
        yield _fault(
            case,
            None,
            Text("the signed document differs from the workbook", "el documento firmado difiere del archivo"),
        )


def _leaves(node: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    if isinstance(node, Mapping):
        for name, below in node.items():
            yield from _leaves(below, f"{path}.{name}" if path else name)
    elif isinstance(node, list):
        for place, below in enumerate(node, 1):
            yield from _leaves(below, f"{path}[{place}]")
    else:
        yield path, node
