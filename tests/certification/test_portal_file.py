"""Files of the authority's portal are signed by the representative whom they name, and nothing else is."""

import pytest

from fe.certification.portal_file import CannotSign, sign_portal_file
from fe.ecf.signature import BadSignature, Signer, verify, verify_portal_file
from tests.certification.test_page import APPLICATION
from tests.factories.companies import credential_of_today
from tests.system.stack import ISSUER

RNC = ISSUER["RNCEmisor"]
CREDENTIAL = credential_of_today()
SIGNER, HOLDER_ID = Signer(CREDENTIAL), str(CREDENTIAL.holder_id)
FILE = APPLICATION.format(holder=HOLDER_ID).encode()


def sign(raw: bytes, rnc: str = RNC, holder_id: str = HOLDER_ID) -> bytes:
    return sign_portal_file(raw, SIGNER, rnc=rnc, holder_id=holder_id)


def test_file_is_signed_as_it_is_and_verifies() -> None:
    signed = sign(FILE)
    assert verify_portal_file(signed).root.findtext("FechaSolicitud") == "2026-11-20T10:15:30.1234567-04:00"
    with pytest.raises(BadSignature):
        verify(signed)  # it is no document
    with pytest.raises(BadSignature):
        verify_portal_file(signed.replace(b"12345", b"12346"))


@pytest.mark.parametrize(
    ("raw", "who", "words"),
    [
        (FILE, {"rnc": "101000001"}, f"RNCContribuyente {RNC}: this company's RNC is 101000001"),
        (FILE, {"holder_id": "00100000001"}, "the representative has to sign"),
        (sign(FILE), {}, "signed already"),
        (b"<ECF><Encabezado/></ECF>", {}, "ECF is no file of the portal"),
        (b"<Postulacion>", {}, ""),
    ],
)
def test_file_that_is_not_to_be_signed_is_refused(raw: bytes, who: dict[str, str], words: str) -> None:
    with pytest.raises(CannotSign) as refused:
        sign(raw, **who)
    assert words in str(refused.value)
