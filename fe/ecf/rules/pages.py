"""Rules on the pages of the printed form (format document, fields 19 and 110 and section E)."""

from fe.ecf.money import ZERO, number
from fe.ecf.reading import rows
from fe.ecf.rules.case import Examination


def check_pages(case: Examination) -> None:
    """Check the count, the order and the subtotals of the pages. Call inside `money.exact()`."""
    pages = rows(case.content, "Paginacion", "Pagina")
    count = number(case.id_doc.get("TotalPaginas"))
    if count is not None and count != len(pages):
        found = case.id_doc["TotalPaginas"]
        case.report("page-count", "Encabezado.IdDoc.TotalPaginas", found=found, expected=len(pages))
    if not pages:
        return
    total, all_stated = ZERO, True
    for place, page in enumerate(pages, 1):
        stated_place = number(page.get("PaginaNo"))
        if stated_place is not None and stated_place != place:
            case.report("page-lines", f"Paginacion.Pagina[{place}].PaginaNo", found=page["PaginaNo"], expected=place)
        first, last = number(page.get("NoLineaDesde")), number(page.get("NoLineaHasta"))
        if first is not None and last is not None and last < first:
            case.report("page-lines", f"Paginacion.Pagina[{place}].NoLineaHasta", found=page["NoLineaHasta"])
        subtotal = number(page.get("MontoSubtotalPagina"))
        total, all_stated = total + (subtotal or ZERO), all_stated and subtotal is not None
    if all_stated and case.total is not None and case.differs(total, case.total, case.tolerance):
        case.report("page-total", "Paginacion", found=total, expected=case.total)
