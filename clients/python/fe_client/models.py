"""What is sent and answered, as dicts with known members.

Made from the service's description by `python -m clients.generate`: changes belong there.
"""

# ruff: noqa: E501

from decimal import Decimal
from typing import Any, Literal, NotRequired, TypeAlias, TypedDict

#: Amounts are never binary floats. Where one is sent, a text such as "118.50" serves as well.
Number: TypeAlias = int | Decimal


class AcceptedSubmission(TypedDict):
    """A submission was taken in and will be processed. `warnings` is there when there is something to say about it."""

    taxLogId: str
    status: Literal["queued"]
    environment: "Environment"
    billable: bool
    """true only in production"""
    message: str
    eNCF: NotRequired[str]
    """the document's number; the one drawn when it came without"""
    warnings: NotRequired["list[DocumentProblem]"]
    """what does not keep it from being sent and you should know: a number far ahead of the next, and with `strict: true` every remark"""


class ApprovalAtAuthority(TypedDict):
    """How it stands with the authority: the status of the ACECF."""

    status: "Status"
    message: NotRequired[str]
    """of a refusal: what it says"""
    at: str


#: What the tenant has said of a document it received.
ApprovalStatus: TypeAlias = Literal["pending", "approved", "rejected"]


class ApprovalTaken(TypedDict):
    """A decision was taken in, or had been before."""

    id: str
    """of the received document"""
    environment: "Environment"
    decision: Literal["approved", "rejected"]
    approvalStatus: "ApprovalStatus"
    taxLogId: str
    """of the ACECF"""
    status: "Status"
    """of the ACECF"""
    deduped: bool
    """whether it was decided before: then nothing was processed again"""
    message: str


class ApproveReceived(TypedDict):
    """What may be said when a received document is approved; nothing has to be."""

    clientRequestId: NotRequired[str | None]
    """idempotency key"""
    asUser: NotRequired[str | None]
    """e-mail address: issue with that user's certificate"""
    asUserId: NotRequired[str | None]
    """the same by id; wins over asUser"""


class Attempt(TypedDict):
    """A try."""

    at: str
    durationMs: int
    status: int | None
    """what was answered; null where nothing was"""
    error: str | None
    """a word for what went wrong; null where it was confirmed"""
    redirected: bool
    answer: str | None
    """the first bytes of the answer's body, as text"""


class Batch(TypedDict):
    """What became of each receipt of a batch, in their order."""

    items: "list[BatchItem]"


class BatchItem(TypedDict):
    """What became of one receipt of a batch: the fields that POST /invoices would have answered with."""

    statusCode: int
    """202 taken in, 200 known by its clientRequestId, else an error"""
    message: str
    taxLogId: NotRequired[str]
    status: NotRequired["Status"]
    environment: NotRequired["Environment"]
    billable: NotRequired[bool]
    deduped: NotRequired[Literal[True]]
    bodyMatched: NotRequired[bool]
    eNCF: NotRequired[str]
    warnings: NotRequired["list[DocumentProblem]"]
    problems: NotRequired["list[DocumentProblem]"]


class BillingPeriod(TypedDict):
    """The current UTC month so far."""

    period: str
    periodStart: str
    periodEnd: str
    """exclusive"""
    enabled: bool
    subscriptionId: str | None
    unitPrice: Number | None
    """null before the first emission of the month"""
    currency: str
    pricingTier: Literal["standard", "volume", "enterprise"]
    emissionsAccepted: int
    subtotal: Number
    lastUpdated: str


class CertificateEvent(TypedDict):
    """A certificate is about to expire."""

    event: Literal["certificate.expiring"]
    sentAt: str
    certificate: "CertificateState"


class CertificateState(TypedDict):
    """A certificate that needs somebody."""

    id: str
    user: str | None
    """whose; null: the company's"""
    expiresAt: str


