"""Webhooks in the portal: set, tried, rotated, caught up with; and all that is refused."""

import re
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

import httpx
import trio

import fe.portal
from fe.identifiers import TenantId
from fe.limits import DocumentQuota, QuotaLimits
from fe.monitoring.metrics import Metrics
from fe.portal.foreign_text import foreign
from fe.store.portal import changes
from fe.store.portal.people import PortalRole
from fe.store.postgres.db import Database
from fe.store.webhooks import deliveries
from tests.factories.tenants import row, rows
from tests.http.front import make_tenant
from tests.portal.running import Browser, Running, hidden_fields, start_portal

URL = "https://erp.example.com/hook"
_SECRET = re.compile(r"whsec_[A-Za-z0-9+/=]+")


def at(tenant: TenantId, path: str = "") -> str:
    return f"/companies/{tenant}/ecf/webhooks{path}"


async def set_up(owner: Browser, tenant: TenantId, **more: Any) -> str:
    """Set the webhook of production; its secret."""
    await owner.get(at(tenant))
    page = await owner.send(at(tenant), {"url": URL, "events": ["received_ecf", "submission.accepted"], **more})
    assert page.status_code == 200, page.text
    found = _SECRET.search(page.text)
    assert found is not None
    return found[0]


async def delivery_of_a_test(owner: Browser, tenant: TenantId) -> UUID:
    """Send a test; its delivery."""
    await owner.get(at(tenant))
    page = await owner.send(at(tenant, "/test"))
    assert page.status_code == 200, page.text
    return UUID(page.url.path.rpartition("/")[2])


async def twice(owner: Browser, action: str, fields: dict[str, Any] | None = None) -> list[httpx.Response]:
    """Send the form of the page that is shown twice, as a double click does."""
    assert owner.page is not None
    filled = hidden_fields(owner.page.text, action) | (fields or {})
    return [await owner.client.post(action, data=filled) for _ in range(2)]


async def test_a_webhook_is_set_and_its_secret_shown_once(portal: Running, owner: Browser, tenant: TenantId) -> None:
    secret = await set_up(owner, tenant, **{"name-0": "X-Branch", "value-0": "top secret value"})

    page = await owner.get(at(tenant))

    assert URL in page.text
    assert "X-Branch" in page.text
    assert "top secret value" not in page.text
    assert secret not in page.text
    assert "Enabled" in page.text
    (change,) = await portal.db.run(changes.latest, tenant, limit=9)
    assert change.after == {
        "url": URL,
        "enabled": True,
        "events": ["received_ecf", "submission.accepted"],
        "headers": ["X-Branch"],
    }


async def test_headers_stay_go_and_change_without_being_shown(owner: Browser, tenant: TenantId) -> None:
    await set_up(owner, tenant, **{"name-0": "X-A", "value-0": "a", "name-1": "X-B", "value-1": "b"})
    await owner.get(at(tenant))

    page = await owner.send(
        at(tenant), {"url": URL, "events": "received_ecf", "kept": "X-B", "name-0": "x-b", "value-0": "other"}
    )

    assert page.status_code == 200
    assert "x-b" in page.text
    assert "X-A" not in page.text
    refused = await owner.send(at(tenant), {"url": URL, "events": "received_ecf", "kept": "X-Nobody"})
    assert (refused.status_code, "there is no header" in refused.text) == (400, True)


