"""A tenant's mail, as operators switch it on, see and replay it."""

from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from tests.cli.running import Fe
from tests.mail.relay import running_relay
from tests.store.race import plain

SUBJECT = UUID("0190b6e2-7c39-7846-8afa-2207b9501b4b")


def gave_up(dsn: str) -> None:
    """A receipt whose mail the relay did not take."""
    with plain(dsn) as conn:
        (tenant,) = conn.execute("SELECT tenant_id FROM tenants").fetchone() or (0,)
        conn.execute(
            "INSERT INTO submissions (tenant_id, submission_id, environment, api_key_id, body_digest, format, root,"
            " e_ncf, status, verdict_at, submitted_at, updated_at) VALUES (%s, %s, 'testecf', 'fak_0', '', 'xml',"
            " 'ECF', 'E310000000001', 'Aceptado', now(), now(), now())",
            (tenant, SUBJECT),
        )
        conn.execute(
            "INSERT INTO mails (tenant_id, subject, stage, environment, run_at, finished_at, address, last_error, code)"
            " VALUES (%s, %s, 'failed', 'testecf', 'infinity', now(), 'a@b.do', 'login not accepted: 535 no', 535)",
            (tenant, SUBJECT),
        )


def test_mail_is_switched_on_with_its_settings_and_off(fe: Fe, tenant: str) -> None:
    on = fe("mail", "on", tenant, "--reply-to", "ventas@ozama.do", "--language", "en", "--a-day", "7", "--json").json
    off = [fe("mail", "off", tenant, "--by", "Ana", "--json").json["changed"] for _ in range(2)]
    second, first = fe("tenant", "changes", tenant, "--action", "mail changed", "--json").json

    settings = {"language": "en", "replyTo": "ventas@ozama.do", "aDay": 7, "documents": "attached"}
    assert on == {"tenant": tenant, **settings}
    assert off == [True, False]
    assert (first["before"], first["after"]) == ({"enabled": False}, {"enabled": True, **settings})
    assert (second["before"], second["after"]) == ({"enabled": True}, {"enabled": False})
    assert second["by"].endswith("(Ana)")


def test_a_limit_of_the_operator_holds_and_zero_forbids_mail(fe: Fe, tenant: str) -> None:
    on = ("mail", "on", tenant, "--reply-to", "ventas@ozama.do")
    forbidden = fe("mail", "limit", tenant, "--a-day", "0", "--json").json

    assert forbidden == {"tenant": tenant, "aDayAllowed": 0, "changed": True}
    assert "is forbidden" in fe.refused(*on)
    assert fe("mail", "limit", tenant, "--json").json == {"tenant": tenant, "aDayAllowed": None, "changed": True}
    assert fe(*on, "--json").json["aDay"] == 2000


@pytest.mark.parametrize("address", ["a@b.do\nBcc: c@d.do", "Ventas <a@b.do>", "a@b.do,c@d.do", "nobody"])
def test_an_address_that_is_not_plain_is_refused(fe: Fe, tenant: str, address: str) -> None:
    assert "must be" in fe.refused("mail", "on", tenant, "--reply-to", address, code=2)


def test_a_mail_that_gave_up_is_listed_and_replayed_once(fe: Fe, tenant: str) -> None:
    gave_up(fe.dsn)
    (found,) = fe("mail", "list", "--tenant", tenant, "--json").json
    because = ("--reason", "the relay is back")

    replayed = fe("mail", "replay", str(SUBJECT), *because, "--json").json
    again = fe.refused("mail", "replay", str(SUBJECT), *because)

    assert (found["taxLogId"], found["state"], found["code"]) == (str(SUBJECT), "failed", 535)
    assert found["reason"] == "login not accepted: 535 no"
    assert replayed == {"taxLogId": str(SUBJECT), "state": "waiting"}
    assert "nothing to replay" in again
    rest = fe("mail", "list", "--json")
    assert rest.json == []
    assert "mails that wait: 1 (fe mail list --state waiting)" in rest.err
    assert [one["state"] for one in fe("mail", "list", "--state", "waiting", "--json").json] == ["waiting"]


def test_an_address_is_suppressed_listed_and_allowed_again(fe: Fe, tenant: str) -> None:
    first, second = (fe("mail", "suppress", tenant, "Ana@Cliente.do", "--json").json["changed"] for _ in range(2))
    listed = fe("mail", "suppressed", tenant, "--json").json
    allowed = [fe("mail", "allow", tenant, "ana@cliente.do", "--json").json["changed"] for _ in range(2)]

    assert (first, second) == (True, False)
    assert [(one["address"], one["reason"]) for one in listed] == [("ana@cliente.do", "operator")]
    assert allowed == [True, False]
    assert fe("mail", "suppressed", tenant, "--json").json == []
    noted = [(one["action"], one["subject"]) for one in fe("tenant", "changes", tenant, "--json").json[:2]]
    assert noted == [("mail address allowed", "ana@cliente.do"), ("mail address suppressed", "ana@cliente.do")]


def test_links_of_the_portal_go_by_mail_where_a_relay_is_set(fe: Fe, tenant: str, tmp_path: Path) -> None:
    portal: dict[str, Any] = {"portal_url": "https://portal.example.do", "portal_bind": "127.0.0.1:0"}
    who = ("ana@cliente.do", "--tenant", tenant, "--role", "owner")
    fe.refused("person", "invite", *who, "--mail", **portal)
    with running_relay(tmp_path / "relay") as relay:
        given = portal | {
            "mail_relay": f"smtp://localhost:{relay.port}",
            "mail_from": "portal@fe.do",
            "mail_roots": str(relay.roots),
        }
        invited = fe("person", "invite", *who, "--mail", "--json", **given).json
        fe("person", "create", "luz@cliente.do", "--name", "Luz", **portal)
        reset = fe("person", "reset", "luz@cliente.do", "--mail", "--json", **given).json
        silent = fe("person", "reset", "luz@cliente.do", "--json", **given).json
        taken = [(about["to"], str(message.get_content())) for about, message in relay.taken]

    assert (invited["mailed"], reset["mailed"], silent["mailed"]) == (True, True, None)
    assert [to for to, _ in taken] == ["ana@cliente.do", "luz@cliente.do"]
    assert invited["link"] in taken[0][1]
    assert reset["link"] in taken[1][1]
