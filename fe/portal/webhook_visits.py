"""Shared parts of the webhook pages: access to webhooks, current limits, and refusals."""

import re
from collections.abc import Sequence
from typing import Any

import trio

from fe.ecf.texts import Text
from fe.http.messages import TOO_MANY_REQUESTS
from fe.limits import LimitReached
from fe.portal.replies import Refused
from fe.portal.visit import Visit
from fe.store.webhooks.endpoints import DEFAULT
from fe.webhooks.accounts import NAME_FORM, BadWebhook, EndpointView, WebhookAccounts, WebhookRefused

NOT_HERE = Text(
    "This installation has no webhooks: its operator has not set a key for them.",
    "Esta instalación no tiene webhooks: su operador no ha configurado una clave para ellos.",
)
_DISABLED = Text(
    "The company is disabled: its webhook is not called.", "La empresa está desactivada: su webhook no se llama."
)
_NAME = Text(
    "The name of a webhook has 1 to 40 lower-case letters, digits or hyphens, and begins with a letter or digit.",
    "El nombre de un webhook tiene de 1 a 40 letras minúsculas, dígitos o guiones, y empieza con letra o dígito.",
)


def accounts_of(visit: Visit) -> WebhookAccounts:
    """Return the webhook operations. Raises Refused when this installation has none."""
    if visit.portal.webhooks is None:
        raise Refused(503, NOT_HERE)
    return visit.portal.webhooks


def name_of(visit: Visit) -> str:
    """The name of the endpoint that the form or the address is about. Raises Refused."""
    name = visit.form.get("endpoint") or visit.query.get("endpoint", "").strip() or DEFAULT
    if not re.fullmatch(NAME_FORM, name):
        raise Refused(400, _NAME)
    return name


def subject_of(visit: Visit) -> str:
    """The endpoint as the company's changes name it."""
    name = name_of(visit)
    return visit.environment if name == DEFAULT else f"{visit.environment}/{name}"


def there(visit: Visit) -> str:
    """The address of the endpoint's page."""
    name = name_of(visit)
    return visit.within("webhooks" if name == DEFAULT else f"webhooks?endpoint={name}")


def chosen(visit: Visit, shown: Sequence[EndpointView]) -> EndpointView | None:
    """The endpoint that the page is about, if there is one."""
    wanted = (visit.environment, name_of(visit))
    return next((one for one in shown if (one.endpoint.environment, one.endpoint.name) == wanted), None)


async def of_environment(visit: Visit) -> EndpointView | None:
    """The endpoint of the page, if there is one."""
    return chosen(visit, await every(visit))


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
