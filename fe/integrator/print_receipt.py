"""`fe print`: a receipt as PDF in a file, or as ESC/POS to a receipt printer."""

import os
import re
import socket
from pathlib import Path

import click

from fe.cli.failures import AWAY, Failure
from fe.cli.printing import json_option, show
from fe.integrator.api import opened
from fe.integrator.language import say
from fe.integrator.options import api_options, remark
from fe.integrator.status import id_argument
from fe.integrator.submission_lookup import ask
from fe.printing import PaperSize

_PRINTER = re.compile(r"(?P<host>[A-Za-z0-9.-]+|\[[0-9A-Fa-f:.]+\]):(?P<port>[0-9]{1,5})")
_ADDRESS = re.compile(r"[0-9]{1,3}(\.[0-9]{1,3}){3}")
_DEVICE = re.compile(r"/dev/(usb/)?(lp|tty[A-Z]+)[0-9]+")
_SECONDS = 10.0


@click.command("print")
@id_argument
@api_options
@click.option(
    "--layout",
    type=click.Choice([str(paper) for paper in PaperSize]),
    help="Paper; without it that of the tenant's settings, for a printer 80mm where these name a sheet.",
)
@click.option(
    "--language", type=click.Choice(["es", "en"]), help="Of our own words; without it that of the tenant's settings."
)
@click.option(
    "--to",
    "target",
    metavar="FILE|HOST:9100|/dev/usb/lp0",
    help="A file for the PDF, or a receipt printer; E-NCF.pdf without it.",
)
@click.option("--raster", is_flag=True, help="Send a printer the QR code as a picture.")
@json_option
def print_receipt(
    wanted: str,
    profile: str,
    patience: float,
    layout: str | None,
    language: str | None,
    target: str | None,
    raster: bool,
    as_json: bool,
) -> None:
    """Print ID: a taxLogId, a trackId, an e-NCF or a clientRequestId.

    A PDF is written to a file. HOST:PORT and a device get the bytes of a receipt printer (ESC/POS).
    """
    if target is not None and _ADDRESS.fullmatch(target):
        raise click.UsageError(f"a printer needs its port: --to {target}:9100; a file a name such as {target}.pdf")
    printer = None if target is None else _PRINTER.fullmatch(target)
    device = target if printer is None and target is not None and _is_device(target) else None
    to_printer = printer is not None or device is not None
    if to_printer and layout is not None and not PaperSize(layout).is_roll:
        raise click.UsageError("a receipt printer takes --layout 80mm or 58mm")
    if raster and not to_printer:
        raise click.UsageError("--raster is for a receipt printer: name one with --to")
    with opened(profile, patience) as api:
        record = ask(api, wanted, remark=remark)
        if layout is None or language is None:
            settings = api.get("/printing")
            is_sheet = not PaperSize(settings["layout"]).is_roll
            layout = layout or ("80mm" if to_printer and is_sheet else settings["layout"])
            language = language or settings["language"]
        one, chosen = f"/invoices/{record['taxLogId']}", {"layout": layout, "language": language}
        if to_printer:
            made = api.file(f"{one}/ticket", **chosen, qr="raster" if raster else "native")
        else:
            made = api.file(f"{one}/pdf", **chosen)
    where = target or f"{record.get('eNCF') or record['taxLogId']}.pdf"
    if printer is not None:
        _send(printer["host"].strip("[]"), int(printer["port"]), made)
    elif device is not None:
        _write(device, made)
    else:
        Path(where).write_bytes(made)
    show({"taxLogId": record["taxLogId"], "layout": layout, "file": where, "bytes": len(made)}, as_json=as_json)


def _is_device(path: str) -> bool:
    """Tell a device, one that is switched off too: its file is not there."""
    return _DEVICE.fullmatch(path) is not None or Path(path).is_char_device()


def _send(host: str, port: int, made: bytes) -> None:
    try:
        with socket.create_connection((host, port), timeout=_SECONDS) as connection:
            connection.sendall(made)
    except (OSError, OverflowError) as error:
        raise _not_reached(f"{host}:{port}", error) from error


def _write(device: str, made: bytes) -> None:
    try:
        with os.fdopen(os.open(device, os.O_WRONLY), "wb") as printer:
            printer.write(made)
    except OSError as error:
        raise _not_reached(device, error) from error


def _not_reached(printer: str, error: Exception) -> Failure:
    why = getattr(error, "strerror", None) or error
    return Failure(
        say(f"the printer {printer} cannot be reached: {why}", f"no se alcanza la impresora {printer}: {why}"), AWAY
    )
