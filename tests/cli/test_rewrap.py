"""`fe vault rewrap`: certificates move to another key-encryption key, one by one, and open at every moment."""

import subprocess
import sys
import time
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from fe.accounts import totp
from fe.identifiers import PersonId
from fe.secrets.vault import P12_PURPOSE, PASSPHRASE_PURPOSE, Belongs, Tampered, UnknownKek, Vault
from fe.webhooks.secrets import WebhookVault
from tests.cli.in_process import FeHere
from tests.cli.running import Fe, environment
from tests.waiting import PATIENCE

OLDEST, OLD, NEW = (f"{name}:0a{digits * 31}" for name, digits in (("2024", "24"), ("2025", "25"), ("2026", "26")))


def vault(*keks: str) -> Vault:
    return Vault({name: bytes.fromhex(key) for name, _, key in (kek.partition(":") for kek in keks)})


def store(dsn: str, kek: str, count: int, *, passphrase: bool = True) -> list[UUID]:
    """Seal `count` certificates under this key: one in use, the others retired."""
    keks, now, made = vault(kek), datetime.now(UTC), []
    with psycopg.connect(dsn, autocommit=True) as conn:
        row = conn.execute("SELECT tenant_id FROM tenants").fetchone()
        assert row is not None
        for _ in range(count):
            name = uuid4()
            conn.execute("UPDATE certificates SET retired_at = now() WHERE retired_at IS NULL")
            conn.execute(
                "INSERT INTO certificates (tenant_id, certificate_id, p12, passphrase, holder, serial_number,"
                " not_before, not_after) VALUES (%s, %s, %s, %s, 'Ana', '1', %s, %s)",
                (
                    row[0],
                    name,
                    keks.encrypt(f"p12 of {name}".encode(), Belongs(row[0], str(name), P12_PURPOSE)),
                    keks.encrypt(b"open", Belongs(row[0], str(name), PASSPHRASE_PURPOSE)) if passphrase else None,
                    now,
                    now + timedelta(days=9),
                ),
            )
            made.append(name)
    return made


def opened(dsn: str, *keks: str) -> int:
    """Open everything, see that it is what was encrypted, and count it."""
    with psycopg.connect(dsn) as conn:
        rows = conn.execute("SELECT tenant_id, certificate_id, p12, passphrase FROM certificates").fetchall()
    for tenant_id, name, p12, passphrase in rows:
        assert vault(*keks).decrypt(p12, Belongs(tenant_id, str(name), P12_PURPOSE)) == f"p12 of {name}".encode()
        if passphrase is not None:
            assert vault(*keks).decrypt(passphrase, Belongs(tenant_id, str(name), PASSPHRASE_PURPOSE)) == b"open"
    return len(rows)


def under(dsn: str) -> dict[str, int]:
    """How many files and passphrases are wrapped under each key."""
    with psycopg.connect(dsn) as conn:
        rows = conn.execute("SELECT p12, passphrase FROM certificates").fetchall()
    values = [vault(NEW).kek_of(value) for row in rows for value in row if value is not None]
    return {name: values.count(name) for name in set(values)}


def counts(told: list[dict[str, object]]) -> Sequence[object]:
    """Return the counts of certificates."""
    return [told[0][name] for name in ("found", "underFirstKey", "underOlderKeys", "rewrapped", "keyMissing")]


def test_everything_is_moved_to_the_first_key_and_opens_as_before(fe: Fe, tenant: str) -> None:
    store(fe.dsn, OLDEST, 3)
    store(fe.dsn, OLD, 2, passphrase=False)
    store(fe.dsn, NEW, 1)
    keks = f"{NEW},{OLD},{OLDEST}"

    looked = fe("vault", "rewrap", "--dry-run", "--json", kek=keks).json
    assert counts(looked) == [6, 1, 5, 0, 0]
    assert under(fe.dsn) == {"2024": 6, "2025": 2, "2026": 2}

    done = fe("vault", "rewrap", "--batch", "2", "--json", kek=keks).json
    assert counts(done) == [6, 1, 5, 5, 0]
    assert done[0]["firstKey"] == "2026"
    assert under(fe.dsn) == {"2026": 10}
    assert opened(fe.dsn, NEW) == 6


def test_a_second_run_changes_nothing(fe: Fe, tenant: str) -> None:
    store(fe.dsn, OLD, 3)
    fe("vault", "rewrap", kek=f"{NEW},{OLD}")
    with psycopg.connect(fe.dsn) as conn:
        before = conn.execute("SELECT p12, passphrase FROM certificates").fetchall()

    again = fe("vault", "rewrap", kek=f"{NEW},{OLD}")

    assert again.code == 0
    assert again.out.splitlines()[1].split() == ["certificates", "2026", "3", "3", "0", "0", "0", "0"]
    with psycopg.connect(fe.dsn) as conn:
        assert conn.execute("SELECT p12, passphrase FROM certificates").fetchall() == before


