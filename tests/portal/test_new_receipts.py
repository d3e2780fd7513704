"""Receipts made in a form: its questions, the kept values, the permissions, and that it issues once."""

import json
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from functools import partial
from typing import Any

import httpx
import pytest
import trio

from fe.accounts import audited_changes
from fe.accounts.sequences import put
from fe.ecf.catalogue import EcfType, Environment
from fe.ecf.document import read_payload
from fe.ecf.ids import new_id
from fe.ecf.json_text import write_json
from fe.ecf.parse import parse_json
from fe.ecf.rules import check
from fe.ecf.totals import totals
from fe.http.examples import EXAMPLES, Example
from fe.identifiers import PORTAL_KEY, TenantId, UserId
from fe.issuing.prepare import prepare
from fe.limits import DocumentQuota, QuotaLimits
from fe.monitoring.metrics import Metrics
from fe.portal.receipt.copies import note_for
from fe.portal.receipt.entry import ReceiptEntry
from fe.portal.receipt.layout import layout
from fe.portal.session import IDLE
from fe.store.portal import sessions
from fe.store.portal.people import PortalRole
from fe.store.postgres.db import Database
from fe.store.postgres.errors import DatabaseUnavailable
from fe.store.records import tenants
from fe.store.records.submissions import Accepted, NewSubmission
from tests.ecf.receipts import NOW, line, payload, receipt
from tests.factories.companies import make_certificate
from tests.factories.firsts import not_known_at_first
from tests.factories.tenants import make_submission
from tests.http.front import ISSUER, make_tenant
from tests.portal.receipt_form import ReceiptForm
from tests.portal.running import PASSWORD, Browser, Running, start_portal

_NOW = datetime(2026, 11, 1, tzinfo=UTC)
HOSTILE = '<img src=x onerror=alert(1)>"\u202e=cmd()'


def at(tenant: TenantId, of: str = "31") -> str:
    return f"/companies/{tenant}/testecf/new/{of}"


@pytest.fixture
async def able(portal: Running, tenant: TenantId) -> TenantId:
    """A company with a certificate and every sequence in testecf."""
    await make_certificate(portal.db, tenant)
    for of in EcfType:
        await portal.db.transact(
            put, tenant, Environment.TESTECF, of.prefix, last_day=date(2028, 12, 31), now=portal.clock()
        )
    return tenant


async def simple(browser: Browser, tenant: TenantId) -> ReceiptForm:
    """A small credit invoice, filled in."""
    form = await ReceiptForm.open(browser, at(tenant))
    form.type("Encabezado.Comprador.RNCComprador", "131880657")
    form.type("Encabezado.Comprador.RazonSocialComprador", "Cliente SRL")
    form.type("item.NombreItem", "Mesa")
    form.type("item.PrecioUnitarioItem", "1000")
    return form


async def submissions(portal: Running) -> list[dict[str, Any]]:
    async def read(conn: Any) -> list[dict[str, Any]]:
        cursor = await conn.execute(
            "SELECT api_key_id, client_request_id, e_ncf, ecf_type, status, convert_from(d.content, 'UTF8')"
            "  FROM submissions AS s JOIN submission_documents AS d USING (tenant_id, submission_id)"
            " WHERE d.kind = 'original' ORDER BY s.submission_id"
        )
        names = ("key", "request", "e_ncf", "type", "status", "payload")
        return [dict(zip(names, row, strict=True)) for row in await cursor.fetchall()]

    return await portal.db.run(read)


async def test_a_small_receipt_is_checked_and_issued(portal: Running, owner: Browser, able: TenantId) -> None:
    types = await owner.get(f"/companies/{able}/testecf/new")
    assert types.text.count("/testecf/new/") >= 10
    assert "E310000000001" in types.text
    form = await simple(owner, able)
    assert "An issued receipt cannot be changed or withdrawn" in form.text

    await form.press("check")

    assert form.status == 200, form.text
    assert form.totals()["MontoTotal"] == "1180.00"
    assert "Everything is in order" in form.text
    assert await submissions(portal) == []

    await form.press("issue")

    (issued,) = await submissions(portal)
    assert (issued["key"], issued["e_ncf"], issued["type"]) == (PORTAL_KEY, "E310000000001", "31")
    assert form.url is not None
    assert form.url.path.startswith(f"/companies/{able}/testecf/submissions/")


