"""`fe archive key`, `check`, `detach` and `restore`: the operator's side of the archive."""

import sys
from base64 import b64encode
from collections.abc import Awaitable, Callable
from typing import TypeVar

import click

from fe.accounts import provision
from fe.archive.keys import MemoryKey
from fe.archiving import months
from fe.archiving.checking import check as check_chain
from fe.cli.failures import Failure
from fe.cli.operator_options import by_option
from fe.cli.printing import json_option, show, show_all
from fe.cli.session import settings_with_database, with_database
from fe.clock import system_clock
from fe.config import Settings
from fe.ecf.catalogue import Environment
from fe.month.period import YearMonth
from fe.objects.configured import archive_store
from fe.objects.storage import ObjectStore, StorageError
from fe.store.postgres.db import Conn, Database
from fe.store.queue import audit
from fe.store.queue.audit import OperatorAction
from fe.store.records import archive_places
from fe.store.records.archive import PackageChain

T = TypeVar("T")

#: Reasons and faults that are shown.
_SHOWN = 20


@click.command()
def key() -> None:
    """Make an archive key: the value of FE_ARCHIVE_KEY. Its public part goes into every package.

    Write it to a file that only the service reads (FE_ARCHIVE_KEY_FILE), and keep a copy elsewhere.
    """
    click.echo(b64encode(MemoryKey.generate().to_der()).decode())


@click.command()
@click.option("--tenant", "tenant_name", required=True, metavar="NAME", help="The tenant, by its name.")
@click.option("--read", "reads", is_flag=True, help="Read every object and compare its digest, not its size alone.")
@json_option
def check(tenant_name: str, reads: bool, as_json: bool) -> None:
    """Compare all receipts of a tenant with the archive, and the archive's objects with their packages.

    Exit code 1 when a receipt is missing or an object differs. Missing receipts are archived in the next round.
    """
    settings, store = open_archive()

    async def work(db: Database) -> list[dict[str, object]]:
        tenant = await db.run(provision.find_tenant, tenant_name)
        found: list[dict[str, object]] = []
        for environment in Environment:
            chain = PackageChain(tenant.tenant_id, environment)
            missing, faults = await check_chain(db, store, system_clock, chain, all_receipts=True, reads=reads)
            found.append({"environment": environment.value, "missing": missing, "faults": faults})
        return found

    found = _run(settings, work)
    show_all(found, as_json=as_json, none="-")
    if any(one["missing"] or one["faults"] for one in found):
        sys.exit(1)


def _month(_context: click.Context, _parameter: click.Parameter, value: str) -> YearMonth:
    month = YearMonth.read(value)
    if month is None:
        raise click.BadParameter("write it as YYYY-MM")
    return month


_month_argument = click.argument("month", metavar="YYYY-MM", callback=_month)


@click.command()
@_month_argument
@click.option("--yes", is_flag=True, help="Do it; without it, say what would happen.")
@by_option
@json_option
def detach(month: YearMonth, yes: bool, by_whom: str, as_json: bool) -> None:
    """Take the documents of a month (of UTC) out of the database, once the archive has them all.

    Refused while a receipt is open, not archived, or settled for less than 35 days. Every package is read back, and
    every document compared with the database. Rows, timelines, numbers and clientRequestIds stay, and so do documents
    of notes, of purchases (E41, E43, E47), of approvals and of receipts that ended as `error`.
    """
    settings, store = open_archive()

    async def work(db: Database) -> tuple[dict[str, object], list[str]]:
        receipts, reasons = await months.reasons(db, system_clock, month)
        why = [f"tenant {one.tenant_id}: {one.receipts} receipts {one.why}" for one in reasons]
        made: dict[str, object] = {"month": str(month), "receipts": receipts}
        made |= dict.fromkeys(("verified", "documentsReleased", "documentsKept"))
        if why or not yes or not receipts:
            return made, why
        verified, faults = await months.verify_month(db, store, month)
        if faults:
            return made, faults
        released, kept = await db.transact(_release, month, by_whom)
        return made | {"verified": verified, "documentsReleased": released, "documentsKept": kept}, []

    made, why = _run(settings, work)
    if why:
        raise Failure("the month stays in the database:\n" + "\n".join(why[:_SHOWN]))
    show(made, as_json=as_json)


async def _release(conn: Conn, month: YearMonth, by_whom: str) -> tuple[int, int]:
    released, kept = await archive_places.release(conn, month)
    detail = {"month": str(month), "documentsReleased": released, "documentsKept": kept}
    await _record(conn, "archive detach", by_whom, detail)
    return released, kept


async def _record(conn: Conn, action: str, by_whom: str, detail: dict[str, object]) -> None:
    by = OperatorAction.of(by_whom, f"fe {action}", system_clock())
    await audit.record(conn, by, action, None, None, detail)


@click.command()
@_month_argument
@by_option
@json_option
def restore(month: YearMonth, by_whom: str, as_json: bool) -> None:
    """Put the documents of a month back into the database, each verified. It may be repeated, and continues then."""
    settings, store = open_archive()

    async def work(db: Database) -> tuple[int, list[str]]:
        restored, faults = await months.restore_month(db, store, month)
        detail: dict[str, object] = {"month": str(month), "restored": restored, "faults": len(faults)}
        await db.transact(_record, "archive restore", by_whom, detail)
        return restored, faults

    restored, faults = _run(settings, work)
    show({"month": str(month), "restored": restored, "faults": faults[:_SHOWN]}, as_json=as_json)
    if faults:
        sys.exit(1)


def open_archive() -> tuple[Settings, ObjectStore]:
    """Open the archive's store. Raises Failure where there is none."""
    settings = settings_with_database()
    store = archive_store(settings)
    if store is None:
        raise Failure("FE_ARCHIVE is not set: there is no archive")
    return settings, store


def _run(settings: Settings, work: Callable[[Database], Awaitable[T]]) -> T:
    try:
        return with_database(settings, work)
    except StorageError as error:
        raise Failure(f"the archive's store failed: {error}") from None
