"""Received documents in the portal: found, read, approved or rejected once."""

import csv
import io
import re
from datetime import UTC, datetime, timedelta
from html import unescape
from uuid import uuid4

import pytest

from fe.ecf.catalogue import Environment
from fe.ecf.parse import parse_json
from fe.identifiers import TenantId
from fe.lifecycle import Status
from fe.printing.read import read
from fe.store.portal.people import PortalRole
from fe.store.postgres.db import Database
from tests.factories.tenants import rows
from tests.http import worker
from tests.http.front import make_tenant
from tests.portal.receipts import HOSTILE, make_received
from tests.portal.running import Browser, Running, hidden_fields
from tests.printing.documents import GOLDEN, long_receipt, signed

NOW = datetime.now(UTC)


async def test_the_list_is_of_one_environment_and_filtered(owner: Browser, tenant: TenantId, db: Database) -> None:
    await make_received(db, tenant, e_ncf="E310000000001", at=NOW - timedelta(minutes=3))
    await make_received(db, tenant, e_ncf="E310000000002", issuer="101000001", at=NOW - timedelta(minutes=2))
    await make_received(db, tenant, e_ncf="E310000000003", environment=Environment.TESTECF)

    for query, wanted in (
        ("", ["E310000000001", "E310000000002"]),
        ("issuer=101000001", ["E310000000002"]),
        ("number=e310000000001", ["E310000000001"]),
        ("state=pending", ["E310000000002", "E310000000001"]),
        ("state=approved", []),
        ("since=2100-01-01", []),
        ("type=34", []),
        ("issued_from=2000-01-01&issued_to=2100-01-01", ["E310000000002", "E310000000001"]),
        ("issued_to=2000-01-01", []),
        ("text=0002", ["E310000000002"]),
        ("total_from=1,000,000", []),
    ):
        page = await owner.get(f"/companies/{tenant}/ecf/received?{query}")
        assert re.findall(r">(E[0-9]{12})</a>", page.text) == wanted, query
    assert (await owner.get(f"/companies/{tenant}/ecf/received?issuer=x")).status_code == 400


async def test_a_document_is_approved_once(owner: Browser, tenant: TenantId, db: Database) -> None:
    one = await make_received(db, tenant)
    here = f"/companies/{tenant}/ecf/received/{one}"
    page = await owner.get(here)
    sent = hidden_fields(page.text, f"{here}/approve")

    page = await owner.send(f"{here}/approve")
    again = await owner.client.post(f"{here}/approve", data=sent)

    assert (page.status_code, "Your decision is on its way" in page.text) == (200, True), page.text
    assert f"{here}/approve" not in page.text
    assert again.status_code == 409
    (made,) = await rows(db, "SELECT * FROM submissions")
    assert (made["root"], made["api_key_id"], made["e_ncf"]) == ("ACECF", "portal", "E310000000077")
    (original,) = await rows(db, "SELECT content FROM submission_documents")
    detail = parse_json(bytes(original["content"]))["ACECF"]["DetalleAprobacionComercial"]
    assert detail["Estado"] == "1"
    (change,) = await rows(db, "SELECT * FROM tenant_changes WHERE action = 'received decided'")
    assert (change["by_whom"], change["after"]["decision"]) == ("ana@example.do", "approved")


async def test_a_document_is_rejected_for_a_reason_only(owner: Browser, tenant: TenantId, db: Database) -> None:
    one = await make_received(db, tenant)
    here = f"/companies/{tenant}/ecf/received/{one}"
    for reason in ("", "   ", "x" * 251, "\x01"):
        await owner.get(here)
        page = await owner.send(f"{here}/reject", {"reason": reason})
        assert (page.status_code, "Say why" in page.text) == (400, True)
    assert '<option value="We did not order this">' in page.text
    assert not await rows(db, "SELECT 1 FROM submissions")

    await owner.get(here)
    page = await owner.send(f"{here}/reject", {"reason": "No llegó <b>completa</b>"})

    assert page.status_code == 200
    assert "No llegó &lt;b&gt;completa&lt;/b&gt;" in page.text


