"""One try: the call as it is made, and what its answer means. The call itself is the egress client's."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from fe.clock import Clock
from fe.egress.answer import HttpReply
from fe.egress.client import SECONDS, Egress, Request
from fe.egress.errors import EgressError
from fe.webhooks.schedule import retry_after
from fe.webhooks.signature import signed_headers

#: Bytes of an answer that the history keeps.
_KEPT: Final = 1024

#: The word for an answer that confirms nothing; the others are those of fe/egress/errors.py.
STATUS: Final = "status"
_GONE: Final = 410


@dataclass(frozen=True, slots=True)
class WebhookCall:
    """One call: destination, body and secrets, of which the first is the current one."""

    url: str
    event: str
    delivery_id: str
    body: bytes
    headers: Sequence[tuple[str, str]]
    secrets: Sequence[str]
    #: W3C trace headers, if traced; the tenant's own headers of these names replace them.
    trace: Sequence[tuple[str, str]] = ()


@dataclass(frozen=True, slots=True)
class Tried:
    """A try that was made. `error` None: it was confirmed; else a word of a short list, and `reason` more of it."""

    begun: datetime
    duration: timedelta
    status: int | None
    error: str | None
    reason: str | None
    answer: bytes | None
    #: How long the endpoint asks us to wait, if it does.
    wait: timedelta | None

    @property
    def is_redirect(self) -> bool:
        """Return whether the endpoint confirmed with a redirect, which is not followed."""
        return self.error is None and self.status is not None and 300 <= self.status < 400

    @property
    def is_gone(self) -> bool:
        """Whether the endpoint said that it is to be called no more."""
        return self.status == _GONE


async def try_once(egress: Egress, call: WebhookCall, clock: Clock, *, seconds: float = SECONDS) -> Tried:
    """Make the call. Raises only our own errors; when cancelled, the event may have arrived or not."""
    begun, started = clock(), time.monotonic()
    headers = signed_headers(
        call.secrets,
        event=call.event,
        delivery_id=call.delivery_id,
        timestamp=int(begun.timestamp()),
        body=call.body,
    )
    theirs = {name.lower() for name, _ in call.headers}
    trace = [] if theirs & {"traceparent", "tracestate"} else call.trace
    request = Request("POST", call.url, [*headers, *trace, *call.headers], call.body)
    try:
        reply = await egress.exchange(request, seconds=seconds)
    except EgressError as error:
        return Tried(begun, _since(started), None, error.kind, error.reason, None, None)
    return _what_came_of_it(reply, begun, _since(started), clock())


def _what_came_of_it(reply: HttpReply, begun: datetime, duration: timedelta, now: datetime) -> Tried:
    """A 2xx or 3xx confirms; everything else is a failure."""
    answer = reply.body[:_KEPT] or None
    if 200 <= reply.status < 400:
        return Tried(begun, duration, reply.status, None, None, answer, None)
    wait = retry_after(reply.retry_after, now)
    return Tried(begun, duration, reply.status, STATUS, f"it answered {reply.status}", answer, wait)


def _since(started: float) -> timedelta:
    return timedelta(seconds=time.monotonic() - started)
