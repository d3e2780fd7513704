"""`fe outbox`: waiting work, dead letters, and actions on them."""

from collections.abc import Callable
from functools import partial
from itertools import groupby
from shlex import quote
from typing import Any

import click

from fe.accounts import approvals, provision
from fe.cli.approval import ask_if_bulk
from fe.cli.failures import Failure
from fe.cli.operator_options import (
    NONE_MATCHES,
    act,
    audited,
    chosen,
    filters,
    find,
    given,
    member_option,
    required,
    submission_named,
    words,
)
from fe.cli.printing import json_option, moment, print_result, show, show_all
from fe.cli.replay import replay
from fe.cli.session import run_query, run_transaction, settings_with_database, with_database
from fe.cli.signed_by import signed_by_
from fe.clock import system_clock
from fe.ecf.catalogue import Environment
from fe.identifiers import ReplayPlanId
from fe.operations.replay import act_on_each, halt_plan
from fe.operations.why import LIMITS, Diagnosis, explain
from fe.store.postgres.db import Conn, Database
from fe.store.queue import audit, circuits, dead_letters, diagnosis, pauses
from fe.store.queue import in_doubt as doubts
from fe.store.queue import outbox as rows
from fe.store.queue.audit import OperatorAction
from fe.store.queue.dead_letters import DeadLetter, DeadLetterGroup
from fe.store.queue.diagnosis import WaitingSubmission
from fe.store.queue.in_doubt import Doubt
from fe.store.records import submissions

#: How many tenants of a group of dead letters are named.
_TENANTS_SHOWN = 5


@click.group()
def outbox() -> None:
    """List waiting work and dead letters with their causes; replay, discard, pause and resume."""


outbox.add_command(replay)
outbox.add_command(signed_by_)


@outbox.command()
@json_option
def status(as_json: bool) -> None:
    """Show an overview: waiting rows, dead letters, workers, pauses and open circuits."""

    async def work(db: Database) -> dict[str, list[dict[str, Any]]]:
        return {
            "waiting": [
                {"stage": stage, "environment": environment, "rows": count, "lateSeconds": round(max(0.0, late), 1)}
                for stage, environment, count, late in await db.run(rows.depth)
            ],
            "deadLetters": [
                {"stage": stage, "environment": environment, "rows": count}
                for stage, environment, count in await db.run(dead_letters.counted)
            ],
            "inDoubt": [
                {"environment": environment, "host": host, "askedAbout": asked, "gaveUp": dead, "since": moment(since)}
                for environment, host, asked, dead, since in await db.run(doubts.counted)
            ],
            "workers": [
                {"process": one.holder, "inFlight": one.holds, "silentSeconds": round(one.silent_for, 1)}
                for one in await db.run(diagnosis.workers)
            ],
            "paused": [
                {
                    "tenant": one.tenant,
                    "environment": one.environment,
                    "since": moment(one.paused_at),
                    "by": one.paused_by,
                    "reason": one.reason,
                }
                for one in await db.run(pauses.everything)
            ],
            "openCircuits": [
                {
                    "environment": one.environment,
                    "host": one.host,
                    "forSeconds": round(one.age.total_seconds(), 1),
                    "failedProbes": one.failed_probes,
                    "reason": one.reason,
                }
                for one in await db.run(circuits.everything)
                if one.is_open
            ],
        }

    found = with_database(settings_with_database(), work)
    if as_json:
        show(found, as_json=True)
        return
    for heading, none in _HEADINGS.items():
        if not found[heading]:
            click.echo(none)
            continue
        click.echo(f"{heading}:")
        show_all(found[heading], as_json=False, none=none)


_HEADINGS = {
    "waiting": "nothing waits",
    "deadLetters": "no dead letters",
    "inDoubt": "nothing is in doubt",
    "workers": "no process works",
    "paused": "nothing is paused",
    "openCircuits": "no circuit is open",
}


@outbox.command("list")
@filters
@click.option("--in-doubt", is_flag=True, help="Unknown outcome: sent, no answer; dead letters or not.")
@click.option("--summary", is_flag=True, help="Count them by cause, stage, environment and tenant.")
@json_option
def list_(in_doubt: bool, summary: bool, as_json: bool, limit: int, **which: Any) -> None:
    """List dead letters, the longest dead first; or submissions in doubt, the longest first."""
    if in_doubt and summary:
        raise click.UsageError("--summary counts dead letters: leave --in-doubt out")
    if summary:
        groups = with_database(settings_with_database(), lambda db: _grouped(db, which))
        _show_groups(groups, as_json=as_json)
        return
    if in_doubt:
        if which["stage"] is not None:
            raise click.UsageError("--stage does not apply to submissions in doubt: the authority is asked about them")
        found = with_database(settings_with_database(), lambda db: _doubts(db, limit, which))
        show_all([_doubt(one) for one in found], as_json=as_json, none="nothing of that is in doubt")
        return
    found_dead = with_database(settings_with_database(), lambda db: find(db, limit, **which))
    show_all([_row(dead_letter) for dead_letter in found_dead], as_json=as_json, none=NONE_MATCHES)


