"""`fe doctor` says what is wrong with a deployment and what to do; `fe migrate --check` changes nothing."""

import json
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from cryptography.hazmat.primitives.serialization import Encoding
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from fe.config import Settings
from fe.operations.doctor import State
from fe.operations.doctor.alerting import check_receivers
from fe.operations.doctor.configuration import check_trust
from fe.operations.doctor.database import check_locks
from fe.operations.doctor.finding import role_of_login
from fe.store.postgres.migrate import migrations
from fe.store.postgres.roles import rights_of_login
from ops.citus.cluster import Cluster
from tests import citus
from tests.cli.running import Fe
from tests.cli.test_simulate import simulating
from tests.factories.certificates import default_root
from tests.factories.logins import database_of, login
from tests.ops.live import alertmanager, needs_alertmanager


@pytest.fixture
def empty(postgres: str) -> Iterator[str]:
    name = f"e_{secrets.token_hex(4)}"
    with psycopg.connect(postgres, autocommit=True) as conn:
        conn.execute(f"CREATE DATABASE {name}".encode())
        yield make_conninfo(postgres, dbname=name)
        conn.execute(f"DROP DATABASE {name} WITH (FORCE)".encode())


def examined(fe: Fe, *args: str, code: int, **settings: str) -> dict[str, dict[str, Any]]:
    ended = fe("doctor", "--json", *args, **settings)
    assert ended.code == code, ended
    return {found["check"]: found for found in json.loads(ended.out)}


def test_a_deployment_in_order_is_told_so_and_nothing_is_changed(fe: Fe) -> None:
    with simulating() as (at, _):
        told = fe("doctor", authority_ecf_url=at["ecf"])
        found = examined(fe, "--environment", "testecf", code=0, authority_ecf_url=at["ecf"])

    assert told.code == 0, told
    assert {one["state"] for one in found.values()} <= {"ok", "warning"}
    assert {
        *(
            "role",
            "settings",
            "secrets",
            "listeners",
            "trust",
            "open files",
            "disk",
            "database",
            "login",
            "migrations",
            "locks",
            "rights (fe_front)",
            "server's own rights",
        ),
        *("rights (fe_worker)", "writing", "certificates", "authority", "authority (summaries)"),
        *("clock (database)", "clock (authority)"),
        *(("cluster",) if citus.wanted() else ()),
    } == found.keys()
    assert found["settings"]["state"] == "warning"
    assert found["trust"]["says"] == "every acknowledgement is accepted, for development"
    assert found["certificates"]["says"] == "0 in use; 0 have expired, 0 will within 30 days"
    # A superuser's login works, with a warning.
    assert "is a superuser" in found["login"]["says"]
    with psycopg.connect(fe.dsn) as conn:
        assert conn.execute("SELECT count(*) FROM write_probes").fetchone() == (0,)


@pytest.mark.skipif(citus.programs() is None, reason="there is no cluster (make citus)")
def test_the_node_that_actors_are_near_is_looked_at(fe: Fe) -> None:
    name = str(conninfo_to_dict(fe.dsn)["dbname"])
    node = Cluster.at(fe.dsn).nodes[1].database(name)
    with simulating() as (at, _):
        found = examined(fe, "--environment", "testecf", code=0, authority_ecf_url=at["ecf"], database_near=node)
        away = examined(fe, code=1, authority_ecf_url=at["ecf"], database_near="host=127.0.0.1 port=1 dbname=fe")

    assert found["node"]["state"] == "ok"
    assert "shards of the outbox" in found["node"]["says"]
    assert (away["node"]["state"], away["cluster"]["state"]) == ("failed", "ok")


def test_a_database_that_was_set_otherwise_for_others_is_looked_over_all_the_same(fe: Fe) -> None:
    with psycopg.connect(fe.dsn, autocommit=True) as conn:
        (name,) = conn.execute("SELECT current_database()").fetchone() or ("",)
        conn.execute(f"ALTER DATABASE {name} SET datestyle = 'SQL, DMY'".encode())

    found = examined(fe, "--role", "http", code=0)

    assert found["clock (database)"]["state"] == "ok"


def test_settings_that_cannot_be_are_the_first_finding(fe: Fe) -> None:
    found = examined(fe, code=1, sned_slots="3")

    assert list(found) == ["settings"]
    assert "did you mean FE_SEND_SLOTS?" in found["settings"]["says"]


def test_what_is_wrong_is_said_with_what_to_do(fe: Fe, empty: str) -> None:
    away = {"authority_ecf_url": "http://127.0.0.1:1"}
    found = examined(fe, code=1, **away, database_url=empty, max_connections="10000000")

    assert found["migrations"]["state"] == "failed"
    assert "run `fe migrate`" in found["migrations"]["remedy"]
    assert found["rights"]["state"] == found["certificates"]["state"] == "skipped"
    assert found["authority"]["state"] == "failed"
    assert found["open files"]["state"] == "warning"
    assert "->" in fe("doctor", **away, database_url=empty).out


