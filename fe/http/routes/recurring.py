"""Recurring receipts over HTTP (docs/decisions/recurring.md)."""

import re
from datetime import date
from decimal import Decimal
from typing import Any
from uuid import UUID

import trio

from fe.catalogue.fields import ID_FORM, read_id
from fe.clock import Clock, iso
from fe.ecf.document import NotADocument
from fe.ecf.json_text import mark
from fe.ecf.mail_address import MailAddress
from fe.ecf.parse import parse_json
from fe.ecf.problems import Problem
from fe.ecf.texts import Text
from fe.http.calls import ApiReply, Call
from fe.http.errors import ApiError
from fe.http.languages import Language, serialize_problems
from fe.http.messages import say
from fe.http.models.recurring import (
    RECURRING,
    RECURRING_DELETED,
    RECURRING_LIST,
    PreviewAnswer,
    RecurringAnswer,
    RecurringRequest,
    RecurringSummary,
    RecurringTurn,
    TurnRequest,
)
from fe.http.paging import read_in_turn
from fe.http.parameters import LIMIT_DEFAULT, LIMIT_MAX, read_number
from fe.http.request_bodies import read_body
from fe.identifiers import TenantId, UserId
from fe.issuing.recurring import (
    BadTemplate,
    NoSuchRecurring,
    OtherVersion,
    RecurringConflict,
    TurnAction,
    decide,
    delete,
    next_days,
    put,
    read_template,
    request_id,
)
from fe.limits import ConcurrencyLimit
from fe.store.postgres.db import Database
from fe.store.records import recurring
from fe.store.records.recurring import RecurringContent, RecurringRecord, RecurringState, TurnRecord

_MONTH = re.compile(r"20[0-9]{2}-(0[1-9]|1[0-2])")


class RecurringHandlers:
    """The handlers of /recurring."""

    def __init__(self, db: Database, lists: ConcurrencyLimit[TenantId], clock: Clock) -> None:
        self._db = db
        self._lists = lists
        self._clock = clock
        self._threads = trio.CapacityLimiter(1)

    async def listed(self, call: Call) -> ApiReply:
        """List those of the caller's environment by id."""
        query, caller = call.query(), call.identity
        limit = read_number(query, "limit", default=LIMIT_DEFAULT, minimum=1, maximum=LIMIT_MAX)
        after = query.get("cursor", "")
        if after and read_id(after) is None:
            raise ApiError(400, say("bad-cursor"))
        found = await read_in_turn(
            self._db, self._lists, caller.tenant_id, recurring.listed, caller.environment, after=after, limit=limit
        )
        cursor = found[-1].id if len(found) == limit else None
        items = [_summary(one) for one in found]
        return ApiReply(200, RECURRING_LIST.write({"limit": limit, "items": items, "nextCursor": cursor}))

    async def show(self, call: Call) -> ApiReply:
        """Show one with its turns."""
        caller = call.identity
        found = await self._db.run_for(caller.tenant_id, recurring.of_client, caller.environment, _id(call))
        if found is None:
            raise ApiError(404, say("no-recurring"))
        return await self._shown(call, found)

    async def put(self, call: Call) -> ApiReply:
        """Write one whole."""
        raw, caller, id_ = await call.body(), call.identity, read_id(call.params["recurring_id"])
        if id_ is None:
            raise ApiError(400, ID_FORM.after("id"))
        body, payload = await trio.to_thread.run_sync(_read, raw, limiter=self._threads)
        content = RecurringContent(
            id=id_,
            name=body.name,
            state=RecurringState(body.status),
            day=body.day,
            every=body.everyMonths,
            starts_on=body.starts_on,
            ends_on=body.ends_on,
            customer=body.customer,
            payment_days=body.paymentDays,
            payload=payload,
            as_user=body.asUser,
            as_user_id=None if body.asUserId is None else UserId(UUID(body.asUserId)),
            notify=None if body.notify is None else MailAddress(body.notify),
            sequence=body.sequence,
        )
        try:
            made = await self._db.transact_for(
                caller.tenant_id,
                put,
                caller.tenant_id,
                caller.environment,
                content,
                now=self._clock(),
                api_key_id=caller.api_key_id,
                by=caller.api_key_id,
                version=body.version,
            )
        except OtherVersion as other:
            raise _conflict(other) from None
        except RecurringConflict as full:
            raise ApiError(409, full.text) from None
        return await self._shown(call, made, body.ignored)

    async def delete(self, call: Call) -> ApiReply:
        """Delete one."""
        id_, caller = _id(call), call.identity
        version = read_number(call.query(), "version", default=0, minimum=1, maximum=999_999_999) or None
        try:
            await self._db.transact_for(
                caller.tenant_id, delete, caller.tenant_id, caller.environment, id_, version=version
            )
        except NoSuchRecurring:
            raise ApiError(404, say("no-recurring")) from None
        except OtherVersion as other:
            raise _conflict(other) from None
        return ApiReply(200, RECURRING_DELETED.write({"ok": True, "id": id_}))

    async def decide(self, call: Call) -> ApiReply:
        """Issue or skip a turn."""
        id_, caller, month = _id(call), call.identity, call.params["month"]
        body = read_body(TurnRequest, await call.body())
        if not _MONTH.fullmatch(month):
            raise ApiError(404, say("no-turn"))
        try:
            made = await self._db.transact_for(
                caller.tenant_id,
                decide,
                caller.tenant_id,
                caller.environment,
                id_,
                date.fromisoformat(f"{month}-01"),
                TurnAction(body.action),
                now=self._clock(),
            )
        except NoSuchRecurring:
            raise ApiError(404, say("no-turn")) from None
        except RecurringConflict as conflict:
            raise ApiError(409, conflict.text) from None
        return await self._shown(call, made, body.ignored)

    async def _shown(self, call: Call, found: RecurringRecord, ignored: tuple[Problem, ...] = ()) -> ApiReply:
        turns = await self._db.run_for(call.identity.tenant_id, recurring.turns, found.recurring_id)
        summary = _summary(found)
        answer: RecurringAnswer = {
            "id": summary["id"],
            "name": summary["name"],
            "status": summary["status"],
            "day": summary["day"],
            "everyMonths": summary["everyMonths"],
            "nextOn": summary["nextOn"],
            "held": summary["held"],
            "version": summary["version"],
            "changedAt": summary["changedAt"],
            "environment": found.environment.value,
            "startsOn": _day(found.starts_on),
            "endsOn": _day(found.ends_on),
            "nextDays": [day.isoformat() for day in next_days(found)],
            "customer": found.customer,
            "paymentDays": found.payment_days,
            "payload": _marked(parse_json(found.payload)),
            "asUser": found.as_user,
            "asUserId": None if found.as_user_id is None else str(found.as_user_id),
            "notify": found.notify,
            "sequence": found.sequence,
            "preview": _preview(found, call.language),
            "turns": [_turn(found.id, turn, call.language) for turn in turns],
        }
        if ignored:
            answer["warnings"] = serialize_problems(ignored, call.language)
        return ApiReply(200, RECURRING.write(answer))


