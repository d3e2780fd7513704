"""The request log over HTTP: failed requests of the caller's tenant and environment."""

from uuid import UUID

from fe.http.calls import ApiReply, Call
from fe.http.models.failed_requests import FAILED_REQUESTS, serialize_failed_request
from fe.http.openapi.described_errors import errors
from fe.http.paging import list_reply, read_in_turn
from fe.http.parameters import A_MOMENT, LIMIT_DEFAULT, LIMIT_MAX, STATUS_FORM, read_request_query
from fe.http.routes.types import About, Parameter, Route, whole
from fe.identifiers import TenantId
from fe.limits import ConcurrencyLimit
from fe.store.postgres.db import Database
from fe.store.records import request_log
from fe.store.records.request_log import FailedRequest

_LIST = (
    Parameter("limit", "items on a page", whole(1, LIMIT_MAX, LIMIT_DEFAULT)),
    Parameter("from", "answered at or after this date (its start in UTC) or timestamp", A_MOMENT),
    Parameter("to", "answered at or before this date (its end in UTC) or timestamp", A_MOMENT),
    Parameter("key", "of this `apiKeyId`", {"type": "string", "maxLength": 64}),
    Parameter("status", "with this status, or `4xx`, or `5xx`", {"type": "string", "pattern": f"^({STATUS_FORM})$"}),
    Parameter("requestId", "with this `X-Request-Id`", {"type": "string", "maxLength": 64}),
    Parameter("cursor", "`nextCursor` of an earlier answer", {"type": "string"}),
)


class RequestHandlers:
    """The handler of /requests."""

    def __init__(self, db: Database, lists: ConcurrencyLimit[TenantId]) -> None:
        self._db = db
        self._lists = lists

    async def listed(self, call: Call) -> ApiReply:
        """List failed requests, newest first."""
        caller = call.identity
        query = read_request_query(call.query(), caller.environment)
        found = await read_in_turn(
            self._db,
            self._lists,
            caller.tenant_id,
            request_log.listed,
            query.chosen,
            limit=query.limit,
            below=query.cursor,
        )
        return list_reply(query, found, None, serialize_failed_request, _id, FAILED_REQUESTS, FAILED_REQUESTS)


def _id(one: FailedRequest) -> UUID:
    return one.entry_id


def request_routes(prefix: str, requests: RequestHandlers) -> tuple[Route, ...]:
    """Make the route of `{prefix}/requests`."""
    return (
        Route(
            "GET",
            f"{prefix}/requests",
            "invoices:read",
            requests.listed,
            About(
                "listFailedRequests",
                "List requests of your API keys that failed",
                "Account",
                {200: (FAILED_REQUESTS,)},
                parameters=_LIST,
                errors=errors("bad-limit", "bad-period"),
            ),
        ),
    )