#: Input and its message.
_REFUSED: list[tuple[dict[str, str], str]] = [
    ({"url": "http://erp.example.com/"}, "should begin with https://"),
    ({"url": "https://user:pass@erp.example.com/"}, "holds credentials"),
    ({"url": "https://10.0.0.1/"}, "should name a host"),
    ({"url": "https://2130706433/"}, "should name a host"),
    ({"url": "https://[::ffff:127.0.0.1]/"}, "should name a host"),
    ({"url": "https://erp.example.com:22/"}, "port should be one of"),
    ({"url": "https://metadata.internal/"}, "public internet"),
    ({"url": "javascript:alert(1)"}, "should begin with https://"),
    ({"url": "https://erp.example.com/\u202e"}, "written with %"),
    ({"url": "https://erp.example.com/" + "a" * 10_000}, "longer than"),
    ({"url": "https://erp.example.com/<img onerror=alert(1)>"}, "blanks"),
    ({"events": "everything"}, "events must be among"),
    ({"events": "test"}, "events must be among"),
    ({"name-0": "X-A", "value-0": "a\r\nX-Evil: 1"}, "visible ASCII"),
    ({"name-0": "X-A\r\nX-Evil", "value-0": "a"}, "no name for a header"),
    ({"name-0": "Host", "value-0": "evil.example"}, "set by the service"),
    ({"name-0": "X-Service-Signature", "value-0": "sha256=0"}, "set by the service"),
    ({"name-0": "Content-Length", "value-0": "0"}, "set by the service"),
    ({"name-0": "X-A", "value-0": "1", "name-1": "x-a", "value-1": "2"}, "there twice"),
    ({"name-0": "", "value-0": "1"}, "without a name"),
    ({"name-0": "X-A", "value-0": "v" * 5000}, "visible ASCII"),
]


async def test_what_cannot_be_called_is_refused_beside_the_form(owner: Browser, tenant: TenantId) -> None:
    await owner.get(at(tenant))
    for fields, words in _REFUSED:
        page = await owner.send(at(tenant), {"url": URL, "events": "received_ecf", **fields})

        assert (page.status_code, words in page.text) == (400, True), (fields, page.text)
        assert "<img" not in page.text
        assert f'value="{URL}"' in page.text or "url" in fields
        assert 'type="password" value' not in page.text
        assert "No address is set" in page.text


async def test_this_machine_is_not_called(
    nursery: trio.Nursery, db: Database, portal_db: Database, tenant: TenantId
) -> None:
    """As an installation in production decides: the tests' own lets loopback pass."""
    from fe.egress.target import Policy
    from fe.webhooks.accounts import WebhookAccounts
    from tests.webhooks.receiver import WEBHOOK_VAULT

    portal = await start_portal(nursery, db, portal_db, None, webhooks=WebhookAccounts(WEBHOOK_VAULT, Policy()))
    async with portal.browser(await portal.person(tenant)) as owner:
        for url in ("https://localhost/", "https://127.0.0.1/", "https://[::1]/", "http://127.0.0.1:9/"):
            await owner.get(at(tenant))
            page = await owner.send(at(tenant), {"url": url, "events": "received_ecf"})
            assert (page.status_code, "own" in page.text) == (400, True), url


async def test_without_a_key_there_are_no_webhooks(
    nursery: trio.Nursery, db: Database, portal_db: Database, tenant: TenantId
) -> None:
    portal = await start_portal(nursery, db, portal_db, None, webhooks=None)
    async with portal.browser(await portal.person(tenant)) as owner:
        page = await owner.get(at(tenant))
        assert (page.status_code, "has no webhooks" in page.text) == (200, True)
        assert (await owner.get(at(tenant, "/deliveries"))).status_code == 503
        sent = await owner.client.post(at(tenant), data=hidden_fields(page.text, "/sign-out"))
        assert sent.status_code == 503


async def test_a_form_of_another_state_is_stale(portal: Running, owner: Browser, tenant: TenantId) -> None:
    await set_up(owner, tenant)
    async with portal.browser(await portal.person(tenant, email="eva@example.do")) as other:
        await other.get(at(tenant))
        await owner.get(at(tenant))
        await owner.send(at(tenant), {"url": f"{URL}/new", "events": "received_ecf"})

        late = await other.send(at(tenant), {"url": f"{URL}/old", "events": "received_ecf"})

        assert (late.status_code, "This was changed meanwhile" in late.text) == (409, True)
        assert f"{URL}/new" in (await other.get(at(tenant))).text


async def test_it_is_switched_off_and_on(portal: Running, owner: Browser, tenant: TenantId) -> None:
    await set_up(owner, tenant)
    await owner.get(at(tenant))

    off = await owner.send(at(tenant, "/enabled"))
    assert "Switched off" in off.text
    refused = await owner.client.post(at(tenant, "/test"), data=hidden_fields(off.text, at(tenant)))
    assert (refused.status_code, "enable it first" in refused.text) == (409, True)
    owner.page = off
    on = await owner.send(at(tenant, "/enabled"))
    assert "Enabled" in on.text
    actions = [one.action for one in await portal.db.run(changes.latest, tenant, limit=9)]
    assert actions == ["webhook enabled", "webhook disabled", "webhook set"]


