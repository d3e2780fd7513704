"""Voiding numbers in the portal: proposed, ticked, confirmed, and in the 608 once void."""

import re
from datetime import UTC, datetime
from uuid import UUID

from fe.ecf.catalogue import Environment
from fe.ecf.ids import new_id
from fe.identifiers import SequenceId, TenantId
from fe.store.portal.people import PortalRole
from fe.store.postgres.db import Database
from fe.store.records import sequences, voiding_queue
from tests.factories.tenants import rows
from tests.portal.running import Browser, Running

AT = datetime(2026, 11, 20, 15, tzinfo=UTC)


async def make_sequence(db: Database, tenant: TenantId, prefix: str = "E31") -> None:
    await rows(
        db,
        "UPDATE tenants SET issuer = jsonb_build_object('RNCEmisor', '131880681') WHERE tenant_id = %(id)s",
        id=tenant,
    )
    await db.run_for(
        tenant,
        sequences.put,
        Environment.ECF,
        prefix,
        new_id=SequenceId(new_id(AT)),
        minimum=1,
        maximum=50,
        expire_at=None,
        is_active=True,
        at=AT,
    )


async def test_ticked_numbers_are_confirmed_voided_and_in_the_608(
    portal: Running, tenant: TenantId, db: Database
) -> None:
    await make_sequence(db, tenant)
    here = f"/companies/{tenant}/ecf/voidings"
    person = await portal.person(tenant, PortalRole.OWNER)
    whole = "E310000000001-E310000000050"
    async with portal.browser(person) as browser:
        assert whole in (await browser.get(here)).text
        nothing = await browser.send(here, {})
        outside = await browser.send(here, {"range": whole, "first-0": "0", "last-0": "50"})
        asked = await browser.send(here, {"range": whole, "first-0": "41", "last-0": "50"})
        chosen = re.findall(r'name="range" value="([^"]+)"', asked.text)
        unconfirmed = await browser.send(f"{here}/confirmed", {"range": chosen[0], "reason": "8"})
        made = await browser.send(f"{here}/confirmed", {"range": chosen[0], "reason": "8", "confirmed": "yes"})
        again = await browser.get(here)
        (row,) = await rows(db, "UPDATE voidings SET stage = 'in doubt' RETURNING subject")
        assert await db.transact(
            voiding_queue.settle, tenant, UUID(str(row["subject"])), is_void=True, left_out=(), at=AT
        )
        ended = await browser.get(f"{here}/{row['subject']}")
        file = await browser.get(f"/companies/{tenant}/ecf/months/2026-11/608.txt")

    assert (nothing.status_code, outside.status_code, unconfirmed.status_code) == (400, 400, 400)
    assert chosen == ["E310000000041-E310000000050"]
    assert "Waiting for the DGII" in made.text
    assert "E310000000001-E310000000040" in again.text
    assert "Voided" in ended.text
    assert file.headers["content-disposition"] == 'attachment; filename="DGII_F_608_131880681_202611.TXT"'
    assert file.text.split("\r\n")[:2] == ["608|131880681|202611|10", "E310000000041|20261120|8"]


async def test_voiding_form_with_wrong_numbers_keeps_them_and_marks_the_row(
    portal: Running, owner: Browser, tenant: TenantId, db: Database
) -> None:
    await make_sequence(db, tenant, "E31")
    await make_sequence(db, tenant, "E32")
    here = f"/companies/{tenant}/ecf/voidings"
    page = await owner.get(here)
    first, second = re.findall(r'name="range" value="([^"]+)"', page.text)
    sent = {"range": [first, second], "first-0": "41", "last-0": "42", "first-1": "7", "last-1": "99"}
    wrong = await owner.send(here, sent)

    assert wrong.status_code == 400
    assert re.findall(r'name="range" value="([^"]+)" checked', wrong.text) == [first, second]
    assert re.findall(r'name="((?:first|last)-.)" value="([^"]*)"', wrong.text) == [
        *(("first-0", "41"), ("last-0", "42"), ("first-1", "7"), ("last-1", "99")),
    ]
    assert f'role="alert" id="w-range">{second}: the numbers to void' in wrong.text
    assert re.findall(r'name="([^"]+)"[^>]* aria-invalid="true"', wrong.text) == ["first-1", "last-1"]


async def test_voided_numbers_are_not_left(portal: Running, tenant: TenantId, db: Database) -> None:
    await make_sequence(db, tenant)
    here, whole = f"/companies/{tenant}/ecf", "E310000000001-E310000000050"
    async with portal.browser(await portal.person(tenant, PortalRole.OWNER)) as browser:
        await browser.get(f"{here}/voidings")
        asked = await browser.send(f"{here}/voidings", {"range": whole, "first-0": "41", "last-0": "50"})
        chosen = re.findall(r'name="range" value="([^"]+)"', asked.text)
        await browser.send(f"{here}/voidings/confirmed", {"range": chosen[0], "reason": "8", "confirmed": "yes"})
        (before,) = await db.run_for(tenant, sequences.listed, Environment.ECF)
        await rows(db, "UPDATE sequences SET current_number = 41")
        (after,) = await db.run_for(tenant, sequences.listed, Environment.ECF)
        form = await browser.get(f"{here}/new/31")
        overview = await browser.get(f"/companies/{tenant}")
    await rows(db, "UPDATE sequences SET next_min = 101, next_max = 110")
    (ready,) = await db.run_for(tenant, sequences.listed, Environment.ECF)
    drawn = await rows(db, "SELECT draw_number(%(id)s, 'ecf', 'E31', %(at)s) AS number", id=tenant, at=AT)

    assert (ready.at(AT).next_number, drawn) == (101, [{"number": 101}])
    assert (before.numbers_left, before.next_number, after.numbers_left) == (40, 1, 0)
    assert "E310000000041" not in form.text
    assert "is used up" in overview.text
