"""`fe month`: the sums of a month, and its files, through the API."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from fe.cli.failures import FAILED, OK
from fe.cli.printing import json_option, show, show_all
from fe.integrator.api import opened
from fe.integrator.language import say
from fe.integrator.options import api_options, remark
from fe.month.period import YearMonth
from fe.month.report_606 import ISR_TYPES, KINDS, LONGEST_CREDIT, PAYMENTS, Itbis

#: Purchases of an incomplete 606 that are printed.
_PRINTED = 20
_FILE = click.Path(dir_okay=False, writable=True, path_type=Path)


def _month(_ctx: click.Context, _param: click.Parameter, value: str) -> YearMonth:
    month = YearMonth.read(value)
    if month is None:
        raise click.BadParameter("should be a month such as 2026-11")
    return month


@click.command()
@click.argument("month", callback=_month, metavar="YYYY-MM")
@api_options
@click.option("--xlsx", type=_FILE, metavar="FILE", help="Where its workbook goes: totals, receipts, numbers.")
@click.option("--zip", "archive", type=_FILE, metavar="FILE", help="Where PDF and XML of all its receipts go.")
@click.option("--606", "purchases", type=_FILE, metavar="FILE", help="Where its 606 goes, once nothing is missing.")
@click.option("--608", "voided", type=_FILE, metavar="FILE", help="Where its 608 goes.")
@json_option
def month(
    month: YearMonth,
    profile: str,
    patience: float,
    xlsx: Path | None,
    archive: Path | None,
    purchases: Path | None,
    voided: Path | None,
    as_json: bool,
) -> int:
    """Sum up a month by day of issue, and write its files.

    Exit code 1 when the 606 still lacks something: the purchases are listed. Classify them with `fe expense`.
    """
    here, is_written = f"/months/{month}", True
    with opened(profile, patience) as api:
        said = api.get(here)
        if xlsx is not None:
            xlsx.write_bytes(api.file(f"{here}/xlsx"))
        if archive is not None:
            api.save(f"{here}/zip", archive)
        if purchases is not None:
            is_written = _write_606(api.get(f"{here}/606"), purchases)
        if voided is not None:
            voided.write_bytes(str(api.get(f"{here}/608")["content"]).encode("ascii"))
    if as_json:
        show(said, as_json=True)
    else:
        show({"month": said["month"], "environment": said["environment"], **said["totals"]}, as_json=False)
        for name, columns in _TABLES.items():
            click.echo(f"\n{name}")
            show_all([{column: one[column] for column in columns} for one in said[name]], as_json=False, none="-")
    return OK if is_written else FAILED


@click.command()
@click.argument("supplier", metavar="RNC")
@api_options
@click.option("--kind", type=click.Choice(list(KINDS)), required=True, help="Kind of expense, as the 606 numbers it.")
@click.option("--isr-type", type=click.Choice(list(ISR_TYPES)), help="Type of ISR withheld, where some is.")
@click.option("--payment", type=click.Choice(list(PAYMENTS)), help="Form of payment, where the XML states none.")
@click.option("--itbis", type=click.Choice(list(Itbis)), default=Itbis.ADVANCE, show_default=True)
@click.option("--paid-after", type=click.IntRange(0, LONGEST_CREDIT), metavar="DAYS", help="Days until the payment.")
@click.option("--receipt", metavar="E-NCF", help="Of this receipt alone.")
@click.option("--paid-on", metavar="DAY", help="Day of payment of that receipt, such as 2026-11-20.")
@json_option
def expense(profile: str, patience: float, supplier: str, as_json: bool, **asked: str | int | None) -> None:
    """Say what the 606 asks about a supplier, once for all its purchases."""
    said = {_NAMES.get(name, name): value for name, value in asked.items() if value is not None}
    with opened(profile, patience) as api:
        show(api.put(f"/expenses/{supplier}", said), as_json=as_json)


_NAMES = {"isr_type": "isrType", "paid_after": "paidAfter", "receipt": "eNCF", "paid_on": "paidOn"}
_TABLES = {
    "issued": ("tipoEcf", "status", "receipts", "totalITBIS", "montoTotal"),
    "received": ("tipoEcf", "receipts", "totalITBIS", "montoTotal"),
    "numbers": ("prefix", "first", "last", "drawn", "accepted", "rejected", "failed", "others", "withoutReceipt"),
}


def _write_606(said: Mapping[str, Any], to: Path) -> bool:
    """Write the file, or list what it lacks; tell which."""
    for one in said["remarks"]:
        remark(one["message"])
    if said["content"] is not None:
        to.write_bytes(str(said["content"]).encode("ascii"))
        return True
    for one in said["missing"][:_PRINTED]:
        remark(f"{one['eNCF']} {one['supplier']} {one['supplierName']}: {one['message']}")
    left = said["incomplete"] - _PRINTED
    if left > 0:
        remark(say(f"and {left:,} more", f"y {left:,} más"))
    remark(
        say("the 606 is not written: classify these purchases", "el 606 no se escribió: clasifique estas compras")
        if said["missing"]
        else say("the 606 is not written", "el 606 no se escribió")
    )
    return False