async def test_another_webhook_is_set_up_listed_and_deleted(portal: Running, owner: Browser, tenant: TenantId) -> None:
    await set_up(owner, tenant)
    crm = at(tenant, "?endpoint=crm")
    page = await owner.get(crm)
    assert "No address is set" in page.text
    made = await owner.send(at(tenant), {"url": "https://crm.example.com/hook", "events": ["submission.accepted"]})
    assert _SECRET.search(made.text) is not None

    listed = await owner.get(at(tenant))
    assert (URL in listed.text, "?endpoint=crm" in listed.text) == (True, True)
    await owner.get(at(tenant, "/secret?endpoint=crm"))
    assert _SECRET.search((await owner.send(at(tenant, "/secret"))).text) is not None
    await owner.get(crm)
    shown = await owner.send(at(tenant, "/test"))
    assert ("crm" in shown.text, "Deliver it again" in shown.text) == (True, True)

    await owner.get(crm)
    gone = await owner.send(at(tenant, "/delete"))
    assert ("The webhook is deleted." in gone.text, "crm.example.com" in gone.text) == (True, False)
    delivery = await owner.get(shown.url.path)
    assert ("Its webhook was deleted" in delivery.text, "Deliver it again" in delivery.text) == (True, False)
    misnamed = await owner.get(at(tenant, "?endpoint=C+R"))
    assert (misnamed.status_code, "The name of a webhook has" in misnamed.text) == (400, True)
    found = await portal.db.run(changes.latest, tenant, limit=9)
    assert [(one.action, one.subject) for one in found] == [
        ("webhook deleted", "ecf/crm"),
        ("webhook secret shown", "ecf/crm"),
        ("webhook set", "ecf/crm"),
        ("webhook set", "ecf"),
    ]


def test_copy_buttons_name_the_element_that_has_the_text() -> None:
    """Any other value is copied as it stands (portal.js)."""
    for template in (Path(fe.portal.__file__).parent / "templates").rglob("*.html"):
        text = template.read_text(encoding="utf-8")
        for wanted in re.findall(r'data-copy="([^"]*)"', text):
            assert wanted == "" or f'id="{wanted.removeprefix("#")}"' in text, template
            assert wanted == "" or wanted.startswith("#"), template


async def test_one_that_we_gave_up_says_why_and_goes_on_when_enabled(
    portal: Running, owner: Browser, tenant: TenantId
) -> None:
    await set_up(owner, tenant)
    await rows(
        portal.db,
        """UPDATE webhook_endpoints SET disabled_at = now(), disabled_reason = 'failing', failing_since = now()
            WHERE tenant_id = %(tenant)s RETURNING 1""",
        tenant=tenant,
    )

    page = await owner.get(at(tenant))
    assert "for five days" in page.text

    page = await owner.send(at(tenant, "/enabled"))
    assert "for five days" not in page.text
    assert "called again" in page.text


async def test_the_secret_is_shown_to_who_has_just_shown_who_it_is(
    portal: Running, owner: Browser, tenant: TenantId
) -> None:
    secret = await set_up(owner, tenant)
    page = await owner.get(at(tenant, "/secret"))
    assert secret not in page.text
    shown = await owner.send(at(tenant, "/secret"))
    assert secret in shown.text

    portal.clock.ahead += timedelta(minutes=11)

    for method in ("GET", "POST"):
        fields = hidden_fields(shown.text, "/sign-out") if method == "POST" else None
        again = await owner.client.request(method, at(tenant, "/secret"), data=fields)
        assert (again.status_code, again.headers["location"].partition("?")[0]) == (303, "/again")
    rotated = await owner.client.post(at(tenant, "/rotate"), data=hidden_fields(shown.text, "/sign-out"))
    assert rotated.headers["location"] == "/again"
    kept = await portal.db.run(changes.latest, tenant, limit=9)
    assert [one.action for one in kept] == ["webhook secret shown", "webhook set"]
    assert not any(secret in str(one) for one in kept)