class ChangedSequence(TypedDict):
    """What to change of a sequence; what is left out stays as it is. `expireAt` may be null: then it has no end."""

    minSequence: NotRequired[int | None]
    maxSequence: NotRequired[int | None]
    expireAt: NotRequired[str | None]
    """a date (YYYY-MM-DD) or a full ISO 8601 timestamp, which means the day it falls on in Santo Domingo"""
    isActive: NotRequired[bool | None]
    currentSequence: NotRequired[int | None]
    """the next number; it may go back while nothing from there was sent"""


class Deduped(TypedDict):
    """This clientRequestId was used before: the first submission, and nothing is processed again."""

    taxLogId: str
    status: "Status"
    environment: "Environment"
    deduped: Literal[True]
    bodyMatched: bool
    """whether the repeated body was the same"""
    message: str
    eNCF: NotRequired[str]


class Deleted(TypedDict):
    """The sequence is gone."""

    ok: Literal[True]
    prefix: Literal["E31", "E32", "E33", "E34", "E41", "E43", "E44", "E45", "E46", "E47"]


class Delivery(TypedDict):
    """An event on its way to an endpoint, as it was tried so far."""

    id: str
    """as in `X-Service-Delivery` and `webhook-id`"""
    webhookId: str
    event: str
    """`received_ecf`; `submission.accepted`; `submission.conditional`; `submission.rejected`; `submission.error`; `sequence.low`; `sequence.expiring`; `certificate.expiring`"""
    about: str
    """id of the received document or the submission, or what else it tells of"""
    environment: "Environment | None"
    state: Literal["pending", "held", "delivered", "failed"]
    """`pending`: waits for its next try; `held`: kept while its endpoint is disabled"""
    attempts: int
    """tries since it was last begun"""
    createdAt: str
    nextAttemptAt: str | None
    finishedAt: str | None
    lastError: str | None
    """what the last try failed by; null: it did not"""
    redirected: bool
    """whether a 3xx confirmed it, which was not followed"""


class DeliveryAgain(TypedDict):
    """It is on its way again, or for the first time."""

    id: str
    state: Literal["pending", "held"]
    message: str


class DeliveryDetail(TypedDict):
    """A delivery with its tries, the first one first."""

    id: str
    """as in `X-Service-Delivery` and `webhook-id`"""
    webhookId: str
    event: str
    """`received_ecf`; `submission.accepted`; `submission.conditional`; `submission.rejected`; `submission.error`; `sequence.low`; `sequence.expiring`; `certificate.expiring`"""
    about: str
    """id of the received document or the submission, or what else it tells of"""
    environment: "Environment | None"
    state: Literal["pending", "held", "delivered", "failed"]
    """`pending`: waits for its next try; `held`: kept while its endpoint is disabled"""
    attempts: int
    """tries since it was last begun"""
    createdAt: str
    nextAttemptAt: str | None
    finishedAt: str | None
    lastError: str | None
    """what the last try failed by; null: it did not"""
    redirected: bool
    """whether a 3xx confirmed it, which was not followed"""
    tries: "list[Attempt]"


class DeliveryPage(TypedDict):
    """One page of deliveries, newest first."""

    page: int
    limit: int
    total: int
    items: "list[Delivery]"
    nextCursor: str | None
    """for `cursor`: what is older; null at the end"""


class DeliveryStretch(TypedDict):
    """What follows a cursor."""

    limit: int
    items: "list[Delivery]"
    nextCursor: str | None


class DocumentProblem(TypedDict):
    """One thing that is wrong with a document; what does not apply is left out."""

    code: str
    """stable, for programs"""
    path: str
    """such as Encabezado.Totales.MontoTotal or DetallesItems.Item[3].MontoItem; the first is Item[1]"""
    message: str
    messageEs: str
    severity: Literal["rejected", "conditional"]
    """whether the authority would refuse, or accept with remarks"""
    line: NotRequired[int]
    """of the XML"""
    column: NotRequired[int]
    """of XML that cannot be signed as it stands"""
    found: NotRequired[str]
    expected: NotRequired[str]
    fix: NotRequired[str]
    fixEs: NotRequired[str]
    allowed: NotRequired[list[str]]
    """the codes it may be; of a very long list those that are alike"""
    repair: NotRequired["ProblemRepair"]
    """what to do to a structured payload, for programs"""


