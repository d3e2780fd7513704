"""The mail of a receipt, read back by the standard library's parser."""

from dataclasses import replace
from datetime import UTC, datetime
from email import message_from_bytes, policy
from email.message import EmailMessage

import pytest

from fe.ecf.mail_address import MailAddress
from fe.ecf.parse import MAX_BYTES
from fe.ecf.texts import Language
from fe.mail.facts import read_facts
from fe.mail.message import MAX_ATTACHED, ReceiptMail, clean, link_message, message_id_of, receipt_message
from fe.mail.relay import Relay, on_wire

AT = datetime(2026, 11, 27, 4, 5, 6, tzinfo=UTC)
RELAY = Relay("localhost", 25, False, True, MailAddress("facturas@emisor.do"), "Facturas")
TO = MailAddress("compras@cliente.do")


def signed(
    issuer: str = "Ferretería Ozama SRL", buyer: str = "Cliente &amp; Hijos", mail: str = "compras@cliente.do"
) -> bytes:
    return (
        '<?xml version="1.0" encoding="utf-8"?><ECF><Encabezado><Version>1.0</Version><IdDoc><TipoeCF>31</TipoeCF>'
        f"<eNCF>E310000000001</eNCF></IdDoc><Emisor><RNCEmisor>131880738</RNCEmisor>"
        f"<RazonSocialEmisor>{issuer}</RazonSocialEmisor><FechaEmision>27-11-2026</FechaEmision></Emisor><Comprador>"
        f"<RNCComprador>131880681</RNCComprador><RazonSocialComprador>{buyer}</RazonSocialComprador>"
        f"<CorreoComprador>{mail}</CorreoComprador></Comprador><Totales><MontoTotal>1234567.5</MontoTotal></Totales>"
        "</Encabezado></ECF>"
    ).encode()


def draft(document: bytes | None = None, language: Language = "es", **changes: object) -> ReceiptMail:
    document = document or signed()
    made = ReceiptMail(
        facts=read_facts(document),
        signed=document,
        pdf=None,
        security_code="AbC1+/",
        qr_code_url="https://ecf.dgii.gov.do/ecf/ConsultaTimbre?RncEmisor=131880738&ENCF=E310000000001",
        is_conditional=False,
        is_test=False,
        language=language,
        reply_to=MailAddress("ventas@ozama.do"),
        message_id=message_id_of("0193", RELAY.sender),
    )
    return replace(made, **changes)  # type: ignore[arg-type]


def read_back(message: EmailMessage) -> EmailMessage:
    found = message_from_bytes(on_wire(message), policy=policy.default)
    assert isinstance(found, EmailMessage)
    assert found.defects == []
    return found


def body(message: EmailMessage, kind: str) -> str:
    part = message.get_body((kind,))
    assert part is not None
    return str(part.get_content())


@pytest.mark.parametrize(
    ("language", "subject", "said", "stop"),
    [
        ("es", "Comprobante electrónico E310000000001 de Ferretería Ozama SRL", "la DGII lo aceptó.", "asunto «baja»."),
        ("en", "Electronic receipt E310000000001 of Ferretería Ozama SRL", "authority) accepted it.", "unsubscribe."),
    ],
)
def test_a_receipt_mail_has_headers_text_html_and_the_xml(
    language: Language, subject: str, said: str, stop: str
) -> None:
    made = draft(language=language, pdf=b"%PDF-1.7")

    found = read_back(receipt_message(RELAY, made, TO, AT))

    assert found["Subject"] == subject
    assert found["From"] == "Ferretería Ozama SRL <facturas@emisor.do>"
    assert found["Reply-To"] == "Ferretería Ozama SRL <ventas@ozama.do>"
    assert found["To"] == "compras@cliente.do"
    assert found["Message-ID"] == "<0193@emisor.do>"
    assert found["List-Unsubscribe"] == "<mailto:ventas@ozama.do?subject=unsubscribe>"
    text, html = body(found, "plain"), body(found, "html")
    for shown in (said, stop, "E310000000001", "27-11-2026", "RD$ 1,234,567.50", "AbC1+/", "131880738"):
        assert shown in text
        assert shown in html
    assert "Cliente & Hijos" in text
    assert "Cliente &amp; Hijos" in html
    assert "&amp;ENCF=E310000000001" in html
    assert not any(tag in html for tag in ("<img", "src=", "<script", "<link", "@import"))
    attached = {part.get_filename(): part.get_payload(decode=True) for part in found.iter_attachments()}
    assert attached == {"131880738E310000000001.xml": made.signed, "131880738E310000000001.pdf": b"%PDF-1.7"}


