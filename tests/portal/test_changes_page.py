"""The record of changes: read as differences, by pages and kinds, and as a file that runs nothing."""

import csv
import io
import re
from datetime import timedelta
from decimal import Decimal
from typing import Any, get_args

import pytest

from fe.ecf.data_files import toml_file
from fe.ecf.dates import ZONE
from fe.ecf.ids import new_id
from fe.ecf.texts import Text
from fe.identifiers import TenantId
from fe.portal.action_names import action_name, difference
from fe.portal.csv_cells import csv_file, guarded
from fe.portal.pages import changes as changes_page
from fe.store.portal import changes
from fe.store.portal.changes import TenantChange
from fe.store.portal.people import PortalRole
from tests.http.front import make_tenant
from tests.portal.running import Browser, Running

DANGEROUS = ("=cmd()", "+1+1", "-2", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "  =1", "＝1")


async def note(portal: Running, tenant: TenantId, **what: object) -> None:
    at = portal.clock()
    values = {
        "change_id": new_id(at),
        "at": at,
        "by_whom": "ana@example.do",
        "person_id": None,
        "through": "portal",
        "action": "company changed",
        "subject": "Ozama",
        "before": {"NombreComercial": "Old"},
        "after": {"NombreComercial": "New", "isActive": True},
        **what,
    }
    await portal.db.run(changes.note, tenant, TenantChange(**values))  # type: ignore[arg-type]  # of each its own


async def test_it_is_read_as_a_difference(portal: Running, tenant: TenantId) -> None:
    await note(portal, tenant, through="cli", by_whom="root (ana)")
    await note(portal, tenant, action="something new", subject="<img src=x onerror=alert(1)>", before=None)
    async with portal.browser(await portal.person(tenant, PortalRole.ACCOUNTANT, language="es"), "es") as browser:
        page = await browser.get(f"/companies/{tenant}/changes")

    assert page.status_code == 200
    for said in (
        "datos de la empresa cambiados",
        "root (ana)",
        "operador, línea de comandos",
        "<del><bdi>Old</bdi></del>",
        "<ins><bdi>New</bdi></ins>",
        "<ins><bdi>sí</bdi></ins>",
        "something new",
        "&lt;img src=x",
    ):
        assert said in page.text, said
    assert "<img" not in page.text


def test_every_kind_of_change_has_its_spanish() -> None:
    kinds = get_args(changes.ChangeAction)

    assert [kind for kind in kinds if action_name(kind).es == kind] == []
    assert sorted(toml_file("portal/action_names.toml", dict[str, Any])["actions"]) == sorted(kinds)


def test_fields_and_values_are_said_in_both_languages() -> None:
    def es(name: str, value: object) -> tuple[str, str]:
        ((field, _, new),) = difference(None, {name: value})
        return field.es, new.es if isinstance(new, Text) else new

    assert es("role", "accountant") == ("función", "Contador")
    assert es("mode", "contingency") == ("modo", "contingencia declarada")
    assert es("state", "ended") == ("estado", "terminado")
    assert es("kind", "03") == ("tipo de gasto", "Arrendamientos")
    assert es("reason", 4) == ("motivo", "Corrección de la información")
    assert es("issuedOn", "2026-11-27") == ("fecha del comprobante", "27-11-2026")
    assert es("extra", {"isActive": True, "state": "paused"}) == ("extra", "se usa la secuencia: sí; estado: en pausa")


def test_recurring_receipt_shows_only_what_changed_and_no_json() -> None:
    before = {"name": "Renta", "every": 1, "payload": '{"a":1}'}
    shown = difference(before, {**before, "every": 2, "payload": '{"a":2}'})

    assert [(name.es, str(old), str(new)) for name, old, new in shown] == [
        ("cada … meses", "1", "2"),
        ("plantilla", "", "changed"),
    ]
    assert [name.en for name, _, _ in difference(None, before)] == ["name", "every … months"]


async def test_receipt_is_shown_by_its_number(portal: Running, owner: Browser, tenant: TenantId) -> None:
    subject = "0194a000-0000-7000-8000-000000000000"
    await note(portal, tenant, action="receipt issued", subject=subject, before=None, after={"eNCF": "E310000000001"})

    page = await owner.get(f"/companies/{tenant}/changes")

    assert subject not in page.text
    assert "<small>E310000000001</small>" in page.text