#: The authority's environments, spelled as the first path segment of its services.
Environment: TypeAlias = Literal["ecf", "certecf", "testecf"]


class Error(TypedDict):
    """The body of every error."""

    message: str
    """what is wrong, in words for a person; names the field it is about"""
    statusCode: int
    """the HTTP status once more"""
    problems: NotRequired["list[DocumentProblem]"]
    """everything that is wrong with the document, as POST /invoices/validate says it"""


class ExplainedMessage(TypedDict):
    """What a code of the authority means and what to do, in the language that was asked for."""

    codigo: str
    """as in response.mensajes"""
    meaning: str
    action: str
    """what to do"""


class Handing(TypedDict):
    """How it stands with handing a document on to the other party of a receipt."""

    state: Literal["waiting", "pending", "delivered", "refused", "unlisted", "gave_up"]
    """`waiting` for the authority; `pending`: under way; `delivered`: they took it; `refused`: they do not; `unlisted`: the authority's directory has no address for them; `gave_up`: out of attempts"""
    reason: NotRequired[str]
    """of what went wrong, in words"""
    at: NotRequired[str]


class Item(TypedDict):
    """One item of the history."""

    taxLogId: str
    trackId: NotRequired[str]
    environment: "Environment"
    status: "Status"
    qrCodeUrl: str | None
    submittedAt: str
    updatedAt: str
    clientRequestId: str | None
    eNCF: NotRequired[str]
    """absent when the document has no number"""


class LoginRequest(TypedDict):
    """An API key and its secret."""

    apiKeyId: str
    """public; begins with fak_"""
    apiSecret: str


class NewBatch(TypedDict):
    """Receipts to submit together; each is taken or refused by itself."""

    items: "list[NewInvoice]"
    """each as the body of POST /invoices, without `strict`"""


class NewInvoice(TypedDict):
    """A receipt to submit."""

    clientRequestId: NotRequired[str | None]
    """idempotency key"""
    asUser: NotRequired[str | None]
    """e-mail address: issue with that user's certificate"""
    asUserId: NotRequired[str | None]
    """the same by id; wins over asUser"""
    format: Literal["xml", "structured"]
    """form of the document"""
    xml: NotRequired[str | None]
    """complete e-CF XML; required when format is xml"""
    payload: NotRequired[dict[str, Any] | None]
    """the document as JSON, in the authority's element names; required when format is structured"""
    strict: NotRequired[bool | None]
    """refuse at once, with every problem, a document that would not be sent"""
    simulate: NotRequired["Simulate | None"]
    """where the authority is a simulator: what becomes of the receipt, for testing a client"""


class NewRecovery(TypedDict):
    """Since when what did not arrive is to be sent again."""

    since: str
    """a date (its start in UTC) or a timestamp"""


class NewSequence(TypedDict):
    """A number sequence to create or change; what is left out takes its default, also when there is a sequence already."""

    minSequence: NotRequired[int | None]
    maxSequence: NotRequired[int | None]
    expireAt: NotRequired[str | None]
    """a date (YYYY-MM-DD) or a full ISO 8601 timestamp, which means the day it falls on in Santo Domingo"""
    isActive: NotRequired[bool | None]
    prefix: Literal["E31", "E32", "E33", "E34", "E41", "E43", "E44", "E45", "E46", "E47"]


class NewWebhook(TypedDict):
    """Where the tenant wants to be called in the key's environment; there is one address for each."""

    url: str
    """https, a public host name, without user, password or fragment"""
    enabled: NotRequired[bool | None]
    events: NotRequired[
        list[
            Literal[
                "received_ecf",
                "submission.accepted",
                "submission.conditional",
                "submission.rejected",
                "submission.error",
                "sequence.low",
                "sequence.expiring",
                "certificate.expiring",
            ]
        ]
        | None
    ]
    """what to be told of"""
    headers: NotRequired[dict[str, str] | None]
    """at most 20 of your own, sent with every call; `{}`: none"""


class NotFound(TypedDict):
    """Nothing of this tenant has that id."""

    found: Literal[False]


