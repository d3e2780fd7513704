"""Print settings by a form, with a preview; and the PDF of every receipt."""

from datetime import UTC, datetime

import pytest

from fe.ecf.catalogue import Environment
from fe.identifiers import TenantId
from fe.lifecycle import Stage
from fe.printing import PaperSize, PrintSettings
from fe.store.portal import changes
from fe.store.portal.people import PortalRole
from fe.store.postgres.db import Database
from fe.store.records import print_settings
from tests.factories.tenants import make_submission
from tests.portal.receipts import make_received
from tests.portal.running import Browser, Running
from tests.portal.typed import filled
from tests.printing import reading
from tests.printing.documents import GOLDEN, signed
from tests.printing.test_logo import SVG

XML = signed(GOLDEN[0])
WANTED = {
    "accent": "#aa0000",
    "footer": "Gracias\r\nVuelva pronto",
    "copies": "2",
    "mark": ["Original", "Copia", "", ""],
    "language": "en",
    "layout": "80mm",
}
LOGO = {"logo": ("logo.svg", SVG, "image/svg+xml")}
KEPT = PrintSettings(SVG, "#aa0000", "Gracias\nVuelva pronto", ("Original", "Copia"), "en", PaperSize.ROLL_80)


async def kept(db: Database, tenant: TenantId) -> PrintSettings:
    return await db.run(print_settings.of, tenant)


async def test_settings_are_saved_and_shown_again(portal: Running, owner: Browser, tenant: TenantId) -> None:
    here = f"/companies/{tenant}/printing"
    await owner.get(here)
    page = await owner.send(here, WANTED, LOGO)

    assert (page.status_code, "Print settings saved" in page.text) == (200, True)
    assert await kept(portal.db, tenant) == KEPT
    (change,) = await portal.db.run(changes.latest, tenant, limit=10)
    assert (change.action, change.before and change.before["marks"]) == ("print settings changed", [""])
    fields = filled(page.text, here)
    await owner.send(here, fields | {"footer": "Gracias\r\nVuelva pronto"})
    assert await kept(portal.db, tenant) == KEPT, "the form sent back changes nothing, and the logo stays"
    await owner.get(here)
    await owner.send(here, WANTED | {"no_logo": "1"})
    assert (await kept(portal.db, tenant)).logo is None
    assert "logo" in (await owner.get(f"/companies/{tenant}/changes")).text


@pytest.mark.parametrize(
    ("fields", "files", "language", "said"),
    [
        ({"accent": "red"}, LOGO, "en", "It must be a color"),
        ({"copies": "9"}, LOGO, "es", "Debe ser de 1 a 4 textos"),
        ({"footer": "a" * 401}, LOGO, "en", "at most 400"),
        ({}, {"logo": ("logo.png", b"\xff\xd8\xff\xe0 a JPEG", "image/png")}, "es", "este es un JPEG"),
    ],
)
async def test_bad_setting_is_said_beside_its_field(
    portal: Running,
    tenant: TenantId,
    fields: dict[str, str],
    files: dict[str, tuple[str, bytes, str]],
    language: str,
    said: str,
) -> None:
    here = f"/companies/{tenant}/printing"
    async with portal.browser(await portal.person(tenant, language=language), language) as browser:
        await browser.get(here)
        page = await browser.send(here, WANTED | fields, files)

    assert (page.status_code, said in page.text) == (400, True)
    assert "Original" in page.text, "what was typed stays"
    assert await kept(portal.db, tenant) == PrintSettings()


async def test_preview_shows_the_form_and_saves_nothing(portal: Running, owner: Browser, tenant: TenantId) -> None:
    here = f"/companies/{tenant}/printing"
    page = await owner.get(here)
    assert f'formaction="{here}/preview#toolbar=0&amp;navpanes=0"' in page.text
    sent = {"csrf": page.text.partition('name="csrf" value="')[2].partition('"')[0], **WANTED}
    shown = await owner.client.post(f"{here}/preview", data=sent, files=LOGO)

    assert (shown.status_code, shown.headers["content-type"]) == (200, "application/pdf")
    policy = shown.headers["content-security-policy"]
    assert (policy.startswith("default-src 'none'"), policy.endswith("frame-ancestors 'self'")) == (True, True)
    assert shown.headers["x-frame-options"] == "SAMEORIGIN"
    text = reading.text(shown.content)
    assert "Preview, without fiscal validity" in text
    assert "Vuelva pronto" in text
    assert "Artículo de ejemplo" in text
    bad = await owner.client.post(f"{here}/preview", data=sent | {"accent": "red"})
    assert (bad.status_code, "<b>Color of headings</b>: it must be a color" in bad.text) == (400, True)
    assert bad.headers["content-security-policy"] == policy
    assert await kept(portal.db, tenant) == PrintSettings()


async def test_who_does_not_own_the_company_only_reads(portal: Running, tenant: TenantId) -> None:
    await portal.db.run(print_settings.put, tenant, KEPT, portal.clock())
    async with portal.browser(await portal.person(tenant, PortalRole.MEMBER)) as browser:
        page = await browser.get(f"/companies/{tenant}/printing")

    assert "Vuelva pronto" in page.text
    assert "formaction" not in page.text


async def test_every_receipt_has_its_pdf(owner: Browser, tenant: TenantId, db: Database) -> None:
    await db.run(print_settings.put, tenant, KEPT, datetime.now(UTC))
    unsigned = await make_submission(db, tenant, environment=Environment.ECF)
    issued = await make_submission(db, tenant, environment=Environment.ECF, stage=Stage.SEND, signed=XML)
    received = await make_received(db, tenant, document=XML)
    page = await owner.get(f"/companies/{tenant}/ecf/submissions/{unsigned}")
    assert "/pdf" not in page.text
    assert (await owner.get(f"/companies/{tenant}/ecf/submissions/{unsigned}/pdf")).status_code == 409

    for here in (f"submissions/{issued}", f"received/{received}"):
        page = await owner.get(f"/companies/{tenant}/ecf/{here}")
        assert f'href="/companies/{tenant}/ecf/{here}/pdf?layout=80mm"' in page.text
        printed = await owner.get(f"/companies/{tenant}/ecf/{here}/pdf?layout=a4")
        assert printed.headers["content-disposition"].startswith("inline")
        text = reading.text(printed.content)
        assert ("Vuelva pronto" in text) == here.startswith("submissions"), "the footer is not a supplier's"
        assert ("Preview" in text) == here.startswith("submissions"), "one waits for its verdict"
    assert (await owner.get(f"/companies/{tenant}/testecf/submissions/{issued}/pdf")).status_code == 404
