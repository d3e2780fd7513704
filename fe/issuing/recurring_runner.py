"""Issues recurring receipts that are due, and makes their previews (docs/decisions/recurring.md)."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from decimal import Decimal
from itertools import takewhile
from typing import Any, Final

import structlog
import trio

from fe.catalogue.entries import Customer
from fe.catalogue.fields import EntryId
from fe.clock import Clock, iso
from fe.ecf.catalogue import EcfType, Root
from fe.ecf.dates import local, show_day
from fe.ecf.describe import described, every
from fe.ecf.document import Document, NotADocument
from fe.ecf.json_text import write_json
from fe.ecf.parse import parse_json
from fe.ecf.problems import Problem, Severity
from fe.ecf.reading import text
from fe.ecf.texts import Text
from fe.identifiers import ClientRequestId, TenantId
from fe.issuing.accept import admit
from fe.issuing.issuers import ForbiddenIssuer
from fe.issuing.prepare import Draft, prefix_to_draw
from fe.issuing.recurring import MAX_PAYLOAD, is_due, move_past, planned, request_id
from fe.issuing.recurring_days import days_from, issuing_of, preview_of
from fe.issuing.submitting import Submitting
from fe.issuing.validate import DraftInThreads, is_fatal, unsigned
from fe.lifecycle import WebhookEvent
from fe.limits import DocumentQuota, LimitReached
from fe.store.postgres.db import Conn, Database
from fe.store.postgres.errors import ANY_OF_THE_DATABASE, NoNumber, TenantDisabled
from fe.store.records import imports, recurring, sequences, tenants
from fe.store.records.catalogue import CUSTOMERS
from fe.store.records.recurring import (
    RecurringRecord,
    RecurringState,
    RecurringWork,
    TurnReason,
    TurnRecord,
    TurnState,
)
from fe.store.records.submissions import Accepted

_log = structlog.get_logger(__name__)

#: How long a front holds one: after a crash another goes on when it has passed.
HELD_SECONDS: Final = 60.0
_POLL_SECONDS: Final = 5.0
#: How long after a refusal it is tried again by itself.
RETRY: Final = timedelta(hours=1)
#: Reasons that may end without a change of the template, and are tried again.
_TRIED_AGAIN: Final = frozenset(TurnReason) - {TurnReason.CUSTOMER, TurnReason.LATE}
#: Texts that are stored of a refusal.
_MOST_SAID: Final = 10
_MONTHS: Final = (
    *("enero", "febrero", "marzo", "abril", "mayo", "junio", "julio"),
    *("agosto", "septiembre", "octubre", "noviembre", "diciembre"),
)
_CUSTOMER = Text(
    "the customer {id} is not in the catalogue: put it back, or choose another",
    "el cliente {id} ya no está en el catálogo: vuelva a crearlo, o elija otro",
)
_TENANT = Text("the company is disabled", "la empresa está desactivada")
_SEQUENCES = {
    "none": Text("there is no active sequence {prefix}", "no hay una secuencia {prefix} activa"),
    "expired": Text("the sequence {prefix} has expired", "la secuencia {prefix} está vencida"),
    "paused": Text("the sequence {prefix} is paused", "la secuencia {prefix} está en pausa"),
    "used up": Text("there are no {prefix} numbers left", "no quedan números {prefix}"),
}
_FAILURE = Text(
    "it could not be issued: the service tries again", "no se pudo emitir: el servicio lo intentará de nuevo"
)
_LATE = Text("the service was not running", "el servicio no estaba en marcha")


class _Refusal(Exception):
    """Why a turn cannot be issued now."""

    def __init__(self, reason: TurnReason, said: Sequence[Text]) -> None:
        super().__init__(reason)
        self.reason = reason
        self.said = said


@dataclass(frozen=True, slots=True)
class _Examined:
    """A turn as it would be issued: the draft, the completed document, and what keeps it from being issued."""

    draft: Draft | None
    refusal: _Refusal | None
    completed: Document | None = None
    remarks: Sequence[Text] = ()


def fill_in(
    payload: dict[str, Any], *, due: date, issued_on: date, payment_days: int | None, customer: Customer | None
) -> dict[str, Any]:
    """Make the payload of a turn: the month's name in its lines, the customer's data, the last day to pay."""
    words = {"{mes}": _MONTHS[due.month - 1], "{año}": str(due.year)}
    for item in payload.get("DetallesItems", {}).get("Item", ()):
        for name in ("NombreItem", "DescripcionItem"):
            if isinstance(item.get(name), str):
                for word, value in words.items():
                    item[name] = item[name].replace(word, value)
    head = payload["Encabezado"]
    if payment_days is not None:
        head["IdDoc"]["FechaLimitePago"] = show_day(issued_on + timedelta(days=payment_days))
    if customer is not None:
        known = {one.path for one in every(described(Root.ECF, EcfType(str(head["IdDoc"]["TipoeCF"])))) if one.simple}
        values = {
            "RNCComprador": None if customer.rnc is None else customer.rnc.digits,
            "RazonSocialComprador": customer.name,
            "CorreoComprador": customer.email,
            "DireccionComprador": customer.address,
            "MunicipioComprador": customer.municipality,
            "ProvinciaComprador": customer.province,
        }
        head["Comprador"] = head.get("Comprador", {}) | {
            name: value
            for name, value in values.items()
            if value is not None and f"Encabezado.Comprador.{name}" in known
        }
    return payload


class RecurringRunner:
    """Issues what is due and makes previews, of all tenants. One per front."""

    def __init__(self, db: Database, submitting: Submitting, quotas: DocumentQuota, clock: Clock) -> None:
        self._db = db
        self._submitting = submitting
        self._quotas = quotas
        self._clock = clock

    async def run(self) -> None:
        """Work until cancelled."""
        while True:
            try:
                is_idle = not await self.step()
            except ANY_OF_THE_DATABASE as error:
                _log.warning("recurring receipts wait for the database", error=error)
                is_idle = True
            if is_idle:
                await trio.sleep(_POLL_SECONDS)

    async def step(self) -> bool:
        """Do what is due of each that no front works on; False when there was none."""
        done = False
        for work in await self._db.run(recurring.due, self._clock()):
            if not await self._db.run_for(work.tenant_id, recurring.hold, work.recurring_id, HELD_SECONDS):
                continue
            done = True
            try:
                await self._look_at(work)
            except LimitReached as reached:
                pause = float(reached.retry_after)
                await self._db.run_for(work.tenant_id, recurring.hold, work.recurring_id, pause, again=True)
            except ANY_OF_THE_DATABASE:
                raise
            except Exception as error:  # it is held until its lease ends, and the others go on
                _log.error("a recurring receipt could not be looked at", error=error, exc_info=error, id=str(work))
        return done

    async def _look_at(self, work: RecurringWork) -> None:
        """Do everything that is due of one, then plan the next look. Raises LimitReached."""
        now = self._clock()
        while True:
            record = await self._db.run_for(work.tenant_id, recurring.find, work.recurring_id)
            if record is None:
                return
            open_turns = await self._db.run_for(work.tenant_id, recurring.open_turns, work.recurring_id)
            to_try = [
                turn for turn in open_turns if is_due(record, now) or (turn.try_at is not None and turn.try_at <= now)
            ]
            if to_try:
                await self._turn(work, record, to_try[0], now)
            elif is_due(record, now):
                await self._db.transact_for(work.tenant_id, _begin_turn, work, now)
            else:
                break
        due = record.next_on if record.state is RecurringState.ACTIVE else None
        if due is not None and record.previewed_for != due and preview_of(due) <= now:
            await self._preview(work, record, due, now)
        await self._db.transact_for(work.tenant_id, _plan_again, work)

    async def _turn(self, work: RecurringWork, record: RecurringRecord, turn: TurnRecord, now: datetime) -> None:
        """Issue a turn, or say why not. One whose successor is due is not issued any more."""
        request = request_id(record.id, turn.month)
        known = await self._db.run_for(work.tenant_id, imports.known_requests, record.environment, [request])
        if request in known:
            found = known[request]
            await self._book(work, turn, now, TurnState.ISSUED, submission=found.submission_id, e_ncf=found.e_ncf)
            return
        if is_due(record, now):
            reason = turn.reason or TurnReason.LATE
            said = [Text(*one) for one in turn.said] if turn.said else [_LATE]
            await self._book(work, turn, None, TurnState.MISSED, refusal=_Refusal(reason, said))
            return
        try:
            accepted = await self._issue(work, record, turn, request, now)
        except _Refusal as refusal:
            await self._book(work, turn, now, TurnState.HELD, refusal=refusal)
            return
        except (LimitReached, *ANY_OF_THE_DATABASE):
            raise
        except Exception as error:  # tried again in an hour, and its request is looked up first
            _log.error("a recurring receipt could not be issued", error=error, exc_info=error, request=request)
            await self._book(work, turn, now, TurnState.HELD, refusal=_Refusal(TurnReason.FAILURE, [_FAILURE]))
            return
        await self._book(work, turn, now, TurnState.ISSUED, submission=accepted.submission_id, e_ncf=accepted.e_ncf)

    async def _issue(
        self, work: RecurringWork, record: RecurringRecord, turn: TurnRecord, request: ClientRequestId, now: datetime
    ) -> Accepted:
        """Take a turn's receipt in. Raises _Refusal, LimitReached, and what the database does."""
        found = await self._examine(work.tenant_id, record, turn.due_on, now, request)
        if found.refusal is not None:
            raise found.refusal
        assert found.draft is not None
        draft = replace(found.draft, simulated_now=None)
        self._quotas.take(work.tenant_id, len(record.payload), trio.current_time())
        new = await trio.to_thread.run_sync(
            admit, draft, work.tenant_id, record.environment, record.api_key_id, now, limiter=self._submitting.threads
        )
        try:
            accepted = await self._submitting.acceptance.accept(new, now)
        except NoNumber as none:
            raise _of_sequence(none.label, none.reason) from None
        except TenantDisabled:
            raise _Refusal(TurnReason.TENANT, [_TENANT]) from None
        self._submitting.note(accepted, new, request)
        return accepted

    async def _examine(
        self, tenant_id: TenantId, record: RecurringRecord, due: date, at: datetime, request: ClientRequestId | None
    ) -> _Examined:
        """Make the document of a turn, and validate it as of `at`, with the certificate and the number it would get."""
        customer = None
        if record.customer is not None:
            stored = await self._db.run_for(tenant_id, CUSTOMERS.one, EntryId(record.customer))
            if stored is None:
                return _Examined(None, _Refusal(TurnReason.CUSTOMER, [_CUSTOMER.fill(id=record.customer)]))
            customer = stored.entry
        tenant = await self._db.run_for(tenant_id, _tenant)
        if tenant is None or tenant.disabled_since is not None:
            return _Examined(None, _Refusal(TurnReason.TENANT, [_TENANT]))
        payload = fill_in(
            parse_json(record.payload, max_bytes=MAX_PAYLOAD),
            due=due,
            issued_on=local(at).date(),
            payment_days=record.payment_days,
            customer=customer,
        )
        draft = Draft(
            "structured",
            payload=payload,
            client_request_id=request,
            as_user=record.as_user,
            as_user_id=record.as_user_id,
            sequence=record.sequence,
            notify=record.notify,
            simulated_now=at,
        )
        candidate = DraftInThreads(draft, self._submitting.threads)
        try:
            problems = await self._submitting.validate(candidate, tenant_id, record.environment, at)
        except ForbiddenIssuer as forbidden:
            return _Examined(draft, _Refusal(TurnReason.ISSUER, [forbidden.text]))
        refusal = await self._refusal(tenant_id, record, draft, problems, at)
        remarks = [one.text for one in problems if one.severity is Severity.CONDITIONAL][:_MOST_SAID]
        return _Examined(draft, refusal, candidate.completed, remarks)

    async def _refusal(
        self, tenant_id: TenantId, record: RecurringRecord, draft: Draft, problems: Sequence[Problem], at: datetime
    ) -> _Refusal | None:
        """Tell the cause that a person can mend: certificate, sequence, or what is wrong with the document."""
        missing = await unsigned(self._db, tenant_id, draft, at)
        if missing is not None:
            return _Refusal(TurnReason.CERTIFICATE, [Text(missing.message, missing.message_es)])
        try:
            prefix = prefix_to_draw("structured", draft.read())
        except NotADocument as error:
            return _Refusal(TurnReason.DOCUMENT, [one.text for one in error.problems][:_MOST_SAID])
        if prefix is not None:
            listed = await self._db.run_for(tenant_id, sequences.listed, record.environment)
            active = [one.at(at) for one in listed if one.prefix == prefix and one.is_active]
            own = sequences.drawn_from(active, record.sequence, user_id=record.as_user_id, email=record.as_user)
            if own is None:
                return _of_sequence(f"{prefix} {record.sequence or ''}".rstrip(), "none")
            if own.ends_at is not None and own.ends_at <= at:
                return _of_sequence(own.label, "expired")
            if own.paused_at is not None:
                return _of_sequence(own.label, "paused")
            if own.current_number > own.max_number and is_fatal(list(problems)):
                return _of_sequence(own.label, "used up")
        if is_fatal(list(problems)):
            fatal = [one.text for one in problems if one.severity is Severity.REJECTED]
            return _Refusal(TurnReason.DOCUMENT, fatal[:_MOST_SAID])
        return None

    async def _book(
        self,
        work: RecurringWork,
        turn: TurnRecord,
        tried_at: datetime | None,
        state: TurnState,
        *,
        refusal: _Refusal | None = None,
        submission: Any = None,
        e_ncf: str | None = None,
    ) -> None:
        """Store what became of a turn, and emit an event when it is newly held."""
        reason = None if refusal is None else refusal.reason
        said = None if refusal is None else [[one.en, one.es] for one in refusal.said]
        is_tried_again = state is TurnState.HELD and reason in _TRIED_AGAIN

        async def book(conn: Conn) -> None:
            record = await recurring.lock(conn, work.tenant_id, work.recurring_id)
            if record is None:
                return
            await recurring.set_turn(
                conn,
                work.tenant_id,
                work.recurring_id,
                turn.month,
                state,
                reason=reason,
                said=said,
                tried_at=tried_at,
                try_at=self._clock() + RETRY if is_tried_again else None,
                submission_id=submission,
                e_ncf=e_ncf,
            )
            if state is TurnState.HELD and reason is not turn.reason:
                await self._tell_held(conn, work, record, turn, refusal)

        await self._db.transact_for(work.tenant_id, book)

    async def _tell_held(
        self, conn: Conn, work: RecurringWork, record: RecurringRecord, turn: TurnRecord, refusal: _Refusal | None
    ) -> None:
        assert refusal is not None
        now = self._clock()
        shown = {
            "id": record.id,
            "name": record.name,
            "environment": record.environment,
            "dueOn": turn.due_on.isoformat(),
            "reason": refusal.reason,
            "messages": [one.en for one in refusal.said],
            "messagesEs": [one.es for one in refusal.said],
        }
        body = write_json({"event": WebhookEvent.RECURRING_HELD, "sentAt": iso(now), "recurring": shown}).decode()
        await recurring.tell(
            conn,
            work.tenant_id,
            record.environment,
            WebhookEvent.RECURRING_HELD,
            about=f"{work.recurring_id}/{turn.month:%Y-%m}/{refusal.reason}",
            at=now,
            body=body,
        )

    async def _preview(self, work: RecurringWork, record: RecurringRecord, due: date, now: datetime) -> None:
        """Keep what the next turn will issue, and emit its event."""
        try:
            found = await self._examine(work.tenant_id, record, due, issuing_of(due), None)
        except ANY_OF_THE_DATABASE:
            raise
        except Exception as error:  # the preview says so, and the turn is tried all the same
            _log.error("a recurring receipt could not be previewed", error=error, exc_info=error, id=record.id)
            found = _Examined(None, _Refusal(TurnReason.FAILURE, [_FAILURE]))
        preview = preview_shown(record, due, found.completed, found.refusal, found.remarks)

        async def keep(conn: Conn) -> None:
            there = await recurring.lock(conn, work.tenant_id, work.recurring_id)
            if there is None or there.version != record.version or there.next_on != due or there.previewed_for == due:
                return
            await recurring.keep_preview(conn, work.tenant_id, work.recurring_id, due, preview)
            kind = WebhookEvent.RECURRING_PREVIEW
            amounts = {name: None if preview[name] is None else Decimal(preview[name]) for name in ("total", "itbis")}
            body = write_json({"event": kind, "sentAt": iso(now), "recurring": {**preview, **amounts}}).decode()
            about = f"{work.recurring_id}/{due}/{record.version}"
            await recurring.tell(conn, work.tenant_id, record.environment, kind, about=about, at=now, body=body)

        await self._db.transact_for(work.tenant_id, keep)