#: What became of the fiscal number.
NumberFate: TypeAlias = Literal["reserved", "used", "reusable", "unknown", "void"]


class NumberSequence(TypedDict):
    """A number sequence; numbers are strings because a range reaches 9999999999."""

    id: str
    type: Literal["E31", "E32", "E33", "E34", "E41", "E43", "E44", "E45", "E46", "E47"]
    prefix: Literal["E31", "E32", "E33", "E34", "E41", "E43", "E44", "E45", "E46", "E47"]
    description: str
    minSequence: str
    maxSequence: str
    currentSequence: str
    """the next number; one past maxSequence: used up"""
    isActive: bool
    expireAt: str | None
    """the end of its last day, in UTC"""
    expireOn: str | None
    """its last day, in Santo Domingo"""
    warnings: NotRequired["list[DocumentProblem]"]
    """when it was just set: that it is over already; absent otherwise"""


class Page(TypedDict):
    """One page of the history, newest first."""

    page: int
    limit: int
    total: int
    items: "list[Item]"
    nextCursor: str | None
    """for `cursor`: what is older; null at the end"""


class PrefixName(TypedDict):
    """A type of e-CF."""

    code: Literal["E31", "E32", "E33", "E34", "E41", "E43", "E44", "E45", "E46", "E47"]
    name: str


class ProbeEvent(TypedDict):
    """Somebody asked for it: POST /webhooks/test."""

    event: Literal["test"]
    sentAt: str
    test: "ProbeMessage"


class ProbeMessage(TypedDict):
    """What a test says."""

    message: str


class ProblemRepair(TypedDict):
    """What to do to a structured payload so that a problem is gone. Paths are as in problems."""

    op: Literal["set", "rename", "remove"]
    """give `path` the `value`; move what is there to the path `to`; or take it away"""
    path: str
    value: NotRequired[Any]
    to: NotRequired[str]
    certain: bool
    """false: `value` is an example of the form, the true one is yours to say"""


class ReceivedApproval(TypedDict):
    """The tenant's last decision about a received document, and who has been told of it."""

    decision: Literal["approved", "rejected"]
    reason: NotRequired[str]
    """of a rejection"""
    taxLogId: str
    """of the ACECF"""
    decidedAt: str
    authority: "ApprovalAtAuthority"
    issuer: NotRequired["Handing"]
    """absent when the authority did not accept it"""


class ReceivedEcf(TypedDict):
    """A supplier's document, as on arrival."""

    id: str
    encf: str
    """the supplier's number"""
    tipoEcf: str
    """type prefix such as E31"""
    rncEmisor: str
    rncComprador: str
    montoTotal: Number
    """with its two digits: read it as a decimal"""
    fechaEmision: str
    approvalStatus: Literal["pending"]
    receivedAt: str


class ReceivedEcfEvent(TypedDict):
    """A supplier's e-CF was received and acknowledged."""

    event: Literal["received_ecf"]
    sentAt: str
    receivedEcf: "ReceivedEcf"
    xml: str
    """the complete e-CF as the supplier signed it"""


class ReceivedItem(TypedDict):
    """A document that a supplier issued to the tenant."""

    id: str
    environment: "Environment"
    encf: str
    """the supplier's number"""
    tipoEcf: str
    """type prefix such as E31"""
    rncEmisor: str
    razonSocialEmisor: str
    rncComprador: str
    montoTotal: Number
    fechaEmision: str
    approvalStatus: "ApprovalStatus"
    """`pending` until the authority has accepted an ACECF of the tenant about it"""
    receivedAt: str
    approval: NotRequired["ReceivedApproval"]
    """only of one, and only once it was approved or rejected here"""


class ReceivedPage(TypedDict):
    """One page of what was received, newest first."""

    page: int
    limit: int
    total: int
    items: "list[ReceivedItem]"
    nextCursor: str | None
    """for `cursor`: what is older; null at the end"""


class ReceivedStretch(TypedDict):
    """What follows a cursor."""

    limit: int
    items: "list[ReceivedItem]"
    nextCursor: str | None


