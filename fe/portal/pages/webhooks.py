"""Where a company wants to be called: seen, set, switched on and off."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from fe.ecf.texts import Text
from fe.lifecycle import WANTED, WebhookEvent
from fe.portal.page_types import Needs, Page
from fe.portal.replies import Reply
from fe.portal.visit import Form, Visit
from fe.portal.webhook_visits import (
    NOT_HERE,
    accounts_of,
    chosen,
    every,
    name_of,
    require_enabled_company,
    state_of,
    status_of,
    subject_of,
    there,
)
from fe.portal.webhook_words import DISABLED, EVENTS, RECOVERY_STATES, SHOWN_STATES
from fe.store.portal.changes import ChangeAction
from fe.store.postgres.db import Conn
from fe.store.webhooks import deliveries, recoveries
from fe.store.webhooks.deliveries import DeliveryFilter
from fe.webhooks.accounts import (
    DEFAULT_EVENTS,
    MAX_ENDPOINTS,
    BadWebhook,
    EndpointView,
    NoWebhook,
    Wanted,
    WebhookRefused,
)
from fe.webhooks.headers import BadHeaders, check_headers

#: Empty rows for new headers, and how many deliveries the first page shows.
_ROWS = 3
_LATEST = 5
_EVENT_ORDER = [kind for kind in WebhookEvent if kind in WANTED]

_SAVED = Text("The webhook is saved.", "El webhook quedó guardado.")
_ENABLED = Text(
    "The webhook is called again; what was kept is being delivered.",
    "El webhook se llama de nuevo; lo guardado se está entregando.",
)
_DISABLED_NOW = Text("The webhook is disabled.", "El webhook está desactivado.")
_DELETED = Text(
    "The webhook is deleted. What it was not delivered has ended as failed.",
    "El webhook quedó eliminado. Lo que no se le entregó terminó como fallido.",
)
_NAMELESS = Text(
    "headers: a value without a name: type both again", "headers: un valor sin nombre: escriba ambos de nuevo"
)


@dataclass(frozen=True, slots=True)
class _Typed:
    """Return the form's values. Values of headers are never shown again."""

    url: str
    events: Sequence[str]
    kept: Sequence[str]
    names: Sequence[str] = field(default=("",) * _ROWS)


async def show(visit: Visit) -> Reply:
    """Show the webhook of an environment: its address, its health, and its settings."""
    if visit.portal.webhooks is None:
        return visit.page("company/webhooks.html", found=None, nothing=NOT_HERE)
    return await webhook_page(visit)


async def webhook_page(
    visit: Visit, status: int = 200, problem: Text | None = None, typed: _Typed | None = None, secret: str | None = None
) -> Reply:
    """Return the page with the errors of a form, or with a new secret."""
    shown = await every(visit)
    found = chosen(visit, shown)
    latest = await visit.read_list(
        deliveries.listed, DeliveryFilter(environment=visit.environment, endpoint=name_of(visit)), limit=_LATEST
    )
    asked = await visit.read(recoveries.listed, environment=visit.environment)
    of_this = found and [one for one in asked if one.endpoint_id == found.endpoint.endpoint_id]
    return visit.page(
        "company/webhooks.html",
        status,
        nothing=None,
        found=found,
        name=name_of(visit),
        others=[one for one in shown if one.endpoint.environment is None],
        endpoints=[one.endpoint for one in shown if one.endpoint.environment is not None],
        most=MAX_ENDPOINTS,
        state=state_of(found),
        typed=typed or _as_it_is(found),
        problem=problem,
        secret=secret,
        latest=latest,
        recoveries=of_this or [],
        events=[(kind, EVENTS[kind]) for kind in _EVENT_ORDER],
        disabled=DISABLED,
        states=SHOWN_STATES,
        recovery_states=RECOVERY_STATES,
    )


def _as_it_is(found: EndpointView | None) -> _Typed:
    if found is None:
        return _Typed("", list(DEFAULT_EVENTS), ())
    return _Typed(found.endpoint.url, list(found.endpoint.events), list(found.header_names))


async def save(visit: Visit) -> Reply:
    """Set where the company is called, and of what; of a new one the secret is shown."""
    accounts_of(visit)
    require_enabled_company(visit)
    typed = _typed(visit.form)
    try:
        made = await visit.change(_save, visit, typed, _headers(visit.form))
    except WebhookRefused as refused:
        return await webhook_page(visit, status_of(refused), refused.text, typed)
    visit.portal.wakeups.notify("webhook_recovery")
    if made.secret is not None:
        return await webhook_page(visit, secret=made.secret)
    return await visit.go(there(visit), _SAVED)


