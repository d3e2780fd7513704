"""Settings, database access and common options of the commands."""

import signal
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, TypeVar

import click
import trio

from fe.cli.failures import Failure
from fe.config import Settings, load_settings
from fe.config.start_checks import require_database
from fe.ecf.catalogue import Environment
from fe.ecf.parse import MalformedJson, parse_json
from fe.store.engines import engine_named
from fe.store.postgres.db import Conn, Database, open_database
from fe.store.postgres.embedded import start_embedded
from fe.store.postgres.engine import Engine
from fe.store.postgres.migrate import verify
from fe.store.postgres.roles import OPERATOR

P = ParamSpec("P")
T = TypeVar("T")
F = TypeVar("F", bound=Callable[..., Any])

tenant_option = click.option("--tenant", "tenant_name", required=True, metavar="NAME", help="The tenant, by its name.")
environment_option = click.option(
    "--environment",
    required=True,
    type=click.Choice([environment.value for environment in Environment]),
    callback=lambda _ctx, _param, value: Environment(value),
    help="ecf is production; certecf and testecf are for certification and tests.",
)


def settings_with_database(*, as_it_is: bool = False) -> Settings:
    """Read the settings; without FE_DATABASE_URL start the embedded server, which is for development only, and fill in
    its address.

    Raises ConfigError and NoEmbeddedServer. `as_it_is` is for commands that look at the database themselves; all others
    find it reachable, up to date and open to operators, or raise DatabaseUnavailable, MigrationError, RoleRefused or
    SessionRefused.
    """
    settings = load_settings()
    require_database(settings)
    if settings.database_url is None:
        settings = settings.model_copy(update={"database_url": start_embedded(settings.data_dir / "postgres")})
    assert settings.database_url is not None
    if not as_it_is:
        verify(settings.database_url, OPERATOR, engine=engine_named(settings.database_engine))
    return settings


def with_database(settings: Settings, work: Callable[[Database], Awaitable[T]]) -> T:
    """Run `work` under Trio with a database opened as an operator."""
    assert settings.database_url is not None
    return trio.run(partial(_open_and_do, settings.database_url, engine_named(settings.database_engine), work))


def run_query(work: Callable[Concatenate[Conn, P], Awaitable[T]], *args: P.args, **kwargs: P.kwargs) -> T:
    """Run `work(conn, ...)` as an operator, without a transaction, in the database of the settings."""
    return with_database(settings_with_database(), lambda db: db.run(work, *args, **kwargs))


def run_transaction(work: Callable[Concatenate[Conn, P], Awaitable[T]], *args: P.args, **kwargs: P.kwargs) -> T:
    """Run `work(conn, ...)` as an operator in one transaction, in the database of the settings."""
    return with_database(settings_with_database(), lambda db: db.transact(work, *args, **kwargs))


async def _open_and_do(dsn: str, engine: Engine, work: Callable[[Database], Awaitable[T]]) -> T:
    async with open_database(dsn, max_size=2, role=OPERATOR, engine=engine) as db:
        return await work(db)


async def until_signal(start: Callable[..., Awaitable[object]], announce: Callable[[T], None]) -> None:
    """Start a server, announce what it reports as started, and run it until SIGTERM or Ctrl-C."""
    with trio.open_signal_receiver(signal.SIGTERM, signal.SIGINT) as signals:
        async with trio.open_nursery() as nursery:
            announce(await nursery.start(start))
            await anext(aiter(signals))
            nursery.cancel_scope.cancel()


def read_object(path: Path) -> dict[str, Any]:
    """Read a file with one JSON object. Raises Failure with the error."""
    try:
        value = parse_json(path.read_bytes())
    except MalformedJson as wrong:
        raise Failure(f"{path}: {wrong.message}") from None
    if not isinstance(value, dict):
        raise Failure(f"{path}: should hold one JSON object")
    return value
