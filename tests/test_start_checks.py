"""Combinations of valid settings that are refused before the start."""

from pathlib import Path
from typing import Any

import pytest

from fe.config import ConfigError, load_settings
from fe.config.start_checks import require_database, require_front, require_portal, require_share, require_startable
from fe.portal.serve import portal_url

HERE = "postgresql://fe@127.0.0.1/fe"
AWAY = "postgresql://fe@db.example.com/fe"
SIMULATED = {f"authority_{host}_url": "http://127.0.0.1:8090" for host in ("ecf", "fc", "status")}


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"database_url": AWAY}, "FE_DEVELOPMENT is set, and FE_DATABASE_URL is another machine"),
        ({"http_bind": "0.0.0.0:8080"}, "FE_DEVELOPMENT is set, and FE_HTTP_BIND is open to other machines"),
        ({"http_bind": ":8080"}, "FE_DEVELOPMENT is set, and FE_HTTP_BIND is open to other machines"),
        ({"metrics_bind": "[::]:9464"}, "FE_DEVELOPMENT is set, and FE_METRICS_BIND is open to other machines"),
        ({"reception_bind": "0.0.0.0:8090"}, "FE_DEVELOPMENT is set, and FE_RECEPTION_BIND is open to other machines"),
        ({"portal_bind": "0.0.0.0:8100"}, "FE_DEVELOPMENT is set, and FE_PORTAL_BIND is open to other machines"),
        ({"share_bind": "0.0.0.0:8120"}, "FE_DEVELOPMENT is set, and FE_SHARE_BIND is open to other machines"),
        ({"authority_fc_url": "https://fc.dgii.gov.do"}, "FE_DEVELOPMENT is set, and FE_AUTHORITY_FC_URL is the real"),
        ({"authority_status_url": "https://DGII.gov.do./x"}, "FE_AUTHORITY_STATUS_URL is the real authority"),
    ],
)
def test_development_does_not_start_where_others_could_meet_it(
    tmp_path: Path, given: dict[str, Any], told: str
) -> None:
    settings = load_settings(development=True, data_dir=tmp_path, **(SIMULATED | {"database_url": HERE} | given))

    with pytest.raises(ConfigError, match=told):
        require_startable(settings)


@pytest.mark.parametrize(
    "database", [None, HERE, "postgresql:///fe?host=/run/postgresql", "host=localhost,::1 dbname=fe"]
)
def test_development_starts_beside_a_simulated_authority(tmp_path: Path, database: str | None) -> None:
    require_startable(load_settings(development=True, data_dir=tmp_path, database_url=database, **SIMULATED))


@pytest.mark.parametrize("engine", ["postgres", "citus"])
def test_receipts_of_the_real_authority_may_be_kept_by_either_engine(tmp_path: Path, engine: str) -> None:
    given: dict[str, Any] = {"data_dir": tmp_path, "database_url": HERE, "database_engine": engine}

    require_startable(load_settings(authority_ecf_url="https://ecf.dgii.gov.do", **given))


def test_outside_development_a_database_has_to_be_named() -> None:
    with pytest.raises(ConfigError, match="FE_DATABASE_URL is not set"):
        require_database(load_settings())


@pytest.mark.parametrize("name", ["database_url", "database_near"])
def test_an_address_of_the_database_that_is_none_is_not_quoted(name: str) -> None:
    given: dict[str, Any] = {"database_url": HERE, "database_engine": "citus", name: "postgresql://fe:c0ffee@["}
    with pytest.raises(ConfigError, match=rf"^FE_{name.upper()}: not a connection address") as wrong:
        require_database(load_settings(**given))

    assert "c0ffee" not in str(wrong.value)


def test_a_node_to_be_near_is_one_of_a_cluster_and_is_reached_as_the_database_is() -> None:
    near: dict[str, Any] = {"database_url": HERE, "database_near": AWAY}
    with pytest.raises(ConfigError, match="FE_DATABASE_NEAR is a node of a cluster"):
        require_database(load_settings(**near))
    with pytest.raises(ConfigError, match="FE_DATABASE_NEAR is another machine, and nothing demands TLS"):
        require_database(load_settings(**near, database_engine="citus"))
    require_database(load_settings(**near, database_engine="citus", database_plaintext=True))
    with pytest.raises(ConfigError, match="FE_DATABASE_DRIVER=trio"):
        require_database(load_settings(**near, database_engine="citus", database_driver="trio-asyncio"))


@pytest.mark.parametrize(
    ("database", "environ"),
    [
        (AWAY, {}),
        (f"{AWAY}?sslmode=prefer", {"PGSSLMODE": "require"}),
        ("dbname=fe", {"PGHOST": "db.example.com"}),
        ("dbname=fe", {"PGHOSTADDR": "192.0.2.7"}),
        ("dbname=fe", {"PGSERVICE": "main"}),
        ("service=main", {}),
        ("host=127.0.0.1,db.example.com", {}),
        ("host=localhost hostaddr=192.0.2.7", {}),
    ],
)
def test_a_database_elsewhere_has_to_demand_tls(database: str, environ: dict[str, str]) -> None:
    with pytest.raises(ConfigError, match="nothing demands TLS: add sslmode=verify-full"):
        require_database(load_settings(database_url=database), environ)

    require_database(load_settings(database_url=database, database_plaintext=True), environ)


