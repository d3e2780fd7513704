"""`fe received`: list suppliers' documents and approve or reject them, through the API with a stored key."""

from collections.abc import Mapping, Sequence
from typing import Any

import click

from fe.cli.failures import Failure
from fe.cli.printing import json_option, show, show_all
from fe.integrator.api import opened
from fe.integrator.options import api_options

#: Ids of one request.
MAX_DECIDED = 100
_DECISIONS = {"approve": "approved", "reject": "rejected"}


@click.group()
def received() -> None:
    """List suppliers' receipts, and approve or reject them, through the API."""


@received.command("list")
@api_options
@click.option("--encf", "e_ncf", metavar="NUMBER", help="Only of this number.")
@click.option("--rnc", metavar="DIGITS", help="Only of the supplier with this tax id.")
@click.option("--limit", type=click.IntRange(1, 200), default=50, show_default=True, help="Most rows, newest first.")
@json_option
def list_(profile: str, patience: float, e_ncf: str | None, rnc: str | None, limit: int, as_json: bool) -> None:
    """List received receipts, newest first."""
    query = {name: value for name, value in (("encf", e_ncf), ("rnc", rnc)) if value is not None}
    answer = _call(profile, patience, "GET", "/received", limit=limit, **query)
    show_all(answer["items"], as_json=as_json, none="nothing was received")


@received.command("show")
@api_options
@click.argument("received_id")
@json_option
def show_(profile: str, patience: float, received_id: str, as_json: bool) -> None:
    """Show one, and how a decision about it stands with the authority and with the issuer."""
    answer = _call(profile, patience, "GET", f"/received/{_one_segment(received_id)}")
    if answer.get("found") is False:
        raise Failure(f"there is no received document {received_id}")
    show(_flat(answer) if not as_json else answer, as_json=as_json)


@received.command()
@api_options
@click.argument("received_ids", metavar="ID...", nargs=-1, required=True)
@click.option("--request-id", metavar="TEXT", help="clientRequestId, of one alone.")
@json_option
def approve(
    profile: str, patience: float, received_ids: tuple[str, ...], request_id: str | None, as_json: bool
) -> None:
    """Approve receipts: an ACECF goes to the authority and, once accepted, to the issuer. Repeating it is safe."""
    _decide(profile, patience, received_ids, "approve", _with_id({}, request_id), as_json=as_json)


@received.command()
@api_options
@click.argument("received_ids", metavar="ID...", nargs=-1, required=True)
@click.option("--reason", required=True, metavar="TEXT", help="Why, in up to 250 characters: the issuer reads it.")
@click.option("--request-id", metavar="TEXT", help="clientRequestId, of one alone.")
@json_option
def reject(
    profile: str,
    patience: float,
    received_ids: tuple[str, ...],
    reason: str,
    request_id: str | None,
    as_json: bool,
) -> None:
    """Reject receipts, for a reason."""
    _decide(profile, patience, received_ids, "reject", _with_id({"reason": reason}, request_id), as_json=as_json)


def _decide(
    profile: str, patience: float, received_ids: Sequence[str], what: str, body: dict[str, str], *, as_json: bool
) -> None:
    ids = [_one_segment(one) for one in received_ids]
    if len(ids) == 1:
        show(_call(profile, patience, "POST", f"/received/{ids[0]}/{what}", **body), as_json=as_json)
        return
    if "clientRequestId" in body:
        raise click.UsageError("--request-id goes with one id: repeating many is safe without it")
    items = []
    with opened(profile, patience) as api:
        for first in range(0, len(ids), MAX_DECIDED):
            some: dict[str, Any] = {"decision": _DECISIONS[what], "ids": ids[first : first + MAX_DECIDED], **body}
            items += api.post("/received/approvals", some)["items"]
    show_all(items, as_json=as_json, none="nothing was decided")
    if wrong := sum(one["statusCode"] >= 400 for one in items):
        raise Failure(f"{wrong} of {len(items)} could not be decided")


def _with_id(body: dict[str, str], request_id: str | None) -> dict[str, str]:
    return body if request_id is None else {**body, "clientRequestId": request_id}


def _one_segment(received_id: str) -> str:
    if not received_id.replace("-", "").isalnum():
        raise click.UsageError("an id is a UUID, as `fe received list` shows it")
    return received_id


def _call(profile: str, patience: float, method: str, path: str, **how: Any) -> dict[str, Any]:
    """Log in and make one call, which may be repeated: approving or rejecting twice is done once."""
    with opened(profile, patience) as api:
        return api.get(path, **how) if method == "GET" else api.post(path, how)


def _flat(answer: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of one level, for a person: `approval.issuer.state`."""
    flat: dict[str, Any] = {}
    for name, value in answer.items():
        if isinstance(value, Mapping):
            flat |= {f"{name}.{below}": shown for below, shown in _flat(value).items()}
        else:
            flat[name] = value
    return flat
