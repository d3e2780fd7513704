"""Outcomes of submissions, derived from the authority's answers; writers.py writes them."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal

from fe.authority.client import Message, Receipt, Verdict
from fe.authority.errors import AuthorityRefused
from fe.authority.estado import Estado
from fe.ecf.texts import Text
from fe.identifiers import TrackId
from fe.lifecycle import NumberFate, Stage, Status
from fe.queue.deadlines import FIRST_LOOK
from fe.queue.outcome import AT_ONCE, Advance, End, InDoubt, Outcome
from fe.store.queue.steps import SignedDocument

_STATUS = {
    Estado.ACCEPTED: Status.ACCEPTED,
    Estado.CONDITIONAL: Status.CONDITIONAL,
    Estado.REJECTED: Status.REJECTED,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Signed(Advance):
    """The document is signed and due to be sent."""

    document: SignedDocument
    #: Lease of `then`, the claim to send it.
    lease: timedelta = AT_ONCE
    to: Stage = Stage.SEND
    name: str = "signed"


@dataclass(frozen=True, slots=True, kw_only=True)
class LostNumber(End):
    """Written instead of `Signed`: another submission was signed with its number a moment before. Status `error`."""

    name: str = "number taken"


@dataclass(frozen=True, slots=True, kw_only=True)
class Intent(Outcome):
    """Bytes are about to be sent: written like an outcome, durable before the first byte."""

    digest: bytes
    lease: timedelta
    name: str = "intent"


@dataclass(frozen=True, slots=True, kw_only=True)
class Unresolved(Outcome):
    """Written instead of an `Intent`: an earlier send was never resolved, so the authority is asked first."""

    name: str = "unresolved"


@dataclass(frozen=True, slots=True, kw_only=True)
class Received(Advance):
    """The authority received it under this trackId and will validate it."""

    track_id: TrackId
    reply: dict[str, Any]
    #: Lease of `then`, the claim to ask for its verdict, from when it is due.
    lease: timedelta = AT_ONCE
    #: When it was recorded; None before.
    at: datetime | None = None
    to: Stage = Stage.TRACK
    after: timedelta = FIRST_LOOK
    name: str = "received"


@dataclass(frozen=True, slots=True, kw_only=True)
class Adopted(Advance):
    """The authority was asked and named a trackId: the document had arrived."""

    track_id: TrackId
    #: As in Received.
    at: datetime | None = None
    to: Stage = Stage.TRACK
    name: str = "adopted"

    @property
    def reply(self) -> dict[str, Any]:
        """The record in place of a receipt."""
        return {"adopted": True}


@dataclass(frozen=True, slots=True, kw_only=True)
class Processing(Advance):
    """The authority is still validating: ask again."""

    response: dict[str, Any]
    to: Stage = Stage.TRACK
    name: str = "En Proceso"


@dataclass(frozen=True, slots=True, kw_only=True)
class SendAgain(Advance):
    """The same bytes go out again; `reason`: the authority does not know the document, or cannot be asked."""

    reason: str
    to: Stage = Stage.SEND
    name: str = "not known there"


@dataclass(frozen=True, slots=True, kw_only=True)
class Decided(End):
    """The authority's final verdict."""

    status: Status
    track_id: TrackId | None
    response: dict[str, Any]
    fate: NumberFate
    #: The two digits of the type of its e-NCF, where they are known.
    ecf_type: str = "unknown"
    #: Rejected because another document of its issuer has its number.
    taken: bool = False
    #: For a rejection: the process that signed it, if recorded; and whether its sequence is paused.
    signed_by: str | None = None
    pauses: Literal["paused", "known"] | None = None
    #: As in Received.
    at: datetime | None = None

    @property
    def name(self) -> str:  # type: ignore[override]  # read only, as it is of all outcomes
        """The status."""
        return self.status.value


@dataclass(frozen=True, slots=True, kw_only=True)
class Failed(End):
    """A permanent failure, on our side or by outright refusal: status `error`."""

    response: dict[str, Any]
    fate: NumberFate
    #: As in Decided.
    taken: bool = False
    signed_by: str | None = None
    pauses: Literal["paused", "known"] | None = None
    name: str = "error"


def response_of(verdict: Verdict) -> dict[str, Any]:
    """The `response` of a submission: the authority's reply, with what the interface promises at its known places."""
    return {
        "trackStatus": {**verdict.raw, "estado": verdict.estado.value},
        "mensajes": _messages(verdict.messages),
    }


def failure_response(error: Text, *, reply: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    """The `response` of a submission that failed on our side, or was refused outright."""
    return {"status": "error", "error": error.en, "errorEs": error.es, "dgiiResponse": reply, **more}


def _messages(messages: tuple[Message, ...]) -> list[dict[str, str]]:
    return [{"codigo": message.codigo, "valor": message.valor} for message in messages]


def fate_of(verdict: Verdict) -> NumberFate:
    """Return the fate of the number; `secuenciaUtilizada` decides if given (authority.md#number-fate)."""
    if verdict.estado is not Estado.REJECTED or verdict.number_used:
        return NumberFate.USED
    return NumberFate.UNKNOWN if verdict.number_used is None else NumberFate.REUSABLE


def final(verdict: Verdict, *, track_id: TrackId | None = None) -> Decided:
    """The authority's final verdict."""
    return Decided(
        status=_STATUS[verdict.estado],
        track_id=track_id or verdict.track_id,
        response=response_of(verdict),
        fate=fate_of(verdict),
        ecf_type=verdict.e_ncf[1:3] if verdict.e_ncf else "unknown",
        taken=verdict.duplicate,
    )


def received(receipt: Receipt) -> Received:
    """Return the outcome of a receipt."""
    return Received(track_id=receipt.track_id, reply=receipt.raw)


def refused(refusal: AuthorityRefused) -> Failed:
    """Return the outcome of an outright refusal: an error; the number is free unless the answer says it is used."""
    reason = Text(refusal.reason, f"la DGII lo rechazó con el estado HTTP {refusal.status}")
    response = failure_response(reason, reply=refusal.raw or None, mensajes=_messages(refusal.messages))
    is_used = refusal.duplicate or refusal.number_used
    fate = NumberFate.USED if is_used else NumberFate.REUSABLE
    return Failed(response=response, fate=fate, taken=refusal.duplicate)


def codes_of(outcome: Decided | Failed) -> list[str]:
    """Return the authority's distinct codes in a rejection or a refusal."""
    return list(dict.fromkeys(message["codigo"] for message in outcome.response.get("mensajes", ())))


def answered(verdict: Verdict) -> str:
    """Say a verdict that is perhaps not about our document, for the history and for operators."""
    codes = ", ".join(message.codigo for message in verdict.messages)
    return f"the authority answered {verdict.estado}" + (f" with code {codes}" if codes else "")


def in_doubt(reason: str, *, after: timedelta = AT_ONCE) -> InDoubt:
    """Return a doubt: the authority is asked before anything is sent again."""
    return InDoubt(to=Stage.RECONCILE, reason=reason, after=after)