@pytest.mark.parametrize(
    ("price", "included", "told"),
    [("3200", "1", True), ("1180", "1", False), ("3200", "0", False)],
)
async def test_a_cent_between_prices_with_itbis_and_the_total_is_explained(
    owner: Browser, able: TenantId, price: str, included: str, told: bool
) -> None:
    form = await simple(owner, able)
    form.type("item.PrecioUnitarioItem", price)
    form.type("item.CantidadItem", "1")
    form.type("Encabezado.IdDoc.IndicadorMontoGravado", included)

    await form.press("check")

    assert form.status == 200, form.text
    explained = "Your prices with ITBIS come to 3,200.00; the receipt comes to 3,199.99." in form.text
    assert explained == told, form.totals()


async def test_a_form_that_is_sent_twenty_times_at_once_issues_one_receipt(
    portal: Running, owner: Browser, able: TenantId
) -> None:
    form = await simple(owner, able)
    answers: list[httpx.Response] = []

    async def send() -> None:
        answers.append(await owner.client.post(form.path, data=form.sent("issue")))

    async with trio.open_nursery() as nursery:
        for _ in range(20):
            nursery.start_soon(send)

    assert {answer.status_code for answer in answers} == {303}
    assert len({answer.headers["location"] for answer in answers}) == 1
    (issued,) = await submissions(portal)
    assert issued["e_ncf"] == "E310000000001"


async def test_a_form_that_was_issued_while_it_was_checked_once_more_leads_to_its_receipt(
    portal: Running, owner: Browser, able: TenantId, monkeypatch: pytest.MonkeyPatch
) -> None:
    """There is no number left for it by then: the last is that of its own receipt."""
    last_one = partial(put, minimum=1, maximum=1, last_day=date(2028, 12, 31), now=portal.clock())
    await portal.db.transact(last_one, able, Environment.TESTECF, "E31")
    form = await simple(owner, able)
    sent = form.sent("issue")
    first = await owner.client.post(form.path, data=sent)
    not_known_at_first(monkeypatch)

    second = await owner.client.post(form.path, data=sent)

    assert (first.status_code, second.status_code) == (303, 303), second.text
    assert second.headers["location"] == first.headers["location"]
    assert len(await submissions(portal)) == 1


async def test_a_form_that_was_changed_after_it_was_issued_says_so(
    portal: Running, owner: Browser, able: TenantId
) -> None:
    form = await simple(owner, able)
    before = list(form.fields)
    await form.press("issue")
    form.fields = before
    form.type("item.PrecioUnitarioItem", "2000")

    await form.press("issue")

    assert (form.status, len(await submissions(portal))) == (409, 1)
    assert "E310000000001, and you have changed it" in form.text
    await form.press("issue")
    assert [one["e_ncf"] for one in await submissions(portal)] == ["E310000000001", "E310000000002"]


@pytest.mark.parametrize("typed", ["1.234,50", "1,5", "RD$ 1.5.0", "1,23,456", "ABC", "1e5", "-", "NaN", "9" * 50])
async def test_an_amount_that_is_no_plain_number_is_asked_back(
    portal: Running, owner: Browser, able: TenantId, typed: str
) -> None:
    form = await simple(owner, able)
    form.type("item.PrecioUnitarioItem", typed)

    await form.press("issue")

    assert (form.status, await submissions(portal)) == (400, [])
    assert form.value("item.PrecioUnitarioItem") == typed
    if len(typed) < 50:
        assert form.problems_at("item.PrecioUnitarioItem", 1)


