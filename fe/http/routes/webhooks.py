"""Webhooks over HTTP: where the tenant is called, what became of each delivery, and sending again."""

import re
from collections.abc import Awaitable, Callable
from datetime import datetime
from operator import attrgetter
from typing import Concatenate, Literal, ParamSpec, TypeVar
from uuid import UUID

import trio

from fe.clock import Clock, iso
from fe.ecf.ids import read_id
from fe.ecf.texts import Text
from fe.http.calls import ApiReply, Call
from fe.http.errors import ApiError
from fe.http.languages import serialize_problems
from fe.http.messages import must_be, say
from fe.http.models.responses import NOT_FOUND
from fe.http.models.webhooks import (
    DELIVERY_AGAIN,
    DELIVERY_DETAIL,
    DELIVERY_PAGE,
    DELIVERY_STRETCH,
    RECOVERIES,
    RECOVERY,
    WEBHOOK,
    WEBHOOK_DELETED,
    WEBHOOKS,
    Attempt,
    Delivery,
    DeliveryAgain,
    DeliveryDetail,
    Recoveries,
    Recovery,
    RecoveryRequest,
    State,
    Webhook,
    WebhookRequest,
    Webhooks,
)
from fe.http.paging import list_reply, read_page
from fe.http.parameters import parse_moment, read_delivery_query
from fe.http.request_bodies import read_body
from fe.identifiers import TenantId
from fe.limits import ConcurrencyLimit, DocumentQuota
from fe.store.postgres.db import Conn, Database
from fe.store.queue.wakeups import Wakeups
from fe.store.webhooks import deliveries, recoveries
from fe.store.webhooks.deliveries import DeliveryState
from fe.store.webhooks.endpoints import DEFAULT
from fe.store.webhooks.recoveries import RecoveryState
from fe.webhooks import accounts as webhooks
from fe.webhooks.accounts import NAME_FORM, BadWebhook, EndpointView, NotNow, NoWebhook, Wanted, WebhookAccounts

P = ParamSpec("P")
T = TypeVar("T")

_NAME = re.compile(NAME_FORM)

_STATES: dict[DeliveryState, State] = {
    DeliveryState.PENDING: "pending",
    DeliveryState.HELD: "held",
    DeliveryState.DELIVERED: "delivered",
    DeliveryState.FAILED: "failed",
}
_RECOVERY_STATES: dict[RecoveryState, Literal["pending", "done", "failed"]] = {
    RecoveryState.UNDER_WAY: "pending",
    RecoveryState.DONE: "done",
    RecoveryState.FAILED: "failed",
}


