"""The portal and mail: invitations by mail, and what became of a receipt's mail."""

from collections.abc import Iterator
from pathlib import Path

import pytest
import trio

from fe.ecf.mail_address import MailAddress
from fe.lifecycle import Stage
from fe.mail.relay import Relay
from fe.store.postgres.db import Database
from tests.factories.tenants import make_submission, make_tenant, rows
from tests.mail.relay import RunningRelay, running_relay
from tests.portal.running import start_portal


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


async def test_a_receipt_shows_its_mail_and_the_refusal_of_the_relay(
    nursery: trio.Nursery, db: Database, portal_db: Database, operator_db: Database
) -> None:
    portal = await start_portal(nursery, db, portal_db, operator_db)
    tenant = await make_tenant(db)
    subject = await make_submission(db, tenant, stage=Stage.TRACK)
    await rows(
        db,
        "INSERT INTO mails (tenant_id, subject, stage, environment, run_at, finished_at, address, last_error)"
        f" VALUES ({tenant}, '{subject}', 'refused', 'ecf', 'infinity', now(), 'a@b.do', '550 <no such> mailbox')",
    )
    async with portal.browser(await portal.person(tenant)) as owner:
        page = (await owner.get(f"/companies/{tenant}/ecf/submissions/{subject}")).text

    assert "By mail" in page
    assert "a@b.do" in page
    assert "550 &lt;no such&gt; mailbox" in page
