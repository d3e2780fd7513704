"""Mail to buyers in the portal: settings of an owner, the list of addresses, and what is refused."""

import pytest

from fe.clock import system_clock
from fe.identifiers import TenantId
from fe.store.portal import changes
from fe.store.portal.people import PortalRole
from fe.store.records import mail
from tests.portal.running import Browser, Running, hidden_fields
from tests.portal.typed import filled


async def test_an_owner_sets_mail_and_the_change_is_on_record(
    portal: Running, owner: Browser, tenant: TenantId
) -> None:
    page = await owner.get(f"/companies/{tenant}/mail")
    shown = hidden_fields(page.text, f"/companies/{tenant}/mail")["shown"]
    fields = filled(page.text, f"/companies/{tenant}/mail")
    fields |= {"enabled": "yes", "reply_to": "ventas@ozama.do", "language": "en", "documents": "linked", "a_day": "50"}
    page = await owner.send(f"/companies/{tenant}/mail", fields)
    stale = await owner.send(f"/companies/{tenant}/mail", fields | {"shown": shown})

    assert (page.status_code, "are sent by mail from now on" in page.text) == (200, True)
    choice = await portal.db.run(mail.choice_of, tenant)
    assert (choice.enabled, choice.settings and choice.settings.written()) == (
        True,
        {"language": "en", "replyTo": "ventas@ozama.do", "aDay": 50, "documents": "linked"},
    )
    assert stale.status_code == 409
    (change,) = await portal.db.run(changes.latest, tenant, limit=9)
    assert (change.action, change.through) == ("mail changed", "portal")


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("reply_to", "Ventas <a@b.do>", "This must be one e-mail address"),
        ("a_day", "many", "This must be a whole number from 1 to 1000000."),
        ("documents", "x", "This must be one of: attached, linked."),
    ],
)
async def test_a_bad_field_is_said_beside_it_and_the_typed_values_stay(
    portal: Running, owner: Browser, tenant: TenantId, field: str, value: str, said: str
) -> None:
    page = await owner.get(f"/companies/{tenant}/mail")
    fields = filled(page.text, f"/companies/{tenant}/mail") | {"enabled": "yes", "reply_to": "ventas@ozama.do"}
    refused = await owner.send(f"/companies/{tenant}/mail", fields | {"a_day": "77", field: value})

    assert (refused.status_code, said in refused.text) == (400, True)
    assert ('value="77"' in refused.text) == (field != "a_day")
    assert (await portal.db.run(mail.choice_of, tenant)).settings is None


async def test_addresses_are_suppressed_and_allowed_but_not_those_of_the_operator(
    portal: Running, owner: Browser, tenant: TenantId
) -> None:
    await portal.db.run(mail.suppress, tenant, "op@x.do", "operator", system_clock())
    where = f"/companies/{tenant}/mail"
    page = await owner.get(where)
    page = await owner.send(f"{where}/suppress", filled(page.text, f"{where}/suppress") | {"address": "Ana@X.do"})
    listed = page.text
    bad = await owner.send(f"{where}/suppress", filled(listed, f"{where}/suppress") | {"address": "a@b.do, c@d.do"})
    for address in ("op@x.do", "ana@x.do"):
        page = await owner.get(where)
        await owner.send(f"{where}/allow", filled(page.text, f"{where}/allow") | {"address": address})

    assert "put here by your company" in listed
    assert "put here by the operator" in listed
    assert (bad.status_code, "must be one e-mail address" in bad.text) == (400, True)
    assert [each[0] for each in await portal.db.run(mail.suppressed, tenant)] == ["op@x.do"]
    actions = [one.action for one in await portal.db.run(changes.latest, tenant, limit=9)]
    assert actions == ["mail address allowed", "mail address suppressed"]


async def test_an_accountant_reads_the_settings_and_changes_nothing(portal: Running, tenant: TenantId) -> None:
    async with portal.browser(await portal.person(tenant, PortalRole.ACCOUNTANT)) as browser:
        page = await browser.get(f"/companies/{tenant}/mail")

    assert "Only an owner of the company changes these settings." in page.text
    assert "<form" not in page.text.partition("<main")[2].partition("</main>")[0]
