"""`fe recurring`: receipts that are issued every month, through the API with a stored key."""

from pathlib import Path

import click

from fe.cli.printing import json_option, show, show_all
from fe.integrator.api import body_of, opened
from fe.integrator.catalogue import entry_id
from fe.integrator.options import api_options

_PAGE = 200
_month = click.argument("month", metavar="YYYY-MM")


@click.group()
def recurring() -> None:
    """List and write receipts that are issued every month, through the API."""


@recurring.command("list")
@api_options
@json_option
def list_(profile: str, patience: float, as_json: bool) -> None:
    """List recurring receipts."""
    with opened(profile, patience) as api:
        found = api.items("/recurring", limit=_PAGE)
    show_all(found, as_json=as_json, none="no recurring receipts")


@recurring.command("show")
@api_options
@entry_id
@json_option
def show_one(profile: str, patience: float, entry_id: str, as_json: bool) -> None:
    """Show one with its next days and turns."""
    with opened(profile, patience) as api:
        show(api.get(f"/recurring/{entry_id}"), as_json=as_json)


@recurring.command("put")
@api_options
@entry_id
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@json_option
def put(profile: str, patience: float, entry_id: str, file: Path, as_json: bool) -> None:
    """Create or change one: FILE has the body of PUT /recurring/{id} as JSON."""
    with opened(profile, patience) as api:
        show(api.put(f"/recurring/{entry_id}", body_of(file)), as_json=as_json)


@recurring.command("delete")
@api_options
@entry_id
@json_option
def delete(profile: str, patience: float, entry_id: str, as_json: bool) -> None:
    """Delete one. Receipts already issued stay as they are."""
    with opened(profile, patience) as api:
        show(api.delete(f"/recurring/{entry_id}"), as_json=as_json)


@recurring.command("issue")
@api_options
@entry_id
@_month
@json_option
def issue(profile: str, patience: float, entry_id: str, month: str, as_json: bool) -> None:
    """Issue the turn of a month that was held, missed or skipped, dated today."""
    with opened(profile, patience) as api:
        show(api.post(f"/recurring/{entry_id}/turns/{month}", {"action": "issue"}), as_json=as_json)


@recurring.command("skip")
@api_options
@entry_id
@_month
@json_option
def skip(profile: str, patience: float, entry_id: str, month: str, as_json: bool) -> None:
    """Skip the turn of a month, also the next one."""
    with opened(profile, patience) as api:
        show(api.post(f"/recurring/{entry_id}/turns/{month}", {"action": "skip"}), as_json=as_json)
