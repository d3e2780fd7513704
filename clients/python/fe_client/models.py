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
    tipoEcf: Literal["E31", "E32", "E33", "E34", "E41", "E43", "E44", "E45", "E46", "E47"] | None
    """type prefix such as E31; null: no receipt"""
    montoTotal: Number | None
    """MontoTotal of the signed XML, in pesos; null until it is known"""
    totalITBIS: Number | None
    """TotalITBIS of the signed XML, 0 where it has none; null until it is known"""
    rncComprador: str | None
    """null where the receipt names none"""
    razonSocialComprador: str | None
    """null until it is known, or where the receipt names none"""
    fechaEmision: str | None
    """FechaEmision of the signed XML; null until it is known"""
    readyToPrint: bool
    """whether all that is printed is there: security code, moment of signing and QR address; before the verdict the service marks its prints as a preview"""
    eNCF: NotRequired[str]
    """the document's number; the one drawn when it came without"""
    warnings: NotRequired["list[DocumentProblem]"]
    """what does not keep it from being sent and you should know: members of the body that do not exist, lines taken for exempt, a number far ahead; with `strict: true` every remark"""


class Acecf(TypedDict):
    """Acecf"""

    DetalleAprobacionComercial: "AcecfDetalleAprobacionComercial"
    """What the buyer says of a receipt that it got. · Lo que el comprador dice de un comprobante recibido."""


class AcecfDetalleAprobacionComercial(TypedDict):
    """AcecfDetalleAprobacionComercial"""

    Version: NotRequired[Literal["1.0"]]
    """The version of the authority's format: always 1.0. Filled in where left out: 1.0. · Versión del formato de la DGII: siempre 1.0. Si falta, se completa: 1.0."""
    RNCEmisor: str
    """A tax id: 9 digits (RNC) or 11 (cédula). Un RNC de 9 dígitos o una cédula de 11. The tax id of the receipt's issuer. · RNC de quien emitió el comprobante."""
    eNCF: str
    """An e-NCF of 13 characters, or an NCF of 11 or 9. Un e-NCF de 13 caracteres, o un NCF de 11 o 9. The number of the receipt. · Número del comprobante."""
    FechaEmision: "EcfDateFrom2000"
    """The day of issue of the receipt. · Fecha de emisión del comprobante."""
    MontoTotal: "EcfApprovedAmount"
    """The total of the receipt. · Monto total del comprobante, tal como figura en él."""
    RNCComprador: str
    """A tax id: 9 digits (RNC) or 11 (cédula). Un RNC de 9 dígitos o una cédula de 11. The tax id of the buyer: yours. · RNC del comprador: el suyo."""
    Estado: "EcfApproval"
    """Whether the receipt is accepted or rejected. · Si el comprobante se acepta o se rechaza."""
    DetalleMotivoRechazo: NotRequired[str]
    """Why it is rejected, in words. · Motivo del rechazo, en palabras."""
    FechaHoraAprobacionComercial: NotRequired["EcfTimestampAnyYear"]
    """When the buyer decided. Filled in where left out: the moment it is made. · Fecha y hora de la decisión. Si falta, se completa: el momento en que se hace."""


class AcecfPayload(TypedDict):
    """A payload that is an ACECF, under the name of its root."""

    ACECF: "Acecf"


class Anecf(TypedDict):
    """Anecf"""

    Encabezado: "AnecfEncabezado"
    """Who gives numbers back, how many, and when. · Quién anula números, cuántos y cuándo."""
    DetalleAnulacion: "AnecfDetalleAnulacion"
    """The numbers, by type. · Los números, por tipo."""


class AnecfAnulacion(TypedDict):
    """AnecfAnulacion"""

    NoLinea: "EcfWhole2"
    """The number of the entry, from 1. · Número de la línea, desde 1."""
    TipoeCF: "EcfEcfType"
    """The type that the numbers are of. · Tipo de comprobante de esos números."""
    TablaRangoSecuenciasAnuladaseNCF: "AnecfTablaRangoSecuenciasAnuladaseNCF"
    """The ranges of numbers. · Los rangos de números."""
    CantidadeNCFAnulados: "EcfWhole10"
    """How many numbers of this type are given back. · Cantidad de números de este tipo que se anulan."""


class AnecfDetalleAnulacion(TypedDict):
    """AnecfDetalleAnulacion"""

    Anulacion: "list[AnecfAnulacion]"
    """Numbers of one type. · Números de un mismo tipo."""


class AnecfEncabezado(TypedDict):
    """AnecfEncabezado"""

    Version: NotRequired[Literal["1.0"]]
    """The version of the authority's format: always 1.0. Filled in where left out: 1.0. · Versión del formato de la DGII: siempre 1.0. Si falta, se completa: 1.0."""
    RncEmisor: str
    """A tax id: 9 digits (RNC) or 11 (cédula). Un RNC de 9 dígitos o una cédula de 11. Your tax id. · Su RNC."""
    CantidadeNCFAnulados: "EcfWhole10"
    """How many numbers are given back in all. · Cantidad total de números que se anulan."""
    FechaHoraAnulacioneNCF: NotRequired["EcfTimestampAnyYear"]
    """When they are given back. Filled in where left out: the moment it is made. · Fecha y hora de la anulación. Si falta, se completa: el momento en que se hace."""


class AnecfPayload(TypedDict):
    """A payload that is an ANECF, under the name of its root."""

    ANECF: "Anecf"


class AnecfSecuencias(TypedDict):
    """AnecfSecuencias"""

    SecuenciaeNCFDesde: str
    """The first number of the range. · Primer número del rango."""
    SecuenciaeNCFHasta: str
    """The last number of the range; the first again, where it is only one. · Último número del rango; el mismo primero, si es uno solo."""


class AnecfTablaRangoSecuenciasAnuladaseNCF(TypedDict):
    """AnecfTablaRangoSecuenciasAnuladaseNCF"""

    Secuencias: "list[AnecfSecuencias]"
    """One range. · Un rango."""


class ApprovalAtAuthority(TypedDict):
    """How it stands with the authority: the status of the ACECF."""

    status: "Status"
    message: NotRequired[str]
    """of a refusal: what it says"""
    at: str


#: The tenant's decision about a received document.
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
    warnings: NotRequired["list[DocumentProblem]"]
    """remarks on this request, such as members of its body that do not exist and were ignored"""


class ApproveReceived(TypedDict):
    """Optional fields of the approval of a received document."""

    clientRequestId: NotRequired[str | None]
    """idempotency key"""
    asUser: NotRequired[str | None]
    """e-mail address: issue with that user's certificate"""
    asUserId: NotRequired[str | None]
    """the same by id; wins over asUser"""


class ArchiveList(TypedDict):
    """Packages, newest first."""

    limit: int
    items: "list[ArchivePackage]"
    nextCursor: str | None
    """`cursor` of the next page; null: there is none"""


class ArchivePackage(TypedDict):
    """A stored package; its manifest names the one before."""

    number: int
    """counts from 1 without a gap"""
    day: str
    """the last day whose receipts it may have"""
    receipts: int
    """whole receipts, issued and received"""
    additions: int
    """receipts of earlier packages with an acknowledgement or approval"""
    bytes: int
    sha256: str
    """of the package"""
    manifestSha256: str
    previousManifestSha256: str | None
    """null: it is the first"""
    storedAt: str
    stampedAt: str | None
    """time that its time stamp states; null: it has none"""


class AskedRange(TypedDict):
    """Numbers of one type, both ends included."""

    first: str
    last: NotRequired[str | None]
    """default: `first`"""


class Attempt(TypedDict):
    """A try."""

    at: str
    durationMs: int
    status: int | None
    """what was answered; null where nothing was"""
    error: str | None
    """short name of the error; null where it was confirmed"""
    redirected: bool
    answer: str | None
    """the first bytes of the answer's body, as text"""


class AuthorityEvent(TypedDict):
    """The authority does not answer, or answers again after an outage that was told of."""

    event: Literal["authority.down", "authority.up"]
    sentAt: str
    authority: "AuthorityOutage"


class AuthorityHealth(TypedDict):
    """The authority's health."""

    measuredAt: str
    environments: "list[EnvironmentHealth]"


class AuthorityOutage(TypedDict):
    """A host of the authority that did not answer for two minutes."""

    environment: "Environment"
    host: Literal["ecf", "fc"]
    """`ecf`: receipts; `fc`: summaries of consumer invoices"""
    since: str
    until: str | None
    """null: it does not answer yet"""


class Batch(TypedDict):
    """The result of each receipt of a batch, in the order of the request."""

    items: "list[BatchItem]"
    warnings: NotRequired["list[DocumentProblem]"]
    """remarks on this request, such as members of its body that do not exist and were ignored"""


class BatchItem(TypedDict):
    """The result of one receipt of a batch, with the fields of an answer to POST /invoices."""

    statusCode: int
    """202 taken in, 200 known by its clientRequestId, else an error"""
    message: str
    taxLogId: NotRequired[str]
    status: NotRequired["Status"]
    environment: NotRequired["Environment"]
    billable: NotRequired[bool]
    deduped: NotRequired[bool]
    bodyMatched: NotRequired[bool]
    tipoEcf: NotRequired[Literal["E31", "E32", "E33", "E34", "E41", "E43", "E44", "E45", "E46", "E47"] | None]
    """type prefix such as E31; null: no receipt"""
    montoTotal: NotRequired[Number | None]
    """MontoTotal of the signed XML, in pesos; null until it is known"""
    totalITBIS: NotRequired[Number | None]
    """TotalITBIS of the signed XML, 0 where it has none; null until it is known"""
    rncComprador: NotRequired[str | None]
    """null where the receipt names none"""
    razonSocialComprador: NotRequired[str | None]
    """null until it is known, or where the receipt names none"""
    fechaEmision: NotRequired[str | None]
    """FechaEmision of the signed XML; null until it is known"""
    readyToPrint: NotRequired[bool]
    """whether all that is printed is there: security code, moment of signing and QR address; before the verdict the service marks its prints as a preview"""
    eNCF: NotRequired[str]
    warnings: NotRequired["list[DocumentProblem]"]
    problems: NotRequired["list[DocumentProblem]"]


class BatchRequest(TypedDict):
    """Receipts to submit together; each is taken or refused by itself."""

    items: "list[NewInvoice]"
    """each as the body of POST /invoices"""
    strict: NotRequired[bool | None]
    """refuse each receipt that would not be sent, with every problem; the others are taken in"""


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


class BuyerApproval(TypedDict):
    """The word of a buyer on a receipt of yours; the first one counts."""

    taxLogId: str
    environment: "Environment"
    eNCF: str
    rncComprador: str
    reason: str | None
    """of a rejection"""
    receivedAt: str


class BuyerEvent(TypedDict):
    """A buyer approved or rejected a receipt of yours."""

    event: Literal["buyer.approved", "buyer.rejected"]
    sentAt: str
    approval: "BuyerApproval"


class CertificateEvent(TypedDict):
    """A certificate is about to expire."""

    event: Literal["certificate.expiring"]
    sentAt: str
    certificate: "CertificateState"


class CertificateState(TypedDict):
    """A certificate that needs attention."""

    id: str
    user: str | None
    """whose; null: the company's"""
    expiresAt: str


class ChangedSequence(TypedDict):
    """The changes of a sequence; a field that is left out stays as it is. With `expireAt` null, it does not expire."""

    minSequence: NotRequired[int | None]
    maxSequence: NotRequired[int | None]
    expireAt: NotRequired[str | None]
    """a date (YYYY-MM-DD) or a full ISO 8601 timestamp, which means the day it falls on in Santo Domingo"""
    isActive: NotRequired[bool | None]
    users: NotRequired[list[str] | None]
    """addresses of the users who draw from it when a submission names no sequence (asUser); only of a sequence with a name; left out: they stay"""
    agentId: NotRequired[str | None]
    """the agent (`fe agent`) that alone gives its numbers: the service draws none; only of a sequence with a name. Null with PATCH releases it"""
    nextRange: NotRequired["GivenAhead | None"]
    """the range that the authority gave ahead: the first draw that finds the own range used up or expired begins it. Null removes it; left out it stays"""
    currentSequence: NotRequired[int | None]
    """the next number; it may go back while nothing from there was sent"""


class CustomerItem(TypedDict):
    """A customer; null is unknown."""

    id: str
    """yours, or one that the portal made"""
    name: str
    rnc: str | None
    """RNC or cédula; a wrong check digit is a warning"""
    email: str | None
    phone: str | None
    address: str | None
    municipality: str | None
    """code of the authority's list"""
    province: str | None
    """code of the authority's list"""
    type: str | None
    """type of e-CF that the customer usually gets, such as E31"""
    source: Literal["person", "import", "api", "remembered"]
    version: int
    changedAt: str
    usedAt: str | None
    """when the portal last issued a receipt with it; null: never"""
    warnings: NotRequired["list[DocumentProblem]"]
    """remarks on this request, such as members of its body that do not exist and were ignored"""


class CustomerList(TypedDict):
    """Customers by name."""

    limit: int
    items: "list[CustomerItem]"
    nextCursor: str | None
    """null at the end"""


class CustomerRequest(TypedDict):
    """A customer. All but the name may be unknown; what is left out is unknown from then on."""

    name: str
    rnc: NotRequired[str | None]
    """RNC or cédula; a wrong check digit is a warning"""
    email: NotRequired[str | None]
    phone: NotRequired[str | None]
    address: NotRequired[str | None]
    municipality: NotRequired[str | None]
    """code of the authority's list"""
    province: NotRequired[str | None]
    """code of the authority's list; it follows from the municipality"""
    type: NotRequired[str | None]
    """type of e-CF that the customer usually gets, such as E31"""
    version: NotRequired[int | None]
    """the `version` that you read: where it is another by now, nothing changes and you get 409; 0: only if new"""


class DayStatus(TypedDict):
    """A part of the service on one day in Santo Domingo."""

    day: str
    measuredMinutes: int
    """for how long it was measured"""
    degradedMinutes: int
    """of these, degraded"""
    downMinutes: int
    """of these, down"""


class DecideReceived(TypedDict):
    """One decision about many received documents; each is decided by itself."""

    decision: Literal["approved", "rejected"]
    """of all of them"""
    ids: list[str]
    """`id` of received documents"""
    reason: NotRequired[str | None]
    """of a rejection: the issuers and the authority read it"""
    asUser: NotRequired[str | None]
    """e-mail address: issue with that user's certificate"""
    asUserId: NotRequired[str | None]
    """the same by id; wins over asUser"""


class DecidedItem(TypedDict):
    """The outcome of one received document: the `statusCode` of a decision about it alone."""

    id: str
    statusCode: int
    """202: taken in; 200: decided alike before; 403: of another environment, or issued to another taxpayer; 404: there is none; 409: the contrary was decided, or a decision is under way"""
    message: str
    taxLogId: NotRequired[str]
    """of the ACECF, also of one in the way"""
    status: NotRequired["Status"]
    """of the ACECF"""


class DecidedMany(TypedDict):
    """The outcome of each document, in the order of the request; repeated ids appear once."""

    decision: Literal["approved", "rejected"]
    items: "list[DecidedItem]"
    warnings: NotRequired["list[DocumentProblem]"]
    """remarks on this request, such as members of its body that do not exist and were ignored"""


class Deduped(TypedDict):
    """This clientRequestId was used before: the first submission, and nothing is processed again."""

    taxLogId: str
    status: "Status"
    environment: "Environment"
    deduped: bool
    bodyMatched: bool
    """whether the repeated body was the same"""
    message: str
    tipoEcf: NotRequired[Literal["E31", "E32", "E33", "E34", "E41", "E43", "E44", "E45", "E46", "E47"] | None]
    """type prefix such as E31; null: no receipt"""
    montoTotal: NotRequired[Number | None]
    """MontoTotal of the signed XML, in pesos; null until it is known"""
    totalITBIS: NotRequired[Number | None]
    """TotalITBIS of the signed XML, 0 where it has none; null until it is known"""
    rncComprador: NotRequired[str | None]
    """null where the receipt names none"""
    razonSocialComprador: NotRequired[str | None]
    """null until it is known, or where the receipt names none"""
    fechaEmision: NotRequired[str | None]
    """FechaEmision of the signed XML; null until it is known"""
    eNCF: NotRequired[str]
    warnings: NotRequired["list[DocumentProblem]"]
    """remarks on this request, such as members of its body that do not exist and were ignored"""


class Deleted(TypedDict):
    """The sequence is gone."""

    ok: bool
    prefix: Literal["E31", "E32", "E33", "E34", "E41", "E43", "E44", "E45", "E46", "E47"]


class Delivery(TypedDict):
    """An event on its way to an endpoint, as it was tried so far."""

    id: str
    """as in `X-Service-Delivery` and `webhook-id`"""
    webhookId: str
    endpoint: str | None
    """name of the endpoint"""
    event: str
    """`received_ecf`; `submission.accepted`; `submission.conditional`; `submission.rejected`; `submission.error`; `sequence.low`; `sequence.expiring`; `certificate.expiring`; `recurring.preview`; `recurring.held`; `authority.down`; `authority.up`; `buyer.approved`; `buyer.rejected`"""
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
    """what the last try failed by; null: it did not; `deleted`: the endpoint was deleted"""
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
    endpoint: str | None
    """name of the endpoint"""
    event: str
    """`received_ecf`; `submission.accepted`; `submission.conditional`; `submission.rejected`; `submission.error`; `sequence.low`; `sequence.expiring`; `certificate.expiring`; `recurring.preview`; `recurring.held`; `authority.down`; `authority.up`; `buyer.approved`; `buyer.rejected`"""
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
    """what the last try failed by; null: it did not; `deleted`: the endpoint was deleted"""
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
    """The deliveries that follow a cursor."""

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
    expectedEs: NotRequired[str]
    fix: NotRequired[str]
    fixEs: NotRequired[str]
    allowed: NotRequired[list[str]]
    """the codes it may be; of a very long list those that are alike"""
    repair: NotRequired["ProblemRepair"]
    """what to do to a structured payload, for programs"""


class Ecf31(TypedDict):
    """An e-CF of type 31, credit fiscal invoice. Un e-CF de tipo 31, factura de crédito fiscal."""

    Encabezado: "EcfEncabezado31"
    """Header of the receipt: type and number, issuer, buyer and totals. · Qué comprobante es, quién lo emite, a quién, y sus totales."""
    DetallesItems: "EcfDetallesItems31"
    """What is sold: the lines. You may give the list of lines here directly. · Lo que se vende: las líneas. Puede dar aquí directamente la lista de líneas."""
    Subtotales: NotRequired["EcfSubtotales31"]
    """Subtotals for print; they count for nothing in the totals. · Subtotales informativos; no cambian los totales."""
    DescuentosORecargos: NotRequired["EcfDescuentosORecargos31"]
    """Discounts and surcharges on the whole receipt, not on one line. · Descuentos y recargos sobre todo el comprobante, no sobre una línea."""
    Paginacion: NotRequired["EcfPaginacion31"]
    """The pages of the printed receipt with their subtotals, where it has several. · Las páginas de la representación impresa con sus subtotales, si son varias."""
    InformacionReferencia: NotRequired["EcfInformacionReferencia31"]
    """The receipt that this one changes, replaces or refers to. · El comprobante que este modifica, reemplaza o al que hace referencia."""
    FechaHoraFirma: NotRequired["EcfTimestamp"]
    """When it was signed. Always set by the service, whatever is sent. Always ours: the moment of signing. · Fecha y hora de la firma. Siempre la pone el servicio, sin importar lo que se envíe. Siempre nuestro: el momento de la firma."""


class Ecf32(TypedDict):
    """An e-CF of type 32, consumer invoice. Un e-CF de tipo 32, factura de consumo."""

    Encabezado: "EcfEncabezado32"
    """Header of the receipt: type and number, issuer, buyer and totals. · Qué comprobante es, quién lo emite, a quién, y sus totales."""
    DetallesItems: "EcfDetallesItems32"
    """What is sold: the lines. You may give the list of lines here directly. · Lo que se vende: las líneas. Puede dar aquí directamente la lista de líneas."""
    Subtotales: NotRequired["EcfSubtotales31"]
    """Subtotals for print; they count for nothing in the totals. · Subtotales informativos; no cambian los totales."""
    DescuentosORecargos: NotRequired["EcfDescuentosORecargos31"]
    """Discounts and surcharges on the whole receipt, not on one line. · Descuentos y recargos sobre todo el comprobante, no sobre una línea."""
    Paginacion: NotRequired["EcfPaginacion31"]
    """The pages of the printed receipt with their subtotals, where it has several. · Las páginas de la representación impresa con sus subtotales, si son varias."""
    InformacionReferencia: NotRequired["EcfInformacionReferencia31"]
    """The receipt that this one changes, replaces or refers to. · El comprobante que este modifica, reemplaza o al que hace referencia."""
    FechaHoraFirma: NotRequired["EcfTimestamp"]
    """When it was signed. Always set by the service, whatever is sent. Always ours: the moment of signing. · Fecha y hora de la firma. Siempre la pone el servicio, sin importar lo que se envíe. Siempre nuestro: el momento de la firma."""


class Ecf33(TypedDict):
    """An e-CF of type 33, debit note. Un e-CF de tipo 33, nota de débito."""

    Encabezado: "EcfEncabezado33"
    """Header of the receipt: type and number, issuer, buyer and totals. · Qué comprobante es, quién lo emite, a quién, y sus totales."""
    DetallesItems: "EcfDetallesItems33"
    """What is sold: the lines. You may give the list of lines here directly. · Lo que se vende: las líneas. Puede dar aquí directamente la lista de líneas."""
    Subtotales: NotRequired["EcfSubtotales31"]
    """Subtotals for print; they count for nothing in the totals. · Subtotales informativos; no cambian los totales."""
    DescuentosORecargos: NotRequired["EcfDescuentosORecargos31"]
    """Discounts and surcharges on the whole receipt, not on one line. · Descuentos y recargos sobre todo el comprobante, no sobre una línea."""
    Paginacion: NotRequired["EcfPaginacion33"]
    """The pages of the printed receipt with their subtotals, where it has several. · Las páginas de la representación impresa con sus subtotales, si son varias."""
    InformacionReferencia: "EcfInformacionReferencia33"
    """The receipt that this one changes, replaces or refers to. · El comprobante que este modifica, reemplaza o al que hace referencia."""
    FechaHoraFirma: NotRequired["EcfTimestamp"]
    """When it was signed. Always set by the service, whatever is sent. Always ours: the moment of signing. · Fecha y hora de la firma. Siempre la pone el servicio, sin importar lo que se envíe. Siempre nuestro: el momento de la firma."""


class Ecf34(TypedDict):
    """An e-CF of type 34, credit note. Un e-CF de tipo 34, nota de crédito."""

    Encabezado: "EcfEncabezado34"
    """Header of the receipt: type and number, issuer, buyer and totals. · Qué comprobante es, quién lo emite, a quién, y sus totales."""
    DetallesItems: "EcfDetallesItems33"
    """What is sold: the lines. You may give the list of lines here directly. · Lo que se vende: las líneas. Puede dar aquí directamente la lista de líneas."""
    Subtotales: NotRequired["EcfSubtotales31"]
    """Subtotals for print; they count for nothing in the totals. · Subtotales informativos; no cambian los totales."""
    DescuentosORecargos: NotRequired["EcfDescuentosORecargos31"]
    """Discounts and surcharges on the whole receipt, not on one line. · Descuentos y recargos sobre todo el comprobante, no sobre una línea."""
    Paginacion: NotRequired["EcfPaginacion33"]
    """The pages of the printed receipt with their subtotals, where it has several. · Las páginas de la representación impresa con sus subtotales, si son varias."""
    InformacionReferencia: "EcfInformacionReferencia33"
    """The receipt that this one changes, replaces or refers to. · El comprobante que este modifica, reemplaza o al que hace referencia."""
    FechaHoraFirma: NotRequired["EcfTimestamp"]
    """When it was signed. Always set by the service, whatever is sent. Always ours: the moment of signing. · Fecha y hora de la firma. Siempre la pone el servicio, sin importar lo que se envíe. Siempre nuestro: el momento de la firma."""


class Ecf41(TypedDict):
    """An e-CF of type 41, purchases. Un e-CF de tipo 41, compras."""

    Encabezado: "EcfEncabezado41"
    """Header of the receipt: type and number, issuer, buyer and totals. · Qué comprobante es, quién lo emite, a quién, y sus totales."""
    DetallesItems: "EcfDetallesItems41"
    """What is sold: the lines. You may give the list of lines here directly. · Lo que se vende: las líneas. Puede dar aquí directamente la lista de líneas."""
    Subtotales: NotRequired["EcfSubtotales31"]
    """Subtotals for print; they count for nothing in the totals. · Subtotales informativos; no cambian los totales."""
    DescuentosORecargos: NotRequired["EcfDescuentosORecargos41"]
    """Discounts and surcharges on the whole receipt, not on one line. · Descuentos y recargos sobre todo el comprobante, no sobre una línea."""
    Paginacion: NotRequired["EcfPaginacion41"]
    """The pages of the printed receipt with their subtotals, where it has several. · Las páginas de la representación impresa con sus subtotales, si son varias."""
    InformacionReferencia: NotRequired["EcfInformacionReferencia31"]
    """The receipt that this one changes, replaces or refers to. · El comprobante que este modifica, reemplaza o al que hace referencia."""
    FechaHoraFirma: NotRequired["EcfTimestamp"]
    """When it was signed. Always set by the service, whatever is sent. Always ours: the moment of signing. · Fecha y hora de la firma. Siempre la pone el servicio, sin importar lo que se envíe. Siempre nuestro: el momento de la firma."""


class Ecf43(TypedDict):
    """An e-CF of type 43, minor expenses. Un e-CF de tipo 43, gastos menores."""

    Encabezado: "EcfEncabezado43"
    """Header of the receipt: type and number, issuer, buyer and totals. · Qué comprobante es, quién lo emite, a quién, y sus totales."""
    DetallesItems: "EcfDetallesItems43"
    """What is sold: the lines. You may give the list of lines here directly. · Lo que se vende: las líneas. Puede dar aquí directamente la lista de líneas."""
    Subtotales: NotRequired["EcfSubtotales43"]
    """Subtotals for print; they count for nothing in the totals. · Subtotales informativos; no cambian los totales."""
    Paginacion: NotRequired["EcfPaginacion43"]
    """The pages of the printed receipt with their subtotals, where it has several. · Las páginas de la representación impresa con sus subtotales, si son varias."""
    InformacionReferencia: NotRequired["EcfInformacionReferencia31"]
    """The receipt that this one changes, replaces or refers to. · El comprobante que este modifica, reemplaza o al que hace referencia."""
    FechaHoraFirma: NotRequired["EcfTimestamp"]
    """When it was signed. Always set by the service, whatever is sent. Always ours: the moment of signing. · Fecha y hora de la firma. Siempre la pone el servicio, sin importar lo que se envíe. Siempre nuestro: el momento de la firma."""


class Ecf44(TypedDict):
    """An e-CF of type 44, special regimes. Un e-CF de tipo 44, regímenes especiales."""

    Encabezado: "EcfEncabezado44"
    """Header of the receipt: type and number, issuer, buyer and totals. · Qué comprobante es, quién lo emite, a quién, y sus totales."""
    DetallesItems: "EcfDetallesItems44"
    """What is sold: the lines. You may give the list of lines here directly. · Lo que se vende: las líneas. Puede dar aquí directamente la lista de líneas."""
    Subtotales: NotRequired["EcfSubtotales44"]
    """Subtotals for print; they count for nothing in the totals. · Subtotales informativos; no cambian los totales."""
    DescuentosORecargos: NotRequired["EcfDescuentosORecargos41"]
    """Discounts and surcharges on the whole receipt, not on one line. · Descuentos y recargos sobre todo el comprobante, no sobre una línea."""
    Paginacion: NotRequired["EcfPaginacion44"]
    """The pages of the printed receipt with their subtotals, where it has several. · Las páginas de la representación impresa con sus subtotales, si son varias."""
    InformacionReferencia: NotRequired["EcfInformacionReferencia31"]
    """The receipt that this one changes, replaces or refers to. · El comprobante que este modifica, reemplaza o al que hace referencia."""
    FechaHoraFirma: NotRequired["EcfTimestamp"]
    """When it was signed. Always set by the service, whatever is sent. Always ours: the moment of signing. · Fecha y hora de la firma. Siempre la pone el servicio, sin importar lo que se envíe. Siempre nuestro: el momento de la firma."""


class Ecf45(TypedDict):
    """An e-CF of type 45, government. Un e-CF de tipo 45, gubernamental."""

    Encabezado: "EcfEncabezado45"
    """Header of the receipt: type and number, issuer, buyer and totals. · Qué comprobante es, quién lo emite, a quién, y sus totales."""
    DetallesItems: "EcfDetallesItems45"
    """What is sold: the lines. You may give the list of lines here directly. · Lo que se vende: las líneas. Puede dar aquí directamente la lista de líneas."""
    Subtotales: NotRequired["EcfSubtotales31"]
    """Subtotals for print; they count for nothing in the totals. · Subtotales informativos; no cambian los totales."""
    DescuentosORecargos: NotRequired["EcfDescuentosORecargos31"]
    """Discounts and surcharges on the whole receipt, not on one line. · Descuentos y recargos sobre todo el comprobante, no sobre una línea."""
    Paginacion: NotRequired["EcfPaginacion31"]
    """The pages of the printed receipt with their subtotals, where it has several. · Las páginas de la representación impresa con sus subtotales, si son varias."""
    InformacionReferencia: NotRequired["EcfInformacionReferencia31"]
    """The receipt that this one changes, replaces or refers to. · El comprobante que este modifica, reemplaza o al que hace referencia."""
    FechaHoraFirma: NotRequired["EcfTimestamp"]
    """When it was signed. Always set by the service, whatever is sent. Always ours: the moment of signing. · Fecha y hora de la firma. Siempre la pone el servicio, sin importar lo que se envíe. Siempre nuestro: el momento de la firma."""


class Ecf46(TypedDict):
    """An e-CF of type 46, exports. Un e-CF de tipo 46, exportaciones."""

    Encabezado: "EcfEncabezado46"
    """Header of the receipt: type and number, issuer, buyer and totals. · Qué comprobante es, quién lo emite, a quién, y sus totales."""
    DetallesItems: "EcfDetallesItems46"
    """What is sold: the lines. You may give the list of lines here directly. · Lo que se vende: las líneas. Puede dar aquí directamente la lista de líneas."""
    Subtotales: NotRequired["EcfSubtotales46"]
    """Subtotals for print; they count for nothing in the totals. · Subtotales informativos; no cambian los totales."""
    DescuentosORecargos: NotRequired["EcfDescuentosORecargos41"]
    """Discounts and surcharges on the whole receipt, not on one line. · Descuentos y recargos sobre todo el comprobante, no sobre una línea."""
    Paginacion: NotRequired["EcfPaginacion46"]
    """The pages of the printed receipt with their subtotals, where it has several. · Las páginas de la representación impresa con sus subtotales, si son varias."""
    InformacionReferencia: NotRequired["EcfInformacionReferencia31"]
    """The receipt that this one changes, replaces or refers to. · El comprobante que este modifica, reemplaza o al que hace referencia."""
    FechaHoraFirma: NotRequired["EcfTimestamp"]
    """When it was signed. Always set by the service, whatever is sent. Always ours: the moment of signing. · Fecha y hora de la firma. Siempre la pone el servicio, sin importar lo que se envíe. Siempre nuestro: el momento de la firma."""


class Ecf47(TypedDict):
    """An e-CF of type 47, payments abroad. Un e-CF de tipo 47, pagos al exterior."""

    Encabezado: "EcfEncabezado47"
    """Header of the receipt: type and number, issuer, buyer and totals. · Qué comprobante es, quién lo emite, a quién, y sus totales."""
    DetallesItems: "EcfDetallesItems47"
    """What is sold: the lines. You may give the list of lines here directly. · Lo que se vende: las líneas. Puede dar aquí directamente la lista de líneas."""
    Subtotales: NotRequired["EcfSubtotales43"]
    """Subtotals for print; they count for nothing in the totals. · Subtotales informativos; no cambian los totales."""
    Paginacion: NotRequired["EcfPaginacion43"]
    """The pages of the printed receipt with their subtotals, where it has several. · Las páginas de la representación impresa con sus subtotales, si son varias."""
    InformacionReferencia: NotRequired["EcfInformacionReferencia31"]
    """The receipt that this one changes, replaces or refers to. · El comprobante que este modifica, reemplaza o al que hace referencia."""
    FechaHoraFirma: NotRequired["EcfTimestamp"]
    """When it was signed. Always set by the service, whatever is sent. Always ours: the moment of signing. · Fecha y hora de la firma. Siempre la pone el servicio, sin importar lo que se envíe. Siempre nuestro: el momento de la firma."""


#: `CT` current account · cuenta corriente; `AH` savings account · cuenta de ahorro; `OT` other · otra
EcfAccountType: TypeAlias = Literal["CT", "AH", "OT"]


#: `001` legal tip · propina legal; `002` telecommunications development contribution · contribución al desarrollo de las telecomunicaciones; `003` insurance services · servicios de seguros; `004` telecommunications services · servicios de telecomunicaciones; `005` first number plate · expedición de la primera placa; `006` beer, by quantity · cerveza, específico; `007` grape wines, by quantity · vinos de uva, específico; `008` vermouth and the like, by quantity · vermut y demás vinos de uvas frescas, específico; `009` other fermented drinks, by quantity · demás bebidas fermentadas, específico; `010` ethyl alcohol of 80% and more, by quantity · alcohol etílico de 80% o más, específico; `011` ethyl alcohol below 80%, by quantity · alcohol etílico inferior a 80%, específico; `012` grape spirits, by quantity · aguardientes de uva, específico; `013` whisky, by quantity · whisky, específico; `014` rum and cane spirits, by quantity · ron y demás aguardientes de caña, específico; `015` gin, by quantity · gin y ginebra, específico; `016` vodka, by quantity · vodka, específico; `017` liqueurs, by quantity · licores, específico; `018` other drinks and alcohols, by quantity · las demás bebidas y alcoholes, específico; `019` tobacco cigarettes in 20s, by quantity · cigarrillos de tabaco, cajetilla de 20, específico; `020` other cigarettes in 20s, by quantity · los demás cigarrillos de 20, específico; `021` tobacco cigarettes in 10s, by quantity · cigarrillos de 10, específico; `022` other cigarettes in 10s, by quantity · los demás cigarrillos de 10, específico; `023` beer, by price · cerveza, ad valorem; `024` grape wines, by price · vinos de uva, ad valorem; `025` vermouth and the like, by price · vermut y demás vinos de uvas frescas, ad valorem; `026` other fermented drinks, by price · demás bebidas fermentadas, ad valorem; `027` ethyl alcohol of 80% and more, by price · alcohol etílico de 80% o más, ad valorem; `028` ethyl alcohol below 80%, by price · alcohol etílico inferior a 80%, ad valorem; `029` grape spirits, by price · aguardientes de uva, ad valorem; `030` whisky, by price · whisky, ad valorem; `031` rum and cane spirits, by price · ron y demás aguardientes de caña, ad valorem; `032` gin, by price · gin y ginebra, ad valorem; `033` vodka, by price · vodka, ad valorem; `034` liqueurs, by price · licores, ad valorem; `035` other drinks and alcohols, by price · las demás bebidas y alcoholes, ad valorem; `036` tobacco cigarettes in 20s, by price · cigarrillos de tabaco, cajetilla de 20, ad valorem; `037` other cigarettes in 20s, by price · los demás cigarrillos de 20, ad valorem; `038` tobacco cigarettes in 10s, by price · cigarrillos de 10, ad valorem; `039` other cigarettes in 10s, by price · los demás cigarrillos de 10, ad valorem
EcfAdditionalTax: TypeAlias = Literal[
    "001",
    "002",
    "003",
    "004",
    "005",
    "006",
    "007",
    "008",
    "009",
    "010",
    "011",
    "012",
    "013",
    "014",
    "015",
    "016",
    "017",
    "018",
    "019",
    "020",
    "021",
    "022",
    "023",
    "024",
    "025",
    "026",
    "027",
    "028",
    "029",
    "030",
    "031",
    "032",
    "033",
    "034",
    "035",
    "036",
    "037",
    "038",
    "039",
]


#: `D` discount · descuento; `R` surcharge · recargo
EcfAdjustment: TypeAlias = Literal["D", "R"]


#: `1` affiliated · afiliada; `2` not affiliated · no afiliada
EcfAffiliation: TypeAlias = Literal["1", "2"]


#: A number of up to 16 digits with up to 2 decimals, 0 or more. Un número de hasta 16 dígitos con hasta 2 decimales, 0 o mayor.
EcfAmount: TypeAlias = Number | str


#: A number of up to 16 digits with none or 2 decimals, 0 or more. Un número de hasta 16 dígitos con ninguno o 2 decimales, 0 o mayor.
EcfAmount2: TypeAlias = Number | str


#: A number of up to 16 digits with none or 2 decimals, above 0. Un número de hasta 16 dígitos con ninguno o 2 decimales, mayor que 0.
EcfAmount2Above0: TypeAlias = Number | str


#: A number of up to 16 digits with none or 2 decimals, negative allowed. Un número de hasta 16 dígitos con ninguno o 2 decimales, puede ser negativo.
EcfAmount2Signed: TypeAlias = Number | str


#: A number of up to 16 digits with up to 2 decimals, above 0. Un número de hasta 16 dígitos con hasta 2 decimales, mayor que 0.
EcfAmountAbove0: TypeAlias = Number | str


#: `$` an amount · monto; `%` a percentage · porcentaje
EcfAmountOrPercent: TypeAlias = Literal["$", "%"]


#: A number of up to 16 digits with up to 2 decimals, negative allowed. Un número de hasta 16 dígitos con hasta 2 decimales, puede ser negativo.
EcfAmountSigned: TypeAlias = Number | str


#: `1` accepted · aceptado; `2` rejected · rechazado
EcfApproval: TypeAlias = Literal["1", "2"]


#: A number of up to 16 digits with exactly 2 decimals. Un número de hasta 16 dígitos con exactamente 2 decimales.
EcfApprovedAmount: TypeAlias = Number | str


#: `1` ITBIS 18%; `2` ITBIS 16%; `3` ITBIS 0%; `4` exempt · exento
EcfBillableIndicator: TypeAlias = Literal["1", "2", "3", "4"]


#: `0` not billable · no facturable; `1` ITBIS 18%; `2` ITBIS 16%; `3` ITBIS 0%; `4` exempt · exento
EcfBillingIndicator: TypeAlias = Literal["0", "1", "2", "3", "4"]


class EcfCodigosItem(TypedDict):
    """EcfCodigosItem"""

    TipoCodigo: str
    """What kind of code it is, in your words: Interna, EAN13. · Qué tipo de código es, en sus palabras: Interna, EAN13."""
    CodigoItem: str
    """The code itself. · El código mismo."""


class EcfComprador31(TypedDict):
    """EcfComprador31"""

    RNCComprador: str
    """A tax id: 9 digits (RNC) or 11 (cédula). Un RNC de 9 dígitos o una cédula de 11. The buyer's tax id, of 9 digits, or cédula, of 11. Its check digit is verified. · RNC del comprador, de 9 dígitos, o su cédula, de 11. Se verifica su dígito verificador."""
    RazonSocialComprador: str
    """The buyer's name or legal name. · Nombre o razón social del comprador."""
    ContactoComprador: NotRequired[str]
    """Whom to ask for at the buyer's. · Persona de contacto del comprador."""
    CorreoComprador: NotRequired[str]
    """An e-mail address of at most 80 characters (no underscore). Un correo de máximo 80 caracteres (sin guion bajo). The buyer's e-mail address. · Correo electrónico del comprador."""
    DireccionComprador: NotRequired[str]
    """The buyer's address. · Dirección del comprador."""
    MunicipioComprador: NotRequired["EcfPlace"]
    """The buyer's municipality, as a code of six digits. · Municipio del comprador, por su código de seis dígitos."""
    ProvinciaComprador: NotRequired["EcfPlace"]
    """The buyer's province, as a code of six digits. · Provincia del comprador, por su código de seis dígitos."""
    FechaEntrega: NotRequired["EcfDate"]
    """The day of delivery. · Fecha de entrega."""
    ContactoEntrega: NotRequired[str]
    """Who receives the delivery. · Persona que recibe la entrega."""
    DireccionEntrega: NotRequired[str]
    """Where it is delivered. · Dirección de entrega."""
    TelefonoAdicional: NotRequired[str]
    """A telephone number ddd-ddd-dddd. Un teléfono ddd-ddd-dddd. Another telephone number for the delivery. · Otro teléfono, para la entrega."""
    FechaOrdenCompra: NotRequired["EcfDate"]
    """The date of the buyer's purchase order. · Fecha de la orden de compra del comprador."""
    NumeroOrdenCompra: NotRequired[str]
    """The number of the buyer's purchase order. · Número de la orden de compra del comprador."""
    CodigoInternoComprador: NotRequired[str]
    """The buyer's code in your system. · Código del comprador en su sistema."""
    ResponsablePago: NotRequired[str]
    """At most 20 letters, commas and blanks. Máximo 20 letras, comas y espacios. Who pays, if it is not the buyer. · Quien paga, si no es el mismo comprador."""
    InformacionAdicionalComprador: NotRequired[str]
    """Whatever else is to be said about the buyer. · Cualquier otra información del comprador."""


class EcfComprador32(TypedDict):
    """EcfComprador32"""

    RNCComprador: NotRequired[str]
    """A tax id: 9 digits (RNC) or 11 (cédula). Un RNC de 9 dígitos o una cédula de 11. The buyer's tax id, of 9 digits, or cédula, of 11. Its check digit is verified. · RNC del comprador, de 9 dígitos, o su cédula, de 11. Se verifica su dígito verificador."""
    IdentificadorExtranjero: NotRequired[str]
    """The passport or foreign tax id of a buyer who has neither RNC nor cédula. · Pasaporte o identificación fiscal extranjera de quien no tiene RNC ni cédula."""
    RazonSocialComprador: NotRequired[str]
    """The buyer's name or legal name. · Nombre o razón social del comprador."""
    ContactoComprador: NotRequired[str]
    """Whom to ask for at the buyer's. · Persona de contacto del comprador."""
    CorreoComprador: NotRequired[str]
    """An e-mail address of at most 80 characters (no underscore). Un correo de máximo 80 caracteres (sin guion bajo). The buyer's e-mail address. · Correo electrónico del comprador."""
    DireccionComprador: NotRequired[str]
    """The buyer's address. · Dirección del comprador."""
    MunicipioComprador: NotRequired["EcfPlace"]
    """The buyer's municipality, as a code of six digits. · Municipio del comprador, por su código de seis dígitos."""
    ProvinciaComprador: NotRequired["EcfPlace"]
    """The buyer's province, as a code of six digits. · Provincia del comprador, por su código de seis dígitos."""
    FechaEntrega: NotRequired["EcfDate"]
    """The day of delivery. · Fecha de entrega."""
    ContactoEntrega: NotRequired[str]
    """Who receives the delivery. · Persona que recibe la entrega."""
    DireccionEntrega: NotRequired[str]
    """Where it is delivered. · Dirección de entrega."""
    TelefonoAdicional: NotRequired[str]
    """A telephone number ddd-ddd-dddd. Un teléfono ddd-ddd-dddd. Another telephone number for the delivery. · Otro teléfono, para la entrega."""
    FechaOrdenCompra: NotRequired["EcfDate"]
    """The date of the buyer's purchase order. · Fecha de la orden de compra del comprador."""
    NumeroOrdenCompra: NotRequired[str]
    """The number of the buyer's purchase order. · Número de la orden de compra del comprador."""
    CodigoInternoComprador: NotRequired[str]
    """The buyer's code in your system. · Código del comprador en su sistema."""
    ResponsablePago: NotRequired[str]
    """At most 20 letters, commas and blanks. Máximo 20 letras, comas y espacios. Who pays, if it is not the buyer. · Quien paga, si no es el mismo comprador."""
    InformacionAdicionalComprador: NotRequired[str]
    """Whatever else is to be said about the buyer. · Cualquier otra información del comprador."""


class EcfComprador33(TypedDict):
    """EcfComprador33"""

    RNCComprador: NotRequired[str]
    """A tax id: 9 digits (RNC) or 11 (cédula). Un RNC de 9 dígitos o una cédula de 11. The buyer's tax id, of 9 digits, or cédula, of 11. Its check digit is verified. Filled in where left out: that of the receipt, if it was issued here. · RNC del comprador, de 9 dígitos, o su cédula, de 11. Se verifica su dígito verificador. Si falta, se completa: el del comprobante, si se emitió aquí."""
    IdentificadorExtranjero: NotRequired[str]
    """The passport or foreign tax id of a buyer who has neither RNC nor cédula. Filled in where left out: that of the receipt, if it was issued here. · Pasaporte o identificación fiscal extranjera de quien no tiene RNC ni cédula. Si falta, se completa: el del comprobante, si se emitió aquí."""
    RazonSocialComprador: NotRequired[str]
    """The buyer's name or legal name. Filled in where left out: that of the receipt, if it was issued here. · Nombre o razón social del comprador. Si falta, se completa: el del comprobante, si se emitió aquí."""
    ContactoComprador: NotRequired[str]
    """Whom to ask for at the buyer's. · Persona de contacto del comprador."""
    CorreoComprador: NotRequired[str]
    """An e-mail address of at most 80 characters (no underscore). Un correo de máximo 80 caracteres (sin guion bajo). The buyer's e-mail address. · Correo electrónico del comprador."""
    DireccionComprador: NotRequired[str]
    """The buyer's address. · Dirección del comprador."""
    MunicipioComprador: NotRequired["EcfPlace"]
    """The buyer's municipality, as a code of six digits. · Municipio del comprador, por su código de seis dígitos."""
    ProvinciaComprador: NotRequired["EcfPlace"]
    """The buyer's province, as a code of six digits. · Provincia del comprador, por su código de seis dígitos."""
    FechaEntrega: NotRequired["EcfDate"]
    """The day of delivery. · Fecha de entrega."""
    ContactoEntrega: NotRequired[str]
    """Who receives the delivery. · Persona que recibe la entrega."""
    DireccionEntrega: NotRequired[str]
    """Where it is delivered. · Dirección de entrega."""
    TelefonoAdicional: NotRequired[str]
    """A telephone number ddd-ddd-dddd. Un teléfono ddd-ddd-dddd. Another telephone number for the delivery. · Otro teléfono, para la entrega."""
    FechaOrdenCompra: NotRequired["EcfDate"]
    """The date of the buyer's purchase order. · Fecha de la orden de compra del comprador."""
    NumeroOrdenCompra: NotRequired[str]
    """The number of the buyer's purchase order. · Número de la orden de compra del comprador."""
    CodigoInternoComprador: NotRequired[str]
    """The buyer's code in your system. · Código del comprador en su sistema."""
    ResponsablePago: NotRequired[str]
    """At most 20 letters, commas and blanks. Máximo 20 letras, comas y espacios. Who pays, if it is not the buyer. · Quien paga, si no es el mismo comprador."""
    InformacionAdicionalComprador: NotRequired[str]
    """Whatever else is to be said about the buyer. · Cualquier otra información del comprador."""


class EcfComprador41(TypedDict):
    """EcfComprador41"""

    RNCComprador: str
    """A tax id: 9 digits (RNC) or 11 (cédula). Un RNC de 9 dígitos o una cédula de 11. The buyer's tax id, of 9 digits, or cédula, of 11. Its check digit is verified. · RNC del comprador, de 9 dígitos, o su cédula, de 11. Se verifica su dígito verificador."""
    RazonSocialComprador: str
    """The buyer's name or legal name. · Nombre o razón social del comprador."""
    ContactoComprador: NotRequired[str]
    """Whom to ask for at the buyer's. · Persona de contacto del comprador."""
    CorreoComprador: NotRequired[str]
    """An e-mail address of at most 80 characters (no underscore). Un correo de máximo 80 caracteres (sin guion bajo). The buyer's e-mail address. · Correo electrónico del comprador."""
    DireccionComprador: NotRequired[str]
    """The buyer's address. · Dirección del comprador."""
    MunicipioComprador: NotRequired["EcfPlace"]
    """The buyer's municipality, as a code of six digits. · Municipio del comprador, por su código de seis dígitos."""
    ProvinciaComprador: NotRequired["EcfPlace"]
    """The buyer's province, as a code of six digits. · Provincia del comprador, por su código de seis dígitos."""
    CodigoInternoComprador: NotRequired[str]
    """The buyer's code in your system. · Código del comprador en su sistema."""
    ResponsablePago: NotRequired[str]
    """At most 20 letters, commas and blanks. Máximo 20 letras, comas y espacios. Who pays, if it is not the buyer. · Quien paga, si no es el mismo comprador."""
    InformacionAdicionalComprador: NotRequired[str]
    """Whatever else is to be said about the buyer. · Cualquier otra información del comprador."""


class EcfComprador44(TypedDict):
    """EcfComprador44"""

    RNCComprador: NotRequired[str]
    """A tax id: 9 digits (RNC) or 11 (cédula). Un RNC de 9 dígitos o una cédula de 11. The buyer's tax id, of 9 digits, or cédula, of 11. Its check digit is verified. · RNC del comprador, de 9 dígitos, o su cédula, de 11. Se verifica su dígito verificador."""
    IdentificadorExtranjero: NotRequired[str]
    """The passport or foreign tax id of a buyer who has neither RNC nor cédula. · Pasaporte o identificación fiscal extranjera de quien no tiene RNC ni cédula."""
    RazonSocialComprador: str
    """The buyer's name or legal name. · Nombre o razón social del comprador."""
    ContactoComprador: NotRequired[str]
    """Whom to ask for at the buyer's. · Persona de contacto del comprador."""
    CorreoComprador: NotRequired[str]
    """An e-mail address of at most 80 characters (no underscore). Un correo de máximo 80 caracteres (sin guion bajo). The buyer's e-mail address. · Correo electrónico del comprador."""
    DireccionComprador: NotRequired[str]
    """The buyer's address. · Dirección del comprador."""
    MunicipioComprador: NotRequired["EcfPlace"]
    """The buyer's municipality, as a code of six digits. · Municipio del comprador, por su código de seis dígitos."""
    ProvinciaComprador: NotRequired["EcfPlace"]
    """The buyer's province, as a code of six digits. · Provincia del comprador, por su código de seis dígitos."""
    FechaEntrega: NotRequired["EcfDate"]
    """The day of delivery. · Fecha de entrega."""
    ContactoEntrega: NotRequired[str]
    """Who receives the delivery. · Persona que recibe la entrega."""
    DireccionEntrega: NotRequired[str]
    """Where it is delivered. · Dirección de entrega."""
    TelefonoAdicional: NotRequired[str]
    """A telephone number ddd-ddd-dddd. Un teléfono ddd-ddd-dddd. Another telephone number for the delivery. · Otro teléfono, para la entrega."""
    FechaOrdenCompra: NotRequired["EcfDate"]
    """The date of the buyer's purchase order. · Fecha de la orden de compra del comprador."""
    NumeroOrdenCompra: NotRequired[str]
    """The number of the buyer's purchase order. · Número de la orden de compra del comprador."""
    CodigoInternoComprador: NotRequired[str]
    """The buyer's code in your system. · Código del comprador en su sistema."""
    ResponsablePago: NotRequired[str]
    """At most 20 letters, commas and blanks. Máximo 20 letras, comas y espacios. Who pays, if it is not the buyer. · Quien paga, si no es el mismo comprador."""
    InformacionAdicionalComprador: NotRequired[str]
    """Whatever else is to be said about the buyer. · Cualquier otra información del comprador."""


class EcfComprador46(TypedDict):
    """EcfComprador46"""

    RNCComprador: NotRequired[str]
    """A tax id: 9 digits (RNC) or 11 (cédula). Un RNC de 9 dígitos o una cédula de 11. The buyer's tax id, of 9 digits, or cédula, of 11. Its check digit is verified. · RNC del comprador, de 9 dígitos, o su cédula, de 11. Se verifica su dígito verificador."""
    IdentificadorExtranjero: NotRequired[str]
    """The passport or foreign tax id of a buyer who has neither RNC nor cédula. · Pasaporte o identificación fiscal extranjera de quien no tiene RNC ni cédula."""
    RazonSocialComprador: str
    """The buyer's name or legal name. · Nombre o razón social del comprador."""
    ContactoComprador: NotRequired[str]
    """Whom to ask for at the buyer's. · Persona de contacto del comprador."""
    CorreoComprador: NotRequired[str]
    """An e-mail address of at most 80 characters (no underscore). Un correo de máximo 80 caracteres (sin guion bajo). The buyer's e-mail address. · Correo electrónico del comprador."""
    DireccionComprador: NotRequired[str]
    """The buyer's address. · Dirección del comprador."""
    MunicipioComprador: NotRequired["EcfPlace"]
    """The buyer's municipality, as a code of six digits. · Municipio del comprador, por su código de seis dígitos."""
    ProvinciaComprador: NotRequired["EcfPlace"]
    """The buyer's province, as a code of six digits. · Provincia del comprador, por su código de seis dígitos."""
    PaisComprador: NotRequired[str]
    """3 to 60 characters without digits, the last one a letter. De 3 a 60 caracteres sin dígitos, el último una letra. The buyer's country, in words. · País del comprador, en palabras."""
    FechaEntrega: NotRequired["EcfDate"]
    """The day of delivery. · Fecha de entrega."""
    ContactoEntrega: NotRequired[str]
    """Who receives the delivery. · Persona que recibe la entrega."""
    DireccionEntrega: NotRequired[str]
    """Where it is delivered. · Dirección de entrega."""
    TelefonoAdicional: NotRequired[str]
    """A telephone number ddd-ddd-dddd. Un teléfono ddd-ddd-dddd. Another telephone number for the delivery. · Otro teléfono, para la entrega."""
    FechaOrdenCompra: NotRequired["EcfDate"]
    """The date of the buyer's purchase order. · Fecha de la orden de compra del comprador."""
    NumeroOrdenCompra: NotRequired[str]
    """The number of the buyer's purchase order. · Número de la orden de compra del comprador."""
    CodigoInternoComprador: NotRequired[str]
    """The buyer's code in your system. · Código del comprador en su sistema."""
    ResponsablePago: NotRequired[str]
    """At most 20 letters, commas and blanks. Máximo 20 letras, comas y espacios. Who pays, if it is not the buyer. · Quien paga, si no es el mismo comprador."""
    InformacionAdicionalComprador: NotRequired[str]
    """Whatever else is to be said about the buyer. · Cualquier otra información del comprador."""


class EcfComprador47(TypedDict):
    """EcfComprador47"""

    IdentificadorExtranjero: NotRequired[str]
    """The passport or foreign tax id of a buyer who has neither RNC nor cédula. · Pasaporte o identificación fiscal extranjera de quien no tiene RNC ni cédula."""
    RazonSocialComprador: NotRequired[str]
    """The buyer's name or legal name. · Nombre o razón social del comprador."""


#: `0` the modified e-CF is at most 30 days old · el e-CF modificado tiene 30 días o menos; `1` the modified e-CF is older than 30 days · el e-CF modificado tiene más de 30 días
EcfCreditNoteAge: TypeAlias = Literal["0", "1"]


#: `BRL` Brazilian real · real brasileño; `CAD` Canadian dollar · dólar canadiense; `CHF` Swiss franc · franco suizo; `CHY` Chinese yuan · yuan chino; `XDR` special drawing right · derecho especial de giro; `DKK` Danish krone · corona danesa; `EUR` euro; `GBP` pound sterling · libra esterlina; `JPY` Japanese yen · yen japonés; `NOK` Norwegian krone · corona noruega; `SCP` Scottish pound · libra escocesa; `SEK` Swedish krona · corona sueca; `USD` United States dollar · dólar estadounidense; `VEF` Venezuelan bolívar · bolívar venezolano; `HTG` Haitian gourde · gourde haitiana; `MXN` Mexican peso · peso mexicano; `COP` Colombian peso · peso colombiano
EcfCurrency: TypeAlias = Literal[
    "BRL",
    "CAD",
    "CHF",
    "CHY",
    "XDR",
    "DKK",
    "EUR",
    "GBP",
    "JPY",
    "NOK",
    "SCP",
    "SEK",
    "USD",
    "VEF",
    "HTG",
    "MXN",
    "COP",
]


#: A date dd-MM-yyyy. Una fecha dd-MM-aaaa. Or ISO 8601. O ISO 8601.
EcfDate: TypeAlias = str


#: A date dd-MM-yyyy from the year 2000 on. Una fecha dd-MM-aaaa desde el año 2000. Or ISO 8601. O ISO 8601.
EcfDateFrom2000: TypeAlias = str


class EcfDescuentoORecargo31(TypedDict):
    """EcfDescuentoORecargo31"""

    NumeroLinea: NotRequired["EcfWhole2"]
    """The number of the discount or surcharge, from 1. Filled in where left out: its place in the list, from 1. · Número del descuento o recargo, desde 1. Si falta, se completa: su lugar en la lista, desde 1."""
    TipoAjuste: "EcfAdjustment"
    """Discount (D) or surcharge (R). · Descuento (D) o recargo (R)."""
    IndicadorNorma1007: NotRequired["EcfRule1007"]
    """Whether it is a discount under the authority's general rule 10-07. · Si es un descuento de la Norma General 10-07 de la DGII."""
    DescripcionDescuentooRecargo: NotRequired[str]
    """Why it is given, in words. · Motivo, en palabras."""
    TipoValor: NotRequired["EcfAmountOrPercent"]
    """Whether it is an amount ($) or a percentage (%). · Si es un monto ($) o un porcentaje (%)."""
    ValorDescuentooRecargo: NotRequired["EcfPercentage"]
    """The percentage, where it is one. · El porcentaje, si lo es."""
    MontoDescuentooRecargo: NotRequired["EcfAmount"]
    """The amount, in pesos. Of a percentage it is computed. Filled in where left out: computed from the percentage. · El monto, en pesos. Si es un porcentaje, se calcula. Si falta, se completa: se calcula del porcentaje."""
    MontoDescuentooRecargoOtraMoneda: NotRequired["EcfAmount"]
    """The amount in the other currency. · El monto en la otra moneda."""
    IndicadorFacturacionDescuentooRecargo: NotRequired["EcfBillableIndicator"]
    """Which lines it changes: those taxed at 18%, 16%, 0%, or the exempt ones. Filled in where left out: that of the lines, where all have the same. · A qué líneas se aplica: las gravadas al 18 %, 16 %, 0 % o las exentas. Si falta, se completa: el de las líneas, si todas tienen el mismo."""


class EcfDescuentoORecargo41(TypedDict):
    """EcfDescuentoORecargo41"""

    NumeroLinea: NotRequired["EcfWhole2"]
    """The number of the discount or surcharge, from 1. Filled in where left out: its place in the list, from 1. · Número del descuento o recargo, desde 1. Si falta, se completa: su lugar en la lista, desde 1."""
    TipoAjuste: "EcfAdjustment"
    """Discount (D) or surcharge (R). · Descuento (D) o recargo (R)."""
    DescripcionDescuentooRecargo: NotRequired[str]
    """Why it is given, in words. · Motivo, en palabras."""
    TipoValor: NotRequired["EcfAmountOrPercent"]
    """Whether it is an amount ($) or a percentage (%). · Si es un monto ($) o un porcentaje (%)."""
    ValorDescuentooRecargo: NotRequired["EcfPercentage"]
    """The percentage, where it is one. · El porcentaje, si lo es."""
    MontoDescuentooRecargo: NotRequired["EcfAmount"]
    """The amount, in pesos. Of a percentage it is computed. Filled in where left out: computed from the percentage. · El monto, en pesos. Si es un porcentaje, se calcula. Si falta, se completa: se calcula del porcentaje."""
    MontoDescuentooRecargoOtraMoneda: NotRequired["EcfAmount"]
    """The amount in the other currency. · El monto en la otra moneda."""
    IndicadorFacturacionDescuentooRecargo: NotRequired["EcfBillableIndicator"]
    """Which lines it changes: those taxed at 18%, 16%, 0%, or the exempt ones. Filled in where left out: that of the lines, where all have the same. · A qué líneas se aplica: las gravadas al 18 %, 16 %, 0 % o las exentas. Si falta, se completa: el de las líneas, si todas tienen el mismo."""


class EcfDescuentosORecargos31(TypedDict):
    """EcfDescuentosORecargos31"""

    DescuentoORecargo: "list[EcfDescuentoORecargo31]"
    """One discount or surcharge. · Un descuento o recargo."""


class EcfDescuentosORecargos41(TypedDict):
    """EcfDescuentosORecargos41"""

    DescuentoORecargo: "list[EcfDescuentoORecargo41]"
    """One discount or surcharge. · Un descuento o recargo."""


class EcfDetallesItems31(TypedDict):
    """EcfDetallesItems31"""

    Item: "list[EcfItem31]"
    """One line. · Una línea."""


class EcfDetallesItems32(TypedDict):
    """EcfDetallesItems32"""

    Item: "list[EcfItem32]"
    """One line. · Una línea."""


class EcfDetallesItems33(TypedDict):
    """EcfDetallesItems33"""

    Item: "list[EcfItem33]"
    """One line. · Una línea."""


class EcfDetallesItems41(TypedDict):
    """EcfDetallesItems41"""

    Item: "list[EcfItem41]"
    """One line. · Una línea."""


class EcfDetallesItems43(TypedDict):
    """EcfDetallesItems43"""

    Item: "list[EcfItem43]"
    """One line. · Una línea."""


class EcfDetallesItems44(TypedDict):
    """EcfDetallesItems44"""

    Item: "list[EcfItem44]"
    """One line. · Una línea."""


class EcfDetallesItems45(TypedDict):
    """EcfDetallesItems45"""

    Item: "list[EcfItem45]"
    """One line. · Una línea."""


class EcfDetallesItems46(TypedDict):
    """EcfDetallesItems46"""

    Item: "list[EcfItem46]"
    """One line. · Una línea."""


class EcfDetallesItems47(TypedDict):
    """EcfDetallesItems47"""

    Item: "list[EcfItem47]"
    """One line. · Una línea."""


#: `31` credit fiscal invoice · factura de crédito fiscal; `32` consumer invoice · factura de consumo; `33` debit note · nota de débito; `34` credit note · nota de crédito; `41` purchases · compras; `43` minor expenses · gastos menores; `44` special regimes · regímenes especiales; `45` government · gubernamental; `46` exports · exportaciones; `47` payments abroad · pagos al exterior
EcfEcfType: TypeAlias = Literal["31", "32", "33", "34", "41", "43", "44", "45", "46", "47"]


class EcfEmisor31(TypedDict):
    """EcfEmisor31"""

    RNCEmisor: NotRequired[str]
    """A tax id: 9 digits (RNC) or 11 (cédula). Un RNC de 9 dígitos o una cédula de 11. Your tax id, of 9 digits, or your cédula, of 11. Filled in where left out: your company's fiscal data, where RNCEmisor is left out too. · Su RNC de 9 dígitos, o su cédula de 11. Si falta, se completa: los datos fiscales de su empresa, si también falta RNCEmisor."""
    RazonSocialEmisor: NotRequired[str]
    """Your legal name, as it is registered with the authority. Filled in where left out: your company's fiscal data, where RNCEmisor is left out too. · Su nombre o razón social, como está registrado en la DGII. Si falta, se completa: los datos fiscales de su empresa, si también falta RNCEmisor."""
    NombreComercial: NotRequired[str]
    """The name that your customers know you by. Filled in where left out: your company's fiscal data, where RNCEmisor is left out too. · Nombre comercial con que lo conocen sus clientes. Si falta, se completa: los datos fiscales de su empresa, si también falta RNCEmisor."""
    Sucursal: NotRequired[str]
    """The branch that issues it. Filled in where left out: your company's fiscal data, where RNCEmisor is left out too. · Sucursal que emite. Si falta, se completa: los datos fiscales de su empresa, si también falta RNCEmisor."""
    DireccionEmisor: NotRequired[str]
    """Your address. Filled in where left out: your company's fiscal data, where RNCEmisor is left out too. · Su dirección. Si falta, se completa: los datos fiscales de su empresa, si también falta RNCEmisor."""
    Municipio: NotRequired["EcfPlace"]
    """Your municipality, as a code of six digits. Filled in where left out: your company's fiscal data, where RNCEmisor is left out too. · Su municipio, por su código de seis dígitos. Si falta, se completa: los datos fiscales de su empresa, si también falta RNCEmisor."""
    Provincia: NotRequired["EcfPlace"]
    """Your province, as a code of six digits. Filled in where left out: your company's fiscal data, where RNCEmisor is left out too. · Su provincia, por su código de seis dígitos. Si falta, se completa: los datos fiscales de su empresa, si también falta RNCEmisor."""
    TablaTelefonoEmisor: NotRequired["EcfTablaTelefonoEmisor"]
    """Your telephone numbers, three at most. Filled in where left out: your company's fiscal data, where RNCEmisor is left out too. · Sus teléfonos, tres como máximo. Si falta, se completa: los datos fiscales de su empresa, si también falta RNCEmisor."""
    CorreoEmisor: NotRequired[str]
    """An e-mail address of at most 80 characters (no underscore). Un correo de máximo 80 caracteres (sin guion bajo). Your e-mail address. Filled in where left out: your company's fiscal data, where RNCEmisor is left out too. · Su correo electrónico. Si falta, se completa: los datos fiscales de su empresa, si también falta RNCEmisor."""
    WebSite: NotRequired[str]
    """Your web site. Filled in where left out: your company's fiscal data, where RNCEmisor is left out too. · Su página web. Si falta, se completa: los datos fiscales de su empresa, si también falta RNCEmisor."""
    ActividadEconomica: NotRequired[str]
    """Your line of business, in words. Filled in where left out: your company's fiscal data, where RNCEmisor is left out too. · Su actividad económica, en palabras. Si falta, se completa: los datos fiscales de su empresa, si también falta RNCEmisor."""
    CodigoVendedor: NotRequired[str]
    """Your code of the seller. Filled in where left out: your company's fiscal data, where RNCEmisor is left out too. · Código del vendedor en su sistema. Si falta, se completa: los datos fiscales de su empresa, si también falta RNCEmisor."""
    NumeroFacturaInterna: NotRequired[str]
    """Your own number of the invoice, beside the fiscal one. Filled in where left out: your company's fiscal data, where RNCEmisor is left out too. · Su número interno de factura, aparte del fiscal. Si falta, se completa: los datos fiscales de su empresa, si también falta RNCEmisor."""
    NumeroPedidoInterno: NotRequired["EcfWhole20"]
    """Your own number of the order; digits only. Filled in where left out: your company's fiscal data, where RNCEmisor is left out too. · Su número interno de pedido; solo dígitos. Si falta, se completa: los datos fiscales de su empresa, si también falta RNCEmisor."""
    ZonaVenta: NotRequired[str]
    """Your sales zone. Filled in where left out: your company's fiscal data, where RNCEmisor is left out too. · Su zona de venta. Si falta, se completa: los datos fiscales de su empresa, si también falta RNCEmisor."""
    RutaVenta: NotRequired[str]
    """Your sales route. Filled in where left out: your company's fiscal data, where RNCEmisor is left out too. · Su ruta de venta. Si falta, se completa: los datos fiscales de su empresa, si también falta RNCEmisor."""
    InformacionAdicionalEmisor: NotRequired[str]
    """Whatever else you want to say about yourself. Filled in where left out: your company's fiscal data, where RNCEmisor is left out too. · Cualquier otra información suya que quiera incluir. Si falta, se completa: los datos fiscales de su empresa, si también falta RNCEmisor."""
    FechaEmision: NotRequired["EcfDate"]
    """The day of issue in Santo Domingo. A day after today gets a remark. Filled in where left out: today in Santo Domingo. · Fecha de emisión, en hora de Santo Domingo. Si es posterior a hoy, sale con una observación. Si falta, se completa: la fecha de hoy en Santo Domingo."""


class EcfEmisor41(TypedDict):
    """EcfEmisor41"""

    RNCEmisor: NotRequired[str]
    """A tax id: 9 digits (RNC) or 11 (cédula). Un RNC de 9 dígitos o una cédula de 11. Your tax id, of 9 digits, or your cédula, of 11. Filled in where left out: your company's fiscal data, where RNCEmisor is left out too. · Su RNC de 9 dígitos, o su cédula de 11. Si falta, se completa: los datos fiscales de su empresa, si también falta RNCEmisor."""
    RazonSocialEmisor: NotRequired[str]
    """Your legal name, as it is registered with the authority. Filled in where left out: your company's fiscal data, where RNCEmisor is left out too. · Su nombre o razón social, como está registrado en la DGII. Si falta, se completa: los datos fiscales de su empresa, si también falta RNCEmisor."""
    NombreComercial: NotRequired[str]
    """The name that your customers know you by. Filled in where left out: your company's fiscal data, where RNCEmisor is left out too. · Nombre comercial con que lo conocen sus clientes. Si falta, se completa: los datos fiscales de su empresa, si también falta RNCEmisor."""
    Sucursal: NotRequired[str]
    """The branch that issues it. Filled in where left out: your company's fiscal data, where RNCEmisor is left out too. · Sucursal que emite. Si falta, se completa: los datos fiscales de su empresa, si también falta RNCEmisor."""
    DireccionEmisor: NotRequired[str]
    """Your address. Filled in where left out: your company's fiscal data, where RNCEmisor is left out too. · Su dirección. Si falta, se completa: los datos fiscales de su empresa, si también falta RNCEmisor."""
    Municipio: NotRequired["EcfPlace"]
    """Your municipality, as a code of six digits. Filled in where left out: your company's fiscal data, where RNCEmisor is left out too. · Su municipio, por su código de seis dígitos. Si falta, se completa: los datos fiscales de su empresa, si también falta RNCEmisor."""
    Provincia: NotRequired["EcfPlace"]
    """Your province, as a code of six digits. Filled in where left out: your company's fiscal data, where RNCEmisor is left out too. · Su provincia, por su código de seis dígitos. Si falta, se completa: los datos fiscales de su empresa, si también falta RNCEmisor."""
    TablaTelefonoEmisor: NotRequired["EcfTablaTelefonoEmisor"]
    """Your telephone numbers, three at most. Filled in where left out: your company's fiscal data, where RNCEmisor is left out too. · Sus teléfonos, tres como máximo. Si falta, se completa: los datos fiscales de su empresa, si también falta RNCEmisor."""
    CorreoEmisor: NotRequired[str]
    """An e-mail address of at most 80 characters (no underscore). Un correo de máximo 80 caracteres (sin guion bajo). Your e-mail address. Filled in where left out: your company's fiscal data, where RNCEmisor is left out too. · Su correo electrónico. Si falta, se completa: los datos fiscales de su empresa, si también falta RNCEmisor."""
    WebSite: NotRequired[str]
    """Your web site. Filled in where left out: your company's fiscal data, where RNCEmisor is left out too. · Su página web. Si falta, se completa: los datos fiscales de su empresa, si también falta RNCEmisor."""
    ActividadEconomica: NotRequired[str]
    """Your line of business, in words. Filled in where left out: your company's fiscal data, where RNCEmisor is left out too. · Su actividad económica, en palabras. Si falta, se completa: los datos fiscales de su empresa, si también falta RNCEmisor."""
    NumeroFacturaInterna: NotRequired[str]
    """Your own number of the invoice, beside the fiscal one. Filled in where left out: your company's fiscal data, where RNCEmisor is left out too. · Su número interno de factura, aparte del fiscal. Si falta, se completa: los datos fiscales de su empresa, si también falta RNCEmisor."""
    NumeroPedidoInterno: NotRequired["EcfWhole20"]
    """Your own number of the order; digits only. Filled in where left out: your company's fiscal data, where RNCEmisor is left out too. · Su número interno de pedido; solo dígitos. Si falta, se completa: los datos fiscales de su empresa, si también falta RNCEmisor."""
    InformacionAdicionalEmisor: NotRequired[str]
    """Whatever else you want to say about yourself. Filled in where left out: your company's fiscal data, where RNCEmisor is left out too. · Cualquier otra información suya que quiera incluir. Si falta, se completa: los datos fiscales de su empresa, si también falta RNCEmisor."""
    FechaEmision: NotRequired["EcfDate"]
    """The day of issue in Santo Domingo. A day after today gets a remark. Filled in where left out: today in Santo Domingo. · Fecha de emisión, en hora de Santo Domingo. Si es posterior a hoy, sale con una observación. Si falta, se completa: la fecha de hoy en Santo Domingo."""


class EcfEncabezado31(TypedDict):
    """EcfEncabezado31"""

    Version: NotRequired[Literal["1.0"]]
    """The version of the authority's format: always 1.0. Filled in where left out: 1.0. · Versión del formato de la DGII: siempre 1.0. Si falta, se completa: 1.0."""
    IdDoc: "EcfIdDoc31"
    """What identifies the receipt: its type, its number, and how it is paid. · Identificación del comprobante: su tipo, su número y cómo se paga."""
    Emisor: NotRequired["EcfEmisor31"]
    """Who issues the receipt: your own fiscal data. Filled in where left out: your company's fiscal data, where RNCEmisor is left out too. · Quien emite el comprobante: sus propios datos fiscales. Si falta, se completa: los datos fiscales de su empresa, si también falta RNCEmisor."""
    Comprador: "EcfComprador31"
    """Who buys. A consumer invoice of RD$250,000 or more must name the buyer; below that it may be left out. · Quien compra. En una factura de consumo de RD$250,000 o más hay que identificarlo; por debajo puede omitirse."""
    InformacionesAdicionales: NotRequired["EcfInformacionesAdicionales31"]
    """Shipment: weights, packages, and for exports ports and costs. · Datos del embarque: pesos, bultos y, en exportaciones, puertos y costos."""
    Transporte: NotRequired["EcfTransporte31"]
    """How the goods travel; in payments abroad, only the country they go to. · Cómo viaja la mercancía; en pagos al exterior, solo el país de destino."""
    Totales: NotRequired["EcfTotales31"]
    """The totals, in pesos. Leave them out and they are computed from the lines. Filled in where left out: computed from the lines. · Los totales, en pesos. Si los omite, se calculan a partir de las líneas. Si falta, se completa: se calcula de las líneas."""
    OtraMoneda: NotRequired["EcfOtraMoneda31"]
    """The same totals in another currency. Give TipoMoneda and TipoCambio, and the amounts are computed. · Los mismos totales en otra moneda. Indique TipoMoneda y TipoCambio, y los montos se calculan."""


class EcfEncabezado32(TypedDict):
    """EcfEncabezado32"""

    Version: NotRequired[Literal["1.0"]]
    """The version of the authority's format: always 1.0. Filled in where left out: 1.0. · Versión del formato de la DGII: siempre 1.0. Si falta, se completa: 1.0."""
    IdDoc: "EcfIdDoc32"
    """What identifies the receipt: its type, its number, and how it is paid. · Identificación del comprobante: su tipo, su número y cómo se paga."""
    Emisor: NotRequired["EcfEmisor31"]
    """Who issues the receipt: your own fiscal data. Filled in where left out: your company's fiscal data, where RNCEmisor is left out too. · Quien emite el comprobante: sus propios datos fiscales. Si falta, se completa: los datos fiscales de su empresa, si también falta RNCEmisor."""
    Comprador: NotRequired["EcfComprador32"]
    """Who buys. A consumer invoice of RD$250,000 or more must name the buyer; below that it may be left out. Filled in where left out: an empty element. · Quien compra. En una factura de consumo de RD$250,000 o más hay que identificarlo; por debajo puede omitirse. Si falta, se completa: un elemento vacío."""
    InformacionesAdicionales: NotRequired["EcfInformacionesAdicionales31"]
    """Shipment: weights, packages, and for exports ports and costs. · Datos del embarque: pesos, bultos y, en exportaciones, puertos y costos."""
    Transporte: NotRequired["EcfTransporte31"]
    """How the goods travel; in payments abroad, only the country they go to. · Cómo viaja la mercancía; en pagos al exterior, solo el país de destino."""
    Totales: NotRequired["EcfTotales32"]
    """The totals, in pesos. Leave them out and they are computed from the lines. Filled in where left out: computed from the lines. · Los totales, en pesos. Si los omite, se calculan a partir de las líneas. Si falta, se completa: se calcula de las líneas."""
    OtraMoneda: NotRequired["EcfOtraMoneda31"]
    """The same totals in another currency. Give TipoMoneda and TipoCambio, and the amounts are computed. · Los mismos totales en otra moneda. Indique TipoMoneda y TipoCambio, y los montos se calculan."""


class EcfEncabezado33(TypedDict):
    """EcfEncabezado33"""

    Version: NotRequired[Literal["1.0"]]
    """The version of the authority's format: always 1.0. Filled in where left out: 1.0. · Versión del formato de la DGII: siempre 1.0. Si falta, se completa: 1.0."""
    IdDoc: "EcfIdDoc33"
    """What identifies the receipt: its type, its number, and how it is paid. · Identificación del comprobante: su tipo, su número y cómo se paga."""
    Emisor: NotRequired["EcfEmisor31"]
    """Who issues the receipt: your own fiscal data. Filled in where left out: your company's fiscal data, where RNCEmisor is left out too. · Quien emite el comprobante: sus propios datos fiscales. Si falta, se completa: los datos fiscales de su empresa, si también falta RNCEmisor."""
    Comprador: NotRequired["EcfComprador33"]
    """Who buys. A consumer invoice of RD$250,000 or more must name the buyer; below that it may be left out. · Quien compra. En una factura de consumo de RD$250,000 o más hay que identificarlo; por debajo puede omitirse."""
    InformacionesAdicionales: NotRequired["EcfInformacionesAdicionales31"]
    """Shipment: weights, packages, and for exports ports and costs. · Datos del embarque: pesos, bultos y, en exportaciones, puertos y costos."""
    Transporte: NotRequired["EcfTransporte31"]
    """How the goods travel; in payments abroad, only the country they go to. · Cómo viaja la mercancía; en pagos al exterior, solo el país de destino."""
    Totales: NotRequired["EcfTotales31"]
    """The totals, in pesos. Leave them out and they are computed from the lines. Filled in where left out: computed from the lines. · Los totales, en pesos. Si los omite, se calculan a partir de las líneas. Si falta, se completa: se calcula de las líneas."""
    OtraMoneda: NotRequired["EcfOtraMoneda31"]
    """The same totals in another currency. Give TipoMoneda and TipoCambio, and the amounts are computed. · Los mismos totales en otra moneda. Indique TipoMoneda y TipoCambio, y los montos se calculan."""


class EcfEncabezado34(TypedDict):
    """EcfEncabezado34"""

    Version: NotRequired[Literal["1.0"]]
    """The version of the authority's format: always 1.0. Filled in where left out: 1.0. · Versión del formato de la DGII: siempre 1.0. Si falta, se completa: 1.0."""
    IdDoc: "EcfIdDoc34"
    """What identifies the receipt: its type, its number, and how it is paid. · Identificación del comprobante: su tipo, su número y cómo se paga."""
    Emisor: NotRequired["EcfEmisor31"]
    """Who issues the receipt: your own fiscal data. Filled in where left out: your company's fiscal data, where RNCEmisor is left out too. · Quien emite el comprobante: sus propios datos fiscales. Si falta, se completa: los datos fiscales de su empresa, si también falta RNCEmisor."""
    Comprador: NotRequired["EcfComprador33"]
    """Who buys. A consumer invoice of RD$250,000 or more must name the buyer; below that it may be left out. · Quien compra. En una factura de consumo de RD$250,000 o más hay que identificarlo; por debajo puede omitirse."""
    InformacionesAdicionales: NotRequired["EcfInformacionesAdicionales31"]
    """Shipment: weights, packages, and for exports ports and costs. · Datos del embarque: pesos, bultos y, en exportaciones, puertos y costos."""
    Transporte: NotRequired["EcfTransporte31"]
    """How the goods travel; in payments abroad, only the country they go to. · Cómo viaja la mercancía; en pagos al exterior, solo el país de destino."""
    Totales: NotRequired["EcfTotales34"]
    """The totals, in pesos. Leave them out and they are computed from the lines. Filled in where left out: computed from the lines. · Los totales, en pesos. Si los omite, se calculan a partir de las líneas. Si falta, se completa: se calcula de las líneas."""
    OtraMoneda: NotRequired["EcfOtraMoneda31"]
    """The same totals in another currency. Give TipoMoneda and TipoCambio, and the amounts are computed. · Los mismos totales en otra moneda. Indique TipoMoneda y TipoCambio, y los montos se calculan."""


class EcfEncabezado41(TypedDict):
    """EcfEncabezado41"""

    Version: NotRequired[Literal["1.0"]]
    """The version of the authority's format: always 1.0. Filled in where left out: 1.0. · Versión del formato de la DGII: siempre 1.0. Si falta, se completa: 1.0."""
    IdDoc: "EcfIdDoc41"
    """What identifies the receipt: its type, its number, and how it is paid. · Identificación del comprobante: su tipo, su número y cómo se paga."""
    Emisor: NotRequired["EcfEmisor41"]
    """Who issues the receipt: your own fiscal data. Filled in where left out: your company's fiscal data, where RNCEmisor is left out too. · Quien emite el comprobante: sus propios datos fiscales. Si falta, se completa: los datos fiscales de su empresa, si también falta RNCEmisor."""
    Comprador: "EcfComprador41"
    """Who buys. A consumer invoice of RD$250,000 or more must name the buyer; below that it may be left out. · Quien compra. En una factura de consumo de RD$250,000 o más hay que identificarlo; por debajo puede omitirse."""
    Totales: NotRequired["EcfTotales41"]
    """The totals, in pesos. Leave them out and they are computed from the lines. Filled in where left out: computed from the lines. · Los totales, en pesos. Si los omite, se calculan a partir de las líneas. Si falta, se completa: se calcula de las líneas."""
    OtraMoneda: NotRequired["EcfOtraMoneda41"]
    """The same totals in another currency. Give TipoMoneda and TipoCambio, and the amounts are computed. · Los mismos totales en otra moneda. Indique TipoMoneda y TipoCambio, y los montos se calculan."""


class EcfEncabezado43(TypedDict):
    """EcfEncabezado43"""

    Version: NotRequired[Literal["1.0"]]
    """The version of the authority's format: always 1.0. Filled in where left out: 1.0. · Versión del formato de la DGII: siempre 1.0. Si falta, se completa: 1.0."""
    IdDoc: "EcfIdDoc43"
    """What identifies the receipt: its type, its number, and how it is paid. · Identificación del comprobante: su tipo, su número y cómo se paga."""
    Emisor: NotRequired["EcfEmisor41"]
    """Who issues the receipt: your own fiscal data. Filled in where left out: your company's fiscal data, where RNCEmisor is left out too. · Quien emite el comprobante: sus propios datos fiscales. Si falta, se completa: los datos fiscales de su empresa, si también falta RNCEmisor."""
    Totales: NotRequired["EcfTotales43"]
    """The totals, in pesos. Leave them out and they are computed from the lines. Filled in where left out: computed from the lines. · Los totales, en pesos. Si los omite, se calculan a partir de las líneas. Si falta, se completa: se calcula de las líneas."""
    OtraMoneda: NotRequired["EcfOtraMoneda43"]
    """The same totals in another currency. Give TipoMoneda and TipoCambio, and the amounts are computed. · Los mismos totales en otra moneda. Indique TipoMoneda y TipoCambio, y los montos se calculan."""


class EcfEncabezado44(TypedDict):
    """EcfEncabezado44"""

    Version: NotRequired[Literal["1.0"]]
    """The version of the authority's format: always 1.0. Filled in where left out: 1.0. · Versión del formato de la DGII: siempre 1.0. Si falta, se completa: 1.0."""
    IdDoc: "EcfIdDoc44"
    """What identifies the receipt: its type, its number, and how it is paid. · Identificación del comprobante: su tipo, su número y cómo se paga."""
    Emisor: NotRequired["EcfEmisor31"]
    """Who issues the receipt: your own fiscal data. Filled in where left out: your company's fiscal data, where RNCEmisor is left out too. · Quien emite el comprobante: sus propios datos fiscales. Si falta, se completa: los datos fiscales de su empresa, si también falta RNCEmisor."""
    Comprador: "EcfComprador44"
    """Who buys. A consumer invoice of RD$250,000 or more must name the buyer; below that it may be left out. · Quien compra. En una factura de consumo de RD$250,000 o más hay que identificarlo; por debajo puede omitirse."""
    InformacionesAdicionales: NotRequired["EcfInformacionesAdicionales31"]
    """Shipment: weights, packages, and for exports ports and costs. · Datos del embarque: pesos, bultos y, en exportaciones, puertos y costos."""
    Transporte: NotRequired["EcfTransporte31"]
    """How the goods travel; in payments abroad, only the country they go to. · Cómo viaja la mercancía; en pagos al exterior, solo el país de destino."""
    Totales: NotRequired["EcfTotales44"]
    """The totals, in pesos. Leave them out and they are computed from the lines. Filled in where left out: computed from the lines. · Los totales, en pesos. Si los omite, se calculan a partir de las líneas. Si falta, se completa: se calcula de las líneas."""
    OtraMoneda: NotRequired["EcfOtraMoneda44"]
    """The same totals in another currency. Give TipoMoneda and TipoCambio, and the amounts are computed. · Los mismos totales en otra moneda. Indique TipoMoneda y TipoCambio, y los montos se calculan."""


class EcfEncabezado45(TypedDict):
    """EcfEncabezado45"""

    Version: NotRequired[Literal["1.0"]]
    """The version of the authority's format: always 1.0. Filled in where left out: 1.0. · Versión del formato de la DGII: siempre 1.0. Si falta, se completa: 1.0."""
    IdDoc: "EcfIdDoc45"
    """What identifies the receipt: its type, its number, and how it is paid. · Identificación del comprobante: su tipo, su número y cómo se paga."""
    Emisor: NotRequired["EcfEmisor31"]
    """Who issues the receipt: your own fiscal data. Filled in where left out: your company's fiscal data, where RNCEmisor is left out too. · Quien emite el comprobante: sus propios datos fiscales. Si falta, se completa: los datos fiscales de su empresa, si también falta RNCEmisor."""
    Comprador: "EcfComprador31"
    """Who buys. A consumer invoice of RD$250,000 or more must name the buyer; below that it may be left out. · Quien compra. En una factura de consumo de RD$250,000 o más hay que identificarlo; por debajo puede omitirse."""
    InformacionesAdicionales: NotRequired["EcfInformacionesAdicionales45"]
    """Shipment: weights, packages, and for exports ports and costs. · Datos del embarque: pesos, bultos y, en exportaciones, puertos y costos."""
    Transporte: NotRequired["EcfTransporte31"]
    """How the goods travel; in payments abroad, only the country they go to. · Cómo viaja la mercancía; en pagos al exterior, solo el país de destino."""
    Totales: NotRequired["EcfTotales32"]
    """The totals, in pesos. Leave them out and they are computed from the lines. Filled in where left out: computed from the lines. · Los totales, en pesos. Si los omite, se calculan a partir de las líneas. Si falta, se completa: se calcula de las líneas."""
    OtraMoneda: NotRequired["EcfOtraMoneda45"]
    """The same totals in another currency. Give TipoMoneda and TipoCambio, and the amounts are computed. · Los mismos totales en otra moneda. Indique TipoMoneda y TipoCambio, y los montos se calculan."""


class EcfEncabezado46(TypedDict):
    """EcfEncabezado46"""

    Version: NotRequired[Literal["1.0"]]
    """The version of the authority's format: always 1.0. Filled in where left out: 1.0. · Versión del formato de la DGII: siempre 1.0. Si falta, se completa: 1.0."""
    IdDoc: "EcfIdDoc46"
    """What identifies the receipt: its type, its number, and how it is paid. · Identificación del comprobante: su tipo, su número y cómo se paga."""
    Emisor: NotRequired["EcfEmisor31"]
    """Who issues the receipt: your own fiscal data. Filled in where left out: your company's fiscal data, where RNCEmisor is left out too. · Quien emite el comprobante: sus propios datos fiscales. Si falta, se completa: los datos fiscales de su empresa, si también falta RNCEmisor."""
    Comprador: "EcfComprador46"
    """Who buys. A consumer invoice of RD$250,000 or more must name the buyer; below that it may be left out. · Quien compra. En una factura de consumo de RD$250,000 o más hay que identificarlo; por debajo puede omitirse."""
    InformacionesAdicionales: NotRequired["EcfInformacionesAdicionales46"]
    """Shipment: weights, packages, and for exports ports and costs. · Datos del embarque: pesos, bultos y, en exportaciones, puertos y costos."""
    Transporte: NotRequired["EcfTransporte46"]
    """How the goods travel; in payments abroad, only the country they go to. · Cómo viaja la mercancía; en pagos al exterior, solo el país de destino."""
    Totales: NotRequired["EcfTotales46"]
    """The totals, in pesos. Leave them out and they are computed from the lines. Filled in where left out: computed from the lines. · Los totales, en pesos. Si los omite, se calculan a partir de las líneas. Si falta, se completa: se calcula de las líneas."""
    OtraMoneda: NotRequired["EcfOtraMoneda46"]
    """The same totals in another currency. Give TipoMoneda and TipoCambio, and the amounts are computed. · Los mismos totales en otra moneda. Indique TipoMoneda y TipoCambio, y los montos se calculan."""


class EcfEncabezado47(TypedDict):
    """EcfEncabezado47"""

    Version: NotRequired[Literal["1.0"]]
    """The version of the authority's format: always 1.0. Filled in where left out: 1.0. · Versión del formato de la DGII: siempre 1.0. Si falta, se completa: 1.0."""
    IdDoc: "EcfIdDoc47"
    """What identifies the receipt: its type, its number, and how it is paid. · Identificación del comprobante: su tipo, su número y cómo se paga."""
    Emisor: NotRequired["EcfEmisor41"]
    """Who issues the receipt: your own fiscal data. Filled in where left out: your company's fiscal data, where RNCEmisor is left out too. · Quien emite el comprobante: sus propios datos fiscales. Si falta, se completa: los datos fiscales de su empresa, si también falta RNCEmisor."""
    Comprador: NotRequired["EcfComprador47"]
    """Who buys. A consumer invoice of RD$250,000 or more must name the buyer; below that it may be left out. · Quien compra. En una factura de consumo de RD$250,000 o más hay que identificarlo; por debajo puede omitirse."""
    Transporte: NotRequired["EcfTransporte47"]
    """How the goods travel; in payments abroad, only the country they go to. · Cómo viaja la mercancía; en pagos al exterior, solo el país de destino."""
    Totales: NotRequired["EcfTotales47"]
    """The totals, in pesos. Leave them out and they are computed from the lines. Filled in where left out: computed from the lines. · Los totales, en pesos. Si los omite, se calculan a partir de las líneas. Si falta, se completa: se calcula de las líneas."""
    OtraMoneda: NotRequired["EcfOtraMoneda43"]
    """The same totals in another currency. Give TipoMoneda and TipoCambio, and the amounts are computed. · Los mismos totales en otra moneda. Indique TipoMoneda y TipoCambio, y los montos se calculan."""


#: A number of up to 3 digits with up to 4 decimals, above 0. Un número de hasta 3 dígitos con hasta 4 decimales, mayor que 0.
EcfExchangeRate: TypeAlias = Number | str


#: A number of up to 3 digits with up to 4 decimals, 0 or more. Un número de hasta 3 dígitos con hasta 4 decimales, 0 o mayor.
EcfExchangeRateOr0: TypeAlias = Number | str


#: A number of up to 16 digits with up to 3 decimals, 0 or more. Un número de hasta 16 dígitos con hasta 3 decimales, 0 o mayor.
EcfFineQuantity: TypeAlias = Number | str


class EcfFormaDePago(TypedDict):
    """EcfFormaDePago"""

    FormaPago: "EcfPaymentForm"
    """How this part is paid: cash, transfer, card and so on. · Cómo se paga esta parte: efectivo, transferencia, tarjeta, etc."""
    MontoPago: NotRequired["EcfAmount"]
    """How much is paid in this way, in pesos. Filled in where left out: what is due, where there is one form. · Cuánto se paga de esta forma, en pesos. Si falta, se completa: lo que se debe pagar, si hay una sola forma."""


#: `1` goods · bien; `2` service · servicio
EcfGoodsOrService: TypeAlias = Literal["1", "2"]


class EcfIdDoc31(TypedDict):
    """EcfIdDoc31"""

    TipoeCF: NotRequired[Literal["31"]]
    """The type of the receipt, as two digits. It must be the type that the number (eNCF) names. Filled in where left out: the type that eNCF names. · Tipo de comprobante, en dos dígitos. Debe ser el mismo que indica el número (eNCF). Si falta, se completa: el tipo que dice el eNCF."""
    eNCF: NotRequired[str]
    """The fiscal number: E, two digits of the type, ten of the sequence. Leave it out and say TipoeCF: then the service takes the next number of your sequence. Filled in where left out: the next number of your sequence for TipoeCF. · Número de comprobante fiscal: E, dos dígitos del tipo y diez de la secuencia. Si lo omite e indica TipoeCF, el servicio toma el próximo número de su secuencia. Si falta, se completa: el próximo número de su secuencia para TipoeCF."""
    FechaVencimientoSecuencia: NotRequired["EcfDate"]
    """The last day on which the number may be used, as the authority authorised the sequence. Filled in where left out: the last day of your sequence. · Último día en que se puede usar el número, según la autorización de la secuencia. Si falta, se completa: el último día de su secuencia."""
    IndicadorEnvioDiferido: NotRequired[Literal["1"]]
    """Say 1 if you issued the receipt away from a connection and are authorised to send such receipts later. · Indique 1 si emitió el comprobante sin conexión y está autorizado a hacer envíos diferidos."""
    IndicadorMontoGravado: NotRequired["EcfTaxIncluded"]
    """Whether the prices of the lines already include ITBIS. Filled in where left out: 0, where a line is taxed. · Indica si los precios de las líneas ya incluyen el ITBIS. Si falta, se completa: 0, si alguna línea está gravada."""
    IndicadorServicioTodoIncluido: NotRequired[Literal["1"]]
    """Send 1 if you bill an all-inclusive service, such as a hotel stay. · Indique 1 si factura un servicio todo incluido, como los de los hoteles."""
    TipoIngresos: "EcfIncomeType"
    """What kind of income the sale is for you, as you declare it to the authority. · Qué tipo de ingreso es la venta para usted, tal como lo declara a la DGII."""
    TipoPago: "EcfPaymentType"
    """Whether it is paid at once, on credit, or free of charge. Credit demands FechaLimitePago. · Si se paga al contado, a crédito o es gratuito. A crédito exige FechaLimitePago."""
    FechaLimitePago: NotRequired["EcfDate"]
    """The last day to pay, where the sale is on credit. · Último día para pagar, cuando la venta es a crédito."""
    TerminoPago: NotRequired[str]
    """At most 15 letters, digits and blanks. Máximo 15 letras, dígitos y espacios. The terms of payment in your words, such as 30 días. · Condiciones de pago en sus palabras, por ejemplo 30 días."""
    TablaFormasPago: NotRequired["EcfTablaFormasPago"]
    """The ways in which it is paid, if you want to list them. · Las formas en que se paga, si desea detallarlas."""
    TipoCuentaPago: NotRequired["EcfAccountType"]
    """The kind of bank account that the payment goes to. · Tipo de cuenta bancaria en que se recibe el pago."""
    NumeroCuentaPago: NotRequired[str]
    """The number of that bank account. · Número de esa cuenta bancaria."""
    BancoPago: NotRequired[str]
    """The bank where the account is. · Banco donde está la cuenta."""
    FechaDesde: NotRequired["EcfDate"]
    """The first day of the period that is billed, for services that go on, such as rent or electricity. · Primer día del período que se factura, en servicios continuos como alquiler o electricidad."""
    FechaHasta: NotRequired["EcfDate"]
    """The last day of the period that is billed. · Último día del período que se factura."""
    TotalPaginas: NotRequired["EcfPages4"]
    """How many pages the printed receipt has, if it has more than one. · Cuántas páginas tiene la representación impresa, si es más de una."""


class EcfIdDoc32(TypedDict):
    """EcfIdDoc32"""

    TipoeCF: NotRequired[Literal["32"]]
    """The type of the receipt, as two digits. It must be the type that the number (eNCF) names. Filled in where left out: the type that eNCF names. · Tipo de comprobante, en dos dígitos. Debe ser el mismo que indica el número (eNCF). Si falta, se completa: el tipo que dice el eNCF."""
    eNCF: NotRequired[str]
    """The fiscal number: E, two digits of the type, ten of the sequence. Leave it out and say TipoeCF: then the service takes the next number of your sequence. Filled in where left out: the next number of your sequence for TipoeCF. · Número de comprobante fiscal: E, dos dígitos del tipo y diez de la secuencia. Si lo omite e indica TipoeCF, el servicio toma el próximo número de su secuencia. Si falta, se completa: el próximo número de su secuencia para TipoeCF."""
    IndicadorEnvioDiferido: NotRequired[Literal["1"]]
    """Say 1 if you issued the receipt away from a connection and are authorised to send such receipts later. · Indique 1 si emitió el comprobante sin conexión y está autorizado a hacer envíos diferidos."""
    IndicadorMontoGravado: NotRequired["EcfTaxIncluded"]
    """Whether the prices of the lines already include ITBIS. Filled in where left out: 0, where a line is taxed. · Indica si los precios de las líneas ya incluyen el ITBIS. Si falta, se completa: 0, si alguna línea está gravada."""
    IndicadorServicioTodoIncluido: NotRequired[Literal["1"]]
    """Send 1 if you bill an all-inclusive service, such as a hotel stay. · Indique 1 si factura un servicio todo incluido, como los de los hoteles."""
    TipoIngresos: "EcfIncomeType"
    """What kind of income the sale is for you, as you declare it to the authority. · Qué tipo de ingreso es la venta para usted, tal como lo declara a la DGII."""
    TipoPago: "EcfPaymentType"
    """Whether it is paid at once, on credit, or free of charge. Credit demands FechaLimitePago. · Si se paga al contado, a crédito o es gratuito. A crédito exige FechaLimitePago."""
    FechaLimitePago: NotRequired["EcfDate"]
    """The last day to pay, where the sale is on credit. · Último día para pagar, cuando la venta es a crédito."""
    TerminoPago: NotRequired[str]
    """At most 15 letters, digits and blanks. Máximo 15 letras, dígitos y espacios. The terms of payment in your words, such as 30 días. · Condiciones de pago en sus palabras, por ejemplo 30 días."""
    TablaFormasPago: NotRequired["EcfTablaFormasPago"]
    """The ways in which it is paid, if you want to list them. · Las formas en que se paga, si desea detallarlas."""
    TipoCuentaPago: NotRequired["EcfAccountType"]
    """The kind of bank account that the payment goes to. · Tipo de cuenta bancaria en que se recibe el pago."""
    NumeroCuentaPago: NotRequired[str]
    """The number of that bank account. · Número de esa cuenta bancaria."""
    BancoPago: NotRequired[str]
    """The bank where the account is. · Banco donde está la cuenta."""
    FechaDesde: NotRequired["EcfDate"]
    """The first day of the period that is billed, for services that go on, such as rent or electricity. · Primer día del período que se factura, en servicios continuos como alquiler o electricidad."""
    FechaHasta: NotRequired["EcfDate"]
    """The last day of the period that is billed. · Último día del período que se factura."""
    TotalPaginas: NotRequired["EcfPages4"]
    """How many pages the printed receipt has, if it has more than one. · Cuántas páginas tiene la representación impresa, si es más de una."""


class EcfIdDoc33(TypedDict):
    """EcfIdDoc33"""

    TipoeCF: NotRequired[Literal["33"]]
    """The type of the receipt, as two digits. It must be the type that the number (eNCF) names. Filled in where left out: the type that eNCF names. · Tipo de comprobante, en dos dígitos. Debe ser el mismo que indica el número (eNCF). Si falta, se completa: el tipo que dice el eNCF."""
    eNCF: NotRequired[str]
    """The fiscal number: E, two digits of the type, ten of the sequence. Leave it out and say TipoeCF: then the service takes the next number of your sequence. Filled in where left out: the next number of your sequence for TipoeCF. · Número de comprobante fiscal: E, dos dígitos del tipo y diez de la secuencia. Si lo omite e indica TipoeCF, el servicio toma el próximo número de su secuencia. Si falta, se completa: el próximo número de su secuencia para TipoeCF."""
    FechaVencimientoSecuencia: NotRequired["EcfDate"]
    """The last day on which the number may be used, as the authority authorised the sequence. Filled in where left out: the last day of your sequence. · Último día en que se puede usar el número, según la autorización de la secuencia. Si falta, se completa: el último día de su secuencia."""
    IndicadorEnvioDiferido: NotRequired[Literal["1"]]
    """Say 1 if you issued the receipt away from a connection and are authorised to send such receipts later. · Indique 1 si emitió el comprobante sin conexión y está autorizado a hacer envíos diferidos."""
    IndicadorMontoGravado: NotRequired["EcfTaxIncluded"]
    """Whether the prices of the lines already include ITBIS. Filled in where left out: 0, where a line is taxed. · Indica si los precios de las líneas ya incluyen el ITBIS. Si falta, se completa: 0, si alguna línea está gravada."""
    IndicadorServicioTodoIncluido: NotRequired[Literal["1"]]
    """Send 1 if you bill an all-inclusive service, such as a hotel stay. · Indique 1 si factura un servicio todo incluido, como los de los hoteles."""
    TipoIngresos: "EcfIncomeType"
    """What kind of income the sale is for you, as you declare it to the authority. · Qué tipo de ingreso es la venta para usted, tal como lo declara a la DGII."""
    TipoPago: "EcfPaymentType"
    """Whether it is paid at once, on credit, or free of charge. Credit demands FechaLimitePago. · Si se paga al contado, a crédito o es gratuito. A crédito exige FechaLimitePago."""
    FechaLimitePago: NotRequired["EcfDate"]
    """The last day to pay, where the sale is on credit. · Último día para pagar, cuando la venta es a crédito."""
    TerminoPago: NotRequired[str]
    """At most 15 letters, digits and blanks. Máximo 15 letras, dígitos y espacios. The terms of payment in your words, such as 30 días. · Condiciones de pago en sus palabras, por ejemplo 30 días."""
    TablaFormasPago: NotRequired["EcfTablaFormasPago"]
    """The ways in which it is paid, if you want to list them. · Las formas en que se paga, si desea detallarlas."""
    TipoCuentaPago: NotRequired["EcfAccountType"]
    """The kind of bank account that the payment goes to. · Tipo de cuenta bancaria en que se recibe el pago."""
    NumeroCuentaPago: NotRequired[str]
    """The number of that bank account. · Número de esa cuenta bancaria."""
    BancoPago: NotRequired[str]
    """The bank where the account is. · Banco donde está la cuenta."""
    FechaDesde: NotRequired["EcfDate"]
    """The first day of the period that is billed, for services that go on, such as rent or electricity. · Primer día del período que se factura, en servicios continuos como alquiler o electricidad."""
    FechaHasta: NotRequired["EcfDate"]
    """The last day of the period that is billed. · Último día del período que se factura."""
    TotalPaginas: NotRequired["EcfPages5"]
    """How many pages the printed receipt has, if it has more than one. · Cuántas páginas tiene la representación impresa, si es más de una."""


class EcfIdDoc34(TypedDict):
    """EcfIdDoc34"""

    TipoeCF: NotRequired[Literal["34"]]
    """The type of the receipt, as two digits. It must be the type that the number (eNCF) names. Filled in where left out: the type that eNCF names. · Tipo de comprobante, en dos dígitos. Debe ser el mismo que indica el número (eNCF). Si falta, se completa: el tipo que dice el eNCF."""
    eNCF: NotRequired[str]
    """The fiscal number: E, two digits of the type, ten of the sequence. Leave it out and say TipoeCF: then the service takes the next number of your sequence. Filled in where left out: the next number of your sequence for TipoeCF. · Número de comprobante fiscal: E, dos dígitos del tipo y diez de la secuencia. Si lo omite e indica TipoeCF, el servicio toma el próximo número de su secuencia. Si falta, se completa: el próximo número de su secuencia para TipoeCF."""
    IndicadorNotaCredito: NotRequired["EcfCreditNoteAge"]
    """Whether the receipt that the credit note changes is older than 30 days. If it is, its ITBIS can no longer be taken back. Filled in where left out: from the two dates. · Si el comprobante que la nota modifica tiene más de 30 días. Si los tiene, ya no se puede rebajar su ITBIS. Si falta, se completa: de las dos fechas."""
    IndicadorEnvioDiferido: NotRequired[Literal["1"]]
    """Say 1 if you issued the receipt away from a connection and are authorised to send such receipts later. · Indique 1 si emitió el comprobante sin conexión y está autorizado a hacer envíos diferidos."""
    IndicadorMontoGravado: NotRequired["EcfTaxIncluded"]
    """Whether the prices of the lines already include ITBIS. Filled in where left out: 0, where a line is taxed. · Indica si los precios de las líneas ya incluyen el ITBIS. Si falta, se completa: 0, si alguna línea está gravada."""
    IndicadorServicioTodoIncluido: NotRequired[Literal["1"]]
    """Send 1 if you bill an all-inclusive service, such as a hotel stay. · Indique 1 si factura un servicio todo incluido, como los de los hoteles."""
    TipoIngresos: "EcfIncomeType"
    """What kind of income the sale is for you, as you declare it to the authority. · Qué tipo de ingreso es la venta para usted, tal como lo declara a la DGII."""
    TipoPago: "EcfPaymentType"
    """Whether it is paid at once, on credit, or free of charge. Credit demands FechaLimitePago. · Si se paga al contado, a crédito o es gratuito. A crédito exige FechaLimitePago."""
    FechaLimitePago: NotRequired["EcfDate"]
    """The last day to pay, where the sale is on credit. · Último día para pagar, cuando la venta es a crédito."""
    FechaDesde: NotRequired["EcfDate"]
    """The first day of the period that is billed, for services that go on, such as rent or electricity. · Primer día del período que se factura, en servicios continuos como alquiler o electricidad."""
    FechaHasta: NotRequired["EcfDate"]
    """The last day of the period that is billed. · Último día del período que se factura."""
    TotalPaginas: NotRequired["EcfPages5"]
    """How many pages the printed receipt has, if it has more than one. · Cuántas páginas tiene la representación impresa, si es más de una."""


class EcfIdDoc41(TypedDict):
    """EcfIdDoc41"""

    TipoeCF: NotRequired[Literal["41"]]
    """The type of the receipt, as two digits. It must be the type that the number (eNCF) names. Filled in where left out: the type that eNCF names. · Tipo de comprobante, en dos dígitos. Debe ser el mismo que indica el número (eNCF). Si falta, se completa: el tipo que dice el eNCF."""
    eNCF: NotRequired[str]
    """The fiscal number: E, two digits of the type, ten of the sequence. Leave it out and say TipoeCF: then the service takes the next number of your sequence. Filled in where left out: the next number of your sequence for TipoeCF. · Número de comprobante fiscal: E, dos dígitos del tipo y diez de la secuencia. Si lo omite e indica TipoeCF, el servicio toma el próximo número de su secuencia. Si falta, se completa: el próximo número de su secuencia para TipoeCF."""
    FechaVencimientoSecuencia: NotRequired["EcfDate"]
    """The last day on which the number may be used, as the authority authorised the sequence. Filled in where left out: the last day of your sequence. · Último día en que se puede usar el número, según la autorización de la secuencia. Si falta, se completa: el último día de su secuencia."""
    IndicadorMontoGravado: NotRequired["EcfTaxIncluded"]
    """Whether the prices of the lines already include ITBIS. Filled in where left out: 0, where a line is taxed. · Indica si los precios de las líneas ya incluyen el ITBIS. Si falta, se completa: 0, si alguna línea está gravada."""
    TipoPago: NotRequired["EcfPaymentType"]
    """Whether it is paid at once, on credit, or free of charge. Credit demands FechaLimitePago. · Si se paga al contado, a crédito o es gratuito. A crédito exige FechaLimitePago."""
    FechaLimitePago: NotRequired["EcfDate"]
    """The last day to pay, where the sale is on credit. · Último día para pagar, cuando la venta es a crédito."""
    TerminoPago: NotRequired[str]
    """At most 15 letters, digits and blanks. Máximo 15 letras, dígitos y espacios. The terms of payment in your words, such as 30 días. · Condiciones de pago en sus palabras, por ejemplo 30 días."""
    TablaFormasPago: NotRequired["EcfTablaFormasPago"]
    """The ways in which it is paid, if you want to list them. · Las formas en que se paga, si desea detallarlas."""
    TipoCuentaPago: NotRequired["EcfAccountType"]
    """The kind of bank account that the payment goes to. · Tipo de cuenta bancaria en que se recibe el pago."""
    NumeroCuentaPago: NotRequired[str]
    """The number of that bank account. · Número de esa cuenta bancaria."""
    BancoPago: NotRequired[str]
    """The bank where the account is. · Banco donde está la cuenta."""
    TotalPaginas: NotRequired["EcfPages4"]
    """How many pages the printed receipt has, if it has more than one. · Cuántas páginas tiene la representación impresa, si es más de una."""


class EcfIdDoc43(TypedDict):
    """EcfIdDoc43"""

    TipoeCF: NotRequired[Literal["43"]]
    """The type of the receipt, as two digits. It must be the type that the number (eNCF) names. Filled in where left out: the type that eNCF names. · Tipo de comprobante, en dos dígitos. Debe ser el mismo que indica el número (eNCF). Si falta, se completa: el tipo que dice el eNCF."""
    eNCF: NotRequired[str]
    """The fiscal number: E, two digits of the type, ten of the sequence. Leave it out and say TipoeCF: then the service takes the next number of your sequence. Filled in where left out: the next number of your sequence for TipoeCF. · Número de comprobante fiscal: E, dos dígitos del tipo y diez de la secuencia. Si lo omite e indica TipoeCF, el servicio toma el próximo número de su secuencia. Si falta, se completa: el próximo número de su secuencia para TipoeCF."""
    FechaVencimientoSecuencia: NotRequired["EcfDate"]
    """The last day on which the number may be used, as the authority authorised the sequence. Filled in where left out: the last day of your sequence. · Último día en que se puede usar el número, según la autorización de la secuencia. Si falta, se completa: el último día de su secuencia."""
    TipoPago: NotRequired["EcfPaymentType"]
    """Whether it is paid at once, on credit, or free of charge. Credit demands FechaLimitePago. · Si se paga al contado, a crédito o es gratuito. A crédito exige FechaLimitePago."""
    TotalPaginas: NotRequired["EcfPages4"]
    """How many pages the printed receipt has, if it has more than one. · Cuántas páginas tiene la representación impresa, si es más de una."""


class EcfIdDoc44(TypedDict):
    """EcfIdDoc44"""

    TipoeCF: NotRequired[Literal["44"]]
    """The type of the receipt, as two digits. It must be the type that the number (eNCF) names. Filled in where left out: the type that eNCF names. · Tipo de comprobante, en dos dígitos. Debe ser el mismo que indica el número (eNCF). Si falta, se completa: el tipo que dice el eNCF."""
    eNCF: NotRequired[str]
    """The fiscal number: E, two digits of the type, ten of the sequence. Leave it out and say TipoeCF: then the service takes the next number of your sequence. Filled in where left out: the next number of your sequence for TipoeCF. · Número de comprobante fiscal: E, dos dígitos del tipo y diez de la secuencia. Si lo omite e indica TipoeCF, el servicio toma el próximo número de su secuencia. Si falta, se completa: el próximo número de su secuencia para TipoeCF."""
    FechaVencimientoSecuencia: NotRequired["EcfDate"]
    """The last day on which the number may be used, as the authority authorised the sequence. Filled in where left out: the last day of your sequence. · Último día en que se puede usar el número, según la autorización de la secuencia. Si falta, se completa: el último día de su secuencia."""
    IndicadorEnvioDiferido: NotRequired[Literal["1"]]
    """Say 1 if you issued the receipt away from a connection and are authorised to send such receipts later. · Indique 1 si emitió el comprobante sin conexión y está autorizado a hacer envíos diferidos."""
    IndicadorServicioTodoIncluido: NotRequired[Literal["1"]]
    """Send 1 if you bill an all-inclusive service, such as a hotel stay. · Indique 1 si factura un servicio todo incluido, como los de los hoteles."""
    TipoIngresos: "EcfIncomeType"
    """What kind of income the sale is for you, as you declare it to the authority. · Qué tipo de ingreso es la venta para usted, tal como lo declara a la DGII."""
    TipoPago: "EcfPaymentType"
    """Whether it is paid at once, on credit, or free of charge. Credit demands FechaLimitePago. · Si se paga al contado, a crédito o es gratuito. A crédito exige FechaLimitePago."""
    FechaLimitePago: NotRequired["EcfDate"]
    """The last day to pay, where the sale is on credit. · Último día para pagar, cuando la venta es a crédito."""
    TerminoPago: NotRequired[str]
    """At most 15 letters, digits and blanks. Máximo 15 letras, dígitos y espacios. The terms of payment in your words, such as 30 días. · Condiciones de pago en sus palabras, por ejemplo 30 días."""
    TablaFormasPago: NotRequired["EcfTablaFormasPago"]
    """The ways in which it is paid, if you want to list them. · Las formas en que se paga, si desea detallarlas."""
    TipoCuentaPago: NotRequired["EcfAccountType"]
    """The kind of bank account that the payment goes to. · Tipo de cuenta bancaria en que se recibe el pago."""
    NumeroCuentaPago: NotRequired[str]
    """The number of that bank account. · Número de esa cuenta bancaria."""
    BancoPago: NotRequired[str]
    """The bank where the account is. · Banco donde está la cuenta."""
    FechaDesde: NotRequired["EcfDate"]
    """The first day of the period that is billed, for services that go on, such as rent or electricity. · Primer día del período que se factura, en servicios continuos como alquiler o electricidad."""
    FechaHasta: NotRequired["EcfDate"]
    """The last day of the period that is billed. · Último día del período que se factura."""
    TotalPaginas: NotRequired["EcfPages4"]
    """How many pages the printed receipt has, if it has more than one. · Cuántas páginas tiene la representación impresa, si es más de una."""


class EcfIdDoc45(TypedDict):
    """EcfIdDoc45"""

    TipoeCF: NotRequired[Literal["45"]]
    """The type of the receipt, as two digits. It must be the type that the number (eNCF) names. Filled in where left out: the type that eNCF names. · Tipo de comprobante, en dos dígitos. Debe ser el mismo que indica el número (eNCF). Si falta, se completa: el tipo que dice el eNCF."""
    eNCF: NotRequired[str]
    """The fiscal number: E, two digits of the type, ten of the sequence. Leave it out and say TipoeCF: then the service takes the next number of your sequence. Filled in where left out: the next number of your sequence for TipoeCF. · Número de comprobante fiscal: E, dos dígitos del tipo y diez de la secuencia. Si lo omite e indica TipoeCF, el servicio toma el próximo número de su secuencia. Si falta, se completa: el próximo número de su secuencia para TipoeCF."""
    FechaVencimientoSecuencia: NotRequired["EcfDate"]
    """The last day on which the number may be used, as the authority authorised the sequence. Filled in where left out: the last day of your sequence. · Último día en que se puede usar el número, según la autorización de la secuencia. Si falta, se completa: el último día de su secuencia."""
    IndicadorEnvioDiferido: NotRequired[Literal["1"]]
    """Say 1 if you issued the receipt away from a connection and are authorised to send such receipts later. · Indique 1 si emitió el comprobante sin conexión y está autorizado a hacer envíos diferidos."""
    IndicadorMontoGravado: NotRequired["EcfTaxIncluded"]
    """Whether the prices of the lines already include ITBIS. Filled in where left out: 0, where a line is taxed. · Indica si los precios de las líneas ya incluyen el ITBIS. Si falta, se completa: 0, si alguna línea está gravada."""
    IndicadorServicioTodoIncluido: NotRequired[Literal["1"]]
    """Send 1 if you bill an all-inclusive service, such as a hotel stay. · Indique 1 si factura un servicio todo incluido, como los de los hoteles."""
    TipoIngresos: "EcfIncomeType"
    """What kind of income the sale is for you, as you declare it to the authority. · Qué tipo de ingreso es la venta para usted, tal como lo declara a la DGII."""
    TipoPago: "EcfPaymentType"
    """Whether it is paid at once, on credit, or free of charge. Credit demands FechaLimitePago. · Si se paga al contado, a crédito o es gratuito. A crédito exige FechaLimitePago."""
    FechaLimitePago: NotRequired["EcfDate"]
    """The last day to pay, where the sale is on credit. · Último día para pagar, cuando la venta es a crédito."""
    TerminoPago: NotRequired[str]
    """At most 15 letters, digits and blanks. Máximo 15 letras, dígitos y espacios. The terms of payment in your words, such as 30 días. · Condiciones de pago en sus palabras, por ejemplo 30 días."""
    TablaFormasPago: NotRequired["EcfTablaFormasPago"]
    """The ways in which it is paid, if you want to list them. · Las formas en que se paga, si desea detallarlas."""
    TipoCuentaPago: NotRequired["EcfAccountType"]
    """The kind of bank account that the payment goes to. · Tipo de cuenta bancaria en que se recibe el pago."""
    NumeroCuentaPago: NotRequired[str]
    """The number of that bank account. · Número de esa cuenta bancaria."""
    BancoPago: NotRequired[str]
    """The bank where the account is. · Banco donde está la cuenta."""
    FechaDesde: NotRequired["EcfDate"]
    """The first day of the period that is billed, for services that go on, such as rent or electricity. · Primer día del período que se factura, en servicios continuos como alquiler o electricidad."""
    FechaHasta: NotRequired["EcfDate"]
    """The last day of the period that is billed. · Último día del período que se factura."""
    TotalPaginas: NotRequired["EcfPages4"]
    """How many pages the printed receipt has, if it has more than one. · Cuántas páginas tiene la representación impresa, si es más de una."""


class EcfIdDoc46(TypedDict):
    """EcfIdDoc46"""

    TipoeCF: NotRequired[Literal["46"]]
    """The type of the receipt, as two digits. It must be the type that the number (eNCF) names. Filled in where left out: the type that eNCF names. · Tipo de comprobante, en dos dígitos. Debe ser el mismo que indica el número (eNCF). Si falta, se completa: el tipo que dice el eNCF."""
    eNCF: NotRequired[str]
    """The fiscal number: E, two digits of the type, ten of the sequence. Leave it out and say TipoeCF: then the service takes the next number of your sequence. Filled in where left out: the next number of your sequence for TipoeCF. · Número de comprobante fiscal: E, dos dígitos del tipo y diez de la secuencia. Si lo omite e indica TipoeCF, el servicio toma el próximo número de su secuencia. Si falta, se completa: el próximo número de su secuencia para TipoeCF."""
    FechaVencimientoSecuencia: NotRequired["EcfDate"]
    """The last day on which the number may be used, as the authority authorised the sequence. Filled in where left out: the last day of your sequence. · Último día en que se puede usar el número, según la autorización de la secuencia. Si falta, se completa: el último día de su secuencia."""
    IndicadorEnvioDiferido: NotRequired[Literal["1"]]
    """Say 1 if you issued the receipt away from a connection and are authorised to send such receipts later. · Indique 1 si emitió el comprobante sin conexión y está autorizado a hacer envíos diferidos."""
    TipoIngresos: "EcfIncomeType"
    """What kind of income the sale is for you, as you declare it to the authority. · Qué tipo de ingreso es la venta para usted, tal como lo declara a la DGII."""
    TipoPago: "EcfPaymentType"
    """Whether it is paid at once, on credit, or free of charge. Credit demands FechaLimitePago. · Si se paga al contado, a crédito o es gratuito. A crédito exige FechaLimitePago."""
    FechaLimitePago: NotRequired["EcfDate"]
    """The last day to pay, where the sale is on credit. · Último día para pagar, cuando la venta es a crédito."""
    TerminoPago: NotRequired[str]
    """At most 15 letters, digits and blanks. Máximo 15 letras, dígitos y espacios. The terms of payment in your words, such as 30 días. · Condiciones de pago en sus palabras, por ejemplo 30 días."""
    TablaFormasPago: NotRequired["EcfTablaFormasPago"]
    """The ways in which it is paid, if you want to list them. · Las formas en que se paga, si desea detallarlas."""
    TipoCuentaPago: NotRequired["EcfAccountType"]
    """The kind of bank account that the payment goes to. · Tipo de cuenta bancaria en que se recibe el pago."""
    NumeroCuentaPago: NotRequired[str]
    """The number of that bank account. · Número de esa cuenta bancaria."""
    BancoPago: NotRequired[str]
    """The bank where the account is. · Banco donde está la cuenta."""
    FechaDesde: NotRequired["EcfDate"]
    """The first day of the period that is billed, for services that go on, such as rent or electricity. · Primer día del período que se factura, en servicios continuos como alquiler o electricidad."""
    FechaHasta: NotRequired["EcfDate"]
    """The last day of the period that is billed. · Último día del período que se factura."""
    TotalPaginas: NotRequired["EcfPages4"]
    """How many pages the printed receipt has, if it has more than one. · Cuántas páginas tiene la representación impresa, si es más de una."""


class EcfIdDoc47(TypedDict):
    """EcfIdDoc47"""

    TipoeCF: NotRequired[Literal["47"]]
    """The type of the receipt, as two digits. It must be the type that the number (eNCF) names. Filled in where left out: the type that eNCF names. · Tipo de comprobante, en dos dígitos. Debe ser el mismo que indica el número (eNCF). Si falta, se completa: el tipo que dice el eNCF."""
    eNCF: NotRequired[str]
    """The fiscal number: E, two digits of the type, ten of the sequence. Leave it out and say TipoeCF: then the service takes the next number of your sequence. Filled in where left out: the next number of your sequence for TipoeCF. · Número de comprobante fiscal: E, dos dígitos del tipo y diez de la secuencia. Si lo omite e indica TipoeCF, el servicio toma el próximo número de su secuencia. Si falta, se completa: el próximo número de su secuencia para TipoeCF."""
    FechaVencimientoSecuencia: NotRequired["EcfDate"]
    """The last day on which the number may be used, as the authority authorised the sequence. Filled in where left out: the last day of your sequence. · Último día en que se puede usar el número, según la autorización de la secuencia. Si falta, se completa: el último día de su secuencia."""
    TipoPago: NotRequired["EcfPaymentType"]
    """Whether it is paid at once, on credit, or free of charge. Credit demands FechaLimitePago. · Si se paga al contado, a crédito o es gratuito. A crédito exige FechaLimitePago."""
    FechaLimitePago: NotRequired["EcfDate"]
    """The last day to pay, where the sale is on credit. · Último día para pagar, cuando la venta es a crédito."""
    TerminoPago: NotRequired[str]
    """At most 15 letters, digits and blanks. Máximo 15 letras, dígitos y espacios. The terms of payment in your words, such as 30 días. · Condiciones de pago en sus palabras, por ejemplo 30 días."""
    TablaFormasPago: NotRequired["EcfTablaFormasPago"]
    """The ways in which it is paid, if you want to list them. · Las formas en que se paga, si desea detallarlas."""
    TipoCuentaPago: NotRequired["EcfAccountType"]
    """The kind of bank account that the payment goes to. · Tipo de cuenta bancaria en que se recibe el pago."""
    NumeroCuentaPago: NotRequired[str]
    """The number of that bank account. · Número de esa cuenta bancaria."""
    BancoPago: NotRequired[str]
    """The bank where the account is. · Banco donde está la cuenta."""
    FechaDesde: NotRequired["EcfDate"]
    """The first day of the period that is billed, for services that go on, such as rent or electricity. · Primer día del período que se factura, en servicios continuos como alquiler o electricidad."""
    FechaHasta: NotRequired["EcfDate"]
    """The last day of the period that is billed. · Último día del período que se factura."""
    TotalPaginas: NotRequired["EcfPages4"]
    """How many pages the printed receipt has, if it has more than one. · Cuántas páginas tiene la representación impresa, si es más de una."""


class EcfImpuestoAdicionalOtraMoneda31(TypedDict):
    """EcfImpuestoAdicionalOtraMoneda31"""

    TipoImpuestoOtraMoneda: "EcfAdditionalTax"
    """Which additional tax it is, by its code. · Qué impuesto adicional es, por su código."""
    TasaImpuestoAdicionalOtraMoneda: "EcfPercentage"
    """Its rate. · Su tasa."""
    MontoImpuestoSelectivoConsumoEspecificoOtraMoneda: NotRequired["EcfAmountAbove0"]
    """Selective tax by quantity, in the other currency. · Impuesto selectivo al consumo específico, en la otra moneda."""
    MontoImpuestoSelectivoConsumoAdvaloremOtraMoneda: NotRequired["EcfAmountAbove0"]
    """Selective tax by price, in the other currency. · Impuesto selectivo al consumo ad valorem, en la otra moneda."""
    OtrosImpuestosAdicionalesOtraMoneda: NotRequired["EcfAmountAbove0"]
    """Another additional tax, in the other currency. · Otro impuesto adicional, en la otra moneda."""


class EcfImpuestoAdicionalOtraMoneda44(TypedDict):
    """EcfImpuestoAdicionalOtraMoneda44"""

    TipoImpuestoOtraMoneda: NotRequired["EcfAdditionalTax"]
    """Which additional tax it is, by its code. · Qué impuesto adicional es, por su código."""
    TasaImpuestoAdicionalOtraMoneda: NotRequired["EcfPercentage"]
    """Its rate. · Su tasa."""
    OtrosImpuestosAdicionalesOtraMoneda: NotRequired["EcfAmountAbove0"]
    """Another additional tax, in the other currency. · Otro impuesto adicional, en la otra moneda."""


class EcfImpuestoAdicionalOtraMoneda45(TypedDict):
    """EcfImpuestoAdicionalOtraMoneda45"""

    TipoImpuestoOtraMoneda: NotRequired["EcfAdditionalTax"]
    """Which additional tax it is, by its code. · Qué impuesto adicional es, por su código."""
    TasaImpuestoAdicionalOtraMoneda: NotRequired["EcfPercentage"]
    """Its rate. · Su tasa."""
    MontoImpuestoSelectivoConsumoEspecificoOtraMoneda: NotRequired["EcfAmountAbove0"]
    """Selective tax by quantity, in the other currency. · Impuesto selectivo al consumo específico, en la otra moneda."""
    MontoImpuestoSelectivoConsumoAdvaloremOtraMoneda: NotRequired["EcfAmountAbove0"]
    """Selective tax by price, in the other currency. · Impuesto selectivo al consumo ad valorem, en la otra moneda."""
    OtrosImpuestosAdicionalesOtraMoneda: NotRequired["EcfAmountAbove0"]
    """Another additional tax, in the other currency. · Otro impuesto adicional, en la otra moneda."""


class EcfImpuestosAdicionales31(TypedDict):
    """EcfImpuestosAdicionales31"""

    ImpuestoAdicional: "list[EcfTotalesImpuestoAdicional31]"
    """One additional tax. · Un impuesto adicional."""


class EcfImpuestosAdicionales34(TypedDict):
    """EcfImpuestosAdicionales34"""

    ImpuestoAdicional: "list[EcfTotalesImpuestoAdicional34]"
    """One additional tax. · Un impuesto adicional."""


class EcfImpuestosAdicionales44(TypedDict):
    """EcfImpuestosAdicionales44"""

    ImpuestoAdicional: "list[EcfTotalesImpuestoAdicional44]"
    """One additional tax. · Un impuesto adicional."""


class EcfImpuestosAdicionalesOtraMoneda31(TypedDict):
    """EcfImpuestosAdicionalesOtraMoneda31"""

    ImpuestoAdicionalOtraMoneda: "list[EcfImpuestoAdicionalOtraMoneda31]"
    """One additional tax, in the other currency. · Un impuesto adicional, en la otra moneda."""


class EcfImpuestosAdicionalesOtraMoneda44(TypedDict):
    """EcfImpuestosAdicionalesOtraMoneda44"""

    ImpuestoAdicionalOtraMoneda: "list[EcfImpuestoAdicionalOtraMoneda44]"
    """One additional tax, in the other currency. · Un impuesto adicional, en la otra moneda."""


class EcfImpuestosAdicionalesOtraMoneda45(TypedDict):
    """EcfImpuestosAdicionalesOtraMoneda45"""

    ImpuestoAdicionalOtraMoneda: "list[EcfImpuestoAdicionalOtraMoneda45]"
    """One additional tax, in the other currency. · Un impuesto adicional, en la otra moneda."""


#: `01` operations (not financial) · ingresos por operaciones (no financieros); `02` financial · ingresos financieros; `03` extraordinary · ingresos extraordinarios; `04` leases · ingresos por arrendamientos; `05` sale of a depreciable asset · ingresos por venta de activo depreciable; `06` other · otros ingresos
EcfIncomeType: TypeAlias = Literal["01", "02", "03", "04", "05", "06"]


class EcfInformacionReferencia31(TypedDict):
    """EcfInformacionReferencia31"""

    NCFModificado: NotRequired[str]
    """The number of that receipt. · Número de ese comprobante."""
    RNCOtroContribuyente: NotRequired[str]
    """A tax id: 9 digits (RNC) or 11 (cédula). Un RNC de 9 dígitos o una cédula de 11. The tax id of its issuer, if it was not you (after a merger, for example). · RNC de quien lo emitió, si no fue usted (por ejemplo, tras una fusión)."""
    FechaNCFModificado: NotRequired["EcfDate"]
    """The day of issue of that receipt. · Fecha de emisión de ese comprobante."""
    CodigoModificacion: NotRequired["EcfModification"]
    """What this receipt does to it: cancels it, corrects its text or its amounts, replaces it, or refers to it. · Qué le hace: lo anula, corrige su texto o sus montos, lo reemplaza o le hace referencia."""


class EcfInformacionReferencia33(TypedDict):
    """EcfInformacionReferencia33"""

    NCFModificado: str
    """The number of that receipt. · Número de ese comprobante."""
    RNCOtroContribuyente: NotRequired[str]
    """A tax id: 9 digits (RNC) or 11 (cédula). Un RNC de 9 dígitos o una cédula de 11. The tax id of its issuer, if it was not you (after a merger, for example). · RNC de quien lo emitió, si no fue usted (por ejemplo, tras una fusión)."""
    FechaNCFModificado: NotRequired["EcfDate"]
    """The day of issue of that receipt. Filled in where left out: that of the receipt, if it was issued here. · Fecha de emisión de ese comprobante. Si falta, se completa: el del comprobante, si se emitió aquí."""
    CodigoModificacion: "EcfModification"
    """What this receipt does to it: cancels it, corrects its text or its amounts, replaces it, or refers to it. · Qué le hace: lo anula, corrige su texto o sus montos, lo reemplaza o le hace referencia."""
    RazonModificacion: NotRequired[str]
    """Why, in words. · El motivo, en palabras."""


class EcfInformacionesAdicionales31(TypedDict):
    """EcfInformacionesAdicionales31"""

    FechaEmbarque: NotRequired["EcfDate"]
    """The day on which it is shipped. · Fecha de embarque."""
    NumeroEmbarque: NotRequired[str]
    """The number of the shipment. · Número de embarque."""
    NumeroContenedor: NotRequired[str]
    """The number of the container. · Número de contenedor."""
    NumeroReferencia: NotRequired["EcfWhole20"]
    """A reference number of the shipment. · Número de referencia del embarque."""
    PesoBruto: NotRequired["EcfQuantity"]
    """The gross weight of the shipment. · Peso bruto del embarque."""
    PesoNeto: NotRequired["EcfQuantity"]
    """The net weight of the shipment. · Peso neto del embarque."""
    UnidadPesoBruto: NotRequired["EcfUnit"]
    """The unit of the gross weight. · Unidad de medida del peso bruto."""
    UnidadPesoNeto: NotRequired["EcfUnit"]
    """The unit of the net weight. · Unidad de medida del peso neto."""
    CantidadBulto: NotRequired["EcfQuantity"]
    """How many packages there are. · Cantidad de bultos."""
    UnidadBulto: NotRequired["EcfUnit"]
    """What the packages are: boxes, sacks and so on. · Unidad de los bultos: cajas, sacos, etc."""
    VolumenBulto: NotRequired["EcfQuantityAbove0"]
    """The volume of the packages. · Volumen de los bultos."""
    UnidadVolumen: NotRequired["EcfUnit"]
    """The unit of that volume. · Unidad de medida de ese volumen."""


class EcfInformacionesAdicionales45(TypedDict):
    """EcfInformacionesAdicionales45"""

    FechaEmbarque: NotRequired["EcfDate"]
    """The day on which it is shipped. · Fecha de embarque."""
    NumeroEmbarque: NotRequired[str]
    """The number of the shipment. · Número de embarque."""
    NumeroContenedor: NotRequired[str]
    """The number of the container. · Número de contenedor."""
    NumeroReferencia: NotRequired[str]
    """A reference number of the shipment. · Número de referencia del embarque."""
    PesoBruto: NotRequired["EcfQuantity"]
    """The gross weight of the shipment. · Peso bruto del embarque."""
    PesoNeto: NotRequired["EcfQuantity"]
    """The net weight of the shipment. · Peso neto del embarque."""
    UnidadPesoBruto: NotRequired["EcfUnit"]
    """The unit of the gross weight. · Unidad de medida del peso bruto."""
    UnidadPesoNeto: NotRequired["EcfUnit"]
    """The unit of the net weight. · Unidad de medida del peso neto."""
    CantidadBulto: NotRequired["EcfQuantity"]
    """How many packages there are. · Cantidad de bultos."""
    UnidadBulto: NotRequired["EcfUnit"]
    """What the packages are: boxes, sacks and so on. · Unidad de los bultos: cajas, sacos, etc."""
    VolumenBulto: NotRequired["EcfQuantityAbove0"]
    """The volume of the packages. · Volumen de los bultos."""
    UnidadVolumen: NotRequired["EcfUnit"]
    """The unit of that volume. · Unidad de medida de ese volumen."""


class EcfInformacionesAdicionales46(TypedDict):
    """EcfInformacionesAdicionales46"""

    FechaEmbarque: NotRequired["EcfDate"]
    """The day on which it is shipped. · Fecha de embarque."""
    NumeroEmbarque: NotRequired[str]
    """The number of the shipment. · Número de embarque."""
    NumeroContenedor: NotRequired[str]
    """The number of the container. · Número de contenedor."""
    NumeroReferencia: NotRequired["EcfWhole20"]
    """A reference number of the shipment. · Número de referencia del embarque."""
    NombrePuertoEmbarque: NotRequired[str]
    """The port where it is loaded. · Puerto de embarque."""
    CondicionesEntrega: NotRequired[str]
    """3 to 3 characters without digits, the last one a letter. De 3 a 3 caracteres sin dígitos, el último una letra. The terms of delivery, as the three letters of an Incoterm, such as FOB or CIF. · Condiciones de entrega: las tres letras del Incoterm, como FOB o CIF."""
    TotalFob: NotRequired["EcfAmountAbove0"]
    """The value of the goods on board (FOB). · Valor FOB de la mercancía."""
    Seguro: NotRequired["EcfAmountAbove0"]
    """The cost of insurance. · Costo del seguro."""
    Flete: NotRequired["EcfAmountAbove0"]
    """The cost of freight. · Costo del flete."""
    OtrosGastos: NotRequired["EcfAmountAbove0"]
    """Other costs of the shipment. · Otros gastos del embarque."""
    TotalCif: NotRequired["EcfAmount"]
    """The value with insurance and freight (CIF). · Valor CIF: con seguro y flete."""
    RegimenAduanero: NotRequired[str]
    """3 to 35 characters without digits, the last one a letter. De 3 a 35 caracteres sin dígitos, el último una letra. The customs regime under which it leaves the country. · Régimen aduanero con que sale del país."""
    NombrePuertoSalida: NotRequired[str]
    """The port where it leaves the country. · Puerto de salida del país."""
    NombrePuertoDesembarque: NotRequired[str]
    """The port where it is unloaded. · Puerto de desembarque."""
    PesoBruto: NotRequired["EcfQuantity"]
    """The gross weight of the shipment. · Peso bruto del embarque."""
    PesoNeto: NotRequired["EcfQuantity"]
    """The net weight of the shipment. · Peso neto del embarque."""
    UnidadPesoBruto: NotRequired["EcfUnit"]
    """The unit of the gross weight. · Unidad de medida del peso bruto."""
    UnidadPesoNeto: NotRequired["EcfUnit"]
    """The unit of the net weight. · Unidad de medida del peso neto."""
    CantidadBulto: NotRequired["EcfQuantity"]
    """How many packages there are. · Cantidad de bultos."""
    UnidadBulto: NotRequired["EcfUnit"]
    """What the packages are: boxes, sacks and so on. · Unidad de los bultos: cajas, sacos, etc."""
    VolumenBulto: NotRequired["EcfQuantityAbove0"]
    """The volume of the packages. · Volumen de los bultos."""
    UnidadVolumen: NotRequired["EcfUnit"]
    """The unit of that volume. · Unidad de medida de ese volumen."""


class EcfItem31(TypedDict):
    """EcfItem31"""

    NumeroLinea: NotRequired["EcfTo1000"]
    """The number of the line, from 1 without gaps. Filled in where left out: its place in the list, from 1. · Número de la línea, desde 1 y sin saltos. Si falta, se completa: su lugar en la lista, desde 1."""
    TablaCodigosItem: NotRequired["EcfTablaCodigosItem"]
    """Codes of the article, up to five. · Códigos del artículo, hasta cinco."""
    IndicadorFacturacion: NotRequired["EcfBillableIndicator"]
    """How the line is taxed: at 18%, 16%, 0%, exempt, or not billable. Not billable (0) only as XML. Filled in where left out: 4 (exempt). · Cómo se grava la línea: 18 %, 16 %, 0 %, exenta o no facturable. No facturable (0), solo en XML. Si falta, se completa: 4 (exento)."""
    Retencion: NotRequired["EcfRetencion31"]
    """Taxes withheld or perceived on this line. · Impuestos retenidos o percibidos en esta línea."""
    NombreItem: str
    """What the good or service is called. · Nombre del bien o servicio."""
    IndicadorBienoServicio: "EcfGoodsOrService"
    """Whether it is goods or a service. · Si es un bien o un servicio."""
    DescripcionItem: NotRequired[str]
    """A longer description. · Una descripción más amplia."""
    CantidadItem: "EcfQuantityAbove0"
    """How many or how much. · Cantidad."""
    UnidadMedida: NotRequired["EcfUnit"]
    """The unit of the quantity, as a code: 43 is a unit. · Unidad de medida, por su código: 43 es unidad."""
    CantidadReferencia: NotRequired["EcfQuantity"]
    """How many articles are in one unit sold: 24 bottles in a box. For selective taxes. · Cuántos artículos trae cada unidad vendida: 24 botellas por caja. Para el selectivo."""
    UnidadReferencia: NotRequired["EcfUnit"]
    """The unit of these articles: bottle, pack. · Unidad de esos artículos: botella, cajetilla."""
    TablaSubcantidad: NotRequired["EcfTablaSubcantidad"]
    """What one article holds, for selective taxes on alcohol. · Contenido de cada artículo, para el selectivo de los alcoholes."""
    GradosAlcohol: NotRequired["EcfPercentage"]
    """The strength of the alcohol, in per cent by volume. · Grados de alcohol, en porcentaje por volumen."""
    PrecioUnitarioReferencia: NotRequired["EcfAmountAbove0"]
    """The retail price of one article, from which the selective tax by price is computed. · Precio al detalle de cada artículo, base del selectivo ad valorem."""
    FechaElaboracion: NotRequired["EcfDate"]
    """When the article was made. · Fecha de elaboración del artículo."""
    FechaVencimientoItem: NotRequired["EcfDate"]
    """When the article expires. · Fecha de vencimiento del artículo."""
    PrecioUnitarioItem: "EcfPrice"
    """The price of one unit, with up to four decimals; with ITBIS if IndicadorMontoGravado is 1. · Precio unitario, con hasta cuatro decimales; con ITBIS si IndicadorMontoGravado es 1."""
    DescuentoMonto: NotRequired["EcfAmount"]
    """The discount of the line, in pesos: the sum of its parts. Filled in where left out: the sum of TablaSubDescuento. · Descuento de la línea, en pesos: la suma de sus partes. Si falta, se completa: la suma de TablaSubDescuento."""
    TablaSubDescuento: NotRequired["EcfTablaSubDescuento"]
    """The parts of which that discount consists. Filled in where left out: one row with DescuentoMonto. · Las partes que componen ese descuento. Si falta, se completa: una fila con DescuentoMonto."""
    RecargoMonto: NotRequired["EcfAmount"]
    """The surcharge of the line, in pesos: the sum of its parts. Filled in where left out: the sum of TablaSubRecargo. · Recargo de la línea, en pesos: la suma de sus partes. Si falta, se completa: la suma de TablaSubRecargo."""
    TablaSubRecargo: NotRequired["EcfTablaSubRecargo"]
    """The parts of which that surcharge consists. Filled in where left out: one row with RecargoMonto. · Las partes que componen ese recargo. Si falta, se completa: una fila con RecargoMonto."""
    TablaImpuestoAdicional: NotRequired["EcfTablaImpuestoAdicional"]
    """The additional taxes that the line bears, two at most. · Los impuestos adicionales que lleva la línea, dos como máximo."""
    OtraMonedaDetalle: NotRequired["EcfOtraMonedaDetalle"]
    """The line in the other currency. · La línea en la otra moneda."""
    MontoItem: NotRequired["EcfAmount"]
    """The amount of the line: quantity times price, less discount, plus surcharge. Filled in where left out: price by quantity, less discounts, plus surcharges. · Monto de la línea: cantidad por precio, menos descuento, más recargo. Si falta, se completa: precio por cantidad, menos descuentos, más recargos."""


class EcfItem32(TypedDict):
    """EcfItem32"""

    NumeroLinea: NotRequired["EcfTo1000"]
    """The number of the line, from 1 without gaps. Filled in where left out: its place in the list, from 1. · Número de la línea, desde 1 y sin saltos. Si falta, se completa: su lugar en la lista, desde 1."""
    TablaCodigosItem: NotRequired["EcfTablaCodigosItem"]
    """Codes of the article, up to five. · Códigos del artículo, hasta cinco."""
    IndicadorFacturacion: NotRequired["EcfBillableIndicator"]
    """How the line is taxed: at 18%, 16%, 0%, exempt, or not billable. Not billable (0) only as XML. Filled in where left out: 4 (exempt). · Cómo se grava la línea: 18 %, 16 %, 0 %, exenta o no facturable. No facturable (0), solo en XML. Si falta, se completa: 4 (exento)."""
    NombreItem: str
    """What the good or service is called. · Nombre del bien o servicio."""
    IndicadorBienoServicio: "EcfGoodsOrService"
    """Whether it is goods or a service. · Si es un bien o un servicio."""
    DescripcionItem: NotRequired[str]
    """A longer description. · Una descripción más amplia."""
    CantidadItem: "EcfQuantityAbove0"
    """How many or how much. · Cantidad."""
    UnidadMedida: NotRequired["EcfUnit"]
    """The unit of the quantity, as a code: 43 is a unit. · Unidad de medida, por su código: 43 es unidad."""
    CantidadReferencia: NotRequired["EcfQuantity"]
    """How many articles are in one unit sold: 24 bottles in a box. For selective taxes. · Cuántos artículos trae cada unidad vendida: 24 botellas por caja. Para el selectivo."""
    UnidadReferencia: NotRequired["EcfUnit"]
    """The unit of these articles: bottle, pack. · Unidad de esos artículos: botella, cajetilla."""
    TablaSubcantidad: NotRequired["EcfTablaSubcantidad"]
    """What one article holds, for selective taxes on alcohol. · Contenido de cada artículo, para el selectivo de los alcoholes."""
    GradosAlcohol: NotRequired["EcfPercentage"]
    """The strength of the alcohol, in per cent by volume. · Grados de alcohol, en porcentaje por volumen."""
    PrecioUnitarioReferencia: NotRequired["EcfAmountAbove0"]
    """The retail price of one article, from which the selective tax by price is computed. · Precio al detalle de cada artículo, base del selectivo ad valorem."""
    FechaElaboracion: NotRequired["EcfDate"]
    """When the article was made. · Fecha de elaboración del artículo."""
    FechaVencimientoItem: NotRequired["EcfDate"]
    """When the article expires. · Fecha de vencimiento del artículo."""
    Mineria: NotRequired["EcfMineria"]
    """What is said of minerals. · Datos de minería."""
    PrecioUnitarioItem: "EcfPrice"
    """The price of one unit, with up to four decimals; with ITBIS if IndicadorMontoGravado is 1. · Precio unitario, con hasta cuatro decimales; con ITBIS si IndicadorMontoGravado es 1."""
    DescuentoMonto: NotRequired["EcfAmount"]
    """The discount of the line, in pesos: the sum of its parts. Filled in where left out: the sum of TablaSubDescuento. · Descuento de la línea, en pesos: la suma de sus partes. Si falta, se completa: la suma de TablaSubDescuento."""
    TablaSubDescuento: NotRequired["EcfTablaSubDescuento"]
    """The parts of which that discount consists. Filled in where left out: one row with DescuentoMonto. · Las partes que componen ese descuento. Si falta, se completa: una fila con DescuentoMonto."""
    RecargoMonto: NotRequired["EcfAmount"]
    """The surcharge of the line, in pesos: the sum of its parts. Filled in where left out: the sum of TablaSubRecargo. · Recargo de la línea, en pesos: la suma de sus partes. Si falta, se completa: la suma de TablaSubRecargo."""
    TablaSubRecargo: NotRequired["EcfTablaSubRecargo"]
    """The parts of which that surcharge consists. Filled in where left out: one row with RecargoMonto. · Las partes que componen ese recargo. Si falta, se completa: una fila con RecargoMonto."""
    TablaImpuestoAdicional: NotRequired["EcfTablaImpuestoAdicional"]
    """The additional taxes that the line bears, two at most. · Los impuestos adicionales que lleva la línea, dos como máximo."""
    OtraMonedaDetalle: NotRequired["EcfOtraMonedaDetalle"]
    """The line in the other currency. · La línea en la otra moneda."""
    MontoItem: NotRequired["EcfAmount"]
    """The amount of the line: quantity times price, less discount, plus surcharge. Filled in where left out: price by quantity, less discounts, plus surcharges. · Monto de la línea: cantidad por precio, menos descuento, más recargo. Si falta, se completa: precio por cantidad, menos descuentos, más recargos."""


class EcfItem33(TypedDict):
    """EcfItem33"""

    NumeroLinea: NotRequired["EcfTo10000"]
    """The number of the line, from 1 without gaps. Filled in where left out: its place in the list, from 1. · Número de la línea, desde 1 y sin saltos. Si falta, se completa: su lugar en la lista, desde 1."""
    TablaCodigosItem: NotRequired["EcfTablaCodigosItem"]
    """Codes of the article, up to five. · Códigos del artículo, hasta cinco."""
    IndicadorFacturacion: NotRequired["EcfBillingIndicator"]
    """How the line is taxed: at 18%, 16%, 0%, exempt, or not billable. Not billable (0) only as XML. Filled in where left out: 4 (exempt). · Cómo se grava la línea: 18 %, 16 %, 0 %, exenta o no facturable. No facturable (0), solo en XML. Si falta, se completa: 4 (exento)."""
    Retencion: NotRequired["EcfRetencion31"]
    """Taxes withheld or perceived on this line. · Impuestos retenidos o percibidos en esta línea."""
    NombreItem: str
    """What the good or service is called. · Nombre del bien o servicio."""
    IndicadorBienoServicio: "EcfGoodsOrService"
    """Whether it is goods or a service. · Si es un bien o un servicio."""
    DescripcionItem: NotRequired[str]
    """A longer description. · Una descripción más amplia."""
    CantidadItem: "EcfQuantityAbove0"
    """How many or how much. · Cantidad."""
    UnidadMedida: NotRequired["EcfUnit"]
    """The unit of the quantity, as a code: 43 is a unit. · Unidad de medida, por su código: 43 es unidad."""
    CantidadReferencia: NotRequired["EcfQuantity"]
    """How many articles are in one unit sold: 24 bottles in a box. For selective taxes. · Cuántos artículos trae cada unidad vendida: 24 botellas por caja. Para el selectivo."""
    UnidadReferencia: NotRequired["EcfUnit"]
    """The unit of these articles: bottle, pack. · Unidad de esos artículos: botella, cajetilla."""
    TablaSubcantidad: NotRequired["EcfTablaSubcantidad"]
    """What one article holds, for selective taxes on alcohol. · Contenido de cada artículo, para el selectivo de los alcoholes."""
    GradosAlcohol: NotRequired["EcfPercentage"]
    """The strength of the alcohol, in per cent by volume. · Grados de alcohol, en porcentaje por volumen."""
    PrecioUnitarioReferencia: NotRequired["EcfAmountAbove0"]
    """The retail price of one article, from which the selective tax by price is computed. · Precio al detalle de cada artículo, base del selectivo ad valorem."""
    FechaElaboracion: NotRequired["EcfDate"]
    """When the article was made. · Fecha de elaboración del artículo."""
    FechaVencimientoItem: NotRequired["EcfDate"]
    """When the article expires. · Fecha de vencimiento del artículo."""
    Mineria: NotRequired["EcfMineria"]
    """What is said of minerals. · Datos de minería."""
    PrecioUnitarioItem: "EcfPrice"
    """The price of one unit, with up to four decimals; with ITBIS if IndicadorMontoGravado is 1. · Precio unitario, con hasta cuatro decimales; con ITBIS si IndicadorMontoGravado es 1."""
    DescuentoMonto: NotRequired["EcfAmount"]
    """The discount of the line, in pesos: the sum of its parts. Filled in where left out: the sum of TablaSubDescuento. · Descuento de la línea, en pesos: la suma de sus partes. Si falta, se completa: la suma de TablaSubDescuento."""
    TablaSubDescuento: NotRequired["EcfTablaSubDescuento"]
    """The parts of which that discount consists. Filled in where left out: one row with DescuentoMonto. · Las partes que componen ese descuento. Si falta, se completa: una fila con DescuentoMonto."""
    RecargoMonto: NotRequired["EcfAmount"]
    """The surcharge of the line, in pesos: the sum of its parts. Filled in where left out: the sum of TablaSubRecargo. · Recargo de la línea, en pesos: la suma de sus partes. Si falta, se completa: la suma de TablaSubRecargo."""
    TablaSubRecargo: NotRequired["EcfTablaSubRecargo"]
    """The parts of which that surcharge consists. Filled in where left out: one row with RecargoMonto. · Las partes que componen ese recargo. Si falta, se completa: una fila con RecargoMonto."""
    TablaImpuestoAdicional: NotRequired["EcfTablaImpuestoAdicional"]
    """The additional taxes that the line bears, two at most. · Los impuestos adicionales que lleva la línea, dos como máximo."""
    OtraMonedaDetalle: NotRequired["EcfOtraMonedaDetalle"]
    """The line in the other currency. · La línea en la otra moneda."""
    MontoItem: NotRequired["EcfAmount"]
    """The amount of the line: quantity times price, less discount, plus surcharge. Filled in where left out: price by quantity, less discounts, plus surcharges. · Monto de la línea: cantidad por precio, menos descuento, más recargo. Si falta, se completa: precio por cantidad, menos descuentos, más recargos."""


class EcfItem41(TypedDict):
    """EcfItem41"""

    NumeroLinea: NotRequired["EcfTo1000"]
    """The number of the line, from 1 without gaps. Filled in where left out: its place in the list, from 1. · Número de la línea, desde 1 y sin saltos. Si falta, se completa: su lugar en la lista, desde 1."""
    TablaCodigosItem: NotRequired["EcfTablaCodigosItem"]
    """Codes of the article, up to five. · Códigos del artículo, hasta cinco."""
    IndicadorFacturacion: NotRequired["EcfBillableIndicator"]
    """How the line is taxed: at 18%, 16%, 0%, exempt, or not billable. Not billable (0) only as XML. Filled in where left out: 4 (exempt). · Cómo se grava la línea: 18 %, 16 %, 0 %, exenta o no facturable. No facturable (0), solo en XML. Si falta, se completa: 4 (exento)."""
    Retencion: "EcfRetencion41"
    """Taxes withheld or perceived on this line. · Impuestos retenidos o percibidos en esta línea."""
    NombreItem: str
    """What the good or service is called. · Nombre del bien o servicio."""
    IndicadorBienoServicio: "EcfGoodsOrService"
    """Whether it is goods or a service. · Si es un bien o un servicio."""
    DescripcionItem: NotRequired[str]
    """A longer description. · Una descripción más amplia."""
    CantidadItem: "EcfQuantityAbove0"
    """How many or how much. · Cantidad."""
    UnidadMedida: NotRequired["EcfUnit"]
    """The unit of the quantity, as a code: 43 is a unit. · Unidad de medida, por su código: 43 es unidad."""
    FechaElaboracion: NotRequired["EcfDate"]
    """When the article was made. · Fecha de elaboración del artículo."""
    FechaVencimientoItem: NotRequired["EcfDate"]
    """When the article expires. · Fecha de vencimiento del artículo."""
    PrecioUnitarioItem: "EcfPrice"
    """The price of one unit, with up to four decimals; with ITBIS if IndicadorMontoGravado is 1. · Precio unitario, con hasta cuatro decimales; con ITBIS si IndicadorMontoGravado es 1."""
    DescuentoMonto: NotRequired["EcfAmount"]
    """The discount of the line, in pesos: the sum of its parts. Filled in where left out: the sum of TablaSubDescuento. · Descuento de la línea, en pesos: la suma de sus partes. Si falta, se completa: la suma de TablaSubDescuento."""
    TablaSubDescuento: NotRequired["EcfTablaSubDescuento"]
    """The parts of which that discount consists. Filled in where left out: one row with DescuentoMonto. · Las partes que componen ese descuento. Si falta, se completa: una fila con DescuentoMonto."""
    RecargoMonto: NotRequired["EcfAmount"]
    """The surcharge of the line, in pesos: the sum of its parts. Filled in where left out: the sum of TablaSubRecargo. · Recargo de la línea, en pesos: la suma de sus partes. Si falta, se completa: la suma de TablaSubRecargo."""
    TablaSubRecargo: NotRequired["EcfTablaSubRecargo"]
    """The parts of which that surcharge consists. Filled in where left out: one row with RecargoMonto. · Las partes que componen ese recargo. Si falta, se completa: una fila con RecargoMonto."""
    OtraMonedaDetalle: NotRequired["EcfOtraMonedaDetalle"]
    """The line in the other currency. · La línea en la otra moneda."""
    MontoItem: NotRequired["EcfAmount"]
    """The amount of the line: quantity times price, less discount, plus surcharge. Filled in where left out: price by quantity, less discounts, plus surcharges. · Monto de la línea: cantidad por precio, menos descuento, más recargo. Si falta, se completa: precio por cantidad, menos descuentos, más recargos."""


class EcfItem43(TypedDict):
    """EcfItem43"""

    NumeroLinea: NotRequired["EcfTo1000"]
    """The number of the line, from 1 without gaps. Filled in where left out: its place in the list, from 1. · Número de la línea, desde 1 y sin saltos. Si falta, se completa: su lugar en la lista, desde 1."""
    TablaCodigosItem: NotRequired["EcfTablaCodigosItem"]
    """Codes of the article, up to five. · Códigos del artículo, hasta cinco."""
    IndicadorFacturacion: NotRequired["EcfBillableIndicator"]
    """How the line is taxed: at 18%, 16%, 0%, exempt, or not billable. Not billable (0) only as XML. Filled in where left out: 4 (exempt). · Cómo se grava la línea: 18 %, 16 %, 0 %, exenta o no facturable. No facturable (0), solo en XML. Si falta, se completa: 4 (exento)."""
    NombreItem: str
    """What the good or service is called. · Nombre del bien o servicio."""
    IndicadorBienoServicio: "EcfGoodsOrService"
    """Whether it is goods or a service. · Si es un bien o un servicio."""
    DescripcionItem: NotRequired[str]
    """A longer description. · Una descripción más amplia."""
    CantidadItem: "EcfQuantityAbove0"
    """How many or how much. · Cantidad."""
    UnidadMedida: NotRequired["EcfUnit"]
    """The unit of the quantity, as a code: 43 is a unit. · Unidad de medida, por su código: 43 es unidad."""
    PrecioUnitarioItem: "EcfPrice"
    """The price of one unit, with up to four decimals; with ITBIS if IndicadorMontoGravado is 1. · Precio unitario, con hasta cuatro decimales; con ITBIS si IndicadorMontoGravado es 1."""
    OtraMonedaDetalle: NotRequired["EcfOtraMonedaDetalle"]
    """The line in the other currency. · La línea en la otra moneda."""
    MontoItem: NotRequired["EcfAmount"]
    """The amount of the line: quantity times price, less discount, plus surcharge. Filled in where left out: price by quantity, less discounts, plus surcharges. · Monto de la línea: cantidad por precio, menos descuento, más recargo. Si falta, se completa: precio por cantidad, menos descuentos, más recargos."""


class EcfItem44(TypedDict):
    """EcfItem44"""

    NumeroLinea: NotRequired["EcfTo1000"]
    """The number of the line, from 1 without gaps. Filled in where left out: its place in the list, from 1. · Número de la línea, desde 1 y sin saltos. Si falta, se completa: su lugar en la lista, desde 1."""
    TablaCodigosItem: NotRequired["EcfTablaCodigosItem"]
    """Codes of the article, up to five. · Códigos del artículo, hasta cinco."""
    IndicadorFacturacion: NotRequired["EcfBillableIndicator"]
    """How the line is taxed: at 18%, 16%, 0%, exempt, or not billable. Not billable (0) only as XML. Filled in where left out: 4 (exempt). · Cómo se grava la línea: 18 %, 16 %, 0 %, exenta o no facturable. No facturable (0), solo en XML. Si falta, se completa: 4 (exento)."""
    NombreItem: str
    """What the good or service is called. · Nombre del bien o servicio."""
    IndicadorBienoServicio: "EcfGoodsOrService"
    """Whether it is goods or a service. · Si es un bien o un servicio."""
    DescripcionItem: NotRequired[str]
    """A longer description. · Una descripción más amplia."""
    CantidadItem: "EcfQuantityAbove0"
    """How many or how much. · Cantidad."""
    UnidadMedida: NotRequired["EcfUnit"]
    """The unit of the quantity, as a code: 43 is a unit. · Unidad de medida, por su código: 43 es unidad."""
    FechaElaboracion: NotRequired["EcfDate"]
    """When the article was made. · Fecha de elaboración del artículo."""
    FechaVencimientoItem: NotRequired["EcfDate"]
    """When the article expires. · Fecha de vencimiento del artículo."""
    PrecioUnitarioItem: "EcfPrice"
    """The price of one unit, with up to four decimals; with ITBIS if IndicadorMontoGravado is 1. · Precio unitario, con hasta cuatro decimales; con ITBIS si IndicadorMontoGravado es 1."""
    DescuentoMonto: NotRequired["EcfAmount"]
    """The discount of the line, in pesos: the sum of its parts. Filled in where left out: the sum of TablaSubDescuento. · Descuento de la línea, en pesos: la suma de sus partes. Si falta, se completa: la suma de TablaSubDescuento."""
    TablaSubDescuento: NotRequired["EcfTablaSubDescuento"]
    """The parts of which that discount consists. Filled in where left out: one row with DescuentoMonto. · Las partes que componen ese descuento. Si falta, se completa: una fila con DescuentoMonto."""
    RecargoMonto: NotRequired["EcfAmount"]
    """The surcharge of the line, in pesos: the sum of its parts. Filled in where left out: the sum of TablaSubRecargo. · Recargo de la línea, en pesos: la suma de sus partes. Si falta, se completa: la suma de TablaSubRecargo."""
    TablaSubRecargo: NotRequired["EcfTablaSubRecargo"]
    """The parts of which that surcharge consists. Filled in where left out: one row with RecargoMonto. · Las partes que componen ese recargo. Si falta, se completa: una fila con RecargoMonto."""
    TablaImpuestoAdicional: NotRequired["EcfTablaImpuestoAdicional"]
    """The additional taxes that the line bears, two at most. · Los impuestos adicionales que lleva la línea, dos como máximo."""
    OtraMonedaDetalle: NotRequired["EcfOtraMonedaDetalle"]
    """The line in the other currency. · La línea en la otra moneda."""
    MontoItem: NotRequired["EcfAmount"]
    """The amount of the line: quantity times price, less discount, plus surcharge. Filled in where left out: price by quantity, less discounts, plus surcharges. · Monto de la línea: cantidad por precio, menos descuento, más recargo. Si falta, se completa: precio por cantidad, menos descuentos, más recargos."""


class EcfItem45(TypedDict):
    """EcfItem45"""

    NumeroLinea: NotRequired["EcfTo1000"]
    """The number of the line, from 1 without gaps. Filled in where left out: its place in the list, from 1. · Número de la línea, desde 1 y sin saltos. Si falta, se completa: su lugar en la lista, desde 1."""
    TablaCodigosItem: NotRequired["EcfTablaCodigosItem"]
    """Codes of the article, up to five. · Códigos del artículo, hasta cinco."""
    IndicadorFacturacion: NotRequired["EcfBillableIndicator"]
    """How the line is taxed: at 18%, 16%, 0%, exempt, or not billable. Not billable (0) only as XML. Filled in where left out: 4 (exempt). · Cómo se grava la línea: 18 %, 16 %, 0 %, exenta o no facturable. No facturable (0), solo en XML. Si falta, se completa: 4 (exento)."""
    NombreItem: str
    """What the good or service is called. · Nombre del bien o servicio."""
    IndicadorBienoServicio: "EcfGoodsOrService"
    """Whether it is goods or a service. · Si es un bien o un servicio."""
    DescripcionItem: NotRequired[str]
    """A longer description. · Una descripción más amplia."""
    CantidadItem: "EcfQuantityAbove0"
    """How many or how much. · Cantidad."""
    UnidadMedida: NotRequired["EcfUnit"]
    """The unit of the quantity, as a code: 43 is a unit. · Unidad de medida, por su código: 43 es unidad."""
    CantidadReferencia: NotRequired["EcfQuantity"]
    """How many articles are in one unit sold: 24 bottles in a box. For selective taxes. · Cuántos artículos trae cada unidad vendida: 24 botellas por caja. Para el selectivo."""
    UnidadReferencia: NotRequired["EcfUnit"]
    """The unit of these articles: bottle, pack. · Unidad de esos artículos: botella, cajetilla."""
    TablaSubcantidad: NotRequired["EcfTablaSubcantidad"]
    """What one article holds, for selective taxes on alcohol. · Contenido de cada artículo, para el selectivo de los alcoholes."""
    GradosAlcohol: NotRequired["EcfPercentage"]
    """The strength of the alcohol, in per cent by volume. · Grados de alcohol, en porcentaje por volumen."""
    PrecioUnitarioReferencia: NotRequired["EcfAmountAbove0"]
    """The retail price of one article, from which the selective tax by price is computed. · Precio al detalle de cada artículo, base del selectivo ad valorem."""
    FechaElaboracion: NotRequired["EcfDate"]
    """When the article was made. · Fecha de elaboración del artículo."""
    FechaVencimientoItem: NotRequired["EcfDate"]
    """When the article expires. · Fecha de vencimiento del artículo."""
    PrecioUnitarioItem: "EcfPrice"
    """The price of one unit, with up to four decimals; with ITBIS if IndicadorMontoGravado is 1. · Precio unitario, con hasta cuatro decimales; con ITBIS si IndicadorMontoGravado es 1."""
    DescuentoMonto: NotRequired["EcfAmount"]
    """The discount of the line, in pesos: the sum of its parts. Filled in where left out: the sum of TablaSubDescuento. · Descuento de la línea, en pesos: la suma de sus partes. Si falta, se completa: la suma de TablaSubDescuento."""
    TablaSubDescuento: NotRequired["EcfTablaSubDescuento"]
    """The parts of which that discount consists. Filled in where left out: one row with DescuentoMonto. · Las partes que componen ese descuento. Si falta, se completa: una fila con DescuentoMonto."""
    RecargoMonto: NotRequired["EcfAmount"]
    """The surcharge of the line, in pesos: the sum of its parts. Filled in where left out: the sum of TablaSubRecargo. · Recargo de la línea, en pesos: la suma de sus partes. Si falta, se completa: la suma de TablaSubRecargo."""
    TablaSubRecargo: NotRequired["EcfTablaSubRecargo"]
    """The parts of which that surcharge consists. Filled in where left out: one row with RecargoMonto. · Las partes que componen ese recargo. Si falta, se completa: una fila con RecargoMonto."""
    TablaImpuestoAdicional: NotRequired["EcfTablaImpuestoAdicional"]
    """The additional taxes that the line bears, two at most. · Los impuestos adicionales que lleva la línea, dos como máximo."""
    OtraMonedaDetalle: NotRequired["EcfOtraMonedaDetalle"]
    """The line in the other currency. · La línea en la otra moneda."""
    MontoItem: NotRequired["EcfAmount"]
    """The amount of the line: quantity times price, less discount, plus surcharge. Filled in where left out: price by quantity, less discounts, plus surcharges. · Monto de la línea: cantidad por precio, menos descuento, más recargo. Si falta, se completa: precio por cantidad, menos descuentos, más recargos."""


class EcfItem46(TypedDict):
    """EcfItem46"""

    NumeroLinea: NotRequired["EcfTo1000"]
    """The number of the line, from 1 without gaps. Filled in where left out: its place in the list, from 1. · Número de la línea, desde 1 y sin saltos. Si falta, se completa: su lugar en la lista, desde 1."""
    TablaCodigosItem: NotRequired["EcfTablaCodigosItem"]
    """Codes of the article, up to five. · Códigos del artículo, hasta cinco."""
    IndicadorFacturacion: NotRequired["EcfBillableIndicator"]
    """How the line is taxed: at 18%, 16%, 0%, exempt, or not billable. Not billable (0) only as XML. Filled in where left out: 4 (exempt). · Cómo se grava la línea: 18 %, 16 %, 0 %, exenta o no facturable. No facturable (0), solo en XML. Si falta, se completa: 4 (exento)."""
    NombreItem: str
    """What the good or service is called. · Nombre del bien o servicio."""
    IndicadorBienoServicio: "EcfGoodsOrService"
    """Whether it is goods or a service. · Si es un bien o un servicio."""
    DescripcionItem: NotRequired[str]
    """A longer description. · Una descripción más amplia."""
    CantidadItem: "EcfQuantityAbove0"
    """How many or how much. · Cantidad."""
    UnidadMedida: NotRequired["EcfUnit"]
    """The unit of the quantity, as a code: 43 is a unit. · Unidad de medida, por su código: 43 es unidad."""
    FechaElaboracion: NotRequired["EcfDate"]
    """When the article was made. · Fecha de elaboración del artículo."""
    FechaVencimientoItem: NotRequired["EcfDate"]
    """When the article expires. · Fecha de vencimiento del artículo."""
    Mineria: NotRequired["EcfMineria"]
    """What is said of minerals. · Datos de minería."""
    PrecioUnitarioItem: "EcfPrice"
    """The price of one unit, with up to four decimals; with ITBIS if IndicadorMontoGravado is 1. · Precio unitario, con hasta cuatro decimales; con ITBIS si IndicadorMontoGravado es 1."""
    DescuentoMonto: NotRequired["EcfAmount"]
    """The discount of the line, in pesos: the sum of its parts. Filled in where left out: the sum of TablaSubDescuento. · Descuento de la línea, en pesos: la suma de sus partes. Si falta, se completa: la suma de TablaSubDescuento."""
    TablaSubDescuento: NotRequired["EcfTablaSubDescuento"]
    """The parts of which that discount consists. Filled in where left out: one row with DescuentoMonto. · Las partes que componen ese descuento. Si falta, se completa: una fila con DescuentoMonto."""
    RecargoMonto: NotRequired["EcfAmount"]
    """The surcharge of the line, in pesos: the sum of its parts. Filled in where left out: the sum of TablaSubRecargo. · Recargo de la línea, en pesos: la suma de sus partes. Si falta, se completa: la suma de TablaSubRecargo."""
    TablaSubRecargo: NotRequired["EcfTablaSubRecargo"]
    """The parts of which that surcharge consists. Filled in where left out: one row with RecargoMonto. · Las partes que componen ese recargo. Si falta, se completa: una fila con RecargoMonto."""
    OtraMonedaDetalle: NotRequired["EcfOtraMonedaDetalle"]
    """The line in the other currency. · La línea en la otra moneda."""
    MontoItem: NotRequired["EcfAmount"]
    """The amount of the line: quantity times price, less discount, plus surcharge. Filled in where left out: price by quantity, less discounts, plus surcharges. · Monto de la línea: cantidad por precio, menos descuento, más recargo. Si falta, se completa: precio por cantidad, menos descuentos, más recargos."""


class EcfItem47(TypedDict):
    """EcfItem47"""

    NumeroLinea: NotRequired["EcfTo1000"]
    """The number of the line, from 1 without gaps. Filled in where left out: its place in the list, from 1. · Número de la línea, desde 1 y sin saltos. Si falta, se completa: su lugar en la lista, desde 1."""
    TablaCodigosItem: NotRequired["EcfTablaCodigosItem"]
    """Codes of the article, up to five. · Códigos del artículo, hasta cinco."""
    IndicadorFacturacion: NotRequired["EcfBillableIndicator"]
    """How the line is taxed: at 18%, 16%, 0%, exempt, or not billable. Not billable (0) only as XML. Filled in where left out: 4 (exempt). · Cómo se grava la línea: 18 %, 16 %, 0 %, exenta o no facturable. No facturable (0), solo en XML. Si falta, se completa: 4 (exento)."""
    Retencion: "EcfRetencion47"
    """Taxes withheld or perceived on this line. · Impuestos retenidos o percibidos en esta línea."""
    NombreItem: str
    """What the good or service is called. · Nombre del bien o servicio."""
    IndicadorBienoServicio: "EcfGoodsOrService"
    """Whether it is goods or a service. · Si es un bien o un servicio."""
    DescripcionItem: NotRequired[str]
    """A longer description. · Una descripción más amplia."""
    CantidadItem: "EcfQuantityAbove0"
    """How many or how much. · Cantidad."""
    UnidadMedida: NotRequired["EcfUnit"]
    """The unit of the quantity, as a code: 43 is a unit. · Unidad de medida, por su código: 43 es unidad."""
    PrecioUnitarioItem: "EcfPrice"
    """The price of one unit, with up to four decimals; with ITBIS if IndicadorMontoGravado is 1. · Precio unitario, con hasta cuatro decimales; con ITBIS si IndicadorMontoGravado es 1."""
    OtraMonedaDetalle: NotRequired["EcfOtraMonedaDetalle"]
    """The line in the other currency. · La línea en la otra moneda."""
    MontoItem: NotRequired["EcfAmount"]
    """The amount of the line: quantity times price, less discount, plus surcharge. Filled in where left out: price by quantity, less discounts, plus surcharges. · Monto de la línea: cantidad por precio, menos descuento, más recargo. Si falta, se completa: precio por cantidad, menos descuentos, más recargos."""


class EcfItemImpuestoAdicional(TypedDict):
    """EcfItemImpuestoAdicional"""

    TipoImpuesto: "EcfAdditionalTax"
    """Which additional tax it is, by its code of three digits. · Qué impuesto adicional es, por su código de tres dígitos."""


class EcfMineria(TypedDict):
    """EcfMineria"""

    PesoNetoKilogramo: NotRequired["EcfFineQuantity"]
    """The net weight in kilograms. · Peso neto en kilogramos."""
    PesoNetoMineria: NotRequired["EcfFineQuantity"]
    """The net weight of the mineral, in its own unit. · Peso neto del mineral, en su propia unidad."""
    TipoAfiliacion: NotRequired["EcfAffiliation"]
    """Whether the buyer is affiliated with the seller. · Si el comprador es empresa afiliada."""
    Liquidacion: NotRequired["EcfSettlement"]
    """Whether the settlement is provisional or final. · Si la liquidación es provisional o final."""


#: `1` cancels the modified NCF · anula el NCF modificado; `2` corrects its text · corrige texto del comprobante modificado; `3` corrects its amounts · corrige montos del NCF modificado; `4` replaces an NCF issued in contingency · reemplaza un NCF emitido en contingencia; `5` references a consumer invoice · referencia una factura de consumo electrónica
EcfModification: TypeAlias = Literal["1", "2", "3", "4", "5"]


class EcfOtraMoneda31(TypedDict):
    """EcfOtraMoneda31"""

    TipoMoneda: NotRequired["EcfCurrency"]
    """The currency, as the authority spells it. · La moneda, como la escribe la DGII."""
    TipoCambio: NotRequired["EcfExchangeRate"]
    """How many pesos one unit of that currency is. · Cuántos pesos vale una unidad de esa moneda."""
    MontoGravadoTotalOtraMoneda: NotRequired["EcfAmount"]
    """MontoGravadoTotal in the other currency. Filled in where left out: the amount in pesos divided by TipoCambio. · MontoGravadoTotal en la otra moneda. Si falta, se completa: el monto en pesos dividido entre TipoCambio."""
    MontoGravado1OtraMoneda: NotRequired["EcfAmount"]
    """The amount taxed at 18%, in the other currency. Filled in where left out: the amount in pesos divided by TipoCambio. · Monto gravado al 18 %, en la otra moneda. Si falta, se completa: el monto en pesos dividido entre TipoCambio."""
    MontoGravado2OtraMoneda: NotRequired["EcfAmount"]
    """The amount taxed at 16%, in the other currency. Filled in where left out: the amount in pesos divided by TipoCambio. · Monto gravado al 16 %, en la otra moneda. Si falta, se completa: el monto en pesos dividido entre TipoCambio."""
    MontoGravado3OtraMoneda: NotRequired["EcfAmount"]
    """The amount taxed at 0%, in the other currency. Filled in where left out: the amount in pesos divided by TipoCambio. · Monto gravado a tasa 0 %, en la otra moneda. Si falta, se completa: el monto en pesos dividido entre TipoCambio."""
    MontoExentoOtraMoneda: NotRequired["EcfAmount"]
    """The exempt amount in the other currency. Filled in where left out: the amount in pesos divided by TipoCambio. · Monto exento en la otra moneda. Si falta, se completa: el monto en pesos dividido entre TipoCambio."""
    TotalITBISOtraMoneda: NotRequired["EcfAmount"]
    """The ITBIS of all rates in the other currency. Filled in where left out: the amount in pesos divided by TipoCambio. · ITBIS total en la otra moneda. Si falta, se completa: el monto en pesos dividido entre TipoCambio."""
    TotalITBIS1OtraMoneda: NotRequired["EcfAmount"]
    """The ITBIS at 18%, in the other currency. Filled in where left out: the amount in pesos divided by TipoCambio. · ITBIS al 18 %, en la otra moneda. Si falta, se completa: el monto en pesos dividido entre TipoCambio."""
    TotalITBIS2OtraMoneda: NotRequired["EcfAmount"]
    """The ITBIS at 16%, in the other currency. Filled in where left out: the amount in pesos divided by TipoCambio. · ITBIS al 16 %, en la otra moneda. Si falta, se completa: el monto en pesos dividido entre TipoCambio."""
    TotalITBIS3OtraMoneda: NotRequired["EcfAmount"]
    """The ITBIS at 0%, in the other currency: 0.00. Filled in where left out: the amount in pesos divided by TipoCambio. · ITBIS a tasa 0 %, en la otra moneda: 0.00. Si falta, se completa: el monto en pesos dividido entre TipoCambio."""
    MontoImpuestoAdicionalOtraMoneda: NotRequired["EcfAmountAbove0"]
    """All additional taxes, in the other currency. Filled in where left out: the amount in pesos divided by TipoCambio. · Suma de los impuestos adicionales, en la otra moneda. Si falta, se completa: el monto en pesos dividido entre TipoCambio."""
    ImpuestosAdicionalesOtraMoneda: NotRequired["EcfImpuestosAdicionalesOtraMoneda31"]
    """The additional taxes one by one, in the other currency. Filled in where left out: the amount in pesos divided by TipoCambio. · Los impuestos adicionales uno por uno, en la otra moneda. Si falta, se completa: el monto en pesos dividido entre TipoCambio."""
    MontoTotalOtraMoneda: NotRequired["EcfAmount"]
    """The total of the receipt in the other currency. Filled in where left out: the amount in pesos divided by TipoCambio. · Total del comprobante en la otra moneda. Si falta, se completa: el monto en pesos dividido entre TipoCambio."""


class EcfOtraMoneda41(TypedDict):
    """EcfOtraMoneda41"""

    TipoMoneda: NotRequired["EcfCurrency"]
    """The currency, as the authority spells it. · La moneda, como la escribe la DGII."""
    TipoCambio: NotRequired["EcfExchangeRateOr0"]
    """How many pesos one unit of that currency is. · Cuántos pesos vale una unidad de esa moneda."""
    MontoGravadoTotalOtraMoneda: NotRequired["EcfAmount"]
    """MontoGravadoTotal in the other currency. Filled in where left out: the amount in pesos divided by TipoCambio. · MontoGravadoTotal en la otra moneda. Si falta, se completa: el monto en pesos dividido entre TipoCambio."""
    MontoGravado1OtraMoneda: NotRequired["EcfAmount"]
    """The amount taxed at 18%, in the other currency. Filled in where left out: the amount in pesos divided by TipoCambio. · Monto gravado al 18 %, en la otra moneda. Si falta, se completa: el monto en pesos dividido entre TipoCambio."""
    MontoGravado2OtraMoneda: NotRequired["EcfAmount"]
    """The amount taxed at 16%, in the other currency. Filled in where left out: the amount in pesos divided by TipoCambio. · Monto gravado al 16 %, en la otra moneda. Si falta, se completa: el monto en pesos dividido entre TipoCambio."""
    MontoGravado3OtraMoneda: NotRequired["EcfAmount"]
    """The amount taxed at 0%, in the other currency. Filled in where left out: the amount in pesos divided by TipoCambio. · Monto gravado a tasa 0 %, en la otra moneda. Si falta, se completa: el monto en pesos dividido entre TipoCambio."""
    MontoExentoOtraMoneda: NotRequired["EcfAmount"]
    """The exempt amount in the other currency. Filled in where left out: the amount in pesos divided by TipoCambio. · Monto exento en la otra moneda. Si falta, se completa: el monto en pesos dividido entre TipoCambio."""
    TotalITBISOtraMoneda: NotRequired["EcfAmount"]
    """The ITBIS of all rates in the other currency. Filled in where left out: the amount in pesos divided by TipoCambio. · ITBIS total en la otra moneda. Si falta, se completa: el monto en pesos dividido entre TipoCambio."""
    TotalITBIS1OtraMoneda: NotRequired["EcfAmount"]
    """The ITBIS at 18%, in the other currency. Filled in where left out: the amount in pesos divided by TipoCambio. · ITBIS al 18 %, en la otra moneda. Si falta, se completa: el monto en pesos dividido entre TipoCambio."""
    TotalITBIS2OtraMoneda: NotRequired["EcfAmount"]
    """The ITBIS at 16%, in the other currency. Filled in where left out: the amount in pesos divided by TipoCambio. · ITBIS al 16 %, en la otra moneda. Si falta, se completa: el monto en pesos dividido entre TipoCambio."""
    TotalITBIS3OtraMoneda: NotRequired["EcfAmount"]
    """The ITBIS at 0%, in the other currency: 0.00. Filled in where left out: the amount in pesos divided by TipoCambio. · ITBIS a tasa 0 %, en la otra moneda: 0.00. Si falta, se completa: el monto en pesos dividido entre TipoCambio."""
    MontoTotalOtraMoneda: NotRequired["EcfAmount"]
    """The total of the receipt in the other currency. Filled in where left out: the amount in pesos divided by TipoCambio. · Total del comprobante en la otra moneda. Si falta, se completa: el monto en pesos dividido entre TipoCambio."""


class EcfOtraMoneda43(TypedDict):
    """EcfOtraMoneda43"""

    TipoMoneda: NotRequired["EcfCurrency"]
    """The currency, as the authority spells it. · La moneda, como la escribe la DGII."""
    TipoCambio: NotRequired["EcfExchangeRate"]
    """How many pesos one unit of that currency is. · Cuántos pesos vale una unidad de esa moneda."""
    MontoExentoOtraMoneda: NotRequired["EcfAmount"]
    """The exempt amount in the other currency. Filled in where left out: the amount in pesos divided by TipoCambio. · Monto exento en la otra moneda. Si falta, se completa: el monto en pesos dividido entre TipoCambio."""
    MontoTotalOtraMoneda: NotRequired["EcfAmount"]
    """The total of the receipt in the other currency. Filled in where left out: the amount in pesos divided by TipoCambio. · Total del comprobante en la otra moneda. Si falta, se completa: el monto en pesos dividido entre TipoCambio."""


class EcfOtraMoneda44(TypedDict):
    """EcfOtraMoneda44"""

    TipoMoneda: NotRequired["EcfCurrency"]
    """The currency, as the authority spells it. · La moneda, como la escribe la DGII."""
    TipoCambio: NotRequired["EcfExchangeRate"]
    """How many pesos one unit of that currency is. · Cuántos pesos vale una unidad de esa moneda."""
    MontoExentoOtraMoneda: NotRequired["EcfAmount"]
    """The exempt amount in the other currency. Filled in where left out: the amount in pesos divided by TipoCambio. · Monto exento en la otra moneda. Si falta, se completa: el monto en pesos dividido entre TipoCambio."""
    MontoImpuestoAdicionalOtraMoneda: NotRequired["EcfAmountAbove0"]
    """All additional taxes, in the other currency. Filled in where left out: the amount in pesos divided by TipoCambio. · Suma de los impuestos adicionales, en la otra moneda. Si falta, se completa: el monto en pesos dividido entre TipoCambio."""
    ImpuestosAdicionalesOtraMoneda: NotRequired["EcfImpuestosAdicionalesOtraMoneda44"]
    """The additional taxes one by one, in the other currency. Filled in where left out: the amount in pesos divided by TipoCambio. · Los impuestos adicionales uno por uno, en la otra moneda. Si falta, se completa: el monto en pesos dividido entre TipoCambio."""
    MontoTotalOtraMoneda: NotRequired["EcfAmount"]
    """The total of the receipt in the other currency. Filled in where left out: the amount in pesos divided by TipoCambio. · Total del comprobante en la otra moneda. Si falta, se completa: el monto en pesos dividido entre TipoCambio."""


class EcfOtraMoneda45(TypedDict):
    """EcfOtraMoneda45"""

    TipoMoneda: NotRequired["EcfCurrency"]
    """The currency, as the authority spells it. · La moneda, como la escribe la DGII."""
    TipoCambio: NotRequired["EcfExchangeRate"]
    """How many pesos one unit of that currency is. · Cuántos pesos vale una unidad de esa moneda."""
    MontoGravadoTotalOtraMoneda: NotRequired["EcfAmount"]
    """MontoGravadoTotal in the other currency. Filled in where left out: the amount in pesos divided by TipoCambio. · MontoGravadoTotal en la otra moneda. Si falta, se completa: el monto en pesos dividido entre TipoCambio."""
    MontoGravado1OtraMoneda: NotRequired["EcfAmount"]
    """The amount taxed at 18%, in the other currency. Filled in where left out: the amount in pesos divided by TipoCambio. · Monto gravado al 18 %, en la otra moneda. Si falta, se completa: el monto en pesos dividido entre TipoCambio."""
    MontoGravado2OtraMoneda: NotRequired["EcfAmount"]
    """The amount taxed at 16%, in the other currency. Filled in where left out: the amount in pesos divided by TipoCambio. · Monto gravado al 16 %, en la otra moneda. Si falta, se completa: el monto en pesos dividido entre TipoCambio."""
    MontoGravado3OtraMoneda: NotRequired["EcfAmount"]
    """The amount taxed at 0%, in the other currency. Filled in where left out: the amount in pesos divided by TipoCambio. · Monto gravado a tasa 0 %, en la otra moneda. Si falta, se completa: el monto en pesos dividido entre TipoCambio."""
    MontoExentoOtraMoneda: NotRequired["EcfAmount"]
    """The exempt amount in the other currency. Filled in where left out: the amount in pesos divided by TipoCambio. · Monto exento en la otra moneda. Si falta, se completa: el monto en pesos dividido entre TipoCambio."""
    TotalITBISOtraMoneda: NotRequired["EcfAmount"]
    """The ITBIS of all rates in the other currency. Filled in where left out: the amount in pesos divided by TipoCambio. · ITBIS total en la otra moneda. Si falta, se completa: el monto en pesos dividido entre TipoCambio."""
    TotalITBIS1OtraMoneda: NotRequired["EcfAmount"]
    """The ITBIS at 18%, in the other currency. Filled in where left out: the amount in pesos divided by TipoCambio. · ITBIS al 18 %, en la otra moneda. Si falta, se completa: el monto en pesos dividido entre TipoCambio."""
    TotalITBIS2OtraMoneda: NotRequired["EcfAmount"]
    """The ITBIS at 16%, in the other currency. Filled in where left out: the amount in pesos divided by TipoCambio. · ITBIS al 16 %, en la otra moneda. Si falta, se completa: el monto en pesos dividido entre TipoCambio."""
    TotalITBIS3OtraMoneda: NotRequired["EcfAmount"]
    """The ITBIS at 0%, in the other currency: 0.00. Filled in where left out: the amount in pesos divided by TipoCambio. · ITBIS a tasa 0 %, en la otra moneda: 0.00. Si falta, se completa: el monto en pesos dividido entre TipoCambio."""
    MontoImpuestoAdicionalOtraMoneda: NotRequired["EcfAmountAbove0"]
    """All additional taxes, in the other currency. Filled in where left out: the amount in pesos divided by TipoCambio. · Suma de los impuestos adicionales, en la otra moneda. Si falta, se completa: el monto en pesos dividido entre TipoCambio."""
    ImpuestosAdicionalesOtraMoneda: NotRequired["EcfImpuestosAdicionalesOtraMoneda45"]
    """The additional taxes one by one, in the other currency. Filled in where left out: the amount in pesos divided by TipoCambio. · Los impuestos adicionales uno por uno, en la otra moneda. Si falta, se completa: el monto en pesos dividido entre TipoCambio."""
    MontoTotalOtraMoneda: NotRequired["EcfAmount"]
    """The total of the receipt in the other currency. Filled in where left out: the amount in pesos divided by TipoCambio. · Total del comprobante en la otra moneda. Si falta, se completa: el monto en pesos dividido entre TipoCambio."""


class EcfOtraMoneda46(TypedDict):
    """EcfOtraMoneda46"""

    TipoMoneda: NotRequired["EcfCurrency"]
    """The currency, as the authority spells it. · La moneda, como la escribe la DGII."""
    TipoCambio: NotRequired["EcfExchangeRate"]
    """How many pesos one unit of that currency is. · Cuántos pesos vale una unidad de esa moneda."""
    MontoGravadoTotalOtraMoneda: NotRequired["EcfAmount"]
    """MontoGravadoTotal in the other currency. Filled in where left out: the amount in pesos divided by TipoCambio. · MontoGravadoTotal en la otra moneda. Si falta, se completa: el monto en pesos dividido entre TipoCambio."""
    MontoGravado3OtraMoneda: NotRequired["EcfAmount"]
    """The amount taxed at 0%, in the other currency. Filled in where left out: the amount in pesos divided by TipoCambio. · Monto gravado a tasa 0 %, en la otra moneda. Si falta, se completa: el monto en pesos dividido entre TipoCambio."""
    TotalITBISOtraMoneda: NotRequired["EcfAmount"]
    """The ITBIS of all rates in the other currency. Filled in where left out: the amount in pesos divided by TipoCambio. · ITBIS total en la otra moneda. Si falta, se completa: el monto en pesos dividido entre TipoCambio."""
    TotalITBIS3OtraMoneda: NotRequired["EcfAmount"]
    """The ITBIS at 0%, in the other currency: 0.00. Filled in where left out: the amount in pesos divided by TipoCambio. · ITBIS a tasa 0 %, en la otra moneda: 0.00. Si falta, se completa: el monto en pesos dividido entre TipoCambio."""
    MontoTotalOtraMoneda: NotRequired["EcfAmount"]
    """The total of the receipt in the other currency. Filled in where left out: the amount in pesos divided by TipoCambio. · Total del comprobante en la otra moneda. Si falta, se completa: el monto en pesos dividido entre TipoCambio."""


class EcfOtraMonedaDetalle(TypedDict):
    """EcfOtraMonedaDetalle"""

    PrecioOtraMoneda: NotRequired["EcfPrice"]
    """The price of one unit in the other currency. · Precio unitario en la otra moneda."""
    DescuentoOtraMoneda: NotRequired["EcfAmount"]
    """The discount of the line in the other currency. · Descuento de la línea en la otra moneda."""
    RecargoOtraMoneda: NotRequired["EcfAmount"]
    """The surcharge of the line in the other currency. · Recargo de la línea en la otra moneda."""
    MontoItemOtraMoneda: NotRequired["EcfAmount"]
    """The amount of the line in the other currency. Filled in where left out: the amount in pesos divided by TipoCambio. · Monto de la línea en la otra moneda. Si falta, se completa: el monto en pesos dividido entre TipoCambio."""


#: A whole number of up to 4 digits, above 1. Un número entero de hasta 4 dígitos, mayor que 1.
EcfPages4: TypeAlias = int | str


#: A whole number of up to 5 digits, above 1. Un número entero de hasta 5 dígitos, mayor que 1.
EcfPages5: TypeAlias = int | str


class EcfPagina31(TypedDict):
    """EcfPagina31"""

    PaginaNo: NotRequired["EcfTo1000"]
    """The number of the page. · Número de la página."""
    NoLineaDesde: NotRequired["EcfTo1000"]
    """The first line on it. · Primera línea de la página."""
    NoLineaHasta: NotRequired["EcfTo1000"]
    """The last line on it. · Última línea de la página."""
    SubtotalMontoGravadoPagina: NotRequired["EcfAmount"]
    """The taxable amount on the page. · Monto gravado de la página."""
    SubtotalMontoGravado1Pagina: NotRequired["EcfAmount"]
    """The amount taxed at 18% on the page. · Monto gravado al 18 % de la página."""
    SubtotalMontoGravado2Pagina: NotRequired["EcfAmount"]
    """The amount taxed at 16% on the page. · Monto gravado al 16 % de la página."""
    SubtotalMontoGravado3Pagina: NotRequired["EcfAmount"]
    """The amount taxed at 0% on the page. · Monto gravado a tasa 0 % de la página."""
    SubtotalExentoPagina: NotRequired["EcfAmount"]
    """The exempt amount on the page. · Monto exento de la página."""
    SubtotalItbisPagina: NotRequired["EcfAmount"]
    """The ITBIS on the page. · ITBIS de la página."""
    SubtotalItbis1Pagina: NotRequired["EcfAmount"]
    """The ITBIS at 18% on the page. · ITBIS al 18 % de la página."""
    SubtotalItbis2Pagina: NotRequired["EcfAmount"]
    """The ITBIS at 16% on the page. · ITBIS al 16 % de la página."""
    SubtotalItbis3Pagina: NotRequired["EcfAmount"]
    """The ITBIS at 0% on the page. · ITBIS a tasa 0 % de la página."""
    SubtotalImpuestoAdicionalPagina: NotRequired["EcfAmountAbove0"]
    """The additional taxes on the page. · Impuestos adicionales de la página."""
    SubtotalImpuestoAdicional: NotRequired["EcfSubtotalImpuestoAdicional31"]
    """The additional taxes on the page, by kind. · Impuestos adicionales de la página, por clase."""
    MontoSubtotalPagina: NotRequired["EcfAmount"]
    """The subtotal of the page. · Subtotal de la página."""
    SubtotalMontoNoFacturablePagina: NotRequired["EcfAmount"]
    """The amount on the page that is not billable. · Monto no facturable de la página."""


class EcfPagina33(TypedDict):
    """EcfPagina33"""

    PaginaNo: NotRequired["EcfTo10000"]
    """The number of the page. · Número de la página."""
    NoLineaDesde: NotRequired["EcfTo10000"]
    """The first line on it. · Primera línea de la página."""
    NoLineaHasta: NotRequired["EcfTo10000"]
    """The last line on it. · Última línea de la página."""
    SubtotalMontoGravadoPagina: NotRequired["EcfAmount"]
    """The taxable amount on the page. · Monto gravado de la página."""
    SubtotalMontoGravado1Pagina: NotRequired["EcfAmount"]
    """The amount taxed at 18% on the page. · Monto gravado al 18 % de la página."""
    SubtotalMontoGravado2Pagina: NotRequired["EcfAmount"]
    """The amount taxed at 16% on the page. · Monto gravado al 16 % de la página."""
    SubtotalMontoGravado3Pagina: NotRequired["EcfAmount"]
    """The amount taxed at 0% on the page. · Monto gravado a tasa 0 % de la página."""
    SubtotalExentoPagina: NotRequired["EcfAmount"]
    """The exempt amount on the page. · Monto exento de la página."""
    SubtotalItbisPagina: NotRequired["EcfAmount"]
    """The ITBIS on the page. · ITBIS de la página."""
    SubtotalItbis1Pagina: NotRequired["EcfAmount"]
    """The ITBIS at 18% on the page. · ITBIS al 18 % de la página."""
    SubtotalItbis2Pagina: NotRequired["EcfAmount"]
    """The ITBIS at 16% on the page. · ITBIS al 16 % de la página."""
    SubtotalItbis3Pagina: NotRequired["EcfAmount"]
    """The ITBIS at 0% on the page. · ITBIS a tasa 0 % de la página."""
    SubtotalImpuestoAdicionalPagina: NotRequired["EcfAmountAbove0"]
    """The additional taxes on the page. · Impuestos adicionales de la página."""
    SubtotalImpuestoAdicional: NotRequired["EcfSubtotalImpuestoAdicional31"]
    """The additional taxes on the page, by kind. · Impuestos adicionales de la página, por clase."""
    MontoSubtotalPagina: NotRequired["EcfAmount"]
    """The subtotal of the page. · Subtotal de la página."""
    SubtotalMontoNoFacturablePagina: NotRequired["EcfAmount"]
    """The amount on the page that is not billable. · Monto no facturable de la página."""


class EcfPagina41(TypedDict):
    """EcfPagina41"""

    PaginaNo: NotRequired["EcfTo1000"]
    """The number of the page. · Número de la página."""
    NoLineaDesde: NotRequired["EcfTo1000"]
    """The first line on it. · Primera línea de la página."""
    NoLineaHasta: NotRequired["EcfTo1000"]
    """The last line on it. · Última línea de la página."""
    SubtotalMontoGravadoPagina: NotRequired["EcfAmount"]
    """The taxable amount on the page. · Monto gravado de la página."""
    SubtotalMontoGravado1Pagina: NotRequired["EcfAmount"]
    """The amount taxed at 18% on the page. · Monto gravado al 18 % de la página."""
    SubtotalMontoGravado2Pagina: NotRequired["EcfAmount"]
    """The amount taxed at 16% on the page. · Monto gravado al 16 % de la página."""
    SubtotalMontoGravado3Pagina: NotRequired["EcfAmount"]
    """The amount taxed at 0% on the page. · Monto gravado a tasa 0 % de la página."""
    SubtotalExentoPagina: NotRequired["EcfAmount"]
    """The exempt amount on the page. · Monto exento de la página."""
    SubtotalItbisPagina: NotRequired["EcfAmount"]
    """The ITBIS on the page. · ITBIS de la página."""
    SubtotalItbis1Pagina: NotRequired["EcfAmount"]
    """The ITBIS at 18% on the page. · ITBIS al 18 % de la página."""
    SubtotalItbis2Pagina: NotRequired["EcfAmount"]
    """The ITBIS at 16% on the page. · ITBIS al 16 % de la página."""
    SubtotalItbis3Pagina: NotRequired["EcfAmount"]
    """The ITBIS at 0% on the page. · ITBIS a tasa 0 % de la página."""
    MontoSubtotalPagina: NotRequired["EcfAmount"]
    """The subtotal of the page. · Subtotal de la página."""


class EcfPagina43(TypedDict):
    """EcfPagina43"""

    PaginaNo: NotRequired["EcfTo1000"]
    """The number of the page. · Número de la página."""
    NoLineaDesde: NotRequired["EcfTo1000"]
    """The first line on it. · Primera línea de la página."""
    NoLineaHasta: NotRequired["EcfTo1000"]
    """The last line on it. · Última línea de la página."""
    SubtotalExentoPagina: NotRequired["EcfAmount"]
    """The exempt amount on the page. · Monto exento de la página."""
    MontoSubtotalPagina: NotRequired["EcfAmount"]
    """The subtotal of the page. · Subtotal de la página."""


class EcfPagina44(TypedDict):
    """EcfPagina44"""

    PaginaNo: NotRequired["EcfTo1000"]
    """The number of the page. · Número de la página."""
    NoLineaDesde: NotRequired["EcfTo1000"]
    """The first line on it. · Primera línea de la página."""
    NoLineaHasta: NotRequired["EcfTo1000"]
    """The last line on it. · Última línea de la página."""
    SubtotalExentoPagina: NotRequired["EcfAmount"]
    """The exempt amount on the page. · Monto exento de la página."""
    SubtotalImpuestoAdicionalPagina: NotRequired["EcfAmountAbove0"]
    """The additional taxes on the page. · Impuestos adicionales de la página."""
    SubtotalImpuestoAdicional: NotRequired["EcfSubtotalImpuestoAdicional44"]
    """The additional taxes on the page, by kind. · Impuestos adicionales de la página, por clase."""
    MontoSubtotalPagina: NotRequired["EcfAmount"]
    """The subtotal of the page. · Subtotal de la página."""
    SubtotalMontoNoFacturablePagina: NotRequired["EcfAmount"]
    """The amount on the page that is not billable. · Monto no facturable de la página."""


class EcfPagina46(TypedDict):
    """EcfPagina46"""

    PaginaNo: NotRequired["EcfTo1000"]
    """The number of the page. · Número de la página."""
    NoLineaDesde: NotRequired["EcfTo1000"]
    """The first line on it. · Primera línea de la página."""
    NoLineaHasta: NotRequired["EcfTo1000"]
    """The last line on it. · Última línea de la página."""
    SubtotalMontoGravadoPagina: NotRequired["EcfAmount"]
    """The taxable amount on the page. · Monto gravado de la página."""
    SubtotalMontoGravado3Pagina: NotRequired["EcfAmount"]
    """The amount taxed at 0% on the page. · Monto gravado a tasa 0 % de la página."""
    SubtotalItbisPagina: NotRequired["EcfAmount"]
    """The ITBIS on the page. · ITBIS de la página."""
    SubtotalItbis3Pagina: NotRequired["EcfAmount"]
    """The ITBIS at 0% on the page. · ITBIS a tasa 0 % de la página."""
    MontoSubtotalPagina: NotRequired["EcfAmount"]
    """The subtotal of the page. · Subtotal de la página."""
    SubtotalMontoNoFacturablePagina: NotRequired["EcfAmount"]
    """The amount on the page that is not billable. · Monto no facturable de la página."""


class EcfPaginacion31(TypedDict):
    """EcfPaginacion31"""

    Pagina: "list[EcfPagina31]"
    """One page. · Una página."""


class EcfPaginacion33(TypedDict):
    """EcfPaginacion33"""

    Pagina: "list[EcfPagina33]"
    """One page. · Una página."""


class EcfPaginacion41(TypedDict):
    """EcfPaginacion41"""

    Pagina: "list[EcfPagina41]"
    """One page. · Una página."""


class EcfPaginacion43(TypedDict):
    """EcfPaginacion43"""

    Pagina: "list[EcfPagina43]"
    """One page. · Una página."""


class EcfPaginacion44(TypedDict):
    """EcfPaginacion44"""

    Pagina: "list[EcfPagina44]"
    """One page. · Una página."""


class EcfPaginacion46(TypedDict):
    """EcfPaginacion46"""

    Pagina: "list[EcfPagina46]"
    """One page. · Una página."""


#: `1` cash · efectivo; `2` cheque, transfer or deposit · cheque, transferencia o depósito; `3` debit or credit card · tarjeta de débito o crédito; `4` sale on credit · venta a crédito; `5` vouchers or gift certificates · bonos o certificados de regalo; `6` barter · permuta; `7` credit note · nota de crédito; `8` other · otras formas de pago
EcfPaymentForm: TypeAlias = Literal["1", "2", "3", "4", "5", "6", "7", "8"]


#: `1` cash · contado; `2` credit · crédito; `3` free of charge · gratuito
EcfPaymentType: TypeAlias = Literal["1", "2", "3"]


#: A number of up to 3 digits with up to 2 decimals, above 0. Un número de hasta 3 dígitos con hasta 2 decimales, mayor que 0.
EcfPercentage: TypeAlias = Number | str


#: A code of the list, such as 010000. Un código de la lista, como 010000.
EcfPlace: TypeAlias = Literal[
    "010000",
    "010100",
    "010101",
    "020000",
    "020100",
    "020101",
    "020102",
    "020103",
    "020104",
    "020105",
    "020106",
    "020107",
    "020108",
    "020109",
    "020200",
    "020201",
    "020202",
    "020300",
    "020301",
    "020302",
    "020303",
    "020400",
    "020401",
    "020402",
    "020403",
    "020404",
    "020405",
    "020500",
    "020501",
    "020600",
    "020601",
    "020602",
    "020603",
    "020604",
    "020700",
    "020701",
    "020702",
    "020800",
    "020801",
    "020802",
    "020803",
    "020804",
    "020900",
    "020901",
    "021000",
    "021001",
    "030000",
    "030001",
    "030101",
    "030102",
    "030200",
    "030201",
    "030202",
    "030300",
    "030301",
    "030302",
    "030303",
    "030304",
    "030305",
    "030306",
    "030307",
    "030400",
    "030401",
    "030500",
    "030501",
    "030502",
    "040000",
    "040100",
    "040101",
    "040102",
    "040103",
    "040104",
    "040200",
    "040201",
    "040300",
    "040301",
    "040302",
    "040400",
    "040401",
    "040402",
    "040500",
    "040501",
    "040502",
    "040503",
    "040504",
    "040600",
    "040601",
    "040700",
    "040701",
    "040702",
    "040800",
    "040801",
    "040802",
    "040900",
    "040901",
    "041000",
    "041001",
    "041100",
    "041101",
    "041102",
    "050000",
    "050100",
    "050101",
    "050102",
    "050200",
    "050201",
    "050202",
    "050203",
    "050300",
    "050301",
    "050400",
    "050401",
    "050500",
    "050501",
    "050502",
    "060000",
    "060100",
    "060101",
    "060102",
    "060103",
    "060104",
    "060105",
    "060200",
    "060201",
    "060202",
    "060203",
    "060300",
    "060301",
    "060400",
    "060401",
    "060500",
    "060501",
    "060502",
    "060503",
    "060504",
    "060505",
    "060600",
    "060601",
    "060700",
    "060701",
    "060702",
    "070000",
    "070100",
    "070101",
    "070102",
    "070103",
    "070200",
    "070201",
    "070202",
    "070203",
    "070300",
    "070301",
    "070302",
    "070400",
    "070401",
    "070402",
    "070500",
    "070501",
    "070502",
    "070600",
    "070601",
    "080000",
    "080100",
    "080101",
    "080102",
    "080103",
    "080104",
    "080200",
    "080201",
    "080202",
    "080203",
    "090000",
    "090100",
    "090101",
    "090102",
    "090103",
    "090104",
    "090105",
    "090106",
    "090107",
    "090108",
    "090109",
    "090200",
    "090201",
    "090300",
    "090301",
    "090302",
    "090303",
    "090304",
    "090400",
    "090401",
    "100000",
    "100100",
    "100101",
    "100102",
    "100103",
    "100200",
    "100201",
    "100202",
    "100300",
    "100301",
    "100400",
    "100401",
    "100402",
    "100500",
    "100501",
    "100502",
    "100600",
    "100601",
    "100602",
    "110000",
    "110100",
    "110101",
    "110102",
    "110103",
    "110104",
    "110200",
    "110201",
    "110202",
    "110203",
    "120000",
    "120100",
    "120101",
    "120102",
    "120200",
    "120201",
    "120300",
    "120301",
    "120302",
    "130000",
    "130100",
    "130101",
    "130102",
    "130103",
    "130104",
    "130105",
    "130200",
    "130201",
    "130202",
    "130203",
    "130300",
    "130301",
    "130302",
    "130303",
    "130400",
    "130401",
    "130402",
    "140000",
    "140100",
    "140101",
    "140102",
    "140103",
    "140104",
    "140200",
    "140201",
    "140202",
    "140203",
    "140300",
    "140301",
    "140302",
    "140400",
    "140401",
    "150000",
    "150100",
    "150101",
    "150200",
    "150201",
    "150202",
    "150300",
    "150301",
    "150302",
    "150303",
    "150304",
    "150400",
    "150401",
    "150500",
    "150501",
    "150502",
    "150600",
    "150601",
    "160000",
    "160100",
    "160101",
    "160102",
    "160200",
    "160201",
    "160202",
    "170000",
    "170100",
    "170101",
    "170102",
    "170103",
    "170104",
    "170105",
    "170106",
    "170107",
    "170108",
    "170109",
    "170110",
    "170200",
    "170201",
    "170202",
    "170203",
    "170300",
    "170301",
    "180000",
    "180100",
    "180101",
    "180102",
    "180103",
    "180200",
    "180201",
    "180202",
    "180300",
    "180301",
    "180400",
    "180401",
    "180500",
    "180501",
    "180502",
    "180600",
    "180601",
    "180602",
    "180603",
    "180604",
    "180700",
    "180701",
    "180702",
    "180703",
    "180800",
    "180801",
    "180802",
    "180803",
    "180804",
    "180900",
    "180901",
    "190000",
    "190100",
    "190101",
    "190102",
    "190200",
    "190201",
    "190202",
    "190300",
    "190301",
    "200000",
    "200100",
    "200101",
    "200102",
    "200103",
    "200104",
    "200200",
    "200201",
    "200300",
    "200301",
    "210000",
    "210100",
    "210101",
    "210102",
    "210103",
    "210200",
    "210201",
    "210300",
    "210301",
    "210302",
    "210303",
    "210400",
    "210401",
    "210402",
    "210500",
    "210501",
    "210502",
    "210503",
    "210504",
    "210600",
    "210601",
    "210602",
    "210700",
    "210701",
    "210800",
    "210801",
    "220000",
    "220100",
    "220101",
    "220102",
    "220103",
    "220104",
    "220105",
    "220106",
    "220107",
    "220108",
    "220109",
    "220110",
    "220111",
    "220200",
    "220201",
    "220202",
    "220203",
    "220300",
    "220301",
    "220302",
    "220303",
    "220400",
    "220401",
    "220402",
    "220500",
    "220501",
    "220502",
    "220503",
    "220600",
    "220601",
    "220602",
    "230000",
    "230100",
    "230101",
    "230200",
    "230201",
    "230202",
    "230203",
    "230300",
    "230301",
    "230400",
    "230401",
    "230500",
    "230501",
    "230600",
    "230601",
    "240000",
    "240100",
    "240101",
    "240102",
    "240103",
    "240104",
    "240105",
    "240106",
    "240200",
    "240201",
    "240202",
    "240300",
    "240301",
    "240400",
    "240401",
    "240402",
    "240403",
    "240404",
    "250000",
    "250100",
    "250101",
    "250102",
    "250104",
    "250105",
    "250106",
    "250107",
    "250200",
    "250201",
    "250300",
    "250301",
    "250302",
    "250303",
    "250400",
    "250401",
    "250402",
    "250500",
    "250501",
    "250502",
    "250503",
    "250504",
    "250600",
    "250601",
    "250602",
    "250700",
    "250701",
    "250702",
    "250703",
    "250800",
    "250801",
    "250802",
    "250803",
    "250900",
    "250901",
    "251000",
    "251001",
    "260000",
    "260100",
    "260101",
    "260200",
    "260201",
    "260300",
    "260301",
    "270000",
    "270100",
    "270101",
    "270102",
    "270103",
    "270104",
    "270200",
    "270201",
    "270202",
    "270203",
    "270204",
    "270205",
    "270300",
    "270301",
    "270302",
    "270303",
    "270304",
    "280000",
    "280100",
    "280101",
    "280102",
    "280103",
    "280104",
    "280105",
    "280106",
    "280200",
    "280201",
    "280300",
    "280301",
    "280302",
    "280303",
    "290000",
    "290100",
    "290101",
    "290102",
    "290103",
    "290104",
    "290200",
    "290201",
    "290300",
    "290301",
    "290302",
    "290303",
    "290400",
    "290402",
    "290403",
    "290500",
    "290501",
    "300000",
    "300100",
    "300101",
    "300102",
    "300103",
    "300104",
    "300200",
    "300201",
    "300202",
    "300300",
    "300301",
    "310000",
    "310100",
    "310101",
    "310102",
    "310103",
    "310104",
    "310105",
    "310200",
    "310201",
    "310300",
    "310301",
    "320000",
    "320100",
    "320101",
    "320102",
    "320200",
    "320201",
    "320300",
    "320301",
    "320302",
    "320400",
    "320401",
    "320402",
    "320500",
    "320501",
    "320502",
    "320600",
    "320601",
    "320602",
    "320603",
    "320700",
    "320701",
    "320702",
    "320703",
]


#: A number of up to 16 digits with up to 4 decimals, 0 or more. Un número de hasta 16 dígitos con hasta 4 decimales, 0 o mayor.
EcfPrice: TypeAlias = Number | str


#: A number of up to 16 digits with up to 2 decimals, 0 or more. Un número de hasta 16 dígitos con hasta 2 decimales, 0 o mayor.
EcfQuantity: TypeAlias = Number | str


#: A number of up to 16 digits with up to 2 decimals, above 0. Un número de hasta 16 dígitos con hasta 2 decimales, mayor que 0.
EcfQuantityAbove0: TypeAlias = Number | str


class EcfRetencion31(TypedDict):
    """EcfRetencion31"""

    IndicadorAgenteRetencionoPercepcion: NotRequired["EcfWithholdingAgent"]
    """Whether it is a withholding or a perception. · Si se trata de una retención o de una percepción."""
    MontoITBISRetenido: NotRequired["EcfAmount"]
    """The ITBIS withheld or perceived on the line, in pesos. · ITBIS retenido o percibido en la línea, en pesos."""
    MontoISRRetenido: NotRequired["EcfAmount"]
    """The income tax (ISR) withheld or perceived on the line, in pesos. · ISR retenido o percibido en la línea, en pesos."""


class EcfRetencion41(TypedDict):
    """EcfRetencion41"""

    IndicadorAgenteRetencionoPercepcion: "EcfWithholdingAgent"
    """Whether it is a withholding or a perception. · Si se trata de una retención o de una percepción."""
    MontoITBISRetenido: NotRequired["EcfAmount"]
    """The ITBIS withheld or perceived on the line, in pesos. · ITBIS retenido o percibido en la línea, en pesos."""
    MontoISRRetenido: NotRequired["EcfAmount"]
    """The income tax (ISR) withheld or perceived on the line, in pesos. · ISR retenido o percibido en la línea, en pesos."""


class EcfRetencion47(TypedDict):
    """EcfRetencion47"""

    IndicadorAgenteRetencionoPercepcion: "EcfWithholdingAgent"
    """Whether it is a withholding or a perception. · Si se trata de una retención o de una percepción."""
    MontoISRRetenido: "EcfAmount"
    """The income tax (ISR) withheld or perceived on the line, in pesos. · ISR retenido o percibido en la línea, en pesos."""


#: `0` rule 10-07 does not apply · no aplica la norma 10-07; `1` discount under rule 10-07 · descuento de la norma 10-07
EcfRule1007: TypeAlias = Literal["0", "1"]


#: `1` provisional; `2` final
EcfSettlement: TypeAlias = Literal["1", "2"]


class EcfSubDescuento(TypedDict):
    """EcfSubDescuento"""

    TipoSubDescuento: "EcfAmountOrPercent"
    """Whether the part is an amount ($) or a percentage (%). · Si la parte es un monto ($) o un porcentaje (%)."""
    SubDescuentoPorcentaje: NotRequired["EcfPercentage"]
    """The percentage, where it is one. · El porcentaje, si lo es."""
    MontoSubDescuento: NotRequired["EcfAmount"]
    """The amount of this part, in pesos. Filled in where left out: computed from the percentage. · Monto de esta parte, en pesos. Si falta, se completa: se calcula del porcentaje."""


class EcfSubRecargo(TypedDict):
    """EcfSubRecargo"""

    TipoSubRecargo: "EcfAmountOrPercent"
    """Whether the part is an amount ($) or a percentage (%). · Si la parte es un monto ($) o un porcentaje (%)."""
    SubRecargoPorcentaje: NotRequired["EcfPercentage"]
    """The percentage, where it is one. · El porcentaje, si lo es."""
    MontoSubRecargo: NotRequired["EcfAmount"]
    """The amount of this part, in pesos. Filled in where left out: computed from the percentage. · Monto de esta parte, en pesos. Si falta, se completa: se calcula del porcentaje."""


class EcfSubcantidadItem(TypedDict):
    """EcfSubcantidadItem"""

    Subcantidad: NotRequired["EcfFineQuantity"]
    """How much one article holds: 0.355 litres. · Cuánto contiene cada artículo: 0.355 litros."""
    CodigoSubcantidad: NotRequired["EcfUnit"]
    """The unit of that content: 24 is a litre. · Unidad de ese contenido: 24 es litro."""


class EcfSubtotal31(TypedDict):
    """EcfSubtotal31"""

    NumeroSubTotal: NotRequired["EcfWhole2"]
    """The number of the subtotal. · Número del subtotal."""
    DescripcionSubtotal: NotRequired[str]
    """What it is a subtotal of. · Título del subtotal."""
    Orden: NotRequired["EcfWhole2"]
    """Its place in print. · Orden en que se imprime."""
    SubTotalMontoGravadoTotal: NotRequired["EcfAmount"]
    """The taxable amount of all rates in it. · Monto gravado total que incluye."""
    SubTotalMontoGravadoI1: NotRequired["EcfAmount"]
    """The amount taxed at 18% in it. · Monto gravado al 18 % que incluye."""
    SubTotalMontoGravadoI2: NotRequired["EcfAmount"]
    """The amount taxed at 16% in it. · Monto gravado al 16 % que incluye."""
    SubTotalMontoGravadoI3: NotRequired["EcfAmount"]
    """The amount taxed at 0% in it. · Monto gravado a tasa 0 % que incluye."""
    SubTotaITBIS: NotRequired["EcfAmount"]
    """The ITBIS of all rates in it. (The authority spells it without the l.) · ITBIS total que incluye. (La DGII lo escribe sin la l.)"""
    SubTotaITBIS1: NotRequired["EcfAmount"]
    """The ITBIS at 18% in it. · ITBIS al 18 % que incluye."""
    SubTotaITBIS2: NotRequired["EcfAmount"]
    """The ITBIS at 16% in it. · ITBIS al 16 % que incluye."""
    SubTotaITBIS3: NotRequired["EcfAmount"]
    """The ITBIS at 0% in it. · ITBIS a tasa 0 % que incluye."""
    SubTotalImpuestoAdicional: NotRequired["EcfAmount"]
    """The additional taxes in it. · Impuestos adicionales que incluye."""
    SubTotalExento: NotRequired["EcfAmount"]
    """The exempt amount in it. · Monto exento que incluye."""
    MontoSubTotal: NotRequired["EcfAmount"]
    """The amount of the subtotal. · Monto del subtotal."""
    Lineas: NotRequired["EcfWhole2"]
    """How many lines it sums. · Cantidad de líneas que suma."""


class EcfSubtotal43(TypedDict):
    """EcfSubtotal43"""

    NumeroSubTotal: NotRequired["EcfWhole2"]
    """The number of the subtotal. · Número del subtotal."""
    DescripcionSubtotal: NotRequired[str]
    """What it is a subtotal of. · Título del subtotal."""
    Orden: NotRequired["EcfWhole2"]
    """Its place in print. · Orden en que se imprime."""
    SubTotalExento: NotRequired["EcfAmount"]
    """The exempt amount in it. · Monto exento que incluye."""
    MontoSubTotal: NotRequired["EcfAmount"]
    """The amount of the subtotal. · Monto del subtotal."""
    Lineas: NotRequired["EcfWhole2"]
    """How many lines it sums. · Cantidad de líneas que suma."""


class EcfSubtotal44(TypedDict):
    """EcfSubtotal44"""

    NumeroSubTotal: NotRequired["EcfWhole2"]
    """The number of the subtotal. · Número del subtotal."""
    DescripcionSubtotal: NotRequired[str]
    """What it is a subtotal of. · Título del subtotal."""
    Orden: NotRequired["EcfWhole2"]
    """Its place in print. · Orden en que se imprime."""
    SubTotalImpuestoAdicional: NotRequired["EcfAmount"]
    """The additional taxes in it. · Impuestos adicionales que incluye."""
    SubTotalExento: NotRequired["EcfAmount"]
    """The exempt amount in it. · Monto exento que incluye."""
    MontoSubTotal: NotRequired["EcfAmount"]
    """The amount of the subtotal. · Monto del subtotal."""
    Lineas: NotRequired["EcfWhole2"]
    """How many lines it sums. · Cantidad de líneas que suma."""


class EcfSubtotal46(TypedDict):
    """EcfSubtotal46"""

    NumeroSubTotal: NotRequired["EcfWhole2"]
    """The number of the subtotal. · Número del subtotal."""
    DescripcionSubtotal: NotRequired[str]
    """What it is a subtotal of. · Título del subtotal."""
    Orden: NotRequired["EcfWhole2"]
    """Its place in print. · Orden en que se imprime."""
    SubTotalMontoGravadoTotal: NotRequired["EcfAmount"]
    """The taxable amount of all rates in it. · Monto gravado total que incluye."""
    SubTotalMontoGravadoI3: NotRequired["EcfAmount"]
    """The amount taxed at 0% in it. · Monto gravado a tasa 0 % que incluye."""
    SubTotaITBIS: NotRequired["EcfAmount"]
    """The ITBIS of all rates in it. (The authority spells it without the l.) · ITBIS total que incluye. (La DGII lo escribe sin la l.)"""
    SubTotaITBIS3: NotRequired["EcfAmount"]
    """The ITBIS at 0% in it. · ITBIS a tasa 0 % que incluye."""
    MontoSubTotal: NotRequired["EcfAmount"]
    """The amount of the subtotal. · Monto del subtotal."""
    Lineas: NotRequired["EcfWhole2"]
    """How many lines it sums. · Cantidad de líneas que suma."""


class EcfSubtotalImpuestoAdicional31(TypedDict):
    """EcfSubtotalImpuestoAdicional31"""

    SubtotalImpuestoSelectivoConsumoEspecificoPagina: NotRequired["EcfAmountAbove0"]
    """Selective tax by quantity on the page. · Selectivo específico de la página."""
    SubtotalOtrosImpuesto: NotRequired["EcfAmountAbove0"]
    """Other additional taxes on the page. · Otros impuestos adicionales de la página."""


class EcfSubtotalImpuestoAdicional44(TypedDict):
    """EcfSubtotalImpuestoAdicional44"""

    SubtotalOtrosImpuesto: NotRequired["EcfAmountAbove0"]
    """Other additional taxes on the page. · Otros impuestos adicionales de la página."""


class EcfSubtotales31(TypedDict):
    """EcfSubtotales31"""

    Subtotal: "list[EcfSubtotal31]"
    """One subtotal. · Un subtotal."""


class EcfSubtotales43(TypedDict):
    """EcfSubtotales43"""

    Subtotal: "list[EcfSubtotal43]"
    """One subtotal. · Un subtotal."""


class EcfSubtotales44(TypedDict):
    """EcfSubtotales44"""

    Subtotal: "list[EcfSubtotal44]"
    """One subtotal. · Un subtotal."""


class EcfSubtotales46(TypedDict):
    """EcfSubtotales46"""

    Subtotal: "list[EcfSubtotal46]"
    """One subtotal. · Un subtotal."""


class EcfTablaCodigosItem(TypedDict):
    """EcfTablaCodigosItem"""

    CodigosItem: "list[EcfCodigosItem]"
    """One code of the article. · Un código del artículo."""


class EcfTablaFormasPago(TypedDict):
    """EcfTablaFormasPago"""

    FormaDePago: "list[EcfFormaDePago]"
    """One way of payment with its amount. · Una forma de pago con su monto."""


class EcfTablaImpuestoAdicional(TypedDict):
    """EcfTablaImpuestoAdicional"""

    ImpuestoAdicional: "list[EcfItemImpuestoAdicional]"
    """One additional tax of the line. Its amount goes into the totals. · Un impuesto adicional de la línea. Su monto va en los totales."""


class EcfTablaSubDescuento(TypedDict):
    """EcfTablaSubDescuento"""

    SubDescuento: "list[EcfSubDescuento]"
    """One part of the discount. · Una parte del descuento."""


class EcfTablaSubRecargo(TypedDict):
    """EcfTablaSubRecargo"""

    SubRecargo: "list[EcfSubRecargo]"
    """One part of the surcharge. · Una parte del recargo."""


class EcfTablaSubcantidad(TypedDict):
    """EcfTablaSubcantidad"""

    SubcantidadItem: "list[EcfSubcantidadItem]"
    """One such content. · Un contenido."""


class EcfTablaTelefonoEmisor(TypedDict):
    """EcfTablaTelefonoEmisor"""

    TelefonoEmisor: list[str]
    """A telephone number of yours. · Un teléfono suyo."""


#: `0` ITBIS is not in the amounts of the lines · los montos de las líneas no incluyen ITBIS; `1` ITBIS is in the amounts of the lines · los montos de las líneas incluyen ITBIS
EcfTaxIncluded: TypeAlias = Literal["0", "1"]


#: A date and time dd-MM-yyyy HH:mm:ss. Una fecha y hora dd-MM-aaaa HH:mm:ss. Or ISO 8601. O ISO 8601.
EcfTimestamp: TypeAlias = str


#: A date and time dd-MM-yyyy HH:mm:ss. Una fecha y hora dd-MM-aaaa HH:mm:ss. Or ISO 8601. O ISO 8601.
EcfTimestampAnyYear: TypeAlias = str


#: A whole number from 1 to 1000. Un número entero de 1 a 1000.
EcfTo1000: TypeAlias = int | str


#: A whole number from 1 to 10000. Un número entero de 1 a 10000.
EcfTo10000: TypeAlias = int | str


class EcfTotales31(TypedDict):
    """EcfTotales31"""

    MontoGravadoTotal: NotRequired["EcfAmount"]
    """The taxable amount of all rates together, without ITBIS. Filled in where left out: computed from the lines. · Monto gravado de todas las tasas, sin ITBIS. Si falta, se completa: se calcula de las líneas."""
    MontoGravadoI1: NotRequired["EcfAmount"]
    """The amount taxed at 18%, without ITBIS. Filled in where left out: computed from the lines. · Monto gravado al 18 %, sin ITBIS. Si falta, se completa: se calcula de las líneas."""
    MontoGravadoI2: NotRequired["EcfAmount"]
    """The amount taxed at 16%, without ITBIS. Filled in where left out: computed from the lines. · Monto gravado al 16 %, sin ITBIS. Si falta, se completa: se calcula de las líneas."""
    MontoGravadoI3: NotRequired["EcfAmount"]
    """The amount taxed at 0%, such as exports. Filled in where left out: computed from the lines. · Monto gravado a tasa 0 %, como las exportaciones. Si falta, se completa: se calcula de las líneas."""
    MontoExento: NotRequired["EcfAmount"]
    """The amount that is exempt from ITBIS. Filled in where left out: computed from the lines. · Monto exento de ITBIS. Si falta, se completa: se calcula de las líneas."""
    ITBIS1: NotRequired["EcfWhole2"]
    """The first rate of ITBIS, in per cent: 18. Filled in where left out: computed from the lines. · Primera tasa de ITBIS, en porcentaje: 18. Si falta, se completa: se calcula de las líneas."""
    ITBIS2: NotRequired["EcfWhole2"]
    """The second rate of ITBIS, in per cent: 16. Filled in where left out: computed from the lines. · Segunda tasa de ITBIS, en porcentaje: 16. Si falta, se completa: se calcula de las líneas."""
    ITBIS3: NotRequired["EcfWhole2"]
    """The third rate of ITBIS, in per cent: 0. Filled in where left out: computed from the lines. · Tercera tasa de ITBIS, en porcentaje: 0. Si falta, se completa: se calcula de las líneas."""
    TotalITBIS: NotRequired["EcfAmount"]
    """The ITBIS of all rates together. Filled in where left out: computed from the lines. · ITBIS total de todas las tasas. Si falta, se completa: se calcula de las líneas."""
    TotalITBIS1: NotRequired["EcfAmount"]
    """The ITBIS at 18%. Filled in where left out: computed from the lines. · ITBIS al 18 %. Si falta, se completa: se calcula de las líneas."""
    TotalITBIS2: NotRequired["EcfAmount"]
    """The ITBIS at 16%. Filled in where left out: computed from the lines. · ITBIS al 16 %. Si falta, se completa: se calcula de las líneas."""
    TotalITBIS3: NotRequired["EcfAmount"]
    """The ITBIS at 0%: 0.00. Filled in where left out: computed from the lines. · ITBIS a tasa 0 %: 0.00. Si falta, se completa: se calcula de las líneas."""
    MontoImpuestoAdicional: NotRequired["EcfAmountAbove0"]
    """All additional taxes together: the selective ones (ISC), the legal tip and the like. Filled in where left out: computed from the lines. · Suma de los impuestos adicionales: selectivo al consumo (ISC), propina legal y similares. Si falta, se completa: se calcula de las líneas."""
    ImpuestosAdicionales: NotRequired["EcfImpuestosAdicionales31"]
    """The additional taxes, one by one. Filled in where left out: computed from the lines. · Los impuestos adicionales, uno por uno. Si falta, se completa: se calcula de las líneas."""
    MontoTotal: NotRequired["EcfAmount"]
    """The total of the receipt: taxed and exempt amounts, ITBIS and additional taxes. Filled in where left out: computed from the lines. · Total del comprobante: montos gravados y exentos, ITBIS e impuestos adicionales. Si falta, se completa: se calcula de las líneas."""
    MontoNoFacturable: NotRequired["EcfAmountSigned"]
    """The amount of lines that are not billable (IndicadorFacturacion 0). It may be negative. Filled in where left out: computed from the lines. · Monto de las líneas no facturables (IndicadorFacturacion 0). Puede ser negativo. Si falta, se completa: se calcula de las líneas."""
    MontoPeriodo: NotRequired["EcfAmountSigned"]
    """The amount of the period: MontoTotal and MontoNoFacturable together. Filled in where left out: computed from the lines. · Monto del período: MontoTotal más MontoNoFacturable. Si falta, se completa: se calcula de las líneas."""
    SaldoAnterior: NotRequired["EcfAmountSigned"]
    """The balance of before. It may be negative. · Saldo anterior. Puede ser negativo."""
    MontoAvancePago: NotRequired["EcfAmount"]
    """What was paid in advance. · Monto pagado por adelantado."""
    ValorPagar: NotRequired["EcfAmountSigned"]
    """What is to be paid in the end. Filled in where left out: computed from the lines. · Valor a pagar. Si falta, se completa: se calcula de las líneas."""
    TotalITBISRetenido: NotRequired["EcfAmount"]
    """The ITBIS withheld in all lines. Filled in where left out: computed from the lines. · ITBIS retenido en todas las líneas. Si falta, se completa: se calcula de las líneas."""
    TotalISRRetencion: NotRequired["EcfAmount"]
    """The income tax (ISR) withheld in all lines. Filled in where left out: computed from the lines. · ISR retenido en todas las líneas. Si falta, se completa: se calcula de las líneas."""
    TotalITBISPercepcion: NotRequired["EcfAmount"]
    """The ITBIS perceived in all lines. Filled in where left out: computed from the lines. · ITBIS percibido en todas las líneas. Si falta, se completa: se calcula de las líneas."""
    TotalISRPercepcion: NotRequired["EcfAmount"]
    """The income tax (ISR) perceived in all lines. Filled in where left out: computed from the lines. · ISR percibido en todas las líneas. Si falta, se completa: se calcula de las líneas."""


class EcfTotales32(TypedDict):
    """EcfTotales32"""

    MontoGravadoTotal: NotRequired["EcfAmount"]
    """The taxable amount of all rates together, without ITBIS. Filled in where left out: computed from the lines. · Monto gravado de todas las tasas, sin ITBIS. Si falta, se completa: se calcula de las líneas."""
    MontoGravadoI1: NotRequired["EcfAmount"]
    """The amount taxed at 18%, without ITBIS. Filled in where left out: computed from the lines. · Monto gravado al 18 %, sin ITBIS. Si falta, se completa: se calcula de las líneas."""
    MontoGravadoI2: NotRequired["EcfAmount"]
    """The amount taxed at 16%, without ITBIS. Filled in where left out: computed from the lines. · Monto gravado al 16 %, sin ITBIS. Si falta, se completa: se calcula de las líneas."""
    MontoGravadoI3: NotRequired["EcfAmount"]
    """The amount taxed at 0%, such as exports. Filled in where left out: computed from the lines. · Monto gravado a tasa 0 %, como las exportaciones. Si falta, se completa: se calcula de las líneas."""
    MontoExento: NotRequired["EcfAmount"]
    """The amount that is exempt from ITBIS. Filled in where left out: computed from the lines. · Monto exento de ITBIS. Si falta, se completa: se calcula de las líneas."""
    ITBIS1: NotRequired["EcfWhole2"]
    """The first rate of ITBIS, in per cent: 18. Filled in where left out: computed from the lines. · Primera tasa de ITBIS, en porcentaje: 18. Si falta, se completa: se calcula de las líneas."""
    ITBIS2: NotRequired["EcfWhole2"]
    """The second rate of ITBIS, in per cent: 16. Filled in where left out: computed from the lines. · Segunda tasa de ITBIS, en porcentaje: 16. Si falta, se completa: se calcula de las líneas."""
    ITBIS3: NotRequired["EcfWhole2"]
    """The third rate of ITBIS, in per cent: 0. Filled in where left out: computed from the lines. · Tercera tasa de ITBIS, en porcentaje: 0. Si falta, se completa: se calcula de las líneas."""
    TotalITBIS: NotRequired["EcfAmount"]
    """The ITBIS of all rates together. Filled in where left out: computed from the lines. · ITBIS total de todas las tasas. Si falta, se completa: se calcula de las líneas."""
    TotalITBIS1: NotRequired["EcfAmount"]
    """The ITBIS at 18%. Filled in where left out: computed from the lines. · ITBIS al 18 %. Si falta, se completa: se calcula de las líneas."""
    TotalITBIS2: NotRequired["EcfAmount"]
    """The ITBIS at 16%. Filled in where left out: computed from the lines. · ITBIS al 16 %. Si falta, se completa: se calcula de las líneas."""
    TotalITBIS3: NotRequired["EcfAmount"]
    """The ITBIS at 0%: 0.00. Filled in where left out: computed from the lines. · ITBIS a tasa 0 %: 0.00. Si falta, se completa: se calcula de las líneas."""
    MontoImpuestoAdicional: NotRequired["EcfAmountAbove0"]
    """All additional taxes together: the selective ones (ISC), the legal tip and the like. Filled in where left out: computed from the lines. · Suma de los impuestos adicionales: selectivo al consumo (ISC), propina legal y similares. Si falta, se completa: se calcula de las líneas."""
    ImpuestosAdicionales: NotRequired["EcfImpuestosAdicionales31"]
    """The additional taxes, one by one. Filled in where left out: computed from the lines. · Los impuestos adicionales, uno por uno. Si falta, se completa: se calcula de las líneas."""
    MontoTotal: NotRequired["EcfAmount"]
    """The total of the receipt: taxed and exempt amounts, ITBIS and additional taxes. Filled in where left out: computed from the lines. · Total del comprobante: montos gravados y exentos, ITBIS e impuestos adicionales. Si falta, se completa: se calcula de las líneas."""
    MontoNoFacturable: NotRequired["EcfAmountSigned"]
    """The amount of lines that are not billable (IndicadorFacturacion 0). It may be negative. Filled in where left out: computed from the lines. · Monto de las líneas no facturables (IndicadorFacturacion 0). Puede ser negativo. Si falta, se completa: se calcula de las líneas."""
    MontoPeriodo: NotRequired["EcfAmountSigned"]
    """The amount of the period: MontoTotal and MontoNoFacturable together. Filled in where left out: computed from the lines. · Monto del período: MontoTotal más MontoNoFacturable. Si falta, se completa: se calcula de las líneas."""
    SaldoAnterior: NotRequired["EcfAmountSigned"]
    """The balance of before. It may be negative. · Saldo anterior. Puede ser negativo."""
    MontoAvancePago: NotRequired["EcfAmount"]
    """What was paid in advance. · Monto pagado por adelantado."""
    ValorPagar: NotRequired["EcfAmountSigned"]
    """What is to be paid in the end. Filled in where left out: computed from the lines. · Valor a pagar. Si falta, se completa: se calcula de las líneas."""


class EcfTotales34(TypedDict):
    """EcfTotales34"""

    MontoGravadoTotal: NotRequired["EcfAmount"]
    """The taxable amount of all rates together, without ITBIS. Filled in where left out: computed from the lines. · Monto gravado de todas las tasas, sin ITBIS. Si falta, se completa: se calcula de las líneas."""
    MontoGravadoI1: NotRequired["EcfAmount"]
    """The amount taxed at 18%, without ITBIS. Filled in where left out: computed from the lines. · Monto gravado al 18 %, sin ITBIS. Si falta, se completa: se calcula de las líneas."""
    MontoGravadoI2: NotRequired["EcfAmount"]
    """The amount taxed at 16%, without ITBIS. Filled in where left out: computed from the lines. · Monto gravado al 16 %, sin ITBIS. Si falta, se completa: se calcula de las líneas."""
    MontoGravadoI3: NotRequired["EcfAmount"]
    """The amount taxed at 0%, such as exports. Filled in where left out: computed from the lines. · Monto gravado a tasa 0 %, como las exportaciones. Si falta, se completa: se calcula de las líneas."""
    MontoExento: NotRequired["EcfAmount"]
    """The amount that is exempt from ITBIS. Filled in where left out: computed from the lines. · Monto exento de ITBIS. Si falta, se completa: se calcula de las líneas."""
    ITBIS1: NotRequired["EcfWhole2"]
    """The first rate of ITBIS, in per cent: 18. Filled in where left out: computed from the lines. · Primera tasa de ITBIS, en porcentaje: 18. Si falta, se completa: se calcula de las líneas."""
    ITBIS2: NotRequired["EcfWhole2"]
    """The second rate of ITBIS, in per cent: 16. Filled in where left out: computed from the lines. · Segunda tasa de ITBIS, en porcentaje: 16. Si falta, se completa: se calcula de las líneas."""
    ITBIS3: NotRequired["EcfWhole2"]
    """The third rate of ITBIS, in per cent: 0. Filled in where left out: computed from the lines. · Tercera tasa de ITBIS, en porcentaje: 0. Si falta, se completa: se calcula de las líneas."""
    TotalITBIS: NotRequired["EcfAmount"]
    """The ITBIS of all rates together. Filled in where left out: computed from the lines. · ITBIS total de todas las tasas. Si falta, se completa: se calcula de las líneas."""
    TotalITBIS1: NotRequired["EcfAmount"]
    """The ITBIS at 18%. Filled in where left out: computed from the lines. · ITBIS al 18 %. Si falta, se completa: se calcula de las líneas."""
    TotalITBIS2: NotRequired["EcfAmount"]
    """The ITBIS at 16%. Filled in where left out: computed from the lines. · ITBIS al 16 %. Si falta, se completa: se calcula de las líneas."""
    TotalITBIS3: NotRequired["EcfAmount"]
    """The ITBIS at 0%: 0.00. Filled in where left out: computed from the lines. · ITBIS a tasa 0 %: 0.00. Si falta, se completa: se calcula de las líneas."""
    MontoImpuestoAdicional: NotRequired["EcfAmountAbove0"]
    """All additional taxes together: the selective ones (ISC), the legal tip and the like. Filled in where left out: computed from the lines. · Suma de los impuestos adicionales: selectivo al consumo (ISC), propina legal y similares. Si falta, se completa: se calcula de las líneas."""
    ImpuestosAdicionales: NotRequired["EcfImpuestosAdicionales34"]
    """The additional taxes, one by one. Filled in where left out: computed from the lines. · Los impuestos adicionales, uno por uno. Si falta, se completa: se calcula de las líneas."""
    MontoTotal: NotRequired["EcfAmount"]
    """The total of the receipt: taxed and exempt amounts, ITBIS and additional taxes. Filled in where left out: computed from the lines. · Total del comprobante: montos gravados y exentos, ITBIS e impuestos adicionales. Si falta, se completa: se calcula de las líneas."""
    MontoNoFacturable: NotRequired["EcfAmountSigned"]
    """The amount of lines that are not billable (IndicadorFacturacion 0). It may be negative. Filled in where left out: computed from the lines. · Monto de las líneas no facturables (IndicadorFacturacion 0). Puede ser negativo. Si falta, se completa: se calcula de las líneas."""
    MontoPeriodo: NotRequired["EcfAmountSigned"]
    """The amount of the period: MontoTotal and MontoNoFacturable together. Filled in where left out: computed from the lines. · Monto del período: MontoTotal más MontoNoFacturable. Si falta, se completa: se calcula de las líneas."""
    SaldoAnterior: NotRequired["EcfAmountSigned"]
    """The balance of before. It may be negative. · Saldo anterior. Puede ser negativo."""
    MontoAvancePago: NotRequired["EcfAmount"]
    """What was paid in advance. · Monto pagado por adelantado."""
    ValorPagar: NotRequired["EcfAmountSigned"]
    """What is to be paid in the end. Filled in where left out: computed from the lines. · Valor a pagar. Si falta, se completa: se calcula de las líneas."""
    TotalITBISRetenido: NotRequired["EcfAmount"]
    """The ITBIS withheld in all lines. Filled in where left out: computed from the lines. · ITBIS retenido en todas las líneas. Si falta, se completa: se calcula de las líneas."""
    TotalISRRetencion: NotRequired["EcfAmount"]
    """The income tax (ISR) withheld in all lines. Filled in where left out: computed from the lines. · ISR retenido en todas las líneas. Si falta, se completa: se calcula de las líneas."""
    TotalITBISPercepcion: NotRequired["EcfAmount"]
    """The ITBIS perceived in all lines. Filled in where left out: computed from the lines. · ITBIS percibido en todas las líneas. Si falta, se completa: se calcula de las líneas."""
    TotalISRPercepcion: NotRequired["EcfAmount"]
    """The income tax (ISR) perceived in all lines. Filled in where left out: computed from the lines. · ISR percibido en todas las líneas. Si falta, se completa: se calcula de las líneas."""


class EcfTotales41(TypedDict):
    """EcfTotales41"""

    MontoGravadoTotal: NotRequired["EcfAmount"]
    """The taxable amount of all rates together, without ITBIS. Filled in where left out: computed from the lines. · Monto gravado de todas las tasas, sin ITBIS. Si falta, se completa: se calcula de las líneas."""
    MontoGravadoI1: NotRequired["EcfAmount"]
    """The amount taxed at 18%, without ITBIS. Filled in where left out: computed from the lines. · Monto gravado al 18 %, sin ITBIS. Si falta, se completa: se calcula de las líneas."""
    MontoGravadoI2: NotRequired["EcfAmount"]
    """The amount taxed at 16%, without ITBIS. Filled in where left out: computed from the lines. · Monto gravado al 16 %, sin ITBIS. Si falta, se completa: se calcula de las líneas."""
    MontoGravadoI3: NotRequired["EcfAmount"]
    """The amount taxed at 0%, such as exports. Filled in where left out: computed from the lines. · Monto gravado a tasa 0 %, como las exportaciones. Si falta, se completa: se calcula de las líneas."""
    MontoExento: NotRequired["EcfAmount"]
    """The amount that is exempt from ITBIS. Filled in where left out: computed from the lines. · Monto exento de ITBIS. Si falta, se completa: se calcula de las líneas."""
    ITBIS1: NotRequired["EcfWhole2"]
    """The first rate of ITBIS, in per cent: 18. Filled in where left out: computed from the lines. · Primera tasa de ITBIS, en porcentaje: 18. Si falta, se completa: se calcula de las líneas."""
    ITBIS2: NotRequired["EcfWhole2"]
    """The second rate of ITBIS, in per cent: 16. Filled in where left out: computed from the lines. · Segunda tasa de ITBIS, en porcentaje: 16. Si falta, se completa: se calcula de las líneas."""
    ITBIS3: NotRequired["EcfWhole2"]
    """The third rate of ITBIS, in per cent: 0. Filled in where left out: computed from the lines. · Tercera tasa de ITBIS, en porcentaje: 0. Si falta, se completa: se calcula de las líneas."""
    TotalITBIS: NotRequired["EcfAmount"]
    """The ITBIS of all rates together. Filled in where left out: computed from the lines. · ITBIS total de todas las tasas. Si falta, se completa: se calcula de las líneas."""
    TotalITBIS1: NotRequired["EcfAmount"]
    """The ITBIS at 18%. Filled in where left out: computed from the lines. · ITBIS al 18 %. Si falta, se completa: se calcula de las líneas."""
    TotalITBIS2: NotRequired["EcfAmount"]
    """The ITBIS at 16%. Filled in where left out: computed from the lines. · ITBIS al 16 %. Si falta, se completa: se calcula de las líneas."""
    TotalITBIS3: NotRequired["EcfAmount"]
    """The ITBIS at 0%: 0.00. Filled in where left out: computed from the lines. · ITBIS a tasa 0 %: 0.00. Si falta, se completa: se calcula de las líneas."""
    MontoTotal: NotRequired["EcfAmount"]
    """The total of the receipt: taxed and exempt amounts, ITBIS and additional taxes. Filled in where left out: computed from the lines. · Total del comprobante: montos gravados y exentos, ITBIS e impuestos adicionales. Si falta, se completa: se calcula de las líneas."""
    MontoPeriodo: NotRequired["EcfAmountSigned"]
    """The amount of the period: MontoTotal and MontoNoFacturable together. Filled in where left out: computed from the lines. · Monto del período: MontoTotal más MontoNoFacturable. Si falta, se completa: se calcula de las líneas."""
    SaldoAnterior: NotRequired["EcfAmountSigned"]
    """The balance of before. It may be negative. · Saldo anterior. Puede ser negativo."""
    MontoAvancePago: NotRequired["EcfAmount"]
    """What was paid in advance. · Monto pagado por adelantado."""
    ValorPagar: NotRequired["EcfAmountSigned"]
    """What is to be paid in the end. Filled in where left out: computed from the lines. · Valor a pagar. Si falta, se completa: se calcula de las líneas."""
    TotalITBISRetenido: NotRequired["EcfAmount"]
    """The ITBIS withheld in all lines. Filled in where left out: computed from the lines. · ITBIS retenido en todas las líneas. Si falta, se completa: se calcula de las líneas."""
    TotalISRRetencion: NotRequired["EcfAmount"]
    """The income tax (ISR) withheld in all lines. Filled in where left out: computed from the lines. · ISR retenido en todas las líneas. Si falta, se completa: se calcula de las líneas."""
    TotalITBISPercepcion: NotRequired["EcfAmount"]
    """The ITBIS perceived in all lines. Filled in where left out: computed from the lines. · ITBIS percibido en todas las líneas. Si falta, se completa: se calcula de las líneas."""
    TotalISRPercepcion: NotRequired["EcfAmount"]
    """The income tax (ISR) perceived in all lines. Filled in where left out: computed from the lines. · ISR percibido en todas las líneas. Si falta, se completa: se calcula de las líneas."""


class EcfTotales43(TypedDict):
    """EcfTotales43"""

    MontoExento: NotRequired["EcfAmount"]
    """The amount that is exempt from ITBIS. Filled in where left out: computed from the lines. · Monto exento de ITBIS. Si falta, se completa: se calcula de las líneas."""
    MontoTotal: NotRequired["EcfAmount"]
    """The total of the receipt: taxed and exempt amounts, ITBIS and additional taxes. Filled in where left out: computed from the lines. · Total del comprobante: montos gravados y exentos, ITBIS e impuestos adicionales. Si falta, se completa: se calcula de las líneas."""
    MontoPeriodo: NotRequired["EcfAmountSigned"]
    """The amount of the period: MontoTotal and MontoNoFacturable together. Filled in where left out: computed from the lines. · Monto del período: MontoTotal más MontoNoFacturable. Si falta, se completa: se calcula de las líneas."""
    SaldoAnterior: NotRequired["EcfAmountSigned"]
    """The balance of before. It may be negative. · Saldo anterior. Puede ser negativo."""
    MontoAvancePago: NotRequired["EcfAmount"]
    """What was paid in advance. · Monto pagado por adelantado."""
    ValorPagar: NotRequired["EcfAmountSigned"]
    """What is to be paid in the end. Filled in where left out: computed from the lines. · Valor a pagar. Si falta, se completa: se calcula de las líneas."""


class EcfTotales44(TypedDict):
    """EcfTotales44"""

    MontoExento: NotRequired["EcfAmount"]
    """The amount that is exempt from ITBIS. Filled in where left out: computed from the lines. · Monto exento de ITBIS. Si falta, se completa: se calcula de las líneas."""
    MontoImpuestoAdicional: NotRequired["EcfAmountAbove0"]
    """All additional taxes together: the selective ones (ISC), the legal tip and the like. Filled in where left out: computed from the lines. · Suma de los impuestos adicionales: selectivo al consumo (ISC), propina legal y similares. Si falta, se completa: se calcula de las líneas."""
    ImpuestosAdicionales: NotRequired["EcfImpuestosAdicionales44"]
    """The additional taxes, one by one. Filled in where left out: computed from the lines. · Los impuestos adicionales, uno por uno. Si falta, se completa: se calcula de las líneas."""
    MontoTotal: NotRequired["EcfAmount"]
    """The total of the receipt: taxed and exempt amounts, ITBIS and additional taxes. Filled in where left out: computed from the lines. · Total del comprobante: montos gravados y exentos, ITBIS e impuestos adicionales. Si falta, se completa: se calcula de las líneas."""
    MontoNoFacturable: NotRequired["EcfAmountSigned"]
    """The amount of lines that are not billable (IndicadorFacturacion 0). It may be negative. Filled in where left out: computed from the lines. · Monto de las líneas no facturables (IndicadorFacturacion 0). Puede ser negativo. Si falta, se completa: se calcula de las líneas."""
    MontoPeriodo: NotRequired["EcfAmountSigned"]
    """The amount of the period: MontoTotal and MontoNoFacturable together. Filled in where left out: computed from the lines. · Monto del período: MontoTotal más MontoNoFacturable. Si falta, se completa: se calcula de las líneas."""
    SaldoAnterior: NotRequired["EcfAmountSigned"]
    """The balance of before. It may be negative. · Saldo anterior. Puede ser negativo."""
    MontoAvancePago: NotRequired["EcfAmount"]
    """What was paid in advance. · Monto pagado por adelantado."""
    ValorPagar: NotRequired["EcfAmountSigned"]
    """What is to be paid in the end. Filled in where left out: computed from the lines. · Valor a pagar. Si falta, se completa: se calcula de las líneas."""


class EcfTotales46(TypedDict):
    """EcfTotales46"""

    MontoGravadoTotal: NotRequired["EcfAmount"]
    """The taxable amount of all rates together, without ITBIS. Filled in where left out: computed from the lines. · Monto gravado de todas las tasas, sin ITBIS. Si falta, se completa: se calcula de las líneas."""
    MontoGravadoI3: NotRequired["EcfAmount"]
    """The amount taxed at 0%, such as exports. Filled in where left out: computed from the lines. · Monto gravado a tasa 0 %, como las exportaciones. Si falta, se completa: se calcula de las líneas."""
    ITBIS3: NotRequired["EcfWhole2"]
    """The third rate of ITBIS, in per cent: 0. Filled in where left out: computed from the lines. · Tercera tasa de ITBIS, en porcentaje: 0. Si falta, se completa: se calcula de las líneas."""
    TotalITBIS: NotRequired["EcfAmount"]
    """The ITBIS of all rates together. Filled in where left out: computed from the lines. · ITBIS total de todas las tasas. Si falta, se completa: se calcula de las líneas."""
    TotalITBIS3: NotRequired["EcfAmount"]
    """The ITBIS at 0%: 0.00. Filled in where left out: computed from the lines. · ITBIS a tasa 0 %: 0.00. Si falta, se completa: se calcula de las líneas."""
    MontoTotal: NotRequired["EcfAmount"]
    """The total of the receipt: taxed and exempt amounts, ITBIS and additional taxes. Filled in where left out: computed from the lines. · Total del comprobante: montos gravados y exentos, ITBIS e impuestos adicionales. Si falta, se completa: se calcula de las líneas."""
    MontoNoFacturable: NotRequired["EcfAmountSigned"]
    """The amount of lines that are not billable (IndicadorFacturacion 0). It may be negative. Filled in where left out: computed from the lines. · Monto de las líneas no facturables (IndicadorFacturacion 0). Puede ser negativo. Si falta, se completa: se calcula de las líneas."""
    MontoPeriodo: NotRequired["EcfAmountSigned"]
    """The amount of the period: MontoTotal and MontoNoFacturable together. Filled in where left out: computed from the lines. · Monto del período: MontoTotal más MontoNoFacturable. Si falta, se completa: se calcula de las líneas."""
    SaldoAnterior: NotRequired["EcfAmountSigned"]
    """The balance of before. It may be negative. · Saldo anterior. Puede ser negativo."""
    MontoAvancePago: NotRequired["EcfAmount"]
    """What was paid in advance. · Monto pagado por adelantado."""
    ValorPagar: NotRequired["EcfAmountSigned"]
    """What is to be paid in the end. Filled in where left out: computed from the lines. · Valor a pagar. Si falta, se completa: se calcula de las líneas."""


class EcfTotales47(TypedDict):
    """EcfTotales47"""

    MontoExento: NotRequired["EcfAmount"]
    """The amount that is exempt from ITBIS. Filled in where left out: computed from the lines. · Monto exento de ITBIS. Si falta, se completa: se calcula de las líneas."""
    MontoTotal: NotRequired["EcfAmount"]
    """The total of the receipt: taxed and exempt amounts, ITBIS and additional taxes. Filled in where left out: computed from the lines. · Total del comprobante: montos gravados y exentos, ITBIS e impuestos adicionales. Si falta, se completa: se calcula de las líneas."""
    MontoPeriodo: NotRequired["EcfAmountSigned"]
    """The amount of the period: MontoTotal and MontoNoFacturable together. Filled in where left out: computed from the lines. · Monto del período: MontoTotal más MontoNoFacturable. Si falta, se completa: se calcula de las líneas."""
    SaldoAnterior: NotRequired["EcfAmountSigned"]
    """The balance of before. It may be negative. · Saldo anterior. Puede ser negativo."""
    MontoAvancePago: NotRequired["EcfAmount"]
    """What was paid in advance. · Monto pagado por adelantado."""
    ValorPagar: NotRequired["EcfAmountSigned"]
    """What is to be paid in the end. Filled in where left out: computed from the lines. · Valor a pagar. Si falta, se completa: se calcula de las líneas."""
    TotalISRRetencion: NotRequired["EcfAmount"]
    """The income tax (ISR) withheld in all lines. Filled in where left out: computed from the lines. · ISR retenido en todas las líneas. Si falta, se completa: se calcula de las líneas."""


class EcfTotalesImpuestoAdicional31(TypedDict):
    """EcfTotalesImpuestoAdicional31"""

    TipoImpuesto: "EcfAdditionalTax"
    """Which additional tax it is, by its code of three digits. · Qué impuesto adicional es, por su código de tres dígitos."""
    TasaImpuestoAdicional: NotRequired["EcfPercentage"]
    """Its rate: per cent, or for selective taxes by quantity pesos a unit. Filled in where left out: computed from the lines. · Su tasa: porcentaje o, en el selectivo específico, pesos por unidad. Si falta, se completa: se calcula de las líneas."""
    MontoImpuestoSelectivoConsumoEspecifico: NotRequired["EcfAmountAbove0"]
    """Selective tax by quantity (ISC específico), in pesos. Filled in where left out: computed from the lines. · Impuesto selectivo al consumo específico, en pesos. Si falta, se completa: se calcula de las líneas."""
    MontoImpuestoSelectivoConsumoAdvalorem: NotRequired["EcfAmountAbove0"]
    """Selective tax by price (ISC ad valorem), in pesos. Filled in where left out: computed from the lines. · Impuesto selectivo al consumo ad valorem, en pesos. Si falta, se completa: se calcula de las líneas."""
    OtrosImpuestosAdicionales: NotRequired["EcfAmountAbove0"]
    """The amount of another additional tax (codes 001 to 005), in pesos. Filled in where left out: computed from the lines. · Monto de otro impuesto adicional (códigos 001 a 005), en pesos. Si falta, se completa: se calcula de las líneas."""


class EcfTotalesImpuestoAdicional34(TypedDict):
    """EcfTotalesImpuestoAdicional34"""

    TipoImpuesto: NotRequired["EcfAdditionalTax"]
    """Which additional tax it is, by its code of three digits. · Qué impuesto adicional es, por su código de tres dígitos."""
    TasaImpuestoAdicional: NotRequired["EcfPercentage"]
    """Its rate: per cent, or for selective taxes by quantity pesos a unit. Filled in where left out: computed from the lines. · Su tasa: porcentaje o, en el selectivo específico, pesos por unidad. Si falta, se completa: se calcula de las líneas."""
    MontoImpuestoSelectivoConsumoEspecifico: NotRequired["EcfAmountAbove0"]
    """Selective tax by quantity (ISC específico), in pesos. Filled in where left out: computed from the lines. · Impuesto selectivo al consumo específico, en pesos. Si falta, se completa: se calcula de las líneas."""
    MontoImpuestoSelectivoConsumoAdvalorem: NotRequired["EcfAmountAbove0"]
    """Selective tax by price (ISC ad valorem), in pesos. Filled in where left out: computed from the lines. · Impuesto selectivo al consumo ad valorem, en pesos. Si falta, se completa: se calcula de las líneas."""
    OtrosImpuestosAdicionales: NotRequired["EcfAmountAbove0"]
    """The amount of another additional tax (codes 001 to 005), in pesos. Filled in where left out: computed from the lines. · Monto de otro impuesto adicional (códigos 001 a 005), en pesos. Si falta, se completa: se calcula de las líneas."""


class EcfTotalesImpuestoAdicional44(TypedDict):
    """EcfTotalesImpuestoAdicional44"""

    TipoImpuesto: "EcfAdditionalTax"
    """Which additional tax it is, by its code of three digits. · Qué impuesto adicional es, por su código de tres dígitos."""
    TasaImpuestoAdicional: NotRequired["EcfPercentage"]
    """Its rate: per cent, or for selective taxes by quantity pesos a unit. Filled in where left out: computed from the lines. · Su tasa: porcentaje o, en el selectivo específico, pesos por unidad. Si falta, se completa: se calcula de las líneas."""
    OtrosImpuestosAdicionales: NotRequired["EcfAmountAbove0"]
    """The amount of another additional tax (codes 001 to 005), in pesos. Filled in where left out: computed from the lines. · Monto de otro impuesto adicional (códigos 001 a 005), en pesos. Si falta, se completa: se calcula de las líneas."""


#: `01` by land · terrestre; `02` by sea · marítima; `03` by air · aérea
EcfTransportWay: TypeAlias = Literal["01", "02", "03"]


class EcfTransporte31(TypedDict):
    """EcfTransporte31"""

    Conductor: NotRequired[str]
    """The driver. · Conductor."""
    DocumentoTransporte: NotRequired["EcfWhole20"]
    """The number of the transport document; digits only. · Número del documento de transporte; solo dígitos."""
    Ficha: NotRequired[str]
    """The fleet number of the vehicle. · Ficha del vehículo."""
    Placa: NotRequired[str]
    """The number plate of the vehicle. · Placa del vehículo."""
    RutaTransporte: NotRequired[str]
    """The route. · Ruta de transporte."""
    ZonaTransporte: NotRequired[str]
    """The zone. · Zona de transporte."""
    NumeroAlbaran: NotRequired[str]
    """The number of the delivery note. · Número de albarán o conduce."""


class EcfTransporte46(TypedDict):
    """EcfTransporte46"""

    ViaTransporte: NotRequired["EcfTransportWay"]
    """By land, by sea or by air. · Vía: terrestre, marítima o aérea."""
    PaisOrigen: NotRequired[str]
    """3 to 60 characters without digits, the last one a letter. De 3 a 60 caracteres sin dígitos, el último una letra. The country of origin, in words. · País de origen, en palabras."""
    DireccionDestino: NotRequired[str]
    """The address it goes to. · Dirección de destino."""
    PaisDestino: NotRequired[str]
    """3 to 60 characters without digits, the last one a letter. De 3 a 60 caracteres sin dígitos, el último una letra. The country it goes to, in words. · País de destino, en palabras."""
    RNCIdentificacionCompaniaTransportista: NotRequired[str]
    """The tax id of the carrier. · RNC o identificación de la compañía transportista."""
    NombreCompaniaTransportista: NotRequired[str]
    """The name of the carrier. · Nombre de la compañía transportista."""
    NumeroViaje: NotRequired[str]
    """The number of the voyage or flight. · Número de viaje o de vuelo."""
    Conductor: NotRequired[str]
    """The driver. · Conductor."""
    DocumentoTransporte: NotRequired["EcfWhole20"]
    """The number of the transport document; digits only. · Número del documento de transporte; solo dígitos."""
    Ficha: NotRequired[str]
    """The fleet number of the vehicle. · Ficha del vehículo."""
    Placa: NotRequired[str]
    """The number plate of the vehicle. · Placa del vehículo."""
    RutaTransporte: NotRequired[str]
    """The route. · Ruta de transporte."""
    ZonaTransporte: NotRequired[str]
    """The zone. · Zona de transporte."""
    NumeroAlbaran: NotRequired[str]
    """The number of the delivery note. · Número de albarán o conduce."""


class EcfTransporte47(TypedDict):
    """EcfTransporte47"""

    PaisDestino: NotRequired[str]
    """At most 60 letters, commas and blanks. Máximo 60 letras, comas y espacios. The country it goes to, in words. · País de destino, en palabras."""


#: `1` barrel · barril; `2` bag · bolsa; `3` jar · bote; `4` bundle · bulto; `5` bottle · botella; `6` box or crate · caja o cajón; `7` cigarette pack · cajetilla; `8` centimetre · centímetro; `9` cylinder · cilindro; `10` set · conjunto; `11` container · contenedor; `12` day · día; `13` dozen · docena; `14` bale · fardo; `15` gallon · galón; `16` degree · grado; `17` gram · gramo; `18` bulk · granel; `19` hour · hora; `20` crate (huacal) · huacal; `21` kilogram · kilogramo; `22` kilowatt-hour · kilovatio hora; `23` pound · libra; `24` litre · litro; `25` lot · lote; `26` metre · metro; `27` square metre · metro cuadrado; `28` cubic metre · metro cúbico; `29` million British thermal units · millones de unidades térmicas; `30` minute · minuto; `31` package · paquete; `32` pair · par; `33` foot · pie; `34` piece · pieza; `35` roll · rollo; `36` envelope · sobre; `37` second · segundo; `38` tank · tanque; `39` ton · tonelada; `40` tube · tubo; `41` yard · yarda; `42` square yard · yarda cuadrada; `43` unit · unidad; `44` element · elemento; `45` thousand · millar; `46` sack · saco; `47` can · lata; `48` display; `49` drum · bidón; `50` ration · ración; `51` quintal; `52` gross register ton · tonelada de registro bruto; `53` square foot · pie cuadrado; `54` passenger · pasajero; `55` inch · pulgada; `56` berthing of ships · parqueo de barcos en muelle; `57` tray · bandeja; `58` hectare · hectárea; `59` millilitre · mililitro; `60` milligram · miligramo; `61` ounce · onza; `62` troy ounce · onza troy
EcfUnit: TypeAlias = Literal[
    "1",
    "2",
    "3",
    "4",
    "5",
    "6",
    "7",
    "8",
    "9",
    "10",
    "11",
    "12",
    "13",
    "14",
    "15",
    "16",
    "17",
    "18",
    "19",
    "20",
    "21",
    "22",
    "23",
    "24",
    "25",
    "26",
    "27",
    "28",
    "29",
    "30",
    "31",
    "32",
    "33",
    "34",
    "35",
    "36",
    "37",
    "38",
    "39",
    "40",
    "41",
    "42",
    "43",
    "44",
    "45",
    "46",
    "47",
    "48",
    "49",
    "50",
    "51",
    "52",
    "53",
    "54",
    "55",
    "56",
    "57",
    "58",
    "59",
    "60",
    "61",
    "62",
]


#: A whole number of up to 10 digits. Un número entero de hasta 10 dígitos.
EcfWhole10: TypeAlias = int | str


#: A whole number of up to 2 digits. Un número entero de hasta 2 dígitos.
EcfWhole2: TypeAlias = int | str


#: A whole number of up to 20 digits. Un número entero de hasta 20 dígitos.
EcfWhole20: TypeAlias = int | str


#: `1` withholding · retención; `2` perception · percepción
EcfWithholdingAgent: TypeAlias = Literal["1", "2"]


class EntryDeleted(TypedDict):
    """An entry is gone. Receipts already issued are not touched."""

    ok: bool
    id: str


#: The authority's environments, spelled as the first path segment of its services.
Environment: TypeAlias = Literal["ecf", "certecf", "testecf"]


class EnvironmentHealth(TypedDict):
    """The authority in one environment."""

    environment: "Environment"
    outages: "list[OutageAnswer]"
    """hosts that do not answer now"""
    lastHour: "list[ServiceHealth]"
    """services that this service called"""
    lastDay: "list[ServiceHealth]"
    pastOutages: "list[PastOutage]"
    """of seven days, the latest first"""


class Error(TypedDict):
    """The body of every error."""

    message: str
    """what is wrong, in words for a person; names the field it is about"""
    statusCode: int
    """the HTTP status once more"""
    hint: NotRequired[str]
    """what to do, where `message` does not say it"""
    problems: NotRequired["list[DocumentProblem]"]
    """everything that is wrong with the document, as POST /invoices/validate says it"""


class ExpenseAnswer(TypedDict):
    """A classification as it is kept."""

    supplier: str
    eNCF: str | None
    """one receipt of the supplier; left out: all that are not classified by themselves"""
    kind: str
    """kind of expense: 01 Gastos de personal; 02 Gastos por trabajos, suministros y servicios; 03 Arrendamientos; 04 Gastos de activos fijos; 05 Gastos de representación; 06 Otras deducciones admitidas; 07 Gastos financieros; 08 Gastos extraordinarios; 09 Compras y gastos que formarán parte del costo de venta; 10 Adquisiciones de activos; 11 Gastos de seguros"""
    isrType: str | None
    payment: str | None
    paidAfter: int | None
    paidOn: str | None
    itbis: Literal["advance", "cost", "proportional"]
    warnings: NotRequired["list[DocumentProblem]"]
    """remarks on this request, such as members of its body that do not exist and were ignored"""


class ExpenseRequest(TypedDict):
    """Classification of a supplier's purchases, or of one. It replaces the one before."""

    kind: Literal["01", "02", "03", "04", "05", "06", "07", "08", "09", "10", "11"]
    """kind of expense: 01 Gastos de personal; 02 Gastos por trabajos, suministros y servicios; 03 Arrendamientos; 04 Gastos de activos fijos; 05 Gastos de representación; 06 Otras deducciones admitidas; 07 Gastos financieros; 08 Gastos extraordinarios; 09 Compras y gastos que formarán parte del costo de venta; 10 Adquisiciones de activos; 11 Gastos de seguros"""
    eNCF: NotRequired[str | None]
    """one receipt of the supplier; left out: all that are not classified by themselves"""
    isrType: NotRequired[Literal["01", "02", "03", "04", "05", "06", "07", "08", "09", None]]
    """type of ISR withheld, where some is: 01 Alquileres; 02 Honorarios por servicios; 03 Otras rentas; 04 Otras rentas (rentas presuntas); 05 Intereses pagados a personas jurídicas residentes; 06 Intereses pagados a personas físicas residentes; 07 Retención por proveedores del Estado; 08 Juegos telefónicos; 09 Retenciones del subsector de ganadería de carne bovina"""
    payment: NotRequired[Literal["01", "02", "03", "04", "05", "06", "07", None]]
    """form of payment, where the XML states none: 01 Efectivo; 02 Cheques, transferencias o depósito; 03 Tarjeta de crédito o débito; 04 Compra a crédito; 05 Permuta; 06 Notas de crédito; 07 Mixto"""
    paidAfter: NotRequired[int | None]
    """of a supplier: days from the issue to the payment"""
    paidOn: NotRequired[str | None]
    """of one receipt: its day of payment"""
    itbis: NotRequired[Literal["advance", "cost", "proportional"]]
    """where ITBIS goes: deducted, into the cost, or in proportion (art. 349)"""


class ExplainedMessage(TypedDict):
    """The meaning of a code of the authority and what to do, in the requested language."""

    codigo: str
    """as in response.mensajes"""
    meaning: str
    action: str
    """what to do"""


class FailedRequestAnswer(TypedDict):
    """A request that ended with 4xx or 5xx."""

    id: str
    at: str
    """when it was answered"""
    environment: "Environment"
    apiKeyId: str
    requestId: str
    """`X-Request-Id` of the answer"""
    method: str
    route: str
    """the path with the names of its parameters"""
    path: str
    """as it was asked for, without its query"""
    status: int
    durationMs: int
    message: str | None
    """the error in English"""
    messageEs: str | None
    """the error in Spanish"""
    body: str | None
    """the first 2 kB of the body of a request that ended with 4xx, without values of secrets"""


class FailedRequestsAnswer(TypedDict):
    """Failed requests of the last 30 days, newest first."""

    limit: int
    items: "list[FailedRequestAnswer]"
    nextCursor: str | None
    """`cursor` of the items that follow; null: these are the last"""


class GivenAhead(TypedDict):
    """A range that the authority gave ahead."""

    minSequence: int
    maxSequence: int
    expireAt: NotRequired[str | None]
    """a date (YYYY-MM-DD) or a full ISO 8601 timestamp, which means the day it falls on in Santo Domingo"""


class Handing(TypedDict):
    """How it stands with handing a document on to the other party of a receipt."""

    state: Literal["waiting", "pending", "delivered", "refused", "unlisted", "gave_up"]
    """`waiting` for the authority; `pending`: under way; `delivered`: they took it; `refused`: they do not; `unlisted`: the authority's directory has no address for them; `gave_up`: out of attempts"""
    reason: NotRequired[str]
    """of what went wrong, in words"""
    at: NotRequired[str]


class ImportAnswer(TypedDict):
    """An import, and how many of its receipts came how far."""

    importId: str
    environment: Literal["ecf", "certecf", "testecf"]
    name: str
    state: Literal["validating", "validated", "issuing", "issued"]
    """`validated` waits for POST /imports/{importId}/issue"""
    createdAt: str
    receipts: int
    waiting: int
    """not validated yet"""
    valid: int
    """valid and not issued yet"""
    faulty: int
    issued: int
    issuedBefore: int
    """issued by an earlier import of the same keys, and not again"""
    failed: int
    """valid, and refused when it was issued: issue again"""
    types: "list[ImportedType]"
    """what was issued and what can be, by type"""
    montoTotal: Number
    """sum of `types`"""
    notes: list[str]
    """about the whole file"""
    faults: "list[ImportFault]"
    """the first 200; the workbook has all"""
    warnings: NotRequired["list[DocumentProblem]"]
    """remarks on this request, such as members of its body that do not exist and were ignored"""


class ImportFault(TypedDict):
    """A fault of a cell, or of a row as a whole."""

    row: int
    """of the file, from 1"""
    column: str | None
    """path of the field; null: the row as a whole"""
    heading: str | None
    """of the column in the template"""
    message: str
    messageEs: str


class ImportRequest(TypedDict):
    """A workbook whose rows are receipts."""

    name: str
    """of the file, for people"""
    content: str
    """the .xlsx, .ods or .csv in base64, at most 8 MB before it"""


class ImportedType(TypedDict):
    """Receipts of one type."""

    prefix: Literal["E31", "E32", "E33", "E34", "E41", "E43", "E44", "E45", "E46", "E47"]
    receipts: int
    montoTotal: Number
    """sum of their totals"""


class IncidentAnswer(TypedDict):
    """A time in which a part was degraded, down or not measured."""

    state: Literal["degraded", "down", "unmeasured"]
    """the worst of it"""
    since: str
    until: str | None
    """null while it lasts"""


class IncompletePurchase(TypedDict):
    """A purchase that the 606 cannot take yet."""

    supplier: str
    """tax id; your own where the receipt names none"""
    supplierName: str
    eNCF: str
    issuedOn: str
    missing: "list[Missing]"
    """what no XML has: say it once for a supplier, with PUT /expenses"""
    message: str
    messageEs: str


class InvoicePreview(TypedDict):
    """A document as it would be signed now: numbered and completed. Nothing was stored, and no number was drawn."""

    valid: bool
    """whether it would be signed and sent"""
    problems: "list[DocumentProblem]"
    tipoEcf: Literal["E31", "E32", "E33", "E34", "E41", "E43", "E44", "E45", "E46", "E47"] | None
    """type prefix such as E31; null: no receipt"""
    montoTotal: Number | None
    """MontoTotal of the signed XML, in pesos; null until it is known"""
    totalITBIS: Number | None
    """TotalITBIS of the signed XML, 0 where it has none; null until it is known"""
    rncComprador: str | None
    """null where the receipt names none"""
    razonSocialComprador: str | None
    """null until it is known, or where the receipt names none"""
    fechaEmision: str | None
    """FechaEmision of the signed XML; null until it is known"""
    eNCF: str | None
    """its number, or the one it would draw now, which another receipt may draw first; null where there is none"""
    payload: dict[str, Any] | None
    """the completed document, every value as the XML would have it; null where it cannot be written"""
    xml: str | None
    """the same as XML, without a signature"""


class IssuedOfMonth(TypedDict):
    """Receipts of one type in one state."""

    tipoEcf: Literal["E31", "E32", "E33", "E34", "E41", "E43", "E44", "E45", "E46", "E47"]
    status: "Status"
    receipts: int
    montoTotal: Number
    totalITBIS: Number
    taxed18: Number
    itbis18: Number
    taxed16: Number
    itbis16: Number
    taxed0: Number
    exempt: Number
    itbisWithheld: Number
    isrWithheld: Number
    withoutAmounts: int
    """signed by an older release: in the first two amounts alone"""


class Lease(TypedDict):
    """Settings and numbers for an agent to issue with until its next lease."""

    agentId: str
    environment: str
    epoch: int
    """for the next lease"""
    issuer: dict[str, Any]
    """Emisor, in the authority's element names"""
    consumerSummary: Literal["automatic", "off"]
    """of type 32 below the threshold"""
    ecfHost: str
    """host of the QR addresses of e-CF"""
    fcHost: str
    """host of the QR addresses of summaries"""
    sequences: "list[NumberSequence]"
    """those whose numbers are this agent's"""
    warnings: NotRequired["list[DocumentProblem]"]
    """remarks on this request, such as members of its body that do not exist and were ignored"""


class LeaseRequest(TypedDict):
    """A lease: the agent proves by its epoch that it is the only one with its identity."""

    epoch: int
    """of the last lease; 0 creates the agent"""
    nonce: str
    """kept before it is sent: a repeat after a lost answer gets the same lease"""
    certificate: NotRequired[str | None]
    """SHA-256 of the certificate that signs at the till; its e-CF may keep their signature"""


class LoginRequest(TypedDict):
    """An API key and its secret."""

    apiKeyId: str
    """public; begins with fak_"""
    apiSecret: str


class MailSettingsAnswer(TypedDict):
    """Mail of accepted receipts to their buyers."""

    enabled: bool
    replyTo: str | None
    """address that buyers' answers go to; null until it is set"""
    language: Literal["es", "en"]
    documents: Literal["attached", "linked"]
    """PDF and XML: `attached`, or `linked` on the page of the receipt"""
    aDay: int
    """most mails of a day; the rest waits for the next"""
    aDayAllowed: int | None
    """the operator's limit: the smaller one holds; 0: no mail is sent, null: no limit"""
    warnings: NotRequired["list[DocumentProblem]"]
    """remarks on this request, such as members of its body that do not exist and were ignored"""


class MailSettingsRequest(TypedDict):
    """Mail of accepted receipts to their buyers. A member that is left out takes its default."""

    enabled: bool
    replyTo: NotRequired[str | None]
    """address that buyers' answers go to; required with `enabled`. Without it, mail is off and the other settings stay"""
    language: NotRequired[Literal["es", "en"]]
    """of the mail and its PDF"""
    documents: NotRequired[Literal["attached", "linked"]]
    """PDF and XML: `attached`, or `linked` on the page of the receipt"""
    aDay: NotRequired[int]
    """most mails of a day; the rest waits for the next"""


class Mailing(TypedDict):
    """The mail of a receipt to its buyer."""

    state: Literal["waiting", "sent", "refused", "suppressed", "failed"]
    """`waiting`: it will be tried; `sent`: the relay took it; `refused`: the relay refused the address or the message; `suppressed`: the address gets no mail of yours; `failed`: out of tries"""
    address: NotRequired[str]
    """where it goes"""
    reason: NotRequired[str]
    """the relay's last refusal, in its words"""
    at: str
    """when it came to this state"""


#: A field of a row that is missing.
Missing: TypeAlias = Literal["kind", "isrType", "payment", "paidOn"]


#: How a tenant issues now.
Mode: TypeAlias = Literal["normal", "offline", "authority_down", "contingency", "deferred"]


class ModeAnswer(TypedDict):
    """How the tenant issues now in the environment of the key."""

    environment: "Environment"
    mode: "Mode"
    """`offline`: your own line is down; `authority_down`: the authority does not answer; `contingency`: declared to the authority, you issue on paper; `deferred`: you are authorised to send later"""
    since: str | None
    """null in normal mode"""
    outages: "list[OutageAnswer]"
    """hosts of the authority that do not answer now"""
    reason: NotRequired[str]
    """of the mode that was set, also while another covers it"""
    number: NotRequired[str]
    """of the declaration or of the authorisation"""
    validUntil: NotRequired[str]
    """last day of the authorisation"""
    warnings: NotRequired["list[DocumentProblem]"]
    """remarks on this request, such as members of its body that do not exist and were ignored"""


class ModeRequest(TypedDict):
    """The mode that begins now. A contingency and deferred sending are recorded in the portal."""

    mode: Literal["normal", "offline"]
    reason: str
    """why; kept on record"""


class MonthAnswer(TypedDict):
    """A month by the days of issue that receipts state."""

    month: str
    environment: "Environment"
    totals: "MonthTotalsAnswer"
    issued: "list[IssuedOfMonth]"
    received: "list[ReceivedOfMonth]"
    numbers: "list[NumbersOfMonth]"
    sequences: "list[SequenceOfMonth]"
    """by sequence, of the types that have several; empty above 50,000 receipts"""
    isComplete: bool
    """false while ITBIS of received receipts is being computed, or not all receipts that ended in the last seconds are in the sums: ask again"""


class MonthTotalsAnswer(TypedDict):
    """Amounts of accepted receipts; credit notes are subtracted."""

    sales: Number
    """totals of what you issued, without E41, E43 and E47"""
    itbisCharged: Number
    """ITBIS in `sales`"""
    taxed18: Number
    taxed16: Number
    taxed0: Number
    exempt: Number
    ownPurchases: Number
    """totals of E41, E43 and E47"""
    itbisWithheld: Number
    isrWithheld: Number
    received: Number
    """totals of what suppliers issued to you and you did not reject"""
    itbisPaid: Number
    """ITBIS in `received`"""


class NewGoblInvoice(TypedDict):
    """A receipt to submit. In the form `gobl`."""

    format: Literal["gobl"]
    """form of the document"""
    payload: dict[str, Any]
    """a GOBL invoice (draft 0), alone or in its envelope"""
    clientRequestId: NotRequired[str | None]
    """idempotency key"""
    asUser: NotRequired[str | None]
    """e-mail address: issue with that user's certificate"""
    asUserId: NotRequired[str | None]
    """the same by id; wins over asUser"""
    keepSignature: NotRequired[bool | None]
    """with format xml: the e-CF is signed already, by a certificate of one of your agents, and is sent as it is; otherwise the service signs it anew"""
    strict: NotRequired[bool | None]
    """refuse at once, with every problem, a document that would not be sent"""
    simulate: NotRequired["Simulate | None"]
    """where the authority is a simulator: what becomes of the receipt, for testing a client"""
    sequence: NotRequired[str | None]
    """name of the sequence that gives the number, where the document has no eNCF; default: the one that the user of asUser is assigned to, else the one without a name"""
    notify: NotRequired[str | None]
    """e-mail address that gets the accepted receipt instead of CorreoComprador, where the company sends receipts by mail"""
    metadata: NotRequired[dict[str, str] | None]
    """your own labels, such as a branch or an order: at most 20, with names of letters, digits and `_.-`; 4,096 bytes in all. They come back with the submission and its webhooks"""


class NewStructuredInvoice(TypedDict):
    """A receipt to submit. In the form `structured`."""

    format: Literal["structured"]
    """form of the document"""
    payload: "Ecf31 | Ecf32 | Ecf33 | Ecf34 | Ecf41 | Ecf43 | Ecf44 | Ecf45 | Ecf46 | Ecf47 | RfcePayload | AcecfPayload | AnecfPayload"
    """the document as JSON, in the authority's element names"""
    clientRequestId: NotRequired[str | None]
    """idempotency key"""
    asUser: NotRequired[str | None]
    """e-mail address: issue with that user's certificate"""
    asUserId: NotRequired[str | None]
    """the same by id; wins over asUser"""
    keepSignature: NotRequired[bool | None]
    """with format xml: the e-CF is signed already, by a certificate of one of your agents, and is sent as it is; otherwise the service signs it anew"""
    strict: NotRequired[bool | None]
    """refuse at once, with every problem, a document that would not be sent"""
    simulate: NotRequired["Simulate | None"]
    """where the authority is a simulator: what becomes of the receipt, for testing a client"""
    sequence: NotRequired[str | None]
    """name of the sequence that gives the number, where the document has no eNCF; default: the one that the user of asUser is assigned to, else the one without a name"""
    notify: NotRequired[str | None]
    """e-mail address that gets the accepted receipt instead of CorreoComprador, where the company sends receipts by mail"""
    metadata: NotRequired[dict[str, str] | None]
    """your own labels, such as a branch or an order: at most 20, with names of letters, digits and `_.-`; 4,096 bytes in all. They come back with the submission and its webhooks"""


class NewXmlInvoice(TypedDict):
    """A receipt to submit. In the form `xml`."""

    format: Literal["xml"]
    """form of the document"""
    xml: str
    """complete e-CF XML"""
    clientRequestId: NotRequired[str | None]
    """idempotency key"""
    asUser: NotRequired[str | None]
    """e-mail address: issue with that user's certificate"""
    asUserId: NotRequired[str | None]
    """the same by id; wins over asUser"""
    keepSignature: NotRequired[bool | None]
    """with format xml: the e-CF is signed already, by a certificate of one of your agents, and is sent as it is; otherwise the service signs it anew"""
    strict: NotRequired[bool | None]
    """refuse at once, with every problem, a document that would not be sent"""
    simulate: NotRequired["Simulate | None"]
    """where the authority is a simulator: what becomes of the receipt, for testing a client"""
    sequence: NotRequired[str | None]
    """name of the sequence that gives the number, where the document has no eNCF; default: the one that the user of asUser is assigned to, else the one without a name"""
    notify: NotRequired[str | None]
    """e-mail address that gets the accepted receipt instead of CorreoComprador, where the company sends receipts by mail"""
    metadata: NotRequired[dict[str, str] | None]
    """your own labels, such as a branch or an order: at most 20, with names of letters, digits and `_.-`; 4,096 bytes in all. They come back with the submission and its webhooks"""


#: A receipt to submit.
NewInvoice: TypeAlias = "NewStructuredInvoice | NewXmlInvoice | NewGoblInvoice"


class NewSequence(TypedDict):
    """A number sequence to create or change; what is left out takes its default, also when there is a sequence already."""

    minSequence: NotRequired[int | None]
    maxSequence: NotRequired[int | None]
    expireAt: NotRequired[str | None]
    """a date (YYYY-MM-DD) or a full ISO 8601 timestamp, which means the day it falls on in Santo Domingo"""
    isActive: NotRequired[bool | None]
    users: NotRequired[list[str] | None]
    """addresses of the users who draw from it when a submission names no sequence (asUser); only of a sequence with a name; left out: they stay"""
    agentId: NotRequired[str | None]
    """the agent (`fe agent`) that alone gives its numbers: the service draws none; only of a sequence with a name. Null with PATCH releases it"""
    nextRange: NotRequired["GivenAhead | None"]
    """the range that the authority gave ahead: the first draw that finds the own range used up or expired begins it. Null removes it; left out it stays"""
    prefix: Literal["E31", "E32", "E33", "E34", "E41", "E43", "E44", "E45", "E46", "E47"]
    name: NotRequired[str | None]
    """of a sequence beside the one without a name"""


class NotFound(TypedDict):
    """Nothing of this tenant has that id."""

    found: bool
    hint: NotRequired[str]
    """how to find what the id looks like"""


#: The fate of the fiscal number.
NumberFate: TypeAlias = Literal["reserved", "used", "reusable", "unknown", "void"]


class NumberGapAnswer(TypedDict):
    """Numbers in a row that no signed receipt has."""

    first: str
    last: str


class NumberRangeAnswer(TypedDict):
    """Numbers of one type, both ends included."""

    first: str
    last: str


class NumberSequence(TypedDict):
    """A number sequence; numbers are strings because a range reaches 9999999999."""

    id: str
    type: Literal["E31", "E32", "E33", "E34", "E41", "E43", "E44", "E45", "E46", "E47"]
    prefix: Literal["E31", "E32", "E33", "E34", "E41", "E43", "E44", "E45", "E46", "E47"]
    name: NotRequired[str]
    """absent: the sequence of the prefix that a submission draws from by default"""
    users: NotRequired[list[str]]
    """of one with a name: the users who draw from it when their submission names no sequence"""
    agentId: NotRequired[str]
    """the agent that alone gives its numbers; the service draws none of them"""
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
    pausedAt: str | None
    """since when it gives no numbers; setting currentSequence or isActive resumes it"""
    pausedFor: str | None
    """the number that it gave and that another document of this issuer holds at the authority"""
    nextRange: NotRequired["RangeAhead"]
    """the range it goes on with: the first draw that finds its own range used up or expired begins it; absent: none is stored"""
    warnings: NotRequired["list[DocumentProblem]"]
    """when it was just set: members of the body that do not exist, that it is over already, or says no last day; absent otherwise"""


class NumbersOfMonth(TypedDict):
    """Numbers of one type, from the first to the last of the month. `drawn` is the sum of the four behind it."""

    prefix: Literal["E31", "E32", "E33", "E34", "E41", "E43", "E44", "E45", "E46", "E47"]
    first: str
    last: str
    drawn: int
    accepted: int
    rejected: int
    failed: int
    """ended as `error`, and still hold their number"""
    others: int
    """without a verdict yet, or issued in another month"""
    withoutReceipt: int
    """between `first` and `last`, and in no receipt"""
    void: int
    """of `withoutReceipt`: voided at the authority"""
    gaps: "list[NumberGapAnswer]"
    """the numbers of `withoutReceipt`, 50 gaps at most"""


class OutageAnswer(TypedDict):
    """A host of the authority that does not answer."""

    host: Literal["ecf", "fc"]
    """`ecf`: receipts; `fc`: summaries of consumer invoices"""
    since: str


class PaperContent(TypedDict):
    """The content of a paper receipt."""

    issuedOn: NotRequired[str | None]
    """the day on the paper; default: today, in a correction the day that was entered"""
    payload: dict[str, Any]
    """the receipt as in POST /invoices, with `TipoeCF` of the e-CF that replaces it, and without number, dates of its own and reference"""


class PaperEntered(TypedDict):
    """The result of one receipt."""

    statusCode: int
    """201 entered, 200 entered before with the same content, else an error"""
    message: str
    ncf: str | None
    receipt: NotRequired["PaperReceiptAnswer"]
    problems: NotRequired["list[DocumentProblem]"]


class PaperEnteredAnswer(TypedDict):
    """The result of each receipt, in the order of the request."""

    items: "list[PaperEntered]"
    warnings: NotRequired["list[DocumentProblem]"]
    """remarks on this request, such as members of its body that do not exist and were ignored"""


class PaperRangeAnswer(TypedDict):
    """A range of series B."""

    rangeId: str
    environment: "Environment"
    first: str
    last: str
    next: str | None
    """the number that the service draws next; null: none is left"""
    expiresOn: str
    recordedAt: str
    recordedBy: str
    warnings: NotRequired["list[DocumentProblem]"]
    """remarks on this request, such as members of its body that do not exist and were ignored"""


class PaperRangeDeleted(TypedDict):
    """The range is gone."""

    ok: bool
    rangeId: str


class PaperRangeRequest(TypedDict):
    """Numbers that the authority authorised for paper, of one type, both ends included."""

    first: str
    last: str
    expiresOn: str
    """last day of the range"""


class PaperRangesAnswer(TypedDict):
    """The ranges, by type and number."""

    items: "list[PaperRangeAnswer]"


class PaperReceiptAnswer(TypedDict):
    """A receipt on paper, and the e-CF that replaces it."""

    ncf: str
    environment: "Environment"
    issuedOn: str
    expiresOn: str
    """last day of its range"""
    contingency: str
    """number of the declared contingency"""
    buyerRnc: str | None
    buyerName: str | None
    total: Number
    itbis: Number
    state: "PaperState"
    """`open`: without an e-CF; `issued`: its e-CF has no result yet; `rejected`: its last e-CF was rejected or failed, another can be issued; `replaced`: its e-CF is accepted"""
    replaceBy: str | None
    """30 days after the contingency; null once it is replaced"""
    taxLogId: str | None
    """of its last e-CF"""
    eNCF: str | None
    replacedAt: str | None
    clientRequestId: str | None
    enteredAt: str
    enteredBy: str
    warnings: NotRequired["list[DocumentProblem]"]
    """remarks on this request, such as members of its body that do not exist and were ignored"""


class PaperReceiptRequest(TypedDict):
    """A receipt that was issued on paper, or is now: without `ncf` the service draws the next number of the range."""

    issuedOn: NotRequired[str | None]
    """the day on the paper; default: today, in a correction the day that was entered"""
    payload: dict[str, Any]
    """the receipt as in POST /invoices, with `TipoeCF` of the e-CF that replaces it, and without number, dates of its own and reference"""
    ncf: NotRequired[str | None]
    """the number on the paper"""
    clientRequestId: NotRequired[str | None]
    """required without `ncf`: with the same id the service draws one number"""


class PaperReceiptsAnswer(TypedDict):
    """Receipts by their number."""

    items: "list[PaperReceiptAnswer]"
    nextCursor: str | None


class PaperReceiptsRequest(TypedDict):
    """One paper receipt or several."""

    receipts: "list[PaperReceiptRequest]"


#: How far the replacement of a paper receipt is.
PaperState: TypeAlias = Literal["open", "issued", "rejected", "replaced"]


class PartStatus(TypedDict):
    """A part of the service."""

    part: "ServicePart"
    """`accepting`: `POST /invoices`; `sending`: to the authority; `verdicts`: asking it for them; `receiving`: from suppliers"""
    state: Literal["well", "waiting", "degraded", "down", "unmeasured"]
    """`well`; `waiting`: for the authority, which does not answer; `degraded`: it is late, or some requests fail; `down`: it does not work; `unmeasured`: no measurement for three minutes"""
    since: str
    days: "list[DayStatus]"
    """of 90 days, from the first measured one"""
    incidents: "list[IncidentAnswer]"
    """of 90 days, the latest first, 50 at most"""


class PastOutage(TypedDict):
    """An outage that is over."""

    host: Literal["ecf", "fc"]
    """`ecf`: receipts; `fc`: summaries of consumer invoices"""
    since: str
    until: str


class PrefixName(TypedDict):
    """A type of e-CF."""

    code: Literal["E31", "E32", "E33", "E34", "E41", "E43", "E44", "E45", "E46", "E47"]
    name: str
    nameEs: str
    """the authority's own name of the type"""


class PreviewAnswer(TypedDict):
    """The next turn, completed and validated the day before."""

    dueOn: str
    type: str | None
    buyerName: str | None
    buyerRnc: str | None
    total: Number | None
    itbis: Number | None
    reason: Literal["customer", "tenant", "certificate", "sequence", "document", "issuer", "failure", "late"] | None
    """why it would not be issued; null: it would"""
    messages: list[str]


class PrintManyRequest(TypedDict):
    """The receipts of an archive. Without it the query chooses them."""

    ids: list[str]
    """the `taxLogId` of each, at most 1,000"""


class PrintSettingsAnswer(TypedDict):
    """How receipts are printed where a request says nothing else."""

    logo: str | None
    """a PNG of at most 256 kB or an SVG of at most 32 kB, in base64; null: none"""
    accent: str
    footer: str
    marks: list[str]
    """one for each copy, empty for none"""
    language: Literal["es", "en"]
    layout: Literal["letter", "a4", "80mm", "58mm"]
    warnings: NotRequired["list[DocumentProblem]"]
    """remarks on this request, such as members of its body that do not exist and were ignored"""


class PrintSettingsRequest(TypedDict):
    """How receipts are printed where a request says nothing else. A member that is left out takes its default."""

    logo: NotRequired[str | None]
    """a PNG of at most 256 kB or an SVG of at most 32 kB, in base64; null: none"""
    accent: NotRequired[str]
    """color of headings"""
    footer: NotRequired[str]
    """text at the end"""
    marks: NotRequired[list[str]]
    """one for each copy, empty for none; each of at most 20 characters"""
    language: NotRequired[Literal["es", "en"]]
    """of our words"""
    layout: NotRequired[Literal["letter", "a4", "80mm", "58mm"]]
    """paper"""


class ProbeEvent(TypedDict):
    """A test event, requested by POST /webhooks/test."""

    event: Literal["test"]
    sentAt: str
    test: "ProbeMessage"


class ProbeMessage(TypedDict):
    """The message of a test event."""

    message: str


class ProblemRepair(TypedDict):
    """A change of a structured payload that repairs a problem. Paths are as in problems."""

    op: Literal["set", "rename", "remove"]
    """give `path` the `value`; move what is there to the path `to`; or take it away"""
    path: str
    value: NotRequired[Any]
    to: NotRequired[str]
    certain: bool
    """true: it loses nothing and has no second reading; false: a proposal that a person decides on"""


class ProductItem(TypedDict):
    """A good or service; null is unknown."""

    id: str
    """yours, or one that the portal made"""
    name: str
    code: str | None
    """your code, such as the one of the bar code; on receipts CodigoItem"""
    unit: str | None
    """code of the unit of measure, such as 43"""
    price: Number | None
    """in Dominican pesos, with at most 4 decimals"""
    priceHasItbis: bool | None
    """whether ITBIS is in the price; null without a price"""
    itbis: Literal["18", "16", "0", "exempt"] | None
    """rate of ITBIS in percent, or `exempt`"""
    kind: Literal["good", "service"] | None
    additionalTaxes: list[str]
    """codes of additional taxes, 001 to 039"""
    source: Literal["person", "import", "api", "remembered"]
    version: int
    changedAt: str
    usedAt: str | None
    """when the portal last issued a receipt with it; null: never"""
    warnings: NotRequired["list[DocumentProblem]"]
    """remarks on this request, such as members of its body that do not exist and were ignored"""


class ProductList(TypedDict):
    """Goods and services by name."""

    limit: int
    items: "list[ProductItem]"
    nextCursor: str | None
    """null at the end"""


class ProductRequest(TypedDict):
    """A good or service. All but the name may be unknown; what is left out is unknown from then on."""

    name: str
    code: NotRequired[str | None]
    """your code, such as the one of the bar code; on receipts CodigoItem"""
    unit: NotRequired[str | None]
    """code of the unit of measure, such as 43"""
    price: NotRequired[Number | str | None]
    """in Dominican pesos, with at most 4 decimals"""
    priceHasItbis: NotRequired[bool]
    """whether ITBIS is in the price"""
    itbis: NotRequired[Literal["18", "16", "0", "exempt", None]]
    """rate of ITBIS in percent, or `exempt`"""
    kind: NotRequired[Literal["good", "service", None]]
    additionalTaxes: NotRequired[list[str]]
    """codes of additional taxes, 001 to 039"""
    version: NotRequired[int | None]
    """the `version` that you read: where it is another by now, nothing changes and you get 409; 0: only if new"""


class ProposalsAnswer(TypedDict):
    """The ranges that can be voided."""

    items: "list[ProposedRange]"


class ProposedRange(TypedDict):
    """Numbers that can be voided."""

    first: str
    last: str
    numbers: int
    why: Literal["never drawn", "without receipt"]
    """`never drawn`: from the next number on; `without receipt`: skipped, or given back"""


class PurchasesAnswer(TypedDict):
    """The 606 of a month, or what it lacks."""

    month: str
    environment: "Environment"
    fileName: str
    rows: int
    """purchases of the month; none: the 606 is informative"""
    incomplete: int
    """of these, purchases that lack something"""
    missing: "list[IncompletePurchase]"
    """the first 500 of them"""
    remarks: "list[PurchasesRemark]"
    content: str | None
    """the TXT that the authority takes, ASCII with CRLF; null while something is missing"""


class PurchasesRemark(TypedDict):
    """A remark on the file as a whole."""

    code: "RemarkCode"
    """`no-rnc` and `too-many` stand in the way of the file"""
    receipts: int
    """how many it is about"""
    message: str
    messageEs: str


class RangeAhead(TypedDict):
    """The range that a sequence goes on with; numbers are strings, as there."""

    minSequence: str
    maxSequence: str
    expireAt: str | None
    """the end of its last day, in UTC"""
    expireOn: str | None
    """its last day, in Santo Domingo"""


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


class ReceivedOfMonth(TypedDict):
    """Received receipts of one type."""

    tipoEcf: str
    receipts: int
    montoTotal: Number
    totalITBIS: Number
    rejected: int
    """receipts that you rejected; they are in no other number here"""


class ReceivedPage(TypedDict):
    """One page of what was received, newest first."""

    page: int
    limit: int
    total: int
    items: "list[ReceivedItem]"
    nextCursor: str | None
    """for `cursor`: what is older; null at the end"""


class ReceivedStretch(TypedDict):
    """The received documents that follow a cursor."""

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
    """A requested recovery of deliveries and its progress."""

    id: str
    webhookId: str
    since: str
    until: str
    state: Literal["pending", "done", "failed"]
    recovered: int
    """deliveries put on their way so far"""
    askedAt: str
    finishedAt: str | None
    warnings: NotRequired["list[DocumentProblem]"]
    """remarks on this request, such as members of its body that do not exist and were ignored"""


class RecoveryRequest(TypedDict):
    """Since when what did not arrive is to be sent again."""

    since: str
    """a date (its start in UTC) or a timestamp"""
    endpoint: NotRequired[str | None]
    """name of the endpoint"""


class RecurringAnswer(TypedDict):
    """A recurring receipt with its template and turns."""

    id: str
    name: str
    status: Literal["active", "paused", "ended"]
    """`paused`: nothing is issued, also not later; `ended`: for good"""
    day: int
    """day of the month; in a shorter month it is the last"""
    everyMonths: int
    """issue every so many months"""
    nextOn: str | None
    """the next due day; null: none comes"""
    held: int
    """turns that could not be issued and may yet be"""
    version: int
    changedAt: str
    environment: Literal["ecf", "certecf", "testecf"]
    startsOn: str | None
    endsOn: str | None
    nextDays: list[str]
    """the next due days, three at most"""
    customer: str | None
    paymentDays: int | None
    payload: dict[str, Any]
    asUser: str | None
    asUserId: str | None
    notify: str | None
    sequence: str | None
    preview: "PreviewAnswer | None"
    turns: "list[RecurringTurn]"
    """the newest first, 24 at most"""
    warnings: NotRequired["list[DocumentProblem]"]
    """remarks on this request, such as members of its body that do not exist and were ignored"""


class RecurringDeleted(TypedDict):
    """It is gone. Receipts already issued are not touched."""

    ok: bool
    id: str


class RecurringHeld(TypedDict):
    """A turn of a recurring receipt that could not be issued."""

    id: str
    """yours"""
    name: str
    environment: "Environment"
    dueOn: str
    reason: Literal["customer", "tenant", "certificate", "sequence", "document", "issuer", "failure", "late"]
    """`customer`: deleted from the catalogue; `tenant`: disabled; `certificate`: none may sign; `sequence`: gives no number; `document`: not valid; `issuer`: no delegation; `failure`: ours; `late`: the service was not running"""
    messages: list[str]
    messagesEs: list[str]


class RecurringHeldEvent(TypedDict):
    """A recurring receipt could not be issued."""

    event: Literal["recurring.held"]
    sentAt: str
    recurring: "RecurringHeld"


class RecurringList(TypedDict):
    """Recurring receipts by id."""

    limit: int
    items: "list[RecurringSummary]"
    nextCursor: str | None
    """null at the end"""


class RecurringPreview(TypedDict):
    """The receipt that a recurring receipt will issue, completed and validated for its day."""

    id: str
    """yours"""
    name: str
    environment: "Environment"
    dueOn: str
    type: str | None
    """type prefix such as E31"""
    buyerName: str | None
    buyerRnc: str | None
    total: Number | None
    """with its two digits: read it as a decimal"""
    itbis: Number | None
    """as total"""
    reason: Literal["customer", "tenant", "certificate", "sequence", "document", "issuer", "failure", "late"] | None
    """why it would not be issued; null: it would"""
    messages: list[str]
    """what is wrong with it, or remarks"""
    messagesEs: list[str]


class RecurringPreviewEvent(TypedDict):
    """A recurring receipt is issued tomorrow."""

    event: Literal["recurring.preview"]
    sentAt: str
    recurring: "RecurringPreview"


class RecurringRequest(TypedDict):
    """A receipt that is issued every month. A field that is left out is unset."""

    name: str
    """for people"""
    day: int
    """day of the month; in a shorter month it is the last"""
    everyMonths: NotRequired[int]
    """issue every so many months"""
    startsOn: NotRequired[str | None]
    """the first turn is on its day or later; left out: from tomorrow on"""
    endsOn: NotRequired[str | None]
    """the last turn is on its day or earlier; not before `startsOn`"""
    status: NotRequired[Literal["active", "paused", "ended"]]
    """`paused`: nothing is issued, also not later; `ended`: for good"""
    customer: NotRequired[str | None]
    """`id` of a customer: each turn takes name, RNC, mail and address from there"""
    paymentDays: NotRequired[int | None]
    """days from the issue to FechaLimitePago, for sales on credit"""
    payload: dict[str, Any]
    """as in POST /invoices, with `TipoeCF`, and without number and dates, which each turn gets; `{mes}` and `{año}` in NombreItem and DescripcionItem become those of the turn"""
    asUser: NotRequired[str | None]
    """as in POST /invoices"""
    asUserId: NotRequired[str | None]
    """the same by id; wins over asUser"""
    notify: NotRequired[str | None]
    """as in POST /invoices"""
    sequence: NotRequired[str | None]
    """name of the sequence that gives the number, where the document has no eNCF; default: the one that the user of asUser is assigned to, else the one without a name"""
    version: NotRequired[int | None]
    """the `version` that you read: where it is another by now, nothing changes and you get 409; 0: only if new"""


class RecurringSummary(TypedDict):
    """A recurring receipt in a list."""

    id: str
    name: str
    status: Literal["active", "paused", "ended"]
    """`paused`: nothing is issued, also not later; `ended`: for good"""
    day: int
    """day of the month; in a shorter month it is the last"""
    everyMonths: int
    """issue every so many months"""
    nextOn: str | None
    """the next due day; null: none comes"""
    held: int
    """turns that could not be issued and may yet be"""
    version: int
    changedAt: str


class RecurringTurn(TypedDict):
    """A turn and what became of it."""

    month: str
    """YYYY-MM"""
    dueOn: str
    status: Literal["waiting", "issued", "held", "skipped", "missed"]
    """`held`: not issued yet, for `reason`; `missed`: the next turn came first"""
    reason: Literal["customer", "tenant", "certificate", "sequence", "document", "issuer", "failure", "late"] | None
    messages: list[str]
    triedAt: str | None
    retryAt: str | None
    """when it is tried again; null: when you say so"""
    clientRequestId: str
    """of its receipt"""
    taxLogId: str | None
    eNCF: str | None


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


#: A remark on a 606. The first two stand in the way of the file.
RemarkCode: TypeAlias = Literal["no-rnc", "too-many", "consumer", "unanswered", "unpaid"]


class ReplacementItem(TypedDict):
    """The result of one paper receipt; `problems`: why no e-CF was issued."""

    ncf: str
    state: "PaperState"
    """`open`: without an e-CF; `issued`: its e-CF has no result yet; `rejected`: its last e-CF was rejected or failed, another can be issued; `replaced`: its e-CF is accepted"""
    issued: bool
    """whether this call issued its e-CF"""
    taxLogId: str | None
    eNCF: str | None
    problems: NotRequired["list[DocumentProblem]"]


class ReplacementsAnswer(TypedDict):
    """The paper receipts that were open, or named; `open`: how many have no accepted e-CF now."""

    items: "list[ReplacementItem]"
    open: int
    warnings: NotRequired["list[DocumentProblem]"]
    """remarks on this request, such as members of its body that do not exist and were ignored"""


class ReplacementsRequest(TypedDict):
    """The paper receipts whose e-CF are issued."""

    ncfs: NotRequired[list[str] | None]
    """default: all that are open, 100 in one call"""


class RevokedAnswer(TypedDict):
    """No link leads to the receipt."""

    ok: bool
    revoked: bool
    """false: it was not shared"""


class Rfce(TypedDict):
    """Rfce"""

    Encabezado: "RfceEncabezado"
    """Header of the receipt: type and number, issuer, buyer and totals. · Qué comprobante es, quién lo emite, a quién, y sus totales."""


class RfceComprador(TypedDict):
    """RfceComprador"""

    RNCComprador: NotRequired[str]
    """A tax id: 9 digits (RNC) or 11 (cédula). Un RNC de 9 dígitos o una cédula de 11. The buyer's tax id, of 9 digits, or cédula, of 11. Its check digit is verified. · RNC del comprador, de 9 dígitos, o su cédula, de 11. Se verifica su dígito verificador."""
    IdentificadorExtranjero: NotRequired[str]
    """The passport or foreign tax id of a buyer who has neither RNC nor cédula. · Pasaporte o identificación fiscal extranjera de quien no tiene RNC ni cédula."""
    RazonSocialComprador: NotRequired[str]
    """The buyer's name or legal name. · Nombre o razón social del comprador."""


class RfceEmisor(TypedDict):
    """RfceEmisor"""

    RNCEmisor: NotRequired[str]
    """A tax id: 9 digits (RNC) or 11 (cédula). Un RNC de 9 dígitos o una cédula de 11. Your tax id, of 9 digits, or your cédula, of 11. Filled in where left out: your company's fiscal data, where RNCEmisor is left out too. · Su RNC de 9 dígitos, o su cédula de 11. Si falta, se completa: los datos fiscales de su empresa, si también falta RNCEmisor."""
    RazonSocialEmisor: NotRequired[str]
    """Your legal name, as it is registered with the authority. Filled in where left out: your company's fiscal data, where RNCEmisor is left out too. · Su nombre o razón social, como está registrado en la DGII. Si falta, se completa: los datos fiscales de su empresa, si también falta RNCEmisor."""
    FechaEmision: NotRequired["EcfDate"]
    """The day of issue in Santo Domingo. A day after today gets a remark. Filled in where left out: today in Santo Domingo. · Fecha de emisión, en hora de Santo Domingo. Si es posterior a hoy, sale con una observación. Si falta, se completa: la fecha de hoy en Santo Domingo."""


class RfceEncabezado(TypedDict):
    """RfceEncabezado"""

    Version: NotRequired[Literal["1.0"]]
    """The version of the authority's format: always 1.0. Filled in where left out: 1.0. · Versión del formato de la DGII: siempre 1.0. Si falta, se completa: 1.0."""
    IdDoc: "RfceIdDoc"
    """What identifies the receipt: its type, its number, and how it is paid. · Identificación del comprobante: su tipo, su número y cómo se paga."""
    Emisor: NotRequired["RfceEmisor"]
    """Who issues the receipt: your own fiscal data. Filled in where left out: your company's fiscal data, where RNCEmisor is left out too. · Quien emite el comprobante: sus propios datos fiscales. Si falta, se completa: los datos fiscales de su empresa, si también falta RNCEmisor."""
    Comprador: NotRequired["RfceComprador"]
    """Who buys. A consumer invoice of RD$250,000 or more must name the buyer; below that it may be left out. Filled in where left out: an empty element. · Quien compra. En una factura de consumo de RD$250,000 o más hay que identificarlo; por debajo puede omitirse. Si falta, se completa: un elemento vacío."""
    Totales: "RfceTotales"
    """The totals, in pesos. Leave them out and they are computed from the lines. · Los totales, en pesos. Si los omite, se calculan a partir de las líneas."""
    CodigoSeguridadeCF: str
    """6 characters. 6 caracteres. The security code of the whole invoice: the first six characters of its signature. · Código de seguridad de la factura completa: los primeros seis caracteres de su firma."""


class RfceFormaDePago(TypedDict):
    """RfceFormaDePago"""

    FormaPago: NotRequired["EcfPaymentForm"]
    """How this part is paid: cash, transfer, card and so on. · Cómo se paga esta parte: efectivo, transferencia, tarjeta, etc."""
    MontoPago: NotRequired["EcfAmount2"]
    """How much is paid in this way, in pesos. · Cuánto se paga de esta forma, en pesos."""


class RfceIdDoc(TypedDict):
    """RfceIdDoc"""

    TipoeCF: NotRequired[Literal["32"]]
    """The type of the receipt, as two digits. It must be the type that the number (eNCF) names. Filled in where left out: 32. · Tipo de comprobante, en dos dígitos. Debe ser el mismo que indica el número (eNCF). Si falta, se completa: 32."""
    eNCF: str
    """An e-NCF of 13 characters, such as E310000000001. Un e-NCF de 13 caracteres, como E310000000001. The fiscal number: E, two digits of the type, ten of the sequence. Leave it out and say TipoeCF: then the service takes the next number of your sequence. · Número de comprobante fiscal: E, dos dígitos del tipo y diez de la secuencia. Si lo omite e indica TipoeCF, el servicio toma el próximo número de su secuencia."""
    TipoIngresos: "EcfIncomeType"
    """What kind of income the sale is for you, as you declare it to the authority. · Qué tipo de ingreso es la venta para usted, tal como lo declara a la DGII."""
    TipoPago: "EcfPaymentType"
    """Whether it is paid at once, on credit, or free of charge. Credit demands FechaLimitePago. · Si se paga al contado, a crédito o es gratuito. A crédito exige FechaLimitePago."""
    TablaFormasPago: NotRequired["RfceTablaFormasPago"]
    """The ways in which it is paid, if you want to list them. · Las formas en que se paga, si desea detallarlas."""


class RfceImpuestoAdicional(TypedDict):
    """RfceImpuestoAdicional"""

    TipoImpuesto: NotRequired["EcfAdditionalTax"]
    """Which additional tax it is, by its code of three digits. · Qué impuesto adicional es, por su código de tres dígitos."""
    MontoImpuestoSelectivoConsumoEspecifico: NotRequired["EcfAmount2Above0"]
    """Selective tax by quantity (ISC específico), in pesos. · Impuesto selectivo al consumo específico, en pesos."""
    MontoImpuestoSelectivoConsumoAdvalorem: NotRequired["EcfAmount2Above0"]
    """Selective tax by price (ISC ad valorem), in pesos. · Impuesto selectivo al consumo ad valorem, en pesos."""
    OtrosImpuestosAdicionales: NotRequired["EcfAmount2Above0"]
    """The amount of another additional tax (codes 001 to 005), in pesos. · Monto de otro impuesto adicional (códigos 001 a 005), en pesos."""


class RfceImpuestosAdicionales(TypedDict):
    """RfceImpuestosAdicionales"""

    ImpuestoAdicional: NotRequired["list[RfceImpuestoAdicional]"]
    """One additional tax. · Un impuesto adicional."""


class RfcePayload(TypedDict):
    """A payload that is an RFCE, under the name of its root."""

    RFCE: "Rfce"


class RfceTablaFormasPago(TypedDict):
    """RfceTablaFormasPago"""

    FormaDePago: NotRequired["list[RfceFormaDePago]"]
    """One way of payment with its amount. · Una forma de pago con su monto."""


class RfceTotales(TypedDict):
    """RfceTotales"""

    MontoGravadoTotal: NotRequired["EcfAmount2"]
    """The taxable amount of all rates together, without ITBIS. · Monto gravado de todas las tasas, sin ITBIS."""
    MontoGravadoI1: NotRequired["EcfAmount2"]
    """The amount taxed at 18%, without ITBIS. · Monto gravado al 18 %, sin ITBIS."""
    MontoGravadoI2: NotRequired["EcfAmount2"]
    """The amount taxed at 16%, without ITBIS. · Monto gravado al 16 %, sin ITBIS."""
    MontoGravadoI3: NotRequired["EcfAmount2"]
    """The amount taxed at 0%, such as exports. · Monto gravado a tasa 0 %, como las exportaciones."""
    MontoExento: NotRequired["EcfAmount2"]
    """The amount that is exempt from ITBIS. · Monto exento de ITBIS."""
    TotalITBIS: NotRequired["EcfAmount2"]
    """The ITBIS of all rates together. · ITBIS total de todas las tasas."""
    TotalITBIS1: NotRequired["EcfAmount2"]
    """The ITBIS at 18%. · ITBIS al 18 %."""
    TotalITBIS2: NotRequired["EcfAmount2"]
    """The ITBIS at 16%. · ITBIS al 16 %."""
    TotalITBIS3: NotRequired["EcfAmount2"]
    """The ITBIS at 0%: 0.00. · ITBIS a tasa 0 %: 0.00."""
    MontoImpuestoAdicional: NotRequired["EcfAmount2Above0"]
    """All additional taxes together: the selective ones (ISC), the legal tip and the like. · Suma de los impuestos adicionales: selectivo al consumo (ISC), propina legal y similares."""
    ImpuestosAdicionales: NotRequired["RfceImpuestosAdicionales"]
    """The additional taxes, one by one. · Los impuestos adicionales, uno por uno."""
    MontoTotal: "EcfAmount2"
    """The total of the receipt: taxed and exempt amounts, ITBIS and additional taxes. · Total del comprobante: montos gravados y exentos, ITBIS e impuestos adicionales."""
    MontoNoFacturable: NotRequired["EcfAmount2Signed"]
    """The amount of lines that are not billable (IndicadorFacturacion 0). It may be negative. · Monto de las líneas no facturables (IndicadorFacturacion 0). Puede ser negativo."""
    MontoPeriodo: NotRequired["EcfAmount2Signed"]
    """The amount of the period: MontoTotal and MontoNoFacturable together. · Monto del período: MontoTotal más MontoNoFacturable."""


class SandboxApproval(TypedDict):
    """The simulated buyer's word arrived; GET /invoices/{taxLogId} shows it."""

    taxLogId: str
    eNCF: str
    decision: Literal["approved", "rejected"]
    warnings: NotRequired["list[DocumentProblem]"]
    """remarks on this request, such as members of its body that do not exist and were ignored"""


class SandboxApprovalRequest(TypedDict):
    """The word of the simulated buyer on an accepted receipt of the company."""

    taxLogId: str
    """of the receipt, or the authority's trackId"""
    decision: Literal["approved", "rejected"]
    reason: NotRequired[str | None]
    """of a rejection"""


class SandboxOutage(TypedDict):
    """The authority is away for the company of the key; GET /contingency says so, too."""

    environment: "Environment"
    since: str
    until: str
    """not later than now: there is no outage"""
    warnings: NotRequired["list[DocumentProblem]"]
    """remarks on this request, such as members of its body that do not exist and were ignored"""


class SandboxOutageRequest(TypedDict):
    """An outage of the simulated authority, for the company of the key alone."""

    seconds: int
    """from now on; 0 ends the outage"""


class SandboxReceipt(TypedDict):
    """The simulated supplier sent a receipt, and this service acknowledged it."""

    receivedId: str
    """`id` of the received document"""
    rncEmisor: str
    """of the simulated supplier"""
    eNCF: str
    warnings: NotRequired["list[DocumentProblem]"]
    """remarks on this request, such as members of its body that do not exist and were ignored"""


class SandboxReceiptRequest(TypedDict):
    """A receipt that the simulated supplier sends to the company of the key."""

    eNCF: NotRequired[str | None]
    """the supplier's number, an E31; default: a new one. A number it has used is a duplicate"""


class SequenceEvent(TypedDict):
    """A number sequence is nearly used up, or about to expire."""

    event: Literal["sequence.low", "sequence.expiring"]
    sentAt: str
    sequence: "SequenceState"


class SequenceOfMonth(TypedDict):
    """Accepted receipts whose numbers one sequence gave."""

    prefix: Literal["E31", "E32", "E33", "E34", "E41", "E43", "E44", "E45", "E46", "E47"]
    name: str
    """empty of the sequence without a name"""
    receipts: int
    montoTotal: Number
    first: str
    last: str


class SequenceState(TypedDict):
    """A number sequence that needs attention."""

    environment: "Environment"
    prefix: Literal["E31", "E32", "E33", "E34", "E41", "E43", "E44", "E45", "E46", "E47"]
    name: NotRequired[str]
    """of a sequence that has one"""
    currentSequence: str
    maxSequence: str
    remaining: str
    expireOn: str | None
    """its last day, in Santo Domingo"""


class Sequences(TypedDict):
    """Every type there is, and every sequence that is configured."""

    availableTypes: "list[PrefixName]"
    items: "list[NumberSequence]"


class ServiceHealth(TypedDict):
    """Our exchanges with one service of the authority."""

    service: str
    """such as `reception`, `summary_reception`, `result`"""
    answered: int
    failed: int
    """without an answer, or with one that it cannot serve"""
    averageMs: int | None
    """of the answers; null without one"""
    slowestMs: int | None
    """as averageMs"""


#: A part of the service as its users know it, in the order in which a receipt passes.
ServicePart: TypeAlias = Literal["accepting", "signing", "sending", "verdicts", "webhooks", "receiving"]


class SharedAnswer(TypedDict):
    """The receipt has a page for its buyer."""

    url: str
    """address of the page; anyone who has it can read the receipt"""
    sharedAt: str


class Simulate(TypedDict):
    """How the simulated authority treats a receipt that it would accept; only in a sandbox."""

    outcome: NotRequired[Literal["rejected", "conditional", "stuck", "lost-answer", "slow"] | None]
    """`rejected` (with `code`), `conditional` (accepted with a remark), `stuck` (there is never a verdict), `lost-answer` (it is received, and the connection breaks before the answer), `slow` (the verdict comes after `seconds`)"""
    code: NotRequired[int | None]
    """the authority's code: of rejected; of conditional 13 if left out"""
    seconds: NotRequired[int | None]
    """of slow; default 10"""
    now: NotRequired[str | None]
    """validate as if it were this moment: a date or a full ISO 8601 timestamp; for POST /invoices/validate and with `strict`"""


#: The status of a submission as clients see it.
Status: TypeAlias = Literal["queued", "En Proceso", "Aceptado", "Aceptado Condicional", "Rechazado", "error"]


class StatusAnswer(TypedDict):
    """The status of this service."""

    state: Literal["well", "waiting", "degraded", "down", "unmeasured"]
    """the worst of all parts"""
    measuredAt: str | None
    """the latest measurement, to the minute; null without one"""
    parts: "list[PartStatus]"
    """parts that this installation measures"""


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
    tipoEcf: Literal["E31", "E32", "E33", "E34", "E41", "E43", "E44", "E45", "E46", "E47"] | None
    """type prefix such as E31; null: no receipt"""
    montoTotal: Number | None
    """MontoTotal of the signed XML, in pesos; null until it is known"""
    totalITBIS: Number | None
    """TotalITBIS of the signed XML, 0 where it has none; null until it is known"""
    rncComprador: str | None
    """null where the receipt names none"""
    razonSocialComprador: str | None
    """null until it is known, or where the receipt names none"""
    fechaEmision: str | None
    """FechaEmision of the signed XML; null until it is known"""
    readyToPrint: bool
    """whether all that is printed is there: security code, moment of signing and QR address; before the verdict the service marks its prints as a preview"""
    facts: "SubmissionFacts"
    eNCF: NotRequired[str]
    """absent when the document has no number"""
    numberFate: NotRequired["NumberFate"]
    """the state of that number"""
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
    mail: NotRequired["Mailing"]
    """where receipts are sent by mail: how that stands"""
    replacesNcf: NotRequired[str]
    """number of the paper receipt that it replaces; absent otherwise"""
    archived: NotRequired[bool]
    """true: XML and PDF come from the archive and take longer; absent otherwise"""
    metadata: NotRequired[dict[str, str]]
    """your labels, as in POST /invoices; absent without any"""
    legend: NotRequired[str]
    """to print on a receipt that you hand over before its verdict, because your line or the authority is down, or because its sending is deferred; absent otherwise"""


class SubmissionEvent(TypedDict):
    """A submission was accepted, accepted with remarks, rejected, or has failed."""

    event: Literal["submission.accepted", "submission.conditional", "submission.rejected", "submission.error"]
    sentAt: str
    submission: "SubmissionSummary"


class SubmissionFacts(TypedDict):
    """Independent facts of the document; null: not yet, as far as the service knows."""

    signedAt: str | None
    sendBy: str | None
    """72 hours after the signature (24 in deferred mode); null once the authority has it"""
    receivedAt: str | None
    """when the authority first answered about it"""
    verdictAt: str | None
    deliveredAt: str | None
    """when its receiver acknowledged it, or the relay took the mail with it"""


class SubmissionItem(TypedDict):
    """One item of the history."""

    taxLogId: str
    trackId: NotRequired[str]
    environment: "Environment"
    status: "Status"
    qrCodeUrl: str | None
    submittedAt: str
    updatedAt: str
    clientRequestId: str | None
    securityCode: str | None
    fechaHoraFirma: str | None
    """moment of signing, -04:00"""
    tipoEcf: Literal["E31", "E32", "E33", "E34", "E41", "E43", "E44", "E45", "E46", "E47"] | None
    """type prefix such as E31; null: no receipt"""
    montoTotal: Number | None
    """MontoTotal of the signed XML, in pesos; null until it is known"""
    totalITBIS: Number | None
    """TotalITBIS of the signed XML, 0 where it has none; null until it is known"""
    rncComprador: str | None
    """null where the receipt names none"""
    razonSocialComprador: str | None
    """null until it is known, or where the receipt names none"""
    fechaEmision: str | None
    """FechaEmision of the signed XML; null until it is known"""
    readyToPrint: bool
    """whether all that is printed is there: security code, moment of signing and QR address; before the verdict the service marks its prints as a preview"""
    facts: "SubmissionFacts"
    eNCF: NotRequired[str]
    """absent when the document has no number"""
    metadata: NotRequired[dict[str, str]]
    """your labels, as in POST /invoices; absent without any"""


class SubmissionPage(TypedDict):
    """One page of the history, newest first."""

    page: int
    limit: int
    total: int
    """in all; with `warnings`, among those that were looked through"""
    items: "list[SubmissionItem]"
    nextCursor: str | None
    """for `cursor`: what is older; null at the end"""
    warnings: NotRequired["list[DocumentProblem]"]
    """`not-all-looked-through`: a part of the period was looked through; `nextCursor` leads on"""


class SubmissionStretch(TypedDict):
    """The submissions that follow a cursor."""

    limit: int
    items: "list[SubmissionItem]"
    nextCursor: str | None
    warnings: NotRequired["list[DocumentProblem]"]
    """`not-all-looked-through`: a part of the period was looked through; `nextCursor` leads on"""


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
    fechaHoraFirma: str | None
    """moment of signing, -04:00"""
    tipoEcf: Literal["E31", "E32", "E33", "E34", "E41", "E43", "E44", "E45", "E46", "E47"] | None
    """type prefix such as E31; null: no receipt"""
    montoTotal: Number | None
    """with its two digits: read it as a decimal"""
    totalITBIS: Number | None
    """as montoTotal; 0 where the receipt has none"""
    rncComprador: str | None
    """null where the receipt names none"""
    razonSocialComprador: str | None
    """null until it is known, or where the receipt names none"""
    fechaEmision: str | None
    """FechaEmision of the signed XML; null until it is known"""
    readyToPrint: bool
    """whether all that is printed is there: security code, moment of signing and QR address; before the verdict the service marks its prints as a preview"""
    metadata: dict[str, str] | None
    """as in POST /invoices; null: none"""


class SubmissionXml(TypedDict):
    """The document of a submission."""

    taxLogId: str
    environment: "Environment"
    status: "Status"
    source: Literal["signed", "original"] | None
    """null: still queued"""
    xml: str | None


class TaxpayerAnswer(TypedDict):
    """An entry of the authority's register, in its own words; empty is unknown."""

    rnc: str
    name: str
    tradeName: str
    activity: str
    status: str
    """such as ACTIVO, SUSPENDIDO, DADO DE BAJA"""
    active: bool
    regime: str


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
    """`accepted`: submission, number and first step stored, in one commit; `signed`: made, checked, signed: these bytes are kept for good; `remarked`: what had to be assumed in making it; `sending`: intent to send committed; then it goes out; `received`: the authority has it; its verdict is to come; `processing`: the authority is still at it; `outcome_unknown`: nobody knows whether it arrived: ask before sending again; `not_known_there`: the same bytes go out again; `reason`: it is not known there, or cannot be asked; `verdict`: the authority's verdict; `error`: permanent failure; `retry`: it did not work out, due again; `dead_letter`: out of attempts, an operator's matter; `replayed`: an operator set it going again, attempts afresh; `discarded`: an operator gave it up; `voided`: its number, which no signed document had, was voided at the authority"""
    detail: dict[str, Any]


class Token(TypedDict):
    """The answer to a login."""

    accessToken: str
    """send it as `Authorization: Bearer ...`"""
    tokenType: Literal["Bearer"]
    expiresIn: int
    """seconds"""
    environment: "Environment"
    scopes: list[str]
    warnings: NotRequired["list[DocumentProblem]"]
    """remarks on this request, such as members of its body that do not exist and were ignored"""


class TurnRequest(TypedDict):
    """A decision about a turn that was not issued."""

    action: Literal["issue", "skip"]
    """`issue` it now, dated today; or `skip` it, also the next one"""


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
        "today": NotRequired["UsageToday"],
    },
)


class UsageToday(TypedDict):
    """Today in Santo Domingo, from midnight until now; an environment without anything has no entry."""

    date: str
    isComplete: bool
    """false beyond 20,000 receipts or verdicts: the counts are lower bounds then"""
    items: "list[UsageTodayItem]"


class UsageTodayItem(TypedDict):
    """The running day in one environment."""

    environment: "Environment"
    emissionsSubmitted: int
    emissionsAccepted: int
    emissionsAcceptedConditional: int
    emissionsRejected: int
    emissionsPending: int


class Validation(TypedDict):
    """The problems of a document that was validated but not submitted."""

    valid: bool
    """whether it would be signed and sent"""
    problems: "list[DocumentProblem]"


class VoidedAnswer(TypedDict):
    """The 608 of a month."""

    month: str
    environment: "Environment"
    fileName: str
    rows: int
    """numbers that became void in the month; none: the 608 is informative"""
    content: str
    """the TXT that the authority takes, ASCII with CRLF"""


class VoidingAnswer(TypedDict):
    """A voiding and what became of it."""

    voidingId: str
    environment: "Environment"
    state: Literal["waiting", "voided", "partly voided", "rejected", "refused", "in doubt"]
    """`rejected` by the authority and `refused` before sending: no number is void; `in doubt`: the numbers stay out of use until the operator settles it"""
    ranges: "list[NumberRangeAnswer]"
    numbers: int
    reason: int
    clientRequestId: str | None
    requestedAt: str
    signedAt: str | None
    endedAt: str | None
    problem: str | None
    """why it waits, was refused, or is in doubt"""


class VoidingRequest(TypedDict):
    """Ranges to void for good: never sent to anyone, and printed or handed out nowhere."""

    ranges: "list[AskedRange]"
    reason: int
    """tipo de anulación of the 608: 1 Deterioro de factura preimpresa; 2 Errores de impresión (factura preimpresa); 3 Impresión defectuosa; 4 Corrección de la información; 5 Cambio de productos; 6 Devolución de productos; 7 Omisión de productos; 8 Errores en secuencia de NCF"""
    clientRequestId: NotRequired[str | None]
    """with the same id it is requested once"""


class VoidingsAnswer(TypedDict):
    """The newest hundred, the newest first."""

    items: "list[VoidingAnswer]"


class Webhook(TypedDict):
    """Where the tenant is called, and how that goes."""

    id: str
    environment: "Environment | None"
    """null: of every one; set by who runs the service"""
    name: str
    """`default`: the one that PUT /webhooks sets"""
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
    warnings: NotRequired["list[DocumentProblem]"]
    """remarks on this request, such as members of its body that do not exist and were ignored"""


class WebhookDeleted(TypedDict):
    """The endpoint was deleted. Its undelivered events ended as `failed`, with `lastError` `deleted`."""

    ok: bool
    name: str


class WebhookRequest(TypedDict):
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
                "recurring.preview",
                "recurring.held",
                "authority.down",
                "authority.up",
                "buyer.approved",
                "buyer.rejected",
            ]
        ]
        | None
    ]
    """what to be told of"""
    headers: NotRequired[dict[str, str] | None]
    """at most 20 of your own, sent with every call; `{}`: none"""


class Webhooks(TypedDict):
    """Where the tenant is called: in the key's environment, and in all."""

    items: "list[Webhook]"
