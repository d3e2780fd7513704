"""`fe archive export`: hand over the whole archive of a tenant whose contract ends."""

import sys
from contextlib import ExitStack
from pathlib import Path

import click

from fe.accounts import provision
from fe.archiving.export import WholeArchive
from fe.cli.archive import open_archive
from fe.cli.failures import Failure
from fe.cli.operator_options import by_option
from fe.cli.printing import json_option, show
from fe.cli.session import with_database
from fe.clock import system_clock
from fe.objects.storage import StorageError
from fe.store.postgres.db import Database


@click.command()
@click.option("--tenant", "tenant_name", required=True, metavar="NAME", help="The tenant, by its name.")
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path))
@by_option
@json_option
def export(tenant_name: str, folder: Path, by_whom: str, as_json: bool) -> None:
    """Hand over a tenant's whole archive: write all packages, the verifier and a protocol into FOLDER.

    Every package is compared with its digest. Exit code 1 when one differs, or a receipt that ended is not archived
    yet; the protocol says so. A handover without faults is recorded.
    """
    settings, store = open_archive()
    if folder.exists() and any(folder.iterdir()):
        raise Failure(f"{folder} is not empty: name a folder that is")

    async def work(db: Database) -> WholeArchive:
        tenant = await db.run(provision.find_tenant, tenant_name)
        whole = WholeArchive(db, store, tenant, by_whom, system_clock())
        name, file = "", None
        with ExitStack() as files:
            async for current, part in whole.chunks():
                if current != name:
                    files.close()
                    path = folder / current
                    path.parent.mkdir(parents=True, exist_ok=True)
                    name, file = current, files.enter_context(path.open("wb"))
                assert file is not None
                file.write(part)
        return whole

    try:
        whole = with_database(settings, work)
    except StorageError as error:
        raise Failure(f"the archive's store failed: {error}") from None
    made = whole.handover
    assert made is not None
    show(
        {
            "packages": made.packages,
            "receipts": made.receipts,
            "notArchived": whole.not_archived,
            "protocolSha256": made.protocol.hex(),
            "faults": whole.faults,
        },
        as_json=as_json,
    )
    if whole.faults or whole.not_archived:
        sys.exit(1)
