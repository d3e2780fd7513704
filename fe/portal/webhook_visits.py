"""Shared parts of the webhook pages: access to webhooks, current limits, and refusals."""

from typing import Any

import trio

from fe.ecf.texts import Text
from fe.http.messages import TOO_MANY_REQUESTS
from fe.limits import LimitReached
from fe.portal.replies import Refused
from fe.portal.visit import Visit
from fe.webhooks.accounts import BadWebhook, EndpointView, WebhookAccounts, WebhookRefused

NOT_HERE = Text(
    "This installation has no webhooks: its operator has not set a key for them.",
    "Esta instalación no tiene webhooks: su operador no ha configurado una clave para ellos.",
)
_DISABLED = Text(
    "The company is disabled: its webhook is not called.", "La empresa está desactivada: su webhook no se llama."
)


def accounts_of(visit: Visit) -> WebhookAccounts:
    """Return the webhook operations. Raises Refused when this installation has none."""
    if visit.portal.webhooks is None:
        raise Refused(503, NOT_HERE)
    return visit.portal.webhooks


async def of_environment(visit: Visit) -> EndpointView | None:
    """The webhook of the page's environment, if there is one."""
    for one in await every(visit):
        if one.endpoint.environment == visit.environment:
            return one
    return None


async def every(visit: Visit) -> list[EndpointView]:
    """The webhooks that tell of the page's environment: its own, and one of all environments."""
    return await visit.read(accounts_of(visit).shown, visit.environment, visit.now)


def count_call(visit: Visit) -> None:
    """Count a call that a person asks for, as the API counts those of programs. Raises Refused (429)."""
    try:
        visit.portal.webhook_calls.take(visit.tenant_id, 0, trio.current_time())
    except LimitReached:
        raise Refused(429, TOO_MANY_REQUESTS) from None


def require_enabled_company(visit: Visit) -> None:
    """Raise Refused for a company that is disabled: nothing of its is called."""
    if visit.company.tenant.disabled_since is not None:
        raise Refused(409, _DISABLED)


def status_of(refused: WebhookRefused) -> int:
    """With which status a refusal is shown."""
    return 400 if isinstance(refused, BadWebhook) else 409


def state_of(shown: EndpointView | None) -> Any:
    """Return the state that a form was made from; another state makes the form stale."""
    if shown is None:
        return None
    one = shown.endpoint
    return [one.endpoint_id, one.url, one.enabled, list(one.events), list(shown.header_names), one.disabled_at]
