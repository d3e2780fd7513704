"""Handings between taxpayers, as operators see them."""

from uuid import UUID

import pytest

from fe.cli.operator_options import system_user
from tests.cli.running import Fe
from tests.store.race import plain

SUBJECT = UUID("0190b6e2-7c39-7846-8afa-2207b9501b4b")


def given_up(dsn: str) -> None:
    """A delivery that came to nothing."""
    with plain(dsn) as conn:
        (tenant,) = conn.execute("SELECT tenant_id FROM tenants").fetchone() or (0,)
        conn.execute(
            "INSERT INTO submissions (tenant_id, submission_id, environment, api_key_id, body_digest, format, root,"
            " e_ncf, status, verdict_at, submitted_at, updated_at) VALUES (%s, %s, 'testecf', 'fak_0', '', 'xml',"
            " 'ECF', 'E310000000001', 'Aceptado', now(), now(), now())",
            (tenant, SUBJECT),
        )
        conn.execute(
            "INSERT INTO counterparty_deliveries (tenant_id, submission_id, kind, environment, counterparty_rnc, state,"
            " reason, since, changed_at) VALUES (%s, %s, 'receipt', 'testecf', '131880681', 'gave_up',"
            " 'they answered with status 500', now(), now())",
            (tenant, SUBJECT),
        )


def test_what_gave_up_is_listed_and_set_going_again_once(fe: Fe, tenant: str) -> None:
    given_up(fe.dsn)
    (found,) = fe("counterparty", "list", "--tenant", tenant, "--json").json
    because = ("--reason", "they are back")

    replayed = fe("counterparty", "replay", str(SUBJECT), *because)
    again = fe.refused("counterparty", "replay", str(SUBJECT), *because)
    unknown = fe.refused("counterparty", "replay", str(UUID(int=1)), *because)

    assert (found["taxLogId"], found["eNCF"], found["kind"], found["sends"]) == (
        str(SUBJECT),
        "E310000000001",
        "receipt",
        0,
    )
    assert found["reason"] == "they answered with status 500"
    assert replayed.code == 0
    assert "nothing to replay" in again
    assert "there is no submission" in unknown
    assert fe("counterparty", "list", "--json").json == []
    assert [one["state"] for one in fe("counterparty", "list", "--state", "pending", "--json").json] == ["pending"]
    (entry,) = fe("outbox", "log", "--json").json
    assert (entry["did"], entry["taxLogId"], entry["by"]) == ("replay", str(SUBJECT), system_user())
    assert fe("counterparty", "replay", str(SUBJECT)).code == 2  # without a reason


def test_sending_to_receivers_is_turned_on_and_off(fe: Fe, tenant: str) -> None:
    said = [fe("counterparty", "sending", tenant, switch).out.strip() for switch in ("on", "on", "off")]

    assert said == [
        "sending to receivers is on for Ozama",
        "sending to receivers is on for Ozama, as it was",
        "sending to receivers is off for Ozama",
    ]
    assert "no tenant" in fe.refused("counterparty", "sending", "Nobody", "on")


def test_received_without_a_stored_key_asks_for_a_login(fe: Fe, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(fe.folder))

    ended = fe("received", "list", "--patience", "0")

    assert ended.code != 0
    assert "fe login" in ended.err
    assert fe("received", "show", "../x", "--patience", "0").code == 2
