"""Answer models: the source of the OpenAPI description and of the bytes.

The models are typed dicts: mypy checks their fields, and pydantic's serializer writes them. A `NotRequired` field is
absent where it has no value.
"""

from typing import Annotated, Any, Literal, NotRequired

from pydantic import Field

# The library's own: what typing has before Python 3.12 does not tell pydantic which fields are required.
from typing_extensions import TypedDict

from fe.ecf.catalogue import Environment
from fe.http.models.approvals import Handing, ReceivedApproval
from fe.http.models.mailing import Mailing
from fe.http.models.receipt_facts import (
    BuyerName,
    BuyerRnc,
    IssueDate,
    ReadyToPrint,
    SubmissionFacts,
    Total,
    TotalVat,
    TypeOfReceipt,
)
from fe.http.models.response_types import Amount, Code, Day, Digits, Moment, ResponseModel, Uuid, closed
from fe.http.models.warnings import DocumentProblem as DocumentProblem
from fe.http.models.warnings import ProblemRepair as ProblemRepair
from fe.http.models.warnings import Warnings
from fe.lifecycle import EventKind, NumberFate, Status
from fe.store.records.billing import PricingTier
from fe.store.records.received import ApprovalStatus


@closed
class Error(TypedDict):
    """The body of every error."""

    message: Annotated[str, Field(description="what is wrong, in words for a person; names the field it is about")]
    statusCode: Annotated[int, Field(description="the HTTP status once more")]
    hint: NotRequired[Annotated[str, Field(description="what to do, where `message` does not say it")]]
    problems: NotRequired[
        Annotated[
            list[DocumentProblem],
            Field(description="everything that is wrong with the document, as POST /invoices/validate says it"),
        ]
    ]


@closed
class Token(TypedDict):
    """The answer to a login."""

    accessToken: Annotated[str, Field(description="send it as `Authorization: Bearer ...`")]
    tokenType: Literal["Bearer"]
    expiresIn: Annotated[Literal[3600], Field(description="seconds")]
    environment: Environment
    scopes: list[str]
    warnings: NotRequired[Warnings]


@closed
class AcceptedSubmission(TypedDict):
    """A submission was taken in and will be processed. `warnings` is there when there is something to say about it."""

    taxLogId: Uuid
    status: Literal[Status.QUEUED]
    environment: Environment
    billable: Annotated[bool, Field(description="true only in production")]
    message: str
    tipoEcf: TypeOfReceipt
    montoTotal: Total
    totalITBIS: TotalVat
    rncComprador: BuyerRnc
    razonSocialComprador: BuyerName
    fechaEmision: IssueDate
    readyToPrint: ReadyToPrint
    eNCF: NotRequired[Annotated[str, Field(description="the document's number; the one drawn when it came without")]]
    warnings: NotRequired[
        Annotated[
            list[DocumentProblem],
            Field(
                description="what does not keep it from being sent and you should know: members of the body that do "
                "not exist, lines taken for exempt, a number far ahead; with `strict: true` every remark"
            ),
        ]
    ]


@closed
class Deduped(TypedDict):
    """This clientRequestId was used before: the first submission, and nothing is processed again."""

    taxLogId: Uuid
    status: Status
    environment: Environment
    deduped: Literal[True]
    bodyMatched: Annotated[bool, Field(description="whether the repeated body was the same")]
    message: str
    tipoEcf: NotRequired[TypeOfReceipt]
    montoTotal: NotRequired[Total]
    totalITBIS: NotRequired[TotalVat]
    rncComprador: NotRequired[BuyerRnc]
    razonSocialComprador: NotRequired[BuyerName]
    fechaEmision: NotRequired[IssueDate]
    eNCF: NotRequired[str]
    warnings: NotRequired[Warnings]


@closed
class BatchItem(TypedDict):
    """The result of one receipt of a batch, with the fields of an answer to POST /invoices."""

    statusCode: Annotated[int, Field(description="202 taken in, 200 known by its clientRequestId, else an error")]
    message: str
    taxLogId: NotRequired[Uuid]
    status: NotRequired[Status]
    environment: NotRequired[Environment]
    billable: NotRequired[bool]
    deduped: NotRequired[Literal[True]]
    bodyMatched: NotRequired[bool]
    tipoEcf: NotRequired[TypeOfReceipt]
    montoTotal: NotRequired[Total]
    totalITBIS: NotRequired[TotalVat]
    rncComprador: NotRequired[BuyerRnc]
    razonSocialComprador: NotRequired[BuyerName]
    fechaEmision: NotRequired[IssueDate]
    readyToPrint: NotRequired[ReadyToPrint]
    eNCF: NotRequired[str]
    warnings: NotRequired[list[DocumentProblem]]
    problems: NotRequired[list[DocumentProblem]]


