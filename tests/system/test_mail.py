"""A receipt on the whole road, from POST to the buyer's mail, over a real relay."""

from email.message import EmailMessage
from pathlib import Path
from typing import Any

import pytest
import trio

from fe.ecf.mail_address import MailAddress
from fe.ecf.signature import verify
from fe.store.records import mail
from fe.store.records.mail import MailSettings
from tests.mail.relay import PASSWORD, USER, running_relay
from tests.system.stack import running_stack
from tests.system.test_road import consumer_invoice, invoice
from tests.waiting import PATIENCE

# As in test_road.py.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")


async def test_an_accepted_receipt_reaches_its_buyer_with_pdf_and_xml(dsn: str, tmp_path: Path) -> None:
    with running_relay(tmp_path / "relay") as relay:
        given: dict[str, Any] = {
            "mail_relay": f"smtp://localhost:{relay.port}",
            "mail_from": "Facturas <facturas@emisor.do>",
            "mail_user": USER,
            "mail_password": PASSWORD,
            "mail_roots": relay.roots,
        }
        async with running_stack(dsn, tmp_path, authority_simulated=True, **given) as stack:
            tenant_id = stack.tenant.tenant_id
            settings = MailSettings("es", MailAddress("ventas@ozama.do"), 100)
            await stack.db.run(mail.set_settings, tenant_id, settings)
            refused = await stack.client.post(
                "/invoices",
                json={"format": "structured", "payload": invoice(9), "notify": "a@b.do\r\nBcc: c@d.do"},
            )
            told = await stack.submit(invoice(1), notify="compras@cliente.do")
            consumer = await stack.submit(consumer_invoice(1), notify="absent@cliente.do")
            rejected = await stack.submit(
                invoice(2), notify="rechazo@cliente.do", simulate={"outcome": "rejected", "code": 613}
            )
            for one in (told, consumer, rejected):
                await stack.until_final(one["taxLogId"])

            async def shown(tax_log_id: str, state: str) -> dict[str, str]:
                with trio.fail_after(PATIENCE):
                    while True:
                        record = (await stack.client.get(f"/invoices/{tax_log_id}")).json()
                        if record.get("mail", {}).get("state") == state:
                            return dict(record["mail"])
                        await trio.sleep(0.05)

            sent = await shown(told["taxLogId"], "sent")
            not_sent = await shown(consumer["taxLogId"], "refused")
            no_mail = (await stack.client.get(f"/invoices/{rejected['taxLogId']}")).json()
            xml = (await stack.client.get(f"/invoices/{told['taxLogId']}/xml")).json()["xml"]

    assert refused.status_code == 400
    assert "notify: " in refused.json()["message"]
    assert "character 7" in refused.json()["message"]
    ((about, message),) = relay.taken
    assert about == {"from": "facturas@emisor.do", "to": "compras@cliente.do", "tls": True, "login": True}
    assert message["Message-ID"] == f"<{told['taxLogId']}@emisor.do>"
    attached = {part.get_content_type(): part for part in message.iter_attachments()}
    assert set(attached) == {"application/xml", "application/pdf"}
    document = content_of(attached["application/xml"])
    assert document == xml.encode()
    assert verify(document).root.findtext("Encabezado/IdDoc/eNCF") == "E310000000001"
    assert content_of(attached["application/pdf"]).startswith(b"%PDF-1.")
    assert sent["address"] == "compras@cliente.do"
    assert not_sent["reason"] == "recipient not accepted: 550 5.1.1 no such mailbox here"
    assert "mail" not in no_mail


def content_of(part: EmailMessage) -> bytes:
    content = part.get_payload(decode=True)
    assert isinstance(content, bytes)
    return content
