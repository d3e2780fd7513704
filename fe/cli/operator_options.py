"""Options of operators' commands: which dead letters, which operator, and why."""

import os
import pwd
from collections.abc import Callable
from datetime import timedelta
from enum import StrEnum
from typing import Any, TypeVar

import click

from fe.accounts import provision
from fe.accounts.audited_changes import Author
from fe.cli.failures import Failure
from fe.clock import system_clock
from fe.ecf.catalogue import Environment
from fe.identifiers import SubmissionId
from fe.lifecycle import Stage, Status
from fe.store.postgres.db import Database
from fe.store.queue import dead_letters
from fe.store.queue.audit import LONGEST_REASON, OperatorAction
from fe.store.queue.dead_letters import DeadLetter, DeadLetterFilter
from fe.store.records import label_lookup
from fe.store.records.label_lookup import NamedSubmission

F = TypeVar("F", bound=Callable[..., Any])

#: States that free the number again.
_WITHOUT_NUMBER = frozenset({Status.REJECTED, Status.ERROR})


def member_option(name: str, kind: type[StrEnum], words: str) -> Callable[[F], F]:
    """Add an option that names a member of `kind`, or is left out."""
    return click.option(
        name,
        type=click.Choice([member.value for member in kind]),
        callback=lambda _ctx, _param, value: None if value is None else kind(value),
        help=words,
    )


def filters(command: F) -> F:
    """Add the options that say which dead letters are meant."""
    for option in reversed(
        (
            click.option("--tenant", "tenant_name", metavar="NAME", help="Only of this tenant."),
            member_option("--environment", Environment, "Only of this environment."),
            member_option("--stage", Stage, "Only of this stage."),
            click.option("--error", metavar="TEXT", help="Only with this in the text of the error or its cause."),
            click.option("--older-than", type=float, metavar="MINUTES", help="Only those dead for at least MINUTES."),
            click.option("--encf", "e_ncf", metavar="NUMBER", help="Only of this e-NCF."),
            click.option(
                "--id",
                "ids",
                multiple=True,
                metavar="ID",
                help="Only this (by any of its names); may be repeated.",
            ),
            click.option(
                "--limit",
                type=click.IntRange(1, 100_000),
                default=1000,
                show_default=True,
                help="Most rows; the longest dead come first.",
            ),
        )
    ):
        command = option(command)
    return command


def audited(command: F) -> F:
    """Add the options for author and reason, stored with every audit entry."""
    command = click.option("--reason", metavar="TEXT", callback=words, help="Why; kept on record.")(command)
    return by_option(command)


def by_option(command: F) -> F:
    """Add the option for the author: stored as the system user, with the value of `--by` behind it."""
    return click.option(
        "--by", "by_whom", callback=_identity, metavar="NAME", help="For whom; kept beside your user of this system."
    )(command)


def words(_ctx: click.Context, _param: click.Parameter, value: str | None) -> str | None:
    """Check that a text is neither empty nor too long."""
    if value is not None and not 1 <= len(value.strip()) <= LONGEST_REASON:
        raise click.BadParameter(f"should be 1 to {LONGEST_REASON} characters")
    return value


def _identity(_ctx: click.Context, _param: click.Parameter, said: str | None) -> str:
    me = system_user()
    return me if said is None else f"{me} ({said})"


def system_user() -> str:
    """Name the user that the system knows this process to be; its environment (LOGNAME, USER) is only said."""
    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:  # a container's user without a name
        return f"uid {os.getuid()}"


def act(by_whom: str, reason: str | None) -> OperatorAction:
    """Return the operator's action, now, with its reason."""
    return OperatorAction.of(by_whom, given(reason), system_clock())


def author(by_whom: str, action: OperatorAction | None = None) -> Author:
    """Return the author of a change to a tenant's data (fe/accounts/audited_changes.py)."""
    return Author(by_whom, system_clock() if action is None else action.at, "cli", operator=action)


def given(reason: str | None) -> str:
    """Ask for the reason, which is required."""
    if reason is None:
        raise click.UsageError("Missing option '--reason': it is kept on record.")
    return reason


NONE_MATCHES = "no dead letter matches"


def required(which: dict[str, Any]) -> None:
    """Refuse an act on all dead letters there are: at least one filter has to be given."""
    if all(value in (None, ()) for value in which.values()):
        raise click.UsageError("choose dead letters with at least one filter, best with --id")


async def chosen(
    db: Database,
    *,
    tenant_name: str | None,
    environment: Environment | None,
    stage: Stage | None,
    error: str | None,
    older_than: float | None,
    e_ncf: str | None,
    ids: tuple[str, ...],
) -> DeadLetterFilter:
    """Turn the options of `filters` into a filter."""
    tenant = await db.run(provision.find_tenant, tenant_name) if tenant_name else None
    return DeadLetterFilter(
        tenant_id=tenant.tenant_id if tenant else None,
        environment=environment,
        stage=stage,
        error=error,
        older_than=timedelta(minutes=older_than) if older_than is not None else None,
        e_ncf=e_ncf,
        subjects=tuple([await submission_named(db, name) for name in ids]) or None,
    )


async def find(db: Database, limit: int, **which: Any) -> list[DeadLetter]:
    """Find the dead letters that are meant; says on stderr when there are more than `limit`."""
    found = await db.run(dead_letters.listed, await chosen(db, **which), limit + 1)
    if len(found) > limit:
        click.echo(f"only the {limit} longest dead are taken: --limit raises that", err=True)
    return found[:limit]


async def submission_named(db: Database, name: str) -> SubmissionId:
    """Return the id of the submission that `receipt_named` finds."""
    return (await receipt_named(db, name)).subject


async def receipt_named(db: Database, name: str) -> NamedSubmission:
    """Find a submission by taxLogId, trackId, e-NCF or clientRequestId. Raises Failure when none or several match.

    Of several submissions with one number, the one that holds it is meant; rejected ones freed it.
    """
    found = await db.run(label_lookup.named, name)
    if not found:
        raise Failure(f"there is no submission {name}")
    holders = [one for one in found if one.status not in _WITHOUT_NUMBER]
    if len(found) == 1 or len(holders) == 1:
        return (holders or found)[0]
    every = ", ".join(f"{one.subject} of {one.tenant} ({one.environment}, {one.status})" for one in found)
    raise Failure(f"{name} matches {len(found)} submissions, choose one by its taxLogId: {every}")
