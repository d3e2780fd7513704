"""`fe evidence`: export and verify a submission's history."""

import sys
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import click
import trio

from fe.accounts import provision
from fe.archiving.documents import read_place
from fe.cli.evidence_missing import missing
from fe.cli.failures import Failure
from fe.cli.operator_options import submission_named
from fe.cli.printing import json_option, print_json, print_result
from fe.cli.session import settings_with_database, with_database
from fe.clock import system_clock
from fe.config import load_settings
from fe.ecf.parse import MalformedJson, parse_json
from fe.identifiers import SubmissionId
from fe.objects.configured import archive_store
from fe.objects.storage import StorageError
from fe.operations import evidence as proofs
from fe.store.postgres.db import Database
from fe.store.records import archive_places
from fe.store.records import evidence as stored
from fe.store.records.evidence import Bytes, Evidence

_MAX_EXPORT = 64 * 1024 * 1024

_DAY = click.DateTime(["%Y-%m-%d"])


@click.group()
def evidence() -> None:
    """Export a submission's history, and prove it unchanged."""


evidence.add_command(missing)


@evidence.command()
@click.argument("name", metavar="ID")
def export(name: str) -> None:
    """Write the history of ID, its documents included, as one JSON object to standard output.

    ID is a taxLogId, a trackId, an e-NCF or a clientRequestId.
    """
    found = with_database(settings_with_database(), lambda db: _named(db, name))
    print_json(proofs.export(found))  # the exact bytes that were hashed, not our form of JSON


@evidence.command()
@click.argument("name", metavar="[ID]", required=False)
@click.option("--file", "path", type=click.Path(path_type=Path, exists=True, dir_okay=False), help="An export instead.")
@click.option("--expect", metavar="HASH", help="A hash that was noted earlier: it has to be in the chain still.")
@click.option("--tenant", "tenant_name", metavar="NAME", help="All submissions of this tenant instead.")
@click.option("--since", type=_DAY, help="With --tenant: accepted on this day (UTC) or later.")
@click.option("--until", type=_DAY, help="With --tenant: accepted on this day (UTC) or before.")
@json_option
def verify(
    name: str | None,
    path: Path | None,
    expect: str | None,
    tenant_name: str | None,
    since: datetime | None,
    until: datetime | None,
    as_json: bool,
) -> None:
    """Check the chain of a submission, of an exported file (without a database), or of all of a tenant's submissions.

    Changes are reported on stderr, with exit code 1.
    """
    if (name, path, tenant_name).count(None) != 2:
        raise click.UsageError("give one of ID, --file and --tenant")
    if expect is not None and tenant_name is not None:
        raise click.UsageError("--expect goes with one submission")
    if tenant_name is not None:
        _verify_all(tenant_name, since, until, as_json=as_json)
        return
    if path is not None:
        found = _read(path)
    else:
        assert name is not None
        one = name
        found = with_database(settings_with_database(), lambda db: _named(db, one))
    wrong = [f"{found.submission_id}: {fault}" for fault in proofs.faults(found, expected_hash=expect)]
    last = found.links[-1].hash.hex() if found.links else None
    record = {"taxLogId": found.submission_id, "events": len(found.links), "lastHash": last}
    _conclude(f"{len(found.links)} events, last hash {last}", record, wrong, as_json=as_json)


def _verify_all(tenant_name: str, since: datetime | None, until: datetime | None, *, as_json: bool) -> None:
    first = since.replace(tzinfo=UTC) if since else datetime(1970, 1, 1, tzinfo=UTC)
    last = until.replace(tzinfo=UTC) + timedelta(days=1) if until else system_clock() + timedelta(days=1)

    async def work(db: Database) -> tuple[int, list[str]]:
        tenant = await db.run(provision.find_tenant, tenant_name)
        checked, wrong, after = 0, list[str](), SubmissionId(UUID(int=0))
        while page := await db.run(stored.submissions_of, tenant.tenant_id, first, last, after):
            for submission_id in page:
                one = await _stored(db, submission_id)
                wrong += [f"{submission_id}: {fault}" for fault in proofs.faults(one)]
            checked, after = checked + len(page), page[-1]
        return checked, wrong

    checked, wrong = with_database(settings_with_database(), work)
    record = {"tenant": tenant_name, "submissions": checked}
    _conclude(f"{checked} submissions checked", record, wrong, as_json=as_json)


def _conclude(words: str, record: dict[str, Any], wrong: list[str], *, as_json: bool) -> None:
    """Print the result: errors on stderr with exit code 1, and in the record for programs."""
    for fault in wrong:
        click.echo(fault, err=True)
    if as_json or not wrong:
        print_result(f"{words}: nothing was changed", {**record, "faults": wrong}, as_json=as_json)
    if wrong:
        sys.exit(1)


async def _named(db: Database, name: str) -> Evidence:
    return await _stored(db, await submission_named(db, name))


async def _stored(db: Database, tax_log_id: SubmissionId) -> Evidence:
    found = await db.transact(stored.read, tax_log_id)
    if found is None:
        raise Failure(f"there is no submission {tax_log_id}")
    return found if found.documents else await _with_archived(db, found)


async def _with_archived(db: Database, found: Evidence) -> Evidence:
    """Add the documents of a month that left the database."""
    place = await db.run(archive_places.place_of, found.tenant_id, found.submission_id)
    if place is None:
        return found
    store = archive_store(load_settings())
    if store is None:
        raise Failure("its documents are in the archive alone, and FE_ARCHIVE is not set")
    try:
        documents = await trio.to_thread.run_sync(read_place, store, place)
    except StorageError as error:
        raise Failure(f"its documents cannot be read from the archive: {error}") from None
    return replace(found, documents=tuple(Bytes(kind, content) for kind, content in sorted(documents.items())))


def _read(path: Path) -> Evidence:
    try:
        value = parse_json(path.read_bytes(), max_bytes=_MAX_EXPORT)
    except MalformedJson as wrong:
        raise Failure(f"{path}: {wrong.message}") from None
    if not isinstance(value, dict):
        raise Failure(f"{path}: should hold one JSON object")
    try:
        return proofs.read_export(value)
    except proofs.NotAnExport as wrong:
        raise Failure(f"{path}: {wrong}") from None
