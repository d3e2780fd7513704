"""The table of routes: every path there is, who may call it, what answers, and how it is described."""

from datetime import date

from fe.ecf.catalogue import PREFIXES, EcfType
from fe.ecf.identity import E_NCF_FORM, TAX_ID_FORM
from fe.http.archives import ISSUED, RECEIVED
from fe.http.auth.login import Login, LoginRequest
from fe.http.models import responses as response_models
from fe.http.models.approvals import APPROVAL_TAKEN, DECIDED_MANY
from fe.http.models.labels import LABEL_FORM, LONGEST_VALUE
from fe.http.models.month import MONTH
from fe.http.models.printing import PRINT_SETTINGS, PrintManyRequest, PrintSettingsRequest
from fe.http.models.requests import ApproveReceived, BatchRequest, DecideReceived, NewInvoice, RejectReceived
from fe.http.models.sharing import REVOKED, SHARED
from fe.http.openapi.described_errors import errors
from fe.http.openapi.docs import Docs
from fe.http.pages.layout import MARKDOWN
from fe.http.pages.site import Site
from fe.http.parameters import (
    A_DAY,
    A_MOMENT,
    AN_AMOUNT,
    LIMIT_DEFAULT,
    LIMIT_MAX,
    PAGE_DEFAULT,
    PAGE_MAX,
    STATES,
    WAIT_MAX,
    WAITS_UNTIL,
)
from fe.http.routes.agents import Agents, agent_routes
from fe.http.routes.approvals import ApprovalHandlers
from fe.http.routes.archive import ArchiveHandlers, archive_routes
from fe.http.routes.authority import AuthorityHandlers, authority_routes
from fe.http.routes.billing import BillingHandlers
from fe.http.routes.catalogue import CatalogueHandlers
from fe.http.routes.catalogue_table import catalogue_routes
from fe.http.routes.contingency import ContingencyHandlers, contingency_routes
from fe.http.routes.health import Health
from fe.http.routes.import_table import import_routes
from fe.http.routes.imports import ImportHandlers
from fe.http.routes.invoices import Invoices
from fe.http.routes.mail_settings import MailSettingsHandlers, mail_routes
from fe.http.routes.months import MonthHandlers
from fe.http.routes.ncf import ChangedSequence, Ncf, NewSequence
from fe.http.routes.paper import PaperHandlers
from fe.http.routes.paper_table import paper_routes
from fe.http.routes.print_archives import PrintArchives
from fe.http.routes.print_table import ON_PAPER, printed_received_routes, printed_routes
from fe.http.routes.printing import PrintHandlers
from fe.http.routes.purchase_table import purchase_routes
from fe.http.routes.received import ReceivedHandlers
from fe.http.routes.recurring import RecurringHandlers
from fe.http.routes.recurring_table import recurring_routes
from fe.http.routes.requests import RequestHandlers, request_routes
from fe.http.routes.sandbox import SandboxHandlers, sandbox_routes
from fe.http.routes.service_status import StatusHandlers, status_routes
from fe.http.routes.sharing import ShareHandlers
from fe.http.routes.types import About, Deprecated, Parameter, Route, RouteLink, whole
from fe.http.routes.usage import DAYS_DEFAULT, DAYS_MAX, UsageHandlers
from fe.http.routes.voiding_table import voiding_routes
from fe.http.routes.voidings import VoidingHandlers
from fe.http.routes.webhook_table import webhook_routes
from fe.http.routes.webhooks import WebhookHandlers
from fe.lifecycle import NumberFate
from fe.month.book import XLSX
from fe.store.records.received import ApprovalStatus

#: Where all that belongs to the API lies.
PREFIX = "/api/v1/fe"

_SUBMISSIONS, _RECEIVED, _SEQUENCES, _ACCOUNT = "Submissions", "Received documents", "Number sequences", "Account"

#: Bodies of routes whose largest good one has a few hundred bytes: what is longer is not worth reading.
SMALL_BODY = 4 * 1024
#: Of a thousand ids.
_IDS_BODY = 64 * 1024
#: A logo of 256 KiB in base64, and a few texts.
_PRINT_SETTINGS_BODY = 384 * 1024


