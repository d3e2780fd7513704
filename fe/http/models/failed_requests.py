"""Failed requests, as clients see them."""

from typing import Annotated

from pydantic import Field

# As in response_models.py.
from typing_extensions import TypedDict

from fe.clock import iso
from fe.ecf.catalogue import Environment
from fe.http.models.response_types import Moment, ResponseModel, Uuid, closed
from fe.store.records.request_log import FailedRequest


@closed
class FailedRequestAnswer(TypedDict):
    """A request that ended with 4xx or 5xx."""

    id: Uuid
    at: Annotated[Moment, Field(description="when it was answered")]
    environment: Environment
    apiKeyId: str
    requestId: Annotated[str, Field(description="`X-Request-Id` of the answer")]
    method: str
    route: Annotated[str, Field(description="the path with the names of its parameters")]
    path: Annotated[str, Field(description="as it was asked for, without its query")]
    status: int
    durationMs: int
    message: Annotated[str | None, Field(description="the error in English")]
    messageEs: Annotated[str | None, Field(description="the error in Spanish")]
    body: Annotated[
        str | None,
        Field(description="the first 2 kB of the body of a request that ended with 4xx, without values of secrets"),
    ]


@closed
class FailedRequestsAnswer(TypedDict):
    """Failed requests of the last 30 days, newest first."""

    limit: int
    items: list[FailedRequestAnswer]
    nextCursor: Annotated[str | None, Field(description="`cursor` of the items that follow; null: these are the last")]


FAILED_REQUESTS = ResponseModel(FailedRequestsAnswer)


def serialize_failed_request(one: FailedRequest) -> FailedRequestAnswer:
    """Serialize a failed request."""
    return {
        "id": str(one.entry_id),
        "at": iso(one.at),
        "environment": one.environment,
        "apiKeyId": one.api_key_id,
        "requestId": one.request_id,
        "method": one.method,
        "route": one.route.replace("<", "{").replace(">", "}"),
        "path": one.path,
        "status": one.status,
        "durationMs": one.duration_ms,
        "message": one.message,
        "messageEs": one.message_es,
        "body": one.body,
    }
