"""A receipt is shared from its page in the portal: the link, where it can be sent, and its end."""

import re
from html import unescape
from urllib.parse import parse_qs, urlsplit
from uuid import uuid4

import pytest
import trio

from fe.identifiers import TenantId
from fe.issuing.sharing import token_hash
from fe.lifecycle import Status
from fe.store.portal.people import PortalRole
from fe.store.postgres.db import Database
from tests.factories.tenants import rows
from tests.http.front import SHARING
from tests.portal.receipts import make_receipt
from tests.portal.running import Browser, Running, hidden_fields, start_portal


@pytest.fixture
async def portal(nursery: trio.Nursery, db: Database, portal_db: Database) -> Running:
    return await start_portal(nursery, db, portal_db, None, sharing=SHARING)


async def test_receipt_is_shared_and_its_link_ends(owner: Browser, tenant: TenantId, db: Database) -> None:
    receipt = await make_receipt(db, tenant)
    here = f"/companies/{tenant}/ecf/submissions/{receipt}"
    await owner.get(here)

    page = unescape((await owner.send(f"{here}/share")).text)

    (url,) = re.findall(r'<code id="share-link">([^<]*)</code>', page)
    assert url.startswith(f"{SHARING.url}/")
    (row,) = await rows(db, "SELECT token_hash FROM shared_receipts")
    assert bytes(row["token_hash"]) == token_hash(url.removeprefix(f"{SHARING.url}/"))
    (whatsapp,) = re.findall(r'href="(https://wa\.me/[^"]*)"', page)
    (mail,) = re.findall(r'href="(mailto:[^"]*)"', page)
    assert url in parse_qs(urlsplit(whatsapp).query)["text"][0]
    assert url in parse_qs(urlsplit(mail).query)["body"][0]
    assert "RD$" in parse_qs(urlsplit(mail).query)["body"][0]
    assert f'action="{here}/share"' not in page

    page = (await owner.send(f"{here}/share/revoke")).text

    assert url not in page
    assert f'action="{here}/share"' in page
    assert await rows(db, "SELECT 1 FROM shared_receipts") == []
    noted = [row["action"] for row in await rows(db, "SELECT action FROM tenant_changes ORDER BY at, change_id")]
    assert [one for one in noted if "shared" in one or "revoked" in one] == ["receipt shared", "receipt share revoked"]


@pytest.mark.parametrize("status", [Status.REJECTED, None])
async def test_receipt_that_is_not_accepted_offers_no_link(
    owner: Browser, tenant: TenantId, db: Database, status: Status | None
) -> None:
    receipt = await make_receipt(db, tenant, status=status)

    assert "share" not in (await owner.get(f"/companies/{tenant}/ecf/submissions/{receipt}")).text.lower()


async def test_who_only_reads_can_neither_share_nor_revoke(portal: Running, tenant: TenantId, db: Database) -> None:
    receipt = await make_receipt(db, tenant)
    here = f"/companies/{tenant}/ecf/submissions/{receipt}"
    person = await portal.person(tenant, PortalRole.ACCOUNTANT, email="conta@example.do")
    async with portal.browser(person) as browser:
        page = await browser.get(here)
        assert f"{here}/share" not in page.text
        proof = hidden_fields(page.text, "/sign-out")
        for what in ("share", "share/revoke"):
            refused = await browser.client.post(f"{here}/{what}", data={**proof, "form": str(uuid4())})
            assert refused.status_code == 403
    assert await rows(db, "SELECT 1 FROM shared_receipts") == []
