"""The bodies of webhooks, for the API description (`webhooks`, OpenAPI 3.1).

The database makes them (sql/functions/webhooks); a test checks them against these models.
"""

from typing import Annotated, Any, Literal, NotRequired

from pydantic import Field

# The library's own: what typing has before Python 3.12 does not tell pydantic which fields are required.
from typing_extensions import TypedDict

from fe.ecf.catalogue import Environment
from fe.http.models.receipt_facts import (
    BuyerName,
    BuyerRnc,
    IssueDate,
    ReadyToPrint,
    TypeOfReceipt,
)
from fe.http.models.response_types import Code, Day, Digits, Moment, ResponseModel, Uuid
from fe.lifecycle import NumberFate, Status, WebhookEvent

# Not closed: fields may be added, and a consumer made from this description must not fail on them.


class ReceivedEcf(TypedDict):
    """A supplier's document, as on arrival."""

    id: Uuid
    encf: Annotated[str, Field(description="the supplier's number")]
    tipoEcf: Annotated[str, Field(description="type prefix such as E31")]
    rncEmisor: str
    rncComprador: str
    montoTotal: Annotated[float, Field(description="with its two digits: read it as a decimal")]
    fechaEmision: Day
    approvalStatus: Literal["pending"]
    receivedAt: Moment


class ReceivedEcfEvent(TypedDict):
    """A supplier's e-CF was received and acknowledged."""

    event: Literal[WebhookEvent.RECEIVED_ECF]
    sentAt: Moment
    receivedEcf: ReceivedEcf
    xml: Annotated[str, Field(description="the complete e-CF as the supplier signed it")]


class SubmissionSummary(TypedDict):
    """A submission of yours that has come to its end."""

    taxLogId: Uuid
    clientRequestId: str | None
    environment: Environment
    status: Status
    eNCF: str | None
    numberFate: NumberFate | None
    trackId: str | None
    securityCode: str | None
    qrCodeUrl: str | None
    response: Annotated[dict[str, Any] | None, Field(description="as in GET /invoices/{trackOrId}")]
    updatedAt: Moment
    fechaHoraFirma: Annotated[str | None, Field(description="moment of signing, -04:00")]
    tipoEcf: TypeOfReceipt
    montoTotal: Annotated[float | None, Field(description="with its two digits: read it as a decimal")]
    totalITBIS: Annotated[float | None, Field(description="as montoTotal; 0 where the receipt has none")]
    rncComprador: BuyerRnc
    razonSocialComprador: BuyerName
    fechaEmision: IssueDate
    readyToPrint: ReadyToPrint
    metadata: Annotated[dict[str, str] | None, Field(description="as in POST /invoices; null: none")]


class SubmissionEvent(TypedDict):
    """A submission was accepted, accepted with remarks, rejected, or has failed."""

    event: Literal[WebhookEvent.ACCEPTED, WebhookEvent.CONDITIONAL, WebhookEvent.REJECTED, WebhookEvent.ERROR]
    sentAt: Moment
    submission: SubmissionSummary


class SequenceState(TypedDict):
    """A number sequence that needs attention."""

    environment: Environment
    prefix: Code
    name: NotRequired[Annotated[str, Field(description="of a sequence that has one")]]
    currentSequence: Digits
    maxSequence: Digits
    remaining: Digits
    expireOn: Annotated[Day | None, Field(description="its last day, in Santo Domingo")]


class SequenceEvent(TypedDict):
    """A number sequence is nearly used up, or about to expire."""

    event: Literal[WebhookEvent.SEQUENCE_LOW, WebhookEvent.SEQUENCE_EXPIRING]
    sentAt: Moment
    sequence: SequenceState


class CertificateState(TypedDict):
    """A certificate that needs attention."""

    id: Uuid
    user: Annotated[str | None, Field(description="whose; null: the company's")]
    expiresAt: Moment


class CertificateEvent(TypedDict):
    """A certificate is about to expire."""

    event: Literal[WebhookEvent.CERTIFICATE_EXPIRING]
    sentAt: Moment
    certificate: CertificateState


Reason = Annotated[
    Literal["customer", "tenant", "certificate", "sequence", "document", "issuer", "failure", "late"],
    Field(
        description="`customer`: deleted from the catalogue; `tenant`: disabled; `certificate`: none may sign; "
        "`sequence`: gives no number; `document`: not valid; `issuer`: no delegation; `failure`: ours; `late`: the "
        "service was not running"
    ),
]


