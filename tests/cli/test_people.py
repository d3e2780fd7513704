"""`fe person`: its actions are audited, and secrets that it shows once are stored nowhere."""

import hashlib
import re

import psycopg

from fe.cli.operator_options import system_user
from tests.cli.running import Fe

_PORTAL = {"portal_url": "https://portal.example.do", "portal_bind": "127.0.0.1:8090"}


def _rows(fe: Fe, query: str) -> list[tuple[object, ...]]:
    with psycopg.connect(fe.dsn) as conn:
        return conn.execute(query).fetchall()


def test_a_person_is_created_listed_given_another_role_and_removed(fe: Fe, tenant: str) -> None:
    made = fe("person", "create", "ana@ozama.do", "--name", "Ana", "--tenant", tenant, "--role", "owner", "--json").json
    assert len(made.pop("password")) >= 20
    assert fe("person", "list", "--json").json == [made]
    assert "there already is a person" in fe.refused("person", "create", "ANA@ozama.do", "--name", "Ana").lower()
    assert "not an e-mail" in fe.refused("person", "create", "ana", "--name", "Ana")

    last = fe.refused("person", "role", "ana@ozama.do", "--tenant", tenant, "--role", "member")
    assert "must keep an owner" in last
    assert "must keep an owner" in fe.refused("person", "remove", "ana@ozama.do", "--tenant", tenant)

    fe("person", "create", "luz@ozama.do", "--name", "Luz", "--no-password")
    joined = fe("person", "role", "luz@ozama.do", "--tenant", tenant, "--role", "owner", "--json").json
    assert joined["role"] == "owner"
    assert fe("person", "role", "ana@ozama.do", "--tenant", tenant, "--role", "accountant", "--json").json["role"] == (
        "accountant"
    )
    gone = fe("person", "remove", "ana@ozama.do", "--tenant", tenant, "--json").json
    assert gone == {"email": "ana@ozama.do", "tenant": tenant, "removed": True}
    assert [one["email"] for one in fe("person", "list", "--tenant", tenant, "--json").json] == ["luz@ozama.do"]
    assert "does not work" in fe.refused("person", "remove", "ana@ozama.do", "--tenant", tenant)
    assert "no person" in fe.refused("person", "remove", "who@ozama.do", "--tenant", tenant)

    query = "SELECT by_whom, through, action, subject FROM tenant_changes WHERE subject LIKE '%@ozama.do' ORDER BY at"
    noted = _rows(fe, query)
    assert [(action, subject) for _, _, action, subject in noted] == [
        ("person joined", "ana@ozama.do"),
        ("person joined", "luz@ozama.do"),
        ("role changed", "ana@ozama.do"),
        ("person removed", "ana@ozama.do"),
    ]
    assert {(by, through) for by, through, _, _ in noted} == {(system_user(), "cli")}


def test_a_person_is_shut_out_let_in_and_made_an_operator(fe: Fe) -> None:
    fe("person", "create", "ana@ozama.do", "--name", "Ana")
    assert fe("person", "disable", "ana@ozama.do", "--json").json["disabledAt"] is not None
    assert fe("person", "enable", "ana@ozama.do", "--json").json["disabledAt"] is None
    assert fe("person", "operator", "ana@ozama.do", "--json").json["operator"] is True
    assert "already" in fe.refused("person", "operator", "ana@ozama.do")
    assert fe("person", "operator", "ana@ozama.do", "--withdraw", "--json").json["operator"] is False


def test_links_are_shown_once_and_only_hashes_are_kept(fe: Fe, tenant: str) -> None:
    fe("person", "create", "ana@ozama.do", "--name", "Ana")
    invited = fe(
        *("person", "invite", "luz@ozama.do", "--tenant", tenant, "--role", "member", "--json"), **_PORTAL
    ).json
    operator = fe("person", "invite", "op@ozama.do", "--operator", "--json", **_PORTAL).json
    reset = fe("person", "reset", "ana@ozama.do", "--second-factor", "--json", **_PORTAL).json

    assert invited["link"].startswith("https://portal.example.do/invitation/")
    assert (operator["operator"], operator["role"]) == (True, None)
    assert (reset["secondFactorRemoved"], reset["link"].split("/")[3]) == (True, "reset")
    tokens = [record["link"].rpartition("/")[2] for record in (invited, operator, reset)]
    hashes = {
        bytes(row[0])  # type: ignore[call-overload]  # a row is of anything
        for row in _rows(fe, "SELECT token_hash FROM invitations UNION ALL SELECT token_hash FROM password_resets")
    }
    assert hashes == {hashlib.sha256(token.encode()).digest() for token in tokens}
    trail = str(_rows(fe, "SELECT entry FROM audit_trail"))
    assert not any(token in trail for token in tokens)
    assert not re.search("token_hash|password_hash|totp_secret", trail)

    assert "FE_PORTAL_URL" in fe.refused("person", "reset", "ana@ozama.do")
    assert fe("person", "invite", "x@ozama.do").code == 2
    again = fe("person", "invite", "luz@ozama.do", "--tenant", tenant, "--role", "member", **_PORTAL)
    assert (again.code, "invited already" in again.err) == (1, True)


def test_an_operator_s_key_is_shown_once_listed_and_revoked_with_a_reason(fe: Fe) -> None:
    why = ("--reason", "new shop system")
    fe("person", "create", "olga@fe.do", "--name", "Olga")
    new = ("operator-key", "create", "olga@fe.do", "--name", "alta")
    assert "is no operator" in fe.refused(*new, *why)
    fe("person", "operator", "olga@fe.do")
    assert "--reason" in fe.refused(*new, code=2)
    assert "1 to 100 characters" in fe.refused(*new[:-1], "a\tb", *why)
    made = fe(*new, *why, "--json").json
    key_id, _, secret = made["key"].partition(".")
    assert (made["operatorKeyId"], len(secret)) == (key_id, 64)
    (listed,) = fe("operator-key", "list", "--json").json
    assert (listed["person"], listed["state"], listed["expiresAt"]) == ("olga@fe.do", "active", made["expiresAt"])
    assert fe("operator-key", "revoke", key_id, *why, "--json").json == {"operatorKeyId": key_id, "state": "revoked"}
    assert "not revoked" in fe.refused("operator-key", "revoke", key_id, *why)
    assert fe("operator-key", "list", "--json").json[0]["state"] == "revoked"
    trail = str(_rows(fe, "SELECT entry FROM audit_trail")) + str(_rows(fe, "SELECT operator_keys FROM operator_keys"))
    assert ("operator key create" in trail, secret in trail) == (True, False)