@closed
class Batch(TypedDict):
    """The result of each receipt of a batch, in the order of the request."""

    items: list[BatchItem]
    warnings: NotRequired[Warnings]


@closed
class NotFound(TypedDict):
    """Nothing of this tenant has that id."""

    found: Literal[False]
    hint: NotRequired[Annotated[str, Field(description="how to find what the id looks like")]]


@closed
class ExplainedMessage(TypedDict):
    """The meaning of a code of the authority and what to do, in the requested language."""

    codigo: Annotated[str, Field(description="as in response.mensajes")]
    meaning: str
    action: Annotated[str, Field(description="what to do")]


Metadata = Annotated[dict[str, str], Field(description="your labels, as in POST /invoices; absent without any")]


@closed
class Submission(TypedDict):
    """A submission."""

    taxLogId: Uuid
    trackId: NotRequired[Annotated[str, Field(description="the authority's id; absent until there is one")]]
    environment: Environment
    status: Status
    qrCodeUrl: Annotated[str | None, Field(description="to print on the receipt; null until it is signed")]
    securityCode: Annotated[str | None, Field(description="to print on the receipt; null until it is signed")]
    ncfExpiration: Annotated[str | None, Field(description="dd-MM-yyyy; null until signed, or without expiry")]
    fechaHoraFirma: Annotated[str | None, Field(description="moment of signing, -04:00; null until then")]
    response: Annotated[
        dict[str, Any] | None,
        Field(description="the authority's raw answer, or why we failed; null until there is one"),
    ]
    submittedAt: Moment
    updatedAt: Moment
    clientRequestId: str | None
    tipoEcf: TypeOfReceipt
    montoTotal: Total
    totalITBIS: TotalVat
    rncComprador: BuyerRnc
    razonSocialComprador: BuyerName
    fechaEmision: IssueDate
    readyToPrint: ReadyToPrint
    facts: SubmissionFacts
    eNCF: NotRequired[Annotated[str, Field(description="absent when the document has no number")]]
    numberFate: NotRequired[Annotated[NumberFate, Field(description="the state of that number")]]
    warnings: NotRequired[
        Annotated[
            list[DocumentProblem],
            Field(description="what was assumed in making it, such as a tax rate; absent when nothing was"),
        ]
    ]
    explained: NotRequired[
        Annotated[
            list[ExplainedMessage],
            Field(description="the authority's codes in our words; absent where it said nothing that needs any"),
        ]
    ]
    approvalStatus: NotRequired[Annotated[Literal["approved", "rejected"], Field(description="what its buyer said")]]
    approvalReason: NotRequired[Annotated[str | None, Field(description="why it was rejected, in the buyer's words")]]
    approvalAt: NotRequired[Annotated[Moment, Field(description="when its buyer said so here")]]
    receiver: NotRequired[
        Annotated[Handing, Field(description="where receipts are sent to their receivers: how that stands")]
    ]
    mail: NotRequired[Annotated[Mailing, Field(description="where receipts are sent by mail: how that stands")]]
    replacesNcf: NotRequired[
        Annotated[str, Field(description="number of the paper receipt that it replaces; absent otherwise")]
    ]
    archived: NotRequired[
        Annotated[bool, Field(description="true: XML and PDF come from the archive and take longer; absent otherwise")]
    ]
    metadata: NotRequired[Metadata]
    legend: NotRequired[
        Annotated[
            str,
            Field(
                description="to print on a receipt that you hand over before its verdict, because your line or the "
                "authority is down, or because its sending is deferred; absent otherwise"
            ),
        ]
    ]


@closed
class SubmissionXml(TypedDict):
    """The document of a submission."""

    taxLogId: Uuid
    environment: Environment
    status: Status
    source: Annotated[Literal["signed", "original"] | None, Field(description="null: still queued")]
    xml: str | None


@closed
class TimelineEvent(TypedDict):
    """One event of a submission."""

    seq: int
    at: Moment
    # No enum: a release may add kinds, and a client made from this description must not fail on them.
    kind: Annotated[str, Field(description="; ".join(f"`{kind}`: {kind.meaning}" for kind in EventKind))]
    detail: dict[str, Any]


@closed
class Timeline(TypedDict):
    """All events of a submission, oldest first."""

    taxLogId: Uuid
    environment: Environment
    status: Status
    events: list[TimelineEvent]


