"""The mode of a tenant, as clients send and see it."""

from typing import Annotated, Literal, NotRequired

from pydantic import ConfigDict, Field

# As in response_models.py.
from typing_extensions import TypedDict

from fe.accounts.modes import LONGEST_REASON, CurrentMode
from fe.clock import iso
from fe.contingency import Mode
from fe.ecf.catalogue import Environment
from fe.http.models.response_types import Day, Moment, ResponseModel, closed
from fe.http.models.warnings import Warnings
from fe.http.request_bodies import RequestModel
from fe.store.records.authority_state import CircuitOutage

_MODES = (
    "`offline`: your own line is down; `authority_down`: the authority does not answer; `contingency`: declared to the "
    "authority, you issue on paper; `deferred`: you are authorised to send later"
)


class ModeRequest(RequestModel):
    """The mode that begins now. A contingency and deferred sending are recorded in the portal."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"mode": "offline", "reason": "the branch has no internet"}]}
    )

    mode: Annotated[str, Field(json_schema_extra={"enum": ["normal", "offline"]})]
    reason: Annotated[
        str, Field(description="why; kept on record", json_schema_extra={"minLength": 1, "maxLength": LONGEST_REASON})
    ]


@closed
class OutageAnswer(TypedDict):
    """A host of the authority that does not answer."""

    host: Annotated[Literal["ecf", "fc"], Field(description="`ecf`: receipts; `fc`: summaries of consumer invoices")]
    since: Moment


@closed
class ModeAnswer(TypedDict):
    """How the tenant issues now in the environment of the key."""

    environment: Environment
    mode: Annotated[Mode, Field(description=_MODES)]
    since: Annotated[Moment | None, Field(description="null in normal mode")]
    outages: Annotated[list[OutageAnswer], Field(description="hosts of the authority that do not answer now")]
    reason: NotRequired[Annotated[str, Field(description="of the mode that was set, also while another covers it")]]
    number: NotRequired[Annotated[str, Field(description="of the declaration or of the authorisation")]]
    validUntil: NotRequired[Annotated[Day, Field(description="last day of the authorisation")]]
    warnings: NotRequired[Warnings]


MODE = ResponseModel(ModeAnswer)


def serialize_outage(one: CircuitOutage) -> OutageAnswer:
    """Serialize an outage that lasts."""
    return {"host": "fc" if one.host == "fc" else "ecf", "since": iso(one.began_at)}


def serialize_mode(found: CurrentMode, environment: Environment) -> ModeAnswer:
    """Serialize the mode in force."""
    answer: ModeAnswer = {
        "environment": environment,
        "mode": found.mode,
        "since": None if found.since is None else iso(found.since),
        "outages": [serialize_outage(one) for one in found.outages],
    }
    if found.period is not None:
        answer["reason"] = found.period.reason
        if found.period.number is not None:
            answer["number"] = found.period.number
        if found.period.valid_until is not None:
            answer["validUntil"] = found.period.valid_until.isoformat()
    return answer