async def test_pages_hold_fifty_and_kinds_can_be_chosen(portal: Running, owner: Browser, tenant: TenantId) -> None:
    for number in range(60):
        portal.clock.ahead += timedelta(milliseconds=5)
        await note(portal, tenant, subject=f"S{number:03}", action="user created" if number % 2 else "key created")
    path = f"/companies/{tenant}/changes"

    page = await owner.get(path)
    first = re.findall(r"S\d{3}", page.text)
    assert first == [f"S{number:03}" for number in range(59, 9, -1)]
    older = re.search(rf'href="{path}(\?[^"]*before[^"]*)"', page.text)
    assert older is not None
    page = await owner.get(path + older[1].replace("&amp;", "&"))
    assert re.findall(r"S\d{3}", page.text) == [f"S{number:03}" for number in range(9, -1, -1)]

    page = await owner.get(f"{path}?kind=user+created")
    assert len(re.findall(r"S\d{3}", page.text)) == 30
    assert f'href="{path}/export?kind=user+created"' in page.text
    for odd in ("kind=%00", "kind=none", "before=x", "before=00000000-0000-0000-0000-000000000000"):
        assert (await owner.get(f"{path}?{odd}")).status_code == 200, odd


async def test_the_file_runs_nothing(portal: Running, owner: Browser, tenant: TenantId) -> None:
    for text in DANGEROUS:
        await note(portal, tenant, subject=text, by_whom=text)

    page = await owner.get(f"/companies/{tenant}/changes/export")

    assert page.headers["content-type"] == "text/csv; charset=utf-8"
    assert page.headers["content-disposition"].startswith('attachment; filename="changes-')
    rows = list(csv.DictReader(io.StringIO(page.content.decode("utf-8-sig"), newline="")))
    assert sorted(row["subject"] for row in rows) == sorted(f"'{text}" for text in DANGEROUS)
    assert all(row["by"].startswith("'") for row in rows)
    assert rows[0]["after"] == '{"NombreComercial": "New", "isActive": true}'


async def test_a_file_that_does_not_hold_all_says_so(
    portal: Running, owner: Browser, tenant: TenantId, monkeypatch: pytest.MonkeyPatch
) -> None:
    portal.clock.stop()
    for number in range(3):
        portal.clock.ahead += timedelta(milliseconds=5)
        await note(portal, tenant, subject=f"S{number}")

    async def rows(most: int) -> list[list[str]]:
        monkeypatch.setattr(changes_page, "MAX_EXPORTED", most)
        page = await owner.get(f"/companies/{tenant}/changes/export")
        return list(csv.reader(io.StringIO(page.content.decode("utf-8-sig"), newline="")))[1:]

    whole = await rows(3)
    assert [row[4] for row in whole] == ["S2", "S1", "S0"]
    assert whole[0][0] == portal.clock().astimezone(ZONE).isoformat(" ", "seconds"), "as all files say it"
    *held, last = await rows(2)
    assert [row[4] for row in held] == ["S2", "S1"]
    assert last == ["There are older ones: choose a kind of change, or see them in the portal."]


async def test_another_companys_changes_are_not_there(portal: Running, owner: Browser, tenant: TenantId) -> None:
    stranger = await make_tenant(portal.db, "Otra SRL")
    await note(portal, stranger, subject="theirs")

    assert "theirs" not in (await owner.get(f"/companies/{tenant}/changes/export")).text
    for path in ("changes", "changes/export"):
        assert (await owner.get(f"/companies/{stranger}/{path}")).status_code == 404


@pytest.mark.parametrize("text", DANGEROUS)
def test_what_a_spreadsheet_would_run_is_text(text: str) -> None:
    assert guarded(text) == f"'{text}"


@pytest.mark.parametrize("text", ["00112345678", "00", "12345678901234567", "12e5", "1E05", "1-2", "2026-11-26"])
def test_what_a_spreadsheet_would_write_otherwise_is_text(text: str) -> None:
    assert guarded(text) == f"'{text}"


@pytest.mark.parametrize("text", ["131880681", "40212345678", "0", "E310000000001", "12e", "0f", "001-1234567-8", ""])
def test_what_it_would_leave_as_it_is_is_as_it_was(text: str) -> None:
    assert guarded(text) == text


def test_other_cells_are_as_they_are() -> None:
    body = csv_file(("a", "b"), [("Café; 1-2 = 3", Decimal("-5.00")), (None, 7), ('say "a"', "x,\ny")])

    assert body.decode("utf-8-sig") == 'a,b\r\nCafé; 1-2 = 3,-5.00\r\n,7\r\n"say ""a""","x,\ny"\r\n'
