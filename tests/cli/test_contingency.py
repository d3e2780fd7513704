"""The mode of a tenant, as operators see and set it."""

from uuid import uuid4

import psycopg

from tests.cli.running import Fe


def test_modes_are_set_shown_listed_and_refused(fe: Fe, tenant: str) -> None:
    here = ("--tenant", tenant, "--environment", "testecf")

    normal = fe("contingency", "show", *here, "--json").json
    refused = fe.refused("contingency", "set", "contingency", *here, "--reason", "fire")
    made = fe(
        *("contingency", "set", "deferred", *here, "--reason", "route sales", "--by", "Ana"),
        *("--number", "A-77", "--valid-until", "2030-12-31", "--json"),
    ).json
    shown = fe("contingency", "show", *here, "--json").json
    fe("contingency", "set", "normal", *here, "--reason", "the route ends")
    (listed,) = fe("contingency", "list", *here, "--json").json

    assert (normal["mode"], normal["hostsDown"]) == ("normal", [])
    assert "number" in refused
    assert (made["mode"], made["number"], made["validUntil"]) == ("deferred", "A-77", "2030-12-31")
    assert (shown["mode"], shown["reason"]) == ("deferred", "route sales")
    assert (listed["reason"], listed["endReason"]) == ("route sales", "the route ends")
    assert "(Ana)" in listed["begunBy"]


def test_agents_are_listed_and_retired_once(fe: Fe, tenant: str) -> None:
    here = ("--tenant", tenant, "--environment", "testecf")
    agent = str(uuid4())
    fe("sequence", "put", "E32", *here, "--name", "Caja 1", "--from", "9001", "--to", "9999", "--inactive")
    with psycopg.connect(fe.dsn) as conn:
        conn.execute(
            "INSERT INTO agents (tenant_id, environment, agent_id, epoch, nonce, leased_at)"
            " SELECT tenant_id, 'testecf', %s, 1, gen_random_uuid(), now() FROM tenants",
            [agent],
        )
        conn.execute("UPDATE sequences SET agent_id = %s, is_active = false", [agent])

    (before,) = fe("contingency", "agents", *here, "--json").json
    retired = fe("contingency", "retire-agent", agent, *here, "--by", "Ana", "--json").json
    (after,) = fe("contingency", "agents", *here, "--json").json
    again = fe.refused("contingency", "retire-agent", agent, *here)
    changes = fe("tenant", "changes", tenant, "--json").json

    assert (before["agentId"], before["name"], before["ranges"]) == (agent, "Caja 1", ["E32=9001-9999"])
    assert (before["retiredAt"], after["retiredAt"] is not None) == (None, True)
    assert "(Ana)" in after["retiredBy"]
    assert retired == {"agentId": agent, "environment": "testecf"}
    assert "no agent at work" in again
    assert "agent retired" in [one["action"] for one in changes]
