"""Receipts in the portal: the list with its filters and search, a receipt with its story, and nothing that runs."""

import csv
import io
import json
import re
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest

from fe.ecf.catalogue import EcfType, Environment
from fe.ecf.ids import new_id
from fe.identifiers import ActionId, TenantId
from fe.lifecycle import NumberFate, Stage, Status
from fe.store.portal import receipts
from fe.store.portal.people import PortalRole
from fe.store.postgres.db import Database
from fe.store.queue import dead_letters
from fe.store.queue.audit import OperatorAction
from tests.factories import bookings
from tests.factories.tenants import make_submission, row, rows, take
from tests.http import worker
from tests.http.front import make_tenant
from tests.portal.receipts import HOSTILE, IMAGE, TURNED, make_receipt, make_received
from tests.portal.running import Browser, Running

NOW = datetime.now(UTC)


def numbers(text: str) -> list[str]:
    """The numbers of a list, in its order."""
    return re.findall(r">(E[0-9]+)</a></td>", text)


async def listed(browser: Browser, tenant: TenantId, query: str = "") -> list[str]:
    page = await browser.get(f"/companies/{tenant}/ecf/submissions?{query}")
    assert page.status_code == 200, page.text
    return numbers(page.text)


@pytest.fixture
async def some(db: Database, tenant: TenantId) -> None:
    """Six receipts, the oldest first."""
    for minutes, changes in (
        (60, {"e_ncf": "E310000000001", "client_request_id": "order-1", "track_id": "track-one"}),
        (50, {"e_ncf": "E340000000002", "ecf_type": EcfType.CREDIT_NOTE, "buyer_rnc": "101000001"}),
        (40, {"e_ncf": "E310000000003", "status": Status.REJECTED, "as_user": "caja@example.do"}),
        (30, {"e_ncf": "E310000000004", "status": Status.CONDITIONAL}),
        (20, {"e_ncf": "E310000000005", "status": None}),
        (10, {"e_ncf": "E310000000006", "environment": Environment.TESTECF}),
    ):
        given: dict[str, Any] = dict(changes)
        await make_receipt(db, tenant, at=NOW - timedelta(minutes=minutes), **given)


async def test_the_list_is_of_one_environment_and_filtered(owner: Browser, tenant: TenantId, some: None) -> None:
    every = [f"E3{kind}000000000{n}" for kind, n in ((1, 5), (1, 4), (1, 3), (4, 2), (1, 1))]

    assert await listed(owner, tenant) == every
    for query, wanted in (
        ("state=rejected", [every[2]]),
        ("state=conditional", [every[1]]),
        ("state=accepted", [every[3], every[4]]),
        ("state=waiting", [every[0]]),
        ("type=34", [every[3]]),
        ("type=34&state=rejected", []),
        ("buyer=101-00000-1", [every[3]]),
        ("buyer=101000001&state=rejected", []),
        ("user=caja@example.do", [every[2]]),
        (f"user={uuid4()}", []),
        ("since=2100-01-01", []),
        ("until=2100-01-01&state=rejected", [every[2]]),
        ("issued_from=2100-01-01", []),
        ("total_from=1,000,000", []),
        ("text=0003", [every[2]]),
        ("number=used", [every[1], every[3], every[4]]),
        ("number=reserved", [every[0]]),
        ("number=used&text=0004", [every[1]]),
        ("number=void", []),
    ):
        assert await listed(owner, tenant, query) == wanted, query
    test = await owner.get(f"/companies/{tenant}/testecf/submissions")
    assert numbers(test.text) == ["E310000000006"]


async def test_a_receipt_is_found_by_whatever_somebody_has_of_it(
    owner: Browser, tenant: TenantId, db: Database, some: None
) -> None:
    (first,) = await rows(db, "SELECT submission_id AS id FROM submissions WHERE e_ncf = 'E310000000001'")

    for name in ("E310000000001", " e310000000001 ", "order-1", str(first["id"])):
        page = await owner.get(f"/companies/{tenant}/certecf/submissions?q={name}")
        assert page.url.path == f"/companies/{tenant}/ecf/submissions/{first['id']}", name
    await rows(db, "UPDATE submissions SET buyer_name = 'Núñez & Hijos' WHERE e_ncf = 'E310000000001'")
    for part in ("310000000001", "núñez %26 h"):
        page = await owner.get(f"/companies/{tenant}/ecf/submissions?q={part}")
        assert numbers(page.text) == ["E310000000001"], part
    assert 'name="text" type="text" value="núñez &amp; h"' in page.text, "it can be changed"
    nothing = await owner.get(f"/companies/{tenant}/ecf/submissions?q=%00nobody")
    assert (nothing.status_code, "Nothing was found" in nothing.text) == (200, True)