async def test_a_rotation_is_made_once_and_both_secrets_sign_for_a_day(
    portal: Running, owner: Browser, tenant: TenantId
) -> None:
    old = await set_up(owner, tenant)
    await owner.get(at(tenant, "/secret"))

    first, second = await twice(owner, at(tenant, "/rotate"))

    assert first.status_code == 200
    new = _SECRET.search(first.text)
    assert new is not None
    assert new[0] != old
    assert "Two secrets sign every call until" in first.text
    assert (second.status_code, _SECRET.search(second.text)) == (409, None)
    assert "Two secrets" in (await owner.get(at(tenant))).text
    (many,) = (await row(portal.db, "SELECT count(*) FROM webhook_secrets WHERE tenant_id = %(t)s", t=tenant)).values()
    assert many == 2


async def test_a_test_is_sent_once_and_its_delivery_shown(portal: Running, owner: Browser, tenant: TenantId) -> None:
    await set_up(owner, tenant)
    page = await owner.get(at(tenant))
    delivery = await delivery_of_a_test(owner, tenant)

    assert owner.page is not None
    assert "Waits for its next attempt" in owner.page.text
    assert "&#34;event&#34;:&#34;test&#34;" in owner.page.text
    assert str(delivery) in owner.page.text
    owner.page = page
    first, second = await twice(owner, at(tenant, "/test"))
    assert (first.status_code, second.status_code) == (303, 409)
    assert await portal.db.run(deliveries.count, tenant, deliveries.DeliveryFilter()) == 2


async def tried(portal: Running, tenant: TenantId, delivery: UUID, answer: bytes, error: str | None = "status") -> None:
    await rows(
        portal.db,
        """INSERT INTO webhook_attempts (tenant_id, delivery_id, epoch, attempt, at, duration_ms, status, error, answer)
           VALUES (%(tenant)s, %(delivery)s, 1, 1, now(), 1234, 500, %(error)s, %(answer)s) RETURNING 1""",
        tenant=tenant,
        delivery=delivery,
        error=error,
        answer=answer,
    )
    await rows(
        portal.db,
        """UPDATE webhook_deliveries SET stage = 'failed', last_error = %(error)s, finished_at = now(), attempt = 1
            WHERE tenant_id = %(tenant)s AND subject = %(delivery)s RETURNING 1""",
        tenant=tenant,
        delivery=delivery,
        error="it answered <script>alert(1)</script>\u202e",
    )


async def test_what_strangers_answered_does_nothing_here(portal: Running, owner: Browser, tenant: TenantId) -> None:
    await set_up(owner, tenant)
    delivery = await delivery_of_a_test(owner, tenant)
    answer = b'<script>alert(1)</script>\x00\x1b[31m\xff\xfe\xe2\x80\xae"><img src=x onerror=alert(2)>{{ 7*7 }}\r\nend'
    await tried(portal, tenant, delivery, answer)

    page = await owner.get(at(tenant, f"/deliveries/{delivery}"))

    assert page.status_code == 200
    assert "<script>alert" not in page.text
    assert "<img" not in page.text
    assert "&lt;script&gt;alert(1)&lt;/script&gt;\\u0000\\u001b[31m\ufffd\ufffd\\u202e" in page.text
    assert "\u202e" not in page.text
    assert "{{ 7*7 }}" in page.text
    assert "1,234 ms" in page.text
    assert "It answered with an error" in page.text


def test_a_strangers_text_keeps_its_lines_and_its_letters() -> None:
    assert foreign(b"ma\xc3\xb1ana\r\n\tS\xc3\xad") == "mañana\n\tSí"
    assert foreign("\u2028\ue000\ufeff\u200f") == "\\u2028\\ue000\\ufeff\\u200f"
    assert foreign(None) == ""


