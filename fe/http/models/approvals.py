"""Models of decisions on received documents, and of deliveries from taxpayer to taxpayer."""

from typing import Annotated, Literal, NotRequired

from pydantic import Field

# As in response_models.py.
from typing_extensions import TypedDict

from fe.ecf.catalogue import Environment
from fe.http.models.response_types import Moment, ResponseModel, closed
from fe.http.models.warnings import Warnings
from fe.lifecycle import Status
from fe.store.records.received import ApprovalStatus


@closed
class ApprovalAtAuthority(TypedDict):
    """How it stands with the authority: the status of the ACECF."""

    status: Status
    message: NotRequired[Annotated[str, Field(description="of a refusal: what it says")]]
    at: Moment


@closed
class Handing(TypedDict):
    """How it stands with handing a document on to the other party of a receipt."""

    state: Annotated[
        Literal["waiting", "pending", "delivered", "refused", "unlisted", "gave_up"],
        Field(
            description="`waiting` for the authority; `pending`: under way; `delivered`: they took it; `refused`: they "
            "do not; `unlisted`: the authority's directory has no address for them; `gave_up`: out of attempts"
        ),
    ]
    reason: NotRequired[Annotated[str, Field(description="of what went wrong, in words")]]
    at: NotRequired[Moment]


@closed
class ReceivedApproval(TypedDict):
    """The tenant's last decision about a received document, and who has been told of it."""

    decision: Literal["approved", "rejected"]
    reason: NotRequired[Annotated[str, Field(description="of a rejection")]]
    taxLogId: Annotated[str, Field(description="of the ACECF")]
    decidedAt: Moment
    authority: ApprovalAtAuthority
    issuer: NotRequired[Annotated[Handing, Field(description="absent when the authority did not accept it")]]


@closed
class ApprovalTaken(TypedDict):
    """A decision was taken in, or had been before."""

    id: Annotated[str, Field(description="of the received document")]
    environment: Environment
    decision: Literal["approved", "rejected"]
    approvalStatus: ApprovalStatus
    taxLogId: Annotated[str, Field(description="of the ACECF")]
    status: Annotated[Status, Field(description="of the ACECF")]
    deduped: Annotated[bool, Field(description="whether it was decided before: then nothing was processed again")]
    message: str
    warnings: NotRequired[Warnings]


@closed
class DecidedItem(TypedDict):
    """The outcome of one received document: the `statusCode` of a decision about it alone."""

    id: str
    statusCode: Annotated[
        int,
        Field(
            description="202: taken in; 200: decided alike before; 403: of another environment, or issued to another "
            "taxpayer; 404: there is none; 409: the contrary was decided, or a decision is under way"
        ),
    ]
    message: str
    taxLogId: NotRequired[Annotated[str, Field(description="of the ACECF, also of one in the way")]]
    status: NotRequired[Annotated[Status, Field(description="of the ACECF")]]


@closed
class DecidedMany(TypedDict):
    """The outcome of each document, in the order of the request; repeated ids appear once."""

    decision: Literal["approved", "rejected"]
    items: list[DecidedItem]
    warnings: NotRequired[Warnings]


DECIDED_MANY = ResponseModel(DecidedMany)
APPROVAL_TAKEN = ResponseModel(ApprovalTaken)
