"""The table of routes: every path there is, who may call it, what answers, and how it is described."""

from fe.ecf.catalogue import PREFIXES
from fe.ecf.identity import E_NCF_FORM, TAX_ID_FORM
from fe.http import response_models
from fe.http.approval_models import APPROVAL_TAKEN
from fe.http.approvals import ApprovalHandlers
from fe.http.billing import BillingHandlers
from fe.http.docs import Docs
from fe.http.health import Health
from fe.http.invoices import Invoices
from fe.http.login import Login, LoginRequest
from fe.http.ncf import ChangedSequence, Ncf, NewSequence
from fe.http.openapi import describe
from fe.http.pages.layout import MARKDOWN
from fe.http.pages.site import Site
from fe.http.parameters import A_MOMENT, LIMIT_DEFAULT, LIMIT_MAX, PAGE_DEFAULT, PAGE_MAX, STATES, WAIT_MAX
from fe.http.received import ReceivedHandlers
from fe.http.request_models import ApproveReceived, NewBatch, NewInvoice, RejectReceived
from fe.http.route_types import About, Parameter, Route, RouteLink, whole
from fe.http.usage import DAYS_DEFAULT, DAYS_MAX, UsageHandlers
from fe.http.webhook_routes import webhook_routes
from fe.http.webhooks import WebhookHandlers

_SUBMISSIONS, _RECEIVED, _SEQUENCES, _ACCOUNT = "Submissions", "Received documents", "Number sequences", "Account"