@pytest.mark.parametrize("price", ["1,234.50", "RD$ 1,234.50", "$1234.5"])
async def test_price_and_rnc_written_as_people_do_are_taken(owner: Browser, able: TenantId, price: str) -> None:
    form = await simple(owner, able)
    form.type("Encabezado.Comprador.RNCComprador", "131-88065-7")
    form.type("item.PrecioUnitarioItem", price)
    form.type("paid", "RD$ 1,500")

    await form.press("check")

    assert "Everything is in order" in form.text
    assert form.totals()["MontoTotal"] == "1456.71"
    assert "<dd data-change><b>43.29</b></dd>" in form.text


async def test_a_repair_is_offered_and_done_on_demand(owner: Browser, able: TenantId) -> None:
    form = await simple(owner, able)
    form.type("item.PrecioUnitarioItem", "1.234,50")
    await form.press("check")
    (repair,) = form.buttons("repair:")

    await form.press(repair)

    assert form.value("item.PrecioUnitarioItem") == "1234.50"
    assert form.totals()["MontoTotal"] == "1456.71"
    broken = await owner.client.post(form.path, data=form.sent('repair:{"op":"set","path":"A[99999]","value":"1"}'))
    assert broken.status_code == 400


async def test_rows_are_added_and_taken_away_without_a_script(owner: Browser, able: TenantId) -> None:
    form = await simple(owner, able)
    await form.press("add:item")
    form.type("item.NombreItem", "Silla", 2)
    form.type("item.PrecioUnitarioItem", "50", 2)
    form.type("item.more", "DescripcionItem=Silla de caoba", 2)
    await form.press("add:pay")
    form.type("pay.FormaPago", "1")
    form.type("pay.MontoPago", "59")
    await form.press("remove:item:1")

    assert (form.rows("item.NombreItem"), form.value("item.NombreItem")) == (1, "Silla")
    assert form.value("item.more").strip() == "DescripcionItem=Silla de caoba"
    await form.press("check")
    assert form.totals()["MontoTotal"] == "59.00"
    assert "Everything is in order" in form.text
    await form.press("remove:item:1")
    assert (form.rows("item.NombreItem"), form.value("item.NombreItem")) == (1, "")
    for odd in ("remove:item:x", "remove:nothing:1", "add:nothing", "remove:item:99999999999999999999", "?"):
        assert (await form.press(odd)).status_code == 200, odd


async def test_free_fields_say_what_the_form_has_no_field_for(portal: Running, owner: Browser, able: TenantId) -> None:
    form = await simple(owner, able)
    form.type(
        "more",
        "Encabezado.Emisor.ZonaVenta=V 7\nEncabezado.Emisor.TablaTelefonoEmisor.TelefonoEmisor=809-555-0100",
    )
    form.type(
        "item.more",
        'TablaCodigosItem.CodigosItem[1].TipoCodigo=Interna\nTablaCodigosItem.CodigosItem[1].CodigoItem="A 1"',
    )

    await form.press("issue")

    (issued,) = await submissions(portal)
    payload = json.loads(issued["payload"])
    assert payload["Encabezado"]["Emisor"]["ZonaVenta"] == "V 7"
    assert payload["Encabezado"]["Emisor"]["TablaTelefonoEmisor"]["TelefonoEmisor"] == ["809-555-0100"]
    assert payload["DetallesItems"]["Item"][0]["TablaCodigosItem"]["CodigosItem"] == [
        {"TipoCodigo": "Interna", "CodigoItem": "A 1"}
    ]


@pytest.mark.parametrize(
    "line",
    [
        "no equals sign",
        "Nothing.Here=1",
        "Encabezado=1",
        "Encabezado.Emisor.TablaTelefonoEmisor.TelefonoEmisor[9]=809-555-0100",
        "Encabezado.Emisor.ZonaVenta[1]=x",
        "DetallesItems.Item[9999].NombreItem=x",
        "__class__.x=1",
        "=",
    ],
)
async def test_a_free_field_that_cannot_be_read_stops_it(
    portal: Running, owner: Browser, able: TenantId, line: str
) -> None:
    form = await simple(owner, able)
    form.type("more", line)

    await form.press("issue")

    assert (form.status, await submissions(portal)) == (400, [])
    assert form.value("more") == line


