import re
from datetime import datetime, timedelta
from ipaddress import ip_address

import psycopg

from fe.accounts.keys import SCOPES, hash_secret
from fe.identifiers import ApiKeyId
from fe.store.records.throttle import bucket_of_address, bucket_of_key
from tests.cli.running import SECRETS, Fe


def test_a_key_s_secret_is_shown_once_and_only_its_hash_is_kept(fe: Fe, tenant: str) -> None:
    made = fe("key", "create", "--tenant", tenant, "--environment", "testecf", "--name", "till", "--json").json

    assert re.fullmatch(r"fak_[0-9a-f]{12}", made["apiKeyId"])
    assert re.fullmatch(r"[0-9a-f]{64}", made["apiSecret"])
    assert len(made["scopes"]) == len(SCOPES)
    with psycopg.connect(fe.dsn) as conn:
        row = conn.execute("SELECT secret_hash, api_keys::text FROM api_keys").fetchone()
    assert row is not None
    assert bytes(row[0]) == hash_secret(bytes.fromhex(SECRETS["FE_API_KEY_PEPPER"]), made["apiSecret"])
    assert made["apiSecret"] not in row[1]
    listed = fe("key", "list", "--tenant", tenant, "--json")
    assert made["apiSecret"] not in listed.out
    shown = {name: value for name, value in made.items() if name != "apiSecret"}
    assert listed.json == [{**shown, "lastUsedAt": None}]


def test_a_key_gets_the_scopes_and_the_end_it_is_given(fe: Fe, tenant: str) -> None:
    made = fe(
        *("key", "create", "--tenant", tenant, "--environment", "ecf", "--expires", "2999-01-01"),
        *("--scope", "billing:read", "--scope", "invoices:read", "--json"),
    ).json

    assert made["scopes"] == ["invoices:read", "billing:read"]
    assert made["environment"] == "ecf"
    assert made["expiresAt"] == "2999-01-01T00:00:00.000Z"
    assert made["state"] == "active"


def test_a_revoked_key_is_listed_as_such_and_cannot_be_revoked_again(fe: Fe, tenant: str) -> None:
    key = fe("key", "create", "--tenant", tenant, "--environment", "testecf", "--json").json["apiKeyId"]

    assert fe("key", "revoke", key, "--tenant", tenant).out == f"{key} is revoked\n"

    (listed,) = fe("key", "list", "--tenant", tenant, "--json").json
    assert listed["state"] == "revoked"
    assert listed["revokedAt"] is not None
    assert "no active key" in fe.refused("key", "revoke", key, "--tenant", tenant)


def test_another_tenant_s_key_cannot_be_revoked(fe: Fe, tenant: str) -> None:
    other = ("tenant", "create", "Other", "--rnc", "131880681", "--legal-name", "Other SRL", "--address", "There")
    assert fe(*other).code == 0
    key = fe("key", "create", "--tenant", tenant, "--environment", "testecf", "--json").json["apiKeyId"]

    assert "no active key" in fe.refused("key", "revoke", key, "--tenant", "Other")

    assert fe("key", "list", "--tenant", tenant, "--json").json[0]["state"] == "active"


def test_an_environment_or_scope_that_does_not_exist_is_a_wrong_command_line(fe: Fe, tenant: str) -> None:
    told = fe.refused("key", "create", "--tenant", tenant, "--environment", "prod", code=2)
    assert "'prod' is not one of" in told

    told = fe.refused("key", "create", "--tenant", tenant, "--environment", "ecf", "--scope", "everything", code=2)
    assert "'everything' is not one of" in told


def test_an_end_in_the_past_is_refused(fe: Fe, tenant: str) -> None:
    told = fe.refused("key", "create", "--tenant", tenant, "--environment", "ecf", "--expires", "2020-01-01")

    assert told == "--expires lies in the past"


def test_without_the_pepper_no_key_is_made(fe: Fe, tenant: str) -> None:
    told = fe.refused("key", "create", "--tenant", tenant, "--environment", "ecf", code=3, api_key_pepper="")

    assert "FE_API_KEY_PEPPER" in told
    assert fe("key", "list", "--tenant", tenant, "--json").json == []


