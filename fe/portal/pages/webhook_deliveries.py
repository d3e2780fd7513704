"""Deliveries to a company's webhook, each with its attempts and a button to send it again."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from urllib.parse import urlencode
from uuid import UUID

from fe.ecf.dates import ZONE
from fe.ecf.ids import read_id
from fe.ecf.texts import LocalizedError, Text
from fe.lifecycle import WebhookEvent
from fe.portal.days import read_day, read_moment
from fe.portal.foreign_text import foreign
from fe.portal.page_types import Needs, Page
from fe.portal.pages.webhooks import webhook_page
from fe.portal.replies import Reply, not_found
from fe.portal.visit import Visit
from fe.portal.webhook_visits import (
    accounts_of,
    count_call,
    name_of,
    require_enabled_company,
    status_of,
    subject_of,
    there,
)
from fe.portal.webhook_words import ERRORS, EVENTS, SHOWN_STATES, STATES
from fe.store.postgres.db import Conn
from fe.store.webhooks import deliveries, endpoints
from fe.store.webhooks.deliveries import DeliveryFilter, DeliveryRecord
from fe.store.webhooks.recoveries import RecoveryRecord
from fe.webhooks import accounts as webhooks
from fe.webhooks.accounts import WebhookRefused

_PAGE = 50
#: Characters shown of a body: a received receipt with its XML may have megabytes.
_BODY_BYTES = 16 * 1024

_AGAIN = Text("It is on its way again.", "Se está enviando de nuevo.")
_TESTED = Text("The test is on its way: this is its delivery.", "La prueba se está enviando: esta es su entrega.")
_RECOVERING = Text(
    "Events not delivered since then are being sent again.",
    "Los eventos no entregados desde entonces se están enviando de nuevo.",
)


@dataclass(frozen=True, slots=True)
class _Asked:
    """Which deliveries were asked for, as it stands in the address."""

    state: str
    event: str
    about: str
    since: str
    until: str

    def after(self, last: UUID) -> str:
        """The query of the page that follows a delivery."""
        fields = {
            "state": self.state,
            "event": self.event,
            "about": self.about,
            "from": self.since,
            "to": self.until,
            "before": str(last),
        }
        return urlencode({name: value for name, value in fields.items() if value})


async def listed(visit: Visit) -> Reply:
    """List deliveries, the newest first, a page at a time."""
    accounts_of(visit)
    asked = _asked(visit)
    problem, status, chosen = None, 200, DeliveryFilter(environment=visit.environment)
    try:
        chosen = _filter(visit, asked)
    except LocalizedError as error:
        problem, status = error.text, 400
    below = read_id(visit.query.get("before", ""))
    found = await visit.read_list(deliveries.listed, chosen, limit=_PAGE + 1, below=below)
    more = asked.after(found[_PAGE - 1].delivery_id) if len(found) > _PAGE else None
    return visit.page(
        "company/webhook_deliveries.html",
        status,
        found=found[:_PAGE],
        asked=asked,
        is_first=below is None,
        more=more,
        problem=problem,
        states=STATES,
        shown_states=SHOWN_STATES,
        events=list(EVENTS),
        foreign=foreign,
    )


def _asked(visit: Visit) -> _Asked:
    given = visit.query
    return _Asked(*(given.get(name, "")[:200] for name in ("state", "event", "about", "from", "to")))


def _filter(visit: Visit, asked: _Asked) -> DeliveryFilter:
    """Read the filters; an unknown state or kind matches nothing. Raises LocalizedError."""
    since, until = read_day(asked.since), read_day(asked.until)
    state = STATES.get(asked.state)
    return DeliveryFilter(
        environment=visit.environment,
        state=None if state is None else state[0],
        kind=next((kind for kind in WebhookEvent if kind == asked.event), None),
        # An id has no other characters, and the database would reject some of them.
        about=(asked.about if asked.about.isprintable() else "?") or None,
        since=None if since is None else _begin(since),
        until=None if until is None else _begin(until) + timedelta(days=1, milliseconds=-1),
    )


def _begin(day: date) -> datetime:
    return datetime.combine(day, time.min, ZONE)


async def one(visit: Visit) -> Reply:
    """Show a delivery with its attempts, content and answers."""
    return await _page(visit, await _find(visit))


async def _page(visit: Visit, found: DeliveryRecord, status: int = 200, problem: Text | None = None) -> Reply:
    attempts = await visit.read(deliveries.attempts, found.delivery_id)
    body, size = await visit.read(deliveries.body, found.event_id, maximum=_BODY_BYTES)
    return visit.page(
        "company/webhook_delivery.html",
        status,
        found=found,
        endpoint=await visit.read(endpoints.one, found.endpoint_id),
        attempts=attempts,
        body=body,
        size=size,
        shown_states=SHOWN_STATES,
        words=EVENTS[found.kind],
        errors=ERRORS,
        foreign=foreign,
        problem=problem,
    )


async def _find(visit: Visit) -> DeliveryRecord:
    """The delivery in the address. Raises Refused where the company has none such in the environment."""
    wanted = read_id(visit.params["delivery"])
    found = None if wanted is None else await visit.read(deliveries.one, wanted)
    if found is None or found.environment not in (visit.environment, None):
        raise not_found()
    return found


async def retry(visit: Visit) -> Reply:
    """Have a delivery made again, under its id."""
    count_call(visit)
    found = await _find(visit)
    try:
        await visit.change(_retry, visit, found.delivery_id)
    except WebhookRefused as refused:
        return await _page(visit, found, status_of(refused), refused.text)
    visit.portal.wakeups.notify("webhook")
    return await visit.go(_there(visit, found.delivery_id), _AGAIN)


async def _retry(conn: Conn, visit: Visit, delivery_id: UUID) -> None:
    await webhooks.retry(conn, visit.tenant_id, delivery_id)


async def test(visit: Visit) -> Reply:
    """Send an event `test`, and redirect to its delivery."""
    count_call(visit)
    require_enabled_company(visit)
    try:
        delivery_id = await visit.change(_test, visit)
    except WebhookRefused as refused:
        return await webhook_page(visit, status_of(refused), refused.text)
    return await visit.go(_there(visit, delivery_id), _TESTED)


async def _test(conn: Conn, visit: Visit) -> UUID:
    return await accounts_of(visit).test(conn, visit.tenant_id, visit.environment, visit.now, name=name_of(visit))


async def recover(visit: Visit) -> Reply:
    """Redeliver the events that were not delivered since a time."""
    count_call(visit)
    require_enabled_company(visit)
    try:
        await visit.change(_recover, visit, read_moment(visit.form.get("since")))
    except WebhookRefused as refused:
        return await webhook_page(visit, status_of(refused), refused.text)
    except LocalizedError as error:
        return await webhook_page(visit, 400, error.text)
    visit.portal.wakeups.notify("webhook_recovery")
    return await visit.go(there(visit), _RECOVERING)


async def _recover(conn: Conn, visit: Visit, since: datetime) -> RecoveryRecord:
    asked = await accounts_of(visit).recover(
        conn, visit.tenant_id, visit.environment, since, visit.now, name=name_of(visit)
    )
    await visit.note(conn, "webhook recovery asked", subject_of(visit), None, {"since": since.isoformat()})
    return asked


def _there(visit: Visit, delivery_id: UUID) -> str:
    return visit.within(f"webhooks/deliveries/{delivery_id}")


_BASE = "/companies/<int:company>/<environment>/webhooks"
PAGES: Sequence[Page] = (
    Page("GET", f"{_BASE}/deliveries", Needs.READ, listed),
    Page("GET", f"{_BASE}/deliveries/<delivery>", Needs.READ, one),
    Page("POST", f"{_BASE}/deliveries/<delivery>/retry", Needs.WRITE, retry),
    Page("POST", f"{_BASE}/test", Needs.WRITE, test),
    Page("POST", f"{_BASE}/recover", Needs.WRITE, recover),
)
