"""Fixtures shared by all tests: a real Postgres, migrated once, and a fresh copy of it for each test."""

import atexit
import gc
import logging
import os
import secrets
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import AsyncIterator, Callable, Generator, Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from functools import partial
from pathlib import Path

import psycopg
import pytest
import structlog
from hypothesis import HealthCheck, settings
from psycopg import sql
from psycopg.conninfo import make_conninfo

from fe.store.postgres.db import Database, open_database
from fe.store.postgres.migrate import migrate
from fe.store.postgres.roles import FRONT, WORKER
from ops.citus.cluster import Cluster
from tests import citus
from tests.citus_exceptions import EXCEPTIONS
from tests.databases import Databases
from tests.servers import chosen, start_server
from tests.waiting import PATIENCE

# How long an example takes says what else the machine is doing. A change is judged on the same examples each time it
# is tried (.ci/run sets CI), so that its outcome is its own; elsewhere every run looks at new ones.
settings.register_profile("anywhere", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("ci", settings.get_profile("anywhere"), derandomize=True, database=None, print_blob=True)
settings.load_profile("ci" if os.environ.get("CI") else "anywhere")


# Where logging is not set up, tracebacks are plain: drawing one with rich takes a tenth of a second.
structlog.configure(
    processors=[
        *structlog.get_config()["processors"][:-1],
        structlog.dev.ConsoleRenderer(exception_formatter=structlog.dev.plain_traceback),
    ]
)


#: Files that take long though they hold few tests: who began one of them last would end long after the other workers.
LONG = (
    "tests/system",
    "tests/portal/browser",
    "tests/portal/test_every_type.py",
    "tests/receiving/test_stranger.py",
    "tests/clients/test_typescript.py",
    "tests/ops/test_live_drill.py",
    "tests/ops/test_installation.py",
    "tests/ops/test_drill.py",
    "tests/ops/test_promtool.py",
    "tests/certification/test_runs.py",
    "tests/generators",
    "tests/ops/test_panels.py",
    "tests/ops/test_series.py",
    "tests/ops/test_one_p95.py",
    "tests/faults/test_run.py",
    "tests/faults/test_silent_standby.py",
    "tests/faults/test_mail.py",
    "tests/http/test_schemathesis.py",
    "tests/http/test_hostile.py",
    "tests/http/contract/test_login_timing.py",
    "tests/cli/test_operations_page.py",
    "tests/cli/test_operators_page.py",
    "tests/bench",
    "tests/test_docs.py",
    "tests/test_wheel.py",
    "tests/operations/test_replay.py",
    "tests/ops/test_runbooks.py",
    "tests/receiving/test_process.py",
    "tests/tracing",
    "tests/test_apart.py",
    "tests/test_processes.py",
    "tests/cli",
)


#: Files that ask a server, and nothing of it that others here do not: how processes begin and end, what commands print.
ALIKE = (
    "tests/cli/test_asking.py",
    "tests/cli/test_failures.py",
    "tests/cli/test_help.py",
    "tests/cli/test_operators_page.py",
    "tests/cli/test_run.py",
    "tests/cli/test_simulate.py",
)


#: Files that start servers of their own, by the programs that were asked for.
OWN_SERVERS = ("tests/faults/test_on_citus.py", "tests/ops/test_citus_runbook.py")


Lend = Callable[..., AbstractContextManager[str]]

#: Bytes that there have to be for the databases of one server: they have some hundred millions at a time, with its log.
_PLENTY = 4 * 1024**3


def pytest_xdist_auto_num_workers() -> int | None:
    """Set `-n auto` to three more than the usable cores, hardware threads included, because many tests wait.

    By itself xdist counts physical cores where psutil is installed.
    """
    if "PYTEST_XDIST_AUTO_NUM_WORKERS" in os.environ:
        return None  # xdist reads it
    usable = len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1
    return usable + 3


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Turn garbage collection off, and exempt the collected tests from it: it takes a third of the time."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Begin with what takes long, then the files with the most tests.

    On another server than the usual one, run what needs a server: the rest would only say the same again.
    """
    here = config.rootpath
    if chosen() is not None or citus.wanted():
        kept: list[pytest.Item] = []
        left: list[pytest.Item] = []
        for item in items:
            asks = "postgres" in getattr(item, "fixturenames", ())
            file = item.path.relative_to(here).as_posix()
            wanted = file.startswith(OWN_SERVERS) or (asks and not file.startswith(ALIKE))
            (kept if wanted else left).append(item)
        config.hook.pytest_deselected(items=left)
        items[:] = kept
    if citus.wanted():
        for item in items:
            test = item.nodeid.partition("[")[0]
            file = test.partition("::")[0]
            if reason := EXCEPTIONS.get(item.nodeid) or EXCEPTIONS.get(test) or EXCEPTIONS.get(file):
                whole = file in EXCEPTIONS
                item.add_marker(pytest.mark.xfail(reason=reason, run=not whole))
    in_file = Counter(item.path for item in items)

    places = {}
    for path, many in in_file.items():
        file = path.relative_to(here).as_posix()
        first = next((nth for nth, long in enumerate(LONG) if file.startswith(long)), len(LONG))
        places[path] = first, -many, file
    items.sort(key=lambda item: places[item.path])


@pytest.fixture(autouse=True)
def _log_is_left_as_found() -> Iterator[None]:
    """Fail a test that leaves logging changed (tests/logs.py): the next test would see no log, or all of it."""
    processors, level = structlog.get_config()["processors"], logging.getLogger().level
    yield
    assert structlog.get_config()["processors"] is processors
    assert logging.getLogger().level == level


@pytest.fixture(scope="session")
def cluster() -> Cluster | None:
    """The cluster that the tests run on where FE_TEST_CITUS or FE_TEST_CITUS_URL asks for one (tests/citus.py)."""
    if not citus.wanted():
        return None
    citus.speak_citus()
    programs = citus.programs()
    if programs is None:
        return Cluster.at(citus.url() or "")
    folder = Path(tempfile.mkdtemp(prefix="fe-tests-", dir=_memory()))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return citus.start_cluster(folder, programs)


@pytest.fixture(scope="session")
def postgres(cluster: Cluster | None) -> str:
    """DSN of a server of our own, which ends with the test run; FE_TEST_POSTGRES says which (tests/servers.py).

    Its folder is not in pytest's temporary folder: as root the server runs as another user, and a second pytest that
    starts closes that folder to other users.
    """
    if cluster is not None:
        return cluster.coordinator.dsn
    folder = Path(tempfile.mkdtemp(prefix="fe-tests-", dir=_memory()))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)  # runs after the server's own, which comes later
    dsn = start_server(folder)
    with psycopg.connect(dsn, autocommit=True) as conn:
        # Making a database a test would wait for the disk four times, and nothing here need outlive a power cut.
        conn.execute("ALTER SYSTEM SET fsync = off")
        # It would write to system tables of a database that could then not be lent again (tests/databases.py).
        conn.execute("ALTER SYSTEM SET autovacuum = off")
        conn.execute("SELECT pg_reload_conf()")
    return dsn


def _memory(shared: Path = Path("/dev/shm")) -> Path | None:
    """Where files are memory, if there is plenty: each database is 700 of them, made and removed for one test."""
    try:
        plenty = shutil.disk_usage(shared).free >= _PLENTY
    except OSError:
        return None
    return shared if plenty and os.access(shared, os.W_OK) else None


@pytest.fixture(scope="session")
def template(postgres: str, cluster: Cluster | None) -> str:
    """Name of a migrated database that tests copy."""
    name = "fe_template"
    if cluster is not None:
        cluster.drop_database(name)  # of a run before, where the cluster outlives it
        cluster.make_database(name, shards=citus.SHARDS)
        migrate(make_conninfo(postgres, dbname=name))
        cluster.set_up_roles(name)
        cluster.leave(name)
        return name
    with psycopg.connect(postgres, autocommit=True) as conn:
        conn.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
    migrate(make_conninfo(postgres, dbname=name))
    return name


@pytest.fixture(scope="session")
def databases(postgres: str, template: str, cluster: Cluster | None) -> Iterator[Lend]:
    """Lend a migrated database, by its DSN."""
    if cluster is not None:
        yield partial(_copy_on, cluster, template)
        return
    with closing(Databases(postgres, template)) as made:
        yield made.lent


@contextmanager
def _copy_on(cluster: Cluster, template: str, **_: bool) -> Iterator[str]:
    name = f"t_{secrets.token_hex(6)}"
    cluster.copy_database(name, template)
    yield make_conninfo(cluster.coordinator.dsn, dbname=name)
    cluster.drop_database(name)


@pytest.fixture
def empty(postgres: str, cluster: Cluster | None) -> Iterator[str]:
    """DSN of a database with nothing in it; on a cluster, one on each of its nodes, which know each other."""
    name = f"e_{secrets.token_hex(6)}"
    if cluster is not None:
        cluster.make_database(name, shards=citus.SHARDS)
        yield make_conninfo(postgres, dbname=name)
        cluster.drop_database(name)
        return
    with psycopg.connect(postgres, autocommit=True) as conn:
        conn.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
        yield make_conninfo(postgres, dbname=name)
        conn.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))


@pytest.fixture
def dsn(databases: Lend, request: pytest.FixtureRequest) -> Iterator[str]:
    """DSN of a migrated database for this test alone."""
    with databases(new=request.node.get_closest_marker("new_database") is not None) as dsn:
        yield dsn


@pytest.fixture(scope="module")
def shared_dsn(databases: Lend) -> Iterator[str]:
    """DSN of a migrated database for the tests and examples of one file: they leave nothing, or have a tenant each."""
    with databases() as dsn:
        yield dsn


@pytest.fixture
async def db(dsn: str) -> AsyncIterator[Database]:
    """An open database for this test alone, as its owner: for preparing data, and for looking behind the curtain."""
    async with open_database(dsn, patience=PATIENCE) as database:
        yield database


@pytest.fixture
async def front_db(dsn: str) -> AsyncIterator[Database]:
    """The same database with the rights of the HTTP front."""
    async with open_database(dsn, patience=PATIENCE, role=FRONT) as database:
        yield database


@pytest.fixture
async def worker_db(dsn: str) -> AsyncIterator[Database]:
    """The same database with the rights of the actors."""
    async with open_database(dsn, patience=PATIENCE, role=WORKER) as database:
        yield database
