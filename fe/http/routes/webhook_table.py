"""The routes of webhooks, a part of the table in fe/http/routes/table.py."""

from fe.http.models import webhooks as models
from fe.http.models.responses import NOT_FOUND
from fe.http.openapi.described_errors import errors
from fe.http.parameters import A_MOMENT, DELIVERY_STATES, LIMIT_DEFAULT, LIMIT_MAX, PAGE_DEFAULT, PAGE_MAX
from fe.http.routes.types import About, Parameter, Route, RouteLink, whole
from fe.http.routes.webhooks import WebhookHandlers
from fe.webhooks.accounts import MAX_ENDPOINTS, NAME_FORM

_GROUP = "Webhooks"
#: A body has an address, the kinds of events and a few headers.
_BODY = 16 * 1024
_COUNTED = (
    "How many of these one tenant may ask for in a minute is limited, `/webhooks/test`, a delivery's `retry` and "
    "`/webhooks/recover` together: beyond that 429, and `Retry-After` says when to go on."
)

_ID = Parameter("deliveryId", "`id` of a delivery", {"type": "string", "maxLength": 64}, "path")
_NAME = Parameter("endpoint", "`name` of an endpoint", {"type": "string", "pattern": f"^{NAME_FORM}$"}, "path")
_LIST = (
    Parameter("page", "1 is the newest", whole(1, PAGE_MAX, PAGE_DEFAULT)),
    Parameter("limit", "items on a page", whole(1, LIMIT_MAX, LIMIT_DEFAULT)),
    Parameter("from", "made at or after this date (its start in UTC) or timestamp", A_MOMENT),
    Parameter("to", "made at or before this date (its end in UTC) or timestamp", A_MOMENT),
    Parameter("state", "in this state", {"type": "string", "enum": list(DELIVERY_STATES)}),
    Parameter("event", "of this kind", {"type": "string", "enum": [*models.EVENTS, "test"]}),
    Parameter("endpoint", "to the endpoint of this name", {"type": "string", "pattern": f"^{NAME_FORM}$"}),
    Parameter("about", "about this received document or submission", {"type": "string", "maxLength": 120}),
    Parameter("cursor", "`nextCursor` of an earlier answer, instead of `page`", {"type": "string"}),
)


def webhook_routes(prefix: str, webhooks: WebhookHandlers) -> tuple[Route, ...]:
    """Make the routes below `{prefix}/webhooks`."""
    base = f"{prefix}/webhooks"
    one = f"{base}/deliveries/<delivery_id>"
    named = f"{base}/endpoints/<endpoint>"
    return (
        Route(
            "GET",
            base,
            "webhooks:read",
            webhooks.listed,
            About("listWebhooks", "Get the webhook endpoint", _GROUP, {200: (models.WEBHOOKS,)}),
        ),
        Route(
            "PUT",
            base,
            "webhooks:write",
            webhooks.put,
            About(
                "putWebhook",
                "Set the webhook endpoint",
                _GROUP,
                {200: (models.WEBHOOK,)},
                models.WebhookRequest,
                errors=errors("bad-webhook"),
            ),
            _BODY,
        ),
        Route(
            "POST",
            f"{base}/rotate",
            "webhooks:write",
            webhooks.rotate,
            About(
                "rotateWebhookSecret",
                "Rotate the signing secret",
                _GROUP,
                {200: (models.WEBHOOK,)},
                errors=errors("no-webhook"),
            ),
        ),
        Route(
            "POST",
            f"{base}/test",
            "webhooks:write",
            webhooks.test,
            About(
                "testWebhook",
                "Send a test event",
                _GROUP,
                {202: (models.DELIVERY_AGAIN,)},
                note=_COUNTED,
                links=(RouteLink(202, "id", "getDelivery", "deliveryId"),),
                errors=errors("no-webhook", "disabled-webhook"),
            ),
        ),
        Route(
            "GET",
            f"{base}/endpoints",
            "webhooks:read",
            webhooks.endpoints,
            About("listWebhookEndpoints", "List webhook endpoints", _GROUP, {200: (models.WEBHOOKS,)}),
        ),
        Route(
            "PUT",
            named,
            "webhooks:write",
            webhooks.put,
            About(
                "putWebhookEndpoint",
                "Set a webhook endpoint by its name",
                _GROUP,
                {200: (models.WEBHOOK,)},
                models.WebhookRequest,
                parameters=(_NAME,),
                note=f"An environment has at most {MAX_ENDPOINTS}; each has its own secret, events and headers.",
                errors=errors("bad-webhook"),
            ),
            _BODY,
        ),
        Route(
            "DELETE",
            named,
            "webhooks:write",
            webhooks.delete,
            About(
                "deleteWebhookEndpoint",
                "Delete a webhook endpoint",
                _GROUP,
                {200: (models.WEBHOOK_DELETED,)},
                parameters=(_NAME,),
                errors=errors("bad-endpoint-name", "no-webhook-endpoint"),
            ),
        ),
        Route(
            "POST",
            f"{named}/rotate",
            "webhooks:write",
            webhooks.rotate,
            About(
                "rotateEndpointSecret",
                "Rotate the signing secret of a webhook endpoint",
                _GROUP,
                {200: (models.WEBHOOK,)},
                parameters=(_NAME,),
                errors=errors("bad-endpoint-name", "no-webhook-endpoint"),
            ),
        ),
        Route(
            "POST",
            f"{named}/test",
            "webhooks:write",
            webhooks.test,
            About(
                "testWebhookEndpoint",
                "Send a test event to a webhook endpoint",
                _GROUP,
                {202: (models.DELIVERY_AGAIN,)},
                parameters=(_NAME,),
                note=_COUNTED,
                links=(RouteLink(202, "id", "getDelivery", "deliveryId"),),
                errors=errors("bad-endpoint-name", "no-webhook-endpoint", "disabled-webhook"),
            ),
        ),
        Route(
            "GET",
            f"{base}/deliveries",
            "webhooks:read",
            webhooks.deliveries,
            About(
                "listDeliveries",
                "List deliveries",
                _GROUP,
                {200: (models.DELIVERY_PAGE, models.DELIVERY_STRETCH)},
                parameters=_LIST,
                errors=errors("bad-limit", "bad-period"),
            ),
        ),
        Route(
            "GET",
            one,
            "webhooks:read",
            webhooks.delivery,
            About(
                "getDelivery",
                "Get a delivery and its tries",
                _GROUP,
                {200: (models.DELIVERY_DETAIL, NOT_FOUND)},
                parameters=(_ID,),
            ),
        ),
        Route(
            "POST",
            f"{one}/retry",
            "webhooks:write",
            webhooks.retry,
            About(
                "retryDelivery",
                "Retry a delivery",
                _GROUP,
                {202: (models.DELIVERY_AGAIN,)},
                parameters=(_ID,),
                note=_COUNTED,
                errors=errors("no-delivery", "delivery-under-way", "disabled-webhook"),
            ),
        ),
        Route(
            "POST",
            f"{base}/recover",
            "webhooks:write",
            webhooks.recover,
            About(
                "recoverDeliveries",
                "Redeliver failed events since a time",
                _GROUP,
                {202: (models.RECOVERY,)},
                models.RecoveryRequest,
                note=_COUNTED,
                errors=errors("bad-since", "no-webhook", "recovery-under-way"),
            ),
            _BODY,
        ),
        Route(
            "GET",
            f"{base}/recoveries",
            "webhooks:read",
            webhooks.recoveries,
            About("listRecoveries", "List recoveries", _GROUP, {200: (models.RECOVERIES,)}),
        ),
    )
