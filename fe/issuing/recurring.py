"""Recurring receipts: a template and a day of the month, issued by the accepting path (docs/decisions/recurring.md).

A turn's clientRequestId is made from the template's id and the month, so that whatever is repeated issues it once.
"""

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from datetime import date, datetime, timedelta
from enum import StrEnum
from typing import Any, Final
from uuid import UUID

from fe.ecf.catalogue import Environment, Root
from fe.ecf.dates import local
from fe.ecf.document import read_payload
from fe.ecf.ids import new_id
from fe.ecf.json_text import write_canonical_json
from fe.ecf.modified import NOTES
from fe.ecf.texts import LocalizedError, Text
from fe.identifiers import ApiKeyId, ClientRequestId, TenantId
from fe.issuing.recurring_days import days_from, issuing_of, next_day, preview_of
from fe.store.postgres.db import Conn
from fe.store.records import recurring
from fe.store.records.recurring import (
    MOST,
    RecurringContent,
    RecurringRecord,
    RecurringState,
    TurnRecord,
    TurnState,
)

MAX_PAYLOAD: Final = 256 * 1024
#: Fields that each turn gets anew.
OF_A_TURN: Final = (
    *("Encabezado.IdDoc.eNCF", "Encabezado.IdDoc.FechaVencimientoSecuencia", "Encabezado.IdDoc.FechaLimitePago"),
    *("Encabezado.IdDoc.FechaDesde", "Encabezado.IdDoc.FechaHasta", "Encabezado.Emisor.FechaEmision", "FechaHoraFirma"),
)
_OWN_FIELD = Text(
    "{path}: each receipt gets its own; leave it out (for FechaLimitePago set paymentDays)",
    "{path}: cada comprobante recibe el suyo; omítalo (para FechaLimitePago indique paymentDays)",
)
_NO_TEMPLATE = Text(
    "payload: must be an e-CF other than a note", "payload: debe ser un e-CF que no sea nota de débito o crédito"
)
_TOO_LARGE = Text("payload: at most 256 KB", "payload: máximo 256 KB")
_FULL = Text(
    "there are {most:,} recurring receipts, the most that there may be",
    "hay {most:,} comprobantes recurrentes, el máximo permitido",
)
_NOT_NOW = Text("{month} is {state}: there is nothing to do", "{month} está {state}: no hay nada que hacer")
STATES: Mapping[TurnState, Text] = {
    TurnState.WAITING: Text("being issued", "emitiéndose"),
    TurnState.ISSUED: Text("issued", "emitido"),
    TurnState.HELD: Text("held", "detenido"),
    TurnState.SKIPPED: Text("skipped", "omitido"),
    TurnState.MISSED: Text("not issued", "no emitido"),
}


class BadTemplate(LocalizedError):
    """The template cannot be issued each month; the message says why."""


class NoSuchRecurring(Exception):
    """The tenant has none with this id, or no turn of this month."""


class RecurringConflict(LocalizedError):
    """It cannot be done to what is there now."""


class OtherVersion(Exception):
    """It is not at the version that the change was made from; `current` is what is there."""

    def __init__(self, current: RecurringRecord | None) -> None:
        super().__init__(current)
        self.current = current


class TurnAction(StrEnum):
    """A person's decision about a turn."""

    ISSUE = "issue"
    SKIP = "skip"


def request_id(id_: str, month: date) -> ClientRequestId:
    """Return the clientRequestId of a turn."""
    return ClientRequestId(f"recurring:{id_}:{month:%Y-%m}")


def read_template(payload: Mapping[str, Any]) -> bytes:
    """Check the payload of a template, and write it down. CPU work. Raises BadTemplate, NotADocument."""
    document = read_payload(payload)
    if document.root is not Root.ECF or document.type is None or document.type in NOTES:
        raise BadTemplate(_NO_TEMPLATE)
    for path in OF_A_TURN:
        if document.get(path) not in (None, ""):
            raise BadTemplate(_OWN_FIELD.fill(path=path))
    content = {**document.content}
    head = {**content.get("Encabezado", {})}
    head["IdDoc"] = {**head.get("IdDoc", {}), "TipoeCF": document.type.value}
    written = write_canonical_json({**content, "Encabezado": head})
    if len(written) > MAX_PAYLOAD:
        raise BadTemplate(_TOO_LARGE)
    return written


def content_of(record: RecurringRecord) -> RecurringContent:
    """Return what a client writes of it, to change and put again."""
    return RecurringContent(**{one.name: getattr(record, one.name) for one in fields(RecurringContent)})


def next_days(record: RecurringRecord, most: int = 3) -> list[date]:
    """Return the next due days."""
    if record.next_on is None or record.state is not RecurringState.ACTIVE:
        return []
    days = days_from(record.next_on, record.day, record.every)
    found = [next(days) for _ in range(most)]
    return [day for day in found if record.ends_on is None or day <= record.ends_on]


def next_due(content: RecurringContent, found: RecurringRecord | None, now: datetime) -> date:
    """Return the next due day of `content` in place of `found`, whatever its end is."""
    today = local(now).date()
    # A new one without a first day is not issued on the day it is made.
    first = today if found is not None or content.starts_on is not None else today + timedelta(days=1)
    last_month = None if found is None else found.last_month
    return next_day(content.day, content.every, last_month, max(content.starts_on or first, first))


