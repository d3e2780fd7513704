"""Printing in the portal: receipts as PDF, by the pool of processes for large documents."""

from fe.ecf.texts import Text
from fe.http.archives import Printer, Receipt
from fe.http.errors import ApiError
from fe.http.messages import say
from fe.http.routes.printing import standing_as
from fe.limits import TurnTimeout
from fe.offload.pool import ApartFailed
from fe.portal.replies import Refused, Reply
from fe.portal.visit import Visit
from fe.printing import NotPrintable, PaperSize, PrintOptions, TooManyPages, pdf
from fe.printing.settings import LAYOUTS
from fe.store.records import modes, print_settings
from fe.store.records.received import ReceivedRecord

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


async def printer_of_many(visit: Visit) -> Printer:
    """Make the printer of an archive, which raises ApiError."""
    options, settings = await options_asked(visit), visit.portal.settings

    async def print_one(receipt: Receipt, xml: bytes) -> bytes:
        if isinstance(receipt, ReceivedRecord):
            ecf, fc = settings.authority_ecf_url, settings.authority_fc_url
            of_one = options.of_received(receipt.environment, ecf_host=ecf, fc_host=fc)
        else:
            in_contingency = await modes.is_in_contingency(visit.portal.db, visit.tenant_id, receipt)
            of_one = standing_as(options, receipt, in_contingency=in_contingency)
        try:
            return await visit.portal.printers.run(visit.tenant_id, pdf, xml, of_one)
        except (NotPrintable, TooManyPages):
            raise ApiError(409, say("not-printable")) from None

    return print_one


async def pdf_reply(visit: Visit, xml: bytes, options: PrintOptions, name: str) -> Reply:
    """Answer with a PDF that the browser shows. Raises Refused."""
    try:
        made = await visit.portal.printers.run(visit.tenant_id, pdf, xml, options, within=_PATIENCE)
    except (NotPrintable, TooManyPages):
        raise Refused(409, say("not-printable")) from None
    except (ApartFailed, TurnTimeout):
        raise Refused(503, PRINTING_FAILED) from None
    return visit.file(f"{name}.pdf", "application/pdf", made, inline=True)
