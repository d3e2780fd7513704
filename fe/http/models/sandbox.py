"""Models of what another taxpayer does in a sandbox (docs/api/testing.md)."""

from typing import Annotated, Literal, NotRequired, Self

from pydantic import ConfigDict, Field, field_validator, model_validator

# As in response_models.py.
from typing_extensions import TypedDict

from fe.ecf.catalogue import EcfType, Environment
from fe.ecf.identity import e_ncf
from fe.ecf.texts import Text
from fe.http.messages import must_be, number_between, say
from fe.http.models.response_types import Moment, ResponseModel, closed
from fe.http.models.warnings import Warnings
from fe.http.request_bodies import InvalidField, RequestModel
from fe.issuing.decide import MAX_REASON, is_reason


class SandboxReceiptRequest(RequestModel):
    """A receipt that the simulated supplier sends to the company of the key."""

    model_config = ConfigDict(json_schema_extra={"examples": [{}, {"eNCF": "E310000000001"}]})

    eNCF: Annotated[
        str | None,
        Field(
            description="the supplier's number, an E31; default: a new one. A number it has used is a duplicate",
            json_schema_extra={"pattern": "^E31[0-9]{10}$"},
        ),
    ] = None

    @classmethod
    def messages(cls) -> dict[str, Text]:
        """Name the form of the number."""
        return {"eNCF": must_be("eNCF", say("e-ncf-form"))}

    @field_validator("eNCF")
    @classmethod
    def _is_an_e31(cls, value: str | None) -> str | None:
        number = None if value is None else e_ncf(value)
        if value is not None and (number is None or number.type is not EcfType.CREDIT_FISCAL):
            raise InvalidField(say("e-ncf-form"))
        return value


#: The longest outage, in seconds.
MAX_OUTAGE = 600


class SandboxOutageRequest(RequestModel):
    """An outage of the simulated authority, for the company of the key alone."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"seconds": 30}]})

    seconds: Annotated[int, Field(ge=0, le=MAX_OUTAGE, description="from now on; 0 ends the outage")]

    @classmethod
    def messages(cls) -> dict[str, Text]:
        """Name the range."""
        return {"seconds": number_between("seconds", 0, MAX_OUTAGE)}


class SandboxApprovalRequest(RequestModel):
    """The word of the simulated buyer on an accepted receipt of the company."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"taxLogId": "019aa3b0-7c11-7d53-9a53-5c3f8f6f2b10", "decision": "approved"},
                {
                    "taxLogId": "019aa3b0-7c11-7d53-9a53-5c3f8f6f2b10",
                    "decision": "rejected",
                    "reason": "La mercancía no llegó completa",
                },
            ]
        }
    )

    taxLogId: Annotated[str, Field(max_length=64, description="of the receipt, or the authority's trackId")]
    decision: Literal["approved", "rejected"]
    reason: Annotated[str | None, Field(max_length=MAX_REASON, description="of a rejection")] = None

    @model_validator(mode="after")
    def _has_its_reason(self) -> Self:
        if self.decision == "rejected" and not is_reason(self.reason or ""):
            raise InvalidField(say("reason-form"))
        if self.decision == "approved" and self.reason is not None:
            raise InvalidField(say("no-reason-of-approval"))
        return self


@closed
class SandboxReceipt(TypedDict):
    """The simulated supplier sent a receipt, and this service acknowledged it."""

    receivedId: Annotated[str, Field(description="`id` of the received document")]
    rncEmisor: Annotated[str, Field(description="of the simulated supplier")]
    eNCF: str
    warnings: NotRequired[Warnings]


@closed
class SandboxApproval(TypedDict):
    """The simulated buyer's word arrived; GET /invoices/{taxLogId} shows it."""

    taxLogId: str
    eNCF: str
    decision: Literal["approved", "rejected"]
    warnings: NotRequired[Warnings]


@closed
class SandboxOutage(TypedDict):
    """The authority is away for the company of the key; GET /contingency says so, too."""

    environment: Environment
    since: Moment
    until: Annotated[Moment, Field(description="not later than now: there is no outage")]
    warnings: NotRequired[Warnings]


SANDBOX_OUTAGE = ResponseModel(SandboxOutage)
SANDBOX_RECEIPT = ResponseModel(SandboxReceipt)
SANDBOX_APPROVAL = ResponseModel(SandboxApproval)