@closed
class SubmissionItem(TypedDict):
    """One item of the history."""

    taxLogId: Uuid
    trackId: NotRequired[str]
    environment: Environment
    status: Status
    qrCodeUrl: str | None
    submittedAt: Moment
    updatedAt: Moment
    clientRequestId: str | None
    securityCode: str | None
    fechaHoraFirma: Annotated[str | None, Field(description="moment of signing, -04:00")]
    tipoEcf: TypeOfReceipt
    montoTotal: Total
    totalITBIS: TotalVat
    rncComprador: BuyerRnc
    razonSocialComprador: BuyerName
    fechaEmision: IssueDate
    readyToPrint: ReadyToPrint
    facts: SubmissionFacts
    eNCF: NotRequired[Annotated[str, Field(description="absent when the document has no number")]]
    metadata: NotRequired[Metadata]


PartWarning = Annotated[
    Warnings,
    Field(description="`not-all-looked-through`: a part of the period was looked through; `nextCursor` leads on"),
]


@closed
class SubmissionPage(TypedDict):
    """One page of the history, newest first."""

    page: int
    limit: int
    total: Annotated[int, Field(description="in all; with `warnings`, among those that were looked through")]
    items: list[SubmissionItem]
    nextCursor: Annotated[str | None, Field(description="for `cursor`: what is older; null at the end")]
    warnings: NotRequired[PartWarning]


@closed
class SubmissionStretch(TypedDict):
    """The submissions that follow a cursor."""

    limit: int
    items: list[SubmissionItem]
    nextCursor: str | None
    warnings: NotRequired[PartWarning]


@closed
class ReceivedItem(TypedDict):
    """A document that a supplier issued to the tenant."""

    id: Uuid
    environment: Environment
    encf: Annotated[str, Field(description="the supplier's number")]
    tipoEcf: Annotated[str, Field(description="type prefix such as E31")]
    rncEmisor: str
    razonSocialEmisor: str
    rncComprador: str
    montoTotal: Amount
    fechaEmision: Day
    approvalStatus: Annotated[
        ApprovalStatus,
        Field(description="`pending` until the authority has accepted an ACECF of the tenant about it"),
    ]
    receivedAt: Moment
    approval: NotRequired[
        Annotated[ReceivedApproval, Field(description="only of one, and only once it was approved or rejected here")]
    ]


@closed
class ReceivedPage(TypedDict):
    """One page of what was received, newest first."""

    page: int
    limit: int
    total: int
    items: list[ReceivedItem]
    nextCursor: Annotated[str | None, Field(description="for `cursor`: what is older; null at the end")]


@closed
class ReceivedStretch(TypedDict):
    """The received documents that follow a cursor."""

    limit: int
    items: list[ReceivedItem]
    nextCursor: str | None


@closed
class ReceivedXml(TypedDict):
    """A received document as it came, and the acknowledgement that was given for it."""

    id: Uuid
    environment: Environment
    xml: Annotated[str, Field(description="the e-CF with the supplier's signature, as the supplier sent it")]
    acknowledgement: Annotated[str, Field(description="the signed ARECF")]


@closed
class Validation(TypedDict):
    """The problems of a document that was validated but not submitted."""

    valid: Annotated[bool, Field(description="whether it would be signed and sent")]
    problems: list[DocumentProblem]


@closed
class InvoicePreview(TypedDict):
    """A document as it would be signed now: numbered and completed. Nothing was stored, and no number was drawn."""

    valid: Annotated[bool, Field(description="whether it would be signed and sent")]
    problems: list[DocumentProblem]
    tipoEcf: TypeOfReceipt
    montoTotal: Total
    totalITBIS: TotalVat
    rncComprador: BuyerRnc
    razonSocialComprador: BuyerName
    fechaEmision: IssueDate
    eNCF: Annotated[
        str | None,
        Field(
            description="its number, or the one it would draw now, which another receipt may draw first; null where "
            "there is none"
        ),
    ]
    payload: Annotated[
        dict[str, Any] | None,
        Field(
            description="the completed document, every value as the XML would have it; null where it cannot be written"
        ),
    ]
    xml: Annotated[str | None, Field(description="the same as XML, without a signature")]


@closed
class PrefixName(TypedDict):
    """A type of e-CF."""

    code: Code
    name: str
    nameEs: Annotated[str, Field(description="the authority's own name of the type")]


@closed
class RangeAhead(TypedDict):
    """The range that a sequence goes on with; numbers are strings, as there."""

    minSequence: Digits
    maxSequence: Digits
    expireAt: Annotated[Moment | None, Field(description="the end of its last day, in UTC")]
    expireOn: Annotated[Day | None, Field(description="its last day, in Santo Domingo")]


