"""What answers look like, for the OpenAPI description. Tests hold every answer against these."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from fe.ecf.catalogue import PREFIXES
from fe.lifecycle import EventKind, NumberFate, Status

Environment = Literal["ecf", "certecf", "testecf"]
Moment = Annotated[str, Field(json_schema_extra={"format": "date-time"})]
Day = Annotated[str, Field(json_schema_extra={"format": "date"})]
Uuid = Annotated[str, Field(json_schema_extra={"format": "uuid"})]
Digits = Annotated[str, Field(pattern="^[0-9]+$")]
Code = Annotated[str, Field(json_schema_extra={"enum": list(PREFIXES)})]


class ResponseModel(BaseModel):
    """An answer; `description` of a field says what it means, in the interface's words."""

    model_config = ConfigDict(extra="forbid")


class Error(ResponseModel):
    """The body of every error."""

    message: Annotated[str, Field(description="what is wrong, in words for a person; names the field it is about")]
    statusCode: Annotated[int, Field(description="the HTTP status once more")]
    problems: Annotated[
        list["DocumentProblem"] | None,
        Field(description="only for `strict: true`: everything that is wrong with the document"),
    ] = None


class DocumentProblem(ResponseModel):
    """One thing that is wrong with a document; what does not apply is left out."""

    code: Annotated[str, Field(description="stable, for programs")]
    path: Annotated[str, Field(description="such as Encabezado.Totales.MontoTotal or DetallesItems.Item[3].MontoItem")]
    message: str
    messageEs: str
    severity: Annotated[
        Literal["rejected", "conditional"],
        Field(description="whether the authority would refuse, or accept with remarks"),
    ]
    line: Annotated[int, Field(description="of the XML")] = 0
    column: Annotated[int, Field(description="of XML that cannot be signed as it stands")] = 0
    found: str = ""
    expected: str = ""
    fix: str = ""
    fixEs: str = ""


class Token(ResponseModel):
    """The answer to a login."""

    accessToken: Annotated[str, Field(description="send it as `Authorization: Bearer ...`")]
    tokenType: Literal["Bearer"]
    expiresIn: Annotated[Literal[3600], Field(description="seconds")]
    environment: Environment
    scopes: list[str]


class AcceptedSubmission(ResponseModel):
    """A submission was taken in and will be processed. `warnings` is there when there is something to say about it."""

    taxLogId: Uuid
    status: Literal["queued"]
    environment: Environment
    billable: Annotated[bool, Field(description="true only in production")]
    message: str
    eNCF: Annotated[str, Field(description="the document's number; the one drawn when it came without")] = ""
    warnings: Annotated[
        list[DocumentProblem] | None,
        Field(
            description="what does not keep it from being sent and you should know: a number far ahead of the next, "
            "and with `strict: true` every remark"
        ),
    ] = None


class Deduped(ResponseModel):
    """This clientRequestId was used before: the first submission, and nothing is processed again."""

    taxLogId: Uuid
    status: Status
    environment: Environment
    deduped: Literal[True]
    bodyMatched: Annotated[bool, Field(description="whether the repeated body was the same")]
    message: str
    eNCF: str = ""


class NotFound(ResponseModel):
    """Nothing of this tenant has that id."""

    found: Literal[False]


class Submission(ResponseModel):
    """A submission."""

    taxLogId: Uuid
    trackId: Annotated[str, Field(description="the authority's id; absent until there is one")] = ""
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
    eNCF: Annotated[str, Field(description="absent when the document has no number")] = ""
    numberFate: Annotated[NumberFate, Field(description="what became of that number")] = NumberFate.RESERVED
    warnings: Annotated[
        list[DocumentProblem] | None,
        Field(description="what was assumed in making it, such as a tax rate; absent when nothing was"),
    ] = None
    approvalStatus: Annotated[
        Literal["approved", "rejected"], Field(description="what its buyer said of it; absent until they did")
    ] = "approved"
    approvalReason: Annotated[str | None, Field(description="why it was rejected, in the buyer's words")] = None


class Xml(ResponseModel):
    """The document of a submission."""

    taxLogId: Uuid
    environment: Environment
    status: Status
    source: Annotated[Literal["signed", "original"] | None, Field(description="null: still queued")]
    xml: str | None