async def test_the_opposite_of_what_was_decided_is_refused(owner: Browser, tenant: TenantId, db: Database) -> None:
    one = await make_received(db, tenant)
    here = f"/companies/{tenant}/ecf/received/{one}"
    shown = (await owner.get(here)).text
    reject = hidden_fields(shown, f"{here}/reject")
    await owner.send(f"{here}/approve")

    stale = await owner.client.post(f"{here}/reject", data={**reject, "reason": "no"})

    assert (stale.status_code, "cannot be taken back" in stale.text) == (409, True)


async def test_a_decision_that_the_authority_refused_can_be_taken_again(
    owner: Browser, tenant: TenantId, db: Database
) -> None:
    one = await make_received(db, tenant)
    here = f"/companies/{tenant}/ecf/received/{one}"
    await owner.get(here)
    await owner.send(f"{here}/approve")
    (made,) = await rows(db, "SELECT submission_id AS id FROM submissions")
    await worker.carry_through(db, str(made["id"]), Status.REJECTED)

    page = await owner.get(here)
    assert f"{here}/approve" in page.text
    await owner.send(f"{here}/approve")
    assert len(await rows(db, "SELECT 1 FROM submissions")) == 2


async def test_for_a_disabled_company_nothing_is_decided(owner: Browser, tenant: TenantId, db: Database) -> None:
    one = await make_received(db, tenant)
    here = f"/companies/{tenant}/ecf/received/{one}"
    await rows(db, "INSERT INTO disabled_tenants (tenant_id, since) VALUES (%(tenant)s, now())", tenant=tenant)

    for what in ("approve", "reject"):
        await owner.get(here)
        page = await owner.send(f"{here}/{what}", {"reason": "no"} if what == "reject" else {})
        assert (page.status_code, "The company is disabled" in page.text) == (409, True), page.text

    assert not await rows(db, "SELECT 1 FROM submissions")


async def test_nothing_is_decided_in_the_name_of_another_company_here(
    owner: Browser, tenant: TenantId, db: Database
) -> None:
    one = await make_received(db, tenant)
    here = f"/companies/{tenant}/ecf/received/{one}"
    await rows(db, "UPDATE tenants SET issuer = jsonb_set(issuer, '{RNCEmisor}', '\"101000001\"')")
    await make_tenant(db, "La de ahora SRL")
    await owner.get(here)

    page = await owner.send(f"{here}/approve")

    assert (page.status_code, "is that of another taxpayer" in page.text) == (409, True), page.text
    assert not await rows(db, "SELECT 1 FROM submissions")


async def test_an_accountant_reads_and_does_not_decide(portal: Running, tenant: TenantId, db: Database) -> None:
    one = await make_received(db, tenant)
    here = f"/companies/{tenant}/ecf/received/{one}"
    person = await portal.person(tenant, PortalRole.ACCOUNTANT, email="conta@example.do")
    async with portal.browser(person) as browser:
        page = await browser.get(here)
        assert (page.status_code, "/approve" in page.text) == (200, False)
        proof = hidden_fields(page.text, "/sign-out")
        for what in ("approve", "reject"):
            refused = await browser.client.post(f"{here}/{what}", data={**proof, "form": str(uuid4()), "reason": "no"})
            assert refused.status_code == 403
    assert not await rows(db, "SELECT 1 FROM submissions")


async def test_another_companys_document_is_not_there(owner: Browser, tenant: TenantId, db: Database) -> None:
    theirs = await make_received(db, await make_tenant(db, "Otra SRL"))
    here = f"/companies/{tenant}/ecf/received/{theirs}"
    proof = hidden_fields((await owner.get(f"/companies/{tenant}")).text, "/sign-out")

    for path in ("", "/document", "/acknowledgement"):
        assert (await owner.get(here + path)).status_code == 404
    for what in ("approve", "reject"):
        sent = {**proof, "form": str(uuid4()), "reason": "no"}
        assert (await owner.client.post(f"{here}/{what}", data=sent)).status_code == 404
    assert not await rows(db, "SELECT 1 FROM submissions")


