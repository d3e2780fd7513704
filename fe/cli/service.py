"""`fe run` and `fe migrate`."""

import signal

import click

from fe.cli import without_collection
from fe.cli.failures import Failure
from fe.cli.printing import json_option, print_result
from fe.cli.session import settings_with_database
from fe.config import ConfigError, set_by_env_file
from fe.process.hardening import KEY_ENCRYPTION_KEY, restart_without
from fe.store.engines import engine_named

_UP_TO_DATE = "the database is up to date"


@click.command()
@click.option(
    "--role",
    type=click.Choice(["all", "http", "actors", "receive", "portal", "share"]),
    default="all",
    show_default=True,
    help="What this process does. Any number of processes on any number of machines may share one database.",
)
@click.option(
    "--processes",
    type=click.IntRange(1, 64),
    help="How many of them, under a parent that restarts them and, at SIGHUP, replaces each by a new one that has read "
    "all files of settings again; no connection is lost. Without it: one process, and no parent.",
)
@click.option("--worker", hidden=True, help="What the parent gives to each of them.")
def run(role: str, processes: int | None, worker: str | None) -> None:
    """Run the service until SIGTERM or Ctrl-C, which let work in flight finish (FE_GRACE_SECONDS)."""
    if processes is not None:
        signal.signal(signal.SIGHUP, signal.SIG_IGN)  # until the parent hears it
    if role == "http":
        if from_file := [name for name in KEY_ENCRYPTION_KEY if set_by_env_file(name)]:
            raise ConfigError(f"{from_file[0]} is in an --env-file, and the front must not have it: take it out there")
        restart_without(KEY_ENCRYPTION_KEY)
    with without_collection():
        from fe.cli.start import run_service  # here, because other commands need less

    code = run_service(settings_with_database(as_it_is=True), role=role, processes=processes, worker=worker)
    if code:
        raise Failure(f"the service ended with {code}", code)


@click.command()
@click.option("--check", is_flag=True, help="Only name what is still to be applied; exit code 1 when there is any.")
@json_option
def migrate(check: bool, as_json: bool) -> None:
    """Migrate the database to this release. Safe to repeat, and to start in several places at once."""
    from fe.store.postgres.migrate import migrate as apply  # here, because this command has its name
    from fe.store.postgres.migrate import pending_names

    settings = settings_with_database(as_it_is=True)
    assert settings.database_url is not None
    if check:
        names = pending_names(settings.database_url)
        print_result([f"to be applied: {name}" for name in names] or _UP_TO_DATE, {"pending": names}, as_json=as_json)
        if names:
            raise Failure(f"the database lacks {len(names)} migration(s): run `fe migrate`")
        return
    applied = apply(settings.database_url, engine=engine_named(settings.database_engine))
    print_result([f"applied {name}" for name in applied] or _UP_TO_DATE, {"applied": applied}, as_json=as_json)