async def put(
    conn: Conn,
    tenant_id: TenantId,
    environment: Environment,
    content: RecurringContent,
    *,
    now: datetime,
    api_key_id: ApiKeyId,
    by: str,
    version: int | None = None,
) -> RecurringRecord:
    """Write one whole, in a transaction; held turns are tried again at once.

    `version`: the one that the change was made from, 0 for a new one, None for whatever is there. Raises OtherVersion,
    RecurringConflict.
    """
    found = await recurring.lock_of_client(conn, tenant_id, environment, content.id)
    if version is not None and version != (0 if found is None else found.version):
        raise OtherVersion(found)
    if found is None and await recurring.count(conn, tenant_id, environment) >= MOST:
        raise RecurringConflict(_FULL.fill(most=MOST))
    next_on = next_due(content, found, now)
    state = content.state
    if content.ends_on is not None and next_on > content.ends_on:
        state = RecurringState.ENDED
    is_active = state is RecurringState.ACTIVE
    recurring_id = new_id(now) if found is None else found.recurring_id
    await recurring.write(
        conn,
        tenant_id,
        recurring_id,
        environment,
        replace(content, state=state),
        is_new=found is None,
        next_on=next_on if is_active else None,
        api_key_id=api_key_id,
        at=now,
        by=by,
    )
    await recurring.try_held(conn, tenant_id, recurring_id, now if is_active else None)
    return await planned(conn, tenant_id, recurring_id)


async def delete(
    conn: Conn, tenant_id: TenantId, environment: Environment, id_: str, *, version: int | None = None
) -> None:
    """Delete one, in a transaction. Its receipts stay. Raises NoSuchRecurring, OtherVersion."""
    found = await recurring.lock_of_client(conn, tenant_id, environment, id_)
    if found is None:
        raise NoSuchRecurring
    if version not in (None, found.version):
        raise OtherVersion(found)
    await recurring.delete(conn, tenant_id, found.recurring_id)


async def decide(
    conn: Conn,
    tenant_id: TenantId,
    environment: Environment,
    id_: str,
    month: date,
    action: TurnAction,
    *,
    now: datetime,
) -> RecurringRecord:
    """Issue a turn that was held, missed or skipped, or skip one that was not issued, also the next one.

    In a transaction. Raises NoSuchRecurring, RecurringConflict.
    """
    found = await recurring.lock_of_client(conn, tenant_id, environment, id_)
    if found is None:
        raise NoSuchRecurring
    turn = await recurring.turn(conn, tenant_id, found.recurring_id, month)
    if turn is None:
        coming = found.next_on
        if coming is None or coming.replace(day=1) != month or action is not TurnAction.SKIP:
            raise NoSuchRecurring
        await recurring.add_turn(conn, tenant_id, found.recurring_id, coming, TurnState.SKIPPED)
        await move_past(conn, tenant_id, found, coming)
    elif turn.state in (TurnState.ISSUED, TurnState.WAITING):
        raise RecurringConflict(_NOT_NOW.fill(month=f"{month:%Y-%m}", state=STATES[turn.state]))
    else:
        state = TurnState.SKIPPED if action is TurnAction.SKIP else TurnState.WAITING
        try_at = None if action is TurnAction.SKIP else now
        await recurring.set_turn(conn, tenant_id, found.recurring_id, month, state, try_at=try_at)
    return await planned(conn, tenant_id, found.recurring_id)


async def move_past(conn: Conn, tenant_id: TenantId, record: RecurringRecord, due: date) -> None:
    """Go on to the due day after `due`; at its end it is ended."""
    month = due.replace(day=1)
    following: date | None = next_day(record.day, record.every, month, due)
    if record.ends_on is not None and following is not None and following > record.ends_on:
        following = None
    state = record.state if following is not None else RecurringState.ENDED
    await recurring.move(conn, tenant_id, record.recurring_id, state=state, next_on=following, last_month=month)


async def planned(conn: Conn, tenant_id: TenantId, recurring_id: UUID) -> RecurringRecord:
    """Plan the next look at one that is locked, and return it as it is now."""
    record = await recurring.find(conn, tenant_id, recurring_id)
    assert record is not None
    open_turns = await recurring.open_turns(conn, tenant_id, recurring_id)
    await recurring.plan(conn, tenant_id, recurring_id, next_look(record, open_turns))
    return record


def next_look(record: RecurringRecord, open_turns: Sequence[TurnRecord]) -> datetime | None:
    """Return when something is due: a turn to try, the preview, or the next issue. None: nothing is."""
    moments = [turn.try_at for turn in open_turns if turn.try_at is not None]
    if record.state is RecurringState.ACTIVE and record.next_on is not None:
        is_previewed = record.previewed_for == record.next_on
        moments.append(issuing_of(record.next_on) if is_previewed else preview_of(record.next_on))
    return min(moments, default=None)


def is_due(record: RecurringRecord, now: datetime) -> bool:
    """Whether its next turn has come."""
    return record.state is RecurringState.ACTIVE and record.next_on is not None and issuing_of(record.next_on) <= now
