"""The printed receipt: a pure function from a signed e-CF to a PDF/A-3b, or to the bytes of a receipt printer."""

from dataclasses import replace
from datetime import datetime

from fe.ecf.dates import read_moment
from fe.ecf.document import Document
from fe.printing.logo import BadLogo, read_logo
from fe.printing.options import FiscalStanding, PaperSize, PrintOptions
from fe.printing.read import NotPrintable, PrintedReceipt, TooManyPages, read, read_paper
from fe.printing.settings import BadPrintSetting, PrintSettings, check_settings

__all__ = [
    "BadLogo",
    "BadPrintSetting",
    "FiscalStanding",
    "NotPrintable",
    "PaperSize",
    "PrintOptions",
    "PrintSettings",
    "TooManyPages",
    "check_settings",
    "paper_pdf",
    "pdf",
    "qr_address",
    "read_logo",
    "ticket",
]


def pdf(signed_xml: bytes, options: PrintOptions) -> bytes:
    """Print a signed e-CF as PDF/A-3b with the XML embedded. The same input gives the same bytes.

    Raises NotPrintable for bytes that are no signed e-CF, BadLogo, and TooManyPages.
    """
    # Here, not at the top: with fpdf2 and fontTools, which most processes never need, they take a sixth of a second.
    from fe.printing.canvas import Canvas
    from fe.printing.roll import Roll, roll_width
    from fe.printing.sheet import SIZES, Sheet

    receipt = read(signed_xml, options.language)
    options = _permitted(receipt, options)
    made = read_moment(receipt.signed)
    if made is None:
        raise NotPrintable("the e-CF has no FechaHoraFirma")
    logo = None if options.logo is None else read_logo(options.logo)
    size = (roll_width(options.layout), 800.0) if options.layout.is_roll else SIZES[options.layout]
    canvas = Canvas(size, title=f"{receipt.title} {receipt.e_ncf}", language=options.language, made=made)
    layout = Roll if options.layout.is_roll else Sheet
    layout(canvas, receipt, options, logo, _address(receipt, options)).draw()
    return canvas.finish(signed_xml, f"{receipt.printed.issuer}{receipt.e_ncf}.xml", f"{receipt.title}, XML", made)


def paper_pdf(content: Document, ncf: str, expires: str, made: datetime, options: PrintOptions) -> bytes:
    """Print a receipt of series B from its content: no QR code, no marks of an e-CF, no XML. The same gives the same.

    `expires`: last day of its range, as printed. Raises NotPrintable, BadLogo and TooManyPages.
    """
    from fe.printing.canvas import Canvas  # as above
    from fe.printing.roll import Roll, roll_width
    from fe.printing.sheet import SIZES, Sheet

    receipt = read_paper(content, ncf, expires, options.language)
    logo = None if options.logo is None else read_logo(options.logo)
    size = (roll_width(options.layout), 800.0) if options.layout.is_roll else SIZES[options.layout]
    canvas = Canvas(size, title=f"{receipt.title} {ncf}", language=options.language, made=made)
    layout = Roll if options.layout.is_roll else Sheet
    layout(canvas, receipt, options, logo, "").draw()
    return canvas.finish_alone()


def ticket(signed_xml: bytes, options: PrintOptions, *, raster: bool = False) -> bytes:
    """Print a signed e-CF as ESC/POS for the roll of `options.layout`; `raster` sends the QR code as a picture.

    Raises as `pdf`, and ValueError for a layout that is no roll.
    """
    from fe.printing.escpos import escpos  # as above

    if not options.layout.is_roll:
        raise ValueError("a receipt printer takes a roll")
    receipt = read(signed_xml, options.language)
    options = _permitted(receipt, options)
    logo = None if options.logo is None else read_logo(options.logo)
    return escpos(receipt, options, logo, _address(receipt, options), raster=raster)


def qr_address(signed_xml: bytes, options: PrintOptions) -> str:
    """Return the address in the QR code. Raises NotPrintable."""
    return _address(read(signed_xml), options)


def _permitted(receipt: PrintedReceipt, options: PrintOptions) -> PrintOptions:
    """Deferred sending permits more than a preview before there is a verdict: the receipt with its legend."""
    if receipt.deferred and options.standing is FiscalStanding.PREVIEW:
        return replace(options, standing=FiscalStanding.DEFERRED)
    return options


def _address(receipt: PrintedReceipt, options: PrintOptions) -> str:
    return options.url or receipt.url(options.environment, ecf=options.ecf_host, fc=options.fc_host)
