"""`fe rates`: the rates of the additional taxes, which are indexed every quarter."""

from datetime import date, datetime
from decimal import Decimal, InvalidOperation
from typing import Any

import click

from fe.cli.failures import Failure
from fe.cli.operator_options import by_option
from fe.cli.printing import json_option, moment, print_result, show_all
from fe.cli.session import run_query, run_transaction, settings_with_database, with_database
from fe.clock import system_clock
from fe.ecf.taxes import ADDITIONAL_TAXES, RATES, SPECIFIC, TaxKind, quarter_end
from fe.issuing.rates import known_periods
from fe.store.postgres.db import Conn, Database
from fe.store.records import excise_rates
from fe.store.records.excise_rates import ExciseRate

#: Names for the codes that a resolution changes together.
GROUPS = {
    "alcohol": tuple(code for code, tax in ADDITIONAL_TAXES.items() if tax.kind is TaxKind.SPECIFIC_ALCOHOL),
    "cigarettes-20": ("019", "020"),
    "cigarettes-10": ("021", "022"),
}

_DAY = click.DateTime(["%Y-%m-%d"])


@click.group()
def rates() -> None:
    """Set and list the rates of the additional taxes (codes 001 to 039)."""


def _codes(_ctx: click.Context, _param: click.Parameter, value: str) -> tuple[str, ...]:
    codes = GROUPS.get(value, (value,))
    if any(code not in ADDITIONAL_TAXES for code in codes):
        raise click.BadParameter(f"a code from 001 to 039, or one of {', '.join(GROUPS)}")
    return codes


def _amount(_ctx: click.Context, _param: click.Parameter, value: str) -> Decimal:
    try:
        amount = Decimal(value)
    except InvalidOperation:
        raise click.BadParameter("a number such as 752.10") from None
    if not amount.is_finite() or not 0 < amount < 1000 or amount != amount.quantize(Decimal("0.01")):
        raise click.BadParameter("above 0, below 1000, with at most two decimals")
    return amount.quantize(Decimal("0.01"))


@rates.command("set")
@click.argument("codes", metavar="CODE", callback=_codes)
@click.argument("rate", callback=_amount)
@click.option("--from", "since", type=_DAY, required=True, help="First day it is in force.")
@click.option(
    "--until", type=_DAY, help="Last day; by default that of the quarter for 006 to 022, none for the others."
)
@by_option
@json_option
def set_(
    codes: tuple[str, ...], rate: Decimal, since: datetime, until: datetime | None, by_whom: str, as_json: bool
) -> None:
    """Set the RATE of CODE (or of alcohol, cigarettes-20, cigarettes-10): per cent, or pesos for 006 to 022.

    The rate of the same code and first day is replaced. Running processes know of it within 30 seconds.
    """
    first = since.date()
    last = until.date() if until else quarter_end(first) if ADDITIONAL_TAXES[codes[0]].kind in SPECIFIC else None
    if last is not None and last < first:
        raise Failure("--until lies before --from")
    made = [ExciseRate(code, first, last, rate, system_clock(), by_whom) for code in codes]

    async def task(conn: Conn) -> None:
        for each in made:
            await excise_rates.put(conn, each)

    async def work(db: Database) -> None:
        await db.transact(task)

    with_database(settings_with_database(), work)
    show_all([_record(each) for each in made], as_json=as_json, none="")


@rates.command()
@click.argument("codes", metavar="CODE", callback=_codes)
@click.option("--from", "since", type=_DAY, required=True, help="Its first day.")
@json_option
def unset(codes: tuple[str, ...], since: datetime, as_json: bool) -> None:
    """Take back a rate that was set. Documents that were signed with it are not touched."""

    async def task(conn: Conn) -> int:
        return sum([await excise_rates.delete(conn, code, since.date()) for code in codes])

    if not run_transaction(task):
        raise Failure(f"no rate of {', '.join(codes)} was set from {since.date()} on")
    record = {"codes": codes, "from": since.date(), "set": False}
    print_result(f"taken back: {', '.join(codes)} from {since.date()}", record, as_json=as_json)


@rates.command("list")
@click.option("--all", "all_", is_flag=True, help="Also those that this release brings along.")
@json_option
def list_(all_: bool, as_json: bool) -> None:
    """List the rates that were set. Rates that this release knows need not be set."""

    found = [_record(each) for each in run_query(excise_rates.listed)]
    if all_:
        found += [
            _shown(code, each.rate, None if each.since == date.min else each.since, each.until, source=each.source)
            for code in ADDITIONAL_TAXES
            for each in known_periods(RATES, code)
        ]
        found.sort(key=lambda each: (each["code"], each["from"] or ""))
    show_all(found, as_json=as_json, none="no rates were set; `fe rates list --all` shows what this release knows")


def _record(each: ExciseRate) -> dict[str, Any]:
    return _shown(each.code, each.rate, each.since, each.until, by=each.set_by, at=moment(each.set_at))


def _shown(
    code: str,
    rate: Decimal,
    since: date | None,
    until: date | None,
    *,
    by: str | None = None,
    at: str | None = None,
    source: str = "",
) -> dict[str, Any]:
    return {
        "code": code,
        "name": ADDITIONAL_TAXES[code].name,
        "rate": str(rate),
        "from": since.isoformat() if since else None,
        "until": until.isoformat() if until else None,
        "setBy": by,
        "setAt": at,
        "source": source or None,
    }
