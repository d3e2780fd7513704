"""The audit trail is a chain: it can be exported and verified, and any change is found."""

import json
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg import errors
from psycopg.conninfo import make_conninfo

from fe.cli.operator_options import system_user
from fe.operations import audit_chain
from fe.store.records.audit_trail import Link
from tests.cli.running import Fe
from tests.factories.logins import login


def entries(exported: str) -> list[dict[str, Any]]:
    return [json.loads(json.loads(line)["entry"]) for line in exported.splitlines()]


def test_what_operators_do_is_a_chain_that_can_be_exported_and_proved(fe: Fe, tenant: str, postgres: str) -> None:
    first = fe("audit", "export").out
    with login(postgres, "IN ROLE fe_operator") as me:
        as_me = {"database_url": make_conninfo(fe.dsn, user=me)}
        made = fe("key", "create", "--tenant", tenant, "--environment", "testecf", "--json", **as_me).json
        assert fe("key", "revoke", made["apiKeyId"], "--tenant", tenant, **as_me).code == 0
        assert fe("outbox", "pause", "--tenant", tenant, "--by", "ana", "--reason", "to try", **as_me).code == 0
    fe("certificate", "self-made", "a.p12", passphrase="correct horse")
    assert fe("certificate", "add", "a.p12", "--tenant", tenant, passphrase="correct horse").code == 0

    whole = fe("audit", "export").out
    (fe.folder / "trail").write_text(whole, encoding="utf-8")
    said = fe("audit", "verify")
    of_file = fe("audit", "verify", "--file", "trail", database_url="postgresql://127.0.0.1:1/none")

    assert whole.startswith(first)
    acts = [(entry["act"], entry.get("login")) for entry in entries(whole)]
    assert [act for act, _ in acts] == [
        *("begin", "tenants insert", "tenant_changes insert"),
        *("api_keys insert", "tenant_changes insert", "api_keys update", "tenant_changes insert"),
        *("operator_actions insert", "certificates insert", "tenant_changes insert"),
    ]
    assert [who for _, who in acts][3:8] == [me] * 5
    assert entries(whole)[7]["row"]["by_whom"] == f"{system_user()} (ana)"
    assert entries(whole)[7]["row"]["login"] == me
    for secret in ("secret_hash", "p12", "passphrase", made["apiSecret"]):
        assert secret not in whole
    assert said.code == 0, said
    assert said.out == of_file.out
    assert said.out.startswith("10 links, last hash ")
    noted = json.loads(first.splitlines()[-1])["hash"]
    assert fe("audit", "verify", "--expect", noted).code == 0
    assert "is not in the chain" in fe("audit", "verify", "--expect", "00" * 32).err
    assert fe("audit", "export", "--after", "8").out == whole.splitlines(keepends=True)[-1]


def test_a_lockout_that_is_lifted_is_noted_and_one_that_is_forgotten_is_not(dsn: str) -> None:
    put = """INSERT INTO login_attempts (bucket, kind, recent, last_at) VALUES (sha256(%s), 'key', '{}', now())"""
    with psycopg.connect(dsn, autocommit=True) as conn:
        conn.execute(put, (b"one",))
        conn.execute("SET ROLE fe_front")
        conn.execute("DELETE FROM login_attempts")
        conn.execute("RESET ROLE")
        conn.execute(put, (b"two",))
        conn.execute("SET ROLE fe_operator")
        conn.execute("DELETE FROM login_attempts")
        acts = conn.execute("SELECT entry::jsonb ->> 'act' FROM audit_trail ORDER BY number").fetchall()

    assert acts == [("begin",), ("login_attempts delete",)]


@pytest.mark.parametrize(
    "statement", ["UPDATE audit_trail SET entry = entry", "DELETE FROM audit_trail", "TRUNCATE audit_trail"]
)
def test_not_even_the_owner_changes_it_by_a_slip(dsn: str, statement: str) -> None:
    with (
        psycopg.connect(dsn, autocommit=True) as conn,
        pytest.raises(errors.InsufficientPrivilege, match="only added to"),
    ):
        conn.execute(statement.encode())


