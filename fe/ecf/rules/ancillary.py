"""Rules on summaries, commercial approvals, voided ranges and acknowledgements.

See authority.md#summary, #approval, #voiding and #receivers.
"""

from decimal import Decimal

from fe.ecf.catalogue import EcfType
from fe.ecf.identity import ENcf, e_ncf
from fe.ecf.money import ONE, ZERO, exact, number
from fe.ecf.reading import Fields, rows, section, text, whole
from fe.ecf.rules.case import Examination
from fe.ecf.rules.header import check_dates, check_moment, check_number, exists
from fe.ecf.rules.parties import check_digit
from fe.ecf.thresholds import consumer_in_full

#: Types whose buyer neither approves nor rejects them.
WITHOUT_APPROVAL = frozenset(
    {
        EcfType.CONSUMER,
        EcfType.PURCHASES,
        EcfType.MINOR_EXPENSES,
        EcfType.EXPORTS,
        EcfType.PAYMENTS_ABROAD,
    }
)

_TOTALS = "Encabezado.Totales"
_TAXED = ("MontoGravadoI1", "MontoGravadoI2", "MontoGravadoI3")
_VAT = ("TotalITBIS1", "TotalITBIS2", "TotalITBIS3")
_TOTAL = ("MontoGravadoTotal", "MontoExento", "TotalITBIS", "MontoImpuestoAdicional")


def check_summary(case: Examination) -> None:
    """Check an RFCE: its number, its parties, and that its amounts add up among themselves."""
    check_number(case)
    check_dates(case)
    check_digit(case, case.buyer, "RNCComprador", "Encabezado.Comprador")
    threshold = consumer_in_full(case.day)
    if case.total is not None and case.total >= threshold:
        words = {"threshold": f"{threshold:,.2f}"}
        case.report("summary-too-large", f"{_TOTALS}.MontoTotal", found=case.totals["MontoTotal"], **words)
    with exact():
        _check_sum(case, "MontoGravadoTotal", _TAXED, "base-mismatch")
        _check_sum(case, "TotalITBIS", _VAT, "vat-mismatch")
        _check_sum(case, "MontoTotal", _TOTAL, "total-mismatch")


def _check_sum(case: Examination, name: str, parts: tuple[str, ...], code: str) -> None:
    amounts = [number(case.totals.get(part)) for part in parts]
    sent = number(case.totals.get(name))
    if sent is None and not any(amounts):
        return
    expected = sum((amount for amount in amounts if amount is not None), ZERO)
    if case.differs(sent or ZERO, expected, ONE):
        case.report(code, f"{_TOTALS}.{name}", found=case.totals.get(name), expected=expected)


def check_approval(case: Examination) -> None:
    """Check an ACECF."""
    place = "DetalleAprobacionComercial"
    fields = section(case.content, place)
    approved = _number_in(case, fields, "eNCF", place)
    if approved is not None and approved.type in WITHOUT_APPROVAL:
        case.report("approval-not-taken", f"{place}.eNCF", found=fields["eNCF"])
    for name in ("RNCEmisor", "RNCComprador"):
        check_digit(case, fields, name, place)
    exists(case, fields, "FechaEmision", place)
    check_moment(case, fields, "FechaHoraAprobacionComercial", place)
    if (whole(fields, "Estado") == "2") != ("DetalleMotivoRechazo" in fields) and "Estado" in fields:
        case.report("approval-reason", f"{place}.DetalleMotivoRechazo", found=fields.get("DetalleMotivoRechazo"))


def check_acknowledgement(case: Examination) -> None:
    """Check an ARECF."""
    place = "DetalleAcusedeRecibo"
    fields = section(case.content, place)
    _number_in(case, fields, "eNCF", place)
    for name in ("RNCEmisor", "RNCComprador"):
        check_digit(case, fields, name, place)
    check_moment(case, fields, "FechaHoraAcuseRecibo", place)
    if (whole(fields, "Estado") == "1") != ("CodigoMotivoNoRecibido" in fields) and "Estado" in fields:
        path = f"{place}.CodigoMotivoNoRecibido"
        case.report("acknowledgement-reason", path, found=fields.get("CodigoMotivoNoRecibido"))


def _number_in(case: Examination, fields: Fields, name: str, place: str) -> ENcf | None:
    written = text(fields, name)
    read = e_ncf(written) if written else None
    if written is not None and read is None:
        case.report("e-ncf-form", f"{place}.{name}", found=written, expected="E310000000001")
    return read


def check_voided(case: Examination) -> None:
    """Check an ANECF: ranges, their counts, and the order of the blocks."""
    check_digit(case, case.header, "RncEmisor", "Encabezado")
    check_moment(case, case.header, "FechaHoraAnulacioneNCF", "Encabezado")
    total = 0
    ranges: list[tuple[ENcf, ENcf, str]] = []
    for place, block in enumerate(rows(case.content, "DetalleAnulacion", "Anulacion"), 1):
        path = f"DetalleAnulacion.Anulacion[{place}]"
        if number(block.get("NoLinea")) not in (None, place):
            case.report("line-number", f"{path}.NoLinea", found=block["NoLinea"], expected=place)
        counted = 0
        for row_place, row in enumerate(rows(block, "TablaRangoSecuenciasAnuladaseNCF", "Secuencias"), 1):
            there = f"{path}.TablaRangoSecuenciasAnuladaseNCF.Secuencias[{row_place}]"
            ends = _check_range(case, row, there, whole(block, "TipoeCF"))
            if ends is not None:
                counted += ends[1].number - ends[0].number + 1
                ranges.append((*ends, there))
        _check_count(case, block, counted, path)
        total += counted
    _check_count(case, case.header, total, "Encabezado")
    _check_overlaps(case, ranges)


def _check_range(case: Examination, row: Fields, path: str, ecf_type: str | None) -> tuple[ENcf, ENcf] | None:
    first = _number_in(case, row, "SecuenciaeNCFDesde", path)
    last = _number_in(case, row, "SecuenciaeNCFHasta", path)
    for name, end in (("SecuenciaeNCFDesde", first), ("SecuenciaeNCFHasta", last)):
        if end is not None and ecf_type is not None and end.type.value != ecf_type:
            case.report("void-range", f"{path}.{name}", found=end, expected=f"E{ecf_type}")
            return None
    if first is None or last is None:
        return None
    if last.number < first.number:
        case.report("void-range", f"{path}.SecuenciaeNCFHasta", found=last, expected=f">= {first}")
        return None
    return first, last


def _check_count(case: Examination, fields: Fields, counted: int, path: str) -> None:
    stated = number(fields.get("CantidadeNCFAnulados"))
    if stated is not None and stated != Decimal(counted):
        found = fields["CantidadeNCFAnulados"]
        case.report("void-count", f"{path}.CantidadeNCFAnulados", found=found, expected=counted)


def _check_overlaps(case: Examination, ranges: list[tuple[ENcf, ENcf, str]]) -> None:
    ranges.sort(key=lambda ends: (ends[0].type, ends[0].number))
    furthest: ENcf | None = None
    for first, last, path in ranges:
        if furthest is not None and furthest.type is first.type and first.number <= furthest.number:
            case.report("void-overlap", path, found=f"{first}-{last}")
            furthest = last if last.number > furthest.number else furthest
        else:
            furthest = last