class ReceivedXml(TypedDict):
    """A received document as it came, and the acknowledgement that was given for it."""

    id: str
    environment: "Environment"
    xml: str
    """the e-CF with the supplier's signature, as the supplier sent it"""
    acknowledgement: str
    """the signed ARECF"""


class Recoveries(TypedDict):
    """The latest recoveries, newest first."""

    items: "list[Recovery]"


class Recovery(TypedDict):
    """What was asked for, and how far it is."""

    id: str
    webhookId: str
    since: str
    until: str
    state: Literal["pending", "done", "failed"]
    recovered: int
    """deliveries put on their way so far"""
    askedAt: str
    finishedAt: str | None


class RejectReceived(TypedDict):
    """Why a received document is rejected."""

    clientRequestId: NotRequired[str | None]
    """idempotency key"""
    asUser: NotRequired[str | None]
    """e-mail address: issue with that user's certificate"""
    asUserId: NotRequired[str | None]
    """the same by id; wins over asUser"""
    reason: str
    """DetalleMotivoRechazo: the issuer and the authority read it"""


class SequenceEvent(TypedDict):
    """A number sequence is nearly used up, or about to expire."""

    event: Literal["sequence.low", "sequence.expiring"]
    sentAt: str
    sequence: "SequenceState"


class SequenceState(TypedDict):
    """A number sequence that needs somebody."""

    environment: "Environment"
    prefix: Literal["E31", "E32", "E33", "E34", "E41", "E43", "E44", "E45", "E46", "E47"]
    currentSequence: str
    maxSequence: str
    remaining: str
    expireOn: str | None
    """its last day, in Santo Domingo"""


class Sequences(TypedDict):
    """Every type there is, and every sequence that is configured."""

    availableTypes: "list[PrefixName]"
    items: "list[NumberSequence]"


class Simulate(TypedDict):
    """What a simulated authority is to do with a receipt that it would accept; only in a sandbox."""

    outcome: NotRequired[Literal["rejected", "conditional", "stuck", "lost-answer", "slow"] | None]
    """`rejected` (with `code`), `conditional` (accepted with a remark), `stuck` (there is never a verdict), `lost-answer` (it is received, and the connection breaks before the answer), `slow` (the verdict comes after `seconds`)"""
    code: NotRequired[int | None]
    """the authority's code: of rejected; of conditional 13 if left out"""
    seconds: NotRequired[int | None]
    """of slow; default 10"""
    now: NotRequired[str | None]
    """validate as if it were this moment: a date or a full ISO 8601 timestamp; for POST /invoices/validate and with `strict`"""


#: What a client sees of a submission.
Status: TypeAlias = Literal["queued", "En Proceso", "Aceptado", "Aceptado Condicional", "Rechazado", "error"]


class Stretch(TypedDict):
    """What follows a cursor."""

    limit: int
    items: "list[Item]"
    nextCursor: str | None


class Submission(TypedDict):
    """A submission."""

    taxLogId: str
    trackId: NotRequired[str]
    """the authority's id; absent until there is one"""
    environment: "Environment"
    status: "Status"
    qrCodeUrl: str | None
    """to print on the receipt; null until it is signed"""
    securityCode: str | None
    """to print on the receipt; null until it is signed"""
    ncfExpiration: str | None
    """dd-MM-yyyy; null until signed, or without expiry"""
    fechaHoraFirma: str | None
    """moment of signing, -04:00; null until then"""
    response: dict[str, Any] | None
    """the authority's raw answer, or why we failed; null until there is one"""
    submittedAt: str
    updatedAt: str
    clientRequestId: str | None
    eNCF: NotRequired[str]
    """absent when the document has no number"""
    numberFate: NotRequired["NumberFate"]
    """what became of that number"""
    warnings: NotRequired["list[DocumentProblem]"]
    """what was assumed in making it, such as a tax rate; absent when nothing was"""
    explained: NotRequired["list[ExplainedMessage]"]
    """the authority's codes in our words; absent where it said nothing that needs any"""
    approvalStatus: NotRequired[Literal["approved", "rejected"]]
    """what its buyer said"""
    approvalReason: NotRequired[str | None]
    """why it was rejected, in the buyer's words"""
    approvalAt: NotRequired[str]
    """when its buyer said so here"""
    receiver: NotRequired["Handing"]
    """where receipts are sent to their receivers: how that stands"""


