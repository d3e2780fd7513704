"""Commands under logins that may take one role of the database, or none."""

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from tests.cli.running import Fe
from tests.cli.test_run import running
from tests.factories.logins import login


@pytest.mark.parametrize(
    ("command", "role"),
    [
        (("tenant", "list"), "fe_operator"),
        (("run",), "fe_front"),
        (("run", "--role", "actors"), "fe_worker"),
    ],
)
def test_a_login_that_may_not_take_the_role_is_told_which_grant_is_missing(
    fe: Fe, postgres: str, command: tuple[str, ...], role: str
) -> None:
    with login(postgres) as stranger:
        told = fe.refused(*command, database_url=make_conninfo(fe.dsn, user=stranger))

    assert told == (
        f"the login {stranger} may not take the role {role}: let an administrator run GRANT {role} TO {stranger}"
    )


@pytest.mark.parametrize(("role", "taken"), [("http", "fe_front"), ("actors", "fe_worker")])
@pytest.mark.parametrize("driver", ["trio", "trio-asyncio"])
def test_each_role_of_the_service_needs_its_own_role_in_the_database_and_no_other(
    fe: Fe, postgres: str, role: str, taken: str, driver: str
) -> None:
    with login(postgres) as program, psycopg.connect(postgres, autocommit=True) as admin:
        admin.execute(f"GRANT {taken} TO {program}".encode())
        url = make_conninfo(fe.dsn, user=program)
        with running(fe, "--role", role, database_url=url, database_driver=driver) as (process, _):
            process.terminate()
            process.wait(timeout=120)

        assert process.returncode == 0
        assert f"these are the settings of fe run --role {role} ({role}.env)" in fe.refused(
            "tenant", "list", database_url=url
        )


@pytest.mark.parametrize("driver", ["trio", "trio-asyncio"])
def test_a_process_that_does_both_has_two_pools_and_ends_well(fe: Fe, driver: str) -> None:
    with running(fe, database_driver=driver) as (process, _):
        process.terminate()
        process.wait(timeout=120)

    assert process.returncode == 0