async def _grouped(db: Database, which: dict[str, Any]) -> list[DeadLetterGroup]:
    return await db.run(dead_letters.grouped, await chosen(db, **which))


def _show_groups(groups: list[DeadLetterGroup], *, as_json: bool) -> None:
    """Print one record per group; as text each cause once, with its tenants and the command to replay it."""
    if as_json or not groups:
        rows = [
            {
                "cause": one.cause,
                "stage": one.stage,
                "environment": one.environment,
                "tenant": one.tenant,
                "rows": one.count,
                "oldest": moment(one.oldest),
            }
            for one in groups
        ]
        show_all(rows, as_json=as_json, none=NONE_MATCHES)
        return
    for (cause, stage, environment), alike in groupby(groups, lambda one: (one.cause, one.stage, one.environment)):
        found = list(alike)
        click.echo(f"{sum(one.count for one in found)} in stage {stage} ({environment}): {cause}")
        tenants = [f"{one.tenant} {one.count}" for one in found[:_TENANTS_SHOWN]]
        more = f", and {len(found) - _TENANTS_SHOWN} more" if len(found) > _TENANTS_SHOWN else ""
        oldest = moment(min(one.oldest for one in found))
        click.echo(f"  tenants  {', '.join(tenants)}{more}; the oldest since {oldest}")
        click.echo(
            f"  look     fe outbox replay --dry-run --stage {stage} --environment {environment} --error {quote(cause)}"
        )


async def _doubts(db: Database, limit: int, which: dict[str, Any]) -> list[Doubt]:
    found = await db.run(doubts.listed, await chosen(db, **which), limit + 1)
    if len(found) > limit:
        click.echo(f"only the {limit} longest are shown: --limit raises that", err=True)
    return found[:limit]


@outbox.command("show")
@click.argument("name", metavar="ID")
@json_option
def show_(name: str, as_json: bool) -> None:
    """List the history of one submission, named as for `why`."""

    async def work(db: Database) -> list[dict[str, Any]]:
        found = await _submission(db, name)
        events = await db.run(submissions.timeline, found.tenant_id, found.subject)
        return [
            {"seq": event.seq, "at": moment(event.at), "event": event.kind, "detail": event.detail} for event in events
        ]

    show_all(with_database(settings_with_database(), work), as_json=as_json, none="nothing happened to it")


@outbox.command()
@click.argument("name", metavar="ID")
@json_option
def why(name: str, as_json: bool) -> None:
    """Show why a submission waits, and until when. ID is a taxLogId, a trackId, an e-NCF or a clientRequestId."""

    async def work(db: Database) -> tuple[WaitingSubmission, Diagnosis]:
        found = await _submission(db, name)
        return found, explain(found, LIMITS)

    found, answer = with_database(settings_with_database(), work)
    number = f" {found.e_ncf}" if found.e_ncf else ""
    first = f"{found.subject}{number} of {found.tenant} ({found.environment}) is {found.status}."
    sentences = [str(sentence) for sentence in answer.sentences]
    record = {
        "taxLogId": str(found.subject),
        "tenant": found.tenant,
        "environment": found.environment,
        "status": found.status,
        "stage": found.stage or found.dead_stage,
        "waitsFor": answer.waits_for.value,
        "since": moment(answer.since),
        "until": moment(answer.until),
        "sentences": sentences,
    }
    print_result([first, *sentences], record, as_json=as_json)


async def _submission(db: Database, name: str) -> WaitingSubmission:
    found = await db.run(diagnosis.why, await submission_named(db, name))
    if found is None:
        raise Failure(f"there is no submission {name}")
    return found


@outbox.command()
@filters
@click.option("--dry-run", is_flag=True, help="List the chosen rows and change nothing.")
@click.option("--note-for-client", "note", metavar="TEXT", callback=words, help="Shown to the client, with the error.")
@click.option("--expect", type=click.IntRange(1), metavar="N", help="How many it is to be; needed for more than one.")
@audited
@json_option
def discard(
    dry_run: bool,
    note: str | None,
    expect: int | None,
    by_whom: str,
    reason: str | None,
    as_json: bool,
    limit: int,
    **which: Any,
) -> None:
    """Give dead letters up: their clients see `error`. This cannot be undone, so at least one filter is required.

    For more than one, --expect repeats their number. The reason is for our own records; the note is for the client.
    """
    required(which)
    because = None if dry_run else given(reason)

    async def work(db: Database) -> list[dict[str, Any]]:
        found = await find(db, limit, **which)
        if because is None:
            return [_row(dead_letter) for dead_letter in found]
        if len(found) != (expect or 1) and found:
            raise Failure(f"nothing is done: {len(found)} dead letters match; repeat with --expect {len(found)} if so")
        request = approvals.discard_request(approvals.frozen(found), note)
        await ask_if_bulk(db, "discard", request, act(by_whom, because))
        give_up = partial(dead_letters.discard, note=note)
        done = await act_on_each(db, found, give_up, by_whom, because, clock=system_clock)
        return [{"taxLogId": str(subject), "numberFate": fate} for subject, fate in done.items() if fate]

    show_all(with_database(settings_with_database(), work), as_json=as_json, none=NONE_MATCHES)