class SubmissionEvent(TypedDict):
    """A submission was accepted, accepted with remarks, rejected, or has failed."""

    event: Literal["submission.accepted", "submission.conditional", "submission.rejected", "submission.error"]
    sentAt: str
    submission: "SubmissionSummary"


class SubmissionSummary(TypedDict):
    """A submission of yours that has come to its end."""

    taxLogId: str
    clientRequestId: str | None
    environment: "Environment"
    status: "Status"
    eNCF: str | None
    numberFate: "NumberFate | None"
    trackId: str | None
    securityCode: str | None
    qrCodeUrl: str | None
    response: dict[str, Any] | None
    """as in GET /invoices/{trackOrId}"""
    updatedAt: str


class Timeline(TypedDict):
    """All events of a submission, oldest first."""

    taxLogId: str
    environment: "Environment"
    status: "Status"
    events: "list[TimelineEvent]"


class TimelineEvent(TypedDict):
    """One event of a submission."""

    seq: int
    at: str
    kind: str
    """`accepted`: submission, number and first step stored, in one commit; `signed`: made, checked, signed: these bytes are kept for good; `remarked`: what had to be assumed in making it; `sending`: intent to send committed; then it goes out; `received`: the authority has it; its verdict is to come; `processing`: the authority is still at it; `outcome_unknown`: nobody knows whether it arrived: ask before sending again; `not_known_there`: asked: it is not known there, send the same bytes again; `verdict`: the authority's verdict; `error`: permanent failure; `retry`: it did not work out, due again; `dead_letter`: out of attempts, an operator's matter; `replayed`: an operator set it going again, attempts afresh; `discarded`: an operator gave it up"""
    detail: dict[str, Any]


class Token(TypedDict):
    """The answer to a login."""

    accessToken: str
    """send it as `Authorization: Bearer ...`"""
    tokenType: Literal["Bearer"]
    expiresIn: Literal[3600]
    """seconds"""
    environment: "Environment"
    scopes: list[str]


class UsageItem(TypedDict):
    """One day in one environment."""

    date: str
    environment: "Environment"
    requestsTotal: int
    requestsSuccess: int
    requestsError: int
    emissionsSubmitted: int
    emissionsAccepted: int
    emissionsAcceptedConditional: int
    emissionsRejected: int
    emissionsPending: int
    bytesIn: str
    bytesOut: str
    avgLatencyMs: int
    p95LatencyMs: int


#: Whole UTC days that end yesterday; a day without anything has no entry.

UsageReport = TypedDict(
    "UsageReport",
    {
        "from": str,
        "to": str,
        "items": "list[UsageItem]",
    },
)


class Validation(TypedDict):
    """What is wrong with a document that was not submitted."""

    valid: bool
    """whether it would be signed and sent"""
    problems: "list[DocumentProblem]"


class Webhook(TypedDict):
    """Where the tenant is called, and how that goes."""

    id: str
    environment: "Environment | None"
    """null: of every one; set by who runs the service"""
    url: str
    enabled: bool
    events: list[str]
    headers: list[str]
    """the names of those that are sent with every call"""
    createdAt: str
    updatedAt: str
    failingSince: str | None
    """since when every try has failed; null: it answers"""
    disabledAt: str | None
    """since when we do not call it; events are kept until it is enabled again"""
    disabledReason: str | None
    """`gone`: it answered 410; `failing`: nothing had arrived for five days"""
    oldSecretUntil: str | None
    """until when the secret before the last rotation signs beside the new one"""
    secret: NotRequired[str]
    """only where it has just been made: keep it, it is not shown again"""


class Webhooks(TypedDict):
    """Where the tenant is called: in the key's environment, and in all."""

    items: "list[Webhook]"


class Xml(TypedDict):
    """The document of a submission."""

    taxLogId: str
    environment: "Environment"
    status: "Status"
    source: Literal["signed", "original"] | None
    """null: still queued"""
    xml: str | None
