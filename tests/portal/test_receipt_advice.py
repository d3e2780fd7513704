"""Advice after a rejection: people's words, and one action that leads out of it."""

import re
from datetime import UTC, date, datetime, timedelta
from importlib.resources import files
from pathlib import Path

import pytest

from fe.accounts.sequences import put
from fe.ecf.catalogue import EcfType, Environment
from fe.ecf.json_text import write_json
from fe.ecf.verdicts import EXPLANATIONS
from fe.identifiers import TenantId
from fe.lifecycle import Status
from fe.portal import receipt_advice, receipt_words
from fe.store.postgres.db import Database
from tests.ecf.receipts import line, payload
from tests.factories.tenants import rows
from tests.portal.receipts import make_receipt
from tests.portal.running import Browser, Running

#: A request of the API, as its documentation writes it.
REQUEST = re.compile(r"\b(GET|POST|PUT|PATCH|DELETE) /")
CODES = [one.code for one in EXPLANATIONS] + ["9999"]


async def page_of(browser: Browser, tenant: TenantId, one: object) -> str:
    page = await browser.get(f"/companies/{tenant}/ecf/submissions/{one}")
    assert page.status_code == 200, page.text
    return page.text


def action_in(text: str) -> str:
    """The one button of a rejected receipt, and where it leads."""
    found = re.findall(r'<p class="actions"><a class="button" href="([^"]+)">([^<]+)</a>', text)
    assert len(found) == 1, found
    return f"{found[0][1]} -> {found[0][0].partition('/ecf/')[2] or found[0][0].rpartition('/')[2]}"


@pytest.mark.parametrize("language", ["en", "es"])
async def test_receipt_page_of_every_code_names_no_request_and_has_one_action(
    portal: Running, tenant: TenantId, db: Database, language: str
) -> None:
    for n, code in enumerate(CODES):
        one = await make_receipt(
            db, tenant, e_ncf=f"E31{n:010d}", status=Status.REJECTED, messages=((code, "motivo de la DGII"),)
        )
        async with portal.browser(await portal.person(tenant, email=f"a{n}@x.do", language=language)) as browser:
            text = await page_of(browser, tenant, one)
        shown = text.partition("<pre")[0]
        assert not REQUEST.search(shown), code
        for name in ("expireAt", "NCFModificado", "TablaSub", "DescuentoMonto", "Totales"):
            assert name not in shown, (code, name)
        assert action_in(text)


@pytest.mark.parametrize("path", sorted(Path(str(files("fe.portal"))).rglob("*.*")), ids=lambda one: one.name)
def test_portal_texts_name_no_request_of_the_api(path: Path) -> None:
    if path.suffix not in (".html", ".py", ".js", ".toml", ".csv"):
        pytest.skip("no texts for people")
    said = [line for line in path.read_text().splitlines() if REQUEST.search(line)]

    assert [line for line in said if '"""' not in line and not line.strip().startswith("#")] == []


async def test_rejection_for_the_expiry_of_a_sequence_leads_to_it_until_it_is_changed(
    portal: Running, owner: Browser, tenant: TenantId, db: Database
) -> None:
    await db.transact(put, tenant, Environment.ECF, "E31", last_day=date(2028, 12, 31), now=portal.clock())
    one = await make_receipt(
        db,
        tenant,
        e_ncf="E310000000001",
        status=Status.REJECTED,
        messages=(("7", "Secuencia vencida"),),
        original=write_json(payload(EcfType.CREDIT_FISCAL, [line()])),
    )
    day = date(2028, 12, 31)
    await rows(db, "UPDATE submissions SET ncf_expiration = %(day)s WHERE submission_id = %(id)s", day=day, id=one)

    before = await page_of(owner, tenant, one)
    copied = await owner.get(f"/companies/{tenant}/ecf/new/31?from={one}")
    await db.transact(put, tenant, Environment.ECF, "E31", last_day=date(2027, 12, 31), now=portal.clock())
    after = await page_of(owner, tenant, one)

    assert action_in(before) == "Open the sequence E31 -> sequences/E31"
    assert "Copy as new" not in before
    assert "Correct the expiry date of the sequence" in copied.text
    assert action_in(after) == f"Correct and issue again -> new/copy?from={one}"


async def test_receipt_page_while_pending_is_loaded_again_and_then_no_more(
    portal: Running, owner: Browser, tenant: TenantId, db: Database
) -> None:
    refresh = '<noscript><meta http-equiv="refresh"'
    now = portal.clock()
    pending = await make_receipt(db, tenant, e_ncf="E310000000001", status=None, at=now)
    settled = await make_receipt(db, tenant, e_ncf="E310000000002")
    stuck = await make_receipt(db, tenant, e_ncf="E310000000003", status=None, at=now - timedelta(hours=1))

    shown, over, old = [await page_of(owner, tenant, one) for one in (pending, settled, stuck)]

    assert refresh in shown
    assert "data-refresh>" in shown
    assert "refresh" not in over.partition("<pre")[0]
    assert refresh not in old
    assert ">Refresh</a>" in old


async def test_receipt_page_while_work_is_paused_says_so(
    portal: Running, owner: Browser, tenant: TenantId, db: Database
) -> None:
    pending = await make_receipt(db, tenant, e_ncf="E310000000001", status=None, at=datetime.now(UTC))
    assert "has paused sending" not in await page_of(owner, tenant, pending)
    for environment, is_said in (("testecf", False), ("ecf", True), ("", True)):
        await rows(db, "DELETE FROM pauses")
        await rows(
            db,
            """INSERT INTO pauses (tenant_id, environment, paused_at, paused_by, reason)
               VALUES (0, %(environment)s, now(), 'ops', 'maintenance')""",
            environment=environment,
        )
        assert ("has paused sending" in await page_of(owner, tenant, pending)) == is_said


async def test_sequence_pages_name_types_as_receipts_do(portal: Running, tenant: TenantId, db: Database) -> None:
    for of in EcfType:
        await db.transact(put, tenant, Environment.ECF, of.prefix, last_day=date(2028, 12, 31), now=portal.clock())
    async with portal.browser(await portal.person(tenant, language="es")) as browser:
        listed = (await browser.get(f"/companies/{tenant}/ecf/sequences")).text
        empty = (await browser.get(f"/companies/{tenant}/testecf/sequences")).text
        one = (await browser.get(f"/companies/{tenant}/ecf/sequences/E46")).text

    for of in EcfType:
        name = receipt_words.TYPE_NAMES[of].es
        assert f"<small>{name}</small>" in listed
        assert f">{of.prefix} {name}</option>" in empty
    assert "<h1>E46 Exportaciones" in one
    assert "voucher" not in f"{listed}{empty}{one}"


def test_every_code_that_the_api_explains_has_advice_of_the_portal() -> None:
    assert {one.code for one in EXPLANATIONS} == set(receipt_advice._BY_CODE)
