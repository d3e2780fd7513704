"""The QR code of an address: version 8, which the authority requires, or the least above that holds it."""

import segno

_VERSION = 8


def qr_code(address: str, mask: int | None = None) -> segno.QRCode:
    """Make the code of an address, at level M. To choose the best of eight masks takes most of the time."""
    code = segno.make_qr(address, error="m", mask=mask, boost_error=False)
    if int(code.version) < _VERSION:
        code = segno.make_qr(address, error="m", mask=mask, version=_VERSION, boost_error=False)
    return code