def _read(raw: bytes) -> tuple[RecurringRequest, bytes]:
    body = read_body(RecurringRequest, raw)
    try:
        return body, read_template(body.payload)
    except BadTemplate as bad:
        raise ApiError(400, bad.text) from None
    except NotADocument as bad:
        raise ApiError(400, bad.problems[0].text.after("payload")) from None


def _id(call: Call) -> str:
    found = read_id(call.params["recurring_id"])
    if found is None:
        raise ApiError(404, say("no-recurring"))
    return found


def _conflict(other: OtherVersion) -> ApiError:
    there = other.current
    if there is None:
        return ApiError(409, say("entry-gone"))
    return ApiError(409, say("entry-changed", version=there.version, at=iso(there.changed_at)))


def _day(day: date | None) -> str | None:
    return None if day is None else day.isoformat()


def _summary(found: RecurringRecord) -> RecurringSummary:
    return {
        "id": found.id,
        "name": found.name,
        "status": found.state.value,
        "day": found.day,
        "everyMonths": found.every,
        "nextOn": _day(found.next_on),
        "held": found.held,
        "version": found.version,
        "changedAt": iso(found.changed_at),
    }


def _preview(found: RecurringRecord, language: Language) -> PreviewAnswer | None:
    preview = found.preview
    if preview is None:
        return None
    return {
        "dueOn": preview["dueOn"],
        "type": preview["type"],
        "buyerName": preview["buyerName"],
        "buyerRnc": preview["buyerRnc"],
        "total": None if preview["total"] is None else Decimal(preview["total"]),
        "itbis": None if preview["itbis"] is None else Decimal(preview["itbis"]),
        "reason": preview["reason"],
        "messages": preview["messagesEs" if language == "es" else "messages"],
    }


def _turn(id_: str, turn: TurnRecord, language: Language) -> RecurringTurn:
    return {
        "month": f"{turn.month:%Y-%m}",
        "dueOn": turn.due_on.isoformat(),
        "status": turn.state.value,
        "reason": None if turn.reason is None else turn.reason.value,
        "messages": [Text(*one).said(language) for one in turn.said or ()],
        "triedAt": None if turn.tried_at is None else iso(turn.tried_at),
        "retryAt": None if turn.try_at is None else iso(turn.try_at),
        "clientRequestId": request_id(id_, turn.month),
        "taxLogId": None if turn.submission_id is None else str(turn.submission_id),
        "eNCF": turn.e_ncf,
    }


def _marked(value: Any) -> Any:
    """Return JSON with its decimals as `ResponseModel.write` takes them."""
    if isinstance(value, Decimal):
        return mark(value)
    if isinstance(value, dict):
        return {name: _marked(one) for name, one in value.items()}
    return [_marked(one) for one in value] if isinstance(value, list) else value
