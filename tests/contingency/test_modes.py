"""Modes of a tenant: the table, changes with author and reason, and the legend that they put on paper."""

from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest

from fe.accounts import modes as flow
from fe.accounts.audited_changes import Author
from fe.accounts.modes import ModeRefused
from fe.contingency import Milestones, Mode, may_follow, mode_of
from fe.ecf.catalogue import Environment
from fe.identifiers import TenantId
from fe.lifecycle import Status
from fe.store.postgres.db import Conn, Database
from fe.store.queue import circuits
from fe.store.records import modes, tenants
from tests.factories.tenants import make_tenant, rows

TEST = Environment.TESTECF
NOW = datetime(2026, 11, 27, 15, tzinfo=UTC)
ECF_QR = "https://ecf.dgii.gov.do/testecf/ConsultaTimbre?RncEmisor=1"
FC_QR = "https://fc.dgii.gov.do/testecf/ConsultaTimbreFC?RncEmisor=1"


@dataclass(frozen=True)
class Signed:
    environment: Environment
    status: Status
    signed_at: datetime | None
    qr_code_url: str | None


async def change(
    db: Database, tenant: TenantId, mode: Mode, *, at: datetime = NOW, reason: str = "why", **more: Any
) -> None:
    async def make(conn: Conn) -> None:
        owner = await tenants.locked(conn, tenant)
        assert owner is not None
        await flow.change(conn, Author("eva", at, "cli"), owner, TEST, mode, reason, **more)

    await db.transact(make)


async def mode(db: Database, tenant: TenantId) -> Mode:
    return (await db.run(flow.current, tenant, TEST)).mode


def test_a_person_sets_modes_by_the_table_and_circuits_cover_all_but_a_declared_contingency() -> None:
    assert {one: may_follow(one) for one in (Mode.NORMAL, Mode.OFFLINE, Mode.CONTINGENCY, Mode.DEFERRED)} == {
        Mode.NORMAL: {Mode.OFFLINE, Mode.DEFERRED, Mode.CONTINGENCY},
        Mode.OFFLINE: {Mode.NORMAL, Mode.CONTINGENCY},
        Mode.CONTINGENCY: {Mode.NORMAL},
        Mode.DEFERRED: {Mode.NORMAL, Mode.CONTINGENCY},
    }
    assert {one for one in Mode if mode_of(one, authority_is_down=True) is one} == {
        Mode.CONTINGENCY,
        Mode.AUTHORITY_DOWN,
    }
    assert mode_of(Mode.OFFLINE, authority_is_down=False) is Mode.OFFLINE


def test_the_term_for_sending_ends_72_hours_after_the_signature() -> None:
    assert Milestones(NOW, None, None, None).send_by == NOW + timedelta(hours=72)
    assert Milestones(NOW, NOW, None, None).send_by is None
    assert Milestones(None, None, None, None).send_by is None
    assert Milestones(NOW, None, None, None, is_deferred=True).send_by == NOW + timedelta(hours=24)


async def test_each_change_is_on_record_with_author_and_reason(db: Database) -> None:
    tenant = await make_tenant(db)
    since = NOW - timedelta(days=2)

    await change(db, tenant, Mode.OFFLINE, reason="no line")
    await change(db, tenant, Mode.CONTINGENCY, number="C-1", since=since, at=NOW + timedelta(minutes=1))
    in_contingency = await mode(db, tenant)
    await change(db, tenant, Mode.NORMAL, reason="over", at=NOW + timedelta(minutes=2))

    assert in_contingency is Mode.CONTINGENCY
    assert await mode(db, tenant) is Mode.NORMAL
    found = await db.run(modes.listed, tenant, TEST)
    assert [(one.mode, one.number, one.began_at, one.reason, one.end_reason) for one in found] == [
        (Mode.OFFLINE, None, NOW, "no line", "why"),
        (Mode.CONTINGENCY, "C-1", since, "why", "over"),
    ]
    noted = await rows(db, "SELECT by_whom, after FROM tenant_changes WHERE action = 'mode changed' ORDER BY at")
    assert [(one["by_whom"], one["after"]["mode"]) for one in noted] == [
        ("eva", "offline"),
        ("eva", "contingency"),
        ("eva", "normal"),
    ]


@pytest.mark.parametrize(
    ("wanted", "more", "words"),
    [
        (Mode.NORMAL, {}, "already"),
        (Mode.OFFLINE, {"reason": " "}, "say why"),
        (Mode.CONTINGENCY, {}, "number"),
        (Mode.CONTINGENCY, {"number": "C-1", "since": NOW - timedelta(days=16)}, "15 days"),
        (Mode.CONTINGENCY, {"number": "C-1", "since": NOW + timedelta(days=1)}, "now or earlier"),
        (Mode.DEFERRED, {"number": "A-1"}, "last day"),
        (Mode.DEFERRED, {"number": "A-1", "valid_until": date(2026, 11, 26)}, "last day"),
    ],
)
async def test_bad_changes_are_refused(db: Database, wanted: Mode, more: dict[str, Any], words: str) -> None:
    tenant = await make_tenant(db)
    with pytest.raises(ModeRefused, match=words):
        await change(db, tenant, wanted, **more)
    assert await mode(db, tenant) is Mode.NORMAL


async def test_contingency_that_begins_before_the_end_of_the_last_one_is_refused(db: Database) -> None:
    tenant = await make_tenant(db)
    hour = timedelta(hours=1)
    await change(db, tenant, Mode.CONTINGENCY, number="C-1")
    await change(db, tenant, Mode.NORMAL, at=NOW + hour)

    with pytest.raises(ModeRefused, match="ended on 2026-11-27 12:00:00"):
        await change(db, tenant, Mode.CONTINGENCY, number="C-2", since=NOW, at=NOW + 2 * hour)
    await change(db, tenant, Mode.CONTINGENCY, number="C-2", since=NOW + hour, at=NOW + 2 * hour)

    assert await mode(db, tenant) is Mode.CONTINGENCY


async def test_an_outage_covers_the_mode_and_puts_the_legend_on_what_waits_for_its_host(db: Database) -> None:
    tenant = await make_tenant(db)
    began = datetime.now(UTC)
    soon = timedelta(seconds=3)
    assert await db.run(circuits.open_circuit, "testecf", "ecf", "no answer", soon)
    assert not await db.run(circuits.open_circuit, "testecf", "ecf", "again", soon)
    signed = datetime.now(UTC)

    async def legend(at: datetime | None, url: str = ECF_QR, status: Status = Status.QUEUED) -> bool:
        return await modes.is_in_contingency(db, tenant, Signed(TEST, status, at, url))

    now = await db.run(flow.current, tenant, TEST)
    during = (await legend(signed), await legend(began - timedelta(hours=1)), await legend(signed, FC_QR))
    await db.run(circuits.close_circuit, "testecf", "ecf")
    after = (await legend(signed), await legend(datetime.now(UTC)), await legend(signed, status=Status.ACCEPTED))

    assert (now.mode, [one.host for one in now.outages]) == (Mode.AUTHORITY_DOWN, ["ecf"])
    assert await mode(db, tenant) is Mode.NORMAL
    assert during == (True, True, False)
    assert after == (True, False, False)


async def test_a_receipt_signed_offline_carries_the_legend(db: Database) -> None:
    tenant, other = await make_tenant(db), await make_tenant(db)
    await change(db, tenant, Mode.OFFLINE)
    signed = Signed(TEST, Status.QUEUED, NOW + timedelta(minutes=1), ECF_QR)

    assert await modes.is_in_contingency(db, tenant, signed)
    assert not await modes.is_in_contingency(db, other, signed)
