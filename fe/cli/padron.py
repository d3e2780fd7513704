"""`fe padron`: the authority's register of taxpayers."""

import tempfile
from pathlib import Path

import click

from fe.catalogue.taxpayers import RegisteredTaxpayer
from fe.cli.failures import Failure
from fe.cli.operator_options import by_option
from fe.cli.printing import json_option, print_result, show
from fe.cli.session import run_query, settings_with_database, with_database
from fe.clock import iso, system_clock
from fe.ecf.identity import tax_id
from fe.operations import register
from fe.operations.register import BadRegister, LoadReport
from fe.store.postgres.db import Conn, Database
from fe.store.records import taxpayers
from fe.store.records.taxpayers import Register


@click.group()
def padron() -> None:
    """Load the authority's register of taxpayers, and look numbers up in it."""


@padron.command()
@click.argument("source", metavar="FILE|URL")
@click.option("--smaller", is_flag=True, help="Also a register with far fewer rows than that in force.")
@by_option
@json_option
def load(source: str, smaller: bool, by_whom: str, as_json: bool) -> None:
    """Put the register of a ZIP in force, whole or not at all: a FILE, or a URL from which it is fetched."""
    settings = settings_with_database()
    try:
        with tempfile.NamedTemporaryFile(suffix=".zip") as fetched:
            path = Path(source)
            if source.startswith(("http://", "https://")):
                register.fetch(source, fetched)
                fetched.flush()
                path = Path(fetched.name)

            async def work(db: Database) -> LoadReport:
                return await register.load(db, path, system_clock(), by_whom, smaller=smaller)

            report = with_database(settings, work)
    except BadRegister as bad:
        raise Failure(f"{bad}; the register in force stays") from None
    for number, why in report.named:
        click.echo(f"line {number} was left out: {why}", err=True)
    made = {"rows": report.rows, "leftOut": report.bad}
    print_result(f"{report.rows} taxpayers are in force, {report.bad} lines were left out", made, as_json=as_json)


@padron.command("show")
@click.argument("rnc", required=False)
@json_option
def show_(rnc: str | None, as_json: bool) -> None:
    """Show the register in force, or what it has of an RNC or cédula."""
    if rnc is None:
        found = run_query(taxpayers.current)
        if found is None:
            raise Failure("no register is loaded: fe padron load FILE")
        show(_of_register(found), as_json=as_json)
        return
    number = tax_id(rnc.replace("-", ""))
    if number is None:
        raise click.UsageError("an RNC has 9 digits and a cédula 11")

    async def find(conn: Conn) -> RegisteredTaxpayer | None:
        return await taxpayers.find(conn, number.digits)

    taxpayer = run_query(find)
    if taxpayer is None:
        raise Failure(f"the register has no {number.digits}, or none is loaded")
    show(_of_taxpayer(taxpayer), as_json=as_json)


def _of_register(found: Register) -> dict[str, object]:
    return {"rows": found.rows, "loadedAt": iso(found.loaded_at), "loadedBy": found.loaded_by}


def _of_taxpayer(found: RegisteredTaxpayer) -> dict[str, object]:
    return {
        "rnc": found.rnc,
        "name": found.name,
        "tradeName": found.trade_name,
        "activity": found.activity,
        "status": found.status,
        "regime": found.regime,
    }