class TimelineEvent(ResponseModel):
    """One event of a submission."""

    seq: int
    at: Moment
    # No enum: a release may add kinds, and a client made from this description must not fail on them.
    kind: Annotated[str, Field(description="; ".join(f"`{kind}`: {kind.meaning}" for kind in EventKind))]
    detail: dict[str, Any]


class Timeline(ResponseModel):
    """All events of a submission, oldest first."""

    taxLogId: Uuid
    environment: Environment
    status: Status
    events: list[TimelineEvent]


class Item(ResponseModel):
    """One item of the history."""

    taxLogId: Uuid
    trackId: str = ""
    environment: Environment
    status: Status
    qrCodeUrl: str | None
    submittedAt: Moment
    updatedAt: Moment
    clientRequestId: str | None


class Page(ResponseModel):
    """One page of the history, newest first."""

    page: int
    limit: int
    total: int
    items: list[Item]
    nextCursor: Annotated[str | None, Field(description="for `cursor`: what is older; null at the end")]


class Stretch(ResponseModel):
    """What follows a cursor."""

    limit: int
    items: list[Item]
    nextCursor: str | None


class Received(ResponseModel):
    """A document that a supplier issued to the tenant."""

    id: Uuid
    environment: Environment
    encf: Annotated[str, Field(description="the supplier's number")]
    tipoEcf: Annotated[str, Field(description="type prefix such as E31")]
    rncEmisor: str
    razonSocialEmisor: str
    rncComprador: str
    montoTotal: float
    fechaEmision: Day
    approvalStatus: Annotated[
        Literal["pending", "approved", "rejected"],
        Field(description="`pending` until the authority has accepted an ACECF of the tenant about it"),
    ]
    receivedAt: Moment


class ReceivedPage(ResponseModel):
    """One page of what was received, newest first."""

    page: int
    limit: int
    total: int
    items: list[Received]
    nextCursor: Annotated[str | None, Field(description="for `cursor`: what is older; null at the end")]


class ReceivedStretch(ResponseModel):
    """What follows a cursor."""

    limit: int
    items: list[Received]
    nextCursor: str | None


class ReceivedXml(ResponseModel):
    """A received document as it came, and the acknowledgement that was given for it."""

    id: Uuid
    environment: Environment
    xml: Annotated[str, Field(description="the e-CF with the supplier's signature, as the supplier sent it")]
    acknowledgement: Annotated[str, Field(description="the signed ARECF")]


class Validation(ResponseModel):
    """What is wrong with a document that was not submitted."""

    valid: Annotated[bool, Field(description="whether it would be signed and sent")]
    problems: list[DocumentProblem]


class PrefixName(ResponseModel):
    """A type of e-CF."""

    code: Code
    name: str


class NumberSequence(ResponseModel):
    """A number sequence; numbers are strings because a range reaches 9999999999."""

    id: Uuid
    type: Code
    prefix: Code
    description: str
    minSequence: Digits
    maxSequence: Digits
    currentSequence: Annotated[Digits, Field(description="the next number; one past maxSequence: used up")]
    isActive: bool
    expireAt: Annotated[Moment | None, Field(description="the end of its last day, in UTC")]
    expireOn: Annotated[Day | None, Field(description="its last day, in Santo Domingo")]
    warnings: Annotated[
        list["DocumentProblem"], Field(description="when it was just set: that it is over already; absent otherwise")
    ] = []


class Sequences(ResponseModel):
    """Every type there is, and every sequence that is configured."""

    availableTypes: list[PrefixName]
    items: list[NumberSequence]


class Deleted(ResponseModel):
    """The sequence is gone."""

    ok: Literal[True]
    prefix: Code


class UsageItem(ResponseModel):
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


class UsageReport(ResponseModel):
    """Whole UTC days that end yesterday; a day without anything has no entry."""

    from_: Annotated[Day, Field(alias="from")]
    to: Day
    items: list[UsageItem]


class BillingPeriod(ResponseModel):
    """The current UTC month so far."""

    period: Annotated[str, Field(pattern="^[0-9]{4}-[0-9]{2}$")]
    periodStart: Moment
    periodEnd: Annotated[Moment, Field(description="exclusive")]
    enabled: bool
    subscriptionId: str | None
    unitPrice: Annotated[float | None, Field(description="null before the first emission of the month")]
    currency: str
    pricingTier: Literal["standard", "volume", "enterprise"]
    emissionsAccepted: int
    subtotal: float
    lastUpdated: Moment