def forged(dsn: str, statement: str) -> None:
    """Change a row as the tables' owner, with the guards removed."""
    with psycopg.connect(dsn, autocommit=True) as conn:
        conn.execute("ALTER TABLE audit_trail DISABLE TRIGGER USER")
        for constraint in ("chain", "one_follows", "hash_unique", "hash_right"):
            conn.execute(f"ALTER TABLE audit_trail DROP CONSTRAINT audit_trail_{constraint} CASCADE".encode())
        conn.execute(statement.encode())


@pytest.mark.parametrize(
    ("statement", "told"),
    [
        ("UPDATE audit_trail SET entry = replace(entry, 'Ozama', 'Nobody') WHERE number = 1", "link 1 was changed"),
        ("DELETE FROM audit_trail WHERE number = 1", "link 1 is missing: 2 comes instead"),
        ("UPDATE audit_trail SET entry = replace(entry, 'Ozama', 'Nobody'), hash = sha256(previous || "
         "convert_to(replace(entry, 'Ozama', 'Nobody'), 'UTF8')) WHERE number = 1", "link 2 does not follow"),
        ("DELETE FROM audit_trail", "there is no link at all"),
    ],
)  # fmt: skip
def test_what_was_forged_is_found(fe: Fe, tenant: str, statement: str, told: str) -> None:
    assert fe("user", "create", "ana@example.com", "--tenant", tenant).code == 0
    forged(fe.dsn, statement)

    ended = fe("audit", "verify")

    assert ended.code == 1
    assert told in ended.err
    assert ended.out == ""


def test_the_constraints_alone_refuse_a_fork_and_a_wrong_hash(dsn: str) -> None:
    with psycopg.connect(dsn, autocommit=True) as conn:
        insert = "INSERT INTO audit_trail (number, entry, previous, hash) SELECT %s, 'x', hash, %s FROM audit_trail"
        with pytest.raises(errors.CheckViolation):
            conn.execute(insert, (1, bytes(32)))
        with pytest.raises(errors.CheckViolation):
            conn.execute("INSERT INTO audit_trail (number, entry, hash) VALUES (1, 'x', sha256('x'))")


def test_an_export_that_is_none_is_named(fe: Fe, tmp_path: Path) -> None:
    (fe.folder / "none").write_text('{"number": 0}\n')

    assert fe.refused("audit", "verify", "--file", "none") == "none, line 1: a line is no link of an audit trail"
    with pytest.raises(audit_chain.NotALink):
        audit_chain.read_export("[]")
    assert list(audit_chain.Chain().faults(Link(0, "[]", None, b""))) != []


def test_an_operator_who_changes_a_sequence_or_a_delegation_is_noted_and_a_number_that_is_drawn_is_not(
    fe: Fe, tenant: str
) -> None:
    of = ("--tenant", tenant, "--environment", "testecf")
    assert fe("sequence", "put", "E31", *of, "--from", "1", "--to", "10").code == 0
    with psycopg.connect(fe.dsn, autocommit=True) as conn:
        conn.execute("SET ROLE fe_front")
        conn.execute("SELECT set_config('fe.tenant', '1', false)")
        assert conn.execute("UPDATE sequences SET current_number = current_number + 1").rowcount == 1
    assert fe("tenant", "delegate", tenant, "101000001", "--reason", "a letter").code == 0
    assert fe("tenant", "withdraw", tenant, "101000001").code == 0

    acts = [entry["act"] for entry in entries(fe("audit", "export", "--after", "2").out)]

    assert acts == [
        *("sequences insert", "tenant_changes insert", "issuer_delegations insert", "issuer_delegations delete"),
    ]
    assert fe("audit", "verify").code == 0