async def test_one_number_handed_in_twice_is_shown_twice(owner: Browser, tenant: TenantId, db: Database) -> None:
    await make_receipt(db, tenant, e_ncf="E310000000009", status=Status.REJECTED)
    second = await make_receipt(db, tenant, e_ncf="E310000000009")

    page = await owner.get(f"/companies/{tenant}/ecf/submissions?q=E310000000009")
    assert page.text.count(">E310000000009</a>") == 2
    one = await owner.get(f"/companies/{tenant}/ecf/submissions/{second}")
    assert "Also handed in under this number" in one.text


async def test_a_number_that_was_given_back_is_not_called_free_once_another_receipt_has_it(
    owner: Browser, tenant: TenantId, db: Database
) -> None:
    refused = await make_submission(db, tenant, at=NOW, e_ncf="E310000000009", environment=Environment.ECF)
    failure = {"status": "error", "error": "no certificate"}
    await db.run(bookings.failure, await take(db, refused), at=NOW, response=failure, fate=NumberFate.REUSABLE)

    async def said() -> str:
        page = await owner.get(f"/companies/{tenant}/ecf/submissions/{refused}")
        return page.text.partition("<dt>Number</dt><dd>")[2].partition("</dd>")[0]

    assert await said() == "free again: the next one may have it"
    again: dict[str, Any] = {"at": NOW, "e_ncf": "E310000000009", "environment": Environment.ECF}
    await make_submission(db, tenant, **again | {"environment": Environment.TESTECF})
    await make_submission(db, tenant, **again, issuer_rnc="101000001")
    assert await said() == "free again: the next one may have it", "of another environment, or issuer"
    await make_submission(db, tenant, **again)
    assert await said() == "given back by this one, and not free: another receipt has it now"


@pytest.mark.parametrize("query", ["since=31-12-2026", "buyer=12", "state=nothing", "type=99", "since=0001-01-01"])
async def test_what_cannot_be_meant_is_said_beside_the_form(
    query: str, owner: Browser, tenant: TenantId, some: None
) -> None:
    page = await owner.get(f"/companies/{tenant}/ecf/submissions?{query}")

    assert (page.status_code, 'role="alert"' in page.text) == (400, True)
    assert query.partition("=")[2] in page.text or "state" in query or "type" in query