@pytest.mark.parametrize("typed", ["1,180.00", "1e9999999", "1e999", "NaN", "mil"])
@pytest.mark.parametrize(
    ("field", "element"), [("more", "Encabezado.Totales.MontoTotal"), ("item.more", "MontoItem")], ids=["total", "line"]
)
async def test_what_is_no_amount_is_shown_as_it_was_typed(
    portal: Running, owner: Browser, able: TenantId, field: str, element: str, typed: str
) -> None:
    """`1e9999999` was written out: ten million digits, and more for a larger exponent."""
    form = await simple(owner, able)
    form.type("Encabezado.IdDoc.IndicadorMontoGravado", "1")
    form.type(field, f"{element}={typed}")

    await form.press("check")

    assert form.status == 200
    assert "It cannot be issued like this" in form.text
    assert form.value(field).strip() == f"{element}={typed}"
    assert len(form.text) < 100_000
    await form.press("issue")
    assert (form.status, await submissions(portal)) == (400, [])


async def test_without_a_sequence_it_asks_back(portal: Running, owner: Browser, tenant: TenantId) -> None:
    await make_certificate(portal.db, tenant)
    form = await simple(owner, tenant)
    assert "no active sequence" in form.text

    await form.press("issue")

    assert (form.status, await submissions(portal)) == (400, [])
    assert "no active sequence" in form.text
    assert f"/companies/{tenant}/testecf/sequences" in form.text
    assert form.value("item.NombreItem") == "Mesa"


async def test_without_a_certificate_nothing_is_issued(portal: Running, owner: Browser, tenant: TenantId) -> None:
    await portal.db.transact(put, tenant, Environment.TESTECF, "E31", last_day=date(2028, 12, 31), now=portal.clock())
    form = await simple(owner, tenant)

    await form.press("issue")

    assert (form.status, await submissions(portal)) == (400, [])
    assert "no certificate available" in form.text


async def test_remarks_are_asked_back_once(portal: Running, owner: Browser, able: TenantId) -> None:
    form = await simple(owner, able)
    form.type("Encabezado.IdDoc.TipoPago", "2")

    await form.press("issue")

    assert (form.status, await submissions(portal)) == (409, [])
    assert form.problems_at("Encabezado.IdDoc.FechaLimitePago")
    await form.press("issue")
    assert len(await submissions(portal)) == 1


async def test_accountants_and_others_may_not(portal: Running, able: TenantId) -> None:
    person = await portal.person(able, PortalRole.ACCOUNTANT)
    stranger = await portal.person(await make_tenant(portal.db, "Otra SRL"), email="otro@example.do")
    async with portal.browser(person) as browser:
        for path in ("", "/31", "/copy"):
            assert (await browser.get(f"/companies/{able}/testecf/new{path}")).status_code == 403
        page = await browser.get("/")
        csrf = page.text.partition('name="csrf" value="')[2].partition('"')[0]
        refused = await browser.client.post(at(able), data={"csrf": csrf, "do": "issue"})
        assert refused.status_code == 403
    async with portal.browser(stranger) as browser:
        assert (await browser.get(at(able))).status_code == 404
    assert await submissions(portal) == []


async def test_hostile_input_is_shown_as_text(owner: Browser, able: TenantId) -> None:
    form = await simple(owner, able)
    for name, _ in list(form.fields):
        if name not in ("csrf", "form", "more", "item.more"):
            form.type(name, HOSTILE)
    form.type("more", HOSTILE * 300)

    await form.press("check")

    assert form.status == 200
    assert "<img" not in form.text
    assert form.value("item.NombreItem") == HOSTILE
    for odd in ("\x1b", "\ufffe"):
        form = await simple(owner, able)
        form.type("item.NombreItem", f"x{odd}y")
        assert (await form.press("issue")).status_code == 400, repr(odd)


async def test_what_is_no_form_of_ours_is_refused(owner: Browser, able: TenantId) -> None:
    form = await simple(owner, able)
    for name, value in (("form", "x"), ("as_user", "x")):
        sent = form.sent("issue") | {name: [value]}
        assert (await owner.client.post(form.path, data=sent)).status_code == 400
    for path in ("/99", "/31?from=x", f"/31?from={'0' * 8}-0000-7000-8000-{'0' * 12}", "/copy"):
        assert (await owner.get(f"/companies/{able}/testecf/new{path}")).status_code == 404, path
    assert (await owner.get(f"/companies/{able}/nowhere/new/31")).status_code == 404


