"""`fe webhook trigger`: a sample event of any kind, to try a consumer with."""

from pathlib import Path
from typing import Any
from uuid import UUID

import click
import trio

from fe.cli.failures import FAILED, OK, USAGE, Failure
from fe.cli.printing import json_option, show
from fe.cli.webhook.endpoint import of_tenant
from fe.clock import system_clock
from fe.ecf.catalogue import Environment
from fe.ecf.ids import new_id
from fe.egress.client import Egress
from fe.egress.target import BadTarget, Policy, read_target
from fe.identifiers import TenantId
from fe.integrator.webhook.secret import VARIABLE, read_secret, secret_option
from fe.lifecycle import WebhookEvent
from fe.store.postgres.db import Conn
from fe.webhooks.accounts import WebhookAccounts
from fe.webhooks.events import sample_body
from fe.webhooks.exchange import Tried, WebhookCall, try_once

_KINDS = [kind.value for kind in WebhookEvent]


@click.command()
@click.argument("event", type=click.Choice(_KINDS))
@click.option("--url", help="Call this address once, from here; by http only on this machine.")
@secret_option
@click.option("--tenant", "tenant_name", metavar="NAME", help="Or send it to this tenant's webhook, as all events are.")
@click.option("--environment", type=click.Choice([each.value for each in Environment]), help="Whose, with --tenant.")
@json_option
def trigger(
    event: str,
    url: str | None,
    secret_file: Path | None,
    tenant_name: str | None,
    environment: str | None,
    as_json: bool,
) -> int:
    """Send a sample EVENT: nothing of it has happened. Exit code 1 when the call was not confirmed."""
    kind = WebhookEvent(event)
    if (url is None) == (tenant_name is None) or (tenant_name is None) != (environment is None):
        raise click.UsageError("give --url, or --tenant with --environment")
    if tenant_name is not None and environment is not None:
        where = Environment(environment)

        async def send(accounts: WebhookAccounts, conn: Conn, tenant_id: TenantId) -> UUID:
            return await accounts.sample(conn, tenant_id, where, kind, system_clock())

        show({"delivery": str(of_tenant(tenant_name, send)), "state": "pending"}, as_json=as_json)
        return OK
    assert url is not None
    secret = read_secret(secret_file)
    if secret is None:
        raise Failure(f"no secret: give --secret-file or {VARIABLE}", USAGE)
    try:
        target = read_target(url, Policy(development=True))
    except BadTarget as bad:
        raise Failure(f"--url: {bad}", USAGE) from None
    at = system_clock()
    call = WebhookCall(target.url, kind, str(new_id(at)), sample_body(kind, at).encode(), [], [secret])
    tried = trio.run(try_once, Egress(Policy(development=True)), call, system_clock)
    show(_record(call, tried), as_json=as_json)
    return OK if tried.error is None else FAILED


def _record(call: WebhookCall, tried: Tried) -> dict[str, Any]:
    return {
        "delivery": call.delivery_id,
        "url": call.url,
        "status": tried.status,
        "confirmed": tried.error is None,
        "error": tried.reason,
        "ms": round(tried.duration.total_seconds() * 1000),
        "answer": None if tried.answer is None else tried.answer[:200].decode("utf-8", "replace"),
    }