def preview_shown(
    record: RecurringRecord,
    due: date,
    completed: Document | None,
    refusal: _Refusal | None,
    remarks: Sequence[Text],
) -> dict[str, Any]:
    """Write a preview as it is stored, shown and sent."""
    buyer = completed.get("Encabezado.Comprador") if completed is not None else None
    totals = (completed.get("Encabezado.Totales") if completed is not None else None) or {}
    said = () if refusal is None else refusal.said
    return {
        "id": record.id,
        "name": record.name,
        "environment": record.environment,
        "dueOn": due.isoformat(),
        "type": None if completed is None or completed.type is None else completed.type.prefix,
        "buyerName": text(buyer or {}, "RazonSocialComprador"),
        "buyerRnc": text(buyer or {}, "RNCComprador"),
        "total": _amount(totals.get("MontoTotal")),
        "itbis": _amount(totals.get("TotalITBIS")),
        "reason": None if refusal is None else refusal.reason,
        "messages": [one.en for one in (*said, *remarks)],
        "messagesEs": [one.es for one in (*said, *remarks)],
    }


def _amount(value: Any) -> str | None:
    return None if value in (None, "") else str(value)


def _of_sequence(prefix: str, reason: str) -> _Refusal:
    return _Refusal(TurnReason.SEQUENCE, [_SEQUENCES[reason].fill(prefix=prefix)])