class WebhookHandlers:
    """The handlers of /webhooks. `accounts` None: this installation has no key for webhooks' secrets."""

    def __init__(
        self,
        db: Database,
        lists: ConcurrencyLimit[TenantId],
        accounts: WebhookAccounts | None,
        wakeups: Wakeups,
        clock: Clock,
        quotas: DocumentQuota,
    ) -> None:
        """Take `quotas` of the calls that tenants ask for: what they are told unasked is not counted."""
        self._db = db
        self._lists = lists
        self._quotas = quotas
        self._known = accounts
        self._wakeups = wakeups
        self._clock = clock

    async def listed(self, call: Call) -> ApiReply:
        """Show where the tenant is called in the key's environment, and in all."""
        caller = call.identity
        found = await self._db.run_for(caller.tenant_id, self._accounts.shown, caller.environment, self._clock())
        answer: Webhooks = {"items": [_serialize(one) for one in found if one.endpoint.name == DEFAULT]}
        return ApiReply(200, WEBHOOKS.write(answer))

    async def endpoints(self, call: Call) -> ApiReply:
        """List every endpoint of the key's environment."""
        caller = call.identity
        found = await self._db.run_for(caller.tenant_id, self._accounts.shown, caller.environment, self._clock())
        own = [one for one in found if one.endpoint.environment is not None]
        answer: Webhooks = {"items": [_serialize(one) for one in own]}
        return ApiReply(200, WEBHOOKS.write(answer))

    async def put(self, call: Call) -> ApiReply:
        """Set where the tenant is called in the key's environment: the endpoint that is named, or the default one."""
        caller, name = call.identity, _name(call)
        new = read_body(WebhookRequest, await call.body())
        wanted = Wanted(
            url=new.url,
            enabled=new.enabled is not False,
            events=webhooks.DEFAULT_EVENTS if new.events is None else new.events,
            headers=new.headers,
        )
        set_now = await self._do(call, self._accounts.put, caller.environment, wanted, self._clock(), name=name)
        self._wakeups.notify("webhook_recovery")
        answer = _serialize(set_now)
        if new.ignored:
            answer["warnings"] = serialize_problems(new.ignored, call.language)
        return ApiReply(200, WEBHOOK.write(answer))

    async def delete(self, call: Call) -> ApiReply:
        """Delete an endpoint; what it was not delivered ends as failed."""
        name = _name(call)
        await self._do(call, self._accounts.remove, call.identity.environment, self._clock(), name=name)
        return ApiReply(200, WEBHOOK_DELETED.write({"ok": True, "name": name}))

    async def rotate(self, call: Call) -> ApiReply:
        """Make a new secret, and show it."""
        shown = await self._do(call, self._accounts.rotate, call.identity.environment, self._clock(), name=_name(call))
        return ApiReply(200, WEBHOOK.write(_serialize(shown)))

    async def test(self, call: Call) -> ApiReply:
        """Send an event `test`."""
        self._count(call)
        name = _name(call)
        delivery_id = await self._do(call, self._accounts.test, call.identity.environment, self._clock(), name=name)
        return ApiReply(202, DELIVERY_AGAIN.write(_again(delivery_id, say("test-on-its-way"), call)))

    async def deliveries(self, call: Call) -> ApiReply:
        """List deliveries, newest first: one page and how many there are, or what follows a cursor."""
        query = read_delivery_query(call.query(), call.identity.environment)
        tenant_id = call.identity.tenant_id
        found, total = await read_page(self._db, self._lists, tenant_id, query, deliveries.listed, deliveries.count)
        return list_reply(query, found, total, _delivery, attrgetter("delivery_id"), DELIVERY_PAGE, DELIVERY_STRETCH)

    async def delivery(self, call: Call) -> ApiReply:
        """Show one delivery with its tries; what matches nothing is 200 {found: false}."""
        tenant_id, wanted = call.identity.tenant_id, read_id(call.params["delivery_id"])
        found = None if wanted is None else await self._db.run_for(tenant_id, deliveries.one, wanted)
        if found is None or not _is_of(call, found):
            return ApiReply(200, NOT_FOUND.write({"found": False}))
        tries = await self._db.run_for(tenant_id, deliveries.attempts, found.delivery_id)
        answer: DeliveryDetail = {**_delivery(found), "tries": [_attempt(one) for one in tries]}
        return ApiReply(200, DELIVERY_DETAIL.write(answer))

    async def retry(self, call: Call) -> ApiReply:
        """Have a delivery made again, under its id."""
        self._count(call)
        wanted = read_id(call.params["delivery_id"])
        tenant_id = call.identity.tenant_id
        known = None if wanted is None else await self._db.run_for(tenant_id, deliveries.one, wanted)
        again = None
        if known is not None and _is_of(call, known):
            again = await self._do(call, webhooks.retry, known.delivery_id)
        if again is None:
            raise ApiError(404, say("no-delivery"))
        return ApiReply(202, DELIVERY_AGAIN.write(_again(again.delivery_id, say("again-on-its-way"), call)))

    async def recover(self, call: Call) -> ApiReply:
        """Deliver again what did not arrive since a moment."""
        self._count(call)
        new = read_body(RecoveryRequest, await call.body())
        since = parse_moment(new.since)
        if since is None:
            raise ApiError(400, say("since-form"))
        caller, name = call.identity, new.endpoint or DEFAULT
        asked = await self._do(call, self._accounts.recover, caller.environment, since, self._clock(), name=name)
        self._wakeups.notify("webhook_recovery")
        answer = _recovery(asked)
        if new.ignored:
            answer["warnings"] = serialize_problems(new.ignored, call.language)
        return ApiReply(202, RECOVERY.write(answer))

    async def recoveries(self, call: Call) -> ApiReply:
        """List the latest recoveries of the webhooks that tell of the key's environment."""
        caller = call.identity
        found = await self._db.run_for(caller.tenant_id, recoveries.listed, environment=caller.environment)
        answer: Recoveries = {"items": [_recovery(one) for one in found]}
        return ApiReply(200, RECOVERIES.write(answer))

    def _count(self, call: Call) -> None:
        """Count a webhook call that the tenant asks for, so that a token cannot make us send without limit.

        It comes before all checks, so that refused requests count too. Raises LimitReached.
        """
        call.limit_by(self._quotas.take(call.identity.tenant_id, 0, trio.current_time()))

    @property
    def _accounts(self) -> WebhookAccounts:
        if self._known is None:
            raise ApiError(503, say("no-webhooks-here"))
        return self._known

    async def _do(
        self,
        call: Call,
        work: Callable[Concatenate[Conn, TenantId, P], Awaitable[T]],
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> T:
        """Do something of the tenant's; what it refuses becomes an answer."""
        try:
            return await self._db.run_for(call.identity.tenant_id, work, *args, **kwargs)
        except BadWebhook as bad:
            raise ApiError(400, bad.text) from None
        except NoWebhook as missing:
            said = say("set-a-webhook", missing=missing.text) if missing.is_default else missing.text
            raise ApiError(404, said) from None
        except NotNow as busy:
            raise ApiError(409, busy.text) from None


def _is_of(call: Call, delivery: deliveries.DeliveryRecord) -> bool:
    """Whether it is of the key's environment, or of none."""
    return delivery.environment in (call.identity.environment, None)


def _name(call: Call) -> str:
    """Read the name in the path; where it has none, the default one's. Raises ApiError (400)."""
    name = call.params.get("endpoint", DEFAULT)
    if not _NAME.fullmatch(name):
        raise ApiError(400, must_be("name", say("endpoint-name")))
    return name


def _moment(at: datetime | None) -> str | None:
    return None if at is None else iso(at)


def _serialize(shown: EndpointView) -> Webhook:
    one = shown.endpoint
    answer: Webhook = {
        "id": str(one.endpoint_id),
        "environment": one.environment,
        "name": one.name,
        "url": one.url,
        "enabled": one.enabled,
        "events": list(one.events),
        "headers": list(shown.header_names),
        "createdAt": iso(one.created_at),
        "updatedAt": iso(one.updated_at),
        "failingSince": _moment(one.failing_since),
        "disabledAt": _moment(one.disabled_at),
        "disabledReason": one.disabled_reason,
        "oldSecretUntil": _moment(shown.old_secret_until),
    }
    if shown.secret is not None:
        answer["secret"] = shown.secret
    return answer


def _delivery(one: deliveries.DeliveryRecord) -> Delivery:
    return {
        "id": str(one.delivery_id),
        "webhookId": str(one.endpoint_id),
        "endpoint": one.endpoint_name,
        "event": one.kind,
        "about": one.about,
        "environment": one.environment,
        "state": _STATES[one.state],
        "attempts": one.attempts,
        "createdAt": iso(one.created_at),
        "nextAttemptAt": _moment(one.next_at),
        "finishedAt": _moment(one.finished_at),
        "lastError": one.last_error,
        "redirected": one.redirected,
    }


def _attempt(one: deliveries.AttemptRecord) -> Attempt:
    return {
        "at": iso(one.at),
        "durationMs": one.duration_ms,
        "status": one.status,
        "error": one.error,
        "redirected": one.redirected,
        "answer": None if one.answer is None else bytes(one.answer).decode("utf-8", "replace"),
    }


def _again(delivery_id: UUID, message: Text, call: Call) -> DeliveryAgain:
    return {"id": str(delivery_id), "state": "pending", "message": message.said(call.language)}


def _recovery(one: recoveries.RecoveryRecord) -> Recovery:
    return {
        "id": str(one.recovery_id),
        "webhookId": str(one.endpoint_id),
        "since": iso(one.since),
        "until": iso(one.until),
        "state": _RECOVERY_STATES[one.state],
        "recovered": one.recovered,
        "askedAt": iso(one.asked_at),
        "finishedAt": _moment(one.finished_at),
    }