@pytest.mark.parametrize("mode", ["require", "verify-ca", "verify-full"])
def test_whichever_way_tls_is_demanded(mode: str) -> None:
    require_database(load_settings(database_url=f"{AWAY}?sslmode={mode}"), {})
    require_database(load_settings(database_url=AWAY), {"PGSSLMODE": mode})


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({}, "FE_PORTAL_BIND is not set"),
        ({"portal_bind": "127.0.0.1:8100"}, "FE_PORTAL_URL is not set: under which https:// address"),
        ({"portal_url": "http://portal.example.do"}, "should begin with https://: passwords and sessions"),
        ({"portal_url": "http://127.0.0.1:8100"}, "should begin with https://"),
        ({"portal_url": "http://portal.example.do", "development": True}, "should begin with https://"),
        ({"portal_url": "https://portal.example.do/portal"}, "and nothing after it"),
        ({"portal_url": "https://portal.example.do/"}, "and nothing after it"),
        ({"portal_url": "https://ana:x@portal.example.do"}, "and nothing after it"),
        ({"portal_url": "portal.example.do"}, "should be an address such as https://"),
        ({"portal_url": "javascript:alert(1)"}, "should be an address such as https://"),
        ({"portal_url": "https://portal.example.do:99999"}, "should be an address such as https://"),
        ({"portal_url": "https://facturación.example.do"}, "should be an address such as https://"),
    ],
)
def test_a_portal_that_people_could_not_trust_does_not_start(tmp_path: Path, given: dict[str, Any], told: str) -> None:
    bind = {"portal_bind": "127.0.0.1:8100"} if "portal_url" in given else {}
    settings = load_settings(data_dir=tmp_path, **(bind | given))

    with pytest.raises(ConfigError, match=told):
        require_portal(settings, "portal")
    require_portal(settings, "http")


@pytest.mark.parametrize(
    "given",
    [
        {"portal_url": "https://portal.example.do"},
        {"portal_url": "https://portal.example.do:8443"},
        {"development": True},
        {"portal_url": "http://localhost:8100", "development": True},
    ],
)
def test_a_portal_behind_tls_starts_and_in_development_one_on_this_machine(
    tmp_path: Path, given: dict[str, Any]
) -> None:
    settings = load_settings(data_dir=tmp_path, portal_bind="127.0.0.1:8100", **given)

    require_portal(settings, "portal")
    require_portal(settings, "all")


@pytest.mark.parametrize(
    ("given", "origin"),
    [
        ("https://Portal.Example.do", "https://portal.example.do"),
        ("HTTPS://portal.example.do:443", "https://portal.example.do"),
        ("https://portal.example.do:8443", "https://portal.example.do:8443"),
        ("https://[2001:DB8::1]:8443", "https://[2001:db8::1]:8443"),
    ],
)
def test_the_address_of_a_portal_is_compared_as_browsers_write_it(tmp_path: Path, given: str, origin: str) -> None:
    """Their Origin is in lower case and without a port that goes without saying: no form was taken in otherwise."""
    settings = load_settings(data_dir=tmp_path, portal_bind="127.0.0.1:8100", portal_url=given)

    require_portal(settings, "portal")
    assert portal_url(settings) == origin


def test_a_process_that_serves_the_api_needs_an_address_for_it(tmp_path: Path) -> None:
    nowhere = load_settings(data_dir=tmp_path, http_bind="")

    for role in ("http", "all"):
        with pytest.raises(ConfigError, match="FE_HTTP_BIND is empty"):
            require_front(nowhere, role)
    require_front(nowhere, "actors")


@pytest.mark.parametrize(
    ("role", "given", "told"),
    [
        ("share", {}, "FE_SHARE_BIND is not set: where should buyers"),
        ("all", {"share_bind": "127.0.0.1:8120"}, "FE_SHARE_URL is not set: under which https://"),
        ("http", {"share_url": "https://facturas.example.do"}, "FE_WEBHOOK_KEYS is not"),
        ("http", {"share_url": "http://facturas.example.do"}, "should begin with https://"),
        ("share", {"share_bind": "127.0.0.1:8120", "share_url": "https://facturas.example.do/r"}, "nothing after it"),
        ("share", {"share_bind": "127.0.0.1:8120", "database_engine": "citus"}, "take FE_DATABASE_ENGINE=postgres"),
    ],
)
def test_receipts_are_not_shared_where_their_page_could_not_be_reached(
    tmp_path: Path, role: str, given: dict[str, Any], told: str
) -> None:
    settings = load_settings(data_dir=tmp_path, **given)

    with pytest.raises(ConfigError, match=told):
        require_share(settings, role)


def test_receipts_are_shared_where_address_and_keys_are_set(tmp_path: Path) -> None:
    url, keys = "https://facturas.example.do", f"w1:1a{'11' * 31}"
    require_share(load_settings(data_dir=tmp_path, share_url=url, webhook_keys=keys), "http")
    require_share(load_settings(data_dir=tmp_path, share_bind="127.0.0.1:8120"), "share")
    require_share(load_settings(data_dir=tmp_path), "all")
