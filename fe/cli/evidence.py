"""`fe evidence`: a submission's story, exported and proved."""

import json
import sys
from pathlib import Path
from typing import Any
from uuid import UUID

import click

from fe.cli.failures import Failure
from fe.cli.session import settings_with_database, with_database
from fe.ecf.load import MalformedJson, load_json
from fe.flows import evidence as proofs
from fe.store import dead_letters
from fe.store import evidence as stored
from fe.store.db import Database

_MAX_EXPORT = 64 * 1024 * 1024


@click.group()
def evidence() -> None:
    """Export what happened to a submission, and prove that nobody changed it since."""


@evidence.command()
@click.argument("tax_log_id", type=click.UUID)
def export(tax_log_id: UUID) -> None:
    """Write the story of TAX_LOG_ID, its documents included, as one JSON object to standard output."""
    story = with_database(settings_with_database(), lambda db: _story(db, tax_log_id))
    click.echo(json.dumps(story, ensure_ascii=False))


@evidence.command()
@click.argument("tax_log_id", type=click.UUID, required=False)
@click.option("--file", "path", type=click.Path(path_type=Path, exists=True, dir_okay=False), help="An export instead.")
def verify(tax_log_id: UUID | None, path: Path | None) -> None:
    """Check the chain of a submission, in the database or in an exported file; no database is needed for a file."""
    if (tax_log_id is None) == (path is None):
        raise click.UsageError("give either TAX_LOG_ID or --file")
    if path is not None:
        exported = _read(path)
    else:
        assert tax_log_id is not None
        exported = with_database(settings_with_database(), lambda db: _story(db, tax_log_id))
    found = list(proofs.faults(exported))
    for fault in found:
        click.echo(fault, err=True)
    if found:
        sys.exit(1)
    click.echo(f"{len(exported['events'])} events, last hash {exported['events'][-1]['hash']}: nothing was changed")


async def _story(db: Database, tax_log_id: UUID) -> dict[str, Any]:
    waiting = await db.run(dead_letters.why, tax_log_id)
    if waiting is None:
        raise Failure(f"there is no submission {tax_log_id}")
    links, documents = await db.run(stored.story, waiting.tenant_id, tax_log_id)
    return proofs.export(links, documents)


def _read(path: Path) -> dict[str, Any]:
    try:
        value = load_json(path.read_bytes(), max_bytes=_MAX_EXPORT)
    except MalformedJson as wrong:
        raise Failure(f"{path}: {wrong.message}") from None
    if not isinstance(value, dict):
        raise Failure(f"{path}: should hold one JSON object")
    return value
