"""Self-made credentials for demonstrations are complete: they sign, are trusted when pinned, and open as a .p12."""

from lxml import etree

from fe.ecf.certificate import open_p12
from fe.ecf.selfmade import ORGANIZATION, self_made, to_p12
from fe.ecf.signature import Signer, verify
from fe.ecf.trust import check_certificate
from tests.factories import certificates as made


def test_a_self_made_credential_is_the_same_for_the_same_key_and_dates() -> None:
    one, two = (
        self_made(
            made.rsa_key("demo"),
            holder="DEMO",
            holder_id="00112233445",
            not_before=made.VALID_FROM,
            not_after=made.VALID_UNTIL,
        )
        for _ in range(2)
    )

    assert one.der == two.der
    assert (one.holder, one.holder_id) == ("DEMO", "00112233445")
    assert ORGANIZATION in one.certificate.subject.rfc4514_string()


def test_selfmade_certificate_opens_signs_and_is_trusted_when_pinned() -> None:
    credential = self_made(
        made.rsa_key("demo"),
        holder="ÑANDÚ DEMO",
        holder_id="00112233445",
        not_before=made.VALID_FROM,
        not_after=made.VALID_UNTIL,
    )

    opened = open_p12(to_p12(credential, "contraseña"), "contraseña")
    document = etree.Element("ECF")
    document.text = "x"
    verified = verify(Signer(opened).sign(document).xml)

    assert verified.certificate == credential.certificate
    assert check_certificate(verified.certificate, roots=[credential.certificate], at=made.WITHIN) == []
    assert check_certificate(verified.certificate, roots=None, at=made.WITHIN) == []
