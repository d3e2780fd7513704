"""Printing in the portal: receipts as PDF, by the pool of processes for large documents."""

from fe.ecf.texts import Text
from fe.http.messages import say
from fe.limits import TurnTimeout
from fe.offload.pool import ApartFailed
from fe.portal.replies import Refused, Reply
from fe.portal.visit import Visit
from fe.printing import NotPrintable, PaperSize, PrintOptions, TooManyPages, pdf
from fe.printing.settings import LAYOUTS
from fe.store.records import print_settings

#: Seconds that a page waits for its turn in the pool.
_PATIENCE = 20.0
PRINTING_FAILED = Text(
    "The receipt could not be printed now; try again in a moment.",
    "El comprobante no se pudo imprimir ahora; intente de nuevo en un momento.",
)


async def options_asked(visit: Visit) -> PrintOptions:
    """Return the company's options, on the paper that the address names, if it names one."""
    settings = await visit.read(print_settings.of)
    layout = visit.query.get("layout")
    return settings.options(PaperSize(layout) if layout in LAYOUTS else None)


async def pdf_reply(visit: Visit, xml: bytes, options: PrintOptions, name: str) -> Reply:
    """Answer with a PDF that the browser shows. Raises Refused."""
    try:
        made = await visit.portal.printers.run(visit.tenant_id, pdf, xml, options, within=_PATIENCE)
    except (NotPrintable, TooManyPages):
        raise Refused(409, say("not-printable")) from None
    except (ApartFailed, TurnTimeout):
        raise Refused(503, PRINTING_FAILED) from None
    return visit.file(f"{name}.pdf", "application/pdf", made, inline=True)
