"""The QR code of an address: version 8, which the authority requires, or the least above that holds it."""

import segno

_VERSION = 8


def qr_code(address: str) -> segno.QRCode:
    """Make the code of an address, at level M."""
    code = segno.make_qr(address, error="m", boost_error=False)
    if int(code.version) < _VERSION:
        code = segno.make_qr(address, error="m", version=_VERSION, boost_error=False)
    return code
