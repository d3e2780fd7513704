"""The table of routes: every path there is, who may call it, what answers, and how it is described."""

from fe.ecf.catalogue import PREFIXES, EcfType
from fe.ecf.identity import E_NCF_FORM, TAX_ID_FORM
from fe.http.archives import ISSUED, RECEIVED
from fe.http.auth.login import Login, LoginRequest
from fe.http.calls import Handler
from fe.http.models import responses as response_models
from fe.http.models.approvals import APPROVAL_TAKEN, DECIDED_MANY
from fe.http.models.mail_settings import MAIL_SETTINGS, MailSettingsRequest
from fe.http.models.month import MONTH, PURCHASES
from fe.http.models.printing import PRINT_SETTINGS, PrintManyRequest, PrintSettingsRequest
from fe.http.models.requests import ApproveReceived, BatchRequest, DecideReceived, NewInvoice, RejectReceived
from fe.http.models.sharing import REVOKED, SHARED
from fe.http.openapi.described_errors import DescribedError, errors
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
)
from fe.http.routes.approvals import ApprovalHandlers
from fe.http.routes.billing import BillingHandlers
from fe.http.routes.catalogue import CatalogueHandlers
from fe.http.routes.catalogue_table import catalogue_routes
from fe.http.routes.health import Health
from fe.http.routes.import_table import import_routes
from fe.http.routes.imports import ImportHandlers
from fe.http.routes.invoices import Invoices
from fe.http.routes.mail_settings import MailSettingsHandlers
from fe.http.routes.months import MonthHandlers
from fe.http.routes.ncf import ChangedSequence, Ncf, NewSequence
from fe.http.routes.print_archives import PrintArchives
from fe.http.routes.printing import PrintHandlers
from fe.http.routes.received import ReceivedHandlers
from fe.http.routes.recurring import RecurringHandlers
from fe.http.routes.recurring_table import recurring_routes
from fe.http.routes.sharing import ShareHandlers
from fe.http.routes.types import About, Parameter, Route, RouteLink, whole
from fe.http.routes.usage import DAYS_DEFAULT, DAYS_MAX, UsageHandlers
from fe.http.routes.voiding_table import voiding_routes
from fe.http.routes.voidings import VoidingHandlers
from fe.http.routes.webhook_table import webhook_routes
from fe.http.routes.webhooks import WebhookHandlers
from fe.month.book import XLSX
from fe.printing.settings import LANGUAGES, LAYOUTS, ROLLS
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
_PREFIX = Parameter("prefix", "a type of e-CF", {"type": "string", "enum": list(PREFIXES)}, "path")
_SEQUENCE_NAME = Parameter(
    "name",
    "the sequence of the prefix with this name; without it the one that has none",
    {"type": "string", "minLength": 1, "maxLength": 40},
)
_WAIT = Parameter("wait", "seconds to wait for the verdict, if there is none yet", whole(0, WAIT_MAX, 0))
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
_HISTORY = (
    Parameter("page", "1 is the newest", whole(1, PAGE_MAX, PAGE_DEFAULT)),
    Parameter("limit", "items on a page", whole(1, LIMIT_MAX, LIMIT_DEFAULT)),
    Parameter("from", "submitted at or after this date (its start in UTC) or timestamp", A_MOMENT),
    Parameter("to", "submitted at or before this date (its end in UTC) or timestamp", A_MOMENT),
    Parameter("status", "reserved, no effect: `state` filters", {"type": "string"}, is_deprecated=True),
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
_LANGUAGE = Parameter(
    "language", "of the words beside the prescribed ones", {"type": "string", "enum": list(LANGUAGES)}
)
_ON_PAPER = (
    Parameter("layout", "paper; without it that of your settings", {"type": "string", "enum": list(LAYOUTS)}),
    _LANGUAGE,
)
_ON_ROLL = (
    Parameter("layout", "roll; without it that of your settings, or `80mm`", {"type": "string", "enum": list(ROLLS)}),
    _LANGUAGE,
    Parameter(
        "qr",
        "`raster` sends the QR code as a picture, for printers without the command",
        {"type": "string", "enum": ["native", "raster"]},
    ),
)
_MONTH = Parameter("month", "such as 2026-11", {"type": "string", "pattern": "^20[0-9]{2}-(0[1-9]|1[0-2])$"}, "path")
_DAYS = Parameter("days", "whole UTC days, ending yesterday", whole(1, DAYS_MAX, DAYS_DEFAULT))


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
                "Ask for the status of a submission",
                _SUBMISSIONS,
                {200: (response_models.SUBMISSION, *found_or_not)},
                parameters=(_TRACK_OR_ID, _WAIT),
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
                "Fetch its XML",
                _SUBMISSIONS,
                {200: (response_models.XML, *found_or_not)},
                parameters=(_TRACK_OR_ID,),
            ),
        ),
        *_printed(one, prints),
        Route(
            "POST",
            f"{all_of_them}/pdf",
            "invoices:read",
            archives.issued,
            About(
                "printInvoices",
                "Print many as PDF, with their XML, in a ZIP",
                _SUBMISSIONS,
                {},
                PrintManyRequest,
                parameters=(*(one for one in _HISTORY if one.name in ISSUED.filters), *_ON_PAPER),
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
                "Share it with its buyer by a link",
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
                "End every link to it",
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
                "Read its events",
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
                "List what suppliers sent",
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
                "Show one of them",
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
                "Fetch its XML and the acknowledgement",
                _RECEIVED,
                {200: (response_models.RECEIVED_XML, *found_or_not)},
                parameters=(_RECEIVED_ID,),
            ),
        ),
        *_printed_received(f"{prefix}/received/<received_id>", prints),
        Route(
            "POST",
            f"{prefix}/received/pdf",
            "invoices:read",
            archives.received,
            About(
                "printManyReceived",
                "Print many as PDF, with their XML, in a ZIP",
                _RECEIVED,
                {},
                PrintManyRequest,
                parameters=(*(one for one in _RECEIVED_LIST if one.name in RECEIVED.filters), *_ON_PAPER),
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
            About("getPrinting", "Show how receipts are printed", _ACCOUNT, {200: (PRINT_SETTINGS,)}),
        ),
        Route(
            "PUT",
            f"{prefix}/printing",
            "invoices:write",
            prints.put_settings,
            About(
                "putPrinting",
                "Set how receipts are printed",
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
        Route(
            "GET",
            f"{prefix}/mail",
            "mail:read",
            mail.show,
            About("getMail", "Show your mail settings", _ACCOUNT, {200: (MAIL_SETTINGS,)}),
        ),
        Route(
            "PUT",
            f"{prefix}/mail",
            "mail:write",
            mail.put,
            About(
                "putMail",
                "Set your mail settings",
                _ACCOUNT,
                {200: (MAIL_SETTINGS,)},
                MailSettingsRequest,
                errors=errors("bad-mail-setting", "mail-forbidden"),
            ),
            SMALL_BODY,
        ),
        Route(
            "POST",
            f"{prefix}/received/approvals",
            "invoices:write",
            approvals.decide_many,
            About(
                "decideReceived",
                "Approve or reject up to 100 of them",
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
                "Approve one of them",
                _RECEIVED,
                {202: (APPROVAL_TAKEN,), 200: (APPROVAL_TAKEN,)},
                ApproveReceived,
                parameters=(_RECEIVED_ID,),
                needs_body=False,
                errors=errors("other-environment", "no-received", "decided"),
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
                "Reject one of them, for a reason",
                _RECEIVED,
                {202: (APPROVAL_TAKEN,), 200: (APPROVAL_TAKEN,)},
                RejectReceived,
                parameters=(_RECEIVED_ID,),
                errors=errors("bad-reason", "other-environment", "no-received", "decided"),
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
                "Change of a sequence only what is named",
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
                parameters=(_DAYS,),
                errors=errors("bad-days"),
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
                "Fetch a month as a workbook",
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
                "Fetch PDF and XML of a month in a ZIP",
                _ACCOUNT,
                {},
                parameters=(_MONTH, *_ON_PAPER),
                errors=errors("bad-month", "empty-month"),
                file="application/zip",
            ),
        ),
        Route(
            "GET",
            f"{prefix}/months/<month>/606",
            "invoices:read",
            months.purchases,
            About(
                "getMonthPurchases",
                "Write a month's 606, or tell what it lacks",
                _ACCOUNT,
                {200: (PURCHASES,)},
                parameters=(_MONTH,),
                errors=errors("bad-month"),
            ),
        ),
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


def _printed(one: str, prints: PrintHandlers) -> tuple[Route, ...]:
    of_one = (_TRACK_OR_ID,)
    may_fail = errors("no-receipt", "not-signed-yet")
    prints_too = (*may_fail, *errors("not-printable"))
    return (
        _file(f"{one}/pdf", prints.issued_pdf, "getInvoicePdf", "Print it as PDF", (*of_one, *_ON_PAPER), prints_too),
        _file(
            f"{one}/ticket",
            prints.issued_ticket,
            "getInvoiceTicket",
            "Print it as ESC/POS",
            (*of_one, *_ON_ROLL),
            prints_too,
        ),
        _file(f"{one}/qr.png", prints.qr_png, "getInvoiceQrPng", "Draw its QR code as PNG", of_one, may_fail),
        _file(f"{one}/qr.svg", prints.qr_svg, "getInvoiceQrSvg", "Draw its QR code as SVG", of_one, may_fail),
    )


def _printed_received(one: str, prints: PrintHandlers) -> tuple[Route, ...]:
    may_fail = errors("no-received")
    return (
        _file(
            f"{one}/pdf", prints.received_pdf, "getReceivedPdf", "Print it as PDF", (_RECEIVED_ID, *_ON_PAPER), may_fail
        ),
        _file(
            f"{one}/ticket",
            prints.received_ticket,
            "getReceivedTicket",
            "Print it as ESC/POS",
            (_RECEIVED_ID, *_ON_ROLL),
            may_fail,
        ),
    )


_FILES = {"pdf": "application/pdf", "ticket": "application/octet-stream", "png": "image/png", "svg": "image/svg+xml"}


def _file(
    path: str,
    handler: Handler,
    operation: str,
    summary: str,
    parameters: tuple[Parameter, ...],
    errors: tuple[DescribedError, ...],
) -> Route:
    group = _RECEIVED if "Received" in operation else _SUBMISSIONS
    media_type = _FILES[path.replace(".", "/").rpartition("/")[2]]
    about = About(operation, summary, group, {}, parameters=parameters, errors=errors, file=media_type)
    return Route("GET", path, "invoices:read", handler, about)