async def test_pages_follow_one_another_and_miss_nothing(
    owner: Browser, tenant: TenantId, db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(receipts, "PAGE", 3)
    monkeypatch.setattr(receipts, "LOOK", 4)
    for n in range(9):
        await make_receipt(
            db,
            tenant,
            at=NOW - timedelta(minutes=n),
            e_ncf=f"E31000000000{n}",
            status=Status.REJECTED if n == 8 else Status.ACCEPTED,
        )

    for query, wanted in (("", list(range(9))), ("buyer=131880681&state=rejected", [8])):
        seen: list[str] = []
        page = await owner.get(f"/companies/{tenant}/ecf/submissions?{query}")
        for _ in range(10):
            seen += numbers(page.text)
            if 'rel="next"' not in page.text:
                break
            following = page.text.partition('rel="next"')[0].rpartition('href="')[2].partition('"')[0]
            page = await owner.get(following.replace("&amp;", "&"))
        assert seen == [f"E31000000000{n}" for n in wanted], query


async def test_a_receipt_shows_its_story_and_what_to_do(owner: Browser, tenant: TenantId, db: Database) -> None:
    one = await make_receipt(
        db, tenant, e_ncf="E310000000001", status=Status.REJECTED, messages=(("1209", "e-NCF ya utilizado"),)
    )

    page = await owner.get(f"/companies/{tenant}/ecf/submissions/{one}")

    assert page.status_code == 200, page.text
    for shown in (
        "Rejected",
        "This number was used before, or was voided.",
        "e-NCF ya utilizado",
        "Verdict of the DGII",
        "Cliente SRL",
        "1,180.00",
        "aB3+/x",
        "<svg",
        "&lt;RazonSocialComprador&gt;Cliente SRL&lt;/RazonSocialComprador&gt;",
        'id="l2"',
    ):
        assert shown in page.text, shown
    signed = await owner.get(f"/companies/{tenant}/ecf/submissions/{one}/signed")
    assert signed.content.startswith(b"<ECF>")
    assert signed.headers["content-disposition"].startswith("attachment")
    assert (await owner.get(f"/companies/{tenant}/ecf/submissions/{one}/sent")).status_code == 404
    elsewhere = await owner.get(f"/companies/{tenant}/testecf/submissions/{one}")
    assert elsewhere.url.path == f"/companies/{tenant}/ecf/submissions/{one}"


async def test_of_what_may_have_arrived_it_is_not_said_that_it_was_not_sent(
    owner: Browser, portal: Running, tenant: TenantId, db: Database
) -> None:
    one = await make_submission(db, tenant, at=portal.clock(), stage=Stage.RECONCILE, environment=Environment.ECF)
    await db.run(bookings.dead_letter, await take(db, one), at=portal.clock(), error="no answer")
    by = OperatorAction(ActionId(new_id(portal.clock())), portal.clock(), "olga", "enough")
    assert await db.transact(dead_letters.discard, by, tenant, one) is NumberFate.UNKNOWN

    page = await owner.get(f"/companies/{tenant}/ecf/submissions/{one}")
    listed = await owner.get(f"/companies/{tenant}/ecf/submissions")
    exported = await owner.get(f"/companies/{tenant}/ecf/submissions/export")
    overview = await owner.get(f"/companies/{tenant}")

    assert "not known yet: do not use it again until it is" in page.text
    for shown in (page, listed, exported):
        assert "Error: no verdict" in shown.text
        assert "Not sent" not in shown.text
    assert "Receipts that ended in an error in the last 7 days: 1." in overview.text


async def test_a_problem_leads_to_its_line(owner: Browser, tenant: TenantId, db: Database) -> None:
    original = b'{"DetallesItems": {"Item": [{"NombreItem": "A"}, {"NombreItem": "B", "MontoItem": 7}]}}'
    one = await make_submission(db, tenant, at=NOW, e_ncf="E310000000001", original=original)
    await worker.fail(db, str(one), "wrong")
    problem = {
        "code": "x",
        "path": "DetallesItems.Item[2].MontoItem",
        "message": "must be 8",
        "messageEs": "debe ser 8",
        "fix": "set it to 8",
    }
    await rows(
        db,
        "UPDATE submissions SET response = jsonb_set(response, '{problems}', %(problems)s::jsonb)",
        problems=json.dumps([problem]),
    )

    page = await owner.get(f"/companies/{tenant}/ecf/submissions/{one}")

    line = page.text.partition('<span class="line hit" id="l')[2].partition('"')[0]
    assert f'<a href="#l{line}">' in page.text
    assert "MontoItem&#34;: 7" in page.text.partition(f'id="l{line}"')[2].partition("</span>")[0]
    assert "must be 8" in page.text
    assert "set it to 8" in page.text
    as_handed_in = await owner.get(f"/companies/{tenant}/ecf/submissions/{one}/original")
    assert as_handed_in.headers["content-type"] == "application/json"


async def test_a_note_leads_to_the_receipt_it_is_about(owner: Browser, tenant: TenantId, db: Database) -> None:
    first = await make_receipt(db, tenant, e_ncf="E310000000001")
    note = await make_receipt(db, tenant, e_ncf="E340000000001", ecf_type=EcfType.CREDIT_NOTE, modified="E310000000001")

    page = await owner.get(f"/companies/{tenant}/ecf/submissions/{note}")

    assert f'/ecf/submissions/{first}">E310000000001</a>' in page.text


@pytest.mark.parametrize("name", HOSTILE)
async def test_what_strangers_write_is_text_and_nothing_else(
    name: str, owner: Browser, tenant: TenantId, db: Database
) -> None:
    one = await make_receipt(db, tenant, name=name, e_ncf="E310000000001", client_request_id=name[:100])
    list_of = f"/companies/{tenant}/ecf/submissions"

    for path in (list_of, f"{list_of}/{one}", f"/companies/{tenant}", f"{list_of}?q=E310000000001"):
        page = await owner.get(path)
        assert page.status_code == 200
        assert "<img" not in page.text
        assert "<script>" not in page.text
        assert "\u202e" not in page.text.replace(f"<code>{name}</code>", "")
    table = await owner.get(list_of)
    assert len(table.text) < 30_000

    exported = await owner.get(f"{list_of}/export")
    assert exported.headers["content-type"] == "text/csv; charset=utf-8"
    cells = [cell for line in csv.reader(io.StringIO(exported.text.removeprefix("\ufeff"))) for cell in line]
    assert not [cell for cell in cells if cell.lstrip().startswith(("=", "+", "-", "@"))]
    assert name[:20] in "".join(cells).replace("\\u202e", "\u202e").replace("\\t", "\t")


async def test_exported_note_names_day_taxes_payment_and_the_receipt_it_modifies(
    owner: Browser, tenant: TenantId, db: Database
) -> None:
    sold = await make_receipt(db, tenant, e_ncf="E310000000001")
    signed = (await row(db, "SELECT content FROM submission_documents WHERE kind = 'signed'"))["content"]
    seller = "</FechaEmision><CodigoVendedor>Ñ &amp; V-07</CodigoVendedor>"
    await rows(
        db,
        "UPDATE submission_documents SET content = %(content)s WHERE submission_id = %(id)s AND kind = 'signed'",
        id=sold,
        content=signed.replace(b"</FechaEmision>", seller.encode()),
    )
    await make_receipt(db, tenant, e_ncf="E340000000001", ecf_type=EcfType.CREDIT_NOTE, modified="E310000000001")
    await rows(
        db,
        """UPDATE submissions
              SET issued_on = '2026-11-06', itbis = 180, amounts = '{"paid1": "1000.00", "paid3": "180.00"}'
            WHERE ecf_type = '31'""",
    )

    exported = await owner.get(f"/companies/{tenant}/ecf/submissions/export")

    note, sale = csv.DictReader(io.StringIO(exported.text.removeprefix("\ufeff")))
    assert [sale[name] for name in ("Issued", "ITBIS", "Modified NCF")] == ["2026-11-06", "180.00", ""]
    assert (sale["Form of payment"], sale["Seller"]) == ("cash, debit or credit card", "Ñ & V-07")
    assert (note["Modified NCF"], note["Form of payment"]) == ("E310000000001", "")


async def test_an_address_that_is_no_name_is_shown_as_text(owner: Browser, tenant: TenantId) -> None:
    page = await owner.get(f"/companies/{tenant}/ecf/submissions?q={IMAGE}{TURNED}&state={IMAGE}")

    assert page.status_code == 200
    assert "<img" not in page.text


async def test_another_companys_receipt_is_not_there(owner: Browser, tenant: TenantId, db: Database) -> None:
    stranger = await make_tenant(db, "Otra SRL")
    theirs = await make_receipt(db, stranger, e_ncf="E310000000001", track_id="track-theirs")

    for path in ("", "/signed", "/original"):
        assert (await owner.get(f"/companies/{tenant}/ecf/submissions/{theirs}{path}")).status_code == 404
    for name in (str(theirs), "E310000000001", "track-theirs"):
        page = await owner.get(f"/companies/{tenant}/ecf/submissions?q={name}")
        assert "Nothing was found" in page.text
    for path in ("ecf/submissions", "ecf/submissions/export", "ecf/received"):
        assert (await owner.get(f"/companies/{stranger}/{path}")).status_code == 404
    assert (await owner.get(f"/companies/{tenant}/nowhere/submissions")).status_code == 404


async def test_an_accountant_reads_it_in_spanish(portal: Running, tenant: TenantId, db: Database) -> None:
    one = await make_receipt(db, tenant, status=Status.REJECTED, messages=(("3", ""),))
    person = await portal.person(tenant, PortalRole.ACCOUNTANT, email="conta@example.do", language="es")
    async with portal.browser(person, "es") as browser:
        page = await browser.get(f"/companies/{tenant}/ecf/submissions/{one}")
        listed = await browser.get(f"/companies/{tenant}/ecf/submissions")

    assert "Este número ya fue utilizado." in page.text
    assert "Rechazado" in listed.text
    assert "/new/copy" not in page.text


@pytest.mark.parametrize(
    ("environment", "named"), [("ecf", "Production"), ("certecf", "Certification"), ("testecf", "Tests")]
)
async def test_a_document_says_beside_its_facts_whether_it_is_a_trial(
    owner: Browser, tenant: TenantId, db: Database, environment: str, named: str
) -> None:
    of = Environment(environment)
    one = await make_receipt(db, tenant, e_ncf="E310000000001", environment=of)
    theirs = await make_received(db, tenant, environment=of)

    for there in (f"submissions/{one}", f"received/{theirs}"):
        page = await owner.get(f"/companies/{tenant}/{environment}/{there}")
        said = page.text.partition("<dt>Environment</dt><dd>")[2].partition("</dd>")[0]
        assert said == named + (" · a trial, of no fiscal value" if environment != "ecf" else "")