def test_months_that_there_is_no_room_to_lock_are_told(dsn: str) -> None:
    """A statement that is planned anew locks every month there is, and its indexes."""
    with psycopg.connect(dsn, autocommit=True) as conn:
        before = check_locks(conn)
        for month in range(36):
            conn.execute("SELECT ensure_month(now() - %s * interval '1 month')", (month,))
        after = check_locks(conn)

    assert (before.state, before.remedy) == (State.OK, "")
    assert (after.state, "restart the server" in after.remedy) == (State.WARNING, True)
    assert after.says.endswith("(out of shared memory)")


def test_the_host_of_summaries_is_looked_at_for_itself(fe: Fe) -> None:
    """It is another machine, and a way out that is open for the one may be closed for the other."""
    with simulating() as (at, _):
        found = examined(fe, code=1, authority_ecf_url=at["ecf"], authority_fc_url="http://127.0.0.1:1")

    assert (found["authority"]["state"], found["clock (authority)"]["state"]) == ("ok", "ok")
    assert found["authority (summaries)"]["state"] == "failed"
    assert "127.0.0.1:1 cannot be reached" in found["authority (summaries)"]["says"]


def test_whom_acknowledgements_are_believed_from_is_told(tmp_path: Path) -> None:
    plain = Settings.model_construct(development=False, reception_roots=None)
    roots = tmp_path / "roots.pem"
    roots.write_bytes(default_root().certificate.public_bytes(Encoding.PEM))
    (tmp_path / "empty.pem").touch()

    nobody = check_trust(plain)
    somebody = check_trust(plain.model_copy(update={"reception_roots": roots}))
    unreadable = check_trust(plain.model_copy(update={"reception_roots": tmp_path / "empty.pem"}))

    assert (nobody.state, "receipts for receivers wait" in nobody.says) == (State.WARNING, True)
    assert "FE_RECEPTION_ROOTS" in nobody.remedy
    assert (somebody.state, somebody.says) == (State.OK, "the certificates of 1 certifiers are believed")
    assert (unreadable.state, "empty.pem" in unreadable.says) == (State.FAILED, True)


def test_listeners_that_other_machines_reach_are_told(fe: Fe) -> None:
    inside = examined(fe, "--role", "http", code=0)["listeners"]
    outside = examined(fe, "--role", "http", code=0, http_bind="0.0.0.0:8080", metrics_bind="[::]:9464")["listeners"]

    assert inside["state"] == "ok"
    assert outside["state"] == "warning"
    assert "FE_HTTP_BIND and FE_METRICS_BIND" in outside["says"]
    assert "TLS" in outside["remedy"]


@pytest.mark.parametrize("encoding", ["LATIN1", "SQL_ASCII"])
def test_a_database_that_lacks_letters_is_not_begun_with(fe: Fe, postgres: str, encoding: str) -> None:
    name = f"e_{secrets.token_hex(4)}"
    with psycopg.connect(postgres, autocommit=True) as conn:
        conn.execute(f"CREATE DATABASE {name} ENCODING '{encoding}' LOCALE 'C' TEMPLATE template0".encode())
        narrow = make_conninfo(postgres, dbname=name)
        refused = fe("migrate", database_url=narrow)
        found = examined(fe, "--role", "cli", code=1, database_url=narrow)["database"]
        conn.execute(f"DROP DATABASE {name} WITH (FORCE)".encode())

    assert (refused.code, refused.out) == (1, "")
    assert f"keeps text in {encoding}" in refused.err
    assert found["state"] == "failed"
    assert f"keeps text in {encoding}" in found["says"]


def test_indexes_that_another_machine_has_sorted_are_found(fe: Fe, empty: str) -> None:
    """As where the files of a database are restored on a machine with another C library."""
    assert fe("migrate", database_url=empty).code == 0
    with psycopg.connect(empty, autocommit=True) as conn:
        conn.execute("UPDATE pg_database SET datcollversion = '2.27' WHERE datname = current_database()")

    found = examined(fe, "--role", "cli", code=1, database_url=empty)["database"]

    assert found["state"] == "failed"
    assert "its indexes by 2.27" in found["says"]
    assert "REINDEX DATABASE" in found["remedy"]


def test_a_database_that_is_away_is_a_finding_too(fe: Fe) -> None:
    found = examined(fe, "--role", "cli", code=1, database_url="postgresql://127.0.0.1:1/none")

    assert found["database"]["state"] == "failed"
    assert "authority" not in found