async def test_a_delivery_that_failed_is_made_again_once(portal: Running, owner: Browser, tenant: TenantId) -> None:
    await set_up(owner, tenant)
    delivery = await delivery_of_a_test(owner, tenant)
    await tried(portal, tenant, delivery, b"no")
    there = at(tenant, f"/deliveries/{delivery}")
    await owner.get(there)

    first, second = await twice(owner, f"{there}/retry")

    assert (first.status_code, second.status_code) == (303, 409)
    again = await owner.get(there)
    assert "Waits for its next attempt" in again.text
    assert "It is on its way again." in again.text
    await rows(
        portal.db,
        "UPDATE webhook_deliveries SET holder = 'somebody' WHERE tenant_id = %(tenant)s RETURNING 1",
        tenant=tenant,
    )
    busy = await owner.send(f"{there}/retry")
    assert (busy.status_code, "under way at this moment" in busy.text) == (409, True)


async def test_deliveries_are_filtered_and_paged(portal: Running, owner: Browser, tenant: TenantId) -> None:
    await set_up(owner, tenant)
    made = [await delivery_of_a_test(owner, tenant)]
    await rows(
        portal.db,
        """INSERT INTO webhook_deliveries (tenant_id, subject, stage, environment, host, run_at, event_id, endpoint_id,
                                           created_at)
           SELECT d.tenant_id, webhook_id(d.created_at - n * interval '1 minute', n::text), 'delivered', d.environment,
                  d.host, d.run_at, d.event_id, d.endpoint_id, d.created_at - n * interval '1 minute'
             FROM webhook_deliveries AS d, generate_series(1, 69) AS n
            WHERE d.tenant_id = %(tenant)s
           RETURNING 1""",
        tenant=tenant,
    )
    link = re.compile(rf'href="{at(tenant)}/deliveries/([0-9a-f-]{{36}})"')

    first = await owner.get(at(tenant, "/deliveries"))
    older = re.search(r'rel="next" href="([^"]+)"', first.text)
    assert older is not None
    second = await owner.get(older[1].replace("&amp;", "&"))
    ids = [*link.findall(first.text), *link.findall(second.text)]

    assert (len(link.findall(first.text)), len(ids), len(set(ids))) == (50, 70, 70)
    assert ids[0] == str(made[0])
    assert 'rel="next"' not in second.text
    for query, many in (
        ({"state": "pending"}, 1),
        ({"state": "delivered"}, 50),
        ({"state": "nonsense"}, 50),
        ({"event": "received_ecf"}, 0),
        ({"event": "test", "about": "test"}, 50),
        ({"about": "nothing"}, 0),
        ({"about": "\x00"}, 0),
        ({"from": "2999-01-01"}, 0),
        ({"to": "1990-01-01"}, 0),
        ({"before": "<script>"}, 50),
    ):
        page = await owner.get(f"{at(tenant, '/deliveries')}?{urlencode(query)}")
        assert (page.status_code, len(link.findall(page.text))) == (200, many), query
    wrong = await owner.get(at(tenant, "/deliveries?from=0000-00-00"))
    assert (wrong.status_code, "YYYY-MM-DD" in wrong.text) == (400, True)


async def test_what_did_not_arrive_is_asked_for_again(portal: Running, owner: Browser, tenant: TenantId) -> None:
    await set_up(owner, tenant)
    await owner.get(at(tenant))

    asked = await owner.send(at(tenant, "/recover"), {"since": "2026-01-01T00:00"})

    assert "are being sent again" in asked.text
    assert "01-01-2026 00:00:00" in asked.text
    busy = await owner.send(at(tenant, "/recover"), {"since": "2026-01-01T00:00"})
    assert (busy.status_code, "a recovery is under way" in busy.text) == (409, True)
    for since, words in (("2999-01-01T00:00", "must lie in the past"), ("tomorrow", "YYYY-MM-DDTHH:MM")):
        wrong = await owner.send(at(tenant, "/recover"), {"since": since})
        assert (wrong.status_code, words in wrong.text) == (400, True)