class RecurringPreview(TypedDict):
    """The receipt that a recurring receipt will issue, completed and validated for its day."""

    id: Annotated[str, Field(description="yours")]
    name: str
    environment: Environment
    dueOn: Day
    type: Annotated[str | None, Field(description="type prefix such as E31")]
    buyerName: str | None
    buyerRnc: str | None
    total: Annotated[float | None, Field(description="with its two digits: read it as a decimal")]
    itbis: Annotated[float | None, Field(description="as total")]
    reason: Annotated[Reason | None, Field(description="why it would not be issued; null: it would")]
    messages: Annotated[list[str], Field(description="what is wrong with it, or remarks")]
    messagesEs: list[str]


class RecurringPreviewEvent(TypedDict):
    """A recurring receipt is issued tomorrow."""

    event: Literal[WebhookEvent.RECURRING_PREVIEW]
    sentAt: Moment
    recurring: RecurringPreview


class RecurringHeld(TypedDict):
    """A turn of a recurring receipt that could not be issued."""

    id: Annotated[str, Field(description="yours")]
    name: str
    environment: Environment
    dueOn: Day
    reason: Reason
    messages: list[str]
    messagesEs: list[str]


class RecurringHeldEvent(TypedDict):
    """A recurring receipt could not be issued."""

    event: Literal[WebhookEvent.RECURRING_HELD]
    sentAt: Moment
    recurring: RecurringHeld


class AuthorityOutage(TypedDict):
    """A host of the authority that did not answer for two minutes."""

    environment: Environment
    host: Annotated[Literal["ecf", "fc"], Field(description="`ecf`: receipts; `fc`: summaries of consumer invoices")]
    since: Moment
    until: Annotated[Moment | None, Field(description="null: it does not answer yet")]


class AuthorityEvent(TypedDict):
    """The authority does not answer, or answers again after an outage that was told of."""

    event: Literal[WebhookEvent.AUTHORITY_DOWN, WebhookEvent.AUTHORITY_UP]
    sentAt: Moment
    authority: AuthorityOutage


class ProbeMessage(TypedDict):
    """The message of a test event."""

    message: str


class BuyerApproval(TypedDict):
    """The word of a buyer on a receipt of yours; the first one counts."""

    taxLogId: Uuid
    environment: Environment
    eNCF: str
    rncComprador: str
    reason: Annotated[str | None, Field(description="of a rejection")]
    receivedAt: Moment


class BuyerEvent(TypedDict):
    """A buyer approved or rejected a receipt of yours."""

    event: Literal[WebhookEvent.BUYER_APPROVED, WebhookEvent.BUYER_REJECTED]
    sentAt: Moment
    approval: BuyerApproval


class ProbeEvent(TypedDict):
    """A test event, requested by POST /webhooks/test."""

    event: Literal[WebhookEvent.TEST]
    sentAt: Moment
    test: ProbeMessage


#: By event: what is sent for it.
EVENT_MODELS: dict[WebhookEvent, ResponseModel[Any]] = {
    WebhookEvent.RECEIVED_ECF: ResponseModel(ReceivedEcfEvent),
    **dict.fromkeys(
        (WebhookEvent.ACCEPTED, WebhookEvent.CONDITIONAL, WebhookEvent.REJECTED, WebhookEvent.ERROR),
        ResponseModel(SubmissionEvent),
    ),
    **dict.fromkeys((WebhookEvent.SEQUENCE_LOW, WebhookEvent.SEQUENCE_EXPIRING), ResponseModel(SequenceEvent)),
    WebhookEvent.CERTIFICATE_EXPIRING: ResponseModel(CertificateEvent),
    WebhookEvent.RECURRING_PREVIEW: ResponseModel(RecurringPreviewEvent),
    WebhookEvent.RECURRING_HELD: ResponseModel(RecurringHeldEvent),
    **dict.fromkeys((WebhookEvent.AUTHORITY_DOWN, WebhookEvent.AUTHORITY_UP), ResponseModel(AuthorityEvent)),
    **dict.fromkeys((WebhookEvent.BUYER_APPROVED, WebhookEvent.BUYER_REJECTED), ResponseModel(BuyerEvent)),
    WebhookEvent.TEST: ResponseModel(ProbeEvent),
}
