"""`fe import`: receipts of a workbook, validated as a whole and issued once, through the API."""

import base64
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from fe.cli.failures import FAILED, OK, Failure
from fe.cli.printing import json_option, show
from fe.integrator.api import ApiSession, opened
from fe.integrator.language import say, terminal_language
from fe.integrator.options import api_options, remark
from fe.workbooks.receipts import read_receipts
from fe.workbooks.tables import UnreadableWorkbook

_BETWEEN = 1.0
#: Faults that are printed; the copy has all.
_PRINTED = 20
_COUNTS = ("receipts", "valid", "faulty", "issued", "issuedBefore", "failed")


@click.command("import")
@click.argument("source", metavar="FILE", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@api_options
@click.option("--yes", is_flag=True, help="Issue what is valid without asking.")
@click.option(
    "--copy",
    type=click.Path(dir_okay=False, writable=True, path_type=Path),
    metavar="FILE",
    help="Where a copy goes, with errors, state and number beside each row.",
)
@json_option
def import_file(source: Path, profile: str, patience: float, yes: bool, copy: Path | None, as_json: bool) -> int:
    """Import the receipts in FILE: .xlsx, .ods or .csv. Every row is validated before a number is used.

    Then asks whether to issue what is valid. Repeating the command goes on where it stopped, and issues nothing twice.

    Exit code 0 when every receipt is issued, 1 when one has errors or none was issued.
    """
    content = source.read_bytes()
    try:
        read_receipts(content)  # what cannot be read is not sent
    except UnreadableWorkbook as refused:
        raise Failure(f"{source.name}: {refused.text.said(terminal_language())}") from None
    with opened(profile, patience) as api:
        body = {"name": source.name, "content": base64.b64encode(content).decode()}
        said = api.post("/imports", body)
        said = _wait(api, said, "validating", "waiting", say("validating", "validando"))
        left = said["valid"] + said["failed"]
        _print_sums(said)
        if left and said["state"] != "issuing" and not _is_agreed(left, yes):
            remark(say("nothing was issued: --yes issues what is valid", "no se emitió nada: --yes emite lo válido"))
            left = 0
        if left:
            said = api.post(f"/imports/{said['importId']}/issue", {})
        said = _wait(api, said, "issuing", "valid", say("issuing", "emitiendo"))
        if copy is not None:
            copy.write_bytes(api.file(f"/imports/{said['importId']}/workbook"))
    if as_json:
        show(said, as_json=True)
    else:
        show({"importId": said["importId"], **{name: said[name] for name in _COUNTS}}, as_json=False)
        _print_faults(said["faults"])
    return OK if said["issued"] + said["issuedBefore"] == said["receipts"] else FAILED


def _is_agreed(number: int, yes: bool) -> bool:
    if yes:
        return True
    if not sys.stdin.isatty():
        return False
    return click.confirm(say(f"issue {number:,} receipts?", f"¿emitir {number:,} comprobantes?"), err=True)


def _wait(api: ApiSession, said: dict[str, Any], state: str, left: str, label: str) -> dict[str, Any]:
    """Poll until a step is over; show its progress where a person looks on."""
    if said["state"] != state:
        return said
    with click.progressbar(length=said["receipts"], label=label, file=sys.stderr) as bar:
        done = 0
        while said["state"] == state:
            now = said["receipts"] - said[left]
            bar.update(max(0, now - done))
            done = max(done, now)
            time.sleep(_BETWEEN)
            said = api.get(f"/imports/{said['importId']}")
    return said


def _print_sums(said: Mapping[str, Any]) -> None:
    """Say what can be issued, before anything is: by type, and together."""
    for note in said["notes"]:
        remark(note)
    for one in said["types"]:
        remark(f"{one['prefix']}: {one['receipts']:,}, RD$ {one['montoTotal']:,.2f}")
    if len(said["types"]) > 1:
        number = sum(one["receipts"] for one in said["types"])
        remark(
            say(
                f"together: {number:,}, RD$ {said['montoTotal']:,.2f}",
                f"total: {number:,}, RD$ {said['montoTotal']:,.2f}",
            )
        )


def _print_faults(faults: list[dict[str, Any]]) -> None:
    for fault in faults[:_PRINTED]:
        column = f"{fault['heading']}: " if fault["heading"] else ""
        click.echo(f"{say('row', 'fila')} {fault['row']}: {column}{fault['message']}")
    if len(faults) > _PRINTED:
        click.echo(say("and more: --copy has all", "y más: --copy los trae todos"))