def test_the_mail_of_a_test_receipt_says_that_it_has_no_fiscal_value() -> None:
    found = read_back(receipt_message(RELAY, draft(is_test=True, is_conditional=True), TO, AT))

    assert found["Subject"].startswith("[PRUEBA, SIN VALOR FISCAL] ")
    assert "SIN VALOR FISCAL" in body(found, "plain")
    assert "aceptado condicional" in body(found, "html")


@pytest.mark.parametrize(
    "name",
    [
        "Evil\r\nBcc: everyone@x.do",
        "a&#13;&#10;Bcc: everyone@x.do",
        "\u202eevil\u2066\u200b",
        "x" * 1000,
        "Z\u0300\u0301\u0302\u0303\u0304\u0305\u0306",
        "🧾" * 50,
        "&lt;script&gt;alert(1)&lt;/script&gt;",
        '"quoted" &lt;other@x.do&gt;, another@y.do',
        "COMERCIALIZADORA DE PRODUCTOS AGRICOLAS Y FERRETEROS DEL CIBAO, PENA HERMANOS, S.R.L.",
        f"Evil &lt;ceo@bank.do&gt;, {'x' * 80}, y",
        "=?utf-8?q?Bcc=3A_x=40y.do?=",
    ],
)
def test_a_hostile_name_adds_no_header_no_recipient_and_no_markup(name: str) -> None:
    found = read_back(receipt_message(RELAY, draft(signed(name, name)), TO, AT))

    expected = {"from", "to", "subject", "date", "message-id", "reply-to", "list-unsubscribe", "auto-submitted"}
    assert {header.lower() for header in found.keys()} == expected | {"mime-version", "content-type"}  # noqa: SIM118
    assert [one.addr_spec for one in found["From"].addresses] == ["facturas@emisor.do"]
    assert [one.addr_spec for one in found["Reply-To"].addresses] == ["ventas@ozama.do"]
    assert [one.addr_spec for one in found["To"].addresses] == ["compras@cliente.do"]
    assert "<script>" not in body(found, "html")
    assert not set("\u202e\u2066\u200b") & set(body(found, "plain"))
    assert len(found["Subject"]) < 200


def test_a_document_over_the_limit_is_not_attached_and_the_mail_says_so() -> None:
    found = read_back(receipt_message(RELAY, draft(signed=b" " * (MAX_ATTACHED + 1)), TO, AT))

    assert list(found.iter_attachments()) == []
    assert "Solicítelo al emisor" in body(found, "plain")


@pytest.mark.parametrize(
    ("size", "attached", "said"), [(MAX_ATTACHED // 2, 2, "Van adjuntos"), (MAX_ATTACHED, 1, "va adjunto")]
)
def test_the_pdf_is_attached_where_both_fit(size: int, attached: int, said: str) -> None:
    found = read_back(receipt_message(RELAY, draft(pdf=b"%PDF" + bytes(size)), TO, AT))

    assert len(list(found.iter_attachments())) == attached
    assert said in body(found, "plain")


def test_facts_of_a_signed_document_larger_than_a_request_are_read() -> None:
    item = b"<Item><NumeroLinea>1</NumeroLinea><NombreItem>" + b"x" * 80 + b"</NombreItem></Item>"
    document = signed().replace(b"</ECF>", b"<DetallesItems>" + item * 10_000 + b"</DetallesItems></ECF>")
    assert len(document) > MAX_BYTES

    assert read_facts(document).e_ncf == "E310000000001"


def test_a_document_over_the_limit_is_linked_where_it_is_shared() -> None:
    page = "https://facturas.example.do/abc"
    large = b" " * (MAX_ATTACHED + 1)
    words: dict[Language, str] = {"es": "descárguelo de esta página", "en": "save it from this page"}
    for language, said in words.items():
        found = read_back(receipt_message(RELAY, draft(signed=large, language=language, page=page), TO, AT))
        for kind in ("plain", "html"):
            assert said in body(found, kind)
            assert page in body(found, kind)
    assert f'<a href="{page}">' in body(found, "html")


@pytest.mark.parametrize("address", ["", "a@b.do; c@d.do", "a@b.do&#10;Bcc: c@d.do", "no address"])
def test_a_document_without_one_plain_address_has_none(address: str) -> None:
    assert read_facts(signed(mail=address)).buyer_address is None


def test_clean_keeps_spanish_names() -> None:
    assert clean("  Compañía   Ñandú,\tC. por A. ") == "Compañía Ñandú, C. por A."


def test_a_link_mail_has_one_link() -> None:
    found = read_back(link_message(RELAY, TO, AT, "Invitation\r\nBcc: x@y.do", ["Hello"], "https://p.do/x", "<1@e.do>"))

    assert found["Subject"] == "Invitation Bcc: x@y.do"
    assert body(found, "plain").splitlines()[-1] == "https://p.do/x"