@closed
class NumberSequence(TypedDict):
    """A number sequence; numbers are strings because a range reaches 9999999999."""

    id: Uuid
    type: Code
    prefix: Code
    name: NotRequired[
        Annotated[str, Field(description="absent: the sequence of the prefix that a submission draws from by default")]
    ]
    users: NotRequired[
        Annotated[
            list[str],
            Field(description="of one with a name: the users who draw from it when their submission names no sequence"),
        ]
    ]
    agentId: NotRequired[
        Annotated[Uuid, Field(description="the agent that alone gives its numbers; the service draws none of them")]
    ]
    description: str
    minSequence: Digits
    maxSequence: Digits
    currentSequence: Annotated[Digits, Field(description="the next number; one past maxSequence: used up")]
    isActive: bool
    expireAt: Annotated[Moment | None, Field(description="the end of its last day, in UTC")]
    expireOn: Annotated[Day | None, Field(description="its last day, in Santo Domingo")]
    pausedAt: Annotated[
        Moment | None,
        Field(description="since when it gives no numbers; setting currentSequence or isActive resumes it"),
    ]
    pausedFor: Annotated[
        str | None,
        Field(description="the number that it gave and that another document of this issuer holds at the authority"),
    ]
    nextRange: NotRequired[
        Annotated[
            RangeAhead,
            Field(
                description="the range it goes on with: the first draw that finds its own range used up or expired "
                "begins it; absent: none is stored"
            ),
        ]
    ]
    warnings: NotRequired[
        Annotated[
            list[DocumentProblem],
            Field(
                description="when it was just set: members of the body that do not exist, that it is over already, or "
                "says no last day; absent otherwise"
            ),
        ]
    ]


@closed
class Sequences(TypedDict):
    """Every type there is, and every sequence that is configured."""

    availableTypes: list[PrefixName]
    items: list[NumberSequence]


@closed
class Deleted(TypedDict):
    """The sequence is gone."""

    ok: Literal[True]
    prefix: Code


@closed
class UsageItem(TypedDict):
    """One day in one environment."""

    date: Day
    environment: Environment
    requestsTotal: int
    requestsSuccess: int
    requestsError: int
    emissionsSubmitted: int
    emissionsAccepted: int
    emissionsAcceptedConditional: int
    emissionsRejected: int
    emissionsPending: int
    bytesIn: Digits
    bytesOut: Digits
    avgLatencyMs: int
    p95LatencyMs: int


@closed
class UsageTodayItem(TypedDict):
    """The running day in one environment."""

    environment: Environment
    emissionsSubmitted: int
    emissionsAccepted: int
    emissionsAcceptedConditional: int
    emissionsRejected: int
    emissionsPending: int


@closed
class UsageToday(TypedDict):
    """Today in Santo Domingo, from midnight until now; an environment without anything has no entry."""

    date: Day
    isComplete: Annotated[
        bool, Field(description="false beyond 20,000 receipts or verdicts: the counts are lower bounds then")
    ]
    items: list[UsageTodayItem]


# Apart, because the word is taken in Python.
_From = TypedDict("_From", {"from": Day})


@closed
class UsageReport(_From):
    """Whole UTC days that end yesterday; a day without anything has no entry."""

    to: Day
    items: list[UsageItem]
    today: NotRequired[Annotated[UsageToday, Field(description="only where the call had today=true")]]


@closed
class BillingPeriod(TypedDict):
    """The current UTC month so far."""

    period: Annotated[str, Field(pattern="^[0-9]{4}-[0-9]{2}$")]
    periodStart: Moment
    periodEnd: Annotated[Moment, Field(description="exclusive")]
    enabled: bool
    subscriptionId: str | None
    unitPrice: Annotated[Amount | None, Field(description="null before the first emission of the month")]
    currency: str
    pricingTier: PricingTier
    emissionsAccepted: int
    subtotal: Amount
    lastUpdated: Moment


ERROR = ResponseModel(Error)
TOKEN = ResponseModel(Token)
ACCEPTED = ResponseModel(AcceptedSubmission)
DEDUPED = ResponseModel(Deduped)
BATCH = ResponseModel(Batch)
NOT_FOUND = ResponseModel(NotFound)
SUBMISSION = ResponseModel(Submission)
XML = ResponseModel(SubmissionXml)
TIMELINE = ResponseModel(Timeline)
PAGE = ResponseModel(SubmissionPage)
STRETCH = ResponseModel(SubmissionStretch)
RECEIVED = ResponseModel(ReceivedItem)
RECEIVED_PAGE = ResponseModel(ReceivedPage)
RECEIVED_STRETCH = ResponseModel(ReceivedStretch)
RECEIVED_XML = ResponseModel(ReceivedXml)
VALIDATION = ResponseModel(Validation)
PREVIEW = ResponseModel(InvoicePreview)
NUMBER_SEQUENCE = ResponseModel(NumberSequence)
SEQUENCES = ResponseModel(Sequences)
DELETED = ResponseModel(Deleted)
USAGE_REPORT = ResponseModel(UsageReport)
BILLING_PERIOD = ResponseModel(BillingPeriod)
