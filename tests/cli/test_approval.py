"""`fe approval`: the command line's bulk commands wait for a second operator too, where the installation says so."""

import json
from datetime import UTC, datetime

import psycopg

from fe.identifiers import TenantId
from fe.store.postgres.db import Database
from tests.cli.running import Ended, Fe
from tests.cli.test_outbox import WHY, make_dead
from tests.factories.tenants import make_tenant, rows

TWO = {"portal_second_person": "1"}


def asked(fe: Fe, ended: Ended) -> str:
    """What was asked for and not done: its id."""
    assert (ended.code, "a second operator has to agree" in ended.err) == (11, True), ended
    waiting = fe("approval", "list", "--json").json
    assert waiting[0]["id"] in ended.err
    return str(waiting[0]["id"])


def as_another(fe: Fe, action_id: str) -> None:
    """As if a colleague at the same machine had asked."""
    with psycopg.connect(fe.dsn, autocommit=True) as conn:
        conn.execute("UPDATE pending_actions SET asked_by = 'eva' WHERE action_id = %s", (action_id,))


async def name_of(db: Database, tenant: TenantId) -> str:
    (found,) = await rows(db, "SELECT name FROM tenants WHERE tenant_id = %(tenant)s", tenant=tenant)
    return str(found["name"])


async def test_bulk_commands_wait_for_a_second_operator(db: Database, fe: Fe) -> None:
    tenant, now = await make_tenant(db), datetime.now(UTC)
    for number in (1, 2, 3):
        await make_dead(db, tenant, now, number=number)

    action_id = asked(fe, fe("outbox", "discard", "--stage", "send", *WHY, **TWO))
    assert len(await rows(db, "SELECT 1 AS n FROM dead_letters")) == 3
    mine = fe("approval", "approve", action_id, *WHY)
    assert (mine.code, "You asked for it yourself" in mine.err) == (1, True)
    as_another(fe, action_id)
    done = fe("approval", "approve", action_id, *WHY, "--json").json
    assert (done["state"], done["outcome"]) == ("done", {"discarded": 3, "passedOver": 0})
    again = fe("approval", "approve", action_id, *WHY)
    assert (again.code, "decided already" in again.err) == (1, True)
    assert fe("approval", "list", "--json").json == []
    assert [one["state"] for one in fe("approval", "list", "--all", "--json").json] == ["done"]
    assert len(fe("approval", "show", action_id, "--json").json["request"]["rows"]) == 3


async def test_a_replay_that_was_agreed_to_is_run_by_its_plan(db: Database, fe: Fe) -> None:
    tenant, now = await make_tenant(db), datetime.now(UTC)
    for number in (1, 2):
        await make_dead(db, tenant, now, number=number)
    pace = ("--canary", "0", "--per-second", "1000", "--plan", "p1", "--no-wait")

    action_id = asked(fe, fe("outbox", "replay", *pace, *WHY, **TWO))
    as_another(fe, action_id)
    assert fe("approval", "approve", action_id, *WHY, "--json").json["outcome"]["plan"] == "p1"
    ran = fe("outbox", "replay", "--plan", "p1", "--no-wait", "--json", **TWO).json

    assert (ran["released"], len(await rows(db, "SELECT 1 AS n FROM dead_letters"))) == (2, 0)


async def test_shutting_a_tenant_out_and_its_price_wait_too(db: Database, fe: Fe) -> None:
    name = await name_of(db, await make_tenant(db))
    terms = ("--subscription", "sub_1", "--price", "0.035")

    shut = asked(fe, fe("tenant", "disable", name, *WHY, **TWO))
    assert fe("approval", "refuse", shut, *WHY, "--json").json["state"] == "refused"
    priced = asked(fe, fe("billing", "enable", name, *terms, *WHY, **TWO))
    as_another(fe, priced)
    fe("approval", "approve", priced, *WHY)
    dearer = asked(fe, fe("billing", "price", name, "--price", "1", *WHY, **TWO))

    assert not await rows(db, "SELECT 1 AS n FROM disabled_tenants")
    assert json.loads(fe("billing", "show", name, "--json").out)["unitPrice"] == "0.0350"
    assert [one["id"] for one in fe("approval", "list", "--json").json] == [dearer]


async def test_what_is_not_bulk_waits_for_nobody(db: Database, fe: Fe) -> None:
    await make_dead(db, await make_tenant(db), datetime.now(UTC))

    assert len(fe("outbox", "discard", "--stage", "send", *WHY, "--json", **TWO).json) == 1
    assert fe("approval", "show", "00000000-0000-7000-8000-000000000000").code == 1
