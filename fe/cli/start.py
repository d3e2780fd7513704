"""Starts a process of the service: checks settings, database and clock, then becomes a parent or serves."""

import json
import os

import trio

from fe.cli import without_collection
from fe.clock import clock_ahead
from fe.config import Settings, without_env_files
from fe.config.start_checks import require_front, require_portal, require_share, require_startable, require_trust
from fe.ecf import libxml, schema
from fe.monitoring.log import configure_logging
from fe.monitoring.tracing_setup import require_tracing
from fe.process import failpoints
from fe.process.hardening import close_memory, keep_from_children
from fe.process.open_files import open_as_many_as_allowed
from fe.process.parent_watch import obey
from fe.process.supervise import ProcessFiles
from fe.process.workers import Listeners, become_parent, collect_rarely
from fe.secrets.hsm import open_vault, require_usable
from fe.store.engines import engine_named
from fe.store.postgres.clocks import require_clock
from fe.store.postgres.embedded import start_embedded, started_here
from fe.store.postgres.migrate import verify, verify_node
from fe.store.postgres.pools import ASKING, CLAIMING, LISTENING
from fe.store.postgres.roles import WORKER, database_roles

#: Roles that open no certificate.
_WITHOUT_KEYS = ("http", "share")


def run_service(settings: Settings, *, role: str, processes: int | None = None, worker: str | None = None) -> int:
    """Run the service until SIGTERM or SIGINT; return the exit code.

    With `processes` this process checks everything, then becomes the parent of that many workers
    (fe/process/supervise.py); `worker` is what that parent passes to each. Raises LibxmlMismatch, ConfigError,
    ClockWrong, or an error of `verify`, before anything is started.
    """
    given = None if worker is None else ProcessFiles(**json.loads(worker))
    is_parent = processes is not None and given is None
    siblings = processes if processes is not None and given is None else 1
    environ = without_env_files(os.environ)

    settings = _prepare_process(settings, role)
    _require_settings(settings, role)
    dsn = settings.database_url or start_embedded(settings.data_dir.resolve() / "postgres")
    _require_databases(settings, role, dsn, siblings)
    vault = None if role in _WITHOUT_KEYS else open_vault(settings)
    listeners = Listeners.open(settings, role, siblings) if given is None else Listeners.inherited(given)
    if is_parent:
        return become_parent(listeners, settings, environ, started_here())

    with without_collection():
        from fe.main import serve  # late: it imports everything there is, and a parent needs little of it
    schema.prepare()
    if given is not None:
        obey(given.parent)  # a thread: not before all schemas are compiled
    if vault is not None:
        require_usable(vault)
    collect_rarely()
    trio.run(serve, settings, dsn, role, vault, listeners, None if given is None else given.ready)
    return 0


def _prepare_process(settings: Settings, role: str) -> Settings:
    """Harden this process and set up its log; return its settings without keys that its role does not need."""
    libxml.require_one_libxml2()
    require_startable(settings)
    open_as_many_as_allowed()
    if not settings.dumpable:
        close_memory()
    configure_logging(settings.log_level)
    keep_from_children()
    failpoints.arm(settings.failpoint)
    return settings.without_key_encryption_key() if role in _WITHOUT_KEYS else settings


def _require_settings(settings: Settings, role: str) -> None:
    """Check the settings of a role. Raises ConfigError."""
    require_tracing(settings)
    require_front(settings, role)
    require_trust(settings, role)
    require_portal(settings, role)
    require_share(settings, role)


def _require_databases(settings: Settings, role: str, dsn: str, siblings: int) -> None:
    """Check schema, roles, number of connections and clock of the database, and of the node to claim from."""
    roles = database_roles(settings, role)
    engine = engine_named(settings.database_engine)
    no_others = not (settings.development or settings.database_shared_login)
    asking = ASKING if engine.nodes else 0
    connections = siblings * (len(roles) * (settings.database_connections + asking) + LISTENING)
    verify(dsn, *roles, connections=connections, no_others=no_others, engine=engine)
    require_clock(dsn, clock_ahead(settings.clock_offset))
    if settings.database_near is not None and WORKER in roles:
        from fe.store.citus.nodes import require_node

        require_node(dsn, settings.database_near)
        connections = siblings * (CLAIMING + asking)
        verify_node(settings.database_near, WORKER, connections=connections, no_others=no_others, engine=engine)