async def test_a_disabled_company_issues_nothing(portal: Running, owner: Browser, able: TenantId) -> None:
    form = await simple(owner, able)
    await portal.db.run(_disable, able)

    await form.press("issue")

    assert (form.status, await submissions(portal)) == (409, [])
    assert "The company is disabled" in form.text


async def _disable(conn: Any, tenant: TenantId) -> None:
    await conn.execute("INSERT INTO disabled_tenants (tenant_id, since) VALUES (%s, now())", [tenant])


async def test_a_thousand_lines(portal: Running, owner: Browser, able: TenantId) -> None:
    form = await simple(owner, able)
    columns = [name for name, _ in form.fields if name.startswith("item.")]
    values = {name: value for name, value in form.fields if name in columns}
    form.fields = [one for one in form.fields if one[0] not in columns]
    for number in range(1, 1001):
        typed = {**values, "item.NombreItem": f"Artículo {number}", "item.PrecioUnitarioItem": "10.50"}
        form.fields += list(typed.items())

    await form.press("check")

    assert (form.status, form.rows("item.NombreItem")) == (200, 1000)
    assert form.totals()["MontoTotal"] == "12390.00"
    await form.press("issue")
    (issued,) = await submissions(portal)
    assert len(json.loads(issued["payload"])["DetallesItems"]["Item"]) == 1000


async def test_a_receipt_is_copied_and_a_note_made_for_it(portal: Running, owner: Browser, able: TenantId) -> None:
    form = await simple(owner, able)
    form.type("item.DescuentoMonto", "100")
    await form.press("issue")
    assert form.url is not None
    issued = form.url.path.rpartition("/")[2]

    again = await ReceiptForm.open(owner, f"/companies/{able}/testecf/new/copy?from={issued}")
    assert again.url is not None
    assert again.url.path == at(able)
    assert again.value("item.NombreItem") == "Mesa"
    assert again.value("item.DescuentoMonto") == "100"
    await again.press("issue")
    assert len(await submissions(portal)) == 2

    note = await ReceiptForm.open(owner, f"{at(able, '34')}?from={issued}")
    assert note.value("InformacionReferencia.NCFModificado") == "E310000000001"
    assert note.value("Encabezado.IdDoc.IndicadorNotaCredito") == "0"
    note.type("InformacionReferencia.CodigoModificacion", "1")
    await note.press("issue")
    assert [one["e_ncf"] for one in await submissions(portal)][2:] == ["E340000000001"]

    stranger = await portal.person(await make_tenant(portal.db, "Otra SRL"), email="otro@example.do")
    async with portal.browser(stranger) as browser:
        other = await browser.get("/")
        assert (await browser.get(f"{other.url.path}/testecf/new/31?from={issued}")).status_code == 404


@pytest.mark.parametrize("by", ["id", "email"])
async def test_what_is_made_of_a_users_receipt_is_that_users_too(
    portal: Running, owner: Browser, able: TenantId, by: str
) -> None:
    user_id = UserId(new_id(portal.clock()))
    await portal.db.run(tenants.create_user, able, user_id, "Sucursal@example.do", None)
    named: dict[str, Any] = {"as_user_id": user_id} if by == "id" else {"as_user": "sucursal@example.do"}
    issued = await make_submission(
        portal.db,
        able,
        at=portal.clock(),
        environment=Environment.TESTECF,
        original=write_json(payload(EcfType.CREDIT_FISCAL, [line()])),
        **named,
    )

    again = await ReceiptForm.open(owner, f"/companies/{able}/testecf/new/copy?from={issued}")
    note = await ReceiptForm.open(owner, f"{at(able, '34')}?from={issued}")

    assert [form.value("as_user") for form in (again, note)] == [str(user_id)] * 2


