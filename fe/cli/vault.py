"""`fe vault`: the keys that all secrets at rest are wrapped with."""

from collections.abc import Sequence
from functools import partial

import click
import trio

from fe.cli.failures import CONFIGURATION, Failure
from fe.cli.printing import Record, json_option, show_all
from fe.cli.session import settings_with_database
from fe.operations.rewrap import OF_CERTIFICATES, OF_WEBHOOKS, Encrypted, Rewrapping, require_rights
from fe.operations.rewrap import rewrap as rewrap_all
from fe.secrets.hsm import open_vault
from fe.secrets.vault import Vault
from fe.store.engines import engine_named
from fe.store.postgres.db import open_database
from fe.store.postgres.engine import Engine
from fe.store.postgres.migrate import verify
from fe.webhooks.secrets import webhook_vault

#: Kinds of encrypted values, each with its keys and their setting.
_Task = tuple[Encrypted, Vault, str]


@click.group()
def vault() -> None:
    """Rotate the keys that secrets at rest are wrapped with."""


@vault.command()
@click.option("--dry-run", is_flag=True, help="Try everything, count it, and write nothing.")
@click.option(
    "--batch", type=click.IntRange(1, 10_000), default=100, show_default=True, help="So many are fetched at once."
)
@json_option
def rewrap(dry_run: bool, batch: int, as_json: bool) -> None:
    """Rewrap everything that is encrypted under the current key, so that older keys can be removed.

    Certificates and seeds of second factors use FE_KEK; secrets and headers of webhooks use FE_WEBHOOK_KEYS, if set.
    Each row is its own transaction: the command may be stopped and repeated while the service runs. All processes must
    have the new key already. The login needs the actors' rights and UPDATE of the encrypted columns
    (ops/runbooks/rotate-secrets.md).
    """
    settings = settings_with_database(as_it_is=True)
    assert settings.database_url is not None
    engine = engine_named(settings.database_engine)
    verify(settings.database_url, engine=engine)
    tasks: list[_Task] = [(kind, open_vault(settings), "FE_KEK") for kind in OF_CERTIFICATES]
    webhooks = webhook_vault(settings)
    if webhooks is not None:
        tasks += [(kind, webhooks.vault, "FE_WEBHOOK_KEYS") for kind in OF_WEBHOOKS]
    done = trio.run(partial(_rewrap, settings.database_url, engine, tasks, batch, dry_run))
    records = [_record(one, keks) for one, (_, keks, _) in zip(done, tasks, strict=True)]
    show_all(records, as_json=as_json, none="")
    if webhooks is None:
        click.echo("fe: FE_WEBHOOK_KEYS is not set: webhooks are not looked at", err=True)
    for one, (_, _, setting) in zip(done, tasks, strict=True):
        if one.lacking:
            missing = ", ".join(f"{kek_id!r} ({count})" for kek_id, count in sorted(one.lacking.items()))
            raise Failure(
                f"not configured, and needed by so many {one.kind.name}: {missing}; add to {setting}", CONFIGURATION
            )
    for one in done:
        if one.broken:
            which = ", ".join(str(row_id) for row_id in one.broken[:10])
            raise Failure(f"{len(one.broken)} {one.kind.name} do not open with their key: {which}")


async def _rewrap(dsn: str, engine: Engine, tasks: Sequence[_Task], batch: int, dry_run: bool) -> list[Rewrapping]:
    # No role may replace encrypted values, so the login itself gets the right.
    async with open_database(dsn, max_size=2, engine=engine) as db:
        await require_rights(db, [kind for kind, _, _ in tasks], dry_run=dry_run)
        return [await rewrap_all(db, kind, keks, batch=batch, dry_run=dry_run) for kind, keks, _ in tasks]


def _record(one: Rewrapping, keks: Vault) -> Record:
    return {
        "what": one.kind.name,
        "firstKey": keks.current,
        "found": one.found,
        "underFirstKey": one.current,
        "underOlderKeys": one.older,
        "rewrapped": one.rewrapped,
        "keyMissing": sum(one.lacking.values()),
        "damaged": len(one.broken),
    }
