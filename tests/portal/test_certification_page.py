"""The certification in the portal: path and steps, a file that a worker signs, and the set of tests."""

import io
import re
import zipfile
from collections.abc import AsyncIterator
from functools import partial
from uuid import uuid4

import httpx
import pytest
import trio
from psycopg.types.json import Jsonb

from fe.actors.certifier import Certifier
from fe.actors.credentials import SigningCredentials
from fe.certification.columns import ECF, NUMBER
from fe.ecf.signature import verify_portal_file
from fe.egress.configured import egress_from_settings
from fe.identifiers import TenantId
from fe.main import _rehearse
from fe.monitoring.metrics import Metrics
from fe.offload.pool import Apart
from fe.store.portal.people import PortalRole
from fe.store.postgres.db import Database, open_database
from fe.store.postgres.roles import WORKER
from fe.store.queue.wakeups import Wakeups
from fe.store.records import certification_tasks
from fe.store.records.certification_tasks import CertificationTask
from tests.certification.sets import change, sheets, xlsx
from tests.certification.test_page import APPLICATION
from tests.certification.test_runs import SMALL_SET
from tests.factories.companies import VAULT, company_credential, make_certificate
from tests.factories.tenants import rows
from tests.http.test_imports import here
from tests.portal.running import Browser, Running, hidden_fields
from tests.portal.test_voidings import make_sequence
from tests.system.stack import ISSUER
from tests.waiting import PATIENCE


@pytest.fixture(autouse=True)
def pool_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Apart, "run", here)


@pytest.fixture
async def worker_db(dsn: str) -> AsyncIterator[Database]:
    """The database with the rights of the actors: then a right that is missing shows."""
    async with open_database(dsn, patience=PATIENCE, role=WORKER) as database:
        yield database


@pytest.fixture
async def company(portal: Running, tenant: TenantId) -> TenantId:
    await rows(
        portal.db, "UPDATE tenants SET issuer = %(issuer)s WHERE tenant_id = %(id)s", issuer=Jsonb(ISSUER), id=tenant
    )
    await make_certificate(portal.db, tenant)
    return tenant


class Walk:
    """A browser at the certification of a company, and the worker."""

    def __init__(self, browser: Browser, portal: Running, worker_db: Database, tenant: TenantId) -> None:
        self.browser, self.here = browser, f"/companies/{tenant}/certification"
        self.db, self.tenant = portal.db, tenant
        credentials = SigningCredentials(worker_db, VAULT, trio.CapacityLimiter(1), clock=portal.clock)
        apart, egress = Apart(1, Metrics(), seconds=PATIENCE), egress_from_settings(portal.portal.settings)
        self.certifier = Certifier(
            worker_db,
            credentials,
            apart,
            portal.clock,
            Wakeups(worker_db),
            rehearse=_rehearse,
            egress=egress,
            roots=None,
            scale=0,
            stopping=trio.Event(),
        )

    async def send(self, action: str, file: tuple[str, bytes] | None = None, **fields: str) -> httpx.Response:
        await self.browser.get(self.here)
        files = None if file is None else {"file": file}
        return await self.browser.send(f"{self.here}/{action}", fields, files=files)

    async def worked(self) -> CertificationTask:
        assert await self.certifier.step()
        return (await self.db.run(partial(certification_tasks.newest, with_results=True), self.tenant))[0]


@pytest.fixture
async def walk(portal: Running, worker_db: Database, company: TenantId) -> AsyncIterator[Walk]:
    async with portal.browser(await portal.person(company)) as browser:
        yield Walk(browser, portal, worker_db, company)


async def test_path_and_steps_are_chosen_ticked_off_and_taken_back(walk: Walk, portal: Running) -> None:
    first = await walk.browser.get(walk.here)
    chosen = await walk.send("path", path="provider")
    done = await walk.send("steps/1", note="accepted <b>today</b>")
    again = await walk.send("steps/1", do="undo")
    unknown = await walk.browser.client.post(
        f"{walk.here}/steps/99", data=hidden_fields(again.text, f"{walk.here}/steps/1")
    )

    assert "14 steps" in first.text
    assert "Set of tests" in first.text
    assert "Set of tests" not in chosen.text
    assert "accepted &lt;b&gt;today" in done.text
    assert "step 4, Simulation" in done.text
    assert "step 1, Application" in again.text
    assert unknown.status_code == 404
    assert {one["action"] for one in await rows(portal.db, "SELECT action FROM tenant_changes")} >= {
        "certification path chosen",
        "certification step done",
        "certification step taken back",
    }


async def test_portal_file_is_signed_by_the_worker_and_handed_back(
    walk: Walk, portal: Running, company: TenantId
) -> None:
    application = APPLICATION.format(holder=company_credential().holder_id).encode()
    waits = await walk.send("steps/1/sign", ("Postulacion.xml", application))
    await walk.worked()
    signed = await walk.browser.get(walk.here)
    file = await walk.browser.get(re.findall(r'href="([^"]+/signed/[^"]+)"', signed.text)[0])
    await walk.send("steps/1/sign", ("Postulacion.xml", application.replace(b"131880738", b"101000001")))
    refused = await walk.worked()
    shown = await walk.browser.get(walk.here)
    async with portal.browser(await portal.person(company, PortalRole.MEMBER, email="m@example.do")) as member:
        closed = (await member.get(walk.here)).text

    assert "being signed" in waits.text
    assert verify_portal_file(file.content).root.findtext("PostulacionID") == "12345"
    assert (refused.result, len(refused.why_not)) == (None, 1)
    assert "RNCContribuyente 101000001: this company" in shown.text
    assert f"{walk.here}/steps/1/sign" not in closed