def test_killed_in_the_middle_it_is_taken_up_again(fe: Fe, tenant: str) -> None:
    made = sorted(store(fe.dsn, OLD, 6))
    keks = f"{NEW},{OLD}"
    told = environment(database_url=fe.dsn, data_dir=str(fe.folder), kek=keks)
    with psycopg.connect(fe.dsn) as holding:
        # It goes by these ids, and stops at the fourth.
        holding.execute("SELECT 1 FROM certificates WHERE certificate_id = %s FOR UPDATE", (made[3],))
        with subprocess.Popen([sys.executable, "-m", "fe", "vault", "rewrap"], env=told, cwd=fe.folder) as running:
            until = time.monotonic() + PATIENCE
            while under(fe.dsn).get("2026") != 6 and time.monotonic() < until:
                time.sleep(0.05)
            running.kill()
        assert under(fe.dsn) == {"2025": 6, "2026": 6}
        assert opened(fe.dsn, NEW, OLD) == 6

    # The statement it was killed at may still be done by the server, or not.
    again = counts(fe("vault", "rewrap", "--json", kek=keks).json)
    assert again[0] == 6
    assert again[3] in (2, 3)
    assert opened(fe.dsn, NEW) == 6


def test_what_needs_a_key_that_is_not_there_stays_and_is_counted(fe: Fe, tenant: str) -> None:
    store(fe.dsn, OLDEST, 2)
    store(fe.dsn, OLD, 2)

    ended = fe("vault", "rewrap", "--json", kek=f"{NEW},{OLD}")

    assert ended.code == 3
    assert "'2024' (2)" in ended.err
    assert '"rewrapped": 2, "keyMissing": 2' in ended.out
    assert under(fe.dsn) == {"2024": 4, "2026": 4}
    assert opened(fe.dsn, NEW, OLDEST) == 4


@pytest.mark.parametrize("wrong", ["another key of that name", "another row"])
def test_what_does_not_open_is_named_and_left_alone(fe: Fe, tenant: str, wrong: str) -> None:
    first, second = store(fe.dsn, OLD, 2)
    keks = f"{NEW},{OLD}"
    if wrong == "another row":
        with psycopg.connect(fe.dsn) as conn:
            conn.execute(
                "UPDATE certificates SET p12 = (SELECT p12 FROM certificates WHERE certificate_id = %s)"
                " WHERE certificate_id = %s",
                (first, second),
            )
    else:
        keks = f"{NEW},2025:0a{'99' * 31}"

    ended = fe("vault", "rewrap", kek=keks)

    assert ended.code == 1
    assert str(second) in ended.err
    assert (str(first) in ended.err) is (wrong != "another row")
    assert under(fe.dsn)["2025"] == (2 if wrong == "another row" else 4)


