"""Rules on the number, the dates and the payment (authority.md#reception, #signature and #types)."""

from datetime import date

from fe.ecf.autofill import AMOUNTS_DUE
from fe.ecf.catalogue import EcfType
from fe.ecf.dates import read_day, read_moment
from fe.ecf.identity import e_ncf
from fe.ecf.money import ZERO, number
from fe.ecf.reading import Fields, rows, section, text, whole
from fe.ecf.rules.case import Examination, day_in

_DATES = (
    (("Encabezado", "IdDoc"), ("FechaVencimientoSecuencia", "FechaLimitePago", "FechaDesde", "FechaHasta")),
    (("Encabezado", "Emisor"), ("FechaEmision",)),
    (("Encabezado", "Comprador"), ("FechaEntrega", "FechaOrdenCompra")),
    (("Encabezado", "InformacionesAdicionales"), ("FechaEmbarque",)),
    (("InformacionReferencia",), ("FechaNCFModificado",)),
)

#: The first electronic receipts were issued in 2019; the authority's own test set dates one in December 2018.
_FIRST_DAY = date(2018, 1, 1)
_WITHHELD = ("TotalITBISRetenido", "TotalISRRetencion")

_CREDIT, _FREE = "2", "3"
_VOUCHERS = "5"


def check_number(case: Examination) -> None:
    """Check eNCF's form, and that it is of the document's type."""
    written = case.e_ncf
    if written is None:
        return
    number_ = e_ncf(written)
    if number_ is None:
        case.report("e-ncf-form", "Encabezado.IdDoc.eNCF", found=written, expected="E310000000001")
    elif number_.type is not case.type and case.type is not None:
        case.report("e-ncf-type", "Encabezado.IdDoc.eNCF", found=written, expected=case.type.prefix)
    stated = whole(case.id_doc, "TipoeCF")
    if stated is not None and case.type is not None and stated != case.type.value:
        case.report("e-ncf-type", "Encabezado.IdDoc.TipoeCF", found=stated, expected=case.type.value)


def check_dates(case: Examination) -> None:
    """Check that dates exist, and those of issue, signing and expiry against the present."""
    for place, names in _DATES:
        fields: Fields = case.content
        for step in place:
            fields = section(fields, step)
        if fields:
            for name in names:
                if name in fields:
                    exists(case, fields, name, ".".join(place))
    expiry = day_in(case.id_doc, "FechaVencimientoSecuencia")
    if expiry is not None and expiry < case.today:
        path = "Encabezado.IdDoc.FechaVencimientoSecuencia"
        case.report("sequence-expired", path, found=case.id_doc["FechaVencimientoSecuencia"])
    if case.issued is not None:
        path = "Encabezado.Emisor.FechaEmision"
        if case.issued > case.today:
            case.report("issue-date-future", path, found=case.issuer["FechaEmision"])
        elif case.issued < _FIRST_DAY:
            case.report("issue-date-old", path, found=case.issuer["FechaEmision"])
        elif is_long_past(case.issued, case.today):
            case.report("issue-date-past", path, found=case.issuer["FechaEmision"])
    check_moment(case, case.content, "FechaHoraFirma", "")


def is_long_past(issued: date, today: date) -> bool:
    """Whether a date of issue is of the year before last, or earlier: more likely a slip than a late receipt."""
    return issued.year < today.year - 1


def exists(case: Examination, fields: Fields, name: str, place: str) -> None:
    """Check that a date is one of the calendar."""
    written = text(fields, name)
    if written is not None and read_day(written) is None:
        case.report("not-a-date", f"{place}.{name}", found=written)


def check_moment(case: Examination, fields: Fields, name: str, place: str) -> None:
    """Check that a time of signing exists and is not later than now."""
    written = text(fields, name)
    if written is None:
        return
    path = f"{place}.{name}" if place else name
    moment = read_moment(written)
    if moment is None:
        case.report("not-a-date", path, found=written)
    elif moment > case.now:
        case.report("signed-in-future", path, found=written)


def check_payment(case: Examination) -> None:
    """Check how and until when it is paid, and the period that is billed."""
    id_doc = case.id_doc
    terms = whole(id_doc, "TipoPago")
    due = day_in(id_doc, "FechaLimitePago")
    if terms == _CREDIT and text(id_doc, "FechaLimitePago") is None and case.type is not EcfType.MINOR_EXPENSES:
        case.report("due-date-missing", "Encabezado.IdDoc.FechaLimitePago")
    if terms == _FREE and case.type is EcfType.CREDIT_FISCAL:
        case.report("free-credit-fiscal", "Encabezado.IdDoc.TipoPago", found=terms, expected="1, 2")
    if due is not None and case.issued is not None and due < case.issued:
        case.report("due-date-early", "Encabezado.IdDoc.FechaLimitePago", found=id_doc["FechaLimitePago"])
    if "FechaHasta" in id_doc:
        first, last = day_in(id_doc, "FechaDesde"), day_in(id_doc, "FechaHasta")
        if first is not None and last is not None and last < first:
            case.report("period-order", "Encabezado.IdDoc.FechaHasta", found=id_doc["FechaHasta"])
    if "TablaFormasPago" in id_doc:
        _check_payments(case)


def _check_payments(case: Examination) -> None:
    """Check that the ways of payment add up to what is due, with or without what is withheld, and suit the type."""
    payments = rows(case.id_doc, "TablaFormasPago", "FormaDePago")
    amounts = [number(row.get("MontoPago")) for row in payments]
    due = [number(case.totals.get(name)) for name in AMOUNTS_DUE]
    paid = sum((amount for amount in amounts if amount is not None), ZERO)
    withheld = sum((number(case.totals.get(name)) or ZERO for name in _WITHHELD), ZERO)
    in_order = {amount - less for amount in due if amount is not None for less in (ZERO, withheld)}
    if payments and None not in amounts and case.total is not None and paid not in in_order:
        wanted = next(amount for amount in due if amount is not None)
        case.report("payments-differ", "Encabezado.IdDoc.TablaFormasPago", found=paid, expected=wanted)
    if case.type is not EcfType.CONSUMER:
        for place, row in enumerate(payments, 1):
            if number(row.get("FormaPago")) == int(_VOUCHERS):
                path = f"Encabezado.IdDoc.TablaFormasPago.FormaDePago[{place}].FormaPago"
                case.report("vouchers-only-consumer", path, found=_VOUCHERS)