async def test_the_very_bytes_can_be_had(owner: Browser, tenant: TenantId, db: Database) -> None:
    one = await make_received(db, tenant)
    here = f"/companies/{tenant}/ecf/received/{one}"

    document = await owner.get(f"{here}/document")
    assert document.content.startswith(b"<ECF>")
    assert "attachment" in document.headers["content-disposition"]
    assert (await owner.get(f"{here}/acknowledgement")).content == b"<ARECF/>"
    assert (await owner.get(f"{here}/else")).status_code == 404
    elsewhere = await owner.get(f"/companies/{tenant}/testecf/received/{one}")
    assert elsewhere.url.path == here


@pytest.mark.parametrize("name", HOSTILE)
async def test_what_strangers_write_is_text_and_nothing_else(
    name: str, owner: Browser, tenant: TenantId, db: Database
) -> None:
    one = await make_received(db, tenant, name=name)
    list_of = f"/companies/{tenant}/ecf/received"

    for path in (list_of, f"{list_of}/{one}"):
        page = await owner.get(path)
        assert page.status_code == 200
        assert "<img" not in page.text
        assert "<script>" not in page.text
        assert "\u202e" not in page.text
    exported = await owner.get(f"{list_of}/export")
    cells = [cell for line in csv.reader(io.StringIO(exported.text.removeprefix("\ufeff"))) for cell in line]
    assert "131880738" in cells
    assert not [cell for cell in cells if cell.lstrip().startswith(("=", "+", "-", "@"))]


async def test_those_that_wait_are_listed_first_oldest_first_with_their_time(
    owner: Browser, portal: Running, tenant: TenantId, db: Database
) -> None:
    for number, days in ((1, 1), (2, 40), (3, 3)):
        await make_received(db, tenant, e_ncf=f"E31000000000{number}", at=NOW - timedelta(days=days))
    here = f"/companies/{tenant}/ecf/received"

    page = await owner.get(here)

    numbers = re.findall(r">(E[0-9]{12})</a>", page.text)
    assert numbers == ["E310000000002", "E310000000003", "E310000000001"]
    assert "waits for 40 d" in page.text
    assert len(re.findall(r'<input type="checkbox" name="id"', page.text)) == 3


async def test_chosen_receipts_are_confirmed_with_count_and_sum_then_decided_once(
    owner: Browser, tenant: TenantId, db: Database
) -> None:
    ids = [str(await make_received(db, tenant, e_ncf=f"E31000000000{number}")) for number in (1, 2, 3)]
    here = f"/companies/{tenant}/ecf/received"
    await owner.get(f"{here}/{ids[2]}")
    await owner.send(f"{here}/{ids[2]}/approve")
    await owner.get(here)

    page = await owner.send(f"{here}/choose", {"id": [*ids, "x", str(uuid4())], "do": "reject"})
    assert (str(page.url.path), "<b>3</b> · RD$ <b>354.00</b>" in page.text) == (f"{here}/decide", True), page.text
    refused = await owner.send(f"{here}/decide", {"id": ids, "reason": "  "})
    assert (refused.status_code, "Say why" in refused.text) == (400, True)
    form = {**hidden_fields(refused.text, f"{here}/decide"), "id": ids, "reason": "No es lo pedido"}
    assert not await rows(db, "SELECT 1 FROM tenant_changes WHERE after ->> 'decision' = 'rejected'")

    first = await owner.client.post(f"{here}/decide", data=form)
    again = await owner.client.post(f"{here}/decide", data=form)

    for page, new, before in ((first, 2, 1), (again, 0, 3)):
        assert page.status_code == 200
        assert page.text.count("On its way to the DGII") == new
        assert page.text.count("decided otherwise before") == 1
        assert page.text.count(", by you") == before
    assert len(await rows(db, "SELECT 1 FROM submissions")) == 3
    assert "waiting" not in (await owner.get(here)).text


async def test_link_for_browsers_without_script_checks_all_boxes_of_the_page(
    owner: Browser, tenant: TenantId, db: Database
) -> None:
    for number in (1, 2):
        await make_received(db, tenant, e_ncf=f"E31000000000{number}")
    here = f"/companies/{tenant}/ecf/received"
    page = await owner.get(f"{here}?issuer=131880738&type=31")
    (link,) = re.findall(r'<noscript><p><a href="([^"]+)">', page.text)
    assert 'name="id" value' in page.text
    assert " checked aria-label" not in page.text

    page = await owner.get(unescape(link))

    assert len(re.findall(r'name="id" value="[^"]+" checked ', page.text)) == 2
    assert 'value="131880738"' in page.text