@outbox.command()
@click.option("--tenant", "tenant_name", metavar="NAME", help="Only this tenant; without it, all.")
@member_option("--environment", Environment, "Only this environment; without it, all.")
@audited
@json_option
def pause(
    tenant_name: str | None, environment: Environment | None, by_whom: str, reason: str | None, as_json: bool
) -> None:
    """Start no more work on a tenant's rows, or on any. Work in progress finishes; the API answers as before."""
    if not _pause_or_resume(pauses.pause, tenant_name, environment, by_whom, given(reason)):
        raise Failure(f"{_paused(tenant_name, environment)} is paused already")
    record = {"tenant": tenant_name, "environment": environment, "paused": True}
    print_result("paused: `fe outbox resume` with the same options undoes it", record, as_json=as_json)


@outbox.command()
@click.option("--tenant", "tenant_name", metavar="NAME", help="As it was paused.")
@member_option("--environment", Environment, "As it was paused.")
@audited
@json_option
def resume(
    tenant_name: str | None, environment: Environment | None, by_whom: str, reason: str | None, as_json: bool
) -> None:
    """Undo a pause."""
    if not _pause_or_resume(pauses.resume, tenant_name, environment, by_whom, given(reason)):
        raise Failure(f"{_paused(tenant_name, environment)} is not paused (`fe outbox status` shows what is)")
    print_result("resumed", {"tenant": tenant_name, "environment": environment, "paused": False}, as_json=as_json)


@outbox.command()
@click.argument("plan")
@audited
@json_option
def halt(plan: str, by_whom: str, reason: str | None, as_json: bool) -> None:
    """Stop the replay PLAN, whether `fe outbox replay` or the portal runs it, until an operator resumes it."""
    by = act(by_whom, reason)

    async def task(conn: Conn) -> bool:
        return await halt_plan(conn, ReplayPlanId(plan), by)

    if not run_transaction(task):
        raise Failure(f"there is no plan {plan}, or it is over, or was stopped before")
    print_result(f"the replay {plan} is stopped", {"plan": plan, "halted": True}, as_json=as_json)


def _paused(tenant_name: str | None, environment: Environment | None) -> str:
    return f"{tenant_name or 'every tenant'} in {environment or 'every environment'}"


def _pause_or_resume(
    act: Callable[..., Any], tenant_name: str | None, environment: Environment | None, by_whom: str, reason: str
) -> bool:
    async def task(conn: Conn) -> bool:
        tenant = await provision.find_tenant(conn, tenant_name) if tenant_name else None
        done: bool = await act(
            conn,
            OperatorAction.of(by_whom, reason, system_clock()),
            tenant.tenant_id if tenant else None,
            environment,
        )
        return done

    return run_transaction(task)


@outbox.command()
@click.option("--limit", type=click.IntRange(1, 10_000), default=20, show_default=True, help="Most rows, latest first.")
@json_option
def log(limit: int, as_json: bool) -> None:
    """List operators' actions with their reasons."""
    entries = run_query(audit.latest, limit)
    show_all(
        [
            {
                "at": moment(one.at),
                "by": one.by_whom,
                "login": one.login,
                "did": one.action,
                "taxLogId": str(one.subject) if one.subject else None,
                "tenantId": one.tenant_id,
                "reason": one.reason,
                "detail": one.detail,
            }
            for one in entries
        ],
        as_json=as_json,
        none="operators did nothing yet",
    )


def _row(dead_letter: DeadLetter) -> dict[str, Any]:
    return {
        "taxLogId": str(dead_letter.subject),
        "tenant": dead_letter.tenant,
        "environment": dead_letter.environment,
        "stage": dead_letter.stage,
        "eNCF": dead_letter.e_ncf,
        "diedAt": moment(dead_letter.died_at),
        "sends": dead_letter.sends,
        "error": dead_letter.error,
        "cause": dead_letter.cause,
    }


def _doubt(one: Doubt) -> dict[str, Any]:
    return {
        "taxLogId": str(one.subject),
        "tenant": one.tenant,
        "environment": one.environment,
        "host": one.host,
        "eNCF": one.e_ncf,
        "state": "gave up" if one.gave_up else "asked about",
        "since": moment(one.since),
        "openSends": one.open_sends,
        "lastSentAt": moment(one.last_sent_at),
        "error": one.error,
    }