async def test_nobody_makes_us_call_without_end(
    nursery: trio.Nursery, db: Database, portal_db: Database, tenant: TenantId
) -> None:
    quota = DocumentQuota(QuotaLimits(documents_a_minute=2), Metrics(), name="tenant_webhooks")
    portal = await start_portal(nursery, db, portal_db, None, webhook_calls=quota)
    async with portal.browser(await portal.person(tenant)) as owner:
        await set_up(owner, tenant)
        for _ in range(2):
            await delivery_of_a_test(owner, tenant)
        page = await owner.get(at(tenant))
        for path in ("/test", "/recover"):
            refused = await owner.client.post(at(tenant, path), data=hidden_fields(page.text, at(tenant, path)))
            assert refused.status_code == 429


async def test_an_accountant_looks_and_changes_nothing(portal: Running, owner: Browser, tenant: TenantId) -> None:
    secret = await set_up(owner, tenant)
    delivery = await delivery_of_a_test(owner, tenant)
    person = await portal.person(tenant, PortalRole.ACCOUNTANT, email="luz@example.do")
    async with portal.browser(person) as browser:
        page = await browser.get(at(tenant))
        assert (page.status_code, URL in page.text, "<h2>Change" in page.text) == (200, True, False)
        shown = await browser.get(at(tenant, f"/deliveries/{delivery}"))
        assert (shown.status_code, "Deliver it again" in shown.text) == (200, False)
        fields = hidden_fields(page.text, "/sign-out")
        for path in ("", "/enabled", "/test", "/recover", "/secret", "/rotate", f"/deliveries/{delivery}/retry"):
            assert (await browser.client.post(at(tenant, path), data=fields)).status_code == 403, path
        hidden = await browser.client.get(at(tenant, "/secret"))
        assert (hidden.status_code, secret in hidden.text) == (403, False)


async def test_what_is_another_companys_or_environments_is_not_there(
    portal: Running, owner: Browser, tenant: TenantId
) -> None:
    await set_up(owner, tenant)
    mine = await delivery_of_a_test(owner, tenant)
    stranger = await make_tenant(portal.db, "Otra SRL")
    async with portal.browser(await portal.person(stranger, email="otra@example.do")) as other:
        await set_up(other, stranger)
        theirs = await delivery_of_a_test(other, stranger)
    page = await owner.get(at(tenant))
    fields = hidden_fields(page.text, at(tenant, "/test"))

    for there in (
        at(stranger),
        at(stranger, "/secret"),
        at(stranger, "/deliveries"),
        at(stranger, f"/deliveries/{theirs}"),
        at(tenant, f"/deliveries/{theirs}"),
        at(tenant, "/deliveries/nonsense"),
        f"/companies/{tenant}/testecf/webhooks/deliveries/{mine}",
        f"/companies/{tenant}/nowhere/webhooks",
    ):
        assert (await owner.get(there)).status_code == 404, there
    for there in (at(stranger, "/test"), at(stranger), at(tenant, f"/deliveries/{theirs}/retry")):
        assert (await owner.client.post(there, data=fields)).status_code == 404, there
    assert (await owner.get(f"/companies/{tenant}/testecf/webhooks/secret")).status_code == 404


async def test_a_company_that_is_disabled_is_not_called(portal: Running, owner: Browser, tenant: TenantId) -> None:
    from tests.factories.operators import disable

    await set_up(owner, tenant)
    page = await owner.get(at(tenant))
    fields = hidden_fields(page.text, at(tenant))
    await disable(portal.db, tenant)

    page = await owner.get(at(tenant))
    assert "The company is disabled" in page.text
    for path in ("", "/test", "/enabled"):
        refused = await owner.client.post(at(tenant, path), data=fields | {"url": URL, "enabled": "yes"})
        assert refused.status_code == 409, path


async def test_pages_are_spanish_too(portal: Running, tenant: TenantId) -> None:
    async with portal.browser(await portal.person(tenant, language="es")) as browser:
        await set_up(browser, tenant)
        assert "Enviar un evento de prueba" in (await browser.get(at(tenant))).text
        await browser.get(at(tenant))
        refused = await browser.send(at(tenant), {"url": "http://a.example.com", "events": "received_ecf"})
        assert "la URL debe comenzar con https://" in refused.text
        assert "Ver el secreto" in (await browser.get(at(tenant, "/secret"))).text
        assert "Más recientes" not in (await browser.get(at(tenant, "/deliveries"))).text
