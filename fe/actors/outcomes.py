"""What the authority's answers mean for a submission, as bookings."""

from datetime import timedelta
from functools import partial
from typing import Any

from fe.authority.client import Message, Receipt, Verdict
from fe.authority.errors import Refused
from fe.clock import Clock
from fe.ecf.states import Estado, NumberFate, Stage, Status
from fe.queue.outcome import AT_ONCE, Booking, End
from fe.queue.retry import FIRST_LOOK
from fe.store import outbox
from fe.store.outbox import Work

_STATUS = {
    Estado.ACCEPTED: Status.ACCEPTED,
    Estado.CONDITIONAL: Status.CONDITIONAL,
    Estado.REJECTED: Status.REJECTED,
}


def response_of(verdict: Verdict) -> dict[str, Any]:
    """The `response` of a submission: the authority's reply, with what the interface promises at its known places."""
    return {
        "trackStatus": {**verdict.raw, "estado": verdict.estado.value},
        "mensajes": _messages(verdict.messages),
    }


def failure_response(error: str, *, reply: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    """The `response` of a submission that failed on our side, or was refused outright."""
    return {"status": "error", "error": error, "dgiiResponse": reply, **more}


def _messages(messages: tuple[Message, ...]) -> list[dict[str, str]]:
    return [{"codigo": message.codigo, "valor": message.valor} for message in messages]


def fate_of(verdict: Verdict) -> NumberFate:
    """What a verdict makes of the number: `secuenciaUtilizada` decides where it is said (PROTOCOL.md section 4)."""
    if verdict.estado is not Estado.REJECTED or verdict.number_used:
        return NumberFate.USED
    return NumberFate.UNKNOWN if verdict.number_used is None else NumberFate.REUSABLE


def final(work: Work, verdict: Verdict, *, clock: Clock, track_id: str | None = None) -> Booking:
    """Book the authority's last word."""
    status = _STATUS[verdict.estado]
    return Booking(
        status.value,
        partial(
            outbox.verdict,
            work=work,
            at=clock(),
            status=status,
            track_id=track_id or verdict.track_id,
            response=response_of(verdict),
            fate=fate_of(verdict),
        ),
        end=End(status, verdict.e_ncf[1:3]) if verdict.e_ncf else End(status),
    )


def received(work: Work, receipt: Receipt, *, clock: Clock) -> Booking:
    """Book that the authority has it and will judge it."""
    return Booking(
        "received",
        partial(outbox.received, work=work, at=clock(), track_id=receipt.track_id, after=FIRST_LOOK, reply=receipt.raw),
        Stage.TRACK,
        FIRST_LOOK,
    )


def adopted(work: Work, track_id: str, *, clock: Clock) -> Booking:
    """Book a trackId that was found by asking: the document had arrived."""
    reply = {"adopted": True}
    write = partial(outbox.received, work=work, at=clock(), track_id=track_id, after=AT_ONCE, reply=reply)
    return Booking("adopted", write, Stage.TRACK)


def refused(work: Work, refusal: Refused, *, clock: Clock) -> Booking:
    """Book an outright refusal: an error, not a verdict; the number was not consumed, unless that is the reason."""
    response = failure_response(refusal.reason, reply=refusal.raw or None, mensajes=_messages(refusal.messages))
    return failed(work, response, NumberFate.USED if refusal.duplicate else NumberFate.REUSABLE, clock=clock)


def failed(work: Work, response: dict[str, Any], fate: NumberFate, *, clock: Clock) -> Booking:
    """Book a permanent failure."""
    write = partial(outbox.failure, work=work, at=clock(), response=response, fate=fate)
    return Booking("error", write, end=End(Status.ERROR))


def in_doubt(work: Work, reason: str, *, clock: Clock, after: timedelta) -> Booking:
    """Book that nobody knows: the authority is asked before anything is sent again."""
    write = partial(outbox.doubt, work=work, at=clock(), after=after, error=reason)
    return Booking("outcome unknown", write, Stage.RECONCILE, after)