_TRACK_OR_ID = Parameter(
    "trackOrId", "taxLogId, or the authority's trackId", {"type": "string", "minLength": 1, "maxLength": 64}, "path"
)
_IDEMPOTENCY_KEY = Parameter(
    "Idempotency-Key",
    "clientRequestId as a header; where both are sent, they are the same",
    {"type": "string", "minLength": 1, "maxLength": 120},
    "header",
)
_DECIDED_ONCE = (
    "Repeating it is safe, also without `clientRequestId`: the same decision again is 200 with the first `taxLogId`, "
    "the contrary one is 409."
)
_PREFIX = Parameter("prefix", "a type of e-CF", {"type": "string", "enum": list(PREFIXES)}, "path")
_SEQUENCE_NAME = Parameter(
    "name",
    "the sequence of the prefix with this name; without it the one that has none",
    {"type": "string", "minLength": 1, "maxLength": 40},
)
_WAIT = Parameter("wait", "seconds to wait for the verdict, if there is none yet", whole(0, WAIT_MAX, 0))
_UNTIL = Parameter(
    "until",
    "what `wait` waits for; once signed, a receipt can be printed",
    {"type": "string", "enum": list(WAITS_UNTIL)},
)
_CONTENT = (
    Parameter("tipoEcf", "of this type", {"type": "string", "enum": [f"E{code}" for code in EcfType]}),
    Parameter("issuedFrom", "issued on this day or later; then the list is by day of issue", A_DAY),
    Parameter("issuedTo", "issued on this day or earlier; then the list is by day of issue", A_DAY),
    Parameter("totalFrom", "with a total of this amount or more; needs a period", AN_AMOUNT),
    Parameter("totalTo", "with a total of this amount or less; needs a period", AN_AMOUNT),
    Parameter(
        "text",
        "with this text in the other party's name or in the number; needs a period",
        {"type": "string", "minLength": 2, "maxLength": 80},
    ),
)
#: `status` of a list never had an effect.
_RESERVED = Deprecated(date(2026, 11, 27))
_HISTORY = (
    Parameter("page", "1 is the newest", whole(1, PAGE_MAX, PAGE_DEFAULT)),
    Parameter("limit", "items on a page", whole(1, LIMIT_MAX, LIMIT_DEFAULT)),
    Parameter("from", "submitted at or after this date (its start in UTC) or timestamp", A_MOMENT),
    Parameter("to", "submitted at or before this date (its end in UTC) or timestamp", A_MOMENT),
    Parameter("status", "reserved, no effect: `state` filters", {"type": "string"}, deprecated=_RESERVED),
    Parameter("state", "in this state", {"type": "string", "enum": list(map(str, STATES))}),
    Parameter("encf", "of this number", {"type": "string", "pattern": f"^{E_NCF_FORM}$"}),
    Parameter(
        "clientRequestId",
        "that you submitted under this id (in each environment at most one)",
        {"type": "string", "minLength": 1, "maxLength": 120},
    ),
    Parameter("rnc", "of the buyer with this tax id", {"type": "string", "pattern": f"^{TAX_ID_FORM}$"}),
    Parameter("asUser", "issued as this user: address or id", {"type": "string", "minLength": 1, "maxLength": 254}),
    *_CONTENT,
    Parameter(
        "numberFate",
        "whose number has this fate; needs a period",
        {"type": "string", "enum": list(map(str, NumberFate))},
    ),
    Parameter(
        "metadata",
        "with this label of yours, such as `branch=norte`; also written `metadata[branch]=norte`; needs a period",
        {"type": "string", "pattern": f"^{LABEL_FORM}=[^\\x00]{{0,{LONGEST_VALUE}}}$"},
        is_keyed=True,
    ),
    Parameter("cursor", "`nextCursor` of an earlier answer, instead of `page`", {"type": "string"}),
)
_RECEIVED_ID = Parameter("receivedId", "`id` of a received document", {"type": "string", "maxLength": 64}, "path")
_RECEIVED_LIST = (
    Parameter("page", "1 is the newest", whole(1, PAGE_MAX, PAGE_DEFAULT)),
    Parameter("limit", "items on a page", whole(1, LIMIT_MAX, LIMIT_DEFAULT)),
    Parameter("from", "received at or after this date (its start in UTC) or timestamp", A_MOMENT),
    Parameter("to", "received at or before this date (its end in UTC) or timestamp", A_MOMENT),
    Parameter("encf", "of this number", {"type": "string", "pattern": f"^{E_NCF_FORM}$"}),
    Parameter("rnc", "of the supplier with this tax id", {"type": "string", "pattern": f"^{TAX_ID_FORM}$"}),
    Parameter(
        "approvalStatus",
        "with this decision; needs a period",
        {"type": "string", "enum": list(map(str, ApprovalStatus))},
    ),
    *_CONTENT,
    Parameter("cursor", "`nextCursor` of an earlier answer, instead of `page`", {"type": "string"}),
)
_TO_ONE = tuple(
    RouteLink(status, "taxLogId", operation, "trackOrId")
    for status in (200, 202)
    for operation in ("getInvoice", "getInvoiceXml", "getInvoiceTimeline")
)
_MONTH = Parameter("month", "such as 2026-11", {"type": "string", "pattern": "^20[0-9]{2}-(0[1-9]|1[0-2])$"}, "path")
_DAYS = Parameter("days", "whole UTC days, ending yesterday", whole(1, DAYS_MAX, DAYS_DEFAULT))
_TODAY = Parameter(
    "today", "true: also today in Santo Domingo, until now", {"type": "string", "enum": ["true", "false"]}
)


