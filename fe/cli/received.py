"""`fe received`: what suppliers sent, and saying yes or no to it, through the API with a key of the tenant's."""

import os
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import click
import httpx

from fe.cli.failures import Failure
from fe.cli.printing import json_option, show, show_all

F = TypeVar("F", bound=Callable[..., Any])

#: The variable that holds the secret of the key: it is no setting of the service.
VARIABLE = "FE_API_SECRET"
_DEFAULT = "http://127.0.0.1:8080/api/v1/fe"
_SECONDS = 30.0


def api_options(command: F) -> F:
    """Add the options that say which API is called, and as whom."""
    secret_words = f"The key; its secret is in {VARIABLE}."
    keyed = click.option("--key", "key_id", required=True, metavar="ID", help=secret_words)(command)
    return click.option("--api", default=_DEFAULT, show_default=True, metavar="URL", help="Base of the API.")(keyed)


@click.group()
def received() -> None:
    """List what suppliers sent, and approve or reject it, through the API."""


@received.command("list")
@api_options
@click.option("--encf", "e_ncf", metavar="NUMBER", help="Only of this number.")
@click.option("--rnc", metavar="DIGITS", help="Only of the supplier with this tax id.")
@click.option("--limit", type=click.IntRange(1, 200), default=50, show_default=True, help="So many, newest first.")
@json_option
def list_(api: str, key_id: str, e_ncf: str | None, rnc: str | None, limit: int, as_json: bool) -> None:
    """List what was received, newest first."""
    query = {name: value for name, value in (("encf", e_ncf), ("rnc", rnc)) if value is not None}
    answer = _call(api, key_id, "GET", "/received", params={"limit": limit, **query})
    show_all(answer["items"], as_json=as_json, none="nothing was received")


@received.command("show")
@api_options
@click.argument("received_id")
@json_option
def show_(api: str, key_id: str, received_id: str, as_json: bool) -> None:
    """Show one, and how a decision about it stands with the authority and with the issuer."""
    answer = _call(api, key_id, "GET", f"/received/{_one_segment(received_id)}")
    if answer.get("found") is False:
        raise Failure(f"there is no received document {received_id}")
    show(_flat(answer) if not as_json else answer, as_json=as_json)


@received.command()
@api_options
@click.argument("received_id")
@click.option("--request-id", metavar="TEXT", help="clientRequestId.")
@json_option
def approve(api: str, key_id: str, received_id: str, request_id: str | None, as_json: bool) -> None:
    """Approve one: an ACECF goes to the authority and, once accepted, to its issuer. Said twice it is said once."""
    _decide(api, key_id, received_id, "approve", _with_id({}, request_id), as_json=as_json)


@received.command()
@api_options
@click.argument("received_id")
@click.option("--reason", required=True, metavar="TEXT", help="Why, in up to 250 characters: the issuer reads it.")
@click.option("--request-id", metavar="TEXT", help="clientRequestId.")
@json_option
def reject(api: str, key_id: str, received_id: str, reason: str, request_id: str | None, as_json: bool) -> None:
    """Reject one, for a reason."""
    _decide(api, key_id, received_id, "reject", _with_id({"reason": reason}, request_id), as_json=as_json)


def _decide(api: str, key_id: str, received_id: str, what: str, body: dict[str, str], *, as_json: bool) -> None:
    answer = _call(api, key_id, "POST", f"/received/{_one_segment(received_id)}/{what}", json=body)
    show(answer, as_json=as_json)


def _with_id(body: dict[str, str], request_id: str | None) -> dict[str, str]:
    return body if request_id is None else {**body, "clientRequestId": request_id}


def _one_segment(received_id: str) -> str:
    if not received_id.replace("-", "").isalnum():
        raise click.UsageError("an id is a UUID, as `fe received list` shows it")
    return received_id


def _call(api: str, key_id: str, method: str, path: str, **how: Any) -> dict[str, Any]:
    """Log in and make one call. Raises Failure with what the API says."""
    secret = os.environ.get(VARIABLE)
    if not secret:
        raise Failure(f"{VARIABLE} is not set: the secret of the key")
    try:
        with httpx.Client(base_url=api, timeout=_SECONDS, trust_env=False) as client:
            login = _read(client.post("/login", json={"apiKeyId": key_id, "apiSecret": secret}))
            headers = {"Authorization": f"Bearer {login['accessToken']}"}
            return _read(client.request(method, path, headers=headers, **how))
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise Failure(f"the API cannot be reached at {api}: {error}") from error


def _read(answer: httpx.Response) -> dict[str, Any]:
    try:
        body: dict[str, Any] = answer.json()
    except ValueError:
        raise Failure(f"what answers there is not the API (status {answer.status_code})") from None
    if not answer.is_success:
        raise Failure(f"{body.get('message', 'refused')} (status {answer.status_code})")
    return body


def _flat(answer: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of one level, for a person: `approval.issuer.state`."""
    flat: dict[str, Any] = {}
    for name, value in answer.items():
        if isinstance(value, Mapping):
            flat |= {f"{name}.{below}": shown for below, shown in _flat(value).items()}
        else:
            flat[name] = value
    return flat