def test_two_at_once_do_each_certificate_once(fe: Fe, tenant: str) -> None:
    store(fe.dsn, OLD, 8)
    told = environment(database_url=fe.dsn, data_dir=str(fe.folder), kek=f"{NEW},{OLD}")
    command = [sys.executable, "-m", "fe", "vault", "rewrap", "--batch", "1"]
    both = [subprocess.Popen(command, env=told, cwd=fe.folder, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    told_by_each = [one.communicate(timeout=120)[0] for one in both]

    assert [one.returncode for one in both] == [0, 0]
    assert sum(int(told.splitlines()[1].split()[5]) for told in told_by_each) == 8
    assert opened(fe.dsn, NEW) == 8


def test_the_login_of_the_actors_needs_a_right_for_the_occasion_and_nobody_is_told_that_there_is_nothing(
    fe: Fe, tenant: str
) -> None:
    store(fe.dsn, OLD, 2)
    keks = f"{NEW},{OLD}"
    name = f"login_{uuid4().hex}"
    with psycopg.connect(fe.dsn, autocommit=True) as conn:
        conn.execute(f"CREATE ROLE {name} LOGIN".encode())
        conn.execute(f"GRANT fe_operator TO {name}".encode())
    as_login = Fe(fe.folder, make_conninfo(fe.dsn, user=name))
    try:
        assert "may not replace" in as_login.refused("vault", "rewrap", "--dry-run", kek=keks)
        with psycopg.connect(fe.dsn, autocommit=True) as conn:
            conn.execute(f"GRANT SELECT, UPDATE ON certificates TO {name}".encode())
            conn.execute(f"REVOKE fe_operator FROM {name}".encode())
            conn.execute(f"GRANT SELECT ON applied_migrations, applied_functions TO {name}".encode())
        # It may read and write the table, and policies show it no row.
        assert "may not replace" in as_login.refused("vault", "rewrap", kek=keks)

        with psycopg.connect(fe.dsn, autocommit=True) as conn:
            conn.execute(f"REVOKE ALL ON certificates FROM {name}".encode())
            conn.execute(f"GRANT fe_worker TO {name}".encode())
        assert as_login("vault", "rewrap", "--dry-run", "--json", kek=keks).json[0]["underOlderKeys"] == 2
        assert "may not replace" in as_login.refused("vault", "rewrap", kek=keks)
        with psycopg.connect(fe.dsn, autocommit=True) as conn:
            conn.execute("GRANT UPDATE (p12, passphrase) ON certificates TO fe_worker")
        assert as_login("vault", "rewrap", "--json", kek=keks).json[0]["rewrapped"] == 2
    finally:
        with psycopg.connect(fe.dsn, autocommit=True) as conn:
            conn.execute(f"DROP OWNED BY {name}".encode())
            conn.execute(f"DROP ROLE {name}".encode())
    assert opened(fe.dsn, NEW) == 2


def test_the_seeds_of_second_factors_move_with_certificates(fe: Fe) -> None:
    fe("person", "create", "ana@ozama.do", "--name", "Ana")
    seed = b"twenty bytes of seed"
    with psycopg.connect(fe.dsn) as conn:
        row = conn.execute("SELECT person_id FROM people").fetchone()
        assert row is not None
        person_id = PersonId(row[0])
        conn.execute("UPDATE people SET totp_secret = %s", [totp.encrypt_seed(vault(OLD), person_id, seed)])

    done = fe("vault", "rewrap", "--json", kek=f"{NEW},{OLD}").json

    assert [(one["what"], one["found"], one["rewrapped"]) for one in done] == [
        ("certificates", 0, 0),
        ("second factors", 1, 1),
    ]
    with psycopg.connect(fe.dsn) as conn:
        row = conn.execute("SELECT totp_secret FROM people").fetchone()
        assert row is not None
    assert totp.decrypt_seed(vault(NEW), person_id, row[0]) == seed


# --- webhooks ---------------------------------------------------------------------------------------------------------


#: By the same ids: they are apart from those of certificates.
OLD_OURS, NEW_OURS = f"2025:1b{'52' * 31}", f"2026:1b{'62' * 31}"


@pytest.fixture
def here(tmp_path: Path, dsn: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> FeHere:
    fe = FeHere(tmp_path, dsn, monkeypatch, capsys)
    made = fe("tenant", "create", "Ozama", "--rnc", "131880738", "--legal-name", "Cafe", "--address", "Here")
    assert made.code == 0, made
    return fe


def set_webhook(fe: FeHere, environment_name: str, keys: str) -> str:
    """Set a webhook with a header; its secret."""
    (fe.folder / "headers.json").write_text('{"Authorization": "Bearer of the tenant"}')
    told = fe.json(
        *("webhook", "set", "--tenant", "Ozama", "--environment", environment_name, "--url", "https://erp.example/"),
        *("--headers", "headers.json"),
        webhook_keys=keys,
    )
    secret: str = told["secret"]
    return secret


def opened_webhooks(dsn: str, *keys: str) -> set[str]:
    """Open all secrets and headers of webhooks; what the secrets are."""
    webhooks = WebhookVault(vault(*keys))
    with psycopg.connect(dsn) as conn:
        secrets = conn.execute("SELECT tenant_id, secret_id, secret FROM webhook_secrets").fetchall()
        headers = conn.execute(
            "SELECT tenant_id, endpoint_id, headers FROM webhook_endpoints WHERE headers IS NOT NULL"
        ).fetchall()
    for tenant_id, endpoint_id, sealed in headers:
        assert webhooks.decrypt_headers(tenant_id, endpoint_id, sealed) == [("Authorization", "Bearer of the tenant")]
    return {webhooks.decrypt_secret(tenant_id, secret_id, sealed) for tenant_id, secret_id, sealed in secrets}


def test_secrets_and_headers_of_webhooks_move_under_the_first_of_their_own_keys(here: FeHere) -> None:
    first = set_webhook(here, "ecf", OLD_OURS)
    second = set_webhook(here, "testecf", f"{NEW_OURS},{OLD_OURS}")  # a front that has the new one in front already
    overlap = f"{OLD_OURS},{NEW_OURS}"
    told_of = here.json("webhook", "rotate", "--tenant", "Ozama", "--environment", "ecf", webhook_keys=overlap)
    rotated = told_of["secret"]
    store(here.dsn, OLD, 1)
    keys = {"kek": f"{NEW},{OLD}", "webhook_keys": f"{NEW_OURS},{OLD_OURS}"}

    looked = here.json("vault", "rewrap", "--dry-run", **keys)
    done = here.json("vault", "rewrap", "--batch", "1", **keys)
    again = here.json("vault", "rewrap", **keys)

    def told(all_of_it: list[dict[str, object]]) -> list[tuple[object, ...]]:
        names = ("what", "found", "underFirstKey", "underOlderKeys", "rewrapped")
        return [tuple(one[name] for name in names) for one in all_of_it]

    assert told(looked) == [
        ("certificates", 1, 0, 1, 0),
        ("second factors", 0, 0, 0, 0),
        ("webhook secrets", 3, 1, 2, 0),
        ("webhook headers", 2, 1, 1, 0),
    ]
    assert told(done) == [
        ("certificates", 1, 0, 1, 1),
        ("second factors", 0, 0, 0, 0),
        ("webhook secrets", 3, 1, 2, 2),
        ("webhook headers", 2, 1, 1, 1),
    ]
    assert [each[3] for each in told(again)] == [0, 0, 0, 0]
    assert opened_webhooks(here.dsn, NEW_OURS) == {first, second, rotated}


def test_without_their_keys_webhooks_are_left_alone_and_that_is_said(here: FeHere) -> None:
    set_webhook(here, "ecf", OLD_OURS)
    store(here.dsn, OLD, 1)

    ended = here("vault", "rewrap", "--json", kek=f"{NEW},{OLD}")

    assert ended.code == 0
    assert "FE_WEBHOOK_KEYS is not set: webhooks are not looked at" in ended.err
    assert counts(ended.json) == [1, 0, 1, 1, 0]
    assert len(opened_webhooks(here.dsn, OLD_OURS)) == 1


@pytest.mark.parametrize(
    ("keys", "code", "says"),
    [
        (NEW_OURS, 3, "needed by so many webhook secrets: '2025' (1); add to FE_WEBHOOK_KEYS"),
        (f"{NEW_OURS},2025:0a{'99' * 31}", 1, "1 webhook secrets do not open with their key"),
    ],
)
def test_a_webhook_key_that_is_missing_or_another_is_told_and_nothing_is_lost(
    here: FeHere, keys: str, code: int, says: str
) -> None:
    set_webhook(here, "ecf", OLD_OURS)

    ended = here("vault", "rewrap", kek=NEW, webhook_keys=keys)

    assert ended.code == code, ended
    assert says in ended.err
    assert len(opened_webhooks(here.dsn, OLD_OURS)) == 1
    with pytest.raises((UnknownKek, Tampered)):
        opened_webhooks(here.dsn, *keys.split(","))


def test_the_right_to_replace_what_webhooks_have_is_looked_at_before_anything_is_done(here: FeHere) -> None:
    store(here.dsn, OLD, 1)
    set_webhook(here, "ecf", OLD_OURS)
    keys: dict[str, Any] = {"kek": f"{NEW},{OLD}", "webhook_keys": f"{NEW_OURS},{OLD_OURS}"}
    name = f"login_{uuid4().hex}"
    with psycopg.connect(here.dsn, autocommit=True) as conn:
        conn.execute(f"CREATE ROLE {name} LOGIN".encode())
        conn.execute(f"GRANT fe_worker TO {name}".encode())
        conn.execute("GRANT UPDATE (p12, passphrase) ON certificates TO fe_worker")
        as_login = FeHere(here.folder, make_conninfo(here.dsn, user=name), here.monkeypatch, here.capsys)
        try:
            refused = as_login.refused("vault", "rewrap", **keys)
            assert "may not replace what is encrypted (webhook secrets)" in refused
            assert under(here.dsn) == {"2025": 2}
            conn.execute("GRANT UPDATE (secret) ON webhook_secrets TO fe_worker")
            assert "(webhook headers)" in as_login.refused("vault", "rewrap", **keys)
            conn.execute("GRANT UPDATE (headers) ON webhook_endpoints TO fe_worker")
            assert [one["rewrapped"] for one in as_login.json("vault", "rewrap", **keys)] == [1, 0, 1, 1]
        finally:
            conn.execute(f"DROP OWNED BY {name}".encode())
            conn.execute(f"DROP ROLE {name}".encode())
