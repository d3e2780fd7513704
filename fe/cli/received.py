"""`fe received`: what suppliers sent, and saying yes or no to it, through the API with a key of the tenant's."""

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import wraps
from typing import Any

import click

from fe.cli.failures import Failure
from fe.cli.integrator.api import ApiSession, base_of, opened
from fe.cli.integrator.language import terminal_language
from fe.cli.integrator.options import api_options
from fe.cli.integrator.profiles import Profile
from fe.cli.printing import json_option, show, show_all

#: The variable that holds the secret of the key: it is no setting of the service.
VARIABLE = "FE_API_SECRET"
_DEFAULT = "http://127.0.0.1:8080/api/v1/fe"


@dataclass(frozen=True, slots=True)
class Callee:
    """Which API is called, and as whom: with a key that is given, or with a stored one."""

    api: str
    key_id: str | None
    profile: str
    patience: float


def callee(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that say which API is called, and as whom; the command gets them as `to`."""

    @wraps(command)
    def called(api: str, key_id: str | None, profile: str, patience: float, **more: Any) -> Any:
        return command(to=Callee(api, key_id, profile, patience), **more)

    words = f"A key, with its secret in {VARIABLE}; without it the stored one of --profile."
    keyed = click.option("--key", "key_id", metavar="ID", help=words)(api_options(called))
    where = "With --key: base of the API."
    return click.option("--api", default=_DEFAULT, show_default=True, metavar="URL", help=where)(keyed)


@click.group()
def received() -> None:
    """List what suppliers sent, and approve or reject it, through the API."""


@received.command("list")
@callee
@click.option("--encf", "e_ncf", metavar="NUMBER", help="Only of this number.")
@click.option("--rnc", metavar="DIGITS", help="Only of the supplier with this tax id.")
@click.option("--limit", type=click.IntRange(1, 200), default=50, show_default=True, help="So many, newest first.")
@json_option
def list_(to: Callee, e_ncf: str | None, rnc: str | None, limit: int, as_json: bool) -> None:
    """List what was received, newest first."""
    query = {name: value for name, value in (("encf", e_ncf), ("rnc", rnc)) if value is not None}
    answer = _call(to, "GET", "/received", limit=limit, **query)
    show_all(answer["items"], as_json=as_json, none="nothing was received")


@received.command("show")
@callee
@click.argument("received_id")
@json_option
def show_(to: Callee, received_id: str, as_json: bool) -> None:
    """Show one, and how a decision about it stands with the authority and with the issuer."""
    answer = _call(to, "GET", f"/received/{_one_segment(received_id)}")
    if answer.get("found") is False:
        raise Failure(f"there is no received document {received_id}")
    show(_flat(answer) if not as_json else answer, as_json=as_json)


@received.command()
@callee
@click.argument("received_id")
@click.option("--request-id", metavar="TEXT", help="clientRequestId.")
@json_option
def approve(to: Callee, received_id: str, request_id: str | None, as_json: bool) -> None:
    """Approve one: an ACECF goes to the authority and, once accepted, to its issuer. Said twice it is said once."""
    _decide(to, received_id, "approve", _with_id({}, request_id), as_json=as_json)


@received.command()
@callee
@click.argument("received_id")
@click.option("--reason", required=True, metavar="TEXT", help="Why, in up to 250 characters: the issuer reads it.")
@click.option("--request-id", metavar="TEXT", help="clientRequestId.")
@json_option
def reject(to: Callee, received_id: str, reason: str, request_id: str | None, as_json: bool) -> None:
    """Reject one, for a reason."""
    _decide(to, received_id, "reject", _with_id({"reason": reason}, request_id), as_json=as_json)


def _decide(to: Callee, received_id: str, what: str, body: dict[str, str], *, as_json: bool) -> None:
    answer = _call(to, "POST", f"/received/{_one_segment(received_id)}/{what}", **body)
    show(answer, as_json=as_json)


def _with_id(body: dict[str, str], request_id: str | None) -> dict[str, str]:
    return body if request_id is None else {**body, "clientRequestId": request_id}


def _one_segment(received_id: str) -> str:
    if not received_id.replace("-", "").isalnum():
        raise click.UsageError("an id is a UUID, as `fe received list` shows it")
    return received_id


def _call(to: Callee, method: str, path: str, **how: Any) -> dict[str, Any]:
    """Log in and make one call, which may be repeated: approving or rejecting twice is done once."""
    with _session(to) as api:
        return api.get(path, **how) if method == "GET" else api.post(path, how)


@contextmanager
def _session(to: Callee) -> Iterator[ApiSession]:
    if to.key_id is None:
        with opened(to.profile, to.patience) as api:
            yield api
        return
    secret = os.environ.get(VARIABLE)
    if not secret:
        raise Failure(f"{VARIABLE} is not set: the secret of the key")
    profile = Profile("", base_of(to.api, plain=True), to.key_id, secret, "")
    with ApiSession(profile, language=terminal_language(), patience=to.patience, keep=lambda *_: None) as api:
        yield api


def _flat(answer: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of one level, for a person: `approval.issuer.state`."""
    flat: dict[str, Any] = {}
    for name, value in answer.items():
        if isinstance(value, Mapping):
            flat |= {f"{name}.{below}": shown for below, shown in _flat(value).items()}
        else:
            flat[name] = value
    return flat
