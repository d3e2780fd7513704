"""Import in the portal: template, upload, look over, issue, and the file back, without script."""

import re

import pytest
import trio

from fe.identifiers import TenantId
from fe.offload.pool import Apart
from fe.store.portal import changes
from fe.store.portal.people import PortalRole
from fe.store.postgres.db import Database
from fe.workbooks.tables import read_table
from tests.factories.tenants import rows
from tests.http.front import start_front
from tests.http.test_imports import give_certificate, here
from tests.portal.running import Browser, Running
from tests.store.test_accept_many import make_sequence
from tests.waiting import PATIENCE
from tests.workbooks.books import csv, row, xlsx


async def test_owner_imports_a_workbook_from_template_to_numbers(
    portal: Running,
    owner: Browser,
    tenant: TenantId,
    front_db: Database,
    nursery: trio.Nursery,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(Apart, "run", here)
    await start_front(nursery, front_db)
    await give_certificate(portal.db, tenant)
    await make_sequence(portal.db, tenant, "E32")
    base = f"/companies/{tenant}/ecf/imports"

    async def until(said: str) -> str:
        assert owner.page is not None
        here = str(owner.page.url.path)
        with trio.fail_after(PATIENCE):
            while said not in (page := (await owner.get(here)).text):  # noqa: ASYNC110  (only the page knows)
                await trio.sleep(0.05)
        return page

    template = await owner.client.get(f"{base}/templates/32")
    assert read_table(template.content).sheets[0].name == "Receipts"
    page = await owner.get(base)
    assert "Consumer invoice" in page.text
    page = await owner.send(base, files={"file": ("x.pdf", b"%PDF-1.7")})
    assert (page.status_code, "The file is no workbook" in page.text) == (415, True)
    content = xlsx([row("A"), row("A", 5), row("<b>B</b>", 7), row("C", "1.234")])
    await owner.send(base, files={"file": ("<i>ventas</i>.xlsx", content)})
    page_ = await until("Validated")
    assert "&lt;i&gt;ventas" in page_
    assert re.search(r"<td class=.num.>5</td><td>Unit price</td>", page_)
    assert "Issue 2" in page_

    assert owner.page is not None
    one = str(owner.page.url.path)
    await owner.send(f"{one}/issue")
    page_ = await until("Issued: 3 of 3")
    assert "E320000000001" in page_
    back = await owner.client.get(f"{one}/workbook")
    assert [line[-2] for line in read_table(back.content).sheets[0].rows] == ["State", *["issued"] * 3, "has errors"]
    stored = await rows(portal.db, "SELECT count(*) AS many FROM submissions")
    assert stored[0]["many"] == 2
    (change,) = await portal.db.run(changes.latest, tenant, limit=9)
    assert change.action == "receipts imported"
    assert (await owner.client.get(one.replace("/ecf/", "/testecf/"))).status_code == 404

    async with portal.browser(
        await portal.person(tenant, role=PortalRole.ACCOUNTANT, email="eva@example.do")
    ) as accountant:
        assert 'name="file"' not in (await accountant.get(base)).text
        assert "Issue 2" not in (await accountant.get(one)).text


async def test_upload_larger_than_other_forms_is_read(
    owner: Browser, tenant: TenantId, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Apart, "run", here)
    base = f"/companies/{tenant}/testecf/imports"
    await owner.get(base)

    large = csv([row("x" * 1000)] * 3000)
    page = await owner.send(base, files={"file": ("x.csv", large)})

    assert len(large) > 2 * 1024 * 1024
    assert page.status_code == 200, page.text
