"""`fe approval`: the command line's bulk commands wait for a second operator too, where the installation says so."""

import json
from datetime import UTC, datetime

import psycopg
import pytest

from fe.identifiers import TenantId
from fe.store.postgres.db import Database
from tests.cli.running import Ended, Fe
from tests.cli.test_outbox import WHY, make_dead
from tests.factories.tenants import make_tenant, rows


def asked(fe: Fe, ended: Ended) -> str:
    """Make a request without executing it; return its id."""
    assert (ended.code, "a second operator has to agree" in ended.err) == (11, True), ended
    waiting = fe("approval", "list", "--json").json
    assert waiting[0]["id"] in ended.err
    return str(waiting[0]["id"])


@pytest.fixture(autouse=True)
def two_for_more_than_one(fe: Fe) -> None:
    assert fe("approval", "limit", "1").out == "replays and discards of more than 1 dead letters take two operators\n"


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

    action_id = asked(fe, fe("outbox", "discard", "--stage", "send", "--expect", "3", *WHY))
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


async def test_an_approver_sees_numbers_companies_and_errors(db: Database, fe: Fe) -> None:
    tenant, now = await make_tenant(db), datetime.now(UTC)
    for number in (1, 2):
        await make_dead(db, tenant, now, number=number)

    action_id = asked(fe, fe("outbox", "discard", "--stage", "send", "--expect", "2", *WHY))
    documents = fe("approval", "show", action_id, "--json").json["documents"]

    assert [one["eNCF"] for one in documents] == ["E310000000001", "E310000000002"]
    assert {one["tenant"] for one in documents} == {await name_of(db, tenant)}
    assert {one["cause"] for one in documents} == {"authority answered with status 503"}


async def test_the_limit_binds_whoever_leaves_the_setting_out(db: Database, fe: Fe) -> None:
    """It was a variable of the operator's own shell."""
    tenant, now = await make_tenant(db), datetime.now(UTC)
    for number in (1, 2, 3):
        await make_dead(db, tenant, now, number=number)
    one_by_one = [one["taxLogId"] for one in fe("outbox", "list", "--json").json]

    assert "no longer a setting" in fe("outbox", "list", portal_second_person="0").err
    first = fe("outbox", "discard", "--id", one_by_one[0], *WHY)
    second = fe("outbox", "discard", "--id", one_by_one[1], *WHY)

    assert (first.code, second.code) == (0, 11)
    assert len(await rows(db, "SELECT 1 AS n FROM dead_letters")) == 2
    with psycopg.connect(fe.dsn, autocommit=True) as conn:
        conn.execute("SET ROLE fe_operator")
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            conn.execute("UPDATE second_person SET more_than = 0")
        for action, detail in (("plan", '{"plan": "mine", "rows": 2}'), ("tenant disable", "{}")):
            with pytest.raises(psycopg.Error, match="a second operator has to approve this"):
                conn.execute(
                    "INSERT INTO operator_actions (action_id, at, by_whom, action, reason, detail)"
                    " VALUES (gen_random_uuid(), now(), 'eva', %s, 'why', %s)",
                    (action, detail),
                )
        with pytest.raises(psycopg.Error, match="a second operator has to approve this"):
            conn.execute(
                "INSERT INTO pending_actions (action_id, kind, request, digest, row_count, asked_by, asked_through,"
                " asked_at, reason, expires_at, decision, decided_by, decided_at) VALUES (gen_random_uuid(), 'discard',"
                " '{}', '', 2, 'eva', 'cli', now(), 'why', now(), 'alone', 'eva', now())"
            )


async def test_a_replay_that_was_agreed_to_is_run_by_its_plan(db: Database, fe: Fe) -> None:
    tenant, now = await make_tenant(db), datetime.now(UTC)
    for number in (1, 2):
        await make_dead(db, tenant, now, number=number)
    pace = ("--no-canary", "--per-second", "1000", "--plan", "p1", "--no-wait")

    action_id = asked(fe, fe("outbox", "replay", "--stage", "send", *pace, *WHY))
    as_another(fe, action_id)
    assert fe("approval", "approve", action_id, *WHY, "--json").json["outcome"]["plan"] == "p1"
    ran = fe("outbox", "replay", "--plan", "p1", "--no-wait", "--json").json

    assert (ran["released"], len(await rows(db, "SELECT 1 AS n FROM dead_letters"))) == (2, 0)


async def test_shutting_a_tenant_out_and_its_price_wait_too(db: Database, fe: Fe) -> None:
    name = await name_of(db, await make_tenant(db))
    terms = ("--subscription", "sub_1", "--price", "0.035")

    shut = asked(fe, fe("tenant", "disable", name, *WHY))
    assert fe("approval", "refuse", shut, *WHY, "--json").json["state"] == "refused"
    priced = asked(fe, fe("billing", "enable", name, *terms, *WHY))
    as_another(fe, priced)
    fe("approval", "approve", priced, *WHY)
    dearer = asked(fe, fe("billing", "price", name, "--price", "1", *WHY))

    assert not await rows(db, "SELECT 1 AS n FROM disabled_tenants")
    assert json.loads(fe("billing", "show", name, "--json").out)["unitPrice"] == "0.0350"
    assert [one["id"] for one in fe("approval", "list", "--json").json] == [dearer]


async def test_what_is_not_bulk_waits_for_nobody(db: Database, fe: Fe) -> None:
    await make_dead(db, await make_tenant(db), datetime.now(UTC))

    assert len(fe("outbox", "discard", "--stage", "send", *WHY, "--json").json) == 1
    assert fe("approval", "show", "00000000-0000-7000-8000-000000000000").code == 1