async def test_signed_files_stay_in_page_and_evidence_after_a_hundred_later_acts(
    walk: Walk, portal: Running, company: TenantId
) -> None:
    application = APPLICATION.format(holder=company_credential().holder_id).encode()
    await walk.send("steps/1/sign", ("Postulacion.xml", application))
    signed = await walk.worked()
    await rows(
        portal.db,
        "INSERT INTO certification_tasks (tenant_id, task_id, kind, asked_at, asked_by, name, choices, done_at, faults)"
        " SELECT %(tenant)s, gen_random_uuid(), 'check', '2099-01-01', 'eva', '', '{\"step\": 2}', '2099-01-01', '[]'"
        " FROM generate_series(1, 100) RETURNING 1",
        tenant=company,
    )
    page = await walk.browser.get(walk.here)
    archive = await walk.browser.get(f"{walk.here}/evidence")

    assert "download it signed" in page.text
    with zipfile.ZipFile(io.BytesIO(archive.content)) as found:
        assert found.read(f"step-1/{signed.task_id}-Postulacion.xml") == signed.result
    assert {one.result for one in await portal.db.run(certification_tasks.newest, company)} == {None}


async def test_set_is_loaded_checked_and_handed_to_be_sent(walk: Walk, portal: Running) -> None:
    made = sheets(only=SMALL_SET)
    bad = await walk.send("steps/2/set", ("set.xlsx", xlsx(change(sheets(only=SMALL_SET), ECF, 2, NUMBER, ""))))
    other = await walk.send("steps/2/set", ("set.xlsx", b"not a workbook"))
    loaded = await walk.send("steps/2/set", ("set.xlsx", xlsx(made)))
    waits = await walk.send("steps/2/check")
    checked = await walk.worked()
    fine = await walk.browser.get(walk.here)
    await walk.send("steps/2/send")
    sent = await walk.worked()
    under_way = await walk.browser.get(walk.here)
    archive = await walk.browser.get(f"{walk.here}/evidence")

    assert (bad.status_code, "the cell was emptied" in bad.text) == (400, True)
    assert other.status_code in (400, 415)
    assert "Loaded, nothing sent" in loaded.text
    assert "4 documents; nothing was sent." in loaded.text
    assert "under way" in waits.text
    assert (list(checked.why_not), list(sent.why_not)) == ([], [])
    assert "nothing wrong found" in fine.text
    assert "Being sent" in under_way.text
    assert [one["state"] for one in await rows(portal.db, "SELECT state FROM certification_runs")] == ["sending"]
    with zipfile.ZipFile(io.BytesIO(archive.content)) as found:
        assert found.namelist() == ["status.json", "step-2/set/set.xlsx"]


async def test_worker_goes_on_after_an_act_that_fails(
    walk: Walk, portal: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    for _ in range(2):
        page = await walk.browser.get(walk.here)
        proof = hidden_fields(page.text, f"{walk.here}/path")
        await walk.browser.client.post(f"{walk.here}/steps/2/check", data=proof)
    assert await walk.certifier.step()
    monkeypatch.setattr(walk.certifier, "_do", None)
    assert await walk.certifier.step()
    failed, none = await portal.db.run(certification_tasks.newest, walk.tenant)

    assert [why.en for why in none.why_not] == ["no set is loaded. Load the workbook of the DGII's portal."]
    assert "the service failed here" in failed.why_not[0].en
    assert not await walk.certifier.step()


async def test_going_live_shows_what_is_there_and_what_is_missing(
    walk: Walk, portal: Running, company: TenantId
) -> None:
    await make_sequence(portal.db, company)
    live = await walk.browser.get(f"{walk.here}/live")
    await walk.browser.send(f"{walk.here}/steps/15", {"note": "by Ana"})
    delegated = await walk.browser.get(f"{walk.here}/live")

    assert "The company is not live yet." in live.text
    assert "E31" in live.text
    assert "valid until 2029-12-31" in live.text
    assert (live.text.count(">done<"), delegated.text.count(">done<")) == (2, 3)


async def test_addresses_are_tried_by_owners_and_what_would_fail_is_shown(
    walk: Walk, portal: Running, company: TenantId
) -> None:
    await walk.send("path", path="own")
    empty = await walk.send("addresses", reception="")
    await walk.send("addresses", reception="127.0.0.1:1/certecf/131880738")
    await walk.worked()
    shown = await walk.browser.get(f"{walk.here}?step=7")
    await walk.send("addresses", reception="e.example.do/ecf/131880738")
    production = await walk.worked()
    # The company's certificate signs the seed of any address that is tried.
    async with portal.browser(await portal.person(company, PortalRole.MEMBER, email="m@example.do")) as member:
        closed = await member.get(f"{walk.here}?step=7")
        proof = hidden_fields(closed.text, "/sign-out") | {"form": str(uuid4()), "reception": "127.0.0.1:1"}
        refused = await member.client.post(f"{walk.here}/addresses", data=proof)

    assert f"{walk.here}/addresses" not in closed.text
    assert refused.status_code == 403
    assert empty.status_code == 400
    assert "Address as it is entered" in shown.text
    assert "fails" in shown.text
    assert "is an address of production" in production.why_not[0].en
