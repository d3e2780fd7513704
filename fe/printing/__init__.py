"""The printed receipt: a pure function from a signed e-CF to a PDF/A-3b, or to the bytes of a receipt printer."""

from fe.ecf.dates import read_moment
from fe.printing.canvas import Canvas
from fe.printing.logo import read_logo
from fe.printing.options import FiscalStanding, PaperSize, PrintOptions
from fe.printing.read import NotPrintable, read
from fe.printing.sheet import SIZES, Sheet

__all__ = ["FiscalStanding", "NotPrintable", "PaperSize", "PrintOptions", "pdf"]


def pdf(signed_xml: bytes, options: PrintOptions) -> bytes:
    """Print a signed e-CF as PDF/A-3b with the XML embedded. The same input gives the same bytes.

    Raises NotPrintable for bytes that are no signed e-CF, BadLogo, and TooManyPages.
    """
    receipt = read(signed_xml, options.language)
    made = read_moment(receipt.signed)
    if made is None:
        raise NotPrintable("the e-CF has no FechaHoraFirma")
    url = receipt.url(options.environment, ecf=options.ecf_host, fc=options.fc_host)
    logo = None if options.logo is None else read_logo(options.logo)
    canvas = Canvas(
        SIZES[options.layout], title=f"{receipt.title} {receipt.e_ncf}", language=options.language, made=made
    )
    Sheet(canvas, receipt, options, logo, url).draw()
    return canvas.finish(signed_xml, f"{receipt.printed.issuer}{receipt.e_ncf}.xml", f"{receipt.title}, XML", made)
