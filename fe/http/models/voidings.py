"""Voidings of number ranges, as clients send and see them."""

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import ConfigDict, Field

# As in response_models.py.
from typing_extensions import TypedDict

from fe.accounts.voidings import Proposal
from fe.clock import iso
from fe.ecf.catalogue import Environment
from fe.ecf.identity import E_NCF_FORM
from fe.ecf.voiding import REASONS
from fe.http.models.response_types import Moment, ResponseModel, Uuid, closed
from fe.http.request_bodies import RequestModel
from fe.store.records.voidings import Voiding, VoidingState

_NUMBER = {"pattern": f"^{E_NCF_FORM}$"}
_State = Literal["waiting", "voided", "partly voided", "rejected", "refused", "in doubt"]
_REASON = "; ".join(f"{number} {text.es}" for number, text in REASONS.items())


class AskedRange(RequestModel):
    """Numbers of one type, both ends included."""

    first: Annotated[str, Field(json_schema_extra=_NUMBER)]
    last: Annotated[str | None, Field(description="default: `first`", json_schema_extra=_NUMBER)] = None


class VoidingRequest(RequestModel):
    """Ranges to void for good: never sent to anyone, and printed or handed out nowhere."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "ranges": [{"first": "E320000000900", "last": "E320000000950"}],
                    "reason": 8,
                    "clientRequestId": "void-2026-11",
                }
            ]
        }
    )

    ranges: Annotated[list[AskedRange], Field(json_schema_extra={"minItems": 1, "maxItems": 200})]
    reason: Annotated[
        int,
        Field(description=f"tipo de anulación of the 608: {_REASON}", json_schema_extra={"minimum": 1, "maximum": 8}),
    ]
    clientRequestId: Annotated[
        str | None,
        Field(
            description="with the same id it is requested once", json_schema_extra={"minLength": 1, "maxLength": 120}
        ),
    ] = None


@closed
class NumberRangeAnswer(TypedDict):
    """Numbers of one type, both ends included."""

    first: str
    last: str


@closed
class ProposedRange(TypedDict):
    """Numbers that can be voided."""

    first: str
    last: str
    numbers: int
    why: Annotated[
        Literal["never drawn", "without receipt"],
        Field(description="`never drawn`: from the next number on; `without receipt`: skipped, or given back"),
    ]


@closed
class ProposalsAnswer(TypedDict):
    """The ranges that can be voided."""

    items: list[ProposedRange]


@closed
class VoidingAnswer(TypedDict):
    """A voiding and what became of it."""

    voidingId: Uuid
    environment: Environment
    state: Annotated[
        _State,
        Field(
            description="`rejected` by the authority and `refused` before sending: no number is void; `in doubt`: the"
            " numbers stay out of use until the operator settles it"
        ),
    ]
    ranges: list[NumberRangeAnswer]
    numbers: int
    reason: int
    clientRequestId: str | None
    requestedAt: Moment
    signedAt: Moment | None
    endedAt: Moment | None
    problem: Annotated[str | None, Field(description="why it waits, was refused, or is in doubt")]


@closed
class VoidingsAnswer(TypedDict):
    """The newest hundred, the newest first."""

    items: list[VoidingAnswer]


PROPOSALS = ResponseModel(ProposalsAnswer)
VOIDING = ResponseModel(VoidingAnswer)
VOIDINGS = ResponseModel(VoidingsAnswer)


_STATES: Mapping[VoidingState, _State] = {
    VoidingState.WAITING: "waiting",
    VoidingState.VOIDED: "voided",
    VoidingState.PARTLY: "partly voided",
    VoidingState.REJECTED: "rejected",
    VoidingState.REFUSED: "refused",
    VoidingState.IN_DOUBT: "in doubt",
}


def serialize_proposal(one: Proposal) -> ProposedRange:
    """Serialize a proposal."""
    return {
        "first": one.range.first_e_ncf,
        "last": one.range.last_e_ncf,
        "numbers": one.range.count,
        "why": one.why.value,
    }


@closed
class VoidedAnswer(TypedDict):
    """The 608 of a month."""

    month: str
    environment: Environment
    fileName: str
    rows: Annotated[int, Field(description="numbers that became void in the month; none: the 608 is informative")]
    content: Annotated[str, Field(description="the TXT that the authority takes, ASCII with CRLF")]


VOIDED = ResponseModel(VoidedAnswer)


def serialize_voiding(one: Voiding) -> VoidingAnswer:
    """Serialize a voiding."""
    return {
        "voidingId": str(one.voiding_id),
        "environment": one.environment,
        "state": _STATES[one.state],
        "ranges": [{"first": of.first_e_ncf, "last": of.last_e_ncf} for of in one.ranges],
        "numbers": one.numbers,
        "reason": one.reason,
        "clientRequestId": one.client_request_id,
        "requestedAt": iso(one.requested_at),
        "signedAt": iso(one.signed_at) if one.signed_at else None,
        "endedAt": iso(one.finished_at) if one.finished_at else None,
        "problem": one.last_error,
    }