def test_a_secret_that_is_missing_and_one_too_many_are_found(fe: Fe) -> None:
    assert examined(fe, "--role", "cli", code=1, kek="")["secrets"]["says"].startswith("FE_KEK (or FE_KEK_FILE)")
    assert examined(fe, "--role", "http", code=0)["secrets"]["state"] == "warning"
    assert examined(fe, "--role", "http", code=0, kek="")["secrets"]["state"] == "ok"


def test_a_login_is_judged_by_what_it_may_take(fe: Fe, postgres: str) -> None:
    with login(postgres, "IN ROLE fe_front") as name:
        dsn = make_conninfo(fe.dsn, user=name)
        as_front = examined(fe, "--role", "http", code=0, database_url=dsn)
        as_operator = examined(fe, "--role", "cli", code=1, database_url=dsn)

    assert as_front["login"]["state"] == as_front["rights (fe_front)"]["state"] == "ok"
    says = as_operator["rights (fe_operator)"]["says"]
    assert "these are the settings of fe run --role http (http.env)" in says
    assert "GRANT" not in says  # it would undo the separation of the logins


@pytest.mark.parametrize(
    ("roles", "role"),
    [
        ("fe_front", "http"),
        ("fe_worker", "actors"),
        ("fe_reception", "receive"),
        ("fe_portal", "portal"),
        ("fe_share", "share"),
        ("fe_portal, fe_operator", "portal"),
        ("fe_operator", "cli"),
        ("fe_front, fe_worker", "all"),
    ],
)
def test_role_is_that_of_the_login_unless_one_is_named(fe: Fe, postgres: str, roles: str, role: str) -> None:
    with login(postgres, f"IN ROLE {roles}") as name, psycopg.connect(make_conninfo(fe.dsn, user=name)) as conn:
        assert role_of_login(rights_of_login(conn)) == role


def test_settings_of_the_owner_are_looked_over_without_secrets(fe: Fe, postgres: str) -> None:
    with login(postgres) as name, database_of(postgres, name) as owned:
        found = examined(fe, code=1, database_url=owned, api_key_pepper="", kek="", jwt_keys="")

    assert found["role"]["says"].startswith("looked over as --role owner")
    assert found["secrets"]["state"] == "ok"
    assert [name for name, one in found.items() if one["state"] == "failed"] == ["migrations"]


def test_what_suppliers_are_received_with_is_looked_at(fe: Fe, postgres: str, tmp_path: Path) -> None:
    """With the settings of its file, which has neither a pepper nor what tokens are signed with."""
    roots = tmp_path / "roots.pem"
    roots.write_bytes(default_root().certificate.public_bytes(Encoding.PEM))
    given = {"reception_bind": "127.0.0.1:8090", "api_key_pepper": "", "jwt_keys": ""}
    with login(postgres, "IN ROLE fe_reception") as name:
        given["database_url"] = make_conninfo(fe.dsn, user=name)
        found = examined(fe, "--role", "receive", code=0, reception_roots=str(roots), **given)
        nobody = examined(fe, "--role", "receive", code=1, **given)
        nowhere = examined(fe, "--role", "receive", code=1, **given | {"reception_bind": ""})
    with login(postgres, "IN ROLE fe_front, fe_worker") as name:
        given = {"database_url": make_conninfo(fe.dsn, user=name), "reception_bind": "127.0.0.1:8090"}
        within = examined(
            fe, "--role", "all", code=1, reception_roots=str(roots), authority_ecf_url="http://127.0.0.1:1", **given
        )

    assert found["settings"]["state"] == found["secrets"]["state"] == found["rights (fe_reception)"]["state"] == "ok"
    assert found["trust"]["says"] == "the certificates of 1 certifiers are believed"
    assert "FE_RECEPTION_ROOTS is not set" in nobody["settings"]["says"]
    assert "FE_RECEPTION_BIND is not set" in nowhere["settings"]["says"]
    assert "GRANT fe_reception TO" in within["rights (fe_reception)"]["says"]


def test_what_buyers_are_served_with_needs_no_secret(fe: Fe, postgres: str) -> None:
    given = {"share_bind": "127.0.0.1:8120", "api_key_pepper": "", "jwt_keys": ""}
    with login(postgres, "IN ROLE fe_share") as name:
        given["database_url"] = make_conninfo(fe.dsn, user=name)
        found = examined(fe, code=0, kek="", **given)
        too_much = examined(fe, code=0, **given)
        no_file = examined(fe, code=1, kek="", certifiers_file="/nowhere/certifiers.pem", **given)

    assert found["settings"]["state"] == found["secrets"]["state"] == found["rights (fe_share)"]["state"] == "ok"
    assert "the buyers' page is given the key-encryption key" in too_much["secrets"]["says"]
    assert "FE_CERTIFIERS_FILE /nowhere/certifiers.pem" in no_file["settings"]["says"]