def every_route(
    prefix: str,
    docs: Docs,
    site: Site,
    health: Health,
    login: Login,
    invoices: Invoices,
    received: ReceivedHandlers,
    approvals: ApprovalHandlers,
    webhooks: WebhookHandlers,
    ncf: Ncf,
    usage: UsageHandlers,
    billing: BillingHandlers,
    mail: MailSettingsHandlers,
    prints: PrintHandlers,
    archives: PrintArchives,
    sharing: ShareHandlers,
    imports: ImportHandlers,
    catalogue: CatalogueHandlers,
    months: MonthHandlers,
    voidings: VoidingHandlers,
    recurring: RecurringHandlers,
    agents: Agents,
    contingency: ContingencyHandlers,
    authority: AuthorityHandlers,
    status: StatusHandlers,
    paper: PaperHandlers,
    archive: ArchiveHandlers,
    requests: RequestHandlers,
    sandbox: SandboxHandlers,
) -> tuple[Route, ...]:
    """Make the table of routes."""
    all_of_them, one = f"{prefix}/invoices", f"{prefix}/invoices/<track_or_id>"
    found_or_not = (response_models.NOT_FOUND,)
    return (
        Route(
            "POST",
            f"{prefix}/login",
            None,
            login.login,
            About(
                "login",
                "Exchange an API key for a token",
                "Login",
                {200: (response_models.TOKEN,)},
                LoginRequest,
                errors=errors("bad-key-id", "bad-credentials", "too-many-logins"),
            ),
            SMALL_BODY,
        ),
        Route(
            "POST",
            all_of_them,
            "invoices:write",
            invoices.create,
            About(
                "submitInvoice",
                "Submit a receipt",
                _SUBMISSIONS,
                {202: (response_models.ACCEPTED,), 200: (response_models.DEDUPED,)},
                NewInvoice,
                parameters=(_IDEMPOTENCY_KEY,),
                links=_TO_ONE,
                errors=errors("bad-format", "bad-document", "bad-xml", "no-number", "no-sandbox", "foreign-issuer"),
            ),
        ),
        Route(
            "POST",
            f"{all_of_them}/batch",
            "invoices:write",
            invoices.create_many,
            About(
                "submitInvoiceBatch",
                "Submit up to 500 receipts",
                _SUBMISSIONS,
                {200: (response_models.BATCH,)},
                BatchRequest,
                errors=errors("bad-batch"),
            ),
        ),
        Route(
            "POST",
            f"{all_of_them}/validate",
            "invoices:write",
            invoices.validate,
            About(
                "validateInvoice",
                "Validate a receipt without submitting it",
                _SUBMISSIONS,
                {200: (response_models.VALIDATION,)},
                NewInvoice,
                errors=errors("bad-format", "bad-xml", "no-sandbox", "foreign-issuer"),
            ),
        ),
        Route(
            "POST",
            f"{all_of_them}/preview",
            "invoices:write",
            invoices.preview,
            About(
                "previewInvoice",
                "Preview a receipt as it would be signed",
                _SUBMISSIONS,
                {200: (response_models.PREVIEW,)},
                NewInvoice,
                errors=errors("bad-format", "bad-xml", "no-sandbox", "foreign-issuer"),
            ),
        ),
        Route(
            "GET",
            all_of_them,
            "invoices:read",
            invoices.history,
            About(
                "listInvoices",
                "List submissions",
                _SUBMISSIONS,
                {200: (response_models.PAGE, response_models.STRETCH)},
                parameters=_HISTORY,
                errors=errors("bad-limit", "bad-period", "needs-period"),
            ),
        ),
        Route(
            "GET",
            one,
            "invoices:read",
            invoices.show,
            About(
                "getInvoice",
                "Get the status of a submission",
                _SUBMISSIONS,
                {200: (response_models.SUBMISSION, *found_or_not)},
                parameters=(_TRACK_OR_ID, _WAIT, _UNTIL),
                errors=errors("bad-wait"),
            ),
        ),
        Route(
            "GET",
            f"{one}/xml",
            "invoices:read",
            invoices.xml,
            About(
                "getInvoiceXml",
                "Get the XML of a submission",
                _SUBMISSIONS,
                {200: (response_models.XML, *found_or_not)},
                parameters=(_TRACK_OR_ID,),
            ),
        ),
        *printed_routes(one, _TRACK_OR_ID, prints),
        Route(
            "POST",
            f"{all_of_them}/pdf",
            "invoices:read",
            archives.issued,
            About(
                "printInvoices",
                "Download PDF and XML of many receipts as a ZIP",
                _SUBMISSIONS,
                {},
                PrintManyRequest,
                parameters=(*(one for one in _HISTORY if one.name in ISSUED.filters), *ON_PAPER),
                errors=errors("ids-or-filter", "no-receipts"),
                needs_body=False,
                file="application/zip",
            ),
            _IDS_BODY,
        ),
        Route(
            "POST",
            f"{one}/share",
            "invoices:write",
            sharing.share,
            About(
                "shareInvoice",
                "Create a link to a receipt for its buyer",
                _SUBMISSIONS,
                {200: (SHARED,)},
                parameters=(_TRACK_OR_ID,),
                errors=errors("no-receipt", "not-shareable", "no-sharing"),
            ),
            SMALL_BODY,
        ),
        Route(
            "DELETE",
            f"{one}/share",
            "invoices:write",
            sharing.revoke,
            About(
                "revokeInvoiceShare",
                "Revoke all links to a receipt",
                _SUBMISSIONS,
                {200: (REVOKED,)},
                parameters=(_TRACK_OR_ID,),
                errors=errors("no-receipt"),
            ),
        ),
        Route(
            "GET",
            f"{one}/timeline",
            "invoices:read",
            invoices.timeline,
            About(
                "getInvoiceTimeline",
                "List the events of a submission",
                _SUBMISSIONS,
                {200: (response_models.TIMELINE, *found_or_not)},
                parameters=(_TRACK_OR_ID,),
            ),
        ),
        Route(
            "GET",
            f"{prefix}/received",
            "invoices:read",
            received.listed,
            About(
                "listReceived",
                "List received documents",
                _RECEIVED,
                {200: (response_models.RECEIVED_PAGE, response_models.RECEIVED_STRETCH)},
                parameters=_RECEIVED_LIST,
                errors=errors("bad-limit", "bad-period", "needs-period"),
            ),
        ),
        Route(
            "GET",
            f"{prefix}/received/<received_id>",
            "invoices:read",
            received.show,
            About(
                "getReceived",
                "Get a received document",
                _RECEIVED,
                {200: (response_models.RECEIVED, *found_or_not)},
                parameters=(_RECEIVED_ID,),
            ),
        ),
        Route(
            "GET",
            f"{prefix}/received/<received_id>/xml",
            "invoices:read",
            received.xml,
            About(
                "getReceivedXml",
                "Get the XML and the acknowledgement of a received document",
                _RECEIVED,
                {200: (response_models.RECEIVED_XML, *found_or_not)},
                parameters=(_RECEIVED_ID,),
            ),
        ),
        *printed_received_routes(f"{prefix}/received/<received_id>", _RECEIVED_ID, prints),
        Route(
            "POST",
            f"{prefix}/received/pdf",
            "invoices:read",
            archives.received,
            About(
                "printManyReceived",
                "Download PDF and XML of many received documents as a ZIP",
                _RECEIVED,
                {},
                PrintManyRequest,
                parameters=(*(one for one in _RECEIVED_LIST if one.name in RECEIVED.filters), *ON_PAPER),
                errors=errors("ids-or-filter", "no-receipts"),
                needs_body=False,
                file="application/zip",
            ),
            _IDS_BODY,
        ),
        Route(
            "GET",
            f"{prefix}/printing",
            "invoices:read",
            prints.settings,
            About("getPrinting", "Get the print settings", _ACCOUNT, {200: (PRINT_SETTINGS,)}),
        ),
        Route(
            "PUT",
            f"{prefix}/printing",
            "invoices:write",
            prints.put_settings,
            About(
                "putPrinting",
                "Set the print settings",
                _ACCOUNT,
                {200: (PRINT_SETTINGS,)},
                PrintSettingsRequest,
                errors=errors("bad-print-setting"),
            ),
            _PRINT_SETTINGS_BODY,
        ),
        *import_routes(prefix, imports),
        *voiding_routes(prefix, voidings, _MONTH),
        *webhook_routes(prefix, webhooks),
        *catalogue_routes(prefix, catalogue),
        *recurring_routes(prefix, recurring),
        *archive_routes(prefix, archive, _SUBMISSIONS),
        *request_routes(prefix, requests),
        *sandbox_routes(prefix, sandbox),
        *agent_routes(prefix, agents),
        *mail_routes(prefix, mail),
        *contingency_routes(prefix, contingency),
        *paper_routes(prefix, paper),
        *authority_routes(prefix, authority),
        *status_routes(prefix, status),
        Route(
            "POST",
            f"{prefix}/received/approvals",
            "invoices:write",
            approvals.decide_many,
            About(
                "decideReceived",
                "Approve or reject up to 100 received documents",
                _RECEIVED,
                {200: (DECIDED_MANY,)},
                DecideReceived,
                errors=errors("bad-decided-ids"),
            ),
            _IDS_BODY,
        ),
        Route(
            "POST",
            f"{prefix}/received/<received_id>/approve",
            "invoices:write",
            approvals.approve,
            About(
                "approveReceived",
                "Approve a received document",
                _RECEIVED,
                {202: (APPROVAL_TAKEN,), 200: (APPROVAL_TAKEN,)},
                ApproveReceived,
                parameters=(_RECEIVED_ID,),
                needs_body=False,
                errors=errors("other-environment", "no-received", "decided"),
                note=_DECIDED_ONCE,
            ),
            SMALL_BODY,
        ),
        Route(
            "POST",
            f"{prefix}/received/<received_id>/reject",
            "invoices:write",
            approvals.reject,
            About(
                "rejectReceived",
                "Reject a received document, with a reason",
                _RECEIVED,
                {202: (APPROVAL_TAKEN,), 200: (APPROVAL_TAKEN,)},
                RejectReceived,
                parameters=(_RECEIVED_ID,),
                errors=errors("bad-reason", "other-environment", "no-received", "decided"),
                note=_DECIDED_ONCE,
            ),
            SMALL_BODY,
        ),
        Route(
            "GET",
            f"{prefix}/ncf",
            "ncf:read",
            ncf.listed,
            About("listSequences", "List number sequences", _SEQUENCES, {200: (response_models.SEQUENCES,)}),
        ),
        Route(
            "POST",
            f"{prefix}/ncf",
            "ncf:write",
            ncf.put,
            About(
                "putSequence",
                "Create or change a sequence",
                _SEQUENCES,
                {200: (response_models.NUMBER_SEQUENCE,)},
                NewSequence,
                links=(
                    RouteLink(200, "prefix", "changeSequence", "prefix"),
                    RouteLink(200, "prefix", "deleteSequence", "prefix"),
                ),
                errors=errors("bad-range"),
            ),
            SMALL_BODY,
        ),
        Route(
            "PATCH",
            f"{prefix}/ncf/<prefix>",
            "ncf:write",
            ncf.change,
            About(
                "changeSequence",
                "Update some fields of a sequence",
                _SEQUENCES,
                {200: (response_models.NUMBER_SEQUENCE,)},
                ChangedSequence,
                parameters=(_PREFIX, _SEQUENCE_NAME),
                errors=errors("bad-prefix", "no-sequence", "number-sent"),
            ),
            SMALL_BODY,
        ),
        Route(
            "DELETE",
            f"{prefix}/ncf/<prefix>",
            "ncf:write",
            ncf.delete,
            About(
                "deleteSequence",
                "Delete a sequence",
                _SEQUENCES,
                {200: (response_models.DELETED,)},
                parameters=(_PREFIX, _SEQUENCE_NAME),
                errors=errors("bad-prefix", "no-sequence"),
            ),
        ),
        Route(
            "GET",
            f"{prefix}/usage",
            "usage:read",
            usage.days,
            About(
                "getUsage",
                "Read daily usage",
                _ACCOUNT,
                {200: (response_models.USAGE_REPORT,)},
                parameters=(_DAYS, _TODAY),
                errors=errors("bad-days", "bad-today"),
            ),
        ),
        Route(
            "GET",
            f"{prefix}/months/<month>",
            "invoices:read",
            months.show,
            About(
                "getMonth",
                "Sum up a month by day of issue",
                _ACCOUNT,
                {200: (MONTH,)},
                parameters=(_MONTH,),
                errors=errors("bad-month"),
            ),
        ),
        Route(
            "GET",
            f"{prefix}/months/<month>/xlsx",
            "invoices:read",
            months.workbook,
            About(
                "getMonthWorkbook",
                "Download a month as a workbook",
                _ACCOUNT,
                {},
                parameters=(_MONTH,),
                errors=errors("bad-month"),
                file=XLSX,
            ),
        ),
        Route(
            "GET",
            f"{prefix}/months/<month>/zip",
            "invoices:read",
            archives.month,
            About(
                "getMonthArchive",
                "Download PDF and XML of a month as a ZIP",
                _ACCOUNT,
                {},
                parameters=(_MONTH, *ON_PAPER),
                errors=errors("bad-month", "empty-month"),
                file="application/zip",
            ),
        ),
        *purchase_routes(prefix, months, _MONTH),
        Route(
            "GET",
            f"{prefix}/billing/current-period",
            "billing:read",
            billing.current_period,
            About("getCurrentBill", "Read the month's bill so far", _ACCOUNT, {200: (response_models.BILLING_PERIOD,)}),
        ),
        Route("GET", f"{prefix}/openapi.json", None, docs.openapi),
        Route("GET", f"{prefix}/docs", None, docs.page),
        Route("GET", f"{prefix}/docs{MARKDOWN}", None, docs.markdown),
        Route("GET", f"{prefix}/docs/<path:page>", None, site.page),
        *(Route("GET", path, None, site.home) for path in ("/", prefix, f"{prefix}/")),
        Route("GET", "/llms.txt", None, site.llms),
        Route("GET", "/healthz", None, health.live),
        Route("GET", "/readyz", None, health.ready),
    )
