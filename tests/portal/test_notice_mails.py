"""Mails of notices to owners: what they say, once a day at most, only something new, and not where switched off."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import trio

from fe.ecf.catalogue import Environment
from fe.ecf.ids import new_id
from fe.ecf.mail_address import MailAddress
from fe.identifiers import SequenceId
from fe.lifecycle import Status
from fe.mail.relay import Relay
from fe.portal.notice_mailer import NoticeMailer
from fe.store.portal.people import PortalRole
from fe.store.postgres.db import Database
from fe.store.records import sequences
from tests.factories.companies import make_certificate
from tests.http.front import make_tenant
from tests.mail.relay import RunningRelay, running_relay
from tests.portal.receipts import make_receipt
from tests.portal.running import start_portal

#: Nine in the morning in Santo Domingo.
MORNING = datetime.now(UTC).replace(hour=13, minute=0, second=0, microsecond=0)


@pytest.fixture
def relay(tmp_path: Path) -> Iterator[RunningRelay]:
    with running_relay(tmp_path / "relay") as one:
        yield one


async def test_owner_gets_one_mail_a_day_about_what_is_new(
    nursery: trio.Nursery, db: Database, portal_db: Database, operator_db: Database, relay: RunningRelay
) -> None:
    portal = await start_portal(nursery, db, portal_db, operator_db)
    tenant = await make_tenant(db, "Ferretería Ñandú & Hijos")
    owner = await portal.person(tenant, language="es")
    await portal.person(tenant, PortalRole.ACCOUNTANT, email="contador@example.do")
    await make_certificate(db, tenant, not_after=MORNING + timedelta(days=20))
    await db.run_for(
        tenant,
        sequences.put,
        Environment.ECF,
        "E31",
        new_id=SequenceId(new_id(MORNING)),
        minimum=1,
        maximum=50,
        expire_at=MORNING + timedelta(days=10),
        is_active=True,
        at=MORNING,
    )
    await make_receipt(db, tenant, e_ncf="E310000000007", status=Status.REJECTED, at=MORNING)
    sender = Relay("localhost", relay.port, False, False, MailAddress("avisos@fe.do"), roots=relay.roots)
    clock = [MORNING.replace(hour=10)]
    mailers = [NoticeMailer(portal_db, sender, lambda: clock[0], "https://portal.do") for _ in range(2)]

    async def sent(at: datetime) -> int:
        clock[0] = at
        return sum([await mailer.round() for mailer in mailers])

    too_early = await sent(MORNING.replace(hour=10))
    broken = NoticeMailer(portal_db, Relay("127.0.0.1", 1, True, False, sender.sender), lambda: MORNING, "")
    untaken = await broken.round()
    first, again = await sent(MORNING), await sent(MORNING + timedelta(hours=1))
    nothing_new = await sent(MORNING + timedelta(days=1))
    await make_receipt(db, tenant, e_ncf="E310000000008", status=Status.REJECTED, at=MORNING)
    new = await sent(MORNING + timedelta(days=2))

    assert (too_early, untaken, first, again, nothing_new, new) == (0, 0, 1, 0, 0, 1)
    assert [about["to"] for about, _ in relay.taken] == [owner.email] * 2
    message = relay.taken[0][1]
    assert message["Subject"] == "Ferretería Ñandú & Hijos: 3 avisos"
    assert message["List-Unsubscribe"] == f"<https://portal.do/companies/{tenant}/mail>"
    text, html = (str(part.get_content()) for part in message.iter_parts())
    told = (
        "vence en menos de 30 días",
        "a secuencia de facturas de crédito fiscal (E31) vence en 10 días",
        "rechazados en los últimos 7 días: 1",
        "E310000000007",
    )
    assert [said for said in told if said not in text or said not in html] == []
    assert f"https://portal.do/companies/{tenant}/mail#notices" in text
    assert "Ñandú &amp; Hijos" in html

    async with portal.browser(owner) as browser:
        page = await browser.get(f"/companies/{tenant}/mail")
        assert 'name="notices" value="yes" checked' in page.text
        off = await browser.send(f"/companies/{tenant}/mail/notices", {})
    assert "You get no notices by mail" in off.text or "no recibe avisos por correo" in off.text
    await make_receipt(db, tenant, e_ncf="E310000000009", status=Status.REJECTED, at=MORNING)
    assert await sent(MORNING + timedelta(days=3)) == 0
