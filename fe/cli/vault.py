"""`fe vault`: the key that all other secrets at rest are wrapped with."""

from functools import partial

import click
import trio

from fe.cli.failures import CONFIGURATION, Failure
from fe.cli.session import json_option, settings_with_database, show
from fe.hsm import open_vault
from fe.operations.rewrap import Rewrapping
from fe.operations.rewrap import rewrap as rewrap_all
from fe.store.postgres.db import open_database
from fe.store.postgres.migrate import verify
from fe.vault import Vault


@click.group()
def vault() -> None:
    """Rotate the key-encryption key."""


@vault.command()
@click.option("--dry-run", is_flag=True, help="Try everything, count it, and write nothing.")
@click.option(
    "--batch", type=click.IntRange(1, 10_000), default=100, show_default=True, help="So many are fetched at once."
)
@json_option
def rewrap(dry_run: bool, batch: int, as_json: bool) -> None:
    """Wrap all certificates under the first key of FE_KEK, so that those behind it can be taken out.

    Each one is a transaction of its own: this may be stopped anywhere and run again, and the service goes on working.
    All its processes have to know the first key already. The login needs the rights of the actors, and one that they do
    not have: UPDATE (p12, passphrase) ON certificates.
    """
    settings = settings_with_database(as_it_is=True)
    assert settings.database_url is not None
    verify(settings.database_url)
    keks = open_vault(settings)
    found = trio.run(partial(_rewrap, settings.database_url, keks, batch, dry_run))
    show(
        {
            "firstKey": keks.current,
            "certificates": found.certificates,
            "underFirstKey": found.current,
            "underOlderKeys": found.older,
            "rewrapped": found.rewrapped,
            "keyMissing": sum(found.lacking.values()),
            "damaged": len(found.broken),
        },
        as_json=as_json,
    )
    if found.lacking:
        missing = ", ".join(f"{kek_id!r} ({count})" for kek_id, count in sorted(found.lacking.items()))
        raise Failure(f"not configured, and needed by so many certificates: {missing}; add to FE_KEK", CONFIGURATION)
    if found.broken:
        which = ", ".join(str(certificate_id) for certificate_id in found.broken[:10])
        raise Failure(f"{len(found.broken)} certificates do not open with their key: {which}")


async def _rewrap(dsn: str, keks: Vault, batch: int, dry_run: bool) -> Rewrapping:
    # In no role: none may replace what is encrypted, so the right is given to the login.
    async with open_database(dsn, max_size=2) as db:
        return await rewrap_all(db, keks, batch=batch, dry_run=dry_run)