#: Bodies of routes whose largest good one has a few hundred bytes: what is longer is not worth reading.
SMALL_BODY = 4 * 1024


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
_WAIT = Parameter("wait", "seconds to wait for the verdict, if there is none yet", whole(0, WAIT_MAX, 0))
_HISTORY = (
    Parameter("page", "1 is the newest", whole(1, PAGE_MAX, PAGE_DEFAULT)),
    Parameter("limit", "items on a page", whole(1, LIMIT_MAX, LIMIT_DEFAULT)),
    Parameter("from", "submitted at or after this date (its start in UTC) or timestamp", A_MOMENT),
    Parameter("to", "submitted at or before this date (its end in UTC) or timestamp", A_MOMENT),
    Parameter("status", "reserved, no effect", {"type": "string"}),
    Parameter("state", "in this state", {"type": "string", "enum": list(map(str, STATES))}),
    Parameter("encf", "of this number", {"type": "string", "pattern": f"^{E_NCF_FORM}$"}),
    Parameter(
        "clientRequestId",
        "that you submitted under this id (in each environment at most one)",
        {"type": "string", "minLength": 1, "maxLength": 120},
    ),
    Parameter("rnc", "of the buyer with this tax id", {"type": "string", "pattern": f"^{TAX_ID_FORM}$"}),
    Parameter("cursor", "`nextCursor` of an earlier answer, instead of `page`", {"type": "string", "format": "uuid"}),
)
_RECEIVED_ID = Parameter("receivedId", "`id` of a received document", {"type": "string", "maxLength": 64}, "path")
_RECEIVED_LIST = (
    Parameter("page", "1 is the newest", whole(1, PAGE_MAX, PAGE_DEFAULT)),
    Parameter("limit", "items on a page", whole(1, LIMIT_MAX, LIMIT_DEFAULT)),
    Parameter("from", "received at or after this date (its start in UTC) or timestamp", A_MOMENT),
    Parameter("to", "received at or before this date (its end in UTC) or timestamp", A_MOMENT),
    Parameter("encf", "of this number", {"type": "string", "pattern": f"^{E_NCF_FORM}$"}),
    Parameter("rnc", "of the supplier with this tax id", {"type": "string", "pattern": f"^{TAX_ID_FORM}$"}),
    Parameter("cursor", "`nextCursor` of an earlier answer, instead of `page`", {"type": "string", "format": "uuid"}),
)
_TO_ONE = tuple(
    RouteLink(status, "taxLogId", operation, "trackOrId")
    for status in (200, 202)
    for operation in ("getInvoicesTrackOrId", "getInvoicesTrackOrIdXml", "getInvoicesTrackOrIdTimeline")
)
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
) -> tuple[Route, ...]:
    """Make the table of routes, and give `docs` its description."""
    all_of_them, one = f"{prefix}/invoices", f"{prefix}/invoices/<track_or_id>"
    found_or_not = (response_models.NOT_FOUND,)
    routes = (
        Route(
            "POST",
            f"{prefix}/login",
            None,
            login.login,
            About(
                "Exchange an API key for a token",
                "Login",
                {200: (response_models.TOKEN,)},
                LoginRequest,
                errors=(401, 429),
            ),
            SMALL_BODY,
        ),
        Route(
            "POST",
            all_of_them,
            "invoices:write",
            invoices.create,
            About(
                "Submit a receipt",
                _SUBMISSIONS,
                {202: (response_models.ACCEPTED,), 200: (response_models.DEDUPED,)},
                NewInvoice,
                parameters=(_IDEMPOTENCY_KEY,),
                links=_TO_ONE,
            ),
        ),
        Route(
            "POST",
            f"{all_of_them}/batch",
            "invoices:write",
            invoices.create_many,
            About(
                "Submit up to 500 receipts",
                _SUBMISSIONS,
                {200: (response_models.BATCH,)},
                NewBatch,
            ),
        ),
        Route(
            "POST",
            f"{all_of_them}/validate",
            "invoices:write",
            invoices.validate,
            About(
                "Validate a receipt without submitting it",
                _SUBMISSIONS,
                {200: (response_models.VALIDATION,)},
                NewInvoice,
            ),
        ),
        Route(
            "GET",
            all_of_them,
            "invoices:read",
            invoices.history,
            About(
                "List submissions",
                _SUBMISSIONS,
                {200: (response_models.PAGE, response_models.STRETCH)},
                parameters=_HISTORY,
            ),
        ),
        Route(
            "GET",
            one,
            "invoices:read",
            invoices.show,
            About(
                "Ask for the status of a submission",
                _SUBMISSIONS,
                {200: (response_models.SUBMISSION, *found_or_not)},
                parameters=(_TRACK_OR_ID, _WAIT),
            ),
        ),
        Route(
            "GET",
            f"{one}/xml",
            "invoices:read",
            invoices.xml,
            About(
                "Fetch its XML", _SUBMISSIONS, {200: (response_models.XML, *found_or_not)}, parameters=(_TRACK_OR_ID,)
            ),
        ),
        Route(
            "GET",
            f"{one}/timeline",
            "invoices:read",
            invoices.timeline,
            About(
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
                "List what suppliers sent",
                _RECEIVED,
                {200: (response_models.RECEIVED_PAGE, response_models.RECEIVED_STRETCH)},
                parameters=_RECEIVED_LIST,
            ),
        ),
        Route(
            "GET",
            f"{prefix}/received/<received_id>",
            "invoices:read",
            received.show,
            About(
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
                "Fetch its XML and the acknowledgement",
                _RECEIVED,
                {200: (response_models.RECEIVED_XML, *found_or_not)},
                parameters=(_RECEIVED_ID,),
            ),
        ),
        *webhook_routes(prefix, webhooks),
        Route(
            "POST",
            f"{prefix}/received/<received_id>/approve",
            "invoices:write",
            approvals.approve,
            About(
                "Approve one of them",
                _RECEIVED,
                {202: (APPROVAL_TAKEN,), 200: (APPROVAL_TAKEN,)},
                ApproveReceived,
                parameters=(_RECEIVED_ID,),
                errors=(404, 409),
                needs_body=False,
            ),
            SMALL_BODY,
        ),
        Route(
            "POST",
            f"{prefix}/received/<received_id>/reject",
            "invoices:write",
            approvals.reject,
            About(
                "Reject one of them, for a reason",
                _RECEIVED,
                {202: (APPROVAL_TAKEN,), 200: (APPROVAL_TAKEN,)},
                RejectReceived,
                parameters=(_RECEIVED_ID,),
                errors=(404, 409),
            ),
            SMALL_BODY,
        ),
        Route(
            "GET",
            f"{prefix}/ncf",
            "ncf:read",
            ncf.listed,
            About("List number sequences", _SEQUENCES, {200: (response_models.SEQUENCES,)}),
        ),
        Route(
            "POST",
            f"{prefix}/ncf",
            "ncf:write",
            ncf.put,
            About(
                "Create or change a sequence",
                _SEQUENCES,
                {200: (response_models.NUMBER_SEQUENCE,)},
                NewSequence,
                links=(
                    RouteLink(200, "prefix", "patchNcfPrefix", "prefix"),
                    RouteLink(200, "prefix", "deleteNcfPrefix", "prefix"),
                ),
            ),
            SMALL_BODY,
        ),
        Route(
            "PATCH",
            f"{prefix}/ncf/<prefix>",
            "ncf:write",
            ncf.change,
            About(
                "Change of a sequence only what is named",
                _SEQUENCES,
                {200: (response_models.NUMBER_SEQUENCE,)},
                ChangedSequence,
                parameters=(_PREFIX,),
                errors=(404, 409),
            ),
            SMALL_BODY,
        ),
        Route(
            "DELETE",
            f"{prefix}/ncf/<prefix>",
            "ncf:write",
            ncf.delete,
            About(
                "Delete a sequence",
                _SEQUENCES,
                {200: (response_models.DELETED,)},
                parameters=(_PREFIX,),
                errors=(400, 404),
            ),
        ),
        Route(
            "GET",
            f"{prefix}/usage",
            "usage:read",
            usage.days,
            About("Read daily usage", _ACCOUNT, {200: (response_models.USAGE_REPORT,)}, parameters=(_DAYS,)),
        ),
        Route(
            "GET",
            f"{prefix}/billing/current-period",
            "billing:read",
            billing.current_period,
            About("Read the month's bill so far", _ACCOUNT, {200: (response_models.BILLING_PERIOD,)}),
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
    docs.show(describe(routes))
    return routes
