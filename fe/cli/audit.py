"""`fe audit`: export and verify the log of changes to the installation."""

import sys
from collections.abc import Iterator
from pathlib import Path

import click

from fe.cli.failures import Failure
from fe.cli.printing import json_option, print_result
from fe.cli.session import settings_with_database, with_database
from fe.operations import audit_chain
from fe.operations.audit_chain import Chain, NotALink
from fe.store.postgres.db import Database
from fe.store.records import audit_trail
from fe.store.records.audit_trail import Link

_PAGE = 1000


@click.group()
def audit() -> None:
    """Export the changes of tenants, users, keys, certificates and dead letters, and prove the log unchanged."""


@audit.command()
@click.option("--after", type=click.IntRange(-1), default=-1, help="Only links with a higher number than this.")
def export(after: int) -> None:
    """Write the log to standard output, one JSON entry per line. An exported copy reveals a later cut."""

    async def work(db: Database) -> None:
        last = after
        while page := await db.run(audit_trail.after, last, _PAGE):
            for link in page:
                click.echo(audit_chain.export(link))
            last = page[-1].number

    with_database(settings_with_database(), work)


@audit.command()
@click.option("--file", "path", type=click.Path(path_type=Path, exists=True, dir_okay=False), help="An export instead.")
@click.option("--expect", metavar="HASH", help="A hash that was noted earlier: it has to be in the chain still.")
@json_option
def verify(path: Path | None, expect: str | None, as_json: bool) -> None:
    """Check the audit log, or a whole export (without a database). Errors go to stderr, with exit code 1."""
    chain, seen, wrong = Chain(), expect is None, list[str]()

    def look(links: list[Link]) -> None:
        nonlocal seen
        for link in links:
            wrong.extend(chain.faults(link))
            seen = seen or link.hash.hex() == expect

    if path is not None:
        look(list(_read(path)))
    else:

        async def work(db: Database) -> None:
            last = -1
            while page := await db.run(audit_trail.after, last, _PAGE):
                look(page)
                last = page[-1].number

        with_database(settings_with_database(), work)
    if chain.last is None:
        wrong.append("there is no link at all: not even the first")
    if not seen:
        wrong.append(f"the hash {expect} is not in the chain: links were cut off, or it is of another installation")
    for fault in wrong:
        click.echo(fault, err=True)
    if as_json or not wrong:
        last = None if chain.last is None else chain.last.hex()
        words = f"{chain.links} links, last hash {last}: nothing was changed"
        print_result(words, {"links": chain.links, "lastHash": last, "faults": wrong}, as_json=as_json)
    if wrong:
        sys.exit(1)


def _read(path: Path) -> Iterator[Link]:
    with path.open(encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            try:
                yield audit_chain.read_export(line)
            except NotALink as wrong:
                raise Failure(f"{path}, line {number}: {wrong}") from None
