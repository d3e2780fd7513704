"""The routes of receipts on paper, a part of the table in fe/http/routes/table.py."""

from fe.http.calls import Handler
from fe.http.openapi.described_errors import DescribedError, errors
from fe.http.routes.printing import PrintHandlers
from fe.http.routes.types import About, Parameter, Route
from fe.printing.settings import LANGUAGES, LAYOUTS, ROLLS

_LANGUAGE = Parameter(
    "language", "of the words beside the prescribed ones", {"type": "string", "enum": list(LANGUAGES)}
)
ON_PAPER = (
    Parameter("layout", "paper; without it that of your settings", {"type": "string", "enum": list(LAYOUTS)}),
    _LANGUAGE,
)
_ON_ROLL = (
    Parameter("layout", "roll; without it that of your settings, or `80mm`", {"type": "string", "enum": list(ROLLS)}),
    _LANGUAGE,
    Parameter(
        "qr",
        "`raster` sends the QR code as a picture, for printers without the command",
        {"type": "string", "enum": ["native", "raster"]},
    ),
)


def printed_routes(one: str, of_one: Parameter, prints: PrintHandlers) -> tuple[Route, ...]:
    """Make the routes of a receipt on paper below `one`."""
    may_fail = errors("no-receipt", "not-signed-yet")
    prints_too = (*may_fail, *errors("not-printable"))
    return (
        _file(
            f"{one}/pdf",
            prints.issued_pdf,
            "getInvoicePdf",
            "Print a receipt as PDF",
            (of_one, *ON_PAPER),
            prints_too,
        ),
        _file(
            f"{one}/ticket",
            prints.issued_ticket,
            "getInvoiceTicket",
            "Print a receipt as ESC/POS",
            (of_one, *_ON_ROLL),
            prints_too,
        ),
        _file(
            f"{one}/qr.png",
            prints.qr_png,
            "getInvoiceQrPng",
            "Get the QR code of a receipt as PNG",
            (of_one,),
            may_fail,
        ),
        _file(
            f"{one}/qr.svg",
            prints.qr_svg,
            "getInvoiceQrSvg",
            "Get the QR code of a receipt as SVG",
            (of_one,),
            may_fail,
        ),
    )


def printed_received_routes(one: str, of_one: Parameter, prints: PrintHandlers) -> tuple[Route, ...]:
    """Make the routes of a received document on paper below `one`."""
    may_fail = errors("no-received", "not-printable")
    return (
        _file(
            f"{one}/pdf",
            prints.received_pdf,
            "getReceivedPdf",
            "Print a received document as PDF",
            (of_one, *ON_PAPER),
            may_fail,
        ),
        _file(
            f"{one}/ticket",
            prints.received_ticket,
            "getReceivedTicket",
            "Print a received document as ESC/POS",
            (of_one, *_ON_ROLL),
            may_fail,
        ),
        _file(
            f"{one}/qr.png",
            prints.received_qr_png,
            "getReceivedQrPng",
            "Get the QR code of a received document as PNG",
            (of_one,),
            may_fail,
        ),
        _file(
            f"{one}/qr.svg",
            prints.received_qr_svg,
            "getReceivedQrSvg",
            "Get the QR code of a received document as SVG",
            (of_one,),
            may_fail,
        ),
    )


_FILES = {"pdf": "application/pdf", "ticket": "application/octet-stream", "png": "image/png", "svg": "image/svg+xml"}


def _file(
    path: str,
    handler: Handler,
    operation: str,
    summary: str,
    parameters: tuple[Parameter, ...],
    errors: tuple[DescribedError, ...],
) -> Route:
    group = "Received documents" if "Received" in operation else "Submissions"
    media_type = _FILES[path.replace(".", "/").rpartition("/")[2]]
    about = About(operation, summary, group, {}, parameters=parameters, errors=errors, file=media_type)
    return Route("GET", path, "invoices:read", handler, about)
