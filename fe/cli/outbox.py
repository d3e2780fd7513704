"""`fe outbox`: what waits, why, and what to do about what gave up."""

import getpass
from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal
from typing import Any, TypeVar
from uuid import UUID

import click

from fe.cli.failures import Failure
from fe.cli.session import json_option, moment, settings_with_database, show, show_all, with_database
from fe.clock import system_clock
from fe.ecf.catalogue import Environment
from fe.ecf.ids import new_id
from fe.ecf.states import Stage
from fe.flows import provision
from fe.flows import replay as replays
from fe.flows.replay import Preview, Progress
from fe.store import dead_letters, submissions
from fe.store.db import Conn, Database
from fe.store.dead_letters import Act, DeadLetter, Filter

F = TypeVar("F", bound=Callable[..., Any])

_ENVIRONMENT = click.Choice([environment.value for environment in Environment])


def _filters(command: F) -> F:
    """Add the options that say which dead letters are meant."""
    for option in reversed(
        (
            click.option("--tenant", "tenant_name", metavar="NAME", help="Only of this tenant."),
            click.option("--environment", type=_ENVIRONMENT, help="Only of this environment."),
            click.option("--stage", type=click.Choice([stage.value for stage in Stage]), help="Only of this stage."),
            click.option("--error", metavar="TEXT", help="Only with this in the error's text."),
            click.option("--older-than", type=float, metavar="MINUTES", help="Only those that died so long ago."),
            click.option("--id", "ids", multiple=True, type=click.UUID, help="Only this submission; may be repeated."),
            click.option("--limit", type=click.IntRange(1, 100_000), default=1000, show_default=True),
        )
    ):
        command = option(command)
    return command


def _deed(command: F) -> F:
    """Add who and why: kept with every act."""
    command = click.option("--reason", required=True, metavar="TEXT", help="Why; kept on record.")(command)
    return click.option("--by", "by_whom", default=getpass.getuser, metavar="NAME", help="Who; you, by default.")(
        command
    )


@click.group()
def outbox() -> None:
    """See what waits or gave up, and why; replay it, give it up, pause and resume."""


@outbox.command("list")
@_filters
@json_option
def list_(as_json: bool, limit: int, **which: Any) -> None:
    """List dead letters, the longest dead first."""
    letters = with_database(settings_with_database(), lambda db: _find(db, limit, **which))
    show_all([_row(letter) for letter in letters], as_json=as_json, none="there are no such dead letters")


@outbox.command("show")
@click.argument("tax_log_id", type=click.UUID)
@json_option
def show_(tax_log_id: UUID, as_json: bool) -> None:
    """Tell the whole story of one submission."""

    async def work(db: Database) -> list[dict[str, Any]]:
        waiting = await db.run(dead_letters.why, tax_log_id)
        if waiting is None:
            raise Failure(f"there is no submission {tax_log_id}")
        events = await db.run(submissions.timeline, waiting.tenant_id, tax_log_id)
        return [
            {"seq": event.seq, "at": moment(event.at), "event": event.kind, "detail": event.detail} for event in events
        ]

    show_all(with_database(settings_with_database(), work), as_json=as_json, none="nothing happened to it")


@outbox.command()
@click.argument("tax_log_id", type=click.UUID)
def why(tax_log_id: UUID) -> None:
    """Say what a submission waits for, and until when."""

    async def work(db: Database) -> list[str]:
        waiting = await db.run(dead_letters.why, tax_log_id)
        if waiting is None:
            raise Failure(f"there is no submission {tax_log_id}")
        return replays.explain(waiting)

    for sentence in with_database(settings_with_database(), work):
        click.echo(sentence)


@outbox.command()
@_filters
@click.option(
    "--dry-run", is_flag=True, help="Say row by row what would happen and what stands in the way; do nothing."
)
@click.option("--plan", "plan_id", metavar="ID", help="A name for it: the same name takes up what was interrupted.")
@click.option(
    "--canary", type=click.IntRange(0), default=1, show_default=True, help="So many first, and wait for them."
)
@click.option(
    "--per-second", type=click.FloatRange(0.01, 1000), default=5.0, show_default=True, help="At most so many."
)
@click.option("--stop-on-failure/--go-on", default=True, show_default=True, help="When a released row fails again.")
@_deed
@json_option
def replay(
    dry_run: bool,
    plan_id: str | None,
    canary: int,
    per_second: float,
    stop_on_failure: bool,
    by_whom: str,
    reason: str,
    as_json: bool,
    limit: int,
    **which: Any,
) -> None:
    """Set dead letters going again. What may have gone out is asked about first, and signed bytes are never remade."""

    async def look(db: Database) -> list[Preview]:
        return [replays.preview(letter, system_clock()) for letter in await _find(db, limit, **which)]

    async def work(db: Database) -> Progress:
        name = plan_id or f"replay-{new_id(system_clock()).hex[:12]}"
        plan = await db.run(dead_letters.plan, name)
        if plan is None:
            letters = await _find(db, limit, **which)
            if not letters:
                raise Failure("there are no such dead letters")
            now = system_clock()

            async def write_down(conn: Conn) -> None:
                await dead_letters.make_plan(
                    conn,
                    Act(new_id(now), now, by_whom, reason),
                    name,
                    [(letter.tenant_id, letter.subject) for letter in letters],
                    canary=canary,
                    per_second=Decimal(str(per_second)),
                    stop_on_failure=stop_on_failure,
                )

            await db.transact(write_down)
            plan = await db.run(dead_letters.plan, name)
        assert plan is not None
        if not as_json:
            click.echo(f"plan {name}", err=True)
        return await replays.run_plan(db, plan, by_whom, clock=system_clock, tell=lambda _: None)

    if dry_run:
        previews = with_database(settings_with_database(), look)
        show_all([_preview(one) for one in previews], as_json=as_json, none="there are no such dead letters")
        return
    progress = with_database(settings_with_database(), work)
    show(
        {
            "released": progress.released,
            "total": progress.total,
            "failedAgain": [str(subject) for subject in progress.failed],
            "stopped": progress.stopped,
        },
        as_json=as_json,
    )
    if progress.stopped is not None:
        raise Failure(f"{progress.stopped}; the same --plan goes on from here")