async def test_nothing_ticked_leads_back_and_accountants_have_no_boxes(
    owner: Browser, portal: Running, tenant: TenantId, db: Database
) -> None:
    one = await make_received(db, tenant)
    here = f"/companies/{tenant}/ecf/received"
    await owner.get(here)
    page = await owner.send(f"{here}/choose", {"do": "approve"})
    assert "Tick the receipts first" in page.text

    reader = await portal.person(tenant, PortalRole.ACCOUNTANT, email="luis@example.do")
    async with portal.browser(reader) as browser:
        assert 'type="checkbox"' not in (await browser.get(here)).text
        assert (await browser.get(f"{here}/decide?do=approve&ids={one}")).status_code == 403


async def test_accountant_whom_the_owner_lets_answer_approves_and_goes_to_the_next(
    owner: Browser, portal: Running, tenant: TenantId, db: Database
) -> None:
    first, second = [
        await make_received(db, tenant, e_ncf=f"E31000000000{number}", at=NOW - timedelta(days=4 - number))
        for number in (1, 2)
    ]
    here = f"/companies/{tenant}/ecf/received"
    reader = await portal.person(tenant, PortalRole.ACCOUNTANT, email="luis@example.do")
    at = f"/companies/{tenant}/people/{reader.person_id}"
    await owner.get(at)
    await owner.send(f"{at}/role", {"role": "accountant", "answers": "on"})

    async with portal.browser(reader) as browser:
        page = await browser.get(f"{here}/{first}")
        assert f'{here}/{second}" rel="next"' in page.text
        page = await browser.send(f"{here}/{first}/approve")
        assert "Your decision is on its way" in page.text
        assert (await browser.get(f"/companies/{tenant}/ecf/new")).status_code == 403
    (change,) = await rows(db, "SELECT after FROM tenant_changes WHERE action = 'role changed'")
    assert change["after"] == {"role": "accountant", "answers": "True"}


async def test_its_lines_and_totals_are_shown_as_a_receipts(
    owner: Browser, portal: Running, tenant: TenantId, db: Database
) -> None:
    document = long_receipt(3)
    printed = read(document)
    one = await make_received(db, tenant, document=document)

    page = await owner.get(f"/companies/{tenant}/ecf/received/{one}")

    assert [page.text.count(f"<bdi>Artículo {number}</bdi>") for number in (1, 2, 3, 4)] == [1, 1, 1, 0]
    (taxed, vat) = printed.totals
    assert f"<dt>Taxed subtotal</dt><dd>{taxed.amount:,.2f}</dd>" in page.text
    assert f"<dt>ITBIS</dt><dd>{vat.amount:,.2f}</dd>" in page.text
    assert f"<dt>Total</dt><dd>RD$ {printed.total:,.2f}</dd>" in page.text
    person = await portal.person(tenant, PortalRole.ACCOUNTANT, email="conta@example.do", language="es")
    async with portal.browser(person, "es") as browser:
        page = await browser.get(f"/companies/{tenant}/ecf/received/{one}")
        assert f"<dt>Total ITBIS</dt><dd>{vat.amount:,.2f}</dd>" in page.text


async def test_receipts_of_every_type_are_shown_with_their_forms_of_payment(
    owner: Browser, tenant: TenantId, db: Database
) -> None:
    paid = 0
    for place, path in enumerate(GOLDEN, 1):
        document = signed(path)
        payments = [one for one in read(document, "en").after_total if one.name == "payment"]
        one = await make_received(db, tenant, e_ncf=f"E31{place:010}", document=document)
        page = await owner.get(f"/companies/{tenant}/ecf/received/{one}")
        assert (page.status_code, ">Totals</h3>" in page.text) == (200, True), path
        for form in payments:
            assert f'<td>{form.words}</td><td class="num">{form.amount:,.2f}</td>' in page.text, path
        paid += len(payments)
    assert paid