async def test_a_user_who_is_gone_is_told_of_before_the_company_issues_in_place_of_them(
    portal: Running, owner: Browser, able: TenantId
) -> None:
    issued = await make_submission(
        portal.db,
        able,
        at=portal.clock(),
        environment=Environment.TESTECF,
        original=write_json(payload(EcfType.CREDIT_FISCAL, [line()])),
        as_user="gone@example.do",
    )

    note = await ReceiptForm.open(owner, f"{at(able, '34')}?from={issued}")

    assert note.status == 200
    assert "was issued by gone@example.do, who is no longer a user of the company" in note.text


@pytest.mark.parametrize("amount", ["99.99", "100.80", "100.00", None])
def test_a_note_on_the_whole_comes_to_what_was_issued(amount: str | None) -> None:
    """Three at 33.3333 are 100.00; up to a peso more or less is accepted, and is what the note takes back."""
    said = {} if amount is None else {"MontoItem": amount}
    source = read_payload(payload(EcfType.CREDIT_FISCAL, [line("33.3333", "3.00", **said), line("10.00")]))

    made = note_for(source, EcfType.CREDIT_NOTE, ISSUER, e_ncf="E310000000001", issued=_NOW.date(), today=_NOW.date())
    note = read_payload(ReceiptEntry.of(layout(EcfType.CREDIT_NOTE), made).payload())

    assert totals(note) == totals(source)
    assert note.get("DetallesItems.Item[1].MontoItem") == (Decimal(amount) if amount in ("99.99", "100.80") else None)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda one: one.code)
def test_a_form_says_what_an_example_says(example: Example) -> None:
    said = parse_json(example.text.encode())["payload"]
    entry = ReceiptEntry.of(layout(EcfType(example.type)), said)

    of_form, of_example = (
        prepare(
            read_payload(payload),
            number=f"E{example.type}0000000001",
            issuer=ISSUER,
            last_day=date(2028, 12, 31),
            holders=(),
            now=_NOW,
        )
        for payload in (entry.payload(), said)
    )

    assert entry.unread == []
    assert of_form.fatal == ()
    ours, theirs = (one.document.content["Encabezado"]["Totales"] for one in (of_form, of_example))
    assert {k: _value(v) for k, v in ours.items()} == {k: _value(v) for k, v in theirs.items()}


def _value(value: Any) -> Any:
    return Decimal(str(value)) if not isinstance(value, dict) else str(value)


async def test_a_user_of_the_company_is_chosen(portal: Running, owner: Browser, able: TenantId) -> None:
    user_id = UserId(new_id(portal.clock()))
    await portal.db.run(tenants.create_user, able, user_id, "sucursal@example.do", None)
    form = await simple(owner, able)
    form.type("as_user", str(user_id))

    await form.press("issue")

    assert (form.status, await submissions(portal)) == (400, [])  # that user has no certificate
    assert form.value("as_user") == str(user_id)
    await make_certificate(portal.db, able, user_id=user_id)
    await form.press("issue")
    assert len(await submissions(portal)) == 1


async def test_a_company_that_has_had_its_quota_is_told_so(
    nursery: trio.Nursery, db: Database, portal_db: Database, tenant: TenantId
) -> None:
    portal = await start_portal(
        nursery, db, portal_db, None, quotas=DocumentQuota(QuotaLimits(documents_a_minute=1), Metrics())
    )
    async with portal.browser(await portal.person(tenant)) as browser:
        form = await simple(browser, tenant)
        await form.press("check")
        assert form.status == 200

        await form.press("check")

        assert (form.status, form.value("item.NombreItem")) == (429, "Mesa")


