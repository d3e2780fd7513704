"""`fe paper`: receipts of series B on paper and their replacement, through the API with a stored key."""

import os
import secrets
import shutil
from pathlib import Path
from typing import Any

import click
from msgspec.json import format as indent_json

from fe.cli.failures import Failure
from fe.cli.printing import json_option, show, show_all
from fe.ecf.json_text import write_json
from fe.integrator.api import body_of, opened
from fe.integrator.language import say
from fe.integrator.options import api_options

_file = click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
_ncf = click.argument("ncf", metavar="NCF")


@click.group()
def paper() -> None:
    """Enter receipts issued on paper in a declared contingency, and replace them by e-CF."""


@paper.command("ranges")
@api_options
@json_option
def ranges(profile: str, patience: float, as_json: bool) -> None:
    """List the ranges of series B."""
    with opened(profile, patience) as api:
        found = api.get("/paper-ranges")["items"]
    show_all(found, as_json=as_json, none="no ranges")


@paper.command("add-range")
@api_options
@click.argument("first", metavar="FIRST")
@click.argument("last", metavar="LAST")
@click.option("--expires-on", required=True, metavar="DAY", help="Last day of the range (2027-12-31).")
@json_option
def add_range(profile: str, patience: float, first: str, last: str, expires_on: str, as_json: bool) -> None:
    """Record a range, such as B0200000001 B0200000500."""
    with opened(profile, patience) as api:
        body = {"first": first, "last": last, "expiresOn": expires_on}
        show(api.post("/paper-ranges", body), as_json=as_json)


@paper.command("delete-range")
@api_options
@click.argument("range_id", metavar="ID")
@json_option
def delete_range(profile: str, patience: float, range_id: str, as_json: bool) -> None:
    """Delete a range without receipts."""
    with opened(profile, patience) as api:
        show(api.delete(f"/paper-ranges/{range_id}"), as_json=as_json)


@paper.command("list")
@api_options
@click.option("--open", "only_open", is_flag=True, help="Only those without an accepted e-CF.")
@json_option
def list_(profile: str, patience: float, only_open: bool, as_json: bool) -> None:
    """List paper receipts and their e-CF."""
    with opened(profile, patience) as api:
        found = api.items("/paper-receipts", state="open" if only_open else None)
    show_all(found, as_json=as_json, none="no paper receipts")


@paper.command("show")
@api_options
@_ncf
@json_option
def show_one(profile: str, patience: float, ncf: str, as_json: bool) -> None:
    """Show one."""
    with opened(profile, patience) as api:
        show(api.get(f"/paper-receipts/{ncf}"), as_json=as_json)


@paper.command("enter")
@api_options
@_file
@json_option
def enter(profile: str, patience: float, file: Path, as_json: bool) -> None:
    """Enter one receipt or several: FILE has the body of POST /paper-receipts, one receipt, or a list.

    A receipt without ncf and clientRequestId gets a clientRequestId, which is written into FILE before it is sent:
    the same FILE sent again enters nothing twice.
    """
    found = body_of(file)
    _write_ids(file, found)
    if isinstance(found, dict) and "receipts" not in found:
        found = [found]
    with opened(profile, patience) as api:
        done = api.post("/paper-receipts", {"receipts": found} if isinstance(found, list) else found)
    items = done["items"]
    if not as_json:  # `fe paper list` has the rest
        items = [{name: one.get(name) for name in ("statusCode", "ncf", "message")} for one in items]
    show_all(items, as_json=as_json, none="no receipts")
    refused = [one for one in done["items"] if one["statusCode"] >= 400]
    if refused:
        why = refused[0]["message"]
        raise Failure(
            say(f"{len(refused)} not entered; the first: {why}", f"sin registrar: {len(refused)}; el primero: {why}")
        )


def _write_ids(file: Path, found: Any) -> None:
    """Write a clientRequestId into each receipt of a file that has neither it nor a number. Raises Failure.

    A digest of the content would not do: two sales may be equal.
    """
    listed = found.get("receipts", [found]) if isinstance(found, dict) else found
    rows = [one for one in listed if isinstance(one, dict)] if isinstance(listed, list) else []
    unnamed = [one for one in rows if one.get("ncf") is None and one.get("clientRequestId") is None]
    if not unnamed:
        return
    for one in unnamed:
        one["clientRequestId"] = f"cli-{secrets.token_hex(16)}"
    to = file.resolve()
    part = to.with_name(f"{to.name}.part")
    try:
        with part.open("wb") as out:
            out.write(indent_json(write_json(found), indent=2) + b"\n")
            out.flush()
            os.fsync(out.fileno())
        shutil.copymode(to, part)
        part.replace(to)
    except OSError as error:
        raise Failure(
            say(
                f"{file.name}: no clientRequestId can be written into it ({error.strerror}): give each receipt an "
                "ncf or a clientRequestId; nothing was sent",
                f"{file.name}: no se puede escribir un clientRequestId en él ({error.strerror}): dé a cada comprobante "
                "un ncf o un clientRequestId; no se envió nada",
            )
        ) from None


@paper.command("correct")
@api_options
@_ncf
@_file
@json_option
def correct(profile: str, patience: float, ncf: str, file: Path, as_json: bool) -> None:
    """Correct one without an e-CF: FILE has the body of PUT /paper-receipts/{ncf}."""
    with opened(profile, patience) as api:
        show(api.put(f"/paper-receipts/{ncf}", body_of(file)), as_json=as_json)


@paper.command("replace")
@api_options
@click.argument("ncfs", nargs=-1, metavar="[NCF]...")
@json_option
def replace(profile: str, patience: float, ncfs: tuple[str, ...], as_json: bool) -> None:
    """Issue the e-CF of paper receipts: of those named, or of the first hundred that are open."""
    with opened(profile, patience) as api:
        done = api.post("/paper-receipts/replacements", {"ncfs": list(ncfs)} if ncfs else {})
    show_all(done["items"], as_json=as_json, none="no paper receipt waits for its e-CF")
    refused = [one for one in done["items"] if one.get("problems")]
    if refused:
        first = refused[0]
        why = f"{first['ncf']}: {first['problems'][0]['message']}"
        raise Failure(say(f"{len(refused)} not issued; {why}", f"sin emitir: {len(refused)}; {why}"))
