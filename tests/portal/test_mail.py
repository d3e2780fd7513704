"""The portal and mail: invitations by mail, and what became of a receipt's mail."""

from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest
import trio

from fe.ecf.catalogue import Environment
from fe.ecf.mail_address import MailAddress
from fe.identifiers import SubmissionId, TenantId
from fe.mail.relay import Relay
from fe.store.portal import changes
from fe.store.portal.people import PortalRole
from fe.store.postgres.db import Database
from fe.store.records import mail
from fe.store.records.mail import CAPPED, MailSettings
from tests.factories.tenants import make_tenant, rows
from tests.mail.relay import RunningRelay, running_relay
from tests.portal.receipts import make_receipt
from tests.portal.running import Browser, Running, hidden_fields, start_portal


@pytest.fixture
def relay(tmp_path: Path) -> Iterator[RunningRelay]:
    with running_relay(tmp_path / "relay") as one:
        yield one


@pytest.mark.parametrize(
    ("email", "said"), [("nuevo@example.do", "went to this person by mail"), ("absent@example.do", "hand it over")]
)
async def test_an_invitation_goes_by_mail_and_its_link_is_shown_in_any_case(
    nursery: trio.Nursery,
    db: Database,
    portal_db: Database,
    operator_db: Database,
    relay: RunningRelay,
    email: str,
    said: str,
) -> None:
    sender = Relay("localhost", relay.port, False, False, MailAddress("portal@fe.do"), roots=relay.roots)
    portal = await start_portal(nursery, db, portal_db, operator_db, relay=sender)
    tenant = await make_tenant(db)
    async with portal.browser(await portal.person(tenant)) as owner:
        at = f"/companies/{tenant}/people/invite"
        await owner.get(at)
        page = await owner.send(at, {"email": email, "role": "member"})

    link = f"{portal.url}/invitation/{page.text.partition(f'{portal.url}/invitation/')[2].partition('<')[0]}"
    assert said in page.text
    taken = [(about["to"], str(message.get_content()).strip().splitlines()[-1]) for about, message in relay.taken]
    assert taken == ([] if "absent" in email else [(email, link)])


async def test_an_invitation_without_a_relay_is_shown_alone(
    nursery: trio.Nursery, db: Database, portal_db: Database, operator_db: Database
) -> None:
    portal = await start_portal(nursery, db, portal_db, operator_db)
    tenant = await make_tenant(db)
    async with portal.browser(await portal.person(tenant)) as owner:
        at = f"/companies/{tenant}/people/invite"
        await owner.get(at)
        page = await owner.send(at, {"email": "nuevo@example.do", "role": "member"})

    assert "by mail" not in page.text


async def mailed(db: Database, tenant: TenantId, receipt: SubmissionId, state: str, reason: str) -> None:
    await rows(
        db,
        "INSERT INTO mails (tenant_id, subject, stage, environment, run_at, address, last_error, attempt, counted_on)"
        " VALUES (%(t)s, %(s)s, %(state)s, 'ecf', 'infinity', 'a@b.do', %(reason)s, 3, '2026-11-01')",
        t=tenant,
        s=receipt,
        state=state,
        reason=reason,
    )


@pytest.mark.parametrize(
    ("state", "reason", "said", "unsaid"),
    [
        ("refused", "recipient not accepted: 550 <no such> mailbox", "550 &lt;no such&gt; mailbox", "recipient not"),
        ("mail", CAPPED, "sale mañana", "used up"),
        ("mail", "ConnectionRefusedError: [Errno 111]", "se intentará de nuevo", "Errno"),
    ],
)
async def test_a_receipt_says_in_plain_words_why_its_mail_did_not_go(
    portal: Running, tenant: TenantId, db: Database, state: str, reason: str, said: str, unsaid: str
) -> None:
    receipt = await make_receipt(db, tenant)
    await mailed(db, tenant, receipt, state, reason)

    async with portal.browser(await portal.person(tenant, language="es")) as reader:
        page = (await reader.get(f"/companies/{tenant}/ecf/submissions/{receipt}")).text

    assert "a@b.do" in page
    assert said in page
    assert unsaid not in page
    assert ("Correo no entregado" in page) == (state == "refused")


@pytest.mark.parametrize("state", ["refused", "sent"])
async def test_an_ended_mail_is_sent_to_another_address_once_and_counted_again(
    portal: Running, owner: Browser, tenant: TenantId, db: Database, state: str
) -> None:
    receipt = await make_receipt(db, tenant)
    await mailed(db, tenant, receipt, state, "recipient not accepted: 550 no")
    await db.run(mail.set_settings, tenant, MailSettings("es", MailAddress("ventas@ozama.do"), 10))
    here = f"/companies/{tenant}/ecf/submissions/{receipt}"
    await owner.get(here)
    bad = await owner.send(f"{here}/mail", {"address": "a@b.do, c@d.do"})

    async with portal.browser(await portal.person(tenant, PortalRole.ACCOUNTANT, email="conta@x.do")) as reader:
        read = await reader.get(here)
        form = {**hidden_fields(read.text, "/sign-out"), "form": str(uuid4()), "address": "x@y.do"}
        forbidden = await reader.client.post(f"{here}/mail", data=form)
    shown = await owner.get(here)
    form = {**hidden_fields(shown.text, f"{here}/mail"), "address": "otra@cliente.do"}
    sent = await owner.client.post(f"{here}/mail", data=form, follow_redirects=True)
    await rows(db, "UPDATE mails SET stage = 'sent'")
    twice = await owner.client.post(f"{here}/mail", data=form)
    await rows(db, "UPDATE mails SET stage = 'mail' WHERE stage = 'sent'")
    (row,) = await rows(db, "SELECT stage, address, attempt, counted_on, last_error FROM mails")
    (kept,) = await rows(db, "SELECT address FROM mail_recipients")
    (note,) = [one for one in await portal.db.run(changes.latest, tenant, limit=9) if one.action == "receipt mailed"]

    assert (bad.status_code, forbidden.status_code, twice.status_code) == (400, 403, 409)
    assert "on its way" in sent.text
    assert f'action="{here}/mail"' not in sent.text
    assert row == {
        "stage": "mail",
        "address": "otra@cliente.do",
        "attempt": 0,
        "counted_on": None,
        "last_error": None,
    }
    assert kept["address"] == "otra@cliente.do"
    assert note.after is not None
    assert note.after["email"] == "otra@cliente.do"


@pytest.mark.parametrize(
    ("environment", "said"),
    [(Environment.TESTECF, "in the test environments"), (Environment.ECF, "has no e-mail address of its buyer")],
)
async def test_a_receipt_without_mail_says_why_and_can_be_sent(
    owner: Browser, tenant: TenantId, db: Database, environment: Environment, said: str
) -> None:
    receipt = await make_receipt(db, tenant, environment=environment)
    here = f"/companies/{tenant}/{environment}/submissions/{receipt}"
    silent = (await owner.get(here)).text
    await db.run(mail.set_settings, tenant, MailSettings("es", MailAddress("ventas@ozama.do"), 10))
    page = (await owner.get(here)).text
    await owner.send(f"{here}/mail", {"address": "yo@ozama.do"})

    assert "By mail" not in silent
    assert said in page
    assert await rows(db, "SELECT stage, environment, address FROM mails") == [
        {"stage": "mail", "environment": environment, "address": "yo@ozama.do"}
    ]