async def test_a_receipt_that_is_issued_leads_to_it_though_nothing_can_be_noted(
    portal: Running, owner: Browser, able: TenantId, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def away(*_: Any) -> None:
        raise DatabaseUnavailable("it went away after the receipt")

    form = await simple(owner, able)
    monkeypatch.setattr(sessions, "leave_notice", away)
    monkeypatch.setattr(audited_changes, "note", away)

    await form.press("issue")

    assert (form.status, "Nothing was changed" in form.text) == (200, False)
    assert form.url is not None
    assert "/submissions/" in form.url.path
    (issued,) = await submissions(portal)
    assert issued["e_ncf"] in form.text


async def test_with_the_database_away_the_form_stays_and_is_issued_once_later(
    nursery: trio.Nursery, db: Database, portal_db: Database, tenant: TenantId, monkeypatch: pytest.MonkeyPatch
) -> None:
    portal = await start_portal(nursery, db, portal_db, None)
    await make_certificate(db, tenant)
    await db.transact(put, tenant, Environment.TESTECF, "E31", last_day=date(2028, 12, 31), now=portal.clock())
    acceptance = portal.portal.submitting.acceptance
    accept = acceptance.accept

    async def answer_is_lost(new: NewSubmission, now: datetime) -> Accepted:
        await accept(new, now)
        raise DatabaseUnavailable("the link broke before the answer")

    async with portal.browser(await portal.person(tenant)) as browser:
        form = await simple(browser, tenant)
        monkeypatch.setattr(acceptance, "accept", answer_is_lost)
        await form.press("issue")
        assert (form.status, form.value("item.NombreItem")) == (503, "Mesa")
        assert "not known whether" in form.text
        monkeypatch.undo()

        await form.press("issue")

        assert form.url is not None
        assert "/submissions/" in form.url.path
        assert len(await submissions(portal)) == 1


# --- a session that ends, or gets a new token, while a person fills in a form -----------------------------------------


async def test_who_shows_again_who_it_is_in_another_tab_loses_nothing_that_was_typed(
    portal: Running, owner: Browser, able: TenantId
) -> None:
    form = await simple(owner, able)
    portal.clock.ahead = timedelta(minutes=11)
    await owner.get(f"/companies/{able}/certificates/new")
    assert (await owner.send("/again", {"password": PASSWORD})).url.path == f"/companies/{able}/certificates/new"

    await form.press("issue")

    assert (form.status, await submissions(portal)) == (403, [])
    assert "so nothing was done. Your text is here" in form.text
    assert (form.value("item.NombreItem"), form.value("item.PrecioUnitarioItem")) == ("Mesa", "1000")
    await form.press("issue")
    (issued,) = await submissions(portal)
    assert issued["e_ncf"] == "E310000000001"


async def test_a_session_that_ends_while_a_form_is_filled_in_loses_nothing_that_was_typed(
    portal: Running, owner: Browser, able: TenantId
) -> None:
    form = await simple(owner, able)
    sent = form.sent("issue")
    portal.clock.ahead = IDLE

    ended = await owner.client.post(form.path, data=sent)

    assert (ended.status_code, "Nothing was changed" in ended.text) == (403, True)
    assert "reload this page" in ended.text
    await owner.sign_in("ana@example.do")
    await form.press("issue")  # as a browser does that loads the page again
    assert (form.status, form.value("item.NombreItem")) == (403, "Mesa")
    assert await submissions(portal) == []
    await form.press("issue")
    assert len(await submissions(portal)) == 1


async def test_a_receipt_that_was_issued_before_its_session_ended_is_issued_once(
    portal: Running, owner: Browser, able: TenantId
) -> None:
    form = await simple(owner, able)
    again = ReceiptForm(owner, form.path, list(form.fields))
    await form.press("issue")
    portal.clock.ahead = IDLE
    await owner.sign_in("ana@example.do")

    await again.press("issue")
    assert again.status == 403
    await again.press("issue")

    assert "was issued before" in again.text
    assert len(await submissions(portal)) == 1


async def test_who_is_somebody_else_by_then_may_do_no_more_than_before(
    portal: Running, owner: Browser, able: TenantId
) -> None:
    form = await simple(owner, able)
    reader = await portal.person(able, PortalRole.ACCOUNTANT, email="b@example.do")
    await owner.get("/account")
    await owner.send("/sign-out")
    await owner.sign_in(reader.email)

    await form.press("issue")

    assert (form.status, "Mesa" in form.text) == (403, False)
    assert "Your role does not allow this" in form.text


def test_a_global_discount_that_names_no_kind_of_lines_is_said_to_be_for_lines_of_one_kind() -> None:
    """One that is for all lines of several kinds needs a row for each (format document, section D)."""
    adjust = next(table for table in layout(EcfType.CREDIT_FISCAL).tables if table.key == "adjust")
    kind = next(one for one in adjust.fields if one.path.endswith("IndicadorFacturacionDescuentooRecargo"))
    row = {"TipoAjuste": "D", "TipoValor": "%", "ValorDescuentooRecargo": "10"}

    def codes(*indicators: str) -> set[str]:
        lines = [line(indicator=one) for one in indicators]
        discounted = {"DescuentoORecargo": [dict(row)]}
        return {
            one.code for one in check(receipt(EcfType.CREDIT_FISCAL, lines, DescuentosORecargos=discounted), now=NOW)
        }

    assert "adjustment-indicator" in codes("1", "4")
    assert codes("4", "4") == set()
    assert (kind.blank.en, kind.blank.es) == ("All, where they are of one kind", "Todas, si son de una sola clase")


async def test_the_form_draws_from_the_chosen_sequence_and_remembers_it(
    portal: Running, owner: Browser, able: TenantId
) -> None:
    for key, first, last in (("E31", 1, 100), ("E31/Caja 2", 101, 200), ("E32", 1, 100), ("E32/Caja 2", 101, 200)):
        await portal.db.run(
            put, able, Environment.TESTECF, key, minimum=first, maximum=last, last_day=date(2028, 12, 31), now=_NOW
        )
    form = await simple(owner, able)
    assert "E310000000001" in form.text
    assert 'value="Caja 2" data-next="Number E310000000101' in form.text

    form.type("sequence", "Caja 2")
    issued = await form.press("issue")
    again, other = await owner.get(at(able)), await owner.get(at(able, "32"))
    third = await owner.get(at(able, "33"))

    assert "E310000000101" in issued.text
    assert [one["e_ncf"] for one in await submissions(portal)] == ["E310000000101"]
    assert ["E310000000102" in again.text, "E320000000101" in other.text] == [True, True]
    assert " selected>Caja 2</option>" in again.text
    assert "f-sequence" not in third.text


@pytest.mark.parametrize(
    ("of", "typed", "said"),
    [
        ("31", {"item.CantidadItem": "0"}, ["Line 2, Quantity: The quantity has to be greater than 0."]),
        ("31", {"item.PrecioUnitarioItem": "1.234,50"}, ["Line 2: «Unit price» is not a number did you mean 1234.50?"]),
        ("31", {"item.more": "Tonto=1"}, ["Line 2, Other fields: Tonto: is no field of this type"]),
        ("31", {"more": "Tonto=1"}, ["Other fields: Tonto: is no field of this type"]),
        ("31", {"Encabezado.Comprador.RNCComprador": "131880658"}, ["RNC or cédula: This number does not pass"]),
        ("32", {"item.PrecioUnitarioItem": "300000"}, ["RNC or cédula, Name: a consumer invoice of 250,000.00 pesos"]),
        (
            "31",
            {"Encabezado.Emisor.FechaEmision": "2029-01-01"},
            ["Date of issue: the date of issue is later than today"],
        ),
    ],
)
async def test_list_of_problems_names_the_place_of_each_once(
    owner: Browser, able: TenantId, of: str, typed: dict[str, str], said: list[str]
) -> None:
    form = await ReceiptForm.open(owner, at(able, of))
    if of == "31":
        form.type("Encabezado.Comprador.RNCComprador", "131880657")
        form.type("Encabezado.Comprador.RazonSocialComprador", "Cliente SRL")
    form.type("item.NombreItem", "Mesa")
    form.type("item.PrecioUnitarioItem", "1000")
    await form.press("add:item")
    form.type("item.NombreItem", "Silla", 2)
    form.type("item.PrecioUnitarioItem", "1000", 2)
    for name, value in typed.items():
        form.type(name, value, 2 if name.startswith("item.") else 1)
    await form.press("check")

    found = form.problems()
    assert len(found) == len(said)
    assert [one.startswith(start) for one, start in zip(found, said, strict=True)] == [True] * len(said), found