def test_a_locked_out_key_is_unlocked_and_unlocking_it_twice_is_harmless(fe: Fe) -> None:
    with psycopg.connect(fe.dsn, autocommit=True) as conn:
        bucket = bucket_of_key(ApiKeyId("fak_0123456789ab"))
        conn.execute(
            """INSERT INTO login_attempts (bucket, kind, recent, locked_until, last_at)
               VALUES (%s, 'key', '{}', now() + interval '15 min', now())""",
            (bucket,),
        )

    (locked,) = fe("key", "lockouts", "--json").json
    # No key of that name is there: of whom a bucket is, only what exists tells.
    assert (locked["kind"], locked["who"]) == ("key", None)
    assert fe("key", "unlock", "fak_0123456789ab").out == "fak_0123456789ab may log in again\n"
    assert fe("key", "lockouts").err == "no lockouts\n"
    assert fe("key", "unlock", "fak_0123456789ab").out == "fak_0123456789ab is not locked out\n"
    with psycopg.connect(fe.dsn) as conn:
        assert conn.execute("SELECT count(*) FROM login_attempts").fetchone() == (0,)


def test_an_address_is_unlocked_too(fe: Fe) -> None:
    with psycopg.connect(fe.dsn, autocommit=True) as conn:
        for address in ("203.0.113.7", "2001:db8:0:1::1"):
            conn.execute(
                """INSERT INTO login_attempts (bucket, kind, recent, locked_until, last_at)
                   VALUES (%s, 'address', '{}', now() + interval '15 min', now())""",
                (bucket_of_address(ip_address(address)),),
            )

    assert fe("key", "unlock", "--address", "203.0.113.7").out == "203.0.113.7 may log in again\n"
    assert fe("key", "unlock", "--address", "203.0.113.7").out == "203.0.113.7 is not locked out\n"
    assert fe("key", "unlock", "--address", "2001:db8:0:1:ffff::2").out == "2001:db8:0:1:ffff::2 may log in again\n"
    for wrong in ((), ("--address", "example.com"), ("fak_0123456789ab", "--address", "203.0.113.7")):
        assert fe("key", "unlock", *wrong).code == 2


def test_keys_under_an_older_pepper_are_listed_over_all_tenants(fe: Fe, tenant: str) -> None:
    made = fe("key", "create", "--tenant", tenant, "--environment", "testecf", "--json").json
    gone = fe("key", "create", "--tenant", tenant, "--environment", "testecf", "--json").json
    fe("key", "revoke", gone["apiKeyId"], "--tenant", tenant)
    rotated = f"2026:{'9a' * 31}9b,{SECRETS['FE_API_KEY_PEPPER']}"

    assert fe("key", "older-pepper", "--json", api_key_pepper=rotated).json == [
        {"tenant": tenant, "apiKeyId": made["apiKeyId"], "environment": "testecf", "pepper": ""}
    ]
    assert "every key is under the pepper ''" in fe("key", "older-pepper").err


def test_a_rolled_key_works_on_until_its_end_beside_one_like_it(fe: Fe, tenant: str) -> None:
    old = fe(
        *("key", "create", "--tenant", tenant, "--environment", "ecf", "--name", "till", "--scope", "usage:read"),
        *("--expires", "2099-12-31", "--json"),
    ).json
    assert old["expiresAt"] is not None

    made = fe("key", "roll", old["apiKeyId"], "--tenant", tenant, "--overlap", "2", "--json").json

    assert made["apiSecret"] != old["apiSecret"]
    alike = ("environment", "scopes", "name", "expiresAt", "state")
    assert [made[name] for name in alike] == [old[name] for name in alike]
    first, second = fe("key", "list", "--tenant", tenant, "--json").json
    assert (first["apiKeyId"], first["state"]) == (old["apiKeyId"], "active")
    lasts = datetime.fromisoformat(first["expiresAt"]) - datetime.fromisoformat(second["createdAt"])
    assert timedelta(hours=1) < lasts < timedelta(hours=3)
    assert "create a new key" in fe.refused("key", "roll", old["apiKeyId"], "--tenant", tenant, "--overlap", "1")
    fe("key", "roll", made["apiKeyId"], "--tenant", tenant, "--overlap", "0")
    assert [one["state"] for one in fe("key", "list", "--tenant", tenant, "--json").json] == [
        "active",
        "expired",
        "active",
    ]
    assert "no active key" in fe.refused("key", "roll", made["apiKeyId"], "--tenant", tenant)