async def _save(conn: Conn, visit: Visit, typed: _Typed, headers: Mapping[str, str]) -> EndpointView:
    accounts = accounts_of(visit)
    before = await _locked(conn, visit)
    visit.require_unchanged(state_of(before))
    wanted = Wanted(
        url=typed.url,
        enabled=before is None or before.endpoint.enabled,
        events=typed.events,
        headers=headers,
        kept=typed.kept,
    )
    made = await accounts.put(conn, visit.tenant_id, visit.environment, wanted, visit.now, name=name_of(visit))
    await visit.note(
        conn, "webhook set", subject_of(visit), None if before is None else before.audit_record, made.audit_record
    )
    return made


async def switch(visit: Visit) -> Reply:
    """Enable or disable the webhook."""
    require_enabled_company(visit)
    is_wanted = visit.form.get("enabled") == "yes"
    try:
        await visit.change(_switch, visit, is_wanted)
    except WebhookRefused as refused:
        return await webhook_page(visit, status_of(refused), refused.text)
    visit.portal.wakeups.notify("webhook_recovery")
    return await visit.go(there(visit), _ENABLED if is_wanted else _DISABLED_NOW)


async def _switch(conn: Conn, visit: Visit, is_wanted: bool) -> None:
    accounts = accounts_of(visit)
    before = await _locked(conn, visit)
    visit.require_unchanged(state_of(before))
    if before is None:
        raise NoWebhook(visit.environment, name_of(visit))
    made: EndpointView | None
    if is_wanted:
        wanted = Wanted(url=before.endpoint.url, events=before.endpoint.events)
        made = await accounts.put(conn, visit.tenant_id, visit.environment, wanted, visit.now, name=name_of(visit))
    else:
        made = await accounts.disable(conn, visit.tenant_id, visit.environment, visit.now, name=name_of(visit))
    assert made is not None
    action: ChangeAction = "webhook enabled" if is_wanted else "webhook disabled"
    await visit.note(conn, action, subject_of(visit), before.audit_record, made.audit_record)


async def delete(visit: Visit) -> Reply:
    """Delete the endpoint; what it was not delivered ends as failed."""
    try:
        await visit.change(_delete, visit)
    except WebhookRefused as refused:
        return await webhook_page(visit, status_of(refused), refused.text)
    return await visit.go(visit.within("webhooks"), _DELETED)


async def _delete(conn: Conn, visit: Visit) -> None:
    before = await _locked(conn, visit)
    visit.require_unchanged(state_of(before))
    gone = await accounts_of(visit).remove(conn, visit.tenant_id, visit.environment, visit.now, name=name_of(visit))
    await visit.note(conn, "webhook deleted", subject_of(visit), gone.audit_record, None)


async def _locked(conn: Conn, visit: Visit) -> EndpointView | None:
    """Lock the webhook until the transaction ends, and return it."""
    found = await accounts_of(visit).shown(conn, visit.tenant_id, visit.environment, visit.now, locked=True)
    return chosen(visit, found)


def _typed(form: Form) -> _Typed:
    names = [form.get(f"name-{row}") for row in range(_ROWS)]
    return _Typed(form.get("url"), list(form.every("events")), list(form.every("kept")), names)


def _headers(form: Form) -> Mapping[str, str]:
    """The headers that were typed. Raises BadWebhook, which quotes no value."""
    pairs = [(form.get(f"name-{row}"), form.get(f"value-{row}")) for row in range(_ROWS)]
    given = [(name, value) for name, value in pairs if name or value]
    if any(not name for name, _ in given):
        raise BadWebhook(_NAMELESS)
    try:
        return dict(check_headers(given))
    except BadHeaders as bad:
        raise BadWebhook(bad.text.after("headers")) from None


_THERE = "/companies/<int:company>/<environment>/webhooks"
PAGES = (
    Page("GET", _THERE, Needs.READ, show),
    Page("POST", _THERE, Needs.WRITE, save),
    Page("POST", f"{_THERE}/enabled", Needs.WRITE, switch),
    Page("POST", f"{_THERE}/delete", Needs.WRITE, delete),
)