@outbox.command()
@_filters
@click.option("--dry-run", is_flag=True, help="Say which rows are meant; do nothing.")
@_deed
@json_option
def discard(dry_run: bool, by_whom: str, reason: str, as_json: bool, limit: int, **which: Any) -> None:
    """Give dead letters up: their clients see `error`. It cannot be undone."""

    async def work(db: Database) -> list[dict[str, Any]]:
        letters = await _find(db, limit, **which)
        if dry_run:
            return [_row(letter) for letter in letters]
        done = await replays.act_on_each(db, letters, dead_letters.discard, by_whom, reason, clock=system_clock)
        return [{"taxLogId": str(subject), "numberFate": fate} for subject, fate in done.items() if fate]

    show_all(with_database(settings_with_database(), work), as_json=as_json, none="there are no such dead letters")


@outbox.command()
@click.option("--tenant", "tenant_name", metavar="NAME", help="Only this tenant; without it, all.")
@click.option("--environment", type=_ENVIRONMENT, help="Only this environment; without it, all.")
@_deed
def pause(tenant_name: str | None, environment: str | None, by_whom: str, reason: str) -> None:
    """Stop working on a tenant's rows, or on all. Clients are still answered 202."""
    if not _pause_or_resume(dead_letters.pause, tenant_name, environment, by_whom, reason):
        raise Failure("that is paused already")
    click.echo("paused: `fe outbox resume` with the same options undoes it")


@outbox.command()
@click.option("--tenant", "tenant_name", metavar="NAME", help="As it was paused.")
@click.option("--environment", type=_ENVIRONMENT, help="As it was paused.")
@_deed
def resume(tenant_name: str | None, environment: str | None, by_whom: str, reason: str) -> None:
    """Undo a pause."""
    if not _pause_or_resume(dead_letters.resume, tenant_name, environment, by_whom, reason):
        raise Failure("that is not paused")
    click.echo("resumed")


def _pause_or_resume(
    act: Callable[..., Any], tenant_name: str | None, environment: str | None, by_whom: str, reason: str
) -> bool:
    async def task(conn: Conn) -> bool:
        now = system_clock()
        tenant = await provision.find_tenant(conn, tenant_name) if tenant_name else None
        done: bool = await act(
            conn, Act(new_id(now), now, by_whom, reason), tenant.tenant_id if tenant else None, environment
        )
        return done

    async def work(db: Database) -> bool:
        return await db.transact(task)

    return with_database(settings_with_database(), work)


async def _find(
    db: Database,
    limit: int,
    *,
    tenant_name: str | None,
    environment: str | None,
    stage: str | None,
    error: str | None,
    older_than: float | None,
    ids: tuple[UUID, ...],
) -> list[DeadLetter]:
    tenant = await db.run(provision.find_tenant, tenant_name) if tenant_name else None
    which = Filter(
        tenant_id=tenant.tenant_id if tenant else None,
        environment=environment,
        stage=stage,
        error=error,
        older_than=timedelta(minutes=older_than) if older_than is not None else None,
        subjects=ids or None,
    )
    return await db.run(dead_letters.listed, which, limit)


def _row(letter: DeadLetter) -> dict[str, Any]:
    return {
        "taxLogId": str(letter.subject),
        "tenant": letter.tenant,
        "environment": letter.environment,
        "stage": letter.stage,
        "eNCF": letter.e_ncf,
        "diedAt": moment(letter.died_at),
        "sends": letter.sends,
        "error": letter.error,
    }


def _preview(one: Preview) -> dict[str, Any]:
    return {
        "taxLogId": str(one.letter.subject),
        "eNCF": one.letter.e_ncf,
        "wasSent": one.was_sent,
        "would": one.would,
        "obstacles": list(one.obstacles),
    }