def test_certificates_that_end_and_keys_that_are_missing_are_counted(fe: Fe, tenant: str, tmp_path: Path) -> None:
    made = fe("certificate", "self-made", "a.p12", "--days", "5", passphrase="correct horse")
    assert made.code == 0, made
    assert fe("certificate", "add", "a.p12", "--tenant", tenant, passphrase="correct horse").code == 0

    found = examined(fe, "--role", "cli", code=0)
    missing = examined(fe, "--role", "cli", code=1, kek=f"other:4a{'44' * 31}")

    assert found["certificates"]["says"] == "1 in use; 0 have expired, 1 will within 30 days"
    assert found["certificates"]["state"] == "warning"
    assert "(test)" in missing["certificates"]["says"]


def test_a_certificate_whose_key_was_destroyed_is_none_any_more(fe: Fe, tenant: str) -> None:
    assert fe("certificate", "self-made", "a.p12", passphrase="correct horse").code == 0
    assert fe("certificate", "add", "a.p12", "--tenant", tenant, passphrase="correct horse").code == 0
    (kept,) = fe("certificate", "list", "--tenant", tenant, "--json").json
    for how in ("retire", "remove"):
        ended = fe("certificate", how, kept["certificateId"], "--tenant", tenant, "--reason", "leaves")
        assert ended.code == 0, ended

    found = examined(fe, "--role", "cli", code=0, kek=f"other:4a{'44' * 31}")

    assert found["certificates"]["says"] == "0 in use; 0 have expired, 0 will within 30 days"
    assert found["certificates"]["state"] == "ok"


def test_looking_what_a_migration_would_do_changes_nothing(fe: Fe, empty: str) -> None:
    first = fe("migrate", "--check", database_url=empty)
    again = fe("migrate", "--check", database_url=empty)

    assert first.code == 1
    assert first == again
    assert first.out.splitlines() == [
        *(f"to be applied: {migration.name}" for migration in migrations()),
        "to be applied: functions",
    ]
    with psycopg.connect(empty) as conn:
        assert conn.execute("SELECT count(*) FROM pg_class WHERE relnamespace = 'public'::regnamespace").fetchone() == (
            0,
        )
    assert fe("migrate", "--check").out == "the database is up to date\n"


def test_a_portal_is_looked_over_with_its_own_role_and_that_of_operators_where_it_serves_them(
    fe: Fe, postgres: str
) -> None:
    with login(postgres, "IN ROLE fe_portal") as portal, login(postgres, "IN ROLE fe_portal, fe_operator") as both:
        told = {"database_url": make_conninfo(fe.dsn, user=portal), "portal_bind": "127.0.0.1:8100"}
        told |= {"portal_url": "https://portal.example.do"}
        found = examined(fe, "--role", "portal", code=0, **told)
        without = examined(fe, "--role", "portal", code=1, **(told | {"portal_operators": "1"}))
        told["database_url"] = make_conninfo(fe.dsn, user=both)
        operators = examined(fe, "--role", "portal", code=0, **(told | {"portal_operators": "1"}))
        too_much = examined(fe, "--role", "portal", code=0, **told)

    assert found["rights (fe_portal)"]["state"] == found["login"]["state"] == "ok"
    assert "certificates" not in found
    assert without["rights (fe_operator)"]["state"] == "failed"
    assert operators["rights (fe_operator)"]["state"] == operators["certificates"]["state"] == "ok"
    assert "may take 2 roles" in too_much["login"]["says"]
    nowhere = examined(fe, "--role", "portal", code=1, portal_bind="")
    assert "FE_PORTAL_BIND is not set" in nowhere["settings"]["says"]


def test_a_read_only_database_is_remedied_by_the_setting_not_by_disk_space(fe: Fe) -> None:
    with psycopg.connect(fe.dsn, autocommit=True) as conn:
        (name,) = conn.execute("SELECT current_database()").fetchone() or ("",)
        conn.execute(f"ALTER DATABASE {name} SET default_transaction_read_only = on".encode())

    found = examined(fe, "--role", "http", code=1)

    assert "read-only transaction" in found["writing"]["says"]
    assert "RESET default_transaction_read_only" in found["writing"]["remedy"]


@needs_alertmanager
async def test_receivers_of_alertmanager_without_an_address_are_warned_of(tmp_path: Path) -> None:
    """The example as it is shipped delivers nowhere."""
    async with alertmanager(tmp_path) as shipped:
        empty = await check_receivers(str(shipped.base_url))
    async with alertmanager(tmp_path, "http://127.0.0.1:1") as filled:
        full = await check_receivers(str(filled.base_url))
    gone = await check_receivers(str(filled.base_url))

    assert empty.state is State.WARNING
    assert "dead-mans-switch, on-call, tickets" in empty.says
    assert full.state is State.OK
    assert gone.state is State.FAILED