async def _tenant(conn: Conn, tenant_id: TenantId) -> tenants.Tenant | None:
    return await tenants.by_id(conn, tenant_id)


async def _begin_turn(conn: Conn, work: RecurringWork, now: datetime) -> None:
    """Begin the latest turn that is due; earlier ones that were never begun are missed."""
    record = await recurring.lock(conn, work.tenant_id, work.recurring_id)
    if record is None or not is_due(record, now) or record.next_on is None:
        return
    *missed, latest = takewhile(
        lambda day: issuing_of(day) <= now and (record.ends_on is None or day <= record.ends_on),
        days_from(record.next_on, record.day, record.every),
    )
    for day in missed:
        said = [[_LATE.en, _LATE.es]]
        await recurring.add_turn(
            conn, work.tenant_id, work.recurring_id, day, TurnState.MISSED, reason=TurnReason.LATE, said=said
        )
    await recurring.add_turn(conn, work.tenant_id, work.recurring_id, latest, TurnState.WAITING, try_at=now)
    await move_past(conn, work.tenant_id, record, latest)


async def _plan_again(conn: Conn, work: RecurringWork) -> None:
    if await recurring.lock(conn, work.tenant_id, work.recurring_id) is not None:
        await planned(conn, work.tenant_id, work.recurring_id)
